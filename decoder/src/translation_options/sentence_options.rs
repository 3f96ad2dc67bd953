//! The translation options of one sentence, in parallel arrays that are reused for the next.

use miriam_lmcpu::{LmWord, State};
use miriam_textio::WordId;

use super::{InputPhrase, InputPhraseDetails, OptionList, OptionScores, OptionSource};
use crate::lm_scoring::{LmPhrase, LmPhraseParts, LmScoreCache, read_right_state};
use crate::models::Models;
use crate::span::Span;

/// The index of an option within its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionId(pub(crate) u32);

/// The origin of an option, for output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionOrigin {
    /// The index of the phrase table; `None` for a phrase that comes with the sentence.
    pub(crate) table: Option<u32>,
    /// The id of the option's alignment in the table. For a phrase that comes with the sentence,
    /// the index of its details, or [`InputPhrase::COPIED`] for a copied word.
    pub(crate) alignment: u32,
}

/// The options of a span from one table: consecutive, best first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OptionRange {
    /// The first option.
    pub(crate) first: u32,
    /// The number of options.
    pub(crate) count: u32,
}

/// The largest number of reordering scores in a [`HotOption`].
pub(crate) const MAX_HOT_COLUMNS: usize = 8;

/// The largest number of words and constant scores in a [`HotPhrase`]: enough for every phrase if
/// the language model has order 5 or less.
const MAX_HOT_WORDS: usize = 4;

/// A phrase as a language model sees it, with all data that an expansion reads from it for models
/// up to order 5.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct HotPhrase {
    /// The number of words whose language model scores depend on the context.
    num_dependent: u8,
    /// The number of constant scores after these words.
    num_constants: u8,
    /// Whether the language model's state after the option is known.
    has_right_state: bool,
    right_state: u32,
    /// The dependent words, then the bits of the constant scores. If they do not fit, the first
    /// element is their start in the pool.
    lm_words: [u32; MAX_HOT_WORDS],
}

impl HotPhrase {
    fn new(phrase: &LmPhrase, pool: &[u32]) -> Self {
        let LmPhraseParts { dependent, constants, right_state } = phrase.parts(pool);
        let mut lm_words = [phrase.pool_start; MAX_HOT_WORDS];
        if dependent.len() + constants.len() <= MAX_HOT_WORDS {
            let words = dependent.iter().chain(constants);
            lm_words.iter_mut().zip(words).for_each(|(to, &word)| *to = word);
        }
        HotPhrase {
            num_dependent: dependent.len() as u8,
            num_constants: constants.len() as u8,
            has_right_state: right_state.is_some(),
            right_state: right_state.unwrap_or(0),
            lm_words,
        }
    }

    /// Returns the first word whose score depends on the context.
    #[inline(always)]
    pub(crate) fn first_dependent(&self, pool: &[u32]) -> Option<LmWord> {
        if self.num_dependent == 0 {
            return None;
        }
        let num_words = usize::from(self.num_dependent) + usize::from(self.num_constants);
        let first = self.lm_words[0];
        Some(LmWord(if num_words > MAX_HOT_WORDS { pool[first as usize] } else { first }))
    }

    /// Returns the phrase as the language model sees it; `pool` is the pool of the sentence.
    #[inline(always)]
    pub(crate) fn parts<'a>(&'a self, pool: &'a [u32]) -> LmPhraseParts<'a> {
        let num_dependent = usize::from(self.num_dependent);
        let num_words = num_dependent + usize::from(self.num_constants);
        let words = match self.lm_words.get(..num_words) {
            Some(words) => words,
            None => {
                let start = self.lm_words[0] as usize;
                &pool[start..start + num_words]
            }
        };
        let (dependent, constants) = words.split_at(num_dependent);
        let right_state = self.has_right_state.then_some(self.right_state);
        LmPhraseParts { dependent, constants, right_state }
    }
}

/// The data of an option that expansions read, in one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct HotOption {
    /// The weighted sum of all scores that do not depend on neighbouring phrases.
    pub(crate) total: f32,
    /// Whether it has any words.
    pub(crate) has_words: bool,
    /// The option as the first language model sees it.
    pub(crate) phrase: HotPhrase,
    /// Weighted reordering scores. Scores beyond the last column are in the sentence's rows.
    pub(crate) reordering: [f32; MAX_HOT_COLUMNS],
}

