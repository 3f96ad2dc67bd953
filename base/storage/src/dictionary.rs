//! Dictionary of strings: id to bytes, and bytes to id.
//!
//! It has three sections: the concatenated strings, their offsets, and a linear-probing index of
//! ids. A lookup compares the string itself, so strings are never confused. The index costs 6 bytes
//! per string and is stored in the file, so nothing is built at start-up.

use crate::hash::{fast_range, hash64};
use crate::{Container, ContainerWriter, Error, Result, View, prefetch_at};

/// The number of strings that are looked up together: enough to hide the latency of memory, few
/// enough for prefetched lines to stay in the first-level cache.
const PREFETCH_BATCH: usize = 32;

/// A list of strings without an index: id to bytes.
#[derive(Clone)]
pub struct StringPool {
    /// The start of each string in `bytes`, and the end of the last one.
    offsets: View<u32>,
    bytes: View<u8>,
}

impl StringPool {
    /// Opens the sections `PREFIX.offsets` and `PREFIX.bytes`.
    ///
    /// # Errors
    /// [`Error::Damaged`] if one is missing or they do not match.
    pub fn open(container: &Container, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.offsets");
        let offsets = container.section::<u32>(&name)?;
        let bytes = container.section::<u8>(&format!("{prefix}.bytes"))?;
        let end = offsets.last().map(|&end| end as usize);
        if offsets.first() != Some(&0) || end != Some(bytes.len()) {
            return Err(container.damaged(&name, "it does not span the strings"));
        }
        Ok(StringPool { offsets, bytes })
    }

    /// Writes `strings` as the sections `PREFIX.offsets` and `PREFIX.bytes`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 4 GiB of strings, [`Error::Io`] if writing fails.
    pub fn write<'a>(
        writer: &mut ContainerWriter,
        prefix: &str,
        strings: impl Iterator<Item = &'a [u8]>,
    ) -> Result<()> {
        let mut offsets = vec![0u32];
        let mut bytes = Vec::new();
        for string in strings {
            bytes.extend_from_slice(string);
            offsets.push(u32::try_from(bytes.len()).map_err(|_| Error::TooLarge {
                path: writer.path().to_owned(),
                reason: format!("{prefix}: more than 4 GiB of strings"),
            })?);
        }
        writer.write_section(&format!("{prefix}.offsets"), &offsets)?;
        writer.write_section(&format!("{prefix}.bytes"), &bytes)
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the string `id`; `None` if there is none or the file is damaged.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&[u8]> {
        let start = *self.offsets.get(id as usize)?;
        let end = *self.offsets.get(id as usize + 1)?;
        self.bytes.get(start as usize..end as usize)
    }

    /// Returns every string in the order of ids, up to a damaged one.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len() as u32).map_while(|id| self.get(id))
    }
}

/// A [`StringPool`] with an index, so that ids are found by their strings too.
///
/// ```
/// use std::path::Path;
///
/// use miriam_storage::dictionary::Dictionary;
/// use miriam_storage::{Container, ContainerWriter, FileKind};
///
/// let mut writer = ContainerWriter::in_memory(Path::new("words"), FileKind::new("words"), 1)?;
/// Dictionary::write(&mut writer, "source", [&b"das"[..], b"haus"].into_iter())?;
/// let bytes = writer.finish()?.expect("a container in memory");
///
/// let words = Dictionary::open(&Container::from_bytes(bytes, Path::new("words"))?, "source")?;
/// assert_eq!(words.find(b"haus"), Some(1));
/// assert_eq!(words.get(0), Some(&b"das"[..]));
/// # Ok::<(), miriam_storage::Error>(())
/// ```
#[derive(Clone)]
pub struct Dictionary {
    pool: StringPool,
    /// The slots: `id + 1`, or 0 if empty; some are always empty.
    index: View<u32>,
}

impl Dictionary {
    /// Opens the sections `PREFIX.offsets`, `PREFIX.bytes` and `PREFIX.index`.
    ///
    /// # Errors
    /// [`Error::Damaged`] if one is missing or they do not match.
    pub fn open(container: &Container, prefix: &str) -> Result<Self> {
        let pool = StringPool::open(container, prefix)?;
        let name = format!("{prefix}.index");
        let index = container.section::<u32>(&name)?;
        if index.len() != index_slots(pool.len()) {
            return Err(container.damaged(&name, "its size does not fit the strings"));
        }
        Ok(Dictionary { pool, index })
    }

    /// Writes `strings`, which must be distinct, as the sections `PREFIX.offsets`, `PREFIX.bytes`
    /// and `PREFIX.index`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 4 GiB of strings, [`Error::Io`] if writing fails.
    pub fn write<'a>(
        writer: &mut ContainerWriter,
        prefix: &str,
        strings: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<()> {
        StringPool::write(writer, prefix, strings.clone())?;
        let slots = index_slots(strings.len());
        let mut index = vec![0u32; slots];
        for (id, string) in strings.enumerate() {
            let mut slot = home_slot(string, slots);
            while index[slot] != 0 {
                slot = (slot + 1) % slots;
            }
            index[slot] = id as u32 + 1;
        }
        writer.write_section(&format!("{prefix}.index"), &index)
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.pool.is_empty()
    }

