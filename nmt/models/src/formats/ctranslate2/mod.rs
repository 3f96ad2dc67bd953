//! Folders of CTranslate2's converters, of all versions.

mod architecture;

use std::path::Path;

use miriam_storage::Bytes;
use serde::Deserialize;

use crate::checkpoint::{Checkpoint, CheckpointFormat};
use crate::decoder_config::DecodingSemantics;
use crate::formats::files::Files;
use crate::formats::found_model::FoundModel;
use crate::formats::hugging_face::PIECE_FILES;
use crate::segmentation::{Segmentation, SentencePieceModel};
use crate::vocabulary::SpecialTokens;
use crate::{Error, Result};

pub use architecture::resolve;

/// The name of the file with the weights.
const WEIGHTS: &str = "model.bin";

/// Whether `folder` has a model of CTranslate2.
pub(super) fn is_folder(folder: &Path) -> bool {
    folder.join(WEIGHTS).is_file()
}

/// Whether `file` has the weights of a model in a folder. Marian's files may have the same name.
pub(super) fn is_weight_file(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == WEIGHTS)
        && file.is_file()
        && !Checkpoint::is_found_at(file)
}

/// Finds the model of `folder`.
pub(super) fn find_in_folder(folder: &Path) -> Result<FoundModel> {
    find(folder, &folder.join(WEIGHTS), Files::default())
}

/// Finds the model of a folder whose files are in memory, each with its name. `name` names the
/// folder in messages.
pub(super) fn find_in_memory(
    name: &Path,
    files: impl IntoIterator<Item = (String, Bytes)>,
) -> Result<FoundModel> {
    let files = Files::in_memory(name, files);
    let model = name.join(WEIGHTS);
    if !files.in_memory_paths().any(|path| path == model) {
        return Err(Error::unsupported(&model, "it is not among the files"));
    }
    if files.in_memory_paths().any(|path| path.ends_with("vmap.txt")) {
        let reason = "a vocabulary map can only be read from a folder on disk; leave out vmap.txt";
        return Err(Error::unsupported(name, reason));
    }
    find(name, &model, files)
}

/// The options of CTranslate2's `config.json` that decoding needs.
#[derive(Default, Deserialize)]
struct CTranslate2Config {
    layer_norm_epsilon: Option<f32>,
    #[serde(default, deserialize_with = "given_or_null")]
    decoder_start_token: Option<Option<String>>,
    unk_token: Option<String>,
    bos_token: Option<String>,
    eos_token: Option<String>,
    add_source_bos: Option<bool>,
    add_source_eos: Option<bool>,
    quantization_type: Option<serde_json::Value>,
}

/// Distinguishes `null` from a missing key.
fn given_or_null<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// The first version of `model.bin` whose special tokens are in `config.json`.
const FIRST_WITH_CONFIG: u32 = 6;

impl CTranslate2Config {
    /// Sets the special tokens from the variables of a model of an older version, whatever
    /// `config.json` says, as CTranslate2 does.
    fn take_special_tokens(&mut self, checkpoint: &mut Checkpoint) {
        let mut text = |name: &str| {
            let bytes = checkpoint.take(name)?.values().into_iter().map(|byte| byte as i8 as u8);
            Some(String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned())
        };
        self.unk_token = text("unk_token");
        self.bos_token = text("bos_token");
        self.eos_token = text("eos_token");
        let mut flag = |name: &str, default: bool| {
            let values = checkpoint.take(name).map(|flag| flag.values());
            values.map_or(default, |values| values.iter().any(|value| *value != 0.0))
        };
        self.add_source_bos = Some(flag("with_source_bos", false));
        self.add_source_eos = Some(flag("with_source_eos", false));
        let has_bos = flag("with_target_bos", true);
        self.decoder_start_token = if flag("user_decoder_start_tokens", false) {
            Some(None)
        } else if has_bos {
            None
        } else {
            Some(Some(self.eos_token.clone().unwrap_or_else(|| "</s>".into())))
        };
    }
}

