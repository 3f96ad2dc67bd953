//! Lexical reordering models: their names, the orientation of a phrase to its neighbours,
//! and probabilities from counts.
//!
//! In the matrix of source and target words, an orientation is determined just outside the corners
//! of a phrase pair, at the previous or the next target word. A word-based model looks there for a
//! link. A phrase-based model looks for the corner of a phrase pair within the maximum length, a
//! hierarchical one for the corner of a phrase pair of any length (Galley and Manning 2008).
//!
//! Two details follow Moses, because they change the probabilities. For the next neighbour, Moses
//! looks for pairs whose *last* target word is the next word, not for pairs that begin with that
//! word. And its search to the right stops one word before the end of the sentence.

use std::fmt;
use std::ops::Range;

use miriam_textio::leb128::{push_leb128, read_leb128};
use miriam_textio::number::push_general;

use crate::consistent_spans::{ConsistentSpan, for_each_consistent_span};
use crate::sentence_pair::SentencePair;

/// The largest number of orientation classes of a model.
pub(crate) const MAX_CLASSES: usize = 4;

/// Appends the orientation counts of a phrase pair that occurs `count` times to `bytes`, for a
/// temporary file. A pair that occurs once, as most do, takes one byte with its two classes. Other
/// pairs take a byte with a bit for each count that is not zero, and then these counts.
pub(crate) fn push_orientation_counts(
    count: u32,
    counts: &[[u32; MAX_CLASSES]; 2],
    bytes: &mut Vec<u8>,
) {
    if count == 1 {
        let [previous, next] =
            counts.map(|counts| (1..MAX_CLASSES).find(|&class| counts[class] > 0).unwrap_or(0));
        bytes.push((previous | next << 4) as u8);
        return;
    }
    let mask_at = bytes.len();
    bytes.push(0);
    for (bit, &count) in counts.as_flattened().iter().enumerate() {
        if count > 0 {
            bytes[mask_at] |= 1 << bit;
            push_leb128(bytes, count.into());
        }
    }
}

/// Reads the orientation counts of a phrase pair that occurs `count` times at `*at` and moves `*at`
/// past them.
#[inline]
pub(crate) fn pop_orientation_counts(
    count: u32,
    bytes: &[u8],
    at: &mut usize,
) -> [[u32; MAX_CLASSES]; 2] {
    let mut counts = [[0; MAX_CLASSES]; 2];
    let first = bytes[*at];
    *at += 1;
    if count == 1 {
        counts[0][usize::from(first & 15)] = 1;
        counts[1][usize::from(first >> 4)] = 1;
        return counts;
    }
    let mut mask = first;
    while mask != 0 {
        counts.as_flattened_mut()[mask.trailing_zeros() as usize] = read_leb128(bytes, at) as u32;
        mask &= mask - 1;
    }
    counts
}

/// The evidence that determines an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelType {
    /// Links (`wbe`).
    WordBased,
    /// Phrase pairs within the maximum length (`phrase`).
    PhraseBased,
    /// Phrase pairs of any length (`hier`).
    Hierarchical,
}

/// The orientations that a model distinguishes.
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
///
/// # Examples
/// ```
/// use miriam_extract::ReorderingType;
///
/// let model = ReorderingType::parse("hier-mslr-bidirectional-fe").unwrap();
/// assert_eq!(model.num_classes(), 4);
/// assert!(model.backward && model.forward && model.conditions_on_target);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReorderingType {
    /// The evidence that determines an orientation.
    pub model_type: ModelType,
    /// The orientations that the model distinguishes.
    pub orientation_classes: OrientationClasses,
    /// Whether orientations to the previous phrase are modelled.
    pub backward: bool,
    /// Whether orientations to the next phrase are modelled.
    pub forward: bool,
    /// Whether probabilities are conditioned on phrase pairs (`fe`), not on source phrases (`f`).
    pub conditions_on_target: bool,
}

