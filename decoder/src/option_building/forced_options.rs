//! Options that come with the sentence: translations forced by markup
//! (`docs/spec/phrase-decoding.md` 3.2), and the entries of the sentence's own table (1.9).

use miriam_textio::{Ln, WordId};

use super::OptionCollector;
use super::collector::CollectorInput;
use super::markup_filter::{MarkupFilter, copy_unknown_word, intern_words};
use crate::markup::ForcedOption;
use crate::models::Models;
use crate::search_plan::TableLookup;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::translation_options::{InputPhrase, InputPhraseDetails, OptionSource, SentenceOptions};
use crate::{Error, Result};

/// Fails if a word lacks a factor that the models look at.
fn check_target_factors(
    words: &[WordId],
    sentence: &Sentence,
    models: &Models,
    what: &str,
) -> Result<()> {
    let Some(scheme) = &models.factor_scheme else { return Ok(()) };
    for &word in words {
        let word = sentence.word(word, models);
        if let Some(missing) = scheme.missing_in_target(word) {
            let word = String::from_utf8_lossy(word);
            return Err(Error::line(format!("{what}: the target word {word:?} {missing}")));
        }
    }
    Ok(())
}

impl OptionCollector {
    /// Collects the translations that markup forces, as options in the slot of unknown words. The
    /// logarithm of the attribute `prob` is their value of the unknown-word penalty.
    pub(super) fn collect_forced(
        &mut self,
        options: &mut SentenceOptions,
        input: &mut CollectorInput<'_>,
        slot: usize,
        filter: &MarkupFilter<'_>,
    ) -> Result<()> {
        let (system, sentence) = (input.system, &mut *input.sentence);
        let models = &system.models;
        for forced in filter.annotations.forced_options_by_span() {
            let span = forced[0].span;
            let mut phrases = Vec::with_capacity(forced.len());
            for ForcedOption { translation, probability, .. } in forced {
                let words = intern_words(translation, sentence, models, None);
                check_target_factors(&words, sentence, models, "a translation in the markup")?;
                // Moses2 treats a probability of 0 as a missing one.
                let probability = probability.filter(|&p| p != 0.0);
                let scores: Vec<f32> =
                    probability.iter().map(|&p| Ln::from_probability(p).0).collect();
                let total = system.plan.features.unknown_word.forced_score(&scores);
                // If one word translates one word, the two are aligned, as for a copied word.
                let one_to_one = words.len() == 1 && span.end - span.start == 1;
                let alignment = if one_to_one { vec![(0, 0)] } else { Vec::new() };
                let details = options.push_input_details(InputPhraseDetails {
                    source: OptionSource::Markup,
                    scores,
                    alignment,
                });
                phrases.push(InputPhrase { total, words, details });
            }
            // Forced translations share a slot with the copied word, if the word may be copied.
            let is_word = span.end - span.start == 1;
            if is_word && system.settings.copy_known_words && filter.allows_copying(span) {
                phrases.push(copy_unknown_word(system, sentence, span.start));
            }
            let source = sentence.source_span(span);
            let details = options.all_input_details();
            let list = self.builder.build_input_options(system, source, &phrases, details, None)?;
            options.append_list(&list, slot, span, None, input.lms);
        }
        Ok(())
    }

    /// Collects the options in the sentence's own table, scored by sentence-table feature `number`,
    /// for the spans that `step` looks up.
    pub(super) fn collect_sentence_table(
        &mut self,
        options: &mut SentenceOptions,
        input: &mut CollectorInput<'_>,
        step: TableLookup,
        number: usize,
    ) -> Result<()> {
        let (system, sentence) = (input.system, &mut *input.sentence);
        let models = &system.models;
        let feature = &system.plan.features.sentence_tables[number];
        let table = &input.annotations.sentence_table;
        let longest = table.max_source_length().min(system.settings.max_phrase_length) as u32;
        let length = sentence.len() as u32;
        let mut source = Vec::new();
        for start in 0..length {
            for end in start + 1..=length.min(start + longest) {
                let span = Span { start, end };
                let words = sentence.source_span(span);
                words.write_factored(&feature.input_factors, models, &mut source);
                let entries = table.find(&source);
                if entries.is_empty()
                    || !step.backoff.should_query(end - start, || options.has_options(span))
                {
                    continue;
                }
                let mut phrases = Vec::with_capacity(entries.len());
                for entry in entries {
                    if entry.scores.len() != feature.scores.len() {
                        return Err(Error::line(format!(
                            "an entry of the table for {:?} has {} scores, {} has {} weights",
                            String::from_utf8_lossy(&source),
                            entry.scores.len(),
                            feature.name,
                            feature.scores.len()
                        )));
                    }
                    let total = feature.scores.score(&entry.scores);
                    let order = feature.output_factors.as_deref();
                    let words = intern_words(&entry.target, sentence, models, order);
                    check_target_factors(&words, sentence, models, "the table in the line")?;
                    let details = options.push_input_details(InputPhraseDetails {
                        source: OptionSource::SentenceTable(number),
                        scores: entry.scores.clone(),
                        alignment: entry.alignment.clone(),
                    });
                    phrases.push(InputPhrase { total, words, details });
                }
                let source = sentence.source_span(span);
                let (details, limit) = (options.all_input_details(), feature.scores.limit);
                let list =
                    self.builder.build_input_options(system, source, &phrases, details, limit)?;
                options.append_list(&list, step.slot, span, None, input.lms);
            }
        }
        Ok(())
    }
}
