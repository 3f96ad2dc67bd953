//! Validation metrics, with their best values so far (`docs/spec/training.md` A.12).

use serde::{Deserialize, Serialize};

/// A metric of a model on the validation set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The sum of cross-entropies (`ce-sum`).
    CrossEntropySum,
    /// Cross-entropy per sentence (`cross-entropy`, `ce-mean`).
    CrossEntropy,
    /// Cross-entropy per target token (`ce-mean-words`).
    CrossEntropyWords,
    /// The exponential of the cross-entropy per target token.
    Perplexity,
    /// BLEU of detokenised translations with the tokeniser 13a (`bleu`).
    Bleu,
    /// The same metric under its old name (`bleu-detok`).
    BleuDetok,
    /// BLEU of token ids (`bleu-segmented`).
    BleuSegmented,
    /// chrF of detokenised translations.
    Chrf,
    /// A program's score of the translations (`translation`); without a program the translations
    /// are only written.
    Translation,
    /// A program's score of the model (`valid-script`).
    Script,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 10] = [
        Metric::CrossEntropySum,
        Metric::CrossEntropy,
        Metric::CrossEntropyWords,
        Metric::Perplexity,
        Metric::Bleu,
        Metric::BleuDetok,
        Metric::BleuSegmented,
        Metric::Chrf,
        Metric::Translation,
        Metric::Script,
    ];

    /// Marian's metrics that are not supported, each with the reason.
    pub const REFUSED: [(&str, &str); 4] = [
        ("accuracy", "it is for classifiers; use ce-mean-words or bleu"),
        ("bert-lm-accuracy", "training BERT is not supported"),
        ("bert-sentence-accuracy", "training BERT is not supported"),
        ("embedding", "training sentence-embedding models is not supported"),
    ];

    /// Returns the name that it has in Marian's options.
    pub fn name(self) -> &'static str {
        match self {
            Metric::CrossEntropySum => "ce-sum",
            Metric::CrossEntropy => "cross-entropy",
            Metric::CrossEntropyWords => "ce-mean-words",
            Metric::Perplexity => "perplexity",
            Metric::Bleu => "bleu",
            Metric::BleuDetok => "bleu-detok",
            Metric::BleuSegmented => "bleu-segmented",
            Metric::Chrf => "chrf",
            Metric::Translation => "translation",
            Metric::Script => "valid-script",
        }
    }

    /// Returns the metric with this name in Marian's options.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "ce-mean" { "cross-entropy" } else { name };
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether larger values are better.
    pub fn is_larger_better(self) -> bool {
        self.needs_translations() || self == Metric::Script
    }

    /// Whether the metric needs translations of the validation set.
    pub fn needs_translations(self) -> bool {
        use Metric::{Bleu, BleuDetok, BleuSegmented, Chrf, Translation};
        matches!(self, Bleu | BleuDetok | BleuSegmented | Chrf | Translation)
    }

    /// Whether the metric needs a validation set.
    pub fn needs_validation_set(self) -> bool {
        self != Metric::Script
    }
}

/// The validation state of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricState {
    /// The best value as bits, because JSON has no infinities.
    best_bits: u64,
    /// The number of consecutive validations without improvement.
    pub stalled: u64,
}

impl MetricState {
    /// Returns the state before the first validation.
    pub fn new(metric: Metric) -> Self {
        let worst = if metric.is_larger_better() { f64::NEG_INFINITY } else { f64::INFINITY };
        MetricState { best_bits: worst.to_bits(), stalled: 0 }
    }

    /// Returns the state that Marian's progress file describes; `best` is `None` before the first
    /// validation.
    pub fn from_marian(metric: Metric, best: Option<f64>, stalled: u64) -> Self {
        let best_bits = best.map_or(MetricState::new(metric).best_bits, f64::to_bits);
        MetricState { best_bits, stalled }
    }

    /// Returns the best value so far; before the first one, the infinity that every value beats.
    pub fn best(&self) -> f64 {
        f64::from_bits(self.best_bits)
    }

    /// Records a new value. A value that is strictly better becomes the best one. As in Marian, it
    /// counts as a stall nevertheless if the gain is at most `epsilon`. A value that is not finite
    /// stalls and is never the best.
    ///
    /// Returns whether the value is finite and no earlier value was better. So the last one of
    /// equally good models is kept, for example at the beginning, when all models have BLEU 0.
    pub fn record(&mut self, metric: Metric, value: f64, epsilon: f64) -> bool {
        let gain =
            if metric.is_larger_better() { value - self.best() } else { self.best() - value };
        let is_better = gain > 0.0 && value.is_finite();
        if is_better {
            self.best_bits = value.to_bits();
        }
        self.stalled = if is_better && gain > epsilon { 0 } else { self.stalled + 1 };
        gain >= 0.0 && value.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stall_and_improve_as_in_marian() {
        let mut state = MetricState::new(Metric::CrossEntropy);
        assert!(state.record(Metric::CrossEntropy, 5.0, 0.0));
        assert!(state.record(Metric::CrossEntropy, 5.0, 0.0), "equally good and trained longer");
        assert_eq!(state.stalled, 1);
        assert!(!state.record(Metric::CrossEntropy, f64::NAN, 0.0));
        assert_eq!((state.best(), state.stalled), (5.0, 2));
        // Better by less than epsilon: it stalls, but is the new best.
        assert!(state.record(Metric::CrossEntropy, 4.9, 0.5));
        assert_eq!((state.best(), state.stalled), (4.9, 3));
        assert!(
            state.record(Metric::CrossEntropy, 4.4, 0.5),
            "an improvement by epsilon is not larger than epsilon"
        );
        assert_eq!((state.best(), state.stalled), (4.4, 4));
        assert!(state.record(Metric::CrossEntropy, 3.5, 0.5));
        assert_eq!(state.stalled, 0);
        let mut bleu = MetricState::new(Metric::Bleu);
        assert!(bleu.record(Metric::Bleu, 0.1, 0.0));
        assert!(bleu.record(Metric::Bleu, 20.0, 0.0));
        assert!(!bleu.record(Metric::Bleu, 19.0, 0.0));
        let mut script = MetricState::new(Metric::Script);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!script.record(Metric::Script, value, 0.0), "{value}");
        }
        assert_eq!((script.best(), script.stalled), (f64::NEG_INFINITY, 3));
        assert!(script.record(Metric::Script, -1.0, 0.0));
    }
}
