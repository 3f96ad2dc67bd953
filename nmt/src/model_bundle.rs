//! A model with what belongs to it, found wherever people keep it: a file of ours, a
//! single file of Marian's kind, a decoder's configuration, a folder of OPUS-MT,
//! CTranslate2 or Hugging Face.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_storage::{Bytes, Container, LoadMethod};

use crate::architecture::{self, CTranslate2Settings, Dialect, Model};
use crate::checkpoint::{Checkpoint, Format};
use crate::decoder_config::DecoderConfig;
use crate::segmentation::{BpeCodesFile, Segmentation, SentencePieceModel};
use crate::shortlist::{Shortlist, VocabularyMap};
use crate::vocabulary::Vocabulary;
use crate::yaml::Value;
use crate::{Error, Result, model_file};

/// What a sentence's candidates come from.
pub enum ShortlistGenerator {
    /// Marian's lists of words.
    Shortlist(Shortlist),
    /// CTranslate2's map of n-grams.
    VocabularyMap(VocabularyMap),
}

/// Vocabularies and how text becomes their words; source first.
pub struct TokenizerPair {
    /// The vocabularies, as large as the model's tables; one and the same where both
    /// sides share it.
    pub vocabularies: [Arc<Vocabulary>; 2],
    /// From text to pieces and back.
    pub segmentation: [Segmentation; 2],
}

/// One or several models with what belongs to them.
pub struct ModelBundle {
    /// The path that was given.
    pub path: PathBuf,
    /// What was found there.
    pub format: String,
    /// The files that hold models.
    pub files: Vec<PathBuf>,
    /// The models; several vote together.
    pub models: Vec<Model>,
    /// Vocabularies, unless none was found.
    pub tokenizers: Option<TokenizerPair>,
    /// The source of candidates, if there is one.
    pub shortlist_generator: Option<ShortlistGenerator>,
    /// What the configuration says; empty where there is none.
    pub settings: DecoderConfig,
}

impl ModelBundle {
    /// Opens what lies at `path`. `vocabularies` (source and target) take the place of
    /// those that would be found there.
    pub fn open(path: &Path, vocabularies: Option<[&Path; 2]>) -> Result<Self> {
        if Container::is_container(path) {
            return model_file::open(path);
        }
        let mut package = if path.is_dir() {
            find_in_folder(path)?
        } else if is_config(path) {
            find_from_config(path, DecoderConfig::open(path)?)?
        } else {
            find_single_file(path)?
        };
        if let Some(paths) = vocabularies {
            package.vocabularies = Some(paths.map(Path::to_owned));
        }
        package.into_bundle(path)
    }
}

impl ModelBundle {
    /// Text becomes words of the vocabularies by the codes of these files, of source and
    /// target, instead of what was found.
    ///
    /// # Errors
    /// If there are no vocabularies, or a file is none of codes.
    pub fn set_bpe_codes(&mut self, paths: [&Path; 2]) -> Result<()> {
        let Some(words) = &mut self.tokenizers else {
            let reason = "codes cut text into words of vocabularies; name them with --vocabs";
            return Err(Error::unsupported(&self.path, reason));
        };
        for (segmentation, path) in words.segmentation.iter_mut().zip(paths) {
            *segmentation = Segmentation::Bpe(BpeCodesFile::open(path)?);
        }
        Ok(())
    }

    /// Opens several models that vote together. What lies beside the first one counts.
    pub fn open_ensemble(paths: &[PathBuf], vocabularies: Option<[&Path; 2]>) -> Result<Self> {
        let [first, others @ ..] = paths else {
            return Err(Error::unsupported(Path::new(""), "no model is named"));
        };
        let mut package = Self::open(first, vocabularies)?;
        for path in others {
            let other = Self::open(path, vocabularies)?;
            package.join_ensemble(other)?;
        }
        Ok(package)
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
                format!("not the words of {}; such models cannot vote", self.path.display());
            return Err(Error::mismatch(&other.path, "vocabulary", reason));
        }
        self.tokenizers = self.tokenizers.take().or(other.tokenizers);
        let weights = [&self.settings.weights, &other.settings.weights];
        if weights.iter().any(|weights| !weights.is_empty()) {
            // Who does not say what a model weighs means 1.
            self.settings.weights.resize(self.models.len(), 1.0);
            let mut weights = other.settings.weights;
            weights.resize(other.models.len(), 1.0);
            self.settings.weights.extend(weights);
        }
        // Files name the models, as far as each has its own.
        if self.files.len() == self.models.len() && other.files.len() == other.models.len() {
            self.files.extend(other.files);
        }
        self.models.extend(other.models);
        Ok(())
    }

    /// Compares the checksums that the models' formats have with the files, whole.
    /// Opening a file that is mapped does not.
    pub fn verify_files(&self) -> Result<()> {
        self.files
            .iter()
            .try_for_each(|path| Checkpoint::verify(&Bytes::open(path, LoadMethod::Lazy)?, path))
    }

    /// Makes every model compute as an engine of Marian does, whichever version wrote it.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        for model in &mut self.models {
            let mut architecture = model.architecture().clone();
            architecture.set_dialect(dialect);
            model.set_architecture(architecture);
        }
    }
}

