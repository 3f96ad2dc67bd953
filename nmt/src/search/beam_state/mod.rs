//! The beam of one sentence: its live and its finished hypotheses.

mod expansion;
mod finished;

use super::constraint::{ConstraintProgress, Constraints};
use super::fusion::{FusionScorer, LmContext};
use super::hypothesis_tree::{HypothesisTree, ROOT};
use super::logits_processor::{FULL_VOCABULARY, LogitsProcessor};
use super::repetition::{for_each_banned_token, for_each_sequence_end};
use super::{
    DecodingSemantics, EarlyStopping, Fusion, GeneratedToken, PrefixRole, Request, SearchEvents,
    SearchOptions,
};
use crate::{Error, Result};
use expansion::{Expansion, LOST_TOKEN};
use finished::FinishedHypothesis;
use miriam_nmt_network::network::{HypothesisRow, Slot};

pub(super) use expansion::Scratch;

/// The maximum number of hypotheses of a sentence, whatever the options say.
const MAX_BEAM_SIZE: usize = 1 << 16;

/// The state of the search for one sentence.
#[derive(Default)]
pub(super) struct BeamState {
    /// The id of the sentence for the caller.
    pub id: u64,
    /// The number of the sentence, on which draws depend.
    number: u64,
    /// The id of the sentence for the session.
    pub slot: Slot,
    /// Tokens that are forced at the beginning.
    prefix: Vec<u32>,
    /// The prefix, if it is favoured and not forced.
    favoured: Vec<u32>,
    /// Whether the hypothesis at each place of the beam has left the favoured tokens. As in
    /// CTranslate2, the flag belongs to the place, whichever hypothesis takes the place.
    has_diverged: Vec<bool>,
    constraints: Constraints,
    /// The number of source tokens.
    source_length: usize,
    /// The maximum number of target tokens, including `</s>`.
    max_length: usize,
    /// The number of tokens of each live hypothesis.
    step: usize,
    /// The maximum number of live hypotheses.
    beam_width: usize,
    live: Vec<Hypothesis>,
    /// The contexts of live hypotheses in the language model; empty without one.
    lm_contexts: Vec<LmContext>,
    tree: HypothesisTree,
    finished: Vec<FinishedHypothesis>,
    /// Whether the best expansion of some step was a finished one.
    best_has_finished: bool,
}

/// A live hypothesis.
#[derive(Clone, Copy, Debug)]
struct Hypothesis {
    node: u32,
    token: Option<u32>,
    /// The row of its parent in the previous step.
    parent_row: Option<u32>,
    total: f32,
    /// Its log-probability by the language model. `total` includes it, times the model's weight.
    lm_log_probability: f32,
    progress: ConstraintProgress,
    /// Its index among the samples of the sentence.
    sample_index: u32,
    /// Its place in CTranslate2's beam.
    place: usize,
}

/// The state of a sentence after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepStatus {
    /// The search continues.
    Active,
    /// The translations are complete.
    Finished,
}

impl BeamState {
    /// Starts with one empty hypothesis.
    pub fn start(
        &mut self,
        id: u64,
        slot: Slot,
        request: &Request,
        options: &SearchOptions,
    ) -> Result<()> {
        self.id = id;
        self.number = request.number;
        self.slot = slot;
        self.prefix.clone_from(&request.prefix);
        self.favoured.clear();
        if options.prefix_bias.is_some() {
            self.favoured.append(&mut self.prefix);
        }
        self.constraints = Constraints::new(&request.constraints)?;
        self.source_length = request.source.len();
        self.max_length = options.max_target_length(self.source_length);
        if options.prefix_role == PrefixRole::Beginning {
            // Prefix and constraints fit, however short the source is. The limit of the options
            // applies to a prefix, as in CTranslate2. It does not apply to constraints, which a
            // shorter translation could not meet.
            let required = self.prefix.len() + self.constraints.token_count() + 1;
            self.max_length = match self.constraints.token_count() {
                0 => self.max_length.max(required).min(options.max_length.max(1)),
                _ => self.max_length.max(required),
            };
        }
        self.prefix.truncate(self.max_length);
        let most = self.prefix.len().saturating_add(options.max_new_tokens).max(1);
        self.max_length = self.max_length.min(most);
        self.step = 0;
        self.beam_width = match options.sampling {
            Some(_) => options.n_best,
            None => options.beam_size,
        }
        .clamp(1, MAX_BEAM_SIZE);
        self.has_diverged.clear();
        if !self.favoured.is_empty() {
            self.has_diverged.resize(self.beam_width, false);
        }
        self.tree.reset(if options.needs_attention() { self.source_length } else { 0 });
        self.finished.clear();
        self.best_has_finished = false;
        self.lm_contexts.clear();
        self.lm_contexts.extend(options.fusion.as_ref().map(Fusion::begin));
        self.live.clear();
        self.live.push(Hypothesis {
            node: ROOT,
            token: None,
            parent_row: None,
            total: 0.0,
            lm_log_probability: 0.0,
            progress: ConstraintProgress::default(),
            sample_index: 0,
            place: 0,
        });
        Ok(())
    }

