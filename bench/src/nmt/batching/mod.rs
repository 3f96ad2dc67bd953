//! Benchmark of batching: the gain of sorting, shrinking and topping up batches, the effect of
//! batch sizes, and the time of the output layer, fused and in separate passes.

mod ablated_session;
mod output_parts;
mod report;
mod steps;
pub(super) mod variant;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use miriam_chart::{Chart, Colour, LineStyle};
use miriam_kernels::Cpu;
use miriam_kernels::autotuner::Autotuner;
use miriam_nmt::DeviceSet;
use miriam_nmt::architecture::Model;
use miriam_nmt::engine::Precision;
use miriam_nmt::network::Network;
use miriam_nmt::translate::{GPU_PRECISIONS, Placement};
use miriam_textio::{Output, Progress, ProgressTask, date};
use serde_json::json;

use super::random_models::{decoding_architecture, random_model_without_eos};
use super::resolve_device;
use super::speed::{self, SpeedCurve, SpeedRow};
use crate::description::describe_text;
use crate::error::{Error, Result};
use crate::input::read_text;
use crate::machine::{Clock, cpu_name};
use crate::saved_results::{SavedResults, StudyFolder};
use crate::statistics::median;
use output_parts::OutputParts;
use report::{OutputRow, RoundTimes};
use steps::RecordedSearch;
use variant::{BatchingRun, BatchingVariant, ParallelText, run_variant};

/// Options of the benchmark: a model with random weights translates a text on one thread. Each
/// translation has the length of its reference.
#[derive(Clone, Debug)]
pub struct BatchingStudy {
    /// The source text: one sentence per line, words or pieces separated by spaces.
    pub input: PathBuf,
    /// The reference translations, of which only the lengths are used.
    pub target: PathBuf,
    /// The model, one of [`DECODING_SHAPES`](super::DECODING_SHAPES).
    pub shape: String,
    /// The maximal number of sentences.
    pub sentences: u32,
    /// The size of the vocabulary, at least 3.
    pub words: u32,
    /// The batch sizes in sentences, at least one. With a single size, all variants are measured;
    /// with several, the default, the variant without top-up, and the variant with dead rows. A
    /// text with fewer sentences than a batch is repeated.
    pub batches: Vec<u32>,
    /// The beam sizes.
    pub beams: Vec<u32>,
    /// The precisions of GEMM; if empty, f32 and i8 on the CPU, or f32 and f16 on a GPU.
    pub precisions: Vec<Precision>,
    /// The device: the CPU or a GPU.
    pub device: DeviceSet,
    /// The number of counted rounds.
    pub rounds: u32,
    /// The time in seconds after which no further round of a table begins.
    pub seconds: f64,
    /// The folder for CSV files, charts and saved results.
    pub output: Option<StudyFolder>,
}

/// The variants that are measured with several batch sizes: the default; the variant without
/// top-up, as in Amun; and the variant that continues to compute finished sentences (Hoang et al.
/// 2018, figure 3).
const SWEPT: &[BatchingVariant] = BatchingVariant::ALL.split_at(3).0;

/// The largest number of scores of a step whose output layer is measured in parts. The engine keeps
/// the memory of matrices of up to this size; the times of larger ones would include allocations.
const MAX_SCORES: u64 = 1 << 22;

/// Measures batching with all optimisations and without some of them, and the parts of the output
/// layer. Prints a table for each precision and beam size. With a folder it also records each step,
/// and writes `speed.csv`, `output.csv`, `steps.csv` and charts; the same command resumes a study
/// that was stopped. Times are CPU times; on a GPU, wall times.
///
/// # Errors
/// If the texts cannot be read or are not parallel, the source has no words, the shape is unknown,
/// the device cannot be used or does not support a precision, another command uses the folder, the
/// folder has results of another study, or a file cannot be written.
pub fn run(options: &BatchingStudy, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let [source, target] = [&options.input, &options.target].map(|path| read_text(path));
    let (source, target) = (source?, target?);
    let (sentences, words) = (options.sentences as usize, options.words as usize);
    let paths = [&options.input, &options.target].map(PathBuf::as_path);
    let text = ParallelText::new(&source, &target, sentences, words, paths)?;
    let architecture = decoding_architecture(&options.shape, words)
        .ok_or_else(|| Error::unmeasurable(format!("{}: unknown shape", options.shape)))?;
    let devices = resolve_device(&options.device)?;
    let is_gpu = devices.is_cuda();
    let study = json!({
        "name": "batching",
        "source": describe_text(&source),
        "target": describe_text(&target),
        "shape": options.shape,
        "sentences": sentences,
        "words": words,
        "rounds": options.rounds,
        "seconds": options.seconds,
    });
    let saved = SavedResults::open(options.output.as_ref(), study)?;
    let precisions = match &options.precisions[..] {
        [] if is_gpu => &GPU_PRECISIONS,
        [] => &[Precision::F32, Precision::I8],
        chosen => chosen,
    };
    let machine = if is_gpu {
        devices.to_string()
    } else {
        format!("{}, {}", cpu_name(), Cpu::describe_detected())
    };
    let [read, translated] = text.token_counts();
    let sizes: Vec<String> = options.batches.iter().map(u32::to_string).collect();
    writeln!(out, "{machine}, one thread, {}, batches of {}", options.shape, sizes.join(", "))?;
    writeln!(out, "{} sentences, {read} tokens in, {translated} out", text.num_sentences())?;

    let tables = precisions.len() * options.beams.len() * options.batches.len();
    let task = progress.task("measuring", Some(tables as u64));
    let mut measurement = Measurement {
        options,
        text,
        model: random_model_without_eos(architecture, 1)?,
        tuner: Arc::new(Autotuner::new(Cpu::detect())),
        clock: if is_gpu { Clock::Wall(Instant::now()) } else { Clock::Cpu },
        saved,
        results: Results::default(),
    };
    for &precision in precisions {
        let placement = Placement { devices: &devices, precision, tuner: &measurement.tuner };
        let network = placement.load_network(&measurement.model, Path::new("a random model"))?;
        let place = format!("{devices} {}", precision.name());
        for &beam in &options.beams {
            let subject = Subject { network: &network, place: &place, precision, beam };
            measurement.measure(&subject, out, &task)?;
        }
    }
    drop(task);
    measurement.results.print(out)?;
    match &options.output {
        Some(folder) => measurement.results.write(&folder.path),
        None => Ok(()),
    }
}

