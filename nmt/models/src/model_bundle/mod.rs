//! A model with its vocabularies, segmentation, shortlist and configuration.

mod languages;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::architecture::{Architecture, DecoderStart, Dialect, Model};
use crate::decoder_config::{DecoderConfig, DecodingSemantics};
use crate::segmentation::{BpeCodesFile, Segmentation};
use crate::shortlist::{Shortlist, ShortlistOptions, VocabularyMap};
use crate::vocabulary::Vocabulary;
use crate::{Error, Result};

/// Generator of the candidate target tokens of a sentence.
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
    /// The segmentation of text of each side into tokens.
    pub segmentation: [Segmentation; 2],
    /// The special tokens around the tokens of a source sentence.
    pub source_boundary_tokens: BoundaryTokens,
    /// The tokens that every translation begins with and that are not part of its text: the
    /// language of the translation, in multilingual models.
    pub target_prefix: Vec<u32>,
}

/// The special tokens that a model needs around the tokens of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundaryTokens {
    /// The special token before the first token.
    pub bos_id: Option<u32>,
    /// Whether EOS follows the last token.
    pub has_eos: bool,
    /// Whether EOS follows the tokens of a sentence that a caller has tokenised.
    pub eos_after_tokens: EosAfterTokens,
    /// CTranslate2's `bos_token`, if it is not `<s>`: a source that has only this token has no
    /// words.
    pub marker_id: Option<u32>,
}

impl Default for BoundaryTokens {
    /// Returns EOS after a sentence and no token before it, as in Marian.
    fn default() -> Self {
        BoundaryTokens {
            bos_id: None,
            has_eos: true,
            eos_after_tokens: EosAfterTokens::default(),
            marker_id: None,
        }
    }
}

/// Whether EOS is added to a sentence that a caller has tokenised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EosAfterTokens {
    /// Also after an EOS of the caller, as in CTranslate2 with `add_source_eos`.
    Always,
    /// As in CTranslate2 without `add_source_eos`, even if text gets EOS.
    Never,
    /// If text gets EOS and the caller has given none.
    #[default]
    IfMissing,
}

/// One model, or the models of an ensemble, with everything that decoding needs.
///
/// ```
/// use std::path::Path;
/// use miriam_nmt_models::ModelBundle;
///
/// # fn main() -> Result<(), miriam_nmt_models::Error> {
/// // A folder is searched for the vocabularies; for a single file they can be named.
/// let converted = ModelBundle::open(Path::new("../testdata/tiny-ct2"), None)?;
/// let vocabulary = Path::new("../testdata/tiny.vocab.yml");
/// let original =
///     ModelBundle::open(Path::new("../testdata/tiny.npz"), Some([vocabulary, vocabulary]))?;
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
    /// Vocabularies and segmentation; `None` if no vocabularies were found.
    pub tokenizers: Option<TokenizerPair>,
    /// The shortlist or vocabulary map, if there is one.
    pub shortlist_generator: Option<ShortlistGenerator>,
    /// The file of the shortlist or vocabulary map.
    pub shortlist_path: Option<PathBuf>,
    /// Whether the model was packed for browsers, which decode with other defaults.
    pub is_for_browsers: bool,
    /// Settings of the decoder configuration; the default ones where there is none.
    pub settings: DecoderConfig,
}

impl ModelBundle {
    /// Whether all models are language models, which read no source.
    pub fn is_language_model(&self) -> bool {
        self.models.iter().all(|model| !model.architecture().has_source())
    }

    /// Returns the token that decoding starts with if it counts as generated for options about
    /// repetition. It does in `transformers`, where the token is part of the sequence, and not in
    /// CTranslate2. The description of the format tells where a model comes from, as for the rules
    /// of decoding of a converted model.
    pub fn repeated_start(&self) -> Option<u32> {
        let Architecture::Transformer(transformer) = self.models.first()?.architecture() else {
            return None;
        };
        match transformer.decoder_start {
            DecoderStart::Token(id) if self.format.contains("Hugging Face") => Some(id),
            _ => None,
        }
    }

    /// Returns the size in bytes of the stored parameters of all models.
    pub fn parameter_bytes(&self) -> u64 {
        let tensors = self.models.iter().flat_map(|model| model.parameters());
        tensors.map(|(_, tensor)| tensor.byte_len() as u64).sum()
    }

    /// Returns the paths of all files that the bundle was read from, and the path that was opened.
    /// Files in an archive have its path before their names.
    pub fn source_files(&self) -> impl Iterator<Item = PathBuf> {
        let tokenizers = self.tokenizers.iter();
        let names = tokenizers.flat_map(|pair| {
            let vocabularies = pair.vocabularies.iter().map(|vocabulary| vocabulary.name());
            vocabularies.chain(pair.segmentation.iter().filter_map(Segmentation::file_name))
        });
        let names = names.map(PathBuf::from);
        let paths = self.files.iter().chain([&self.path]).chain(&self.shortlist_path);
        paths.cloned().chain(names)
    }

