//! The options of one sentence, side by side.

use miriam_lmcpu::State;
use miriam_probingpt::{SpanHit, SpanLookup};
use miriam_textio::WordId;

use super::language_model_part::{LmPart, read_state};
use super::memo::Key;
use super::own_options::{OwnPart, TableRule, copied_word};
use super::prepare::{OwnPhrase, Preparer};
use super::{OptionList, OptionScores};
use crate::Result;
use crate::features::Span;
use crate::input_line::Beside;
use crate::search::LanguageModelScores;
use crate::sentence::Sentence;
use crate::system::{Lookup, Slot, System};

/// The name of an option within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionId(pub(crate) u32);

/// Where an option comes from, for output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The table; nothing for what the sentence itself brings.
    pub(crate) table: Option<u32>,
    /// Its alignment there, or the number among phrases of the sentence;
    /// [`OwnPhrase::COPIED`] for a word that is copied.
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

/// Reordering scores a [`HotOption`] has room for.
pub(crate) const HOT_COLUMNS: usize = 8;

/// What every expansion by an option reads, in one cache line; kept for systems
/// with the [usual](crate::search::Usual) features.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct HotOption {
    /// Everything that does not depend on the neighbours, weighted.
    pub(crate) total: f32,
    /// What the language model makes of it.
    pub(crate) lm_part: LmPart,
    /// Whether it has any words.
    pub(crate) has_words: bool,
    /// Weighted reordering scores.
    pub(crate) reordering: [f32; HOT_COLUMNS],
}

const _: () = assert!(size_of::<HotOption>() == 64);

