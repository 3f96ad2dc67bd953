//! `miriam tokenize`: division of text into tokens.

use std::path::PathBuf;

use clap::Args;
use miriam_textproc::{NonbreakingPrefixes, ProtectedPatterns, Tokenizer};

use super::{IgnoredOptions, InputOutput, PENN_UNSUPPORTED, warn_if_unknown_language};
use crate::common::{CommonOptions, exit_with_usage_error};

/// Split text into tokens, as Moses' tokenizer.perl
///
/// Words and punctuation are separated by spaces; characters that Moses reads as syntax become
/// entities. Blank lines are unchanged, and bytes that are not UTF-8 are symbols. Options of Moses'
/// script may be written with one dash, like there.
///
/// Example: miriam tokenize -l de -i news.de.gz -o news.tok.de
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: InputOutput,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG", default_value = "en")]
    language: String,
    /// Split words at hyphens: a @-@ b
    #[arg(short, long)]
    aggressive: bool,
    /// Write no entities
    #[arg(long)]
    no_escape: bool,
    /// Keep text that matches these regular expressions; one per line
    #[arg(long, value_name = "FILE")]
    protected: Option<PathBuf>,
    /// A list of nonbreaking prefixes, words that keep their full stop, in Moses' form: one per
    /// line, followed by #NUMERIC_ONLY# if it counts only before numbers
    #[arg(long, value_name = "FILE")]
    nonbreaking_prefixes: Option<PathBuf>,
    /// Keep lines that are only markup
    #[arg(short = 'x', long)]
    skip_markup: bool,
    #[arg(long, hide = true)]
    penn: bool,
    #[command(flatten)]
    _ignored: IgnoredOptions,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.penn {
        exit_with_usage_error(PENN_UNSUPPORTED);
    }
    let language = &arguments.language;
    let mut tokenizer = Tokenizer::new(language)
        .aggressive(arguments.aggressive)
        .escape(!arguments.no_escape)
        .skip_markup(arguments.skip_markup);
    if let Some(file) = &arguments.nonbreaking_prefixes {
        tokenizer = tokenizer.with_nonbreaking_prefixes(NonbreakingPrefixes::read(file)?);
    } else {
        warn_if_unknown_language(language);
    }
    if let Some(file) = &arguments.protected {
        tokenizer = tokenizer.with_protected_patterns(ProtectedPatterns::read(file)?);
    }
    arguments.files.transform_lines("tokenizing", common, |line: &[u8], out: &mut Vec<u8>| {
        tokenizer.tokenize(line, out)
    })
}