const _: () = assert!(size_of::<HotOption>() == 64);

impl HotOption {
    fn new(scores: &OptionScores, row: &[f32], phrase: HotPhrase) -> Self {
        let mut reordering = [0.0; MAX_HOT_COLUMNS];
        reordering.iter_mut().zip(row).for_each(|(to, &score)| *to = score);
        HotOption { total: scores.total, has_words: scores.num_words > 0, phrase, reordering }
    }
}

/// The shape of a system's options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OptionLayout {
    /// The number of tables, including the one of unknown words.
    pub(crate) num_slots: usize,
    /// The number of reordering scores of an option.
    pub(crate) reordering_width: usize,
    /// The number of language models.
    pub(crate) num_models: usize,
}

/// All options of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct SentenceOptions {
    scores: Vec<OptionScores>,
    hot_options: Vec<HotOption>,
    /// The options as each language model after the first sees them.
    further_phrases: Vec<Vec<HotPhrase>>,
    words: Vec<WordId>,
    reordering: Vec<f32>,
    lm_phrases: Vec<LmPhrase>,
    lm_pool: Vec<u32>,
    origins: Vec<OptionOrigin>,
    /// The details of phrases that come with the sentence, for output.
    input_details: Vec<InputPhraseDetails>,
    /// Spans that have only some of their list's options: the first option of each,
    /// ascending, and the indices in the list.
    filtered_indices: Vec<(u32, Vec<u32>)>,
    /// The options of each span and slot, by start, then length, then slot.
    ranges: Vec<OptionRange>,
    /// The ends of spans with options, sorted by the start of the span, then by the end.
    span_ends: Vec<u32>,
    /// For each start, the index of its first end in `span_ends`.
    span_end_offsets: Vec<u32>,
    layout: OptionLayout,
    max_span_length: usize,
}

impl SentenceOptions {
    /// Indexes the spans that have options.
    pub(crate) fn index_span_ends(&mut self, length: usize) {
        self.span_ends.clear();
        self.span_end_offsets.clear();
        let ranges =
            self.ranges.chunks_exact((self.max_span_length * self.layout.num_slots).max(1));
        for (start, spans) in ranges.take(length).enumerate() {
            self.span_end_offsets.push(self.span_ends.len() as u32);
            for (i, slots) in spans.chunks_exact(self.layout.num_slots).enumerate() {
                if slots.iter().any(|range| range.count > 0) {
                    self.span_ends.push((start + i + 1) as u32);
                }
            }
        }
        self.span_end_offsets.push(self.span_ends.len() as u32);
    }

    /// Begins a sentence of `length` words, with options of spans up to `longest_span`.
    pub(crate) fn start(&mut self, layout: OptionLayout, length: usize, longest_span: usize) {
        self.scores.clear();
        self.hot_options.clear();
        self.further_phrases.resize_with(layout.num_models.saturating_sub(1), Vec::new);
        self.further_phrases.iter_mut().for_each(Vec::clear);
        self.words.clear();
        self.reordering.clear();
        self.lm_phrases.clear();
        self.lm_pool.clear();
        self.origins.clear();
        self.input_details.clear();
        self.filtered_indices.clear();
        self.layout = layout;
        self.max_span_length = longest_span.min(length);
        self.ranges.clear();
        self.ranges
            .resize(length * self.max_span_length * layout.num_slots, OptionRange::default());
    }

    /// Appends the options of `list` as the options of `span` in `slot`.
    pub(crate) fn append_list(
        &mut self,
        list: &OptionList,
        slot: usize,
        span: Span,
        table: Option<u32>,
        lms: &mut [LmScoreCache],
    ) {
        let range = self.range_index(span, slot);
        let (first_word, first_pool) = (self.words.len() as u32, self.lm_pool.len() as u32);
        self.ranges[range] =
            OptionRange { first: self.scores.len() as u32, count: list.scores.len() as u32 };
        self.scores.extend(
            list.scores
                .iter()
                .map(|s| OptionScores { first_word: s.first_word + first_word, ..*s }),
        );
        self.words.extend_from_slice(&list.words);
        self.reordering.extend_from_slice(&list.reordering);
        self.lm_pool.extend_from_slice(&list.lm_pool);
        self.origins
            .extend(list.alignments.iter().map(|&alignment| OptionOrigin { table, alignment }));
        let models = self.layout.num_models.max(1);
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
        self.append_hot_options(list);
    }

