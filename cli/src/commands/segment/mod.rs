//! `miriam tokenize`, `detokenize`, `truecase` and `normalize`: Moses' text tools, with
//! their options; and `prepare`, which is three of them at once.

pub mod detokenize;
pub mod normalize;
pub mod prepare;
pub mod tokenize;
pub mod truecase;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use miriam_textio::{Input, Output, map_lines};
use miriam_textproc::Prefixes;

use crate::common::Common;

/// Where lines come from and go to.
#[derive(Args)]
pub struct Files {
    /// The text, a sentence a line: plain, .gz or .zst; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// Where the lines go, one for each; .gz and .zst are compressed; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

impl Files {
    fn map(
        &self,
        stage: &str,
        common: &Common,
        change: impl Fn(&[u8], &mut Vec<u8>) + Sync,
    ) -> anyhow::Result<()> {
        Input::check(&self.input, Some(&self.output))?;
        let input = Input::open(&self.input)?;
        let mut output = Output::create_whole(&self.output)?;
        let progress = common.progress();
        map_lines(input, &mut output, common.threads.count(), (stage, &progress), change)?;
        Ok(output.finish()?)
    }
}

/// Options that Moses' scripts take and that do nothing here.
#[derive(Args)]
pub struct Ignored {
    /// Moses': print no version; it is never printed
    #[arg(short = 'q', hide = true)]
    _quiet: bool,
    /// Moses': hand lines on at once; pipes are always answered so
    #[arg(short = 'b', hide = true)]
    _unbuffered: bool,
}

/// Options that Moses' scripts write with one dash.
const ONE_DASH: [&str; 8] = [
    "-no-escape",
    "-protected",
    "-threads",
    "-penn",
    "-model",
    "-corpus",
    "-asr",
    "-possiblyUseFirstToken",
];

/// The words of a command line, with two dashes where Moses' scripts take one, if the
/// first of them names one of these tools.
pub fn with_two_dashes(words: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let tools = ["tokenize", "detokenize", "truecase", "normalize"];
    let mut is_tool = false;
    words.enumerate().map(move |(i, mut word)| {
        // Behind the program's own name.
        is_tool |= i == 1 && tools.iter().any(|tool| word == *tool);
        if is_tool && ONE_DASH.iter().any(|option| word == *option) {
            let mut two = OsString::from("-");
            two.push(word);
            word = two;
        }
        word
    })
}

/// Ends the program as wrong usage does.
fn wrong_usage(reason: &str) -> ! {
    clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{reason}\n")).exit()
}

const NO_PENN: &str = "-penn: tokens of the Penn treebank are not supported; leave it out for \
                       Moses' own";

/// Says so when a language's abbreviations are not known, as Moses' tokeniser does.
pub fn warn_of_language(language: &str) {
    if Prefixes::of_language(language).is_none() {
        let known: Vec<&str> = Prefixes::languages().collect();
        tracing::warn!(
            "no abbreviations of {language:?} are known, only of {}; English's are taken (`miriam \
             tokenize --nonbreaking-prefixes` reads a list)",
            known.join(", ")
        );
    }
}
