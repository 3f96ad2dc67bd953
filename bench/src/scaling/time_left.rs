//! Time that the rest of a study takes, estimated from the measurements made so far.

use std::collections::HashMap;

use super::plan::PlannedRun;

/// The durations of the measurements of this process, with loading.
#[derive(Default)]
pub struct MeasuredDurations {
    /// The sum of seconds and the number of measurements by system and number of threads.
    totals: HashMap<(usize, usize), (f64, usize)>,
}

impl MeasuredDurations {
    /// Adds a measurement.
    pub fn add(&mut self, run: PlannedRun, seconds: f64) {
        let total = self.totals.entry((run.system, run.count_index)).or_default();
        total.0 += seconds;
        total.1 += 1;
    }

    /// Returns the seconds that `rest` takes: for each measurement, the mean duration of the
    /// measurements with the same system and number of threads, else of the system, else of all.
    ///
    /// # Panics
    /// If nothing was measured.
    pub fn estimate(&self, rest: &[PlannedRun]) -> f64 {
        let seconds = rest.iter().map(|run| {
            self.mean(|key| *key == (run.system, run.count_index))
                .or_else(|| self.mean(|key| key.0 == run.system))
                .or_else(|| self.mean(|_| true))
                .expect("something was measured")
        });
        seconds.sum()
    }

    /// Returns the mean of the measurements that match, if there are any.
    fn mean(&self, matches: impl Fn(&(usize, usize)) -> bool) -> Option<f64> {
        let totals = self.totals.iter().filter(|(key, _)| matches(key)).map(|entry| entry.1);
        let (sum, number) = totals.fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        (number > 0).then(|| sum / number as f64)
    }
}

/// Returns a duration in a unit that suits it: `40 s`, `12 min`, `3 h 5 min`.
pub fn describe_duration(seconds: f64) -> String {
    let (whole, minutes) = (seconds.round() as u64, (seconds / 60.0).round() as u64);
    match whole {
        0..100 => format!("{whole} s"),
        100..7_200 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_equal_measurements() {
        let run = |system, count_index| PlannedRun { system, count_index, round: 0 };
        let mut durations = MeasuredDurations::default();
        durations.add(run(0, 0), 10.0);
        assert_eq!(durations.estimate(&[run(1, 3), run(0, 1)]), 20.0, "as the only one");
        durations.add(run(0, 0), 20.0);
        durations.add(run(0, 1), 3.0);
        durations.add(run(1, 0), 7.0);
        assert_eq!(durations.estimate(&[run(0, 0)]), 15.0);
        assert_eq!(durations.estimate(&[run(0, 2)]), 11.0, "the mean of the system");
        assert_eq!(durations.estimate(&[run(2, 0), run(1, 1)]), 10.0 + 7.0);
        assert_eq!(durations.estimate(&[]), 0.0);
    }

    #[test]
    fn durations_have_a_suitable_unit() {
        let texts = [0.4, 99.4, 100.0, 3_599.0, 7_199.9, 11_100.0].map(describe_duration);
        assert_eq!(texts, ["0 s", "99 s", "2 min", "60 min", "2 h 0 min", "3 h 5 min"]);
    }
}
