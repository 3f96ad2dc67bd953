//! Folders of Hugging Face's `transformers`: weights in one file or several shards, configurations
//! of the model and of decoding, and the files of a tokeniser.

mod generation;
mod tokenizer;
mod tokenizer_json;

pub use tokenizer::PIECE_FILES;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use miriam_storage::LoadMethod;
use serde::Deserialize;
use serde_json::Value;

use super::found_model::FoundModel;
use crate::architecture::{self, generation_option};
use crate::checkpoint::Checkpoint;
use crate::search::DecodingSemantics;
use crate::segmentation::{Segmentation, SentencePieceModel};
use crate::{Error, Result, json};

/// Tensors in one file, and the index of those that are in several; safetensors first, which need
/// no pickle.
const WEIGHTS: [(&str, &str); 2] = [
    ("model.safetensors", "model.safetensors.index.json"),
    ("pytorch_model.bin", "pytorch_model.bin.index.json"),
];

/// The index of shards.
#[derive(Deserialize)]
struct ShardIndex {
    /// The file of each tensor.
    weight_map: BTreeMap<String, String>,
}

/// The files with the weights of a folder; none if it has none in this format.
pub fn find_weights(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let is_there = |(single, index): &&(&str, &str)| {
        folder.join(single).is_file() || folder.join(index).is_file()
    };
    let Some((single, index)) = WEIGHTS.iter().find(is_there) else { return Ok(None) };
    let single = folder.join(single);
    if single.is_file() {
        return Ok(Some(vec![single]));
    }
    let index_path = folder.join(index);
    let index: ShardIndex = json::open(&index_path)?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    if let Some(name) =
        names.iter().find(|name| Path::new(name).file_name().is_none_or(|n| n != name.as_str()))
    {
        return Err(Error::damaged(
            &index_path,
            "weight_map",
            format!("{name:?} is not a name of a file"),
        ));
    }
    if names.is_empty() {
        return Err(Error::damaged(&index_path, "weight_map", "it names no files"));
    }
    Ok(Some(names.iter().map(|name| folder.join(name)).collect()))
}

/// The model of a folder of `transformers`, with the files of its weights and its configuration.
pub fn find(folder: &Path, weights: &[PathBuf], config: &Path) -> Result<FoundModel> {
    let config: Value = json::open(config)?;
    let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let generation = file("generation_config.json").map(|path| json::open(&path)).transpose()?;
    let mut shards = weights.iter().map(|path| Checkpoint::open(path, LoadMethod::Lazy));
    let mut checkpoint = shards
        .next()
        .unwrap_or_else(|| Err(Error::unsupported(folder, "a folder without weights")))?;
    for shard in shards {
        checkpoint.join(shard?)?;
    }
    let model = architecture::resolve_hugging_face(checkpoint, &config, generation.as_ref())?;
    let mut found = FoundModel {
        format: "Hugging Face folder".into(),
        semantics: DecodingSemantics::CTranslate2,
        files: weights.to_vec(),
        ..FoundModel::default()
    };
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or("marian");
    if kind == "marian" {
        found.vocabularies = file("vocab.json").map(|source| {
            let target = file("target_vocab.json").unwrap_or_else(|| source.clone());
            [source, target]
        });
        for (side, name) in found.segmentation.iter_mut().zip(["source.spm", "target.spm"]) {
            if let Some(path) = file(name) {
                *side = Segmentation::SentencePiece(SentencePieceModel::open(&path)?);
            }
        }
    } else {
        let rows = model.architecture().embeddings().source_vocab_size;
        found.opened = tokenizer::open(folder, kind, rows)?;
    }
    let forced = generation_option(&config, generation.as_ref(), "forced_bos_token_id");
    let rows = model.architecture().embeddings().target_vocab_size;
    found.target_prefix = match forced.map(Value::as_u64) {
        None => Vec::new(),
        Some(Some(id)) if id < rows as u64 => vec![id as u32],
        Some(id) => {
            let reason = format!("the token {id:?} is none of {rows}");
            return Err(Error::mismatch(folder, "forced_bos_token_id", reason));
        }
    };
    found.settings = generation::settings(folder, &config, generation.as_ref(), kind)?;
    found.models = vec![model];
    Ok(found)
}
