//! Forms: urlencoded, in queries and in bodies, and multipart. A text that is not in its declared
//! encoding is an error, because another text would be translated.

use std::collections::HashSet;

use memchr::memmem::find;

/// The longest boundary of a multipart body, by RFC 2046.
const MAX_BOUNDARY: usize = 70;

/// The names and values of a form, in order.
pub type Fields = Vec<(String, String)>;

/// Parses a query or an urlencoded body in UTF-8 into names and values, in order.
///
/// # Errors
/// If a name or a value is not UTF-8.
pub fn parse_urlencoded(text: &[u8]) -> Result<Fields, String> {
    parse_urlencoded_in(text, Charset::Utf8)
}

/// Parses a query whose names must be unique and in `known`.
///
/// # Errors
/// If a name is unknown or occurs twice, or something is not UTF-8.
pub fn parse_query(query: &str, known: &[&str]) -> Result<Fields, String> {
    let fields = parse_urlencoded(query.as_bytes())?;
    if let Some((name, _)) = fields.iter().find(|(name, _)| !known.contains(&&**name)) {
        let expected = if known.is_empty() { "no parameters".into() } else { known.join(", ") };
        return Err(format!("the address has {name:?}; expected {expected}"));
    }
    let mut names = HashSet::new();
    match fields.iter().find(|(name, _)| !names.insert(name)) {
        Some((name, _)) => Err(format!("the query has {name:?} twice")),
        None => Ok(fields),
    }
}

/// Returns the first value of a name in a query or a form, if it is not empty.
pub fn field<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    let found = fields.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| &**value).filter(|value| !value.is_empty())
}

/// Parses a body: as multipart if it is valid with the boundary of its content type, otherwise as
/// urlencoded.
///
/// # Errors
/// If the character encoding is not supported, or the body is not in it.
pub fn parse_form(content_type: &str, body: &[u8]) -> Result<Fields, String> {
    let charset = Charset::of(content_type)?;
    match parse_multipart(content_type, body) {
        Some(fields) => {
            fields.into_iter().map(|(name, value)| Ok((name, charset.decode(value)?))).collect()
        }
        None => parse_urlencoded_in(body, charset),
    }
}

/// A character encoding.
#[derive(Clone, Copy)]
enum Charset {
    Utf8,
    Latin1,
}

impl Charset {
    /// Returns the encoding of a content type.
    fn of(content_type: &str) -> Result<Self, String> {
        match parameter(content_type, "charset").map(|name| name.to_ascii_lowercase()).as_deref() {
            None | Some("" | "utf-8" | "utf8" | "us-ascii") => Ok(Charset::Utf8),
            Some("iso-8859-1" | "latin1") => Ok(Charset::Latin1),
            Some(other) => Err(format!("the charset {other} is not supported; send UTF-8")),
        }
    }

    fn decode(self, bytes: Vec<u8>) -> Result<String, String> {
        match self {
            Charset::Utf8 => String::from_utf8(bytes)
                .map_err(|error| format!("the form is not UTF-8: {}", error.utf8_error())),
            Charset::Latin1 => Ok(bytes.into_iter().map(char::from).collect()),
        }
    }
}

fn parse_urlencoded_in(text: &[u8], charset: Charset) -> Result<Fields, String> {
    let parts = text.split(|&byte| byte == b'&').filter(|part| !part.is_empty());
    let pairs = parts.map(|part| {
        let (name, value) = match part.iter().position(|&byte| byte == b'=') {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, &[][..]),
        };
        Ok((charset.decode(unescape(name))?, charset.decode(unescape(value))?))
    });
    pairs.collect()
}

/// Decodes a text with `%41` for `A` and `+` for a space.
fn unescape(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let code = digit(after.first()).zip(digit(after.get(1))).filter(|_| first == b'%');
        rest = if code.is_some() { &after[2..] } else { after };
        bytes.push(match (code, first) {
            (Some((high, low)), _) => (high * 16 + low) as u8,
            (None, b'+') => b' ',
            (None, byte) => byte,
        });
    }
    bytes
}

