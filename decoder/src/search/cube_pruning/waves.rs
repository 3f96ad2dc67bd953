//! Popping of cells in waves. It gives the results of the one-at-a-time loop, but overlaps the
//! memory accesses of many cells.
//!
//! The loop mostly waits for memory. It pops one cell and scores its two neighbours, so at most two
//! queries of the language model are in flight. But the order in which cells are popped hardly
//! matters. For any threshold T, the cells that score more than T and are reached through cells
//! above T are popped before any cell below T. As long as all cells above T fit into the pop limit,
//! they may be popped in any order. So cells are put into buckets by their scores. A *wave* begins
//! with all cells of the best bucket. Their neighbours are scored together ([`CellScorer`]).
//! Neighbours that belong to this bucket or a better one join the wave, and then their own
//! neighbours are scored together, and so on.
//!
//! If the pop limit falls into a bucket, its cells are divided into finer buckets. If it falls into
//! a finer bucket, the cells of that bucket are popped in order; their scores are known already.
//!
//! The order matters only in two cases. The first is a tie: two cells that recombine, two arcs of
//! one hypothesis, two neighbours in a sorted mini-stack, or the two best cells at the pop limit
//! have equal scores. The second is a mini-stack that is full and rejects new hypotheses. Both
//! cases are detected ([`Recombination`]). Then the loop fills the stack again, with a warm
//! language-model cache.

use std::collections::BinaryHeap;

use hashbrown::HashTable;

use super::super::SearchLimits;
use super::super::cells::{Cell, CellScorer, CellTask, Edge};
use super::super::lattice::RecombinedArcs;
use super::super::ordered_bits::ordered_bits;
use super::item_queue::PREFETCH_BATCH;
use super::score_buckets::{NUM_BUCKETS, ScoreBuckets};
use super::wave_recombination::{MAX_KEY_PART, Recombination};
use crate::features::RecombinationKey;
use crate::hypothesis::Hypothesis;

/// The number of buckets over the range of scores of the last stack's pops. Fewer buckets make
/// larger waves; more buckets make fewer cells that are scored needlessly.
const BUCKETS_PER_STACK: f32 = 20.0;

/// The number of fine buckets in the range of one coarse bucket.
const FINER_STEPS: u64 = 32;

/// Buckets of fewer cells are not divided into finer ones.
const MIN_DIVIDED: usize = 5;

/// The factor by which buckets become wider when all remaining cells of a stack are in the last
/// bucket.
const WIDENING: u64 = 8;

/// The number of popped cells that are recombined at each wait for memory.
const RECOMBINED_WHILE_WAITING: usize = 8;

/// `Cell::next` of cells of the last bucket that no popped cell has reached yet.
const UNREACHED: u32 = u32::MAX - 1;

/// The properties of a stack, besides its edges, that determine how it is filled.
#[derive(Clone, Copy)]
pub(super) struct WaveStack {
    pub(super) limits: SearchLimits,
    pub(super) recombination_key: RecombinationKey,
    /// The number of mini-stacks to which its edges lead.
    pub(super) num_groups: usize,
}

impl WaveStack {
    /// Whether waves can fill a stack like this in a sentence of `length` words.
    pub(super) fn is_supported(&self, length: u32) -> bool {
        self.num_groups <= MAX_KEY_PART && length as usize <= MAX_KEY_PART
    }
}

/// A stack to be filled: its waves, its edges and its other properties.
pub(super) struct FillStack<'s, L> {
    pub(super) waves: &'s mut Waves<L>,
    pub(super) edges: &'s mut [Edge],
    pub(super) stack: WaveStack,
}

impl<L: RecombinedArcs> CellTask for FillStack<'_, L> {
    /// Whether waves could fill the stack.
    type Output = bool;

    fn run<S: CellScorer>(self, scorer: &mut S) -> bool {
        self.waves.fill_stack(self.edges, scorer, self.stack)
    }
}

/// The waves of a stack, in buffers that are reused.
#[derive(Default)]
pub(super) struct Waves<L> {
    frontier: Frontier<L>,
    /// Numbers of the cells of the wave.
    wave: Vec<u32>,
    /// The range of scores of the last stack's pops, in ordered bits; 0 before the first.
    last_range: f32,
    last_bucket: LastBucket,
    /// The number of scored cells, for statistics.
    pub(super) num_evaluated: u64,
}