    /// Returns the string `id`, if there is one.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&[u8]> {
        self.pool.get(id)
    }

    /// Returns every string in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.pool.iter()
    }

    /// Returns the id of `string`; `None` if the dictionary does not have it.
    #[inline]
    pub fn find(&self, string: &[u8]) -> Option<u32> {
        self.probe(home_slot(string, self.index.len()), string)
    }

    /// Calls `found` with the result of [`Dictionary::find`] for each string, in the order of
    /// `strings`. Memory accesses of neighbouring strings overlap.
    pub fn find_batch<'s>(
        &self,
        strings: impl IntoIterator<Item = &'s [u8]>,
        mut found: impl FnMut(Option<u32>),
    ) {
        let mut strings = strings.into_iter();
        let mut group: [(&[u8], usize); PREFETCH_BATCH] = [(&[], 0); PREFETCH_BATCH];
        loop {
            // Each step prefetches data of the next one: slots, offsets of strings, strings.
            let mut count = 0;
            for (entry, string) in group.iter_mut().zip(strings.by_ref()) {
                let slot = home_slot(string, self.index.len());
                prefetch_at(&self.index, slot);
                *entry = (string, slot);
                count += 1;
            }
            let group = &group[..count];
            for &(_, slot) in group {
                // An empty slot prefetches an address outside the file, which is harmless.
                prefetch_at(&self.pool.offsets, self.index[slot].wrapping_sub(1) as usize);
            }
            for &(_, slot) in group {
                let id = self.index[slot].wrapping_sub(1) as usize;
                if let Some(&start) = self.pool.offsets.get(id) {
                    prefetch_at(&self.pool.bytes, start as usize);
                }
            }
            for &(string, slot) in group {
                found(self.probe(slot, string));
            }
            if count < PREFETCH_BATCH {
                return;
            }
        }
    }

    #[inline]
    fn probe(&self, mut slot: usize, string: &[u8]) -> Option<u32> {
        // Bounded, so that a search in a damaged index without empty slots ends too.
        for _ in 0..self.index.len() {
            let id = self.index[slot].checked_sub(1)?;
            if self.pool.get(id) == Some(string) {
                return Some(id);
            }
            slot += 1;
            if slot == self.index.len() {
                slot = 0;
            }
        }
        None
    }

    /// Checks that every string is found by its bytes. The time does not depend on the distances of
    /// strings from their home slots, which are long in crafted files.
    ///
    /// # Errors
    /// The first id that is not found by its own string.
    pub fn verify(&self) -> std::result::Result<(), u32> {
        let mut distances = self.slot_distances();
        for repeated in self.repeated_strings() {
            // A search finds the nearest of equal strings that it reaches.
            let reached = repeated.iter().copied().filter(|&id| distances[id as usize].is_some());
            let nearest = reached.min_by_key(|&id| distances[id as usize]);
            for id in repeated.into_iter().filter(|&id| Some(id) != nearest) {
                distances[id as usize] = None;
            }
        }
        let lost = distances.iter().position(Option::is_none);
        lost.map_or(Ok(()), |id| Err(id as u32))
    }

    /// Returns the distance of each string from its home slot to the slot where a search reaches
    /// it; `None` if none does.
    fn slot_distances(&self) -> Vec<Option<usize>> {
        let slots = self.index.len();
        let mut distances: Vec<Option<usize>> = vec![None; self.len()];
        // The number of slots before the current one that are used without a gap; the first slot
        // follows the last.
        let mut run = self.index.iter().rev().take_while(|&&entry| entry != 0).count();
        for (slot, &entry) in self.index.iter().enumerate() {
            let Some(id) = entry.checked_sub(1) else {
                run = 0;
                continue;
            };
            if let Some(string) = self.get(id) {
                let distance = (slot + slots - home_slot(string, slots)) % slots;
                let known = &mut distances[id as usize];
                if distance <= run && known.is_none_or(|known| distance < known) {
                    *known = Some(distance);
                }
            }
            run += 1;
        }
        distances
    }

    /// Returns the ids of each string that occurs more than once.
    fn repeated_strings(&self) -> Vec<Vec<u32>> {
        let ids = 0..self.len() as u32;
        let mut hashed: Vec<(u64, u32)> =
            ids.filter_map(|id| Some((hash64(self.get(id)?), id))).collect();
        hashed.sort_unstable();
        let mut repeated = Vec::new();
        for equal_hashes in hashed.chunk_by(|a, b| a.0 == b.0).filter(|chunk| chunk.len() > 1) {
            let mut ids: Vec<u32> = equal_hashes.iter().map(|&(_, id)| id).collect();
            ids.sort_unstable_by_key(|&id| self.get(id));
            let chunks = ids.chunk_by(|&a, &b| self.get(a) == self.get(b));
            repeated.extend(chunks.filter(|chunk| chunk.len() > 1).map(<[u32]>::to_vec));
        }
        repeated
    }
}

