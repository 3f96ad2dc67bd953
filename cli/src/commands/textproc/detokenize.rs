//! `miriam detokenize`: conversion of tokens to text.

use clap::Args;
use miriam_textproc::Detokenizer;

use super::{IgnoredOptions, InputOutput, PENN_UNSUPPORTED};
use crate::common::{CommonOptions, exit_with_usage_error};

/// Join tokens to text, as Moses' detokenizer.perl
///
/// Punctuation is attached to words, and entities become characters again.
///
/// Example: miriam detokenize -l en < translations.tok > translations.en
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: InputOutput,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG", default_value = "en")]
    language: String,
    /// Write the first letter of each line in upper case
    #[arg(short = 'u', long)]
    uppercase: bool,
    #[arg(long, hide = true)]
    penn: bool,
    #[command(flatten)]
    _ignored: IgnoredOptions,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.penn {
        exit_with_usage_error(PENN_UNSUPPORTED);
    }
    let detokenizer = Detokenizer::new(&arguments.language).capitalize(arguments.uppercase);
    arguments.files.transform_lines("detokenizing", common, |line: &[u8], out: &mut Vec<u8>| {
        detokenizer.detokenize(line, out)
    })
}
