//! All n-grams of a `glm` file, order by order, sorted by their words, newest first. They are
//! checked while they are read, so that listing and verifying share this code.
//!
//! The blocks of an order are read in the order in which they were allocated, and must lie exactly
//! where [`BlockAllocator`] puts them. So no block overlaps another or is left out. In a hashed
//! order, a search must reach each key, and the suffix of its n-gram must count it as a child.

use miriam_lmcpu::{FoundNgram, LmWord, NgramIndex, Result, check_values};
use miriam_storage::Container;
use miriam_storage::btree::{StaticBTree, Unit, key_at};
use rayon::prelude::*;

use crate::block_allocator::{BlockAllocator, BlockOffsets, Children, ParentKind};
use crate::format::{EMPTY_KEY, HashBucket, MANY_CHILDREN, NO_WORD, home_bucket};
use crate::model::{GlmModel, Level};
use crate::search::{ChildrenKind, NodeRef, longest_ngram};

/// The value for a missing suffix or location.
const NONE: u32 = u32::MAX;

/// The n-grams of one order, with the blanks.
#[derive(Default)]
pub(crate) struct NgramTable {
    /// The index of each n-gram's suffix in the table of the previous order; [`NONE`] for unigrams.
    pub parents: Vec<u32>,
    /// The oldest word of each n-gram.
    pub words: Vec<u32>,
    /// log10 p.
    pub log10: Vec<f32>,
    /// log10 of the backoff; -0.0 in the highest order.
    pub backoffs: Vec<f32>,
    /// The location by which the file lists blanks: word id, unit of the entry, or slot.
    /// [`NONE`] for only children of the highest order, which their parents hold.
    pub locations: Vec<u32>,
    children: Vec<Option<NodeRef>>,
}

/// Returns, for each bucket, how many of the buckets before it overflow without a gap; the first
/// bucket follows the last. Searches reach a bucket from the homes in this run.
fn overflow_runs<B: HashBucket>(buckets: &[B]) -> impl Iterator<Item = usize> {
    let before_first = buckets.iter().rev().take_while(|bucket| bucket.overflows()).count();
    buckets.iter().scan(before_first, |run, bucket| {
        let current = *run;
        *run = if bucket.overflows() { current + 1 } else { 0 };
        Some(current)
    })
}

