//! Scores of candidates by an n-gram model, in batches of all candidates of a row.
//!
//! A candidate may complete several words. Each pass scores the next word of every candidate that
//! completes another word, in one batch, so that memory accesses overlap. Most candidates are done
//! after the first pass.

use std::ops::Range;

use miriam_lmcpu::{LmWord, Request, ScoreResult, State};

use super::LmContext;
use super::ngram_model::{MIN_LOG_PROBABILITY, NgramModel, Units};

/// Scratch memory of one thread, with the outcomes of the candidates of its last step.
#[derive(Default)]
pub(super) struct NgramScorer {
    outcomes: Vec<Outcome>,
    /// The outcomes of each row.
    rows: Vec<Range<usize>>,
    /// The states of rows, and the states after scored words.
    states: Vec<State>,
    batch: Batch,
}

/// The language model score of a candidate, under construction until its words are scored.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    token: u32,
    /// The natural log-probability of the words that it completes.
    log_probability: f32,
    /// The index of the state after these words.
    state: usize,
    /// The number of bytes of the token's text that belong to these words; the remaining bytes
    /// begin another word.
    used: usize,
    /// Whether these words include the unfinished word of the row.
    completes_unfinished: bool,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Progress {
    /// Some words of the token's text are not scored yet.
    InText,
    /// The same, and the sentence ends after these words.
    InLastText,
    Done,
}

/// The next word of a candidate.
enum NextWord<'a> {
    None,
    /// The unfinished word of the row, which ends where the candidate begins.
    Unfinished,
    /// A word that is these two strings, one after the other.
    Text([&'a [u8]; 2]),
    Id(LmWord),
}

/// The words that one pass scores.
#[derive(Default)]
struct Batch {
    /// For each query the index of its outcome and the index of its request. Queries may share a
    /// request.
    queries: Vec<(usize, usize)>,
    requests: Vec<Request>,
    results: Vec<ScoreResult>,
    text: Vec<u8>,
    /// The ranges of words in `text`; `span_requests` has the request of each word.
    spans: Vec<(u32, u32)>,
    span_requests: Vec<usize>,
    ids: Vec<LmWord>,
}

impl NgramScorer {
    /// Removes all rows.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.rows.clear();
        self.states.clear();
    }

    /// Scores the candidates `tokens` of the next row, whose hypothesis has the context `context`;
    /// `ends` says which of them end the sentence.
    pub fn add_row(
        &mut self,
        model: &NgramModel,
        context: &LmContext,
        tokens: impl Iterator<Item = u32>,
        ends: impl Fn(u32) -> bool,
    ) {
        let (first, state) = (self.outcomes.len(), self.states.len());
        self.states.push(context.state);
        self.outcomes.extend(tokens.map(|token| Outcome {
            token,
            log_probability: 0.0,
            state,
            used: 0,
            completes_unfinished: false,
            progress: if ends(token) { Progress::InLastText } else { Progress::InText },
        }));
        let row = first..self.outcomes.len();
        self.rows.push(row.clone());
        while self.batch.collect(model, context, row.clone(), &mut self.outcomes) {
            self.batch.score(model, &mut self.states, &mut self.outcomes);
        }
    }

    /// Returns the natural log-probabilities of the candidates of a row, in their order.
    pub fn scores(&self, row: usize) -> impl Iterator<Item = f32> {
        self.outcomes[self.rows[row].clone()].iter().map(|one| one.log_probability)
    }

    /// Sets `to` to the context `from` of a row, extended by a token among the row's candidates.
    /// Returns the natural log-probability of the words that the token completes.
    pub fn extend(
        &self,
        model: &NgramModel,
        row: usize,
        token: u32,
        from: &LmContext,
        to: &mut LmContext,
    ) -> f32 {
        let mut candidates = self.outcomes[self.rows[row].clone()].iter();
        let outcome = candidates.find(|one| one.token == token).expect("a candidate of the row");
        to.state.copy_from(&self.states[outcome.state]);
        to.unfinished.clear();
        if !outcome.completes_unfinished {
            to.unfinished.extend_from_slice(&from.unfinished);
        }
        if let Units::Words(texts) = &model.units {
            to.unfinished.extend_from_slice(&texts.get(token)[outcome.used..]);
        }
        outcome.log_probability
    }
}

