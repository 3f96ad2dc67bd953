//! Hash table of cache lines that stores only the part of a key that its position does not
//! determine (quotienting, Cleary 1984).
//!
//! A key is a number of `key_bits` bits. An invertible permutation of such numbers mixes it. The
//! high part of the result is the home line, so only the low bits, the tag, are stored. The tag has
//! a few more bits than the home line leaves open, so that the key stays unique if an entry is
//! displaced by some lines. Lookups are exact: the key can be recovered from the entry's position.
//!
//! For example, an entry with a key of 40 bits and a value of 31 bits takes 56 bits, so nine
//! entries fit in a line of 64 bytes. A lookup nearly always reads one line.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::hash::fast_range;
use crate::parallel;
use crate::{View, prefetch_at};

/// The number of bits for entries in a line; the last eight bits describe the line.
const ENTRY_BITS: u32 = 504;
/// The maximum number of entries in a line, whose tags are all compared at once.
const MAX_SLOTS: u32 = 16;
/// The number of bits per tag in the comparison of all tags.
const SHORT_TAG_BITS: u32 = 16;
/// The minimum number of bits of a key and of its tag.
pub const MIN_KEY_BITS: u32 = SHORT_TAG_BITS;
/// The displacement in lines that every layout must allow; at usual loads almost no entry needs
/// more.
const MIN_DISPLACEMENT: u64 = 7;

/// A line. From the lowest bit on, it contains the short tags of all slots, then for each slot the
/// other bits of its tag and its value, then zeros. The last byte contains the number of used slots
/// (bits 0 to 4) and whether the line has overflowed (bit 7).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C, align(64))]
pub struct CompactLine([u64; 8]);

/// The bit of a line's last byte that is set if an entry whose home is this line or an earlier one
/// is in a later line.
const OVERFLOWED: u32 = 1 << 7;

impl CompactLine {
    /// Returns the 64 bits from bit `at` on; those past the end of the line are undefined.
    #[inline(always)]
    fn read_bits(&self, at: u32) -> u64 {
        let (word, shift) = (at as usize / 64, at % 64);
        self.0[word % 8] >> shift | self.0[(word + 1) % 8] << 1 << (63 - shift)
    }

    /// Sets bits that are still zero, from bit `at` on, within the line.
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

    /// Returns a mask of used slots whose short tag is `tag`.
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
            bits | u32::from(self.read_bits(slot * SHORT_TAG_BITS) as u16 == tag) << slot
        })
    }
}

/// An invertible mixing of numbers with `bits` bits (multiply and xor-shift).
#[derive(Clone, Copy, Debug)]
struct Permutation {
    mask: u64,
    shift: u32,
}

const MULTIPLIER_1: u64 = 0x9e37_79b9_7f4a_7c15;
const MULTIPLIER_2: u64 = 0xd6e8_feb8_6659_fd93;

