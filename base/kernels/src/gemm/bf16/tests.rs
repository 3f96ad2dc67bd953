//! Products in bf16 compared with sums in f64 of the rounded operands, on every instruction set.

use super::*;
use crate::activation::Activation;
use crate::pack::{UnpackedWeights, WeightsF32};
use crate::testing::{TestRng, all_cpus, assert_close, report_skip};

/// Returns the nearest bf16 as an f64, by rounding to units of its last bit.
fn rounded(number: f32) -> f64 {
    if number.is_subnormal() {
        return 0.0;
    }
    let exponent = f64::from(number).abs().log2().floor().max(-126.0);
    let unit = (exponent - 7.0).exp2();
    let nearest = (f64::from(number) / unit).round_ties_even() * unit;
    if number == 0.0 { 0.0 } else { nearest }
}

/// Returns instruction sets that differ in products of bf16: plain arithmetic, vectors, and tiles,
/// which are emulated if the CPU does not have them.
fn cpus() -> Vec<Cpu> {
    let cpus: Vec<Cpu> = all_cpus()
        .into_iter()
        .filter(|cpu| cpu.multiplies_bf16() || *cpu == Cpu::plain())
        .collect();
    if cpus.len() == 1 {
        report_skip("instructions for bf16");
    }
    cpus
}

fn as_floats(lines: &[Line]) -> Vec<f32> {
    pair_cells(lines)
        .iter()
        .flat_map(|cell| [cell << 16, cell & 0xffff_0000].map(f32::from_bits))
        .collect()
}

#[test]
fn numbers_are_rounded_to_the_nearest_bf16() {
    let mut numbers = TestRng::new(5);
    let mut row: Vec<f32> = vec![
        0.0,
        -0.0,
        1.0,
        f32::MIN_POSITIVE,
        1e-40,
        -1e-42,
        3.389e38,
        1.003_906_2,
        1.011_718_8,
        -1.003_906_2,
        65_280.0,
    ];
    row.extend((0..997).map(|_| {
        let bits = numbers.next() as u32;
        let number = f32::from_bits(bits);
        if number.is_finite() { number } else { 1.5 }
    }));
    for cpu in cpus() {
        fn join<I: Isa>(isa: I, row: &[f32], to: &mut [Line]) {
            join_row(isa, row, to);
        }
        let mut lines = vec![Line::ZERO; row.len().div_ceil(32)];
        dispatch!(bf16 cpu, join(&row, &mut lines));
        let found = as_floats(&lines);
        assert!(found[row.len()..].iter().all(|&number| number == 0.0));
        for (&number, &found) in row.iter().zip(&found) {
            let expected = rounded(number);
            let expected = if expected > f64::from(f32::MAX) { f64::INFINITY } else { expected };
            let expected = if expected < f64::from(f32::MIN) { -f64::INFINITY } else { expected };
            assert_eq!(f64::from(found), expected, "{number:e} on {}", cpu.name());
        }
    }
}

#[test]
fn infinities_and_nan_stay() {
    for cpu in cpus() {
        fn join<I: Isa>(isa: I, row: &[f32], to: &mut [Line]) {
            join_row(isa, row, to);
        }
        let row = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::from_bits(0x7f80_0001), 2.0];
        let mut lines = [Line::ZERO];
        dispatch!(bf16 cpu, join(&row, &mut lines));
        let found = as_floats(&lines);
        assert_eq!(found[..2], row[..2]);
        assert!(found[2].is_nan() && found[3].is_nan());
        assert_eq!(found[4], 2.0);
    }
}

fn matrix(numbers: &mut TestRng, rows: usize, columns: usize) -> Vec<f32> {
    numbers.floats(rows * columns, 1.0)
}

