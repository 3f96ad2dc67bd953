//! `miriam lm`: n-gram language models.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use miriam_glm::GlmOptions;
use miriam_glm::device::DeviceChoice;
use miriam_glm::format::NodeWidth;
use miriam_lmcpu::kenlm::{self, KenlmProbingOptions, KenlmTrieOptions};
use miriam_lmcpu::query::Verbosity;
use miriam_lmcpu::trie::{self, QuantizationBits};
use miriam_lmcpu::{OpenOptions, probing, query};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Output};

use super::estimate;
use super::open_lm::open_model;
use crate::arpa_arguments::ArpaArguments;
use crate::common::{
    CommonOptions, exit_with_usage_error, open_text, parse_load_mode, verify_checksums,
};

#[derive(Subcommand)]
pub enum Command {
    /// Build a model file, which opens at once, from an ARPA file
    #[command(after_help = "Examples:\n  miriam lm build lm.arpa.gz -o lm.miriam\n  \
                            miriam lm build lm.arpa.gz -o lm.miriam --type trie --quantize 8\n  \
                            miriam lm build lm.arpa.gz -o lm.glm --type glm")]
    #[command(aliases = ["binarize", "build_binary"])]
    Build(BuildArguments),
    /// Score text word by word, with the output of KenLM's query
    #[command(after_help = "Examples:\n  miriam lm query lm.miriam < text.en\n  \
                            miriam lm query lm.arpa.gz -v sentence -i text.en -o scores.txt")]
    Query(QueryArguments),
    /// Perplexity of a text or of each line, or filtering of lines by perplexity
    #[command(after_help = "Examples:\n  miriam lm perplexity lm.miriam -i text.en.gz\n  \
                            miriam lm perplexity lm.miriam --per-line < text.en > scores.tsv\n  \
                            miriam lm perplexity lm.miriam --json-field text --per-line \
                            --max-perplexity 500 -i web.jsonl.zst -o good.jsonl.zst\n  \
                            miriam lm perplexity lm.miriam --json-field text --keep-percent 30 \
                            -i web-*.jsonl.zst -o kept/")]
    Perplexity(super::perplexity::Arguments),
    /// Estimate a model from text, as KenLM's lmplz does, and write it as ARPA
    #[command(
        after_help = "Examples:\n  miriam lm estimate -o 5 --text text.en --arpa lm.arpa\n  \
                            miriam lm estimate -o 3 --prune 0 0 1 --memory 4G < text.en | gzip > lm.arpa.gz"
    )]
    Estimate(estimate::EstimateArguments),
    /// Reduce a model to the n-grams that given sentences may need, as KenLM's filter does
    #[command(
        after_help = "Examples:\n  miriam lm filter single --model lm.arpa --vocab words.txt -o small.arpa\n  \
                            miriam lm filter union --model lm.arpa.gz -o small.arpa < input.en"
    )]
    Filter(super::filter::Arguments),
    /// The most probable next words, with their probabilities
    #[command(
        after_help = "Examples:\n  echo 'the weather is' | miriam lm next lm.miriam --top 5\n  \
                            miriam lm next lm.glm --words candidates.txt -i contexts.txt --device cuda"
    )]
    Next(super::next::Arguments),
    /// Add n-gram scores to n-best lists, as features
    #[command(after_help = "Examples:\n  miriam lm rescore lm.miriam --n-best system.list.gz \
                            -o scored.list.gz\n  \
                            miriam lm rescore news.arpa.gz laws.arpa.gz --features News,Laws \
                            --n-best system.list -o scored.list")]
    Rescore(super::lm_rescore::Arguments),
    /// Write a model as ARPA text
    #[command(after_help = "Example:\n  miriam lm dump lm.kenlm -o lm.arpa.gz")]
    Dump(super::dump::Arguments),
}

