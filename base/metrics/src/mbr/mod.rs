//! Minimum Bayes risk decoding (Kumar and Byrne 2004): from a list, the candidate whose utility
//! is largest on average when every candidate in turn is the reference.
//!
//! The utility of a pair is the metric's score of one line against the other, to the last bit the
//! same as from [`sentence_score`](crate::sentence_score). But a list is prepared once: n-grams
//! become numbers, and the matches of a candidate with all others are counted together
//! ([`matches`]). There are two cheaper estimates, by Vamvas and Sennrich (2024). The first uses
//! one average reference instead of all. The second uses the first to choose the candidates for the
//! exact sums.

mod aggregate;
mod bleu;
mod chrf;
mod matches;
mod ngrams;
mod ter;

use crate::{Bleu, Chrf, Ter};
use bleu::BleuScorer;
use chrf::ChrfScorer;
use matches::{MatchIndex, MatchRow};
use ngrams::ListNgrams;
use ter::TerList;

/// The metric whose average is maximised.
#[derive(Clone, Debug)]
pub enum Utility {
    /// chrF.
    Chrf(Chrf),
    /// Sentence BLEU.
    Bleu(Bleu),
    /// TER, whose average is minimised: utilities are negative.
    Ter(Ter),
}

/// The way in which expected utilities are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimate {
    /// Every candidate against every reference.
    #[default]
    Exact,
    /// Every candidate against one reference with the average counts of n-grams.
    Aggregate,
    /// The given number of candidates, the best by [`Estimate::Aggregate`], against every
    /// reference.
    CoarseToFine(usize),
}

/// The candidates of a sentence, prepared for a utility.
///
/// # Examples
/// ```
/// use miriam_metrics::mbr::{CandidateList, Estimate, Utility};
/// use miriam_metrics::Chrf;
///
/// let candidates = ["the cat sat", "the cat sits", "a dog"];
/// let list = CandidateList::new(&Utility::Chrf(Chrf::default()), &candidates);
/// let ranked = list.rank(&[0.4, 0.3, 0.3], Estimate::Exact);
/// assert_eq!(candidates[ranked[0].0], "the cat sat");
/// ```
pub struct CandidateList(Prepared);

enum Prepared {
    Ngrams { list: ListNgrams, scorer: Box<dyn PairScorer> },
    Ter { list: TerList, coarse: ListNgrams },
}

/// The utility of a pair, for a metric over n-grams.
trait PairScorer: Send + Sync {
    /// Computes the utilities of `candidate` against references from `from` on, into `forward`;
    /// and the utilities of these references against `candidate`, into `backward` if there is one.
    fn score_row(
        &self,
        candidate: usize,
        from: usize,
        row: &MatchRow,
        forward: &mut [f64],
        backward: Option<&mut [f64]>,
    );

    /// Returns the utility of a candidate against an average reference. `matches` and the
    /// reference's `totals` are real numbers, by order.
    fn score_totals(&self, candidate: usize, matches: &[f64], totals: &[f64]) -> f64;
}

impl CandidateList {
    /// Prepares candidates.
    pub fn new(utility: &Utility, candidates: &[&str]) -> Self {
        CandidateList(match utility {
            Utility::Chrf(metric) => {
                let list = chrf::count_ngrams(metric, candidates);
                let scorer = Box::new(ChrfScorer::new(*metric, &list));
                Prepared::Ngrams { list, scorer }
            }
            Utility::Bleu(metric) => {
                let list = bleu::count_ngrams(metric, candidates);
                let scorer = Box::new(BleuScorer::new(metric, &list));
                Prepared::Ngrams { list, scorer }
            }
            Utility::Ter(metric) => {
                let list = TerList::new(metric, candidates);
                let coarse = list.count_ngrams();
                Prepared::Ter { list, coarse }
            }
        })
    }

