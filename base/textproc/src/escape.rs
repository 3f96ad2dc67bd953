//! Escaping of characters that are syntax in Moses: the bar between factors, the brackets of
//! non-terminals, and XML's special characters.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Returns the entity for a byte in escaped text.
#[inline]
fn entity(byte: u8) -> Option<&'static [u8]> {
    Some(match byte {
        b'&' => b"&amp;",
        b'|' => b"&#124;",
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'\'' => b"&apos;",
        b'"' => b"&quot;",
        b'[' => b"&#91;",
        b']' => b"&#93;",
        _ => return None,
    })
}

/// Entities that are decoded, including those of old Moses versions.
const ENTITIES: [(&[u8], u8); 11] = [
    (b"&amp;", b'&'),
    (b"&apos;", b'\''),
    (b"&quot;", b'"'),
    (b"&#124;", b'|'),
    (b"&#91;", b'['),
    (b"&#93;", b']'),
    (b"&lt;", b'<'),
    (b"&gt;", b'>'),
    (b"&bar;", b'|'),
    (b"&bra;", b'['),
    (b"&ket;", b']'),
];

/// Appends `text` with characters that are syntax in Moses replaced by entities.
pub(crate) fn escape_special_chars(text: &[u8], out: &mut Vec<u8>) {
    let mut plain = 0;
    for (at, &byte) in text.iter().enumerate() {
        if let Some(entity) = entity(byte) {
            out.extend_from_slice(&text[plain..at]);
            out.extend_from_slice(entity);
            plain = at + 1;
        }
    }
    out.extend_from_slice(&text[plain..]);
}

/// Appends `line` as Moses' escape-special-chars.perl writes it: without control characters, with
/// single spaces, and escaped. The tags of an XML element with the attribute `translation` stay;
/// the attribute's value and the element's text are escaped.
pub fn escape_line(line: &[u8], out: &mut Vec<u8>) {
    static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"(?-u)&lt;(\S+) translation=&quot;(.+?)&quot;&gt; (.+?) &lt;/(\S+)&gt;";
        Regex::new(pattern).expect("a valid pattern")
    });
    let mut text: Vec<u8> = line.iter().copied().filter(|&byte| byte >= b' ').collect();
    text.dedup_by(|byte, before| *byte == b' ' && *before == b' ');
    let text = text.strip_prefix(b" ").unwrap_or(&text);
    let text = text.strip_suffix(b" ").unwrap_or(text);
    let mut escaped = Vec::with_capacity(text.len());
    escape_special_chars(text, &mut escaped);
    let element = br#"<$1 translation="$2"> $3 </$4>"#;
    out.extend_from_slice(&ELEMENT.replace_all(&escaped, element.as_slice()));
}

/// Appends `text` with its entities decoded once, like Moses' deescape-special-chars.perl.
pub fn unescape_special_chars(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let found = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
        let (length, byte) = found.map_or((1, b'&'), |&(entity, byte)| (entity.len(), byte));
        out.push(byte);
        rest = &rest[length..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(change: impl Fn(&[u8], &mut Vec<u8>), text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        change(text, &mut out);
        out
    }

    proptest! {
        #[test]
        fn unescaping_undoes_escaping(text in "[-&|<>'\"\\[\\]a;#0-9ampltgquobrke]{0,20}") {
            let escaped = apply(escape_special_chars, text.as_bytes());
            prop_assert!(!escaped.iter().any(|b| b"|<>'\"[]".contains(b)));
            prop_assert_eq!(apply(unescape_special_chars, &escaped), text.as_bytes());
        }
    }

    #[test]
    fn lines_are_escaped_but_for_elements_with_a_translation() {
        assert_eq!(
            apply(escape_line, b" a\tb  c\x01 | [x] 'R&D' "),
            b"ab c &#124; &#91;x&#93; &apos;R&amp;D&apos;"
        );
        assert_eq!(
            apply(escape_line, b"<n translation=\"B'\"> b & </n> <i>"),
            b"<n translation=\"B&apos;\"> b &amp; </n> &lt;i&gt;"
        );
        assert_eq!(
            apply(
                escape_line,
                "<a translation=\"é\"> b </a> <c translation=\"y\"> d </c>".as_bytes()
            ),
            "<a translation=\"é\"> b </a> <c translation=\"y\"> d </c>".as_bytes()
        );
        assert_eq!(
            apply(escape_line, b"<a translation=\"b\" prob=\"1\"> b </a>"),
            b"<a translation=\"b&quot; prob=&quot;1\"> b </a>"
        );
    }

    #[test]
    fn entities_are_undone_once() {
        assert_eq!(
            apply(unescape_special_chars, b"&amp;lt; &bar;&bra;&ket; & &x;"),
            b"&lt; |[] & &x;"
        );
    }
}
