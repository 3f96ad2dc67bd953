//! Options of translation, and their defaults from the configuration and format of a model.

use std::sync::Arc;

use miriam_gpu::DeviceSet;
use miriam_kernels::autotuner::Autotuner;

use super::devices::Placement;
use super::text_segment::TextKind;
use crate::search::{DecodingSemantics, SearchOptions};
use crate::{Error, Result};
use miriam_nmt_models::AlignmentFormat;
use miriam_nmt_models::ModelBundle;
use miriam_nmt_models::architecture::Model;
use miriam_nmt_models::packed::Precision;

/// Options of translation.
///
/// ```
/// use std::path::Path;
/// use miriam_nmt::ModelBundle;
/// use miriam_nmt::search::DecodingSemantics;
/// use miriam_nmt::translate::TranslationOptions;
///
/// # fn main() -> Result<(), miriam_nmt::Error> {
/// let bundle = ModelBundle::open(Path::new("testdata/tiny-ct2"), None)?;
/// let mut options = TranslationOptions::for_bundle(&bundle, None);
/// assert_eq!(options.search.semantics, DecodingSemantics::CTranslate2);
/// assert_eq!(options.search.beam_size, 2);
/// options.search.beam_size = 5;
/// options.output.n_best = true;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TranslationOptions {
    /// Options of search. `eos_id` and `suppress_tokens` are filled in from the model.
    pub search: SearchOptions,
    /// Whether the unknown token may be generated.
    pub allow_unknown: bool,
    /// The weight of a language model in the search ([`set_language_model`]).
    ///
    /// [`set_language_model`]: super::Translator::set_language_model
    pub lm_weight: f32,
    /// The precision of GEMM.
    pub precision: Precision,
    /// The devices on which models compute.
    pub devices: DeviceSet,
    /// Weights of the models of an ensemble; empty for 1 each.
    pub weights: Vec<f32>,
    /// The number of worker threads, each with a session.
    pub threads: usize,
    /// The maximum number of sentences of a batch.
    pub mini_batch: usize,
    /// The maximum number of source tokens of a batch, unless it is one sentence; 0 for no
    /// limit.
    pub mini_batch_words: usize,
    /// The number of batches that are read ahead and sorted.
    pub maxi_batch: usize,
    /// Whether sentences are sorted by length.
    pub sort_by_length: bool,
    /// Options of input.
    pub input: InputOptions,
    /// Options of output.
    pub output: OutputOptions,
}

/// The weight of a language model unless another is set.
const DEFAULT_LM_WEIGHT: f32 = 0.1;

/// The default limits of a batch on a CPU, in sentences and in source tokens.
const CPU_MINI_BATCH: usize = 32;
const CPU_MINI_BATCH_WORDS: usize = 4096;

/// The default limits of a batch on a GPU, in sentences and in source tokens: those of Amun and
/// Marian.
const GPU_MINI_BATCH: usize = 300;
const GPU_MINI_BATCH_WORDS: usize = 8192;

/// The format of input lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LineFormat {
    /// A plain sentence.
    #[default]
    Sentence,
    /// Fields with tabs between them: a sentence, a prefix of its translation, and constraints
    /// (`|||` between several).
    Tsv,
    /// A JSON object with `source`, and optionally `prefix` and `constraints` (a list).
    Json,
    /// Paragraphs of running text: their sentences are translated, all else is copied.
    RunningText,
    /// All lines are one page of HTML: its sentences are translated, all else is copied.
    Html,
}

/// Options of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputOptions {
    /// The format of lines.
    pub format: LineFormat,
    /// Whether the text is tokenised already.
    pub is_tokenized: bool,
    /// The maximum number of tokens of a sentence with special tokens, of a prefix, and of all
    /// constraints together.
    pub max_length: usize,
    /// Whether longer sentences are cropped.
    pub crop: bool,
    /// Whether longer sentences that are not cropped are translated in parts, if the output is only
    /// text; otherwise they are rejected. Those of running text are always translated in parts.
    pub splits_long: bool,
}

