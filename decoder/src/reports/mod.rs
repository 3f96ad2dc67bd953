//! Everything that a line of input gives, written into its streams.

mod columns;
mod search_graph;
mod translation_details;

use crate::n_best::NBestLimits;
use crate::output::OutputFormat;
use crate::output_streams::{LineOutput, OutputStream};
use crate::translator::Translator;
use crate::{Error, LineError, LineErrorKind, Result};
pub(crate) use columns::OutputColumns;
use columns::{push_feature_values, push_n_best_line};
use search_graph::SearchGraphLine;

impl Translator<'_> {
    /// Translates line number `id` and gives each stream of the settings its part.
    pub(crate) fn translate_to_streams(
        &mut self,
        id: i64,
        line: &[u8],
        out: &mut LineOutput,
    ) -> Result<()> {
        let settings = &self.system.settings;
        let wanted = |stream| settings.outputs.iter().any(|(wanted, _)| *wanted == stream);
        let list = settings.output.n_best.filter(|_| wanted(OutputStream::NBest));
        let mut graph = wanted(OutputStream::SearchGraph).then(|| SearchGraphLine::new(id));
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        // The list of a line in pieces has one entry, without what is shown beside
        // the words of the best translation.
        let (mut entry, mut values) = (OutputColumns::default(), Vec::new());
        let score = self.decode_line(line, |translator, offset| {
            translator.push_best_translation(&mut columns, offset)?;
            if let Some(graph) = &mut graph {
                translator.push_search_graph(graph, offset);
            }
            if wanted(OutputStream::Unknowns) {
                translator.push_unknowns(out.stream_mut(OutputStream::Unknowns));
            }
            if wanted(OutputStream::Details) {
                translator
                    .push_translation_details(out.stream_mut(OutputStream::Details), offset)?;
            }
            if list.is_some() && translator.is_split {
                for &id in &translator.best_path {
                    entry.push_phrase(translator, id, offset, true)?;
                }
                translator.add_best_values(&mut values)?;
            }
            Ok(())
        });
        let is_wrong = score.is_err();
        let score = self.recover_line_error(score)?;
        if is_wrong {
            // Nothing of it is shown, and what was searched last is another line.
            out.stream_mut(OutputStream::Unknowns).clear();
            out.stream_mut(OutputStream::Details).clear();
            graph = graph.map(|_| SearchGraphLine::new(id));
        }
        self.push_best_line(id, score, &columns, out.stream_mut(OutputStream::Best));
        out.stream_mut(OutputStream::Best).push(b'\n');
        if wanted(OutputStream::Alignment) {
            let out = out.stream_mut(OutputStream::Alignment);
            if score.is_some() {
                out.extend_from_slice(&columns.alignment);
            }
            out.push(b'\n');
        }
        if wanted(OutputStream::Unknowns) {
            out.stream_mut(OutputStream::Unknowns).push(b'\n');
        }
        if let Some(graph) = graph {
            graph.finish(out.stream_mut(OutputStream::SearchGraph));
        }
        if let Some(options) = list.filter(|_| !is_wrong) {
            let tries = settings.output.n_best_factor.saturating_mul(options.size);
            let features = &self.system.components.features;
            let out = out.stream_mut(OutputStream::NBest);
            if !self.is_split {
                // One more than asked for, as Moses2 prints.
                let entries = options.size.saturating_add(1);
                let aligned = options.segmentation || options.alignment;
                let extent = NBestLimits {
                    max_entries: entries,
                    max_candidates: tries,
                    distinct: options.distinct,
                };
                let mut left_out = None;
                self.for_each_n_best(extent, |translator, entry| {
                    columns.clear();
                    let mut nodes = entry.hypotheses.iter().rev();
                    match nodes.try_for_each(|&id| columns.push_phrase(translator, id, 0, aligned))
                    {
                        Ok(()) => {
                            let values = (entry.values, entry.total);
                            push_n_best_line(out, id, &columns, features, values, options);
                        }
                        // The best translation stands, whatever is wrong with others.
                        Err(Error::Line { reason }) => left_out = Some(reason),
                        Err(error) => return Err(error),
                    }
                    Ok(())
                })?;
                self.line_errors.extend(left_out.map(|reason| {
                    let reason = format!("left out of the n-best list: {reason}");
                    LineError::new(LineErrorKind::Malformed, reason)
                }));
            } else if let Some(score) = score
                && tries > 0
            {
                push_n_best_line(out, id, &entry, features, (&values, score), options);
            }
        }
        self.columns = columns;
        Ok(())
    }

    /// Appends what stands on the line of a translation made of `columns`.
    pub(crate) fn push_best_line(
        &self,
        id: i64,
        score: Option<f32>,
        columns: &OutputColumns,
        out: &mut Vec<u8>,
    ) {
        let options = &self.system.settings.output;
        OutputFormat::from_settings(&self.system.settings).push_prefix(out, score, id);
        if score.is_some() {
            out.extend_from_slice(&columns.words);
            if options.print_alignment {
                out.extend_from_slice(b"||| ");
                out.extend_from_slice(&columns.alignment);
            }
        }
    }

    /// Adds the best translation of the piece decoded last to `columns`, with what
    /// is shown behind phrases.
    pub(crate) fn push_best_translation(
        &mut self,
        columns: &mut OutputColumns,
        offset: u32,
    ) -> Result<()> {
        let settings = &self.system.settings;
        let shown = OutputFormat::from_settings(settings);
        let aligned = settings.output.print_alignment
            || settings.outputs.iter().any(|(stream, _)| *stream == OutputStream::Alignment);
        if settings.output.print_score_breakdown {
            let features = &self.system.components.features;
            return self.for_each_best_hypothesis(|translator, id, values| {
                columns.push_phrase(translator, id, offset, aligned)?;
                let span = translator.search.hypotheses()[id.0 as usize].span.shifted(offset);
                shown.push_breakdown_start(&mut columns.words, span);
                push_feature_values(
                    &mut columns.words,
                    features,
                    values,
                    true,
                    OutputFormat::push_number,
                );
                columns.words.extend_from_slice(b"| ");
                Ok(())
            });
        }
        for &id in &self.best_path {
            columns.push_phrase(self, id, offset, aligned)?;
            let span = self.search.hypotheses()[id.0 as usize].span;
            shown.push_segmentation(&mut columns.words, span.shifted(offset));
        }
        Ok(())
    }

    /// Appends the words of the piece decoded last that no phrase translates.
    fn push_unknowns(&self, out: &mut Vec<u8>) {
        for (position, &word) in self.sentence.ids().iter().enumerate() {
            if self.options.is_unknown(position as u32) {
                out.extend_from_slice(self.sentence.word(word, self.system));
                out.push(b' ');
            }
        }
    }
}