/// The bucket into which the pop limit falls.
#[derive(Default)]
struct LastBucket {
    /// Keys of the cells that are reached ([`heap_key`]).
    heap: BinaryHeap<u64>,
    /// Cells that were scored before they were reached, by name.
    unreached: HashTable<u32>,
}

/// The cells of a stack.
#[derive(Default)]
struct Frontier<L> {
    cells: Vec<Cell>,
    seen: Vec<u64>,
    /// The ordered bits of the best score among the first cells of all edges.
    best_score: u32,
    coarse: ScoreBuckets,
    /// The bucket of `coarse` that is being emptied.
    bucket: usize,
    /// The cells of this bucket, if it was divided.
    fine: ScoreBuckets,
    /// The bucket of `fine` that is being emptied; `None` if there is none.
    fine_bucket: Option<usize>,
    /// Indices of the cells popped in waves.
    popped: Vec<u32>,
    /// The number of popped cells that are recombined.
    num_recombined: usize,
    recombination: Recombination<L>,
}

impl<L: RecombinedArcs> Waves<L> {
    /// Pops the best cells of `edges`, which `scorer` scores. Returns false if the one-at-a-time
    /// loop must fill the stack instead. [`Waves::for_each_survivor`] visits the hypotheses that
    /// the stack keeps.
    fn fill_stack<S: CellScorer>(
        &mut self,
        edges: &mut [Edge],
        scorer: &mut S,
        stack: WaveStack,
    ) -> bool {
        let limit = stack.limits.pop_limit;
        self.frontier.start(stack.recombination_key);
        self.frontier.make_first_cells(edges, scorer);
        let popped = self.pop_all(edges, scorer, limit);
        self.num_evaluated += self.frontier.cells.len() as u64;
        let frontier = &mut self.frontier;
        if popped == limit {
            let range = frontier.best_score as f32 - frontier.coarse.end_of(frontier.bucket);
            self.last_range = (range * 1.25).max(256.0);
        }
        frontier.recombine_rest(edges);
        let is_filled = !frontier.recombination.is_tied
            && frontier.recombination.sort(edges, stack.num_groups, stack.limits.stack_size);
        if is_filled {
            scorer.join_states(frontier.recombination.cells());
        }
        is_filled
    }

    /// Visits the hypotheses that the stack filled last keeps, each with its mini-stack.
    /// Mini-stacks are visited in order, the best hypothesis of each first.
    #[inline(always)]
    pub(super) fn for_each_survivor(&self, edges: &[Edge], mut visit: impl FnMut(u32, Hypothesis)) {
        for cell in self.frontier.recombination.sorted_cells() {
            visit(edges[cell.edge as usize].group, cell.hypothesis(edges));
        }
    }

    /// Returns the arcs of the stack filled last.
    pub(super) fn recombined(&mut self) -> &mut L {
        &mut self.frontier.recombination.recombined
    }

    /// Pops `limit` cells, or all; returns their number.
    fn pop_all<S: CellScorer>(
        &mut self,
        edges: &mut [Edge],
        scorer: &mut S,
        limit: usize,
    ) -> usize {
        let Waves { frontier, wave, last_range, last_bucket, .. } = self;
        frontier.fill_buckets(*last_range);
        let mut num_popped = 0;
        while num_popped < limit && frontier.next_bucket(wave) {
            if frontier.fine_bucket.is_none() {
                if frontier.bucket == NUM_BUCKETS - 1 {
                    frontier.widen_buckets(wave);
                    continue;
                }
                // About as many neighbours as there are cells will join the wave.
                if wave.len() >= MIN_DIVIDED && num_popped + 2 * wave.len() > limit {
                    frontier.divide_bucket(wave);
                    continue;
                }
            }
            let first_new = frontier.cells.len();
            let mut begin = 0;
            while begin < wave.len() && num_popped + wave.len() <= limit {
                let from = frontier.cells.len();
                let end = wave.len();
                for &number in &wave[begin..end] {
                    frontier.make_neighbours(number, edges, scorer);
                }
                begin = end;
                frontier.score_from(from, edges, scorer);
                for number in from..frontier.cells.len() {
                    if frontier.joins_wave(number as u32) {
                        frontier.cells[number].next = UNREACHED;
                        wave.push(number as u32);
                    }
                }
            }
            if begin == wave.len() {
                num_popped += wave.len();
                frontier.popped.extend_from_slice(wave);
            } else {
                let limit = limit - num_popped;
                num_popped += last_bucket.pop(frontier, wave, first_new, edges, scorer, limit);
            }
        }
        num_popped
    }
}

