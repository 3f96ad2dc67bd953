//! The steps for raw text that are copied with an ini to another folder.
//!
//! They are a file `preparation` in the folder of the ini, and the files that this file names:
//! truecasing models and lists of abbreviations. If an ini were written elsewhere without them, raw
//! text would be translated as if it were tokenised.

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
    /// Returns the files to be written next to `output`, a new ini for the system of
    /// `configuration`. Returns `None` if the system does not prepare raw text, or if `output` is
    /// in the same folder or is not a file.
    ///
    /// # Errors
    /// If a file cannot be read, or if the system does not prepare raw text, but a file next to
    /// `output` would make it do so.
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
        let mut steps = TextProcessorConfig::read(&from)
            .map_err(|e| Error::configuration(from.display().to_string(), e.to_string()))?;
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
    /// If a file with other contents would be replaced.
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
            // The bytes are written unchanged, even if the name is that of a compressed file.
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
