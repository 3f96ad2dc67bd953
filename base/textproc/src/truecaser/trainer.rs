//! Training of truecase models: casings of words inside sentences are counted.

use std::fmt;

use hashbrown::HashMap;

use super::markup::{MarkupToken, markup_tokens};
use super::{delays_sentence_start, ends_sentence};
use crate::characters::{CharClass, char_indices, first_char, push_lowercase};

/// Counts are in tenths: a capitalised word that is the only word of its line counts one tenth.
const FULL_COUNT: u64 = 10;
const TENTH_COUNT: u64 = 1;

/// Counts of the casings of words.
///
/// Counts of several texts can be [merged](TruecaseTrainer::merge). The order of texts only
/// decides ties: the casing seen first wins.
#[derive(Clone, Debug, Default)]
pub struct TruecaseTrainer {
    /// Indices into `casings` by lowercased word.
    indices: HashMap<Box<[u8]>, usize>,
    casings: Vec<CasingCounts>,
    count_first_tokens: bool,
}

/// The casings of a word with their counts, in the order of first occurrence.
type CasingCounts = Vec<(Box<[u8]>, u64)>;

impl TruecaseTrainer {
    /// Returns a trainer without counts. With `count_first_tokens` (`--possiblyUseFirstToken`), the
    /// first word of a sentence counts, too: fully if it does not begin with a capital letter, one
    /// tenth if it does and is the only word of its line.
    pub fn new(count_first_tokens: bool) -> Self {
        TruecaseTrainer { count_first_tokens, ..Self::default() }
    }

    /// Counts the tokens of a line, which has no line end.
    pub fn add_line(&mut self, line: &[u8]) {
        let words: Vec<&[u8]> = markup_tokens(line, false)
            .filter_map(|part| match part {
                MarkupToken::Word(word) => Some(word),
                MarkupToken::Markup(_) => None,
            })
            .collect();
        let start = words.iter().take_while(|word| delays_sentence_start(word)).count();
        let mut lower = Vec::new();
        let mut begins = true;
        for (i, &word) in words.iter().enumerate().skip(start) {
            begins |= i > start && ends_sentence(words[i - 1]);
            if char_indices(word).any(|(_, symbol)| symbol.class().intersects(CharClass::CASED)) {
                let weight = self.count_weight(word, begins, words.len() == 1);
                if weight > 0 {
                    lower.clear();
                    push_lowercase(word, &mut lower);
                    self.add_casing(&lower, word, weight);
                }
            }
            begins = false;
        }
    }

    fn count_weight(&self, word: &[u8], begins: bool, alone: bool) -> u64 {
        if !begins {
            return FULL_COUNT;
        }
        if !self.count_first_tokens {
            return 0;
        }
        let initial = &word[..first_char(word).map_or(0, |symbol| symbol.byte_len)];
        let mut lower = Vec::new();
        push_lowercase(initial, &mut lower);
        match (lower == initial, alone) {
            (true, _) => FULL_COUNT,
            (false, true) => TENTH_COUNT,
            (false, false) => 0,
        }
    }

    fn add_casing(&mut self, lower: &[u8], form: &[u8], count: u64) {
        let index = match self.indices.get(lower) {
            Some(&index) => index,
            None => {
                self.indices.insert(lower.into(), self.casings.len());
                self.casings.push(CasingCounts::new());
                self.casings.len() - 1
            }
        };
        let forms = &mut self.casings[index];
        match forms.iter_mut().find(|(known, _)| &**known == form) {
            Some((_, known)) => *known += count,
            None => forms.push((form.into(), count)),
        }
    }

    /// Adds the counts of a text that follows this one.
    pub fn merge(&mut self, later: TruecaseTrainer) {
        let mut lower = Vec::new();
        for (form, count) in later.casings.into_iter().flatten() {
            lower.clear();
            push_lowercase(&form, &mut lower);
            self.add_casing(&lower, &form, count);
        }
    }

    /// Returns the number of distinct lowercased words counted.
    pub fn len(&self) -> usize {
        self.casings.len()
    }

    /// Whether nothing has been counted.
    pub fn is_empty(&self) -> bool {
        self.casings.is_empty()
    }

    /// Appends the model as Moses' text file, one word per line in the order of first
    /// occurrence: the most frequent casing with its count and the total, then the others.
    pub fn write_model(&self, out: &mut Vec<u8>) {
        for forms in &self.casings {
            let total = forms.iter().map(|(_, count)| count).sum();
            let Some((best, most)) = forms.iter().rev().max_by_key(|(_, count)| count) else {
                continue;
            };
            out.extend_from_slice(best);
            out.extend_from_slice(format!(" ({}/{})", Tenths(*most), Tenths(total)).as_bytes());
            for (form, count) in forms.iter().filter(|(form, _)| form != best) {
                out.push(b' ');
                out.extend_from_slice(form);
                out.extend_from_slice(format!(" ({})", Tenths(*count)).as_bytes());
            }
            out.push(b'\n');
        }
    }
}

/// A count in tenths, printed as a number.
struct Tenths(u64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, tenths) = (self.0 / FULL_COUNT, self.0 % FULL_COUNT);
        match tenths {
            0 => write!(f, "{units}"),
            _ => write!(f, "{units}.{tenths}"),
        }
    }
}
