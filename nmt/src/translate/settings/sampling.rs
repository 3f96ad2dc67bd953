//! Options of sampling: single options, and Marian's option, which is a list of words.

use std::hash::{BuildHasher, RandomState};

use super::{DecodingSettings, Number, ReadValue, min_probability, positive, probability_mass};
use crate::search::Sampling;

/// The number of tokens of `--output-sampling topk` without a number, as in Marian.
const DEFAULT_TOP_K: usize = 10;

/// Returns `seed`; if it is 0, returns a seed that is different every time, as in Marian.
pub(super) fn drawn_if_zero(seed: u64) -> u64 {
    match seed {
        0 => RandomState::new().hash_one(std::process::id()).max(1),
        seed => seed,
    }
}

/// The pool of `--output-sampling`; none turns sampling off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutputSampling(Option<Pool>);

/// The pool of tokens to sample from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pool {
    top_k: usize,
    top_p: Number,
    epsilon: Number,
    temperature: Number,
}

impl OutputSampling {
    /// Parses Marian's `full [T]`, `topk [K [T]]`, `topp P [T]` or `epsilon E [T]`; `true` and
    /// empty text mean `full 1`, and `false` turns sampling off.
    ///
    /// # Errors
    /// If the text has another form or a number is out of range; the message has the expected form.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        fn wrong() -> String {
            "full [T], topk [K [T]], topp P [T] or epsilon E [T]".to_owned()
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let (kind, numbers) = words.split_first().map_or(("full", &[][..]), |(k, n)| (*k, n));
        let mut pool =
            Pool { top_k: 0, top_p: 1.0.into(), epsilon: 0.0.into(), temperature: 1.0.into() };
        let read = |value: &str, range: &dyn Fn(&str) -> ReadValue<Number>| {
            range(value).map_err(|range| format!("{}, with {range} instead of {value}", wrong()))
        };
        let temperature = match (kind, numbers) {
            ("false", []) => return Ok(OutputSampling(None)),
            ("full" | "true", rest) => rest,
            ("topk", []) => {
                pool.top_k = DEFAULT_TOP_K;
                &[]
            }
            ("topk", [best, rest @ ..]) => {
                pool.top_k = best.parse().map_err(|_| wrong())?;
                rest
            }
            ("topp", [mass, rest @ ..]) => {
                pool.top_p = read(mass, &probability_mass())?;
                rest
            }
            ("epsilon", [least, rest @ ..]) => {
                pool.epsilon = read(least, &min_probability())?;
                rest
            }
            _ => return Err(wrong()),
        };
        match temperature {
            [] => {}
            [divisor] => pool.temperature = read(divisor, &positive())?,
            _ => return Err(wrong()),
        }
        Ok(OutputSampling(Some(pool)))
    }
}

impl DecodingSettings {
    /// Sets the option `key` to a list of values, which only Marian's `output-sampling` may have.
    ///
    /// # Errors
    /// Those of [`DecodingSettings::set`], and if another option is given a list.
    pub fn set_list(&mut self, key: &str, values: &[String]) -> std::result::Result<(), String> {
        match key {
            "output-sampling" => self.set(key, &values.join(" ")),
            _ => Err(format!("{key}: expected a single value, found a list of {}", values.len())),
        }
    }