    /// Appends the data that expansions read from the options of `list`, which was appended last.
    fn append_hot_options(&mut self, list: &OptionList) {
        let OptionLayout { reordering_width, num_models, .. } = self.layout;
        let first_phrase = self.lm_phrases.len() - list.lm_phrases.len();
        for (i, scores) in list.scores.iter().enumerate() {
            let row = &list.reordering[i * reordering_width..(i + 1) * reordering_width];
            let phrases = &self.lm_phrases[first_phrase + i * num_models..][..num_models];
            let mut phrases = phrases.iter().map(|phrase| HotPhrase::new(phrase, &self.lm_pool));
            let first = phrases.next().unwrap_or_default();
            self.hot_options.push(HotOption::new(scores, row, first));
            for (phrase, all) in phrases.zip(&mut self.further_phrases) {
                all.push(phrase);
            }
        }
    }

    /// Whether there is an option for `span` already.
    pub(crate) fn has_options(&self, span: Span) -> bool {
        (0..self.layout.num_slots).any(|slot| self.range(span, slot).count > 0)
    }

    fn range_index(&self, span: Span, slot: usize) -> usize {
        let length = (span.end - span.start) as usize;
        (span.start as usize * self.max_span_length + length - 1) * self.layout.num_slots + slot
    }

    /// Returns the length in words of the longest span that can have options.
    #[inline]
    pub(crate) fn max_span_length(&self) -> u32 {
        self.max_span_length as u32
    }

    /// Returns the ends of the spans from `start` that have options, ascending.
    #[inline]
    pub(crate) fn span_ends(&self, start: u32) -> &[u32] {
        let bounds = &self.span_end_offsets[start as usize..start as usize + 2];
        &self.span_ends[bounds[0] as usize..bounds[1] as usize]
    }

    /// Returns the number of tables that can have options for a span.
    #[inline]
    pub(crate) fn num_slots(&self) -> usize {
        self.layout.num_slots
    }

    /// Returns the options of `span` in `slot`.
    #[inline]
    pub(crate) fn range(&self, span: Span, slot: usize) -> OptionRange {
        self.ranges[self.range_index(span, slot)]
    }

    /// Returns the best future score of any option of a span, or minus infinity.
    pub(crate) fn best_future_score(&self, start: usize, length: usize) -> f32 {
        let span = Span { start: start as u32, end: (start + length) as u32 };
        let mut best = f32::NEG_INFINITY;
        for slot in 0..self.layout.num_slots {
            let range = self.range(span, slot);
            // Options are sorted, so the first of a table is its best.
            if range.count > 0 {
                best = best.max(self.scores[range.first as usize].future_score);
            }
        }
        best
    }

    /// Returns the scores of an option, and where its words are.
    #[inline(always)]
    pub(crate) fn scores(&self, option: OptionId) -> OptionScores {
        self.scores[option.0 as usize]
    }

    /// Returns the data that expansions read from an option.
    #[inline(always)]
    pub(crate) fn hot_option(&self, option: OptionId) -> &HotOption {
        &self.hot_options[option.0 as usize]
    }

    /// Returns the data that expansions read from all options.
    #[inline(always)]
    pub(crate) fn hot_options(&self) -> &[HotOption] {
        &self.hot_options
    }

    /// Returns the target words of an option.
    pub(crate) fn words(&self, option: OptionId) -> &[WordId] {
        let scores = self.scores(option);
        &self.words[scores.first_word as usize..(scores.first_word + scores.num_words) as usize]
    }

    /// Returns a weighted reordering score of an option; columns of all models are one after
    /// another.
    #[inline(always)]
    pub(crate) fn reordering(&self, option: OptionId, column: usize) -> f32 {
        match self.hot_options[option.0 as usize].reordering.get(column) {
            Some(&score) => score,
            None => self.reordering[option.0 as usize * self.layout.reordering_width + column],
        }
    }