    /// Returns the favoured token of the step.
    fn favoured_token(&self) -> Option<u32> {
        self.favoured.get(self.step).copied()
    }

    /// Adds the rows of the next step, and what the processor must compute for each.
    pub fn plan_step(
        &self,
        options: &SearchOptions,
        rows: &mut Vec<HypothesisRow>,
        processor: &mut LogitsProcessor,
        scratch: &mut Scratch,
    ) {
        let slot = self.slot;
        for hypothesis in &self.live {
            rows.push(HypothesisRow {
                slot,
                parent: hypothesis.parent_row,
                token: hypothesis.token,
            });
            if let Some(&word) = self.prefix.get(self.step) {
                processor.add_row(0);
                processor.require_score(word);
                continue;
            }
            let top_k = match options.sampling {
                Some(sampling) if sampling.top_k > 0 => sampling.top_k,
                Some(_) => FULL_VOCABULARY,
                None if options.semantics == DecodingSemantics::Marian => self.beam_width,
                // Tokens among the best may end their hypotheses, which then need no place.
                None => self.beam_width + options.end_ids().len(),
            };
            let fusion = options.fusion.as_ref();
            processor.add_row(fusion.map_or(top_k, |fusion| fusion.candidates(top_k)));
            if self.step < options.min_length {
                options.end_ids().iter().for_each(|&end| processor.suppress_token(end));
            }
            if fusion.is_some() && self.loses_ended_rows(options) {
                // The language model scores the token of lost rows.
                processor.require_score(LOST_TOKEN);
            }
            if options.no_repeat_ngram_size > 0
                || options.repetition_penalty != 1.0
                || !options.suppress_sequences.is_empty()
            {
                self.tree.collect_tokens(hypothesis.node, &mut scratch.tokens);
                if options.prefix_role == PrefixRole::Context {
                    scratch.tokens.drain(..self.prefix.len());
                }
                if let Some(start) = options.repeated_start {
                    scratch.tokens.insert(0, start);
                }
                let tokens = &scratch.tokens[..];
                let mut suppress = |word| processor.suppress_token(word);
                for_each_banned_token(tokens, options.no_repeat_ngram_size, &mut suppress);
                for_each_sequence_end(tokens, &options.suppress_sequences, &mut suppress);
                if options.repetition_penalty != 1.0 {
                    tokens.iter().for_each(|&word| processor.mark_repeated(word));
                }
            }
            if let (Some(bias), Some(token)) = (options.prefix_bias, self.favoured_token())
                && !self.has_diverged[hypothesis.place]
            {
                processor.favour_token(token, bias);
            }
            if self.constraints.token_count() > 0 {
                self.constraints
                    .for_each_next_token(hypothesis.progress, |word| processor.require_score(word));
            }
        }
    }

    /// Returns the number of source tokens.
    pub fn source_length(&self) -> usize {
        self.source_length
    }

    /// Returns the number of rows of the step.
    pub fn row_count(&self) -> usize {
        self.live.len()
    }

    /// Stores the attention of a row of the step; to be called before [`advance`](Self::advance).
    pub fn push_attention(&mut self, weights: &[f32]) {
        self.tree.push_attention(weights);
    }

