//! The three products of training, each in f32 and bf16 alternately: results of a layer, gradients
//! of its inputs and gradients of its weights.
//!
//! Run with `cargo bench -p miriam-kernels --bench bf16`; `--seconds` sets the time of each row.
//! Rates are 10^9 operations a second of CPU time; an operation is a multiplication or an addition.
//! Weights are packed before the measurement, because training packs them only once per update.

use std::hint::black_box;

use miriam_kernels::gemm::{
    Bf16Scratch, Epilogue, GemmScratch, Tiling, gemm_bf16, gemm_bf16_transposed, gemm_f32,
    gemm_f32_blocked, gemm_f32_transposed,
};
use miriam_kernels::pack::{UnpackedWeights, WeightsBf16, WeightsF32};
use miriam_kernels::{Cpu, MatMut, MatRef};
use rates::{measure, numbers};

mod rates;

/// Rows, inputs and outputs of layers in small transformers, in recurrent models and in a base
/// transformer. The last two shapes are output layers over blocks of rows.
const SHAPES: [[usize; 3]; 8] = [
    [60, 256, 768],
    [2048, 128, 384],
    [2048, 128, 256],
    [2048, 256, 1024],
    [2048, 512, 512],
    [2048, 512, 2048],
    [128, 128, 8000],
    [32, 512, 32_000],
];

/// Prints a row for each of the three products.
fn compare(cpu: Cpu, [rows, inputs, outputs]: [usize; 3], for_seconds: f64) {
    let (x, dz, w) = (numbers(rows * inputs), numbers(rows * outputs), numbers(inputs * outputs));
    let (x, dz) = (MatRef::new(&x, rows, inputs), MatRef::new(&dz, rows, outputs));
    let w = [UnpackedWeights::inputs_by_outputs(MatRef::new(&w, inputs, outputs))];
    let (mut forward, mut backward) = (WeightsF32::default(), WeightsF32::default());
    forward.fill(&w);
    backward.fill_transposed(&w);
    let (mut half_forward, mut half_backward) = (WeightsBf16::default(), WeightsBf16::default());
    half_forward.round(cpu, forward.view());
    half_backward.round(cpu, backward.view());
    let tiling = Tiling::default_for(cpu);
    let (mut scratch, mut half_scratch) = (GemmScratch::default(), Bf16Scratch::default());
    let results = |count: usize| [vec![0.0; count], vec![0.0; count]];
    let operations = [2.0 * (rows * inputs * outputs) as f64; 2];
    let report = |name: &str, [f32_rate, bf16_rate]: [f64; 2]| {
        let shape = format!("{rows}x{inputs}x{outputs}");
        let ratio = bf16_rate / f32_rate;
        println!("{name:<16} {shape:<16} {f32_rate:>8.1} {bf16_rate:>8.1} {ratio:>6.2}");
    };

    let [mut a, mut b] = results(rows * outputs);
    let rates = measure(
        for_seconds,
        operations,
        &mut || {
            let out = MatMut::new(black_box(&mut a), rows, outputs);
            gemm_f32(cpu, tiling, x, forward.view(), Epilogue::default(), out);
        },
        Some(&mut || {
            let out = MatMut::new(black_box(&mut b), rows, outputs);
            let weights = half_forward.view();
            gemm_bf16(cpu, tiling, &mut half_scratch, x, weights, Epilogue::default(), out);
        }),
    );
    report("results", rates);
    let [mut a, mut b] = results(rows * inputs);
    let rates = measure(
        for_seconds,
        operations,
        &mut || {
            let out = MatMut::new(black_box(&mut a), rows, inputs);
            gemm_f32_blocked(cpu, tiling, dz, backward.view(), Epilogue::default(), out);
        },
        Some(&mut || {
            let out = MatMut::new(black_box(&mut b), rows, inputs);
            let weights = half_backward.view();
            gemm_bf16(cpu, tiling, &mut half_scratch, dz, weights, Epilogue::default(), out);
        }),
    );
    report("input gradients", rates);
    let [mut a, mut b] = results(inputs * outputs);
    let rates = measure(
        for_seconds,
        operations,
        &mut || {
            let out = MatMut::new(black_box(&mut a), inputs, outputs);
            gemm_f32_transposed(cpu, x, dz, &mut scratch, out);
        },
        Some(&mut || {
            let out = MatMut::new(black_box(&mut b), inputs, outputs);
            gemm_bf16_transposed(cpu, &mut half_scratch, x, dz, out);
        }),
    );
    report("weight gradients", rates);
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let for_seconds = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => 0.3,
        (Some("--seconds"), Some(value)) => value.parse().expect("--seconds takes a number"),
        (Some(other), _) => panic!("unknown argument {other}; only --seconds S is known"),
    };
    let cpu = Cpu::detect();
    if !cpu.multiplies_bf16() {
        return println!("not measured: this CPU has no instructions for products of bf16");
    }
    println!("rates in 10^9 operations a second, the best of many time slices");
    println!("product          shape                 f32     bf16  ratio");
    SHAPES.into_iter().for_each(|shape| compare(cpu, shape, for_seconds));
}
