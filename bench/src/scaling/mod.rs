//! Benchmark of the speed-up with threads, on physical cores first and then on hyperthreads, of
//! one or several systems, which may be other programs.
//!
//! Each measurement runs in a new process of this program, so that memory, CPU time and context
//! switches can be attributed to it. The process is pinned to the CPUs of its workers, and so is
//! each worker of a phrase system to one of them.

mod chart;
mod command;
mod measurement;
mod option_text;
mod plan;
mod process;
mod report;
mod run_stats;
mod study;
mod system;
mod text;
mod topology;
mod verdict;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_textio::{Input, Output, affinity};

use crate::error::{Error, Result, cannot};
use crate::machine;
pub use measurement::Measurement;
pub use option_text::split_options;
use plan::{PlannedRun, plan_runs, select_counts};
use process::refused;
pub use run_stats::RunStats;
use study::ScalingStudy;
pub use system::{MeasuredSystem, Workload, default_name, split_name};
use topology::{Topology, count_noun};

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct ScalingOptions {
    /// The systems, at least one.
    pub systems: Vec<MeasuredSystem>,
    /// The text, a file.
    pub input: PathBuf,
    /// Numbers of threads besides 1; if empty, powers of two up to the physical cores, then
    /// hyperthreads.
    pub counts: Vec<usize>,
    /// The folder to write to.
    pub output: PathBuf,
    /// The number of measurements of each count, at least one.
    pub repeat: usize,
    /// The minimal duration of a measurement in seconds, for which the text is repeated.
    pub seconds: f64,
}

/// Measures every system with every count, writes `scaling.csv` (the median runs), `runs.csv`
/// (every run) and `scaling.svg`, and prints a table and a verdict.
///
/// # Errors
/// If a measurement fails, there are fewer CPUs than threads, names are the same, or a file cannot
/// be written.
pub fn run(options: &ScalingOptions, out: &mut dyn Write) -> Result<()> {
    system::check_names(&options.systems)?;
    Input::check_access(&options.input, None)?;
    if options.input.as_os_str() == "-" {
        let reason = "-i: expected a file, found standard input; the text is read more than once";
        return Err(Error::unmeasurable(reason));
    }
    let allowed = affinity::allowed_cpus().map_err(refused("list its CPUs"))?;
    let topology = Topology::read(Path::new("/sys/devices/system/cpu"), &allowed);
    let order = topology.cpu_order();
    let counts = select_counts(&options.counts, &topology)?;
    let folder = &options.output;
    fs::create_dir_all(folder).map_err(cannot("make this folder", folder))?;
    tracing::info!("{}: {topology}", machine::cpu_name());
    let names: Vec<String> = options.systems.iter().map(|system| system.name.clone()).collect();
    let mut study = ScalingStudy::new(topology, &names, &counts);
    for planned in plan_runs(names.len(), counts.len(), options.repeat) {
        let PlannedRun { system, place, round } = planned;
        let cpus = &order[..counts[place]];
        let point = &mut study.systems[system].points[place];
        let expected_rate = (!point.runs.is_empty()).then(|| point.median().words_per_second());
        let run =
            process::spawn_measurement(options, &options.systems[system], cpus, expected_rate)?;
        tracing::info!(
            "round {} of {}, {} with {}: {:.0} words/s",
            round + 1,
            options.repeat,
            names[system],
            count_noun(cpus.len(), "thread"),
            run.words_per_second()
        );
        point.runs.insert(round, run);
    }
    write_file(folder, "scaling.csv", &study.medians_csv())?;
    write_file(folder, "runs.csv", &study.runs_csv())?;
    write_file(folder, "scaling.svg", &chart::draw(&study).to_svg())?;
    out.write_all(study.table().as_bytes())?;
    Ok(out.write_all(study.verdict().as_bytes())?)
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<()> {
    Ok(Output::write_file(&folder.join(name), text.as_bytes())?)
}
