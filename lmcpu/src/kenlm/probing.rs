//! Probing files: one hash table an order, keyed by a 64-bit hash of the words
//! (`ngram-lm.md` 2.8).
//!
//! Files with rest costs (type 1) differ by one more float in each entry, which
//! only bottom-up parsers read.

use std::path::Path;

use miriam_storage::{Bytes, View, prefetch_at};

use super::bytes::{Sections, f32_at, u32_at};
use super::header::Header;
use super::table::{Table, buckets};
use super::words::Words;
use crate::hash::combine;
use crate::{Found, LmWord, NgramIndex, State, Step};

pub(super) const SIGN: u32 = 1 << 31;

/// Bytes of an entry of the longest n-grams: key and prob.
pub(super) const LONGEST: usize = 12;

/// A probing file. Unigrams take `U` bytes, longer n-grams `M`: 8 and 16, or 12
/// and 20 with rest costs.
pub struct ProbingFile<const U: usize, const M: usize> {
    pub(super) header: Header,
    pub(super) words: Words,
    /// By word id: prob and backoff.
    pub(super) unigrams: View<[u8; U]>,
    /// Orders 2 to N - 1: key, prob and backoff.
    pub(super) middle: Vec<Table<M>>,
    /// Order N: key and prob.
    pub(super) longest: Table<LONGEST>,
    begin: State,
    end: LmWord,
}

impl<const U: usize, const M: usize> ProbingFile<U, M> {
    /// Takes the sections behind `header`.
    pub fn new(bytes: &Bytes, path: &Path, header: Header) -> crate::Result<Self> {
        let mut sections = Sections { bytes, path, at: header.len() };
        let mut words = Words::hashed(&mut sections, &header)?;
        let unigrams = sections.take("unigrams", header.counts[0] + 1)?;
        let slots = |order: usize| buckets(header.counts[order - 1], header.multiplier);
        let order = header.order();
        let mut middle = Vec::new();
        for n in 2..order {
            middle.push(Table::new(sections.take(&format!("{n}-grams"), slots(n))?));
        }
        let longest = Table::new(sections.take(&format!("{order}-grams"), slots(order))?);
        words.take_strings(&mut sections, &header)?;
        let end = LmWord(words.id(b"</s>"));
        let mut model =
            ProbingFile { header, words, unigrams, middle, longest, begin: State::EMPTY, end };
        let begin = LmWord(model.words.id(b"<s>"));
        model.begin.entries_mut()[0] = (begin, model.unigram(begin).backoff);
        model.begin.set_len(1);
        Ok(model)
    }
}

/// A lookup: the hash and the slot where its search begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    hash: u64,
    home: usize,
}

impl<const U: usize, const M: usize> NgramIndex for ProbingFile<U, M> {
    type Place = u64;
    type Seek = Probe;

    fn order(&self) -> usize {
        self.header.order()
    }

    fn num_words(&self) -> usize {
        self.words.len()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        LmWord(self.words.id(word))
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        self.words.ids(text, spans, ids);
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.words.text(id.0)
    }

    fn begin_state(&self) -> State {
        self.begin
    }

    fn end_of_sentence(&self) -> LmWord {
        self.end
    }

    /// Not known: hashes do not tell the suffix of an n-gram.
    fn minimisation_is_closed(&self) -> bool {
        false
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> Found<u64> {
        let entry = &self.unigrams[word.0 as usize];
        let log10 = u32_at(entry, 0);
        Found {
            // The sign is a flag; the prob itself is never positive.
            log10: f32::from_bits(log10 | SIGN),
            backoff: f32_at(entry, 4),
            longer: (log10 & SIGN == 0).then_some(u64::from(word.0)),
        }
    }

    #[inline(always)]
    fn seek(&self, order: usize, place: u64, older: LmWord) -> Probe {
        let hash = combine(place, older.0);
        let home = match self.middle.get(order - 2) {
            Some(table) => {
                let home = table.home(hash);
                table.prefetch(home);
                home
            }
            None => {
                let home = self.longest.home(hash);
                self.longest.prefetch(home);
                home
            }
        };
        Probe { hash, home }
    }

    #[inline(always)]
    fn step(&self, order: usize, &mut Probe { hash, home }: &mut Probe) -> Step<u64> {
        if let Some(table) = self.middle.get(order - 2) {
            let Some(entry) = table.find(hash, home) else { return Step::Absent };
            let log10 = u32_at(entry, 8);
            Step::Found(Found {
                log10: f32::from_bits(log10 | SIGN),
                backoff: f32_at(entry, 12),
                longer: (log10 & SIGN == 0).then_some(hash),
            })
        } else {
            let Some(entry) = self.longest.find(hash, home) else { return Step::Absent };
            let log10 = f32::from_bits(u32_at(entry, 8) | SIGN);
            Step::Found(Found { log10, backoff: -0.0, longer: None })
        }
    }

    const AT_ONCE: bool = true;

    #[inline(always)]
    fn word_place(&self, word: LmWord) -> Option<u64> {
        Some(u64::from(word.0))
    }

    #[inline(always)]
    fn place_beyond(&self, place: u64, older: LmWord) -> Option<u64> {
        Some(combine(place, older.0))
    }
}
