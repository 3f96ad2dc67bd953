//! Benchmark of the speedups of Devlin's paper (2017) for recurrent models.

#[cfg(test)]
mod tests;
mod workload;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_kernels::Cpu;
use miriam_nmt::architecture::Architecture;
use miriam_nmt::network::Network;

use super::random_models::random_model;
use crate::error::{Error, Result};
use crate::input::read_text;
use crate::machine::{cpu_name, cpu_seconds};
use crate::statistics::share_of_equal;
pub use workload::STACKED_SHAPES;
use workload::{AblationSetting, Workload, WorkloadResult, stacked_shape};

/// Options of the benchmark, which translates sentence by sentence on one thread.
#[derive(Clone, Debug)]
pub struct DevlinStudy {
    /// The text that provides sentence lengths and word frequencies; `-` for standard input.
    pub input: PathBuf,
    /// The number of sentences to translate.
    pub sentences: u32,
    /// The size of each vocabulary.
    pub words: u32,
    /// The shape, one of [`STACKED_SHAPES`].
    pub shape: String,
    /// Measure each speedup alone, instead of adding one after the other.
    pub alone: bool,
    /// The number of passes over the sentences.
    pub passes: u32,
}

/// The gain of the random weights, chosen so that translations vary and that hypotheses of a beam
/// share parents about as often as Devlin's.
const GAIN: f32 = 1.5;

/// Prints a row for each setting.
///
/// # Errors
/// If the text cannot be read or has no words, or the shape is unknown.
pub fn run(options: &DevlinStudy, out: &mut dyn Write) -> Result<()> {
    let text = read_text(&options.input)?;
    let (sentences, words) = (options.sentences as usize, options.words as usize);
    let workload = Workload::new(&text, sentences, words, &options.input)?;
    let shape = stacked_shape(&options.shape, words)
        .ok_or_else(|| Error::unmeasurable(format!("{}: unknown shape", options.shape)))?;
    let model = random_model(Architecture::Stacked(shape), GAIN, 1)?;
    writeln!(out, "{}, {}, one thread", cpu_name(), Cpu::describe_detected())?;
    writeln!(
        out,
        "{} sentences, {} of {words} words to choose from at a time",
        workload.num_sentences(),
        workload.mean_shortlist_size().round(),
    )?;
    writeln!(out, "setting               words / s  ms / sentence  factor  same translations")?;
    let settings =
        if options.alone { AblationSetting::individual() } else { AblationSetting::cumulative() };
    let mut first: Option<(f64, WorkloadResult)> = None;
    let mut shared = None;
    for setting in settings {
        let path = Path::new("a random model");
        let network = Network::load_with(&model, path, setting.precision, &setting.shortcuts)?;
        let network = Arc::new(network);
        let (mut best, mut outcome) = (f64::INFINITY, WorkloadResult::default());
        for _ in 0..options.passes {
            let before = cpu_seconds();
            outcome = workload.translate(&network)?;
            best = best.min(cpu_seconds() - before);
        }
        let rate = outcome.tokens as f64 / best;
        shared = Some(outcome.distinct_parents as f64 / outcome.rows as f64);
        let (slowest, reference) = first.get_or_insert_with(|| (rate, outcome.clone()));
        writeln!(
            out,
            "{:<20} {rate:>10.0} {:>14.2} {:>6.2}x {:>17.1}%",
            setting.name,
            1000.0 * best / workload.num_sentences() as f64,
            rate / *slowest,
            100.0 * share_of_equal(&outcome.translations, &reference.translations),
        )?;
    }
    if let Some(share) = shared {
        writeln!(out, "{:.0} % of hypotheses had a parent of their own", 100.0 * share)?;
    }
    Ok(())
}
