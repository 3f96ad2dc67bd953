//! JSON lines: one object per line, with text in one of its fields.
//!
//! A whole line is parsed, so that malformed JSON is an error, but only the text is unescaped.
//! Lines are not formatted anew: keys are inserted before the closing brace, and every other byte
//! stays. Numbers that only Python writes (`NaN`) are accepted. So are halves of characters
//! (`\ud83d`), which Python writes for text that was cut or was not UTF-8.

use std::collections::BTreeMap;
use std::fmt;

use miriam_textio::number::{self, push_integer};
use miriam_textio::{shorten, suggest_name};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::text_scoring::perplexity_of;

/// The keys that [`push_scores`] adds.
pub const SCORE_KEYS: [&str; 4] = ["lm_log10", "lm_tokens", "lm_oov", "lm_perplexity"];

/// The beginning of the reason that an object lacks the field.
const NO_FIELD: &str = "no field";
/// The end of the reason that an object already has a key to be added.
const KEY_EXISTS: &str = "is there already; remove or rename it first";
/// The largest number of fields that a message lists.
const MAX_LISTED: usize = 12;

/// The field of each object that has its text.
#[derive(Clone, Debug)]
pub struct TextField {
    /// The key in the object, then the key in the nested object, and so on.
    path: Vec<String>,
    reserved: Vec<&'static str>,
}

impl TextField {
    /// Parses the field `name`, in which dots separate the keys of nested objects; `\.` is a dot in
    /// a key and `\\` a backslash. An object that already has a key of `reserved`, which will be
    /// added, is an error.
    pub fn new(name: &str, reserved: Vec<&'static str>) -> Self {
        let mut path = vec![String::new()];
        let mut characters = name.chars();
        while let Some(character) = characters.next() {
            let key = path.last_mut().expect("there is always one");
            match character {
                '.' => path.push(String::new()),
                '\\' => key.extend(characters.next()),
                _ => key.push(character),
            }
        }
        TextField { path, reserved }
    }

    /// Appends the text of the field, unescaped, to `text`.
    ///
    /// # Errors
    ///
    /// If the line is not a valid JSON object in UTF-8, lacks the field or has it twice, has a
    /// value in it that is not a string, or already has a reserved key. The error is the reason;
    /// `text` is then unchanged.
    pub fn read(&self, line: &[u8], text: &mut Vec<u8>) -> Result<(), String> {
        let line = std::str::from_utf8(line)
            .map_err(|e| format!("not UTF-8 from byte {} on", e.valid_up_to() + 1))?;
        match self.read_strictly(line, text) {
            Err(error) => match replace_python_forms(line) {
                Some(line) => self.read_strictly(&line, text),
                None => Err(error),
            },
            Ok(()) => Ok(()),
        }
    }

    /// Whether `reason` is that a valid object already has a key to be added.
    pub fn has_key_already(&self, reason: &str) -> bool {
        !self.reserved.is_empty() && reason.contains(KEY_EXISTS)
    }

    /// Says why [`read`](TextField::read) rejected `line`; if the field is missing, lists the
    /// fields there are.
    pub fn explain(&self, line: &[u8], reason: String) -> String {
        let Some(name) = self.path.first().filter(|_| reason.starts_with(NO_FIELD)) else {
            return reason;
        };
        let fields: BTreeMap<String, IgnoredAny> = match serde_json::from_slice(line) {
            Ok(fields) => fields,
            Err(_) => return reason,
        };
        let names = fields.keys().map(String::as_str);
        if let Some(similar) = suggest_name(name, names.clone().filter(|other| other != name)) {
            return format!("{reason}; did you mean {similar:?}?");
        }
        let listed: Vec<String> = names.take(MAX_LISTED).map(|n| format!("{n:?}")).collect();
        if listed.is_empty() {
            reason
        } else {
            format!("{reason}; there are {}", shorten(&listed.join(", ")))
        }
    }

    fn read_strictly(&self, line: &str, text: &mut Vec<u8>) -> Result<(), String> {
        let before = text.len();
        let mut found = false;
        let object =
            ObjectSeed { path: &self.path, reserved: &self.reserved, text, found: &mut found };
        let mut json = serde_json::Deserializer::from_str(line);
        let outcome = object.deserialize(&mut json).and_then(|()| json.end());
        let outcome = match outcome {
            Ok(()) if found => return Ok(()),
            Ok(()) => Err(format!("{NO_FIELD} {:?}", self.path.join("."))),
            Err(error) => Err(describe_error(&error)),
        };
        text.truncate(before);
        outcome
    }
}