#[derive(Args)]
pub struct BuildArguments {
    /// The model as ARPA text (plain, .gz, .zst, .bz2 or .xz; - for standard input), or a
    /// model file of this program or of KenLM
    arpa: PathBuf,
    /// The file to write; its name may also follow that of the model, as in KenLM's build_binary
    #[arg(short, long, value_name = "FILE", required_unless_present = "positional_output")]
    output: Option<PathBuf>,
    /// The file to write, in the position where build_binary expects it
    #[arg(hide = true, conflicts_with = "output")]
    positional_output: Option<PathBuf>,
    /// The format: probing, the fastest; trie, less than half as large; glm, for
    /// GPUs; or kenlm-probing and kenlm-trie, for programs that use KenLM
    #[arg(long = "type", value_name = "TYPE", default_value = "probing",
          value_parser = ["probing", "trie", "glm", "kenlm-probing", "kenlm-trie"],
          hide_possible_values = true)]
    kind: String,
    /// Quantise probabilities and backoffs of a trie to this number of bits each, as KenLM
    /// does: one number for both, or two separated by a comma
    #[arg(short = 'q', long, value_name = "BITS", value_parser = parse_bits)]
    quantize: Option<QuantizationBits>,
    /// Keys per node of a glm file: 8, 16 or 32 [default: 32]
    #[arg(long, value_name = "KEYS", value_parser = parse_node_width)]
    node_width: Option<NodeWidth>,
    /// Store orders from 2 up to this one of a glm file in hash tables instead of B-trees, which
    /// costs space; 0: none [default: 3]
    #[arg(long, value_name = "ORDER")]
    hash_orders: Option<usize>,
    #[command(flatten)]
    arpa_text: ArpaArguments,
    /// Slots per entry of a KenLM table, more than 1 [default: 1.5]
    #[arg(long, value_name = "X")]
    multiplier: Option<f32>,
    /// Compress the pointers of a KenLM trie: up to this number of their high bits, which
    /// neighbours share, are stored once in an array
    #[arg(long, value_name = "BITS")]
    pointer_bits: Option<u8>,
    /// Add rest costs, which bottom-up parsers need, to a KenLM probing file, from models of
    /// orders 1, 2 and so on, the first as ARPA text
    #[arg(long, value_name = "FILE", num_args = 1..)]
    rest: Vec<PathBuf>,
    /// log10 probability of <unk> in a KenLM file if the model has none
    /// [default: -100]
    #[arg(long, value_name = "LOG10", allow_negative_numbers = true)]
    unknown: Option<f32>,
}

#[derive(Args)]
pub struct QueryArguments {
    /// A model file, a KenLM binary file, or ARPA text (plain, .gz, .zst, .bz2 or .xz)
    model: PathBuf,
    /// What to print: word, sentence or summary, repeatable; or 2 for all, 1
    /// for the last two, 0 for the last. Without it, everything
    #[arg(short, value_name = "LEVEL",
          value_parser = ["word", "sentence", "summary", "0", "1", "2"], hide_possible_values = true)]
    verbosity: Vec<String>,
    /// Where to compute: cpu, cuda or cuda:N (a glm file on a GPU), or auto for a GPU if
    /// there is one
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// How a model file is loaded: lazy (mapped, pages read on access), populate (mapped
    /// and read now) or huge (read into huge pages: private memory, faster queries)
    #[arg(long, value_name = "MODE", default_value = "populate", value_parser = parse_load_mode)]
    load: LoadMethod,
    /// Do not put <s> before and </s> after each line
    #[arg(short, long = "no-markers")]
    no_markers: bool,
    #[command(flatten)]
    arpa_text: ArpaArguments,
    /// Print the answer to each line before the next is read
    #[arg(short = 'b', long)]
    flush: bool,
    /// Treat a last line without a line end as KenLM's query does: no </s>, no total.
    /// Otherwise it is a normal line
    #[arg(long)]
    kenlm_compat: bool,
    /// The text: plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

fn parse_bits(text: &str) -> Result<QuantizationBits, String> {
    let (prob, backoff) = text.split_once(',').unwrap_or((text, text));
    match (prob.parse(), backoff.parse()) {
        (Ok(prob), Ok(backoff)) => QuantizationBits::new(prob, backoff),
        _ => None,
    }
    .ok_or_else(|| {
        format!(
            "expected one number from 1 to {}, or two separated by a comma",
            QuantizationBits::MAX
        )
    })
}

fn parse_node_width(text: &str) -> Result<NodeWidth, String> {
    let width = text.parse().ok().and_then(NodeWidth::from_keys);
    width.ok_or_else(|| "expected 8, 16 or 32".into())
}

pub fn run(command: Command, common: &CommonOptions) -> anyhow::Result<()> {
    match command {
        Command::Build(arguments) => build(arguments, common),
        Command::Query(arguments) => run_query(arguments, common),
        Command::Perplexity(arguments) => super::perplexity::run(arguments, common),
        Command::Estimate(arguments) => estimate::run(arguments, common),
        Command::Filter(arguments) => super::filter::run(arguments, common),
        Command::Next(arguments) => super::next::run(arguments, common),
        Command::Rescore(arguments) => super::lm_rescore::run(arguments, common),
        Command::Dump(arguments) => super::dump::run(arguments, common),
    }
}

