//! The keys of decoder configurations: which are honoured, which have no effect here, and which are
//! rejected because ignoring them would change translations.
//!
//! An unknown key is a typing error or an option of training. It is rejected too, as in Marian,
//! unless it is an option of the program that reads the file.

use std::path::{Path, PathBuf};

use super::DecoderConfig;
use super::read::ConfigReader;
use crate::yaml::Value;
use crate::{Error, Result};

/// The keys of a program's configurations.
pub struct KnownKeys {
    /// Keys that are read.
    pub honoured: &'static [&'static str],
    /// Keys about memory, logging and kernels, and options that the model itself stores.
    pub without_effect: &'static [&'static str],
    /// Keys that are rejected unless their value is off, with what to do instead.
    pub refused: &'static [(&'static str, &'static str)],
}

impl KnownKeys {
    /// Whether the values of a key turn it off. A flag without a value is on.
    pub fn is_off(&self, key: &str, values: &[String]) -> bool {
        !values.is_empty() && values.iter().all(|value| is_off_word(key, value))
    }
}

/// The keys of Marian, of its fork for browsers and of bergamot-translator.
pub const MARIAN: KnownKeys = KnownKeys {
    honoured: &[
        "relative-paths",
        "models",
        "vocabs",
        "weights",
        "shortlist",
        "beam-size",
        "normalize",
        "word-penalty",
        "max-length-factor",
        "mini-batch",
        "mini-batch-words",
        "maxi-batch",
        "maxi-batch-sort",
        "max-length",
        "max-length-crop",
        "no-spm-encode",
        "no-spm-decode",
        "n-best",
        "alignment",
        "word-scores",
        "allow-unk",
        // Keys of scorers.
        "model",
        "train-sets",
        // Keys of servers.
        "port",
    ],
    without_effect: &[
        // Memory, threads, logging.
        "workspace",
        "model-mmap",
        "devices",
        "num-devices",
        "cpu-threads",
        "data-threads",
        "log",
        "log-level",
        "log-time-zone",
        "quiet",
        "quiet-translation",
        "seed",
        "check-nan",
        "stat-freq",
        "version",
        "no-reload",
        // Kernels and precision, which --precision chooses.
        "optimize",
        "skip-cost",
        "fp16",
        "precision",
        "gemm-type",
        "gemm-precision",
        "int8shift",
        "int8shiftAll",
        "int8shiftAlpha",
        "int8shiftAlphaAll",
        "use-legacy-batching",
        "dump-quantmult",
        // bergamot-translator: a line is a sentence here.
        "bergamot-mode",
        "ssplit-mode",
        "ssplit-prefix-file",
        "ssplit-model-file",
        "max-length-break",
        "quality",
        "cache-size",
        // Options that Marian takes from the model.
        "type",
        "dim-vocabs",
        "dim-emb",
        "factors-dim-emb",
        "factors-combine",
        "lemma-dependency",
        "lemma-dim-emb",
        "dim-rnn",
        "enc-type",
        "enc-cell",
        "enc-cell-depth",
        "enc-depth",
        "dec-cell",
        "dec-cell-base-depth",
        "dec-cell-high-depth",
        "dec-depth",
        "skip",
        "layer-normalization",
        "right-left",
        "input-types",
        "best-deep",
        "tied-embeddings",
        "tied-embeddings-src",
        "tied-embeddings-all",
        "output-omit-bias",
        "transformer-heads",
        "transformer-no-projection",
        "transformer-rnn-projection",
        "transformer-pool",
        "transformer-dim-ffn",
        "transformer-decoder-dim-ffn",
        "transformer-ffn-depth",
        "transformer-decoder-ffn-depth",
        "transformer-ffn-activation",
        "transformer-dim-aan",
        "transformer-aan-depth",
        "transformer-aan-activation",
        "transformer-aan-nogate",
        "transformer-decoder-autoreg",
        "transformer-tied-layers",
        "transformer-guided-alignment-layer",
        "transformer-preprocess",
        "transformer-postprocess-emb",
        "transformer-postprocess",
        "transformer-postprocess-top",
        "transformer-train-position-embeddings",
        "transformer-depth-scaling",
        "transformer-attention-mask",
        "transformer-alibi-shift",
        "separator-symbol",
        "transformer-disable-position-embeddings",
        "transformer-alibi-trainable",
        "alibi",
        "transformer-no-bias",
        "transformer-no-affine",
        "bert-mask-symbol",
        "bert-sep-symbol",
        "bert-class-symbol",
        "bert-masking-fraction",
        "bert-train-type-embeddings",
        "bert-type-vocab-size",
        "comet-final-sigmoid",
        "comet-stop-grad",
        "comet-mix",
        "comet-mix-norm",
        "comet-pool",
        "comet-mix-transformation",
        "comet-dropout",
        "comet-mixup",
        "comet-mixup-reg",
        "comet-augment-bad",
        "comet-pooler-ffn",
        "comet-prepend-zero",
        "comet-use-separator",
        "special-vocab",
    ],
    refused: &[
        ("input", "give the text with --input"),
        ("output", "give the file with --output"),
        ("tsv", "give --tsv"),
        ("tsv-fields", "give --tsv"),
        ("force-decode", "give --force-decode"),
        ("output-sampling", "give --sampling-topk and --sampling-temperature"),
        ("output-approx-knn", "leave it out; search is exact here"),
        ("allow-special", "leave it out; a generated line feed would end the line"),
        ("interpolate-env-vars", "write the paths in full"),
        ("ignore-model-config", "leave it out; a model's own options are needed"),
        ("input-reorder", "leave it out; one source is supported"),
        ("input-join-fields", "leave it out; one source is supported"),
        ("config", "leave it out; name further configurations with -c"),
        ("dump-config", "leave it out; the configuration is the file that -c names"),
        ("authors", "leave it out"),
        ("cite", "leave it out"),
        ("build-info", "leave it out"),
        ("quantize-range", "leave it out; the largest magnitude gives the scale"),
        ("encryption-key-path", "decrypt the model first"),
        ("summary", "give --summary"),
        ("n-best-feature", "give --n-best-feature"),
    ],
};

