//! KenLM's binary files (`ngram-lm.md` 2.6 to 2.12), used without conversion: opening
//! one maps it and checks sizes, in time that does not grow with the model (except for
//! array-compressed tries, whose small arrays are read once).
//!
//! Scores, states and printed numbers equal KenLM's from the same file, to the
//! bit. The kinds of files differ in:
//!
//! - Word ids. Probing files number words as the ARPA file did, tries by the
//!   order of their hashes.
//! - Zero. A word of probability 1 scores -0 in a probing file, where the sign bit is a
//!   flag, and 0 as a unigram of a trie.
//! - Counts in the header. Probing files repeat the counts of the ARPA file; entries
//!   made for missing suffixes are not counted. Tries count these entries, and
//!   `<unk>` even if the ARPA file had none.
//! - N-grams. A trie has their words. A probing file has hashes only; `ngram_recovery`
//!   finds the words.
//! - Values. Quantised tries keep the centres of bins, not the values of the model.
//!
//! A damaged body may give wrong scores, but it never causes a panic or an endless search.

mod bit_packing;
mod bulk_insert;
mod header;
mod ngram_recovery;
mod probing;
mod probing_builder;
mod rest_costs;
mod sizes;
mod source;
mod table;
mod trie;
mod trie_builder;
mod unaligned;
mod vocabulary;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use miriam_storage::{Bytes, LoadMethod};
use miriam_textio::{Progress, display_name};

use crate::arpa::KENLM_MAGIC;
use crate::{ArpaOptions, Error, LanguageModel, MAX_ORDER, NgramSource, Result, open_source};

use header::{Header, ModelType};
use probing::ProbingFile;
use trie::TrieFile;

pub use probing_builder::{KenlmProbingOptions, build_kenlm_probing, build_kenlm_rest_probing};
pub use sizes::{KenlmSizes, SizeOptions, kenlm_sizes};
pub use trie_builder::{KenlmTrieOptions, build_kenlm_trie};
pub(crate) use vocabulary::sort_by_hash;
#[cfg(test)]
pub(crate) use vocabulary::word_hash;

/// Whether the file at `path` is a KenLM binary file, complete or not.
pub(crate) fn is_kenlm_binary(path: &Path) -> bool {
    let mut start = [0; KENLM_MAGIC.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == KENLM_MAGIC
}

/// Opens the model at `path`, in any format that [`open_source`] reads, to build a file for KenLM
/// from it.
///
/// # Errors
///
/// If the model cannot be read, KenLM has no models of its order, or the value of `arpa` for
/// `<unk>` is not a log probability.
fn open_for_building<'p>(
    path: &Path,
    arpa: ArpaOptions,
    progress: &'p dyn Progress,
) -> Result<Box<dyn NgramSource + 'p>> {
    let unknown_log10 = arpa.unknown_log10;
    if unknown_log10.is_nan() || unknown_log10 > 0.0 {
        let reason = format!("{unknown_log10} is not a log10 probability for <unk>");
        return Err(Error::Unsupported { file: display_name(path), reason });
    }
    let source = open_source(path, arpa, progress)?;
    match source.order() {
        2..=MAX_ORDER => Ok(source),
        order => Err(unsupported_order(display_name(path), order)),
    }
}

fn unsupported_order(file: String, order: usize) -> Error {
    let reason = format!("KenLM has no models of order {order}; its models have bigrams at least");
    Error::Unsupported { file, reason }
}

/// A KenLM binary file of any kind.
pub struct KenlmFile(FileBody);

enum FileBody {
    /// Type 0.
    Probing(ProbingFile<8, 16>),
    /// Type 1, with rest costs.
    RestProbing(ProbingFile<12, 20>),
    /// Types 2 to 5.
    Trie(TrieFile),
}

impl KenlmFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is incomplete or damaged, or is of an unsupported
    /// type or version.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_bytes(&Bytes::open(path, load)?, path)
    }

    /// Reads a file with this content; `path` is its name for messages.
    ///
    /// # Errors
    ///
    /// If the file is incomplete or damaged, or is of an
    /// unsupported type or version.
    pub fn from_bytes(bytes: &Bytes, path: &Path) -> Result<Self> {
        let header = Header::read(bytes, path)?;
        Ok(KenlmFile(match header.model_type {
            ModelType::Probing => FileBody::Probing(ProbingFile::new(bytes, path, header)?),
            ModelType::RestProbing => FileBody::RestProbing(ProbingFile::new(bytes, path, header)?),
            ModelType::Trie { .. } => FileBody::Trie(TrieFile::new(bytes, path, header)?),
        }))
    }

    /// Returns the file as a model that scores.
    pub fn into_model(self) -> Arc<dyn LanguageModel> {
        match self.0 {
            FileBody::Probing(file) => Arc::new(file),
            FileBody::RestProbing(file) => Arc::new(file),
            FileBody::Trie(file) => Arc::new(file),
        }
    }

    /// Returns the file as lists of n-grams; `path` is its name for messages. The n-grams of a
    /// probing file are recovered from their hashes, on rayon's current threads, in time that grows
    /// with the square of the vocabulary: a minute of one core for 89,000 words, two hours for a
    /// million.
    ///
    /// # Errors
    ///
    /// If the file does not hold the strings of its words or is damaged, or if hashes of a probing
    /// file match several n-grams.
    pub fn into_source(self, path: &Path) -> Result<Box<dyn NgramSource>> {
        Ok(match self.0 {
            FileBody::Probing(file) => Box::new(source::probing_source(file, path)?),
            FileBody::RestProbing(file) => Box::new(source::probing_source(file, path)?),
            FileBody::Trie(file) => Box::new(source::trie_source(file, path)?),
        })
    }
}

#[cfg(test)]
mod tests;
