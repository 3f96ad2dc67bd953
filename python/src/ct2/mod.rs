//! Native part of `miriam.ct2`, which has the interface of CTranslate2's `Translator`.
//!
//! A batch creates no Python objects for tokens, except for source tokens that may replace unknown
//! ones. Tokens are converted to ids while they are read from the arguments. Ids are converted to
//! tokens only when a result is accessed, as references to one string per word of the vocabulary.

mod arguments;
mod calls;
mod language_model;
mod results;
mod text_arguments;
mod translator;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use miriam_nmt::packed::Precision;
use pyo3::prelude::*;

pub use results::{
    AsyncScoringResult, AsyncTexts, AsyncTranslationResult, GenerationStepResult, ScoringResult,
    TranslationResult,
};
pub use translator::Translator;

/// The seed of this process; `None` until one is set or needed.
static SEED: Mutex<Option<u64>> = Mutex::new(None);
/// The number of calls that have drawn a seed since it was set.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Sets the seed of sampling, which makes the following calls reproducible.
#[pyfunction]
pub fn set_random_seed(seed: u64) {
    *SEED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(seed);
    CALLS.store(0, Ordering::Relaxed);
}

/// Returns a new seed for each call. If no seed was set, seeds depend on the time.
fn next_seed() -> u64 {
    let mut seed = SEED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let base = *seed.get_or_insert_with(|| {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
        since.map_or(0, |time| time.as_nanos() as u64)
    });
    base ^ CALLS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns the number of GPUs.
#[pyfunction]
pub fn get_cuda_device_count() -> u32 {
    miriam_nmt::gpu_count()
}

/// Returns the compute types of a device.
#[pyfunction]
#[pyo3(signature = (device, device_index=None), text_signature = "(device, device_index=0)")]
pub fn get_supported_compute_types(
    device: &str,
    device_index: Option<&Bound<'_, PyAny>>,
) -> PyResult<std::collections::HashSet<&'static str>> {
    // CTranslate2 ignores the index of a CPU.
    let device_index = device_index.filter(|_| !matches!(device, "cpu" | "CPU"));
    let (devices, _) = arguments::devices(device, device_index)?;
    let is_cuda = devices.is_cuda();
    Ok(Precision::supported_compute_types(is_cuda).collect())
}

/// Whether `path` is a folder with a model of CTranslate2.
#[pyfunction]
pub fn contains_model(#[pyo3(from_py_with = arguments::path)] path: PathBuf) -> bool {
    path.join("model.bin").is_file()
}
