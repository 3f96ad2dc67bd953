//! `cache`: the most frequent source phrases, which Moses2 prepares at start-up.
//!
//! They need no preparation here, but they are the only source phrases that a directory
//! keeps as words, so a dump reads them.

use super::MosesTable;
use super::text_file::TextFile;
use crate::{RecordOffset, Result};

impl MosesTable {
    /// Calls `each` with the record and the word ids of every source phrase in `cache`,
    /// most frequent first. Returns their number.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is malformed, or `each` fails.
    pub fn for_each_cached_source<E: From<crate::Error>>(
        &self,
        mut each: impl FnMut(RecordOffset, &[u32]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let file = TextFile::open(&self.file("cache"))?;
        let mut source = Vec::new();
        let mut listed = 0;
        // The first line is the sum of the counts.
        for line in file.lines().skip(1) {
            let (key, phrase) =
                line.split_at_tab().and_then(|(_, rest)| line.split_part_at_tab(rest))?;
            source.clear();
            for word in miriam_textio::fields::split_words(phrase) {
                let Some(id) = self.find_source_word(word) else {
                    let word = String::from_utf8_lossy(word);
                    let reason = format!("{word:?} is not in source_vocabids");
                    return Err(line.error(Some(3), reason).into());
                };
                source.push(id);
            }
            if self.phrase_key(&source) != Some(line.parse_number(2, key)?) {
                return Err(line.error(Some(2), "this is not the key of the phrase").into());
            }
            let Some(record) = self.find(&source) else {
                return Err(line.error(Some(3), "this phrase is not in the table").into());
            };
            each(record, &source)?;
            listed += 1;
        }
        Ok(listed)
    }
}
