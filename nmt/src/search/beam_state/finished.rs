//! Ranked translations of finished hypotheses.

use super::BeamState;
use crate::search::{PrefixRole, SearchOptions, Translation};

/// A hypothesis that has ended or was cut at the maximum length.
#[derive(Clone, Copy, Debug)]
pub(super) struct FinishedHypothesis {
    pub node: u32,
    pub total: f32,
    pub lm_log_probability: f32,
    pub length: usize,
    /// Whether its last token has ended it: `</s>`, or one of the end tokens of the options.
    pub has_eos: bool,
}

impl BeamState {
    /// Returns the translations, best first.
    pub fn translations(&self, options: &SearchOptions) -> Vec<Translation> {
        let mut scored: Vec<(f32, FinishedHypothesis)> = self
            .finished
            .iter()
            .map(|ended| (nan_to_neg_infinity(self.final_score(options, ended)), *ended))
            .collect();
        // The sort is stable: among equal scores the first to end comes first.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(options.n_best.max(1));
        scored.iter().map(|(score, ended)| self.build_translation(options, *score, ended)).collect()
    }

    /// Returns the score by which translations are ranked. Length and coverage include the token
    /// that has ended the hypothesis, if there is one.
    fn final_score(&self, options: &SearchOptions, ended: &FinishedHypothesis) -> f32 {
        let length = (ended.length - self.context_length(options)) as f32;
        let mut score = ended.total - options.word_penalty * length;
        score /= length.powf(options.length_penalty);
        if options.coverage_penalty != 0.0 {
            let context = self.context_length(options);
            score += options.coverage_penalty * self.coverage_score(ended.node, context);
        }
        score
    }

    /// Returns the number of tokens that do not count for scores.
    fn context_length(&self, options: &SearchOptions) -> usize {
        if options.prefix_role == PrefixRole::Context { self.prefix.len() } else { 0 }
    }

    /// Returns the sum of ln(min(coverage, 1)) over the source tokens whose coverage is above 0.
    /// The coverage of a source token is the sum of the attention to it from the target tokens
    /// after the first `context` ones.
    fn coverage_score(&self, node: u32, context: usize) -> f32 {
        let rows = self.tree.alignment(node);
        let coverages = (0..self.source_length)
            .map(|at| rows[context..].iter().map(|row| row[at]).sum::<f32>());
        let covered = coverages.filter(|coverage| *coverage > 0.0);
        covered.map(|coverage| coverage.min(1.0).ln()).sum()
    }

    fn build_translation(
        &self,
        options: &SearchOptions,
        score: f32,
        ended: &FinishedHypothesis,
    ) -> Translation {
        let mut words = Vec::new();
        self.tree.collect_tokens(ended.node, &mut words);
        let end_token = words.last().copied().filter(|_| ended.has_eos);
        words.truncate(ended.length - usize::from(ended.has_eos));
        let alignment =
            if options.return_alignments { self.tree.alignment(ended.node) } else { Vec::new() };
        let word_scores = self.tree.scores(ended.node);
        // The total of a search with a language model includes that model's scores.
        let (log_probability, lm_log_probability) = match options.fusion {
            None => (ended.total, None),
            Some(_) => (word_scores.iter().sum(), Some(ended.lm_log_probability)),
        };
        Translation {
            tokens: words,
            token_scores: word_scores,
            log_probability,
            lm_log_probability,
            score,
            alignment,
            end_token,
        }
    }
}

/// Maps NaN to the lowest score.
fn nan_to_neg_infinity(score: f32) -> f32 {
    if score.is_nan() { f32::NEG_INFINITY } else { score }
}
