//! Generation of a synthetic trie, order by order.
//!
//! A model contains the suffix and the context of each of its n-grams. The suffix is the parent in
//! the trie. The context exists if the children of `(w0, w1, .., wk)` are also children of
//! `(w1, .., wk)`. So the children of each n-gram are sampled from those of its context, and the
//! context of each child is known without a search.
//!
//! The weight of an n-gram is its expected count in the training text. The number of its children
//! is a power of the weight (Heaps' law within one context), with an exponent that is found by
//! bisection so that each order gets its target number of n-grams. The children divide the weight
//! by Zipf's law.

use miriam_lmcpu::NO_EXTENSION;
use miriam_lmcpu::sorted::{Nodes, SortedModel, SortedTrie};
use miriam_textio::{Vocabulary, WordId};
use rayon::prelude::*;

use super::{SplitMix64, SyntheticOptions};

/// The number of n-grams whose children one task generates.
const PARENTS_PER_TASK: usize = 1 << 13;
/// The number of tokens of the training text per n-gram of the order with the most n-grams.
const TOKENS_PER_LONGEST: f64 = 1.6;
/// The probability that `<s>` is among the children of an n-gram, divided by the number of its
/// children. The rates are those of orders 1, 2, 3 and of all higher orders.
const BOS_RATES: [f32; 4] = [0.013, 0.035, 0.08, 0.12];
/// The preference of frequent words as children: of `m` candidates, the one with rank
/// `m * u^FREQUENCY_BIAS` is chosen, where u is uniform from 0 to 1.
const FREQUENCY_BIAS: f32 = 3.0;
/// The frequency of the word of rank r is proportional to 1 / (r + RANK_SHIFT)
/// (Mandelbrot); beyond the rank words^KNEE_EXPONENT it falls faster, by a factor
/// r^-TAIL_EXPONENT, as for the rare words of real text (Montemurro 2001).
const RANK_SHIFT: f64 = 2.7;
const KNEE_EXPONENT: f64 = 0.75;
const TAIL_EXPONENT: f64 = 0.8;
/// The children of an n-gram share its weight as rank^-CHILD_EXPONENT.
const CHILD_EXPONENT: f32 = 1.3;
/// The id of `</s>`.
const EOS_ID: u32 = 3;

/// Streams of random numbers: one of each kind for each order.
#[derive(Clone, Copy)]
enum RandomStream {
    Count,
    ChildChoice,
    Backoff,
}

impl RandomStream {
    fn id(self, order: usize) -> u64 {
        (order as u64) << 8 | self as u64
    }
}

impl SyntheticOptions {
    /// Generates the model, on rayon's current threads.
    ///
    /// # Panics
    ///
    /// Those of [`SyntheticOptions::num_ngrams_per_order`], and if an order has more n-grams than
    /// 32-bit ids.
    pub fn generate_model(&self) -> SortedModel {
        let targets = self.num_ngrams_per_order();
        let longest = targets.iter().max().map_or(0, |&most| most);
        let tokens = longest as f64 * TOKENS_PER_LONGEST;
        let words = targets[0] as usize;
        let (nodes, mut weights) = unigrams(words, tokens);
        let bos_id = words as u32 - 1;
        let mut growing = SortedTrie { levels: vec![nodes] };
        for order in 2..=self.order {
            let level =
                GrowingLevel { options: self, growing: &growing, bos_id, weights: &weights };
            let children = level.child_offsets(targets[order - 1]);
            let (mut nodes, next_weights) = level.fill_children(&children);
            if order < self.order {
                nodes.backoffs = vec![f32::from_bits(NO_EXTENSION); nodes.len()];
            }
            let contexts = std::mem::take(&mut nodes.contexts);
            growing.levels[order - 2].children = children;
            growing.levels[order - 2].contexts = Vec::new();
            growing.mark_extended(order, &contexts);
            self.set_backoffs(order - 1, &mut growing.levels[order - 2].backoffs);
            nodes.contexts = contexts;
            growing.levels.push(nodes);
            weights = next_weights;
        }
        let mut vocabulary = Vocabulary::new();
        for id in 0..words as u32 {
            match id {
                0 => vocabulary.intern(b"<unk>"),
                EOS_ID => vocabulary.intern(b"</s>"),
                _ if id == bos_id => vocabulary.intern(b"<s>"),
                _ => vocabulary.intern(format!("w{id}").as_bytes()),
            };
        }
        SortedModel {
            name: format!("{} synthetic n-grams, seed {}", self.ngrams, self.seed),
            counts: growing.levels.iter().map(|nodes| nodes.len() as u64).collect(),
            source_ids: (0..words as u32).map(WordId).collect(),
            vocabulary,
            has_unknown: true,
            bos_id,
            eos_id: EOS_ID,
            trie: growing,
        }
    }

