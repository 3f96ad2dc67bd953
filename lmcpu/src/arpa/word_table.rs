//! The ids of words in an ARPA section, each in one look.
//!
//! A word of up to 15 bytes and its length are one 128-bit number, which is
//! loaded, hashed and compared whole; a table of such numbers beside the ids
//! spares most words the way through the vocabulary, which is four dependent
//! accesses to memory. Exact: longer words ask the vocabulary.

use miriam_textio::Vocabulary;

/// The longest word that fits a [`WordKey`].
const MAX_KEY_BYTES: usize = 15;

/// A word as a number: its bytes, zeros, and its length in the top byte. 0 for
/// words that are too long.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WordKey {
    low: u64,
    high: u64,
}

impl WordKey {
    /// Of words too long for a number of their own.
    pub const NONE: WordKey = WordKey { low: 0, high: 0 };

    /// The key of the word that stands first, `length` bytes long, in `text`.
    #[inline(always)]
    pub fn new(text: &[u8], length: usize) -> Self {
        if length > MAX_KEY_BYTES {
            return Self::NONE;
        }
        let (low, high) = match text.first_chunk::<16>() {
            Some(chunk) => {
                let both = u128::from_le_bytes(*chunk);
                let kept = both & ((1u128 << (8 * length)) - 1);
                (kept as u64, (kept >> 64) as u64)
            }
            None => {
                let mut padded = [0; 16];
                padded[..length].copy_from_slice(&text[..length]);
                let both = u128::from_le_bytes(padded);
                (both as u64, (both >> 64) as u64)
            }
        };
        WordKey { low, high: high | (length as u64) << 56 }
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        let mixed = (self.low ^ self.high.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
}

/// A vocabulary that is complete, for looking up its words.
#[derive(Default)]
pub(super) struct WordTable {
    /// Linear probing; a power of two of them, at most two thirds taken.
    slots: Vec<(WordKey, u32)>,
    shift: u32,
}

impl WordTable {
    /// Of all words of `vocabulary`.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let size = (vocabulary.len() * 3 / 2 + 2).next_power_of_two();
        let mut table =
            WordTable { slots: vec![(WordKey::NONE, 0); size], shift: 64 - size.ilog2() };
        for (id, word) in vocabulary.iter().enumerate() {
            let key = WordKey::new(word, word.len());
            if key != WordKey::NONE {
                let mut slot = table.home_slot(key);
                while table.slots[slot].0 != WordKey::NONE {
                    slot = (slot + 1) & (size - 1);
                }
                table.slots[slot] = (key, id as u32);
            }
        }
        table
    }

    #[inline(always)]
    fn home_slot(&self, key: WordKey) -> usize {
        (key.hash() >> self.shift) as usize
    }

    /// The id of the word with this key; nothing where there is none or the key
    /// is [`WordKey::NONE`].
    #[inline]
    pub fn find(&self, key: WordKey) -> Option<u32> {
        if key == WordKey::NONE || self.slots.is_empty() {
            return None;
        }
        let mut slot = self.home_slot(key);
        loop {
            let &(other, id) = self.slots.get(slot)?;
            if other == key {
                return Some(id);
            }
            if other == WordKey::NONE {
                return None;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_word_and_no_other_is_found() {
        let mut vocabulary = Vocabulary::new();
        for i in 0..5000u32 {
            vocabulary.intern(format!("w{}", i * i).as_bytes());
            vocabulary.intern(&vec![b'x'; i as usize % 40]);
        }
        vocabulary.intern(b"a\0");
        vocabulary.intern(b"a");
        let table = WordTable::new(&vocabulary);
        for (id, word) in vocabulary.iter().enumerate() {
            let expected = (word.len() <= MAX_KEY_BYTES && !word.is_empty()).then_some(id as u32);
            for behind in [&b""[..], b" and more than sixteen bytes"] {
                let text = [word, behind].concat();
                let found = table.find(WordKey::new(&text, word.len()));
                if word.is_empty() {
                    // A length of 0 makes the number of an empty slot.
                    assert_eq!(found, None);
                } else {
                    assert_eq!(found, expected);
                }
            }
        }
        for absent in [&b"b"[..], b"a\0\0", b"w2", b"xxxxxxxxxxxxxxxxxx"] {
            if vocabulary.find(absent).is_none() || absent.len() > MAX_KEY_BYTES {
                assert_eq!(table.find(WordKey::new(absent, absent.len())), None);
            }
        }
        assert_eq!(WordTable::default().find(WordKey::new(b"a", 1)), None);
    }
}
