//! The binary: parses arguments, calls one function per subcommand, and draws progress. It contains
//! no algorithms.

#![forbid(unsafe_code)]
#![allow(
    rustdoc::invalid_html_tags,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "comments of arguments are the help texts, in which `<s>` is a word and not a tag"
)]

mod arpa_arguments;
mod commands;
mod common;
mod console;
mod memory_size;
mod model_kind;
mod option_values;
mod panics;
mod progress;
mod signals;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use miriam_nmt::engine::Cpu;

use crate::common::CommonOptions;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const START_HERE: &str = "\
Start here:
  miriam demo                                          train and translate, in seconds
  miriam train --source a.de --target a.en \\
      --dev-source dev.de --dev-target dev.en -o DIR   a phrase-based system from text
  miriam nmt train (the same options)                  a neural one
  miriam nmt translate -m MODEL -i news.de             a model of Marian, CTranslate2, Hugging Face,
                                                       OPUS-MT, Argos Translate or Firefox
  miriam translate -f moses.ini -i news.de             a system of Moses
  miriam serve --model NAME=MODEL,from=de,to=en        a web page and a server for any model
  miriam lm query lm.arpa -i news.en                   a language model of KenLM or in ARPA text
miriam COMMAND --help explains a command.";

/// Machine translation: phrase-based training and decoding, n-gram language models,
/// neural training and decoding.
#[derive(Parser)]
#[command(name = "miriam", version = env!("MIRIAM_VERSION"), arg_required_else_help = true, max_term_width = 100,
          after_help = START_HERE)]
struct Arguments {
    #[command(flatten)]
    common: CommonOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Arguments),
    Train(commands::train::Arguments),
    /// Translate text with a phrase-based system (Moses2's options; see translate -help)
    Translate {
        /// -f moses.ini and Moses' options, with one dash or two
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<std::ffi::OsString>,
    },
    #[command(infer_long_args = true)]
    Evaluate(commands::evaluate::Arguments),
    Tune(commands::tune::Arguments),
    Mbr(Box<commands::mbr::Arguments>),
    Rerank(commands::rerank::Arguments),
    Align(commands::align::Arguments),
    Extract(commands::extract::Arguments),
    /// Build, query and inspect binary phrase tables
    #[command(
        subcommand,
        after_help = "Examples:\n  miriam pt build --phrase-table phrase-table.gz -o table.miriam\n  \
                                        echo das | miriam pt query table.miriam"
    )]
    Pt(commands::pt::Command),
    /// Build and query n-gram language models
    #[command(
        subcommand,
        after_help = "Examples:\n  miriam lm build lm.arpa -o lm.miriam\n  \
                                        miriam lm perplexity lm.miriam -i text.en"
    )]
    Lm(commands::lm::Command),
    /// Neural translation: training, translating, scoring, files of models
    #[command(
        subcommand,
        after_help = "Examples:\n  miriam nmt translate -m opus-mt-de-en -i news.de -o news.en\n  \
                                        miriam nmt info opus-mt-de-en"
    )]
    Nmt(commands::nmt::Command),
    /// Measure speed
    #[command(
        subcommand,
        after_help = "Examples:\n  miriam bench lm lm.miriam -i text.en --threads 1\n  \
                                        miriam bench scaling --config moses.ini -i news.de -o scaling"
    )]
    Bench(commands::bench::Command),
    #[cfg(feature = "serve")]
    Serve(Box<commands::serve::Arguments>),
    Verify(commands::verify::Arguments),
    InstallAliases(commands::programs::InstallArguments),
    Completions(commands::documentation::CompletionsArguments),
    Man(commands::documentation::ManArguments),
    /// Print the licences of this program and of the libraries in it
    Licenses,
    #[cfg(feature = "serve")]
    Health(commands::health::Arguments),
    Split(commands::textproc::split::Arguments),
    Tokenize(commands::textproc::tokenize::Arguments),
    Detokenize(commands::textproc::detokenize::Arguments),
    Truecase(commands::textproc::truecase::Arguments),
    Normalize(commands::textproc::normalize::Arguments),
    Prepare(commands::textproc::prepare::Arguments),
}

