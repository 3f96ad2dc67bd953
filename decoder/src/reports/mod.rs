//! Everything that a line of input gives, written into its streams.

mod columns;
mod details;
mod search_graph;

use crate::n_best::Extent;
use crate::output::Shown;
use crate::streams::{LineOutput, Stream};
use crate::translator::Translator;
use crate::{Error, Mishap, MishapKind, Result};
pub(crate) use columns::Columns;
use columns::{push_n_best_line, push_values};
use search_graph::GraphLine;

impl Translator<'_> {
    /// Translates line number `id` and gives each stream of the settings its part.
    pub(crate) fn report(&mut self, id: i64, line: &[u8], out: &mut LineOutput) -> Result<()> {
        let settings = &self.system.settings;
        let wanted = |stream| settings.outputs.iter().any(|(wanted, _)| *wanted == stream);
        let list = settings.output.n_best.filter(|_| wanted(Stream::NBest));
        let mut graph = wanted(Stream::SearchGraph).then(|| GraphLine::new(id));
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        // The list of a line in pieces has one entry, without what is shown beside
        // the words of the best translation.
        let (mut entry, mut values) = (Columns::default(), Vec::new());
        let score = self.decode_pieces(line, |translator, offset| {
            translator.push_best(&mut columns, offset)?;
            if let Some(graph) = &mut graph {
                translator.push_graph(graph, offset);
            }
            if wanted(Stream::Unknowns) {
                translator.push_unknowns(out.stream(Stream::Unknowns));
            }
            if wanted(Stream::Details) {
                translator.push_details(out.stream(Stream::Details), offset)?;
            }
            if list.is_some() && translator.in_pieces {
                for &id in &translator.path {
                    entry.push(translator, id, offset, true)?;
                }
                translator.add_best_values(&mut values)?;
            }
            Ok(())
        });
        let is_wrong = score.is_err();
        let score = self.forgive(score)?;
        if is_wrong {
            // Nothing of it is shown, and what was searched last is another line.
            out.stream(Stream::Unknowns).clear();
            out.stream(Stream::Details).clear();
            graph = graph.map(|_| GraphLine::new(id));
        }
        self.finish_best(id, score, &columns, out.stream(Stream::Best));
        out.stream(Stream::Best).push(b'\n');
        if wanted(Stream::Alignment) {
            let out = out.stream(Stream::Alignment);
            if score.is_some() {
                out.extend_from_slice(&columns.alignment);
            }
            out.push(b'\n');
        }
        if wanted(Stream::Unknowns) {
            out.stream(Stream::Unknowns).push(b'\n');
        }
        if let Some(graph) = graph {
            graph.finish(out.stream(Stream::SearchGraph));
        }
        if let Some(options) = list.filter(|_| !is_wrong) {
            let tries = settings.output.n_best_factor.saturating_mul(options.size);
            let features = &self.system.components.features;
            let out = out.stream(Stream::NBest);
            if !self.in_pieces {
                // One more than asked for, as Moses2 prints.
                let entries = options.size.saturating_add(1);
                let aligned = options.segmentation || options.alignment;
                let extent = Extent { entries, tries, distinct: options.distinct };
                let mut left_out = None;
                self.for_each_best(extent, |translator, entry| {
                    columns.clear();
                    let mut nodes = entry.nodes.iter().rev();
                    match nodes.try_for_each(|&id| columns.push(translator, id, 0, aligned)) {
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
                self.mishaps.extend(left_out.map(|reason| {
                    let reason = format!("left out of the n-best list: {reason}");
                    Mishap::new(MishapKind::Malformed, reason)
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
    pub(crate) fn finish_best(
        &self,
        id: i64,
        score: Option<f32>,
        columns: &Columns,
        out: &mut Vec<u8>,
    ) {
        let options = &self.system.settings.output;
        Shown::of(&self.system.settings).begin(out, score, id);
        if score.is_some() {
            out.extend_from_slice(&columns.words);
            if options.alignment {
                out.extend_from_slice(b"||| ");
                out.extend_from_slice(&columns.alignment);
            }
        }
    }

    /// Adds the best translation of the piece decoded last to `columns`, with what
    /// is shown behind phrases.
    pub(crate) fn push_best(&mut self, columns: &mut Columns, offset: u32) -> Result<()> {
        let settings = &self.system.settings;
        let shown = Shown::of(settings);
        let aligned = settings.output.alignment
            || settings.outputs.iter().any(|(stream, _)| *stream == Stream::Alignment);
        if settings.output.breakdown {
            let features = &self.system.components.features;
            return self.for_each_value(|translator, id, values| {
                columns.push(translator, id, offset, aligned)?;
                let span = translator.search.hypotheses()[id.0 as usize].span.shifted(offset);
                shown.begin_breakdown(&mut columns.words, span);
                push_values(&mut columns.words, features, values, true, Shown::number);
                columns.words.extend_from_slice(b"| ");
                Ok(())
            });
        }
        for &id in &self.path {
            columns.push(self, id, offset, aligned)?;
            let span = self.search.hypotheses()[id.0 as usize].span;
            shown.end_phrase(&mut columns.words, span.shifted(offset));
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
