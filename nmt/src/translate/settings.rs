//! Options of decoding that may be set for a model or for a request: one list of keys, ranges and
//! meanings for the command line, the configuration of a server, its requests and Python.

mod sampling;

use std::ops::RangeInclusive;

pub use sampling::OutputSampling;

use super::{TranslationOptions, Translator, complete_search, max_sentence_length};
use crate::search::{EarlyStopping, LM_WITH_SAMPLING, SearchOptions};
use crate::{Error, Result};
use miriam_nmt_models::DecoderConfig;

/// A float that is compared by its bits, so that settings can be compared and hashed: sentences
/// with equal options share batches.
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

/// Declares [`DecodingSettings`] with each option in one place: its field, its key, and the reader
/// of its value.
macro_rules! decoding_settings {
    ($(#[$about:meta])* struct; $($(#[$doc:meta])* $field:ident, $key:literal: $type:ty = $read:expr;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct DecodingSettings {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl DecodingSettings {
            /// The keys, as options and configurations spell them.
            pub const KEYS: [&str; [$($key),*].len()] = [$($key),*];

            /// Sets the option `key`, of [`DecodingSettings::KEYS`].
            ///
            /// # Errors
            /// If the key is not one of them, the value is out of range, or the option contradicts
            /// one that is set already.
            pub fn set(&mut self, key: &str, value: &str) -> std::result::Result<(), String> {
                let mut changed = *self;
                match key {
                    $($key => {
                        let found = ($read)(value).map_err(|wanted| wrong(key, value, &wanted))?;
                        changed.$field = Some(found);
                    })*
                    _ => {
                        let keys = Self::KEYS.join(", ");
                        return Err(format!("unknown option {key:?}; expected one of {keys}"));
                    }
                }
                changed.check_sampling()?;
                *self = changed;
                Ok(())
            }

            /// Returns the keys of the options that are set.
            pub fn keys_set(self) -> impl Iterator<Item = &'static str> {
                let all = [$(($key, self.$field.is_some())),*];
                all.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key)
            }

            /// Returns these settings, completed from `others`.
            pub fn or(self, others: DecodingSettings) -> Self {
                let others = others.without_sampling_of(&self);
                DecodingSettings { $($field: self.$field.or(others.$field),)* }
            }
        }
    };
}

decoding_settings! {
    /// Options of decoding. An option that is not set has the value of the model.
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
    struct;

    /// The number of hypotheses kept at each step.
    beam_size, "beam-size": usize = count(DecoderConfig::BEAM_SIZES);
    /// Scores are divided by the length to this power.
    normalize, "normalize": Number = number("a number", |_| true);
    /// The penalty subtracted for each token.
    word_penalty, "word-penalty": Number = number("a number", |_| true);
    /// The maximum number of target tokens per source token.
    max_length_factor, "max-length-factor": Number = positive();
    /// The maximum number of tokens of a translation.
    max_decoding_length, "max-decoding-length": usize = count(DecoderConfig::LENGTHS);
    /// The minimum number of tokens of a translation.
    min_length, "min-length": usize = count(LENGTHS_OR_ZERO);
    /// By CTranslate2's rules, search ends when the number of finished hypotheses is this factor
    /// times the beam size. It has no effect without penalties of length and coverage.
    patience, "patience": Number = positive();
    /// By CTranslate2's rules, the rule of `transformers` that ends a search after that number of
    /// finished hypotheses. It has no effect without a beam.
    early_stopping, "early-stopping": EarlyStopping = str::parse::<EarlyStopping>;
    /// The weight of the preference for translations that attend to the whole source; it may be
    /// negative.
    coverage_penalty, "coverage-penalty": Number = number("a number", |_| true);
    /// The number by which the logits of tokens generated before are divided, or multiplied if they
    /// are negative.
    repetition_penalty, "repetition-penalty": Number = positive();
    /// The length of the sequences of tokens that are never repeated; 0 allows all.
    no_repeat_ngram_size, "no-repeat-ngram-size": usize = count(LENGTHS_OR_ZERO);
    /// The weight of the language model; an error if there is none.
    lm_weight, "lm-weight": Number = number("a number", |_| true);
    /// Search ends when the best live hypothesis is below the best finished one by more than this
    /// difference of log-probabilities.
    early_stop, "early-stop": Number = not_negative();
    /// Whether the unknown token may be generated.
    allow_unk, "allow-unk": bool = flag;
    /// Whether unknown tokens become the source words that they attend to; they are then allowed
    /// unless `allow_unk` is false.
    replace_unknowns, "replace-unknowns": bool = flag;
    /// The maximum number of tokens of a source sentence.
    max_length, "max-length": usize = count(DecoderConfig::LENGTHS);
    /// Whether longer source sentences are cropped.
    max_length_crop, "max-length-crop": bool = flag;
    /// The number of best tokens to sample from; 0 for all.
    sampling_topk, "sampling-topk": usize = count(LENGTHS_OR_ZERO);
    /// The probability mass of the best tokens to sample from.
    sampling_topp, "sampling-topp": Number = probability_mass();
    /// The minimum probability of tokens to sample from.
    sampling_epsilon, "sampling-epsilon": Number = min_probability();
    /// The divisor of logits in sampling.
    sampling_temperature, "sampling-temperature": Number = positive();
    /// Marian's option of sampling, which excludes the four options before it.
    output_sampling, "output-sampling": OutputSampling = OutputSampling::parse;
    /// The seed of sampling.
    seed, "seed": u64 = seed;
}

