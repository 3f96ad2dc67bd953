//! Native functions of `miriam.metrics`: BLEU, chrF and TER of lists of strings.

use std::path::PathBuf;

use miriam_metrics::bleu::Smoothing;
use miriam_metrics::{
    Bleu, Chrf, ExternalTokenizer, Metric, PIECE_TOKENIZERS, PieceTokenizer, Ter, Tokenizer,
    explain_missing_tokenizer, score_of_sums, segment_statistics,
};
use miriam_textproc::SentencePiece;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::interrupt::run_interruptible;
use crate::open::on_own_threads;
use crate::text::{hypothesis_list, reference_lists};

/// The number of lines that are scored between two checks for Ctrl-C.
const LINES_PER_CHECK: usize = 1024;

/// Returns the corpus score of `hypotheses` and the signature of the metric.
///
/// # Errors
///
/// `ValueError` if there are no hypotheses, a reference has another number of lines, a line has no
/// reference, or threads cannot be started; the exception of a signal handler, such as
/// `KeyboardInterrupt`.
fn score(
    py: Python<'_>,
    metric: &dyn Metric,
    hypotheses: &[String],
    references: &[Vec<Option<String>>],
) -> PyResult<(f64, String)> {
    if hypotheses.is_empty() {
        return Err(PyValueError::new_err("hypotheses: expected at least one line, found none"));
    }
    if let Some(number) = references.iter().position(|lines| lines.len() != hypotheses.len()) {
        let found = references[number].len();
        let expected = hypotheses.len();
        return Err(PyValueError::new_err(format!(
            "references[{number}]: expected {expected} lines, one per hypothesis, found {found}"
        )));
    }
    let num_references = count_references(hypotheses.len(), references)?;
    let sums = run_interruptible(py, |stop| {
        on_own_threads(0, || {
            let mut sums = vec![0.0; metric.num_statistics()];
            for start in (0..hypotheses.len()).step_by(LINES_PER_CHECK) {
                if stop.is_cancelled() {
                    break;
                }
                let lines = start..hypotheses.len().min(start + LINES_PER_CHECK);
                let rows = segment_statistics(metric, &hypotheses[lines], |line| {
                    references.iter().filter_map(|text| text[start + line].as_deref()).collect()
                });
                sums.iter_mut().zip(rows.sums()).for_each(|(sum, number)| *sum += number);
            }
            sums
        })
    })?;
    let sums = sums.map_err(PyValueError::new_err)?;
    let score = score_of_sums(metric, &sums, num_references);
    Ok((score.value, score.signature.to_text(false)))
}

/// Returns the number of references that every line has; `None` if lines differ.
///
/// # Errors
///
/// `ValueError` if a line has no reference.
fn count_references(
    num_lines: usize,
    references: &[Vec<Option<String>>],
) -> PyResult<Option<usize>> {
    let counts: Vec<usize> = (0..num_lines)
        .map(|line| references.iter().filter(|text| text[line].is_some()).count())
        .collect();
    if let Some(line) = counts.iter().position(|&count| count == 0) {
        return Err(PyValueError::new_err(format!(
            "hypotheses[{line}] has no reference; give a line in one of the references"
        )));
    }
    Ok(counts.iter().all(|&count| count == counts[0]).then(|| counts[0]))
}

/// Returns BLEU of `hypotheses` against `references`, each a list of the same length, and its
/// signature.
#[pyfunction]
#[pyo3(signature = (hypotheses, references, *, smooth_method="exp", smooth_value=None,
                    lowercase=false, tokenize="13a", use_effective_order=false,
                    tokenize_model=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn score_bleu(
    py: Python<'_>,
    #[pyo3(from_py_with = hypothesis_list)] hypotheses: Vec<String>,
    #[pyo3(from_py_with = reference_lists)] references: Vec<Vec<Option<String>>>,
    smooth_method: &str,
    smooth_value: Option<f64>,
    lowercase: bool,
    tokenize: Option<&str>,
    use_effective_order: bool,
    tokenize_model: Option<PathBuf>,
) -> PyResult<(f64, String)> {
    let smoothing = Smoothing::from_name(smooth_method, smooth_value).map_err(value_error)?;
    let tokenizer = open_tokenizer(tokenize.unwrap_or("13a"), tokenize_model)?;
    let bleu = Bleu { tokenizer, lowercase, smoothing, effective_order: use_effective_order };
    score(py, &bleu, &hypotheses, &references)
}

