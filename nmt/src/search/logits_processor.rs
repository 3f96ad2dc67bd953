//! The candidate tokens of each row with their scores, from the logits of the model.
//!
//! Tokens may be suppressed, required whatever their scores are, or penalised for repetition.
//! All rows of a step are processed at once.
//!
//! If a token is suppressed, Marian keeps the probabilities of the others, and CTranslate2
//! renormalises them. For that, the normaliser is not computed again, but corrected by the few
//! logits that change.

use std::cmp::Ordering;
use std::ops::Range;

use super::repetition::apply_repetition_penalty;
use crate::Result;
use miriam_nmt_network::network::{Session, TopK};

/// Headroom for suppressed tokens in the first top-k of a row; a larger top-k is computed only if
/// they crowd out other tokens.
const EXTRA_TOP_K: usize = 8;

/// Below this, the remaining probability mass is summed directly, because 1 minus the mass of the
/// dropped tokens would be inaccurate.
const MIN_TRUSTED_MASS: f64 = 0.05;

/// The value of `top_k` in [`LogitsProcessor::add_row`] that means all tokens.
pub(super) const FULL_VOCABULARY: usize = usize::MAX;

/// A possible next token and its score, the natural logarithm of its probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub token: u32,
    pub score: f32,
    /// The weighted language-model score that is added to `score` for ranking; 0 without a language
    /// model.
    pub fused: f32,
}

impl Candidate {
    pub fn new(token: u32, score: f32) -> Self {
        Candidate { token, score, fused: 0.0 }
    }

    /// Returns the score by which candidates are ranked.
    pub fn rank(&self) -> f32 {
        self.score + self.fused
    }

    /// Orders candidates best first, among equal scores by the lower id.
    pub fn cmp_best_first(&self, other: &Self) -> Ordering {
        other.rank().total_cmp(&self.rank()).then(self.token.cmp(&other.token))
    }
}

/// Options for all rows.
#[derive(Clone, Debug)]
pub(super) struct LogitsOptions {
    /// Whether scores are raw logits.
    pub raw_logits: bool,
    /// Whether the probabilities of the tokens that are not suppressed sum to 1.
    pub renormalize: bool,
    /// The factor or divisor of the logits of repeated tokens.
    pub repetition_penalty: f32,
}

/// The request of one row, with its ranges in the lists of all rows.
#[derive(Clone, Debug, Default)]
struct RowRequest {
    top_k: usize,
    suppressed: Range<usize>,
    repeated: Range<usize>,
    required: Range<usize>,
    favoured: Option<Favoured>,
}

/// A token that a row favours.
#[derive(Clone, Copy, Debug)]
struct Favoured {
    token: u32,
    /// The share of every token's probability that moves to this token.
    beta: f32,
}

/// The rows of a step: first their requests, then their candidates.
pub(super) struct LogitsProcessor {
    options: LogitsOptions,
    suppress_tokens: Vec<u32>,
    /// Whether a token is suppressed in all rows, by id.
    suppress_mask: Vec<bool>,
    requests: Vec<RowRequest>,
    suppressed: Vec<u32>,
    repeated: Vec<u32>,
    required: Vec<Candidate>,
    top_k: Vec<TopK>,
    retry_top_k: Vec<TopK>,
    logit_queries: Vec<(u32, u32)>,
    logits: Vec<f32>,
    distribution: Vec<f32>,
    candidates: Vec<Candidate>,
    ranges: Vec<Range<usize>>,
    nan_rows: Vec<bool>,
}

