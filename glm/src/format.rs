//! The layout of the n-grams of a `glm` file.
//!
//! A query walks from the newest word to the left (`docs/spec/ngram-lm.md` 2.2, 4.7). The n-grams
//! that extend an n-gram by one word to the left are its children. They are stored together, sorted
//! by that word, as a *block*: first their words as the keys of a B-tree of minimal depth, then
//! their entries, in the order of the keys. Nine of ten blocks are so small that both parts lie in
//! one line of 128 bytes, which a GPU's group of lanes reads at once and a CPU loads with one
//! prefetch.
//!
//! Blocks are measured in *units* of 16 bytes, so that 32 bits address 64 GiB in each order.
//!
//! * An [`Entry`] is one unit: log10 p, backoff and the location of the children of an n-gram below
//!   the highest order, or of a word. An n-gram of the highest order has log10 p only: 4 bytes.
//! * Keys: up to 4 in a unit, padded with [`NO_WORD`]. A block of at most `K` keys (the node width)
//!   has as many units as its keys need. A larger block is a complete tree: nodes of `K` keys
//!   breadth first, child `s` of node `i` being node `i * (K + 1) + s + 1`; all nodes are full but
//!   the last, which is padded. The entry of slot `s` of node `i` is the one at `i * K + s`: no
//!   entry is wasted and no pointer is stored.
//! * The only child of an n-gram of two words or more has no keys: its parent holds its word, and
//!   in the highest order its log10 p too ([`Entry::SINGLE`]). Nine of ten n-grams of high orders
//!   are only children.
//! * Orders up to a chosen one may be *hashed* instead: see [`Bucket`].

use miriam_storage::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bytes of a unit.
pub const UNIT_BYTES: usize = 16;
/// Units of a cache line of a GPU: 128 bytes, which are four sectors or two cache lines of a CPU.
pub const GPU_CACHE_LINE: u64 = 8;
/// Units of a cache line of a CPU: 64 bytes.
pub const CPU_CACHE_LINE: u64 = 4;
/// The id that pads keys; no word has it.
pub const NO_WORD: u32 = u32::MAX;

/// The largest number of keys of a B-tree node; a node has one child more than keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeWidth {
    /// 8 keys: one sector of 32 bytes.
    Keys8,
    /// 16 keys: two sectors.
    Keys16,
    /// 32 keys: one line of 128 bytes.
    Keys32,
}

impl NodeWidth {
    /// Returns the number of keys.
    #[inline(always)]
    pub const fn keys(self) -> usize {
        match self {
            NodeWidth::Keys8 => 8,
            NodeWidth::Keys16 => 16,
            NodeWidth::Keys32 => 32,
        }
    }

    /// Returns the width of `keys` keys, if there is one.
    pub const fn from_keys(keys: u32) -> Option<Self> {
        match keys {
            8 => Some(NodeWidth::Keys8),
            16 => Some(NodeWidth::Keys16),
            32 => Some(NodeWidth::Keys32),
            _ => None,
        }
    }
}

/// An n-gram below the highest order, or a word.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(16))]
pub struct Entry {
    /// The bits of log10 p. In n-grams of two words or more, the sign bit says instead whether
    /// there is exactly one child ([`Entry::SINGLE`]): the sign itself would always be set.
    pub log10: u32,
    /// The bits of the log10 backoff; -0.0 if there is none and no longer n-gram begins with this
    /// one.
    pub backoff: u32,
    /// The unit at which the children's block begins. With [`Entry::SINGLE`]: the unit of the
    /// child's entry, or, if the child is of the highest order, the bits of its log10 p. 0 if there
    /// are no children, or if they are hashed.
    pub first: u32,
    /// The number of children. With [`Entry::SINGLE`]: the child's word.
    pub count: u32,
}

impl Entry {
    /// The bit of [`Entry::log10`] that marks an only child, in n-grams of two words and more.
    pub const SINGLE: u32 = 1 << 31;
}

/// Three n-grams of a hashed order below the highest, in one cache line of a CPU.
///
/// A key is the parent's number (a word's id, or `3 * bucket + slot` for a hashed n-gram) times
/// 2^32, plus the word. Keys identify n-grams, so a search needs no further comparison. A key's
/// home is [`home_bucket`]; full buckets overflow into the next one, the last into the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(64))]
pub struct Bucket {
    /// The keys; [`EMPTY_KEY`] in empty slots, which come last.
    pub keys: [u64; 3],
    /// The bits of log10 p.
    pub log10: [u32; 3],
    /// The bits of the log10 backoff, as in [`Entry`].
    pub backoff: [u32; 3],
    /// The unit at which the children's block begins; 0 if there are no children, or if they are
    /// hashed too.
    pub first: [u32; 3],
    /// The number of children; [`MANY_CHILDREN`] for that many or more. In this case the block
    /// begins with a *head*, a unit whose first four bytes are the number of children; the keys
    /// follow it, at the start of a line of a GPU.
    pub count: [u8; 3],
    /// 1 if a key whose home is this bucket or an earlier one is stored in a later one.
    pub overflows: u8,
}

/// Five n-grams of the highest order, if that order is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(64))]
pub struct LongestBucket {
    /// As in [`Bucket`].
    pub keys: [u64; 5],
    /// The bits of log10 p.
    pub log10: [u32; 5],
    /// As in [`Bucket`].
    pub overflows: u32,
}