fn main() -> ExitCode {
    // Without the handler, a file that becomes too long kills the program.
    let _ = signals::catch_file_size_limit();
    panics::install_hook();
    if let Err(error) = Cpu::check_limit() {
        common::exit_with_usage_error(error);
    }
    let words = commands::programs::started_as(std::env::args_os().collect());
    let words = commands::programs::rename(words);
    if let Some(code) = commands::programs::run_by_name(&words) {
        return code;
    }
    // Moses' options may have one dash or two, which clap does not support.
    match words.get(1..).unwrap_or_default() {
        [command, options @ ..] if command == "translate" => {
            return translate(options.iter().cloned(), CommonOptions::default());
        }
        [help, command] if help == "help" && command == "translate" => {
            return translate(std::iter::once("--help".into()), CommonOptions::default());
        }
        _ => {}
    }
    let words = commands::textproc::accept_single_dash_options(words.into_iter());
    let words = match commands::sacrebleu_options::translate(words.collect()) {
        Ok(words) => words,
        Err(reason) => common::exit_with_usage_error(reason),
    };
    let words = match commands::nmt::add_configured_options(words, Arguments::command) {
        Ok(words) => words,
        Err(error) => return common::exit_code(Err(error)),
    };
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => common::clarify(error).exit(),
        Err(help) => {
            console::print_message(&help);
            return ExitCode::SUCCESS;
        }
    };
    let common = arguments.common;
    if let Command::Translate { options } = arguments.command {
        return translate(options.into_iter(), common);
    }
    common.apply();
    let outcome = match arguments.command {
        Command::Demo(arguments) => commands::demo::run(arguments, &common),
        Command::Train(arguments) => commands::train::run(arguments, &common),
        Command::Translate { .. } => unreachable!("handled above"),
        Command::Extract(arguments) => commands::extract::run(arguments, &common),
        Command::Pt(command) => commands::pt::run(command, &common),
        Command::Lm(command) => commands::lm::run(command, &common),
        Command::Align(arguments) => commands::align::run(arguments, &common),
        Command::Evaluate(arguments) => commands::evaluate::run(arguments, &common),
        Command::Tune(arguments) => commands::tune::run(arguments, &common),
        Command::Mbr(arguments) => commands::mbr::run(*arguments, &common),
        Command::Rerank(arguments) => commands::rerank::run(arguments, &common),
        Command::Nmt(command) => commands::nmt::run(command, &common),
        Command::Bench(command) => commands::bench::run(command, &common),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => commands::serve::run(*arguments, &common),
        Command::Verify(arguments) => commands::verify::run(arguments, &common),
        Command::InstallAliases(arguments) => commands::programs::install(arguments),
        Command::Completions(arguments) => {
            commands::documentation::print_completions(arguments, Arguments::command())
        }
        Command::Man(arguments) => {
            commands::documentation::write_manual(arguments, Arguments::command())
        }
        Command::Licenses => commands::documentation::print_notices(),
        #[cfg(feature = "serve")]
        Command::Health(arguments) => commands::health::run(arguments),
        Command::Split(arguments) => commands::textproc::split::run(arguments, &common),
        Command::Tokenize(arguments) => commands::textproc::tokenize::run(arguments, &common),
        Command::Detokenize(arguments) => commands::textproc::detokenize::run(arguments, &common),
        Command::Truecase(arguments) => commands::textproc::truecase::run(arguments, &common),
        Command::Normalize(arguments) => commands::textproc::normalize::run(arguments, &common),
        Command::Prepare(arguments) => commands::textproc::prepare::run(arguments, &common),
    };
    common::exit_code(outcome)
}

fn translate(words: impl Iterator<Item = std::ffi::OsString>, common: CommonOptions) -> ExitCode {
    match commands::translate::TranslateArguments::new(words, common) {
        Ok(tokens) => {
            tokens.common.apply();
            common::exit_code(commands::translate::run(tokens))
        }
        Err(error) => common::exit_code(Err(error.into())),
    }
}
