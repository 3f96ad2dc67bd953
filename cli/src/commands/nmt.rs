//! `miriam nmt`: what neural translation needs.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use miriam_align::ShortlistOptions;
use miriam_text::Input;

use crate::common::Common;

#[derive(Subcommand)]
pub enum Command {
    /// Write a shortlist: for each source word the target words it is linked with
    ///
    /// The text form that Marian reads, `target source probability` a line. The text must
    /// be in the pieces of the model's vocabularies.
    ///
    /// Example: miriam nmt shortlist --source s.spm --target t.spm --alignment links -o lex.s2t
    Shortlist(ShortlistArguments),
}

#[derive(Args)]
pub struct ShortlistArguments {
    /// The source text, a sentence a line
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Its translation, line by line
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Its links, i-j, line by line
    #[arg(long, value_name = "FILE")]
    alignment: PathBuf,
    /// The shortlist to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Translations of a source word
    #[arg(long, value_name = "N", default_value_t = 100)]
    best: usize,
    /// The least probability of a translation
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    threshold: f64,
}

pub fn run(command: Command, _common: &Common) -> anyhow::Result<()> {
    let Command::Shortlist(arguments) = command;
    let ShortlistArguments { source, target, alignment, output, best, threshold } = arguments;
    for input in [&source, &target, &alignment] {
        Input::check(input, Some(&output))?;
    }
    let options = ShortlistOptions { best, threshold };
    let lines = miriam_align::write_shortlist(&source, &target, &alignment, &output, options)?;
    tracing::info!("{lines} translations");
    Ok(())
}
