//! Allocations of the search, counted: once a session is warm, the search allocates nothing in a
//! step, and the layers make a few short lists but no matrix (Devlin 2017, section 3).
//!
//! This is a test binary of its own, because its allocator counts allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

use miriam_nmt::batch::{BatchingOptions, Job, JobList, translate_batches};
use miriam_nmt::engine::Precision;
use miriam_nmt::network::{HypothesisRow, Network, Session, Slot, TopK};
use miriam_nmt::search::{Request, SearchOptions};
use miriam_nmt::{ModelBundle, Result};

thread_local! {
    /// The number of allocations of this thread.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The allocator of the system, which also counts the allocations of each thread.
struct CountingAllocator;

// SAFETY: all memory is that of `System`, and counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller meets the conditions of this function, which are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller meets the conditions of this function, which are those of `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A session that counts the allocations of the model.
struct CountingSession {
    session: Box<dyn Session>,
    allocations: u64,
}

impl CountingSession {
    fn count<T>(&mut self, call: impl FnOnce(&mut dyn Session) -> T) -> T {
        let before = ALLOCATIONS.get();
        let result = call(&mut *self.session);
        self.allocations += ALLOCATIONS.get() - before;
        result
    }
}

impl Session for CountingSession {
    fn vocab_size(&self) -> usize {
        self.session.vocab_size()
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.count(|session| session.begin(sentences, candidates))
    }

    fn finish(&mut self, slot: Slot) {
        self.count(|session| session.finish(slot));
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        self.count(|session| session.step(rows))
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        self.count(|session| session.topk(best))
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        self.count(|session| session.token_logits(pairs, logits))
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        self.count(|session| session.row_logits(rows, logits, log_normalizers))
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        self.count(|session| session.log_probabilities(row, scores))
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.session.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.session.alignment(row)
    }
}

/// Translates a sentence to `length` tokens. Returns the allocations of the search and of the
/// model.
fn count_allocations(session: &mut CountingSession, beam_size: usize, length: usize) -> [u64; 2] {
    let options = SearchOptions {
        beam_size,
        min_length: length,
        max_length: length,
        ..SearchOptions::default()
    };
    let request = Request { source: vec![2, 3, 4, 0], ..Request::default() };
    let mut jobs = JobList::new([Job { id: 0, request }]);
    let before = ALLOCATIONS.get();
    session.allocations = 0;
    translate_batches(session, &options, &BatchingOptions::default(), &mut jobs).unwrap();
    let all = ALLOCATIONS.get() - before;
    let translations = jobs.results.remove(&0).unwrap().unwrap();
    assert_eq!(translations[0].tokens.len(), length);
    [all - session.allocations, session.allocations]
}

/// The number of steps by which the longer of two translations exceeds the shorter one.
const STEPS: u64 = 64;

/// The number of extra allocations that the longer translation may make, whatever its length, for
/// vectors that double their capacity.
const GROWTH: u64 = 16;

/// Checks that a step of the search allocates nothing, and a step of the model at most `lists`.
fn check(path: &str, lists: u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let bundle = ModelBundle::open(&path, None).unwrap();
    let network = Network::load(&bundle.models[0], &bundle.path, Precision::F32).unwrap();
    for beam_size in [1, 4] {
        let mut session = CountingSession { session: network.session().unwrap(), allocations: 0 };
        let [short, long] = [STEPS as usize, 2 * STEPS as usize];
        for _ in 0..3 {
            count_allocations(&mut session, beam_size, long);
        }
        let [search, model] = count_allocations(&mut session, beam_size, short);
        let [long_search, long_model] = count_allocations(&mut session, beam_size, long);
        let place = format!("{}, beam {beam_size}", path.display());
        assert!(long_search <= search + GROWTH, "{place}: {search}, {long_search}");
        let most = model + STEPS * lists + GROWTH;
        assert!(long_model <= most, "{place}: {model}, {long_model}, at most {most}");
    }
}

/// A step makes three lists: the source of each row, groups of rows with the same keys, and groups
/// of rows with the same output layer. Each layer makes one more, the histories of rows.
#[test]
fn transformers_allocate_a_list_for_each_layer_and_three_more() {
    check("testdata/tiny.npz", 3 + 1);
    check("../examples/toy-neural", 3 + 2);
}

/// The lists have parents, tokens, states and groups of sources. The model has two layers above its
/// cell.
#[test]
fn a_stacked_recurrent_model_allocates_at_most_13_lists() {
    check("testdata/stacked-gru.npz", 13);
}
