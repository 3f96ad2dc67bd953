//! Replacement of Chinese and Japanese punctuation and digits by ASCII, and removal of non-printing
//! characters: Moses' `replace-unicode-punctuation.perl` and `remove-non-printing-char.perl`, with
//! which OPUS-MT's preparation of text begins.

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::characters::push_char;

/// The replacement of full stops; spaces after them are dropped.
const FULL_STOP: &str = ". ";

/// Returns the replacement of a character.
fn replacement(character: char) -> Option<&'static str> {
    Some(match character {
        '，' | '、' => ",",
        '。' | '．' => FULL_STOP,
        // Like in the script, the digit one becomes a quotation mark.
        '”' | '“' | '《' | '》' | '１' | '」' | '「' => "\"",
        '∶' | '：' => ":",
        '？' => "?",
        '）' => ")",
        '！' => "!",
        '（' => "(",
        '；' => ";",
        '０' => "0",
        '２' => "2",
        '３' => "3",
        '４' => "4",
        '５' => "5",
        '６' => "6",
        '７' => "7",
        '８' => "8",
        '９' => "9",
        '～' => "~",
        '’' => "'",
        '…' => "...",
        '━' => "-",
        '〈' => "<",
        '〉' => ">",
        '【' => "[",
        '】' => "]",
        '％' => "%",
        _ => return None,
    })
}

/// Replaces punctuation and digits by ASCII, and every character of the general category C
/// (controls, formats, unassigned ones) by a space; appends the result to `out`.
///
/// ```
/// let mut out = Vec::new();
/// miriam_textproc::replace_unicode_punctuation("价格：５％。 “好”\u{200b}".as_bytes(), &mut out);
/// assert_eq!(out, "价格:5%. \"好\" ".as_bytes());
/// ```
pub fn replace_unicode_punctuation(line: &[u8], out: &mut Vec<u8>) {
    let mut after_full_stop = false;
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == ' ' && after_full_stop {
                continue;
            }
            let text = replacement(character);
            after_full_stop = text == Some(FULL_STOP);
            match text {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None if !(' '..='~').contains(&character) && is_other(character) => out.push(b' '),
                None => push_char(character, out),
            }
        }
        // Invalid bytes are kept.
        out.extend_from_slice(chunk.invalid());
        after_full_stop &= chunk.invalid().is_empty();
    }
}

/// Whether a character is of the general category C.
fn is_other(character: char) -> bool {
    matches!(
        get_general_category(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::Surrogate
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected output of the two Perl scripts, one after the other.
    #[test]
    fn equals_the_scripts_of_moses() {
        for (text, expected) in [
            ("，。、”“∶：？《》）！（；", ",. ,\"\"::?\"\")!(;"),
            ("１」「０３２５６９７８４", "\"\"\"032569784"),
            ("a．  b。   c。", "a. b. c. "),
            ("～’…━〈〉【】％", "~'...-<>[]%"),
            ("a\tb\u{200b}c\u{ad}d\u{e000}e\u{378}f", "a b c d e f"),
            ("déjà vu “ok” ‘x’ 你好", "déjà vu \"ok\" ‘x' 你好"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            replace_unicode_punctuation(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
        let mut out = Vec::new();
        replace_unicode_punctuation(b"a \xff\xe3\x80 b", &mut out);
        assert_eq!(out, b"a \xff\xe3\x80 b");
    }
}