/// Amun's keys.
pub const AMUN: KnownKeys = KnownKeys {
    honoured: &[
        "relative-paths",
        "scorers",
        "weights",
        "source-vocab",
        "target-vocab",
        "bpe",
        "beam-size",
        "normalize",
        "mini-batch",
        "mini-batch-words",
        "maxi-batch",
        "max-length",
        "max-length-multiple",
        "n-best",
        "allow-unk",
    ],
    without_effect: &[
        "devices",
        "cpu-threads",
        "gpu-threads",
        "fpga-threads",
        "threads",
        "wipo",
        "seed",
        "show-weights",
        "log-progress",
        "log-info",
        "tensor-cores",
        "use-fused-softmax",
    ],
    refused: &[
        ("input-file", "give the text with --input"),
        ("model", "name models in scorers"),
        ("softmax-filter", "give a shortlist with --shortlist"),
        ("no-debpe", "give --no-spm-decode"),
        ("return-alignment", "give --alignment"),
        ("return-soft-alignment", "give --alignment soft"),
        ("return-nematus-alignment", "give --alignment soft"),
        ("load-weights", "write the weights into the file"),
    ],
};

/// An entry of a configuration whose key is not Marian's: perhaps an option of the program that
/// reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherOption {
    /// The file.
    pub file: PathBuf,
    /// The folder of relative paths, if it is not the working folder.
    pub folder: Option<PathBuf>,
    /// The key.
    pub key: String,
    /// Its values; none for null.
    pub values: Vec<String>,
}

impl OtherOption {
    /// Returns the error that the key is not known.
    pub fn unknown_error(&self) -> Error {
        let reason = "unknown decoding option; remove it or correct its name";
        Error::mismatch(&self.file, &miriam_textio::shorten(&self.key), reason)
    }
}

/// Adds to `settings` the keys of `reader` that have no effect and those that are not known, in the
/// order of the file.
///
/// # Errors
/// If a key is rejected, or one that is not known has a map as its value.
pub fn check(
    reader: &ConfigReader<'_>,
    known: &KnownKeys,
    settings: &mut DecoderConfig,
) -> Result<()> {
    let ConfigReader { value, path, .. } = *reader;
    for (key, value) in value.entries().unwrap_or_default() {
        let key = String::from_utf8_lossy(key);
        if known.honoured.contains(&&*key) {
            continue;
        }
        if known.without_effect.contains(&&*key) {
            settings.keys_without_effect.push(key.into_owned());
        } else if let Some((_, remedy)) = known.refused.iter().find(|(name, _)| *name == key) {
            if !is_off(&key, value) {
                let reason = format!("not supported in a configuration; {remedy}");
                return Err(Error::mismatch(path, &key, reason));
            }
        } else {
            let items = value.items().iter().map(|item| item.as_str().map(str::to_owned));
            let values: Option<Vec<String>> = items.collect();
            let other = OtherOption {
                file: path.to_owned(),
                folder: reader.path_folder().map(Path::to_owned),
                key: key.into_owned(),
                values: values.clone().unwrap_or_default(),
            };
            if values.is_none() {
                return Err(other.unknown_error());
            }
            settings.other_options.retain(|earlier| earlier.key != other.key);
            settings.other_options.push(other);
        }
    }
    Ok(())
}

/// Whether the value of a key turns it off.
fn is_off(key: &str, value: &Value) -> bool {
    value.items().iter().all(|item| {
        item.is_null()
            || item.as_bool() == Some(false)
            || item.as_str().is_some_and(|word| is_off_word(key, word))
    })
}

/// Whether a word turns the key off.
fn is_off_word(key: &str, word: &str) -> bool {
    match key {
        "input" | "input-file" if matches!(word, "stdin" | "-") => true,
        "output" if matches!(word, "stdout" | "-") => true,
        "n-best-feature" if word == "Score" => true,
        "quantize-range" => word.parse() == Ok(0.0),
        _ => matches!(word, "0" | "false" | ""),
    }
}
