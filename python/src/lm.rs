//! `miriam.lm`: models that score many lines. [`crate::lm_files`] makes their files.
//!
//! Values equal those of `miriam lm perplexity`, for any number of threads.

use std::path::PathBuf;
use std::sync::Arc;

use miriam_glm::device::DeviceChoice;
use miriam_lmcpu::line_scoring::{
    LineOptions, LineScore, SentenceMarkers, score_lines, score_tokens,
};
use miriam_lmcpu::next_word::{check_words, most_probable};
use miriam_lmcpu::perplexity::{Percent, PerplexityFilter, RankLimit};
use miriam_lmcpu::{ArpaOptions, LmWord, OpenOptions};
use miriam_storage::LoadMethod;
use miriam_textio::{CancellationToken, Log10, available_threads};
use numpy::{IntoPyArray, PyArray1, PyReadwriteArray1};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::value_error;
use crate::interrupt::run_interruptible;
use crate::open::open_model;
use crate::pickle::{NewArguments, absolute_path, pickled_state};
use crate::text::{Lines, text_bytes};

/// The maximum number of bytes scored on the calling thread; scoring them does not delay Ctrl-C
/// noticeably.
const SHORT_BYTES: usize = 1 << 20;

/// log10 p, number of tokens and number of unknown words of each line.
type Columns<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// log10 p of each word, and the offsets of lines.
type WordColumns<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<i64>>);

/// Returns the number of threads: all processors for 0, an error for an implausible number.
pub(crate) fn thread_count(threads: usize) -> PyResult<usize> {
    match threads {
        0 => Ok(available_threads()),
        1..=4096 => Ok(threads),
        _ => Err(PyValueError::new_err("threads: give a number up to 4096, or 0 for all")),
    }
}

/// An n-gram language model that scores many lines at once.
#[pyclass(subclass, module = "miriam._native")]
pub struct LanguageModel {
    /// `None` until `__init__` has been called.
    opened: Option<OpenedModel>,
}

/// An open model and its origin.
struct OpenedModel {
    model: Arc<dyn miriam_lmcpu::LanguageModel>,
    path: PathBuf,
    arguments: NewArguments,
}

impl LanguageModel {
    fn opened(&self) -> PyResult<&OpenedModel> {
        let message = "the model is not loaded: a subclass must call LanguageModel.__init__(path)";
        self.opened.as_ref().ok_or_else(|| PyValueError::new_err(message))
    }

    /// Scores `lines` with `work`, which is interruptible if it may take long.
    fn run<'py, T: Send>(
        &self,
        py: Python<'py>,
        lines: &Lines<'py>,
        work: impl FnOnce(
            &dyn miriam_lmcpu::LanguageModel,
            &[&[u8]],
            &CancellationToken,
        ) -> miriam_lmcpu::Result<T>
        + Send,
    ) -> PyResult<T> {
        let slices = lines.slices()?;
        let model = &*self.opened()?.model;
        let outcome = if slices.iter().map(|line| line.len()).sum::<usize>() <= SHORT_BYTES {
            py.detach(|| work(model, &slices, &CancellationToken::new()))
        } else {
            run_interruptible(py, |stop| work(model, &slices, stop))?
        };
        outcome.map_err(value_error)
    }

    fn scores<'py>(
        &self,
        lines: &Bound<'py, PyAny>,
        options: LineOptions,
    ) -> PyResult<Vec<LineScore>> {
        self.run(lines.py(), &Lines::new(lines)?, |model, lines, stop| {
            score_lines(model, lines, options, stop)
        })
    }
}

/// Converts arguments to options.
fn line_options(bos: bool, eos: bool, documents: bool, threads: usize) -> PyResult<LineOptions> {
    let markers = SentenceMarkers { begin: bos, end: eos };
    Ok(LineOptions { markers, documents, threads: thread_count(threads)? })
}

/// Returns the column of log10 p: f32 for lines, f64 for sums over documents.
fn log10_column<'py>(py: Python<'py>, scores: &[LineScore], documents: bool) -> Bound<'py, PyAny> {
    let values = scores.iter().map(|score| score.log10);
    if documents {
        values.collect::<Vec<f64>>().into_pyarray(py).into_any()
    } else {
        values.map(|value| value as f32).collect::<Vec<_>>().into_pyarray(py).into_any()
    }
}

fn columns<'py>(py: Python<'py>, scores: &[LineScore], documents: bool) -> Columns<'py> {
    // A line is shorter than 4 GiB.
    let tokens: Vec<u32> = scores.iter().map(|score| score.tokens as u32).collect();
    let oovs: Vec<u32> = scores.iter().map(|score| score.oovs as u32).collect();
    (log10_column(py, scores, documents), tokens.into_pyarray(py), oovs.into_pyarray(py))
}

