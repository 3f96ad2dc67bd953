//! `miriam.combine`: minimum Bayes risk and reranking of n-best lists in files or in memory.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use miriam_combine::ListInput;
use miriam_combine::mbr::{MbrOptions, MbrOutput, ReferenceWeights, minimize_risk};
use miriam_combine::rerank::{RerankOutput, rerank};
use miriam_combine::weights::FeatureWeights;
use miriam_metrics::bleu::Smoothing;
use miriam_metrics::mbr::{Estimate, Utility};
use miriam_metrics::{Bleu, Chrf, Ter};
use miriam_textio::n_best::{NBestForm, NBestReader};
use miriam_textio::{Input, Lines, Output, Progress, SharedBuffer};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::{unknown_choice, value_error};
use crate::interrupt::{Listeners, run_observed};
use crate::lm::thread_count;
use crate::metrics::open_tokenizer;

/// The texts and totals of the entries of each sentence.
type RankedLists = Vec<Vec<(Vec<u8>, f64)>>;
/// The lines of the best translations or the lists, and the counts. If a file was written, there
/// are neither lines nor lists.
type Outcome<C> = (Option<Vec<u8>>, Option<RankedLists>, C);
/// The numbers of sentences, of entries, of different translations, of winners that are not the
/// first entry, of winners worse than the exact ones, and the loss.
type RiskCounts = (u64, u64, u64, u64, u64, f64);

/// An n-best list from Python: its lines, or its file.
#[derive(FromPyObject)]
pub enum ListArgument {
    Text(PyBackedBytes),
    File(PathBuf),
}

impl ListArgument {
    /// Converts the argument to an input; `number` is its position among the lists of the call.
    fn into_input(self, number: usize) -> ListInput {
        match self {
            ListArgument::File(path) => ListInput::File(path),
            ListArgument::Text(text) => {
                ListInput::Text { name: format!("list {number}"), text: text.to_vec() }
            }
        }
    }
}

/// Returns the entries of a list that was written to memory.
fn read_lists(written: Vec<u8>, form: NBestForm) -> miriam_textio::Result<RankedLists> {
    let input = Input::from_reader(Cursor::new(written), "the output", None)?;
    let mut reader = NBestReader::from_lines(Lines::new(input), form);
    let mut lists = Vec::new();
    while let Some(entries) = reader.next()? {
        let ranked = entries.iter().map(|entry| Ok((entry.text().to_vec(), entry.total()?)));
        lists.push(ranked.collect::<miriam_textio::Result<_>>()?);
    }
    Ok(lists)
}

/// Runs `work` with an output: the file at `output`, or memory. Returns the bytes in memory or, if
/// `lists` names a form of lists, the entries that these bytes contain.
fn run_with_output<T: Send>(
    py: Python<'_>,
    inputs: &[PathBuf],
    output: Option<&Path>,
    lists: Option<NBestForm>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Output, &dyn Progress) -> miriam_combine::Result<T> + Send,
) -> PyResult<Outcome<T>> {
    let buffer = SharedBuffer::default();
    let written = buffer.clone();
    let listeners = Listeners { progress, log: None };
    let outcome = run_observed(py, &listeners, |progress| {
        for input in inputs {
            Input::check_access(input, output)?;
        }
        let output = match output {
            Some(path) => Output::create(path)?,
            None => Output::from_writer(written, "memory")?,
        };
        work(output, progress)
    })?;
    match outcome {
        Ok(found) => {
            let bytes = buffer.take();
            match (output, lists) {
                (Some(_), _) => Ok((None, None, found)),
                (None, None) => Ok((Some(bytes), None, found)),
                (None, Some(form)) => {
                    let lists = py.detach(|| read_lists(bytes, form));
                    let lists = lists.map_err(value_error)?;
                    Ok((None, Some(lists), found))
                }
            }
        }
        Err(miriam_combine::Error::Cancelled) => Err(PyKeyboardInterrupt::new_err(())),
        Err(error) => Err(value_error(error)),
    }
}

/// The options of the three metrics, with the names and values of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct MetricArguments {
    tokenize: String,
    tokenize_model: Option<PathBuf>,
    lowercase: bool,
    smooth_method: String,
    smooth_value: Option<f64>,
    chrf_char_order: usize,
    chrf_word_order: usize,
    chrf_beta: u32,
    chrf_whitespace: bool,
    chrf_lowercase: bool,
    chrf_eps_smoothing: bool,
    ter_case_sensitive: bool,
    ter_asian_support: bool,
    ter_no_punct: bool,
    ter_normalized: bool,
}

