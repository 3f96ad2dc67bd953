//! `miriam.train`: phrase-based systems and neural models from parallel text.

use std::path::PathBuf;

use miriam_align::AlignModel;
use miriam_decoder::tuning::TuningAlgorithm;
use miriam_pipeline::{LanguagePair, LmKind, NeuralOptions, TrainOptions, TrainSummary, Tuning};
use miriam_textio::find_swapped_sides;
use miriam_textproc::NonbreakingPrefixes;
use miriam_trainer::options::RawOptions;
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::Outcome;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::align::symmetrization;
use crate::errors::{os_error, unknown_choice, value_error};
use crate::interrupt::{Listeners, Observer, run_observed};
use crate::lm::thread_count;
use crate::open::on_own_threads;

/// The path of the ini; the numbers of used pairs and of all pairs, of links, of phrase pairs, and
/// of n-grams of each order; BLEU of the dev text before and after tuning; BLEU by the neural
/// models and by the combination.
type PhraseSystem =
    (PathBuf, (u64, u64), u64, u64, Vec<u64>, Option<(f64, f64)>, Option<CombinationBleu>);

/// BLEU by the neural model, by that model after further training on back-translated text, and by
/// the combination.
type CombinationBleu = (f64, Option<f64>, f64);

/// The preset, configurations, size of the vocabulary, texts to translate back, and number of
/// neural candidates.
type NeuralArguments = (Option<String>, Vec<PathBuf>, Option<usize>, Vec<PathBuf>, usize);

/// Converts an error: `OSError` for files, `ValueError` for arguments, `RuntimeError` for diverged
/// training.
fn training_error(error: miriam_trainer::Error) -> PyErr {
    use miriam_trainer::Error;
    match error {
        Error::Text(miriam_textio::Error::LineCountMismatch { .. }) => value_error(error),
        Error::Text(_) | Error::File(_) | Error::Resume { .. } => os_error(error),
        Error::Diverged(_) => PyRuntimeError::new_err(error.to_string()),
        _ => value_error(error),
    }
}

fn pipeline_error(error: miriam_pipeline::Error) -> PyErr {
    use miriam_pipeline::Error;
    match error {
        Error::EmptyCorpus { .. } | Error::Text(miriam_textio::Error::LineCountMismatch { .. }) => {
            value_error(error)
        }
        Error::Trainer(error) => training_error(error),
        _ if error.is_invalid_option() => value_error(error),
        _ => os_error(error),
    }
}

/// Warns if source and target of the dev text seem to be swapped.
fn warn_of_swapped_sides(
    train: [&PathBuf; 2],
    dev: [&PathBuf; 2],
    observer: &Observer,
) -> Result<(), miriam_textio::Error> {
    if let Some(warning) =
        find_swapped_sides(train.map(PathBuf::as_path), dev.map(PathBuf::as_path))?
    {
        observer.warn(&warning.to_string());
    }
    Ok(())
}

/// Trains a neural model. Returns the outcome of the training and the path of the model.
#[pyfunction]
#[pyo3(signature = (options, output, *, configs, task, vocab_size, plot, threads, progress, log))]
#[expect(clippy::too_many_arguments, reason = "the Python file has defaults for all")]
pub fn train_neural(
    py: Python<'_>,
    options: Vec<(String, Vec<String>)>,
    output: PathBuf,
    configs: Vec<PathBuf>,
    task: Option<&str>,
    vocab_size: Option<usize>,
    plot: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    log: Option<Py<PyAny>>,
) -> PyResult<(&'static str, PathBuf)> {
    let mut given = RawOptions::default();
    for (name, values) in options {
        given.set(&name, values).map_err(value_error)?;
    }
    let mut given = given.or_else_from_files(&configs, task).map_err(training_error)?;
    match (given.has_workers(), threads) {
        (true, 0) => {}
        (true, _) => return Err(value_error("threads and the option workers are exclusive")),
        (false, _) => {
            let workers = thread_count(threads)?.to_string();
            given.set("workers", vec![workers]).map_err(value_error)?;
        }
    }
    let workers = given.workers().map_err(training_error)?;
    let sides = ["train-sets", "valid-sets"].map(|name| given.get_strings(name));
    let texts = match (&sides[0][..], &sides[1][..]) {
        ([source, target], [dev_source, dev_target]) => {
            Some([[source, target], [dev_source, dev_target]].map(|pair| pair.map(PathBuf::from)))
        }
        _ => None,
    };
    let request =
        TrainingRequest { options: given, folder: Some(output), vocab_size, plot, dry_run: false };
    let listeners = Listeners { progress, log };
    let trained = run_observed(py, &listeners, |observer| {
        on_own_threads(workers, || {
            if let Some([train, dev]) = &texts {
                warn_of_swapped_sides(train.each_ref(), dev.each_ref(), observer)?;
            }
            let (log, warn) =
                (&mut |line: &str| observer.log(line), &mut |text: &str| observer.warn(text));
            request.run(&observer.stop, observer, log, warn)
        })
    })?;
    let trained = trained.map_err(PyRuntimeError::new_err)?;
    let Summary::Trained { outcome, model } = trained.map_err(training_error)? else {
        unreachable!("memory is not counted")
    };
    let outcome = match outcome {
        Outcome::Finished => "finished",
        Outcome::EarlyStopped => "early-stopped",
        Outcome::Cancelled => "cancelled",
        Outcome::AlreadyFinished => "already-finished",
    };
    Ok((outcome, model))
}

