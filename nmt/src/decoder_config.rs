//! Decoder configurations (`neural.md` 1.5): Marian's `decoder.yml` and Amun's `config.yml`.
//!
//! Only the options that decoding needs here are read; all others are ignored.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::shortlist::ShortlistOptions;
use crate::yaml::Value;
use crate::{Error, Result};

/// A decoder configuration. Relative paths are resolved already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecoderConfig {
    /// The models of the ensemble.
    pub models: Vec<PathBuf>,
    /// The weights of the models; as many as models, or none.
    pub weights: Vec<f32>,
    /// The vocabularies, source first.
    pub vocabularies: Vec<PathBuf>,
    /// The shortlist and its pruning.
    pub shortlist: Option<(PathBuf, ShortlistOptions)>,
    /// The beam size.
    pub beam_size: Option<usize>,
    /// Length normalisation: scores are divided by the length to this power.
    pub normalize: Option<f32>,
    /// The penalty subtracted for each token.
    pub word_penalty: Option<f32>,
    /// Sentences decoded together.
    pub mini_batch: Option<usize>,
    /// Mini-batches read ahead and sorted by length.
    pub maxi_batch: Option<usize>,
    /// The maximum of target tokens per source token.
    pub max_length_factor: Option<f32>,
    /// The file of BPE codes (Amun).
    pub bpe_codes: Option<PathBuf>,
}

impl DecoderConfig {
    /// The beam sizes that are accepted; memory grows with the beam.
    pub const BEAM_SIZES: RangeInclusive<usize> = 1..=1000;

    /// The batch sizes, and the numbers of batches read ahead, that are accepted.
    pub const BATCH_SIZES: RangeInclusive<usize> = 1..=1_000_000;

    /// Reads the file at `path`, of Marian or Amun.
    ///
    /// # Errors
    /// If the file cannot be read, is no YAML, or has an option with an impossible value.
    pub fn open(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).map_err(|e| miriam_storage::Error::io(path, "read", e))?;
        Self::parse(&text, path)
    }

    /// Parses a configuration. `path` names it in messages, and its folder is the base of
    /// relative paths if the option `relative-paths` is set.
    ///
    /// # Errors
    /// If `text` is no YAML or has an option with an impossible value.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let value = Value::parse(text, &path.display().to_string())?;
        let reader = ConfigReader { value: &value, path };
        if value.get("scorers").is_some() {
            let settings = reader.read_amun()?;
            settings.validate_named(path, "max-length-multiple")?;
            Ok(settings)
        } else {
            let settings = reader.read_marian()?;
            settings.validate(path)?;
            Ok(settings)
        }
    }

    /// Checks the ranges of all numbers; `path` names the file in messages.
    pub(crate) fn validate(&self, path: &Path) -> Result<()> {
        self.validate_named(path, "max-length-factor")
    }

    /// As `validate`, with the name of the length factor in this configuration.
    fn validate_named(&self, path: &Path, length_factor: &str) -> Result<()> {
        let counts = [
            ("beam-size", self.beam_size, Self::BEAM_SIZES),
            ("mini-batch", self.mini_batch, Self::BATCH_SIZES),
            ("maxi-batch", self.maxi_batch, Self::BATCH_SIZES),
        ];
        for (name, number, range) in counts {
            if let Some(number) = number
                && !range.contains(&number)
            {
                let reason = format!("{number} is not from {} to {}", range.start(), range.end());
                return Err(Error::mismatch(path, name, reason));
            }
        }
        let threshold = self.shortlist.as_ref().map(|(_, options)| options.threshold);
        let weights = self.weights.iter().map(|&weight| ("weights", weight));
        let numbers = [
            ("normalize", self.normalize),
            ("word-penalty", self.word_penalty),
            ("shortlist", threshold),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
        if let Some((name, number)) = numbers.chain(weights).find(|(_, n)| !n.is_finite()) {
            return Err(Error::mismatch(path, name, format!("{number} is not finite")));
        }
        match self.max_length_factor {
            Some(factor) if !(factor.is_finite() && factor > 0.0) => {
                Err(Error::mismatch(path, length_factor, format!("{factor} is not above 0")))
            }
            _ => Ok(()),
        }
    }
}

