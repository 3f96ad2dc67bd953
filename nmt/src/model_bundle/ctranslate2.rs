//! Folders of CTranslate2's converters.

use std::path::Path;

use miriam_storage::LoadMethod;
use serde::Deserialize;

use super::found::FoundModel;
use crate::architecture::{self, CTranslate2Settings};
use crate::checkpoint::Checkpoint;
use crate::search::DecodingSemantics;
use crate::vocabulary::Vocabulary;
use crate::{Result, json};

/// The options of CTranslate2's `config.json` that decoding needs.
#[derive(Default, Deserialize)]
struct CTranslate2Config {
    layer_norm_epsilon: Option<f32>,
    decoder_start_token: Option<String>,
}

/// The model of a folder of CTranslate2, whose weights are `model`.
pub fn find(folder: &Path, model: &Path) -> Result<FoundModel> {
    let vocabulary = |side: &str| {
        let path = |extension: &str| folder.join(format!("{side}_vocabulary.{extension}"));
        ["json", "txt"].map(path).into_iter().find(|path| path.is_file())
    };
    let vocabularies = match (vocabulary("shared"), vocabulary("source"), vocabulary("target")) {
        (Some(both), ..) => Some([both.clone(), both]),
        (None, Some(source), Some(target)) => Some([source, target]),
        _ => None,
    };
    let config_path = folder.join("config.json");
    let config = if config_path.is_file() {
        json::open(&config_path)?
    } else {
        CTranslate2Config::default()
    };
    // The decoder's start token is known by its string only.
    let start_token = match (&vocabularies, &config.decoder_start_token) {
        (Some([_, target]), Some(word)) => Vocabulary::open(target)?.find(word.as_bytes()),
        _ => None,
    };
    let checkpoint = Checkpoint::open(model, LoadMethod::Lazy)?;
    let format = checkpoint.format().to_string();
    let files = vec![model.to_owned()];
    let model = architecture::resolve_ctranslate2(
        checkpoint,
        &CTranslate2Settings { norm_epsilon: config.layer_norm_epsilon, start_token },
    )?;
    let map = folder.join("vmap.txt");
    Ok(FoundModel {
        format,
        semantics: DecodingSemantics::CTranslate2,
        files,
        models: vec![model],
        vocabularies,
        vocabulary_map: map.is_file().then_some(map),
        ..FoundModel::default()
    })
}
