//! A session over the layers of one model.

use std::ops::Range;
use std::sync::Arc;

use super::{EncoderDecoder, LoadedModel, Session};
use crate::layer::{
    Backend, DecodingOps, Device, HypothesisRow, OutputColumns, OutputGroup, OutputOps, Slot, TopK,
};
use crate::{Error, Result};

/// The layers of a model, a thread's backend, and the sentences that it translates.
pub(super) struct NetworkSession<D: Device, F: EncoderDecoder<D::Backend>> {
    model: Arc<LoadedModel<D, F>>,
    backend: D::Backend,
    sentences: SentenceSlots<F::EncodedSource, <D::Backend as Backend>::Weights>,
    state: F::State,
    /// The input of the output layer, a row for each hypothesis of the step.
    hidden: <D::Backend as Backend>::Tensor,
    keeps_alignments: bool,
    alignments: Vec<Vec<f32>>,
    log_normalizers: Vec<f32>,
}

/// Turns scores of `candidates` into scores of all tokens, -infinity for the others.
pub(super) fn scatter_scores(candidates: &[u32], vocab_size: usize, scores: &mut Vec<f32>) {
    let candidate_scores = std::mem::take(scores);
    scores.resize(vocab_size, f32::NEG_INFINITY);
    for (&token, score) in candidates.iter().zip(candidate_scores) {
        scores[token as usize] = score;
    }
}

/// The sizes of vocabularies, against which ids are checked.
#[derive(Clone)]
pub(super) struct VocabLimits {
    pub source_vocab_size: usize,
    pub target_vocab_size: usize,
    /// The model, for messages.
    pub model_name: Arc<str>,
}

impl VocabLimits {
    pub(super) fn check_source_ids(&self, tokens: &[u32]) -> Result<()> {
        self.check_ids(tokens, self.source_vocab_size, "source")
    }

    pub(super) fn check_target_ids(&self, tokens: &[u32]) -> Result<()> {
        self.check_ids(tokens, self.target_vocab_size, "target")
    }

    fn check_ids(&self, tokens: &[u32], limit: usize, side: &str) -> Result<()> {
        match tokens.iter().find(|&&token| token as usize >= limit) {
            None => Ok(()),
            Some(token) => Err(Error::Mismatch {
                file: self.model_name.to_string(),
                place: format!("{side} vocabulary"),
                reason: format!("it has {limit} words, word {token} is out of range"),
            }),
        }
    }
}

/// A sentence under translation.
struct ActiveSentence<S, W> {
    source: S,
    candidates: Option<CandidateColumns<W>>,
}

/// The tokens that translations of a sentence may contain, and their columns of the output layer.
struct CandidateColumns<W> {
    tokens: Vec<u32>,
    weights: W,
}

/// Sentences by slot, and the rows of the step.
struct SentenceSlots<S, W> {
    slots: Vec<Option<ActiveSentence<S, W>>>,
    free: Vec<u32>,
    /// The sentence of each row of the step.
    rows: Vec<Slot>,
}

impl<S, W> SentenceSlots<S, W> {
    fn add(&mut self, sentence: ActiveSentence<S, W>) -> Slot {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = Some(sentence),
            None => self.slots.push(Some(sentence)),
        }
        Slot(slot)
    }

    fn remove(&mut self, slot: Slot) {
        let removed = self.slots.get_mut(slot.0 as usize).and_then(Option::take);
        assert!(removed.is_some(), "sentence {} is not under translation", slot.0);
        self.free.push(slot.0);
    }

    fn sentence(&self, slot: Slot) -> &ActiveSentence<S, W> {
        let sentence = self.slots.get(slot.0 as usize).and_then(Option::as_ref);
        sentence.unwrap_or_else(|| panic!("sentence {} is not under translation", slot.0))
    }

    fn candidates(&self, row: usize) -> Option<&CandidateColumns<W>> {
        self.sentence(self.rows[row]).candidates.as_ref()
    }

    /// Returns the rows from `first` on that share an output layer: the rows of one sentence with
    /// candidates, or of consecutive sentences without candidates.
    fn rows_sharing_output(&self, first: usize) -> Range<usize> {
        let limited = self.candidates(first).is_some();
        first
            ..first
                + (first..self.rows.len())
                    .take_while(|&row| {
                        if limited {
                            self.rows[row] == self.rows[first]
                        } else {
                            self.candidates(row).is_none()
                        }
                    })
                    .count()
    }
}

impl<D: Device, F: EncoderDecoder<D::Backend>> NetworkSession<D, F> {
    pub(super) fn new(model: Arc<LoadedModel<D, F>>) -> Result<Self> {
        let mut backend = model.device.new_backend()?;
        let state = model.layers.start_state(&mut backend)?;
        let hidden = backend.zeros(0, 0)?;
        Ok(NetworkSession {
            model,
            backend,
            sentences: SentenceSlots { slots: Vec::new(), free: Vec::new(), rows: Vec::new() },
            state,
            hidden,
            keeps_alignments: false,
            alignments: Vec::new(),
            log_normalizers: Vec::new(),
        })
    }
}

