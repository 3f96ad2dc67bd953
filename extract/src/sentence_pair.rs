//! A sentence pair with its links, indexed for extraction.

use std::ops::Range;

use miriam_textio::leb128::{push_leb128, read_leb128};

use crate::links::Link;
use crate::ranked_vocabulary::RankedVocabulary;

/// A sentence pair; buffers are reused from one pair to the next.
#[derive(Default)]
pub(crate) struct SentencePair {
    /// The source words, as ranks; while a batch of text is parsed, as ids of the batch.
    pub source: Vec<u32>,
    /// The target words, likewise.
    pub target: Vec<u32>,
    /// Links ordered by target words, then source words. A link may occur twice: lexical
    /// translations count it twice, everything else once.
    pub links: Vec<Link>,
    /// The index of the first link of each target word, and the number of links.
    link_starts: Vec<u32>,
    /// The first and the last target word that each source word is linked to; the first is
    /// after the last if the word has no links.
    target_spans: Vec<(u32, u32)>,
    /// For each position in the source, up to its end: the start of the unaligned words that end
    /// there, and the end of those that begin there.
    unaligned_runs: Vec<(u32, u32)>,
    /// The words of a decoded pair as they are stored.
    encoded: [EncodedWords; 2],
}

/// Words as they are encoded in the corpus.
#[derive(Default)]
struct EncodedWords {
    bytes: Vec<u8>,
    /// The start of each word in `bytes`, and the end of the last word.
    starts: Vec<u32>,
}

impl EncodedWords {
    #[inline]
    fn phrase(&self, words: Range<usize>) -> &[u8] {
        &self.bytes[self.starts[words.start] as usize..self.starts[words.end] as usize]
    }
}

/// Returns the number of words of an encoded phrase.
pub(crate) fn count_encoded_words(phrase: &[u8]) -> usize {
    phrase.iter().filter(|&&byte| byte < 0x80).count()
}

impl SentencePair {
    /// Indexes `links`; the words must be set before.
    fn index_links(&mut self) {
        self.links.sort_unstable();
        self.link_starts.clear();
        self.link_starts.resize(self.target.len() + 1, 0);
        self.target_spans.clear();
        self.target_spans.resize(self.source.len(), (u32::MAX, 0));
        for link in &self.links {
            self.link_starts[link.target as usize + 1] += 1;
            let reach = &mut self.target_spans[link.source as usize];
            *reach = (reach.0.min(link.target), reach.1.max(link.target));
        }
        for i in 1..self.link_starts.len() {
            self.link_starts[i] += self.link_starts[i - 1];
        }
        let words = self.source.len();
        self.unaligned_runs.clear();
        self.unaligned_runs.resize(words + 1, (0, words as u32));
        for position in 1..=words {
            self.unaligned_runs[position].0 = if self.is_source_unaligned(position - 1) {
                self.unaligned_runs[position - 1].0
            } else {
                position as u32
            };
        }
        for position in (0..words).rev() {
            self.unaligned_runs[position].1 = if self.is_source_unaligned(position) {
                self.unaligned_runs[position + 1].1
            } else {
                position as u32
            };
        }
    }

    /// Sets the words and the links.
    pub fn set(&mut self, source: &[u32], target: &[u32], links: &[Link]) {
        self.clear();
        self.source.extend_from_slice(source);
        self.target.extend_from_slice(target);
        self.links.extend_from_slice(links);
        self.index_links();
    }

    fn clear(&mut self) {
        self.source.clear();
        self.target.clear();
        self.links.clear();
    }

    /// Returns the links of the target words from `start` up to `end`.
    #[inline]
    pub fn links_in(&self, start: usize, end: usize) -> &[Link] {
        &self.links[self.link_starts[start] as usize..self.link_starts[end] as usize]
    }

    /// Returns the bytes of a source phrase of a decoded pair.
    #[inline]
    pub fn source_bytes(&self, words: Range<usize>) -> &[u8] {
        self.encoded[0].phrase(words)
    }

    /// Returns the bytes of a target phrase of a decoded pair.
    #[inline]
    pub fn target_bytes(&self, words: Range<usize>) -> &[u8] {
        self.encoded[1].phrase(words)
    }

    /// Whether the source word has no link.
    #[inline]
    pub fn is_source_unaligned(&self, source: usize) -> bool {
        self.target_spans[source].0 > self.target_spans[source].1
    }

    /// Extends a span of source words by the unaligned words before it and after it.
    #[inline]
    pub fn with_unaligned_neighbours(&self, source: &Range<usize>) -> Range<usize> {
        self.unaligned_runs[source.start].0 as usize..self.unaligned_runs[source.end].1 as usize
    }

    /// Whether the target word has no link.
    #[inline]
    pub fn is_target_unaligned(&self, target: usize) -> bool {
        self.link_starts[target] == self.link_starts[target + 1]
    }

    /// Returns the first and the last target word that the source word is linked to; the first is
    /// after the last if the word has no links.
    #[inline]
    pub fn target_span(&self, source: usize) -> (usize, usize) {
        let (first, last) = self.target_spans[source];
        (first as usize, last as usize)
    }

    /// Whether the source position is inside the sentence.
    pub fn has_source(&self, position: isize) -> bool {
        (0..self.source.len() as isize).contains(&position)
    }

