//! `miriam align`: word alignments of parallel text.

use std::path::PathBuf;

use clap::Args;
use miriam_align::{AlignModel, AlignOptions, AlignSummary, Symmetrization};

use crate::common::{
    CommonOptions, check_files, exit_with_usage_error, warn_if_binary, warn_of_memory_floor,
};
use crate::memory_size::parse_memory;
use crate::option_values::choices;

/// Align the words of parallel text, or symmetrise links of two directions
///
/// Writes one line of links per line of text: i-j, source and target position from 0.
/// With --gold the links are compared with manual ones; --links compares an existing
/// file.
///
/// Example: miriam align --source train.de --target train.en -o links
#[derive(Args)]
pub struct Arguments {
    /// The source text, one sentence per line: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE", requires = "target", required_unless_present_any = ["forward", "links"])]
    source: Option<PathBuf>,
    /// Its translation, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    target: Option<PathBuf>,
    /// The file of links to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The alignment model
    #[arg(long, value_name = "MODEL", default_value = "ibm2", value_parser = choices(ALIGN_MODELS))]
    model: AlignModel,
    /// The method of symmetrising the links of both directions
    #[arg(long, visible_alias = "symmetrise", value_name = "METHOD",
          default_value = "grow-diag-final-and", value_parser = choices(symmetrizations()))]
    symmetrize: Symmetrization,
    /// Iterations of IBM model 2, the last of which only aligns
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..))]
    iterations: u16,
    /// Iterations of the HMM model, which starts from IBM model 2 [default: 2]
    #[arg(long, value_name = "N")]
    hmm_iterations: Option<u16>,
    /// Links of the forward direction: symmetrise them with --reverse instead of training
    #[arg(long, value_name = "FILE", requires = "reverse", conflicts_with = "source")]
    forward: Option<PathBuf>,
    /// Links of the reverse direction, written as source-target too
    #[arg(long, value_name = "FILE", requires = "forward")]
    reverse: Option<PathBuf>,
    /// Save the trained model, for new text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forward", "load_model"])]
    save_model: Option<PathBuf>,
    /// Align with a saved model instead of training; the file says which model it is
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forward", "model", "iterations", "hmm_iterations"])]
    load_model: Option<PathBuf>,
    /// Write the lexical translation table: source, target, p(target|source),
    /// p(source|target)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forward", "load_model"])]
    lexical_table: Option<PathBuf>,
    /// Manual links, i-j if sure, i?j if possible; prints precision, recall and alignment error
    /// rate on standard output
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// Links to compare with --gold, instead of new ones
    #[arg(long, value_name = "FILE", requires = "gold", conflicts_with_all = ["source", "forward"])]
    links: Option<PathBuf>,
    /// Memory to use; the rest goes to a temporary file
    #[arg(short = 'S', long, value_name = "SIZE", default_value = "4G", value_parser = parse_memory)]
    memory: u64,
    /// The folder for temporary files [default: the system's]
    #[arg(short = 'T', long, value_name = "FOLDER")]
    temp: Option<PathBuf>,
}

/// The alignment models: names, descriptions and values for [`choices`].
pub const ALIGN_MODELS: [(&str, &str, AlignModel); 2] = [
    ("ibm2", "IBM model 2 with a diagonal prior, as fast_align", AlignModel::Ibm2),
    ("hmm", "A hidden Markov model of jumps", AlignModel::Hmm),
];

