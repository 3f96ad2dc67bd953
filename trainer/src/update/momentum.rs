//! Adam's betas over time (`momentum-schedule`, `docs/spec/training.md` A.7).

use std::str::FromStr;

use super::OptimizerKind;

/// Betas, each pair with the number of batches from which it holds. Before the first pair, the
/// betas of the optimiser hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentumSchedule(pub Vec<(u64, [f64; 2])>);

impl MomentumSchedule {
    /// Returns the optimiser of the step after which `batches` batches have been seen. In
    /// synchronous training, `batches` is the number of updates instead.
    pub fn at(&self, kind: OptimizerKind, batches: u64) -> OptimizerKind {
        let last = self.0.iter().rev().find(|(start, _)| *start <= batches);
        match (kind, last) {
            (OptimizerKind::Adam { epsilon, weight_decay, .. }, Some((_, [beta1, beta2]))) => {
                OptimizerKind::Adam { beta1: *beta1, beta2: *beta2, epsilon, weight_decay }
            }
            _ => kind,
        }
    }
}

/// Parses text such as `0.93,0.997@0 0.92,0.998@4000`.
impl FromStr for MomentumSchedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut steps: Vec<(u64, [f64; 2])> = Vec::new();
        for step in text.split_whitespace() {
            let wrong = || {
                format!(
                    "{step:?}: expected two betas from 0 to below 1 and the number of batches \
                     after which they hold, ascending, as in 0.93,0.997@0 0.92,0.998@4000"
                )
            };
            let (betas, start) = step.split_once('@').ok_or_else(wrong)?;
            let (beta1, beta2) = betas.split_once(',').ok_or_else(wrong)?;
            fn beta(text: &str) -> Option<f64> {
                text.parse().ok().filter(|beta| (0.0..1.0).contains(beta))
            }
            let betas = [beta(beta1).ok_or_else(wrong)?, beta(beta2).ok_or_else(wrong)?];
            let start = start.parse().map_err(|_| wrong())?;
            if steps.last().is_some_and(|(before, _)| *before >= start) {
                return Err(wrong());
            }
            steps.push((start, betas));
        }
        Ok(MomentumSchedule(steps))
    }
}

impl std::fmt::Display for MomentumSchedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            &self
                .0
                .iter()
                .map(|(start, [beta1, beta2]): &(u64, [f64; 2])| format!("{beta1},{beta2}@{start}"))
                .collect::<Vec<_>>()
                .join(" "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn betas_change_after_their_batches() {
        let text = "0.93,0.997@2 0.92,0.998@4000";
        let schedule: MomentumSchedule = text.parse().unwrap();
        assert_eq!(schedule.to_string(), text);
        let beta = |batches| match schedule.at(OptimizerKind::default(), batches) {
            OptimizerKind::Adam { beta1, .. } => beta1,
            _ => panic!("Adam"),
        };
        assert_eq!([beta(1), beta(2), beta(3999), beta(4000)], [0.9, 0.93, 0.93, 0.92]);
        assert_eq!(schedule.at(OptimizerKind::Sgd, 9), OptimizerKind::Sgd);
        for wrong in ["0.9@1", "0.9,1@0", "0.9,0.9", "0.9,0.9@2 0.8,0.9@2"] {
            assert!(wrong.parse::<MomentumSchedule>().is_err(), "{wrong}");
        }
    }
}
