//! Opening language models.

use std::path::Path;
use std::sync::Arc;

use miriam_glm::device::{DeviceChoice, open_on_device};
use miriam_lmcpu::{LanguageModel, is_binary_model};
use miriam_storage::LoadMethod;
use miriam_textio::CancellationToken;

use crate::interrupt::Cancellation;

/// Opens the model at `path`, any that `miriam lm` opens; the error is a message.
///
/// ARPA text is built into a model in memory on threads of its own, which end with it: a
/// pool that lives on would not survive a `fork`, and Python's processes fork.
pub fn open_model(
    path: &Path,
    load: LoadMethod,
    device: DeviceChoice,
    stop: &CancellationToken,
) -> Result<Arc<dyn LanguageModel>, String> {
    let open = || open_on_device(path, load, device, &Cancellation(stop));
    let model = if is_binary_model(path) { open() } else { on_own_threads(0, open)? };
    model.map_err(|error| error.to_string())
}

/// Runs `work` in a pool of `threads` threads, 0 for all processors, that ends with it.
pub fn on_own_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| format!("threads cannot be started: {error}"))?.install(work))
}
