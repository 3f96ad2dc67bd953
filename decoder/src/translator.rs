//! Translation of lines one at a time, by a decoder of lines and a reporter of its results.

use crate::Result;
use crate::cut_words::find_line_error;
use crate::line_decoder::{LineDecoder, LineLimits};
use crate::line_errors::LineError;
use crate::n_best::{Derivation, NBest, NBestLimits};
use crate::output::Translation;
use crate::output_streams::LineOutput;
use crate::reports::search_graph::SearchGraphLine;
use crate::reports::{LineReporter, LineResult};
use crate::rescorer::Rescorer;
use crate::sentence_decoder::Statistics;
use crate::span::Span;
use crate::system::System;

/// The details requested of a line besides its best translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DetailOptions {
    /// The largest number of entries of the n-best list; 0 for no list.
    pub n_best: usize,
    /// Whether entries of the list with the words of an earlier one are left out.
    pub distinct: bool,
    /// Whether the search graph is requested.
    pub search_graph: bool,
    /// Whether the translation options are requested.
    pub options: bool,
}

/// A phrase that the search may use for a span of the line.
#[derive(Clone, Debug, PartialEq)]
pub struct TranslationOption {
    /// The source positions in the line.
    pub source: Span,
    /// The words of the phrase.
    pub words: Vec<Vec<u8>>,
    /// Its weighted score plus the estimates of language models and operation sequence models. The
    /// options of a span from one table are ordered by this score.
    pub future_score: f32,
    /// Unweighted values, one per component. The values of features that do not depend on the
    /// phrase alone are 0.
    pub values: Vec<f32>,
}

/// A line's best translation with the requested details.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetailedTranslation {
    /// The best translation; `None` when there is none within the limits of the search.
    pub best: Option<Translation>,
    /// The n-best list, best first.
    pub n_best: Vec<Derivation>,
    /// The search graph as a JSON object with a line end, as `-output-search-graph` writes it;
    /// its `id` is 0.
    pub search_graph: Option<Vec<u8>>,
    /// The options of each span, by first word, length and table, the best of each table first.
    pub options: Vec<TranslationOption>,
}

/// Translates sentences one at a time, in buffers that it reuses.
///
/// # Examples
///
/// Lines as `miriam translate` prints them, and n-best lists:
///
/// ```
/// # use miriam_decoder::{Configuration, System, Translator};
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let ini = folder.path().join("moses.ini");
/// # std::fs::write(
/// #     folder.path().join("phrase-table"),
/// #     "das ||| the ||| 0.5\ndas haus ||| the house ||| 0.25\nhaus ||| building ||| 0.25\n",
/// # )?;
/// # std::fs::write(
/// #     &ini,
/// #     "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
/// #      PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
/// #      [weight]\nUnknownWordPenalty0= 1\nDistortion0= 0.5\nTable= 1\n",
/// # )?;
/// let system = System::load(&Configuration::from_ini(&ini)?, &NoProgress)?;
/// let mut translator = Translator::new(&system);
/// let mut line = Vec::new();
/// translator.translate_line(b"haus 7", &mut line)?;
/// // The unknown word is copied.
/// assert_eq!(String::from_utf8(line)?.trim_end(), "building 7");
///
/// let list = translator.n_best(b"das haus", 2, true)?;
/// // A value for each component: unknown words, distortion, the table's logarithm.
/// assert_eq!(list[0].values, [0.0, 0.0, 0.25f32.ln()]);
/// assert_eq!(list[1].phrases.len(), 2);
/// assert!(list[0].score > list[1].score);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Translator<'s> {
    system: &'s System,
    decoder: LineDecoder<'s>,
    rescorer: Rescorer<'s>,
    reporter: LineReporter<'s>,
    n_best: NBest,
    /// The number of lines that [`Translator::translate_line`] has translated.
    num_lines: u64,
}

impl<'s> Translator<'s> {
    /// Creates a translator of `system`.
    pub fn new(system: &'s System) -> Self {
        let mut decoder = LineDecoder::new(system);
        if system.rescoring.is_some() {
            decoder.enable_lattice();
        }
        Translator {
            system,
            decoder,
            rescorer: Rescorer::new(system),
            reporter: LineReporter::new(system),
            n_best: NBest::default(),
            num_lines: 0,
        }
    }

