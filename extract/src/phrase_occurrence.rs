//! One occurrence of a phrase pair as a record of bytes. Equal phrase pairs and equal alignments
//! have equal bytes, so that they are counted by their bytes. Words are encoded as in the stored
//! corpus: most take one byte, and a phrase can be copied from its sentence.

use miriam_textio::leb128::{push_leb128, read_leb128};

/// The bytes of the two lexical weights.
const WEIGHT_BYTES: usize = 8;

/// The positions of the parts of a record in a list of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OccurrenceRecord {
    /// The start of the record.
    start: usize,
    target: usize,
    source: usize,
    /// The end of the phrases; the length of the alignment follows.
    phrases_end: usize,
    alignment: usize,
    /// The end of the record.
    pub end: usize,
}

/// Replaces `record` by a new one: the orientations, lex(f|e) and lex(e|f), the two phrases and
/// their packed alignment. The low four bits of `orientations` are the orientation to the previous
/// phrase, the high ones that to the next phrase.
pub(crate) fn write_occurrence(
    record: &mut Vec<u8>,
    orientations: u8,
    lexical_weights: [f32; 2],
    [source, target]: [&[u8]; 2],
    alignment: &[u8],
) {
    record.clear();
    record.push(orientations);
    for weight in lexical_weights {
        record.extend_from_slice(&weight.to_le_bytes());
    }
    push_leb128(record, target.len() as u64);
    push_leb128(record, source.len() as u64);
    record.extend_from_slice(target);
    record.extend_from_slice(source);
    push_leb128(record, alignment.len() as u64);
    record.extend_from_slice(alignment);
}

impl OccurrenceRecord {
    /// Finds the parts of the record that begins at `start` of `bytes`.
    #[inline]
    pub fn parse(bytes: &[u8], start: usize) -> Self {
        let mut at = start + 1 + WEIGHT_BYTES;
        let [target_bytes, source_bytes] = [(); 2].map(|()| read_leb128(bytes, &mut at) as usize);
        let (target, source) = (at, at + target_bytes);
        let phrases_end = source + source_bytes;
        at = phrases_end;
        let alignment_bytes = read_leb128(bytes, &mut at) as usize;
        let (alignment, end) = (at, at + alignment_bytes);
        OccurrenceRecord { start, target, source, phrases_end, alignment, end }
    }

    /// Returns the indices of the orientations to the previous and to the next phrase.
    pub fn orientations(&self, bytes: &[u8]) -> [usize; 2] {
        let packed = usize::from(bytes[self.start]);
        [packed & 15, packed >> 4]
    }

    /// Returns lex(f|e) and lex(e|f).
    pub fn lexical_weights(&self, bytes: &[u8]) -> [f32; 2] {
        [1, 5].map(|at| {
            let four = &bytes[self.start + at..self.start + at + 4];
            f32::from_le_bytes(four.try_into().expect("four bytes"))
        })
    }

    /// Returns the bytes that are equal only for occurrences of the same aligned phrase pair.
    pub fn aligned_pair<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start + 1 + WEIGHT_BYTES..self.end]
    }

    /// Returns the bytes that are equal only for occurrences of the same phrase pair.
    pub fn pair<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start + 1 + WEIGHT_BYTES..self.phrases_end]
    }

    /// Returns the words of the source phrase.
    pub fn source<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.source..self.phrases_end]
    }

    /// Returns the words of the target phrase.
    pub fn target<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.target..self.source]
    }

    /// Returns the packed alignment.
    pub fn alignment<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.alignment..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_have_the_parts_they_were_written_with(
            records in proptest::collection::vec(
                (
                    (0u8..4, 0u8..4, any::<f32>(), any::<f32>()),
                    [0, 1].map(|_| proptest::collection::vec(any::<u8>(), 1..200)),
                    proptest::collection::vec(any::<u8>(), 1..200),
                ),
                1..5,
            ),
        ) {
            let (mut bytes, mut record) = (Vec::new(), Vec::new());
            for ((previous, next, inverse, direct), [source, target], alignment) in &records {
                let phrases = [&source[..], target];
                write_occurrence(
                    &mut record, previous | next << 4, [*inverse, *direct], phrases, alignment,
                );
                bytes.extend_from_slice(&record);
            }
            let mut at = 0;
            for ((previous, next, inverse, direct), [source, target], alignment) in &records {
                let found = OccurrenceRecord::parse(&bytes, at);
                prop_assert_eq!(found.orientations(&bytes), [*previous, *next].map(usize::from));
                let weights = found.lexical_weights(&bytes).map(f32::to_bits);
                prop_assert_eq!(weights, [inverse, direct].map(|weight| weight.to_bits()));
                prop_assert_eq!(found.source(&bytes), source);
                prop_assert_eq!(found.target(&bytes), target);
                prop_assert_eq!(found.alignment(&bytes), alignment);
                prop_assert!(found.aligned_pair(&bytes).starts_with(found.pair(&bytes)));
                at = found.end;
            }
            prop_assert_eq!(at, bytes.len());
        }
    }
}
