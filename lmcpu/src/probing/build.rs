//! From lists of n-grams to probing tables.
//!
//! Orders are built one after another, from short to long, each on all threads.
//! An n-gram leaves two marks behind: its suffix (all words but the oldest) is
//! told that something longer ends in it, its context (all words but the newest)
//! that something longer begins with it. Marks go to a byte beside each slot,
//! and into the sign bits at the end.
//!
//! A model from which a toolkit has pruned suffixes gets blanks in their place;
//! see `blanks`.
//!
//! The bytes do not depend on the number of threads.

mod blanks;

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use hashbrown::HashMap;
use miriam_layout::hash::reduce;
use miriam_layout::probing::{EqualKeys, Slot, build_with, find_slot, home_lines};
use miriam_layout::{Bytes, ContainerWriter, prefetch_at};
use miriam_text::{Progress, Vocabulary};
use rayon::prelude::*;

use blanks::Blank;

use super::*;
use crate::arpa::Section;
use crate::duplicates::there_twice;
use crate::{Duplicates, NgramSource, open_source};

/// Something longer ends in this n-gram.
const EXTENDS_LEFT: u8 = 1;
/// Something longer begins with this n-gram.
const EXTENDS_RIGHT: u8 = 2;

/// n-grams that one task marks.
const CHUNK: usize = 1 << 13;
/// Lookups that wait for memory together.
const GROUP: usize = 16;

/// A stage of the progress, over when it is dropped: also after an error.
pub(crate) struct Stage<'p>(&'p dyn Progress);

impl<'p> Stage<'p> {
    pub(crate) fn begin(progress: &'p dyn Progress, name: &str, total: Option<u64>) -> Self {
        progress.begin(name, total);
        Stage(progress)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// What a finished file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSize {
    /// n-grams of each order as the ARPA file counts them.
    pub counts: Vec<u64>,
    /// Entries added for missing suffixes.
    pub blanks: u64,
}

/// Builds the file `output` from the model at `path`, ARPA text or whatever else
/// [`open_source`] opens, on rayon's current threads.
pub fn build_probing(
    path: &Path,
    output: &Path,
    duplicates: Duplicates,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    let tables = Tables::from_file(path, duplicates, progress)?;
    let _stage = Stage::begin(progress, "writing", None);
    tables.write(ContainerWriter::create(output, KIND, VERSION)?)?;
    Ok(tables.size())
}

/// The model in the ARPA text at `arpa`, built in memory on rayon's current
/// threads.
pub fn probing_from_arpa(arpa: &Path, progress: &dyn Progress) -> Result<ProbingModel> {
    let bytes = container_in_memory(arpa, progress)?;
    ProbingModel::from_container(&Container::from_bytes(bytes, arpa)?)
}

/// The bytes of the file that [`build_probing`] would write.
pub(super) fn container_in_memory(arpa: &Path, progress: &dyn Progress) -> Result<Bytes> {
    let tables = Tables::from_file(arpa, Duplicates::Refuse, progress)?;
    let bytes = tables.write(ContainerWriter::in_memory(arpa, KIND, VERSION)?)?;
    bytes.ok_or_else(|| unreachable!("a container in memory has bytes"))
}

/// A model being built.
struct Tables {
    counts: Vec<u64>,
    vocabulary: Vocabulary,
    has_unknown: bool,
    /// By word id: prob and backoff.
    unigrams: Vec<u64>,
    unigram_marks: Vec<AtomicU8>,
    /// Orders 2 to N - 1.
    middle: Vec<Middle>,
    /// Order N, from 2.
    longest: Option<Longest>,
    minimisation_is_closed: bool,
}

/// The n-grams of one order that may be part of longer ones.
struct Middle {
    order: usize,
    lines: Vec<Line4>,
    home: usize,
    entries: u64,
    /// One a slot.
    marks: Vec<AtomicU8>,
    /// By key.
    blanks: HashMap<u64, Blank>,
    /// The oldest word of the n-gram in each slot.
    oldest: Vec<u32>,
}

/// The longest n-grams.
struct Longest {
    lines: Vec<Line5>,
    home: usize,
    oldest: Vec<u32>,
}

/// Where an n-gram of a middle order stands.
enum Place {
    Slot(Slot),
    Blank,
}

impl Middle {
    fn prefetch(&self, hash: u64) {
        prefetch_at(&self.lines, reduce(table_key(hash), self.home as u64) as usize);
    }

    fn slot(&self, hash: u64) -> Option<Slot> {
        find_slot(&self.lines, self.home as u64, table_key(hash))
    }

