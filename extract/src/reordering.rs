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

use crate::consistent_spans::{ConsistentSpan, for_each_consistent_span};
use crate::sentence_pair::SentencePair;

/// The classes of orientation that a model has at most.
pub(crate) const MAX_CLASSES: usize = 4;

/// What shows an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelType {
    /// Links (`wbe`).
    WordBased,
    /// Phrase pairs within the length of the table's (`phrase`).
    PhraseBased,
    /// Phrase pairs of any length (`hier`).
    Hierarchical,
}

/// Which orientations are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrientationClasses {
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
    pub model_type: ModelType,
    /// Which orientations there are.
    pub orientation_classes: OrientationClasses,
    /// Whether the previous phrase is looked at.
    pub backward: bool,
    /// Whether the next phrase is looked at.
    pub forward: bool,
    /// Whether probabilities are of phrase pairs (`fe`) or source phrases (`f`).
    pub conditions_on_target: bool,
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
            model_type: ModelType::WordBased,
            orientation_classes: OrientationClasses::Msd,
            backward: true,
            forward: false,
            conditions_on_target: true,
        };
        for part in name.split('-') {
            match part {
                "wbe" => model.model_type = ModelType::WordBased,
                "phrase" => model.model_type = ModelType::PhraseBased,
                "hier" => model.model_type = ModelType::Hierarchical,
                "msd" | "orientation" => orientations = Some(OrientationClasses::Msd),
                "mslr" => orientations = Some(OrientationClasses::Mslr),
                "monotonicity" => orientations = Some(OrientationClasses::Monotonicity),
                "leftright" => orientations = Some(OrientationClasses::LeftRight),
                "backward" | "unidirectional" => (model.backward, model.forward) = (true, false),
                "forward" => (model.backward, model.forward) = (false, true),
                "bidirectional" => (model.backward, model.forward) = (true, true),
                "fe" => of_pairs = Some(true),
                "f" => of_pairs = Some(false),
                // How a decoder weighs the scores, which are the same.
                "allff" | "collapseff" => {}
                _ => return Err(describe_error(name, &format!("{part:?} is no part of a name"))),
            }
        }
        model.orientation_classes =
            orientations.ok_or_else(|| describe_error(name, "orientations are missing"))?;
        model.conditions_on_target =
            of_pairs.ok_or_else(|| describe_error(name, "`f` or `fe` is missing"))?;
        Ok(model)
    }

    /// How many orientations are told apart.
    pub fn num_classes(&self) -> usize {
        match self.orientation_classes {
            OrientationClasses::Msd => 3,
            OrientationClasses::Mslr => 4,
            OrientationClasses::Monotonicity | OrientationClasses::LeftRight => 2,
        }
    }

    /// The place of `orientation` among a direction's scores.
    fn class_index(&self, orientation: Orientation) -> u8 {
        use Orientation::{DiscontinuousLeft, Monotone, Other, Swap};
        match (self.orientation_classes, orientation) {
            (OrientationClasses::LeftRight, Swap | DiscontinuousLeft) => 1,
            (OrientationClasses::LeftRight, _) | (_, Monotone) => 0,
            (OrientationClasses::Monotonicity, _) | (_, Swap) => 1,
            (OrientationClasses::Msd, _) | (_, DiscontinuousLeft) => 2,
            (OrientationClasses::Mslr, Orientation::DiscontinuousRight | Other) => 3,
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
        let counts = &counts[..self.num_classes()];
        let sum: f64 = counts.iter().map(|&count| f64::from(count) + smoothing).sum();
        for &count in counts {
            line.push(b' ');
            push_general(line, (f64::from(count) + smoothing) / sum);
        }
    }
}

impl fmt::Display for ReorderingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let evidence = match self.model_type {
            ModelType::WordBased => "wbe",
            ModelType::PhraseBased => "phrase",
            ModelType::Hierarchical => "hier",
        };
        let orientations = match self.orientation_classes {
            OrientationClasses::Msd => "msd",
            OrientationClasses::Mslr => "mslr",
            OrientationClasses::Monotonicity => "monotonicity",
            OrientationClasses::LeftRight => "leftright",
        };
        let direction = match (self.backward, self.forward) {
            (true, true) => "bidirectional",
            (false, true) => "forward",
            _ => "backward",
        };
        let condition = if self.conditions_on_target { "fe" } else { "f" };
        write!(f, "{evidence}-{orientations}-{direction}-{condition}")
    }
}

