//! A parallel corpus as ids of tokens, in memory.
//!
//! Tokens of one side lie one sentence after the other; a corpus of ten million tokens a side
//! takes 80 MB. Sentences keep the number of their line, by which dropout is drawn.

use miriam_storage::hash::hash64;

/// Sentences of ids, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenIds {
    tokens: Vec<u32>,
    ends: Vec<usize>,
}

impl TokenIds {
    /// Appends a sentence.
    pub fn push(&mut self, sentence: &[u32]) {
        self.tokens.extend_from_slice(sentence);
        self.ends.push(self.tokens.len());
    }

    /// A sentence.
    ///
    /// # Panics
    /// If there is none of that index.
    pub fn get(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.tokens[start..self.ends[index]]
    }

    /// The number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of tokens.
    pub fn num_tokens(&self) -> usize {
        self.tokens.len()
    }
}

/// What happens to sentences of more tokens than a limit, `</s>` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthLimit {
    /// The limit (`max-length`).
    pub tokens: usize,
    /// Whether longer sentences are cut instead of left out (`max-length-crop`).
    pub crops: bool,
}

/// What became of the lines of a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusCounts {
    /// Pairs of lines.
    pub lines: u64,
    /// Pairs left out because a side is empty.
    pub empty: u64,
    /// Pairs left out because a side is too long.
    pub too_long: u64,
    /// Sentences that were cut.
    pub cropped: u64,
}

/// Pairs of sentences; each ends with `</s>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParallelCorpus {
    source: TokenIds,
    target: TokenIds,
    /// The number of the line of each pair, from 0.
    lines: Vec<u32>,
    counts: CorpusCounts,
}

impl ParallelCorpus {
    /// Appends the pair of the next line: tokens without `</s>`, which is appended. Pairs with
    /// an empty side, and those beyond the limit, are counted and left out.
    pub fn push(&mut self, sides: [&[u32]; 2], eos: [u32; 2], limit: LengthLimit) {
        let line = self.counts.lines as u32;
        self.counts.lines += 1;
        if sides.iter().any(|side| side.is_empty()) {
            self.counts.empty += 1;
            return;
        }
        let is_long = |side: &&[u32]| side.len() + 1 > limit.tokens;
        if !limit.crops && sides.iter().any(is_long) {
            self.counts.too_long += 1;
            return;
        }
        for ((side, eos), into) in
            sides.into_iter().zip(eos).zip([&mut self.source, &mut self.target])
        {
            self.counts.cropped += u64::from(is_long(&side));
            let kept = side.len().min(limit.tokens.saturating_sub(1));
            into.tokens.extend_from_slice(&side[..kept]);
            into.push(&[eos]);
        }
        self.lines.push(line);
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The source of a pair.
    pub fn source(&self, index: usize) -> &[u32] {
        self.source.get(index)
    }

    /// The target of a pair.
    pub fn target(&self, index: usize) -> &[u32] {
        self.target.get(index)
    }

    /// The number of a pair's line, from 0.
    pub fn line(&self, index: usize) -> u32 {
        self.lines[index]
    }

    /// The numbers of tokens of source and target, `</s>` included.
    pub fn num_tokens(&self) -> [usize; 2] {
        [self.source.num_tokens(), self.target.num_tokens()]
    }

    /// What became of the lines.
    pub fn counts(&self) -> CorpusCounts {
        self.counts
    }

    /// A hash of all pairs, by which a resumed training knows its corpus.
    pub fn fingerprint(&self) -> u64 {
        let sides = [&self.source, &self.target].map(|side| {
            let tokens: Vec<u8> = side.tokens.iter().flat_map(|id| id.to_le_bytes()).collect();
            let ends: Vec<u8> =
                side.ends.iter().flat_map(|&end| (end as u64).to_le_bytes()).collect();
            [hash64(&tokens), hash64(&ends)]
        });
        let all: Vec<u8> = sides.concat().iter().flat_map(|hash| hash.to_le_bytes()).collect();
        hash64(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: LengthLimit = LengthLimit { tokens: 4, crops: false };

    #[test]
    fn empty_and_long_pairs_are_left_out() {
        let mut corpus = ParallelCorpus::default();
        let sides: [[&[u32]; 2]; 5] = [
            [&[5, 6], &[7]],
            [&[], &[7]],
            [&[5, 6, 7], &[1, 2, 3]],
            [&[5, 6, 7, 8], &[1]],
            [&[9], &[]],
        ];
        sides.into_iter().for_each(|pair| corpus.push(pair, [0, 1], LIMIT));
        assert_eq!(corpus.len(), 2);
        assert_eq!((corpus.source(0), corpus.target(0)), (&[5, 6, 0][..], &[7, 1][..]));
        assert_eq!(corpus.target(1), [1, 2, 3, 1]);
        assert_eq!((corpus.line(0), corpus.line(1)), (0, 2));
        let counts = CorpusCounts { lines: 5, empty: 2, too_long: 1, cropped: 0 };
        assert_eq!(corpus.counts(), counts);
        assert_eq!(corpus.num_tokens(), [7, 6]);
    }

    #[test]
    fn long_sentences_are_cut_before_their_end() {
        let mut corpus = ParallelCorpus::default();
        corpus.push([&[5, 6, 7, 8, 9], &[1]], [0, 0], LengthLimit { crops: true, ..LIMIT });
        assert_eq!(corpus.source(0), [5, 6, 7, 0]);
        assert_eq!(corpus.counts().cropped, 1);
    }

    #[test]
    fn fingerprints_tell_corpora_apart() {
        let corpus = |pairs: &[[&[u32]; 2]]| {
            let mut corpus = ParallelCorpus::default();
            pairs.iter().for_each(|pair| corpus.push(*pair, [0, 0], LIMIT));
            corpus.fingerprint()
        };
        let all = [
            corpus(&[[&[1, 2], &[3]]]),
            corpus(&[[&[1], &[3]], [&[2], &[3]]]),
            corpus(&[[&[3], &[1, 2]]]),
        ];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
        assert_eq!(all[0], corpus(&[[&[1, 2], &[3]]]));
    }
}