impl Batch {
    /// Collects the next words of the candidates `row` of `outcomes`; returns whether there are
    /// any.
    fn collect(
        &mut self,
        model: &NgramModel,
        context: &LmContext,
        row: Range<usize>,
        outcomes: &mut [Outcome],
    ) -> bool {
        self.queries.clear();
        self.requests.clear();
        self.text.clear();
        self.spans.clear();
        self.span_requests.clear();
        let mut unfinished = None;
        for (at, outcome) in row.clone().zip(&mut outcomes[row]) {
            let state = outcome.state as u32;
            let request = match outcome.next_word(model, context) {
                NextWord::None => continue,
                NextWord::Id(word) => self.push_request(state, word),
                NextWord::Text(parts) => self.push_text(state, parts),
                // All candidates that begin where the unfinished word ends share this request.
                NextWord::Unfinished => *unfinished
                    .get_or_insert_with(|| self.push_text(state, [&context.unfinished, b""])),
            };
            self.queries.push((at, request));
        }
        !self.queries.is_empty()
    }

    fn push_request(&mut self, state: u32, word: LmWord) -> usize {
        self.requests.push(Request { state, word });
        self.requests.len() - 1
    }

    fn push_text(&mut self, state: u32, parts: [&[u8]; 2]) -> usize {
        let start = self.text.len() as u32;
        parts.iter().for_each(|part| self.text.extend_from_slice(part));
        self.spans.push((start, self.text.len() as u32));
        let request = self.push_request(state, LmWord::UNKNOWN);
        self.span_requests.push(request);
        request
    }

    /// Scores the collected words, adds the scores to the outcomes and appends the new states.
    fn score(&mut self, model: &NgramModel, states: &mut Vec<State>, outcomes: &mut [Outcome]) {
        let lm = &*model.lm;
        self.ids.clear();
        self.ids.resize(self.spans.len(), LmWord::UNKNOWN);
        lm.word_ids(&self.text, &self.spans, &mut self.ids);
        for (&request, &id) in self.span_requests.iter().zip(&self.ids) {
            self.requests[request].word = id;
        }
        self.results.clear();
        self.results.resize(self.requests.len(), ScoreResult::default());
        lm.score_batch(states, &self.requests, &mut self.results);
        let first = states.len();
        states.extend(self.results.iter().map(|result| result.next_state));
        for &(at, request) in &self.queries {
            let log_probability = self.results[request].log10.0 * std::f32::consts::LN_10;
            outcomes[at].log_probability += log_probability.max(MIN_LOG_PROBABILITY);
            outcomes[at].state = first + request;
        }
    }
}

impl Outcome {
    /// Returns the next word to score and advances past it.
    fn next_word<'a>(&mut self, model: &'a NgramModel, context: &'a LmContext) -> NextWord<'a> {
        let has_unfinished = !self.completes_unfinished && !context.unfinished.is_empty();
        match (self.progress, &model.units) {
            (Progress::Done, _) => NextWord::None,
            (Progress::InLastText, _) if has_unfinished => {
                self.completes_unfinished = true;
                NextWord::Unfinished
            }
            (Progress::InLastText, _) => {
                self.progress = Progress::Done;
                NextWord::Id(model.end_of_sentence)
            }
            (Progress::InText, Units::Pieces(words)) => {
                self.progress = Progress::Done;
                let word = words.get(self.token as usize).copied().flatten();
                word.map_or(NextWord::None, NextWord::Id)
            }
            (Progress::InText, Units::Words(texts)) => {
                self.next_word_of_text(texts.get(self.token), context)
            }
        }
    }