impl LastBucket {
    /// Pops `limit` cells of `wave`, or all, one at a time; returns their number. Cells from
    /// `first_new` on were made as neighbours, and wait until a popped cell reaches them.
    fn pop<L: RecombinedArcs, S: CellScorer>(
        &mut self,
        frontier: &mut Frontier<L>,
        wave: &[u32],
        first_new: usize,
        edges: &mut [Edge],
        scorer: &mut S,
        limit: usize,
    ) -> usize {
        let LastBucket { heap, unreached } = self;
        heap.clear();
        unreached.clear();
        for &number in wave {
            let cell = &frontier.cells[number as usize];
            if (number as usize) < first_new {
                heap.push(heap_key(cell, number));
            } else {
                unreached.insert_unique(hash(name(cell)), number, |&at| {
                    hash(name(&frontier.cells[at as usize]))
                });
            }
        }
        for num_popped in 0..limit {
            let Some(key) = heap.pop() else { return num_popped };
            frontier.recombination.is_tied |= heap.peek().is_some_and(|n| n >> 32 == key >> 32);
            let number = !(key as u32);
            let Cell { edge, previous, option, .. } = frontier.cells[number as usize];
            frontier.recombination.add(&frontier.cells[number as usize], edges);
            for neighbour in [(previous + 1, option, edge), (previous, option + 1, edge)] {
                let Some(&at) = unreached.find(hash(neighbour), |&at: &u32| {
                    name(&frontier.cells[at as usize]) == neighbour
                }) else {
                    continue;
                };
                let cell = &mut frontier.cells[at as usize];
                if cell.next == UNREACHED {
                    cell.next = 0;
                    heap.push(heap_key(cell, at));
                }
            }
            let from = frontier.cells.len();
            frontier.make_neighbours(number, edges, scorer);
            frontier.score_from(from, edges, scorer);
            for number in from as u32..frontier.cells.len() as u32 {
                if frontier.joins_wave(number) {
                    heap.push(heap_key(&frontier.cells[number as usize], number));
                }
            }
        }
        limit
    }
}

impl<L: RecombinedArcs> Frontier<L> {
    /// Begins a stack.
    fn start(&mut self, key: RecombinationKey) {
        self.cells.clear();
        self.seen.clear();
        self.popped.clear();
        self.num_recombined = 0;
        self.bucket = 0;
        self.fine_bucket = None;
        self.recombination.start(key);
    }

    /// Makes and scores the first cell of every edge.
    fn make_first_cells<S: CellScorer>(&mut self, edges: &[Edge], scorer: &mut S) {
        for (chunk, some) in edges.chunks(PREFETCH_BATCH).enumerate() {
            let from = self.cells.len();
            for (i, edge) in some.iter().enumerate() {
                let number = (chunk * PREFETCH_BATCH + i) as u32;
                let row = scorer.row(edges, number, edge.first_hypothesis);
                self.cells.push(scorer.make_cell(&row, number, edge.first_option));
            }
            self.score_from(from, edges, scorer);
        }
    }

    /// Puts all cells into buckets; `range` is the expected range of the pops.
    fn fill_buckets(&mut self, range: f32) {
        let best = self.cells.iter().map(|cell| ordered_bits(cell.future_score)).max();
        let range = if range > 0.0 { range } else { 1e6 };
        self.best_score = best.unwrap_or(0);
        self.coarse.start(self.best_score, BUCKETS_PER_STACK / range);
        for (number, cell) in (0..).zip(&mut self.cells) {
            self.coarse.push(self.coarse.bucket_of(cell.future_score), number, cell);
        }
    }

    /// Takes the cells of the best bucket into `wave`; returns false if there are no more.
    #[inline(always)]
    fn next_bucket(&mut self, wave: &mut Vec<u32>) -> bool {
        wave.clear();
        if self.fine_bucket.is_some() {
            self.fine_bucket = self.fine.pop(&self.cells, wave);
            if self.fine_bucket.is_some() {
                return true;
            }
        }
        match self.coarse.pop(&self.cells, wave) {
            Some(bucket) => {
                self.bucket = bucket;
                true
            }
            None => false,
        }
    }