#[pymethods]
impl LanguageModel {
    /// Creates a model that is not loaded, whatever the arguments: `__init__` of a subclass may
    /// have others.
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords),
           text_signature = "(path, *, load='populate', device='cpu', duplicates='reject', \
                             positive='reject', missing_markers='reject')")]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        LanguageModel { opened: None }
    }

    /// Opens the model at `path`.
    #[pyo3(signature = (path, *, load="populate", device="cpu", duplicates="reject",
                        positive="reject", missing_markers="reject"))]
    fn __init__(
        slf: &Bound<'_, Self>,
        path: PathBuf,
        load: &str,
        device: &str,
        duplicates: &str,
        positive: &str,
        missing_markers: &str,
    ) -> PyResult<()> {
        let py = slf.py();
        let arpa = parse_arpa_options([duplicates, positive, missing_markers])?;
        let method = match load {
            "lazy" => LoadMethod::Lazy,
            "populate" => LoadMethod::Populate,
            "huge" => LoadMethod::HugePages,
            _ => return Err(PyValueError::new_err("load: give lazy, populate or huge")),
        };
        let choice: DeviceChoice =
            device.parse().map_err(|reason| PyValueError::new_err(format!("device: {reason}")))?;
        let outcome = run_interruptible(py, |stop| {
            open_model(&path, OpenOptions { load: method, arpa }, choice, stop)
        })?;
        let model = outcome.map_err(PyOSError::new_err)?;
        let keywords = [
            ("load", load.into_bound_py_any(py)?),
            ("device", device.into_bound_py_any(py)?),
            ("duplicates", duplicates.into_bound_py_any(py)?),
            ("positive", positive.into_bound_py_any(py)?),
            ("missing_markers", missing_markers.into_bound_py_any(py)?),
        ];
        let arguments = NewArguments::new(py, absolute_path(&path), &keywords)?;
        slf.try_borrow_mut()?.opened = Some(OpenedModel { model, path, arguments });
        Ok(())
    }

    /// The path of the file.
    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        Ok(self.opened()?.path.clone())
    }

    /// The length of the longest n-grams.
    #[getter]
    fn order(&self) -> PyResult<usize> {
        Ok(self.opened()?.model.order())
    }

    /// The number of words, including `<unk>`.
    #[getter]
    fn num_words(&self) -> PyResult<usize> {
        Ok(self.opened()?.model.num_words())
    }

    fn __contains__(&self, word: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.opened()?.model.word_id(text_bytes(word)?) != LmWord::UNKNOWN)
    }

    fn __repr__(&self) -> String {
        match &self.opened {
            Some(opened) => {
                format!("<LanguageModel from {:?}>", opened.path.display().to_string())
            }
            None => "<LanguageModel, not open>".to_owned(),
        }
    }

    /// Pickles the class, the arguments, and the attributes of a subclass.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (positional, keywords) = slf.try_borrow()?.opened()?.arguments.to_python(py)?;
        let open = py.import("miriam.lm")?.getattr("_open")?;
        let arguments = (slf.get_type(), positional, keywords);
        (open, arguments, pickled_state(slf.as_any())?).into_pyobject(py)
    }

    /// Returns log10 p of each line: `float32`, or `float64` with `documents`.
    #[pyo3(signature = (lines, *, bos=true, eos=true, documents=false, threads=0, out=None))]
    fn score_many<'py>(
        &self,
        lines: &Bound<'py, PyAny>,
        bos: bool,
        eos: bool,
        documents: bool,
        threads: usize,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = lines.py();
        let scores = self.scores(lines, line_options(bos, eos, documents, threads)?)?;
        let Some(out) = out else { return Ok(log10_column(py, &scores, documents)) };
        if documents {
            let message = "out cannot be used with documents, which give a new float64 array";
            return Err(PyValueError::new_err(message));
        }
        let mut array: PyReadwriteArray1<'_, f32> = out.extract().map_err(|_| {
            PyTypeError::new_err("out: give a writable one-dimensional float32 array")
        })?;
        let mut values = array.as_array_mut();
        if values.len() != scores.len() {
            let (found, wanted) = (values.len(), scores.len());
            let message = format!("out has {found} elements for {wanted} lines");
            return Err(PyValueError::new_err(message));
        }
        values.iter_mut().zip(&scores).for_each(|(value, score)| *value = score.log10 as f32);
        drop(array);
        Ok(out.clone())
    }

    /// Returns log10 p and the numbers of tokens (with `</s>`) and of unknown words of each line.
    #[pyo3(signature = (lines, *, bos=true, eos=true, documents=false, threads=0))]
    fn stats_many<'py>(
        &self,
        lines: &Bound<'py, PyAny>,
        bos: bool,
        eos: bool,
        documents: bool,
        threads: usize,
    ) -> PyResult<Columns<'py>> {
        let scores = self.scores(lines, line_options(bos, eos, documents, threads)?)?;
        Ok(columns(lines.py(), &scores, documents))
    }

    /// Returns the perplexity of each line: `float64`, NaN for lines without tokens.
    #[pyo3(signature = (lines, *, bos=true, eos=true, documents=false, threads=0))]
    fn perplexity_many<'py>(
        &self,
        lines: &Bound<'py, PyAny>,
        bos: bool,
        eos: bool,
        documents: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores = self.scores(lines, line_options(bos, eos, documents, threads)?)?;
        let values: Vec<f64> = scores.iter().map(LineScore::perplexity).collect();
        Ok(values.into_pyarray(lines.py()))
    }

    /// Selects lines with a perplexity from `min_perplexity` to `max_perplexity` that are among the
    /// best `keep_percent` percent; with `invert`, the other lines. A line without tokens has no
    /// perplexity.
    #[pyo3(signature = (lines, *, max_perplexity=None, min_perplexity=None, keep_percent=None,
                        invert=false, bos=true, eos=true, documents=false, threads=0))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
    fn filter<'py>(
        &self,
        lines: &Bound<'py, PyAny>,
        max_perplexity: Option<f64>,
        min_perplexity: Option<f64>,
        keep_percent: Option<f64>,
        invert: bool,
        bos: bool,
        eos: bool,
        documents: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        for (name, limit) in
            [("max_perplexity", max_perplexity), ("min_perplexity", min_perplexity)]
        {
            if limit.is_some_and(|limit| limit.is_nan() || limit < 0.0) {
                return Err(PyValueError::new_err(format!("{name}: give a number from 0")));
            }
        }
        if max_perplexity.is_none() && min_perplexity.is_none() && keep_percent.is_none() {
            let reason = "give max_perplexity, min_perplexity or keep_percent";
            return Err(PyValueError::new_err(reason));
        }
        // A computed percentage may have more decimals than `Percent` accepts.
        let share = keep_percent.map(|percent| {
            let rounded = format!("{percent:.6}").parse::<Percent>();
            let message = format!("keep_percent {percent}: give a number from 0 to 100");
            rounded.map_err(|_| PyValueError::new_err(message))
        });
        let share = share.transpose()?;
        let scores = self.scores(lines, line_options(bos, eos, documents, threads)?)?;
        let mut perplexities: Vec<f64> = scores.iter().map(LineScore::perplexity).collect();
        let all = PerplexityFilter::default();
        let filter = PerplexityFilter {
            min_perplexity: min_perplexity.unwrap_or(all.min_perplexity),
            max_perplexity: max_perplexity.unwrap_or(all.max_perplexity),
            rank_limit: share.map(|share| RankLimit::new(&mut perplexities, share)),
            invert,
        };
        // `keep_percent` has reordered `perplexities`, so they are computed again.
        let selected = filter.select(scores.iter().map(LineScore::perplexity));
        Ok(selected.into_pyarray(lines.py()))
    }

    /// Returns log10 p of each word (`float32`) of all lines, one after another, and the offsets of
    /// the lines, including the end of the last one (`int64`).
    #[pyo3(signature = (lines, *, bos=true, eos=true, threads=0))]
    fn score_words<'py>(
        &self,
        lines: &Bound<'py, PyAny>,
        bos: bool,
        eos: bool,
        threads: usize,
    ) -> PyResult<WordColumns<'py>> {
        let py = lines.py();
        let options = line_options(bos, eos, false, threads)?;
        let scores = self.run(py, &Lines::new(lines)?, |model, lines, stop| {
            score_tokens(model, lines, options, stop)
        })?;
        let offsets: Vec<i64> = scores.offsets.iter().map(|&at| at as i64).collect();
        Ok((scores.log10.into_pyarray(py), offsets.into_pyarray(py)))
    }

    /// Works like `stats_many`, for a column of Arrow: its bytes `data` and the `offsets` of lines
    /// (`int32` or `int64`), including the end of the last one.
    #[pyo3(signature = (data, offsets, *, bos=true, eos=true, documents=false, threads=0))]
    fn score_arrow<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        bos: bool,
        eos: bool,
        documents: bool,
        threads: usize,
    ) -> PyResult<Columns<'py>> {
        let py = data.py();
        let options = line_options(bos, eos, documents, threads)?;
        let column = Lines::from_column(data, offsets)?;
        let scores =
            self.run(py, &column, |model, lines, stop| score_lines(model, lines, options, stop))?;
        Ok(columns(py, &scores, documents))
    }

    /// Returns the `top` most probable words after `context` with their log10 p, the most probable
    /// first.
    #[pyo3(signature = (context, *, top=10, bos=true))]
    fn next_words(
        &self,
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        top: usize,
        bos: bool,
    ) -> PyResult<Vec<(String, f32)>> {
        let text = text_bytes(context)?;
        let opened = self.opened()?;
        let model = &*opened.model;
        check_words(model, &opened.path.display().to_string()).map_err(value_error)?;
        Ok(py.detach(|| {
            most_probable(model, text, bos, top)
                .into_iter()
                .map(|(word, Log10(log10))| {
                    let word = model.word(word).unwrap_or_default();
                    (String::from_utf8_lossy(word).into_owned(), log10)
                })
                .collect()
        }))
    }
}

/// Converts keywords, in the order of [`ArpaOptions::NAMES`], to options.
pub(crate) fn parse_arpa_options(policies: [&str; 3]) -> PyResult<ArpaOptions> {
    let mut options = ArpaOptions::default();
    for (name, policy) in ArpaOptions::NAMES.iter().zip(policies) {
        options.set(name, policy).map_err(PyValueError::new_err)?;
    }
    Ok(options)
}