impl LogitsProcessor {
    /// Creates a processor without rows. `suppress_tokens`, as far as they are below
    /// `vocabulary_size`, are suppressed in all rows.
    pub fn new(options: LogitsOptions, suppress_tokens: &[u32], vocabulary_size: usize) -> Self {
        let mut suppress_tokens: Vec<u32> = suppress_tokens
            .iter()
            .copied()
            .filter(|token| (*token as usize) < vocabulary_size)
            .collect();
        suppress_tokens.sort_unstable();
        suppress_tokens.dedup();
        let mut suppress_mask =
            vec![false; suppress_tokens.last().map_or(0, |&word| word as usize + 1)];
        suppress_tokens.iter().for_each(|&word| suppress_mask[word as usize] = true);
        LogitsProcessor {
            options,
            suppress_tokens,
            suppress_mask,
            requests: Vec::new(),
            suppressed: Vec::new(),
            repeated: Vec::new(),
            required: Vec::new(),
            top_k: Vec::new(),
            retry_top_k: Vec::new(),
            logit_queries: Vec::new(),
            logits: Vec::new(),
            distribution: Vec::new(),
            candidates: Vec::new(),
            ranges: Vec::new(),
            nan_rows: Vec::new(),
        }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.suppressed.clear();
        self.repeated.clear();
        self.required.clear();
    }

    /// Adds a row whose `top_k` best tokens are needed, or all tokens ([`FULL_VOCABULARY`]).
    pub fn add_row(&mut self, top_k: usize) {
        let (suppressed, repeated) = (self.suppressed.len(), self.repeated.len());
        let required = self.required.len();
        self.requests.push(RowRequest {
            top_k,
            suppressed: suppressed..suppressed,
            repeated: repeated..repeated,
            required: required..required,
            favoured: None,
        });
    }

    /// Favours a token in the last row: all probabilities are multiplied by `1 - beta`, and `beta`
    /// is added to the probability of `token`, even if this token is suppressed.
    pub fn favour_token(&mut self, token: u32, beta: f32) {
        self.require_score(token);
        self.requests.last_mut().expect("a row").favoured = Some(Favoured { token, beta });
    }

    /// Suppresses a token in the last row.
    pub fn suppress_token(&mut self, word: u32) {
        let request = self.requests.last_mut().expect("a row");
        self.suppressed.push(word);
        request.suppressed.end += 1;
    }

    /// Marks a token as repeated in the last row.
    pub fn mark_repeated(&mut self, word: u32) {
        let request = self.requests.last_mut().expect("a row");
        self.repeated.push(word);
        request.repeated.end += 1;
    }

    /// Requires the score of a token in the last row, even if it is suppressed.
    pub fn require_score(&mut self, word: u32) {
        let request = self.requests.last_mut().expect("a row");
        if !self.required[request.required.clone()].iter().any(|candidate| candidate.token == word)
        {
            self.required.push(Candidate::new(word, f32::NEG_INFINITY));
            request.required.end += 1;
        }
    }

    /// Returns the candidates of a row, best first. If all tokens were needed, they are in the
    /// order of their ids until [`fuse`](Self::fuse) sorts them, with repeated tokens at the end.
    /// Empty if no candidate was needed or is left, or if the logits are not finite.
    pub fn candidates(&self, row: usize) -> &[Candidate] {
        &self.candidates[self.ranges[row].clone()]
    }

    /// Sets the language-model scores of a row and ranks its candidates again. `scores` has one for
    /// each candidate, then one for each required candidate.
    pub fn fuse(&mut self, row: usize, scores: impl Iterator<Item = f32>) {
        let candidates = &mut self.candidates[self.ranges[row].clone()];
        let required = &mut self.required[self.requests[row].required.clone()];
        let all = candidates.iter_mut().chain(required);
        all.zip(scores).for_each(|(candidate, score)| candidate.fused = score);
        self.candidates[self.ranges[row].clone()].sort_unstable_by(Candidate::cmp_best_first);
    }

    /// Whether the logits of a row are not finite, so that its scores are invalid.
    pub fn has_nan(&self, row: usize) -> bool {
        self.nan_rows[row]
    }

    /// Returns the required candidates of a row, in the order in which they were required.
    pub fn required_candidates(&self, row: usize) -> &[Candidate] {
        &self.required[self.requests[row].required.clone()]
    }

