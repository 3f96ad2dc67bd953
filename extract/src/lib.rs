//! Phrase pairs from word-aligned text: extraction, scores, lexical weights and reordering
//! counts, equal to those of Moses' training.
//!
//! 1. `corpus` reads the text once and stores it in a few bytes per word; `lexical_table`
//!    counts word translations.
//! 2. Phrase pairs are partitioned by the hash of their target phrases. A `partition`
//!    sweeps over the corpus and scatters the occurrences of its pairs (`phrase_occurrence`) to
//!    buckets that fit into caches. Pairs are counted in the buckets (`bucket_counts`) and written
//!    in the order of tables (`sorted_pairs`) as a `sorted_run`. The memory limit determines the
//!    number of partitions.
//! 3. `merge` reads all runs as one and so finds the counts of source phrases; `tables`
//!    formats the lines.
//!
//! Moses writes every occurrence of a pair as text, three times, and sorts it five times. Here
//! words are numbers in the order of the words' bytes, an occurrence is some thirty bytes, and text
//! is written once, at the end.
//!
//! The memory limit and the number of threads do not change the results. Runs survive a killed
//! process: a `checkpoint` lists the runs that can be used again. Several machines can count the
//! partitions of an extraction, as `shards`.
//!
//! # Examples
//! ```
//! use std::fs;
//!
//! use miriam_extract::{ExtractOptions, extract_files};
//! use miriam_textio::{Compression, NoProgress};
//!
//! let folder = tempfile::tempdir()?;
//! let path = |name| folder.path().join(name);
//! fs::write(path("source"), "das haus\n")?;
//! fs::write(path("target"), "the house\n")?;
//! fs::write(path("links"), "0-0 1-1\n")?;
//! let options = ExtractOptions { compression: Compression::None, ..ExtractOptions::default() };
//! let files = [path("source"), path("target"), path("links")];
//! let summary =
//!     extract_files(&files[0], &files[1], &files[2], &path("model"), &options, &NoProgress)?;
//! assert_eq!(summary.entries, 3);
//! let table = fs::read_to_string(path("model").join("phrase-table"))?;
//! assert!(table.starts_with("das haus ||| the house ||| 1 1 1 1 ||| 0-0 1-1 ||| 1 1 1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bucket_counts;
mod checkpoint;
mod consistent_spans;
mod corpus;
mod discount;
mod lexical_table;
mod links;
mod merge;
mod options;
mod partition;
mod phrase_occurrence;
mod phrase_pair;
mod phrases;
mod probability_thresholds;
mod ranked_vocabulary;
mod record_buckets;
mod reordering;
mod sentence_pair;
mod sentence_weights;
mod shards;
mod significance;
mod sorted_pairs;
mod sorted_run;
mod tables;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use miriam_storage::file_lock::FileLock;
use miriam_storage::partial_file::remove_stale_files;
use miriam_storage::spill_file::check_folder;
use miriam_textio::{Output, Progress, ProgressTask, TextCompressor, ordered_map};

use crate::checkpoint::{Checkpoint, FinishedPartition};
use crate::corpus::Corpus;
use crate::discount::Discount;
use crate::lexical_table::LexicalTable;
use crate::merge::{PhrasePairBatch, RunMerger};
pub use crate::options::{ExtractOptions, MAX_PHRASE_LENGTH, Smoothing};
use crate::partition::{CountsOfCounts, PhraseExtractor};
pub use crate::probability_thresholds::ProbabilityThresholds;
pub use crate::reordering::{ModelType, OrientationClasses, ReorderingType};
pub use crate::shards::{Shard, extract_shard, merge_shards};
pub use crate::significance::SignificanceThreshold;
use crate::sorted_run::RunWriter;
use crate::tables::TableFormatter;

/// The number of batches of text or phrase pairs in flight for each thread.
const IN_FLIGHT_BATCHES: u64 = 32;
/// The file that is locked while an extraction uses its folder.
const LOCK_FILE: &str = "extract.lock";

