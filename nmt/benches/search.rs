//! Search's own share of a step: 32 sentences of 25 words over a session that computes
//! next to nothing, less the same calls of that session without search. Time is that of
//! the thread: `cargo bench -p miriam-nmt --bench search`.

use std::io::Write;
use std::ops::Range;
use std::time::Duration;

use miriam_kernels::output::{Ids, take};
use miriam_kernels::{Cpu, Mat};
use miriam_nmt::batch::{Batching, Job, run};
use miriam_nmt::network::{Best, Row, Session, Slot};
use miriam_nmt::search::{Request, Rules, SearchOptions};
use nix::time::{ClockId, clock_gettime};

const SENTENCES: usize = 32;
const WORDS: usize = 25;
/// Logits that a row is chosen from: enough for every beam.
const LOGITS: usize = 16;

/// Offers each row the same few words.
struct Free {
    rows: usize,
    begun: u32,
    logits: Vec<f32>,
    cpu: Cpu,
}

impl Free {
    fn new() -> Self {
        // The end is the worst of all, so that only the limit ends sentences.
        let logits = (0..LOGITS).map(|at| (at * 7 % LOGITS) as f32 * 0.1).collect();
        Free { rows: 0, begun: 0, logits, cpu: Cpu::best() }
    }
}

impl Session for Free {
    fn words(&self) -> usize {
        LOGITS
    }

    fn begin(
        &mut self,
        sentences: &[&[u32]],
        _: Option<&[&[u32]]>,
    ) -> miriam_nmt::Result<Vec<Slot>> {
        let first = self.begun;
        self.begun += sentences.len() as u32;
        Ok((first..self.begun).map(Slot).collect())
    }

    fn finish(&mut self, _: Slot) {}

    fn step(&mut self, rows: &[Row]) {
        self.rows = rows.len();
    }

    fn best(&mut self, best: &mut [Best]) {
        for best in best {
            let logits = Mat::new(&self.logits, 1, LOGITS);
            take(self.cpu, logits, None, Ids::From(0), std::slice::from_mut(best));
        }
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        logits.clear();
        logits.resize(wanted.len(), 0.0);
    }

    fn outputs(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>) {
        logits.clear();
        rows.clone().for_each(|_| logits.extend_from_slice(&self.logits));
        normalisers.clear();
        normalisers.resize(rows.len(), 0.0);
    }

    fn distribution(&mut self, _: u32, scores: &mut Vec<f32>) {
        scores.clone_from(&self.logits);
    }

    fn keep_alignments(&mut self, _: bool) {}

    fn alignment(&self, _: u32) -> &[f32] {
        &[]
    }
}

fn options(beam: usize, rules: Rules) -> SearchOptions {
    SearchOptions {
        beam,
        n_best: 1,
        length_penalty: 0.6,
        word_penalty: 0.0,
        coverage_penalty: 0.0,
        max_length_factor: 1.0,
        max_length: 1000,
        min_length: 0,
        rules,
        patience: 1.0,
        early_stop: None,
        no_repeat_ngram: 0,
        repetition_penalty: 1.0,
        never: vec![1],
        end: 0,
        sampling: None,
        alignments: false,
        skip_cost: false,
    }
}

fn jobs() -> Vec<Job> {
    let mut source = vec![2; WORDS - 1];
    source.push(0);
    let request = Request { source, ..Request::default() };
    (0..SENTENCES as u64).map(|id| Job { id, request: request.clone() }).collect()
}

/// The least time of a hundred runs, for each word of each sentence.
fn time(mut run: impl FnMut()) -> Duration {
    let now = || -> Duration {
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every system has it").into()
    };
    let once = |_| {
        let before = now();
        run();
        now() - before
    };
    (0..100).map(once).min().unwrap_or_default() / (SENTENCES * WORDS) as u32
}

fn main() {
    let mut out = std::io::stdout();
    for (beam, rules) in
        [(1, Rules::Marian), (5, Rules::Marian), (12, Rules::Marian), (5, Rules::CTranslate2)]
    {
        let options = options(beam, rules);
        let batching = Batching { sentences: SENTENCES, ..Batching::default() };
        let all = time(|| {
            let mut jobs = Some(jobs());
            let mut next = || Ok(jobs.take());
            let mut done = |_, result: miriam_nmt::Result<Vec<_>>| result.map(|_| ());
            run(&mut Free::new(), &options, &batching, &mut next, &mut done)
                .expect("nothing can fail");
        });
        let most = beam + 1 + usize::from(rules == Rules::CTranslate2);
        let mut best: Vec<Best> = Vec::new();
        best.resize_with(SENTENCES * beam, || Best::new(most, true));
        let mut session = Free::new();
        let alone = time(|| {
            for _ in 0..WORDS {
                best.iter_mut().for_each(|best| best.reset(most, true));
                session.best(&mut best);
            }
        });
        let own = all.saturating_sub(alone);
        let _ = writeln!(
            out,
            "beam {beam:>2}, {rules:?}: {own:?} a sentence and step ({all:?} with the session)"
        );
    }
}
