//! `miriam bench nmt devlin`: the table of his paper.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use miriam_nmt::ablation::{
    AblationSetting, STACKED_SHAPES, Workload, WorkloadResult, random_model, stacked_shape,
};
use miriam_nmt::architecture::Architecture;
use miriam_nmt::network::Network;
use miriam_textio::Input;

use super::super::machine::{cpu_name, cpu_seconds};

/// Devlin's table (2017): a recurrent model, one shortcut after another
///
/// Translates sentence by sentence on one thread with a beam of 6 and candidate lists of
/// 20 for each source word. Weights are random, so what comes out is not; times are
/// processor time, the best of the passes.
///
/// Example: miriam bench nmt devlin -i news.en --sentences 100
#[derive(Args)]
pub struct Arguments {
    /// Text whose sentence lengths and word frequencies are taken; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// Sentences to translate
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..))]
    sentences: u32,
    /// Words of each vocabulary
    #[arg(long, value_name = "N", default_value = "80000", value_parser = clap::value_parser!(u32).range(200..=1_000_000))]
    words: u32,
    /// The shape: s1 to s6 of his table 2
    #[arg(long, value_name = "NAME", default_value = "s1", value_parser = STACKED_SHAPES)]
    shape: String,
    /// Each shortcut alone, instead of one after the other
    #[arg(long)]
    alone: bool,
    /// Passes over the sentences
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
}

/// How far random weights reach: translations vary, and hypotheses of a beam share parents
/// about as often as Devlin's.
const GAIN: f32 = 1.5;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut text = Vec::new();
    Input::open(&arguments.input)?.read_to_end(&mut text)?;
    let words = arguments.words as usize;
    let workload = Workload::new(&text, arguments.sentences as usize, words, &arguments.input)?;
    let shape = stacked_shape(&arguments.shape, words).expect("the parser knows the shapes");
    let model = random_model(Architecture::Stacked(shape), GAIN, 1)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}, one thread", cpu_name())?;
    writeln!(
        out,
        "{} sentences, {} of {words} words to choose from at a time",
        workload.num_sentences(),
        workload.mean_shortlist_size().round(),
    )?;
    writeln!(out, "setting               words / s  ms / sentence  factor  same translations")?;
    let settings =
        if arguments.alone { AblationSetting::individual() } else { AblationSetting::cumulative() };
    let mut first: Option<(f64, WorkloadResult)> = None;
    let mut shared = None;
    for setting in settings {
        let path = Path::new("a random model");
        let network = Network::load_with(&model, path, setting.precision, &setting.shortcuts)?;
        let network = Arc::new(network);
        let (mut best, mut outcome) = (f64::INFINITY, WorkloadResult::default());
        for _ in 0..arguments.passes {
            let before = cpu_seconds();
            outcome = workload.translate(&network)?;
            best = best.min(cpu_seconds() - before);
        }
        let rate = outcome.tokens as f64 / best;
        shared = Some(outcome.distinct_parents as f64 / outcome.rows as f64);
        let (slowest, reference) = first.get_or_insert_with(|| (rate, outcome.clone()));
        let same = reference.translations.iter().zip(&outcome.translations);
        let same = same.filter(|(a, b)| a == b).count();
        writeln!(
            out,
            "{:<20} {rate:>10.0} {:>14.2} {:>6.2}x {:>17.1}%",
            setting.name,
            1000.0 * best / workload.num_sentences() as f64,
            rate / *slowest,
            100.0 * same as f64 / workload.num_sentences() as f64,
        )?;
    }
    if let Some(share) = shared {
        writeln!(out, "{:.0} % of hypotheses had a parent of their own", 100.0 * share)?;
    }
    Ok(())
}
