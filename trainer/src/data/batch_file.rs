//! Batches that are read from a file (`batches`, `docs/spec/training.md` A.16), for comparisons
//! with other programs and to repeat the updates of another training run.
//!
//! Each line lists the sentences of a micro-batch by their line numbers in the corpus, from 0. An
//! empty line ends an update. The file is one epoch, and every epoch has the same updates.

use std::path::Path;

use miriam_storage::hash::hash64;
use miriam_textio::fields::split_words;
use miriam_textio::{Input, Lines};

use super::ParallelCorpus;
use crate::error::Result;

/// The updates of one epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    /// The micro-batches of each update, as indices of pairs.
    updates: Vec<Vec<Vec<u32>>>,
    fingerprint: u64,
}

impl BatchFile {
    /// Reads the file `path`, and finds the pairs of its line numbers in `corpus`.
    ///
    /// # Errors
    /// If the file cannot be read, has no batches, has a word that is not a line number, or names a
    /// line that the corpus does not have or has left out.
    pub fn open(path: &Path, corpus: &ParallelCorpus) -> Result<Self> {
        let mut lines = Lines::new(Input::open(path)?);
        let name = lines.name().to_owned();
        let (mut updates, mut micro_batches) = (Vec::new(), Vec::new());
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let mut micro_batch = Vec::new();
            for word in split_words(line.bytes) {
                let text = String::from_utf8_lossy(word);
                let index = text.parse().ok().and_then(|line| corpus.index_of_line(line));
                let Some(index) = index else {
                    let reason = format!(
                        "{text:?} is not the line number, from 0, of a pair that is used in \
                         training (empty and long pairs are left out)"
                    );
                    return Err(miriam_textio::Error::format(&name, number, None, reason).into());
                };
                micro_batch.push(index as u32);
            }
            if !micro_batch.is_empty() {
                micro_batches.push(micro_batch);
            } else if !micro_batches.is_empty() {
                updates.push(std::mem::take(&mut micro_batches));
            }
        }
        if !micro_batches.is_empty() {
            updates.push(micro_batches);
        }
        if updates.is_empty() {
            let reason = "no batches: expected one line of numbers per micro-batch";
            return Err(miriam_textio::Error::format(&name, number, None, reason).into());
        }
        let bytes: Vec<u8> = (updates.iter())
            .flat_map(|update| update.iter().chain([const { &Vec::new() }]))
            .flat_map(|micro_batch| micro_batch.iter().chain([&u32::MAX]))
            .flat_map(|index| index.to_le_bytes())
            .collect();
        Ok(BatchFile { updates, fingerprint: hash64(&bytes) })
    }

    /// Returns the number of updates per epoch.
    pub fn len(&self) -> usize {
        self.updates.len()
    }

    /// Always false: a file without updates is an error.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty()
    }

    /// Returns the micro-batches of an update.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn update(&self, index: usize) -> &[Vec<u32>] {
        &self.updates[index]
    }

    /// Returns all micro-batches.
    pub fn micro_batches(&self) -> impl Iterator<Item = &[u32]> {
        self.updates.iter().flatten().map(Vec::as_slice)
    }

    /// Returns a hash of all batches.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LengthLimit;

    #[test]
    fn empty_lines_end_updates() {
        let mut corpus = ParallelCorpus::default();
        let limit = LengthLimit { tokens: 3, crops: false };
        let sides: [&[u32]; 4] = [&[5], &[5, 6, 7, 8], &[6], &[7]];
        sides.iter().for_each(|side| corpus.push([side, &[9]], [0, 0], limit));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("batches");
        let open = |text: &str| {
            std::fs::write(&path, text).unwrap();
            BatchFile::open(&path, &corpus)
        };
        let file = open("\n0 2\n3\n\n\n2\n").unwrap();
        assert_eq!(file.len(), 2);
        assert_eq!((file.update(0), file.update(1)), (&[vec![0, 1], vec![2]][..], &[vec![1]][..]));
        let same = open("0 2\n3\n\n2\n\n").unwrap();
        assert_eq!(same.fingerprint(), file.fingerprint());
        for other in ["0 2\n3\n2\n", "0\n2 3\n\n2\n", "0 2 3\n\n2\n"] {
            assert_ne!(open(other).unwrap().fingerprint(), file.fingerprint(), "{other:?}");
        }
        // The second line is too long for training.
        for (wrong, place) in [("0\n1\n", "batches, line 2"), ("4\n", "\"4\""), ("x", "\"x\"")] {
            let error = open(wrong).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
        assert!(open("\n\n").unwrap_err().to_string().contains("no batches"));
    }
}
