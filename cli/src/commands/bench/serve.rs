//! `miriam bench serve`: latency and throughput of a server.

use std::path::PathBuf;

use clap::Args;
use miriam_bench::serving::{Arrivals, Protocol, ServingOptions};

use crate::console::standard_output;
use crate::option_values::{choices, parse_number};

/// Latency and throughput of a translation server
///
/// With --rate, requests arrive at random times, RATE per second on average, whether previous
/// ones were answered or not (an open loop), and latency is measured from the intended time of
/// sending. With --clients, each client sends its next request after each response (a closed
/// loop). Prints percentiles of latency and counts of statuses; writes requests.csv (a line per
/// request), seconds.csv (a line per second, with memory and CPU time of --pid) and latency.svg.
///
/// Example: miriam bench serve http://127.0.0.1:8080 --rate 50 --seconds 30 -i news.de -o load
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The server, as http://HOST:PORT
    url: String,
    /// The protocol: v1, libre, xmlrpc, marian, or perplexity of a language model
    #[arg(long, value_name = "NAME", default_value = "v1",
          value_parser = choices(Protocol::ALL.map(|(api, name)| (name, "", api))))]
    api: Protocol,
    /// Requests per second, on average
    #[arg(long, value_name = "R", value_parser = parse_positive, conflicts_with = "clients", required_unless_present = "clients")]
    rate: Option<f64>,
    /// The number of clients, each with one request at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    clients: Option<u16>,
    /// The duration
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_positive)]
    seconds: f64,
    /// End after this number of requests
    #[arg(long, value_name = "N")]
    requests: Option<usize>,
    /// The text, one line per request: plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// The folder to write to; it is created if it is missing
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// The name of the model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The API key, if the server requires one [default: the variable MIRIAM_KEY]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The language of the text
    #[arg(long, value_name = "LANGUAGE")]
    from: Option<String>,
    /// The language of translations
    #[arg(long, value_name = "LANGUAGE")]
    to: Option<String>,
    /// The process id of the server, to record its memory and CPU time
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// The seed of the arrival times
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// Allow a server on another machine
    #[arg(long)]
    yes_remote: bool,
}

fn parse_positive(text: &str) -> Result<f64, String> {
    parse_number(text, |number| (0.001..=1e6).contains(&number), "a number from 0.001 to 1000000")
}

pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let options = ServingOptions {
        url: arguments.url,
        protocol: arguments.api,
        model: arguments.model,
        key: arguments.key.or_else(|| std::env::var("MIRIAM_KEY").ok()),
        languages: [arguments.from, arguments.to],
        arrivals: arguments.rate.map_or_else(
            || Arrivals::Closed(arguments.clients.map_or(1, usize::from)),
            Arrivals::Open,
        ),
        seconds: arguments.seconds,
        max_requests: arguments.requests,
        input: arguments.input,
        output: arguments.output,
        pid: arguments.pid,
        seed: arguments.seed,
        allow_remote: arguments.yes_remote,
    };
    Ok(miriam_bench::serving::run(&options, &mut standard_output())?)
}