    /// Sets the backoffs of the n-grams of `order` that are contexts.
    fn set_backoffs(&self, order: usize, backoffs: &mut [f32]) {
        backoffs.par_iter_mut().with_min_len(PARENTS_PER_TASK).enumerate().for_each(
            |(at, backoff)| {
                if backoff.to_bits() != NO_EXTENSION {
                    let mut random = SplitMix64::at_position(
                        self.seed,
                        RandomStream::Backoff.id(order),
                        at as u64,
                    );
                    *backoff = -0.05 - 0.9 * random.next_f32();
                }
            },
        );
    }
}

/// Returns the unigrams, and the natural logarithm, at least 0, of the expected count of each in a
/// text of `tokens` tokens. `<s>` is the last unigram, with log10 p = -99, as toolkits write it.
fn unigrams(words: usize, tokens: f64) -> (Nodes, Vec<f32>) {
    let knee = (words as f64).powf(KNEE_EXPONENT);
    let ranks = (1..words - 1).map(|rank| rank as f64);
    let shares =
        ranks.map(|rank| 1.0 / ((rank + RANK_SHIFT) * (1.0 + (rank / knee).powf(TAIL_EXPONENT))));
    let sum: f64 = shares.clone().sum();
    let mut nodes = Nodes {
        words: (0..words as u32).collect(),
        log10: vec![-7.0; words],
        backoffs: vec![f32::from_bits(NO_EXTENSION); words],
        ..Nodes::default()
    };
    let mut weights = vec![0.0; words];
    nodes.log10[words - 1] = -99.0;
    for (id, share) in (1..).zip(shares) {
        nodes.log10[id] = (share / sum).log10() as f32;
        weights[id] = (share / sum * tokens).ln().max(0.0) as f32;
    }
    (nodes, weights)
}

/// The highest finished order, whose children are generated next.
struct GrowingLevel<'g> {
    options: &'g SyntheticOptions,
    growing: &'g SortedTrie,
    bos_id: u32,
    /// The natural logarithm of the weight of each n-gram, at least 0.
    weights: &'g [f32],
}

/// The candidates for children: the words that can precede a context.
#[derive(Clone, Copy)]
struct Candidates {
    /// The index of the first candidate among the n-grams of the growing order.
    start: usize,
    /// The number of words without `<s>`.
    num_words: usize,
    /// Whether `<s>` follows them.
    has_bos: bool,
}

impl Candidates {
    fn len(self) -> usize {
        self.num_words + usize::from(self.has_bos)
    }
}

