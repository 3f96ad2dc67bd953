//! A hash table of whole cache lines that stores of a key only what its place
//! does not tell (quotienting, Cleary 1984).
//!
//! A key is a number of so many bits. A permutation of such numbers, which can be
//! undone, mixes it; the high part of what comes out is the home line, so only
//! low bits, the tag, need be stored, and a few more of them than the home line
//! leaves open, so that an entry may stand some lines behind its home and still
//! be told from every other. Lookups are exact: what is found is the key itself,
//! which can be read back from where it stands.
//!
//! So an entry of 40 bits of key and 31 of value takes 56 bits, nine go into a
//! line of 64 bytes, and a lookup waits for one line nearly always.

use rayon::prelude::*;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::hash::fast_range;
use crate::{View, prefetch_at};

/// Bits of a line that entries share; the last eight tell about the line.
const ENTRY_BITS: u32 = 504;
/// Entries of a line, at most: as many tags as are compared at once.
const MAX_SLOTS: u32 = 16;
/// The part of each tag that is compared at once with those of the other entries.
const SHORT_TAG_BITS: u32 = 16;
/// Bits of a key and of its tag, at least.
pub const MIN_KEY_BITS: u32 = SHORT_TAG_BITS;
/// Lines behind its home that an entry must be able to stand in, at least; at the
/// loads that are usual nearly none need more.
const MIN_DISPLACEMENT: u64 = 7;

/// A line: from the lowest bit on, the short tags of all slots, then for each slot
/// the other bits of its tag and its value, zeros, and in the last byte how many
/// slots are in use (bits 0 to 4) and [`PASSED`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C, align(64))]
pub struct CompactLine([u64; 8]);

/// Some entry whose home is this line or one before stands behind this line.
const OVERFLOWED: u32 = 1 << 7;

impl CompactLine {
    /// Bits from the bit `at` on, 64 of them or up to the end of the line, behind
    /// which anything may follow.
    #[inline(always)]
    fn read_bits(&self, at: u32) -> u64 {
        let (word, shift) = (at as usize / 64, at % 64);
        self.0[word % 8] >> shift | self.0[(word + 1) % 8] << 1 << (63 - shift)
    }

    /// Sets bits that are zero, from the bit `at` on; they end before the line does.
    fn write_bits(&mut self, at: u32, bits: u64) {
        let (word, shift) = (at as usize / 64, at % 64);
        self.0[word] |= bits << shift;
        if let Some(next) = self.0.get_mut(word + 1) {
            *next |= bits >> 1 >> (63 - shift);
        }
    }

    #[inline(always)]
    fn last_byte(&self) -> u32 {
        (self.0[7] >> 56) as u32
    }

