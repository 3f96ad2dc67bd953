//! The words of a translation as they are printed: the output factors, and entities in
//! the place of placeholders (`docs/spec/phrase-decoding.md` 3.13). All outputs print words through
//! this module.

use crate::models::Models;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::translation_options::{OptionId, SentenceOptions};
use crate::{Error, Result};

/// The surface forms of a sentence's options.
#[derive(Clone, Copy)]
pub(crate) struct SurfaceForms<'a> {
    pub(crate) models: &'a Models,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
}

impl<'a> SurfaceForms<'a> {
    /// Calls `each` with the words of `option`, which translates `span`, in order. Fails
    /// before the first call if a placeholder is not aligned to exactly one word.
    pub(crate) fn for_each_word(
        self,
        option: OptionId,
        span: Span,
        each: impl FnMut(&[u8]),
    ) -> Result<()> {
        let entities = self.placeholder_entities(option, span)?;
        self.visit_words(option, &entities, each);
        Ok(())
    }

    /// Works like [`SurfaceForms::for_each_word`], without errors: placeholders that cannot
    /// be replaced stay.
    pub(crate) fn for_each_word_lossy(self, option: OptionId, span: Span, each: impl FnMut(&[u8])) {
        let entities = self.placeholder_entities(option, span).unwrap_or_default();
        self.visit_words(option, &entities, each);
    }

    /// Calls `each` with the words of `option`, and with `entities` at their target positions.
    fn visit_words(self, option: OptionId, entities: &[(u16, &[u8])], mut each: impl FnMut(&[u8])) {
        for (position, &word) in self.options.words(option).iter().enumerate() {
            let word = self.sentence.word(word, self.models);
            let entity = entities.iter().rev().find(|(at, _)| usize::from(*at) == position);
            match (entity, &self.models.factor_scheme) {
                (Some((_, entity)), _) => each(entity),
                (None, Some(scheme)) => each(&scheme.output_form(word)),
                (None, None) => each(word),
            }
        }
    }

    /// Returns the target positions of placeholders, with the entities printed there.
    fn placeholder_entities(self, option: OptionId, span: Span) -> Result<Vec<(u16, &'a [u8])>> {
        let mut entities = Vec::new();
        if !self.sentence.has_placeholders() {
            return Ok(entities);
        }
        // A phrase without target words drops entities too.
        if self.options.words(option).is_empty() {
            return Ok(entities);
        }
        let mut alignment = Vec::new();
        self.options.push_alignment_points(option, self.models, &mut alignment);
        for (position, entity) in self.sentence.placeholders(span) {
            let mut targets: Vec<u16> = alignment
                .iter()
                .filter(|(source, _)| u32::from(*source) == position)
                .map(|(_, target)| *target)
                .collect();
            targets.sort_unstable();
            targets.dedup();
            let [target] = targets[..] else {
                let word = self.sentence.ids()[(span.start + position) as usize];
                return Err(Error::line(format!(
                    "the placeholder {:?}, word {}, is aligned to {} words of its translation, \
                     not to one; the phrase table needs alignments, and placeholders must be \
                     translated by words of their own",
                    String::from_utf8_lossy(self.sentence.word(word, self.models)),
                    span.start + position + 1,
                    targets.len(),
                )));
            };
            entities.push((target, entity));
        }
        Ok(entities)
    }
}
