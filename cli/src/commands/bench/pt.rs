//! `miriam bench pt`: lookups per second of a phrase table.

use std::path::PathBuf;

use clap::Args;
use miriam_bench::pt::{LookupMethod, PtOptions};
use miriam_storage::LoadMethod;

use crate::common::{CommonOptions, parse_load_mode};
use crate::console::standard_output;
use crate::option_values::choices;

#[derive(Args)]
pub struct Arguments {
    /// The phrase table: a file of this program, or a ProbingPT directory of Moses
    table: PathBuf,
    /// The text, of which all spans of known words are looked up: plain, .gz, .zst, .bz2 or .xz; -
    /// for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The largest number of words of a span
    #[arg(long, value_name = "N", default_value = "7", value_parser = clap::value_parser!(u16).range(1..))]
    max_length: u16,
    /// The part of a lookup that is measured, repeatable [default: all of them]
    #[arg(long, value_name = "WAY", value_parser = choices(lookup_methods()))]
    way: Vec<LookupMethod>,
    /// Passes over the text
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
    /// How the table is loaded: lazy, populate or huge
    #[arg(long, value_name = "MODE", default_value = "huge", value_parser = parse_load_mode)]
    load: LoadMethod,
    /// Also write the results here, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

fn lookup_methods() -> [(&'static str, &'static str, LookupMethod); 2] {
    LookupMethod::ALL.map(|method| {
        let help = match method {
            LookupMethod::Find => "Finding the spans that are source phrases",
            LookupMethod::Targets => "Finding these spans, and decoding all their target phrases",
        };
        (method.name(), help, method)
    })
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { table, input, max_length, way, passes, load, csv } = arguments;
    let options = PtOptions {
        table,
        input,
        max_length: max_length.into(),
        methods: way,
        passes,
        load,
        threads: common.threads.count(),
        csv,
    };
    Ok(miriam_bench::pt::run(&options, &mut standard_output())?)
}
