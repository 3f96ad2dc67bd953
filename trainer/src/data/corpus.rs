//! Parallel corpus in memory, as token ids.
//!
//! Tokens of one side are stored one sentence after the other; a corpus with ten million tokens on
//! each side takes 80 MB. Each pair keeps the number of its line, because the random numbers of
//! dropout depend on it. Word alignments and weights, if given, are stored like tokens.

use miriam_nmt::score::LengthLimit;
use miriam_storage::hash::{Hasher, hash64};

use super::annotations::{PairAnnotations, TargetLink};

/// Items of many sentences in one vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequences<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

/// Token ids of many sentences.
pub type TokenIds = Sequences<u32>;

impl<T> Default for Sequences<T> {
    fn default() -> Self {
        Sequences { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Sequences<T> {
    /// Appends a sentence.
    pub fn push(&mut self, sentence: &[T]) {
        self.items.extend_from_slice(sentence);
        self.ends.push(self.items.len());
    }

    /// Returns a sentence.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn get(&self, index: usize) -> &[T] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.items[start..self.ends[index]]
    }

    /// Returns the number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of items.
    pub fn num_items(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of bytes that the sentences take in memory.
    pub fn num_bytes(&self) -> usize {
        size_of_val(&self.items[..]) + size_of_val(&self.ends[..])
    }

    /// Returns a hash of the items' bytes and of the sentences' ends.
    fn fingerprint<const N: usize>(&self, bytes: impl Fn(&T) -> [u8; N]) -> [u64; 2] {
        [hash_items(&self.items, bytes), hash_items(&self.ends, |&end| (end as u64).to_le_bytes())]
    }
}

/// Returns a hash of the items' bytes, which are copied block by block.
fn hash_items<T, const N: usize>(items: &[T], bytes: impl Fn(&T) -> [u8; N]) -> u64 {
    let (mut hasher, mut block) = (Hasher::new(), Vec::new());
    for items in items.chunks(1 << 12) {
        block.clear();
        block.extend(items.iter().flat_map(&bytes));
        hasher.update(&block);
    }
    hasher.finish()
}

/// Counts of the lines of a corpus: kept, left out and cropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusCounts {
    /// The number of pairs of lines.
    pub lines: u64,
    /// The number of pairs with an empty side, which are left out of training.
    pub empty: u64,
    /// The number of pairs that were left out because a side is too long.
    pub too_long: u64,
    /// The number of sentences that were cropped.
    pub cropped: u64,
}

/// Pairs of sentences, all of which end with `</s>`; or the sentences of a language model, which
/// are targets with empty sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParallelCorpus {
    source: TokenIds,
    target: TokenIds,
    /// The line number of each pair, from 0.
    lines: Vec<u32>,
    /// The links of each pair, sorted, if alignments are given.
    links: Option<Sequences<TargetLink>>,
    /// The weights of each pair, if given: one for the pair, or one per target token.
    weights: Option<Sequences<f32>>,
    is_monolingual: bool,
    keeps_empty_sides: bool,
    counts: CorpusCounts,
}

impl ParallelCorpus {
    /// Returns an empty corpus of a language model. The sources of its pairs are ignored.
    pub fn monolingual() -> Self {
        ParallelCorpus { is_monolingual: true, ..ParallelCorpus::default() }
    }

    /// Keeps pairs with an empty side from now on; that side is then `</s>` alone. Validation and
    /// scoring count such pairs.
    pub fn with_empty_sides(self) -> Self {
        ParallelCorpus { keeps_empty_sides: true, ..self }
    }

    /// Whether there are no sources.
    pub fn is_monolingual(&self) -> bool {
        self.is_monolingual
    }

    /// Appends the pair of the next line. `sides` are its tokens without `</s>`; the ids in `eos`
    /// are appended to them. Pairs with an empty side are counted and left out, unless they are
    /// [kept](Self::with_empty_sides). Pairs over the limit are counted and left out, unless the
    /// limit crops them.
    pub fn push(&mut self, sides: [&[u32]; 2], eos: [u32; 2], limit: LengthLimit) {
        self.push_annotated(sides, eos, limit, PairAnnotations::default());
    }

