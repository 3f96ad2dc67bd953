//! `fast_align`: links of one direction, with IBM model 1 or 2.
//!
//! Messages that scripts parse are printed in the same form: `expected target length` and
//! `final tension`, which are arguments of forced alignment.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;
use miriam_align::{
    FastAlignOptions, FastAlignSummary, ForcedAlignOptions, Ibm2Options, fast_align, force_align,
};
use miriam_textio::Input;

use crate::commands::align::warn_of_too_long_pairs;
use crate::common::CommonOptions;
use crate::console::print_error;

/// Aligns the words of parallel text in one direction, as fast_align does
///
/// The input is a file of `source ||| target` lines. Scripts usually give -d -o -v.
#[derive(Parser)]
#[command(name = "fast_align", arg_required_else_help = true, disable_version_flag = true)]
struct Arguments {
    /// The text, one `source ||| target` per line; - for standard input
    #[arg(short, long)]
    input: PathBuf,
    /// Prefer links near the diagonal (IBM model 2; without it model 1)
    #[arg(short = 'd', long = "favor_diagonal")]
    favor_diagonal: bool,
    /// Learn how strongly the diagonal is preferred
    #[arg(short = 'o', long = "optimize_tension")]
    optimize_tension: bool,
    /// Put a Dirichlet prior on translation probabilities
    #[arg(short = 'v', long = "variational_bayes")]
    variational_bayes: bool,
    /// Explain source words by target words
    #[arg(short, long)]
    reverse: bool,
    /// Iterations, the last of which only aligns
    #[arg(short = 'I', long, default_value_t = 5)]
    iterations: usize,
    /// The probability of the null word
    #[arg(short = 'q', long = "p0", default_value_t = 0.08)]
    null_probability: f64,
    /// Use no null word
    #[arg(short = 'N', long = "no_null_word")]
    no_null_word: bool,
    /// The Dirichlet prior's count of each translation
    #[arg(short, long, default_value_t = 0.01)]
    alpha: f64,
    /// The initial tension of training, or the tension of alignment; implies -d
    #[arg(short = 'T', long = "diagonal_tension")]
    tension: Option<f64>,
    /// Print a score after the links of each line
    #[arg(short = 's')]
    scores: bool,
    /// Write the table of ln p(target word | source word)
    #[arg(short = 'p', long = "conditional_probabilities", conflicts_with = "force_align")]
    table: Option<PathBuf>,
    /// Omit entries below this power of a word's best probability
    #[arg(short = 't', long = "beam_threshold", default_value_t = -4.0, allow_negative_numbers = true)]
    beam_threshold: f64,
    /// Align with a table that -p has written, instead of training
    #[arg(short = 'f', long = "force_align")]
    force_align: Option<PathBuf>,
    /// Target words per source word, for the scores of -f; training counts them
    #[arg(short = 'm', long = "mean_srclen_multiplier", default_value_t = 1.0)]
    length_ratio: f64,
    /// Accepted without effect: lines per thread at a time
    #[arg(short = 'b', long = "thread_buffer_size")]
    thread_buffer_size: Option<u64>,
    /// Not supported: fast_align's help names it, but its option is -p
    #[arg(short = 'c', hide = true)]
    conditional: Option<PathBuf>,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    let arguments: Arguments = super::parse(arguments);
    if arguments.conditional.is_some() {
        bail!("-c: the table of probabilities is written with -p FILE");
    }
    // It only affects how threads share lines.
    let _ = arguments.thread_buffer_size;
    let ibm2 = Ibm2Options {
        diagonal: arguments.favor_diagonal || arguments.tension.is_some(),
        tension: arguments.tension.unwrap_or(Ibm2Options::default().tension),
        optimize_tension: arguments.optimize_tension,
        dirichlet: arguments.variational_bayes.then_some(arguments.alpha),
        null_probability: arguments.null_probability,
        null_word: !arguments.no_null_word,
    };
    let (input, output) = (&arguments.input, "-".as_ref());
    Input::check_access(input, arguments.table.as_deref())?;
    if let Some(table) = arguments.force_align {
        let (reverse, length_ratio) = (arguments.reverse, arguments.length_ratio);
        let options = ForcedAlignOptions { ibm2, table, reverse, length_ratio };
        let summary = force_align(input, output, &options)?;
        let (entries, ln_probability) = (summary.entries, summary.ln_probability);
        print_error(format!(
            "Loaded {entries} translation parameters.\nTOTAL LOG PROB {ln_probability}\n"
        ));
        return Ok(());
    }
    let options = FastAlignOptions {
        ibm2,
        reverse: arguments.reverse,
        iterations: arguments.iterations,
        scores: arguments.scores,
        table: arguments.table.map(|path| (path, arguments.beam_threshold)),
        threads: common.threads.count(),
    };
    let summary = fast_align(input, output, &options, &common.progress())?;
    report(&summary, &options);
    Ok(())
}

/// Prints the results of training, and the lines that were not aligned.
fn report(summary: &FastAlignSummary, options: &FastAlignOptions) {
    let mut log = format!("expected target length = source length * {}\n", summary.length_ratio);
    for (index, iteration) in summary.align.ibm2_iterations.iter().enumerate() {
        let found = &iteration[usize::from(options.reverse)];
        let cross_entropy = -found.ln_likelihood / std::f64::consts::LN_2 / found.outputs;
        log += &format!("ITERATION {}\n", index + 1);
        log += &format!("  log_e likelihood: {}\n", found.ln_likelihood);
        log += &format!("     cross entropy: {cross_entropy}\n");
        log += &format!("        perplexity: {}\n", cross_entropy.exp2());
        log += &format!("      posterior p0: {}\n", found.null_outputs / found.outputs);
        if options.ibm2.diagonal && options.ibm2.optimize_tension {
            log += &format!("     final tension: {}\n", found.tension);
        }
    }
    print_error(&log);
    let align = &summary.align;
    warn_of_too_long_pairs(align);
    let empty = align.empty_pairs;
    if empty > 0 {
        tracing::warn!("{empty} lines have no words on a side; a line is `source ||| target`");
    }
}
