//! Output that a long run writes in parts. If the run is killed, the next run continues after the
//! last part.
//!
//! Each part is compressed by itself, and every reader of the format reads concatenated parts as
//! one text. So an unfinished file can be cut after any part. A small file, `NAME.partial.state`,
//! has the amount of input that the parts cover, their length, a hash of all that they depend on,
//! and a hash of the parts themselves, because another command may have begun the file anew since.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use miriam_storage::hash::{Hasher, hash64};
use miriam_storage::partial_file::{is_special, partial_path};
use miriam_storage::paths::with_suffix;

use crate::{Compression, Error, Output, Result, TextCompressor};

/// The minimum time between two writes of the state, because each write waits for the disk.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// An output that is written in parts, each for some units of input, such as lines.
pub struct ResumableOutput {
    output: Output,
    compressor: TextCompressor,
    /// The path of the state; `None` if nothing can be continued.
    state_path: Option<PathBuf>,
    /// The progress so far, which may be ahead of the saved state.
    state: State,
    /// The hasher of the parts in the file.
    parts_hasher: Hasher,
    /// The time when the state was saved, or the output opened.
    saved_at: Instant,
}

/// The progress of an unfinished file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// The hash of the description of the job.
    job: u64,
    /// The number of units of input that the parts cover.
    units: u64,
    /// The size of the parts in the file.
    bytes: u64,
    /// The hash of the parts; out of date until the state is saved.
    hash: u64,
}

impl ResumableOutput {
    /// Opens the output at `path`: `-` is standard output; other names are as for
    /// [`Output::create`]. `job` describes all that the text depends on; if an unfinished file is
    /// of the same job, it is continued. Without a job, or if the output is not a file, nothing is
    /// continued. [`units`](Self::units) says how much of the input the unfinished file covers.
    ///
    /// # Errors
    /// If the file cannot be created, or another process is writing it.
    pub fn open(path: &Path, job: Option<&str>) -> Result<Self> {
        let state_path = state_path(path);
        let job_hash = job.map(|job| hash64(job.as_bytes()));
        let is_file = path.as_os_str() != "-" && !is_special(path);
        let saved = State::read(&state_path).filter(|_| is_file);
        let resumed = saved.filter(|state| Some(state.job) == job_hash).and_then(|state| {
            let hasher = hash_parts(&partial_path(path), state.bytes)?;
            let is_unchanged = hasher.finish() == state.hash;
            let output = is_unchanged.then(|| Output::resume(path, state.bytes).ok()).flatten()?;
            Some((output, state, hasher))
        });
        let (output, state, parts_hasher) = match resumed {
            Some(resumed) => resumed,
            None => {
                let output = Output::resume(path, 0)?;
                if output.is_file() {
                    // The file begins anew, so an old state does not describe it.
                    let _ = fs::remove_file(&state_path);
                }
                let state = State { job: job_hash.unwrap_or(0), units: 0, bytes: 0, hash: 0 };
                (output, state, Hasher::new())
            }
        };
        let compressor = TextCompressor::new(Compression::from_path(path));
        Ok(ResumableOutput {
            state_path: Some(state_path).filter(|_| job.is_some() && output.is_file()),
            output,
            compressor,
            state,
            parts_hasher,
            saved_at: Instant::now(),
        })
    }

    /// Returns the number of units of input whose text has been written, also by earlier runs.
    pub fn units(&self) -> u64 {
        self.state.units
    }

    /// Writes the text of the next `units` units.
    ///
    /// # Errors
    /// If compression or writing fails.
    pub fn write_part(&mut self, text: Vec<u8>, units: u64) -> Result<()> {
        let compressed = self
            .compressor
            .compress(&text)
            .map_err(|e| Error::io(self.output.name(), "write", e))?;
        self.output.write(&compressed)?;
        self.parts_hasher.update(&compressed);
        self.state.units += units;
        self.state.bytes += compressed.len() as u64;
        if self.saved_at.elapsed() >= SAVE_INTERVAL {
            self.save()?;
        }
        Ok(())
    }

    /// Writes the buffer, for a reader that waits for it.
    ///
    /// # Errors
    /// If writing fails.
    pub fn flush(&mut self) -> Result<()> {
        self.output.flush()
    }

    /// Writes the file to disk, then the state that says how much of it is there. Does nothing if
    /// the output cannot be continued.
    fn save(&mut self) -> Result<()> {
        if let Some(path) = &self.state_path {
            self.output.sync()?;
            self.state.hash = self.parts_hasher.finish();
            Output::write_file(path, self.state.to_text().as_bytes())?;
        }
        self.saved_at = Instant::now();
        Ok(())
    }

