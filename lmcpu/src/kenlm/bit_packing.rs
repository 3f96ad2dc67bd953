//! Numbers of a few bits each, packed without gaps: how tries store everything
//! but unigrams (`ngram-lm.md` 2.10).

use miriam_storage::{View, prefetch_read};

/// How many bits `value` takes: 0 for 0.
pub fn required_bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// A row of entries of equal length in bits, each of several fields.
pub struct BitPackedArray {
    bytes: View<[u8; 1]>,
    /// Bits of an entry.
    pub entry_bits: u32,
}

/// Where in its entry a field lies.
#[derive(Clone, Copy, Debug, Default)]
pub struct BitField {
    shift: u32,
    mask: u64,
}

impl BitField {
    /// The `bits` bits, at most 57, from the bit `shift` of an entry on.
    pub fn new(shift: u32, bits: u32) -> Self {
        BitField { shift, mask: (1 << bits) - 1 }
    }
}

impl BitPackedArray {
    /// How many bytes KenLM gives to `entries` entries of `width` bits: there is
    /// one more at the end, for where its children would begin, and room for
    /// reading 8 bytes anywhere.
    pub fn size_bytes(entries: u64, width: u32) -> Option<u64> {
        Some((entries + 1).checked_mul(u64::from(width))?.checked_add(7)? / 8 + 8)
    }

    /// Entries in `bytes`.
    pub fn new(bytes: View<[u8; 1]>, entry_bits: u32) -> Self {
        BitPackedArray { bytes, entry_bits }
    }

    /// A field of the entry `index`; 0 behind the end.
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

    /// Asks for the memory of the entry `index`.
    #[inline(always)]
    pub fn prefetch(&self, index: u64) {
        let at = (index * u64::from(self.entry_bits) / 8) as usize;
        prefetch_read(self.bytes.as_ptr().wrapping_add(at));
    }
}
