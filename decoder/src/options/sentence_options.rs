//! The options of one sentence, side by side.

use miriam_lmcpu::{LmWord, State};
use miriam_probingpt::SpanLookup;
use miriam_text::WordId;

use super::language_model_part::{LmPart, read_state};
use super::memo::Key;
use super::prepare::Preparer;
use super::{OptionList, OptionScores};
use crate::Result;
use crate::features::Span;
use crate::search::LanguageModelScores;
use crate::sentence::Sentence;
use crate::system::{Slot, System};

/// The name of an option within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionId(pub(crate) u32);

/// Where an option comes from, for output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The table; nothing for an unknown word.
    pub(crate) table: Option<u32>,
    /// Its alignment there.
    pub(crate) alignment: u32,
}

/// The options of a span from one table: consecutive, best first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OptionRange {
    /// The first option.
    pub(crate) first: u32,
    /// How many there are.
    pub(crate) count: u32,
}

/// All options of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct SentenceOptions {
    scores: Vec<OptionScores>,
    words: Vec<WordId>,
    reordering: Vec<f32>,
    lm_parts: Vec<LmPart>,
    lm_pool: Vec<u32>,
    origins: Vec<Origin>,
    /// By start, then length, then slot.
    ranges: Vec<OptionRange>,
    slots: usize,
    longest: usize,
    reordering_width: usize,
    models: usize,
    /// Scratch.
    preparer: Preparer,
    lookup: SpanLookup,
    table_ids: Vec<u32>,
}

