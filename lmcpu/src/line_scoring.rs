//! Scores of lines in memory, for callers that hold strings and want numbers.
//!
//! Values equal those that [`crate::perplexity`] prints, to the bit, for any number of threads:
//! lines are copied into blocks of text, which are scored as the blocks of a file are.

use std::ops::Range;

use miriam_textio::{CancellationToken, ordered_map};

use crate::arpa::is_space;
use crate::text_scoring::{BLOCK_BYTES, TextScorer, perplexity_of};
use crate::{Error, LanguageModel, LmWord, Result, State};

pub use crate::text_scoring::SentenceMarkers;

/// Options for scoring lines.
#[derive(Clone, Copy, Debug)]
pub struct LineOptions {
    /// The markers of each line.
    pub markers: SentenceMarkers,
    /// Whether a line may hold several sentences, separated by `\n`; the values of a line are then
    /// the sums of the values of its sentences. Otherwise `\n` is a blank.
    pub documents: bool,
    /// The number of worker threads, from 1.
    pub threads: usize,
}

/// The values of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LineScore {
    /// log10 p: an f32 sum over the words of a sentence, in order; of a document, the f64
    /// sum of its sentences.
    pub log10: f64,
    /// The number of words, unknown ones and `</s>` included.
    pub tokens: u64,
    /// The number of unknown words.
    pub oovs: u64,
}

impl LineScore {
    /// Returns 10^(-log10 p / tokens); not a number if there are no tokens.
    pub fn perplexity(&self) -> f64 {
        perplexity_of(self.log10, self.tokens)
    }
}

/// log10 p of each token of some lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenScores {
    /// The values of all lines, one after another.
    pub log10: Vec<f32>,
    /// The start of each line in `log10`, and the end of the last.
    pub offsets: Vec<usize>,
}

/// Scores each of `lines`.
///
/// ```
/// use miriam_lmcpu::line_scoring::{LineOptions, SentenceMarkers, score_lines};
/// use miriam_textio::{CancellationToken, NoProgress};
/// # let file = tempfile::NamedTempFile::new()?;
/// # let arpa = "\\data\\\nngram 1=4\nngram 2=2\n\n\
/// #     \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
/// #     \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n";
/// # std::fs::write(file.path(), arpa)?;
/// let model = miriam_lmcpu::open(file.path(), miriam_storage::LoadMethod::Lazy, &NoProgress)?;
/// let options = LineOptions { markers: SentenceMarkers::BOTH, documents: false, threads: 1 };
/// let scores = score_lines(&*model, &[b"a"], options, &CancellationToken::new())?;
/// // `<s> a` and `a </s>` are bigrams of the model.
/// assert_eq!((scores[0].log10, scores[0].tokens), (-0.5 - 0.75, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If `stop` is cancelled, or a line has 4 GiB or more; the message has the number of the line,
/// from 0.
pub fn score_lines(
    model: &dyn LanguageModel,
    lines: &[&[u8]],
    options: LineOptions,
    stop: &CancellationToken,
) -> Result<Vec<LineScore>> {
    let mut scores = Vec::with_capacity(lines.len());
    map_line_blocks(
        model,
        lines,
        options,
        stop,
        |scorer, block| {
            let scored = scorer.score(&block.text);
            let mut sentences = scored.sentences();
            let lines = block.sentence_counts.iter().map(|&count| {
                let mut line = LineScore::default();
                for sentence in sentences.by_ref().take(count) {
                    line.log10 += f64::from(sentence.log10());
                    line.tokens += sentence.len();
                    line.oovs += sentence.oov_log10s().count() as u64;
                }
                line
            });
            lines.collect::<Vec<_>>()
        },
        |block| scores.extend(block),
    )?;
    Ok(scores)
}

/// Scores each word of each of `lines`.
///
/// # Errors
///
/// Those of [`score_lines`].
pub fn score_tokens(
    model: &dyn LanguageModel,
    lines: &[&[u8]],
    options: LineOptions,
    stop: &CancellationToken,
) -> Result<TokenScores> {
    let mut all = TokenScores { log10: Vec::new(), offsets: vec![0] };
    map_line_blocks(
        model,
        lines,
        options,
        stop,
        |scorer, block| {
            let scored = scorer.score(&block.text);
            let mut sentences = scored.sentences();
            let (mut log10, mut counts) = (Vec::new(), Vec::new());
            for &count in &block.sentence_counts {
                let before = log10.len();
                sentences.by_ref().take(count).for_each(|s| log10.extend(s.token_log10s()));
                counts.push(log10.len() - before);
            }
            (log10, counts)
        },
        |(log10, counts)| {
            let mut end = all.log10.len();
            all.log10.extend(log10);
            all.offsets.extend(counts.into_iter().map(|count| {
                end += count;
                end
            }));
        },
    )?;
    Ok(all)
}

