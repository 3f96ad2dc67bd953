//! Counts of the bytes that a search reads for each query, to express queries per second as a share
//! of the memory bandwidth.
//!
//! A plain search counts requests and the sectors of 32 bytes that they read: an entry is one
//! sector, and a node of keys is one to four. A block that fits into a cache line is read by one
//! request. Cache hits are counted like other reads. Reads of queries and writes of scores are not
//! counted, because they are sequential.

use miriam_glm::device::PAD;
use miriam_glm::format::{
    BlockShape, Bucket, Entry, GPU_CACHE_LINE, HashBucket, MANY_CHILDREN, home_bucket,
};
use miriam_glm::{GlmModel, Level};
use miriam_lmcpu::LanguageModel;
use miriam_storage::btree::{StaticBTree, Unit};
use rayon::prelude::*;

use crate::synthetic::Text;

/// The reads of a number of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// The number of queries.
    pub queries: u64,
    /// Sectors of 32 bytes read.
    pub sectors: u64,
    /// Numbers of requests for one sector, for two, and for three or four sectors of a cache line.
    pub requests: [u64; 3],
}

impl ReadCounts {
    /// Returns the reads of explicit queries: one walk for the match and one for the backoffs.
    pub fn for_ngrams(model: &GlmModel, ngrams: &[u32]) -> Self {
        let order = model.order();
        let walks = ngrams.par_chunks(order).with_min_len(1 << 10).map(|ngram| {
            let mut reads = ReadCounts { queries: 1, ..ReadCounts::default() };
            let length = ngram.iter().position(|&word| word == PAD).unwrap_or(order);
            count_walk(model, &ngram[..length], &mut reads);
            count_walk(model, &ngram[1.min(length)..length], &mut reads);
            reads
        });
        walks.reduce(ReadCounts::default, ReadCounts::merge)
    }

    /// Returns the reads of a text that is scored token by token: one walk per token.
    pub fn for_text(model: &GlmModel, text: &Text, bos_id: u32) -> Self {
        let order = model.order();
        let sentences: Vec<&[u32]> = text.sentences().collect();
        let walks = sentences.into_par_iter().with_min_len(1 << 6).map(|sentence| {
            let mut reads = ReadCounts { queries: sentence.len() as u64, ..ReadCounts::default() };
            for at in 0..sentence.len() {
                let words = sentence[..=at].iter().rev().copied().chain([bos_id]);
                let ngram: Vec<u32> = words.take(order).collect();
                count_walk(model, &ngram, &mut reads);
            }
            count_walk(model, &[bos_id], &mut reads);
            reads
        });
        walks.reduce(ReadCounts::default, ReadCounts::merge)
    }

    /// Returns the number of sectors per query.
    pub fn sectors_per_query(&self) -> f64 {
        self.sectors as f64 / self.queries as f64
    }

    /// Returns the queries per second if only the requests took time. `rates` are the requests per
    /// second of 32, 64 and 128 bytes.
    pub fn ceiling(&self, rates: [f64; 3]) -> f64 {
        let seconds: f64 = self.requests.iter().zip(rates).map(|(&n, rate)| n as f64 / rate).sum();
        self.queries as f64 / seconds
    }

    fn merge(self, other: Self) -> Self {
        let mut sum = self;
        sum.queries += other.queries;
        sum.sectors += other.sectors;
        for (sum, more) in sum.requests.iter_mut().zip(other.requests) {
            *sum += more;
        }
        sum
    }

    fn record_request(&mut self, sectors: u64) {
        self.sectors += sectors;
        self.requests[match sectors {
            1 => 0,
            2 => 1,
            _ => 2,
        }] += 1;
    }
}

/// Counts the n-grams that match 1, 2, ... words.
#[cfg(test)]
pub(super) fn count_matches(model: &GlmModel, ngrams: &[u32]) -> Vec<u64> {
    let mut counts = vec![0; model.order()];
    for ngram in ngrams.chunks(model.order()) {
        let length = ngram.iter().position(|&word| word == PAD).unwrap_or(ngram.len());
        counts[count_walk(model, &ngram[..length], &mut ReadCounts::default()) - 1] += 1;
    }
    counts
}

/// The location of an n-gram's children.
enum ChildrenRef {
    None,
    /// The only child: its word and the location of its entry.
    Single {
        word: u32,
        first: u64,
    },
    Block {
        first: u64,
        count: u64,
    },
    HeadedBlock {
        first: u64,
    },
    Hashed {
        parent: u32,
    },
}

/// Returns the length of the longest n-gram of the model that is a prefix of `ngram` (newest word
/// first), and adds the reads of the search to `reads`.
fn count_walk(model: &GlmModel, ngram: &[u32], reads: &mut ReadCounts) -> usize {
    let Some(&newest) = ngram.first() else { return 0 };
    reads.record_request(1);
    let entry = model.unigrams()[newest as usize];
    let mut children = match (entry.count, model.max_hashed_order()) {
        (0, _) => ChildrenRef::None,
        (count, 0 | 1) => ChildrenRef::Block { first: entry.first.into(), count: count.into() },
        _ => ChildrenRef::Hashed { parent: newest },
    };
    for (order, &word) in (2..).zip(&ngram[1..]) {
        let Some(found) = find_child(model, order, &children, word, reads) else {
            return order - 1;
        };
        children = found;
    }
    ngram.len()
}

