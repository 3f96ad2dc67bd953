//! Weights of features, in lines as Moses writes them: `LM0= 0.5`, `TranslationModel0= 0.1 0.2`.

use std::path::Path;

use miriam_textio::fields::{split_words, trim};
use miriam_textio::n_best::{FeatureScheme, split_name_and_value};
use miriam_textio::{Error as TextError, Input, Lines, display_name};

use crate::{Error, Result};

/// The weights of features, in the order of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureWeights {
    file: String,
    features: Vec<(Vec<u8>, Vec<f64>)>,
}

impl FeatureWeights {
    /// Reads a file. Lines are `NAME= weight weight ...` or `NAME=weight`; empty lines, lines that
    /// begin with `#`, and the line `[weight]` of a moses.ini are skipped. So is what Moses' option
    /// `-show-weights` prints for weights that are not tuned, because n-best lists do not have
    /// their values: the line `NAME UNTUNEABLE`, and the word `UNTUNEABLECOMPONENT` for one weight.
    ///
    /// # Errors
    /// If the file cannot be read, or a line has no name, no weight, an invalid weight, or the name
    /// of an earlier line.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_lines(Lines::new(Input::open(path)?), display_name(path))
    }

    /// Reads lines; `file` names them in messages.
    ///
    /// # Errors
    /// If reading fails, or a line is invalid, as in [`FeatureWeights::read`].
    pub fn from_lines(mut lines: Lines, file: String) -> Result<Self> {
        let mut features: Vec<(Vec<u8>, Vec<f64>)> = Vec::new();
        while let Some(line) = lines.next()? {
            let text = trim(line.bytes);
            if text.is_empty() || text[0] == b'#' || text == b"[weight]" {
                continue;
            }
            let error = |reason: String| TextError::format(&file, line.number, None, reason);
            let mut words = split_words(text);
            let first = words.next().unwrap_or_default();
            if !first.contains(&b'=') && words.clone().eq([&b"UNTUNEABLE"[..]]) {
                continue;
            }
            let (name, attached) = match first.strip_suffix(b"=") {
                Some(name) => (name, None),
                None => match split_name_and_value(first) {
                    Some((name, weight)) => (name, Some(weight)),
                    None => {
                        let reason = "expected a feature and its weights, `LM0= 0.5`";
                        return Err(error(reason.into()).into());
                    }
                },
            };
            if features.iter().any(|(known, _)| known == name) {
                let reason = format!("{} has weights already", String::from_utf8_lossy(name));
                return Err(error(reason).into());
            }
            let weights: std::result::Result<Vec<f64>, _> = attached
                .into_iter()
                .chain(words.filter(|word| *word != b"UNTUNEABLECOMPONENT"))
                .map(|word| {
                    let weight = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
                    weight.filter(|weight: &f64| weight.is_finite()).ok_or_else(|| {
                        error(format!(
                            "expected a weight, a finite number, found {:?}",
                            String::from_utf8_lossy(word)
                        ))
                    })
                })
                .collect();
            let weights = weights?;
            if weights.is_empty() {
                if text.ends_with(b"UNTUNEABLECOMPONENT") {
                    continue;
                }
                return Err(error("expected weights after the feature".into()).into());
            }
            features.push((name.to_vec(), weights));
        }
        Ok(FeatureWeights { file, features })
    }

    /// Returns the name of the file in messages.
    pub(crate) fn name(&self) -> &str {
        &self.file
    }

    /// Returns one weight for each value of an entry of the list, in the order of the values.
    ///
    /// # Errors
    /// If a feature of the list has no weights, or not as many weights as values, or if a feature
    /// with weights is not in the list.
    pub fn for_scheme(&self, scheme: &FeatureScheme) -> Result<Vec<f64>> {
        let mut weights = Vec::with_capacity(scheme.num_values());
        for (name, count) in scheme.features() {
            let shown = String::from_utf8_lossy(name);
            let Some((_, own)) = self.features.iter().find(|(known, _)| known == name) else {
                let what = match name {
                    b"" => "values without the name of a feature".to_string(),
                    _ => format!("feature {shown}"),
                };
                let zeros = " 0".repeat(count);
                return Err(Error::usage(format!(
                    "{}: no weights for {what} of the list; add the line `{shown}={zeros}` to \
                     leave it out",
                    self.file
                )));
            };
            if own.len() != count {
                return Err(Error::usage(format!(
                    "{}: {} weights for feature {shown}, which has {count} values in the list",
                    self.file,
                    own.len()
                )));
            }
            weights.extend(own);
        }
        let unused = self
            .features
            .iter()
            .find(|(name, _)| scheme.features().all(|(known, _)| known != name));
        match unused {
            None => Ok(weights),
            Some((name, _)) => Err(Error::usage(format!(
                "{}: weights for feature {}, which the list does not have; remove its line",
                self.file,
                String::from_utf8_lossy(name)
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn read(text: &str) -> Result<FeatureWeights, String> {
        let input = Input::from_reader(Cursor::new(text.to_owned()), "w", None).unwrap();
        FeatureWeights::from_lines(Lines::new(input), "w".into()).map_err(|e| e.to_string())
    }

    #[test]
    fn weights_belong_to_features_by_name() {
        let text = "[weight]\nTM0= 0.1 UNTUNEABLECOMPONENT -0.2\r\n\n# a comment\nLM0= 1e-1\n\
                    UnknownWordPenalty0 UNTUNEABLE\nF0= UNTUNEABLECOMPONENT\n";
        let weights = read(text).unwrap();
        let scheme = FeatureScheme::new(b"LM0= -1 TM0= 0 0");
        assert_eq!(weights.for_scheme(&scheme).unwrap(), [0.1, 0.1, -0.2]);
        for (list, reason) in [
            ("LM0= 1 TM0= 0 0 F0= 1", "no weights for feature F0"),
            ("LM0= 1 TM0= 0", "2 weights for feature TM0, which has 1 values"),
            ("TM0= 0 0", "weights for feature LM0, which the list does not have"),
        ] {
            let error = weights.for_scheme(&FeatureScheme::new(list.as_bytes())).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn invalid_lines_are_named() {
        for (text, reason) in [
            ("LM0= 1\nLM0 2\n", "w, line 2: expected a feature and its weights"),
            ("LM0= 1\nLM0= 2\n", "w, line 2: LM0 has weights already"),
            ("LM0=\n", "line 1: expected weights after the feature"),
            ("LM0= x\n", "found \"x\""),
            ("LM0= inf\n", "found \"inf\""),
            ("LM0=0.5 UNTUNEABLE\n", "found \"UNTUNEABLE\""),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    proptest! {
        /// Any text gives weights or an error; weights fit the features that they name.
        #[test]
        fn weights_fit_their_own_features(text in "([ab]=( [0-9.-]{1,3}){0,2}\n?|[ab= #\\[\n]){0,12}") {
            if let Ok(weights) = read(&text) {
                let field: String = weights.features.iter().map(|(name, values)| {
                    format!("{}={} ", String::from_utf8_lossy(name), " 0".repeat(values.len()))
                }).collect();
                let scheme = FeatureScheme::new(field.as_bytes());
                if weights.features.iter().all(|(name, _)| !name.is_empty()) {
                    let expected: usize = weights.features.iter().map(|(_, v)| v.len()).sum();
                    prop_assert_eq!(weights.for_scheme(&scheme).unwrap().len(), expected);
                }
            }
        }
    }
}
