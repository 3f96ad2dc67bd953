//! Benchmark of neural decoding on a GPU and the CPU: speed for beam sizes, batch sizes and
//! variants of batching, with lower bounds of the time (rooflines); or a comparison of
//! translations.
//!
//! No data is needed: without files, models have random weights, and sentences are random with the
//! lengths of real text.

mod chart;
mod check;
mod measure;
mod models;
mod places;
mod report;
mod roofline;

use std::io::Write;
use std::path::PathBuf;

use miriam_nmt::DeviceSet;
use miriam_textio::{Output, Progress};
use serde_json::{Value, json};

use crate::description::describe_file;
use crate::error::Result;
use crate::saved_results::{SavedResults, StudyFolder};
use models::{subject, subject_count};
use places::Place;
use report::Report;

/// Options of the benchmark.
#[derive(Clone, Debug)]
pub struct NmtGpuStudy {
    /// The models to read; if empty, models with random weights.
    pub models: Vec<PathBuf>,
    /// The text to translate; if `None`, random sentences.
    pub input: Option<PathBuf>,
    /// The device besides the CPU: at most one GPU.
    pub devices: DeviceSet,
    /// The folder to write to; if `None`, translations are compared and nothing is measured.
    pub output: Option<StudyFolder>,
    /// Whether to use tiny models and few sentences.
    pub quick: bool,
    /// The beam sizes.
    pub beams: Vec<u32>,
    /// The batch sizes in sentences.
    pub batches: Vec<u32>,
    /// The seed of random models and sentences.
    pub seed: u64,
    /// The number of repetitions of each measurement.
    pub repeat: u32,
}

/// Measures all models and writes `speed.csv`, `kernels.csv` and `speed.svg`, or compares the
/// translations of all models; prints each row when it is measured. The same command resumes a
/// study that was stopped.
///
/// # Errors
/// If files cannot be read or written, another command uses the folder, the folder has results of
/// another study, the chosen device cannot be used, or translations differ by more than ties
/// ([`Error::Mismatch`](crate::Error::Mismatch)).
pub fn run(study: &NmtGpuStudy, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let places = Place::for_devices(&study.devices)?;
    match &study.output {
        Some(folder) => measure_all(study, folder, &places, out, progress),
        None => compare_all(study, places, out, progress),
    }
}

/// Describes what is measured.
fn describe(study: &NmtGpuStudy) -> Result<Value> {
    let models = study.models.iter().map(|path| describe_file(path));
    Ok(json!({
        "name": "gpu",
        "models": models.collect::<Result<Vec<Value>>>()?,
        "text": study.input.as_deref().map(describe_file).transpose()?,
        "quick": study.quick,
        "seed": study.seed,
        "repeat": study.repeat,
    }))
}

fn measure_all(
    study: &NmtGpuStudy,
    folder: &StudyFolder,
    places: &[Place],
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<()> {
    let mut saved = SavedResults::open(Some(folder), describe(study)?)?;
    let runs = measure::runs_of_subject(study, places) * subject_count(study);
    let task = progress.task("measuring", Some(runs as u64));
    let mut report = Report::new(out)?;
    for number in 0..subject_count(study) {
        let subject = subject(study, number)?;
        measure::measure_subject(study, &subject, places, &mut saved, &mut report, &task)?;
    }
    report.write(&folder.path)?;
    if !places.iter().any(Place::is_gpu) {
        report.add_note("no device was measured")?;
    }
    let chart = chart::draw(&report).to_svg();
    Ok(Output::write_file(&folder.path.join("speed.svg"), chart.as_bytes())?)
}

/// Compares the CPU with the GPU, or with the reference if there is no GPU.
fn compare_all(
    study: &NmtGpuStudy,
    mut places: Vec<Place>,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<()> {
    let has_gpu = places.iter().any(Place::is_gpu);
    if !has_gpu {
        places.push(Place::Reference);
    }
    let task = progress.task("comparing", Some(subject_count(study) as u64));
    check::write_heading(out)?;
    let mut first = None;
    for number in 0..subject_count(study) {
        let difference = check::check_subject(study, &subject(study, number)?, &places, out)?;
        first = first.or(difference);
        task.advance(1);
    }
    if let Some(difference) = first {
        return Err(difference.into());
    }
    let result = if has_gpu {
        "no line differs, on the device and on the CPU"
    } else {
        "no line differs, on the CPU and in the reference; no device was compared"
    };
    Ok(writeln!(out, "{result}")?)
}