impl NgramTable {
    /// Returns the number of n-grams.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    fn push(&mut self, parent: u32, word: u32, location: u32, found: FoundNgram<NodeRef>) {
        self.parents.push(parent);
        self.words.push(word);
        self.log10.push(found.log10);
        self.backoffs.push(found.backoff);
        self.locations.push(location);
        self.children.push(found.extend_left);
    }

    /// Creates a table of the unigrams of `model`.
    pub fn from_unigrams(model: &GlmModel, container: &Container) -> Result<Self> {
        let mut table = NgramTable::default();
        for id in 0..model.unigrams.len() as u32 {
            table.push(NONE, id, id, model.unigram(LmWord(id)));
        }
        table.validate(model, container, 1)?;
        Ok(table)
    }

    /// Creates a table of the n-grams of `order`, at least 2; `self` is the table of their
    /// suffixes.
    pub fn next_order(
        &self,
        model: &GlmModel,
        container: &Container,
        order: usize,
    ) -> Result<Self> {
        let table = match model.level(order) {
            Level::Blocks(units) => self.read_blocks(model, units, order),
            Level::Buckets(buckets) => self.read_buckets(buckets, |bucket, slot, number| {
                model.read_slot(order, bucket, slot, number)
            }),
            Level::LongestBuckets(buckets) => {
                self.read_buckets(buckets, |bucket, slot, _| longest_ngram(bucket.log10[slot]))
            }
        };
        let table = table.map_err(|reason| container.damaged(&format!("order-{order}"), reason))?;
        table.validate(model, container, order)?;
        Ok(table)
    }

    fn read_blocks(&self, model: &GlmModel, units: &[Unit], order: usize) -> Result<Self, String> {
        let (width, is_longest) = (model.node_width(), model.is_longest(order));
        let parents = match order {
            2 => ParentKind::Words,
            _ if order - 1 == model.max_hashed_order() => ParentKind::Buckets,
            _ => ParentKind::Entries,
        };
        let mut allocator = BlockAllocator { width, is_longest, parents, cursor: 0 };
        let mut table = NgramTable::default();
        for (parent, node) in self.children.iter().enumerate() {
            let Some(node) = node else { continue };
            let fault = |reason: &str| format!("the block of the suffix {parent}: {reason}");
            let count = match node.kind {
                ChildrenKind::Single => 1,
                ChildrenKind::HeadedBlock => {
                    units.get(node.first as usize).map_or(0, |head| head.0[0])
                }
                _ => node.count,
            };
            let children = allocator.allocate(u64::from(count));
            let is_in_place = match children {
                Children::None => false,
                Children::Inline => node.kind == ChildrenKind::Single,
                Children::SingleEntry(unit) => {
                    node.kind == ChildrenKind::Single && unit == u64::from(node.first)
                }
                Children::Block(block) => {
                    let kind = if block.head.is_some() {
                        ChildrenKind::HeadedBlock
                    } else {
                        ChildrenKind::Block
                    };
                    node.kind == kind && children.first_unit() == u64::from(node.first)
                }
            };
            if !is_in_place || allocator.cursor > units.len() as u64 {
                return Err(fault("it is not at its place"));
            }
            let parent = parent as u32;
            match children {
                Children::Inline => {
                    table.push(parent, node.count, NONE, longest_ngram(node.first));
                }
                Children::SingleEntry(unit) => {
                    let found = model.read_entry(order, units, unit, 0).ok_or("it is truncated")?;
                    table.push(parent, node.count, unit as u32, found);
                }
                Children::Block(BlockOffsets { keys, entries, .. }) => {
                    let keys = &units[keys as usize..entries as usize];
                    let tree = StaticBTree { node_keys: width.keys() as u64, count: count.into() };
                    let mut previous = None;
                    for position in tree.in_order_positions() {
                        let word =
                            key_at(keys, position as usize).filter(|&word| Some(word) > previous);
                        let word = word.ok_or_else(|| fault("its keys do not ascend"))?;
                        previous = Some(word);
                        let (unit, index) = if is_longest {
                            (entries + position / 4, (position % 4) as u32)
                        } else {
                            (entries + position, 0)
                        };
                        let found =
                            model.read_entry(order, units, unit, index).ok_or("it is truncated")?;
                        table.push(parent, word, unit as u32, found);
                    }
                    let padding = u64::from(count)..keys.len() as u64 * 4;
                    if !padding.into_iter().all(|at| key_at(keys, at as usize) == Some(NO_WORD)) {
                        return Err(fault("there are keys after its last"));
                    }
                }
                Children::None => {}
            }
        }
        if allocator.total_units() == units.len() as u64 {
            Ok(table)
        } else {
            Err("its length differs from that of its blocks".into())
        }
    }

    fn read_buckets<B: HashBucket>(
        &self,
        buckets: &[B],
        found: impl Fn(&B, usize, u32) -> FoundNgram<NodeRef>,
    ) -> Result<Self, String> {
        let highest = self.locations.iter().max().map_or(0, |&location| location as usize);
        let mut by_location = vec![NONE; highest + 1];
        for (at, &location) in self.locations.iter().enumerate() {
            by_location[location as usize] = at as u32;
        }
        // Suffix and word as one key, and the slot in the table.
        let mut entries: Vec<(u64, u32)> = Vec::new();
        let mut sizes = vec![0u64; self.len()];
        for (at, (bucket, run)) in buckets.iter().zip(overflow_runs(buckets)).enumerate() {
            let used = bucket.keys().iter().take_while(|&&key| key != EMPTY_KEY).count();
            if bucket.keys()[used..].iter().any(|&key| key != EMPTY_KEY) {
                return Err(format!("bucket {at} has an empty slot between others"));
            }
            for (slot, &key) in bucket.keys()[..used].iter().enumerate() {
                let parent = by_location.get((key >> 32) as usize).copied().unwrap_or(NONE);
                let known = self.children.get(parent as usize).copied().flatten();
                if known.is_none_or(|node| node.kind != ChildrenKind::Hashed) {
                    return Err(format!(
                        "slot {slot} of bucket {at}: its suffix has no children in hash tables"
                    ));
                }
                let home = home_bucket(key, buckets.len() as u64) as usize;
                if (at + buckets.len() - home) % buckets.len() > run {
                    return Err(format!("slot {slot} of bucket {at}: searches do not reach it"));
                }
                sizes[parent as usize] += 1;
                let number = (at * bucket.keys().len() + slot) as u32;
                entries.push((u64::from(parent) << 32 | key & u64::from(u32::MAX), number));
            }
        }
        for (at, (node, &size)) in self.children.iter().zip(&sizes).enumerate() {
            let most = if self.parents[at] == NONE { u64::MAX } else { u64::from(MANY_CHILDREN) };
            if node.map_or(0, |node| u64::from(node.count)) != size.min(most) {
                return Err(format!("the suffix {at} has a wrong number of children"));
            }
        }
        entries.par_sort_unstable();
        let mut table = NgramTable::default();
        for (i, &(key, number)) in entries.iter().enumerate() {
            if i > 0 && entries[i - 1].0 == key {
                return Err(format!("the n-gram of slot {number} is listed twice"));
            }
            let slots = buckets[0].keys().len();
            let (bucket, slot) = (number as usize / slots, number as usize % slots);
            let found = found(&buckets[bucket], slot, number);
            table.push((key >> 32) as u32, key as u32, number, found);
        }
        Ok(table)
    }

    /// Checks the n-grams of `order`, their number and their blanks.
    fn validate(&self, model: &GlmModel, container: &Container, order: usize) -> Result<()> {
        let name = format!("order-{order}");
        let words = model.unigrams.len();
        for (at, &word) in self.words.iter().enumerate() {
            let checked = if (word as usize) < words {
                check_values(self.log10[at], self.backoffs[at])
            } else {
                Err("its oldest word is not in the vocabulary")
            };
            checked.map_err(|reason| container.damaged(&name, format!("n-gram {at}: {reason}")))?;
        }
        let blanks = match order {
            1 => &[],
            _ => model.blanks.for_order(order),
        };
        let num_blanks = (0..self.len()).filter(|&at| self.is_blank(at, blanks)).count();
        if num_blanks != blanks.len() || !blanks.is_sorted_by(|a, b| a < b) {
            let reason = format!("blanks of order {order} are not sorted or do not exist");
            return Err(container.damaged("blanks", reason).into());
        }
        let (entries, counted) = match order {
            1 => (words, words - usize::from(!model.metadata.head.has_unknown)),
            _ => (model.metadata.levels[order - 2].entries as usize, self.len() - blanks.len()),
        };
        if entries != self.len() || model.metadata.counts[order - 1] != counted as u64 {
            let reason = format!("wrong number of {order}-grams");
            return Err(container.damaged("metadata", reason).into());
        }
        Ok(())
    }

    /// Whether the n-gram at `at` is one of `blanks`, the locations of the blanks of its order.
    fn is_blank(&self, at: usize, blanks: &[u32]) -> bool {
        self.locations[at] != NONE && blanks.binary_search(&self.locations[at]).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LongestBucket;

    /// Searches probe from the home on, as long as buckets overflow.
    #[test]
    fn runs_have_the_buckets_from_which_searches_come() {
        for pattern in 0..1u32 << 7 {
            let bucket = |at: u32| {
                let overflows = pattern >> at & 1;
                LongestBucket { keys: [EMPTY_KEY; 5], log10: [0; 5], overflows }
            };
            let buckets: Vec<LongestBucket> = (0..7).map(bucket).collect();
            let runs: Vec<usize> = overflow_runs(&buckets).collect();
            for (at, run) in runs.into_iter().enumerate() {
                for home in 0..7 {
                    let mut probed = home;
                    while probed != at && buckets[probed].overflows() {
                        probed = (probed + 1) % 7;
                    }
                    let is_in_run = (at + 7 - home) % 7 <= run;
                    assert_eq!(probed == at, is_in_run, "{pattern:07b}: {home} to {at}");
                }
            }
        }
    }
}
