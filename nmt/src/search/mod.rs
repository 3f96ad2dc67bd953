//! Search for the translations of a source sentence: greedy search, beam search and sampling over a
//! [`Session`](miriam_nmt_network::network::Session).
//!
//! [`BeamSearch`] is the search; [`batch`](crate::batch) feeds it with sentences.

pub mod alignment;
mod beam_search;
mod beam_state;
mod constraint;
mod fusion;
mod hypothesis_tree;
mod logits_processor;
mod repetition;
mod sampling;
pub mod unknown;

pub use beam_search::BeamSearch;
pub(crate) use fusion::LM_WITH_SAMPLING;
pub use fusion::{Fusion, FusionModel, TokenTexts};
pub use miriam_nmt_models::{DecodingSemantics, EarlyStopping};

use crate::Result;

/// A sentence to translate with its constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The number of the sentence in its text or in the caller's request, from 0; sampling depends
    /// on it.
    pub number: u64,
    /// Ids of the source vocabulary, with the special tokens of the model: usually `</s>` at the
    /// end. None for an empty sentence, whose translation is empty; the callers know which tokens
    /// are words.
    pub source: Vec<u32>,
    /// Tokens that the translation must begin with.
    pub prefix: Vec<u32>,
    /// Token sequences that the translation must contain, each as often as it is listed. Not
    /// allowed with sampling.
    pub constraints: Vec<Vec<u32>>,
    /// The shortlist of target ids, ascending; `None` for the full vocabulary.
    pub candidates: Option<Vec<u32>>,
}

/// A translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Translation {
    /// Ids of the target vocabulary, without the token that ended the translation.
    pub tokens: Vec<u32>,
    /// The natural log-probability of every token, and of `end_token` unless the translation was
    /// cut.
    pub token_scores: Vec<f32>,
    /// The sum of `token_scores`.
    pub log_probability: f32,
    /// The natural log-probability of the translation and its end by the language model of the
    /// search; `None` if the search has no such model.
    pub lm_log_probability: Option<f32>,
    /// The score by which translations are ranked, with length normalisation and penalties.
    pub score: f32,
    /// The attention of each scored token to the source tokens, `[target, source]`; empty
    /// unless requested.
    pub alignment: Vec<Vec<f32>>,
    /// The token that ended the translation, `</s>` or one of [`SearchOptions::end_tokens`]; `None`
    /// if it was cut.
    pub end_token: Option<u32>,
}

/// A token that greedy search or sampling has just chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneratedToken {
    /// Its position in the translation, from 0; tokens of the prefix count.
    pub step: usize,
    /// The index of the translation among the samples of its sentence.
    pub sample_index: u32,
    /// The token.
    pub token: u32,
    /// The natural logarithm of its probability.
    pub score: f32,
    /// Whether the translation ends with it.
    pub is_last: bool,
}

/// Receiver of the results of a search as soon as they are found.
pub trait SearchEvents {
    /// Takes a token of sentence `id`, if [`SearchOptions::report_tokens`] is set. Returns whether
    /// its translation must end.
    fn token(&mut self, id: u64, token: GeneratedToken) -> bool {
        let _ = (id, token);
        false
    }

    /// Takes the translations of a sentence, best first, or the reason why it has none.
    ///
    /// # Errors
    /// If they cannot be passed on, which ends the search.
    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()>;
}

/// Options of sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// The divisor of log-probabilities.
    pub temperature: f32,
    /// The number of best tokens to sample from; 0 for all.
    pub top_k: usize,
    /// The probability mass of the best tokens to sample from; 1 for all.
    pub top_p: f32,
    /// The minimum probability of tokens to sample from; 0 for all.
    pub epsilon: f32,
}

/// Options of search, the same for all sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// The beam size, at most 65,536; 1 is greedy search.
    pub beam_size: usize,
    /// The number of translations to return, at most [`n_best_limit`](Self::n_best_limit).
    pub n_best: usize,
    /// Scores are divided by the length, including `</s>`, to this power.
    pub length_penalty: f32,
    /// The penalty subtracted for each token, including `</s>`.
    pub word_penalty: f32,
    /// The factor of the sum of ln(min(coverage, 1)) over the source (CTranslate2).
    pub coverage_penalty: f32,
    /// The maximum number of target tokens per source token, including `</s>`.
    pub max_length_factor: f32,
    /// The maximum number of target tokens, whatever the length of the source.
    pub max_length: usize,
    /// The maximum number of tokens after a prefix.
    pub max_new_tokens: usize,
    /// The minimum number of tokens before `</s>`.
    pub min_length: usize,
    /// The program whose rules the search follows.
    pub semantics: DecodingSemantics,
    /// CTranslate2: the search ends after `round(beam_size * patience)` finished hypotheses.
    pub patience: f32,
    /// The rule by which the search ends or goes on after that number of finished hypotheses, only
    /// with CTranslate2's semantics and a beam; `None` for CTranslate2's own rule.
    pub early_stopping: Option<EarlyStopping>,
    /// The search ends when the best live hypothesis is below the best finished one by more than
    /// this difference of log-probabilities (Devlin 2017: 3.0).
    pub early_stop_margin: Option<f32>,
    /// No n-gram of this order is generated twice; 0 allows all.
    pub no_repeat_ngram_size: usize,
    /// The number by which the logits of tokens generated before are divided, or multiplied if they
    /// are negative; 1 for no penalty (CTranslate2).
    pub repetition_penalty: f32,
    /// A token that counts as generated before all others, for the ban of repeated n-grams and for
    /// the repetition penalty: the start token in `transformers`. `None` for no such token.
    pub repeated_start: Option<u32>,
    /// Tokens that are never generated, such as the unknown token and tokens that the model
    /// excludes.
    pub suppress_tokens: Vec<u32>,
    /// Sequences of two and more tokens that are never generated.
    pub suppress_sequences: Vec<Vec<u32>>,
    /// The id of EOS.
    pub eos_id: u32,
    /// Tokens that end a translation instead of EOS; empty for EOS. Not allowed with constraints.
    pub end_tokens: Vec<u32>,
    /// The effect of a prefix on its translation.
    pub prefix_role: PrefixRole,
    /// The share of the probability that the prefix's next token gets, above 0 and below 1, as long
    /// as a hypothesis follows the prefix (CTranslate2's biased decoding). `None` forces the
    /// prefix. Not allowed with constraints.
    pub prefix_bias: Option<f32>,
    /// A language model whose scores are added to the scores of tokens; `None` for no such model.
    /// Not allowed with sampling.
    pub fusion: Option<Fusion>,
    /// Options of sampling, which replaces search.
    pub sampling: Option<Sampling>,
    /// The seed of sampling. The samples of a sentence depend on the seed and on
    /// [`Request::number`].
    pub seed: u64,
    /// Whether translations are returned with alignments.
    pub return_alignments: bool,
    /// Whether greedy search may skip the normaliser of the softmax (Marian's `skip-cost`);
    /// scores are raw logits then. Wider beams and sampling ignore it.
    pub skip_cost: bool,
    /// Whether [`SearchEvents::token`] is called. Not allowed with a beam of several hypotheses.
    pub report_tokens: bool,
}

