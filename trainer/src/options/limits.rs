//! Options about the end of training: limits and the length of an epoch.

use super::raw::RawOptions;
use super::resolve::invalid_option;
use crate::error::Result;
use crate::training::{Limits, LogicalEpoch, SchedulingUnit, TrainingLength};

/// The maximum number of decimals of an epoch in the log; an f32 has no more.
const MAX_DECIMALS: usize = 9;

impl RawOptions {
    /// Returns the limits at which training ends.
    pub(super) fn limits(&self) -> Result<Limits> {
        let mut lengths: Vec<TrainingLength> = Vec::new();
        for text in self.get_strings("after").iter().flat_map(|text| text.split(',')) {
            lengths.push(text.parse().map_err(|reason| invalid_option("after", reason))?);
        }
        lengths.push(TrainingLength {
            count: self.get("after-epochs")?,
            unit: SchedulingUnit::Epochs,
        });
        lengths.push(TrainingLength::from_updates(self.get("after-batches")?));
        Ok(Limits { lengths, epoch: self.logical_epoch()?, is_one_pass: false })
    }

    fn logical_epoch(&self) -> Result<LogicalEpoch> {
        const NAME: &str = "logical-epoch";
        let values = self.get_strings(NAME);
        let (length, decimals) = match &values[..] {
            [length] => (length, "0"),
            [length, decimals] => (length, &decimals[..]),
            _ => {
                let reason = "expected a length and a number of decimals";
                return Err(invalid_option(NAME, reason));
            }
        };
        let length: TrainingLength =
            length.parse().map_err(|reason| invalid_option(NAME, reason))?;
        if length.is_zero() {
            return Err(invalid_option(NAME, "expected a length above 0"));
        }
        let number = decimals.parse().ok().filter(|number: &usize| *number <= MAX_DECIMALS);
        let decimals = number.ok_or_else(|| {
            let expected = format!("expected 0 to {MAX_DECIMALS} decimals, found {decimals:?}");
            invalid_option(NAME, expected)
        })?;
        Ok(LogicalEpoch { length, decimals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Result<Limits> {
        let options = RawOptions::from_yaml(yaml.as_bytes(), "t")?;
        options.check_status()?;
        options.limits()
    }

    #[test]
    fn logical_epochs_have_a_length_and_decimals() {
        assert_eq!(read("{}").unwrap().epoch, LogicalEpoch::default());
        for (yaml, length, decimals) in [
            ("logical-epoch: [1e, 0]", "1e", 0),
            ("logical-epoch: 100Ku", "100000u", 0),
            ("logical-epoch: [1Gt, 3]", "1000000000t", 3),
            ("logical-epoch: [2e, 1]", "2e", 1),
        ] {
            let found = read(yaml).unwrap().epoch;
            assert_eq!((&found.length.to_string()[..], found.decimals), (length, decimals));
        }
        for (yaml, part) in [
            ("logical-epoch: 0u", "above 0"),
            ("logical-epoch: 0.5e", "whole number"),
            ("logical-epoch: x", "is not a length of training"),
            ("logical-epoch: [1e, many]", "expected 0 to 9 decimals, found \"many\""),
            ("logical-epoch: [1e, 10]", "expected 0 to 9 decimals"),
            ("logical-epoch: [1e, 1, 1]", "expected a length and a number of decimals"),
        ] {
            let error = read(yaml).unwrap_err().to_string();
            assert!(error.starts_with("--logical-epoch: ") && error.contains(part), "{error}");
        }
    }
}