impl GrowingLevel<'_> {
    fn order(&self) -> usize {
        self.growing.levels.len()
    }

    fn nodes(&self) -> &Nodes {
        &self.growing.levels[self.order() - 1]
    }

    #[inline(always)]
    fn candidates(&self, at: usize) -> Candidates {
        let nodes = self.nodes();
        let (start, end) = if self.order() == 1 {
            // The candidates are all words but <unk>. `fill_block` leaves out </s>, which precedes
            // nothing.
            let has_children = at != 0 && at as u32 != self.bos_id;
            (1, if has_children { nodes.len() } else { 1 })
        } else {
            let range = self.growing.levels[self.order() - 2].children_of(nodes.contexts[at]);
            (range.start, range.end)
        };
        let has_bos = end > start && nodes.words[end - 1] == self.bos_id;
        let without_end = usize::from(self.order() == 1 && end > start);
        Candidates { start, num_words: end - start - usize::from(has_bos) - without_end, has_bos }
    }

    /// Returns the number of children of the n-gram `at`.
    #[inline(always)]
    fn child_count(&self, at: usize, exponent: f32) -> usize {
        let choices = self.candidates(at).len();
        if choices <= 1 {
            return choices;
        }
        let u = SplitMix64::at_position(
            self.options.seed,
            RandomStream::Count.id(self.order()),
            at as u64,
        )
        .next_f32();
        (((self.weights[at] * exponent).exp() + u) as usize).clamp(1, choices)
    }

    /// Chooses the numbers of children, about `target` in all; returns the offset of the first
    /// child of each n-gram, and the total.
    fn child_offsets(&self, target: u64) -> Vec<u32> {
        let len = self.nodes().len();
        // A sample of about a million estimates the sum.
        let step = (len >> 20).max(1);
        let (mut low, mut high) = (0.0, 1.5f32);
        for _ in 0..20 {
            let middle = f32::midpoint(low, high);
            let sample = (0..len.div_ceil(step)).into_par_iter().with_min_len(PARENTS_PER_TASK);
            let sampled: usize = sample.map(|i| self.child_count(i * step, middle)).sum();
            let sum = (sampled * step) as u64;
            *(if sum < target { &mut low } else { &mut high }) = middle;
        }
        let counts = (0..len).into_par_iter().with_min_len(PARENTS_PER_TASK);
        let counts = counts.map(|at| self.child_count(at, high) as u32).collect::<Vec<_>>();
        let mut end = 0u32;
        let ends = counts.into_iter().map(|count| {
            end = end.checked_add(count).expect("`fits_u32_ids` bounds the orders");
            end
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// Generates the children, and the natural logarithm of the weight of each.
    fn fill_children(&self, children: &[u32]) -> (Nodes, Vec<f32>) {
        let len = children[children.len() - 1] as usize;
        let mut nodes = Nodes {
            words: vec![0; len],
            log10: vec![0.0; len],
            contexts: vec![0; len],
            ..Nodes::default()
        };
        let mut weights = vec![0.0; len];
        let mut rest = NodeSlice {
            words: &mut nodes.words,
            log10: &mut nodes.log10,
            contexts: &mut nodes.contexts,
            weights: &mut weights,
        };
        let mut tasks = Vec::new();
        for first in (0..children.len() - 1).step_by(PARENTS_PER_TASK) {
            let last = (first + PARENTS_PER_TASK).min(children.len() - 1);
            let task;
            (task, rest) = rest.split((children[last] - children[first]) as usize);
            tasks.push((first..last, task));
        }
        tasks.into_par_iter().for_each(|(parents, mut rest)| {
            for at in parents {
                let block;
                (block, rest) = rest.split((children[at + 1] - children[at]) as usize);
                self.fill_block(at, block);
            }
        });
        (nodes, weights)
    }

    /// Chooses the children of the n-gram `at`.
    fn fill_block(&self, at: usize, block: NodeSlice<'_>) {
        let count = block.words.len();
        if count == 0 {
            return;
        }
        let choices = self.candidates(at);
        let mut random = SplitMix64::at_position(
            self.options.seed,
            RandomStream::ChildChoice.id(self.order()),
            at as u64,
        );
        let has_bos = choices.has_bos
            && (count == choices.len()
                || random.next_f32()
                    < BOS_RATES[self.order().min(BOS_RATES.len()) - 1] * count as f32);
        let words = count - usize::from(has_bos);
        let nodes = self.nodes();
        let mut least = 0;
        // The integral approximates the sum of all shares.
        let steeper = CHILD_EXPONENT - 1.0;
        let sum = 1.0 + (1.0 - (count as f32).powf(-steeper)) / steeper;
        let share = self.weights[at] - sum.ln();
        for i in 0..count {
            let rank = if i < words {
                // One word is drawn from each of `words` strata of equal probability, so the words
                // are sorted. Where a stratum is narrower than a word, the next word is taken.
                let place = ((i as f32 + random.next_f32()) / words as f32).powf(FREQUENCY_BIAS);
                let rank = (place * choices.num_words as f32) as usize;
                let rank = rank.clamp(least, choices.num_words - (words - i));
                least = rank + 1;
                rank
            } else {
                choices.num_words
            };
            let mut context = choices.start + rank;
            if self.order() == 1 && context >= EOS_ID as usize {
                context += 1;
            }
            block.words[i] = nodes.words[context];
            block.contexts[i] = context as u32;
            // Longer contexts make words more probable.
            block.log10[i] = nodes.log10[at] * (0.55 + 0.35 * random.next_f32());
            block.weights[i] = (share - CHILD_EXPONENT * ((i + 1) as f32).ln()).max(0.0);
        }
    }
}

/// A slice of the children being generated.
struct NodeSlice<'b> {
    words: &'b mut [u32],
    log10: &'b mut [f32],
    contexts: &'b mut [u32],
    weights: &'b mut [f32],
}

impl<'b> NodeSlice<'b> {
    /// Returns the first `len` n-grams, and the others.
    fn split(self, len: usize) -> (Self, Self) {
        let (words, more_words) = self.words.split_at_mut(len);
        let (log10, more_log10) = self.log10.split_at_mut(len);
        let (contexts, more_contexts) = self.contexts.split_at_mut(len);
        let (weights, more_weights) = self.weights.split_at_mut(len);
        let rest = NodeSlice {
            words: more_words,
            log10: more_log10,
            contexts: more_contexts,
            weights: more_weights,
        };
        (NodeSlice { words, log10, contexts, weights }, rest)
    }
}
