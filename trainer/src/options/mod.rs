//! The options of `miriam nmt train`: Marian's names, from configurations, presets and the
//! command line, and what they mean.

mod asynchronous;
mod dump;
mod files;
mod learning_rate;
mod marian_yaml;
mod presets;
mod raw;
mod resolve;
mod table;

pub use dump::DumpScope;
pub use presets::{preset, preset_names};
pub use raw::RawOptions;
pub use table::{Arity, OptionSpec, Status, all_options, find};
