//! Byte pair encoding with a file of codes (Sennrich et al. 2016), as subword-nmt and fastBPE apply
//! it: words are split into characters, and neighbouring symbols are merged, in the order of the
//! pairs in the file.
//!
//! All occurrences of one pair are joined from left to right before the next pair is chosen.
//! [`SentencePiece`](crate::SentencePiece) differs: it joins one occurrence at a time, and then
//! compares scores again.

mod learn;
mod pair_statistics;
mod white_space;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::text_file::BYTE_ORDER_MARK;
use crate::{Error, Result};
pub(crate) use learn::replace_pair;
pub use learn::{BpeLearnOptions, LearnedBpe, add_bpe_line, learn_bpe};

/// The end-of-word marker of symbols.
const END_OF_WORD: &[u8] = b"</w>";

/// The id of all symbols that occur in no merge.
const UNKNOWN_SYMBOL: u32 = u32::MAX;

/// The link to a missing neighbour.
const NO_NODE: usize = usize::MAX;

/// BPE merges: pairs of symbols in the order in which they are joined.
///
/// # Examples
/// ```
/// use miriam_textproc::{BpeCodes, BpeScratch};
///
/// let codes = BpeCodes::from_text(b"#version: 0.2\nl o\nlo w</w>\n", "codes")?;
/// let mut subwords = Vec::new();
/// codes.segment_word(b"slow", &mut BpeScratch::default(), |subword, _| {
///     subwords.push(subword.to_vec());
/// });
/// assert_eq!(subwords, [&b"s"[..], b"low"]);
/// # Ok::<(), miriam_textproc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BpeCodes {
    symbols: HashMap<Box<[u8]>, u32>,
    /// The rank of each pair of symbols in the file, and the merged symbol.
    merges: HashMap<(u32, u32), (u32, u32)>,
    /// Whether the end of a word is a separate symbol (version 0.1) or part of the last
    /// character's symbol.
    has_separate_end_of_word: bool,
}

/// Buffers of [`BpeCodes::segment_word`], reused for all words.
#[derive(Clone, Debug, Default)]
pub struct BpeScratch {
    nodes: Vec<SymbolNode>,
    /// Candidate merges: rank, index of the left node.
    queue: BinaryHeap<Reverse<(u32, usize)>>,
    new_merges: Vec<Reverse<(u32, usize)>>,
    symbol_bytes: Vec<u8>,
}

/// A symbol of a word, in a doubly linked list.
#[derive(Clone, Copy, Debug)]
struct SymbolNode {
    symbol: u32,
    start: usize,
    end: usize,
    previous: usize,
    next: usize,
    /// Whether the node was merged into the one before it, so that it is no longer in the list.
    is_merged: bool,
}

