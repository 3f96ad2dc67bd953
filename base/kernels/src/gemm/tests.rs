//! Every GEMM kernel compared with loops over the unpacked numbers.

use super::*;
use crate::LANES;
use crate::pack::{
    ACCUMULATION_RUN, PackedI16, UnpackedWeights, WeightsF32, WeightsI8, WeightsI16,
};
use crate::quantize::{ClipRange, QuantizedI8, QuantizedI16, quantize_i8, quantize_i16};
use crate::testing::{TestRng, all_cpus, assert_close};

/// Rows, depth, columns: tiles of every size, tails of every kind, and empty matrices.
const SHAPES: [(usize, usize, usize); 15] = [
    (1, 1, 1),
    (1, 7, 16),
    (1, 64, 130),
    (2, 33, 47),
    (3, 5, 15),
    (4, 31, 64),
    (5, 12, 80),
    (6, 66, 33),
    (7, 129, 17),
    (12, 40, 100),
    (13, 2, 49),
    // Tiles of two sizes in several slabs.
    (67, 2100, 17),
    (0, 8, 8),
    (3, 8, 0),
    (3, 0, 8),
];

fn run_gemm_i8(
    cpu: Cpu,
    tiling: Tiling,
    a: &[i8],
    b: &[i8],
    shape: (usize, usize, usize),
) -> Vec<f32> {
    let (rows, depth, columns) = shape;
    let weights =
        WeightsI8::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(b, depth, columns)), |_| {
            1.0
        });
    let mut out = vec![f32::NAN; rows * columns];
    let scales = vec![1.0; rows];
    let mut prepared = PreparedI8::default();
    let values = QuantizedI8 { values: MatRef::new(a, rows, depth), scales: &scales };
    prepared.prepare(cpu, tiling, values);
    let into = MatMut::new(&mut out, rows, columns);
    gemm_i8(&prepared, weights.unwrap().view(), Epilogue::default(), into);
    out
}

/// Returns the product: sums that are exact in i64, each converted once to the nearest f32.
fn exact_product<A: Copy + Into<i64>>(a: &[A], b: &[A], shape: (usize, usize, usize)) -> Vec<f32> {
    let (rows, depth, columns) = shape;
    let mut out = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let products =
                (0..depth).map(|k| a[row * depth + k].into() * b[k * columns + column].into());
            out.push(products.sum::<i64>() as f32);
        }
    }
    out
}

fn bytes(numbers: &mut TestRng, count: usize, least: i64, most: i64) -> Vec<i8> {
    // Half of the numbers are extremes, so that saturating sums would saturate.
    (0..count)
        .map(|_| match numbers.next() % 4 {
            0 => least as i8,
            1 => most as i8,
            _ => numbers.integer(least, most) as i8,
        })
        .collect()
}

#[test]
fn i8_gemm_is_exact() {
    let mut numbers = TestRng::new(1);
    for cpu in all_cpus() {
        for shape in SHAPES {
            for least in [-127, 0] {
                let a = bytes(&mut numbers, shape.0 * shape.1, least, 127);
                let b = bytes(&mut numbers, shape.1 * shape.2, -128, 127);
                for &tiling in Tiling::alternatives_i8(cpu, 4) {
                    let found = run_gemm_i8(cpu, tiling, &a, &b, shape);
                    assert_eq!(found, exact_product(&a, &b, shape), "{} {shape:?}", cpu.name());
                }
            }
        }
    }
}

#[test]
fn extreme_bytes_do_not_saturate() {
    let shape = (5, 2048, 16);
    for cpu in all_cpus() {
        for (a, b) in [(127, 127), (-127, -128), (127, -128), (-127, 127)] {
            let a = vec![a; shape.0 * shape.1];
            let b = vec![b; shape.1 * shape.2];
            let found = run_gemm_i8(cpu, Tiling::default_i8(cpu, 8), &a, &b, shape);
            assert_eq!(found, exact_product(&a, &b, shape), "{}", cpu.name());
        }
    }
}

