//! Tuning: weights that maximise BLEU on a development set.
//!
//! An iteration translates the text into n-best lists, and merges them with the lists of earlier
//! iterations. Then an optimiser of [`miriam_combine::optimizers`] searches for weights that rank
//! good translations of the lists first. Decoder and tuner are one process, so models stay loaded.
//!
//! The weights of each iteration are evaluated by the BLEU of their translations, and the best
//! weights are written to the new ini. Tuned weights are scaled so that their magnitudes sum to 1:
//! the search depends only on the order of scores, MIRA's step size assumes this scale, and weights
//! of several runs become comparable. If there are fixed weights (`tuneable=false`), the tuned
//! weights are not scaled, so that they keep their relation to the fixed ones.
//!
//! Nothing depends on the number of threads: lists are collected in the order of the
//! text, and random seeds are derived from the numbers of runs, not of threads.

mod dev_set;
mod ini_template;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use miriam_combine::optimizers::{NBestLists, derive_seed};
use miriam_metrics::bleu::BleuCounts;
use miriam_textio::{Output, Progress};

use crate::{Configuration, Error, Result, System};
use dev_set::{DevSet, DevSetChecks};

pub use miriam_combine::optimizers::TuningAlgorithm;

/// Options of a tuning run.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The system with its search settings and initial weights.
    pub configuration: Configuration,
    /// The source side of the development text.
    pub source: PathBuf,
    /// Its references, with the same number of lines each.
    pub references: Vec<PathBuf>,
    /// The ini to write.
    pub output: PathBuf,
    /// A log file, in addition to log messages: `NAME.partial` until the run ends.
    pub log: Option<PathBuf>,
    /// The optimiser of weights.
    pub method: TuningAlgorithm,
    /// The largest number of iterations.
    pub iterations: usize,
    /// The largest number of translations that an iteration lists for a line.
    pub nbest_size: usize,
    /// The seed of random numbers.
    pub seed: u64,
    /// Whether BLEU ignores the case of ASCII letters.
    pub case_insensitive: bool,
    /// The number of threads for translation and optimisation.
    pub threads: usize,
}

impl TuneOptions {
    /// Returns the options of a run over `configuration`, with defaults for the rest.
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
            method: TuningAlgorithm::default(),
            iterations: 15,
            nbest_size: 100,
            seed: 1,
            case_insensitive: false,
            threads,
        }
    }
}

/// The result of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// The weights with which the text was translated: all components, in the order
    /// of [`System::features`].
    pub weights: Vec<f32>,
    /// BLEU of the translations, from 0 to 100.
    pub bleu: f64,
    /// The BLEU statistics.
    pub counts: BleuCounts,
    /// The number of translations that were not yet in the lists.
    pub new_translations: usize,
}

/// The result of a tuning run.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningReport {
    /// The iterations; the first translates with the initial weights.
    pub iterations: Vec<Iteration>,
    /// The index of the best iteration.
    pub best_index: usize,
}

impl TuningReport {
    /// Returns the iteration whose weights were written.
    pub fn best(&self) -> &Iteration {
        &self.iterations[self.best_index]
    }
}

/// The run ends after this many iterations without improvement.
const PATIENCE: usize = 5;