/// Returns the methods of symmetrisation for [`choices`].
pub fn symmetrizations() -> [(&'static str, &'static str, Symmetrization); 8] {
    Symmetrization::ALL.map(|how| (how.name(), "", how))
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.hmm_iterations.is_some() && arguments.model == AlignModel::Ibm2 {
        exit_with_usage_error("--hmm-iterations needs --model hmm");
    }
    warn_of_memory_floor(Some(arguments.memory));
    let output = &arguments.output;
    if arguments.gold.is_some() && arguments.links.is_none() && output.as_os_str() == "-" {
        exit_with_usage_error(
            "--gold: name a file for the links with -o, or an existing one with --links",
        );
    }
    let inputs = [
        &arguments.source,
        &arguments.target,
        &arguments.forward,
        &arguments.reverse,
        &arguments.load_model,
        &arguments.gold,
    ];
    // With --links nothing is written.
    let written = arguments.links.is_none().then_some(output);
    let outputs = [
        ("--output", written),
        ("--save-model", arguments.save_model.as_ref()),
        ("--lexical-table", arguments.lexical_table.as_ref()),
    ];
    check_files(inputs.into_iter().flatten().chain(&arguments.links), &outputs)?;
    let texts = [&arguments.source, &arguments.target].into_iter().flatten();
    warn_if_binary(texts.map(PathBuf::as_path))?;
    if arguments.links.is_none() {
        log_summary(&write_links(&arguments, common)?);
    }
    if let Some(gold) = &arguments.gold {
        let links = arguments.links.as_ref().unwrap_or(output);
        let agreement = miriam_align::evaluate_alignment(links, gold, &common.progress())?;
        crate::console::print_line(format_args!(
            "precision {:.4}  recall {:.4}  AER {:.4}",
            agreement.precision(),
            agreement.recall(),
            agreement.error_rate()
        ))?;
    }
    Ok(())
}

fn write_links(arguments: &Arguments, common: &CommonOptions) -> anyhow::Result<AlignSummary> {
    let how = arguments.symmetrize;
    let (output, threads) = (&arguments.output, common.threads.count());
    let progress = common.progress();
    if let (Some(forward), Some(reverse)) = (&arguments.forward, &arguments.reverse) {
        let summary =
            miriam_align::symmetrize_files(forward, reverse, output, how, threads, &progress)?;
        return Ok(summary);
    }
    let (Some(source), Some(target)) = (&arguments.source, &arguments.target) else {
        unreachable!("the parser requires them")
    };
    let options = AlignOptions {
        model: arguments.model,
        symmetrization: how,
        threads,
        iterations: Some(arguments.iterations.into()),
        hmm_iterations: Some(arguments.hmm_iterations.unwrap_or(2).into()),
        memory: Some(arguments.memory),
        temp_dir: arguments.temp.clone(),
        save_model: arguments.save_model.clone(),
        load_model: arguments.load_model.clone(),
        lexical_table: arguments.lexical_table.clone(),
        ..AlignOptions::default()
    };
    Ok(miriam_align::align_files(source, target, output, &options, &progress)?)
}

/// Warns of pairs that were not aligned because of their length.
pub fn warn_of_too_long_pairs(summary: &AlignSummary) {
    let (pairs, limit) = (summary.too_long_pairs, miriam_align::MAX_SENTENCE_WORDS);
    if pairs > 0 {
        let are = if pairs == 1 { "sentence pair is" } else { "sentence pairs are" };
        tracing::warn!(
            "{pairs} {are} not aligned: a side has more than {limit} words; shorten such \
             pairs, or remove them from both files"
        );
    }
}

fn log_summary(summary: &AlignSummary) {
    warn_of_too_long_pairs(summary);
    // If some pairs are too long, the warning above already gives the reason.
    if summary.has_nothing_to_align() && summary.too_long_pairs == 0 {
        tracing::warn!("there is nothing to align: no line has words on both sides");
    }
    let pairs = summary.pairs;
    tracing::info!(
        "{pairs} sentence pairs, {} of them empty; {} links",
        summary.empty_pairs,
        summary.links
    );
    if summary.word_pairs > 0 {
        let trained = summary.perplexity.iter().zip(["forward", "reverse"]);
        let trained: Vec<String> = trained
            .filter_map(|(perplexity, name)| perplexity.map(|number| format!("{number:.2} {name}")))
            .collect();
        tracing::info!(
            "{} pairs of words; perplexity {}; {} MiB of temporary files",
            summary.word_pairs,
            trained.join(", "),
            summary.spilled_bytes.div_ceil(1 << 20)
        );
    }
}
