//! Orientations of a phrase, and types of reordering models (`docs/spec/phrase-decoding.md` 3.6).

use crate::span::Span;

/// The orientations that a model distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrientationClasses {
    /// Monotone, swap, discontinuous.
    Msd,
    /// Monotone, swap, discontinuous left, discontinuous right.
    Mslr,
    /// Monotone or not.
    Monotonicity,
    /// Right or left of the previous phrase.
    LeftRight,
}

/// A model type such as `wbe-msd-bidirectional-fe-allff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderingType {
    /// The orientations that it distinguishes.
    pub orientations: OrientationClasses,
    /// Whether the phrase is scored for its orientation towards the previous one.
    pub backward: bool,
    /// Whether the previous phrase is scored for the orientation of this one.
    pub forward: bool,
    /// Whether blocks are compared and not only neighbouring phrases.
    pub hierarchical: bool,
    /// Whether the orientations of a direction share one weight (`collapseff`).
    pub collapsed: bool,
}

impl OrientationClasses {
    /// Returns the number of orientations.
    pub fn num_orientations(self) -> usize {
        match self {
            OrientationClasses::Msd => 3,
            OrientationClasses::Mslr => 4,
            OrientationClasses::Monotonicity | OrientationClasses::LeftRight => 2,
        }
    }

    /// Returns the orientation, as a column, of a phrase at `position` relative to the previous
    /// one. `swaps` says whether the previous phrase begins where this one ends.
    #[inline(always)]
    pub(crate) fn orientation_at(self, position: RelativePosition, swaps: bool) -> usize {
        // By position: right after, farther right, to the left; then a swap.
        const COLUMNS: [[u8; 4]; 4] = [[0, 2, 2, 1], [0, 3, 2, 1], [0, 1, 1, 1], [0, 0, 1, 1]];
        let position = if swaps { 3 } else { position as usize };
        usize::from(COLUMNS[self as usize][position])
    }

    /// Returns the orientation at a signed distance from the block before: 1 is right after it, -1
    /// right before it.
    #[inline]
    pub fn orientation_at_distance(self, distance: i64) -> usize {
        match self {
            OrientationClasses::LeftRight => usize::from(distance < 1),
            _ if distance == 1 => 0,
            OrientationClasses::Monotonicity => 1,
            _ if distance == -1 => 1,
            OrientationClasses::Msd => 2,
            OrientationClasses::Mslr => 2 + usize::from(distance > 1),
        }
    }

    /// Returns the hierarchical orientation of `current` seen from `previous`, where `covered`
    /// tells which positions outside `current` are translated.
    #[inline]
    pub fn hierarchical_orientation(
        self,
        previous: Span,
        current: Span,
        covered: impl Fn(u32) -> bool,
    ) -> usize {
        let right = current.start >= previous.end;
        if self == OrientationClasses::LeftRight {
            return usize::from(!right);
        }
        let monotone = current.start == previous.end || (right && !covered(previous.end));
        if monotone {
            return 0;
        }
        let swap = current.end == previous.start
            || (current.end < previous.start && !covered(previous.start - 1));
        match self {
            OrientationClasses::Monotonicity => 1,
            _ if swap => 1,
            OrientationClasses::Msd => 2,
            _ => 2 + usize::from(right),
        }
    }
}

/// The position of a phrase relative to the end of the previous one. For the first phrase, the
/// previous one is the empty span at 0, as in Moses2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelativePosition {
    /// Right after it.
    Adjacent,
    /// Farther to the right.
    Right,
    /// To the left.
    Left,
}

impl RelativePosition {
    /// Returns the position of `span` relative to a phrase whose end is `last_end`.
    #[inline]
    pub(crate) fn from_span(last_end: u32, span: Span) -> Self {
        match span.start.cmp(&last_end) {
            std::cmp::Ordering::Equal => RelativePosition::Adjacent,
            std::cmp::Ordering::Greater => RelativePosition::Right,
            std::cmp::Ordering::Less => RelativePosition::Left,
        }
    }
}

