//! Sessions and scorers on a device that continue on the CPU when the device fails: when its memory
//! is full or it is lost.
//!
//! A session remembers the sentences under translation and the tokens of each hypothesis. When the
//! device fails, a session on the CPU encodes the sentences again and repeats the steps, so the
//! search notices nothing. A device that is lost is not used again, since no call to it would
//! succeed. A device whose memory is full is used again when all sentences have finished, but for
//! half as many sentences at once. For each model, the log says once that its device is lost, and
//! once that its memory was full.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::warn;

use super::{HypothesisRow, Network, SequenceScorer, Session, SharedModel, Slot, TopK};
use crate::{Error, Result};

/// Loads a model on the CPU.
type LoadOnCpu = Box<dyn Fn() -> Result<Network> + Send + Sync>;

/// The same model on a device and on the CPU.
pub(super) struct FallbackNetwork {
    device: Network,
    load_on_cpu: LoadOnCpu,
    /// The model on the CPU, once the device has failed.
    cpu: Mutex<Option<Network>>,
    /// Whether the device has failed for a reason other than full memory.
    is_lost: AtomicBool,
    /// The largest number of sentences that the device is given at once.
    max_sentences: AtomicUsize,
}

impl FallbackNetwork {
    pub fn new(device: Network, load_on_cpu: LoadOnCpu) -> Self {
        FallbackNetwork {
            device,
            load_on_cpu,
            cpu: Mutex::new(None),
            is_lost: AtomicBool::new(false),
            max_sentences: AtomicUsize::new(usize::MAX),
        }
    }

    fn on_cpu(&self) -> Result<Network> {
        let mut cpu = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(network) = &*cpu {
            return Ok(network.clone());
        }
        Ok(cpu.insert((self.load_on_cpu)()?).clone())
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn max_sentences(&self) -> usize {
        self.max_sentences.load(Ordering::Relaxed)
    }

    /// Records that the device failed with a batch of `sentences` sentences, and logs the first
    /// failure. `limit` is the largest number of sentences that was allowed when the batch began.
    fn record_failure(&self, error: &Error, sentences: usize, limit: usize) {
        if matches!(error, Error::DeviceMemory { .. }) {
            let half = (limit.min(sentences) / 2).max(1);
            // Threads that fill the memory together lower the limit only once.
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            let before = self.max_sentences.compare_exchange(limit, half, success, failure);
            if before == Ok(usize::MAX) {
                warn!(
                    "{error}; sentences that have no room continue on the CPU, and batches become \
                     smaller"
                );
            }
        } else if !self.is_lost.swap(true, Ordering::Relaxed) {
            warn!("{error}; all sentences continue on the CPU");
        }
    }
}

impl SharedModel for FallbackNetwork {
    fn session(self: Arc<Self>) -> Result<Box<dyn Session>> {
        let is_on_cpu = self.is_lost();
        let network = if is_on_cpu { self.on_cpu()? } else { self.device.clone() };
        let session = network.session()?;
        Ok(Box::new(FallbackSession::new(self, session, is_on_cpu)))
    }

    fn scorer(self: Arc<Self>) -> Result<Box<dyn SequenceScorer>> {
        let on_device = if self.is_lost() { None } else { Some(self.device.scorer()?) };
        Ok(Box::new(FallbackScorer { network: self, on_device, on_cpu: None }))
    }
}

/// A sentence under translation.
struct ActiveSentence {
    /// Its slot in the session that translates it now.
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

/// A session on a device, or on the CPU after the device has failed.
struct FallbackSession {
    network: Arc<FallbackNetwork>,
    session: Box<dyn Session>,
    is_on_cpu: bool,
    slots: Vec<Option<ActiveSentence>>,
    /// The rows of the last step, including those of finished sentences.
    rows: Vec<History>,
    /// For each row of the last step, its row in `session`; `None` if all numbers are the same.
    inner_rows: Option<Vec<Option<u32>>>,
    keeps_alignments: bool,
    /// The largest number of sentences for the device at the last call of `begin`.
    limit: usize,
}

fn is_device_failure(error: &Error) -> bool {
    matches!(error, Error::Device { .. } | Error::DeviceMemory { .. })
}

impl FallbackSession {
    fn new(network: Arc<FallbackNetwork>, session: Box<dyn Session>, is_on_cpu: bool) -> Self {
        FallbackSession {
            network,
            session,
            is_on_cpu,
            slots: Vec::new(),
            rows: Vec::new(),
            inner_rows: None,
            keeps_alignments: false,
            limit: usize::MAX,
        }
    }

    /// Runs an operation; if the device fails, repeats it on the CPU. `new_sentences` is the number
    /// of sentences that the operation begins.
    fn run<R>(
        &mut self,
        new_sentences: usize,
        mut operation: impl FnMut(&mut Self) -> Result<R>,
    ) -> Result<R> {
        match operation(self) {
            Err(error) if is_device_failure(&error) && !self.is_on_cpu => {
                let sentences = self.active_sentences() + new_sentences;
                self.network.record_failure(&error, sentences, self.limit);
                self.move_to_cpu()?;
                operation(self)
            }
            outcome => outcome,
        }
    }

