//! Classes of results: finished and pending translations and scores, and steps of generation.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use miriam_nmt::Vocabulary;
use miriam_nmt::network::ForcedScores;
use miriam_nmt::search::Translation;
use miriam_nmt::translate::Translator;
use miriam_nmt::translate::pool::{
    DecodingOptions, Example, Pending, PoolError, PoolResult, ScoredTokens, ScoringExample,
    TextBatch, TokenTranslations, TranslatorPool,
};
use pyo3::exceptions::{PyDeprecationWarning, PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::interrupt::INTERVAL;

/// A loaded model with the Python strings of its target tokens.
pub struct Loaded {
    pub pool: TranslatorPool,
    pub compute_type: &'static str,
    strings: Box<[PyOnceLock<Py<PyString>>]>,
}

impl Loaded {
    pub fn new(pool: TranslatorPool, compute_type: &'static str) -> Self {
        let count = pool.translator().vocabularies()[1].len();
        let strings = (0..count).map(|_| PyOnceLock::new()).collect();
        Loaded { pool, compute_type, strings }
    }

    pub fn source_vocabulary(&self) -> &Vocabulary {
        self.pool.translator().vocabularies()[0]
    }

    pub fn target_vocabulary(&self) -> &Vocabulary {
        self.pool.translator().vocabularies()[1]
    }

    fn token_bytes(&self, id: u32) -> &[u8] {
        self.target_vocabulary().word(id).unwrap_or_default()
    }

    /// Returns the string of a target token, the same object each time.
    pub fn token(&self, py: Python<'_>, id: u32) -> Py<PyString> {
        match self.strings.get(id as usize) {
            Some(string) => string.get_or_init(py, || self.new_token(py, id)).clone_ref(py),
            None => self.new_token(py, id),
        }
    }

    fn new_token(&self, py: Python<'_>, id: u32) -> Py<PyString> {
        PyString::new(py, &String::from_utf8_lossy(self.token_bytes(id))).unbind()
    }
}

/// Waits until `ready` returns a value, with the interpreter's lock released. An exception of a
/// signal handler ends the wait.
pub fn wait<T: Send>(
    py: Python<'_>,
    mut ready: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    if let Some(result) = ready(Duration::ZERO) {
        return Ok(result);
    }
    loop {
        if let Some(result) = py.detach(|| ready(INTERVAL)) {
            return Ok(result);
        }
        py.check_signals()?;
    }
}

/// The state that the examples of a call share.
pub struct TranslationCall {
    pub loaded: Arc<Loaded>,
    pub pending: Arc<Pending<Vec<Translation>>>,
    pub examples: Vec<Example>,
    /// The bytes of the source tokens, if unknown target tokens are replaced by them; otherwise
    /// empty.
    pub sources: Vec<Vec<Box<[u8]>>>,
    pub options: DecodingOptions,
    pub max_input_length: usize,
    pub keep_end: bool,
    /// The exception that the callback raised.
    pub raised: Arc<Mutex<Option<PyErr>>>,
}

impl TranslationCall {
    /// Returns the result of a finished example.
    pub fn result(
        self: &Arc<Self>,
        py: Python<'_>,
        index: usize,
        result: PoolResult<Vec<Translation>>,
    ) -> PyResult<TranslationResult> {
        let raised = self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(raised) = &*raised {
            return Err(raised.clone_ref(py));
        }
        drop(raised);
        let found = result.map_err(exception)?;
        let loaded = &self.loaded;
        let found = loaded.pool.translator().finish_tokens(
            &self.examples[index],
            self.max_input_length,
            &self.options,
            self.keep_end,
            &found,
        );
        Ok(TranslationResult { loaded: Arc::clone(loaded), call: Arc::clone(self), index, found })
    }

    pub fn wait(self: &Arc<Self>, py: Python<'_>, index: usize) -> PyResult<TranslationResult> {
        let result = wait(py, |most| self.pending.wait(index, most))?;
        self.result(py, index, result)
    }
}

/// Returns the exception for an error.
pub fn exception(error: PoolError) -> PyErr {
    match error {
        PoolError::Invalid(reason) => PyValueError::new_err(reason),
        PoolError::Failed(reason) => PyRuntimeError::new_err(reason),
        PoolError::Cancelled => PyRuntimeError::new_err("the call was cancelled"),
    }
}

/// The translations of an example.
#[pyclass(frozen, module = "miriam.ct2")]
pub struct TranslationResult {
    loaded: Arc<Loaded>,
    call: Arc<TranslationCall>,
    index: usize,
    found: TokenTranslations,
}

impl TranslationResult {
    fn tokens<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyList>> {
        let tokens = self.found.hypotheses[number].iter();
        let list = PyList::new(py, tokens.map(|&id| self.loaded.token(py, id)))?;
        if let Some(replacements) = self.found.replacements.get(number) {
            for &(position, source) in replacements {
                let token = String::from_utf8_lossy(&self.call.sources[self.index][source]);
                list.set_item(position, token)?;
            }
        }
        Ok(list)
    }

    /// Returns the tokens of each translation, joined by spaces.
    fn joined_bytes(&self) -> impl Iterator<Item = Vec<u8>> {
        self.found.hypotheses.iter().enumerate().map(move |(number, tokens)| {
            let replacements = self.found.replacements.get(number);
            let mut replacements = replacements.into_iter().flatten().peekable();
            let mut text = Vec::new();
            for (position, &id) in tokens.iter().enumerate() {
                if position > 0 {
                    text.push(b' ');
                }
                match replacements.next_if(|(replaced, _)| *replaced == position) {
                    Some(&(_, source)) => {
                        text.extend_from_slice(&self.call.sources[self.index][source]);
                    }
                    None => text.extend_from_slice(self.loaded.token_bytes(id)),
                }
            }
            text
        })
    }
}

#[pymethods]
impl TranslationResult {
    /// The tokens of each translation, best first.
    #[getter]
    fn hypotheses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let lists = (0..self.found.hypotheses.len()).map(|number| self.tokens(py, number));
        PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
    }

    /// The score of each translation; empty unless `return_scores` was set.
    #[getter]
    fn scores(&self) -> Vec<f32> {
        self.found.scores.clone()
    }

    /// The attention of each token of each translation to the source tokens; empty unless
    /// `return_attention` was set.
    #[getter]
    fn attention(&self) -> Vec<Vec<Vec<f32>>> {
        self.found.attention.clone()
    }

    /// Empty, because `return_logits_vocab` is not supported.
    #[getter]
    fn logits<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        PyList::empty(py)
    }

    /// Each translation as one string, its tokens joined by spaces.
    #[getter]
    fn joined(&self) -> Vec<String> {
        let texts = self.joined_bytes();
        texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
    }

    /// Does the same as `joined` without changing bytes that are not UTF-8.
    #[getter]
    fn _joined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.joined_bytes().map(|text| PyBytes::new(py, &text)).collect::<Vec<_>>())
    }

    fn __len__(&self) -> usize {
        self.found.hypotheses.len()
    }

    /// Returns a hypothesis as a dict, for code that expects the list of dicts that old versions of
    /// CTranslate2 returned.
    fn __getitem__<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let category = py.get_type::<PyDeprecationWarning>();
        let message =
            c"a TranslationResult is no longer a list: use its attributes hypotheses, scores and \
                        attention";
        PyErr::warn(py, &category, message, 1)?;
        if index >= self.found.hypotheses.len() {
            return Err(PyIndexError::new_err("index out of range"));
        }
        let item = PyDict::new(py);
        item.set_item("tokens", self.tokens(py, index)?)?;
        if let Some(score) = self.found.scores.get(index) {
            item.set_item("score", score)?;
        }
        if let Some(attention) = self.found.attention.get(index) {
            item.set_item("attention", attention)?;
        }
        Ok(item)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "TranslationResult(hypotheses={}, scores={}, attention={}, logits=[])",
            self.hypotheses(py)?.repr()?,
            PyList::new(py, self.scores())?.repr()?,
            PyList::new(py, self.attention())?.repr()?,
        ))
    }
}