    /// Returns the keys of the single options of sampling that are set.
    fn single_sampling_keys(&self) -> impl Iterator<Item = &'static str> {
        self.keys_set().filter(|key| key.starts_with("sampling-"))
    }

    /// Checks that sampling is not specified in both ways.
    pub(super) fn check_sampling(&self) -> std::result::Result<(), String> {
        match self.single_sampling_keys().next().filter(|_| self.output_sampling.is_some()) {
            Some(key) => Err(format!("output-sampling and {key}: give one of them")),
            None => Ok(()),
        }
    }

    /// Returns these settings without the options that `stronger` contradicts.
    pub(super) fn without_sampling_of(mut self, stronger: &DecodingSettings) -> Self {
        if stronger.single_sampling_keys().next().is_some() {
            self.output_sampling = None;
        }
        if stronger.output_sampling.is_some() {
            (self.sampling_topk, self.sampling_topp) = (None, None);
            (self.sampling_epsilon, self.sampling_temperature) = (None, None);
        }
        self
    }

    /// Whether tokens are sampled; `None` if the model decides.
    pub fn is_sampling(&self) -> Option<bool> {
        let single = self.single_sampling_keys().next().map(|_| true);
        self.output_sampling.map(|OutputSampling(pool)| pool.is_some()).or(single)
    }

    /// Returns the options of sampling, completed from the model's options `base`; `None` for a
    /// search.
    pub(super) fn sampling(&self, base: Option<Sampling>) -> Option<Sampling> {
        if let Some(OutputSampling(pool)) = self.output_sampling {
            return pool.map(|pool| Sampling {
                temperature: pool.temperature.into(),
                top_k: pool.top_k,
                top_p: pool.top_p.into(),
                epsilon: pool.epsilon.into(),
            });
        }
        if base.is_none() && self.is_sampling().is_none() {
            return None;
        }
        let all = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, epsilon: 0.0 };
        let base = base.unwrap_or(all);
        Some(Sampling {
            temperature: self.sampling_temperature.map_or(base.temperature, f32::from),
            top_k: self.sampling_topk.unwrap_or(base.top_k),
            top_p: self.sampling_topp.map_or(base.top_p, f32::from),
            epsilon: self.sampling_epsilon.map_or(base.epsilon, f32::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[(&str, &str)]) -> DecodingSettings {
        let mut settings = DecodingSettings::default();
        given.iter().for_each(|(key, value)| settings.set(key, value).unwrap());
        settings
    }

    fn sampling(given: &[(&str, &str)]) -> Option<Sampling> {
        settings(given).sampling(None)
    }

    #[test]
    fn marians_words_mean_the_same_as_single_options() {
        for (words, single) in [
            ("topk 5 0.5", &[("sampling-topk", "5"), ("sampling-temperature", "0.5")][..]),
            ("topk", &[("sampling-topk", "10")]),
            ("topp 0.9", &[("sampling-topp", "0.9")]),
            ("epsilon 0.25 2", &[("sampling-epsilon", "0.25"), ("sampling-temperature", "2")]),
            ("full", &[("sampling-topk", "0")]),
            ("true", &[("sampling-topk", "0")]),
            ("", &[("sampling-temperature", "1")]),
        ] {
            assert_eq!(sampling(&[("output-sampling", words)]), sampling(single), "{words}");
        }
        assert_eq!(sampling(&[("output-sampling", "false")]), None);
        assert_eq!(sampling(&[("seed", "7")]), None, "a seed alone draws nothing");
        assert_eq!(drawn_if_zero(7), 7);
        assert_ne!(drawn_if_zero(0), drawn_if_zero(0));
        let drawn = Sampling { temperature: 1.0, top_k: 5, top_p: 1.0, epsilon: 0.0 };
        assert_eq!(sampling(&[("sampling-topk", "5"), ("seed", "7")]), Some(drawn));
        for wrong in ["topk x", "topk 5 0", "topp 2", "epsilon 1", "full 1 2", "best", "false 1"] {
            assert!(OutputSampling::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn both_kinds_of_sampling_options_exclude_each_other() {
        let mut both = settings(&[("output-sampling", "full")]);
        let error = both.set("sampling-topk", "3").unwrap_err();
        assert_eq!(error, "output-sampling and sampling-topk: give one of them");
        assert_eq!(both, settings(&[("output-sampling", "full")]));
        // A request replaces the model's option, but keeps the seed.
        let model = settings(&[("output-sampling", "topk 2"), ("seed", "9")]);
        let request = settings(&[("sampling-topp", "0.5")]);
        assert_eq!(request.or(model), settings(&[("sampling-topp", "0.5"), ("seed", "9")]));
        let off = settings(&[("output-sampling", "false")]);
        assert_eq!(off.or(request).sampling(None), None);
        let base = settings(&[("sampling-topk", "4")]).sampling(None);
        let warmer = settings(&[("sampling-temperature", "2")]).sampling(base).unwrap();
        assert_eq!((warmer.top_k, warmer.temperature), (4, 2.0));
    }
}
