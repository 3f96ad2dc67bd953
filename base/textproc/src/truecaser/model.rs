//! Truecase model: the casing of each word inside sentences.

use std::path::Path;

use hashbrown::{HashMap, HashSet};

use super::markup::{MarkupToken, markup_tokens};
use super::next_starts_sentence;
use crate::characters::{push_lowercase, split_whitespace};
use crate::{Error, Result, text_file};

/// The most frequent casing of each word, for [truecasing](TruecaseModel::truecase).
///
/// # Examples
/// ```
/// use miriam_textproc::{TruecaseModel, TruecaseTrainer};
///
/// let mut trainer = TruecaseTrainer::new(false);
/// trainer.add_line(b"Here the dog of Ms Green sleeps .");
/// let mut text = Vec::new();
/// trainer.write_model(&mut text);
/// let model = TruecaseModel::from_text(&text, "example")?;
///
/// let mut truecased = Vec::new();
/// model.truecase(b"The dog barks .", &mut truecased);
/// assert_eq!(truecased, b"the dog barks .");
/// # Ok::<(), miriam_textproc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TruecaseModel {
    /// The most frequent casing of each lowercased word.
    best_casing: HashMap<Box<[u8]>, Box<[u8]>>,
    known_casings: HashSet<Box<[u8]>>,
}

impl TruecaseModel {
    /// Reads a model file as Moses' `train-truecaser.perl` writes it.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, and the errors of [`TruecaseModel::from_text`].
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_file::read(path)?;
        Self::from_text(&text, &file)
    }

    /// Parses the text of a model file; `file` is its name in error messages.
    ///
    /// # Errors
    /// [`Error::Format`] for a malformed line.
    pub fn from_text(text: &[u8], file: &str) -> Result<Self> {
        let mut model = TruecaseModel::default();
        let mut lower = Vec::new();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let mut fields = split_whitespace(line);
            let Some(best) = fields.next() else { continue };
            if !fields.next().is_some_and(is_count) {
                let reason = "expected a word with its casings and counts, such as: \
                    the (10/12) The (2); train models with `miriam truecase --train`";
                return Err(Error::format(file, i + 1, reason));
            }
            lower.clear();
            push_lowercase(best, &mut lower);
            model.best_casing.insert(lower.as_slice().into(), best.into());
            model.known_casings.insert(best.into());
            while let (Some(form), Some(_count)) = (fields.next(), fields.next()) {
                model.known_casings.insert(form.into());
            }
        }
        Ok(model)
    }

    /// Truecases the tokens of `line` and appends them, separated by single spaces, to `out`. Words
    /// at the beginning of a sentence and words with an unknown casing get their most frequent
    /// casing. Factors and markup stay unchanged. A line has no line end.
    pub fn truecase(&self, line: &[u8], out: &mut Vec<u8>) {
        self.truecase_line(line, false, out);
    }

    /// Truecases text without casing, such as the output of speech recognisers, like
    /// [`TruecaseModel::truecase`]: known words get their most frequent casing, others lower case.
    pub fn truecase_caseless(&self, line: &[u8], out: &mut Vec<u8>) {
        self.truecase_line(line, true, out);
    }

    fn truecase_line(&self, line: &[u8], all: bool, out: &mut Vec<u8>) {
        let (mut begins, mut first, mut after_markup) = (true, true, false);
        let mut lower = Vec::new();
        for part in markup_tokens(line, true) {
            let token = match part {
                MarkupToken::Word(token) => token,
                MarkupToken::Markup(markup) => {
                    // Like Moses' script: a space after markup, none before it.
                    out.extend_from_slice(markup);
                    out.push(b' ');
                    after_markup = true;
                    continue;
                }
            };
            if !first && !after_markup {
                out.push(b' ');
            }
            (first, after_markup) = (false, false);
            let end = match memchr::memchr(b'|', token) {
                None | Some(0) => token.len(),
                Some(bar) => bar,
            };
            let (word, factors) = token.split_at(end);
            lower.clear();
            push_lowercase(word, &mut lower);
            let word = if all { &lower[..] } else { word };
            let kept = !all && !begins && self.known_casings.contains(word);
            let written = match self.best_casing.get(&lower[..]) {
                Some(best) if !kept => best,
                _ => word,
            };
            out.extend_from_slice(written);
            out.extend_from_slice(factors);
            begins = next_starts_sentence(word, begins);
        }
        if after_markup {
            out.pop();
        }
    }
}

/// Whether a field is the count of a casing: `(3/5)` or `(2)`.
fn is_count(field: &[u8]) -> bool {
    field.starts_with(b"(") && field.ends_with(b")")
}
