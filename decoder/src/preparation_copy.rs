//! The steps for raw text that are copied with an ini to another folder.
//!
//! They are a file `preparation` beside the ini, and the files that it names: models of case, lists
//! of abbreviations. An ini that is written elsewhere without them would translate raw text as
//! tokens.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_storage::partial_file::is_special;
use miriam_textio::Output;
use miriam_textproc::TextProcessorConfig;

use crate::config::Configuration;
use crate::{Error, Result};

/// The files that are to be written.
pub struct PreparationCopy {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl PreparationCopy {
    /// Returns the files that belong beside the ini `output` of the system of `configuration`; none
    /// if its texts are not prepared, or if `output` is in its folder or not a file.
    ///
    /// # Errors
    /// If a file cannot be read, or if texts are not prepared but would be, by a file beside
    /// `output`.
    pub fn plan(configuration: &Configuration, output: &Path) -> Result<Option<Self>> {
        if output.as_os_str() == "-" || is_special(output) {
            return Ok(None);
        }
        let from = TextProcessorConfig::path_beside(&configuration.ini);
        let to = TextProcessorConfig::path_beside(output);
        let is_same =
            from.canonicalize().ok().is_some_and(|from| to.canonicalize().ok() == Some(from));
        if is_same {
            return Ok(None);
        }
        if !from.is_file() {
            return if to.is_file() { Err(foreign_file(&to)) } else { Ok(None) };
        }
        let folder = to.parent().unwrap_or(Path::new(""));
        fn unreadable(reason: String, from: &Path) -> Error {
            Error::configuration(from.display().to_string(), reason)
        }
        let mut steps =
            TextProcessorConfig::read(&from).map_err(|e| unreadable(e.to_string(), &from))?;
        let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut files = Vec::new();
        for file in steps.files_mut() {
            let mut name = PathBuf::from(file.file_name().unwrap_or_default());
            // Files of two folders may have one name.
            while copies.iter().any(|(from, copy)| *copy == name && from != file) {
                name = PathBuf::from(format!("target-{}", name.display()));
            }
            let content = fs::read(&*file)
                .map_err(|e| miriam_textio::Error::io(&file.display().to_string(), "read", e))?;
            files.push((folder.join(&name), content));
            copies.push((std::mem::replace(file, name.clone()), name));
        }
        files.push((to, steps.to_text().into_bytes()));
        Ok(Some(PreparationCopy { files }))
    }

    /// Checks that no file of another system would be replaced.
    ///
    /// # Errors
    /// If one would.
    pub fn check_targets(&self) -> Result<()> {
        let Some((path, _)) = self.files.iter().find(|(path, content): &&(PathBuf, Vec<u8>)| {
            fs::read(path).is_ok_and(|found| found != *content)
        }) else {
            return Ok(());
        };
        Err(foreign_file(path))
    }

    /// Writes the files.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(&self) -> Result<()> {
        for (path, content) in &self.files {
            // Unchanged, even if their names say that they are compressed.
            let mut file = Output::create_precompressed(path)?;
            file.write(content)?;
            file.finish()?;
        }
        Ok(())
    }
}

fn foreign_file(path: &Path) -> Error {
    let reason = "it belongs to another system, or to this one as it was before; write the ini \
                  into a folder of its own, or remove the file";
    Error::configuration(path.display().to_string(), reason)
}