/// Parses a multipart body with the content type `content_type` into names and values, without
/// files. Returns `None` if it is invalid.
fn parse_multipart(content_type: &str, body: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let boundary = parameter(content_type, "boundary")?;
    if boundary.is_empty() || boundary.len() > MAX_BOUNDARY {
        return None;
    }
    // Only a line begins with the boundary; the text of a part may contain it.
    let mark = format!("\r\n--{boundary}");
    let mark = mark.as_bytes();
    let mut fields = Vec::new();
    let mut rest = match body.strip_prefix(&mark[2..]) {
        Some(rest) => rest,
        None => &body[find(body, mark)? + mark.len()..],
    };
    while !rest.starts_with(b"--") {
        let end = find(rest, mark)?;
        let part = rest[..end].strip_prefix(b"\r\n")?;
        rest = &rest[end + mark.len()..];
        let head = find(part, b"\r\n\r\n")?;
        let lines = String::from_utf8_lossy(&part[..head]).into_owned();
        let disposition = lines.lines().find(|line| {
            line.get(..20).is_some_and(|name| name.eq_ignore_ascii_case("content-disposition:"))
        });
        let Some(disposition) = disposition else { continue };
        if parameter(disposition, "filename").is_none()
            && let Some(name) = parameter(disposition, "name")
        {
            fields.push((name, part[head + 4..].to_vec()));
        }
    }
    Some(fields)
}

/// Returns the value of a parameter `name=value` or `name="value"` of a header.
fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        key.trim().eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn urlencoded_forms() {
        let found = parse_urlencoded(b"q=a+b%20%C3%A4&q=100%&&empty=&alone").unwrap();
        let expected =
            [pair("q", "a b ä"), pair("q", "100%"), pair("empty", ""), pair("alone", "")];
        assert_eq!(found, expected);
        assert!(parse_urlencoded(b"q=%ff").is_err() && parse_urlencoded(b"%ff=1").is_err());
        let fields = parse_query("model=a&from=", &["model", "from"]).unwrap();
        assert_eq!((field(&fields, "model"), field(&fields, "from")), (Some("a"), None));
        for (query, known, reason) in [
            ("a=1&b=2&a=1", &["a", "b"][..], "the query has \"a\" twice"),
            ("a=1&c=2", &["a", "b"], "the address has \"c\"; expected a, b"),
            ("c=", &[], "the address has \"c\"; expected no parameters"),
        ] {
            assert_eq!(parse_query(query, known), Err(reason.into()));
        }
    }

    #[test]
    fn forms_are_read_in_the_charset_that_they_declare() {
        let form = |content_type: &str, body: &[u8]| parse_form(content_type, body);
        let urlencoded = "application/x-www-form-urlencoded";
        let latin = format!("{urlencoded}; charset=ISO-8859-1");
        assert_eq!(form(&latin, b"q=%e4\xe4"), Ok(vec![pair("q", "ää")]));
        let utf8 = format!("{urlencoded};charset=\"UTF-8\"");
        assert_eq!(form(&utf8, "q=ä".as_bytes()), Ok(vec![pair("q", "ä")]));
        assert!(form(&utf8, b"q=%e4").unwrap_err().contains("not UTF-8"));
        let wrong = form(&format!("{urlencoded}; charset=utf-16"), b"q=1");
        assert_eq!(wrong, Err("the charset utf-16 is not supported; send UTF-8".into()));
        let part = b"--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n\xe4\r\n--x--\r\n";
        assert!(form("multipart/form-data; boundary=x", part).is_err());
        let latin = "multipart/form-data; boundary=x; charset=latin1";
        assert_eq!(form(latin, part), Ok(vec![pair("q", "ä")]));
    }

    #[test]
    fn multipart_forms() {
        let body = b"preamble\r\n--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nHello\r\n\
                     --x\r\ncontent-disposition: form-data; name=f; filename=\"a.txt\"\r\n\r\n..\r\n\
                     --x\r\nContent-Disposition: form-data; name=target\r\n\r\nes\r\n--x--\r\n";
        let found = parse_form("multipart/form-data; boundary=x", body).unwrap();
        assert_eq!(found, [pair("q", "Hello"), pair("target", "es")]);
        let text = b"--x\r\nContent-Disposition: form-data; name=q\r\n\r\na --x b\r\n--x--\r\n";
        let found = parse_form("multipart/form-data; boundary=x", text).unwrap();
        assert_eq!(found, [pair("q", "a --x b")]);
        assert_eq!(parse_multipart("multipart/form-data", body), None);
        assert_eq!(parse_multipart("multipart/form-data; boundary=y", body), None);
        // A search for a boundary that nearly matches everywhere would take very long.
        let long = format!("multipart/form-data; boundary={}", "a".repeat(71));
        assert_eq!(parse_multipart(&long, body), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            body in proptest::collection::vec(prop_oneof![Just(b'-'), Just(b'x'), Just(b'\r'), Just(b'\n'), Just(b'%'), any::<u8>()], 0..200),
        ) {
            let _ = parse_form("", &body);
            let _ = parse_form("multipart/form-data; boundary=x", &body);
        }
    }
}