    /// Spreads the cells of `wave`, all that is left, over wider buckets.
    fn widen_buckets(&mut self, wave: &[u32]) {
        self.coarse.widen(self.best_of(wave), WIDENING);
        for &number in wave {
            let cell = &mut self.cells[number as usize];
            self.coarse.push(self.coarse.bucket_of(cell.future_score), number, cell);
        }
    }

    /// Spreads the cells of `wave`, a coarse bucket, over fine ones.
    fn divide_bucket(&mut self, wave: &[u32]) {
        self.fine.start_finer(&self.coarse, self.best_of(wave), FINER_STEPS);
        for &number in wave {
            let cell = &mut self.cells[number as usize];
            self.fine.push(self.fine.bucket_of(cell.future_score), number, cell);
        }
        self.fine_bucket = Some(0);
    }

    fn best_of(&self, wave: &[u32]) -> u32 {
        let scores = wave.iter().map(|&number| self.cells[number as usize].future_score);
        scores.map(ordered_bits).max().unwrap_or(0)
    }

    /// Creates the neighbours of a cell that are new.
    #[inline(always)]
    fn make_neighbours<S: CellScorer>(&mut self, number: u32, edges: &mut [Edge], scorer: &mut S) {
        let Cell { edge: edge_number, previous, option, .. } = self.cells[number as usize];
        edges[edge_number as usize].make_rows(&mut self.seen);
        let (edges, edge) = (&*edges, &edges[edge_number as usize]);
        let (row, column) = (previous - edge.first_hypothesis, option - edge.first_option);
        if edge.mark_seen(&mut self.seen, row + 1, column) {
            let row = scorer.row(edges, edge_number, previous + 1);
            self.cells.push(scorer.make_cell(&row, edge_number, option));
        }
        if edge.mark_seen(&mut self.seen, row, column + 1) {
            let row = scorer.row(edges, edge_number, previous);
            self.cells.push(scorer.make_cell(&row, edge_number, option + 1));
        }
    }

    /// Scores the cells from `from` on. Recombines popped cells while it waits for memory.
    #[inline(always)]
    fn score_from<S: CellScorer>(&mut self, from: usize, edges: &[Edge], scorer: &mut S) {
        let (known, new) = self.cells.split_at_mut(from);
        let (recombination, num_recombined) = (&mut self.recombination, &mut self.num_recombined);
        let popped = &self.popped;
        scorer.score_cells(new, edges, || {
            let end = popped.len().min(*num_recombined + RECOMBINED_WHILE_WAITING);
            for &number in &popped[*num_recombined..end] {
                recombination.add(&known[number as usize], edges);
            }
            *num_recombined = end;
        });
    }

    /// Recombines the rest of the popped cells.
    fn recombine_rest(&mut self, edges: &[Edge]) {
        for &number in &self.popped[self.num_recombined..] {
            self.recombination.add(&self.cells[number as usize], edges);
        }
    }

    /// Whether a new cell belongs to the bucket that is being emptied, or to a better one;
    /// otherwise puts it into its bucket.
    #[inline(always)]
    fn joins_wave(&mut self, number: u32) -> bool {
        let cell = &mut self.cells[number as usize];
        let bucket = self.coarse.bucket_of(cell.future_score);
        if bucket > self.bucket {
            self.coarse.push(bucket, number, cell);
            return false;
        }
        let Some(current) = self.fine_bucket else { return true };
        let bucket = self.fine.bucket_of(cell.future_score);
        if bucket > current {
            self.fine.push(bucket, number, cell);
            return false;
        }
        true
    }
}

/// Returns a key for the heap: the best cell comes first, and of two equal cells the older one.
#[inline(always)]
fn heap_key(cell: &Cell, number: u32) -> u64 {
    u64::from(ordered_bits(cell.future_score)) << 32 | u64::from(!number)
}

/// Returns the name of a cell: hypothesis, option, edge.
#[inline(always)]
fn name(cell: &Cell) -> (u32, u32, u32) {
    (cell.previous, cell.option, cell.edge)
}

fn hash((previous, option, edge): (u32, u32, u32)) -> u64 {
    let key = (u64::from(previous) << 32 | u64::from(option)) ^ u64::from(edge) << 20;
    let product = u128::from(key) * 0x9e37_79b9_7f4a_7c15;
    (product ^ product >> 64) as u64
}
