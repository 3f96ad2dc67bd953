//! Symmetrisation of the links of both directions (Och and Ney 2003; Koehn, Och and Marcu 2003).
//!
//! The result of the growing heuristics depends on the order in which links are tried, which is
//! the order of fast_align's `atools`. Links of the union that are not accepted yet are tried by
//! source and then target position, in rounds, until a round accepts none. Then, for `final`, the
//! forward links are tried in the same order, and after them the reverse links.

use crate::links::Link;

/// A symmetrisation heuristic.
///
/// # Examples
/// ```
/// use std::fs;
///
/// use miriam_align::{Symmetrization, symmetrize_files};
/// use miriam_textio::NoProgress;
///
/// let folder = tempfile::tempdir()?;
/// let [forward, reverse, output] = ["f", "r", "output"].map(|name| folder.path().join(name));
/// fs::write(&forward, "0-0 1-1 2-1\n")?;
/// fs::write(&reverse, "0-0 2-2 3-3\n")?;
/// let heuristic = Symmetrization::Intersection;
/// symmetrize_files(&forward, &reverse, &output, heuristic, 1, &NoProgress)?;
/// assert_eq!(fs::read_to_string(&output)?, "0-0\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symmetrization {
    /// Forward links only.
    Forward,
    /// Reverse links only.
    Reverse,
    /// Links that are in both directions.
    Intersection,
    /// Links that are in at least one direction.
    Union,
    /// The intersection, and links of the union that are horizontally or vertically next to an
    /// accepted link and align at least one word that has no link yet.
    Grow,
    /// Like [`Symmetrization::Grow`], with diagonal neighbours too.
    GrowDiag,
    /// Like [`Symmetrization::GrowDiag`], and then links of either direction that align at least
    /// one word without a link.
    GrowDiagFinal,
    /// Like [`Symmetrization::GrowDiag`], and then links of either direction between two words
    /// without links.
    #[default]
    GrowDiagFinalAnd,
}

impl Symmetrization {
    /// All heuristics.
    pub const ALL: [Symmetrization; 8] = [
        Symmetrization::Forward,
        Symmetrization::Reverse,
        Symmetrization::Intersection,
        Symmetrization::Union,
        Symmetrization::Grow,
        Symmetrization::GrowDiag,
        Symmetrization::GrowDiagFinal,
        Symmetrization::GrowDiagFinalAnd,
    ];

    /// Returns the heuristic's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Symmetrization::Forward => "forward",
            Symmetrization::Reverse => "reverse",
            Symmetrization::Intersection => "intersection",
            Symmetrization::Union => "union",
            Symmetrization::Grow => "grow",
            Symmetrization::GrowDiag => "grow-diag",
            Symmetrization::GrowDiagFinal => "grow-diag-final",
            Symmetrization::GrowDiagFinalAnd => "grow-diag-final-and",
        }
    }

    /// Returns whether the heuristic needs forward links, and whether it needs reverse links.
    pub(crate) fn directions(self) -> [bool; 2] {
        [self != Symmetrization::Reverse, self != Symmetrization::Forward]
    }
}

/// The neighbours of a link as differences of source and target positions: first the horizontal and
/// vertical ones, then the diagonal ones.
const NEIGHBOURS: [(i8, i8); 8] =
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)];

/// A symmetriser of links, with buffers that are kept from line to line.
#[derive(Default)]
pub(crate) struct Symmetrizer {
    union: Vec<Link>,
    candidates: Vec<Link>,
    /// The accepted links as a matrix of bits, `[source positions + 2, target positions + 2]`.
    /// With an empty border, no test is needed for neighbours outside of the matrix.
    alignment_bits: Vec<u64>,
    /// The number of bits of a row: target positions + 2.
    row_width: usize,
    /// Whether each source position has a link.
    source_linked: Vec<bool>,
    /// Whether each target position has a link.
    target_linked: Vec<bool>,
}

