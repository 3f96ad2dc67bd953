//! `miriam nmt shortlist`: the target words that each source word is linked with, in the forms that
//! Marian reads.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miriam_nmt::Vocabulary;
use miriam_nmt::shortlist::{Shortlist, ShortlistOptions};
use miriam_textio::{Input, Lines, Output, SharedBuffer};

use super::models::vocabulary_pair;
use crate::common::{check_stdin_use, exit_with_usage_error};

/// The forms of a shortlist.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One `target source probability` per line
    Text,
    /// Marian's binary form, with the ids of vocabularies, as bergamot and Firefox open it
    MarianBin,
}

#[derive(Args)]
pub struct Arguments {
    /// The source text, one sentence per line
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    source: Option<PathBuf>,
    /// Its translation, line by line
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    target: Option<PathBuf>,
    /// Its links, i-j, line by line
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    alignment: Option<PathBuf>,
    /// A shortlist in text form to convert with --to marian-bin, instead of these texts
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "target", "alignment"])]
    list: Option<PathBuf>,
    /// The shortlist to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", overrides_with = "output")]
    output: PathBuf,
    /// The form to write
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    to: Format,
    /// The model's vocabularies of source and target, or a joint one, for --to marian-bin
    #[arg(long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    vocabs: Vec<PathBuf>,
    /// The number of frequent target words that every sentence may use, for --to marian-bin [100]
    #[arg(long, value_name = "N")]
    first: Option<usize>,
    /// The maximum number of translations per source word
    #[arg(long, value_name = "N", default_value_t = 100)]
    best: usize,
    /// The minimum probability of a translation
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    threshold: f64,
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let texts = [&arguments.source, &arguments.target, &arguments.alignment, &arguments.list];
    let inputs = texts.into_iter().flatten().chain(&arguments.vocabs);
    check_stdin_use(inputs.clone());
    for input in inputs {
        Input::check_access(input, Some(&arguments.output))?;
    }
    match (arguments.to, vocabulary_pair(&arguments.vocabs)) {
        (Format::Text, _) if arguments.list.is_some() => {
            exit_with_usage_error("--list has the text form already; add --to marian-bin")
        }
        (Format::Text, None) if arguments.first.is_none() => {
            let output = Output::create_atomic(&arguments.output)?;
            let lines = arguments.write_text(output)?;
            tracing::info!("{lines} translations");
            Ok(())
        }
        (Format::Text, _) => exit_with_usage_error("--vocabs and --first need --to marian-bin"),
        (Format::MarianBin, None) => exit_with_usage_error(
            "--to marian-bin needs --vocabs: this form has their ids, not words",
        ),
        (Format::MarianBin, Some(vocabularies)) => arguments.write_binary(vocabularies),
    }
}

impl Arguments {
    /// Writes the text form of the linked words, and returns the number of lines.
    fn write_text(&self, output: Output) -> anyhow::Result<u64> {
        let (Some(source), Some(target), Some(alignment)) =
            (&self.source, &self.target, &self.alignment)
        else {
            unreachable!("the parser asks for them");
        };
        let options = miriam_align::ShortlistOptions {
            max_translations: self.best,
            threshold: self.threshold,
        };
        Ok(miriam_align::write_shortlist(source, target, alignment, output, options)?)
    }

    fn write_binary(&self, vocabularies: [&Path; 2]) -> anyhow::Result<()> {
        let mut options = ShortlistOptions {
            first: self.first.unwrap_or(ShortlistOptions::default().first),
            best: self.best,
            threshold: self.threshold as f32,
        };
        let input = match &self.list {
            Some(list) => Input::open(list)?,
            None => {
                // The text form is already pruned by the threshold when it is read.
                options.threshold = 0.0;
                let (buffer, name) = (SharedBuffer::default(), "the shortlist");
                self.write_text(Output::from_writer(buffer.clone(), name)?)?;
                Input::from_reader(Cursor::new(buffer.take()), name, None)?
            }
        };
        let [source, target] = [0, 1].map(|side| Vocabulary::open(vocabularies[side]));
        let (source, target) = (source?, target?);
        let list = Shortlist::from_lines_for_binary(Lines::new(input), options, &source, &target)?;
        Output::write_file(&self.output, &list.to_binary(options))?;
        tracing::info!("{} translations", list.len());
        Ok(())
    }
}
