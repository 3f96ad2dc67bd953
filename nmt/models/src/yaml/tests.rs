//! Tests of the YAML that occurs in files of translation models, as YAML's specification defines
//! it, and of the words that general parsers change.

use super::Value;
use proptest::prelude::*;

fn parse(text: &str) -> Value {
    Value::parse(text.as_bytes(), "test").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn scalar(text: &str) -> Value {
    Value::Scalar(text.as_bytes().to_vec())
}

fn mapping(entries: &[(&str, Value)]) -> Value {
    Value::Mapping(
        entries.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.clone())).collect(),
    )
}

fn sequence(items: &[&str]) -> Value {
    Value::Sequence(items.iter().map(|item| scalar(item)).collect())
}

#[test]
fn options_of_a_model() {
    let text = "%YAML 1.1\n---\n# made by hand\nbool: true\ndim-vocabs:\n  - 1000\n  - 2000 # both\n\
                flat:\n- a\n- b: c\n  d:\n    e: f\nnone:\nempty: ''\nnested: {a: [1, 2], \"b\":x}\n\
                version: v1.9.56 random weights\nlong: word\n  and more\ninline: []\n...\n";
    let item = mapping(&[("b", scalar("c")), ("d", mapping(&[("e", scalar("f"))]))]);
    assert_eq!(
        parse(text),
        mapping(&[
            ("bool", scalar("true")),
            ("dim-vocabs", sequence(&["1000", "2000"])),
            ("flat", Value::Sequence(vec![scalar("a"), item])),
            ("none", scalar("")),
            ("empty", scalar("")),
            ("nested", mapping(&[("a", sequence(&["1", "2"])), ("b", scalar("x"))])),
            ("version", scalar("v1.9.56 random weights")),
            ("long", scalar("word and more")),
            ("inline", Value::Sequence(vec![])),
        ])
    );
}

#[test]
fn plain_scalars_stay_text() {
    let text = "null: 0\n~: 1\nno: 2\n1.0: 3\n\"\\u2581a\": 4\n'it''s': 5\n? long\n: 6\n\
                \"\\x41\\\"\\\\\\n\": 7\n&: 8\n*: 9\n'-': 10\n-x: 11\na:b: 12\na#b: 13\n\
                \"\\ud83d\\ude00\": 14\n? \"a\\\n   b\"\n:  15\n'#': 16\n=: 17\n!: 18\n%: 19\n\
                'multi\n  line': 20\n";
    let keys = [
        "null",
        "~",
        "no",
        "1.0",
        "\u{2581}a",
        "it's",
        "long",
        "A\"\\\n",
        "&",
        "*",
        "-",
        "-x",
        "a:b",
        "a#b",
        "\u{1f600}",
        "ab",
        "#",
        "=",
        "!",
        "%",
        "multi line",
    ];
    let value = parse(text);
    let entries = value.entries().unwrap();
    let found: Vec<_> = entries.iter().map(|(key, _)| String::from_utf8_lossy(key)).collect();
    assert_eq!(found, keys);
    for (id, (_, value)) in entries.iter().enumerate() {
        assert_eq!(value.as_str(), Some(&*id.to_string()));
    }
}

#[test]
fn json_is_yaml() {
    let text = "{\n  \"eos\": 0,\n  \"UNK\": 1, \"a/b\": [true, null, -1.5e3, {}],\n\t\"\\/\\u00e4\" : \"x\"}\n";
    let list = sequence(&["true", "null", "-1.5e3"]);
    let Value::Sequence(mut list) = list else { unreachable!() };
    list.push(mapping(&[]));
    assert_eq!(
        parse(text),
        mapping(&[
            ("eos", scalar("0")),
            ("UNK", scalar("1")),
            ("a/b", Value::Sequence(list)),
            ("/ä", scalar("x")),
        ])
    );
}

