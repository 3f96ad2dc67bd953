//! An open phrase table.
//!
//! Opening checks what can be checked without reading the data: that sections exist, and that their
//! sizes agree with each other and the metadata. The contents of records are checked when they are
//! decoded, by plain bounds checks.

use std::path::Path;

use miriam_storage::dictionary::{Dictionary, StringPool};
use miriam_storage::{Container, LoadMethod, View};

use crate::bucket::{self, Bucket};
use crate::format::{
    ColumnEncoding, KIND, MAX_REORDERING, MAX_SCORES, Metadata, NUM_ALIGNMENT_CLASSES, PARTITIONS,
    VERSION, section,
};
use crate::record::RecordReader;
use crate::sparse_features::has_sparse_features;
use crate::{Error, Result, varint};

/// The offset of a source phrase's record, by which a table names the phrase.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub struct RecordOffset(pub u64);

/// The codebook of a score column.
pub(crate) struct Codebook {
    /// Natural logarithms, by code.
    pub values: View<f32>,
    /// The text of the counts of each value, if the column keeps it.
    pub counts: Option<StringPool>,
}

/// A phrase table, mapped from a file or built in memory. It is immutable: threads share
/// it in an `Arc`.
///
/// # Examples
///
/// A text table in memory, source phrase by source phrase:
///
/// ```
/// use miriam_probingpt::{Targets, load_text};
/// use miriam_textio::NoProgress;
///
/// let text = tempfile::NamedTempFile::new()?;
/// let lines = "a b ||| x y ||| 0.5 ||| 0-1 1-0\na b ||| z ||| 0.25 ||| 0-0 1-0\n";
/// std::fs::write(text.path(), lines)?;
/// let table = load_text(text.path(), None, 1, &NoProgress)?;
/// assert_eq!((table.num_sources(), table.num_entries(), table.num_scores()), (1, 2, 1));
///
/// let (mut source, mut targets) = (Vec::new(), Targets::new());
/// for record in table.records() {
///     table.read_source(record, &mut source)?;
///     assert_eq!(table.source_word(source[0])?, b"a");
///     table.read_targets(record, &mut targets)?;
///     let links = table.alignment_points(targets.alignment_id(0));
///     assert_eq!(links.collect::<Vec<_>>(), [(0, 1), (1, 0)]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PhraseTable {
    container: Container,
    pub(crate) metadata: Metadata,
    pub(crate) num_coded_columns: usize,
    pub(crate) source: Dictionary,
    pub(crate) target: Dictionary,
    /// One for each score column; `None` for raw columns.
    pub(crate) codebooks: Vec<Option<Codebook>>,
    pub(crate) reordering: View<f32>,
    pub(crate) alignment_classes: View<u32>,
    alignment_offsets: View<u32>,
    alignment_points: View<u8>,
    pub(crate) counts: Option<StringPool>,
    pub(crate) extra: Option<StringPool>,
    pub(crate) index: View<Bucket>,
    pub(crate) records: View<u8>,
}

