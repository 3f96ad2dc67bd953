//! From a source sentence to its translations: greedy and beam search over a
//! [`Session`](crate::network::Session).
//!
//! [`Search`] is search itself; [`batch`](crate::batch) feeds it.

pub mod alignment;
mod beam_search;
mod beam_state;
mod constraint;
mod hypothesis_tree;
mod logits_processor;
mod repetition;
mod sampling;
pub mod unknown;

pub use beam_search::BeamSearch;

/// What is to be translated, and how it may come out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Ids of the source vocabulary, the last one being `</s>`.
    pub source: Vec<u32>,
    /// Words that the translation begins with.
    pub prefix: Vec<u32>,
    /// Words and sequences that the translation must have, each of them once for every time
    /// that it is listed. Not with sampling.
    pub constraints: Vec<Vec<u32>>,
    /// The only words to choose from, ascending; all, if there is no such list.
    pub candidates: Option<Vec<u32>>,
}

/// A translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Translation {
    /// Ids of the target vocabulary, without `</s>`.
    pub tokens: Vec<u32>,
    /// The score of every word, and of `</s>` where the translation has ended by itself:
    /// natural logarithms.
    pub token_scores: Vec<f32>,
    /// Their sum.
    pub log_probability: f32,
    /// What translations are compared by: with length and penalties.
    pub score: f32,
    /// For each scored word its attention to the words of the source; empty unless asked
    /// for.
    pub alignment: Vec<Vec<f32>>,
}

/// Which engine's rules decide when a beam is done, and how hypotheses that ended count.
///
/// Where words are forbidden, Marian leaves the probabilities of the others as they are, and
/// CTranslate2 lets them sum to 1 again. The words of a prefix have their own scores with
/// Marian's rules, and 0 with CTranslate2's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DecodingSemantics {
    /// Hypotheses that end leave the beam, which shrinks; done when it is empty.
    #[default]
    Marian,
    /// The beam keeps its width; done when `round(beam * patience)` have ended.
    CTranslate2,
}

/// How words are chosen at random; none is search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Logits are divided by it.
    pub temperature: f32,
    /// Only so many best words; 0 for all.
    pub top_k: usize,
    /// Only the best words up to this share of probability; 1 for all.
    pub top_p: f32,
    /// Only words of at least this probability; 0 for all.
    pub epsilon: f32,
    /// What a sentence's random numbers depend on, with its place in the input.
    pub seed: u64,
}

/// Options of search, the same for all sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Hypotheses kept at each step, at most 65,536; 1 is greedy.
    pub beam_size: usize,
    /// Translations wanted, at most `beam` (or any number when sampling).
    pub n_best: usize,
    /// Scores are divided by the length to this power. Words and `</s>` count.
    pub length_penalty: f32,
    /// Subtracted for each of them.
    pub word_penalty: f32,
    /// Times the sum of ln(min(coverage, 1)) over the source (CTranslate2).
    pub coverage_penalty: f32,
    /// Stops after so many target words for each source word (`</s>` counts).
    pub max_length_factor: f32,
    /// And after so many in any case.
    pub max_length: usize,
    /// `</s>` is not put out before so many words.
    pub min_length: usize,
    /// Whose rules.
    pub semantics: DecodingSemantics,
    /// CTranslate2: how much longer than needed it looks.
    pub patience: f32,
    /// Stops when the best unfinished hypothesis is this much (natural logarithm, without
    /// length and penalties) below the best finished one (Devlin 2017: 3.0).
    pub early_stop_margin: Option<f32>,
    /// No sequence of so many words comes twice; 0 allows all.
    pub no_repeat_ngram_size: usize,
    /// Scores of words that were put out are multiplied (if negative) or divided by it;
    /// 1 is none (CTranslate2).
    pub repetition_penalty: f32,
    /// Words that are never put out: the unknown word and those of the model.
    pub suppress_tokens: Vec<u32>,
    /// The end of a sentence.
    pub eos_id: u32,
    /// Words are drawn at random.
    pub sampling: Option<Sampling>,
    /// Whether translations have their alignments.
    pub return_alignments: bool,
    /// Whether greedy search may leave the sum of the softmax out (Marian's `skip-cost`):
    /// scores are raw then. Wider beams need it.
    pub skip_cost: bool,
}

impl SearchOptions {
    /// The most words that a translation of so many source words has, `</s>` counting
    /// on both sides.
    fn max_target_length(&self, source: usize) -> usize {
        // Marian goes on while fewer than the product are there: a part counts as one more.
        let factor = (self.max_length_factor * source as f32).ceil();
        // A float beyond what a usize holds becomes the largest one.
        (factor as usize).min(self.max_length).max(1)
    }

    /// CTranslate2: so many ended hypotheses are enough.
    fn required_finished(&self) -> usize {
        if self.beam_size <= 1 {
            return 1;
        }
        // As above.
        ((self.beam_size as f32 * self.patience).round() as usize).max(1)
    }

    /// Whether search needs the attention of its words.
    pub(crate) fn needs_attention(&self) -> bool {
        self.return_alignments || self.coverage_penalty != 0.0
    }
}
