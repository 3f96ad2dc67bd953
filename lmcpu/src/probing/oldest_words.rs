//! The oldest word of each n-gram, from which the words of hashed n-grams are
//! recovered.
//!
//! Scoring needs no words, only dumping does. The hash of an n-gram is computed from the hash of
//! its suffix and from its oldest word, in a way that can be undone ([`crate::hash::uncombine`]).
//! So the oldest word leads from an n-gram to its suffix, and so on down to a single word, whose
//! hash is its id. One section per order keeps the oldest words, each in as many bits as an id
//! needs, in the order of the entries in the table.

use miriam_storage::probing::TableLine;
use miriam_storage::zerocopy::IntoBytes;
use miriam_storage::{Container, ContainerWriter, View};

use crate::Result;

/// Returns the number of bits of an id below `words`.
pub(super) fn bits_per_id(words: usize) -> u32 {
    (words as u64 - 1).checked_ilog2().unwrap_or(0) + 1
}

fn section_name(order: usize) -> String {
    format!("order-{order}.oldest")
}

/// The oldest words of the entries of a table, packed.
pub(super) struct PackedWords {
    words: Vec<u64>,
    /// The size in bytes if no slot were empty, which decides the alignment.
    max_bytes: u64,
}

/// Packs the oldest word of each entry of `lines`; `oldest` holds one per slot.
pub(super) fn pack<L: TableLine>(lines: &[L], oldest: &[u32], bits: u32) -> PackedWords {
    let most = (oldest.len() as u64 * u64::from(bits)) / 8;
    let mut words = Vec::new();
    // Bits that do not yet fill a 64-bit word, and their number.
    let (mut waiting, mut filled) = (0u128, 0);
    for (line, oldest) in lines.iter().zip(oldest.chunks(L::SLOTS)) {
        for (_, &word) in line.pairs().zip(oldest) {
            waiting |= u128::from(word) << filled;
            filled += bits;
            if filled >= 64 {
                words.push(waiting as u64);
                waiting >>= 64;
                filled -= 64;
            }
        }
    }
    if filled > 0 {
        words.push(waiting as u64);
    }
    PackedWords { words, max_bytes: most }
}

/// Writes the oldest words of the n-grams of `order`.
pub(super) fn write(
    writer: &mut ContainerWriter,
    order: usize,
    packed: &PackedWords,
) -> Result<()> {
    let mut section =
        writer.begin_section(&section_name(order), size_of::<u64>(), packed.max_bytes)?;
    section.write(packed.words.as_bytes())?;
    Ok(section.finish()?)
}

/// The oldest words of an order.
pub(super) struct OldestWords {
    words: View<u64>,
    bits: u32,
}

impl OldestWords {
    /// Opens the oldest words of the `entries` n-grams of `order`; ids are below `words`.
    pub(super) fn open(
        container: &Container,
        order: usize,
        entries: u64,
        words: usize,
    ) -> Result<Self> {
        let name = section_name(order);
        let bits = bits_per_id(words);
        let packed = container.section::<u64>(&name)?;
        let length = u128::from(entries) * u128::from(bits);
        if packed.len() as u128 != length.div_ceil(64) {
            return Err(container.damaged(&name, "its size does not fit the entries").into());
        }
        Ok(OldestWords { words: packed, bits })
    }

    /// Returns the oldest word of the entry `index`, in table order; undefined beyond the last.
    pub(super) fn get(&self, index: usize) -> u32 {
        let at = index as u64 * u64::from(self.bits);
        let (item, shift) = ((at / 64) as usize, at % 64);
        let low = self.words.get(item).copied().unwrap_or(0);
        let high = self.words.get(item + 1).copied().unwrap_or(0);
        let both = u128::from(high) << 64 | u128::from(low);
        ((both >> shift) as u64 & ((1 << self.bits) - 1)) as u32
    }
}
