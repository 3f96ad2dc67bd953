//! Attention of a sentence to itself and of a translation to its source.

use super::sublayer_connection::{load_affine, load_fused_affine};
use super::{
    AffineNames, AttentionMask, Backend, ColumnSlice, DecodingOps, DecodingStep, Epilogue,
    ParameterLoader, SublayerConnection,
};
use crate::Result;
use crate::architecture::{PreNormKeys, TransformerConfig};

/// A sentence looks at itself.
pub struct SelfAttention<B: Backend> {
    connection: SublayerConnection<B>,
    qkv: QkvWeights<B::Weights>,
    output: Option<B::Weights>,
    heads: usize,
    width: usize,
}

/// Queries, keys and values; where the first are made of something else than the others, in
/// two products.
enum QkvWeights<W> {
    /// All of the normalised input.
    Fused(W),
    /// Keys and values of the input as it is.
    Separate { queries: W, keys_values: W },
    /// The same, but where a hypothesis begins they are of the normalised input.
    SeparateAfterFirst { queries: W, keys_values: W },
}

/// Queries, keys and values of some rows, side by side or apart.
struct Qkv<R> {
    queries: R,
    keys_values: Option<R>,
}

impl<R> Qkv<R> {
    fn split(&self, width: usize) -> [ColumnSlice<'_, R>; 3] {
        let queries = ColumnSlice::nth(&self.queries, 0, width);
        let [keys, values] = match &self.keys_values {
            None => [
                ColumnSlice::nth(&self.queries, 1, width),
                ColumnSlice::nth(&self.queries, 2, width),
            ],
            Some(apart) => [ColumnSlice::nth(apart, 0, width), ColumnSlice::nth(apart, 1, width)],
        };
        [queries, keys, values]
    }
}

impl<B: Backend> SelfAttention<B> {
    /// The layer under `prefix`. Whether keys and values are normalised depends on the side
    /// it is on.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        prefix: &str,
        decoder: bool,
    ) -> Result<Self> {
        let keys =
            if shape.preprocess.has_norm() { shape.pre_norm_keys } else { PreNormKeys::Normalised };
        let products = match keys {
            PreNormKeys::NormalisedAtFirstStep if decoder => QkvWeights::SeparateAfterFirst {
                queries: load_affine(parameters, prefix, "q")?,
                keys_values: load_fused_affine(parameters, prefix, &["k", "v"])?,
            },
            PreNormKeys::Raw => QkvWeights::Separate {
                queries: load_affine(parameters, prefix, "q")?,
                keys_values: load_fused_affine(parameters, prefix, &["k", "v"])?,
            },
            PreNormKeys::Normalised | PreNormKeys::NormalisedAtFirstStep => {
                QkvWeights::Fused(load_fused_affine(parameters, prefix, &["q", "k", "v"])?)
            }
        };
        let around = format!("{prefix}_Wo");
        let stack = if decoder { &shape.decoder } else { &shape.encoder };
        Ok(SelfAttention {
            connection: SublayerConnection::load(parameters, shape, &around, &around)?,
            qkv: products,
            output: load_output_projection(parameters, shape, prefix)?,
            heads: stack.heads,
            width: shape.embeddings.dim,
        })
    }

    fn project_qkv(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        normed: &B::Tensor,
    ) -> Qkv<B::Tensor> {
        match &self.qkv {
            QkvWeights::Fused(all) => {
                Qkv { queries: backend.affine(normed, all, Epilogue::default()), keys_values: None }
            }
            QkvWeights::Separate { queries, keys_values }
            | QkvWeights::SeparateAfterFirst { queries, keys_values } => Qkv {
                queries: backend.affine(normed, queries, Epilogue::default()),
                keys_values: Some(backend.affine(input, keys_values, Epilogue::default())),
            },
        }
    }

    /// Whole sentences of these lengths.
    pub fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        lengths: &[usize],
        visible: AttentionMask,
    ) -> B::Tensor {
        let own = self.connection.preprocess(backend, input);
        let normed = own.as_ref().unwrap_or(input);
        let made = self.project_qkv(backend, input, normed);
        let [queries, keys, values] = made.split(self.width);
        let memories = backend.pack_kv(self.heads, keys, values, lengths);
        let seen = match &self.qkv {
            QkvWeights::SeparateAfterFirst { keys_values, .. } => {
                // The first position of each sentence sees itself normalised; the others
                // see it as it is.
                let starts = lengths.iter().scan(0, |next, &length| {
                    let start = *next as u32;
                    *next += length;
                    Some((length > 0).then_some(start))
                });
                let firsts: Vec<u32> = starts.flatten().collect();
                let ones = vec![1; firsts.len()];
                let firsts = backend.index_select(normed, &firsts);
                let first = backend.affine(&firsts, keys_values, Epilogue::default());
                let (keys, values) = (
                    ColumnSlice::nth(&first, 0, self.width),
                    ColumnSlice::nth(&first, 1, self.width),
                );
                let first = backend.pack_kv(self.heads, keys, values, &ones);
                let there = lengths.iter().zip(&memories).filter(|(length, _)| **length > 0);
                let groups: Vec<_> = there
                    .zip(&first)
                    .flat_map(|((&length, memory), first)| [(1, first), (length - 1, memory)])
                    .collect();
                backend.attend(queries, &groups, visible)
            }
            _ => {
                let groups: Vec<_> = lengths.iter().copied().zip(&memories).collect();
                backend.attend(queries, &groups, visible)
            }
        };
        self.project_output(backend, seen, input)
    }

    fn project_output(&self, backend: &mut B, seen: B::Tensor, input: &B::Tensor) -> B::Tensor {
        match &self.output {
            Some(output) => self.connection.project_and_postprocess(backend, &seen, output, input),
            None => self.connection.postprocess(backend, seen, input),
        }
    }
}

