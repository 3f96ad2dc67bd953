//! `miriam lm filter`: reduces a model to the n-grams that given sentences may need.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use miriam_lmcpu::filter::{FilterFormat, FilterMode, FilterOptions, filter};
use miriam_lmcpu::is_binary_model;
use miriam_textio::Input;

use crate::common::{CommonOptions, check_stdin_use, exit_with_usage_error};
use crate::option_values::choices;

#[derive(Args)]
pub struct Arguments {
    /// The n-grams to keep
    #[arg(value_parser = choices(MODES))]
    mode: FilterMode,
    /// The model: ARPA text, or one n-gram per line with --format raw; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    model: PathBuf,
    /// The vocabulary, as one sentence per line; - for standard input
    #[arg(long, visible_alias = "input", short = 'i', value_name = "FILE", default_value = "-")]
    vocab: PathBuf,
    /// The format of the model: arpa, or raw for n-grams with anything after a tab
    #[arg(long, default_value = "arpa", value_parser = choices(FORMATS))]
    format: FilterFormat,
    /// Test only the words before the last one of each n-gram
    #[arg(long)]
    context: bool,
    /// Sentences are phrases separated by tabs; keep n-grams that phrases in any order can contain
    #[arg(long)]
    phrase: bool,
    /// The file to write; in the mode multiple, the prefix of the file names, to which the number
    /// of the sentence is appended
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

const MODES: [(&str, &str, FilterMode); 4] = [
    ("copy", "All; the file is only copied", FilterMode::Copy),
    ("single", "Those whose words are in the vocabulary", FilterMode::Single),
    (
        "multiple",
        "Those with words of one sentence, in one file per sentence",
        FilterMode::Multiple,
    ),
    ("union", "Those whose words all occur in one of the sentences", FilterMode::Union),
];

const FORMATS: [(&str, &str, FilterFormat); 2] =
    [("arpa", "", FilterFormat::Arpa), ("raw", "", FilterFormat::Raw)];

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let options = FilterOptions {
        mode: arguments.mode,
        format: arguments.format,
        context: arguments.context,
        phrases: arguments.phrase,
        threads: common.threads.count(),
    };
    if let Err(error) = options.validate() {
        exit_with_usage_error(error);
    }
    let Arguments { model, vocab, output, .. } = &arguments;
    filter_files(model, vocab, output, &options, common)
}

/// Filters a model.
pub fn filter_files(
    model: &Path,
    vocabulary: &Path,
    output: &Path,
    options: &FilterOptions,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let needs_vocabulary = options.mode != FilterMode::Copy;
    if needs_vocabulary {
        check_stdin_use([model, vocabulary]);
    }
    if options.mode == FilterMode::Multiple && output == Path::new("-") {
        exit_with_usage_error(
            "the mode multiple writes one file per sentence; give a prefix of their names (-o)",
        );
    }
    for path in [model, vocabulary] {
        Input::check_access(path, Some(output))?;
    }
    if is_binary_model(model) {
        let model = model.display();
        bail!(
            "{model}: a binary model cannot be filtered; write it as ARPA text first (miriam lm dump)"
        );
    }
    let vocabulary = if needs_vocabulary {
        Input::open(vocabulary)?
    } else {
        Input::from_reader(&b""[..], "no vocabulary", None)?
    };
    let progress = common.progress();
    let pool = common.build_thread_pool()?;
    let (read, kept) =
        pool.install(|| filter(Input::open(model)?, vocabulary, output, options, &progress))?;
    tracing::info!("kept {kept} of {read} n-grams");
    Ok(())
}