/// The scores of the tokens of a given translation.
#[pyclass(frozen, module = "miriam.ct2")]
pub struct ScoringResult {
    loaded: Arc<Loaded>,
    found: ScoredTokens,
}

#[pymethods]
impl ScoringResult {
    /// The tokens; the last one is the end of the sentence.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> Vec<Py<PyString>> {
        self.found.tokens.iter().map(|&id| self.loaded.token(py, id)).collect()
    }

    /// The natural log-probability of each token.
    #[getter]
    fn log_probs(&self) -> Vec<f32> {
        self.found.log_probs.clone()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "ScoringResult(tokens={}, log_probs={})",
            PyList::new(py, self.tokens(py))?.repr()?,
            PyList::new(py, self.log_probs())?.repr()?,
        ))
    }
}

/// The state that the examples of a scoring call share.
pub struct ScoringCall {
    pub loaded: Arc<Loaded>,
    pub pending: Arc<Pending<ForcedScores>>,
    pub examples: Vec<ScoringExample>,
    pub max_input_length: usize,
    pub offset: usize,
}

impl ScoringCall {
    pub fn wait(&self, py: Python<'_>, index: usize) -> PyResult<ScoringResult> {
        let scores = wait(py, |most| self.pending.wait(index, most))?.map_err(exception)?;
        let (example, length) = (&self.examples[index], self.max_input_length);
        let translator = self.loaded.pool.translator();
        let found = translator.finish_score(example, length, self.offset, &scores);
        Ok(ScoringResult { loaded: Arc::clone(&self.loaded), found })
    }
}

