//! `miriam bench scaling`: how translation speeds up with threads, on physical
//! cores first and hyperthreads after them.
//!
//! Every measurement is a fresh process of this binary, so that its memory, its
//! processor time and its context switches are its own; each worker is tied to a
//! CPU, and the process to the CPUs of its workers. Rounds over the thread counts
//! go up and down in turn, so that a machine that slowly warms up or fills with
//! other work does not look like a curve.

mod chart;
mod process;
mod report;
mod topology;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use miriam_textio::{Input, affinity};

use super::machine;
pub use process::{RunArguments, run_measurement};
use report::ScalingStudy;
use topology::Topology;

/// How translation speeds up with threads: cores first, then hyperthreads
///
/// Translates the text over and over on each number of threads and writes words a
/// second, speed-up, user and system time, context switches and peak memory to
/// scaling.csv (the median run of each count), runs.csv (every run) and
/// scaling.svg, and a verdict to standard output. Loading the models and one pass
/// over the text before the clock starts are not counted.
///
/// Example: miriam bench scaling --config moses.ini -i news.de -o scaling --
/// -search-algorithm 1 -cube-pruning-pop-limit 400
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The system's moses.ini
    #[arg(long, value_name = "INI")]
    config: PathBuf,
    /// The text to translate: plain, .gz or .zst
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// Numbers of threads, as 1,2,4; 1 is always among them. Without it powers of
    /// two up to the physical cores, then hyperthreads
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    counts: Vec<u16>,
    /// The folder to write to; it is made if it is not there
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Measurements of each count
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// The least time of a measurement; the text is repeated to fill it
    #[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
    seconds: f64,
    /// Options of `translate` for the search
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=1e5).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds from 0.01".into()),
    }
}

/// Measures every count and writes what came of it.
pub fn run_study(arguments: Arguments) -> anyhow::Result<()> {
    Input::check_access(&arguments.config, None)?;
    Input::check_access(&arguments.input, None)?;
    anyhow::ensure!(
        arguments.input.as_os_str() != "-",
        "the text is read more than once: -i takes a file, not standard input"
    );
    let allowed = affinity::allowed_cpus().context("asking for the CPUs of this process")?;
    let topology = Topology::read(Path::new("/sys/devices/system/cpu"), &allowed);
    let order = topology.cpu_order();
    let counts = select_counts(&arguments.counts, &topology)?;
    fs::create_dir_all(&arguments.output)
        .with_context(|| format!("{}: cannot make this folder", arguments.output.display()))?;
    tracing::info!("{}: {topology}", machine::cpu_name());
    let mut study = ScalingStudy::new(topology, &counts);
    for round in 0..usize::from(arguments.repeat) {
        let mut places: Vec<usize> = (0..counts.len()).collect();
        if round % 2 == 1 {
            places.reverse();
        }
        for place in places {
            let cpus = &order[..counts[place]];
            let run = process::spawn_measurement(&arguments, cpus)?;
            tracing::info!(
                "round {} of {}, {} threads: {:.0} words/s",
                round + 1,
                arguments.repeat,
                cpus.len(),
                run.words_per_second()
            );
            study.add_run(place, run);
        }
    }
    let write = |name: &str, text: String| {
        let path = arguments.output.join(name);
        fs::write(&path, text).with_context(|| format!("{}: cannot write", path.display()))
    };
    write("scaling.csv", study.medians_csv())?;
    write("runs.csv", study.runs_csv())?;
    write("scaling.svg", chart::draw(&study))?;
    let mut out = io::stdout().lock();
    out.write_all(study.table().as_bytes())?;
    Ok(writeln!(out, "{}", study.verdict())?)
}

/// The counts to measure, ascending and each once.
fn select_counts(asked: &[u16], topology: &Topology) -> anyhow::Result<Vec<usize>> {
    let (cores, all) = (topology.num_physical_cores(), topology.cpu_order().len());
    let mut counts: Vec<usize> = asked.iter().map(|&count| usize::from(count)).collect();
    if let Some(&count) = counts.iter().find(|&&count| count > all) {
        anyhow::bail!("--counts: {count} threads need as many CPUs; this process may use {all}");
    }
    counts.push(1);
    if asked.is_empty() {
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
        let of = |cores, threads| Topology::uniform(1, cores, threads);
        let default = |topology: Topology| select_counts(&[], &topology).unwrap();
        assert_eq!(default(of(1, 1)), [1]);
        assert_eq!(default(of(2, 1)), [1, 2]);
        assert_eq!(default(of(16, 2)), [1, 2, 4, 8, 16, 24, 32]);
        assert_eq!(default(of(6, 2)), [1, 2, 4, 6, 9, 12]);
        assert_eq!(select_counts(&[4, 2, 4], &of(4, 1)).unwrap(), [1, 2, 4]);
        let error = select_counts(&[5], &of(4, 1)).unwrap_err().to_string();
        assert!(error.contains("5 threads") && error.contains("may use 4"), "{error}");
    }
}
