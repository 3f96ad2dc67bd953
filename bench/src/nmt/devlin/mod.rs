//! Benchmark of Devlin's paper (2017) on recurrent models: the speedups of table 1, and the systems
//! of table 2.

mod chart;
mod systems;
#[cfg(test)]
mod tests;
mod workload;

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_chart::Chart;
use miriam_kernels::Cpu;
use miriam_nmt::architecture::Model;
use miriam_nmt::network::{Ensemble, Network, Session};
use miriam_textio::{Output, Progress, date};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::random_models::random_model;
use crate::description::describe_text;
use crate::error::{Error, Result};
use crate::input::read_text;
use crate::machine::{cpu_name, cpu_seconds};
use crate::saved_results::{SavedResults, StudyFolder};
use crate::statistics::share_of_equal;
use systems::DevlinSystem;
pub use systems::SYSTEM_NAMES;
use workload::{AblationSetting, Workload, WorkloadResult};

/// Options of the benchmark, which translates sentence by sentence on one thread.
#[derive(Clone, Debug)]
pub struct DevlinStudy {
    /// The text that provides sentence lengths and word frequencies; `-` for standard input.
    pub input: PathBuf,
    /// The number of sentences to translate.
    pub sentences: u32,
    /// The size of each vocabulary.
    pub words: u32,
    /// The systems, from [`SYSTEM_NAMES`]. For a single system, each speedup is measured; several
    /// systems are compared with all speedups on.
    pub shapes: Vec<String>,
    /// Whether to measure each speedup alone, instead of adding one after the other.
    pub alone: bool,
    /// The number of passes over the sentences.
    pub passes: u32,
    /// The folder for a CSV file, a chart and saved results.
    pub output: Option<StudyFolder>,
}

/// The gain of the random weights, chosen so that translations vary and that hypotheses of a beam
/// share parents about as often as in Devlin's study.
const GAIN: f32 = 1.5;

/// Prints a row for each setting of one system (table 1), or for each of several systems (table 2).
/// With a folder it also writes `speedups.csv` and `speedups.svg`, or `systems.csv` and
/// `systems.svg`, and the same command resumes a study that was stopped.
///
/// # Errors
/// If the text cannot be read or has no words, a system is unknown, each speedup alone is to be
/// measured for several systems, another command uses the folder, the folder has results of another
/// study, or a file cannot be written.
pub fn run(options: &DevlinStudy, out: &mut dyn Write, progress: &dyn Progress) -> Result<()> {
    let systems = options.shapes.iter().map(|name| {
        DevlinSystem::named(name)
            .ok_or_else(|| Error::unmeasurable(format!("{name}: unknown shape")))
    });
    let systems: Vec<DevlinSystem> = systems.collect::<Result<_>>()?;
    if systems.len() > 1 && options.alone {
        return Err(Error::unmeasurable("--alone: expected one shape; several use all speedups"));
    }
    let text = read_text(&options.input)?;
    let (sentences, words) = (options.sentences as usize, options.words as usize);
    let workload = Workload::new(&text, sentences, words, &options.input)?;
    let description = json!({
        "name": "devlin",
        "text": describe_text(&text),
        "sentences": sentences,
        "words": words,
        "passes": options.passes,
        "alone": options.alone,
    });
    let saved = SavedResults::open(options.output.as_ref(), description)?;
    writeln!(out, "{}, {}, one thread", cpu_name(), Cpu::describe_detected())?;
    writeln!(
        out,
        "{} sentences, {} of {words} words to choose from at a time",
        workload.num_sentences(),
        workload.mean_shortlist_size().round(),
    )?;
    let mut study = Study { options, workload, saved, out, progress };
    match systems[..] {
        [system] => study.measure_speedups(&system),
        _ => study.measure_systems(&systems),
    }
}

struct Study<'a> {
    options: &'a DevlinStudy,
    workload: Workload,
    saved: SavedResults,
    out: &'a mut dyn Write,
    progress: &'a dyn Progress,
}