    /// A bit for each slot in use whose short tag is `tag`.
    #[inline(always)]
    fn candidates(&self, tag: u16) -> u32 {
        self.equal(tag) & !(u32::MAX << (self.last_byte() % 32))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn equal(&self, tag: u16) -> u32 {
        use std::arch::x86_64::{
            _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set_epi64x, _mm_set1_epi16,
        };
        let tags = &self.0;
        // SAFETY: SSE2 is part of the x86-64 baseline; no pointer is involved.
        unsafe {
            let tag = _mm_set1_epi16(tag as i16);
            let first = _mm_set_epi64x(tags[1] as i64, tags[0] as i64);
            let second = _mm_set_epi64x(tags[3] as i64, tags[2] as i64);
            let equal = _mm_packs_epi16(_mm_cmpeq_epi16(first, tag), _mm_cmpeq_epi16(second, tag));
            _mm_movemask_epi8(equal) as u32
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn equal(&self, tag: u16) -> u32 {
        (0..MAX_SLOTS).fold(0, |bits, slot| {
            bits | u32::from(self.bits(slot * SHORT_TAG_BITS) as u16 == tag) << slot
        })
    }
}

/// Numbers of some bits, in an order that looks random.
#[derive(Clone, Copy, Debug)]
struct Permutation {
    mask: u64,
    shift: u32,
}

const MULTIPLIER_1: u64 = 0x9e37_79b9_7f4a_7c15;
const MULTIPLIER_2: u64 = 0xd6e8_feb8_6659_fd93;

/// What undoes a multiplication by the odd number `n`, modulo 2^64.
const fn modular_inverse(n: u64) -> u64 {
    // Newton's iteration: right in three bits at first, and in twice as many with
    // each turn.
    let (mut found, mut turn) = (n, 0);
    while turn < 5 {
        found = found.wrapping_mul(2u64.wrapping_sub(n.wrapping_mul(found)));
        turn += 1;
    }
    found
}

impl Permutation {
    fn new(bits: u32) -> Self {
        Permutation { mask: u64::MAX >> (64 - bits), shift: bits.div_ceil(2) }
    }

    #[inline(always)]
    fn mix(self, key: u64) -> u64 {
        let x = key.wrapping_mul(MULTIPLIER_1) & self.mask;
        let x = (x ^ x >> self.shift).wrapping_mul(MULTIPLIER_2) & self.mask;
        x ^ x >> self.shift
    }

    fn unmix(self, mixed: u64) -> u64 {
        const INVERSE_1: u64 = modular_inverse(MULTIPLIER_1);
        const INVERSE_2: u64 = modular_inverse(MULTIPLIER_2);
        let x = (mixed ^ mixed >> self.shift).wrapping_mul(INVERSE_2) & self.mask;
        (x ^ x >> self.shift).wrapping_mul(INVERSE_1) & self.mask
    }
}

/// How a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactLayout {
    /// Bits of a key, [`MIN_KEY_BITS`] to 64.
    pub key_bits: u32,
    /// Bits of a value, 1 to 64.
    pub value_bits: u32,
    /// Bits of a tag, [`MIN_KEY_BITS`] to `key_bits`.
    pub tag_bits: u32,
    /// Home lines, at least 1.
    pub home_lines: u32,
}

impl CompactLayout {
    /// The densest lines for so many entries, of whose slots the share `load` is
    /// in use.
    fn densest(entries: usize, key_bits: u32, value_bits: u32, load: f64) -> Self {
        let with = |slots: u32| {
            let homes = (entries as f64 / (f64::from(slots) * load)).ceil().max(1.0) as u32;
            let tag_bits = (ENTRY_BITS / slots).saturating_sub(value_bits).min(key_bits);
            CompactLayout { key_bits, value_bits, tag_bits, home_lines: homes }
        };
        let fits = |shape: &CompactLayout| {
            shape.tag_bits >= SHORT_TAG_BITS && shape.max_displacement() >= MIN_DISPLACEMENT
        };
        // One entry of whole keys fits into every line.
        (1..=MAX_SLOTS).rev().map(with).find(fits).unwrap_or(with(1))
    }

    /// Entries of a line.
    #[inline(always)]
    pub fn slots(self) -> u32 {
        (ENTRY_BITS / (self.tag_bits + self.value_bits)).min(MAX_SLOTS)
    }

    /// How many lines behind its home an entry may stand and still be told from
    /// every other: the homes of those in one line must not be more numbers than
    /// there are tags.
    fn max_displacement(self) -> u64 {
        if self.tag_bits >= self.key_bits {
            return u64::MAX;
        }
        (u64::from(self.home_lines) >> (self.key_bits - self.tag_bits).min(63)).saturating_sub(1)
    }

    /// Whether a file may say so.
    fn is_valid(self) -> bool {
        let CompactLayout { key_bits, value_bits, tag_bits, home_lines: homes } = self;
        (MIN_KEY_BITS..=64).contains(&key_bits)
            && (1..=64).contains(&value_bits)
            && (SHORT_TAG_BITS..=key_bits).contains(&tag_bits)
            && homes >= 1
    }

    fn permutation(self) -> Permutation {
        Permutation::new(self.key_bits)
    }

    #[inline(always)]
    fn home(self, mixed: u64) -> u64 {
        fast_range(mixed << (64 - self.key_bits), u64::from(self.home_lines))
    }

    /// Where the entry of `slot` goes on behind its short tag.
    #[inline(always)]
    fn rest_offset(self, slot: u32) -> u32 {
        let long = self.tag_bits - SHORT_TAG_BITS;
        self.slots() * SHORT_TAG_BITS + slot * (long + self.value_bits)
    }
}

/// A table that was built.
pub struct BuiltTable {
    /// How it is laid out.
    pub layout: CompactLayout,
    /// Its lines.
    pub lines: Vec<CompactLine>,
    /// The number of the entry of each key, in the order in which they were given.
    pub slot_indices: Vec<u32>,
}

/// Lines that one task fills.
const CHUNK_LINES: usize = 1 << 12;

/// Builds the table of `keys`, which are distinct and of `key_bits` bits, with
/// about the share `load` of its slots in use, on rayon's current threads; `value`
/// gives the value of each key by its index. `None` if there would be more than
/// 4,294,967,295 slots.
///
/// The bytes do not depend on the number of threads.
pub fn build(
    keys: &[u64],
    key_bits: u32,
    value_bits: u32,
    load: f64,
    value: impl Fn(usize) -> u64 + Sync,
) -> Option<BuiltTable> {
    let permutation = Permutation::new(key_bits);
    let mut entries: Vec<(u64, u32)> = keys
        .par_iter()
        .enumerate()
        .map(|(index, &key)| (permutation.mix(key), index as u32))
        .collect();
    entries.par_sort_unstable();
    let mut layout = CompactLayout::densest(keys.len(), key_bits, value_bits, load);
    let places = loop {
        if u64::from(layout.home_lines) + keys.len() as u64 > u64::from(u32::MAX / layout.slots()) {
            return None;
        }
        match assign_slots(&entries, layout) {
            Some(places) => break places,
            None => layout.home_lines += layout.home_lines / 16 + 1,
        }
    };
    let slots = layout.slots();
    let last = places.last().map_or(0, |&number| number / slots + 1);
    let mut lines = vec![CompactLine::default(); last.max(layout.home_lines) as usize];
    let tag_mask = u64::MAX >> (64 - layout.tag_bits);
    lines.par_chunks_mut(CHUNK_LINES).enumerate().for_each(|(chunk, lines)| {
        let first = (chunk * CHUNK_LINES) as u32;
        let begin = places.partition_point(|&number| number / slots < first);
        let ours = places[begin..].iter().zip(&entries[begin..]);
        for (&number, &(mixed, index)) in ours {
            let Some(line) = lines.get_mut((number / slots - first) as usize) else { break };
            let (slot, tag) = (number % slots, mixed & tag_mask);
            line.write_bits(slot * SHORT_TAG_BITS, tag & 0xffff);
            line.write_bits(layout.rest_offset(slot), tag >> SHORT_TAG_BITS);
            line.write_bits(
                layout.rest_offset(slot) + layout.tag_bits - SHORT_TAG_BITS,
                value(index as usize),
            );
            line.0[7] += 1 << 56;
        }
    });
    for (pair, &(mixed, _)) in places.windows(2).zip(entries.iter().skip(1)) {
        let [before, line] = [pair[0] / slots, pair[1] / slots];
        if line > before && layout.home(mixed) < u64::from(line) {
            for passed in layout.home(mixed) as u32..line {
                lines[passed as usize].0[7] |= u64::from(OVERFLOWED) << 56;
            }
        }
    }
    let mut numbers = vec![0; keys.len()];
    for (&(_, index), &number) in entries.iter().zip(&places) {
        numbers[index as usize] = number;
    }
    Some(BuiltTable { layout, lines, slot_indices: numbers })
}

/// The number of the slot of each of the sorted entries, line by line: those of
/// lines before that found no room, then a line's own. `None` if one would stand
/// farther from home than the shape allows.
fn assign_slots(entries: &[(u64, u32)], layout: CompactLayout) -> Option<Vec<u32>> {
    let (slots, reach) = (layout.slots(), layout.max_displacement());
    let (mut line, mut used) = (0u64, 0);
    let mut places = Vec::with_capacity(entries.len());
    for &(mixed, _) in entries {
        let home = layout.home(mixed);
        if used == slots {
            (line, used) = (line + 1, 0);
        }
        if home > line {
            (line, used) = (home, 0);
        }
        if line - home > reach {
            return None;
        }
        places.push(line as u32 * slots + used);
        used += 1;
    }
    Some(places)
}

/// A lookup under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeState {
    tag: u64,
    /// The line that is looked at next.
    line: u32,
    /// How many lines behind that one the entry may stand in: farther away another
    /// may have its tag.
    lines_left: u32,
}

/// What a line says about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It has the entry: its number, which is line times slots plus slot, and its
    /// value.
    Found(u32, u64),
    /// No line has it.
    Absent,
    /// The next line may have it; that one has been asked for.
    NextLine,
}