    /// Sorts the lists, and keeps each token only in the first list that has it: suppressed in
    /// all rows, suppressed in the row, repeated.
    fn sort_and_dedup(&mut self) {
        let is_never = |word: &u32| self.suppress_mask.get(*word as usize) == Some(&true);
        for request in &mut self.requests {
            let forbidden = &mut self.suppressed[request.suppressed.clone()];
            let count = sort_dedup_excluding(forbidden, is_never);
            request.suppressed.end = request.suppressed.start + count;
            let forbidden = &forbidden[..count];
            let count =
                sort_dedup_excluding(&mut self.repeated[request.repeated.clone()], |word: &u32| {
                    is_never(word) || forbidden.binary_search(word).is_ok()
                });
            request.repeated.end = request.repeated.start + count;
        }
    }

    /// Whether a token is suppressed or repeated.
    fn is_excluded(&self, request: &RowRequest, word: u32) -> bool {
        let lists = [
            &self.suppressed[request.suppressed.clone()],
            &self.repeated[request.repeated.clone()],
        ];
        self.suppress_mask.get(word as usize) == Some(&true)
            || lists.iter().any(|list| !list.is_empty() && list.binary_search(&word).is_ok())
    }

    /// Returns the number of tokens that may be among the best and are dropped.
    fn excluded_count(&self, request: &RowRequest) -> usize {
        self.suppress_tokens.len() + request.suppressed.len() + request.repeated.len()
    }

    /// Computes the candidates of all rows. They must be the rows of the session's last step.
    pub fn process(&mut self, session: &mut dyn Session) -> Result<()> {
        self.sort_and_dedup();
        let rows = self.requests.len();
        if self.top_k.len() < rows {
            self.top_k.resize_with(rows, || TopK::new(0, true));
        }
        for (row, request) in self.requests.iter().enumerate() {
            let most = match request.top_k {
                0 | FULL_VOCABULARY => 0,
                most => most + self.excluded_count(request).min(EXTRA_TOP_K),
            };
            self.top_k[row].reset(most, !self.options.raw_logits);
        }
        session.topk(&mut self.top_k[..rows])?;
        self.retry_short_rows(session)?;
        self.fetch_logits(session)?;
        self.candidates.clear();
        self.ranges.clear();
        self.nan_rows.clear();
        let mut logits = 0;
        for row in 0..rows {
            let first = self.candidates.len();
            self.process_row(session, row, &mut logits)?;
            self.ranges.push(first..self.candidates.len());
        }
        Ok(())
    }

    /// Requests a larger top-k for rows in which suppressed tokens crowded out others.
    fn retry_short_rows(&mut self, session: &mut dyn Session) -> Result<()> {
        let rows = self.requests.len();
        if (0..rows).all(|row| self.larger_top_k(row).is_none()) {
            return Ok(());
        }
        let mut again = std::mem::take(&mut self.retry_top_k);
        again.resize_with(again.len().max(rows), || TopK::new(0, true));
        for (row, best) in again[..rows].iter_mut().enumerate() {
            let most = self.larger_top_k(row);
            best.reset(most.unwrap_or(0), most.is_some() && !self.options.raw_logits);
        }
        session.topk(&mut again[..rows])?;
        for (best, again) in self.top_k.iter_mut().zip(&mut again) {
            if !again.candidates().is_empty() {
                std::mem::swap(best, again);
            }
        }
        self.retry_top_k = again;
        Ok(())
    }

    /// Returns the k that a row needs, if its top-k has too few candidates.
    fn larger_top_k(&self, row: usize) -> Option<usize> {
        let (request, best) = (&self.requests[row], self.top_k[row].candidates());
        let dropped = self.excluded_count(request);
        if dropped <= EXTRA_TOP_K
            || matches!(request.top_k, 0 | FULL_VOCABULARY)
            || best.len() < request.top_k + EXTRA_TOP_K
        {
            return None;
        }
        let kept = best.iter().filter(|best| !self.is_excluded(request, best.id)).count();
        (kept < request.top_k).then_some(request.top_k + dropped)
    }

