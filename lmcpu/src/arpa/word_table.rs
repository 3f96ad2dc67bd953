//! Word ids by one table lookup each.
//!
//! A word of up to 15 bytes and its length are one 128-bit number ([`WordKey`]). For these words, a
//! table of such numbers and ids replaces the lookup in the vocabulary, which takes four dependent
//! accesses to memory. Longer words are looked up in the vocabulary.

use miriam_textio::Vocabulary;

use crate::word_key::WordKey;

/// An index of the short words of a complete vocabulary.
#[derive(Default)]
pub(super) struct WordTable {
    /// Slots of linear probing. Their number is a power of two, and at most two thirds of them are
    /// in use.
    slots: Vec<(WordKey, u32)>,
    /// The number of bits by which a 64-bit hash is shifted to the right, to give a slot.
    shift: u32,
}

impl WordTable {
    /// Creates a table of all words of `vocabulary`.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let size = (vocabulary.len() * 3 / 2 + 2).next_power_of_two();
        let mut table =
            WordTable { slots: vec![(WordKey::NONE, 0); size], shift: 64 - size.ilog2() };
        for (id, word) in vocabulary.iter().enumerate() {
            if let Some(key) = WordKey::new(word, word.len()).filter(|key| *key != WordKey::NONE) {
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
        let mixed = (key.low ^ key.high.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize
    }

    /// Returns the id of the word with this key; `None` if there is none or the key is
    /// [`WordKey::NONE`].
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
    use crate::word_key::MAX_KEY_BYTES;

    fn key(text: &[u8], length: usize) -> WordKey {
        WordKey::new(text, length).unwrap_or(WordKey::NONE)
    }

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
            // The empty word has the key of an empty slot.
            let expected = (word.len() <= MAX_KEY_BYTES && !word.is_empty()).then_some(id as u32);
            for suffix in [&b""[..], b" and more than sixteen bytes"] {
                let text = [word, suffix].concat();
                assert_eq!(table.find(key(&text, word.len())), expected);
            }
        }
        for absent in [&b"b"[..], b"a\0\0", b"w2", b"xxxxxxxxxxxxxxxxxx"] {
            if vocabulary.find(absent).is_none() || absent.len() > MAX_KEY_BYTES {
                assert_eq!(table.find(key(absent, absent.len())), None);
            }
        }
        assert_eq!(WordTable::default().find(key(b"a", 1)), None);
    }
}
