//! Opening a language model whatever it is stored in.

use std::path::Path;
use std::sync::Arc;

use miriam_storage::{Container, LoadMethod};
use miriam_textio::Progress;

use crate::kenlm::{KenlmFile, is_kenlm_binary};
use crate::probing::{ProbingModel, probing_from_arpa};
use crate::trie::{self, TrieModel};
use crate::{LanguageModel, Result};

/// Opens the model at `path`: a file of ours, one of KenLM's binary files, or ARPA
/// text (plain, gzip or zstd; `-` for standard input), which is built into a
/// probing model in memory on rayon's current threads. `load` says how a binary
/// file comes into memory.
pub fn open(
    path: &Path,
    load: LoadMethod,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    if Container::is_container(path) {
        let container = Container::open_any(path, load)?;
        return Ok(match container.kind() {
            trie::KIND => Arc::new(TrieModel::from_container(&container)?),
            // Whatever else it is, the message says what was expected.
            _ => Arc::new(ProbingModel::from_container(&container)?),
        });
    }
    if is_kenlm_binary(path) {
        return Ok(KenlmFile::open(path, load)?.into_model());
    }
    Ok(Arc::new(probing_from_arpa(path, progress)?))
}