    /// Adds the candidates of the sentence's rows to those that the language model scores; to be
    /// called before [`advance`](Self::advance). `first` is the first of these rows.
    pub fn add_candidates(
        &self,
        options: &SearchOptions,
        fusion: &Fusion,
        processor: &LogitsProcessor,
        first: usize,
        scorer: &mut FusionScorer,
    ) {
        let forced = self.step < self.prefix.len();
        for (row, context) in (first..).zip(&self.lm_contexts) {
            let candidates = processor.candidates(row).iter();
            let tokens = candidates.chain(processor.required_candidates(row));
            let tokens = tokens.map(|candidate| candidate.token);
            scorer.add_row(fusion, context, tokens, |token| !forced && options.is_end(token));
        }
    }

    /// Expands and prunes after a step; `first` is the sentence's first row among all rows.
    pub fn advance(
        &mut self,
        options: &SearchOptions,
        processor: &LogitsProcessor,
        scorer: &FusionScorer,
        first: usize,
        scratch: &mut Scratch,
        events: &mut dyn SearchEvents,
    ) -> Result<StepStatus> {
        let forced = self.step < self.prefix.len();
        if (first..first + self.live.len()).any(|row| processor.has_nan(row)) {
            let reason = format!(
                "after {} words the numbers of the model are not finite; check the model with \
                 miriam verify",
                self.step
            );
            return Err(Error::Untranslatable { reason });
        }
        self.expand(options, processor, first, scratch)?;
        if scratch.expansions.is_empty() {
            self.finish_truncated()?;
            return Ok(StepStatus::Finished);
        }
        // The last attention rows are those of this step.
        let attention = self.tree.attention_rows().saturating_sub(self.live.len());
        let last = self.step + 1 == self.max_length;
        let beam_width = self.beam_width;
        if !self.favoured.is_empty() && !forced {
            let favoured = self.favoured_token();
            for (has_diverged, choice) in self.has_diverged.iter_mut().zip(&scratch.expansions) {
                *has_diverged |= favoured != Some(choice.token);
            }
        }
        // A hypothesis that ends frees its place for another one that was not among the best.
        scratch.free_places.clear();
        scratch.next_live.clear();
        let mut num_contexts = 0;
        for (rank, choice) in scratch.expansions.iter().enumerate() {
            let ends = options.is_end(choice.token) && !forced;
            let stopped = options.report_tokens
                && rank < beam_width
                && self.report_token(choice, forced, ends || last, events);
            let stays = !ends
                && !last
                && !stopped
                && match options.semantics {
                    DecodingSemantics::Marian => rank < beam_width,
                    DecodingSemantics::CTranslate2 => scratch.next_live.len() < beam_width,
                };
            let counts = rank < beam_width && (ends || last || stopped);
            if !(stays || counts) {
                continue;
            }
            let parent = &self.live[choice.row];
            let Expansion { token: word, score, total, .. } = *choice;
            let node = self.tree.push(parent.node, word, score, attention + choice.row);
            let mut lm_log_probability = parent.lm_log_probability;
            if let Some(fusion) = &options.fusion {
                // The context of a hypothesis that ends is overwritten by the next context.
                let contexts = &mut scratch.next_lm_contexts;
                contexts.resize_with(contexts.len().max(num_contexts + 1), LmContext::default);
                let (from, to) = (&self.lm_contexts[choice.row], &mut contexts[num_contexts]);
                let row = first + choice.row;
                lm_log_probability += scorer.extend(fusion, row, (word, ends), from, to);
                num_contexts += usize::from(!counts);
            }
            if counts {
                scratch.free_places.push_back(rank);
                self.best_has_finished |= rank == 0;
                let words = self.step + 1;
                self.finished.push(FinishedHypothesis {
                    node,
                    total,
                    lm_log_probability,
                    length: words,
                    has_eos: ends,
                });
                if options.semantics == DecodingSemantics::Marian {
                    self.beam_width -= 1;
                }
            } else {
                scratch.next_live.push(Hypothesis {
                    node,
                    token: Some(word),
                    parent_row: Some((first + choice.row) as u32),
                    total,
                    lm_log_probability,
                    progress: choice.progress,
                    sample_index: choice.sample_index,
                    place: if rank < beam_width {
                        rank
                    } else {
                        scratch.free_places.pop_front().unwrap_or(0)
                    },
                });
            }
        }
        if !last && self.keeps_ended_rows(options) {
            let ended = &self.finished[self.finished.len() - scratch.free_places.len()..];
            for (&place, ended) in scratch.free_places.iter().zip(ended) {
                let choice = &scratch.expansions[place];
                scratch.next_live.push(Hypothesis {
                    node: ended.node,
                    token: Some(choice.token),
                    parent_row: Some((first + choice.row) as u32),
                    total: ended.total,
                    lm_log_probability: 0.0,
                    progress: choice.progress,
                    sample_index: choice.sample_index,
                    place,
                });
            }
        }
        std::mem::swap(&mut self.live, &mut scratch.next_live);
        std::mem::swap(&mut self.lm_contexts, &mut scratch.next_lm_contexts);
        self.lm_contexts.truncate(num_contexts);
        self.step += 1;
        if self.tree.needs_pruning() {
            let live = self.live.iter_mut().map(|hypothesis| &mut hypothesis.node);
            self.tree.prune(live.chain(self.finished.iter_mut().map(|ended| &mut ended.node)));
        }
        self.drop_worst_finished(options);
        Ok(if last || self.is_done(options) { StepStatus::Finished } else { StepStatus::Active })
    }

