//! The keys of the blanks: one section per order, or one for all orders.
//!
//! A container has room for 63 sections. A model of order N would need 3N + 1: for its metadata,
//! its vocabulary (3), its tables, their oldest words and their blanks. So above order 20 the keys
//! of all orders are in one section, and the counts in the metadata say how many belong to each
//! order.

use miriam_storage::{Container, ContainerWriter};

use super::ProbingMetadata;
use crate::Result;

/// The highest order of a model with one section per order.
const MAX_SEPARATE_ORDER: usize = 20;

fn section_name(order: usize) -> String {
    format!("order-{order}.blanks")
}

/// A writer of the keys of the blanks of a model.
pub struct BlankKeyWriter {
    is_separate: bool,
    /// The keys of all orders so far, if they share one section.
    collected: Vec<u64>,
}

impl BlankKeyWriter {
    /// Creates a writer for a model of `order`.
    pub fn new(order: usize) -> Self {
        BlankKeyWriter { is_separate: order <= MAX_SEPARATE_ORDER, collected: Vec::new() }
    }

    /// Adds the keys of the blanks of `order`. Must be called for each order in turn, from 2 on.
    pub fn push(
        &mut self,
        writer: &mut ContainerWriter,
        order: usize,
        mut keys: Vec<u64>,
    ) -> Result<()> {
        keys.sort_unstable();
        if self.is_separate {
            writer.write_section(&section_name(order), &keys)?;
        } else {
            self.collected.append(&mut keys);
        }
        Ok(())
    }

    /// Writes the section for all orders, if they share one.
    pub fn finish(self, writer: &mut ContainerWriter) -> Result<()> {
        if !self.is_separate {
            writer.write_section("blanks", &self.collected)?;
        }
        Ok(())
    }
}

/// Returns the keys of the blanks of `order`, from 2.
pub fn read(container: &Container, metadata: &ProbingMetadata, order: usize) -> Result<Vec<u64>> {
    if metadata.counts.len() <= MAX_SEPARATE_ORDER {
        return Ok(container.section::<u64>(&section_name(order))?.to_vec());
    }
    let all = container.section::<u64>("blanks")?;
    // The number of entries, which include blanks, minus the number of n-grams.
    fn count(order: usize, metadata: &ProbingMetadata) -> Option<usize> {
        let entries = metadata.entries.get(order - 2)?;
        usize::try_from(entries.checked_sub(*metadata.counts.get(order - 1)?)?).ok()
    }
    let start =
        (2..order).try_fold(0usize, |start, order| start.checked_add(count(order, metadata)?));
    let range =
        start.zip(count(order, metadata)).and_then(|(start, n)| Some(start..start.checked_add(n)?));
    match range.and_then(|range| all.get(range)) {
        Some(keys) => Ok(keys.to_vec()),
        None => {
            let reason = format!("it does not hold the blanks of {order}-grams");
            Err(container.damaged("blanks", reason).into())
        }
    }
}
