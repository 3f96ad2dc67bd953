//! A phrase table of either kind: a file of Miriam, or a directory of Moses.
//!
//! Each call, such as a sentence's lookup, dispatches once; there is no dispatch inside the call.

use std::path::Path;

use miriam_storage::{Container, LoadMethod};

use crate::foreign_files::explain_binary;
use crate::{MosesTable, PhraseTable, RecordOffset, Result, SpanLookup, Targets};

/// A phrase table of either kind, with most methods of [`PhraseTable`].
///
/// # Examples
///
/// ```
/// use miriam_probingpt::{AnyTable, SpanLookup, load_text};
/// use miriam_storage::LoadMethod;
/// use miriam_textio::NoProgress;
///
/// let folder = tempfile::tempdir()?;
/// let text = folder.path().join("phrase-table");
/// std::fs::write(&text, "haus ||| house ||| 0.5\n")?;
/// let table = AnyTable::from(load_text(&text, None, 1, &NoProgress)?);
/// let mut lookup = SpanLookup::new();
/// table.lookup_spans(&[0, u32::MAX], 2, &mut lookup);
/// assert_eq!(lookup.hits().len(), 1);
///
/// // A folder is opened as a ProbingPT directory of Moses; this folder lacks the files of one.
/// let error = AnyTable::open(folder.path(), LoadMethod::Lazy).err().expect("no table");
/// assert!(error.to_string().contains("config"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum AnyTable {
    /// A file of Miriam, or a table in memory.
    Native(Box<PhraseTable>),
    /// A ProbingPT directory of Moses.
    Moses(Box<MosesTable>),
}

impl From<PhraseTable> for AnyTable {
    fn from(table: PhraseTable) -> Self {
        AnyTable::Native(Box::new(table))
    }
}

