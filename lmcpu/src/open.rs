//! Opening a language model whatever it is stored in.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use miriam_layout::{Container, Load};
use miriam_text::{Progress, name_of};

use crate::probing::{ProbingModel, probing_from_arpa};
use crate::trie::{self, TrieModel};
use crate::{Error, LanguageModel, Result};

/// How KenLM's binary files begin.
pub(crate) const KENLM_MAGIC: &[u8] = b"mmap lm http://kheafield.com/code";

/// Opens the model at `path`: a file of ours, or ARPA text (plain, gzip or
/// zstd; `-` for standard input), which is built into a probing model in memory
/// on rayon's current threads. `load` says how a file of ours comes into memory.
pub fn open(path: &Path, load: Load, progress: &dyn Progress) -> Result<Arc<dyn LanguageModel>> {
    if Container::is_container(path) {
        let container = Container::open_any(path, load)?;
        return Ok(match container.kind() {
            trie::KIND => Arc::new(TrieModel::from_container(&container)?),
            // Whatever else it is, the message says what was expected.
            _ => Arc::new(ProbingModel::from_container(&container)?),
        });
    }
    Ok(Arc::new(probing_from_arpa(path, progress)?))
}

/// Says no to a KenLM binary file, which would only look like odd text.
pub(crate) fn refuse_kenlm_binary(path: &Path) -> Result<()> {
    let mut start = [0; KENLM_MAGIC.len()];
    let is_binary = path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == KENLM_MAGIC;
    if is_binary {
        return Err(Error::Unsupported {
            file: name_of(path),
            reason: "KenLM binary files are not supported yet; give the ARPA file it was built \
                     from, or build from that with `miriam lm build`"
                .into(),
        });
    }
    Ok(())
}