/// Calls `callback` when all examples of a call are done.
fn call_when_done<R>(pending: &Pending<R>, callback: Py<PyAny>) {
    pending.on_all_done(move || {
        // If the interpreter is shutting down, the callback is not called.
        Python::try_attach(|py| {
            if let Err(error) = callback.call0(py) {
                error.write_unraisable(py, None);
            }
            drop(callback);
        });
    });
}

/// The pending translations of an example.
#[pyclass(frozen, module = "miriam.ct2")]
pub struct AsyncTranslationResult {
    pub(super) call: Arc<TranslationCall>,
    pub(super) index: usize,
}

#[pymethods]
impl AsyncTranslationResult {
    /// Waits for the result and returns it, or raises its error.
    fn result(&self, py: Python<'_>) -> PyResult<TranslationResult> {
        self.call.wait(py, self.index)
    }

    /// Whether the result is available.
    fn done(&self) -> bool {
        self.call.pending.is_done(self.index)
    }

    /// Drops all unfinished examples of the call.
    fn _cancel(&self, py: Python<'_>) {
        py.detach(|| self.call.pending.cancel());
    }

    /// Calls `callback` when all examples of the call are done.
    fn _when_done(&self, callback: Py<PyAny>) {
        call_when_done(&self.call.pending, callback);
    }
}

/// The pending scores of an example.
#[pyclass(frozen, module = "miriam.ct2")]
pub struct AsyncScoringResult {
    pub(super) call: Arc<ScoringCall>,
    pub(super) index: usize,
}

#[pymethods]
impl AsyncScoringResult {
    /// Waits for the result and returns it, or raises its error.
    fn result(&self, py: Python<'_>) -> PyResult<ScoringResult> {
        self.call.wait(py, self.index)
    }

    /// Whether the result is available.
    fn done(&self) -> bool {
        self.call.pending.is_done(self.index)
    }
}

/// Texts that are being translated.
#[pyclass(frozen, module = "miriam.ct2")]
pub struct AsyncTexts {
    /// The translator for the languages of the texts.
    pub(super) translator: Translator,
    pub(super) batch: TextBatch,
    pub(super) pending: Arc<Pending<Vec<Translation>>>,
}

#[pymethods]
impl AsyncTexts {
    /// Waits for the translations and returns them, or raises their error.
    pub(super) fn result(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        wait(py, |most| self.pending.wait_all(most).then_some(()))?;
        let texts = py.detach(|| {
            let count = self.pending.count();
            let results = (0..count).filter_map(|index| self.pending.wait(index, Duration::ZERO));
            let results = results.collect::<Result<Vec<_>, PoolError>>().map_err(exception)?;
            let joined = self.translator.join_texts(&self.batch, &results);
            joined.map_err(|(index, reason)| {
                PyValueError::new_err(format!("texts[{index}]: {reason}"))
            })
        })?;
        Ok(texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }

    /// Drops unfinished texts.
    pub(super) fn _cancel(&self, py: Python<'_>) {
        py.detach(|| self.pending.cancel());
    }

    /// Calls `callback` when all texts are done.
    fn _when_done(&self, callback: Py<PyAny>) {
        call_when_done(&self.pending, callback);
    }
}

/// A token that has just been generated.
#[pyclass(frozen, get_all, module = "miriam.ct2")]
pub struct GenerationStepResult {
    /// The position in the translation.
    pub step: usize,
    /// The index of the example.
    pub batch_id: usize,
    /// The id of the token.
    pub token_id: u32,
    /// The index among the translations of the example.
    pub hypothesis_id: u32,
    /// The token.
    pub token: Py<PyString>,
    /// The natural log-probability of the token, if scores were requested.
    pub log_prob: Option<f32>,
    /// Always `None`.
    pub logits: Option<Py<PyAny>>,
    /// Whether the token ends the translation.
    pub is_last: bool,
}

#[pymethods]
impl GenerationStepResult {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let log_prob = self.log_prob.into_pyobject(py)?.repr()?;
        Ok(format!(
            "GenerationStepResult(step={}, batch_id={}, token_id={}, hypothesis_id={}, token={}, \
             log_prob={log_prob}, logits=None, is_last={})",
            self.step,
            self.batch_id,
            self.token_id,
            self.hypothesis_id,
            self.token.bind(py).repr()?,
            if self.is_last { "True" } else { "False" },
        ))
    }
}
