//! A model with its vocabularies, segmentation, shortlist and configuration, found from one
//! path: a model file of this program, a single Marian checkpoint, a decoder configuration,
//! or a folder of OPUS-MT, CTranslate2 or Hugging Face.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_storage::{Bytes, Container, LoadMethod};
use serde::Deserialize;

use crate::architecture::{self, CTranslate2Settings, Dialect, Model};
use crate::checkpoint::{Checkpoint, Format};
use crate::decoder_config::DecoderConfig;
use crate::search::DecodingSemantics;
use crate::segmentation::{BpeCodesFile, Segmentation, SentencePieceModel};
use crate::shortlist::{Shortlist, VocabularyMap};
use crate::vocabulary::Vocabulary;
use crate::yaml::Value;
use crate::{Error, Result, json, model_file};

/// Where the candidate target tokens of a sentence come from.
pub enum ShortlistGenerator {
    /// A lexical shortlist as Marian uses it.
    Shortlist(Shortlist),
    /// CTranslate2's vocabulary map of source n-grams.
    VocabularyMap(VocabularyMap),
}

/// Vocabularies and segmentation of both sides; source first.
#[derive(Clone)]
pub struct TokenizerPair {
    /// The vocabularies, each as large as the model's embedding table; the same one twice
    /// where both sides share it.
    pub vocabularies: [Arc<Vocabulary>; 2],
    /// How text of each side is segmented into tokens.
    pub segmentation: [Segmentation; 2],
}

/// One model, or the models of an ensemble, with everything that decoding needs.
///
/// ```
/// use std::path::Path;
/// use miriam_nmt::ModelBundle;
///
/// # fn main() -> Result<(), miriam_nmt::Error> {
/// // A folder is searched for the vocabularies; for a single file they can be named.
/// let converted = ModelBundle::open(Path::new("testdata/tiny-ct2"), None)?;
/// let vocabulary = Path::new("testdata/tiny.vocab.yml");
/// let original =
///     ModelBundle::open(Path::new("testdata/tiny.npz"), Some([vocabulary, vocabulary]))?;
/// assert_eq!(original.format, "NumPy archive");
/// let sizes = [original, converted].map(|bundle| {
///     let embeddings = bundle.models[0].architecture().embeddings();
///     (embeddings.target_vocab_size, bundle.tokenizers.map(|pair| pair.vocabularies[1].len()))
/// });
/// assert_eq!(sizes, [(24, Some(24)); 2]);
/// # Ok(())
/// # }
/// ```
pub struct ModelBundle {
    /// The path that was opened.
    pub path: PathBuf,
    /// A description of the format, for reports.
    pub format: String,
    /// The program whose rules of decoding the model was made for.
    pub semantics: DecodingSemantics,
    /// The files with the models' weights.
    pub files: Vec<PathBuf>,
    /// The models; several form an ensemble.
    pub models: Vec<Model>,
    /// Vocabularies and segmentation; none if no vocabularies were found.
    pub tokenizers: Option<TokenizerPair>,
    /// The shortlist or vocabulary map, if there is one.
    pub shortlist_generator: Option<ShortlistGenerator>,
    /// Settings of the decoder configuration; the default ones where there is none.
    pub settings: DecoderConfig,
}

impl ModelBundle {
    /// Opens the model at `path`. `vocabularies` (source and target) replace those that
    /// would be found there.
    ///
    /// # Errors
    /// If no model is found at `path`, a file of it cannot be read or is damaged, its
    /// architecture is not supported, or its parts do not fit together.
    pub fn open(path: &Path, vocabularies: Option<[&Path; 2]>) -> Result<Self> {
        if Container::is_container(path) {
            return model_file::open(path);
        }
        let mut found = if path.is_dir() {
            find_in_folder(path)?
        } else if is_config(path) {
            find_from_config(path, DecoderConfig::open(path)?)?
        } else {
            find_single_file(path)?
        };
        if let Some(paths) = vocabularies {
            found.vocabularies = Some(paths.map(Path::to_owned));
        }
        found.into_bundle(path)
    }
}

