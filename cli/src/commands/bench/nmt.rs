//! `miriam bench nmt`: the speed of neural translation, with random weights.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Subcommand, value_parser};
use miriam_bench::StudyFolder;
use miriam_bench::nmt::batching::{self, BatchingStudy};
use miriam_bench::nmt::devlin::{self, DevlinStudy};
use miriam_bench::nmt::gpu::{self, NmtGpuStudy};
use miriam_bench::nmt::marian::{self, MarianStudy};
use miriam_bench::nmt::{DECODING_SHAPES, SYSTEM_NAMES};
use miriam_nmt::DeviceSet;
use miriam_nmt::engine::Precision;

use super::{FolderArguments, cost};
use crate::common::{CommonOptions, Threads};
use crate::console::standard_output;

#[derive(Subcommand)]
pub enum Command {
    Batching(BatchingArguments),
    Devlin(DevlinArguments),
    Marian(MarianArguments),
    Gpu(GpuArguments),
    Cost(Box<cost::Arguments>),
}

/// Measure batching with all optimisations and without some of them, and sizes of batches
///
/// Translates a text on one thread with random weights. Each translation has the length of its
/// reference, so that lengths vary as in real text. All variants take turns; times are medians of
/// CPU time (on a GPU of wall time) over the rounds. The first round is not counted. On the CPU,
/// the parts of the output layer are also measured: product, bias, softmax and top-k.
///
/// With one size of batches all variants are measured. With several sizes, the speed of each size
/// is measured: the default, without top-up, and with finished sentences kept in the batch. With -o
/// the steps of each search are recorded too: speed.csv and speed.svg have the speeds, output.csv
/// the parts of the output layer, steps.csv each step, steps.svg the time of each step of one
/// batch, sentences.svg the number of sentences that batches have at each step.
///
/// Example: miriam bench nmt batching -i test.de --target test.en
///
/// Example: miriam bench nmt batching -i test.de --target test.en --shape gru --batches 1 4 16 64 -o amun
#[derive(Args)]
pub struct BatchingArguments {
    /// The source text: one sentence per line, words or pieces separated by spaces
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// The reference translations, of which only the lengths are used
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// The model: Amun's GRU, an mLSTM, or a transformer
    #[arg(long, value_name = "NAME", default_value = "tiny", value_parser = DECODING_SHAPES)]
    shape: String,
    /// The maximal number of sentences
    #[arg(long, value_name = "N", default_value = "192", value_parser = value_parser!(u32).range(1..=10_000_000))]
    sentences: u32,
    /// The size of the vocabulary
    #[arg(long, value_name = "N", default_value = "32000", value_parser = value_parser!(u32).range(100..=1_000_000))]
    words: u32,
    /// The numbers of sentences in a batch
    #[arg(long, visible_alias = "batch", value_name = "N", num_args = 1.., default_value = "32", value_parser = value_parser!(u32).range(1..=65_536))]
    batches: Vec<u32>,
    /// The beam sizes
    #[arg(long, value_name = "N", num_args = 1.., default_values = ["1", "5"], value_parser = value_parser!(u32).range(1..=1000))]
    beams: Vec<u32>,
    /// The precisions: f32, i16, i8 or mixed, on a GPU f32, f16 or bf16 [default: f32 i8, on a GPU
    /// f32 f16]
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = parse_precision)]
    precisions: Vec<Precision>,
    /// The device: cpu, cuda, cuda:N, or auto (a GPU if there is one)
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceSet,
    /// The number of counted rounds
    #[arg(short, value_name = "N", default_value = "3", value_parser = value_parser!(u32).range(1..=1000))]
    n: u32,
    /// Begin no further round of a table after S seconds
    #[arg(long, value_name = "S", default_value = "90")]
    seconds: f64,
    #[command(flatten)]
    folder: FolderArguments,
}

