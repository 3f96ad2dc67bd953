//! Scoring: `ngram-lm.md` 2.2, one word at a time or many with their memory
//! accesses overlapped.
//!
//! The additions of f32 values and their order are KenLM's; nothing here may
//! reorder them.
//!
//! A batch is worked on in groups. A group goes through rounds, one an order:
//! all its lines of that order are asked for, then all are looked into, and
//! those requests that can match longer n-grams stay. So a group waits for
//! memory about once a round instead of once a request. While a group is worked
//! on, the unigrams and bigram lines of the next are on their way.

use miriam_text::Log10;

use super::*;
use crate::{LanguageModel, Request, Scored};

/// Requests that go through the rounds together: enough to hide memory latency,
/// few enough for their lines to stay in the first-level cache.
const GROUP: usize = 32;

impl ProbingModel {
    /// The first step of every query: the word alone. Returns its prob and
    /// whether a longer n-gram may end in it.
    #[inline(always)]
    fn start(&self, word: LmWord, next: &mut State) -> (u32, bool) {
        let value = self.unigrams[word.0 as usize];
        let backoff = backoff_bits(value);
        next.entries_mut()[0] = (word, f32::from_bits(backoff));
        next.set_len(usize::from(backoff != NO_EXTENSION));
        (log10_bits(value) | SIGN, log10_bits(value) & SIGN == 0)
    }

    /// The last step: the words of the new state, and the backoffs of the old
    /// one that the match did not reach, shortest context first.
    #[inline(always)]
    fn finish(context: &State, log10: u32, matched: usize, next: &mut State) -> Log10 {
        let kept = next.len();
        let entries = next.entries_mut();
        for (entry, older) in entries[..kept].iter_mut().skip(1).zip(context.entries()) {
            entry.0 = older.0;
        }
        let mut log10 = f32::from_bits(log10);
        for &(_, backoff) in context.entries().get(matched - 1..).unwrap_or_default() {
            log10 += backoff;
        }
        Log10(log10)
    }

    /// The context words that can take part in a match.
    #[inline(always)]
    fn usable<'s>(&self, context: &'s State) -> &'s [(LmWord, f32)] {
        let most = self.metadata.order as usize - 1;
        let entries = context.entries();
        &entries[..entries.len().min(most)]
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        miriam_layout::prefetch_at(&self.unigrams, word.0 as usize);
    }

    /// Starts loading where the n-gram of `order`, from 2, with this hash would
    /// stand.
    #[inline(always)]
    fn prefetch_order(&self, order: usize, hash: u64) {
        match self.middle.get(order - 2) {
            Some(table) => table.prefetch(table_key(hash)),
            None => {
                if let Some(longest) = &self.longest {
                    longest.prefetch(table_key(hash));
                }
            }
        }
    }

    /// Looks the n-gram of `order` with this hash up. Returns its prob and
    /// whether a longer n-gram may end in it.
    #[inline(always)]
    fn look_up(&self, order: usize, hash: u64, next: &mut State) -> Option<(u32, bool)> {
        if let Some(table) = self.middle.get(order - 2) {
            let value = table.find(table_key(hash))?;
            let backoff = backoff_bits(value);
            next.entries_mut()[order - 1].1 = f32::from_bits(backoff);
            if backoff != NO_EXTENSION {
                next.set_len(order);
            }
            Some((log10_bits(value) | SIGN, log10_bits(value) & SIGN == 0))
        } else {
            let bits = self.longest.as_ref()?.find(table_key(hash))?;
            Some((bits | SIGN, false))
        }
    }

    /// Asks for the first two lines of a request.
    #[inline(always)]
    fn prefetch_start(&self, context: &State, word: LmWord) {
        self.prefetch_unigram(word);
        if let Some(&(newest, _)) = self.usable(context).first() {
            self.prefetch_order(2, combine(u64::from(word.0), newest.0));
        }
    }
}

impl LanguageModel for ProbingModel {
    fn order(&self) -> usize {
        self.metadata.order as usize
    }

