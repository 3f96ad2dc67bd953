//! The best translations of a sentence with the values of all features
//! (`phrase-decoding.md` 3.14).
//!
//! [`paths`] finds them in the lattice that the search keeps, [`values`] computes
//! what the search did not keep: the features one by one.

mod paths;
mod values;

use hashbrown::{HashSet, HashTable};
use miriam_textio::WordId;

pub(crate) use values::{FeatureValues, FinishedSearch};

use crate::output::TranslatedPhrase;
use crate::search::{Hypothesis, HypothesisId};
#[cfg(doc)]
use crate::translator::MAX_SENTENCE_WORDS;
use crate::translator::Translator;
use crate::{Result, System};
use paths::{PathQueue, SearchGraph};

/// A translation with the values of all features.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// The model score.
    pub score: f32,
    /// The phrases in target order.
    pub phrases: Vec<TranslatedPhrase>,
    /// Unweighted values, one a score of each feature; [`System::features`] tells
    /// whose they are.
    pub values: Vec<f32>,
}

/// How far a list goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NBestLimits {
    /// Entries at most.
    pub(crate) max_entries: usize,
    /// Candidates tried at most.
    pub(crate) max_candidates: usize,
    /// Whether entries with the words of an earlier one are left out.
    pub(crate) distinct: bool,
}

/// An entry of a list, while it is visited.
#[derive(Clone, Copy)]
pub(crate) struct NBestEntry<'a> {
    /// Its hypotheses, the last phrase first.
    pub(crate) hypotheses: &'a [HypothesisId],
    pub(crate) values: &'a [f32],
    pub(crate) total: f32,
}

/// The lists of a translator, in buffers that are reused.
#[derive(Default)]
pub(crate) struct NBest {
    paths: PathQueue,
    values: FeatureValues,
    seen_words: SeenWords,
    /// The same as texts, where words have factors.
    seen_texts: HashSet<Vec<u8>>,
}

impl Translator<'_> {
    /// The `size` best translations of `line` that the search has seen, best first,
    /// with the values of all features; of those with the same words only the
    /// first if `distinct`. At most n-best-factor times `size` candidates are
    /// looked at, so a distinct list may be shorter; and it is where the search
    /// has seen no more, or found nothing.
    ///
    /// From the first call on the translator keeps what lists need of every
    /// sentence, which makes [`Translator::translate`] a little slower.
    ///
    /// The list of a line of more than [`PIECE`] words holds one entry, the best
    /// translations of its pieces joined, scores and values added.
    pub fn n_best(&mut self, line: &[u8], size: usize, distinct: bool) -> Result<Vec<Derivation>> {
        self.enable_lattice();
        let mut list = Vec::new();
        if size == 0 {
            return Ok(list);
        }
        let mut joined = Derivation { score: 0.0, phrases: Vec::new(), values: Vec::new() };
        let score = self.decode_line(line, |translator, offset| {
            if translator.is_split {
                for &id in &translator.best_path {
                    joined.phrases.push(translator.translated_phrase(id, offset)?);
                }
                translator.add_best_values(&mut joined.values)?;
            }
            Ok(())
        })?;
        if self.is_split {
            list.extend(score.map(|score| Derivation { score, ..joined }));
            return Ok(list);
        }
        let tries = self.system.settings.output.n_best_factor.saturating_mul(size);
        self.for_each_n_best(
            NBestLimits { max_entries: size, max_candidates: tries, distinct },
            |translator, entry| {
                let phrases =
                    entry.hypotheses.iter().rev().map(|&id| translator.translated_phrase(id, 0));
                list.push(Derivation {
                    score: entry.total,
                    phrases: phrases.collect::<Result<_>>()?,
                    values: entry.values.to_vec(),
                });
                Ok(())
            },
        )?;
        Ok(list)
    }

    /// Visits the best translations of the sentence decoded last, best first.
    pub(crate) fn for_each_n_best(
        &mut self,
        extent: NBestLimits,
        visit: impl FnMut(&Self, NBestEntry<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut n_best = std::mem::take(&mut self.n_best);
        let result = n_best.visit(self, extent, visit);
        self.n_best = n_best;
        result
    }

    /// Visits the hypotheses of the best translation of the sentence decoded last,
    /// in target order, with the values so far.
    pub(crate) fn for_each_best_hypothesis(
        &mut self,
        mut visit: impl FnMut(&Self, HypothesisId, &[f32]) -> Result<()>,
    ) -> Result<()> {
        let mut n_best = std::mem::take(&mut self.n_best);
        n_best.values.start(self.system);
        let mut result = Ok(());
        for i in 0..self.best_path.len() {
            let id = self.best_path[i];
            let values = n_best.values.hypothesis_values(&mut self.finished_search(), id);
            result = values.and_then(|values| visit(self, id, values));
            if result.is_err() {
                break;
            }
        }
        self.n_best = n_best;
        result
    }

    /// Adds the values of the best translation of the sentence decoded last to
    /// `values`, which are empty or as long.
    pub(crate) fn add_best_values(&mut self, values: &mut Vec<f32>) -> Result<()> {
        values.resize(self.system.components.count, 0.0);
        let last = self.best_path.last().copied();
        self.for_each_best_hypothesis(|_, id, more| {
            if Some(id) == last {
                values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
            }
            Ok(())
        })
    }
}

