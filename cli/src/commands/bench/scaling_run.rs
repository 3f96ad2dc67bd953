//! `miriam bench scaling-run`: one measurement of `scaling`, in a process of its own.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory, Parser, ValueEnum};
use miriam_bench::scaling::{Measurement, end_with_study};
use miriam_decoder::Configuration;

use crate::commands::{nmt, perplexity};
use crate::common::{CommonOptions, exit_with_usage_error, utf8_word};
use crate::console::standard_output;
use crate::option_values::parse_number;

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
    options: Vec<OsString>,
}

/// Parses the duration of a measurement.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    parse_number(text, |seconds| (0.01..=1e5).contains(&seconds), "seconds from 0.01 to 100000")
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Phrase,
    Nmt,
    Lm,
    Command,
}

/// Options of `nmt translate`.
#[derive(Parser)]
#[command(name = "miriam nmt translate", no_binary_name = true)]
pub struct NeuralOptions {
    #[command(flatten)]
    arguments: nmt::TranslateArguments,
    #[command(flatten)]
    common: CommonOptions,
}

/// Options of `lm perplexity`.
#[derive(Parser)]
#[command(name = "miriam lm perplexity", no_binary_name = true)]
pub struct LanguageModelOptions {
    #[command(flatten)]
    arguments: perplexity::Arguments,
    #[command(flatten)]
    common: CommonOptions,
}

impl NeuralOptions {
    /// Parses options, and those in their configurations. Exits if they are invalid, name an input
    /// or output file, or set the number of threads other than by --threads.
    pub fn parse_or_exit(options: &[OsString]) -> Self {
        fn program() -> Command {
            let translate = NeuralOptions::command().name("translate");
            Command::new("miriam").subcommand(Command::new("nmt").subcommand(translate))
        }
        let words = ["miriam", "nmt", "translate"].map(OsString::from);
        let words = nmt::add_configured_options([&words[..], options].concat(), program);
        let words = words.unwrap_or_else(|error| exit_with_usage_error(format!("{error:#}")));
        let parsed = Self::try_parse_from(&words[3..]).unwrap_or_else(|error| error.exit());
        reject_files(parsed.arguments.names_texts());
        if parsed.arguments.overrides_threads() {
            exit_with_usage_error("the study gives the threads; leave out --cpu-threads");
        }
        parsed
    }
}

impl LanguageModelOptions {
    /// Parses options. Exits if they are invalid or name an input or output file.
    pub fn parse_or_exit(options: &[OsString]) -> Self {
        let parsed = Self::try_parse_from(options).unwrap_or_else(|error| error.exit());
        reject_files(parsed.arguments.names_texts());
        parsed
    }
}

fn reject_files(names_texts: bool) {
    if names_texts {
        exit_with_usage_error(
            "the study gives the text and discards the output; leave out the options that name \
             them, and those that read a text twice",
        );
    }
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    end_with_study();
    let Arguments { workload, input, cpus, seconds, expected_rate, options } = arguments;
    let measurement = Measurement { input, cpus, seconds, expected_rate };
    let run = match workload {
        Kind::Phrase => {
            let options: Vec<String> = options.iter().map(utf8_word).collect();
            measurement.measure_phrase_system(Configuration::from_command_line(&options)?)?
        }
        Kind::Nmt => {
            let NeuralOptions { arguments, common } = NeuralOptions::parse_or_exit(&options);
            measurement.measure(|| arguments.load_for_measurement(&common))?
        }
        Kind::Lm => {
            let options = LanguageModelOptions::parse_or_exit(&options);
            let LanguageModelOptions { arguments, common } = options;
            measurement.measure(|| arguments.load_for_measurement(&common))?
        }
        Kind::Command => match &options[..] {
            [command] => measurement.measure_command(&utf8_word(command))?,
            _ => exit_with_usage_error("expected one command"),
        },
    };
    Ok(standard_output().write_all(run.to_line().as_bytes())?)
}
