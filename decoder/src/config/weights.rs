//! Weight lines: `Name= w1 w2 ...` (`docs/spec/phrase-decoding.md` 1.7).
//!
//! `[weight-add]` is read first, `[weight]` overrides it, and `weight-overwrite` comes
//! last: it has all features in one value, in which `x` keeps a weight.

use std::path::Path;

use miriam_textio::number;

use super::{FeatureSpec, Parameters, RescoringModel};
use crate::Result;

/// The section with the weights of rescored lists.
const LIST_SECTION: &str = "rescore-weight";

/// Assigns the weights of every feature, and of the models of `[rescore]`. If a name has several
/// lines, the last one is used. Features without a line must be untuneable; their weights are 1.
///
/// If the ini has `[rescore-weight]`, this section gives the weights of the models, and the weights
/// of the features in rescored lists, which the function returns. Otherwise, the weights of the
/// models are in `[weight]`, and the weights of the search apply in rescored lists too.
pub(super) fn assign_weights(
    ini: &Path,
    parameters: &Parameters,
    features: &mut [FeatureSpec],
    rescoring: &mut [RescoringModel],
) -> Result<Option<Vec<Vec<f32>>>> {
    let (mut models, mut indicators) = (Vec::new(), Vec::new());
    for model in rescoring {
        let candidate = model.candidate_feature();
        let RescoringModel { name, weight, candidate_weight, .. } = model;
        models.push(Weighted::one(name.clone(), weight));
        indicators.extend(candidate.map(|name| Weighted::one(name, candidate_weight)));
    }
    models.append(&mut indicators);
    let has_list_weights = parameters.get(LIST_SECTION).is_some();
    let mut list_weights = vec![Vec::new(); features.len()];
    let mut in_lists: Vec<Weighted<'_>> =
        features.iter().zip(&mut list_weights).map(|(f, own)| Weighted::feature(f, own)).collect();
    let mut search_weights = vec![Vec::new(); features.len()];
    let mut in_search: Vec<Weighted<'_>> = features
        .iter()
        .zip(&mut search_weights)
        .map(|(f, own)| Weighted::feature(f, own))
        .collect();
    if has_list_weights { &mut in_lists } else { &mut in_search }.extend(models);
    let place = |section| SectionContext { ini, parameters, section };
    let mut given = vec![None; in_search.len()];
    for section in ["weight-add", "weight"] {
        place(section).read_lines(&in_search, &mut given)?;
    }
    apply_overwrites(&place("weight-overwrite"), &in_search, &mut given)?;
    place("weight").assign(&mut in_search, given)?;
    if has_list_weights {
        let mut given = vec![None; in_lists.len()];
        place(LIST_SECTION).read_lines(&in_lists, &mut given)?;
        place(LIST_SECTION).assign(&mut in_lists, given)?;
    }
    for (feature, weights) in features.iter_mut().zip(search_weights) {
        feature.weights = weights;
    }
    Ok(has_list_weights.then_some(list_weights))
}

/// A feature, or a model of `[rescore]`, with the place of its weights.
struct Weighted<'a> {
    name: String,
    is_tuneable: bool,
    weights: Weights<'a>,
}

/// The place where weights are stored.
enum Weights<'a> {
    /// The weights of a feature, and the number of its components.
    Components(&'a mut Vec<f32>, usize),
    /// The weight of a model.
    One(&'a mut f32),
}

impl<'a> Weighted<'a> {
    fn one(name: String, weight: &'a mut f32) -> Self {
        Weighted { name, is_tuneable: true, weights: Weights::One(weight) }
    }

    fn feature(feature: &FeatureSpec, weights: &'a mut Vec<f32>) -> Self {
        Weighted {
            name: feature.name.clone(),
            is_tuneable: feature.is_tuneable(),
            weights: Weights::Components(weights, feature.num_components),
        }
    }
}

impl Weights<'_> {
    fn count(&self) -> usize {
        match self {
            Weights::Components(_, count) => *count,
            Weights::One(_) => 1,
        }
    }

    fn set(&mut self, given: Vec<f32>) {
        match self {
            Weights::Components(weights, _) => **weights = given,
            Weights::One(weight) => **weight = given[0],
        }
    }
}

/// Weights, and the section that gives them.
#[derive(Clone)]
struct GivenWeights {
    weights: Vec<f32>,
    section: &'static str,
}

