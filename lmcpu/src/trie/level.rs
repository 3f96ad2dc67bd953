//! The n-grams of one order: records of whole bytes, packed to the bit inside.
//!
//! A record is the id of the n-gram's oldest word, its prob, and, unless it is
//! of the longest order, its backoff and where its children begin; they end
//! where those of the next record begin. Whole bytes keep a field within one
//! unaligned load of eight bytes at a place that is a multiplication away; they
//! cost at most seven bits.

use miriam_layout::prefetch_read;
use miriam_layout::sampled::{SampledKeys, Search};
use miriam_layout::{Container, View};
use serde::{Deserialize, Serialize};

use super::SIGN;
use crate::{Found, NO_EXTENSION, Result, Step};

/// Zero bytes behind the last record, so that its fields can be loaded.
pub(super) const PADDING: usize = 8;

/// How wide the fields of an order's records are, in bits; part of the metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Widths {
    /// The id of a word.
    pub word: u32,
    /// 31: a prob without its sign, which is set. Less: an index into a book.
    pub prob: u32,
    /// 32: a backoff. Less: an index into a book. 0 for the longest n-grams.
    pub backoff: u32,
    /// The place of the first child. 0 for the longest n-grams.
    pub child: u32,
}

/// A prob that stands for itself.
pub(super) const RAW_PROB: u32 = 31;
/// A backoff that stands for itself.
pub(super) const RAW_BACKOFF: u32 = 32;

impl Widths {
    /// Bytes of a record.
    pub fn record(self) -> usize {
        (self.word + self.prob + self.backoff + self.child).div_ceil(8) as usize
    }

    /// Whether a file may say so.
    fn are_sound(self, longest: bool) -> bool {
        (1..=32).contains(&self.word)
            && (1..=RAW_PROB).contains(&self.prob)
            && self.backoff <= RAW_BACKOFF
            && self.child <= 32
            && if longest { self.backoff + self.child == 0 } else { self.backoff > 0 }
    }

    fn fields(self) -> [Field; 4] {
        let mut start = 0;
        [self.word, self.prob, self.backoff, self.child].map(|width| {
            let field = Field { byte: start / 8, shift: start % 8, mask: (1u64 << width) - 1 };
            start += width;
            field
        })
    }

    /// Writes a record into `to`, which is zeros.
    #[inline(always)]
    pub fn write(self, to: &mut [u8], word: u32, prob: u32, backoff: u32, child: u32) {
        let mut start = 0;
        let mut bits = 0u128;
        for (value, width) in
            [(word, self.word), (prob, self.prob), (backoff, self.backoff), (child, self.child)]
        {
            debug_assert!(u64::from(value) < 1 << width);
            bits |= u128::from(value) << start;
            start += width;
        }
        to.copy_from_slice(&bits.to_le_bytes()[..to.len()]);
    }
}

/// Where a field lies in a record.
#[derive(Clone, Copy, Debug)]
struct Field {
    byte: u32,
    /// Below 8; the mask is at most 32 bits wide, so a load of 64 holds the field.
    shift: u32,
    mask: u64,
}

/// Where the n-grams lie that extend one n-gram to the left: records of the next
/// order, never none.
#[derive(Clone, Copy, Debug)]
pub struct Children {
    pub(super) begin: u32,
    pub(super) end: u32,
}

/// The n-grams of one order, from 2.
pub(super) struct Level {
    records: View<u8>,
    keys: SampledKeys,
    /// Records.
    pub len: u32,
    /// Bytes of one.
    size: usize,
    word: Field,
    prob: Field,
    backoff: Field,
    child: Field,
    /// Whether it is the last order.
    longest: bool,
    /// Records of the next order.
    children: u32,
    /// What probs and backoffs stand for; empty where they stand for themselves.
    prob_book: Vec<f32>,
    backoff_book: Vec<f32>,
}

impl Level {
    /// Opens the `len` n-grams of `order`; `children` of the next order follow,
    /// unless it is the longest.
    pub fn open(
        container: &Container,
        order: usize,
        len: u32,
        widths: Widths,
        children: Option<u32>,
        books: [&[f32]; 2],
    ) -> Result<Self> {
        let name = format!("order-{order}");
        let records = container.section::<u8>(&name)?;
        let damaged = |reason: &str| container.damaged(&name, reason);
        if !widths.are_sound(children.is_none()) {
            return Err(container.damaged("metadata", "the fields of a record cannot be").into());
        }
        let size = widths.record();
        // A record more than there are n-grams says where the last children end.
        let stored = len as usize + usize::from(children.is_some());
        if stored.checked_mul(size).and_then(|n| n.checked_add(PADDING)) != Some(records.len()) {
            return Err(damaged("its size does not fit the n-grams").into());
        }
        let keys_name = format!("order-{order}.keys");
        let keys = SampledKeys::new(container.section(&keys_name)?, len as usize)
            .map_err(|reason| container.damaged(&keys_name, reason))?;
        let [word, prob, backoff, child] = widths.fields();
        Ok(Level {
            records,
            keys,
            len,
            size,
            word,
            prob,
            backoff,
            child,
            longest: children.is_none(),
            children: children.unwrap_or(0),
            prob_book: books[0].to_vec(),
            backoff_book: books[1].to_vec(),
        })
    }

