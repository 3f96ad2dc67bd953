//! Learning BPE codes (Sennrich et al. 2016): in each step, the most frequent pair of neighbouring
//! symbols becomes a symbol.
//!
//! The file of codes has the same bytes as the file of subword-nmt's `learn-bpe`. Therefore counts
//! are sometimes inexact in the same way. Pairs below a threshold are set aside and considered
//! again only when no other pair reaches the threshold (`pair_statistics`). The counts of a symbol
//! that can be made in two ways (`abc` from `ab` and `c`, or from `a` and `bc`) may be wrong. One
//! difference has no effect on the file: a queue finds the most frequent pair, not a search over
//! all pairs.

use std::rc::Rc;

use hashbrown::HashMap;

use super::pair_statistics::{PairId, PairStatistics};
use super::white_space::{contains_white_space, find_joins};
use super::{END_OF_WORD, split_symbols};
use crate::{Interrupted, WordCounts};

/// The limits at which learning stops.
#[derive(Clone, Copy, Debug)]
pub struct BpeLearnOptions {
    /// The largest number of merges.
    pub max_merges: usize,
    /// A pair that occurs less often is not merged; at least 1.
    pub min_frequency: u64,
}

/// The codes that were learned.
#[derive(Clone, Debug)]
pub struct LearnedBpe {
    /// The file of codes, version 0.2, as [`BpeCodes`](crate::BpeCodes) reads it.
    pub codes: Vec<u8>,
    /// The number of merges; fewer than requested if no pair was frequent enough.
    pub num_merges: usize,
}

/// Adds the words of a line as subword-nmt splits it: at spaces, and after each character that
/// Python treats as the end of a line, such as U+2028.
pub fn add_bpe_line(line: &[u8], counts: &mut WordCounts) {
    let mut rest = line;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(line_break_end(rest).unwrap_or(rest.len()));
        let trimmed = part.strip_suffix(b"\r").unwrap_or(part);
        counts.add_line(trimmed);
        rest = after;
    }
}

/// Returns the end of the first line break in `text`, by Python's rules.
fn line_break_end(text: &[u8]) -> Option<usize> {
    (0..text.len()).find_map(|at| match text[at..] {
        [b'\r', b'\n', ..] => Some(at + 2),
        [b'\n' | b'\r' | 0x0b | 0x0c | 0x1c..=0x1e, ..] => Some(at + 1),
        [0xc2, 0x85, ..] => Some(at + 2),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(at + 3),
        _ => None,
    })
}

/// Learns merges from the words of a text. An invalid byte is a symbol, as in
/// [`BpeCodes`](crate::BpeCodes). After every 64 merges, calls `should_continue` with the number
/// of merges so far.
///
/// # Errors
/// If `should_continue` returns `false`.
pub fn learn_bpe(
    counts: &WordCounts,
    options: BpeLearnOptions,
    mut should_continue: impl FnMut(u64) -> bool,
) -> Result<LearnedBpe, Interrupted> {
    let mut learner = Learner::new(counts);
    let mut codes = b"#version: 0.2\n".to_vec();
    let mut num_merges = 0;
    while num_merges < options.max_merges {
        let Some(pair) = learner.statistics.most_frequent(num_merges, options.min_frequency) else {
            break;
        };
        let [left, right] = learner.statistics.symbols(pair);
        for (symbol, end) in [(left, b' '), (right, b'\n')] {
            codes.extend_from_slice(learner.symbols.text(symbol));
            codes.push(end);
        }
        learner.merge(pair);
        learner.statistics.finish_merge(pair, num_merges);
        num_merges += 1;
        if num_merges.is_multiple_of(64) && !should_continue(num_merges as u64) {
            return Err(Interrupted);
        }
    }
    Ok(LearnedBpe { codes, num_merges })
}

/// The texts of symbols by their ids, and the ids by the texts.
#[derive(Default)]
struct SymbolTable {
    ids: HashMap<Rc<[u8]>, u32>,
    texts: Vec<Rc<[u8]>>,
    /// Whether each symbol contains white space.
    have_white_space: Vec<bool>,
}

impl SymbolTable {
    fn intern(&mut self, text: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        let text = Rc::<[u8]>::from(text);
        self.ids.insert(Rc::clone(&text), id);
        self.have_white_space.push(contains_white_space(&text));
        self.texts.push(text);
        id
    }

    fn text(&self, symbol: u32) -> &Rc<[u8]> {
        &self.texts[symbol as usize]
    }

