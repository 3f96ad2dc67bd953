//! Scoring of given translations: of parallel text, with one score per line as Marian's scorer
//! prints it, and of lists.

mod input;
mod lists;

use std::io::Write;

use miriam_textio::{CancellationToken, Output, Progress};

pub use crate::translate::{LengthLimit, Scorer};
pub use input::ScoringInput;
pub use lists::{ListError, ListModel, ListOptions, ListScorer, ScoringDirection, TextList};
pub use miriam_nmt_network::network::{ForcedScores, Target, score_targets};

use crate::batch::BatchLimits;
use crate::translate::queue::{BatchQueue, QueueOptions};
use crate::translate::{LoadedModels, describe_score, pipeline, push_alignment, push_word_scores};
use crate::{Error, Result};
use input::{EncodedPair, PairReader};
use miriam_nmt_models::AlignmentFormat;

/// The default for the maximum number of tokens of a source or translation.
pub const MAX_LENGTH: usize = 5000;

/// The maximum number of source and target tokens scored together. A longer pair is scored alone.
const MAX_BATCH_TOKENS: usize = 8192;

/// Options of scoring.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreOptions {
    /// The number of worker threads, each with a session.
    pub threads: usize,
    /// The maximum number of sentences scored together.
    pub mini_batch: usize,
    /// The number of batches that are read ahead and sorted.
    pub maxi_batch: usize,
    /// Whether the text is tokenised already.
    pub is_tokenized: bool,
    /// The limit of the length of sources and of translations.
    pub limit: LengthLimit,
    /// Scores are divided by `n^normalize`, where n is the number of tokens, including `</s>`.
    pub normalize: f32,
    /// The format of alignments after each score; `None` to print none.
    pub alignment: Option<AlignmentFormat>,
    /// Whether to print the scores of the tokens after each score.
    pub word_scores: bool,
}

/// The sums over all translations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreSummary {
    /// The number of translations.
    pub sentences: u64,
    /// The number of their tokens, including `</s>`.
    pub tokens: u64,
    /// The sum of their natural log-probabilities.
    pub log_probability: f64,
}

/// The output of a pair.
struct ScoredPair {
    text: Vec<u8>,
    summary: ScoreSummary,
}

/// Scores all `pairs` in order until `stop` is cancelled. Batches that have started are then
/// finished, and their lines are written up to the first pair without a score. Lines go to
/// `output`, if there is one; `progress` gets the number of translations scored.
///
/// # Errors
/// If input is malformed or cannot be read, output cannot be written, a score is not finite, the
/// device fails, or the models cannot form an ensemble. Also if the models need sources and the
/// input has none, if the input has sources and the models do not read them, or if alignments of a
/// language model are requested.
pub fn score_text(
    models: &LoadedModels,
    pairs: ScoringInput,
    options: &ScoreOptions,
    mut output: Option<Output>,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<ScoreSummary> {
    check_sources(models, pairs.has_sources())?;
    if options.alignment.is_some() && !models.has_source() {
        let reason = "--alignment: a language model has no source to align to";
        return Err(Error::Untranslatable { reason: reason.into() });
    }
    let limits =
        BatchLimits { max_sentences: options.mini_batch.max(1), max_tokens: MAX_BATCH_TOKENS };
    let sorting = QueueOptions::new(limits, options.maxi_batch);
    let queue = BatchQueue::new(sorting, EncodedPair::length);
    let mut reader = PairReader::new(pairs, models, options.is_tokenized, options.limit);
    let alignments = options.alignment.is_some();
    let task = progress.task("scoring", None);
    let mut all = ScoreSummary::default();
    let write = |scored: ScoredPair, more: bool| -> Result<()> {
        all.sentences += scored.summary.sentences;
        all.tokens += scored.summary.tokens;
        all.log_probability += scored.summary.log_probability;
        task.set_position(all.sentences);
        if let Some(output) = &mut output {
            output.write(&scored.text)?;
            if !more {
                output.flush()?;
            }
        }
        Ok(())
    };
    let outcome = pipeline::run_ordered(
        &queue,
        options.threads,
        stop,
        || {
            while !stop.is_cancelled()
                && let Some(pair) = reader.next()?
                && queue.push(pair)
            {}
            Ok(())
        },
        |send| {
            let mut scorer = Scorer::new(models, alignments)?;
            while let Some(pairs) = queue.pop_batch_unless_cancelled(stop, false) {
                let sources: Vec<&[u32]> = pairs.iter().map(|pair| &pair.source[..]).collect();
                let targets = pairs.iter().enumerate();
                let targets: Vec<Target> = targets
                    .map(|(source_index, pair)| Target { source_index, tokens: &pair.target })
                    .collect();
                let scores =
                    scorer.score(models, models.target_prefix(), &sources, &targets, alignments)?;
                for (pair, found) in pairs.iter().zip(&scores) {
                    if !found.sum().is_finite() {
                        let reason =
                            format!("sentence {}: {}", pair.id + 1, describe_score(found.sum()));
                        return Err(Error::Untranslatable { reason });
                    }
                }
                for (pair, found) in pairs.iter().zip(&scores) {
                    send(pair.id, options.format_pair(found))?;
                }
            }
            Ok(())
        },
        write,
    );
    drop(task);
    if let Some(output) = output {
        let is_complete = outcome.is_ok() && !stop.is_cancelled();
        let finished = output.finish_if(is_complete).map_err(Into::into);
        outcome.and(finished)?;
    } else {
        outcome?;
    }
    Ok(all)
}

/// Checks that models of translation get sources, and that language models get none.
fn check_sources(models: &LoadedModels, has_sources: bool) -> Result<()> {
    let reason = match (models.has_source(), has_sources) {
        (true, false) => {
            "it translates, so it needs the source too: give --source, or two files to \
             --train-sets"
        }
        (false, true) => {
            "it is a language model, which scores text without a source: give --target or --n-best \
             alone"
        }
        _ => return Ok(()),
    };
    Err(Error::Unsupported { file: "the model".into(), reason: reason.into() })
}

impl ScoreOptions {
    /// Returns the output line of a pair.
    fn format_pair(&self, found: &ForcedScores) -> ScoredPair {
        let mut text = Vec::new();
        // Six decimals, as in Marian.
        write!(text, "{:.6}", found.normalized_sum(self.normalize)).expect("memory does not fail");
        if let Some(form) = self.alignment {
            text.extend_from_slice(b" ||| ");
            push_alignment(&found.alignment, form, &mut text);
        }
        if self.word_scores {
            text.extend_from_slice(b" ||| WordScores=");
            push_word_scores(&found.token_scores, &mut text);
        }
        text.push(b'\n');
        let summary = ScoreSummary {
            sentences: 1,
            tokens: found.token_scores.len() as u64,
            log_probability: f64::from(found.sum()),
        };
        ScoredPair { text, summary }
    }
}

impl ScoreSummary {
    /// Returns the mean cross-entropy of a sentence in nats.
    pub fn cross_entropy(&self) -> f64 {
        -self.log_probability / self.sentences.max(1) as f64
    }

    /// Returns the mean cross-entropy of a token in nats.
    pub fn cross_entropy_per_token(&self) -> f64 {
        -self.log_probability / self.tokens.max(1) as f64
    }

    /// Returns the perplexity per token.
    pub fn perplexity(&self) -> f64 {
        self.cross_entropy_per_token().exp()
    }
}
