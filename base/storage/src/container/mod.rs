//! The container file: header, section table, metadata, aligned sections.
//!
//! The header and the table share the first 4,096 bytes, so that opening reads
//! one page; both have a checksum, checked at every opening. Sections have
//! checksums too, checked only by [`Container::verify`], because reading them
//! all would cost what mapping saves. `docs/formats.md` describes every byte.

mod header;
mod reader;
mod writer;

pub use header::{FORMAT_VERSION, FileKind, MAX_SECTIONS};
pub use reader::{Container, SectionInfo};
pub use writer::{ContainerWriter, SectionWriter};

/// The name of the section that holds the metadata block.
pub(crate) const METADATA: &str = "metadata";

#[cfg(test)]
mod tests;
