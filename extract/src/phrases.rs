//! Phrases as lists of ranks, with their hash and their order, and alignments as bytes.

use std::cmp::Ordering;

use crate::links::Link;

/// Returns the hash of a phrase.
#[inline]
pub(crate) fn hash_phrase(words: &[u32]) -> u64 {
    let hash = words.iter().fold(words.len() as u64, |hash, &word| {
        (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    // The low bits of a product depend little on the high bits of its factors.
    hash ^ hash >> 32
}

/// Compares two phrases, each followed by `end`.
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
    /// Packs `links`: the links of the `words` target words from `target` on. They are sorted by
    /// target words, then by source words. Source positions are relative to `source`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
