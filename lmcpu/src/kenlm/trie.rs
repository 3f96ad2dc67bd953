//! Trie files (`ngram-lm.md` 2.10 to 2.12): the n-grams of an order are sorted by their words,
//! newest first, in one array of bit-packed entries. An entry has the index of its first child,
//! which is the first n-gram that extends it to the left. The children of an entry end where the
//! children of the next entry begin.
//!
//! The four types differ in how an entry keeps its values and the index of its first child. Values
//! are exact, or indices into a codebook of the order. All bits of the index are in the entry, or
//! only its low bits; then an array lists the entries at which the high bits increase.
//!
//! A lookup is a search among the children of an entry. Few children are searched in
//! one step; among many, each probe that narrows the search is a step of its own, so
//! that a batch waits for many searches at a time.

use std::hint::select_unpredictable;
use std::path::Path;

use miriam_storage::{Bytes, View, prefetch_at};

use super::bit_packing::{BitField, BitPackedArray, required_bits};
use super::header::{Header, ModelType};
use super::unaligned::{SectionReader, f32_at, u64_at};
use super::vocabulary::KenlmVocabulary;
use crate::model_head::{ModelHead, ModelVocabulary};
use crate::ngram_index::SIGN;
use crate::{FoundNgram, LmWord, LookupStep, NgramIndex, Result};

pub(super) const QUANTIZER_VERSION: u8 = 2;
pub(super) const POINTER_ARRAY_VERSION: u8 = 0;
/// Children that take no more bits than this are searched in one step: at most three
/// cache lines, which arrive together.
const MAX_SCANNED_BITS: u64 = 1024;
/// After this many steps of interpolation a search is binary.
const MAX_INTERPOLATIONS: u8 = 6;

/// The n-grams of one order, from 2.
pub(super) struct Level {
    entries: BitPackedArray,
    /// The number of n-grams.
    pub(super) count: u64,
    word: BitField,
    values: ValueCoding,
    pointers: ChildPointers,
}

/// The encoding of the values of entries.
enum ValueCoding {
    /// The probability (log10) without its sign, which is always set, and the backoff.
    Exact { log10: BitField, backoff: BitField },
    /// Indices into tables of floats.
    Quantized {
        log10: BitField,
        log10_table: View<[u8; 4]>,
        backoff: BitField,
        backoff_table: View<[u8; 4]>,
    },
}

/// The encoding of the index of an entry's first child.
enum ChildPointers {
    /// The longest n-grams have no children.
    NoChildren,
    Inline(BitField),
    Split {
        low: BitField,
        bits: u32,
        high: HighBits,
    },
}

/// The high bits of pointers, by the index of the entry.
///
/// For each value of the high bits, the file has the first entry with this or a higher value. A
/// binary search in this whole list would take as long as the rest of a query. So an index, which
/// is computed at opening, gives the range to search for each run of entries. There are about as
/// many runs as values.
struct HighBits {
    firsts: View<[u8; 8]>,
    /// log2 of the number of entries of a run.
    shift: u32,
    /// The number of `firsts` before each run, and before the end.
    before: Vec<u32>,
}

impl HighBits {
    /// Returns the index for `entries` entries; `None` when 32 bits do not suffice.
    fn new(firsts: View<[u8; 8]>, entries: u64) -> Option<Self> {
        let count = u32::try_from(firsts.len()).ok()?;
        let shift = required_bits(entries / u64::from(count.max(1)));
        let mut before = Vec::new();
        let mut passed = 0;
        for run in 0..=(entries >> shift) {
            while passed < count && u64::from_le_bytes(firsts[passed as usize]) < run << shift {
                passed += 1;
            }
            before.push(passed);
        }
        before.push(count);
        Some(HighBits { firsts, shift, before })
    }

    /// Returns the high bits of the pointer of the entry `index`.
    #[inline(always)]
    fn high_bits(&self, index: u64) -> u64 {
        let run = (index >> self.shift) as usize;
        let (begin, end) = (self.before[run] as usize, self.before[run + 1] as usize);
        let inside = self.firsts[begin..end].partition_point(|&f| u64::from_le_bytes(f) <= index);
        (begin + inside).saturating_sub(1) as u64
    }
}

/// A trie file.
pub struct TrieFile {
    pub(super) header: Header,
    pub(super) head: ModelHead<KenlmVocabulary>,
    /// By word id, and one more entry: probability, backoff and the index of the first
    /// bigram.
    pub(super) unigrams: View<[u8; 16]>,
    /// Orders 2 to N.
    pub(super) levels: Vec<Level>,
}

