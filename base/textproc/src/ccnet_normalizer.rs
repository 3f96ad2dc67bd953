//! Normalisation of text for CCNet's language models (Wenzek et al. 2020): lower case, no accents,
//! every digit replaced by 0, CCNet's list of Unicode punctuation replaced by ASCII, no control
//! characters.
//!
//! Line ends are control characters, so a text of several lines becomes one line, and words around
//! a line end become one word unless there is a space, too. The models were trained on such text.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use crate::characters::is_python_space;

/// Appends `text`, normalised like in CCNet.
pub fn normalize_ccnet(text: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(text);
    let lower_case = text.trim_matches(is_python_space).to_lowercase();
    let mut utf8 = [0; 4];
    for character in lower_case.nfd() {
        let category = get_general_category(character);
        if category == GeneralCategory::NonspacingMark || character.is_control() {
            continue;
        }
        match (category, ascii_punctuation(character)) {
            (GeneralCategory::DecimalNumber, _) => out.push(b'0'),
            (_, Some(ascii)) => out.extend_from_slice(ascii.as_bytes()),
            (_, None) => out.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes()),
        }
    }
}

fn ascii_punctuation(character: char) -> Option<&'static str> {
    Some(match character {
        '，' | '、' => ",",
        '。' => ".",
        '．' => ". ",
        '…' => "...",
        '„' | '”' | '“' | '«' | '»' | '」' | '「' | '《' | '》' => "\"",
        '´' | '’' => "'",
        '∶' | '：' => ":",
        '；' => ";",
        '？' => "?",
        '！' => "!",
        '（' => "(",
        '）' => ")",
        '【' => "[",
        '】' => "]",
        '〈' => "<",
        '〉' => ">",
        '–' | '━' | '►' => "-",
        '—' => " - ",
        '～' => "~",
        '％' => "%",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_normalized_as_in_ccnet() {
        for (text, expected) in [
            ("  Ein Haus, 1984! \n", "ein haus, 0000!"),
            ("Café Über ŞİŞLİ", "cafe uber sisli"),
            ("“So—it goes…” «ja» 50％ １２ ٣", "\"so - it goes...\" \"ja\" 00% 00 0"),
            ("他说：“你好！”【一】（二）。", "他说:\"你好!\"[一](二)."),
            ("ΟΔΟΣ", "οδος"),
            // Line ends are removed.
            ("one\ntwo\t three\u{85}", "onetwo three"),
            ("\u{1c} a", "a"),
            ("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            normalize_ccnet(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let mut out = Vec::new();
        normalize_ccnet(b"A\xffb", &mut out);
        assert_eq!(out, "a\u{fffd}b".as_bytes());
    }
}