/// Returns the product of rows and weights of integers. The rows must be within the headroom of the
/// weights.
fn run_gemm_i16(
    cpu: Cpu,
    tiling: Tiling,
    a: MatRef<i16>,
    scales: &[f32],
    weights: &WeightsI16,
) -> Vec<f32> {
    let (rows, columns) = (a.rows(), weights.view().columns());
    let mut out = vec![f32::NAN; rows * columns];
    let mut prepared = PreparedI16::default();
    let headroom = weights.view().headroom();
    prepared.prepare(cpu, tiling, QuantizedI16 { values: a, scales, headroom });
    let into = MatMut::new(&mut out, rows, columns);
    gemm_i16(&prepared, weights.view(), Epilogue::default(), into);
    out
}

#[test]
fn i16_gemm_is_exact_where_floats_hold_the_sums() {
    let mut numbers = TestRng::new(2);
    for cpu in Cpu::all() {
        for shape in SHAPES {
            let (rows, depth, columns) = shape;
            let mut some = |count: usize, most: i64| -> Vec<i16> {
                (0..count).map(|_| numbers.integer(-most, most) as i16).collect()
            };
            let (a, b) = (some(rows * depth, 400), some(depth * columns, 300));
            let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
            let weights = WeightsI16::pack(source, |_| 1.0).unwrap();
            let scales = vec![1.0; rows];
            for &tiling in Tiling::alternatives(cpu) {
                let found =
                    run_gemm_i16(cpu, tiling, MatRef::new(&a, rows, depth), &scales, &weights);
                assert_eq!(found, exact_product(&a, &b, shape), "{} {shape:?}", cpu.name());
            }
        }
    }
}

/// Rows that exhaust the bound: parallel to a column, of equal numbers, with a single large number,
/// with a large one in each run, of alternating signs. A sum that wrapped would be wrong by 2^32
/// units; no sum may be wrong by more than rounding errors.
#[test]
fn no_row_overflows_i16_accumulators() {
    type Make = fn(usize) -> f32;
    let kinds: [Make; 8] = [
        |_| 1.0,
        |_| -1.0,
        |at| if at % 2 == 0 { 1.0 } else { -1.0 },
        |at| if at == 3 { 1e6 } else { 1.0 },
        |at| if at % ACCUMULATION_RUN == 0 { 1.0 } else { 0.004 },
        |at| if at < ACCUMULATION_RUN { 0.01 } else { 1.0 },
        |at| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0,
        |at| 1.0 + (at % 7) as f32 * 0.1,
    ];
    let kind = |make: Make, scale: f32, depth| (0..depth).map(move |at| make(at) * scale);
    let mut numbers = TestRng::new(9);
    for depth in [1, 2, 63, 64, 65, 127, 128, 512, 1001, 2048] {
        // Columns: each kind at scales of all sizes, some of them negative, and four random
        // columns.
        let scales = [1.0, -1e-3, 1e4, -1e-20, 1e20];
        let columns: Vec<f32> = kinds
            .iter()
            .flat_map(|make| scales.iter().flat_map(|scale| kind(*make, *scale, depth)))
            .chain(numbers.floats(4 * depth, 1.0))
            .collect();
        let width = columns.len() / depth;
        let source = UnpackedWeights::outputs_by_inputs(MatRef::new(&columns, width, depth));
        let weights = WeightsI16::quantize(source).unwrap();
        for headroom in [weights.view().headroom(), 8191] {
            // As in a file of weights with larger norms.
            let packed = PackedI16 { norm: i32::MAX as u32 / headroom, ..weights.view() };
            let a: Vec<f32> = kinds
                .iter()
                .flat_map(|make| kind(*make, 0.3, depth))
                .chain(columns.iter().copied())
                .collect();
            let rows = a.len() / depth;
            for cpu in Cpu::all() {
                let (mut values, mut units) = (vec![0; rows * depth], vec![0.0; rows]);
                let into = MatMut::new(&mut values, rows, depth);
                let a = MatRef::new(&a, rows, depth);
                let values = quantize_i16(cpu, a, &packed, into, &mut units).values;
                for row in 0..rows {
                    for run in values.row(row).chunks(ACCUMULATION_RUN) {
                        let squares: u64 =
                            run.iter().map(|&x| u64::from(x.unsigned_abs()).pow(2)).sum();
                        assert!(
                            squares <= u64::from(packed.headroom()).pow(2),
                            "row {row} of {depth}"
                        );
                    }
                }
                let ones = vec![1.0; rows];
                let found = run_gemm_i16(cpu, Tiling::default_for(cpu), values, &ones, &weights);
                for (at, found) in found.into_iter().enumerate() {
                    let (row, column) = (at / width, at % width);
                    let (mut integers, scale) = (vec![0.0; depth], weights.parts().1[column]);
                    weights.view().column(column, &mut integers);
                    let row_values = values.row(row).iter();
                    let exact: f64 =
                        row_values.zip(&integers).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                    let most = 1e-6 * f64::from(i32::MAX) * f64::from(scale) * depth as f64;
                    let error = (f64::from(found) - exact).abs();
                    assert!(error <= most, "{}: {row} {column}: {found}, {exact}", cpu.name());
                }
            }
        }
    }
}

