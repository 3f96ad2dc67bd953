//! Benchmark of the speed-up of translation with threads, on physical cores first and then on
//! hyperthreads.
//!
//! Each measurement runs in a new process of this program, so that memory, CPU time and context
//! switches can be attributed to it. Each worker is pinned to a CPU, and the process to the CPUs of
//! its workers. Rounds go through the thread counts in ascending and descending order by turns, so
//! that a slow change of the machine, as when it warms up, does not distort the curve.

mod chart;
mod process;
mod report;
mod topology;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_textio::{Input, Output, affinity};

use crate::error::{Error, Result, cannot};
use crate::machine;
use process::refused;
pub use process::run_measurement;
use report::ScalingStudy;
use topology::Topology;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct ScalingOptions {
    /// The system's moses.ini.
    pub config: PathBuf,
    /// The text to translate, a file.
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
    /// Further options for `translate`.
    pub options: Vec<String>,
}

/// Measures every count, writes `scaling.csv` (the median run of each count), `runs.csv` (every
/// run) and `scaling.svg`, and prints a table and a verdict.
///
/// # Errors
/// If a measurement fails, there are fewer CPUs than threads, or a file cannot be written.
pub fn run(options: &ScalingOptions, out: &mut dyn Write) -> Result<()> {
    Input::check_access(&options.config, None)?;
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
    let mut study = ScalingStudy::new(topology, &counts);
    for round in 0..options.repeat {
        let mut places: Vec<usize> = (0..counts.len()).collect();
        if round % 2 == 1 {
            places.reverse();
        }
        for place in places {
            let cpus = &order[..counts[place]];
            let run = process::spawn_measurement(options, cpus)?;
            tracing::info!(
                "round {} of {}, {} threads: {:.0} words/s",
                round + 1,
                options.repeat,
                cpus.len(),
                run.words_per_second()
            );
            study.add_run(place, run);
        }
    }
    fn write(name: &str, text: String, folder: &Path) -> Result<(), Error> {
        Ok::<_, Error>(Output::write_file(&folder.join(name), text.as_bytes())?)
    }
    write("scaling.csv", study.medians_csv(), folder)?;
    write("runs.csv", study.runs_csv(), folder)?;
    write("scaling.svg", chart::draw(&study).to_svg(), folder)?;
    out.write_all(study.table().as_bytes())?;
    Ok(writeln!(out, "{}", study.verdict())?)
}

/// Returns the counts to measure in ascending order, without duplicates.
fn select_counts(requested: &[usize], topology: &Topology) -> Result<Vec<usize>> {
    let (cores, all) = (topology.num_physical_cores(), topology.cpu_order().len());
    let mut counts = requested.to_vec();
    if let Some(&count) = counts.iter().find(|&&count| count > all) {
        return Err(Error::unmeasurable(format!(
            "--counts: {count} threads need as many CPUs; this process may use {all}"
        )));
    }
    counts.push(1);
    if requested.is_empty() {
        counts.extend((1..).map(|power| 1 << power).take_while(|&count| count < cores));
        counts.extend([cores, cores.midpoint(all), all]);
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_up_to_the_cores_and_go_on_to_all_threads() {
        let uniform = |cores, threads| Topology::uniform(1, cores, threads);
        let default = |topology: Topology| select_counts(&[], &topology).unwrap();
        assert_eq!(default(uniform(1, 1)), [1]);
        assert_eq!(default(uniform(2, 1)), [1, 2]);
        assert_eq!(default(uniform(16, 2)), [1, 2, 4, 8, 16, 24, 32]);
        assert_eq!(default(uniform(6, 2)), [1, 2, 4, 6, 9, 12]);
        assert_eq!(select_counts(&[4, 2, 4], &uniform(4, 1)).unwrap(), [1, 2, 4]);
        let error = select_counts(&[5], &uniform(4, 1)).unwrap_err().to_string();
        assert!(error.contains("5 threads") && error.contains("may use 4"), "{error}");
    }
}
