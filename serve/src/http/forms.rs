//! Forms: urlencoded, of queries and of bodies, and multipart.

/// The names and values of a query or of an urlencoded body, in order. Bytes that are not
/// UTF-8 become U+FFFD.
pub fn parse_urlencoded(text: &[u8]) -> Vec<(String, String)> {
    let parts = text.split(|&byte| byte == b'&').filter(|part| !part.is_empty());
    let pairs = parts.map(|part| {
        let mut sides = part.splitn(2, |&byte| byte == b'=');
        let mut side = || decode(sides.next().unwrap_or_default());
        (side(), side())
    });
    pairs.collect()
}

/// A text with `%41` for `A` and `+` for a space.
fn decode(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digit = |offset: usize| {
            let byte = text.get(at + offset)?;
            char::from(*byte).to_digit(16)
        };
        match (text[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            (b'+', ..) => {
                bytes.push(b' ');
                at += 1;
            }
            (byte, ..) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The names and values of a multipart body whose content type is `content_type`; files among
/// them are left out. `None` where it is none.
pub fn parse_multipart(content_type: &str, body: &[u8]) -> Option<Vec<(String, String)>> {
    let boundary = parameter(content_type, "boundary")?;
    let mark = format!("--{boundary}");
    let mut fields = Vec::new();
    let mut rest = &body[find(body, mark.as_bytes())? + mark.len()..];
    while !rest.starts_with(b"--") {
        let end = find(rest, mark.as_bytes())?;
        let part = rest[..end].strip_prefix(b"\r\n")?.strip_suffix(b"\r\n")?;
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
            fields.push((name, String::from_utf8_lossy(&part[head + 4..]).into_owned()));
        }
    }
    Some(fields)
}

/// The value of a parameter `name=value` or `name="value"` of a header.
fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        key.trim().eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
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
        let found = parse_urlencoded(b"q=a+b%20%C3%A4&q=100%&&empty=&alone&%ff=1");
        let expected = [
            pair("q", "a b ä"),
            pair("q", "100%"),
            pair("empty", ""),
            pair("alone", ""),
            pair("\u{fffd}", "1"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn multipart_forms() {
        let body = b"preamble\r\n--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nHello\r\n\
                     --x\r\ncontent-disposition: form-data; name=f; filename=\"a.txt\"\r\n\r\n..\r\n\
                     --x\r\nContent-Disposition: form-data; name=target\r\n\r\nes\r\n--x--\r\n";
        let found = parse_multipart("multipart/form-data; boundary=x", body).unwrap();
        assert_eq!(found, [pair("q", "Hello"), pair("target", "es")]);
        assert_eq!(parse_multipart("multipart/form-data", body), None);
        assert_eq!(parse_multipart("multipart/form-data; boundary=y", body), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            body in proptest::collection::vec(prop_oneof![Just(b'-'), Just(b'x'), Just(b'\r'), Just(b'\n'), Just(b'%'), any::<u8>()], 0..200),
        ) {
            parse_urlencoded(&body);
            parse_multipart("multipart/form-data; boundary=x", &body);
        }
    }
}