fn describe_error(name: &str, reason: &str) -> String {
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
    monotone: (isize, Side),
    /// The source word where it would stand if the two were swapped.
    swap: (isize, Side),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Orients the phrase pairs of a sentence pair.
pub(crate) struct OrientationFinder {
    model: ReorderingModel,
    max_length: usize,
    /// For each target word that is the last of a phrase pair, the source words that
    /// are the first of one, and those that are the last.
    start_corners: BitMatrix,
    end_corners: BitMatrix,
}

impl OrientationFinder {
    /// For a model over phrases of at most `longest` words.
    pub fn new(model: ReorderingModel, max_length: usize) -> Self {
        OrientationFinder {
            model,
            max_length,
            start_corners: BitMatrix::default(),
            end_corners: BitMatrix::default(),
        }
    }

    /// Turns to another sentence pair.
    pub fn set_sentence_pair(&mut self, sentence: &SentencePair) {
        let longest = match self.model.model_type {
            ModelType::WordBased => return,
            ModelType::PhraseBased => self.max_length,
            ModelType::Hierarchical => usize::MAX,
        };
        let (rows, columns) = (sentence.target.len(), sentence.source.len());
        self.start_corners.clear(rows, columns);
        self.end_corners.clear(rows, columns);
        for_each_consistent_span(
            sentence,
            longest,
            |ConsistentSpan { target, minimal_source: core, maximal_source: room }| {
                let row = target.end - 1;
                // Each of these is the edge of a phrase that does not grow elsewhere.
                (room.start..=core.start).for_each(|first| self.start_corners.set(row, first));
                (core.end..=room.end).for_each(|end| self.end_corners.set(row, end - 1));
            },
        );
    }

    /// The places of the orientations to the previous and the next neighbour among a
    /// direction's scores.
    pub fn class_indices(
        &self,
        sentence: &SentencePair,
        source: &Range<usize>,
        target: &Range<usize>,
    ) -> [u8; 2] {
        let left = (source.start as isize - 1, Side::Left);
        let right = (source.end as isize, Side::Right);
        let previous = Neighbour { row: target.start as isize - 1, monotone: left, swap: right };
        let next = Neighbour { row: target.end as isize, monotone: right, swap: left };
        [previous, next]
            .map(|neighbour| self.model.class_index(self.orientation(sentence, neighbour)))
    }

    fn orientation(&self, sentence: &SentencePair, neighbour: Neighbour) -> Orientation {
        let Neighbour { row, monotone: near, swap: far } = neighbour;
        let by_words = self.model.model_type == ModelType::WordBased;
        let mut is_near = sentence.is_linked(near.0, row);
        let mut is_far = sentence.is_linked(far.0, row);
        if (is_near && !is_far) || (!by_words && self.has_corner(row, near.0, near.1)) {
            return Orientation::Monotone;
        }
        if self.model.orientation_classes == OrientationClasses::Monotonicity {
            return Orientation::Other;
        }
        if (!is_near && is_far) || (!by_words && self.has_corner(row, far.0, far.1)) {
            return Orientation::Swap;
        }
        if self.model.orientation_classes == OrientationClasses::Msd {
            return Orientation::Other;
        }
        if by_words {
            let linked = |place| sentence.is_linked(place, row);
            let inside = |place| (0..sentence.source.len() as isize).contains(&place);
            is_near = is_near || positions_beyond(near).take_while(|&p| inside(p)).any(linked);
            is_far = is_far || positions_beyond(far).take_while(|&p| inside(p)).any(linked);
        } else {
            let inside = |place| (0..sentence.source.len() as isize).contains(&place);
            // On the right, Moses leaves the last word out.
            let looks_at = |side, place| inside(place) && (side == Side::Left || inside(place + 1));
            let cornered = |(place, side)| {
                let mut places = positions_beyond((place, side)).take_while(|&p| looks_at(side, p));
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
            Side::Left => self.end_corners.get(row, column),
            Side::Right => self.start_corners.get(row, column),
        }
    }
}

/// The places farther out on the side of `place`.
fn positions_beyond((place, side): (isize, Side)) -> impl Iterator<Item = isize> {
    let step = if side == Side::Left { -1 } else { 1 };
    (1..).map(move |i| place + i * step)
}

/// A table of bits.
#[derive(Default)]
struct BitMatrix {
    words: Vec<u64>,
    rows: usize,
    columns: usize,
}

impl BitMatrix {
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
