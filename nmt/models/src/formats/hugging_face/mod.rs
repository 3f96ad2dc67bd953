//! Folders of Hugging Face's `transformers`: weights in one file or several shards, configurations
//! of the model and of decoding, and the files of a tokeniser.

mod architecture;
mod generation;
mod incomplete;
mod tokenizer;
mod tokenizer_json;

pub use architecture::resolve;
pub(super) use incomplete::{is_other_weight_file, missing_part, reject_weight_file};
pub use tokenizer::PIECE_FILES;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use miriam_storage::LoadMethod;
use serde::Deserialize;
use serde_json::{Map, Value};

use architecture::generation_option;

use super::found_model::{FoundModel, OpenedTokenizer};
use crate::checkpoint::Checkpoint;
use crate::decoder_config::DecodingSemantics;
use crate::segmentation::{Segmentation, SentencePieceModel};
use crate::{Error, Result, json};

/// The file of all weights, and the index of several files. Safetensors come first, because they
/// need no pickle.
const WEIGHTS: [(&str, &str); 2] = [
    ("model.safetensors", "model.safetensors.index.json"),
    ("pytorch_model.bin", "pytorch_model.bin.index.json"),
];

/// The configuration of a model.
const CONFIGURATION: &str = "config.json";

/// The index of shards.
#[derive(Deserialize)]
struct ShardIndex {
    /// The file of each tensor.
    weight_map: BTreeMap<String, String>,
}

/// Returns the paths of the weights and of their index in a folder; at least one of them exists.
fn weight_paths(folder: &Path) -> Option<[PathBuf; 2]> {
    let files = WEIGHTS.iter().map(|(single, index)| [single, index].map(|name| folder.join(name)));
    files.into_iter().find(|both| both.iter().any(|file| file.is_file()))
}

/// Whether `folder` has a model of `transformers`.
pub(super) fn is_folder(folder: &Path) -> bool {
    folder.join(CONFIGURATION).is_file() && weight_paths(folder).is_some()
}

/// Whether `file` seems to have the weights of a model in a folder, or to be the index of the files
/// with its weights.
pub(super) fn is_weight_file(file: &Path) -> bool {
    let is_name = |name: &OsStr| WEIGHTS.iter().any(|(all, index)| name == *all || name == *index);
    file.file_name().is_some_and(is_name) && file.is_file()
}

/// Finds the files with the weights of a folder.
fn find_weights(folder: &Path) -> Result<Vec<PathBuf>> {
    let Some([single, index_path]) = weight_paths(folder) else { return Ok(Vec::new()) };
    if single.is_file() {
        return Ok(vec![single]);
    }
    let index: ShardIndex = json::open(&index_path)?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    if let Some(name) =
        names.iter().find(|name| Path::new(name).file_name().is_none_or(|n| n != name.as_str()))
    {
        return Err(Error::damaged(
            &index_path,
            "weight_map",
            format!("{name:?} is not a file name"),
        ));
    }
    if names.is_empty() {
        return Err(Error::damaged(&index_path, "weight_map", "it names no files"));
    }
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// Returns the token `</s>`, which ends a translation, by the vocabulary of a folder; `None` if the
/// folder has no vocabulary or the vocabulary lacks the token.
fn end_token(found: &FoundModel) -> Result<Option<u64>> {
    if let Some(tokenizer) = &found.opened {
        return Ok(tokenizer.vocabulary.own_eos_id().map(u64::from));
    }
    let Some([_, target]) = &found.vocabularies else { return Ok(None) };
    let ids = json::open::<Map<String, Value>>(target)?;
    Ok(ids.get("</s>").and_then(Value::as_u64))
}

/// Finds the model of `folder`.
pub(super) fn find_in_folder(folder: &Path) -> Result<FoundModel> {
    let weights = find_weights(folder)?;
    let open = |path: PathBuf| json::open::<Map<String, Value>>(&path).map(Value::Object);
    let config = open(folder.join(CONFIGURATION))?;
    fn file(name: &str, folder: &Path) -> Option<PathBuf> {
        Some(folder.join(name)).filter(|path| path.is_file())
    }
    let generation = file("generation_config.json", folder).map(open).transpose()?;
    let mut shards = weights.iter().map(|path| Checkpoint::open(path, LoadMethod::Lazy));
    let mut checkpoint = shards
        .next()
        .unwrap_or_else(|| Err(Error::unsupported(folder, "a folder without weights")))?;
    for shard in shards {
        checkpoint.join(shard?)?;
    }
    let model = architecture::resolve(checkpoint, &config, generation.as_ref())?;
    let mut found = FoundModel {
        format: "Hugging Face folder".into(),
        semantics: DecodingSemantics::CTranslate2,
        files: weights.to_vec(),
        ..FoundModel::default()
    };
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or("marian");
    if kind == "marian" {
        found.vocabularies = file("vocab.json", folder).map(|source| {
            let target = file("target_vocab.json", folder).unwrap_or_else(|| source.clone());
            [source, target]
        });
        for (side, name) in found.segmentation.iter_mut().zip(["source.spm", "target.spm"]) {
            if let Some(path) = file(name, folder) {
                *side = Segmentation::SentencePiece(SentencePieceModel::open(&path)?);
            }
        }
        let embeddings = model.architecture().embeddings();
        let rows = embeddings.target_vocab_size;
        if let Some([source, target]) = &found.vocabularies
            && source == target
            && embeddings.source_vocab_size == rows
            && json::open::<Map<String, Value>>(source)?.len() < rows
        {
            let [source_segmentation, target_segmentation] = found.segmentation.clone();
            let target_segmentation = target_segmentation.or_shared(&source_segmentation);
            found.opened = Some(OpenedTokenizer {
                vocabulary: tokenizer::open_marian_vocabulary(folder, source, rows)?,
                segmentation: [source_segmentation, target_segmentation],
            });
            found.vocabularies = None;
        }
    } else {
        let rows = model.architecture().embeddings().source_vocab_size;
        found.opened = tokenizer::open(folder, kind, rows)?;
    }
    let forced = generation_option(&config, generation.as_ref(), "forced_bos_token_id");
    let rows = model.architecture().embeddings().target_vocab_size;
    found.target_prefix = match forced.map(|value| (value, value.as_u64())) {
        None => Vec::new(),
        Some((_, Some(id))) if id < rows as u64 => vec![id as u32],
        Some((value, _)) => {
            let reason = format!("the token {value} is not a number below {rows}");
            return Err(Error::mismatch(folder, "forced_bos_token_id", reason));
        }
    };
    let end = end_token(&found)?;
    found.settings = generation::settings(folder, &config, generation.as_ref(), kind, end)?;
    found.models = vec![model];
    Ok(found)
}
