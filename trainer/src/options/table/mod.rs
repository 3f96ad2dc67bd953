//! The options of training: Marian's names and defaults, and our own.
//!
//! Every option of Marian's trainer is here. Those that are not honoured
//! either have no effect, with one warning, or are rejected. There is a file for each
//! group of options under one heading of help.

mod asynchronous;
mod data;
mod dropout;
mod ignored;
mod model;
mod optimizer;
mod refused;
mod training;
mod validation;

/// The values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// None: true where it is given.
    Flag,
    /// One.
    One,
    /// One or several.
    Many,
    /// One, or none for the default that follows.
    Optional(&'static str),
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is honoured.
    Honoured,
    /// It has no effect, and why.
    NoEffect(&'static str),
    /// It is rejected, and why.
    Refused(&'static str),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, without dashes.
    pub name: &'static str,
    /// The heading under which help lists it.
    pub group: &'static str,
    /// Its values.
    pub arity: Arity,
    /// The placeholder of a value in help.
    pub value_name: &'static str,
    /// Its default; empty for none.
    pub default: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// What becomes of it.
    pub status: Status,
}

const fn honoured(
    group: &'static str,
    name: &'static str,
    arity: Arity,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
) -> OptionSpec {
    OptionSpec { name, group, arity, value_name, default, help, status: Status::Honoured }
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

/// Returns an option without effect that has a value in every configuration that Marian writes.
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

// Reasons that options without effect and rejected ones share.
const COMET: &str = "COMET's models are not trained";
const ULR: &str = "models with ULR are not trained";

/// Honoured options in the order of help, then the others.
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

/// Finds the option of that name.
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
