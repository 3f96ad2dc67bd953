//! Measurement in a child process: the function that starts it, and the one that runs in it.
//!
//! The child prints its result as one line of numbers, and discards its translations.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use miriam_decoder::{Configuration, System, translate_text};
use miriam_textio::process_memory::peak_resident_bytes;
use miriam_textio::{CancellationToken, Input, NoProgress, affinity, display_name, fields};
use nix::sys::resource::{Usage, UsageWho, getrusage};

use super::ScalingOptions;
use crate::error::{Error, Result};
use crate::input::read_text;

/// The number of words, the times and the memory of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunStats {
    /// The number of source words translated.
    pub words: u64,
    /// Wall time from the start of reading to the last translation.
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
    /// Returns the words per second.
    pub fn words_per_second(&self) -> f64 {
        self.words as f64 / self.wall_seconds
    }

    /// Returns the kernel's share of the CPU time, from 0 to 1.
    pub fn system_share(&self) -> f64 {
        self.system_seconds / (self.user_seconds + self.system_seconds).max(1e-9)
    }

    fn to_line(self) -> String {
        let RunStats { words, wall_seconds, user_seconds, system_seconds, .. } = self;
        let RunStats { voluntary_switches, involuntary_switches, peak_bytes, .. } = self;
        format!(
            "{words} {wall_seconds} {user_seconds} {system_seconds} {voluntary_switches} \
             {involuntary_switches} {peak_bytes}\n"
        )
    }

    fn from_line(line: &str) -> Option<Self> {
        let numbers: Vec<f64> =
            line.split_ascii_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let &[words, wall_seconds, user_seconds, system_seconds, voluntary, involuntary, peak] =
            &numbers[..]
        else {
            return None;
        };
        Some(RunStats {
            words: words as u64,
            wall_seconds,
            user_seconds,
            system_seconds,
            voluntary_switches: voluntary as u64,
            involuntary_switches: involuntary as u64,
            peak_bytes: peak as u64,
        })
    }
}

/// Measures a child process with one worker on each of `cpus`.
pub fn spawn_measurement(study: &ScalingOptions, cpus: &[usize]) -> Result<RunStats> {
    let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
    let program = std::env::current_exe().map_err(refused("find this program"))?;
    let output = Command::new(program)
        .args(["bench", "scaling-run", "--log-level", "warn", "--seconds"])
        .arg(study.seconds.to_string())
        .arg("--")
        .arg("-f")
        .arg(&study.config)
        .arg("-i")
        .arg(&study.input)
        .args(["-threads", &cpus.len().to_string(), "-cpus", &list.join(",")])
        .args(&study.options)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(refused("start a measurement"))?;
    let line = String::from_utf8_lossy(&output.stdout);
    match RunStats::from_line(&line) {
        Some(run) if output.status.success() => Ok(run),
        _ => Err(Error::unmeasurable(format!(
            "the measurement of {} threads failed: {}",
            cpus.len(),
            output.status
        ))),
    }
}

/// Returns a function for `map_err` that returns an [`Error::Io`] of this process.
pub fn refused<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Error {
    move |source| Error::Io { place: "this process".into(), action, source: source.into() }
}

/// Runs one measurement in the child process that [`run`](super::run) starts: translates the text
/// once, then repeatedly for about `seconds`, and prints the `RunStats` of the second phase.
///
/// # Errors
/// If the system cannot be loaded, or the text cannot be read or translated.
pub fn run_measurement(
    mut configuration: Configuration,
    seconds: f64,
    out: &mut dyn Write,
) -> Result<()> {
    for (_, path) in &mut configuration.settings.outputs {
        if path.as_os_str() == "-" {
            *path = "/dev/null".into();
        }
    }
    let settings = &configuration.settings;
    // The whole process is pinned: the threads that read, write and load models too.
    affinity::pin_to_cpus(&settings.cpus).map_err(refused("pin itself to its CPUs"))?;
    let name = display_name(&settings.input);
    let mut text = read_text(&settings.input)?;
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    let words: u64 =
        text.split(|&b| b == b'\n').map(|line| fields::split_words(line).count() as u64).sum();
    if words == 0 {
        return Err(Error::unmeasurable(format!("{name}: the text has no words")));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    let pool = pool.map_err(io::Error::other).map_err(refused("start threads"))?;
    let system = pool.install(|| System::load(&configuration, &NoProgress))?;
    drop(pool);

    // The first pass also fills the caches that sentences share.
    let translate = |passes: u64| -> Result<f64> {
        let text = RepeatedText { text: text.clone(), position: 0, passes };
        let start = Instant::now();
        let input = Input::from_reader(text, &name, None)?;
        translate_text(&system, input, &CancellationToken::new(), &NoProgress)?;
        Ok(start.elapsed().as_secs_f64())
    };
    let passes = (seconds / translate(1)?.max(1e-6)).ceil().clamp(1.0, 1e9) as u64;
    let before = own_usage()?;
    let wall = translate(passes)?;
    let after = own_usage()?;

    let run = RunStats {
        words: words * passes,
        wall_seconds: wall,
        user_seconds: in_seconds(after.user_time()) - in_seconds(before.user_time()),
        system_seconds: in_seconds(after.system_time()) - in_seconds(before.system_time()),
        voluntary_switches: (after.voluntary_context_switches()
            - before.voluntary_context_switches()) as u64,
        involuntary_switches: (after.involuntary_context_switches()
            - before.involuntary_context_switches()) as u64,
        peak_bytes: peak_resident_bytes().unwrap_or(after.max_rss() as u64 * 1024),
    };
    Ok(out.write_all(run.to_line().as_bytes())?)
}

fn own_usage() -> Result<Usage> {
    getrusage(UsageWho::RUSAGE_SELF).map_err(refused("read its CPU times"))
}

fn in_seconds(time: nix::sys::time::TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// A reader that returns a text a given number of times.
struct RepeatedText {
    text: Vec<u8>,
    position: usize,
    passes: u64,
}

impl Read for RepeatedText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.text.len() {
            self.passes -= 1;
            self.position = 0;
        }
        if self.passes == 0 {
            self.position = self.text.len();
            self.passes = 1;
            return Ok(0);
        }
        let taken = buffer.len().min(self.text.len() - self.position);
        buffer[..taken].copy_from_slice(&self.text[self.position..self.position + taken]);
        self.position += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_as_often_as_asked() {
        let mut all = Vec::new();
        let mut reader = RepeatedText { text: b"abc\n".to_vec(), position: 0, passes: 3 };
        reader.by_ref().take(6).read_to_end(&mut all).unwrap();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"abc\nabc\nabc\n");
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0, "and then ends for good");
    }

    #[test]
    fn a_run_goes_through_its_line() {
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
    }
}
