//! Sums and products of rows by plain arithmetic, for the plain implementations of operators.

use crate::Real;

/// Computes `into += factor * row`.
pub fn add_scaled<R: Real>(factor: R, row: &[R], into: &mut [R]) {
    for (into, &x) in into.iter_mut().zip(row) {
        *into += factor * x;
    }
}

/// Returns the sum of the products of elements.
pub fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}

/// Replaces scores by their softmax.
pub fn softmax<R: Real>(scores: &mut [R]) {
    let max = scores.iter().copied().fold(R::neg_infinity(), R::max);
    scores.iter_mut().for_each(|score| *score = (*score - max).exp());
    let sum: R = scores.iter().copied().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// Returns the logarithm of the sum of the exponentials of scores.
pub fn log_sum_exp<R: Real>(scores: &[R]) -> R {
    let max = scores.iter().copied().fold(R::neg_infinity(), R::max);
    let sum: R = scores.iter().map(|&score| (score - max).exp()).sum();
    max + sum.ln()
}