/// Finds the model of a CTranslate2 folder; its weights are in the file `model`.
pub(super) fn find(folder: &Path, model: &Path, files: Files) -> Result<FoundModel> {
    let vocabulary = |side: &str| {
        let paths = ["json", "txt"]
            .map(|extension| files.find(folder.join(format!("{side}_vocabulary.{extension}"))));
        paths.into_iter().find(|path| files.is_file(path))
    };
    let vocabularies = match (vocabulary("shared"), vocabulary("source"), vocabulary("target")) {
        (Some(both), ..) => Some([both.clone(), both]),
        (None, Some(source), Some(target)) => Some([source, target]),
        (None, None, _) if vocabulary("source_1").is_some() => {
            let reason = "its source words have several features (source_1_vocabulary); only one is \
                          supported";
            return Err(Error::unsupported(folder, reason));
        }
        _ => None,
    };
    let config_path = folder.join("config.json");
    let mut config: CTranslate2Config = if files.is_file(&config_path) {
        files.read_json(&config_path)?
    } else {
        Default::default()
    };
    if config.quantization_type.is_some() {
        let reason = "its weights are quantised by AWQ, which is not supported; convert the model \
                      again with --quantization int8 or float16";
        return Err(Error::unsupported(&config_path, reason));
    }
    let mut checkpoint = Checkpoint::from_bytes(&files.open(model)?, model)?;
    let format = checkpoint.format().to_string();
    if matches!(
        checkpoint.format(),
        CheckpointFormat::CTranslate2 { version: ..FIRST_WITH_CONFIG, .. }
    ) {
        config.take_special_tokens(&mut checkpoint);
    }
    let bos = config.bos_token.unwrap_or_else(|| "<s>".into());
    let eos = config.eos_token.unwrap_or_else(|| "</s>".into());
    let mut special_tokens = SpecialTokens {
        source_bos: config.add_source_bos.unwrap_or(false).then(|| bos.clone()),
        has_source_eos: config.add_source_eos.unwrap_or(false),
        texts_have_source_eos: false,
        unk: config.unk_token.unwrap_or_else(|| "<unk>".into()),
        eos,
        bos: bos.clone(),
    };
    let start_token = config.decoder_start_token.unwrap_or(Some(bos));
    let starts_from_zero = checkpoint
        .get("decoder/start_from_zero_embedding")
        .is_some_and(|flag| flag.values().iter().any(|x| *x != 0.0));
    if start_token.is_none() && !starts_from_zero {
        let reason = "decoding starts with a token that the user gives (decoder_start_token is \
                      null), which is not supported; set it in config.json, for example to the \
                      language of the translation";
        return Err(Error::unsupported(folder, reason));
    }
    let model_files = vec![model.to_owned()];
    let model = resolve(checkpoint, config.layer_norm_epsilon)?;
    let CopiedPieces { segmentation, needs_eos } = open_copied_pieces(folder, &files)?;
    special_tokens.texts_have_source_eos = needs_eos;
    let map = folder.join("vmap.txt");
    let has_map = files.is_file(&map);
    Ok(FoundModel {
        format,
        semantics: DecodingSemantics::CTranslate2,
        files: model_files,
        models: vec![model],
        vocabularies,
        contents: files,
        segmentation,
        special_tokens: Some(special_tokens),
        vocabulary_map: has_map.then_some(map),
        start_token: start_token.filter(|_| !starts_from_zero),
        ..FoundModel::default()
    })
}

/// The SentencePiece models that a converter copied into a folder, which it does on request.
struct CopiedPieces {
    segmentation: [Segmentation; 2],
    /// Whether the tokeniser added EOS to sources, which the folder itself does not say.
    needs_eos: bool,
}

/// Opens the SentencePiece models of `folder`, if there are any. Their names tell where the model
/// comes from.
fn open_copied_pieces(folder: &Path, files: &Files) -> Result<CopiedPieces> {
    const MARIAN_FILES: [&str; 2] = ["source.spm", "target.spm"];
    const WITH_EOS: [&str; 2] = ["sentencepiece.bpe.model", "spiece.model"];
    let (names, needs_eos) = match PIECE_FILES.iter().find(|name| files.is_file(&folder.join(name)))
    {
        _ if MARIAN_FILES.iter().all(|name| files.is_file(&folder.join(name))) => {
            (MARIAN_FILES, true)
        }
        Some(name) => ([*name; 2], WITH_EOS.contains(name)),
        None => return Ok(CopiedPieces { segmentation: Default::default(), needs_eos: false }),
    };
    let open = |name: &str| {
        let path = folder.join(name);
        SentencePieceModel::from_bytes(files.open(&path)?, path.display().to_string())
    };
    let source = open(names[0])?;
    let target = if names[0] == names[1] { source.clone() } else { open(names[1])? };
    let segmentation = [source, target].map(Segmentation::SentencePiece);
    Ok(CopiedPieces { segmentation, needs_eos })
}
