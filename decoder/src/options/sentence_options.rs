//! The options of one sentence, side by side.

use miriam_lmcpu::State;
use miriam_probingpt::{SpanHit, SpanLookup};
use miriam_textio::WordId;

use super::forced_options::{InputPhraseDetails, MarkupFilter, copy_unknown_word};
use super::lm_phrase::{LmPhrase, read_right_state};
use super::option_builder::{InputPhrase, OptionBuilder};
use super::option_cache::PhraseKey;
use super::{OptionList, OptionScores};
use crate::Result;
use crate::features::Span;
use crate::input_line::LineAnnotations;
use crate::search::LmScoreCache;
use crate::sentence::Sentence;
use crate::system::{System, TableLookup, TableSlot};

/// The name of an option within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionId(pub(crate) u32);

/// Where an option comes from, for output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionOrigin {
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
pub(crate) const MAX_HOT_COLUMNS: usize = 8;

/// What every expansion by an option reads, in one cache line; kept for systems
/// with the [usual](crate::search::Usual) features.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct HotOption {
    /// Everything that does not depend on the neighbours, weighted.
    pub(crate) total: f32,
    /// What the language model makes of it.
    pub(crate) lm_phrase: LmPhrase,
    /// Whether it has any words.
    pub(crate) has_words: bool,
    /// Weighted reordering scores.
    pub(crate) reordering: [f32; MAX_HOT_COLUMNS],
}

const _: () = assert!(size_of::<HotOption>() == 64);

/// All options of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct SentenceOptions {
    scores: Vec<OptionScores>,
    hot_options: Vec<HotOption>,
    words: Vec<WordId>,
    reordering: Vec<f32>,
    lm_phrases: Vec<LmPhrase>,
    lm_pool: Vec<u32>,
    origins: Vec<OptionOrigin>,
    /// What is kept for output of phrases that the sentence brings.
    pub(super) input_details: Vec<InputPhraseDetails>,
    /// Spans whose options are only some of their list's: the first option of each,
    /// ascending, and the places in the list.
    filtered_indices: Vec<(u32, Vec<u32>)>,
    /// By start, then length, then slot.
    ranges: Vec<OptionRange>,
    /// Ends of spans with options, ascending, by start; and where those of each
    /// start begin.
    span_ends: Vec<u32>,
    span_end_offsets: Vec<u32>,
    num_slots: usize,
    max_span_length: usize,
    reordering_width: usize,
    num_models: usize,
    /// Scratch.
    pub(super) option_builder: OptionBuilder,
    /// By hit: what was asked ahead about it.
    batch_starts: Vec<Option<u32>>,
    lookup: SpanLookup,
    table_ids: Vec<u32>,
}

impl SentenceOptions {
    /// Collects the options of every span of `sentence` (3.3).
    pub(crate) fn collect(
        &mut self,
        system: &System,
        sentence: &mut Sentence,
        line_annotations: &LineAnnotations,
        lms: &mut [LmScoreCache],
    ) -> Result<()> {
        self.clear(system, sentence.len(), line_annotations.markup.max_forced_length());
        let rule = MarkupFilter::new(system, sentence, line_annotations);
        let unknown = system.slots.iter().position(|slot| *slot == TableSlot::Unknown);
        // Before the tables: what is forced is there for steps that ask only about
        // spans without options.
        if let Some(slot) = unknown {
            self.collect_forced(system, slot, sentence, &rule, lms)?;
        }
        for &lookup in &system.lookups {
            match system.slots[lookup.slot] {
                TableSlot::Table(table) => {
                    self.collect_table(system, lookup, table, sentence, &rule, lms)?;
                }
                TableSlot::SentenceTable(table) => {
                    self.collect_sentence_table(
                        system,
                        lookup,
                        table,
                        sentence,
                        line_annotations,
                        lms,
                    )?;
                }
                // Not asked: it steps in.
                TableSlot::Unknown => {}
            }
        }
        if let Some(slot) = unknown {
            for position in 0..sentence.len() {
                let span = Span { start: position as u32, end: position as u32 + 1 };
                // Beside a forced translation the word has been copied already.
                let is_free = rule.allows_copying(span) && self.range(span, slot).count == 0;
                if is_free && (system.settings.copy_known_words || !self.has_options(span)) {
                    let phrase = copy_unknown_word(system, sentence, span.start);
                    let source = sentence.source_span(span);
                    let list = self.option_builder.build_input_options(
                        system,
                        source,
                        &[phrase],
                        &self.input_details,
                        None,
                    )?;
                    self.append_list(&list, system, slot, span, None, lms);
                }
            }
        }
        self.index_span_ends(sentence.len());
        Ok(())
    }

    /// Notes which spans have options.
    fn index_span_ends(&mut self, length: usize) {
        self.span_ends.clear();
        self.span_end_offsets.clear();
        let ranges = self.ranges.chunks_exact((self.max_span_length * self.num_slots).max(1));
        for (start, spans) in ranges.take(length).enumerate() {
            self.span_end_offsets.push(self.span_ends.len() as u32);
            for (i, slots) in spans.chunks_exact(self.num_slots).enumerate() {
                if slots.iter().any(|range| range.count > 0) {
                    self.span_ends.push((start + i + 1) as u32);
                }
            }
        }
        self.span_end_offsets.push(self.span_ends.len() as u32);
    }

