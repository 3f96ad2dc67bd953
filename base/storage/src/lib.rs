//! Memory layout of all Miriam models.
//!
//! A model is one file: a fixed header, a section table, a small metadata block and raw sections.
//! It is mapped, never parsed, so that opening takes milliseconds and no private memory, and
//! processes share it. This crate contains the bytes ([`Bytes`]), the file ([`container`]), typed
//! views of it ([`View`]), and the structures that models share: a linear-probing table of cache
//! lines ([`probing`]), a quotienting hash table of a few bits a key ([`quotient_table`]), a static
//! B-tree ([`btree`]) and a dictionary of strings ([`dictionary`]).
//!
//! This is one of the few crates in which `unsafe` is allowed. Its public interface is safe: a
//! damaged or hostile file gives an [`Error`], never undefined behaviour or a panic. The only
//! exception is a process that changes a mapped file in place; see [`Bytes::open`].
//!
//! ```
//! use std::path::Path;
//!
//! use miriam_storage::{Container, ContainerWriter, FileKind};
//!
//! const KIND: FileKind = FileKind::new("counts");
//! let mut writer = ContainerWriter::in_memory(Path::new("counts"), KIND, 1)?;
//! writer.write_metadata(&"tokens")?;
//! writer.write_section("numbers", &[3u64, 1, 4])?;
//! let bytes = writer.finish()?.expect("a container in memory");
//!
//! let container = Container::from_bytes(bytes, Path::new("counts"))?.expect_kind(KIND, 1)?;
//! assert_eq!(container.metadata::<String>()?, "tokens");
//! assert_eq!(container.section::<u64>("numbers")?[..], [3, 1, 4]);
//! # Ok::<(), miriam_storage::Error>(())
//! ```

#[cfg(target_endian = "big")]
compile_error!(
    "big-endian machines are not supported, because Miriam's files are little-endian and mapped"
);

pub mod atomic_file;
pub mod btree;
mod bytes;
pub mod container;
pub mod dictionary;
mod error;
pub mod file_lock;
pub mod hash;
mod huge_page_writer;
mod metadata;
pub mod parallel;
pub mod partial_file;
pub mod paths;
mod prefetch;
pub mod probing;
pub mod quotient_table;
pub mod random;
pub mod spill_file;
mod view;
mod zeroed_vec;

pub use bytes::{Bytes, LoadMethod};
pub use container::{Container, ContainerWriter, FileKind};
pub use error::{Error, Result};
pub use prefetch::{prefetch_at, prefetch_read};
pub use view::View;
pub use zerocopy;
pub use zeroed_vec::{Pod, ZeroedVec};
