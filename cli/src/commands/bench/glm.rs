//! `miriam bench glm`: the GPU language model on device and CPU.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use miriam_bench::StudyFolder;
use miriam_bench::glm::{GlmBenchOptions, HardwarePrices, NgramSource};
use miriam_bench::synthetic::SyntheticOptions;
use miriam_glm::device::DeviceChoice;

use super::FolderArguments;
use crate::common::CommonOptions;
use crate::console::standard_output;

/// Measure n-grams per second of the GPU language model, on device and CPU
///
/// Measures random reads of memory, which bound the speed; then explicit n-grams and whole
/// sentences, from a text like the training text and from a held-out text, in batches of 100
/// to 10 million. The model is built with nodes of 8, 16 and 32 keys, and with none, some or
/// all orders in hash tables. The device is measured with and without copies, the CPU with one
/// thread and with all. On the CPU the other kinds of model are measured too. Writes queries.csv,
/// reads.csv, trees.csv (how many B-trees are a single node) and queries.svg, and a table to
/// standard output. Without --model, a model and texts are generated. Results are kept in
/// results.jsonl: the same command resumes a study that was stopped.
///
/// With --check nothing is measured: the scores of all searches are compared bit by bit.
///
/// Example: miriam bench glm --synthetic 80000000 -o glm-speed
#[derive(Args)]
#[command(verbatim_doc_comment)]
#[command(group = ArgGroup::new("result").required(true).multiple(true).args(["output", "check"]))]
pub struct Arguments {
    /// Generate a model of about N n-grams [default: 80000000; with --quick 100000]
    #[arg(long, value_name = "N", conflicts_with = "model",
          value_parser = clap::value_parser!(u64).range(SyntheticOptions::MIN_NGRAMS..=SyntheticOptions::MAX_NGRAMS))]
    synthetic: Option<u64>,
    /// The seed of the synthetic model and texts
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// The order of the synthetic model
    #[arg(long, value_name = "N", default_value = "5", conflicts_with = "model",
          value_parser = clap::value_parser!(u8).range(2..=16))]
    order: u8,
    /// Use the n-grams of this model: a file of any kind that `lm build` reads
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// A text to score, repeatable: plain, .gz, .zst, .bz2 or .xz; without it texts are generated
    #[arg(short, long, value_name = "FILE", requires = "model")]
    input: Vec<PathBuf>,
    #[command(flatten)]
    folder: FolderArguments,
    /// The device besides the CPU: cpu (none), cuda, cuda:N, or auto (a device if there is
    /// one)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Compare the scores of all searches bit by bit instead of measuring
    #[arg(long, conflicts_with = "overwrite")]
    check: bool,
    /// Use a small model, small batches and few repetitions
    #[arg(long)]
    quick: bool,
    /// The number of measurements; the result is their median [default: 5; with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: Option<u16>,
    /// The price of the CPU in any currency, for a column of queries per second divided by
    /// the price; only rows that use all threads have a value there
    #[arg(long, value_name = "P", value_parser = super::parse_price, conflicts_with = "check")]
    cpu_price: Option<f64>,
    /// The price of the device in the same currency
    #[arg(long, value_name = "P", value_parser = super::parse_price, conflicts_with = "check")]
    device_price: Option<f64>,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let source = match arguments.model {
        Some(model) => NgramSource::File { model, texts: arguments.input },
        None => {
            let (ngrams, order) = (arguments.synthetic, usize::from(arguments.order));
            NgramSource::Synthetic { ngrams, order }
        }
    };
    let options = GlmBenchOptions {
        source,
        seed: arguments.seed,
        output: Option::from(arguments.folder).filter(|_: &StudyFolder| !arguments.check),
        device: arguments.device,
        quick: arguments.quick,
        repeat: arguments.repeat.map(usize::from),
        threads: common.threads.count(),
        prices: HardwarePrices { cpu: arguments.cpu_price, device: arguments.device_price },
    };
    let progress = common.progress();
    Ok(common
        .build_thread_pool()?
        .install(|| miriam_bench::glm::run(&options, &mut standard_output(), &progress))?)
}
