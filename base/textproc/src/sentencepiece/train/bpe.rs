//! Learner of BPE pieces by SentencePiece's rules: the most frequent pair of neighbours becomes a
//! piece. Ties go to the shortest pair, then to the first in byte order, then to the one with the
//! shorter left half.
//!
//! All pairs are counted once. After a merge, only the counts that change are updated, so they stay
//! exact. In `aaa` the pair `a a` counts twice. If no pair is left, learning ends; `spm_train`
//! (0.2.3) adds pairs that no longer occur.

use std::collections::BinaryHeap;
use std::rc::Rc;

use hashbrown::HashMap;

use super::ScoredPiece;
use super::alphabet::{Alphabet, Fragment, characters};
use super::piece_rules::longest_piece_len;
use crate::bpe::replace_pair;

/// Learns `num_pieces` pieces, or fewer if no pair is left: the merges in order, then the
/// characters. Scores are negative ranks. `num_pieces` must be at least the number of characters.
///
/// `progress` gets the number of learned merges and the number of requested ones. Returns `None` if
/// it returns false.
pub fn learn(
    alphabet: &Alphabet,
    fragments: &[Fragment],
    num_pieces: usize,
    progress: &mut impl FnMut(u64, u64) -> bool,
) -> Option<Vec<ScoredPiece>> {
    let mut learner = PairMerger::new(fragments);
    let num_merges = num_pieces - alphabet.len();
    let mut texts: Vec<Rc<[u8]>> = Vec::new();
    while texts.len() < num_merges {
        let Some((symbol, is_new)) = learner.merge_best() else { break };
        if is_new {
            texts.push(Rc::clone(&learner.symbols[symbol as usize]));
        }
        if texts.len().is_multiple_of(64) && !progress(texts.len() as u64, num_merges as u64) {
            return None;
        }
    }
    let merges = texts.iter().map(|text| &**text);
    let all = merges.chain(alphabet.sorted().into_iter().map(|(character, _)| character));
    fn rank((rank, text): (usize, &[u8])) -> ScoredPiece {
        ScoredPiece { text: text.into(), score: -(rank as f64) }
    }
    Some(all.enumerate().map(rank).collect())
}

#[derive(Default)]
struct Pair {
    count: i64,
    /// The words that contain the pair or contained it, with repetitions; empty if the pair must
    /// not be a piece.
    words: Vec<u32>,
    /// The joined text; `None` if it must not be a piece.
    text: Option<Rc<[u8]>>,
}

/// A candidate for merging; the greatest is merged next.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    num_chars: std::cmp::Reverse<usize>,
    text: std::cmp::Reverse<Rc<[u8]>>,
    /// The length of the left half in bytes.
    left_len: std::cmp::Reverse<usize>,
    pair: [u32; 2],
}

struct PairMerger {
    symbols: Vec<Rc<[u8]>>,
    ids: HashMap<Rc<[u8]>, u32>,
    words: Vec<(Vec<u32>, i64)>,
    pairs: HashMap<[u32; 2], Pair>,
    /// The candidates, some of them outdated: one whose count is no longer the pair's is skipped.
    queue: BinaryHeap<Candidate>,
}

impl PairMerger {
    fn new(fragments: &[Fragment]) -> Self {
        let mut merger = PairMerger {
            symbols: Vec::new(),
            ids: HashMap::new(),
            words: Vec::new(),
            pairs: HashMap::new(),
            queue: BinaryHeap::new(),
        };
        for fragment in fragments {
            let ids = characters(fragment.text).map(|character| merger.intern(character).0);
            let ids = ids.collect();
            merger.words.push((ids, fragment.count as i64));
        }
        let mut changed = Vec::new();
        for word in 0..merger.words.len() {
            let (symbols, count) = std::mem::take(&mut merger.words[word]);
            for pair in pairs_of(&symbols) {
                merger.change(pair, word as u32, count);
                changed.push(pair);
            }
            merger.words[word] = (symbols, count);
        }
        merger.queue_changed(changed);
        merger
    }

    /// Returns the symbol of a text, adding it if it is new, and whether it is new.
    fn intern(&mut self, text: &[u8]) -> (u32, bool) {
        if let Some(&id) = self.ids.get(text) {
            return (id, false);
        }
        let (id, text) = (self.symbols.len() as u32, Rc::<[u8]>::from(text));
        self.ids.insert(Rc::clone(&text), id);
        self.symbols.push(text);
        (id, true)
    }

    /// Adds `count` to the count of a pair in the word with the index `word`.
    fn change(&mut self, pair: [u32; 2], word: u32, count: i64) {
        let symbols = &self.symbols;
        let entry = self.pairs.entry(pair).or_insert_with(|| {
            let text = pair.map(|symbol| &*symbols[symbol as usize]).concat();
            let text = (longest_piece_len(&text) == text.len()).then(|| text.into());
            Pair { text, ..Pair::default() }
        });
        entry.count += count;
        if count > 0 && entry.text.is_some() {
            entry.words.push(word);
        }
    }