/// Returns the inverse of the odd number `n` modulo 2^64.
const fn modular_inverse(n: u64) -> u64 {
    // Newton's iteration: at first three bits are correct, and each step doubles their number.
    let (mut inverse, mut step) = (n, 0);
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(n.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
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

/// The layout of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactLayout {
    /// The number of bits of a key, [`MIN_KEY_BITS`] to 64.
    pub key_bits: u32,
    /// The number of bits of a value, 1 to 64.
    pub value_bits: u32,
    /// The number of bits of a tag, [`MIN_KEY_BITS`] to `key_bits`.
    pub tag_bits: u32,
    /// The number of home lines, at least 1.
    pub home_lines: u32,
}

impl CompactLayout {
    /// Returns the layout with the most slots per line for `entries` entries at the load factor
    /// `load` (0 to 1).
    fn densest(entries: usize, key_bits: u32, value_bits: u32, load: f64) -> Self {
        let with = |slots: u32| {
            let homes = (entries as f64 / (f64::from(slots) * load)).ceil().max(1.0) as u32;
            let tag_bits = (ENTRY_BITS / slots).saturating_sub(value_bits).min(key_bits);
            CompactLayout { key_bits, value_bits, tag_bits, home_lines: homes }
        };
        fn fits(layout: &CompactLayout) -> bool {
            layout.tag_bits >= SHORT_TAG_BITS && layout.max_displacement() >= MIN_DISPLACEMENT
        }
        // One entry with its whole key fits in a line.
        (1..=MAX_SLOTS).rev().map(with).find(fits).unwrap_or(with(1))
    }

    /// Returns the number of slots per line.
    #[inline(always)]
    pub fn slots(self) -> u32 {
        (ENTRY_BITS / (self.tag_bits + self.value_bits)).min(MAX_SLOTS)
    }

    /// Returns the largest displacement of an entry from its home, in lines, at which its tag still
    /// determines the key: the home lines from which a line can get entries must not have more
    /// mixed keys than there are tags.
    fn max_displacement(self) -> u64 {
        if self.tag_bits >= self.key_bits {
            return u64::MAX;
        }
        (u64::from(self.home_lines) >> (self.key_bits - self.tag_bits).min(63)).saturating_sub(1)
    }

    /// Whether all numbers are in range, which a file does not guarantee.
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

    /// Returns the bit at which the rest of `slot` starts: the rest of its tag, then its value.
    #[inline(always)]
    fn rest_offset(self, slot: u32) -> u32 {
        let long = self.tag_bits - SHORT_TAG_BITS;
        self.slots() * SHORT_TAG_BITS + slot * (long + self.value_bits)
    }
}

/// The result of [`build`].
pub struct BuiltTable {
    /// The layout of the table.
    pub layout: CompactLayout,
    /// The lines of the table.
    pub lines: Vec<CompactLine>,
    /// The slot of each key, in the order of the input: line times slots per line, plus slot.
    pub slot_indices: Vec<u32>,
}

/// The number of lines per task.
const CHUNK_LINES: usize = 1 << 12;

/// Builds the table of `keys`, which are distinct and have `key_bits` bits, at about the load
/// factor `load`, on rayon's current threads. `value` returns the value of the key at an index.
/// Returns `None` if there could be more than 4,294,967,295 slots.
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
    let mut entries =
        parallel::map(keys.len(), |index| (permutation.mix(keys[index]), index as u64));
    parallel::sort_numbered_keys(&mut entries);
    let mut layout = CompactLayout::densest(keys.len(), key_bits, value_bits, load);
    let slot_of = loop {
        if u64::from(layout.home_lines) + keys.len() as u64 > u64::from(u32::MAX / layout.slots()) {
            return None;
        }
        match assign_slots(&entries, layout) {
            Some(assigned) => break assigned,
            None => layout.home_lines += layout.home_lines / 16 + 1,
        }
    };
    let slots = layout.slots();
    let last = slot_of.last().map_or(0, |&number| number / slots + 1);
    let mut lines = vec![CompactLine::default(); last.max(layout.home_lines) as usize];
    let tag_mask = u64::MAX >> (64 - layout.tag_bits);
    parallel::fill_chunks(&mut lines, CHUNK_LINES, &|first, lines| {
        let first = first as u32;
        let begin = slot_of.partition_point(|&number| number / slots < first);
        let chunk_entries = slot_of[begin..].iter().zip(&entries[begin..]);
        for (&number, &(mixed, index)) in chunk_entries {
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
    for (pair, &(mixed, _)) in slot_of.windows(2).zip(entries.iter().skip(1)) {
        let [before, line] = [pair[0] / slots, pair[1] / slots];
        if line > before && layout.home(mixed) < u64::from(line) {
            for passed in layout.home(mixed) as u32..line {
                lines[passed as usize].0[7] |= u64::from(OVERFLOWED) << 56;
            }
        }
    }
    let mut slot_indices = vec![0; keys.len()];
    for (&(_, index), &number) in entries.iter().zip(&slot_of) {
        slot_indices[index as usize] = number;
    }
    Some(BuiltTable { layout, lines, slot_indices })
}

/// Returns the slot of each of the sorted entries. In each line, entries that overflowed from
/// earlier lines come before entries whose home is that line. Returns `None` if an entry would be
/// displaced farther than the layout allows.
fn assign_slots(entries: &[(u64, u64)], layout: CompactLayout) -> Option<Vec<u32>> {
    let (slots, max_displacement) = (layout.slots(), layout.max_displacement());
    let (mut line, mut used) = (0u64, 0);
    let mut assigned = Vec::with_capacity(entries.len());
    for &(mixed, _) in entries {
        let home = layout.home(mixed);
        if used == slots {
            (line, used) = (line + 1, 0);
        }
        if home > line {
            (line, used) = (home, 0);
        }
        if line - home > max_displacement {
            return None;
        }
        assigned.push(line as u32 * slots + used);
        used += 1;
    }
    Some(assigned)
}

/// The state of a lookup.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeState {
    tag: u64,
    /// The next line to probe.
    line: u32,
    /// The number of further lines that may contain the entry; beyond them, another key may have
    /// its tag.
    lines_left: u32,
}

/// The result of probing one line for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The entry's number (line times slots per line, plus slot) and its value.
    Found(u32, u64),
    /// The key is not in the table.
    Absent,
    /// The next line may contain the key, and has been prefetched.
    NextLine,
}

/// A finished table in a model.
///
/// ```
/// use miriam_storage::quotient_table::{CompactTable, build};
/// use miriam_storage::zerocopy::IntoBytes;
/// use miriam_storage::{Bytes, View};
///
/// let keys = [70_000, 3, 12];
/// let built = build(&keys, 20, 8, 0.9, |index| index as u64 + 100).expect("few keys");
/// let bytes = Bytes::copy_from(built.lines.as_bytes());
/// let table = CompactTable::new(View::new(&bytes, 0, bytes.len())?, built.layout)?;
/// let (number, value) = table.find(3).expect("a key of the table");
/// assert_eq!((number, value), (built.slot_indices[1], 101));
/// assert_eq!(table.entry(number), Some((3, 101)));
/// # Ok::<(), &str>(())
/// ```
pub struct CompactTable {
    lines: View<CompactLine>,
    layout: CompactLayout,
    permutation: Permutation,
    // Derived from the layout.
    slots: u32,
    max_displacement: u32,
    rest_offset: u32,
    rest_bits: u32,
    long_bits: u32,
    long_mask: u64,
    value_mask: u64,
}

impl CompactTable {
    /// Returns the table in `lines` with the given layout.
    ///
    /// # Errors
    /// The reason why the lines and the layout are not a table.
    pub fn new(lines: View<CompactLine>, layout: CompactLayout) -> Result<Self, &'static str> {
        if !layout.is_valid() {
            return Err("the layout is out of range");
        }
        let slots = layout.slots();
        let most = (u32::MAX / slots) as usize;
        if lines.len() < layout.home_lines as usize || lines.len() > most {
            return Err("the number of lines is invalid");
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

    /// Returns the largest possible number of an entry, plus one.
    pub fn capacity(&self) -> u32 {
        self.lines.len() as u32 * self.slots
    }

    /// Starts a lookup of `key` without prefetching its line.
    #[inline(always)]
    pub fn start(&self, key: u64) -> ProbeState {
        let mixed = self.permutation.mix(key);
        ProbeState {
            tag: mixed,
            line: self.layout.home(mixed) as u32,
            lines_left: self.max_displacement,
        }
    }

    /// Prefetches the next line to probe.
    #[inline(always)]
    pub fn prefetch(&self, state: &ProbeState) {
        prefetch_at(&self.lines, state.line as usize);
    }

    /// Probes one line.
    #[inline(always)]
    pub fn probe_line(&self, state: &mut ProbeState) -> Probe {
        let Some(line) = self.lines.get(state.line as usize) else { return Probe::Absent };
        let mut candidates = line.candidates(state.tag as u16);
        while candidates != 0 {
            let slot = candidates.trailing_zeros();
            let at = self.rest_offset + slot * self.rest_bits;
            if (line.read_bits(at) ^ state.tag >> SHORT_TAG_BITS) & self.long_mask == 0 {
                let value = line.read_bits(at + self.long_bits) & self.value_mask;
                return Probe::Found(state.line * self.slots + slot, value);
            }
            candidates &= candidates - 1;
        }
        if line.last_byte() & OVERFLOWED == 0 || state.lines_left == 0 {
            return Probe::Absent;
        }
        state.lines_left -= 1;
        state.line += 1;
        self.prefetch(state);
        Probe::NextLine
    }

    /// Returns the entry number and the value of `key`.
    pub fn find(&self, key: u64) -> Option<(u32, u64)> {
        let mut state = self.start(key);
        loop {
            match self.probe_line(&mut state) {
                Probe::Found(number, value) => return Some((number, value)),
                Probe::Absent => return None,
                Probe::NextLine => {}
            }
        }
    }

    /// Returns the key and the value of the entry `number`, if there is one.
    pub fn entry(&self, number: u32) -> Option<(u64, u64)> {
        let (at, slot) = (number / self.slots, number % self.slots);
        let line = self.lines.get(at as usize)?;
        if slot >= line.last_byte() % 32 {
            return None;
        }
        let rest = self.rest_offset + slot * self.rest_bits;
        let short = line.read_bits(slot * SHORT_TAG_BITS) & 0xffff;
        let tag = short | (line.read_bits(rest) & self.long_mask) << SHORT_TAG_BITS;
        // Only one mixed key has this tag and a home that is near enough.
        let first = u128::from(u64::from(at).saturating_sub(self.layout.max_displacement()));
        let begin = (first << self.layout.key_bits).div_ceil(u128::from(self.layout.home_lines));
        let tag_mask = u64::MAX >> (64 - self.layout.tag_bits);
        let mixed = begin + u128::from(tag.wrapping_sub(begin as u64) & tag_mask);
        let mixed = u64::try_from(mixed).ok().filter(|&mixed| mixed <= self.permutation.mask)?;
        let value = line.read_bits(rest + self.long_bits) & self.value_mask;
        Some((self.permutation.unmix(mixed), value))
    }

    /// Returns all entries in ascending order of their numbers, as (number, key, value). Damaged
    /// entries may be missing; see [`CompactTable::verify`].
    pub fn entries(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        (0..self.capacity())
            .filter_map(|number| self.entry(number).map(|(key, value)| (number, key, value)))
    }

    /// Checks that every entry is found by its key, and returns the number of entries.
    ///
    /// # Errors
    /// The index of the first damaged entry, and the reason.
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
