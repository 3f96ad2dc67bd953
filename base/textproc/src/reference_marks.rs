//! Reference marks after the end of a sentence: `[1]`, `[2, 3]`, `[note 4]`, `²`, `*`.

use crate::characters::{CharClass, DecodedChar, char_indices, first_char, is_unspaced};

/// The maximum number of bytes between the brackets of a reference mark.
const MAX_CONTENT: usize = 24;

/// The maximum number of reference marks in a row.
const MAX_MARKS: usize = 16;

/// Returns the length in bytes of the reference marks at the beginning of `text`, the text after
/// the end of a sentence. Returns 0 if the marks are followed by something other than white space,
/// a script without spaces, or the end of the text.
pub(crate) fn reference_marks_len(text: &[u8]) -> usize {
    let mut length = 0;
    for _ in 0..MAX_MARKS {
        let Some(symbol) = first_char(&text[length..]) else { break };
        let added = match symbol.character {
            Some('[') => bracketed_len(&text[length..], symbol, ']'),
            Some('［') => bracketed_len(&text[length..], symbol, '］'),
            Some('〔') => bracketed_len(&text[length..], symbol, '〕'),
            Some('*' | '†' | '‡' | '¹' | '²' | '³' | '⁰' | '⁴'..='⁹' | '⁺' | '⁻' | '⁽' | '⁾') => {
                Some(symbol.byte_len)
            }
            _ => None,
        };
        let Some(added) = added else { break };
        length += added;
    }
    let ends = first_char(&text[length..]).is_none_or(|next| {
        next.class().intersects(CharClass::SPACE) || next.character.is_some_and(is_unspaced)
    });
    if ends { length } else { 0 }
}

/// Returns the length in bytes of a reference mark from the bracket `opening` to the bracket
/// `closing`.
fn bracketed_len(text: &[u8], opening: DecodedChar, closing: char) -> Option<usize> {
    let inside = &text[opening.byte_len..];
    let (end, last) = char_indices(inside)
        .take_while(|&(at, _)| at <= MAX_CONTENT)
        .find(|(_, symbol)| symbol.character == Some(closing))?;
    is_reference(&inside[..end]).then_some(opening.byte_len + end + last.byte_len)
}

/// Whether brackets around `content` are a reference mark: numbers, a letter, or words like `note
/// 1` and `citation needed`.
fn is_reference(content: &[u8]) -> bool {
    let has_digit = content.iter().any(u8::is_ascii_digit);
    let is_numbered = has_digit
        && content.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || *byte >= 0x80 || b" ,;:.-*#".contains(byte)
        });
    let is_letter = matches!(content, [letter] if letter.is_ascii_alphabetic());
    !content.is_empty()
        && (is_numbered
            || is_letter
            || content.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_text_in_brackets() {
        let cases = [
            ("[1] The", 3),
            ("[1][2] The", 6),
            ("[2, 3–4] The", 10),
            ("[note 1] The", 8),
            ("[citation needed] The", 17),
            ("[注1]接", 6),
            ("¹ The", 2),
            ("* The", 1),
            ("[a]", 3),
            ("[1]The", 0),
            ("[They] are", 0),
            ("[笑]我", 0),
            ("[] a", 0),
            ("(1) The", 0),
            ("[1", 0),
            ("", 0),
        ];
        for (text, length) in cases {
            assert_eq!(reference_marks_len(text.as_bytes()), length, "{text}");
        }
    }
}
