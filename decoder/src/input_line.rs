//! An input line before it becomes a sentence: its words and its annotations, which are markup or a
//! phrase table.

use crate::config::InputSettings;
use crate::markup::{MarkedText, SentenceMarkup, XmlInputMode};
use crate::sentence::MAX_SENTENCE_WORDS;
use crate::sentence_table::SentenceTable;
use crate::{Error, Result};

/// An input line, in buffers that are reused for the lines of a system.
#[derive(Default)]
pub(crate) struct InputLine {
    annotations: LineAnnotations,
    /// The words alone of the line that was read last; `None` if it was invalid, or if lines have
    /// no annotations.
    text: Option<Vec<u8>>,
}

/// The annotations of a line: everything besides its words.
#[derive(Default)]
pub(crate) struct LineAnnotations {
    /// The markup in the line.
    pub(crate) markup: SentenceMarkup,
    /// The phrase table that comes with the line.
    pub(crate) sentence_table: SentenceTable,
}

impl InputLine {
    /// Parses `line` according to `settings` into its words and its annotations. Without
    /// annotations in the settings, the words are the line itself.
    pub(crate) fn read<'a>(
        &'a mut self,
        line: &'a [u8],
        settings: &InputSettings,
    ) -> Result<(&'a [u8], &'a LineAnnotations)> {
        let mut text = self.text.take().unwrap_or_default();
        text.clear();
        if settings.has_sentence_table {
            let words = self.annotations.sentence_table.read(line).map_err(Error::line)?;
            text.extend_from_slice(words);
            self.text = Some(text);
        } else if settings.markup != XmlInputMode::PassThrough {
            self.read_markup(line, settings, &mut text)?;
            self.text = Some(text);
        }
        Ok((self.text.as_deref().unwrap_or(line), &self.annotations))
    }

    /// Returns the words of `line`, which was read last. All of an invalid line counts as words.
    pub(crate) fn last_text<'a>(&'a self, line: &'a [u8]) -> &'a [u8] {
        self.text.as_deref().unwrap_or(line)
    }

    /// Reads a line with markup, and appends its words to `out`.
    fn read_markup(
        &mut self,
        line: &[u8],
        settings: &InputSettings,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let text = MarkedText::parse(line, &settings.brackets);
        let text = text.map_err(|e| Error::line(e.to_string()))?;
        if settings.markup != XmlInputMode::Ignore {
            let annotations =
                SentenceMarkup::from_text(&text, settings.factors.placeholder_factor.is_some());
            self.annotations.markup = annotations.map_err(|e| Error::line(e.to_string()))?;
            if !self.annotations.markup.is_empty() && text.words.len() > MAX_SENTENCE_WORDS {
                let length = text.words.len();
                return Err(Error::line(format!(
                    "markup in a line of {length} words, which is translated in parts; markup \
                     is allowed in lines of up to {MAX_SENTENCE_WORDS} words"
                )));
            }
        }
        for word in &text.words {
            out.extend_from_slice(word);
            out.push(b' ');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers and Python print the words of the line that was translated last.
    #[test]
    fn words_of_the_last_line_stay_available() {
        let markup = InputSettings { markup: XmlInputMode::Inclusive, ..InputSettings::default() };
        let table = InputSettings { has_sentence_table: true, ..InputSettings::default() };
        let mut input = InputLine::default();
        for (line, settings, words) in [
            ("a <x translation=\"y\">b</x>", &markup, "a b "),
            ("a <x>b", &markup, "a <x>b"),
            ("a b @@@ a ||| c ||| 1", &table, "a b "),
            ("a b", &table, "a b"),
            ("c <d>", &InputSettings::default(), "c <d>"),
        ] {
            let read = input.read(line.as_bytes(), settings).map(|(text, _)| text.to_vec());
            assert_eq!(input.last_text(line.as_bytes()), words.as_bytes());
            assert!(read.is_err() || read.unwrap() == words.as_bytes(), "{line}");
        }
    }
}
