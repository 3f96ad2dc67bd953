//! Self-attention whose scores and values depend on the distance of positions: vectors added to
//! keys and values (Shaw et al. 2018), or numbers added to scores (T5).
//!
//! Queries are processed one at a time: the distance to a position differs between queries, and so
//! do the added terms. Therefore the queries of a sentence cannot share packed keys and values.
//! Keys and values are in a pool of rows, as in the KV cache. The caller gives distances as
//! classes.

use super::KvPool;

/// The terms that are added for a class of distances.
#[derive(Clone, Copy, Debug)]
pub enum RelativeTerms<'a> {
    /// Vectors added to keys and values, `[classes, head_dim]` each.
    Vectors {
        /// Added to keys.
        keys: &'a [f32],
        /// Added to values.
        values: &'a [f32],
    },
    /// Numbers added to scaled scores, `[classes, heads]`.
    Biases(&'a [f32]),
}

/// A query of all heads.
#[derive(Clone, Copy, Debug)]
pub struct RelativeQuery<'a> {
    /// The number of heads.
    pub heads: usize,
    /// The factor of the dot products of query and keys.
    pub scale: f32,
    /// The query, `[heads * head_dim]`.
    pub query: &'a [f32],
    /// The terms that are added for distances.
    pub terms: RelativeTerms<'a>,
}

/// Attends from one query to the rows `positions` of the pool and writes the contexts to `out`,
/// `[heads * head_dim]`. Row `positions[i]` is at a distance of class `class(i)`. `scratch` is a
/// buffer to reuse.
///
/// # Panics
/// If widths differ, or a position or class is out of range.
pub fn attend_relative_row(
    query: RelativeQuery<'_>,
    pool: KvPool<'_>,
    positions: &[u32],
    class: impl Fn(usize) -> usize,
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let RelativeQuery { heads, scale, query, terms } = query;
    assert!(heads > 0 && query.len().is_multiple_of(heads) && out.len() == query.len());
    let width = query.len() / heads;
    scratch.clear();
    scratch.resize(positions.len(), 0.0);
    for head in 0..heads {
        let columns = head * width..(head + 1) * width;
        let head_query = &query[columns.clone()];
        let mut max = f32::NEG_INFINITY;
        for (i, (score, &row)) in scratch.iter_mut().zip(positions).enumerate() {
            let product = dot(head_query, &pool.keys.row(row as usize)[columns.clone()]);
            *score = match terms {
                RelativeTerms::Vectors { keys, .. } => {
                    let vector = &keys[class(i) * width..][..width];
                    scale * (product + dot(head_query, vector))
                }
                RelativeTerms::Biases(biases) => scale * product + biases[class(i) * heads + head],
            };
            max = max.max(*score);
        }
        let mut sum = 0.0;
        for score in scratch.iter_mut() {
            *score = (*score - max).exp();
            sum += *score;
        }
        let out = &mut out[columns.clone()];
        out.fill(0.0);
        for (i, (weight, &row)) in scratch.iter().zip(positions).enumerate() {
            let weight = weight / sum;
            let value = &pool.values.row(row as usize)[columns.clone()];
            out.iter_mut().zip(value).for_each(|(sum, x)| *sum += weight * x);
            if let RelativeTerms::Vectors { values, .. } = terms {
                let vector = &values[class(i) * width..][..width];
                out.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight * x);
            }
        }
    }
}

/// Returns the dot product, computed as eight sums that compilers keep in one vector register.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
