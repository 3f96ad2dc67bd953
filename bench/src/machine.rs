//! The name of the processor, and the clocks of measurements.

use std::time::Instant;

use nix::time::{ClockId, clock_gettime};

/// Returns the model name of the processor.
pub fn cpu_name() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = information.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    name.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// Returns the user and system time of this process in seconds.
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every process has it");
    time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9
}

/// The clock of a measurement.
#[derive(Clone, Copy)]
pub enum Clock {
    /// CPU time, which other programs disturb less than wall time.
    Cpu,
    /// Wall time since an instant, for work on a GPU.
    Wall(Instant),
}

impl Clock {
    /// Returns the seconds since an instant in the past.
    pub fn seconds(self) -> f64 {
        match self {
            Clock::Cpu => cpu_seconds(),
            Clock::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}