    /// Whether a hypothesis that has ended also continues, if no other one can take its place. In
    /// CTranslate2 this is so when several tokens end hypotheses, because the search considers only
    /// twice as many expansions as the beam has rows. CTranslate2 knows neither constraints nor
    /// language models.
    fn keeps_ended_rows(&self, options: &SearchOptions) -> bool {
        options.semantics == DecodingSemantics::CTranslate2
            && options.end_tokens.len() > 1
            && options.sampling.is_none()
            && options.fusion.is_none()
            && self.constraints.token_count() == 0
    }

    /// Reports the token of an expansion; a token of a prefix is reported for all samples. Returns
    /// whether it must be the last one.
    fn report_token(
        &self,
        choice: &Expansion,
        forced: bool,
        is_last: bool,
        events: &mut dyn SearchEvents,
    ) -> bool {
        let &Expansion { token, score, sample_index, .. } = choice;
        let samples =
            if forced { 0..self.beam_width as u32 } else { sample_index..sample_index + 1 };
        let step = self.step;
        // The token is reported for every sample, even after a sample that continues.
        let continuing = samples.filter(|&sample_index| {
            !events.token(self.id, GeneratedToken { step, sample_index, token, score, is_last })
        });
        continuing.count() == 0
    }

    /// Ends the search, because no token can follow any live hypothesis. If no hypothesis has
    /// finished before, the live ones count as finished.
    fn finish_truncated(&mut self) -> Result<()> {
        if self.finished.is_empty() {
            let unmet = self.live.iter().any(|h| self.constraints.num_unmet_tokens(h.progress) > 0);
            if self.step == 0 || unmet {
                let reason = format!("no word is allowed after {} words", self.step);
                return Err(Error::Untranslatable { reason });
            }
            let words = self.step;
            self.finished.extend(self.live.iter().map(|h| FinishedHypothesis {
                node: h.node,
                total: h.total,
                lm_log_probability: h.lm_log_probability,
                length: words,
                has_eos: false,
            }));
        }
        Ok(())
    }

    fn is_done(&self, options: &SearchOptions) -> bool {
        if self.live.is_empty() {
            return true;
        }
        if options.sampling.is_some() || self.finished.is_empty() {
            return false;
        }
        if let Some(margin) = options.early_stop_margin {
            let live = self.live.iter().map(|hypothesis| hypothesis.total).fold(f32::MIN, f32::max);
            let ended = self.finished.iter().map(|ended| ended.total).fold(f32::MIN, f32::max);
            if live < ended - margin {
                return true;
            }
        }
        if let Some(rule) = options.early_stopping_rule() {
            return self.finished.len() >= options.required_finished()
                && (rule == EarlyStopping::True || !self.can_improve(options, rule));
        }
        // Greedy search ends with its only hypothesis.
        options.semantics == DecodingSemantics::CTranslate2
            && if options.length_penalty == 0.0
                && options.coverage_penalty == 0.0
                && !options.is_greedy()
            {
                self.best_has_finished && self.finished.len() >= options.n_best
            } else {
                self.finished.len() >= options.required_finished()
            }
    }
}