impl Study<'_> {
    /// Measures the speedups for one system.
    fn measure_speedups(&mut self, system: &DevlinSystem) -> Result<()> {
        writeln!(
            self.out,
            "setting               words / s  ms / sentence  factor  same translations"
        )?;
        let settings = if self.options.alone {
            AblationSetting::individual()
        } else {
            AblationSetting::cumulative()
        };
        let mut csv = String::from("shape,setting,words_per_second,ms_per_sentence,factor,same\n");
        let mut first: Option<Speed> = None;
        let mut names = Vec::new();
        let mut factors = Vec::new();
        let mut distinct_parents = None;
        let progress = self.progress;
        let task = progress.task("measuring", Some(settings.len() as u64));
        let mut models = Vec::new();
        for setting in settings {
            let speed = self.measure(system, &mut models, &setting)?;
            let result = &speed.result;
            distinct_parents = Some(result.distinct_parents as f64 / result.rows as f64);
            let reference = first.get_or_insert_with(|| speed.clone());
            let factor = speed.rate / reference.rate;
            let same = share_of_equal(&result.translations, &reference.result.translations);
            names.push(setting.name);
            factors.push(factor);
            let (name, rate, milliseconds) =
                (setting.name, speed.rate, speed.sentence_milliseconds);
            writeln!(
                self.out,
                "{name:<20} {rate:>10.0} {milliseconds:>14.2} {factor:>6.2}x {:>17.1}%",
                100.0 * same,
            )?;
            let name = super::speed::csv_name(name);
            let system = system.name;
            let _ =
                writeln!(csv, "{system},{name},{rate:.1},{milliseconds:.3},{factor:.3},{same:.4}");
            self.saved.advance(&task);
        }
        drop(task);
        if let Some(share) = distinct_parents {
            writeln!(self.out, "{:.0} % of hypotheses had a parent of their own", 100.0 * share)?;
        }
        let mut notes = self.chart_notes();
        if let Some(baseline) = first {
            let shape = system.name;
            notes.push(format!("shape {shape}; {}: {:.0} words a second", names[0], baseline.rate));
        }
        let chart = chart::draw_speedups(notes, &names, &factors, self.options.alone);
        self.write("speedups", &csv, &chart)
    }

    /// Measures several systems with all speedups, in 16 and in 8 bits, beside the paper's figures.
    /// Factors are relative to the first system.
    fn measure_systems(&mut self, systems: &[DevlinSystem]) -> Result<()> {
        let first_name = systems[0].name;
        let heading = format!("of {first_name}");
        writeln!(
            self.out,
            "{:<5} {:<15} {:>17} {heading:>7} {:>17} {heading:>7} {:>13} {heading:>7}",
            "shape", "above attention", "words / s (paper)", "words / s, i16", "i8",
        )?;
        let mut csv = String::from("shape,layers,models,published,i16,i8\n");
        let mut first: Option<[f64; 3]> = None;
        let mut all_rates = Vec::new();
        let progress = self.progress;
        let task = progress.task("measuring", Some(systems.len() as u64));
        for system in systems {
            let mut models = Vec::new();
            let [i16, i8] = AblationSetting::all_speedups()
                .map(|setting| self.measure(system, &mut models, &setting).map(|speed| speed.rate));
            let rates = [system.published_rate, i16?, i8?];
            let reference = first.get_or_insert(rates);
            let [published, i16, i8] = rates;
            let [a, b, c] = [0, 1, 2].map(|column| rates[column] / reference[column]);
            let DevlinSystem { name, layers, models, .. } = system;
            writeln!(
                self.out,
                "{name:<5} {layers:<15} {published:>17.0} {a:>7.2} {i16:>17.0} {b:>7.2} {i8:>13.0} \
                 {c:>7.2}"
            )?;
            // A row takes minutes to measure, and the output may be a pipe that somebody watches.
            self.out.flush()?;
            let layers = super::speed::csv_name(layers);
            let _ = writeln!(csv, "{name},{layers},{models},{published},{i16:.1},{i8:.1}");
            all_rates.push([i16, i8, published]);
            self.saved.advance(&task);
        }
        drop(task);
        let names: Vec<&str> = systems.iter().map(|system| system.name).collect();
        let chart = chart::draw_systems(self.chart_notes(), &names, &all_rates);
        self.write("systems", &csv, &chart)
    }

    /// Returns the saved speed of a system with a setting, or measures it. `models` is empty until
    /// a setting of the system is measured, and then has the system's models.
    fn measure(
        &mut self,
        system: &DevlinSystem,
        models: &mut Vec<Model>,
        setting: &AblationSetting,
    ) -> Result<Speed> {
        let Study { options, workload, saved, .. } = self;
        let name = format!("{}, {}, {}", system.name, setting.name, setting.precision.name());
        saved.get_or_measure(&name, || {
            if models.is_empty() {
                *models = generate(system, options.words as usize)?;
            }
            measure_passes(workload, models, setting, options.passes)
        })
    }

    /// Returns the lines below the title of a chart.
    fn chart_notes(&self) -> Vec<String> {
        let sentences = self.workload.num_sentences();
        vec![
            format!("{}, one thread; {}", cpu_name(), date::today()),
            format!("{sentences} sentences, random weights"),
        ]
    }

    /// Writes the CSV file and the chart called `name`, if there is a folder.
    fn write(&self, name: &str, csv: &str, chart: &Chart) -> Result<()> {
        let Some(StudyFolder { path, .. }) = &self.options.output else { return Ok(()) };
        Output::write_file(&path.join(format!("{name}.csv")), csv.as_bytes())?;
        Ok(Output::write_file(&path.join(format!("{name}.svg")), chart.to_svg().as_bytes())?)
    }
}

