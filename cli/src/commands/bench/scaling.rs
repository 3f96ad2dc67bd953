//! `miriam bench scaling`: the speed-up with threads.

use clap::Args;

use super::systems::{MODEL_KINDS, ModelWorkload, StudyArguments};
use crate::common::{CommonOptions, Threads, exit_with_usage_error};
use crate::console::standard_output;
use crate::option_values::choices;

/// The speed-up with threads, of one or several systems: cores first, then hyperthreads
///
/// Systems are phrase-based, neural, language models, or other programs. Each
/// processes the text repeatedly on each number of threads. Words per second,
/// speed-up, user and system time, context switches and peak memory are written to
/// scaling.csv (the median run of each count), runs.csv (every run) and scaling.svg
/// (a curve for each system), and a verdict to standard output. Loading the models
/// and one pass over the text before the clock starts are not counted.
///
/// Each measurement is saved at once, and the same command resumes a study that was
/// stopped.
///
/// Examples:
///   miriam bench scaling --config moses.ini -i news.de -o scaling --
///       -search-algorithm 1 -cube-pruning-pop-limit 400
///   miriam bench scaling --config fast=a.ini --config small=b.ini -i news.de -o scaling
///       --system 'moses2=moses2 -f a.ini --threads {threads}'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    study: StudyArguments,
    /// The kind of models that --config names: phrase-based systems, or neural or language models
    #[arg(long, value_name = "KIND", default_value = "phrase", requires = "config",
          value_parser = choices(MODEL_KINDS))]
    workload: ModelWorkload,
    /// A language model, as for `lm perplexity`, which scores the text. May be repeated
    #[arg(long, value_name = "[NAME=]FILE", group = "systems")]
    lm: Vec<String>,
    /// Numbers of threads, such as 1,2,4; 1 is always among them [default: powers of two up to the
    /// physical cores, then hyperthreads]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    counts: Vec<u16>,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if let Threads::Count(_) = common.threads {
        exit_with_usage_error("--threads: give the numbers of threads by --counts");
    }
    let Arguments { study, workload, lm, counts } = arguments;
    let counts = counts.into_iter().map(usize::from).collect();
    let options = study.scaling_options(counts, workload, &lm, |systems| systems)?;
    Ok(miriam_bench::scaling::run(&options, &mut standard_output())?)
}
