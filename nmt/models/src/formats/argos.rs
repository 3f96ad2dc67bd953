//! Packages of Argos Translate and LibreTranslate: a zip archive (`.argosmodel`), or its folder
//! unpacked, with `metadata.json`, a folder `model` of CTranslate2, and the SentencePiece model or
//! the BPE codes of both languages.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ctranslate2;
use super::files::{self, Files};
use super::found_model::FoundModel;
use crate::decoder_config::DecoderConfig;
use crate::segmentation::{BpeCodesFile, Segmentation, SentencePieceModel, WordRules};
use crate::{Error, Result};

/// The width of the beam and the length penalty that Argos Translate decodes with.
const BEAM_SIZE: usize = 4;
const LENGTH_PENALTY: f32 = 0.2;

const METADATA: &str = "metadata.json";
const PIECES: &str = "sentencepiece.model";
const CODES: &str = "bpe.model";

/// The fields of `metadata.json` that are read.
#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    from_code: String,
    #[serde(default)]
    to_code: String,
    /// A token that every translation begins with.
    #[serde(default)]
    target_prefix: String,
}

/// Whether `path` is the archive of a package, by its name: `.npz` files are zip archives too.
pub fn is_archive(path: &Path) -> bool {
    files::has_extension(path, "argosmodel")
}

/// Whether `folder` is an unpacked package.
pub fn is_package(folder: &Path) -> bool {
    folder.join(METADATA).is_file() && folder.join("model").join("model.bin").is_file()
}

/// Finds the model of the archive at `path`.
pub fn find_in_archive(path: &Path) -> Result<FoundModel> {
    // Packages also contain the models of a sentence splitter.
    let files = Files::in_archive(path, &|name: &str| {
        let name = Path::new(name);
        let folder = name.parent().and_then(Path::file_name);
        folder.is_some_and(|folder| folder == "model")
            || [METADATA, PIECES, CODES].iter().any(|wanted| name.ends_with(wanted))
    })?;
    let folder = {
        let mut metadata = files.in_memory_paths().filter(|file| file.ends_with(METADATA));
        metadata.next().and_then(Path::parent).map(Path::to_owned)
    };
    let Some(folder) = folder else {
        let reason = "a package without metadata.json; give a package of Argos Translate \
                      (.argosmodel)";
        return Err(Error::unsupported(path, reason));
    };
    let mut found = find(&folder, files)?;
    found.files = vec![path.to_owned()];
    Ok(found)
}

/// Finds the model of the package in `folder`.
pub fn find_in_folder(folder: &Path) -> Result<FoundModel> {
    find(folder, Files::default())
}

fn find(folder: &Path, files: Files) -> Result<FoundModel> {
    let metadata: Metadata = files.read_json(&folder.join(METADATA))?;
    if let Some(kind) = metadata.kind.filter(|kind| kind != "translate") {
        let reason = format!("expected a package of type \"translate\", found {kind:?}");
        return Err(Error::unsupported(folder, reason));
    }
    fn file(name: &str, folder: &Path, files: &Files) -> Option<PathBuf> {
        Some(folder.join(name)).filter(|path| files.is_file(path))
    }
    let segmentation = match (file(PIECES, folder, &files), file(CODES, folder, &files)) {
        (Some(path), _) => {
            let bytes = files.open(&path)?;
            let model = SentencePieceModel::from_bytes(bytes, path.display().to_string())?;
            let both = Segmentation::SentencePiece(model);
            [both.clone(), both]
        }
        (None, Some(path)) => {
            let codes = BpeCodesFile::from_bytes(files.open(&path)?, &path.display().to_string())?;
            // Text of each side is tokenised by Moses' tools for its language.
            [&metadata.from_code, &metadata.to_code].map(|language| {
                let rules = WordRules { language: language.clone(), is_opus_mt: false };
                Segmentation::Bpe(codes.clone().with_words(Some(rules)))
            })
        }
        (None, None) => {
            let reason = "neither sentencepiece.model nor bpe.model is in the package";
            return Err(Error::unsupported(folder, reason));
        }
    };
    let model_folder = folder.join("model");
    let mut found = ctranslate2::find(&model_folder, &model_folder.join("model.bin"), files)?;
    found.format = format!("Argos package, {}", found.format);
    found.segmentation = segmentation;
    found.target_prefix_token = Some(metadata.target_prefix).filter(|token| !token.is_empty());
    found.settings = DecoderConfig {
        beam_size: Some(BEAM_SIZE),
        normalize: Some(LENGTH_PENALTY),
        // Argos Translate calls CTranslate2 with this option.
        replace_unknowns: Some(true),
        ..found.settings
    };
    Ok(found)
}
