//! An input line before it becomes a sentence: its words and its annotations (markup or a
//! phrase table).

use crate::config::InputSettings;
use crate::markup::{MarkedText, SentenceMarkup, XmlInputMode};
use crate::sentence::MAX_SENTENCE_WORDS;
use crate::sentence_table::SentenceTable;
use crate::{Error, Result};

/// An input line, in buffers that are reused.
#[derive(Default)]
pub(crate) struct InputLine {
    annotations: LineAnnotations,
    /// The words alone, where the line has annotations.
    text: Vec<u8>,
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
    /// Parses `line` according to `settings` into its words (the line itself if annotations are
    /// off) and its annotations.
    pub(crate) fn read<'a>(
        &'a mut self,
        line: &'a [u8],
        settings: &InputSettings,
    ) -> Result<(&'a [u8], &'a LineAnnotations)> {
        if settings.has_sentence_table {
            let text = self.annotations.sentence_table.read(line).map_err(Error::line)?;
            return Ok((text, &self.annotations));
        }
        if settings.markup == XmlInputMode::PassThrough {
            return Ok((line, &self.annotations));
        }
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
        self.text.clear();
        for word in &text.words {
            self.text.extend_from_slice(word);
            self.text.push(b' ');
        }
        Ok((&self.text, &self.annotations))
    }
}
