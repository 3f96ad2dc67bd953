//! Byte pair encoding with a file of codes (Sennrich et al. 2016), as subword-nmt applies it:
//! words become characters, and neighbours are joined, the pair that the file has first
//! before all others.
//!
//! All pairs of one code are joined from left to right before the next is looked for. That
//! tells this from [`SentencePiece`](crate::SentencePiece)'s way, which joins one at a time
//! and compares scores anew after each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::{Error, Result};

/// What a word ends with among symbols.
const END_OF_WORD: &[u8] = b"</w>";

/// No symbol of any code.
const UNKNOWN_SYMBOL: u32 = u32::MAX;

/// No place in a word.
const NO_NODE: usize = usize::MAX;

/// Codes: pairs of symbols in the order in which they are joined.
#[derive(Clone, Debug)]
pub struct BpeCodes {
    symbols: HashMap<Box<[u8]>, u32>,
    /// The place of a pair among the codes, and what it becomes.
    merges: HashMap<(u32, u32), (u32, u32)>,
    /// Whether the end of a word is a symbol by itself (version 0.1) or goes with the last
    /// character.
    has_separate_end_of_word: bool,
}

/// What cutting a word needs, kept from word to word.
#[derive(Clone, Debug, Default)]
pub struct BpeScratch {
    nodes: Vec<SymbolNode>,
    /// Pairs that may be joined: place of the code, place of the left part.
    queue: BinaryHeap<Reverse<(u32, usize)>>,
    new_merges: Vec<Reverse<(u32, usize)>>,
    symbol_bytes: Vec<u8>,
}

/// A part of a word.
#[derive(Clone, Copy, Debug)]
struct SymbolNode {
    symbol: u32,
    start: usize,
    end: usize,
    previous: usize,
    next: usize,
    is_merged: bool,
}

