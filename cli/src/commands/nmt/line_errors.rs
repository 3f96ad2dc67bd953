//! Errors of single lines: written to a file, or logged as warnings.

use std::path::Path;

use miriam_nmt::Result;
use miriam_nmt::translate::LineError;
use miriam_textio::Output;

/// The number of warnings before the rest is only counted.
const MAX_WARNINGS: u64 = 5;

/// The sink of line errors.
pub struct LineErrors {
    input: String,
    /// The remedy that the command offers for lines that are only counted.
    hint: &'static str,
    file: Option<Output>,
    count: u64,
}

impl LineErrors {
    /// Creates a sink for errors of the text named `input`, which writes them to `file` if there is
    /// one.
    pub fn new(input: String, file: Option<&Path>) -> Result<Self> {
        Ok(LineErrors { input, hint: "", file: file.map(Output::create).transpose()?, count: 0 })
    }

    /// Adds the option `--errors` to messages, for a command that has it.
    pub fn with_errors_option(self) -> Self {
        LineErrors { hint: "; --errors FILE records them all", ..self }
    }

    /// Writes or logs a line error.
    pub fn report(&mut self, error: &LineError) -> Result<()> {
        self.count += 1;
        let LineError { line, reason } = error;
        if let Some(file) = &mut self.file {
            let record = serde_json::json!({ "line": line, "reason": reason });
            file.write(format!("{record}\n").as_bytes())?;
        } else if self.count <= MAX_WARNINGS {
            tracing::warn!("{}, line {line}: {reason}", self.input);
        }
        Ok(())
    }

    /// Ends the file, which keeps its partial name unless all lines were translated. Without a
    /// file, warns of the number of errors that were not logged.
    pub fn finish(self, is_complete: bool) -> Result<()> {
        if let Some(file) = self.file {
            file.finish_if(is_complete)?;
        } else if let more @ 1.. = self.count.saturating_sub(MAX_WARNINGS) {
            tracing::warn!("{}: {more} more such lines{}", self.input, self.hint);
        }
        Ok(())
    }
}
