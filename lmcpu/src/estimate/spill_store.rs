//! Tables in memory within a budget, and beyond it in a temporary file.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use miriam_storage::spill_file::SpillFile;
use miriam_textio::leb128::{push_leb128, read_leb128};

use super::parallel::Resources;
use crate::Result;

/// The bytes of memory that may still be used.
pub(super) struct MemoryBudget(AtomicU64);

impl MemoryBudget {
    /// Creates a budget of `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        MemoryBudget(AtomicU64::new(bytes))
    }

    /// Returns `bytes` to the budget.
    pub fn release(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes `bytes` bytes from the budget if it has that many; returns whether it had.
    pub fn try_reserve(&self, bytes: u64) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left: u64| left.checked_sub(bytes))
            .is_ok()
    }
}

/// The resources for work on tables.
#[derive(Clone, Copy)]
pub(super) struct Workspace<'w> {
    pub resources: Resources,
    pub budget: &'w MemoryBudget,
    pub spill: &'w SpillFile,
}

/// Columns of numbers, each of its own length.
pub(super) type ColumnTable = Vec<Vec<u32>>;

/// The encoding of a table's numbers on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnCoding {
    /// As varints.
    Varint,
    /// Four bytes each, for the bits of floats.
    Fixed32,
}

/// Tables by index, each stored once.
pub(super) struct SpillStore<'s> {
    tables: Vec<OnceLock<StoredTable>>,
    coding: ColumnCoding,
    budget: &'s MemoryBudget,
    spill: &'s SpillFile,
}

enum StoredTable {
    InMemory(ColumnTable),
    OnDisk { at: u64, len: usize },
}

/// A table of a store.
pub(super) enum TableRef<'a> {
    InMemory(&'a ColumnTable),
    Loaded(ColumnTable),
}

impl Deref for TableRef<'_> {
    type Target = ColumnTable;

    fn deref(&self) -> &ColumnTable {
        match self {
            TableRef::InMemory(table) => table,
            TableRef::Loaded(table) => table,
        }
    }
}

impl<'s> SpillStore<'s> {
    /// Creates a store of `len` tables.
    pub fn new(
        len: usize,
        coding: ColumnCoding,
        budget: &'s MemoryBudget,
        spill: &'s SpillFile,
    ) -> Self {
        SpillStore { tables: (0..len).map(|_| OnceLock::new()).collect(), coding, budget, spill }
    }

    /// Stores the table `i`. Must be called once for each index.
    pub fn put(&self, i: usize, mut table: ColumnTable) -> Result<()> {
        // A quarter more than the numbers take, because the allocator rounds up.
        let bytes: usize = table.iter().map(|column| 5 * column.len() + 32).sum();
        let is_empty = table.iter().all(Vec::is_empty);
        let cell = if is_empty || self.budget.try_reserve(bytes as u64) {
            table.iter_mut().for_each(Vec::shrink_to_fit);
            StoredTable::InMemory(table)
        } else {
            let coded = encode(&table, self.coding);
            StoredTable::OnDisk { at: self.spill.append(&coded)?, len: coded.len() }
        };
        assert!(self.tables[i].set(cell).is_ok(), "a table is put once");
        Ok(())
    }

    /// Returns the table `i`, which must have been stored.
    pub fn get(&self, i: usize) -> Result<TableRef<'_>> {
        match self.tables[i].get().expect("tables are put before they are read") {
            StoredTable::InMemory(table) => Ok(TableRef::InMemory(table)),
            StoredTable::OnDisk { at, len } => {
                let mut coded = vec![0; *len];
                self.spill.read(*at, &mut coded)?;
                Ok(TableRef::Loaded(decode(&coded, self.coding)))
            }
        }
    }
}

fn encode(table: &ColumnTable, coding: ColumnCoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_leb128(&mut bytes, table.len() as u64);
    for column in table {
        push_leb128(&mut bytes, column.len() as u64);
        match coding {
            ColumnCoding::Varint => column.iter().for_each(|&n| push_leb128(&mut bytes, n.into())),
            ColumnCoding::Fixed32 => bytes.extend(column.iter().flat_map(|n| n.to_le_bytes())),
        }
    }
    bytes
}

fn decode(bytes: &[u8], coding: ColumnCoding) -> ColumnTable {
    let mut at = 0;
    let columns = read_leb128(bytes, &mut at);
    (0..columns).map(|_| decode_column(bytes, &mut at, coding)).collect()
}

/// Decodes the column at `at` and moves `at` to its end.
fn decode_column(bytes: &[u8], at: &mut usize, coding: ColumnCoding) -> Vec<u32> {
    let len = read_leb128(bytes, at) as usize;
    match coding {
        ColumnCoding::Varint => (0..len).map(|_| read_leb128(bytes, at) as u32).collect(),
        ColumnCoding::Fixed32 => {
            let raw = &bytes[*at..*at + 4 * len];
            *at += raw.len();
            raw.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_storage::spill_file::TEMP_OR_MEMORY;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tables_come_back_from_memory_and_disk(
            table in proptest::collection::vec(proptest::collection::vec(any::<u32>(), 0..9), 0..5),
            budget_bytes in 0u64..300, bits in any::<bool>(),
        ) {
            let coding = if bits { ColumnCoding::Fixed32 } else { ColumnCoding::Varint };
            let budget = MemoryBudget::new(budget_bytes);
            let spill = SpillFile::new(&std::env::temp_dir(), TEMP_OR_MEMORY);
            let store = SpillStore::new(2, coding, &budget, &spill);
            store.put(1, table.clone()).unwrap();
            store.put(0, ColumnTable::new()).unwrap();
            prop_assert_eq!(&*store.get(1).unwrap(), &table);
            prop_assert_eq!(&*store.get(0).unwrap(), &ColumnTable::new());
        }
    }
}
