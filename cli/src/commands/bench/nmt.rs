//! `miriam bench nmt`: the speed of neural translation, with random weights.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};
use miriam_bench::nmt::batching::{self, BatchingStudy};
use miriam_bench::nmt::devlin::{self, DevlinStudy};
use miriam_bench::nmt::{STACKED_SHAPES, TRANSFORMER_SIZES};
use miriam_nmt::engine::Precision;

use crate::console::standard_output;

#[derive(Subcommand)]
pub enum Command {
    Batching(BatchingArguments),
    Devlin(DevlinArguments),
}

/// Batching with all optimisations, and without each of them in turn
///
/// Translates a text with a random transformer on one thread. Each translation ends where its
/// reference does, so lengths vary as in real text. All variants take turns; times are
/// processor time, medians over the rounds. The first round is not counted.
///
/// Example: miriam bench nmt batching -i test.de --target test.en
#[derive(Args)]
pub struct BatchingArguments {
    /// Text, one sentence per line, words (or pieces) separated by spaces
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// Its translation, which gives the lengths
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// The model
    #[arg(long, value_name = "NAME", default_value = "tiny", value_parser = TRANSFORMER_SIZES)]
    shape: String,
    /// Sentences of the text
    #[arg(long, value_name = "N", default_value = "192", value_parser = value_parser!(u32).range(1..=10_000_000))]
    sentences: u32,
    /// Words of the vocabulary
    #[arg(long, value_name = "N", default_value = "32000", value_parser = value_parser!(u32).range(100..=1_000_000))]
    words: u32,
    /// Sentences of a batch
    #[arg(long, value_name = "N", default_value = "32", value_parser = value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// Widths of the beam
    #[arg(long, value_name = "N", num_args = 1.., default_values = ["1", "5"], value_parser = value_parser!(u32).range(1..=1000))]
    beams: Vec<u32>,
    /// f32, i16 or i8
    #[arg(long, value_name = "NAME", num_args = 1.., default_values = ["f32", "i8"], value_parser = parse_precision)]
    precisions: Vec<Precision>,
    /// The number of counted rounds
    #[arg(short, value_name = "N", default_value = "3", value_parser = value_parser!(u32).range(1..=1000))]
    n: u32,
    /// Begin no further round of a table after S seconds
    #[arg(long, value_name = "S", default_value = "90")]
    seconds: f64,
}

/// Devlin's table (2017): a recurrent model, one shortcut after another
///
/// Translates sentence by sentence on one thread with a beam of 6 and candidate lists of
/// 20 for each source word. Weights are random, so translations are meaningless; times are
/// processor time, the best of the passes.
///
/// Example: miriam bench nmt devlin -i news.en --sentences 100
#[derive(Args)]
pub struct DevlinArguments {
    /// Text that gives sentence lengths and word frequencies; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// Sentences to translate
    #[arg(long, value_name = "N", default_value = "50", value_parser = value_parser!(u32).range(1..))]
    sentences: u32,
    /// Words of each vocabulary
    #[arg(long, value_name = "N", default_value = "80000", value_parser = value_parser!(u32).range(200..=1_000_000))]
    words: u32,
    /// The shape: s1 to s6 of his table 2
    #[arg(long, value_name = "NAME", default_value = "s1", value_parser = STACKED_SHAPES)]
    shape: String,
    /// Each shortcut alone, instead of one after the other
    #[arg(long)]
    alone: bool,
    /// Passes over the sentences
    #[arg(long, value_name = "N", default_value = "3", value_parser = value_parser!(u32).range(1..))]
    passes: u32,
}

fn parse_precision(text: &str) -> Result<Precision, String> {
    let found = Precision::from_name(text).filter(|found| Precision::FOR_ANY_MODEL.contains(found));
    found.ok_or_else(|| "give f32, i16 or i8".into())
}

pub fn run(command: Command) -> anyhow::Result<()> {
    let out = &mut standard_output();
    match command {
        Command::Batching(arguments) => batching::run(&arguments.into(), out)?,
        Command::Devlin(arguments) => devlin::run(&arguments.into(), out)?,
    }
    Ok(())
}

impl From<BatchingArguments> for BatchingStudy {
    fn from(arguments: BatchingArguments) -> Self {
        BatchingStudy {
            input: arguments.input,
            target: arguments.target,
            shape: arguments.shape,
            sentences: arguments.sentences,
            words: arguments.words,
            batch: arguments.batch,
            beams: arguments.beams,
            precisions: arguments.precisions,
            rounds: arguments.n,
            seconds: arguments.seconds,
        }
    }
}

impl From<DevlinArguments> for DevlinStudy {
    fn from(arguments: DevlinArguments) -> Self {
        let DevlinArguments { input, sentences, words, shape, alone, passes } = arguments;
        DevlinStudy { input, sentences, words, shape, alone, passes }
    }
}
