//! What a phrase brings to each feature, unweighted, for output.
//!
//! The search needs weighted sums alone, so options do not carry these. A row is
//! made again from the table's record when an option is printed; the rows of all
//! options of a source phrase are made together and kept in a memo like the
//! options themselves, because records of frequent words are long.

use std::sync::OnceLock;

use miriam_textio::WordId;

use super::option_cache::{MemoryUsage, PhraseCache, PhraseKey};
use super::{OptionBuilder, OptionId, SentenceOptions};
use crate::Result;
use crate::features::Span;
use crate::sentence::{Sentence, SourceSpan};
use crate::system::{PhraseTable, System, TableSlot};

/// Rows by source phrase, made when they are first asked for.
#[derive(Default)]
pub(crate) struct PhraseValueCache {
    cache: OnceLock<PhraseCache<ValueRows>>,
}

/// The rows of a source phrase's options, in their order.
struct ValueRows(Vec<f32>);

impl MemoryUsage for ValueRows {
    fn memory_usage(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<f32>()
    }
}

/// An option of a sentence.
#[derive(Clone, Copy)]
pub(crate) struct OptionRef<'a> {
    pub(crate) system: &'a System,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) option: OptionId,
    /// The source positions of the option.
    pub(crate) span: Span,
}

impl PhraseValueCache {
    /// Appends the row of an option, as [`Components`](crate::components::Components)
    /// lays it out, to `rows`.
    pub(crate) fn push_row(
        &self,
        place: OptionRef<'_>,
        preparer: &mut OptionBuilder,
        rows: &mut Vec<f32>,
    ) -> Result<()> {
        let OptionRef { system, sentence, options, option, span } = place;
        let width = system.components.phrase_row_width;
        let source = sentence.source_span(span);
        let found = options.origin(option).table.and_then(|number| {
            let table = &system.tables[number as usize];
            let slot = system.slots.iter().position(|&s| s == TableSlot::Table(number as usize))?;
            let mut ids = Vec::new();
            source.push_table_ids(table, system, &mut ids);
            let record = table.phrases.find(&ids)?;
            Some((table, options.range(span, slot), PhraseKey { table: number, record }))
        });
        let Some((table, range, key)) = found else {
            let start = rows.len();
            rows.resize(start + width, 0.0);
            return preparer.write_input_values(place, &mut rows[start..]);
        };
        let first = options.index_in_list(option, range) * width;
        let mut push = |all: &ValueRows| rows.extend_from_slice(&all.0[first..first + width]);
        if !table.caches_options {
            push(&ValueRows(preparer.compute_rows(system, table, key, source)?));
            return Ok(());
        }
        let memo = self.cache.get_or_init(PhraseCache::new);
        match memo.get(key) {
            Some(all) => push(all),
            None => {
                let made = preparer.compute_rows(system, table, key, source)?;
                match memo.insert(key, Box::new(ValueRows(made))) {
                    Ok(all) => push(all),
                    Err(all) => push(&all),
                }
            }
        }
        Ok(())
    }
}

impl OptionBuilder {
    /// The rows of all options that `table` has for `source`, which is `key`.
    fn compute_rows(
        &mut self,
        system: &System,
        table: &PhraseTable,
        key: PhraseKey,
        source: SourceSpan<'_>,
    ) -> Result<Vec<f32>> {
        let components = &system.components;
        let width = components.phrase_row_width;
        let made;
        let list = match system.option_cache.get(key) {
            Some(list) => list,
            None => {
                made = self.build(system, table, key.record, source, None)?;
                &made
            }
        };
        let count = list.scores.len();
        let mut rows = vec![0f32; count * width];
        table.phrases.read_targets(key.record, &mut self.targets)?;
        for (row, &target) in rows.chunks_exact_mut(width).zip(&list.target_indices) {
            let target = target as usize;
            let scores = self.targets.scores(target);
            row[..scores.len()].copy_from_slice(scores);
            let mut first = components.reordering_offset;
            for model in &system.reordering_models {
                if let Some(offset) = model.phrase_table_offset
                    && let Some(scores) = table.phrases.reordering_scores(&self.targets, target)
                {
                    model.copy_scores(&scores[offset..], &mut row[first..]);
                }
                first += model.columns.len();
            }
        }
        self.write_reordering_values(system, source, count, |i| list.words_of(i), &mut rows)?;
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            let inner = &mut row[components.inner_lm_offset..];
            self.write_inner_lm_scores(system, source.sentence, list.words_of(i), inner);
        }
        Ok(rows)
    }

    /// The row of an option that came with the sentence, or a copied word: no table,
    /// so neither its scores nor reordering scores in it.
    fn write_input_values(&mut self, place: OptionRef<'_>, row: &mut [f32]) -> Result<()> {
        let OptionRef { system, sentence, options, option, span } = place;
        let words = options.words(option);
        self.write_reordering_values(system, sentence.source_span(span), 1, |_| words, row)?;
        self.write_inner_lm_scores(
            system,
            sentence,
            words,
            &mut row[system.components.inner_lm_offset..],
        );
        Ok(())
    }

    /// The scores of reordering models that have tables of their own, into the rows
    /// of `options` options of `source`, the words of which `words` tells.
    fn write_reordering_values<'w>(
        &mut self,
        system: &System,
        source: SourceSpan<'_>,
        options: usize,
        words: impl Fn(usize) -> &'w [WordId],
        rows: &mut [f32],
    ) -> Result<()> {
        let components = &system.components;
        let mut first = components.reordering_offset;
        for model in &system.reordering_models {
            if let Some(own) = &model.own_table {
                let targets = &mut self.reordering_targets;
                own.for_each_match(source, system, targets, options, &words, |scores, i| {
                    model.copy_scores(scores, &mut rows[i * components.phrase_row_width + first..]);
                })?;
            }
            first += model.columns.len();
        }
        Ok(())
    }

    /// What each language model adds to the total of an option before its context
    /// is known, as natural logarithms: the scores of the words that stand too far
    /// inside to depend on it.
    fn write_inner_lm_scores(
        &mut self,
        system: &System,
        sentence: &Sentence,
        words: &[WordId],
        inner: &mut [f32],
    ) {
        for (lm, model) in system.language_models.iter().enumerate() {
            if words.len() < model.model.order() {
                continue;
            }
            self.lm_words.clear();
            self.lm_words.extend(words.iter().map(|&w| sentence.lm_word(w, lm, system)));
            self.isolated_phrase.score(&*model.model, model.begin_sentence, &self.lm_words);
            inner[lm] = self.isolated_phrase.inner_and_full_score(&*model.model, &self.lm_words).0;
        }
    }
}
