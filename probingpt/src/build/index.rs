//! Lines of the index and the final order of records, part by part.
//!
//! A line takes the phrases that the line before could not hold, then its own,
//! up to 14; the others go on. Its records are written together, smallest first.

use super::records::{EncodedPart, Phrase};
use crate::format::{PARTITIONS, SLOTS, fingerprint, home_line};
use crate::line::{self, Line};

/// Builds the index while records stream by.
pub(crate) struct IndexBuilder {
    home_lines: u64,
    pub lines: Vec<Line>,
    /// Records that had no room on the lines so far.
    waiting: Vec<(u16, Vec<u8>)>,
    /// Bytes of records before those of the current part.
    offset: u64,
}

impl IndexBuilder {
    pub fn new(home_lines: u64) -> Self {
        let lines = Vec::with_capacity(home_lines as usize + 1);
        IndexBuilder { home_lines, lines, waiting: Vec::new(), offset: 0 }
    }

    /// Lays out the lines of the next part; appends its records to `out`.
    pub fn push(&mut self, part: &EncodedPart, out: &mut Vec<u8>) {
        let mut rest = &part.phrases[..];
        for _ in 0..self.home_lines / PARTITIONS as u64 {
            let number = self.lines.len() as u64;
            let own =
                rest.iter().take_while(|p| home_line(p.hash, self.home_lines) == number).count();
            let (own, behind) = rest.split_at(own);
            rest = behind;
            self.push_line(own, &part.bytes, out);
        }
        debug_assert!(rest.is_empty());
    }

    /// Adds spare lines until every phrase has a slot.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        while !self.waiting.is_empty() {
            self.push_line(&[], &[], out);
        }
    }

    fn push_line(&mut self, own: &[Phrase], bytes: &[u8], out: &mut Vec<u8>) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut records: Vec<(u16, &[u8])> =
            waiting.iter().map(|(print, record)| (*print, &record[..])).collect();
        records
            .extend(own.iter().map(|p| (fingerprint(p.hash), &bytes[p.start..p.start + p.length])));
        let further = records.split_off(records.len().min(SLOTS));
        self.waiting = further.iter().map(|(print, record)| (*print, record.to_vec())).collect();
        records.sort_by_key(|(_, record)| record.len());

        // The last record's start must be within reach of 16 bits.
        let before_last = &records[..records.len().saturating_sub(1)];
        let mut shift = 0;
        while before_last.iter().map(|(_, r)| r.len().next_multiple_of(1 << shift)).sum::<usize>()
            > 0xffff << shift
        {
            shift += 1;
        }
        let start = out.len();
        let mut slots = Vec::with_capacity(SLOTS);
        for (print, record) in records {
            let at = out.len() - start;
            out.resize(start + at.next_multiple_of(1 << shift), 0);
            slots.push((print, self.offset + (out.len() - start) as u64));
            out.extend_from_slice(record);
        }
        self.offset += (out.len() - start) as u64;
        self.lines.push(line::make(&slots, shift, !self.waiting.is_empty()));
    }

    /// Bytes of records so far.
    pub fn record_bytes(&self) -> u64 {
        self.offset
    }
}
