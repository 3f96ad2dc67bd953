//! Checkpoints and configurations of Marian, Nematus and Amun, alone or in a folder.

use std::path::{Path, PathBuf};

use super::browser::{self, BrowserFiles};
use super::files::Files;
use super::found_model::FoundModel;
use super::{argos, ctranslate2, hugging_face, opus_mt};
use crate::architecture::{self, Model};
use crate::checkpoint::{Checkpoint, CheckpointFormat};
use crate::decoder_config::DecoderConfig;
use crate::search::DecodingSemantics;
use crate::segmentation::{BpeCodesFile, Segmentation};
use crate::shortlist::ShortlistOptions;
use crate::yaml::Value;
use crate::{Error, Result, compressed};

/// A single checkpoint of Marian, Nematus or Amun.
pub fn find_single_file(path: &Path) -> Result<FoundModel> {
    let Opened { model, format, is_for_browsers } = open_marian(path, &Files::default())?;
    let mut found = FoundModel {
        format: format.to_string(),
        files: vec![path.to_owned()],
        models: vec![model],
        is_for_browsers,
        ..FoundModel::default()
    };
    if is_for_browsers {
        let BrowserFiles { vocabularies, shortlist } = browser::find_beside(path)?;
        found.vocabularies = vocabularies;
        found.shortlist = shortlist.map(|path| (path, ShortlistOptions::default()));
    }
    Ok(found)
}

/// A model of Marian's family.
struct Opened {
    model: Model,
    format: CheckpointFormat,
    is_for_browsers: bool,
}

fn open_marian(path: &Path, files: &Files) -> Result<Opened> {
    let checkpoint = Checkpoint::from_bytes(&files.open(path)?, path)?;
    let (format, is_for_browsers) = (checkpoint.format(), checkpoint.is_for_browsers());
    // While training, Marian writes the options to a file next to the checkpoint.
    let options_path = PathBuf::from(format!("{}.yml", path.display()));
    let options = if checkpoint.options().is_none() && files.is_file(&options_path) {
        Some(Value::parse(&files.open(&options_path)?, &options_path.display().to_string())?)
    } else {
        None
    };
    let model = architecture::resolve_marian(checkpoint, options.as_ref())?;
    Ok(Opened { model, format, is_for_browsers })
}

/// The models that a decoder's configuration names.
pub fn find_from_config(
    path: &Path,
    mut settings: DecoderConfig,
    files: Files,
) -> Result<FoundModel> {
    // Caches of browsers keep files as they were loaded, which is compressed.
    let named = settings.models.iter_mut().chain(&mut settings.vocabularies);
    for path in named.chain(settings.shortlist.as_mut().map(|(path, _)| path)) {
        *path = files.find(std::mem::take(path));
    }
    if settings.models.is_empty() {
        let reason =
            "no models are named (models: or scorers:); is this a decoder's configuration?";
        return Err(Error::unsupported(path, reason));
    }
    let mut is_for_browsers = false;
    let models = settings.models.iter().map(|model| {
        let opened = open_marian(model, &files)?;
        is_for_browsers |= opened.is_for_browsers;
        Ok(opened.model)
    });
    let models = models.collect::<Result<Vec<_>>>()?;
    if !settings.weights.is_empty() && settings.weights.len() != models.len() {
        let reason = format!("{} weights for {} models", settings.weights.len(), models.len());
        return Err(Error::mismatch(path, "weights", reason));
    }
    let vocabularies = match &settings.vocabularies[..] {
        [] => None,
        [both] => Some([both.clone(), both.clone()]),
        [source, target] => Some([source.clone(), target.clone()]),
        more => {
            let reason =
                format!("{} vocabularies; one source and one target are covered", more.len());
            return Err(Error::unsupported(path, reason));
        }
    };
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

/// The model of a folder of any kind.
pub fn find_in_folder(folder: &Path) -> Result<FoundModel> {
    let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    if argos::is_package(folder) {
        return argos::find_in_folder(folder);
    }
    if let Some(config) = file("config.json")
        && let Some(weights) = hugging_face::find_weights(folder)?
    {
        return hugging_face::find(folder, &weights, &config);
    }
    if let Some(model) = file("model.bin") {
        return ctranslate2::find(folder, &model, Files::default());
    }
    let mut names = Vec::new();
    let entries =
        std::fs::read_dir(folder).map_err(|e| miriam_storage::Error::io(folder, "list", e))?;
    for entry in entries {
        let entry = entry.map_err(|e| miriam_storage::Error::io(folder, "list", e))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let with_suffix = |suffix: &str| -> Vec<&String> {
        names.iter().filter(|name| name.ends_with(suffix)).collect()
    };
    let only = |names: &[&String]| match names {
        [one] => Some(folder.join(one)),
        _ => None,
    };
    let of_browsers = || {
        let all: Vec<&String> =
            names.iter().filter(|n| n.starts_with("config.") && n.ends_with(".yml")).collect();
        file("config.intgemm8bitalpha.yml").or_else(|| only(&all))
    };
    let configuration = file("decoder.yml")
        .or_else(|| file("config.yml"))
        .or_else(|| only(&with_suffix(".decoder.yml")))
        .or_else(of_browsers);
    let mut found =
        match configuration {
            Some(path) => {
                let mut settings = DecoderConfig::open(&path)?;
                let files = Files::default();
                if opus_mt::is_package(folder, &files) {
                    opus_mt::resolve_in_folder(&mut settings, folder, &files);
                }
                find_from_config(&path, settings, files)?
            }
            None => {
                let models = models_among(&names);
                let [model] = &models[..] else {
                    let reason = match &models[..] {
                    [] => "a folder with no model (.npz, .bin, or config.json with .safetensors or \
                           pytorch_model.bin) and no decoder.yml"
                        .into(),
                    _ => format!(
                        "a folder with {} models and no decoder.yml; name one of them: {}",
                        models.len(),
                        models.join(", ")
                    ),
                };
                    return Err(Error::unsupported(folder, reason));
                };
                let mut found = find_single_file(&folder.join(model))?;
                if found.vocabularies.is_none() {
                    found.vocabularies = match with_suffix("vocab.yml")[..] {
                        [one] => Some([folder.join(one), folder.join(one)]),
                        _ => {
                            let names = ["vocab.spm", "vocab.model"];
                            let both = names.into_iter().find_map(file);
                            both.map(|both| [both.clone(), both])
                        }
                    };
                }
                found
            }
        };
    opus_mt::find_segmentation(folder, &mut found)?;
    let codes = ["codes", "bpe.codes", "codes.bpe"].into_iter().find_map(file);
    if let ([Segmentation::Presegmented, Segmentation::Presegmented], Some(path)) =
        (&found.segmentation, codes)
    {
        found.segmentation[0] = Segmentation::Bpe(BpeCodesFile::open(&path)?);
    }
    // Codes of the source side alone are joint codes.
    if let [Segmentation::Bpe(codes), target @ Segmentation::Presegmented] = &mut found.segmentation
    {
        *target = Segmentation::Bpe(codes.clone());
    }
    Ok(found)
}

/// The names of models among the files of a folder; a compressed file only if it is not there
/// plain too.
fn models_among(names: &[String]) -> Vec<&str> {
    let is_model = |name: &str| {
        let plain = compressed::plain_path(Path::new(name)).display().to_string();
        [".npz", ".bin"].iter().any(|suffix| plain.ends_with(suffix))
            && !plain.ends_with(".optimizer.npz")
            && !plain.starts_with("lex")
    };
    let models = names.iter().map(String::as_str).filter(|name| is_model(name));
    compressed::without_doubles(models)
}
