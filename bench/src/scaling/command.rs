//! Measurement of another program, which reads lines from standard input and writes a line for
//! each.
//!
//! The time at which a program has loaded its models cannot be seen from outside. So the program
//! runs twice, once on the text and once on the text with further repeats, and the measurement is
//! the difference of the two runs (except for the peak memory). If the second run is too short, it
//! is made again on a longer text. The difference excludes loading, the end of the program, and the
//! first pass, which warms caches. Measurements of this program's own systems exclude them too.
//! Times, context switches and memory are those of the program and of all processes that it waits
//! for. The program reads a file, as with `<`, so that only the counting of its output lines
//! competes with it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::NamedTempFile;

use super::measurement::{ENOUGH, Measurement};
use super::run_stats::{ProcessUsage, RunStats};
use super::text::MeasuredText;
use crate::error::{Error, Result, refused};

/// The longest repeated text in bytes. A program that is too fast even for this text is not
/// measured.
const MAX_TEXT_BYTES: u64 = 4 << 30;
/// The largest factor by which a repeated text grows if it was too short.
const MAX_GROWTH: f64 = 10.0;
/// The number of lines of the program's messages that an error shows.
const SHOWN_MESSAGES: usize = 5;

impl Measurement {
    /// Measures a command of the shell `sh`.
    ///
    /// # Errors
    /// If the command cannot be started or fails, if it does not write a line for each line that
    /// it reads, if it is too fast to be measured, and if the text cannot be read or copied.
    pub fn measure_command(&self, command: &str) -> Result<RunStats> {
        let text = self.prepare()?;
        let once = RepeatedFile::create(&text, 1)?;
        let base = run_command(command, &once)?;
        let most = (MAX_TEXT_BYTES / text.bytes.len() as u64).max(2) - 1;
        let expected = self.expected_rate.unwrap_or(0.0) * self.seconds / text.words as f64;
        let mut passes = (expected.ceil() as u64).clamp(1, most);
        loop {
            let repeated = RepeatedFile::create(&text, 1 + passes)?;
            let long = run_command(command, &repeated)?;
            let wall_seconds = long.wall_seconds - base.wall_seconds;
            let usage = long.usage - base.usage;
            if wall_seconds >= ENOUGH * self.seconds {
                return Ok(RunStats::new(text.words * passes, wall_seconds, usage));
            }
            if passes == most {
                return Err(Error::unmeasurable(format!(
                    "{command}: too fast to be measured: the text {passes} times takes only \
                     {wall_seconds:.2} s; lower --seconds"
                )));
            }
            // Variation of the loading time may hide the difference of wall times, but hardly that
            // of CPU times.
            let cpu_seconds = usage.user_seconds + usage.system_seconds;
            let least = (cpu_seconds / self.cpus.len() as f64).max(wall_seconds).max(1e-9);
            let growth = 1.1 * self.seconds / least;
            passes = ((passes as f64 * growth.clamp(1.3, MAX_GROWTH)).ceil() as u64).min(most);
        }
    }
}

/// A text in a temporary file.
struct RepeatedFile {
    file: NamedTempFile,
    lines: u64,
}

impl RepeatedFile {
    fn create(text: &MeasuredText, passes: u64) -> Result<Self> {
        let mut file = NamedTempFile::new().map_err(refused("make a temporary file"))?;
        io::copy(&mut text.repeated(passes)?, &mut file)
            .and_then(|_| file.flush())
            .map_err(refused("copy the text to a temporary file"))?;
        Ok(RepeatedFile { file, lines: text.lines * passes })
    }
}

/// The wall time and the usage of a command, without this process.
struct CommandRun {
    wall_seconds: f64,
    usage: ProcessUsage,
}