impl BpeCodes {
    /// Reads a file of codes, whose name is for messages: two symbols a line, behind a first
    /// line `#version: 0.2` if the end of a word goes with its last character.
    ///
    /// # Errors
    /// [`Error::Format`] with the line that has not two symbols or names another version.
    pub fn from_text(text: &[u8], name: &str) -> Result<Self> {
        let mut codes = BpeCodes {
            symbols: HashMap::new(),
            merges: HashMap::new(),
            has_separate_end_of_word: true,
        };
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = if text.is_empty() { 0 } else { usize::MAX };
        for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n').take(lines)) {
            let line = line.trim_ascii();
            if let Some(version) = line.strip_prefix(b"#version:").filter(|_| number == 1) {
                codes.has_separate_end_of_word = match version.trim_ascii() {
                    b"0.1" => true,
                    b"0.2" => false,
                    other => {
                        let other = String::from_utf8_lossy(&other[..other.len().min(20)]);
                        let reason = format!("codes of version {other}; 0.1 and 0.2 are known");
                        return Err(Error::format(name, number, reason));
                    }
                };
                continue;
            }
            let mut symbols = line.split(|&byte| byte == b' ');
            let (Some(left @ [_, ..]), Some(right @ [_, ..]), None) =
                (symbols.next(), symbols.next(), symbols.next())
            else {
                let reason = "a code is two symbols with a space between them";
                return Err(Error::format(name, number, reason));
            };
            let pair = (codes.intern_symbol(left), codes.intern_symbol(right));
            let joined = codes.intern_symbol(&[left, right].concat());
            let place = codes.merges.len() as u32;
            codes.merges.entry(pair).or_insert((place, joined));
        }
        Ok(codes)
    }

    /// How many pairs there are.
    pub fn num_merges(&self) -> usize {
        self.merges.len()
    }

    fn intern_symbol(&mut self, symbol: &[u8]) -> u32 {
        let new = self.symbols.len() as u32;
        *self.symbols.entry(symbol.into()).or_insert(new)
    }

    fn find_symbol(&self, symbol: &[u8]) -> u32 {
        self.symbols.get(symbol).copied().unwrap_or(UNKNOWN_SYMBOL)
    }

    /// Calls `found` with every piece of `word`, a word of a text without blanks, and whether
    /// more of them follow.
    pub fn segment_word<'a>(
        &self,
        word: &'a [u8],
        work: &mut BpeScratch,
        mut found: impl FnMut(&'a [u8], bool),
    ) {
        self.split_characters(word, work);
        let BpeScratch { nodes: parts, queue: pairs, new_merges: new, .. } = work;
        pairs.clear();
        let starts = (0..parts.len())
            .filter_map(|left| Some(Reverse((self.merge_rank(parts, left)?, left))));
        pairs.extend(starts);
        while let Some(&Reverse((place, _))) = pairs.peek() {
            // What the others of this code become is looked at when all are done.
            while let Some(&Reverse((same, left))) = pairs.peek()
                && same == place
            {
                pairs.pop();
                if self.merge_rank(parts, left) == Some(place) {
                    self.merge_with_next(parts, left);
                    let changed = [parts[left].previous, left];
                    let changed = changed.into_iter().filter(|&left| left != NO_NODE);
                    new.extend(
                        changed.filter_map(|left| {
                            Some(Reverse((self.merge_rank(parts, left)?, left)))
                        }),
                    );
                }
            }
            pairs.extend(new.drain(..));
        }
        // The end alone is no piece.
        let whole = |part: &&SymbolNode| !part.is_merged && part.start < part.end;
        for part in parts.iter().filter(whole) {
            found(&word[part.start..part.end], part.end < word.len());
        }
    }

    /// The characters of a word as its parts. A byte that is in no character is one.
    fn split_characters(&self, word: &[u8], work: &mut BpeScratch) {
        let BpeScratch { nodes: parts, symbol_bytes: symbol, .. } = work;
        parts.clear();
        let mut push = |symbol: u32, start: usize, end: usize| {
            let at = parts.len();
            let previous = at.checked_sub(1).unwrap_or(NO_NODE);
            parts.push(SymbolNode { symbol, start, end, previous, next: at + 1, is_merged: false });
        };
        let mut start = 0;
        for chunk in word.utf8_chunks() {
            let characters = chunk.valid().chars().map(char::len_utf8);
            for length in characters.chain(chunk.invalid().iter().map(|_| 1)) {
                let end = start + length;
                symbol.clear();
                symbol.extend_from_slice(&word[start..end]);
                if end == word.len() && !self.has_separate_end_of_word {
                    symbol.extend_from_slice(END_OF_WORD);
                }
                push(self.find_symbol(symbol), start, end);
                start = end;
            }
        }
        if self.has_separate_end_of_word && !word.is_empty() {
            push(self.find_symbol(END_OF_WORD), word.len(), word.len());
        }
        if let Some(last) = parts.last_mut() {
            last.next = NO_NODE;
        }
    }

    /// The place of the code that joins a part with the next one.
    fn merge_rank(&self, parts: &[SymbolNode], left: usize) -> Option<u32> {
        let part = &parts[left];
        if part.is_merged || part.next == NO_NODE {
            return None;
        }
        let pair = (part.symbol, parts[part.next].symbol);
        self.merges.get(&pair).map(|&(place, _)| place)
    }

    /// Joins a part with the next one, which is no more then.
    fn merge_with_next(&self, parts: &mut [SymbolNode], left: usize) {
        let right = parts[left].next;
        let gone = parts[right];
        if let Some(&(_, symbol)) = self.merges.get(&(parts[left].symbol, gone.symbol)) {
            parts[left].symbol = symbol;
        }
        parts[left].end = gone.end;
        parts[left].next = gone.next;
        parts[right].is_merged = true;
        if gone.next != NO_NODE {
            parts[gone.next].previous = left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(codes: &str, word: &str) -> String {
        let codes = BpeCodes::from_text(codes.as_bytes(), "codes").unwrap();
        let mut pieces = Vec::new();
        codes.segment_word(word.as_bytes(), &mut BpeScratch::default(), |piece, more| {
            let mark = if more { "@@" } else { "" };
            pieces.push(format!("{}{mark}", String::from_utf8_lossy(piece)));
        });
        pieces.join(" ")
    }

    #[test]
    fn pairs_are_joined_in_the_order_of_the_file() {
        let codes = "#version: 0.2\nl o\nlo w</w>\ne r</w>\nn e\n";
        for (word, pieces) in [
            ("low", "low"),
            ("lower", "lo@@ w@@ er"),
            ("newer", "ne@@ w@@ er"),
            ("wolo", "w@@ o@@ l@@ o"),
            ("x", "x"),
            ("", ""),
        ] {
            assert_eq!(segment(codes, word), pieces, "{word}");
        }
        // The end goes with the last character, which is another symbol then.
        assert_eq!(segment(&codes.replace("l o\n", "l o</w>\n"), "wolo"), "w@@ o@@ lo");
    }

    #[test]
    fn the_first_version_has_ends_of_their_own() {
        let codes = "l o\nlo w\ne r\ner </w>\n";
        assert_eq!(segment(codes, "lower"), "low@@ er");
        assert_eq!(segment(codes, "era"), "er@@ a");
        assert_eq!(segment(&format!("#version: 0.1\n{codes}"), "er"), "er");
    }

    #[test]
    fn pairs_that_overlap_are_joined_from_the_left() {
        let codes = "#version: 0.2\nx x\nxx xx\nxx x</w>\n";
        assert_eq!(segment(codes, "xxxxx"), "xxxx@@ x");
        assert_eq!(segment(codes, "xxx"), "xxx");
        // All of one code come before what they make possible, even if that stands first.
        let codes = "#version: 0.2\nabc a\nb c\na bc\n";
        assert_eq!(segment(codes, "abcabcz"), "abc@@ abc@@ z");
    }

    #[test]
    fn wrong_files_are_refused() {
        for (text, line) in
            [("#version: 0.3\na b", 1), ("a b\nc\n", 2), ("a b\n\nc d\n", 2), ("a b c\n", 1)]
        {
            let error = BpeCodes::from_text(text.as_bytes(), "codes").unwrap_err().to_string();
            assert!(error.starts_with(&format!("codes, line {line}:")), "{error}");
        }
        assert_eq!(BpeCodes::from_text(b"", "codes").unwrap().num_merges(), 0);
        assert_eq!(BpeCodes::from_text(b"a b\na b\nb a\n", "codes").unwrap().num_merges(), 2);
    }

    #[test]
    fn long_words_take_no_time() {
        let word = "ab".repeat(200_000);
        assert_eq!(segment("#version: 0.2\na b\nab ab\n", &word).matches("@@").count(), 100_001);
    }

    /// The obvious way: all parts are looked through for the code that comes first.
    fn naive_bpe(codes: &[(String, String)], word: &str) -> Vec<String> {
        let mut parts: Vec<String> = word.chars().map(String::from).collect();
        if let Some(last) = parts.last_mut() {
            last.push_str("</w>");
        }
        let place =
            |pair: &[String]| codes.iter().position(|(l, r)| *l == pair[0] && *r == pair[1]);
        while let Some(first) = parts.windows(2).filter_map(place).min() {
            let (mut at, mut joined) = (0, Vec::new());
            while at < parts.len() {
                let pair = parts.get(at..at + 2).filter(|pair| place(pair) == Some(first));
                joined.push(pair.map_or_else(|| parts[at].clone(), <[String]>::concat));
                at += if pair.is_some() { 2 } else { 1 };
            }
            parts = joined;
        }
        parts.iter().map(|part| part.trim_end_matches("</w>").to_owned()).collect()
    }

    proptest! {
        #[test]
        fn heap_merges_equal_naive_merges(
            codes in proptest::collection::vec(("[ab]{1,3}", "[ab]{1,3}", any::<bool>()), 0..12),
            word in "[ab]{0,16}",
        ) {
            let with_end = |(left, right, end): &(String, String, bool)| {
                (left.clone(), if *end { format!("{right}</w>") } else { right.clone() })
            };
            let codes: Vec<(String, String)> = codes.iter().map(with_end).collect();
            let lines = codes.iter().map(|(left, right)| format!("{left} {right}\n"));
            let text = format!("#version: 0.2\n{}", lines.collect::<String>());
            let found = segment(&text, &word).replace("@@", "");
            prop_assert_eq!(found, naive_bpe(&codes, &word).join(" "));
        }

        #[test]
        fn any_bytes_are_codes_or_refused_and_pieces_are_the_word(
            text in any::<Vec<u8>>(), word in any::<Vec<u8>>(),
        ) {
            let _ = BpeCodes::from_text(&text, "codes");
            let codes = BpeCodes::from_text(b"#version: 0.2\na b\n", "codes").unwrap();
            let mut all = Vec::new();
            codes.segment_word(&word, &mut BpeScratch::default(), |piece, more| {
                all.extend_from_slice(piece);
                assert_eq!(more, all.len() < word.len());
            });
            prop_assert_eq!(all, word);
        }
    }
}
