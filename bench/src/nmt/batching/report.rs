//! Tables of the benchmark: each variant of batching, sizes of batches, parts of the output layer.

use std::io::{self, Write};

use super::super::speed::SpeedRow;
use super::output_parts::OutputTimes;
use super::steps::{self, FEW_SENTENCES, RecordedSearch};
use super::variant::{BatchingRun, BatchingVariant};
use crate::statistics::{median, share_of_equal};

/// The seconds of each round, `[variant][round]`.
pub type RoundTimes = Vec<Vec<f64>>;

/// Writes the speed of each variant and the gain of each optimisation. `time` is the time relative
/// to the first variant: the median of the rounds, the least and the largest. `same` is the share
/// of translations that are equal to those of the first variant.
pub fn write_variants(
    out: &mut dyn Write,
    name: &str,
    speeds: &[SpeedRow],
    times: &RoundTimes,
    passes: &[BatchingRun],
) -> io::Result<()> {
    let title = format!("{name}, {} rounds", times[0].len());
    writeln!(
        out,
        "\n{title:<26} {:>10} {:>7} {:>9} {:>8} {:>22}  same",
        "tokens / s", "steps", "rows", "a step", "time",
    )?;
    for ((speed, seconds), pass) in speeds.iter().zip(times).zip(passes) {
        writeln!(
            out,
            "{:<26} {:>10.0} {:>7} {:>9} {:>8.1} {:>22} {:>4.0}%",
            speed.variant,
            speed.token_rate(),
            speed.steps,
            speed.rows,
            speed.rows_per_step(),
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
pub fn write_summary(out: &mut dyn Write, columns: &[(String, RoundTimes)]) -> io::Result<()> {
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

/// Writes the heading of the speeds over sizes of batches.
pub fn write_sizes_heading(
    out: &mut dyn Write,
    name: &str,
    variants: &[BatchingVariant],
) -> io::Result<()> {
    write!(out, "\n{:<26} {:>6}", format!("{name}, sentences / s"), "batch")?;
    for variant in variants {
        write!(out, " {:>18}", variant.name)?;
    }
    writeln!(out, " {:>8} {:>7}", "rounds", "same")
}

/// Writes the speeds of one size of batches.
pub fn write_size(
    out: &mut dyn Write,
    speeds: &[SpeedRow],
    rounds: usize,
    passes: &[BatchingRun],
) -> io::Result<()> {
    write!(out, "{:<26} {:>6}", "", speeds[0].batch)?;
    for speed in speeds {
        write!(out, " {:>18.1}", speed.sentence_rate())?;
    }
    let shares =
        passes.iter().map(|pass| share_of_equal(&pass.translations, &passes[0].translations));
    let least = shares.fold(1.0, f64::min);
    writeln!(out, " {rounds:>8} {:>6.0}%", 100.0 * least)?;
    // A row takes seconds to measure, and the output may be a pipe that somebody watches.
    out.flush()
}

/// The parts of the output layer in steps of full batches.
pub struct OutputRow {
    /// The model, the place (device and precision) and the beam size, as columns of CSV.
    pub subject: [String; 3],
    pub batch: u32,
    pub rows: usize,
    pub times: OutputTimes,
}

impl OutputRow {
    /// The names of the columns of [`to_csv`](Self::to_csv).
    pub const HEADING: &str =
        "model,place,beam,batch,rows,product_ms,bias_ms,softmax_ms,top_k_ms,fused_ms";

    /// Returns the row of a CSV file, without a line feed.
    pub fn to_csv(&self) -> String {
        let OutputTimes { product, bias, softmax, top_k, fused } = self.times;
        let parts = [product, bias, softmax, top_k, fused].map(|s| format!(",{:.6}", 1e3 * s));
        format!("{},{},{}{}", self.subject.join(","), self.batch, self.rows, parts.concat())
    }
}

/// Writes the CPU milliseconds of the parts of the output layer.
pub fn write_output(out: &mut dyn Write, rows: &[OutputRow]) -> io::Result<()> {
    writeln!(
        out,
        "\n{:<26} {:>6} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>7}",
        "output layer, ms a step",
        "rows",
        "product",
        "bias",
        "softmax",
        "top-k",
        "separate",
        "fused",
        "saved",
    )?;
    for row in rows {
        let times = &row.times;
        let [_, place, beam] = &row.subject;
        let name = format!("{place}, beam {beam}, batch {}", row.batch);
        write!(out, "{name:<26} {:>6}", row.rows)?;
        for seconds in [times.product, times.bias, times.softmax, times.top_k] {
            write!(out, " {:>8.3}", 1e3 * seconds)?;
        }
        let [separate, fused] = [times.separate(), times.fused].map(|seconds| 1e3 * seconds);
        writeln!(out, " {separate:>9.3} {fused:>8.3} {:>6.0}%", 100.0 * times.saved_share())?;
    }
    out.flush()
}

/// Writes the share of steps that have few sentences, for one place and beam size: the share is the
/// same for all, because translations end at the length of the reference.
pub fn write_few_sentences(out: &mut dyn Write, searches: &[RecordedSearch]) -> io::Result<()> {
    let Some(RecordedSearch { batch, .. }) = searches.first() else { return Ok(()) };
    writeln!(out, "\nsteps with fewer than {FEW_SENTENCES} sentences, batches of {batch}")?;
    for search in steps::first_subject(searches).filter(|search| !search.variant.keep_dead_rows) {
        let share = 100.0 * search.share_below(FEW_SENTENCES);
        writeln!(out, "{:<26} {share:>5.1}%", search.variant.name)?;
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
