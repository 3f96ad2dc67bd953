//! The operations of recurrent layers: embeddings times weights, and attention to encoder states.

use std::sync::Arc;

use miriam_gpu::Buffer;
use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{
    ActivationImpl, AttentionMask, AttentionScore, Backend, Epilogue, RecurrentOps,
};

use crate::attention::Score;
use crate::{CudaBackend, DeviceTensor, EmbeddingTable, SourceKv, Weights};

/// A table of embeddings and the weights that they are multiplied with.
pub struct ProjectedEmbeddings {
    /// The table.
    pub table: Arc<EmbeddingTable>,
    /// The weights.
    pub weights: Arc<Weights>,
}

impl RecurrentOps for CudaBackend {
    type Annotations = SourceKv;
    type ProjectedEmbeddingCache = ProjectedEmbeddings;

    fn embed_projected(
        &mut self,
        cache: &ProjectedEmbeddings,
        tokens: &[Option<u32>],
    ) -> Result<DeviceTensor> {
        let vectors = self.embed(&cache.table, tokens, 1.0, None)?;
        self.affine(&vectors, &cache.weights, Epilogue::default())
    }

    fn annotate(
        &mut self,
        _attention_score: &AttentionScore<Arc<Buffer<f32>>>,
        keys: &DeviceTensor,
        values: &DeviceTensor,
        lengths: &[usize],
    ) -> Result<Vec<SourceKv>> {
        let (keys, values) = (self.whole(keys), self.whole(values));
        self.keys_values_of_sentences(1, keys, values, lengths)
    }

    /// Ignores the requested implementation of activations, which matters only on CPUs: activations
    /// are computed exactly.
    fn attend_annotations(
        &mut self,
        _activation_impl: ActivationImpl,
        attention_score: &AttentionScore<Arc<Buffer<f32>>>,
        queries: &DeviceTensor,
        groups: &[(usize, &SourceKv)],
        weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<DeviceTensor> {
        let score = match attention_score {
            AttentionScore::Additive(vector) => Score::Additive(vector),
            AttentionScore::DotProduct => Score::Dot(1.0),
        };
        // The weights stay on the device until `collect_attention_weights` fetches them.
        let weights_head = weights.map(|_| 0);
        self.attend_groups(self.whole(queries), groups, AttentionMask::All, score, weights_head)
    }
}
