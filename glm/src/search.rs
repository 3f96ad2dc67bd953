//! A `glm` file as the walk of a query sees it.
//!
//! A lookup asks for a line and waits, so that a batch goes on elsewhere: once for a
//! bucket, once for a block that fits two lines of the processor, for a large block
//! once a node and once for the entry, and not at all for an only child that its
//! parent holds.
//!
//! Nothing read from the file is trusted: every access is checked, and a place that
//! is none is an n-gram that is absent. Units are numbered by `u32` and become bytes
//! only as indices of slices, so there is no product to overflow.

use miriam_lmcpu::{Found, LmWord, NO_EXTENSION, NgramIndex, State, Step};
use miriam_storage::btree::{Tree, Unit, key_at, place_of};
use miriam_storage::prefetch_at;

use crate::format::{Bucket, CPU_LINE, Entry, MANY, Shape, Slots, home};
use crate::model::{GlmModel, Level};

const SIGN: u32 = 1 << 31;

/// Where the children of an n-gram lie.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) kind: Kind,
    /// The unit of the block; of an only child, the unit of its entry or the bits of
    /// its log10 p; of hashed children, the number of their parent.
    pub(crate) first: u32,
    /// How many there are as far as the parent knows; of an only child, its word.
    pub(crate) count: u32,
}

/// How children lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There is but one.
    Single,
    Block,
    /// A block whose head says how many there are.
    Headed,
    Hashed,
}

/// A lookup under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seek {
    stage: Stage,
    word: u32,
    /// The unit at which keys begin, or of the head; a bucket's parent; at the end, a
    /// log10 p.
    first: u32,
    /// How many children there are; of an entry of the highest order, which word of
    /// its unit it is.
    count: u32,
    /// The node, the bucket or the unit of the entry that was asked for.
    at: u32,
}

/// What the next step of a lookup does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Says that there is nothing.
    #[default]
    Absent,
    /// Says what the parent knew of its only child.
    Known,
    /// Reads the head of a block and its first node.
    Head,
    /// Searches a node.
    Node,
    /// Reads the entry.
    Entry,
    /// Searches a bucket.
    Bucket,
}

impl NgramIndex for GlmModel {
    type Place = Place;
    type Seek = Seek;

    fn order(&self) -> usize {
        self.metadata.order as usize
    }

    fn num_words(&self) -> usize {
        self.unigrams.len()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        self.known(self.words.find(word))
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        let words = spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
        let mut ids = ids[..spans.len()].iter_mut();
        self.words.find_all(words, |found| {
            if let Some(id) = ids.next() {
                *id = self.known(found);
            }
        });
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.words.get(id.0)
    }

    fn begin_state(&self) -> State {
        self.begin
    }

    fn end_of_sentence(&self) -> LmWord {
        LmWord(self.metadata.end)
    }

