//! `miriam lm next`: the most probable next words.

use std::path::PathBuf;

use clap::Args;
use miriam_glm::device::DeviceChoice;
use miriam_lmcpu::OpenOptions;
use miriam_lmcpu::next_word::{self, NextWordSelection};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Output};

use super::open_lm::open_model;
use crate::arpa_arguments::ArpaArguments;
use crate::common::{CommonOptions, check_stdin_use, open_text, parse_load_mode};

#[derive(Args)]
pub struct Arguments {
    /// A model file, a KenLM binary file, or ARPA text (plain, .gz, .zst, .bz2 or .xz)
    model: PathBuf,
    /// The number of most probable words to print
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "words")]
    top: usize,
    /// Print the words of this file, in its order, instead of the most probable
    #[arg(long, value_name = "FILE")]
    words: Option<PathBuf>,
    /// Where to compute: cpu, cuda or cuda:N (a glm file on a GPU), or auto for a GPU if
    /// there is one
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// How a model file is loaded: lazy (mapped, pages read on access), populate (mapped
    /// and read now) or huge (read into huge pages: private memory, faster queries)
    #[arg(long, value_name = "MODE", default_value = "populate", value_parser = parse_load_mode)]
    load: LoadMethod,
    #[command(flatten)]
    arpa_text: ArpaArguments,
    /// Do not put <s> before each line
    #[arg(short, long)]
    no_markers: bool,
    /// The contexts, one per line: plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let inputs = [&arguments.input, &arguments.model].into_iter().chain(&arguments.words);
    check_stdin_use(inputs.clone());
    for path in inputs {
        Input::check_access(path, Some(&arguments.output))?;
    }
    let options = OpenOptions { load: arguments.load, arpa: arguments.arpa_text.options() };
    let model = open_model(&arguments.model, options, arguments.device, common)?;
    let wanted = match &arguments.words {
        Some(words) => {
            NextWordSelection::Words(next_word::read_words(&*model, Input::open(words)?)?)
        }
        None => {
            next_word::check_words(&*model, &arguments.model.display().to_string())?;
            NextWordSelection::Top(arguments.top)
        }
    };
    let (markers, threads) = (!arguments.no_markers, common.threads.count());
    let options =
        next_word::NextWordOptions { candidates: wanted, sentence_markers: markers, threads };
    let input = open_text(&arguments.input)?;
    let mut output = Output::create(&arguments.output)?;
    next_word::print_next_words(&*model, input, &mut output, &options, &common.progress())?;
    Ok(output.finish()?)
}
