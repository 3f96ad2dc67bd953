//! The layers of any architecture.

use super::{Recurrent, Stacked, TeacherForced, Transformer};
use crate::Result;
use crate::layer::recurrent::Speedups;
use crate::layer::{RecurrentOps, RecurrentParameterLoader};
use miriam_nmt_models::architecture::Architecture;

/// The layers of a model.
pub enum Layers<B: RecurrentOps> {
    /// The layers of a transformer.
    Transformer(Transformer<B>),
    /// The layers of a recurrent model of Marian, Amun or Nematus.
    Recurrent(Box<Recurrent<B>>),
    /// The layers of Devlin's model.
    Stacked(Stacked<B>),
}

impl<B: RecurrentOps> Layers<B> {
    /// Loads the layers of an architecture.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        architecture: &Architecture,
        speedups: &Speedups,
        parameters: &mut impl RecurrentParameterLoader<B>,
    ) -> Result<Self> {
        Ok(match architecture {
            Architecture::Transformer(shape) => {
                Layers::Transformer(Transformer::load(parameters, shape)?)
            }
            Architecture::Recurrent(shape) => {
                Layers::Recurrent(Box::new(Recurrent::new(shape, speedups, parameters)?))
            }
            Architecture::Stacked(shape) => {
                Layers::Stacked(Stacked::from_stacked(shape, speedups, parameters)?)
            }
        })
    }

    fn teacher_forced(&self) -> &dyn TeacherForced<B> {
        match self {
            Layers::Transformer(layers) => layers,
            Layers::Recurrent(layers) => &**layers,
            Layers::Stacked(layers) => layers,
        }
    }
}

impl<B: RecurrentOps> TeacherForced<B> for Layers<B> {
    fn output_weights(&self) -> &B::Weights {
        self.teacher_forced().output_weights()
    }

    fn max_group_rows(&self, backend: &B) -> usize {
        self.teacher_forced().max_group_rows(backend)
    }

    fn target_states(
        &self,
        backend: &mut B,
        sources: &[&[u32]],
        targets: &[&[u32]],
    ) -> Result<B::Tensor> {
        self.teacher_forced().target_states(backend, sources, targets)
    }
}