    /// Returns the next word of the candidate's `text` that is followed by a space.
    fn next_word_of_text<'a>(&mut self, text: &'a [u8], context: &'a LmContext) -> NextWord<'a> {
        while let Some(length) = text[self.used..].iter().position(|&byte| byte == b' ') {
            let part = &text[self.used..self.used + length];
            self.used += length + 1;
            let begun: &[u8] = if self.completes_unfinished { b"" } else { &context.unfinished };
            self.completes_unfinished = true;
            match (begun, part) {
                // There is no word between two spaces.
                ([], []) => {}
                (_, []) => return NextWord::Unfinished,
                _ => return NextWord::Text([begun, part]),
            }
        }
        self.progress = Progress::Done;
        NextWord::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::fusion::TokenTexts;
    use miriam_lmcpu::LanguageModel;
    use miriam_storage::LoadMethod;
    use miriam_textio::NoProgress;
    use std::sync::Arc;

    const ARPA: &str = "\\data\\\nngram 1=6\nngram 2=4\n\n\\1-grams:\n-2\t<unk>\n-99\t<s>\t-0.5\n\
                        -1\t</s>\n-1.5\tHaus\t-0.25\n-1.25\tHauses\t-0.125\n-1.75\tdas\t-0.5\n\n\
                        \\2-grams:\n-0.5\t<s> das\n-0.25\tdas Haus\n-0.75\tdas Hauses\n\
                        -0.375\tHaus </s>\n\n\\end\\\n";

    fn lm() -> Arc<dyn LanguageModel> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), ARPA).unwrap();
        miriam_lmcpu::open(file.path(), LoadMethod::Lazy, &NoProgress).unwrap()
    }

    fn words(texts: &[&str]) -> NgramModel {
        let texts: TokenTexts = texts.iter().map(|text| text.as_bytes().into()).collect();
        NgramModel::new(lm(), Units::Words(texts))
    }

    /// Returns the log-probability (base 10) of a sentence by single queries, with its end if
    /// `has_end`.
    fn slow_log10(text: &str, has_end: bool) -> f32 {
        let lm = lm();
        let (mut state, mut next) = (lm.begin_state(), State::EMPTY);
        let words = text.split_ascii_whitespace().map(|word| lm.word_id(word.as_bytes()));
        words.chain(has_end.then_some(lm.end_of_sentence())).fold(0.0, |sum, word| {
            let (log10, _) = lm.score(&state, word, &mut next);
            state = next;
            sum + log10.0
        })
    }

    /// Extends an empty hypothesis token by token, with all tokens as candidates at each step;
    /// returns the log-probabilities (base 10) of the steps.
    fn steps(model: &NgramModel, vocabulary: u32, tokens: &[u32]) -> Vec<f32> {
        let mut context = model.begin();
        let mut scorer = NgramScorer::default();
        let mut scores = Vec::new();
        for &token in tokens {
            scorer.clear();
            scorer.add_row(model, &LmContext::default(), 0..vocabulary, |token| token == 0);
            scorer.add_row(model, &context, 0..vocabulary, |token| token == 0);
            let mut next = LmContext::default();
            let log_probability = scorer.extend(model, 1, token, &context, &mut next);
            let scores_of_row: Vec<f32> = scorer.scores(1).collect();
            assert_eq!(scores_of_row[token as usize], log_probability);
            scores.push(log_probability / std::f32::consts::LN_10);
            context = next;
        }
        scores
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
        }
    }

    #[test]
    fn a_word_is_scored_where_the_next_begins() {
        let model = words(&["</s>", " das", " Haus", "es", " "]);
        let found = steps(&model, 5, &[1, 2, 3, 0]);
        let das = slow_log10("das", false);
        assert_close(&found, &[0.0, das, 0.0, slow_log10("das Hauses", true) - das]);
        // A space alone ends a word, and two of them do not make an empty one.
        assert_close(&steps(&model, 5, &[1, 4, 4, 2]), &[0.0, das, 0.0, 0.0]);
    }

    #[test]
    fn a_word_is_scored_at_once_where_its_token_ends_it() {
        let found = steps(&words(&["</s>", "das ", "Haus", "es ", "Haus "]), 5, &[1, 2, 3, 0]);
        let das = slow_log10("das", false);
        let both = slow_log10("das Hauses", false);
        assert_close(&found, &[das, 0.0, both - das, slow_log10("das Hauses", true) - both]);
    }

    #[test]
    fn a_token_may_complete_several_words() {
        let found = steps(&words(&["</s>", "da", "s Haus nein das", " Haus"]), 4, &[1, 2, 3, 0]);
        let first = slow_log10("das Haus nein", false);
        let second = slow_log10("das Haus nein das", false);
        let all = slow_log10("das Haus nein das Haus", true);
        assert_close(&found, &[0.0, first, second - first, all - second]);
    }

    #[test]
    fn pieces_are_scored_by_themselves() {
        let pieces = [None, Some(&b"das"[..]), None, Some(b"Haus"), Some(b"nein")];
        let found = steps(&NgramModel::over_pieces(lm(), pieces.into_iter()), 5, &[2, 1, 3, 4, 0]);
        let ends = ["das", "das Haus", "das Haus nein"].map(|text| slow_log10(text, false));
        let all = slow_log10("das Haus nein", true);
        let expected = [0.0, ends[0], ends[1] - ends[0], ends[2] - ends[1], all - ends[2]];
        assert_close(&found, &expected);
    }
}