#[test]
fn products_are_sums_of_rounded_numbers() {
    let mut numbers = TestRng::new(6);
    let mut scratch = Bf16Scratch::default();
    for (rows, depth, columns) in [
        (0, 3, 5),
        (1, 0, 17),
        (1, 1, 1),
        (3, 33, 16),
        (7, 64, 70),
        (13, 31, 33),
        (16, 1, 1),
        (25, 1024, 48),
        (33, 96, 150),
        (12, 1025, 40),
        (5, 2501, 19),
    ] {
        let values = matrix(&mut numbers, rows, depth + 3);
        let x = MatRef::new(&values, rows, depth + 3).column_range(2..depth + 2);
        let weights = matrix(&mut numbers, depth, columns);
        let weights = MatRef::new(&weights, depth, columns);
        let bias = numbers.floats(columns, 1.0);
        let before = matrix(&mut numbers, rows, columns);
        let mut expected = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let products = (0..depth)
                    .map(|step| rounded(x.row(row)[step]) * rounded(weights.row(step)[column]));
                let sum = products.sum::<f64>() + f64::from(bias[column]);
                expected.push((sum + f64::from(before[row * columns + column])).max(0.0));
            }
        }
        let mut packed = WeightsF32::default();
        packed.fill(&[UnpackedWeights::inputs_by_outputs(weights)]);
        for cpu in cpus() {
            let mut rounded = WeightsBf16::default();
            rounded.round(cpu, packed.view());
            let mut filled = WeightsBf16::default();
            filled.fill_rows(cpu, weights);
            for panel in 0..columns.div_ceil(LANES) {
                let [a, b] = [&rounded, &filled].map(|weights| weights.view().panels.panel(panel));
                assert!(a == b, "panel {panel} of {depth} x {columns} on {}", cpu.name());
            }
            for &tiling in Tiling::alternatives(cpu) {
                let epilogue = Epilogue {
                    bias: Some(&bias),
                    accumulate: true,
                    activation: Activation::Relu,
                    ..Epilogue::default()
                };
                let mut out = before.clone();
                let into = MatMut::new(&mut out, rows, columns);
                gemm_bf16(cpu, tiling, &mut scratch, x, rounded.view(), epilogue, into);
                let tolerance = 1e-6 + 2e-6 * (depth as f64).sqrt();
                assert_close(&out, &expected, tolerance, cpu.name());
            }
        }
    }
}

#[test]
fn transposed_products_add_the_gradients_of_weights() {
    let mut numbers = TestRng::new(7);
    let mut scratch = Bf16Scratch::default();
    for (rows, inputs, outputs) in
        [(0, 3, 5), (1, 1, 1), (1, 17, 33), (7, 6, 16), (90, 13, 64), (257, 12, 70), (1100, 31, 21)]
    {
        let x = matrix(&mut numbers, rows, inputs + 3);
        let dz = matrix(&mut numbers, rows, outputs + 2);
        let x = MatRef::new(&x, rows, inputs + 3).column_range(2..inputs + 2);
        let dz = MatRef::new(&dz, rows, outputs + 2).column_range(1..outputs + 1);
        let before = matrix(&mut numbers, inputs, outputs);
        let mut expected = Vec::new();
        for input in 0..inputs {
            for output in 0..outputs {
                let products =
                    (0..rows).map(|row| rounded(x.row(row)[input]) * rounded(dz.row(row)[output]));
                expected.push(f64::from(before[input * outputs + output]) + products.sum::<f64>());
            }
        }
        for cpu in cpus() {
            let mut out = before.clone();
            let into = MatMut::new(&mut out, inputs, outputs);
            gemm_bf16_transposed(cpu, &mut scratch, x, dz, into);
            let tolerance = 4e-6 + 4e-6 * (rows as f64).sqrt();
            assert_close(&out, &expected, tolerance, cpu.name());
        }
    }
}

#[test]
fn a_result_with_another_number_of_rows_is_rejected() {
    let numbers = [1.0; 4 * 3];
    let mut packed = WeightsF32::default();
    packed.fill(&[UnpackedWeights::inputs_by_outputs(MatRef::new(&numbers, 4, 3))]);
    for cpu in cpus() {
        let mut weights = WeightsBf16::default();
        weights.round(cpu, packed.view());
        for out_rows in [19, 21] {
            let multiply = std::panic::AssertUnwindSafe(|| {
                let rows = [1.0; 20 * 4];
                let mut out = vec![0.0; out_rows * 3];
                let (rows, out) = (MatRef::new(&rows, 20, 4), MatMut::new(&mut out, out_rows, 3));
                let (tiling, epilogue) = (Tiling::default_for(cpu), Epilogue::default());
                let mut scratch = Bf16Scratch::default();
                gemm_bf16(cpu, tiling, &mut scratch, rows, weights.view(), epilogue, out);
            });
            assert!(std::panic::catch_unwind(multiply).is_err(), "{out_rows} on {}", cpu.name());
        }
    }
}
