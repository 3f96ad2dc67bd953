//! `miriam lm estimate`: estimates a language model from text.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use miriam_lmcpu::Error;
use miriam_lmcpu::estimate::{
    EstimateOptions, default_memory, estimate, estimate_intermediate, intermediate_paths,
};
use miriam_textio::{Input, Output, is_same_file, parse_truth_word};

use crate::common::{CommonOptions, exit_with_usage_error, open_text, warn_of_memory_floor};
use crate::memory_size::parse_memory;

/// The discounts of `--discount-fallback` without values, as in lmplz.
const DISCOUNT_FALLBACK: [f32; 3] = [0.5, 1.0, 1.5];

// lmplz's spellings are aliases, so that its command lines run unchanged.
#[derive(Args)]
pub struct EstimateArguments {
    /// Words in the longest n-grams
    #[arg(short, long, value_name = "N")]
    order: usize,
    /// The text, one sentence per line: plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short = 'i', long, visible_alias = "input", value_name = "FILE", default_value = "-")]
    text: PathBuf,
    /// The ARPA file to write; .gz, .zst, .bz2 and .xz are compressed; - for standard output
    #[arg(long, visible_alias = "output", value_name = "FILE", default_value = "-")]
    arpa: PathBuf,
    /// Drop n-grams that occur at most this often: one threshold per order, the
    /// last for all longer ones; 0 0 1 drops trigrams and longer n-grams that occur once
    #[arg(long, value_name = "COUNT", num_args = 1.., action = ArgAction::Set)]
    prune: Vec<u64>,
    /// Drop n-grams with words that this file does not list
    #[arg(long, alias = "limit_vocab_file", value_name = "FILE")]
    limit_vocab: Option<PathBuf>,
    /// Smooth as if the text had at least this many different words
    #[arg(long, alias = "vocab_pad", value_name = "N", default_value_t = 0)]
    vocab_pad: u64,
    /// Discounts for counts of 1, 2, and 3 or more, if the text is too small to estimate them
    /// [0.5 1 1.5 without values]
    #[arg(long, alias = "discount_fallback", value_name = "D", num_args = 0..=3, action = ArgAction::Set)]
    discount_fallback: Option<Vec<f32>>,
    /// Interpolate unigrams with the uniform distribution (1), or give all remaining
    /// probability to <unk>, as SRILM does (0)
    #[arg(long, alias = "interpolate_unigrams", value_name = "0|1", num_args = 0..=1,
          default_value = "1", default_missing_value = "1", value_parser = parse_switch,
          action = ArgAction::Set)]
    interpolate_unigrams: bool,
    /// Read <s>, </s> and <unk> in the text as spaces
    #[arg(long, alias = "skip_symbols")]
    skip_symbols: bool,
    /// Reproduce an lmplz that was compiled with fused multiply-add
    #[arg(long)]
    fma: bool,
    /// Memory to use, such as 4G [default: half of the free memory]
    #[arg(short = 'S', long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
    /// The folder for temporary files [default: the system's]
    #[arg(short = 'T', long, alias = "temp_prefix", value_name = "FOLDER")]
    temp: Option<PathBuf>,
}

/// Parses a truth value in all spellings that lmplz takes.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    parse_truth_word(text)
        .ok_or_else(|| "expected 1 or 0, true or false, yes or no, on or off".into())
}

pub fn run(arguments: EstimateArguments, common: &CommonOptions) -> anyhow::Result<()> {
    warn_of_memory_floor(arguments.memory);
    let options = EstimateOptions {
        prune: arguments.prune,
        limit_vocab: arguments.limit_vocab,
        vocab_pad: arguments.vocab_pad,
        discount_fallback: arguments.discount_fallback.as_deref().map(fallback_discounts),
        interpolate_unigrams: arguments.interpolate_unigrams,
        skip_symbols: arguments.skip_symbols,
        fused_multiply_add: arguments.fma,
        memory: arguments.memory.unwrap_or_else(default_memory),
        temp_dir: arguments.temp.unwrap_or_else(std::env::temp_dir),
        threads: common.threads.count(),
        ..EstimateOptions::new(arguments.order)
    };
    if let Err(Error::InvalidOptions { reason }) = options.validate() {
        exit_with_usage_error(reason);
    }
    let outputs = ModelFiles { arpa: Some(arguments.arpa), intermediate: None };
    estimate_files(&options, &arguments.text, &outputs, common)
}

/// Returns the three discounts of `--discount-fallback`; missing values are equal to the last one.
pub fn fallback_discounts(given: &[f32]) -> [f32; 3] {
    match given.last() {
        None => DISCOUNT_FALLBACK,
        Some(&last) => std::array::from_fn(|i| given.get(i).copied().unwrap_or(last)),
    }
}

/// The files to write an estimated model to; at least one is `Some`.
pub struct ModelFiles {
    /// The ARPA file.
    pub arpa: Option<PathBuf>,
    /// The prefix of the names of KenLM's intermediate files.
    pub intermediate: Option<PathBuf>,
}

/// Estimates a model from the file `text` and writes it to `outputs`.
pub fn estimate_files(
    options: &EstimateOptions,
    text: &Path,
    outputs: &ModelFiles,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let ModelFiles { arpa, intermediate } = outputs;
    let paths = intermediate.iter().flat_map(|base| intermediate_paths(base, options.order));
    let paths: Vec<PathBuf> = paths.collect();
    for output in paths.iter().chain(arpa) {
        for input in [Some(text), options.limit_vocab.as_deref()].into_iter().flatten() {
            Input::check_access(input, Some(output))?;
        }
    }
    if let Some(arpa) = arpa
        && paths.iter().any(|path| path == arpa || is_same_file(path, arpa))
    {
        let arpa = arpa.display();
        exit_with_usage_error(format!("--arpa: {arpa} is one of the files of --intermediate"));
    }
    let input = open_text(text)?;
    log_resource_estimate(options, input.size());
    let mut output = arpa.as_deref().map(Output::create_atomic).transpose()?;
    let (pool, progress) = (common.build_thread_pool()?, common.progress());
    let summary = pool.install(|| match (intermediate, &mut output) {
        (Some(base), output) => {
            estimate_intermediate(options, input, base, output.as_mut(), &progress)
        }
        (None, Some(output)) => estimate(options, input, output, &progress),
        (None, None) => exit_with_usage_error("--arpa: name the file to write"),
    })?;
    output.map_or(Ok(()), Output::finish)?;
    if summary.spilled_bytes > 0 {
        tracing::info!("{} MiB of temporary files", summary.spilled_bytes.div_ceil(1 << 20));
    }
    Ok(())
}

/// Logs the memory and the disk space that estimation will need for a text of `text_bytes` bytes,
/// if its size is known.
fn log_resource_estimate(options: &EstimateOptions, text_bytes: Option<u64>) {
    fn mib(bytes: u64) -> u64 {
        bytes.div_ceil(1 << 20)
    }
    let disk = match text_bytes {
        Some(bytes) => format!("at most about {} MiB", mib(options.expected_disk_bytes(bytes))),
        None => "as large as the text requires".into(),
    };
    tracing::info!(
        "memory: {} MiB; temporary files in {}: {disk}",
        mib(options.memory),
        options.temp_dir.display()
    );
}
