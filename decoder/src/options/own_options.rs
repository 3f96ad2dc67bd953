//! Options that come with the sentence: translations forced by markup
//! (`phrase-decoding.md` 3.2), the entries of its own table (1.9) and copied words,
//! and what forced translations mean to the options of the tables.

use miriam_textio::{Ln, WordId, fields};

use super::prepare::OwnPhrase;
use super::{OptionId, OptionList, SentenceOptions};
use crate::features::Span;
use crate::input_line::Beside;
use crate::markup::{Annotations, ForcedOption, MarkupMode};
use crate::search::LanguageModelScores;
use crate::sentence::Sentence;
use crate::system::{Lookup, System};
use crate::{Error, Result};

/// What gives a phrase that comes with the sentence, and so scores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Giver {
    /// Markup: a translation is forced, and its score is one of the unknown-word
    /// penalty.
    Markup,
    /// The table in the line, as the feature of this number sees it.
    SentenceTable(usize),
}

/// A phrase that comes with the sentence, beside its words: what is needed of it for
/// output.
#[derive(Debug)]
pub(crate) struct OwnPart {
    pub(crate) giver: Giver,
    /// Natural logarithms, unweighted, one a component of the feature that scores it
    /// or, for forced translations without a probability, none.
    pub(crate) scores: Vec<f32>,
    /// Pairs of source and target positions.
    pub(crate) alignment: Vec<(u16, u16)>,
}

/// What the tables may say where translations are forced.
pub(super) struct TableRule<'a> {
    annotations: &'a Annotations,
    mode: MarkupMode,
    /// In constraint mode: the forced translations of each span.
    required: Vec<(Span, Vec<Vec<WordId>>)>,
}

impl<'a> TableRule<'a> {
    /// The rule for `sentence`; where nothing is forced, that there is none.
    pub(super) fn new(system: &System, sentence: &mut Sentence, beside: &'a Beside) -> Self {
        let annotations = &beside.annotations;
        let mode = match annotations.options.is_empty() {
            true => MarkupMode::PassThrough,
            false => system.settings.text.markup,
        };
        let mut required = Vec::new();
        if mode == MarkupMode::Constraint {
            for options in annotations.by_span() {
                let words = options.iter().map(|o| words(&o.translation, sentence, system, None));
                required.push((options[0].span, words.collect()));
            }
        }
        TableRule { annotations, mode, required }
    }

    /// Whether tables are asked for `span`.
    pub(super) fn allows_tables(&self, span: Span) -> bool {
        self.mode != MarkupMode::Exclusive || !self.annotations.overlaps(span)
    }

    /// Whether an unknown word may be copied. Where only forced translations or
    /// those that contain them count, copying would be a way around them.
    pub(super) fn allows_unknown(&self, span: Span) -> bool {
        !matches!(self.mode, MarkupMode::Exclusive | MarkupMode::Constraint)
            || !self.annotations.overlaps(span)
    }

    /// The options of `list` for `span` that count, and their places there; nothing
    /// where all do.
    ///
    /// Under a constraint an option must take in each forced stretch that it
    /// touches, and contain one of its translations word for word.
    pub(super) fn filter(&self, span: Span, list: &OptionList) -> Option<(OptionList, Vec<u32>)> {
        if self.mode != MarkupMode::Constraint || !self.annotations.overlaps(span) {
            return None;
        }
        let touched = || {
            let touches = |s: &Span| s.start < span.end && span.start < s.end;
            self.required.iter().filter(move |(s, _)| touches(s))
        };
        let inside = touched().all(|(s, _)| span.start <= s.start && s.end <= span.end);
        Some(list.filtered(|words| {
            let contains = |wanted: &Vec<WordId>| {
                wanted.is_empty() || words.windows(wanted.len()).any(|part| part == wanted)
            };
            inside && touched().all(|(_, translations)| translations.iter().any(contains))
        }))
    }
}

/// The words of a phrase that comes with the sentence; its columns are the
/// factors `order`.
fn words(
    phrase: &[u8],
    sentence: &mut Sentence,
    system: &System,
    order: Option<&[usize]>,
) -> Vec<WordId> {
    let mut word = Vec::new();
    let ids = fields::words(phrase).map(|written| match &system.factors {
        None => sentence.intern(crate::sentence::surface(written), system),
        Some(scheme) => {
            scheme.place(written, order, &mut word);
            sentence.intern(&word, system)
        }
    });
    ids.collect()
}

