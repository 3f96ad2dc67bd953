//! Reordering scores of a system: what of a table's columns an option's row holds,
//! with which weights, and tables of their own, joined to the vocabulary.
//!
//! Scores are weighted once, when options are prepared; the search only adds.

use miriam_probingpt::Targets;
use miriam_textio::WordId;

use crate::Result;
use crate::sentence::{Sentence, SourceSpan};
use crate::system::{PhraseTable, System, UNKNOWN_ID};

/// A reordering model.
pub(crate) struct ReorderingModel {
    /// For each cell of an option's row the column of the table and the weight.
    pub(crate) columns: Vec<(usize, f32)>,
    /// Where its scores start in the records of the phrase tables.
    pub(crate) phrase_table_offset: Option<usize>,
    /// Its own table.
    pub(crate) own_table: Option<ReorderingTable>,
}

impl ReorderingModel {
    /// Writes the scores of each cell into `row`, unweighted.
    pub(crate) fn copy_scores(&self, scores: &[f32], row: &mut [f32]) {
        for (cell, &(column, _)) in row.iter_mut().zip(&self.columns) {
            *cell = scores[column];
        }
    }

    /// Writes weighted scores into `row`.
    pub(crate) fn write_weighted(&self, scores: &[f32], row: &mut [f32]) {
        for (cell, &(column, weight)) in row.iter_mut().zip(&self.columns) {
            *cell = scores[column] * weight;
        }
    }
}

/// Reordering scores in a table of their own, joined to the vocabulary.
pub(crate) struct ReorderingTable {
    pub(crate) table: PhraseTable,
    /// What words come down to that its target words have; nothing where words are
    /// surfaces.
    pub(crate) projection: Option<FactorProjection>,
}

/// Words with some of their factors alone.
pub(crate) struct FactorProjection {
    /// Those of the vocabulary.
    pub(crate) projected: Vec<WordId>,
    /// Which factors are left.
    pub(crate) factors: Vec<usize>,
}

impl FactorProjection {
    /// The word of `sentence` or the vocabulary reduced; no word at all where no
    /// table has it.
    fn project_word(&self, word: WordId, sentence: &Sentence, system: &System) -> WordId {
        if let Some(&reduced) = self.projected.get(word.index()) {
            return reduced;
        }
        let Some(scheme) = &system.factor_scheme else { return word };
        let mut reduced = Vec::new();
        scheme.retain_factors(sentence.word(word, system), &self.factors, &mut reduced);
        system.vocabulary.find(&reduced).unwrap_or(WordId(UNKNOWN_ID))
    }
}

impl ReorderingTable {
    /// Calls `give` with the scores of each of `options` options, the words of
    /// which `words` tells, that stands in the table with the source `source`.
    pub(crate) fn for_each_match<'w>(
        &self,
        source: SourceSpan<'_>,
        system: &System,
        targets: &mut Targets,
        options: usize,
        words: impl Fn(usize) -> &'w [WordId],
        mut give: impl FnMut(&[f32], usize),
    ) -> Result<()> {
        let mut ids = Vec::new();
        source.push_table_ids(&self.table, system, &mut ids);
        let Some(record) = self.table.phrases.find(&ids) else { return Ok(()) };
        self.table.phrases.read_targets(record, targets)?;
        for option in 0..options {
            let words = words(option);
            let reduced: Vec<WordId>;
            let words = match &self.projection {
                None => words,
                Some(reduction) => {
                    let reduce = |&w: &WordId| reduction.project_word(w, source.sentence, system);
                    reduced = words.iter().map(reduce).collect();
                    &reduced
                }
            };
            let same = |i: &usize| {
                let candidate = targets.words(*i);
                candidate.len() == words.len()
                    && candidate
                        .iter()
                        .zip(words)
                        .all(|(&c, &w)| self.table.target_words[c as usize] == w)
            };
            // Of a pair that stands there twice the last counts, as in Moses.
            if let Some(i) = (0..targets.len()).rev().find(same)
                && let Some(scores) = self.table.phrases.reordering_scores(targets, i)
            {
                give(scores, option);
            }
        }
        Ok(())
    }
}
