//! Learning rates over time (`docs/spec/training.md` A.10).
//!
//! The rate of an update depends on the progress before it: the first update of a warm-up has the
//! rate at the warm-up's start. The product of all decays and the start of a warm-up do not follow
//! from the progress; they are in a [`ScheduleState`], which is saved with the training.
//!
//! Everything follows Marian, so that its recipes give the same rates. Marian computes the rate of
//! the next update at each event: an update, the end of an epoch, a stalled validation. A repeated
//! warm-up begins after that computation. So the next update still has the rate of the old warm-up,
//! unless another event comes before it.

use super::base_rate::BaseRate;
use crate::progress::{Progress, TrainingLength};

/// The times at which the rate is multiplied by the decay factor: Marian's `lr-decay-strategy`. The
/// starts are those of [`Schedule::decay_start`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecayStrategy {
    /// At the end of each epoch. The start is the first epoch with a decayed rate.
    Epoch,
    /// At the start, a number of updates, and then after every `lr-decay-freq` updates.
    Batches,
    /// Whenever the number of consecutive stalled validations is a multiple of the start.
    Stalled,
    /// At the end of each epoch, as in `Epoch` or once the second start, a number of updates, is
    /// reached.
    EpochAndBatches,
    /// At the end of each epoch, as in `Epoch` or once the second start, a number of consecutive
    /// stalls, has been reached.
    #[default]
    EpochAndStalled,
}

/// A learning-rate schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The rate without warm-up and decay (`learn-rate`, `lr-cycle`, `lr-random`).
    pub rate: BaseRate,
    /// The length of the warm-up.
    pub warmup: TrainingLength,
    /// The rate at the start of the warm-up.
    pub warmup_start_rate: f64,
    /// Whether the warm-up is repeated at each multiple of its length.
    pub warmup_cycle: bool,
    /// Whether the warm-up is repeated after the first update of a run, resumed or not.
    pub warmup_at_reload: bool,
    /// Inverse square root decay: lengths `a` and `b`. Once the progress `n` exceeds `b`, the rate
    /// is multiplied by sqrt(`a` / (`n` - `b` + `a`)).
    pub inverse_sqrt: Option<(TrainingLength, TrainingLength)>,
    /// The factor of a decay (`lr-decay`); 0 for none.
    pub decay: f64,
    /// The times at which the decay is applied.
    pub decay_strategy: DecayStrategy,
    /// The start that each strategy has, and the second start of strategies that have two; 0 for
    /// never.
    pub decay_start: [u64; 2],
    /// The number of updates between decays.
    pub decay_frequency: u64,
    /// Whether the optimiser is reset after a decay.
    pub decay_resets_optimizer: bool,
    /// Whether warm-up is repeated after a decay.
    pub decay_repeats_warmup: bool,
}

/// Marian's defaults.
impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            rate: BaseRate::Constant(1e-4),
            warmup: TrainingLength::default(),
            warmup_start_rate: 0.0,
            warmup_cycle: false,
            warmup_at_reload: false,
            inverse_sqrt: None,
            decay: 0.0,
            decay_strategy: DecayStrategy::default(),
            decay_start: [10, 1],
            decay_frequency: 50_000,
            decay_resets_optimizer: false,
            decay_repeats_warmup: false,
        }
    }
}

/// The part of a schedule that is not a function of progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduleState {
    /// The product of all decays.
    pub factor: f64,
    /// The progress at which warm-up began, in the unit of the warm-up.
    pub warmup_start: u64,
    /// The progress at which a repeated warm-up began. It becomes `warmup_start` at the next event.
    pub next_warmup_start: Option<u64>,
    /// The largest number of consecutive stalls so far, as Marian counts it: whenever more stalls
    /// occur in a row, it grows by one.
    pub max_stalled: u64,
    /// The number of updates after which a cycle of the rate began.
    pub cycle_start: u64,
}

impl Default for ScheduleState {
    fn default() -> Self {
        ScheduleState {
            factor: 1.0,
            warmup_start: 0,
            next_warmup_start: None,
            max_stalled: 0,
            cycle_start: 0,
        }
    }
}