/// The numbers of bits of probabilities and of backoffs in a quantised file.
#[derive(Clone, Copy)]
struct Quantizer {
    log10_bits: u32,
    backoff_bits: u32,
}

impl TrieFile {
    /// Reads the sections after `header`.
    pub fn new(bytes: &Bytes, path: &Path, header: Header) -> Result<Self> {
        let ModelType::Trie { quantized, compressed } = header.model_type else {
            unreachable!("the caller has looked at the kind")
        };
        let mut sections = SectionReader { bytes, path, offset: header.len() };
        let mut words = KenlmVocabulary::read_sorted(&mut sections, &header)?;
        let order = header.order();
        let counts = &header.counts;
        let mut tables = Vec::new();
        let mut quantizer = None;
        if quantized {
            let read = read_quantizer(&mut sections)?;
            for n in 2..=order {
                let log10 = sections.take::<4>("quantiser", 1 << read.log10_bits)?;
                let entries = if n < order { 1 << read.backoff_bits } else { 0 };
                tables.push((log10, sections.take::<4>("quantiser", entries)?));
            }
            quantizer = Some(read);
        }
        let mut tables = tables.into_iter();
        let unigrams = sections.take("unigrams", counts[0] + 2)?;
        let word_bits = required_bits(counts[0]);
        let mut limit = None;
        let mut levels = Vec::new();
        for n in 2..=order {
            let section = format!("{n}-grams");
            let longest = n == order;
            let (log10_bits, backoff_bits) =
                quantizer.map_or((31, 32), |q| (q.log10_bits, q.backoff_bits));
            let backoff_bits = if longest { 0 } else { backoff_bits };
            let value_end = word_bits + log10_bits + backoff_bits;
            let (mut next_bits, mut split) = (0, None);
            if !longest {
                next_bits = required_bits(counts[n]);
                if compressed {
                    let limit = match limit {
                        Some(limit) => limit,
                        None => *limit.insert(read_array_limit(&sections)?),
                    };
                    let (bits, array) = take_pointer_array(
                        &mut sections,
                        &section,
                        counts[n - 1] + 1,
                        counts[n],
                        limit,
                    )?;
                    let high = HighBits::new(array, counts[n - 1] + 1)
                        .ok_or_else(|| sections.damaged(&section, "too many pointers"))?;
                    (next_bits, split) = (bits, Some(high));
                }
                if next_bits > 57 {
                    return Err(sections.damaged(&section, "pointers of more than 57 bits"));
                }
            }
            let width = value_end + next_bits;
            let count = counts[n - 1];
            let size = BitPackedArray::size_bytes(count, width)
                .ok_or_else(|| sections.damaged(&section, "its size overflows"))?;
            let entries = BitPackedArray::new(sections.take(&section, size)?, width);
            let low = BitField::new(value_end, next_bits);
            levels.push(Level {
                entries,
                count,
                word: BitField::new(0, word_bits),
                values: match tables.next() {
                    // Here the backoff comes first; in files that are not quantised it
                    // comes second.
                    Some((log10_table, backoff_table)) => ValueCoding::Quantized {
                        log10: BitField::new(word_bits + backoff_bits, log10_bits),
                        log10_table,
                        backoff: BitField::new(word_bits, backoff_bits),
                        backoff_table,
                    },
                    None => ValueCoding::Exact {
                        log10: BitField::new(word_bits, log10_bits),
                        backoff: BitField::new(word_bits + log10_bits, backoff_bits),
                    },
                },
                pointers: match split {
                    _ if longest => ChildPointers::NoChildren,
                    Some(high) => ChildPointers::Split { low, bits: next_bits, high },
                    None => ChildPointers::Inline(low),
                },
            });
        }
        words.read_strings(&mut sections, &header)?;
        let head = ModelHead::from_kenlm(order, words, |word: LmWord| {
            f32_at(&unigrams[word.0 as usize], 4)
        });
        Ok(TrieFile { header, head, unigrams, levels })
    }

    /// Returns the bigrams that end in `word`.
    pub(super) fn bigrams_of(&self, word: u32) -> ChildRange {
        let word = word as usize;
        ChildRange {
            begin: u64_at(&self.unigrams[word], 8),
            end: u64_at(&self.unigrams[word + 1], 8),
        }
    }
}

/// Reads the header of the quantiser's section.
fn read_quantizer(sections: &mut SectionReader<'_>) -> Result<Quantizer> {
    let [version, log10_bits, backoff_bits, ..] = sections.take::<8>("quantiser", 1)?[0];
    if version != QUANTIZER_VERSION {
        let reason = format!("version {version}, this program reads version {QUANTIZER_VERSION}");
        return Err(sections.damaged("quantiser", &reason));
    }
    if ![log10_bits, backoff_bits].iter().all(|bits| (1..=25).contains(bits)) {
        let reason = format!("{log10_bits} and {backoff_bits} bits are not between 1 and 25");
        return Err(sections.damaged("quantiser", &reason));
    }
    Ok(Quantizer { log10_bits: log10_bits.into(), backoff_bits: backoff_bits.into() })
}

