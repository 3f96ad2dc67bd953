//! `miriam split`, `tokenize`, `detokenize`, `truecase` and `normalize`: Moses' text tools,
//! with their options; and `prepare`, which combines three of them.

pub mod detokenize;
pub mod normalize;
pub mod prepare;
pub mod split;
pub mod tokenize;
pub mod truecase;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use miriam_textio::{Input, Output, map_lines};
use miriam_textproc::NonbreakingPrefixes;

use crate::common::{CommonOptions, open_text};

/// Input and output of a text tool.
#[derive(Args)]
pub struct InputOutput {
    /// The text: plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The output; .gz, .zst, .bz2 and .xz are compressed; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

impl InputOutput {
    fn transform_lines(
        &self,
        stage: &str,
        common: &CommonOptions,
        change: impl Fn(&[u8], &mut Vec<u8>) + Sync,
    ) -> anyhow::Result<()> {
        Input::check_access(&self.input, Some(&self.output))?;
        let input = open_text(&self.input)?;
        let mut output = Output::create_atomic(&self.output)?;
        let progress = common.progress();
        map_lines(input, &mut output, common.threads.count(), (stage, &progress), change)?;
        Ok(output.finish()?)
    }
}

/// Ignored options of Moses' scripts.
#[derive(Args)]
pub struct IgnoredOptions {
    /// Moses': print no version; it is never printed
    #[arg(short = 'q', hide = true)]
    _quiet: bool,
    /// Moses': flush every line; pipes are always flushed
    #[arg(short = 'b', hide = true)]
    _unbuffered: bool,
}

/// Options that Moses' scripts write with one dash.
const SINGLE_DASH_OPTIONS: [&str; 8] = [
    "-no-escape",
    "-protected",
    "-threads",
    "-penn",
    "-model",
    "-corpus",
    "-asr",
    "-possiblyUseFirstToken",
];

/// Replaces one dash by two in options of Moses' scripts, if the first word of the command line
/// names one of these tools.
pub fn accept_single_dash_options(
    words: impl Iterator<Item = OsString>,
) -> impl Iterator<Item = OsString> {
    let tools = ["tokenize", "detokenize", "truecase", "normalize"];
    let mut is_tool = false;
    words.enumerate().map(move |(i, mut word)| {
        // The first word after the program's own name.
        is_tool |= i == 1 && tools.iter().any(|tool| word == *tool);
        if is_tool && SINGLE_DASH_OPTIONS.iter().any(|option| word == *option) {
            let mut two = OsString::from("-");
            two.push(word);
            word = two;
        }
        word
    })
}

const PENN_UNSUPPORTED: &str = "-penn: tokens of the Penn treebank are not supported; leave it out for \
                       Moses' own";

/// Warns if there are no nonbreaking prefixes for a language, as Moses' tokeniser does.
pub fn warn_if_unknown_language(language: &str) {
    if let Some(warning) = NonbreakingPrefixes::unknown_language_warning(language) {
        tracing::warn!("{warning} (a list of them can be given, see --help)");
    }
}
