//! Lexical reordering models: what they are called, how a phrase is oriented to its
//! neighbours, and how counts become probabilities.
//!
//! Orientations are looked up from the corners of a phrase pair: towards the previous
//! or the next target word, is there a link (word-based), or the corner of a phrase
//! pair of tables' length (phrase-based) or of any length (hierarchical; Galley and
//! Manning 2008)? For the next neighbour, Moses looks for pairs whose *last* target
//! word is the next one, not the first, and where it looks farther to the right it
//! stops a word short of the sentence's end; both are part of the model's numbers.

use std::fmt;
use std::ops::Range;

use miriam_textio::number::push_general;

use crate::sentence::Sentence;
use crate::spans::{Block, blocks};

/// The classes of orientation that a model has at most.
pub(crate) const MAX_CLASSES: usize = 4;

/// What shows an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Links (`wbe`).
    Words,
    /// Phrase pairs within the length of the table's (`phrase`).
    Phrases,
    /// Phrase pairs of any length (`hier`).
    Hierarchical,
}

/// Which orientations are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientations {
    /// Monotone, swap, discontinuous.
    Msd,
    /// Monotone, swap, discontinuous to the left, to the right.
    Mslr,
    /// Monotone or not.
    Monotonicity,
    /// To the right or to the left.
    LeftRight,
}

/// A reordering model, as Moses names it: `wbe-msd-bidirectional-fe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderingModel {
    /// What shows an orientation.
    pub evidence: Evidence,
    /// Which orientations there are.
    pub orientations: Orientations,
    /// Whether the previous phrase is looked at.
    pub backward: bool,
    /// Whether the next phrase is looked at.
    pub forward: bool,
    /// Whether probabilities are of phrase pairs (`fe`) or source phrases (`f`).
    pub of_pairs: bool,
}

impl ReorderingModel {
    /// Reads a name as Moses' training does: parts in any order between hyphens, of
    /// which the orientations and `f` or `fe` are needed; `wbe` and `backward` are
    /// what is taken where nothing is said.
    ///
    /// # Errors
    /// A sentence that says what is wrong and which names there are.
    pub fn parse(name: &str) -> Result<Self, String> {
        let (mut orientations, mut of_pairs) = (None, None);
        let mut model = ReorderingModel {
            evidence: Evidence::Words,
            orientations: Orientations::Msd,
            backward: true,
            forward: false,
            of_pairs: true,
        };
        for part in name.split('-') {
            match part {
                "wbe" => model.evidence = Evidence::Words,
                "phrase" => model.evidence = Evidence::Phrases,
                "hier" => model.evidence = Evidence::Hierarchical,
                "msd" | "orientation" => orientations = Some(Orientations::Msd),
                "mslr" => orientations = Some(Orientations::Mslr),
                "monotonicity" => orientations = Some(Orientations::Monotonicity),
                "leftright" => orientations = Some(Orientations::LeftRight),
                "backward" | "unidirectional" => (model.backward, model.forward) = (true, false),
                "forward" => (model.backward, model.forward) = (false, true),
                "bidirectional" => (model.backward, model.forward) = (true, true),
                "fe" => of_pairs = Some(true),
                "f" => of_pairs = Some(false),
                // How a decoder weighs the scores, which are the same.
                "allff" | "collapseff" => {}
                _ => return Err(explain(name, &format!("{part:?} is no part of a name"))),
            }
        }
        model.orientations =
            orientations.ok_or_else(|| explain(name, "orientations are missing"))?;
        model.of_pairs = of_pairs.ok_or_else(|| explain(name, "`f` or `fe` is missing"))?;
        Ok(model)
    }

    /// How many orientations are told apart.
    pub fn classes(&self) -> usize {
        match self.orientations {
            Orientations::Msd => 3,
            Orientations::Mslr => 4,
            Orientations::Monotonicity | Orientations::LeftRight => 2,
        }
    }

    /// The place of `orientation` among a direction's scores.
    fn class(&self, orientation: Orientation) -> u8 {
        use Orientation::{DiscontinuousLeft, Monotone, Other, Swap};
        match (self.orientations, orientation) {
            (Orientations::LeftRight, Swap | DiscontinuousLeft) => 1,
            (Orientations::LeftRight, _) | (_, Monotone) => 0,
            (Orientations::Monotonicity, _) | (_, Swap) => 1,
            (Orientations::Msd, _) | (_, DiscontinuousLeft) => 2,
            (Orientations::Mslr, Orientation::DiscontinuousRight | Other) => 3,
        }
    }

