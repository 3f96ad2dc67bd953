//! The blocks of an order: first where each begins, which follows from the numbers of
//! children alone, then their units, in parallel, in pieces that memory always holds.

use miriam_lmcpu::Result;
use miriam_lmcpu::sorted::Nodes;
use miriam_storage::btree::{NO_KEY, Tree, Unit};
use miriam_storage::zerocopy::IntoBytes;
use miriam_storage::{ContainerWriter, Error};
use rayon::prelude::*;

use super::Known;
use crate::format::{NodeWidth, UNIT};
use crate::placement::{Block, Family, Parents, Placement};

/// Parents whose blocks one task fills.
const CHUNK: usize = 1 << 10;
/// Units that are filled before they are written, unless one chunk has more: 64 MiB.
const PIECE: u64 = 1 << 22;

/// Where the blocks of an order go.
pub(super) struct Blocks {
    /// By parent: the unit that it names.
    firsts: Vec<u32>,
    /// The walk as it is before each chunk of parents, and behind the last.
    chunks: Vec<Placement>,
}

impl Blocks {
    /// Places the blocks of the n-grams of `order`, whose parents are `parents`.
    pub fn plan(
        order: usize,
        orders: usize,
        parents: &Nodes,
        width: NodeWidth,
        kind: Parents,
        writer: &ContainerWriter,
    ) -> Result<Self> {
        let mut walk = Placement { width, longest: order == orders, parents: kind, cursor: 0 };
        let mut firsts = Vec::with_capacity(parents.len());
        let mut chunks = Vec::with_capacity(parents.len() / CHUNK + 2);
        for (at, range) in parents.children.windows(2).enumerate() {
            if at.is_multiple_of(CHUNK) {
                chunks.push(walk);
            }
            // Too large a one is told below.
            firsts.push(walk.place(u64::from(range[1] - range[0])).first() as u32);
        }
        chunks.push(walk);
        if walk.units() > 1 << 32 {
            let reason = format!(
                "the {order}-grams take {} units of 16 bytes, and a file of this kind addresses \
                 at most 2^32 of an order; prune the model, or build a probing model",
                walk.units()
            );
            return Err(Error::TooLarge { path: writer.path().to_owned(), reason }.into());
        }
        Ok(Blocks { firsts, chunks })
    }

    /// The unit that the parent `at` names.
    pub fn first(&self, at: usize) -> u32 {
        self.firsts[at]
    }

    /// Writes the section of the n-grams `known`, whose parents are `parents`, and
    /// gives the units of the blanks' entries.
    pub fn write(
        &self,
        parents: &Nodes,
        known: &Known<'_>,
        writer: &mut ContainerWriter,
    ) -> Result<Vec<u32>> {
        let (Some((end, chunks)), order) = (self.chunks.split_last(), known.order) else {
            unreachable!("there is always an end")
        };
        let name = format!("order-{order}");
        let mut section = writer.begin_section(&name, UNIT, end.units() * UNIT as u64)?;
        let mut marked = Vec::new();
        let mut at = 0;
        while at < chunks.len() {
            let start = chunks[at].cursor;
            let is_in = |chunk: &Placement| chunk.cursor < start + PIECE;
            let next = at + chunks[at..].iter().take_while(|chunk| is_in(chunk)).count();
            let behind = self.chunks[next].cursor;
            let mut units = vec![Unit::default(); (behind - start) as usize];
            let mut tasks = Vec::with_capacity(next - at);
            let mut rest = &mut units[..];
            for chunk in at..next {
                let length = self.chunks[chunk + 1].cursor - self.chunks[chunk].cursor;
                let (own, others) = rest.split_at_mut(length as usize);
                tasks.push((chunk, own));
                rest = others;
            }
            let fill = |(chunk, out): (usize, &mut [Unit])| {
                let last = ((chunk + 1) * CHUNK).min(parents.len());
                fill(self.chunks[chunk], chunk * CHUNK..last, parents, known, out)
            };
            let found: Vec<Vec<u32>> = tasks.into_par_iter().map(fill).collect();
            marked.extend(found.into_iter().flatten());
            section.write(units.as_bytes())?;
            at = next;
        }
        let padding = (end.units() - end.cursor) as usize;
        section.write(vec![Unit::default(); padding].as_bytes())?;
        section.finish()?;
        Ok(marked)
    }
}

/// Fills `out`, which begins where `walk` is, with the blocks of some parents, and
/// gives the units of the blanks' entries.
fn fill(
    mut walk: Placement,
    range: std::ops::Range<usize>,
    parents: &Nodes,
    known: &Known<'_>,
    out: &mut [Unit],
) -> Vec<u32> {
    let base = walk.cursor;
    let width = walk.width;
    let nodes = parents.children[range.start] as usize..parents.children[range.end] as usize;
    let blanks = &known.nodes.blanks;
    let from = blanks.partition_point(|&blank| (blank as usize) < nodes.start);
    let mut blanks = blanks[from..].iter().peekable();
    let mut marked = Vec::new();
    let mut mark = |at: usize, unit: u64| {
        if blanks.next_if_eq(&&(at as u32)).is_some() {
            marked.push(unit as u32);
        }
    };
    for parent in range {
        let children = parents.children_of(parent as u32);
        match walk.place(children.len() as u64) {
            Family::None | Family::Inline => {}
            Family::Single(unit) => {
                out[(unit - base) as usize] = unit_of(known, children.start);
                mark(children.start, unit);
            }
            Family::Block(block) => {
                let Block { head, keys, entries } = block;
                if let Some(head) = head {
                    out[(head - base) as usize] = Unit([children.len() as u32, 0, 0, 0]);
                }
                let (keys, entries) = ((keys - base) as usize, (entries - base) as usize);
                out[keys..entries].fill(Unit([NO_KEY; 4]));
                // One node has its keys in order; so its positions are those of a tree.
                let tree = Tree { node: width.keys() as u64, count: children.len() as u64 };
                for (position, at) in tree.positions().zip(children) {
                    let position = position as usize;
                    out[keys + position / 4].0[position % 4] = known.nodes.words[at];
                    if known.is_longest() {
                        out[entries + position / 4].0[position % 4] = known.log10(at);
                    } else {
                        out[entries + position] = unit_of(known, at);
                        mark(at, base + (entries + position) as u64);
                    }
                }
            }
        }
    }
    marked
}

/// The entry of an n-gram as a unit.
fn unit_of(known: &Known<'_>, at: usize) -> Unit {
    let entry = known.entry(at);
    Unit([entry.log10, entry.backoff, entry.first, entry.count])
}
