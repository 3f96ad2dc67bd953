//! The configuration by which `miriam nmt translate`, and Marian, decode with a trained model.
//!
//! It is written after the model that it names, so that it never names one that is not there.

use std::path::{Path, PathBuf};

use miriam_textio::Output;

use super::checkpoint::ModelFiles;
use crate::error::Result;

/// How a trained model is decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DecoderSettings {
    /// The folder that has all files, if there is one: it can be moved.
    pub folder: Option<PathBuf>,
    /// The vocabularies of source and target.
    pub vocabularies: [PathBuf; 2],
    /// The beam.
    pub beam_size: usize,
    /// Length normalisation.
    pub normalize: f32,
}

impl DecoderSettings {
    /// The configuration of a training: `decoder.yml` in a folder of its own, else
    /// `model.npz.decoder.yml`.
    pub fn path(&self, files: &ModelFiles) -> PathBuf {
        match &self.folder {
            Some(folder) => folder.join("decoder.yml"),
            None => files.decoder_config(),
        }
    }

    /// Writes the configuration `path`, which names `model`.
    ///
    /// # Errors
    /// If it cannot be written; the old one is then as it was.
    pub fn write(&self, path: &Path, model: &Path) -> Result<()> {
        // Paths are relative to the folder; what is elsewhere stays there when it is moved.
        let relative = |path: &Path| match &self.folder {
            None => path.display().to_string(),
            Some(folder) => match path.strip_prefix(folder) {
                Ok(inside) => inside.display().to_string(),
                Err(_) => std::path::absolute(path).unwrap_or(path.into()).display().to_string(),
            },
        };
        let [source, target] = &self.vocabularies;
        let mut text = format!(
            "models:\n  - {}\nvocabs:\n  - {}\n  - {}\nbeam-size: {}\nnormalize: {}\n",
            relative(model),
            relative(source),
            relative(target),
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
}
