//! `filter`: reduces a model to the n-grams that given sentences may need.
//!
//! Arguments are words in any order before the input and the output, not options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, bail};
use miriam_lmcpu::filter::{FilterFormat, FilterMode, FilterOptions};

use crate::commands::filter::filter_files;
use crate::common::CommonOptions;

const USAGE: &str = "\
Reduces a model to the n-grams that given sentences may need, as KenLM's filter does

Usage: filter MODE [context] [phrase] [raw|arpa] [threads:N] [batch_size:N] (vocab|model):INPUT OUTPUT

MODE is copy (all n-grams), single (the vocabulary is one sentence), multiple (a file for each
line of the vocabulary: OUTPUT and its number, from 0) or union (what multiple writes, in one
file).
context: only the words before the last of an n-gram have to pass.
phrase: the vocabulary has phrases separated by tabs; n-grams pass if phrases of a line, in any
order, can contain them.
raw: lines of n-grams; a tab and any text may follow each. arpa: ARPA text (default).
vocab:FILE: the vocabulary is in FILE, and the model comes from standard input.
model:FILE: the model is in FILE, and the vocabulary comes from standard input.
batch_size:N is accepted without effect.
";

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    let arguments = &arguments[1..];
    let [words @ .., input, output] = arguments else {
        crate::console::print_error(USAGE);
        std::process::exit(1);
    };
    let mut options = FilterOptions {
        mode: FilterMode::Copy,
        format: FilterFormat::Arpa,
        context: false,
        phrases: false,
        threads: common.threads.count(),
    };
    let mut mode = None;
    for word in words {
        let word = word.to_string_lossy();
        match &*word {
            "copy" => mode = Some(FilterMode::Copy),
            "single" => mode = Some(FilterMode::Single),
            "multiple" => mode = Some(FilterMode::Multiple),
            "union" => mode = Some(FilterMode::Union),
            "phrase" => options.phrases = true,
            "context" => options.context = true,
            "arpa" => options.format = FilterFormat::Arpa,
            "raw" => options.format = FilterFormat::Raw,
            _ => match word.split_once(':') {
                Some(("threads", number)) => {
                    options.threads = parse_count(&word, number, Some(4096))?
                }
                Some(("batch_size", number)) => {
                    parse_count(&word, number, None)?;
                }
                _ => {
                    bail!("{word}: unknown mode or option; run filter without arguments for a list")
                }
            },
        }
    }
    if mode.is_none() && matches!(input.as_bytes(), b"copy" | b"single" | b"multiple" | b"union") {
        bail!("the last two arguments are the vocabulary or model and the output; one is missing");
    }
    options.mode = mode.context("name a mode: copy, single, multiple or union")?;
    options.validate()?;
    let shown = input.display();
    let stdin = Path::new("-");
    let bytes = input.as_bytes();
    let (is_model, input) = match bytes.splitn(2, |&byte| byte == b':').collect::<Vec<_>>()[..] {
        [b"vocab", file] => (false, file),
        [b"model", file] => (true, file),
        [_, _] => bail!("{shown}: write vocab: or model: before the file"),
        _ => {
            tracing::info!("{shown}: read as the model; write model: or vocab: before it");
            (true, bytes)
        }
    };
    let (input, output) = (Path::new(OsStr::from_bytes(input)), Path::new(output));
    let (model, vocabulary) = if is_model { (input, stdin) } else { (stdin, input) };
    filter_files(model, vocabulary, output, &options, common)
}

/// Parses the number in the argument `word`, from 1 to `limit` if there is a limit.
fn parse_count(word: &str, number: &str, limit: Option<usize>) -> anyhow::Result<usize> {
    let range = 1..=limit.unwrap_or(usize::MAX);
    let count = number.parse::<usize>().ok().filter(|count| range.contains(count));
    let bound = limit.map(|limit| format!(" to {limit}")).unwrap_or_default();
    count.with_context(|| format!("{word}: expected a number from 1{bound}"))
}
