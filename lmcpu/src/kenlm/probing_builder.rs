//! Writing of KenLM's probing files for other tools that read them, byte for byte as KenLM's
//! `build_binary probing` writes them (`ngram-lm.md` 2.8, 2.13).
//!
//! Orders are built one after another, each on all threads. Marks beside the slots first record
//! that an n-gram is extended to the left or right; at the end they are written to the sign bits.
//! Only n-grams whose suffix or context is missing are processed one by one, in file order, because
//! the blanks for a suffix (`ngram-lm.md` 1.2) go to the next free slot.
//!
//! One deliberate difference: two entries for the same n-gram are an error.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};

use miriam_storage::atomic_file::AtomicFile;
use miriam_storage::parallel;
use miriam_storage::prefetch_at;
use miriam_textio::{Progress, display_name};

use super::bulk_insert::{DuplicateKeys, TableEntry, bulk_insert};
use super::header::{Header, ModelType};
use super::open_for_building;
use super::rest_costs::RestCosts;
use super::table::{FastModulo, bucket_count};
use super::vocabulary::{equal_hashes_error, word_hash, word_strings};
use crate::arpa::Section;
use crate::hash::hash_oldest_first;
use crate::ngram_errors::{duplicate_error, missing_context_error};
use crate::ngram_index::SIGN;
use crate::probing::ModelSize;
use crate::{ArpaOptions, Error, NO_EXTENSION, NgramSource, Result};

/// The mark of an n-gram in which a longer n-gram ends.
const EXTENDS_LEFT: u8 = 1;
/// The mark of an n-gram with which a longer n-gram begins.
const EXTENDS_RIGHT: u8 = 2;

/// The number of n-grams in a task.
const CHUNK: usize = 1 << 13;
/// The number of lookups that wait for memory together.
const PREFETCH_GROUP: usize = 16;
/// The number of slots that are serialised at a time.
const WRITE_SLOTS: usize = 1 << 16;

/// Options of KenLM's `build_binary`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KenlmProbingOptions {
    /// The number of slots of a table for each entry, above 1 and at most 100: `-p`.
    pub multiplier: f32,
    /// Whether the file has the words as text; `-v` leaves them out.
    pub has_words: bool,
}

impl Default for KenlmProbingOptions {
    fn default() -> Self {
        KenlmProbingOptions { multiplier: 1.5, has_words: true }
    }
}

/// Builds the KenLM probing file `output` from the model at `path`, in any format that
/// [`open_source`](crate::open_source()) reads, on rayon's current threads.
///
/// # Errors
///
/// If the options are out of range, the source cannot be read, is a unigram model, lacks contexts,
/// has duplicates or has words that KenLM cannot store or tell apart, or the file cannot be
/// written.
pub fn build_kenlm_probing(
    path: &Path,
    output: &Path,
    options: KenlmProbingOptions,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    build_kenlm_rest_probing(path, output, options, &[], arpa, progress)
}

/// Works like [`build_kenlm_probing`], with rest costs for bottom-up parsers from the models in
/// `rest`. There is one for each order but the last, from 1, with the same words; the first is ARPA
/// text. If `rest` is empty, the file has no rest costs.
///
/// # Errors
///
/// Those of [`build_kenlm_probing`], or if the models in `rest` do not fit.
pub fn build_kenlm_rest_probing(
    path: &Path,
    output: &Path,
    options: KenlmProbingOptions,
    rest: &[PathBuf],
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    if !(options.multiplier > 1.0 && options.multiplier <= 100.0) {
        let reason = format!("multiplier {}: must be above 1 and at most 100", options.multiplier);
        return Err(Error::Unsupported { file: display_name(path), reason });
    }
    let size = path.metadata().map(|found| found.len()).ok();
    let task = progress.task("reading", size);
    let mut source = open_for_building(path, arpa, progress)?;
    let rest_costs = match rest {
        [] => None,
        files => Some(RestCosts::open(files, &*source, arpa, progress)?),
    };
    let mut tables = ProbingBuilder::new(&*source, options, arpa.unknown_log10, rest_costs);
    while let Some(section) = source.next_section()? {
        tables.add_section(&section, &*source)?;
    }
    drop(task);
    let _task = progress.task("writing", None);
    tables.write(output, &*source)?;
    Ok(ModelSize { counts: source.counts().to_vec(), blanks: tables.blanks })
}

/// Returns a probability and a backoff as in an entry: the bits of the probability in the low half.
fn pack(log10: f32, backoff: f32) -> u64 {
    let backoff = if backoff == 0.0 { NO_EXTENSION } else { backoff.to_bits() };
    u64::from(log10.to_bits()) | u64::from(backoff) << 32
}

