//! Translation of text on several threads.
//!
//! One thread reads lines and tokenises them. Worker threads, with a session each, translate
//! batches of sentences of similar length; the calling thread writes the translations in input
//! order. The translation of a line does not depend on other lines; in sampling, it depends on the
//! number of the sentence.

mod cost;
mod devices;
mod language_model;
mod languages;
mod models;
mod options;
pub(crate) mod pipeline;
mod pivot;
mod pivot_line;
pub mod pool;
mod print;
pub(crate) mod queue;
mod reader;
mod score_pairs;
mod scorer;
mod segments;
mod sentence_jobs;
pub(crate) mod sentence_parser;
mod sentences;
mod settings;
mod text_segment;
mod text_to_score;
mod tokenizer;

use std::sync::Arc;

use miriam_kernels::autotuner::Autotuner;
use miriam_textio::{CancellationToken, Output, Progress};
use miriam_textproc::{SegmentWriter, SentenceSplitter};

pub use cost::CostReport;
pub use devices::{GPU_PRECISIONS, Placement};
pub use miriam_nmt_models::AlignmentFormat;
pub use models::LoadedModels;
pub use options::{InputOptions, LineFormat, OutputOptions, TranslationOptions};
pub use pivot::PivotTranslator;
pub use reader::SourceText;
pub use score_pairs::PairScore;
pub use scorer::Scorer;
pub use sentence_jobs::TranslationSession;
pub use sentences::{
    FinishedSentence, SentenceOptions, SentenceSource, SentenceText, SentenceTranslation,
};
pub use settings::{DecodingSettings, Number, OutputSampling};
pub use text_to_score::LengthLimit;
pub use tokenizer::{Pieces, Tokenizer, TokenizerScratch};

pub(crate) use print::{push_alignment, push_word_scores};
pub(crate) use scorer::describe_score;

use crate::batch::BatchLimits;
use crate::search::{DecodingSemantics, Fusion, FusionModel, SearchOptions};
use crate::{Error, Result};
use miriam_nmt_models::Languages;
use miriam_nmt_models::Vocabulary;
use miriam_nmt_models::{ModelBundle, ShortlistGenerator};
use pipeline::ResultSender;
use pivot_line::PivotLine;
use print::{ScoredTranslation, write_text, write_translations, written_pieces};
use queue::{BatchQueue, QueueOptions};
use reader::{LineSource, SentenceReader};
use sentence_jobs::PreparedSentences;
use sentence_parser::InputSentence;
use text_segment::TranslatedSegment;

/// Loaded models with the options of translation. Clones share the weights.
#[derive(Clone)]
pub struct Translator {
    models: Arc<LoadedModels>,
    shortlist_generator: Option<Arc<ShortlistGenerator>>,
    /// The language model of the search.
    fusion_model: Option<FusionModel>,
    options: TranslationOptions,
    search: SearchOptions,
    /// The tokens that no translation contains, whatever the options are.
    always_suppressed: Vec<u32>,
    splitter: Arc<SentenceSplitter>,
    /// The languages that tokens of the vocabularies seem to name; `None` if there are no such
    /// tokens.
    languages: Option<Arc<Languages>>,
    /// Whether these tokens certainly name languages.
    is_multilingual: bool,
    /// Whether a request must name the language of the text, and whether it must name the language
    /// of the translation, because the model needs the language and it is not set.
    lacks_languages: [bool; 2],
    /// The length of the shortest table of positions, in tokens including special ones.
    max_positions: Option<usize>,
    /// The maximum number of tokens of a sentence, without special tokens.
    max_length: usize,
    /// Whether another model translates the output of this one.
    is_first_of_two: bool,
}

/// An error or a warning about a line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The line number, from 1.
    pub line: u64,
    /// The message.
    pub reason: String,
}

/// The counts of a translated text, or of a part of it if the translation was cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// The number of lines that were read.
    pub read: u64,
    /// The number of lines, from the first on, whose translations were written.
    pub written: u64,
    /// The number of words, separated by spaces, of the sentences that were read.
    pub source_words: u64,
    /// The number of tokens of these sentences, without `</s>`.
    pub source_tokens: u64,
}

