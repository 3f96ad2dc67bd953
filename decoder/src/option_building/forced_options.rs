//! Options that come with the sentence: translations forced by markup
//! (`phrase-decoding.md` 3.2), the entries of its own table (1.9) and copied words,
//! and the filter that forced translations put on the options of tables.

use miriam_textio::{Ln, WordId, fields};

use super::OptionCollector;
use super::collector::CollectorInput;
use crate::factors::surface;
use crate::input_line::LineAnnotations;
use crate::markup::{ForcedOption, SentenceMarkup, XmlInputMode};
use crate::models::Models;
use crate::search_plan::TableLookup;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::system::System;
use crate::translation_options::{
    InputPhrase, InputPhraseDetails, OptionList, OptionSource, SentenceOptions,
};
use crate::{Error, Result};

/// Which options of the tables are used where translations are forced.
pub(super) struct MarkupFilter<'a> {
    annotations: &'a SentenceMarkup,
    mode: XmlInputMode,
    /// In constraint mode: the forced translations of each span.
    required: Vec<(Span, Vec<Vec<WordId>>)>,
}

impl<'a> MarkupFilter<'a> {
    /// The filter for `sentence`, which keeps everything where nothing is forced.
    pub(super) fn new(
        system: &System,
        sentence: &mut Sentence,
        line_annotations: &'a LineAnnotations,
    ) -> Self {
        let annotations = &line_annotations.markup;
        let mode = match annotations.forced_options.is_empty() {
            true => XmlInputMode::PassThrough,
            false => system.settings.input_format.markup,
        };
        let mut required = Vec::new();
        if mode == XmlInputMode::Constraint {
            for options in annotations.forced_options_by_span() {
                let words = options
                    .iter()
                    .map(|o| intern_words(&o.translation, sentence, &system.models, None));
                required.push((options[0].span, words.collect()));
            }
        }
        MarkupFilter { annotations, mode, required }
    }

    /// Whether options of tables are used for `span`.
    pub(super) fn allows_tables(&self, span: Span) -> bool {
        self.mode != XmlInputMode::Exclusive || !self.annotations.overlaps_forced(span)
    }

    /// Whether an unknown word may be copied. Where only forced translations or
    /// those that contain them count, copying would be a way around them.
    pub(super) fn allows_copying(&self, span: Span) -> bool {
        !matches!(self.mode, XmlInputMode::Exclusive | XmlInputMode::Constraint)
            || !self.annotations.overlaps_forced(span)
    }

    /// The options of `list` for `span` that count, and their indices there; `None`
    /// where all do.
    ///
    /// In constraint mode an option must contain each forced span that it touches, and
    /// one of its translations word for word.
    pub(super) fn filter_options(
        &self,
        span: Span,
        list: &OptionList,
    ) -> Option<(OptionList, Vec<u32>)> {
        if self.mode != XmlInputMode::Constraint || !self.annotations.overlaps_forced(span) {
            return None;
        }
        let touched = || {
            let touches = |s: &Span| s.start < span.end && span.start < s.end;
            self.required.iter().filter(move |(s, _)| touches(s))
        };
        let inside = touched().all(|(s, _)| span.start <= s.start && s.end <= span.end);
        Some(list.filter(|words| {
            let contains = |wanted: &Vec<WordId>| {
                wanted.is_empty() || words.windows(wanted.len()).any(|part| part == wanted)
            };
            inside && touched().all(|(_, translations)| translations.iter().any(contains))
        }))
    }
}

/// The words of a phrase that comes with the sentence; its columns are the
/// factors `order`.
fn intern_words(
    phrase: &[u8],
    sentence: &mut Sentence,
    models: &Models,
    order: Option<&[usize]>,
) -> Vec<WordId> {
    let mut word = Vec::new();
    let ids = fields::split_words(phrase).map(|written| match &models.factor_scheme {
        None => sentence.intern(surface(written), models),
        Some(scheme) => {
            scheme.parse_word(written, order, &mut word);
            sentence.intern(&word, models)
        }
    });
    ids.collect()
}

/// Fails where a word lacks a factor that the models look at.
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
    /// The translations that markup forces, as options of unknown words: they take the
    /// place of the tables, and `prob` is a score of the unknown-word penalty.
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
                // To Moses2 a probability of 0 is none at all.
                let probability = probability.filter(|&p| p != 0.0);
                let scores: Vec<f32> =
                    probability.iter().map(|&p| Ln::from_probability(p).0).collect();
                let total = system.plan.features.unknown_word.forced_score(&scores);
                // One word for one word is aligned to it, as a copied word is.
                let one_to_one = words.len() == 1 && span.end - span.start == 1;
                let alignment = if one_to_one { vec![(0, 0)] } else { Vec::new() };
                let details = options.push_input_details(InputPhraseDetails {
                    source: OptionSource::Markup,
                    scores,
                    alignment,
                });
                phrases.push(InputPhrase { total, words, details });
            }
            // They share a slot with the copied word, where there is to be one.
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

    /// The options that the sentence's own table has, as sentence table feature `number`
    /// scores them, for the spans about which `step` asks.
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

/// The copy of the word at `position`, marked, or left out, as settings say.
pub(super) fn copy_unknown_word(
    system: &System,
    sentence: &mut Sentence,
    position: u32,
) -> InputPhrase {
    let word = sentence.ids()[position as usize];
    let target = match (&system.settings.mark_unknown, system.settings.drop_unknown) {
        (_, true) => None,
        (None, false) => Some(word),
        (Some((prefix, suffix)), false) => {
            let bytes = sentence.word(word, &system.models);
            let (prefix, suffix) = (prefix.as_bytes(), suffix.as_bytes());
            let marked = match &system.models.factor_scheme {
                None => [prefix, bytes, suffix].concat(),
                Some(scheme) => scheme.mark_unknown(bytes, prefix, suffix),
            };
            Some(sentence.intern(&marked, &system.models))
        }
    };
    InputPhrase {
        total: system.plan.features.unknown_word.copied_word_score(),
        words: target.into_iter().collect(),
        details: InputPhrase::COPIED,
    }
}
