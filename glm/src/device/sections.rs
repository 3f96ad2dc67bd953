//! The n-grams of a model on a GPU, and the parameters by which kernels address them.

use miriam_gpu::{Buffer, Stream};
use miriam_lmcpu::LanguageModel;
use miriam_storage::zerocopy::{Immutable, IntoBytes};

use crate::error::{Error, Result};
use crate::format::{Bucket, UNIT_BYTES};
use crate::model::{GlmModel, Level};

/// The alignment of orders in the device's memory, in bytes: two cache lines.
const SECTION_ALIGNMENT: usize = 256;

/// The highest order that the kernels address (`orders` in `glm/kernels/model.cuh`).
const KERNEL_MAX_ORDER: usize = 16;

/// Fails if the kernels do not support models of `order`.
pub(super) fn check_order(order: usize) -> Result<()> {
    if order <= KERNEL_MAX_ORDER {
        return Ok(());
    }
    let reason = format!(
        "the model has order {order}, but at most {KERNEL_MAX_ORDER} is supported on a GPU; use the \
         CPU (--device cpu)"
    );
    Err(Error::Unsupported { reason })
}

/// Returns the bytes of the n-grams of `order`, from 1.
fn order_bytes(model: &GlmModel, order: usize) -> &[u8] {
    if order == 1 {
        return model.unigrams().as_bytes();
    }
    match model.level(order) {
        Level::Blocks(units) => units.as_bytes(),
        Level::Buckets(buckets) => buckets.as_bytes(),
        Level::LongestBuckets(buckets) => buckets.as_bytes(),
    }
}

/// A model's n-grams in the memory of a device. Kernels read nothing outside of them,
/// so a damaged file gives wrong scores at worst.
pub(super) struct Sections {
    pub ngrams: Buffer<u8>,
    pub parameters: ModelParameters,
    /// The leading bytes that most queries read: unigrams and bigrams.
    pub hot_bytes: u64,
}

impl Sections {
    /// Uploads the n-grams of `model`, whose order the kernels must support.
    pub fn upload(model: &GlmModel, stream: &Stream) -> Result<Self> {
        let order = LanguageModel::order(model);
        let mut starts = vec![0];
        for n in 1..=order {
            let end = starts[n - 1] + order_bytes(model, n).len();
            starts.push(end.next_multiple_of(SECTION_ALIGNMENT));
        }
        let mut ngrams = stream.alloc_zeros(starts[order] + SECTION_ALIGNMENT)?;
        let mut parameters = ModelParameters {
            orders: [OrderParameters::default(); KERNEL_MAX_ORDER],
            order: order as u32,
            hashed: model.max_hashed_order() as u32,
            words: LanguageModel::num_words(model) as u32,
            padding: 0,
        };
        let address = ngrams.address();
        for (n, order) in (1..=order).zip(&mut parameters.orders) {
            let (start, bytes) = (starts[n - 1], order_bytes(model, n));
            stream.upload_blocking(&mut ngrams, start, bytes)?;
            let item = if (2..=model.max_hashed_order()).contains(&n) {
                size_of::<Bucket>()
            } else {
                UNIT_BYTES
            };
            let last = (bytes.len() / item).saturating_sub(1) as u32;
            *order = OrderParameters { address: address + start as u64, last, padding: 0 };
        }
        Ok(Sections { ngrams, parameters, hot_bytes: starts[order.min(2)] as u64 })
    }
}

/// Mirror of `Model` in `glm/kernels/model.cuh`.
#[derive(Clone, Copy, IntoBytes, Immutable)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C)]
pub(super) struct ModelParameters {
    orders: [OrderParameters; KERNEL_MAX_ORDER],
    order: u32,
    hashed: u32,
    pub words: u32,
    padding: u32,
}

/// Mirror of `Order` in `glm/kernels/model.cuh`.
#[derive(Clone, Copy, Default, IntoBytes, Immutable)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C)]
struct OrderParameters {
    address: u64,
    /// The index of the last unit or bucket, the maximum that kernels clamp indices to. It is 0 if
    /// the order is empty: kernels then read the zeros of the padding after the section.
    last: u32,
    padding: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_beyond_the_kernels_are_rejected() {
        assert!(check_order(16).is_ok());
        let error = check_order(17).unwrap_err().to_string();
        assert!(error.contains("order 17") && error.contains("--device cpu"), "{error}");
    }
}
