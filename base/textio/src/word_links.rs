//! Links of word alignments in text: `i-j`, a source and a target position, counted from 0.

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
    }
}
