//! Building of a packed trie from the n-grams of a model.
//!
//! [`crate::sorted`] sorts the n-grams and links them to a trie; here the trie is packed and
//! written. The bytes do not depend on the number of threads.

mod trie_writer;

use std::path::Path;

#[cfg(test)]
use miriam_storage::Bytes;
use miriam_storage::ContainerWriter;
use miriam_textio::Progress;

use trie_writer::TrieWriter;

use super::quantize::QuantizationBits;
use super::*;
use crate::ArpaOptions;
use crate::probing::ModelSize;
use crate::sorted::SortedModel;

/// Builds the trie `output` from the model at `path`, in any format that
/// [`crate::open_source`] reads, on rayon's current threads. With `bits`, the
/// probabilities and backoffs of n-grams of two words and more are quantised.
///
/// # Errors
///
/// If the source cannot be read, lacks contexts or has duplicates, if the model is
/// too large for a trie, or if the file cannot be written.
pub fn build_trie(
    path: &Path,
    output: &Path,
    bits: Option<QuantizationBits>,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    let model = SortedModel::read(path, arpa, progress)?;
    let size = model.size();
    let _task = progress.task("writing", None);
    write_trie(model, output, bits)?;
    Ok(size)
}

/// Writes `model` as the file `output`, on rayon's current threads.
///
/// # Errors
///
/// If the model is too large for a trie or the file cannot be written.
pub fn write_trie(model: SortedModel, output: &Path, bits: Option<QuantizationBits>) -> Result<()> {
    TrieWriter::new(model, bits).write(ContainerWriter::create(output, KIND, VERSION)?)?;
    Ok(())
}

/// Returns the bytes of the file that [`build_trie`] would write.
#[cfg(test)]
pub(super) fn build_in_memory(path: &Path, bits: Option<QuantizationBits>) -> Result<Bytes> {
    let model = SortedModel::read(path, ArpaOptions::default(), &miriam_textio::NoProgress)?;
    let bytes =
        TrieWriter::new(model, bits).write(ContainerWriter::in_memory(path, KIND, VERSION)?)?;
    bytes.ok_or_else(|| unreachable!("a container in memory has bytes"))
}
