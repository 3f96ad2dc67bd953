//! Learning rates over time (`training.md` A.10).
//!
//! The rate of an update depends on the progress before it: with warm-up, the first update
//! has the start rate. What does not follow from progress alone (the factor of decays, the
//! start of a warm-up) is a [`ScheduleState`], which is saved with the model.

use super::progress::{Progress, Span, Unit};

/// When the rate is multiplied with a factor: Marian's `lr-decay-strategy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecayStrategy {
    /// After every epoch from a start on.
    Epoch,
    /// After every so many updates from a start on.
    Batches,
    /// After every so many stalled validations.
    Stalled,
    /// By epochs and by updates.
    EpochAndBatches,
    /// By epochs and by stalls.
    #[default]
    EpochAndStalled,
}

/// A learning-rate schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The rate that warm-up leads to (`learn-rate`).
    pub rate: f64,
    /// The length of the warm-up.
    pub warmup: Span,
    /// The rate at its start.
    pub warmup_start_rate: f64,
    /// Whether warm-up begins again after every such length.
    pub warmup_cycle: bool,
    /// Whether warm-up begins again where training is resumed.
    pub warmup_at_reload: bool,
    /// Inverse square root decay: a, and b after which it begins.
    pub inverse_sqrt: Option<(Span, Span)>,
    /// The factor of a decay (`lr-decay`); 0 for none.
    pub decay: f64,
    /// When it is applied.
    pub decay_strategy: DecayStrategy,
    /// The first epoch and the first stall, or the first update, that decay.
    pub decay_start: [u64; 2],
    /// Updates between decays.
    pub decay_frequency: u64,
    /// Whether the optimiser begins anew after a decay.
    pub decay_resets_optimizer: bool,
    /// Whether warm-up is repeated after a decay.
    pub decay_repeats_warmup: bool,
}

/// Marian's defaults.
impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            rate: 1e-4,
            warmup: Span::default(),
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
    /// The progress at which warm-up began, in its unit.
    pub warmup_start: u64,
}

impl Default for ScheduleState {
    fn default() -> Self {
        ScheduleState { factor: 1.0, warmup_start: 0 }
    }
}

/// What happened to validation when a schedule looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An update was made.
    Update,
    /// An epoch ended.
    EpochEnd,
    /// A validation stalled, for this many times in turn.
    Stalled(u64),
}

impl Schedule {
    /// The rate of the update after `progress`.
    pub fn rate_at(&self, state: &ScheduleState, progress: &Progress) -> f64 {
        let mut rate = self.rate;
        if !self.warmup.is_zero() {
            let since = progress.in_unit(self.warmup.unit).saturating_sub(state.warmup_start);
            let fraction = (since as f32 / self.warmup.count as f32).min(1.0);
            rate =
                self.warmup_start_rate + (self.rate - self.warmup_start_rate) * f64::from(fraction);
        }
        if let Some((a, b)) = self.inverse_sqrt {
            let n = progress.in_unit(a.unit);
            let start = if b.unit == a.unit { b.count } else { progress.in_unit(b.unit) };
            if n > start {
                rate *= (a.count as f64 / (n - start + a.count) as f64).sqrt();
            }
        }
        rate * state.factor
    }

    /// Follows an event after which training has come to `progress`. Gives whether the
    /// optimiser begins anew.
    pub fn follow(&self, state: &mut ScheduleState, progress: &Progress, event: Event) -> bool {
        if self.warmup_cycle && event == Event::Update && !self.warmup.is_zero() {
            let now = progress.in_unit(self.warmup.unit);
            if now - state.warmup_start.min(now) >= self.warmup.count {
                state.warmup_start = now - now % self.warmup.count;
            }
        }
        if self.decay == 0.0 || !self.decays(progress, event) {
            return false;
        }
        state.factor *= self.decay;
        if self.decay_repeats_warmup {
            state.warmup_start = progress.in_unit(self.warmup.unit);
        }
        self.decay_resets_optimizer
    }

    fn decays(&self, progress: &Progress, event: Event) -> bool {
        use DecayStrategy::{Batches, Epoch, EpochAndBatches, EpochAndStalled, Stalled};
        let [first, second] = self.decay_start;
        let (by_epoch, by_batches, by_stalls) = match self.decay_strategy {
            Epoch => (Some(first), None, None),
            Batches => (None, Some(first), None),
            Stalled => (None, None, Some(first)),
            EpochAndBatches => (Some(first), Some(second), None),
            EpochAndStalled => (Some(first), None, Some(second)),
        };
        match event {
            Event::EpochEnd => by_epoch.is_some_and(|start| progress.epoch >= start),
            Event::Update => by_batches.is_some_and(|start| {
                progress.updates >= start
                    && self.decay_frequency > 0
                    && (progress.updates - start).is_multiple_of(self.decay_frequency)
            }),
            Event::Stalled(stalls) => {
                by_stalls.is_some_and(|start| stalls > 0 && stalls.is_multiple_of(start.max(1)))
            }
        }
    }

