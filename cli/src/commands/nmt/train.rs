//! `miriam nmt train`: a neural model from parallel text, or a language model from one text.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use miriam_textio::{CancellationToken, find_swapped_sides, parse_truth_word, quote_for_shell};
use miriam_trainer::options::{Arity, DumpScope, RawOptions, Status, all_options, preset_names};
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::Outcome;

use crate::common::{CommonOptions, warn_if_binary};
use crate::signals::SignalHandler;

#[derive(Args)]
pub struct Arguments {
    /// The source side of the parallel text: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with = "train-sets")]
    source: Option<PathBuf>,
    /// The target side, or the text of a language model (--type lm-transformer or lm)
    #[arg(long, value_name = "FILE", conflicts_with = "train-sets")]
    target: Option<PathBuf>,
    /// The source side of the text to validate on
    #[arg(long, value_name = "FILE", requires = "dev_target", conflicts_with = "valid-sets")]
    dev_source: Option<PathBuf>,
    /// Its target side, or the text to validate a language model on
    #[arg(long, value_name = "FILE", conflicts_with = "valid-sets")]
    dev_target: Option<PathBuf>,
    /// The folder of the model; a run that ended early resumes in it
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The number of pieces of a new vocabulary [default: 8000, or as many as the text
    /// has]
    #[arg(long, value_name = "N")]
    vocab_size: Option<usize>,
    /// Use this preset for options that are not given [default: the task of a configuration.
    /// Without one: by the size of the corpus, or none (Marian's defaults) if a model, its shape or
    /// a configuration is given]
    #[arg(long, value_name = "NAME", value_parser = task_parser())]
    task: Option<String>,
    /// Train Marian's default type if no type is given, for the program name marian
    #[arg(long, hide = true)]
    marian_type: bool,
    /// Options in YAML, in Marian's form; later files override earlier ones, and the command line
    /// overrides all
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    config: Vec<PathBuf>,
    /// Write the training curves to this folder, as training.csv and training.svg
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Write the configuration instead of training: given options (minimal, or expand), or all
    /// options with a value (full)
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, default_missing_value = "full",
          value_parser = ["full", "minimal", "expand"])]
    dump_config: Option<String>,
    /// Compute the memory of the training instead of training; creates a missing vocabulary
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    options: TrainerOptions,
}

/// Returns a parser for the names of presets, including `none`.
pub fn task_parser() -> clap::builder::PossibleValuesParser {
    let values =
        preset_names().map(|(name, about)| clap::builder::PossibleValue::new(name).help(about));
    let none = clap::builder::PossibleValue::new("none").help("Marian's defaults");
    let values = values.chain([none]);
    clap::builder::PossibleValuesParser::new(values)
}

/// The options of the trainer, from its own table.
struct TrainerOptions(RawOptions);

/// The one-letter names of Marian's options.
const SHORT_NAMES: [(&str, char); 11] = [
    ("train-sets", 't'),
    ("vocabs", 'v'),
    ("model", 'm'),
    ("after", 'a'),
    ("after-epochs", 'e'),
    ("learn-rate", 'l'),
    ("tempdir", 'T'),
    ("beam-size", 'b'),
    ("normalize", 'n'),
    ("devices", 'd'),
    ("workspace", 'w'),
];

/// Options of the table that are separate arguments, or that all commands have.
const OWN_OPTIONS: [&str; 3] = ["task", "log-level", "quiet"];

/// Parses the value of a flag, in the spellings that Marian takes.
fn parse_flag(text: &str) -> Result<String, String> {
    let is_on = parse_truth_word(text).ok_or("expected true or false")?;
    Ok(is_on.to_string())
}

fn augment(mut command: Command) -> Command {
    for spec in all_options().filter(|spec| !OWN_OPTIONS.contains(&spec.name)) {
        let mut arg = Arg::new(spec.name).long(spec.name).help_heading(spec.group);
        if let Some((_, letter)) = SHORT_NAMES.iter().find(|(name, _)| *name == spec.name) {
            arg = arg.short(*letter);
        }
        let default = if spec.default.is_empty() {
            String::new()
        } else {
            format!(" [default: {}]", spec.default)
        };
        arg = arg.help(format!("{}{default}", spec.help)).action(ArgAction::Set);
        arg = match spec.arity {
            Arity::Flag => arg.num_args(0..=1).value_name("BOOL").default_missing_value("true"),
            Arity::One => arg.num_args(1).value_name(spec.value_name),
            Arity::Optional(bare) => {
                arg.num_args(0..=1).value_name(spec.value_name).default_missing_value(bare)
            }
            // Without values, such an option has Marian's defaults.
            Arity::Many if spec.may_be_bare() => {
                arg.num_args(0..=3).value_name(spec.value_name).default_missing_value("true")
            }
            // Marian also collects the values of repeated options.
            Arity::Many => arg.num_args(1..).value_name(spec.value_name).action(ArgAction::Append),
        };
        if spec.arity == Arity::Flag {
            arg = arg.value_parser(parse_flag);
        }
        // The value is a list of options itself.
        if spec.name == "sentencepiece-options" {
            arg = arg.allow_hyphen_values(true);
        }
        arg = arg.hide(spec.status != Status::Honoured).allow_negative_numbers(true);
        command = command.arg(arg);
    }
    command
}

