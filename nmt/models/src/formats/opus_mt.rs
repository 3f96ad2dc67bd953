//! Packages of OPUS-MT: the zip archive that people download, or its folder unpacked, with a
//! decoder's configuration, Marian's checkpoint and vocabularies, and the SentencePiece models or
//! the BPE codes of both sides.
//!
//! Marian's vocabularies differ from those of the SentencePiece models: `source.spm` splits text,
//! and its pieces are looked up in Marian's vocabulary. The first models have BPE codes for words
//! of Moses' tokeniser; `preprocess.sh` shows this, and the links of the README show the languages.

use std::path::Path;

use super::files::{self, Files};
use super::found_model::FoundModel;
use super::{argos, marian};
use crate::decoder_config::DecoderConfig;
use crate::segmentation::{BpeCodesFile, Segmentation, SentencePieceModel, WordRules};
use crate::{Error, Result};

const CONFIGURATION: &str = "decoder.yml";
const PREPARATION: &str = "preprocess.sh";
const README: &str = "README.md";
/// The command of [`PREPARATION`] by which text is divided into words.
const TOKENIZER: &[u8] = b"tokenizer.perl";
/// The beginning of a model's address in a README; its languages follow.
const ADDRESS: &str = "OPUS-MT-models/";
/// The language of the word rules if none is known.
const DEFAULT_LANGUAGE: &str = "en";

/// Whether `path` is an archive, by its name.
pub fn is_archive(path: &Path) -> bool {
    files::has_extension(path, "zip")
}

/// Whether `folder` is an unpacked package.
pub fn is_package(folder: &Path, files: &Files) -> bool {
    [PREPARATION, "source.spm", "source.bpe"].iter().any(|name| files.is_file(&folder.join(name)))
}

/// Finds the model of the archive at `path`, even if it is a package of Argos Translate named
/// `.zip`.
pub fn find_in_archive(path: &Path) -> Result<FoundModel> {
    let files = Files::in_archive(path, &|name| !name.ends_with(".log"))?;
    let configuration = {
        let mut all: Vec<&Path> =
            files.in_memory_paths().filter(|file| file.ends_with(CONFIGURATION)).collect();
        all.sort_by_key(|file| file.components().count());
        all.first().map(|file| file.to_path_buf())
    };
    let Some(configuration) = configuration else {
        if files.in_memory_paths().any(|file| file.ends_with("metadata.json")) {
            return argos::find_in_archive(path);
        }
        let reason = "a zip archive without decoder.yml (OPUS-MT) or metadata.json (Argos \
                      Translate); unpack it and name the model in it";
        return Err(Error::unsupported(path, reason));
    };
    let folder = configuration.parent().unwrap_or(path).to_owned();
    let mut settings = DecoderConfig::parse(&files.open(&configuration)?, &configuration)?;
    resolve_in_folder(&mut settings, &folder, &files);
    let mut found = marian::find_from_config(&configuration, settings, files)?;
    find_segmentation(&folder, &mut found)?;
    found.format = "OPUS-MT archive".into();
    found.files = vec![path.to_owned()];
    Ok(found)
}

/// Replaces the paths of a configuration, which may be paths of the training machine, by files of
/// the same names in `folder`, if these exist.
pub fn resolve_in_folder(settings: &mut DecoderConfig, folder: &Path, files: &Files) {
    for path in settings.models.iter_mut().chain(&mut settings.vocabularies) {
        let inside = path.file_name().map(|name| folder.join(name));
        if let Some(inside) = inside.filter(|inside| files.is_file(inside)) {
            *path = inside;
        }
    }
}

/// Finds the segmentation of text in the files of the package's `folder`.
pub fn find_segmentation(folder: &Path, found: &mut FoundModel) -> Result<()> {
    let files = &found.contents;
    let rules = word_rules(folder, files)?;
    let mut segmentation = found.segmentation.clone();
    let mut is_package = false;
    for (side, name) in ["source", "target"].into_iter().enumerate() {
        let [pieces, codes] = ["spm", "bpe"].map(|kind| folder.join(format!("{name}.{kind}")));
        segmentation[side] = if files.is_file(&pieces) {
            let name = pieces.display().to_string();
            let model = SentencePieceModel::from_bytes(files.open(&pieces)?, name)?;
            Segmentation::SentencePiece(model)
        } else if files.is_file(&codes) {
            let name = codes.display().to_string();
            let codes = BpeCodesFile::from_bytes(files.open(&codes)?, &name)?;
            Segmentation::Bpe(codes.with_words(rules[side].clone()))
        } else {
            continue;
        };
        is_package = true;
    }
    // If only the source side has codes, they are joint codes of both sides.
    if let [Segmentation::Bpe(codes), target @ Segmentation::Presegmented] = &mut segmentation
        && is_package
    {
        *target = Segmentation::Bpe(codes.clone().with_words(rules[1].clone()));
    }
    found.segmentation = segmentation;
    if is_package {
        found.format = "OPUS-MT folder".into();
    }
    Ok(())
}

/// Returns the rules of words of both sides, if text is divided into words by Moses' tokeniser.
fn word_rules(folder: &Path, files: &Files) -> Result<[Option<WordRules>; 2]> {
    let preparation = folder.join(PREPARATION);
    if !files.is_file(&preparation)
        || !files.open(&preparation)?.windows(TOKENIZER.len()).any(|part| part == TOKENIZER)
    {
        return Ok([None, None]);
    }
    let readme = folder.join(README);
    let readme = if files.is_file(&readme) {
        String::from_utf8_lossy(&files.open(&readme)?).into_owned()
    } else {
        String::new()
    };
    let address = readme.find(ADDRESS).map(|at| &readme[at + ADDRESS.len()..]);
    let pair = address.and_then(|rest| rest.split('/').next()).or_else(|| {
        let name = folder.file_name()?.to_str()?;
        Some(name.strip_prefix("opus-mt-").unwrap_or(name))
    });
    let languages = pair.and_then(language_pair).unwrap_or([DEFAULT_LANGUAGE; 2]);
    Ok(languages.map(|name| Some(WordRules { language: name.to_owned(), is_opus_mt: true })))
}

/// Returns source and target of a name such as `de-en`. If a side has several languages
/// (`de+fr-en`), the first is taken.
fn language_pair(name: &str) -> Option<[&str; 2]> {
    let (source, target) = name.split_once('-')?;
    let pair = [source, target].map(|side| side.split(['+', '_', '&']).next().unwrap_or(side));
    pair.iter()
        .all(|code| {
            (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase())
        })
        .then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_read_from_names() {
        assert_eq!(language_pair("de-en"), Some(["de", "en"]));
        assert_eq!(language_pair("de+nl+fy-fr_FR"), Some(["de", "fr"]));
        for none in ["2020-02-26", "opus", "de-", "Model-x"] {
            assert_eq!(language_pair(none), None, "{none}");
        }
    }
}
