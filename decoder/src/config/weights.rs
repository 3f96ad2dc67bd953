//! Weight lines: `Name= w1 w2 ...` (`phrase-decoding.md` 1.7).

use std::path::Path;

use super::FeatureSpec;
use crate::{Error, Result};

/// Gives every feature its weights. The last line of a name counts; features
/// without a line must be untuneable and get ones.
pub(super) fn assign(ini: &Path, lines: &[String], features: &mut [FeatureSpec]) -> Result<()> {
    let fail = |reason: String| Err(Error::section(ini, "weight", reason));
    let mut given = vec![false; features.len()];
    for line in lines {
        let mut tokens = line.split_ascii_whitespace();
        let Some(name) = tokens.next().and_then(|t| t.strip_suffix('=')) else {
            return fail(format!("{line:?} is not of the form `Name= 0.5 0.2`"));
        };
        let Some(at) = features.iter().position(|f| f.name == name) else {
            let names: Vec<&str> = features.iter().map(|f| &f.name[..]).collect();
            return fail(format!("no feature is called {name}; there are {}", names.join(", ")));
        };
        let mut weights = Vec::new();
        for token in tokens {
            match token.parse::<f32>() {
                Ok(weight) if weight.is_finite() => weights.push(weight),
                _ => return fail(format!("{name}: {token:?} is not a number")),
            }
        }
        let feature = &mut features[at];
        if weights.len() != feature.num_components {
            let reason = format!(
                "{name} has {} weights, its feature has {} scores (num-features)",
                weights.len(),
                feature.num_components
            );
            return fail(reason);
        }
        feature.weights = weights;
        given[at] = true;
    }
    for (feature, given) in features.iter_mut().zip(given) {
        if !given {
            if feature.tuneable {
                return fail(format!("{0} has no weights; add a line `{0}= ...`", feature.name));
            }
            feature.weights = vec![1.0; feature.num_components];
        }
    }
    Ok(())
}
