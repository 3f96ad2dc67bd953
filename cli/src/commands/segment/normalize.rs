//! `miriam normalize`: uniform punctuation.

use clap::Args;
use miriam_textproc::Normalizer;

use super::{Files, Ignored, NO_PENN, wrong_usage};
use crate::common::Common;

/// Make punctuation uniform, as Moses' normalize-punctuation.perl
///
/// Quotation marks, dashes and spaces of many kinds become those of ASCII.
///
/// Example: miriam normalize -l fr < news.fr | miriam tokenize -l fr > news.tok.fr
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: Files,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG", default_value = "en")]
    language: String,
    /// The same, as Moses' script also takes it
    #[arg(hide = true, conflicts_with = "language")]
    also_language: Option<String>,
    #[arg(long, hide = true)]
    penn: bool,
    #[command(flatten)]
    _ignored: Ignored,
}

pub fn run(arguments: Arguments, common: &Common) -> anyhow::Result<()> {
    if arguments.penn {
        wrong_usage(NO_PENN);
    }
    let language = arguments.also_language.as_ref().unwrap_or(&arguments.language);
    let normalizer = Normalizer::new(language);
    let change = |line: &[u8], out: &mut Vec<u8>| normalizer.normalize(line, out);
    arguments.files.map("normalizing", common, change)
}