    fn minimisation_is_closed(&self) -> bool {
        self.metadata.minimisation_is_closed
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn pairs_ahead(&self) -> bool {
        self.metadata.hashed >= 2
    }

    #[inline(always)]
    fn prefetch_pair(&self, older: LmWord, word: LmWord) {
        self.prefetch_unigram(word);
        if self.metadata.hashed >= 2 && self.metadata.order >= 2 {
            let seek = self.begin_bucket(2, word.0, older.0);
            self.ask_bucket(2, &seek);
        }
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> Found<Place> {
        let entry = &self.unigrams[word.0 as usize];
        let longer = (entry.count > 0).then_some(match self.metadata.hashed {
            0 | 1 => Place { kind: Kind::Block, first: entry.first, count: entry.count },
            _ => Place { kind: Kind::Hashed, first: word.0, count: entry.count },
        });
        Found { log10: f32::from_bits(entry.log10), backoff: f32::from_bits(entry.backoff), longer }
    }

    #[inline(always)]
    fn seek(&self, order: usize, place: Place, older: LmWord) -> Seek {
        let seek = self.begin_seek(order, place, older.0);
        match (&self.levels[order - 2], seek.stage) {
            (_, Stage::Bucket) => self.ask_bucket(order, &seek),
            (Level::Blocks(units), Stage::Entry) => prefetch_at(units, seek.at as usize),
            (Level::Blocks(units), Stage::Head) => {
                // The keys begin behind the head, at a line.
                prefetch_at(units, seek.first as usize);
                self.ask_node(units, u64::from(seek.first) + 1, 0);
            }
            (Level::Blocks(units), Stage::Node) => {
                let (first, count) = (u64::from(seek.first), u64::from(seek.count));
                // What is known of few children is asked for with their keys.
                let span = if count > self.width.keys() as u64 {
                    self.width.keys() as u64 / 4
                } else {
                    Shape::new(count, self.width, self.is_longest(order)).units()
                };
                ask(units, first, span);
            }
            _ => {}
        }
        seek
    }

    #[inline(always)]
    fn seek_now(&self, order: usize, place: Place, older: LmWord) -> Seek {
        self.begin_seek(order, place, older.0)
    }

    #[inline(always)]
    fn is_at_hand(&self, seek: &Seek) -> bool {
        matches!(seek.stage, Stage::Absent | Stage::Known)
    }

    #[inline(always)]
    fn step(&self, order: usize, seek: &mut Seek) -> Step<Place> {
        let step = match (&self.levels[order - 2], seek.stage) {
            (_, Stage::Known) => Some(Step::Found(longest(seek.first))),
            (Level::Buckets(buckets), Stage::Bucket) => {
                let first = seek.at.wrapping_mul(3);
                step_bucket(buckets, seek, |bucket, slot| {
                    self.in_bucket(order, bucket, slot, first.wrapping_add(slot as u32))
                })
            }
            (Level::LongestBuckets(buckets), Stage::Bucket) => {
                step_bucket(buckets, seek, |bucket, slot| longest(bucket.log10[slot]))
            }
            (Level::Blocks(units), Stage::Node) => self.step_node(order, units, seek),
            (Level::Blocks(units), Stage::Head) => self.step_head(order, units, seek),
            (Level::Blocks(units), Stage::Entry) => {
                let (at, word) = (u64::from(seek.at), seek.count);
                self.entry(order, units, at, word).map(Step::Found)
            }
            _ => None,
        };
        step.unwrap_or(Step::Absent)
    }
}

impl GlmModel {
    /// The word of an id, unless a damaged index names one that is not there.
    fn known(&self, id: Option<u32>) -> LmWord {
        id.filter(|&id| (id as usize) < self.unigrams.len()).map_or(LmWord::UNKNOWN, LmWord)
    }

    #[inline(always)]
    pub(crate) fn is_longest(&self, order: usize) -> bool {
        order == self.metadata.order as usize
    }

    /// A lookup that has asked for nothing.
    #[inline(always)]
    fn begin_seek(&self, order: usize, place: Place, word: u32) -> Seek {
        let Place { kind, first, count } = place;
        match kind {
            Kind::Hashed => self.begin_bucket(order, first, word),
            Kind::Block => Seek { stage: Stage::Node, word, first, count, at: 0 },
            Kind::Headed => Seek { stage: Stage::Head, word, first, count, at: 0 },
            Kind::Single if count != word => Seek::default(),
            Kind::Single if self.is_longest(order) => {
                Seek { stage: Stage::Known, word, first, count: 0, at: 0 }
            }
            Kind::Single => Seek { stage: Stage::Entry, word, first: 0, count: 0, at: first },
        }
    }

    #[inline(always)]
    fn begin_bucket(&self, order: usize, parent: u32, word: u32) -> Seek {
        let buckets = match &self.levels[order - 2] {
            Level::Buckets(buckets) => buckets.len(),
            Level::LongestBuckets(buckets) => buckets.len(),
            Level::Blocks(_) => return Seek::default(),
        };
        let at = home(key(parent, word), buckets as u64) as u32;
        Seek { stage: Stage::Bucket, word, first: parent, count: 0, at }
    }

    #[inline(always)]
    fn ask_bucket(&self, order: usize, seek: &Seek) {
        match &self.levels[order - 2] {
            Level::Buckets(buckets) => prefetch_at(buckets, seek.at as usize),
            Level::LongestBuckets(buckets) => prefetch_at(buckets, seek.at as usize),
            Level::Blocks(_) => {}
        }
    }

    /// Asks for a node of the tree that begins at `first`.
    #[inline(always)]
    fn ask_node(&self, units: &[Unit], first: u64, node: u64) {
        let width = self.width.keys() as u64 / 4;
        ask(units, first + node * width, width);
    }

    /// Searches a node; nothing: the n-gram is absent.
    #[inline(always)]
    fn step_node(&self, order: usize, units: &[Unit], seek: &mut Seek) -> Option<Step<Place>> {
        let tree = Tree { node: self.width.keys() as u64, count: u64::from(seek.count) };
        let (first, node) = (u64::from(seek.first), u64::from(seek.at));
        if tree.count <= tree.node {
            let entries = first + tree.count.div_ceil(4);
            let keys = units.get(first as usize..entries as usize)?;
            let (unit, word) = self.place(order, entries, place_of(keys, seek.word)? as u64);
            // That far has been asked for.
            if unit / CPU_LINE <= first / CPU_LINE + 1 {
                return self.entry(order, units, unit, word).map(Step::Found);
            }
            return ask_entry(units, seek, unit, word);
        }
        let within = tree.units(node);
        let keys = units.get((first + within.start) as usize..(first + within.end) as usize)?;
        let slot = self.isa.rank(keys, seek.word);
        if key_at(keys, slot) == Some(seek.word) {
            let entries = first + tree.units(tree.nodes()).start;
            let (unit, word) = self.place(order, entries, node * tree.node + slot as u64);
            return ask_entry(units, seek, unit, word);
        }
        let child = tree.child(node, slot as u64)?;
        self.ask_node(units, first, child);
        seek.at = child as u32;
        Some(Step::Waiting)
    }

    /// The unit, and for the highest order the word of it, of the n-gram `position` of
    /// those that begin at the unit `entries`.
    #[inline(always)]
    fn place(&self, order: usize, entries: u64, position: u64) -> (u64, u32) {
        match self.is_longest(order) {
            true => (entries + position / 4, (position % 4) as u32),
            false => (entries + position, 0),
        }
    }

    #[inline(never)]
    fn step_head(&self, order: usize, units: &[Unit], seek: &mut Seek) -> Option<Step<Place>> {
        seek.count = units.get(seek.first as usize)?.0[0];
        seek.first = seek.first.checked_add(1)?;
        seek.stage = Stage::Node;
        self.step_node(order, units, seek)
    }

    /// The n-gram of `order` whose entry is at `unit`; of the highest order, that
    /// unit's word `word`.
    #[inline(always)]
    pub(crate) fn entry(
        &self,
        order: usize,
        units: &[Unit],
        unit: u64,
        word: u32,
    ) -> Option<Found<Place>> {
        let fields = units.get(unit as usize)?.0;
        if self.is_longest(order) {
            return Some(longest(fields[word as usize % 4]));
        }
        let [log10, backoff, first, count] = fields;
        let kind = match log10 & Entry::SINGLE {
            0 => Kind::Block,
            _ => Kind::Single,
        };
        let longer = (kind == Kind::Single || count > 0).then_some(Place { kind, first, count });
        let (log10, backoff) = (f32::from_bits(log10 | SIGN), f32::from_bits(backoff));
        Some(Found { log10, backoff, longer })
    }

    /// The n-gram of `order` in `slot` of `bucket`, which is called `number`.
    #[inline(always)]
    pub(crate) fn in_bucket(
        &self,
        order: usize,
        bucket: &Bucket,
        slot: usize,
        number: u32,
    ) -> Found<Place> {
        let (first, count) = (bucket.first[slot], u32::from(bucket.count[slot]));
        let place = if order < self.metadata.hashed as usize {
            Place { kind: Kind::Hashed, first: number, count }
        } else if count == MANY {
            Place { kind: Kind::Headed, first, count }
        } else {
            Place { kind: Kind::Block, first, count }
        };
        Found {
            log10: f32::from_bits(bucket.log10[slot] | SIGN),
            backoff: f32::from_bits(bucket.backoff[slot]),
            longer: (count > 0).then_some(place),
        }
    }
}

/// Asks for the first two lines of what lies at `first`, of `span` units. The second
/// request may be for the first line again, which costs less than a branch that nobody
/// can predict.
#[inline(always)]
fn ask(units: &[Unit], first: u64, span: u64) {
    prefetch_at(units, first as usize);
    prefetch_at(units, (first + span.saturating_sub(1).min(CPU_LINE)) as usize);
}

/// Asks for an entry.
#[inline(always)]
fn ask_entry(units: &[Unit], seek: &mut Seek, unit: u64, word: u32) -> Option<Step<Place>> {
    prefetch_at(units, unit as usize);
    (seek.stage, seek.at, seek.count) = (Stage::Entry, u32::try_from(unit).ok()?, word);
    Some(Step::Waiting)
}

/// Goes on with a lookup in buckets; `found` makes the answer of a bucket and a slot.
#[inline(always)]
fn step_bucket<B: Slots>(
    buckets: &[B],
    seek: &mut Seek,
    found: impl Fn(&B, usize) -> Found<Place>,
) -> Option<Step<Place>> {
    let bucket = buckets.get(seek.at as usize)?;
    let wanted = key(seek.first, seek.word);
    // No branch depends on which slot it is.
    let equal = bucket.keys().iter().enumerate();
    let equal = equal.fold(0u32, |bits, (slot, &key)| bits | u32::from(key == wanted) << slot);
    if equal != 0 {
        return Some(Step::Found(found(bucket, equal.trailing_zeros() as usize)));
    }
    if !bucket.overflows() {
        return None;
    }
    let next = (seek.at as usize + 1) % buckets.len();
    // Once around is enough.
    if next as u64 == home(wanted, buckets.len() as u64) {
        return None;
    }
    seek.at = next as u32;
    prefetch_at(buckets, next);
    Some(Step::Waiting)
}

/// What buckets know an n-gram by.
#[inline(always)]
pub(crate) fn key(parent: u32, word: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(word)
}

/// An n-gram of the highest order.
#[inline(always)]
pub(crate) fn longest(log10: u32) -> Found<Place> {
    let (log10, backoff) = (f32::from_bits(log10 | SIGN), f32::from_bits(NO_EXTENSION));
    Found { log10, backoff, longer: None }
}
