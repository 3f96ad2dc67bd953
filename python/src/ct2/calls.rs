//! Calls of `Translator`: functions that read examples, queue them, and wait for the results.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex};

use miriam_nmt::Vocabulary;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::search::{GeneratedToken, Translation};
use miriam_nmt::translate::pool::{
    BatchLimits, Example, Pending, PoolError, Prepared, TokenObserver,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::arguments::{for_each_token, token_ids};
use super::results::{GenerationStepResult, Loaded, TranslationCall, wait};

/// The bytes of the tokens of each example.
type TokenBytes = Vec<Vec<Box<[u8]>>>;

/// Returns an autotuner with the results that the command line stored for this CPU.
pub(super) fn stored_tuner() -> Autotuner {
    let cpu = Cpu::detect();
    let file = Autotuner::default_cache_path().filter(|file| file.is_file());
    file.and_then(|file| Autotuner::load(cpu, &file).ok()).unwrap_or_else(|| Autotuner::new(cpu))
}

/// Runs Python's signal handlers. If one raises an exception, stores it and returns false.
pub(super) fn no_signal(interrupted: &mut Option<PyErr>) -> bool {
    if let Err(error) = Python::attach(|py| py.check_signals()) {
        *interrupted = Some(error);
    }
    interrupted.is_none()
}

/// Waits for all examples of a call. If a signal handler raises an exception, cancels the call.
pub(super) fn wait_or_cancel<R: Send + Sync>(
    py: Python<'_>,
    pending: &Arc<Pending<R>>,
) -> PyResult<()> {
    let waited = wait(py, |most| pending.wait_all(most).then_some(()));
    if waited.is_err() {
        py.detach(|| pending.cancel());
    }
    waited
}

/// Returns the ids of the tokens of several examples.
pub(super) fn read_ids(
    examples: &Bound<'_, PyAny>,
    name: &str,
    vocabulary: &Vocabulary,
) -> PyResult<Vec<Vec<u32>>> {
    let examples = examples.try_iter()?.enumerate();
    examples.map(|(index, tokens)| token_ids(&tokens?, (name, index), vocabulary)).collect()
}

/// Fails if an argument does not have as many examples as `source`.
///
/// # Errors
///
/// `RuntimeError` if it has fewer, as in CTranslate2; `ValueError` if it has more.
pub(super) fn check_lengths(sources: usize, others: usize, name: &str) -> PyResult<()> {
    let (relation, error): (_, fn(String) -> PyErr) = match others.cmp(&sources) {
        Ordering::Less => ("fewer", PyRuntimeError::new_err),
        Ordering::Equal => return Ok(()),
        Ordering::Greater => ("more", PyValueError::new_err),
    };
    Err(error(format!(
        "{name} has {relation} examples than source: {others} for {sources}; their lengths must \
         be equal"
    )))
}

/// Returns the examples of a call of `translate_batch`, and the bytes of the tokens of sources, if
/// `keep_bytes`.
pub(super) fn read_examples(
    source: &Bound<'_, PyAny>,
    target_prefix: Option<&Bound<'_, PyAny>>,
    loaded: &Loaded,
    keep_bytes: bool,
) -> PyResult<(Vec<Example>, TokenBytes)> {
    let vocabulary = loaded.source_vocabulary();
    let (sources, bytes) = if keep_bytes {
        read_ids_and_bytes(source, vocabulary)?
    } else {
        (read_ids(source, "source", vocabulary)?, Vec::new())
    };
    let mut prefixes = Vec::new();
    if let Some(all) = target_prefix {
        let vocabulary = loaded.target_vocabulary();
        for (index, tokens) in all.try_iter()?.enumerate() {
            let tokens = tokens?;
            prefixes.push(if tokens.is_none() {
                Vec::new()
            } else {
                token_ids(&tokens, ("target_prefix", index), vocabulary)?
            });
        }
        // CTranslate2 treats an empty list as missing.
        if prefixes.is_empty() {
            prefixes.resize(sources.len(), Vec::new());
        }
        check_lengths(sources.len(), prefixes.len(), "target_prefix")?;
        if prefixes.iter().any(|ids| !ids.is_empty()) && !loaded.pool.translator().takes_prefixes()
        {
            let message = "target_prefix: a model that generates from right to left does not support \
                           prefixes; leave it out";
            return Err(PyValueError::new_err(message));
        }
    }
    prefixes.resize(sources.len(), Vec::new());
    let pairs = sources.into_iter().zip(prefixes);
    let examples = pairs.map(|(source, prefix)| Example { source, prefix }).collect();
    Ok((examples, bytes))
}

/// Returns the ids and the bytes of the tokens of sources, which are read once: they may be
/// iterators.
fn read_ids_and_bytes(
    source: &Bound<'_, PyAny>,
    vocabulary: &Vocabulary,
) -> PyResult<(Vec<Vec<u32>>, TokenBytes)> {
    let examples = source.try_iter()?.enumerate().map(|(index, tokens)| {
        let mut ids = Vec::new();
        let mut bytes: Vec<Box<[u8]>> = Vec::new();
        for_each_token(&tokens?, ("source", index), |token| {
            ids.push(vocabulary.find(token).unwrap_or(vocabulary.unk_id()));
            bytes.push(token.into());
        })?;
        Ok((ids, bytes))
    });
    examples.collect()
}

/// Returns the ids of an option. In an asynchronous call, what is wrong with its tokens becomes the
/// error of the results, in `invalid`, as in CTranslate2.
pub(super) fn ids_or_later_error<T>(
    py: Python<'_>,
    ids: PyResult<Vec<T>>,
    asynchronous: bool,
    invalid: &mut Option<PoolError>,
) -> PyResult<Vec<T>> {
    match ids {
        Err(error) if asynchronous && error.is_instance_of::<PyValueError>(py) => {
            let reason = error.value(py).to_string();
            invalid.get_or_insert(PoolError::Invalid(reason));
            Ok(Vec::new())
        }
        ids => ids,
    }
}

/// Queues the examples of a call. If the queue is full and `may_wait` is set, waits for space in
/// it.
pub(super) fn submit(
    py: Python<'_>,
    call: &TranslationCall,
    limits: BatchLimits,
    observer: Option<Arc<TokenObserver>>,
    may_wait: bool,
) -> PyResult<Arc<Pending<Vec<Translation>>>> {
    let TranslationCall { loaded, examples, options, .. } = call;
    let max_input_length = call.max_input_length;
    let mut interrupted = None;
    let pending = py.detach(|| {
        let translator = loaded.pool.translator();
        let requests: Vec<Prepared> = examples
            .iter()
            .map(|example| translator.prepare_tokens(example, max_input_length, options))
            .collect();
        let mut task = options.task(translator, limits);
        task.observer = observer;
        let mut no_signal = || no_signal(&mut interrupted);
        let is_wanted = may_wait.then_some(&mut no_signal as &mut dyn FnMut() -> bool);
        loaded.pool.translate(task, requests, is_wanted)
    });
    interrupted.map_or(Ok(pending), Err)
}

/// Creates an observer that calls `callback` with each generated token. An exception ends the call.
pub(super) fn observer(
    callback: Py<PyAny>,
    loaded: &Arc<Loaded>,
    with_scores: bool,
    raised: Arc<Mutex<Option<PyErr>>>,
) -> Arc<TokenObserver> {
    let loaded = Arc::downgrade(loaded);
    Arc::new(move |batch_id, generated: GeneratedToken| {
        let GeneratedToken { step, sample_index, token, score, is_last } = generated;
        let stop = Python::try_attach(|py| -> PyResult<bool> {
            let Some(loaded) = loaded.upgrade() else { return Ok(true) };
            let result = GenerationStepResult {
                step,
                batch_id,
                token_id: token,
                hypothesis_id: sample_index,
                token: loaded.token(py, token),
                log_prob: with_scores.then_some(score),
                logits: None,
                is_last,
            };
            callback.bind(py).call1((result,))?.is_truthy()
        });
        match stop {
            Some(Ok(stop)) => stop,
            Some(Err(error)) => {
                let mut raised = raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                raised.get_or_insert(error);
                true
            }
            // The interpreter is shutting down.
            None => true,
        }
    })
}
