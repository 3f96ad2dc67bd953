//! Measuring processes: each measurement runs in a new process of this program, so that memory, CPU
//! time and context switches can be attributed to it. The process prints one line of numbers.

use std::process::{Command, Stdio};

use super::ScalingOptions;
use super::run_stats::RunStats;
use super::system::MeasuredSystem;
use super::topology::count_noun;
use crate::error::{Error, Result, refused};

/// Ends this process, a measurement, when the study that started it is killed: otherwise it would
/// take CPUs from the next study. Does nothing on systems other than Linux.
pub fn end_with_study() {
    // If this fails, the measurement still ends when its time is over.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
}

/// Measures `system` in a child process with one worker on each of `cpus`. `expected_rate` is the
/// speed of an earlier measurement in words per second.
pub fn spawn_measurement(
    study: &ScalingOptions,
    system: &MeasuredSystem,
    cpus: &[usize],
    expected_rate: Option<f64>,
) -> Result<RunStats> {
    let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
    let program = std::env::current_exe().map_err(refused("find this program"))?;
    let mut command = Command::new(program);
    command
        .args(["bench", "scaling-run", "--log-level", "warn", "--workload"])
        .arg(system.workload.kind())
        .arg("--input")
        .arg(&study.input)
        .args(["--cpus", &list.join(","), "--seconds", &study.seconds.to_string()]);
    if let Some(rate) = expected_rate {
        command.args(["--expected-rate", &rate.to_string()]);
    }
    let output = command
        .arg("--")
        .args(system.arguments(&study.input, cpus))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(refused("start a measurement"))?;
    match RunStats::from_line(&String::from_utf8_lossy(&output.stdout)) {
        Some(run) if output.status.success() => Ok(run),
        _ => Err(Error::unmeasurable(format!(
            "the measurement of {} with {} failed: {}",
            system.name,
            count_noun(cpus.len(), "thread"),
            output.status
        ))),
    }
}
