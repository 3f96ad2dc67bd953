//! Unweighted scores of options, for n-best lists: a row of numbers for each option.
//!
//! The search needs weighted sums only, so options do not store their row. It is computed again
//! from the record in the phrase table when an option is printed. The rows of all options of a
//! source phrase are computed together and cached, because records of frequent words are long.

use miriam_textio::WordId;

use super::OptionBuilder;
use crate::Result;
use crate::features::{OptionRows, TableSlot, Weighting};
use crate::models::PhraseTable;
use crate::sentence::{Sentence, SourceSpan};
use crate::span::Span;
use crate::system::System;
use crate::translation_options::{OptionId, OptionRange, PhraseKey, SentenceOptions, ValueRows};

/// An option of a sentence, with the data from which its row is computed.
#[derive(Clone, Copy)]
pub(crate) struct OptionRef<'a> {
    pub(crate) system: &'a System,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) option: OptionId,
    /// The source positions of the option.
    pub(crate) span: Span,
}

/// Appends the row of an option to `rows`. Its columns are laid out as in
/// [`FeatureSet::row_layout`](crate::features::FeatureSet).
///
/// # Errors
///
/// Fails if a table is damaged.
pub(crate) fn push_phrase_row(
    option: OptionRef<'_>,
    builder: &mut OptionBuilder,
    rows: &mut Vec<f32>,
) -> Result<()> {
    let OptionRef { system, sentence, options, option: id, span } = option;
    let width = system.plan.features.row_layout.width;
    let source = sentence.source_span(span);
    let Some((table, range, key)) = find_record(option) else {
        let start = rows.len();
        rows.resize(start + width, 0.0);
        return builder.write_row_without_table(option, &mut rows[start..]);
    };
    let first = options.index_in_list(id, range) * width;
    let columns = first..first + width;
    if !table.caches_options {
        let new_rows = builder.compute_rows(system, key, source)?;
        rows.extend_from_slice(&new_rows[columns]);
        return Ok(());
    }
    let cache = system.plan.phrase_values.rows();
    if let Some(cached) = cache.get(key) {
        rows.extend_from_slice(&cached.0[columns]);
        return Ok(());
    }
    let new_rows = builder.compute_rows(system, key, source)?;
    match cache.insert(key, Box::new(ValueRows(new_rows))) {
        Ok(cached) => rows.extend_from_slice(&cached.0[columns]),
        Err(uncached) => rows.extend_from_slice(&uncached.0[columns]),
    }
    Ok(())
}

/// Finds the record of a phrase table from which an option was made. Returns its table, the options
/// that were made from it, and its key; `None` if the option came with the sentence or is a copied
/// word.
fn find_record(option: OptionRef<'_>) -> Option<(&PhraseTable, OptionRange, PhraseKey)> {
    let OptionRef { system, sentence, options, option: id, span } = option;
    let table_number = options.origin(id).table?;
    let table = &system.models.phrase_tables[table_number as usize];
    let slots = &system.plan.features.slots;
    let slot = slots.iter().position(|&slot| slot == TableSlot::Table(table_number as usize))?;
    let mut ids = Vec::new();
    sentence.source_span(span).push_table_ids(table, &system.models, &mut ids);
    let record = table.phrases.find(&ids)?;
    Some((table, options.range(span, slot), PhraseKey { table: table_number, record }))
}

impl OptionBuilder {
    /// Returns the rows of all options of the source phrase `source`, whose record is `key`.
    fn compute_rows(
        &mut self,
        system: &System,
        key: PhraseKey,
        source: SourceSpan<'_>,
    ) -> Result<Vec<f32>> {
        let features = &system.plan.features;
        let layout = features.row_layout;
        let table = &system.models.phrase_tables[key.table as usize];
        let built_list;
        let list = match system.plan.option_cache.get(key) {
            Some(list) => list,
            None => {
                built_list = self.build(system, key.table as usize, key.record, source, None)?;
                &built_list
            }
        };
        let count = list.scores.len();
        let mut rows = vec![0f32; count * layout.width];
        table.phrases.read_targets(key.record, &mut self.targets)?;
        for (row, &target) in rows.chunks_exact_mut(layout.width).zip(&list.target_indices) {
            let target = target as usize;
            let scores = self.targets.scores(target);
            row[..scores.len()].copy_from_slice(scores);
            let reordering = &mut row[layout.reordering_offset..];
            let weighting = Weighting::Unweighted;
            features.write_default_reordering(weighting, reordering);
            features.write_record_reordering(table, &self.targets, target, weighting, reordering);
        }
        self.write_reordering_values(system, source, count, |i| list.words_of(i), &mut rows)?;
        for (i, row) in rows.chunks_exact_mut(layout.width).enumerate() {
            let inner = &mut row[layout.inner_lm_offset..];
            self.write_inner_lm_scores(system, source.sentence, list.words_of(i), inner);
        }
        Ok(rows)
    }

    /// Writes the row of an option that is in no table: one from the input, or a copied word.
    fn write_row_without_table(&mut self, option: OptionRef<'_>, row: &mut [f32]) -> Result<()> {
        let OptionRef { system, sentence, options, option: id, span } = option;
        let words = options.words(id);
        let features = &system.plan.features;
        let reordering = &mut row[features.row_layout.reordering_offset..];
        features.write_default_reordering(Weighting::Unweighted, reordering);
        self.write_reordering_values(system, sentence.source_span(span), 1, |_| words, row)?;
        let inner = &mut row[system.plan.features.row_layout.inner_lm_offset..];
        self.write_inner_lm_scores(system, sentence, words, inner);
        Ok(())
    }

    /// Writes the scores of reordering models that have tables of their own to the rows of
    /// `num_options` options of `source`. `words(i)` returns the target words of option i.
    fn write_reordering_values<'w>(
        &mut self,
        system: &System,
        source: SourceSpan<'_>,
        num_options: usize,
        words: impl Fn(usize) -> &'w [WordId],
        rows: &mut [f32],
    ) -> Result<()> {
        let features = &system.plan.features;
        let layout = features.row_layout;
        if num_options == 0 {
            return Ok(());
        }
        let columns = &mut rows[layout.reordering_offset..];
        let option_rows = OptionRows { count: num_options, stride: layout.width, columns };
        let targets = &mut self.reordering_targets;
        let weighting = Weighting::Unweighted;
        features.write_table_reordering(
            &system.models,
            source,
            words,
            weighting,
            targets,
            option_rows,
        )
    }

    /// Writes for each language model the sum of the natural-log scores of those words whose whole
    /// context lies within the phrase.
    fn write_inner_lm_scores(
        &mut self,
        system: &System,
        sentence: &Sentence,
        words: &[WordId],
        inner: &mut [f32],
    ) {
        for (lm, model) in system.models.language_models.iter().enumerate() {
            // No word of a phrase this short has its whole context in the phrase.
            if words.len() < model.model.order() {
                continue;
            }
            let (lm_words, phrase) =
                (&mut self.scoring.lm_words, &mut self.scoring.isolated_phrase);
            lm_words.clear();
            lm_words.extend(words.iter().map(|&w| sentence.lm_word(w, lm, &system.models)));
            phrase.score(&*model.model, model.begin_sentence, lm_words);
            inner[lm] = phrase.inner_and_full_score(&*model.model, lm_words).0;
        }
    }
}