    /// Fetches the logits of single tokens, row by row: required and repeated ones, and suppressed
    /// ones if the normaliser depends on them.
    fn fetch_logits(&mut self, session: &mut dyn Session) -> Result<()> {
        self.logit_queries.clear();
        self.logits.clear();
        for (row, request) in (0..).zip(&self.requests) {
            let required =
                self.required[request.required.clone()].iter().map(|candidate| candidate.token);
            let repeated = self.repeated[request.repeated.clone()].iter().copied();
            self.logit_queries.extend(required.chain(repeated).map(|word| (row, word)));
            if self.options.renormalize && !self.options.raw_logits {
                let forbidden = &self.suppressed[request.suppressed.clone()];
                self.logit_queries
                    .extend(self.suppress_tokens.iter().chain(forbidden).map(|&word| (row, word)));
            }
        }
        if !self.logit_queries.is_empty() {
            session.token_logits(&self.logit_queries, &mut self.logits)?;
        }
        Ok(())
    }

    /// Computes the candidates of one row. The single logits that were fetched for the row begin at
    /// `at`, which advances past them.
    fn process_row(&mut self, session: &mut dyn Session, row: usize, at: &mut usize) -> Result<()> {
        let request = self.requests[row].clone();
        let penalty = self.options.repetition_penalty;
        let normalizer = match self.options.raw_logits {
            true if self.top_k[row].has_non_finite() => f32::NAN,
            true => 0.0,
            false => self.top_k[row].log_normalizer(),
        };
        let some = request.top_k == 0
            || request.top_k == FULL_VOCABULARY
            || !self.top_k[row].candidates().is_empty();
        self.nan_rows.push(normalizer.is_nan() || !some);
        fn next(count: usize, at: &mut usize) -> Range<usize> {
            *at += count;
            *at - count..*at
        }
        let required = next(request.required.len(), at);
        let repeated = next(request.repeated.len(), at);
        let forbidden = next(
            if self.options.renormalize && !self.options.raw_logits {
                self.suppress_tokens.len() + request.suppressed.len()
            } else {
                0
            },
            at,
        );
        let mut corrected = normalizer;
        let unchanged = repeated.is_empty() && forbidden.is_empty();
        if !(self.options.raw_logits || unchanged) {
            fn probability(logit: f32, normalizer: f32) -> f64 {
                f64::from(logit - normalizer).exp()
            }
            let logits = &self.logits;
            let gone = logits[repeated.start..forbidden.end]
                .iter()
                .map(|&logit| probability(logit, normalizer));
            let came = logits[repeated.clone()].iter();
            let came: f64 = came
                .map(|&logit| probability(apply_repetition_penalty(logit, penalty), normalizer))
                .sum();
            let mut left = 1.0 - gone.sum::<f64>();
            if left < MIN_TRUSTED_MASS {
                left = self.remaining_mass(session, row, &request)?;
            }
            corrected += (left + came).ln() as f32;
            if corrected.is_nan() || corrected == f32::INFINITY {
                self.nan_rows[row] = true;
            }
        }
        for (candidate, at) in self.required[request.required.clone()].iter_mut().zip(required) {
            let words = &self.repeated[request.repeated.clone()];
            let is_repeated = words.binary_search(&candidate.token).is_ok();
            let logit = self.logits[at];
            candidate.score =
                if is_repeated { apply_repetition_penalty(logit, penalty) } else { logit }
                    - corrected;
        }
        if !corrected.is_finite() || request.top_k == 0 {
            return Ok(());
        }
        let first = self.candidates.len();
        if request.top_k == FULL_VOCABULARY {
            session.log_probabilities(row as u32, &mut self.distribution)?;
            let scores = std::mem::take(&mut self.distribution);
            for (word, &score) in (0..).zip(&scores) {
                if score > f32::NEG_INFINITY && !self.is_excluded(&request, word) {
                    // The session's scores have the uncorrected normaliser.
                    self.candidates.push(Candidate::new(word, score + (normalizer - corrected)));
                }
            }
            self.distribution = scores;
        } else {
            for at in 0..self.top_k[row].candidates().len() {
                let best = self.top_k[row].candidates()[at];
                if !self.is_excluded(&request, best.id) {
                    self.candidates.push(Candidate::new(best.id, best.logit - corrected));
                }
            }
        }
        if !repeated.is_empty() {
            let words = &self.repeated[request.repeated.clone()];
            for (&word, at) in words.iter().zip(repeated) {
                let score = apply_repetition_penalty(self.logits[at], penalty) - corrected;
                if score > f32::NEG_INFINITY {
                    self.candidates.push(Candidate::new(word, score));
                }
            }
            if request.top_k != FULL_VOCABULARY {
                self.candidates[first..].sort_unstable_by(Candidate::cmp_best_first);
            }
        }
        self.candidates.truncate(first.saturating_add(request.top_k));
        if let Some(favoured) = request.favoured {
            self.mix_in(favoured, &request, first);
        }
        Ok(())
    }