impl ModelBundle {
    /// Replaces the segmentation by byte pair encoding with the codes of these files, of
    /// source and target.
    ///
    /// # Errors
    /// If the bundle has no vocabularies, or a file has no BPE codes.
    pub fn set_bpe_codes(&mut self, paths: [&Path; 2]) -> Result<()> {
        let Some(tokenizers) = &mut self.tokenizers else {
            let reason = "codes cut text into words of vocabularies; name them with --vocabs";
            return Err(Error::unsupported(&self.path, reason));
        };
        for (segmentation, path) in tokenizers.segmentation.iter_mut().zip(paths) {
            *segmentation = Segmentation::Bpe(BpeCodesFile::open(path)?);
        }
        Ok(())
    }

    /// Opens several models as an ensemble. Shortlist, segmentation and settings are those of
    /// the first one.
    ///
    /// # Errors
    /// Those of [`ModelBundle::open`], and if `paths` is empty or the vocabularies differ.
    pub fn open_ensemble(paths: &[PathBuf], vocabularies: Option<[&Path; 2]>) -> Result<Self> {
        let [first, others @ ..] = paths else {
            return Err(Error::unsupported(Path::new(""), "no model is named"));
        };
        let mut bundle = Self::open(first, vocabularies)?;
        for path in others {
            let other = Self::open(path, vocabularies)?;
            bundle.join_ensemble(other)?;
        }
        Ok(bundle)
    }

    fn join_ensemble(&mut self, other: ModelBundle) -> Result<()> {
        let rows = |bundle: &ModelBundle| {
            let tables = bundle.models.iter().map(|model| model.architecture().embeddings());
            tables.map(|tables| [tables.source_vocab_size, tables.target_vocab_size]).next()
        };
        let same_words = match (&self.tokenizers, &other.tokenizers) {
            (Some(one), Some(other)) => {
                let mut sides = one.vocabularies.iter().zip(&other.vocabularies);
                sides.all(|(one, other)| one.has_same_words(other))
            }
            _ => true,
        };
        if rows(self) != rows(&other) || !same_words {
            let reason =
                format!("not the words of {}; such models form no ensemble", self.path.display());
            return Err(Error::mismatch(&other.path, "vocabulary", reason));
        }
        self.tokenizers = self.tokenizers.take().or(other.tokenizers);
        let weights = [&self.settings.weights, &other.settings.weights];
        if weights.iter().any(|weights| !weights.is_empty()) {
            // A model without a weight weighs 1.
            self.settings.weights.resize(self.models.len(), 1.0);
            let mut weights = other.settings.weights;
            weights.resize(other.models.len(), 1.0);
            self.settings.weights.extend(weights);
        }
        // File names identify the models only where each model has its own file.
        if self.files.len() == self.models.len() && other.files.len() == other.models.len() {
            self.files.extend(other.files);
        }
        self.models.extend(other.models);
        Ok(())
    }

    /// Checks the checksums that the models' formats have against the whole files, which
    /// opening does not.
    ///
    /// # Errors
    /// If a file cannot be read or its content does not match a checksum.
    pub fn verify_files(&self) -> Result<()> {
        self.files
            .iter()
            .try_for_each(|path| Checkpoint::verify(&Bytes::open(path, LoadMethod::Lazy)?, path))
    }

    /// Makes every model compute as the given version of Marian does, whichever version wrote it.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        for model in &mut self.models {
            let mut architecture = model.architecture().clone();
            architecture.set_dialect(dialect);
            model.set_architecture(architecture);
        }
    }
}

/// The models and paths that were found, before vocabularies are read.
#[derive(Default)]
struct FoundModel {
    format: String,
    semantics: DecodingSemantics,
    files: Vec<PathBuf>,
    models: Vec<Model>,
    vocabularies: Option<[PathBuf; 2]>,
    segmentation: [Segmentation; 2],
    vocabulary_map: Option<PathBuf>,
    settings: DecoderConfig,
}

