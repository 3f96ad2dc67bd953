//! Options of decoding that may be set for a model or for a request: one list of keys, ranges and
//! meanings for the command line, the configuration of a server, its requests and Python.

use std::ops::RangeInclusive;

use super::{TranslationOptions, Translator, complete_search, max_sentence_length};
use crate::decoder_config::DecoderConfig;
use crate::{Error, Result};

/// A float by its bits, so that settings can be compared and are the key of a class of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number(u32);

impl From<f32> for Number {
    fn from(number: f32) -> Self {
        Number(number.to_bits())
    }
}

impl From<Number> for f32 {
    fn from(number: Number) -> Self {
        f32::from_bits(number.0)
    }
}

/// Options of decoding; those that are not set are the model's.
///
/// ```
/// use miriam_nmt::translate::DecodingSettings;
///
/// let mut settings = DecodingSettings::default();
/// settings.set("no-repeat-ngram-size", "2")?;
/// assert_eq!(settings.no_repeat_ngram_size, Some(2));
/// assert!(settings.set("no-repeat-ngram-size", "many").is_err());
/// assert!(settings.set("ngrams", "2").is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DecodingSettings {
    /// Hypotheses kept at each step.
    pub beam_size: Option<usize>,
    /// Scores are divided by the length to this power.
    pub normalize: Option<Number>,
    /// The penalty subtracted for each token.
    pub word_penalty: Option<Number>,
    /// The most tokens for each token of the source.
    pub max_length_factor: Option<Number>,
    /// The most tokens of a translation.
    pub max_decoding_length: Option<usize>,
    /// The fewest tokens of a translation.
    pub min_length: Option<usize>,
    /// CTranslate2's rules: search until this many times the beam have ended.
    pub patience: Option<Number>,
    /// The weight by which translations that look at all of the source are preferred.
    pub coverage_penalty: Option<Number>,
    /// The divisor of the scores of tokens generated before.
    pub repetition_penalty: Option<Number>,
    /// Length of the sequences of tokens that are never repeated; 0 allows all.
    pub no_repeat_ngram_size: Option<usize>,
    /// The margin below the best finished hypothesis at which search ends.
    pub early_stop: Option<Number>,
    /// Whether the unknown token may be generated.
    pub allow_unk: Option<bool>,
    /// Whether unknown tokens become the source words that they look at; they are allowed then,
    /// unless `allow_unk` is false.
    pub replace_unknowns: Option<bool>,
    /// The most tokens of a sentence.
    pub max_length: Option<usize>,
    /// Whether longer sentences are cropped.
    pub max_length_crop: Option<bool>,
}

impl DecodingSettings {
    /// The keys, as options and configurations spell them.
    pub const KEYS: [&str; 15] = [
        "beam-size",
        "normalize",
        "word-penalty",
        "max-length-factor",
        "max-decoding-length",
        "min-length",
        "patience",
        "coverage-penalty",
        "repetition-penalty",
        "no-repeat-ngram-size",
        "early-stop",
        "allow-unk",
        "replace-unknowns",
        "max-length",
        "max-length-crop",
    ];

    /// Sets the option `key`, of [`DecodingSettings::KEYS`].
    ///
    /// # Errors
    /// If the key is not one of them, or the value is out of its range.
    pub fn set(&mut self, key: &str, value: &str) -> std::result::Result<(), String> {
        let count = |range: RangeInclusive<usize>| {
            let number = value.parse().ok().filter(|number| range.contains(number));
            let wanted = || format!("a whole number from {} to {}", range.start(), range.end());
            number.map(Some).ok_or_else(|| wrong(key, value, &wanted()))
        };
        let number = |is_right: fn(f32) -> bool, wanted: &str| {
            let number = value.parse().ok().filter(|&n: &f32| n.is_finite() && is_right(n));
            number.map(|n| Some(n.into())).ok_or_else(|| wrong(key, value, wanted))
        };
        let any = || number(|_| true, "a number");
        let positive = || number(|n| n > 0.0, "a number above 0");
        let not_negative = || number(|n| n >= 0.0, "a number from 0 on");
        let flag = || value.parse().map(Some).map_err(|_| wrong(key, value, "true or false"));
        let most = *DecoderConfig::LENGTHS.end();
        match key {
            "beam-size" => self.beam_size = count(DecoderConfig::BEAM_SIZES)?,
            "normalize" => self.normalize = any()?,
            "word-penalty" => self.word_penalty = any()?,
            "max-length-factor" => self.max_length_factor = positive()?,
            "max-decoding-length" => self.max_decoding_length = count(DecoderConfig::LENGTHS)?,
            "min-length" => self.min_length = count(0..=most)?,
            "patience" => self.patience = positive()?,
            "coverage-penalty" => self.coverage_penalty = not_negative()?,
            "repetition-penalty" => self.repetition_penalty = positive()?,
            "no-repeat-ngram-size" => self.no_repeat_ngram_size = count(0..=most)?,
            "early-stop" => self.early_stop = not_negative()?,
            "allow-unk" => self.allow_unk = flag()?,
            "replace-unknowns" => self.replace_unknowns = flag()?,
            "max-length" => self.max_length = count(DecoderConfig::LENGTHS)?,
            "max-length-crop" => self.max_length_crop = flag()?,
            _ => {
                let keys = Self::KEYS.join(", ");
                return Err(format!("unknown option {key:?}; expected one of {keys}"));
            }
        }
        Ok(())
    }

