//! n-best lists in files or in memory.

use std::io::Cursor;
use std::path::PathBuf;

use miriam_textio::n_best::{NBestForm, NBestReader};
use miriam_textio::{Input, Lines, display_name};

use crate::Result;

/// The n-best list of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListInput {
    /// A file; `-` for standard input.
    File(PathBuf),
    /// The lines of a list in memory.
    Text {
        /// The name of the list in messages.
        name: String,
        /// Its lines.
        text: Vec<u8>,
    },
}

impl ListInput {
    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            ListInput::File(path) => display_name(path),
            ListInput::Text { name, .. } => name.clone(),
        }
    }

    /// Returns a reader of the list. A file is opened when its first line is read.
    ///
    /// # Errors
    /// If text in memory cannot be read, such as damaged compressed text.
    pub(crate) fn open(self) -> Result<NBestReader> {
        match self {
            ListInput::File(path) => Ok(NBestReader::new([path], NBestForm::Any)),
            ListInput::Text { name, text } => {
                let input = Input::from_reader(Cursor::new(text), &name, None)?;
                Ok(NBestReader::from_lines(Lines::new(input), NBestForm::Any))
            }
        }
    }
}
