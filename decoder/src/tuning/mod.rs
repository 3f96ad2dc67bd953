//! Weights that translate a development text best, by BLEU.
//!
//! An iteration translates the text with lists of the best translations, adds them
//! to those of earlier iterations, and looks for weights that put good translations
//! of the lists first: by batch MIRA ([`mira`]) or by MERT ([`mert`]). Decoder and
//! tuner are one process: models stay loaded, and a translation of a list is its
//! feature values and what BLEU counts in it, nothing else.
//!
//! The weights of each iteration are judged by the BLEU of the translations that
//! they give, and the best go to the new ini, scaled so that their magnitudes sum to
//! 1: the search asks for the order of scores only, MIRA's step is made for scores of
//! that size, and weights of several runs can be compared.
//!
//! Nothing depends on the number of threads: lists are gathered in the order of the
//! text, and random numbers are drawn by numbers of runs, not by threads.

mod dev_set;
mod ini_template;
mod mert;
mod mira;
mod n_best_lists;
mod random;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use miriam_metrics::bleu::BleuCounts;
use miriam_textio::{Output, Progress};

use crate::{Configuration, Error, Result, System};
use dev_set::DevSet;
use n_best_lists::NBestLists;

/// How weights are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Batch MIRA over lists (Cherry and Foster 2012).
    #[default]
    Mira,
    /// Minimum error rate training (Och 2003).
    Mert,
}

/// What a tuning run is asked for.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The system, its search and its first weights.
    pub configuration: Configuration,
    /// The source side of the development text.
    pub source: PathBuf,
    /// Its translations, in as many lines each.
    pub references: Vec<PathBuf>,
    /// The ini to write.
    pub output: PathBuf,
    /// A file for the log, beside the log messages.
    pub log: Option<PathBuf>,
    /// How weights are looked for.
    pub method: Method,
    /// Iterations at most.
    pub iterations: usize,
    /// Translations in a line's list at most.
    pub nbest_size: usize,
    /// Where random numbers start.
    pub seed: u64,
    /// Whether BLEU ignores the case of ASCII letters.
    pub case_insensitive: bool,
    /// Threads for translation and search of weights.
    pub threads: usize,
}

impl TuneOptions {
    /// The usual run over `configuration`.
    pub fn new(
        configuration: Configuration,
        source: PathBuf,
        references: Vec<PathBuf>,
        output: PathBuf,
    ) -> Self {
        let threads = configuration.settings.threads;
        TuneOptions {
            configuration,
            source,
            references,
            output,
            log: None,
            method: Method::default(),
            iterations: 15,
            nbest_size: 100,
            seed: 1,
            case_insensitive: false,
            threads,
        }
    }
}

/// What an iteration came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// The weights with which the text was translated: all components, in the order
    /// of [`System::features`].
    pub weights: Vec<f32>,
    /// BLEU of the translations, from 0 to 100.
    pub bleu: f64,
    /// What BLEU counted.
    pub counts: BleuCounts,
    /// Translations in the lists that were not there before.
    pub new_translations: usize,
}

/// What a tuning run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningReport {
    /// The iterations; the first translates with the weights that were given.
    pub iterations: Vec<Iteration>,
    /// Which of them is the best.
    pub best_index: usize,
}

impl TuningReport {
    /// The iteration whose weights were written.
    pub fn best(&self) -> &Iteration {
        &self.iterations[self.best_index]
    }
}

/// Iterations in a row without a better one before a run ends.
const PATIENCE: usize = 5;