fn run_gemm_f32(cpu: Cpu, tiling: Tiling, a: MatRef<f32>, b: MatRef<f32>) -> Vec<f32> {
    let weights = WeightsF32::pack(UnpackedWeights::inputs_by_outputs(b)).unwrap();
    let mut out = vec![f32::NAN; a.rows() * b.columns()];
    let rows = MatMut::new(&mut out, a.rows(), b.columns());
    gemm_f32(cpu, tiling, a, weights.view(), Epilogue::default(), rows);
    out
}

#[test]
fn f32_sums_are_made_in_runs_along_the_depth() {
    let mut numbers = TestRng::new(3);
    for cpu in Cpu::all() {
        for (rows, depth, columns) in SHAPES {
            let a = numbers.floats(rows * depth, 1.0);
            let b = numbers.floats(depth * columns, 1.0);
            let mut expected = Vec::new();
            for row in 0..rows {
                for column in 0..columns {
                    let run = |first: usize| {
                        (first..depth.min(first + 16)).fold(0.0, |sum, k| {
                            let (a, b): (f32, f32) = (a[row * depth + k], b[k * columns + column]);
                            if cpu == Cpu::plain() { a * b + sum } else { a.mul_add(b, sum) }
                        })
                    };
                    let runs = (0..depth).step_by(16).map(run);
                    expected.push(runs.reduce(|all, run| all + run).unwrap_or(0.0));
                }
            }
            for &tiling in Tiling::alternatives(cpu) {
                let (a, b) = (MatRef::new(&a, rows, depth), MatRef::new(&b, depth, columns));
                let found = run_gemm_f32(cpu, tiling, a, b);
                assert_eq!(found, expected, "{} {rows} {depth} {columns}", cpu.name());
            }
        }
    }
}

