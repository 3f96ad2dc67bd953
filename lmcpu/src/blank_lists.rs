//! The list of the blanks of a file: entries for suffixes that the model itself lacks.

use miriam_storage::{Container, View};

use crate::Result;

/// The numbers of the blanks of each order, from the section `blanks`. The number of an n-gram is
/// the location of its entry, which depends on the kind of file.
pub struct BlankLists {
    numbers: View<u32>,
    /// The start of each order in `numbers`, from order 2, and the end of the last order.
    offsets: Vec<usize>,
}

impl BlankLists {
    /// Opens the section. `levels` has the number of entries of each order, from 2, and how many of
    /// them are blanks.
    ///
    /// # Errors
    ///
    /// If the section is missing or has another number of blanks than `levels`.
    pub fn open(container: &Container, levels: impl Iterator<Item = (u64, u64)>) -> Result<Self> {
        let numbers = container.section::<u32>("blanks")?;
        let (mut offsets, mut end) = (vec![0], 0u64);
        for (entries, blanks) in levels {
            if blanks > entries {
                let reason = "an order has more blanks than n-grams";
                return Err(container.damaged("metadata", reason).into());
            }
            end = end.saturating_add(blanks);
            offsets.push(end as usize);
        }
        if end != numbers.len() as u64 {
            let reason = "the number of blanks differs from the metadata";
            return Err(container.damaged("blanks", reason).into());
        }
        Ok(BlankLists { numbers, offsets })
    }

    /// Returns the numbers of the blanks of `order`, which is at least 2.
    pub fn for_order(&self, order: usize) -> &[u32] {
        &self.numbers[self.offsets[order - 2]..self.offsets[order - 1]]
    }
}
