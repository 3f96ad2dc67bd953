//! One direction of IBM model 2 with fast_align's options and output: links with scores, and
//! the table of translation probabilities that forced alignment reads.
//!
//! Input is one file with `source ||| target` lines. A line without words on a side gets no links;
//! fast_align explains its words by the null word.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use miriam_textio::number::push_general;
use miriam_textio::{Output, Progress, WordId};

use crate::aligner::{
    AlignOptions, AlignSummary, AlignmentWriter, TrainedModel, run_in_pool, train,
};
use crate::bitext::Bitext;
use crate::cooccurrence::{CellStore, CooccurrenceRows};
use crate::corpus_pass::{AlignmentLines, BestPositions, CorpusPass};
use crate::ibm2_options::Ibm2Options;
use crate::symmetrization::Symmetrization;
use crate::translation_table::{FORWARD, REVERSE};
use crate::{Error, Result};

/// The name of the null word in the table.
pub(crate) const NULL_NAME: &[u8] = b"<eps>";
/// The separator of the sides of a line.
const SEPARATOR: &[u8] = b"|||";

/// The options of [`fast_align`].
#[derive(Clone, Debug)]
pub struct FastAlignOptions {
    /// The options of the model.
    pub ibm2: Ibm2Options,
    /// Whether source words are explained by target words.
    pub reverse: bool,
    /// Iterations, the last of which only aligns; at least 1.
    pub iterations: usize,
    /// Whether each line of links gets its score, ` ||| ln p`.
    pub scores: bool,
    /// The file to write ln probabilities to, and a beam `b` (-4 in fast_align). A probability is
    /// left out if its logarithm is below `-b` times the logarithm of the largest probability in
    /// its row.
    pub table: Option<(PathBuf, f64)>,
    /// The number of worker threads.
    pub threads: usize,
}

/// The result of [`fast_align`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FastAlignSummary {
    /// The counts and the iterations. If there are two values, the second is for the reverse
    /// direction.
    pub align: AlignSummary,
    /// The mean, over all aligned lines, of the number of target words per source word; in reverse,
    /// of source words per target word.
    pub length_ratio: f64,
}

/// Aligns the lines of `input` in one direction and writes their links to `output`.
///
/// # Errors
/// If a file cannot be read or written, or an option is out of range; [`Error::Cancelled`] if
/// `progress` is cancelled.
pub fn fast_align(
    input: &Path,
    output: &Path,
    options: &FastAlignOptions,
    progress: &dyn Progress,
) -> Result<FastAlignSummary> {
    options.ibm2.validate()?;
    if options.iterations == 0 {
        let reason = "there must be an iteration: give -I 1 or more";
        return Err(Error::InvalidOptions { reason: reason.into() });
    }
    run_in_pool(options.threads, || {
        let text = Bitext::read_joined(input, split_sides, progress)?;
        let mut summary = FastAlignSummary {
            align: AlignSummary::from_bitext(&text),
            length_ratio: length_ratio(&text, options.reverse),
        };
        let mut output = Output::create_atomic(output)?;
        if summary.align.has_nothing_to_align() {
            (0..text.len()).try_for_each(|_| output.write(b"\n"))?;
            output.finish()?;
            return Ok(summary);
        }
        let rows = CooccurrenceRows::from_bitext(&text);
        let temp = std::env::temp_dir();
        let cells = CellStore::from_bitext(&text, &rows, u64::MAX, &temp, progress)?;
        let directions = [!options.reverse, options.reverse];
        let pass = CorpusPass {
            text: &text,
            rows: &rows,
            cells: &cells,
            directions,
            with_likelihoods: options.scores,
        };
        let align_options = AlignOptions {
            ibm2: options.ibm2.clone(),
            iterations: Some(options.iterations),
            ..AlignOptions::default()
        };
        let model = train(&pass, &align_options, &mut summary.align, progress)?;
        let task = progress.task("aligning", Some(summary.align.pairs));
        let score = options.scores.then_some((options.reverse, summary.length_ratio));
        let mut links = 0;
        pass.decode(
            &model.translation_table,
            &model.positions,
            |writer, best, lines| {
                write_line(writer, best, options.reverse, lines);
                if let Some((reverse, ratio)) = score {
                    append_score(best, reverse, ratio, lines);
                }
            },
            |lines: AlignmentLines| {
                links += lines.num_links;
                Ok(output.write(&lines.text)?)
            },
            &task,
        )?;
        drop(task);
        summary.align.links = links;
        if let Some((path, beam)) = &options.table {
            write_table(path, *beam, &text, &rows, &model, options)?;
        }
        output.finish()?;
        Ok(summary)
    })
}