    fn find(&self, hash: u64) -> Option<Place> {
        match self.slot(hash) {
            Some(slot) => Some(Place::Slot(slot)),
            None => self.blanks.contains_key(&table_key(hash)).then_some(Place::Blank),
        }
    }

    fn value(&self, slot: Slot) -> u64 {
        self.lines[slot.0 / Line4::SLOTS].value(slot.0 % Line4::SLOTS)
    }

    fn mark(&self, slot: Slot, mark: u8) {
        set(&self.marks[slot.0], mark);
    }

    /// Notes that something longer begins with the n-gram; returns its backoff.
    fn extend_right(&mut self, hash: u64) -> Option<f32> {
        if let Some(slot) = self.slot(hash) {
            self.mark(slot, EXTENDS_RIGHT);
            return Some(activated(backoff_bits(self.value(slot))));
        }
        self.blanks.get_mut(&table_key(hash)).map(|blank| {
            blank.extends_right = true;
            0.0
        })
    }

    /// log10 p of the n-gram at `place`, as it was read.
    fn log10(&self, hash: u64, place: &Place) -> f32 {
        match place {
            Place::Slot(slot) => f32::from_bits(log10_bits(self.value(*slot))),
            Place::Blank => self.blanks[&table_key(hash)].log10,
        }
    }

    /// Moves marks and blanks into the lines.
    fn settle(&mut self) -> Result<(), EqualKeys> {
        self.lines.par_iter_mut().zip(self.marks.par_chunks(Line4::SLOTS)).for_each(
            |(line, marks)| {
                for (slot, mark) in marks.iter().enumerate() {
                    let mark = mark.load(Ordering::Relaxed);
                    if mark != 0 {
                        line.set(slot, line.key(slot), marked(line.value(slot), mark));
                    }
                }
            },
        );
        if self.blanks.is_empty() {
            return Ok(());
        }
        let slots = self
            .lines
            .iter()
            .flat_map(|line| (0..Line4::SLOTS).map(|slot| (line.key(slot), line.value(slot))));
        let mut entries: Vec<(u64, u64, u32)> = slots
            .zip(&self.oldest)
            .filter(|((key, _), _)| *key != 0)
            .map(|((key, value), &oldest)| (key, value, oldest))
            .collect();
        entries.extend(self.blanks.iter().map(|(&key, blank)| {
            let marks = EXTENDS_LEFT | if blank.extends_right { EXTENDS_RIGHT } else { 0 };
            (key, marked(pack(blank.log10.to_bits(), NO_EXTENSION), marks), blank.oldest)
        }));
        self.entries = entries.len() as u64;
        self.home = home_lines::<Line4>(entries.len(), LOAD);
        (self.lines, self.oldest) = build_with(&mut entries, self.home)?;
        Ok(())
    }
}

/// The backoff of an n-gram that something longer begins with.
fn activated(bits: u32) -> f32 {
    if bits == NO_EXTENSION { 0.0 } else { f32::from_bits(bits) }
}

/// A value with the flags that `marks` stand for.
fn marked(value: u64, marks: u8) -> u64 {
    let (mut log10, mut backoff) = (log10_bits(value), backoff_bits(value));
    if marks & EXTENDS_LEFT != 0 {
        log10 &= !SIGN;
    }
    if marks & EXTENDS_RIGHT != 0 && backoff == NO_EXTENSION {
        backoff = 0;
    }
    pack(log10, backoff)
}

fn set(marks: &AtomicU8, mark: u8) {
    // Most marks are there already, and reading does not take the cache line
    // away from other threads.
    if marks.load(Ordering::Relaxed) & mark == 0 {
        marks.fetch_or(mark, Ordering::Relaxed);
    }
}

fn unmarked(n: usize) -> Vec<AtomicU8> {
    let mut marks = Vec::new();
    marks.resize_with(n, || AtomicU8::new(0));
    marks
}

/// The key of an n-gram in its table.
fn key_of(ngram: &[u32]) -> u64 {
    table_key(hash_of(ngram.iter().rev().copied()))
}

/// The hashes of an n-gram's suffix and context, both one word shorter.
fn parts(ngram: &[u32]) -> (u64, u64) {
    let n = ngram.len();
    let newest_first = |words: &[u32]| hash_of(words.iter().rev().copied());
    (newest_first(&ngram[1..]), newest_first(&ngram[..n - 1]))
}

impl Tables {
    fn from_file(path: &Path, duplicates: Duplicates, progress: &dyn Progress) -> Result<Self> {
        let size = path.metadata().map(|found| found.len()).ok();
        let stage = Stage::begin(progress, "reading", size);
        let mut source = open_source(path, duplicates, progress)?;
        let tables = Tables::gather(&mut *source)?;
        drop(stage);
        let _stage = Stage::begin(progress, "building", None);
        Ok(tables.settle(source.vocabulary()))
    }