/// The output of one sentence.
struct OutputLines {
    text: Vec<u8>,
    /// The translation of one sentence of a line that may have several. `text` is empty then.
    segment: Option<TranslatedSegment>,
    num_lines: u64,
    errors: Vec<LineError>,
    /// The input of another model, if this one is the first of two.
    pivot: Option<PivotLine>,
}

impl Translator {
    /// Loads the models of `bundle`; see [`LoadedModels::new`] for `tuner`.
    ///
    /// # Errors
    /// Those of [`LoadedModels::new`], and if the bundle is a language model.
    pub fn new(
        bundle: ModelBundle,
        options: TranslationOptions,
        tuner: &Arc<Autotuner>,
    ) -> Result<Self> {
        if bundle.is_language_model() {
            let reason = "it is a language model, which does not translate; add it to the search \
                          of a translation model (--lm), or score text with miriam nmt score";
            return Err(Error::unsupported(&bundle.path, reason));
        }
        let mut models = LoadedModels::new(&bundle, &options.weights, options.placement(tuner))?;
        let sides = models.tokenizers_mut();
        sides.iter_mut().for_each(|side| side.input_is_tokenized = options.input.is_tokenized);
        sides[0].needs_language_tag = bundle.needs_language_tags();
        sides[1].output_as_pieces = options.output.as_pieces;
        sides[1].special_ids = bundle.special_target_ids().into();
        let tables = bundle.models.iter().map(|model| model.architecture().embeddings());
        let always_suppressed: Vec<u32> =
            tables.flat_map(|tables| tables.suppress_tokens.iter().copied()).collect();
        let search = complete_search(&options, &always_suppressed, &sides[1].vocabulary, None);
        let OutputOptions { n_best, alignment, word_scores, .. } = options.output;
        // Only text can be put together from the translations of parts.
        let mut options = options;
        options.input.splits_long &= !n_best
            && alignment.is_none()
            && !word_scores
            && !options.output.as_pieces
            && !options.input.is_tokenized;
        let source_lengths =
            bundle.models.iter().filter_map(|model| model.architecture().max_source_length());
        let max_positions = source_lengths.min();
        let max_length = max_sentence_length(&models, max_positions, &options);
        Ok(Translator {
            models: Arc::new(models),
            languages: bundle.languages().map(Arc::new),
            is_multilingual: bundle.is_multilingual(),
            lacks_languages: bundle.lacks_languages(),
            shortlist_generator: bundle.shortlist_generator.map(Arc::new),
            fusion_model: None,
            options,
            search,
            always_suppressed,
            splitter: Arc::new(SentenceSplitter::new("en")),
            max_positions,
            max_length,
            is_first_of_two: false,
        })
    }

    /// Sets the sentence splitter for running text, pages and long lines. The default is the
    /// splitter for English.
    pub fn set_splitter(&mut self, splitter: SentenceSplitter) {
        self.splitter = Arc::new(splitter);
    }

    /// Translates every line of `source` to `output`, in order, until `stop` is cancelled. Batches
    /// that have started are then finished. Their lines are written up to the first missing one.
    /// `report_error` gets errors of single lines, whose translations are empty, and warnings;
    /// `progress` gets the number of lines written. `low_latency` is for interactive input: lines
    /// are translated as soon as they are read.
    ///
    /// # Errors
    /// If input cannot be read, output cannot be written or a device fails, and the errors of
    /// `report_error`.
    pub fn translate(
        &self,
        source: SourceText,
        low_latency: bool,
        output: Output,
        stop: &CancellationToken,
        progress: &dyn Progress,
        report_error: &mut dyn FnMut(&LineError) -> Result<()>,
    ) -> Result<LineCounts> {
        self.translate_from(
            LineSource::Text(Box::new(source)),
            low_latency,
            output,
            stop,
            progress,
            report_error,
        )
    }

    fn translate_from(
        &self,
        source: LineSource,
        low_latency: bool,
        mut output: Output,
        stop: &CancellationToken,
        progress: &dyn Progress,
        report_error: &mut dyn FnMut(&LineError) -> Result<()>,
    ) -> Result<LineCounts> {
        let mut write = |lines: OutputLines, more: bool| -> Result<()> {
            output.write(&lines.text)?;
            for error in &lines.errors {
                report_error(error)?;
            }
            if more { Ok(()) } else { Ok(output.flush()?) }
        };
        let outcome = self.run(source, low_latency, stop, progress, &mut write);
        // Even after an error, the lines written so far are kept, under a partial name.
        let is_complete = outcome.is_ok() && !stop.is_cancelled();
        let finished = output.finish_if(is_complete).map_err(Error::from);
        let counts = outcome?;
        finished.and(Ok(counts))
    }

