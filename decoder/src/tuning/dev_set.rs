//! The development set, and its translation into n-best lists.

use std::path::{Path, PathBuf};

use miriam_combine::optimizers::{BleuStatistics, NBestList};
use miriam_metrics::bleu::{BleuCounts, NgramMatcher, ReferenceNgrams};
use miriam_textio::{Input, Lines, ProgressTask, display_name, fields, ordered_map};

use super::{TuneOptions, TunedComponents};
use crate::cut_words::CutWordCounts;
use crate::line_decoder::LineDecoder;
use crate::line_errors::{LineError, Warnings};
use crate::n_best::{NBest, NBestLimits};
use crate::unknown_words::UnknownWordCounts;
use crate::{Error, Result, System};

/// Counts and errors that show whether source lines are prepared as the system needs them.
#[derive(Default)]
pub(super) struct DevSetChecks {
    unknown_words: UnknownWordCounts,
    cut_words: CutWordCounts,
    /// Line numbers with the errors of the line.
    line_errors: Vec<(u64, Vec<LineError>)>,
    /// The number of lines that have no translation or are translated in parts. They count as
    /// empty.
    untranslated: usize,
}

impl DevSetChecks {
    /// Warns if `source`, of `num_lines` lines, is probably not prepared as the system needs it.
    ///
    /// # Errors
    /// If every line lacks a translation or is translated in parts.
    pub(super) fn finish(self, num_lines: usize, source: &Path) -> Result<()> {
        let name = display_name(source);
        self.unknown_words.warn_if_most(&name);
        self.cut_words.warn(&name);
        let mut warnings = Warnings::new(name.clone());
        for (line, errors) in &self.line_errors {
            warnings.warn(*line, errors);
        }
        warnings.finish();
        if self.untranslated == num_lines {
            let reason = format!(
                "{name}: no line has a translation as one sentence; check -inputtype, -xml-input \
                 and the limits of the search, and that each line is a sentence"
            );
            return Err(Error::DevelopmentText { reason });
        }
        if self.untranslated > 0 {
            tracing::warn!(
                "{name}: {} of {num_lines} lines have no translation, or are translated in parts; \
                 they count as empty, which biases the weights towards long translations",
                self.untranslated
            );
        }
        Ok(())
    }
}

/// Source lines with their references.
pub(super) struct DevSet {
    lines: Vec<(Vec<u8>, ReferenceNgrams)>,
    case_insensitive: bool,
}

impl DevSet {
    pub(super) fn read(
        source: &Path,
        references: &[PathBuf],
        case_insensitive: bool,
    ) -> Result<Self> {
        let lines = read_lines(source)?;
        let mut texts = Vec::new();
        for path in references {
            let mut text = read_lines(path)?;
            let names = [source, path].map(display_name);
            let lengths = [lines.len(), text.len()].map(|lines| lines as u64);
            let lengths = names.iter().map(String::as_str).zip(lengths);
            miriam_textio::Error::check_line_counts(lengths)?;
            if case_insensitive {
                text.iter_mut().for_each(|line| line.make_ascii_lowercase());
            }
            texts.push(text);
        }
        if texts.is_empty() || lines.is_empty() {
            let reason = format!("{}: there is nothing to tune on", display_name(source));
            return Err(Error::DevelopmentText { reason });
        }
        let is_empty = |line: &Vec<u8>| fields::split_words(line).next().is_none();
        if lines.iter().all(is_empty) {
            let reason = format!("{}: all its lines are empty", display_name(source));
            return Err(Error::DevelopmentText { reason });
        }
        for (path, text) in references.iter().zip(&texts) {
            let empty = text.iter().filter(|line| is_empty(line)).count();
            if empty == text.len() {
                let reason = format!(
                    "{}: all its lines are empty, so that no translation is better than another; \
                     give the translation of {}",
                    display_name(path),
                    display_name(source)
                );
                return Err(Error::DevelopmentText { reason });
            }
            if 2 * empty > text.len() {
                tracing::warn!(
                    "{}: {empty} of {} lines are empty, which biases the weights towards short \
                     translations",
                    display_name(path),
                    text.len()
                );
            }
        }
        let references = (0..lines.len())
            .map(|i| ReferenceNgrams::new(texts.iter().map(|text| fields::split_words(&text[i]))));
        let references: Vec<_> = references.collect();
        Ok(DevSet { lines: lines.into_iter().zip(references).collect(), case_insensitive })
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the n-best lists of all lines, the best translation first, and updates `checks`.
    pub(super) fn translate(
        &self,
        system: &System,
        space: &TunedComponents,
        options: &TuneOptions,
        checks: &mut DevSetChecks,
        task: &ProgressTask<'_>,
    ) -> Result<Vec<NBestList>> {
        let DevSetChecks { unknown_words, cut_words, line_errors, untranslated } = checks;
        let (unknown_words, cut_words) = (&*unknown_words, &*cut_words);
        let mut lines = (1..).zip(&self.lines);
        let mut lists = Vec::with_capacity(self.len());
        let weights = system.weights();
        ordered_map(
            options.threads,
            || Ok::<_, Error>(lines.next()),
            || {
                let mut lister = NBestLister {
                    system,
                    decoder: LineDecoder::new(system),
                    n_best: NBest::default(),
                    text: self,
                    space,
                    weights: &weights,
                    size: options.nbest_size,
                    matcher: NgramMatcher::default(),
                    word: Vec::new(),
                };
                move |(number, (line, references)): (u64, &(Vec<u8>, ReferenceNgrams))| {
                    let before = lister.decoder.statistics();
                    let list = lister.decode_n_best(line, references);
                    unknown_words.add(before, lister.decoder.statistics());
                    cut_words.add(number, before, lister.decoder.statistics());
                    (list, std::mem::take(&mut lister.decoder.line_errors))
                }
            },
            |(list, errors), _| {
                let (list, is_translated) = list?;
                lists.push(list);
                if !errors.is_empty() {
                    line_errors.push((lists.len() as u64, errors));
                }
                *untranslated += usize::from(!is_translated);
                task.advance(1);
                if task.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
            },
        )?;
        Ok(lists)
    }
}

fn read_lines(path: &Path) -> Result<Vec<Vec<u8>>> {
    let mut lines = Lines::new(Input::open(path)?);
    let mut all = Vec::new();
    while let Some(line) = lines.next()? {
        all.push(line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes).to_vec());
    }
    Ok(all)
}

