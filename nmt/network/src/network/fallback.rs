//! Sessions and scorers on a device that continue on the CPU when the device fails: when its memory
//! is full or it is lost.
//!
//! A session remembers the sentences under translation and the tokens of each hypothesis. When the
//! device fails, a session on the CPU encodes the sentences again and repeats the steps, so the
//! search notices nothing. When no sentence is left, the device is tried again, unless it failed
//! several times in a row.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::warn;

use super::{HypothesisRow, Network, SequenceScorer, Session, SharedModel, Slot, TopK};
use crate::{Error, Result};

/// The failures in a row after which a device is not tried again.
const MAX_FAILURES: usize = 3;

/// Loads a model on the CPU.
type LoadOnCpu = Box<dyn Fn() -> Result<Network> + Send + Sync>;

/// The same model on a device and on the CPU.
pub(super) struct FallbackNetwork {
    device: Network,
    load_on_cpu: LoadOnCpu,
    /// The model on the CPU, once the device has failed.
    cpu: Mutex<Option<Network>>,
}

impl FallbackNetwork {
    pub fn new(device: Network, load_on_cpu: LoadOnCpu) -> Self {
        FallbackNetwork { device, load_on_cpu, cpu: Mutex::new(None) }
    }

    fn on_cpu(&self) -> Result<Network> {
        let mut cpu = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(network) = &*cpu {
            return Ok(network.clone());
        }
        Ok(cpu.insert((self.load_on_cpu)()?).clone())
    }
}

impl SharedModel for FallbackNetwork {
    fn session(self: Arc<Self>) -> Result<Box<dyn Session>> {
        let session = self.device.session()?;
        Ok(Box::new(FallbackSession::new(self, session)))
    }

    fn scorer(self: Arc<Self>) -> Result<Box<dyn SequenceScorer>> {
        let scorer = self.device.scorer()?;
        Ok(Box::new(FallbackScorer { network: self, scorer, is_on_cpu: false }))
    }
}

/// A sentence under translation.
struct ActiveSentence {
    /// Its slot in the present session.
    inner: Slot,
    tokens: Vec<u32>,
    candidates: Option<Vec<u32>>,
}

/// A hypothesis of the last step: its sentence, and the token of each step.
struct History {
    slot: Slot,
    tokens: Vec<Option<u32>>,
    /// Whether its sentence is finished.
    is_finished: bool,
}

/// A session on a device, or on the CPU since the device failed.
struct FallbackSession {
    network: Arc<FallbackNetwork>,
    session: Box<dyn Session>,
    is_on_cpu: bool,
    /// Failures since a batch was translated on the device.
    failures: usize,
    slots: Vec<Option<ActiveSentence>>,
    /// The rows of the last step, those of finished sentences among them.
    rows: Vec<History>,
    /// The row of the present session for each row of the last step, if the numbers differ.
    inner_rows: Option<Vec<Option<u32>>>,
    keeps_alignments: bool,
}

fn is_device_failure(error: &Error) -> bool {
    matches!(error, Error::Device { .. })
}

impl FallbackSession {
    fn new(network: Arc<FallbackNetwork>, session: Box<dyn Session>) -> Self {
        FallbackSession {
            network,
            session,
            is_on_cpu: false,
            failures: 0,
            slots: Vec::new(),
            rows: Vec::new(),
            inner_rows: None,
            keeps_alignments: false,
        }
    }

    /// Runs an operation; if the device fails, again on the CPU.
    fn run<R>(&mut self, mut operation: impl FnMut(&mut Self) -> Result<R>) -> Result<R> {
        match operation(self) {
            Err(error) if is_device_failure(&error) && !self.is_on_cpu => {
                self.move_to_cpu(&error)?;
                operation(self)
            }
            outcome => outcome,
        }
    }

    /// Moves all sentences and hypotheses to a session on the CPU.
    fn move_to_cpu(&mut self, error: &Error) -> Result<()> {
        warn!("{error}; its sentences continue on the CPU");
        self.failures += 1;
        if self.failures == MAX_FAILURES {
            warn!("the device has failed {MAX_FAILURES} times in a row and is not used again");
        }
        let mut session = self.network.on_cpu()?.session()?;
        session.keep_alignments(self.keeps_alignments);
        let mut slots = Vec::new();
        for sentence in self.slots.iter().flatten() {
            let candidates = sentence.candidates.as_deref().map(|list| [list]);
            let lists = candidates.as_ref().map(|lists| &lists[..]);
            slots.extend(session.begin(&[&sentence.tokens], lists)?);
        }
        for (sentence, slot) in self.slots.iter_mut().flatten().zip(slots) {
            sentence.inner = slot;
        }
        self.session = session;
        self.is_on_cpu = true;
        self.replay()
    }

