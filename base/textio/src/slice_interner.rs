//! Interner of short slices: every distinct slice is stored once and has a `u32` id.

use hashbrown::HashTable;

/// Distinct slices of `T`, concatenated in one buffer, with ids from 0 in the order of first
/// appearance. The caller passes the hash function to each call; the function must always be the
/// same, or known slices are not found.
///
/// ```
/// use miriam_textio::SliceInterner;
///
/// let hash = |phrase: &[u32]| phrase.iter().map(|&word| u64::from(word) * 31).sum();
/// let mut phrases = SliceInterner::new();
/// assert_eq!(phrases.intern(&[5, 6], hash), 0);
/// assert_eq!(phrases.intern(&[7], hash), 1);
/// assert_eq!(phrases.intern(&[5, 6], hash), 0);
/// assert_eq!(phrases.get(1), [7]);
/// ```
#[derive(Clone, Debug)]
pub struct SliceInterner<T> {
    items: Vec<T>,
    /// The end of each slice in `items`.
    ends: Vec<usize>,
    ids: HashTable<u32>,
}

impl<T> Default for SliceInterner<T> {
    fn default() -> Self {
        SliceInterner { items: Vec::new(), ends: Vec::new(), ids: HashTable::new() }
    }
}

impl<T: Copy + PartialEq> SliceInterner<T> {
    /// Returns an interner without slices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves memory for `additional` more slices, but not for their items.
    pub fn reserve(&mut self, additional: usize, hash_of: impl Fn(&[T]) -> u64) {
        self.ends.reserve(additional);
        let (items, ends) = (&self.items, &self.ends);
        self.ids.reserve(additional, |&id| hash_of(slice(items, ends, id)));
    }

    /// Returns the number of slices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no slices.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the slice with this id.
    ///
    /// # Panics
    /// If there is no such slice.
    #[inline]
    pub fn get(&self, id: u32) -> &[T] {
        slice(&self.items, &self.ends, id)
    }

    /// Returns the id of the slice `list`, whose hash is `hash`; `None` if it is new.
    #[inline]
    pub fn find(&self, list: &[T], hash: u64) -> Option<u32> {
        self.ids.find(hash, |&id| self.get(id) == list).copied()
    }

    /// Returns the id of the slice `list`, after adding it if it is new.
    ///
    /// # Panics
    /// If there are already 2^32 slices.
    #[inline]
    pub fn intern(&mut self, list: &[T], hash_of: impl Fn(&[T]) -> u64) -> u32 {
        self.intern_hashed(list, hash_of(list), hash_of)
    }

    /// Works like [`SliceInterner::intern`]; `hash` must be `hash_of(list)`.
    ///
    /// # Panics
    /// If there are already 2^32 slices.
    #[inline]
    pub fn intern_hashed(&mut self, list: &[T], hash: u64, hash_of: impl Fn(&[T]) -> u64) -> u32 {
        if let Some(id) = self.find(list, hash) {
            return id;
        }
        let id = u32::try_from(self.ends.len()).expect("fewer than 2^32 slices");
        self.items.extend_from_slice(list);
        self.ends.push(self.items.len());
        let (items, ends) = (&self.items, &self.ends);
        self.ids.insert_unique(hash, id, |&id| hash_of(slice(items, ends, id)));
        id
    }

    /// Returns every slice in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + Clone {
        (0..self.len()).map(|id| self.get(id as u32))
    }

    /// Removes all slices and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
        self.ids.clear();
    }
}

#[inline]
fn slice<'a, T>(items: &'a [T], ends: &[usize], id: u32) -> &'a [T] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &items[start..ends[id]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The hash is the length, so that hashes often collide; the second round uses a cleared
        /// interner.
        #[test]
        fn ids_follow_first_appearance(
            lists in proptest::collection::vec(proptest::collection::vec(0u32..3, 0..4), 0..60),
        ) {
            let hash = |list: &[u32]| list.len() as u64;
            let mut interner = SliceInterner::new();
            for _ in 0..2 {
                interner.clear();
                let mut seen: Vec<&[u32]> = Vec::new();
                for list in &lists {
                    if !seen.contains(&&list[..]) {
                        seen.push(list);
                    }
                    let id = interner.intern(list, hash);
                    prop_assert_eq!(seen[id as usize], &list[..]);
                    prop_assert_eq!(interner.find(list, hash(list)), Some(id));
                }
                prop_assert!(interner.iter().eq(seen));
                prop_assert_eq!(interner.find(&[9], 1), None);
            }
        }
    }
}
