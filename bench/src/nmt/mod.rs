//! Benchmarks of neural translation, on models with random weights.

pub mod batching;
pub mod devlin;
pub mod gpu;
pub mod marian;
mod random_candidates;
pub mod random_models;
mod settings_chart;
mod speed;

use miriam_nmt::batch::{BatchingOptions, Job, JobSource, translate_batches};
use miriam_nmt::network::Session;
use miriam_nmt::search::{Request, SearchOptions, Translation};
use miriam_nmt::{DeviceSet, Result};

use crate::error::Error;

pub use devlin::SYSTEM_NAMES;
pub use random_models::DECODING_SHAPES;

/// The first id after EOS and the unknown token.
const FIRST_TOKEN: u32 = 2;

/// Resolves the choice of a device: the CPU or a single GPU.
///
/// # Errors
/// If a GPU is chosen but this build does not support GPUs, or if several are chosen.
fn resolve_device(devices: &DeviceSet) -> std::result::Result<DeviceSet, Error> {
    match devices.clone().resolve() {
        Ok(DeviceSet::Cuda(numbers)) if numbers.len() > 1 => {
            Err(Error::unmeasurable("give one GPU"))
        }
        resolved => resolved.map_err(|error| Error::unmeasurable(error.to_string())),
    }
}

/// Returns the best translation of each request, on this thread.
///
/// # Errors
/// Those of [`translate_batches`].
fn translate_requests(
    session: &mut dyn Session,
    requests: &[Request],
    options: &SearchOptions,
    batching: &BatchingOptions,
) -> Result<Vec<Translation>> {
    let translations = vec![Translation::default(); requests.len()];
    let mut source = RequestSource { requests: (0..).zip(requests), translations };
    translate_batches(session, options, batching, &mut source)?;
    Ok(source.translations)
}

/// A source of requests one by one, which keeps the best translation of each.
struct RequestSource<I> {
    requests: I,
    translations: Vec<Translation>,
}

impl<'a, I: Iterator<Item = (u64, &'a Request)>> JobSource for RequestSource<I> {
    fn next_jobs(&mut self) -> Result<Option<Vec<Job>>> {
        Ok(self.requests.next().map(|(id, request)| vec![Job { id, request: request.clone() }]))
    }

    fn finish(&mut self, id: u64, result: Result<Vec<Translation>>) -> Result<()> {
        if let Some(best) = result?.into_iter().next() {
            self.translations[id as usize] = best;
        }
        Ok(())
    }
}