    /// The state of a training that is resumed at `progress`.
    pub fn resumed(&self, mut state: ScheduleState, progress: &Progress) -> ScheduleState {
        if self.warmup_at_reload {
            state.warmup_start = progress.in_unit(self.warmup.unit);
        }
        state
    }

    /// Whether units are those that progress has.
    ///
    /// # Errors
    /// With what does not fit.
    pub fn validate(&self) -> Result<(), String> {
        let finite = [self.rate, self.warmup_start_rate, self.decay].iter().all(|x| x.is_finite());
        if !finite || self.rate < 0.0 {
            return Err("learn-rate and its relatives must be numbers from 0 on".into());
        }
        match self.inverse_sqrt {
            Some((a, _)) if a.is_zero() => Err("lr-decay-inv-sqrt needs a length above 0".into()),
            Some((a, b)) if a.unit != b.unit || a.unit == Unit::Epochs => {
                Err("lr-decay-inv-sqrt takes updates (u) or target tokens (t), both alike".into())
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
            rate: 3e-4,
            warmup: Span::updates(100),
            inverse_sqrt: Some((Span::updates(100), Span::updates(100))),
            ..Schedule::default()
        };
        let rate = |updates| schedule.rate_at(&ScheduleState::default(), &at(updates));
        assert_eq!(rate(0), 0.0);
        assert!((rate(50) - 1.5e-4).abs() < 1e-12);
        assert!((rate(100) - 3e-4).abs() < 1e-12);
        assert!((rate(400) - 1.5e-4).abs() < 1e-12);
        let labels = Schedule {
            rate: 1.0,
            warmup: "10Kt".parse().unwrap(),
            warmup_start_rate: 0.5,
            ..Schedule::default()
        };
        assert!((labels.rate_at(&ScheduleState::default(), &at(50)) - 0.75).abs() < 1e-7);
    }

    #[test]
    fn decays_follow_their_strategy() {
        let schedule = |strategy, start| Schedule {
            decay: 0.5,
            decay_strategy: strategy,
            decay_start: start,
            decay_frequency: 10,
            decay_resets_optimizer: true,
            ..Schedule::default()
        };
        let follow = |schedule: &Schedule, progress: Progress, event| {
            let mut state = ScheduleState::default();
            let resets = schedule.follow(&mut state, &progress, event);
            assert_eq!(resets, state.factor < 1.0);
            resets
        };
        let stalled = schedule(DecayStrategy::Stalled, [2, 1]);
        assert!(!follow(&stalled, at(9), Event::Stalled(1)));
        assert!(follow(&stalled, at(9), Event::Stalled(2)));
        assert!(!follow(&stalled, at(9), Event::Stalled(0)));
        let batches = schedule(DecayStrategy::Batches, [30, 1]);
        let decayed: Vec<u64> =
            (0..60).filter(|&n| follow(&batches, at(n), Event::Update)).collect();
        assert_eq!(decayed, [30, 40, 50]);
        let both = schedule(DecayStrategy::EpochAndStalled, [2, 1]);
        assert!(!follow(&both, at(1), Event::EpochEnd));
        assert!(follow(&both, Progress { epoch: 2, ..at(1) }, Event::EpochEnd));
        assert!(follow(&both, at(1), Event::Stalled(1)));
        assert!(!follow(&Schedule::default(), at(1), Event::Stalled(1)));
    }

    #[test]
    fn warmup_begins_again() {
        let schedule = Schedule {
            rate: 1.0,
            warmup: Span::updates(10),
            warmup_cycle: true,
            ..Schedule::default()
        };
        let mut state = ScheduleState::default();
        let rates: Vec<f64> = (0..25)
            .map(|n| {
                let rate = schedule.rate_at(&state, &at(n));
                schedule.follow(&mut state, &at(n + 1), Event::Update);
                rate
            })
            .collect();
        assert_eq!((rates[9] * 10.0).round(), 9.0);
        assert_eq!((rates[10], rates[20]), (0.0, 0.0));
        let reloaded = Schedule { warmup_cycle: false, warmup_at_reload: true, ..schedule };
        let state = reloaded.resumed(ScheduleState::default(), &at(40));
        assert_eq!(reloaded.rate_at(&state, &at(40)), 0.0);
    }
}
