//! KenLM's intermediate files, which its `interpolate` reads (`ngram-lm.md` 3.8).
//!
//! `BASE.kenlm_intermediate` says what there is, `BASE.vocab` has the words, `BASE.1`,
//! `BASE.2` and so on have the records of each order. They appear when all are complete,
//! the first, by which readers open a model, last.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use miriam_textio::{Output, Progress, Vocabulary};

use super::records::{Payload, SortedRecords};
use super::word_order::WordOrder;
use crate::Result;
use crate::kenlm::word_strings;

/// The intermediate files of a model of `order`, whose names begin with `base`: the header,
/// the words, and the records of each order.
pub fn intermediate_paths(base: &Path, order: usize) -> Vec<PathBuf> {
    let path = |extension: String| {
        let mut name = OsString::from(base);
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    };
    let orders = (1..=order).map(|order| order.to_string());
    ["kenlm_intermediate", "vocab"].map(String::from).into_iter().chain(orders).map(path).collect()
}

/// The files of a model, which are written.
pub(super) struct IntermediateFiles {
    header: Output,
    vocabulary: Output,
    orders: Vec<Output>,
}

impl IntermediateFiles {
    /// Creates the files of a model of `order`, whose names begin with `base`.
    ///
    /// # Errors
    ///
    /// If a file cannot be created.
    pub fn create(base: &Path, order: usize) -> Result<Self> {
        let mut files = intermediate_paths(base, order).into_iter();
        let mut create = || -> Result<Output> {
            let path = files.next().expect("a name for each file");
            Ok(Output::create_precompressed(&path)?)
        };
        Ok(IntermediateFiles {
            header: create()?,
            vocabulary: create()?,
            orders: (0..order).map(|_| create()).collect::<Result<_>>()?,
        })
    }

    /// Writes the model.
    ///
    /// # Errors
    ///
    /// If writing fails, a word cannot be written, or `progress` cancels the work.
    pub fn write(
        &mut self,
        records: &SortedRecords<'_>,
        (vocabulary, words): (&Vocabulary, &WordOrder),
        payload: Payload,
        counts: &[u64],
        progress: &dyn Progress,
    ) -> Result<()> {
        let counts: String = counts.iter().map(|count| format!(" {count}")).collect();
        let payload = match payload {
            Payload::ProbabilityBackoff => "pb",
            Payload::Collapsed => "q",
        };
        let header = format!("KenLM intermediate binary file\nCounts{counts}\nPayload {payload}\n");
        self.header.write(header.as_bytes())?;
        let strings = (0..vocabulary.len() as u32).map(|new| words.word(new, vocabulary));
        self.vocabulary.write(&word_strings(strings, self.vocabulary.name())?)?;
        let task = progress.task("writing", Some(self.orders.len() as u64));
        for (length, output) in (1..).zip(&mut self.orders) {
            let bytes = |piece: Vec<u32>| -> Vec<u8> {
                piece.into_iter().flat_map(u32::to_le_bytes).collect()
            };
            records.for_each_piece(length, bytes, |piece| Ok(output.write(&piece)?), progress)?;
            task.advance(1);
        }
        Ok(())
    }

    /// Completes the files.
    ///
    /// # Errors
    ///
    /// If writing, syncing or renaming fails.
    pub fn finish(self) -> Result<()> {
        self.orders.into_iter().try_for_each(Output::finish)?;
        self.vocabulary.finish()?;
        Ok(self.header.finish()?)
    }
}
