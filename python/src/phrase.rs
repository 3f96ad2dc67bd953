//! `miriam.phrase`: translation with a phrase-based system.

use std::path::PathBuf;

use miriam_decoder::{
    Configuration, Derivation, DetailOptions, Error, System, TranslatedPhrase, Translator,
};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;

use crate::interrupt::{Cancellation, run_interruptible};
use crate::open::on_own_threads;
use crate::text::{Lines, text_bytes};

/// Lines that one translator translates: making one costs about as much as a line.
const PART_LINES: usize = 32;

/// A phrase-based system.
#[pyclass(frozen, subclass, module = "miriam.phrase")]
pub struct PhraseTranslator {
    system: System,
    ini: PathBuf,
    options: Vec<String>,
}

/// A translation of a line.
#[pyclass(frozen, get_all, module = "miriam.phrase")]
pub struct PhraseTranslation {
    /// The words, with spaces between them.
    pub text: String,
    /// The model score; `None` where there is no translation.
    pub score: Option<f32>,
    /// The phrases in target order: the first source position, the one after the last, and the
    /// words.
    pub phrases: Vec<(u32, u32, String)>,
    /// Pairs of source and target positions, where the phrase table has alignments.
    pub alignment: Vec<(u32, u32)>,
    /// The n-best list: words, score, and unweighted values of all features.
    pub n_best: Vec<(String, f32, Vec<f32>)>,
    /// What is wrong with the line, or was done about it.
    pub errors: Vec<String>,
}

#[pymethods]
impl PhraseTranslation {
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

fn alignment_of(phrases: &[TranslatedPhrase]) -> Vec<(u32, u32)> {
    let (mut points, mut target) = (Vec::new(), 0);
    for phrase in phrases {
        let shift =
            |&(s, t): &(u16, u16)| (phrase.source.start + u32::from(s), target + u32::from(t));
        points.extend(phrase.alignment.iter().map(shift));
        target += phrase.words.len() as u32;
    }
    points.sort_unstable();
    points
}

/// Translates a line, of which an end of line is no part; what is wrong with it is in the
/// result.
fn translate_line(
    translator: &mut Translator<'_>,
    line: &[u8],
    wanted: DetailOptions,
) -> Result<PhraseTranslation, Error> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
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
    let phrase = |phrase: &TranslatedPhrase| {
        let words = text_of(std::slice::from_ref(phrase));
        (phrase.source.start, phrase.source.end, words)
    };
    let entry = |entry: &Derivation| (text_of(&entry.phrases), entry.score, entry.values.clone());
    Ok(PhraseTranslation {
        text: text_of(phrases),
        score: found.best.as_ref().map(|best| best.score),
        phrases: phrases.iter().map(phrase).collect(),
        alignment: alignment_of(phrases),
        n_best: found.n_best.iter().map(entry).collect(),
        errors,
    })
}

#[pymethods]
impl PhraseTranslator {
    /// Loads the system of a `moses.ini`, with options as the command line has them.
    #[new]
    #[pyo3(signature = (ini, options=Vec::new()))]
    fn new(py: Python<'_>, ini: PathBuf, options: Vec<String>) -> PyResult<Self> {
        if !ini.is_file() {
            let message = format!("{}: there is no such file", ini.display());
            return Err(PyFileNotFoundError::new_err(message));
        }
        let mut tokens = vec!["-f".to_owned(), ini.display().to_string()];
        tokens.extend(options.iter().cloned());
        let configuration = Configuration::from_command_line(&tokens)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let loaded = run_interruptible(py, |stop| {
            on_own_threads(0, || System::load(&configuration, &Cancellation(stop)))
        })?;
        let system = loaded.map_err(PyRuntimeError::new_err)?;
        let system = system.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(PhraseTranslator { system, ini, options })
    }

    /// Translates a line of tokens.
    ///
    /// Raises `ValueError` where something is wrong with the line.
    #[pyo3(signature = (line, *, n_best=0, distinct=false))]
    fn translate(
        &self,
        py: Python<'_>,
        line: &Bound<'_, PyAny>,
        n_best: usize,
        distinct: bool,
    ) -> PyResult<PhraseTranslation> {
        let line = text_bytes(line)?;
        let wanted = DetailOptions { n_best, distinct, ..DetailOptions::default() };
        let found = py.detach(|| translate_line(&mut Translator::new(&self.system), line, wanted));
        let found = found.map_err(|error| PyOSError::new_err(error.to_string()))?;
        match (found.score, found.errors.first()) {
            (None, Some(reason)) => Err(PyValueError::new_err(reason.clone())),
            _ => Ok(found),
        }
    }

    /// Translates many lines of tokens, on `threads` threads; 0 is all. What is wrong with a
    /// line is in the `errors` of its result.
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
        let wanted = DetailOptions { n_best, distinct, ..DetailOptions::default() };
        let outcome = run_interruptible(py, |stop| {
            let part = |part: &[&[u8]]| -> Result<Vec<PhraseTranslation>, Error> {
                let mut translator = Translator::new(&self.system);
                let lines = part.iter().take_while(|_| !stop.is_cancelled());
                lines.map(|line| translate_line(&mut translator, line, wanted)).collect()
            };
            on_own_threads(threads, || {
                let parts = slices.par_chunks(PART_LINES).map(part);
                parts.collect::<Result<Vec<_>, Error>>()
            })
        })?;
        let parts = outcome.map_err(PyRuntimeError::new_err)?;
        let parts = parts.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// A pickle holds the path of the ini.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = (self.ini.clone(), self.options.clone()).into_pyobject(py)?;
        let open = py.import("miriam.phrase")?.getattr("_open")?;
        (open, arguments).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("PhraseTranslator({:?})", self.ini.display().to_string())
    }
}
