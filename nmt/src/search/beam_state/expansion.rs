//! Expansion of hypotheses: candidates of all rows in the order in which the beam takes them.

use std::collections::VecDeque;

use super::{BeamState, Hypothesis};
use crate::search::constraint::{ConstraintProgress, allocate_banks};
use crate::search::fusion::LmContext;
use crate::search::logits_processor::{Candidate, LogitsProcessor};
use crate::search::sampling::{SampleKey, sample};
use crate::search::{DecodingSemantics, PrefixRole, Sampling, SearchOptions};
use crate::{Error, Result};

/// The token and the score of a lost row ([`BeamState::loses_ended_rows`]), as in CTranslate2.
pub(super) const LOST_TOKEN: u32 = 0;
const LOST_SCORE: f32 = -1e10;

/// A hypothesis extended by one token, before pruning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    /// The row of the parent hypothesis among the rows of the sentence.
    pub row: usize,
    pub token: u32,
    pub score: f32,
    pub total: f32,
    pub progress: ConstraintProgress,
    pub sample_index: u32,
}

/// Scratch memory that all sentences share.
#[derive(Default)]
pub(in crate::search) struct Scratch {
    pub(super) expansions: Vec<Expansion>,
    ranks: Vec<(u32, Expansion)>,
    row_heads: Vec<usize>,
    pub(super) free_places: VecDeque<usize>,
    pub(super) next_live: Vec<Hypothesis>,
    pub(super) next_lm_contexts: Vec<LmContext>,
    pub(super) tokens: Vec<u32>,
    pool: Vec<Candidate>,
}

impl BeamState {
    /// Computes the expansions of a step in the order in which the beam takes them.
    pub(super) fn expand(
        &self,
        options: &SearchOptions,
        processor: &LogitsProcessor,
        first: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.expansions.clear();
        if let Some(&word) = self.prefix.get(self.step) {
            let hypothesis = &self.live[0];
            let found = processor.required_candidates(first)[0];
            if !found.score.is_finite() {
                let reason = format!(
                    "the model has no probability for word {} of its prefix",
                    self.step + 1
                );
                return Err(Error::Untranslatable { reason });
            }
            // In CTranslate2 tokens of a prefix have probability 1.
            let score = match options.semantics {
                DecodingSemantics::Marian => found.score,
                DecodingSemantics::CTranslate2 => 0.0,
            };
            let total = hypothesis.total + (score + found.fused);
            let progress = self.constraints.advance(hypothesis.progress, word);
            scratch.expansions.push(Expansion {
                row: 0,
                token: word,
                score,
                total,
                progress,
                sample_index: 0,
            });
        } else if let Some(sampling) = &options.sampling {
            self.expand_by_sampling(options, sampling, processor, first, scratch);
        } else if self.constraints.token_count() > 0 {
            self.expand_constrained(options, processor, first, scratch);
        } else {
            self.merge_rows(options, processor, first, scratch);
        }
        if self.loses_ended_rows(options) {
            let others = scratch.expansions.iter_mut().skip(1);
            for choice in others.filter(|choice| options.is_end(choice.token)) {
                (choice.row, choice.token) = (0, LOST_TOKEN);
                (choice.score, choice.total) = (LOST_SCORE, LOST_SCORE);
            }
        }
        Ok(())
    }

    /// Whether only the best expansion of the step may end its hypothesis. In CTranslate2 this is
    /// so directly after a forced prefix: any other expansion that would end becomes a row that is
    /// lost to the beam, with [`LOST_TOKEN`] and a score below all others. CTranslate2 knows no
    /// constraints.
    pub(super) fn loses_ended_rows(&self, options: &SearchOptions) -> bool {
        self.step == self.prefix.len()
            && !self.prefix.is_empty()
            && options.prefix_role != PrefixRole::Context
            && options.semantics == DecodingSemantics::CTranslate2
            && options.sampling.is_none()
            && self.constraints.token_count() == 0
    }

