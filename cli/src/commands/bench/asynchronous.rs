//! `miriam bench async`: asynchronous SGD on a simulated machine.

use std::path::PathBuf;
use std::slice::from_ref;

use clap::Args;
use miriam_bench::asynchronous::{AsyncOptions, NUM_THESIS_SYSTEMS, SYSTEMS, System};
use miriam_textio::CancellationToken;
use miriam_trainer::options::RawOptions;

use crate::common::CommonOptions;
use crate::console::standard_output;
use crate::option_values::{choices, parse_number};
use crate::signals::SignalHandler;

/// Compare systems of asynchronous SGD (Bogoychev's thesis) on a simulated machine
///
/// Trains each system with each seed, timed by the clock of a simulated machine with several
/// workers. Writes study.csv (one line per training run), curves.csv (one per validation),
/// by-epoch.svg and by-time.svg (cross-entropy of the validation set), and a table to
/// standard output. Training runs are done in parallel, one per thread of --threads, and a
/// study that was stopped is resumed by the same command.
///
/// Example: miriam bench async --source train.de --target train.en --dev-source dev.de
/// --dev-target dev.en -o study --seeds 1,2,3
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The source side of the text to train on: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// The target side
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// The source side of the text to validate on
    #[arg(long, value_name = "FILE")]
    dev_source: PathBuf,
    /// Its target side
    #[arg(long, value_name = "FILE")]
    dev_target: PathBuf,
    /// The folder to write to; it is created if it is missing
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// The systems, for example sync,1,2 [default: the thesis's ten]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = choices(SYSTEMS.map(|system| (system.name, system.about, system))))]
    systems: Vec<System>,
    /// The seeds of parameters and data, for example 1,2,3
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1")]
    seeds: Vec<u64>,
    /// Epochs of each training run; with --early-stopping the largest number [default: 10; 100 with
    /// --early-stopping]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    epochs: Option<u64>,
    /// Stop a training run after N validations (two an epoch) without a lower cross-entropy, to
    /// study the time to convergence
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    early_stopping: Option<u64>,
    /// Workers of the simulated machine
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=4096), conflicts_with = "machine")]
    workers: u16,
    /// The simulated machine, in the format of nmt train --simulate-async [default: a batch takes
    /// as long as on the thesis's machine]
    #[arg(long, value_name = "TOML")]
    machine: Option<PathBuf>,
    /// Target words of a large batch (10,449 source words in the thesis)
    #[arg(long, value_name = "N", default_value = "512", value_parser = clap::value_parser!(u32).range(8..))]
    batch_words: u32,
    /// The learning rate with large batches (4.5e-4 in the thesis)
    #[arg(long, value_name = "RATE", default_value = "0.001", value_parser = parse_rate)]
    rate: f64,
    /// The number of pieces of the vocabulary [default: 8000]
    #[arg(long, value_name = "N")]
    vocab_size: Option<usize>,
    /// The model's options in YAML, as nmt train takes them [default: a shallow GRU of width 64]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    parse_number(text, |rate| (1e-9..=10.0).contains(&rate), "a rate from 1e-9 to 10")
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let model = match &arguments.config {
        None => None,
        Some(path) => Some(RawOptions::default().or_else_from_files(from_ref(path), None)?),
    };
    let systems = if arguments.systems.is_empty() {
        SYSTEMS[..NUM_THESIS_SYSTEMS].to_vec()
    } else {
        arguments.systems
    };
    let options = AsyncOptions {
        train: [arguments.source, arguments.target],
        dev: [arguments.dev_source, arguments.dev_target],
        output: arguments.output,
        systems,
        seeds: arguments.seeds,
        epochs: arguments.epochs.unwrap_or(if arguments.early_stopping.is_some() {
            100
        } else {
            10
        }),
        early_stopping: arguments.early_stopping.unwrap_or(0),
        workers: arguments.workers.into(),
        machine: arguments.machine,
        batch_words: arguments.batch_words as usize,
        rate: arguments.rate,
        vocab_size: arguments.vocab_size,
        model,
        threads: common.threads.count(),
    };
    let stop = CancellationToken::new();
    let signals = SignalHandler::install(&stop)?;
    let progress = common.study_progress();
    let is_complete =
        miriam_bench::asynchronous::run(&options, &stop, &progress, &mut standard_output())?;
    if !is_complete {
        signals.reraise_signal_with_message("the same command resumes the study");
    }
    Ok(())
}
