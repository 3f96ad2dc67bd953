//! Annotations of sentence pairs: word alignments and weights.
//!
//! Both are read from lines of text. A line that does not match its pair is an error: a link out of
//! range or a missing weight usually means that the file was made for another segmentation of the
//! text.

use miriam_textio::{LinkCertainty, WordLink, parse_word_link};

/// A link of a word alignment: target position, then source position, from 0.
pub type TargetLink = (u32, u32);

/// The units that have weights (`data-weighting-type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightScope {
    /// One weight per sentence.
    #[default]
    Sentence,
    /// One weight per target token, `</s>` included.
    Word,
}

/// The annotations of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairAnnotations<'a> {
    /// Links between tokens other than `</s>`, if the corpus has alignments.
    pub links: Option<&'a [TargetLink]>,
    /// One weight for the whole target, or one per token and one for `</s>`; `None` if the corpus
    /// has no weights.
    pub weights: Option<&'a [f32]>,
}

/// An invalid field of a line: its number, from 1 (0 for a line without fields), and the reason.
pub type InvalidField = (usize, String);

/// Returns the fields of a line with their numbers, from 1.
fn fields(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let words = line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    (1..).zip(words)
}

/// Parses links `i-j`, source and target position from 0. The lengths of the pair are without
/// `</s>`.
///
/// # Errors
/// If a field is not a link, or its positions are out of range; the error is about the first such
/// field.
pub fn parse_alignment(
    line: &[u8],
    [source_len, target_len]: [usize; 2],
) -> Result<Vec<TargetLink>, InvalidField> {
    fields(line)
        .map(|(field, word)| {
            let wrong = |reason: &str| (field, format!("{}: {reason}", quote_word(word)));
            // Possible links, `i?j`, are for evaluation only.
            let Ok(WordLink { source, target, certainty: LinkCertainty::Sure }) =
                parse_word_link(word)
            else {
                return Err(wrong("a link is source-target, two positions from 0, such as 3-4"));
            };
            if source as usize >= source_len || target as usize >= target_len {
                return Err(wrong(&format!(
                    "out of range: the pair has {source_len} source and {target_len} target \
                     tokens; positions count the pieces of the vocabularies, not words"
                )));
            }
            Ok((target, source))
        })
        .collect()
}

/// Parses the weights of a pair. The length of the target is without `</s>`.
///
/// # Errors
/// If a field is not a weight, or there are too few or too many weights.
pub fn parse_weights(
    line: &[u8],
    scope: WeightScope,
    target_len: usize,
) -> Result<Vec<f32>, InvalidField> {
    fn parse((field, word): (usize, &[u8])) -> Result<f32, InvalidField> {
        let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f32>().ok());
        number.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
            (field, format!("{}: a weight is a number that is not negative", quote_word(word)))
        })
    }
    let weights: Vec<f32> = fields(line).map(parse).collect::<Result<_, _>>()?;
    let (expected, expectation) = match scope {
        WeightScope::Sentence => (1, "expected one for the sentence".to_owned()),
        WeightScope::Word => {
            let expectation = format!(
                "expected {}: one for each of the {target_len} target tokens and one for </s>",
                target_len + 1
            );
            (target_len + 1, expectation)
        }
    };
    let found = weights.len();
    if found != expected {
        return Err((found.min(expected), format!("{found} weights; {expectation}")));
    }
    Ok(weights)
}

fn quote_word(word: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(word))
}

/// Returns the links of an alignment with their weights; `links` must be sorted. The weight of a
/// link is 1 divided by the number of links of its target token (`docs/spec/training.md` A.1).
pub fn weigh_links(links: &[TargetLink]) -> Vec<(u32, u32, f32)> {
    links
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|links| {
            let weight = 1.0 / links.len() as f32;
            links.iter().map(move |&(target, source)| (target, source, weight))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignments_must_fit_their_pair() {
        assert_eq!(parse_alignment(b"0-1 2-0\t2-1", [3, 2]), Ok(vec![(1, 0), (0, 2), (1, 2)]));
        assert_eq!(parse_alignment(b"", [1, 1]), Ok(vec![]));
        for (line, field, reason) in [
            (&b"0-0 3-0"[..], 2, "3 source and 2 target"),
            (b"0-2", 1, "pieces"),
            (b"0-0 1:1", 2, "source-target"),
            (b"0?0", 1, "source-target"),
        ] {
            let (found, message) = parse_alignment(line, [3, 2]).unwrap_err();
            assert!(found == field && message.contains(reason), "{found} {message}");
        }
    }

    #[test]
    fn weights_must_fit_their_pair() {
        assert_eq!(parse_weights(b" 0.5\n", WeightScope::Sentence, 7), Ok(vec![0.5]));
        assert_eq!(parse_weights(b"1 0 2e-1", WeightScope::Word, 2), Ok(vec![1.0, 0.0, 0.2]));
        for (line, scope, field, reason) in [
            (&b"1 1"[..], WeightScope::Word, 2, "expected 3"),
            (b"1 1", WeightScope::Sentence, 1, "expected one"),
            (b"", WeightScope::Sentence, 0, "0 weights"),
            (b"1 -1 1", WeightScope::Word, 2, "not negative"),
            (b"1 1 nan", WeightScope::Word, 3, "not negative"),
        ] {
            let (found, message) = parse_weights(line, scope, 2).unwrap_err();
            assert!(found == field && message.contains(reason), "{found} {message}");
        }
    }

    #[test]
    fn the_links_of_a_target_token_share_its_weight() {
        let links = [(0, 3), (2, 0), (2, 1), (3, 4)];
        let weighted = [(0, 3, 1.0), (2, 0, 0.5), (2, 1, 0.5), (3, 4, 1.0)];
        assert_eq!(weigh_links(&links), weighted);
    }
}
