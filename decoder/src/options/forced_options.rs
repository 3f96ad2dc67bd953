//! Options that come with the sentence: translations forced by markup
//! (`phrase-decoding.md` 3.2), the entries of its own table (1.9) and copied words,
//! and what forced translations mean to the options of the tables.

use miriam_textio::{Ln, WordId, fields};

use super::option_builder::InputPhrase;
use super::{OptionId, OptionList, SentenceOptions};
use crate::features::Span;
use crate::input_line::LineAnnotations;
use crate::markup::{ForcedOption, MarkupMode, SentenceMarkup};
use crate::search::LmScoreCache;
use crate::sentence::Sentence;
use crate::system::{System, TableLookup};
use crate::{Error, Result};

/// What gives a phrase that comes with the sentence, and so scores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionSource {
    /// Markup: a translation is forced, and its score is one of the unknown-word
    /// penalty.
    Markup,
    /// The table in the line, as the feature of this number sees it.
    SentenceTable(usize),
}

/// A phrase that comes with the sentence, beside its words: what is needed of it for
/// output.
#[derive(Debug)]
pub(crate) struct InputPhraseDetails {
    pub(crate) source: OptionSource,
    /// Natural logarithms, unweighted, one a component of the feature that scores it
    /// or, for forced translations without a probability, none.
    pub(crate) scores: Vec<f32>,
    /// Pairs of source and target positions.
    pub(crate) alignment: Vec<(u16, u16)>,
}

/// What the tables may say where translations are forced.
pub(super) struct MarkupFilter<'a> {
    annotations: &'a SentenceMarkup,
    mode: MarkupMode,
    /// In constraint mode: the forced translations of each span.
    required: Vec<(Span, Vec<Vec<WordId>>)>,
}

impl<'a> MarkupFilter<'a> {
    /// The rule for `sentence`; where nothing is forced, that there is none.
    pub(super) fn new(
        system: &System,
        sentence: &mut Sentence,
        line_annotations: &'a LineAnnotations,
    ) -> Self {
        let annotations = &line_annotations.markup;
        let mode = match annotations.forced_options.is_empty() {
            true => MarkupMode::PassThrough,
            false => system.settings.input_format.markup,
        };
        let mut required = Vec::new();
        if mode == MarkupMode::Constraint {
            for options in annotations.forced_options_by_span() {
                let words =
                    options.iter().map(|o| intern_words(&o.translation, sentence, system, None));
                required.push((options[0].span, words.collect()));
            }
        }
        MarkupFilter { annotations, mode, required }
    }

    /// Whether tables are asked for `span`.
    pub(super) fn allows_tables(&self, span: Span) -> bool {
        self.mode != MarkupMode::Exclusive || !self.annotations.overlaps_forced(span)
    }

    /// Whether an unknown word may be copied. Where only forced translations or
    /// those that contain them count, copying would be a way around them.
    pub(super) fn allows_copying(&self, span: Span) -> bool {
        !matches!(self.mode, MarkupMode::Exclusive | MarkupMode::Constraint)
            || !self.annotations.overlaps_forced(span)
    }