    /// Draws the next token of each sample.
    fn expand_by_sampling(
        &self,
        options: &SearchOptions,
        sampling: &Sampling,
        processor: &LogitsProcessor,
        first: usize,
        scratch: &mut Scratch,
    ) {
        // At the first step after the prefix, all draws are from the only row.
        let draws = if self.step == self.prefix.len() { self.beam_width } else { self.live.len() };
        for at in 0..draws {
            let (row, number) = if self.step == self.prefix.len() {
                (0, at as u32)
            } else {
                (at, self.live[at].sample_index)
            };
            let key = SampleKey {
                seed: options.seed,
                sentence: self.number,
                sample_index: number,
                step: self.step as u32,
            };
            scratch.pool.clear();
            scratch.pool.extend_from_slice(processor.candidates(first + row));
            let Some(offer) = sample(sampling, options.semantics, key, &mut scratch.pool) else {
                continue;
            };
            let hypothesis = &self.live[row];
            scratch.expansions.push(Expansion {
                row,
                token: offer.token,
                score: offer.score,
                total: hypothesis.total + offer.score,
                progress: hypothesis.progress,
                sample_index: number,
            });
        }
    }

    /// Merges the sorted candidates of all rows into the best expansions; among equal scores
    /// the lower row comes first.
    fn merge_rows(
        &self,
        options: &SearchOptions,
        processor: &LogitsProcessor,
        first: usize,
        scratch: &mut Scratch,
    ) {
        let most = match options.semantics {
            DecodingSemantics::Marian => self.beam_width,
            DecodingSemantics::CTranslate2 => 2 * self.beam_width,
        };
        let Scratch { expansions: choices, row_heads: heads, .. } = scratch;
        heads.clear();
        heads.resize(self.live.len(), 0);
        while choices.len() < most {
            let mut best: Option<Expansion> = None;
            for (row, hypothesis) in self.live.iter().enumerate() {
                let Some(offer) = processor.candidates(first + row).get(heads[row]) else {
                    continue;
                };
                let total = hypothesis.total + offer.rank();
                if best.is_none_or(|best| total > best.total) {
                    let (word, score) = (offer.token, offer.score);
                    let progress = ConstraintProgress::default();
                    best = Some(Expansion {
                        row,
                        token: word,
                        score,
                        total,
                        progress,
                        sample_index: 0,
                    });
                }
            }
            let Some(best) = best else { return };
            heads[best.row] += 1;
            choices.push(best);
        }
    }

    /// Collects the best tokens of all rows and the tokens that constraints need, interleaved by
    /// banks. Expansions that cannot meet their constraints within the maximum length are left out,
    /// so that every translation meets them.
    fn expand_constrained(
        &self,
        options: &SearchOptions,
        processor: &LogitsProcessor,
        first: usize,
        scratch: &mut Scratch,
    ) {
        let steps_left = self.max_length - self.step - 1;
        let Scratch { expansions: choices, ranks, .. } = scratch;
        for (row, hypothesis) in self.live.iter().enumerate() {
            let begin = choices.len();
            let required = processor.required_candidates(first + row);
            for offer in required.iter().chain(processor.candidates(first + row)) {
                let taken = choices[begin..].iter().any(|choice| choice.token == offer.token);
                let progress = self.constraints.advance(hypothesis.progress, offer.token);
                let left = self.constraints.num_unmet_tokens(progress);
                let possible =
                    if options.is_end(offer.token) { left == 0 } else { left <= steps_left };
                if !taken && possible && offer.score.is_finite() {
                    let (word, score) = (offer.token, offer.score);
                    let total = hypothesis.total + offer.rank();
                    choices.push(Expansion {
                        row,
                        token: word,
                        score,
                        total,
                        progress,
                        sample_index: 0,
                    });
                }
            }
        }
        // Totals can be equal although scores differ, because sums over many tokens are rounded.
        // Then the lower row comes first, and within a row the better token.
        choices.sort_by(|a, b| {
            let by_total = b.total.total_cmp(&a.total).then(a.row.cmp(&b.row));
            by_total.then(b.score.total_cmp(&a.score))
        });
        allocate_banks(choices, |choice| choice.progress.tokens_met, ranks);
    }
}