/// Fails where a word lacks a factor that the system looks at.
fn check(words: &[WordId], sentence: &Sentence, system: &System, what: &str) -> Result<()> {
    let Some(scheme) = &system.factors else { return Ok(()) };
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
        rule: &TableRule<'_>,
        lms: &mut [LanguageModelScores],
    ) -> Result<()> {
        for options in rule.annotations.by_span() {
            let span = options[0].span;
            let mut phrases = Vec::with_capacity(options.len());
            for ForcedOption { translation, probability, .. } in options {
                let words = words(translation, sentence, system, None);
                check(&words, sentence, system, "a translation in the markup")?;
                // To Moses2 a probability of 0 is none at all.
                let probability = probability.filter(|&p| p != 0.0);
                let scores: Vec<f32> =
                    probability.iter().map(|&p| Ln::of_probability(p).0).collect();
                let mut total = 0f32;
                for score in &scores {
                    total += score * system.unknown_weight;
                }
                // One word for one word stands for it, as a copied word does.
                let one_to_one = words.len() == 1 && span.end - span.start == 1;
                let alignment = if one_to_one { vec![(0, 0)] } else { Vec::new() };
                let part = self.own_part(OwnPart { giver: Giver::Markup, scores, alignment });
                phrases.push(OwnPhrase { total, words, part });
            }
            // They share a place with the copied word, where there is to be one.
            let is_word = span.end - span.start == 1;
            if is_word && system.settings.copy_known_words && rule.allows_unknown(span) {
                phrases.push(copied_word(system, sentence, span.start));
            }
            let source = sentence.stretch(span);
            let list = self.preparer.own(system, source, &phrases, &self.own_parts, None)?;
            self.append(&list, system, slot, span, None, lms);
        }
        Ok(())
    }

    /// The options that the sentence's own table has, as feature `number` of its
    /// kind weighs them, where `step` asks for them and `rule` allows them.
    pub(super) fn collect_sentence_table(
        &mut self,
        system: &System,
        step: Lookup,
        number: usize,
        sentence: &mut Sentence,
        beside: &Beside,
        lms: &mut [LanguageModelScores],
    ) -> Result<()> {
        let feature = &system.sentence_tables[number];
        let longest = beside.table.longest().min(system.settings.max_phrase_length) as u32;
        let length = sentence.len() as u32;
        let mut source = Vec::new();
        for start in 0..length {
            for end in start + 1..=length.min(start + longest) {
                let span = Span { start, end };
                sentence.stretch(span).written(&feature.input_factors, system, &mut source);
                let entries = beside.table.find(&source);
                if entries.is_empty() || !step.backoff.asks(end - start, || self.has_options(span))
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
                    let words = words(&entry.target, sentence, system, order);
                    check(&words, sentence, system, "the table in the line")?;
                    let part = self.own_part(OwnPart {
                        giver: Giver::SentenceTable(number),
                        scores: entry.scores.clone(),
                        alignment: entry.alignment.clone(),
                    });
                    phrases.push(OwnPhrase { total, words, part });
                }
                let (stretch, limit) = (sentence.stretch(span), feature.limit);
                let list = self.preparer.own(system, stretch, &phrases, &self.own_parts, limit)?;
                self.append(&list, system, step.slot, span, None, lms);
            }
        }
        Ok(())
    }

    fn own_part(&mut self, part: OwnPart) -> u32 {
        self.own_parts.push(part);
        self.own_parts.len() as u32 - 1
    }

    /// Appends the pairs of source and target positions within an option, as they
    /// are written, to `points`.
    pub(crate) fn push_alignment(
        &self,
        option: OptionId,
        system: &System,
        points: &mut Vec<(u16, u16)>,
    ) {
        let origin = self.origin(option);
        match (origin.table, self.own_part_of(option)) {
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
    pub(crate) fn own_part_of(&self, option: OptionId) -> Option<&OwnPart> {
        let origin = self.origin(option);
        match origin.table {
            Some(_) => None,
            // The number of a copied word is beyond all.
            None => self.own_parts.get(origin.alignment as usize),
        }
    }
}

/// A word that stands for itself, marked, or left out: an unknown one.
pub(super) fn copied_word(system: &System, sentence: &mut Sentence, position: u32) -> OwnPhrase {
    let word = sentence.ids()[position as usize];
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
    OwnPhrase {
        total: 0f32 + -100f32 * system.unknown_weight,
        words: target.into_iter().collect(),
        part: OwnPhrase::COPIED,
    }
}
