//! Translation through a third language: the translations of one model are the sources of another.
//!
//! Both models run at once: lines are passed on as soon as they are translated, in input order, and
//! the second model makes its own batches. Each line carries the data of the first model that the
//! final output needs: the pieces of the source, and the attention of the intermediate pieces to
//! them.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use miriam_textio::{CancellationToken, NoProgress, Output, Progress};

use super::options::OutputOptions;
use super::pipeline::writer_gone;
use super::pivot_line::PivotLine;
use super::reader::LineSource;
use super::tokenizer::Tokenizer;
use super::{LineCounts, LineError, OutputLines, SourceText, TranslationOptions, Translator};
use crate::Result;
use miriam_nmt_models::{BPE_SEPARATOR, Segmentation};

/// The maximum number of lines between the models.
const MAX_WAITING_LINES: usize = 4096;

/// Two models, the second of which translates what the first one writes.
pub struct PivotTranslator {
    first: Translator,
    second: Translator,
}

impl PivotTranslator {
    /// Returns the options of the first model: `options`, but with the output that the second model
    /// needs. `last` are the options of the second model.
    pub fn options_of_first(
        mut options: TranslationOptions,
        last: &TranslationOptions,
    ) -> TranslationOptions {
        let replace_unknowns = options.output.replace_unknowns;
        options.output = OutputOptions { replace_unknowns, ..OutputOptions::default() };
        options.search.n_best = 1;
        options.search.return_alignments =
            last.output.alignment.is_some() || last.output.replace_unknowns;
        // Attention is composed for a line as a whole.
        options.input.splits_long &= !options.search.return_alignments;
        options
    }

    /// Joins two translators. The output is the second translator's, with alignments to the words
    /// of the first translator's source.
    pub fn new(mut first: Translator, second: Translator) -> Self {
        first.is_first_of_two = true;
        PivotTranslator { first, second }
    }

    /// Works as [`Translator::translate`].
    ///
    /// # Errors
    /// Those of [`Translator::translate`] of either model.
    pub fn translate(
        &self,
        source: SourceText,
        low_latency: bool,
        output: Output,
        stop: &CancellationToken,
        progress: &dyn Progress,
        report_error: &mut dyn FnMut(&LineError) -> Result<()>,
    ) -> Result<LineCounts> {
        let (sender, lines) = sync_channel(MAX_WAITING_LINES);
        thread::scope(|scope| {
            let first = scope.spawn(move || {
                let outcome = self.run_first(source, low_latency, &sender, stop);
                // This comes before the sender is dropped: the second model must not take the end
                // of the lines for the end of the text.
                outcome.inspect_err(|_| stop.cancel())
            });
            let pivot = LineSource::Pivot(lines);
            let second = self.second.translate_from(
                pivot,
                low_latency,
                output,
                stop,
                progress,
                report_error,
            );
            if second.is_err() {
                stop.cancel();
            }
            let first = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let written = second?.written;
            // Lines that the second model has not read count as read, too.
            Ok(LineCounts { written, ..first? })
        })
    }

    fn run_first(
        &self,
        source: SourceText,
        low_latency: bool,
        sender: &SyncSender<PivotLine>,
        stop: &CancellationToken,
    ) -> Result<LineCounts> {
        // The parts of a line that was too long; the last one has the end of the line.
        let mut parts = PivotLine::default();
        let mut send = |lines: OutputLines, _| {
            let messages = lines.errors.into_iter().map(|error| error.reason);
            let line = if lines.segment.is_some() {
                parts.text.extend(lines.text);
                parts.messages.extend(messages);
                if lines.num_lines == 0 {
                    return Ok(());
                }
                parts.text.pop_if(|byte| *byte == b'\n');
                std::mem::take(&mut parts)
            } else {
                PivotLine { messages: messages.collect(), ..lines.pivot.unwrap_or_default() }
            };
            // The second model is gone only if it failed; its own error is returned.
            sender.send(line).map_err(|_| writer_gone())
        };
        let source = LineSource::Text(Box::new(source));
        self.first.run(source, low_latency, stop, &NoProgress, &mut send)
    }
}

/// Returns the number of characters of each token of a text, without spaces and marks of subwords.
pub(super) fn piece_lengths<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    tokenizer: &Tokenizer,
) -> Vec<usize> {
    let is_bpe = matches!(tokenizer.segmentation, Segmentation::Bpe(_));
    pieces
        .map(|piece| {
            let piece =
                if is_bpe { piece.strip_suffix(BPE_SEPARATOR).unwrap_or(piece) } else { piece };
            let text = String::from_utf8_lossy(piece);
            text.chars()
                .filter(|&character| character != '\u{2581}' && !character.is_whitespace())
                .count()
        })
        .collect()
}