    /// Appends the probabilities that a direction's `counts` come to, each with a
    /// space before it; `smoothing` is added to each count.
    pub(crate) fn push_scores(
        &self,
        counts: &[u32; MAX_CLASSES],
        smoothing: f64,
        line: &mut Vec<u8>,
    ) {
        let counts = &counts[..self.classes()];
        let sum: f64 = counts.iter().map(|&count| f64::from(count) + smoothing).sum();
        for &count in counts {
            line.push(b' ');
            push_general(line, (f64::from(count) + smoothing) / sum);
        }
    }
}

impl fmt::Display for ReorderingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let evidence = match self.evidence {
            Evidence::Words => "wbe",
            Evidence::Phrases => "phrase",
            Evidence::Hierarchical => "hier",
        };
        let orientations = match self.orientations {
            Orientations::Msd => "msd",
            Orientations::Mslr => "mslr",
            Orientations::Monotonicity => "monotonicity",
            Orientations::LeftRight => "leftright",
        };
        let direction = match (self.backward, self.forward) {
            (true, true) => "bidirectional",
            (false, true) => "forward",
            _ => "backward",
        };
        let condition = if self.of_pairs { "fe" } else { "f" };
        write!(f, "{evidence}-{orientations}-{direction}-{condition}")
    }
}

fn explain(name: &str, reason: &str) -> String {
    format!(
        "{name:?} is not a reordering model: {reason}; write \
         wbe|phrase|hier-msd|mslr|monotonicity|leftright-backward|forward|bidirectional-f|fe, \
         such as wbe-msd-bidirectional-fe"
    )
}

/// How a neighbour lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Orientation {
    Monotone,
    Swap,
    DiscontinuousLeft,
    DiscontinuousRight,
    Other,
}

/// One of two neighbours on the target side, seen from a phrase pair.
#[derive(Clone, Copy)]
struct Neighbour {
    /// Its target word; may be one outside of the sentence.
    row: isize,
    /// The source word where it would stand in a monotone translation, and the side.
    near: (isize, Side),
    /// The source word where it would stand if the two were swapped.
    far: (isize, Side),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Orients the phrase pairs of a sentence pair.
pub(crate) struct Orienter {
    model: ReorderingModel,
    longest: usize,
    /// For each target word that is the last of a phrase pair, the source words that
    /// are the first of one, and those that are the last.
    firsts: Bits,
    lasts: Bits,
}

impl Orienter {
    /// For a model over phrases of at most `longest` words.
    pub fn new(model: ReorderingModel, longest: usize) -> Self {
        Orienter { model, longest, firsts: Bits::default(), lasts: Bits::default() }
    }

    /// Turns to another sentence pair.
    pub fn turn_to(&mut self, sentence: &Sentence) {
        let longest = match self.model.evidence {
            Evidence::Words => return,
            Evidence::Phrases => self.longest,
            Evidence::Hierarchical => usize::MAX,
        };
        let (rows, columns) = (sentence.target.len(), sentence.source.len());
        self.firsts.clear(rows, columns);
        self.lasts.clear(rows, columns);
        blocks(sentence, longest, |Block { target, core, room }| {
            let row = target.end - 1;
            // Each of these is the edge of a phrase that does not grow elsewhere.
            (room.start..=core.start).for_each(|first| self.firsts.set(row, first));
            (core.end..=room.end).for_each(|end| self.lasts.set(row, end - 1));
        });
    }

    /// The places of the orientations to the previous and the next neighbour among a
    /// direction's scores.
    pub fn orient(
        &self,
        sentence: &Sentence,
        source: &Range<usize>,
        target: &Range<usize>,
    ) -> [u8; 2] {
        let left = (source.start as isize - 1, Side::Left);
        let right = (source.end as isize, Side::Right);
        let previous = Neighbour { row: target.start as isize - 1, near: left, far: right };
        let next = Neighbour { row: target.end as isize, near: right, far: left };
        [previous, next].map(|neighbour| self.model.class(self.orientation(sentence, neighbour)))
    }