/// An event of a training run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleEvent {
    /// An update was made.
    Update {
        /// The progress before it.
        before: Progress,
        /// Whether it is the first of this run.
        is_first: bool,
    },
    /// An epoch ended; the progress already has the number of the next one.
    EpochEnd,
    /// Validation has stalled, this many times in a row.
    Stalled(u64),
}

impl Schedule {
    /// Returns the rate of the update after `progress`.
    pub fn rate_at(&self, state: &ScheduleState, progress: &Progress) -> f64 {
        let mut rate = self.rate.at(progress.updates, state.cycle_start);
        if !self.warmup.is_zero() {
            let since = progress.in_unit(self.warmup.unit).saturating_sub(state.warmup_start);
            let fraction = (since as f32 / self.warmup.count as f32).min(1.0);
            rate = self.warmup_start_rate + (rate - self.warmup_start_rate) * f64::from(fraction);
        }
        if let Some((a, b)) = self.inverse_sqrt {
            let n = progress.in_unit(a.unit);
            // Both lengths have the same unit, which `validate` checks.
            if n > b.count {
                rate *= (a.count as f64 / (n - b.count + a.count) as f64).sqrt();
            }
        }
        rate * state.factor
    }

    /// Applies an event that led to `progress`. Returns whether the optimiser is to be reset.
    pub fn apply_event(
        &self,
        state: &mut ScheduleState,
        progress: &Progress,
        event: ScheduleEvent,
    ) -> bool {
        if let Some(start) = state.next_warmup_start.take() {
            state.warmup_start = start;
        }
        if let ScheduleEvent::Stalled(stalls) = event {
            state.max_stalled += u64::from(stalls > state.max_stalled);
            state.cycle_start = progress.updates;
        }
        let now = progress.in_unit(self.warmup.unit);
        if let ScheduleEvent::Update { before, is_first } = event {
            let is_repeated = self.warmup_cycle && progress.crossed_period(&before, self.warmup);
            if is_repeated || (self.warmup_at_reload && is_first) {
                state.next_warmup_start = Some(now);
            }
        }
        if self.decay == 0.0 || !self.is_decay_due(state, progress, event) {
            return false;
        }
        state.factor *= self.decay;
        if self.decay_repeats_warmup {
            state.next_warmup_start = Some(now);
        }
        self.decay_resets_optimizer
    }

    fn is_decay_due(
        &self,
        state: &ScheduleState,
        progress: &Progress,
        event: ScheduleEvent,
    ) -> bool {
        use DecayStrategy::{Batches, Epoch, EpochAndBatches, EpochAndStalled, Stalled};
        let [first, second] = self.decay_start;
        fn is_reached(start: u64, now: u64) -> bool {
            start > 0 && now >= start
        }
        match (event, self.decay_strategy) {
            (ScheduleEvent::EpochEnd, Epoch | EpochAndBatches | EpochAndStalled) => {
                is_reached(first, progress.epoch)
                    || match self.decay_strategy {
                        EpochAndBatches => is_reached(second, progress.updates),
                        EpochAndStalled => is_reached(second, state.max_stalled),
                        _ => false,
                    }
            }
            (ScheduleEvent::Update { .. }, Batches) => {
                is_reached(first, progress.updates)
                    && self.decay_frequency > 0
                    && (progress.updates - first).is_multiple_of(self.decay_frequency)
            }
            (ScheduleEvent::Stalled(stalls), Stalled) => {
                first > 0 && stalls > 0 && stalls.is_multiple_of(first)
            }
            _ => false,
        }
    }

