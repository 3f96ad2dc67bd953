//! `miriam.kenlm`: classes with the interface of KenLM's Python module.
//!
//! Names, arguments, results and the order of additions are KenLM's, so that programs that use
//! KenLM run unchanged. Where KenLM's behaviour is undefined (a state of another model, an unloaded
//! model), an exception is raised.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use miriam_lmcpu::line_scoring::{SentenceMarkers, count_words, score_sentence, walk_sentence};
use miriam_lmcpu::{LanguageModel, LmWord, is_binary_model};
use miriam_storage::LoadMethod;
use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyOSError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyString, PyTuple};

use crate::interrupt::run_interruptible;
use crate::open::open_as_kenlm;
use crate::text::{text_bytes, truth};

/// The minimum length of texts that are scored without the interpreter's lock: releasing it costs
/// as much as scoring a few words.
const DETACH_BYTES: usize = 256;

/// Options of loading a model.
#[pyclass(module = "miriam.kenlm")]
pub struct Config {
    #[pyo3(get)]
    load_method: i32,
    #[pyo3(get)]
    arpa_complain: i32,
    /// Only for compatibility; no progress bar is drawn.
    #[pyo3(get)]
    show_progress: bool,
}

#[pymethods]
impl Config {
    #[new]
    fn new() -> Self {
        // KenLM's defaults: POPULATE_OR_READ, ALL.
        Config { load_method: 2, arpa_complain: 0, show_progress: true }
    }

    #[setter]
    fn set_load_method(&mut self, value: i32) -> PyResult<()> {
        if !(0..=4).contains(&value) {
            let message = format!("load_method: expected a LoadMethod (0 to 4), found {value}");
            return Err(PyValueError::new_err(message));
        }
        self.load_method = value;
        Ok(())
    }

    #[setter]
    fn set_show_progress(&mut self, #[pyo3(from_py_with = truth)] value: bool) {
        self.show_progress = value;
    }

    #[setter]
    fn set_arpa_complain(&mut self, value: i32) -> PyResult<()> {
        if !(0..=2).contains(&value) {
            let message =
                format!("arpa_complain: expected an ARPALoadComplain (0 to 2), found {value}");
            return Err(PyValueError::new_err(message));
        }
        self.arpa_complain = value;
        Ok(())
    }
}

/// A loaded model.
struct LoadedModel {
    model: Arc<dyn LanguageModel>,
    /// The length of the longest n-grams, for the check of states.
    order: usize,
    num_words: usize,
}

/// An n-gram language model.
#[pyclass(subclass, module = "miriam.kenlm")]
pub struct Model {
    /// The absolute path of the file.
    #[pyo3(get, set)]
    path: Py<PyBytes>,
    /// `None` until `__init__` is called, which a subclass must do.
    loaded: Option<LoadedModel>,
}

impl Model {
    fn loaded(&self) -> PyResult<&LoadedModel> {
        let message = "the model is not loaded: a subclass must call Model.__init__(path)";
        self.loaded.as_ref().ok_or_else(|| PyValueError::new_err(message))
    }

    /// Checks that `state` belongs to this model, and returns it.
    fn context(&self, state: &Bound<'_, State>) -> PyResult<miriam_lmcpu::State> {
        let LoadedModel { order, num_words, .. } = *self.loaded()?;
        let state = state.try_borrow()?.0;
        if state.len() >= order
            || state.entries().iter().any(|(word, _)| word.0 as usize >= num_words)
        {
            let message = "the state belongs to another model: it has words or a length that \
                           this model does not have";
            return Err(PyValueError::new_err(message));
        }
        Ok(state)
    }

    /// Scores `word` after `in_state`; `out_state` may be the same object.
    fn step(
        &self,
        in_state: &Bound<'_, State>,
        word: &Bound<'_, PyString>,
        out_state: &Bound<'_, State>,
    ) -> PyResult<(LmWord, f32, u8)> {
        let context = self.context(in_state)?;
        let model = &self.loaded()?.model;
        let id = model.word_id(word.to_str()?.as_bytes());
        let mut next = miriam_lmcpu::State::EMPTY;
        let (log10, length) = model.score(&context, id, &mut next);
        out_state.try_borrow_mut()?.0 = next;
        Ok((id, log10.0, length))
    }

