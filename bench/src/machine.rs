//! The name of the processor, and the CPU time of this process.

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
