//! Rates of two pieces of work, run in turn, in 10^9 operations per second of CPU time.

use nix::time::{ClockId, clock_gettime};

/// Returns numbers from -1 to 1.
pub fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0).collect()
}

/// Returns the CPU seconds of this thread.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock of the thread");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// The rate of work whose call has `operations` operations, in 10^9 per second: the best of many
/// time slices, each much longer than a reading of the clock takes.
struct Rate {
    operations: f64,
    calls: usize,
    best: f64,
}

impl Rate {
    const SLICE: f64 = 0.5e-3;

    fn new(operations: f64) -> Self {
        Rate { operations, calls: 1, best: 0.0 }
    }

    fn run_slice(&mut self, work: &mut dyn FnMut()) {
        loop {
            let start = seconds();
            (0..self.calls).for_each(|_| work());
            let time = seconds() - start;
            if time >= Self::SLICE {
                self.best = self.best.max(self.operations * self.calls as f64 / time / 1e9);
                return;
            }
            self.calls *= 2;
        }
    }
}

/// Returns the rates of `work` and `other` in 10^9 operations per second. They run alternately for
/// `for_seconds` CPU seconds. `operations` has the operations of one call of each. If `other` is
/// missing, its rate is 0.
pub fn measure(
    for_seconds: f64,
    operations: [f64; 2],
    work: &mut dyn FnMut(),
    mut other: Option<&mut dyn FnMut()>,
) -> [f64; 2] {
    let mut rates = operations.map(Rate::new);
    let start = seconds();
    while seconds() - start < for_seconds || rates[0].best == 0.0 {
        rates[0].run_slice(work);
        if let Some(other) = &mut other {
            rates[1].run_slice(other);
        }
    }
    rates.map(|rate| rate.best)
}
