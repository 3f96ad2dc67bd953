//! Scored and cut option lists, kept for the whole process.
//!
//! Frequent source phrases repeat from sentence to sentence; on real text the
//! same lists are made 40 to 200 times over. A list, once made, never changes
//! while the weights stay, so it is set once in a fixed table of `OnceLock`s and
//! then only read: no lock is ever held while anything is computed. The memory
//! is bounded; when the table is full, lists are made anew as if there were no
//! memo. What is found never depends on what is kept.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_probingpt::Record;

use super::OptionList;

/// What says how large it is.
pub(crate) trait Measured {
    /// Bytes of memory in use.
    fn memory(&self) -> usize;
}

/// A source phrase of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Which table.
    pub(crate) table: u32,
    /// Which phrase in it.
    pub(crate) record: Record,
}

const SLOTS: usize = 1 << 18;
/// Slots looked at before giving up.
const WINDOW: usize = 8;
/// Bytes of lists kept at most.
const MEMORY: usize = 1 << 30;

type Slot<T> = OnceLock<(Key, Box<T>)>;

/// The option lists kept.
pub(crate) type OptionMemo = Memo<OptionList>;

/// Things made for source phrases, one kind a memo.
pub(crate) struct Memo<T> {
    slots: Vec<Slot<T>>,
    memory: AtomicUsize,
}

impl<T: Measured> Memo<T> {
    /// A memo that keeps nothing yet.
    pub(crate) fn new() -> Self {
        let slots = std::iter::repeat_with(OnceLock::new).take(SLOTS).collect();
        Memo { slots, memory: AtomicUsize::new(0) }
    }

    /// The list of `key`, if it is kept.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        for slot in self.window(key) {
            let (kept, list) = slot.get()?;
            if *kept == key {
                return Some(list);
            }
        }
        None
    }

    /// Keeps `list` and returns it, or hands it back where there is no room.
    pub(crate) fn keep(&self, key: Key, list: Box<T>) -> Result<&T, Box<T>> {
        let size = list.memory();
        if self.memory.fetch_add(size, Ordering::Relaxed) + size > MEMORY {
            self.memory.fetch_sub(size, Ordering::Relaxed);
            return Err(list);
        }
        let mut entry = (key, list);
        for slot in self.window(key) {
            match slot.set(entry) {
                Ok(()) => return Ok(&slot.get().expect("set just now").1),
                Err(back) => entry = back,
            }
            // Another thread may have made the same list in the meantime.
            let (kept, list) = slot.get().expect("set by somebody");
            if *kept == key {
                self.memory.fetch_sub(size, Ordering::Relaxed);
                return Ok(list);
            }
        }
        self.memory.fetch_sub(size, Ordering::Relaxed);
        Err(entry.1)
    }

    fn window(&self, key: Key) -> impl Iterator<Item = &Slot<T>> {
        let mixed = (key.record.0 ^ u64::from(key.table) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let start = (mixed >> 46) as usize;
        (0..WINDOW).map(move |i| &self.slots[(start + i) % SLOTS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_by_every_thread() {
        let memo = OptionMemo::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let memo = &memo;
                scope.spawn(move || {
                    for i in 0..1000u64 {
                        let key = Key { table: (i % 3) as u32, record: Record(i * 64) };
                        if memo.get(key).is_none() {
                            let list = Box::new(OptionList {
                                alignments: vec![i as u32],
                                ..Default::default()
                            });
                            let kept = memo.keep(key, list);
                            assert_eq!(kept.unwrap().alignments, [i as u32], "thread {thread}");
                        }
                    }
                });
            }
        });
        for i in 0..1000u64 {
            let key = Key { table: (i % 3) as u32, record: Record(i * 64) };
            assert_eq!(memo.get(key).unwrap().alignments, [i as u32]);
        }
        assert!(memo.get(Key { table: 9, record: Record(0) }).is_none());
    }
}