/// A bucket of any order.
pub trait HashBucket {
    /// Returns the key of each slot.
    fn keys(&self) -> &[u64];
    /// Whether a key whose home is this bucket or an earlier one is stored in a later one.
    fn overflows(&self) -> bool;
}

impl Bucket {
    /// The number of slots of a bucket.
    pub const SLOTS: u64 = 3;
}

impl LongestBucket {
    /// The number of slots of a bucket.
    pub const SLOTS: u64 = 5;
}

impl HashBucket for Bucket {
    #[inline(always)]
    fn keys(&self) -> &[u64] {
        &self.keys
    }

    #[inline(always)]
    fn overflows(&self) -> bool {
        self.overflows != 0
    }
}

impl HashBucket for LongestBucket {
    #[inline(always)]
    fn keys(&self) -> &[u64] {
        &self.keys
    }

    #[inline(always)]
    fn overflows(&self) -> bool {
        self.overflows != 0
    }
}

/// The key of an empty slot.
pub const EMPTY_KEY: u64 = u64::MAX;
/// The value of [`Bucket::count`] for this many children or more.
pub const MANY_CHILDREN: u32 = 255;

/// Returns the index of the bucket, out of `buckets`, in which the search for `key` begins.
#[inline(always)]
pub const fn home_bucket(key: u64, buckets: u64) -> u64 {
    // The products spread the bits of the word over the high bits, which choose the bucket; the
    // folds mix in the bits of the parent.
    let mixed = (key ^ (key >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed as u128 * buckets as u128) >> 64) as u64
}

/// The size of a block of at least one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// The number of units of keys.
    pub keys: u64,
    /// The number of units of entries.
    pub entries: u64,
}

impl BlockShape {
    /// Returns the shape of a block of `count` children, which are of the highest order if
    /// `is_longest`.
    #[inline(always)]
    pub const fn new(count: u64, width: NodeWidth, is_longest: bool) -> Self {
        let node = width.keys() as u64;
        let keys =
            if count <= node { count.div_ceil(4) } else { count.div_ceil(node) * (node / 4) };
        BlockShape { keys, entries: if is_longest { count.div_ceil(4) } else { count } }
    }

    /// Returns the number of units in all.
    pub const fn units(self) -> u64 {
        self.keys + self.entries
    }

    /// Returns the first unit from `cursor` on at which the keys may begin, so that a read crosses
    /// as few sectors and lines as possible. A block that fits into a line of a CPU or of a GPU
    /// lies in one line, a block of two units in one sector, and the nodes of a large block begin
    /// at multiples of their size.
    pub const fn align(self, cursor: u64, width: NodeWidth) -> u64 {
        let (node, units) = ((width.keys() / 4) as u64, self.units());
        let align = if self.keys > node {
            node
        } else if self.keys > 1 || units == 2 {
            2
        } else {
            1
        };
        let start = cursor.next_multiple_of(align);
        // The units that are read together: the block, or the keys of one node.
        let together = if units <= GPU_CACHE_LINE { units } else { self.keys };
        let line = if together <= CPU_CACHE_LINE { CPU_CACHE_LINE } else { GPU_CACHE_LINE };
        if self.keys <= node && start % line + together > line {
            start.next_multiple_of(line)
        } else {
            start
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fill_units_and_cache_lines() {
        assert_eq!(size_of::<Entry>(), UNIT_BYTES);
        assert_eq!(size_of::<Bucket>(), 64);
        assert_eq!(size_of::<LongestBucket>(), 64);
    }

    #[test]
    fn block_shapes_match_the_format_description() {
        let shape = |count, longest| BlockShape::new(count, NodeWidth::Keys32, longest);
        assert_eq!(shape(1, false), BlockShape { keys: 1, entries: 1 });
        assert_eq!(shape(4, true), BlockShape { keys: 1, entries: 1 });
        assert_eq!(shape(5, true), BlockShape { keys: 2, entries: 2 });
        assert_eq!(shape(32, false), BlockShape { keys: 8, entries: 32 });
        assert_eq!(shape(33, false), BlockShape { keys: 16, entries: 33 });
        assert_eq!(BlockShape::new(9, NodeWidth::Keys8, true), BlockShape { keys: 4, entries: 3 });
    }

    #[test]
    fn small_blocks_cross_no_cache_line() {
        for width in [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32] {
            for (count, longest) in (1..=70).flat_map(|count| [(count, false), (count, true)]) {
                let shape = BlockShape::new(count, width, longest);
                for cursor in 0..16 {
                    let start = shape.align(cursor, width);
                    assert!(start >= cursor && start < cursor + GPU_CACHE_LINE);
                    if shape.units() <= GPU_CACHE_LINE && shape.keys <= (width.keys() / 4) as u64 {
                        assert!(start % GPU_CACHE_LINE + shape.units() <= GPU_CACHE_LINE);
                    }
                    if shape.units() <= CPU_CACHE_LINE {
                        assert!(start % CPU_CACHE_LINE + shape.units() <= CPU_CACHE_LINE);
                    }
                    if count > width.keys() as u64 {
                        assert_eq!(start % (width.keys() / 4) as u64, 0);
                    }
                }
            }
        }
    }
}
