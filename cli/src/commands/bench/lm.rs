//! `miriam bench lm`: queries per second of a language model.

use std::path::PathBuf;

use clap::Args;
use miriam_bench::lm::{LmOptions, QueryMethod};
use miriam_storage::LoadMethod;

use crate::common::{CommonOptions, parse_load_mode};
use crate::console::standard_output;
use crate::option_values::choices;

#[derive(Args)]
pub struct Arguments {
    /// A model file of Miriam or KenLM, or an ARPA file (plain, .gz, .zst, .bz2 or .xz)
    model: PathBuf,
    /// The text: plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// A method of scoring, repeatable [default: all of them]
    #[arg(long, value_name = "WAY", value_parser = choices(query_methods()))]
    way: Vec<QueryMethod>,
    /// Passes over the text
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
    /// How a model file is loaded: lazy, populate or huge
    #[arg(long, value_name = "MODE", default_value = "huge", value_parser = parse_load_mode)]
    load: LoadMethod,
    /// Also write the table here, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

fn query_methods() -> [(&'static str, &'static str, QueryMethod); 4] {
    QueryMethod::ALL.map(|method| {
        let help = match method {
            QueryMethod::Single => "One at a time, with static dispatch (our probing files only)",
            QueryMethod::Dyn => "One at a time, with dynamic dispatch",
            QueryMethod::Batch => {
                "In batches of 64 words, each with its own state, as decoders query"
            }
            QueryMethod::Sentences => "Whole sentences side by side",
        };
        (method.name(), help, method)
    })
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { model, input, way, passes, load, csv } = arguments;
    let threads = common.threads.count();
    let options = LmOptions { model, input, methods: way, passes, load, threads, csv };
    let progress = common.progress();
    Ok(common
        .build_thread_pool()?
        .install(|| miriam_bench::lm::run(&options, &mut standard_output(), &progress))?)
}