impl InputOptions {
    /// Whether parts of a text that are longer than the limit are split.
    pub(super) fn splits(&self, kind: TextKind) -> bool {
        match kind {
            TextKind::LongSentence => self.splits_long,
            TextKind::RunningText | TextKind::Html => !self.crop,
        }
    }

    /// The maximum length of sentences unless another is set.
    pub const MAX_LENGTH: usize = 5000;
}

/// Options of output.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct OutputOptions {
    /// Whether to print tokens instead of text.
    pub as_pieces: bool,
    /// Whether to print the n-best list instead of the best translation.
    pub n_best: bool,
    /// The format of alignments after each translation; `None` to print none.
    pub alignment: Option<AlignmentFormat>,
    /// Whether to print the score of each token after each translation.
    pub word_scores: bool,
    /// Whether to replace unknown tokens by the source word with the highest attention.
    pub replace_unknowns: bool,
}

impl TranslationOptions {
    /// Returns the defaults of the program `semantics`. Without `semantics`, a model for browsers
    /// gets the defaults of browsers; any other model gets the defaults of the program that it was
    /// made for ([`ModelBundle::semantics`]). A decoder configuration overrides defaults. Only
    /// batches are larger than in these programs, because here results do not depend on batches.
    pub fn for_bundle(bundle: &ModelBundle, semantics: Option<DecodingSemantics>) -> Self {
        let settings = &bundle.settings;
        let is_for_browsers = bundle.is_for_browsers && semantics.is_none();
        let semantics = semantics.unwrap_or(bundle.semantics);
        let is_marian = semantics == DecodingSemantics::Marian;
        let (beam, normalize, factor) = match (is_marian, is_for_browsers) {
            (true, true) => (1, 1.0, 2.0),
            (true, false) => (12, 0.0, 3.0),
            (false, _) => (2, 1.0, f32::INFINITY),
        };
        // Positions have 32 bits.
        let longest = if is_marian { u32::MAX as usize } else { 256 };
        let beam_size = settings.beam_size.unwrap_or(beam);
        let n_best = settings.n_best.unwrap_or(false);
        TranslationOptions {
            search: SearchOptions {
                beam_size,
                n_best: if n_best { beam_size } else { SearchOptions::default().n_best },
                length_penalty: settings.normalize.unwrap_or(normalize),
                word_penalty: settings.word_penalty.unwrap_or(0.0),
                max_length_factor: settings.max_length_factor.unwrap_or(factor),
                max_length: settings.max_target_length.unwrap_or(longest),
                no_repeat_ngram_size: settings.no_repeat_ngram_size.unwrap_or(0),
                repetition_penalty: settings.repetition_penalty.unwrap_or(1.0),
                early_stopping: settings.early_stopping,
                repeated_start: bundle.repeated_start(),
                min_length: settings.min_target_length.unwrap_or(usize::from(!is_marian)),
                semantics,
                ..SearchOptions::default()
            },
            allow_unknown: settings.allow_unknown.unwrap_or(!is_marian),
            lm_weight: DEFAULT_LM_WEIGHT,
            precision: stored_precision(bundle),
            devices: DeviceSet::Cpu,
            weights: settings.weights.clone(),
            threads: 1,
            mini_batch: settings.mini_batch.filter(|&n| n > 1).unwrap_or(CPU_MINI_BATCH),
            // This bounds memory for sentences of any length.
            mini_batch_words: settings
                .mini_batch_words
                .filter(|&words| words > 0)
                .unwrap_or(CPU_MINI_BATCH_WORDS),
            maxi_batch: settings.maxi_batch.filter(|&n| n > 1).unwrap_or(20),
            sort_by_length: settings.sort_by_length.unwrap_or(true),
            input: InputOptions {
                format: LineFormat::Sentence,
                is_tokenized: settings.is_tokenized.unwrap_or(false),
                max_length: settings.max_length.unwrap_or(InputOptions::MAX_LENGTH),
                crop: settings.crop.unwrap_or(false),
                splits_long: settings.max_length.is_none() && settings.crop.is_none(),
            },
            output: OutputOptions {
                as_pieces: settings.as_pieces.unwrap_or(false),
                n_best,
                alignment: settings.alignment.flatten(),
                word_scores: settings.word_scores.unwrap_or(false),
                replace_unknowns: settings.replace_unknowns.unwrap_or(false),
            },
        }
    }

