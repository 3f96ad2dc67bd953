//! Versions of Marian that compute different results from the same file.

use super::Architecture;
use super::transformer::{Activation, AutoregressionConfig, Gelu, PreNormKeys};

/// The versions of Marian that compute different results from the same file (`neural.md` 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As Marian computes since 1.10.
    Marian,
    /// As Marian 1.9 and its fork for browsers compute.
    Browser,
}

impl Dialect {
    /// Returns the dialect of the version that wrote a model, such as `v1.9.56 a1b2c3 2023`.
    pub(crate) fn from_version(version: &str) -> Self {
        let numbers = version.trim_start_matches('v').split(['.', ' ']);
        let mut numbers = numbers.map(|number| number.parse::<u32>().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(major), Some(minor)) if (major, minor) < (1, 10) => Dialect::Browser,
            _ => Dialect::Marian,
        }
    }

    pub(crate) fn gelu(self) -> Gelu {
        match self {
            Dialect::Marian => Gelu::Exact,
            Dialect::Browser => Gelu::Sigmoid,
        }
    }

    pub(crate) fn pre_norm_keys(self) -> PreNormKeys {
        match self {
            Dialect::Marian => PreNormKeys::NormalizedAtFirstStep,
            Dialect::Browser => PreNormKeys::Raw,
        }
    }
}

impl Architecture {
    /// Makes a Marian model compute as Marian's scorer and training do: the decoder's keys and
    /// values are normalised at all positions. Marian's search normalises them at the first step
    /// only (`neural.md` 1.8).
    pub fn set_scoring_keys(&mut self) {
        if let Architecture::Transformer(transformer) = self
            && transformer.pre_norm_keys == PreNormKeys::NormalizedAtFirstStep
        {
            transformer.pre_norm_keys = PreNormKeys::Normalized;
        }
    }

    /// Makes a Marian model compute as `dialect` does, whatever version wrote it.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        let Architecture::Transformer(transformer) = self else { return };
        transformer.pre_norm_keys = dialect.pre_norm_keys();
        let average = match &mut transformer.autoregression {
            AutoregressionConfig::AverageAttention(average) => Some(&mut average.activation),
            _ => None,
        };
        for activation in [Some(&mut transformer.activation), average].into_iter().flatten() {
            if let Activation::Gelu(gelu) = activation {
                *gelu = dialect.gelu();
            }
        }
    }
}