/// Checks the order of the sums of blocked products to the bit, with a bias and with old results
/// that are added.
#[test]
fn blocked_f32_sums_run_through_blocks_of_the_depth() {
    let mut numbers = TestRng::new(6);
    for cpu in Cpu::all() {
        for (rows, depth, columns) in SHAPES.into_iter().chain([(7, 512, 33), (5, 1025, 70)]) {
            let a = numbers.floats(rows * depth, 1.0);
            let b = numbers.floats(depth * columns, 1.0);
            let (bias, before) =
                (numbers.floats(columns, 1.0), numbers.floats(rows * columns, 1.0));
            let blocks = depth.div_ceil(512).max(1);
            for (with_bias, accumulate) in [(false, false), (true, false), (true, true)] {
                let mut expected = Vec::new();
                for row in 0..rows {
                    for column in 0..columns {
                        let mut total = accumulate.then_some(before[row * columns + column]);
                        for block in 0..blocks {
                            let part = depth * block / blocks..depth * (block + 1) / blocks;
                            let mut sum = part.fold(0.0, |sum, k| {
                                let (a, b) = (a[row * depth + k], b[k * columns + column]);
                                if cpu == Cpu::plain() { a * b + sum } else { a.mul_add(b, sum) }
                            });
                            if with_bias && block + 1 == blocks {
                                sum += bias[column];
                            }
                            total = Some(total.map_or(sum, |total| sum + total));
                        }
                        expected.extend(total);
                    }
                }
                let b = MatRef::new(&b, depth, columns);
                let weights = WeightsF32::pack(UnpackedWeights::inputs_by_outputs(b)).unwrap();
                for &tiling in Tiling::alternatives(cpu) {
                    let mut out = before.clone();
                    let epilogue = Epilogue {
                        bias: with_bias.then_some(&bias),
                        accumulate,
                        ..Epilogue::default()
                    };
                    let into = MatMut::new(&mut out, rows, columns);
                    let a = MatRef::new(&a, rows, depth);
                    gemm_f32_blocked(cpu, tiling, a, weights.view(), epilogue, into);
                    assert_eq!(out, expected, "{} {rows} {depth} {columns}", cpu.name());
                }
            }
        }
    }
}

#[test]
fn a_row_does_not_depend_on_the_others() {
    let (rows, depth, columns) = (11, 75, 83);
    let mut numbers = TestRng::new(4);
    let a = numbers.floats(rows * depth, 3.0);
    let b = numbers.floats(depth * columns, 1.0);
    let b = MatRef::new(&b, depth, columns);
    for cpu in Cpu::all() {
        for &tiling in Tiling::alternatives(cpu) {
            let batch = run_gemm_f32(cpu, tiling, MatRef::new(&a, rows, depth), b);
            for row in 0..rows {
                let alone = MatRef::new(&a[row * depth..], 1, depth);
                let alone = run_gemm_f32(cpu, Tiling::default_for(cpu), alone, b);
                assert_eq!(alone, batch[row * columns..][..columns]);
            }
        }
    }
}

#[test]
fn epilogues_keep_nan() {
    let (rows, depth, columns) = (3, 4, 37);
    let mut a = vec![0.5; rows * depth];
    a[depth] = f32::NAN;
    let b = vec![0.25; depth * columns];
    let weights =
        WeightsF32::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns)));
    let weights = weights.unwrap();
    use Activation::*;
    for cpu in Cpu::all() {
        for activation in [None, Relu, Swish, Gelu, GeluSigmoid, GeluTanh, Tanh, Sigmoid] {
            let mut out = vec![0.0; rows * columns];
            let epilogue = Epilogue { activation, ..Epilogue::default() };
            let into = MatMut::new(&mut out, rows, columns);
            let a = MatRef::new(&a, rows, depth);
            gemm_f32(cpu, Tiling::default_for(cpu), a, weights.view(), epilogue, into);
            let is_kept = |(at, x): (usize, &f32)| x.is_nan() == (at / columns == 1);
            assert!(out.iter().enumerate().all(is_kept), "{} {activation:?}", cpu.name());
        }
    }
}