    fn orientation(&self, sentence: &Sentence, neighbour: Neighbour) -> Orientation {
        let Neighbour { row, near, far } = neighbour;
        let by_words = self.model.evidence == Evidence::Words;
        let mut is_near = sentence.is_linked(near.0, row);
        let mut is_far = sentence.is_linked(far.0, row);
        if (is_near && !is_far) || (!by_words && self.has_corner(row, near.0, near.1)) {
            return Orientation::Monotone;
        }
        if self.model.orientations == Orientations::Monotonicity {
            return Orientation::Other;
        }
        if (!is_near && is_far) || (!by_words && self.has_corner(row, far.0, far.1)) {
            return Orientation::Swap;
        }
        if self.model.orientations == Orientations::Msd {
            return Orientation::Other;
        }
        if by_words {
            let linked = |place| sentence.is_linked(place, row);
            let inside = |place| (0..sentence.source.len() as isize).contains(&place);
            is_near = is_near || beyond(near).take_while(|&p| inside(p)).any(linked);
            is_far = is_far || beyond(far).take_while(|&p| inside(p)).any(linked);
        } else {
            let inside = |place| (0..sentence.source.len() as isize).contains(&place);
            // On the right, Moses leaves the last word out.
            let looks_at = |side, place| inside(place) && (side == Side::Left || inside(place + 1));
            let cornered = |(place, side)| {
                let mut places = beyond((place, side)).take_while(|&p| looks_at(side, p));
                places.any(|place| self.has_corner(row, place, side))
            };
            is_near = cornered(near);
            is_far = !is_near && cornered(far);
        }
        match (is_near, is_far) {
            (true, false) => Orientation::DiscontinuousRight,
            (false, true) => Orientation::DiscontinuousLeft,
            _ => Orientation::Other,
        }
    }

    /// Whether a phrase pair ends with the target word `row` and touches the source
    /// word `column` with its edge: its last word to the left of a phrase, its first
    /// one to the right.
    fn has_corner(&self, row: isize, column: isize, side: Side) -> bool {
        match side {
            Side::Left => self.lasts.get(row, column),
            Side::Right => self.firsts.get(row, column),
        }
    }
}

/// The places farther out on the side of `place`.
fn beyond((place, side): (isize, Side)) -> impl Iterator<Item = isize> {
    let step = if side == Side::Left { -1 } else { 1 };
    (1..).map(move |i| place + i * step)
}

/// A table of bits.
#[derive(Default)]
struct Bits {
    words: Vec<u64>,
    rows: usize,
    columns: usize,
}

impl Bits {
    fn clear(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.words.clear();
        self.words.resize((rows * columns).div_ceil(64), 0);
    }

    fn set(&mut self, row: usize, column: usize) {
        let bit = row * self.columns + column;
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// The bit, unset outside of the table.
    fn get(&self, row: isize, column: isize) -> bool {
        let inside =
            (0..self.rows as isize).contains(&row) && (0..self.columns as isize).contains(&column);
        let bit = || row as usize * self.columns + column as usize;
        inside && self.words[bit() / 64] >> (bit() % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_moses_reads_them() {
        let parse = |name: &str| ReorderingModel::parse(name).map(|model| model.to_string());
        for name in
            ["wbe-msd-bidirectional-fe", "hier-mslr-forward-f", "phrase-leftright-backward-fe"]
        {
            assert_eq!(parse(name).unwrap(), name);
        }
        assert_eq!(parse("msd-bidirectional-fe").unwrap(), "wbe-msd-bidirectional-fe");
        assert_eq!(parse("orientation-unidirectional-f").unwrap(), "wbe-msd-backward-f");
        assert_eq!(parse("monotonicity-fe-allff").unwrap(), "wbe-monotonicity-backward-fe");
        for bad in ["", "msd", "wbe-fe", "distance", "msd-bidirectional-e", "msd--fe"] {
            assert!(parse(bad).unwrap_err().contains("wbe-msd-bidirectional-fe"), "{bad}");
        }
    }

    #[test]
    fn counts_become_smoothed_probabilities() {
        let model = ReorderingModel::parse("wbe-msd-bidirectional-fe").unwrap();
        let mut line = Vec::new();
        model.push_scores(&[3, 0, 0, 0], 0.5, &mut line);
        model.push_scores(&[1, 0, 1, 0], 0.5, &mut line);
        // 3.5/4.5, .5/4.5 twice; 1.5/3.5, .5/3.5, 1.5/3.5
        assert_eq!(line, b" 0.777778 0.111111 0.111111 0.428571 0.142857 0.428571");
    }
}
