//! Folders of Hugging Face's `transformers`.

use std::path::Path;

use miriam_storage::LoadMethod;

use super::found::FoundModel;
use crate::architecture;
use crate::checkpoint::Checkpoint;
use crate::search::DecodingSemantics;
use crate::segmentation::{Segmentation, SentencePieceModel};
use crate::{Result, json};

/// The model of a folder of `transformers`, with its weights and its configuration.
pub fn find(folder: &Path, weights: &Path, config: &Path) -> Result<FoundModel> {
    let config = json::open(config)?;
    let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let generation = file("generation_config.json").map(|path| json::open(&path)).transpose()?;
    let checkpoint = Checkpoint::open(weights, LoadMethod::Lazy)?;
    let model = architecture::resolve_hugging_face(checkpoint, &config, generation.as_ref())?;
    let vocabularies = file("vocab.json").map(|source| {
        let target = file("target_vocab.json").unwrap_or_else(|| source.clone());
        [source, target]
    });
    let mut segmentation = [Segmentation::Presegmented, Segmentation::Presegmented];
    for (side, name) in segmentation.iter_mut().zip(["source.spm", "target.spm"]) {
        if let Some(path) = file(name) {
            *side = Segmentation::SentencePiece(SentencePieceModel::open(&path)?);
        }
    }
    Ok(FoundModel {
        format: "Hugging Face folder".into(),
        semantics: DecodingSemantics::CTranslate2,
        files: vec![weights.to_owned()],
        models: vec![model],
        vocabularies,
        segmentation,
        ..FoundModel::default()
    })
}
