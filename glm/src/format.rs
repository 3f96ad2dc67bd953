//! Where the n-grams of a `glm` file lie.
//!
//! A query walks from the newest word to the left (`ngram-lm.md` 2.2, 4.7). What
//! extends an n-gram by one word to the left are its children; they are stored
//! together, sorted by that word, as a *block*: first their words as the keys of a
//! B-tree of minimal depth, then what is known of each, in the order of the keys.
//! Nine of ten blocks are so small that both parts lie in one line of 128 bytes,
//! which a GPU's group of lanes reads at once and a CPU asks for with one prefetch.
//!
//! Everything is counted in *units* of 16 bytes, so that 32 bits address 64 GiB of
//! an order.
//!
//! * An [`Entry`] is one unit and says of an n-gram that is not of the highest order
//!   its log10 p, its backoff, and where its children lie. For the highest order
//!   log10 p is all: 4 bytes.
//! * Keys: up to 4 in a unit, filled up with [`NO_WORD`]. A block of at most `K` keys
//!   (the node width) has as many units as they need. A larger one is a complete
//!   tree: nodes of `K` keys breadth first, child `s` of node `i` being node
//!   `i * (K + 1) + s + 1`; all nodes are full but the last, which is filled up. The
//!   entry of slot `s` of node `i` is the one at `i * K + s`: no entry is wasted and
//!   no pointer is stored.
//! * An only child has no keys: its parent holds its word, and of the highest order
//!   its log10 p too ([`Entry::SINGLE`]). These are nine of ten nodes of high orders.
//! * Orders up to a chosen one may be *hashed* instead: see [`Bucket`].

use miriam_storage::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bytes of a unit.
pub const UNIT_BYTES: usize = 16;
/// Units of a line: 128 bytes, four sectors of a GPU, two lines of a CPU.
pub const GPU_CACHE_LINE: u64 = 8;
/// Units of a line of a CPU: 64 bytes.
pub const CPU_CACHE_LINE: u64 = 4;
/// What fills up keys; no word has this id.
pub const NO_WORD: u32 = u32::MAX;

/// How many keys a node has at most; the fan-out is one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeWidth {
    /// One sector of 32 bytes.
    Keys8,
    /// Two.
    Keys16,
    /// One line of 128 bytes.
    Keys32,
}

impl NodeWidth {
    /// Keys of a node.
    #[inline(always)]
    pub const fn keys(self) -> usize {
        match self {
            NodeWidth::Keys8 => 8,
            NodeWidth::Keys16 => 16,
            NodeWidth::Keys32 => 32,
        }
    }

    /// The width of `keys` keys, if there is one.
    pub const fn from_keys(keys: u32) -> Option<Self> {
        match keys {
            8 => Some(NodeWidth::Keys8),
            16 => Some(NodeWidth::Keys16),
            32 => Some(NodeWidth::Keys32),
            _ => None,
        }
    }
}

/// What is known of an n-gram below the highest order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(16))]
pub struct Entry {
    /// Of a word alone: log10 p as it is. Of two words and more: the bits of log10 p
    /// without the sign, which is always set, in whose place [`Entry::SINGLE`] may
    /// stand.
    pub log10: u32,
    /// log10 of the backoff, as bits; -0.0 where there is none and no longer n-gram
    /// begins with this one.
    pub backoff: u32,
    /// The unit at which the children's block begins. With [`Entry::SINGLE`]: the
    /// unit of the child's entry, or, when it is of the highest order, the bits of its
    /// log10 p. 0 without children, and when they are hashed.
    pub first: u32,
    /// How many children there are. With [`Entry::SINGLE`]: the child's word.
    pub count: u32,
}

impl Entry {
    /// In [`Entry::log10`] of n-grams of two words and more: there is one child.
    pub const SINGLE: u32 = 1 << 31;
}

/// Three n-grams of a hashed order below the highest, in a line of a CPU.
///
/// A key is the parent's number (a word's id; of a hashed n-gram `3 * bucket + slot`)
/// times 2^32 plus the word, so nothing else can be taken for it. Its home is
/// [`home`]; full buckets overflow into the next one, the last into the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(64))]
pub struct Bucket {
    /// [`NO_KEY`] where there is none; slots fill from the first.
    pub keys: [u64; 3],
    /// log10 p, as bits.
    pub log10: [u32; 3],
    /// As in [`Entry`].
    pub backoff: [u32; 3],
    /// The unit at which the children's block begins; 0 when these are hashed too.
    pub first: [u32; 3],
    /// How many children there are, [`MANY`] for that many and more: then the block
    /// begins with one unit more, a *head* whose first four bytes are their number
    /// and behind which the keys begin at a line.
    pub count: [u8; 3],
    /// 1: a key whose home is this bucket or one before lies behind it.
    pub overflows: u8,
}

/// Five n-grams of the highest order, where that is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(64))]
pub struct LongestBucket {
    /// As in [`Bucket`].
    pub keys: [u64; 5],
    /// log10 p, as bits.
    pub log10: [u32; 5],
    /// As in [`Bucket`].
    pub overflows: u32,
}

/// What buckets of all orders are.
pub trait HashBucket {
    /// The key of each slot.
    fn keys(&self) -> &[u64];
    /// Whether a key whose home is this bucket or one before lies behind it.
    fn overflows(&self) -> bool;
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
/// In [`Bucket::count`]: this many children or more.
pub const MANY_CHILDREN: u32 = 255;

/// The bucket, of `buckets`, in which the search for `key` begins.
#[inline(always)]
pub const fn home_bucket(key: u64, buckets: u64) -> u64 {
    // Fibonacci hashing spreads words over the high bits; the fold brings the
    // parent's bits to them.
    let mixed = (key ^ (key >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed as u128 * buckets as u128) >> 64) as u64
}

/// The shape of the block of `count` children, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Units of keys.
    pub keys: u64,
    /// Units of what is known of each.
    pub entries: u64,
}

impl BlockShape {
    /// `longest`: the children are of the highest order.
    #[inline(always)]
    pub const fn new(count: u64, width: NodeWidth, longest: bool) -> Self {
        let node = width.keys() as u64;
        let keys =
            if count <= node { count.div_ceil(4) } else { count.div_ceil(node) * (node / 4) };
        BlockShape { keys, entries: if longest { count.div_ceil(4) } else { count } }
    }

    /// Units in all.
    pub const fn units(self) -> u64 {
        self.keys + self.entries
    }

    /// The first unit from `cursor` on at which the keys may begin, so that what a
    /// search reads together crosses no sector or line without need: a block that
    /// fits a line, of a CPU or of 128 bytes, lies in one, two units lie in one sector,
    /// a large block's nodes begin at multiples of their size.
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
