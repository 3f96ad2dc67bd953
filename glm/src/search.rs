//! Search in a `glm` file: the lookup of one n-gram in steps, so that a batch can prefetch.
//!
//! A lookup prefetches what its next step reads, so that a batch continues with another lookup in
//! the meantime. It does this once for a bucket, once for a block that fits two cache lines of the
//! CPU, and for a large block once per node and once for the entry. It never does this for an only
//! child that its parent holds.
//!
//! Nothing read from the file is trusted: every access is checked, and an n-gram with an
//! invalid location is absent. Units are numbered by `u32` and are indices of slices,
//! so there is no multiplication that could overflow.

use miriam_lmcpu::{FoundNgram, LmWord, LookupStep, ModelHead, NO_EXTENSION, NgramIndex};
use miriam_storage::btree::{StaticBTree, Unit, find_key, key_at};
use miriam_storage::dictionary::Dictionary;
use miriam_storage::prefetch_at;

use crate::format::{
    BlockShape, Bucket, CPU_CACHE_LINE, Entry, HashBucket, MANY_CHILDREN, home_bucket,
};
use crate::model::{GlmModel, Level};

/// The sign bit of an f32.
pub(crate) const SIGN: u32 = 1 << 31;

/// The location of an n-gram's children.
#[derive(Clone, Copy, Debug)]
pub struct NodeRef {
    pub(crate) kind: ChildrenKind,
    /// The unit of the block; of an only child, the unit of its entry or the bits of
    /// its log10 p; of hashed children, the location of their parent.
    pub(crate) first: u32,
    /// The number of children that the parent counts; of an only child, its word.
    pub(crate) count: u32,
}

/// The storage of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildrenKind {
    /// An only child, whose word the parent holds.
    Single,
    Block,
    /// A block whose head counts the children.
    HeadedBlock,
    Hashed,
}

/// A lookup under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    stage: LookupStage,
    word: u32,
    /// The unit of the first keys or of the head; the parent of a key in a bucket; the
    /// bits of log10 p of an only child of the highest order.
    first: u32,
    /// The number of children; of an entry of the highest order, its index in its unit.
    count: u32,
    /// The node, the bucket or the unit of the entry that was prefetched.
    at: u32,
}

/// The next step of a lookup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LookupStage {
    /// The n-gram is absent.
    #[default]
    Absent,
    /// The parent held the n-gram, its only child.
    Inline,
    /// Read the head of a block and its first node.
    Head,
    /// Search a node.
    Node,
    /// Read the entry.
    Entry,
    /// Search a bucket.
    Bucket,
}

impl NgramIndex for GlmModel {
    type NodeRef = NodeRef;
    type Lookup = Lookup;
    type Words = Dictionary;

