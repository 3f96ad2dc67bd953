//! All targets of a source phrase, decoded into reused buffers.
//!
//! A record is decoded column by column, in its order; nothing is allocated once the
//! buffers have grown.

use crate::format::alignment_class;
use crate::{PhraseTable, RecordOffset, Result};

/// The targets of one source phrase, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    len: usize,
    num_scores: usize,
    /// `[targets, num_scores]`.
    scores: Vec<f32>,
    reordering: Vec<u32>,
    alignment: Vec<u32>,
    word_ends: Vec<u32>,
    words: Vec<u32>,
    /// Reordering scores stored in the record itself: `[targets, num_inline_reordering]`.
    inline_reordering: Vec<f32>,
    num_inline_reordering: usize,
}

impl Targets {
    /// Makes empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of targets.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no targets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the phrase scores of target `i`: natural logarithms.
    #[inline]
    pub fn scores(&self, i: usize) -> &[f32] {
        &self.scores[i * self.num_scores..][..self.num_scores]
    }

    /// Returns the row of reordering scores of target `i`, for [`PhraseTable::reordering_scores`];
    /// 0 for none. For a [`crate::MosesTable`], use [`Targets::inline_reordering`] instead.
    #[inline]
    pub fn reordering_row(&self, i: usize) -> u32 {
        self.reordering[i]
    }

    /// Returns the reordering scores of target `i` if records hold them, as in a
    /// [`crate::MosesTable`]; `None` if there are none.
    #[inline]
    pub fn inline_reordering(&self, i: usize) -> Option<&[f32]> {
        let width = self.num_inline_reordering;
        self.inline_reordering.get(i * width..(i + 1) * width).filter(|row| !row.is_empty())
    }

    /// Returns the words of target `i`, as ids of [`PhraseTable::target_words`].
    #[inline]
    pub fn words(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.word_ends[i - 1] };
        &self.words[start as usize..self.word_ends[i] as usize]
    }

    /// Returns the alignment of target `i`, for [`PhraseTable::alignment_points`]. In a table
    /// without alignments it is an id without points.
    #[inline]
    pub fn alignment_id(&self, i: usize) -> u32 {
        self.alignment[i]
    }
}

/// Methods that fill the buffers target by target, for records that are not stored in columns.
impl Targets {
    /// Removes all targets and sets the numbers of scores of the targets to be added.
    pub(crate) fn clear(&mut self, num_scores: usize, num_reordering: usize) {
        self.len = 0;
        (self.num_scores, self.num_inline_reordering) = (num_scores, num_reordering);
        self.scores.clear();
        self.reordering.clear();
        self.inline_reordering.clear();
        self.alignment.clear();
        self.word_ends.clear();
        self.words.clear();
    }

    /// Appends the phrase scores of the next target.
    #[inline]
    pub(crate) fn push_scores(&mut self, scores: impl Iterator<Item = f32>) {
        self.scores.extend(scores);
    }

    /// Appends the reordering scores of the next target.
    #[inline]
    pub(crate) fn push_reordering(&mut self, scores: impl Iterator<Item = f32>) {
        self.inline_reordering.extend(scores);
    }

    /// Appends a target, after its scores.
    #[inline]
    pub(crate) fn push(
        &mut self,
        alignment: u32,
        words: impl Iterator<Item = u32>,
    ) -> Result<(), &'static str> {
        self.alignment.push(alignment);
        self.reordering.push(0);
        self.words.extend(words);
        let end = u32::try_from(self.words.len()).map_err(|_| "it has too many words")?;
        self.word_ends.push(end);
        self.len += 1;
        Ok(())
    }
}

/// Returns the first `len` items of `buffer`, which grows if needed. Their old values are left for
/// the caller to overwrite.
#[inline]
fn resize_for_overwrite<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
    &mut buffer[..len]
}