/// What was found, before vocabularies are read.
#[derive(Default)]
struct FoundModel {
    format: String,
    files: Vec<PathBuf>,
    models: Vec<Model>,
    vocabularies: Option<[PathBuf; 2]>,
    segmentation: [Segmentation; 2],
    vocabulary_map: Option<PathBuf>,
    settings: DecoderConfig,
}

impl FoundModel {
    fn into_bundle(self, path: &Path) -> Result<ModelBundle> {
        let words = match &self.vocabularies {
            Some(paths) => Some(self.open_tokenizers(paths)?),
            None => None,
        };
        let candidates = match &words {
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
            files: self.files,
            models: self.models,
            tokenizers: words,
            shortlist_generator: candidates,
            settings: self.settings,
        })
    }

    /// Vocabularies cut to the tables of every model.
    fn open_tokenizers(&self, paths: &[PathBuf; 2]) -> Result<TokenizerPair> {
        let read = |side: usize| -> Result<(Vocabulary, Segmentation)> {
            let path = &paths[side];
            if !is_sentencepiece_model(path) {
                return Ok((Vocabulary::open(path)?, self.segmentation[side].clone()));
            }
            let pieces = SentencePieceModel::open(path)?;
            let vocabulary = Vocabulary::from_sentencepiece(&pieces.model, path)?;
            Ok((vocabulary, Segmentation::SentencePiece(pieces)))
        };
        let rows = |side: usize| {
            let tables = self.models.iter().map(|model| model.architecture().embeddings());
            let mut rows = tables.map(|t| [t.source_vocab_size, t.target_vocab_size][side]);
            let first = rows.next().unwrap_or(0);
            match rows.find(|&other| other != first) {
                None => Ok(first),
                Some(other) => {
                    let reason = format!("models of {first} and of {other} words cannot vote");
                    Err(Error::mismatch(&paths[side], "vocabulary", reason))
                }
            }
        };
        let (source, source_pieces) = read(0)?;
        let source = Arc::new(source.truncated(rows(0)?, "source")?);
        if paths[0] == paths[1] && rows(0)? == rows(1)? {
            let target_pieces = match &self.segmentation[1] {
                Segmentation::Presegmented => source_pieces.clone(),
                own => own.clone(),
            };
            return Ok(TokenizerPair {
                vocabularies: [Arc::clone(&source), source],
                segmentation: [source_pieces, target_pieces],
            });
        }
        let (target, target_pieces) = read(1)?;
        let target = Arc::new(target.truncated(rows(1)?, "target")?);
        Ok(TokenizerPair {
            vocabularies: [source, target],
            segmentation: [source_pieces, target_pieces],
        })
    }
}

/// A file of Marian's kind alone.
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
    // Marian writes its whole configuration beside what it trains.
    let beside = PathBuf::from(format!("{}.yml", path.display()));
    let beside = if checkpoint.options().is_none() && beside.is_file() {
        Some(read_yaml(&beside)?)
    } else {
        None
    };
    Ok((architecture::resolve_marian(checkpoint, beside.as_ref())?, format))
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
    let pieces = match &settings.bpe_codes {
        Some(codes) => {
            let both = Segmentation::Bpe(BpeCodesFile::open(codes)?);
            [both.clone(), both]
        }
        None => Default::default(),
    };
    Ok(FoundModel {
        format: "decoder configuration".into(),
        files: settings.models.clone(),
        models,
        vocabularies,
        segmentation: pieces,
        vocabulary_map: None,
        settings,
    })
}

