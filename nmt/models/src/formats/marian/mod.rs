//! Checkpoints and decoder configurations of Marian, Nematus and Amun.

mod architecture;
mod intgemm_writer;
mod model_writer;
mod options;

use std::path::Path;

use miriam_storage::paths::with_suffix;

use crate::architecture::Model;
use crate::checkpoint::{Checkpoint, CheckpointFormat};
use crate::decoder_config::{DecoderConfig, DecodingSemantics};
use crate::formats::files::Files;
use crate::formats::firefox::{self, FirefoxFiles};
use crate::formats::found_model::FoundModel;
use crate::segmentation::{BpeCodesFile, Segmentation};
use crate::shortlist::ShortlistOptions;
use crate::yaml::Value;
use crate::{Error, Result};

pub use architecture::{from_options, is_language_model, resolve};
pub use intgemm_writer::{IntgemmKind, write_marian_intgemm};
pub use model_writer::write_marian_model;
pub use options::marian_options;

/// Whether `path` is a decoder configuration, by its name.
pub(super) fn is_configuration(path: &Path) -> bool {
    matches!(path.extension().and_then(|extension| extension.to_str()), Some("yml" | "yaml"))
}

/// Finds a single checkpoint of Marian, Nematus or Amun.
pub(super) fn find_single_file(path: &Path) -> Result<FoundModel> {
    let Opened { model, format, is_for_browsers } = open_marian(path, &Files::default())?;
    let mut found = FoundModel {
        format: format.to_string(),
        files: vec![path.to_owned()],
        models: vec![model],
        is_for_browsers,
        ..FoundModel::default()
    };
    if is_for_browsers {
        let FirefoxFiles { vocabularies, shortlist } = firefox::find_beside(path)?;
        match vocabularies {
            Ok(paths) => found.vocabularies = paths,
            Err(error) => found.vocabulary_error = Some(error),
        }
        match shortlist {
            Ok(path) => found.shortlist = path.map(|path| (path, ShortlistOptions::default())),
            Err(error) => found.shortlist_error = Some(error),
        }
    }
    Ok(found)
}

/// A checkpoint of Marian, Nematus or Amun, after its architecture was resolved.
struct Opened {
    model: Model,
    format: CheckpointFormat,
    /// Whether Marian's fork for browsers packed the file, as for Firefox.
    is_for_browsers: bool,
}

fn open_marian(path: &Path, files: &Files) -> Result<Opened> {
    let checkpoint = Checkpoint::from_bytes(&files.open(path)?, path)?;
    let (format, is_for_browsers) = (checkpoint.format(), checkpoint.is_for_browsers());
    // Marian also writes the options to a file next to the checkpoint.
    let options_path = with_suffix(path, ".yml");
    let options = if checkpoint.options().is_none() && files.is_file(&options_path) {
        Some(Value::parse_configuration(
            &files.open(&options_path)?,
            &options_path.display().to_string(),
        )?)
    } else {
        None
    };
    let model = resolve(checkpoint, options.as_ref())?;
    Ok(Opened { model, format, is_for_browsers })
}

/// Finds the models that a decoder's configuration names.
pub(super) fn find_from_config(
    path: &Path,
    mut settings: DecoderConfig,
    files: Files,
) -> Result<FoundModel> {
    // The caches of browsers keep files as they were downloaded, compressed and named accordingly.
    let named = settings.models.iter_mut().chain(&mut settings.vocabularies);
    for path in named.chain(settings.shortlist.as_mut().map(|(path, _)| path)) {
        *path = files.find(std::mem::take(path));
    }
    if settings.models.is_empty() {
        let reason = "no models are named (models: or scorers:); give the configuration of a \
                      decoder, or the model file";
        return Err(Error::unsupported(path, reason));
    }
    let mut is_for_browsers = false;
    let models = settings.models.iter().map(|model| {
        let opened = open_marian(model, &files)?;
        is_for_browsers |= opened.is_for_browsers;
        Ok(opened.model)
    });
    let models = models.collect::<Result<Vec<_>>>()?;
    settings.check_weights(path, models.len())?;
    let vocabularies = settings.vocabulary_pair(path)?;
    let segmentation = match &settings.bpe_codes {
        Some(codes) => {
            let both = Segmentation::Bpe(BpeCodesFile::open(codes)?);
            [both.clone(), both]
        }
        None => Default::default(),
    };
    Ok(FoundModel {
        format: "decoder configuration".into(),
        semantics: DecodingSemantics::Marian,
        files: settings.models.clone(),
        models,
        vocabularies,
        segmentation,
        shortlist: settings.shortlist.clone(),
        is_for_browsers,
        settings,
        contents: files,
        ..FoundModel::default()
    })
}