    /// Replaces the segmentation by byte pair encoding. `paths` are the files of the codes of
    /// source and target.
    ///
    /// # Errors
    /// If the bundle has no vocabularies, or a file has no BPE codes.
    pub fn set_bpe_codes(&mut self, paths: [&Path; 2]) -> Result<()> {
        let Some(tokenizers) = &mut self.tokenizers else {
            let reason = "BPE codes need vocabularies; name them with --vocabs";
            return Err(Error::unsupported(&self.path, reason));
        };
        for (segmentation, path) in tokenizers.segmentation.iter_mut().zip(paths) {
            *segmentation = Segmentation::Bpe(BpeCodesFile::open(path)?);
        }
        Ok(())
    }

    /// Sets the shortlist to the file at `path`.
    ///
    /// # Errors
    /// If the bundle has no vocabularies, or the file cannot be read or belongs to other
    /// vocabularies.
    pub fn set_shortlist(&mut self, path: &Path, options: ShortlistOptions) -> Result<()> {
        let Some(TokenizerPair { vocabularies: [source, target], .. }) = &self.tokenizers else {
            let reason = "a shortlist needs vocabularies; name them with --vocabs";
            return Err(Error::unsupported(&self.path, reason));
        };
        let list = Shortlist::open(path, options, source, target)?;
        self.shortlist_generator = Some(ShortlistGenerator::Shortlist(list));
        self.shortlist_path = Some(path.to_owned());
        Ok(())
    }

    /// Adds the models of `other`, which must have the same words.
    pub(crate) fn join_ensemble(&mut self, other: ModelBundle) -> Result<()> {
        // A language model shares only the words of the target with a model that translates.
        let first_side = usize::from(self.is_language_model() || other.is_language_model());
        let rows = |bundle: &ModelBundle| {
            let tables = bundle.models.first()?.architecture().embeddings();
            let rows = [tables.source_vocab_size, tables.target_vocab_size];
            Some(rows[first_side..].to_vec())
        };
        let same_words = match (&self.tokenizers, &other.tokenizers) {
            (Some(one), Some(other)) => {
                let mut sides = one.vocabularies.iter().zip(&other.vocabularies).skip(first_side);
                sides.all(|(one, other)| one.has_same_ids(other))
            }
            _ => true,
        };
        if rows(self) != rows(&other) || !same_words {
            let reason = format!(
                "its words differ from those of {}; such models cannot form an ensemble",
                self.path.display()
            );
            return Err(Error::mismatch(&other.path, "vocabulary", reason));
        }
        self.tokenizers = self.tokenizers.take().or(other.tokenizers);
        let weights = [&self.settings.weights, &other.settings.weights];
        if weights.iter().any(|weights| !weights.is_empty()) {
            // A model without a weight has weight 1.
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

    /// Makes every model compute as the given version of Marian does, whichever version wrote it.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.change_architectures(|architecture| architecture.set_dialect(dialect));
    }

    /// Makes every model of Marian compute as Marian's scorer does, which differs from its search
    /// ([`Architecture::set_scoring_keys`]).
    pub fn prepare_to_score(&mut self) {
        self.change_architectures(Architecture::set_scoring_keys);
    }

    /// Sets the token of the target vocabulary that decoding starts with.
    pub(crate) fn set_start_token(&mut self, token: &str) -> Result<()> {
        let Some(tokenizers) = &self.tokenizers else {
            let reason = "the token that decoding starts with is unknown, because the folder of \
                          the model lacks the vocabulary of the source or of the target; name \
                          both with --vocabs";
            return Err(Error::unsupported(&self.path, reason));
        };
        let target = &tokenizers.vocabularies[1];
        let Some(id) = target.find(token.as_bytes()) else {
            let reason = format!(
                "decoding starts with {token:?} (decoder_start_token), which the vocabulary of the \
                 target, {}, lacks",
                target.name()
            );
            return Err(Error::unsupported(&self.path, reason));
        };
        self.change_architectures(|architecture| {
            if let Architecture::Transformer(transformer) = architecture {
                transformer.decoder_start = DecoderStart::Token(id);
            }
        });
        Ok(())
    }

    fn change_architectures(&mut self, change: impl Fn(&mut Architecture)) {
        for model in &mut self.models {
            let mut architecture = model.architecture().clone();
            change(&mut architecture);
            model.set_architecture(architecture);
        }
    }
}
