//! The fields that decoding does not use: counts, and the text of the fields after them.

use crate::{PhraseTable, RecordOffset, Result};

/// Counts and extra text of the targets of one source phrase.
#[derive(Clone, Debug, Default)]
pub struct Annotations {
    len: usize,
    /// The ends of each target's counts and extra text in `text`.
    ends: Vec<[usize; 2]>,
    text: Vec<u8>,
    codes: Vec<u32>,
}

impl Annotations {
    /// Makes empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of targets.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no targets.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the counts (field 5) of target `i`, as in the text.
    pub fn counts(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1][1] };
        &self.text[start..self.ends[i][0]]
    }

    /// Returns the text from field 6 on (sparse features, then properties) of target `i`; empty if
    /// these fields are empty.
    pub fn extra(&self, i: usize) -> &[u8] {
        &self.text[self.ends[i][0]..self.ends[i][1]]
    }
}

/// Joins the two parts of a counts text that are stored with score columns, `c_e c_joint` and
/// `c_f`, to the text `c_e c_f c_joint`. A text that is not three counts is in the first part
/// alone.
fn push_joined_counts(out: &mut Vec<u8>, first: &[u8], second: &[u8]) {
    match first.iter().position(|&b| b == b' ') {
        Some(space) if !second.is_empty() => {
            out.extend_from_slice(&first[..=space]);
            out.extend_from_slice(second);
            out.extend_from_slice(&first[space..]);
        }
        _ => out.extend_from_slice(first),
    }
}

impl PhraseTable {
    /// Whether the table keeps counts, in a separate column or in codebooks.
    pub fn has_counts(&self) -> bool {
        self.metadata.has_counts
            || self.codebooks.iter().flatten().any(|book| book.counts.is_some())
    }

    /// Whether the table keeps text from field 6 on.
    pub fn has_extra(&self) -> bool {
        self.metadata.has_extra
    }

    /// Reads counts and extra text of all targets of `record`, in the order of
    /// [`crate::Targets`].
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn read_annotations(
        &self,
        record: RecordOffset,
        annotations: &mut Annotations,
    ) -> Result<()> {
        annotations.len = 0;
        let read = self.try_read_annotations(record, annotations);
        read.ok_or_else(|| self.damaged_record(record, "its counts or its text cannot be read"))
    }

    fn try_read_annotations(
        &self,
        record: RecordOffset,
        annotations: &mut Annotations,
    ) -> Option<()> {
        let Annotations { len, ends, text, codes: all_codes } = annotations;
        let mut columns = self.record_reader(record).ok()?;
        let n = columns.num_targets;
        if !columns.lengths_fit() {
            return None;
        }
        all_codes.clear();
        all_codes.resize(n, 0);
        columns.read_target_ends(all_codes)?;
        all_codes.clear();
        // Column by column, n codes each: score columns with counts, the column of counts,
        // the column of extra text.
        for codebook in &self.codebooks {
            match codebook {
                None => drop(columns.read_floats()?),
                Some(book) => {
                    let codes = columns.read_codes()?;
                    if book.counts.is_some() {
                        codes.for_each(0..n, |_, code| all_codes.push(code));
                    }
                }
            }
        }
        for is_present in [self.metadata.num_reordering > 0, self.metadata.has_alignment] {
            if is_present {
                columns.read_codes()?;
            }
        }
        for is_present in [self.metadata.has_counts, self.metadata.has_extra] {
            if is_present {
                columns.read_codes()?.for_each(0..n, |_, code| all_codes.push(code));
            }
        }
        ends.clear();
        text.clear();
        let mut joint = self.codebooks.iter().flatten().filter_map(|book| book.counts.as_ref());
        let (first, second) = (joint.next(), joint.next());
        for i in 0..n {
            let mut codes = all_codes.iter().skip(i).step_by(n).copied();
            if let Some(first) = first {
                let first = first.get(codes.next()?)?;
                let second = match second {
                    Some(second) => second.get(codes.next()?)?,
                    None => &[],
                };
                push_joined_counts(text, first, second);
            }
            if let Some(counts) = &self.counts {
                text.extend_from_slice(counts.get(codes.next()?)?);
            }
            let counts_end = text.len();
            if let Some(extra) = &self.extra {
                text.extend_from_slice(extra.get(codes.next()?)?);
            }
            ends.push([counts_end, text.len()]);
        }
        *len = n;
        Some(())
    }
}
