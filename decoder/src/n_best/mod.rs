//! The best translations of a sentence with the values of all features
//! (`docs/spec/phrase-decoding.md` 3.14).
//!
//! [`paths`] finds the translations in the lattice that the search keeps. [`values`] computes the
//! values of single features, which the search does not keep.

mod paths;
mod values;

use hashbrown::HashSet;
use miriam_textio::{SliceInterner, WordId};

use crate::Result;
use crate::decoded_sentence::{DecodedSentence, RescoredEntry};
use crate::hypothesis::HypothesisId;
use crate::output::TranslatedPhrase;
use crate::span::Span;
use crate::translation_options::OptionId;
use paths::{PathQueue, SearchGraph};
use values::FeatureValues;

/// A translation with the values of all features.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// The model score.
    pub score: f32,
    /// The phrases in target order.
    pub phrases: Vec<TranslatedPhrase>,
    /// Unweighted values, one per component; [`System::features`](crate::System::features) gives
    /// the components of each feature.
    pub values: Vec<f32>,
}

/// The limits of an n-best list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NBestLimits {
    /// The largest number of entries.
    pub(crate) max_entries: usize,
    /// The largest number of candidates that are tried.
    pub(crate) max_candidates: usize,
    /// Whether entries with the words of an earlier one are left out.
    pub(crate) distinct: bool,
}

/// An entry of a list, while it is visited.
#[derive(Clone, Copy)]
pub(crate) struct NBestEntry<'a> {
    /// Its hypotheses, the last phrase first; empty if a model of `[rescore]` has made the entry,
    /// or if the sentence has no words.
    pub(crate) hypotheses: &'a [HypothesisId],
    /// Its words, if a model of `[rescore]` has made the entry.
    pub(crate) words: Option<&'a [Vec<u8>]>,
    pub(crate) values: &'a [f32],
    pub(crate) total: f32,
}

/// Makes n-best lists, in buffers that are reused.
#[derive(Default)]
pub(crate) struct NBest {
    paths: PathQueue,
    values: FeatureValues,
    seen_words: SeenWords,
    /// The translations found so far, as texts; used if words have factors.
    seen_texts: HashSet<Vec<u8>>,
}

impl NBest {
    /// Visits the best translations of `decoded`, best first.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged, and if `visit` fails.
    pub(crate) fn for_each_entry(
        &mut self,
        decoded: DecodedSentence<'_>,
        limits: NBestLimits,
        mut visit: impl FnMut(NBestEntry<'_>) -> Result<()>,
    ) -> Result<()> {
        if let Some(entries) = decoded.rescored {
            return entries
                .iter()
                .take(limits.max_entries.min(limits.max_candidates))
                .try_for_each(|RescoredEntry { hypotheses, words, values, total, .. }| {
                    let words = words.as_deref();
                    visit(NBestEntry { hypotheses, words, values, total: *total })
                });
        }
        self.values.start(decoded.system);
        if decoded.sentence.len() == 0 {
            if limits.max_entries.min(limits.max_candidates) > 0 {
                let values = vec![0.0; decoded.system.num_components()];
                visit(NBestEntry { hypotheses: &[], words: None, values: &values, total: 0.0 })?;
            }
            return Ok(());
        }
        let Some(lattice) = decoded.search.lattice() else { return Ok(()) };
        let graph = SearchGraph { hypotheses: decoded.hypotheses(), lattice };
        self.paths.start(graph, decoded.search.complete_hypotheses());
        self.seen_words.clear();
        self.seen_texts.clear();
        let mut entries = 0;
        for _ in 0..limits.max_candidates {
            if entries == limits.max_entries {
                break;
            }
            let Some(id) = self.paths.pop_best(graph) else { break };
            if limits.distinct && !self.is_new(decoded) {
                continue;
            }
            entries += 1;
            let values = self.values.path_values(decoded, &self.paths, id)?;
            let (hypotheses, total) = (self.paths.nodes(), self.paths.path(id).total);
            visit(NBestEntry { hypotheses, words: None, values, total })?;
        }
        Ok(())
    }

    /// Visits the options of `decoded`, sorted by first word, length and table, the best of each
    /// table first. Each option has the values that do not depend on its neighbours.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged, and if `visit` fails.
    pub(crate) fn for_each_option(
        &mut self,
        decoded: DecodedSentence<'_>,
        mut visit: impl FnMut(OptionId, Span, &[f32]) -> Result<()>,
    ) -> Result<()> {
        self.values.start(decoded.system);
        let options = decoded.options;
        for start in 0..decoded.sentence.len() as u32 {
            for &end in options.span_ends(start) {
                let span = Span { start, end };
                for slot in 0..options.num_slots() {
                    let range = options.range(span, slot);
                    for id in (range.first..range.first + range.count).map(OptionId) {
                        visit(id, span, self.values.option_values(decoded, id, span)?)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Visits the hypotheses of the best translation of `decoded`, in target order, with
    /// the values so far.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged, and if `visit` fails.
    pub(crate) fn for_each_best_hypothesis(
        &mut self,
        decoded: DecodedSentence<'_>,
        mut visit: impl FnMut(HypothesisId, &[f32]) -> Result<()>,
    ) -> Result<()> {
        self.values.start(decoded.system);
        for &id in decoded.best_path {
            visit(id, self.values.hypothesis_values(decoded, id)?)?;
        }
        Ok(())
    }

    /// Adds the values of the best translation of `decoded` to `values`, which are empty or one per
    /// component.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged.
    pub(crate) fn add_best_values(
        &mut self,
        decoded: DecodedSentence<'_>,
        values: &mut Vec<f32>,
    ) -> Result<()> {
        values.resize(decoded.system.num_components(), 0.0);
        if let Some([best, ..]) = decoded.rescored {
            values.iter_mut().zip(&best.values).for_each(|(value, more)| *value += more);
            return Ok(());
        }
        let last = decoded.best_path.last().copied();
        self.for_each_best_hypothesis(decoded, |id, more| {
            if Some(id) == last {
                values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
            }
            Ok(())
        })
    }

    /// Whether the words of the path found last differ from the words of all earlier paths.
    fn is_new(&mut self, decoded: DecodedSentence<'_>) -> bool {
        let phrases = self.paths.nodes().iter().rev().map(|&id| decoded.hypothesis(id));
        if decoded.system.models.factor_scheme.is_none() {
            return self.seen_words.insert(phrases.flat_map(|h| decoded.options.words(h.option)));
        }
        // Different words may be printed the same.
        let (mut text, printed) = (Vec::new(), decoded.surface_forms());
        for hypothesis in phrases {
            printed.for_each_word_lossy(hypothesis.option, hypothesis.span, |word| {
                text.extend_from_slice(word);
                text.push(b' ');
            });
        }
        self.seen_texts.insert(text)
    }
}

/// Set of translations, compared by their words.
#[derive(Default)]
struct SeenWords {
    translations: SliceInterner<WordId>,
    scratch: Vec<WordId>,
}

impl SeenWords {
    fn clear(&mut self) {
        self.translations.clear();
    }

    /// Adds a translation and returns whether it is new.
    fn insert<'a>(&mut self, words: impl Iterator<Item = &'a WordId>) -> bool {
        self.scratch.clear();
        self.scratch.extend(words);
        let count = self.translations.len();
        self.translations.intern(&self.scratch, |words| {
            words.iter().fold(words.len() as u64, |hash, word| {
                (hash ^ u64::from(word.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            })
        });
        self.translations.len() > count
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