    /// Repeats the steps of all hypotheses. Shorter ones begin later, so that all end together.
    fn replay(&mut self) -> Result<()> {
        let steps = self.rows.iter().map(|row| row.tokens.len()).max().unwrap_or(0);
        let mut before: Vec<usize> = Vec::new();
        for step in 0..steps {
            let mut active = Vec::new();
            let mut rows = Vec::new();
            let unfinished = self.rows.iter().enumerate().filter(|(_, row)| !row.is_finished);
            for (index, history) in unfinished {
                let Some(place) = (step + history.tokens.len()).checked_sub(steps) else {
                    continue;
                };
                let parent = before.binary_search(&index).ok().map(|row| row as u32);
                let slot = self.inner_slot(history.slot);
                rows.push(HypothesisRow { slot, parent, token: history.tokens[place] });
                active.push(index);
            }
            self.session.step(&rows)?;
            before = active;
        }
        let row_of = |index| before.binary_search(&index).ok().map(|row| row as u32);
        self.inner_rows = Some((0..self.rows.len()).map(row_of).collect());
        Ok(())
    }

    fn inner_slot(&self, slot: Slot) -> Slot {
        let sentence = self.slots[slot.0 as usize].as_ref();
        sentence.expect("a sentence under translation").inner
    }

    /// Returns the row of the present session that is row `row` of the last step.
    fn inner_row(&self, row: u32) -> Option<u32> {
        self.inner_rows.as_ref().map_or(Some(row), |rows| rows[row as usize])
    }

    /// Tries the device again when nothing is under translation.
    fn return_to_device(&mut self) {
        let is_idle = self.slots.iter().all(Option::is_none);
        if self.is_on_cpu && is_idle && self.failures < MAX_FAILURES {
            match self.network.device.session() {
                Ok(session) => {
                    self.session = session;
                    self.session.keep_alignments(self.keeps_alignments);
                    self.is_on_cpu = false;
                    self.rows.clear();
                    self.inner_rows = None;
                }
                Err(error) => {
                    warn!("{error}; the device is not used again");
                    self.failures = MAX_FAILURES;
                }
            }
        }
    }
}

impl Session for FallbackSession {
    fn vocab_size(&self) -> usize {
        self.session.vocab_size()
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.return_to_device();
        let inner = self.run(|this| this.session.begin(sentences, candidates))?;
        let begun = inner.into_iter().zip(sentences).enumerate().map(|(index, (inner, tokens))| {
            let candidates = candidates.map(|lists| lists[index].to_vec());
            let sentence = ActiveSentence { inner, tokens: tokens.to_vec(), candidates };
            let free = self.slots.iter().position(Option::is_none);
            let slot = free.unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() - 1
            });
            self.slots[slot] = Some(sentence);
            Slot(slot as u32)
        });
        Ok(begun.collect())
    }

    fn finish(&mut self, slot: Slot) {
        let inner = self.inner_slot(slot);
        self.session.finish(inner);
        self.slots[slot.0 as usize] = None;
        for row in self.rows.iter_mut().filter(|row| row.slot == slot && !row.is_finished) {
            row.is_finished = true;
            row.tokens.clear();
        }
        if !self.is_on_cpu && self.slots.iter().all(Option::is_none) {
            self.failures = 0;
        }
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        let histories = rows.iter().map(|row| {
            let before = row.parent.map_or(&[][..], |parent| &self.rows[parent as usize].tokens);
            let tokens = before.iter().copied().chain([row.token]).collect();
            History { slot: row.slot, tokens, is_finished: false }
        });
        let histories: Vec<History> = histories.collect();
        self.run(|this| {
            let inner = rows
                .iter()
                .map(|row| HypothesisRow {
                    slot: this.inner_slot(row.slot),
                    parent: row.parent.and_then(|parent| this.inner_row(parent)),
                    token: row.token,
                })
                .collect::<Vec<_>>();
            this.session.step(&inner)
        })?;
        self.rows = histories;
        self.inner_rows = None;
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        assert!(self.inner_rows.is_none(), "rows are those of the last step");
        self.run(|this| this.session.topk(best))
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        self.run(|this| this.session.token_logits(pairs, logits))
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        self.run(|this| this.session.row_logits(rows.clone(), logits, log_normalizers))
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        self.run(|this| this.session.log_probabilities(row, scores))
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.keeps_alignments = keep;
        self.session.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.session.alignment(row)
    }
}

/// A scorer on a device, or on the CPU since the device failed.
struct FallbackScorer {
    network: Arc<FallbackNetwork>,
    scorer: Box<dyn SequenceScorer>,
    is_on_cpu: bool,
}

impl SequenceScorer for FallbackScorer {
    fn score(&mut self, sources: &[&[u32]], targets: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        match self.scorer.score(sources, targets) {
            Err(error) if is_device_failure(&error) && !self.is_on_cpu => {
                warn!("{error}; translations are scored on the CPU from now on");
                self.scorer = self.network.on_cpu()?.scorer()?;
                self.is_on_cpu = true;
                self.scorer.score(sources, targets)
            }
            outcome => outcome,
        }
    }
}
