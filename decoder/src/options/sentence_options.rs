//! The options of one sentence, side by side.

use miriam_lmcpu::{LmWord, State};
use miriam_probingpt::SpanLookup;
use miriam_text::WordId;

use super::language_model_part::{LmPart, read_state};
use super::memo::Key;
use super::own_options::TableRule;
use super::prepare::{OwnPhrase, Preparer};
use super::{OptionList, OptionScores};
use crate::Result;
use crate::features::Span;
use crate::input_line::Beside;
use crate::search::LanguageModelScores;
use crate::sentence::Sentence;
use crate::system::{Slot, System};

/// The name of an option within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionId(pub(crate) u32);

/// Where an option comes from, for output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The table; nothing for what the sentence itself brings.
    pub(crate) table: Option<u32>,
    /// Its alignment there, or among those of the sentence; `u32::MAX` for a
    /// word that is copied.
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
    /// Alignments of phrases that the sentence brings.
    pub(super) own_alignments: Vec<Vec<(u16, u16)>>,
    /// By start, then length, then slot.
    ranges: Vec<OptionRange>,
    slots: usize,
    longest: usize,
    reordering_width: usize,
    models: usize,
    /// Scratch.
    pub(super) preparer: Preparer,
    lookup: SpanLookup,
    table_ids: Vec<u32>,
}

impl SentenceOptions {
    /// Collects the options of every span of `sentence` (3.3).
    pub(crate) fn collect(
        &mut self,
        system: &System,
        sentence: &mut Sentence,
        beside: &Beside,
        lms: &mut [LanguageModelScores],
    ) -> Result<()> {
        self.clear(system, sentence.len(), beside.annotations.longest());
        let rule = TableRule::new(system, sentence, beside);
        for (slot, kind) in system.slots.iter().enumerate() {
            match *kind {
                Slot::Table(table) => {
                    self.collect_table(system, slot, table, sentence, &rule, lms)?;
                }
                Slot::SentenceTable(table) => {
                    self.collect_sentence_table(system, slot, table, sentence, beside, lms)?;
                }
                Slot::Unknown if beside.annotations.options.is_empty() => {}
                Slot::Unknown => self.collect_forced(system, slot, sentence, beside, lms)?,
            }
        }
        if let Some(slot) = system.slots.iter().position(|s| matches!(s, Slot::Unknown)) {
            for position in 0..sentence.len() {
                let span = Span { start: position as u32, end: position as u32 + 1 };
                let free = rule.allows_unknown(span);
                if free && (0..self.slots).all(|slot| self.range(span, slot).count == 0) {
                    let list = self.unknown_word(system, sentence, span)?;
                    self.append(&list, system, slot, span, None, lms);
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self, system: &System, length: usize, longest_forced: usize) {
        self.scores.clear();
        self.words.clear();
        self.reordering.clear();
        self.lm_parts.clear();
        self.lm_pool.clear();
        self.origins.clear();
        self.own_alignments.clear();
        self.slots = system.slots.len();
        self.longest = system.settings.max_phrase_length.max(longest_forced).min(length);
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
        rule: &TableRule<'_>,
        lms: &mut [LanguageModelScores],
    ) -> Result<()> {
        let table = &system.tables[number];
        let whole = Span { start: 0, end: sentence.len() as u32 };
        self.table_ids.clear();
        sentence.stretch(whole).table_ids(table, system, &mut self.table_ids);
        let mut lookup = std::mem::take(&mut self.lookup);
        let longest = system.settings.max_phrase_length;
        table.phrases.lookup_spans(&self.table_ids, longest, &mut lookup);
        for hit in lookup.hits() {
            let span = Span { start: hit.start, end: hit.end };
            if !rule.allows_tables(span) {
                continue;
            }
            let key = Key { table: number as u32, record: hit.record };
            let made;
            let kept = if table.keeps_options { system.memo.get(key) } else { None };
            let list = match kept {
                Some(list) => list,
                None => {
                    let source = sentence.stretch(span);
                    let list = Box::new(self.preparer.prepare(system, table, hit.record, source)?);
                    let kept = match table.keeps_options {
                        true => system.memo.keep(key, list),
                        false => Err(list),
                    };
                    match kept {
                        Ok(list) => list,
                        Err(list) => {
                            made = list;
                            &made
                        }
                    }
                }
            };
            match rule.filter(span, list) {
                None => self.append(list, system, slot, span, Some(number as u32), lms),
                Some(list) => self.append(&list, system, slot, span, Some(number as u32), lms),
            }
        }
        self.lookup = lookup;
        Ok(())
    }

    /// An option that copies an unknown word, marks it, or leaves it out.
    fn unknown_word(
        &mut self,
        system: &System,
        sentence: &mut Sentence,
        span: Span,
    ) -> Result<OptionList> {
        let word = sentence.ids()[span.start as usize];
        let target = match (&system.settings.mark_unknown, system.settings.drop_unknown) {
            (_, true) => None,
            (None, false) => Some(word),
            (Some((prefix, suffix)), false) => {
                let bytes = sentence.word(word, system);
                let (prefix, suffix) = (prefix.as_bytes(), suffix.as_bytes());
                let marked = match &system.factors {
                    None => [prefix, bytes, suffix].concat(),
                    Some(scheme) => scheme.mark(bytes, prefix, suffix),
                };
                Some(sentence.intern(&marked, system))
            }
        };
        let phrase = OwnPhrase {
            total: 0f32 + -100f32 * system.unknown_weight,
            words: target.into_iter().collect(),
            alignment: u32::MAX,
        };
        self.preparer.own(system, sentence.stretch(span), &[phrase], None)
    }

    /// Copies `list` behind the options there are, as those of `span`.
    pub(super) fn append(
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