/// All options of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct SentenceOptions {
    scores: Vec<OptionScores>,
    hot: Vec<HotOption>,
    words: Vec<WordId>,
    reordering: Vec<f32>,
    lm_parts: Vec<LmPart>,
    lm_pool: Vec<u32>,
    origins: Vec<Origin>,
    /// What is kept for output of phrases that the sentence brings.
    pub(super) own_parts: Vec<OwnPart>,
    /// Spans whose options are only some of their list's: the first option of each,
    /// ascending, and the places in the list.
    places: Vec<(u32, Vec<u32>)>,
    /// By start, then length, then slot.
    ranges: Vec<OptionRange>,
    /// Ends of spans with options, ascending, by start; and where those of each
    /// start begin.
    ends: Vec<u32>,
    first_ends: Vec<u32>,
    slots: usize,
    longest: usize,
    reordering_width: usize,
    models: usize,
    /// Scratch.
    pub(super) preparer: Preparer,
    /// By hit: what was asked ahead about it.
    asked: Vec<Option<u32>>,
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
        let unknown = system.slots.iter().position(|slot| *slot == Slot::Unknown);
        // Before the tables: what is forced is there for steps that ask only about
        // spans without options.
        if let Some(slot) = unknown {
            self.collect_forced(system, slot, sentence, &rule, lms)?;
        }
        for &lookup in &system.lookups {
            match system.slots[lookup.slot] {
                Slot::Table(table) => {
                    self.collect_table(system, lookup, table, sentence, &rule, lms)?;
                }
                Slot::SentenceTable(table) => {
                    self.collect_sentence_table(system, lookup, table, sentence, beside, lms)?;
                }
                // Not asked: it steps in.
                Slot::Unknown => {}
            }
        }
        if let Some(slot) = unknown {
            for position in 0..sentence.len() {
                let span = Span { start: position as u32, end: position as u32 + 1 };
                // Beside a forced translation the word has been copied already.
                let is_free = rule.allows_unknown(span) && self.range(span, slot).count == 0;
                if is_free && (system.settings.copy_known_words || !self.has_options(span)) {
                    let phrase = copied_word(system, sentence, span.start);
                    let source = sentence.stretch(span);
                    let list =
                        self.preparer.own(system, source, &[phrase], &self.own_parts, None)?;
                    self.append(&list, system, slot, span, None, lms);
                }
            }
        }
        self.list_ends(sentence.len());
        Ok(())
    }

    /// Notes which spans have options.
    fn list_ends(&mut self, length: usize) {
        self.ends.clear();
        self.first_ends.clear();
        let ranges = self.ranges.chunks_exact((self.longest * self.slots).max(1));
        for (start, spans) in ranges.take(length).enumerate() {
            self.first_ends.push(self.ends.len() as u32);
            for (i, slots) in spans.chunks_exact(self.slots).enumerate() {
                if slots.iter().any(|range| range.count > 0) {
                    self.ends.push((start + i + 1) as u32);
                }
            }
        }
        self.first_ends.push(self.ends.len() as u32);
    }

    fn clear(&mut self, system: &System, length: usize, longest_forced: usize) {
        self.scores.clear();
        self.hot.clear();
        self.words.clear();
        self.reordering.clear();
        self.lm_parts.clear();
        self.lm_pool.clear();
        self.origins.clear();
        self.own_parts.clear();
        self.places.clear();
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
        step: Lookup,
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
        // Forced translations may be longer.
        let longest = system.settings.max_phrase_length.min(self.longest);
        table.phrases.lookup_spans(&self.table_ids, longest, &mut lookup);
        self.ask_ahead(system, number, lookup.hits(), rule)?;
        for (i, hit) in lookup.hits().iter().enumerate() {
            let span = Span { start: hit.start, end: hit.end };
            if !rule.allows_tables(span)
                || !step.backoff.asks(hit.end - hit.start, || self.has_options(span))
            {
                continue;
            }
            let key = Key { table: number as u32, record: hit.record };
            let made;
            let kept = if table.keeps_options { system.memo.get(key) } else { None };
            let list = match kept {
                Some(list) => list,
                None => {
                    let source = sentence.stretch(span);
                    let asked = self.asked[i];
                    let list = self.preparer.prepare(system, table, hit.record, source, asked)?;
                    let list = Box::new(list);
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
            let table = Some(number as u32);
            match rule.filter(span, list) {
                None => self.append(list, system, step.slot, span, table, lms),
                Some((list, places)) => {
                    if !places.is_empty() {
                        self.places.push((self.scores.len() as u32, places));
                    }
                    self.append(&list, system, step.slot, span, table, lms);
                }
            }
        }
        self.lookup = lookup;
        Ok(())
    }

    /// Asks the language models about the targets of those `hits` in table `number`
    /// whose options have to be made, all at once.
    fn ask_ahead(
        &mut self,
        system: &System,
        number: usize,
        hits: &[SpanHit],
        rule: &TableRule<'_>,
    ) -> Result<()> {
        let table = &system.tables[number];
        self.asked.clear();
        self.preparer.start_asking(system);
        for hit in hits {
            let key = Key { table: number as u32, record: hit.record };
            let is_kept = table.keeps_options && system.memo.get(key).is_some();
            let is_wanted = rule.allows_tables(Span { start: hit.start, end: hit.end });
            self.asked.push(match is_wanted && !is_kept {
                true => Some(self.preparer.ask(system, table, hit.record)?),
                false => None,
            });
        }
        self.preparer.answer(system);
        Ok(())
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
        if system.usual.is_some() {
            let parts = &self.lm_parts[self.lm_parts.len() - list.lm_parts.len()..];
            let rows = list.reordering.chunks_exact(self.reordering_width);
            for ((scores, &lm_part), row) in list.scores.iter().zip(parts).zip(rows) {
                let mut reordering = [0.0; HOT_COLUMNS];
                reordering[..row.len()].copy_from_slice(row);
                let (total, has_words) = (scores.total, scores.len > 0);
                self.hot.push(HotOption { total, lm_part, has_words, reordering });
            }
        }
    }

    /// Whether there is an option for `span` already.
    pub(super) fn has_options(&self, span: Span) -> bool {
        (0..self.slots).any(|slot| self.range(span, slot).count > 0)
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

    /// The ends of the spans from `start` that have options, ascending.
    #[inline]
    pub(crate) fn ends(&self, start: u32) -> &[u32] {
        let bounds = &self.first_ends[start as usize..start as usize + 2];
        &self.ends[bounds[0] as usize..bounds[1] as usize]
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

    /// What expansions read of an option, in a usual system.
    #[inline(always)]
    pub(crate) fn hot(&self, option: OptionId) -> &HotOption {
        &self.hot[option.0 as usize]
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

    /// The dependent words of a part, and its constant scores as bits.
    #[inline(always)]
    pub(crate) fn pooled(&self, part: &LmPart) -> (&[u32], &[u32]) {
        let dependent = usize::from(part.dependent);
        let start = part.pool as usize;
        self.lm_pool[start..start + dependent + usize::from(part.constants)].split_at(dependent)
    }

    /// Whether the word at `position` may be copied, as words are that no phrase
    /// translates.
    pub(crate) fn is_unknown(&self, position: u32) -> bool {
        let span = Span { start: position, end: position + 1 };
        (0..self.slots).map(|slot| self.range(span, slot)).any(|range| {
            (range.first..range.first + range.count).any(|o| self.is_copied(OptionId(o)))
        })
    }

    /// Whether an option is a copied word.
    pub(crate) fn is_copied(&self, option: OptionId) -> bool {
        let Origin { table, alignment } = self.origin(option);
        table.is_none() && alignment == OwnPhrase::COPIED
    }

    /// The place of an option of `range` in the list it was taken from.
    pub(crate) fn place_in_list(&self, option: OptionId, range: OptionRange) -> usize {
        let at = option.0 - range.first;
        match self.places.binary_search_by_key(&range.first, |(first, _)| *first) {
            Ok(found) => self.places[found].1[at as usize] as usize,
            Err(_) => at as usize,
        }
    }

    /// Where an option comes from.
    pub(crate) fn origin(&self, option: OptionId) -> Origin {
        self.origins[option.0 as usize]
    }
}