/// Tunes the weights of a system and writes its ini with the best ones, whole or not
/// at all.
pub fn tune(options: &TuneOptions, progress: &dyn Progress) -> Result<TuningReport> {
    if options.iterations == 0 || options.nbest_size == 0 {
        return Err(Error::usage("tuning needs at least one iteration and lists of at least one"));
    }
    let configuration = &options.configuration;
    let template = ini_template::IniTemplate::read(configuration, &options.output)?;
    let text = DevSet::read(&options.source, &options.references, options.case_insensitive)?;
    let mut system = System::load(configuration, progress)?;
    let space = TunedComponents::new(&system)?;
    let mut lists = NBestLists::new(text.len(), space.tuned.len());
    let mut log = options.log.as_deref().map(TuningLog::create).transpose()?;
    let mut report = TuningReport { iterations: Vec::new(), best_index: 0 };
    loop {
        let number = report.iterations.len();
        progress.begin(&format!("tuning, round {}", number + 1), Some(text.len() as u64));
        let translated = text.translate(&system, &space, options, progress);
        progress.end();
        let (counts, found) = lists.merge(translated?);
        let weights = system.weights();
        let iteration = Iteration { bleu: counts.bleu(), counts, weights, new_translations: found };
        let line = format_log_line(number, &iteration, &system);
        tracing::info!("{line}");
        if let Some(log) = &mut log {
            log.write(&line)?;
        }
        report.iterations.push(iteration);
        if report.iterations[number].bleu > report.best().bleu {
            report.best_index = number;
        }
        let is_last = number + 1 >= options.iterations || number - report.best_index >= PATIENCE;
        if is_last || found == 0 {
            break;
        }
        let start = space.tuned_weights(&report.iterations[number].weights);
        let seed = random::derive_seed(options.seed, number as u64);
        let tuned = match options.method {
            Method::Mira => mira::optimise(&lists, &start, seed, options.threads),
            Method::Mert => {
                let best = space.tuned_weights(&report.best().weights);
                mert::optimise(&lists, &[start, best], seed, options.threads)
            }
        };
        let mut weights = report.iterations[number].weights.clone();
        space.write_weights(&tuned, &mut weights);
        system.set_weights(&weights);
    }
    template.write(&system, &report.best().weights, &options.output)?;
    if let Some(log) = log {
        log.finish(&report)?;
    }
    Ok(report)
}

/// Which components are tuned, and which are what they are.
struct TunedComponents {
    /// The components that are tuned.
    tuned: Vec<usize>,
    /// The others.
    fixed: Vec<usize>,
}

impl TunedComponents {
    fn new(system: &System) -> Result<Self> {
        let components = |tuneable| {
            let features = system.features().iter().filter(move |f| f.tuneable == tuneable);
            features.flat_map(|feature| feature.range.clone()).collect::<Vec<_>>()
        };
        let space = TunedComponents { tuned: components(true), fixed: components(false) };
        if space.tuned.is_empty() {
            return Err(Error::usage("no feature can be tuned: all have tuneable=false"));
        }
        Ok(space)
    }

    fn tuned_weights(&self, weights: &[f32]) -> Vec<f64> {
        l1_normalised(self.tuned.iter().map(|&component| f64::from(weights[component])).collect())
    }

    /// Puts tuned weights among those of all components.
    fn write_weights(&self, tuned: &[f64], weights: &mut [f32]) {
        for (&component, &weight) in self.tuned.iter().zip(tuned) {
            weights[component] = weight as f32;
        }
    }
}

/// Weights whose magnitudes sum to 1; all the same where there is nothing to scale.
fn l1_normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    if sum > 0.0 && sum.is_finite() {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        let count = weights.len() as f64;
        weights.fill(1.0 / count);
    }
    weights
}

fn format_log_line(number: usize, iteration: &Iteration, system: &System) -> String {
    let Iteration { bleu, counts, weights, new_translations: found } = iteration;
    let ratio = counts.hypothesis_len as f64 / counts.reference_len.max(1) as f64;
    let mut line = format!(
        "iteration {}: BLEU {bleu:.2} (length ratio {ratio:.3}), {found} new translations;",
        number + 1
    );
    for feature in system.features().iter().filter(|feature| feature.tuneable) {
        let _ = write!(line, " {}=", feature.name);
        for weight in &weights[feature.range.clone()] {
            let _ = write!(line, " {weight:.6}");
        }
    }
    line
}

/// The log as a file: a line an iteration, and which was the best.
struct TuningLog(Output);

impl TuningLog {
    fn create(path: &Path) -> Result<Self> {
        Ok(TuningLog(Output::create(path)?))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        self.0.write(format!("{line}\n").as_bytes())?;
        // For whoever follows a run.
        Ok(self.0.flush()?)
    }

    fn finish(mut self, report: &TuningReport) -> Result<()> {
        self.write(&format!("best: iteration {}", report.best_index + 1))?;
        Ok(self.0.finish()?)
    }
}