#[test]
fn blocks_of_text() {
    let value = parse("a: |\n\nb: |\n\n  one\n \n  two\nc: 1\n");
    assert_eq!(value.get("a").unwrap().as_str(), Some(""));
    assert_eq!(value.get("b").unwrap().as_str(), Some("\none\n\ntwo\n"));
    assert_eq!(value.get("c").unwrap().as_str(), Some("1"));

    let value = parse("a: |\n  one\n   two\n\n  three\nb: >-\n  one\n  two\nc: 1\n");
    assert_eq!(value.get("a").unwrap().as_str(), Some("one\n two\n\nthree\n"));
    assert_eq!(value.get("b").unwrap().as_str(), Some("one two"));
    assert_eq!(value.get("c").unwrap().as_str(), Some("1"));
}

fn configuration(text: &str) -> Value {
    Value::parse_configuration(text.as_bytes(), "test").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The values are those that PyYAML 6.0.4 reads.
#[test]
fn configurations_have_aliases_tags_and_merge_keys() {
    let text = "dev: &dev [a, b]\nvalid-sets: *dev\nlist:\n- &one 1\n- *one\n- &all\n  x: 2\n\
                under: &under # comment\n  y: 3\n  z: &four 4\nagain: *under\nflow: {p: *four, q: [*one, &five 5, *five]}\n\
                next:\n  *under\nlast: &six 6\nend: *six\nsame: &same\n- 7\nsames: *same\n";
    let under = mapping(&[("y", scalar("3")), ("z", scalar("4"))]);
    let list = vec![scalar("1"), scalar("1"), mapping(&[("x", scalar("2"))])];
    assert_eq!(
        configuration(text),
        mapping(&[
            ("dev", sequence(&["a", "b"])),
            ("valid-sets", sequence(&["a", "b"])),
            ("list", Value::Sequence(list)),
            ("under", under.clone()),
            ("again", under.clone()),
            ("flow", mapping(&[("p", scalar("4")), ("q", sequence(&["1", "5", "5"]))])),
            ("next", under),
            ("last", scalar("6")),
            ("end", scalar("6")),
            ("same", sequence(&["7"])),
            ("sames", sequence(&["7"])),
        ])
    );
    let text = "a: !!int 32\nb: !!str &b no\nc: &c !!seq\n- x\nd: ! {e: !!float 1}\nf: &f |\n  text\n\
                g: *f\nh: *c\ni: *b\nj: '*b'\nk: \"!x\"\nl: a*b&c!\n";
    assert_eq!(
        configuration(text),
        mapping(&[
            ("a", scalar("32")),
            ("b", scalar("no")),
            ("c", sequence(&["x"])),
            ("d", mapping(&[("e", scalar("1"))])),
            ("f", scalar("text\n")),
            ("g", scalar("text\n")),
            ("h", sequence(&["x"])),
            ("i", scalar("no")),
            ("j", scalar("*b")),
            ("k", scalar("!x")),
            ("l", scalar("a*b&c!")),
        ])
    );
    let text =
        "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: *a\n  y: 5\nd: {<<: [*a, *b], w: 6}\n";
    let value = configuration(text);
    let get = |name: &str, key: &str| value.get(name)?.get(key)?.as_str().map(str::to_owned);
    let found = ["x", "y"].map(|key| get("c", key));
    assert_eq!(found, [Some("1".into()), Some("5".into())]);
    let found = ["w", "x", "y", "z"].map(|key| get("d", key));
    assert_eq!(found, ["6", "1", "2", "4"].map(|text| Some(text.to_owned())));
    assert_eq!(value.get("c").unwrap().entries().unwrap().len(), 2);
    assert!(configuration("a: &a\nb: *a\n").get("b").unwrap().is_null());
    // As the specification says, a later anchor replaces an earlier one of its name.
    let value = configuration("a: &a 1\nb: *a\nc: &a 2\nd: *a\n");
    assert_eq!(["b", "d"].map(|key| value.get(key).unwrap().as_str()), [Some("1"), Some("2")]);
    assert_eq!(configuration("--- &all\na: 1\n"), mapping(&[("a", scalar("1"))]));
}

#[test]
fn errors_of_aliases_and_tags_name_their_line_and_a_remedy() {
    for (text, line, part) in [
        ("a: 1\nb: *c\n", 2, "no anchor &c before the alias *c; put a text"),
        ("a: &a [*a]\n", 1, "no anchor &a before the alias *a"),
        ("a: 1\nb:\n- !path x\n", 3, "the tag !path is not supported; leave it out"),
        ("a: & x\n", 1, "an anchor without a name"),
        ("a: 1\n&b b: 2\n", 2, "keys have no anchors"),
        ("&a a: 1\n", 1, "keys have no anchors"),
        ("a: 1\nb: {&b c: 2}\n", 2, "keys have no anchors"),
        ("- &b c: 2\n", 1, "keys have no anchors"),
        ("a: &a 1\nb:\n  <<: *a\n", 3, "<< has a value that is not a mapping"),
        ("a: &a 1\nb: *a c\n", 2, "does not belong"),
        ("a: &a 1\nb: &b *a\n", 2, "an alias has no anchor and no tag"),
        ("a: &a 1\nb: [1, !!int *a]\n", 2, "an alias has no anchor and no tag"),
    ] {
        let error = Value::parse_configuration(text.as_bytes(), "x.yml").unwrap_err().to_string();
        let expected = format!("x.yml, line {line}:");
        assert!(error.starts_with(&expected) && error.contains(part), "{error}\n{text}");
    }
    // Aliases of aliases grow without limit, in width and in depth.
    let mut wide = "a0: &a0 [x, x]\n".to_owned();
    let mut deep = "a0: &a0 [x]\n".to_owned();
    for level in 1..60 {
        let below = level - 1;
        wide += &format!("a{level}: &a{level} [*a{below}, *a{below}]\n");
        deep += &format!("a{level}: &a{level} [*a{below}]\n");
    }
    let error =
        |text: &str| Value::parse_configuration(text.as_bytes(), "x.yml").unwrap_err().to_string();
    assert!(error(&wide).contains("the values of aliases are too large"), "{}", error(&wide));
    assert!(error(&deep).contains("nested too deeply"), "{}", error(&deep));
}

#[test]
fn errors_name_their_line() {
    for (text, line) in [
        ("a: 1\nb\n", 2),
        ("a: [1, 2\n", 2),
        ("a: \"x\n", 2),
        ("a: {b: 1\nc: \"\\q\"}", 2),
        ("a: \"\\u12\"", 1),
        ("  a: 1\n b: 2\n", 2),
    ] {
        let error = Value::parse(text.as_bytes(), "x.yml").unwrap_err().to_string();
        assert!(error.starts_with(&format!("x.yml, line {line}:")), "{error}\n{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(Value::parse(deep.as_bytes(), "x").unwrap_err().to_string().contains("deep"));
    let deep = "- ".repeat(100_000);
    assert!(Value::parse(deep.as_bytes(), "x").unwrap_err().to_string().contains("deep"));
}

/// Prints a document as JSON.
fn print_json(value: &Value, text: &mut String) {
    let quoted = |bytes: &[u8], text: &mut String| {
        text.push('"');
        for character in String::from_utf8_lossy(bytes).chars() {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                *text += &format!("\\u{unit:04x}");
            }
        }
        text.push('"');
    };
    match value {
        Value::Scalar(bytes) => quoted(bytes, text),
        Value::Sequence(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                *text += if i > 0 { ",\n" } else { "" };
                print_json(item, text);
            }
            text.push(']');
        }
        Value::Mapping(entries) => {
            text.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                *text += if i > 0 { ", " } else { "" };
                quoted(key, text);
                text.push(':');
                print_json(value, text);
            }
            text.push('}');
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = any::<String>().prop_map(|text| Value::Scalar(text.into_bytes()));
    leaf.prop_recursive(4, 24, 5, |inner| {
        let entry = (any::<String>().prop_map(String::into_bytes), inner.clone());
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Value::Sequence),
            proptest::collection::vec(entry, 0..5).prop_map(Value::Mapping),
        ]
    })
}

proptest! {
    #[test]
    fn printed_json_parses_back(value in any_value()) {
        let mut text = String::new();
        print_json(&value, &mut text);
        prop_assert_eq!(parse(&text), value);
    }

    #[test]
    fn any_text_gives_a_value_or_an_error(
        text in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(b" \n-?:[]{}\"'\\#|>a%.&,\t".to_vec()),
                any::<u8>(),
            ],
            0..120,
        ),
    ) {
        let _ = Value::parse(&text, "test");
        let _ = Value::parse_configuration(&text, "test");
    }
}
