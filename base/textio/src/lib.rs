//! Text as translation systems know it: lines of bytes, three-bar fields, words,
//! numbers that print and parse as the peers' do, and parallel work over lines
//! whose output keeps the input's order.
//!
//! Text is bytes throughout; nothing here requires UTF-8.

#![forbid(unsafe_code)]

pub mod affinity;
mod blocks;
mod error;
pub mod fields;
mod input;
mod lines;
mod map_lines;
pub mod number;
mod ordered;
mod output;
mod progress;
mod score;
mod size;
mod sort;
mod stop;
mod vocabulary;

pub use blocks::Blocks;
pub use error::{Error, Result};
pub use input::{Input, name_of};
pub use lines::{Line, Lines};
pub use map_lines::{lines_of, map_blocks, map_lines};
pub use ordered::{available_threads, ordered_map};
pub use output::{Output, Wrapping};
pub use progress::{Progress, Silent};
pub use score::{Ln, Log10};
pub use size::parse_size;
pub use sort::{SortOptions, sort_lines};
pub use stop::Stop;
pub use vocabulary::{Vocabulary, WordId};