/// Returns the source and the target of a line: the parts before and after the first word `|||` or
/// tab. Every tab after it becomes a word `|||`.
pub(crate) fn split_sides(line: &[u8]) -> (&[u8], Cow<'_, [u8]>) {
    let mut start = 0;
    while start < line.len() {
        let rest = &line[start..];
        let end = rest.iter().position(|&b| b == b' ' || b == b'\t').unwrap_or(rest.len());
        let tab = rest.get(end) == Some(&b'\t');
        let separator = &rest[..end] == SEPARATOR;
        if separator || tab {
            let source = if separator { start } else { start + end };
            // A tab directly after the word `|||` belongs to the target.
            let target = if separator && tab { start + end } else { start + end + 1 };
            let target = &line[target.min(line.len())..];
            if !target.contains(&b'\t') {
                return (&line[..source], Cow::Borrowed(target));
            }
            let words: Vec<&[u8]> = target.split(|&b| b == b'\t').collect();
            return (&line[..source], Cow::Owned(words.join(&b" ||| "[..])));
        }
        start += end + 1;
    }
    (line, Cow::Borrowed(&[]))
}

fn length_ratio(text: &Bitext, reverse: bool) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0u64);
    for pair in (0..text.len()).filter_map(|line| text.pair(line)) {
        let (source, target) = (pair.source.word_indices.len(), pair.target.word_indices.len());
        let ratio =
            if reverse { source as f64 / target as f64 } else { target as f64 / source as f64 };
        sum += ratio;
        pairs += 1;
    }
    if pairs == 0 { 1.0 } else { sum / pairs as f64 }
}

fn write_line(
    writer: &mut AlignmentWriter,
    best: &BestPositions,
    reverse: bool,
    lines: &mut AlignmentLines,
) {
    let how = if reverse { Symmetrization::Reverse } else { Symmetrization::Forward };
    writer.write_alignment(best, how, lines);
}

/// Appends ` ||| score` to the last line.
fn append_score(best: &BestPositions, reverse: bool, ratio: f64, lines: &mut AlignmentLines) {
    let direction = if reverse { REVERSE } else { FORWARD };
    // A line that is not aligned has no score.
    let Some(likelihood) = best.ln_likelihood[direction] else { return };
    let [source, target] = best.lengths;
    let (states, outputs) = if reverse { (target, source) } else { (source, target) };
    let score = ln_length_probability(outputs, states, ratio) + likelihood;
    lines.text.pop();
    lines.text.extend_from_slice(b" ||| ");
    push_general(&mut lines.text, score);
    lines.text.push(b'\n');
}

/// Computes ln p(`outputs` | `states`) of a Poisson distribution. Its mean is 0.05 plus `ratio`
/// outputs per state.
pub(crate) fn ln_length_probability(outputs: usize, states: usize, ratio: f64) -> f64 {
    let mean = 0.05 + states as f64 * ratio;
    let ln_factorial: f64 = (2..=outputs).map(|n| (n as f64).ln()).sum();
    mean.ln() * outputs as f64 - ln_factorial - mean
}