impl BpeCodes {
    /// Parses a file of codes: two symbols per line, after a first line `#version: 0.2` if the end
    /// of a word is part of its last character. In files of fastBPE it is part of it too; they have
    /// a number of occurrences after each pair, and no version. A byte order mark at the start is
    /// skipped. `name` is the file's name in error messages.
    ///
    /// # Errors
    /// [`Error::Format`] with the line if a line does not have two symbols, if only some lines have
    /// a number after them, or if the first line gives an unsupported version.
    pub fn from_text(text: &[u8], name: &str) -> Result<Self> {
        let mut codes = BpeCodes {
            symbols: HashMap::new(),
            merges: HashMap::new(),
            has_separate_end_of_word: true,
        };
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = if text.is_empty() { 0 } else { usize::MAX };
        let mut has_counts = false;
        for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n').take(lines)) {
            let line = trim_line(line);
            if let Some(version) = line.strip_prefix(b"#version:").filter(|_| number == 1) {
                codes.has_separate_end_of_word = match version.trim_ascii() {
                    b"0.1" => true,
                    b"0.2" => false,
                    other => {
                        let other = String::from_utf8_lossy(&other[..other.len().min(20)]);
                        let reason =
                            format!("version {other} is not supported; expected 0.1 or 0.2");
                        return Err(Error::format(name, number, reason));
                    }
                };
                continue;
            }
            let mut fields = line.splitn(3, |&byte| byte == b' ');
            let (left, right, count) = (fields.next(), fields.next(), fields.next());
            let is_counted = count.is_some_and(|count| count.iter().all(u8::is_ascii_digit));
            if number == 1 && is_counted {
                has_counts = true;
                codes.has_separate_end_of_word = false;
            }
            let (Some(left @ [_, ..]), Some(right @ [_, ..]), true) =
                (left, right, is_counted == has_counts && count.is_some() == has_counts)
            else {
                let reason = if has_counts {
                    "expected two symbols and a number with spaces between them"
                } else {
                    "expected two symbols with a space between them"
                };
                return Err(Error::format(name, number, reason));
            };
            let pair = (codes.intern_symbol(left), codes.intern_symbol(right));
            let joined = codes.intern_symbol(&[left, right].concat());
            let rank = codes.merges.len() as u32;
            codes.merges.entry(pair).or_insert((rank, joined));
        }
        Ok(codes)
    }

    /// Returns the number of merges.
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

    /// Segments `word`, which has no white space, and calls `found` with each subword and
    /// whether more of them follow.
    pub fn segment_word<'a>(
        &self,
        word: &'a [u8],
        work: &mut BpeScratch,
        mut found: impl FnMut(&'a [u8], bool),
    ) {
        self.split_characters(word, work);
        let BpeScratch { nodes, queue, new_merges, .. } = work;
        queue.clear();
        let starts = (0..nodes.len())
            .filter_map(|left| Some(Reverse((self.merge_rank(nodes, left)?, left))));
        queue.extend(starts);
        while let Some(&Reverse((rank, _))) = queue.peek() {
            // Merges of the new symbols are queued after all merges of this rank.
            while let Some(&Reverse((same, left))) = queue.peek()
                && same == rank
            {
                queue.pop();
                if self.merge_rank(nodes, left) == Some(rank) {
                    self.merge_with_next(nodes, left);
                    let changed = [nodes[left].previous, left];
                    let changed = changed.into_iter().filter(|&left| left != NO_NODE);
                    new_merges.extend(
                        changed.filter_map(|left| {
                            Some(Reverse((self.merge_rank(nodes, left)?, left)))
                        }),
                    );
                }
            }
            queue.extend(new_merges.drain(..));
        }
        // The end-of-word symbol alone has no text.
        for node in nodes.iter().filter(|node| !node.is_merged && node.start < node.end) {
            found(&word[node.start..node.end], node.end < word.len());
        }
    }

    /// Splits a word into its characters.
    fn split_characters(&self, word: &[u8], work: &mut BpeScratch) {
        let BpeScratch { nodes, symbol_bytes, .. } = work;
        nodes.clear();
        let mut push = |symbol: u32, start: usize, end: usize| {
            let at = nodes.len();
            let previous = at.checked_sub(1).unwrap_or(NO_NODE);
            nodes.push(SymbolNode { symbol, start, end, previous, next: at + 1, is_merged: false });
        };
        for (start, end) in split_symbols(word) {
            symbol_bytes.clear();
            symbol_bytes.extend_from_slice(&word[start..end]);
            if end == word.len() && !self.has_separate_end_of_word {
                symbol_bytes.extend_from_slice(END_OF_WORD);
            }
            push(self.find_symbol(symbol_bytes), start, end);
        }
        if self.has_separate_end_of_word && !word.is_empty() {
            push(self.find_symbol(END_OF_WORD), word.len(), word.len());
        }
        if let Some(last) = nodes.last_mut() {
            last.next = NO_NODE;
        }
    }

    /// Returns the rank of the merge of a node with the next one.
    fn merge_rank(&self, nodes: &[SymbolNode], left: usize) -> Option<u32> {
        let node = &nodes[left];
        if node.is_merged || node.next == NO_NODE {
            return None;
        }
        let pair = (node.symbol, nodes[node.next].symbol);
        self.merges.get(&pair).map(|&(rank, _)| rank)
    }

    /// Merges the next node into a node, and removes the next node from the list.
    fn merge_with_next(&self, nodes: &mut [SymbolNode], left: usize) {
        let right = nodes[left].next;
        let removed = nodes[right];
        if let Some(&(_, symbol)) = self.merges.get(&(nodes[left].symbol, removed.symbol)) {
            nodes[left].symbol = symbol;
        }
        nodes[left].end = removed.end;
        nodes[left].next = removed.next;
        nodes[right].is_merged = true;
        if removed.next != NO_NODE {
            nodes[removed.next].previous = left;
        }
    }
}

/// Removes spaces and line ends from both ends of a line. Other white space may be a symbol.
fn trim_line(line: &[u8]) -> &[u8] {
    fn is_text(byte: &u8) -> bool {
        !b" \r\n".contains(byte)
    }
    let start = line.iter().position(is_text).unwrap_or(line.len());
    let end = line.iter().rposition(is_text).map_or(start, |last| last + 1);
    &line[start..end]
}

