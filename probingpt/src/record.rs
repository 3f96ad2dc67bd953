//! One record: a source phrase with all its targets, column by column.
//!
//! | field | bytes |
//! |---|---|
//! | bits 0-2 source length - 1 (7: escape), bits 3-7 number of targets n (31: escape) | 1 |
//! | source length, if escaped | code |
//! | source words | code each |
//! | n x 2 + (1 if target lengths are wide), if escaped | code |
//! | widths of the code columns, 2 bits each (1, 2, 3, 4 bytes) | |
//! | width of target words (1 to 4 bytes), if n >= 16 | 1 |
//! | target lengths | n, wide: 4 n |
//! | score columns: `f32` or codes | 4 n or width x n each |
//! | codes of reordering, alignment, counts, extra text, each if the table has it | width x n |
//! | target words: n < 16 as codes, else at their fixed width | |
//!
//! "Code" is the varint of [`crate::varint`]. Columns come before words, so that a reader finds the
//! scores by arithmetic. Targets keep the order of the text. A pool of target phrases (an id
//! instead of the words) would make a large table larger and cost one more random access per
//! target.

use crate::format::{FIXED_WIDTH_MIN_TARGETS, SOURCE_LENGTH_ESCAPE, TARGETS_ESCAPE};
use crate::varint;

/// Reads a record: its head first, then its columns in order.
pub(crate) struct RecordReader<'a> {
    pub source_length: usize,
    /// The varints of the source words, and everything after them.
    source: &'a [u8],
    pub num_targets: usize,
    wide_lengths: bool,
    word_width: usize,
    widths: &'a [u8],
    rest: &'a [u8],
    next_width: usize,
}

/// Whether the record at `offset` has these source words, given as varints.
#[inline(always)]
pub(crate) fn source_matches(records: &[u8], offset: u64, length: usize, codes: &[u8]) -> bool {
    let Some((&first, mut rest)) = records.get(offset as usize..).and_then(<[u8]>::split_first)
    else {
        return false;
    };
    let short = usize::from(first & 7) + 1;
    if short == SOURCE_LENGTH_ESCAPE {
        varint::take(&mut rest) == Some(length as u32) && rest.starts_with(codes)
    } else {
        short == length && rest.starts_with(codes)
    }
}

impl<'a> RecordReader<'a> {
    /// Reads the head of the record at `offset`; `coded` is the table's number of code
    /// columns. `None` if the record is truncated.
    #[inline]
    pub fn at(records: &'a [u8], offset: u64, coded: usize) -> Option<Self> {
        let (&first, mut rest) = records.get(usize::try_from(offset).ok()?..)?.split_first()?;
        let mut source_length = usize::from(first & 7) + 1;
        if source_length == SOURCE_LENGTH_ESCAPE {
            source_length = varint::take(&mut rest)? as usize;
        }
        let source = rest;
        for _ in 0..source_length {
            varint::take(&mut rest)?;
        }
        let mut targets = usize::from(first >> 3);
        let mut wide_lengths = false;
        if targets == TARGETS_ESCAPE {
            let escaped = varint::take(&mut rest)?;
            targets = (escaped >> 1) as usize;
            wide_lengths = escaped & 1 == 1;
        }
        let (widths, mut rest) = rest.split_at_checked(coded.div_ceil(4))?;
        let mut word_width = 0;
        if targets >= FIXED_WIDTH_MIN_TARGETS {
            let (&width, others) = rest.split_first()?;
            word_width = usize::from(width);
            rest = others;
            if !(1..=4).contains(&word_width) {
                return None;
            }
        }
        (targets > 0).then_some(RecordReader {
            source_length,
            source,
            num_targets: targets,
            wide_lengths,
            word_width,
            widths,
            rest,
            next_width: 0,
        })
    }

