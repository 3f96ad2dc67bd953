//! Attention and its gradients: that of transformers by heads, and that of recurrent
//! decoders.

use std::ops::Range;

use miriam_kernels::{MatMut, MatRef};

use super::{add_scaled, dot, softmax};
use crate::Real;

/// Where the gradients of an attention are added.
pub struct AttentionGradients<'a, R> {
    /// Of the queries.
    pub queries: MatMut<'a, R>,
    /// Of the keys.
    pub keys: MatMut<'a, R>,
    /// Of the values.
    pub values: MatMut<'a, R>,
}

/// The columns of a head.
fn columns_of(head: usize, width: usize) -> Range<usize> {
    head * width..(head + 1) * width
}

#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub(super) fn attend<R: Real>(
    heads: usize,
    is_causal: bool,
    queries: MatRef<'_, R>,
    keys: MatRef<'_, R>,
    values: MatRef<'_, R>,
    mask: Option<&[R]>,
    probabilities: &mut [R],
    mut out: MatMut<'_, R>,
) {
    let (count, positions) = (queries.rows(), keys.rows());
    let [key_width, value_width] = [queries.columns() / heads, values.columns() / heads];
    let scale = R::of(key_width as f64).sqrt().recip();
    for head in 0..heads {
        let (of_key, of_value) = (columns_of(head, key_width), columns_of(head, value_width));
        for query in 0..count {
            let row = (head * count + query) * positions..(head * count + query + 1) * positions;
            let weights = &mut probabilities[row.clone()];
            let visible = if is_causal { positions - count + query + 1 } else { positions };
            let (seen, hidden) = weights.split_at_mut(visible);
            for (position, score) in seen.iter_mut().enumerate() {
                let key = &keys.row(position)[of_key.clone()];
                *score = scale * dot(&queries.row(query)[of_key.clone()], key);
            }
            softmax(seen);
            hidden.fill(R::ZERO);
            let sum = &mut out.row(query)[of_value.clone()];
            sum.fill(R::ZERO);
            for (position, &weight) in weights.iter().enumerate() {
                let kept = mask.map_or(R::ONE, |mask| mask[row.start + position]);
                add_scaled(weight * kept, &values.row(position)[of_value.clone()], sum);
            }
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub(super) fn attend_gradient<R: Real>(
    heads: usize,
    queries: MatRef<'_, R>,
    keys: MatRef<'_, R>,
    values: MatRef<'_, R>,
    mask: Option<&[R]>,
    probabilities: &[R],
    extra: Option<&[R]>,
    gradient: MatRef<'_, R>,
    mut into: AttentionGradients<'_, R>,
) {
    let (count, positions) = (queries.rows(), keys.rows());
    let [key_width, value_width] = [queries.columns() / heads, values.columns() / heads];
    let scale = R::of(key_width as f64).sqrt().recip();
    for head in 0..heads {
        let (of_key, of_value) = (columns_of(head, key_width), columns_of(head, value_width));
        for query in 0..count {
            let first = (head * count + query) * positions;
            let weights = &probabilities[first..first + positions];
            let dy = &gradient.row(query)[of_value.clone()];
            let kept = |position| mask.map_or(R::ONE, |mask| mask[first + position]);
            let mut d_weights: Vec<R> = (0..positions)
                .map(|position| dot(dy, &values.row(position)[of_value.clone()]) * kept(position))
                .collect();
            if let Some(extra) = extra.filter(|_| head == 0) {
                add_scaled(R::ONE, &extra[query * positions..][..positions], &mut d_weights);
            }
            let sum = dot(&d_weights, weights);
            for position in 0..positions {
                let weight = weights[position];
                let of_value = &mut into.values.row(position)[of_value.clone()];
                add_scaled(weight * kept(position), dy, of_value);
                let d_score = scale * weight * (d_weights[position] - sum);
                let key = &keys.row(position)[of_key.clone()];
                add_scaled(d_score, key, &mut into.queries.row(query)[of_key.clone()]);
                let query = &queries.row(query)[of_key.clone()];
                add_scaled(d_score, query, &mut into.keys.row(position)[of_key.clone()]);
            }
        }
    }
}

/// The attention of consecutive queries of a recurrent decoder to the positions of one
/// sentence: softmax of `vector . tanh(key + query)`, or of `key . query` without a vector.
#[derive(Clone, Copy, Debug)]
pub struct AdditiveAttention<'a, R> {
    /// The vector of additive scores.
    pub vector: Option<&'a [R]>,
    /// `[queries, width]`.
    pub queries: MatRef<'a, R>,
    /// `[positions, width]`.
    pub keys: MatRef<'a, R>,
    /// `[positions, value width]`.
    pub values: MatRef<'a, R>,
}

impl<R: Real> AdditiveAttention<'_, R> {
    fn score(&self, query: usize, position: usize) -> R {
        let (query, key) = (self.queries.row(query), self.keys.row(position));
        match self.vector {
            None => dot(query, key),
            Some(vector) => {
                let terms = vector.iter().zip(query).zip(key);
                terms.map(|((&v, &q), &k)| v * (k + q).tanh()).sum()
            }
        }
    }
}

pub(super) fn attend_annotations<R: Real>(
    attention: AdditiveAttention<'_, R>,
    probabilities: &mut [R],
    mut out: MatMut<'_, R>,
) {
    let positions = attention.keys.rows();
    for query in 0..attention.queries.rows() {
        let weights = &mut probabilities[query * positions..][..positions];
        for (position, score) in weights.iter_mut().enumerate() {
            *score = attention.score(query, position);
        }
        softmax(weights);
        let sum = out.row(query);
        sum.fill(R::ZERO);
        for (position, &weight) in weights.iter().enumerate() {
            add_scaled(weight, attention.values.row(position), sum);
        }
    }
}

pub(super) fn attend_annotations_gradient<R: Real>(
    attention: AdditiveAttention<'_, R>,
    probabilities: &[R],
    extra: Option<&[R]>,
    gradient: MatRef<'_, R>,
    mut into: AttentionGradients<'_, R>,
    vector_gradient: &mut [R],
) {
    let positions = attention.keys.rows();
    for index in 0..attention.queries.rows() {
        let weights = &probabilities[index * positions..][..positions];
        let dy = gradient.row(index);
        let of_value = |position| dot(dy, attention.values.row(position));
        let mut d_weights: Vec<R> = (0..positions).map(of_value).collect();
        if let Some(extra) = extra {
            add_scaled(R::ONE, &extra[index * positions..][..positions], &mut d_weights);
        }
        let sum = dot(&d_weights, weights);
        let query = attention.queries.row(index);
        for position in 0..positions {
            add_scaled(weights[position], dy, into.values.row(position));
            let d_score = weights[position] * (d_weights[position] - sum);
            let key = attention.keys.row(position);
            match attention.vector {
                None => {
                    add_scaled(d_score, query, into.keys.row(position));
                    add_scaled(d_score, key, into.queries.row(index));
                }
                Some(vector) => {
                    for column in 0..vector.len() {
                        let t = (key[column] + query[column]).tanh();
                        vector_gradient[column] += d_score * t;
                        let u = d_score * vector[column] * (R::ONE - t * t);
                        into.keys.row(position)[column] += u;
                        into.queries.row(index)[column] += u;
                    }
                }
            }
        }
    }
}