    /// Returns statistics of everything done so far.
    pub fn statistics(&self) -> Statistics {
        self.decoder.statistics()
    }

    /// Returns the words of `line`, which was translated last and to which the positions in its
    /// translations refer: without markup, and without the phrase table that comes with the line.
    /// An invalid line, which has no translation, is split as it is.
    pub fn source_words<'a>(&'a self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.decoder.source_words(line)
    }

    /// Takes the errors of the last line; a second call returns nothing.
    pub fn take_line_errors(&mut self) -> Vec<LineError> {
        std::mem::take(&mut self.decoder.line_errors)
    }

    /// Sets the limits of the next lines.
    pub fn set_line_limits(&mut self, limits: LineLimits) {
        self.decoder.limits = limits;
    }

    /// Appends the output line of the input line `line` to `out`, without line ends. An invalid
    /// line, or one that cannot be translated, gives an empty line and a line error.
    ///
    /// A line of more than [`MAX_SENTENCE_WORDS`](crate::MAX_SENTENCE_WORDS) words is
    /// translated in parts, whose scores are added, and gives a line error. The time and memory
    /// for one sentence would grow faster than its length.
    ///
    /// If lines are numbered, they are numbered in the order of the calls.
    ///
    /// # Errors
    ///
    /// Fails if a model file is damaged or a model of `[rescore]` fails, and with
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn translate_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let id = self.system.settings.output.first_id.wrapping_add(self.num_lines as i64);
        self.num_lines += 1;
        let Translator { decoder, rescorer, reporter, .. } = self;
        reporter.start(id);
        rescorer.start_line();
        let score = decoder
            .decode(line, |decoded, part| reporter.add_best(rescorer.rescore(decoded, 0)?, part));
        let score = rescorer.line_score(decoder.recover_line_error(score)?);
        decoder.line_errors.extend(rescorer.take_line_errors());
        reporter.push_best_line(score, out);
        Ok(())
    }

    /// Translates line number `id` and appends to each requested stream.
    ///
    /// # Errors
    ///
    /// Those of [`Translator::translate_line`].
    pub(crate) fn translate_to_streams(
        &mut self,
        id: i64,
        line: &[u8],
        out: &mut LineOutput,
    ) -> Result<()> {
        let Translator { decoder, rescorer, reporter, system, .. } = self;
        reporter.start(id);
        rescorer.start_line();
        // One more than requested, as in Moses2.
        let wanted = system.settings.output.n_best.map_or(0, |list| list.size.saturating_add(1));
        let score = decoder.decode(line, |decoded, part| {
            reporter.add_part(rescorer.rescore(decoded, wanted)?, part, out)
        });
        let is_malformed = score.is_err();
        let score = rescorer.line_score(decoder.recover_line_error(score)?);
        decoder.line_errors.extend(rescorer.take_line_errors());
        let result = LineResult { score, is_malformed, is_split: decoder.is_split() };
        let line_error = reporter.finish(rescorer.rescored(decoder.decoded()), result, out)?;
        decoder.line_errors.extend(line_error);
        Ok(())
    }

    /// Returns the best translation of `line`; `None` when there is none within the limits of the
    /// search. Long lines are translated as in [`Translator::translate_line`].
    ///
    /// # Errors
    ///
    /// Fails if the line is invalid, a model file is damaged or a model of `[rescore]` fails, and
    /// with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn translate(&mut self, line: &[u8]) -> Result<Option<Translation>> {
        let Translator { decoder, rescorer, .. } = self;
        let mut phrases = Vec::new();
        rescorer.start_line();
        let score = decoder.decode(line, |decoded, part| {
            let decoded = rescorer.rescore(decoded, 0)?;
            phrases.extend(decoded.best_phrases(part.offset)?);
            Ok(())
        })?;
        let score = rescorer.line_score(score);
        decoder.line_errors.extend(rescorer.take_line_errors());
        Ok(score.map(|score| Translation { score, phrases }))
    }

    /// Returns the `size` best translations of `line` that the search has seen, best first, with
    /// the values of all features. A `distinct` list has only the first of several translations
    /// with the same words. At most n-best-factor times `size` candidates are tried, so a distinct
    /// list may be shorter than `size`. Any list is shorter if the search has seen fewer
    /// translations.
    ///
    /// From the first call on, the translator keeps data for lists of every sentence, which makes
    /// [`Translator::translate`] a little slower.
    ///
    /// The list of a line of more than
    /// [`MAX_SENTENCE_WORDS`](crate::MAX_SENTENCE_WORDS) words has one entry: the best translations
    /// of its parts are joined, and their scores and values are added.
    ///
    /// # Errors
    ///
    /// Fails if the line is invalid, a model file is damaged or a model of `[rescore]` fails, and
    /// with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn n_best(&mut self, line: &[u8], size: usize, distinct: bool) -> Result<Vec<Derivation>> {
        self.decoder.enable_lattice();
        if size == 0 {
            return Ok(Vec::new());
        }
        let wanted = DetailOptions { n_best: size, distinct, ..DetailOptions::default() };
        Ok(self.translate_in_detail(line, wanted)?.n_best)
    }

    /// Returns the best translation of `line`, as [`Translator::translate`] does, with the
    /// requested details: an n-best list as from [`Translator::n_best`], a search graph, and
    /// translation options. All come from one search.
    ///
    /// # Errors
    ///
    /// Fails if the line is invalid, a model file is damaged or a model of `[rescore]` fails, and
    /// with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn translate_in_detail(
        &mut self,
        line: &[u8],
        wanted: DetailOptions,
    ) -> Result<DetailedTranslation> {
        let Translator { decoder, rescorer, n_best, system, .. } = self;
        rescorer.start_line();
        if wanted.n_best > 0 || wanted.search_graph {
            decoder.enable_lattice();
        }
        let mut phrases = Vec::new();
        let mut joined_values = Vec::new();
        let mut options = Vec::new();
        let mut graph = wanted.search_graph.then(|| SearchGraphLine::new(0));
        let before = decoder.statistics();
        let score = decoder.decode(line, |decoded, part| {
            let decoded = rescorer.rescore(decoded, wanted.n_best)?;
            phrases.extend(decoded.best_phrases(part.offset)?);
            if part.is_split && wanted.n_best > 0 {
                n_best.add_best_values(decoded, &mut joined_values)?;
            }
            if wanted.options && decoded.sentence.len() > 0 {
                n_best.for_each_option(decoded, |id, span, values| {
                    let mut words = Vec::new();
                    let forms = decoded.surface_forms();
                    forms.for_each_word_lossy(id, span, |word| words.push(word.to_vec()));
                    let future_score = decoded.options.scores(id).future_score;
                    let (source, values) = (span.shifted(part.offset), values.to_vec());
                    options.push(TranslationOption { source, words, future_score, values });
                    Ok(())
                })?;
            }
            if let Some(graph) = &mut graph {
                decoded.push_search_graph(graph, part.offset);
            }
            Ok(())
        })?;
        let score = rescorer.line_score(score);
        decoder.line_errors.extend(rescorer.take_line_errors());
        decoder.line_errors.extend(find_line_error(before, decoder.statistics()));
        let mut list = Vec::new();
        if wanted.n_best > 0 && decoder.is_split() {
            list.extend(score.map(|score| Derivation {
                score,
                phrases: phrases.clone(),
                values: joined_values,
            }));
        } else if wanted.n_best > 0 {
            let decoded = rescorer.rescored(decoder.decoded());
            let limits = NBestLimits {
                max_entries: wanted.n_best,
                max_candidates: system.settings.output.n_best_factor.saturating_mul(wanted.n_best),
                distinct: wanted.distinct,
            };
            n_best.for_each_entry(decoded, limits, |entry| {
                let path = entry.hypotheses.iter().rev();
                list.push(Derivation {
                    score: entry.total,
                    phrases: decoded.translated_phrases(entry.words, path, 0)?,
                    values: entry.values.to_vec(),
                });
                Ok(())
            })?;
        }
        let search_graph = graph.map(|graph| {
            let mut json = Vec::new();
            graph.finish(&mut json);
            json
        });
        let best = score.map(|score| Translation { score, phrases });
        Ok(DetailedTranslation { best, n_best: list, search_graph, options })
    }
}