    /// Returns the source words.
    pub fn source_words(&self) -> impl Iterator<Item = u32> + use<'a> {
        let mut rest = self.source;
        (0..self.source_length).map_while(move |_| varint::take(&mut rest))
    }

    /// Returns the next `length` bytes.
    #[inline]
    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// Reads the first column, lengths, into `ends`: `[targets]` cumulative ends of the
    /// targets' words. Returns the number of words in all.
    #[inline]
    pub fn read_target_ends(&mut self, ends: &mut [u32]) -> Option<usize> {
        let width = if self.wide_lengths { 4 } else { 1 };
        let lengths = self.take_bytes(self.num_targets.checked_mul(width)?)?;
        let mut total = 0u64;
        if self.wide_lengths {
            for (end, length) in ends.iter_mut().zip(lengths.as_chunks::<4>().0) {
                total += u64::from(u32::from_le_bytes(*length));
                *end = total as u32;
            }
        } else {
            for (end, &length) in ends.iter_mut().zip(lengths) {
                total += u64::from(length);
                *end = total as u32;
            }
        }
        // A word takes at least a byte, so this bounds the allocation.
        (total <= self.rest.len() as u64 && total <= u64::from(u32::MAX)).then_some(total as usize)
    }

    /// Whether at least one byte per target is left, which the lengths column needs. This is
    /// checked before memory is reserved for the column.
    #[inline]
    pub fn lengths_fit(&self) -> bool {
        self.num_targets <= self.rest.len()
    }

    /// Returns the next column, of `f32`: `[targets]`.
    #[inline]
    pub fn read_floats(&mut self) -> Option<&'a [[u8; 4]]> {
        Some(self.take_bytes(self.num_targets.checked_mul(4)?)?.as_chunks().0)
    }

    /// Returns the next column, of codes: `[targets]`.
    #[inline]
    pub fn read_codes(&mut self) -> Option<CodeColumn<'a>> {
        let width = self.widths.get(self.next_width / 4)? >> (2 * (self.next_width % 4)) & 3;
        self.next_width += 1;
        let bytes = self.take_bytes(self.num_targets.checked_mul(usize::from(width) + 1)?)?;
        Some(match width {
            0 => CodeColumn::One(bytes),
            1 => CodeColumn::Two(bytes.as_chunks().0),
            2 => CodeColumn::Three(bytes.as_chunks().0),
            _ => CodeColumn::Four(bytes.as_chunks().0),
        })
    }

    /// Reads the last column: `words.len()` word ids. Returns the bytes after the record.
    #[inline]
    pub fn read_words(mut self, words: &mut [u32]) -> Option<&'a [u8]> {
        if self.word_width == 0 {
            for word in words {
                *word = varint::take(&mut self.rest)?;
            }
            return Some(self.rest);
        }
        let bytes = self.take_bytes(words.len().checked_mul(self.word_width)?)?;
        match self.word_width {
            1 => CodeColumn::One(bytes),
            2 => CodeColumn::Two(bytes.as_chunks().0),
            3 => CodeColumn::Three(bytes.as_chunks().0),
            _ => CodeColumn::Four(bytes.as_chunks().0),
        }
        .for_each(words, |word, id| *word = id);
        Some(self.rest)
    }
}

/// A column of codes of one of four widths.
#[derive(Clone, Copy)]
pub(crate) enum CodeColumn<'a> {
    One(&'a [u8]),
    Two(&'a [[u8; 2]]),
    Three(&'a [[u8; 3]]),
    Four(&'a [[u8; 4]]),
}

impl CodeColumn<'_> {
    /// Calls `act` with each of `items` and its code.
    #[inline(always)]
    pub fn for_each<T>(self, items: impl IntoIterator<Item = T>, mut act: impl FnMut(T, u32)) {
        let items = items.into_iter();
        match self {
            CodeColumn::One(codes) => items.zip(codes).for_each(|(t, &c)| act(t, u32::from(c))),
            CodeColumn::Two(codes) => {
                items.zip(codes).for_each(|(t, &c)| act(t, u32::from(u16::from_le_bytes(c))));
            }
            CodeColumn::Three(codes) => items
                .zip(codes)
                .for_each(|(t, &[a, b, c])| act(t, u32::from_le_bytes([a, b, c, 0]))),
            CodeColumn::Four(codes) => {
                items.zip(codes).for_each(|(t, &c)| act(t, u32::from_le_bytes(c)));
            }
        }
    }
}

/// Appends the head of a record, before the widths.
pub(crate) fn push_header(out: &mut Vec<u8>, source: &[u32], targets: usize, wide_lengths: bool) {
    let short = source.len().min(SOURCE_LENGTH_ESCAPE) - 1;
    let escaped = targets >= TARGETS_ESCAPE || wide_lengths;
    let first = short | if escaped { TARGETS_ESCAPE } else { targets } << 3;
    out.push(first as u8);
    if source.len() >= SOURCE_LENGTH_ESCAPE {
        varint::push(out, source.len() as u32);
    }
    for &word in source {
        varint::push(out, word);
    }
    if escaped {
        varint::push(out, (targets as u32) << 1 | u32::from(wide_lengths));
    }
}

/// Returns the size in bytes of a code, for codes up to `largest`.
pub(crate) fn code_width(largest: u32) -> usize {
    match largest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// Appends `codes` at `width` bytes each.
pub(crate) fn push_codes(out: &mut Vec<u8>, codes: &[u32], width: usize) {
    match width {
        1 => out.extend(codes.iter().map(|&c| c as u8)),
        2 => out.extend(codes.iter().flat_map(|&c| (c as u16).to_le_bytes())),
        3 => {
            for &code in codes {
                out.extend_from_slice(&code.to_le_bytes()[..3]);
            }
        }
        _ => out.extend(codes.iter().flat_map(|&c| c.to_le_bytes())),
    }
}
