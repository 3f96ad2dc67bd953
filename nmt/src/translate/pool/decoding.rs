//! CTranslate2's options of decoding tokens: their names, defaults, limits and messages.

use super::{AlternativesOptions, BatchLimits, CandidateSource, PoolError, TranslationTask};
use crate::search::{DecodingSemantics, PrefixRole, Sampling, SearchOptions};
use crate::translate::Translator;

/// Options of decoding, as CTranslate2's `translate_batch` names them.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodingOptions {
    /// The beam size; 1 is greedy search.
    pub beam_size: usize,
    /// A search ends after `round(beam_size * patience)` finished hypotheses.
    pub patience: f32,
    /// The number of translations.
    pub num_hypotheses: usize,
    /// Scores are divided by the length to this power.
    pub length_penalty: f32,
    /// The factor of the coverage penalty.
    pub coverage_penalty: f32,
    /// The number by which the logits of tokens generated before are divided, or multiplied if they
    /// are negative.
    pub repetition_penalty: f32,
    /// No n-gram of this order is generated twice; 0 allows all.
    pub no_repeat_ngram_size: usize,
    /// Whether the unknown token is never generated.
    pub disable_unk: bool,
    /// Sequences that are never generated.
    pub suppress_sequences: Vec<Vec<u32>>,
    /// The tokens that end a translation instead of EOS; empty for EOS.
    pub end_tokens: Vec<u32>,
    /// The share of a prefix's next token in the probabilities, below 1; 0 forces the prefix.
    pub prefix_bias_beta: f32,
    /// The maximum number of tokens, including those of a prefix.
    pub max_decoding_length: usize,
    /// The minimum number of tokens before the end.
    pub min_decoding_length: usize,
    /// Whether candidates come from the vocabulary map, if the model has one.
    pub use_vmap: bool,
    /// Whether translations have scores.
    pub return_scores: bool,
    /// Whether translations have attention.
    pub return_attention: bool,
    /// Whether translations are alternatives of the first token after the prefix.
    pub return_alternatives: bool,
    /// The minimum probability of an alternative's first token; less probable ones are left out.
    pub min_alternative_expansion_prob: f32,
    /// The number of best tokens to sample from; 0 for all, 1 turns sampling off.
    pub sampling_topk: usize,
    /// The probability mass of the best tokens to sample from.
    pub sampling_topp: f32,
    /// The divisor of log-probabilities; 0 turns sampling off.
    pub sampling_temperature: f32,
    /// The seed of sampling.
    pub seed: u64,
    /// Whether unknown tokens are replaced by source tokens.
    pub replace_unknowns: bool,
    /// Whether generated tokens are reported.
    pub report_tokens: bool,
    /// Whether reported tokens have log-probabilities.
    pub report_scores: bool,
}

impl Default for DecodingOptions {
    /// Returns the defaults of CTranslate2.
    fn default() -> Self {
        DecodingOptions {
            beam_size: 2,
            patience: 1.0,
            num_hypotheses: 1,
            length_penalty: 1.0,
            coverage_penalty: 0.0,
            repetition_penalty: 1.0,
            no_repeat_ngram_size: 0,
            disable_unk: false,
            suppress_sequences: Vec::new(),
            end_tokens: Vec::new(),
            prefix_bias_beta: 0.0,
            max_decoding_length: 256,
            min_decoding_length: 1,
            use_vmap: false,
            return_scores: false,
            return_attention: false,
            return_alternatives: false,
            min_alternative_expansion_prob: 0.0,
            sampling_topk: 1,
            sampling_topp: 1.0,
            sampling_temperature: 1.0,
            seed: 0,
            replace_unknowns: false,
            report_tokens: false,
            report_scores: false,
        }
    }
}

impl DecodingOptions {
    /// Whether tokens are drawn at random.
    pub fn is_sampling(&self) -> bool {
        self.sampling_topk != 1 && self.sampling_temperature != 0.0
    }

    /// Whether the search must keep attention for what is returned.
    pub fn needs_attention(&self) -> bool {
        self.return_attention || self.replace_unknowns
    }

