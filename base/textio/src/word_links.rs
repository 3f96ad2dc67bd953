//! Links of word alignments in text: `i-j`, a source and a target position, counted from 0.

use crate::{Error, Line, Result};

/// A link between a source word and a target word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLink {
    /// The position of the source word, from 0.
    pub source: u32,
    /// The position of the target word, from 0.
    pub target: u32,
    /// Whether the link is certain.
    pub certainty: LinkCertainty,
}

/// Whether a link of a gold standard is certain (Och and Ney 2003).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkCertainty {
    /// Written as `i-j`.
    Sure,
    /// Written as `i?j`.
    Possible,
}

/// The reason why a string is not a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidLink {
    /// It is not two decimal numbers with `-` or `?` between them.
    Malformed,
    /// A position does not fit 32 bits.
    PositionTooLarge,
}

/// Parses a link, `i-j` or `i?j`, without white space around it.
///
/// # Errors
/// [`InvalidLink`] if the text is not a link.
///
/// # Examples
/// ```
/// use miriam_textio::{InvalidLink, LinkCertainty, parse_word_link};
///
/// let link = parse_word_link(b"3-14").unwrap();
/// assert_eq!((link.source, link.target, link.certainty), (3, 14, LinkCertainty::Sure));
/// assert_eq!(parse_word_link(b"3-x"), Err(InvalidLink::Malformed));
/// ```
pub fn parse_word_link(text: &[u8]) -> Result<WordLink, InvalidLink> {
    let separator =
        text.iter().position(|byte| !byte.is_ascii_digit()).ok_or(InvalidLink::Malformed)?;
    let certainty = match text[separator] {
        b'-' => LinkCertainty::Sure,
        b'?' => LinkCertainty::Possible,
        _ => return Err(InvalidLink::Malformed),
    };
    let source = parse_position(&text[..separator])?;
    let target = parse_position(&text[separator + 1..])?;
    Ok(WordLink { source, target, certainty })
}

/// Parses a link between the words of a phrase pair, `i-j`. Returns `None` for any other text, and
/// for positions that do not fit 16 bits.
pub fn parse_phrase_link(text: &[u8]) -> Option<(u16, u16)> {
    let WordLink { source, target, certainty } = parse_word_link(text).ok()?;
    let link = (source.try_into().ok()?, target.try_into().ok()?);
    (certainty == LinkCertainty::Sure).then_some(link)
}

/// Rejects the output of GIZA++ (`*.A3.final`) and of giza2bal.pl (`*.bal`) where lines of links
/// are expected. Both have three lines for a sentence pair. Only the first line of a file is
/// checked: from GIZA++ it is a comment, and from giza2bal.pl the count of the pair.
///
/// # Errors
/// [`Error::Format`] with a remedy, if `line` is the first line of such a file.
pub fn reject_giza_output(file: &str, line: &Line<'_>) -> Result<()> {
    let text = line.bytes.trim_ascii();
    let is_count = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if line.number == 1 && (is_count || text.starts_with(b"# Sentence pair")) {
        let reason = "this is the output of GIZA++, not lines of links such as 0-0 1-2; convert \
                      the output of both directions with giza2bal.pl and symal, or align the text \
                      with `miriam align`";
        return Err(Error::format(file, line.number, None, reason));
    }
    Ok(())
}

fn parse_position(digits: &[u8]) -> Result<u32, InvalidLink> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(InvalidLink::Malformed);
    }
    let position = digits.iter().try_fold(0u32, |position, digit| {
        position.checked_mul(10)?.checked_add(u32::from(digit - b'0'))
    });
    position.ok_or(InvalidLink::PositionTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_giza_is_recognized_by_its_first_line() {
        let check = |text: &str, number| {
            let line = Line { bytes: text.as_bytes(), number, terminated: true };
            reject_giza_output("links", &line)
        };
        for text in
            ["# Sentence pair (1) source length 3 target length 2 alignment score : 0.1", "1\r"]
        {
            let error = check(text, 1).unwrap_err().to_string();
            assert!(error.starts_with("links, line 1: ") && error.contains("symal"), "{error}");
            check(text, 2).unwrap();
        }
        for text in ["", "0-0 1-2", "# another comment", "1 2"] {
            check(text, 1).unwrap();
        }
    }

    #[test]
    fn links_are_parsed_or_rejected() {
        let link = |source, target, certainty| Ok(WordLink { source, target, certainty });
        assert_eq!(parse_word_link(b"0-0"), link(0, 0, LinkCertainty::Sure));
        assert_eq!(parse_word_link(b"11?007"), link(11, 7, LinkCertainty::Possible));
        assert_eq!(parse_word_link(b"4294967295-0"), link(u32::MAX, 0, LinkCertainty::Sure));
        for text in ["", "1", "-", "1-", "-1", "a-1", "1-2-1", "0-0:1", "0-+1", "0-1 ", "1:1"] {
            assert_eq!(parse_word_link(text.as_bytes()), Err(InvalidLink::Malformed), "{text}");
        }
        for text in ["4294967296-0", "0-99999999999999999999"] {
            assert_eq!(
                parse_word_link(text.as_bytes()),
                Err(InvalidLink::PositionTooLarge),
                "{text}"
            );
        }
        assert_eq!(parse_phrase_link(b"65535-7"), Some((65535, 7)));
        for text in ["", "-", "1-", "-1", "1", "1-2-3", "+1-2", "0?1", "65536-0", "a-b"] {
            assert_eq!(parse_phrase_link(text.as_bytes()), None, "{text}");
        }
    }
}