/// Trains a phrase-based system.
#[pyfunction]
#[pyo3(signature = (source, target, output, *, dev, lm_text, languages, nonbreaking_prefixes,
                    max_words, max_ratio, alignment_model, symmetrize, max_length, reordering, lm_order, lm_prune,
                    lm_type, tune, seed, iterations, neural, text, keep_work, memory, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "the Python file has defaults for all")]
pub fn train_phrase(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    output: PathBuf,
    dev: Option<(PathBuf, PathBuf)>,
    lm_text: Vec<PathBuf>,
    languages: Option<(String, String)>,
    nonbreaking_prefixes: (Option<PathBuf>, Option<PathBuf>),
    max_words: usize,
    max_ratio: usize,
    alignment_model: &str,
    symmetrize: &str,
    max_length: usize,
    reordering: Option<String>,
    lm_order: usize,
    lm_prune: Vec<u64>,
    lm_type: &str,
    tune: Option<&str>,
    seed: u64,
    iterations: Option<usize>,
    neural: Option<NeuralArguments>,
    text: bool,
    keep_work: bool,
    memory: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<PhraseSystem> {
    let method = match tune {
        None => None,
        Some("mira") => Some(TuningAlgorithm::Mira),
        Some("mert") => Some(TuningAlgorithm::Mert),
        Some("pro") => Some(TuningAlgorithm::Pro),
        Some(other) => {
            return Err(unknown_choice("tune", other, "\"mira\", \"mert\", \"pro\" or None"));
        }
    };
    let mut options = TrainOptions {
        dev,
        lm_text,
        raw_languages: languages.map(|(source, target)| LanguagePair { source, target }),
        nonbreaking_prefixes: nonbreaking_prefixes.into(),
        max_words,
        max_ratio,
        alignment_model: match alignment_model {
            "ibm2" => AlignModel::Ibm2,
            "hmm" => AlignModel::Hmm,
            other => return Err(unknown_choice("alignment_model", other, "\"ibm2\" or \"hmm\"")),
        },
        symmetrization: symmetrization(symmetrize)?,
        max_length,
        reordering,
        lm_order,
        lm_prune,
        lm_kind: match lm_type {
            "probing" => LmKind::Probing,
            "trie" => LmKind::Trie,
            other => return Err(unknown_choice("lm_type", other, "\"probing\" or \"trie\"")),
        },
        tuning: method.map(|method| Tuning { method, iterations }),
        seed,
        neural: neural.map(|(task, configs, vocab_size, back_translate, candidates)| {
            NeuralOptions { task, configs, vocab_size, back_translate, candidates }
        }),
        keep_text: text,
        keep_work,
        threads: thread_count(threads)?,
        ..TrainOptions::new(source, target, output)
    };
    options.memory = memory.unwrap_or(options.memory);
    let listeners = Listeners { progress, log: None };
    let trained = run_observed(py, &listeners, |observer| {
        on_own_threads(options.threads, || {
            let languages = options.raw_languages.iter().flat_map(|raw| [&raw.source, &raw.target]);
            for (language, list) in languages.zip(&options.nonbreaking_prefixes) {
                let warning = NonbreakingPrefixes::unknown_language_warning(language);
                if let (Some(warning), None) = (warning, list) {
                    observer.warn(&warning);
                }
            }
            if let Some((source, target)) = &options.dev {
                let train = [&options.source, &options.target];
                warn_of_swapped_sides(train, [source, target], observer)?;
            }
            miriam_pipeline::train(&options, observer)
        })
    })?;
    let trained = trained.map_err(PyRuntimeError::new_err)?;
    let TrainSummary { ini, pairs, links, phrase_pairs, ngrams, dev, combination, .. } =
        trained.map_err(pipeline_error)?;
    let combination = combination.map(|bleu| (bleu.neural, bleu.augmented, bleu.combined));
    Ok((ini, pairs, links, phrase_pairs, ngrams, dev.and_then(|dev| dev.bleu), combination))
}
