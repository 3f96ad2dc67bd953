//! Tables of measurements: for people on the terminal, for programs as CSV.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::path::Path;

use miriam_glm::GlmOptions;
use serde::{Deserialize, Serialize};

use super::HardwarePrices;
use crate::error::Result;
use crate::scaling::topology::count_noun;
use crate::scaling::write_file;

/// An engine that is measured: the kind of model and, for a `glm` file, its layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    /// The kind of the model.
    pub kind: &'static str,
    /// Node width and hashed orders of a `glm` file.
    pub layout: Option<GlmOptions>,
    /// Whether this is a `glm` file with the default layout of `lm build`.
    pub is_default: bool,
}

impl Engine {
    /// Returns a `glm` file with this layout, for a model of this order.
    pub fn glm(layout: GlmOptions, order: usize) -> Self {
        Engine { kind: "glm", layout: Some(layout), is_default: layout == default_layout(order) }
    }

    /// Returns another kind of model.
    pub fn other(kind: &'static str) -> Self {
        Engine { kind, layout: None, is_default: false }
    }
}

/// Returns the default layout of `lm build` for models of an order.
pub fn default_layout(order: usize) -> GlmOptions {
    let defaults = GlmOptions::default();
    GlmOptions { max_hashed_order: defaults.max_hashed_order.min(order), ..defaults }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layout {
            Some(layout) => {
                write!(
                    f,
                    "{} K={} hash={}",
                    self.kind,
                    layout.node_width.keys(),
                    layout.max_hashed_order
                )
            }
            None => f.write_str(self.kind),
        }
    }
}

/// The form of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueryMode {
    /// n-grams, each with its context.
    Explicit,
    /// Whole sentences.
    Sentences,
}

impl QueryMode {
    /// Both modes.
    pub const ALL: [QueryMode; 2] = [QueryMode::Explicit, QueryMode::Sentences];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            QueryMode::Explicit => "explicit",
            QueryMode::Sentences => "sentences",
        }
    }
}

/// The backend that answers queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Backend {
    /// The device; the time of the kernel alone.
    Kernel,
    /// The device; the time of the generic kernel, which serves any order. It is measured only for
    /// the default layout, and only if the model's order also has a special kernel.
    GenericKernel,
    /// The device; the time with copies from and to the host's memory.
    WithCopies,
    /// The CPU with this number of threads, one word at a time.
    CpuSingle(usize),
    /// The CPU with this number of threads, in batches.
    CpuBatch(usize),
}

impl Backend {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Kernel => "kernel",
            Backend::GenericKernel => "generic",
            Backend::WithCopies => "copies",
            Backend::CpuSingle(_) => "cpu-single",
            Backend::CpuBatch(_) => "cpu-batch",
        }
    }

    /// Returns the number of threads of the CPU, 0 for the device.
    pub fn threads(self) -> usize {
        match self {
            Backend::Kernel | Backend::GenericKernel | Backend::WithCopies => 0,
            Backend::CpuSingle(threads) | Backend::CpuBatch(threads) => threads,
        }
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// The engine. It is not saved with the measurement, because saved results are found by its
    /// name.
    #[serde(skip)]
    pub engine: Engine,
    pub backend: Backend,
    pub mode: QueryMode,
    /// The name of the text.
    pub text: String,
    /// The batch size.
    pub batch: usize,
    /// The number of queries per repetition.
    pub queries: usize,
    /// The median wall time of repetitions.
    pub wall_seconds: f64,
    /// The CPU time of the repetition with the median wall time; `None` for the device.
    pub cpu_seconds: Option<f64>,
    /// Sectors of 32 bytes read per query, if they were counted.
    pub sectors_per_query: Option<f64>,
    /// Queries per second if each query took as long as its reads at random positions.
    pub ceiling: Option<f64>,
    /// The bytes of the model's file divided by its number of n-grams.
    pub bytes_per_ngram: f64,
}

impl Measurement {
    /// Returns the queries per second.
    pub fn rate(&self) -> f64 {
        self.queries as f64 / self.wall_seconds
    }

    /// Returns a line of `queries.csv`. The price of the CPU pays for all its threads, so only rows
    /// that are measured with all `threads` use it.
    fn to_csv(&self, prices: HardwarePrices, threads: usize) -> String {
        let price = match self.backend.threads() {
            0 => prices.device,
            measured => prices.cpu.filter(|_| measured == threads),
        };
        fn optional(value: Option<f64>, digits: usize) -> String {
            value.map_or(String::new(), |value| format!("{value:.digits$}"))
        }
        let layout = self.engine.layout;
        let (width, hashed) = match layout {
            Some(layout) => {
                (layout.node_width.keys().to_string(), layout.max_hashed_order.to_string())
            }
            None => Default::default(),
        };
        format!(
            "{},{width},{hashed},{},{},{},{},{},{},{:.9},{},{:.0},{},{},{},{},{},{:.2}",
            self.engine.kind,
            self.backend.name(),
            self.backend.threads(),
            self.mode.name(),
            // File names may contain separators of CSV.
            self.text.replace([',', '"', '\n'], "_"),
            self.batch,
            self.queries,
            self.wall_seconds,
            optional(self.cpu_seconds, 6),
            self.rate(),
            optional(self.cpu_seconds.map(|cpu| self.queries as f64 / cpu), 0),
            optional(self.sectors_per_query, 3),
            optional(self.ceiling, 0),
            optional(self.ceiling.map(|ceiling| self.rate() / ceiling), 4),
            optional(price.map(|price| self.rate() / price), 0),
            self.bytes_per_ngram,
        )
    }
}

const HEADING: &str = "engine,node_width,hashed,place,threads,mode,text,batch,queries,seconds,\
                       cpu_seconds,queries_per_second,queries_per_cpu_second,sectors_per_query,\
                       ceiling_per_second,share_of_ceiling,queries_per_second_and_price,\
                       bytes_per_ngram\n";

