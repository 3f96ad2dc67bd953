//! Reader of the values of decoder configurations.

use std::path::{Path, PathBuf};

use super::AlignmentFormat;
use super::DecoderConfig;
use crate::shortlist::ShortlistOptions;
use crate::yaml::Value;
use crate::{Error, Result};

/// The values of a configuration.
pub struct ConfigReader<'a> {
    pub value: &'a Value,
    pub path: &'a Path,
    /// Whether paths are relative to the file's folder, whatever the file says.
    pub has_relative_paths: bool,
}

impl ConfigReader<'_> {
    /// Reads the settings of a Marian configuration.
    pub fn read_marian(&self) -> Result<DecoderConfig> {
        self.check_relative_paths()?;
        let shortlist = match self.items("shortlist") {
            [] => None,
            [file, rest @ ..] => {
                let default = ShortlistOptions::default();
                let options = ShortlistOptions {
                    first: self.number_at(rest, 0)?.unwrap_or(default.first),
                    best: self.number_at(rest, 1)?.unwrap_or(default.best),
                    threshold: self.number_at(rest, 2)?.unwrap_or(default.threshold),
                };
                // For binary shortlists a flag follows instead of numbers.
                Some((self.file(file, "shortlist")?, options))
            }
        };
        let order = self.value.get("maxi-batch-sort").filter(|value| !value.is_null());
        let sort_by_length = match order.map(Value::as_str) {
            None => None,
            Some(Some("none")) => Some(false),
            // Marian's decoder sorts by the source even if the option is `trg`.
            Some(Some("src" | "trg")) => Some(true),
            Some(_) => return Err(self.mismatch("maxi-batch-sort", "expected src, trg or none")),
        };
        Ok(DecoderConfig {
            models: [self.files("models")?, self.files("model")?].concat(),
            weights: self.numbers("weights")?,
            vocabularies: self.files("vocabs")?,
            shortlist,
            beam_size: self.number("beam-size")?,
            normalize: self.normalize()?,
            word_penalty: self.number("word-penalty")?,
            mini_batch: self.number("mini-batch")?,
            maxi_batch: self.number("maxi-batch")?,
            max_length_factor: self.number("max-length-factor")?,
            max_target_length: None,
            min_target_length: None,
            no_repeat_ngram_size: None,
            repetition_penalty: None,
            early_stopping: None,
            bpe_codes: None,
            mini_batch_words: self.number("mini-batch-words")?,
            sort_by_length,
            max_length: self.number("max-length")?,
            crop: self.flag("max-length-crop")?,
            is_tokenized: self.flag("no-spm-encode")?,
            as_pieces: self.flag("no-spm-decode")?,
            n_best: self.flag("n-best")?,
            alignment: self.alignment()?,
            word_scores: self.flag("word-scores")?,
            allow_unknown: self.flag("allow-unk")?,
            replace_unknowns: None,
            is_for_scoring: ["model", "train-sets"].iter().any(|key| self.value.get(key).is_some()),
            train_sets: self.files("train-sets")?,
            port: self.number("port")?,
            keys_without_effect: Vec::new(),
            other_options: Vec::new(),
        })
    }

    /// Reads the format of alignments; `true` is hard, `false` and no value turn them off.
    fn alignment(&self) -> Result<Option<Option<AlignmentFormat>>> {
        let Some(value) = self.value.get("alignment") else { return Ok(None) };
        let format = match (value.as_bool(), value.as_str()) {
            (Some(true), _) => Some(AlignmentFormat::Hard(1.0)),
            (Some(false), _) | (_, Some("")) => None,
            (None, Some(text)) => {
                let format = text.parse();
                Some(format.map_err(|reason: String| self.mismatch("alignment", &reason))?)
            }
            (None, None) => return Err(self.mismatch("alignment", "expected one format")),
        };
        Ok(Some(format))
    }

    fn flag(&self, name: &str) -> Result<Option<bool>> {
        let Some(value) = self.value.get(name) else { return Ok(None) };
        let flag = truth_value(value);
        flag.map(Some).ok_or_else(|| self.mismatch(name, "expected true or false"))
    }

    /// Checks that `relative-paths` is a truth value; without a value it is false.
    fn check_relative_paths(&self) -> Result<()> {
        match self.value.get("relative-paths") {
            Some(value) if !value.is_null() => self.flag("relative-paths").map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Reads the settings of an Amun configuration.
    pub fn read_amun(&self) -> Result<DecoderConfig> {
        self.check_relative_paths()?;
        let scorers = self.entries("scorers")?;
        let all_weights = self.value.get("weights");
        for (name, _) in self.entries("weights")? {
            if !scorers.iter().any(|(scorer, _)| scorer == name) {
                let name = String::from_utf8_lossy(name);
                return Err(self.mismatch("weights", &format!("there is no scorer {name}")));
            }
        }
        let codes = self.files("bpe")?;
        if codes.len() > 1 {
            return Err(self.mismatch("bpe", "expected one file; one source is supported"));
        }
        // 0 means no limit.
        let max_words = self.number::<usize>("max-length")?.filter(|&words| words > 0);
        let mut settings = DecoderConfig {
            vocabularies: [self.files("source-vocab")?, self.files("target-vocab")?].concat(),
            beam_size: self.number("beam-size")?,
            normalize: self.normalize()?,
            mini_batch: self.number("mini-batch")?,
            maxi_batch: self.number("maxi-batch")?,
            max_length_factor: self.number("max-length-multiple")?,
            bpe_codes: codes.into_iter().next(),
            mini_batch_words: self.number("mini-batch-words")?,
            // Amun counts tokens without `</s>`, and drops the tokens beyond the limit.
            max_length: max_words.map(|words| words.saturating_add(1)),
            crop: max_words.is_some().then_some(true),
            n_best: self.flag("n-best")?,
            allow_unknown: self.flag("allow-unk")?,
            ..DecoderConfig::default()
        };
        for (name, scorer) in scorers {
            let name = String::from_utf8_lossy(name);
            let place = format!("scorers, {name}");
            let file =
                scorer.get("path").ok_or_else(|| self.mismatch(&place, "its path is missing"))?;
            let kind = scorer.get("type").and_then(Value::as_str).unwrap_or("Nematus");
            if !matches!(kind.to_ascii_lowercase().as_str(), "nematus" | "nematus2") {
                return Err(
                    self.mismatch(&place, &format!("a scorer of type {kind} is not supported"))
                );
            }
            for (key, value) in scorer.entries().unwrap_or_default() {
                match &key[..] {
                    b"path" | b"type" => {}
                    // The source that the scorer reads, if there are several.
                    b"tab" if value.as_str() == Some("0") => {}
                    b"tab" => return Err(self.mismatch(&place, "one source is supported")),
                    other => {
                        let key = String::from_utf8_lossy(other);
                        let reason = format!("unknown key {key}; expected path and type");
                        return Err(self.mismatch(&place, &reason));
                    }
                }
            }
            settings.models.push(self.file(file, &place)?);
            let weight = all_weights.and_then(|all| all.get(&name));
            let weight = match weight.and_then(Value::as_str) {
                Some(text) => text.parse().ok().filter(|weight: &f32| weight.is_finite()),
                None => Some(1.0),
            };
            let weight =
                weight.ok_or_else(|| self.mismatch(&place, "its weight is not a number"))?;
            settings.weights.push(weight);
        }
        Ok(settings)
    }

    /// Reads the exponent of length normalisation; `true` or an empty value means 1, `false` 0.
    fn normalize(&self) -> Result<Option<f32>> {
        let Some(value) = self.value.get("normalize") else { return Ok(None) };
        match value.as_bool() {
            Some(flag) => Ok(Some(if flag { 1.0 } else { 0.0 })),
            None if value.is_null() => Ok(Some(1.0)),
            None => self.number("normalize"),
        }
    }

    /// Returns the entries of a map; none if it is missing or null.
    fn entries(&self, name: &str) -> Result<&[(Vec<u8>, Value)]> {
        let Some(value) = self.value.get(name).filter(|value| !value.is_null()) else {
            return Ok(&[]);
        };
        value.entries().ok_or_else(|| self.mismatch(name, "expected a map of scorers"))
    }

    fn items(&self, name: &str) -> &[Value] {
        self.value.get(name).map_or(&[], Value::items)
    }

    fn files(&self, name: &str) -> Result<Vec<PathBuf>> {
        self.items(name).iter().map(|value| self.file(value, name)).collect()
    }

    /// Returns a path, relative to the folder of the configuration if `relative-paths` is set.
    fn file(&self, value: &Value, place: &str) -> Result<PathBuf> {
        let text = value.as_str().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| self.mismatch(place, "expected a file name"))?;
        Ok(self.path_folder().unwrap_or(Path::new("")).join(text))
    }

    /// Returns the folder of the configuration if paths are relative to it.
    pub fn path_folder(&self) -> Option<&Path> {
        let relative = self.value.get("relative-paths").and_then(truth_value).unwrap_or(false);
        self.path.parent().filter(|_| relative || self.has_relative_paths)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        match self.value.get(name).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) => {
                let number = value.as_str().and_then(|text| text.parse().ok());
                number.map(Some).ok_or_else(|| self.mismatch(name, "expected a number"))
            }
        }
    }

    fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        fn number(value: &Value) -> Option<f32> {
            value.as_str().and_then(|text| text.parse().ok())
        }
        self.items(name)
            .iter()
            .map(|value| number(value).ok_or_else(|| self.mismatch(name, "expected numbers")))
            .collect()
    }

    fn number_at<T: std::str::FromStr>(&self, items: &[Value], at: usize) -> Result<Option<T>> {
        match items.get(at).filter(|item| item.as_bool().is_none()) {
            None => Ok(None),
            Some(item) => {
                let number = item.as_str().and_then(|text| text.parse().ok());
                number
                    .map(Some)
                    .ok_or_else(|| self.mismatch("shortlist", "expected numbers after the file"))
            }
        }
    }

    fn mismatch(&self, place: &str, reason: &str) -> Error {
        Error::mismatch(self.path, place, reason)
    }
}

/// Returns the truth value of a flag. Marian takes 1 and 0, too.
fn truth_value(value: &Value) -> Option<bool> {
    match value.as_str() {
        Some("1") => Some(true),
        Some("0") => Some(false),
        _ => value.as_bool(),
    }
}
