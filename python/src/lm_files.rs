//! `miriam.lm`: files of language models: estimation, building, filtering and writing as ARPA text.

use std::path::PathBuf;

use miriam_glm::GlmOptions;
use miriam_lmcpu::estimate::{EstimateOptions, EstimateSummary};
use miriam_lmcpu::filter::{FilterFormat, FilterMode, FilterOptions, filter};
use miriam_lmcpu::kenlm::{
    KenlmProbingOptions, KenlmTrieOptions, build_kenlm_probing, build_kenlm_trie,
};
use miriam_lmcpu::probing::{ModelSize, build_probing};
use miriam_lmcpu::trie::{QuantizationBits, build_trie};
use miriam_textio::{CancellableProgress, Input, NoProgress, Output};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{os_error, unknown_choice, value_error};
use crate::interrupt::{Listeners, run_interruptible, run_observed};
use crate::lm::{parse_arpa_options, thread_count};
use crate::open::on_own_threads;

/// Estimates a model from the file `text` and writes it to the file `arpa`. Returns the numbers of
/// words, of different words, and of n-grams of each order.
#[pyfunction]
#[pyo3(signature = (text, *, order, arpa, prune=Vec::new(), limit_vocab=None, vocab_pad=0,
                    discount_fallback=None, interpolate_unigrams=true, skip_symbols=false,
                    memory=None, temp=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn estimate(
    py: Python<'_>,
    text: PathBuf,
    order: usize,
    arpa: PathBuf,
    prune: Vec<u64>,
    limit_vocab: Option<PathBuf>,
    vocab_pad: u64,
    discount_fallback: Option<[f32; 3]>,
    interpolate_unigrams: bool,
    skip_symbols: bool,
    memory: Option<u64>,
    temp: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64, Vec<u64>)> {
    let defaults = EstimateOptions::new(order);
    let options = EstimateOptions {
        prune,
        limit_vocab,
        vocab_pad,
        discount_fallback,
        interpolate_unigrams,
        skip_symbols,
        memory: memory.unwrap_or(defaults.memory),
        temp_dir: temp.unwrap_or_else(|| defaults.temp_dir.clone()),
        threads: thread_count(threads)?,
        ..defaults
    };
    options.validate().map_err(value_error)?;
    let listeners = Listeners { progress, log: None };
    let outcome =
        run_observed(py, &listeners, |observer| -> miriam_lmcpu::Result<EstimateSummary> {
            for input in [Some(&text), options.limit_vocab.as_ref()].into_iter().flatten() {
                Input::check_access(input, Some(&arpa))?;
            }
            let input = Input::open(&text)?;
            let mut output = Output::create_atomic(&arpa)?;
            let summary = miriam_lmcpu::estimate::estimate(&options, input, &mut output, observer)?;
            output.finish()?;
            Ok(summary)
        })?;
    let EstimateSummary { tokens, types, counts, .. } = outcome.map_err(os_error)?;
    Ok((tokens, types, counts))
}