impl BatchingStudy {
    /// Returns the variants that are measured.
    fn variants(&self) -> &'static [BatchingVariant] {
        if self.batches.len() == 1 { &BatchingVariant::ALL } else { SWEPT }
    }
}

/// A loaded network and the beam size with which it translates.
struct Subject<'a> {
    network: &'a Network,
    /// The device and its precision.
    place: &'a str,
    precision: Precision,
    beam: u32,
}

/// A study with its results so far.
struct Measurement<'a> {
    options: &'a BatchingStudy,
    text: ParallelText,
    model: Model,
    tuner: Arc<Autotuner>,
    clock: Clock,
    saved: SavedResults,
    results: Results,
}

impl Measurement<'_> {
    /// Measures and prints all sizes of batches. On the CPU, also measures the parts of the output
    /// layer. Records steps if files are written.
    fn measure(
        &mut self,
        subject: &Subject<'_>,
        out: &mut dyn Write,
        task: &ProgressTask<'_>,
    ) -> Result<()> {
        let &Subject { network, place, precision, beam } = subject;
        let options = self.options;
        let (name, variants) = (format!("{}, beam {beam}", precision.name()), options.variants());
        let is_sweep = variants == SWEPT;
        if is_sweep {
            report::write_sizes_heading(out, &name, variants)?;
        }
        let columns = [options.shape.clone(), place.to_owned(), beam.to_string()];
        for &batch in &options.batches {
            let text = self.text_for(batch);
            let setting = format!("{place}, beam {beam}, batch {batch}");
            let key = format!("{} variants, {setting}", variants.len());
            let (options, clock) = (self.options, self.clock);
            let (times, passes) = self.saved.get_or_measure(&key, || {
                measure_variants(options, network, &text, [batch, beam], clock)
            })?;
            let speeds = variants.iter().zip(&times).zip(&passes);
            let speeds = speeds.map(|((variant, times), pass)| SpeedRow {
                model: options.shape.clone(),
                place: place.to_owned(),
                beam,
                batch,
                variant: variant.name,
                sentences: text.num_sentences(),
                tokens: text.token_counts()[1],
                seconds: median(times),
                steps: pass.steps,
                rows: pass.rows,
            });
            let speeds: Vec<SpeedRow> = speeds.collect();
            if is_sweep {
                report::write_size(out, &speeds, times[0].len(), &passes)?;
            } else {
                report::write_variants(out, &name, &speeds, &times, &passes)?;
                self.results.columns.push((name.clone(), times));
            }
            self.results.speeds.extend(speeds);
            let rows = u64::from(batch) * u64::from(beam);
            let has_parts = rows * u64::from(options.words) <= MAX_SCORES;
            if matches!(self.clock, Clock::Cpu) && has_parts {
                let (model, rows, beam) = (&self.model, rows as usize, beam as usize);
                let times = self.saved.get_or_measure(&format!("output, {setting}"), || {
                    let mut parts = OutputParts::load(model, precision, &self.tuner, rows, beam)?;
                    Ok(parts.measure(options.rounds)?)
                })?;
                let subject = columns.clone();
                self.results.outputs.push(OutputRow { subject, batch, rows, times });
            }
            self.saved.advance(task);
        }
        if let (Some(_), Some(&batch)) = (&options.output, options.batches.iter().max()) {
            let text = self.text_for(batch);
            let sizes = [batch, beam, options.rounds];
            for variant in steps::RECORDED {
                let key = format!("steps, {}, {place}, beam {beam}, batch {batch}", variant.name);
                let steps = self.saved.get_or_measure(&key, || {
                    steps::record(network, &text, variant, sizes, self.clock)
                })?;
                let subject = columns.clone();
                self.results.searches.push(RecordedSearch { subject, batch, variant, steps });
            }
        }
        Ok(())
    }

    /// Returns the text, repeated if it has fewer sentences than a batch.
    fn text_for(&self, batch: u32) -> ParallelText {
        self.text.resized(self.text.num_sentences().max(batch as usize))
    }
}

