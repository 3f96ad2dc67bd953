//! Counting the forms that words have inside of sentences.

use std::fmt;

use hashbrown::HashMap;

use super::markup::{Part, parts};
use super::{delays_start, ends_sentence};
use crate::characters::{Kinds, first, lowercase, symbols};

/// Counts are in tenths: a word that may be a sentence of its own counts as one.
const WHOLE: u64 = 10;
const TENTH: u64 = 1;

/// Counts of the forms of words.
///
/// Texts counted apart can be [merged](TruecaseTraining::merge); a model depends on
/// their order only, which settles ties: the form seen first wins.
#[derive(Clone, Debug, Default)]
pub struct TruecaseTraining {
    /// Places in `words` by words in lower case.
    places: HashMap<Box<[u8]>, usize>,
    words: Vec<Forms>,
    first_tokens: bool,
}

/// The forms of a word with their counts, in the order they were seen in first.
type Forms = Vec<(Box<[u8]>, u64)>;

impl TruecaseTraining {
    /// Counts of nothing yet. With `first_tokens` the first word of a sentence counts
    /// too if it has no capital letter, and a tenth if it has but is alone
    /// (`--possiblyUseFirstToken`).
    pub fn new(first_tokens: bool) -> Self {
        TruecaseTraining { first_tokens, ..Self::default() }
    }

    /// Counts the tokens of a line, which has no line end.
    pub fn add(&mut self, line: &[u8]) {
        let words: Vec<&[u8]> = parts(line, false)
            .filter_map(|part| match part {
                Part::Word(word) => Some(word),
                Part::Markup(_) => None,
            })
            .collect();
        let start = words.iter().take_while(|word| delays_start(word)).count();
        let mut lower = Vec::new();
        let mut begins = true;
        for (i, &word) in words.iter().enumerate().skip(start) {
            begins |= i > start && ends_sentence(words[i - 1]);
            if symbols(word).any(|(_, symbol)| symbol.kinds().is(Kinds::CASED)) {
                let weight = self.weight(word, begins, words.len() == 1);
                if weight > 0 {
                    lower.clear();
                    lowercase(word, &mut lower);
                    self.count(&lower, word, weight);
                }
            }
            begins = false;
        }
    }

    fn weight(&self, word: &[u8], begins: bool, alone: bool) -> u64 {
        if !begins {
            return WHOLE;
        }
        if !self.first_tokens {
            return 0;
        }
        let initial = &word[..first(word).map_or(0, |symbol| symbol.length)];
        let mut lower = Vec::new();
        lowercase(initial, &mut lower);
        match (lower == initial, alone) {
            (true, _) => WHOLE,
            (false, true) => TENTH,
            (false, false) => 0,
        }
    }

    fn count(&mut self, lower: &[u8], form: &[u8], count: u64) {
        let place = match self.places.get(lower) {
            Some(&place) => place,
            None => {
                self.places.insert(lower.into(), self.words.len());
                self.words.push(Forms::new());
                self.words.len() - 1
            }
        };
        let forms = &mut self.words[place];
        match forms.iter_mut().find(|(known, _)| &**known == form) {
            Some((_, known)) => *known += count,
            None => forms.push((form.into(), count)),
        }
    }

    /// Adds the counts of a text behind this one.
    pub fn merge(&mut self, behind: TruecaseTraining) {
        let mut lower = Vec::new();
        for (form, count) in behind.words.into_iter().flatten() {
            lower.clear();
            lowercase(&form, &mut lower);
            self.count(&lower, &form, count);
        }
    }

    /// How many different words have been counted.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether nothing has been counted.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The model as Moses' text, a word a line in the order of the text: the most
    /// frequent form with its count and that of all, then the others.
    pub fn write(&self, out: &mut Vec<u8>) {
        for forms in &self.words {
            let total = forms.iter().map(|(_, count)| count).sum();
            let Some((best, most)) = forms.iter().rev().max_by_key(|(_, count)| count) else {
                continue;
            };
            out.extend_from_slice(best);
            out.extend_from_slice(format!(" ({}/{})", Count(*most), Count(total)).as_bytes());
            for (form, count) in forms.iter().filter(|(form, _)| form != best) {
                out.push(b' ');
                out.extend_from_slice(form);
                out.extend_from_slice(format!(" ({})", Count(*count)).as_bytes());
            }
            out.push(b'\n');
        }
    }
}

/// A count in tenths, printed as a number.
struct Count(u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, tenths) = (self.0 / WHOLE, self.0 % WHOLE);
        match tenths {
            0 => write!(f, "{whole}"),
            _ => write!(f, "{whole}.{tenths}"),
        }
    }
}
