//! Escaping of characters that are syntax in Moses: the bar between factors, the brackets of
//! non-terminals, and XML's special characters.

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
    fn entities_are_undone_once() {
        assert_eq!(
            apply(unescape_special_chars, b"&amp;lt; &bar;&bra;&ket; & &x;"),
            b"&lt; |[] & &x;"
        );
    }
}
