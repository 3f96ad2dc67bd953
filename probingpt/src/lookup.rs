//! Lookup of source phrases: all spans of a sentence at once.
//!
//! A single lookup waits for memory twice, for the bucket and for the record. So a
//! sentence is looked up in stages: hash every span and prefetch its bucket; probe the
//! buckets and prefetch the records they point to; compare the source words. On a table
//! larger than the caches this is 2 to 4 times as fast as single lookups.

use miriam_storage::hash::hash64;
use miriam_storage::{prefetch_at, prefetch_read};

use crate::format::{PhraseHash, fingerprint, home_bucket};
use crate::record::source_matches;
use crate::{PhraseTable, RecordOffset, bucket, varint};

/// A span of a sentence whose source phrase is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanHit {
    /// The span's first word.
    pub start: u32,
    /// The position after the span's last word.
    pub end: u32,
    /// The record of the source phrase.
    pub record: RecordOffset,
}

/// The spans that a lookup found, and its buffers, which the next sentence reuses.
#[derive(Clone, Debug, Default)]
pub struct SpanLookup {
    pub(crate) hits: Vec<SpanHit>,
    /// The words as varints one after another, and the start of each.
    codes: Vec<u8>,
    code_starts: Vec<u32>,
    word_hashes: Vec<u64>,
    pub(crate) spans: Vec<HashedSpan>,
    pub(crate) candidates: Vec<SpanHit>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HashedSpan {
    pub start: u32,
    pub end: u32,
    pub hash: u64,
}

impl SpanLookup {
    /// Makes empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of spans that were looked up: the spans without an unknown word.
    pub fn num_spans(&self) -> usize {
        self.spans.len()
    }

    /// Returns the spans found, by start and then length, ascending.
    pub fn hits(&self) -> &[SpanHit] {
        &self.hits
    }
}

impl PhraseTable {
    /// Looks up every span of up to `max_length` words. Words are ids of
    /// [`PhraseTable::source_words`]; any other number (`u32::MAX` by convention) is an
    /// unknown word, which no span contains.
    pub fn lookup_spans(&self, sentence: &[u32], max_length: usize, lookup: &mut SpanLookup) {
        let SpanLookup { hits, codes, code_starts, word_hashes, spans, candidates } = lookup;
        hits.clear();
        codes.clear();
        code_starts.clear();
        word_hashes.clear();
        spans.clear();
        candidates.clear();
        code_starts.push(0);
        for &word in sentence {
            // Unknown words are recognised by their empty code; their hash is not used.
            let mut hash = 0;
            if let Some(text) = self.source.get(word) {
                hash = hash64(text);
                varint::push(codes, word);
            }
            word_hashes.push(hash);
            code_starts.push(codes.len() as u32);
        }
        let max_length = max_length.min(self.max_source_length());
        for start in 0..sentence.len() {
            let mut phrase = PhraseHash::EMPTY;
            for end in start + 1..=sentence.len().min(start + max_length) {
                if code_starts[end] == code_starts[end - 1] {
                    break;
                }
                phrase = phrase.with_word(word_hashes[end - 1]);
                let home = home_bucket(phrase.0, self.metadata.home_buckets) as usize;
                prefetch_at(&self.index, home);
                spans.push(HashedSpan { start: start as u32, end: end as u32, hash: phrase.0 });
            }
        }
        for span in &*spans {
            self.for_each_candidate(span.hash, |record| {
                prefetch_at(&self.records, record as usize);
                prefetch_read(self.records.as_ptr().wrapping_add(record as usize).wrapping_add(64));
                let record = RecordOffset(record);
                candidates.push(SpanHit { start: span.start, end: span.end, record });
            });
        }
        for candidate in &*candidates {
            let (start, end) = (candidate.start as usize, candidate.end as usize);
            let source = &codes[code_starts[start] as usize..code_starts[end] as usize];
            if source_matches(&self.records, candidate.record.0, end - start, source) {
                hits.push(*candidate);
            }
        }
    }

    /// Returns the record of one source phrase, given as ids of [`PhraseTable::source_words`]. For
    /// sentences use [`PhraseTable::lookup_spans`].
    pub fn find(&self, source: &[u32]) -> Option<RecordOffset> {
        let mut codes = Vec::with_capacity(4 * source.len());
        let mut phrase = PhraseHash::EMPTY;
        for &word in source {
            phrase = phrase.with_word(hash64(self.source.get(word)?));
            varint::push(&mut codes, word);
        }
        let mut found = None;
        self.for_each_candidate(phrase.0, |record| {
            if found.is_none() && source_matches(&self.records, record, source.len(), &codes) {
                found = Some(RecordOffset(record));
            }
        });
        found
    }

    /// Calls `found` with every record in the home bucket of `hash` and the buckets that it
    /// overflows into, if the record's fingerprint equals the fingerprint of `hash`.
    #[inline(always)]
    fn for_each_candidate(&self, hash: u64, mut found: impl FnMut(u64)) {
        let mut number = home_bucket(hash, self.metadata.home_buckets) as usize;
        // Overflow goes to the next bucket; the last bucket of the index does not overflow.
        while let Some(line) = self.index.get(number) {
            bucket::probe_fingerprints(line, fingerprint(hash), &mut found);
            if !bucket::overflows(line) {
                break;
            }
            number += 1;
        }
    }
}
