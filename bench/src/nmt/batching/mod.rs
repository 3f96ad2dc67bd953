//! Benchmark of batching: sorting, shrinking and topping up batches, and the fused output layer.

mod ablated_session;
pub(super) mod variant;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use miriam_kernels::Cpu;
use miriam_kernels::autotuner::Autotuner;
use miriam_nmt::DeviceSet;
use miriam_nmt::engine::Precision;
use miriam_nmt::network::Network;
use miriam_nmt::translate::{GPU_PRECISIONS, Placement};

use super::random_models::transformer_shape;
use super::resolve_device;
use crate::error::{Error, Result};
use crate::input::read_text;
use crate::machine::{cpu_name, cpu_seconds};
use crate::statistics::{median, share_of_equal};
use variant::{BatchingRun, BatchingVariant, ParallelText, load_random_transformer, run_variant};

/// Options of the benchmark: a transformer with random weights translates a text on one thread.
/// Each translation has the length of its reference.
#[derive(Clone, Debug)]
pub struct BatchingStudy {
    /// The source text: one sentence per line, words or pieces separated by spaces.
    pub input: PathBuf,
    /// The reference translations, of which only the lengths are used.
    pub target: PathBuf,
    /// The size of the transformer, one of [`TRANSFORMER_SIZES`](super::TRANSFORMER_SIZES).
    pub shape: String,
    /// The maximal number of sentences.
    pub sentences: u32,
    /// The size of the vocabulary, at least 3.
    pub words: u32,
    /// The number of sentences in a batch.
    pub batch: u32,
    /// The beam sizes.
    pub beams: Vec<u32>,
    /// The precisions of GEMM; if empty, f32 and i8, on a GPU f32 and f16.
    pub precisions: Vec<Precision>,
    /// The device: the CPU or a GPU.
    pub device: DeviceSet,
    /// The number of counted rounds.
    pub rounds: u32,
    /// The time in seconds after which no further round of a table begins.
    pub seconds: f64,
}

/// Measures batching with all optimisations and without some of them, and prints a table for each
/// precision and beam size, and a summary in Markdown. Times are CPU times; on a GPU, wall times.
///
/// # Errors
/// If the texts cannot be read or are not parallel, the shape is unknown, or the device cannot be
/// used or does not support a precision.
pub fn run(options: &BatchingStudy, out: &mut dyn Write) -> Result<()> {
    let [source, target] = [&options.input, &options.target].map(|path| read_text(path));
    let (sentences, words) = (options.sentences as usize, options.words as usize);
    let paths = [&options.input, &options.target].map(PathBuf::as_path);
    let text = ParallelText::new(&source?, &target?, sentences, words, paths)?;
    let shape = transformer_shape(&options.shape, words)
        .ok_or_else(|| Error::unmeasurable(format!("{}: unknown shape", options.shape)))?;
    let [read, translated] = text.token_counts();
    let devices = resolve_device(&options.device)?;
    let is_gpu = devices.is_cuda();
    let place = if is_gpu {
        devices.to_string()
    } else {
        format!("{}, {}", cpu_name(), Cpu::describe_detected())
    };
    let precisions = match &options.precisions[..] {
        [] if is_gpu => &GPU_PRECISIONS,
        [] => &[Precision::F32, Precision::I8],
        chosen => chosen,
    };
    let (shape_name, batch) = (&options.shape, options.batch);
    writeln!(out, "{place}, one thread, {shape_name}, batches of {batch}")?;
    writeln!(out, "{} sentences, {read} tokens in, {translated} out", text.num_sentences())?;
    let mut columns = Vec::new();
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    for &precision in precisions {
        let placement = Placement { devices: &devices, precision, tuner: &tuner };
        let network = load_random_transformer(&shape, &placement)?;
        for &beam in &options.beams {
            let name = format!("{}, beam {beam}", precision.name());
            let (times, passes) = measure(options, &network, &text, beam, is_gpu)?;
            write_table(out, &name, translated, &times, &passes)?;
            columns.push((name, times));
        }
    }
    Ok(write_summary(out, &columns)?)
}

/// The seconds of each round, `[variant][round]`.
type RoundTimes = Vec<Vec<f64>>;

/// Runs all variants in turn; returns their times, and the results of the last round.
fn measure(
    options: &BatchingStudy,
    network: &Network,
    text: &ParallelText,
    beam: u32,
    is_gpu: bool,
) -> Result<(RoundTimes, Vec<BatchingRun>)> {
    let (start, batch) = (Instant::now(), options.batch as usize);
    let seconds = || if is_gpu { start.elapsed().as_secs_f64() } else { cpu_seconds() };
    let mut times = vec![Vec::new(); BatchingVariant::ALL.len()];
    let mut passes = Vec::new();
    for round in 0..=options.rounds {
        if round > 1 && start.elapsed().as_secs_f64() > options.seconds {
            break;
        }
        passes.clear();
        for (variant, times) in BatchingVariant::ALL.into_iter().zip(&mut times) {
            let before = seconds();
            let mut session = network.session()?;
            passes.push(run_variant(&mut *session, text, batch, beam as usize, variant)?);
            // The first round is not counted: in it the autotuner chooses GEMM kernels.
            if round > 0 {
                times.push(seconds() - before);
            }
        }
    }
    Ok((times, passes))
}

fn write_table(
    out: &mut dyn Write,
    name: &str,
    words: usize,
    times: &RoundTimes,
    passes: &[BatchingRun],
) -> std::io::Result<()> {
    let title = format!("{name}, {} rounds", times[0].len());
    writeln!(
        out,
        "\n{title:<26} {:>10} {:>7} {:>9} {:>8} {:>22}  same",
        "tokens / s", "steps", "rows", "a step", "time",
    )?;
    for ((way, seconds), pass) in BatchingVariant::ALL.iter().zip(times).zip(passes) {
        writeln!(
            out,
            "{:<26} {:>10.0} {:>7} {:>9} {:>8.1} {:>22} {:>4.0}%",
            way.name,
            words as f64 / median(seconds),
            pass.steps,
            pass.rows,
            pass.rows as f64 / pass.steps as f64,
            format_spread(&ratios(seconds, &times[0])),
            100.0 * share_of_equal(&pass.translations, &passes[0].translations),
        )?;
    }
    for (name, without, with) in BatchingVariant::COMPARISONS {
        writeln!(out, "{name:<26} {}", format_spread(&ratios(&times[without], &times[with])))?;
    }
    out.flush()
}

/// Writes the speed-up by each optimisation as a table in Markdown.
fn write_summary(out: &mut dyn Write, columns: &[(String, RoundTimes)]) -> std::io::Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| &name[..]).collect();
    writeln!(
        out,
        "\n| speed-up by | {} |\n|---|{}",
        names.join(" | "),
        "---|".repeat(names.len())
    )?;
    for (name, without, with) in BatchingVariant::COMPARISONS {
        fn factor(times: &RoundTimes, without: usize, with: usize) -> f64 {
            median(&ratios(&times[without], &times[with]))
        }
        let cells = columns.iter().map(|(_, times)| format!("{:.2}", factor(times, without, with)));
        writeln!(out, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    out.flush()
}

fn ratios(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a / b).collect()
}

/// Formats the median with the least and the largest value.
fn format_spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{:.2} ({least:.2} to {most:.2})", median(values))
}
