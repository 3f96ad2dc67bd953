//! The n-grams of KenLM's files as lists, for `dump` and for builders.
//!
//! A trie stores for each n-gram its oldest word and where its extensions begin; for probing files
//! see [`super::ngram_recovery`].

use std::path::{Path, PathBuf};

use miriam_storage::parallel;
use miriam_textio::{Vocabulary, display_name};

use super::ngram_recovery::RecoveredLevel;
use super::probing::ProbingFile;
use super::table::NgramTable;
use super::trie::TrieFile;
use super::unaligned::{f32_at, u32_at};
use super::vocabulary::KenlmVocabulary;
use crate::arpa::{MISSING_UNKNOWN_LOG10, Unigram};
use crate::level_source::{LevelNgrams, LevelReader, LevelSource};
use crate::model_head::ModelVocabulary;
use crate::ngram_index::SIGN;
use crate::{Error, LmWord, NO_EXTENSION, Result};

fn read_vocabulary(path: &Path, words: &KenlmVocabulary) -> Result<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for id in 0..words.num_words() as u32 {
        let Some(text) = words.word(LmWord(id)) else {
            if id > 0 {
                let reason = format!("expected {} words, found {id}", words.num_words());
                return Err(miriam_storage::Error::damaged(path, "words", reason).into());
            }
            return Err(Error::Unsupported {
                file: display_name(path),
                reason:
                    "the file does not hold its words, so its n-grams cannot be listed; build it \
                         again from the ARPA file, without build_binary's option -v"
                        .into(),
            });
        };
        if vocabulary.intern(text).0 != id {
            let reason = format!("the word {} is listed twice", String::from_utf8_lossy(text));
            return Err(miriam_storage::Error::damaged(path, "words", reason).into());
        }
    }
    Ok(vocabulary)
}

/// A reader of the orders of a trie.
pub struct TrieLevelReader {
    file: TrieFile,
    path: PathBuf,
}

/// Returns all n-grams of the trie `file`, which is at `path`.
pub fn trie_source(file: TrieFile, path: &Path) -> Result<LevelSource<TrieLevelReader>> {
    let vocabulary = read_vocabulary(path, &file.head.words)?;
    let unigrams = file.unigrams[..file.head.words.num_words()].iter();
    let unigrams = unigrams.map(|u| Unigram { log10: f32_at(u, 0), backoff: f32_at(u, 4) });
    let unigrams: Vec<Unigram> = unigrams.collect();
    let mut counts = vec![unigrams.len() as u64];
    counts.extend(&file.header.counts[1..]);
    let levels = TrieLevelReader { file, path: path.to_owned() };
    // A trie does not say whether the ARPA file had <unk>.
    Ok(LevelSource::new(display_name(path), counts, vocabulary, unigrams, true, levels))
}

impl TrieLevelReader {
    fn damaged<T>(&self, order: usize, reason: &str) -> Result<T> {
        Err(miriam_storage::Error::damaged(&self.path, &format!("{order}-grams"), reason).into())
    }
}

impl LevelReader for TrieLevelReader {
    fn read_level(&mut self, order: usize) -> Result<LevelNgrams> {
        let level = &self.file.levels[order - 2];
        let count = level.count as usize;
        let (parents, last) = match order {
            2 => {
                let words = self.file.head.words.num_words();
                (words, self.file.bigrams_of(words as u32 - 1).end)
            }
            _ => {
                let shorter = &self.file.levels[order - 3];
                (shorter.count as usize, shorter.children_of(shorter.count.saturating_sub(1)).end)
            }
        };
        let mut offsets = parallel::map(parents, |parent| match order {
            2 => self.file.bigrams_of(parent as u32).begin as usize,
            _ => self.file.levels[order - 3].children_of(parent as u64).begin as usize,
        });
        offsets.push(if parents == 0 { 0 } else { last as usize });
        if offsets[0] != 0 || offsets[parents] != count || !offsets.is_sorted() {
            return self.damaged(
                order,
                "the extensions of an n-gram do not follow those of the n-gram before",
            );
        }
        let oldest = parallel::map(count, |i| level.word_at(i as u64));
        let words = self.file.head.words.num_words() as u32;
        if parallel::any(count, |i| oldest[i] >= words) {
            return self.damaged(order, "a word is not in the vocabulary");
        }
        let unsorted = parallel::any(parents, |parent| {
            !oldest[offsets[parent]..offsets[parent + 1]].is_sorted_by(|a, b| a < b)
        });
        if unsorted {
            return self.damaged(order, "the words in front of one n-gram are not in order");
        }
        let log10 = parallel::map(count, |i| level.values_at(i as u64).0);
        let backoffs = if order == self.file.header.order() {
            Vec::new()
        } else {
            parallel::map(count, |i| level.values_at(i as u64).1)
        };
        Ok(LevelNgrams { log10, backoffs, oldest, offsets, keep: Vec::new() })
    }
}