/// Returns the line with `NaN`, `Infinity` and `-Infinity` replaced by numbers, and lone surrogates
/// in strings by U+FFFD. Python writes both, and JSON does not have them. `None` if the line has
/// neither. Byte positions stay the same.
fn replace_python_forms(line: &str) -> Option<String> {
    const NUMBERS: [(&str, &str); 2] = [("NaN", "1e0"), ("Infinity", "1e000000")];
    let mut replaced = String::with_capacity(line.len());
    let (mut rest, mut in_string, mut is_changed) = (line, false, false);
    while let Some(character) = rest.chars().next() {
        let value_begins = !in_string && begins_value(&replaced);
        let found = NUMBERS.iter().filter(|_| value_begins).find_map(|(name, number)| {
            let after = rest.strip_prefix(name)?;
            let is_whole = !after.starts_with(|next: char| next.is_alphanumeric());
            is_whole.then_some((*number, after))
        });
        if let Some((number, after)) = found {
            replaced.push_str(number);
            rest = after;
            is_changed = true;
            continue;
        }
        if let Some(escape) = surrogate_escape(rest).filter(|_| in_string) {
            let [replacement, after] = match escape {
                Surrogates::Pair => [&rest[..12], &rest[12..]],
                Surrogates::Lone => ["\\ufffd", &rest[6..]],
            };
            replaced.push_str(replacement);
            rest = after;
            is_changed |= escape == Surrogates::Lone;
            continue;
        }
        let escaped = if in_string && character == '\\' { rest[1..].chars().next() } else { None };
        in_string ^= character == '"';
        let length = character.len_utf8() + escaped.map_or(0, char::len_utf8);
        replaced.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    is_changed.then_some(replaced)
}

/// Escaped surrogates, which are halves of a character: a pair, or one alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surrogates {
    Pair,
    Lone,
}

/// Returns the kind of escaped surrogates at the start of `text`; `None` if there are none.
fn surrogate_escape(text: &str) -> Option<Surrogates> {
    fn half(text: &str) -> Option<u32> {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        (digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && (0xd800..0xe000).contains(&code))
            .then_some(code)
    }
    let first = half(text)?;
    let second = half(&text[6..]);
    let is_pair = first < 0xdc00 && second.is_some_and(|second| second >= 0xdc00);
    Some(if is_pair { Surrogates::Pair } else { Surrogates::Lone })
}

/// Whether a number may begin after `before`, which may end in the minus sign of the number.
fn begins_value(before: &str) -> bool {
    let before = before.strip_suffix('-').unwrap_or(before);
    before.ends_with([':', ',', '[', ' ', '\t', '\r'])
}

/// Returns the message of `error` with its column only: there is only one line.
fn describe_error(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(message) => format!("{message} (byte {})", error.column()),
        None => message,
    }
}

/// Appends `line`, an object that [`TextField::read`] accepted, with what `push_keys` adds before
/// its closing brace.
pub fn push_with_keys(line: &[u8], out: &mut Vec<u8>, push_keys: impl FnOnce(&mut Vec<u8>)) {
    let end = line.iter().rposition(|&byte| byte == b'}').unwrap_or(line.len());
    out.extend_from_slice(&line[..end]);
    push_keys(out);
    out.extend_from_slice(&line[end..]);
}

/// Adds the [`SCORE_KEYS`]. A number that is not finite becomes `null`.
pub fn push_scores(out: &mut Vec<u8>, log10: f64, tokens: u64, unknown: u64) {
    push_key(out, SCORE_KEYS[0]);
    push_number(out, log10);
    push_key(out, SCORE_KEYS[1]);
    push_integer(out, tokens);
    push_key(out, SCORE_KEYS[2]);
    push_integer(out, unknown);
    push_key(out, SCORE_KEYS[3]);
    push_number(out, perplexity_of(log10, tokens));
}

/// Adds a key that is not the first of its object, up to its value.
pub fn push_key(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Adds a number, or `null` if it is not finite.
pub fn push_number(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        number::push_shortest_f64(out, value)
    } else {
        out.extend_from_slice(b"null")
    }
}

/// A deserializer of an object in which `path` leads to the text.
struct ObjectSeed<'a> {
    path: &'a [String],
    reserved: &'a [&'static str],
    text: &'a mut Vec<u8>,
    found: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((name, path)) = self.path.split_first() else {
            return Err(A::Error::custom("the field has no name"));
        };
        let mut seen = false;
        while let Some(is_named) = map.next_key_seed(KeySeed { name, reserved: self.reserved })? {
            if !is_named {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if std::mem::replace(&mut seen, true) {
                return Err(A::Error::custom(format_args!("the field {name:?} occurs twice")));
            }
            let (text, found) = (&mut *self.text, &mut *self.found);
            if path.is_empty() {
                map.next_value_seed(TextSeed(text))?;
                *found = true;
            } else {
                map.next_value_seed(ObjectSeed { path, reserved: &[], text, found })?;
            }
        }
        Ok(())
    }
}