/// Extracts phrases from three parallel files into the folder `output`: `phrase-table` and
/// `reordering-table` (with the suffix of [`compression`](ExtractOptions::compression)),
/// `lex.e2f` and `lex.f2e`.
///
/// A killed extraction is resumed if `output` has its checkpoint, and the text and the options are
/// the same.
///
/// # Errors
/// Fails if the files have different numbers of lines, if a link is malformed or out of range, or
/// if a word contains `|||`, each with file and line. Also fails if an option is out of range, if
/// another extraction uses `output`, or if a file cannot be read or written;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn extract_files(
    source: &Path,
    target: &Path,
    alignment: &Path,
    output: &Path,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<ExtractSummary> {
    let inputs = Inputs::read([source, target, alignment], output, options, progress)?;
    let _lock = lock_folder(output)?;
    inputs.lexicon.write(&inputs.corpus, output)?;
    let state = inputs.open_checkpoint(output, options, 1)?;
    let extraction = inputs.extractor(options, 0, state.num_partitions());
    let state = count_partitions(&extraction, state, options.threads.max(1), progress)?;
    let (corpus, reordering) = (inputs.corpus, inputs.reordering);
    drop(inputs.lexicon);
    let summary =
        write_tables(&corpus, &state.finished_runs(), reordering, output, options, progress)?;
    state.remove()?;
    Ok(summary)
}

/// The inputs that all shards of an extraction share.
struct Inputs {
    corpus: Corpus,
    lexicon: LexicalTable,
    reordering: Option<ReorderingType>,
    /// A text that identifies the corpus and the options on which runs depend.
    job: String,
}

impl Inputs {
    /// Checks the options, creates the folders and reads the text.
    fn read(
        files: [&Path; 3],
        output: &Path,
        options: &ExtractOptions,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let reordering = options.validate()?;
        let threads = options.threads.max(1);
        [output, &options.temp_dir].into_iter().try_for_each(create_folder)?;
        // Without --temp, temporary files are beside the tables.
        check_folder(&options.temp_dir, "or name another folder with --temp or --output")?;
        let memory = options.memory / 4;
        let corpus =
            Corpus::read(files, options.max_length, memory, &options.temp_dir, threads, progress)?;
        let lexicon = LexicalTable::from_corpus(&corpus, threads, progress)?;
        let job = options.job(&corpus, reordering);
        Ok(Inputs { corpus, lexicon, reordering, job })
    }

    /// Resumes or creates the checkpoint in the folder `output` for one of `shards` shards.
    fn open_checkpoint(
        &self,
        output: &Path,
        options: &ExtractOptions,
        shards: u64,
    ) -> Result<Checkpoint> {
        let min_partitions = options.min_partitions(&self.corpus, &self.lexicon, shards);
        let partitions = options.num_partitions(min_partitions);
        Checkpoint::resume_or_create(
            output,
            &options.temp_dir,
            &self.job,
            min_partitions,
            partitions,
        )
    }

    /// Returns an extractor that counts partitions from `first_partition` on. The text has
    /// `num_partitions` partitions in all.
    fn extractor(
        &self,
        options: &ExtractOptions,
        first_partition: u64,
        num_partitions: u64,
    ) -> PhraseExtractor<'_> {
        PhraseExtractor {
            corpus: &self.corpus,
            lexical_table: &self.lexicon,
            max_length: options.max_length,
            reordering: self.reordering,
            significance: options.significance,
            first_partition,
            num_partitions,
        }
    }
}

fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| {
        miriam_textio::Error::io(&folder.display().to_string(), "create this folder", e).into()
    })
}

/// Locks a folder against other extractions and removes the unfinished files of killed extractions.
fn lock_folder(output: &Path) -> Result<FileLock> {
    let lock =
        FileLock::try_acquire(&output.join(LOCK_FILE))?.ok_or_else(|| Error::Unsupported {
            file: output.display().to_string(),
            reason: "another extraction uses this folder; wait for its end, or name another folder"
                .into(),
        })?;
    remove_stale_files(output, ".");
    Ok(lock)
}

