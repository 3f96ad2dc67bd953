//! Sentences that come one by one, from many clients: they join a running batch as soon as
//! half of its places are free.
//!
//! A text has an order and an end, clients have neither. Here a source hands out sentences while
//! there are any, receives their translations, and may cancel sentences meanwhile. A search has one
//! set of options for a whole batch. So a translator makes variants of itself, which share the
//! weights, and sentences with the same options share batches.

use miriam_gpu::DeviceSet;

use super::options::OutputOptions;
use super::print::ScoredTranslation;
use super::sentence_jobs::{PreparedSentences, TranslationSession};
use super::sentence_parser::{InputSentence, SentenceParser};
use super::settings::check_search;
use super::text_segment::TextKind;
use super::{DecodingSettings, LoadedModels, Translator, max_sentence_length, skips_cost};
use crate::Result;
use crate::search::alignment;

/// The options of sentences; those with the same options share batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SentenceOptions {
    /// The options of search that differ from those of the translator, the beam size among them.
    pub settings: DecodingSettings,
    /// The number of translations; 0 and 1 both mean only the best one.
    pub n_best: usize,
    /// Whether translations have scores. Without scores, greedy search is a little faster.
    pub scores: bool,
    /// Whether translations have alignments.
    pub alignment: bool,
}

/// The text of a sentence, with the prefix and the constraints of its translation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentenceText {
    /// Its number among the sentences of its request, from 0; sampling depends on it.
    pub number: u64,
    /// The sentence.
    pub text: Vec<u8>,
    /// The text that its translation begins with.
    pub prefix: Vec<u8>,
    /// Texts that its translation must contain, each as often as it is listed.
    pub constraints: Vec<Vec<u8>>,
}

/// Source of sentences, and receiver of their translations.
pub trait SentenceSource {
    /// Returns the next sentences, each with an id that no other sentence under translation has.
    /// `active` is the number of sentences under translation. `None` ends the translation when
    /// these are done. An empty list means that no sentence is available now; it must be returned
    /// only while some are active.
    fn next_sentences(&mut self, active: usize) -> Option<Vec<(u64, SentenceText)>>;

    /// Whether sentence `id` is still wanted; called once per step. An unwanted one is dropped,
    /// without a call of [`finish`](SentenceSource::finish).
    fn is_wanted(&mut self, id: u64) -> bool;

    /// Takes a sentence that is translated, or that cannot be.
    fn finish(&mut self, id: u64, sentence: FinishedSentence<'_>);
}

/// A sentence after its translation.
pub struct FinishedSentence<'a> {
    translator: &'a Translator,
    sentence: &'a InputSentence,
    found: &'a [ScoredTranslation],
}

/// A translation of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentenceTranslation {
    /// The text.
    pub text: Vec<u8>,
    /// Its tokens, without `</s>`.
    pub tokens: Vec<Vec<u8>>,
    /// The score by which translations are ranked. This score, `log_probability` and `token_scores`
    /// are meaningful only if scores were requested.
    pub score: f32,
    /// The natural logarithm of its probability: the sum of `token_scores`.
    pub log_probability: f32,
    /// The natural log-probability of every token, and of `</s>` unless the translation was cut.
    pub token_scores: Vec<f32>,
    /// The source token that each target token attends to most, as pairs of source and target
    /// position, including `</s>`. The pairs and `attention` are meaningful only if alignments were
    /// requested.
    pub alignment: Vec<(u32, u32)>,
    /// The attention of target tokens to source tokens, as source position, target position and
    /// weight, where it is not negligible; at least one entry per source token.
    pub attention: Vec<(u32, u32, f32)>,
    /// The log-probability by each model of an ensemble, if several translations were requested;
    /// otherwise only the log-probability of the translation.
    pub model_scores: Vec<f32>,
}

impl FinishedSentence<'_> {
    /// Returns the reason why it has no translation.
    pub fn error(&self) -> Option<&str> {
        self.sentence.request.as_ref().err().map(String::as_str)
    }

    /// Returns a warning about its translation, such as that the sentence was cropped.
    pub fn warning(&self) -> Option<&str> {
        self.sentence.warning.as_deref()
    }

    /// Returns the tokens of the source, without `</s>`.
    pub fn source_tokens(&self) -> Vec<Vec<u8>> {
        let pieces = &self.sentence.pieces;
        (0..pieces.len()).filter_map(|index| pieces.get(index)).map(<[u8]>::to_vec).collect()
    }

    /// Returns its lines as `miriam nmt translate` prints them under the options of the translator,
    /// with `number` in n-best lists.
    pub fn lines(&self, number: u64) -> Vec<u8> {
        self.translator.format_lines(number, self.sentence, self.found)
    }

    /// Returns its translations, best first: at least one, which is empty after an error.
    pub fn translations(&self) -> Vec<SentenceTranslation> {
        let nothing = [self.translator.empty_translation()];
        let found = if self.found.is_empty() { &nothing } else { self.found };
        found.iter().map(|scored| self.translation(scored)).collect()
    }

    fn translation(&self, scored: &ScoredTranslation) -> SentenceTranslation {
        let ScoredTranslation { translation, model_scores } = scored;
        let Translator { models, options, .. } = self.translator;
        let target = &models.tokenizers()[1];
        let mut text = Vec::new();
        super::print::write_text(
            translation,
            &self.sentence.pieces,
            target,
            &options.output,
            &mut text,
        );
        SentenceTranslation {
            text,
            tokens: translation
                .tokens
                .iter()
                .map(|id| target.vocabulary.word(*id).unwrap_or_default().to_vec())
                .collect(),
            score: translation.score,
            log_probability: translation.log_probability,
            token_scores: translation.token_scores.clone(),
            alignment: alignment::to_hard_alignment(&translation.alignment, 1.0),
            attention: alignment::attended_points(&translation.alignment),
            model_scores: model_scores.clone(),
        }
    }
}

