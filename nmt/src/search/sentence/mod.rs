//! One sentence under search: its living hypotheses, and those that have ended.

mod choice;
mod ending;

use super::constraint::{Constraints, Progress};
use super::offer::{ALL, Offers};
use super::repetition::completions;
use super::tree::{ROOT, Tree};
use super::{Request, Rules, SearchOptions};
use crate::network::{Row, Slot};
use crate::{Error, Result};
use choice::Choice;
use ending::Ended;

pub(super) use choice::Scratch;

/// Hypotheses of a sentence at most, whatever is asked for.
const MOST: usize = 1 << 16;

/// A sentence that is being translated.
#[derive(Default)]
pub(super) struct Sentence {
    /// What the caller knows it by.
    pub id: u64,
    /// What the session knows it by.
    pub slot: Slot,
    prefix: Vec<u32>,
    constraints: Constraints,
    /// Words of the source.
    source: usize,
    /// Words at most, `</s>` counting.
    limit: usize,
    /// Words that living hypotheses have.
    step: usize,
    /// Hypotheses that may live.
    width: usize,
    live: Vec<Hypothesis>,
    tree: Tree,
    ended: Vec<Ended>,
    /// Whether the best of a step was one that ended.
    best_ended: bool,
}

/// A living hypothesis.
#[derive(Clone, Copy, Debug)]
struct Hypothesis {
    node: u32,
    word: Option<u32>,
    /// The row it continues.
    row: Option<u32>,
    total: f32,
    progress: Progress,
    /// Which of several draws it is.
    draw: u32,
}

/// What has become of a sentence in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It goes on.
    Living,
    /// Its translations are there.
    Done,
}

impl Sentence {
    /// Begins with one empty hypothesis.
    pub fn start(
        &mut self,
        id: u64,
        slot: Slot,
        request: &Request,
        options: &SearchOptions,
    ) -> Result<()> {
        self.id = id;
        self.slot = slot;
        self.prefix.clone_from(&request.prefix);
        self.constraints = Constraints::new(&request.constraints)?;
        self.source = request.source.len();
        self.limit = options.limit(self.source);
        // What is asked for has room in any case.
        self.limit = self.limit.max(self.prefix.len() + self.constraints.words() + 1);
        self.step = 0;
        self.width = match options.sampling {
            Some(_) => options.n_best,
            None => options.beam,
        }
        .clamp(1, MOST);
        self.tree.clear(if options.keeps_attention() { self.source } else { 0 });
        self.ended.clear();
        self.best_ended = false;
        self.live.clear();
        self.live.push(Hypothesis {
            node: ROOT,
            word: None,
            row: None,
            total: 0.0,
            progress: Progress::default(),
            draw: 0,
        });
        Ok(())
    }

    /// The rows of the coming step, and what is wanted of each.
    pub fn plan(
        &self,
        options: &SearchOptions,
        rows: &mut Vec<Row>,
        offers: &mut Offers,
        scratch: &mut Scratch,
    ) {
        let slot = self.slot;
        for hypothesis in &self.live {
            rows.push(Row { slot, parent: hypothesis.row, word: hypothesis.word });
            if let Some(&word) = self.prefix.get(self.step) {
                offers.row(0);
                offers.require(word);
                continue;
            }
            offers.row(match options.sampling {
                Some(sampling) if sampling.top_k > 0 => sampling.top_k,
                Some(_) => ALL,
                // Besides as many that live one that ends.
                None => self.width + usize::from(options.rules == Rules::CTranslate2),
            });
            if self.step < options.min_length {
                offers.forbid(options.end);
            }
            if options.no_repeat_ngram > 0 || options.repetition_penalty != 1.0 {
                self.tree.words(hypothesis.node, &mut scratch.words);
                let length = options.no_repeat_ngram;
                completions(&scratch.words, length, |word| offers.forbid(word));
                if options.repetition_penalty != 1.0 {
                    scratch.words.iter().for_each(|&word| offers.repeat(word));
                }
            }
            if self.constraints.words() > 0 {
                self.constraints.next(hypothesis.progress, |word| offers.require(word));
            }
        }
    }

