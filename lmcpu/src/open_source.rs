//! Opening of a model of any file format as lists of n-grams.

use std::path::Path;

use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Input, Progress};

use crate::arpa::{ArpaOptions, ArpaReader, DuplicatePolicy};
use crate::duplicates::DedupSource;
use crate::kenlm::{KenlmFile, is_kenlm_binary};
use crate::probing::probing_source;
use crate::trie::{self, trie_source};
use crate::{NgramSource, Result};

/// Opens the n-grams of the model at `path`: ARPA text, plain or compressed, `-` for standard
/// input; a file of Miriam; or a binary file of KenLM. `options` say how ARPA text is read. An
/// n-gram that ARPA text lists twice is an error, here or in a builder, unless `options` say
/// otherwise.
///
/// # Errors
///
/// If the file cannot be read, is of another kind or is damaged, or if its unigrams are invalid.
pub fn open_source<'p>(
    path: &Path,
    options: ArpaOptions,
    progress: &'p dyn Progress,
) -> Result<Box<dyn NgramSource + 'p>> {
    if Container::is_container(path) {
        let container = Container::open_any(path, LoadMethod::Lazy)?;
        return Ok(match container.kind() {
            trie::KIND => Box::new(trie_source(&container)?),
            // Any other kind is an error that names the expected kind.
            _ => Box::new(probing_source(&container)?),
        });
    }
    if is_kenlm_binary(path) {
        return KenlmFile::open(path, LoadMethod::Lazy)?.into_source(path);
    }
    let arpa = ArpaReader::open(Input::open(path)?, options, progress)?;
    Ok(match options.duplicates {
        DuplicatePolicy::Reject => Box::new(arpa),
        DuplicatePolicy::KeepFirst => Box::new(DedupSource::read(arpa)?),
    })
}
