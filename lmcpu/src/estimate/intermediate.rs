//! KenLM's intermediate files, which its `interpolate` reads (`ngram-lm.md` 3.8).
//!
//! `BASE.kenlm_intermediate` lists the content, `BASE.vocab` has the words, `BASE.1`, `BASE.2` and
//! so on have the records of each order. Readers open a model by the first file. An old first file
//! is removed before any file is replaced, and the new one is finished last, so that no reader
//! takes half of a model for a whole one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use miriam_textio::{Output, display_name};

use super::records::Payload;
use super::renumbering::Renumbering;
use crate::Result;

/// Returns the intermediate files of a model of `order`, whose names begin with `base`: the header,
/// the words, and the records of each order.
pub fn intermediate_paths(base: &Path, order: usize) -> Vec<PathBuf> {
    let orders = (1..=order).map(|order| order.to_string());
    ["kenlm_intermediate", "vocab"]
        .map(String::from)
        .into_iter()
        .chain(orders)
        .map(|extension| {
            let mut name = OsString::from(base);
            name.push(".");
            name.push(extension);
            PathBuf::from(name)
        })
        .collect()
}

/// The files of a model that is being written.
pub(super) struct IntermediateFiles {
    header_path: PathBuf,
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
        let paths = intermediate_paths(base, order);
        let orders = paths[2..].iter().map(|path| Output::create_precompressed(path));
        Ok(IntermediateFiles {
            header: Output::create_precompressed(&paths[0])?,
            vocabulary: Output::create_precompressed(&paths[1])?,
            orders: orders.collect::<miriam_textio::Result<_>>()?,
            header_path: paths.into_iter().next().expect("the header comes first"),
        })
    }

    /// Writes the header and the words, which come before the records.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn write_head(
        &mut self,
        renumbering: &Renumbering<'_>,
        payload: Payload,
        counts: &[u64],
    ) -> Result<()> {
        let counts: String = counts.iter().map(|count| format!(" {count}")).collect();
        let payload = match payload {
            Payload::ProbabilityBackoff => "pb",
            Payload::Collapsed => "q",
        };
        let header = format!("KenLM intermediate binary file\nCounts{counts}\nPayload {payload}\n");
        self.header.write(header.as_bytes())?;
        for word in renumbering.words() {
            // No word has a NUL, which separates words of a text.
            self.vocabulary.write(word)?;
            self.vocabulary.write(&[0])?;
        }
        Ok(())
    }

    /// Writes the next records of `length` words.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn write_records(&mut self, length: usize, bytes: &[u8]) -> Result<()> {
        Ok(self.orders[length - 1].write(bytes)?)
    }

    /// Completes the files.
    ///
    /// # Errors
    ///
    /// If writing, syncing or renaming fails.
    pub fn finish(self) -> Result<()> {
        match fs::remove_file(&self.header_path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                let name = display_name(&self.header_path);
                return Err(miriam_textio::Error::io(&name, "replace", e).into());
            }
            _ => {}
        }
        self.orders.into_iter().try_for_each(Output::finish)?;
        self.vocabulary.finish()?;
        Ok(self.header.finish()?)
    }
}
