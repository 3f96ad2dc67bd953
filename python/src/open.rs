//! Opening of language models.

use std::path::Path;
use std::sync::Arc;

use miriam_glm::device::{DeviceChoice, open_on_device};
use miriam_lmcpu::{LanguageModel, OpenOptions, is_binary_model};
use miriam_storage::LoadMethod;
use miriam_textio::{CancellableProgress, CancellationToken, NoProgress};

/// Opens the model at `path`, in any format that `miriam lm` opens; the error is a message.
///
/// A model is built from ARPA text in memory, on new threads that end afterwards, because a
/// persistent pool would not survive a `fork` of a Python process.
pub fn open_model(
    path: &Path,
    options: OpenOptions,
    device: DeviceChoice,
    stop: &CancellationToken,
) -> Result<Arc<dyn LanguageModel>, String> {
    open_by(path, || {
        open_on_device(path, options, device, &CancellableProgress { shown: &NoProgress, stop })
    })
}

/// Opens the model at `path` like KenLM's module: of duplicate n-grams in ARPA text, the first is
/// kept.
pub fn open_as_kenlm(
    path: &Path,
    load: LoadMethod,
    stop: &CancellationToken,
) -> Result<Arc<dyn LanguageModel>, String> {
    let progress = CancellableProgress { shown: &NoProgress, stop };
    open_by(path, || Ok(miriam_glm::open_as_kenlm(path, load, &progress)?))
}

/// Opens the model at `path` with `open`, on new threads if that takes long.
fn open_by(
    path: &Path,
    open: impl FnOnce() -> Result<Arc<dyn LanguageModel>, miriam_glm::Error> + Send,
) -> Result<Arc<dyn LanguageModel>, String> {
    let model = if is_binary_model(path) { open() } else { on_own_threads(0, open)? };
    model.map_err(|error| error.to_string())
}

/// Runs `work` in a temporary pool of `threads` threads; 0 means all processors.
pub fn on_own_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| format!("cannot start threads: {error}"))?.install(work))
}
