//! Models that score lists of translations, and the names of their scores.

use hashbrown::HashMap;
use miriam_textio::n_best::{NBestEntry, split_features};

use crate::{Error, Result};

/// A sentence with translations.
#[derive(Clone, Copy, Debug)]
pub struct CandidateList<'a> {
    /// The sentence; empty where no model reads it.
    pub source: &'a [u8],
    /// Translations of the sentence.
    pub translations: &'a [&'a [u8]],
}

/// A model that scores translations; threads share it.
pub trait FeatureModel: Send + Sync {
    /// Returns a scorer for one thread.
    ///
    /// # Errors
    /// The reason, if a device cannot provide memory.
    fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String>;

    /// Returns a translator for one thread, if the model adds translations of its own to lists.
    ///
    /// # Errors
    /// The reason, if a device cannot provide memory.
    fn translator(&self) -> Result<Option<Box<dyn CandidateTranslator + '_>>, String> {
        Ok(None)
    }
}

/// A translator for one thread. It makes candidates in addition to the translations of a list.
pub trait CandidateTranslator {
    /// Returns translations of a sentence, best first: words with spaces between.
    ///
    /// # Errors
    /// If the sentence cannot be translated (it may be too long), or the model fails.
    fn translate(&mut self, source: &[u8]) -> Result<Vec<Vec<u8>>, ListError>;
}

/// A scorer of one thread.
pub trait FeatureScorer {
    /// Returns a value for each translation of each list: a natural logarithm, larger for better
    /// translations. Values do not depend on the other lists and translations.
    ///
    /// # Errors
    /// If a text has no finite score, or the model fails.
    fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError>;

    /// Works like [`FeatureScorer::score`], for one list of which some translations may have no
    /// score: they get the reason. The default is for scorers that have a score for every
    /// translation.
    ///
    /// # Errors
    /// If the sentence has no score, or the model fails.
    fn score_each(
        &mut self,
        list: CandidateList<'_>,
    ) -> Result<Vec<Result<f64, String>>, ListError> {
        let scores = self.score(&[list])?.into_iter().flatten();
        Ok(scores.map(Ok).collect())
    }
}

/// A failure of scoring lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListError {
    /// A text has no score.
    Text {
        /// The index of its list.
        list: usize,
        /// The index of the translation; `None` if the text is the source sentence.
        translation: Option<usize>,
        /// The reason.
        reason: String,
    },
    /// The model failed.
    Model {
        /// The reason.
        reason: String,
    },
}

/// The name of a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureName {
    /// This name, without `=`.
    Given(String),
    /// This stem and the smallest number, from 0, such that no other feature has this name.
    Numbered(String),
}

/// A feature of one value: the score of a model.
pub struct Feature<'m> {
    /// The name of the feature in the list.
    pub name: FeatureName,
    /// The model.
    pub model: &'m dyn FeatureModel,
}

impl Feature<'_> {
    /// Returns the names of `features`. Numbered names differ from the names of the features of
    /// `present`, the first entries of the list.
    ///
    /// # Errors
    /// If a name is invalid, or two features have the same name.
    pub fn resolve_names(features: &[Feature<'_>], present: &[NBestEntry]) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::with_capacity(features.len());
        let given = |name: &String| {
            features.iter().any(|other| matches!(&other.name, FeatureName::Given(n) if n == name))
        };
        for feature in features {
            let name = match &feature.name {
                FeatureName::Given(name) => {
                    check_name(name)?;
                    if names.contains(name) {
                        return Err(Error::usage(format!("two features have the name {name}")));
                    }
                    name.clone()
                }
                FeatureName::Numbered(stem) => {
                    let is_free = |name: &String| {
                        let mut known =
                            present.iter().flat_map(|entry| split_features(entry.features()));
                        !names.contains(name)
                            && !given(name)
                            && known.all(|(known, _)| known != name.as_bytes())
                    };
                    (0..)
                        .map(|number: u32| format!("{stem}{number}"))
                        .find(is_free)
                        .expect("there are more numbers than features")
                }
            };
            names.push(name);
        }
        Ok(names)
    }
}

/// Checks that lists can have a feature of this name.
///
/// # Errors
/// If the name is invalid.
pub fn check_name(name: &str) -> Result<()> {
    let is_valid = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.contains(|c: char| c.is_whitespace() || "=:|".contains(c));
    if is_valid {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{name:?} is not a name of a feature: it must not be empty, begin with a digit, or have \
         white space, `=`, `:` or `|`"
    )))
}

