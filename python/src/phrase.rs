//! `miriam.phrase`: translation with a phrase-based system.

use std::path::PathBuf;

use miriam_decoder::{
    BuildOptions, Configuration, DetailOptions, Error, LineLimits, System, TranslatedPhrase,
    Translator, build_binary_system,
};
use miriam_rescoring::load_system;
use miriam_textio::{CancellableProgress, CancellationToken, NoProgress};
use miriam_textproc::{TextProcessor, TextProcessorConfig};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rayon::prelude::*;

use crate::errors::{os_error, value_error};
use crate::interrupt::{Listeners, run_interruptible, run_observed};
use crate::lm::thread_count;
use crate::open::on_own_threads;
use crate::pickle::{absolute_path, pickled_state};
use crate::text::{Lines, text_bytes, without_line_end};

/// The number of lines per translator; creating one costs about as much as translating a line.
const PART_LINES: usize = 32;

/// A phrase-based system.
#[pyclass(subclass, module = "miriam.phrase")]
pub struct PhraseTranslator {
    /// `None` until `__init__` has been called.
    opened: Option<OpenedSystem>,
}

/// An open system and its origin.
struct OpenedSystem {
    system: System,
    ini: PathBuf,
    /// The absolute path of the ini, for pickles.
    absolute_ini: PathBuf,
    options: Vec<String>,
    /// Whether lines are raw, as the caller requested.
    raw: Option<bool>,
    /// The processing of raw text.
    steps: Option<TextProcessor>,
}

/// A translation of a line.
#[pyclass(frozen, get_all, module = "miriam.phrase")]
pub struct PhraseTranslation {
    /// The words separated by spaces, or plain text if lines are raw.
    pub text: String,
    /// The words of the source; positions refer to them.
    pub source: Vec<String>,
    /// The model score; `None` without a translation.
    pub score: Option<f32>,
    /// The phrases in target order: the first source position, the position after the last one, and
    /// the target words, separated by spaces.
    pub phrases: Vec<(u32, u32, String)>,
    /// Aligned pairs of source and target positions, if the phrase table contains alignments.
    pub alignment: Vec<(u32, u32)>,
    /// The n-best list: text, score, and unweighted values of all features.
    pub n_best: Vec<(String, f32, Vec<f32>)>,
    /// Errors of the line, and their handling.
    pub errors: Vec<String>,
}

