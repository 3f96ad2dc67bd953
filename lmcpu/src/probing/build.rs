//! Building of probing tables from lists of n-grams.
//!
//! Orders are built one after another, from short to long, each on all threads. N-grams of text
//! come in parts. If the source is a file, a part is freed once its entries are made. This saves
//! memory that the kernel would have to clear when it is first touched; clearing took a third of
//! the time.
//! Every n-gram sets a flag of its suffix (all words but the oldest): a longer n-gram ends in it.
//! It also sets a flag of its context (all words but the newest): a longer n-gram begins with it.
//! The flags are sign bits of the values, and setting a flag clears its bit. Threads do nothing
//! else to values, so they may work at once.
//!
//! A model from which a toolkit has pruned suffixes gets blanks in their place
//! ([`blanks`]).
//!
//! The bytes do not depend on the number of threads.

mod blanks;
mod build_error;
mod order_in_progress;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use miriam_storage::hash::fast_range;
use miriam_storage::parallel;
use miriam_storage::probing::{
    AtomicLine4, DuplicateKey, LineKeys, PartitionedEntries, Slot, TableBuilder, find_slot,
    home_lines,
};
use miriam_storage::zerocopy::{FromBytes, IntoBytes};
use miriam_storage::{Bytes, ContainerWriter, ZeroedVec, prefetch_at};
use miriam_textio::{Progress, ProgressTask, Vocabulary};

use blanks::Blank;
use build_error::{BuildError, OpenAgain};
use order_in_progress::OrderInProgress;

use super::blank_keys::BlankKeyWriter;
use super::*;
use crate::arpa::Section;
use crate::ngram_source::NgramPart;
use crate::{ArpaOptions, NgramSource, open_source};

/// The bit of a value that is cleared when a longer n-gram ends in this one.
const NO_LEFT_EXTENSION: u64 = SIGN as u64;
/// The bit of a backoff of -0.0 that is cleared when a longer n-gram begins with this
/// one.
const NO_RIGHT_EXTENSION: u64 = (SIGN as u64) << 32;

/// The number of n-grams in a task.
const CHUNK: usize = 1 << 15;
/// The number of n-grams whose lookups wait for memory together.
const PREFETCH_GROUP: usize = 16;

/// The numbers of entries of a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSize {
    /// The number of n-grams of each order, as the source counts them.
    pub counts: Vec<u64>,
    /// The number of entries added for missing suffixes.
    pub blanks: u64,
}

/// Builds the probing model `output` from the model at `path`, in any format that
/// [`open_source`] reads, on rayon's current threads.
///
/// ```
/// use miriam_lmcpu::probing::{ProbingModel, build_probing};
/// use miriam_lmcpu::{ArpaOptions, LanguageModel};
/// use miriam_storage::LoadMethod;
/// use miriam_textio::NoProgress;
///
/// let folder = tempfile::tempdir()?;
/// let (arpa, output) = (folder.path().join("toy.arpa"), folder.path().join("toy.lm"));
/// let text = "\\data\\\nngram 1=3\n\n\\1-grams:\n-99\t<s>\n-1.5\t</s>\n-2\ta\n\n\\end\\\n";
/// std::fs::write(&arpa, text)?;
/// let size = build_probing(&arpa, &output, ArpaOptions::default(), &NoProgress)?;
/// assert_eq!((size.counts, size.blanks), (vec![3], 0));
/// let model = ProbingModel::open(&output, LoadMethod::Lazy)?;
/// assert_eq!((LanguageModel::order(&model), LanguageModel::num_words(&model)), (1, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the source cannot be read, lacks contexts or has duplicates, or the file cannot
/// be written.
pub fn build_probing(
    path: &Path,
    output: &Path,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    Ok(build(path, arpa, progress, || ContainerWriter::create(output, KIND, VERSION))?.0)
}

