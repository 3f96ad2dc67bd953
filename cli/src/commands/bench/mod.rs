//! `miriam bench`: the benchmarks that the documentation quotes.

mod asynchronous;
mod cost;
mod glm;
mod lm;
mod nmt;
mod pt;
mod pt_build;
mod scaling;
mod scaling_run;
mod serve;
mod systems;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use miriam_bench::StudyFolder;

use crate::common::CommonOptions;
use crate::option_values::parse_number;

#[derive(Subcommand)]
pub enum Command {
    /// Measure queries per second of a language model, without the time to load it
    #[command(after_help = "Example:\n  miriam bench lm lm.miriam -i text.en --threads 1")]
    Lm(lm::Arguments),
    /// Measure lookups per second of a phrase table, and count the cache lines that they read
    #[command(
        after_help = "Example:\n  miriam bench pt phrase-table.miriam -i text.de --threads 1"
    )]
    Pt(pt::Arguments),
    /// Measure the sizes of binary phrase tables, with and without reordering scores, and the time
    /// to build them
    #[command(
        after_help = "Example:\n  miriam bench pt-build --phrase-table phrase-table.gz --threads 1"
    )]
    PtBuild(pt_build::Arguments),
    Glm(glm::Arguments),
    Scaling(scaling::Arguments),
    Serve(serve::Arguments),
    #[command(name = "async")]
    Async(asynchronous::Arguments),
    /// Measure neural translation, mostly on models with random weights
    #[command(subcommand)]
    Nmt(nmt::Command),
    /// Make one measurement of `scaling`, in a separate process
    #[command(hide = true)]
    ScalingRun(scaling_run::Arguments),
}

pub fn run(command: Command, common: &CommonOptions) -> anyhow::Result<()> {
    match command {
        Command::Lm(arguments) => lm::run(arguments, common),
        Command::Pt(arguments) => pt::run(arguments, common),
        Command::PtBuild(arguments) => pt_build::run(arguments, common),
        Command::Glm(arguments) => glm::run(arguments, common),
        Command::Nmt(command) => nmt::run(command, common),
        Command::Scaling(arguments) => scaling::run(arguments, common),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Async(arguments) => asynchronous::run(arguments, common),
        Command::ScalingRun(arguments) => scaling_run::run(arguments),
    }
}

/// The folder of a study.
#[derive(Args)]
struct FolderArguments {
    /// The folder for CSV files and charts, which is created if it is missing; if it has results of
    /// the same study, only the missing ones are measured
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Measure everything again, even if the folder has results
    #[arg(long, requires = "output")]
    overwrite: bool,
}

impl From<FolderArguments> for Option<StudyFolder> {
    fn from(FolderArguments { output, overwrite }: FolderArguments) -> Self {
        output.map(|path| StudyFolder { path, overwrite })
    }
}

/// Reads a price from the command line.
fn parse_price(text: &str) -> Result<f64, String> {
    parse_number(text, |price: f64| price > 0.0 && price.is_finite(), "a positive number")
}
