//! The hash table of an order: keys, sorted by their home buckets, go into consecutive
//! slots from their home on, so one sweep places them all.

use miriam_lmcpu::Result;
use miriam_lmcpu::sorted::Nodes;
use miriam_storage::parallel;
use miriam_storage::zerocopy::{Immutable, IntoBytes};
use miriam_storage::{ContainerWriter, Error};
use rayon::prelude::*;

use super::{LevelLayout, LevelNodes};
use crate::format::{Bucket, EMPTY_KEY, LongestBucket, MANY_CHILDREN, home_bucket};
use crate::search::bucket_key;

/// The load factor: fuller tables are smaller, and more searches probe a second bucket.
const LOAD_FACTOR: f64 = 0.65;
/// The number of buckets that one task fills.
const BUCKETS_PER_TASK: usize = 1 << 10;
/// The number of buckets of a batch: 64 MiB.
const WRITE_BATCH_BUCKETS: usize = 1 << 20;

/// The layout of the hash table of an order.
pub(super) struct BucketWriter {
    /// Slots of a bucket.
    slots_per_bucket: u64,
    /// By bucket: whether a key whose home is this or an earlier bucket is in a later bucket.
    overflows: Vec<bool>,
    /// The keys, ascending by slot; slots are counted over all buckets.
    placed_keys: Vec<PlacedKey>,
    /// By n-gram: its slot.
    node_slots: Vec<u32>,
}

struct PlacedKey {
    slot: u32,
    node: u32,
    key: u64,
}

impl BucketWriter {
    /// Places the n-grams of `order`, whose parents are `parents` with the layout `parent_layout`.
    ///
    /// # Errors
    ///
    /// If the order has more slots than 32 bits can count.
    pub fn plan(
        order: usize,
        orders: usize,
        parents: &Nodes,
        nodes: &Nodes,
        parent_layout: &LevelLayout,
        writer: &ContainerWriter,
    ) -> Result<Self> {
        let slots = if order == orders { LongestBucket::SLOTS } else { Bucket::SLOTS };
        let buckets = (nodes.len() as f64 / (slots as f64 * LOAD_FACTOR)) as u64 + 1;
        // Two buckets fill a line of 128 bytes.
        let buckets = buckets.next_multiple_of(2);
        if buckets * slots > 1 << 32 {
            let reason = format!(
                "there are {} {order}-grams, but buckets have at most 2^32 slots; keep fewer \
                 orders in buckets (--hash-orders {})",
                nodes.len(),
                order - 1
            );
            return Err(Error::TooLarge { path: writer.path().to_owned(), reason }.into());
        }
        let mut placed: Vec<PlacedKey> = (0..parents.len())
            .into_par_iter()
            .flat_map_iter(|parent| {
                let number = match parent_layout {
                    LevelLayout::Buckets(table) => table.node_slots[parent],
                    _ => parent as u32,
                };
                parents.children_of(parent as u32).map(move |node| {
                    let key = bucket_key(number, nodes.words[node]);
                    PlacedKey { slot: home_bucket(key, buckets) as u32, node: node as u32, key }
                })
            })
            .collect();
        placed.par_sort_unstable_by_key(|placed| (placed.slot, placed.node));
        // Keys that overflow the last bucket wrap to the first buckets, before the keys whose home
        // is there. As there are free slots, they wrap at most once.
        let all = buckets * slots;
        let wrapped = placed
            .iter()
            .fold(0, |first: u64, placed: &PlacedKey| first.max(u64::from(placed.slot) * slots) + 1)
            .saturating_sub(all);
        let mut overflows = vec![false; buckets as usize];
        let mut numbers = vec![0; nodes.len()];
        let mut free = wrapped;
        for placed in &mut placed {
            let home = u64::from(placed.slot);
            let slot = free.max(home * slots);
            free = slot + 1;
            for bucket in home..slot / slots {
                overflows[(bucket % buckets) as usize] = true;
            }
            placed.slot = (slot % all) as u32;
            numbers[placed.node as usize] = placed.slot;
        }
        placed.rotate_right(wrapped as usize);
        Ok(BucketWriter {
            slots_per_bucket: slots,
            overflows,
            placed_keys: placed,
            node_slots: numbers,
        })
    }

