//! The reporter of lines, which reads decoded sentences and writes the output of each line to the
//! streams.

mod columns;
pub(crate) mod search_graph;
mod translation_details;

use crate::decoded_sentence::DecodedSentence;
use crate::line_decoder::LinePart;
use crate::line_errors::{LineError, LineErrorKind};
use crate::n_best::{NBest, NBestLimits};
use crate::output::OutputFormat;
use crate::output_streams::{LineOutput, OutputStream};
use crate::system::System;
use crate::{Error, Result};
use columns::{OutputColumns, push_feature_values, push_n_best_line};
use search_graph::SearchGraphLine;

/// Reports lines one at a time, in buffers that it reuses.
pub(crate) struct LineReporter<'s> {
    system: &'s System,
    n_best: NBest,
    /// The number of the line.
    id: i64,
    /// The best translation, until its score is known.
    columns: OutputColumns,
    /// The only entry of the n-best list of a line that is translated in parts. Unlike the best
    /// translation, it has no annotations after its phrases.
    joined_columns: OutputColumns,
    /// The feature values of this entry.
    joined_values: Vec<f32>,
    graph: Option<SearchGraphLine>,
}

/// The outcome of decoding a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineResult {
    /// The score of the best translation; `None` if there is none.
    pub(crate) score: Option<f32>,
    /// Whether something is wrong with the line itself.
    pub(crate) is_malformed: bool,
    /// Whether the line was decoded in parts.
    pub(crate) is_split: bool,
}

impl<'s> LineReporter<'s> {
    /// Creates a reporter of lines that `system` translates.
    pub(crate) fn new(system: &'s System) -> Self {
        LineReporter {
            system,
            n_best: NBest::default(),
            id: 0,
            columns: OutputColumns::default(),
            joined_columns: OutputColumns::default(),
            joined_values: Vec::new(),
            graph: None,
        }
    }

    fn wants(&self, stream: OutputStream) -> bool {
        self.system.settings.outputs.iter().any(|(wanted, _)| *wanted == stream)
    }

    /// Begins line number `id`.
    pub(crate) fn start(&mut self, id: i64) {
        self.id = id;
        self.columns.clear();
        self.joined_columns.clear();
        self.joined_values.clear();
        self.graph = None;
    }

    /// Adds a part of the line to the best translation, with the annotations of its phrases.
    ///
    /// # Errors
    ///
    /// Fails if a placeholder is not aligned to one word, and if a table is
    /// damaged.
    pub(crate) fn add_best(&mut self, decoded: DecodedSentence<'_>, part: LinePart) -> Result<()> {
        let settings = &self.system.settings;
        let shown = OutputFormat::from_settings(settings);
        let aligned = settings.output.print_alignment || self.wants(OutputStream::Alignment);
        let columns = &mut self.columns;
        if let (Some(words), Some([best, ..])) = (decoded.best_words, decoded.rescored) {
            let span = decoded.whole_span().shifted(part.offset);
            columns.push_words(words, span, aligned);
            if settings.output.print_score_breakdown {
                shown.push_breakdown_start(&mut columns.words, span);
                let number = OutputFormat::push_number;
                let features = self.system.features();
                push_feature_values(&mut columns.words, features, &best.values, true, number);
                columns.words.extend_from_slice(b"| ");
            } else {
                shown.push_segmentation(&mut columns.words, span);
            }
            return Ok(());
        }
        if settings.output.print_score_breakdown {
            let features = self.system.features();
            return self.n_best.for_each_best_hypothesis(decoded, |id, values| {
                columns.push_phrase(decoded, id, part.offset, aligned)?;
                let span = decoded.hypothesis(id).span.shifted(part.offset);
                shown.push_breakdown_start(&mut columns.words, span);
                let number = OutputFormat::push_number;
                push_feature_values(&mut columns.words, features, values, true, number);
                columns.words.extend_from_slice(b"| ");
                Ok(())
            });
        }
        for &id in decoded.best_path {
            columns.push_phrase(decoded, id, part.offset, aligned)?;
            let span = decoded.hypothesis(id).span;
            shown.push_segmentation(&mut columns.words, span.shifted(part.offset));
        }
        Ok(())
    }

    /// Adds a part of the line to the output of all streams.
    ///
    /// # Errors
    ///
    /// Those of [`LineReporter::add_best`].
    pub(crate) fn add_part(
        &mut self,
        decoded: DecodedSentence<'_>,
        part: LinePart,
        out: &mut LineOutput,
    ) -> Result<()> {
        self.add_best(decoded, part)?;
        if self.wants(OutputStream::SearchGraph) {
            let graph = self.graph.get_or_insert_with(|| SearchGraphLine::new(self.id));
            decoded.push_search_graph(graph, part.offset);
        }
        if self.wants(OutputStream::Unknowns) {
            push_unknowns(decoded, out.stream_mut(OutputStream::Unknowns));
        }
        if self.wants(OutputStream::Details) {
            let out = out.stream_mut(OutputStream::Details);
            decoded.push_translation_details(&mut self.n_best, out, part.offset)?;
        }
        if part.is_split
            && self.wants(OutputStream::NBest)
            && self.system.settings.output.n_best.is_some()
        {
            let columns = &mut self.joined_columns;
            match decoded.best_words {
                Some(words) => {
                    columns.push_words(words, decoded.whole_span().shifted(part.offset), true);
                }
                None => {
                    for &id in decoded.best_path {
                        columns.push_phrase(decoded, id, part.offset, true)?;
                    }
                }
            }
            self.n_best.add_best_values(decoded, &mut self.joined_values)?;
        }
        Ok(())
    }