    /// Favours a token among the candidates of a row, which begin at `first`: see
    /// [`favour_token`](Self::favour_token).
    fn mix_in(&mut self, Favoured { token, beta }: Favoured, request: &RowRequest, first: usize) {
        let required = &self.required[request.required.clone()];
        let found = required.iter().find(|candidate| candidate.token == token);
        let is_suppressed = self.suppress_mask.get(token as usize) == Some(&true)
            || self.suppressed[request.suppressed.clone()].binary_search(&token).is_ok();
        let probability = match found {
            Some(candidate) if !is_suppressed => candidate.score.exp(),
            _ => 0.0,
        };
        let mixed = Candidate::new(token, ((1.0 - beta) * probability + beta).ln());
        let found = self.candidates[first..].iter().position(|other| other.token == token);
        if let Some(at) = found {
            self.candidates.remove(first + at);
        }
        let others = &mut self.candidates[first..];
        let lost = (1.0 - beta).ln();
        others.iter_mut().for_each(|other| other.score += lost);
        let place = match request.top_k {
            // Repeated tokens are after the others, so the list may not be sorted.
            FULL_VOCABULARY => {
                others.iter().position(|other| other.token > token).unwrap_or(others.len())
            }
            _ => others.partition_point(|other| other.cmp_best_first(&mixed).is_lt()),
        };
        self.candidates.insert(first + place, mixed);
        self.candidates.truncate(first.saturating_add(request.top_k));
    }

    /// Returns the total probability of the tokens that are not repeated. If probabilities are
    /// renormalised, suppressed tokens do not count either.
    fn remaining_mass(
        &mut self,
        session: &mut dyn Session,
        row: usize,
        request: &RowRequest,
    ) -> Result<f64> {
        session.log_probabilities(row as u32, &mut self.distribution)?;
        let all = (0..).zip(&self.distribution);
        let kept = all.filter(|(word, _)| {
            self.options.renormalize && !self.is_excluded(request, *word)
                || !self.options.renormalize
                    && self.repeated[request.repeated.clone()].binary_search(word).is_err()
        });
        Ok(kept.map(|(_, &score)| f64::from(score).exp()).sum())
    }
}

/// Sorts a list and moves its distinct elements, except the excluded ones, to its beginning.
/// Returns the number of the moved elements.
fn sort_dedup_excluding(list: &mut [u32], is_excluded: impl Fn(&u32) -> bool) -> usize {
    list.sort_unstable();
    let mut count = 0;
    for at in 0..list.len() {
        let word = list[at];
        if (count == 0 || list[count - 1] != word) && !is_excluded(&word) {
            list[count] = word;
            count += 1;
        }
    }
    count
}
