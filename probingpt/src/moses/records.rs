//! `TargetColl.dat`: the records of the source phrases, each with its targets.
//!
//! | field | bytes |
//! |---|---|
//! | number of targets | 8 |
//! | each target: alignment, alignment of non-terminals | 4, 4 |
//! | number of words, length of properties (always 0), garbage | 2, 2, 4 |
//! | phrase scores, then reordering scores, `f32` | 4 each |
//! | word ids | 4 each |

use miriam_textio::Ln;

use super::MosesTable;
use crate::{RecordOffset, Result, Targets};

/// The number of bytes of a target before its scores.
const HEADER_BYTES: usize = 16;

const TRUNCATED: &str = "it is truncated";

impl MosesTable {
    /// Decodes all targets of `record`, which must come from this table, into
    /// `targets`.
    ///
    /// # Errors
    ///
    /// If the record is damaged; `targets` is empty then.
    pub fn read_targets(&self, record: RecordOffset, targets: &mut Targets) -> Result<()> {
        targets.clear(self.num_scores(), self.num_reordering_scores());
        self.decode(record, targets).map_err(|reason| {
            targets.clear(0, 0);
            self.damaged_record(record, reason)
        })
    }

    fn decode(&self, record: RecordOffset, targets: &mut Targets) -> Result<(), &'static str> {
        let start = usize::try_from(record.0).map_err(|_| TRUNCATED)?;
        let rest = self.records.get(start..).ok_or("it begins after the end of the file")?;
        let (&count, mut rest) = rest.split_first_chunk::<8>().ok_or(TRUNCATED)?;
        let count = u64::from_le_bytes(count);
        let scores_length = 4 * (self.num_scores() + self.num_reordering_scores());
        if count == 0 {
            return Err("it has no targets");
        }
        // The check bounds the allocation.
        if count > (rest.len() / (HEADER_BYTES + scores_length)) as u64 {
            return Err(TRUNCATED);
        }
        for _ in 0..count {
            let (head, after) = rest.split_first_chunk::<HEADER_BYTES>().ok_or(TRUNCATED)?;
            let &[a, b, c, d, _, _, _, _, words_low, words_high, no, properties, ..] = head;
            if [no, properties] != [0, 0] {
                return Err("a target has properties, which version 15 does not support");
            }
            let alignment = u32::from_le_bytes([a, b, c, d]);
            if alignment as usize >= self.alignments.len() {
                return Err("an alignment is not in Alignments.dat");
            }
            let (scores, after) = after.split_at_checked(scores_length).ok_or(TRUNCATED)?;
            let words_length = 4 * usize::from(u16::from_le_bytes([words_low, words_high]));
            let (words, after) = after.split_at_checked(words_length).ok_or(TRUNCATED)?;
            rest = after;
            let (scores, reordering) = scores.as_chunks().0.split_at(self.num_scores());
            if self.config.log_prob {
                targets.push_scores(scores.iter().copied().map(f32::from_le_bytes));
                targets.push_reordering(reordering.iter().copied().map(f32::from_le_bytes));
            } else {
                fn ln(&p: &[u8; 4]) -> f32 {
                    Ln::from_probability(f32::from_le_bytes(p)).0
                }
                targets.push_scores(scores.iter().map(ln));
                targets.push_reordering(reordering.iter().map(ln));
            }
            let mut all_known = true;
            let words = words.as_chunks().0.iter().map(|&id| {
                // Moses counts from 1.
                let word = u32::from_le_bytes(id).wrapping_sub(1);
                all_known &= (word as usize) < self.target.len();
                word
            });
            targets.push(alignment, words)?;
            if !all_known {
                return Err("a word is not in TargetVocab.dat");
            }
        }
        Ok(())
    }
}