fn find_in_folder(folder: &Path) -> Result<FoundModel> {
    let there = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    if let Some(config) = there("config.json") {
        if let Some(weights) = there("model.safetensors") {
            return find_hugging_face(folder, &weights, &config);
        }
        if there("pytorch_model.bin").is_some() {
            let reason = "its weights are a pickle of PyTorch; save the model again with \
                          save_pretrained(..., safe_serialization=True)";
            return Err(Error::unsupported(folder, reason));
        }
    }
    if let Some(model) = there("model.bin") {
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
    let ending = |end: &str| names.iter().filter(|name| name.ends_with(end)).collect::<Vec<_>>();
    let configuration =
        there("decoder.yml").or_else(|| there("config.yml")).or_else(|| {
            match ending(".decoder.yml")[..] {
                [one] => Some(folder.join(one)),
                _ => None,
            }
        });
    let mut found = match configuration {
        Some(path) => {
            let mut settings = DecoderConfig::open(&path)?;
            if there("preprocess.sh").is_some() || there("source.spm").is_some() {
                // OPUS-MT's configurations may name files without saying where they are.
                let here = settings.models.iter_mut().chain(&mut settings.vocabularies);
                here.for_each(|path| *path = resolve_in_folder(folder, path));
            }
            find_from_config(&path, settings)?
        }
        None => {
            let models = [ending(".npz"), ending(".bin")].concat();
            let models: Vec<_> = models
                .into_iter()
                .filter(|name| !name.ends_with(".optimizer.npz") && !name.starts_with("lex"))
                .collect();
            let [model] = models[..] else {
                let reason = format!(
                    "a folder with {} models and no decoder.yml; name the one that is meant",
                    models.len()
                );
                return Err(Error::unsupported(folder, reason));
            };
            let path = folder.join(model);
            let vocabularies = match ending("vocab.yml")[..] {
                [one] => Some([folder.join(one), folder.join(one)]),
                _ => there("vocab.spm").map(|both| [both.clone(), both]),
            };
            FoundModel { vocabularies, ..find_single_file(&path)? }
        }
    };
    for (side, name) in ["source", "target"].into_iter().enumerate() {
        if let Some(path) = there(&format!("{name}.spm")) {
            found.segmentation[side] =
                Segmentation::SentencePiece(SentencePieceModel::open(&path)?);
            found.format = "OPUS-MT folder".into();
        } else if let Some(path) = there(&format!("{name}.bpe")) {
            found.segmentation[side] = Segmentation::Bpe(BpeCodesFile::open(&path)?);
            found.format = "OPUS-MT folder".into();
        }
    }
    let codes = ["codes", "bpe.codes", "codes.bpe"].into_iter().find_map(there);
    if let ([Segmentation::Presegmented, Segmentation::Presegmented], Some(path)) =
        (&found.segmentation, codes)
    {
        found.segmentation[0] = Segmentation::Bpe(BpeCodesFile::open(&path)?);
    }
    // Where there are codes for one side they were learned for both.
    if let [Segmentation::Bpe(codes), target @ Segmentation::Presegmented] = &mut found.segmentation
    {
        *target = Segmentation::Bpe(codes.clone());
    }
    Ok(found)
}

/// `path`, or the file of that name in `folder` where `path` is nowhere.
fn resolve_in_folder(folder: &Path, path: &Path) -> PathBuf {
    let inside = path.file_name().map(|name| folder.join(name));
    match inside {
        Some(inside) if inside.is_file() => inside,
        _ => path.to_owned(),
    }
}

fn find_ctranslate2(folder: &Path, model: &Path) -> Result<FoundModel> {
    let there = |name: &str| {
        let of_kind = |kind: &str| folder.join(format!("{name}_vocabulary.{kind}"));
        ["json", "txt"].map(of_kind).into_iter().find(|path| path.is_file())
    };
    let vocabularies = match (there("shared"), there("source"), there("target")) {
        (Some(both), ..) => Some([both.clone(), both]),
        (None, Some(source), Some(target)) => Some([source, target]),
        _ => None,
    };
    let config_path = folder.join("config.json");
    let config = if config_path.is_file() { Some(read_yaml(&config_path)?) } else { None };
    let option = |name: &str| config.as_ref().and_then(|config| config.get(name));
    let norm_epsilon = match option("layer_norm_epsilon").filter(|value| !value.is_null()) {
        None => None,
        Some(value) => {
            Some(value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
                Error::mismatch(&config_path, "layer_norm_epsilon", "a number is needed")
            })?)
        }
    };
    // Only a model whose decoding starts with a word needs to know which.
    let start = match (&vocabularies, option("decoder_start_token")) {
        (Some([_, target]), Some(word)) => {
            Vocabulary::open(target)?.find(word.as_bytes().unwrap_or_default())
        }
        _ => None,
    };
    let checkpoint = Checkpoint::open(model, LoadMethod::Lazy)?;
    let format = checkpoint.format().to_string();
    let files = vec![model.to_owned()];
    let model = architecture::resolve_ctranslate2(
        checkpoint,
        &CTranslate2Settings { norm_epsilon, start_token: start },
    )?;
    let map = folder.join("vmap.txt");
    Ok(FoundModel {
        format,
        files,
        models: vec![model],
        vocabularies,
        vocabulary_map: map.is_file().then_some(map),
        ..FoundModel::default()
    })
}

fn find_hugging_face(folder: &Path, weights: &Path, config: &Path) -> Result<FoundModel> {
    let config = read_yaml(config)?;
    let there = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    let generation = there("generation_config.json").map(|path| read_yaml(&path)).transpose()?;
    let checkpoint = Checkpoint::open(weights, LoadMethod::Lazy)?;
    let model = architecture::resolve_hugging_face(checkpoint, &config, generation.as_ref())?;
    let vocabularies = there("vocab.json").map(|source| {
        let target = there("target_vocab.json").unwrap_or_else(|| source.clone());
        [source, target]
    });
    let mut pieces = [Segmentation::Presegmented, Segmentation::Presegmented];
    for (side, name) in pieces.iter_mut().zip(["source.spm", "target.spm"]) {
        if let Some(path) = there(name) {
            *side = Segmentation::SentencePiece(SentencePieceModel::open(&path)?);
        }
    }
    Ok(FoundModel {
        format: "Hugging Face folder".into(),
        files: vec![weights.to_owned()],
        models: vec![model],
        vocabularies,
        segmentation: pieces,
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
