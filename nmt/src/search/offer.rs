//! What may follow each row: words and their scores, as search has to see them.
//!
//! A session knows what the model says. Between it and search lie words that must not
//! come, words whose scores are asked for whatever they are, and penalties for repeating
//! oneself. All rows are asked at once.
//!
//! Where a word is forbidden, Marian leaves the probabilities of the others as they are,
//! and CTranslate2 has them sum to 1 again. The normaliser is corrected for that by the few
//! logits that change, not computed anew.

use std::cmp::Ordering;
use std::ops::Range;

use super::repetition::penalised;
use crate::network::{Best, Session};

/// So many forbidden words a row are asked for besides at first; more only where they do
/// crowd out others.
const SPARE: usize = 8;

/// Less of a probability than this is not trusted as what is left when others are taken off.
const TRUSTED: f64 = 0.05;

/// For [`Offers::row`]: all words there are.
pub(super) const ALL: usize = usize::MAX;

/// A word that may follow, and its score: the logarithm of its probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offer {
    pub word: u32,
    pub score: f32,
}

impl Offer {
    /// Best first, of equal ones the lower word.
    pub fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.word.cmp(&other.word))
    }
}

/// Rules that hold for all rows.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    /// Whether scores are logits as they are.
    pub raw: bool,
    /// Whether the probabilities of the words that are not forbidden sum to 1.
    pub renormalise: bool,
    /// What logits of repeated words are multiplied with or divided by.
    pub repetition_penalty: f32,
}

/// What is asked for one row: ranges of the lists of all rows.
#[derive(Clone, Debug, Default)]
struct Wish {
    most: usize,
    forbidden: Range<usize>,
    repeated: Range<usize>,
    required: Range<usize>,
}

/// The rows of a step: first what is wanted of each, then what they were offered.
pub(super) struct Offers {
    policy: Policy,
    never: Vec<u32>,
    /// By word.
    is_never: Vec<bool>,
    wishes: Vec<Wish>,
    forbidden: Vec<u32>,
    repeated: Vec<u32>,
    required: Vec<Offer>,
    best: Vec<Best>,
    again: Vec<Best>,
    wanted: Vec<(u32, u32)>,
    logits: Vec<f32>,
    distribution: Vec<f32>,
    offers: Vec<Offer>,
    ranges: Vec<Range<usize>>,
    broken: Vec<bool>,
}