/// Builds the model file `out` from ARPA text or another model file. Returns the number of n-grams
/// of each order.
#[pyfunction]
#[pyo3(signature = (arpa, out, *, r#type="probing", quantize=None, duplicates="reject",
                    positive="reject", missing_markers="reject",
                    threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn build(
    py: Python<'_>,
    arpa: PathBuf,
    out: PathBuf,
    r#type: &str,
    quantize: Option<(u32, u32)>,
    duplicates: &str,
    positive: &str,
    missing_markers: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<u64>> {
    let kind = r#type;
    if !["probing", "trie", "glm", "kenlm-probing", "kenlm-trie"].contains(&kind) {
        let kinds = "probing, trie, glm, kenlm-probing or kenlm-trie";
        return Err(unknown_choice("type", kind, kinds));
    }
    if quantize.is_some() && !["trie", "kenlm-trie"].contains(&kind) {
        return Err(PyValueError::new_err(
            "quantize: requires type=\"trie\" or type=\"kenlm-trie\"",
        ));
    }
    let bits = match quantize.map(|(prob, backoff)| QuantizationBits::new(prob, backoff)) {
        None => None,
        Some(Some(bits)) => Some(bits),
        Some(None) => {
            let most = QuantizationBits::MAX;
            return Err(PyValueError::new_err(format!("quantize: expected bits from 1 to {most}")));
        }
    };
    let options = parse_arpa_options([duplicates, positive, missing_markers])?;
    let threads = thread_count(threads)?;
    let listeners = Listeners { progress, log: None };
    let outcome = run_observed(py, &listeners, |progress| {
        on_own_threads(threads, || -> miriam_lmcpu::Result<ModelSize> {
            Input::check_access(&arpa, Some(&out))?;
            match kind {
                "glm" => {
                    let layout = GlmOptions::default();
                    miriam_glm::build_glm(&arpa, &out, &layout, options, progress)
                }
                "trie" => build_trie(&arpa, &out, bits, options, progress),
                "kenlm-trie" => {
                    let layout = KenlmTrieOptions { quantize: bits, ..KenlmTrieOptions::default() };
                    build_kenlm_trie(&arpa, &out, layout, options, progress)
                }
                "kenlm-probing" => {
                    let layout = KenlmProbingOptions::default();
                    build_kenlm_probing(&arpa, &out, layout, options, progress)
                }
                _ => build_probing(&arpa, &out, options, progress),
            }
        })
    })?;
    Ok(outcome.map_err(PyRuntimeError::new_err)?.map_err(os_error)?.counts)
}

/// Reduces the ARPA text or n-grams in `model` to those that the sentences in `vocab` may need.
/// Returns the numbers of n-grams read and written.
#[pyfunction]
#[pyo3(signature = (model, vocab, out, *, mode="single", format="arpa", context=false,
                    phrases=false, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn filter_ngrams(
    py: Python<'_>,
    model: PathBuf,
    vocab: PathBuf,
    out: PathBuf,
    mode: &str,
    format: &str,
    context: bool,
    phrases: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64)> {
    let options = FilterOptions {
        mode: match mode {
            "single" => FilterMode::Single,
            "multiple" => FilterMode::Multiple,
            "union" => FilterMode::Union,
            _ => {
                let message = format!("mode {mode:?}: give single, multiple or union");
                return Err(PyValueError::new_err(message));
            }
        },
        format: match format {
            "arpa" => FilterFormat::Arpa,
            "raw" => FilterFormat::Raw,
            _ => return Err(PyValueError::new_err(format!("format {format:?}: give arpa or raw"))),
        },
        context,
        phrases,
        threads: thread_count(threads)?,
    };
    options.validate().map_err(value_error)?;
    if miriam_lmcpu::is_binary_model(&model) {
        return Err(PyValueError::new_err(format!(
            "{}: binary models cannot be filtered; convert the model to ARPA text first (dump)",
            model.display()
        )));
    }
    let listeners = Listeners { progress, log: None };
    let outcome = run_observed(py, &listeners, |observer| -> miriam_lmcpu::Result<(u64, u64)> {
        for input in [&model, &vocab] {
            Input::check_access(input, Some(&out))?;
        }
        let (text, words) = (Input::open(&model)?, Input::open(&vocab)?);
        filter(text, words, &out, &options, observer)
    })?;
    outcome.map_err(os_error)
}

/// Writes the model at `model` to the file `arpa` as ARPA text.
#[pyfunction]
#[pyo3(signature = (model, arpa, *, duplicates="reject", positive="reject",
                    missing_markers="reject", threads=0))]
pub fn dump(
    py: Python<'_>,
    model: PathBuf,
    arpa: PathBuf,
    duplicates: &str,
    positive: &str,
    missing_markers: &str,
    threads: usize,
) -> PyResult<()> {
    let options = parse_arpa_options([duplicates, positive, missing_markers])?;
    let threads = thread_count(threads)?;
    let outcome = run_interruptible(py, |stop| {
        on_own_threads(threads, || -> Result<(), miriam_glm::Error> {
            let lm = miriam_lmcpu::Error::from;
            Input::check_access(&model, Some(&arpa)).map_err(lm)?;
            let progress = CancellableProgress { shown: &NoProgress, stop };
            let mut source = miriam_glm::open_source(&model, options, &progress)?;
            let mut output = Output::create_atomic(&arpa).map_err(lm)?;
            miriam_lmcpu::dump(&mut *source, &mut output, &progress)?;
            Ok(output.finish().map_err(lm)?)
        })
    })?;
    outcome.map_err(PyRuntimeError::new_err)?.map_err(os_error)
}
