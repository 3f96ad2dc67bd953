//! `miriam bench pt-build`: sizes of phrase tables, and the time to build them.

use std::path::PathBuf;

use clap::Args;
use miriam_bench::pt_build::PtBuildOptions;

use crate::common::CommonOptions;
use crate::console::standard_output;

#[derive(Args)]
pub struct Arguments {
    /// The phrase table as text: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE")]
    phrase_table: PathBuf,
    /// The lexical reordering table as text, for a second binary table with its scores
    #[arg(long, value_name = "FILE")]
    reordering: Option<PathBuf>,
    /// Another table of the same text, whose size is shown too: a file, or a folder such as a
    /// ProbingPT directory of Moses. May be repeated
    #[arg(long, value_name = "PATH")]
    other: Vec<PathBuf>,
    /// Sort the texts first
    #[arg(long)]
    sort: bool,
    /// The number of builds of each table; the times are those of the build with the median CPU
    /// time
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Also write the results here, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { phrase_table, reordering, other, sort, repeat, csv } = arguments;
    let options = PtBuildOptions {
        phrase_table,
        reordering,
        others: other,
        sort,
        repeat,
        threads: common.threads.count(),
        csv,
    };
    Ok(miriam_bench::pt_build::run(&options, &mut standard_output(), &common.progress())?)
}