impl MetricArguments {
    fn utility(self, name: &str) -> PyResult<Utility> {
        Ok(match name {
            "chrf" => Utility::Chrf(
                Chrf::new(self.chrf_char_order, self.chrf_word_order)
                    .map_err(value_error)?
                    .beta(self.chrf_beta)
                    .whitespace(self.chrf_whitespace)
                    .lowercase(self.chrf_lowercase)
                    .epsilon_smoothing(self.chrf_eps_smoothing),
            ),
            "bleu" => Utility::Bleu(Bleu {
                tokenizer: open_tokenizer(&self.tokenize, self.tokenize_model)?,
                lowercase: self.lowercase,
                smoothing: Smoothing::from_name(&self.smooth_method, self.smooth_value)
                    .map_err(value_error)?,
                effective_order: true,
            }),
            "ter" => Utility::Ter(Ter {
                normalized: self.ter_normalized,
                no_punctuation: self.ter_no_punct,
                asian_support: self.ter_asian_support,
                case_sensitive: self.ter_case_sensitive,
            }),
            _ => return Err(unknown_choice("utility", name, "chrf, bleu or ter")),
        })
    }
}

/// Chooses translations by minimum Bayes risk.
#[pyfunction]
#[pyo3(signature = (lists, *, output, utility, metrics, weights, scale, list_weights, estimate, keep,
                    show_loss, write_lists, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments of Python")]
pub fn minimum_bayes_risk(
    py: Python<'_>,
    lists: Vec<ListArgument>,
    output: Option<PathBuf>,
    utility: &str,
    metrics: MetricArguments,
    weights: &str,
    scale: f64,
    list_weights: Vec<f64>,
    estimate: &str,
    keep: usize,
    show_loss: bool,
    write_lists: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome<RiskCounts>> {
    let options = MbrOptions {
        utility: metrics.utility(utility)?,
        estimate: match estimate {
            "exact" => Estimate::Exact,
            "aggregate" => Estimate::Aggregate,
            "coarse-to-fine" => Estimate::CoarseToFine(keep),
            _ => {
                let names = "exact, aggregate or coarse-to-fine";
                return Err(unknown_choice("estimate", estimate, names));
            }
        },
        weights: match weights {
            "posterior" => ReferenceWeights::Posterior { scale },
            "uniform" => ReferenceWeights::Uniform,
            _ => return Err(unknown_choice("weights", weights, "posterior or uniform")),
        },
        list_weights,
        measures_loss: show_loss,
        output: if write_lists { MbrOutput::Lists } else { MbrOutput::Best },
        threads: thread_count(threads)?,
    };
    let lists = lists.into_iter().enumerate().map(|(number, list)| list.into_input(number));
    let lists: Vec<ListInput> = lists.collect();
    let files = files(&lists);
    // The last fields of an entry are the features and the total, so all bars before them belong to
    // its text.
    let form = write_lists.then_some(NBestForm::Plain);
    let (best, ranked, summary) =
        run_with_output(py, &files, output.as_deref(), form, progress, |output, progress| {
            minimize_risk(lists, &options, output, progress)
        })?;
    let counts = (
        summary.sentences,
        summary.entries,
        summary.candidates,
        summary.not_first,
        summary.worse,
        summary.loss,
    );
    Ok((best, ranked, counts))
}

/// Returns the files among lists.
fn files(lists: &[ListInput]) -> Vec<PathBuf> {
    let path = |list: &ListInput| match list {
        ListInput::File(path) => Some(path.clone()),
        ListInput::Text { .. } => None,
    };
    lists.iter().filter_map(path).collect()
}

/// Chooses the entries of a list with the largest sum of weighted features. Also returns the number
/// of sentences, and the number of sentences whose best entry is not the first.
#[pyfunction]
#[pyo3(signature = (list, weights, *, output, write_lists, threads, progress))]
pub fn rerank_list(
    py: Python<'_>,
    list: ListArgument,
    weights: ListArgument,
    output: Option<PathBuf>,
    write_lists: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome<(u64, u64)>> {
    let kind = if write_lists { RerankOutput::Lists } else { RerankOutput::Best };
    let threads = thread_count(threads)?;
    let list = list.into_input(0);
    let mut inputs = files(std::slice::from_ref(&list));
    if let ListArgument::File(path) = &weights {
        inputs.push(path.clone());
    }
    // Entries keep the fields that their program wrote.
    let form = write_lists.then_some(NBestForm::Any);
    let (best, ranked, summary) =
        run_with_output(py, &inputs, output.as_deref(), form, progress, |output, progress| {
            let weights = match weights {
                ListArgument::File(path) => FeatureWeights::read(&path)?,
                ListArgument::Text(text) => {
                    let name = "weights";
                    let input = Input::from_reader(Cursor::new(text.to_vec()), name, None)?;
                    FeatureWeights::from_lines(Lines::new(input), name.into())?
                }
            };
            rerank(list, &weights, kind, threads, output, progress)
        })?;
    Ok((best, ranked, (summary.sentences, summary.not_first)))
}
