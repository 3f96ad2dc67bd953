//! `source_vocabids` and `TargetVocab.dat`: the words of both sides.
//!
//! In Moses, the id of a source word is its hash. Target words are numbered from 1, in the order
//! in which they first occur. Here, ids of both sides count from 0: source words have the order of
//! the file, and target words have the order of Moses' ids.

use std::path::Path;

use miriam_textio::{Vocabulary, WordId};

use super::murmur;
use super::text_file::TextFile;
use crate::Result;

/// Source words, and the hash of each.
pub(super) struct SourceWords {
    pub words: Vocabulary,
    pub hashes: Vec<u64>,
}

impl SourceWords {
    pub fn read(path: &Path) -> Result<Self> {
        let file = TextFile::open(path)?;
        let (mut words, mut hashes) = (Vocabulary::new(), Vec::new());
        for line in file.lines() {
            let (word, hash) = line.split_at_tab()?;
            let hash = line.parse_number(2, hash)?;
            if hash != murmur::hash(word) {
                return Err(line.error(Some(2), "this is not the hash of the word"));
            }
            words.intern(word);
            hashes.push(hash);
            if words.len() != hashes.len() {
                return Err(line.error(Some(1), "this word is listed twice"));
            }
        }
        Ok(SourceWords { words, hashes })
    }
}

/// Returns the target words in the order of their ids.
pub(super) fn read_target_words(path: &Path) -> Result<Vocabulary> {
    let file = TextFile::open(path)?;
    let mut by_id = vec![None; file.lines().count()];
    for line in file.lines() {
        let (word, id) = line.split_at_tab()?;
        let index = line.parse_number::<usize>(2, id)?.checked_sub(1);
        match index.and_then(|index| by_id.get_mut(index)) {
            Some(slot @ None) => *slot = Some((line, word)),
            Some(Some(_)) => return Err(line.error(Some(2), "this id is listed twice")),
            None => {
                let reason = format!("ids go from 1 to the number of lines, {}", by_id.len());
                return Err(line.error(Some(2), reason));
            }
        }
    }
    // There are as many ids as lines, and no duplicates, so none is missing.
    let mut words = Vocabulary::new();
    for (id, (line, word)) in by_id.into_iter().flatten().enumerate() {
        if words.intern(word) != WordId(id as u32) {
            return Err(line.error(Some(1), "this word has two ids"));
        }
    }
    Ok(words)
}
