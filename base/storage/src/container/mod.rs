//! Container file: header, section table, metadata, aligned sections.
//!
//! The header and the table share the first 4,096 bytes, so that opening reads one page; their
//! checksums are checked whenever a file is opened. Checksums of sections are checked only by
//! [`Container::verify`], because reading all sections would cost the time that mapping saves.
//! `docs/formats.md` describes every byte.

mod header;
mod reader;
mod writer;

pub use header::{FORMAT_VERSION, FileKind, MAX_SECTIONS};
pub use reader::{Container, SectionInfo};
pub use writer::{ContainerWriter, SectionWriter};

/// The name of the section with the metadata block.
pub(crate) const METADATA: &str = "metadata";

#[cfg(test)]
mod tests;
