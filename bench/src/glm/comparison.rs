//! Bitwise comparison of the scores of all searches (`ngram-lm.md` 8, T11).
//!
//! The searches of a `glm` file on the CPU, word by word and in batches, are compared with another
//! kind of model of the same n-grams; the searches on the device, in batches of many sizes, are
//! compared with the CPU's. The comparison ends at the first query that differs.

#[cfg(feature = "cuda")]
use miriam_glm::device::DeviceModel;
use miriam_glm::device::{PAD, SENTENCE_START, ScoreBuffers, SentenceSum};
use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_textio::Log10;

use super::queries;
use crate::error::{Error, Result};
use crate::lm::sequences::{ScoringMode, Sequences};
use crate::synthetic::Text;

/// The queries to compare.
pub struct CheckData {
    /// Random n-grams, `[n, order]`, as [`queries::ngrams`] returns them.
    pub random_ngrams: Vec<u32>,
    /// A text with known and unknown n-grams.
    pub text: Text,
    /// The batch sizes for the device. Queries are repeated to fill a batch.
    pub batch_sizes: Vec<usize>,
}

/// The batch sizes of the specification.
pub const BATCH_SIZES: [usize; 7] = [1, 31, 32, 33, 1_000, 10_000, 10_000_000];

/// The maximum number of batches of one size that are compared.
const MAX_BATCHES: usize = 128;

/// The result of a call of the device.
pub type GlmResult = std::result::Result<(), miriam_glm::Error>;