    #[inline(always)]
    fn head(&self) -> &ModelHead {
        &self.head
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn can_prefetch_bigram(&self) -> bool {
        self.metadata.max_hashed_order >= 2
    }

    #[inline(always)]
    fn prefetch_bigram(&self, older: LmWord, word: LmWord) {
        self.prefetch_unigram(word);
        if self.metadata.max_hashed_order >= 2 && self.metadata.order >= 2 {
            let lookup = self.start_bucket_lookup(2, word.0, older.0);
            self.prefetch_bucket(2, &lookup);
        }
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> FoundNgram<NodeRef> {
        let entry = &self.unigrams[word.0 as usize];
        let longer = (entry.count > 0).then_some(match self.metadata.max_hashed_order {
            0 | 1 => NodeRef { kind: ChildrenKind::Block, first: entry.first, count: entry.count },
            _ => NodeRef { kind: ChildrenKind::Hashed, first: word.0, count: entry.count },
        });
        FoundNgram {
            log10: f32::from_bits(entry.log10),
            backoff: f32::from_bits(entry.backoff),
            extend_left: longer,
        }
    }

    #[inline(always)]
    fn begin_lookup(&self, order: usize, parent: NodeRef, older: LmWord) -> Lookup {
        let lookup = self.start_lookup(order, parent, older.0);
        match (&self.levels[order - 2], lookup.stage) {
            (_, LookupStage::Bucket) => self.prefetch_bucket(order, &lookup),
            (Level::Blocks(units), LookupStage::Entry) => prefetch_at(units, lookup.at as usize),
            (Level::Blocks(units), LookupStage::Head) => {
                // The keys begin after the head, at a line.
                prefetch_at(units, lookup.first as usize);
                self.prefetch_node(units, u64::from(lookup.first) + 1, 0);
            }
            (Level::Blocks(units), LookupStage::Node) => {
                let (first, count) = (u64::from(lookup.first), u64::from(lookup.count));
                // The entries of few children are prefetched with their keys.
                let span = if count > self.node_width.keys() as u64 {
                    self.node_width.keys() as u64 / 4
                } else {
                    BlockShape::new(count, self.node_width, self.is_longest(order)).units()
                };
                prefetch_span(units, first, span);
            }
            _ => {}
        }
        lookup
    }

    #[inline(always)]
    fn begin_lookup_no_prefetch(&self, order: usize, parent: NodeRef, older: LmWord) -> Lookup {
        self.start_lookup(order, parent, older.0)
    }

    #[inline(always)]
    fn is_ready(&self, lookup: &Lookup) -> bool {
        matches!(lookup.stage, LookupStage::Absent | LookupStage::Inline)
    }

    #[inline(always)]
    fn step_lookup(&self, order: usize, lookup: &mut Lookup) -> LookupStep<NodeRef> {
        let step = match (&self.levels[order - 2], lookup.stage) {
            (_, LookupStage::Inline) => Some(LookupStep::Found(longest_ngram(lookup.first))),
            (Level::Buckets(buckets), LookupStage::Bucket) => {
                let first = lookup.at.wrapping_mul(Bucket::SLOTS as u32);
                search_bucket(buckets, lookup, |bucket, slot| {
                    self.read_slot(order, bucket, slot, first.wrapping_add(slot as u32))
                })
            }
            (Level::LongestBuckets(buckets), LookupStage::Bucket) => {
                search_bucket(buckets, lookup, |bucket, slot| longest_ngram(bucket.log10[slot]))
            }
            (Level::Blocks(units), LookupStage::Node) => self.search_node(order, units, lookup),
            (Level::Blocks(units), LookupStage::Head) => {
                self.search_first_node(order, units, lookup)
            }
            (Level::Blocks(units), LookupStage::Entry) => {
                let (at, word) = (u64::from(lookup.at), lookup.count);
                self.read_entry(order, units, at, word).map(LookupStep::Found)
            }
            _ => None,
        };
        step.unwrap_or(LookupStep::Absent)
    }
}

impl GlmModel {
    #[inline(always)]
    pub(crate) fn is_longest(&self, order: usize) -> bool {
        order == self.metadata.order as usize
    }

    /// Starts a lookup, without a prefetch.
    #[inline(always)]
    fn start_lookup(&self, order: usize, parent: NodeRef, word: u32) -> Lookup {
        let NodeRef { kind, first, count } = parent;
        match kind {
            ChildrenKind::Hashed => self.start_bucket_lookup(order, first, word),
            ChildrenKind::Block => Lookup { stage: LookupStage::Node, word, first, count, at: 0 },
            ChildrenKind::HeadedBlock => {
                Lookup { stage: LookupStage::Head, word, first, count, at: 0 }
            }
            ChildrenKind::Single if count != word => Lookup::default(),
            ChildrenKind::Single if self.is_longest(order) => {
                Lookup { stage: LookupStage::Inline, word, first, count: 0, at: 0 }
            }
            ChildrenKind::Single => {
                Lookup { stage: LookupStage::Entry, word, first: 0, count: 0, at: first }
            }
        }
    }

    #[inline(always)]
    fn start_bucket_lookup(&self, order: usize, parent: u32, word: u32) -> Lookup {
        let buckets = match &self.levels[order - 2] {
            Level::Buckets(buckets) => buckets.len(),
            Level::LongestBuckets(buckets) => buckets.len(),
            Level::Blocks(_) => return Lookup::default(),
        };
        let at = home_bucket(bucket_key(parent, word), buckets as u64) as u32;
        Lookup { stage: LookupStage::Bucket, word, first: parent, count: 0, at }
    }

    #[inline(always)]
    fn prefetch_bucket(&self, order: usize, lookup: &Lookup) {
        match &self.levels[order - 2] {
            Level::Buckets(buckets) => prefetch_at(buckets, lookup.at as usize),
            Level::LongestBuckets(buckets) => prefetch_at(buckets, lookup.at as usize),
            Level::Blocks(_) => {}
        }
    }

    /// Prefetches a node of the tree that begins at `first`.
    #[inline(always)]
    fn prefetch_node(&self, units: &[Unit], first: u64, node: u64) {
        let width = self.node_width.keys() as u64 / 4;
        prefetch_span(units, first + node * width, width);
    }

    /// Searches a node; `None`: the n-gram is absent.
    #[inline(always)]
    fn search_node(
        &self,
        order: usize,
        units: &[Unit],
        lookup: &mut Lookup,
    ) -> Option<LookupStep<NodeRef>> {
        let tree = StaticBTree {
            node_keys: self.node_width.keys() as u64,
            count: u64::from(lookup.count),
        };
        let (first, node) = (u64::from(lookup.first), u64::from(lookup.at));
        if tree.count <= tree.node_keys {
            let entries = first + tree.count.div_ceil(4);
            let keys = units.get(first as usize..entries as usize)?;
            let (unit, word) =
                self.locate_entry(order, entries, find_key(keys, lookup.word)? as u64);
            // `begin_lookup` has prefetched that far.
            if unit / CPU_CACHE_LINE <= first / CPU_CACHE_LINE + 1 {
                return self.read_entry(order, units, unit, word).map(LookupStep::Found);
            }
            return prefetch_entry(units, lookup, unit, word);
        }
        let within = tree.units(node);
        let keys = units.get((first + within.start) as usize..(first + within.end) as usize)?;
        let slot = self.isa.rank(keys, lookup.word);
        if key_at(keys, slot) == Some(lookup.word) {
            let entries = first + tree.units(tree.nodes()).start;
            let (unit, word) =
                self.locate_entry(order, entries, node * tree.node_keys + slot as u64);
            return prefetch_entry(units, lookup, unit, word);
        }
        let child = tree.child(node, slot as u64)?;
        self.prefetch_node(units, first, child);
        lookup.at = child as u32;
        Some(LookupStep::Pending)
    }

    /// Returns the unit of entry `position` of a block whose entries begin at the unit `entries`,
    /// and for the highest order the index of the entry in its unit.
    #[inline(always)]
    fn locate_entry(&self, order: usize, entries: u64, position: u64) -> (u64, u32) {
        if self.is_longest(order) {
            (entries + position / 4, (position % 4) as u32)
        } else {
            (entries + position, 0)
        }
    }

    #[inline(never)]
    fn search_first_node(
        &self,
        order: usize,
        units: &[Unit],
        lookup: &mut Lookup,
    ) -> Option<LookupStep<NodeRef>> {
        lookup.count = units.get(lookup.first as usize)?.0[0];
        lookup.first = lookup.first.checked_add(1)?;
        lookup.stage = LookupStage::Node;
        self.search_node(order, units, lookup)
    }

    /// Returns the n-gram of `order` whose entry is at `unit`; in the highest order at index `word`
    /// of that unit.
    #[inline(always)]
    pub(crate) fn read_entry(
        &self,
        order: usize,
        units: &[Unit],
        unit: u64,
        word: u32,
    ) -> Option<FoundNgram<NodeRef>> {
        let fields = units.get(unit as usize)?.0;
        if self.is_longest(order) {
            return Some(longest_ngram(fields[word as usize % 4]));
        }
        let [log10, backoff, first, count] = fields;
        let kind = match log10 & Entry::SINGLE {
            0 => ChildrenKind::Block,
            _ => ChildrenKind::Single,
        };
        let longer =
            (kind == ChildrenKind::Single || count > 0).then_some(NodeRef { kind, first, count });
        let (log10, backoff) = (f32::from_bits(log10 | SIGN), f32::from_bits(backoff));
        Some(FoundNgram { log10, backoff, extend_left: longer })
    }

    /// Returns the n-gram of `order` in `slot` of `bucket`; `number`: its slot in the table.
    #[inline(always)]
    pub(crate) fn read_slot(
        &self,
        order: usize,
        bucket: &Bucket,
        slot: usize,
        number: u32,
    ) -> FoundNgram<NodeRef> {
        let (first, count) = (bucket.first[slot], u32::from(bucket.count[slot]));
        let children = if order < self.metadata.max_hashed_order as usize {
            NodeRef { kind: ChildrenKind::Hashed, first: number, count }
        } else if count == MANY_CHILDREN {
            NodeRef { kind: ChildrenKind::HeadedBlock, first, count }
        } else {
            NodeRef { kind: ChildrenKind::Block, first, count }
        };
        FoundNgram {
            log10: f32::from_bits(bucket.log10[slot] | SIGN),
            backoff: f32::from_bits(bucket.backoff[slot]),
            extend_left: (count > 0).then_some(children),
        }
    }
}

/// Prefetches the first two lines of `span` units from `first` on. The second prefetch
/// may be of the first line again, which costs less than an unpredictable branch.
#[inline(always)]
fn prefetch_span(units: &[Unit], first: u64, span: u64) {
    prefetch_at(units, first as usize);
    prefetch_at(units, (first + span.saturating_sub(1).min(CPU_CACHE_LINE)) as usize);
}

/// Prefetches an entry, which the next step reads.
#[inline(always)]
fn prefetch_entry(
    units: &[Unit],
    lookup: &mut Lookup,
    unit: u64,
    word: u32,
) -> Option<LookupStep<NodeRef>> {
    prefetch_at(units, unit as usize);
    (lookup.stage, lookup.at, lookup.count) = (LookupStage::Entry, u32::try_from(unit).ok()?, word);
    Some(LookupStep::Pending)
}

/// Searches one bucket; `found` reads the n-gram in a slot of a bucket.
#[inline(always)]
fn search_bucket<B: HashBucket>(
    buckets: &[B],
    lookup: &mut Lookup,
    found: impl Fn(&B, usize) -> FoundNgram<NodeRef>,
) -> Option<LookupStep<NodeRef>> {
    let bucket = buckets.get(lookup.at as usize)?;
    let wanted = bucket_key(lookup.first, lookup.word);
    // Branch-free over the slots.
    let equal = bucket.keys().iter().enumerate();
    let equal = equal.fold(0u32, |bits, (slot, &key)| bits | u32::from(key == wanted) << slot);
    if equal != 0 {
        return Some(LookupStep::Found(found(bucket, equal.trailing_zeros() as usize)));
    }
    if !bucket.overflows() {
        return None;
    }
    let next = (lookup.at as usize + 1) % buckets.len();
    // The search ends after one round.
    if next as u64 == home_bucket(wanted, buckets.len() as u64) {
        return None;
    }
    lookup.at = next as u32;
    prefetch_at(buckets, next);
    Some(LookupStep::Pending)
}

/// Returns the key of an n-gram in buckets: its suffix, whose number is `parent`, and its oldest
/// word.
#[inline(always)]
pub(crate) fn bucket_key(parent: u32, word: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(word)
}

/// Returns an n-gram of the highest order.
#[inline(always)]
pub(crate) fn longest_ngram(log10: u32) -> FoundNgram<NodeRef> {
    let (log10, backoff) = (f32::from_bits(log10 | SIGN), f32::from_bits(NO_EXTENSION));
    FoundNgram { log10, backoff, extend_left: None }
}
