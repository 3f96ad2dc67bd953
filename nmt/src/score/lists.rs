//! Scores of lists: many translations of each sentence, by a model of either direction.
//!
//! A model that translates in the direction of the lists encodes each sentence once, and shares the
//! states of translations that begin alike. A model of the other direction reads the translations,
//! and scores the sentence given each of them. A language model scores translations without the
//! sentence.

use std::cmp::Reverse;

use super::{LengthLimit, Target};
use crate::batch::BatchLimits;
use crate::translate::{LoadedModels, Scorer, TokenizerScratch, describe_score};
use crate::{Error, Result};

/// The maximum number of translations in a batch of sentences that are encoded together.
const MAX_BATCH_TRANSLATIONS: usize = 512;

/// The side of a pair that a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoringDirection {
    /// The model reads the sentence and scores its translations.
    Forward,
    /// The model reads a translation and scores the sentence.
    Reverse,
}

/// Options of scoring lists.
#[derive(Clone, Debug, PartialEq)]
pub struct ListOptions {
    /// The side that the model reads.
    pub direction: ScoringDirection,
    /// Whether the texts are tokenised already.
    pub is_tokenized: bool,
    /// The limit of the length of sentences and of translations.
    pub limit: LengthLimit,
    /// Scores are divided by `n^normalize`, where n is the number of scored tokens, including
    /// `</s>`.
    pub normalize: f32,
    /// The maximum number of texts that a model reads together.
    pub mini_batch: usize,
}

impl Default for ListOptions {
    fn default() -> Self {
        ListOptions {
            direction: ScoringDirection::Forward,
            is_tokenized: false,
            limit: LengthLimit::error_above(super::MAX_LENGTH),
            normalize: 0.0,
            mini_batch: 32,
        }
    }
}

/// A sentence with translations.
#[derive(Clone, Copy, Debug)]
pub struct TextList<'a> {
    /// The sentence; a language model does not read it.
    pub source: &'a [u8],
    /// Translations of the sentence.
    pub translations: &'a [&'a [u8]],
}

/// A failure of scoring lists.
#[derive(Debug)]
pub enum ListError {
    /// A text has no score.
    Text {
        /// The index of its list.
        list: usize,
        /// The index of the translation; `None` for the sentence.
        translation: Option<usize>,
        /// The reason.
        reason: String,
    },
    /// The model failed.
    Model(Error),
}

/// A model, or an ensemble, that scores lists; threads share it.
pub struct ListModel {
    models: LoadedModels,
    options: ListOptions,
}

/// A scorer of lists for one thread.
pub struct ListScorer<'m> {
    model: &'m ListModel,
    scorer: Scorer,
    scratch: TokenizerScratch,
}

/// The ids of a list.
struct EncodedList {
    source: Vec<u32>,
    translations: Vec<Vec<u32>>,
}

impl ListModel {
    /// Returns a model with its options. `has_sentences`: whether the lists come with their
    /// sentences.
    ///
    /// # Errors
    /// If the model needs sentences and there are none, or a language model is to score sentences.
    pub fn new(
        mut models: LoadedModels,
        options: ListOptions,
        has_sentences: bool,
    ) -> Result<Self> {
        if !has_sentences && models.has_source() {
            let reason = "it translates, so it needs the sentences too: give --source";
            return Err(Error::Unsupported { file: "the model".into(), reason: reason.into() });
        }
        if !models.has_source() && options.direction == ScoringDirection::Reverse {
            let reason = "a language model has no direction: it scores translations alone";
            return Err(Error::Untranslatable { reason: reason.into() });
        }
        let sides = models.tokenizers_mut();
        sides.iter_mut().for_each(|side| side.input_is_tokenized = options.is_tokenized);
        Ok(ListModel { models, options })
    }

    /// Whether it reads the sentences of lists; a language model does not.
    pub fn reads_sentences(&self) -> bool {
        self.models.has_source()
    }

