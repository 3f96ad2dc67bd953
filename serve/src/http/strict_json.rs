//! JSON of clients: a name that occurs twice is an error, because one of its values would be lost.

use std::borrow::Cow;
use std::fmt;

use miriam_textio::shorten;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

/// Parses a value and skips a byte order mark before it. Lone surrogates become U+FFFD.
///
/// # Errors
/// If it is not JSON in UTF-8, is nested too deeply, or has a name twice.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"))?;
    serde_json::from_str(&replace_lone_surrogates(text))
        .map(|Strict(value)| value)
        .map_err(|error| error.to_string())
}

/// Replaces escapes of half a character, such as `\ud83d` alone, by the escape of U+FFFD. Programs
/// in JavaScript write them where they have cut a text inside an emoji.
pub fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut replaced = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(offset) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
        at += offset;
        at += match (escaped_unit(bytes, at), escaped_unit(bytes, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                replaced.push_str(&text[copied..at]);
                replaced.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    replaced.push_str(&text[copied..]);
    Cow::Owned(replaced)
}

/// Returns the UTF-16 unit of the escape `\uXXXX` at `at`, if there is one.
fn escaped_unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(16 * unit + char::from(*digit).to_digit(16)?))
}

/// Parses an object. A name with the value null counts as missing, because some clients write null
/// for missing values.
///
/// # Errors
/// The errors of [`parse`], and if it is not an object, or a name or its value does not fit `T`.
pub fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let mut value = parse(bytes)?;
    // A list would be accepted as the values of the members in their order.
    if !value.is_object() {
        return Err("expected an object".into());
    }
    remove_nulls(&mut value);
    T::deserialize(&value).map_err(|error| {
        let message = error.to_string();
        let name = find_member::<T>(&value, &message).map(|name| format!("{}: ", shorten(name)));
        format!("{}{}", name.unwrap_or_default(), plain_words(&message))
    })
}

/// Returns the name of the member with the error `message`: it has the error without the other
/// members too.
fn find_member<'v, T: DeserializeOwned>(value: &'v Value, message: &str) -> Option<&'v str> {
    // These messages name the member themselves.
    if ["unknown field", "missing field"].iter().any(|start| message.starts_with(start)) {
        return None;
    }
    value.as_object()?.iter().find_map(|(name, member)| {
        let alone = Value::Object(Map::from_iter([(name.clone(), member.clone())]));
        let error = T::deserialize(&alone).err()?;
        (error.to_string() == message).then_some(name.as_str())
    })
}

/// Types as the library calls them, and what clients call them.
const TYPES: [(&str, &str); 10] = [
    ("expected usize", "expected a whole number"),
    ("expected u64", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected f32", "expected a number"),
    ("expected a boolean", "expected true or false"),
    ("expected a sequence", "expected a list"),
    ("expected struct Options", "expected an object"),
    ("expected string or map", "expected a string"),
    ("invalid type: ", ""),
    ("invalid value: ", ""),
];

/// Returns a message without the names of types. A value that it quotes is shortened.
fn plain_words(message: &str) -> String {
    fn without_types(text: &str) -> String {
        TYPES.iter().fold(text.to_owned(), |text, (name, plain)| text.replace(name, plain))
    }
    match message.rsplit_once(", expected ") {
        Some((found, expected)) => {
            let expected = without_types(&format!("expected {expected}"));
            format!("{}, {expected}", shorten(&without_types(found)))
        }
        None => message.to_owned(),
    }
}

fn remove_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, value| !value.is_null());
        members.values_mut().for_each(remove_nulls);
    }
}

/// A value whose objects have unique names.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = elements.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} is given twice")));
            }
            let Strict(value) = entries.next_value()?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn names_come_once_at_every_depth() {
        assert_eq!(
            parse(br#"{"a": 1, "b": [{"a": null}]}"#),
            Ok(json!({"a": 1, "b": [{"a": null}]}))
        );
        assert_eq!(parse(b"\xef\xbb\xbf\"a\""), Ok(json!("a")));
        for twice in [r#"{"q": "a", "q": "b"}"#, r#"[{"a": {"q": 1, "\u0071": 2}}]"#] {
            let error = parse(twice.as_bytes()).unwrap_err();
            assert!(error.contains("\"q\" is given twice"), "{error}");
        }
    }

    #[test]
    fn hostile_values_are_errors() {
        let deep = [b"[".repeat(100_000), b"{\"a\":".repeat(100_000)];
        for wrong in
            [&deep[0][..], &deep[1], b"\"\\ud8\"", b"\"\xff\"", b"", b"{\"a\":1}x", b"1e999"]
        {
            assert!(parse(wrong).is_err());
        }
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for (text, expected) in [
            (r#""a \ud83d b""#, "a \u{fffd} b"),
            (r#""\uDE00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00\u0041""#, "\u{fffd}\u{1f600}A"),
            (r#""\\ud83d ü\ud83dü""#, "\\ud83d ü\u{fffd}ü"),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(json!(expected)), "{text}");
        }
        assert!(matches!(replace_lone_surrogates(r#""\ud83d\ude00\\""#), Cow::Borrowed(_)));
        assert!(parse(br#""\ud83d"#).is_err() && parse(b"\"\\").is_err());
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Request {
        #[serde(default)]
        split: bool,
        text: Vec<String>,
    }

    #[test]
    fn values_of_other_types_are_named_in_plain_words() {
        let error = |text: &str| parse_object::<Request>(text.as_bytes()).unwrap_err();
        assert_eq!(error(r#"[true, ["a"]]"#), "expected an object");
        let found = error(r#"{"split": 1, "text": []}"#);
        assert_eq!(found, "split: integer `1`, expected true or false");
        assert_eq!(error(r#"{"text": "a"}"#), "text: string \"a\", expected a list");
        assert_eq!(
            error(r#"{"text": [1], "split": true}"#),
            "text: integer `1`, expected a string"
        );
        let long = error(&format!(r#"{{"text": "{}"}}"#, "a".repeat(9000)));
        assert!(long.len() < 300 && long.ends_with(", expected a list"), "{long}");
        let unknown = error(r#"{"other": 1, "text": []}"#);
        assert_eq!(unknown, "unknown field `other`, expected `split` or `text`");
    }

    #[test]
    fn null_counts_as_missing() {
        let expected = Request { split: false, text: vec!["a".into()] };
        assert_eq!(parse_object(br#"{"split": null, "text": ["a"]}"#), Ok(expected));
        for wrong in [&br#"{"text": [null]}"#[..], br#"{"text": null}"#, br#"{"text": [], "x": 1}"#]
        {
            assert!(parse_object::<Request>(wrong).is_err());
        }
    }

    proptest! {
        /// A text in which each name occurs once is read as serde_json reads it.
        #[test]
        fn values_are_read_as_usual(text in "[\\[\\]{}\",:0-9a-z.eE+ -]{0,40}") {
            let usual: Result<Value, _> = serde_json::from_str(&text);
            match (parse(text.as_bytes()), usual) {
                (Ok(found), Ok(expected)) => prop_assert_eq!(found, expected),
                (Err(reason), Ok(_)) => prop_assert!(reason.contains("is given twice"), "{}", reason),
                (Ok(_), Err(error)) => prop_assert!(false, "{}", error),
                (Err(_), Err(_)) => {}
            }
        }
    }
}
