//! `miriam normalize`: uniform punctuation.

use clap::Args;
use miriam_textproc::PunctuationNormalizer;

use super::{IgnoredOptions, InputOutput, PENN_UNSUPPORTED};
use crate::common::{CommonOptions, exit_with_usage_error};

/// Make punctuation uniform, as Moses' normalize-punctuation.perl
///
/// Quotation marks, dashes and spaces of many kinds become those of ASCII.
///
/// Example: miriam normalize -l fr < news.fr | miriam tokenize -l fr > news.tok.fr
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: InputOutput,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG", default_value = "en")]
    language: String,
    /// The language, as Moses' script also accepts it
    #[arg(hide = true, conflicts_with = "language")]
    also_language: Option<String>,
    #[arg(long, hide = true)]
    penn: bool,
    #[command(flatten)]
    _ignored: IgnoredOptions,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.penn {
        exit_with_usage_error(PENN_UNSUPPORTED);
    }
    let language = arguments.also_language.as_ref().unwrap_or(&arguments.language);
    let normalizer = PunctuationNormalizer::new(language);
    arguments.files.transform_lines("normalizing", common, |line: &[u8], out: &mut Vec<u8>| {
        normalizer.normalize(line, out)
    })
}