impl Args for TrainerOptions {
    fn augment_args(command: Command) -> Command {
        augment(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        augment(command)
    }
}

impl FromArgMatches for TrainerOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = RawOptions::default();
        for spec in all_options().filter(|spec| !OWN_OPTIONS.contains(&spec.name)) {
            let Ok(Some(values)) = matches.try_get_many::<String>(spec.name) else { continue };
            options
                .set(spec.name, values.cloned().collect())
                .map_err(|e| clap::Error::raw(clap::error::ErrorKind::InvalidValue, e))?;
        }
        Ok(TrainerOptions(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Arguments {
    /// Merges options: the command line overrides configurations, which override the preset.
    fn options(&self) -> anyhow::Result<RawOptions> {
        let mut options = self.options.0.clone();
        let text = |path: &PathBuf| path.display().to_string();
        for (name, pair) in [
            ("train-sets", [&self.source, &self.target]),
            ("valid-sets", [&self.dev_source, &self.dev_target]),
        ] {
            let sides: Vec<String> = pair.into_iter().flatten().map(text).collect();
            if !sides.is_empty() {
                options.set(name, sides)?;
            }
        }
        let options = options.or_else_from_files(&self.config, self.task.as_deref())?;
        Ok(if self.marian_type { options.or_marian_type() } else { options })
    }

    /// Merges options as [`Self::options`] does, and sets the number of workers.
    fn options_with_workers(&self, common: &CommonOptions) -> anyhow::Result<RawOptions> {
        let mut options = self.options()?;
        let is_simulated = !options.get_strings("simulate-async").is_empty();
        if is_simulated && self.options.0.is_given("workers") {
            tracing::warn!(
                "--workers has no effect with --simulate-async, whose file says how many workers \
                 are simulated"
            );
        }
        if !options.has_workers() {
            options.set("workers", vec![common.threads.count().to_string()])?;
        }
        Ok(options)
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if let Some(scope) = &arguments.dump_config {
        // Every kind of output has the options of the preset, so minimal and expand are the same.
        let scope = if scope == "full" { DumpScope::Full } else { DumpScope::Minimal };
        return crate::console::print(arguments.options()?.dump(scope));
    }
    let request = TrainingRequest {
        options: arguments.options_with_workers(common)?,
        folder: arguments.output.clone(),
        vocab_size: arguments.vocab_size,
        plot: arguments.plot.clone(),
        dry_run: arguments.dry_run,
    };
    let sides = |option| request.options.get_strings(option);
    let texts: Vec<_> = ["train-sets", "valid-sets"].into_iter().flat_map(sides).collect();
    warn_if_binary(texts.iter().map(Path::new))?;
    if let ([source, target], [dev_source, dev_target]) =
        (&sides("train-sets")[..], &sides("valid-sets")[..])
    {
        let [train, dev] = [[source, target], [dev_source, dev_target]];
        if let Some(warning) = find_swapped_sides(train.map(Path::new), dev.map(Path::new))? {
            tracing::warn!("{warning}");
        }
    }
    let stop = CancellationToken::new();
    let signals = SignalHandler::install(&stop)?;
    let progress = common.progress();
    let summary =
        request.run(&stop, &progress, &mut |line| tracing::info!("{line}"), &mut |warning| {
            tracing::warn!("{warning}")
        })?;
    let (outcome, model) = match &summary {
        Summary::Trained { outcome, model } => (outcome, quote_for_shell(model)),
        Summary::Memory(memory) => {
            return crate::console::print(memory.table());
        }
    };
    let what = match outcome {
        Outcome::Cancelled => {
            signals.reraise_signal_with_message("the same command resumes the training");
            return Ok(());
        }
        Outcome::Finished => "Trained",
        Outcome::EarlyStopped => "Trained until validation did not improve",
        Outcome::AlreadyFinished => "Trained before",
    };
    let command = if request.options.is_language_model() {
        "score text with miriam nmt score"
    } else {
        "translate with miriam nmt translate"
    };
    crate::console::print_line(format_args!("{what}: {command} -m {model}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_sentencepiece_may_begin_with_dashes() {
        let settings = "--byte_fallback --model_type=bpe";
        let words = ["train", "--sentencepiece-options", settings, "--skip"];
        let matches = augment(Command::new(words[0])).try_get_matches_from(words).unwrap();
        let TrainerOptions(options) = TrainerOptions::from_arg_matches(&matches).unwrap();
        assert_eq!(options.get_string("sentencepiece-options"), settings);
        assert!(options.get_flag("skip").unwrap());
    }
}