/// A deserializer of a key, which tells whether it is `name`.
struct KeySeed<'a> {
    name: &'a str,
    reserved: &'a [&'static str],
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        if self.reserved.contains(&key) {
            return Err(E::custom(format_args!("the key {key:?} {KEY_EXISTS}")));
        }
        Ok(key == self.name)
    }
}

/// A deserializer of a string, which appends it to the text.
struct TextSeed<'a>(&'a mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for TextSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for TextSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(name: &str, line: impl AsRef<[u8]>) -> Result<String, String> {
        let mut text = b"before ".to_vec();
        let outcome = TextField::new(name, SCORE_KEYS.to_vec()).read(line.as_ref(), &mut text);
        assert!(text.starts_with(b"before ") && (outcome.is_ok() || text.len() == 7));
        outcome.map(|()| String::from_utf8(text.split_off(7)).unwrap())
    }

    #[test]
    fn text_is_unescaped() {
        let line = r#" {"a":[{"text":"no"}], "text" : "\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00 ü"} "#;
        assert_eq!(read("text", line).unwrap(), "\"\\/\u{8}\u{c}\n\r\tä😀 ü");
        assert_eq!(read("ä", r#"{"\u00e4":""}"#).unwrap(), "");
        let nested = r#"{"c":"1","a":{"c":"2","b.c":"3","b":{"c":"4"}},"a.b":"5","x\\":"6"}"#;
        for (name, text) in
            [("c", "1"), ("a.c", "2"), (r"a.b\.c", "3"), ("a.b.c", "4"), (r"a\.b", "5")]
        {
            assert_eq!(read(name, nested).unwrap(), text);
        }
        assert_eq!(read(r"x\\", nested).unwrap(), "6");
    }

    #[test]
    fn numbers_that_only_python_writes_are_read() {
        let line =
            r#"{"a":NaN,"b":[-Infinity,{"c":Infinity}],"d":"NaN \"Infinity","text":"NaN ü"}"#;
        assert_eq!(read("text", line).unwrap(), "NaN ü");
        assert_eq!(read("d", line).unwrap(), "NaN \"Infinity");
        assert_eq!(
            read("a", line).unwrap_err(),
            "invalid type: floating point `1.0`, expected a string (byte 8)"
        );
        for wrong in [
            r#"{"a":NaN"text":"x"}"#,
            r#"{"a":NaNs,"text":"x"}"#,
            r#"{"a":NaN5,"text":"x"}"#,
            r#"{"a":1NaN,"text":"x"}"#,
            r#"{"a":1-Infinity,"text":"x"}"#,
            r#"{"a":--Infinity,"text":"x"}"#,
            "NaN",
        ] {
            assert!(read("text", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for (escaped, text) in [
            (r"la casa \udcff x", "la casa \u{fffd} x"),
            (r"la \uD800 casa", "la \u{fffd} casa"),
            (r"\ud83d\ude00\ud83d", "😀\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\\ud83d \ud83d", "\\ud83d \u{fffd}"),
        ] {
            let line = format!("{{\"text\":\"{escaped}\",\"b\":NaN}}");
            assert_eq!(read("text", &line).unwrap(), text);
        }
    }

    #[test]
    fn errors_describe_the_problem() {
        for (line, message) in [
            (&b""[..], "EOF while parsing a value (byte 0)"),
            (b"text", "expected ident (byte 2)"),
            (b"[\"text\"]", "invalid type: sequence, expected an object (byte 0)"),
            (b"{\"text\":1}", "invalid type: integer `1`, expected a string (byte 9)"),
            (b"{\"text\":null}", "invalid type: null, expected a string (byte 12)"),
            (b"{\"txt\":\"\"}", "no field \"text\""),
            (b"{\"a\":{\"text\":\"\"}}", "no field \"text\""),
            (b"{\"text\":\"\"", "EOF while parsing an object (byte 10)"),
            (b"{\"text\":\"\"}}", "trailing characters (byte 12)"),
            (b"{\"text\":\"\"} {\"text\":\"\"}", "trailing characters (byte 13)"),
            (b"{\"text\":\"\",}", "trailing comma (byte 12)"),
            (b"{\"text\":\"a\",\"text\":\"b\"}", "the field \"text\" occurs twice (byte 18)"),
            (b"{\"text\":\"\\ud83\"}", "invalid escape (byte 15)"),
            (b"{\"text\":\"\\x\"}", "invalid escape (byte 11)"),
            (
                b"{\"text\":\"\t\"}",
                "control character (\\u0000-\\u001F) found while parsing a string (byte 10)",
            ),
            (b"{\"text\":\"\xe4\"}", "not UTF-8 from byte 10 on"),
            (b"{\"a\":\"\xe4\",\"text\":\"\"}", "not UTF-8 from byte 7 on"),
            (
                b"{\"text\":\"\",\"lm_oov\":0}",
                "the key \"lm_oov\" is there already; remove or rename it first (byte 19)",
            ),
        ] {
            assert_eq!(read("text", line).unwrap_err(), message, "{line:?}");
        }
        let error = read("a.b", r#"{"a":"b"}"#).unwrap_err();
        assert_eq!(error, "invalid type: string \"b\", expected an object (byte 8)");
        let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
        assert_eq!(read("t", format!("{{\"a\":{deep},\"t\":\"x\"}}")).unwrap(), "x");
    }

    #[test]
    fn a_missing_field_is_explained_by_the_existing_fields() {
        let explain = |name: &str, line: &str| {
            let field = TextField::new(name, Vec::new());
            let reason = field.read(line.as_bytes(), &mut Vec::new()).unwrap_err();
            field.explain(line.as_bytes(), reason)
        };
        let line = r#"{"url": "u", "text": "a", "meta": {"text": "b"}}"#;
        assert_eq!(explain("txt", line), "no field \"txt\"; did you mean \"text\"?");
        let listed = "no field \"content\"; there are \"meta\", \"text\", \"url\"";
        assert_eq!(explain("content", line), listed);
        assert!(explain("meta.body", line).starts_with("no field \"meta.body\"; there are"));
        assert_eq!(explain("text", "{}"), "no field \"text\"");
        assert_eq!(explain("text", "{"), "EOF while parsing an object (byte 1)");
    }

    #[test]
    fn scores_are_inserted_before_the_last_brace() {
        let mut out = Vec::new();
        push_with_keys(b"{\"t\":\"}\" } \r", &mut out, |out| push_scores(out, -2.0, 2, 1));
        push_with_keys(b"{\"t\":\"\"}", &mut out, |out| push_scores(out, 0.0, 0, 0));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"t\":\"}\" ,\"lm_log10\":-2,\"lm_tokens\":2,\"lm_oov\":1,\"lm_perplexity\":10} \r\
             {\"t\":\"\",\"lm_log10\":0,\"lm_tokens\":0,\"lm_oov\":0,\"lm_perplexity\":null}"
        );
    }

    const PIECES: &[&str] = &[
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "d83d", "de00", "\"t\":", "null", "0",
        "-", ".", "e", " ", "\t", "\u{e4}", "\\n", "true",
    ];

    proptest! {
        #[test]
        fn any_string_comes_through(text in any::<String>(), key in any::<String>(), other in any::<String>()) {
            prop_assume!(key != other && !SCORE_KEYS.contains(&&*other) && !SCORE_KEYS.contains(&&*key));
            let mut object = serde_json::Map::new();
            object.insert(other.clone(), other.into());
            object.insert(key.clone(), text.clone().into());
            let line = serde_json::Value::Object(object).to_string();
            let name = key.replace('\\', r"\\").replace('.', r"\.");
            prop_assert_eq!(read(&name, &line).unwrap(), text);
        }

        /// Lines that are not an object with the field are rejected, and nothing panics.
        #[test]
        fn accepts_what_a_general_parser_accepts(
            line in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
            bytes in proptest::collection::vec(any::<u8>(), 0..24),
        ) {
            let _ = read("t", &bytes);
            let line = line.concat();
            for line in [line.clone(), format!("{{\"t\":{line}}}"), format!("{{\"t\":\"{line}\"}}")] {
                let strict = replace_python_forms(&line).unwrap_or_else(|| line.clone());
                let value: Option<serde_json::Value> = serde_json::from_str(&strict).ok();
                let expected = value.as_ref().and_then(|v| v.get("t")?.as_str());
                match read("t", &line) {
                    Ok(text) => prop_assert_eq!(Some(&text[..]), expected),
                    // A general parser accepts an object with two fields of one name.
                    Err(error) => prop_assert!(
                        expected.is_none() || error.contains("twice"), "{} {}", line, error),
                }
            }
        }
    }
}
