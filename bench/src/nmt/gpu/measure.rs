//! Measurements of a model: beam and batch sizes in each place, and variants of batching.

use std::time::Instant;

use miriam_nmt::network::Session;
use miriam_textio::ProgressTask;
use serde::{Deserialize, Serialize};

use super::super::batching::variant::{BatchingRun, BatchingVariant, run_variant};
use super::super::speed::SpeedRow;
use super::NmtGpuStudy;
use super::models::Subject;
use super::places::Place;
use super::report::{BoundedSpeed, KernelRow, Report};
use super::roofline::{ROOFLINES, ShapeModel, total_floor};
use crate::error::Result;
use crate::saved_results::SavedResults;
use crate::statistics::median_by;

/// The largest batch on one thread of the CPU, where larger ones are not faster.
const MAX_CPU_BATCH: u32 = 128;

/// The minimal numbers of translated sentences and of batches.
const MIN_SENTENCES: usize = 64;
const MIN_SENTENCES_OF_QUICK_STUDY: usize = 4;
const MIN_BATCHES: usize = 2;

/// Returns the batch sizes that are measured in a place.
fn batches<'a>(study: &'a NmtGpuStudy, place: &Place) -> impl Iterator<Item = u32> + 'a {
    let limit = if place.is_gpu() { u32::MAX } else { MAX_CPU_BATCH };
    study.batches.iter().copied().filter(move |&batch| batch <= limit)
}

/// Returns the batch size for the comparison of variants of batching: the largest one that is
/// measured in all places.
fn batch_of_variants(study: &NmtGpuStudy) -> Option<u32> {
    study.batches.iter().copied().filter(|&batch| batch <= MAX_CPU_BATCH).max()
}

/// Returns the number of measurements of each model.
pub fn runs_of_subject(study: &NmtGpuStudy, places: &[Place]) -> usize {
    let variants = batch_of_variants(study).map_or(0, |_| BatchingVariant::ALL.len() - 1);
    let rows: usize = places.iter().map(|place| batches(study, place).count() + variants).sum();
    rows * study.beams.len()
}

/// Measures a model in all places.
///
/// # Errors
/// If a place cannot be used, a result cannot be read from or saved in the folder, or a row cannot
/// be printed.
pub fn measure_subject(
    study: &NmtGpuStudy,
    subject: &Subject,
    places: &[Place],
    saved: &mut SavedResults,
    report: &mut Report<'_>,
    task: &ProgressTask<'_>,
) -> Result<()> {
    let shapes = ShapeModel::new(&subject.model, &subject.path)?;
    for (number, place) in places.iter().enumerate() {
        let mut session = place.load(subject)?.session()?;
        for &beam in &study.beams {
            let [default, others @ ..] = BatchingVariant::ALL;
            let sizes = batches(study, place).map(|batch| (batch, default));
            let compared = batch_of_variants(study).into_iter();
            let ways = compared.flat_map(|batch| others.map(|variant| (batch, variant)));
            for (batch, variant) in sizes.chain(ways) {
                let run = Run { study, subject, place, beam, batch, variant };
                let times = saved.get_or_measure(&run.key(), || run.measure(&mut *session))?;
                let row = run.bounded_speed(times, &shapes)?;
                // Shapes are the same in all places.
                if number == 0 && variant == default {
                    report.add_kernels(run.kernels(&row.speed, &shapes)?);
                }
                report.add_speed(row)?;
                saved.advance(task);
            }
        }
    }
    Ok(())
}

/// One measurement.
struct Run<'a> {
    study: &'a NmtGpuStudy,
    subject: &'a Subject,
    place: &'a Place,
    beam: u32,
    batch: u32,
    variant: BatchingVariant,
}

/// The results of one measurement.
#[derive(Serialize, Deserialize)]
struct RunTimes {
    /// The median seconds of a run.
    seconds: f64,
    /// The numbers of sentences of the text and of tokens of their translations, including EOS.
    sentences: usize,
    tokens: usize,
    /// The number of steps, and of the rows of all steps.
    steps: usize,
    rows: usize,
}

impl Run<'_> {
    /// Returns the name of the saved result.
    fn key(&self) -> String {
        let Run { subject, place, beam, batch, variant, .. } = self;
        // Files in different folders may have the same name.
        let (model, variant) = (subject.path.display(), variant.name);
        format!("{model}, {place}, beam {beam}, batch {batch}, {variant}")
    }

    fn measure(&self, session: &mut dyn Session) -> Result<RunTimes> {
        let (batch, beam) = (self.batch as usize, self.beam as usize);
        let least = if self.study.quick { MIN_SENTENCES_OF_QUICK_STUDY } else { MIN_SENTENCES };
        let text = self.subject.text.resized(least.max(MIN_BATCHES * batch));
        let mut times: Vec<(f64, BatchingRun)> = Vec::new();
        // In the first round the autotuner chooses GEMM kernels and memory pools are filled, so it
        // is not counted. A quick study tests the program, so it needs no such round.
        for round in u32::from(self.study.quick)..=self.study.repeat {
            let start = Instant::now();
            let run = run_variant(session, &text, batch, beam, self.variant, None)?;
            if round > 0 {
                times.push((start.elapsed().as_secs_f64(), run));
            }
        }
        let (seconds, run) = median_by(&times, |(seconds, _)| *seconds);
        Ok(RunTimes {
            seconds,
            sentences: text.num_sentences(),
            tokens: run.translations.iter().map(|words| words.len() + 1).sum(),
            steps: run.steps,
            rows: run.rows,
        })
    }

    /// Returns the row of the table, with the lower bounds of a step's time.
    fn bounded_speed(&self, times: RunTimes, shapes: &ShapeModel) -> Result<BoundedSpeed> {
        let RunTimes { seconds, sentences, tokens, steps, rows } = times;
        let rows_per_step = rows as f64 / steps.max(1) as f64;
        let sizes = self.subject.step_sizes(rows_per_step, self.beam as usize, tokens);
        let work = shapes.work(sizes)?.step;
        let speed = SpeedRow {
            model: self.subject.name.clone(),
            place: self.place.to_string(),
            beam: self.beam,
            batch: self.batch,
            variant: self.variant.name,
            sentences,
            tokens,
            seconds,
            steps,
            rows,
        };
        let floors = ROOFLINES.map(|roofline| total_floor(&roofline, &work));
        Ok(BoundedSpeed { speed, floors })
    }

    /// Returns the computed work of the encoder and of one step for a full batch: a row for each
    /// kernel of each phase.
    fn kernels(&self, row: &SpeedRow, shapes: &ShapeModel) -> Result<Vec<KernelRow>> {
        let rows = f64::from(self.batch) * f64::from(self.beam);
        let sizes = self.subject.step_sizes(rows, self.beam as usize, row.tokens);
        let work = shapes.work(sizes)?;
        let phases = [("encoder", work.encoder), ("step", work.step)];
        let rows = phases.into_iter().flat_map(|(phase, kernels)| {
            kernels.into_iter().map(move |(kernel, work)| KernelRow {
                model: self.subject.name.clone(),
                beam: self.beam,
                batch: self.batch,
                phase,
                kernel,
                work,
            })
        });
        Ok(rows.collect())
    }
}
