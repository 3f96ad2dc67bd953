//! Probing files: one hash table per order, with a 64-bit hash of the words as key (`ngram-lm.md`
//! 2.8).
//!
//! Files with rest costs (type 1) have one more float in each entry, which only
//! bottom-up parsers read.

use std::path::Path;

use miriam_storage::{Bytes, View, prefetch_at};

use super::header::Header;
use super::table::{KenlmTable, bucket_count};
use super::unaligned::{SectionReader, f32_at, u32_at};
use super::vocabulary::KenlmVocabulary;
use crate::hash::combine;
use crate::model_head::ModelHead;
use crate::ngram_index::SIGN;
use crate::{FoundNgram, LmWord, LookupStep, NgramIndex};

/// Bytes of an entry of the longest n-grams: key and probability.
pub(super) const LONGEST_ENTRY_BYTES: usize = 12;

/// A probing file. Unigrams take `U` bytes, longer n-grams `M`: 8 and 16, or 12
/// and 20 with rest costs.
pub struct ProbingFile<const U: usize, const M: usize> {
    pub(super) header: Header,
    pub(super) head: ModelHead<KenlmVocabulary>,
    /// By word id: probability and backoff.
    pub(super) unigrams: View<[u8; U]>,
    /// Orders 2 to N - 1: key, probability and backoff.
    pub(super) middle: Vec<KenlmTable<M>>,
    /// Order N: key and probability.
    pub(super) longest: KenlmTable<LONGEST_ENTRY_BYTES>,
}

impl<const U: usize, const M: usize> ProbingFile<U, M> {
    /// Reads the sections after `header`.
    pub fn new(bytes: &Bytes, path: &Path, header: Header) -> crate::Result<Self> {
        let mut sections = SectionReader { bytes, path, offset: header.len() };
        let mut words = KenlmVocabulary::read_hashed(&mut sections, &header)?;
        let unigrams = sections.take("unigrams", header.counts[0] + 1)?;
        let slots =
            |order: usize| bucket_count(header.counts[order - 1], header.probing_multiplier);
        let order = header.order();
        let mut middle = Vec::new();
        for n in 2..order {
            middle.push(KenlmTable::new(sections.take(&format!("{n}-grams"), slots(n))?));
        }
        let longest = KenlmTable::new(sections.take(&format!("{order}-grams"), slots(order))?);
        words.read_strings(&mut sections, &header)?;
        let head = ModelHead::from_kenlm(order, words, |word: LmWord| {
            f32_at(&unigrams[word.0 as usize], 4)
        });
        Ok(ProbingFile { header, head, unigrams, middle, longest })
    }
}

/// A lookup: the hash and its home slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbingLookup {
    hash: u64,
    home: usize,
}

impl<const U: usize, const M: usize> NgramIndex for ProbingFile<U, M> {
    type NodeRef = u64;
    type Lookup = ProbingLookup;
    type Words = KenlmVocabulary;

    #[inline(always)]
    fn head(&self) -> &ModelHead<KenlmVocabulary> {
        &self.head
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> FoundNgram<u64> {
        let entry = &self.unigrams[word.0 as usize];
        let log10 = u32_at(entry, 0);
        FoundNgram {
            // The sign is a flag; the log10 probability is never positive.
            log10: f32::from_bits(log10 | SIGN),
            backoff: f32_at(entry, 4),
            extend_left: (log10 & SIGN == 0).then_some(u64::from(word.0)),
        }
    }

    #[inline(always)]
    fn begin_lookup(&self, order: usize, node: u64, older: LmWord) -> ProbingLookup {
        let hash = combine(node, older.0);
        let home = match self.middle.get(order - 2) {
            Some(table) => {
                let home = table.home_slot(hash);
                table.prefetch(home);
                home
            }
            None => {
                let home = self.longest.home_slot(hash);
                self.longest.prefetch(home);
                home
            }
        };
        ProbingLookup { hash, home }
    }

    #[inline(always)]
    fn step_lookup(
        &self,
        order: usize,
        &mut ProbingLookup { hash, home }: &mut ProbingLookup,
    ) -> LookupStep<u64> {
        if let Some(table) = self.middle.get(order - 2) {
            let Some(entry) = table.find(hash, home) else { return LookupStep::Absent };
            let log10 = u32_at(entry, 8);
            LookupStep::Found(FoundNgram {
                log10: f32::from_bits(log10 | SIGN),
                backoff: f32_at(entry, 12),
                extend_left: (log10 & SIGN == 0).then_some(hash),
            })
        } else {
            let Some(entry) = self.longest.find(hash, home) else { return LookupStep::Absent };
            let log10 = f32::from_bits(u32_at(entry, 8) | SIGN);
            LookupStep::Found(FoundNgram { log10, backoff: -0.0, extend_left: None })
        }
    }

    const INDEPENDENT_LOOKUPS: bool = true;

    #[inline(always)]
    fn word_node(&self, word: LmWord) -> Option<u64> {
        Some(u64::from(word.0))
    }

    #[inline(always)]
    fn extend_node(&self, node: u64, older: LmWord) -> Option<u64> {
        Some(combine(node, older.0))
    }
}
