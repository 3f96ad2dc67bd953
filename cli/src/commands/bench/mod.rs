//! `miriam bench`: the benchmarks that the documentation quotes.

mod asynchronous;
mod cost;
mod glm;
mod lm;
mod nmt;
mod pt;
mod scaling;
mod scaling_run;
mod serve;
mod systems;

use clap::Subcommand;

use crate::common::CommonOptions;

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
        Command::Glm(arguments) => glm::run(arguments, common),
        Command::Nmt(command) => nmt::run(command, common),
        Command::Scaling(arguments) => scaling::run(arguments, common),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Async(arguments) => asynchronous::run(arguments, common),
        Command::ScalingRun(arguments) => scaling_run::run(arguments),
    }
}

/// Reads a price from the command line.
fn parse_price(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(price) if price > 0.0 && f64::is_finite(price) => Ok(price),
        _ => Err("expected a positive number".into()),
    }
}
