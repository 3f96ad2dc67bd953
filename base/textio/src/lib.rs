//! Text input and output of translation systems: lines of bytes, fields separated by `|||`, words,
//! n-best lists, numbers parsed and printed as in Moses and KenLM, sorting of large files, output
//! that an interrupted program continues, progress and cancellation, and parallel work on lines
//! that keeps their order.
//!
//! Text consists of bytes; nothing here requires UTF-8.
//!
//! ```
//! use std::io::Cursor;
//!
//! use miriam_textio::{Input, Lines, fields, number};
//!
//! let text = "das Haus ||| the house ||| 0.75\n";
//! let mut lines = Lines::new(Input::from_reader(Cursor::new(text), "example", None)?);
//! while let Some(line) = lines.next()? {
//!     let fields: Vec<&[u8]> = fields::split_fields(line.bytes).collect();
//!     assert_eq!(fields, [&b"das Haus"[..], b"the house", b"0.75"]);
//!     assert_eq!(number::parse_f32(fields[2]), Some(0.75));
//! }
//! # Ok::<(), miriam_textio::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod affinity;
mod block_reader;
mod cancellation;
mod compression;
pub mod date;
mod display_name;
mod error;
mod external_sort;
pub mod fields;
mod foreign_format;
mod free_memory;
mod input;
pub mod leb128;
mod line;
mod line_limit;
mod lines;
mod map_lines;
mod members;
pub mod n_best;
pub mod number;
mod ordered;
mod output;
mod parallel_lines;
pub mod process_memory;
mod progress;
mod resumable_output;
mod same_file;
mod score;
mod shared_buffer;
mod size;
mod slice_interner;
mod sorted_runs;
mod suggestion;
mod swapped_sides;
mod truth_word;
mod vocabulary;
mod word_links;

pub use block_reader::BlockReader;
pub use cancellation::CancellationToken;
pub use compression::{Compression, TextCompressor};
pub use display_name::{display_name, quote_for_shell};
pub use error::{Error, Result, TOO_LONG_LINE};
pub use external_sort::{SortOptions, sort_lines};
pub use free_memory::free_memory;
pub use input::Input;
pub use line::Line;
pub use line_limit::set_max_line_bytes;
pub use lines::Lines;
pub use map_lines::{map_blocks, map_lines, split_lines};
pub use ordered::{available_threads, ordered_map};
pub use output::Output;
pub use parallel_lines::ParallelLines;
pub use progress::{CancellableProgress, NoProgress, Progress, ProgressTask};
pub use resumable_output::ResumableOutput;
pub use same_file::is_same_file;
pub use score::{Ln, Log10};
pub use shared_buffer::SharedBuffer;
pub use size::parse_size;
pub use slice_interner::SliceInterner;
pub use suggestion::{shorten, suggest_name};
pub use swapped_sides::find_swapped_sides;
pub use truth_word::parse_truth_word;
pub use vocabulary::{Vocabulary, WordId};
pub use word_links::{
    InvalidLink, LinkCertainty, WordLink, parse_phrase_link, parse_word_link, reject_giza_output,
};
