//! Memory-mapped phrase tables with integrated lexical reordering.
//!
//! One file holds everything that a phrase-based decoder reads about a phrase pair: its scores, its
//! reordering scores, its words and its alignment. It is built from Moses' text tables
//! ([`build_file`]) and mapped, never parsed ([`PhraseTable::open`]); small text tables can also be
//! built in memory at start-up ([`load_text`], [`load_reordering_text`]).
//!
//! A lookup costs two random memory accesses: one 64-byte bucket of the index and
//! the record of the source phrase, which holds all its targets column by
//! column. All spans of a sentence are looked up together
//! ([`PhraseTable::lookup_spans`]), so that those accesses overlap. Scores are
//! natural logarithms, computed when the table is built. They are equal bit for bit to the scores
//! that Moses2 reads from the table that its own builder writes.
//!
//! Directories that Moses' own ProbingPT tools wrote are mapped too ([`MosesTable`]); a
//! decoder takes either kind as [`AnyTable`].
//!
//! `docs/formats.md` describes a file byte by byte. A damaged or hostile file gives an
//! [`Error`], "not found" or wrong values, never a panic.
//!
//! # Examples
//!
//! A table built from text, and the phrases of a sentence that it has:
//!
//! ```
//! use miriam_probingpt::{BuildOptions, PhraseTable, SpanLookup, Targets, build_file};
//! use miriam_storage::LoadMethod;
//! use miriam_textio::NoProgress;
//!
//! let folder = tempfile::tempdir()?;
//! let [text, file] = ["phrase-table", "table.miriam"].map(|name| folder.path().join(name));
//! std::fs::write(
//!     &text,
//!     "alte haus ||| old house ||| 0.5 1 ||| 0-0 1-1\n\
//!      haus ||| building ||| 0.25 1 ||| 0-0\n\
//!      haus ||| house ||| 0.75 0.5 ||| 0-0\n",
//! )?;
//! let options = BuildOptions { phrase_table: text, ..BuildOptions::default() };
//! let report = build_file(&options, &file, &NoProgress)?;
//! assert_eq!((report.sources, report.entries), (2, 3));
//!
//! let table = PhraseTable::open(&file, LoadMethod::Lazy)?;
//! let sentence = ["das", "alte", "haus"]
//!     .map(|word| table.source_words().find(word.as_bytes()).unwrap_or(u32::MAX));
//! let mut lookup = SpanLookup::new();
//! table.lookup_spans(&sentence, 3, &mut lookup);
//! let spans: Vec<_> = lookup.hits().iter().map(|hit| (hit.start, hit.end)).collect();
//! assert_eq!(spans, [(1, 3), (2, 3)]);
//!
//! let mut targets = Targets::new();
//! table.read_targets(lookup.hits()[1].record, &mut targets)?;
//! assert_eq!(targets.len(), 2);
//! assert_eq!(table.target_word(targets.words(1)[0])?, b"house");
//! assert_eq!(targets.scores(1), [0.75f32.ln(), 0.5f32.ln()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod annotations;
mod any_table;
mod bucket;
mod build;
mod dump;
mod error;
mod foreign_files;
mod format;
mod index_statistics;
mod lookup;
mod moses;
mod record;
mod sparse_features;
mod statistics;
mod table;
mod targets;
mod varint;
mod verify;

pub use annotations::Annotations;
pub use any_table::AnyTable;
pub use build::{BuildOptions, BuildReport, build_file, load_reordering_text, load_text};
pub use dump::EntryPrinter;
pub use error::{Error, Result};
pub use foreign_files::{describe_foreign, is_text_table};
pub use format::{KIND, VERSION};
pub use index_statistics::{IndexStatistics, LookupReads};
pub use lookup::{SpanHit, SpanLookup};
pub use moses::MosesTable;
pub use statistics::{ColumnStatistics, Statistics};
pub use table::{PhraseTable, RecordOffset};
pub use targets::Targets;
pub use verify::verify;
