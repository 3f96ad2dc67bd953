//! Counts of symbol pairs, and the words in which they occur, as subword-nmt keeps them.
//!
//! The most frequent pair is chosen among active pairs. Every hundred merges, pairs below a
//! threshold move to the reserve. When no active pair reaches the threshold, the whole reserve
//! becomes active and a new threshold is set. A pair in the reserve that gets new occurrences
//! becomes active with the count of these alone, which may later replace its count in the reserve.
//! So counts are not exact, but codes equal subword-nmt's.

use std::collections::BinaryHeap;
use std::rc::Rc;

use hashbrown::HashMap;

/// The id of a pair.
pub type PairId = u32;

/// Merges between two prunings.
const PRUNING_INTERVAL: usize = 100;

/// The counts of all pairs. The most frequent one is chosen among those that are active.
#[derive(Default)]
pub struct PairStatistics {
    ids: HashMap<[u32; 2], PairId>,
    pairs: Vec<Pair>,
    /// The active pairs.
    active: Vec<PairId>,
    /// The minimum count of an active pair when pairs are pruned or chosen.
    threshold: f64,
    /// Active pairs that reach the threshold. An entry whose count is no longer the pair's
    /// is skipped.
    queue: BinaryHeap<Candidate>,
    /// Pairs whose counts the current merge has changed.
    changed: Vec<PairId>,
}

struct Pair {
    symbols: [u32; 2],
    texts: [Rc<[u8]>; 2],
    is_active: bool,
    /// The count since the pair became active. It begins at 0, or at `reserve_count` if the whole
    /// reserve became active.
    count: i64,
    /// The count in the reserve. Until the pair is first set aside, it is the count before the
    /// first merge: 0 for a pair that a merge has made.
    reserve_count: i64,
    /// The changes of the number of the pair's occurrences, by word. A word may be listed several
    /// times.
    occurrences: Vec<(u32, i32)>,
}

/// A candidate, ordered by count, then by the bytes of the left symbol, then of the right.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    texts: [Rc<[u8]>; 2],
    id: PairId,
}

impl PairStatistics {
    /// Returns the id of a pair of symbols. If the pair is new, adds it with the `texts` of its
    /// symbols.
    pub fn intern(&mut self, symbols: [u32; 2], texts: [&Rc<[u8]>; 2]) -> PairId {
        *self.ids.entry(symbols).or_insert_with(|| {
            self.pairs.push(Pair {
                symbols,
                texts: texts.map(Rc::clone),
                is_active: false,
                count: 0,
                reserve_count: 0,
                occurrences: Vec::new(),
            });
            (self.pairs.len() - 1) as PairId
        })
    }

    /// Returns the two symbols of a pair.
    pub fn symbols(&self, pair: PairId) -> [u32; 2] {
        self.pairs[pair as usize].symbols
    }

    /// Adds `count_change` to the count of a pair, and `occurrence_change` to the number of its
    /// occurrences in `word`. Either may be negative.
    pub fn add(&mut self, id: PairId, word: u32, count_change: i64, occurrence_change: i32) {
        self.activate(id);
        let pair = &mut self.pairs[id as usize];
        pair.count += count_change;
        pair.occurrences.push((word, occurrence_change));
        self.changed.push(id);
    }

    fn activate(&mut self, id: PairId) {
        let pair = &mut self.pairs[id as usize];
        if !pair.is_active {
            pair.is_active = true;
            pair.count = 0;
            self.active.push(id);
        }
    }

    /// Ends the counting of the text's pairs: sets the first threshold and queues the pairs that
    /// reach it.
    pub fn finish_counting(&mut self) {
        for pair in &mut self.pairs {
            pair.reserve_count = pair.count;
        }
        let most = self.pairs.iter().map(|pair| pair.count).max().unwrap_or(0);
        self.threshold = most as f64 / 10.0;
        self.queue_all();
        self.changed.clear();
    }

    /// Returns the most frequent pair after `num_merges` merges; `None` if none occurs
    /// `min_frequency` times.
    pub fn most_frequent(&mut self, num_merges: usize, min_frequency: u64) -> Option<PairId> {
        let best = match self.pop_candidate() {
            Some(best) => best,
            None => {
                self.restore_reserve(num_merges);
                self.pop_candidate()?
            }
        };
        (best.count > 0 && best.count as u64 >= min_frequency).then_some(best.id)
    }

    /// Makes all pairs active with their counts in the reserve, sets the threshold by subword-nmt's
    /// formula, and queues the pairs that reach it.
    fn restore_reserve(&mut self, num_merges: usize) {
        self.prune();
        for id in 0..self.pairs.len() as PairId {
            self.activate(id);
            let pair = &mut self.pairs[id as usize];
            pair.count = pair.reserve_count;
        }
        let most = self.pairs.iter().map(|pair| pair.count).max().unwrap_or(0);
        let merges = num_merges as f64;
        self.threshold = (most as f64 * merges) / (merges + 10_000.0);
        self.prune();
        self.queue_all();
    }

    fn pop_candidate(&mut self) -> Option<Candidate> {
        while let Some(candidate) = self.queue.pop() {
            let pair = &self.pairs[candidate.id as usize];
            if pair.is_active && pair.count == candidate.count {
                return Some(candidate);
            }
        }
        None
    }

    /// Moves the active pairs below the threshold to the reserve. A negative count is
    /// added to the count in the reserve; any other replaces it.
    fn prune(&mut self) {
        self.active.retain(|&id| {
            let pair = &mut self.pairs[id as usize];
            pair.is_active = pair.count as f64 >= self.threshold;
            if !pair.is_active {
                let kept = if pair.count < 0 { pair.reserve_count } else { 0 };
                pair.reserve_count = kept + pair.count;
            }
            pair.is_active
        });
    }

    fn queue_all(&mut self) {
        self.queue.clear();
        let candidates = self.active.iter().map(|&id| candidate(&self.pairs, id));
        let threshold = self.threshold;
        self.queue.extend(candidates.filter(|candidate| candidate.count as f64 >= threshold));
    }

    /// Begins the merge of a pair, whose count becomes 0; returns the words in which it
    /// occurs.
    pub fn begin_merge(&mut self, id: PairId) -> Vec<u32> {
        let pair = &mut self.pairs[id as usize];
        pair.count = 0;
        let mut changes = std::mem::take(&mut pair.occurrences);
        changes.sort_unstable();
        let words = changes.chunk_by(|a, b| a.0 == b.0);
        words
            .filter(|changes| changes.iter().map(|&(_, change)| change).sum::<i32>() > 0)
            .map(|changes| changes[0].0)
            .collect()
    }

    /// Ends the merge of a pair; `merge` merges were made before it.
    pub fn finish_merge(&mut self, id: PairId, merge: usize) {
        // Changes that the merge itself made to the count are ignored, as in subword-nmt.
        self.pairs[id as usize].count = 0;
        if merge.is_multiple_of(PRUNING_INTERVAL) {
            self.prune();
        }
        self.changed.sort_unstable();
        self.changed.dedup();
        for changed in self.changed.drain(..) {
            let pair = &self.pairs[changed as usize];
            if pair.is_active && pair.count > 0 && pair.count as f64 >= self.threshold {
                self.queue.push(candidate(&self.pairs, changed));
            }
        }
    }
}

fn candidate(pairs: &[Pair], id: PairId) -> Candidate {
    let pair = &pairs[id as usize];
    Candidate { count: pair.count, texts: pair.texts.clone(), id }
}