impl SentenceOptions {
    /// Collects the options of every span of `sentence` (3.3).
    pub(crate) fn collect(
        &mut self,
        system: &System,
        sentence: &mut Sentence,
        lms: &mut [LanguageModelScores],
    ) -> Result<()> {
        self.clear(system, sentence.len());
        for (slot, kind) in system.slots.iter().enumerate() {
            if let Slot::Table(table) = *kind {
                self.collect_table(system, slot, table, sentence, lms)?;
            }
        }
        if let Some(slot) = system.slots.iter().position(|s| matches!(s, Slot::Unknown)) {
            for position in 0..sentence.len() {
                let span = Span { start: position as u32, end: position as u32 + 1 };
                if (0..self.slots).all(|slot| self.range(span, slot).count == 0) {
                    let list = self.unknown_word(system, sentence, position);
                    self.append(&list, system, slot, span, None, lms);
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self, system: &System, length: usize) {
        self.scores.clear();
        self.words.clear();
        self.reordering.clear();
        self.lm_parts.clear();
        self.lm_pool.clear();
        self.origins.clear();
        self.slots = system.slots.len();
        self.longest = system.settings.max_phrase_length.min(length);
        self.reordering_width = system.reordering_width;
        self.models = system.language_models.len();
        self.ranges.clear();
        self.ranges.resize(length * self.longest * self.slots, OptionRange::default());
    }

    fn collect_table(
        &mut self,
        system: &System,
        slot: usize,
        number: usize,
        sentence: &Sentence,
        lms: &mut [LanguageModelScores],
    ) -> Result<()> {
        let table = &system.tables[number];
        self.table_ids.clear();
        self.table_ids.extend(sentence.ids().iter().map(|&word| table.source_id(word)));
        let mut lookup = std::mem::take(&mut self.lookup);
        table.phrases.lookup_spans(&self.table_ids, self.longest, &mut lookup);
        for hit in lookup.hits() {
            let span = Span { start: hit.start, end: hit.end };
            let key = Key { table: number as u32, record: hit.record };
            let made;
            let list = match system.memo.get(key) {
                Some(list) => list,
                None => {
                    let source = &sentence.ids()[hit.start as usize..hit.end as usize];
                    let list = Box::new(self.preparer.prepare(system, table, hit.record, source)?);
                    match system.memo.keep(key, list) {
                        Ok(list) => list,
                        Err(list) => {
                            made = list;
                            &made
                        }
                    }
                }
            };
            self.append(list, system, slot, span, Some(number as u32), lms);
        }
        self.lookup = lookup;
        Ok(())
    }

    /// An option that copies an unknown word, marks it, or leaves it out.
    fn unknown_word(
        &mut self,
        system: &System,
        sentence: &mut Sentence,
        position: usize,
    ) -> OptionList {
        let word = sentence.ids()[position];
        let target = match (&system.settings.mark_unknown, system.settings.drop_unknown) {
            (_, true) => None,
            (None, false) => Some(word),
            (Some((prefix, suffix)), false) => {
                let bytes = sentence.word(word, system);
                let marked = [prefix.as_bytes(), bytes, suffix.as_bytes()].concat();
                Some(match system.vocabulary.find(&marked) {
                    Some(known) => known,
                    None => sentence.local_word(&marked, system),
                })
            }
        };
        let sentence = &*sentence;
        self.preparer.unknown(system, sentence.word(word, system), target.as_slice(), |lm, word| {
            sentence.lm_word(word, lm, system)
        })
    }

    /// Copies `list` behind the options there are, as those of `span`.
    fn append(
        &mut self,
        list: &OptionList,
        system: &System,
        slot: usize,
        span: Span,
        table: Option<u32>,
        lms: &mut [LanguageModelScores],
    ) {
        let range = self.place(span, slot);
        let (first_word, first_pool) = (self.words.len() as u32, self.lm_pool.len() as u32);
        self.ranges[range] =
            OptionRange { first: self.scores.len() as u32, count: list.scores.len() as u32 };
        let moved = |s: &OptionScores| OptionScores { words: s.words + first_word, ..*s };
        self.scores.extend(list.scores.iter().map(moved));
        self.words.extend_from_slice(&list.words);
        self.reordering.extend_from_slice(&list.reordering);
        self.lm_pool.extend_from_slice(&list.lm_pool);
        self.origins.extend(list.alignments.iter().map(|&alignment| Origin { table, alignment }));
        let models = system.language_models.len().max(1);
        let mut state = State::EMPTY;
        for (i, part) in list.lm_parts.iter().enumerate() {
            let mut part = *part;
            if part.closed {
                read_state(&part, &list.lm_pool, &mut state);
                part.state = lms[i % models].intern(&state);
            }
            part.pool += first_pool;
            self.lm_parts.push(part);
        }
    }

    fn place(&self, span: Span, slot: usize) -> usize {
        let length = (span.end - span.start) as usize;
        (span.start as usize * self.longest + length - 1) * self.slots + slot
    }

    /// The longest span that can have options.
    #[inline]
    pub(crate) fn longest(&self) -> u32 {
        self.longest as u32
    }

    /// How many tables have options side by side for a span.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// The options of `span` in `slot`.
    #[inline]
    pub(crate) fn range(&self, span: Span, slot: usize) -> OptionRange {
        self.ranges[self.place(span, slot)]
    }

    /// The best estimated score of any option of a span, or minus infinity.
    pub(crate) fn best(&self, start: usize, length: usize) -> f32 {
        let span = Span { start: start as u32, end: (start + length) as u32 };
        let mut best = f32::NEG_INFINITY;
        for slot in 0..self.slots {
            let range = self.range(span, slot);
            // Options are sorted, so the first of a table is its best.
            if range.count > 0 {
                best = best.max(self.scores[range.first as usize].future);
            }
        }
        best
    }

    /// Total and place of the words of an option.
    #[inline(always)]
    pub(crate) fn scores(&self, option: OptionId) -> OptionScores {
        self.scores[option.0 as usize]
    }

    /// The target words of an option.
    pub(crate) fn words(&self, option: OptionId) -> &[WordId] {
        let scores = self.scores(option);
        &self.words[scores.words as usize..(scores.words + scores.len) as usize]
    }

    /// A weighted reordering score of an option; columns of all models stand one
    /// after another.
    #[inline(always)]
    pub(crate) fn reordering(&self, option: OptionId, column: usize) -> f32 {
        self.reordering[option.0 as usize * self.reordering_width + column]
    }

    /// What language model `lm` makes of an option.
    #[inline(always)]
    pub(crate) fn lm_part(&self, option: OptionId, lm: usize) -> &LmPart {
        &self.lm_parts[option.0 as usize * self.models + lm]
    }

    /// The word at a place of the language models' pool.
    #[inline(always)]
    pub(crate) fn pooled_word(&self, place: u32) -> LmWord {
        LmWord(self.lm_pool[place as usize])
    }

    /// The constant scores of a part, as bits.
    #[inline(always)]
    pub(crate) fn constants(&self, part: &LmPart) -> &[u32] {
        let start = part.pool as usize + usize::from(part.dependent);
        &self.lm_pool[start..start + usize::from(part.constants)]
    }

    /// Where an option comes from.
    pub(crate) fn origin(&self, option: OptionId) -> Origin {
        self.origins[option.0 as usize]
    }
}