/// Measure the speedups of Devlin's paper (2017) for recurrent models, and its systems
///
/// Translates sentence by sentence on one thread with a beam of 6 and shortlists of 20 words
/// for each source word. Weights are random, so translations are meaningless. Times are the CPU
/// times of the fastest pass. For one shape, the speedups are added one after the other (table 1);
/// several shapes are compared with all speedups, beside the paper's words per second (table 2).
/// With -o, speedups.csv or systems.csv has the rows, and speedups.svg or systems.svg shows them
/// beside the paper's.
///
/// Example: miriam bench nmt devlin -i news.en --sentences 100
///
/// Example: miriam bench nmt devlin -i news.en --shape all -o devlin
#[derive(Args)]
pub struct DevlinArguments {
    /// The text that provides sentence lengths and word frequencies; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The number of sentences to translate
    #[arg(long, value_name = "N", default_value = "50", value_parser = value_parser!(u32).range(1..))]
    sentences: u32,
    /// The size of each vocabulary
    #[arg(long, value_name = "N", default_value = "80000", value_parser = value_parser!(u32).range(200..=1_000_000))]
    words: u32,
    /// The shapes of Devlin's table 2: s7 has eight LSTM layers, e1 and e2 are ensembles of two and
    /// three models s4
    #[arg(long, value_name = "NAME", num_args = 1.., default_value = "s1", value_parser = shape_names())]
    shape: Vec<String>,
    /// Measure each speedup alone, instead of adding them one after the other
    #[arg(long)]
    alone: bool,
    /// The number of passes over the sentences
    #[arg(long, value_name = "N", default_value = "3", value_parser = value_parser!(u32).range(1..))]
    passes: u32,
    #[command(flatten)]
    folder: FolderArguments,
}

/// The name of all shapes together.
const ALL_SHAPES: &str = "all";

fn shape_names() -> PossibleValuesParser {
    PossibleValuesParser::new(SYSTEM_NAMES.into_iter().chain([ALL_SHAPES]))
}

/// Measure the optimisations of Marian's paper (2018): shortlist, 16 bits, auto-tuning
///
/// Translates a text on one thread with a base transformer with average attention and random
/// weights, one sentence at a time and in batches of 384 words. Each translation has the length of
/// its reference. Times are medians of CPU time. With -o, marian.csv has the rows, and marian.svg
/// shows them beside the paper's.
///
/// Example: miriam bench nmt marian -i test.de --target test.en
#[derive(Args)]
pub struct MarianArguments {
    /// The source text: one sentence per line, words or pieces separated by spaces
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// The reference translations, of which only the lengths are used
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// The maximal number of sentences
    #[arg(long, value_name = "N", default_value = "100", value_parser = value_parser!(u32).range(1..=10_000_000))]
    sentences: u32,
    /// The size of the vocabulary
    #[arg(long, value_name = "N", default_value = "32000", value_parser = value_parser!(u32).range(100..=1_000_000))]
    words: u32,
    /// The number of counted passes over the text
    #[arg(long, value_name = "N", default_value = "3", value_parser = value_parser!(u32).range(1..=1000))]
    passes: u32,
    #[command(flatten)]
    folder: FolderArguments,
}