impl FoundModel {
    fn into_bundle(self, path: &Path) -> Result<ModelBundle> {
        let tokenizers = match &self.vocabularies {
            Some(paths) => Some(self.open_tokenizers(paths)?),
            None => None,
        };
        let shortlist_generator = match &tokenizers {
            Some(TokenizerPair { vocabularies: [source, target], .. }) => {
                if let Some((list, options)) = &self.settings.shortlist {
                    let list = Shortlist::open(list, *options, source, target)?;
                    Some(ShortlistGenerator::Shortlist(list))
                } else if let Some(map) = &self.vocabulary_map {
                    let map = VocabularyMap::open(map, source, target)?;
                    Some(ShortlistGenerator::VocabularyMap(map))
                } else {
                    None
                }
            }
            None => None,
        };
        Ok(ModelBundle {
            path: path.to_owned(),
            format: self.format,
            semantics: self.semantics,
            files: self.files,
            models: self.models,
            tokenizers,
            shortlist_generator,
            settings: self.settings,
        })
    }

    /// Opens the vocabularies and truncates them to the embedding tables of the models.
    fn open_tokenizers(&self, paths: &[PathBuf; 2]) -> Result<TokenizerPair> {
        let read = |side: usize| -> Result<(Vocabulary, Segmentation)> {
            let path = &paths[side];
            if !is_sentencepiece_model(path) {
                return Ok((Vocabulary::open(path)?, self.segmentation[side].clone()));
            }
            let model = SentencePieceModel::open(path)?;
            let vocabulary = Vocabulary::from_sentencepiece(&model.model, path)?;
            Ok((vocabulary, Segmentation::SentencePiece(model)))
        };
        let rows = |side: usize| {
            let tables = self.models.iter().map(|model| model.architecture().embeddings());
            let mut rows = tables.map(|t| [t.source_vocab_size, t.target_vocab_size][side]);
            let first = rows.next().unwrap_or(0);
            match rows.find(|&other| other != first) {
                None => Ok(first),
                Some(other) => {
                    let reason = format!("models of {first} and of {other} words form no ensemble");
                    Err(Error::mismatch(&paths[side], "vocabulary", reason))
                }
            }
        };
        let (source, source_segmentation) = read(0)?;
        let source = Arc::new(source.truncated(rows(0)?, "source")?);
        if paths[0] == paths[1] && rows(0)? == rows(1)? {
            let target_segmentation = match &self.segmentation[1] {
                Segmentation::Presegmented => source_segmentation.clone(),
                own => own.clone(),
            };
            return Ok(TokenizerPair {
                vocabularies: [Arc::clone(&source), source],
                segmentation: [source_segmentation, target_segmentation],
            });
        }
        let (target, target_segmentation) = read(1)?;
        let target = Arc::new(target.truncated(rows(1)?, "target")?);
        Ok(TokenizerPair {
            vocabularies: [source, target],
            segmentation: [source_segmentation, target_segmentation],
        })
    }
}

/// A single checkpoint of Marian, Nematus or Amun.
fn find_single_file(path: &Path) -> Result<FoundModel> {
    let (model, format) = open_marian(path)?;
    let files = vec![path.to_owned()];
    Ok(FoundModel {
        format: format.to_string(),
        files,
        models: vec![model],
        ..FoundModel::default()
    })
}

fn open_marian(path: &Path) -> Result<(Model, Format)> {
    let checkpoint = Checkpoint::open(path, LoadMethod::Lazy)?;
    let format = checkpoint.format();
    // While training, Marian writes the options to a file next to the checkpoint.
    let options_path = PathBuf::from(format!("{}.yml", path.display()));
    let options = if checkpoint.options().is_none() && options_path.is_file() {
        Some(read_yaml(&options_path)?)
    } else {
        None
    };
    Ok((architecture::resolve_marian(checkpoint, options.as_ref())?, format))
}