    /// Translates every line of `source`; `write_lines` gets the lines in order, and whether the
    /// next ones are already available.
    fn run(
        &self,
        source: LineSource,
        low_latency: bool,
        stop: &CancellationToken,
        progress: &dyn Progress,
        write_lines: &mut dyn FnMut(OutputLines, bool) -> Result<()>,
    ) -> Result<LineCounts> {
        let queue = BatchQueue::new(self.options.queue_options(low_latency), InputSentence::length);
        let options = self.options.input;
        let splitter = Arc::clone(&self.splitter);
        let mut reader = SentenceReader::new(
            source,
            &self.models,
            options,
            splitter,
            self.max_length,
            stop.clone(),
        );
        let mut counts = LineCounts::default();
        let read = || {
            while !stop.is_cancelled()
                && let Some(sentence) = reader.next()?
            {
                counts.read += sentence.num_lines;
                counts.source_words += sentence.num_words;
                counts.source_tokens += sentence.pieces.len() as u64;
                if !queue.push(sentence) {
                    break;
                }
            }
            Ok(())
        };
        let task = progress.task("translating", None);
        let mut written = 0;
        let mut segment_writer = SegmentWriter::new();
        let write = |mut lines: OutputLines, more: bool| -> Result<()> {
            if let Some(segment) = &lines.segment {
                segment.write(&mut segment_writer, &mut lines.text);
            }
            written += lines.num_lines;
            write_lines(lines, more)?;
            task.set_position(written);
            Ok(())
        };
        let outcome = pipeline::run_ordered(
            &queue,
            self.options.threads,
            stop,
            read,
            |send| self.run_worker(&queue, stop, send),
            write,
        );
        drop(task);
        outcome?;
        Ok(LineCounts { written, ..counts })
    }

    /// Translates batches of the queue, on one thread.
    fn run_worker(
        &self,
        queue: &BatchQueue<InputSentence>,
        stop: &CancellationToken,
        send: &ResultSender<OutputLines>,
    ) -> Result<()> {
        let mut source = QueuedSentences { translator: self, queue, stop, send };
        self.translate_prepared(&mut self.session()?, &mut source)
    }

    /// Returns the lines of a sentence, numbered `id` in n-best lists.
    fn format_lines(
        &self,
        id: u64,
        sentence: &InputSentence,
        found: &[ScoredTranslation],
    ) -> Vec<u8> {
        let nothing = [self.empty_translation()];
        let found = if found.is_empty() { &nothing } else { found };
        // The second of two models prints the links to the text that the first has read.
        let source = sentence.pivot.as_ref().map_or(&sentence.pieces, |line| &line.source);
        let target = &self.models.tokenizers()[1];
        let mut text = Vec::new();
        write_translations(id, source, found, target, &self.options.output, &mut text);
        text
    }

    fn format_output(&self, sentence: &InputSentence, found: &[ScoredTranslation]) -> OutputLines {
        let failed = sentence.request.as_ref().err().cloned();
        let reasons = sentence.warning.iter().cloned().chain(failed);
        let errors = reasons.map(|reason| LineError { line: sentence.line, reason }).collect();
        let num_lines = sentence.num_lines;
        let nothing = [self.empty_translation()];
        let best = found.first().unwrap_or(&nothing[0]);
        if let Some(segment) = &sentence.segment {
            let target = &self.models.tokenizers()[1];
            let mut text = Vec::new();
            write_text(
                &best.translation,
                &sentence.pieces,
                target,
                &self.options.output,
                &mut text,
            );
            let source: Vec<&[u8]> = sentence.pieces.iter().collect();
            let segment = segment.translate(&source, &best.translation, text, target);
            let (text, segment) = (Vec::new(), Some(segment));
            return OutputLines { text, segment, num_lines, errors, pivot: None };
        }
        let pivot = self.is_first_of_two.then(|| self.pivot_line(sentence, best));
        let text = self.format_lines(sentence.id, sentence, found);
        OutputLines { text, segment: None, num_lines, errors, pivot }
    }