/// Runs `command` on a text, counts its lines of output and discards them.
fn run_command(command: &str, text: &RepeatedFile) -> Result<CommandRun> {
    let input = text.file.reopen().map_err(refused("open its temporary file"))?;
    let mut messages = tempfile::tempfile().map_err(refused("make a temporary file"))?;
    let copy = messages.try_clone().map_err(refused("open its temporary file"))?;
    let before = ProcessUsage::read_children()?;
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(copy)
        .spawn()
        .map_err(refused("start sh"))?;
    let counted = count_lines(child.stdout.take().expect("it is piped"));
    let status = child.wait().map_err(refused("wait for a command"))?;
    let wall_seconds = start.elapsed().as_secs_f64();
    let usage = ProcessUsage::read_children()? - before;
    let lines = counted.map_err(refused("read the output of a command"))?;
    let complaint = if !status.success() {
        format!("it failed with {status}")
    } else if lines != text.lines {
        format!(
            "it wrote {lines} lines for {}; a system writes a line for each line that it reads",
            text.lines
        )
    } else {
        return Ok(CommandRun { wall_seconds, usage });
    };
    let mut reason = format!("{command}: {complaint}");
    if let Some(end) = last_messages(&mut messages) {
        let _ = write!(reason, "; the end of its messages: {end}");
    }
    Err(Error::unmeasurable(reason))
}

/// Returns the number of lines. The last one may lack a line feed.
fn count_lines(mut output: impl Read) -> io::Result<u64> {
    let (mut lines, mut last, mut buffer) = (0, b'\n', vec![0; 64 << 10]);
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return Ok(lines + u64::from(last != b'\n')),
            Ok(read) => {
                lines += buffer[..read].iter().filter(|&&byte| byte == b'\n').count() as u64;
                last = buffer[read - 1];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the last lines of a program's messages, if there are any.
fn last_messages(messages: &mut File) -> Option<String> {
    const MAX_MESSAGE_BYTES: u64 = 4 << 10;
    let length = messages.seek(SeekFrom::End(0)).ok()?;
    messages.seek(SeekFrom::Start(length.saturating_sub(MAX_MESSAGE_BYTES))).ok()?;
    let mut bytes = Vec::new();
    messages.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_MESSAGES)..];
    (!text.trim().is_empty()).then(|| shown.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usage of children is that of the whole process, so tests take turns.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

    fn measure(command: &str, seconds: f64) -> Result<RunStats> {
        let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a b\nc\n\nd e\n").unwrap();
        // Measuring pins the calling thread and its children, so it runs in a thread of its own.
        let settings = Measurement {
            input: file.path().into(),
            cpus: miriam_textio::affinity::allowed_cpus().unwrap()[..1].to_vec(),
            seconds,
            expected_rate: None,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| settings.measure_command(command)).join().unwrap()
        })
    }

    /// The command loads for half a second, which is excluded. A line takes 20 ms without CPU time.
    #[test]
    fn loading_is_excluded_and_waiting_costs_no_cpu_time() {
        let slow = "sleep 0.5; while read -r line; do sleep 0.02; echo \"$line\"; done";
        let run = measure(slow, 0.5).unwrap();
        let passes = run.words / 5;
        assert_eq!(run.words % 5, 0);
        let least = 4.0 * 0.02 * passes as f64;
        assert!((least..4.0 * least).contains(&run.wall_seconds), "{run:?}");
        assert!(run.wall_seconds >= 0.4, "{run:?}");
        assert!(run.user_seconds + run.system_seconds < 0.8 * run.wall_seconds, "{run:?}");
        assert!(run.voluntary_switches >= 4 * passes, "each sleep waits: {run:?}");
        assert!(run.peak_bytes > 100 << 10, "{run:?}");
    }

    #[test]
    fn cpu_time_is_that_of_the_command() {
        let busy = "awk '{ for (i = 0; i < 100000; i++) x += i; print }'";
        let run = measure(busy, 0.3).unwrap();
        assert!((run.user_seconds + run.system_seconds) > 0.2 * run.wall_seconds, "{run:?}");
        assert!((run.user_seconds + run.system_seconds) < 1.2 * run.wall_seconds, "{run:?}");
    }

    #[test]
    fn failing_and_unfit_commands_say_why() {
        let error = |command: &str| measure(command, 0.1).unwrap_err().to_string();
        let failed = error("cat > /dev/null; echo no model here >&2; exit 3");
        assert!(failed.contains("exit status: 3") && failed.contains("no model here"), "{failed}");
        let short = error("head -n 3");
        assert!(short.contains("head -n 3: it wrote 3 lines for 4"), "{short}");
        let absent = error("./absent-program");
        assert!(absent.contains("exit status: 127"), "{absent}");
    }

    #[test]
    fn lines_without_a_last_line_feed_count() {
        let count = |text: &str| count_lines(text.as_bytes()).unwrap();
        assert_eq!([count(""), count("a"), count("a\n"), count("a\n\nb")], [0, 1, 1, 3]);
    }
}
