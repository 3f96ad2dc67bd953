//! Short words as numbers, each of which is loaded, hashed and compared as a whole.

/// The length of the longest word that fits a [`WordKey`]; longer words are rare in text.
pub(crate) const MAX_KEY_BYTES: usize = 15;

/// A word of up to [`MAX_KEY_BYTES`] bytes as 16 bytes: the bytes of the word, zeros, and the
/// length of the word in the last byte. The key 0, which belongs to the empty word, marks empty
/// entries of tables.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WordKey {
    pub low: u64,
    pub high: u64,
}

/// By length: masks of the bytes of a word in the halves of its key.
const LENGTH_MASKS: [(u64, u64); MAX_KEY_BYTES + 1] = {
    let mut masks = [(0, 0); MAX_KEY_BYTES + 1];
    let mut length = 0;
    while length <= MAX_KEY_BYTES {
        let mask = (1u128 << (8 * length)) - 1;
        masks[length] = (mask as u64, (mask >> 64) as u64);
        length += 1;
    }
    masks
};

impl WordKey {
    /// No word.
    pub const NONE: WordKey = WordKey { low: 0, high: 0 };

    /// Returns the key of the first `length` bytes of `text`; `None` for a longer word.
    #[inline(always)]
    pub fn new(text: &[u8], length: usize) -> Option<Self> {
        if length > MAX_KEY_BYTES {
            return None;
        }
        let bytes = match text.first_chunk() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; 16];
                bytes[..length].copy_from_slice(&text[..length]);
                bytes
            }
        };
        let (low, high) = bytes.split_at(8);
        fn half(bytes: &[u8]) -> u64 {
            bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
        }
        let (low_mask, high_mask) = LENGTH_MASKS[length];
        let high = half(high) & high_mask | (length as u64) << 56;
        Some(WordKey { low: half(low) & low_mask, high })
    }
}
