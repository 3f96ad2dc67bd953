//! Progress of a training run, and lengths of training, in Marian's units.

use std::str::FromStr;

/// The unit of a length of training: in Marian's notation, the letter after the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchedulingUnit {
    /// Updates: `u`, or no letter.
    #[default]
    Updates,
    /// Target tokens ("labels"), `</s>` included: `t`.
    Labels,
    /// Passes over the corpus: `e`.
    Epochs,
}

/// A length of training, such as `16000u`, `10e` or `20Gt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TrainingLength {
    /// The number of units.
    pub count: u64,
    /// The unit.
    pub unit: SchedulingUnit,
}

impl TrainingLength {
    /// Creates a length in updates.
    pub fn from_updates(count: u64) -> Self {
        TrainingLength { count, unit: SchedulingUnit::Updates }
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.count == 0
    }
}

impl std::fmt::Display for TrainingLength {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = match self.unit {
            SchedulingUnit::Updates => "u",
            SchedulingUnit::Labels => "t",
            SchedulingUnit::Epochs => "e",
        };
        write!(f, "{}{letter}", self.count)
    }
}

/// Reads a number with an optional `K`, `M` or `G` and an optional unit. The count must be whole,
/// as in Marian.
impl FromStr for TrainingLength {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = match text.as_bytes().last() {
            Some(b'u') => (&text[..text.len() - 1], SchedulingUnit::Updates),
            Some(b't') => (&text[..text.len() - 1], SchedulingUnit::Labels),
            Some(b'e') => (&text[..text.len() - 1], SchedulingUnit::Epochs),
            _ => (text, SchedulingUnit::Updates),
        };
        let (digits, factor) = match number.as_bytes().last() {
            Some(b'K' | b'k') => (&number[..number.len() - 1], 1000.0),
            Some(b'M') => (&number[..number.len() - 1], 1e6),
            Some(b'G') => (&number[..number.len() - 1], 1e9),
            _ => (number, 1.0),
        };
        fn wrong(text: &str) -> String {
            format!(
                "{text:?} is not a length of training: expected a number, optionally with K, M or \
                G, and u for updates, t for target tokens or e for epochs"
            )
        }
        let count: f64 = digits.parse().map_err(|_| wrong(text))?;
        let count = count * factor;
        if !(0.0..=1e18).contains(&count) {
            return Err(wrong(text));
        }
        // Numbers such as 1.001K are whole except for rounding errors.
        let whole = count.round();
        if (count - whole).abs() > 1e-9 * count {
            return Err(format!(
                "{text:?}: a length of training is a whole number of updates, tokens or epochs"
            ));
        }
        Ok(TrainingLength { count: whole as u64, unit })
    }
}

/// The unit of epochs in the log and in limits (`logical-epoch`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalEpoch {
    /// The length of an epoch, above zero. Its own epochs are passes over the corpus.
    pub length: TrainingLength,
    /// The number of decimals in the log.
    pub decimals: usize,
}

/// An epoch is a pass over the corpus.
impl Default for LogicalEpoch {
    fn default() -> Self {
        let length = TrainingLength { count: 1, unit: SchedulingUnit::Epochs };
        LogicalEpoch { length, decimals: 0 }
    }
}

impl LogicalEpoch {
    /// Returns the epoch of `progress`, with Marian's rounding. In passes over the corpus, the
    /// first one has the number 1; in updates and target tokens, the epoch counts from 0.
    pub fn at(self, progress: &Progress) -> f32 {
        progress.in_unit(self.length.unit) as f32 / self.length.count as f32
    }

    /// Whether `progress` is after `count` epochs, as in Marian: a pass over the corpus is over
    /// when the next one has begun, updates and target tokens when there is one more.
    pub fn has_passed(self, progress: &Progress, count: u64) -> bool {
        self.at(progress) > count as f32
    }

    /// Returns the length of `count` epochs in passes over the corpus, updates or target tokens.
    pub fn length_of(self, count: u64) -> TrainingLength {
        TrainingLength { count: count.saturating_mul(self.length.count), ..self.length }
    }

    /// Returns the epoch of `progress` as the log shows it.
    pub fn format(self, progress: &Progress) -> String {
        format!("{:.*}", self.decimals, self.at(progress))
    }
}

/// The progress of a training run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of updates so far.
    pub updates: u64,
    /// The number of target tokens that were trained on.
    pub labels: u64,
    /// The number of the epoch, from 1.
    pub epoch: u64,
}

