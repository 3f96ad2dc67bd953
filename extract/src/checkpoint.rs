//! Checkpoint of an extraction, from which the next extraction resumes if the process was killed.
//!
//! The sorted runs of partitions are in a temporary folder. A small file beside the tables lists
//! the complete runs and identifies their text and options. That file is not trusted: the text is
//! read again and must have the same digest, and every run must match its checksum.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_textio::Output;

use crate::partition::{CountsOfCounts, MAX_COUNTED};
use crate::sorted_run::{Checksum, matches_checksum};
use crate::{Error, Result};

const FILE_NAME: &str = "extract.state";
const HEADER: &str = "miriam extract, unfinished, version 2";

/// The partitions that are done, and the folder of their runs.
pub(crate) struct Checkpoint {
    path: PathBuf,
    folder: PathBuf,
    job: String,
    partitions: Vec<Option<FinishedPartition>>,
}

/// A partition that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FinishedPartition {
    pub checksum: Checksum,
    pub counts: CountsOfCounts,
}

impl Checkpoint {
    /// Resumes the checkpoint of `job` in the folder `output` if it has at least `min_partitions`
    /// partitions, so that they fit into memory. Otherwise creates one with `partitions`
    /// partitions.
    pub fn resume_or_create(
        output: &Path,
        temp: &Path,
        job: &str,
        min_partitions: u64,
        partitions: u64,
    ) -> Result<Self> {
        let path = output.join(FILE_NAME);
        if let Ok(bytes) = fs::read(&path) {
            match Self::resume(&path, temp, job, &String::from_utf8_lossy(&bytes)) {
                Some(state) if state.num_partitions() < min_partitions => {
                    tracing::info!(
                        "starting over with smaller partitions: each thread has less memory"
                    );
                    let _ = fs::remove_dir_all(&state.folder);
                }
                Some(state) => {
                    let done = state.partitions.iter().flatten().count();
                    tracing::info!(
                        "resuming: {done} of {} partitions are done",
                        state.partitions.len()
                    );
                    return Ok(state);
                }
                None => tracing::warn!(
                    "{}: starting over: the checkpoint is damaged, or belongs to another text, \
                     other options, another temporary folder or another version",
                    path.display()
                ),
            }
        }
        let folder =
            tempfile::Builder::new().prefix("miriam-extract-").tempdir_in(temp).map_err(|e| {
                miriam_textio::Error::io(&temp.display().to_string(), "create a folder in", e)
            })?;
        let state = Checkpoint {
            path,
            folder: folder.keep(),
            job: job.to_owned(),
            partitions: vec![None; partitions as usize],
        };
        state.save()?;
        Ok(state)
    }

    /// Parses the checkpoint file. `None` if it is invalid, if its runs are gone, or if it belongs
    /// to another job, whose runs are then removed.
    fn resume(path: &Path, temp: &Path, job: &str, text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != HEADER {
            return None;
        }
        let is_same_job = lines.next()?.strip_prefix("job ")? == job;
        let name = lines.next()?.strip_prefix("folder ")?;
        // Only folders that this program created are read or removed.
        if !name.starts_with("miriam-extract-") || name.contains(['/', '\\']) {
            return None;
        }
        let folder = temp.join(name);
        let partitions: usize = lines.next()?.strip_prefix("parts ")?.parse().ok()?;
        if !(1..=1 << 16).contains(&partitions) {
            return None;
        }
        if !is_same_job || !folder.is_dir() {
            let _ = fs::remove_dir_all(&folder);
            return None;
        }
        let mut state = Checkpoint {
            path: path.to_owned(),
            folder,
            job: job.to_owned(),
            partitions: vec![None; partitions],
        };
        for line in lines {
            let Some((partition, finished)) = FinishedPartition::parse_line(line) else { break };
            let is_usable = (partition as usize) < partitions
                && matches_checksum(&state.run_path(partition), &finished.checksum);
            if is_usable {
                state.partitions[partition as usize] = Some(finished);
            }
        }
        Some(state)
    }

    /// Returns the number of partitions.
    pub fn num_partitions(&self) -> u64 {
        self.partitions.len() as u64
    }

    /// Returns the partitions that are not done.
    pub fn missing_partitions(&self) -> Vec<u64> {
        (0..self.num_partitions()).filter(|&i| self.partitions[i as usize].is_none()).collect()
    }

    /// Returns the path of the run of `partition`.
    pub fn run_path(&self, partition: u64) -> PathBuf {
        self.folder.join(format!("{partition}.run"))
    }

    /// Marks `partition` as done.
    pub fn mark_finished(&mut self, partition: u64, finished: FinishedPartition) -> Result<()> {
        self.partitions[partition as usize] = Some(finished);
        self.save()
    }

    /// Returns the runs of finished partitions.
    pub fn finished_runs(&self) -> Vec<(PathBuf, FinishedPartition)> {
        let runs = (0..).zip(&self.partitions);
        runs.filter_map(|(i, run)| Some((self.run_path(i), run.clone()?))).collect()
    }

