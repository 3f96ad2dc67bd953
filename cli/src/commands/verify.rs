//! `miriam verify`: a full check of any of our files.

use std::path::PathBuf;

use clap::Args;
use miriam_layout::{Container, Load};

use crate::common::Common;

/// Reads the whole file: the checksum of every section, the padding between
/// them, and every offset and id inside.
///
/// Example: miriam verify model/phrase-table.miriam
#[derive(Args)]
pub struct Arguments {
    /// The file to check
    file: PathBuf,
}

pub fn run(arguments: Arguments, _common: &Common) -> anyhow::Result<()> {
    let container = Container::open_any(&arguments.file, Load::Lazy)?;
    container.verify()?;
    // Beyond checksums: what each kind of file promises about its content.
    if container.kind() == miriam_probingpt::KIND {
        miriam_probingpt::verify(&container)?;
    }
    println!(
        "{}: whole: {} version {}, {} sections, {} bytes",
        arguments.file.display(),
        container.kind(),
        container.kind_version(),
        container.sections().len(),
        container.file_length()
    );
    Ok(())
}