/// Scores one sentence, for callers that have one at a time: starts no thread and keeps no
/// buffers. The result is log10 p, equal to the value of [`score_lines`].
pub fn score_sentence(model: &dyn LanguageModel, text: &[u8], markers: SentenceMarkers) -> f32 {
    let mut total = 0.0;
    walk_sentence(model, text, markers, |_, log10, _| total += log10);
    total
}

/// Calls `visit` for each word of `text` with whether it is unknown, its log10 p and its matched
/// length. If `markers` have `</s>`, calls it for `</s>` too, which is never unknown.
pub fn walk_sentence(
    model: &dyn LanguageModel,
    text: &[u8],
    markers: SentenceMarkers,
    mut visit: impl FnMut(bool, f32, u8),
) {
    let mut ids = sentence_ids(model, text);
    let num_words = ids.len();
    if markers.end {
        ids.push(model.end_of_sentence());
    }
    // The scorer of many sentences prefetches ahead for one sentence too, and skips what the
    // longest n-grams make unnecessary.
    let begin = if markers.begin { model.begin_state() } else { State::EMPTY };
    let mut scores = vec![Default::default(); ids.len()];
    model.score_sentences(&begin, &ids, &[ids.len()], &mut scores);
    let tokens = ids.iter().zip(&scores).enumerate();
    tokens.for_each(|(at, (&id, &(log10, matched)))| {
        visit(at < num_words && id == LmWord::UNKNOWN, log10.0, matched);
    });
}

/// Returns the ids of the words of `text`.
fn sentence_ids(model: &dyn LanguageModel, text: &[u8]) -> Vec<LmWord> {
    /// The number of words that are looked up together, so that their memory accesses overlap.
    const GROUP: usize = 64;
    // A word and its blank have six bytes or so; </s> is pushed later.
    let mut all = Vec::with_capacity(text.len() / 4 + 2);
    let (mut spans, mut ids) = ([(0, 0); GROUP], [LmWord::UNKNOWN; GROUP]);
    // The positions in spans have 32 bits.
    for part in split_between_words(text, u32::MAX as usize - 1) {
        let mut words = part.split(|&byte| is_space(byte)).filter(|word| !word.is_empty());
        loop {
            let mut count = 0;
            for (span, word) in spans.iter_mut().zip(&mut words) {
                let start = word.as_ptr().addr() - part.as_ptr().addr();
                *span = (start as u32, (start + word.len()) as u32);
                count += 1;
            }
            model.word_ids(part, &spans[..count], &mut ids[..count]);
            all.extend_from_slice(&ids[..count]);
            if count < GROUP {
                break;
            }
        }
    }
    all
}

/// Returns the number of words of `text`, which are separated as everywhere in this crate.
pub fn count_words(text: &[u8]) -> usize {
    text.split(|&byte| is_space(byte)).filter(|word| !word.is_empty()).count()
}