    /// Returns the options as one of the language models after the first sees them, with the data
    /// that an expansion reads. `further` is 0 for the second model, 1 for the third, and so on.
    #[inline(always)]
    pub(crate) fn further_phrases(&self, further: usize) -> &[HotPhrase] {
        &self.further_phrases[further]
    }

    /// Returns an option as language model `lm` sees it.
    #[inline(always)]
    pub(crate) fn lm_phrase(&self, option: OptionId, lm: usize) -> &LmPhrase {
        &self.lm_phrases[option.0 as usize * self.layout.num_models + lm]
    }

    /// Returns the pool that language-model parts refer to.
    #[inline(always)]
    pub(crate) fn lm_pool(&self) -> &[u32] {
        &self.lm_pool
    }

    /// Stores `details` of a phrase that comes with the sentence, and returns their index.
    pub(crate) fn push_input_details(&mut self, details: InputPhraseDetails) -> u32 {
        self.input_details.push(details);
        self.input_details.len() as u32 - 1
    }

    /// Returns the details of all phrases that come with the sentence.
    pub(crate) fn all_input_details(&self) -> &[InputPhraseDetails] {
        &self.input_details
    }

    /// Records that the next list to be appended has only the options at `positions` of its source
    /// phrase's list.
    pub(crate) fn set_filtered(&mut self, positions: Vec<u32>) {
        self.filtered_indices.push((self.scores.len() as u32, positions));
    }

    /// Whether copying the word at `position` is an option, as it is for words without a
    /// translation.
    pub(crate) fn is_unknown(&self, position: u32) -> bool {
        let span = Span { start: position, end: position + 1 };
        (0..self.layout.num_slots).map(|slot| self.range(span, slot)).any(|range| {
            (range.first..range.first + range.count).any(|o| self.is_copied(OptionId(o)))
        })
    }

    /// Whether an option is a copied word.
    pub(crate) fn is_copied(&self, option: OptionId) -> bool {
        let OptionOrigin { table, alignment } = self.origin(option);
        table.is_none() && alignment == InputPhrase::COPIED
    }

    /// Whether an option is of the unknown-word penalty: a copied word or a forced translation.
    pub(crate) fn belongs_to_unknown_word_penalty(&self, option: OptionId) -> bool {
        self.origin(option).table.is_none()
            && self
                .input_details(option)
                .is_none_or(|details| details.source == OptionSource::Markup)
    }

    /// Returns the index of an option of `range` in the list from which it was taken.
    pub(crate) fn index_in_list(&self, option: OptionId, range: OptionRange) -> usize {
        let at = option.0 - range.first;
        match self.filtered_indices.binary_search_by_key(&range.first, |(first, _)| *first) {
            Ok(found) => self.filtered_indices[found].1[at as usize] as usize,
            Err(_) => at as usize,
        }
    }

    /// Returns the origin of an option.
    pub(crate) fn origin(&self, option: OptionId) -> OptionOrigin {
        self.origins[option.0 as usize]
    }

    /// Appends the alignment points of an option to `points`: source and target positions within
    /// the phrase, in the order of the table or the markup.
    pub(crate) fn push_alignment_points(
        &self,
        option: OptionId,
        models: &Models,
        points: &mut Vec<(u16, u16)>,
    ) {
        let origin = self.origin(option);
        match (origin.table, self.input_details(option)) {
            (Some(table), _) => {
                let phrases = &models.phrase_tables[table as usize].phrases;
                points.extend(phrases.alignment_points(origin.alignment));
            }
            (None, Some(details)) => points.extend(&details.alignment),
            // A copied word is aligned to itself.
            (None, None) => points.extend(self.words(option).iter().map(|_| (0, 0))),
        }
    }

    /// Returns the details of an option that came with the sentence; `None` for options of tables
    /// and for copied words.
    pub(crate) fn input_details(&self, option: OptionId) -> Option<&InputPhraseDetails> {
        let origin = self.origin(option);
        match origin.table {
            Some(_) => None,
            // `COPIED` is greater than every index.
            None => self.input_details.get(origin.alignment as usize),
        }
    }
}
