//! Links of a sentence pair, and their parser. A line has links `i-j` separated by spaces, with
//! source and target position from 0.

use miriam_textio::fields::split_words;
use miriam_textio::{LinkCertainty, WordLink, parse_word_link};

/// A link between two words of a sentence pair, ordered by target position first, as
/// tables print links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    /// The position of the target word, from 0.
    pub target: u32,
    /// The position of the source word, from 0.
    pub source: u32,
}

/// Appends the links of `line` to `links`, in their order. Fails with a message if a link is
/// malformed or out of the range of its sentences.
pub(crate) fn parse_links(
    line: &[u8],
    source_words: usize,
    target_words: usize,
    links: &mut Vec<Link>,
) -> Result<(), String> {
    for text in split_words(line.strip_suffix(b"\r").unwrap_or(line)) {
        let Ok(WordLink { source, target, certainty: LinkCertainty::Sure }) = parse_word_link(text)
        else {
            return Err(format!(
                "{:?} is not a link; write SOURCE-TARGET, two positions counted from 0",
                String::from_utf8_lossy(text)
            ));
        };
        if source as usize >= source_words || target as usize >= target_words {
            return Err(format!(
                "link {} is out of range: the sentences have {source_words} and {target_words} \
                 words; align this text, or check that the files belong together",
                String::from_utf8_lossy(text)
            ));
        }
        links.push(Link { target, source });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &[u8]) -> Result<Vec<(u32, u32)>, String> {
        let mut links = Vec::new();
        parse_links(line, 12, 3, &mut links)?;
        Ok(links.iter().map(|link| (link.source, link.target)).collect())
    }

    #[test]
    fn links_are_read_or_rejected() {
        assert_eq!(parse(b"").unwrap(), []);
        assert_eq!(parse(b" 0-0\t11-2 1-2 \r").unwrap(), [(0, 0), (11, 2), (1, 2)]);
        for bad in ["1", "-", "1-", "-1", "a-1", "1-2-1", "0-0:1", "99999999999-0", "0-+1"] {
            assert!(parse(bad.as_bytes()).unwrap_err().contains("not a link"), "{bad}");
        }
        for out in ["12-0", "0-3", "4294967295-0"] {
            assert!(parse(out.as_bytes()).unwrap_err().contains("out of range"), "{out}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_links_or_an_error(line in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&line);
        }

        #[test]
        fn written_links_parse_back(links in proptest::collection::vec((0u32..12, 0u32..3), 0..9)) {
            let text: Vec<String> = links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
            prop_assert_eq!(parse(text.join(" ").as_bytes()).unwrap(), links);
        }
    }
}
