//! Moses' scripts that change each line of standard input: `lowercase.perl`,
//! `escape-special-chars.perl`, `deescape-special-chars.perl` and others.

use std::ffi::{OsStr, OsString};

use clap::Parser;
use miriam_textio::{Input, Output, map_lines};
use miriam_textproc::{
    escape_line, remove_non_printing_chars, replace_unicode_punctuation, unescape_special_chars,
};

use crate::common::CommonOptions;

#[derive(Parser)]
#[command(disable_version_flag = true)]
struct Arguments {
    /// Flush the output after every line; output to a pipe is flushed in any case
    #[arg(short = 'b')]
    _unbuffered: bool,

    /// Arguments that Moses' scripts skip
    #[arg(hide = true, allow_hyphen_values = true, trailing_var_arg = true)]
    skipped: Vec<OsString>,
}

/// Writes standard input in lower case.
pub fn lowercase(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    change_lines(arguments, common, |line, out| {
        for chunk in line.utf8_chunks() {
            let lower = chunk.valid().chars().flat_map(char::to_lowercase);
            out.extend_from_slice(lower.collect::<String>().as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
    })
}

/// Writes standard input with entities in the place of characters that are syntax in Moses.
pub fn escape(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    change_lines(arguments, common, escape_line)
}

/// Writes standard input with Moses' entities decoded.
pub fn unescape(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    change_lines(arguments, common, unescape_special_chars)
}

/// Writes standard input with spaces in the place of characters that are not printed.
pub fn remove_non_printing(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    change_lines(arguments, common, remove_non_printing_chars)
}

/// Writes standard input with ASCII in the place of East Asian punctuation.
pub fn replace_punctuation(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    change_lines(arguments, common, replace_unicode_punctuation)
}

fn change_lines(
    arguments: Vec<OsString>,
    common: &CommonOptions,
    change: impl Fn(&[u8], &mut Vec<u8>) + Sync,
) -> anyhow::Result<()> {
    let Arguments { skipped, .. } = super::parse(arguments);
    if !skipped.is_empty() {
        let skipped = skipped.join(OsStr::new(" "));
        tracing::warn!("without effect, as in Moses' script: {}", skipped.display());
    }
    let input = Input::open("-".as_ref())?;
    let mut output = Output::create("-".as_ref())?;
    let stage = ("changing lines", &common.progress() as &dyn miriam_textio::Progress);
    map_lines(input, &mut output, common.threads.count(), stage, change)?;
    Ok(output.finish()?)
}
