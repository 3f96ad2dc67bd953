//! Comparison of our f32 GEMM with the crate `gemm`. Its parts are:
//!
//! - `decoding`: products with the shapes of decoding, those of `benches/gemm.rs`.
//! - `forward`: products of the forward pass of training, with larger batches.
//! - `gradient`: gradients of weights.
//! - `packing`: the packing of weights after an update, compared with a copy; in GB/s, read and
//!   written bytes together.
//!
//! Our weights are packed ahead, as in a model; `gemm` packs its arguments at each call when that
//! pays. Times are CPU times of the thread. The two run in short time slices in turn, and a rate is
//! that of the best slice, because other programs disturb the machine.
//!
//! `cargo run --release -- [SECONDS] [PART...]`: CPU seconds per comparison (default 0.5), and the
//! parts (default all).

use std::io::Write;

use miriam_kernels::gemm::{Epilogue, GemmScratch, Tiling, gemm_f32, gemm_f32_transposed};
use miriam_kernels::pack::{UnpackedWeights, WeightsF32};
use miriam_kernels::{Cpu, MatMut, MatRef};
use nix::time::{ClockId, clock_gettime};

/// Rows of a batch in decoding.
const ROWS: [usize; 6] = [1, 5, 6, 20, 32, 160];
/// Inputs and outputs of weights in decoding.
const SHAPES: [(usize, usize); 6] =
    [(256, 1536), (1536, 256), (256, 32_000), (512, 2048), (2048, 512), (512, 32_000)];

/// Rows of a batch in training.
const BATCH_ROWS: [usize; 3] = [512, 1024, 2048];
/// Inputs and outputs of weights in training.
const TRAINING_SHAPES: [(usize, usize); 6] =
    [(128, 128), (128, 512), (512, 128), (256, 1024), (1024, 256), (512, 2048)];

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0).collect()
}

/// Returns the CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("the thread has a clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// Returns the seconds of one call, on average over a slice of half a millisecond or more. Doubles
/// `calls` until a slice is that long.
fn time_per_call(calls: &mut usize, work: &mut dyn FnMut()) -> f64 {
    loop {
        let start = cpu_seconds();
        (0..*calls).for_each(|_| work());
        let time = cpu_seconds() - start;
        if time >= 0.5e-3 {
            return time / *calls as f64;
        }
        *calls *= 2;
    }
}