fn find_from_config(path: &Path, settings: DecoderConfig) -> Result<FoundModel> {
    if settings.models.is_empty() {
        let reason =
            "no models are named (models: or scorers:); is this a decoder's configuration?";
        return Err(Error::unsupported(path, reason));
    }
    let models = settings.models.iter().map(|model| Ok(open_marian(model)?.0));
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
        vocabulary_map: None,
        settings,
    })
}

fn find_in_folder(folder: &Path) -> Result<FoundModel> {
    let file = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    if let Some(config) = file("config.json") {
        if let Some(weights) = file("model.safetensors") {
            return find_hugging_face(folder, &weights, &config);
        }
        if file("pytorch_model.bin").is_some() {
            let reason = "its weights are a pickle of PyTorch; save the model again with \
                          save_pretrained(..., safe_serialization=True)";
            return Err(Error::unsupported(folder, reason));
        }
    }
    if let Some(model) = file("model.bin") {
        return find_ctranslate2(folder, &model);
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
    let configuration = file("decoder.yml").or_else(|| file("config.yml")).or_else(|| {
        match with_suffix(".decoder.yml")[..] {
            [one] => Some(folder.join(one)),
            _ => None,
        }
    });
    let mut found = match configuration {
        Some(path) => {
            let mut settings = DecoderConfig::open(&path)?;
            if file("preprocess.sh").is_some() || file("source.spm").is_some() {
                // OPUS-MT's configurations may name files that are in this folder.
                let paths = settings.models.iter_mut().chain(&mut settings.vocabularies);
                paths.for_each(|path| *path = resolve_in_folder(folder, path));
            }
            find_from_config(&path, settings)?
        }
        None => {
            let models = [with_suffix(".npz"), with_suffix(".bin")].concat();
            let models: Vec<_> = models
                .into_iter()
                .filter(|name| !name.ends_with(".optimizer.npz") && !name.starts_with("lex"))
                .collect();
            let [model] = models[..] else {
                let reason = format!(
                    "a folder with {} models and no decoder.yml; name one of them",
                    models.len()
                );
                return Err(Error::unsupported(folder, reason));
            };
            let path = folder.join(model);
            let vocabularies = match with_suffix("vocab.yml")[..] {
                [one] => Some([folder.join(one), folder.join(one)]),
                _ => file("vocab.spm").map(|both| [both.clone(), both]),
            };
            FoundModel { vocabularies, ..find_single_file(&path)? }
        }
    };
    for (side, name) in ["source", "target"].into_iter().enumerate() {
        if let Some(path) = file(&format!("{name}.spm")) {
            found.segmentation[side] =
                Segmentation::SentencePiece(SentencePieceModel::open(&path)?);
            found.format = "OPUS-MT folder".into();
        } else if let Some(path) = file(&format!("{name}.bpe")) {
            found.segmentation[side] = Segmentation::Bpe(BpeCodesFile::open(&path)?);
            found.format = "OPUS-MT folder".into();
        }
    }
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

/// The file in `folder` with the name of `path` if there is one, else `path`.
fn resolve_in_folder(folder: &Path, path: &Path) -> PathBuf {
    let inside = path.file_name().map(|name| folder.join(name));
    match inside {
        Some(inside) if inside.is_file() => inside,
        _ => path.to_owned(),
    }
}

/// The options of CTranslate2's `config.json` that decoding needs.
#[derive(Default, Deserialize)]
struct CTranslate2Config {
    layer_norm_epsilon: Option<f32>,
    decoder_start_token: Option<String>,
}

fn find_ctranslate2(folder: &Path, model: &Path) -> Result<FoundModel> {
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

fn find_hugging_face(folder: &Path, weights: &Path, config: &Path) -> Result<FoundModel> {
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

fn read_yaml(path: &Path) -> Result<Value> {
    let text = std::fs::read(path).map_err(|e| miriam_storage::Error::io(path, "read", e))?;
    Value::parse(&text, &path.display().to_string())
}

fn is_config(path: &Path) -> bool {
    matches!(path.extension().and_then(|e| e.to_str()), Some("yml" | "yaml"))
}

fn is_sentencepiece_model(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()) == Some("spm")
}
