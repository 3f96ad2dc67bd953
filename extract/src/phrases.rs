//! Interning of phrases and alignments: each is stored once and has an id.

use std::cmp::Ordering;

use miriam_textio::SliceInterner;

use crate::links::Link;

/// Returns the hash of a phrase.
#[inline]
pub(crate) fn hash_phrase(words: &[u32]) -> u64 {
    let hash = words.iter().fold(words.len() as u64, |hash, &word| {
        (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    // The low bits of a product depend little on the factor's high ones.
    hash ^ hash >> 32
}

/// Returns the ids of all phrases in the order of tables: compared with `end` after each.
pub(crate) fn sorted_phrases(pool: &SliceInterner<u32>, end: u32) -> Vec<u32> {
    // The first two words decide most comparisons.
    let mut keys: Vec<(u64, u32)> =
        (0..pool.len() as u32).map(|id| (first_two_words(pool.get(id), end), id)).collect();
    keys.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| compare_phrases(pool.get(a.1), pool.get(b.1), end))
    });
    keys.into_iter().map(|(_, id)| id).collect()
}

/// Packs the first two words of a phrase with `end` after it.
#[inline]
fn first_two_words(phrase: &[u32], end: u32) -> u64 {
    let (first, second) = match *phrase {
        [] => (end, 0),
        [first] => (first, end),
        [first, second, ..] => (first, second),
    };
    u64::from(first) << 32 | u64::from(second)
}

/// Compares two phrases with `end` after each.
#[inline]
pub(crate) fn compare_phrases(a: &[u32], b: &[u32], end: u32) -> Ordering {
    a.iter().chain([&end]).cmp(b.iter().chain([&end]))
}

/// The alignment of a phrase pair as bytes: for each target word the positions of its
/// source words, from 1, then 0. The order of these bytes is the order in which Moses
/// breaks ties.
#[derive(Default)]
pub(crate) struct PackedAlignment(Vec<u8>);

impl PackedAlignment {
    /// Packs `links`, ordered by target words and then source words, of the `words` target words
    /// from `target` on. Source positions are relative to `source`.
    pub fn set(&mut self, links: &[Link], source: usize, target: usize, words: usize) {
        self.0.clear();
        let mut last = None;
        let mut word = target;
        for link in links {
            if last.replace(*link) == Some(*link) {
                continue;
            }
            while word < link.target as usize {
                self.0.push(0);
                word += 1;
            }
            self.0.push((link.source as usize - source + 1) as u8);
        }
        self.0.resize(self.0.len() + target + words - word, 0);
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the links of packed alignment bytes.
pub(crate) fn decode_links(bytes: &[u8]) -> impl Iterator<Item = Link> + '_ {
    let mut target = 0;
    bytes.iter().filter_map(move |&byte| {
        if byte == 0 {
            target += 1;
            return None;
        }
        Some(Link { target, source: u32::from(byte) - 1 })
    })
}

/// Writes the inverse of a packed alignment with `words` source words into `inverse`, in the same
/// format.
pub(crate) fn invert_alignment(bytes: &[u8], words: usize, inverse: &mut Vec<u8>) {
    inverse.clear();
    for source in 0..words as u32 {
        let links = decode_links(bytes).filter(|link| link.source == source);
        inverse.extend(links.map(|link| link.target as u8 + 1));
        inverse.push(0);
    }
}

/// Returns the hash of an alignment's bytes.
#[inline]
pub(crate) fn hash_alignment(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn phrases_are_stored_once_and_sorted(
            phrases in proptest::collection::vec(proptest::collection::vec(0u32..5, 1..5), 1..40),
        ) {
            let mut pool = SliceInterner::new();
            // Phrases do not contain the end marker.
            let phrases: Vec<Vec<u32>> =
                phrases.into_iter().map(|p| p.into_iter().map(|w| if w == 2 { 3 } else { w }).collect()).collect();
            for phrase in &phrases {
                let id = pool.intern(phrase, hash_phrase);
                prop_assert_eq!(pool.get(id), &phrase[..]);
                prop_assert_eq!(pool.find(phrase, hash_phrase(phrase)), Some(id));
            }
            let mut expected: Vec<Vec<u32>> =
                phrases.iter().map(|p| p.iter().copied().chain([2]).collect()).collect();
            expected.sort();
            expected.dedup();
            let sorted: Vec<Vec<u32>> = sorted_phrases(&pool, 2)
                .into_iter()
                .map(|id| pool.get(id).iter().copied().chain([2]).collect())
                .collect();
            prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn alignments_and_their_inverse() {
        let links =
            [(4, 2), (4, 2), (4, 3), (6, 2)].map(|(target, source)| Link { target, source });
        let mut alignment = PackedAlignment::default();
        alignment.set(&links, 1, 3, 5);
        assert_eq!(alignment.as_bytes(), [0, 2, 3, 0, 0, 2, 0, 0]);
        let found: Vec<(u32, u32)> =
            decode_links(alignment.as_bytes()).map(|l| (l.source, l.target)).collect();
        assert_eq!(found, [(1, 1), (2, 1), (1, 3)]);
        let mut inverse = Vec::new();
        invert_alignment(alignment.as_bytes(), 3, &mut inverse);
        assert_eq!(inverse, [0, 2, 4, 0, 2, 0]);
    }
}