/// Returns the byte ranges of a word's characters. An invalid byte is a symbol too.
fn split_symbols(word: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let lengths = word.utf8_chunks().flat_map(|chunk| {
        let characters = chunk.valid().chars().map(char::len_utf8);
        characters.chain(chunk.invalid().iter().map(|_| 1))
    });
    let mut start = 0;
    lengths.map(move |length| {
        start += length;
        (start - length, start)
    })
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
        // The end of the word is part of its last character, which is then another symbol.
        assert_eq!(segment(&codes.replace("l o\n", "l o</w>\n"), "wolo"), "w@@ o@@ lo");
    }

    #[test]
    fn version_0_1_has_a_separate_end_of_word() {
        let codes = "l o\nlo w\ne r\ner </w>\n";
        assert_eq!(segment(codes, "lower"), "low@@ er");
        assert_eq!(segment(codes, "era"), "er@@ a");
        assert_eq!(segment(&format!("#version: 0.1\n{codes}"), "er"), "er");
    }

    #[test]
    fn a_byte_order_mark_before_codes_is_skipped() {
        let codes = "#version: 0.2\nl o\nlo w</w>\n";
        assert_eq!(segment(&format!("\u{feff}{codes}"), "low"), "low");
        assert_eq!(segment("\u{feff}l o\nlo w\n", "low"), "low");
    }

    #[test]
    fn codes_of_fastbpe_have_counts() {
        let codes = "l o 90\nlo w</w> 41\ne r</w> 7\n";
        for (word, pieces) in [("low", "low"), ("lower", "lo@@ w@@ er"), ("era", "e@@ r@@ a")] {
            assert_eq!(segment(codes, word), pieces, "{word}");
        }
    }

    #[test]
    fn pairs_that_overlap_are_joined_from_the_left() {
        let codes = "#version: 0.2\nx x\nxx xx\nxx x</w>\n";
        assert_eq!(segment(codes, "xxxxx"), "xxxx@@ x");
        assert_eq!(segment(codes, "xxx"), "xxx");
        // All occurrences of one pair are joined before pairs that contain the new symbol, even if
        // such a pair comes earlier in the file.
        let codes = "#version: 0.2\nabc a\nb c\na bc\n";
        assert_eq!(segment(codes, "abcabcz"), "abc@@ abc@@ z");
    }

    #[test]
    fn wrong_files_are_rejected() {
        for (text, line) in [
            ("#version: 0.3\na b", 1),
            ("a b\nc\n", 2),
            ("a b\n\nc d\n", 2),
            ("a b c\n", 1),
            ("#version: 0.2\na b 1\n", 2),
            ("a b\nb c 1\n", 2),
            ("a b 1\nb c\n", 2),
            ("a b 1\nb c x\n", 2),
            ("a b 1 2\n", 1),
        ] {
            let error = BpeCodes::from_text(text.as_bytes(), "codes").unwrap_err().to_string();
            assert!(error.starts_with(&format!("codes, line {line}:")), "{error}");
        }
        assert_eq!(BpeCodes::from_text(b"", "codes").unwrap().num_merges(), 0);
        assert_eq!(BpeCodes::from_text(b"a b\na b\nb a\n", "codes").unwrap().num_merges(), 2);
    }

    #[test]
    fn long_words_are_segmented_in_linear_time() {
        let word = "ab".repeat(200_000);
        assert_eq!(segment("#version: 0.2\na b\nab ab\n", &word).matches("@@").count(), 100_001);
    }

    /// The obvious algorithm: each round searches all symbols for the merge with the lowest rank.
    fn naive_bpe(codes: &[(String, String)], word: &str) -> Vec<String> {
        let mut parts: Vec<String> = word.chars().map(String::from).collect();
        if let Some(last) = parts.last_mut() {
            last.push_str("</w>");
        }
        let rank = |pair: &[String]| codes.iter().position(|(l, r)| *l == pair[0] && *r == pair[1]);
        while let Some(first) = parts.windows(2).filter_map(rank).min() {
            let (mut at, mut joined) = (0, Vec::new());
            while at < parts.len() {
                let pair = parts.get(at..at + 2).filter(|pair| rank(pair) == Some(first));
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
        fn any_bytes_are_codes_or_rejected_and_pieces_are_the_word(
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
