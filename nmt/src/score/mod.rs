//! How probable a model finds translations that are given: of parallel text, a score a line
//! as Marian's scorer prints it, or of lists of translations, as a further feature.

mod forced;
mod pairs;

use std::io::Write;

use miriam_textio::number::push_general_f32;
use miriam_textio::{Output, Progress, Stop};

pub use forced::{ForcedScores, Given, Scorer, score};
pub use pairs::Pairs;

use crate::Result;
use crate::translate::queue::{Queue, Sorting};
use crate::translate::{AlignmentForm, Models, pipeline, push_alignment, push_word_scores};
use pairs::{Group, Reader};

/// Translations of one source, and of several sources, that are scored together at most.
const TOGETHER: usize = 128;

/// Words of sources and translations that are scored together, but for those of one source.
const WORDS: usize = 8192;

/// How translations are scored.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreOptions {
    /// Threads, one session each.
    pub threads: usize,
    /// Sentences scored together.
    pub mini_batch: usize,
    /// Batches that are read ahead and sorted.
    pub maxi_batch: usize,
    /// Whether text is in pieces already.
    pub pieces: bool,
    /// The longest source or translation, in pieces.
    pub max_length: usize,
    /// Scores are divided by the length, with `</s>`, to this power.
    pub normalize: f32,
    /// Alignments behind each score.
    pub alignment: Option<AlignmentForm>,
    /// The score of each word behind each score.
    pub word_scores: bool,
}

/// What all scores come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Translations.
    pub sentences: u64,
    /// Their words, with `</s>`.
    pub words: u64,
    /// The sum of the logarithms of their probabilities.
    pub log_probability: f64,
}

/// What a group gave.
struct Scored {
    text: Vec<u8>,
    summary: Summary,
}

/// Scores all of `pairs`, in order, until `stop` is asked for: then what was begun is
/// finished, and written as far as nothing is missing. Lines go to `output`, where there is
/// one; `progress` hears how many translations are done.
pub fn score_text(
    models: &Models,
    pairs: Pairs,
    options: &ScoreOptions,
    mut output: Option<Output>,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Summary> {
    let sorting = Sorting::new(options.mini_batch, WORDS, options.maxi_batch);
    let feature = pairs.feature();
    let queue = Queue::new(sorting, Group::length);
    let mut reader = Reader::new(pairs, models, options.pieces, options.max_length);
    let read = || {
        while !stop.is_asked()
            && let Some(group) = reader.next()?
            && queue.push(group)
        {}
        Ok(())
    };
    let alignments = options.alignment.is_some();
    // Translations of one source share what was read of it, step by step.
    let by_steps = alignments || feature.is_some();
    let work = |send: &pipeline::Sender<Scored>| {
        let mut scorer = Scorer::new(models, by_steps)?;
        while let Some(groups) = queue.take_unless(stop, false) {
            let scores = score_groups(&mut scorer, models, &groups, alignments)?;
            for (group, scores) in groups.iter().zip(scores) {
                send(group.id, options.print(group, &scores, feature.as_deref()))?;
            }
        }
        Ok(())
    };
    let mut all = Summary::default();
    let write = |scored: Scored, more: bool| -> Result<()> {
        all.sentences += scored.summary.sentences;
        all.words += scored.summary.words;
        all.log_probability += scored.summary.log_probability;
        progress.reached(all.sentences);
        if let Some(output) = &mut output {
            output.write(&scored.text)?;
            if !more {
                output.flush()?;
            }
        }
        Ok(())
    };
    progress.begin("scoring", None);
    let outcome = pipeline::run(&queue, options.threads, stop, read, work, write);
    progress.end();
    if let Some(output) = output {
        outcome.and(output.finish().map_err(Into::into))?;
    } else {
        outcome?;
    }
    Ok(all)
}

/// The scores of all translations of each group. Lists of any length are cut into parts.
fn score_groups(
    scorer: &mut Scorer,
    models: &Models,
    groups: &[Group],
    alignments: bool,
) -> Result<Vec<Vec<ForcedScores>>> {
    let all = groups.iter().enumerate();
    let all = all.flat_map(|(i, group)| group.targets.iter().map(move |words| (i, words)));
    let all: Vec<(usize, &Vec<u32>)> = all.collect();
    let mut scores: Vec<Vec<ForcedScores>> = vec![Vec::new(); groups.len()];
    for part in all.chunks(TOGETHER) {
        let first = part[0].0;
        let last = part[part.len() - 1].0;
        let sources: Vec<&[u32]> =
            groups[first..=last].iter().map(|group| &group.source[..]).collect();
        let given: Vec<_> =
            part.iter().map(|&(i, words)| Given { source: i - first, words }).collect();
        let found = scorer.score(&sources, &given, alignments)?;
        for (&(i, _), mut found) in part.iter().zip(found) {
            if models.is_right_to_left() {
                turn_round(&mut found);
            }
            scores[i].push(found);
        }
    }
    Ok(scores)
}

/// Puts the scores of a model that writes from right to left in the order of the text;
/// `</s>` stays last.
fn turn_round(scores: &mut ForcedScores) {
    let words = scores.words.len().saturating_sub(1);
    scores.words[..words].reverse();
    let aligned = words.min(scores.alignment.len());
    scores.alignment[..aligned].reverse();
}

impl ScoreOptions {
    /// The lines of a group.
    fn print(&self, group: &Group, scores: &[ForcedScores], feature: Option<&str>) -> Scored {
        let mut text = Vec::new();
        let mut summary = Summary::default();
        for (place, found) in scores.iter().enumerate() {
            let sum = found.sum();
            summary.sentences += 1;
            summary.words += found.words.len() as u64;
            summary.log_probability += f64::from(sum);
            let score = sum / (found.words.len() as f32).powf(self.normalize);
            match (feature, group.lines.get(place)) {
                (Some(feature), Some(line)) => line.push_with(feature, score, &mut text),
                _ => push_general_f32(&mut text, score),
            }
            if let Some(form) = self.alignment {
                text.extend_from_slice(b" ||| ");
                push_alignment(&found.alignment, form, &mut text);
            }
            if self.word_scores {
                text.extend_from_slice(b" ||| WordScores=");
                push_word_scores(&found.words, &mut text);
            }
            text.push(b'\n');
        }
        Scored { text, summary }
    }
}

impl Summary {
    /// The cross-entropy of a sentence, in natural logarithms, on average.
    pub fn cross_entropy(&self) -> f64 {
        -self.log_probability / self.sentences.max(1) as f64
    }

    /// The same of a word.
    pub fn cross_entropy_of_words(&self) -> f64 {
        -self.log_probability / self.words.max(1) as f64
    }

    /// How many words a word could have been.
    pub fn perplexity(&self) -> f64 {
        self.cross_entropy_of_words().exp()
    }
}

impl pairs::ListLine {
    /// Appends the line with a feature more, which comes last among them.
    fn push_with(&self, feature: &str, score: f32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.before);
        write!(out, " {feature}= ").expect("memory does not fail");
        push_general_f32(out, score);
        out.extend_from_slice(&self.behind);
    }
}