impl<D: Device, F: EncoderDecoder<D::Backend>> Session for NetworkSession<D, F> {
    fn vocab_size(&self) -> usize {
        self.model.vocab_limits.target_vocab_size
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(candidates.is_none_or(|lists| lists.len() == sentences.len()), "one list each");
        let LoadedModel { layers, vocab_limits, .. } = &*self.model;
        sentences.iter().try_for_each(|tokens| vocab_limits.check_source_ids(tokens))?;
        let lists = candidates.unwrap_or_default();
        lists.iter().try_for_each(|tokens| vocab_limits.check_target_ids(tokens))?;
        let mut columns = Vec::with_capacity(sentences.len());
        for tokens in lists {
            let weights = self.backend.select_output(layers.output_weights(), tokens)?;
            columns.push(CandidateColumns { tokens: tokens.to_vec(), weights });
        }
        let mut columns = columns.into_iter();
        let sources = layers.encode(&mut self.backend, sentences)?;
        let sentences =
            sources.into_iter().map(|source| ActiveSentence { source, candidates: columns.next() });
        Ok(sentences.map(|sentence| self.sentences.add(sentence)).collect())
    }

    fn finish(&mut self, slot: Slot) {
        self.sentences.remove(slot);
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> Result<()> {
        let vocab_size = self.vocab_size();
        let before = &self.sentences.rows;
        for row in rows {
            let parent = row.parent.map(|parent| before.get(parent as usize).copied());
            assert!(parent.is_none_or(|slot| slot == Some(row.slot)), "{row:?} has no such parent");
            let token = row.token.unwrap_or(0);
            assert!((token as usize) < vocab_size, "token {token} is out of range");
        }
        self.sentences.rows.clear();
        self.sentences.rows.extend(rows.iter().map(|row| row.slot));
        let sources: Vec<&F::EncodedSource> =
            rows.iter().map(|row| &self.sentences.sentence(row.slot).source).collect();
        self.alignments.clear();
        let alignments = self.keeps_alignments.then_some(&mut self.alignments);
        let (backend, state) = (&mut self.backend, &mut self.state);
        self.hidden = self.model.layers.step(backend, state, rows, &sources, alignments)?;
        self.backend.collect_attention_weights(&mut self.alignments)?;
        average_heads(&mut self.alignments, rows.len());
        Ok(())
    }

    fn topk(&mut self, best: &mut [TopK]) -> Result<()> {
        let sentences = &self.sentences;
        assert_eq!(best.len(), sentences.rows.len(), "a `TopK` for each row");
        best.iter_mut().for_each(TopK::clear);
        let mut groups = Vec::new();
        let mut first = 0;
        while first < best.len() {
            let rows = sentences.rows_sharing_output(first);
            let (weights, columns) = match sentences.candidates(first) {
                Some(limited) => (&limited.weights, OutputColumns::Tokens(&limited.tokens)),
                None => (self.model.layers.output_weights(), OutputColumns::All),
            };
            first = rows.end;
            groups.push(OutputGroup { rows, weights, columns });
        }
        self.backend.topk_by_group(&self.hidden, &groups, best)
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> Result<()> {
        logits.clear();
        for &(row, token) in pairs {
            assert!((row as usize) < self.sentences.rows.len(), "row {row} is out of range");
            let candidates = self.sentences.candidates(row as usize);
            if candidates.is_none_or(|limited| limited.tokens.binary_search(&token).is_ok()) {
                logits.push(0.0);
            } else {
                logits.push(f32::NEG_INFINITY);
            }
        }
        let output = self.model.layers.output_weights();
        self.backend.gather_logits(&self.hidden, pairs, output, logits)
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> Result<()> {
        log_normalizers.clear();
        logits.clear();
        if rows.is_empty() {
            return Ok(());
        }
        let sharing_rows = self.sentences.rows_sharing_output(rows.start);
        assert!(rows.end <= sharing_rows.end, "rows {rows:?} have different candidates");
        let candidates = self.sentences.candidates(rows.start);
        let weights =
            candidates.map_or(self.model.layers.output_weights(), |limited| &limited.weights);
        self.backend.row_logits(&self.hidden, rows, weights, logits, log_normalizers)
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> Result<()> {
        let row = row as usize;
        let mut log_normalizers = std::mem::take(&mut self.log_normalizers);
        self.row_logits(row..row + 1, scores, &mut log_normalizers)?;
        scores.iter_mut().for_each(|logit| *logit -= log_normalizers[0]);
        self.log_normalizers = log_normalizers;
        if let Some(limited) = self.sentences.candidates(row) {
            scatter_scores(&limited.tokens, self.vocab_size(), scores);
        }
        Ok(())
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.keeps_alignments = keep;
    }

    fn alignment(&self, row: u32) -> &[f32] {
        assert!(self.keeps_alignments, "alignments are not kept");
        &self.alignments[row as usize]
    }
}

/// Averages the attention weights of several heads, each with a list for every row.
fn average_heads(weights: &mut Vec<Vec<f32>>, rows: usize) {
    if weights.len() <= rows || rows == 0 {
        return;
    }
    let heads = (weights.len() / rows) as f32;
    let (sums, others) = weights.split_at_mut(rows);
    for (at, other) in others.iter().enumerate() {
        sums[at % rows].iter_mut().zip(other).for_each(|(sum, weight)| *sum += weight);
    }
    sums.iter_mut().flatten().for_each(|sum| *sum /= heads);
    weights.truncate(rows);
}