    /// Takes all n-grams of `source`; marks stay beside the tables.
    fn gather(source: &mut dyn NgramSource) -> Result<Self> {
        let unigrams: Vec<u64> = source
            .unigrams()
            .iter()
            .map(|u| pack(u.log10.to_bits() | SIGN, u.backoff.to_bits()))
            .collect();
        let mut tables = Tables {
            counts: source.counts().to_vec(),
            vocabulary: Vocabulary::new(),
            has_unknown: source.has_unknown(),
            unigram_marks: unmarked(unigrams.len()),
            unigrams,
            middle: Vec::new(),
            longest: None,
            minimisation_is_closed: false,
        };
        while let Some(section) = source.next_section()? {
            tables.add(section, source)?;
        }
        Ok(tables)
    }

    /// Moves the marks into the tables, which are final then.
    fn settle(mut self, vocabulary: &Vocabulary) -> Self {
        self.vocabulary = vocabulary.clone();
        for (value, marks) in self.unigrams.iter_mut().zip(&self.unigram_marks) {
            *value = marked(*value, marks.load(Ordering::Relaxed));
        }
        for middle in &mut self.middle {
            // A blank is only made where no entry has the key.
            middle.settle().unwrap_or_else(|_| unreachable!("blanks have keys of their own"));
        }
        self.minimisation_is_closed = self.is_closed();
        self
    }

    /// Takes the n-grams of the next order.
    fn add(&mut self, section: Section, source: &dyn NgramSource) -> Result<()> {
        let order = section.order;
        let equal = |EqualKeys { key }| equal_ngrams(&section, key, source);
        let ngrams = section.words.par_chunks(order).with_min_len(CHUNK);
        let mut middle = None;
        if order == source.order() {
            let mut entries: Vec<(u64, u32, u32)> = (ngrams, &section.log10)
                .into_par_iter()
                .map(|(ngram, log10)| (key_of(ngram), log10.to_bits() | SIGN, ngram[0]))
                .collect();
            let home = home_lines::<Line5>(entries.len(), LOAD);
            let (lines, oldest) = build_with(&mut entries, home).map_err(equal)?;
            self.longest = Some(Longest { lines, home, oldest });
        } else {
            let mut entries: Vec<(u64, u64, u32)> = (ngrams, &section.log10, &section.backoffs)
                .into_par_iter()
                .map(|(ngram, log10, backoff)| {
                    let value = pack(log10.to_bits() | SIGN, backoff.to_bits());
                    (key_of(ngram), value, ngram[0])
                })
                .collect();
            let home = home_lines::<Line4>(entries.len(), LOAD);
            let (lines, oldest) = build_with::<Line4, u32>(&mut entries, home).map_err(equal)?;
            middle = Some(Middle {
                order,
                oldest,
                marks: unmarked(lines.len() * Line4::SLOTS),
                lines,
                home,
                entries: section.len() as u64,
                blanks: HashMap::new(),
            });
        }
        for index in self.mark_all(&section) {
            self.mark_one(&section, index, source)?;
        }
        self.middle.extend(middle);
        Ok(())
    }

    /// Leaves the marks of every n-gram whose suffix and context are there.
    /// Returns the others, in file order.
    fn mark_all(&self, section: &Section) -> Vec<usize> {
        let order = section.order;
        if order == 2 {
            section.words.par_chunks(2).with_min_len(CHUNK).for_each(|words| {
                set(&self.unigram_marks[words[1] as usize], EXTENDS_LEFT);
                set(&self.unigram_marks[words[0] as usize], EXTENDS_RIGHT);
            });
            return Vec::new();
        }
        let shorter = &self.middle[order - 3];
        let chunks = section.words.par_chunks(CHUNK * order).enumerate();
        let others: Vec<Vec<usize>> = chunks
            .map(|(chunk, words)| {
                let mut others = Vec::new();
                let mut hashes = [(0, 0); GROUP];
                for (group, words) in words.chunks(GROUP * order).enumerate() {
                    for (hashes, ngram) in hashes.iter_mut().zip(words.chunks(order)) {
                        *hashes = parts(ngram);
                        shorter.prefetch(hashes.0);
                        shorter.prefetch(hashes.1);
                    }
                    for (i, &(suffix, context)) in
                        hashes.iter().enumerate().take(words.len() / order)
                    {
                        match (shorter.slot(suffix), shorter.slot(context)) {
                            (Some(suffix), Some(context)) => {
                                shorter.mark(suffix, EXTENDS_LEFT);
                                shorter.mark(context, EXTENDS_RIGHT);
                            }
                            _ => others.push(chunk * CHUNK + group * GROUP + i),
                        }
                    }
                }
                others
            })
            .collect();
        others.concat()
    }