impl ReorderingType {
    /// Reads a type string; its parts may come in any order.
    ///
    /// # Errors
    ///
    /// If a part is unknown, or none names the orientations.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut orientations = None;
        let (mut backward, mut forward) = (true, false);
        let (mut hierarchical, mut collapsed) = (false, false);
        for part in text.split('-') {
            match part {
                "f" | "fe" => {}
                // There is no word-based orientation in decoding.
                "wbe" | "phrase" => hierarchical = false,
                "hier" => hierarchical = true,
                "allff" => collapsed = false,
                "collapseff" => collapsed = true,
                "msd" => orientations = Some(OrientationClasses::Msd),
                "mslr" => orientations = Some(OrientationClasses::Mslr),
                "monotonicity" => orientations = Some(OrientationClasses::Monotonicity),
                "leftright" => orientations = Some(OrientationClasses::LeftRight),
                "backward" | "unidirectional" => (backward, forward) = (true, false),
                "forward" => (backward, forward) = (false, true),
                "bidirectional" => (backward, forward) = (true, true),
                _ => return Err(format!("type={text}: {part:?} is unknown")),
            }
        }
        let orientations = orientations.ok_or_else(|| {
            format!("type={text}: msd, mslr, monotonicity or leftright is missing")
        })?;
        Ok(ReorderingType { orientations, backward, forward, hierarchical, collapsed })
    }

    /// Returns the number of directions that are scored: 1 or 2.
    pub fn num_directions(self) -> usize {
        usize::from(self.backward) + usize::from(self.forward)
    }

    /// Returns the number of scores of a phrase pair in the table.
    pub fn num_columns(self) -> usize {
        self.orientations.num_orientations() * self.num_directions()
    }

    /// Returns the number of weights of the feature if `num-features` is `given`. For Moses a
    /// collapsed model has one feature per direction, but Moses2 requires one weight per column and
    /// uses the first of each direction.
    pub fn num_components(self, given: Option<usize>) -> usize {
        match given {
            Some(given) if self.collapsed && given == self.num_columns() => given,
            _ if self.collapsed => self.num_directions(),
            _ => self.num_columns(),
        }
    }

    /// Returns for each cell of an option's row (one direction's orientations after the other's)
    /// the column of the table and the index of the feature's weight.
    ///
    /// In a collapsed model, the columns of the second direction start one column after the start
    /// of the first direction, as in Moses and Moses2: the forward scores are read from column 1
    /// on, although column 1 has a backward score.
    pub fn column_weight_indices(self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.orientations.num_orientations();
        (0..self.num_columns()).map(move |cell| {
            if self.collapsed { (cell / count + cell % count, cell / count) } else { (cell, cell) }
        })
    }

    /// Returns the column in which the forward scores start.
    pub fn forward_offset(self) -> usize {
        if self.backward { self.orientations.num_orientations() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn types_are_parsed_from_their_names() {
        let bidirectional = ReorderingType::parse("wbe-msd-bidirectional-fe-allff").unwrap();
        assert_eq!((bidirectional.num_components(None), bidirectional.forward_offset()), (6, 3));
        assert!(!bidirectional.hierarchical && !bidirectional.collapsed);
        let components = |text| ReorderingType::parse(text).unwrap().num_components(None);
        assert_eq!(components("phrase-mslr-forward-f"), 4);
        assert_eq!(components("msd"), 3);
        assert_eq!(components("leftright-bidirectional"), 4);
        assert!(ReorderingType::parse("hier-mslr-bidirectional-fe").unwrap().hierarchical);
        for bad in ["hier", "msd-x", "wbe", ""] {
            assert!(ReorderingType::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_collapsed_model_has_one_weight_a_direction() {
        let model = ReorderingType::parse("msd-bidirectional-fe-collapseff").unwrap();
        assert_eq!((model.num_columns(), model.num_components(None)), (6, 2));
        assert_eq!(model.num_components(Some(6)), 6, "as Moses2 has it");
        assert_eq!(model.num_components(Some(3)), 2, "the caller rejects 3");
        let cells: Vec<_> = model.column_weight_indices().collect();
        assert_eq!(cells, [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (3, 1)]);
        let forward = ReorderingType::parse("mslr-forward-collapseff").unwrap();
        assert_eq!(
            forward.column_weight_indices().collect::<Vec<_>>(),
            [(0, 0), (1, 0), (2, 0), (3, 0)]
        );
    }

    /// Hierarchical orientations, worked out by hand from section 3.6.
    #[test]
    fn hierarchical_orientations() {
        use OrientationClasses::*;
        let at = |distance| {
            [Msd, Mslr, Monotonicity, LeftRight].map(|o| o.orientation_at_distance(distance))
        };
        assert_eq!(at(1), [0, 0, 0, 0], "right after the block");
        assert_eq!(at(-1), [1, 1, 1, 1], "right before it");
        assert_eq!(at(3), [2, 3, 1, 0], "farther right");
        assert_eq!(at(-3), [2, 2, 1, 1], "farther left");
        let all = |previous, current, covered: &[u32]| {
            [Msd, Mslr, Monotonicity, LeftRight]
                .map(|o| o.hierarchical_orientation(previous, current, |p| covered.contains(&p)))
        };
        let previous = span(4, 6);
        assert_eq!(all(previous, span(6, 7), &[]), [0, 0, 0, 0]);
        assert_eq!(all(previous, span(8, 9), &[]), [0, 0, 0, 0], "a block may begin at 6");
        assert_eq!(all(previous, span(8, 9), &[6]), [2, 3, 1, 0], "position 6 is taken");
        assert_eq!(all(previous, span(2, 4), &[]), [1, 1, 1, 1]);
        assert_eq!(all(previous, span(0, 1), &[]), [1, 1, 1, 1], "a block may end at 3");
        assert_eq!(all(previous, span(0, 1), &[3]), [2, 2, 1, 1], "position 3 is taken");
    }

    /// The table of section 3.6, row by row.
    #[test]
    fn orientations_of_all_classes_follow_the_specification() {
        use OrientationClasses::*;
        let beginning = span(0, 0);
        let all = |previous: Span, current: Span| {
            let position = RelativePosition::from_span(previous.end, current);
            let swaps = previous.start == current.end;
            [Msd, Mslr, Monotonicity, LeftRight].map(|o| o.orientation_at(position, swaps))
        };
        assert_eq!(all(beginning, span(0, 2)), [0, 0, 0, 0], "first phrase at the start");
        assert_eq!(all(beginning, span(1, 2)), [2, 3, 1, 0], "first phrase elsewhere");
        assert_eq!(all(span(0, 2), span(2, 3)), [0, 0, 0, 0], "next");
        assert_eq!(all(span(2, 4), span(1, 2)), [1, 1, 1, 1], "swap");
        assert_eq!(all(span(0, 2), span(4, 5)), [2, 3, 1, 0], "to the right");
        assert_eq!(all(span(4, 6), span(1, 2)), [2, 2, 1, 1], "to the left");
    }
}