    /// Words of the source.
    pub fn source_words(&self) -> usize {
        self.source
    }

    /// Rows of the step.
    pub fn rows(&self) -> usize {
        self.live.len()
    }

    /// Keeps the attention of a row of the step. Goes before [`advance`](Self::advance).
    pub fn attend(&mut self, weights: &[f32]) {
        self.tree.attend(weights);
    }

    /// Takes the step whose rows begin at `first` of all rows.
    pub fn advance(
        &mut self,
        options: &SearchOptions,
        offers: &Offers,
        first: usize,
        scratch: &mut Scratch,
    ) -> Result<Outcome> {
        let forced = self.step < self.prefix.len();
        if (first..first + self.live.len()).any(|row| offers.is_broken(row)) {
            let reason = format!("after {} words the model gives no numbers", self.step);
            return Err(Error::Untranslatable { reason });
        }
        self.choose(options, offers, first, scratch)?;
        if scratch.choices.is_empty() {
            self.give_up()?;
            return Ok(Outcome::Done);
        }
        // The rows of attention that were kept last are those of this step.
        let attention = self.tree.attentions().saturating_sub(self.live.len());
        let last = self.step + 1 == self.limit;
        let room = self.width;
        scratch.next.clear();
        for (place, choice) in scratch.choices.iter().enumerate() {
            let ends = choice.word == options.end && !forced;
            let stays = !ends
                && !last
                && match options.rules {
                    Rules::Marian => place < room,
                    Rules::CTranslate2 => scratch.next.len() < room,
                };
            let counts = place < room && (ends || last);
            if !(stays || counts) {
                continue;
            }
            let parent = &self.live[choice.row];
            let Choice { word, score, total, .. } = *choice;
            let node = self.tree.add(parent.node, word, score, attention + choice.row);
            if counts {
                self.best_ended |= place == 0;
                let words = self.step + 1;
                self.ended.push(Ended { node, total, words, by_itself: ends });
                if options.rules == Rules::Marian {
                    self.width -= 1;
                }
            } else {
                scratch.next.push(Hypothesis {
                    node,
                    word: Some(word),
                    row: Some((first + choice.row) as u32),
                    total,
                    progress: choice.progress,
                    draw: choice.draw,
                });
            }
        }
        std::mem::swap(&mut self.live, &mut scratch.next);
        self.step += 1;
        if self.tree.is_full() {
            let live = self.live.iter_mut().map(|hypothesis| &mut hypothesis.node);
            self.tree.prune(live.chain(self.ended.iter_mut().map(|ended| &mut ended.node)));
        }
        Ok(if last || self.is_done(options) { Outcome::Done } else { Outcome::Living })
    }

    /// No word can follow any hypothesis: they count as they are.
    fn give_up(&mut self) -> Result<()> {
        if self.ended.is_empty() {
            let unmet = self.live.iter().any(|h| self.constraints.left(h.progress) > 0);
            if self.step == 0 || unmet {
                let reason = format!("after {} words all others are forbidden", self.step);
                return Err(Error::Untranslatable { reason });
            }
            let words = self.step;
            let cut =
                |h: &Hypothesis| Ended { node: h.node, total: h.total, words, by_itself: false };
            self.ended.extend(self.live.iter().map(cut));
        }
        Ok(())
    }

    fn is_done(&self, options: &SearchOptions) -> bool {
        if self.live.is_empty() {
            return true;
        }
        if options.sampling.is_some() || self.ended.is_empty() {
            return false;
        }
        if let Some(margin) = options.early_stop {
            let live = self.live.iter().map(|hypothesis| hypothesis.total).fold(f32::MIN, f32::max);
            let ended = self.ended.iter().map(|ended| ended.total).fold(f32::MIN, f32::max);
            if live < ended - margin {
                return true;
            }
        }
        options.rules == Rules::CTranslate2
            && if options.length_penalty == 0.0 && options.coverage_penalty == 0.0 {
                self.best_ended && self.ended.len() >= options.n_best.min(options.beam)
            } else {
                self.ended.len() >= options.enough()
            }
    }
}
