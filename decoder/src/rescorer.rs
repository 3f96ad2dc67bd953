//! Rescoring of the n-best list of a sentence by the models of `[rescore]`. The list is sorted by
//! the new scores, and its first entry is the translation.

use hashbrown::HashSet;
use miriam_combine::lists::{
    CandidateList, CandidateTranslator, FeatureScorer, ListError, score_available,
};
use miriam_textio::fields::split_words;

use crate::decoded_sentence::{DecodedSentence, RescoredEntry};
use crate::features::WholeText;
use crate::hypothesis::HypothesisId;
use crate::line_errors::{LineError, LineErrorKind};
use crate::n_best::{NBest, NBestLimits};
use crate::rescoring::Rescoring;
use crate::system::System;
use crate::{Error, Result};

/// Rescores the n-best list of one sentence after the other, in buffers that it reuses. Without
/// models of `[rescore]` it changes nothing.
pub(crate) struct Rescorer<'s> {
    system: &'s System,
    /// A scorer of each model, created for the first list.
    scorers: Vec<Box<dyn FeatureScorer + 's>>,
    /// Translators of the models that add translations, with the indices of the models.
    translators: Vec<(usize, Box<dyn CandidateTranslator + 's>)>,
    n_best: NBest,
    /// The list of the last sentence, best first; empty if it was not rescored.
    entries: Vec<RescoredEntry>,
    /// The hypotheses of the best entry, the first phrase first; empty if a model added the entry.
    best_path: Vec<HypothesisId>,
    /// The sum of the scores of the line's sentences so far; `None` if one has no translation.
    line_total: Option<f32>,
    line_errors: Vec<LineError>,
}

impl<'s> Rescorer<'s> {
    /// Creates a rescorer for translations of `system`.
    pub(crate) fn new(system: &'s System) -> Self {
        Rescorer {
            system,
            scorers: Vec::new(),
            translators: Vec::new(),
            n_best: NBest::default(),
            entries: Vec::new(),
            best_path: Vec::new(),
            line_total: None,
            line_errors: Vec::new(),
        }
    }

    /// Begins a line.
    pub(crate) fn start_line(&mut self) {
        self.entries.clear();
        self.line_total = Some(0.0);
        self.line_errors.clear();
    }

    /// Returns the score of the line after its last sentence. `search_score` is its score in the
    /// search.
    pub(crate) fn line_score(&self, search_score: Option<f32>) -> Option<f32> {
        if self.system.rescoring.is_some() {
            search_score.and(self.line_total)
        } else {
            search_score
        }
    }

    /// Takes the errors of the line.
    pub(crate) fn take_line_errors(&mut self) -> Vec<LineError> {
        std::mem::take(&mut self.line_errors)
    }

    /// Returns the sentence with the list that [`rescore`](Self::rescore) made last.
    pub(crate) fn rescored<'a>(&'a self, decoded: DecodedSentence<'a>) -> DecodedSentence<'a> {
        let Some(best) = self.entries.first() else { return decoded };
        DecodedSentence {
            best_path: &self.best_path,
            best_words: best.words.as_deref(),
            score: Some(best.total),
            rescored: Some(&self.entries),
            ..decoded
        }
    }

