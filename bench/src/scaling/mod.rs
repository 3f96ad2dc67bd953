//! Benchmark of the speed-up with threads, on physical cores first and then on hyperthreads. It
//! measures one or several systems, which may be other programs.
//!
//! Each measurement runs in a new process of this program, so that memory, CPU time and context
//! switches can be attributed to it. The process is pinned to the CPUs of its workers, and each
//! worker of a phrase system to one of these CPUs.

mod chart;
mod command;
mod measurement;
mod option_text;
mod plan;
mod process;
mod report;
mod run_stats;
mod saved_runs;
pub(crate) mod study;
mod system;
mod text;
pub(crate) mod time_left;
pub(crate) mod topology;
mod verdict;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use miriam_storage::file_lock::FileLock;
use miriam_textio::{Input, Output, affinity};

use crate::error::{Result, refused};
use crate::machine;
use crate::saved_results::lock_folder;
pub use measurement::Measurement;
pub use option_text::split_options;
use plan::{PlannedRun, plan_runs, select_counts};
pub use process::end_with_study;
pub use run_stats::RunStats;
pub(crate) use saved_runs::DESCRIPTION;
use saved_runs::StudyDescription;
use study::ScalingStudy;
pub use system::{MeasuredSystem, Workload, check_names, default_name, split_name};
use time_left::MeasuredDurations;
pub use time_left::describe_duration;
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
    /// Whether runs of an earlier study in the folder are measured again. Otherwise runs of the
    /// same study are kept, and runs of another study are an error.
    pub overwrite: bool,
}

/// Measures every system with every count, writes `scaling.csv` (the median runs), `runs.csv`
/// (every run) and `scaling.svg`, and prints a table and a verdict. Each run is saved at once, and
/// the other files after each round. The same options resume a study that was stopped.
///
/// # Errors
/// If a measurement fails, there are fewer CPUs than threads, two systems have the same name,
/// another command uses the folder, the folder has runs of another study, or a file cannot be read
/// or written.
pub fn run(options: &ScalingOptions, out: &mut dyn Write) -> Result<()> {
    let (mut study, _lock) = begin(options, |topology, measured| {
        let counts = select_counts(&options.counts, topology)?;
        // Numbers of threads that were measured before stay in the study.
        select_counts(&[&counts[..], measured].concat(), topology)
    })?;
    measure(options, &mut study, &|study| write_results(study, &options.output))?;
    write_results(&study, &options.output)?;
    out.write_all(study.table().as_bytes())?;
    Ok(out.write_all(study.verdict().as_bytes())?)
}

/// Checks the options, and returns their study with the runs that are saved in the folder. `select`
/// returns the numbers of threads of the study from the numbers of threads of the saved runs. The
/// lock keeps other commands from measuring in the folder.
///
/// # Errors
/// Those of [`run`] before the first measurement, and those of `select`.
pub(crate) fn begin(
    options: &ScalingOptions,
    select: impl FnOnce(&Topology, &[usize]) -> Result<Vec<usize>>,
) -> Result<(ScalingStudy, FileLock)> {
    check_names(&options.systems)?;
    Input::check_file(&options.input)?;
    let allowed = affinity::allowed_cpus().map_err(refused("list its CPUs"))?;
    let topology = Topology::read(Path::new("/sys/devices/system/cpu"), &allowed);
    let folder = &options.output;
    let lock = lock_folder(folder)?;
    tracing::info!("{}: {topology}", machine::cpu_name());
    let description = StudyDescription::new(options, &topology)?;
    let saved = if options.overwrite { Vec::new() } else { description.read_runs(folder)? };
    let measured: Vec<usize> = saved.iter().map(|run| run.threads).collect();
    let counts = select(&topology, &measured)?;
    let names: Vec<String> = options.systems.iter().map(|system| system.name.clone()).collect();
    let mut study = ScalingStudy::new(topology, &names, &counts);
    for run in saved {
        study.insert(&run.system, run.threads, run.round, run.stats);
    }
    // Runs are written first: runs that --overwrite discards must never lie next to the new
    // description.
    study.write_runs(folder)?;
    description.write(folder)?;
    Ok((study, lock))
}

/// Makes the measurements that `study` lacks, and saves each at once. `write` gets the study after
/// each round except the last.
pub(crate) fn measure(
    options: &ScalingOptions,
    study: &mut ScalingStudy,
    write: &dyn Fn(&ScalingStudy) -> Result<()>,
) -> Result<()> {
    let (counts, order) = (study.thread_counts(), study.topology.cpu_order());
    let all = plan_runs(options.systems.len(), counts.len(), options.repeat);
    let planned: Vec<PlannedRun> = all.iter().copied().filter(|&run| !study.has_run(run)).collect();
    let done = all.len() - planned.len();
    if done > 0 {
        tracing::info!(
            "{}: {done} of {} measurements were made before; --overwrite makes them again",
            options.output.display(),
            all.len()
        );
    }
    let mut durations = MeasuredDurations::default();
    for (index, &run) in planned.iter().enumerate() {
        let PlannedRun { system, count_index, round } = run;
        let cpus = &order[..counts[count_index]];
        let points = &mut study.systems[system].points;
        // More threads are seldom slower, so the speed of fewer threads tells how long the text
        // must be at least.
        let known = points[..=count_index].iter().rfind(|point| !point.runs.is_empty());
        let expected_rate = known.map(|point| point.median().words_per_second());
        let start = Instant::now();
        let measured = &options.systems[system];
        let stats = process::spawn_measurement(options, measured, cpus, expected_rate)?;
        let stats = stats.in_microseconds();
        points[count_index].runs.insert(round, stats);
        study.write_runs(&options.output)?;
        durations.add(run, start.elapsed().as_secs_f64());
        let rest = &planned[index + 1..];
        let time_left = match rest {
            [] => String::new(),
            _ => format!("; about {} left", describe_duration(durations.estimate(rest))),
        };
        tracing::info!(
            "{} of {}: {} with {}, round {}: {:.0} words/s{time_left}",
            done + index + 1,
            all.len(),
            measured.name,
            count_noun(cpus.len(), "thread"),
            round + 1,
            stats.words_per_second()
        );
        // A long study can be looked at before its end.
        if rest.first().is_some_and(|next| next.round > round) && study.has_all_points() {
            write(study)?;
        }
    }
    Ok(())
}

/// Writes the medians and the chart.
fn write_results(study: &ScalingStudy, folder: &Path) -> Result<()> {
    write_file(folder, "scaling.csv", &study.medians_csv())?;
    write_file(folder, "scaling.svg", &chart::draw(study).to_svg())
}

pub(crate) fn write_file(folder: &Path, name: &str, text: &str) -> Result<()> {
    Ok(Output::write_file(&folder.join(name), text.as_bytes())?)
}
