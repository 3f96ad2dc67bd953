//! A model of random conditional distributions: logits are pseudo-random numbers whose seed is a
//! hash of the sentence and of the previous tokens. Its session also checks how it is called.

use std::collections::BTreeMap;
use std::ops::Range;

use miriam_kernels::topk::{ColumnIds, update_topk};
use miriam_kernels::{Cpu, MatRef};
use miriam_nmt::network::{HypothesisRow, Session, Slot, TopK};
use miriam_nmt::{Error, Result};

/// A source token that sessions reject.
pub const UNREADABLE_TOKEN: u32 = 666;

/// The parameters of the model.
#[derive(Clone, Copy, Debug)]
pub struct RandomModel {
    pub seed: u64,
    pub vocabulary_size: usize,
    /// Logits are rounded to multiples of this, so that many are equal; 0 for no rounding.
    pub logit_step: f32,
    /// Added to the logit of `</s>`, token 0.
    pub eos_logit_bias: f32,
}

/// A stream of pseudo-random numbers (xorshift64*).
pub struct Xorshift(u64);

impl Xorshift {
    pub fn new(seed: u64) -> Self {
        Xorshift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number in [0, 1).
    pub fn next_f32(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

impl RandomModel {
    fn random_stream(&self, source: &[u32], words: &[u32], use_: u64) -> Xorshift {
        let mut state = self.seed ^ use_;
        for word in source.iter().chain([&u32::MAX]).chain(words) {
            state = (state ^ u64::from(*word)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        }
        let mut numbers = Xorshift::new(state);
        numbers.next();
        numbers
    }

    /// Returns the logits of all tokens after `words`.
    pub fn logits(&self, source: &[u32], words: &[u32]) -> Vec<f32> {
        let mut numbers = self.random_stream(source, words, 0);
        let mut logits: Vec<f32> =
            (0..self.vocabulary_size).map(|_| 6.0 * numbers.next_f32() - 3.0).collect();
        logits[0] += self.eos_logit_bias;
        if self.logit_step > 0.0 {
            // The added zero turns -0 into 0.
            logits
                .iter_mut()
                .for_each(|x| *x = (*x / self.logit_step).round() * self.logit_step + 0.0);
        }
        logits
    }

    /// Returns the attention of the token after `words` to the source.
    pub fn attention(&self, source: &[u32], words: &[u32]) -> Vec<f32> {
        let mut numbers = self.random_stream(source, words, 1);
        let weights: Vec<f32> = source.iter().map(|_| numbers.next_f32() + 0.01).collect();
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }
}

struct RandomSentence {
    source: Vec<u32>,
    candidates: Option<Vec<u32>>,
}

/// A session of the model.
pub struct RandomSession {
    model: RandomModel,
    sentences: BTreeMap<Slot, RandomSentence>,
    /// The rows of the last step: slot and tokens.
    rows: Vec<(Slot, Vec<u32>)>,
    attention: Option<Vec<Vec<f32>>>,
    keep_attention: bool,
    /// The largest number of sentences that the search should have in the session at once.
    pub max_sentences: usize,
    pub steps: usize,
    /// The number of rows in all steps.
    pub rows_seen: usize,
    /// The number of sentences in each successful call of `begin`.
    pub encoded: Vec<usize>,
}

impl RandomSession {
    pub fn new(model: RandomModel) -> Self {
        RandomSession {
            model,
            sentences: BTreeMap::new(),
            rows: Vec::new(),
            attention: None,
            keep_attention: false,
            max_sentences: usize::MAX,
            steps: 0,
            rows_seen: 0,
            encoded: Vec::new(),
        }
    }

    /// Returns the number of sentences that were begun and not finished.
    pub fn open_sentences(&self) -> usize {
        self.sentences.len()
    }

    /// Returns the logits and ids of the candidates of a row.
    fn logits_and_ids(&self, row: usize) -> (Vec<f32>, Vec<u32>) {
        let (slot, words) = &self.rows[row];
        let sentence = &self.sentences[slot];
        let logits = self.model.logits(&sentence.source, words);
        let ids = match &sentence.candidates {
            Some(candidates) => candidates.clone(),
            None => (0..self.model.vocabulary_size as u32).collect(),
        };
        (ids.iter().map(|&id| logits[id as usize]).collect(), ids)
    }
}

impl Session for RandomSession {
    fn vocab_size(&self) -> usize {
        self.model.vocabulary_size
    }

    fn max_sentences(&self) -> usize {
        self.max_sentences
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(!sentences.is_empty());
        assert!(candidates.is_none_or(|lists| lists.len() == sentences.len()));
        if sentences.iter().any(|source| source.contains(&UNREADABLE_TOKEN)) {
            return Err(Error::Untranslatable { reason: "unreadable".into() });
        }
        self.encoded.push(sentences.len());
        let add = |(at, source): (usize, &&[u32])| {
            let free = (0..).map(Slot).find(|slot| !self.sentences.contains_key(slot));
            let slot = free.expect("there is one");
            let candidates = candidates.map(|lists| lists[at].to_vec());
            if let Some(list) = &candidates {
                assert!(list.is_sorted_by(|a, b| a < b), "ascending");
            }
            self.sentences.insert(slot, RandomSentence { source: source.to_vec(), candidates });
            slot
        };
        Ok(sentences.iter().enumerate().map(add).collect())
    }

    fn finish(&mut self, slot: Slot) {
        assert!(self.sentences.remove(&slot).is_some(), "{slot:?} was there");
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        assert!(!rows.is_empty());
        let grow = |row: &HypothesisRow| {
            assert!(self.sentences.contains_key(&row.slot), "{row:?} is of a sentence");
            assert_eq!(row.parent.is_some(), row.token.is_some());
            let mut words = Vec::new();
            if let (Some(parent), Some(word)) = (row.parent, row.token) {
                let (slot, parent) = &self.rows[parent as usize];
                assert_eq!(*slot, row.slot, "parents are of the same sentence");
                words.clone_from(parent);
                words.push(word);
            }
            (row.slot, words)
        };
        let rows: Vec<_> = rows.iter().map(grow).collect();
        let mut changes: Vec<Slot> = rows.iter().map(|row| row.0).collect();
        changes.dedup();
        let blocks = changes.len();
        changes.sort();
        changes.dedup();
        assert_eq!(blocks, changes.len(), "rows of one sentence are adjacent");
        self.rows = rows;
        self.attention = self.keep_attention.then(|| {
            let row = |(slot, words): &(Slot, Vec<u32>)| {
                self.model.attention(&self.sentences[slot].source, words)
            };
            self.rows.iter().map(row).collect()
        });
        self.steps += 1;
        self.rows_seen += self.rows.len();
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        assert_eq!(best.len(), self.rows.len());
        for (row, best) in best.iter_mut().enumerate() {
            let (logits, ids) = self.logits_and_ids(row);
            let logits = MatRef::new(&logits, 1, ids.len());
            update_topk(
                Cpu::plain(),
                logits,
                None,
                ColumnIds::Shortlist(&ids),
                std::slice::from_mut(best),
            );
        }
        Ok(())
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        logits.clear();
        assert!(pairs.is_sorted_by_key(|(row, _)| *row), "row by row");
        for &(row, word) in pairs {
            let (found, ids) = self.logits_and_ids(row as usize);
            let at = ids.binary_search(&word);
            logits.push(at.map_or(f32::NEG_INFINITY, |at| found[at]));
        }
        Ok(())
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        logits.clear();
        log_normalizers.clear();
        for row in rows {
            let found = self.logits_and_ids(row).0;
            log_normalizers.push(log_sum_exp(&found));
            logits.extend(found);
        }
        Ok(())
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        let (logits, ids) = self.logits_and_ids(row as usize);
        let normalizer = log_sum_exp(&logits);
        scores.clear();
        scores.resize(self.model.vocabulary_size, f32::NEG_INFINITY);
        for (id, logit) in ids.iter().zip(logits) {
            scores[*id as usize] = logit - normalizer;
        }
        Ok(())
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.keep_attention = keep;
    }

    fn alignment(&self, row: u32) -> &[f32] {
        &self.attention.as_ref().expect("attention is kept")[row as usize]
    }
}

/// Returns the logarithm of the sum of the exponentials of `logits`.
pub fn log_sum_exp(logits: &[f32]) -> f32 {
    let mut best = [TopK::new(0, true)];
    update_topk(
        Cpu::plain(),
        MatRef::new(logits, 1, logits.len()),
        None,
        ColumnIds::Consecutive(0),
        &mut best,
    );
    best[0].log_normalizer()
}