/// Tunes the weights of a system and writes its ini with the best ones, atomically.
///
/// # Errors
///
/// If the texts or models cannot be read, the ini has `[weight-overwrite]`, no feature can be
/// tuned, no line has a translation as one sentence, or an output cannot be written. Also if
/// `options` allow no iteration or no list entry; [`Error::Cancelled`] if `progress` is cancelled.
///
/// # Examples
///
/// ```
/// use miriam_decoder::tuning::{TuneOptions, tune};
/// # use miriam_decoder::Configuration;
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let ini = folder.path().join("moses.ini");
/// # std::fs::write(
/// #     folder.path().join("phrase-table"),
/// #     "das ||| the ||| 0.5\ndas haus ||| the house ||| 0.25\nhaus ||| building ||| 0.25\n",
/// # )?;
/// # std::fs::write(
/// #     &ini,
/// #     "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
/// #      PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
/// #      [weight]\nUnknownWordPenalty0= 1\nDistortion0= 0.5\nTable= 1\n",
/// # )?;
/// let [source, reference, tuned] =
///     ["source", "reference", "tuned.ini"].map(|name| folder.path().join(name));
/// std::fs::write(&source, "das haus das haus\n")?;
/// std::fs::write(&reference, "the house the house\n")?;
/// let configuration = Configuration::from_ini(&ini)?;
/// let options = TuneOptions {
///     iterations: 2,
///     ..TuneOptions::new(configuration, source, vec![reference], tuned.clone())
/// };
/// let report = tune(&options, &NoProgress)?;
/// // With the initial weights, the translation equals the reference.
/// assert!((report.best().bleu - 100.0).abs() < 1e-9);
/// assert!(Configuration::from_ini(&tuned)?.weight_lines().contains("Table= "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tune(options: &TuneOptions, progress: &dyn Progress) -> Result<TuningReport> {
    if options.iterations == 0 || options.nbest_size == 0 {
        return Err(Error::usage("tuning needs at least one iteration and one entry per list"));
    }
    if options.iterations == 1 {
        tracing::warn!(
            "with one iteration, the text is translated with the initial weights, and nothing is \
             tuned; allow two or more"
        );
    }
    let configuration = &options.configuration;
    let template = ini_template::IniTemplate::read(configuration, &options.output)?;
    let text = DevSet::read(&options.source, &options.references, options.case_insensitive)?;
    if !configuration.rescoring.is_empty() {
        tracing::warn!(
            "{}, [rescore]: these models take no part in tuning, and their weights stay; `miriam \
             tune --n-best` tunes weights on n-best lists that have scores of such models",
            configuration.ini.display()
        );
    }
    let mut system = System::load_search(configuration, progress)?;
    let space = TunedComponents::new(&system)?;
    let mut lists = NBestLists::new(text.len(), space.tuned.len());
    let mut log = options.log.as_deref().map(TuningLog::create).transpose()?;
    let mut report = TuningReport { iterations: Vec::new(), best_index: 0 };
    loop {
        let number = report.iterations.len();
        let task = progress.task(&format!("tuning, round {}", number + 1), Some(text.len() as u64));
        let mut checks = DevSetChecks::default();
        let translated = text.translate(&system, &space, options, &mut checks, &task)?;
        drop(task);
        if number == 0 {
            checks.finish(text.len(), &options.source)?;
        }
        let (counts, found) = lists.merge(translated);
        let weights = system.weights();
        let iteration = Iteration { bleu: counts.bleu(), counts, weights, new_translations: found };
        let line = format_log_line(number, &iteration, &system);
        tracing::debug!("{line}");
        tracing::info!("{}", format_progress_line(number, &iteration, report.iterations.last()));
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
        let seed = derive_seed(options.seed, number as u64);
        let best = space.tuned_weights(&report.best().weights);
        let has_fixed = space.has_fixed_weights;
        let tuned =
            options.method.optimize(&lists, &start, &best, has_fixed, seed, options.threads);
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

/// The components that are tuned and those that are fixed.
struct TunedComponents {
    /// The components that are tuned.
    tuned: Vec<usize>,
    /// The fixed components.
    fixed: Vec<usize>,
    /// Whether the tuned weights must keep their relation to fixed ones. The weight of unknown
    /// words does not count: their scores outweigh all others on any scale.
    has_fixed_weights: bool,
}

impl TunedComponents {
    fn new(system: &System) -> Result<Self> {
        let features = system.features().iter();
        let tuned: Vec<usize> = features.flat_map(|feature| feature.tuned_components()).collect();
        let weights = system.weights();
        let fixed: Vec<usize> = (0..weights.len()).filter(|c| !tuned.contains(c)).collect();
        let unknown_words = system.plan.features.unknown_word.component();
        let has_fixed_weights = fixed.iter().any(|&c| c != unknown_words && weights[c] != 0.0);
        let space = TunedComponents { tuned, fixed, has_fixed_weights };
        if space.tuned.is_empty() {
            return Err(Error::usage("no feature can be tuned: all have tuneable=false"));
        }
        Ok(space)
    }

    fn tuned_weights(&self, weights: &[f32]) -> Vec<f64> {
        self.tuned.iter().map(|&component| f64::from(weights[component])).collect()
    }

    /// Writes the tuned weights to their components in `weights`, which has all components.
    fn write_weights(&self, tuned: &[f64], weights: &mut [f32]) {
        for (&component, &weight) in self.tuned.iter().zip(tuned) {
            weights[component] = weight as f32;
        }
    }
}

/// Returns the BLEU of an iteration and its change from the one before; weights are in the log
/// file.
fn format_progress_line(
    number: usize,
    iteration: &Iteration,
    before: Option<&Iteration>,
) -> String {
    let Iteration { bleu, new_translations: found, .. } = iteration;
    let change = before.map(|before| format!("{:+.2}, ", bleu - before.bleu)).unwrap_or_default();
    format!("iteration {}: BLEU {bleu:.2} ({change}{found} new translations)", number + 1)
}

fn format_log_line(number: usize, iteration: &Iteration, system: &System) -> String {
    let Iteration { bleu, counts, weights, new_translations: found } = iteration;
    let ratio = counts.hypothesis_len as f64 / counts.reference_len.max(1) as f64;
    let mut line = format!(
        "iteration {}: BLEU {bleu:.2} (length ratio {ratio:.3}), {found} new translations;",
        number + 1
    );
    for feature in system.features().iter().filter(|feature| feature.is_tuneable()) {
        let _ = write!(line, " {}=", feature.name);
        for weight in &weights[feature.range.clone()] {
            let _ = write!(line, " {weight:.6}");
        }
    }
    line
}

/// The log file: one line per iteration, and the best iteration.
struct TuningLog(Output);

impl TuningLog {
    fn create(path: &Path) -> Result<Self> {
        Ok(TuningLog(Output::create(path)?))
    }

    fn write(&mut self, line: &str) -> Result<()> {
        self.0.write(format!("{line}\n").as_bytes())?;
        // The log can be followed under the name `NAME.partial`, which it has until the run ends.
        Ok(self.0.flush()?)
    }

    fn finish(mut self, report: &TuningReport) -> Result<()> {
        self.write(&format!("best: iteration {}", report.best_index + 1))?;
        Ok(self.0.finish()?)
    }
}
