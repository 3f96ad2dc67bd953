//! Feature lines: `TypeName key=value key=value ...` (`docs/spec/phrase-decoding.md` 1.6).
//!
//! The source file of each feature type reads the keys of this type. Here are names, overrides and
//! the keys that all types share.

use std::path::Path;

use super::feature_overrides::{self, FeatureOverride, OverrideTarget};
use super::{Parameters, feature_types};
use crate::feature_line::{FeatureLine, parse_count, parse_flag};
use crate::features::{FeatureKind, FeatureSpec, SUPPORTED_TYPES, is_language_model_alias};
use crate::{Error, Result};

/// The largest number of scores of a feature.
const MAX_COMPONENTS: usize = 10_000;

/// Keys that Moses accepts for every feature and that change no translation here, with the reason
/// why they do not.
const KEYS_WITHOUT_EFFECT: [(&str, &str); 3] = [
    ("filterable", "scripts that filter models read it"),
    ("verbosity", "log messages have a level for all features (-log-level)"),
    ("require-sorting-after-source-context", "no feature here looks at the source context"),
];

/// Parses the lines of features and applies `edits`; weights are still empty.
pub(super) fn parse(
    ini: &Path,
    parameters: &Parameters,
    edits: Vec<FeatureOverride>,
) -> Result<Vec<FeatureSpec>> {
    let lines: Vec<(&str, &String)> = ["feature", "feature-add"]
        .into_iter()
        .flat_map(|name| parameters.get(name).unwrap_or_default().iter().map(move |l| (name, l)))
        .collect();
    if lines.is_empty() {
        let reason = "no [feature] section, nor one of the old format";
        return Err(Error::configuration(ini.display().to_string(), reason));
    }
    let mut parsed: Vec<(String, FeatureLine)> = Vec::new();
    let mut unnamed: Vec<(String, usize)> = Vec::new();
    for &(section, line) in &lines {
        let mut keys = FeatureLine::parse(line).map_err(|reason| {
            parameters.invalid_value(ini, section, format!("{line:?}: {reason}"))
        })?;
        let name =
            keys.take("name").unwrap_or_else(|| make_default_name(keys.type_name(), &mut unnamed));
        if parsed.iter().any(|(other, _)| *other == name) {
            let reason = format!("two features have the name {name}");
            return Err(parameters.invalid_value(ini, section, reason));
        }
        parsed.push((name, keys));
    }
    for FeatureOverride { target: feature, key, value } in edits {
        let edited = |(name, keys): &&mut (String, FeatureLine)| match &feature {
            OverrideTarget::UnknownWordPenalty => keys.type_name() == "UnknownWordPenalty",
            OverrideTarget::Named(edited) => name == edited,
        };
        match (parsed.iter_mut().find(edited), &feature) {
            (Some((_, keys)), _) => keys.set(key, value),
            // A missing unknown-word penalty is reported elsewhere.
            (None, OverrideTarget::UnknownWordPenalty) => {}
            (None, OverrideTarget::Named(name)) => {
                let names: Vec<&str> = parsed.iter().map(|(name, _)| &name[..]).collect();
                return Err(feature_overrides::unknown_feature_error(
                    ini, parameters, name, &names,
                ));
            }
        }
    }
    warn_of_keys_without_effect(&parsed);
    let mut features = Vec::new();
    for ((name, mut keys), (section, line)) in parsed.into_iter().zip(lines) {
        features.push(parse_feature(name, &mut keys).map_err(|reason| {
            parameters.invalid_value(ini, section, format!("{line:?}: {reason}"))
        })?);
    }
    Ok(features)
}

/// Returns a default name: the type with the next number among unnamed features of the type.
fn make_default_name(type_name: &str, unnamed: &mut Vec<(String, usize)>) -> String {
    match unnamed.iter_mut().find(|(name, _)| name == type_name) {
        Some((_, next)) => {
            *next += 1;
            format!("{type_name}{next}")
        }
        None => {
            unnamed.push((type_name.to_owned(), 0));
            format!("{type_name}0")
        }
    }
}

/// Returns a value of `tuneable-components`, a boolean for each of `count` components.
fn parse_tuneable_components(list: &str, count: usize) -> Result<Vec<bool>, String> {
    let flags = list.split(',').map(|text| parse_flag("tuneable-components", text));
    let flags = flags.collect::<Result<Vec<_>, _>>()?;
    if flags.len() != count {
        return Err(format!(
            "tuneable-components={list} has {} values for {count} scores; give true or false for \
             each, separated by commas",
            flags.len()
        ));
    }
    Ok(flags)
}

/// Warns once about each key without effect, with the features that have it.
fn warn_of_keys_without_effect(features: &[(String, FeatureLine)]) {
    for (key, why) in KEYS_WITHOUT_EFFECT {
        let with_key = features.iter().filter(|(_, keys)| keys.has(key));
        let names: Vec<&str> = with_key.map(|(name, _)| &name[..]).collect();
        if !names.is_empty() {
            tracing::warn!("{key}= does nothing here ({}): {why}", names.join(", "));
        }
    }
}

fn parse_feature(name: String, keys: &mut FeatureLine) -> Result<FeatureSpec, String> {
    let given =
        keys.take("num-features").map(|text| parse_count("num-features", &text)).transpose()?;
    if let Some(given) = given.filter(|&given| given > MAX_COMPONENTS) {
        return Err(format!("num-features={given}: there are at most {MAX_COMPONENTS}"));
    }
    let tuneable = keys.take("tuneable").map(|text| parse_flag("tuneable", &text)).transpose()?;
    let tuneable_components = keys.take("tuneable-components");
    for (key, _) in KEYS_WITHOUT_EFFECT {
        keys.take(key);
    }
    let type_name = keys.type_name().to_owned();
    if is_language_model_alias(&type_name) {
        tracing::warn!("{name}: {type_name} files are opened as KENLM opens ARPA files");
    }
    let Some((kind, components)) = FeatureKind::parse(keys, given)? else {
        return Err(match feature_types::unsupported_reason(&type_name) {
            Some(why) => format!("feature type {type_name}: {why}"),
            None => format!("feature type {type_name} is unknown; supported: {SUPPORTED_TYPES}"),
        });
    };
    if components == 0 {
        return Err("num-features=0: a table has at least one score".into());
    }
    if given.is_some_and(|given| given != components) {
        return Err(format!("num-features={}, but it has {components} scores", given.unwrap_or(0)));
    }
    if let Some(key) = keys.remaining_key() {
        return Err(if key.starts_with("sparse") {
            format!("{key}= of {type_name} needs sparse features, which are not available")
        } else {
            format!("{type_name} has no parameter {key}")
        });
    }
    let is_tuneable = tuneable.unwrap_or(!matches!(kind, FeatureKind::UnknownWordPenalty(_)));
    let tuneable = match tuneable_components {
        None => vec![is_tuneable; components],
        Some(list) if is_tuneable => parse_tuneable_components(&list, components)?,
        Some(_) => return Err("tuneable-components= of a feature with tuneable=false".into()),
    };
    Ok(FeatureSpec { name, num_components: components, tuneable, weights: Vec::new(), kind })
}
