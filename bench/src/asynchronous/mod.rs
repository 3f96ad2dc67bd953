//! Study of asynchronous SGD on a simulated machine: the systems of Bogoychev's thesis.
//!
//! Each system trains with each seed in one thread and in its own folder, so that training runs
//! take place in parallel and a stopped study can be resumed. The study compares the quality of
//! systems by epoch and by simulated time. It does not depend on the speed of this machine.

mod chart;
mod progress;
mod report;
mod systems;
mod training;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_textio::{CancellationToken, NoProgress, Output, Progress};
use miriam_trainer::ParameterLayout;
use miriam_trainer::asynchronous::simulation::Machine;
use miriam_trainer::load_data;
use miriam_trainer::options::RawOptions;
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::Outcome;
use serde_json::{Value, json};

use crate::description::{describe_text, find_difference};
use crate::error::{Error, Result, cannot};
use crate::scaling::write_file;
use progress::StudyProgress;
use report::Study;
use systems::Scale;
pub use systems::{NUM_THESIS_SYSTEMS, SYSTEMS, System};
use training::Trainee;

/// The thesis's architecture, small enough for a study on a few cores.
const SHALLOW_GRU: &str = "type: s2s\nenc-cell: gru\ndec-cell: gru\ndim-emb: 64\ndim-rnn: 64\n\
                           tied-embeddings-all: true\ndropout-rnn: 0.1\nmax-length: 100\n\
                           maxi-batch: 1000\nbeam-size: 1\n";

/// Options of the study.
#[derive(Clone, Debug)]
pub struct AsyncOptions {
    /// Source and target of the training text.
    pub train: [PathBuf; 2],
    /// Source and target of the validation text.
    pub dev: [PathBuf; 2],
    /// The folder to write to.
    pub output: PathBuf,
    /// The systems to compare, at least one.
    pub systems: Vec<System>,
    /// Seeds, at least one.
    pub seeds: Vec<u64>,
    /// The number of epochs of each training run, or the largest number with early stopping.
    pub epochs: u64,
    /// The number of validations without a lower cross-entropy after which a training run ends; 0
    /// for no early stopping.
    pub early_stopping: u64,
    /// The number of workers if `machine` is `None`.
    pub workers: usize,
    /// The description of the simulated machine; `None` for the thesis's machine.
    pub machine: Option<PathBuf>,
    /// The number of target words of a large batch.
    pub batch_words: usize,
    /// The learning rate for large batches.
    pub rate: f64,
    /// The number of pieces of the vocabulary, if not the default.
    pub vocab_size: Option<usize>,
    /// Options of the model; `None` for a small GRU.
    pub model: Option<RawOptions>,
    /// The number of training runs at once, at least one.
    pub threads: usize,
}

/// Trains every system, prints a table, and writes `study.csv` (one line per training run),
/// `curves.csv` (one line per validation), `by-epoch.svg` and `by-time.svg`. Returns whether all
/// systems were trained: false if `stop` was cancelled.
///
/// # Errors
/// If options are invalid, the folder has the runs of another study, a training run fails, or a
/// file cannot be read or written.
pub fn run(
    options: &AsyncOptions,
    stop: &CancellationToken,
    progress: &dyn Progress,
    out: &mut dyn Write,
) -> Result<bool> {
    check(options)?;
    let Some(study) = prepare(options, stop)? else { return Ok(false) };
    let tasks: Vec<(System, u64)> = options
        .seeds
        .iter()
        .flat_map(|&seed| options.systems.iter().map(move |&system| (system, seed)))
        .collect();
    let run_words = study.scale.epochs * study.scale.epoch_words;
    let progress = StudyProgress::begin(progress, tasks.len(), run_words);
    let next = AtomicUsize::new(0);
    let results = Mutex::new((0..tasks.len()).map(|_| None).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        (0..options.threads.min(tasks.len())).for_each(|_| {
            drop(scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(system, seed)) = tasks.get(place) else { break };
                    let run = progress.run(place);
                    let result = study.train(&system, seed, &run, stop);
                    let continues = matches!(result, Ok(Some(_)));
                    if result.is_err() {
                        // The other training runs save their state and end, so that the error is
                        // reported soon.
                        stop.cancel();
                    }
                    results.lock().expect("no thread panics")[place] = Some(result);
                    if !continues {
                        next.store(tasks.len(), Ordering::Relaxed);
                        break;
                    }
                    run.finish();
                }
            }))
        });
    });
    drop(progress);
    let results = results.into_inner().expect("no thread panics");
    let mut trained = Study::new(options);
    let mut is_complete = true;
    for result in results {
        match result.transpose()?.flatten() {
            Some(training) => trained.add(training),
            None => is_complete = false,
        }
    }
    if !is_complete {
        return Ok(false);
    }
    let folder = &options.output;
    for (name, text) in [
        ("study.csv", trained.runs_csv()),
        ("curves.csv", trained.curves_csv()),
        ("by-epoch.svg", chart::by_epoch(&trained).to_svg()),
        ("by-time.svg", chart::by_time(&trained).to_svg()),
    ] {
        write_file(folder, name, &text)?;
    }
    out.write_all(trained.table().as_bytes())?;
    Ok(true)
}

