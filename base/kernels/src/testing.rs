//! Pseudo-random numbers and comparisons for tests.

use std::io::Write;

use crate::Cpu;

/// Returns all instruction sets of this CPU, with emulated tile units if it has none.
pub(crate) fn all_cpus() -> Vec<Cpu> {
    let mut all = Cpu::all();
    #[cfg(target_arch = "x86_64")]
    all.extend(Cpu::emulated_amx());
    all
}

/// Returns the CPU with tile units, which are emulated if it has none. Prints a note if they are
/// emulated, or if they cannot be emulated either.
#[cfg(target_arch = "x86_64")]
pub(crate) fn cpu_with_tiles() -> Option<Cpu> {
    let cpu = all_cpus().pop().filter(|cpu| cpu.name() == "avx512-amx");
    if cpu.is_none() {
        report_skip("tile units, which need AVX-512 VNNI");
    } else if cpu != Cpu::all().pop() {
        report_skip("tile instructions of the CPU, which has none; they are emulated");
    }
    cpu
}

/// A small generator (xorshift64*).
pub(crate) struct TestRng(u64);

impl TestRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Returns an integer from `least` to `most`.
    pub(crate) fn integer(&mut self, least: i64, most: i64) -> i64 {
        least + (self.next() % (most - least + 1) as u64) as i64
    }

    /// Returns `count` numbers between `-reach` and `reach`.
    pub(crate) fn floats(&mut self, count: usize, reach: f32) -> Vec<f32> {
        (0..count).map(|_| (self.next() % 2_000_001) as f32 / 1e6 * reach - reach).collect()
    }
}

/// Asserts that each number differs from the expected one by at most `tolerance`.
#[track_caller]
pub(crate) fn assert_close(found: &[f32], expected: &[f64], tolerance: f64, name: &str) {
    assert_eq!(found.len(), expected.len());
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs();
        assert!(error <= tolerance, "{name}: element {at} is {found}, not {expected}");
    }
}

/// Returns the gradient of `loss` with respect to each number of `parts`, by central differences.
pub(crate) fn numeric_gradients(
    parts: &[&[f32]],
    loss: impl Fn(&[Vec<f64>]) -> f64,
) -> Vec<Vec<f64>> {
    const STEP: f64 = 1e-5;
    let mut x: Vec<Vec<f64>> =
        parts.iter().map(|part| part.iter().map(|&x| f64::from(x)).collect()).collect();
    let mut gradients: Vec<Vec<f64>> = parts.iter().map(|part| vec![0.0; part.len()]).collect();
    for part in 0..parts.len() {
        for at in 0..parts[part].len() {
            let number = x[part][at];
            let mut shifted = |by: f64| {
                x[part][at] = number + by;
                loss(&x)
            };
            gradients[part][at] = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
            x[part][at] = number;
        }
    }
    gradients
}

/// Prints that a test did not run.
pub(crate) fn report_skip(what: &str) {
    // Not `eprintln!`, whose output is captured.
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}
