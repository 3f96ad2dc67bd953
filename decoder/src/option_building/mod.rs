//! Building of translation options: target phrases of a source span, scored and pruned.

mod collector;
mod forced_options;
mod markup_filter;
mod option_builder;
mod phrase_values;

pub(crate) use collector::OptionCollector;
pub(crate) use option_builder::OptionBuilder;
pub(crate) use phrase_values::{OptionRef, push_phrase_row};