/// A finished table lying in a model.
pub struct CompactTable {
    lines: View<CompactLine>,
    layout: CompactLayout,
    permutation: Permutation,
    /// Follow from the shape.
    slots: u32,
    max_displacement: u32,
    rest_offset: u32,
    rest_bits: u32,
    long_bits: u32,
    long_mask: u64,
    value_mask: u64,
}

impl CompactTable {
    /// The table in `lines`, laid out as `shape` says; or why it is none.
    pub fn new(lines: View<CompactLine>, layout: CompactLayout) -> Result<Self, &'static str> {
        if !layout.is_valid() {
            return Err("no table can be laid out so");
        }
        let slots = layout.slots();
        let most = (u32::MAX / slots) as usize;
        if lines.len() < layout.home_lines as usize || lines.len() > most {
            return Err("its number of lines does not fit");
        }
        let long_bits = layout.tag_bits - SHORT_TAG_BITS;
        Ok(CompactTable {
            lines,
            layout,
            permutation: layout.permutation(),
            slots,
            max_displacement: u32::try_from(layout.max_displacement()).unwrap_or(u32::MAX),
            rest_offset: layout.rest_offset(0),
            rest_bits: long_bits + layout.value_bits,
            long_bits,
            long_mask: (1 << long_bits) - 1,
            value_mask: u64::MAX >> (64 - layout.value_bits),
        })
    }

    /// One more than the highest number that an entry can have.
    pub fn capacity(&self) -> u32 {
        self.lines.len() as u32 * self.slots
    }

    /// Begins to look for `key` without asking for its line.
    #[inline(always)]
    pub fn start(&self, key: u64) -> ProbeState {
        let mixed = self.permutation.mix(key);
        ProbeState {
            tag: mixed,
            line: self.layout.home(mixed) as u32,
            lines_left: self.max_displacement,
        }
    }

    /// Asks for the line that is looked at next.
    #[inline(always)]
    pub fn prefetch(&self, search: &ProbeState) {
        prefetch_at(&self.lines, search.line as usize);
    }

    /// Looks into a line.
    #[inline(always)]
    pub fn probe(&self, search: &mut ProbeState) -> Probe {
        let Some(line) = self.lines.get(search.line as usize) else { return Probe::Absent };
        let mut candidates = line.candidates(search.tag as u16);
        while candidates != 0 {
            let slot = candidates.trailing_zeros();
            let at = self.rest_offset + slot * self.rest_bits;
            if (line.read_bits(at) ^ search.tag >> SHORT_TAG_BITS) & self.long_mask == 0 {
                let value = line.read_bits(at + self.long_bits) & self.value_mask;
                return Probe::Found(search.line * self.slots + slot, value);
            }
            candidates &= candidates - 1;
        }
        if line.last_byte() & OVERFLOWED == 0 || search.lines_left == 0 {
            return Probe::Absent;
        }
        search.lines_left -= 1;
        search.line += 1;
        self.prefetch(search);
        Probe::NextLine
    }

    /// The number and the value of `key`.
    pub fn find(&self, key: u64) -> Option<(u32, u64)> {
        let mut search = self.start(key);
        loop {
            match self.probe(&mut search) {
                Probe::Found(number, value) => return Some((number, value)),
                Probe::Absent => return None,
                Probe::NextLine => {}
            }
        }
    }

    /// The key and the value of the entry `number`, if there is one.
    pub fn entry(&self, number: u32) -> Option<(u64, u64)> {
        let (at, slot) = (number / self.slots, number % self.slots);
        let line = self.lines.get(at as usize)?;
        if slot >= line.last_byte() % 32 {
            return None;
        }
        let rest = self.rest_offset + slot * self.rest_bits;
        let short = line.read_bits(slot * SHORT_TAG_BITS) & 0xffff;
        let tag = short | (line.read_bits(rest) & self.long_mask) << SHORT_TAG_BITS;
        // The one number with this tag among those whose home is near enough.
        let first = u128::from(u64::from(at).saturating_sub(self.layout.max_displacement()));
        let begin = (first << self.layout.key_bits).div_ceil(u128::from(self.layout.home_lines));
        let tag_mask = u64::MAX >> (64 - self.layout.tag_bits);
        let mixed = begin + u128::from(tag.wrapping_sub(begin as u64) & tag_mask);
        let mixed = u64::try_from(mixed).ok().filter(|&mixed| mixed <= self.permutation.mask)?;
        let value = line.read_bits(rest + self.long_bits) & self.value_mask;
        Some((self.permutation.unmix(mixed), value))
    }

    /// All entries by their numbers, each with its key and its value. A damaged
    /// one may be left out; see [`CompactTable::verify`].
    pub fn entries(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        (0..self.capacity())
            .filter_map(|number| self.entry(number).map(|(key, value)| (number, key, value)))
    }

    /// How many entries there are; or what is wrong with one, by its number.
    pub fn verify(&self) -> Result<u64, (u32, &'static str)> {
        let mut count = 0;
        for (at, line) in (0..).zip(&*self.lines) {
            let used = line.last_byte() % 32;
            let first = at * self.slots;
            if used > self.slots {
                return Err((first, "its line has more entries than slots"));
            }
            count += u64::from(used);
            for number in first..first + used {
                match self.entry(number) {
                    Some((key, value)) if self.find(key) == Some((number, value)) => {}
                    _ => return Err((number, "it is not found by its own key")),
                }
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
