//! Phrase tables of Moses: the directories that its ProbingPT tools write (version 15,
//! `docs/spec/phrase-decoding.md` 2.4).
//!
//! The hash table and the target records are mapped; the vocabularies and the alignments,
//! which are text, are parsed when the table is opened. The contents of records are
//! checked when they are decoded. Scores are those of Moses2: as stored if the table keeps
//! logarithms, else max(ln p, -100), computed when a record is decoded.
//!
//! | file | what | here |
//! |---|---|---|
//! | `config` | version and counts | [`config`] |
//! | `probing_hash.dat` | the offset of each source phrase's targets | [`index`] |
//! | `TargetColl.dat` | the targets | [`records`] |
//! | `source_vocabids`, `TargetVocab.dat` | words | [`words`] |
//! | `Alignments.dat` | word alignments | [`alignments`] |
//! | `cache` | frequent source phrases, as words | [`cache`] |

mod alignments;
mod cache;
mod config;
mod index;
mod murmur;
mod records;
mod text_file;
mod words;

use std::path::{Path, PathBuf};

use miriam_storage::{Bytes, LoadMethod, prefetch_at};
use miriam_textio::{Vocabulary, WordId};

use crate::build::{is_linked_non_terminal, rule_table_error};
use crate::lookup::HashedSpan;
use crate::{Error, RecordOffset, Result, SpanHit, SpanLookup};

use alignments::Alignments;
use config::Config;
use index::ProbingIndex;
use words::SourceWords;

/// The files of a ProbingPT directory of Moses.
const FILES: [&str; 7] = [
    "Alignments.dat",
    "TargetColl.dat",
    "TargetVocab.dat",
    "cache",
    "config",
    "probing_hash.dat",
    "source_vocabids",
];

/// A phrase table in one of Moses' ProbingPT directories. It is immutable: threads share it
/// in an `Arc`.
pub struct MosesTable {
    folder: PathBuf,
    config: Config,
    index: ProbingIndex,
    records: Bytes,
    source: SourceWords,
    target: Vocabulary,
    alignments: Alignments,
}

impl MosesTable {
    /// Opens the directory at `folder`; `load` applies to its two large files.
    ///
    /// # Errors
    ///
    /// If a file other than `cache` is missing, cannot be read, or is malformed, or if the table
    /// has hierarchical rules.
    pub fn open(folder: &Path, load: LoadMethod) -> Result<Self> {
        if !folder.join("config").exists() {
            let remedy = "nor a ProbingPT directory of Moses, which has a file called config";
            return Err(miriam_storage::Error::NotAFile { path: folder.to_owned(), remedy }.into());
        }
        let config = Config::read(&folder.join("config"))?;
        let target = words::read_target_words(&folder.join("TargetVocab.dat"))?;
        if target.iter().any(is_linked_non_terminal) {
            return Err(rule_table_error(&folder.display().to_string()));
        }
        Ok(MosesTable {
            config,
            index: ProbingIndex::open(&folder.join("probing_hash.dat"), config.sources, load)?,
            records: Bytes::open(&folder.join("TargetColl.dat"), load)?,
            source: SourceWords::read(&folder.join("source_vocabids"))?,
            target,
            alignments: Alignments::read(&folder.join("Alignments.dat"))?,
            folder: folder.to_owned(),
        })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the files that exist, with their sizes in bytes.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FILES.iter().filter_map(|&name| Some((name, self.file(name).metadata().ok()?.len())))
    }

    /// Returns the number of phrase scores of a target.
    pub fn num_scores(&self) -> usize {
        self.config.num_scores
    }

    /// Returns the number of reordering scores of a target; 0 in a table without reordering.
    pub fn num_reordering_scores(&self) -> usize {
        self.config.num_reordering
    }

    /// Returns the number of distinct source phrases.
    pub fn num_sources(&self) -> u64 {
        self.config.sources
    }

