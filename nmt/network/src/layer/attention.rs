//! Multi-head attention of transformers: self-attention and attention to the source.

use super::sublayer_connection::{load_affine, load_fused_affine};
use super::{
    AffineNames, AttentionMask, Backend, ColumnSlice, DecodingOps, Epilogue, ParameterLoader,
    RelativePositions, SublayerConnection,
};
use crate::Result;
use miriam_nmt_models::architecture::{PreNormKeys, TransformerConfig};

/// Self-attention of an encoder or decoder layer.
pub struct SelfAttention<B: Backend> {
    connection: SublayerConnection<B>,
    qkv: QkvWeights<B::Weights>,
    output: Option<B::Weights>,
    heads: usize,
    width: usize,
    relative: Option<B::RelativePositions>,
}

/// Weights of queries, keys and values. There are two matrices if queries have another input than
/// keys and values.
enum QkvWeights<W> {
    /// All are computed from the normalised input.
    Fused(W),
    /// Keys and values are computed from the raw input.
    Separate { queries: W, keys_values: W },
    /// In the search, keys and values are computed from the normalised input at the first step, and
    /// from the raw input of all positions at later steps, as in Marian's search. For whole
    /// sentences, they are computed from the normalised input, as in Marian's training and scorer
    /// (`neural.md` 1.8).
    SeparateAfterFirst { queries: W, keys_values: W },
}

/// Queries, keys and values of some rows, side by side in one tensor or two.
struct Qkv<T> {
    queries: T,
    keys_values: Option<T>,
}

impl<T> Qkv<T> {
    fn split(&self, width: usize) -> [ColumnSlice<'_, T>; 3] {
        let queries = ColumnSlice::nth(&self.queries, 0, width);
        let [keys, values] = match &self.keys_values {
            None => [
                ColumnSlice::nth(&self.queries, 1, width),
                ColumnSlice::nth(&self.queries, 2, width),
            ],
            Some(other) => [ColumnSlice::nth(other, 0, width), ColumnSlice::nth(other, 1, width)],
        };
        [queries, keys, values]
    }
}

impl<B: Backend> SelfAttention<B> {
    /// Loads the layer under `prefix`. `decoder` is whether the layer belongs to the decoder. For
    /// [`PreNormKeys::NormalizedAtFirstStep`], the input of keys and values depends on this.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        prefix: &str,
        decoder: bool,
    ) -> Result<Self> {
        let keys =
            if shape.preprocess.has_norm() { shape.pre_norm_keys } else { PreNormKeys::Normalized };
        let qkv = match keys {
            PreNormKeys::NormalizedAtFirstStep if decoder => QkvWeights::SeparateAfterFirst {
                queries: load_affine(parameters, prefix, "q")?,
                keys_values: load_fused_affine(parameters, prefix, &["k", "v"])?,
            },
            PreNormKeys::Raw => QkvWeights::Separate {
                queries: load_affine(parameters, prefix, "q")?,
                keys_values: load_fused_affine(parameters, prefix, &["k", "v"])?,
            },
            PreNormKeys::Normalized | PreNormKeys::NormalizedAtFirstStep => {
                QkvWeights::Fused(load_fused_affine(parameters, prefix, &["q", "k", "v"])?)
            }
        };
        let norm_prefix = format!("{prefix}_Wo");
        let stack = if decoder { &shape.decoder } else { &shape.encoder };
        Ok(SelfAttention {
            connection: SublayerConnection::load(parameters, shape, &norm_prefix, &norm_prefix)?,
            qkv,
            output: load_output_projection(parameters, shape, prefix)?,
            heads: stack.heads,
            width: shape.attention_width(stack),
            relative: RelativePositions::load(
                |name| parameters.values(name),
                shape,
                prefix,
                decoder,
            )?
            .map(|relative| parameters.relative_positions(relative))
            .transpose()?,
        })
    }

    fn project_qkv(
        &self,
        backend: &mut B,
        key_input: &B::Tensor,
        normed: &B::Tensor,
    ) -> Result<Qkv<B::Tensor>> {
        Ok(match &self.qkv {
            QkvWeights::Fused(all) => Qkv {
                queries: backend.affine(normed, all, Epilogue::default())?,
                keys_values: None,
            },
            QkvWeights::Separate { queries, keys_values }
            | QkvWeights::SeparateAfterFirst { queries, keys_values } => Qkv {
                queries: backend.affine(normed, queries, Epilogue::default())?,
                keys_values: Some(backend.affine(key_input, keys_values, Epilogue::default())?),
            },
        })
    }

    /// Computes self-attention of whole sentences, `lengths` rows of `input` each, `[rows, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        lengths: &[usize],
        mask: AttentionMask,
    ) -> Result<B::Tensor> {
        let own_norm = self.connection.preprocess(backend, input)?;
        let normed = own_norm.as_ref().unwrap_or(input);
        let key_input = match &self.qkv {
            QkvWeights::SeparateAfterFirst { .. } => normed,
            _ => input,
        };
        let qkv = self.project_qkv(backend, key_input, normed)?;
        let [queries, keys, values] = qkv.split(self.width);
        if let Some(relative) = &self.relative {
            let qkv = [queries, keys, values];
            let attended = backend.attend_relative(self.heads, qkv, lengths, mask, relative)?;
            return self.project_output(backend, attended, input);
        }
        let packed = backend.pack_kv(self.heads, keys, values, lengths)?;
        let groups: Vec<_> = lengths.iter().copied().zip(&packed).collect();
        let attended = backend.attend(queries, &groups, mask)?;
        self.project_output(backend, attended, input)
    }

    fn project_output(
        &self,
        backend: &mut B,
        attended: B::Tensor,
        input: &B::Tensor,
    ) -> Result<B::Tensor> {
        self.connection.finish(backend, attended, self.output.as_ref(), input)
    }
}

