//! Reading word alignments: links `i-j` between spaces, a sentence pair a line, with
//! words counted from 0, source first.

use miriam_textio::fields::split_words;

/// A link between two words of a sentence pair, by their places. Ordered by target
/// words, as tables print links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The place of the target word, from 0.
    pub target: u32,
    /// The place of the source word, from 0.
    pub source: u32,
}

/// Appends the links of `line` to `links`, in their order; or says what is wrong with
/// one, given the lengths of the sentences in words.
pub fn parse_links(
    line: &[u8],
    source_words: usize,
    target_words: usize,
    links: &mut Vec<Link>,
) -> Result<(), String> {
    for text in split_words(line.strip_suffix(b"\r").unwrap_or(line)) {
        let shown = || String::from_utf8_lossy(text);
        let dash = text.iter().position(|&b| b == b'-');
        let places = dash
            .and_then(|at| Some((parse_position(&text[..at])?, parse_position(&text[at + 1..])?)));
        let Some((source, target)) = places else {
            return Err(format!(
                "{:?} is not a link; write SOURCE-TARGET, two places counted from 0",
                shown()
            ));
        };
        if source as usize >= source_words || target as usize >= target_words {
            return Err(format!(
                "the link {} leaves the sentences, which have {source_words} and \
                 {target_words} words; align this text, or check that the files belong together",
                shown()
            ));
        }
        links.push(Link { target, source });
    }
    Ok(())
}

/// The number that the decimal digits of `text` are.
fn parse_position(text: &[u8]) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u32, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
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
    fn links_are_read_or_refused() {
        assert_eq!(parse(b"").unwrap(), []);
        assert_eq!(parse(b" 0-0\t11-2 1-2 \r").unwrap(), [(0, 0), (11, 2), (1, 2)]);
        for bad in ["1", "-", "1-", "-1", "a-1", "1-2-1", "0-0:1", "99999999999-0", "0-+1"] {
            assert!(parse(bad.as_bytes()).unwrap_err().contains("not a link"), "{bad}");
        }
        for out in ["12-0", "0-3", "4294967295-0"] {
            assert!(parse(out.as_bytes()).unwrap_err().contains("leaves"), "{out}");
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
