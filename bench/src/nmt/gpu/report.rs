//! Tables of measurements: for people on the terminal, for programs as CSV.

use std::io::Write;
use std::path::Path;

use miriam_textio::Output;

use super::paper::{KernelWork, ROOFLINES};
use crate::date;
use crate::error::Result;
use crate::machine::cpu_name;

/// A measurement of a model in a place.
pub struct SpeedRow {
    pub model: String,
    /// The device and its precision.
    pub place: String,
    pub beam: u32,
    /// The batch size in sentences.
    pub batch: u32,
    /// The name of the variant of batching.
    pub variant: &'static str,
    /// The number of translated sentences.
    pub sentences: usize,
    /// The number of tokens of their translations, including EOS.
    pub tokens: usize,
    /// The median time of a run.
    pub seconds: f64,
    pub steps: usize,
    /// The number of rows of all steps.
    pub rows: usize,
    /// The lower bound of the seconds of a step, for each of [`ROOFLINES`].
    pub floors: [f64; ROOFLINES.len()],
}

impl SpeedRow {
    /// Returns the target tokens per second.
    pub fn rate(&self) -> f64 {
        self.tokens as f64 / self.seconds
    }

    fn rows_per_step(&self) -> f64 {
        self.rows as f64 / self.steps.max(1) as f64
    }

    /// Returns the milliseconds per step, including a share of the encoder's time.
    fn step_milliseconds(&self) -> f64 {
        1e3 * self.seconds / self.steps.max(1) as f64
    }

    fn to_csv(&self) -> String {
        let floors = self.floors.map(|floor| format!(",{:.6}", 1e3 * floor)).concat();
        format!(
            "{},{},{},{},{},{},{},{:.9},{},{},{:.1},{:.6},{:.2}{floors}\n",
            csv_name(&self.model),
            self.place,
            self.beam,
            self.batch,
            csv_name(self.variant),
            self.sentences,
            self.tokens,
            self.seconds,
            self.steps,
            self.rows,
            self.rate(),
            self.step_milliseconds(),
            self.rows_per_step(),
        )
    }
}

/// The computed work of a kernel for a full batch.
pub struct KernelRow {
    pub model: String,
    pub beam: u32,
    pub batch: u32,
    /// `encoder`, which runs once per batch, or `step`.
    pub phase: &'static str,
    pub kernel: &'static str,
    pub work: KernelWork,
}

impl KernelRow {
    fn to_csv(&self) -> String {
        let floors = ROOFLINES.map(|roofline| format!(",{:.3}", 1e6 * roofline.floor(&self.work)));
        format!(
            "{},{},{},{},{},{},{:.0},{:.0}{}\n",
            csv_name(&self.model),
            self.beam,
            self.batch,
            self.phase,
            self.kernel,
            self.work.launches,
            self.work.bytes(4.0),
            self.work.operations(),
            floors.concat(),
        )
    }
}

/// Replaces separators of CSV, which file names may contain.
fn csv_name(name: &str) -> String {
    name.replace(", ", " ").replace([',', '"', '\n'], "_")
}

const SPEED_HEADING: &str = "model,place,beam,batch,batching,sentences,tokens,seconds,steps,rows,\
                             tokens_per_second,step_ms,rows_per_step";
const KERNEL_HEADING: &str = "model,beam,batch,phase,kernel,launches,bytes_f32,operations";

/// All measurements, each printed when it is added.
pub struct Report<'o> {
    out: &'o mut dyn Write,
    /// Notes on the machine.
    pub notes: Vec<String>,
    pub rows: Vec<SpeedRow>,
    kernels: Vec<KernelRow>,
}

impl<'o> Report<'o> {
    /// Begins a report and prints its heading.
    pub fn new(out: &'o mut dyn Write) -> Result<Self> {
        let mut report = Report { out, notes: Vec::new(), rows: Vec::new(), kernels: Vec::new() };
        report.add_note(&format!("{}, one thread; {}", cpu_name(), date::today()))?;
        writeln!(
            report.out,
            "{:<12} {:<12} {:>4} {:>5} {:<24} {:>10} {:>10} {:>6} {:>8} {:>10} {:>10} {:>10}",
            "model",
            "place",
            "beam",
            "batch",
            "batching",
            "tokens / s",
            "ms / step",
            "steps",
            "rows",
            "H100 ms",
            "bf16 ms",
            "T4 ms",
        )?;
        Ok(report)
    }

    /// Adds a note on the measurements, and prints it.
    pub fn add_note(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}")?;
        self.notes.push(line.to_owned());
        Ok(())
    }

    /// Adds a measurement, and prints it.
    pub fn add_speed(&mut self, row: SpeedRow) -> Result<()> {
        let floors = row.floors.map(|floor| format!(" {:>10.4}", 1e3 * floor)).concat();
        writeln!(
            self.out,
            "{:<12} {:<12} {:>4} {:>5} {:<24} {:>10.0} {:>10.3} {:>6} {:>8.1}{floors}",
            row.model,
            row.place,
            row.beam,
            row.batch,
            row.variant,
            row.rate(),
            row.step_milliseconds(),
            row.steps,
            row.rows_per_step(),
        )?;
        // A row takes seconds to measure, and the output may be a pipe that somebody watches.
        self.out.flush()?;
        self.rows.push(row);
        Ok(())
    }

    /// Adds the work of kernels.
    pub fn add_kernels(&mut self, rows: Vec<KernelRow>) {
        self.kernels.extend(rows);
    }

    /// Writes `speed.csv` and `kernels.csv` to `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let floors =
            |unit: &str| ROOFLINES.map(|roofline| format!(",floor_{}_{unit}", roofline.name));
        let heading = [SPEED_HEADING, &floors("ms").concat(), "\n"].concat();
        let rows: String = self.rows.iter().map(SpeedRow::to_csv).collect();
        Output::write_file(&folder.join("speed.csv"), (heading + &rows).as_bytes())?;
        let heading = [KERNEL_HEADING, &floors("us").concat(), "\n"].concat();
        let rows: String = self.kernels.iter().map(KernelRow::to_csv).collect();
        Ok(Output::write_file(&folder.join("kernels.csv"), (heading + &rows).as_bytes())?)
    }
}
