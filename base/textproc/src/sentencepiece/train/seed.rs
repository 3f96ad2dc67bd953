//! Seed vocabulary of a unigram model: characters, and substrings that occur at least twice.
//!
//! The suffixes of all fragments, each truncated to the longest prefix that may be a piece, are
//! sorted. They form a trie whose nodes are substrings that occur before different characters or at
//! the end of a truncated suffix. A substring that the same character always follows is not a node:
//! the substring with this character replaces it. The suffixes below a node are neighbours in the
//! sorted list, so one pass with a stack finds all nodes (Abouelhoda et al. 2004).

use rayon::prelude::*;

use super::ScoredPiece;
use super::alphabet::{Alphabet, Fragment, characters};
use super::piece_rules::longest_piece_len;

/// The maximum number of substrings of several characters in the seed vocabulary.
const MAX_SUBSTRINGS: usize = 1_000_000;

/// Returns the characters of the alphabet, then the substrings of several characters that cover the
/// most characters of the text, by occurrences times length. A score is the logarithm of the
/// characters that the piece covers, as a share of the sum over all pieces.
pub fn seed_pieces(alphabet: &Alphabet, fragments: &[Fragment]) -> Vec<ScoredPiece> {
    let mut suffixes: Vec<(&[u8], u64)> = fragments
        .par_iter()
        .flat_map_iter(|fragment| {
            let mut start = 0;
            characters(fragment.text).map(move |character| {
                let suffix = &fragment.text[start..];
                start += character.len();
                (&suffix[..longest_piece_len(suffix)], fragment.count)
            })
        })
        .collect();
    suffixes.par_sort_unstable();
    let mut substrings = repeated_substrings(&suffixes);
    substrings.par_sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    substrings.truncate(MAX_SUBSTRINGS);
    let single = alphabet.sorted();
    let all = single.iter().chain(&substrings);
    let total: u64 = all.clone().map(|&(_, weight)| weight).sum();
    let total = (total as f64).ln();
    all.map(|&(text, weight)| ScoredPiece {
        text: text.into(),
        score: (weight as f64).ln() - total,
    })
    .collect()
}

/// Returns the nodes of the trie of the sorted `suffixes` that have at least two characters and
/// occur at least twice, each with the number of characters that it covers. A suffix comes with the
/// number of its occurrences.
fn repeated_substrings<'t>(suffixes: &[(&'t [u8], u64)]) -> Vec<(&'t [u8], u64)> {
    let mut found = Vec::new();
    // Nodes on the path to the current suffix, with the occurrences below them so far.
    let mut path: Vec<(&[u8], u64)> = vec![(b"", 0)];
    let mut close = |(text, occurrences): (&'t [u8], u64)| {
        let num_chars = characters(text).count() as u64;
        if num_chars >= 2 && occurrences >= 2 {
            found.push((text, occurrences * num_chars));
        }
    };
    for &(suffix, count) in suffixes {
        let common = common_prefix(path[path.len() - 1].0, suffix);
        while path[path.len() - 1].0.len() > common {
            let (text, occurrences) = path.pop().expect("the root, which is empty, remains");
            let last = path.len() - 1;
            if path[last].0.len() < common {
                // The common prefix of `text` and `suffix` is a node of its own.
                path.push((&text[..common], occurrences));
            } else {
                path[last].1 += occurrences;
            }
            close((text, occurrences));
        }
        if suffix.len() > common {
            path.push((suffix, 0));
        }
        let last = path.len() - 1;
        path[last].1 += count;
    }
    while let Some((text, occurrences)) = path.pop() {
        if let Some(parent) = path.last_mut() {
            parent.1 += occurrences;
        }
        close((text, occurrences));
    }
    found
}

/// Returns the length in bytes of the longest common prefix of whole characters.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    // Steps back from bytes that continue a character.
    while common > 0 && [a, b].iter().any(|text| text.get(common).is_some_and(|b| b & 0xc0 == 0x80))
    {
        common -= 1;
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The obvious algorithm: count all substrings, leave out those that the same character
        /// always follows.
        #[test]
        fn nodes_are_the_substrings_that_end_in_different_ways(
            words in proptest::collection::vec(("[abäö]{1,7}", 1u64..4), 1..12),
        ) {
            let mut suffixes: Vec<(&[u8], u64)> = Vec::new();
            let mut ends: BTreeMap<&str, (u64, Vec<Option<char>>)> = BTreeMap::new();
            for (word, count) in &words {
                let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
                for &start in &starts {
                    suffixes.push((&word.as_bytes()[start..], *count));
                    for end in starts.iter().copied().chain([word.len()]).filter(|&end| end > start) {
                        let entry = ends.entry(&word[start..end]).or_default();
                        entry.0 += count;
                        entry.1.push(word[end..].chars().next());
                    }
                }
            }
            suffixes.sort_unstable();
            let mut found = repeated_substrings(&suffixes);
            found.sort_unstable();
            let expected: Vec<(&[u8], u64)> = ends.iter()
                .filter(|(text, (count, next))| {
                    let same = next[0].is_some() && next.iter().all(|c| *c == next[0]);
                    text.chars().count() > 1 && *count > 1 && !same
                })
                .map(|(text, (count, _))| (text.as_bytes(), count * text.chars().count() as u64))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