/// Computes n-best lists of lines, in buffers of a thread.
struct NBestLister<'a> {
    system: &'a System,
    decoder: LineDecoder<'a>,
    n_best: NBest,
    text: &'a DevSet,
    space: &'a TunedComponents,
    weights: &'a [f32],
    size: usize,
    matcher: NgramMatcher,
    word: Vec<u8>,
}

impl NBestLister<'_> {
    /// Returns the n-best list of `line`, and whether the list has translations of the line. If the
    /// line has no translation or is translated in parts, the list has one empty translation.
    fn decode_n_best(
        &mut self,
        line: &[u8],
        references: &ReferenceNgrams,
    ) -> Result<(NBestList, bool)> {
        let NBestLister { system, decoder, n_best, text, space, weights, size, matcher, word } =
            self;
        decoder.enable_lattice();
        let mut list = NBestList::default();
        let score = decoder.decode(line, |_, _| Ok(()));
        let score = decoder.recover_line_error(score)?;
        let max_candidates = system.settings().output.n_best_factor.saturating_mul(*size);
        let limits = NBestLimits { max_entries: *size, max_candidates, distinct: true };
        if score.is_some() && !decoder.is_split() {
            let decoded = decoder.decoded();
            let printed = decoded.surface_forms();
            let mut tokens = Vec::new();
            n_best.for_each_entry(decoded, limits, |entry| {
                tokens.clear();
                for &id in entry.hypotheses.iter().rev() {
                    let hypothesis = decoded.hypothesis(id);
                    printed.for_each_word_lossy(hypothesis.option, hypothesis.span, |bytes| {
                        tokens.push(if text.case_insensitive {
                            word.clear();
                            word.extend(bytes.iter().map(u8::to_ascii_lowercase));
                            references.token_id(word)
                        } else {
                            references.token_id(bytes)
                        });
                    });
                }
                let counts = matcher.count_matches(references, &tokens);
                let fixed = space.fixed.iter().map(|&c| entry.values[c] * weights[c]).sum();
                let values = space.tuned.iter().map(|&component| entry.values[component]);
                list.push(values, fixed, BleuStatistics::from_counts(&counts));
                Ok(())
            })?;
        }
        let is_translated = !list.is_empty();
        if !is_translated {
            let counts: BleuCounts = matcher.count_matches(references, &[]);
            list.push(space.tuned.iter().map(|_| 0.0), 0.0, BleuStatistics::from_counts(&counts));
        }
        Ok((list, is_translated))
    }
}
