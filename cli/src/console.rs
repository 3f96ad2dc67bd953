//! Standard output for results: errors name it, and what was not written is never lost silently.
//!
//! `println!` and `eprintln!` panic where the output is a full device or a closed pipe, and clap
//! ignores that its help was not written. Results go through here; [`crate::common::exit_code`]
//! looks at the last flush. Text that begins on standard error ends where nobody reads it.

use std::io::{self, Write};

use anyhow::Context;

/// Standard output, whose errors name it.
pub struct StandardOutput(io::Stdout);

/// Standard output for a writer of several pieces.
pub fn standard_output() -> StandardOutput {
    StandardOutput(io::stdout())
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(name_output)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(name_output)
    }
}

/// Keeps the kind, by which a closed pipe is known.
fn name_output(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// Writes a result as it is.
///
/// # Errors
/// If standard output does not take it.
pub fn print(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut output = standard_output();
    output.write_all(text.as_ref())?;
    Ok(output.flush()?)
}

/// Writes a result as a line.
///
/// # Errors
/// If standard output does not take it.
pub fn print_line(line: impl std::fmt::Display) -> anyhow::Result<()> {
    // In one piece, so that nothing is left in a buffer where it is not taken.
    print(format!("{line}\n"))
}

/// Writes a message of clap: help and the version on standard output, errors on standard error.
///
/// # Errors
/// If standard output does not take what was asked for.
pub fn print_message(message: &clap::Error) -> anyhow::Result<()> {
    let printed = message.print().and_then(|()| io::stdout().flush());
    if message.use_stderr() {
        // Where nobody reads standard error, nobody can be told.
        return Ok(());
    }
    printed.context("standard output")
}

/// Writes a text on standard error, if somebody reads it.
pub fn print_error(text: impl AsRef<[u8]>) {
    let _ = io::stderr().write_all(text.as_ref());
}
