//! Filter for the options of tables and for copied words in sentences with forced translations, and
//! the words of phrases that come from the sentence.

use miriam_textio::{WordId, fields};

use crate::factors::surface;
use crate::input_line::LineAnnotations;
use crate::markup::{SentenceMarkup, XmlInputMode};
use crate::models::Models;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::system::System;
use crate::translation_options::{InputPhrase, OptionList};

/// A filter that tells which options of tables, and which copies of unknown words, are used where
/// translations are forced.
pub(super) struct MarkupFilter<'a> {
    pub(super) annotations: &'a SentenceMarkup,
    mode: XmlInputMode,
    /// In constraint mode: the forced translations of each span.
    required: Vec<(Span, Vec<Vec<WordId>>)>,
}

impl<'a> MarkupFilter<'a> {
    /// Creates the filter for `sentence`. It keeps everything if nothing is forced.
    pub(super) fn new(
        system: &System,
        sentence: &mut Sentence,
        line_annotations: &'a LineAnnotations,
    ) -> Self {
        let annotations = &line_annotations.markup;
        let mode = if annotations.forced_options.is_empty() {
            XmlInputMode::PassThrough
        } else {
            system.settings.input_format.markup
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

    /// Whether an unknown word may be copied. In the modes `exclusive` and `constraint`, a copy
    /// would circumvent a forced translation.
    pub(super) fn allows_copying(&self, span: Span) -> bool {
        !matches!(self.mode, XmlInputMode::Exclusive | XmlInputMode::Constraint)
            || !self.annotations.overlaps_forced(span)
    }

    /// Returns the options of `list` for `span` that are allowed, and their indices in `list`;
    /// `None` if all are allowed.
    ///
    /// In constraint mode, an option must contain each forced span that it touches, and one of the
    /// translations of that span word for word.
    pub(super) fn filter_options(
        &self,
        span: Span,
        list: &OptionList,
    ) -> Option<(OptionList, Vec<u32>)> {
        if self.mode != XmlInputMode::Constraint || !self.annotations.overlaps_forced(span) {
            return None;
        }
        let touched =
            self.required.iter().filter(move |(s, _)| s.start < span.end && span.start < s.end);
        let inside = touched.clone().all(|(s, _)| span.start <= s.start && s.end <= span.end);
        Some(list.filter(|words| {
            inside
                && touched.clone().all(|(_, translations)| {
                    translations.iter().any(|wanted| {
                        wanted.is_empty() || words.windows(wanted.len()).any(|part| part == wanted)
                    })
                })
        }))
    }
}

/// Returns the copy of the word at `position` as an option. If the settings say so, the word is
/// marked, or dropped so that the option has no words.
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

/// Returns the words of a target phrase that comes with the sentence. The parts of a word are the
/// factors of the numbers `order`, or 0, 1, 2 and so on without an order.
pub(super) fn intern_words(
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
