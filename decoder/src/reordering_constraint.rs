//! Walls and zones (`docs/spec/phrase-decoding.md` 3.2), which limit the reordering of a sentence.
//!
//! A wall comes after a position: nothing right of it is translated while something left of it is
//! not. A zone is a span of words that, once begun, is finished before anything else is translated;
//! a wall inside zones applies only inside the innermost of them. As in Moses, the rules stop a
//! search at the first phrase that cannot lead to an allowed order.

use crate::coverage::{CoverageId, Coverages};
use crate::markup::SentenceMarkup;
use crate::span::Span;

/// The number in place of a zone or wall that does not exist.
const NONE: u32 = u32::MAX;

/// The walls and zones of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct ReorderingConstraint {
    /// For each position with a wall after it, the index of the innermost zone that the wall is
    /// inside; [`NONE`] for all other positions.
    local_walls: Vec<u32>,
    /// For each position, the first position from there on with a wall after it.
    next_wall: Vec<u32>,
    zones: Vec<Span>,
    is_active: bool,
}

impl ReorderingConstraint {
    /// Removes all walls and zones.
    pub(crate) fn clear(&mut self) {
        self.is_active = false;
    }

    /// Sets up the walls and zones of a sentence of `length` words. If `is_punctuation` is given,
    /// there are walls around the words for which it returns true.
    pub(crate) fn start(
        &mut self,
        length: usize,
        annotations: &SentenceMarkup,
        is_punctuation: Option<impl Fn(usize) -> bool>,
    ) {
        let mut walls = vec![false; length];
        if let Some(is_punctuation) = is_punctuation {
            for i in (0..length).filter(|&i| is_punctuation(i)) {
                walls[i] |= i > 0 && i + 1 < length;
                if i > 1 {
                    walls[i - 1] = true;
                }
            }
        }
        for &wall in &annotations.walls {
            walls[wall as usize] = true;
        }
        self.zones.clear();
        self.zones.extend_from_slice(&annotations.zones);
        self.is_active = !self.zones.is_empty() || walls.contains(&true);
        self.local_walls.clear();
        self.local_walls.resize(length, NONE);
        for (z, zone) in self.zones.iter().enumerate() {
            let outer = |z: u32| {
                let other = self.zones[z as usize];
                other.start < zone.start || other.end > zone.end
            };
            // The wall after a zone's last word is not inside it.
            let inside = zone.start as usize..zone.end as usize - 1;
            for (wall, local) in walls[inside.clone()].iter_mut().zip(&mut self.local_walls[inside])
            {
                let becomes_local = std::mem::take(wall);
                if becomes_local || *local != NONE && outer(*local) {
                    *local = z as u32;
                }
            }
        }
        self.next_wall.clear();
        self.next_wall.resize(length, NONE);
        let mut next = NONE;
        for position in (0..length).rev() {
            if walls[position] {
                next = position as u32;
            }
            self.next_wall[position] = next;
        }
    }

    /// Whether there are walls or zones.
    pub(crate) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Whether a hypothesis with `coverage` may be extended by `span`, which is not covered yet.
    /// `limit` is the distortion limit.
    pub(crate) fn allows(
        &self,
        coverages: &Coverages,
        coverage: CoverageId,
        span: Span,
        limit: Option<i64>,
    ) -> bool {
        let summary = coverages.summary(coverage);
        let gap = summary.first_gap;
        if span.start != gap && self.next_wall[gap as usize] < span.end - 1 {
            return false;
        }
        // Everything up to here is translated: the next words are always allowed.
        if summary.covered == gap && span.start == gap {
            return true;
        }
        fn covered(position: u32, coverages: &Coverages, coverage: &CoverageId) -> bool {
            coverages.is_covered(*coverage, position)
        }
        for (z, zone) in self.zones.iter().enumerate() {
            if gap >= zone.end {
                continue;
            }
            let length = zone.end - zone.start;
            let done =
                (zone.start..zone.end).filter(|&p| covered(p, coverages, &coverage)).count() as u32;
            if done == length {
                continue;
            }
            if span.end <= zone.start || span.start >= zone.end {
                if done > 0 {
                    return false;
                }
                continue;
            }
            // From the end of the zone, the gap must still be within the distortion limit.
            if let Some(limit) = limit
                && span.start != gap
                && i64::from(zone.end - 1 - gap) >= limit
            {
                return false;
            }
            if span.start <= zone.start {
                continue;
            }
            if span.end > zone.end {
                // The span leaves the zone, so it must finish the zone.
                if zone.end - span.start < length - done {
                    return false;
                }
                continue;
            }
            let mut leaves_gap = false;
            for position in zone.start..span.end.min(zone.end) - 1 {
                leaves_gap |= position < span.start && !covered(position, coverages, &coverage);
                if leaves_gap && self.local_walls[position as usize] == z as u32 {
                    return false;
                }
            }
        }
        true
    }
}

/// Whether a word is punctuation that `monotone-at-punctuation` looks for.
pub(crate) fn is_punctuation(word: &[u8]) -> bool {
    matches!(word, b"," | b"." | b"!" | b"?" | b":" | b";" | b"\"")
}
