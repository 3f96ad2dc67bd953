//! Tests that values that are not finite give NaN, and that others are rounded to the nearest
//! integer.

use super::*;
use crate::activation::Activation;
use crate::gemm::{Epilogue, PreparedI8, Tiling, gemm_i8};
use crate::pack::{UnpackedWeights, WeightsI8, WeightsI16};
use crate::testing::TestRng;

/// Tries several positions in a row, every clip range, and the products of i8.
#[test]
fn a_value_that_is_not_finite_makes_its_row_nan() {
    let columns = 37;
    let ones = vec![0.5; columns * 20];
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&ones, columns, 20));
    let (bytes, pairs) =
        (WeightsI8::quantize(source).unwrap(), WeightsI16::quantize(source).unwrap());
    for cpu in Cpu::all() {
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in [0, 1, 15, 16, 31, 32, 36] {
                let mut x = vec![0.25; 2 * columns];
                x[columns + at] = odd;
                let rows = MatRef::new(&x, 2, columns);
                let known = [0.25, odd.abs()];
                for span in
                    [ClipRange::PerRow, ClipRange::Precomputed(&known), ClipRange::Fixed(1.0)]
                {
                    let (mut values, mut scales) = (vec![0; 2 * columns], [0.0; 2]);
                    let into = MatMut::new(&mut values, 2, columns);
                    quantize_i8(cpu, rows, span, into, &mut scales);
                    assert!(!scales[0].is_nan() && scales[1].is_nan(), "{odd} at {at}");
                    for activation in [Activation::None, Activation::Relu, Activation::Tanh] {
                        let mut largest = [0.0; 2];
                        let (mut out, mut prepared) = (vec![0.0; 40], PreparedI8::default());
                        let epilogue = Epilogue {
                            activation,
                            absmax: Some(&mut largest),
                            ..Epilogue::default()
                        };
                        let values = QuantizedI8 {
                            values: MatRef::new(&values, 2, columns),
                            scales: &scales,
                        };
                        let (tiling, to) = (Tiling::default_for(cpu), MatMut::new(&mut out, 2, 20));
                        prepared.prepare(cpu, tiling, values);
                        gemm_i8(&prepared, bytes.view(), epilogue, to);
                        assert!(out[..20].iter().all(|x| x.is_finite()));
                        assert!(out[20..].iter().all(|x| x.is_nan()), "{activation:?}");
                        assert!(largest[0].is_finite() && largest[1].is_nan());
                    }
                }
                let (mut values, mut scales) = (vec![0; 2 * columns], [0.0; 2]);
                let into = MatMut::new(&mut values, 2, columns);
                quantize_i16(cpu, rows, &pairs.view(), into, &mut scales);
                assert!(!scales[0].is_nan() && scales[1].is_nan(), "{odd} at {at}");
            }
        }
    }
}

#[test]
fn rows_are_quantized_to_the_nearest_multiple_of_their_scale() {
    let mut numbers = TestRng::new(14);
    for cpu in Cpu::all() {
        let (rows, columns) = (3, 45);
        let mut x = numbers.floats(rows * columns, 4.0);
        x[..columns].fill(0.0);
        let (mut values, mut scales) = (vec![1; rows * columns], vec![0.0; rows]);
        let into = MatMut::new(&mut values, rows, columns);
        quantize_i8(cpu, MatRef::new(&x, rows, columns), ClipRange::PerRow, into, &mut scales);
        assert!(values[..columns].iter().all(|&value| value == 0) && scales[0] == 0.0);
        for (row, scale) in scales.into_iter().enumerate().skip(1) {
            let part = row * columns..(row + 1) * columns;
            let largest = x[part.clone()].iter().fold(0f32, |most, x| most.max(x.abs()));
            assert_eq!(scale, largest / 127.0);
            for (x, &value) in x[part.clone()].iter().zip(&values[part]) {
                assert!((x - f32::from(value) * scale).abs() <= 0.501 * scale);
            }
        }
        // Clipped at a fixed magnitude; nothing exceeds -127..=127.
        let odd = [10.0, -10.0, 0.5, 1e30, -1e30, f32::MIN_POSITIVE];
        let (mut values, mut scales) = ([0; 6], [0.0]);
        let into = MatMut::new(&mut values, 1, 6);
        quantize_i8(cpu, MatRef::new(&odd, 1, 6), ClipRange::Fixed(1.0), into, &mut scales);
        assert_eq!((values, scales), ([127, -127, 64, 127, -127, 0], [1.0 / 127.0]));
    }
}
