//! Building of a table from Moses' text.
//!
//! First the text is read once: entries are joined with their reordering scores ([`entries`]),
//! parsed and turned into rows of ids by first appearance ([`encoder`], [`source_runs`]). Then ids
//! are ranked by frequency ([`ranking`]), and rows become records in the order of their sources'
//! hashes ([`records`], [`index`]). A single pass that writes first-seen ids as codes would need no
//! rows in memory, but make the file a seventh larger.
//!
//! With several threads, one thread joins entries and sends blocks of them to workers. The ids of
//! the workers are merged when they are ranked. The file is the same byte for byte.

mod encoder;
mod entries;
mod index;
mod interner;
mod plan;
mod ranking;
mod records;
mod source_runs;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam::channel::{Receiver, Sender, bounded};
use miriam_storage::{Container, ContainerWriter};
use miriam_textio::{
    Input, Lines, Progress, SortOptions, available_threads, display_name, sort_lines,
};

use self::encoder::Encoder;
use self::entries::{EntryBlock, EntryReader, TextEntry};
pub(crate) use self::entries::{is_linked_non_terminal, rule_table_error};
pub(crate) use self::plan::ZeroScorePolicy;
use self::plan::{Plan, PlanOptions, SAMPLE_ENTRIES, TableKind};
use crate::error::check_cancelled;
use crate::format::{KIND, Metadata, VERSION};
use crate::{Error, PhraseTable, Result, foreign_files};

/// The size in bytes of a block of entries that is sent to a worker.
const BLOCK_BYTES: usize = 1 << 20;
/// The memory for sorting in bytes, if the caller gives no bound.
const DEFAULT_SORT_MEMORY: u64 = 2 << 30;

/// The inputs and the options of a build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The phrase table, `source ||| target ||| scores ...`; plain, or compressed by gzip, zstd,
    /// bzip2 or xz.
    pub phrase_table: PathBuf,
    /// The reordering table, `source ||| target ||| scores`, to be joined.
    pub reordering: Option<PathBuf>,
    /// The number of scores of every line; `None` for the number on the first line.
    pub num_scores: Option<usize>,
    /// The largest number of targets of a source that are kept. These are the targets with the
    /// highest third score; of equal scores, the first in the input.
    pub prune: Option<usize>,
    /// A bound in bytes on the memory for sorting and for the intermediate rows, which then
    /// go to temporary files in the folder of the output.
    pub memory: Option<u64>,
    /// Whether the tables are sorted first. If not, they must be in the order that [`build_file`]
    /// requires.
    pub sort: bool,
    /// The number of worker threads; with 1 and without `sort`, the calling thread does everything.
    pub threads: usize,
    /// Whether a score of exactly 0 (probability 1) is stored as 1e-10, as in Moses2's own binary
    /// tables. If not, it stays 0, as in tables that Moses2 reads from text.
    pub replace_zero_scores: bool,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            phrase_table: PathBuf::new(),
            reordering: None,
            num_scores: None,
            prune: None,
            memory: None,
            sort: false,
            threads: available_threads(),
            replace_zero_scores: true,
        }
    }
}

/// The result of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildReport {
    /// The number of phrase pairs in the file.
    pub entries: u64,
    /// The number of distinct source phrases in the file.
    pub sources: u64,
    /// The number of pairs left out by pruning.
    pub pruned: u64,
    /// The number of pairs in the file that the reordering table lacks.
    pub missing_reordering: u64,
    /// The number of pairs of the reordering table that the phrase table lacks, which are
    /// left out.
    pub unused_reordering: u64,
    /// The number of pairs of the text with sparse features, which are kept in the file and
    /// not scored.
    pub sparse_entries: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// Builds the table that `options` describe into the file `output`, which is renamed into place