fn index_slots(strings: usize) -> usize {
    strings + strings / 2 + 1
}

#[inline]
fn home_slot(string: &[u8], slots: usize) -> usize {
    fast_range(hash64(string), slots as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKind;
    use proptest::prelude::*;
    use std::path::Path;

    /// Opens the dictionary `w` of a file with the sections that `write` writes.
    fn open_written(write: impl FnOnce(&mut ContainerWriter)) -> Dictionary {
        let mut writer =
            ContainerWriter::in_memory(Path::new("words"), FileKind::new("words"), 1).unwrap();
        write(&mut writer);
        let bytes = writer.finish().unwrap().unwrap();
        let container = Container::from_bytes(bytes, Path::new("words")).unwrap();
        Dictionary::open(&container, "w").unwrap()
    }

    fn dictionary(strings: &[Vec<u8>]) -> Dictionary {
        open_written(|writer| {
            Dictionary::write(writer, "w", strings.iter().map(|s| &s[..])).unwrap();
        })
    }

    proptest! {
        #[test]
        fn finds_its_strings_and_no_others(
            set in proptest::collection::hash_set(proptest::collection::vec(any::<u8>(), 0..6), 0..60),
            other in proptest::collection::vec(any::<u8>(), 0..6),
        ) {
            let strings: Vec<Vec<u8>> = set.into_iter().collect();
            let dictionary = dictionary(&strings);
            prop_assert_eq!(dictionary.len(), strings.len());
            for (id, string) in strings.iter().enumerate() {
                prop_assert_eq!(dictionary.find(string), Some(id as u32));
                prop_assert_eq!(dictionary.get(id as u32), Some(&string[..]));
            }
            let expected = strings.iter().position(|s| *s == other).map(|id| id as u32);
            prop_assert_eq!(dictionary.find(&other), expected);
            let all = strings.iter().chain([&other]).chain(&strings).map(|s| &s[..]);
            let mut found = Vec::new();
            dictionary.find_batch(all.clone(), |id| found.push(id));
            prop_assert_eq!(found, all.map(|s| dictionary.find(s)).collect::<Vec<_>>());
            prop_assert_eq!(dictionary.get(strings.len() as u32), None);
            prop_assert!(dictionary.verify().is_ok());
        }
    }

    fn open_index(strings: &[&[u8]], index: &[u32]) -> Dictionary {
        open_written(|writer| {
            StringPool::write(writer, "w", strings.iter().copied()).unwrap();
            writer.write_section("w.index", index).unwrap();
        })
    }

    proptest! {
        /// Any slots, of strings some of which are equal.
        #[test]
        fn verification_searches_each_string(
            strings in proptest::collection::vec(proptest::collection::vec(0u8..2, 0..3), 1..8),
            slots in proptest::collection::vec(0u32..10, 12),
        ) {
            let strings: Vec<&[u8]> = strings.iter().map(|string| &string[..]).collect();
            let dictionary = open_index(&strings, &slots[..index_slots(strings.len())]);
            let mut ids = 0..strings.len() as u32;
            let lost = ids.find(|&id| dictionary.find(strings[id as usize]) != Some(id));
            prop_assert_eq!(dictionary.verify().err(), lost);
        }
    }

    /// With searches from each home, this would take hours.
    #[test]
    fn verification_of_a_full_index_takes_linear_time() {
        let strings: Vec<Vec<u8>> =
            (0..400_000u32).map(|number| number.to_le_bytes().to_vec()).collect();
        let views: Vec<&[u8]> = strings.iter().map(|string| &string[..]).collect();
        // All slots are used, and half of the strings are far from their homes.
        let index: Vec<u32> =
            (0..index_slots(views.len()) as u32).map(|slot| slot % 400_000 + 1).collect();
        assert!(open_index(&views, &index).verify().is_ok());
    }

    #[test]
    fn damaged_sections_are_rejected_or_harmless() {
        for index in [vec![9u32, 9], vec![1, 1]] {
            let dictionary = open_written(|writer| {
                writer.write_section("w.offsets", &[0u32, 3]).unwrap();
                writer.write_section("w.bytes", b"abc").unwrap();
                writer.write_section("w.index", &index).unwrap();
            });
            assert_eq!(dictionary.find(b"zzz"), None);
            dictionary.find_batch([&b"zzz"[..], b"", b"yyy"], |id| assert_eq!(id, None));
        }
    }
}