/// Counts the partitions that are missing in `state` and writes their runs.
fn count_partitions(
    extraction: &PhraseExtractor<'_>,
    state: Checkpoint,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Checkpoint> {
    let missing = state.missing_partitions();
    let state = Mutex::new(state);
    let next = AtomicUsize::new(0);
    let total = missing.len() as u64 * extraction.corpus.num_blocks() as u64;
    let task = progress.task("phrases", Some(total));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(missing.len()))
            .map(|_| {
                scope.spawn(|| {
                    count_next_partitions(extraction, &state, &missing, &next, &task)
                        // The other threads then start no new partitions.
                        .inspect_err(|_| next.store(missing.len(), Ordering::Relaxed))
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    Ok(state.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Counts partitions of `missing` one after another, from the index `next`, which all threads
/// share.
fn count_next_partitions(
    extraction: &PhraseExtractor<'_>,
    state: &Mutex<Checkpoint>,
    missing: &[u64],
    next: &AtomicUsize,
    task: &ProgressTask<'_>,
) -> Result<()> {
    while let Some(&partition) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
        let path = lock(state).run_path(partition);
        let mut writer = RunWriter::create(&path)?;
        let counts = extraction.count_partition(
            extraction.first_partition + partition,
            || {
                task.advance(1);
                check_cancelled(task)
            },
            |entry| writer.push(entry),
        )?;
        let checksum = writer.finish()?;
        lock(state).mark_finished(partition, FinishedPartition { checksum, counts })?;
    }
    Ok(())
}

/// Fails with [`Error::Cancelled`] if the task is cancelled.
pub(crate) fn check_cancelled(task: &ProgressTask<'_>) -> Result<()> {
    if task.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Merges `runs` and writes the tables.
fn write_tables(
    corpus: &Corpus,
    runs: &[(PathBuf, FinishedPartition)],
    reordering: Option<ReorderingType>,
    output: &Path,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<ExtractSummary> {
    let mut statistics = CountsOfCounts::default();
    runs.iter().for_each(|(_, run)| statistics.merge(&run.counts));
    let discount = Discount::new(options.smoothing, &statistics);
    let compression = options.compression;
    let extension = compression.extension();
    let mut phrase_table =
        Output::create_precompressed(&output.join(format!("phrase-table{extension}")))?;
    let mut reordering_table = match reordering {
        Some(_) => Some(Output::create_precompressed(
            &output.join(format!("reordering-table{extension}")),
        )?),
        None => None,
    };
    let name = phrase_table.name().to_owned();
    let mut merge = RunMerger::new(runs, corpus.end_ranks(), options.batch_entries())?;
    let mut summary = ExtractSummary {
        pairs: corpus.pairs,
        instances: corpus.instances,
        ..ExtractSummary::default()
    };
    let task = progress.task("tables", Some(statistics.pairs));
    let reordering_scores = reordering.map(|model| (model, options.reordering_smoothing));
    // Batches that are formatted already and are reused: fresh memory would have to be cleared.
    let spare = Mutex::new(Vec::new());
    ordered_map(
        options.threads.max(1),
        || {
            check_cancelled(&task)?;
            merge.next_batch(lock(&spare).pop().unwrap_or_default())
        },
        || {
            let mut formatter =
                TableFormatter::new(&corpus.vocabularies, &discount, options, reordering_scores);
            let mut compressor = TextCompressor::new(compression);
            let spare = &spare;
            move |batch: PhrasePairBatch| {
                let text = formatter.format_batch(&batch);
                let counts = [batch.len() as u64, text.entries, text.sources];
                lock(spare).push(batch);
                let compressed = compressor
                    .compress(&text.phrases)
                    .and_then(|phrases| Ok((phrases, compressor.compress(&text.reordering)?)));
                (counts, compressed)
            }
        },
        |(counts, compressed), _| {
            let (phrases, reordering) =
                compressed.map_err(|e| miriam_textio::Error::io(&name, "compress", e))?;
            phrase_table.write(&phrases)?;
            if let Some(table) = &mut reordering_table {
                table.write(&reordering)?;
            }
            let [pairs, entries, sources] = counts;
            summary.entries += entries;
            summary.sources += sources;
            task.advance(pairs);
            Ok::<_, Error>(())
        },
    )?;
    if summary.entries == 0 {
        tracing::warn!(
            "{}: the table is empty: no phrase pair fits the word links, or the options exclude \
             all; check the alignment",
            phrase_table.name()
        );
        // A compressed file of zero bytes is invalid.
        let empty = TextCompressor::new(compression)
            .compress(b"")
            .map_err(|e| miriam_textio::Error::io(&name, "compress", e))?;
        for table in std::iter::once(&mut phrase_table).chain(&mut reordering_table) {
            table.write(&empty)?;
        }
    }
    phrase_table.finish()?;
    if let Some(table) = reordering_table {
        table.finish()?;
    }
    Ok(summary)
}

/// The counts of an extraction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractSummary {
    /// The number of sentence pairs of the corpus.
    pub pairs: u64,
    /// The number of occurrences of phrase pairs.
    pub instances: u64,
    /// The number of phrase pairs of the phrase table.
    pub entries: u64,
    /// The number of distinct source phrases.
    pub sources: u64,
}

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of phrase extraction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A lock or a temporary file could not be created.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// Text could not be read or written, or is malformed.
    #[error(transparent)]
    TextIo(#[from] miriam_textio::Error),
    /// An option is out of range.
    #[error("{reason}")]
    InvalidOptions {
        /// The option, its value and the valid values.
        reason: String,
    },
    /// A file cannot be used for extraction.
    #[error("{file}: {reason}")]
    Unsupported {
        /// The file.
        file: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The caller cancelled the work; a new extraction continues with the missing partitions.
    #[error("cancelled")]
    Cancelled,
}
