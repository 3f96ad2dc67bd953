//! Result of one measurement: words, times, context switches and memory.

use std::ops::Sub;

use nix::sys::resource::{Usage, UsageWho, getrusage};

use crate::error::{Result, refused};

/// The number of words, the times and the memory of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunStats {
    /// The number of words of the text that were processed.
    pub words: u64,
    /// The wall time in which these words were processed, without loading.
    pub wall_seconds: f64,
    /// CPU time of all threads in user mode.
    pub user_seconds: f64,
    /// CPU time of all threads in the kernel.
    pub system_seconds: f64,
    /// The number of times that a thread waited.
    pub voluntary_switches: u64,
    /// The number of times that a thread was preempted.
    pub involuntary_switches: u64,
    /// The peak memory in bytes, including models.
    pub peak_bytes: u64,
}

impl RunStats {
    /// Returns the result of a run of `words` words in `wall_seconds`. `usage` is what it added.
    pub fn new(words: u64, wall_seconds: f64, usage: ProcessUsage) -> Self {
        RunStats {
            words,
            wall_seconds,
            user_seconds: usage.user_seconds,
            system_seconds: usage.system_seconds,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            peak_bytes: usage.max_resident_bytes,
        }
    }

    /// Returns the words per second.
    pub fn words_per_second(&self) -> f64 {
        self.words as f64 / self.wall_seconds
    }

    /// Returns the same run with times in whole microseconds, as `runs.csv` stores them, so that a
    /// resumed study computes the same speeds.
    pub fn in_microseconds(self) -> Self {
        let whole = |seconds: f64| (seconds * 1e6).round() / 1e6;
        RunStats {
            wall_seconds: whole(self.wall_seconds),
            user_seconds: whole(self.user_seconds),
            system_seconds: whole(self.system_seconds),
            ..self
        }
    }

    /// Returns the kernel's share of the CPU time, from 0 to 1.
    pub fn system_share(&self) -> f64 {
        self.system_seconds / (self.user_seconds + self.system_seconds).max(1e-9)
    }

    /// Returns the line of numbers that a measuring process prints.
    pub fn to_line(self) -> String {
        let RunStats { words, wall_seconds, user_seconds, system_seconds, .. } = self;
        let RunStats { voluntary_switches, involuntary_switches, peak_bytes, .. } = self;
        format!(
            "{words} {wall_seconds} {user_seconds} {system_seconds} {voluntary_switches} \
             {involuntary_switches} {peak_bytes}\n"
        )
    }

    /// Parses a line of [`RunStats::to_line`].
    pub fn from_line(line: &str) -> Option<Self> {
        let numbers: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[words, wall_seconds, user_seconds, system_seconds, voluntary, involuntary, peak] =
            &numbers[..]
        else {
            return None;
        };
        Some(RunStats {
            words: words.parse().ok()?,
            wall_seconds: wall_seconds.parse().ok()?,
            user_seconds: user_seconds.parse().ok()?,
            system_seconds: system_seconds.parse().ok()?,
            voluntary_switches: voluntary.parse().ok()?,
            involuntary_switches: involuntary.parse().ok()?,
            peak_bytes: peak.parse().ok()?,
        })
    }
}

/// The CPU times and context switches of this process, or of the processes that it has waited for.
#[derive(Clone, Copy, Debug)]
pub struct ProcessUsage {
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// The highest peak memory of any of the processes. The peak of a program includes the memory
    /// that its parent process had when the program started.
    pub max_resident_bytes: u64,
}

impl ProcessUsage {
    /// Reads the counters of this process.
    pub fn read_own() -> Result<Self> {
        Self::read(UsageWho::RUSAGE_SELF)
    }

    /// Reads the sums over the children that this process has waited for, and their children.
    pub fn read_children() -> Result<Self> {
        Self::read(UsageWho::RUSAGE_CHILDREN)
    }

    fn read(who: UsageWho) -> Result<Self> {
        fn seconds(time: nix::sys::time::TimeVal) -> f64 {
            time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
        }
        let usage: Usage = getrusage(who).map_err(refused("read its CPU times"))?;
        Ok(ProcessUsage {
            user_seconds: seconds(usage.user_time()),
            system_seconds: seconds(usage.system_time()),
            voluntary_switches: usage.voluntary_context_switches() as u64,
            involuntary_switches: usage.involuntary_context_switches() as u64,
            max_resident_bytes: usage.max_rss() as u64 * 1024,
        })
    }
}

/// The usage since an earlier reading, zero where a counter is smaller. The peak memory is not
/// subtracted.
impl Sub for ProcessUsage {
    type Output = ProcessUsage;

    fn sub(self, before: ProcessUsage) -> ProcessUsage {
        ProcessUsage {
            user_seconds: (self.user_seconds - before.user_seconds).max(0.0),
            system_seconds: (self.system_seconds - before.system_seconds).max(0.0),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            max_resident_bytes: self.max_resident_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_parsed_from_its_line() {
        let run = RunStats {
            words: 123_456_789,
            wall_seconds: 1.25,
            user_seconds: 2.5,
            system_seconds: 0.125,
            voluntary_switches: 7,
            involuntary_switches: 0,
            peak_bytes: 1 << 40,
        };
        assert_eq!(RunStats::from_line(&run.to_line()), Some(run));
        assert_eq!(RunStats::from_line(""), None);
        assert_eq!(RunStats::from_line("1 2 3"), None);
        assert_eq!(RunStats::from_line("-1 2 3 4 5 6 7"), None);
    }
}
