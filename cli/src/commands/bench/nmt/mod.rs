//! `miriam bench nmt`: what neural translation costs, on models with random weights.

mod batching;
mod devlin;

use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Batching(batching::Arguments),
    Devlin(devlin::Arguments),
}

pub fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Batching(arguments) => batching::run(&arguments),
        Command::Devlin(arguments) => devlin::run(&arguments),
    }
}
