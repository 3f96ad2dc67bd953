//! Protected text, which the tokeniser does not split: addresses, markup, anything that a
//! user's patterns match.

use std::ops::Range;
use std::path::Path;

use hashbrown::HashSet;
use regex::bytes::Regex;

use crate::{Error, Result, text_file};

/// Regular expressions of text that the tokeniser does not split.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPatterns {
    patterns: Vec<Regex>,
}

impl ProtectedPatterns {
    /// Reads patterns, one regular expression per line, from a file as for Moses' option
    /// `-protected`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Format`] for a line that
    /// is not a regular expression.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_file::read_utf8(path)?;
        Self::from_lines(&text, &file)
    }

    /// Parses the text of a file of patterns; `file` is its name in error messages.
    ///
    /// # Errors
    /// [`Error::Format`] for a line that is not a regular expression.
    pub fn from_lines(text: &str, file: &str) -> Result<Self> {
        let mut patterns = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let pattern = Regex::new(&translate_pattern(line)).map_err(|error| {
                let error = error.to_string();
                let last = error.lines().last().unwrap_or_default();
                Error::format(file, i + 1, format!("{line:?} is not a regular expression: {last}"))
            })?;
            patterns.push(pattern);
        }
        Ok(ProtectedPatterns { patterns })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the protected spans of `text`, from left to right. A pattern is matched repeatedly,
    /// each time after its previous match. Then the strings that were found are protected in this
    /// order, each wherever it occurs outside the spans of earlier strings.
    pub(super) fn find_spans(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut strings: Vec<&[u8]> = Vec::new();
        let mut known = HashSet::new();
        for pattern in &self.patterns {
            let mut rest = text;
            while let Some(found) = pattern.find(rest).filter(|found| !found.is_empty()) {
                if known.insert(found.as_bytes()) {
                    strings.push(found.as_bytes());
                }
                rest = &rest[found.end()..];
            }
        }
        let mut spans: Vec<Range<usize>> = Vec::new();
        for string in strings {
            let finder = memchr::memmem::Finder::new(string);
            let ends = spans.iter().map(|span| span.start).chain([text.len()]);
            let starts = std::iter::once(0).chain(spans.iter().map(|span| span.end));
            let mut new = Vec::new();
            for (start, end) in starts.zip(ends) {
                let offsets = finder.find_iter(&text[start..end]).map(|at| start + at);
                new.extend(offsets.map(|at| at..at + string.len()));
            }
            spans.extend(new);
            spans.sort_unstable_by_key(|span| span.start);
        }
        spans
    }
}

/// The sets of characters that Perl's POSIX classes name in text, as in `[[:alpha:]]`. In the
/// `regex` crate these classes have ASCII characters only.
const POSIX_CLASSES: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7f"),
    ("blank", r"\t\p{Zs}"),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"[^\s\p{Cc}\p{Cn}]"),
    ("lower", r"\p{Lowercase}"),
    ("print", r"[^\x{2028}\x{2029}\p{Cc}\p{Cn}]"),
    ("punct", r"\p{P}$+<=>\^`|\~"),
    ("space", r"\s"),
    ("upper", r"\p{Uppercase}"),
    ("word", r"\w"),
    ("xdigit", r"\p{Hex_Digit}"),
];

/// Translates a pattern of Perl to the syntax of the `regex` crate, in which some characters have
/// another meaning or none: the escapes `\<`, `\>`, `\h`, `\H` and `\Z`, braces that do not begin
/// a repetition, and in sets of characters brackets, hyphens, `&`, `~` and POSIX classes.
fn translate_pattern(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    // Whether something that can be repeated precedes the rest.
    let mut has_operand = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => translate_escape(rest, &mut out),
            '[' => translate_set(rest, &mut out),
            '{' => translate_brace(rest, has_operand, &mut out),
            _ => {
                out.push(first);
                first.len_utf8()
            }
        };
        has_operand = !matches!(first, '(' | '|');
        rest = &rest[length..];
    }
    out
}

