//! Options every subcommand has, and how the program ends.

use std::io;
use std::process::ExitCode;

use clap::Args;

/// Options every subcommand takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Worker threads; `all` for every core
    #[arg(long, global = true, value_name = "N", default_value = "all", value_parser = parse_threads)]
    pub threads: Threads,
    /// Draw no progress bar
    #[arg(long, global = true)]
    pub quiet: bool,
    /// The least serious messages shown on standard error
    #[arg(long, global = true, value_name = "LEVEL", default_value = "info",
          value_parser = ["error", "warn", "info", "debug", "trace", "off"])]
    pub log_level: String,
}

/// A number of threads, resolved when it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Every core.
    All,
    /// This many.
    Count(usize),
}

impl Threads {
    /// The number itself.
    pub fn count(self) -> usize {
        match self {
            Threads::All => miriam_text::available_threads(),
            Threads::Count(n) => n,
        }
    }
}

pub fn parse_threads(text: &str) -> Result<Threads, String> {
    match text {
        "all" => Ok(Threads::All),
        _ => match text.parse() {
            Ok(n) if (1..=4096).contains(&n) => Ok(Threads::Count(n)),
            _ => Err("give a number from 1 to 4096, or all".into()),
        },
    }
}

impl Common {
    /// Sends log messages to standard error.
    pub fn start_log(&self) {
        let level = match self.log_level.as_str() {
            "error" => tracing::level_filters::LevelFilter::ERROR,
            "warn" => tracing::level_filters::LevelFilter::WARN,
            "debug" => tracing::level_filters::LevelFilter::DEBUG,
            "trace" => tracing::level_filters::LevelFilter::TRACE,
            "off" => tracing::level_filters::LevelFilter::OFF,
            _ => tracing::level_filters::LevelFilter::INFO,
        };
        tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(io::stderr)
            .without_time()
            .with_target(false)
            .init();
    }

    /// A pool of as many threads as asked for; run parallel building inside it.
    pub fn pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        Ok(rayon::ThreadPoolBuilder::new().num_threads(self.threads.count()).build()?)
    }

    /// Where long work reports to.
    pub fn progress(&self) -> crate::progress::Bar {
        crate::progress::Bar::new(self.quiet)
    }
}

/// Bad input or environment: the message on standard error, exit status 1. A
/// reader that closed our output early is no error.
pub fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Libraries print their cause in their own message, so only the
            // outermost one is shown.
            eprintln!("miriam: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