/// The number of sentence pairs of the training text whose cross-entropy is measured at each
/// validation.
const TRAINING_SAMPLE: usize = 1000;

/// Options that the study or its systems set and that a configuration of the model may not set.
const SET_BY_SYSTEMS: &[&str] = &[
    "after",
    "after-batches",
    "after-epochs",
    "async-sgd",
    "batch-flexible-lr",
    "batch-normal-words",
    "count-target-words",
    "cpu-threads",
    "disp-freq",
    "early-stopping",
    "grad-dropping-momentum",
    "grad-dropping-rate",
    "grad-dropping-warmup",
    "gradient-buffer",
    "learn-rate",
    "local-optimizer-batches",
    "local-optimizer-params",
    "local-optimizer-shard",
    "lr-cycle",
    "lr-decay",
    "lr-decay-inv-sqrt",
    "lr-random",
    "lr-warmup",
    "mini-batch",
    "mini-batch-fit",
    "mini-batch-words",
    "mini-batch-words-ref",
    "model",
    "momentum-schedule",
    "optimizer",
    "optimizer-delay",
    "optimizer-params",
    "overwrite",
    "save-freq",
    "seed",
    "simulate-async",
    "train-ce-sample",
    "train-sets",
    "valid-freq",
    "valid-metrics",
    "valid-sets",
    "vocabs",
    "workers",
];

/// Rejects repeated seeds and systems, and options of the model that the systems set.
fn check(options: &AsyncOptions) -> Result<()> {
    if let Some(seed) = find_repeated(&options.seeds) {
        let message = format!("--seeds: {seed} is given twice");
        return Err(Error::unmeasurable(message));
    }
    if let Some(system) = find_repeated(&options.systems) {
        let message = format!("--systems: {} is given twice", system.name);
        return Err(Error::unmeasurable(message));
    }
    match SET_BY_SYSTEMS
        .iter()
        .find(|name| options.model.as_ref().is_some_and(|model| model.is_given(name)))
    {
        Some(name) => Err(Error::unmeasurable(format!(
            "--config: {name} is set by the systems that are compared; remove it; presets (task) \
             set it too: give the options of the model in their place"
        ))),
        None => Ok(()),
    }
}

fn find_repeated<T: PartialEq>(values: &[T]) -> Option<&T> {
    let mut places = values.iter().enumerate();
    places.find(|(at, value)| values[..*at].contains(value)).map(|(_, value)| value)
}

/// The file that describes the study: the settings on which its results depend and which resumed
/// training runs do not check themselves.
const DESCRIPTION: &str = "study.json";

/// Returns the description of a study.
fn describe_study(options: &AsyncOptions) -> Result<Value> {
    let dev = options.dev.iter().map(|side| {
        let text = fs::read(side).map_err(cannot("read this file", side))?;
        Ok(describe_text(&text))
    });
    Ok(json!({
        "validation text": dev.collect::<Result<Vec<Value>>>()?,
        "early stopping": options.early_stopping,
    }))
}