impl Offers {
    /// No rows yet. The words `never`, as far as they are among so many `words`, are
    /// forbidden in all of them.
    pub fn new(policy: Policy, never: &[u32], words: usize) -> Self {
        let exist = |word: &u32| (*word as usize) < words;
        let mut never: Vec<u32> = never.iter().copied().filter(exist).collect();
        never.sort_unstable();
        never.dedup();
        let mut is_never = vec![false; never.last().map_or(0, |&word| word as usize + 1)];
        never.iter().for_each(|&word| is_never[word as usize] = true);
        Offers {
            policy,
            never,
            is_never,
            wishes: Vec::new(),
            forbidden: Vec::new(),
            repeated: Vec::new(),
            required: Vec::new(),
            best: Vec::new(),
            again: Vec::new(),
            wanted: Vec::new(),
            logits: Vec::new(),
            distribution: Vec::new(),
            offers: Vec::new(),
            ranges: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.wishes.clear();
        self.forbidden.clear();
        self.repeated.clear();
        self.required.clear();
    }

    /// The next row, of which the `most` best words are wanted, or [`ALL`].
    pub fn row(&mut self, most: usize) {
        let (forbidden, repeated) = (self.forbidden.len(), self.repeated.len());
        let required = self.required.len();
        self.wishes.push(Wish {
            most,
            forbidden: forbidden..forbidden,
            repeated: repeated..repeated,
            required: required..required,
        });
    }

    /// Forbids a word in the last row.
    pub fn forbid(&mut self, word: u32) {
        let wish = self.wishes.last_mut().expect("a row");
        self.forbidden.push(word);
        wish.forbidden.end += 1;
    }

    /// Says that the last row has a word already.
    pub fn repeat(&mut self, word: u32) {
        let wish = self.wishes.last_mut().expect("a row");
        self.repeated.push(word);
        wish.repeated.end += 1;
    }

    /// Asks for the score of a word in the last row, even if it is forbidden.
    pub fn require(&mut self, word: u32) {
        let wish = self.wishes.last_mut().expect("a row");
        if !self.required[wish.required.clone()].iter().any(|offer| offer.word == word) {
            self.required.push(Offer { word, score: f32::NEG_INFINITY });
            wish.required.end += 1;
        }
    }

    /// What a row was offered, best first; by number, if all was wanted. Nothing where the
    /// model gives no numbers.
    pub fn of(&self, row: usize) -> &[Offer] {
        &self.offers[self.ranges[row].clone()]
    }

    /// Whether the model gave no numbers for a row.
    pub fn is_broken(&self, row: usize) -> bool {
        self.broken[row]
    }

    /// The scores that were asked for, in that order.
    pub fn required(&self, row: usize) -> &[Offer] {
        &self.required[self.wishes[row].required.clone()]
    }

    /// Leaves each word once in each list, ascending, and in the first of those that have
    /// it: never, forbidden, repeated.
    fn put_in_order(&mut self) {
        let is_never = |word: &u32| self.is_never.get(*word as usize) == Some(&true);
        for wish in &mut self.wishes {
            let forbidden = &mut self.forbidden[wish.forbidden.clone()];
            let count = distinct(forbidden, is_never);
            wish.forbidden.end = wish.forbidden.start + count;
            let forbidden = &forbidden[..count];
            let other = |word: &u32| is_never(word) || forbidden.binary_search(word).is_ok();
            let count = distinct(&mut self.repeated[wish.repeated.clone()], other);
            wish.repeated.end = wish.repeated.start + count;
        }
    }

    /// Whether a word must not follow, or has to be looked at apart.
    fn is_dropped(&self, wish: &Wish, word: u32) -> bool {
        let has = |list: &[u32]| !list.is_empty() && list.binary_search(&word).is_ok();
        self.is_never.get(word as usize) == Some(&true)
            || has(&self.forbidden[wish.forbidden.clone()])
            || has(&self.repeated[wish.repeated.clone()])
    }

    /// Words that may be among the best and are dropped.
    fn droppable(&self, wish: &Wish) -> usize {
        self.never.len() + wish.forbidden.len() + wish.repeated.len()
    }

    /// Asks the session, whose step has the rows.
    pub fn ask(&mut self, session: &mut dyn Session) {
        self.put_in_order();
        let rows = self.wishes.len();
        if self.best.len() < rows {
            self.best.resize_with(rows, || Best::new(0, true));
        }
        for (row, wish) in self.wishes.iter().enumerate() {
            let most = match wish.most {
                0 | ALL => 0,
                most => most + self.droppable(wish).min(SPARE),
            };
            self.best[row].reset(most, !self.policy.raw);
        }
        session.best(&mut self.best[..rows]);
        self.ask_again(session);
        self.ask_logits(session);
        self.offers.clear();
        self.ranges.clear();
        self.broken.clear();
        let mut logits = 0;
        for row in 0..rows {
            let first = self.offers.len();
            self.take(session, row, &mut logits);
            self.ranges.push(first..self.offers.len());
        }
    }

    /// Asks for more where forbidden words took the places of others.
    fn ask_again(&mut self, session: &mut dyn Session) {
        let rows = self.wishes.len();
        if (0..rows).all(|row| self.short(row).is_none()) {
            return;
        }
        let mut again = std::mem::take(&mut self.again);
        again.resize_with(again.len().max(rows), || Best::new(0, true));
        for (row, best) in again[..rows].iter_mut().enumerate() {
            let most = self.short(row);
            best.reset(most.unwrap_or(0), most.is_some() && !self.policy.raw);
        }
        session.best(&mut again[..rows]);
        for (best, again) in self.best.iter_mut().zip(&mut again) {
            if !again.candidates().is_empty() {
                std::mem::swap(best, again);
            }
        }
        self.again = again;
    }

    /// How many words of a row are to be asked for, if those it has are too few.
    fn short(&self, row: usize) -> Option<usize> {
        let (wish, best) = (&self.wishes[row], self.best[row].candidates());
        let dropped = self.droppable(wish);
        if dropped <= SPARE || matches!(wish.most, 0 | ALL) || best.len() < wish.most + SPARE {
            return None;
        }
        let kept = best.iter().filter(|best| !self.is_dropped(wish, best.id)).count();
        (kept < wish.most).then_some(wish.most + dropped)
    }

    /// Asks for the logits of single words, row by row: required ones, repeated ones, and
    /// where the normaliser depends on them forbidden ones.
    fn ask_logits(&mut self, session: &mut dyn Session) {
        self.wanted.clear();
        self.logits.clear();
        for (row, wish) in (0..).zip(&self.wishes) {
            let required = self.required[wish.required.clone()].iter().map(|offer| offer.word);
            let repeated = self.repeated[wish.repeated.clone()].iter().copied();
            self.wanted.extend(required.chain(repeated).map(|word| (row, word)));
            if self.policy.renormalise && !self.policy.raw {
                let forbidden = &self.forbidden[wish.forbidden.clone()];
                self.wanted.extend(self.never.iter().chain(forbidden).map(|&word| (row, word)));
            }
        }
        if !self.wanted.is_empty() {
            session.logits(&self.wanted, &mut self.logits);
        }
    }

    /// Makes the offers of one row. Its single logits begin at `at`, which goes past them.
    fn take(&mut self, session: &mut dyn Session, row: usize, at: &mut usize) {
        let wish = self.wishes[row].clone();
        let penalty = self.policy.repetition_penalty;
        let normaliser = match self.policy.raw {
            true if self.best[row].is_broken() => f32::NAN,
            true => 0.0,
            false => self.best[row].log_normaliser(),
        };
        let some = wish.most == 0 || wish.most == ALL || !self.best[row].candidates().is_empty();
        self.broken.push(normaliser.is_nan() || !some);
        let mut next = |count: usize| {
            *at += count;
            *at - count..*at
        };
        let required = next(wish.required.len());
        let repeated = next(wish.repeated.len());
        let forbidden = next(match self.policy.renormalise && !self.policy.raw {
            true => self.never.len() + wish.forbidden.len(),
            false => 0,
        });
        let mut corrected = normaliser;
        let unchanged = repeated.is_empty() && forbidden.is_empty();
        if !(self.policy.raw || unchanged) {
            let probability = |logit: f32| f64::from(logit - normaliser).exp();
            let logits = &self.logits;
            let gone =
                logits[repeated.start..forbidden.end].iter().map(|&logit| probability(logit));
            let came = logits[repeated.clone()].iter();
            let came: f64 = came.map(|&logit| probability(penalised(logit, penalty))).sum();
            let mut left = 1.0 - gone.sum::<f64>();
            if left < TRUSTED {
                left = self.left(session, row, &wish);
            }
            corrected += (left + came).ln() as f32;
            if corrected.is_nan() || corrected == f32::INFINITY {
                self.broken[row] = true;
            }
        }
        for (offer, at) in self.required[wish.required.clone()].iter_mut().zip(required) {
            let words = &self.repeated[wish.repeated.clone()];
            let is_repeated = words.binary_search(&offer.word).is_ok();
            let logit = self.logits[at];
            offer.score = if is_repeated { penalised(logit, penalty) } else { logit } - corrected;
        }
        if !corrected.is_finite() || wish.most == 0 {
            return;
        }
        let first = self.offers.len();
        if wish.most == ALL {
            session.distribution(row as u32, &mut self.distribution);
            let scores = std::mem::take(&mut self.distribution);
            for (word, &score) in (0..).zip(&scores) {
                if score > f32::NEG_INFINITY && !self.is_dropped(&wish, word) {
                    // Their normaliser is the session's.
                    self.offers.push(Offer { word, score: score + (normaliser - corrected) });
                }
            }
            self.distribution = scores;
        } else {
            for at in 0..self.best[row].candidates().len() {
                let best = self.best[row].candidates()[at];
                if !self.is_dropped(&wish, best.id) {
                    let score = best.logit - corrected;
                    self.offers.push(Offer { word: best.id, score });
                }
            }
        }
        if !repeated.is_empty() {
            let words = &self.repeated[wish.repeated.clone()];
            for (&word, at) in words.iter().zip(repeated) {
                let score = penalised(self.logits[at], penalty) - corrected;
                if score > f32::NEG_INFINITY {
                    self.offers.push(Offer { word, score });
                }
            }
            if wish.most != ALL {
                self.offers[first..].sort_unstable_by(Offer::order);
            }
        }
        self.offers.truncate(first.saturating_add(wish.most));
    }

    /// The probability of all words but the dropped ones.
    fn left(&mut self, session: &mut dyn Session, row: usize, wish: &Wish) -> f64 {
        session.distribution(row as u32, &mut self.distribution);
        let all = (0..).zip(&self.distribution);
        let kept = all.filter(|(word, _)| {
            self.policy.renormalise && !self.is_dropped(wish, *word)
                || !self.policy.renormalise
                    && self.repeated[wish.repeated.clone()].binary_search(word).is_err()
        });
        kept.map(|(_, &score)| f64::from(score).exp()).sum()
    }
}

/// Sorts a list without `others` and without words that it has before to its beginning;
/// gives how many they are.
fn distinct(list: &mut [u32], others: impl Fn(&u32) -> bool) -> usize {
    list.sort_unstable();
    let mut count = 0;
    for at in 0..list.len() {
        let word = list[at];
        if (count == 0 || list[count - 1] != word) && !others(&word) {
            list[count] = word;
            count += 1;
        }
    }
    count
}