    /// Whether each n-gram that a state keeps whole has a suffix that a state
    /// keeps whole. The tables are settled.
    fn is_closed(&self) -> bool {
        let kept = |value: u64| backoff_bits(value) != NO_EXTENSION;
        self.middle.iter().all(|middle| {
            let shorter = middle.order.checked_sub(3).map(|at| &self.middle[at]);
            let keeps = |hash: u64| match shorter {
                None => kept(self.unigrams[hash as usize]),
                Some(shorter) => shorter.slot(hash).is_some_and(|slot| kept(shorter.value(slot))),
            };
            let lines = middle.lines.par_chunks(GROUP);
            let oldest = middle.oldest.par_chunks(GROUP * Line4::SLOTS);
            (lines, oldest).into_par_iter().with_min_len(CHUNK / GROUP).all(|(lines, oldest)| {
                let mut suffixes = [0; GROUP * Line4::SLOTS];
                let mut count = 0;
                for (line, oldest) in lines.iter().zip(oldest.chunks(Line4::SLOTS)) {
                    for ((key, value), &oldest) in line.pairs().zip(oldest) {
                        if kept(value) {
                            suffixes[count] = shorten(key, oldest);
                            if let Some(shorter) = shorter {
                                shorter.prefetch(suffixes[count]);
                            }
                            count += 1;
                        }
                    }
                }
                suffixes[..count].iter().all(|&suffix| keeps(suffix))
            })
        })
    }

    fn size(&self) -> ModelSize {
        let blanks = self.middle.iter().map(|middle| middle.blanks.len() as u64).sum();
        ModelSize { counts: self.counts.clone(), blanks }
    }

    fn write(&self, mut writer: ContainerWriter) -> Result<Option<Bytes>> {
        let id = |word: &[u8]| self.vocabulary.find(word).map_or(0, |id| id.0);
        let mut entries: Vec<u64> = self.middle.iter().map(|m| m.entries).collect();
        let mut home_lines: Vec<u64> = self.middle.iter().map(|m| m.home as u64).collect();
        if let Some(longest) = &self.longest {
            entries.push(self.counts[self.counts.len() - 1]);
            home_lines.push(longest.home as u64);
        }
        writer.metadata(&Metadata {
            order: self.counts.len() as u32,
            counts: self.counts.clone(),
            entries,
            home_lines,
            begin: id(b"<s>"),
            end: id(b"</s>"),
            has_unknown: self.has_unknown,
            minimisation_is_closed: self.minimisation_is_closed,
        })?;
        Dictionary::write(&mut writer, "words", self.vocabulary.iter())?;
        writer.section("order-1", &self.unigrams)?;
        for middle in &self.middle {
            writer.section(&format!("order-{}", middle.order), &middle.lines)?;
        }
        let order = self.counts.len();
        if let Some(longest) = &self.longest {
            writer.section(&format!("order-{order}"), &longest.lines)?;
        }
        // Behind everything that scoring reads.
        let bits = oldest::bits_of(self.unigrams.len());
        for middle in &self.middle {
            oldest::write(&mut writer, middle.order, &middle.lines, &middle.oldest, bits)?;
            let mut blanks: Vec<u64> = middle.blanks.keys().copied().collect();
            blanks.sort_unstable();
            writer.section(&format!("order-{}.blanks", middle.order), &blanks)?;
        }
        if let Some(longest) = &self.longest {
            oldest::write(&mut writer, order, &longest.lines, &longest.oldest, bits)?;
        }
        Ok(writer.finish()?)
    }
}

/// Two n-grams of `section` have the same key.
fn equal_ngrams(section: &Section, key: u64, source: &dyn NgramSource) -> crate::Error {
    let mut places = (0..section.len()).filter(|&i| key_of(section.ngram(i)) == key);
    let first = places.next().unwrap_or_default();
    let second = places.next().unwrap_or(first);
    there_twice(section, first, second, source)
}