/// Applies the lines `Name= w x w Name= w ...`; several values are read as one.
fn apply_overwrites(
    place: &SectionContext<'_>,
    features: &[Weighted<'_>],
    given: &mut [Option<GivenWeights>],
) -> Result<()> {
    let values = place.parameters.get(place.section);
    if values.is_some_and(|values| values.iter().all(|value| value.trim().is_empty())) {
        return place.fail("give weights as in `Name= 0.5 x`".into());
    }
    let mut tokens = values
        .unwrap_or_default()
        .iter()
        .flat_map(|value| value.split_ascii_whitespace())
        .peekable();
    while let Some(token) = tokens.next() {
        let Some(name) = token.strip_suffix('=') else {
            return place.fail(format!("{token:?} does not follow a name as in `Name= 0.5 x`"));
        };
        let at = place.find_feature(features, name)?;
        let old = given[at].take().map(|old| old.weights).unwrap_or_default();
        let mut weights = Vec::new();
        while let Some(token) = tokens.next_if(|token| !token.ends_with('=')) {
            weights.push(match (token, old.get(weights.len())) {
                ("x", Some(&kept)) => kept,
                ("x", None) => {
                    let number = weights.len() + 1;
                    return place.fail(format!("{name}: there is no weight {number} to be kept"));
                }
                _ => place.parse_weight(name, token)?,
            });
        }
        given[at] = Some(GivenWeights { weights, section: place.section });
    }
    Ok(())
}

/// Returns the weights of all features as Moses prints them, with a word in the place of components
/// that are not tuned. If rescored lists have weights of their own, these follow under
/// `[rescore-weight]`.
pub(super) fn format_lines(
    features: &[FeatureSpec],
    rescoring: &[RescoringModel],
    list_weights: Option<&[Vec<f32>]>,
) -> String {
    let mut text = Vec::new();
    for feature in features {
        push_feature(feature, &feature.weights, &mut text);
    }
    if let Some(list_weights) = list_weights {
        text.extend_from_slice(format!("[{LIST_SECTION}]\n").as_bytes());
        for (feature, weights) in features.iter().zip(list_weights) {
            push_feature(feature, weights, &mut text);
        }
    }
    for RescoringModel { name, weight, .. } in rescoring {
        push_weight(name, *weight, &mut text);
    }
    for model in rescoring {
        if let Some(name) = model.candidate_feature() {
            push_weight(&name, model.candidate_weight, &mut text);
        }
    }
    String::from_utf8(text).expect("names are UTF-8, numbers ASCII")
}

fn push_feature(feature: &FeatureSpec, weights: &[f32], text: &mut Vec<u8>) {
    if feature.is_tuneable() {
        text.extend_from_slice(feature.name.as_bytes());
        text.push(b'=');
        for (&weight, &is_tuneable) in weights.iter().zip(&feature.tuneable) {
            text.push(b' ');
            if is_tuneable {
                number::push_general(text, f64::from(weight));
            } else {
                text.extend_from_slice(b"UNTUNEABLECOMPONENT");
            }
        }
        text.push(b'\n');
    } else {
        text.extend_from_slice(feature.name.as_bytes());
        text.extend_from_slice(b" UNTUNEABLE\n");
    }
}

fn push_weight(name: &str, weight: f32, text: &mut Vec<u8>) {
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(b"= ");
    number::push_general(text, f64::from(weight));
    text.push(b'\n');
}

/// A section of weights, and the parameters that have it.
struct SectionContext<'a> {
    ini: &'a Path,
    parameters: &'a Parameters,
    section: &'static str,
}

impl SectionContext<'_> {
    fn fail<T>(&self, reason: String) -> Result<T> {
        Err(self.parameters.invalid_value(self.ini, self.section, reason))
    }

    /// Reads the lines of the section.
    fn read_lines(
        &self,
        features: &[Weighted<'_>],
        given: &mut [Option<GivenWeights>],
    ) -> Result<()> {
        for line in self.parameters.get(self.section).unwrap_or_default() {
            let mut tokens = line.split_ascii_whitespace();
            let Some(name) = tokens.next().and_then(|t| t.strip_suffix('=')) else {
                return self.fail(format!("{line:?} is not of the form `Name= 0.5 0.2`"));
            };
            let at = self.find_feature(features, name)?;
            let weights =
                tokens.map(|token| self.parse_weight(name, token)).collect::<Result<_>>()?;
            given[at] = Some(GivenWeights { weights, section: self.section });
        }
        Ok(())
    }

    /// Sets the given weights. Weights of untuneable features default to 1.
    fn assign(
        &self,
        features: &mut [Weighted<'_>],
        given: Vec<Option<GivenWeights>>,
    ) -> Result<()> {
        for (Weighted { name, is_tuneable, weights }, given) in features.iter_mut().zip(given) {
            let num_components = weights.count();
            match given {
                Some(given) if given.weights.len() == num_components => weights.set(given.weights),
                Some(GivenWeights { weights, section }) => {
                    return SectionContext { section, ..*self }.fail(format!(
                        "{name} has {} weights, its feature has {num_components} scores \
                         (num-features)",
                        weights.len()
                    ));
                }
                None if *is_tuneable => {
                    return self.fail(format!("{name} has no weights; add a line `{name}= ...`"));
                }
                None => weights.set(vec![1.0; num_components]),
            }
        }
        Ok(())
    }

    fn find_feature(&self, features: &[Weighted<'_>], name: &str) -> Result<usize> {
        match features.iter().position(|f| f.name == name) {
            Some(at) => Ok(at),
            None => {
                let names: Vec<&str> = features.iter().map(|f| &f.name[..]).collect();
                self.fail(format!("no feature has the name {name}; there are {}", names.join(", ")))
            }
        }
    }

    fn parse_weight(&self, name: &str, token: &str) -> Result<f32> {
        match token.parse::<f32>() {
            Ok(weight) if weight.is_finite() => Ok(weight),
            _ => self.fail(format!("{name}: {token:?} is not a number")),
        }
    }
}