/// Builds binary tables in `folder` for the text tables of a system, with the ini that names them.
/// Returns the path of the ini, and the names of reordering models that stay text files.
#[pyfunction]
#[pyo3(signature = (ini, folder, *, prune=None, memory=None, threads=0, progress=None))]
pub fn build_system(
    py: Python<'_>,
    ini: PathBuf,
    folder: PathBuf,
    prune: Option<usize>,
    memory: Option<u64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(PathBuf, Vec<String>)> {
    let configuration = Configuration::from_ini(&find_ini(ini)?).map_err(value_error)?;
    let threads = thread_count(threads)?;
    let options = BuildOptions { prune, memory, threads, ..BuildOptions::default() };
    let listeners = Listeners { progress, log: None };
    let built = run_observed(py, &listeners, |observer| {
        build_binary_system(&configuration, &folder, &options, observer)
    })?;
    let built = built.map_err(os_error)?;
    Ok((built.ini, built.text_reordering))
}

/// Returns the path of the ini `path`, or of the ini in the folder `path`.
fn find_ini(path: PathBuf) -> PyResult<PathBuf> {
    let ini = if path.is_dir() { path.join("moses.ini") } else { path };
    if ini.is_file() {
        return Ok(ini);
    }
    let message = format!("{}: no such file", ini.display());
    Err(PyFileNotFoundError::new_err(message))
}

#[pymethods]
impl PhraseTranslation {
    /// Returns a translation with these attributes.
    #[new]
    #[pyo3(signature = (text, source, score, phrases, alignment, n_best, errors))]
    fn new(
        text: String,
        source: Vec<String>,
        score: Option<f32>,
        phrases: Vec<(u32, u32, String)>,
        alignment: Vec<(u32, u32)>,
        n_best: Vec<(String, f32, Vec<f32>)>,
        errors: Vec<String>,
    ) -> Self {
        PhraseTranslation { text, source, score, phrases, alignment, n_best, errors }
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let attributes = (
            &self.text,
            &self.source,
            self.score,
            &self.phrases,
            &self.alignment,
            &self.n_best,
            &self.errors,
        );
        attributes.into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let score = self.score.map_or_else(|| "None".into(), |score| score.to_string());
        format!("PhraseTranslation(text={:?}, score={score})", self.text)
    }
}

fn text_of(phrases: &[TranslatedPhrase]) -> String {
    let words: Vec<&[u8]> =
        phrases.iter().flat_map(|phrase| &phrase.words).map(|w| &w[..]).collect();
    String::from_utf8_lossy(&words.join(&b' ')).into_owned()
}

/// Returns the text of phrases, postprocessed if there are steps.
fn plain_text(phrases: &[TranslatedPhrase], steps: Option<&TextProcessor>) -> String {
    let words = text_of(phrases);
    let Some(steps) = steps else { return words };
    let mut text = Vec::new();
    steps.postprocess(words.as_bytes(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn alignment_of(phrases: &[TranslatedPhrase]) -> Vec<(u32, u32)> {
    let (mut points, mut target) = (Vec::new(), 0);
    for phrase in phrases {
        let start = phrase.source.start;
        points.extend(
            phrase.alignment.iter().map(|&(s, t)| (start + u32::from(s), target + u32::from(t))),
        );
        target += phrase.words.len() as u32;
    }
    points.sort_unstable();
    points
}

/// Reads the processing of raw text from the file beside the ini, if lines are raw. By default,
/// they are raw if the file exists.
fn load_steps(configuration: &Configuration, raw: Option<bool>) -> PyResult<Option<TextProcessor>> {
    let path = TextProcessorConfig::path_beside(&configuration.ini);
    if !raw.unwrap_or_else(|| path.exists()) {
        return Ok(None);
    }
    let steps = TextProcessorConfig::read(&path).map_err(no_steps)?;
    if steps.tokenize.is_some() && configuration.settings.input_format.has_annotations() {
        return Err(PyValueError::new_err(
            "xml_input and inputtype cannot be used with raw text, because tokenisation \
             would split markup and tables; with raw=False, lines are tokens",
        ));
    }
    Ok(Some(steps.build().map_err(no_steps)?))
}

fn no_steps(error: miriam_textproc::Error) -> PyErr {
    PyOSError::new_err(format!("{error}; with raw=False, lines are tokens"))
}

/// Returns a translator whose searches end when `stop` is cancelled.
fn cancellable_translator<'s>(system: &'s System, stop: &CancellationToken) -> Translator<'s> {
    let mut translator = Translator::new(system);
    let cancellation = Some(stop.clone());
    translator.set_line_limits(LineLimits { cancellation, ..LineLimits::default() });
    translator
}

/// Translates a line without its end. Errors of the line are in the result.
fn translate_line(
    translator: &mut Translator<'_>,
    opened: &OpenedSystem,
    line: &[u8],
    wanted: DetailOptions,
) -> Result<PhraseTranslation, Error> {
    let steps = opened.steps.as_ref();
    let line = without_line_end(line);
    let mut prepared = Vec::new();
    let line = match steps {
        Some(steps) => {
            steps.preprocess(line, &mut prepared);
            &prepared
        }
        None => line,
    };
    let found = translator.translate_in_detail(line, wanted);
    let mut errors: Vec<String> =
        translator.take_line_errors().into_iter().map(|error| error.reason).collect();
    let found = match found {
        Ok(found) => found,
        Err(error @ Error::Line { .. }) => {
            errors.push(error.to_string());
            Default::default()
        }
        Err(error) => return Err(error),
    };
    let phrases = found.best.as_ref().map_or(&[][..], |best| &best.phrases);
    let spans = phrases.iter().map(|phrase| {
        (phrase.source.start, phrase.source.end, text_of(std::slice::from_ref(phrase)))
    });
    let entries = found
        .n_best
        .iter()
        .map(|entry| (plain_text(&entry.phrases, steps), entry.score, entry.values.clone()));
    Ok(PhraseTranslation {
        text: plain_text(phrases, steps),
        source: translator
            .source_words(line)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
        score: found.best.as_ref().map(|best| best.score),
        phrases: spans.collect(),
        alignment: alignment_of(phrases),
        n_best: entries.collect(),
        errors,
    })
}

impl PhraseTranslator {
    fn opened(&self) -> PyResult<&OpenedSystem> {
        let message =
            "the system is not loaded: a subclass must call PhraseTranslator.__init__(ini)";
        self.opened.as_ref().ok_or_else(|| PyValueError::new_err(message))
    }
}

#[pymethods]
impl PhraseTranslator {
    /// Creates a translator without a system, whatever the arguments: `__init__` of a subclass may
    /// have others.
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords), text_signature = "(ini, options=..., raw=None)")]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        PhraseTranslator { opened: None }
    }

    /// Loads the system of a `moses.ini`, or of its folder, with options of the command line. `raw`
    /// says whether lines are raw text; by default they are if the file `preparation` is beside the
    /// ini.
    #[pyo3(signature = (ini, options=Vec::new(), raw=None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        ini: PathBuf,
        options: Vec<String>,
        raw: Option<bool>,
    ) -> PyResult<()> {
        let py = slf.py();
        let ini = find_ini(ini)?;
        let configuration =
            Configuration::from_ini_and_options(&ini, &options).map_err(value_error)?;
        let steps = load_steps(&configuration, raw)?;
        let loaded = run_interruptible(py, |stop| {
            on_own_threads(0, || {
                load_system(&configuration, &CancellableProgress { shown: &NoProgress, stop })
            })
        })?;
        let system = loaded.map_err(PyRuntimeError::new_err)?;
        let system = system.map_err(os_error)?;
        let absolute_ini = absolute_path(&ini);
        let opened = OpenedSystem { system, ini, absolute_ini, options, raw, steps };
        slf.try_borrow_mut()?.opened = Some(opened);
        Ok(())
    }

    /// Translates a line of raw text or of tokens.
    ///
    /// Raises `ValueError` if the line is invalid.
    #[pyo3(signature = (line, *, n_best=0, distinct=false))]
    fn translate(
        &self,
        py: Python<'_>,
        line: &Bound<'_, PyAny>,
        n_best: usize,
        distinct: bool,
    ) -> PyResult<PhraseTranslation> {
        let line = text_bytes(line)?;
        let opened = self.opened()?;
        let wanted = DetailOptions { n_best, distinct, ..DetailOptions::default() };
        let found = run_interruptible(py, |stop| {
            let mut translator = cancellable_translator(&opened.system, stop);
            translate_line(&mut translator, opened, line, wanted)
        })?;
        let found = found.map_err(os_error)?;
        match (found.score, found.errors.first()) {
            (None, Some(reason)) => Err(PyValueError::new_err(reason.clone())),
            _ => Ok(found),
        }
    }

    /// Translates many lines on `threads` threads (0: all). Errors of a line are in the `errors` of
    /// its result.
    #[pyo3(signature = (lines, *, n_best=0, distinct=false, threads=0))]
    fn translate_many(
        &self,
        py: Python<'_>,
        lines: &Bound<'_, PyAny>,
        n_best: usize,
        distinct: bool,
        threads: usize,
    ) -> PyResult<Vec<PhraseTranslation>> {
        let lines = Lines::new(lines)?;
        let slices = lines.slices()?;
        let slices = &slices[..];
        let opened = self.opened()?;
        let threads = thread_count(threads)?;
        let wanted = DetailOptions { n_best, distinct, ..DetailOptions::default() };
        let outcome = run_interruptible(py, |stop| {
            on_own_threads(threads, || {
                let parts = slices.par_chunks(PART_LINES).map(|part| {
                    let mut translator = cancellable_translator(&opened.system, stop);
                    let lines = part.iter().take_while(|_| !stop.is_cancelled());
                    lines
                        .map(|line| translate_line(&mut translator, opened, line, wanted))
                        .collect::<Result<Vec<_>, Error>>()
                });
                parts.collect::<Result<Vec<_>, Error>>()
            })
        })?;
        let parts = outcome.map_err(PyRuntimeError::new_err)?;
        let parts = parts.map_err(os_error)?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Pickles the class, the path of the ini, and the attributes of a subclass.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let this = slf.try_borrow()?;
        let OpenedSystem { absolute_ini, options, raw, .. } = this.opened()?;
        let arguments = (slf.get_type(), absolute_ini, options, *raw);
        let open = py.import("miriam.phrase")?.getattr("_open")?;
        (open, arguments, pickled_state(slf.as_any())?).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        match &self.opened {
            Some(opened) => format!("PhraseTranslator({:?})", opened.ini.display().to_string()),
            None => "<PhraseTranslator, not open>".to_owned(),
        }
    }
}