    /// Checks that rates and the factor of decays are finite and not negative, and checks the
    /// lengths of inverse square root decay.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn validate(&self) -> Result<(), String> {
        let [low, high] = self.rate.numbers();
        let numbers = [low, high, self.warmup_start_rate, self.decay];
        if !numbers.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return Err(
                "learn-rate, lr-cycle, lr-random, lr-warmup-start-rate and lr-decay must be \
                        numbers from 0 on"
                    .into(),
            );
        }
        match self.inverse_sqrt {
            Some((a, _)) if a.is_zero() => Err("lr-decay-inv-sqrt needs a length above 0".into()),
            Some((a, b)) if a.unit != b.unit => {
                Err("lr-decay-inv-sqrt takes two lengths in the same unit: updates (u), target \
                    tokens (t) or epochs (e)"
                    .into())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(updates: u64) -> Progress {
        Progress { updates, labels: 100 * updates, epoch: 1 }
    }

    #[test]
    fn warmup_and_inverse_square_root() {
        let schedule = Schedule {
            rate: BaseRate::Constant(3e-4),
            warmup: TrainingLength::from_updates(100),
            inverse_sqrt: Some((
                TrainingLength::from_updates(100),
                TrainingLength::from_updates(100),
            )),
            ..Schedule::default()
        };
        let rate = |updates| schedule.rate_at(&ScheduleState::default(), &at(updates));
        assert_eq!(rate(0), 0.0);
        assert!((rate(50) - 1.5e-4).abs() < 1e-12);
        assert!((rate(100) - 3e-4).abs() < 1e-12);
        assert!((rate(400) - 1.5e-4).abs() < 1e-12);
        let labels = Schedule {
            rate: BaseRate::Constant(1.0),
            warmup: "10Kt".parse().unwrap(),
            warmup_start_rate: 0.5,
            ..Schedule::default()
        };
        assert!((labels.rate_at(&ScheduleState::default(), &at(50)) - 0.75).abs() < 1e-7);
    }

    /// The rates, in ten-thousandths, are those that Marian 1.12.42 logs in six epochs.
    #[test]
    fn inverse_square_root_of_epochs() {
        for (second, expected) in [
            ("2e", [10000, 10000, 8165, 7071, 6325, 5774]),
            ("3e", [10000, 10000, 10000, 8165, 7071, 6325]),
        ] {
            let schedule = Schedule {
                rate: BaseRate::Constant(1.0),
                inverse_sqrt: Some(("2e".parse().unwrap(), second.parse().unwrap())),
                ..Schedule::default()
            };
            assert_eq!(schedule.validate(), Ok(()));
            for (epoch, expected) in (1..).zip(expected) {
                let progress = Progress { epoch, ..at(10 * epoch) };
                let rate = schedule.rate_at(&ScheduleState::default(), &progress);
                assert_eq!((rate * 10_000.0).round() as u32, expected, "{second}, epoch {epoch}");
            }
        }
        let mixed = Some(("2e".parse().unwrap(), TrainingLength::from_updates(2)));
        let schedule = Schedule { inverse_sqrt: mixed, ..Schedule::default() };
        assert!(schedule.validate().is_err());
    }

    /// Returns the rates that are logged after each update of a run with four updates per epoch. If
    /// `validates`, every second update is followed by a stalled validation.
    fn logged_rates(schedule: &Schedule, updates: u64, validates: bool) -> Vec<f64> {
        let mut state = ScheduleState::default();
        let mut progress = Progress { updates: 0, labels: 0, epoch: 1 };
        let mut rates = Vec::new();
        for update in 1..=updates {
            let before = progress;
            progress.updates = update;
            progress.labels = 100 * update;
            let event = ScheduleEvent::Update { before, is_first: update == 1 };
            schedule.apply_event(&mut state, &progress, event);
            let rate = schedule.rate_at(&state, &progress);
            rates.push((rate * 1e5).round() / 1e5);
            if validates && update % 2 == 0 {
                schedule.apply_event(&mut state, &progress, ScheduleEvent::Stalled(update / 2));
            }
            if update % 4 == 0 {
                progress.epoch += 1;
                schedule.apply_event(&mut state, &progress, ScheduleEvent::EpochEnd);
            }
        }
        rates
    }

    fn decaying(strategy: DecayStrategy, start: [u64; 2]) -> Schedule {
        Schedule {
            rate: BaseRate::Constant(1.0),
            decay: 0.5,
            decay_strategy: strategy,
            decay_start: start,
            ..Schedule::default()
        }
    }

    #[test]
    fn decays_are_marians() {
        let rates = |strategy, start| logged_rates(&decaying(strategy, start), 18, true);
        let rates_by_epoch =
            |rates: [f64; 5]| -> Vec<f64> { (0..18).map(|update| rates[update / 4]).collect() };
        // The second epoch has ended, so the third one has a decayed rate.
        let epoch = rates_by_epoch([1.0, 1.0, 0.5, 0.25, 0.125]);
        assert_eq!(rates(DecayStrategy::Epoch, [3, 1]), epoch);
        // From the first stall on the rate decays, but only at the ends of epochs.
        let stalled = rates_by_epoch([1.0, 0.5, 0.25, 0.125, 0.0625]);
        assert_eq!(rates(DecayStrategy::EpochAndStalled, [3, 1]), stalled);
        assert_eq!(rates(DecayStrategy::EpochAndStalled, [0, 0]), rates_by_epoch([1.0; 5]));
        // The rate decays at every second stall, at once.
        assert_eq!(rates(DecayStrategy::Stalled, [2, 1]), stalled);
        assert_eq!(rates(DecayStrategy::Stalled, [0, 1]), rates_by_epoch([1.0; 5]));
    }

    /// The rates follow the rules that [`DecayStrategy`] states.
    #[test]
    fn decays_follow_updates() {
        let schedule = Schedule {
            decay_frequency: 3,
            decay_resets_optimizer: true,
            ..decaying(DecayStrategy::Batches, [4, 0])
        };
        let rates = logged_rates(&schedule, 8, true);
        assert_eq!(rates, [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25]);
        let mut state = ScheduleState::default();
        let event =
            |updates: u64| ScheduleEvent::Update { before: at(updates - 1), is_first: false };
        assert!(!schedule.apply_event(&mut state, &at(3), event(3)));
        assert!(schedule.apply_event(&mut state, &at(4), event(4)), "the optimiser is reset");
        let both = decaying(DecayStrategy::EpochAndBatches, [9, 5]);
        let rates = logged_rates(&both, 9, false);
        assert_eq!(rates, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]);
        let never = Schedule { decay: 0.0, ..both };
        assert_eq!(logged_rates(&never, 9, true), [1.0; 9]);
    }

    /// The rates are those that Marian 1.12.42 logs.
    #[test]
    fn warmup_begins_again() {
        let warmup = Schedule {
            rate: BaseRate::Constant(1.0),
            warmup: TrainingLength::from_updates(5),
            ..Schedule::default()
        };
        let cycle = Schedule { warmup_cycle: true, ..warmup.clone() };
        let expected = [0.2, 0.4, 0.6, 0.8, 1.0, 0.2, 0.4, 0.6, 0.8, 1.0, 0.2, 0.4, 0.6, 0.8];
        assert_eq!(logged_rates(&cycle, 14, false), expected);
        let reload = Schedule { warmup_at_reload: true, ..warmup };
        let expected = [0.2, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0];
        assert_eq!(logged_rates(&reload, 7, false), expected);
        let repeated = Schedule {
            warmup: TrainingLength::from_updates(3),
            decay_repeats_warmup: true,
            ..decaying(DecayStrategy::EpochAndStalled, [2, 5])
        };
        let expected = [0.33333, 0.66667, 1.0, 1.0, 0.16667, 0.33333, 0.5, 0.5, 0.08333, 0.16667];
        assert_eq!(logged_rates(&repeated, 10, false), expected);
    }

    #[test]
    fn negative_rates_are_rejected() {
        let valid = Schedule::default();
        assert_eq!(valid.validate(), Ok(()));
        for schedule in [
            Schedule { warmup_start_rate: -1.0, ..valid.clone() },
            Schedule { decay: -0.5, ..valid.clone() },
            Schedule { decay: f64::NAN, ..valid.clone() },
            Schedule { rate: BaseRate::Constant(-1e-4), ..valid },
        ] {
            assert!(schedule.validate().unwrap_err().contains("numbers from 0 on"));
        }
    }

    /// A cycle begins at the update that passes a multiple of its length. Marian ends such a run
    /// with an error.
    #[test]
    fn cycles_in_tokens_begin_where_a_multiple_was_passed() {
        let schedule = Schedule {
            rate: BaseRate::Constant(1.0),
            warmup: "250t".parse().unwrap(),
            warmup_cycle: true,
            ..Schedule::default()
        };
        // Cycles begin after 300 tokens and again after 500.
        let expected = [0.4, 0.8, 1.0, 0.4, 0.8, 0.4];
        assert_eq!(logged_rates(&schedule, 6, false), expected);
    }
}
