//! Scoring of given translations: of parallel text, with one score per line as Marian's scorer
//! prints it, or of n-best lists, as an additional feature.

mod input;

use miriam_textio::number::push_general_f32;
use miriam_textio::{CancellationToken, Output, Progress};

pub use crate::translate::Scorer;
pub use input::ScoringInput;
pub use miriam_nmt_network::network::{ForcedScores, Target, score_targets};

use crate::batch::BatchLimits;
use crate::translate::queue::{BatchQueue, QueueOptions};
use crate::translate::{LoadedModels, describe_score, pipeline, push_alignment, push_word_scores};
use crate::{Error, Result};
use input::{GroupReader, TranslationGroup};
use miriam_nmt_models::AlignmentFormat;

/// The maximum number of translations scored together.
const MAX_BATCH_TARGETS: usize = 128;

/// The maximum number of source and target tokens scored together, except for one source.
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
    /// The maximum number of tokens of a source or translation.
    pub max_length: usize,
    /// Scores are divided by the length, including `</s>`, to this power.
    pub normalize: f32,
    /// The format of alignments after each score; none to print none.
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

/// The output of a group.
struct ScoredGroup {
    text: Vec<u8>,
    summary: ScoreSummary,
}

/// Scores all `pairs` in order until `stop` is cancelled. Batches that have started are then
/// finished, and written up to the first missing one. Lines go to `output`, if there is one;
/// `progress` gets the number of translations scored.
///
/// # Errors
/// If input is malformed or cannot be read, output cannot be written, or the models cannot form
/// an ensemble.
pub fn score_text(
    models: &LoadedModels,
    pairs: ScoringInput,
    options: &ScoreOptions,
    mut output: Option<Output>,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<ScoreSummary> {
    let limits =
        BatchLimits { max_sentences: options.mini_batch.max(1), max_tokens: MAX_BATCH_TOKENS };
    let sorting = QueueOptions::new(limits, options.maxi_batch);
    let feature = pairs.feature_name();
    let queue = BatchQueue::new(sorting, TranslationGroup::length);
    let mut reader = GroupReader::new(pairs, models, options.is_tokenized, options.max_length);
    let alignments = options.alignment.is_some();
    // Step by step, the translations of one source share its encoding.
    let by_steps = alignments || feature.is_some();
    let task = progress.task("scoring", None);
    let mut all = ScoreSummary::default();
    let write = |scored: ScoredGroup, more: bool| -> Result<()> {
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
                && let Some(group) = reader.next_group()?
                && queue.push(group)
            {}
            Ok(())
        },
        |send| {
            let mut scorer = Scorer::new(models, by_steps)?;
            while let Some(groups) = queue.pop_batch_unless_cancelled(stop, false) {
                let scores = score_groups(&mut scorer, models, &groups, alignments)?;
                for (group, scores) in groups.iter().zip(&scores) {
                    if let Some(score) =
                        scores.iter().map(ForcedScores::sum).find(|s| !s.is_finite())
                    {
                        let reason =
                            format!("sentence {}: {}", group.id + 1, describe_score(score));
                        return Err(Error::Untranslatable { reason });
                    }
                }
                for (group, scores) in groups.iter().zip(scores) {
                    send(group.id, options.format_group(group, &scores, feature.as_deref()))?;
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

/// Returns the scores of all translations of each group, in batches of [`MAX_BATCH_TARGETS`].
fn score_groups(
    scorer: &mut Scorer,
    models: &LoadedModels,
    groups: &[TranslationGroup],
    alignments: bool,
) -> Result<Vec<Vec<ForcedScores>>> {
    let all = groups.iter().enumerate();
    let all = all.flat_map(|(i, group)| group.targets.iter().map(move |words| (i, words)));
    let all: Vec<(usize, &Vec<u32>)> = all.collect();
    let mut scores: Vec<Vec<ForcedScores>> = vec![Vec::new(); groups.len()];
    for part in all.chunks(MAX_BATCH_TARGETS) {
        let first = part[0].0;
        let last = part[part.len() - 1].0;
        let sources: Vec<&[u32]> =
            groups[first..=last].iter().map(|group| &group.source[..]).collect();
        let given: Vec<_> = part
            .iter()
            .map(|&(i, words)| Target { source_index: i - first, tokens: words })
            .collect();
        let found = scorer.score(models, &sources, &given, alignments)?;
        for (&(i, _), found) in part.iter().zip(found) {
            scores[i].push(found);
        }
    }
    Ok(scores)
}

impl ScoreOptions {
    /// Returns the output lines of a group.
    fn format_group(
        &self,
        group: &TranslationGroup,
        scores: &[ForcedScores],
        feature: Option<&str>,
    ) -> ScoredGroup {
        let mut text = Vec::new();
        let mut summary = ScoreSummary::default();
        for (place, found) in scores.iter().enumerate() {
            let sum = found.sum();
            summary.sentences += 1;
            summary.tokens += found.token_scores.len() as u64;
            summary.log_probability += f64::from(sum);
            let score = sum / (found.token_scores.len() as f32).powf(self.normalize);
            match (feature, group.lines.get(place)) {
                (Some(feature), Some(line)) => line.push_with_feature(feature, score, &mut text),
                _ => push_general_f32(&mut text, score),
            }
            if let Some(form) = self.alignment {
                text.extend_from_slice(b" ||| ");
                push_alignment(&found.alignment, form, &mut text);
            }
            if self.word_scores {
                text.extend_from_slice(b" ||| WordScores=");
                push_word_scores(&found.token_scores, &mut text);
            }
            text.push(b'\n');
        }
        ScoredGroup { text, summary }
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

impl input::NBestLine {
    /// Appends the line with an additional last feature.
    fn push_with_feature(&self, feature: &str, score: f32, out: &mut Vec<u8>) {
        let mut added = format!("{feature}= ").into_bytes();
        push_general_f32(&mut added, score);
        self.fields.push_changed(&self.bytes, &added, None, out);
    }
}
