//! The options of the learning rate.

use super::raw::RawOptions;
use super::resolve::invalid_option;
use crate::error::{Error, Result};
use crate::training::{BaseRate, DecayStrategy, Schedule, TrainingLength};

impl RawOptions {
    /// Returns the schedule of the learning rate.
    ///
    /// # Errors
    /// If the value of an option is invalid.
    pub(super) fn schedule(&self) -> Result<Schedule> {
        let lengths: Vec<TrainingLength> = self
            .get_strings("lr-decay-inv-sqrt")
            .iter()
            .map(|text| text.parse().map_err(|reason| invalid_option("lr-decay-inv-sqrt", reason)))
            .collect::<Result<_>>()?;
        let inverse_sqrt = match lengths[..] {
            [first] if !first.is_zero() => Some((first, first)),
            [first, second] if !first.is_zero() => Some((first, second)),
            [_] | [_, _] => None,
            _ => return Err(invalid_option("lr-decay-inv-sqrt", "expected one or two lengths")),
        };
        let strategy = match &self.get_string("lr-decay-strategy")[..] {
            "epoch" => DecayStrategy::Epoch,
            "batches" => DecayStrategy::Batches,
            "stalled" => DecayStrategy::Stalled,
            "epoch+batches" => DecayStrategy::EpochAndBatches,
            "epoch+stalled" => DecayStrategy::EpochAndStalled,
            other => {
                return Err(invalid_option(
                    "lr-decay-strategy",
                    format!(
                        "expected epoch, batches, stalled, epoch+batches or epoch+stalled, found \
                        {other:?}"
                    ),
                ));
            }
        };
        let start: Vec<u64> = self.get_list("lr-decay-start")?;
        let needed = match strategy {
            DecayStrategy::Epoch | DecayStrategy::Batches | DecayStrategy::Stalled => 1,
            DecayStrategy::EpochAndBatches | DecayStrategy::EpochAndStalled => 2,
        };
        if self.is_given("lr-decay-start") && start.len() != needed {
            let name = self.get_string("lr-decay-strategy");
            let reason =
                format!("{} numbers; --lr-decay-strategy {name} has {needed}", start.len());
            return Err(invalid_option("lr-decay-start", reason));
        }
        let first = start.first().copied().unwrap_or(10);
        let schedule = Schedule {
            rate: self.base_rate()?,
            warmup: self.get_length("lr-warmup")?,
            warmup_start_rate: self.get("lr-warmup-start-rate")?,
            warmup_cycle: self.get_flag("lr-warmup-cycle")?,
            warmup_at_reload: self.get_flag("lr-warmup-at-reload")?,
            inverse_sqrt,
            decay: self.get("lr-decay")?,
            decay_strategy: strategy,
            decay_start: [first, start.get(1).copied().unwrap_or(1)],
            decay_frequency: self.get("lr-decay-freq")?,
            decay_resets_optimizer: self.get_flag("lr-decay-reset-optimizer")?,
            decay_repeats_warmup: self.get_flag("lr-decay-repeat-warmup")?,
        };
        schedule.validate().map_err(Error::usage)?;
        Ok(schedule)
    }

    /// Returns the number of target tokens of a batch for which the learning rate is meant, if
    /// rates are flexible; 0 stands for the mean of earlier batches.
    ///
    /// # Errors
    /// If the value of an option is invalid.
    pub(super) fn normal_words(&self) -> Result<Option<u64>> {
        let [flexible, normal, reference] =
            ["batch-flexible-lr", "batch-normal-words", "mini-batch-words-ref"];
        if !self.get_flag(flexible)? {
            // A configuration with all options contains the default of `batch-normal-words`.
            let default = super::table::find(normal).map_or("", |spec| spec.default);
            return if self.get_string(normal) != default {
                Err(invalid_option(normal, "it needs --batch-flexible-lr; add that option"))
            } else {
                Ok(None)
            };
        }
        if self.get::<u64>(reference)? > 0 {
            let reason =
                "it scales rates by words, as --mini-batch-words-ref does; give only one of them";
            return Err(invalid_option(flexible, reason));
        }
        Ok(Some(self.get(normal)?))
    }

    fn base_rate(&self) -> Result<BaseRate> {
        let cycle: Vec<f64> = self.get_list("lr-cycle")?;
        let random: Vec<f64> = self.get_list("lr-random")?;
        match (&cycle[..], &random[..]) {
            ([], []) => Ok(BaseRate::Constant(self.get("learn-rate")?)),
            (&[low, high, updates], []) => {
                if !(1.0..=1e15).contains(&updates) || updates.fract() != 0.0 {
                    let reason =
                        format!("expected a whole number of updates from 1, found {updates}");
                    return Err(invalid_option("lr-cycle", reason));
                }
                Ok(BaseRate::Cycle { low, high, updates: updates as u64 })
            }
            ([], &[high]) => Ok(BaseRate::Random { high, seed: self.get("seed")? }),
            ([], _) => Err(invalid_option("lr-random", "expected one rate")),
            (_, []) => {
                let reason = "expected two rates and a number of updates, as in 1e-4 5e-4 40000";
                Err(invalid_option("lr-cycle", reason))
            }
            _ => Err(invalid_option(
                "lr-cycle",
                "it cannot be combined with --lr-random; give only one of them",
            )),
        }
    }
}
