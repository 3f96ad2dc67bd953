//! `miriam bench nmt batching`: what sorting, shrinking, top-up and the fused output layer
//! give.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::value_parser;
use miriam_nmt::ablation::{
    BatchingRun, BatchingVariant, BenchmarkModel, ParallelText, TRANSFORMER_SIZES, run_variant,
    transformer_shape,
};
use miriam_nmt::engine::Precision;
use miriam_textio::Input;

use super::super::machine::{cpu_name, cpu_seconds};

/// Batching as it is, and without one optimisation after another
///
/// Translates a text with a random transformer on one thread. Each translation ends where its
/// reference does, so lengths spread as those of real text. All ways take turns; times are
/// processor time, medians over the rounds. The first round is not counted.
///
/// Example: miriam bench nmt batching -i test.de --target test.en
#[derive(Args)]
pub struct Arguments {
    /// Text, a sentence a line, words (or pieces) with spaces between them
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// Its translation, whose lengths are taken
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
    /// Rounds that are counted
    #[arg(short, value_name = "N", default_value = "3", value_parser = value_parser!(u32).range(1..=1000))]
    n: u32,
    /// No further round of a table begins after S seconds
    #[arg(long, value_name = "S", default_value = "90")]
    seconds: f64,
}

fn parse_precision(text: &str) -> Result<Precision, String> {
    let found = Precision::ALL.into_iter().find(|precision| precision.name() == text);
    found.ok_or_else(|| "give f32, i16 or i8".into())
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let [source, target] = [&arguments.input, &arguments.target].map(|path| read_text(path));
    let words = arguments.words as usize;
    let text = ParallelText::new(
        &source?,
        &target?,
        arguments.sentences as usize,
        words,
        &arguments.input,
    )?;
    let shape = transformer_shape(&arguments.shape, words).expect("the parser knows the sizes");
    let mut out = std::io::stdout().lock();
    let [read, translated] = text.token_counts();
    writeln!(
        out,
        "{}, one thread, {}, batches of {}",
        cpu_name(),
        arguments.shape,
        arguments.batch
    )?;
    writeln!(out, "{} sentences, {read} tokens in, {translated} out", text.num_sentences())?;
    let mut columns = Vec::new();
    for &precision in &arguments.precisions {
        let subject = BenchmarkModel::new(&shape, precision)?;
        for &beam in &arguments.beams {
            let times = measure(arguments, &subject, &text, beam, |times, passes| {
                let name = format!("{}, beam {beam}", precision.name());
                Ok(write_table(&mut out, &name, translated, times, passes)?)
            })?;
            columns.push((format!("{}, beam {beam}", precision.name()), times));
        }
    }
    Ok(write_summary(&mut out, &columns)?)
}

fn read_text(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Input::open(path)?.read_to_end(&mut text)?;
    Ok(text)
}

/// Seconds of each way, a list of rounds each.
type RoundTimes = Vec<Vec<f64>>;

/// All ways in turn; then `report` prints them.
fn measure(
    arguments: &Arguments,
    subject: &BenchmarkModel,
    text: &ParallelText,
    beam: u32,
    report: impl FnOnce(&RoundTimes, &[BatchingRun]) -> anyhow::Result<()>,
) -> anyhow::Result<RoundTimes> {
    let batch = arguments.batch as usize;
    let start = Instant::now();
    let mut times = vec![Vec::new(); BatchingVariant::ALL.len()];
    let mut passes = Vec::new();
    for round in 0..=arguments.n {
        if round > 1 && start.elapsed().as_secs_f64() > arguments.seconds {
            break;
        }
        passes.clear();
        for (way, times) in BatchingVariant::ALL.into_iter().zip(&mut times) {
            let before = cpu_seconds();
            passes.push(run_variant(subject, text, batch, beam as usize, way)?);
            // The first one finds the fastest products.
            if round > 0 {
                times.push(cpu_seconds() - before);
            }
        }
    }
    report(&times, &passes)?;
    Ok(times)
}

fn write_table(
    out: &mut impl Write,
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
        let same = pass.translations.iter().zip(&passes[0].translations);
        let same = same.filter(|(a, b)| a == b).count();
        writeln!(
            out,
            "{:<26} {:>10.0} {:>7} {:>9} {:>8.1} {:>22} {:>4.0}%",
            way.name,
            words as f64 / median(seconds),
            pass.steps,
            pass.rows,
            pass.rows as f64 / pass.steps as f64,
            format_spread(&ratios(seconds, &times[0])),
            100.0 * same as f64 / pass.translations.len() as f64,
        )?;
    }
    for (name, without, with) in BatchingVariant::COMPARISONS {
        writeln!(out, "{name:<26} {}", format_spread(&ratios(&times[without], &times[with])))?;
    }
    out.flush()
}

/// The factor of each optimisation, as a table in Markdown.
fn write_summary(out: &mut impl Write, columns: &[(String, RoundTimes)]) -> std::io::Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| &name[..]).collect();
    writeln!(out, "\n| factor of | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()))?;
    for (name, without, with) in BatchingVariant::COMPARISONS {
        let factor = |times: &RoundTimes| median(&ratios(&times[without], &times[with]));
        let cells = columns.iter().map(|(_, times)| format!("{:.2}", factor(times)));
        writeln!(out, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "))?;
    }
    out.flush()
}

fn ratios(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a / b).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

/// The median with the least and the largest.
fn format_spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{:.2} ({least:.2} to {most:.2})", median(values))
}
