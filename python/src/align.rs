//! `miriam.align`: word alignment of files.

use std::path::PathBuf;

use miriam_align::{AlignModel, AlignOptions, AlignSummary, Symmetrization};
use miriam_textio::{CancellableProgress, Input, NoProgress, is_same_file};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::errors::{os_error, unknown_choice};
use crate::interrupt::{Listeners, run_interruptible, run_observed};
use crate::lm::thread_count;

/// The numbers of pairs, links, pairs without words and too long pairs; perplexities of both
/// directions.
type Counts = (u64, u64, u64, u64, [Option<f64>; 2]);

fn counts(summary: AlignSummary) -> Counts {
    let AlignSummary { pairs, links, empty_pairs, too_long_pairs, perplexity, .. } = summary;
    (pairs, links, empty_pairs, too_long_pairs, perplexity)
}

pub(crate) fn symmetrization(name: &str) -> PyResult<Symmetrization> {
    let found = Symmetrization::ALL.into_iter().find(|how| how.name() == name);
    found.ok_or_else(|| {
        let names = Symmetrization::ALL.map(Symmetrization::name).join(", ");
        PyValueError::new_err(format!("symmetrize {name:?}: expected one of {names}"))
    })
}

/// Checks that no two outputs are the same file.
///
/// # Errors
///
/// `ValueError` with the names of both arguments.
fn check_outputs(outputs: &[(&str, &PathBuf)]) -> PyResult<()> {
    for (number, (name, path)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs[..number].iter().find(|(_, one)| is_same_file(one, path))
        {
            let path = path.display();
            return Err(PyValueError::new_err(format!(
                "{path}: {other} and {name} would write the same file; give each its own"
            )));
        }
    }
    Ok(())
}

/// Aligns two files line by line.
#[pyfunction]
#[pyo3(signature = (source, target, links, *, model=None, symmetrize="grow-diag-final-and",
                    iterations=None, hmm_iterations=None, memory=None, temp=None, save_model=None,
                    load_model=None, lexical_table=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn align(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    links: PathBuf,
    model: Option<&str>,
    symmetrize: &str,
    iterations: Option<usize>,
    hmm_iterations: Option<usize>,
    memory: Option<u64>,
    temp: Option<PathBuf>,
    save_model: Option<PathBuf>,
    load_model: Option<PathBuf>,
    lexical_table: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Counts> {
    let trains = [
        ("model", model.is_some()),
        ("iterations", iterations.is_some()),
        ("hmm_iterations", hmm_iterations.is_some()),
    ];
    if load_model.is_some()
        && let Some((name, _)) = trains.into_iter().find(|(_, is_given)| *is_given)
    {
        let message = format!("{name} cannot be used with load_model, which does not train");
        return Err(PyValueError::new_err(message));
    }
    let model = match model {
        None | Some("ibm2") => AlignModel::Ibm2,
        Some("hmm") => AlignModel::Hmm,
        Some(name) => return Err(unknown_choice("model", name, "ibm2 or hmm")),
    };
    if hmm_iterations.is_some() && model == AlignModel::Ibm2 {
        return Err(PyValueError::new_err("hmm_iterations needs model=\"hmm\""));
    }
    if let Some(found @ ..2) = iterations {
        let message =
            format!("iterations: expected at least 2, found {found}; the last one only aligns");
        return Err(PyValueError::new_err(message));
    }
    if load_model.is_some() && (save_model.is_some() || lexical_table.is_some()) {
        let message = "save_model and lexical_table cannot be used with load_model, which does \
                       not train";
        return Err(PyValueError::new_err(message));
    }
    let options = AlignOptions {
        model,
        symmetrization: symmetrization(symmetrize)?,
        threads: thread_count(threads)?,
        iterations,
        hmm_iterations,
        memory,
        temp_dir: temp,
        save_model,
        load_model,
        lexical_table,
        ..AlignOptions::default()
    };
    let outputs = [
        ("links", Some(&links)),
        ("save_model", options.save_model.as_ref()),
        ("lexical_table", options.lexical_table.as_ref()),
    ];
    let outputs: Vec<(&str, &PathBuf)> =
        outputs.into_iter().filter_map(|(name, path)| Some((name, path?))).collect();
    check_outputs(&outputs)?;
    let listeners = Listeners { progress, log: None };
    let outcome = run_observed(py, &listeners, |progress| {
        let inputs = [Some(&source), Some(&target), options.load_model.as_ref()];
        for input in inputs.into_iter().flatten() {
            for (_, output) in &outputs {
                Input::check_access(input, Some(output)).map_err(|error| error.to_string())?;
            }
        }
        miriam_align::align_files(&source, &target, &links, &options, progress)
            .map_err(|error| error.to_string())
    })?;
    outcome.map(counts).map_err(PyOSError::new_err)
}

/// Symmetrizes the links of two files, one for each direction, line by line.
#[pyfunction]
#[pyo3(signature = (forward, reverse, links, *, symmetrize="grow-diag-final-and", threads=0))]
pub fn symmetrize_links(
    py: Python<'_>,
    forward: PathBuf,
    reverse: PathBuf,
    links: PathBuf,
    symmetrize: &str,
    threads: usize,
) -> PyResult<Counts> {
    let how = symmetrization(symmetrize)?;
    let threads = thread_count(threads)?;
    let outcome = run_interruptible(py, |stop| {
        for input in [&forward, &reverse] {
            Input::check_access(input, Some(&links)).map_err(|error| error.to_string())?;
        }
        let progress = CancellableProgress { shown: &NoProgress, stop };
        miriam_align::symmetrize_files(&forward, &reverse, &links, how, threads, &progress)
            .map_err(|error| error.to_string())
    })?;
    outcome.map(counts).map_err(PyOSError::new_err)
}

/// Computes precision, recall and alignment error rate of the links of a file.
#[pyfunction]
pub fn evaluate_links(py: Python<'_>, links: PathBuf, gold: PathBuf) -> PyResult<(f64, f64, f64)> {
    let outcome = run_interruptible(py, |stop| {
        let progress = CancellableProgress { shown: &NoProgress, stop };
        miriam_align::evaluate_alignment(&links, &gold, &progress)
    })?;
    let found = outcome.map_err(os_error)?;
    Ok((found.precision(), found.recall(), found.error_rate()))
}
