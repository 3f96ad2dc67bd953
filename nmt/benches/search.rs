//! Benchmark of the cost of search per step. It translates 32 sentences of 25 tokens with a session
//! that computes almost nothing, and subtracts the time of the session's `topk`. Times are CPU
//! times of the thread. Run with `cargo bench -p miriam-nmt --bench search`.

use std::io::Write;
use std::ops::Range;
use std::time::Duration;

use miriam_kernels::topk::{ColumnIds, update_topk};
use miriam_kernels::{Cpu, MatRef};
use miriam_nmt::batch::{BatchingOptions, Job, JobList, translate_batches};
use miriam_nmt::network::{HypothesisRow, Session, Slot, TopK};
use miriam_nmt::search::{DecodingSemantics, Request, SearchOptions};
use nix::time::{ClockId, clock_gettime};

const SENTENCES: usize = 32;
const SENTENCE_LENGTH: usize = 25;
/// The number of logits in a row, enough for every beam.
const VOCABULARY_SIZE: usize = 16;

/// A session with the same few candidates for every row.
struct FixedSession {
    rows: usize,
    next_slot: u32,
    logits: Vec<f32>,
    cpu: Cpu,
}

impl FixedSession {
    fn new() -> Self {
        // EOS has the lowest logit, so that only the maximum length ends sentences.
        let logits =
            (0..VOCABULARY_SIZE).map(|at| (at * 7 % VOCABULARY_SIZE) as f32 * 0.1).collect();
        FixedSession { rows: 0, next_slot: 0, logits, cpu: Cpu::detect() }
    }
}

impl Session for FixedSession {
    fn vocab_size(&self) -> usize {
        VOCABULARY_SIZE
    }

    fn begin(
        &mut self,
        sentences: &[&[u32]],
        _: Option<&[&[u32]]>,
    ) -> miriam_nmt::Result<Vec<Slot>> {
        let first = self.next_slot;
        self.next_slot += sentences.len() as u32;
        Ok((first..self.next_slot).map(Slot).collect())
    }

    fn finish(&mut self, _: Slot) {}

    fn step(&mut self, rows: &[HypothesisRow]) -> miriam_nmt::Result<()> {
        self.rows = rows.len();
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> miriam_nmt::Result<()> {
        for best in best {
            let logits = MatRef::new(&self.logits, 1, VOCABULARY_SIZE);
            update_topk(
                self.cpu,
                logits,
                None,
                ColumnIds::Consecutive(0),
                std::slice::from_mut(best),
            );
        }
        Ok(())
    }

    fn token_logits(
        &mut self,
        pairs: &[(u32, u32)],
        logits: &mut Vec<f32>,
    ) -> miriam_nmt::Result<()> {
        logits.clear();
        logits.resize(pairs.len(), 0.0);
        Ok(())
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> miriam_nmt::Result<()> {
        logits.clear();
        rows.clone().for_each(|_| logits.extend_from_slice(&self.logits));
        log_normalizers.clear();
        log_normalizers.resize(rows.len(), 0.0);
        Ok(())
    }

    fn log_probabilities(&mut self, _: u32, scores: &mut Vec<f32>) -> miriam_nmt::Result<()> {
        scores.clone_from(&self.logits);
        Ok(())
    }

    fn keep_alignments(&mut self, _: bool) {}

    fn alignment(&self, _: u32) -> &[f32] {
        &[]
    }
}

fn options(beam: usize, rules: DecodingSemantics) -> SearchOptions {
    SearchOptions {
        beam_size: beam,
        length_penalty: 0.6,
        max_length_factor: 1.0,
        max_length: 1000,
        semantics: rules,
        suppress_tokens: vec![1],
        ..SearchOptions::default()
    }
}

fn make_jobs() -> Vec<Job> {
    let mut source = vec![2; SENTENCE_LENGTH - 1];
    source.push(0);
    let request = Request { source, ..Request::default() };
    (0..SENTENCES as u64).map(|id| Job { id, request: request.clone() }).collect()
}

/// Returns the shortest time of a hundred runs, divided by the number of source tokens.
fn time_per_token(mut run: impl FnMut()) -> Duration {
    let now = || -> Duration {
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every system has it").into()
    };
    let once = |_| {
        let before = now();
        run();
        now() - before
    };
    (0..100).map(once).min().unwrap_or_default() / (SENTENCES * SENTENCE_LENGTH) as u32
}

fn main() {
    let mut out = std::io::stdout();
    for (beam, rules) in [
        (1, DecodingSemantics::Marian),
        (5, DecodingSemantics::Marian),
        (12, DecodingSemantics::Marian),
        (5, DecodingSemantics::CTranslate2),
    ] {
        let options = options(beam, rules);
        let batching = BatchingOptions { max_sentences: SENTENCES, ..BatchingOptions::default() };
        let all = time_per_token(|| {
            let mut jobs = JobList::new(make_jobs());
            translate_batches(&mut FixedSession::new(), &options, &batching, &mut jobs)
                .expect("nothing can fail");
        });
        let most = beam + 1 + usize::from(rules == DecodingSemantics::CTranslate2);
        let mut best: Vec<TopK> = Vec::new();
        best.resize_with(SENTENCES * beam, || TopK::new(most, true));
        let mut session = FixedSession::new();
        let alone = time_per_token(|| {
            for _ in 0..SENTENCE_LENGTH {
                best.iter_mut().for_each(|best| best.reset(most, true));
                session.topk(&mut best).expect("nothing can fail");
            }
        });
        let own = all.saturating_sub(alone);
        let _ = writeln!(
            out,
            "beam {beam:>2}, {rules:?}: {own:?} per sentence and step ({all:?} with the session)"
        );
    }
}
