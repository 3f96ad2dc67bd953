//! From hypotheses that have ended to translations: how they are compared, by either rule.

use super::Sentence;
use crate::search::{SearchOptions, Translation};

/// A hypothesis that has ended, or was cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub node: u32,
    pub total: f32,
    pub words: usize,
    /// Whether its last word is `</s>`.
    pub by_itself: bool,
}

impl Sentence {
    /// The translations, best first.
    pub fn translations(&self, options: &SearchOptions) -> Vec<Translation> {
        let mut scored: Vec<(f32, Ended)> =
            self.ended.iter().map(|ended| (sortable(self.score(options, ended)), *ended)).collect();
        // Of equal ones the first to end.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(options.n_best.max(1));
        scored.iter().map(|(score, ended)| self.translation(options, *score, ended)).collect()
    }

    /// What hypotheses are compared by in the end. Length and coverage have the `</s>` of
    /// those that ended by themselves.
    fn score(&self, options: &SearchOptions, ended: &Ended) -> f32 {
        let length = ended.words as f32;
        let mut score = ended.total - options.word_penalty * length;
        score /= length.powf(options.length_penalty);
        if options.coverage_penalty != 0.0 {
            score += options.coverage_penalty * self.coverage(ended.node);
        }
        score
    }

    /// The sum of ln(min(coverage, 1)) over the source.
    fn coverage(&self, node: u32) -> f32 {
        let rows = self.tree.alignment(node);
        let covered = |at: usize| rows.iter().map(|row| row[at]).sum::<f32>();
        let covered = (0..self.source).map(covered).filter(|coverage| *coverage > 0.0);
        covered.map(|coverage| coverage.min(1.0).ln()).sum()
    }

    fn translation(&self, options: &SearchOptions, score: f32, ended: &Ended) -> Translation {
        let mut words = Vec::new();
        self.tree.words(ended.node, &mut words);
        words.truncate(ended.words - usize::from(ended.by_itself));
        let alignment = match options.alignments {
            true => self.tree.alignment(ended.node),
            false => Vec::new(),
        };
        let word_scores = self.tree.scores(ended.node);
        Translation { words, word_scores, log_probability: ended.total, score, alignment }
    }
}

/// What is not a number goes last, whatever its sign.
fn sortable(score: f32) -> f32 {
    if score.is_nan() { f32::NEG_INFINITY } else { score }
}