fn log10_of(value: u64) -> f32 {
    f32::from_bits(value as u32)
}

/// Returns the backoff for arithmetic: -0.0 becomes 0.
fn backoff_of(value: u64) -> f32 {
    let bits = (value >> 32) as u32;
    if bits == NO_EXTENSION { 0.0 } else { f32::from_bits(bits) }
}

/// Returns a value with the flags that `marks` holds.
fn with_flags(value: u64, marks: u8) -> u64 {
    let (mut log10, mut backoff) = (value as u32, (value >> 32) as u32);
    if marks & EXTENDS_LEFT != 0 {
        log10 &= !SIGN;
    }
    if marks & EXTENDS_RIGHT != 0 && backoff == NO_EXTENSION {
        backoff = 0;
    }
    u64::from(log10) | u64::from(backoff) << 32
}

fn set_mark(marks: &AtomicU8, mark: u8) {
    // Most marks are set already, and reading does not take the cache line from other
    // threads.
    if marks.load(Ordering::Relaxed) & mark == 0 {
        marks.fetch_or(mark, Ordering::Relaxed);
    }
}

fn new_marks(count: usize) -> Vec<AtomicU8> {
    let mut marks = Vec::new();
    marks.resize_with(count, || AtomicU8::new(0));
    marks
}

/// A table of n-grams being filled.
struct TableBuilder {
    modulo: FastModulo,
    keys: Vec<u64>,
    values: Vec<u64>,
    marks: Vec<AtomicU8>,
    /// The rest cost of each slot; empty if the file has no rest costs.
    rest_costs: Vec<f32>,
    entries: usize,
}

impl TableBuilder {
    /// Creates a table of `entries`, with marks if `marked`. The table of the longest n-grams has
    /// none.
    fn new(entries: Vec<TableEntry>, slots: usize, marked: bool) -> Result<Self, DuplicateKeys> {
        let count = entries.len();
        let (keys, values) = bulk_insert(entries, slots)?;
        let marks = new_marks(if marked { slots } else { 0 });
        Ok(TableBuilder {
            modulo: FastModulo::new(slots as u64),
            keys,
            values,
            marks,
            rest_costs: Vec::new(),
            entries: count,
        })
    }

    fn prefetch(&self, key: u64) {
        prefetch_at(&self.keys, self.modulo.reduce(key) as usize);
    }

    /// Returns the slot of `key`, or `Err` with the slot for inserting it.
    fn find_slot(&self, key: u64) -> Result<usize, usize> {
        let mut at = self.modulo.reduce(key) as usize;
        loop {
            match self.keys[at] {
                found if found == key => return Ok(at),
                0 => return Err(at),
                _ => at = if at + 1 == self.keys.len() { 0 } else { at + 1 },
            }
        }
    }

    /// Inserts an entry into the empty slot `at`; false when the table is full.
    fn insert(&mut self, at: usize, key: u64, value: u64) -> bool {
        if self.entries + 1 >= self.keys.len() {
            return false;
        }
        (self.keys[at], self.values[at]) = (key, value);
        self.entries += 1;
        true
    }
}

/// A model being built.
struct ProbingBuilder {
    options: KenlmProbingOptions,
    order: usize,
    unigrams: Vec<u64>,
    unigram_marks: Vec<AtomicU8>,
    rest_costs: Option<RestCosts>,
    /// From order 2.
    tables: Vec<TableBuilder>,
    blanks: u64,
}

impl ProbingBuilder {
    fn new(
        source: &dyn NgramSource,
        options: KenlmProbingOptions,
        unknown_log10: f32,
        rest_costs: Option<RestCosts>,
    ) -> Self {
        let unigrams = source.unigrams().iter();
        let mut unigrams: Vec<u64> = unigrams.map(|u| pack(u.log10, u.backoff)).collect();
        if !source.has_unknown() {
            // KenLM gives `<unk>` a backoff of +0.0.
            unigrams[0] = u64::from(unknown_log10.to_bits());
        }
        let unigram_marks = new_marks(unigrams.len());
        let order = source.order();
        ProbingBuilder {
            options,
            order,
            unigrams,
            unigram_marks,
            rest_costs,
            tables: Vec::new(),
            blanks: 0,
        }
    }

