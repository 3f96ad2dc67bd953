//! Scored and pruned option lists, cached for the process.
//!
//! Frequent source phrases repeat from sentence to sentence; on real text the same lists would be
//! made 40 to 200 times. A list does not change as long as the weights do not. So it is set once in
//! a fixed table of `OnceLock`s and then only read; no lock is held while anything is computed. The
//! memory is bounded; when the table is full, lists are made anew as if there were no cache.
//! Results never depend on what is cached.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_probingpt::RecordOffset;

use super::OptionList;

/// A value that knows its size.
pub(crate) trait MemoryUsage {
    /// Returns the memory in use in bytes.
    fn memory_usage(&self) -> usize;
}

/// A source phrase of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhraseKey {
    /// The table.
    pub(crate) table: u32,
    /// The phrase in the table.
    pub(crate) record: RecordOffset,
}

/// Rows of unweighted scores of a source phrase's options, in their order.
pub(crate) struct ValueRows(pub(crate) Vec<f32>);

impl MemoryUsage for ValueRows {
    fn memory_usage(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<f32>()
    }
}

/// A cache of rows by source phrase, allocated at the first request.
#[derive(Default)]
pub(crate) struct PhraseValueCache(OnceLock<PhraseCache<ValueRows>>);

impl PhraseValueCache {
    /// Returns the cache of rows, which the first call allocates.
    pub(crate) fn rows(&self) -> &PhraseCache<ValueRows> {
        self.0.get_or_init(PhraseCache::new)
    }
}

const NUM_SLOTS: usize = 1 << 18;
/// The number of slots that are tried for a key.
const PROBE_WINDOW: usize = 8;
/// The largest number of bytes of cached values.
const MAX_MEMORY: usize = 1 << 30;

type Slot<T> = OnceLock<(PhraseKey, Box<T>)>;

/// Cached option lists.
pub(crate) type OptionCache = PhraseCache<OptionList>;

/// Values made for source phrases.
pub(crate) struct PhraseCache<T> {
    slots: Vec<Slot<T>>,
    memory: AtomicUsize,
}

impl<T: MemoryUsage> PhraseCache<T> {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        let slots = std::iter::repeat_with(OnceLock::new).take(NUM_SLOTS).collect();
        PhraseCache { slots, memory: AtomicUsize::new(0) }
    }

    /// Returns the value of `key`, if it is cached.
    #[inline]
    pub(crate) fn get(&self, key: PhraseKey) -> Option<&T> {
        for slot in self.probe_window(key) {
            let (kept, list) = slot.get()?;
            if *kept == key {
                return Some(list);
            }
        }
        None
    }

    /// Caches `list`, the value of `key`, and returns it. If another thread has cached a value of
    /// `key`, returns that value. Returns `list` as an error if the memory or the slots for `key`
    /// are used up.
    pub(crate) fn insert(&self, key: PhraseKey, list: Box<T>) -> Result<&T, Box<T>> {
        let size = list.memory_usage();
        if self.memory.fetch_add(size, Ordering::Relaxed) + size > MAX_MEMORY {
            self.memory.fetch_sub(size, Ordering::Relaxed);
            return Err(list);
        }
        let mut entry = (key, list);
        for slot in self.probe_window(key) {
            match slot.set(entry) {
                Ok(()) => return Ok(&slot.get().expect("set just now").1),
                Err(back) => entry = back,
            }
            // Another thread may have made the same list in the meantime.
            let (kept, list) = slot.get().expect("set by another thread");
            if *kept == key {
                self.memory.fetch_sub(size, Ordering::Relaxed);
                return Ok(list);
            }
        }
        self.memory.fetch_sub(size, Ordering::Relaxed);
        Err(entry.1)
    }

    fn probe_window(&self, key: PhraseKey) -> impl Iterator<Item = &Slot<T>> {
        let mixed = (key.record.0 ^ u64::from(key.table) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let start = (mixed >> 46) as usize;
        (0..PROBE_WINDOW).map(move |i| &self.slots[(start + i) % NUM_SLOTS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_lists_are_found_by_every_thread() {
        let cache = OptionCache::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let cache = &cache;
                scope.spawn(move || {
                    for i in 0..1000u64 {
                        let key = PhraseKey { table: (i % 3) as u32, record: RecordOffset(i * 64) };
                        if cache.get(key).is_none() {
                            let list = Box::new(OptionList {
                                alignments: vec![i as u32],
                                ..Default::default()
                            });
                            let kept = cache.insert(key, list);
                            assert_eq!(kept.unwrap().alignments, [i as u32], "thread {thread}");
                        }
                    }
                });
            }
        });
        for i in 0..1000u64 {
            let key = PhraseKey { table: (i % 3) as u32, record: RecordOffset(i * 64) };
            assert_eq!(cache.get(key).unwrap().alignments, [i as u32]);
        }
        assert!(cache.get(PhraseKey { table: 9, record: RecordOffset(0) }).is_none());
    }
}