    /// Removes the checkpoint and all runs, at the end of an extraction.
    pub fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.folder).map_err(|e| remove_error(&self.folder, e))?;
        fs::remove_file(&self.path).map_err(|e| remove_error(&self.path, e))
    }

    fn save(&self) -> Result<()> {
        let folder = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let mut text = format!(
            "{HEADER}\njob {}\nfolder {folder}\nparts {}\n",
            self.job,
            self.partitions.len()
        );
        for (i, run) in (0..).zip(&self.partitions) {
            if let Some(run) = run {
                text.push_str(&run.to_line(i));
                text.push('\n');
            }
        }
        let mut output = Output::create_atomic(&self.path)?;
        output.write(text.as_bytes())?;
        Ok(output.finish()?)
    }
}

fn remove_error(path: &Path, error: std::io::Error) -> Error {
    miriam_textio::Error::io(&path.display().to_string(), "remove", error).into()
}

impl FinishedPartition {
    /// Returns the line of the checkpoint file for this result of `partition`.
    pub fn to_line(&self, partition: u64) -> String {
        let Checksum { entries, bytes, digest } = self.checksum;
        let counts = self.counts.counts.map(|count| count.to_string()).join(" ");
        format!("{partition} {entries} {bytes} {digest:016x} {} {counts}", self.counts.pairs)
    }

    /// Parses a line of the checkpoint file: a partition and its result.
    pub fn parse_line(line: &str) -> Option<(u64, Self)> {
        let mut words = line.split(' ');
        let partition = next_number(&mut words, 10)?;
        let checksum = Checksum {
            entries: next_number(&mut words, 10)?,
            bytes: next_number(&mut words, 10)?,
            digest: next_number(&mut words, 16)?,
        };
        let pairs = next_number(&mut words, 10)?;
        let mut counts = [0; MAX_COUNTED];
        for count in &mut counts {
            *count = next_number(&mut words, 10)?;
        }
        Some((partition, FinishedPartition { checksum, counts: CountsOfCounts { counts, pairs } }))
    }
}

fn next_number<'a>(words: &mut impl Iterator<Item = &'a str>, radix: u32) -> Option<u64> {
    u64::from_str_radix(words.next()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn finished(partition: u64) -> FinishedPartition {
        let counts = CountsOfCounts { counts: [partition; MAX_COUNTED], pairs: 11 };
        FinishedPartition {
            checksum: Checksum { entries: 3, bytes: 4, digest: 0xfedc_0000_0000_0001 },
            counts,
        }
    }

    #[test]
    fn saved_checkpoints_are_resumed_and_stale_ones_removed() {
        let (output, temp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let open = |job: &str, min_partitions, partitions| {
            Checkpoint::resume_or_create(
                output.path(),
                temp.path(),
                job,
                min_partitions,
                partitions,
            )
            .unwrap()
        };
        let mut state = open("a job", 4, 4);
        assert_eq!(state.missing_partitions(), [0, 1, 2, 3]);
        // A complete run, one that was damaged, and one that was removed.
        let checksum = Checksum {
            entries: 1,
            bytes: b"whole".len() as u64,
            digest: xxhash_rust::xxh3::xxh3_64(b"whole"),
        };
        fs::write(state.run_path(1), b"whole").unwrap();
        fs::write(state.run_path(2), b"what").unwrap();
        state.mark_finished(1, FinishedPartition { checksum, ..finished(1) }).unwrap();
        state.mark_finished(2, FinishedPartition { checksum, ..finished(2) }).unwrap();
        state.mark_finished(3, finished(3)).unwrap();
        let folder = state.folder.clone();
        drop(state);
        let state = open("a job", 3, 9);
        assert_eq!(state.missing_partitions(), [0, 2, 3], "the number of partitions stays");
        assert_eq!(
            state.finished_runs(),
            [(state.run_path(1), FinishedPartition { checksum, ..finished(1) })]
        );
        drop(state);
        let state = open("a job", 5, 9);
        assert_eq!(state.missing_partitions().len(), 9, "smaller partitions, for less memory");
        assert!(!folder.exists(), "runs that are too large are removed");
        let folder = state.folder.clone();
        drop(state);
        let state = open("another job", 1, 4);
        assert_eq!(state.missing_partitions().len(), 4);
        assert!(!folder.exists(), "stale runs are removed");
        state.remove().unwrap();
        for folder in [output, temp] {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    proptest! {
        #[test]
        fn any_file_is_a_checkpoint_or_rejected(
            text in "(miriam extract, unfinished, version 2\n)?(job j\n)?(folder (miriam-extract-)?[a/.]{0,2}\n)?(parts [0-9]{1,3}\n)?((1 3 4 f 11( [0-9]{1,2}){9,11}|[0-9a-f ]{0,60})\n){0,3}",
        ) {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("miriam-extract-a")).unwrap();
            let _ = Checkpoint::resume(&folder.path().join(FILE_NAME), folder.path(), "j", &text);
        }
    }
}
