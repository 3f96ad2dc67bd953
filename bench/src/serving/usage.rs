//! Memory and CPU time of another process, once a second, from Linux's `/proc`.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use miriam_textio::process_memory::resident_bytes_of;

use crate::error::{Error, Result};

/// Clock ticks per second in `/proc`, the same on all common architectures.
const TICKS_PER_SECOND: f64 = 100.0;

/// The interval between two observations of a process.
const INTERVAL: Duration = Duration::from_secs(1);

/// The resource usage of a process at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessUsage {
    /// Seconds since the first observation.
    pub time: f64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
    /// User and system time of all threads in seconds, since the process started.
    pub cpu_seconds: f64,
}

impl ProcessUsage {
    /// Returns the usage of process `pid`.
    ///
    /// # Errors
    /// If there is no such process, or it has ended.
    pub fn read(pid: u32, time: f64) -> Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        let cpu_seconds = stat.ok().and_then(|stat| parse_cpu_seconds(&stat));
        match (cpu_seconds, resident_bytes_of(pid)) {
            (Some(cpu_seconds), Ok(resident_bytes)) => {
                Ok(ProcessUsage { time, resident_bytes, cpu_seconds })
            }
            _ => Err(Error::unmeasurable(format!("--pid {pid}: there is no running process"))),
        }
    }
}

/// Observes process `pid` every second until `is_done` or the process ends, and once more when
/// `is_done`.
///
/// # Errors
/// If there is no such process at the beginning.
pub(super) fn watch(pid: u32, is_done: &AtomicBool) -> Result<Vec<ProcessUsage>> {
    let started = Instant::now();
    let mut observations = vec![ProcessUsage::read(pid, 0.0)?];
    loop {
        let next = started + INTERVAL * observations.len() as u32;
        while Instant::now() < next && !is_done.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        let ends = is_done.load(Ordering::Relaxed);
        match ProcessUsage::read(pid, started.elapsed().as_secs_f64()) {
            Ok(usage) => observations.push(usage),
            // The process has ended.
            Err(_) => return Ok(observations),
        }
        if ends {
            return Ok(observations);
        }
    }
}

/// Returns the user and system time in the contents of `/proc/PID/stat`, in which the name of the
/// program may contain spaces and parentheses. Returns `None` if the process has ended, but its
/// parent has not read its status.
fn parse_cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let mut times = fields.skip(10);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    Some((user + system) as f64 / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 0 0 0 150 50 1 1 20 0 3 0 100 1 2 3";
        assert_eq!(parse_cpu_seconds(stat), Some(2.0));
        assert_eq!(parse_cpu_seconds("7 (a) S 1"), None);
        let ended = stat.replacen(" S ", " Z ", 1);
        assert_eq!(parse_cpu_seconds(&ended), None);
    }

    #[test]
    fn this_process_is_seen() {
        let own = ProcessUsage::read(std::process::id(), 0.0).unwrap();
        assert!(own.resident_bytes > 100 << 10, "{own:?}");
        let is_done = AtomicBool::new(true);
        assert_eq!(watch(std::process::id(), &is_done).unwrap().len(), 2);
        assert!(watch(u32::MAX, &is_done).is_err());
    }
}
