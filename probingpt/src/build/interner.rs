//! Interning of texts: ids from 0, in the order of first appearance, with counts.
//!
//! Words, scores, counts, alignments and reordering scores are all interned by their text, so that
//! each distinct text is parsed once. Texts of up to 16 bytes (most texts) are stored in the slots
//! of the hash table. So a known text of this length is found with one memory access. A hash table
//! of ids would need three: the slot, the end of the text, and its bytes. The slots make the build
//! of a large phrase table a seventh faster.

use miriam_storage::hash::hash64;

/// The largest number of bytes of a text that is stored in its slot.
const INLINE_BYTES: usize = 16;
/// The `id` of an empty slot.
const EMPTY: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Slot {
    /// With `last`, a text of up to 16 bytes, as [`key_words`] returns it. For a longer text, its
    /// hash, and `last` is its last 8 bytes.
    first: u64,
    last: u64,
    /// In the low 8 bits, the number of bytes (17 for all texts of more than 16 bytes); above them,
    /// the tag.
    length_and_tag: u32,
    id: u32,
}

/// A set of texts, each with a tag, an id and a count. Equal texts with different tags are
/// different.
pub(crate) struct Interner {
    /// A hash table with linear probing; its length is a power of 2.
    slots: Vec<Slot>,
    /// The texts, concatenated by id.
    bytes: Vec<u8>,
    /// The end of each text in `bytes`.
    ends: Vec<usize>,
    tags: Vec<u32>,
    counts: Vec<u64>,
}

impl Interner {
    pub fn new() -> Self {
        let slots = vec![Slot { first: 0, last: 0, length_and_tag: 0, id: EMPTY }; 1024];
        Interner {
            slots,
            bytes: Vec::new(),
            ends: Vec::new(),
            tags: Vec::new(),
            counts: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn text(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start..self.ends[id]]
    }

    pub fn tag(&self, id: u32) -> u32 {
        self.tags[id as usize]
    }

    pub fn count(&self, id: u32) -> u64 {
        self.counts[id as usize]
    }

    /// Subtracts one appearance of `id`.
    pub fn decrement_count(&mut self, id: u32) {
        self.counts[id as usize] -= 1;
    }

    /// Adds `count` appearances of `text` with `tag` (below 2^24); returns its id and
    /// whether it is new.
    ///
    /// # Panics
    ///
    /// If there are already 2^32 - 1 distinct texts.
    #[inline]
    pub fn intern(&mut self, text: &[u8], tag: u32, count: u64) -> (u32, bool) {
        let (first, last) = key_words(text);
        let length_and_tag = text.len().min(INLINE_BYTES + 1) as u32 | tag << 8;
        let mut at = hash_key(first, last, length_and_tag) as usize & (self.slots.len() - 1);
        loop {
            let slot = &self.slots[at];
            if slot.id == EMPTY {
                break;
            }
            if slot.first == first
                && slot.last == last
                && slot.length_and_tag == length_and_tag
                && (text.len() <= INLINE_BYTES || self.text(slot.id) == text)
            {
                self.counts[slot.id as usize] += count;
                return (slot.id, false);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let id = self.ends.len() as u32;
        assert!(id != EMPTY, "fewer than 2^32 - 1 distinct texts");
        self.slots[at] = Slot { first, last, length_and_tag, id };
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.tags.push(tag);
        self.counts.push(count);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        (id, true)
    }

    #[cold]
    fn grow(&mut self) {
        let empty = Slot { first: 0, last: 0, length_and_tag: 0, id: EMPTY };
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![empty; old.len() * 2];
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|s| s.id != EMPTY) {
            let mut at = hash_key(slot.first, slot.last, slot.length_and_tag) as usize & mask;
            while self.slots[at].id != EMPTY {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }
}

/// Returns two integers that, with the length, identify a text of up to 16 bytes. For a longer text
/// they are its hash and its last 8 bytes.
#[inline]
fn key_words(text: &[u8]) -> (u64, u64) {
    if text.len() > INLINE_BYTES {
        return (hash64(text), text.last_chunk::<8>().map_or(0, |c| u64::from_le_bytes(*c)));
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return (u64::from(first) | u64::from(last) << 32, 0);
    }
    match *text {
        [] => (0, 0),
        [a] => (u64::from(a), 0),
        [a, b] => (u64::from(a) | u64::from(b) << 8, 0),
        [a, b, c, ..] => (u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16, 0),
    }
}

#[inline]
fn hash_key(first: u64, last: u64, length_and_tag: u32) -> u64 {
    fn fold(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    }
    let half = fold(first ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
    fold(half ^ last ^ u64::from(length_and_tag) << 40, 0xa076_1d64_78bd_642f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn equals_a_hash_map(texts in proptest::collection::vec(("[ab\\x00]{0,20}", 0u32..3), 0..2000)) {
            let mut interner = Interner::new();
            let mut reference: HashMap<(String, u32), (u32, u64)> = HashMap::new();
            for (text, tag) in &texts {
                let next = reference.len() as u32;
                let entry = reference.entry((text.clone(), *tag)).or_insert((next, 0));
                entry.1 += 1;
                prop_assert_eq!(interner.intern(text.as_bytes(), *tag, 1), (entry.0, entry.1 == 1));
            }
            prop_assert_eq!(interner.len(), reference.len());
            for ((text, tag), (id, count)) in reference {
                prop_assert_eq!(interner.text(id), text.as_bytes());
                prop_assert_eq!((interner.tag(id), interner.count(id)), (tag, count));
            }
        }
    }
}
