//! A session over the layers of one model.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::Mat;
use miriam_kernels::topk::{ColumnIds, update_topk};

use super::{EncoderDecoder, HypothesisRow, Session, Slot, TopK};
use crate::engine::{Engine, OutputColumns, PooledTensor, Weights};
use crate::layer::Backend;
use crate::{Error, Result};

/// Layers, a thread's engine, and the sentences that are translated with them.
pub(super) struct EngineSession<F: EncoderDecoder<Engine>> {
    model: Arc<F>,
    vocab_limits: VocabLimits,
    engine: Engine,
    slots: SentenceSlots<F::EncodedSource>,
    state: F::State,
    /// What the output layer multiplies with.
    hidden: PooledTensor,
    keeps_alignments: bool,
    alignments: Vec<Vec<f32>>,
    normalisers: Vec<f32>,
}

/// Brings scores of `candidates` to their places among those of all `words`, where the
/// others have -infinity.
pub(super) fn scatter_scores(candidates: &[u32], words: usize, scores: &mut Vec<f32>) {
    let some = std::mem::take(scores);
    scores.resize(words, f32::NEG_INFINITY);
    for (&word, score) in candidates.iter().zip(some) {
        scores[word as usize] = score;
    }
}

/// Which words there are.
#[derive(Clone)]
pub(super) struct VocabLimits {
    pub source_vocab_size: usize,
    pub target_vocab_size: usize,
    /// The model, for messages.
    pub model_name: Arc<str>,
}

impl VocabLimits {
    pub(super) fn check_source_ids(&self, words: &[u32]) -> Result<()> {
        self.check_ids(words, self.source_vocab_size, "source")
    }

    pub(super) fn check_target_ids(&self, words: &[u32]) -> Result<()> {
        self.check_ids(words, self.target_vocab_size, "target")
    }

    fn check_ids(&self, words: &[u32], limit: usize, side: &str) -> Result<()> {
        match words.iter().find(|&&word| word as usize >= limit) {
            None => Ok(()),
            Some(word) => Err(Error::Mismatch {
                file: self.model_name.to_string(),
                place: format!("{side} vocabulary"),
                reason: format!("it has {limit} words, so there is no word {word}"),
            }),
        }
    }
}

/// A sentence that has begun.
struct ActiveSentence<S> {
    source: S,
    candidates: Option<CandidateColumns>,
}

/// The only words to choose from, and their columns of the output layer.
struct CandidateColumns {
    tokens: Vec<u32>,
    weights: Weights,
}

/// Sentences by their slots, and those of the step.
struct SentenceSlots<S> {
    slots: Vec<Option<ActiveSentence<S>>>,
    free: Vec<u32>,
    /// The sentence of each row of the step.
    rows: Vec<Slot>,
}

impl<S> SentenceSlots<S> {
    fn add(&mut self, sentence: ActiveSentence<S>) -> Slot {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(sentence),
            None => self.slots.push(Some(sentence)),
        }
        Slot(slot)
    }

    fn sentence(&self, slot: Slot) -> &ActiveSentence<S> {
        let sentence = self.slots.get(slot.0 as usize).and_then(Option::as_ref);
        sentence.unwrap_or_else(|| panic!("sentence {} is not under translation", slot.0))
    }

    fn candidates(&self, row: usize) -> Option<&CandidateColumns> {
        self.sentence(self.rows[row]).candidates.as_ref()
    }

    /// The rows from `first` on that share an output layer: those of one sentence with
    /// candidates, or of all sentences without.
    fn rows_sharing_output(&self, first: usize) -> Range<usize> {
        let limited = self.candidates(first).is_some();
        let same = |&row: &usize| match limited {
            true => self.rows[row] == self.rows[first],
            false => self.candidates(row).is_none(),
        };
        first..first + (first..self.rows.len()).take_while(same).count()
    }
}

impl<F: EncoderDecoder<Engine>> EngineSession<F> {
    pub(super) fn new(model: Arc<F>, vocab_limits: VocabLimits, mut engine: Engine) -> Self {
        let state = model.start_state(&mut engine);
        let hidden = engine.zeros(0, 0);
        let slots = SentenceSlots { slots: Vec::new(), free: Vec::new(), rows: Vec::new() };
        let alignments = Vec::new();
        EngineSession {
            model,
            vocab_limits,
            engine,
            slots,
            state,
            hidden,
            keeps_alignments: false,
            alignments,
            normalisers: Vec::new(),
        }
    }
}

impl<F: EncoderDecoder<Engine>> Session for EngineSession<F> {
    fn vocab_size(&self) -> usize {
        self.vocab_limits.target_vocab_size
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(candidates.is_none_or(|lists| lists.len() == sentences.len()), "a list for each");
        sentences.iter().try_for_each(|words| self.vocab_limits.check_source_ids(words))?;
        let lists = candidates.unwrap_or_default();
        lists.iter().try_for_each(|words| self.vocab_limits.check_target_ids(words))?;
        let sources = self.model.encode(&mut self.engine, sentences)?;
        let slots = sources.into_iter().enumerate().map(|(index, source)| {
            let candidates = candidates.map(|lists| CandidateColumns {
                tokens: lists[index].to_vec(),
                weights: self.model.output_weights().select_columns(lists[index]),
            });
            self.slots.add(ActiveSentence { source, candidates })
        });
        Ok(slots.collect())
    }

