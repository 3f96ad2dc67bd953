//! The binary: parses arguments, calls one function a subcommand, draws
//! progress. It holds no algorithm.

#![forbid(unsafe_code)]

mod commands;
mod common;
mod progress;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::common::Common;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Machine translation: phrase tables, n-gram language models and a decoder.
#[derive(Parser)]
#[command(name = "miriam", version, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build, query and inspect binary phrase tables
    #[command(subcommand)]
    Pt(commands::pt::Command),
    /// Build and query n-gram language models
    #[command(subcommand)]
    Lm(commands::lm::Command),
    /// Check a model file whole: checksums, padding and every id in it
    Verify(commands::verify::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let common = arguments.common;
    common.start_log();
    let outcome = match arguments.command {
        Command::Pt(command) => commands::pt::run(command, &common),
        Command::Lm(command) => commands::lm::run(command, &common),
        Command::Verify(arguments) => commands::verify::run(arguments, &common),
    };
    common::exit_code(outcome)
}