/// Checks that the study in `path`, if there is one, is `study`.
fn check_description(path: &Path, study: &Value) -> Result<()> {
    let saved = match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(cannot("read this file", path))?,
    };
    let reason = match serde_json::from_slice(&saved) {
        Ok(saved) => match find_difference("", &saved, study) {
            Some(difference) => {
                format!("the folder has the runs of another study: {difference}")
            }
            None => return Ok(()),
        },
        Err(_) => "this description of the study is damaged".to_owned(),
    };
    Err(Error::unmeasurable(format!("{}: {reason}; give -o another folder", path.display())))
}

/// Creates the folder and the vocabulary, and counts the words of the corpus. Returns `None` if
/// `stop` was cancelled.
fn prepare(options: &AsyncOptions, stop: &CancellationToken) -> Result<Option<Trainee>> {
    let folder = &options.output;
    fs::create_dir_all(folder).map_err(cannot("make this folder", folder))?;
    let (description, study) = (folder.join(DESCRIPTION), describe_study(options)?);
    check_description(&description, &study)?;
    let base = match &options.model {
        Some(model) => model.clone(),
        None => RawOptions::from_yaml(SHALLOW_GRU.as_bytes(), "the model of the study")?,
    };
    fn text(path: &Path) -> String {
        path.display().to_string()
    }
    let mut given = RawOptions::default();
    let vocabulary = text(&folder.join("vocab.spm"));
    for (name, values) in [
        ("train-sets", options.train.iter().map(|path| text(path)).collect()),
        ("valid-sets", options.dev.iter().map(|path| text(path)).collect()),
        ("vocabs", vec![vocabulary.clone(), vocabulary]),
        ("after", vec![format!("{}e", options.epochs)]),
        ("early-stopping", vec![options.early_stopping.to_string()]),
        ("valid-metrics", vec!["ce-mean-words".into(), "bleu".into()]),
        ("train-ce-sample", vec![TRAINING_SAMPLE.to_string()]),
        ("workers", vec!["1".into()]),
        ("overwrite", vec!["true".into()]),
    ] {
        given.set(name, values)?;
    }
    let base = given.or_else_from(base);
    // A dry run checks all options and builds the vocabulary, on all threads.
    let mut threaded = base.clone();
    threaded.set("workers", vec![options.threads.to_string()])?;
    let request = TrainingRequest {
        options: threaded,
        folder: Some(folder.clone()),
        vocab_size: options.vocab_size,
        plot: None,
        dry_run: true,
    };
    let (log, warn) =
        (&mut |line: &str| tracing::info!("{line}"), &mut |text: &str| tracing::warn!("{text}"));
    let summary = request.run(stop, &NoProgress, log, warn)?;
    if matches!(summary, Summary::Trained { outcome: Outcome::Cancelled, .. }) {
        return Ok(None);
    }
    let text = serde_json::to_string_pretty(&study).expect("keys are strings");
    Output::write_file(&description, format!("{text}\n").as_bytes())?;
    let paths = [folder.join("vocab.spm"), folder.join("vocab.spm")];
    let tokenizers = load_data::open_vocabularies(&paths, [0, 0])?;
    let sizes = [0, 1].map(|side| tokenizers.vocabularies[side].len());
    let config = base.training_config(sizes)?;
    let corpus = load_data::read_corpus(
        &base.training_files()?,
        &tokenizers,
        config.length_limit,
        false,
        base.case_augmentation()?,
        &NoProgress,
        // The dry run has already logged these messages.
        &mut |_| {},
    )?;
    let mut scale = Scale {
        batch_words: options.batch_words,
        rate: options.rate,
        epoch_words: corpus.num_tokens()[1] as u64,
        epochs: options.epochs,
        workers: options.workers,
    };
    let machine_path = folder.join("machine.toml");
    let description = match &options.machine {
        Some(path) => fs::read_to_string(path).map_err(cannot("read", path))?,
        None => scale.thesis_machine(ParameterLayout::new(&config.architecture).len()),
    };
    let machine = Machine::parse(&description).map_err(|reason| {
        let path = options.machine.as_deref().unwrap_or(&machine_path);
        Error::unmeasurable(format!("{}: {reason}", path.display()))
    })?;
    scale.workers = machine.workers;
    Output::write_file(&machine_path, description.as_bytes())?;
    let model_bytes = 4 * ParameterLayout::new(&config.architecture).len() as u64;
    Ok(Some(Trainee { base, scale, machine, machine_path, model_bytes, folder: folder.clone() }))
}
