//! CTranslate2's `vmap.txt`: the target tokens that source n-grams allow.

use std::collections::HashMap;
use std::path::Path;

use miriam_storage::Bytes;
use miriam_textio::{Error, Input, Lines, fields};

use crate::vocabulary::Vocabulary;
use crate::{Result, compressed};

/// The longest n-gram of a map that is accepted.
const MAX_NGRAM: usize = 64;

/// The target tokens that source n-grams allow. Every sentence gets the tokens of the empty n-gram
/// and the special tokens.
#[derive(Clone, Debug, Default)]
pub struct VocabularyMap {
    /// Target ids by the source ids of the n-gram.
    entries: HashMap<Vec<u32>, Vec<u32>>,
    /// Candidates of every sentence, ascending.
    always: Vec<u32>,
    longest_ngram: usize,
}

impl VocabularyMap {
    /// Reads the content of the file at `path`.
    ///
    /// # Errors
    /// Those of [`VocabularyMap::read`].
    pub fn parse(
        bytes: Bytes,
        path: &Path,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        let name = path.display().to_string();
        let input = Input::from_reader(compressed::reader(bytes), &name, None)?;
        Self::read(Lines::new(input), source, target)
    }

    /// Reads the lines of a map. A line whose n-gram has a word that the source vocabulary
    /// lacks is skipped, as is a translation that the target vocabulary lacks.
    ///
    /// # Errors
    /// If a line cannot be read, has no tab or has too long an n-gram.
    pub fn read(mut lines: Lines, source: &Vocabulary, target: &Vocabulary) -> Result<Self> {
        let mut map =
            VocabularyMap { always: vec![target.unk_id(), target.eos_id()], ..Self::default() };
        map.always.extend(target.find(b"<s>"));
        let num_special = map.always.len();
        let name = lines.name().to_owned();
        while let Some(line) = lines.next()? {
            let wrong = |reason: &str| Error::format(&name, line.number, None, reason);
            let tab = line.bytes.iter().position(|&b| b == b'\t');
            let tab = tab.ok_or_else(|| wrong("expected an n-gram, a tab and its translations"))?;
            let (ngram, translations) = line.bytes.split_at(tab);
            let ids: Option<Vec<u32>> =
                fields::split_words(ngram).map(|word| source.find(word)).collect();
            let Some(ids) = ids else { continue };
            if ids.len() > MAX_NGRAM {
                return Err(wrong("an n-gram of more than 64 words").into());
            }
            map.longest_ngram = map.longest_ngram.max(ids.len());
            let translations =
                fields::split_words(&translations[1..]).filter_map(|w| target.find(w));
            // Of lines with the same n-gram, CTranslate2 keeps the last.
            if ids.is_empty() {
                map.always.truncate(num_special);
                map.always.extend(translations);
            } else {
                map.entries.insert(ids, translations.collect());
            }
        }
        map.always.sort_unstable();
        map.always.dedup();
        Ok(map)
    }

    /// Writes the candidates of a sentence, ascending and distinct, to `candidates`.
    pub fn candidates(&self, sentence: &[u32], candidates: &mut Vec<u32>) {
        candidates.clear();
        candidates.extend_from_slice(&self.always);
        for start in 0..sentence.len() {
            for end in start + 1..=sentence.len().min(start + self.longest_ngram) {
                if let Some(translations) = self.entries.get(&sentence[start..end]) {
                    candidates.extend_from_slice(translations);
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
    }

    /// Returns the number of n-grams.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no n-grams.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_lines_with_the_same_ngram_counts() {
        // The line without an n-gram counts too; special tokens are always candidates.
        let words: [&[u8]; 5] = [b"</s>", b"<unk>", b"a", b"b", b"c"];
        let vocabulary = Vocabulary::new(words.into_iter(), Path::new("v"), None).unwrap();
        let bytes = Bytes::copy_from(b"\tb\na\tb\nb\tc\na\tc\n\ta\n");
        let path = Path::new("vmap.txt");
        let map = VocabularyMap::parse(bytes, path, &vocabulary, &vocabulary).unwrap();
        let mut candidates = Vec::new();
        map.candidates(&[2], &mut candidates);
        assert_eq!(candidates, [0, 1, 2, 4]);
        map.candidates(&[3], &mut candidates);
        assert_eq!(candidates, [0, 1, 2, 4]);
    }
}