    /// A field of the record `index`. Out of range, as only a damaged file can
    /// be, it is 0.
    #[inline(always)]
    fn field(&self, field: Field, index: u32) -> u32 {
        let at = index as usize * self.size + field.byte as usize;
        let load = match self.records.get(at..at + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            None => 0,
        };
        (load >> field.shift & field.mask) as u32
    }

    /// The oldest word of the n-gram `index`.
    #[inline(always)]
    pub fn word(&self, index: u32) -> u32 {
        self.field(self.word, index)
    }

    /// The bits of a prob as they are stored.
    pub fn prob_bits(&self, index: u32) -> u32 {
        self.field(self.prob, index)
    }

    /// The bits of a backoff as they are stored.
    pub fn backoff_bits(&self, index: u32) -> u32 {
        self.field(self.backoff, index)
    }

    /// Where the children of the n-gram `index`, or of the one behind the last,
    /// begin.
    pub fn children_begin(&self, index: u32) -> u32 {
        self.field(self.child, index)
    }

    /// How many probs and backoffs there are to choose from; nothing where any
    /// is possible.
    pub fn book_sizes(&self) -> [Option<usize>; 2] {
        [&self.prob_book, &self.backoff_book].map(|b| (!b.is_empty()).then_some(b.len()))
    }

    /// The index of the keys against the records.
    pub fn keys_are_right(&self) -> bool {
        self.keys.is_sample_of(self.len as usize, |i| self.word(i as u32))
    }

    /// The n-gram `index`.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Found<Children> {
        let prob = self.field(self.prob, index);
        // Without a book KenLM forces the sign; a book holds whole numbers.
        let log10 = if self.prob_book.is_empty() {
            f32::from_bits(prob | SIGN)
        } else {
            self.prob_book.get(prob as usize).copied().unwrap_or_default()
        };
        if self.longest {
            return Found { log10, backoff: f32::from_bits(NO_EXTENSION), longer: None };
        }
        let backoff = self.field(self.backoff, index);
        let backoff = if self.backoff_book.is_empty() {
            f32::from_bits(backoff)
        } else {
            self.backoff_book.get(backoff as usize).copied().unwrap_or_default()
        };
        let begin = self.field(self.child, index);
        let end = self.field(self.child, index + 1).min(self.children);
        let longer = (begin < end).then_some(Children { begin, end });
        Found { log10, backoff, longer }
    }

    /// Begins to look for `word` among `place` and asks for what that needs.
    #[inline(always)]
    pub fn seek(&self, place: Children, word: u32) -> Search {
        let search = self.keys.begin(place.begin, place.end, word);
        if search.is_narrow() {
            self.prefetch(search.block());
        }
        search
    }

    /// Asks for a block of records and the begin of the one behind: two lines
    /// nearly always, often the same.
    #[inline(always)]
    fn prefetch(&self, (begin, end): (u32, u32)) {
        let (first, last) = (begin as usize * self.size, (end as usize + 1) * self.size - 1);
        let start = self.records.as_ptr();
        prefetch_read(start.wrapping_add(first));
        prefetch_read(start.wrapping_add(last));
        if last - first > 64 {
            prefetch_read(start.wrapping_add(first + 64));
        }
    }

    /// Goes on looking.
    #[inline(always)]
    pub fn step(&self, search: &mut Search) -> Step<Children> {
        if !search.is_narrow() {
            self.keys.step(search);
            if search.is_narrow() {
                self.prefetch(search.block());
            }
            return Step::Waiting;
        }
        let (mut at, end) = search.block();
        let mut len = end.saturating_sub(at);
        // Halving, without a branch on what the keys are. Comparing a whole block
        // at once is slower: most nodes are of one to three records, and those
        // behind them lie in lines that nobody asked for.
        while len > 1 {
            let half = len / 2;
            at += if self.word(at + half) <= search.key() { half } else { 0 };
            len -= half;
        }
        if len == 1 && self.word(at) == search.key() {
            Step::Found(self.get(at))
        } else {
            Step::Absent
        }
    }
}
