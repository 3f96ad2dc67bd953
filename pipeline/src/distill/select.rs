//! Selection of one translation per sentence, in one pass over the list and the references.

use std::path::Path;

use miriam_textio::n_best::{NBestForm, NBestReader};
use miriam_textio::{Input, Lines, Output, Progress, ProgressTask, display_name, ordered_map};

use super::metric::SelectionMetric;

use crate::{Error, Result};

/// The number of sentences that a worker gets at once.
const CHUNK: usize = 64;

/// Counts of the selected translations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionSummary {
    /// The number of sentences.
    pub sentences: u64,
    /// The number of sentences for which a translation other than the first was selected.
    pub not_first: u64,
    /// The number of sentences whose translation is empty.
    pub empty: u64,
}

/// A sentence's translations, and its reference.
struct Candidates {
    translations: Vec<Vec<u8>>,
    reference: Vec<u8>,
}

impl Candidates {
    /// Selects a translation by `metric`, or the first. Returns its index and text.
    fn select(mut self, metric: Option<SelectionMetric>) -> (usize, Vec<u8>) {
        let best = metric.map_or(0, |metric| metric.select(&self.reference, &self.translations));
        (best, self.translations.swap_remove(best))
    }
}

/// Writes one translation of each sentence of an n-best list, one per line: the best by the metric,
/// or the first without references.
///
/// # Errors
/// If a file cannot be read or written, a line is not an entry of an n-best list, or the numbers of
/// references and sentences differ.
pub fn select_from_list(
    list: &Path,
    reference: Option<(&Path, SelectionMetric)>,
    output: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<SelectionSummary> {
    let reader = NBestReader::new([list.to_owned()], NBestForm::Any);
    let mut selection = Selection::new(reader, &display_name(list), reference)?;
    let mut output = Output::create_atomic(output)?;
    let task = progress.task("selecting", None);
    let summary = selection.write(threads, &mut output, &task)?;
    output.finish()?;
    Ok(summary)
}

/// An n-best list, with references if translations are compared with them.
pub(super) struct Selection {
    list: NBestReader,
    list_name: String,
    references: Option<(Lines, SelectionMetric)>,
}

impl Selection {
    pub fn new(
        list: NBestReader,
        list_name: &str,
        reference: Option<(&Path, SelectionMetric)>,
    ) -> Result<Self> {
        let references = match reference {
            Some((path, metric)) => Some((Lines::new(Input::open(path)?), metric)),
            None => None,
        };
        Ok(Selection { list, list_name: list_name.to_owned(), references })
    }

    /// Writes the selected translation of each sentence, in order, and counts them in `task`.
    pub fn write(
        &mut self,
        threads: usize,
        output: &mut Output,
        task: &ProgressTask<'_>,
    ) -> Result<SelectionSummary> {
        let metric = self.references.as_ref().map(|(_, metric)| *metric);
        let mut summary = SelectionSummary::default();
        ordered_map(
            threads,
            || self.next_chunk(),
            || {
                move |chunk: Vec<Candidates>| -> Vec<(usize, Vec<u8>)> {
                    chunk.into_iter().map(|candidates| candidates.select(metric)).collect()
                }
            },
            |chunk: Vec<(usize, Vec<u8>)>, _| {
                for (best, text) in chunk {
                    summary.sentences += 1;
                    summary.not_first += u64::from(best > 0);
                    summary.empty += u64::from(text.is_empty());
                    output.write(&text)?;
                    output.write(b"\n")?;
                    task.advance(1);
                }
                Ok(())
            },
        )?;
        Ok(summary)
    }

    fn next_chunk(&mut self) -> Result<Option<Vec<Candidates>>> {
        let mut chunk = Vec::with_capacity(CHUNK);
        while chunk.len() < CHUNK {
            match self.next_candidates()? {
                Some(candidates) => chunk.push(candidates),
                None => break,
            }
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }

    fn next_candidates(&mut self) -> Result<Option<Candidates>> {
        let entries = self.list.next()?;
        let translations: Option<Vec<Vec<u8>>> =
            entries.map(|entries| entries.iter().map(|entry| entry.text().to_vec()).collect());
        let Some((lines, _)) = &mut self.references else {
            return Ok(
                translations.map(|translations| Candidates { translations, reference: Vec::new() })
            );
        };
        let reference_file = lines.name().to_owned();
        match (translations, lines.next()?) {
            (None, None) => Ok(None),
            (Some(translations), Some(line)) => {
                let text = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
                Ok(Some(Candidates { translations, reference: text.to_vec() }))
            }
            (Some(_), None) => Err(Error::invalid_options(format!(
                "{reference_file} has fewer lines than {} has sentences; give a list and a \
                 reference of the same text",
                self.list_name
            ))),
            (None, Some(line)) => Err(Error::invalid_options(format!(
                "{}: the list ends before line {} of {reference_file}; give a list and a \
                 reference of the same text",
                self.list_name, line.number
            ))),
        }
    }
}
