//! The vocabulary of KenLM's files: words to ids, by a hash table in probing files and by a sorted
//! list in tries, and ids to words.

use std::sync::OnceLock;

use miriam_storage::parallel;
use miriam_storage::{View, prefetch_at};
use miriam_textio::{Vocabulary, WordId};

use super::header::Header;
use super::table::{KenlmTable, bucket_count};
use super::unaligned::SectionReader;
use crate::model_head::ModelVocabulary;
use crate::{Error, LmWord, Result};

/// Computes MurmurHash64A of `text` with seed 0, which identifies a word in KenLM's files
/// (`ngram-lm.md` 2.7).
pub fn word_hash(text: &[u8]) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = (text.len() as u64).wrapping_mul(M);
    let mut blocks = text.chunks_exact(8);
    for block in &mut blocks {
        let mut k = super::unaligned::u64_at(block, 0).wrapping_mul(M);
        k ^= k >> R;
        hash = (hash ^ k.wrapping_mul(M)).wrapping_mul(M);
    }
    let rest = blocks.remainder();
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(M);
    }
    hash ^= hash >> R;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> R
}

/// Whether `text` is a name of word 0, which has no entry in the lookup of words.
pub fn is_unknown(text: &[u8]) -> bool {
    text == b"<unk>" || text == b"<UNK>"
}

/// Returns the hashes of all words but `<unk>` in ascending order, and for each id of `words` the
/// word's id in a trie, which numbers words in this order. `name` is the name of the model in
/// messages.
///
/// # Errors
///
/// If two words have the same hash.
pub fn sort_by_hash(words: &Vocabulary, name: &str) -> Result<(Vec<u64>, Vec<u32>)> {
    let mut sorted: Vec<(u64, u64)> = (1..words.len() as u32)
        .map(|id| (word_hash(words.word(WordId(id))), u64::from(id)))
        .collect();
    parallel::sort_numbered_keys(&mut sorted);
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(equal_hashes_error(words, [pair[0].1 as u32, pair[1].1 as u32], name));
    }
    let mut ids = vec![0; words.len()];
    for (rank, &(_, id)) in (1..).zip(&sorted) {
        ids[id as usize] = rank;
    }
    Ok((sorted.into_iter().map(|(hash, _)| hash).collect(), ids))
}

/// Returns the error that two words of the model `name` have the same hash.
pub fn equal_hashes_error(words: &Vocabulary, ids: [u32; 2], name: &str) -> Error {
    let [a, b] = ids.map(|id| String::from_utf8_lossy(words.word(WordId(id))).into_owned());
    let reason = format!(
        "the words {a} and {b} have the same 64-bit hash, so that KenLM cannot tell them apart; \
         remove one of them"
    );
    Error::Unsupported { file: name.to_owned(), reason }
}

/// Returns the last section of a file: the strings of `words`, by id, each ended by NUL. `name` is
/// the name of the model in messages.
///
/// # Errors
///
/// If a word contains NUL, or if a word other than word 0 has a name of `<unk>`.
pub fn word_strings<'w>(words: impl Iterator<Item = &'w [u8]>, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (id, word) in words.enumerate() {
        if word.contains(&0) || (id > 0 && is_unknown(word)) {
            let reason = format!("KenLM cannot store the word {}; rename it", word.escape_ascii());
            return Err(Error::Unsupported { file: name.to_owned(), reason });
        }
        bytes.extend_from_slice(word);
        bytes.push(0);
    }
    Ok(bytes)
}

/// The mapping from the hash of a word to its id.
pub enum WordLookup {
    /// Probing files: a table from hash to id, ids in the order of the ARPA file.
    Hashed(KenlmTable<12>),
    /// Tries: all hashes in ascending order; the id is the position, counted from 1.
    Sorted(View<[u8; 8]>),
}

/// Words and ids of a model.
pub struct KenlmVocabulary {
    lookup: WordLookup,
    /// The number of words, `<unk>` included.
    count: usize,
    /// The strings of the words, by id, each ended by NUL.
    strings: Option<View<[u8; 1]>>,
    /// The start of each string, computed when a word is first needed.
    starts: OnceLock<Vec<usize>>,
}

impl KenlmVocabulary {
    /// Reads the vocabulary of a probing file.
    pub fn read_hashed(sections: &mut SectionReader<'_>, header: &Header) -> Result<Self> {
        let section = "vocabulary";
        let start = sections.take::<4>(section, 2)?;
        let (version, count) = (u32::from_le_bytes(start[0]), u32::from_le_bytes(start[1]));
        if version != 0 {
            let reason = format!("version {version}, this program reads version 0");
            return Err(sections.damaged(section, &reason));
        }
        // Without <unk> in the ARPA file, there is one more word than the ARPA file counts.
        if count == 0 || u64::from(count) > header.counts[0] + 1 {
            let reason = format!("{count} words, but {} unigrams", header.counts[0]);
            return Err(sections.damaged(section, &reason));
        }
        let slots = bucket_count(header.counts[0], header.probing_multiplier);
        let table = KenlmTable::new(sections.take(section, slots)?);
        Ok(KenlmVocabulary::new(WordLookup::Hashed(table), count as usize))
    }