/// Lengths, including 0.
const LENGTHS_OR_ZERO: RangeInclusive<usize> = 0..=*DecoderConfig::LENGTHS.end();

/// A value, or the description of the expected values.
type ReadValue<T> = std::result::Result<T, String>;

fn count(range: RangeInclusive<usize>) -> impl Fn(&str) -> ReadValue<usize> {
    move |value| {
        let number = value.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("a whole number from {} to {}", range.start(), range.end()))
    }
}

fn number(wanted: &'static str, is_right: fn(f32) -> bool) -> impl Fn(&str) -> ReadValue<Number> {
    move |value| {
        let number = value.parse().ok().filter(|&number: &f32| number.is_finite());
        number.filter(|&number| is_right(number)).map(Number::from).ok_or_else(|| wanted.to_owned())
    }
}

pub(super) fn positive() -> impl Fn(&str) -> ReadValue<Number> {
    number("a number above 0", |number| number > 0.0)
}

fn not_negative() -> impl Fn(&str) -> ReadValue<Number> {
    number("a number from 0 on", |number| number >= 0.0)
}

pub(super) fn probability_mass() -> impl Fn(&str) -> ReadValue<Number> {
    number("a number above 0, up to 1", |number| number > 0.0 && number <= 1.0)
}

pub(super) fn min_probability() -> impl Fn(&str) -> ReadValue<Number> {
    number("a number from 0 on, below 1", |number| (0.0..1.0).contains(&number))
}

fn flag(value: &str) -> ReadValue<bool> {
    value.parse().map_err(|_| "true or false".to_owned())
}

fn seed(value: &str) -> ReadValue<u64> {
    value.parse().map_err(|_| format!("a whole number from 0 to {}", u64::MAX))
}

impl DecodingSettings {
    /// Whether nothing is set.
    pub fn is_empty(self) -> bool {
        self == DecodingSettings::default()
    }

    /// Changes `options` by the settings that are set.
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
        search.early_stopping = self.early_stopping.or(search.early_stopping);
        set(&mut search.coverage_penalty, self.coverage_penalty);
        set(&mut search.repetition_penalty, self.repetition_penalty);
        set(&mut search.no_repeat_ngram_size, self.no_repeat_ngram_size);
        search.early_stop_margin = self.early_stop.map(f32::from).or(search.early_stop_margin);
        set(&mut search.seed, self.seed.map(sampling::drawn_if_zero));
        search.sampling = self.sampling(search.sampling.take());
        set(&mut options.lm_weight, self.lm_weight);
        set(&mut options.output.replace_unknowns, self.replace_unknowns);
        // Unknown tokens can be replaced only if they may be generated.
        options.allow_unknown |= self.replace_unknowns == Some(true);
        set(&mut options.allow_unknown, self.allow_unk);
        set(&mut options.input.max_length, self.max_length);
        set(&mut options.input.crop, self.max_length_crop);
        // If the maximum length or cropping is set explicitly, sentences are not translated in
        // parts.
        if self.max_length.is_some() || self.max_length_crop.is_some() {
            options.input.splits_long = false;
        }
    }
}

