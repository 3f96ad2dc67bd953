//! Character references (`&amp;`, `&#65;`): decoding in text, and escaping of text.

use std::borrow::Cow;

use htmlize::Context;

use super::tokens::Syntax;

/// The length in bytes of the longest named reference, `&CounterClockwiseContourIntegral;`.
const MAX_REFERENCE_LEN: usize = 33;

/// Decodes the reference at the beginning of `text`, which starts with `&`. Returns its characters
/// and its length in bytes; `None` if it is not a reference.
pub(super) fn decode_reference(text: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let limit = text.len().min(MAX_REFERENCE_LEN);
    let name = text[1..limit].iter();
    let name_len = name.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#').count();
    let has_semicolon = text.get(1 + name_len) == Some(&b';');
    let reference = &text[..1 + name_len + usize::from(has_semicolon)];
    let decoded = htmlize::unescape_bytes_in(reference, Context::General);
    (*decoded != *reference).then_some((decoded, reference.len()))
}

/// Appends plain text, escaped for a document. A no-break space becomes `&nbsp;` in HTML only,
/// because XML does not define that name.
pub(super) fn push_escaped(text: &[u8], syntax: Syntax, out: &mut Vec<u8>) {
    let mut copied = 0;
    for (at, &byte) in text.iter().enumerate() {
        let (reference, length): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            0xc2 if syntax == Syntax::Html && text.get(at + 1) == Some(&0xa0) => (b"&nbsp;", 2),
            _ => continue,
        };
        out.extend_from_slice(&text[copied..at]);
        out.extend_from_slice(reference);
        copied = at + length;
    }
    out.extend_from_slice(&text[copied..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded() {
        let decode = |text: &str| {
            let found = decode_reference(text.as_bytes());
            found.map(|(text, length)| (String::from_utf8(text.into_owned()).unwrap(), length))
        };
        assert_eq!(decode("&amp; b"), Some(("&".into(), 5)));
        assert_eq!(decode("&eacute;t"), Some(("é".into(), 8)));
        assert_eq!(decode("&#x4f60;"), Some(("你".into(), 8)));
        assert_eq!(decode("&#65 "), Some(("A".into(), 4)));
        assert_eq!(decode("&copy 2026"), Some(("©".into(), 5)));
        for none in ["&", "& b", "&nosuch;", "&;", "&#;"] {
            assert_eq!(decode(none), None, "{none}");
        }
    }

    #[test]
    fn markup_characters_and_no_break_spaces_are_escaped() {
        let mut out = Vec::new();
        push_escaped("a<b> & \u{a0}é\"".as_bytes(), Syntax::Html, &mut out);
        assert_eq!(out, "a&lt;b&gt; &amp; &nbsp;é\"".as_bytes());
        out.clear();
        push_escaped("a<b>\u{a0}é".as_bytes(), Syntax::Xml, &mut out);
        assert_eq!(out, "a&lt;b&gt;\u{a0}é".as_bytes());
    }
}
