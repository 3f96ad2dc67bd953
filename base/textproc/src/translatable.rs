//! Detection of text that is the same in all languages: numbers, times, addresses.
//!
//! A model may translate `12:30` or `https://example.com/` into anything, so front ends copy such
//! text.

use crate::characters::{CharClass, char_indices, split_whitespace};

/// Whether a sentence contains something to translate: a word other than a number, signs, a time,
/// or the address of a page or mailbox.
///
/// # Examples
/// ```
/// use miriam_textproc::needs_translation;
///
/// assert!(needs_translation(b"It is 12:30."));
/// for text in ["12:30", "3,14 %", "2026-11-26T09:30:00Z", "(https://example.com/a?b=c)", "me@example.com"] {
///     assert!(!needs_translation(text.as_bytes()), "{text}");
/// }
/// ```
pub fn needs_translation(sentence: &[u8]) -> bool {
    split_whitespace(sentence).any(|word| !is_number(word) && !is_address(word))
}

/// Whether a word has no letters, or is a number or time with letters: `1e10`, `2026-11-26T09:30Z`.
fn is_number(word: &[u8]) -> bool {
    fn is_digit(at: usize, word: &[u8]) -> bool {
        word.get(at).is_some_and(u8::is_ascii_digit)
    }
    char_indices(word).all(|(at, symbol)| {
        if !symbol.class().intersects(CharClass::ALPHABETIC) {
            return true;
        }
        let follows_digit = at > 0 && is_digit(at - 1, word);
        follows_digit
            && match word[at] {
                b'T' => is_digit(at + 1, word),
                b'e' | b'E' => {
                    is_digit(at + 1, word)
                        || is_digit(at + 2, word) && b"+-".contains(&word[at + 1])
                }
                b'Z' => !word[at + 1..].iter().any(u8::is_ascii_alphanumeric),
                _ => false,
            }
    })
}

/// Whether a word, perhaps in brackets or before a full stop, is the address of a page or mailbox.
pub(crate) fn is_address(word: &[u8]) -> bool {
    // Nearly all words have none of these bytes.
    if !word.iter().any(|byte| b".:@".contains(byte)) {
        return false;
    }
    fn is_around(byte: &u8) -> bool {
        b"()[]{}<>\"'.,;:!?".contains(byte)
    }
    let start = word.iter().position(|byte| !is_around(byte)).unwrap_or(word.len());
    let end = word.iter().rposition(|byte| !is_around(byte)).map_or(start, |at| at + 1);
    let word = &word[start..end];
    for scheme in ["https://", "http://", "ftp://", "ftps://", "mailto:", "www."] {
        let beginning = word.get(..scheme.len());
        if beginning.is_some_and(|text| text.eq_ignore_ascii_case(scheme.as_bytes())) {
            return word.len() > scheme.len();
        }
    }
    if let Some(at) = memchr::memchr(b'@', word) {
        return at > 0
            && word[..at]
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte))
            && is_host(&word[at + 1..], true);
    }
    let host_len = word.iter().position(|byte| b"/?#:".contains(byte)).unwrap_or(word.len());
    is_host(&word[..host_len], host_len < word.len())
}

/// Whether a text is the name of a host. Unless the text around it looks like an address
/// (`is_marked`), its last part must be a known one.
fn is_host(text: &[u8], is_marked: bool) -> bool {
    const KNOWN: [&str; 12] =
        ["com", "org", "net", "edu", "gov", "int", "info", "io", "dev", "app", "biz", "eu"];
    let mut labels = text.split(|&byte| byte == b'.');
    let Some(last) = labels.next_back() else { return false };
    let count = labels.clone().count();
    let is_last = last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic);
    let is_known = KNOWN.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(last));
    count > 0
        && labels.all(|label| {
            !label.is_empty()
                && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        })
        && is_last
        && (is_marked || is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_nothing_to_translate_is_copied() {
        for text in [
            "",
            "42",
            "3.14",
            "1,000.50",
            "-5 %",
            "€ 5",
            "$5.00",
            "12:30",
            "12:30–14:00",
            "26.11.2026",
            "2026-11-26",
            "2026-11-26T12:30:00Z",
            "2026-11-26T12:30:00+01:00",
            "+49 (30) 1234-56",
            "1/2",
            "½",
            "1e10",
            "6.02E+23",
            "—",
            "...",
            "!",
            "😀 😀",
            "٣٫١٤",
            "１２：３０",
            "https://example.com/path?q=the+house#top",
            "HTTP://EXAMPLE.COM",
            "www.example.com",
            "(https://example.com).",
            "<https://example.com/>",
            "me.you@example.co.uk",
            "mailto:me@example.com",
            "example.com",
            "docs.example.org/a/b",
            "example.xyz/page",
            "https://example.com/ 42 12:30",
            "http://例え.jp/",
        ] {
            assert!(!needs_translation(text.as_bytes()), "{text}");
        }
        for text in [
            "house",
            "It is 12:30.",
            "5 km",
            "12:30 Uhr",
            "See https://example.com/.",
            "1st",
            "A4",
            "五",
            "三月",
            "a@b",
            "Yahoo.Inc",
            "e.g.",
            "end.The",
            "@you",
            "www.",
            "https://",
            "T",
            "5T",
            "12Z3",
            "No. 5",
            "x/y",
        ] {
            assert!(needs_translation(text.as_bytes()), "{text}");
        }
    }
}
