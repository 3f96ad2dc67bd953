//! Options that override keys of features: first `-drop-unknown` and `-mark-unknown`, then
//! `feature-overwrite` (`docs/spec/phrase-decoding.md` 1.6).

use std::path::Path;

use super::{Parameters, Settings};
use crate::{Error, Result};

const OPTION_NAME: &str = "feature-overwrite";

/// A new value for one key of a feature.
#[derive(Debug, PartialEq)]
pub(super) struct FeatureOverride {
    /// The feature.
    pub(super) target: OverrideTarget,
    /// The key.
    pub(super) key: String,
    /// The new value.
    pub(super) value: String,
}

/// The feature that an override changes.
#[derive(Debug, PartialEq)]
pub(super) enum OverrideTarget {
    /// The unknown-word penalty, under any name.
    UnknownWordPenalty,
    /// The feature of this name.
    Named(String),
}

impl FeatureOverride {
    fn for_unknown_words(key: &str, value: &str) -> Self {
        let target = OverrideTarget::UnknownWordPenalty;
        FeatureOverride { target, key: key.to_owned(), value: value.to_owned() }
    }
}

/// Returns the overrides from `settings`, then the overrides from `feature-overwrite`.
pub(super) fn collect_overrides(
    ini: &Path,
    settings: &Settings,
    parameters: &Parameters,
) -> Result<Vec<FeatureOverride>> {
    let mut edits = Vec::new();
    if settings.drop_unknown {
        edits.push(FeatureOverride::for_unknown_words("drop", "true"));
    }
    if let Some((prefix, suffix)) = &settings.mark_unknown {
        edits.push(FeatureOverride::for_unknown_words("prefix", prefix));
        edits.push(FeatureOverride::for_unknown_words("suffix", suffix));
    }
    for line in parameters.get(OPTION_NAME).unwrap_or_default() {
        let complain = |reason: &str| {
            let reason = format!(
                "{line:?} {reason}; give the name and key=value as one quoted value, such as \
                 \"LM0 load=lazy\""
            );
            Err(parameters.invalid_value(ini, OPTION_NAME, reason))
        };
        let mut tokens = line.split_ascii_whitespace();
        let Some(feature) = tokens.next() else { continue };
        let mut tokens = tokens.peekable();
        if tokens.peek().is_none() {
            return complain("has no key=value after the name of a feature");
        }
        for token in tokens {
            let Some((key, value)) = token.split_once('=') else {
                return complain("has something other than key=value after the name of a feature");
            };
            if matches!(key, "name" | "num-features") {
                return complain(
                    "changes the name of a feature or its number of scores, which are fixed",
                );
            }
            edits.push(FeatureOverride {
                target: OverrideTarget::Named(feature.to_owned()),
                key: key.to_owned(),
                value: value.to_owned(),
            });
        }
    }
    Ok(edits)
}

/// Returns the error for an override of a feature that does not exist.
pub(super) fn unknown_feature_error(
    ini: &Path,
    parameters: &Parameters,
    name: &str,
    names: &[&str],
) -> Error {
    let reason = format!("no feature has the name {name}; there are {}", names.join(", "));
    parameters.invalid_value(ini, OPTION_NAME, reason)
}
