//! Which hypotheses go on, and with which words: the order in which the beam takes them.

use super::{Hypothesis, Sentence};
use crate::search::constraint::{Progress, share};
use crate::search::offer::{Offer, Offers};
use crate::search::sampling::{Place, draw};
use crate::search::{Rules, Sampling, SearchOptions};
use crate::{Error, Result};

/// A hypothesis one word longer, while hypotheses are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Of the sentence's rows.
    pub row: usize,
    pub word: u32,
    pub score: f32,
    pub total: f32,
    pub progress: Progress,
    pub draw: u32,
}

/// Lists that all sentences share, so that their memory is used again.
#[derive(Default)]
pub(in crate::search) struct Scratch {
    pub(super) choices: Vec<Choice>,
    ranks: Vec<(u32, Choice)>,
    heads: Vec<usize>,
    pub(super) next: Vec<Hypothesis>,
    pub(super) words: Vec<u32>,
    pool: Vec<Offer>,
}

impl Sentence {
    /// The hypotheses one word longer, in the order in which the beam takes them.
    pub(super) fn choose(
        &self,
        options: &SearchOptions,
        offers: &Offers,
        first: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.choices.clear();
        if let Some(&word) = self.prefix.get(self.step) {
            let hypothesis = &self.live[0];
            let found = offers.required(first)[0].score;
            if !found.is_finite() {
                let reason = format!(
                    "the model has no probability for word {} of its prefix",
                    self.step + 1
                );
                return Err(Error::Untranslatable { reason });
            }
            // CTranslate2 counts what was given as certain.
            let score = if options.rules == Rules::Marian { found } else { 0.0 };
            let total = hypothesis.total + score;
            let progress = self.constraints.after(hypothesis.progress, word);
            scratch.choices.push(Choice { row: 0, word, score, total, progress, draw: 0 });
        } else if let Some(sampling) = &options.sampling {
            self.drawn(options.rules, sampling, offers, first, scratch);
        } else if self.constraints.words() > 0 {
            self.constrained(options, offers, first, scratch);
        } else {
            self.merge(options, offers, first, scratch);
        }
        // CTranslate2 has one hypothesis at most end directly behind a prefix.
        let behind = self.step == self.prefix.len() && !self.prefix.is_empty();
        if behind && options.rules == Rules::CTranslate2 && options.sampling.is_none() {
            let mut place = 0;
            scratch.choices.retain(|choice| {
                place += 1;
                place == 1 || choice.word != options.end
            });
        }
        Ok(())
    }

    /// One word drawn for each row.
    fn drawn(
        &self,
        rules: Rules,
        sampling: &Sampling,
        offers: &Offers,
        first: usize,
        scratch: &mut Scratch,
    ) {
        // All draws share the first row.
        let draws = if self.step == self.prefix.len() { self.width } else { self.live.len() };
        for at in 0..draws {
            let (row, number) = match self.step == self.prefix.len() {
                true => (0, at as u32),
                false => (at, self.live[at].draw),
            };
            let place = Place { sentence: self.id, draw: number, step: self.step as u32 };
            scratch.pool.clear();
            scratch.pool.extend_from_slice(offers.of(first + row));
            let Some(offer) = draw(sampling, rules, place, &mut scratch.pool) else {
                continue;
            };
            let hypothesis = &self.live[row];
            scratch.choices.push(Choice {
                row,
                word: offer.word,
                score: offer.score,
                total: hypothesis.total + offer.score,
                progress: hypothesis.progress,
                draw: number,
            });
        }
    }

    /// The best of all rows. Each row's are sorted already: the best of their heads is
    /// taken again and again, of equal ones that of the first row.
    fn merge(&self, options: &SearchOptions, offers: &Offers, first: usize, scratch: &mut Scratch) {
        let most = match options.rules {
            Rules::Marian => self.width,
            Rules::CTranslate2 => 2 * self.width,
        };
        let Scratch { choices, heads, .. } = scratch;
        heads.clear();
        heads.resize(self.live.len(), 0);
        while choices.len() < most {
            let mut best: Option<Choice> = None;
            for (row, hypothesis) in self.live.iter().enumerate() {
                let Some(offer) = offers.of(first + row).get(heads[row]) else { continue };
                let total = hypothesis.total + offer.score;
                if best.is_none_or(|best| total > best.total) {
                    let (word, score) = (offer.word, offer.score);
                    let progress = Progress::default();
                    best = Some(Choice { row, word, score, total, progress, draw: 0 });
                }
            }
            let Some(best) = best else { return };
            heads[best.row] += 1;
            choices.push(best);
        }
    }

    /// The best words of all rows, and those that constraints need, bank by bank. What
    /// could not meet its constraints any more within the limit is left out, so that
    /// every translation has them.
    fn constrained(
        &self,
        options: &SearchOptions,
        offers: &Offers,
        first: usize,
        scratch: &mut Scratch,
    ) {
        let steps_left = self.limit - self.step - 1;
        let Scratch { choices, ranks, .. } = scratch;
        for (row, hypothesis) in self.live.iter().enumerate() {
            let begin = choices.len();
            let required = offers.required(first + row);
            for offer in required.iter().chain(offers.of(first + row)) {
                let taken = choices[begin..].iter().any(|choice| choice.word == offer.word);
                let progress = self.constraints.after(hypothesis.progress, offer.word);
                let left = self.constraints.left(progress);
                let possible =
                    if offer.word == options.end { left == 0 } else { left <= steps_left };
                if !taken && possible && offer.score.is_finite() {
                    let (word, score) = (offer.word, offer.score);
                    let total = hypothesis.total + score;
                    choices.push(Choice { row, word, score, total, progress, draw: 0 });
                }
            }
        }
        // Of equal totals that of the lower row, then that of the better word: sums of many
        // words are coarse.
        choices.sort_by(|a, b| {
            let by_total = b.total.total_cmp(&a.total).then(a.row.cmp(&b.row));
            by_total.then(b.score.total_cmp(&a.score))
        });
        share(choices, |choice| choice.progress.words, ranks);
    }
}
