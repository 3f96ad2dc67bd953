//! `lmplz`: estimates a model from text. Long options may be abbreviated while unambiguous, as in
//! lmplz's parser.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser};
use miriam_lmcpu::estimate::{EstimateOptions, default_memory};

use crate::commands::estimate::{ModelFiles, estimate_files, fallback_discounts, parse_switch};
use crate::common::CommonOptions;
use crate::memory_size::parse_sort_size;

/// Estimates a language model with modified Kneser-Ney smoothing, as KenLM's lmplz does
#[derive(Parser)]
#[command(name = "lmplz", arg_required_else_help = true, infer_long_args = true)]
struct Arguments {
    /// Words in the longest n-grams
    #[arg(short, long)]
    order: usize,
    /// Interpolate unigrams with the uniform distribution (1), or not (0)
    #[arg(long = "interpolate_unigrams", num_args = 0..=1, default_value = "1",
          default_missing_value = "1", value_parser = parse_switch, action = ArgAction::Set)]
    interpolate_unigrams: bool,
    /// Read <s>, </s> and <unk> in the text as spaces
    #[arg(long = "skip_symbols", alias = "skip-symbols")]
    skip_symbols: bool,
    /// The folder for temporary files, or the prefix of their names
    #[arg(short = 'T', long = "temp_prefix", default_value = "/tmp/")]
    temp_prefix: PathBuf,
    /// Memory: a number with %, b, K (the default unit), M, G or T [default: half of the free
    /// memory]
    #[arg(short = 'S', long, value_parser = parse_sort_size)]
    memory: Option<u64>,
    /// Smooth as if there were at least this many words
    #[arg(long = "vocab_pad", default_value_t = 0)]
    vocab_pad: u64,
    /// The text [default: standard input]
    #[arg(long, default_value = "-")]
    text: PathBuf,
    /// The ARPA file [default: standard output, or none with --intermediate]
    #[arg(long)]
    arpa: Option<PathBuf>,
    /// Drop n-grams that occur at most this often, one threshold per order
    #[arg(long, num_args = 1.., action = ArgAction::Append)]
    prune: Vec<u64>,
    /// Drop n-grams with words that this file does not list
    #[arg(long = "limit_vocab_file")]
    limit_vocab_file: Option<PathBuf>,
    /// Discounts for counts of 1, 2, and 3 or more, if the text is too small to estimate them
    /// [0.5 1 1.5 without values]
    #[arg(long = "discount_fallback", alias = "discount-fallback", num_args = 0..=3, action = ArgAction::Set)]
    discount_fallback: Option<Vec<f32>>,
    /// Accepted without effect: a size as for -S
    #[arg(long = "minimum_block", value_parser = parse_sort_size)]
    minimum_block: Option<u64>,
    /// Accepted without effect: a size as for -S
    #[arg(long = "sort_block", value_parser = parse_sort_size)]
    sort_block: Option<u64>,
    /// Accepted without effect: a number from 1
    #[arg(long = "block_count", value_parser = clap::value_parser!(u64).range(1..))]
    block_count: Option<u64>,
    /// Accepted without effect: a number of words
    #[arg(long = "vocab_estimate")]
    vocab_estimate: Option<u32>,
    /// Begin the ARPA file with comments on the text, the number of words and the smoothing
    #[arg(long = "verbose_header")]
    verbose_header: bool,
    /// Write intermediate files, whose names begin with this, for KenLM's interpolate; no ARPA
    /// file without --arpa. Implies --renumber
    #[arg(long)]
    intermediate: Option<PathBuf>,
    /// Order n-grams by the hashes of words, like in tries
    #[arg(long)]
    renumber: bool,
    /// Collapse probability and backoff into one value, which gives sentences the same
    /// probabilities
    #[arg(long = "collapse_values")]
    collapse_values: bool,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    // In lmplz, `--prune=0 0 1` gives three values.
    let arguments = arguments.into_iter().flat_map(|word| {
        let parts = word.to_str().and_then(|word| word.split_once('='));
        match parts.filter(|(name, value)| name.starts_with("--") && !value.is_empty()) {
            Some((name, value)) => vec![name.into(), value.into()],
            None => vec![word],
        }
    });
    let arguments: Arguments = super::parse(arguments.collect());
    // These only affect how sorting uses memory.
    let _ = (arguments.minimum_block, arguments.sort_block);
    let _ = (arguments.block_count, arguments.vocab_estimate);
    let options = EstimateOptions {
        prune: arguments.prune,
        limit_vocab: arguments.limit_vocab_file,
        vocab_pad: arguments.vocab_pad,
        discount_fallback: arguments.discount_fallback.as_deref().map(fallback_discounts),
        interpolate_unigrams: arguments.interpolate_unigrams,
        skip_symbols: arguments.skip_symbols,
        verbose_header: arguments.verbose_header.then(|| text_name(&arguments.text)),
        renumber: arguments.renumber || arguments.intermediate.is_some(),
        collapse_values: arguments.collapse_values,
        memory: arguments.memory.unwrap_or_else(default_memory),
        temp_dir: temporary_folder(&arguments.temp_prefix),
        threads: common.threads.count(),
        ..EstimateOptions::new(arguments.order)
    };
    options.validate()?;
    let arpa = match arguments.intermediate {
        None => arguments.arpa.or_else(|| Some(PathBuf::from("-"))),
        Some(_) => arguments.arpa,
    };
    let outputs = ModelFiles { arpa, intermediate: arguments.intermediate };
    estimate_files(&options, &arguments.text, &outputs, common)
}

/// Returns the name of the text as lmplz prints it: the full path of a file, even if the file is
/// standard input; otherwise `stdin`.
fn text_name(text: &Path) -> String {
    let path = if text.as_os_str() == "-" {
        std::fs::read_link("/proc/self/fd/0")
    } else {
        std::fs::canonicalize(text)
    };
    // A pipe's name is not a path.
    let path = path.ok().filter(|path| path.is_absolute());
    path.map_or_else(|| "stdin".to_owned(), |path| path.display().to_string())
}

/// Returns the folder of a prefix of file names.
fn temporary_folder(prefix: &Path) -> PathBuf {
    if prefix.is_dir() {
        return prefix.to_owned();
    }
    match prefix.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
