//! Folders with checkpoints of Marian's family: results of training, unpacked packages of OPUS-MT,
//! and models that were packed for browsers; and decoder configurations in such folders.

use std::path::Path;

use super::files::{self, Files};
use super::found_model::FoundModel;
use super::{firefox, hugging_face, marian, opus_mt};
use crate::decoder_config::DecoderConfig;
use crate::segmentation::{BpeCodesFile, Segmentation};
use crate::{Error, Result, compressed};

/// Finds the models that the decoder configuration `path` names. In a package of OPUS-MT, the
/// segmentation comes from the package.
pub fn find_from_configuration(path: &Path) -> Result<FoundModel> {
    let mut settings = DecoderConfig::open(path)?;
    let (folder, files) = (path.parent().unwrap_or(path), Files::default());
    if !opus_mt::is_package(folder, &files) {
        return marian::find_from_config(path, settings, files);
    }
    opus_mt::resolve_in_folder(&mut settings, folder, &files);
    let mut found = marian::find_from_config(path, settings, files)?;
    opus_mt::find_segmentation(folder, &mut found)?;
    Ok(found)
}

/// Finds the models that a folder's configuration names or, without a configuration, the only
/// checkpoint of the folder.
pub fn find(folder: &Path) -> Result<FoundModel> {
    let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let names = files::file_names(folder)?;
    let configuration = file("decoder.yml")
        .or_else(|| file("config.yml"))
        .or_else(|| only_with_suffix(&names, ".decoder.yml").map(|name| folder.join(name)))
        .or_else(|| firefox::find_configuration(folder, &names));
    let mut found =
        match configuration {
            Some(path) => {
                let mut settings = DecoderConfig::open(&path)?;
                let files = Files::default();
                if opus_mt::is_package(folder, &files) {
                    opus_mt::resolve_in_folder(&mut settings, folder, &files);
                }
                marian::find_from_config(&path, settings, files)?
            }
            None => {
                if let Some(reason) = hugging_face::missing_part(folder, &names) {
                    return Err(Error::unsupported(folder, reason));
                }
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
                let mut found = marian::find_single_file(&folder.join(model))?;
                if found.vocabularies.is_none() {
                    found.vocabularies = match only_with_suffix(&names, "vocab.yml") {
                        Some(name) => Some([folder.join(name), folder.join(name)]),
                        None => {
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
    // If only the source side has codes, they are joint codes of both sides.
    if let [Segmentation::Bpe(codes), target @ Segmentation::Presegmented] = &mut found.segmentation
    {
        *target = Segmentation::Bpe(codes.clone());
    }
    Ok(found)
}

/// Returns the only name that ends with `suffix`.
fn only_with_suffix<'a>(names: &'a [String], suffix: &str) -> Option<&'a String> {
    let mut matches = names.iter().filter(|name| name.ends_with(suffix));
    matches.next().filter(|_| matches.next().is_none())
}

/// Returns the names of models among the files of a folder; a compressed file only if there is no
/// plain one.
fn models_among(names: &[String]) -> Vec<&str> {
    fn is_model(name: &str) -> bool {
        let plain = compressed::plain_path(Path::new(name)).display().to_string();
        [".npz", ".bin"].iter().any(|suffix| plain.ends_with(suffix))
            && !plain.ends_with(".optimizer.npz")
            && !plain.starts_with("lex")
            // Firefox's models of translation quality are not translation models.
            && !plain.starts_with("qualityModel")
    }
    let models = names.iter().map(String::as_str).filter(|name| is_model(name));
    compressed::without_duplicates(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_quality_shortlists_and_states_of_optimisers_are_not_models() {
        let names = [
            "lex.50.50.enes.s2t.bin.gz",
            "model.enes.intgemm.alphas.bin",
            "model.enes.intgemm.alphas.bin.gz",
            "model.npz.optimizer.npz",
            "qualityModel.enes.bin.gz",
        ];
        assert_eq!(models_among(&names.map(str::to_owned)), [names[1]]);
    }
}