    fn active_sentences(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Moves all sentences and hypotheses to a session on the CPU.
    fn move_to_cpu(&mut self) -> Result<()> {
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
        self.inner_rows = if before.len() == self.rows.len() {
            None
        } else {
            Some((0..self.rows.len()).map(row_of).collect())
        };
        Ok(())
    }

    fn inner_slot(&self, slot: Slot) -> Slot {
        let sentence = self.slots[slot.0 as usize].as_ref();
        sentence.expect("a sentence under translation").inner
    }

    /// Returns the row in `session` that corresponds to row `row` of the last step.
    fn inner_row(&self, row: u32) -> Option<u32> {
        self.inner_rows.as_ref().map_or(Some(row), |rows| rows[row as usize])
    }

    /// Tries the device again when no sentence is under translation.
    fn return_to_device(&mut self) {
        if self.is_on_cpu && !self.network.is_lost() && self.active_sentences() == 0 {
            match self.network.device.session() {
                Ok(session) => {
                    self.session = session;
                    self.session.keep_alignments(self.keeps_alignments);
                    self.is_on_cpu = false;
                    self.rows.clear();
                    self.inner_rows = None;
                }
                // The memory may be full only for a while.
                Err(Error::DeviceMemory { .. }) => {}
                Err(error) => self.network.record_failure(&error, 0, self.limit),
            }
        }
    }
}

impl Session for FallbackSession {
    fn vocab_size(&self) -> usize {
        self.session.vocab_size()
    }

    /// While sentences that had no room on the device finish on the CPU, no sentence joins them, so
    /// that the next batch can try the device again.
    fn max_sentences(&self) -> usize {
        let active = self.active_sentences();
        if self.network.is_lost() {
            usize::MAX
        } else if self.is_on_cpu && active > 0 {
            active
        } else {
            self.network.max_sentences()
        }
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.return_to_device();
        self.limit = self.network.max_sentences();
        let inner = self.run(sentences.len(), |this| this.session.begin(sentences, candidates))?;
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
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        let histories = rows.iter().map(|row| {
            let before = row.parent.map_or(&[][..], |parent| &self.rows[parent as usize].tokens);
            let tokens = before.iter().copied().chain([row.token]).collect();
            History { slot: row.slot, tokens, is_finished: false }
        });
        let histories: Vec<History> = histories.collect();
        self.run(0, |this| {
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
        self.run(0, |this| this.session.topk(best))
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        self.run(0, |this| this.session.token_logits(pairs, logits))
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        self.run(0, |this| this.session.row_logits(rows.clone(), logits, log_normalizers))
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        self.run(0, |this| this.session.log_probabilities(row, scores))
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.keeps_alignments = keep;
        self.session.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.session.alignment(row)
    }
}

/// A scorer on a device. The CPU scores pairs that have no room on the device even by themselves,
/// and all pairs once the device is lost.
struct FallbackScorer {
    network: Arc<FallbackNetwork>,
    /// `None` once the device is lost.
    on_device: Option<Box<dyn SequenceScorer>>,
    on_cpu: Option<Box<dyn SequenceScorer>>,
}

impl FallbackScorer {
    fn score_on_cpu(&mut self, sources: &[&[u32]], targets: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        let scorer = match &mut self.on_cpu {
            Some(scorer) => scorer,
            empty => empty.insert(self.network.on_cpu()?.scorer()?),
        };
        scorer.score(sources, targets)
    }
}

impl SequenceScorer for FallbackScorer {
    fn score(&mut self, sources: &[&[u32]], targets: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        assert_eq!(sources.len(), targets.len(), "a target for each source");
        let mut scores = Vec::with_capacity(sources.len());
        // The limit for this call alone, since one long pair may have no room even by itself.
        let mut own_limit = usize::MAX;
        while scores.len() < sources.len() {
            let (sources, targets) = (&sources[scores.len()..], &targets[scores.len()..]);
            let Some(scorer) = self.on_device.as_mut().filter(|_| !self.network.is_lost()) else {
                self.on_device = None;
                scores.extend(self.score_on_cpu(sources, targets)?);
                break;
            };
            let limit = self.network.max_sentences();
            let count = sources.len().min(limit).min(own_limit);
            let (sources, targets) = (&sources[..count], &targets[..count]);
            match scorer.score(sources, targets) {
                Err(error) if is_device_failure(&error) => {
                    let is_first = own_limit == usize::MAX;
                    if is_first || !matches!(error, Error::DeviceMemory { .. }) {
                        self.network.record_failure(&error, count, limit);
                    }
                    own_limit = (count / 2).max(1);
                    if count == 1 {
                        scores.extend(self.score_on_cpu(sources, targets)?);
                    }
                }
                outcome => scores.extend(outcome?),
            }
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests;
