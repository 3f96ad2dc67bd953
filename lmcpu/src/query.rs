//! The output of KenLM's `query`, byte for byte (`ngram-lm.md` 2.5).
//!
//! One quirk is copied only on demand. If the last line has no line end, KenLM prints its words but
//! does not end the sentence. The sums leave out its log10 p and its number of unknown words. They
//! include its number of tokens and the log10 p of its unknown words.

use miriam_textio::number::push_integer;
use miriam_textio::{Input, Output, Progress, number};

use crate::text_scoring::{
    BlockOutcome, Perplexity, ScoredSentence, SentenceMarkers, StreamOptions, TextScorer,
    score_stream,
};
use crate::{LanguageModel, Result};

/// The parts of the output that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verbosity {
    /// `word=id matched log10` and a tab for each word.
    pub word: bool,
    /// `Total: log10 OOV: count` for each line.
    pub sentence: bool,
    /// Perplexities and counts at the end.
    pub summary: bool,
}

impl Verbosity {
    /// Everything, as KenLM prints by default.
    pub const ALL: Verbosity = Verbosity { word: true, sentence: true, summary: true };
}

/// Options for scoring text and for the output.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions {
    /// The parts of the output that are printed.
    pub verbosity: Verbosity,
    /// Whether `<s>` comes before and `</s>` after each line.
    pub sentence_markers: bool,
    /// The number of worker threads, from 1.
    pub threads: usize,
    /// Whether the scores of each line are printed before the next line is read.
    pub line_buffered: bool,
    /// Whether a last line without a line end is treated as in KenLM; otherwise it is a line like
    /// any other.
    pub kenlm_compat: bool,
}

/// Scores each line of `input` and prints what `options` select. Returns the sums.
///
/// # Errors
///
/// If the input cannot be read, has a line of 4 GiB or more, or the output cannot be
/// written.
pub fn query(
    model: &dyn LanguageModel,
    input: Input,
    output: &mut Output,
    options: QueryOptions,
    progress: &dyn Progress,
) -> Result<Perplexity> {
    let verbosity = options.verbosity;
    let stream = StreamOptions {
        total_bytes: input.size(),
        threads: options.threads,
        low_latency: options.line_buffered,
    };
    let (sums, _) = score_stream(
        &mut std::iter::once(Ok(input)),
        output,
        stream,
        progress,
        || {
            let mut scorer = TextScorer::new(
                model,
                SentenceMarkers::both_if(options.sentence_markers),
                verbosity.word,
            );
            move |mut text: Vec<u8>| {
                if !options.kenlm_compat && text.last() != Some(&b'\n') {
                    text.push(b'\n');
                }
                let mut outcome = BlockOutcome::default();
                let scores = scorer.score(&text);
                let mut sentences = scores.sentences().peekable();
                while let Some(sentence) = sentences.next() {
                    if verbosity.word {
                        push_words(&sentence, &mut outcome.output);
                    }
                    if sentences.peek().is_none() && scores.last_is_unterminated() {
                        outcome.tokens += sentence.len();
                        outcome.oov_log10s.extend(sentence.oov_log10s());
                        break;
                    }
                    let (log10, unknown) = outcome.add_sentence(&sentence);
                    if verbosity.sentence {
                        let out = &mut outcome.output;
                        out.extend_from_slice(b"Total: ");
                        number::push_shortest_f32(out, log10);
                        out.extend_from_slice(b" OOV: ");
                        push_integer(out, unknown);
                        out.push(b'\n');
                    }
                }
                outcome
            }
        },
        |_, _| {},
    )?;
    if verbosity.summary {
        let mut summary = Vec::new();
        sums.push_summary(&mut summary);
        output.write(&summary)?;
    }
    Ok(sums)
}

fn push_words(sentence: &ScoredSentence<'_>, out: &mut Vec<u8>) {
    for token in sentence.tokens() {
        out.extend_from_slice(token.text);
        out.push(b'=');
        push_integer(out, token.id.0);
        out.push(b' ');
        push_integer(out, token.ngram_length);
        out.push(b' ');
        number::push_shortest_f32(out, token.log10);
        out.push(b'\t');
    }
}
