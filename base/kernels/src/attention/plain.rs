//! Plain implementations of attention and its gradients, as references for tests: multi-head
//! attention of transformers, with or without relative positions, and attention of recurrent
//! decoders.

use std::ops::Range;

use super::{AttentionMask, RelativeTerms};
use crate::plain::{add_scaled, dot, softmax};
use crate::{MatMut, MatRef, Real};

/// The gradients of the inputs of attention. The functions of this module add to them.
pub struct AttentionGradients<'a, R> {
    /// The gradient of the queries.
    pub queries: MatMut<'a, R>,
    /// The gradient of the keys.
    pub keys: MatMut<'a, R>,
    /// The gradient of the values.
    pub values: MatMut<'a, R>,
}

/// Returns the columns of a head.
fn head_columns(head: usize, width: usize) -> Range<usize> {
    head * width..(head + 1) * width
}

/// Computes multi-head attention of consecutive queries to the positions of one sentence. Scores
/// are divided by the square root of a head's width. `queries` are `[queries, heads * key width]`,
/// `out` is `[queries, heads * value width]`. `probabilities`, `[heads * queries, positions]`,
/// become the attention weights; `mask`, of the same shape, is multiplied with them before values
/// are summed.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend<R: Real>(
    heads: usize,
    visible: AttentionMask,
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
        let (key_columns, value_columns) =
            (head_columns(head, key_width), head_columns(head, value_width));
        for query in 0..count {
            let row = (head * count + query) * positions..(head * count + query + 1) * positions;
            let weights = &mut probabilities[row.clone()];
            let visible = visible.visible(query, count, positions);
            let (seen, hidden) = weights.split_at_mut(visible);
            for (position, score) in seen.iter_mut().enumerate() {
                let key = &keys.row(position)[key_columns.clone()];
                *score = scale * dot(&queries.row(query)[key_columns.clone()], key);
            }
            softmax(seen);
            hidden.fill(R::ZERO);
            let sum = &mut out.row_mut(query)[value_columns.clone()];
            sum.fill(R::ZERO);
            for (position, &weight) in weights.iter().enumerate() {
                let kept = mask.map_or(R::ONE, |mask| mask[row.start + position]);
                add_scaled(weight * kept, &values.row(position)[value_columns.clone()], sum);
            }
        }
    }
}

/// Adds the gradients of [`attend`] to `into`. `extra`, `[queries, positions]`, is added to the
/// gradient of the probabilities of the first head.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn attend_gradient<R: Real>(
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
        let (key_columns, value_columns) =
            (head_columns(head, key_width), head_columns(head, value_width));
        for index in 0..count {
            let first = (head * count + index) * positions;
            let weights = &probabilities[first..first + positions];
            let dy = &gradient.row(index)[value_columns.clone()];
            let kept = |position| mask.map_or(R::ONE, |mask| mask[first + position]);
            let mut d_weights: Vec<R> = (0..positions)
                .map(|position| {
                    dot(dy, &values.row(position)[value_columns.clone()]) * kept(position)
                })
                .collect();
            if let Some(extra) = extra.filter(|_| head == 0) {
                add_scaled(R::ONE, &extra[index * positions..][..positions], &mut d_weights);
            }
            let sum = dot(&d_weights, weights);
            let query = &queries.row(index)[key_columns.clone()];
            for position in 0..positions {
                let weight = weights[position];
                let d_value = &mut into.values.row_mut(position)[value_columns.clone()];
                add_scaled(weight * kept(position), dy, d_value);
                let d_score = scale * weight * (d_weights[position] - sum);
                let key = &keys.row(position)[key_columns.clone()];
                add_scaled(d_score, key, &mut into.queries.row_mut(index)[key_columns.clone()]);
                add_scaled(d_score, query, &mut into.keys.row_mut(position)[key_columns.clone()]);
            }
        }
    }
}

/// The attention of consecutive queries of a recurrent decoder to the positions of one
/// sentence: softmax of `vector . tanh(key + query)`, or of `key . query` without a vector.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentAttention<'a, R> {
    /// The vector of additive scores.
    pub vector: Option<&'a [R]>,
    /// `[queries, width]`.
    pub queries: MatRef<'a, R>,
    /// `[positions, width]`.
    pub keys: MatRef<'a, R>,
    /// `[positions, value width]`.
    pub values: MatRef<'a, R>,
}