    /// Whether nothing is set.
    pub fn is_empty(self) -> bool {
        self == DecodingSettings::default()
    }

    /// These settings, and those of `others` where they leave something open.
    pub fn or(self, others: DecodingSettings) -> DecodingSettings {
        DecodingSettings {
            beam_size: self.beam_size.or(others.beam_size),
            normalize: self.normalize.or(others.normalize),
            word_penalty: self.word_penalty.or(others.word_penalty),
            max_length_factor: self.max_length_factor.or(others.max_length_factor),
            max_decoding_length: self.max_decoding_length.or(others.max_decoding_length),
            min_length: self.min_length.or(others.min_length),
            patience: self.patience.or(others.patience),
            coverage_penalty: self.coverage_penalty.or(others.coverage_penalty),
            repetition_penalty: self.repetition_penalty.or(others.repetition_penalty),
            no_repeat_ngram_size: self.no_repeat_ngram_size.or(others.no_repeat_ngram_size),
            early_stop: self.early_stop.or(others.early_stop),
            allow_unk: self.allow_unk.or(others.allow_unk),
            replace_unknowns: self.replace_unknowns.or(others.replace_unknowns),
            max_length: self.max_length.or(others.max_length),
            max_length_crop: self.max_length_crop.or(others.max_length_crop),
        }
    }

    /// Changes `options` where something is set.
    pub fn apply(&self, options: &mut TranslationOptions) {
        fn set<T>(option: &mut T, given: Option<impl Into<T>>) {
            if let Some(given) = given {
                *option = given.into();
            }
        }
        let search = &mut options.search;
        if let Some(beam) = self.beam_size {
            search.beam_size = beam;
            search.n_best = if options.output.n_best { beam } else { 1 };
        }
        set(&mut search.length_penalty, self.normalize);
        set(&mut search.word_penalty, self.word_penalty);
        set(&mut search.max_length_factor, self.max_length_factor);
        set(&mut search.max_length, self.max_decoding_length);
        set(&mut search.min_length, self.min_length);
        set(&mut search.patience, self.patience);
        set(&mut search.coverage_penalty, self.coverage_penalty);
        set(&mut search.repetition_penalty, self.repetition_penalty);
        set(&mut search.no_repeat_ngram_size, self.no_repeat_ngram_size);
        search.early_stop_margin = self.early_stop.map(f32::from).or(search.early_stop_margin);
        set(&mut options.output.replace_unknowns, self.replace_unknowns);
        // Unknown tokens can be replaced only if they may be generated.
        options.allow_unknown |= self.replace_unknowns == Some(true);
        set(&mut options.allow_unknown, self.allow_unk);
        set(&mut options.input.max_length, self.max_length);
        set(&mut options.input.crop, self.max_length_crop);
        // Who says how long a sentence may be does not want it in parts.
        if self.max_length.is_some() || self.max_length_crop.is_some() {
            options.input.splits_long = false;
        }
    }
}

impl Translator {
    /// A translator of the same models with other settings.
    ///
    /// # Errors
    /// If more translations are wanted than the beam has.
    pub fn with_settings(&self, settings: &DecodingSettings) -> Result<Translator> {
        if settings.is_empty() {
            return Ok(self.clone());
        }
        let mut options = self.options.clone();
        settings.apply(&mut options);
        if options.search.sampling.is_none() && options.search.n_best > options.search.beam_size {
            let [wanted, beam] = [options.search.n_best, options.search.beam_size];
            let reason = format!("{wanted} translations are wanted, and the beam has {beam}");
            return Err(Error::Untranslatable { reason });
        }
        let target = &self.models.tokenizers()[1].vocabulary;
        Ok(Translator {
            search: complete_search(&options, &self.always_suppressed, target),
            max_length: max_sentence_length(&self.models, self.max_positions, &options),
            options,
            ..self.clone()
        })
    }
}

fn wrong(key: &str, value: &str, wanted: &str) -> String {
    format!("{key}: expected {wanted}, found {value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_set_by_a_value_in_its_range() {
        for key in DecodingSettings::KEYS {
            let mut settings = DecodingSettings::default();
            let value = ["2", "true"].iter().find(|value| settings.set(key, value).is_ok());
            assert!(value.is_some() && !settings.is_empty(), "{key}");
            assert_eq!(settings.or(DecodingSettings::default()), settings, "{key}");
            assert_eq!(DecodingSettings::default().or(settings), settings, "{key}");
            for wrong in ["", "x", "nan", "-inf", "1e99"] {
                let error = settings.set(key, wrong).unwrap_err();
                assert!(error.starts_with(key), "{error}");
            }
        }
        let mut settings = DecodingSettings::default();
        for (key, wrong) in
            [("beam-size", "0"), ("patience", "0"), ("early-stop", "-1"), ("max-length", "0")]
        {
            assert!(settings.set(key, wrong).is_err(), "{key} {wrong}");
        }
        assert!(settings.set("beam_size", "1").is_err() && settings.is_empty());
    }
}