    fn clear(&mut self, system: &System, length: usize, longest_forced: usize) {
        self.scores.clear();
        self.hot_options.clear();
        self.words.clear();
        self.reordering.clear();
        self.lm_phrases.clear();
        self.lm_pool.clear();
        self.origins.clear();
        self.input_details.clear();
        self.filtered_indices.clear();
        self.num_slots = system.slots.len();
        self.max_span_length = system.settings.max_phrase_length.max(longest_forced).min(length);
        self.reordering_width = system.reordering_width;
        self.num_models = system.language_models.len();
        self.ranges.clear();
        self.ranges.resize(length * self.max_span_length * self.num_slots, OptionRange::default());
    }

    fn collect_table(
        &mut self,
        system: &System,
        step: TableLookup,
        number: usize,
        sentence: &Sentence,
        rule: &MarkupFilter<'_>,
        lms: &mut [LmScoreCache],
    ) -> Result<()> {
        let table = &system.tables[number];
        let whole = Span { start: 0, end: sentence.len() as u32 };
        self.table_ids.clear();
        sentence.source_span(whole).push_table_ids(table, system, &mut self.table_ids);
        let mut lookup = std::mem::take(&mut self.lookup);
        // Forced translations may be longer.
        let longest = system.settings.max_phrase_length.min(self.max_span_length);
        table.phrases.lookup_spans(&self.table_ids, longest, &mut lookup);
        self.batch_lm_scores(system, number, lookup.hits(), rule)?;
        for (i, hit) in lookup.hits().iter().enumerate() {
            let span = Span { start: hit.start, end: hit.end };
            if !rule.allows_tables(span)
                || !step.backoff.should_query(hit.end - hit.start, || self.has_options(span))
            {
                continue;
            }
            let key = PhraseKey { table: number as u32, record: hit.record };
            let made;
            let kept = if table.caches_options { system.option_cache.get(key) } else { None };
            let list = match kept {
                Some(list) => list,
                None => {
                    let source = sentence.source_span(span);
                    let batch_start = self.batch_starts[i];
                    let list = self.option_builder.build(
                        system,
                        table,
                        hit.record,
                        source,
                        batch_start,
                    )?;
                    let list = Box::new(list);
                    let kept = match table.caches_options {
                        true => system.option_cache.insert(key, list),
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
            match rule.filter_options(span, list) {
                None => self.append_list(list, system, step.slot, span, table, lms),
                Some((list, places)) => {
                    if !places.is_empty() {
                        self.filtered_indices.push((self.scores.len() as u32, places));
                    }
                    self.append_list(&list, system, step.slot, span, table, lms);
                }
            }
        }
        self.lookup = lookup;
        Ok(())
    }

    /// Asks the language models about the targets of those `hits` in table `number`
    /// whose options have to be made, all at once.
    fn batch_lm_scores(
        &mut self,
        system: &System,
        number: usize,
        hits: &[SpanHit],
        rule: &MarkupFilter<'_>,
    ) -> Result<()> {
        let table = &system.tables[number];
        self.batch_starts.clear();
        self.option_builder.start_lm_batch(system);
        for hit in hits {
            let key = PhraseKey { table: number as u32, record: hit.record };
            let is_kept = table.caches_options && system.option_cache.get(key).is_some();
            let is_wanted = rule.allows_tables(Span { start: hit.start, end: hit.end });
            self.batch_starts.push(match is_wanted && !is_kept {
                true => Some(self.option_builder.add_to_lm_batch(system, table, hit.record)?),
                false => None,
            });
        }
        self.option_builder.score_lm_batch(system);
        Ok(())
    }

    /// Copies `list` behind the options there are, as those of `span`.
    pub(super) fn append_list(
        &mut self,
        list: &OptionList,
        system: &System,
        slot: usize,
        span: Span,
        table: Option<u32>,
        lms: &mut [LmScoreCache],
    ) {
        let range = self.range_index(span, slot);
        let (first_word, first_pool) = (self.words.len() as u32, self.lm_pool.len() as u32);
        self.ranges[range] =
            OptionRange { first: self.scores.len() as u32, count: list.scores.len() as u32 };
        let moved = |s: &OptionScores| OptionScores { first_word: s.first_word + first_word, ..*s };
        self.scores.extend(list.scores.iter().map(moved));
        self.words.extend_from_slice(&list.words);
        self.reordering.extend_from_slice(&list.reordering);
        self.lm_pool.extend_from_slice(&list.lm_pool);
        self.origins
            .extend(list.alignments.iter().map(|&alignment| OptionOrigin { table, alignment }));
        let models = system.language_models.len().max(1);
        let mut state = State::EMPTY;
        for (i, part) in list.lm_phrases.iter().enumerate() {
            let mut part = *part;
            if part.has_right_state {
                read_right_state(&part, &list.lm_pool, &mut state);
                part.right_state = lms[i % models].intern(&state);
            }
            part.pool_start += first_pool;
            self.lm_phrases.push(part);
        }
        if system.fast_path.is_some() {
            let parts = &self.lm_phrases[self.lm_phrases.len() - list.lm_phrases.len()..];
            let rows = list.reordering.chunks_exact(self.reordering_width);
            for ((scores, &lm_part), row) in list.scores.iter().zip(parts).zip(rows) {
                let mut reordering = [0.0; MAX_HOT_COLUMNS];
                reordering[..row.len()].copy_from_slice(row);
                let (total, has_words) = (scores.total, scores.num_words > 0);
                self.hot_options.push(HotOption {
                    total,
                    lm_phrase: lm_part,
                    has_words,
                    reordering,
                });
            }
        }
    }

    /// Whether there is an option for `span` already.
    pub(super) fn has_options(&self, span: Span) -> bool {
        (0..self.num_slots).any(|slot| self.range(span, slot).count > 0)
    }

    fn range_index(&self, span: Span, slot: usize) -> usize {
        let length = (span.end - span.start) as usize;
        (span.start as usize * self.max_span_length + length - 1) * self.num_slots + slot
    }

    /// The longest span that can have options.
    #[inline]
    pub(crate) fn max_span_length(&self) -> u32 {
        self.max_span_length as u32
    }

    /// The ends of the spans from `start` that have options, ascending.
    #[inline]
    pub(crate) fn span_ends(&self, start: u32) -> &[u32] {
        let bounds = &self.span_end_offsets[start as usize..start as usize + 2];
        &self.span_ends[bounds[0] as usize..bounds[1] as usize]
    }

    /// How many tables have options side by side for a span.
    #[inline]
    pub(crate) fn num_slots(&self) -> usize {
        self.num_slots
    }

    /// The options of `span` in `slot`.
    #[inline]
    pub(crate) fn range(&self, span: Span, slot: usize) -> OptionRange {
        self.ranges[self.range_index(span, slot)]
    }

    /// The best estimated score of any option of a span, or minus infinity.
    pub(crate) fn best_future_score(&self, start: usize, length: usize) -> f32 {
        let span = Span { start: start as u32, end: (start + length) as u32 };
        let mut best = f32::NEG_INFINITY;
        for slot in 0..self.num_slots {
            let range = self.range(span, slot);
            // Options are sorted, so the first of a table is its best.
            if range.count > 0 {
                best = best.max(self.scores[range.first as usize].future_score);
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
    pub(crate) fn hot_option(&self, option: OptionId) -> &HotOption {
        &self.hot_options[option.0 as usize]
    }

    /// The target words of an option.
    pub(crate) fn words(&self, option: OptionId) -> &[WordId] {
        let scores = self.scores(option);
        &self.words[scores.first_word as usize..(scores.first_word + scores.num_words) as usize]
    }

    /// A weighted reordering score of an option; columns of all models stand one
    /// after another.
    #[inline(always)]
    pub(crate) fn reordering(&self, option: OptionId, column: usize) -> f32 {
        self.reordering[option.0 as usize * self.reordering_width + column]
    }

    /// What language model `lm` makes of an option.
    #[inline(always)]
    pub(crate) fn lm_phrase(&self, option: OptionId, lm: usize) -> &LmPhrase {
        &self.lm_phrases[option.0 as usize * self.num_models + lm]
    }

    /// The dependent words of a part, and its constant scores as bits.
    #[inline(always)]
    pub(crate) fn lm_pool_slices(&self, part: &LmPhrase) -> (&[u32], &[u32]) {
        let dependent = usize::from(part.num_dependent);
        let start = part.pool_start as usize;
        self.lm_pool[start..start + dependent + usize::from(part.num_constants)].split_at(dependent)
    }

    /// Whether the word at `position` may be copied, as words are that no phrase
    /// translates.
    pub(crate) fn is_unknown(&self, position: u32) -> bool {
        let span = Span { start: position, end: position + 1 };
        (0..self.num_slots).map(|slot| self.range(span, slot)).any(|range| {
            (range.first..range.first + range.count).any(|o| self.is_copied(OptionId(o)))
        })
    }

    /// Whether an option is a copied word.
    pub(crate) fn is_copied(&self, option: OptionId) -> bool {
        let OptionOrigin { table, alignment } = self.origin(option);
        table.is_none() && alignment == InputPhrase::COPIED
    }

    /// The place of an option of `range` in the list it was taken from.
    pub(crate) fn index_in_list(&self, option: OptionId, range: OptionRange) -> usize {
        let at = option.0 - range.first;
        match self.filtered_indices.binary_search_by_key(&range.first, |(first, _)| *first) {
            Ok(found) => self.filtered_indices[found].1[at as usize] as usize,
            Err(_) => at as usize,
        }
    }

    /// Where an option comes from.
    pub(crate) fn origin(&self, option: OptionId) -> OptionOrigin {
        self.origins[option.0 as usize]
    }
}
