//! Gradient dropping (`docs/spec/training.md` A.8): the split of a gradient into pushed and
//! remaining numbers.

use std::ops::Range;

use crate::Real;

/// The maximum number of samples for a threshold.
const MAX_SAMPLE: usize = 100_000;

/// The numbers that are pushed, with their indices in the flat vector, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseGradient<R> {
    /// The indices.
    pub indices: Vec<u32>,
    /// The numbers.
    pub values: Vec<R>,
}

impl<R: Real> SparseGradient<R> {
    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }

    /// Returns the positions of the numbers whose indices are in `range`.
    pub fn places(&self, range: &Range<usize>) -> Range<usize> {
        let [start, end] = [range.start, range.end]
            .map(|limit| self.indices.partition_point(|&index| (index as usize) < limit));
        start..end
    }
}

/// Estimates, from a sample, the magnitude above which numbers are pushed. About the share `rate`
/// of all numbers is not above it.
pub fn threshold<R: Real>(numbers: &[R], rate: f64) -> R {
    let count = numbers.len().min(MAX_SAMPLE);
    if count == 0 {
        return R::ZERO;
    }
    let step = numbers.len() / count;
    let mut sample: Vec<R> = (0..count).map(|k| numbers[k * step].abs()).collect();
    let place = ((count as f64 * rate) as usize).saturating_sub(1).min(count - 1);
    // NaN counts as larger than any number, so that it is pushed and detected.
    *sample
        .select_nth_unstable_by(place, |a: &R, b: &R| {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        })
        .1
}

/// Splits the candidates of one scope (`gradient` plus the residual of earlier pushes) into numbers
/// to push, which are appended to `sent`, and the new residual. `rate` is the share of numbers that
/// is not pushed. `offset` is the index of the first number in the flat vector. With momentum,
/// `velocity`, the decaying sum of gradients, replaces the gradient.
pub fn drop_gradient<R: Real>(
    gradient: &[R],
    residual: &mut [R],
    mut velocity: Option<(&mut [R], R)>,
    rate: f64,
    offset: usize,
    sent: &mut SparseGradient<R>,
) {
    for (index, (residual, &g)) in residual.iter_mut().zip(gradient).enumerate() {
        let g = match &mut velocity {
            Some((velocity, momentum)) => {
                velocity[index] = *momentum * velocity[index] + g;
                velocity[index]
            }
            None => g,
        };
        *residual += g;
    }
    let limit = threshold(residual, rate);
    for (index, residual) in residual.iter_mut().enumerate() {
        // NaN is pushed too.
        if residual.abs() > limit || residual.is_nan() {
            sent.indices.push((offset + index) as u32);
            sent.values.push(*residual);
            *residual = R::ZERO;
            if let Some((velocity, _)) = &mut velocity {
                velocity[index] = R::ZERO;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every number is either pushed or in the residual, to the bit.
        #[test]
        fn nothing_is_lost(
            pairs in prop::collection::vec((-1e3f32..1e3, -1e3f32..1e3), 0..300),
            rate in 0.0f64..1.0,
        ) {
            let (gradient, before): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let (mut residual, mut sent) = (before.clone(), SparseGradient::default());
            drop_gradient(&gradient, &mut residual, None, rate, 7, &mut sent);
            let mut found = residual.clone();
            for (&index, &value) in sent.indices.iter().zip(&sent.values) {
                prop_assert_eq!(residual[index as usize - 7].to_bits(), 0);
                found[index as usize - 7] = value;
            }
            for (found, (g, r)) in found.iter().zip(gradient.iter().zip(&before)) {
                prop_assert_eq!(found.to_bits(), (r + g).to_bits());
            }
            prop_assert!(sent.indices.is_sorted());
        }
    }

    #[test]
    fn the_largest_are_pushed() {
        let gradient: Vec<f32> =
            (0..100).map(|i| if i % 2 == 0 { i as f32 } else { -i as f32 }).collect();
        let (mut residual, mut sent) = (vec![0.0; 100], SparseGradient::default());
        drop_gradient(&gradient, &mut residual, None, 0.99, 0, &mut sent);
        assert_eq!((&sent.indices[..], &sent.values[..]), (&[99][..], &[-99.0][..]));
        assert_eq!(sent.places(&(50..99)), 0..0);
        assert_eq!(sent.places(&(99..100)), 0..1);
    }

    /// A number in the residual keeps its momentum; the momentum of a pushed number is reset.
    #[test]
    fn momentum_is_corrected() {
        let (mut residual, mut velocity) = (vec![0.0f64; 2], vec![0.0; 2]);
        let mut push = |gradient: &[f64]| {
            let mut sent = SparseGradient::default();
            let momentum = Some((&mut velocity[..], 0.5));
            drop_gradient(gradient, &mut residual, momentum, 0.5, 0, &mut sent);
            (sent.indices, sent.values)
        };
        assert_eq!(push(&[1.0, 4.0]), (vec![1], vec![4.0]));
        // The first number is 1 + (0.5 * 1 + 2). The residual of the second is only its gradient.
        assert_eq!(push(&[2.0, 1.0]), (vec![0], vec![3.5]));
    }
}