/// The measured speed of random reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadCeiling {
    /// The number of threads of the CPU, 0 for the device.
    pub threads: usize,
    /// The size of the buffer in bytes.
    pub bytes: u64,
    /// The size of each read in bytes.
    pub sector: u32,
    /// Reads per second.
    pub rate: f64,
}

/// The measurements of one engine, and the notes and ceilings that were added with them.
#[derive(Debug, Serialize, Deserialize)]
pub struct EngineResults {
    notes: Vec<String>,
    ceilings: Vec<ReadCeiling>,
    rows: Vec<Measurement>,
}

/// The numbers of notes, ceilings and rows of a report at some time.
pub struct ReportLength([usize; 3]);

/// All measurements, each printed when it is added.
pub struct Report<'o> {
    out: &'o mut dyn Write,
    prices: HardwarePrices,
    /// The maximal number of threads of the CPU.
    threads: usize,
    /// Notes on the model and the machine.
    pub notes: Vec<String>,
    pub ceilings: Vec<ReadCeiling>,
    pub rows: Vec<Measurement>,
}

impl<'o> Report<'o> {
    /// Returns an empty report that prints to `out`.
    pub fn new(out: &'o mut dyn Write, prices: HardwarePrices, threads: usize) -> Self {
        Report { out, prices, threads, notes: Vec::new(), ceilings: Vec::new(), rows: Vec::new() }
    }

    /// Adds a note on the measurements, and prints it.
    pub fn add_note(&mut self, line: String) -> Result<()> {
        writeln!(self.out, "{line}")?;
        self.notes.push(line);
        Ok(())
    }

    /// Adds a measurement of random reads, and prints it.
    pub fn add_ceiling(&mut self, ceiling: ReadCeiling) -> Result<()> {
        let place = match ceiling.threads {
            0 => "device".to_owned(),
            threads => format!("CPU, {}", count_noun(threads, "thread")),
        };
        writeln!(
            self.out,
            "random reads, {place}: {:>5} bytes of {:>7.0} MB: {:>9.1} M/s, {:>7.1} GB/s",
            ceiling.sector,
            ceiling.bytes as f64 / 1e6,
            ceiling.rate / 1e6,
            ceiling.rate * f64::from(ceiling.sector) / 1e9
        )?;
        self.ceilings.push(ceiling);
        Ok(())
    }

    /// Adds a measurement of queries, and prints it.
    pub fn add_measurement(&mut self, row: Measurement) -> Result<()> {
        if self.rows.is_empty() {
            writeln!(
                self.out,
                "{:<16} {:<10} {:>7} {:<9} {:<13} {:>8} {:>12} {:>10} {:>8} {:>7} {:>8}",
                "model",
                "place",
                "threads",
                "mode",
                "text",
                "batch",
                "M queries/s",
                "M/CPU s",
                "sectors",
                "ceiling",
                "B/n-gram"
            )?;
        }
        fn optional(value: Option<f64>, show: &dyn Fn(f64) -> String) -> String {
            value.map_or("-".to_owned(), show)
        }
        writeln!(
            self.out,
            "{:<16} {:<10} {:>7} {:<9} {:<13} {:>8} {:>12.2} {:>10} {:>8} {:>7} {:>8.2}",
            row.engine.to_string(),
            row.backend.name(),
            row.backend.threads(),
            row.mode.name(),
            row.text,
            row.batch,
            row.rate() / 1e6,
            optional(row.cpu_seconds, &|cpu| format!("{:.2}", row.queries as f64 / cpu / 1e6)),
            optional(row.sectors_per_query, &|sectors| format!("{sectors:.1}")),
            optional(row.ceiling, &|ceiling| format!("{:.0} %", 100.0 * row.rate() / ceiling)),
            row.bytes_per_ngram,
        )?;
        // A row takes seconds to measure, and the output may be a pipe that somebody watches.
        self.out.flush()?;
        self.rows.push(row);
        Ok(())
    }

    /// Returns the present length, for [`Report::results_since`].
    pub fn length(&self) -> ReportLength {
        ReportLength([self.notes.len(), self.ceilings.len(), self.rows.len()])
    }

    /// Returns what was added since the report had this length.
    pub fn results_since(&self, length: &ReportLength) -> EngineResults {
        let ReportLength([notes, ceilings, rows]) = *length;
        EngineResults {
            notes: self.notes[notes..].to_vec(),
            ceilings: self.ceilings[ceilings..].to_vec(),
            rows: self.rows[rows..].to_vec(),
        }
    }

    /// Adds saved results of an engine, and prints them.
    pub fn add_results(&mut self, engine: &Engine, results: EngineResults) -> Result<()> {
        let EngineResults { notes, ceilings, rows } = results;
        notes.into_iter().try_for_each(|note| self.add_note(note))?;
        ceilings.into_iter().try_for_each(|ceiling| self.add_ceiling(ceiling))?;
        rows.into_iter()
            .try_for_each(|row| self.add_measurement(Measurement { engine: engine.clone(), ..row }))
    }

    /// Writes `queries.csv` and `reads.csv` to `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let rows = self.rows.iter().map(|row| row.to_csv(self.prices, self.threads) + "\n");
        write_file(folder, "queries.csv", &(HEADING.to_owned() + &rows.collect::<String>()))?;
        let mut reads = String::from("threads,buffer_bytes,read_bytes,reads_per_second\n");
        for ReadCeiling { threads, bytes, sector, rate } in &self.ceilings {
            let _ = writeln!(reads, "{threads},{bytes},{sector},{rate:.0}");
        }
        write_file(folder, "reads.csv", &reads)
    }
}