/// when it is complete. A failed build leaves an older file unchanged.
///
/// With a reordering table both files must be in the order of `LC_ALL=C sort`; without one, entries
/// of a source must be adjacent; neither is required with `sort`. The result does not depend on
/// threads or memory.
///
/// # Errors
///
/// If a file cannot be read or written, the options contradict the tables, or a line is
/// malformed or out of order. Errors in a line name the file and the line. Also if threads cannot
/// be started or `progress` is cancelled.
pub fn build_file(
    options: &BuildOptions,
    output: &Path,
    progress: &dyn Progress,
) -> Result<BuildReport> {
    if options.prune == Some(0) {
        return Err(Error::Options("pruning to 0 targets leaves no table".into()));
    }
    let writer = ContainerWriter::create(output, KIND, VERSION)?;
    let plan_options = PlanOptions {
        tables: if options.reordering.is_some() { TableKind::Joined } else { TableKind::Phrases },
        table: display_name(&options.phrase_table),
        reordering_table: options.reordering.as_deref().map(display_name).unwrap_or_default(),
        num_scores: options.num_scores,
        num_reordering: None,
        prune: options.prune,
        zero_policy: if options.replace_zero_scores {
            ZeroScorePolicy::Replace
        } else {
            ZeroScorePolicy::Keep
        },
    };
    let folder = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let work = || {
        let mut consumed = InputConsumption::default();
        let table = open_lines(&options.phrase_table, options, folder, &mut consumed, progress)?;
        let reordering = options.reordering.as_deref();
        let reordering = reordering
            .map(|path| open_lines(path, options, folder, &mut consumed, progress))
            .transpose()?;
        let job = BuildJob {
            entries: EntryReader::new(table, reordering)?,
            plan_options,
            requires_adjacent: !options.sort,
            threads: options.threads.max(1),
            memory_bound: options.memory.map(|m| (m, folder)),
            consumed,
        };
        job.build(writer, progress)
    };
    // Sorting and writing run on rayon's threads.
    let built = if options.threads > 1 || options.sort {
        build_thread_pool(options.threads)?.install(work)
    } else {
        work()
    };
    let (mut report, _) = built.map_err(|error| {
        let inputs = [Some(&options.phrase_table), options.reordering.as_ref()];
        inputs.into_iter().flatten().fold(error, |error, path| foreign_files::explain(path, error))
    })?;
    let written = std::fs::metadata(output);
    report.bytes =
        written.map_err(|e| miriam_storage::Error::io(output, "read its size", e))?.len();
    Ok(report)
}

