//! Options of metrics, for all commands that compute them.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use miriam_metrics::bleu::Smoothing;
use miriam_metrics::{Bleu, Chrf, MISSING_TOKENIZERS, PIECE_TOKENIZERS, Ter, Tokenizer};

use super::bleu_tokenizer;

#[derive(Args)]
#[command(next_help_heading = "BLEU")]
pub struct BleuArguments {
    /// The tokeniser: 13a, none, intl, char, zh; or spm, flores101, flores200, spBLEU-1K, which
    /// need a model [default: 13a]
    #[arg(long, value_name = "NAME", value_parser = tokenizer_parser(), hide_possible_values = true)]
    tokenize: Option<String>,
    /// The SentencePiece model of the tokeniser [default: the one that sacreBLEU has downloaded]
    #[arg(long, value_name = "FILE")]
    tokenize_model: Option<PathBuf>,
    /// Ignore case
    #[arg(long)]
    lowercase: bool,
    /// The smoothing of orders without matches
    #[arg(short, long, value_name = "METHOD", default_value = "exp",
          value_parser = ["exp", "floor", "add-k", "none"])]
    smooth_method: String,
    /// The value of floor [0.1] or add-k [1]
    #[arg(long, value_name = "X")]
    smooth_value: Option<f64>,
}

#[derive(Args)]
#[command(next_help_heading = "chrF")]
pub struct ChrfArguments {
    /// Characters of the longest n-grams
    #[arg(long, value_name = "N", default_value_t = 6)]
    chrf_char_order: usize,
    /// Words of the longest n-grams; 2 for chrF++
    #[arg(long, value_name = "N", default_value_t = 0)]
    chrf_word_order: usize,
    /// The weight of recall relative to precision
    #[arg(long, value_name = "N", default_value_t = 2)]
    chrf_beta: u32,
    /// Include spaces in n-grams
    #[arg(long)]
    chrf_whitespace: bool,
    /// Ignore case
    #[arg(long)]
    chrf_lowercase: bool,
    /// Average over all lengths of n-grams
    #[arg(long)]
    chrf_eps_smoothing: bool,
}

#[derive(Args)]
#[command(next_help_heading = "TER")]
pub struct TerArguments {
    /// Distinguish case
    #[arg(long)]
    ter_case_sensitive: bool,
    /// Treat Asian characters as tokens
    #[arg(long)]
    ter_asian_support: bool,
    /// Omit punctuation
    #[arg(long)]
    ter_no_punct: bool,
    /// Separate punctuation from words
    #[arg(long)]
    ter_normalized: bool,
}

/// Options of a metric, with the names of those that the command line sets.
pub struct MetricOptions<A> {
    pub arguments: A,
    /// The names of the options on the command line, such as `--chrf-beta`.
    pub names: Vec<String>,
}

impl<A: Args> Args for MetricOptions<A> {
    fn augment_args(command: Command) -> Command {
        A::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}

impl<A: Args> FromArgMatches for MetricOptions<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let all = A::augment_args(Command::new("options"));
        let arguments = all.get_arguments().filter(|argument| {
            matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
        });
        let names = arguments.filter_map(|argument| Some(format!("--{}", argument.get_long()?)));
        Ok(MetricOptions { names: names.collect(), arguments: A::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn tokenizer_parser() -> PossibleValuesParser {
    let pieces = PIECE_TOKENIZERS.map(|tokenizer| tokenizer.name);
    PossibleValuesParser::new([&Tokenizer::NAMES[..], &pieces, &MISSING_TOKENIZERS].concat())
}

impl BleuArguments {
    /// Returns BLEU with these options; without `--tokenize`, `language_pair` decides the
    /// tokeniser.
    ///
    /// # Errors
    /// If the tokeniser is not available.
    pub fn build(
        &self,
        language_pair: Option<&str>,
        effective_order: bool,
    ) -> anyhow::Result<Bleu> {
        Ok(Bleu {
            tokenizer: bleu_tokenizer::open(
                self.tokenize.as_deref(),
                self.tokenize_model.as_deref(),
                language_pair,
            )?,
            lowercase: self.lowercase,
            smoothing: Smoothing::from_name(&self.smooth_method, self.smooth_value)?,
            effective_order,
        })
    }
}

impl ChrfArguments {
    /// Returns chrF with these options.
    ///
    /// # Errors
    /// If the orders are out of range.
    pub fn build(&self) -> anyhow::Result<Chrf> {
        Ok(Chrf::new(self.chrf_char_order, self.chrf_word_order)?
            .beta(self.chrf_beta)
            .whitespace(self.chrf_whitespace)
            .lowercase(self.chrf_lowercase)
            .epsilon_smoothing(self.chrf_eps_smoothing))
    }
}

impl TerArguments {
    /// Returns TER with these options.
    pub fn build(&self) -> Ter {
        Ter {
            normalized: self.ter_normalized,
            no_punctuation: self.ter_no_punct,
            asian_support: self.ter_asian_support,
            case_sensitive: self.ter_case_sensitive,
        }
    }
}