impl PhraseTable {
    /// Opens the phrase table at `path`. With [`LoadMethod::Lazy`], this takes microseconds and no
    /// memory for tables of any size, because pages are read when they are used. The other methods
    /// read all pages at once.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a valid table.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_container(Container::open(path, KIND, VERSION, load)?)
    }

    /// Whether an entry has sparse features, field 6 of its text, which are not scored. The time is
    /// proportional to the number of distinct texts from field 6 on.
    pub fn has_sparse_features(&self) -> bool {
        let mut extra = self.extra.iter().flat_map(StringPool::iter);
        extra.any(has_sparse_features)
    }

    /// Opens the phrase table in a container.
    ///
    /// # Errors
    ///
    /// If the container is of another kind or version, or its sections contradict its
    /// metadata.
    pub fn from_container(container: Container) -> Result<Self> {
        let container = container.expect_kind(KIND, VERSION)?;
        let metadata: Metadata = container.metadata()?;
        let num_reordering = metadata.num_reordering as usize;
        if metadata.columns.len() > MAX_SCORES
            || num_reordering > MAX_REORDERING
            || metadata.home_buckets == 0
            || !metadata.home_buckets.is_multiple_of(PARTITIONS as u64)
        {
            return Err(container.damaged("metadata", "its counts are out of range").into());
        }
        let index = container.section::<Bucket>(section::INDEX)?;
        if (index.len() as u64) < metadata.home_buckets {
            return Err(container.damaged(section::INDEX, "buckets are missing").into());
        }
        let codebooks = (0..metadata.columns.len())
            .map(|k| {
                let counts = match metadata.columns[k] {
                    ColumnEncoding::Raw => return Ok(None),
                    ColumnEncoding::Coded => None,
                    ColumnEncoding::CodedWithCounts => {
                        Some(StringPool::open(&container, &section::counts(k))?)
                    }
                };
                let values = container.section::<f32>(&section::values(k))?;
                if counts.as_ref().is_some_and(|c| c.len() != values.len()) {
                    return Err(
                        container.damaged(&section::counts(k), "expected one for each value")
                    );
                }
                Ok(Some(Codebook { values, counts }))
            })
            .collect::<Result<_, miriam_storage::Error>>()?;
        let reordering = container.section::<f32>(section::REORDERING)?;
        let is_rectangular = match num_reordering {
            0 => reordering.is_empty(),
            n => !reordering.is_empty() && reordering.len() % n == 0,
        };
        if !is_rectangular {
            return Err(container
                .damaged(section::REORDERING, "it is not a whole number of rows")
                .into());
        }
        let alignment_classes = container.section::<u32>(section::ALIGNMENT_CLASSES)?;
        let alignment_offsets = container.section::<u32>(section::ALIGNMENT_OFFSETS)?;
        let alignment_points = container.section::<u8>(section::ALIGNMENT_POINTS)?;
        if alignment_classes.len() != NUM_ALIGNMENT_CLASSES + 1
            || !alignment_classes.is_sorted()
            || alignment_classes.last().map(|&n| n as usize + 1) != Some(alignment_offsets.len())
        {
            let reason = "they contradict the number of alignments";
            return Err(container.damaged(section::ALIGNMENT_CLASSES, reason).into());
        }
        if alignment_offsets.last().map(|&n| n as usize) != Some(alignment_points.len()) {
            let reason = "they contradict the number of points";
            return Err(container.damaged(section::ALIGNMENT_OFFSETS, reason).into());
        }
        fn pool(
            is_present: bool,
            name: &str,
            container: &Container,
        ) -> Result<Option<StringPool>, miriam_storage::Error> {
            is_present.then(|| StringPool::open(container, name)).transpose()
        }
        Ok(PhraseTable {
            num_coded_columns: metadata.num_coded_columns(),
            source: Dictionary::open(&container, section::SOURCE)?,
            target: Dictionary::open(&container, section::TARGET)?,
            codebooks,
            reordering,
            alignment_classes,
            alignment_offsets,
            alignment_points,
            counts: pool(metadata.has_counts, section::COUNTS, &container)?,
            extra: pool(metadata.has_extra, section::EXTRA, &container)?,
            index,
            records: container.section::<u8>(section::RECORDS)?,
            metadata,
            container,
        })
    }

    /// Returns the file, or the name of a table in memory.
    pub fn path(&self) -> &Path {
        self.container.path()
    }

    /// Returns the container of the table.
    pub fn container(&self) -> &Container {
        &self.container
    }

    /// Returns the number of phrase scores of a target.
    pub fn num_scores(&self) -> usize {
        self.metadata.columns.len()
    }

    /// Returns the number of reordering scores of a target; 0 in a table without reordering.
    pub fn num_reordering_scores(&self) -> usize {
        self.metadata.num_reordering as usize
    }

    /// Returns the number of phrase pairs.
    pub fn num_entries(&self) -> u64 {
        self.metadata.entries
    }

    /// Returns the number of distinct source phrases.
    pub fn num_sources(&self) -> u64 {
        self.metadata.sources
    }

    /// Returns the number of words of the longest source phrase.
    pub fn max_source_length(&self) -> usize {
        self.metadata.max_source_length as usize
    }

    /// Returns the number of words of the longest target phrase.
    pub fn max_target_length(&self) -> usize {
        self.metadata.max_target_length as usize
    }

    /// Returns the largest number of targets of a source phrase.
    pub fn max_targets(&self) -> usize {
        self.metadata.max_targets as usize
    }

    /// Returns the number of entries without reordering scores, in a table that has them.
    pub fn missing_reordering(&self) -> u64 {
        self.metadata.missing_reordering
    }

    /// Whether the table keeps word alignments.
    pub fn has_alignment(&self) -> bool {
        self.metadata.has_alignment
    }

    /// Returns the words of source phrases; lookups take their ids.
    pub fn source_words(&self) -> &Dictionary {
        &self.source
    }

    /// Returns the words of target phrases; [`crate::Targets`] has their ids.
    pub fn target_words(&self) -> &Dictionary {
        &self.target
    }

    /// Returns the text of source word `id`.
    ///
    /// # Errors
    ///
    /// If the file is damaged and has no such word.
    pub fn source_word(&self, id: u32) -> Result<&[u8]> {
        self.source.get(id).ok_or_else(|| self.damaged_word(section::SOURCE, id))
    }

    /// Returns the text of target word `id`.
    ///
    /// # Errors
    ///
    /// If the file is damaged and has no such word.
    pub fn target_word(&self, id: u32) -> Result<&[u8]> {
        self.target.get(id).ok_or_else(|| self.damaged_word(section::TARGET, id))
    }

    #[cold]
    fn damaged_word(&self, dictionary: &str, id: u32) -> Error {
        let section = format!("{dictionary}.offsets");
        self.container.damaged(&section, format!("word {id} has no text")).into()
    }

    /// Returns the number of rows of reordering scores, with the reserved row 0.
    pub fn num_reordering_rows(&self) -> usize {
        self.reordering.len().checked_div(self.num_reordering_scores()).unwrap_or(0)
    }

    /// Returns the reordering scores (natural logarithms) of `row`, a result of
    /// [`crate::Targets::reordering_row`]. Returns `None` for row 0, which means "no reordering
    /// scores".
    pub fn reordering_scores(&self, row: u32) -> Option<&[f32]> {
        if row == 0 {
            return None;
        }
        let width = self.num_reordering_scores();
        let start = (row as usize).checked_mul(width)?;
        self.reordering.get(start..start.checked_add(width)?).filter(|row| !row.is_empty())
    }

    /// Returns the (source, target) positions of alignment `id`, in the order of the text; empty
    /// for an id that does not exist.
    pub fn alignment_points(&self, id: u32) -> impl Iterator<Item = (u16, u16)> + '_ {
        let mut rest = self.alignment_bytes(id).unwrap_or_default();
        std::iter::from_fn(move || {
            let source = varint::take(&mut rest)?;
            let target = varint::take(&mut rest)?;
            Some((source as u16, target as u16))
        })
    }

    /// Whether the points of alignment `id` are truncated.
    fn is_alignment_truncated(&self, id: u32) -> bool {
        let Some(mut rest) = self.alignment_bytes(id) else { return true };
        let mut numbers = 0;
        while !rest.is_empty() {
            match varint::take(&mut rest) {
                Some(number) if number <= 0xffff => numbers += 1,
                _ => return true,
            }
        }
        numbers % 2 == 1
    }

    /// Fails if the points of alignment `id` are truncated.
    pub(crate) fn check_alignment(&self, id: u32) -> Result<()> {
        if self.is_alignment_truncated(id) {
            let reason = format!("alignment {id} is truncated");
            return Err(self.container.damaged(section::ALIGNMENT_POINTS, reason).into());
        }
        Ok(())
    }

    fn alignment_bytes(&self, id: u32) -> Option<&[u8]> {
        let start = *self.alignment_offsets.get(id as usize)? as usize;
        let end = *self.alignment_offsets.get((id as usize).checked_add(1)?)? as usize;
        self.alignment_points.get(start..end)
    }

    /// Returns the number of distinct alignments. An alignment that occurs in several classes of
    /// lengths counts once in each.
    pub fn num_alignments(&self) -> usize {
        self.alignment_offsets.len() - 1
    }

    /// Lists every source phrase, in the order of the index, which depends on the text only.
    pub fn records(&self) -> impl Iterator<Item = RecordOffset> + '_ {
        self.index.iter().flat_map(|line| {
            (0..bucket::used_slots(line))
                .map(move |slot| RecordOffset(bucket::record_offset(line, slot)))
        })
    }

    /// Decodes the source words of `record` into `words`.
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn read_source(&self, record: RecordOffset, words: &mut Vec<u32>) -> Result<()> {
        words.clear();
        words.extend(self.record_reader(record)?.source_words());
        Ok(())
    }

    /// Returns the number of targets of `record`.
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn num_targets(&self, record: RecordOffset) -> Result<usize> {
        Ok(self.record_reader(record)?.num_targets)
    }

    #[inline]
    pub(crate) fn record_reader(&self, record: RecordOffset) -> Result<RecordReader<'_>> {
        RecordReader::at(&self.records, record.0, self.num_coded_columns)
            .ok_or_else(|| self.damaged_record(record, "it is truncated"))
    }

    #[cold]
    pub(crate) fn damaged_record(&self, record: RecordOffset, reason: &str) -> Error {
        let section = format!("record at {}", record.0);
        self.container.damaged(&section, reason).into()
    }
}