struct ConfigReader<'a> {
    value: &'a Value,
    path: &'a Path,
}

impl ConfigReader<'_> {
    fn read_marian(&self) -> Result<DecoderConfig> {
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
        Ok(DecoderConfig {
            models: self.files("models")?,
            weights: self.numbers("weights")?,
            vocabularies: self.files("vocabs")?,
            shortlist,
            beam_size: self.number("beam-size")?,
            normalize: self.normalize()?,
            word_penalty: self.number("word-penalty")?,
            mini_batch: self.number("mini-batch")?,
            maxi_batch: self.number("maxi-batch")?,
            max_length_factor: self.number("max-length-factor")?,
            bpe_codes: None,
        })
    }

    fn read_amun(&self) -> Result<DecoderConfig> {
        let scorers = self.value.get("scorers").and_then(Value::entries).unwrap_or_default();
        let all_weights = self.value.get("weights");
        let mut settings = DecoderConfig {
            vocabularies: [self.files("source-vocab")?, self.files("target-vocab")?].concat(),
            beam_size: self.number("beam-size")?,
            normalize: self.normalize()?,
            mini_batch: self.number("mini-batch")?,
            maxi_batch: self.number("maxi-batch")?,
            max_length_factor: self.number("max-length-multiple")?,
            bpe_codes: self.files("bpe")?.into_iter().next(),
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
                    self.mismatch(&place, &format!("a scorer of type {kind} is not covered"))
                );
            }
            settings.models.push(self.file(file, &place)?);
            let weight = all_weights.and_then(|all| all.get(&name));
            let weight = match weight.and_then(Value::as_str) {
                Some(text) => text.parse().ok().filter(|weight: &f32| weight.is_finite()),
                None => Some(1.0),
            };
            let weight = weight.ok_or_else(|| self.mismatch(&place, "its weight is no number"))?;
            settings.weights.push(weight);
        }
        Ok(settings)
    }

    /// Marian takes an exponent; `true` or no value is 1, `false` is 0.
    fn normalize(&self) -> Result<Option<f32>> {
        let Some(value) = self.value.get("normalize") else { return Ok(None) };
        match value.as_bool() {
            Some(flag) => Ok(Some(if flag { 1.0 } else { 0.0 })),
            None if value.is_null() => Ok(Some(1.0)),
            None => self.number("normalize"),
        }
    }

    fn items(&self, name: &str) -> &[Value] {
        self.value.get(name).map_or(&[], Value::items)
    }

    fn files(&self, name: &str) -> Result<Vec<PathBuf>> {
        self.items(name).iter().map(|value| self.file(value, name)).collect()
    }

    /// A path, relative to the folder of the configuration if `relative-paths` is set.
    fn file(&self, value: &Value, place: &str) -> Result<PathBuf> {
        let text = value.as_str().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| self.mismatch(place, "a file's name is needed"))?;
        let relative = self.value.get("relative-paths").and_then(Value::as_bool).unwrap_or(false);
        let folder = self.path.parent().filter(|_| relative).unwrap_or(Path::new(""));
        Ok(folder.join(text))
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        match self.value.get(name).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) => {
                let number = value.as_str().and_then(|text| text.parse().ok());
                number.map(Some).ok_or_else(|| self.mismatch(name, "a number is needed"))
            }
        }
    }

    fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        let number = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        self.items(name)
            .iter()
            .map(|value| number(value).ok_or_else(|| self.mismatch(name, "numbers are needed")))
            .collect()
    }

    fn number_at<T: std::str::FromStr>(&self, items: &[Value], at: usize) -> Result<Option<T>> {
        match items.get(at).filter(|item| item.as_bool().is_none()) {
            None => Ok(None),
            Some(item) => {
                let number = item.as_str().and_then(|text| text.parse().ok());
                let wrong = || self.mismatch("shortlist", "numbers are needed after the file");
                number.map(Some).ok_or_else(wrong)
            }
        }
    }

    fn mismatch(&self, place: &str, reason: &str) -> Error {
        Error::mismatch(self.path, place, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_marian() {
        let text = "relative-paths: true\nmodels:\n  - model.npz\n  - /abs/b.npz\nvocabs:\n  - a.spm\n  \
                    - a.spm\nweights: [0.25, 0.75]\nbeam-size: 6\nnormalize: 0.6\nword-penalty: 0\n\
                    mini-batch: 1\nmaxi-batch: 100\nmaxi-batch-sort: src\nshortlist:\n  - lex.s2t\n  \
                    - 50\n  - 30\n  - 0\nskip-cost: yes\nquiet: true\nmax-length-factor: 2\n";
        let settings = DecoderConfig::parse(text.as_bytes(), Path::new("/m/decoder.yml")).unwrap();
        assert_eq!(settings.models, [Path::new("/m/model.npz"), Path::new("/abs/b.npz")]);
        assert_eq!(settings.vocabularies, [Path::new("/m/a.spm"), Path::new("/m/a.spm")]);
        assert_eq!(settings.weights, [0.25, 0.75]);
        assert_eq!((settings.beam_size, settings.normalize), (Some(6), Some(0.6)));
        let options = ShortlistOptions { first: 50, best: 30, threshold: 0.0 };
        assert_eq!(settings.shortlist, Some(("/m/lex.s2t".into(), options)));
        assert_eq!(settings.max_length_factor, Some(2.0));
    }

    #[test]
    fn a_configuration_of_a_browser() {
        let text = "models: [m.bin]\nvocabs: [v.spm, v.spm]\nshortlist: [lex.bin, false]\n\
                    ssplit-mode: paragraph\nnormalize:\ngemm-precision: int8shiftAlphaAll\n";
        let settings = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap();
        let shortlist = Some(("lex.bin".into(), ShortlistOptions::default()));
        assert_eq!((settings.shortlist, settings.normalize), (shortlist, Some(1.0)));
    }

    #[test]
    fn a_configuration_of_amun() {
        let text = "relative-paths: yes\nscorers:\n  F0:\n    path: a.npz\n    type: Nematus\n  F1:\n    \
                    path: b.npz\n    type: nematus2\nweights:\n  F0: 0.5\n  F1: 2\nbeam-size: 12\n\
                    normalize: yes\nsource-vocab: s.json\ntarget-vocab: t.json\nbpe: codes\n\
                    max-length-multiple: 3\n";
        let settings = DecoderConfig::parse(text.as_bytes(), Path::new("x/config.yml")).unwrap();
        assert_eq!(settings.models, [Path::new("x/a.npz"), Path::new("x/b.npz")]);
        assert_eq!(settings.weights, [0.5, 2.0]);
        assert_eq!(settings.vocabularies, [Path::new("x/s.json"), Path::new("x/t.json")]);
        assert_eq!((settings.normalize, settings.beam_size), (Some(1.0), Some(12)));
        assert_eq!(settings.bpe_codes, Some("x/codes".into()));
        assert_eq!(settings.max_length_factor, Some(3.0));
    }

    #[test]
    fn wrong_values_are_named() {
        for (text, word) in [
            ("models: [a]\nbeam-size: many\n", "beam-size"),
            ("shortlist: [a, b]\n", "shortlist"),
            ("models: [[]]\n", "models"),
            ("beam-size: 0\n", "c.yml: beam-size"),
            ("beam-size: 100000\n", "beam-size"),
            ("maxi-batch: 10000000\n", "maxi-batch"),
            ("normalize: nan\n", "normalize"),
            ("word-penalty: inf\n", "word-penalty"),
            ("max-length-factor: -1\n", "max-length-factor"),
            ("scorers: {F0: {path: a}}\nmax-length-multiple: 0\n", "max-length-multiple"),
            ("models: [a]\nweights: [nan]\n", "weights"),
            ("shortlist: [a, 1, 1, nan]\n", "shortlist"),
            ("scorers: {F0: {type: Nematus}}\n", "F0"),
            ("scorers: {F0: {path: a, type: Ape}}\n", "Ape"),
            ("scorers: {F0: {path: a}}\nweights: {F0: x}\n", "weight"),
        ] {
            let error = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
