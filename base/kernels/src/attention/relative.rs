//! Self-attention whose scores and values depend on the distance of positions: vectors added to
//! keys and values (Shaw et al. 2018), or numbers added to scores (T5).
//!
//! Queries are processed one at a time: the distance to a position differs between queries, and so
//! do the added terms. Therefore the queries of a sentence cannot share packed keys and values.
//! Keys and values are in a pool of rows, as in the KV cache. The caller gives distances as
//! classes.
//!
//! The loops are compiled for each instruction set. They fuse no products with sums, and the order
//! of sums does not depend on the width of registers, so all sets give the same bits.

use super::KvPool;
use crate::Cpu;
use crate::isa::{Isa, dispatch};

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
/// buffer to reuse. All instruction sets give the same bits.
///
/// # Panics
/// If widths differ, or a position or class is out of range.
pub fn attend_relative_row(
    cpu: Cpu,
    query: RelativeQuery<'_>,
    pool: KvPool<'_>,
    positions: &[u32],
    class: impl Fn(usize) -> usize,
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let RelativeQuery { heads, query: numbers, .. } = query;
    assert!(heads > 0 && numbers.len().is_multiple_of(heads) && out.len() == numbers.len());
    scratch.clear();
    scratch.resize(positions.len(), 0.0);
    dispatch!(cpu, attend_heads(query, pool, positions, &class, out, &mut scratch[..]));
}

/// Computes [`attend_relative_row`]; `weights` has a number for each position.
#[inline(always)]
fn attend_heads<I: Isa>(
    isa: I,
    query: RelativeQuery<'_>,
    pool: KvPool<'_>,
    positions: &[u32],
    class: &impl Fn(usize) -> usize,
    out: &mut [f32],
    weights: &mut [f32],
) {
    let RelativeQuery { heads, scale, query, terms } = query;
    let width = query.len() / heads;
    for head in 0..heads {
        let columns = head * width..(head + 1) * width;
        let head_query = &query[columns.clone()];
        let mut max = f32::NEG_INFINITY;
        for i in 0..positions.len() {
            let key = &pool.keys.row(positions[i] as usize)[columns.clone()];
            let product = dot(isa, head_query, key);
            let score = match terms {
                RelativeTerms::Vectors { keys, .. } => {
                    let vector = &keys[class(i) * width..][..width];
                    scale * (product + dot(isa, head_query, vector))
                }
                RelativeTerms::Biases(biases) => scale * product + biases[class(i) * heads + head],
            };
            weights[i] = score;
            max = max.max(score);
        }
        let mut sum = 0.0;
        for i in 0..positions.len() {
            weights[i] = (weights[i] - max).exp();
            sum += weights[i];
        }
        let out = &mut out[columns.clone()];
        out.fill(0.0);
        for i in 0..positions.len() {
            let weight = weights[i] / sum;
            add_scaled(isa, weight, &pool.values.row(positions[i] as usize)[columns.clone()], out);
            if let RelativeTerms::Vectors { values, .. } = terms {
                add_scaled(isa, weight, &values[class(i) * width..][..width], out);
            }
        }
    }
}

/// Adds `weight * row` to `sums`, with a rounding after each step.
#[inline(always)]
fn add_scaled<I: Isa>(_: I, weight: f32, row: &[f32], sums: &mut [f32]) {
    let row = &row[..sums.len()];
    for column in 0..sums.len() {
        sums[column] += weight * row[column];
    }
}

/// The number of sums of a dot product.
const SUMS: usize = 8;

/// Returns the dot product, computed as eight sums that compilers keep in one vector register.
#[inline(always)]
fn dot<I: Isa>(_: I, a: &[f32], b: &[f32]) -> f32 {
    let b = &b[..a.len()];
    let whole = a.len() - a.len() % SUMS;
    let mut sums = [0.0f32; SUMS];
    let mut first = 0;
    while first < whole {
        let (a, b) = (&a[first..first + SUMS], &b[first..first + SUMS]);
        for lane in 0..SUMS {
            sums[lane] += a[lane] * b[lane];
        }
        first += SUMS;
    }
    // Negative zero is the sum of nothing.
    let (mut rest, mut total) = (-0.0, -0.0);
    for column in whole..a.len() {
        rest += a[column] * b[column];
    }
    for lane in 0..SUMS {
        total += sums[lane];
    }
    total + rest
}

#[cfg(test)]
mod tests {
    use super::super::plain::attend_relative;
    use super::*;
    use crate::MatRef;
    use crate::testing::{TestRng, assert_close};

    /// Compares with the formula in f64, and the bits on all instruction sets with each other.
    #[test]
    fn all_instruction_sets_give_the_bits_of_one_and_the_numbers_of_the_formula() {
        const CLASSES: usize = 5;
        let mut numbers = TestRng::new(31);
        for (heads, width, positions) in
            [(1, 5, 1), (2, 8, 7), (3, 24, 33), (4, 16, 16), (1, 67, 9)]
        {
            let columns = heads * width;
            let query = numbers.floats(columns, 1.0);
            let [keys, values] = [0; 2].map(|_| numbers.floats(positions * columns, 1.0));
            let [key_table, value_table] = [0; 2].map(|_| numbers.floats(CLASSES * width, 1.0));
            let biases = numbers.floats(CLASSES * heads, 1.0);
            let class = |position: usize| position * 3 % CLASSES;
            let all: Vec<u32> = (0..positions as u32).collect();
            let vectors = RelativeTerms::Vectors { keys: &key_table, values: &value_table };
            for terms in [vectors, RelativeTerms::Biases(&biases)] {
                let outputs = Cpu::all().into_iter().map(|cpu| {
                    let mut out = vec![f32::NAN; columns];
                    let scale = (width as f32).sqrt().recip();
                    attend_relative_row(
                        cpu,
                        RelativeQuery { heads, scale, query: &query, terms },
                        KvPool {
                            keys: MatRef::new(&keys, positions, columns),
                            values: MatRef::new(&values, positions, columns),
                        },
                        &all,
                        class,
                        &mut out,
                        &mut vec![7.0; 3],
                    );
                    out
                });
                let outputs: Vec<Vec<f32>> = outputs.collect();
                let [wide_query, keys, values] = [&query, &keys, &values]
                    .map(|numbers| -> Vec<f64> { numbers.iter().map(|&x| x.into()).collect() });
                let pool = [&keys, &values].map(|rows| MatRef::new(rows, positions, columns));
                let expected = attend_relative(heads, &wide_query, pool, positions, class, terms);
                assert_close(&outputs[0], &expected, 1e-5, "contexts");
                let bits = |out: &[f32]| out.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
                for out in &outputs {
                    assert_eq!(bits(out), bits(&outputs[0]), "{heads} heads of {width}");
                }
            }
        }
    }
}
