//! Norms compared with their formulas in f64.

use super::*;
use crate::quantize::{ClipRange, quantize_i8};
use crate::testing::{TestRng, assert_close};

#[test]
fn norms_match_their_formulas() {
    let mut numbers = TestRng::new(13);
    for cpu in Cpu::all() {
        for (rows, columns) in [(1, 1), (2, 16), (3, 37), (4, 256)] {
            let x = numbers.floats(rows * columns, 2.0);
            let residual = numbers.floats(rows * columns, 2.0);
            let scale = numbers.floats(columns, 1.5);
            let bias = numbers.floats(columns, 1.0);
            for kind in [NormKind::Layer, NormKind::Rms] {
                let norm = Norm { kind, scale: &scale, bias: Some(&bias), epsilon: 1e-3 };
                let mut expected = Vec::new();
                for row in 0..rows {
                    let at = |c: usize| {
                        f64::from(x[row * columns + c]) + f64::from(residual[row * columns + c])
                    };
                    let n = columns as f64;
                    let mean = match kind {
                        NormKind::Layer => (0..columns).map(at).sum::<f64>() / n,
                        NormKind::Rms => 0.0,
                    };
                    let variance = (0..columns).map(|c| (at(c) - mean).powi(2)).sum::<f64>() / n;
                    expected.extend((0..columns).map(|c| {
                        (at(c) - mean) / (variance + 1e-3).sqrt() * f64::from(scale[c])
                            + f64::from(bias[c])
                    }));
                }
                let other = Some(MatRef::new(&residual, rows, columns));
                let mut in_place = x.clone();
                normalize_in_place(cpu, norm, MatMut::new(&mut in_place, rows, columns), other);
                assert_close(&in_place, &expected, 2e-5, cpu.name());
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
