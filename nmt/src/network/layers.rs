//! The layers of any architecture.

use super::{Recurrent, Stacked, Transformer};
use crate::Result;
use crate::architecture::{Architecture, Model};
use crate::layer::recurrent::Speedups;
use crate::layer::{RecurrentOps, RecurrentParameterLoader};

/// The layers of a model.
pub(super) enum Layers<B: RecurrentOps> {
    Transformer(Transformer<B>),
    Recurrent(Recurrent<B>),
    Stacked(Stacked<B>),
}

impl<B: RecurrentOps> Layers<B> {
    /// Loads the layers that the architecture of `model` describes.
    pub(super) fn load(
        model: &Model,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        Ok(match model.architecture() {
            Architecture::Transformer(shape) => {
                Layers::Transformer(Transformer::load(parameters, shape)?)
            }
            Architecture::Recurrent(shape) => {
                Layers::Recurrent(Recurrent::new(shape, speedups, parameters)?)
            }
            Architecture::Stacked(shape) => {
                Layers::Stacked(Stacked::from_stacked(shape, speedups, parameters)?)
            }
        })
    }
}