    /// Converts a translation to the input of the second model.
    fn pivot_line(&self, sentence: &InputSentence, found: &ScoredTranslation) -> PivotLine {
        let target = &self.models.tokenizers()[1];
        let translation = &found.translation;
        let mut text = Vec::new();
        write_text(translation, &sentence.pieces, target, &self.options.output, &mut text);
        let words = written_pieces(translation, &sentence.pieces, target, &self.options.output);
        PivotLine {
            text,
            source: sentence.pieces.clone(),
            lengths: pivot::piece_lengths(words, target),
            alignment: translation.alignment.clone(),
            messages: Vec::new(),
        }
    }
}

/// The sentences of the queue, whose output goes to the writer.
struct QueuedSentences<'a> {
    translator: &'a Translator,
    queue: &'a BatchQueue<InputSentence>,
    stop: &'a CancellationToken,
    send: &'a ResultSender<'a, OutputLines>,
}

impl PreparedSentences for QueuedSentences<'_> {
    fn next(&mut self, active: usize) -> Option<Vec<InputSentence>> {
        self.queue.pop_batch_unless_cancelled(self.stop, active > 0)
    }

    fn finish(&mut self, sentence: &InputSentence, found: &[ScoredTranslation]) -> Result<()> {
        (self.send)(sentence.id, self.translator.format_output(sentence, found))
    }
}

impl TranslationOptions {
    fn queue_options(&self, low_latency: bool) -> QueueOptions {
        let sorting = QueueOptions::new(self.batch_limits(), self.maxi_batch);
        QueueOptions { sort_by_length: self.sort_by_length, low_latency, ..sorting }
    }

    fn batch_limits(&self) -> BatchLimits {
        BatchLimits { max_sentences: self.mini_batch.max(1), max_tokens: self.mini_batch_words }
    }
}

/// Returns the options of search, completed from the target vocabulary and the other options.
fn complete_search(
    options: &TranslationOptions,
    always_suppressed: &[u32],
    target: &Vocabulary,
    fusion_model: Option<&FusionModel>,
) -> SearchOptions {
    let mut search = options.search.clone();
    search.fusion =
        fusion_model.map(|model| Fusion { model: model.clone(), weight: options.lm_weight });
    search.eos_id = target.eos_id();
    search.suppress_tokens = always_suppressed.to_vec();
    if !options.allow_unknown {
        search.suppress_tokens.push(target.unk_id());
    }
    // A generated line feed would end the line of output. Marian's search suppresses all control
    // characters.
    let is_marian = search.semantics == DecodingSemantics::Marian;
    let control_bytes = if is_marian { 0x00..=0x1f } else { b'\n'..=b'\n' };
    for byte in control_bytes {
        search.suppress_tokens.extend(target.find(format!("<0x{byte:02X}>").as_bytes()));
    }
    search.suppress_tokens.retain(|&word| word != search.eos_id);
    search.suppress_tokens.sort_unstable();
    search.suppress_tokens.dedup();
    let OutputOptions { alignment, replace_unknowns, .. } = options.output;
    search.return_alignments |= alignment.is_some() || replace_unknowns;
    search.return_alignments |= options.input.format == LineFormat::Html;
    search.skip_cost = skips_cost(&search, &options.output);
    search
}

/// Returns the maximum number of tokens of a sentence without special tokens, at least 1. Tables of
/// positions and the option `max_length` count special tokens, as Marian's option does.
fn max_sentence_length(
    models: &LoadedModels,
    max_positions: Option<usize>,
    options: &TranslationOptions,
) -> usize {
    let num_special = models.tokenizers()[0].ids_with_special_tokens(&Pieces::default()).len();
    let longest = max_positions.unwrap_or(usize::MAX).min(options.input.max_length);
    longest.saturating_sub(num_special).max(1)
}

/// Whether a search may skip the normaliser of the softmax: greedy search chooses the same
/// tokens without it, and only scores that are shown need it.
fn skips_cost(search: &SearchOptions, output: &OutputOptions) -> bool {
    search.beam_size == 1 && !output.word_scores && !output.n_best
}
