//! Words of PTX with their lines: names, numbers, and signs of one character.

use crate::fault::Fault;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Word<'t> {
    pub text: &'t str,
    /// The line, from 1.
    pub line: u32,
}

/// Returns the words of `text`, without comments and strings.
pub(crate) fn words(text: &str) -> Result<Vec<Word<'_>>, Fault> {
    let (mut found, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2).ok_or_else(|| unended(line, "comment"))?
        } else if first == '"' {
            rest[1..].find('"').map(|end| end + 2).ok_or_else(|| unended(line, "string"))?
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let length = name_length(rest).max(first.len_utf8());
            found.push(Word { text: &rest[..length], line });
            length
        };
        line += rest[..length].matches('\n').count() as u32;
        rest = &rest[length..];
    }
    Ok(found)
}

/// Returns the length in bytes of the name that `text` begins with; `::` may be within it.
fn name_length(text: &str) -> usize {
    let length = text.find(|c| !is_part_of_name(c)).unwrap_or(text.len());
    match text[length..].strip_prefix("::") {
        Some(rest) if length > 0 => length + 2 + name_length(rest),
        _ => length,
    }
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._$%".contains(c)
}

fn unended(line: u32, what: &str) -> Fault {
    Fault::Module { line, reason: format!("a {what} does not end") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_lines_and_no_comments() {
        let text =
            "@%p1 bra $L_1; // left\n/* two\nlines */ ld.param.u64 %rd1, [x+4];\n.pragma \"no\";";
        let found: Vec<(&str, u32)> =
            words(text).unwrap().iter().map(|word| (word.text, word.line)).collect();
        let expected = [
            ("@", 1),
            ("%p1", 1),
            ("bra", 1),
            ("$L_1", 1),
            (";", 1),
            ("ld.param.u64", 3),
            ("%rd1", 3),
            (",", 3),
            ("[", 3),
            ("x", 3),
            ("+", 3),
            ("4", 3),
            ("]", 3),
            (";", 3),
            (".pragma", 4),
            (";", 4),
        ];
        assert_eq!(found, expected);
        assert!(words("a /* b").is_err());
    }
}