    /// Adds the n-grams of the next order.
    fn add_section(&mut self, section: &Section, source: &dyn NgramSource) -> Result<()> {
        let order = section.order;
        let longest = order == self.order;
        let entries = parallel::map(section.len(), |i| TableEntry {
            key: hash_oldest_first(section.ngram(i)),
            insertion_order: i as u64,
            value: pack(
                f32::from_bits(section.log10[i].to_bits() | SIGN),
                if longest { -0.0 } else { section.backoffs[i] },
            ),
        });
        let slots = bucket_count(section.len() as u64, self.options.multiplier) as usize;
        let mut table = TableBuilder::new(entries, slots, !longest).map_err(|equal| {
            let DuplicateKeys(first, second) = equal;
            duplicate_error(section, first as usize, second as usize, source)
        })?;
        if let Some(rest_costs) = self.rest_costs.as_ref().filter(|_| !longest) {
            let costs = parallel::map(section.len(), |i| rest_costs.cost(section.ngram(i)));
            table.rest_costs = vec![0.0; slots];
            for (i, cost) in costs.into_iter().enumerate() {
                if let Ok(at) = table.find_slot(hash_oldest_first(section.ngram(i))) {
                    table.rest_costs[at] = cost;
                }
            }
        }
        for index in self.mark_extensions(section) {
            self.mark_extensions_with_blanks(section, index, source)?;
        }
        self.tables.push(table);
        Ok(())
    }

    /// Marks the suffix and the context of every n-gram for which both exist. Returns
    /// the indices of the others, in order.
    fn mark_extensions(&self, section: &Section) -> Vec<usize> {
        let order = section.order;
        let Some(shorter) = self.tables.last() else {
            parallel::for_each_range(section.len(), &|bigrams| {
                for words in section.words[2 * bigrams.start..2 * bigrams.end].chunks(2) {
                    set_mark(&self.unigram_marks[words[1] as usize], EXTENDS_LEFT);
                    set_mark(&self.unigram_marks[words[0] as usize], EXTENDS_RIGHT);
                }
            });
            return Vec::new();
        };
        let chunks = section.words.chunks(CHUNK * order).collect();
        let others: Vec<Vec<usize>> = parallel::map_items(chunks, &|chunk, words: &[u32]| {
            let mut others = Vec::new();
            let mut keys = [(0, 0); PREFETCH_GROUP];
            for (group, words) in words.chunks(PREFETCH_GROUP * order).enumerate() {
                for (keys, ngram) in keys.iter_mut().zip(words.chunks(order)) {
                    *keys =
                        (hash_oldest_first(&ngram[1..]), hash_oldest_first(&ngram[..order - 1]));
                    shorter.prefetch(keys.0);
                    shorter.prefetch(keys.1);
                }
                for (i, &(suffix, context)) in keys.iter().enumerate().take(words.len() / order) {
                    match (shorter.find_slot(suffix), shorter.find_slot(context)) {
                        (Ok(suffix), Ok(context)) => {
                            set_mark(&shorter.marks[suffix], EXTENDS_LEFT);
                            set_mark(&shorter.marks[context], EXTENDS_RIGHT);
                        }
                        _ => others.push(chunk * CHUNK + group * PREFETCH_GROUP + i),
                    }
                }
            }
            others
        });
        others.concat()
    }

    /// Marks the suffix and the context of one n-gram of order 3 or more, adding blanks
    /// for its missing suffixes.
    fn mark_extensions_with_blanks(
        &mut self,
        section: &Section,
        index: usize,
        source: &dyn NgramSource,
    ) -> Result<()> {
        let ngram = section.ngram(index);
        let order = ngram.len();
        fn suffix(n: usize, ngram: &[u32], order: usize) -> u64 {
            hash_oldest_first(&ngram[order - n..])
        }
        let newest = ngram[order - 1] as usize;
        // The length of the longest suffix that exists, and its log10 p.
        let mut present = order - 1;
        let mut log10 = loop {
            if present == 1 {
                set_mark(&self.unigram_marks[newest], EXTENDS_LEFT);
                break log10_of(self.unigrams[newest]);
            }
            let table = &self.tables[present - 2];
            if let Ok(at) = table.find_slot(suffix(present, ngram, order)) {
                set_mark(&table.marks[at], EXTENDS_LEFT);
                break log10_of(table.values[at]);
            }
            present -= 1;
        };
        log10 = -log10.abs();
        for n in present + 1..order {
            // As in scoring, the backoff of the blank's context is added.
            if let Some(backoff) = self.mark_extends_right(&ngram[order - n..order - 1]) {
                log10 += backoff;
            }
            let key = suffix(n, ngram, order);
            let table = &mut self.tables[n - 2];
            let Err(at) = table.find_slot(key) else { continue };
            if !table.insert(at, key, pack(log10, -0.0)) {
                return Err(Error::Unsupported {
                    file: source.name().to_owned(),
                    reason: format!(
                        "too many suffixes of longer n-grams are not in the model: the table of \
                         {n}-grams has no space for entries in their place; give it more with \
                         --multiplier (build_binary: -p)"
                    ),
                });
            }
            set_mark(&table.marks[at], EXTENDS_LEFT);
            if let Some(rest_costs) = &self.rest_costs {
                table.rest_costs[at] = rest_costs.cost(&ngram[order - n..]);
            }
            self.blanks += 1;
        }
        if self.mark_extends_right(&ngram[..order - 1]).is_none() {
            return Err(missing_context_error(section, index, source));
        }
        Ok(())
    }