/// Returns the attention of the final translation to the first source, `[target, source]`. `second`
/// is the attention to the second model's source pieces and to `</s>`. These pieces have `between`
/// characters each, and cover pieces of the first model's translation.
pub(super) fn compose(second: &[Vec<f32>], between: &[usize], first: &PivotLine) -> Vec<Vec<f32>> {
    let Some(sources) = first.alignment.first().map(Vec::len) else { return Vec::new() };
    fn total(lengths: &[usize]) -> usize {
        lengths.iter().sum::<usize>().max(1)
    }
    let totals = [total(between), total(&first.lengths)];
    let end = first.alignment.len() - 1;
    let mut rows_between: Vec<Vec<f32>> = Vec::new();
    let mut start = 0;
    for &length in between {
        let weights = overlaps([start, start + length], &first.lengths, totals);
        start += length;
        rows_between.push(weighted_mean(&weights, &first.alignment, sources));
    }
    // The token after the text is EOS in both models.
    rows_between.push(first.alignment[end].clone());
    second
        .iter()
        .map(|attention| {
            let weights = attention.iter().copied().enumerate();
            let weights: Vec<(usize, f32)> =
                weights.map(|(at, weight)| (at.min(between.len()), weight)).collect();
            weighted_mean(&weights, &rows_between, sources)
        })
        .collect()
}

/// Returns the pieces that overlap the characters `start..end` of another segmentation of the same
/// text: their indices, and the lengths of the overlaps. The pieces have `lengths` characters each,
/// `total` together; the other segmentation has `own_total` characters. Normalisation may make the
/// totals differ, so positions are compared as shares of the text.
fn overlaps(
    [start, end]: [usize; 2],
    lengths: &[usize],
    [own_total, total]: [usize; 2],
) -> Vec<(usize, f32)> {
    let (start, end) = (start * total, end * total);
    let mut found = Vec::new();
    let mut from = 0;
    for (index, &length) in lengths.iter().enumerate() {
        let to = from + length * own_total;
        let shared = end.min(to).saturating_sub(start.max(from));
        // A piece without characters, a lone space, is at the start of the next one.
        let is_inside = start == end && from <= start && start < to;
        if shared > 0 || is_inside {
            found.push((index, shared.max(1) as f32));
        }
        from = to;
    }
    found
}

/// Returns the weighted mean of some `rows`; zeros if all weights are 0.
fn weighted_mean(weights: &[(usize, f32)], rows: &[Vec<f32>], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0; width];
    let total: f32 = weights.iter().map(|(_, weight)| weight).sum();
    if total > 0.0 {
        for &(row, weight) in weights {
            for (sum, value) in mean.iter_mut().zip(&rows[row]) {
                *sum += weight / total * value;
            }
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(lengths: &[usize], alignment: &[&[f32]]) -> PivotLine {
        PivotLine {
            lengths: lengths.to_vec(),
            alignment: alignment.iter().map(|row| row.to_vec()).collect(),
            ..PivotLine::default()
        }
    }

    /// Attention is the product of the matrices if both models split the intermediate text alike.
    #[test]
    fn equal_pieces_compose_to_a_product() {
        let first = line(&[2, 3], &[&[0.75, 0.25, 0.0], &[0.5, 0.5, 0.0], &[0.0, 0.0, 1.0]]);
        let second = [vec![0.0, 1.0, 0.0], vec![0.5, 0.25, 0.25], vec![0.0, 0.0, 1.0]];
        let composed = compose(&second, &[2, 3], &first);
        let expected = [[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]];
        assert_eq!(composed, expected);
    }

    /// If an intermediate piece covers two pieces of the first model, its attention is the mean of
    /// their attention, weighted by their numbers of characters.
    #[test]
    fn other_pieces_compose_by_characters() {
        let first = line(&[1, 3], &[&[1.0, 0.0], &[0.0, 1.0], &[0.0, 1.0]]);
        assert_eq!(compose(&[vec![1.0, 0.0]], &[4], &first), [[0.25, 0.75]]);
        assert_eq!(compose(&[vec![1.0, 0.0, 0.0]], &[1, 3], &first), [[1.0, 0.0]]);
        // A lone space belongs to the character after it. For the second model, the intermediate
        // text has twice as many characters.
        assert_eq!(compose(&[vec![1.0, 0.0, 0.0]], &[0, 8], &first), [[1.0, 0.0]]);
        assert_eq!(compose(&[vec![0.0, 1.0, 0.0]], &[2, 6], &first), [[0.0, 1.0]]);
        assert!(compose(&[vec![1.0]], &[1], &PivotLine::default()).is_empty());
    }
}