/// Runs all variants in turn; returns their times, and the results of the last round.
fn measure_variants(
    options: &BatchingStudy,
    network: &Network,
    text: &ParallelText,
    [batch, beam]: [u32; 2],
    clock: Clock,
) -> Result<(RoundTimes, Vec<BatchingRun>)> {
    let (start, variants) = (Instant::now(), options.variants());
    let mut times = vec![Vec::new(); variants.len()];
    let mut passes = Vec::new();
    for round in 0..=options.rounds {
        if round > 1 && start.elapsed().as_secs_f64() > options.seconds {
            break;
        }
        passes.clear();
        for (&variant, times) in variants.iter().zip(&mut times) {
            let before = clock.seconds();
            let mut session = network.session()?;
            let (batch, beam) = (batch as usize, beam as usize);
            passes.push(run_variant(&mut *session, text, batch, beam, variant, None)?);
            // The first round is not counted: in it the autotuner chooses GEMM kernels.
            if round > 0 {
                times.push(clock.seconds() - before);
            }
        }
    }
    Ok((times, passes))
}

/// All results.
#[derive(Default)]
struct Results {
    speeds: Vec<SpeedRow>,
    /// The times of all variants by precision and beam size, if there is one size of batches.
    columns: Vec<(String, RoundTimes)>,
    outputs: Vec<OutputRow>,
    searches: Vec<RecordedSearch>,
}

impl Results {
    /// Prints what follows the tables of speeds.
    fn print(&self, out: &mut dyn Write) -> Result<()> {
        if !self.columns.is_empty() {
            report::write_summary(out, &self.columns)?;
        }
        if !self.outputs.is_empty() {
            report::write_output(out, &self.outputs)?;
        }
        Ok(report::write_few_sentences(out, &self.searches)?)
    }

    /// Writes CSV files and charts.
    fn write(&self, folder: &Path) -> Result<()> {
        let notes = [format!("{}, one thread; {}", cpu_name(), date::today())];
        let charts = [
            ("speed.svg", self.draw_speeds(&notes)),
            ("steps.svg", steps::draw_times(&self.searches, &notes)),
            ("sentences.svg", steps::draw_sentences(&self.searches, &notes)),
        ];
        let speeds = self.speeds.iter().map(SpeedRow::to_csv);
        let outputs = self.outputs.iter().map(OutputRow::to_csv);
        let tables = [
            ("speed.csv", csv(SpeedRow::HEADING, speeds)),
            ("output.csv", csv(OutputRow::HEADING, outputs)),
            ("steps.csv", steps::to_csv(&self.searches)),
        ];
        let charts = charts.map(|(name, chart)| (name, chart.to_svg()));
        for (name, text) in tables.into_iter().chain(charts) {
            Output::write_file(&folder.join(name), text.as_bytes())?;
        }
        Ok(())
    }

    /// Draws sentences per second over the size of batches: solid lines are the default, dashed
    /// ones keep finished sentences.
    fn draw_speeds(&self, notes: &[String]) -> Chart {
        let mut curves: Vec<SpeedCurve<'_>> = Vec::new();
        let mut subjects: Vec<String> = Vec::new();
        for row in &self.speeds {
            let is_dashed = row.variant == SWEPT[2].name;
            if !is_dashed && row.variant != SWEPT[0].name {
                continue;
            }
            let subject = format!("{}, {}, beam {}", row.model, row.place, row.beam);
            let label = format!("{subject}, {}", row.variant);
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
            match curves.iter_mut().find(|curve| curve.label == label) {
                Some(curve) => curve.rows.push(row),
                None => {
                    let colour = Colour::for_curve(subjects.len() - 1);
                    let style = LineStyle { colour, is_dashed };
                    curves.push(SpeedCurve { label, style, rows: vec![row] });
                }
            }
        }
        let title = "Speed with increasing sizes of batches".into();
        let rate = ("sentences a second", SpeedRow::sentence_rate as fn(&SpeedRow) -> f64);
        speed::draw(title, notes.to_vec(), rate, &curves)
    }
}

fn csv(heading: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: String = rows.map(|row| row + "\n").collect();
    format!("{heading}\n{rows}")
}