    /// Whether two words are linked. Positions may be one before or after the sentence: the
    /// beginnings of the two sentences count as linked, and so do their ends.
    pub fn is_linked(&self, source: isize, target: isize) -> bool {
        let (sources, targets) = (self.source.len() as isize, self.target.len() as isize);
        if (source, target) == (-1, -1) || (source, target) == (sources, targets) {
            return true;
        }
        if !self.has_source(source) || !(0..targets).contains(&target) {
            return false;
        }
        let links = self.links_in(target as usize, target as usize + 1);
        links.iter().any(|link| link.source == source as u32)
    }

    /// Decodes the pair at `*at` and moves `*at` to its end.
    pub fn decode(&mut self, bytes: &[u8], at: &mut usize, words: [&RankedVocabulary; 2]) {
        self.clear();
        let sides = [&mut self.source, &mut self.target];
        for ((side, words), encoded) in sides.into_iter().zip(words).zip(&mut self.encoded) {
            let len = read_leb128(bytes, at);
            let start = *at;
            encoded.starts.clear();
            encoded.starts.push(0);
            for _ in 0..len {
                side.push(words.rank(read_leb128(bytes, at) as u32));
                encoded.starts.push((*at - start) as u32);
            }
            encoded.bytes.clear();
            encoded.bytes.extend_from_slice(&bytes[start..*at]);
        }
        let mut target = 0;
        for _ in 0..read_leb128(bytes, at) {
            target += read_leb128(bytes, at) as u32;
            self.links.push(Link { target, source: read_leb128(bytes, at) as u32 });
        }
        self.index_links();
    }
}

/// Encodes a sentence as varints of word ids; frequent words have small ids.
pub(crate) fn encode_words(ids: impl ExactSizeIterator<Item = u32>, bytes: &mut Vec<u8>) {
    push_leb128(bytes, ids.len() as u64);
    ids.for_each(|id| push_leb128(bytes, id.into()));
}

/// Encodes a phrase as it is in an encoded sentence.
#[cfg(test)]
pub(crate) fn encode_phrase(ids: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ids.iter().for_each(|&id| push_leb128(&mut bytes, id.into()));
    bytes
}

/// Encodes the links of a pair, sorted by target words; they follow its two sentences.
pub(crate) fn encode_links(links: &[Link], bytes: &mut Vec<u8>) {
    push_leb128(bytes, links.len() as u64);
    let mut last = 0;
    for link in links {
        push_leb128(bytes, (link.target - last).into());
        push_leb128(bytes, link.source.into());
        last = link.target;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked_vocabulary::VocabularyBuilder;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sentence_pairs_round_trip(
            source in proptest::collection::vec(2u32..300, 1..9),
            target in proptest::collection::vec(2u32..300, 1..9),
            links in proptest::collection::vec((0usize..9, 0usize..9), 0..12),
        ) {
            let (mut left, mut right) = (VocabularyBuilder::new(), VocabularyBuilder::new());
            for i in 2..300u32 {
                left.intern(&i.to_le_bytes());
                right.intern(&i.to_be_bytes());
            }
            let words = [left.into_ranked(), right.into_ranked()];
            let mut links: Vec<Link> = links
                .into_iter()
                .map(|(s, t)| Link { target: (t % target.len()) as u32, source: (s % source.len()) as u32 })
                .collect();
            links.sort();
            let mut bytes = vec![7];
            encode_words(source.iter().copied(), &mut bytes);
            encode_words(target.iter().copied(), &mut bytes);
            encode_links(&links, &mut bytes);
            let (mut sentence, mut at) = (SentencePair::default(), 1);
            sentence.decode(&bytes, &mut at, [&words[0], &words[1]]);
            prop_assert_eq!(at, bytes.len());
            for (found, ids, words) in
                [(&sentence.source, &source, &words[0]), (&sentence.target, &target, &words[1])]
            {
                prop_assert_eq!(found, &ids.iter().map(|&id| words.rank(id)).collect::<Vec<_>>());
            }
            prop_assert_eq!(&sentence.links, &links);
            for (start, word) in source.iter().enumerate() {
                let phrase = sentence.source_bytes(start..source.len());
                prop_assert_eq!(count_encoded_words(phrase), source.len() - start);
                prop_assert_eq!(read_leb128(phrase, &mut 0), u64::from(*word));
            }
            prop_assert_eq!(count_encoded_words(sentence.target_bytes(0..1)), 1);
            for s in 0..source.len() {
                let linked: Vec<usize> = (0..target.len())
                    .filter(|&t| links.contains(&Link { target: t as u32, source: s as u32 }))
                    .collect();
                prop_assert_eq!(sentence.is_source_unaligned(s), linked.is_empty());
                let extended = sentence.with_unaligned_neighbours(&(s..s + 1));
                for position in 0..source.len() {
                    let is_reached = (position.min(s)..=position.max(s))
                        .all(|word| word == s || sentence.is_source_unaligned(word));
                    prop_assert_eq!(extended.contains(&position), is_reached);
                }
                if let (Some(&first), Some(&last)) = (linked.first(), linked.last()) {
                    prop_assert_eq!(sentence.target_span(s), (first, last));
                }
                for t in 0..target.len() {
                    prop_assert_eq!(sentence.is_linked(s as isize, t as isize), linked.contains(&t));
                }
            }
        }
    }
}