/// The scoring functions of `DeviceModel`, as a trait so that tests can use a simple
/// implementation.
pub trait BatchScorer {
    /// Scores n-grams, as `DeviceModel::score_ngrams` does.
    fn score_ngrams(&self, queries: &[u32], answers: ScoreBuffers<'_>) -> GlmResult;
    /// Scores tokens, as `DeviceModel::score_tokens` does.
    fn score_tokens(&self, tokens: &[u32], answers: ScoreBuffers<'_>) -> GlmResult;
    /// Sums the scores of sentences that begin with `<s>`, as `DeviceModel::sum_sentences` does.
    fn sum_sentences(&self, tokens: &[u32], ends: &[usize], sums: &mut [SentenceSum]) -> GlmResult;
}

#[cfg(feature = "cuda")]
impl BatchScorer for DeviceModel {
    fn score_ngrams(&self, queries: &[u32], answers: ScoreBuffers<'_>) -> GlmResult {
        DeviceModel::score_ngrams(self, queries, answers)
    }

    fn score_tokens(&self, tokens: &[u32], answers: ScoreBuffers<'_>) -> GlmResult {
        DeviceModel::score_tokens(self, tokens, answers)
    }

    fn sum_sentences(&self, tokens: &[u32], ends: &[usize], sums: &mut [SentenceSum]) -> GlmResult {
        DeviceModel::sum_sentences(self, tokens, ends, true, sums)
    }
}

/// The models to compare.
pub struct Models<'m> {
    /// A `glm` file on the CPU.
    pub cpu_model: &'m dyn LanguageModel,
    /// Another kind of model whose words have the same ids.
    pub reference: &'m dyn LanguageModel,
    /// The name of `reference`.
    pub reference_name: &'m str,
    /// The id of `<s>`.
    pub bos_id: u32,
    /// The `glm` file on a device, if there is one.
    pub device: Option<&'m dyn BatchScorer>,
}

/// Compares all searches on rayon's current threads, and calls `report` with a line for each
/// comparison that found no difference.
///
/// # Errors
///
/// Returns [`Error::Mismatch`] for the first difference. Also fails if the device fails.
pub fn compare_models(
    models: &Models<'_>,
    data: &CheckData,
    report: &mut dyn FnMut(&str),
) -> Result<()> {
    let order = models.cpu_model.order();
    let text_ngrams = queries::ngrams(&data.text, models.bos_id, order);
    let kinds = [("random n-grams", &data.random_ngrams), ("n-grams of text", &text_ngrams)];
    for (name, ngrams) in kinds {
        let expected = compare_on_cpu(models, name, &Sequences::ngrams(ngrams, order), report)?;
        let Some(device) = models.device else { continue };
        for &size in &data.batch_sizes {
            let what = format!("{name}, batches of {size}: device = CPU");
            let batches = BatchCuts { count: expected.len(), size };
            let mut compared = 0;
            for batch in batches.ranges() {
                let indices = batch.clone().map(|i| i % expected.len());
                let queries: Vec<u32> = indices
                    .clone()
                    .flat_map(|i| &ngrams[i * order..(i + 1) * order])
                    .copied()
                    .collect();
                let got = collect_scores(queries.len() / order, |answers| {
                    device.score_ngrams(&queries, answers)
                })?;
                let pairs = indices.map(|i| expected[i]).zip(got);
                ensure_bit_equal(&what, pairs, |i| {
                    QueryWords::Ngram(&queries[i * order..(i + 1) * order])
                })?;
                compared += batch.len();
            }
            report(&format!("{what}, {compared} compared"));
        }
    }
    let sentences = Sequences::sentences(&data.text, models.cpu_model.begin_state());
    let expected = compare_on_cpu(models, "text", &sentences, report)?;
    if let Some(device) = models.device {
        compare_text_on_device(models, data, device, &expected, report)?;
    }
    compare_perplexity(models, &data.text, &expected, report)
}

/// Compares the two models on the CPU; returns the scores.
fn compare_on_cpu(
    models: &Models<'_>,
    name: &str,
    sequences: &Sequences,
    report: &mut dyn FnMut(&str),
) -> Result<Vec<(Log10, u8)>> {
    let expected = sequences.score(models.reference, ScoringMode::Single);
    for (mode, mode_name) in
        [(ScoringMode::Single, "one by one"), (ScoringMode::Batch, "side by side")]
    {
        let what = format!("{name}, {mode_name}: CPU = {}", models.reference_name);
        let got = sequences.score(models.cpu_model, mode);
        ensure_bit_equal(&what, expected.iter().copied().zip(got), |i| {
            QueryWords::TextPrefix(sequences.query_words(i))
        })?;
        report(&format!("{what}, {} compared", expected.len()));
    }
    Ok(expected)
}

/// Compares the device's scores of a text with the expected ones.
fn compare_text_on_device(
    models: &Models<'_>,
    data: &CheckData,
    device: &dyn BatchScorer,
    expected: &[(Log10, u8)],
    report: &mut dyn FnMut(&str),
) -> Result<()> {
    let text = &data.text;
    // Sentences that begin with <s>, repeated to fill the largest batch.
    let tokens = queries::tokens(text, models.bos_id);
    let most = data.batch_sizes.iter().copied().max().unwrap_or(0);
    let times = most.div_ceil(tokens.len()).max(1);
    let repeated = tokens.repeat(times);
    let what = format!("text, {} tokens at once: device = CPU", repeated.len());
    let got = collect_scores(repeated.len(), |answers| device.score_tokens(&repeated, answers))?;
    let scored = repeated.iter().zip(got).filter(|(token, _)| **token & SENTENCE_START == 0);
    let pairs = expected.iter().copied().cycle().zip(scored.map(|(_, score)| score));
    ensure_bit_equal(&what, pairs, |i| {
        QueryWords::TextPrefix(text.words[..=i % text.words.len()].to_vec())
    })?;
    report(&format!("{what}, {} compared", expected.len() * times));
    // Parts of the text without <s>, for every batch size.
    for &size in &data.batch_sizes {
        let size = size.min(text.words.len());
        let what = format!("text without <s>, batches of {size}: device = CPU");
        let mut compared = 0;
        for window in (BatchCuts { count: text.words.len(), size }).ranges() {
            let window = window.start..window.end.min(text.words.len());
            let ends = text.ends.iter().copied().filter(|end| window.contains(end));
            let ends: Vec<usize> = ends.chain([window.end]).map(|end| end - window.start).collect();
            let ends: Vec<usize> = ends.into_iter().filter(|&end| end > 0).collect();
            let part = Text { words: text.words[window.clone()].to_vec(), ends };
            let expected = Sequences::sentences(&part, State::EMPTY)
                .score(models.cpu_model, ScoringMode::Batch);
            let tokens = queries::tokens_without_markers(&part);
            let got =
                collect_scores(tokens.len(), |answers| device.score_tokens(&tokens, answers))?;
            ensure_bit_equal(&what, expected.into_iter().zip(got), |i| {
                QueryWords::TextPrefix(part.words[..=i].to_vec())
            })?;
            compared += window.len();
        }
        report(&format!("{what}, {compared} compared"));
    }
    Ok(())
}

/// Compares the summed scores of sentences, and reports the perplexity.
fn compare_perplexity(
    models: &Models<'_>,
    text: &Text,
    scores: &[(Log10, u8)],
    report: &mut dyn FnMut(&str),
) -> Result<()> {
    let mut expected = Vec::new();
    for (start, &end) in text.starts().zip(&text.ends) {
        let log10 = scores[start..end].iter().fold(0.0f32, |sum, score| sum + score.0.0);
        let unknown =
            text.words[start..end].iter().filter(|&&word| LmWord(word) == LmWord::UNKNOWN);
        expected.push(SentenceSum { log10, unknown: unknown.count() as u32 });
    }
    let on_cpu = perplexity(&expected, text.words.len());
    let Some(device) = models.device else {
        report(&format!("perplexity of the text on the CPU: {on_cpu}"));
        return Ok(());
    };
    let tokens = queries::tokens(text, models.bos_id);
    // The first i + 1 sentences have i + 1 tokens <s>, which `text` lacks.
    let ends: Vec<usize> = text.ends.iter().enumerate().map(|(i, end)| end + i + 1).collect();
    let mut sums = vec![SentenceSum::default(); ends.len()];
    device.sum_sentences(&tokens, &ends, &mut sums)?;
    for (i, (expected, got)) in expected.iter().zip(&sums).enumerate() {
        let same =
            (expected.log10.to_bits(), expected.unknown) == (got.log10.to_bits(), got.unknown);
        if !same {
            let what = "sums of sentences: device = CPU".into();
            let words = text.slice(i..i + 1).words;
            let detail =
                format!("sentence {i}, {words:?}: {got:?}, but the CPU computes {expected:?}");
            return Err(Error::Mismatch { what, detail });
        }
    }
    let on_device = perplexity(&sums, text.words.len());
    report(&format!(
        "sums of {} sentences: device = CPU; perplexity {on_device} on the device, {on_cpu} on the CPU",
        sums.len()
    ));
    Ok(())
}

fn perplexity(sums: &[SentenceSum], num_words: usize) -> f64 {
    let sum: f64 = sums.iter().map(|sum| f64::from(sum.log10)).sum();
    10f64.powf(-sum / num_words as f64)
}

/// A division of queries into batches of one size.
struct BatchCuts {
    count: usize,
    size: usize,
}

impl BatchCuts {
    /// Returns the ranges of the batches, at most [`MAX_BATCHES`]. If there are fewer queries than
    /// a batch holds, the only range exceeds `count`; otherwise, queries that do not fill a last
    /// batch are left out.
    fn ranges(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let batches = (self.count / self.size).clamp(1, MAX_BATCHES);
        (0..batches).map(move |i| i * self.size..(i + 1) * self.size)
    }
}

/// Returns the scores of `count` queries.
fn collect_scores(
    count: usize,
    ask: impl FnOnce(ScoreBuffers<'_>) -> GlmResult,
) -> Result<Vec<(Log10, u8)>> {
    let (mut log10, mut matched) = (vec![0.0; count], vec![0; count]);
    ask(ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) })?;
    Ok(log10.into_iter().map(Log10).zip(matched).collect())
}