#[test]
fn epilogues_match_arithmetic() {
    let (rows, depth, columns) = (7, 40, 37);
    let mut numbers = TestRng::new(5);
    let a = numbers.floats(rows * depth, 1.0);
    let b = numbers.floats(depth * columns, 1.0);
    let bias = numbers.floats(columns, 1.0);
    let residual = numbers.floats(rows * columns, 1.0);
    type Function = fn(f64) -> f64;
    let erf_free: [(Activation, Function); 6] = [
        (Activation::None, |x| x),
        (Activation::Relu, |x| x.max(0.0)),
        (Activation::Tanh, f64::tanh),
        (Activation::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (Activation::Swish, |x| x / (1.0 + (-x).exp())),
        (Activation::GeluSigmoid, |x| x / (1.0 + (-1.702 * x).exp())),
    ];
    let weights =
        WeightsF32::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns)));
    let weights = weights.unwrap();
    for cpu in Cpu::all() {
        for (activation, function) in erf_free {
            let mut expected = Vec::new();
            for row in 0..rows {
                for column in 0..columns {
                    let products = (0..depth).map(|k| {
                        f64::from(a[row * depth + k]) * f64::from(b[k * columns + column])
                    });
                    let other =
                        f64::from(bias[column]) + f64::from(residual[row * columns + column]);
                    expected.push(function(products.sum::<f64>() + other));
                }
            }
            let mut out = vec![0.0; rows * columns];
            let mut largest = vec![f32::NAN; rows];
            let epilogue = Epilogue {
                bias: Some(&bias),
                residual: Some(MatRef::new(&residual, rows, columns)),
                accumulate: false,
                activation,
                absmax: Some(&mut largest),
            };
            let into = MatMut::new(&mut out, rows, columns);
            let a = MatRef::new(&a, rows, depth);
            gemm_f32(cpu, Tiling::default_for(cpu), a, weights.view(), epilogue, into);
            assert_close(&out, &expected, 2e-5, cpu.name());
            for (row, &largest) in largest.iter().enumerate() {
                let magnitudes = out[row * columns..][..columns].iter().map(|x| x.abs());
                assert_eq!(largest, magnitudes.fold(0.0, f32::max));
            }
        }
    }
}

#[test]
fn quantized_gemm_approximates_f32_gemm() {
    let (rows, depth, columns) = (5, 128, 48);
    let mut numbers = TestRng::new(6);
    let a = numbers.floats(rows * depth, 2.0);
    let b = numbers.floats(columns * depth, 0.5);
    let source = UnpackedWeights::outputs_by_inputs(MatRef::new(&b, columns, depth));
    let weights = WeightsI8::quantize(source).unwrap();
    for cpu in all_cpus() {
        let (mut values, mut scales) = (vec![0; rows * depth], vec![0.0; rows]);
        let into = MatMut::new(&mut values, rows, depth);
        quantize_i8(cpu, MatRef::new(&a, rows, depth), ClipRange::PerRow, into, &mut scales);
        let mut out = vec![0.0; rows * columns];
        let mut prepared = PreparedI8::default();
        let values = QuantizedI8 { values: MatRef::new(&values, rows, depth), scales: &scales };
        prepared.prepare(cpu, Tiling::default_i8(cpu, 8), values);
        let into = MatMut::new(&mut out, rows, columns);
        gemm_i8(&prepared, weights.view(), Epilogue::default(), into);
        let mut expected = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let products = (0..depth)
                    .map(|k| f64::from(a[row * depth + k]) * f64::from(b[column * depth + k]));
                expected.push(products.sum());
            }
        }
        // Rounding errors of half a unit in either operand of 128 products, which mostly cancel.
        assert_close(&out, &expected, 0.25, cpu.name());
    }
}

#[test]
fn shortlists_are_columns_of_the_full_product() {
    let (rows, depth, columns) = (3, 21, 90);
    let mut numbers = TestRng::new(7);
    let a = bytes(&mut numbers, rows * depth, -127, 127);
    let b = bytes(&mut numbers, depth * columns, -128, 127);
    let ids = [0u32, 3, 15, 16, 17, 40, 63, 64, 79, 80, 81, 82, 83, 84, 85, 86, 88, 89];
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
    let whole = WeightsI8::pack(source, |column| column as f32).unwrap();
    let mut selected = WeightsI8::default();
    selected.select(&whole.view(), &ids).unwrap();
    let scales = [1.0, 0.5, 2.0];
    let values = QuantizedI8 { values: MatRef::new(&a, rows, depth), scales: &scales };
    for cpu in all_cpus() {
        let mut prepared = PreparedI8::default();
        prepared.prepare(cpu, Tiling::default_i8(cpu, 8), values);
        let multiply = |weights: &WeightsI8, columns| {
            let mut out = vec![0.0; rows * columns];
            let into = MatMut::new(&mut out, rows, columns);
            gemm_i8(&prepared, weights.view(), Epilogue::default(), into);
            out
        };
        let (all, some) = (multiply(&whole, columns), multiply(&selected, ids.len()));
        for row in 0..rows {
            for (place, &id) in ids.iter().enumerate() {
                assert_eq!(some[row * ids.len() + place], all[row * columns + id as usize]);
            }
        }
    }
    assert!(selected.select(&whole.view(), &[90]).is_err());
}

