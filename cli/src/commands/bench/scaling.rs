//! `miriam bench scaling`: the speed-up of translation with threads.

use std::path::PathBuf;

use clap::Args;
use miriam_bench::scaling::ScalingOptions;
use miriam_decoder::Configuration;

use crate::commands::system_configuration::read_configuration;
use crate::console::standard_output;

/// The speed-up of translation with threads: cores first, then hyperthreads
///
/// Translates the text repeatedly on each number of threads and writes words per
/// second, speed-up, user and system time, context switches and peak memory to
/// scaling.csv (the median run of each count), runs.csv (every run) and
/// scaling.svg, and a verdict to standard output. Loading the models and one pass
/// over the text before the clock starts are not counted.
///
/// Example: miriam bench scaling --config moses.ini -i news.de -o scaling --
/// -search-algorithm 1 -cube-pruning-pop-limit 400
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The system's moses.ini, or its folder
    #[arg(long, value_name = "INI")]
    config: PathBuf,
    /// The text to translate: plain, .gz, .zst, .bz2 or .xz
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// Numbers of threads, as 1,2,4; 1 is always among them. Without it powers of
    /// two up to the physical cores, then hyperthreads
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    counts: Vec<u16>,
    /// The folder to write to; it is created if it is missing
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// The number of measurements of each thread count
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// The minimal duration of a measurement, for which the text is repeated
    #[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
    seconds: f64,
    /// Further options for `translate`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=1e5).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.01".into()),
    }
}

#[derive(Args)]
pub struct RunArguments {
    /// The minimal duration of the measurement
    #[arg(long, value_name = "S")]
    seconds: f64,
    /// Options of `translate`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    // Errors of the ini or of options are reported before the first measurement.
    let tokens = ["-f".to_owned(), arguments.config.to_string_lossy().into_owned()];
    let tokens = [&tokens[..], &arguments.options].concat();
    let configuration = read_configuration(&tokens)?;
    let options = ScalingOptions {
        config: configuration.ini,
        input: arguments.input,
        counts: arguments.counts.into_iter().map(usize::from).collect(),
        output: arguments.output,
        repeat: arguments.repeat.into(),
        seconds: arguments.seconds,
        options: arguments.options,
    };
    Ok(miriam_bench::scaling::run(&options, &mut standard_output())?)
}

pub fn run_measurement(arguments: RunArguments) -> anyhow::Result<()> {
    let configuration = Configuration::from_command_line(&arguments.options)?;
    let (seconds, mut out) = (arguments.seconds, standard_output());
    Ok(miriam_bench::scaling::run_measurement(configuration, seconds, &mut out)?)
}
