//! Sets of covered source positions, interned within a sentence as `u32` ids. Each set has a
//! summary: the number of its positions, the first gap, and the estimated score of the rest.

use hashbrown::HashTable;

use crate::future_cost::FutureCost;
use crate::span::Span;

/// The id of a coverage within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CoverageId(pub(crate) u32);

impl CoverageId {
    /// Nothing is covered.
    pub(crate) const EMPTY: CoverageId = CoverageId(0);
}

/// Properties of a coverage, computed once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoverageSummary {
    /// The first position that is not covered.
    pub(crate) first_gap: u32,
    /// The number of covered positions.
    pub(crate) covered: u32,
    /// The estimated score of everything not covered.
    pub(crate) estimate: f32,
}

/// The coverages of a sentence.
#[derive(Default)]
pub(crate) struct Coverages {
    length: u32,
    /// The number of 64-bit words per set.
    width: usize,
    bits: Vec<u64>,
    summaries: Vec<CoverageSummary>,
    ids: HashTable<u32>,
    scratch: Vec<u64>,
}

impl Coverages {
    /// Begins a sentence of `length` positions, with the empty coverage alone.
    pub(crate) fn start(&mut self, length: u32, costs: &FutureCost) {
        self.length = length;
        self.width = (length as usize).div_ceil(64).max(1);
        self.bits.clear();
        self.summaries.clear();
        self.ids.clear();
        self.scratch.clear();
        self.scratch.resize(self.width, 0);
        self.intern_scratch(costs);
    }

    /// Returns the summary of `id`.
    #[inline]
    pub(crate) fn summary(&self, id: CoverageId) -> CoverageSummary {
        self.summaries[id.0 as usize]
    }

    /// Whether every position is covered.
    #[inline]
    pub(crate) fn is_complete(&self, id: CoverageId) -> bool {
        self.summary(id).covered == self.length
    }

    /// Whether `position` is covered.
    #[inline]
    pub(crate) fn is_covered(&self, id: CoverageId, position: u32) -> bool {
        let word = self.bits[id.0 as usize * self.width + position as usize / 64];
        word >> (position % 64) & 1 == 1
    }

    /// Writes to `covered` for each position whether it is covered.
    pub(crate) fn write_covered(&self, id: CoverageId, covered: &mut Vec<bool>) {
        let bits = &self.bits[id.0 as usize * self.width..(id.0 as usize + 1) * self.width];
        covered.clear();
        for (word, start) in bits.iter().zip((0..self.length).step_by(64)) {
            let count = (self.length - start).min(64);
            covered.extend((0..count).map(|bit| word >> bit & 1 == 1));
        }
    }

    /// Returns the first covered position from `start` on, but at most `limit`; `start` lies within
    /// the sentence.
    #[inline]
    pub(crate) fn next_covered(&self, id: CoverageId, start: u32, limit: u32) -> u32 {
        let bits = &self.bits[id.0 as usize * self.width..(id.0 as usize + 1) * self.width];
        let (mut at, mut word) = (start as usize / 64, bits[start as usize / 64] >> (start % 64));
        let mut position = start;
        loop {
            if word != 0 {
                return limit.min(position + word.trailing_zeros());
            }
            at += 1;
            position = at as u32 * 64;
            if position >= limit || at == bits.len() {
                return limit;
            }
            word = bits[at];
        }
    }

    /// Returns `id` with `span` covered too.
    #[inline]
    pub(crate) fn extend(&mut self, id: CoverageId, span: Span, costs: &FutureCost) -> CoverageId {
        let start = id.0 as usize * self.width;
        if self.width == 1 {
            // In nearly every sentence, a set is one 64-bit word.
            let ones = u64::MAX >> (64 - (span.end - span.start)) << span.start;
            let set = self.bits[start] | ones;
            let bits = &self.bits;
            if let Some(&id) = self.ids.find(hash(&[set]), |&id| bits[id as usize] == set) {
                return CoverageId(id);
            }
            self.scratch[0] = set;
            return self.intern_scratch(costs);
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.bits[start..start + self.width]);
        for position in span.start..span.end {
            self.scratch[position as usize / 64] |= 1 << (position % 64);
        }
        let Coverages { bits, scratch, ids, width, .. } = self;
        fn set(id: u32, width: &usize) -> std::ops::Range<usize> {
            id as usize * *width..(id as usize + 1) * *width
        }
        match ids.find(hash(scratch), |&id| bits[set(id, width)] == scratch[..]) {
            Some(&id) => CoverageId(id),
            None => self.intern_scratch(costs),
        }
    }