impl Translator {
    /// Returns a translator of the same models for sentences with the options `wanted`. Its output
    /// is text, whatever a configuration prints.
    ///
    /// # Errors
    /// Those of [`with_settings`](Self::with_settings). Also if the number of wanted translations
    /// exceeds the beam size, unless they are sampled.
    pub fn for_sentences(&self, wanted: SentenceOptions) -> Result<Translator> {
        // Only `wanted` decides the number of translations, whatever a configuration prints.
        let mut base = self.clone();
        base.options.output.n_best = false;
        base.options.search.n_best = 1;
        let Translator { mut options, mut search, .. } = base.with_settings(&wanted.settings)?;
        search.n_best = wanted.n_best.max(1);
        check_search(&search)?;
        options.output = OutputOptions {
            n_best: wanted.n_best > 1,
            word_scores: wanted.scores,
            alignment: None,
            ..options.output
        };
        search.return_alignments = wanted.alignment || options.output.replace_unknowns;
        search.skip_cost = skips_cost(&search, &options.output);
        let max_length = max_sentence_length(&self.models, self.max_positions, &options);
        Ok(Translator { options, search, max_length, is_first_of_two: false, ..self.clone() })
    }

    /// Whether the lines that it prints have alignments.
    pub fn prints_alignment(&self) -> bool {
        self.options.output.alignment.is_some()
    }

    /// Returns its models, whose clones share the weights.
    pub fn models(&self) -> &LoadedModels {
        &self.models
    }

    /// Returns the beam size of its searches.
    pub fn beam_size(&self) -> usize {
        self.search.beam_size
    }

    /// Returns the number of GPUs that compute; `None` on the CPU.
    pub fn num_gpus(&self) -> Option<usize> {
        match &self.options.devices {
            DeviceSet::Cuda(numbers) => Some(numbers.len()),
            DeviceSet::Cpu | DeviceSet::Auto => None,
        }
    }

    /// Returns the largest number of sentences that are translated together.
    pub fn batch_size(&self) -> usize {
        self.options.mini_batch.max(1)
    }

    /// Returns the maximum number of tokens of a sentence of running text; the caller must split a
    /// longer one, as the command line does. `None` if longer sentences are cropped instead.
    pub fn max_running_tokens(&self) -> Option<usize> {
        self.options.input.splits(TextKind::RunningText).then_some(self.max_length)
    }

    /// Returns the maximum number of tokens of a sentence; the caller must split a longer one, as
    /// the command line does. `None` if longer sentences are cropped or rejected instead.
    pub fn max_sentence_tokens(&self) -> Option<usize> {
        self.options.input.splits(TextKind::LongSentence).then_some(self.max_length)
    }

    /// Returns the number of tokens of a text, or 0 if its bytes cannot make more than the limit.
    pub fn count_tokens(&self, text: &[u8]) -> usize {
        SentenceParser::for_models(&self.models, self.options.input, self.max_length).length(text)
    }

    /// Translates the sentences of `source` on this thread, until it has no more and the sentences
    /// under translation are done.
    ///
    /// # Errors
    /// Those of the device. Sentences under translation are dropped then.
    pub fn translate_sentences(
        &self,
        session: &mut TranslationSession,
        source: &mut dyn SentenceSource,
    ) -> Result<()> {
        let parser = SentenceParser::for_models(&self.models, self.options.input, self.max_length);
        self.translate_prepared(session, &mut ParsedSentences { translator: self, source, parser })
    }
}

/// The texts of a source, prepared for the model on the thread that translates them.
struct ParsedSentences<'a> {
    translator: &'a Translator,
    source: &'a mut dyn SentenceSource,
    parser: SentenceParser<'a>,
}

impl PreparedSentences for ParsedSentences<'_> {
    fn next(&mut self, active: usize) -> Option<Vec<InputSentence>> {
        let sentences = self.source.next_sentences(active)?;
        Some(
            sentences
                .into_iter()
                .map(|(id, SentenceText { number, text, prefix, constraints })| {
                    let mut sentence =
                        self.parser.parse((id, id + 1), &text, &prefix, &constraints);
                    if let Ok(Some(request)) = &mut sentence.request {
                        request.number = number;
                    }
                    sentence
                })
                .collect(),
        )
    }

    fn is_wanted(&mut self, id: u64) -> bool {
        self.source.is_wanted(id)
    }

    fn finish(&mut self, sentence: &InputSentence, found: &[ScoredTranslation]) -> Result<()> {
        let translator = self.translator;
        self.source.finish(sentence.id, FinishedSentence { translator, sentence, found });
        Ok(())
    }
}
