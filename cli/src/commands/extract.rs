//! `miriam extract`: phrase and reordering tables from word-aligned text.

use std::path::{Path, PathBuf};

use clap::Args;
use miriam_extract::{
    ExtractOptions, ProbabilityThresholds, Shard, SignificanceThreshold, Smoothing, extract_files,
    extract_shard, merge_shards,
};
use miriam_lmcpu::estimate::default_memory;
use miriam_textio::{Compression, Input, is_same_file};

use crate::common::{CommonOptions, check_stdin_use, exit_with_usage_error, warn_of_memory_floor};
use crate::memory_size::parse_memory;
use crate::option_values::choices;

/// Extract phrases from word-aligned text: phrase table, reordering table, word
/// translations
///
/// Example: miriam extract --source train.de --target train.en --alignment train.align
/// -o model
#[derive(Args)]
pub struct Arguments {
    /// The source text, one sentence per line: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Its translation, line by line
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Word alignments, line by line: links SOURCE-TARGET, words counted from 0
    #[arg(long, value_name = "FILE")]
    alignment: PathBuf,
    /// The folder for phrase-table.gz, reordering-table.gz, lex.e2f and lex.f2e
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Words in the longest phrases
    #[arg(long, value_name = "N", default_value_t = 7)]
    max_length: usize,
    /// The reordering model by its Moses name, four parts joined by hyphens (wbe, phrase or hier;
    /// msd, mslr, monotonicity or leftright; backward, forward or bidirectional; f or fe), or none
    /// for no reordering table
    #[arg(long, value_name = "TYPE", default_value = "wbe-msd-bidirectional-fe")]
    reordering: String,
    /// The number that is added to each count of an orientation [default: 0.5]
    #[arg(long, value_name = "X")]
    reordering_smoothing: Option<f64>,
    /// The discounting of phrase translation probabilities
    #[arg(long, default_value = "none", value_parser = choices(SMOOTHINGS))]
    smoothing: Smoothing,
    /// Drop phrase pairs that occur together by chance (Fisher's exact test). a+e keeps those
    /// with -ln(p) above ln(N), where N is the number of sentence pairs, and so drops all that
    /// occur once; a-e keeps those with ln(N) or above; a number keeps those above it
    #[arg(long, value_name = "LEVEL", value_parser = SignificanceThreshold::parse)]
    significance: Option<SignificanceThreshold>,
    /// Drop phrase pairs of low probability, as Moses' --MinScore does: 0:X drops those with
    /// phi(f|e) below X, 2:X those with phi(e|f) below X; separate both by a comma
    #[arg(long, value_name = "0:X,2:X", value_parser = ProbabilityThresholds::parse)]
    min_score: Option<ProbabilityThresholds>,
    /// Drop phrase pairs that occur fewer than N times, as Moses' --MinCount does
    #[arg(long, value_name = "N")]
    min_count: Option<u32>,
    /// The compression of tables: phrase-table.gz, phrase-table.zst or phrase-table
    #[arg(long, default_value = "gz", value_parser = choices(COMPRESSIONS))]
    tables: Compression,
    /// Memory to use, such as 4G [default: half of the free memory]
    #[arg(short = 'S', long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,
    /// The folder for temporary files [default: that of the output]
    #[arg(short = 'T', long, value_name = "FOLDER")]
    temp: Option<PathBuf>,
    /// On one of N machines: count only the phrase pairs of shard I (1 to N), selected by their
    /// target phrases, and write them to shards/ in the folder of -o; --merge-shards makes tables
    /// of all N
    #[arg(long, value_name = "I/N", conflicts_with_all = ["merge_shards",
          "reordering_smoothing", "smoothing", "min_score", "min_count", "tables"])]
    shard: Option<Shard>,
    /// Make tables of all shards in shards/ in the folder of -o: the tables that one machine would
    /// make
    #[arg(long)]
    merge_shards: bool,
}

const SMOOTHINGS: [(&str, &str, Smoothing); 3] = [
    ("none", "", Smoothing::None),
    ("good-turing", "", Smoothing::GoodTuring),
    ("kneser-ney", "", Smoothing::KneserNey),
];

const COMPRESSIONS: [(&str, &str, Compression); 3] = [
    ("gz", "", Compression::Gzip),
    ("zst", "", Compression::Zstd),
    ("plain", "", Compression::None),
];

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.reordering_smoothing.is_some() && arguments.reordering == "none" {
        exit_with_usage_error("--reordering-smoothing needs a reordering table");
    }
    warn_of_memory_floor(arguments.memory);
    let options = ExtractOptions {
        max_length: arguments.max_length,
        reordering: (arguments.reordering != "none").then_some(arguments.reordering),
        reordering_smoothing: arguments.reordering_smoothing.unwrap_or(0.5),
        smoothing: arguments.smoothing,
        significance: arguments.significance,
        min_count: arguments.min_count.unwrap_or(1),
        min_probabilities: arguments.min_score.unwrap_or_default(),
        compression: arguments.tables,
        memory: arguments.memory.unwrap_or_else(default_memory),
        temp_dir: arguments.temp.unwrap_or_else(|| arguments.output.clone()),
        threads: common.threads.count(),
    };
    if let Err(error) = options.validate() {
        exit_with_usage_error(error);
    }
    let inputs = [&*arguments.source, &*arguments.target, &*arguments.alignment];
    check_stdin_use(inputs);
    for input in inputs {
        Input::check_access(input, None)?;
        // The files that the command may write into the folder, with and without the extension.
        let extension = options.compression.extension();
        for name in ["phrase-table", "reordering-table", "lex.e2f", "lex.f2e"] {
            for file_name in [name.to_owned(), format!("{name}{extension}")] {
                let path = arguments.output.join(file_name);
                if is_same_file(input, &path) {
                    Input::check_access(input, Some(&path))?;
                }
            }
        }
    }
    let [source, target, alignment] = inputs;
    let output = &arguments.output;
    let progress = common.progress();
    let summary = match arguments.shard {
        Some(shard) => return Ok(extract_shard(inputs, output, shard, &options, &progress)?),
        None if arguments.merge_shards => merge_shards(inputs, output, &options, &progress)?,
        None => extract_files(source, target, alignment, output, &options, &progress)?,
    };
    tracing::info!(
        "{} sentence pairs, {} phrase pairs, {} distinct; {} source phrases",
        summary.pairs,
        summary.instances,
        summary.entries,
        summary.sources
    );
    warn_of_earlier_tables(output, &options);
    Ok(())
}

/// Warns of each table in the folder `output` that this extraction did not write.
fn warn_of_earlier_tables(output: &Path, options: &ExtractOptions) {
    for table in ["phrase-table", "reordering-table"] {
        let is_written = table == "phrase-table" || options.reordering.is_some();
        for extension in ["", ".gz", ".zst"] {
            let path = output.join(format!("{table}{extension}"));
            let is_own = is_written && extension == options.compression.extension();
            if !is_own && path.is_file() {
                tracing::warn!(
                    "{}: this table is from an earlier extraction with other options; remove it",
                    path.display()
                );
            }
        }
    }
}