/// Returns the largest number of high bits in arrays, which was an option of the builder. It is at
/// the beginning of the section of the first array.
fn read_array_limit(sections: &SectionReader<'_>) -> Result<u32> {
    let section = "pointer array";
    let start =
        SectionReader { bytes: sections.bytes, path: sections.path, offset: sections.offset }
            .take::<2>(section, 1)?[0];
    if start[0] != POINTER_ARRAY_VERSION {
        let reason =
            format!("version {}, this program reads version {POINTER_ARRAY_VERSION}", start[0]);
        return Err(sections.damaged(section, &reason));
    }
    Ok(start[1].into())
}

/// The division of the pointers of an order: low bits in the entries, high bits in an array
/// (`ngram-lm.md` 2.12).
pub(super) struct PointerSplit {
    /// The number of bits that stay in the entries.
    pub low_bits: u32,
    /// The number of values that the high bits can take.
    pub values: u64,
}

impl PointerSplit {
    /// Returns the split of `entries` pointers up to `max_pointer` that makes the file smallest,
    /// with at most `limit` bits in the array.
    pub fn smallest(entries: u64, max_pointer: u64, limit: u32) -> Self {
        let required = required_bits(max_pointer);
        // The key is the change of the file's size, in bits.
        let high_bits = (0..=required.min(limit)).min_by_key(|&high_bits| {
            i128::from(max_pointer.checked_shr(required - high_bits).unwrap_or(0)) * 64
                - i128::from(entries) * i128::from(high_bits)
        });
        let high_bits = high_bits.unwrap_or(0);
        let low_bits = required - high_bits;
        PointerSplit { low_bits, values: max_pointer.checked_shr(low_bits).unwrap_or(0) + 1 }
    }

    /// Returns the size of the array's section in bytes: 8 unaligned bytes, 7 for
    /// alignment, and the array. `None` on overflow.
    pub fn section_bytes(&self) -> Option<u64> {
        self.values.checked_add(1)?.checked_mul(8)?.checked_add(7)
    }
}

/// Reads the array for the high bits of `entries` pointers up to `max_pointer`. Returns also
/// the number of bits that stay in the entries.
fn take_pointer_array(
    sections: &mut SectionReader<'_>,
    section: &str,
    entries: u64,
    max_pointer: u64,
    limit: u32,
) -> Result<(u32, View<[u8; 8]>)> {
    let split = PointerSplit::smallest(entries, max_pointer, limit);
    let end = (split.section_bytes())
        .and_then(|size| usize::try_from(size).ok()?.checked_add(sections.offset))
        .ok_or_else(|| sections.damaged(section, "its size overflows"))?;
    sections.offset = sections.offset.next_multiple_of(8) + 8;
    let firsts = sections.take(section, split.values)?;
    sections.offset = end;
    Ok((split.low_bits, firsts))
}

/// Entries of an order, from `begin` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildRange {
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl ChildRange {
    fn non_empty(self) -> Option<Self> {
        (self.begin < self.end).then_some(self)
    }
}

/// A search for a word among the children of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChildSearch {
    /// The first entry that remains.
    begin: u64,
    /// The entry after the last that remains.
    end: u64,
    /// The entry that is read next, unless all are searched in one step.
    pivot: u64,
    /// A lower bound of the word of the first entry that remains.
    low: u32,
    /// A lower bound of the words after the last entry that remains.
    high: u32,
    word: u32,
    interpolations_left: u8,
}

impl Level {
    /// Returns the word of the entry `index`.
    #[inline(always)]
    pub(super) fn word_at(&self, index: u64) -> u32 {
        self.entries.get(index, self.word) as u32
    }

    /// Returns the probability and the backoff, both log10, of the entry `index`.
    #[inline(always)]
    pub(super) fn values_at(&self, index: u64) -> (f32, f32) {
        let get = |field| self.entries.get(index, field) as u32;
        let longest = matches!(self.pointers, ChildPointers::NoChildren);
        match &self.values {
            ValueCoding::Exact { log10, backoff } => {
                let backoff = if longest { SIGN } else { get(*backoff) };
                (f32::from_bits(get(*log10) | SIGN), f32::from_bits(backoff))
            }
            ValueCoding::Quantized { log10, log10_table, backoff, backoff_table } => {
                // Tables have an entry for each value of the field.
                let backoff =
                    if longest { -0.0 } else { f32_at(&backoff_table[get(*backoff) as usize], 0) };
                (f32_at(&log10_table[get(*log10) as usize], 0), backoff)
            }
        }
    }

