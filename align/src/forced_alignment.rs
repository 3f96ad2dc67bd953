//! Alignment of single lines with a table of translation probabilities, as with fast_align's `-f`.
//! The result of a line is written before the next line is read, so that a script can wait for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use miriam_textio::fields::split_words;
use miriam_textio::number::{push_general, push_integer};
use miriam_textio::{Error as TextError, Input, Lines, Output, Vocabulary, WordId};

use crate::Result;
use crate::diagonal::DiagonalPrior;
use crate::fast_align::{NULL_NAME, ln_length_probability, split_sides};
use crate::ibm2_options::Ibm2Options;
use crate::translation_table::UNKNOWN_PROBABILITY;

/// The options of [`force_align`].
#[derive(Clone, Debug)]
pub struct ForcedAlignOptions {
    /// The model, with the tension that training ended with.
    pub ibm2: Ibm2Options,
    /// The table of ln probabilities.
    pub table: PathBuf,
    /// Whether target words are the states and source words the outputs that they generate, instead
    /// of the other way round.
    pub reverse: bool,
    /// The mean number of output words per state word. The probability of a line's length, which
    /// is part of its score, is computed from it.
    pub length_ratio: f64,
}

/// The result of [`force_align`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ForcedAlignSummary {
    /// The number of entries of the table.
    pub entries: u64,
    /// The sum of the scores.
    pub ln_probability: f64,
}

/// The probabilities p(output | state) of pairs of words.
struct Table {
    words: Vocabulary,
    probabilities: HashMap<(WordId, WordId), f64>,
}

impl Table {
    fn read(path: &Path) -> Result<Self> {
        let mut table = Table { words: Vocabulary::new(), probabilities: HashMap::new() };
        let input = Input::open(path)?;
        let name = input.name().to_owned();
        let mut lines = Lines::in_background(input);
        while let Some(line) = lines.next()? {
            let mut fields = split_words(line.bytes);
            fn number(text: &[u8]) -> Option<f64> {
                let ln = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
                (!ln.is_nan()).then_some(ln)
            }
            match (fields.next(), fields.next(), fields.next().and_then(number), fields.next()) {
                (Some(state), Some(output), Some(ln), None) => {
                    let pair = (table.words.intern(state), table.words.intern(output));
                    table.probabilities.insert(pair, ln.exp());
                }
                _ => {
                    let reason = "expected two words and a logarithm, as fast_align -p writes them";
                    return Err(TextError::format(&name, line.number, None, reason).into());
                }
            }
        }
        Ok(table)
    }

    fn probability(&self, state: Option<WordId>, output: Option<WordId>) -> f64 {
        let known = state.zip(output).and_then(|pair| self.probabilities.get(&pair));
        known.copied().unwrap_or(UNKNOWN_PROBABILITY)
    }
}

/// A model with a table that was read from a file.
struct ForcedAligner<'a> {
    table: &'a Table,
    null: Option<WordId>,
    prior: DiagonalPrior,
    options: &'a ForcedAlignOptions,
}

impl ForcedAligner<'_> {
    /// Calls `link` with the source and the target position of each link of a line. Both sides of
    /// the line must have words. Returns the logarithm of the probability of the line.
    fn align_line(
        &self,
        [sources, targets]: &[Vec<Option<WordId>>; 2],
        mut link: impl FnMut(usize, usize),
    ) -> f64 {
        let Self { table, options, .. } = self;
        let (states, outputs) =
            if options.reverse { (targets, sources) } else { (sources, targets) };
        let mut score = ln_length_probability(outputs.len(), states.len(), options.length_ratio);
        let (m, n) = (outputs.len() as u32, states.len() as u32);
        for (j, &word) in outputs.iter().enumerate() {
            let (null_prior, state_prior) = self.prior.position_probabilities(j as u32 + 1, m, n);
            let mut sum = 0.0;
            if options.ibm2.null_word {
                sum += table.probability(self.null, word) * null_prior;
            }
            let (mut largest, mut best) = (sum, None);
            for (i, &state) in states.iter().enumerate() {
                let probability = table.probability(state, word) * state_prior(i as u32 + 1);
                if probability > largest {
                    (largest, best) = (probability, Some(i));
                }
                sum += probability;
            }
            score += sum.ln();
            if let Some(i) = best {
                let (source, target) = if options.reverse { (j, i) } else { (i, j) };
                link(source, target);
            }
        }
        score
    }
}

/// Writes `source ||| target ||| links ||| score` for each line of `input`.
///
/// # Errors
/// If an option is out of range, a file cannot be read or written, the table is malformed, or the
/// source or target of a line has no words.
pub fn force_align(
    input: &Path,
    output: &Path,
    options: &ForcedAlignOptions,
) -> Result<ForcedAlignSummary> {
    options.ibm2.validate()?;
    let table = Table::read(&options.table)?;
    let model = ForcedAligner {
        table: &table,
        null: table.words.find(NULL_NAME),
        prior: DiagonalPrior::new(&options.ibm2),
        options,
    };
    let mut summary = ForcedAlignSummary {
        entries: table.probabilities.len() as u64,
        ..ForcedAlignSummary::default()
    };
    let mut lines = Lines::new(Input::open(input)?);
    let name = lines.name().to_owned();
    let mut output = Output::create(output)?;
    let (mut text, mut ids) = (Vec::new(), [Vec::new(), Vec::new()]);
    while let Some(line) = lines.next()? {
        let (source, target) = split_sides(line.bytes);
        text.clear();
        for (side, ids) in [source, &target].into_iter().zip(&mut ids) {
            ids.clear();
            for word in split_words(side) {
                ids.push(table.words.find(word));
                text.extend_from_slice(word);
                text.push(b' ');
            }
            text.extend_from_slice(b"||| ");
        }
        // Each link adds a space before it.
        text.pop();
        if ids.iter().any(Vec::is_empty) {
            let reason = "no words on one side; expected `source ||| target`";
            return Err(TextError::format(&name, line.number, None, reason).into());
        }
        let score = model.align_line(&ids, |source, target| {
            text.push(b' ');
            push_integer(&mut text, source);
            text.push(b'-');
            push_integer(&mut text, target);
        });
        summary.ln_probability += score;
        text.extend_from_slice(b" ||| ");
        push_general(&mut text, score);
        text.push(b'\n');
        output.write(&text)?;
        output.flush()?;
    }
    output.finish()?;
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tables_have_two_words_and_a_logarithm() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("table");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("writable");
            Table::read(&path)
        };
        let table = read("das\tthe\t-0.5\ndas\tthat\t-inf\n").expect("a valid table");
        let id = |word: &[u8]| table.words.find(word);
        assert_eq!(table.probability(id(b"das"), id(b"the")), (-0.5f64).exp());
        assert_eq!(table.probability(id(b"das"), id(b"that")), 0.0);
        assert_eq!(table.probability(id(b"das"), id(b"das")), UNKNOWN_PROBABILITY);
        for wrong in ["das\tthe", "das\tthe\t-0.5\t1", "das\tthe\tnan", "das\tthe\tlow"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
