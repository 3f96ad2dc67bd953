//! Extraction by several machines. Each machine counts one shard: the phrase pairs whose target
//! phrases have hashes in the range of the shard. One machine merges all shards.
//!
//! A shard is a group of partitions. Shards share nothing while they are counted. All counts of a
//! target phrase are in one shard, so any number of shards gives the same tables. Every machine
//! reads the whole text, which takes little of the time; occurrences of phrase pairs are never sent
//! between machines.
//!
//! In the output folder, `shards/I-of-N.run` has the phrase pairs of a shard in the order of
//! tables. `shards/I-of-N.done` is written after it; this record identifies text and options and
//! has the checksum of the run. `shards/I-of-N.partial` has the checkpoint of a shard that is
//! being counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, io};

use miriam_storage::file_lock::FileLock;
use miriam_textio::{Output, Progress};

use crate::checkpoint::FinishedPartition;
use crate::merge::{PhrasePairBatch, RunMerger};
use crate::options::MAX_PARTITIONS;
use crate::partition::CountsOfCounts;
use crate::sorted_run::{RunWriter, matches_checksum};
use crate::{
    Error, ExtractOptions, ExtractSummary, Inputs, Result, check_cancelled, count_partitions,
    create_folder, lock_folder, write_tables,
};

const FOLDER: &str = "shards";
const HEADER: &str = "miriam extract, shard, version 2";
/// The largest number of missing shards that an error names.
const NAMED_SHARDS: usize = 8;

/// One of the shards of an extraction, written `I/N` with `I` from 1 to `N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// The number of the shard, from 0.
    index: u64,
    count: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, "/").ok_or_else(|| {
            format!("expected I/N with I from 1 to N and N up to {MAX_PARTITIONS}, such as 3/40")
        })
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl Shard {
    fn parse(text: &str, separator: &str) -> Option<Self> {
        let (number, count) = text.split_once(separator)?;
        let number: u64 = number.parse().ok()?;
        let count = count.parse().ok().filter(|count| (1..=MAX_PARTITIONS).contains(count))?;
        (1..=count).contains(&number).then(|| Shard { index: number - 1, count })
    }

    /// Returns the path of this shard's file with the extension `suffix` in `folder`.
    fn path(self, folder: &Path, suffix: &str) -> PathBuf {
        folder.join(format!("{}-of-{}.{suffix}", self.index + 1, self.count))
    }

    /// Parses the name of a record file.
    fn from_record_name(name: &str) -> Option<Self> {
        Self::parse(name.strip_suffix(".done")?, "-of-")
    }
}

