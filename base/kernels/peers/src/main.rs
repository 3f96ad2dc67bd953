//! f32 GEMM compared with the crate `gemm`, in turn, at the shapes of `benches/gemm.rs`.
//! Our weights are packed ahead, as those of a model are; `gemm` packs its arguments at
//! each call when that pays. Times are CPU times of the thread; a rate is the best of many
//! slices, so that other programs disturb both little.

use std::io::Write;

use miriam_kernels::gemm::{Epilogue, Tiling, gemm_f32};
use miriam_kernels::pack::{UnpackedWeights, WeightsF32};
use miriam_kernels::{Cpu, Mat, MatMut};
use nix::time::{ClockId, clock_gettime};

const ROWS: [usize; 6] = [1, 5, 6, 20, 32, 160];
const SHAPES: [(usize, usize); 6] =
    [(256, 1536), (1536, 256), (256, 32_000), (512, 2048), (2048, 512), (512, 32_000)];

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0).collect()
}

/// CPU seconds of this thread.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock of the thread");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// The seconds of one call, on average over a slice of half a millisecond or more.
fn slice(calls: &mut usize, work: &mut dyn FnMut()) -> f64 {
    loop {
        let start = seconds();
        (0..*calls).for_each(|_| work());
        let time = seconds() - start;
        if time >= 0.5e-3 {
            return time / *calls as f64;
        }
        *calls *= 2;
    }
}

/// `gemm`'s product of two row-major matrices.
fn theirs(a: &[f32], b: &[f32], out: &mut [f32], [rows, depth, columns]: [usize; 3]) {
    assert_eq!([a.len(), b.len(), out.len()], [rows * depth, depth * columns, rows * columns]);
    let (one, wide) = (1, columns as isize);
    // SAFETY: the three matrices have as many numbers as their strides and sizes say, as was
    // just checked, and `out` is borrowed alone.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            depth,
            out.as_mut_ptr(),
            one,
            wide,
            false,
            a.as_ptr(),
            one,
            depth as isize,
            b.as_ptr(),
            one,
            wide,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// Rates of both, in 10^9 operations a second.
fn compare(shape @ [rows, depth, columns]: [usize; 3], for_seconds: f64) -> [f64; 2] {
    let (a, b) = (numbers(rows * depth), numbers(depth * columns));
    let weights = WeightsF32::pack(UnpackedWeights::inputs_by_outputs(Mat::new(&b, depth, columns)));
    let weights = weights.expect("fits");
    let (cpu, values) = (Cpu::detect(), Mat::new(&a, rows, depth));
    let mut outs = [vec![0.0; rows * columns], vec![0.0; rows * columns]];
    let [out, other] = &mut outs;
    let mut ours = || {
        let out = MatMut::new(out, rows, columns);
        gemm_f32(cpu, Tiling::default_for(cpu), values, weights.view(), Epilogue::default(), out);
    };
    let mut theirs = || theirs(&a, &b, other, shape);
    let (mut best, mut calls) = ([f64::INFINITY; 2], [1; 2]);
    let start = seconds();
    while seconds() - start < for_seconds || best[0] == f64::INFINITY {
        best[0] = best[0].min(slice(&mut calls[0], &mut ours));
        best[1] = best[1].min(slice(&mut calls[1], &mut theirs));
    }
    let error = outs[0].iter().zip(&outs[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(error < 1e-2, "both multiply the same: {error}");
    best.map(|time| 2.0 * (rows * depth * columns) as f64 / time / 1e9)
}

fn main() {
    let for_seconds = std::env::args().nth(1).map_or(0.5, |text| text.parse().expect("seconds"));
    let mut out = std::io::stdout().lock();
    let mut say = |line: &str| {
        let _ = writeln!(out, "{line}");
        let _ = out.flush();
    };
    say("f32, 10^9 operations a second\nrows x depth x columns     Miriam      gemm   ratio");
    let mut table = Vec::new();
    for rows in ROWS {
        let mut cells = Vec::new();
        for (depth, columns) in SHAPES {
            let [ours, theirs] = compare([rows, depth, columns], for_seconds);
            let (shape, ratio) = (format!("{rows}x{depth}x{columns}"), ours / theirs);
            say(&format!("{shape:<24} {ours:>8.1} {theirs:>9.1} {ratio:>7.2}"));
            cells.push(format!("{ours:.0} / {theirs:.0} = {ratio:.2}"));
        }
        table.push(format!("| {rows} | {} |", cells.join(" | ")));
    }
    let shapes = SHAPES.map(|(depth, columns)| format!("{depth} x {columns}"));
    say(&format!("\n| Miriam / gemm | {} |", shapes.join(" | ")));
    say(&format!("|---|{}", "---|".repeat(SHAPES.len())));
    table.iter().for_each(|row| say(row));
}
