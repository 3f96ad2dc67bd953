//! Tables of measurements: for people on the terminal, for programs as CSV.

use std::io::Write;
use std::path::Path;

use miriam_textio::{Output, date};

use super::super::speed::{SpeedRow, csv_name};
use super::roofline::{KernelWork, ROOFLINES};
use crate::error::Result;
use crate::machine::cpu_name;

/// A measured speed with its lower bounds.
pub struct BoundedSpeed {
    pub speed: SpeedRow,
    /// The lower bound of the seconds of a step, for each of [`ROOFLINES`].
    pub floors: [f64; ROOFLINES.len()],
}

impl BoundedSpeed {
    fn to_csv(&self) -> String {
        let floors = self.floors.map(|floor| format!(",{:.6}", 1e3 * floor)).concat();
        format!("{}{floors}\n", self.speed.to_csv())
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

const KERNEL_HEADING: &str = "model,beam,batch,phase,kernel,launches,bytes_f32,operations";

/// All measurements, each printed when it is added.
pub struct Report<'o> {
    out: &'o mut dyn Write,
    /// Notes on the machine.
    pub notes: Vec<String>,
    pub rows: Vec<BoundedSpeed>,
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
    pub fn add_speed(&mut self, bounded: BoundedSpeed) -> Result<()> {
        let row = &bounded.speed;
        let floors = bounded.floors.map(|floor| format!(" {:>10.4}", 1e3 * floor)).concat();
        writeln!(
            self.out,
            "{:<12} {:<12} {:>4} {:>5} {:<24} {:>10.0} {:>10.3} {:>6} {:>8.1}{floors}",
            row.model,
            row.place,
            row.beam,
            row.batch,
            row.variant,
            row.token_rate(),
            row.step_milliseconds(),
            row.steps,
            row.rows_per_step(),
        )?;
        // A row takes seconds to measure, and the output may be a pipe that somebody watches.
        self.out.flush()?;
        self.rows.push(bounded);
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
        let heading = [SpeedRow::HEADING, &floors("ms").concat(), "\n"].concat();
        let rows: String = self.rows.iter().map(BoundedSpeed::to_csv).collect();
        Output::write_file(&folder.join("speed.csv"), (heading + &rows).as_bytes())?;
        let heading = [KERNEL_HEADING, &floors("us").concat(), "\n"].concat();
        let rows: String = self.kernels.iter().map(KernelRow::to_csv).collect();
        Ok(Output::write_file(&folder.join("kernels.csv"), (heading + &rows).as_bytes())?)
    }
}