    fn score_text(&self, py: Python<'_>, text: &[u8], markers: SentenceMarkers) -> PyResult<f32> {
        let model = &self.loaded()?.model;
        let score = || score_sentence(&**model, text, markers);
        Ok(if text.len() < DETACH_BYTES { score() } else { py.detach(score) })
    }
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords), text_signature = "(path, config=None)")]
    fn new(
        py: Python<'_>,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> Self {
        Model { path: PyBytes::new(py, b"").unbind(), loaded: None }
    }

    /// Loads the model at `path`, a `str` or `bytes`: Miriam's or KenLM's binary file, or ARPA
    /// text, plain or compressed.
    #[pyo3(signature = (path, config=None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        path: &Bound<'_, PyAny>,
        config: Option<&Bound<'_, Config>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let given = text_bytes(path)?;
        let absolute = py
            .import("os.path")?
            .call_method1("abspath", (PyBytes::new(py, given),))?
            .cast_into::<PyBytes>()?;
        let file = Path::new(OsStr::from_bytes(absolute.as_bytes()));
        let (load, complain) = match config {
            Some(config) => {
                let config = config.try_borrow()?;
                let load =
                    if config.load_method == 0 { LoadMethod::Lazy } else { LoadMethod::Populate };
                (load, config.arpa_complain != 2)
            }
            None => (LoadMethod::Populate, true),
        };
        let outcome = run_interruptible(py, |stop| {
            if complain && file.is_file() && !is_binary_model(file) {
                // Not `eprintln!`, which panics if standard error is closed.
                let _ = writeln!(
                    std::io::stderr(),
                    "Loading the ARPA text {0}; a binary file opens at once: miriam lm build {0} \
                     -o FILE",
                    file.display()
                );
            }
            open_as_kenlm(file, load, stop)
        })?;
        let model = outcome.map_err(|error| {
            let reason = error.to_string().replace('\n', " ");
            PyOSError::new_err(format!("Cannot read model '{path}' ({reason})"))
        })?;
        let mut this = slf.try_borrow_mut()?;
        this.path = absolute.unbind();
        let (order, num_words) = (model.order(), model.num_words());
        this.loaded = Some(LoadedModel { model, order, num_words });
        Ok(())
    }

    /// The length of the longest n-grams.
    #[getter]
    fn order(&self) -> PyResult<usize> {
        Ok(self.loaded()?.order)
    }

    /// Returns log10 p of a sentence, including `</s>`, after `<s>`. With `bos=False`, the first
    /// word has no context; with `eos=False`, `</s>` is not scored.
    #[pyo3(signature = (sentence, bos=true, eos=true),
           text_signature = "($self, sentence, bos=True, eos=True)")]
    fn score(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = truth)] bos: bool,
        #[pyo3(from_py_with = truth)] eos: bool,
    ) -> PyResult<f32> {
        let markers = SentenceMarkers { begin: bos, end: eos };
        self.score_text(py, text_bytes(sentence)?, markers)
    }

    /// Returns the perplexity of a sentence, including `</s>`.
    fn perplexity(&self, py: Python<'_>, sentence: &Bound<'_, PyAny>) -> PyResult<f64> {
        let text = text_bytes(sentence)?;
        let log10 = f64::from(self.score_text(py, text, SentenceMarkers::BOTH)?);
        let exponent = -log10 / (count_words(text) + 1) as f64;
        let perplexity = 10f64.powf(exponent);
        if perplexity.is_infinite() && exponent.is_finite() {
            // Like Python's operator.
            return Err(PyOverflowError::new_err((34, "Numerical result out of range")));
        }
        Ok(perplexity)
    }

    /// Iterates over `(log_prob, ngram_length, oov)` of each word, and of `</s>`.
    #[pyo3(signature = (sentence, bos=true, eos=true),
           text_signature = "($self, sentence, bos=True, eos=True)")]
    fn full_scores(
        &self,
        sentence: Py<PyAny>,
        #[pyo3(from_py_with = truth)] bos: bool,
        #[pyo3(from_py_with = truth)] eos: bool,
    ) -> PyResult<FullScores> {
        Ok(FullScores {
            model: Arc::clone(&self.loaded()?.model),
            sentence: Some(sentence),
            markers: SentenceMarkers { begin: bos, end: eos },
            scores: Vec::new().into_iter(),
        })
    }

    /// Sets `state` to the state after `<s>`.
    #[pyo3(name = "BeginSentenceWrite")]
    fn begin_sentence_write(&self, state: &Bound<'_, State>) -> PyResult<()> {
        state.try_borrow_mut()?.0 = self.loaded()?.model.begin_state();
        Ok(())
    }

    /// Sets `state` to the state without context.
    #[pyo3(name = "NullContextWrite")]
    fn null_context_write(&self, state: &Bound<'_, State>) -> PyResult<()> {
        state.try_borrow_mut()?.0 = miriam_lmcpu::State::EMPTY;
        Ok(())
    }

    /// Returns log10 p(word | in_state) and sets `out_state` to the state after the word.
    #[pyo3(name = "BaseScore")]
    fn base_score(
        &self,
        in_state: &Bound<'_, State>,
        word: &Bound<'_, PyString>,
        out_state: &Bound<'_, State>,
    ) -> PyResult<f32> {
        Ok(self.step(in_state, word, out_state)?.1)
    }

    /// Works like `BaseScore`; also returns the length of the longest matching n-gram and whether
    /// the word is unknown.
    #[pyo3(name = "BaseFullScore")]
    fn base_full_score(
        &self,
        in_state: &Bound<'_, State>,
        word: &Bound<'_, PyString>,
        out_state: &Bound<'_, State>,
    ) -> PyResult<FullScoreReturn> {
        let (id, log_prob, length) = self.step(in_state, word, out_state)?;
        let oov = id == LmWord::UNKNOWN;
        Ok(FullScoreReturn { log_prob, ngram_length: length.into(), oov })
    }

    fn __contains__(&self, word: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.loaded()?.model.word_id(text_bytes(word)?) != LmWord::UNKNOWN)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.bind(py).as_bytes();
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        Ok(format!("<Model from {}>", PyBytes::new(py, name).repr()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = PyTuple::new(py, [self.path.clone_ref(py)])?;
        (py.get_type::<Model>(), arguments).into_pyobject(py)
    }
}

