//! Sentences in a running batch: prepared for the model, translated, and scored by each model of an
//! ensemble. Lines of text and requests of servers differ only in the source of sentences and the
//! destination of translations.

use std::collections::HashMap;

use super::print::ScoredTranslation;
use super::scorer::reverse_before_end;
use super::sentence_parser::InputSentence;
use super::{Translator, pivot};
use crate::Result;
use crate::batch::{self, BatchingOptions, Job, JobSource};
use crate::search::{Request, Translation};
use miriam_nmt_models::ShortlistGenerator;
use miriam_nmt_network::network::{Session, Target, score_targets};

/// Source of sentences that are prepared for the model, and receiver of their translations.
pub(super) trait PreparedSentences {
    /// Returns the next sentences, each with an id that no other sentence under translation has.
    /// `active` is the number of sentences under translation. `None` ends the translation when
    /// these are done. An empty list means that no sentence is available now; it must be returned
    /// only while some are active.
    fn next(&mut self, active: usize) -> Option<Vec<InputSentence>>;

    /// Whether sentence `id` is still wanted; called once per step. An unwanted one is dropped,
    /// without a call of [`finish`](PreparedSentences::finish).
    fn is_wanted(&mut self, id: u64) -> bool {
        let _ = id;
        true
    }

    /// Takes the translations of a sentence, best first; none if its request is empty or an error.
    ///
    /// # Errors
    /// If they cannot be passed on, which ends the translation.
    fn finish(&mut self, sentence: &InputSentence, found: &[ScoredTranslation]) -> Result<()>;
}

/// The memory of one thread for translating sentences.
pub struct TranslationSession {
    session: Box<dyn Session>,
    /// Sessions of the members of an ensemble, created when n-best lists need the scores of each.
    members: Vec<Box<dyn Session>>,
}

impl Translator {
    /// Returns a session for one thread, which serves all variants of this translator.
    ///
    /// # Errors
    /// If a device cannot provide memory.
    pub fn session(&self) -> Result<TranslationSession> {
        Ok(TranslationSession { session: self.models.session()?, members: Vec::new() })
    }

    /// Translates the sentences of `source` on this thread, until it has no more and the sentences
    /// under translation are done.
    ///
    /// # Errors
    /// Those of the device and of `source`. Sentences under translation are dropped then.
    pub(super) fn translate_prepared(
        &self,
        session: &mut TranslationSession,
        source: &mut dyn PreparedSentences,
    ) -> Result<()> {
        // N-best lists show the score of each of several models, or of one model with a weight.
        let scores_by_model = self.options.output.n_best && !self.models.is_single();
        let TranslationSession { session, members } = session;
        if scores_by_model && members.is_empty() {
            *members = self.models.sessions()?;
        }
        let members = if scores_by_model { &mut members[..] } else { &mut [] };
        let mut jobs = SentenceJobs { translator: self, source, members, active: HashMap::new() };
        let batching = BatchingOptions::from_queue(self.options.batch_limits());
        batch::translate_batches(session.as_mut(), &self.search, &batching, &mut jobs)
    }

    /// Returns the shortlist of a sentence; `None` if the model has no shortlist.
    pub(super) fn candidates_for(&self, request: &Request) -> Option<Vec<u32>> {
        let Request { source, prefix, constraints, .. } = request;
        let mut candidates = Vec::new();
        match self.shortlist_generator.as_deref()? {
            ShortlistGenerator::Shortlist(list) => list.candidates(source, &mut candidates),
            ShortlistGenerator::VocabularyMap(map) => map.candidates(source, &mut candidates),
        }
        let required = constraints.iter().flatten().chain(prefix);
        batch::complete_candidates(&mut candidates, required, self.search.eos_id);
        Some(candidates)
    }

