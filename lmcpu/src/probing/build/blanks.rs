//! Blanks: entries in place of missing suffixes.
//!
//! A toolkit may prune the suffix of an n-gram that it keeps (`ngram-lm.md` 1.2). A blank takes its
//! place, with the probability that backing off would give. This probability depends on entries
//! earlier in the file, so the few n-grams that need blanks are processed one by one, in file
//! order, with KenLM's arithmetic.

use super::*;
use crate::MAX_ORDER;

/// An entry in place of a missing suffix. A longer n-gram always ends in it.
pub(super) struct Blank {
    pub(super) log10: f32,
    pub(super) extends_right: bool,
    pub(super) oldest: u32,
}

impl ProbingBuilder {
    /// Sets the flags of suffix and context of one n-gram of order 3 or more, adding
    /// blanks for its missing suffixes.
    pub(super) fn mark_extensions_with_blanks(
        &mut self,
        section: &Section,
        index: usize,
    ) -> Result<(), BuildError> {
        let order = section.order;
        let mut newest_first = [0u32; MAX_ORDER];
        for (to, &from) in newest_first.iter_mut().zip(section.ngram(index).iter().rev()) {
            *to = from;
        }
        let words = &newest_first[..order];
        // hashes[n] is the hash of the suffix of n words.
        let mut hashes = [0u64; MAX_ORDER + 1];
        hashes[1] = u64::from(words[0]);
        for n in 2..=order {
            hashes[n] = combine(hashes[n - 1], words[n - 1]);
        }
        let mut present = order - 1;
        let mut log10 = loop {
            if present == 1 {
                let value = update_flags(&self.unigrams[words[0] as usize], set_extends_left);
                break f32::from_bits(log10_bits(value));
            }
            let middle = &mut self.middle[present - 2];
            if let Some(location) = middle.locate(hashes[present]) {
                if let EntryLocation::Slot(slot) = location {
                    middle.update_value(slot, set_extends_left);
                }
                break middle.log10(hashes[present], &location);
            }
            present -= 1;
        };
        log10 = -log10.abs();
        // The hash of the context of a suffix of n words: its n - 1 words without the newest.
        let mut context = u64::from(words[1]);
        for n in 2..order {
            if n > 2 {
                context = combine(context, words[n - 1]);
            }
            if n <= present {
                continue;
            }
            let backoff = if n == 2 {
                let value = update_flags(&self.unigrams[words[1] as usize], set_extends_right);
                Some(f32::from_bits(backoff_bits(value)))
            } else {
                self.middle[n - 3].mark_extends_right(context)
            };
            if let Some(backoff) = backoff {
                log10 += backoff;
            }
            let blank = Blank { log10, extends_right: false, oldest: words[n - 1] };
            self.middle[n - 2].blanks.insert(nonzero_key(hashes[n]), blank);
        }
        for n in present.max(1) + 1..=order.min(self.counts.len() - 1) {
            self.closure_checks.push(ClosureCheck {
                order: n,
                ngram: hashes[n],
                suffix: hashes[n - 1],
            });
        }
        let context = hash_oldest_first(&section.ngram(index)[..order - 1]);
        match self.middle[order - 3].mark_extends_right(context) {
            Some(_) => Ok(()),
            None => {
                let mut ngram = Section::default();
                ngram.push_from(section, index);
                Err(BuildError::MissingContext(ngram))
            }
        }
    }
}