/// The effect of a prefix on its translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PrefixRole {
    /// The translation begins with it. A prefix may be longer than the source allows, but is cut at
    /// the maximum length. It must not contain EOS.
    #[default]
    Beginning,
    /// The translation begins with it, cut at the maximum length. It may contain EOS.
    CutBeginning,
    /// Like `CutBeginning`, but only tokens after it count for repetitions and for the score. By
    /// CTranslate2's rules, several hypotheses may end directly after it.
    Context,
}

/// Greedy search by Marian's rules, without penalties and limits.
impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            beam_size: 1,
            n_best: 1,
            length_penalty: 0.0,
            word_penalty: 0.0,
            coverage_penalty: 0.0,
            max_length_factor: f32::INFINITY,
            max_length: usize::MAX,
            max_new_tokens: usize::MAX,
            min_length: 0,
            semantics: DecodingSemantics::Marian,
            patience: 1.0,
            early_stopping: None,
            early_stop_margin: None,
            no_repeat_ngram_size: 0,
            repetition_penalty: 1.0,
            repeated_start: None,
            suppress_tokens: Vec::new(),
            suppress_sequences: Vec::new(),
            eos_id: 0,
            end_tokens: Vec::new(),
            prefix_role: PrefixRole::Beginning,
            prefix_bias: None,
            fusion: None,
            sampling: None,
            seed: 1,
            return_alignments: false,
            skip_cost: false,
            report_tokens: false,
        }
    }
}

impl SearchOptions {
    /// Returns the maximum number of target tokens for `source` tokens, both including `</s>`.
    fn max_target_length(&self, source: usize) -> usize {
        // Marian continues while the length is below the product, so the product is rounded up.
        let factor = (self.max_length_factor * source as f32).ceil();
        // The cast saturates.
        (factor as usize).min(self.max_length).max(1)
    }

    /// Returns the tokens that end a translation.
    fn end_ids(&self) -> &[u32] {
        if self.end_tokens.is_empty() {
            std::slice::from_ref(&self.eos_id)
        } else {
            &self.end_tokens
        }
    }

    /// Whether a token ends a translation.
    fn is_end(&self, token: u32) -> bool {
        self.end_ids().contains(&token)
    }

    /// Returns the maximum number of translations of a sentence; `None` if they are sampled, which
    /// has no limit.
    pub fn n_best_limit(&self) -> Option<usize> {
        if self.sampling.is_some() {
            return None;
        }
        Some(match self.semantics {
            DecodingSemantics::Marian => self.beam_size,
            DecodingSemantics::CTranslate2 => self.required_finished(),
        })
    }

    /// Describes [`n_best_limit`](Self::n_best_limit) by the options that set it, for messages.
    pub fn describe_n_best_limit(&self) -> String {
        let (beam, patience) = (self.beam_size, self.patience);
        match self.semantics {
            DecodingSemantics::CTranslate2 if patience != 1.0 && !self.is_greedy() => {
                format!("the beam size, {beam}, times the patience, {patience}")
            }
            _ => format!("the beam size, {beam}"),
        }
    }

    /// Whether the search ends with its only hypothesis. In CTranslate2 a biased prefix always has
    /// a beam, even if only of one row.
    fn is_greedy(&self) -> bool {
        self.beam_size <= 1 && self.prefix_bias.is_none()
    }

    /// Returns the rule of early stopping, if it has an effect.
    fn early_stopping_rule(&self) -> Option<EarlyStopping> {
        let has_effect = self.semantics == DecodingSemantics::CTranslate2
            && self.sampling.is_none()
            && !self.is_greedy();
        self.early_stopping.filter(|_| has_effect)
    }

    /// Returns the number of finished hypotheses that ends the search in CTranslate2.
    fn required_finished(&self) -> usize {
        if self.is_greedy() {
            return 1;
        }
        // The cast saturates.
        ((self.beam_size as f32 * self.patience).round() as usize).max(1)
    }

    /// Whether the search needs attention weights.
    pub(crate) fn needs_attention(&self) -> bool {
        self.return_alignments || self.coverage_penalty != 0.0
    }
}
