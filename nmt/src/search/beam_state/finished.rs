//! Ranked translations of finished hypotheses.

use super::BeamState;
use crate::search::{EarlyStopping, PrefixRole, SearchOptions, Translation};

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
        let mut scored: Vec<(f32, FinishedHypothesis)> =
            self.finished.iter().map(|ended| (self.rank_score(options, ended), *ended)).collect();
        // The sort is stable: among equal scores the first to end comes first.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(options.n_best.max(1));
        scored.iter().map(|(score, ended)| self.build_translation(options, *score, ended)).collect()
    }

    /// With a rule of early stopping, drops all finished hypotheses but the best, as many as a
    /// search needs.
    pub(super) fn drop_worst_finished(&mut self, options: &SearchOptions) {
        let most = options.required_finished();
        if options.early_stopping_rule().is_none() || self.finished.len() <= most {
            return;
        }
        let mut finished = std::mem::take(&mut self.finished);
        finished
            .sort_by(|a, b| self.rank_score(options, b).total_cmp(&self.rank_score(options, a)));
        finished.truncate(most);
        self.finished = finished;
    }

    /// Whether the best live hypothesis could still be better than one of the finished ones, by
    /// the estimate of `rule`.
    pub(super) fn can_improve(&self, options: &SearchOptions, rule: EarlyStopping) -> bool {
        let length = match rule {
            EarlyStopping::Never if options.length_penalty > 0.0 => self.max_length,
            _ => self.step,
        };
        let length = (length - self.context_length(options)) as f32;
        let live = self.live.iter().map(|hypothesis| hypothesis.total).fold(f32::MIN, f32::max);
        let best = ranked_score(options, live, length);
        self.finished.iter().any(|ended| best > self.rank_score(options, ended))
    }

    /// Returns [`final_score`](Self::final_score), or the lowest score if that is NaN.
    fn rank_score(&self, options: &SearchOptions, ended: &FinishedHypothesis) -> f32 {
        nan_to_neg_infinity(self.final_score(options, ended))
    }

    /// Returns the score by which translations are ranked. Length and coverage include the token
    /// that has ended the hypothesis, if there is one.
    fn final_score(&self, options: &SearchOptions, ended: &FinishedHypothesis) -> f32 {
        let length = (ended.length - self.context_length(options)) as f32;
        let mut score = ranked_score(options, ended.total, length);
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

/// Returns a total with the word penalty and the length penalty for `length` tokens.
fn ranked_score(options: &SearchOptions, total: f32, length: f32) -> f32 {
    (total - options.word_penalty * length) / length.powf(options.length_penalty)
}

/// Maps NaN to the lowest score.
fn nan_to_neg_infinity(score: f32) -> f32 {
    if score.is_nan() { f32::NEG_INFINITY } else { score }
}