/// Generates the models of a system, with vocabularies of `words` tokens.
fn generate(system: &DevlinSystem, words: usize) -> Result<Vec<Model>> {
    let models =
        (1..=system.models).map(|seed| random_model(system.architecture(words), GAIN, seed));
    Ok(models.collect::<miriam_nmt::Result<_>>()?)
}

/// Returns the speed of the fastest of several passes, with the result of the last pass.
fn measure_passes(
    workload: &Workload,
    models: &[Model],
    setting: &AblationSetting,
    passes: u32,
) -> Result<Speed> {
    let networks = load(models, setting)?;
    let (mut best, mut result) = (f64::INFINITY, WorkloadResult::default());
    for _ in 0..passes {
        let session = open_session(&networks)?;
        let before = cpu_seconds();
        result = workload.translate(session)?;
        best = best.min(cpu_seconds() - before);
    }
    Ok(Speed {
        rate: result.tokens as f64 / best,
        sentence_milliseconds: 1000.0 * best / workload.num_sentences() as f64,
        result,
    })
}

/// The speed of a pass, with its result.
#[derive(Clone, Serialize, Deserialize)]
struct Speed {
    /// Words per second.
    rate: f64,
    sentence_milliseconds: f64,
    result: WorkloadResult,
}

fn load(models: &[Model], setting: &AblationSetting) -> Result<Vec<Network>> {
    let networks = models.iter().map(|model| {
        let (path, speedups) = (Path::new("a random model"), &setting.speedups);
        Network::load_with(model, path, setting.precision, speedups)
    });
    Ok(networks.collect::<miriam_nmt::Result<_>>()?)
}

/// Opens a session of a model, or of an ensemble of several.
fn open_session(networks: &[Network]) -> Result<Box<dyn Session>> {
    let mut sessions = Vec::new();
    for network in networks {
        sessions.push(network.session()?);
    }
    match sessions.len() {
        1 => Ok(sessions.remove(0)),
        _ => Ok(Box::new(Ensemble::new(sessions, None)?)),
    }
}
