//! The blocks of an order. They are allocated first, which needs only the numbers of children; then
//! their units are filled in parallel, in batches of bounded size.

use miriam_lmcpu::Result;
use miriam_lmcpu::sorted::Nodes;
use miriam_storage::btree::{NO_KEY, StaticBTree, Unit};
use miriam_storage::parallel;
use miriam_storage::zerocopy::IntoBytes;
use miriam_storage::{ContainerWriter, Error};

use super::LevelNodes;
use crate::block_allocator::{BlockAllocator, BlockOffsets, Children, ParentKind};
use crate::format::{NodeWidth, UNIT_BYTES};

/// The number of parents whose blocks one task fills.
const PARENTS_PER_TASK: usize = 1 << 10;
/// The number of units of a batch (64 MiB), which its last chunk may exceed.
const WRITE_BATCH_UNITS: u64 = 1 << 22;

/// The layout of the blocks of an order.
pub(super) struct BlockWriter {
    /// By parent: the first unit of its children.
    first_units: Vec<u32>,
    /// The allocator before each chunk of parents, and after the last.
    chunks: Vec<BlockAllocator>,
}

impl BlockWriter {
    /// Allocates the blocks of the n-grams of `order`, whose parents are `parents`.
    ///
    /// # Errors
    ///
    /// If the order has more units than 32 bits can address.
    pub fn plan(
        order: usize,
        orders: usize,
        parents: &Nodes,
        width: NodeWidth,
        kind: ParentKind,
        writer: &ContainerWriter,
    ) -> Result<Self> {
        let mut allocator =
            BlockAllocator { width, is_longest: order == orders, parents: kind, cursor: 0 };
        let mut firsts = Vec::with_capacity(parents.len());
        let mut chunks = Vec::with_capacity(parents.len() / PARENTS_PER_TASK + 2);
        for (at, range) in parents.children.windows(2).enumerate() {
            if at.is_multiple_of(PARENTS_PER_TASK) {
                chunks.push(allocator);
            }
            // An overflow is reported below.
            firsts.push(allocator.allocate(u64::from(range[1] - range[0])).first_unit() as u32);
        }
        chunks.push(allocator);
        if allocator.total_units() > 1 << 32 {
            let reason = format!(
                "the {order}-grams take {} units of 16 bytes, but a file of this kind addresses at most \
                 2^32 per order; prune the model, or build a probing model",
                allocator.total_units()
            );
            return Err(Error::TooLarge { path: writer.path().to_owned(), reason }.into());
        }
        Ok(BlockWriter { first_units: firsts, chunks })
    }

    /// Returns the first unit of the children of the parent `at`.
    pub fn first_unit(&self, at: usize) -> u32 {
        self.first_units[at]
    }

    /// Writes the section of the n-grams of `level`, whose parents are `parents`; returns
    /// the units of the blanks' entries.
    pub fn write(
        &self,
        parents: &Nodes,
        level: &LevelNodes<'_>,
        writer: &mut ContainerWriter,
    ) -> Result<Vec<u32>> {
        let (Some((last, chunks)), order) = (self.chunks.split_last(), level.order) else {
            unreachable!("`plan` pushes the end")
        };
        let name = format!("order-{order}");
        let mut section =
            writer.begin_section(&name, UNIT_BYTES, last.total_units() * UNIT_BYTES as u64)?;
        let mut blank_units = Vec::new();
        let mut at = 0;
        while at < chunks.len() {
            let start = chunks[at].cursor;
            fn is_in(chunk: &BlockAllocator, start: u64) -> bool {
                chunk.cursor < start + WRITE_BATCH_UNITS
            }
            let next = at + chunks[at..].iter().take_while(|chunk| is_in(chunk, start)).count();
            let end = self.chunks[next].cursor;
            let mut units = vec![Unit::default(); (end - start) as usize];
            let mut tasks = Vec::with_capacity(next - at);
            let mut rest = &mut units[..];
            for chunk in at..next {
                let length = self.chunks[chunk + 1].cursor - self.chunks[chunk].cursor;
                let (own, others) = rest.split_at_mut(length as usize);
                tasks.push((chunk, own));
                rest = others;
            }
            let found = parallel::map_items(tasks, &|_, (chunk, out): (usize, &mut [Unit])| {
                let last = ((chunk + 1) * PARENTS_PER_TASK).min(parents.len());
                fill_blocks(self.chunks[chunk], chunk * PARENTS_PER_TASK..last, parents, level, out)
            });
            blank_units.extend(found.into_iter().flatten());
            section.write(units.as_bytes())?;
            at = next;
        }
        let padding = (last.total_units() - last.cursor) as usize;
        section.write(vec![Unit::default(); padding].as_bytes())?;
        section.finish()?;
        Ok(blank_units)
    }
}

/// Fills `out`, which begins at the cursor of `allocator`, with the blocks of the parents
/// in `range`; returns the units of the blanks' entries.
fn fill_blocks(
    mut allocator: BlockAllocator,
    range: std::ops::Range<usize>,
    parents: &Nodes,
    level: &LevelNodes<'_>,
    out: &mut [Unit],
) -> Vec<u32> {
    let base = allocator.cursor;
    let width = allocator.width;
    let nodes = parents.children[range.start] as usize..parents.children[range.end] as usize;
    let blanks = &level.nodes.blanks;
    let from = blanks.partition_point(|&blank| (blank as usize) < nodes.start);
    let mut blanks = blanks[from..].iter().peekable();
    let mut blank_units = Vec::new();
    let mut mark = |at: usize, unit: u64| {
        if blanks.next_if_eq(&&(at as u32)).is_some() {
            blank_units.push(unit as u32);
        }
    };
    for parent in range {
        let children = parents.children_of(parent as u32);
        match allocator.allocate(children.len() as u64) {
            Children::None | Children::Inline => {}
            Children::SingleEntry(unit) => {
                out[(unit - base) as usize] = entry_unit(level, children.start);
                mark(children.start, unit);
            }
            Children::Block(block) => {
                let BlockOffsets { head, keys, entries } = block;
                if let Some(head) = head {
                    out[(head - base) as usize] = Unit([children.len() as u32, 0, 0, 0]);
                }
                let (keys, entries) = ((keys - base) as usize, (entries - base) as usize);
                out[keys..entries].fill(Unit([NO_KEY; 4]));
                // If the block is a single node, the positions of its tree ascend.
                let tree =
                    StaticBTree { node_keys: width.keys() as u64, count: children.len() as u64 };
                for (position, at) in tree.in_order_positions().zip(children) {
                    let position = position as usize;
                    out[keys + position / 4].0[position % 4] = level.nodes.words[at];
                    if level.is_longest() {
                        out[entries + position / 4].0[position % 4] = level.log10(at);
                    } else {
                        out[entries + position] = entry_unit(level, at);
                        mark(at, base + (entries + position) as u64);
                    }
                }
            }
        }
    }
    blank_units
}

/// Returns the entry of an n-gram as a unit.
fn entry_unit(level: &LevelNodes<'_>, at: usize) -> Unit {
    let entry = level.node_entry(at);
    Unit([entry.log10, entry.backoff, entry.first, entry.count])
}