    /// Checks that options are in range and do not exclude each other.
    ///
    /// # Errors
    /// [`PoolError::Invalid`] names the first option that is out of range or excluded by another.
    pub fn validate(&self) -> Result<(), PoolError> {
        let most = (self.beam_size as f32 * self.patience).round() as usize;
        let draws = self.beam_size == 1 && self.sampling_topk != 1;
        let too_many = self.num_hypotheses > most && !self.return_alternatives && !draws;
        let probability = 0.0..=1.0;
        // NaN is not positive.
        fn is_positive(number: f32) -> bool {
            number > 0.0
        }
        let wrong = [
            (self.beam_size == 0, "beam_size must be greater than 0"),
            (!is_positive(self.patience), "patience must be greater than 0"),
            (self.num_hypotheses == 0, "num_hypotheses must be greater than 0"),
            (too_many, "num_hypotheses is greater than beam_size * patience"),
            (
                self.min_decoding_length > self.max_decoding_length,
                "the minimum decoding length is greater than the maximum decoding length",
            ),
            (self.max_decoding_length == 0, "max_decoding_length must be greater than 0"),
            (!is_positive(self.repetition_penalty), "repetition_penalty must be greater than 0"),
            (
                !(0.0..1.0).contains(&self.prefix_bias_beta),
                "prefix_bias_beta must be at least 0 and less than 1",
            ),
            (
                self.prefix_bias_beta > 0.0 && self.return_alternatives,
                "prefix_bias_beta is not compatible with return_alternatives",
            ),
            (
                self.prefix_bias_beta > 0.0 && self.report_tokens,
                "prefix_bias_beta is not compatible with callback",
            ),
            (
                self.return_alternatives
                    && !probability.contains(&self.min_alternative_expansion_prob),
                "min_alternative_expansion_prob must be between 0 and 1",
            ),
            (
                self.report_tokens && self.beam_size != 1,
                "callback needs beam_size=1: a wider beam chooses no token before it ends",
            ),
            (
                !is_positive(self.sampling_topp) || self.sampling_topp > 1.0,
                "sampling_topp must be greater than 0 and at most 1",
            ),
            (
                self.sampling_temperature.is_nan() || self.sampling_temperature < 0.0,
                "sampling_temperature must be at least 0",
            ),
            (
                self.is_sampling() && self.beam_size != 1,
                "sampling (sampling_topk other than 1) needs beam_size=1 here; num_hypotheses \
                 gives several samples",
            ),
        ];
        match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, reason)) => Err(PoolError::Invalid((*reason).into())),
            None => Ok(()),
        }
    }

    /// Returns the task of decoding with these options, which were [validated](Self::validate).
    pub fn task(&self, translator: &Translator, limits: BatchLimits) -> TranslationTask {
        let target = &translator.models.tokenizers()[1].vocabulary;
        let mut suppress_tokens = translator.always_suppressed.clone();
        suppress_tokens.extend(self.disable_unk.then(|| target.unk_id()));
        let (single, sequences): (Vec<_>, Vec<_>) = self
            .suppress_sequences
            .iter()
            .filter(|sequence| !sequence.is_empty())
            .cloned()
            .partition(|sequence| sequence.len() == 1);
        suppress_tokens.extend(single.into_iter().flatten());
        let greedy = self.beam_size == 1 && !self.is_sampling();
        let sampling = self.is_sampling().then_some(Sampling {
            temperature: self.sampling_temperature,
            top_k: self.sampling_topk,
            top_p: self.sampling_topp,
            epsilon: 0.0,
        });
        let search = SearchOptions {
            beam_size: self.beam_size,
            n_best: self.num_hypotheses,
            length_penalty: self.length_penalty,
            coverage_penalty: self.coverage_penalty,
            max_length: self.max_decoding_length,
            min_length: self.min_decoding_length,
            semantics: DecodingSemantics::CTranslate2,
            patience: self.patience,
            no_repeat_ngram_size: self.no_repeat_ngram_size,
            repetition_penalty: self.repetition_penalty,
            suppress_tokens,
            suppress_sequences: sequences,
            eos_id: target.eos_id(),
            end_tokens: self.end_tokens.clone(),
            prefix_role: PrefixRole::CutBeginning,
            prefix_bias: (self.prefix_bias_beta > 0.0).then_some(self.prefix_bias_beta),
            fusion: translator.search.fusion.clone(),
            sampling,
            seed: self.seed,
            return_alignments: self.needs_attention(),
            skip_cost: greedy
                && self.prefix_bias_beta == 0.0
                && !self.return_scores
                && !self.report_scores
                && !self.return_alternatives,
            report_tokens: self.report_tokens,
            ..SearchOptions::default()
        };
        let alternatives = self.return_alternatives.then_some(AlternativesOptions {
            count: self.num_hypotheses,
            min_probability: self.min_alternative_expansion_prob,
        });
        let candidates = if self.use_vmap {
            CandidateSource::VocabularyMap
        } else {
            CandidateSource::Vocabulary
        };
        TranslationTask { search, limits, alternatives, candidates, observer: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_are_named() {
        let fine = DecodingOptions::default();
        assert_eq!(fine.validate(), Ok(()));
        let wrong = [
            (DecodingOptions { beam_size: 0, ..fine.clone() }, "beam_size"),
            (DecodingOptions { patience: f32::NAN, ..fine.clone() }, "patience"),
            (DecodingOptions { num_hypotheses: 3, ..fine.clone() }, "is greater than"),
            (DecodingOptions { min_decoding_length: 300, ..fine.clone() }, "is greater than"),
            (DecodingOptions { sampling_topp: 0.0, ..fine.clone() }, "sampling_topp"),
            (DecodingOptions { sampling_topk: 5, ..fine.clone() }, "beam_size=1"),
            (DecodingOptions { report_tokens: true, ..fine.clone() }, "callback"),
        ];
        for (options, part) in wrong {
            let Err(PoolError::Invalid(reason)) = options.validate() else {
                panic!("{options:?} is not an error")
            };
            assert!(reason.contains(part), "{reason}");
        }
        let drawn = DecodingOptions { beam_size: 1, sampling_topk: 0, num_hypotheses: 9, ..fine };
        assert_eq!(drawn.validate(), Ok(()));
        let cold = DecodingOptions { sampling_temperature: 0.0, ..drawn };
        assert!(!cold.is_sampling());
    }
}