impl Symmetrizer {
    /// Symmetrises links into `symmetrized`, ordered by source and then target position. With
    /// [`Symmetrization::Forward`] and [`Symmetrization::Reverse`], the links keep their order.
    pub fn symmetrize(
        &mut self,
        heuristic: Symmetrization,
        forward: &[Link],
        reverse: &[Link],
        symmetrized: &mut Vec<Link>,
    ) {
        symmetrized.clear();
        match heuristic {
            Symmetrization::Forward => return symmetrized.extend_from_slice(forward),
            Symmetrization::Reverse => return symmetrized.extend_from_slice(reverse),
            _ => {}
        }
        self.union.clear();
        self.union.extend_from_slice(forward);
        self.union.sort_unstable();
        self.union.dedup();
        // So far `union` has only the forward links.
        let mut sorted_reverse = reverse.to_vec();
        sorted_reverse.sort_unstable();
        sorted_reverse.dedup();
        let both = sorted_reverse.iter().filter(|link| self.union.binary_search(link).is_ok());
        symmetrized.extend(both);
        self.union.extend(sorted_reverse);
        self.union.sort_unstable();
        self.union.dedup();
        match heuristic {
            Symmetrization::Intersection => {}
            Symmetrization::Union => symmetrized.clone_from(&self.union),
            _ => self.grow(heuristic, forward, reverse, symmetrized),
        }
    }

    fn grow(
        &mut self,
        heuristic: Symmetrization,
        forward: &[Link],
        reverse: &[Link],
        symmetrized: &mut Vec<Link>,
    ) {
        let sources = self.union.iter().map(|link| usize::from(link.0) + 1).max().unwrap_or(0);
        let targets = self.union.iter().map(|link| usize::from(link.1) + 1).max().unwrap_or(0);
        self.row_width = targets + 2;
        self.alignment_bits.clear();
        self.alignment_bits.resize(((sources + 2) * self.row_width).div_ceil(64), 0);
        self.source_linked.clear();
        self.source_linked.resize(sources, false);
        self.target_linked.clear();
        self.target_linked.resize(targets, false);
        for &link in &*symmetrized {
            self.add_link(link);
        }
        self.candidates.clear();
        let new = self.union.iter().filter(|link| symmetrized.binary_search(link).is_err());
        self.candidates.extend(new);
        let neighbours =
            if heuristic == Symmetrization::Grow { &NEIGHBOURS[..4] } else { &NEIGHBOURS };
        let mut candidates = std::mem::take(&mut self.candidates);
        loop {
            let before = candidates.len();
            candidates.retain(|&link| {
                let is_accepted =
                    self.count_linked_words(link) < 2 && self.has_neighbour(link, neighbours);
                if is_accepted {
                    self.add_link(link);
                    symmetrized.push(link);
                }
                !is_accepted
            });
            if candidates.len() == before {
                break;
            }
        }
        self.candidates = candidates;
        // In the final step, a link is accepted if fewer than this number of its two words have a
        // link.
        let linked_limit = match heuristic {
            Symmetrization::GrowDiagFinal => 2,
            Symmetrization::GrowDiagFinalAnd => 1,
            _ => 0,
        };
        if linked_limit > 0 {
            for direction in [forward, reverse] {
                self.union.clear();
                self.union.extend_from_slice(direction);
                self.union.sort_unstable();
                for index in 0..self.union.len() {
                    let link = self.union[index];
                    if !self.contains(link) && self.count_linked_words(link) < linked_limit {
                        self.add_link(link);
                        symmetrized.push(link);
                    }
                }
            }
        }
        symmetrized.sort_unstable();
    }

    /// Returns how many of the link's two words already have a link.
    fn count_linked_words(&self, (source, target): Link) -> u8 {
        u8::from(self.source_linked[usize::from(source)])
            + u8::from(self.target_linked[usize::from(target)])
    }

    fn bit_index(&self, (source, target): Link) -> usize {
        (usize::from(source) + 1) * self.row_width + usize::from(target) + 1
    }

