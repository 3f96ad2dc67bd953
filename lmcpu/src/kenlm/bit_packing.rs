//! Arrays of bit-packed entries, in which tries store everything but unigrams (`ngram-lm.md` 2.10).

use miriam_storage::{View, prefetch_read};

/// Returns the number of bits of `value`: 0 for 0.
pub fn required_bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// An array of entries of equal length in bits, each of several fields.
pub struct BitPackedArray {
    bytes: View<[u8; 1]>,
    /// The number of bits of an entry.
    pub entry_bits: u32,
}

/// A field of an entry: its first bit and the mask of its bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct BitField {
    shift: u32,
    mask: u64,
}

impl BitField {
    /// Creates a field of the `bits` bits, at most 57, from the bit `shift` of an entry on.
    pub fn new(shift: u32, bits: u32) -> Self {
        BitField { shift, mask: (1 << bits) - 1 }
    }
}

impl BitPackedArray {
    /// Bytes after the last entry, for reads of 8 bytes.
    pub const PADDING: usize = 8;

    /// Returns the number of bytes of `entries` entries of `width` bits in KenLM's files: there is
    /// one more entry at the end, which has the end of the last entry's children, and padding for
    /// reads of 8 bytes. `None` on overflow.
    pub fn size_bytes(entries: u64, width: u32) -> Option<u64> {
        Some(
            (entries + 1).checked_mul(u64::from(width))?.checked_add(7)? / 8 + Self::PADDING as u64,
        )
    }

    /// Creates an array over `bytes`.
    pub fn new(bytes: View<[u8; 1]>, entry_bits: u32) -> Self {
        BitPackedArray { bytes, entry_bits }
    }

    /// Returns a field of the entry `index`; 0 after the end.
    #[inline(always)]
    pub fn get(&self, index: u64, field: BitField) -> u64 {
        let bit = index * u64::from(self.entry_bits) + u64::from(field.shift);
        let at = (bit / 8) as usize;
        match self.bytes.get(at..at + 8) {
            Some(bytes) => {
                (super::unaligned::u64_at(bytes.as_flattened(), 0) >> (bit % 8)) & field.mask
            }
            None => 0,
        }
    }

    /// Prefetches the entry `index`.
    #[inline(always)]
    pub fn prefetch(&self, index: u64) {
        let at = (index * u64::from(self.entry_bits) / 8) as usize;
        prefetch_read(self.bytes.as_ptr().wrapping_add(at));
    }
}

/// Bits written one field after another.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that have not been written.
    pending: u128,
    /// The number of bits in `pending`.
    filled: u32,
}

impl BitWriter {
    /// Appends the low `bits` bits of `value`, at most 64.
    pub fn push(&mut self, value: u64, bits: u32) {
        let mask = (1u128 << bits) - 1;
        self.pending |= (u128::from(value) & mask) << self.filled;
        self.filled += bits;
        if self.filled >= 64 {
            self.bytes.extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= 64;
            self.filled -= 64;
        }
    }

    /// Returns all bytes; the bits after the last are 0.
    pub fn finish(mut self) -> Vec<u8> {
        let rest = self.filled.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..rest]);
        self.bytes
    }
}