impl PhraseTable {
    /// Decodes all targets of `record`, which must come from this table, into
    /// `targets`.
    ///
    /// # Errors
    ///
    /// If the record is damaged; `targets` is empty then.
    pub fn read_targets(&self, record: RecordOffset, targets: &mut Targets) -> Result<()> {
        targets.len = 0;
        match self.decode(record, targets) {
            Ok(()) => Ok(()),
            Err(reason) => Err(self.damaged_record(record, reason)),
        }
    }

    fn decode(&self, record: RecordOffset, targets: &mut Targets) -> Result<(), &'static str> {
        const TRUNCATED: &str = "it is truncated";
        let mut columns = self.record_reader(record).map_err(|_| TRUNCATED)?;
        let n = columns.num_targets;
        if !columns.lengths_fit() {
            return Err(TRUNCATED);
        }
        let source_length = columns.source_length;
        let total_words = columns
            .read_target_ends(resize_for_overwrite(&mut targets.word_ends, n))
            .ok_or(TRUNCATED)?;

        let width = self.num_scores();
        targets.num_scores = width;
        targets.num_inline_reordering = 0;
        for (k, codebook) in self.codebooks.iter().enumerate() {
            match codebook {
                None => {
                    let floats = columns.read_floats().ok_or(TRUNCATED)?;
                    let scores = resize_for_overwrite(&mut targets.scores, n * width);
                    for (row, value) in scores.chunks_exact_mut(width).zip(floats) {
                        row[k] = f32::from_le_bytes(*value);
                    }
                }
                Some(codebook) => {
                    let codes = columns.read_codes().ok_or(TRUNCATED)?;
                    let scores = resize_for_overwrite(&mut targets.scores, n * width);
                    let values = &codebook.values[..];
                    let mut all_valid = true;
                    codes.for_each(scores.chunks_exact_mut(width), |row, code| {
                        match values.get(code as usize) {
                            Some(&value) => row[k] = value,
                            None => all_valid = false,
                        }
                    });
                    if !all_valid {
                        return Err("a score's code is outside its codebook");
                    }
                }
            }
        }

        let reordering = resize_for_overwrite(&mut targets.reordering, n);
        if self.metadata.num_reordering > 0 {
            let codes = columns.read_codes().ok_or(TRUNCATED)?;
            let mut largest = 0;
            codes.for_each(reordering.iter_mut(), |row, code| {
                *row = code;
                largest = largest.max(code);
            });
            if largest as usize >= self.num_reordering_rows() {
                return Err("a reordering code is outside its codebook");
            }
        } else {
            reordering.fill(0);
        }

        let alignment = resize_for_overwrite(&mut targets.alignment, n);
        if self.metadata.has_alignment {
            let codes = columns.read_codes().ok_or(TRUNCATED)?;
            let mut start = 0;
            let mut all_valid = true;
            let ends = &targets.word_ends[..n];
            codes.for_each(alignment.iter_mut().zip(ends), |(id, &end), code| {
                let class = alignment_class(source_length, (end - start) as usize);
                start = end;
                let first = self.alignment_classes[class];
                *id = first.wrapping_add(code);
                all_valid &= code < self.alignment_classes[class + 1] - first;
            });
            if !all_valid {
                return Err("an alignment's code is outside its class");
            }
        } else {
            alignment.fill(u32::MAX);
        }
        if self.metadata.has_counts {
            columns.read_codes().ok_or(TRUNCATED)?;
        }
        if self.metadata.has_extra {
            columns.read_codes().ok_or(TRUNCATED)?;
        }

        let words = resize_for_overwrite(&mut targets.words, total_words);
        columns.read_words(words).ok_or(TRUNCATED)?;
        let largest = words.iter().fold(0, |a, &b| a.max(b));
        if total_words > 0 && largest as usize >= self.target.len() {
            return Err("a word's id is outside the vocabulary");
        }
        targets.len = n;
        Ok(())
    }
}
