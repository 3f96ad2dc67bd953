//! NumPy's mean of an array: sums in pairs of halves, and in eight lanes within a block, so that
//! the order of additions, and with it the last digits, are NumPy's.

use std::ops::{Add, Div};

/// The largest number of values that are summed in lanes.
const BLOCK: usize = 128;
const LANES: usize = 8;

/// A number of NumPy: f64 or f32.
pub(crate) trait NumpyFloat: Copy + Add<Output = Self> + Div<Output = Self> {
    /// Converts a count of values.
    fn from_count(count: usize) -> Self;
}

impl NumpyFloat for f64 {
    fn from_count(count: usize) -> Self {
        count as f64
    }
}

impl NumpyFloat for f32 {
    fn from_count(count: usize) -> Self {
        count as f32
    }
}

/// Returns the mean of `values`, as `numpy.mean` computes it. The mean of no values is 0.
pub(crate) fn mean<F: NumpyFloat>(values: &[F]) -> F {
    sum(values) / F::from_count(values.len().max(1))
}

fn sum<F: NumpyFloat>(values: &[F]) -> F {
    let add = |total: F, &value: &F| total + value;
    if values.len() < LANES {
        // NumPy begins with -0.0, which only a sum of negative zeros would show.
        return values.iter().fold(F::from_count(0), add);
    }
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (first, second) = values.split_at(half - half % LANES);
        return sum(first) + sum(second);
    }
    let mut rows = values.chunks_exact(LANES);
    let mut lanes: [F; LANES] = [values[0]; LANES];
    lanes.copy_from_slice(rows.next().expect("there are at least eight values"));
    for row in &mut rows {
        for (lane, &value) in lanes.iter_mut().zip(row) {
            *lane = *lane + value;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let total = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rows.remainder().iter().fold(total, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMPY_MEANS: [(usize, f64); 10] = [
        (1, 100.0),
        (7, 14.59808512008813),
        (8, 12.786510134085555),
        (9, 11.379763026245161),
        (127, 1.2456979938566834),
        (128, 1.237007644946345),
        (129, 1.2287169204708281),
        (1000, 0.7455263778729571),
        (1001, 0.7450523282547293),
        (10000, 0.742881028897625),
    ];
    const NUMPY_F32_MEANS: [(usize, f32); 10] = [
        (1, 100.0),
        (7, 14.598085),
        (8, 12.7865095),
        (9, 11.379763),
        (127, 1.245698),
        (128, 1.2370077),
        (129, 1.228717),
        (1000, 0.7455264),
        (1001, 0.74505234),
        (10000, 0.742881),
    ];

    /// The order of additions decides the last digits of the means. The expected means are from
    /// NumPy 2.
    #[test]
    fn means_are_those_of_numpy() {
        let values = |count: usize| -> Vec<f64> {
            (0..count).map(|i| 100.0 / (1.0 + (i * 7919 % 1009) as f64)).collect()
        };
        for (count, expected) in NUMPY_MEANS {
            assert_eq!(mean(&values(count)), expected, "{count}");
            let single: Vec<f32> = values(count).iter().map(|&value| value as f32).collect();
            let expected = NUMPY_F32_MEANS.iter().find(|(found, _)| *found == count).unwrap().1;
            assert_eq!(mean(&single), expected, "{count} of f32");
        }
        assert_eq!(mean::<f64>(&[]), 0.0);
    }
}
