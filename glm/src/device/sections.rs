//! What of a model goes to a GPU, and how kernels are told where it lies.

use miriam_gpu::{Buffer, Stream};
use miriam_layout::Container;
use miriam_layout::zerocopy::{Immutable, IntoBytes};
use miriam_lmcpu::MAX_ORDER;
use serde::Deserialize;

use crate::Result;
use crate::format::{NodeWidth, UNIT};

/// Orders begin at multiples of this in the device's memory: two lines.
const ALIGNMENT: usize = 256;

/// The n-grams of a model, as they stand in its file.
pub(crate) struct Sections {
    pub order: usize,
    pub width: NodeWidth,
    /// Orders from 2 up to this one are in buckets.
    pub hashed: usize,
    /// Words, with `<unk>`.
    pub words: u32,
    /// The bytes of each order, from 1.
    pub orders: Vec<miriam_layout::View<u8>>,
}

/// The first fields of the metadata block.
#[derive(Deserialize)]
struct Metadata {
    order: u32,
    counts: Vec<u64>,
    width: u32,
    hashed: u32,
    levels: Vec<[u64; 2]>,
    _begin: u32,
    _end: u32,
    _has_unknown: bool,
    _minimisation_is_closed: bool,
}

impl Sections {
    /// Those of `container`. Kernels read nothing outside of the sections, so only what
    /// makes them kernels of this model is checked.
    pub fn of(container: &Container) -> Result<Self> {
        let metadata: Metadata = container.metadata()?;
        let damaged = |reason: &str| container.damaged("metadata", reason);
        let order = metadata.order as usize;
        if !(1..=MAX_ORDER).contains(&order)
            || metadata.counts.len() != order
            || metadata.levels.len() != order - 1
        {
            return Err(damaged("the counts do not fit the order").into());
        }
        let width = NodeWidth::from_keys(metadata.width)
            .ok_or_else(|| damaged("nodes of this width are not known"))?;
        let orders = (1..=order)
            .map(|order| container.section::<u8>(&format!("order-{order}")))
            .collect::<Result<Vec<_>, _>>()?;
        let words = u32::try_from(orders[0].len() / UNIT)
            .ok()
            .filter(|&words| words > 0)
            .ok_or_else(|| container.damaged("order-1", "it has no words, or too many"))?;
        Ok(Sections { order, width, hashed: metadata.hashed as usize, words, orders })
    }

    /// Takes the n-grams to the device: their bytes, and the record of where they lie.
    pub fn upload(&self, stream: &Stream) -> Result<(Buffer<u8>, Parameters)> {
        let starts: Vec<usize> = self
            .orders
            .iter()
            .scan(0usize, |next, bytes| {
                let start = *next;
                *next += bytes.len().next_multiple_of(ALIGNMENT);
                Some(start)
            })
            .collect();
        let whole = starts.iter().zip(&self.orders).map(|(start, bytes)| start + bytes.len());
        let mut buffer = stream.room(whole.max().unwrap_or(0))?;
        for (&start, bytes) in starts.iter().zip(&self.orders) {
            stream.fill(&mut buffer, start, bytes)?;
        }
        let mut parameters = Parameters {
            orders: [OrderPlace::default(); MAX_ORDER],
            order: self.order as u32,
            hashed: self.hashed as u32,
            words: self.words,
            zero: 0,
        };
        for ((place, start), bytes) in parameters.orders.iter_mut().zip(starts).zip(&self.orders) {
            let units = (bytes.len() / UNIT) as u64;
            *place = OrderPlace { address: buffer.address() + start as u64, units };
        }
        Ok((buffer, parameters))
    }

    /// Bytes from the first on that most queries look at: the words and the bigrams.
    pub fn hot(&self) -> u64 {
        self.orders.iter().take(2).map(|bytes| bytes.len().next_multiple_of(ALIGNMENT) as u64).sum()
    }
}

/// `Model` of `glm/kernels/model.cuh`.
#[derive(Clone, Copy, IntoBytes, Immutable)]
#[zerocopy(crate = "miriam_layout::zerocopy")]
#[repr(C)]
pub(crate) struct Parameters {
    orders: [OrderPlace; MAX_ORDER],
    order: u32,
    hashed: u32,
    words: u32,
    zero: u32,
}

/// `Order` there.
#[derive(Clone, Copy, Default, IntoBytes, Immutable)]
#[zerocopy(crate = "miriam_layout::zerocopy")]
#[repr(C)]
struct OrderPlace {
    address: u64,
    units: u64,
}