    /// Ends the line, whose last part is `decoded`: completes the output to each stream of the
    /// settings. Returns an error if entries of the n-best list are left out.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged.
    pub(crate) fn finish(
        &mut self,
        decoded: DecodedSentence<'_>,
        result: LineResult,
        out: &mut LineOutput,
    ) -> Result<Option<LineError>> {
        let score = result.score;
        if result.is_malformed {
            // Nothing is printed of a malformed line, and the last search was that of another line.
            out.stream_mut(OutputStream::Unknowns).clear();
            out.stream_mut(OutputStream::Details).clear();
            self.graph = None;
        }
        self.push_best_line(score, out.stream_mut(OutputStream::Best));
        out.stream_mut(OutputStream::Best).push(b'\n');
        if self.wants(OutputStream::Alignment) {
            let out = out.stream_mut(OutputStream::Alignment);
            if score.is_some() {
                out.extend_from_slice(&self.columns.alignment);
            }
            out.push(b'\n');
        }
        if self.wants(OutputStream::Unknowns) {
            out.stream_mut(OutputStream::Unknowns).push(b'\n');
        }
        if self.wants(OutputStream::SearchGraph) {
            let graph = self.graph.take().unwrap_or_else(|| SearchGraphLine::new(self.id));
            graph.finish(out.stream_mut(OutputStream::SearchGraph));
        }
        if !self.wants(OutputStream::NBest) {
            return Ok(None);
        }
        self.push_n_best(decoded, result, out.stream_mut(OutputStream::NBest))
    }

    /// Appends the n-best list; returns an error if entries are left out.
    fn push_n_best(
        &mut self,
        decoded: DecodedSentence<'_>,
        result: LineResult,
        out: &mut Vec<u8>,
    ) -> Result<Option<LineError>> {
        let settings = &self.system.settings.output;
        let Some(options) = settings.n_best else { return Ok(None) };
        let max_candidates = settings.n_best_factor.saturating_mul(options.size);
        let (id, features) = (self.id, self.system.features());
        let Some(score) = result.score else {
            // Programs that read n-best lists need an entry for every line. This one equals that
            // of an empty line.
            if max_candidates > 0 {
                self.columns.clear();
                let values = vec![0.0; self.system.num_components()];
                push_n_best_line(out, id, &self.columns, features, (&values, 0.0), options);
            }
            return Ok(None);
        };
        if result.is_split {
            if max_candidates > 0 {
                let (columns, values) = (&self.joined_columns, &self.joined_values[..]);
                push_n_best_line(out, id, columns, features, (values, score), options);
            }
            return Ok(None);
        }
        let limits = NBestLimits {
            // One more than requested, as in Moses2.
            max_entries: options.size.saturating_add(1),
            max_candidates,
            distinct: options.distinct,
        };
        let aligned = options.segmentation || options.alignment;
        let columns = &mut self.columns;
        let mut left_out = None;
        self.n_best.for_each_entry(decoded, limits, |entry| {
            columns.clear();
            if let Some(words) = entry.words {
                columns.push_words(words, decoded.whole_span(), aligned);
            }
            let mut nodes = entry.hypotheses.iter().rev();
            match nodes.try_for_each(|&id| columns.push_phrase(decoded, id, 0, aligned)) {
                Ok(()) => {
                    let values = (entry.values, entry.total);
                    push_n_best_line(out, id, columns, features, values, options);
                }
                // The best translation stays, even if others have errors.
                Err(Error::Line { reason }) => left_out = Some(reason),
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(left_out.map(|reason| {
            let reason = format!("left out of the n-best list: {reason}");
            LineError::new(LineErrorKind::Malformed, reason)
        }))
    }

    /// Appends the line of the best translation, without a line end.
    pub(crate) fn push_best_line(&self, score: Option<f32>, out: &mut Vec<u8>) {
        let settings = &self.system.settings;
        OutputFormat::from_settings(settings).push_prefix(out, score, self.id);
        if score.is_some() {
            out.extend_from_slice(&self.columns.words);
            if settings.output.print_alignment {
                out.extend_from_slice(b"||| ");
                out.extend_from_slice(&self.columns.alignment);
            }
        }
    }
}

/// Appends the words of `decoded` that no phrase translates.
fn push_unknowns(decoded: DecodedSentence<'_>, out: &mut Vec<u8>) {
    for (position, &word) in decoded.sentence.ids().iter().enumerate() {
        if decoded.options.is_unknown(position as u32) {
            out.extend_from_slice(decoded.sentence.word(word, &decoded.system.models));
            out.push(b' ');
        }
    }
}
