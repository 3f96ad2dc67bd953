//! Replacement of Chinese and Japanese punctuation and digits by ASCII, and removal of non-printing
//! characters: Moses' `replace-unicode-punctuation.perl` and `remove-non-printing-char.perl`.
//! OPUS-MT's preparation of text begins with both scripts, the first in an old version.

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::characters::push_char;

/// The replacement of full stops; spaces after them are dropped.
const FULL_STOP: &str = ". ";

/// Returns the replacement of a punctuation mark or digit.
fn replacement(character: char) -> Option<&'static str> {
    Some(match character {
        '１' => "1",
        '，' | '、' => ",",
        '。' | '．' => FULL_STOP,
        '”' | '“' | '《' | '》' | '」' | '「' => "\"",
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

/// Replaces punctuation and digits by ASCII as OPUS-MT's preparation does, and every character of
/// the general category C (controls, formats, unassigned ones) by a space; appends the result to
/// `out`.
///
/// ```
/// let mut out = Vec::new();
/// miriam_textproc::prepare_for_opus_mt("价格：５％。 “好”\u{200b}".as_bytes(), &mut out);
/// assert_eq!(out, "价格:5%. \"好\" ".as_bytes());
/// ```
pub fn prepare_for_opus_mt(line: &[u8], out: &mut Vec<u8>) {
    replace_chars(line, out, |character| match character {
        // A fault of the script turns this digit into a quotation mark. The models were trained on
        // its output.
        '１' => Some("\""),
        other => replacement(other).or_else(|| space_for(other)),
    });
}

/// Replaces punctuation and digits by ASCII; appends the result to `out`.
pub fn replace_unicode_punctuation(line: &[u8], out: &mut Vec<u8>) {
    replace_chars(line, out, replacement);
}

/// Replaces every character of the general category C (controls, formats, unassigned ones) by a
/// space; appends the result to `out`.
pub fn remove_non_printing_chars(line: &[u8], out: &mut Vec<u8>) {
    replace_chars(line, out, space_for);
}

/// Returns a space for a character that is not printed.
fn space_for(character: char) -> Option<&'static str> {
    (!(' '..='~').contains(&character) && is_other(character)).then_some(" ")
}

fn replace_chars(
    line: &[u8],
    out: &mut Vec<u8>,
    replacement: impl Fn(char) -> Option<&'static str>,
) {
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
            prepare_for_opus_mt(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
        let mut out = Vec::new();
        prepare_for_opus_mt(b"a \xff\xe3\x80 b", &mut out);
        assert_eq!(out, b"a \xff\xe3\x80 b");
    }

    #[test]
    fn each_script_has_its_own_function() {
        let mut out = Vec::new();
        replace_unicode_punctuation("是“１２３”？ a。  b\t".as_bytes(), &mut out);
        assert_eq!(out, "是\"123\"? a. b\t".as_bytes());
        let mut out = Vec::new();
        remove_non_printing_chars("a\tb\u{200b}c\u{ad}d，".as_bytes(), &mut out);
        assert_eq!(out, "a b c d，".as_bytes());
    }
}