impl Progress {
    /// Returns the progress in a unit.
    pub fn in_unit(&self, unit: SchedulingUnit) -> u64 {
        match unit {
            SchedulingUnit::Updates => self.updates,
            SchedulingUnit::Labels => self.labels,
            SchedulingUnit::Epochs => self.epoch,
        }
    }

    /// Whether the update from `before` to here crossed a multiple of `period`; false for a period
    /// of zero.
    pub fn crossed_period(&self, before: &Progress, period: TrainingLength) -> bool {
        if period.is_zero() {
            return false;
        }
        // An epoch counts once the next one begins.
        let done = u64::from(period.unit == SchedulingUnit::Epochs);
        let count =
            |progress: &Progress| progress.in_unit(period.unit).saturating_sub(done) / period.count;
        count(self) > count(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_marian_does() {
        let length = |text: &str| text.parse::<TrainingLength>();
        assert_eq!(length("16000"), Ok(TrainingLength::from_updates(16_000)));
        assert_eq!(length("300Ku"), Ok(TrainingLength::from_updates(300_000)));
        assert_eq!(
            length("20Gt"),
            Ok(TrainingLength { count: 20_000_000_000, unit: SchedulingUnit::Labels })
        );
        assert_eq!(length("10e"), Ok(TrainingLength { count: 10, unit: SchedulingUnit::Epochs }));
        assert_eq!(length("1.001K"), Ok(TrainingLength::from_updates(1001)));
        for wrong in ["", "u", "x", "-1", "1x", "nan"] {
            assert!(length(wrong).is_err(), "{wrong}");
        }
        for fractional in ["0.1e", "1.5", "2.5u", "1.0001K", "1e-30"] {
            assert!(length(fractional).unwrap_err().contains("whole number"), "{fractional}");
        }
        assert_eq!(length("2Mt").unwrap().to_string(), "2000000t");
    }

    /// The epochs are those that Marian 1.12.42 logs with `--logical-epoch 6u 2`, four updates per
    /// pass and 25 tokens per update; it stops `--after 3e` after update 19.
    #[test]
    fn logical_epochs_are_marians() {
        let epoch =
            |length: &str, decimals| LogicalEpoch { length: length.parse().unwrap(), decimals };
        let at = |updates: u64| Progress {
            updates,
            labels: 25 * updates,
            epoch: 1 + updates.saturating_sub(1) / 4,
        };
        for (updates, expected) in [(1, "0.17"), (4, "0.67"), (6, "1.00"), (19, "3.17")] {
            for unit in ["6u", "150t"] {
                assert_eq!(epoch(unit, 2).format(&at(updates)), expected, "{unit}");
            }
        }
        let ends = |unit: &str, count| {
            let logical = epoch(unit, 0);
            (1..100).find(|&updates| logical.has_passed(&at(updates), count))
        };
        assert_eq!([ends("6u", 3), ends("150t", 3), ends("1e", 3)], [Some(19), Some(19), Some(13)]);
        // With two passes an epoch, three epochs end when the seventh pass begins.
        assert_eq!(ends("2e", 3), Some(25));
        assert_eq!(epoch("2e", 1).format(&at(5)), "1.0");
        assert_eq!(epoch("2e", 1).length_of(3), "6e".parse().unwrap());
        assert_eq!(LogicalEpoch::default().format(&at(5)), "2");
    }

    #[test]
    fn periods_are_passed_once() {
        let at = |updates, labels| Progress { updates, labels, epoch: 1 };
        assert!(at(10, 0).crossed_period(&at(9, 0), TrainingLength::from_updates(10)));
        assert!(!at(11, 0).crossed_period(&at(10, 0), TrainingLength::from_updates(10)));
        let labels = TrainingLength { count: 1000, unit: SchedulingUnit::Labels };
        assert!(at(3, 2100).crossed_period(&at(2, 1900), labels));
        assert!(!at(3, 2100).crossed_period(&at(2, 1900), TrainingLength::default()));
        let epochs = |before, after, count| {
            let at = |epoch| Progress { updates: 1, labels: 1, epoch };
            at(after)
                .crossed_period(&at(before), TrainingLength { count, unit: SchedulingUnit::Epochs })
        };
        assert!(epochs(1, 2, 1) && epochs(2, 3, 2));
        assert!(!epochs(1, 2, 2) && !epochs(2, 2, 1));
    }
}