    fn get_bit(&self, bit: usize) -> bool {
        self.alignment_bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn contains(&self, link: Link) -> bool {
        self.get_bit(self.bit_index(link))
    }

    fn has_neighbour(&self, link: Link, neighbours: &[(i8, i8)]) -> bool {
        let bit = self.bit_index(link) as isize;
        neighbours.iter().any(|&(down, right)| {
            let step = isize::from(down) * self.row_width as isize + isize::from(right);
            self.get_bit((bit + step) as usize)
        })
    }

    fn add_link(&mut self, link: Link) {
        let bit = self.bit_index(link);
        self.alignment_bits[bit / 64] |= 1 << (bit % 64);
        self.source_linked[usize::from(link.0)] = true;
        self.target_linked[usize::from(link.1)] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Symmetrises by the definitions, with sets.
    fn naive_symmetrize(
        heuristic: Symmetrization,
        forward: &[Link],
        reverse: &[Link],
    ) -> Vec<Link> {
        let f: BTreeSet<Link> = forward.iter().copied().collect();
        let r: BTreeSet<Link> = reverse.iter().copied().collect();
        let union: BTreeSet<Link> = &f | &r;
        let mut accepted: BTreeSet<Link> = &f & &r;
        if heuristic == Symmetrization::Union {
            return union.into_iter().collect();
        }
        if heuristic == Symmetrization::Intersection {
            return accepted.into_iter().collect();
        }
        let free = |accepted: &BTreeSet<Link>, link: Link| {
            let source = accepted.iter().all(|t| t.0 != link.0);
            let target = accepted.iter().all(|t| t.1 != link.1);
            (source, target)
        };
        loop {
            let before = accepted.len();
            for &link in &union {
                let (source, target) = free(&accepted, link);
                let is_neighbour = accepted.iter().any(|t| {
                    let (down, right) = (t.0.abs_diff(link.0), t.1.abs_diff(link.1));
                    match heuristic {
                        Symmetrization::Grow => down + right == 1,
                        _ => down <= 1 && right <= 1,
                    }
                });
                if !accepted.contains(&link) && is_neighbour && (source || target) {
                    accepted.insert(link);
                }
            }
            if accepted.len() == before {
                break;
            }
        }
        for links in [&f, &r] {
            for &link in links {
                let (source, target) = free(&accepted, link);
                let take = match heuristic {
                    Symmetrization::GrowDiagFinal => source || target,
                    Symmetrization::GrowDiagFinalAnd => source && target,
                    _ => false,
                };
                if take {
                    accepted.insert(link);
                }
            }
        }
        accepted.into_iter().collect()
    }

    proptest! {
        #[test]
        fn symmetrizer_equals_naive_symmetrize(
            forward in proptest::collection::vec((0u16..7, 0u16..7), 0..14),
            reverse in proptest::collection::vec((0u16..7, 0u16..7), 0..14),
        ) {
            let (mut symmetrizer, mut symmetrized) = (Symmetrizer::default(), Vec::new());
            for heuristic in &Symmetrization::ALL[2..] {
                symmetrizer.symmetrize(*heuristic, &forward, &reverse, &mut symmetrized);
                prop_assert_eq!(&symmetrized, &naive_symmetrize(*heuristic, &forward, &reverse), "{}", heuristic.name());
            }
        }
    }

    #[test]
    fn symmetrization_of_a_small_grid() {
        // Forward aligns 0-0, 1-1, 2-1; reverse 0-0, 2-2, 3-3. 1-1 is a neighbour of 0-0,
        // 2-1 and 2-2 are neighbours of 1-1, and 3-3 of 2-2.
        let (forward, reverse) = ([(0, 0), (1, 1), (2, 1)], [(0, 0), (2, 2), (3, 3)]);
        let symmetrized = |heuristic| {
            let mut symmetrized = Vec::new();
            Symmetrizer::default().symmetrize(heuristic, &forward, &reverse, &mut symmetrized);
            symmetrized
        };
        assert_eq!(symmetrized(Symmetrization::Intersection), [(0, 0)]);
        assert_eq!(symmetrized(Symmetrization::Grow), [(0, 0)]);
        let all = [(0, 0), (1, 1), (2, 1), (2, 2), (3, 3)];
        assert_eq!(symmetrized(Symmetrization::GrowDiag), all);
        assert_eq!(symmetrized(Symmetrization::GrowDiagFinalAnd), all);
    }
}