/// Opens the tokeniser `name`; `model` is its SentencePiece model, if it needs one.
///
/// # Errors
///
/// `ValueError` if there is no such tokeniser, or its model is missing, superfluous or cannot be
/// opened.
pub fn open_tokenizer(name: &str, model: Option<PathBuf>) -> PyResult<Tokenizer> {
    if let Some(reason) = explain_missing_tokenizer(name) {
        return Err(PyValueError::new_err(reason));
    }
    let Some(tokenizer) = PieceTokenizer::find(name) else {
        let tokenizer = Tokenizer::from_name(name).ok_or_else(|| unknown_tokenizer(name))?;
        if model.is_some() {
            return Err(PyValueError::new_err(format!(
                "tokenize_model: the tokeniser {name:?} has no model; leave it out"
            )));
        }
        return Ok(tokenizer);
    };
    let Some(model) = model else {
        return Err(tokenizer_error(name, "give its SentencePiece model as tokenize_model"));
    };
    let pieces = SentencePiece::open(&model).map_err(value_error)?;
    Ok(Tokenizer::External(ExternalTokenizer::new(tokenizer.signature, move |line| {
        pieces.join_pieces(line)
    })))
}

fn unknown_tokenizer(name: &str) -> PyErr {
    let pieces = PIECE_TOKENIZERS.map(|tokenizer| tokenizer.name);
    let known = [&Tokenizer::NAMES[..], &pieces[..]].concat().join(", ");
    tokenizer_error(name, &format!("unknown tokeniser; expected one of {known}"))
}

fn tokenizer_error(name: &str, reason: &str) -> PyErr {
    PyValueError::new_err(format!("tokenize {name:?}: {reason}"))
}

/// Returns chrF, or chrF++ with `word_order=2`, and its signature.
#[pyfunction]
#[pyo3(signature = (hypotheses, references, *, char_order=6, word_order=0, beta=2.0,
                    remove_whitespace=true, eps_smoothing=false, lowercase=false))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn score_chrf(
    py: Python<'_>,
    #[pyo3(from_py_with = hypothesis_list)] hypotheses: Vec<String>,
    #[pyo3(from_py_with = reference_lists)] references: Vec<Vec<Option<String>>>,
    char_order: usize,
    word_order: usize,
    beta: f64,
    remove_whitespace: bool,
    eps_smoothing: bool,
    lowercase: bool,
) -> PyResult<(f64, String)> {
    if !beta.is_finite() || beta < 0.0 {
        return Err(PyValueError::new_err(format!("beta {beta}: expected a number from 0")));
    }
    let chrf = Chrf::new(char_order, word_order)
        .map_err(value_error)?
        .beta(beta)
        .lowercase(lowercase)
        .whitespace(!remove_whitespace)
        .epsilon_smoothing(eps_smoothing);
    score(py, &chrf, &hypotheses, &references)
}

/// Returns TER and its signature.
#[pyfunction]
#[pyo3(signature = (hypotheses, references, *, normalized=false, no_punct=false,
                    asian_support=false, case_sensitive=false))]
pub fn score_ter(
    py: Python<'_>,
    #[pyo3(from_py_with = hypothesis_list)] hypotheses: Vec<String>,
    #[pyo3(from_py_with = reference_lists)] references: Vec<Vec<Option<String>>>,
    normalized: bool,
    no_punct: bool,
    asian_support: bool,
    case_sensitive: bool,
) -> PyResult<(f64, String)> {
    let ter = Ter { normalized, no_punctuation: no_punct, asian_support, case_sensitive };
    score(py, &ter, &hypotheses, &references)
}
