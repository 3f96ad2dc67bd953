//! An estimate of the disk space of a training run, reported before it begins.
//!
//! The numbers are bounds, not predictions. A text of n words (the larger side) gives at most
//! about 2.2 n distinct phrase pairs up to 7 words long (2.1 on 29,000 captions, 1.5 on 739,000
//! pairs of legal text; the factor falls with the size of the text). A pair takes about
//! 110 bytes in both text tables together, and at most 70 bytes at once in temporary files, which
//! are compressed or hold the pair in a shorter form.

use std::path::Path;

use miriam_textio::display_name;

use crate::TrainOptions;

/// Bytes of a phrase pair in the binary table, reordering included.
const TABLE_BYTES_PER_PAIR: u64 = 45;
/// Bytes of a phrase pair in temporary files: spills and compressed tables.
const TEMPORARY_BYTES_PER_PAIR: u64 = 70;
/// Distinct phrase pairs per word of text, times ten.
const PAIRS_PER_TEN_WORDS: u64 = 22;
/// Bytes of text per word, the space included.
const BYTES_PER_WORD: u64 = 5;

/// The disk space of a training run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiskEstimate {
    /// The upper bound of the number of phrase pairs.
    pub phrase_pairs: u64,
    /// The size of the trained model in bytes.
    pub model_bytes: u64,
    /// The size of temporary files in bytes.
    pub temporary_bytes: u64,
}

impl DiskEstimate {
    /// Estimates the space from the uncompressed sizes of the texts in bytes.
    pub fn new(parallel: u64, lm_text: u64, options: &TrainOptions) -> Self {
        let length = options.max_length.min(7) as u64;
        let phrase_pairs = parallel / 2 / BYTES_PER_WORD * PAIRS_PER_TEN_WORDS / 10 * length / 7;
        // An n-gram takes about 20 bytes in a binary model and about 40 in ARPA text. In each order
        // above the lowest, a text has about three n-grams for every four words.
        let ngrams =
            lm_text / BYTES_PER_WORD * options.lm_order.saturating_sub(1).max(1) as u64 * 3 / 4;
        DiskEstimate {
            phrase_pairs,
            model_bytes: phrase_pairs * TABLE_BYTES_PER_PAIR + ngrams * 20,
            temporary_bytes: phrase_pairs * TEMPORARY_BYTES_PER_PAIR
                + ngrams * 40
                + 2 * parallel
                + lm_text,
        }
    }

    /// Adds neural models of both directions. `model` is the size in bytes of all files of one
    /// model, and of its largest file, which exists twice while it is replaced. If `monolingual`
    /// is not 0, adds a third model and the back-translation of a text of this size in bytes.
    pub fn add_neural(&mut self, model: [u64; 2], parallel: u64, monolingual: u64) {
        let [files, largest] = model;
        let mut models = 2;
        if monolingual > 0 {
            models += 1;
            // Temporary files have the text, its translations in lists and in the training text,
            // and the parallel text, which is repeated until it is as long as the text with its
            // translations.
            self.temporary_bytes += 7 * monolingual + parallel;
        }
        self.model_bytes += models * files;
        self.temporary_bytes += largest;
    }

    /// Logs the estimate, and warns if the disk has less free space.
    pub fn log(&self, options: &TrainOptions) {
        tracing::info!(
            "{} threads, {} MiB of memory; in {}: at most about {} MiB of temporary files and {} \
             MiB of model",
            options.threads,
            mib(options.memory),
            display_name(&options.output),
            mib(self.temporary_bytes),
            mib(self.model_bytes)
        );
        if let Some(free) = free_disk_bytes(&options.output)
            && free < self.temporary_bytes + self.model_bytes
        {
            tracing::warn!(
                "{}: {} MiB are free on this disk, which may not be enough; finished stages are \
                 kept, so the same command can resume when there is space",
                display_name(&options.output),
                mib(free)
            );
        }
    }
}

/// Converts bytes to MiB, rounded up.
fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Returns the free space of the disk of `folder` in bytes, if the system reports it.
fn free_disk_bytes(folder: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}

/// Returns the approximate uncompressed size of the file at `path` in bytes. Compression leaves
/// between a third and a fourth of a text.
pub(crate) fn uncompressed_size(path: &Path) -> u64 {
    let packed = std::fs::metadata(path).map_or(0, |found| found.len());
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz" | "zst" | "bz2" | "xz") => 4 * packed,
        _ => packed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neural_models_are_added() {
        let before = DiskEstimate { phrase_pairs: 1, model_bytes: 1000, temporary_bytes: 100 };
        let mut models = before;
        models.add_neural([70, 40], 10, 0);
        assert_eq!(models, DiskEstimate { model_bytes: 1140, temporary_bytes: 140, ..before });
        let mut with_text = before;
        with_text.add_neural([70, 40], 10, 5);
        assert_eq!(with_text, DiskEstimate { model_bytes: 1210, temporary_bytes: 185, ..before });
    }
}
