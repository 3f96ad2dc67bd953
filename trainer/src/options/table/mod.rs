//! Table of training options: all options of Marian's trainer, with its names and defaults, and
//! additional options.
//!
//! Unsupported options of Marian are ignored with a warning or rejected. Each file contains the
//! options under one heading of the help.

/// Defines the supported options under one heading of the help. A row has the name, the arity with
/// the value of the bare option, the placeholder of a value, the default after `=`, and the help.
macro_rules! options {
    ($group:literal: $($name:literal: $arity:ident $(($bare:literal))? $($value:literal)?
        $(= $default:literal)?, $help:literal;)*) => {
        pub(super) const OPTIONS: &[super::OptionSpec] = &[$(super::OptionSpec {
            name: $name,
            group: $group,
            arity: super::Arity::$arity $(($bare))?,
            value_name: options!(@text $($value)?),
            default: options!(@text $($default)?),
            help: $help,
            status: super::Status::Honoured,
        }),*];
    };
    (@text) => { "" };
    (@text $text:literal) => { $text };
}

mod asynchronous;
mod data;
mod dropout;
mod ignored;
mod model;
mod optimizer;
mod refused;
mod training;
mod validation;

/// The number of values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// No value: the option is true if it is present.
    Flag,
    /// One value.
    One,
    /// One or several values.
    Many,
    /// One value, or none: the option without a value means this value.
    Optional(&'static str),
}

/// The treatment of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The option has its effect.
    Honoured,
    /// The option is ignored, for this reason.
    NoEffect(&'static str),
    /// The option is rejected, for this reason.
    Refused(&'static str),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, without the leading dashes.
    pub name: &'static str,
    /// The heading under which help lists it.
    pub group: &'static str,
    /// The number of values that the option takes.
    pub arity: Arity,
    /// The placeholder of a value in help.
    pub value_name: &'static str,
    /// The default value; empty if there is none.
    pub default: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// The treatment of the option: honoured, ignored or rejected.
    pub status: Status,
}

/// Options of up to three values that may be given without a value.
const BARE_OPTIONS: [&str; 2] = ["throw-on-divergence", "dynamic-gradient-scaling"];

impl OptionSpec {
    /// Whether an option of several values may be given without a value; Marian's numbers are then
    /// used. An option of one value that may be given without it is [`Arity::Optional`].
    pub fn may_be_bare(&self) -> bool {
        BARE_OPTIONS.contains(&self.name)
    }
}

const fn no_effect(name: &'static str, arity: Arity, why: &'static str) -> OptionSpec {
    let status = Status::NoEffect(why);
    OptionSpec {
        name,
        group: "Without effect",
        arity,
        value_name: "X",
        default: "",
        help: "",
        status,
    }
}

/// Returns an option without effect that all configurations of Marian contain.
const fn unused(
    name: &'static str,
    arity: Arity,
    default: &'static str,
    why: &'static str,
) -> OptionSpec {
    OptionSpec { default, ..no_effect(name, arity, why) }
}

const fn refused(name: &'static str, arity: Arity, why: &'static str) -> OptionSpec {
    let status = Status::Refused(why);
    OptionSpec { name, group: "Refused", arity, value_name: "X", default: "", help: "", status }
}

// Reasons that options without effect and rejected options share.
const COMET: &str = "training COMET models is not supported";
const ULR: &str = "training models with ULR is not supported";

/// Supported options in the order of the help, then the others.
const GROUPS: [&[OptionSpec]; 9] = [
    data::OPTIONS,
    model::OPTIONS,
    dropout::OPTIONS,
    training::OPTIONS,
    optimizer::OPTIONS,
    asynchronous::OPTIONS,
    validation::OPTIONS,
    ignored::OPTIONS,
    refused::OPTIONS,
];

/// Returns all options.
pub fn all_options() -> impl Iterator<Item = &'static OptionSpec> {
    GROUPS.into_iter().flatten()
}

/// Returns the option called `name`.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    all_options().find(|option| option.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = all_options().map(|option| option.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