/// Multiplies by the crate `gemm`: `[rows, depth]` (stored as `[depth, rows]` if transposed) by
/// `[depth, columns]`. Adds the product to `out` if `add`, else overwrites it.
fn multiply_by_peer(
    (a, transposed): (&[f32], bool),
    b: &[f32],
    (out, add): (&mut [f32], bool),
    [rows, depth, columns]: [usize; 3],
) {
    assert_eq!([a.len(), b.len(), out.len()], [rows * depth, depth * columns, rows * columns]);
    let column_stride = 1;
    let row_stride = columns as isize;
    let (a_column_stride, a_row_stride) =
        if transposed { (rows as isize, 1) } else { (1, depth as isize) };
    // SAFETY: the lengths of the three matrices, just checked, fit their sizes and strides, and
    // `out` is borrowed exclusively.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            depth,
            out.as_mut_ptr(),
            column_stride,
            row_stride,
            add,
            a.as_ptr(),
            a_column_stride,
            a_row_stride,
            b.as_ptr(),
            column_stride,
            row_stride,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// Runs `ours` and `theirs` in turn for `for_seconds` seconds. Returns the seconds per call in the
/// best time slice of each.
fn race(for_seconds: f64, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    let mut calls = [1; 2];
    let start = cpu_seconds();
    while cpu_seconds() - start < for_seconds || best[0] == f64::INFINITY {
        best[0] = best[0].min(time_per_call(&mut calls[0], ours));
        best[1] = best[1].min(time_per_call(&mut calls[1], theirs));
    }
    best
}

/// Panics if the results of our GEMM and of the peer differ by 0.01 or more.
fn assert_equal_products(outs: &[Vec<f32>; 2]) {
    let error = outs[0].iter().zip(&outs[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(error < 1e-2, "the products differ by {error}");
}

/// Returns the rates of our GEMM and of the peer's, in 10^9 operations per second.
fn compare_gemm(shape @ [rows, depth, columns]: [usize; 3], for_seconds: f64) -> [f64; 2] {
    let (a, b) = (numbers(rows * depth), numbers(depth * columns));
    let weights =
        WeightsF32::pack(UnpackedWeights::inputs_by_outputs(MatRef::new(&b, depth, columns)));
    let weights = weights.expect("the matrix is small enough to pack");
    let (cpu, values) = (Cpu::detect(), MatRef::new(&a, rows, depth));
    let mut outs = [vec![0.0; rows * columns], vec![0.0; rows * columns]];
    let [out, other] = &mut outs;
    let tiling = Tiling::default_for(cpu);
    let best = race(
        for_seconds,
        &mut || {
            let out = MatMut::new(out, rows, columns);
            gemm_f32(cpu, tiling, values, weights.view(), Epilogue::default(), out);
        },
        &mut || multiply_by_peer((&a, false), &b, (other, false), shape),
    );
    assert_equal_products(&outs);
    best.map(|time| 2.0 * (rows * depth * columns) as f64 / time / 1e9)
}

/// Returns the rates of our GEMM and of the peer's for gradients of weights, in 10^9 operations per
/// second.
fn compare_gradient([rows, inputs, outputs]: [usize; 3], for_seconds: f64) -> [f64; 2] {
    let (x, dz) = (numbers(rows * inputs), numbers(rows * outputs));
    let cpu = Cpu::detect();
    let mut outs = [vec![0.0; inputs * outputs], vec![0.0; inputs * outputs]];
    let mut scratch = GemmScratch::default();
    let mut ours = |out: &mut Vec<f32>| {
        let (x, dz) = (MatRef::new(&x, rows, inputs), MatRef::new(&dz, rows, outputs));
        let out = MatMut::new(out, inputs, outputs);
        gemm_f32_transposed(cpu, x, dz, &mut scratch, out);
    };
    let shape = [inputs, rows, outputs];
    let theirs = |out: &mut Vec<f32>| multiply_by_peer((&x, true), &dz, (out, true), shape);
    ours(&mut outs[0]);
    theirs(&mut outs[1]);
    assert_equal_products(&outs);
    let [out, other] = &mut outs;
    let best = race(for_seconds, &mut || ours(out), &mut || theirs(other));
    best.map(|time| 2.0 * (rows * inputs * outputs) as f64 / time / 1e9)
}

/// Returns the rates of packing weights and of a copy, in GB/s of read and written bytes.
fn compare_packing(
    (inputs, outputs): (usize, usize),
    transposed: bool,
    for_seconds: f64,
) -> [f64; 2] {
    let values = numbers(inputs * outputs);
    let mut weights = WeightsF32::default();
    let mut copy = values.clone();
    let part = UnpackedWeights::inputs_by_outputs(MatRef::new(&values, inputs, outputs));
    let best = race(
        for_seconds,
        &mut || if transposed { weights.fill_transposed(&[part]) } else { weights.fill(&[part]) },
        &mut || std::hint::black_box(&mut copy).copy_from_slice(&values),
    );
    best.map(|time| 8.0 * (inputs * outputs) as f64 / time / 1e9)
}

fn main() {
    let for_seconds = std::env::args()
        .nth(1)
        .map_or(0.5, |text| text.parse().expect("the first argument is a number of seconds"));
    let parts: Vec<String> = std::env::args().skip(2).collect();
    if is_requested("decoding", &parts) {
        tabulate(
            "decoding, 10^9 operations a second",
            &ROWS,
            &SHAPES,
            &|rows, (depth, columns)| compare_gemm([rows, depth, columns], for_seconds),
        );
    }
    if is_requested("forward", &parts) {
        let title = "forward, 10^9 operations a second";
        tabulate(title, &BATCH_ROWS, &TRAINING_SHAPES, &|rows, (depth, columns)| {
            compare_gemm([rows, depth, columns], for_seconds)
        });
    }
    if is_requested("gradient", &parts) {
        let title = "gradients of weights, 10^9 operations a second";
        tabulate(title, &BATCH_ROWS, &TRAINING_SHAPES, &|rows, (depth, columns)| {
            compare_gradient([rows, depth, columns], for_seconds)
        });
    }
    if is_requested("packing", &parts) {
        for (name, transposed) in [("packing", false), ("packing, transposed", true)] {
            let title = format!("{name}; GB/s; peer: a copy");
            tabulate(&title, &[1], &TRAINING_SHAPES, &|_, shape| {
                compare_packing(shape, transposed, for_seconds)
            });
        }
    }
}

/// Whether `part` is requested: no parts are given, or it is among them.
fn is_requested(part: &str, parts: &[String]) -> bool {
    parts.is_empty() || parts.iter().any(|name| name == part)
}

/// Prints our rate and the peer's, which `measure` returns, with their ratio, for each number of
/// rows and each shape: line by line, then as a table in Markdown.
fn tabulate(
    title: &str,
    rows: &[usize],
    shapes: &[(usize, usize)],
    measure: &dyn Fn(usize, (usize, usize)) -> [f64; 2],
) {
    print_line(&format!("{title}\nrows x inputs x outputs     Miriam      peer   ratio"));
    let mut table = Vec::new();
    for &rows in rows {
        let mut cells = Vec::new();
        for &(depth, columns) in shapes {
            let [ours, theirs] = measure(rows, (depth, columns));
            let (shape, ratio) = (format!("{rows}x{depth}x{columns}"), ours / theirs);
            print_line(&format!("{shape:<24} {ours:>8.1} {theirs:>9.1} {ratio:>7.2}"));
            cells.push(format!("{ours:.0} / {theirs:.0} = {ratio:.2}"));
        }
        table.push(format!("| {rows} | {} |", cells.join(" | ")));
    }
    let heads: Vec<String> = shapes.iter().map(|(a, b)| format!("{a} x {b}")).collect();
    print_line(&format!("\n| Miriam / peer | {} |", heads.join(" | ")));
    print_line(&format!("|---|{}", "---|".repeat(shapes.len())));
    table.iter().for_each(|row| print_line(row));
}

fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
