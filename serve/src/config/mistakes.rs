//! Messages about mistakes in the TOML of a configuration: the line, the key and what is expected,
//! in words of users in place of the library's names of types.

use miriam_textio::shorten;

/// Types as the library calls them, and what users call them.
const TYPES: [(&str, &str); 9] = [
    ("usize", "a whole number"),
    ("u64", "a whole number"),
    ("u32", "a whole number"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a string", "a text in quotes"),
    ("path string", "a path in quotes"),
    ("struct Limits", "the table [limits]"),
    ("struct ModelConfiguration", "the table of a model"),
];

/// Describes a mistake in `text`, which begins with its line if that is known.
pub(super) fn describe(text: &str, error: &toml::de::Error) -> String {
    let span = error.span().unwrap_or_default();
    let (Some(before), true) = (text.get(..span.start), error.span().is_some()) else {
        return plain_words("", error.message());
    };
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let number = before.matches('\n').count() + 1;
    let line = text[line_start..].lines().next().unwrap_or_default();
    let header = line.split('#').next().unwrap_or_default().trim();
    let reason = if header.starts_with('[') && error.message().starts_with("invalid type: map") {
        other_header(header)
    } else if error.message() == "duplicate key" {
        let key = text.get(span).unwrap_or_default();
        format!("{} is given twice", shorten(key))
    } else {
        plain_words(key_before(&before[line_start..]), error.message())
    };
    format!("line {number}: {reason}")
}

/// Describes a header of a single table in the place of a list of tables, or the reverse.
fn other_header(header: &str) -> String {
    let name = header.trim_matches(['[', ']']);
    let right = if header.starts_with("[[") { format!("[{name}]") } else { format!("[[{name}]]") };
    format!("{}: write {}", shorten(header), shorten(&right))
}

/// Returns the key of a value, given what is before the value in its line; empty if it is not
/// there.
fn key_before(before: &str) -> &str {
    let key = match before.trim_end().strip_suffix('=') {
        // Tables may be inside a line: `limits = { lines = 5 }`.
        Some(keys) => keys.rsplit(['{', ',']).next().unwrap_or_default(),
        // An element of a list.
        None => before.split_once('=').map_or("", |(key, _)| key),
    };
    key.trim().trim_matches('"')
}

/// Returns a message of the library in words of users. `key` is that of the value, if it is known.
fn plain_words(key: &str, message: &str) -> String {
    let mismatch =
        ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    let key = if key.is_empty() { String::new() } else { format!("{}: ", shorten(key)) };
    if let Some((found, expected)) = mismatch.and_then(|rest| rest.rsplit_once(", expected ")) {
        let text = found.strip_prefix("string ");
        if let (Some(text), "a sequence") = (text, expected) {
            return format!("{key}expected a list; write [{}]", shorten(text));
        }
        let known = TYPES.iter().find(|(name, _)| *name == expected);
        let expected = known.map_or(expected, |(_, words)| *words);
        let found = match (text, found) {
            (Some(text), _) => text,
            (None, "sequence") => "a list",
            // Dates are tables for the library.
            (None, "map") => "a table or a date",
            // Numbers and flags: "integer `3`".
            (None, other) => other.split('`').nth(1).unwrap_or(other),
        };
        return format!("{key}expected {expected}, found {}", shorten(found));
    }
    match message {
        "wanted string or table" => format!("{key}expected a text in quotes"),
        "data did not match any variant of untagged enum ShortlistSetting" => {
            format!("{key}expected a file, a list that begins with one, or false")
        }
        _ => shorten_name(message),
    }
}

/// Shortens the first name of a message that is quoted in full, however long.
fn shorten_name(message: &str) -> String {
    match message.split_once('`').map(|(before, rest)| (before, rest.split_once('`'))) {
        Some((before, Some((name, after)))) => format!("{before}`{}`{after}", shorten(name)),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Configuration;

    #[test]
    fn mistakes_are_described_in_words_of_users() {
        const MODEL: &str = "[[model]]\nname = \"a\"\npath = \"b\"\n";
        let in_model = |line: &str| format!("{MODEL}{line}");
        for (text, expected) in [
            (
                "listen = \"[::1]:80\"".to_owned(),
                "line 1: listen: expected a list; write [\"[::1]:80\"]",
            ),
            (in_model("from=\"de\""), "line 4: from: expected a list; write [\"de\"]"),
            (in_model("\"to\" = 3"), "line 4: to: expected a list, found 3"),
            (in_model("to = [\"es\", 3]"), "line 4: to: expected a text in quotes, found 3"),
            (in_model("raw = \"true\""), "line 4: raw: expected true or false, found \"true\""),
            (in_model("mini-batch = -3"), "line 4: mini-batch: expected a whole number, found -3"),
            (in_model("from = [\"a\"]\nfrom = []"), "line 5: from is given twice"),
            (in_model("kind = 3"), "line 4: kind: expected a text in quotes"),
            (
                in_model("shortlist = 3"),
                "line 4: shortlist: expected a file, a list that begins with one, or false",
            ),
            (
                "\nthreads = \"8\"".to_owned(),
                "line 2: threads: expected a whole number, found \"8\"",
            ),
            (
                "access-log = 2020-01-01".to_owned(),
                "line 1: access-log: expected a path in quotes, found a table or a date",
            ),
            (
                "limits = { lines = 1.5 }".to_owned(),
                "line 1: lines: expected a whole number, found 1.5",
            ),
            (
                "limits = { lines = 1, n-best = [] }".to_owned(),
                "line 1: n-best: expected a whole number, found a list",
            ),
            ("limits = 3".to_owned(), "line 1: limits: expected the table [limits], found 3"),
            ("[model] # one\nname = \"a\"".to_owned(), "line 1: [model]: write [[model]]"),
            (
                "pivot = \"en\"\n[[limits]]\nlines = 3".to_owned(),
                "line 2: [[limits]]: write [limits]",
            ),
        ] {
            assert_eq!(Configuration::parse(&text).unwrap_err(), expected, "{text}");
        }
        let long = Configuration::parse(&format!("threads = \"{}\"", "a".repeat(9000)));
        assert!(long.unwrap_err().len() < 300);
    }
}