impl ReorderingType {
    /// Parses a name as Moses' training does: parts in any order, separated by hyphens. The
    /// orientations and `f` or `fe` are required; `wbe` and `backward` are the defaults.
    ///
    /// # Errors
    /// Fails with a message that explains what is wrong and lists the valid parts.
    pub fn parse(name: &str) -> Result<Self, String> {
        let mut orientations = None;
        let mut conditions_on_target = None;
        let mut model = ReorderingType {
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
                "fe" => conditions_on_target = Some(true),
                "f" => conditions_on_target = Some(false),
                // These change only the weights of the decoder, not the scores.
                "allff" | "collapseff" => {}
                _ => return Err(describe_error(name, &format!("{part:?} is not part of a name"))),
            }
        }
        model.orientation_classes =
            orientations.ok_or_else(|| describe_error(name, "orientations are missing"))?;
        model.conditions_on_target =
            conditions_on_target.ok_or_else(|| describe_error(name, "`f` or `fe` is missing"))?;
        Ok(model)
    }

    /// Returns the number of orientation classes.
    pub fn num_classes(&self) -> usize {
        match self.orientation_classes {
            OrientationClasses::Msd => 3,
            OrientationClasses::Mslr => 4,
            OrientationClasses::Monotonicity | OrientationClasses::LeftRight => 2,
        }
    }

    /// Returns the index of `orientation` among the scores of a direction.
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

    /// Appends the probabilities of a direction's `counts`, each after a space; `smoothing`
    /// is added to each count.
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

impl fmt::Display for ReorderingType {
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
        "{name:?} is not a reordering model: {reason}; join four parts by hyphens: wbe, \
         phrase or hier; msd, mslr, monotonicity or leftright; backward, forward or bidirectional; \
         f or fe (such as wbe-msd-bidirectional-fe); none is for no table"
    )
}

/// The orientation of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Orientation {
    Monotone,
    Swap,
    DiscontinuousLeft,
    DiscontinuousRight,
    Other,
}

/// The previous or next neighbour of a phrase pair on the target side.
#[derive(Clone, Copy)]
struct Neighbour {
    /// Its target word; may be just outside the sentence.
    row: isize,
    /// The source word of the neighbour in a monotone translation, and its side.
    monotone: (isize, Side),
    /// The source word of the neighbour if the two are swapped, and its side.
    swap: (isize, Side),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A finder of the orientations of the phrase pairs of a sentence pair.
pub(crate) struct OrientationFinder {
    model: ReorderingType,
    max_length: usize,
    /// For each last target word of a phrase pair the possible first source words.
    start_corners: BitMatrix,
    /// For each last target word of a phrase pair the possible last source words.
    end_corners: BitMatrix,
}

impl OrientationFinder {
    /// Creates a finder for a model over phrases of at most `max_length` words.
    pub fn new(model: ReorderingType, max_length: usize) -> Self {
        OrientationFinder {
            model,
            max_length,
            start_corners: BitMatrix::default(),
            end_corners: BitMatrix::default(),
        }
    }

    /// Sets the sentence pair.
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
            |ConsistentSpan { target, minimal_source: core, maximal_source: maximal }| {
                let row = target.end - 1;
                self.start_corners.set_range(row, maximal.start..core.start + 1);
                self.end_corners.set_range(row, core.end - 1..maximal.end);
            },
        );
    }

    /// Returns the indices of the orientations to the previous and the next neighbour among the
    /// scores of a direction.
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
            is_near = is_near || has_link_beyond(sentence, row, near);
            is_far = is_far || has_link_beyond(sentence, row, far);
        } else {
            is_near = self.has_corner_beyond(sentence, row, near);
            is_far = !is_near && self.has_corner_beyond(sentence, row, far);
        }
        match (is_near, is_far) {
            (true, false) => Orientation::DiscontinuousRight,
            (false, true) => Orientation::DiscontinuousLeft,
            _ => Orientation::Other,
        }
    }

    /// Whether a phrase pair has a corner at the target word `row` and at a source word beyond
    /// `position`, in the direction of `side`.
    fn has_corner_beyond(
        &self,
        sentence: &SentencePair,
        row: isize,
        (position, side): (isize, Side),
    ) -> bool {
        positions_beyond(position, side)
            // On the right, Moses leaves out the last word.
            .take_while(|&p| {
                sentence.has_source(p) && (side == Side::Left || sentence.has_source(p + 1))
            })
            .any(|p| self.has_corner(row, p, side))
    }

    /// Whether there is a phrase pair whose last target word is `row` and whose edge on the source
    /// side is `column`: the last source word if `side` is left, the first if it is right.
    fn has_corner(&self, row: isize, column: isize, side: Side) -> bool {
        match side {
            Side::Left => self.end_corners.get(row, column),
            Side::Right => self.start_corners.get(row, column),
        }
    }
}