/// Reads the text table at `path` into memory, as Moses2's `PhraseDictionaryMemory` does. Sources
/// may be in any order. Entries of a source need not be adjacent, and stay in input order.
/// Duplicates are kept, and scores of exactly 0 are not changed.
///
/// # Errors
///
/// If the file cannot be read, a line is malformed, or the file has no phrase pair and `num_scores`
/// is `None`. Also if threads cannot be started or `progress` is cancelled.
pub fn load_text(
    path: &Path,
    num_scores: Option<usize>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<PhraseTable> {
    load_table(path, TableKind::Phrases, num_scores, threads, progress)
}

/// Reads the text reordering table at `path` into memory, as a table without
/// phrase scores whose entries have reordering scores. Lines may be in any order,
/// duplicates are kept; `num_scores` is the expected number of scores.
///
/// # Errors
///
/// If the file cannot be read, a line is malformed, threads cannot be started, or `progress` is
/// cancelled.
pub fn load_reordering_text(
    path: &Path,
    num_scores: Option<usize>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<PhraseTable> {
    load_table(path, TableKind::Reordering, num_scores, threads, progress)
}

/// Reads a table into memory; `num_scores` is the expected number of its scores.
fn load_table(
    path: &Path,
    tables: TableKind,
    num_scores: Option<usize>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<PhraseTable> {
    let writer = ContainerWriter::in_memory(path, KIND, VERSION)?;
    let reordering = tables == TableKind::Reordering;
    let plan_options = PlanOptions {
        tables,
        table: display_name(path),
        reordering_table: display_name(path),
        num_scores: num_scores.filter(|_| !reordering),
        num_reordering: num_scores.filter(|_| reordering),
        prune: None,
        zero_policy: ZeroScorePolicy::Keep,
    };
    let work = || {
        let mut consumed = InputConsumption::default();
        let options = BuildOptions { threads, ..BuildOptions::default() };
        let table = open_lines(path, &options, Path::new("."), &mut consumed, progress)?;
        let entries = if reordering {
            EntryReader::reordering_only(table)
        } else {
            EntryReader::new(table, None)?
        };
        let threads = threads.max(1);
        let job = BuildJob {
            entries,
            plan_options,
            requires_adjacent: false,
            threads,
            memory_bound: None,
            consumed,
        };
        job.build(writer, progress)
    };
    let built = if threads > 1 { build_thread_pool(threads)?.install(work) } else { work() };
    let (_, bytes) = built.map_err(|error| foreign_files::explain(path, error))?;
    let bytes = bytes.expect("a writer in memory returns its bytes");
    PhraseTable::from_container(Container::from_bytes(bytes, path)?)
}

fn build_thread_pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
    pool.map_err(|e| Error::Threads { threads, reason: e.to_string() })
}

/// The number of bytes read from the inputs, counted before decompression.
#[derive(Default)]
struct InputConsumption {
    counters: Vec<Arc<AtomicU64>>,
    total: Option<u64>,
}

impl InputConsumption {
    fn add_input(&mut self, input: &Input) {
        self.total = match (self.counters.is_empty(), self.total, input.size()) {
            (true, _, size) => size,
            (false, Some(total), Some(size)) => Some(total + size),
            _ => None,
        };
        self.counters.push(input.consumed());
    }

    fn total_consumed(&self) -> u64 {
        self.counters.iter().map(|c| c.load(Ordering::Relaxed)).sum()
    }
}

fn open_lines(
    path: &Path,
    options: &BuildOptions,
    folder: &Path,
    consumed: &mut InputConsumption,
    progress: &dyn Progress,
) -> Result<Lines> {
    let input = Input::open(path)?;
    consumed.add_input(&input);
    let lines = if options.threads > 1 { Lines::in_background(input) } else { Lines::new(input) };
    if !options.sort {
        return Ok(lines);
    }
    let _task = progress.task("sorting", None);
    let tables = 1 + u64::from(options.reordering.is_some());
    let memory = options.memory.unwrap_or(DEFAULT_SORT_MEMORY) / tables;
    Ok(sort_lines(lines, &SortOptions { memory, folder: folder.to_owned() })?)
}

/// A build with its inputs open.
struct BuildJob<'a> {
    entries: EntryReader,
    plan_options: PlanOptions,
    /// Whether entries of one source must be adjacent.
    requires_adjacent: bool,
    threads: usize,
    /// The bound in bytes on the intermediate rows, and the folder for temporary files.
    memory_bound: Option<(u64, &'a Path)>,
    consumed: InputConsumption,
}

impl BuildJob<'_> {
    fn build(
        mut self,
        writer: ContainerWriter,
        progress: &dyn Progress,
    ) -> Result<(BuildReport, Option<miriam_storage::Bytes>)> {
        let task = progress.task("reading", self.consumed.total);
        // This number is only known until the first entry is read.
        let joined_scores = self.entries.num_joined_scores();
        let mut sample = EntryBlock::default();
        while sample.len() < SAMPLE_ENTRIES
            && let Some(entry) = self.entries.next()?
        {
            sample.push(&entry);
        }
        let first_scores = match self.plan_options.tables {
            TableKind::Reordering => sample.entries().next().map(|e| e.num_reordering_scores()),
            _ => joined_scores,
        };
        let plan_options = self.plan_options.clone();
        let takes_first_number =
            plan_options.tables != TableKind::Reordering && plan_options.num_scores.is_none();
        if sample.len() == 0 && takes_first_number {
            return Err(Error::Options(format!("{}: it has no phrase pair", plan_options.table)));
        }
        if sample.len() > 0 && sample.entries().all(|entry| entry.is_rule()) {
            return Err(rule_table_error(&plan_options.table));
        }
        let plan = Plan::choose(plan_options, &sample, first_scores)?;
        let encoders = if self.threads == 1 {
            vec![self.encode_on_caller(&plan, sample, progress)?]
        } else {
            self.encode_on_workers(&plan, sample, progress)?
        };
        let unused_reordering = self.entries.finish()?;
        drop(task);
        let pruned = encoders.iter().map(|e| e.pruned).sum();
        let sparse_entries = encoders.iter().map(|e| e.sparse_entries).sum();
        let (metadata, bytes) = write::write_table(
            &plan,
            encoders,
            self.requires_adjacent,
            self.threads,
            writer,
            progress,
        )?;
        let Metadata { entries, sources, missing_reordering, .. } = metadata;
        let report = BuildReport {
            entries,
            sources,
            pruned,
            missing_reordering,
            unused_reordering,
            sparse_entries,
            bytes: bytes.as_ref().map_or(0, |b| b.len() as u64),
        };
        Ok((report, bytes))
    }

    /// Returns the memory bound in bytes of one of `workers` encoders and the folder of temporary
    /// files; `None` without a bound.
    fn memory_share(&self, workers: usize) -> Option<(usize, &Path)> {
        let (bytes, folder) = self.memory_bound?;
        Some((usize::try_from(bytes / workers as u64).unwrap_or(usize::MAX), folder))
    }

    fn encode_on_caller<'p>(
        &mut self,
        plan: &'p Plan,
        sample: EntryBlock,
        progress: &dyn Progress,
    ) -> Result<Encoder<'p>> {
        let mut encoder = Encoder::new(plan, self.memory_share(1));
        for entry in sample.entries() {
            encoder.push(&entry)?;
        }
        drop(sample);
        let mut count = 0u32;
        while let Some(entry) = self.entries.next()? {
            encoder.push(&entry)?;
            count = count.wrapping_add(1);
            if count.is_multiple_of(8192) {
                progress.set_position(self.consumed.total_consumed());
                check_cancelled(progress)?;
            }
        }
        encoder.finish_run()?;
        Ok(encoder)
    }

    /// Reads and joins entries on the calling thread, and encodes blocks on workers. Blocks end
    /// between sources, so that a worker gets complete runs.
    fn encode_on_workers<'p>(
        &mut self,
        plan: &'p Plan,
        sample: EntryBlock,
        progress: &dyn Progress,
    ) -> Result<Vec<Encoder<'p>>> {
        let failed = AtomicBool::new(false);
        let (sender, receiver) = bounded::<(u64, EntryBlock)>(2 * self.threads);
        let share =
            self.memory_share(self.threads).map(|(bytes, folder)| (bytes, folder.to_owned()));
        let work = |receiver: Receiver<(u64, EntryBlock)>| -> Result<Encoder<'p>, (u64, Error)> {
            let bound = share.as_ref().map(|(bytes, folder)| (*bytes, folder.as_path()));
            let mut encoder = Encoder::new(plan, bound);
            for (number, block) in receiver.iter() {
                let encoded = block.entries().try_for_each(|entry| encoder.push(&entry));
                if let Err(error) = encoded.and_then(|()| encoder.finish_run()) {
                    failed.store(true, Ordering::Relaxed);
                    return Err((number, error));
                }
            }
            Ok(encoder)
        };
        std::thread::scope(|scope| {
            // Each end of the channel is dropped with its users: sending fails when no worker is
            // left, receiving when the reader has ended, even by an error or a panic.
            let mut workers = Vec::with_capacity(self.threads);
            for _ in 0..self.threads {
                let (work, receiver) = (&work, receiver.clone());
                workers.push(scope.spawn(move || work(receiver)));
            }
            drop(receiver);
            let mut blocks =
                BlockSender { current: EntryBlock::default(), number: 0, sender, failed: &failed };
            let outcome = self.send_entries(&sample, &mut blocks, progress);
            // The block before a reading error may contain an earlier error.
            blocks.send_block();
            drop(blocks);
            let mut encoders = Vec::new();
            let mut first: Option<(u64, Error)> = None;
            for worker in workers {
                match worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                    Ok(encoder) => encoders.push(encoder),
                    Err(error) if first.as_ref().is_none_or(|f| error.0 < f.0) => {
                        first = Some(error);
                    }
                    Err(_) => {}
                }
            }
            match first {
                Some((_, error)) => Err(error),
                None => outcome.map(|()| encoders),
            }
        })
    }

    /// Sends the entries of `sample`, then the entries not yet read, until a worker has failed.
    fn send_entries(
        &mut self,
        sample: &EntryBlock,
        blocks: &mut BlockSender<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        for entry in sample.entries() {
            if blocks.failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            blocks.push(&entry);
        }
        while !blocks.failed.load(Ordering::Relaxed)
            && let Some(entry) = self.entries.next()?
        {
            if blocks.push(&entry) {
                progress.set_position(self.consumed.total_consumed());
                check_cancelled(progress)?;
            }
        }
        Ok(())
    }
}

/// Fills blocks of entries and sends them to the workers.
struct BlockSender<'a> {
    current: EntryBlock,
    number: u64,
    sender: Sender<(u64, EntryBlock)>,
    /// Set when a worker has failed or none is left.
    failed: &'a AtomicBool,
}

impl BlockSender<'_> {
    /// Adds an entry; returns whether a block was sent before it.
    fn push(&mut self, entry: &TextEntry<'_>) -> bool {
        let full = self.current.byte_len() >= BLOCK_BYTES
            && self.current.last_source() != Some(entry.source());
        if full {
            self.send_block();
        }
        self.current.push(entry);
        full
    }

    fn send_block(&mut self) {
        let block = std::mem::take(&mut self.current);
        if self.sender.send((self.number, block)).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        self.number += 1;
    }
}