    /// Appends the pair with its annotations. Links of cropped tokens are left out, and a link
    /// between both `</s>` is added.
    ///
    /// # Panics
    /// If some pairs have annotations and others do not.
    pub fn push_annotated(
        &mut self,
        sides: [&[u32]; 2],
        eos: [u32; 2],
        limit: LengthLimit,
        annotations: PairAnnotations<'_>,
    ) {
        let line = self.counts.lines as u32;
        self.counts.lines += 1;
        let first_side = usize::from(self.is_monolingual);
        if sides[first_side..].iter().any(|side| side.is_empty()) {
            self.counts.empty += 1;
            if !self.keeps_empty_sides {
                return;
            }
        }
        let is_long = |side: &&[u32]| side.len() + 1 > limit.tokens;
        if !limit.crops && sides[first_side..].iter().any(is_long) {
            self.counts.too_long += 1;
            return;
        }
        let kept = sides.map(|side| side.len().min(limit.tokens.saturating_sub(1)));
        if self.is_monolingual {
            self.source.push(&[]);
        }
        let into = [&mut self.source, &mut self.target];
        for (((side, eos), into), kept) in
            sides.into_iter().zip(eos).zip(into).zip(kept).skip(first_side)
        {
            self.counts.cropped += u64::from(is_long(&side));
            into.items.extend_from_slice(&side[..kept]);
            into.push(&[eos]);
        }
        self.lines.push(line);
        let [source_end, target_end] = kept.map(|kept| kept as u32);
        if let Some(links) = annotations.links {
            let mut links: Vec<TargetLink> = links
                .iter()
                .filter(|&&(target, source): &&TargetLink| {
                    target < target_end && source < source_end
                })
                .copied()
                .collect();
            links.push((target_end, source_end));
            links.sort_unstable();
            links.dedup();
            self.links.get_or_insert_default().push(&links);
        }
        if let Some(weights) = annotations.weights {
            let into = self.weights.get_or_insert_default();
            match weights {
                [_] => {}
                _ => into.items.extend_from_slice(&weights[..kept[1]]),
            }
            // The last weight belongs to `</s>` or to the whole sentence.
            into.push(&weights[weights.len() - 1..]);
        }
        let counts =
            [self.links.as_ref().map(Sequences::len), self.weights.as_ref().map(Sequences::len)];
        assert!(
            counts.into_iter().flatten().all(|count| count == self.lines.len()),
            "some pairs have annotations and others do not"
        );
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the source of a pair.
    pub fn source(&self, index: usize) -> &[u32] {
        self.source.get(index)
    }

    /// Returns the target of a pair.
    pub fn target(&self, index: usize) -> &[u32] {
        self.target.get(index)
    }

    /// Returns the numbers of source and target tokens of a pair, which determine its batch.
    /// Sentences of a language model count on both sides, as in Marian.
    pub fn lengths(&self, index: usize) -> [usize; 2] {
        let target = self.target(index).len();
        [if self.is_monolingual { target } else { self.source(index).len() }, target]
    }

    /// Returns the links of a pair, sorted, with the link between both `</s>`; `None` without
    /// alignments.
    pub fn links(&self, index: usize) -> Option<&[TargetLink]> {
        self.links.as_ref().map(|links| links.get(index))
    }

    /// Returns the weights of a pair: one for the whole target, or one per token; `None` without
    /// weights.
    pub fn weights(&self, index: usize) -> Option<&[f32]> {
        self.weights.as_ref().map(|weights| weights.get(index))
    }

    /// Whether alignments are given.
    pub fn has_links(&self) -> bool {
        self.links.is_some()
    }

    /// Returns the line number of a pair, from 0.
    pub fn line(&self, index: usize) -> u32 {
        self.lines[index]
    }

    /// Returns the index of the pair on line number `line`, from 0; `None` if it was left out.
    pub fn index_of_line(&self, line: u32) -> Option<usize> {
        self.lines.binary_search(&line).ok()
    }

    /// Returns the numbers of tokens of source and target, `</s>` included.
    pub fn num_tokens(&self) -> [usize; 2] {
        [self.source.num_items(), self.target.num_items()]
    }

    /// Returns a corpus of the pairs with these indices, without annotations.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn subset(&self, pairs: &[u32]) -> ParallelCorpus {
        let is_monolingual = self.is_monolingual;
        let mut subset = ParallelCorpus { is_monolingual, ..ParallelCorpus::default() };
        for &pair in pairs {
            let pair = pair as usize;
            subset.source.push(self.source(pair));
            subset.target.push(self.target(pair));
            subset.lines.push(self.line(pair));
        }
        subset
    }

    /// Returns the number of bytes that the corpus takes in memory.
    pub fn num_bytes(&self) -> usize {
        let annotations = self.links.as_ref().map_or(0, Sequences::num_bytes)
            + self.weights.as_ref().map_or(0, Sequences::num_bytes);
        let lines = size_of_val(&self.lines[..]);
        self.source.num_bytes() + self.target.num_bytes() + lines + annotations
    }

    /// Returns the counts of lines that were read, left out and cropped.
    pub fn counts(&self) -> CorpusCounts {
        self.counts
    }