    /// Marks that a longer n-gram begins with `context`; returns the backoff of `context`, if the
    /// model has it.
    fn mark_extends_right(&self, context: &[u32]) -> Option<f32> {
        if let &[word] = context {
            set_mark(&self.unigram_marks[word as usize], EXTENDS_RIGHT);
            return Some(backoff_of(self.unigrams[word as usize]));
        }
        let table = &self.tables[context.len() - 2];
        let at = table.find_slot(hash_oldest_first(context)).ok()?;
        set_mark(&table.marks[at], EXTENDS_RIGHT);
        Some(backoff_of(table.values[at]))
    }

    fn write(&self, output: &Path, source: &dyn NgramSource) -> Result<()> {
        let mut file = AtomicFile::create(output)?;
        let mut write = |bytes: &[u8]| {
            file.write_all(bytes).map_err(|e| miriam_storage::Error::io(output, "write", e))
        };
        let counts = source.counts().to_vec();
        let multiplier = self.options.multiplier;
        let words = source.vocabulary();
        let slots = bucket_count(counts[0], multiplier) as usize;
        let unigram_slots = counts[0] as usize + 1;
        let header = Header {
            model_type: match self.rest_costs {
                Some(_) => ModelType::RestProbing,
                None => ModelType::Probing,
            },
            probing_multiplier: multiplier,
            has_vocabulary: self.options.has_words,
            counts,
        };
        write(&header.to_bytes())?;
        write(&0u32.to_le_bytes())?;
        write(&(words.len() as u32).to_le_bytes())?;
        let entries = words.iter().enumerate().skip(1);
        let entries = entries.map(|(id, word)| TableEntry {
            key: word_hash(word),
            insertion_order: id as u64,
            value: id as u64,
        });
        let (keys, ids) =
            bulk_insert(entries.collect(), slots).map_err(|DuplicateKeys(a, b)| {
                equal_hashes_error(words, [a as u32, b as u32], source.name())
            })?;
        let mut bytes = Vec::new();
        for (key, &id) in keys.iter().zip(&ids) {
            bytes.extend_from_slice(&key.to_le_bytes());
            bytes.extend_from_slice(&(id as u32).to_le_bytes());
        }
        for (word, (&value, marks)) in self.unigrams.iter().zip(&self.unigram_marks).enumerate() {
            bytes
                .extend_from_slice(&with_flags(value, marks.load(Ordering::Relaxed)).to_le_bytes());
            if let Some(rest_costs) = &self.rest_costs {
                bytes.extend_from_slice(&rest_costs.cost(&[word as u32]).to_le_bytes());
            }
        }
        let unigram_bytes = if self.rest_costs.is_some() { 12 } else { 8 };
        let empty_slots = unigram_slots.saturating_sub(self.unigrams.len());
        bytes.resize(bytes.len() + unigram_bytes * empty_slots, 0);
        write(&bytes)?;
        for table in &self.tables {
            // Few chunks at a time, so that memory stays small.
            let starts: Vec<usize> = (0..table.keys.len()).step_by(WRITE_SLOTS).collect();
            for starts in starts.chunks(2 * rayon::current_num_threads()) {
                let chunks = parallel::map_tasks(starts.len(), &|at| slot_bytes(table, starts[at]));
                for chunk in chunks {
                    write(&chunk)?;
                }
            }
        }
        if self.options.has_words {
            write(&word_strings(words.iter(), source.name())?)?;
        }
        Ok(file.commit()?)
    }
}

/// Returns the bytes of up to [`WRITE_SLOTS`] slots, from `start` on.
fn slot_bytes(table: &TableBuilder, start: usize) -> Vec<u8> {
    let end = (start + WRITE_SLOTS).min(table.keys.len());
    let mut bytes = Vec::with_capacity(16 * (end - start));
    for slot in start..end {
        let value = table.values[slot];
        bytes.extend_from_slice(&table.keys[slot].to_le_bytes());
        match table.marks.get(slot) {
            Some(marks) => {
                let value = with_flags(value, marks.load(Ordering::Relaxed));
                bytes.extend_from_slice(&value.to_le_bytes());
                if let Some(cost) = table.rest_costs.get(slot) {
                    bytes.extend_from_slice(&cost.to_le_bytes());
                }
            }
            None => bytes.extend_from_slice(&(value as u32).to_le_bytes()),
        }
    }
    bytes
}