impl AnyTable {
    /// Opens the table at `path`: a folder must be a ProbingPT directory of Moses, a file must be a
    /// table of Miriam.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or is not a valid table.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        let opened = if path.is_dir() {
            MosesTable::open(path, load).map(|table| AnyTable::Moses(Box::new(table)))
        } else {
            PhraseTable::open(path, load).map(AnyTable::from)
        };
        // A damaged table is still a table.
        let is_table = Container::is_container(path) || path.join("probing_hash.dat").is_file();
        opened.map_err(|error| if is_table { error } else { explain_binary(path, error) })
    }

    /// Returns the file or folder, or the name of a table in memory.
    pub fn path(&self) -> &Path {
        match self {
            AnyTable::Native(table) => table.path(),
            AnyTable::Moses(table) => table.path(),
        }
    }

    /// Returns the number of phrase scores of a target.
    pub fn num_scores(&self) -> usize {
        match self {
            AnyTable::Native(table) => table.num_scores(),
            AnyTable::Moses(table) => table.num_scores(),
        }
    }

    /// Returns the number of reordering scores of a target; 0 in a table without reordering.
    pub fn num_reordering_scores(&self) -> usize {
        match self {
            AnyTable::Native(table) => table.num_reordering_scores(),
            AnyTable::Moses(table) => table.num_reordering_scores(),
        }
    }

    /// Whether the table keeps word alignments.
    pub fn has_alignment(&self) -> bool {
        match self {
            AnyTable::Native(table) => table.has_alignment(),
            AnyTable::Moses(_) => true,
        }
    }

    /// Returns the number of distinct source phrases.
    pub fn num_source_phrases(&self) -> u64 {
        match self {
            AnyTable::Native(table) => table.num_sources(),
            AnyTable::Moses(table) => table.num_sources(),
        }
    }

    /// Returns the number of source words; lookups take their ids, which count from 0.
    pub fn num_source_words(&self) -> u32 {
        match self {
            AnyTable::Native(table) => table.source_words().len() as u32,
            AnyTable::Moses(table) => table.num_source_words() as u32,
        }
    }

    /// Returns the number of target words; [`Targets`] has their ids, which count from 0.
    pub fn num_target_words(&self) -> u32 {
        match self {
            AnyTable::Native(table) => table.target_words().len() as u32,
            AnyTable::Moses(table) => table.num_target_words() as u32,
        }
    }

    /// Returns the text of source word `id`.
    ///
    /// # Errors
    ///
    /// If the file is damaged and has no such word.
    pub fn source_word(&self, id: u32) -> Result<&[u8]> {
        match self {
            AnyTable::Native(table) => table.source_word(id),
            AnyTable::Moses(table) => table.source_word(id),
        }
    }

    /// Returns the text of target word `id`.
    ///
    /// # Errors
    ///
    /// If the file is damaged and has no such word.
    pub fn target_word(&self, id: u32) -> Result<&[u8]> {
        match self {
            AnyTable::Native(table) => table.target_word(id),
            AnyTable::Moses(table) => table.target_word(id),
        }
    }

    /// Returns the id of a source word.
    pub fn find_source_word(&self, word: &[u8]) -> Option<u32> {
        match self {
            AnyTable::Native(table) => table.source_words().find(word),
            AnyTable::Moses(table) => table.find_source_word(word),
        }
    }

    /// Looks up every span of up to `max_length` words.
    pub fn lookup_spans(&self, sentence: &[u32], max_length: usize, lookup: &mut SpanLookup) {
        match self {
            AnyTable::Native(table) => table.lookup_spans(sentence, max_length, lookup),
            AnyTable::Moses(table) => table.lookup_spans(sentence, max_length, lookup),
        }
    }

    /// Returns the record of one source phrase.
    pub fn find(&self, source: &[u32]) -> Option<RecordOffset> {
        match self {
            AnyTable::Native(table) => table.find(source),
            AnyTable::Moses(table) => table.find(source),
        }
    }

    /// Decodes all targets of `record`, which must come from this table.
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn read_targets(&self, record: RecordOffset, targets: &mut Targets) -> Result<()> {
        match self {
            AnyTable::Native(table) => table.read_targets(record, targets),
            AnyTable::Moses(table) => table.read_targets(record, targets),
        }
    }

    /// Returns the reordering scores (natural logarithms) of target `i` of `targets`, which this
    /// table filled; `None` if the pair has none.
    pub fn reordering_scores<'a>(&'a self, targets: &'a Targets, i: usize) -> Option<&'a [f32]> {
        match self {
            AnyTable::Native(table) => table.reordering_scores(targets.reordering_row(i)),
            AnyTable::Moses(_) => targets.inline_reordering(i),
        }
    }

    /// Returns the (source, target) positions of alignment `id`, in the order of the text; empty
    /// for an id that does not exist.
    pub fn alignment_points(&self, id: u32) -> impl Iterator<Item = (u16, u16)> + '_ {
        let (native, moses) = match self {
            AnyTable::Native(table) => (Some(table.alignment_points(id)), None),
            AnyTable::Moses(table) => (None, Some(table.alignment_points(id))),
        };
        native.into_iter().flatten().chain(moses.into_iter().flatten().copied())
    }

    /// Fails if the points of alignment `id` are truncated.
    pub(crate) fn check_alignment(&self, id: u32) -> Result<()> {
        match self {
            AnyTable::Native(table) => table.check_alignment(id),
            // All alignments were read when the table was opened.
            AnyTable::Moses(_) => Ok(()),
        }
    }

    /// Calls `each` with the record and the word ids of every source phrase whose words the
    /// table has. Returns the number of other phrases. It is 0 for files of Miriam; a directory of
    /// Moses keeps most source phrases as hashes only.
    ///
    /// # Errors
    ///
    /// If a record or the `cache` file of Moses is damaged, or `each` fails.
    pub fn for_each_source<E: From<crate::Error>>(
        &self,
        mut each: impl FnMut(RecordOffset, &[u32]) -> Result<(), E>,
    ) -> Result<u64, E> {
        match self {
            AnyTable::Native(table) => {
                let mut source = Vec::new();
                for record in table.records() {
                    table.read_source(record, &mut source)?;
                    each(record, &source)?;
                }
                Ok(0)
            }
            AnyTable::Moses(table) => {
                Ok(table.num_sources().saturating_sub(table.for_each_cached_source(each)?))
            }
        }
    }
}
