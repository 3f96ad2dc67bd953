//! The operations of recurrent layers.

use miriam_kernels::attention::plain::{RecurrentAttention, attend_recurrent};

use super::{Matrix, ReferenceBackend, Weights};
use crate::Result;
use crate::layer::{ActivationImpl, AttentionScore, Backend, Epilogue, RecurrentOps};

/// A table of token vectors and the weights that multiply them; no product is cached.
#[derive(Clone, Debug)]
pub struct ProjectedEmbeddings {
    /// The table.
    pub table: Matrix,
    /// The weights.
    pub weights: Weights,
}

/// Keys and values of a sentence, `[positions, width]` each.
#[derive(Clone, Debug)]
pub struct Annotations {
    keys: Matrix,
    values: Matrix,
}

impl RecurrentOps for ReferenceBackend {
    type Annotations = Annotations;
    type ProjectedEmbeddingCache = ProjectedEmbeddings;

    fn embed_projected(
        &mut self,
        cache: &ProjectedEmbeddings,
        tokens: &[Option<u32>],
    ) -> Result<Matrix> {
        let vectors = self.embed(&cache.table, tokens, 1.0, None)?;
        self.affine(&vectors, &cache.weights, Epilogue::default())
    }

    fn annotate(
        &mut self,
        _: &AttentionScore<Vec<f64>>,
        keys: &Matrix,
        values: &Matrix,
        lengths: &[usize],
    ) -> Result<Vec<Annotations>> {
        let mut rows = 0..keys.rows();
        Ok(lengths
            .iter()
            .map(|&length| {
                let mut annotations = Annotations {
                    keys: Matrix::zeros(0, keys.width()),
                    values: Matrix::zeros(0, values.width()),
                };
                for row in rows.by_ref().take(length) {
                    annotations.keys.push_row(keys.row(row));
                    annotations.values.push_row(values.row(row));
                }
                annotations
            })
            .collect())
    }

    fn attend_annotations(
        &mut self,
        _: ActivationImpl,
        attention_score: &AttentionScore<Vec<f64>>,
        queries: &Matrix,
        groups: &[(usize, &Annotations)],
        mut weights_out: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<Matrix> {
        let mut out = Matrix::default();
        for &(rows, Annotations { keys, values }) in groups {
            let first = out.rows();
            let attention = RecurrentAttention {
                vector: match attention_score {
                    AttentionScore::DotProduct => None,
                    AttentionScore::Additive(vector) => Some(vector),
                },
                queries: queries.view().row_range(first..first + rows),
                keys: keys.view(),
                values: values.view(),
            };
            let mut weights = vec![0.0; rows * keys.rows()];
            let mut sums = Matrix::zeros(rows, values.width());
            attend_recurrent(attention, &mut weights, sums.view_mut());
            sums.iter().for_each(|row| out.push_row(row));
            if let Some(all) = &mut weights_out {
                let rows = weights.chunks_exact(keys.rows());
                all.extend(rows.map(|row| row.iter().map(|&weight| weight as f32).collect()));
            }
        }
        Ok(out)
    }
}