/// Writes lines of `state TAB output TAB ln p(output | state)`: the null word's first, then
/// words in the order of the text.
fn write_table(
    path: &Path,
    beam: f64,
    text: &Bitext,
    rows: &CooccurrenceRows,
    model: &TrainedModel,
    options: &FastAlignOptions,
) -> Result<()> {
    let table = &model.translation_table;
    let direction = if options.reverse { REVERSE } else { FORWARD };
    let mut sides = [&text.source.vocabulary, &text.target.vocabulary];
    if options.reverse {
        sides.reverse();
    }
    let [states, outputs] = sides;
    let mut file = Output::create_atomic(path)?;
    let mut lines = Vec::new();
    let mut write_row = |state: &[u8], row: &mut dyn Iterator<Item = (u32, f64)>| {
        let row: Vec<(u32, f64)> = row.collect();
        let best = row.iter().map(|entry| entry.1).fold(-1.0, f64::max);
        let threshold = -best.ln() * beam;
        lines.clear();
        for &(output, probability) in row.iter().filter(|entry| entry.1.ln() >= threshold) {
            lines.extend_from_slice(state);
            lines.push(b'\t');
            lines.extend_from_slice(outputs.word(WordId(output)));
            lines.push(b'\t');
            push_general(&mut lines, probability.ln());
            lines.push(b'\n');
        }
        file.write(&lines)
    };
    if options.ibm2.null_word {
        let mut used = vec![false; outputs.len()];
        for pair in (0..text.len()).filter_map(|line| text.pair(line)) {
            let side = if options.reverse { pair.source } else { pair.target };
            side.distinct_words.iter().for_each(|&word| used[word as usize] = true);
        }
        let null = table.null[direction].iter().enumerate().filter(|(word, _)| used[*word]);
        write_row(NULL_NAME, &mut null.map(|(word, &p)| (word as u32, p)))?;
    }
    fn entry(
        source: u32,
        index: usize,
        rows: &CooccurrenceRows,
        table: &crate::translation_table::TranslationTable,
    ) -> (u32, u32, [f64; 2]) {
        (source, rows.targets[index], table.entries[index])
    }
    if options.reverse {
        // The table is ordered by source word.
        let sources = 0..text.source.vocabulary.len() as u32;
        let all = sources.flat_map(|source| rows.row(source).map(move |index| (source, index)));
        let mut all: Vec<(u32, u32, f64)> = all
            .map(|(source, index)| {
                let (source, target, p) = entry(source, index, rows, table);
                (target, source, p[REVERSE])
            })
            .collect();
        all.sort_unstable_by_key(|&(target, source, _)| (target, source));
        for row in all.chunk_by(|a, b| a.0 == b.0) {
            write_row(states.word(WordId(row[0].0)), &mut row.iter().map(|&(_, o, p)| (o, p)))?;
        }
    } else {
        for source in 0..states.len() as u32 {
            let row = rows.row(source).map(|index| entry(source, index, rows, table));
            write_row(states.word(WordId(source)), &mut row.map(|(_, o, p)| (o, p[FORWARD])))?;
        }
    }
    Ok(file.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_at_the_first_bars_or_tab() {
        let split = |line: &'static str| {
            let (source, target) = split_sides(line.as_bytes());
            (
                String::from_utf8_lossy(source).into_owned(),
                String::from_utf8_lossy(&target).into_owned(),
            )
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(split("a b ||| c"), pair("a b ", "c"));
        assert_eq!(split("a b\tc d"), pair("a b", "c d"));
        assert_eq!(split("a\tb\tc"), pair("a", "b ||| c"));
        assert_eq!(split("a|||b c"), pair("a|||b c", ""));
        assert_eq!(split("||| c"), pair("", "c"));
        assert_eq!(split(""), pair("", ""));
    }

    #[test]
    fn the_length_probability_is_poissons() {
        // Mean 0.05 + 2 * 1.5 = 3.05; 3.05^2 / 2! * e^-3.05.
        let expected = (3.05f64.powi(2) / 2.0 * (-3.05f64).exp()).ln();
        assert!((ln_length_probability(2, 2, 1.5) - expected).abs() < 1e-12);
    }
}