impl<R: Real> RecurrentAttention<'_, R> {
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

/// Computes the attention of a recurrent decoder, `[queries, value width]`; `probabilities`,
/// `[queries, positions]`, become the attention weights.
pub fn attend_recurrent<R: Real>(
    attention: RecurrentAttention<'_, R>,
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
        let sum = out.row_mut(query);
        sum.fill(R::ZERO);
        for (position, &weight) in weights.iter().enumerate() {
            add_scaled(weight, attention.values.row(position), sum);
        }
    }
}

/// Adds the gradients of the queries, keys and values of [`attend_recurrent`] to `into`, and the
/// gradient of the vector of additive scores to `vector_gradient`. `extra`, `[queries, positions]`,
/// is added to the gradient of the probabilities.
pub fn attend_recurrent_gradient<R: Real>(
    attention: RecurrentAttention<'_, R>,
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
        let mut d_weights: Vec<R> =
            (0..positions).map(|position| dot(dy, attention.values.row(position))).collect();
        if let Some(extra) = extra {
            add_scaled(R::ONE, &extra[index * positions..][..positions], &mut d_weights);
        }
        let sum = dot(&d_weights, weights);
        let query = attention.queries.row(index);
        for position in 0..positions {
            add_scaled(weights[position], dy, into.values.row_mut(position));
            let d_score = weights[position] * (d_weights[position] - sum);
            let key = attention.keys.row(position);
            match attention.vector {
                None => {
                    add_scaled(d_score, query, into.keys.row_mut(position));
                    add_scaled(d_score, key, into.queries.row_mut(index));
                }
                Some(vector) => {
                    for column in 0..vector.len() {
                        let t = (key[column] + query[column]).tanh();
                        vector_gradient[column] += d_score * t;
                        let u = d_score * vector[column] * (R::ONE - t * t);
                        into.keys.row_mut(position)[column] += u;
                        into.queries.row_mut(index)[column] += u;
                    }
                }
            }
        }
    }
}

/// Attends from one query, `[heads * width]`, to the first `visible` positions of a sentence.
/// `terms` are added for the distance to a position; `class` returns the class of that distance.
pub fn attend_relative<R: Real>(
    heads: usize,
    query: &[R],
    [keys, values]: [MatRef<'_, R>; 2],
    visible: usize,
    class: impl Fn(usize) -> usize,
    terms: RelativeTerms<'_>,
) -> Vec<R> {
    let width = query.len() / heads;
    let mut sums = vec![R::ZERO; query.len()];
    for head in 0..heads {
        let columns = head_columns(head, width);
        let query = &query[columns.clone()];
        // Returns a key or a value plus the vector of its distance.
        let with_distance = |row: &[R], table: Option<&[f32]>, class: usize| -> Vec<R> {
            let mut row = row[columns.clone()].to_vec();
            if let Some(table) = table {
                let vector = &table[class * width..][..width];
                row.iter_mut().zip(vector).for_each(|(x, &y)| *x += R::of(y.into()));
            }
            row
        };
        let (key_table, value_table, biases) = match terms {
            RelativeTerms::Vectors { keys, values } => (Some(keys), Some(values), None),
            RelativeTerms::Biases(biases) => (None, None, Some(biases)),
        };
        let scale = R::of(width as f64).sqrt().recip();
        let scores = (0..visible).map(|position| {
            let class = class(position);
            let bias = biases.map_or(R::ZERO, |biases| R::of(biases[class * heads + head].into()));
            scale * dot(query, &with_distance(keys.row(position), key_table, class)) + bias
        });
        let mut weights: Vec<R> = scores.collect();
        softmax(&mut weights);
        for (position, &weight) in weights.iter().enumerate() {
            let value = with_distance(values.row(position), value_table, class(position));
            add_scaled(weight, &value, &mut sums[columns.clone()]);
        }
    }
    sums
}
