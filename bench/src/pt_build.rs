//! Sizes of a phrase table as text and in binary form, and the time to build the binary tables
//! (Bogoychev 2019, table 3.1).

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use miriam_probingpt::{BuildOptions, build_file};
use miriam_textio::{Input, Output, Progress, date, display_name};

use crate::error::{Result, cannot};
use crate::machine::{cpu_name, cpu_seconds};
use crate::scaling::topology::count_noun;
use crate::statistics::median_by;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct PtBuildOptions {
    /// The phrase table as text.
    pub phrase_table: PathBuf,
    /// The reordering table as text, for a second binary table with its scores.
    pub reordering: Option<PathBuf>,
    /// Other tables of the same text, of which only the size is shown: files, or folders of files.
    pub others: Vec<PathBuf>,
    /// Whether to sort the texts first.
    pub sort: bool,
    /// The number of builds of each table, at least one.
    pub repeat: u32,
    /// The number of threads of a build.
    pub threads: usize,
    /// The file to which the table of results is also written as CSV.
    pub csv: Option<PathBuf>,
}

/// A row of the results.
struct SizeRow {
    name: String,
    bytes: u64,
    /// CPU and wall seconds of the build with the median CPU time; `None` for texts and tables that
    /// are not built.
    seconds: Option<[f64; 2]>,
}

/// The results of building a table.
struct MeasuredBuild {
    entries: u64,
    bytes: u64,
    seconds: [f64; 2],
}

/// Builds the binary tables, and prints the size of each and of the texts, and the time of builds.
///
/// # Errors
/// If a text is not a file, a table cannot be read or built, or the results cannot be written.
pub fn run(options: &PtBuildOptions, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let named = [("phrase table", Some(&options.phrase_table))];
    let named = named.into_iter().chain([("reordering table", options.reordering.as_ref())]);
    let texts: Vec<(&str, &PathBuf)> =
        named.filter_map(|(name, path)| path.map(|path| (name, path))).collect();
    for (_, path) in &texts {
        Input::check_file(path)?;
        Input::check_access(path, options.csv.as_deref())?;
    }
    for path in &options.others {
        Input::check_access(path, options.csv.as_deref())?;
    }
    let others = options.others.iter();
    let others = others.map(|path| Ok(SizeRow::given(display_name(path), bytes_on_disk(path)?)));
    let others = others.collect::<Result<Vec<SizeRow>>>()?;
    let mut rows = Vec::new();
    // Files that are read here are in the page cache when tables are built.
    for (name, path) in &texts {
        let bytes = text_bytes(path)?;
        rows.push(SizeRow::given(format!("{name} as text"), bytes));
        let given_bytes = bytes_on_disk(path)?;
        if given_bytes != bytes {
            rows.push(SizeRow::given(format!("{name} as compressed text"), given_bytes));
        }
    }
    let plain = measure_build(options, None, progress)?;
    rows.push(SizeRow::built("binary table", &plain));
    let mut growth = None;
    if let Some(reordering) = &options.reordering {
        let joined = measure_build(options, Some(reordering.as_path()), progress)?;
        growth = Some(100.0 * (joined.bytes as f64 / plain.bytes as f64 - 1.0));
        rows.push(SizeRow::built("binary table with reordering", &joined));
    }
    rows.extend(others);
    let threads = options.threads;
    writeln!(out, "{}; {}; {}", cpu_name(), count_noun(threads, "thread"), date::today())?;
    writeln!(out, "{} phrase pairs", plain.entries)?;
    print_table(&rows, plain.entries, out)?;
    if let Some(growth) = growth {
        writeln!(out, "\nReordering scores make the binary table {growth:.1} % larger.")?;
    }
    match &options.csv {
        Some(path) => Ok(Output::write_file(path, to_csv(&rows, plain.entries).as_bytes())?),
        None => Ok(()),
    }
}

fn print_table(rows: &[SizeRow], entries: u64, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "{:<34} {:>14} {:>14} {:>8} {:>8}",
        "table", "bytes", "bytes an entry", "CPU s", "wall s"
    )?;
    for row in rows {
        let [cpu, wall] = match row.seconds {
            Some(seconds) => seconds.map(|seconds| format!("{seconds:.2}")),
            None => ["-", "-"].map(str::to_owned),
        };
        writeln!(
            out,
            "{:<34} {:>14} {:>14.1} {cpu:>8} {wall:>8}",
            row.name,
            row.bytes,
            row.bytes_per_entry(entries)
        )?;
    }
    Ok(())
}

fn to_csv(rows: &[SizeRow], entries: u64) -> String {
    let mut csv = String::from("table,bytes,bytes_per_entry,cpu_seconds,wall_seconds\n");
    for row in rows {
        let [cpu, wall] = match row.seconds {
            Some(seconds) => seconds.map(|seconds| format!("{seconds:.6}")),
            None => Default::default(),
        };
        // File names may contain separators of CSV.
        let name = row.name.replace([',', '"', '\n'], "_");
        let each = row.bytes_per_entry(entries);
        let _ = writeln!(csv, "{name},{},{each:.3},{cpu},{wall}", row.bytes);
    }
    csv
}

impl SizeRow {
    fn given(name: String, bytes: u64) -> Self {
        SizeRow { name, bytes, seconds: None }
    }

    fn built(name: &str, build: &MeasuredBuild) -> Self {
        SizeRow { name: name.into(), bytes: build.bytes, seconds: Some(build.seconds) }
    }

    fn bytes_per_entry(&self, entries: u64) -> f64 {
        self.bytes as f64 / entries.max(1) as f64
    }
}

/// Builds a table repeatedly in a temporary folder.
fn measure_build(
    options: &PtBuildOptions,
    reordering: Option<&Path>,
    progress: &dyn Progress,
) -> Result<MeasuredBuild> {
    let folder = tempfile::tempdir();
    let folder = folder.map_err(cannot("make a folder for tables", &std::env::temp_dir()))?;
    let path = folder.path().join("table");
    let build = BuildOptions {
        phrase_table: options.phrase_table.clone(),
        reordering: reordering.map(Path::to_path_buf),
        sort: options.sort,
        threads: options.threads,
        ..BuildOptions::default()
    };
    let mut results = Vec::new();
    for _ in 0..options.repeat {
        let cpu = cpu_seconds();
        let wall = Instant::now();
        let report = build_file(&build, &path, progress)?;
        let seconds = [cpu_seconds() - cpu, wall.elapsed().as_secs_f64()];
        results.push((report.entries, report.bytes, seconds));
    }
    let (entries, bytes, seconds) = median_by(&results, |(_, _, [cpu, _])| *cpu);
    Ok(MeasuredBuild { entries, bytes, seconds })
}

/// Returns the length of a text, decompressed.
fn text_bytes(path: &Path) -> Result<u64> {
    let read = io::copy(&mut Input::open(path)?, &mut io::sink());
    read.map_err(cannot("read this file", path))
}

/// Returns the length of a file, or of the files directly in a folder, in bytes.
fn bytes_on_disk(path: &Path) -> Result<u64> {
    let found = path.metadata().map_err(cannot("read this file", path))?;
    if !found.is_dir() {
        return Ok(found.len());
    }
    let mut bytes = 0;
    for entry in path.read_dir().map_err(cannot("list this folder", path))? {
        let file = entry.map_err(cannot("list this folder", path))?.path();
        let found = file.metadata().map_err(cannot("read this file", &file))?;
        if found.is_file() {
            bytes += found.len();
        }
    }
    Ok(bytes)
}
