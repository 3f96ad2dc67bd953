//! What a phrase brings to each feature, unweighted, for output.
//!
//! The search needs weighted sums alone, so options do not carry these. A row is
//! made again from the table's record when an option is printed; the rows of all
//! options of a source phrase are made together and kept in a memo like the
//! options themselves, because records of frequent words are long.

use std::sync::OnceLock;

use miriam_text::WordId;

use super::memo::{Key, Measured, Memo};
use super::{OptionId, Preparer, SentenceOptions};
use crate::Result;
use crate::features::Span;
use crate::sentence::Sentence;
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
        let start = rows.len();
        let table = options.origin(option).table;
        let slot = table.and_then(|table| {
            system.slots.iter().position(|&slot| slot == Slot::Table(table as usize))
        });
        let source = &sentence.ids()[span.start as usize..span.end as usize];
        let found = table.zip(slot).and_then(|(number, slot)| {
            let table = &system.tables[number as usize];
            let ids: Vec<u32> = source.iter().map(|&word| table.source_id(word)).collect();
            let record = table.phrases.find(&ids)?;
            Some((table, slot, Key { table: number, record }))
        });
        let Some((table, slot, key)) = found else {
            // No table: neither scores nor reordering.
            rows.resize(start + width, 0.0);
            preparer.inner_scores(place, option, &mut rows[start + system.components.inner..]);
            return Ok(());
        };
        let memo = self.memo.get_or_init(Memo::new);
        let first = options.range(span, slot).first;
        let mut push = |all: &Rows| {
            let row = (option.0 - first) as usize * width;
            rows.extend_from_slice(&all.0[row..row + width]);
        };
        match memo.get(key) {
            Some(all) => push(all),
            None => {
                let made = preparer.phrase_values(place, table, key, source, slot)?;
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
    /// The rows of all options that a table has for the span of `place`.
    fn phrase_values(
        &mut self,
        place: PhrasePlace<'_>,
        table: &Table,
        key: Key,
        source: &[WordId],
        slot: usize,
    ) -> Result<Vec<f32>> {
        let PhrasePlace { system, options, span, .. } = place;
        let components = &system.components;
        let width = components.phrase_width;
        let range = options.range(span, slot);
        let option = |i: usize| OptionId(range.first + i as u32);
        let mut rows = vec![0f32; range.count as usize * width];
        let made;
        let list = match system.memo.get(key) {
            Some(list) => list,
            None => {
                made = self.prepare(system, table, key.record, source)?;
                &made
            }
        };
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
        let mut first = components.reordering;
        for model in &system.reordering {
            if let Some(own) = &model.own_table {
                let words = |i: usize| options.words(option(i));
                let targets = &mut self.reordering_targets;
                own.attach(source, targets, range.count as usize, words, |scores, i| {
                    model.copy(scores, &mut rows[i * width + first..]);
                })?;
            }
            first += model.cells.len();
        }
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            self.inner_scores(place, option(i), &mut row[components.inner..]);
        }
        Ok(rows)
    }

    /// What each language model adds to the total of an option before its context
    /// is known, as natural logarithms: the scores of the words that stand too far
    /// inside to depend on it.
    fn inner_scores(&mut self, place: PhrasePlace<'_>, option: OptionId, inner: &mut [f32]) {
        let PhrasePlace { system, sentence, options, .. } = place;
        let words = options.words(option);
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