    /// Returns the number of distinct alignments.
    pub fn num_alignments(&self) -> usize {
        self.alignments.len()
    }

    /// Returns the number of source words; ids count from 0.
    pub fn num_source_words(&self) -> usize {
        self.source.words.len()
    }

    /// Returns the number of target words; ids count from 0.
    pub fn num_target_words(&self) -> usize {
        self.target.len()
    }

    /// Returns the text of source word `id`.
    ///
    /// # Errors
    ///
    /// If there is no such word.
    pub fn source_word(&self, id: u32) -> Result<&[u8]> {
        self.word(&self.source.words, "source_vocabids", id)
    }

    /// Returns the text of target word `id`.
    ///
    /// # Errors
    ///
    /// If there is no such word.
    pub fn target_word(&self, id: u32) -> Result<&[u8]> {
        self.word(&self.target, "TargetVocab.dat", id)
    }

    fn word<'a>(&self, words: &'a Vocabulary, file: &str, id: u32) -> Result<&'a [u8]> {
        if id as usize >= words.len() {
            let reason = format!("word {id} has no text");
            return Err(
                miriam_storage::Error::damaged(&self.file(file), "its lines", reason).into()
            );
        }
        Ok(words.word(WordId(id)))
    }

    /// Returns the id of a source word.
    pub fn find_source_word(&self, word: &[u8]) -> Option<u32> {
        self.source.words.find(word).map(|id| id.0)
    }

    /// Returns the (source, target) positions of alignment `id`; empty for an id that does not
    /// exist.
    pub fn alignment_points(&self, id: u32) -> &[(u16, u16)] {
        self.alignments.points(id)
    }

    /// Lists the record of every source phrase, in the order of the hash table.
    pub fn records(&self) -> impl Iterator<Item = RecordOffset> + '_ {
        self.index.offsets().map(RecordOffset)
    }

    /// Looks up every span of up to `max_length` words of `sentence`, a list of ids of source
    /// words. Any other number is an unknown word; spans with it are left out.
    pub fn lookup_spans(&self, sentence: &[u32], max_length: usize, lookup: &mut SpanLookup) {
        let SpanLookup { hits, spans, .. } = lookup;
        hits.clear();
        spans.clear();
        for start in 0..sentence.len() {
            let mut key = 0;
            for (i, &word) in sentence[start..].iter().take(max_length).enumerate() {
                let Some(longer) = self.extend_key(key, i, word) else { break };
                key = longer;
                self.index.prefetch(key);
                spans.push(HashedSpan {
                    start: start as u32,
                    end: (start + i + 1) as u32,
                    hash: key,
                });
            }
        }
        for span in spans {
            if let Some(offset) = self.index.find(span.hash) {
                prefetch_at(&self.records, offset as usize);
                hits.push(SpanHit {
                    start: span.start,
                    end: span.end,
                    record: RecordOffset(offset),
                });
            }
        }
    }

    /// Returns the record of one source phrase, given as ids of source words.
    pub fn find(&self, source: &[u32]) -> Option<RecordOffset> {
        self.index.find(self.phrase_key(source)?).map(RecordOffset)
    }

    fn phrase_key(&self, source: &[u32]) -> Option<u64> {
        source.iter().enumerate().try_fold(0, |key, (i, &word)| self.extend_key(key, i, word))
    }

    /// Returns the key of a longer phrase: `word` is appended to a phrase of `length` words whose
    /// key is `key`. Returns `None` for an unknown word.
    #[inline(always)]
    fn extend_key(&self, key: u64, length: usize, word: u32) -> Option<u64> {
        let hash = *self.source.hashes.get(word as usize)?;
        Some(key.wrapping_add(hash.wrapping_shl(length as u32)))
    }

    #[cold]
    fn damaged_record(&self, record: RecordOffset, reason: &str) -> Error {
        let section = format!("record at {}", record.0);
        miriam_storage::Error::damaged(&self.file("TargetColl.dat"), &section, reason).into()
    }
}