/// Measure neural decoding on a GPU and the CPU, with lower bounds of the time
///
/// Measures tokens per second for beam and batch sizes in each precision of the GPU and on one
/// thread of the CPU, then each variant of batching (sorting, top-up, shrinking, fused output).
/// Models have random weights: Amun's GRU, an mLSTM, a tiny and a base transformer; sentences have
/// the lengths of real text. Writes speed.csv, kernels.csv and speed.svg, and a table to standard
/// output.
///
/// With --check nothing is measured: translations are compared with those of the CPU in f32.
/// Without a GPU the CPU is compared with a reference in f64.
///
/// Example: miriam bench nmt gpu -o nmt-speed
#[derive(Args)]
#[command(verbatim_doc_comment)]
#[command(group = ArgGroup::new("result").required(true).multiple(true).args(["output", "check"]))]
pub struct GpuArguments {
    /// A model to measure instead of those with random weights, repeatable; needs --input
    #[arg(short, long, value_name = "MODEL", requires = "input")]
    model: Vec<PathBuf>,
    /// The text to translate: one sentence per line, plain or compressed
    #[arg(short, long, value_name = "TEXT")]
    input: Option<PathBuf>,
    #[command(flatten)]
    folder: FolderArguments,
    /// The device besides the CPU: cpu (none), cuda, cuda:N, or auto (a GPU if there is one)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceSet,
    /// Compare translations instead of measuring
    #[arg(long, conflicts_with = "overwrite")]
    check: bool,
    /// Use tiny models and few sentences
    #[arg(long)]
    quick: bool,
    /// The beam sizes [default: 1,3,5,9; with --quick 1,2]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=1000))]
    beams: Vec<u32>,
    /// The batch sizes in sentences [default: 1,8,32,128,512,1280; with --quick 1,2]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=65_536))]
    batches: Vec<u32>,
    /// The seed of random models and sentences
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// The number of measurements; the result is their median [default: 3; with --quick 1]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
}

fn parse_precision(text: &str) -> Result<Precision, String> {
    let found = Precision::from_name(text).filter(|found| *found != Precision::I8Alphas);
    found.ok_or_else(|| "give f32, i16, i8, mixed, f16 or bf16".into())
}

pub fn run(command: Command, common: &CommonOptions) -> anyhow::Result<()> {
    let out = &mut standard_output();
    let progress = &common.study_progress();
    if !matches!(command, Command::Cost(_)) && matches!(common.threads, Threads::Count(2..)) {
        tracing::warn!("--threads has no effect: this study measures one thread");
    }
    match command {
        Command::Batching(arguments) => batching::run(&arguments.into(), out, progress)?,
        Command::Devlin(arguments) => devlin::run(&arguments.into(), out, progress)?,
        Command::Marian(arguments) => marian::run(&arguments.into(), out, progress)?,
        Command::Cost(arguments) => cost::run(*arguments, common)?,
        Command::Gpu(arguments) => gpu::run(&arguments.into(), out, progress)?,
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
            batches: arguments.batches,
            beams: arguments.beams,
            precisions: arguments.precisions,
            device: arguments.device,
            rounds: arguments.n,
            seconds: arguments.seconds,
            output: arguments.folder.into(),
        }
    }
}

impl From<DevlinArguments> for DevlinStudy {
    fn from(arguments: DevlinArguments) -> Self {
        let DevlinArguments { input, sentences, words, shape, alone, passes, folder } = arguments;
        let shapes = if shape.iter().any(|name| name == ALL_SHAPES) {
            SYSTEM_NAMES.map(str::to_owned).to_vec()
        } else {
            shape
        };
        DevlinStudy { input, sentences, words, shapes, alone, passes, output: folder.into() }
    }
}

impl From<MarianArguments> for MarianStudy {
    fn from(arguments: MarianArguments) -> Self {
        let MarianArguments { input, target, sentences, words, passes, folder } = arguments;
        MarianStudy { input, target, sentences, words, passes, output: folder.into() }
    }
}

impl From<GpuArguments> for NmtGpuStudy {
    fn from(arguments: GpuArguments) -> Self {
        fn or_default(numbers: Vec<u32>, full: &[u32], quick: bool) -> Vec<u32> {
            match numbers[..] {
                [] if quick => vec![1, 2],
                [] => full.to_vec(),
                _ => numbers,
            }
        }
        let quick = arguments.quick;
        NmtGpuStudy {
            models: arguments.model,
            input: arguments.input,
            devices: arguments.device,
            output: Option::from(arguments.folder).filter(|_: &StudyFolder| !arguments.check),
            quick,
            beams: or_default(arguments.beams, &[1, 3, 5, 9], quick),
            batches: or_default(arguments.batches, &[1, 8, 32, 128, 512, 1280], quick),
            seed: arguments.seed,
            repeat: arguments.repeat.unwrap_or(if quick { 1 } else { 3 }),
        }
    }
}