    /// Replaces a pair in the symbols of a word that contains white space. In such words,
    /// subword-nmt also joins symbols that are not the pair ([`find_joins`]).
    fn replace_in_text(&mut self, symbols: &[u32], pair: [u32; 2]) -> Vec<u32> {
        let texts: Vec<&[u8]> = symbols.iter().map(|&symbol| &**self.text(symbol)).collect();
        let [first, second] = pair.map(|symbol| &**self.text(symbol));
        let joins = find_joins(&texts, first, second);
        let mut merged: Vec<Vec<u8>> = Vec::with_capacity(texts.len());
        for (text, is_joined) in texts.into_iter().zip(joins) {
            match merged.last_mut() {
                Some(last) if is_joined => last.extend_from_slice(text),
                _ => merged.push(text.to_vec()),
            }
        }
        merged.iter().map(|text| self.intern(text)).collect()
    }
}

struct Word {
    symbols: Vec<u32>,
    count: i64,
}

struct Learner {
    symbols: SymbolTable,
    words: Vec<Word>,
    statistics: PairStatistics,
}

impl Learner {
    fn new(counts: &WordCounts) -> Self {
        let mut symbols = SymbolTable::default();
        let mut text = Vec::new();
        let words: Vec<Word> = counts
            .iter()
            .map(|(word, count)| {
                let mut ids = Vec::new();
                for (start, end) in split_symbols(word) {
                    text.clear();
                    text.extend_from_slice(&word[start..end]);
                    if end == word.len() {
                        text.extend_from_slice(END_OF_WORD);
                    }
                    ids.push(symbols.intern(&text));
                }
                Word { symbols: ids, count: count as i64 }
            })
            .collect();
        let mut statistics = PairStatistics::default();
        for (number, word) in (0..).zip(&words) {
            for pair in word.symbols.windows(2) {
                let texts = [pair[0], pair[1]].map(|symbol| symbols.text(symbol));
                let id = statistics.intern([pair[0], pair[1]], texts);
                statistics.add(id, number, word.count, 1);
            }
        }
        statistics.finish_counting();
        Learner { symbols, words, statistics }
    }

    /// Replaces the pair by its symbol in all words that have it, and updates the counts of
    /// the pairs around it.
    fn merge(&mut self, pair: PairId) {
        let [left, right] = self.statistics.symbols(pair);
        let joined_text = [&**self.symbols.text(left), self.symbols.text(right)].concat();
        let joined = self.symbols.intern(&joined_text);
        for number in self.statistics.begin_merge(pair) {
            let word = &mut self.words[number as usize];
            let has_white_space =
                word.symbols.iter().any(|&symbol| self.symbols.have_white_space[symbol as usize]);
            let merged = if has_white_space {
                self.symbols.replace_in_text(&word.symbols, [left, right])
            } else {
                replace_pair(&word.symbols, [left, right], joined)
            };
            let old = std::mem::replace(&mut word.symbols, merged);
            let mut change = |pair: [u32; 2], sign: i64| {
                let texts = pair.map(|symbol| self.symbols.text(symbol));
                let id = self.statistics.intern(pair, texts);
                self.statistics.add(id, number, sign * word.count, sign as i32);
            };
            remove_old_pairs(&old, [left, right], |pair| change(pair, -1));
            add_new_pairs(&word.symbols, joined, |pair| change(pair, 1));
        }
    }
}

/// Returns the symbols of a word with each `pair`, from left to right, replaced by `joined`.
pub(crate) fn replace_pair(symbols: &[u32], pair: [u32; 2], joined: u32) -> Vec<u32> {
    let mut merged = Vec::with_capacity(symbols.len());
    let mut rest = symbols;
    loop {
        rest = match rest {
            [first, second, after @ ..] if [*first, *second] == pair => {
                merged.push(joined);
                after
            }
            [first, after @ ..] => {
                merged.push(*first);
                after
            }
            [] => return merged,
        };
    }
}

/// Calls `remove` with each pair of the old word that overlaps an occurrence of the merged pair. If
/// two occurrences follow each other, the pair between them is removed once.
fn remove_old_pairs(old: &[u32], [first, second]: [u32; 2], mut remove: impl FnMut([u32; 2])) {
    let mut at = 0;
    while let Some(found) = old[at..].iter().position(|&symbol| symbol == first) {
        at += found;
        if old.get(at + 1) != Some(&second) {
            at += 1;
            continue;
        }
        if at > 0 {
            remove([old[at - 1], first]);
        }
        if let Some(&next) = old.get(at + 2)
            && (next != first || old.get(at + 3) != Some(&second))
        {
            remove([second, next]);
        }
        at += 2;
    }
}

/// Calls `add` with each pair of the new word that contains the symbol `joined`, even if the symbol
/// was there before the merge. The pair of two such symbols in a row is added once.
fn add_new_pairs(new: &[u32], joined: u32, mut add: impl FnMut([u32; 2])) {
    for (at, _) in new.iter().enumerate().filter(|&(_, &symbol)| symbol == joined) {
        if at > 0 {
            add([new[at - 1], joined]);
        }
        if let Some(&next) = new.get(at + 1)
            && next != joined
        {
            add([joined, next]);
        }
    }
}
