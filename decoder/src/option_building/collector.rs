//! Collection of the options of all spans of a sentence (`docs/spec/phrase-decoding.md` 3.3).

use miriam_probingpt::{SpanHit, SpanLookup};

use super::OptionBuilder;
use super::markup_filter::{MarkupFilter, copy_unknown_word};
use crate::Result;
use crate::features::TableSlot;
use crate::input_line::LineAnnotations;
use crate::lm_scoring::LmScoreCache;
use crate::search_plan::TableLookup;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::system::System;
use crate::translation_options::{OptionLayout, PhraseKey, SentenceOptions};

/// Collects the options of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct OptionCollector {
    pub(super) builder: OptionBuilder,
    /// For each hit up to the last one in the batch of language-model scores, the index of the
    /// hit's first target in the batch; `None` if the hit needs no new options.
    batch_starts: Vec<Option<u32>>,
    lookup: SpanLookup,
    table_ids: Vec<u32>,
}

/// The sentence whose options are collected.
pub(super) struct CollectorInput<'a> {
    pub(super) system: &'a System,
    pub(super) sentence: &'a mut Sentence,
    pub(super) annotations: &'a LineAnnotations,
    pub(super) lms: &'a mut [LmScoreCache],
}

impl OptionCollector {
    /// Collects the options of every span of `sentence` in `options`.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged, and with [`Error::Line`](crate::Error::Line) where
    /// the annotations do not fit the system.
    pub(crate) fn collect(
        &mut self,
        options: &mut SentenceOptions,
        system: &System,
        sentence: &mut Sentence,
        annotations: &LineAnnotations,
        lms: &mut [LmScoreCache],
    ) -> Result<()> {
        let slots = &system.plan.features.slots;
        let layout = OptionLayout {
            num_slots: slots.len(),
            reordering_width: system.plan.features.reordering_width(),
            num_models: system.models.language_models.len(),
        };
        let longest_forced = annotations.markup.max_forced_length();
        let longest_span = system.settings.max_phrase_length.max(longest_forced);
        options.start(layout, sentence.len(), longest_span);
        let filter = MarkupFilter::new(system, sentence, annotations);
        let unknown = slots.iter().position(|slot| *slot == TableSlot::Unknown);
        let input = &mut CollectorInput { system, sentence, annotations, lms };
        // Forced translations come before the tables, because some steps look only at spans without
        // options.
        if let Some(slot) = unknown {
            self.collect_forced(options, input, slot, &filter)?;
        }
        for &lookup in &system.plan.lookups {
            match slots[lookup.slot] {
                TableSlot::Table(table) => {
                    self.collect_table(options, input, lookup, table, &filter)?;
                }
                TableSlot::SentenceTable(table) => {
                    self.collect_sentence_table(options, input, lookup, table)?;
                }
                // Collected last, for spans without other options.
                TableSlot::Unknown => {}
            }
        }
        if let Some(slot) = unknown {
            self.collect_copied_words(options, input, slot, &filter)?;
        }
        options.index_span_ends(input.sentence.len());
        Ok(())
    }

    /// Copies the words that no table translates, and others if settings say so.
    fn collect_copied_words(
        &mut self,
        options: &mut SentenceOptions,
        input: &mut CollectorInput<'_>,
        slot: usize,
        filter: &MarkupFilter<'_>,
    ) -> Result<()> {
        let system = input.system;
        for position in 0..input.sentence.len() {
            let span = Span { start: position as u32, end: position as u32 + 1 };
            // If a word with a forced translation may be copied, its copy has been added together
            // with the translation.
            let is_free = filter.allows_copying(span) && options.range(span, slot).count == 0;
            if is_free && (system.settings.copy_known_words || !options.has_options(span)) {
                let phrase = copy_unknown_word(system, input.sentence, span.start);
                let source = input.sentence.source_span(span);
                let details = options.all_input_details();
                let list =
                    self.builder.build_input_options(system, source, &[phrase], details, None)?;
                options.append_list(&list, slot, span, None, input.lms);
            }
        }
        Ok(())
    }

    fn collect_table(
        &mut self,
        options: &mut SentenceOptions,
        input: &mut CollectorInput<'_>,
        step: TableLookup,
        number: usize,
        filter: &MarkupFilter<'_>,
    ) -> Result<()> {
        let (system, sentence) = (input.system, &*input.sentence);
        let table = &system.models.phrase_tables[number];
        let all_words = Span { start: 0, end: sentence.len() as u32 };
        self.table_ids.clear();
        sentence.source_span(all_words).push_table_ids(table, &system.models, &mut self.table_ids);
        let mut lookup = std::mem::take(&mut self.lookup);
        // Spans of forced translations may be longer than source phrases of tables.
        let longest = system.settings.max_phrase_length.min(options.max_span_length() as usize);
        table.phrases.lookup_spans(&self.table_ids, longest, &mut lookup);
        let mut batch = 0..0;
        for (i, hit) in lookup.hits().iter().enumerate() {
            if i == batch.end {
                self.batch_lm_scores(system, number, &lookup.hits()[i..], filter)?;
                batch = i..i + self.batch_starts.len();
            }
            let span = Span { start: hit.start, end: hit.end };
            if !filter.allows_tables(span)
                || !step.backoff.should_query(hit.end - hit.start, || options.has_options(span))
            {
                continue;
            }
            let key = PhraseKey { table: number as u32, record: hit.record };
            let cache = &system.plan.option_cache;
            let made;
            let cached = if table.caches_options { cache.get(key) } else { None };
            let list = match cached {
                Some(list) => list,
                None => {
                    let source = sentence.source_span(span);
                    let batch_start = self.batch_starts[i - batch.start];
                    let list = Box::new(self.builder.build(
                        system,
                        number,
                        hit.record,
                        source,
                        batch_start,
                    )?);
                    let inserted =
                        if table.caches_options { cache.insert(key, list) } else { Err(list) };
                    match inserted {
                        Ok(list) => list,
                        Err(list) => {
                            made = list;
                            &made
                        }
                    }
                }
            };
            let table = Some(number as u32);
            match filter.filter_options(span, list) {
                None => options.append_list(list, step.slot, span, table, input.lms),
                Some((list, positions)) => {
                    if !positions.is_empty() {
                        options.set_filtered(positions);
                    }
                    options.append_list(&list, step.slot, span, table, input.lms);
                }
            }
        }
        self.lookup = lookup;
        Ok(())
    }

    /// Fills a batch with the targets of the first `hits` in table `number` that need new options,
    /// and scores the batch by the language models. `batch_starts` gets an entry for each hit up to
    /// the last one that the batch took.
    fn batch_lm_scores(
        &mut self,
        system: &System,
        number: usize,
        hits: &[SpanHit],
        filter: &MarkupFilter<'_>,
    ) -> Result<()> {
        let table = &system.models.phrase_tables[number];
        self.batch_starts.clear();
        self.builder.start_lm_batch(system);
        for hit in hits {
            if self.builder.lm_batch_is_full() {
                break;
            }
            let key = PhraseKey { table: number as u32, record: hit.record };
            let is_cached = table.caches_options && system.plan.option_cache.get(key).is_some();
            let is_wanted = filter.allows_tables(Span { start: hit.start, end: hit.end });
            self.batch_starts.push(if is_wanted && !is_cached {
                Some(self.builder.add_to_lm_batch(system, table, hit.record)?)
            } else {
                None
            });
        }
        self.builder.score_lm_batch(system);
        Ok(())
    }
}