impl NBest {
    fn visit<'s>(
        &mut self,
        translator: &mut Translator<'s>,
        extent: NBestLimits,
        mut visit: impl FnMut(&Translator<'s>, NBestEntry<'_>) -> Result<()>,
    ) -> Result<()> {
        let system: &System = translator.system;
        self.values.start(system);
        if translator.sentence.len() == 0 {
            if extent.max_entries.min(extent.max_candidates) > 0 {
                visit(
                    translator,
                    NBestEntry { hypotheses: &[], values: self.values.zero(), total: 0.0 },
                )?;
            }
            return Ok(());
        }
        if let Some(space) = translator.search_graph() {
            self.paths.start(space, translator.search.complete_hypotheses());
        }
        self.seen_words.clear();
        self.seen_texts.clear();
        let mut entries = 0;
        for _ in 0..extent.max_candidates {
            if entries == extent.max_entries {
                break;
            }
            let Some(space) = translator.search_graph() else { break };
            let Some(id) = self.paths.pop_best(space) else { break };
            if extent.distinct && !self.is_new(translator, space.hypotheses) {
                continue;
            }
            entries += 1;
            let values =
                self.values.path_values(&mut translator.finished_search(), &self.paths, id)?;
            let (nodes, total) = (self.paths.nodes(), self.paths.path(id).total);
            visit(translator, NBestEntry { hypotheses: nodes, values, total })?;
        }
        Ok(())
    }

    /// Whether the path found last says what none before it said.
    fn is_new(&mut self, translator: &Translator<'_>, hypotheses: &[Hypothesis]) -> bool {
        let phrases = self.paths.nodes().iter().rev().map(|id| &hypotheses[id.0 as usize]);
        if translator.system.factor_scheme.is_none() {
            return self
                .seen_words
                .insert(phrases.flat_map(|h| translator.options.words(h.option)));
        }
        // Of words that differ the same may be printed.
        let (mut text, printed) = (Vec::new(), translator.surface_forms());
        for hypothesis in phrases {
            printed.for_each_word_lossy(hypothesis.option, hypothesis.span, |word| {
                text.extend_from_slice(word);
                text.push(b' ');
            });
        }
        self.seen_texts.insert(text)
    }
}

impl Translator<'_> {
    fn search_graph(&self) -> Option<SearchGraph<'_>> {
        let lattice = self.search.lattice()?;
        Some(SearchGraph { hypotheses: self.search.hypotheses(), lattice })
    }

    fn finished_search(&mut self) -> FinishedSearch<'_> {
        let (space, search) = self.split_borrow();
        FinishedSearch { space, hypotheses: search.hypotheses() }
    }
}

/// Translations by their words.
#[derive(Default)]
struct SeenWords {
    words: Vec<WordId>,
    /// Where each translation ends.
    ends: Vec<u32>,
    ids: HashTable<u32>,
}

impl SeenWords {
    fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
        self.ids.clear();
    }

    /// Whether these words are new.
    fn insert<'a>(&mut self, words: impl Iterator<Item = &'a WordId>) -> bool {
        let start = self.words.len();
        self.words.extend(words);
        let hash = |words: &[WordId]| {
            words.iter().fold(words.len() as u64, |hash, word| {
                (hash ^ u64::from(word.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            })
        };
        let SeenWords { words, ends, ids } = self;
        let of = |id: u32| {
            let start = if id == 0 { 0 } else { ends[id as usize - 1] };
            &words[start as usize..ends[id as usize] as usize]
        };
        let new = &words[start..];
        if ids.find(hash(new), |&id| of(id) == new).is_some() {
            words.truncate(start);
            return false;
        }
        let id = ends.len() as u32;
        ends.push(words.len() as u32);
        let of = |id: u32| {
            let start = if id == 0 { 0 } else { ends[id as usize - 1] };
            &words[start as usize..ends[id as usize] as usize]
        };
        ids.insert_unique(hash(of(id)), id, |&id| hash(of(id)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_are_compared_by_their_words() {
        let mut seen = SeenWords::default();
        let mut new = |words: &[u32]| {
            let words: Vec<WordId> = words.iter().map(|&w| WordId(w)).collect();
            seen.insert(words.iter())
        };
        assert!(new(&[1, 2, 3]));
        assert!(!new(&[1, 2, 3]));
        assert!(new(&[1, 2]));
        assert!(new(&[]));
        assert!(!new(&[]));
        assert!((0..100).all(|i| new(&[i, i, i])));
        assert!(!new(&[1, 2]));
    }
}
