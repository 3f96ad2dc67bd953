//! `extract_lex`: lexical translation probabilities of both directions, from which Marian's scripts
//! make shortlists.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use miriam_align::write_lexical_counts;

use crate::common::{CommonOptions, check_files};

/// Writes lexical translation probabilities of aligned text, as Marian's extract_lex does
#[derive(Parser)]
#[command(name = "extract_lex", arg_required_else_help = true, disable_version_flag = true)]
struct Arguments {
    /// The target text, tokenised
    target: PathBuf,
    /// The source text, line by line
    source: PathBuf,
    /// The links i-j of each line, source and target position
    alignment: PathBuf,
    /// The file of `target source p(target|source)` lines to write
    source_to_target: PathBuf,
    /// The file of `source target p(source|target)` lines to write
    target_to_source: PathBuf,
}

pub fn run(arguments: Vec<OsString>, _: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { target, source, alignment, source_to_target, target_to_source } =
        super::parse(arguments);
    let outputs =
        [("the first table", Some(&source_to_target)), ("the second one", Some(&target_to_source))];
    check_files([&target, &source, &alignment], &outputs)?;
    let summary =
        write_lexical_counts(&target, &source, &alignment, &source_to_target, &target_to_source)?;
    if let Some(line) = summary.first_skipped_line {
        tracing::warn!(
            "{} links are outside of their sentences and were dropped, the first in line {line}; \
             the order of files is target, source, alignment",
            summary.skipped_links
        );
    }
    Ok(())
}
