//! The development text, and its translation into lists.

use std::path::{Path, PathBuf};

use miriam_metrics::bleu::{Counts, Matcher, References};
use miriam_textio::{Input, Lines, Progress, fields, name_of, ordered_map};

use super::lists::{List, Tally};
use super::{Space, TuneOptions};
use crate::n_best::Extent;
use crate::{Error, Result, System, Translator};

/// Source lines with their references.
pub(super) struct Text {
    lines: Vec<(Vec<u8>, References)>,
    case_insensitive: bool,
}

impl Text {
    pub(super) fn read(
        source: &Path,
        references: &[PathBuf],
        case_insensitive: bool,
    ) -> Result<Self> {
        let lines = read_lines(source)?;
        let mut texts = Vec::new();
        for path in references {
            let mut text = read_lines(path)?;
            if text.len() != lines.len() {
                let reason = format!(
                    "{} has {} lines, {} has {}: a line of one translates the same line of the \
                     other",
                    name_of(source),
                    lines.len(),
                    name_of(path),
                    text.len()
                );
                return Err(Error::usage(reason));
            }
            if case_insensitive {
                text.iter_mut().for_each(|line| line.make_ascii_lowercase());
            }
            texts.push(text);
        }
        if texts.is_empty() || lines.is_empty() {
            let reason = format!("{}: there is nothing to tune on", name_of(source));
            return Err(Error::usage(reason));
        }
        let references = (0..lines.len())
            .map(|i| References::new(texts.iter().map(|text| fields::words(&text[i]))));
        let references: Vec<_> = references.collect();
        Ok(Text { lines: lines.into_iter().zip(references).collect(), case_insensitive })
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The best translations of every line, the best first.
    pub(super) fn translate(
        &self,
        system: &System,
        space: &Space,
        options: &TuneOptions,
        progress: &dyn Progress,
    ) -> Result<Vec<List>> {
        let mut lines = self.lines.iter();
        let mut lists = Vec::with_capacity(self.len());
        let weights = system.weights();
        let worker = || {
            let mut lister = Lister {
                translator: Translator::new(system),
                text: self,
                space,
                weights: &weights,
                size: options.nbest_size,
                matcher: Matcher::default(),
                word: Vec::new(),
            };
            move |(line, references): &(Vec<u8>, References)| lister.list(line, references)
        };
        ordered_map(
            options.threads,
            || Ok::<_, Error>(lines.next()),
            worker,
            |list, _| {
                lists.push(list?);
                progress.reached(lists.len() as u64);
                Ok(())
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

/// Lists the translations of lines, in buffers of a thread.
struct Lister<'a> {
    translator: Translator<'a>,
    text: &'a Text,
    space: &'a Space,
    weights: &'a [f32],
    size: usize,
    matcher: Matcher,
    word: Vec<u8>,
}

impl Lister<'_> {
    /// The list of `line`. One that has no translation, or is translated in pieces,
    /// has a list of one that says nothing, as its output is to BLEU.
    fn list(&mut self, line: &[u8], references: &References) -> Result<List> {
        let Lister { translator, text, space, weights, size, matcher, word } = self;
        translator.keep_lattice();
        let mut list = List::default();
        let score = translator.decode_pieces(line, |_, _| Ok(()));
        let score = translator.forgive(score)?;
        let tries = translator.system.settings().output.n_best_factor.saturating_mul(*size);
        let extent = Extent { entries: *size, tries, distinct: true };
        if score.is_some() && !translator.in_pieces {
            let mut tokens = Vec::new();
            translator.for_each_best(extent, |translator, entry| {
                tokens.clear();
                let (printed, hypotheses) =
                    (translator.printed_words(), translator.search.hypotheses());
                for id in entry.nodes.iter().rev() {
                    let hypothesis = &hypotheses[id.0 as usize];
                    printed.of_any(hypothesis.option, hypothesis.span, |bytes| {
                        tokens.push(match text.case_insensitive {
                            false => references.token(bytes),
                            true => {
                                word.clear();
                                word.extend(bytes.iter().map(u8::to_ascii_lowercase));
                                references.token(word)
                            }
                        });
                    });
                }
                let counts = matcher.counts(references, &tokens);
                let fixed = space.fixed.iter().map(|&c| entry.values[c] * weights[c]).sum();
                let values = space.tuned.iter().map(|&component| entry.values[component]);
                list.push(values, fixed, Tally::of(&counts));
                Ok(())
            })?;
        }
        if list.len() == 0 {
            let counts: Counts = matcher.counts(references, &[]);
            list.push(space.tuned.iter().map(|_| 0.0), 0.0, Tally::of(&counts));
        }
        Ok(list)
    }
}
