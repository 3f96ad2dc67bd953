//! The attention of a layer: its heads, and the terms of relative positions.

use super::{LayerVariant, Resolver};
use crate::architecture::PositionalEncodingKind;
use crate::{Error, Result};

/// The numbers of heads of an attention.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    pub queries: usize,
    /// The number of heads of keys, which values have too.
    pub keys: usize,
}

impl Resolver<'_> {
    /// Returns the numbers of heads of the attention `from`, of which `queries` are of queries.
    pub(super) fn heads(&self, side: &str, from: &str, queries: usize) -> Result<Heads> {
        let keys = match self.count(&format!("{from}/num_heads_kv"))? {
            Some(keys) => keys,
            None if self.count(&format!("{side}/multi_query_attention"))? > Some(0) => 1,
            None => queries,
        };
        Ok(Heads { queries, keys })
    }

    /// Takes the matrices of the attention `from`. If several heads of queries share a head of keys
    /// and values, each gets its own copy. If the file has its own scale of queries, the queries
    /// are multiplied by this scale and by the square root of a head's width, because attention
    /// divides the products by that root.
    pub(super) fn take_attention(
        &mut self,
        from: &str,
        to: &str,
        heads: Heads,
        is_self: bool,
    ) -> Result<()> {
        self.checkpoint.take(&format!("{from}/num_heads_kv"));
        let Heads { queries, keys } = heads;
        let name = format!("{from}/linear_0/weight");
        if keys == 0 || queries == 0 || !queries.is_multiple_of(keys) {
            let reason = format!("{queries} query heads are not a multiple of {keys} key heads");
            return Err(Error::mismatch(self.path, &name, reason));
        }
        let with_queries = self.take_linear(&format!("{from}/linear_0"))?;
        let rows = with_queries[0].shape().first().copied().unwrap_or(0);
        let heads_with_queries = if is_self { queries + 2 * keys } else { queries };
        let head_dim = rows / heads_with_queries;
        if head_dim == 0 || head_dim * heads_with_queries != rows {
            let reason = format!("{rows} rows cannot be divided into {heads_with_queries} heads");
            return Err(Error::mismatch(self.path, &name, reason));
        }
        let stored_dim = self.count(&format!("{from}/head_dim"))?;
        self.checkpoint.take(&format!("{from}/head_dim"));
        if let Some(stored) = stored_dim
            && stored != head_dim
        {
            let reason = format!("its heads have {head_dim} rows each, but head_dim is {stored}");
            return Err(Error::mismatch(self.path, &name, reason));
        }
        let queries_scale = self.number(&format!("{from}/queries_scale"))?;
        self.checkpoint.take(&format!("{from}/queries_scale"));
        let factor = queries_scale.map_or(1.0, |scale| scale * (head_dim as f32).sqrt());
        if !factor.is_finite() || factor == 0.0 {
            return Err(self.unsupported(format!("{from}: queries are multiplied by {factor}")));
        }
        let (with_keys, heads_with_keys, before_keys) = if is_self {
            (with_queries.clone(), heads_with_queries, queries)
        } else {
            (self.take_linear(&format!("{from}/linear_1"))?, 2 * keys, 0)
        };
        let rows = with_keys[0].shape().first().copied().unwrap_or(0);
        if rows != heads_with_keys * head_dim {
            let reason =
                format!("it has {rows} rows, expected {heads_with_keys} heads of {head_dim} rows");
            return Err(Error::mismatch(self.path, &format!("{from}/linear_1/weight"), reason));
        }
        for (part, source, skipped, count) in [
            ("q", &with_queries, 0, queries),
            ("k", &with_keys, before_keys, keys),
            ("v", &with_keys, before_keys + keys, keys),
        ] {
            for (tensor, letter) in source.iter().zip(["W", "b"]) {
                let mut rows = tensor.slice_rows(skipped * head_dim, count * head_dim);
                if count < queries {
                    rows = rows.and_then(|rows| rows.repeat_blocks(head_dim, queries / count));
                }
                if part == "q" && factor != 1.0 {
                    rows = rows.and_then(|rows| rows.scaled(factor));
                }
                let rows = rows.map_err(|reason| Error::mismatch(self.path, from, reason))?;
                let rows = if letter == "W" { rows.transposed() } else { rows };
                self.tensors.insert(format!("{to}_{letter}{part}"), rows);
            }
        }
        let output = if is_self { "linear_1" } else { "linear_2" };
        self.take_affine(&format!("{from}/{output}"), to, "o")
    }

    /// Takes the terms that distances add to the self-attention of a layer.
    pub(super) fn take_relative_positions(
        &mut self,
        from: &str,
        to: &str,
        side: &str,
        variant: &LayerVariant,
    ) -> Result<()> {
        match variant.relative {
            Some(PositionalEncodingKind::RelativeVectors { .. }) => {
                for (name, part) in [("keys", "Rk"), ("values", "Rv")] {
                    let table = self.take(&format!("{from}/relative_position_{name}"))?;
                    self.tensors.insert(format!("{to}_{part}"), table);
                }
            }
            Some(PositionalEncodingKind::RelativeBias(bias)) => {
                let distance = format!("{from}/relative_attention_max_distance");
                if let Some(max) = self.count(&distance)?
                    && max != bias.max_distance
                {
                    return Err(self.unsupported("layers differ in their largest distance"));
                }
                self.checkpoint.take(&distance);
                // Older files store biases for the first layer only; all layers use them.
                let table = self.checkpoint.take(&format!("{from}/relative_attention_bias"));
                let table =
                    table.or_else(|| self.tensors.get(&format!("{side}_l1_self_Rb")).cloned());
                self.tensors.insert(
                    format!("{to}_Rb"),
                    table.ok_or_else(|| {
                        Error::mismatch(self.path, from, "it has no biases of distances")
                    })?,
                );
            }
            _ => {}
        }
        Ok(())
    }
}