/// Returns the values of all scorers for each translation of each list. Equal translations of a
/// list are scored once.
///
/// # Errors
/// The index of the scorer that failed, with its error.
pub fn score_lists(
    scorers: &mut [Box<dyn FeatureScorer + '_>],
    lists: &[CandidateList<'_>],
) -> Result<Vec<Vec<Vec<f64>>>, (usize, ListError)> {
    let distinct: Vec<DistinctTexts<'_>> =
        lists.iter().map(|list| DistinctTexts::new(list.translations)).collect();
    let reduced: Vec<CandidateList<'_>> = lists
        .iter()
        .zip(&distinct)
        .map(|(list, distinct)| CandidateList { translations: &distinct.texts, ..*list })
        .collect();
    let mut values: Vec<Vec<Vec<f64>>> =
        lists.iter().map(|list| vec![Vec::new(); list.translations.len()]).collect();
    for (number, scorer) in scorers.iter_mut().enumerate() {
        let refuse = |list: usize, text: Option<usize>, reason: String| {
            let translation = text.and_then(|text| {
                distinct[list].text_numbers.iter().position(|&other| other == text)
            });
            (number, ListError::Text { list, translation, reason })
        };
        let scores = scorer.score(&reduced).map_err(|error| match error {
            ListError::Text { list, translation, reason } => refuse(list, translation, reason),
            ListError::Model { reason } => (number, ListError::Model { reason }),
        })?;
        for (list, scores) in scores.iter().enumerate() {
            if let Some(text) = scores.iter().position(|score| !score.is_finite()) {
                return Err(refuse(list, Some(text), format!("its score is {}", scores[text])));
            }
            for (values, &text) in values[list].iter_mut().zip(&distinct[list].text_numbers) {
                values.push(scores[text]);
            }
        }
    }
    Ok(values)
}

/// Works like [`score_lists`], for one list. Only the first `required` translations must have
/// scores; others have `None` if a model has no score for them. No model scores a translation
/// twice, or one that an earlier model has no score for.
///
/// # Errors
/// The index of the scorer that failed or has no score for a required translation, with its error.
pub fn score_available(
    scorers: &mut [Box<dyn FeatureScorer + '_>],
    list: CandidateList<'_>,
    required: usize,
) -> Result<Vec<Option<Vec<f64>>>, (usize, ListError)> {
    let distinct = DistinctTexts::new(list.translations);
    let mut values: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); distinct.texts.len()];
    for (number, scorer) in scorers.iter_mut().enumerate() {
        let left: Vec<usize> = (0..values.len()).filter(|&text| values[text].is_some()).collect();
        let translations: Vec<&[u8]> = left.iter().map(|&text| distinct.texts[text]).collect();
        let list = CandidateList { translations: &translations, ..list };
        let scores = scorer.score_each(list).map_err(|error| (number, error))?;
        for (text, score) in left.into_iter().zip(scores) {
            let score = score.and_then(|score| {
                if score.is_finite() { Ok(score) } else { Err(format!("its score is {score}")) }
            });
            match score {
                Ok(score) => values[text].get_or_insert_default().push(score),
                Err(reason) => {
                    let mut translations = distinct.text_numbers[..required].iter();
                    let translation = translations.position(|&other| other == text);
                    if translation.is_some() {
                        return Err((number, ListError::Text { list: 0, translation, reason }));
                    }
                    values[text] = None;
                }
            }
        }
    }
    Ok(distinct.text_numbers.iter().map(|&text| values[text].clone()).collect())
}

/// The different translations of a list.
struct DistinctTexts<'a> {
    texts: Vec<&'a [u8]>,
    /// The index in `texts` of each translation.
    text_numbers: Vec<usize>,
}

impl<'a> DistinctTexts<'a> {
    fn new(translations: &[&'a [u8]]) -> Self {
        let mut texts = Vec::new();
        let mut numbers: HashMap<&[u8], usize> = HashMap::new();
        let text_numbers = translations.iter().map(|&text| {
            *numbers.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            })
        });
        let text_numbers = text_numbers.collect();
        DistinctTexts { texts, text_numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scorer of lengths, without scores for a text and for an empty source. It counts the texts
    /// that it sees.
    struct Lengths {
        refused: &'static str,
        most: usize,
    }

    impl FeatureScorer for Lengths {
        fn score(&mut self, _: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
            panic!("each text is scored alone")
        }

        fn score_each(
            &mut self,
            list: CandidateList<'_>,
        ) -> Result<Vec<Result<f64, String>>, ListError> {
            self.most = self.most.checked_sub(list.translations.len()).expect("few texts");
            if list.source.is_empty() {
                let reason = "it is empty".to_owned();
                return Err(ListError::Text { list: 0, translation: None, reason });
            }
            let score = |text: &&[u8]| match *text {
                b"infinite" => Ok(f64::INFINITY),
                text if text == self.refused.as_bytes() => Err("refused".to_owned()),
                text => Ok(text.len() as f64),
            };
            Ok(list.translations.iter().map(score).collect())
        }
    }

    #[test]
    fn texts_without_scores_are_left_out_and_others_scored_once() {
        let scorers = |first, second| -> [Box<dyn FeatureScorer>; 2] {
            [
                Box::new(Lengths { refused: "b", most: first }),
                Box::new(Lengths { refused: "cc", most: second }),
            ]
        };
        let translations = ["a", "b", "a", "cc", "infinite", "ddd"].map(str::as_bytes);
        let list = CandidateList { source: b"s", translations: &translations };
        let scores = score_available(&mut scorers(5, 3), list, 1).unwrap();
        let both = |length: f64| Some(vec![length, length]);
        assert_eq!(scores, [both(1.0), None, both(1.0), None, None, both(3.0)]);
        let error = score_available(&mut scorers(5, 3), list, 4).unwrap_err();
        let text = |translation, reason: &str| ListError::Text {
            list: 0,
            translation,
            reason: reason.to_owned(),
        };
        assert_eq!(error, (0, text(Some(1), "refused")));
        let list = CandidateList { source: b"", ..list };
        let error = score_available(&mut scorers(5, 3), list, 1).unwrap_err();
        assert_eq!(error, (0, text(None, "it is empty")));
    }
}