    /// The options of `list` for `span` that count, and their places there; nothing
    /// where all do.
    ///
    /// Under a constraint an option must take in each forced stretch that it
    /// touches, and contain one of its translations word for word.
    pub(super) fn filter_options(
        &self,
        span: Span,
        list: &OptionList,
    ) -> Option<(OptionList, Vec<u32>)> {
        if self.mode != MarkupMode::Constraint || !self.annotations.overlaps_forced(span) {
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
    system: &System,
    order: Option<&[usize]>,
) -> Vec<WordId> {
    let mut word = Vec::new();
    let ids = fields::split_words(phrase).map(|written| match &system.factor_scheme {
        None => sentence.intern(crate::sentence::surface(written), system),
        Some(scheme) => {
            scheme.parse_word(written, order, &mut word);
            sentence.intern(&word, system)
        }
    });
    ids.collect()
}

/// Fails where a word lacks a factor that the system looks at.
fn check_target_factors(
    words: &[WordId],
    sentence: &Sentence,
    system: &System,
    what: &str,
) -> Result<()> {
    let Some(scheme) = &system.factor_scheme else { return Ok(()) };
    for &word in words {
        let word = sentence.word(word, system);
        if let Some(missing) = scheme.missing_in_target(word) {
            let word = String::from_utf8_lossy(word);
            return Err(Error::line(format!("{what}: the target word {word:?} {missing}")));
        }
    }
    Ok(())
}

impl SentenceOptions {
    /// The translations that markup forces, as options of unknown words: they
    /// stand in for the tables, and `prob` is a score of the unknown-word
    /// penalty.
    pub(super) fn collect_forced(
        &mut self,
        system: &System,
        slot: usize,
        sentence: &mut Sentence,
        rule: &MarkupFilter<'_>,
        lms: &mut [LmScoreCache],
    ) -> Result<()> {
        for options in rule.annotations.forced_options_by_span() {
            let span = options[0].span;
            let mut phrases = Vec::with_capacity(options.len());
            for ForcedOption { translation, probability, .. } in options {
                let words = intern_words(translation, sentence, system, None);
                check_target_factors(&words, sentence, system, "a translation in the markup")?;
                // To Moses2 a probability of 0 is none at all.
                let probability = probability.filter(|&p| p != 0.0);
                let scores: Vec<f32> =
                    probability.iter().map(|&p| Ln::from_probability(p).0).collect();
                let mut total = 0f32;
                for score in &scores {
                    total += score * system.unknown_word_weight;
                }
                // One word for one word stands for it, as a copied word does.
                let one_to_one = words.len() == 1 && span.end - span.start == 1;
                let alignment = if one_to_one { vec![(0, 0)] } else { Vec::new() };
                let part = self.push_input_details(InputPhraseDetails {
                    source: OptionSource::Markup,
                    scores,
                    alignment,
                });
                phrases.push(InputPhrase { total, words, details: part });
            }
            // They share a place with the copied word, where there is to be one.
            let is_word = span.end - span.start == 1;
            if is_word && system.settings.copy_known_words && rule.allows_copying(span) {
                phrases.push(copy_unknown_word(system, sentence, span.start));
            }
            let source = sentence.source_span(span);
            let list = self.option_builder.build_input_options(
                system,
                source,
                &phrases,
                &self.input_details,
                None,
            )?;
            self.append_list(&list, system, slot, span, None, lms);
        }
        Ok(())
    }

    /// The options that the sentence's own table has, as feature `number` of its
    /// kind weighs them, where `step` asks for them and `rule` allows them.
    pub(super) fn collect_sentence_table(
        &mut self,
        system: &System,
        step: TableLookup,
        number: usize,
        sentence: &mut Sentence,
        line_annotations: &LineAnnotations,
        lms: &mut [LmScoreCache],
    ) -> Result<()> {
        let feature = &system.sentence_tables[number];
        let longest = line_annotations
            .sentence_table
            .max_source_length()
            .min(system.settings.max_phrase_length) as u32;
        let length = sentence.len() as u32;
        let mut source = Vec::new();
        for start in 0..length {
            for end in start + 1..=length.min(start + longest) {
                let span = Span { start, end };
                sentence.source_span(span).write_factored(
                    &feature.input_factors,
                    system,
                    &mut source,
                );
                let entries = line_annotations.sentence_table.find(&source);
                if entries.is_empty()
                    || !step.backoff.should_query(end - start, || self.has_options(span))
                {
                    continue;
                }
                let mut phrases = Vec::with_capacity(entries.len());
                for entry in entries {
                    if entry.scores.len() != feature.weights.len() {
                        return Err(Error::line(format!(
                            "an entry of the table for {:?} has {} scores, {} has {} weights",
                            String::from_utf8_lossy(&source),
                            entry.scores.len(),
                            feature.name,
                            feature.weights.len()
                        )));
                    }
                    let mut total = 0f32;
                    for (score, weight) in entry.scores.iter().zip(&feature.weights) {
                        total += score * weight;
                    }
                    let order = feature.output_factors.as_deref();
                    let words = intern_words(&entry.target, sentence, system, order);
                    check_target_factors(&words, sentence, system, "the table in the line")?;
                    let part = self.push_input_details(InputPhraseDetails {
                        source: OptionSource::SentenceTable(number),
                        scores: entry.scores.clone(),
                        alignment: entry.alignment.clone(),
                    });
                    phrases.push(InputPhrase { total, words, details: part });
                }
                let (stretch, limit) = (sentence.source_span(span), feature.table_limit);
                let list = self.option_builder.build_input_options(
                    system,
                    stretch,
                    &phrases,
                    &self.input_details,
                    limit,
                )?;
                self.append_list(&list, system, step.slot, span, None, lms);
            }
        }
        Ok(())
    }

    fn push_input_details(&mut self, part: InputPhraseDetails) -> u32 {
        self.input_details.push(part);
        self.input_details.len() as u32 - 1
    }

    /// Appends the pairs of source and target positions within an option, as they
    /// are written, to `points`.
    pub(crate) fn push_alignment_points(
        &self,
        option: OptionId,
        system: &System,
        points: &mut Vec<(u16, u16)>,
    ) {
        let origin = self.origin(option);
        match (origin.table, self.input_details(option)) {
            (Some(table), _) => {
                let phrases = &system.tables[table as usize].phrases;
                points.extend(phrases.alignment_points(origin.alignment));
            }
            (None, Some(part)) => points.extend(&part.alignment),
            // A copied word stands for itself.
            (None, None) => points.extend(self.words(option).iter().map(|_| (0, 0))),
        }
    }

    /// What came with the sentence and became `option`; nothing for options of
    /// tables and for copied words.
    pub(crate) fn input_details(&self, option: OptionId) -> Option<&InputPhraseDetails> {
        let origin = self.origin(option);
        match origin.table {
            Some(_) => None,
            // The number of a copied word is beyond all.
            None => self.input_details.get(origin.alignment as usize),
        }
    }
}

/// A word that stands for itself, marked, or left out: an unknown one.
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
            let bytes = sentence.word(word, system);
            let (prefix, suffix) = (prefix.as_bytes(), suffix.as_bytes());
            let marked = match &system.factor_scheme {
                None => [prefix, bytes, suffix].concat(),
                Some(scheme) => scheme.mark_unknown(bytes, prefix, suffix),
            };
            Some(sentence.intern(&marked, system))
        }
    };
    InputPhrase {
        total: 0f32 + -100f32 * system.unknown_word_weight,
        words: target.into_iter().collect(),
        details: InputPhrase::COPIED,
    }
}
