//! Marian's quantisation of parameters in training (`quantize-bits`, `docs/spec/training.md` C.3;
//! Aji and Heafield 2020): before the first update and after every update, parameters are rounded
//! to a few values per tensor. The rounding error of an update is added back before the next
//! rounding, so that small steps are not lost.

use std::ops::Range;

use crate::Real;
use crate::parameters::ParameterLayout;

/// The options by which parameters are quantised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizationOptions {
    /// The number of bits of a value, at least 2.
    pub bits: u32,
    /// The number of steps that fit the scale of a tensor to its values; 0 to use the largest
    /// magnitude.
    pub optimization_steps: usize,
    /// Whether levels are the scale times powers of two; otherwise they are evenly spaced.
    pub is_log_based: bool,
    /// Whether tensors of one row (biases and norms) are quantised too.
    pub quantizes_biases: bool,
}

impl QuantizationOptions {
    /// The maximum number of bits: the numbers of all levels are exact in f32.
    pub const MAX_BITS: u32 = 24;

    /// Quantises the tensors of `values`, a flat vector of `layout`. `residual` has the rounding
    /// errors of the previous call, or is empty; it gets those of this call.
    ///
    /// # Panics
    /// If the number of values differs from the layout's.
    pub fn quantize<R: Real>(
        &self,
        layout: &ParameterLayout,
        values: &mut [R],
        residual: &mut Vec<R>,
    ) {
        assert_eq!(values.len(), layout.len(), "one value per parameter");
        residual.resize(values.len(), R::ZERO);
        for parameter in layout.iter() {
            if parameter.shape[0] > 1 || self.quantizes_biases {
                self.quantize_tensor(values, residual, parameter.range());
            }
        }
    }

    fn quantize_tensor<R: Real>(&self, values: &mut [R], residual: &mut [R], range: Range<usize>) {
        let (values, residual) = (&mut values[range.clone()], &mut residual[range]);
        for (value, residual) in values.iter_mut().zip(&mut *residual) {
            *value += *residual;
            *residual = *value;
        }
        let scale = self.scale(values);
        if scale > R::ZERO {
            values.iter_mut().for_each(|value| *value = self.round(*value, scale));
        }
        for (residual, value) in residual.iter_mut().zip(values) {
            *residual -= *value;
        }
    }

    /// Returns the scale of a tensor: its largest magnitude, or the scale with which its rounded
    /// values fit its values best by least squares.
    fn scale<R: Real>(&self, values: &[R]) -> R {
        let mut scale = values.iter().fold(R::ZERO, |most, value| most.max(value.abs()));
        for _ in 0..self.optimization_steps {
            if scale <= R::ZERO {
                break;
            }
            let (mut products, mut squares) = (0.0, 0.0);
            for &value in values {
                let unit = (self.round(value, scale) / scale).as_f64();
                products += unit * value.as_f64();
                squares += unit * unit;
            }
            if squares > 0.0 {
                scale = R::of(products / squares);
            }
        }
        scale
    }

    fn round<R: Real>(&self, value: R, scale: R) -> R {
        let centers = R::of(f64::from((1u32 << (self.bits - 1)) - 1));
        if self.is_log_based {
            let unit = (value / scale).abs() * R::of(4.0 / 3.0);
            if unit == R::ZERO {
                return R::ZERO;
            }
            let power = unit.as_f64().log2().floor().clamp(-centers.as_f64(), centers.as_f64());
            let magnitude = scale * R::of(power.exp2());
            if value < R::ZERO { R::ZERO - magnitude } else { magnitude }
        } else {
            let steps = (value.clipped(scale) * (centers / scale)).as_f64().round();
            R::of(steps) / (centers / scale)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINEAR: QuantizationOptions = QuantizationOptions {
        bits: 3,
        optimization_steps: 0,
        is_log_based: false,
        quantizes_biases: true,
    };

    fn quantize(options: QuantizationOptions, values: &[f64], residual: &mut [f64]) -> Vec<f64> {
        let mut values = values.to_vec();
        let range = 0..values.len();
        options.quantize_tensor(&mut values, residual, range);
        values
    }

    /// With three bits, levels are thirds of the largest magnitude; halves are rounded away from 0.
    #[test]
    fn linear_levels_by_hand() {
        let mut residual = [0.0; 5];
        let found = quantize(LINEAR, &[3.0, -2.4, 0.4, 0.5, -1.6], &mut residual);
        assert_eq!(found, [3.0, -2.0, 0.0, 1.0, -2.0]);
        for (found, expected) in residual.iter().zip([0.0, -0.4, 0.4, -0.5, 0.4]) {
            assert!((found - expected).abs() < 1e-12, "{residual:?}");
        }
        // The rounding error is added back: 0.4 + 0.4 is nearer to 1.
        let again = quantize(LINEAR, &[3.0, -2.0, 0.4, 1.0, -2.0], &mut residual);
        assert_eq!(again, [3.0, -2.0, 1.0, 1.0, -2.0]);
    }

    /// Levels are powers of two; a number between two of them is rounded up above three quarters of
    /// the larger.
    #[test]
    fn log_based_levels_by_hand() {
        let options = QuantizationOptions { is_log_based: true, ..LINEAR };
        let found = quantize(options, &[4.0, -3.1, 2.9, 0.8, 0.1, 0.0], &mut [0.0; 6]);
        assert_eq!(found, [4.0, -4.0, 2.0, 1.0, 0.5, 0.0]);
    }

    /// The fitted scale has a smaller squared error than the largest magnitude.
    #[test]
    fn a_fitted_scale_rounds_less() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i * i % 97) / 97.0 - 0.5).collect();
        let mut values = values;
        values[0] = 2.0;
        let error = |options: QuantizationOptions| -> f64 {
            let found = quantize(options, &values, &mut vec![0.0; values.len()]);
            found.iter().zip(&values).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let fitted = QuantizationOptions { optimization_steps: 5, ..LINEAR };
        assert!(error(fitted) < error(LINEAR), "{} {}", error(fitted), error(LINEAR));
    }
}