/// Counts the phrase pairs of `shard` for [`merge_shards`]. Skips a shard that is done already,
/// from the same text with the same options.
///
/// The options [`reordering_smoothing`](ExtractOptions::reordering_smoothing),
/// [`smoothing`](ExtractOptions::smoothing), [`min_count`](ExtractOptions::min_count),
/// [`min_probabilities`](ExtractOptions::min_probabilities) and
/// [`compression`](ExtractOptions::compression) have no effect before the merge. Any number of
/// shards may be counted at once, also by several machines that share the folder `output`. After a
/// process was killed, the same call resumes its work.
///
/// # Errors
/// Fails as [`extract_files`](crate::extract_files) does, or if another process counts the same
/// shard.
pub fn extract_shard(
    files: [&Path; 3],
    output: &Path,
    shard: Shard,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<()> {
    let folder = output.join(FOLDER);
    let inputs = Inputs::read(files, &folder, options, progress)?;
    let (run, record_path) = (shard.path(&folder, "run"), shard.path(&folder, "done"));
    let work = shard.path(&folder, "partial");
    create_folder(&work)?;
    let lock = lock_folder(&work)?;
    match ShardRecord::read(&record_path, &inputs.job) {
        Some(Ok(finished)) if matches_checksum(&run, &finished.checksum) => {
            tracing::info!("shard {shard} is done already");
            return remove_work_folder(lock, &work);
        }
        Some(_) => tracing::warn!(
            "{}: counting this shard again: its text or options differ, or it is damaged",
            record_path.display()
        ),
        None => {}
    }
    let state = inputs.open_checkpoint(&work, options, shard.count)?;
    let partitions = state.num_partitions();
    let extraction = inputs.extractor(options, shard.index * partitions, shard.count * partitions);
    let state = count_partitions(&extraction, state, options.threads.max(1), progress)?;

    let runs = state.finished_runs();
    let mut counts = CountsOfCounts::default();
    runs.iter().for_each(|(_, run)| counts.merge(&run.counts));
    let partial = work.join("merged.run");
    let mut writer = RunWriter::create(&partial)?;
    let mut merger = RunMerger::new(&runs, inputs.corpus.end_ranks(), options.batch_entries())?;
    let task = progress.task("shard", Some(counts.pairs));
    let mut batch = PhrasePairBatch::default();
    while let Some(next) = merger.next_batch(batch)? {
        next.try_for_each_pair(|_, pair| writer.push(pair))?;
        task.advance(next.len() as u64);
        check_cancelled(&task)?;
        batch = next;
    }
    let finished = FinishedPartition { checksum: writer.finish()?, counts };
    fs::rename(&partial, &run)
        .map_err(|e| miriam_textio::Error::io(&run.display().to_string(), "create", e))?;
    ShardRecord::write(&record_path, &inputs.job, &finished)?;
    state.remove()?;
    remove_work_folder(lock, &work)
}

/// Merges all shards in the folder `output` into the same tables, to the byte, that
/// [`extract_files`](crate::extract_files) writes. The shards stay; their folder can be removed
/// afterwards.
///
/// # Errors
/// Fails as [`extract_files`](crate::extract_files) does. Also fails if shards are missing or
/// damaged, belong to another text or other options, or differ in the number of shards.
pub fn merge_shards(
    files: [&Path; 3],
    output: &Path,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<ExtractSummary> {
    let folder = output.join(FOLDER);
    let shards = find_shards(&folder)?;
    let inputs = Inputs::read(files, output, options, progress)?;
    let _lock = lock_folder(output)?;
    let mut runs = Vec::with_capacity(shards.len());
    for shard in shards {
        let (run, record_path) = (shard.path(&folder, "run"), shard.path(&folder, "done"));
        let finished = match ShardRecord::read(&record_path, &inputs.job) {
            Some(Ok(finished)) => finished,
            Some(Err(reason)) => return Err(unusable(&record_path, shard, reason)),
            None => return Err(unusable(&record_path, shard, "cannot be read")),
        };
        if !matches_checksum(&run, &finished.checksum) {
            return Err(unusable(&run, shard, "the checksum does not match"));
        }
        runs.push((run, finished));
    }
    inputs.lexicon.write(&inputs.corpus, output)?;
    let (corpus, reordering) = (inputs.corpus, inputs.reordering);
    drop(inputs.lexicon);
    write_tables(&corpus, &runs, reordering, output, options, progress)
}

fn unusable(file: &Path, shard: Shard, reason: &str) -> Error {
    Error::Unsupported {
        file: file.display().to_string(),
        reason: format!("{reason}; count it again with --shard {shard}"),
    }
}

fn remove_work_folder(lock: FileLock, work: &Path) -> Result<()> {
    drop(lock);
    // The folder stays if another process has begun to use it.
    let _ = fs::remove_dir(work);
    Ok(())
}

/// Finds the shards in `folder` by their records. Fails unless they are all shards of one
/// extraction.
fn find_shards(folder: &Path) -> Result<Vec<Shard>> {
    let mut found = BTreeMap::<u64, Vec<Shard>>::new();
    // There is no folder before the first shard.
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        entries => Some(entries.map_err(|e| read_error(folder, e))?),
    };
    for entry in entries.into_iter().flatten() {
        let name = entry.map_err(|e| read_error(folder, e))?.file_name();
        if let Some(shard) = name.to_str().and_then(Shard::from_record_name) {
            found.entry(shard.count).or_default().push(shard);
        }
    }
    let Some((count, mut shards)) = found.pop_first() else {
        let reason = "no shard is done; count shards with --shard 1/N to --shard N/N".into();
        return Err(invalid_shards(folder, reason));
    };
    shards.sort_unstable();
    if let Some((other, _)) = found.pop_first() {
        let reason = format!(
            "found shards of {count} and of {other}; remove those that you do not want to merge"
        );
        return Err(invalid_shards(folder, reason));
    }
    let missing: Vec<String> = (0..count)
        .map(|index| Shard { index, count })
        .filter(|shard| !shards.contains(shard))
        .map(|shard| shard.to_string())
        .collect();
    if missing.is_empty() {
        return Ok(shards);
    }
    let named = missing[..missing.len().min(NAMED_SHARDS)].join(", ");
    let more = match missing.len().saturating_sub(NAMED_SHARDS) {
        0 => String::new(),
        unnamed => format!(" and {unnamed} more"),
    };
    let reason = format!("shards are missing: {named}{more}; count them with --shard");
    Err(invalid_shards(folder, reason))
}

fn invalid_shards(folder: &Path, reason: String) -> Error {
    Error::Unsupported { file: folder.display().to_string(), reason }
}

fn read_error(folder: &Path, error: io::Error) -> Error {
    miriam_textio::Error::io(&folder.display().to_string(), "read", error).into()
}

/// The record file of a shard that is done.
struct ShardRecord;

impl ShardRecord {
    fn write(path: &Path, job: &str, finished: &FinishedPartition) -> Result<()> {
        let mut output = Output::create_atomic(path)?;
        output.write(format!("{HEADER}\njob {job}\n{}\n", finished.to_line(0)).as_bytes())?;
        Ok(output.finish()?)
    }

    /// Reads the record at `path`. `None` if there is no file; an error says why it cannot be used.
    fn read(path: &Path, job: &str) -> Option<Result<FinishedPartition, &'static str>> {
        let text = fs::read_to_string(path).ok()?;
        Some(Self::parse(&text, job))
    }

    fn parse(text: &str, job: &str) -> Result<FinishedPartition, &'static str> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Err("is not a shard record of this version");
        }
        if lines.next().and_then(|line| line.strip_prefix("job ")) != Some(job) {
            return Err("belongs to another text or other options");
        }
        match (lines.next().and_then(FinishedPartition::parse_line), lines.next()) {
            (Some((0, finished)), None) => Ok(finished),
            _ => Err("is damaged"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shards_are_numbered_from_one() {
        for text in ["1/1", "40/40"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        for wrong in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/257", "1/3/3", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        let shard: Shard = "3/40".parse().unwrap();
        let name = shard.path(Path::new(""), "done");
        assert_eq!(Shard::from_record_name(name.to_str().unwrap()), Some(shard));
    }

    proptest! {
        #[test]
        fn any_file_is_a_record_or_rejected(
            text in "(miriam extract, shard, version 2\n)?(job j\n)?([0-9a-f ]{0,60}\n){0,3}",
        ) {
            let _ = ShardRecord::parse(&text, "j");
        }
    }
}