/// Splits `text` into parts of at most `limit` bytes that end before a blank; a longer word is
/// divided.
fn split_between_words(text: &[u8], limit: usize) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = if rest.len() <= limit {
            rest.len()
        } else {
            let before = rest[..limit].iter().rposition(|&byte| is_space(byte));
            before.filter(|&at| at > 0).unwrap_or(limit)
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

/// Some of the lines as text.
#[derive(Default)]
struct Block {
    text: Vec<u8>,
    /// The number of sentences in each line.
    sentence_counts: Vec<usize>,
}

impl Block {
    fn push(&mut self, line: &[u8], documents: bool) {
        let start = self.text.len();
        self.text.extend_from_slice(line);
        if !documents {
            let copied = &mut self.text[start..];
            if memchr::memchr(b'\n', copied).is_some() {
                copied.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
            }
        }
        if self.text[start..].last() != Some(&b'\n') {
            self.text.push(b'\n');
        }
        let sentences =
            if documents { memchr::memchr_iter(b'\n', &self.text[start..]).count() } else { 1 };
        self.sentence_counts.push(sentences);
    }
}

/// Passes blocks of `lines` to workers and their results, in order, to `take`.
fn map_line_blocks<R: Send>(
    model: &dyn LanguageModel,
    lines: &[&[u8]],
    options: LineOptions,
    stop: &CancellationToken,
    score_block: impl Fn(&mut TextScorer<'_>, &Block) -> R + Sync,
    mut take: impl FnMut(R),
) -> Result<()> {
    let mut ranges = line_ranges(lines);
    // Each call makes an encoder for each thread, so there are no more threads than blocks.
    let blocks = lines.iter().map(|line| line.len() + 1).sum::<usize>().div_ceil(BLOCK_BYTES);
    let threads = options.threads.min(blocks);
    ordered_map(
        threads,
        || match ranges.next().transpose()? {
            Some(_) if stop.is_cancelled() => Err(Error::Cancelled),
            range => Ok(range),
        },
        || {
            let mut scorer = TextScorer::new(model, options.markers, false);
            let score_block = &score_block;
            move |range| {
                let mut block = Block::default();
                lines[range].iter().for_each(|line| block.push(line, options.documents));
                score_block(&mut scorer, &block)
            }
        },
        |result, _| {
            take(result);
            Ok(())
        },
    )
}

/// Returns the lines in ranges of about [`BLOCK_BYTES`] of text.
fn line_ranges(lines: &[&[u8]]) -> impl Iterator<Item = Result<Range<usize>>> + Send {
    let mut start = 0;
    std::iter::from_fn(move || {
        let (mut end, mut bytes) = (start, 0);
        while end < lines.len() && bytes < BLOCK_BYTES {
            bytes += lines[end].len() + 1;
            end += 1;
        }
        if bytes >= u32::MAX as usize {
            let file = format!("line {}", end - 1);
            return Some(Err(Error::Unsupported { file, reason: "it has 4 GiB or more".into() }));
        }
        let range = start..end;
        start = end;
        (!range.is_empty()).then_some(Ok(range))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, LazyLock};

    use super::*;
    use miriam_storage::LoadMethod;
    use miriam_textio::NoProgress;
    use proptest::prelude::*;

    use crate::perplexity::{JsonOptions, PerplexityOptions, perplexity};
    use crate::test_support::{TOY, capture_output, text_input};

    static MODEL: LazyLock<Arc<dyn LanguageModel>> = LazyLock::new(|| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TOY).unwrap();
        crate::open(file.path(), LoadMethod::Lazy, &NoProgress).unwrap()
    });

    fn options(markers: SentenceMarkers, documents: bool, threads: usize) -> LineOptions {
        LineOptions { markers, documents, threads }
    }

    fn score(lines: &[&[u8]], options: LineOptions) -> Vec<LineScore> {
        score_lines(&**MODEL, lines, options, &CancellationToken::new()).unwrap()
    }

    /// Returns what `lm perplexity --per-line` prints: log10, tokens, unknown words, perplexity.
    fn printed(text: &[u8], markers: bool, json: Option<JsonOptions>) -> String {
        let options = PerplexityOptions {
            sentence_markers: markers,
            threads: 1,
            preparation: None,
            per_line: true,
            json,
            filter: None,
        };
        let mut input = std::iter::once(Ok(text_input(text, "text")));
        let (bytes, _) = capture_output(|output| {
            perplexity(&**MODEL, &mut input, None, output, &options, &NoProgress)
        })
        .unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn values_are_those_of_the_toy_model() {
        // Computed by hand from the lines of the model: <s> a b </s> is -0.5 of a bigram, -0.3 of a
        // trigram, then b </s>.
        let scores = score(&[b"a b", b"", b"c a"], options(SentenceMarkers::BOTH, false, 1));
        assert_eq!(scores[0], LineScore { log10: -1.5, tokens: 3, oovs: 0 });
        assert_eq!((scores[1].tokens, scores[1].oovs), (1, 0));
        assert_eq!((scores[2].tokens, scores[2].oovs), (3, 1));
        assert!((scores[0].perplexity() - 10f64.powf(0.5)).abs() < 1e-12);
        let no_markers = SentenceMarkers { begin: false, end: false };
        let scores = score(&[b"a", b"\n \n"], options(no_markers, false, 1));
        assert_eq!(scores[0], LineScore { log10: -1.5, tokens: 1, oovs: 0 });
        assert_eq!(scores[1], LineScore::default());
        assert!(scores[1].perplexity().is_nan());
        let begin = SentenceMarkers { begin: true, end: false };
        assert_eq!(score(&[b"a"], options(begin, false, 1))[0].log10, -0.5);
        let end = SentenceMarkers { begin: false, end: true };
        // </s> after a: the backoff of a and the unigram.
        assert_eq!(
            score(&[b"a"], options(end, false, 1))[0].log10,
            f64::from(-1.5 + (-1.2 + -0.2f32))
        );
    }

    #[test]
    fn cancelled_work_is_an_error() {
        let stop = CancellationToken::new();
        stop.cancel();
        for threads in [1, 2] {
            let options = options(SentenceMarkers::BOTH, false, threads);
            let outcome = score_lines(&**MODEL, &[b"a"], options, &stop);
            assert!(matches!(outcome, Err(Error::Cancelled)));
        }
    }

    #[test]
    fn long_texts_are_cut_between_words() {
        let parts: Vec<&[u8]> = split_between_words(b"ab cd efghij k", 4).collect();
        assert_eq!(parts, [&b"ab"[..], b" cd", b" efg", b"hij", b" k"]);
        assert_eq!(count_words(b" a\tb\nc\x0bd\x0ce\rf\0g "), 6);
    }

    fn any_line() -> impl Strategy<Value = Vec<u8>> {
        let piece = proptest::sample::select(&["a", "b", "c", " ", " ", "\t", "\r", "\0", "ab"]);
        proptest::collection::vec(piece, 0..150).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn lines_have_the_values_that_perplexity_prints(
            lines in proptest::collection::vec(any_line(), 0..40),
            markers in any::<bool>(),
            copies in proptest::sample::select(&[1usize, 100]),
        ) {
            // More than one block in some cases.
            let lines: Vec<&[u8]> =
                lines.iter().map(Vec::as_slice).cycle().take(lines.len() * copies).collect();
            let expected = printed(&[lines.join(&b'\n'), b"\n".to_vec()].concat(), markers, None);
            let markers = SentenceMarkers::both_if(markers);
            let scores = score(&lines, options(markers, false, 1));
            if !lines.is_empty() {
                let values = expected.lines().map(|line| {
                    let mut fields = line.split('\t');
                    let mut next = || fields.next().unwrap();
                    (next().parse::<f32>().unwrap(), next().parse().unwrap(), next().parse().unwrap())
                });
                let found = scores.iter().map(|s| (s.log10 as f32, s.tokens, s.oovs));
                prop_assert!(values.eq(found));
            }
            for threads in [2, 3] {
                prop_assert_eq!(&score(&lines, options(markers, false, threads)), &scores);
            }
            let stop = CancellationToken::new();
            let tokens = score_tokens(&**MODEL, &lines, options(markers, false, 2), &stop).unwrap();
            prop_assert_eq!(tokens.offsets.len(), lines.len() + 1);
            for (i, line) in lines.iter().enumerate() {
                let words = &tokens.log10[tokens.offsets[i]..tokens.offsets[i + 1]];
                prop_assert_eq!(words.len() as u64, scores[i].tokens);
                let sum = words.iter().fold(0.0, |sum, word| sum + word);
                prop_assert_eq!(f64::from(sum), scores[i].log10);
                prop_assert_eq!(score_sentence(&**MODEL, line, markers), sum);
                let mut walked = Vec::new();
                walk_sentence(&**MODEL, line, markers, |_, log10, _| walked.push(log10));
                prop_assert_eq!(&walked[..], words);
            }
        }

        #[test]
        fn documents_have_the_values_that_perplexity_prints_for_json(
            documents in proptest::collection::vec("[ab \n]{0,12}", 1..20),
        ) {
            let json: String =
                documents.iter().map(|d| serde_json::json!({"t": d}).to_string() + "\n").collect();
            let field = JsonOptions { field: "t".into(), skip_invalid: false, buckets: None, needs_language: false };
            let expected = printed(json.as_bytes(), true, Some(field));
            let lines: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
            let scores = score(&lines, options(SentenceMarkers::BOTH, true, 2));
            for (line, score) in expected.lines().zip(scores) {
                // serde_json's numbers may differ in the last bit.
                let (_, scores) = line.split_once(",\"lm_log10\":").unwrap();
                let values = scores.trim_end_matches('}').split(',');
                let values = values.map(|v| v.rsplit(':').next().unwrap().parse::<f64>().unwrap());
                let found =
                    [score.log10, score.tokens as f64, score.oovs as f64, score.perplexity()];
                prop_assert!(values.eq(found), "{} {:?}", line, score);
            }
        }
    }
}
