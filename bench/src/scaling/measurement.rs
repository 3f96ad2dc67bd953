//! Measurement inside the measuring process, which either loads the models of a workload of this
//! program or runs another program (`command.rs`).
//!
//! The process is pinned to its CPUs as a whole, with the threads that load models, read and write.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use miriam_decoder::{Configuration, System, translate_text};
use miriam_textio::process_memory::peak_resident_bytes;
use miriam_textio::{CancellationToken, Input, NoProgress, affinity};

use super::run_stats::{ProcessUsage, RunStats};
use super::text::MeasuredText;
use crate::error::{Error, Result, refused};

/// The share of the wanted duration that a measurement must reach.
pub(super) const ENOUGH: f64 = 0.8;

/// The settings of one measurement.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The text, a file.
    pub input: PathBuf,
    /// The CPUs that the process may use, one for each thread.
    pub cpus: Vec<usize>,
    /// The wanted duration of the measured part in seconds, for which the text is repeated. A fifth
    /// less is accepted.
    pub seconds: f64,
    /// The words per second of an earlier measurement of the same system. It tells how often the
    /// text must be repeated, which saves trial runs of other programs.
    pub expected_rate: Option<f64>,
}

impl Measurement {
    /// Pins this process to the CPUs, and reads the text.
    pub(super) fn prepare(&self) -> Result<MeasuredText> {
        affinity::pin_to_cpus(&self.cpus).map_err(refused("pin itself to its CPUs"))?;
        MeasuredText::read(&self.input)
    }

    /// Measures a workload of this program. `load` loads its models and returns the function that
    /// processes a text. The text is processed once, which also fills the caches that lines share,
    /// and then repeatedly for about the given seconds, which are measured.
    ///
    /// # Errors
    /// If the text cannot be read, and those of `load` and its function.
    pub fn measure<P, E>(&self, load: impl FnOnce() -> Result<P, E>) -> Result<RunStats, E>
    where
        P: FnMut(Input) -> Result<(), E>,
        E: From<Error>,
    {
        let text = self.prepare()?;
        let mut process = load()?;
        let mut time_passes = |passes: u64| -> Result<f64, E> {
            let start = Instant::now();
            process(text.repeated(passes)?)?;
            Ok(start.elapsed().as_secs_f64())
        };
        let mut passes = passes_for(self.seconds, time_passes(1)?);
        loop {
            let before = ProcessUsage::read_own()?;
            let wall_seconds = time_passes(passes)?;
            let usage = ProcessUsage::read_own()? - before;
            if wall_seconds >= ENOUGH * self.seconds {
                let stats = RunStats::new(text.words * passes, wall_seconds, usage);
                let peak_bytes = peak_resident_bytes().unwrap_or(stats.peak_bytes);
                return Ok(RunStats { peak_bytes, ..stats });
            }
            // The first pass was much slower, as when it filled caches.
            passes = passes_for(self.seconds, wall_seconds / passes as f64).max(passes + 1);
        }
    }

    /// Measures the translation of a phrase system. Translations are discarded, unless the
    /// configuration names files for them.
    ///
    /// # Errors
    /// If the system cannot be loaded, or the text cannot be read or translated.
    pub fn measure_phrase_system(&self, mut configuration: Configuration) -> Result<RunStats> {
        for (_, path) in &mut configuration.settings.outputs {
            if path.as_os_str() == "-" {
                *path = "/dev/null".into();
            }
        }
        self.measure(|| {
            let threads = configuration.settings.threads;
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(io::Error::other).map_err(refused("start threads"))?;
            let system = pool.install(|| System::load(&configuration, &NoProgress))?;
            Ok(move |input| {
                translate_text(&system, input, &CancellationToken::new(), &NoProgress)?;
                Ok(())
            })
        })
    }
}

/// Returns the number of passes that take `seconds` if one takes `pass` seconds.
fn passes_for(seconds: f64, pass: f64) -> u64 {
    (seconds / pass.max(1e-6)).ceil().clamp(1.0, 1e9) as u64
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Read;
    use std::time::Duration;

    use super::*;

    /// A workload whose first pass takes 100 ms and a later one 10 ms.
    #[test]
    fn later_passes_are_measured_for_the_time_asked() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a b c\n").unwrap();
        let measurement = Measurement {
            input: file.path().into(),
            cpus: affinity::allowed_cpus().unwrap()[..1].to_vec(),
            seconds: 0.3,
            expected_rate: None,
        };
        let run = std::thread::spawn(move || {
            let is_cold = Cell::new(true);
            measurement.measure(|| {
                Ok::<_, Error>(move |mut input: Input| {
                    let mut text = String::new();
                    input.read_to_string(&mut text).unwrap();
                    let passes = text.lines().count() as u32;
                    let each = if is_cold.take() { 100 } else { 10 };
                    std::thread::sleep(passes * Duration::from_millis(each));
                    Ok(())
                })
            })
        });
        let run = run.join().unwrap().unwrap();
        assert!(run.wall_seconds >= 0.24, "{run:?}");
        let passes = run.words / 3;
        assert!(0.01 * passes as f64 <= run.wall_seconds, "{run:?}");
        assert!(passes > 10 && run.words.is_multiple_of(3), "{run:?}");
    }
}
