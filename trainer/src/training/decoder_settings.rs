//! The configuration that lets `miriam nmt translate` and Marian decode with a trained model.
//!
//! It is written after the model that it names, so that this model always exists.

use std::path::{Path, PathBuf};

use miriam_textio::Output;

use super::model_files::ModelFiles;
use crate::error::Result;
use crate::yaml_text::yaml_scalar;

/// Settings for decoding with a trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct DecoderSettings {
    /// The folder with all files, if there is one. It can be moved.
    pub folder: Option<PathBuf>,
    /// The vocabularies of source and target.
    pub vocabularies: [PathBuf; 2],
    /// The beam size.
    pub beam_size: usize,
    /// Length normalisation.
    pub normalize: f32,
}

impl DecoderSettings {
    /// Returns the path of the configuration: `decoder.yml` in the training's folder, else
    /// `model.npz.decoder.yml`.
    pub fn path(&self, files: &ModelFiles) -> PathBuf {
        match &self.folder {
            Some(folder) => folder.join("decoder.yml"),
            None => files.decoder_config(),
        }
    }

    /// Writes the configuration for `model` to `path`.
    ///
    /// # Errors
    /// If it cannot be written; the old file is then unchanged.
    pub fn write(&self, path: &Path, model: &Path) -> Result<()> {
        let [source, target] = &self.vocabularies;
        let mut text = format!(
            "models:\n  - {}\nvocabs:\n  - {}\n  - {}\nbeam-size: {}\nnormalize: {}\n",
            self.path_text(model)?,
            self.path_text(source)?,
            self.path_text(target)?,
            self.beam_size,
            self.normalize,
        );
        if self.folder.is_some() {
            text += "relative-paths: true\n";
        }
        let mut output = Output::create_atomic(path)?;
        output.write(text.as_bytes())?;
        Ok(output.finish()?)
    }

    /// Returns a path as it is written to the file. If the training has a folder, which may be
    /// moved: relative inside it, else absolute. Without a folder: as it was given.
    fn path_text(&self, path: &Path) -> Result<String> {
        let Some(folder) = &self.folder else {
            return Ok(yaml_scalar(&path.display().to_string()));
        };
        fn absolute(path: &Path) -> Result<PathBuf, miriam_storage::Error> {
            std::path::absolute(path).map_err(|e| miriam_storage::Error::io(path, "find", e))
        }
        let (path, base) = (absolute(path)?, absolute(folder)?);
        Ok(yaml_scalar(&path.strip_prefix(base).unwrap_or(&path).display().to_string()))
    }
}
