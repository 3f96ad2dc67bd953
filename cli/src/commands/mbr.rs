//! `miriam mbr`: minimum Bayes risk over n-best lists.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use miriam_combine::ListInput;
use miriam_combine::mbr::{MbrOptions, MbrOutput, MbrSummary, ReferenceWeights, minimize_risk};
use miriam_metrics::mbr::{Estimate, Utility};
use miriam_textio::Output;

use super::metric_arguments::{BleuArguments, ChrfArguments, MetricOptions, TerArguments};
use crate::common::{CommonOptions, check_files, exit_with_usage_error};
use crate::option_values::parse_number;

/// Choose from n-best lists the translations that are most like all others (minimum Bayes risk).
///
/// Every translation of a sentence is compared with all translations of this sentence in the lists,
/// weighted by their probabilities. The one with the best score on average is written.
///
/// Examples:
///   miriam mbr --n-best phrases.list neural.list -o output.en
///   miriam mbr --n-best samples.list.zst --weights uniform --utility bleu -o output.en
///   miriam mbr --n-best big.list --estimate coarse-to-fine --keep 20 --show-loss -o output.en
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// n-best lists of the same sentences, of any program (number ||| text ||| features ||| total):
    /// plain, .gz, .zst, .bz2 or .xz; - for standard input
    #[arg(short = 'i', long, visible_alias = "input", value_name = "LIST", num_args = 1..,
          default_value = "-")]
    n_best: Vec<PathBuf>,
    /// The file for translations, one per line; compressed if it ends in .gz, .zst, .bz2 or .xz
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The metric by which translations are compared; the options of each are below
    #[arg(short, long, value_enum, default_value = "chrf")]
    utility: UtilityName,
    /// The weights of translations as references
    #[arg(long, value_enum, default_value = "posterior")]
    weights: WeightsName,
    /// The factor of totals before they become probabilities: a factor below 1 makes the
    /// probabilities more alike [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = scale)]
    scale: Option<f64>,
    /// The shares of the lists, one for each, separated by commas [default: equal]
    #[arg(long, value_name = "X,X", value_delimiter = ',')]
    list_weights: Vec<f64>,
    /// The computation of expected scores: exact, or a cheaper estimate
    #[arg(long, value_enum, default_value = "exact")]
    estimate: EstimateName,
    /// The number of translations that coarse-to-fine compares with all others [default: 20]
    #[arg(long, value_name = "N")]
    keep: Option<NonZeroUsize>,
    /// Also compute exact scores, and say how much is lost by the estimate
    #[arg(long)]
    show_loss: bool,
    /// Write n-best lists, best first, with the expected score as feature MBR and as total
    #[arg(long)]
    write_lists: bool,
    #[command(flatten)]
    bleu: MetricOptions<BleuArguments>,
    #[command(flatten)]
    chrf: MetricOptions<ChrfArguments>,
    #[command(flatten)]
    ter: MetricOptions<TerArguments>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UtilityName {
    /// chrF; chrF++ with --chrf-word-order 2
    Chrf,
    /// Sentence BLEU
    Bleu,
    /// TER, the lowest; much slower than the others
    Ter,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeightsName {
    /// The probability in its list: the softmax of the totals
    Posterior,
    /// Equal in a list, as for samples
    Uniform,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EstimateName {
    /// Each translation against each other
    Exact,
    /// Each translation against one reference with the average counts of n-grams
    Aggregate,
    /// The best --keep translations by aggregate, each against all others
    CoarseToFine,
}

/// Parses a factor of totals.
fn scale(text: &str) -> Result<f64, String> {
    parse_number(text, |scale: f64| scale >= 0.0 && scale.is_finite(), "a number from 0 up")
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let a = &arguments;
    if a.keep.is_some() && a.estimate != EstimateName::CoarseToFine {
        exit_with_usage_error("--keep needs --estimate coarse-to-fine");
    }
    if a.scale.is_some() && a.weights != WeightsName::Posterior {
        exit_with_usage_error("--scale needs --weights posterior");
    }
    for (utility, name, options) in [
        (UtilityName::Chrf, "chrf", &a.chrf.names),
        (UtilityName::Bleu, "bleu", &a.bleu.names),
        (UtilityName::Ter, "ter", &a.ter.names),
    ] {
        if utility != a.utility
            && let Some(option) = options.first()
        {
            exit_with_usage_error(format!("{option} needs --utility {name}"));
        }
    }
    check_files(&a.n_best, &[("--output", Some(&a.output))])?;
    let options = MbrOptions {
        utility: match a.utility {
            UtilityName::Chrf => Utility::Chrf(a.chrf.arguments.build()?),
            UtilityName::Bleu => Utility::Bleu(a.bleu.arguments.build(None, true)?),
            UtilityName::Ter => Utility::Ter(a.ter.arguments.build()),
        },
        estimate: match a.estimate {
            EstimateName::Exact => Estimate::Exact,
            EstimateName::Aggregate => Estimate::Aggregate,
            EstimateName::CoarseToFine => {
                Estimate::CoarseToFine(a.keep.map_or(20, NonZeroUsize::get))
            }
        },
        weights: match a.weights {
            WeightsName::Posterior => ReferenceWeights::Posterior { scale: a.scale.unwrap_or(1.0) },
            WeightsName::Uniform => ReferenceWeights::Uniform,
        },
        list_weights: a.list_weights.clone(),
        measures_loss: a.show_loss,
        output: if a.write_lists { MbrOutput::Lists } else { MbrOutput::Best },
        threads: common.threads.count(),
    };
    let output = Output::create(&a.output)?;
    let lists = a.n_best.iter().cloned().map(ListInput::File).collect();
    let summary = minimize_risk(lists, &options, output, &common.progress())?;
    tracing::info!("{}", describe(&summary, a.show_loss));
    Ok(())
}

fn describe(summary: &MbrSummary, shows_loss: bool) -> String {
    let MbrSummary { sentences, entries, candidates, not_first, worse, loss } = summary;
    let mut text = format!(
        "{sentences} sentences, {entries} entries, {candidates} different translations; \
         {not_first} times, an entry other than the first was chosen"
    );
    if shows_loss {
        text += &format!(
            "; {worse} choices worse than the exact ones, by {:.4} points on average over all \
             sentences",
            loss / (*sentences).max(1) as f64
        );
    }
    text
}