/// The result of `Model.full_scores`. Like a generator, it reads the sentence only when the first
/// value is requested.
#[pyclass(module = "miriam.kenlm")]
pub struct FullScores {
    model: Arc<dyn LanguageModel>,
    /// The sentence; `None` after the first value.
    sentence: Option<Py<PyAny>>,
    markers: SentenceMarkers,
    scores: std::vec::IntoIter<(f32, u8, bool)>,
}

#[pymethods]
impl FullScores {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<(f32, u8, bool)>> {
        if let Some(sentence) = self.sentence.take() {
            let sentence = sentence.bind(py);
            let text = text_bytes(sentence)?;
            let (model, markers) = (&*self.model, self.markers);
            let walk = || {
                let mut scores = Vec::with_capacity(text.len() / 4 + 1);
                walk_sentence(model, text, markers, |is_unknown, log10, length| {
                    scores.push((log10, length, is_unknown));
                });
                if let (true, Some(end)) = (markers.end, scores.last_mut()) {
                    // `</s>` is never unknown, even if the model lacks it.
                    end.2 = false;
                }
                scores
            };
            let scores = if text.len() < DETACH_BYTES { walk() } else { py.detach(walk) };
            self.scores = scores.into_iter();
        }
        Ok(self.scores.next())
    }
}

/// The result of `Model.BaseFullScore`.
#[pyclass(frozen, module = "miriam.kenlm")]
pub struct FullScoreReturn {
    /// log10 p.
    #[pyo3(get)]
    log_prob: f32,
    /// The length of the longest matching n-gram.
    #[pyo3(get)]
    ngram_length: i32,
    /// Whether the word is unknown.
    #[pyo3(get)]
    oov: bool,
}

#[pymethods]
impl FullScoreReturn {
    #[new]
    #[pyo3(signature = (log_prob, ngram_length, oov),
           text_signature = "(log_prob, ngram_length, oov)")]
    fn new(log_prob: f32, ngram_length: i32, #[pyo3(from_py_with = truth)] oov: bool) -> Self {
        FullScoreReturn { log_prob, ngram_length, oov }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let FullScoreReturn { log_prob, ngram_length, oov } = *slf.get();
        let log_prob = PyFloat::new(py, log_prob.into()).repr()?;
        let oov = if oov { "True" } else { "False" };
        Ok(format!("{}({log_prob}, {ngram_length}, {oov})", slf.get_type().name()?))
    }
}

/// The context of a word: the previous words that affect the model.
#[pyclass(module = "miriam.kenlm")]
pub struct State(miriam_lmcpu::State);

impl State {
    /// Compares by length, then by the bytes of the words, newest first, as KenLM does.
    fn compare(&self, other: &State) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.word_bytes().cmp(other.word_bytes()))
    }

    fn word_bytes(&self) -> impl Iterator<Item = u8> {
        self.0.entries().iter().flat_map(|(word, _)| word.0.to_le_bytes())
    }
}

#[pymethods]
impl State {
    #[new]
    fn new() -> Self {
        State(miriam_lmcpu::State::EMPTY)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, operator: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        match other.cast::<State>() {
            Ok(other) => {
                let order = self.compare(&*other.try_borrow()?);
                operator.matches(order).into_py_any(py)
            }
            Err(_) => Ok(py.NotImplemented()),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        std::hash::Hash::hash(&self.0, &mut hasher);
        hasher.finish()
    }

    fn __copy__(&self) -> State {
        State(self.0)
    }

    #[pyo3(signature = (memo=None))]
    fn __deepcopy__(&self, memo: Option<&Bound<'_, PyAny>>) -> State {
        let _ = memo;
        State(self.0)
    }

    /// Returns the ids of the words and their backoffs, newest first.
    fn __getstate__(&self) -> Vec<(u32, f32)> {
        self.0.entries().iter().map(|&(word, backoff)| (word.0, backoff)).collect()
    }

    fn __setstate__(&mut self, entries: Vec<(u32, f32)>) -> PyResult<()> {
        if entries.len() >= miriam_lmcpu::MAX_ORDER {
            let message = format!("a state of {} words is too long for a model", entries.len());
            return Err(PyValueError::new_err(message));
        }
        let mut state = miriam_lmcpu::State::EMPTY;
        for (place, &(word, backoff)) in state.entries_mut().iter_mut().zip(&entries) {
            *place = (LmWord(word), backoff);
        }
        state.set_len(entries.len());
        self.0 = state;
        Ok(())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let entries = slf.try_borrow()?.__getstate__();
        (slf.get_type(), PyTuple::empty(py), entries).into_pyobject(py)
    }
}
