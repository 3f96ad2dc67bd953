//! Selecting one translation of each sentence, in one pass over list and references.

use std::path::Path;

use miriam_textio::{Input, Lines, Output, Progress, display_name, ordered_map};

use super::metric::SelectionMetric;
use super::n_best_list::{ListForm, NBestReader};
use crate::{Error, Result};

/// Sentences that a worker gets at once.
const CHUNK: usize = 64;

/// What was selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionSummary {
    /// Sentences.
    pub sentences: u64,
    /// Sentences of which another translation than the first was selected.
    pub not_first: u64,
    /// Sentences whose translation is empty.
    pub empty: u64,
}

/// A sentence's translations and what they are compared with.
struct Candidates {
    translations: Vec<Vec<u8>>,
    reference: Vec<u8>,
}

/// Writes the best translation of each sentence of an n-best list, a line each.
///
/// # Errors
/// Files that cannot be read or written, a line that is not an entry, or not as many references as
/// sentences.
pub fn select_from_list(
    list: &Path,
    reference: Option<(&Path, SelectionMetric)>,
    output: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<SelectionSummary> {
    let reader = NBestReader::new([list.to_owned()], ListForm::Any);
    let mut selection = Selection::new(reader, &display_name(list), reference)?;
    let mut output = Output::create_atomic(output)?;
    let task = progress.task("selecting", None);
    let summary = selection.run(threads, |best| {
        output.write(&best)?;
        output.write(b"\n")?;
        task.advance(1);
        Ok(())
    })?;
    output.finish()?;
    Ok(summary)
}

/// A list with its references, if translations are compared.
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

    /// Gives `write` the selected translation of each sentence, in order.
    pub fn run(
        &mut self,
        threads: usize,
        mut write: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<SelectionSummary> {
        let metric = self.references.as_ref().map(|(_, metric)| *metric);
        let mut summary = SelectionSummary::default();
        let select = |candidates: Candidates| {
            let Candidates { mut translations, reference } = candidates;
            let best = metric.map_or(0, |metric| metric.select(&reference, &translations));
            (best, translations.swap_remove(best))
        };
        let read = || self.next_chunk();
        let worker = || {
            move |chunk: Vec<Candidates>| -> Vec<(usize, Vec<u8>)> {
                chunk.into_iter().map(select).collect()
            }
        };
        ordered_map(threads, read, worker, |chunk: Vec<(usize, Vec<u8>)>, _| {
            for (best, text) in chunk {
                summary.sentences += 1;
                summary.not_first += u64::from(best > 0);
                summary.empty += u64::from(text.is_empty());
                write(text)?;
            }
            Ok(())
        })?;
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
        let translations = self.list.next()?;
        let Some((lines, _)) = &mut self.references else {
            return Ok(
                translations.map(|translations| Candidates { translations, reference: Vec::new() })
            );
        };
        let reference_file = lines.name().to_owned();
        let wrong = |reason: String| Err(Error::Options { reason });
        match (translations, lines.next()?) {
            (None, None) => Ok(None),
            (Some(translations), Some(line)) => {
                let text = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
                Ok(Some(Candidates { translations, reference: text.to_vec() }))
            }
            (Some(_), None) => wrong(format!(
                "{reference_file} has fewer lines than {} has sentences: they must be of the same \
                 text",
                self.list_name
            )),
            (None, Some(line)) => {
                let number = line.number;
                wrong(format!(
                    "{}: the list ends before line {number} of {reference_file}: they must be of \
                     the same text",
                    self.list_name
                ))
            }
        }
    }
}
