//! Thresholds of the translation probabilities below which phrase pairs are left out of the tables.

/// The smallest phi(f|e) and phi(e|f) of phrase pairs in the tables.
///
/// # Examples
/// ```
/// use miriam_extract::ProbabilityThresholds;
///
/// assert!(ProbabilityThresholds::parse("2:0.0001").is_ok());
/// assert!(ProbabilityThresholds::parse("0:0.01,2:0.0001").is_ok());
/// assert!(ProbabilityThresholds::parse("1:0.01").is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbabilityThresholds {
    inverse: f32,
    direct: f32,
}

impl ProbabilityThresholds {
    /// Parses thresholds as Moses' option `--MinScore` has them: `0:X` for phi(f|e), `2:X` for
    /// phi(e|f), or both with a comma between them. The numbers are the places of the scores in a
    /// table.
    ///
    /// # Errors
    /// Fails with a message that shows the valid form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut thresholds = ProbabilityThresholds::default();
        for part in text.split(',') {
            let (place, value) = part.split_once(':').ok_or_else(|| describe_error(text))?;
            let threshold = match place {
                "0" => &mut thresholds.inverse,
                "2" => &mut thresholds.direct,
                _ => return Err(describe_error(text)),
            };
            *threshold = match value.parse::<f64>() {
                Ok(value) if (0.0..=1.0).contains(&value) => value as f32,
                _ => return Err(describe_error(text)),
            };
        }
        Ok(thresholds)
    }

    /// Whether phi(f|e) and phi(e|f) reach the thresholds.
    pub(crate) fn admit(&self, [inverse, direct]: [f32; 2]) -> bool {
        inverse >= self.inverse && direct >= self.direct
    }
}

fn describe_error(text: &str) -> String {
    format!(
        "invalid thresholds {text:?}; write 0:X for phi(f|e), 2:X for phi(e|f), or both with a \
         comma between them, where X is a probability, such as 2:0.0001"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_belong_to_the_places_of_scores() {
        let both = ProbabilityThresholds::parse("2:0.25,0:1e-1").unwrap();
        assert_eq!(both, ProbabilityThresholds { inverse: 0.1, direct: 0.25 });
        assert!(both.admit([0.1, 0.25]) && !both.admit([0.09, 1.0]) && !both.admit([1.0, 0.2]));
        assert!(ProbabilityThresholds::default().admit([0.0, 0.0]));
        for bad in
            ["", "0.0001", "1:0.5", "3:0.5", "2:", "2:x", "2:-0.1", "2:1.5", "2:nan", "2:0.1,"]
        {
            let error = ProbabilityThresholds::parse(bad).unwrap_err();
            assert!(error.contains("such as 2:0.0001"), "{bad}: {error}");
        }
    }
}
