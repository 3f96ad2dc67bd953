//! Links as text: `i-j`, source and target position from 0, separated by spaces.

use miriam_textio::Line;

/// The largest position that is read. What joins links keeps a bit for each pair of
/// positions of a line.
pub const MAX_POSITION: u16 = 9_999;

/// A source position and a target position, from 0.
pub type Link = (u16, u16);

/// Whether a link of a gold standard is beyond doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkCertainty {
    /// `i-j`.
    Sure,
    /// `i?j`.
    Possible,
}

/// The links of a line of `file`, in its order.
pub fn parse_links(
    file: &str,
    line: &Line<'_>,
    links: &mut Vec<Link>,
) -> miriam_textio::Result<()> {
    links.clear();
    for_each_link(file, line, |link, certainty| match certainty {
        LinkCertainty::Sure => {
            links.push(link);
            Ok(())
        }
        LinkCertainty::Possible => Err("a possible link (i?j) belongs into a gold standard only"),
    })
}

/// Calls `found` with the links of a line of `file`; what it complains of is an error.
pub(crate) fn for_each_link(
    file: &str,
    line: &Line<'_>,
    mut found: impl FnMut(Link, LinkCertainty) -> Result<(), &'static str>,
) -> miriam_textio::Result<()> {
    let words = line.bytes.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    for (index, word) in words.enumerate() {
        let failed = |reason: &str| {
            let shown = String::from_utf8_lossy(word);
            let reason = format!("{shown:?}: {reason}");
            miriam_textio::Error::format(file, line.number, Some(index + 1), reason)
        };
        let (link, certainty) = parse_link(word).map_err(failed)?;
        found(link, certainty).map_err(failed)?;
    }
    Ok(())
}

fn parse_link(word: &[u8]) -> Result<(Link, LinkCertainty), &'static str> {
    let form = "a link is source-target, two positions from 0, such as 3-4";
    let bar = word.iter().position(|b| !b.is_ascii_digit()).ok_or(form)?;
    let certainty = match word[bar] {
        b'-' => LinkCertainty::Sure,
        b'?' => LinkCertainty::Possible,
        _ => return Err(form),
    };
    let position = |digits: &[u8]| {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(form);
        }
        let value = digits.iter().try_fold(0u16, |value, digit| {
            let value = value.checked_mul(10)?.checked_add(u16::from(digit - b'0'))?;
            (value <= MAX_POSITION).then_some(value)
        });
        value.ok_or("positions go up to 9999; longer lines cannot be aligned")
    };
    Ok(((position(&word[..bar])?, position(&word[bar + 1..])?), certainty))
}

/// Writes links as a line.
pub fn print_links(links: &[Link], text: &mut Vec<u8>) {
    for (index, &(source, target)) in links.iter().enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        print_position(source, text);
        text.push(b'-');
        print_position(target, text);
    }
    text.push(b'\n');
}

fn print_position(position: u16, text: &mut Vec<u8>) {
    let mut digits = [0; 5];
    let (mut at, mut rest) = (digits.len(), position);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &[u8]) -> miriam_textio::Result<Vec<Link>> {
        let mut links = Vec::new();
        let line = Line { bytes: text, number: 7, terminated: true };
        parse_links("links", &line, &mut links).map(|()| links)
    }

    proptest! {
        #[test]
        fn printed_links_parse_back(
            links in proptest::collection::vec((0..=MAX_POSITION, 0..=MAX_POSITION), 0..20),
        ) {
            let mut text = Vec::new();
            print_links(&links, &mut text);
            prop_assert_eq!(parse(&text[..text.len() - 1]).unwrap(), links);
        }

        #[test]
        fn any_bytes_give_links_or_an_error(
            text in proptest::collection::vec(prop_oneof![Just(b'-'), Just(b' '), Just(b'1'), any::<u8>()], 0..30),
        ) {
            let _ = parse(&text);
        }
    }

    #[test]
    fn bad_links_are_named() {
        for (text, reason) in [
            ("0-0 1-", "from 0"),
            ("0-0 x-1", "from 0"),
            ("0-0 10000-1", "9999"),
            ("0-0 99999999999999999999-1", "9999"),
            ("0-0 1?1", "gold"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(
                error.starts_with("links, line 7, field 2: ") && error.contains(reason),
                "{error}"
            );
        }
        assert_eq!(parse(b" 0-0\t1-2\r").unwrap(), [(0, 0), (1, 2)]);
    }
}
