//! Standard output for results: errors name it, and no output is lost silently.
//!
//! `println!` and `eprintln!` panic if the output is a full device or a closed pipe. clap ignores
//! errors when it writes help. Results are written here; [`crate::common::exit_code`] checks the
//! last flush. Errors on standard error are ignored. On a terminal, lines have no progress bar
//! before them.

use std::io::{self, IsTerminal, Write};

use crate::progress::without_bar;

/// Standard output, whose errors name it.
pub struct StandardOutput {
    output: io::Stdout,
    is_terminal: bool,
}

/// Returns standard output with a buffer, for output that is written in several parts.
pub fn standard_output() -> StandardOutput {
    let output = io::stdout();
    StandardOutput { is_terminal: output.is_terminal(), output }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Parts of lines wait in the buffer.
        let written = if self.is_terminal && bytes.contains(&b'\n') {
            without_bar(|| self.output.write(bytes))
        } else {
            self.output.write(bytes)
        };
        written.map_err(name_output)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush().map_err(name_output)
    }
}

/// Standard error for the log.
pub struct LogOutput(io::Stderr);

/// Returns standard error for the log.
pub fn standard_error() -> LogOutput {
    LogOutput(io::stderr())
}

impl Write for LogOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        without_bar(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Adds the name of the output to an error, and keeps the kind, which identifies a closed pipe.
fn name_output(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// Writes a result unchanged.
///
/// # Errors
/// If standard output cannot be written.
pub fn print(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut output = standard_output();
    output.write_all(text.as_ref())?;
    Ok(output.flush()?)
}

/// Writes a result as a line.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_line(line: impl std::fmt::Display) -> anyhow::Result<()> {
    // Written in one piece, so that nothing stays in a buffer after an error.
    print(format!("{line}\n"))
}

/// Writes a message of clap: help and the version on standard output, errors on standard error.
/// Errors of writing are ignored.
pub fn print_message(message: &clap::Error) {
    let _ = message.print().and_then(|()| io::stdout().flush());
}

/// Writes a text to standard error, and ignores errors.
pub fn print_error(text: impl AsRef<[u8]>) {
    let _ = io::stderr().write_all(text.as_ref());
}