    /// Returns the indices of candidates with their expected utilities, where references have the
    /// weights `weights`. The best come first; candidates of equal utility are in the order of the
    /// list. All candidates are ranked, except by [`Estimate::CoarseToFine`], which ranks those it
    /// keeps.
    pub fn rank(&self, weights: &[f64], estimate: Estimate) -> Vec<(usize, f64)> {
        let ranked = match estimate {
            Estimate::Exact => self.expected(weights).into_iter().enumerate().collect(),
            Estimate::Aggregate => self.aggregated(weights).into_iter().enumerate().collect(),
            Estimate::CoarseToFine(kept) if kept >= weights.len() => {
                return self.rank(weights, Estimate::Exact);
            }
            Estimate::CoarseToFine(kept) => {
                let coarse = self.aggregated(weights).into_iter().enumerate().collect();
                let mut candidates: Vec<usize> =
                    best_first(coarse).into_iter().take(kept).map(|(i, _)| i).collect();
                candidates.sort_unstable();
                let expected = self.expected_for(&candidates, weights);
                candidates.into_iter().zip(expected).collect()
            }
        };
        best_first(ranked)
    }

    /// Returns the expected utility of every candidate. Sums are over references in their order,
    /// each with its weight.
    pub fn expected(&self, weights: &[f64]) -> Vec<f64> {
        match &self.0 {
            Prepared::Ngrams { list, scorer } => expected(list, &**scorer, weights),
            Prepared::Ter { list, .. } => {
                (0..weights.len()).map(|i| list.expected(i, weights)).collect()
            }
        }
    }

    /// Works like [`CandidateList::expected`], for some candidates.
    fn expected_for(&self, candidates: &[usize], weights: &[f64]) -> Vec<f64> {
        match &self.0 {
            Prepared::Ngrams { list, scorer } => expected_for(candidates, list, &**scorer, weights),
            Prepared::Ter { list, .. } => {
                candidates.iter().map(|&i| list.expected(i, weights)).collect()
            }
        }
    }

    /// Returns the utility of every candidate against the average reference. Edits of TER
    /// have no average, so for TER it is the sentence BLEU of the words that TER compares.
    fn aggregated(&self, weights: &[f64]) -> Vec<f64> {
        match &self.0 {
            Prepared::Ngrams { list, scorer } => aggregate::utilities(list, &**scorer, weights),
            Prepared::Ter { coarse, .. } => {
                let scorer = BleuScorer::new(&Bleu::default(), coarse);
                aggregate::utilities(coarse, &scorer, weights)
            }
        }
    }
}

fn best_first(mut ranked: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// Returns the expected utility of every candidate. A pair is counted once for both directions.
fn expected(list: &ListNgrams, scorer: &dyn PairScorer, weights: &[f64]) -> Vec<f64> {
    let index = MatchIndex::new(list);
    let count = list.num_candidates();
    let mut sums = vec![0.0; count];
    let mut row = MatchRow::default();
    let (mut forward, mut backward) = (vec![0.0; index.stride()], vec![0.0; index.stride()]);
    // Rows are in the order of references, so that each sum has that order too.
    for candidate in 0..count {
        let from = candidate + 1;
        index.fill_row(candidate, from, &mut row);
        scorer.score_row(candidate, from, &row, &mut forward, Some(&mut backward));
        let weight = weights[candidate];
        let own = score_itself(list, scorer, candidate);
        let mut sum = sums[candidate] + weight * own;
        for other in from..count {
            sum += weights[other] * forward[other];
        }
        sums[candidate] = sum;
        for (sum, utility) in sums[from..].iter_mut().zip(&backward[from..]) {
            *sum += weight * utility;
        }
    }
    sums
}

fn expected_for(
    candidates: &[usize],
    list: &ListNgrams,
    scorer: &dyn PairScorer,
    weights: &[f64],
) -> Vec<f64> {
    let index = MatchIndex::new(list);
    let mut row = MatchRow::default();
    let mut forward = vec![0.0; index.stride()];
    let sums = candidates.iter().map(|&candidate| {
        index.fill_row(candidate, 0, &mut row);
        scorer.score_row(candidate, 0, &row, &mut forward, None);
        forward[candidate] = score_itself(list, scorer, candidate);
        weights.iter().zip(&forward).fold(0.0, |sum, (weight, utility)| sum + weight * utility)
    });
    sums.collect()
}

/// Returns the utility of a candidate against itself.
fn score_itself(list: &ListNgrams, scorer: &dyn PairScorer, candidate: usize) -> f64 {
    let totals: Vec<f64> =
        (0..list.num_orders()).map(|order| list.total(candidate, order).into()).collect();
    scorer.score_totals(candidate, &totals, &totals)
}

#[cfg(test)]
mod tests;