/// A reader of the orders of a probing file.
pub struct ProbingLevelReader<const U: usize, const M: usize> {
    file: ProbingFile<U, M>,
    path: PathBuf,
    /// The n-grams of the previous order.
    shorter: RecoveredLevel,
}

/// Returns all n-grams of the probing file `file`, which is at `path`.
pub fn probing_source<const U: usize, const M: usize>(
    file: ProbingFile<U, M>,
    path: &Path,
) -> Result<LevelSource<ProbingLevelReader<U, M>>> {
    let vocabulary = read_vocabulary(path, &file.head.words)?;
    let entries = file.unigrams[..file.head.words.num_words()].iter();
    let unigrams: Vec<Unigram> = entries
        .map(|u| Unigram { log10: -f32_at(u, 0).abs() + 0.0, backoff: f32_at(u, 4) })
        .collect();
    // The values that KenLM gives to an <unk> that the ARPA file lacks.
    let unknown_added = file.header.counts[0] < unigrams.len() as u64
        && unigrams[0].log10 == MISSING_UNKNOWN_LOG10
        && unigrams[0].backoff == 0.0;
    let mut counts = vec![unigrams.len() as u64 - u64::from(unknown_added)];
    counts.extend(file.middle.iter().map(|table| count_entries(table)));
    counts.push(count_entries(&file.longest));
    let shorter = RecoveredLevel::unigrams(
        file.unigrams[..file.head.words.num_words()].iter().map(|u| extension_flags(u, 0)),
    );
    let levels = ProbingLevelReader { file, path: path.to_owned(), shorter };
    Ok(LevelSource::new(display_name(path), counts, vocabulary, unigrams, !unknown_added, levels))
}

/// Returns the number of n-grams in a table. KenLM allows duplicates, but a search finds only the
/// first of them, so only the first is counted.
fn count_entries(table: &dyn NgramTable) -> u64 {
    parallel::count(table.slot_count(), |at| table.is_found(at)) as u64
}

/// Returns the backoffs of the entries in these slots.
fn backoffs_in(table: &dyn NgramTable, slots: &[usize]) -> Vec<f32> {
    parallel::map(slots.len(), |i| f32_at(table.slot(slots[i]), 12))
}

/// Returns whether a longer n-gram ends in the n-gram whose values are `at` bytes into `entry`, and
/// whether one begins with it.
fn extension_flags(entry: &[u8], at: usize) -> (bool, bool) {
    (u32_at(entry, at) & SIGN == 0, u32_at(entry, at + 4) != NO_EXTENSION)
}

impl<const U: usize, const M: usize> LevelReader for ProbingLevelReader<U, M> {
    fn read_level(&mut self, order: usize) -> Result<LevelNgrams> {
        let longest = order == self.file.header.order();
        if longest {
            let table = &self.file.longest;
            let shorter = std::mem::take(&mut self.shorter);
            Ok(shorter.recover_next_order(order, table, &|_| (false, false), &self.path)?.0)
        } else {
            let table = &self.file.middle[order - 2];
            let (mut listed, ngrams) = self.shorter.recover_next_order(
                order,
                table,
                &|entry| extension_flags(entry, 8),
                &self.path,
            )?;
            listed.backoffs = backoffs_in(table, &ngrams.slots);
            self.shorter = ngrams;
            Ok(listed)
        }
    }
}
