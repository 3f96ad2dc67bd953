//! Phrase-based lexicalised reordering (`phrase-decoding.md` 3.6).
//!
//! A model has a row of scores a phrase pair: for each direction one score an
//! orientation, backward direction first. When a phrase is applied, the backward
//! score of the phrase and the forward score of the one before it are charged,
//! both for the orientation between the two. Nothing is charged at the end of a
//! sentence.

/// Source positions of a phrase, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first position.
    pub start: u32,
    /// One behind the last position.
    pub end: u32,
}

impl Span {
    /// The span `offset` positions farther right.
    pub(crate) fn shifted(self, offset: u32) -> Self {
        Span { start: self.start + offset, end: self.end + offset }
    }
}

/// Which orientations a model tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientations {
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
    /// Which orientations it tells apart.
    pub orientations: Orientations,
    /// Whether the phrase is scored against the one before it.
    pub backward: bool,
    /// Whether the phrase before is scored against this one.
    pub forward: bool,
}

impl Orientations {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Orientations::Msd => 3,
            Orientations::Mslr => 4,
            Orientations::Monotonicity | Orientations::LeftRight => 2,
        }
    }

    /// The orientation, as a column, of a phrase at `place` of the one before,
    /// which begins where it ends if it `swaps`.
    #[inline(always)]
    pub(crate) fn at(self, place: Place, swaps: bool) -> usize {
        // By place: right after, farther right, to the left; then a swap.
        const COLUMNS: [[u8; 4]; 4] = [[0, 2, 2, 1], [0, 3, 2, 1], [0, 1, 1, 1], [0, 0, 1, 1]];
        let place = if swaps { 3 } else { place as usize };
        usize::from(COLUMNS[self as usize][place])
    }
}

/// Where a phrase stands against the end of the one before. Before the first
/// phrase stands the empty span at 0: that gives what Moses2 gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Right behind it.
    Next,
    /// Farther to the right.
    Right,
    /// To the left.
    Left,
}

impl Place {
    /// That of `span` against a phrase whose end is `last_end`.
    #[inline]
    pub(crate) fn of(last_end: u32, span: Span) -> Self {
        match span.start.cmp(&last_end) {
            std::cmp::Ordering::Equal => Place::Next,
            std::cmp::Ordering::Greater => Place::Right,
            std::cmp::Ordering::Less => Place::Left,
        }
    }
}

impl ReorderingType {
    /// Reads a type string; its parts may come in any order.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut orientations = None;
        let (mut backward, mut forward) = (true, false);
        for part in text.split('-') {
            match part {
                "wbe" | "phrase" | "f" | "fe" | "allff" => {}
                "msd" => orientations = Some(Orientations::Msd),
                "mslr" => orientations = Some(Orientations::Mslr),
                "monotonicity" => orientations = Some(Orientations::Monotonicity),
                "leftright" => orientations = Some(Orientations::LeftRight),
                "backward" | "unidirectional" => (backward, forward) = (true, false),
                "forward" => (backward, forward) = (false, true),
                "bidirectional" => (backward, forward) = (true, true),
                "hier" | "collapseff" => {
                    return Err(format!("type={text}: {part} is not supported yet"));
                }
                _ => return Err(format!("type={text}: {part:?} is unknown")),
            }
        }
        let orientations = orientations.ok_or_else(|| {
            format!("type={text}: msd, mslr, monotonicity or leftright is missing")
        })?;
        Ok(ReorderingType { orientations, backward, forward })
    }

    /// How many scores a phrase pair has.
    pub fn num_components(self) -> usize {
        self.orientations.count() * (usize::from(self.backward) + usize::from(self.forward))
    }

    /// Where the forward scores start.
    pub fn forward_offset(self) -> usize {
        if self.backward { self.orientations.count() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn types() {
        let bidirectional = ReorderingType::parse("wbe-msd-bidirectional-fe-allff").unwrap();
        assert_eq!((bidirectional.num_components(), bidirectional.forward_offset()), (6, 3));
        assert_eq!(ReorderingType::parse("phrase-mslr-forward-f").unwrap().num_components(), 4);
        assert_eq!(ReorderingType::parse("msd").unwrap().num_components(), 3);
        assert_eq!(ReorderingType::parse("leftright-bidirectional").unwrap().num_components(), 4);
        for bad in ["hier-msd-backward", "msd-x", "wbe", "msd-bidirectional-collapseff"] {
            assert!(ReorderingType::parse(bad).is_err(), "{bad}");
        }
    }

    /// The table of section 3.6, row by row.
    #[test]
    fn orientations() {
        use Orientations::*;
        let beginning = span(0, 0);
        let all = |previous: Span, current: Span| {
            let place = Place::of(previous.end, current);
            let swaps = previous.start == current.end;
            [Msd, Mslr, Monotonicity, LeftRight].map(|o| o.at(place, swaps))
        };
        assert_eq!(all(beginning, span(0, 2)), [0, 0, 0, 0], "first phrase at the start");
        assert_eq!(all(beginning, span(1, 2)), [2, 3, 1, 0], "first phrase elsewhere");
        assert_eq!(all(span(0, 2), span(2, 3)), [0, 0, 0, 0], "next");
        assert_eq!(all(span(2, 4), span(1, 2)), [1, 1, 1, 1], "swap");
        assert_eq!(all(span(0, 2), span(4, 5)), [2, 3, 1, 0], "to the right");
        assert_eq!(all(span(4, 6), span(1, 2)), [2, 2, 1, 1], "to the left");
    }
}