    /// Returns a hash of all pairs and their annotations. A resumed training run uses it to check
    /// that the corpus is the same.
    pub fn fingerprint(&self) -> u64 {
        fn ids(ids: &TokenIds) -> [u64; 2] {
            ids.fingerprint(|id| id.to_le_bytes())
        }
        let mut hashes = [&self.source, &self.target].map(ids).concat();
        // The random numbers of dropout depend on the numbers of lines.
        hashes.push(hash_items(&self.lines, |line| line.to_le_bytes()));
        if let Some(links) = &self.links {
            hashes.push(1);
            hashes.extend(
                links.fingerprint(|link| {
                    (u64::from(link.0) << 32 | u64::from(link.1)).to_le_bytes()
                }),
            );
        }
        if let Some(weights) = &self.weights {
            hashes.push(2);
            hashes.extend(weights.fingerprint(|weight| weight.to_le_bytes()));
        }
        let all: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
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
    fn sentences_of_a_language_model_have_no_source() {
        let mut corpus = ParallelCorpus::monolingual();
        let sides: [[&[u32]; 2]; 4] =
            [[&[], &[7, 8]], [&[], &[]], [&[], &[1, 2, 3, 4]], [&[5, 6, 7, 8, 9], &[3]]];
        sides.into_iter().for_each(|pair| corpus.push(pair, [0, 1], LIMIT));
        let targets: Vec<&[u32]> = (0..corpus.len()).map(|index| corpus.target(index)).collect();
        assert_eq!(targets, [&[7, 8, 1][..], &[3, 1]]);
        assert!((0..2).all(|index| corpus.source(index).is_empty()));
        assert_eq!(corpus.lengths(0), [3, 3]);
        assert_eq!(corpus.num_tokens(), [0, 5]);
        let counts = CorpusCounts { lines: 4, empty: 1, too_long: 1, cropped: 0 };
        assert_eq!(corpus.counts(), counts);
        assert_eq!(corpus.subset(&[1]).lengths(0), [2, 2]);
    }

    #[test]
    fn empty_sides_are_kept_where_they_count() {
        let mut corpus = ParallelCorpus::default().with_empty_sides();
        let sides: [[&[u32]; 2]; 3] = [[&[5], &[]], [&[], &[]], [&[], &[6, 7]]];
        sides.into_iter().for_each(|pair| corpus.push(pair, [0, 1], LIMIT));
        assert_eq!((corpus.len(), corpus.num_tokens()), (3, [4, 5]));
        assert_eq!((corpus.source(2), corpus.target(0)), (&[0][..], &[1][..]));
        assert_eq!(corpus.counts(), CorpusCounts { lines: 3, empty: 3, ..Default::default() });
    }

    #[test]
    fn long_sentences_are_cut_before_their_end() {
        let mut corpus = ParallelCorpus::default();
        corpus.push([&[5, 6, 7, 8, 9], &[1]], [0, 0], LengthLimit { crops: true, ..LIMIT });
        assert_eq!(corpus.source(0), [5, 6, 7, 0]);
        assert_eq!(corpus.counts().cropped, 1);
    }

    #[test]
    fn annotations_are_left_out_and_cut_with_their_pairs() {
        let mut corpus = ParallelCorpus::default();
        let push = |corpus: &mut ParallelCorpus, sides, crops, links: &[_], weights: &[_]| {
            let annotations = PairAnnotations { links: Some(links), weights: Some(weights) };
            corpus.push_annotated(sides, [0, 0], LengthLimit { crops, ..LIMIT }, annotations);
        };
        let five: &[u32] = &[5, 6, 7, 8, 9];
        push(&mut corpus, [&[5, 6], &[7, 8]], false, &[(1, 1), (0, 1), (1, 0), (1, 1)], &[0.5]);
        push(&mut corpus, [five, &[7]], false, &[(0, 4)], &[7.0]);
        push(&mut corpus, [&[], &[7]], false, &[], &[7.0]);
        push(
            &mut corpus,
            [five, five],
            true,
            &[(0, 0), (2, 2), (4, 1), (1, 3)],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        );
        assert_eq!(corpus.len(), 2);
        assert_eq!(corpus.links(0), Some(&[(0, 1), (1, 0), (1, 1), (2, 2)][..]));
        assert_eq!(corpus.weights(0), Some(&[0.5][..]));
        assert_eq!(corpus.links(1), Some(&[(0, 0), (2, 2), (3, 3)][..]));
        assert_eq!(corpus.weights(1), Some(&[1.0, 2.0, 3.0, 6.0][..]));
    }

    #[test]
    fn fingerprints_tell_annotations_apart() {
        let corpus = |links: Option<&[TargetLink]>, weights: Option<&[f32]>| {
            let mut corpus = ParallelCorpus::default();
            let annotations = PairAnnotations { links, weights };
            corpus.push_annotated([&[5, 6], &[7, 8]], [0, 0], LIMIT, annotations);
            corpus.fingerprint()
        };
        let mut all = [
            corpus(None, None),
            corpus(Some(&[(0, 0)]), None),
            corpus(Some(&[(0, 1)]), None),
            corpus(None, Some(&[0.5])),
            corpus(None, Some(&[0.25])),
            corpus(Some(&[(0, 0)]), Some(&[0.5])),
        ];
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
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
        // The same pair on another line has other dropout masks.
        assert_ne!(all[0], corpus(&[[&[], &[3]], [&[1, 2], &[3]]]));
        // A line after the last pair changes nothing.
        assert_eq!(all[0], corpus(&[[&[1, 2], &[3]], [&[], &[3]]]));
    }
}