impl Translator {
    /// Returns the search options of the translator with other settings.
    pub fn search_with(&self, settings: &DecodingSettings) -> SearchOptions {
        let mut options = self.options.clone();
        settings.apply(&mut options);
        options.search
    }

    /// Returns a translator of the same models with other settings.
    ///
    /// # Errors
    /// If the number of requested translations exceeds what a beam of this size gives, if the
    /// minimum length exceeds the maximum, if the weight of a language model is set but there is no
    /// such model, or if sampling is combined with a language model.
    pub fn with_settings(&self, settings: &DecodingSettings) -> Result<Translator> {
        if settings.is_empty() {
            return Ok(self.clone());
        }
        if settings.lm_weight.is_some() && !self.has_language_model() {
            let reason = "lm-weight is the weight of a language model, and there is none";
            return Err(Error::Untranslatable { reason: reason.into() });
        }
        let mut options = self.options.clone();
        settings.apply(&mut options);
        let target = &self.models.tokenizers()[1].vocabulary;
        let fusion_model = self.fusion_model.as_ref();
        let search = complete_search(&options, &self.always_suppressed, target, fusion_model);
        check_search(&search)?;
        Ok(Translator {
            search,
            max_length: max_sentence_length(&self.models, self.max_positions, &options),
            options,
            ..self.clone()
        })
    }
}

/// Checks that a beam search can give the requested number of translations, that the minimum length
/// does not exceed the maximum, and that a language model is not combined with sampling.
pub(super) fn check_search(search: &SearchOptions) -> Result<()> {
    let SearchOptions { n_best, beam_size, min_length, max_length, .. } = *search;
    if search.fusion.is_some() && search.sampling.is_some() {
        return Err(Error::Untranslatable { reason: LM_WITH_SAMPLING.into() });
    }
    if min_length > max_length {
        let reason = format!(
            "the minimum length of a translation, {min_length}, is more than the maximum, \
             {max_length}; raise max-decoding-length"
        );
        return Err(Error::Untranslatable { reason });
    }
    // A list of the length of the beam may be shorter if the search ends early by its patience.
    if search.n_best_limit().is_some_and(|limit| n_best > limit.max(beam_size)) {
        let limit = search.describe_n_best_limit();
        let reason = format!("{n_best} translations are more than {limit}; raise beam-size");
        return Err(Error::Untranslatable { reason });
    }
    Ok(())
}

fn wrong(key: &str, value: &str, wanted: &str) -> String {
    format!("{key}: expected {wanted}, found {value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{DecodingSemantics, Sampling};

    /// CTranslate2 allows the beam size times the patience, Marian the beam size.
    #[test]
    fn the_patience_lengthens_lists() {
        let mut search = SearchOptions {
            semantics: DecodingSemantics::CTranslate2,
            beam_size: 4,
            patience: 2.0,
            n_best: 8,
            ..SearchOptions::default()
        };
        assert_eq!(search.n_best_limit(), Some(8));
        assert!(check_search(&search).is_ok());
        search.n_best = 9;
        let error = check_search(&search).unwrap_err().to_string();
        assert!(error.contains("9 translations are more than the beam size, 4, times"), "{error}");
        search.semantics = DecodingSemantics::Marian;
        assert_eq!(search.n_best_limit(), Some(4));
        search.sampling = Some(Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, epsilon: 0.0 });
        assert_eq!(search.n_best_limit(), None);
        assert!(check_search(&search).is_ok());
    }

    #[test]
    fn every_key_is_set_by_a_value_in_its_range() {
        for key in DecodingSettings::KEYS {
            let mut settings = DecodingSettings::default();
            let value = ["0.5", "1", "true"].iter().find(|value| settings.set(key, value).is_ok());
            assert!(value.is_some() && !settings.is_empty(), "{key}");
            assert_eq!(settings.keys_set().collect::<Vec<_>>(), [key]);
            assert_eq!(settings.or(DecodingSettings::default()), settings, "{key}");
            assert_eq!(DecodingSettings::default().or(settings), settings, "{key}");
            for wrong in ["x", "nan", "-inf", "1e99"] {
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