    /// Rescores the n-best list of a sentence, of which the caller needs `wanted` entries. Returns
    /// the sentence with its list in the new order. If a model cannot score the sentence or an
    /// entry of the search, for example because it is too long, the order does not change, and the
    /// line gets an error.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged or a model fails.
    pub(crate) fn rescore<'a>(
        &'a mut self,
        decoded: DecodedSentence<'a>,
        wanted: usize,
    ) -> Result<DecodedSentence<'a>> {
        let Some(rescoring) = &self.system.rescoring else { return Ok(decoded) };
        self.entries.clear();
        if decoded.sentence.len() > 0 && decoded.score.is_some() {
            self.score_list(rescoring, decoded, rescoring.search_list_size(wanted))?;
        }
        if let Some(best) = self.entries.first() {
            self.best_path.clear();
            self.best_path.extend(best.hypotheses.iter().rev());
        }
        let score = self.entries.first().map(|best| best.total).or(decoded.score);
        self.line_total = self.line_total.zip(score).map(|(sum, score)| sum + score);
        Ok(self.rescored(decoded))
    }

    /// Sets the entries to the list of a sentence: the `size` best different texts of the search
    /// and the translations that models add.
    fn score_list(
        &mut self,
        rescoring: &'s Rescoring,
        decoded: DecodedSentence<'_>,
        size: usize,
    ) -> Result<()> {
        let limits = NBestLimits {
            max_entries: size,
            max_candidates: self.system.settings.output.n_best_factor.max(1).saturating_mul(size),
            distinct: true,
        };
        let (entries, mut texts) = (&mut self.entries, Vec::new());
        self.n_best.for_each_entry(decoded, limits, |entry| {
            let mut text = Vec::new();
            for &id in entry.hypotheses.iter().rev() {
                let hypothesis = decoded.hypothesis(id);
                decoded.surface_forms().for_each_word_lossy(
                    hypothesis.option,
                    hypothesis.span,
                    |word| push_word(&mut text, word),
                );
            }
            texts.push(text);
            entries.push(RescoredEntry {
                hypotheses: entry.hypotheses.to_vec(),
                words: None,
                marker: None,
                values: entry.values.to_vec(),
                total: entry.total,
            });
            Ok(())
        })?;
        let mut source = Vec::new();
        for &id in decoded.sentence.ids() {
            let word = decoded.sentence.word(id, &decoded.system.models);
            // The models of `[rescore]` know only surface forms.
            push_word(&mut source, decoded.system.models.surface(word));
        }
        if self.scorers.is_empty() {
            // Scorers are kept only if all were created, so that the next line tries again after a
            // failure.
            let (mut scorers, mut translators) = (Vec::new(), Vec::new());
            for (number, model) in rescoring.models.iter().enumerate() {
                let fail = |reason| rescoring.failure(number, reason);
                scorers.push(model.scorer().map_err(fail)?);
                if rescoring.marker_components[number].is_some() {
                    let translator = model.translator().map_err(fail)?;
                    translators.extend(translator.map(|translator| (number, translator)));
                }
            }
            (self.scorers, self.translators) = (scorers, translators);
        }
        let num_from_search = texts.len();
        let added = self.add_candidates(rescoring, &source, &mut texts);
        match added.and_then(|()| self.score_texts(&source, &texts, num_from_search)) {
            Ok(scores) => {
                let width = self.system.num_components();
                for (entry, scores) in self.entries.iter_mut().zip(scores) {
                    entry.values.extend(scores.into_iter().map(|score| score as f32));
                    entry.values.resize(width, 0.0);
                    if let Some(marker) = entry.marker {
                        entry.values[marker] = 1.0;
                    }
                    entry.total = rescoring.total(&entry.values, entry.total);
                }
                self.entries.sort_by(|a, b| b.total.total_cmp(&a.total));
            }
            Err((number, ListError::Model { reason })) => {
                return Err(rescoring.failure(number, reason));
            }
            Err((number, ListError::Text { translation, reason, .. })) => {
                let unscored = match translation {
                    Some(_) => "a translation",
                    None => "the sentence",
                };
                let name = rescoring.feature_name(number);
                let reason = format!("not rescored: no score {name} of {unscored}: {reason}");
                self.line_errors.push(LineError::new(LineErrorKind::NotRescored, reason));
                let width = self.system.num_components();
                self.entries.truncate(num_from_search);
                self.entries.iter_mut().for_each(|entry| entry.values.resize(width, 0.0));
            }
        }
        Ok(())
    }

    /// Adds the translations of models to the list, except those whose texts are in it already.
    /// `texts` are the texts of the list. Features that depend only on words get their values for
    /// the added translation, all others those of the search's best translation. So between these
    /// two translations, only known values and the weight of the marker decide.
    fn add_candidates(
        &mut self,
        rescoring: &Rescoring,
        source: &[u8],
        texts: &mut Vec<Vec<u8>>,
    ) -> Result<(), (usize, ListError)> {
        let Rescorer { system, translators, entries, .. } = self;
        let Some(first) = entries.first().filter(|_| !translators.is_empty()).cloned() else {
            return Ok(());
        };
        let mut known: HashSet<Vec<u8>> = texts.iter().cloned().collect();
        for (number, translator) in translators {
            for translation in translator.translate(source).map_err(|error| (*number, error))? {
                let words: Vec<Vec<u8>> = split_words(&translation).map(<[u8]>::to_vec).collect();
                let text = words.join(&b' ');
                // A field of an n-best list cannot contain the separator of fields.
                let is_usable = !words.is_empty() && words.iter().all(|word| word != b"|||");
                if !is_usable || !known.insert(text.clone()) {
                    continue;
                }
                let mut values = first.values.clone();
                let language_models = &system.models.language_models;
                let whole = WholeText { text: &text, language_models };
                for feature in &system.plan.features.phrase {
                    feature.set_text_value(&whole, &mut values);
                }
                let change =
                    rescoring.search_total(&values) - rescoring.search_total(&first.values);
                texts.push(text);
                entries.push(RescoredEntry {
                    hypotheses: Vec::new(),
                    words: Some(words),
                    marker: rescoring.marker_components[*number],
                    values,
                    total: first.total + change,
                });
            }
        }
        Ok(())
    }

    /// Returns the scores of all texts by all models. Added translations, which follow the first
    /// `num_from_search` texts, are removed from the entries if a model has no score for them.
    fn score_texts(
        &mut self,
        source: &[u8],
        texts: &[Vec<u8>],
        num_from_search: usize,
    ) -> Result<Vec<Vec<f64>>, (usize, ListError)> {
        let translations: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        let list = CandidateList { source, translations: &translations };
        let scores = score_available(&mut self.scorers, list, num_from_search)?;
        let mut is_scored = scores.iter().map(Option::is_some);
        self.entries.retain(|_| is_scored.next() == Some(true));
        Ok(scores.into_iter().flatten().collect())
    }
}

impl Rescoring {
    /// Returns the error of the model with the index `number`.
    fn failure(&self, number: usize, reason: String) -> Error {
        Error::feature(self.feature_name(number), reason)
    }
}

/// Appends a word, after a space unless it is the first one.
fn push_word(text: &mut Vec<u8>, word: &[u8]) {
    if !text.is_empty() {
        text.push(b' ');
    }
    text.extend_from_slice(word);
}

#[cfg(test)]
mod tests;