    /// Sets the devices on which models compute. For GPUs, also sets one thread per GPU, the
    /// precision f32, and larger batches unless a configuration has changed their limits. Callers
    /// may change these options afterwards.
    ///
    /// # Errors
    /// If a GPU is chosen in a build that cannot use one.
    pub fn set_devices(&mut self, devices: DeviceSet) -> Result<()> {
        self.devices =
            devices.resolve().map_err(|error| Error::Device { reason: error.to_string() })?;
        if let DeviceSet::Cuda(numbers) = &self.devices {
            self.precision = Precision::F32;
            self.threads = numbers.len();
            // Limits that differ from the CPU's defaults were set by a configuration.
            if self.mini_batch == CPU_MINI_BATCH {
                self.mini_batch = GPU_MINI_BATCH;
            }
            if self.mini_batch_words == CPU_MINI_BATCH_WORDS {
                self.mini_batch_words = GPU_MINI_BATCH_WORDS;
            }
        }
        Ok(())
    }

    /// Returns the devices and the precision for which models are loaded; `tuner` chooses GEMM
    /// kernels of the CPU.
    pub fn placement<'a>(&'a self, tuner: &'a Arc<Autotuner>) -> Placement<'a> {
        Placement { devices: &self.devices, precision: self.precision, tuner }
    }

    /// Returns lines of a report on the options: a name and a value each.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let search = &self.search;
        let semantics = match search.semantics {
            DecodingSemantics::Marian => "marian",
            DecodingSemantics::CTranslate2 => "ctranslate2",
        };
        let mut all = vec![
            ("search", semantics.to_owned()),
            ("beam-size", search.beam_size.to_string()),
            ("normalize", search.length_penalty.to_string()),
            ("word-penalty", search.word_penalty.to_string()),
            ("max-length-factor", search.max_length_factor.to_string()),
            ("allow-unk", self.allow_unknown.to_string()),
            ("precision", self.precision.name().into()),
            ("cpu-threads", self.threads.to_string()),
            ("mini-batch", self.mini_batch.to_string()),
            ("mini-batch-words", self.mini_batch_words.to_string()),
            ("maxi-batch", self.maxi_batch.to_string()),
        ];
        if self.devices.is_cuda() {
            all.push(("device", self.devices.to_string()));
        }
        if self.output.n_best {
            all.push(("n-best", search.n_best.to_string()));
        }
        match self.output.alignment {
            None => {}
            Some(AlignmentFormat::Soft) => all.push(("alignment", "soft".into())),
            Some(AlignmentFormat::Hard(at)) => all.push(("alignment", at.to_string())),
        }
        all.push(("max-length", self.input.max_length.to_string()));
        if self.input.crop {
            all.push(("max-length-crop", "true".into()));
        }
        match self.input.format {
            LineFormat::RunningText => all.push(("split", "true".into())),
            LineFormat::Html => all.push(("html", "true".into())),
            _ => {}
        }
        if !self.weights.is_empty() {
            let weights: Vec<String> = self.weights.iter().map(f32::to_string).collect();
            all.push(("weights", weights.join(" ")));
        }
        if search.max_length < u32::MAX as usize {
            all.push(("max-decoding-length", search.max_length.to_string()));
        }
        all
    }
}

/// Returns the precision of the stored weights: the only one that a file is packed for, or the
/// precision of integer matrices, or else f32.
fn stored_precision(bundle: &ModelBundle) -> Precision {
    if let Some(packed) = bundle.models.iter().find_map(|model| model.precision()) {
        return packed;
    }
    let stored: Vec<Precision> = bundle.models.iter().map(Model::stored_precision).collect();
    let rank = [Precision::I8, Precision::I16];
    rank.into_iter().find(|precision| stored.contains(precision)).unwrap_or(Precision::F32)
}
