//! `miriam lm`: n-gram language models.

use clap::Subcommand;

use crate::common::Common;

#[derive(Subcommand)]
pub enum Command {}

pub fn run(command: Command, _common: &Common) -> anyhow::Result<()> {
    match command {}
}
