//! Rules for strings that may be pieces: at most 16 characters, one script, U+2581 only at the
//! beginning.

use unicode_script::{Script, UnicodeScript};

use super::super::normalizer::SPACE_SYMBOL;
use super::alphabet::characters;

/// The maximum length of a piece, in characters.
pub const MAX_PIECE_CHARS: usize = 16;

/// The script of a character, by which pieces are separated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptClass {
    /// U+2581, which combines with every script.
    Any,
    /// A mark that takes on the script of the character before it.
    Inherited,
    Of(Script),
}

fn script_class(character: &[u8]) -> ScriptClass {
    if character == SPACE_SYMBOL {
        return ScriptClass::Any;
    }
    let text = std::str::from_utf8(character).unwrap_or_default();
    match text.chars().next().map(|character| (character, character.script())) {
        // Japanese writes words in three scripts.
        Some(('\u{30fc}', _) | (_, Script::Hiragana | Script::Katakana)) => {
            ScriptClass::Of(Script::Han)
        }
        Some((_, Script::Inherited)) => ScriptClass::Inherited,
        Some((_, script)) => ScriptClass::Of(script),
        None => ScriptClass::Any,
    }
}

/// Returns the length in bytes of the longest beginning of `text`, a part of a word, that may be a
/// piece. All shorter beginnings may be pieces too.
pub fn longest_piece_len(text: &[u8]) -> usize {
    let mut script = ScriptClass::Any;
    let mut length = 0;
    for character in characters(text).take(MAX_PIECE_CHARS) {
        let own = match script_class(character) {
            ScriptClass::Inherited => script,
            own => own,
        };
        let differs = own != script && own != ScriptClass::Any && script != ScriptClass::Any;
        if differs || (length > 0 && character == SPACE_SYMBOL) {
            break;
        }
        script = own;
        length += character.len();
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_where_the_script_changes() {
        for (text, piece) in [
            ("▁don't", "▁don"),
            ("'t", "'"),
            ("▁123a", "▁123"),
            ("ёлкаa", "ёлка"),
            ("東京タワーへ", "東京タワーへ"),
            ("e\u{301}tat", "e\u{301}tat"),
            ("▁1,5-mal", "▁1,5-"),
            ("abcdefghijklmnopqrst", "abcdefghijklmnop"),
        ] {
            assert_eq!(&text[..longest_piece_len(text.as_bytes())], piece, "{text}");
        }
    }
}