    /// Returns a scorer for one thread.
    ///
    /// # Errors
    /// If a device cannot provide memory.
    pub fn scorer(&self) -> Result<ListScorer<'_>> {
        let by_steps = self.options.direction == ScoringDirection::Forward;
        let scorer = Scorer::new(&self.models, by_steps)?;
        Ok(ListScorer { model: self, scorer, scratch: TokenizerScratch::default() })
    }
}

impl ListScorer<'_> {
    /// Returns the natural logarithms of the probabilities of all pairs of each list, normalised as
    /// the options say. The scores of a list do not depend on other lists.
    ///
    /// # Errors
    /// If a text is too long and the limit does not crop, if a text is empty and the model adds no
    /// special tokens, if a score is not finite, or if the device fails.
    pub fn score(&mut self, lists: &[TextList<'_>]) -> Result<Vec<Vec<f32>>, ListError> {
        let encoded = self.encode(lists)?;
        let scores = self.score_encoded(&encoded)?;
        for (list, scores) in scores.iter().enumerate() {
            if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
                let reason = describe_score(scores[at]);
                return Err(ListError::Text { list, translation: Some(at), reason });
            }
        }
        Ok(scores)
    }

    /// Works like [`ListScorer::score`], for one list of which some translations may have no score:
    /// they get the reason. The others are scored once.
    ///
    /// # Errors
    /// If the sentence has no score, or the device fails.
    pub fn score_each(
        &mut self,
        list: TextList<'_>,
    ) -> Result<Vec<Result<f32, String>>, ListError> {
        let source = self.encode_source(0, list.source)?;
        let (mut translations, mut refusals) = (Vec::new(), Vec::new());
        for text in list.translations {
            match self.encode_translation(text) {
                Ok(ids) => {
                    translations.push(ids);
                    refusals.push(None);
                }
                Err(reason) => refusals.push(Some(reason)),
            }
        }
        let lists = [EncodedList { source, translations }];
        // A batch without translations has nothing to compute.
        let scores = match &lists[0].translations[..] {
            [] => Vec::new(),
            _ => self.score_encoded(&lists)?,
        };
        let mut scores = scores.into_iter().flatten();
        let results = refusals.into_iter().map(|refusal| match refusal {
            Some(reason) => Err(reason),
            None => {
                let score = scores.next().unwrap_or(f32::NAN);
                if score.is_finite() { Ok(score) } else { Err(describe_score(score)) }
            }
        });
        Ok(results.collect())
    }

    fn encode(&mut self, lists: &[TextList<'_>]) -> Result<Vec<EncodedList>, ListError> {
        let mut encoded = Vec::with_capacity(lists.len());
        for (number, list) in lists.iter().enumerate() {
            let source = self.encode_source(number, list.source)?;
            let translations = list.translations.iter().enumerate().map(|(at, text)| {
                let refuse =
                    |reason| ListError::Text { list: number, translation: Some(at), reason };
                self.encode_translation(text).map_err(refuse)
            });
            let translations = translations.collect::<Result<_, _>>()?;
            encoded.push(EncodedList { source, translations });
        }
        Ok(encoded)
    }

    /// Returns the ids of the sentence of list `list`; none if the model does not read it.
    fn encode_source(&mut self, list: usize, text: &[u8]) -> Result<Vec<u32>, ListError> {
        if !self.model.models.has_source() {
            return Ok(Vec::new());
        }
        let side = match self.model.options.direction {
            ScoringDirection::Forward => 0,
            ScoringDirection::Reverse => 1,
        };
        let refuse = |reason| ListError::Text { list, translation: None, reason };
        self.encode_text(side, text).map_err(refuse)
    }

    fn encode_translation(&mut self, text: &[u8]) -> Result<Vec<u32>, String> {
        let side = match self.model.options.direction {
            ScoringDirection::Forward => 1,
            ScoringDirection::Reverse => 0,
        };
        self.encode_text(side, text)
    }

    fn encode_text(&mut self, side: usize, text: &[u8]) -> Result<Vec<u32>, String> {
        let tokenizer = &self.model.models.tokenizers()[side];
        let ids = tokenizer.encode_to_score(text, self.model.options.limit, &mut self.scratch);
        ids.map(|(_, ids)| ids)
    }

    fn score_encoded(&mut self, lists: &[EncodedList]) -> Result<Vec<Vec<f32>>, ListError> {
        let mut scores: Vec<Vec<f32>> =
            lists.iter().map(|list| vec![0.0; list.translations.len()]).collect();
        match self.model.options.direction {
            ScoringDirection::Forward => self.score_forward(lists, &mut scores)?,
            ScoringDirection::Reverse => self.score_reverse(lists, &mut scores)?,
        }
        Ok(scores)
    }

    /// Scores the translations of whole lists, lists of similar lengths together.
    fn score_forward(
        &mut self,
        lists: &[EncodedList],
        scores: &mut [Vec<f32>],
    ) -> Result<(), ListError> {
        let length = |list: &EncodedList| {
            list.source.len() + list.translations.iter().map(Vec::len).max().unwrap_or(0)
        };
        let mut order: Vec<usize> = (0..lists.len()).collect();
        order.sort_by_key(|&list| Reverse(length(&lists[list])));
        let limits = BatchLimits {
            max_sentences: self.model.options.mini_batch,
            max_tokens: MAX_BATCH_TRANSLATIONS,
        };
        for batch in limits.divide(order, |&list| lists[list].translations.len()) {
            let sources: Vec<&[u32]> = batch.iter().map(|&list| &lists[list].source[..]).collect();
            let places = batch.iter().enumerate().flat_map(|(source_index, &list)| {
                (0..lists[list].translations.len()).map(move |at| (source_index, list, at))
            });
            let places: Vec<(usize, usize, usize)> = places.collect();
            let targets = places.iter().map(|&(source_index, list, at)| Target {
                source_index,
                tokens: &lists[list].translations[at],
            });
            let found = self.score_targets(&sources, &targets.collect::<Vec<_>>())?;
            places.iter().zip(found).for_each(|(&(_, list, at), score)| scores[list][at] = score);
        }
        Ok(())
    }

    /// Scores sentences given their translations, pairs of similar lengths together.
    fn score_reverse(
        &mut self,
        lists: &[EncodedList],
        scores: &mut [Vec<f32>],
    ) -> Result<(), ListError> {
        let pairs = lists
            .iter()
            .enumerate()
            .flat_map(|(list, encoded)| (0..encoded.translations.len()).map(move |at| (list, at)));
        let length = |&(list, at): &(usize, usize)| {
            lists[list].source.len() + lists[list].translations[at].len()
        };
        let limits = BatchLimits {
            max_sentences: self.model.options.mini_batch,
            max_tokens: super::MAX_BATCH_TOKENS,
        };
        for batch in limits.divide_sorted(pairs.collect(), length) {
            let sources: Vec<&[u32]> =
                batch.iter().map(|&(list, at)| &lists[list].translations[at][..]).collect();
            let targets = batch.iter().enumerate().map(|(source_index, &(list, _))| Target {
                source_index,
                tokens: &lists[list].source,
            });
            let found = self.score_targets(&sources, &targets.collect::<Vec<_>>())?;
            batch.iter().zip(found).for_each(|(&(list, at), score)| scores[list][at] = score);
        }
        Ok(())
    }

    fn score_targets(
        &mut self,
        sources: &[&[u32]],
        targets: &[Target],
    ) -> Result<Vec<f32>, ListError> {
        let models = &self.model.models;
        let found = self.scorer.score(models, models.target_prefix(), sources, targets, false);
        let power = self.model.options.normalize;
        let found = found.map_err(ListError::Model)?.into_iter();
        Ok(found.map(|scores| scores.normalized_sum(power)).collect())
    }
}