/// Whether the target word `row` has a link to a source word beyond `position`, in the direction of
/// `side`.
fn has_link_beyond(sentence: &SentencePair, row: isize, (position, side): (isize, Side)) -> bool {
    positions_beyond(position, side)
        .take_while(|&p| sentence.has_source(p))
        .any(|p| sentence.is_linked(p, row))
}

/// Returns the positions beyond `position` in the direction of `side`.
fn positions_beyond(position: isize, side: Side) -> impl Iterator<Item = isize> {
    let step = if side == Side::Left { -1 } else { 1 };
    (1..).map(move |i| position + i * step)
}

/// A matrix of bits.
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

    /// Sets the bits of these columns of a row.
    fn set_range(&mut self, row: usize, columns: Range<usize>) {
        let (mut bit, end) = (row * self.columns + columns.start, row * self.columns + columns.end);
        while bit < end {
            let offset = bit % 64;
            let count = (64 - offset).min(end - bit);
            self.words[bit / 64] |= (u64::MAX >> (64 - count)) << offset;
            bit += count;
        }
    }

    /// Whether the bit is set; false outside the matrix.
    fn get(&self, row: isize, column: isize) -> bool {
        if !(0..self.rows as isize).contains(&row) || !(0..self.columns as isize).contains(&column)
        {
            return false;
        }
        let bit = row as usize * self.columns + column as usize;
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Link;

    #[test]
    fn names_are_read_as_moses_reads_them() {
        for (name, full_name) in [
            ("wbe-msd-bidirectional-fe", "wbe-msd-bidirectional-fe"),
            ("hier-mslr-forward-f", "hier-mslr-forward-f"),
            ("phrase-leftright-backward-fe", "phrase-leftright-backward-fe"),
            ("msd-bidirectional-fe", "wbe-msd-bidirectional-fe"),
            ("orientation-unidirectional-f", "wbe-msd-backward-f"),
            ("monotonicity-fe-allff", "wbe-monotonicity-backward-fe"),
        ] {
            assert_eq!(ReorderingType::parse(name).unwrap().to_string(), full_name);
        }
        for bad in ["", "msd", "wbe-fe", "distance", "msd-bidirectional-e", "msd--fe"] {
            assert!(
                ReorderingType::parse(bad).unwrap_err().contains("wbe-msd-bidirectional-fe"),
                "{bad}"
            );
        }
    }

    #[test]
    fn ranges_of_bits_are_set() {
        for (start, end) in [(0, 0), (0, 1), (3, 70), (63, 64), (64, 128), (0, 150), (149, 150)] {
            let mut matrix = BitMatrix::default();
            matrix.clear(3, 150);
            matrix.set_range(1, start..end);
            for row in 0..3 {
                for column in 0..150 {
                    let expected = row == 1 && (start..end).contains(&column);
                    assert_eq!(
                        matrix.get(row, column as isize),
                        expected,
                        "{start} {end} {column}"
                    );
                }
            }
        }
    }

    /// A long line with few links has a quadratic number of phrase pairs. The time of each is short:
    /// 64 corners are set at once, and unaligned words are not counted again.
    #[test]
    fn long_unaligned_sentences_take_little_time() {
        let words = vec![0; 2000];
        let mut sentence = SentencePair::default();
        sentence.set(&words, &words, &[Link { target: 1000, source: 1000 }]);
        let model = ReorderingType::parse("hier-mslr-bidirectional-fe").unwrap();
        let mut finder = OrientationFinder::new(model, 7);
        finder.set_sentence_pair(&sentence);
        // Every phrase pair contains the link.
        assert!(finder.start_corners.get(1999, 0) && finder.end_corners.get(1000, 1999));
        assert!(!finder.start_corners.get(999, 1000) && !finder.start_corners.get(1000, 1001));
    }

    #[test]
    fn counts_become_smoothed_probabilities() {
        let model = ReorderingType::parse("wbe-msd-bidirectional-fe").unwrap();
        let mut line = Vec::new();
        model.push_scores(&[3, 0, 0, 0], 0.5, &mut line);
        model.push_scores(&[1, 0, 1, 0], 0.5, &mut line);
        // 3.5/4.5, .5/4.5 twice; 1.5/3.5, .5/3.5, 1.5/3.5
        assert_eq!(line, b" 0.777778 0.111111 0.111111 0.428571 0.142857 0.428571");
        line.clear();
        model.push_scores(&[1, 0, 3, 0], 0.0, &mut line);
        assert_eq!(line, b" 0.25 0 0.75");
    }
}
