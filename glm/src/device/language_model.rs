//! [`DeviceModel`] as a [`LanguageModel`].
//!
//! Batches go to the device. Single words are scored by the same model on the CPU, which
//! also takes over when the device fails: scores are equal to the bit.

use miriam_lmcpu::{LanguageModel, LmWord, Request, ScoreResult, State};
use miriam_textio::Log10;

use super::workspace::StateOutput;
use super::{DeviceModel, PAD, SENTENCE_START, ScoreBuffers};
use crate::error::Result;

impl LanguageModel for DeviceModel {
    fn order(&self) -> usize {
        self.cpu_model.order()
    }

    fn num_words(&self) -> usize {
        self.cpu_model.num_words()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        self.cpu_model.word_id(word)
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        self.cpu_model.word_ids(text, spans, ids);
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.cpu_model.word(id)
    }

    fn begin_state(&self) -> State {
        self.cpu_model.begin_state()
    }

    fn end_of_sentence(&self) -> LmWord {
        self.cpu_model.end_of_sentence()
    }

    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8) {
        self.cpu_model.score(context, word, next)
    }

    fn prefetch(&self, context: &State, word: LmWord) {
        self.cpu_model.prefetch(context, word);
    }

    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [ScoreResult]) {
        let results = &mut results[..requests.len()];
        if self.order() == 1 {
            // There is no context to walk; the next states come from the words.
            return self.cpu_model.score_batch(states, requests, results);
        }
        if let Err(error) = self.score_requests(states, requests, results) {
            self.report_failure(&error);
            self.cpu_model.score_batch(states, requests, results);
        }
    }

    fn score_sentences(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    ) {
        if let Err(error) = self.score_as_tokens(begin, words, ends, scores) {
            self.report_failure(&error);
            self.cpu_model.score_sentences(begin, words, ends, scores);
        }
    }

    fn score_next_words(&self, context: &State, words: &[LmWord], scores: &mut [Log10]) {
        if let Err(error) = self.score_after_context(context, words, scores) {
            self.report_failure(&error);
            self.cpu_model.score_next_words(context, words, scores);
        }
    }

    fn minimization_is_closed(&self) -> bool {
        self.cpu_model.minimization_is_closed()
    }
}

impl DeviceModel {
    fn report_failure(&self, error: &crate::Error) {
        self.failure_reported.call_once(|| tracing::warn!("{error}; continuing on the CPU"));
    }

    /// Scores requests as n-grams; the next states come from the walks.
    fn score_requests(
        &self,
        states: &[State],
        requests: &[Request],
        results: &mut [ScoreResult],
    ) -> Result<()> {
        let (order, chunk) = (self.order(), self.chunk_size());
        let context_len = order - 1;
        self.with_workspace(|workspace| {
            let (mut queries, mut log10, mut matched) = (Vec::new(), Vec::new(), Vec::new());
            for (requests, results) in requests.chunks(chunk).zip(results.chunks_mut(chunk)) {
                queries.clear();
                for request in requests {
                    let context = states[request.state as usize].entries();
                    let words = context.iter().map(|entry| entry.0.0).take(context_len);
                    let padded = words.chain(std::iter::repeat(PAD)).take(context_len);
                    queries.push(request.word.0);
                    queries.extend(padded);
                }
                log10.resize(requests.len(), 0.0);
                matched.resize(requests.len(), 0);
                let answers = ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) };
                workspace.score_ngrams(self, &queries, StateOutput::Wanted, answers)?;
                let (kept, backoffs) = workspace.states()?;
                for (i, result) in results.iter_mut().enumerate() {
                    (result.log10, result.ngram_length) = (Log10(log10[i]), matched[i]);
                    let words = &queries[i * order..][..context_len];
                    let backoffs = &backoffs[i * context_len..][..context_len];
                    let entries = result.next_state.entries_mut().iter_mut();
                    for ((entry, &word), &backoff) in entries.zip(words).zip(backoffs) {
                        *entry = (LmWord(word), f32::from_bits(backoff));
                    }
                    result.next_state.set_len(usize::from(kept[i]));
                }
            }
            Ok(())
        })
    }

    /// Scores words after one context.
    fn score_after_context(
        &self,
        context: &State,
        words: &[LmWord],
        scores: &mut [Log10],
    ) -> Result<()> {
        let context_len = self.order() - 1;
        let context = context.entries().iter().map(|entry| entry.0.0);
        let context: Vec<u32> = context.chain(std::iter::repeat(PAD)).take(context_len).collect();
        let words: Vec<u32> = words.iter().map(|word| word.0).collect();
        // The whole vocabulary needs no upload.
        let is_all = words.len() == self.num_words() && words.iter().copied().eq(0..);
        let mut log10 = vec![0.0; words.len()];
        let answers = ScoreBuffers { log10: &mut log10, matched: None };
        let list = (!is_all).then_some(&words[..]);
        DeviceModel::score_next(self, &context, list, answers)?;
        for (score, log10) in scores[..words.len()].iter_mut().zip(log10) {
            *score = Log10(log10);
        }
        Ok(())
    }

    /// Scores sentences as a stream of tokens, each after the words of `begin`.
    fn score_as_tokens(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    ) -> Result<()> {
        let prefix: Vec<u32> = begin.entries().iter().rev().map(|entry| entry.0.0).collect();
        let last = ends.last().copied().unwrap_or(0);
        let mut tokens = Vec::with_capacity(last + prefix.len() * ends.len());
        let mut start = 0;
        for &end in ends {
            let first = tokens.len();
            if start < end {
                tokens.extend_from_slice(&prefix);
                tokens.extend(words[start..end].iter().map(|word| word.0));
                tokens[first] |= SENTENCE_START;
            }
            start = end;
        }
        let (mut log10, mut matched) = (vec![0.0; tokens.len()], vec![0; tokens.len()]);
        self.score_tokens(
            &tokens,
            ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) },
        )?;
        let (mut start, mut at) = (0, 0);
        for &end in ends {
            if start < end {
                at += prefix.len();
            }
            for score in &mut scores[start..end] {
                *score = (Log10(log10[at]), matched[at]);
                at += 1;
            }
            start = end;
        }
        Ok(())
    }
}