    /// Ends the output. If it `is_complete`, the file gets its name; otherwise a later run can
    /// continue it.
    ///
    /// # Errors
    /// If writing, syncing or renaming fails.
    pub fn finish_if(mut self, is_complete: bool) -> Result<()> {
        if !is_complete {
            // Without parts there is nothing to continue.
            if self.state.units > 0 {
                self.save()?;
            }
            return self.output.finish_incomplete();
        }
        let state_path = self.state_path.take();
        self.output.finish()?;
        if let Some(path) = state_path {
            // A state that cannot be removed is harmless: its unfinished file no longer exists.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

/// Hashes the first `length` bytes of a file; `None` if it has fewer or cannot be read.
fn hash_parts(path: &Path, length: u64) -> Option<Hasher> {
    let mut file = File::open(path).ok()?.take(length);
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut hashed = 0;
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return (hashed == length).then_some(hasher),
            read => {
                hasher.update(&buffer[..read]);
                hashed += read as u64;
            }
        }
    }
}

/// Returns the path of the state of the output at `path`.
fn state_path(path: &Path) -> PathBuf {
    with_suffix(&partial_path(path), ".state")
}

impl State {
    /// Reads a state; `None` if there is none or it is damaged, so that the file begins anew.
    fn read(path: &Path) -> Option<State> {
        State::parse(&fs::read(path).ok()?)
    }

    fn parse(text: &[u8]) -> Option<State> {
        let text = std::str::from_utf8(text).ok()?;
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let job = u64::from_str_radix(value("job")?, 16).ok()?;
        let state = State {
            job,
            units: value("units")?.parse().ok()?,
            bytes: value("bytes")?.parse().ok()?,
            hash: u64::from_str_radix(value("hash")?, 16).ok()?,
        };
        lines.next().is_none().then_some(state)
    }

    fn to_text(self) -> String {
        let State { job, units, bytes, hash } = self;
        format!("job {job:016x}\nunits {units}\nbytes {bytes}\nhash {hash:016x}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use proptest::prelude::*;
    use std::io::Read;

    fn read_text(path: &Path) -> String {
        let mut text = String::new();
        Input::open(path).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_stopped_run_is_continued_only_by_the_same_job() {
        for name in ["a", "a.gz", "a.zst", "a.bz2", "a.xz"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            let open = |job: &str| ResumableOutput::open(&path, Some(job)).unwrap();
            let write = |output: &mut ResumableOutput, text: &str, units| {
                output.write_part(text.as_bytes().to_vec(), units).unwrap();
            };
            let mut first = open("job");
            assert_eq!(first.units(), 0);
            write(&mut first, "one\n", 3);
            first.save().unwrap();
            write(&mut first, "lost\n", 1);
            // As if it were killed.
            drop(first);
            let mut second = open("job");
            assert_eq!(second.units(), 3, "{name}");
            write(&mut second, "two\n", 2);
            second.finish_if(false).unwrap();
            assert!(!path.exists());
            let mut third = open("job");
            assert_eq!(third.units(), 5, "{name}");
            write(&mut third, "three\n", 1);
            third.finish_if(true).unwrap();
            assert_eq!(read_text(&path), "one\ntwo\nthree\n", "{name}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
            let mut other = open("job");
            assert_eq!(other.units(), 0, "the file is complete");
            write(&mut other, "four\n", 4);
            other.finish_if(false).unwrap();
            assert_eq!(open("another job").units(), 0);
        }
    }

    #[test]
    fn a_file_without_its_parts_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut output = ResumableOutput::open(&path, Some("job")).unwrap();
        output.write_part(b"one\n".to_vec(), 1).unwrap();
        output.finish_if(false).unwrap();
        fs::write(partial_path(&path), "on").unwrap();
        let mut output = ResumableOutput::open(&path, Some("job")).unwrap();
        assert_eq!(output.units(), 0);
        output.write_part(b"new\n".to_vec(), 1).unwrap();
        output.finish_if(true).unwrap();
        assert_eq!(read_text(&path), "new\n");
    }

    #[test]
    fn a_run_that_wrote_nothing_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = ResumableOutput::open(&folder.path().join("a"), Some("job")).unwrap();
        output.finish_if(false).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// An unfinished file that another command wrote under this name is not taken for parts.
    #[test]
    fn parts_of_others_are_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let stop = |job: Option<&str>, text: &str| {
            let mut output = ResumableOutput::open(&path, job).unwrap();
            assert_eq!(output.units(), 0);
            output.write_part(text.as_bytes().to_vec(), 1).unwrap();
            output.finish_if(false).unwrap();
        };
        stop(Some("job"), "one\n");
        fs::write(partial_path(&path), "six\nseven\n").unwrap();
        stop(Some("job"), "one\n");
        stop(None, "two\n");
        assert!(!state_path(&path).exists());
        stop(Some("job"), "one\n");
        assert_eq!(ResumableOutput::open(&path, Some("job")).unwrap().units(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn output_to_a_device_is_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut output = ResumableOutput::open(&path, Some("job")).unwrap();
        output.write_part(b"one\n".to_vec(), 1).unwrap();
        output.finish_if(false).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert_eq!(ResumableOutput::open(&path, Some("job")).unwrap().units(), 0);
        fs::remove_file(&path).unwrap();
        assert_eq!(ResumableOutput::open(&path, Some("job")).unwrap().units(), 1);
    }

    proptest! {
        /// A state is read as it was written. Other bytes give `None` or another state.
        #[test]
        fn states_are_read_back(
            job: u64, units: u64, bytes: u64, hash: u64, cut in 0_usize..90, other: u8,
        ) {
            let state = State { job, units, bytes, hash };
            let mut text = state.to_text().into_bytes();
            prop_assert_eq!(State::parse(&text), Some(state));
            let cut = cut.min(text.len() - 1);
            prop_assert_eq!(State::parse(&text[..cut]), None);
            text[cut] = other;
            State::parse(&text);
        }
    }
}
