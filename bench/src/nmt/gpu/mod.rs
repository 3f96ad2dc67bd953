//! Neural decoding on a GPU beside the CPU: speed over beams, batches and ways of batching, the floors
//! of time on paper, or the comparison of translations.
//!
//! Only this program is needed: without files it makes models with random weights and random
//! sentences with lengths of real text.

mod chart;
mod check;
mod measure;
mod models;
mod paper;
mod places;
mod report;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_nmt::DeviceSet;
use miriam_textio::{Output, Progress};

use crate::error::{Result, cannot};
use models::{subject, subject_count};
use places::Place;
use report::Report;

/// What is measured or compared.
#[derive(Clone, Debug)]
pub struct NmtGpuStudy {
    /// Models to read; none: models with random weights.
    pub models: Vec<PathBuf>,
    /// The text to translate; none: random sentences.
    pub input: Option<PathBuf>,
    /// Where besides the CPU: one GPU at most.
    pub devices: DeviceSet,
    /// The folder to write to; without it nothing is measured, but translations are compared.
    pub output: Option<PathBuf>,
    /// Tiny models and few sentences.
    pub quick: bool,
    /// Widths of the beam.
    pub beams: Vec<u32>,
    /// Sentences of a batch.
    pub batches: Vec<u32>,
    /// The seed of random models and sentences.
    pub seed: u64,
    /// Measurements of which the median is taken.
    pub repeat: u32,
}

/// Measures all models and writes `speed.csv`, `kernels.csv` and `speed.svg`, or compares the
/// translations of all models; prints rows as they come.
///
/// # Errors
/// Files cannot be read or written, the chosen device cannot be used, or
/// ([`Error::Mismatch`](crate::Error::Mismatch)) translations differ by more than ties.
pub fn run(study: &NmtGpuStudy, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let places = Place::for_devices(&study.devices)?;
    match &study.output {
        Some(folder) => measure_all(study, folder, &places, out, progress),
        None => compare_all(study, places, out, progress),
    }
}

fn measure_all(
    study: &NmtGpuStudy,
    folder: &Path,
    places: &[Place],
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<()> {
    fs::create_dir_all(folder).map_err(cannot("make this folder", folder))?;
    let runs = measure::runs_of_subject(study, places) * subject_count(study);
    let task = progress.task("measuring", Some(runs as u64));
    let mut report = Report::new(out)?;
    for number in 0..subject_count(study) {
        let subject = subject(study, number)?;
        measure::measure_subject(study, &subject, places, &mut report, &task)?;
    }
    report.write(folder)?;
    if !places.iter().any(Place::is_gpu) {
        report.add_note("no device was measured")?;
    }
    let chart = chart::draw(&report).to_svg();
    Ok(Output::write_file(&folder.join("speed.svg"), chart.as_bytes())?)
}

/// Compares the CPU with the GPU, or with the reference if there is none.
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