impl<B: DecodingOps> SelfAttention<B> {
    /// Computes a step of hypotheses, `[rows, width]`: each attends to the positions of its parent
    /// in `cache` and to itself.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn step(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        cache: &mut B::KvCache,
        parents: &[Option<u32>],
    ) -> Result<B::Tensor> {
        let own_norm = self.connection.preprocess(backend, input)?;
        let normed = own_norm.as_ref().unwrap_or(input);
        let qkv = self.project_qkv(backend, input, normed)?;
        let qkv = qkv.split(self.width);
        let relative = self.relative.as_ref();
        let mut attended = backend.attend_kv_cache(cache, self.heads, qkv, parents, relative)?;
        if let (QkvWeights::SeparateAfterFirst { keys_values, .. }, None) = (&self.qkv, relative) {
            let new_rows = (0..).zip(parents).filter(|(_, parent)| parent.is_none());
            let new_rows: Vec<u32> = new_rows.map(|(row, _)| row).collect();
            if !new_rows.is_empty() {
                // Attention to a single position gives the value at this position. Later steps see
                // the raw value in the cache.
                let first = backend.index_select(normed, &new_rows)?;
                let first = backend.affine(&first, keys_values, Epilogue::default())?;
                let values = ColumnSlice::nth(&first, 1, self.width);
                attended = backend.replace_rows(attended, &new_rows, values)?;
            }
        }
        self.project_output(backend, attended, input)
    }
}

/// Attention of a decoder layer to the source.
pub struct CrossAttention<B: Backend> {
    connection: SublayerConnection<B>,
    queries: B::Weights,
    output: Option<B::Weights>,
    width: usize,
}

/// Loads the output projection of the joined heads, if the model has one.
fn load_output_projection<B: Backend>(
    parameters: &mut impl ParameterLoader<B>,
    shape: &TransformerConfig,
    prefix: &str,
) -> Result<Option<B::Weights>> {
    shape.has_output_projection.then(|| load_affine(parameters, prefix, "o")).transpose()
}

impl<B: Backend> CrossAttention<B> {
    /// Loads the layer under `prefix`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        prefix: &str,
    ) -> Result<Self> {
        let norm_prefix = format!("{prefix}_Wo");
        Ok(CrossAttention {
            connection: SublayerConnection::load(parameters, shape, &norm_prefix, &norm_prefix)?,
            queries: load_affine(parameters, prefix, "q")?,
            output: load_output_projection(parameters, shape, prefix)?,
            width: shape.attention_width(&shape.decoder),
        })
    }

    /// Loads the weights of keys and values of all layers under `prefixes`, side by side:
    /// k, v, k, v, ...
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load_kv_weights(
        parameters: &mut impl ParameterLoader<B>,
        prefixes: &[String],
    ) -> Result<B::Weights> {
        fn names(kind: char, prefixes: &[String]) -> Vec<String> {
            prefixes
                .iter()
                .flat_map(|prefix| ["k", "v"].map(|suffix| format!("{prefix}_{kind}{suffix}")))
                .collect::<Vec<String>>()
        }
        let (matrices, biases) = (names('W', prefixes), names('b', prefixes));
        let matrices: Vec<&str> = matrices.iter().map(String::as_str).collect();
        let biases: Vec<&str> = biases.iter().map(String::as_str).collect();
        parameters.weights(AffineNames { matrices: &matrices, biases: &biases })
    }

    /// Attends from the rows of `input`, `[rows, width]`, to their sources with `attend`, which
    /// receives the queries.
    ///
    /// # Errors
    /// If the backend or `attend` fails.
    pub fn forward(
        &self,
        backend: &mut B,
        input: &B::Tensor,
        attend: impl FnOnce(&mut B, ColumnSlice<'_, B::Tensor>) -> Result<B::Tensor>,
    ) -> Result<B::Tensor> {
        let own_norm = self.connection.preprocess(backend, input)?;
        let queries = backend.affine(
            own_norm.as_ref().unwrap_or(input),
            &self.queries,
            Epilogue::default(),
        )?;
        let attended = attend(backend, ColumnSlice::nth(&queries, 0, self.width))?;
        self.connection.finish(backend, attended, self.output.as_ref(), input)
    }
}
