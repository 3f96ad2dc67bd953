//! Options of Marian that are accepted without effect, so that its command lines run unchanged, and
//! options that are rejected. Both come from the same table as the keys of configurations.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use miriam_nmt::MARIAN_KEYS;
use tracing::warn;

use crate::common::exit_with_usage_error;

/// Keys of the table that have an effect as options.
const WITH_EFFECT: [&str; 15] = [
    "config",
    "cpu-threads",
    "devices",
    "force-decode",
    "input",
    "log-level",
    "n-best-feature",
    "output",
    "output-sampling",
    "precision",
    "quiet",
    "seed",
    "summary",
    "tsv",
    "version",
];

/// The short forms of Marian's options.
const SHORT_FORMS: [(&str, char); 2] = [("workspace", 'w'), ("gemm-type", 'g')];

/// The keys of the table that choose kernels; here `--precision` chooses them.
const KERNELS: [&str; 9] = [
    "optimize",
    "fp16",
    "gemm-type",
    "gemm-precision",
    "int8shift",
    "int8shiftAll",
    "int8shiftAlpha",
    "int8shiftAlphaAll",
    "use-legacy-batching",
];

/// The options of the table that were given, in the order of the table.
pub struct IgnoredOptions {
    without_effect: Vec<&'static str>,
    /// The rejected options, each with its alternative and its values.
    refused: Vec<(&'static str, &'static str, Vec<String>)>,
}

/// Returns the keys that have no effect.
fn keys_without_effect() -> impl Iterator<Item = &'static str> {
    let keys = MARIAN_KEYS.without_effect.iter().copied();
    keys.filter(|name| !WITH_EFFECT.contains(name))
}

/// Returns the keys that are errors, with the alternative.
fn refused_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let keys = MARIAN_KEYS.refused.iter().copied();
    keys.filter(|(name, _)| !WITH_EFFECT.contains(name))
}

impl Args for IgnoredOptions {
    /// Adds an option for each key of the table.
    fn augment_args(command: Command) -> Command {
        let names = keys_without_effect().chain(refused_keys().map(|(name, _)| name));
        command.args(names.map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Returns a hidden option with any number of values.
fn option(name: &'static str) -> Arg {
    let option = Arg::new(name).long(name).hide(true).num_args(0..).action(ArgAction::Append);
    let option = option.allow_negative_numbers(true);
    match SHORT_FORMS.iter().find(|(long, _)| *long == name) {
        Some((_, short)) => option.short(*short),
        None => option,
    }
}

impl FromArgMatches for IgnoredOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given = |name: &&str| {
            matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
        };
        let values = |name: &str| {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            values.cloned().collect::<Vec<String>>()
        };
        let refused = refused_keys().filter(|(name, _)| is_given(name));
        Ok(IgnoredOptions {
            without_effect: keys_without_effect().filter(is_given).collect(),
            refused: refused.map(|(name, remedy)| (name, remedy, values(name))).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl IgnoredOptions {
    /// Warns of options without effect, and exits if an option is not supported. If lines have
    /// fields (`has_fields`), Marian's option for their number is accepted.
    pub fn check(&self, has_fields: bool) {
        for (name, remedy, values) in &self.refused {
            let is_count = *name == "tsv-fields"
                && has_fields
                && matches!(&values[..], [count] if matches!(&count[..], "1" | "2" | "3"));
            if !is_count && !MARIAN_KEYS.is_off(name, values) {
                exit_with_usage_error(format!("--{name}: not supported; {remedy}"));
            }
        }
        let options = |kernels: bool| {
            let all = self.without_effect.iter();
            let these = all.filter(|name| KERNELS.contains(name) == kernels);
            these.map(|name| format!("--{name}")).collect::<Vec<_>>().join(" ")
        };
        let [others, kernels] = [options(false), options(true)];
        if !others.is_empty() {
            warn!("without effect here: {others}");
        }
        if !kernels.is_empty() {
            warn!("without effect here: {kernels}; --precision sets the precision of products");
        }
    }
}