#[test]
fn column_ranges_give_the_columns_of_the_product() {
    let (rows, depth, columns) = (2, 9, 75);
    let mut numbers = TestRng::new(8);
    let a = numbers.floats(rows * depth, 1.0);
    let b = numbers.floats(depth * columns, 1.0);
    let weights =
        WeightsF32::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns)));
    let weights = weights.unwrap();
    let cpu = Cpu::detect();
    let a = MatRef::new(&a, rows, depth);
    let whole = run_gemm_f32(cpu, Tiling::default_for(cpu), a, MatRef::new(&b, depth, columns));
    for range in [0..32, 48..75, 64..64, 64..75] {
        let part = weights.view().column_range(range.clone());
        let mut out = vec![0.0; rows * LANES * 5];
        let into = MatMut::with_stride(&mut out, rows, range.len(), LANES * 5);
        gemm_f32(cpu, Tiling::default_for(cpu), a, part, Epilogue::default(), into);
        for row in 0..rows {
            let found = &out[row * LANES * 5..][..range.len()];
            assert_eq!(found, &whole[row * columns..][range.clone()]);
        }
    }
}

#[test]
fn prepared_rows_can_be_prepared_again() {
    let mut numbers = TestRng::new(9);
    let mut used = PreparedI8::default();
    for cpu in all_cpus() {
        for (at, (rows, depth, columns)) in SHAPES.into_iter().rev().enumerate() {
            let a = bytes(&mut numbers, rows * depth, if at % 2 == 0 { -127 } else { 0 }, 127);
            let b = bytes(&mut numbers, depth * columns, -128, 127);
            let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
            let weights = WeightsI8::pack(source, |_| 1.0).unwrap();
            let scales = vec![0.5; rows];
            for &tiling in Tiling::alternatives_i8(cpu, 4) {
                let values = QuantizedI8 { values: MatRef::new(&a, rows, depth), scales: &scales };
                let multiply = |prepared: &mut PreparedI8| {
                    prepared.prepare(cpu, tiling, values);
                    assert_eq!(prepared.tiling(), Some(tiling));
                    let mut out = vec![f32::NAN; rows * columns];
                    let into = MatMut::new(&mut out, rows, columns);
                    gemm_i8(prepared, weights.view(), Epilogue::default(), into);
                    out
                };
                assert_eq!(multiply(&mut used), multiply(&mut PreparedI8::default()));
            }
        }
    }
    used.invalidate();
    assert_eq!(used.tiling(), None);
}

#[test]
fn results_are_added_to_what_was_there() {
    let mut numbers = TestRng::new(32);
    let (rows, depth, columns) = (7, 20, 37);
    let (a, b) = (numbers.floats(rows * depth, 1.0), numbers.floats(depth * columns, 1.0));
    let before = numbers.floats(rows * columns, 1.0);
    let source = UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns));
    let weights = WeightsF32::pack(source).unwrap();
    let a = MatRef::new(&a, rows, depth);
    for cpu in Cpu::all() {
        let mut results = [before.clone(), vec![0.0; rows * columns]];
        let [accumulated, with_residual] = &mut results;
        let residual = Some(MatRef::new(&before, rows, columns));
        for (out, epilogue) in [
            (accumulated, Epilogue { accumulate: true, ..Epilogue::default() }),
            (with_residual, Epilogue { residual, ..Epilogue::default() }),
        ] {
            let into = MatMut::new(out, rows, columns);
            gemm_f32(cpu, Tiling::default_for(cpu), a, weights.view(), epilogue, into);
        }
        assert_eq!(results[0], results[1]);
    }
}
