//! Model whose layers run on a tape.

use std::path::Path;
use std::sync::Arc;

use miriam_nmt::Result;
use miriam_nmt::architecture::{Architecture, PreNormKeys};
use miriam_nmt::layer::ActivationImpl;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::{Layers, TeacherForced};

use crate::kernels::Kernels;
use crate::parameters::ParameterLayout;
use crate::tape::{AffineId, Loss, LossOptions, Tape, TapeLoader, WeightRegistry};

/// The layers of an architecture for training.
pub struct TrainableModel<K: Kernels> {
    architecture: Architecture,
    layers: Layers<Tape<K>>,
    registry: Arc<WeightRegistry>,
    product_clip: Option<f32>,
}

impl<K: Kernels> TrainableModel<K> {
    /// Creates the layers of `architecture`. Keys and values of pre-norm transformers are
    /// normalised, as in Marian's training.
    ///
    /// # Errors
    /// If the architecture is not consistent.
    pub fn new(mut architecture: Architecture) -> Result<Self> {
        if let Architecture::Transformer(transformer) = &mut architecture {
            transformer.pre_norm_keys = PreNormKeys::Normalized;
        }
        let layout = ParameterLayout::new(&architecture);
        let mut loader = TapeLoader::new(layout, Path::new("(the model in training)"));
        // With this implementation, results equal those of decoding to the bit.
        let activation_impl = ActivationImpl::Vector;
        let speedups = Speedups { activation_impl, ..Speedups::NONE };
        let layers = Layers::load(&architecture, &speedups, &mut loader)?;
        let registry = Arc::new(loader.into_registry());
        Ok(TrainableModel { architecture, layers, registry, product_clip: None })
    }

    /// Returns the same model, whose tapes clip the inputs of matrix products with weights at the
    /// magnitude `product_clip`, if given (`docs/spec/training.md` C.3).
    pub fn with_product_clip(self, product_clip: Option<f32>) -> Self {
        TrainableModel { product_clip, ..self }
    }

    /// Returns the architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Returns the places of parameters.
    pub fn layout(&self) -> &ParameterLayout {
        self.registry.layout()
    }

    /// Returns the registry of the layers' parameters.
    pub fn registry(&self) -> &Arc<WeightRegistry> {
        &self.registry
    }

    /// Returns a tape for this model.
    pub fn tape(&self, kernels: K) -> Tape<K> {
        Tape::new(kernels, Arc::clone(&self.registry)).with_product_clip(self.product_clip)
    }

    /// Records the translation of `sources` by `targets`, one row per target token, and returns the
    /// sums of losses over the rows. All sources and targets end with `</s>`.
    ///
    /// # Errors
    /// If the device fails; never on a CPU.
    ///
    /// # Panics
    /// If a token is not in its vocabulary, or the numbers of sources and targets differ.
    pub fn loss(
        &self,
        tape: &mut Tape<K>,
        sources: &[&[u32]],
        targets: &[&[u32]],
        options: LossOptions<'_>,
    ) -> Result<Loss> {
        let states = self.layers.target_states(tape, sources, targets)?;
        let output: AffineId = *self.layers.output_weights();
        Ok(tape.cross_entropy(states, output, &targets.concat(), options))
    }
}
