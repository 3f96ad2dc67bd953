//! What a phrase brings to each feature, unweighted, for output.
//!
//! The search needs weighted sums alone, so options do not carry these. A row is
//! made again from the table's record when an option is printed; the rows of all
//! options of a source phrase are made together and kept in a memo like the
//! options themselves, because records of frequent words are long.

use std::sync::OnceLock;

use miriam_textio::WordId;

use super::memo::{Key, Measured, Memo};
use super::{OptionId, Preparer, SentenceOptions};
use crate::Result;
use crate::features::Span;
use crate::sentence::{Sentence, Stretch};
use crate::system::{Slot, System, Table};

/// Rows by source phrase, made when they are first asked for.
#[derive(Default)]
pub(crate) struct PhraseValues {
    memo: OnceLock<Memo<Rows>>,
}

/// The rows of a source phrase's options, in their order.
struct Rows(Vec<f32>);

impl Measured for Rows {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<f32>()
    }
}

/// An option of a sentence.
#[derive(Clone, Copy)]
pub(crate) struct PhrasePlace<'a> {
    pub(crate) system: &'a System,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) option: OptionId,
    /// The source positions of the option.
    pub(crate) span: Span,
}

impl PhraseValues {
    /// Appends the row of an option, as [`Components`](crate::components::Components)
    /// lays it out, to `rows`.
    pub(crate) fn push(
        &self,
        place: PhrasePlace<'_>,
        preparer: &mut Preparer,
        rows: &mut Vec<f32>,
    ) -> Result<()> {
        let PhrasePlace { system, sentence, options, option, span } = place;
        let width = system.components.phrase_width;
        let source = sentence.stretch(span);
        let found = options.origin(option).table.and_then(|number| {
            let table = &system.tables[number as usize];
            let slot = system.slots.iter().position(|&s| s == Slot::Table(number as usize))?;
            let mut ids = Vec::new();
            source.table_ids(table, system, &mut ids);
            let record = table.phrases.find(&ids)?;
            Some((table, options.range(span, slot), Key { table: number, record }))
        });
        let Some((table, range, key)) = found else {
            let start = rows.len();
            rows.resize(start + width, 0.0);
            return preparer.own_values(place, &mut rows[start..]);
        };
        let first = options.place_in_list(option, range) * width;
        let mut push = |all: &Rows| rows.extend_from_slice(&all.0[first..first + width]);
        if !table.keeps_options {
            push(&Rows(preparer.phrase_values(system, table, key, source)?));
            return Ok(());
        }
        let memo = self.memo.get_or_init(Memo::new);
        match memo.get(key) {
            Some(all) => push(all),
            None => {
                let made = preparer.phrase_values(system, table, key, source)?;
                match memo.keep(key, Box::new(Rows(made))) {
                    Ok(all) => push(all),
                    Err(all) => push(&all),
                }
            }
        }
        Ok(())
    }
}

impl Preparer {
    /// The rows of all options that `table` has for `source`, which is `key`.
    fn phrase_values(
        &mut self,
        system: &System,
        table: &Table,
        key: Key,
        source: Stretch<'_>,
    ) -> Result<Vec<f32>> {
        let components = &system.components;
        let width = components.phrase_width;
        let made;
        let list = match system.memo.get(key) {
            Some(list) => list,
            None => {
                made = self.prepare(system, table, key.record, source, None)?;
                &made
            }
        };
        let count = list.scores.len();
        let mut rows = vec![0f32; count * width];
        table.phrases.targets(key.record, &mut self.targets)?;
        for (row, &target) in rows.chunks_exact_mut(width).zip(&list.targets) {
            let target = target as usize;
            let scores = self.targets.scores(target);
            row[..scores.len()].copy_from_slice(scores);
            let mut first = components.reordering;
            for model in &system.reordering {
                if let Some(offset) = model.in_phrase_table
                    && let Some(scores) = table.phrases.reordering_scores(&self.targets, target)
                {
                    model.copy(&scores[offset..], &mut row[first..]);
                }
                first += model.cells.len();
            }
        }
        self.reordering_values(system, source, count, |i| list.words_of(i), &mut rows)?;
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            let inner = &mut row[components.inner..];
            self.inner_scores(system, source.sentence, list.words_of(i), inner);
        }
        Ok(rows)
    }

    /// The row of an option that came with the sentence, or a copied word: no table,
    /// so neither its scores nor reordering scores in it.
    fn own_values(&mut self, place: PhrasePlace<'_>, row: &mut [f32]) -> Result<()> {
        let PhrasePlace { system, sentence, options, option, span } = place;
        let words = options.words(option);
        self.reordering_values(system, sentence.stretch(span), 1, |_| words, row)?;
        self.inner_scores(system, sentence, words, &mut row[system.components.inner..]);
        Ok(())
    }

    /// The scores of reordering models that have tables of their own, into the rows
    /// of `options` options of `source`, the words of which `words` tells.
    fn reordering_values<'w>(
        &mut self,
        system: &System,
        source: Stretch<'_>,
        options: usize,
        words: impl Fn(usize) -> &'w [WordId],
        rows: &mut [f32],
    ) -> Result<()> {
        let components = &system.components;
        let mut first = components.reordering;
        for model in &system.reordering {
            if let Some(own) = &model.own_table {
                let targets = &mut self.reordering_targets;
                own.attach(source, system, targets, options, &words, |scores, i| {
                    model.copy(scores, &mut rows[i * components.phrase_width + first..]);
                })?;
            }
            first += model.cells.len();
        }
        Ok(())
    }

    /// What each language model adds to the total of an option before its context
    /// is known, as natural logarithms: the scores of the words that stand too far
    /// inside to depend on it.
    fn inner_scores(
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
            self.isolated.run(&*model.model, model.begin, &self.lm_words);
            inner[lm] = self.isolated.sums(&*model.model, &self.lm_words).0;
        }
    }
}
