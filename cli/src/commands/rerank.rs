//! `miriam rerank`: the best entries of an n-best list by given weights.

use std::path::PathBuf;

use clap::Args;
use miriam_combine::ListInput;
use miriam_combine::rerank::{RerankOutput, rerank};
use miriam_combine::weights::FeatureWeights;
use miriam_textio::Output;

use crate::common::{CommonOptions, check_files};

/// Choose the best translations of an n-best list by weights of its features.
///
/// Examples:
///   miriam rerank --n-best system.list.gz --weights weights -o output.en
///   miriam rerank --n-best system.list.gz --weights weights --write-lists -o ranked.list.gz
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The n-best list, of any program (number ||| text ||| features ||| total): plain, .gz, .zst,
    /// .bz2 or .xz; - for standard input
    #[arg(short = 'i', long, visible_alias = "input", value_name = "LIST", default_value = "-")]
    n_best: PathBuf,
    /// The weights, a line for each feature, as in the section [weight] of a moses.ini: LM0= 0.5
    #[arg(short, long, value_name = "FILE")]
    weights: PathBuf,
    /// The file for translations, one per line; compressed if it ends in .gz, .zst, .bz2 or .xz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Write the list in its new order, with new totals
    #[arg(long)]
    write_lists: bool,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { n_best, weights, output, write_lists } = arguments;
    check_files([&n_best, &weights], &[("--output", Some(&output))])?;
    let weights = FeatureWeights::read(&weights)?;
    let kind = if write_lists { RerankOutput::Lists } else { RerankOutput::Best };
    let output = Output::create(&output)?;
    let threads = common.threads.count();
    let summary =
        rerank(ListInput::File(n_best), &weights, kind, threads, output, &common.progress())?;
    tracing::info!(
        "{} sentences; {} times, an entry other than the first was chosen",
        summary.sentences,
        summary.not_first
    );
    Ok(())
}