/// Returns the model in the ARPA text at `path`, built in memory on rayon's current threads.
pub(crate) fn probing_from_arpa(
    path: &Path,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ProbingModel> {
    let bytes = build_in_memory(path, arpa, progress)?;
    ProbingModel::from_container(&Container::from_bytes(bytes, path)?)
}

/// Returns the bytes of the file that [`build_probing`] would write.
pub(super) fn build_in_memory(
    path: &Path,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<Bytes> {
    let (_, bytes) =
        build(path, arpa, progress, || ContainerWriter::in_memory(path, KIND, VERSION))?;
    bytes.ok_or_else(|| unreachable!("a container in memory has bytes"))
}

/// Builds a model from the model at `path` and writes it to the container that `writer` returns.
/// Also returns the bytes of the container if it is in memory.
fn build(
    path: &Path,
    arpa: ArpaOptions,
    progress: &dyn Progress,
    writer: impl FnOnce() -> miriam_storage::Result<ContainerWriter>,
) -> Result<(ModelSize, Option<Bytes>)> {
    let is_file = path != Path::new("-") && path.is_file();
    let task = progress.task("reading", path.metadata().ok().filter(|_| is_file).map(|m| m.len()));
    let mut source = open_source(path, arpa, progress)?;
    let again = || open_source(path, arpa, progress);
    let again: Option<OpenAgain<'_>> = if is_file { Some(&again) } else { None };
    build_from_source(&mut *source, again, (task, progress), writer)
}

/// Works like [`build`], from an open `source`; `task` is the task of reading it. `again` opens the
/// source once more to find the lines of duplicates. Without `again`, all n-grams of an order are
/// kept in memory.
pub(super) fn build_from_source(
    source: &mut dyn NgramSource,
    again: Option<OpenAgain<'_>>,
    (task, progress): (ProgressTask<'_>, &dyn Progress),
    writer: impl FnOnce() -> miriam_storage::Result<ContainerWriter>,
) -> Result<(ModelSize, Option<Bytes>)> {
    let mut builder = ProbingBuilder::new(source);
    let mut kept = Vec::new();
    let copies = again.is_none().then_some(&mut kept);
    let built = builder.build(source, copies, (task, progress), writer);
    let bytes = built.map_err(|error| error.into_error(source, &kept, again))?;
    Ok((builder.size(), bytes))
}

/// A model being built.
struct ProbingBuilder {
    counts: Vec<u64>,
    vocabulary: Vocabulary,
    has_unknown: bool,
    /// By word id: probability and backoff.
    unigrams: Vec<AtomicU64>,
    /// Orders 2 to N - 1.
    middle: Vec<MiddleTable>,
    closure_checks: Vec<ClosureCheck>,
    minimization_is_closed: bool,
    in_progress: OrderInProgress,
    /// Memory in which the entries of each order are partitioned.
    scratch: ZeroedVec<u32>,
}

/// The n-grams of an order below the highest.
struct MiddleTable {
    order: usize,
    lines: ZeroedVec<Line4>,
    home_lines: usize,
    entries: u64,
    /// By key.
    blanks: HashMap<u64, Blank>,
    /// The oldest word of the n-gram in each slot.
    oldest: ZeroedVec<u32>,
}

/// An n-gram whose suffix is not kept by a state when the n-gram is read. If in the end a state
/// keeps the n-gram but none keeps the suffix, minimisation is not closed.
#[derive(Clone, Copy)]
struct ClosureCheck {
    order: usize,
    ngram: u64,
    suffix: u64,
}

/// The location of the entry of an n-gram of a middle order.
enum EntryLocation {
    Slot(Slot),
    Blank,
}

impl MiddleTable {
    fn slot(&self, hash: u64) -> Option<Slot> {
        find_slot(&self.lines, self.home_lines as u64, nonzero_key(hash))
    }

    fn locate(&self, hash: u64) -> Option<EntryLocation> {
        match self.slot(hash) {
            Some(slot) => Some(EntryLocation::Slot(slot)),
            None => self.blanks.contains_key(&nonzero_key(hash)).then_some(EntryLocation::Blank),
        }
    }

    fn value(&self, slot: Slot) -> u64 {
        self.lines[slot.0 / Line4::SLOTS].value(slot.0 % Line4::SLOTS)
    }

    fn update_value(&mut self, slot: Slot, set_flag: fn(u64) -> u64) {
        let (line, slot) = (&mut self.lines[slot.0 / Line4::SLOTS], slot.0 % Line4::SLOTS);
        line.set(slot, line.key(slot), set_flag(line.value(slot)));
    }

    /// Flags that a longer n-gram begins with the n-gram of `hash`; returns the backoff of the
    /// latter, if the table has it.
    fn mark_extends_right(&mut self, hash: u64) -> Option<f32> {
        if let Some(slot) = self.slot(hash) {
            self.update_value(slot, set_extends_right);
            return Some(f32::from_bits(backoff_bits(self.value(slot))));
        }
        self.blanks.get_mut(&nonzero_key(hash)).map(|blank| {
            blank.extends_right = true;
            0.0
        })
    }

    /// Returns log10 p of the n-gram at `location`, up to its sign.
    fn log10(&self, hash: u64, location: &EntryLocation) -> f32 {
        match location {
            EntryLocation::Slot(slot) => f32::from_bits(log10_bits(self.value(*slot))),
            EntryLocation::Blank => self.blanks[&nonzero_key(hash)].log10,
        }
    }

    /// Moves the blanks into the lines.
    fn insert_blanks(&mut self) -> Result<(), DuplicateKey> {
        if self.blanks.is_empty() {
            return Ok(());
        }
        let slots = self
            .lines
            .iter()
            .flat_map(|line| (0..Line4::SLOTS).map(|slot| (line.key(slot), line.value(slot))));
        let mut entries: Vec<_> = slots
            .zip(self.oldest.iter())
            .filter(|((key, _), _)| *key != 0)
            .map(|((key, value), &oldest)| Line4::pack_entry(key, value, oldest))
            .collect();
        entries.extend(self.blanks.iter().map(|(&key, blank)| {
            let value = set_extends_left(pack(blank.log10.to_bits(), NO_EXTENSION));
            let value = if blank.extends_right { set_extends_right(value) } else { value };
            Line4::pack_entry(key, value, blank.oldest)
        }));
        self.entries = entries.len() as u64;
        self.home_lines = home_lines::<Line4>(entries.len(), LOAD_FACTOR);
        let table_builder = TableBuilder::new(self.home_lines);
        let split = &mut entries.clone();
        let groups = entries.chunks(CHUNK).zip(split.chunks_mut(CHUNK)).collect();
        let ends = parallel::map_items(groups, &|_, (some, into): (&[_], &mut [_])| {
            table_builder.partition(some, into)
        });
        let groups = split.chunks(CHUNK).zip(&ends);
        let groups: Vec<_> =
            groups.map(|(group, ends)| PartitionedEntries::new(group, ends)).collect();
        (self.lines, self.oldest) = table_builder.build(&groups)?;
        Ok(())
    }
}

/// Returns the value with the flag that a longer n-gram ends in this one.
fn set_extends_left(value: u64) -> u64 {
    value & !NO_LEFT_EXTENSION
}

/// Returns the value with the flag that a longer n-gram begins with this one: a backoff of -0.0
/// becomes 0.0, other backoffs stay.
fn set_extends_right(value: u64) -> u64 {
    if has_extension(value) { value } else { value & !NO_RIGHT_EXTENSION }
}

/// Whether a state keeps the n-gram that has this value.
fn has_extension(value: u64) -> bool {
    backoff_bits(value) != NO_EXTENSION
}

/// Sets a flag of a value that other threads may update too; returns the new value.
/// Flags that are set already, as most are, cost no write.
fn update_flags(value: &AtomicU64, set_flag: fn(u64) -> u64) -> u64 {
    let before = value.load(Ordering::Relaxed);
    let after = set_flag(before);
    if after != before {
        value.fetch_and(!(before ^ after), Ordering::Relaxed);
    }
    after
}

impl ProbingBuilder {
    /// Reads `source`, after which `task` ends, then writes the model to the container that
    /// `writer` returns. `copies`, if given, keeps the n-grams of an order while the order is read.
    fn build(
        &mut self,
        source: &mut dyn NgramSource,
        copies: Option<&mut Vec<Section>>,
        (task, progress): (ProgressTask<'_>, &dyn Progress),
        writer: impl FnOnce() -> miriam_storage::Result<ContainerWriter>,
    ) -> Result<Option<Bytes>, BuildError> {
        self.read(source, copies)?;
        self.finish_middle(source.vocabulary());
        drop(task);
        let _task = progress.task("writing", None);
        self.write(writer()?)
    }

    fn new(source: &dyn NgramSource) -> Self {
        let unigrams = source.unigrams().iter().map(|unigram| {
            AtomicU64::new(pack(unigram.log10.to_bits() | SIGN, unigram.backoff.to_bits()))
        });
        ProbingBuilder {
            counts: source.counts().to_vec(),
            vocabulary: Vocabulary::new(),
            has_unknown: source.has_unknown(),
            unigrams: unigrams.collect(),
            middle: Vec::new(),
            closure_checks: Vec::new(),
            minimization_is_closed: false,
            in_progress: OrderInProgress::default(),
            scratch: ZeroedVec::default(),
        }
    }

    /// Reads all n-grams of `source`. Blanks are kept apart from the tables, and the longest
    /// n-grams stay in progress. `kept`, if given, holds the parts of the order in progress.
    fn read(
        &mut self,
        source: &mut dyn NgramSource,
        mut kept: Option<&mut Vec<Section>>,
    ) -> Result<(), BuildError> {
        let mut next = source.next_part()?;
        while let Some(NgramPart { ngrams, total }) = next {
            if self.in_progress.order() != ngrams.order {
                self.finish_order()?;
                self.begin_order(ngrams.order, total);
                if let Some(kept) = &mut kept {
                    kept.clear();
                }
            }
            // The next part is read while this one is added.
            next = parallel::join(|| source.next_part(), || self.add_part(&ngrams)).0?;
            if let Some(kept) = &mut kept {
                kept.push(ngrams);
            }
        }
        if self.is_longest(self.in_progress.order()) {
            return self.add_blanks();
        }
        self.finish_order()
    }

    /// Moves the blanks into the tables of middle orders, which completes them.
    fn finish_middle(&mut self, vocabulary: &Vocabulary) {
        self.vocabulary = vocabulary.clone();
        for middle in &mut self.middle {
            // A blank is only added where no entry has its key.
            middle
                .insert_blanks()
                .unwrap_or_else(|_| unreachable!("blanks have keys of their own"));
        }
        self.minimization_is_closed = self.closure_checks.iter().all(|check| {
            let ClosureCheck { order, ngram, suffix } = *check;
            !self.state_keeps(order, ngram) || self.state_keeps(order - 1, suffix)
        });
    }

    /// Whether a state keeps the n-gram with this hash.
    fn state_keeps(&self, order: usize, hash: u64) -> bool {
        let value = match order {
            1 => Some(self.unigrams[hash as usize].load(Ordering::Relaxed)),
            _ => self.middle[order - 2].slot(hash).map(|slot| self.middle[order - 2].value(slot)),
        };
        value.is_some_and(has_extension)
    }

    fn size(&self) -> ModelSize {
        let blanks = self.middle.iter().map(|middle| middle.blanks.len() as u64).sum();
        ModelSize { counts: self.counts.clone(), blanks }
    }

    /// Returns the id of `word`, or the id of unknown words.
    fn word_id(&self, word: &[u8]) -> u32 {
        self.vocabulary.find(word).map_or(0, |id| id.0)
    }

    /// Writes the model. The tables of shorter n-grams are written while the table of the longest
    /// n-grams, which are still in progress, is built.
    fn write(&mut self, mut writer: ContainerWriter) -> Result<Option<Bytes>, BuildError> {
        let mut entries: Vec<u64> = self.middle.iter().map(|m| m.entries).collect();
        let mut home_lines: Vec<u64> = self.middle.iter().map(|m| m.home_lines as u64).collect();
        if let Some(longest) = self.longest_home_lines() {
            entries.push(self.counts[self.counts.len() - 1]);
            home_lines.push(longest as u64);
        }
        writer.write_metadata(&ProbingMetadata {
            order: self.counts.len() as u32,
            counts: self.counts.clone(),
            entries,
            home_lines,
            head: HeadMetadata {
                bos_id: self.word_id(b"<s>"),
                eos_id: self.word_id(b"</s>"),
                has_unknown: self.has_unknown,
                minimization_is_closed: self.minimization_is_closed,
            },
        })?;
        let bits = oldest_words::bits_per_id(self.unigrams.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        let (written, (longest, mut packed)) = parallel::join(
            || self.write_lower_orders(&mut writer),
            || {
                let longest = self.build_longest(&mut scratch);
                let middle = self.middle.iter();
                let packed = middle.map(|m| oldest_words::pack(&m.lines, &m.oldest, bits));
                (longest, packed.collect::<Vec<_>>())
            },
        );
        written?;
        if let Some((lines, oldest)) = longest? {
            drop(scratch);
            let name = format!("order-{}", self.counts.len());
            let (written, last) = parallel::join(
                || writer.write_section(&name, &lines),
                || oldest_words::pack(&lines, &oldest, bits),
            );
            written?;
            packed.push(last);
        }
        let mut blanks = BlankKeyWriter::new(self.counts.len());
        for (i, packed) in packed.iter().enumerate() {
            oldest_words::write(&mut writer, i + 2, packed)?;
            if let Some(middle) = self.middle.get(i) {
                blanks.push(&mut writer, middle.order, middle.blanks.keys().copied().collect())?;
            }
        }
        blanks.finish(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Writes the sections that scoring reads, except the table of the longest n-grams.
    fn write_lower_orders(&self, writer: &mut ContainerWriter) -> Result<()> {
        Dictionary::write(writer, "words", self.vocabulary.iter())?;
        let unigrams = self.unigrams.iter().map(|value| value.load(Ordering::Relaxed));
        writer.write_section("order-1", &unigrams.collect::<Vec<_>>())?;
        for middle in &self.middle {
            writer.write_section(&format!("order-{}", middle.order), &middle.lines)?;
        }
        Ok(())
    }
}