/// Translates the escape at the beginning of `text` and returns its length.
fn translate_escape(text: &str, out: &mut String) -> usize {
    let Some(escaped) = text[1..].chars().next() else {
        out.push('\\');
        return 1;
    };
    let mut length = 1 + escaped.len_utf8();
    match escaped {
        '<' | '>' => out.push(escaped),
        'h' => out.push_str(r"[\t\p{Zs}]"),
        'H' => out.push_str(r"[^\t\p{Zs}]"),
        'Z' => out.push_str(r"\z"),
        _ => {
            // A name or a number in braces is part of the escape.
            let braced = &text[length..];
            if matches!(escaped, 'p' | 'P' | 'x') && braced.starts_with('{') {
                length += braced.find('}').map_or(0, |end| end + 1);
            }
            out.push_str(&text[..length]);
        }
    }
    length
}

/// Translates the set of characters at the beginning of `text`, `[...]`, and returns its length.
fn translate_set(text: &str, out: &mut String) -> usize {
    out.push('[');
    let mut at = 1;
    if text[at..].starts_with('^') {
        out.push('^');
        at += 1;
    }
    let content = at;
    let mut follows_class = false;
    while let Some(character) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match character {
            ']' if at > content => {
                out.push(']');
                return at + 1;
            }
            '\\' => translate_escape(rest, out),
            '[' => translate_posix_class(rest, out),
            // A class is never an end of a range.
            '-' if at == content || follows_class || begins_class(&rest[1..]) => {
                out.push_str(r"\-");
                1
            }
            // The `regex` crate would subtract a set.
            '-' if rest.starts_with("--") => {
                out.push_str(r"-\-");
                2
            }
            ']' | '&' | '~' => {
                out.extend(['\\', character]);
                1
            }
            _ => {
                out.push(character);
                character.len_utf8()
            }
        };
        follows_class = begins_class(rest);
    }
    at
}

/// Whether `text`, which is inside a set of characters, begins with a class such as `\w` or
/// `[:alpha:]`.
fn begins_class(text: &str) -> bool {
    let escaped = text.strip_prefix('\\').and_then(|text| text.chars().next());
    escaped.is_some_and(|escaped| "dDhHpPsSwW".contains(escaped)) || text.starts_with("[:")
}

/// Translates the POSIX class at the beginning of `text`, or else the bracket there as a character,
/// and returns its length.
fn translate_posix_class(text: &str, out: &mut String) -> usize {
    let name = text.strip_prefix("[:").and_then(|text| text.split_once(":]")).map(|(name, _)| name);
    let negated = name.and_then(|name| name.strip_prefix('^'));
    let known = POSIX_CLASSES.iter().find(|(known, _)| negated.or(name) == Some(*known));
    let (Some(name), Some((_, set))) = (name, known) else {
        out.push_str(r"\[");
        return 1;
    };
    out.push_str(if negated.is_some() { "[^" } else { "[" });
    out.push_str(set);
    out.push(']');
    "[:".len() + name.len() + ":]".len()
}