    /// Queues the pairs whose counts changed, and removes those that no longer occur.
    fn queue_changed(&mut self, mut changed: Vec<[u32; 2]>) {
        changed.sort_unstable();
        changed.dedup();
        for pair in changed {
            let Some(entry) = self.pairs.get(&pair) else { continue };
            if entry.count == 0 {
                self.pairs.remove(&pair);
            } else if let Some(text) = &entry.text {
                self.queue.push(Candidate {
                    count: entry.count,
                    num_chars: std::cmp::Reverse(characters(text).count()),
                    text: std::cmp::Reverse(Rc::clone(text)),
                    left_len: std::cmp::Reverse(self.symbols[pair[0] as usize].len()),
                    pair,
                });
            }
        }
    }

    /// Merges the most frequent pair that may be a piece. Returns the merged symbol and whether the
    /// symbol is new; `None` if no pair is left.
    fn merge_best(&mut self) -> Option<(u32, bool)> {
        let (candidate, pair) = loop {
            let candidate = self.queue.pop()?;
            let pair = candidate.pair;
            if self.pairs.get(&pair).is_some_and(|entry| entry.count == candidate.count) {
                break (candidate, pair);
            }
        };
        let (joined, is_new) = self.intern(&candidate.text.0);
        let mut words = self.pairs.get_mut(&pair).map(|e| std::mem::take(&mut e.words))?;
        words.sort_unstable();
        words.dedup();
        let mut changed = Vec::new();
        for word in words {
            let (symbols, count) = std::mem::take(&mut self.words[word as usize]);
            let merged = replace_pair(&symbols, pair, joined);
            if merged.len() < symbols.len() {
                self.count_changes(&symbols, &merged, (word, count), &mut changed);
            }
            self.words[word as usize] = (merged, count);
        }
        self.queue_changed(changed);
        Some((joined, is_new))
    }

    /// Updates counts after the symbols of a word changed from `old` to `new`. Only pairs between
    /// the common beginning and the common end are counted; they are appended to `changed`.
    fn count_changes(
        &mut self,
        old: &[u32],
        new: &[u32],
        (word, count): (u32, i64),
        changed: &mut Vec<[u32; 2]>,
    ) {
        let [old, new] = [old, new].map(|symbols| pairs_of(symbols).collect::<Vec<_>>());
        let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - before;
        let after =
            old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        for &pair in &old[before..old.len() - after] {
            self.change(pair, word, -count);
            changed.push(pair);
        }
        for &pair in &new[before..new.len() - after] {
            self.change(pair, word, count);
            changed.push(pair);
        }
    }
}

/// Returns the pairs of neighbouring symbols.
fn pairs_of(symbols: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    symbols.windows(2).map(|pair| [pair[0], pair[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WordCounts;
    use proptest::prelude::*;

    /// The obvious algorithm: count all pairs anew before each merge.
    fn naive_merges(words: &[(String, u64)], num_merges: usize) -> Vec<String> {
        let mut words: Vec<(Vec<String>, u64)> = words
            .iter()
            .map(|(word, count)| (word.chars().map(String::from).collect(), *count))
            .collect();
        let mut merges: Vec<String> = Vec::new();
        while merges.len() < num_merges {
            let mut counts: HashMap<(String, String), u64> = HashMap::new();
            for (word, count) in &words {
                for pair in word.windows(2) {
                    *counts.entry((pair[0].clone(), pair[1].clone())).or_default() += count;
                }
            }
            let order = |((left, right), count): (&(String, String), &u64)| {
                let text = format!("{left}{right}");
                std::cmp::Reverse((
                    *count,
                    std::cmp::Reverse((text.chars().count(), text, left.clone())),
                ))
            };
            let mut ordered: Vec<_> = counts.iter().collect();
            ordered.sort_by_cached_key(|&entry| order(entry));
            let Some(((left, right), _)) = ordered.first() else { break };
            for (word, _) in &mut words {
                let mut at = 0;
                while at + 1 < word.len() {
                    if word[at] == *left && word[at + 1] == *right {
                        word[at] = format!("{left}{right}");
                        word.remove(at + 1);
                    }
                    at += 1;
                }
            }
            let joined = format!("{left}{right}");
            if !merges.contains(&joined) {
                merges.push(joined);
            }
        }
        merges
    }

    proptest! {
        #[test]
        fn incremental_counts_equal_recounting(
            words in proptest::collection::btree_map("[abc]{1,10}", 1u64..4, 1..8),
        ) {
            let words: Vec<(String, u64)> = words.into_iter().collect();
            let mut counts = WordCounts::default();
            words.iter().for_each(|(word, count)| counts.add(word.as_bytes(), *count));
            let alphabet = Alphabet::new(&counts, 1.0);
            let fragments = alphabet.split_words(&counts);
            let num_pieces = alphabet.len() + 12;
            let pieces = learn(&alphabet, &fragments, num_pieces, &mut |_, _| true).unwrap();
            let texts = pieces.iter().map(|piece| String::from_utf8(piece.text.to_vec()).unwrap());
            let merges: Vec<String> = texts.take(pieces.len() - alphabet.len()).collect();
            prop_assert_eq!(merges, naive_merges(&words, 12));
        }
    }
}
