//! The operations of recurrent layers by the kernels of `miriam-kernels`.

use std::sync::{Arc, OnceLock};

use miriam_kernels::attention::{PackedKv, attend, attend_additive};
use miriam_kernels::pack::WeightsF32;
use miriam_kernels::{MatMut, MatRef};

use super::{EmbeddingTable, Engine, PooledTensor, WeightLoader, Weights};
use crate::Result;
use crate::layer::{
    ActivationImpl, AffineNames, AttentionMask, AttentionScore, Backend, Epilogue, ParameterLoader,
    RecurrentOps, RecurrentParameterLoader,
};

/// Products of token vectors with weights. The first thread that needs the row of a frequent token
/// computes it, and all threads share it.
pub struct ProjectedEmbeddingCache {
    table: Arc<EmbeddingTable>,
    weights: Arc<Weights>,
    /// The product for a missing token (row 0), then the products of the first tokens of the
    /// vocabulary.
    rows: Vec<OnceLock<Box<[f32]>>>,
}

impl ProjectedEmbeddingCache {
    fn index_of(token: Option<u32>) -> usize {
        token.map_or(0, |token| token as usize + 1)
    }

    fn get(&self, token: Option<u32>) -> Option<&[f32]> {
        self.rows.get(Self::index_of(token))?.get().map(|row| &**row)
    }
}

impl RecurrentParameterLoader<Engine> for WeightLoader<'_> {
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        cached_tokens: usize,
    ) -> Result<ProjectedEmbeddingCache> {
        let table = self.embedding_table(table)?;
        let weights = self.weights(affine)?;
        let rows = match cached_tokens {
            0 => Vec::new(),
            n => (0..=n.min(table.vocab_size)).map(|_| OnceLock::new()).collect(),
        };
        Ok(ProjectedEmbeddingCache { table, weights, rows })
    }
}

/// The keys and values of a sentence.
pub enum Annotations {
    /// Plain keys and packed values.
    Additive {
        /// `[positions, key width]`.
        keys: Vec<f32>,
        /// `[positions, width]`, packed as the weights of a GEMM whose input is attention weights.
        values: WeightsF32,
        /// The width of values.
        width: usize,
    },
    /// Packed keys and values, and the width of values.
    DotProduct(PackedKv, usize),
}

impl Annotations {
    /// Returns the number of columns of the values.
    fn width(&self) -> usize {
        match self {
            Annotations::Additive { width, .. } | Annotations::DotProduct(_, width) => *width,
        }
    }
}

impl RecurrentOps for Engine {
    type Annotations = Annotations;
    type ProjectedEmbeddingCache = ProjectedEmbeddingCache;

    fn embed_projected(
        &mut self,
        cache: &ProjectedEmbeddingCache,
        tokens: &[Option<u32>],
    ) -> Result<PooledTensor> {
        let mut missing: Vec<Option<u32>> =
            tokens.iter().copied().filter(|token| cache.get(*token).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let vectors = self.embed(&cache.table, &missing, 1.0, None)?;
        let products = self.affine(&vectors, &cache.weights, Epilogue::default())?;
        for (row, &token) in missing.iter().enumerate() {
            if let Some(cell) = cache.rows.get(ProjectedEmbeddingCache::index_of(token)) {
                cell.get_or_init(|| products.view().row(row).into());
            }
        }
        let mut out = self.empty_tensor(tokens.len(), products.width());
        let mut to = out.view_mut();
        for (row, &token) in tokens.iter().enumerate() {
            fn index(missing: &[Option<u32>], token: &Option<u32>) -> Option<usize> {
                missing.binary_search(token).ok()
            }
            let product =
                cache.get(token).or_else(|| Some(products.view().row(index(&missing, &token)?)));
            to.row_mut(row).copy_from_slice(product.expect("cached or computed"));
        }
        Ok(out)
    }

    fn annotate(
        &mut self,
        attention_score: &AttentionScore<Arc<[f32]>>,
        keys: &PooledTensor,
        values: &PooledTensor,
        lengths: &[usize],
    ) -> Result<Vec<Annotations>> {
        let mut first = 0;
        let width = values.width();
        Ok(lengths
            .iter()
            .map(|&length| {
                let rows = first..first + length;
                first = rows.end;
                let keys = keys.view().row_range(rows.clone());
                let sentence_values = values.view().row_range(rows);
                match attention_score {
                    AttentionScore::Additive(_) => {
                        let mut values = WeightsF32::default();
                        values.fill_rows(sentence_values, width);
                        let keys = (0..length).flat_map(|row| keys.row(row)).copied().collect();
                        Annotations::Additive { keys, values, width }
                    }
                    AttentionScore::DotProduct => {
                        let mut packed = PackedKv::default();
                        packed.pack(1, keys, sentence_values);
                        Annotations::DotProduct(packed, width)
                    }
                }
            })
            .collect())
    }

    fn attend_annotations(
        &mut self,
        activation_impl: ActivationImpl,
        attention_score: &AttentionScore<Arc<[f32]>>,
        queries: &PooledTensor,
        groups: &[(usize, &Annotations)],
        mut weights_out: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<PooledTensor> {
        let (cpu, gates) = activation_impl.on(self.cpu);
        let width = groups.first().map_or(0, |(_, sentence)| sentence.width());
        let mut out = self.empty_tensor(queries.rows(), width);
        let mut rest = out.view_mut();
        let mut first = 0;
        for &(rows, sentence) in groups {
            let (part, others) = rest.split_rows(rows);
            rest = others;
            let queries = queries.view().row_range(first..first + rows);
            first += rows;
            let positions = match sentence {
                Annotations::Additive { values, .. } => values.view().depth(),
                Annotations::DotProduct(packed, _) => packed.positions(),
            };
            self.attention_weights.clear();
            self.attention_weights.resize(rows * positions, 0.0);
            let weights = MatMut::new(&mut self.attention_weights, rows, positions);
            match (attention_score, sentence) {
                (AttentionScore::Additive(v), Annotations::Additive { keys, values, .. }) => {
                    let keys = MatRef::new(keys, positions, v.len());
                    attend_additive(cpu, gates, keys, values.view(), v, queries, weights, part);
                }
                (AttentionScore::DotProduct, Annotations::DotProduct(packed, _)) => {
                    let (weights, scratch) = (Some((0, weights)), &mut self.scratch);
                    attend(
                        self.cpu,
                        1.0,
                        queries,
                        packed,
                        AttentionMask::All,
                        part,
                        weights,
                        scratch,
                    );
                }
                _ => panic!("annotated for another kind of attention"),
            }
            if let Some(all) = &mut weights_out {
                all.extend(self.attention_weights.chunks_exact(positions).map(<[f32]>::to_vec));
            }
        }
        assert_eq!(first, queries.rows(), "every query is in a group");
        Ok(out)
    }
}