    /// Reads the vocabulary of a trie.
    pub fn read_sorted(sections: &mut SectionReader<'_>, header: &Header) -> Result<Self> {
        let section = "vocabulary";
        let count = u64::from_le_bytes(sections.take::<8>(section, 1)?[0]);
        if count >= header.counts[0] {
            let reason = format!("{count} words besides <unk>, but {} unigrams", header.counts[0]);
            return Err(sections.damaged(section, &reason));
        }
        // The section has room for as many hashes as there are unigrams.
        let section_end = sections.offset + 8 * header.counts[0] as usize;
        let hashes = sections.take(section, count)?;
        sections.offset = section_end;
        Ok(KenlmVocabulary::new(WordLookup::Sorted(hashes), count as usize + 1))
    }

    fn new(lookup: WordLookup, count: usize) -> Self {
        KenlmVocabulary { lookup, count, strings: None, starts: OnceLock::new() }
    }

    /// Reads the strings, which are the last section, if the file has them.
    pub fn read_strings(
        &mut self,
        sections: &mut SectionReader<'_>,
        header: &Header,
    ) -> Result<()> {
        if header.has_vocabulary {
            let length = sections.bytes.len().saturating_sub(sections.offset);
            let strings = sections.take::<1>("words", length as u64)?;
            if !strings.as_flattened().starts_with(b"<unk>\0") {
                return Err(sections.damaged("words", "they do not begin with <unk>"));
            }
            self.strings = Some(strings);
        }
        Ok(())
    }

    /// Returns the id of the word with `hash`; 0 for other hashes.
    fn find_id(&self, hash: u64) -> u32 {
        let id = match &self.lookup {
            WordLookup::Hashed(table) => match table.find(hash, table.home_slot(hash)) {
                Some(entry) => super::unaligned::u32_at(entry, 8),
                None => 0,
            },
            WordLookup::Sorted(hashes) => {
                interpolation_search(hashes, hash).map_or(0, |at| at as u32 + 1)
            }
        };
        // The table of a damaged file may have other ids.
        if (id as usize) < self.count { id } else { 0 }
    }
}

impl ModelVocabulary for KenlmVocabulary {
    fn num_words(&self) -> usize {
        self.count
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        LmWord(self.find_id(word_hash(word)))
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        // The number of words whose slots are loaded before the first is looked up.
        const GROUP: usize = 16;
        let ids = &mut ids[..spans.len()];
        let mut hashes = [0; GROUP];
        for (spans, ids) in spans.chunks(GROUP).zip(ids.chunks_mut(GROUP)) {
            for (hash, &(start, end)) in hashes.iter_mut().zip(spans) {
                *hash = word_hash(&text[start as usize..end as usize]);
                match &self.lookup {
                    WordLookup::Hashed(table) => table.prefetch(table.home_slot(*hash)),
                    WordLookup::Sorted(hashes) => {
                        prefetch_at(hashes, interpolated_position(hashes.len(), *hash))
                    }
                }
            }
            for (id, &hash) in ids.iter_mut().zip(&hashes) {
                *id = LmWord(self.find_id(hash));
            }
        }
    }

    /// Returns the word, or `None` if the file does not have the words' strings.
    fn word(&self, id: LmWord) -> Option<&[u8]> {
        let strings = self.strings.as_ref()?.as_flattened();
        let starts = self.starts.get_or_init(|| {
            let mut starts = Vec::with_capacity(self.count);
            let mut start = 0;
            for end in memchr::memchr_iter(0, strings).take(self.count) {
                starts.push(start);
                start = end + 1;
            }
            starts
        });
        let word = &strings[*starts.get(id.0 as usize)?..];
        Some(&word[..memchr::memchr(0, word)?])
    }
}

/// Returns the expected position of `hash` among `count` evenly spread hashes.
fn interpolated_position(count: usize, hash: u64) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// Returns the position of `hash` in the sorted list `hashes`, by interpolation search. That would
/// be slow on hostile lists, so after a few steps the search is binary.
fn interpolation_search(hashes: &View<[u8; 8]>, hash: u64) -> Option<usize> {
    let at = |i: usize| u64::from_le_bytes(hashes[i]);
    let (mut begin, mut end) = (0, hashes.len());
    let (mut low, mut high) = (0u64, u64::MAX);
    let mut interpolations = 6;
    while end - begin > 8 {
        let pivot = if interpolations > 0 && high > low {
            interpolations -= 1;
            // The first step is at [`interpolated_position`], or next to it.
            let share = (hash - low) as f64 / (high - low) as f64;
            (begin + (share * (end - begin) as f64) as usize).min(end - 1)
        } else {
            begin + (end - begin) / 2
        };
        let found = at(pivot);
        match found.cmp(&hash) {
            std::cmp::Ordering::Equal => return Some(pivot),
            std::cmp::Ordering::Less => (begin, low) = (pivot + 1, found),
            std::cmp::Ordering::Greater => (end, high) = (pivot, found),
        }
    }
    (begin..end).find(|&i| at(i) == hash)
}
