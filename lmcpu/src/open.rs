//! Opening of a language model of any file format.

use std::path::Path;
use std::sync::Arc;

use miriam_storage::{Container, LoadMethod};
use miriam_textio::Progress;

use crate::kenlm::{KenlmFile, is_kenlm_binary};
use crate::probing::{ProbingModel, probing_from_arpa};
use crate::trie::{self, TrieModel};
use crate::{ArpaOptions, LanguageModel, Result};

/// Options for opening a model.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// The method of loading a binary file.
    pub load: LoadMethod,
    /// Options for reading ARPA text.
    pub arpa: ArpaOptions,
}

impl From<LoadMethod> for OpenOptions {
    fn from(load: LoadMethod) -> Self {
        OpenOptions { load, arpa: ArpaOptions::default() }
    }
}

/// Whether the file at `path` is a binary model file of Miriam or KenLM, which [`open`] maps and
/// so opens at once.
pub fn is_binary_model(path: &Path) -> bool {
    Container::is_container(path) || is_kenlm_binary(path)
}

/// Opens the model at `path`: a file of Miriam, a binary file of KenLM, or ARPA text (plain or
/// compressed; `-` for standard input), which is built into a probing model in memory on rayon's
/// current threads. A [`LoadMethod`] alone means the default options of ARPA text.
///
/// # Errors
///
/// If the file cannot be read, is of another kind or is damaged.
pub fn open(
    path: &Path,
    options: impl Into<OpenOptions>,
    progress: &dyn Progress,
) -> Result<Arc<dyn LanguageModel>> {
    let OpenOptions { load, arpa } = options.into();
    if Container::is_container(path) {
        let container = Container::open_any(path, load)?;
        return Ok(match container.kind() {
            trie::KIND => Arc::new(TrieModel::from_container(&container)?),
            // Any other kind is an error that names the expected kind.
            _ => Arc::new(ProbingModel::from_container(&container)?),
        });
    }
    if is_kenlm_binary(path) {
        return Ok(KenlmFile::open(path, load)?.into_model());
    }
    Ok(Arc::new(probing_from_arpa(path, arpa, progress)?))
}
