//! Translation of texts by a pool: splitting into sentences, as on the command line, and joining of
//! their translations.

use std::sync::Arc;

use miriam_textproc::{SegmentWriter, SentenceSplitter};

use super::{BatchLimits, CandidateSource, Prepared, TranslationTask};
use crate::search::{SearchOptions, Translation};
use crate::translate::Translator;
use crate::translate::print::write_text;
use crate::translate::sentence_parser::{InputSentence, SentenceParser};
use crate::translate::text_segment::TextKind;

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TextFormat {
    /// One sentence. If it is too long, it is split where sentences end, unless the options of the
    /// translator crop or reject long sentences.
    #[default]
    Sentence,
    /// Paragraphs, one per line. They are split into sentences, which are translated one by one.
    Running,
    /// A page of HTML.
    Html,
}

/// Texts that were split into sentences.
pub struct TextBatch {
    /// The sentences of all texts, in order.
    sentences: Vec<InputSentence>,
    /// The number of sentences of each text.
    counts: Vec<usize>,
}

impl Translator {
    /// Splits texts into sentences; the language of `splitter` must be that of the texts.
    pub fn cut_texts<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t [u8]>,
        format: TextFormat,
        splitter: &SentenceSplitter,
    ) -> TextBatch {
        let mut parser =
            SentenceParser::for_models(&self.models, self.options.input, self.max_length);
        let mut batch = TextBatch { sentences: Vec::new(), counts: Vec::new() };
        for text in texts {
            let before = batch.sentences.len();
            self.cut_text(text, format, splitter, &mut parser, &mut batch.sentences);
            batch.counts.push(batch.sentences.len() - before);
        }
        batch
    }

    fn cut_text(
        &self,
        text: &[u8],
        format: TextFormat,
        splitter: &SentenceSplitter,
        parser: &mut SentenceParser,
        sentences: &mut Vec<InputSentence>,
    ) {
        let mut push = |parser: &mut SentenceParser, text: &[u8], segment| {
            let id = sentences.len() as u64;
            let sentence = if text.is_empty() {
                InputSentence::empty(id, id + 1)
            } else {
                parser.parse((id, id + 1), text, b"", &[])
            };
            sentences.push(InputSentence { segment, ..sentence });
        };
        let limit = self.max_sentence_tokens().unwrap_or(usize::MAX);
        let kind = match format {
            TextFormat::Sentence if parser.length(text) <= limit => {
                return push(parser, text, None);
            }
            TextFormat::Sentence => TextKind::LongSentence,
            TextFormat::Running => TextKind::RunningText,
            TextFormat::Html => TextKind::Html,
        };
        let Ok(cut) = parser.cut(text, kind, splitter, &|| false) else { return };
        for (text, segment) in cut.into_sentences() {
            push(parser, &text, Some(segment));
        }
    }

    /// Returns a task that translates texts with the options of the translator, but with the beam
    /// size `beam_size`, if that is given.
    pub fn text_task(
        &self,
        beam_size: Option<usize>,
        format: TextFormat,
        limits: BatchLimits,
    ) -> TranslationTask {
        let beam_size = beam_size.unwrap_or(self.search.beam_size).max(1);
        let return_alignments = self.options.output.replace_unknowns || format == TextFormat::Html;
        let search = SearchOptions {
            beam_size,
            n_best: 1,
            return_alignments,
            skip_cost: beam_size == 1,
            ..self.search.clone()
        };
        let candidates = CandidateSource::Model;
        TranslationTask { search, limits, alternatives: None, candidates, observer: None }
    }

    /// Returns the translated texts of `batch`; `translations` has the translations of its
    /// sentences, in order.
    ///
    /// # Errors
    /// If a sentence cannot be translated, with the index of its text and the reason.
    pub fn join_texts(
        &self,
        batch: &TextBatch,
        translations: &[Arc<Vec<Translation>>],
    ) -> Result<Vec<Vec<u8>>, (usize, String)> {
        let mut pairs = batch.sentences.iter().zip(translations);
        let mut texts = Vec::with_capacity(batch.counts.len());
        for (index, &count) in batch.counts.iter().enumerate() {
            let (mut writer, mut out) = (SegmentWriter::new(), Vec::new());
            for (sentence, found) in pairs.by_ref().take(count) {
                if let Err(reason) = &sentence.request {
                    return Err((index, reason.clone()));
                }
                self.write_sentence(sentence, found, &mut writer, &mut out)
                    .map_err(|error| (index, error.to_string()))?;
            }
            texts.push(out);
        }
        Ok(texts)
    }

    fn write_sentence(
        &self,
        sentence: &InputSentence,
        found: &[Translation],
        writer: &mut SegmentWriter,
        out: &mut Vec<u8>,
    ) -> crate::Result<()> {
        let best = found.first().filter(|_| matches!(sentence.request, Ok(Some(_))));
        let scored = match best {
            Some(best) => self.score_by_model(sentence, vec![best.clone()], &mut [])?.pop(),
            None => None,
        };
        let best = scored.unwrap_or_else(|| self.empty_translation());
        let target = &self.models.tokenizers()[1];
        let mut text = Vec::new();
        let (pieces, output) = (&sentence.pieces, &self.options.output);
        write_text(&best.translation, pieces, target, output, &mut text);
        match &sentence.segment {
            None => out.extend_from_slice(&text),
            Some(segment) => {
                let source: Vec<&[u8]> = pieces.iter().collect();
                segment.translate(&source, &best.translation, text, target).write(writer, out);
            }
        }
        Ok(())
    }
}

impl TextBatch {
    /// Returns the request of each sentence, for a pool.
    pub fn requests(&self) -> Vec<Prepared> {
        fn request(sentence: &InputSentence) -> Prepared {
            match &sentence.request {
                Ok(Some(request)) => Prepared::Request(request.clone()),
                Ok(None) | Err(_) => Prepared::Done(Vec::new()),
            }
        }
        self.sentences.iter().map(request).collect()
    }
}