    fn num_words(&self) -> usize {
        self.unigrams.len()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        // A damaged index may name a word that is not there.
        match self.words.find(word) {
            Some(id) if (id as usize) < self.unigrams.len() => LmWord(id),
            _ => LmWord::UNKNOWN,
        }
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        let words = spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
        let mut ids = ids[..spans.len()].iter_mut();
        self.words.find_all(words, |found| {
            // A damaged index may name a word that is not there.
            let known = found.filter(|&id| (id as usize) < self.unigrams.len());
            if let Some(id) = ids.next() {
                *id = known.map_or(LmWord::UNKNOWN, LmWord);
            }
        });
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.words.get(id.0)
    }

    fn begin_state(&self) -> State {
        self.begin
    }

    fn end_of_sentence(&self) -> LmWord {
        LmWord(self.metadata.end)
    }

    #[inline]
    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8) {
        let words = self.usable(context);
        // All lines are asked for before the first is looked into: the hashes
        // depend on ids only, and a minimised state seldom promises matches
        // that do not come.
        let mut hashes = [0; MAX_ORDER];
        let mut hash = u64::from(word.0);
        for (i, (slot, &(older, _))) in hashes.iter_mut().zip(words).enumerate() {
            hash = combine(hash, older.0);
            *slot = hash;
            self.prefetch_order(i + 2, hash);
        }
        let (mut log10, mut goes_on) = self.start(word, next);
        let mut matched = 1;
        for (i, &hash) in hashes.iter().enumerate().take(words.len()) {
            if !goes_on {
                break;
            }
            match self.look_up(i + 2, hash, next) {
                Some(found) => (log10, goes_on) = found,
                None => break,
            }
            matched = i + 2;
        }
        (Self::finish(context, log10, matched, next), matched as u8)
    }

    #[inline]
    fn prefetch(&self, context: &State, word: LmWord) {
        self.prefetch_unigram(word);
        let mut hash = u64::from(word.0);
        for (i, &(older, _)) in self.usable(context).iter().enumerate() {
            hash = combine(hash, older.0);
            self.prefetch_order(i + 2, hash);
        }
    }

    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [Scored]) {
        let results = &mut results[..requests.len()];
        for request in requests.iter().take(GROUP) {
            self.prefetch_start(&states[request.state as usize], request.word);
        }
        let mut hashes = [0u64; GROUP];
        let mut open = [0u8; GROUP];
        let mut found = [0u32; GROUP];
        let ahead = requests.chunks(GROUP).skip(1).chain(std::iter::once(&[][..]));
        let groups = requests.chunks(GROUP).zip(results.chunks_mut(GROUP));
        for ((group, results), ahead) in groups.zip(ahead) {
            for request in ahead {
                self.prefetch_start(&states[request.state as usize], request.word);
            }
            let mut count = 0;
            for (i, (request, result)) in group.iter().zip(results.iter_mut()).enumerate() {
                let context = &states[request.state as usize];
                let (log10, goes_on) = self.start(request.word, &mut result.next);
                (found[i], result.matched) = (log10, 1);
                if let Some(&(newest, _)) = self.usable(context).first()
                    && goes_on
                {
                    hashes[i] = combine(u64::from(request.word.0), newest.0);
                    open[count] = i as u8;
                    count += 1;
                }
            }
            let mut order = 2;
            while count > 0 {
                let mut kept = 0;
                for place in 0..count {
                    let i = open[place] as usize;
                    let result = &mut results[i];
                    let Some((log10, goes_on)) = self.look_up(order, hashes[i], &mut result.next)
                    else {
                        continue;
                    };
                    (found[i], result.matched) = (log10, order as u8);
                    let words = self.usable(&states[group[i].state as usize]);
                    if let Some(&(older, _)) = words.get(order - 1)
                        && goes_on
                    {
                        hashes[i] = combine(hashes[i], older.0);
                        self.prefetch_order(order + 1, hashes[i]);
                        open[kept] = i as u8;
                        kept += 1;
                    }
                }
                count = kept;
                order += 1;
            }
            for (i, (request, result)) in group.iter().zip(results.iter_mut()).enumerate() {
                let context = &states[request.state as usize];
                let matched = result.matched as usize;
                result.log10 = Self::finish(context, found[i], matched, &mut result.next);
            }
        }
    }

    fn minimisation_is_closed(&self) -> bool {
        self.metadata.minimisation_is_closed
    }
}