    /// Adds to each translation its log-probability by each of `sessions`, or only its own
    /// log-probability if there are none. Removes the target prefix from translations, and reverses
    /// the translations of right-to-left models.
    pub(super) fn score_by_model(
        &self,
        sentence: &InputSentence,
        translations: Vec<Translation>,
        sessions: &mut [Box<dyn Session>],
    ) -> Result<Vec<ScoredTranslation>> {
        let mut features: Vec<Vec<f32>> = match sessions {
            [] => translations.iter().map(|found| vec![found.log_probability]).collect(),
            _ => vec![Vec::new(); translations.len()],
        };
        if !sessions.is_empty() {
            let source = self.models.tokenizers()[0].ids_with_special_tokens(&sentence.pieces);
            let targets = translations.iter().map(|found| {
                let mut words = found.tokens.clone();
                words.push(self.search.eos_id);
                // A translation that was cut at the maximum length has no </s>.
                words.truncate(found.token_scores.len());
                words
            });
            let targets: Vec<_> = targets.collect();
            let given: Vec<_> =
                targets.iter().map(|words| Target { source_index: 0, tokens: words }).collect();
            let lists = sentence.candidates.as_deref().map(|list| [list]);
            let lists = lists.as_ref().map(|list| &list[..]);
            for session in sessions {
                let scores = score_targets(session.as_mut(), &[&source], lists, &given, false)?;
                features.iter_mut().zip(&scores).for_each(|(all, one)| all.push(one.sum()));
            }
        }
        let begins_with_bos = self.models.tokenizers()[0].boundary_tokens.bos_id.is_some();
        let scored = translations.into_iter().zip(features).map(|(mut translation, by_model)| {
            let own = self.models.target_prefix().len();
            translation.tokens.drain(..own.min(translation.tokens.len()));
            translation.token_scores.drain(..own.min(translation.token_scores.len()));
            translation.alignment.drain(..own.min(translation.alignment.len()));
            if self.models.is_right_to_left() {
                reverse(&mut translation);
            }
            if begins_with_bos {
                // Alignments have weights only for the tokens of the line, not for BOS.
                let weights = translation.alignment.iter_mut();
                weights.for_each(|weights| drop(weights.drain(..1.min(weights.len()))));
            }
            if let Some(line) = sentence.pivot.as_deref().filter(|_| self.search.return_alignments)
            {
                let between = sentence.pieces.iter();
                let between = pivot::piece_lengths(between, &self.models.tokenizers()[0]);
                translation.alignment = pivot::compose(&translation.alignment, &between, line);
            }
            ScoredTranslation { translation, model_scores: by_model }
        });
        Ok(scored.collect())
    }
}

/// Reverses the translation of a right-to-left model, and its alignment to the source, which the
/// model has read from right to left; `</s>` stays last.
fn reverse(translation: &mut Translation) {
    let words = translation.tokens.len();
    translation.tokens.reverse();
    let scored = words.min(translation.token_scores.len());
    translation.token_scores[..scored].reverse();
    let aligned = words.min(translation.alignment.len());
    translation.alignment[..aligned].reverse();
    translation.alignment.iter_mut().for_each(|row| reverse_before_end(row));
}

/// The sentences of a source as jobs.
struct SentenceJobs<'a> {
    translator: &'a Translator,
    source: &'a mut dyn PreparedSentences,
    /// Sessions that score translations by each model.
    members: &'a mut [Box<dyn Session>],
    /// Sentences under translation.
    active: HashMap<u64, InputSentence>,
}

impl JobSource for SentenceJobs<'_> {
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>> {
        loop {
            let Some(sentences) = self.source.next(self.active.len()) else { return Ok(None) };
            let nothing_now = sentences.is_empty();
            let mut jobs = Vec::with_capacity(sentences.len());
            for mut sentence in sentences {
                let Ok(Some(request)) = &mut sentence.request else {
                    self.source.finish(&sentence, &[])?;
                    continue;
                };
                let mut request = std::mem::take(request);
                request.candidates = self.translator.candidates_for(&request);
                if !self.members.is_empty() {
                    sentence.candidates = request.candidates.clone();
                }
                let id = sentence.id;
                self.active.insert(id, sentence);
                jobs.push(Job { id, request });
            }
            if nothing_now || !jobs.is_empty() {
                return Ok(Some(jobs));
            }
        }
    }

    fn is_wanted(&mut self, id: u64) -> bool {
        let is_wanted = self.source.is_wanted(id);
        if !is_wanted {
            self.active.remove(&id);
        }
        is_wanted
    }

    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()> {
        let Some(mut sentence) = self.active.remove(&id) else { return Ok(()) };
        let found = match result {
            Ok(found) => self.translator.score_by_model(&sentence, found, self.members)?,
            Err(error) => {
                sentence.request = Err(error.to_string());
                Vec::new()
            }
        };
        self.source.finish(&sentence, &found)
    }
}
