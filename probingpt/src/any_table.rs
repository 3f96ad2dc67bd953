//! A phrase table of either kind: our file, or a directory of Moses.
//!
//! Which kind it is, is asked once a call: a sentence's lookup, a source phrase's
//! targets. Inside there is nothing to choose.

use std::path::Path;

use miriam_storage::LoadMethod;

use crate::{MosesTable, PhraseTable, RecordOffset, Result, SpanLookup, Targets};

/// A phrase table, whoever wrote it. Calls mean what they mean for
/// [`PhraseTable`].
pub enum AnyTable {
    /// Our file, or a table in memory.
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
    /// Opens the table at `path`: a folder is a ProbingPT directory of Moses,
    /// everything else our file.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        if path.is_dir() {
            Ok(AnyTable::Moses(Box::new(MosesTable::open(path, load)?)))
        } else {
            Ok(PhraseTable::open(path, load)?.into())
        }
    }

    /// The file or folder, or the name of a table in memory.
    pub fn path(&self) -> &Path {
        match self {
            AnyTable::Native(table) => table.path(),
            AnyTable::Moses(table) => table.path(),
        }
    }

    /// Phrase scores a target.
    pub fn num_scores(&self) -> usize {
        match self {
            AnyTable::Native(table) => table.num_scores(),
            AnyTable::Moses(table) => table.num_scores(),
        }
    }

    /// Reordering scores a target; 0 in a table without reordering.
    pub fn num_reordering(&self) -> usize {
        match self {
            AnyTable::Native(table) => table.num_reordering(),
            AnyTable::Moses(table) => table.num_reordering(),
        }
    }

    /// Whether the table keeps word alignments.
    pub fn has_alignment(&self) -> bool {
        match self {
            AnyTable::Native(table) => table.has_alignment(),
            AnyTable::Moses(_) => true,
        }
    }

    /// Words of source phrases; their ids, from 0, are what lookups take.
    pub fn num_source_words(&self) -> u32 {
        match self {
            AnyTable::Native(table) => table.source_words().len() as u32,
            AnyTable::Moses(table) => table.num_source_words() as u32,
        }
    }

    /// Words of target phrases; their ids, from 0, are what [`Targets`] holds.
    pub fn num_target_words(&self) -> u32 {
        match self {
            AnyTable::Native(table) => table.target_words().len() as u32,
            AnyTable::Moses(table) => table.num_target_words() as u32,
        }
    }

    /// The text of source word `id`; an error where a damaged file has none.
    pub fn source_word(&self, id: u32) -> Result<&[u8]> {
        match self {
            AnyTable::Native(table) => table.source_word(id),
            AnyTable::Moses(table) => table.source_word(id),
        }
    }

    /// The text of target word `id`; an error where a damaged file has none.
    pub fn target_word(&self, id: u32) -> Result<&[u8]> {
        match self {
            AnyTable::Native(table) => table.target_word(id),
            AnyTable::Moses(table) => table.target_word(id),
        }
    }

    /// The id of a source word.
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

    /// The record of one source phrase.
    pub fn find(&self, source: &[u32]) -> Option<RecordOffset> {
        match self {
            AnyTable::Native(table) => table.find(source),
            AnyTable::Moses(table) => table.find(source),
        }
    }

    /// Decodes all targets of `record`, which must come from this table.
    pub fn read_targets(&self, record: RecordOffset, targets: &mut Targets) -> Result<()> {
        match self {
            AnyTable::Native(table) => table.read_targets(record, targets),
            AnyTable::Moses(table) => table.read_targets(record, targets),
        }
    }

    /// The reordering scores (natural logarithms) of target `i` of `targets`,
    /// which this table filled; nothing where the pair has none.
    pub fn reordering_scores<'a>(&'a self, targets: &'a Targets, i: usize) -> Option<&'a [f32]> {
        match self {
            AnyTable::Native(table) => table.reordering_scores(targets.reordering_row(i)),
            AnyTable::Moses(_) => targets.inline_reordering(i),
        }
    }

    /// The (source, target) positions of alignment `id` in their written order;
    /// none for an id that does not exist.
    pub fn alignment_points(&self, id: u32) -> impl Iterator<Item = (u16, u16)> + '_ {
        let (own, moses) = match self {
            AnyTable::Native(table) => (Some(table.alignment_points(id)), None),
            AnyTable::Moses(table) => (None, Some(table.alignment_points(id))),
        };
        own.into_iter().flatten().chain(moses.into_iter().flatten().copied())
    }

    /// An error where the points of alignment `id` cannot be read whole.
    pub(crate) fn check_alignment(&self, id: u32) -> Result<()> {
        match self {
            AnyTable::Native(table) => table.check_alignment(id),
            // All were read when the table was opened.
            AnyTable::Moses(_) => Ok(()),
        }
    }

    /// Calls `each` with every source phrase whose words the table knows, and the
    /// ids of these words. Returns how many phrases were left out: none of our
    /// tables, but a directory of Moses keeps most of its sources as hashes.
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
                Ok(table.num_sources().saturating_sub(table.for_each_listed_source(each)?))
            }
        }
    }
}
