//! `miriam bench scaling-run`: one measurement of `scaling`, in a process of its own.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use miriam_bench::scaling::Measurement;
use miriam_decoder::Configuration;

use super::scaling::parse_seconds;
use crate::common::exit_with_usage_error;
use crate::console::standard_output;

#[derive(Args)]
pub struct Arguments {
    /// What is measured
    #[arg(long, value_name = "KIND")]
    workload: Kind,
    /// The text
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// The CPUs to use
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    cpus: Vec<usize>,
    /// The minimal duration of the measurement
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
    /// The words per second of an earlier measurement
    #[arg(long, value_name = "RATE")]
    expected_rate: Option<f64>,
    /// Options of the subcommand, or a command of the shell
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Phrase,
    Command,
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { workload, input, cpus, seconds, expected_rate, options } = arguments;
    let measurement = Measurement { input, cpus, seconds, expected_rate };
    let run = match workload {
        Kind::Phrase => {
            measurement.measure_phrase_system(Configuration::from_command_line(&options)?)?
        }
        Kind::Command => match &options[..] {
            [command] => measurement.measure_command(command)?,
            _ => exit_with_usage_error("expected one command".into()),
        },
    };
    Ok(standard_output().write_all(run.to_line().as_bytes())?)
}
