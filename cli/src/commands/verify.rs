//! `miriam verify`: full checks of this program's files and of Moses' tables.

use std::path::PathBuf;

use clap::Args;
use miriam_probingpt::AnyTable;
use miriam_storage::{Container, LoadMethod};

use crate::common::CommonOptions;
use crate::model_kind::{self, ModelKind};

/// Check a whole model file: every checksum, offset and id.
///
/// A ProbingPT directory of Moses has no checksums, so every entry is read instead.
///
/// Example: miriam verify model/phrase-table.miriam
#[derive(Args)]
pub struct Arguments {
    /// The file to check, or a ProbingPT directory of Moses
    file: PathBuf,
}

pub fn run(arguments: Arguments, _common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.file.is_dir() {
        let table = AnyTable::open(&arguments.file, LoadMethod::Lazy).map_err(|error| {
            model_kind::explain_wrong_kind(error, &arguments.file, ModelKind::PhraseTable)
        })?;
        let entries = table.statistics()?.entries;
        let file = arguments.file.display();
        return crate::console::print_line(format_args!(
            "{file}: readable: a table of Moses, {entries} entries"
        ));
    }
    let container = Container::open_any(&arguments.file, LoadMethod::Lazy).map_err(
        |error| match (&error, model_kind::describe(&arguments.file)) {
            (miriam_storage::Error::NotAModel { path }, Some(what)) => anyhow::anyhow!(
                "{}: there are no checksums in this file, so it cannot be verified; it is {what}",
                path.display()
            ),
            (_, None) => model_kind::explain_foreign(error, &arguments.file),
            _ => error.into(),
        },
    )?;
    container.verify()?;
    match container.kind() {
        miriam_probingpt::KIND => miriam_probingpt::verify(&container)?,
        miriam_lmcpu::probing::KIND => miriam_lmcpu::verify(&container)?,
        miriam_glm::KIND => miriam_glm::verify(&container)?,
        miriam_lmcpu::trie::KIND => miriam_lmcpu::trie::verify(&container)?,
        miriam_align::FILE_KIND => miriam_align::verify(&container)?,
        miriam_nmt::KIND => miriam_nmt::verify(&container)?,
        kind => anyhow::bail!(
            "{}: its checksums are correct, but this program does not know the format of \
             {kind} files",
            arguments.file.display()
        ),
    }
    crate::console::print_line(format_args!(
        "{}: whole: {} version {}, {} sections, {} bytes",
        arguments.file.display(),
        container.kind(),
        container.kind_version(),
        container.sections().len(),
        container.file_length()
    ))
}