/// The words of a query in an error message.
enum QueryWords<'q> {
    /// Words, newest first.
    Ngram(&'q [u32]),
    /// Words of a text. The last one is scored; the first ones may belong to the previous sentence.
    TextPrefix(Vec<u32>),
}

/// Fails at the first pair of an expected and an actual score that are not bitwise equal.
fn ensure_bit_equal<'q>(
    what: &str,
    pairs: impl Iterator<Item = ((Log10, u8), (Log10, u8))>,
    query: impl Fn(usize) -> QueryWords<'q>,
) -> Result<()> {
    fn bits((log10, matched): (Log10, u8)) -> (u32, u8) {
        (log10.0.to_bits(), matched)
    }
    for (i, (expected, got)) in pairs.enumerate() {
        if bits(expected) != bits(got) {
            fn show((log10, matched): (Log10, u8)) -> String {
                format!("{} (bits {:08x}), {matched} matched", log10.0, log10.0.to_bits())
            }
            let words: Vec<u32> = match query(i) {
                QueryWords::Ngram(words) => {
                    words.iter().rev().copied().filter(|&w| w != PAD).collect()
                }
                QueryWords::TextPrefix(words) => words[words.len().saturating_sub(16)..].to_vec(),
            };
            let (got, expected) = (show(got), show(expected));
            let detail = format!("query {i}, words {words:?}: {got}, but expected {expected}");
            return Err(Error::Mismatch { what: what.to_owned(), detail });
        }
    }
    Ok(())
}
