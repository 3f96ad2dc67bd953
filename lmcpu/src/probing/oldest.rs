//! What makes exact n-grams of hashes: the oldest word of each.
//!
//! Scoring needs no words, only dumping does. The hash of an n-gram is made of
//! that of its suffix and of its oldest word, in a way that can be undone
//! ([`super::shorten`]): the oldest word leads from an n-gram to its suffix, and
//! so on down to a single word, whose hash is its id. A section an order keeps
//! the oldest words, each in as many bits as an id needs, in the order in which
//! the entries stand in the table.

use miriam_layout::probing::Line;
use miriam_layout::{Container, ContainerWriter, View};

use crate::Result;

/// Bytes that are written at a time, in words of 64 bits.
const BUFFER: usize = 1 << 16;

/// How many bits an id below `words` needs.
pub(super) fn bits_of(words: usize) -> u32 {
    (words as u64 - 1).checked_ilog2().unwrap_or(0) + 1
}

fn section_name(order: usize) -> String {
    format!("order-{order}.oldest")
}

/// Writes the oldest word of each entry of `lines`; `oldest` holds one a slot.
pub(super) fn write<L: Line>(
    writer: &mut ContainerWriter,
    order: usize,
    lines: &[L],
    oldest: &[u32],
    bits: u32,
) -> Result<()> {
    let expected = (oldest.len() as u64 * u64::from(bits)) / 8;
    let mut section = writer.begin_section(&section_name(order), 8, expected)?;
    let mut buffer: Vec<u8> = Vec::with_capacity(8 * BUFFER);
    // Bits that wait for a whole word of 64, and how many.
    let (mut waiting, mut filled) = (0u128, 0);
    for (line, oldest) in lines.iter().zip(oldest.chunks(L::SLOTS)) {
        for (_, &word) in line.pairs().zip(oldest) {
            waiting |= u128::from(word) << filled;
            filled += bits;
            if filled >= 64 {
                buffer.extend_from_slice(&(waiting as u64).to_le_bytes());
                waiting >>= 64;
                filled -= 64;
            }
        }
        if buffer.len() >= 8 * BUFFER {
            section.write(&buffer)?;
            buffer.clear();
        }
    }
    if filled > 0 {
        buffer.extend_from_slice(&(waiting as u64).to_le_bytes());
    }
    section.write(&buffer)?;
    Ok(section.finish()?)
}

/// The oldest words of an order.
pub(super) struct OldestWords {
    words: View<u64>,
    bits: u32,
}

impl OldestWords {
    /// Opens those of the `entries` n-grams of `order`; ids are below `words`.
    pub(super) fn open(
        container: &Container,
        order: usize,
        entries: u64,
        words: usize,
    ) -> Result<Self> {
        let name = section_name(order);
        let bits = bits_of(words);
        let packed = container.section::<u64>(&name)?;
        let length = u128::from(entries) * u128::from(bits);
        if packed.len() as u128 != length.div_ceil(64) {
            return Err(container.damaged(&name, "its size does not fit the entries").into());
        }
        Ok(OldestWords { words: packed, bits })
    }

    /// The oldest word of the entry `index`, in table order; of an index beyond
    /// the last, anything.
    pub(super) fn get(&self, index: usize) -> u32 {
        let at = index as u64 * u64::from(self.bits);
        let (item, shift) = ((at / 64) as usize, at % 64);
        let low = self.words.get(item).copied().unwrap_or(0);
        let high = self.words.get(item + 1).copied().unwrap_or(0);
        let both = u128::from(high) << 64 | u128::from(low);
        ((both >> shift) as u64 & ((1 << self.bits) - 1)) as u32
    }
}
