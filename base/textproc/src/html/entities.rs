//! Character references: decoded in the text of a page, and written for text that goes into a page.

use std::borrow::Cow;

use htmlize::Context;

use super::tokens::Syntax;

/// The longest name of a reference, with `&` and `;`.
const MAX_REFERENCE: usize = 33;

/// Returns the characters of the reference that `text` begins with, and its length in bytes; `None`
/// if there is no reference.
pub(super) fn decode_reference(text: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    fn is_part(byte: &u8) -> bool {
        byte.is_ascii_alphanumeric() || *byte == b'#'
    }
    let most = text.len().min(MAX_REFERENCE);
    let letters = text[1..most].iter().position(|byte| !is_part(byte)).unwrap_or(most - 1);
    let ends_well = text.get(1 + letters) == Some(&b';');
    let reference = &text[..1 + letters + usize::from(ends_well)];
    let decoded = htmlize::unescape_bytes_in(reference, Context::General);
    (*decoded != *reference).then_some((decoded, reference.len()))
}

/// Appends plain text, escaped for a document. XML has no name for a no-break space.
pub(super) fn push_escaped(text: &[u8], syntax: Syntax, out: &mut Vec<u8>) {
    let mut plain = 0;
    for (at, &byte) in text.iter().enumerate() {
        let (reference, length): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            0xc2 if syntax == Syntax::Html && text.get(at + 1) == Some(&0xa0) => (b"&nbsp;", 2),
            _ => continue,
        };
        out.extend_from_slice(&text[plain..at]);
        out.extend_from_slice(reference);
        plain = at + length;
    }
    out.extend_from_slice(&text[plain..]);
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
    fn text_is_escaped() {
        let mut out = Vec::new();
        push_escaped("a<b> & \u{a0}é\"".as_bytes(), Syntax::Html, &mut out);
        assert_eq!(out, "a&lt;b&gt; &amp; &nbsp;é\"".as_bytes());
        out.clear();
        push_escaped("a<b>\u{a0}é".as_bytes(), Syntax::Xml, &mut out);
        assert_eq!(out, "a&lt;b&gt;\u{a0}é".as_bytes());
    }
}