fn build(arguments: BuildArguments, common: &CommonOptions) -> anyhow::Result<()> {
    for (name, is_given, kinds) in [
        ("--quantize", arguments.quantize.is_some(), &["trie", "kenlm-trie"][..]),
        ("--node-width", arguments.node_width.is_some(), &["glm"]),
        ("--hash-orders", arguments.hash_orders.is_some(), &["glm"]),
        ("--multiplier", arguments.multiplier.is_some(), &["kenlm-probing"]),
        ("--rest", !arguments.rest.is_empty(), &["kenlm-probing"]),
        ("--pointer-bits", arguments.pointer_bits.is_some(), &["kenlm-trie"]),
        ("--unknown", arguments.unknown.is_some(), &["kenlm-probing", "kenlm-trie"]),
    ] {
        if is_given && !kinds.contains(&&arguments.kind[..]) {
            exit_with_usage_error(format!("{name} is for --type {}", kinds.join(" and ")));
        }
    }
    if arguments.kind != "glm" && miriam_glm::is_glm(&arguments.arpa)? {
        let model = arguments.arpa.display();
        bail!("{model}: write this glm file as ARPA text first (miriam lm dump)");
    }
    if let Some(second) = &arguments.positional_output
        && [".arpa", ".arpa.gz", ".arpa.zst", ".arpa.bz2", ".arpa.xz"]
            .iter()
            .any(|end| second.to_string_lossy().ends_with(end))
        && second.exists()
    {
        // The user probably meant an existing ARPA file as another input, not as the output.
        bail!("{}: this ARPA file would be overwritten; use -o to overwrite it", second.display());
    }
    let output = arguments.output.as_ref().or(arguments.positional_output.as_ref());
    let (arpa, output) = (&arguments.arpa, output.context("the name of the output is missing")?);
    for input in arguments.rest.iter().chain([arpa]) {
        Input::check_access(input, Some(output))?;
    }
    verify_checksums(arpa)?;
    let progress = common.progress();
    let mut options = arguments.arpa_text.options();
    if let Some(unknown_log10) = arguments.unknown {
        options.unknown_log10 = unknown_log10;
    }
    let size = common.build_thread_pool()?.install(|| match arguments.kind.as_str() {
        "trie" => trie::build_trie(arpa, output, arguments.quantize, options, &progress),
        "glm" => {
            let defaults = GlmOptions::default();
            let layout = GlmOptions {
                node_width: arguments.node_width.unwrap_or(defaults.node_width),
                max_hashed_order: arguments.hash_orders.unwrap_or(defaults.max_hashed_order),
            };
            miriam_glm::build_glm(arpa, output, &layout, options, &progress)
        }
        "kenlm-probing" => {
            let defaults = KenlmProbingOptions::default();
            let multiplier = arguments.multiplier.unwrap_or(defaults.multiplier);
            let layout = KenlmProbingOptions { multiplier, ..defaults };
            let rest = &arguments.rest;
            kenlm::build_kenlm_rest_probing(arpa, output, layout, rest, options, &progress)
        }
        "kenlm-trie" => {
            let (quantize, pointer_bits) = (arguments.quantize, arguments.pointer_bits);
            let layout = KenlmTrieOptions { quantize, pointer_bits, ..KenlmTrieOptions::default() };
            kenlm::build_kenlm_trie(arpa, output, layout, options, &progress)
        }
        _ => probing::build_probing(arpa, output, options, &progress),
    })?;
    let counts: Vec<String> = size.counts.iter().map(u64::to_string).collect();
    let blanks = match size.blanks {
        0 => String::new(),
        n => format!(", {n} entries added for missing suffixes"),
    };
    tracing::info!("{}: n-grams {}{blanks}", output.display(), counts.join(" "));
    Ok(())
}

/// Opens the text at `path` before the model, which takes long to open, so that a wrong file name
/// is reported at once. Returns `None` for standard input and pipes, which must be opened later:
/// opening waits for their first bytes, which may come long after the model is loaded.
fn open_input_early(path: &Path) -> miriam_textio::Result<Option<Input>> {
    let is_pipe = path.as_os_str() == "-"
        || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_pipe { Ok(None) } else { open_text(path).map(Some) }
}

fn run_query(arguments: QueryArguments, common: &CommonOptions) -> anyhow::Result<()> {
    Input::check_access(&arguments.input, Some(&arguments.output))?;
    let input = open_input_early(&arguments.input)?;
    Input::check_access(&arguments.model, Some(&arguments.output))?;
    let options = OpenOptions { load: arguments.load, arpa: arguments.arpa_text.options() };
    let model = open_model(&arguments.model, options, arguments.device, common)?;
    let input = input.map_or_else(|| open_text(&arguments.input), Ok)?;
    let mut output = Output::create(&arguments.output)?;
    let options = query::QueryOptions {
        verbosity: parse_levels(&arguments.verbosity),
        sentence_markers: !arguments.no_markers,
        threads: common.threads.count(),
        line_buffered: arguments.flush,
        kenlm_compat: arguments.kenlm_compat,
    };
    query::query(&*model, input, &mut output, options, &common.progress())?;
    Ok(output.finish()?)
}

/// Parses the values of `-v`. Names of levels are added to earlier ones; a number replaces them, as
/// in KenLM. Without values, returns all levels.
pub fn parse_levels(values: &[String]) -> Verbosity {
    let mut levels = Verbosity { word: false, sentence: false, summary: false };
    for level in values {
        match level.as_str() {
            "word" => levels.word = true,
            "sentence" => levels.sentence = true,
            "summary" => levels.summary = true,
            number => {
                levels = Verbosity { word: number == "2", sentence: number != "0", summary: true };
            }
        }
    }
    if values.is_empty() { Verbosity::ALL } else { levels }
}