impl<B: DecodingOps> SelfAttention<B> {
    /// A step of hypotheses, whose past it adds to.
    pub fn step(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        cache: &mut B::KvCache,
        step: &DecodingStep<'_>,
    ) -> B::Tensor {
        if let Some(kept) = step.kept_rows {
            backend.compact(cache, kept);
        }
        let own = self.connection.preprocess(backend, input);
        let normed = own.as_ref().unwrap_or(input);
        let made = self.project_qkv(backend, input, normed);
        let [queries, keys, values] = made.split(self.width);
        backend.append_kv(cache, keys, values);
        let mut paths = step.paths;
        if let QkvWeights::SeparateAfterFirst { keys_values, .. } = &self.qkv
            && !step.new_rows.is_empty()
        {
            let firsts = backend.index_select(normed, step.new_rows);
            let first = backend.affine(&firsts, keys_values, Epilogue::default());
            let (keys, values) =
                (ColumnSlice::nth(&first, 0, self.width), ColumnSlice::nth(&first, 1, self.width));
            backend.append_kv(cache, keys, values);
            paths = step.new_row_paths;
        }
        let seen = backend.attend_kv_cache(self.heads, queries, cache, paths);
        self.project_output(backend, seen, input)
    }

    /// Whether hypotheses that begin pass twice: as they are, and normalised.
    pub fn caches_first_twice(&self) -> bool {
        matches!(self.qkv, QkvWeights::SeparateAfterFirst { .. })
    }
}

/// A translation looks at its source.
pub struct CrossAttention<B: Backend> {
    connection: SublayerConnection<B>,
    queries: B::Weights,
    output: Option<B::Weights>,
    width: usize,
}

/// The matrix that heads go through in the end.
fn load_output_projection<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    shape: &TransformerConfig,
    prefix: &str,
) -> Result<Option<B::Weights>> {
    shape.has_output_projection.then(|| load_affine(parameters, prefix, "o")).transpose()
}

impl<B: Backend> CrossAttention<B> {
    /// The layer under `prefix`.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        prefix: &str,
    ) -> Result<Self> {
        let around = format!("{prefix}_Wo");
        Ok(CrossAttention {
            connection: SublayerConnection::load(parameters, shape, &around, &around)?,
            queries: load_affine(parameters, prefix, "q")?,
            output: load_output_projection(parameters, shape, prefix)?,
            width: shape.embeddings.dim,
        })
    }

    /// The weights that make keys and values, in turn, of all layers under `prefixes` at once.
    pub fn load_kv_weights(
        parameters: &mut impl ParameterLoader<B>,
        prefixes: &[String],
    ) -> Result<B::Weights> {
        let names = |kind: char| {
            let of_layer = |prefix| ["k", "v"].map(|which| format!("{prefix}_{kind}{which}"));
            prefixes.iter().flat_map(of_layer).collect::<Vec<String>>()
        };
        let (matrices, biases) = (names('W'), names('b'));
        let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
        let biases: Vec<&str> = biases.iter().map(String::as_str).collect();
        parameters.weights(AffineNames { matrices: &matrices, biases: &biases })
    }

    /// Rows in groups that look at one source each. `attend` is the way to look.
    pub fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        attend: impl FnOnce(&mut B, ColumnSlice<'_, B::Tensor>) -> B::Tensor,
    ) -> B::Tensor {
        let own = self.connection.preprocess(backend, input);
        let queries =
            backend.affine(own.as_ref().unwrap_or(input), &self.queries, Epilogue::default());
        let seen = attend(backend, ColumnSlice::nth(&queries, 0, self.width));
        match &self.output {
            Some(output) => self.connection.project_and_postprocess(backend, &seen, output, input),
            None => self.connection.postprocess(backend, seen, input),
        }
    }
}