/// Translates the repetition at the beginning of `text`, such as `{2,3}` or `{,3}`, or else the
/// brace there as a character, and returns its length. Without an operand it is a character too.
fn translate_brace(text: &str, has_operand: bool, out: &mut String) -> usize {
    fn has_only_digits(text: &str) -> bool {
        text.bytes().all(|byte| byte.is_ascii_digit())
    }
    let inside = text[1..].split_once('}').map(|(inside, _)| inside);
    let repetition = inside.filter(|_| has_operand).and_then(|inside| {
        let (least, most) = inside.split_once(',').unwrap_or((inside, "0"));
        let is_empty = matches!(inside, "" | ",");
        (!is_empty && has_only_digits(least) && has_only_digits(most)).then_some(inside)
    });
    let Some(inside) = repetition else {
        out.push_str(r"\{");
        return 1;
    };
    let least = if inside.starts_with(',') { "0" } else { "" };
    out.push_str(&format!("{{{least}{inside}}}"));
    inside.len() + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_perl_are_translated() {
        for (perl, ours) in [
            (r"\<\/?\S+\/?\>", r"<\/?\S+\/?>"),
            (r"{{.*?}}", r"\{\{.*?}}"),
            (r"{0}|({1})\({2}", r"\{0}|(\{1})\({2}"),
            (r"{\d+}", r"\{\d+}"),
            (r"a{2}b{2,}c{2,3}d{,3}e{f{", r"a{2}b{2,}c{2,3}d{0,3}e\{f\{"),
            (r"a{,}{}", r"a\{,}\{}"),
            (r"\p{Lu}{2}\x{e9}", r"\p{Lu}{2}\x{e9}"),
            (r"\[[^[]+\]", r"\[[^\[]+\]"),
            (r"[][]+[^]a]", r"[\]\[]+[^\]a]"),
            (r"[a-z&&b~~\]\[{2}]", r"[a-z\&\&b\~\~\]\[{2}]"),
            (r"[\w-.][.-\d][[:alpha:]-z][\w-]", r"[\w\-.][.\-\d][[\p{Alphabetic}]\-z][\w\-]"),
            (r"[--/][+--][^-a][b-]", r"[\--/][+-\-][^\-a][b-]"),
            (r"[[:alpha:]_[:^digit:]]", r"[[\p{Alphabetic}]_[^\p{Nd}]]"),
            (r"[[:print:][:^graph:]]", r"[[[^\x{2028}\x{2029}\p{Cc}\p{Cn}]][^[^\s\p{Cc}\p{Cn}]]]"),
            (r"\h+\Z", r"[\t\p{Zs}]+\z"),
            ("\\", "\\"),
            ("[a", "[a"),
        ] {
            assert_eq!(translate_pattern(perl), ours, "{perl}");
        }
        for (name, _) in POSIX_CLASSES {
            Regex::new(&translate_pattern(&format!("[[:{name}:][:^{name}:]]"))).unwrap();
        }
    }

    #[test]
    fn hyphens_in_sets_mean_what_they_mean_in_perl() {
        for (set, inside, outside) in [
            (r"[\w-.]", "a-.", "+/"),
            (r"[.-\d]", "5-.", "+/"),
            ("[+--]", "+,-", "./"),
            ("[--/]", "-./", ",0"),
        ] {
            let pattern = Regex::new(&translate_pattern(set)).unwrap();
            for (text, expected) in [(inside, true), (outside, false)] {
                for character in text.chars() {
                    let text = character.to_string();
                    assert_eq!(pattern.is_match(text.as_bytes()), expected, "{set} {text}");
                }
            }
        }
    }

    #[test]
    fn classes_have_the_characters_of_perl() {
        let is = |pattern: &str, text: &str| {
            Regex::new(&translate_pattern(pattern)).unwrap().is_match(text.as_bytes())
        };
        for (class, inside, outside) in [
            ("alpha", "é中ª", "5-_"),
            ("alnum", "é5٣", "½-"),
            ("upper", "ÉΣ", "éß"),
            ("punct", "$|«-§", "é€½"),
            ("graph", "é€½", " \u{a0}\u{1}"),
            ("print", "é \u{a0}", "\u{1}\u{2028}"),
            ("blank", "\t \u{a0}", "\u{b}x"),
        ] {
            for (text, expected) in [(inside, true), (outside, false)] {
                for character in text.chars() {
                    let text = character.to_string();
                    assert_eq!(
                        is(&format!("^[[:{class}:]]$"), &text),
                        expected,
                        "{class} {text:?}"
                    );
                    assert_eq!(
                        is(&format!("^[[:^{class}:]]$"), &text),
                        !expected,
                        "^{class} {text:?}"
                    );
                }
            }
        }
    }
}