    /// Returns a new id for the set in `scratch`.
    #[inline(never)]
    fn intern_scratch(&mut self, costs: &FutureCost) -> CoverageId {
        let Coverages { bits, scratch, ids, width, .. } = self;
        fn set(id: u32, width: &usize) -> std::ops::Range<usize> {
            id as usize * *width..(id as usize + 1) * *width
        }
        let id = (bits.len() / *width) as u32;
        bits.extend_from_slice(scratch);
        ids.insert_unique(hash(scratch), id, |&id| hash(&bits[set(id, width)]));
        self.summaries.push(self.summarize_scratch(costs));
        CoverageId(id)
    }

    /// Returns the summary of the set in `scratch`. The costs of its gaps are added from left to
    /// right (`docs/spec/phrase-decoding.md` 3.5).
    fn summarize_scratch(&self, costs: &FutureCost) -> CoverageSummary {
        let mut summary = CoverageSummary { first_gap: self.length, covered: 0, estimate: 0.0 };
        if let &[set] = &self.scratch[..] {
            // In nearly every sentence, a set is one 64-bit word. A gap is a run of zeros, whose
            // length is counted by bit instructions.
            summary.covered = set.count_ones();
            let mut open = !set & u64::MAX >> (64 - self.length);
            summary.first_gap = open.trailing_zeros().min(self.length);
            while open != 0 {
                let start = open.trailing_zeros();
                let end = start + (!(open >> start)).trailing_zeros();
                summary.estimate += costs.cost(start, end);
                open = open.checked_shr(end).unwrap_or(0) << (end % 64);
            }
            return summary;
        }
        let covered = |p: u32| self.scratch[p as usize / 64] >> (p % 64) & 1 == 1;
        let mut gap = None;
        for position in 0..=self.length {
            let open = position < self.length && !covered(position);
            match gap {
                None if open => {
                    gap = Some(position);
                    summary.first_gap = summary.first_gap.min(position);
                }
                Some(start) if !open => {
                    summary.estimate += costs.cost(start, position);
                    gap = None;
                }
                _ => {}
            }
            summary.covered += u32::from(position < self.length && !open);
        }
        summary
    }
}

#[inline]
fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &word| {
        let mixed = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares coverages with a plain set of positions.
        #[test]
        fn equals_a_set_of_positions(length in 1u32..150, spans in proptest::collection::vec((0u32..150, 1u32..8), 0..20)) {
            let costs = FutureCost::zero(length);
            let mut coverages = Coverages::default();
            coverages.start(length, &costs);
            let mut id = CoverageId::EMPTY;
            let mut set = vec![false; length as usize];
            let mut seen = vec![(set.clone(), id)];
            for (start, len) in spans {
                let span = Span { start: start.min(length - 1), end: (start + len).min(length) };
                if span.start >= span.end { continue; }
                id = coverages.extend(id, span, &costs);
                set[span.start as usize..span.end as usize].fill(true);
                let summary = coverages.summary(id);
                prop_assert_eq!(summary.covered as usize, set.iter().filter(|&&c| c).count());
                prop_assert_eq!(summary.first_gap as usize, set.iter().position(|&c| !c).unwrap_or(set.len()));
                prop_assert_eq!(coverages.is_complete(id), set.iter().all(|&c| c));
                let mut written = vec![true];
                coverages.write_covered(id, &mut written);
                prop_assert_eq!(&written, &set);
                for (position, &covered) in set.iter().enumerate() {
                    prop_assert_eq!(coverages.is_covered(id, position as u32), covered);
                    let next = (position..set.len()).find(|&p| set[p]).unwrap_or(set.len()) as u32;
                    for limit in position as u32 + 1..=length {
                        let found = coverages.next_covered(id, position as u32, limit);
                        prop_assert_eq!(found, next.min(limit));
                    }
                }
                for (other, other_id) in &seen {
                    prop_assert_eq!(*other == set, *other_id == id, "one id a set");
                }
                seen.push((set.clone(), id));
            }
        }
    }
}