    /// Writes the section; returns the slots of the blanks.
    pub fn write(&self, level: &LevelNodes<'_>, writer: &mut ContainerWriter) -> Result<Vec<u32>> {
        if level.is_longest() {
            self.write_buckets(level.order, longest_bucket(level), writer)?
        } else {
            self.write_buckets(level.order, middle_bucket(level), writer)?
        }
        Ok(level.nodes.blanks.iter().map(|&blank| self.node_slots[blank as usize]).collect())
    }

    /// Writes the buckets. `fill` makes a bucket from its keys and from whether it overflows.
    fn write_buckets<B: IntoBytes + Immutable + Copy + Send>(
        &self,
        order: usize,
        fill: impl Fn(&[PlacedKey], bool) -> B + Sync,
        writer: &mut ContainerWriter,
    ) -> Result<()> {
        let (name, buckets) = (format!("order-{order}"), self.overflows.len());
        let bytes = (buckets * size_of::<B>()) as u64;
        let mut section = writer.begin_section(&name, size_of::<B>(), bytes)?;
        for start in (0..buckets).step_by(WRITE_BATCH_BUCKETS) {
            let end = (start + WRITE_BATCH_BUCKETS).min(buckets);
            let filled = parallel::map_tasks((end - start).div_ceil(BUCKETS_PER_TASK), &|task| {
                let first = start + task * BUCKETS_PER_TASK;
                let last = (first + BUCKETS_PER_TASK).min(end);
                let mut rest = &self.placed_keys[self.count_before(first)..self.count_before(last)];
                let filled = (first..last).map(|bucket| {
                    let placed = take_bucket(&mut rest, bucket as u64, self.slots_per_bucket);
                    fill(placed, self.overflows[bucket])
                });
                filled.collect::<Vec<B>>()
            });
            section.write(filled.concat().as_bytes())?;
        }
        Ok(section.finish()?)
    }

    /// Counts the keys before `bucket`.
    fn count_before(&self, bucket: usize) -> usize {
        let slot = bucket as u64 * self.slots_per_bucket;
        self.placed_keys.partition_point(|placed| u64::from(placed.slot) < slot)
    }
}

/// Splits the keys of `bucket` off the front.
fn take_bucket<'p>(rest: &mut &'p [PlacedKey], bucket: u64, slots: u64) -> &'p [PlacedKey] {
    let here = rest.iter().take_while(|placed| u64::from(placed.slot) / slots == bucket).count();
    let (own, others) = rest.split_at(here);
    *rest = others;
    own
}

/// Makes buckets of n-grams below the highest order.
fn middle_bucket(level: &LevelNodes<'_>) -> impl Fn(&[PlacedKey], bool) -> Bucket + Sync {
    |placed, overflows| {
        let mut bucket = Bucket {
            keys: [EMPTY_KEY; 3],
            log10: [0; 3],
            backoff: [0; 3],
            first: [0; 3],
            count: [0; 3],
            overflows: u8::from(overflows),
        };
        for (slot, placed) in placed.iter().enumerate() {
            let at = placed.node as usize;
            let (first, count) = level.child_range(at);
            bucket.keys[slot] = placed.key;
            bucket.log10[slot] = level.log10(at);
            bucket.backoff[slot] = level.nodes.backoffs[at].to_bits();
            bucket.first[slot] = first;
            bucket.count[slot] = count.min(MANY_CHILDREN as usize) as u8;
        }
        bucket
    }
}

/// Makes buckets of n-grams of the highest order.
fn longest_bucket(level: &LevelNodes<'_>) -> impl Fn(&[PlacedKey], bool) -> LongestBucket + Sync {
    |placed, overflows| {
        let overflows = u32::from(overflows);
        let mut bucket = LongestBucket { keys: [EMPTY_KEY; 5], log10: [0; 5], overflows };
        for (slot, placed) in placed.iter().enumerate() {
            bucket.keys[slot] = placed.key;
            bucket.log10[slot] = level.log10(placed.node as usize);
        }
        bucket
    }
}