    /// Returns the children of the entry `index`.
    #[inline(always)]
    pub(super) fn children_of(&self, index: u64) -> ChildRange {
        match &self.pointers {
            ChildPointers::NoChildren => ChildRange { begin: 0, end: 0 },
            ChildPointers::Inline(field) => ChildRange {
                begin: self.entries.get(index, *field),
                end: self.entries.get(index + 1, *field),
            },
            ChildPointers::Split { low, bits, high } => {
                let begin = high.high_bits(index) << bits | self.entries.get(index, *low);
                let end = high.high_bits(index + 1) << bits | self.entries.get(index + 1, *low);
                ChildRange { begin, end }
            }
        }
    }

    #[inline(always)]
    fn fits_one_step(&self, search: &ChildSearch) -> bool {
        (search.end - search.begin) * u64::from(self.entries.entry_bits) <= MAX_SCANNED_BITS
    }

    /// Chooses the entries that the next step reads and prefetches them.
    #[inline(always)]
    fn choose_pivot(&self, search: &mut ChildSearch) {
        let length = search.end - search.begin;
        if self.fits_one_step(search) {
            self.entries.prefetch(search.begin);
            self.entries.prefetch(search.begin + length / 2);
            self.entries.prefetch(search.end);
            return;
        }
        search.pivot = if search.interpolations_left > 0 && search.low < search.high {
            search.interpolations_left -= 1;
            // Ids follow the hashes of words, so that children are spread evenly.
            let share = f64::from(search.word.saturating_sub(search.low))
                / f64::from(search.high - search.low);
            (search.begin + (share * length as f64) as u64).min(search.end - 1)
        } else {
            search.begin + length / 2
        };
        self.entries.prefetch(search.pivot);
    }

    #[inline(always)]
    fn decode_ngram(&self, index: u64) -> LookupStep<ChildRange> {
        let (log10, backoff) = self.values_at(index);
        LookupStep::Found(FoundNgram {
            log10,
            backoff,
            extend_left: self.children_of(index).non_empty(),
        })
    }

    #[inline(always)]
    fn step_search(&self, search: &mut ChildSearch) -> LookupStep<ChildRange> {
        if self.fits_one_step(search) {
            // Binary search in cache; no branch depends on the words.
            let (mut begin, mut length) = (search.begin, search.end - search.begin);
            while length > 1 {
                let half = length / 2;
                let is_after = self.word_at(begin + half - 1) < search.word;
                begin = select_unpredictable(is_after, begin + half, begin);
                length -= half;
            }
            if length == 1 && self.word_at(begin) == search.word {
                return self.decode_ngram(begin);
            }
            return LookupStep::Absent;
        }
        let word = self.word_at(search.pivot);
        match word.cmp(&search.word) {
            std::cmp::Ordering::Equal => return self.decode_ngram(search.pivot),
            std::cmp::Ordering::Less => (search.begin, search.low) = (search.pivot + 1, word),
            std::cmp::Ordering::Greater => (search.end, search.high) = (search.pivot, word),
        }
        self.choose_pivot(search);
        LookupStep::Pending
    }
}

impl NgramIndex for TrieFile {
    type NodeRef = ChildRange;
    type Lookup = ChildSearch;
    type Words = KenlmVocabulary;

    #[inline(always)]
    fn head(&self) -> &ModelHead<KenlmVocabulary> {
        &self.head
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
        prefetch_at(&self.unigrams, word.0 as usize + 1);
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> FoundNgram<ChildRange> {
        let entry = &self.unigrams[word.0 as usize];
        let longer = self.bigrams_of(word.0).non_empty();
        FoundNgram { log10: f32_at(entry, 0), backoff: f32_at(entry, 4), extend_left: longer }
    }

    #[inline(always)]
    fn begin_lookup(&self, order: usize, node: ChildRange, older: LmWord) -> ChildSearch {
        let level = &self.levels[order - 2];
        let end = node.end.min(level.count);
        let mut search = ChildSearch {
            begin: node.begin.min(end),
            end,
            pivot: 0,
            low: 0,
            high: self.head.words.num_words() as u32,
            word: older.0,
            interpolations_left: MAX_INTERPOLATIONS,
        };
        level.choose_pivot(&mut search);
        search
    }

    #[inline(always)]
    fn step_lookup(&self, order: usize, search: &mut ChildSearch) -> LookupStep<ChildRange> {
        self.levels[order - 2].step_search(search)
    }
}
