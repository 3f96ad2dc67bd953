//! Lines of links: `i-j`, source and target position from 0, separated by white space.

use miriam_textio::number::push_integer;
use miriam_textio::{InvalidLink, Line, LinkCertainty, parse_word_link, reject_giza_output};

/// The largest position that is read: symmetrisation keeps a bit for each pair of positions
/// of a line.
pub const MAX_POSITION: u16 = 9_999;

/// A source position and a target position, from 0.
pub type Link = (u16, u16);

/// Parses the links of a line into `links`, in their order; `file` is the file's name in
/// error messages.
///
/// # Errors
/// [`miriam_textio::Error::Format`] with file, line and field of a malformed link, of a position
/// above [`MAX_POSITION`], or of a possible link (`i?j`). For the output of GIZA++, the message
/// says how to convert it.
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
        LinkCertainty::Possible => Err("a possible link (i?j) is allowed in a gold standard only"),
    })
}

/// Calls `found` with each link of a line of `file`; an error of `found` is reported with the link.
pub(crate) fn for_each_link(
    file: &str,
    line: &Line<'_>,
    mut found: impl FnMut(Link, LinkCertainty) -> Result<(), &'static str>,
) -> miriam_textio::Result<()> {
    reject_giza_output(file, line)?;
    let words = line.bytes.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    for (index, word) in words.enumerate() {
        let taken = parse_link(word).and_then(|(link, certainty)| found(link, certainty));
        taken.map_err(|reason| {
            let shown = String::from_utf8_lossy(word);
            let reason = format!("{shown:?}: {reason}");
            miriam_textio::Error::format(file, line.number, Some(index + 1), reason)
        })?;
    }
    Ok(())
}

const TOO_LARGE: &str = "positions go up to 9999; longer lines cannot be aligned";

fn parse_link(text: &[u8]) -> Result<(Link, LinkCertainty), &'static str> {
    let link = parse_word_link(text).map_err(|error| match error {
        InvalidLink::Malformed => "a link is source-target, two positions from 0, such as 3-4",
        InvalidLink::PositionTooLarge => TOO_LARGE,
    })?;
    Ok(((check_position(link.source)?, check_position(link.target)?), link.certainty))
}

fn check_position(position: u32) -> Result<u16, &'static str> {
    u16::try_from(position).ok().filter(|&position| position <= MAX_POSITION).ok_or(TOO_LARGE)
}

/// Appends a line of links, with its line end, to `text`.
pub fn print_links(links: &[Link], text: &mut Vec<u8>) {
    for (index, &(source, target)) in links.iter().enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        push_integer(text, source);
        text.push(b'-');
        push_integer(text, target);
    }
    text.push(b'\n');
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
