//! Options of `miriam nmt train`, with Marian's names, from configurations, presets and the command
//! line.

mod asynchronous;
mod dump;
mod files;
mod language_model;
mod learning_rate;
mod limits;
mod marian_yaml;
mod model_type;
mod precedence;
mod precision;
mod preset_by_size;
mod presets;
mod raw;
mod resolve;
mod sentencepiece_options;
mod table;

pub use dump::DumpScope;
pub use preset_by_size::count_lines;
pub use presets::{NO_PRESET, preset, preset_names, student_preset};
pub use raw::RawOptions;
pub use table::{Arity, OptionSpec, Status, all_options, find};