    fn finish(&mut self, slot: Slot) {
        self.slots.sentence(slot);
        self.slots.slots[slot.0 as usize] = None;
        self.slots.free.push(slot.0);
    }

    fn step(&mut self, rows: &[HypothesisRow]) {
        let before = &self.slots.rows;
        for row in rows {
            let parent = row.parent.map(|parent| before.get(parent as usize).copied());
            assert!(parent.is_none_or(|slot| slot == Some(row.slot)), "{row:?} has no such parent");
            let word = row.token.unwrap_or(0);
            assert!(
                (word as usize) < self.vocab_limits.target_vocab_size,
                "there is no word {word}"
            );
        }
        self.slots.rows.clear();
        self.slots.rows.extend(rows.iter().map(|row| row.slot));
        let sources: Vec<&F::EncodedSource> =
            rows.iter().map(|row| &self.slots.sentence(row.slot).source).collect();
        self.alignments.clear();
        let alignments = self.keeps_alignments.then_some(&mut self.alignments);
        let (engine, state) = (&mut self.engine, &mut self.state);
        self.hidden = self.model.step(engine, state, rows, &sources, alignments);
    }

    fn topk(&mut self, best: &mut [TopK]) {
        let sentences = &self.slots;
        assert_eq!(best.len(), sentences.rows.len(), "one for each row");
        best.iter_mut().for_each(TopK::clear);
        let mut first = 0;
        while first < best.len() {
            let run = sentences.rows_sharing_output(first);
            let (weights, columns) = match sentences.candidates(first) {
                Some(limited) => (&limited.weights, OutputColumns::Tokens(&limited.tokens)),
                None => (&**self.model.output_weights(), OutputColumns::All),
            };
            first = run.end;
            self.engine.topk(&self.hidden, run.clone(), weights, columns, &mut best[run]);
        }
    }

    fn token_logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        logits.clear();
        for &(row, word) in wanted {
            assert!((row as usize) < self.slots.rows.len(), "there is no row {row}");
            let candidates = self.slots.candidates(row as usize);
            if candidates.is_none_or(|limited| limited.tokens.binary_search(&word).is_ok()) {
                logits.push(0.0);
            } else {
                logits.push(f32::NEG_INFINITY);
            }
        }
        let (engine, output) = (&mut self.engine, self.model.output_weights());
        engine.gather_logits(&self.hidden, wanted, output, logits);
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        normalisers: &mut Vec<f32>,
    ) {
        normalisers.clear();
        logits.clear();
        if rows.is_empty() {
            return;
        }
        let of_first = self.slots.rows_sharing_output(rows.start);
        assert!(rows.end <= of_first.end, "rows {rows:?} have other candidates");
        let candidates = self.slots.candidates(rows.start);
        let weights = candidates.map_or(&**self.model.output_weights(), |limited| &limited.weights);
        self.engine.compute_logits(&self.hidden, rows.clone(), weights, logits);
        let mut all = vec![TopK::new(0, true); rows.len()];
        let made = Mat::new(logits, rows.len(), weights.columns());
        update_topk(self.engine.cpu(), made, None, ColumnIds::Consecutive(0), &mut all);
        normalisers.extend(all.iter().map(TopK::log_normaliser));
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) {
        let row = row as usize;
        let mut normalisers = std::mem::take(&mut self.normalisers);
        self.row_logits(row..row + 1, scores, &mut normalisers);
        scores.iter_mut().for_each(|logit| *logit -= normalisers[0]);
        self.normalisers = normalisers;
        if let Some(limited) = self.slots.candidates(row) {
            scatter_scores(&limited.tokens, self.vocab_limits.target_vocab_size, scores);
        }
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.keeps_alignments = keep;
    }

    fn alignment(&self, row: u32) -> &[f32] {
        assert!(self.keeps_alignments, "alignments are not kept");
        &self.alignments[row as usize]
    }
}

/// A session over one model, whatever its family. One a thread.
pub struct ModelSession(Box<dyn Session>);

impl ModelSession {
    pub(super) fn new<F: EncoderDecoder<Engine> + 'static>(
        model: &Arc<F>,
        limits: VocabLimits,
        engine: Engine,
    ) -> Self {
        ModelSession(Box::new(EngineSession::new(Arc::clone(model), limits, engine)))
    }
}

impl Session for ModelSession {
    fn vocab_size(&self) -> usize {
        self.0.vocab_size()
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.0.begin(sentences, candidates)
    }

    fn finish(&mut self, slot: Slot) {
        self.0.finish(slot);
    }

    fn step(&mut self, rows: &[HypothesisRow]) {
        self.0.step(rows);
    }

    fn topk(&mut self, best: &mut [TopK]) {
        self.0.topk(best);
    }

    fn token_logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        self.0.token_logits(wanted, logits);
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        normalisers: &mut Vec<f32>,
    ) {
        self.0.row_logits(rows, logits, normalisers);
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) {
        self.0.log_probabilities(row, scores);
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.0.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.0.alignment(row)
    }
}
