//! `miriam split`: division of running text into sentences.

use std::path::PathBuf;

use clap::Args;
use miriam_textproc::{NonbreakingPrefixes, SentenceSplitter};

use super::{IgnoredOptions, InputOutput, warn_if_unknown_language};
use crate::common::CommonOptions;

/// Split running text into sentences, one per line
///
/// A line is a paragraph: no sentence continues on the next line, and blank lines stay. Sentences
/// end by Unicode's rules (UAX #29), in all scripts, but not after abbreviations or before lower
/// case, like in Moses' split-sentences.perl -k -i.
///
/// Example: miriam split -l de -i news.de.gz -o news.sentences.de
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: InputOutput,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG", default_value = "en")]
    language: String,
    /// A list of nonbreaking prefixes, words that keep their full stop, in Moses' form: one per
    /// line, followed by #NUMERIC_ONLY# if it counts only before numbers
    #[arg(long, value_name = "FILE")]
    nonbreaking_prefixes: Option<PathBuf>,
    #[command(flatten)]
    _ignored: IgnoredOptions,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let splitter = match &arguments.nonbreaking_prefixes {
        Some(file) => {
            let prefixes = NonbreakingPrefixes::read(file)?;
            SentenceSplitter::with_prefixes(&arguments.language, prefixes)
        }
        None => {
            warn_if_unknown_language(&arguments.language);
            SentenceSplitter::new(&arguments.language)
        }
    };
    arguments.files.transform_lines("splitting", common, |paragraph: &[u8], out: &mut Vec<u8>| {
        for (i, sentence) in splitter.split(paragraph).into_iter().enumerate() {
            if i > 0 {
                out.push(b'\n');
            }
            out.extend_from_slice(&paragraph[sentence]);
        }
    })
}