/// Returns the location of the children of the child `word`, if there is one.
fn find_child(
    model: &GlmModel,
    order: usize,
    children: &ChildrenRef,
    word: u32,
    reads: &mut ReadCounts,
) -> Option<ChildrenRef> {
    let longest = order == model.order();
    match (model.level(order), children) {
        (Level::Blocks(units), &ChildrenRef::Single { word: only, first }) => {
            if word != only {
                return None;
            }
            if longest {
                return Some(ChildrenRef::None);
            }
            reads.record_request(1);
            Some(children_of_entry(units[first as usize]))
        }
        (Level::Blocks(units), &ChildrenRef::Block { first, count }) => {
            find_in_block(model, units, (first, count, longest), word, reads)
        }
        (Level::Blocks(units), &ChildrenRef::HeadedBlock { first }) => {
            reads.record_request(1);
            let count = u64::from(units[first as usize].0[0]);
            find_in_block(model, units, (first + 1, count, longest), word, reads)
        }
        (Level::Buckets(buckets), &ChildrenRef::Hashed { parent }) => {
            let (at, slot) = find_in_hash_table(buckets, parent, word, reads)?;
            let number = (at * 3 + slot) as u32;
            Some(children_of_slot(&buckets[at], slot, number, order < model.max_hashed_order()))
        }
        (Level::LongestBuckets(buckets), &ChildrenRef::Hashed { parent }) => {
            find_in_hash_table(buckets, parent, word, reads).map(|_| ChildrenRef::None)
        }
        _ => None,
    }
}

fn children_of_entry(unit: Unit) -> ChildrenRef {
    let [log10, _, first, count] = unit.0;
    match (log10 & Entry::SINGLE, count) {
        (0, 0) => ChildrenRef::None,
        (0, _) => ChildrenRef::Block { first: first.into(), count: count.into() },
        _ => ChildrenRef::Single { word: count, first: first.into() },
    }
}

fn children_of_slot(bucket: &Bucket, slot: usize, number: u32, hashed: bool) -> ChildrenRef {
    match (u32::from(bucket.count[slot]), u64::from(bucket.first[slot])) {
        (0, _) => ChildrenRef::None,
        _ if hashed => ChildrenRef::Hashed { parent: number },
        (MANY_CHILDREN, first) => ChildrenRef::HeadedBlock { first },
        (count, first) => ChildrenRef::Block { first, count: count.into() },
    }
}

fn find_in_block(
    model: &GlmModel,
    units: &[Unit],
    (first, count, longest): (u64, u64, bool),
    word: u32,
    reads: &mut ReadCounts,
) -> Option<ChildrenRef> {
    let tree = StaticBTree { node_keys: model.node_width().keys() as u64, count };
    let shape = BlockShape::new(count, model.node_width(), longest);
    let entries = first + shape.keys;
    fn entry_of(position: u64, entries: u64, longest: bool) -> u64 {
        entries + if longest { position / 4 } else { position }
    }
    let children = |position| {
        if longest {
            ChildrenRef::None
        } else {
            children_of_entry(units[entry_of(position, entries, longest) as usize])
        }
    };
    if count <= tree.node_keys {
        let keys = units[first as usize..entries as usize].iter().flat_map(|unit| unit.0);
        let position = keys.take(count as usize).position(|key| key == word).map(|at| at as u64);
        // A sector is two units.
        let mut sectors = (entries - 1) / 2 - first / 2 + 1;
        if let Some(position) = position {
            let apart = u64::from(entry_of(position, entries, longest) / 2 > (entries - 1) / 2);
            if shape.units() <= GPU_CACHE_LINE {
                sectors += apart;
            } else if apart == 1 {
                reads.record_request(1);
            }
        }
        reads.record_request(sectors);
        return position.map(children);
    }
    let mut node = 0;
    loop {
        reads.record_request(tree.node_keys / 8);
        let range = tree.units(node);
        let range = (first + range.start) as usize..(first + range.end) as usize;
        let keys: Vec<u32> = units[range].iter().flat_map(|unit| unit.0).collect();
        match keys.binary_search(&word) {
            Ok(slot) => {
                reads.record_request(1);
                return Some(children(node * tree.node_keys + slot as u64));
            }
            Err(slot) => node = tree.child(node, slot as u64)?,
        }
    }
}

/// Returns the bucket and the slot of a key, and adds the reads of the search to `reads`.
fn find_in_hash_table<B: HashBucket>(
    buckets: &[B],
    parent: u32,
    word: u32,
    reads: &mut ReadCounts,
) -> Option<(usize, usize)> {
    let key = u64::from(parent) << 32 | u64::from(word);
    let start = home_bucket(key, buckets.len() as u64) as usize;
    for at in (start..buckets.len()).chain(0..start) {
        reads.record_request(2);
        if let Some(slot) = buckets[at].keys().iter().position(|&other| other == key) {
            return Some((at, slot));
        }
        if !buckets[at].overflows() {
            return None;
        }
    }
    None
}
