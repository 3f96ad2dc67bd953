//! A model that was found, before its vocabularies and shortlist are read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::Files;

use crate::architecture::Model;
use crate::decoder_config::{DecoderConfig, DecodingSemantics};
use crate::model_bundle::{
    BoundaryTokens, EosAfterTokens, ModelBundle, ShortlistGenerator, TokenizerPair,
};
use crate::segmentation::Segmentation;
use crate::shortlist::{ShortlistOptions, VocabularyMap};
use crate::vocabulary::{SpecialTokens, Vocabulary};
use crate::{Error, Result};

/// The models and paths that were found, before vocabularies are read.
#[derive(Default)]
pub(crate) struct FoundModel {
    pub format: String,
    pub semantics: DecodingSemantics,
    pub files: Vec<PathBuf>,
    pub models: Vec<Model>,
    pub vocabularies: Option<[PathBuf; 2]>,
    /// Why vocabularies were not found. It does not matter if the user names them.
    pub vocabulary_error: Option<Error>,
    /// Why a shortlist was not found. It does not matter if the user names one or wants none.
    pub shortlist_error: Option<Error>,
    /// The tokeniser of both sides, if the format has opened it already. If `vocabularies` are
    /// given too, they replace it.
    pub opened: Option<OpenedTokenizer>,
    pub segmentation: [Segmentation; 2],
    /// The special tokens, where the format names them.
    pub special_tokens: Option<SpecialTokens>,
    /// A shortlist and its pruning.
    pub shortlist: Option<(PathBuf, ShortlistOptions)>,
    pub vocabulary_map: Option<PathBuf>,
    /// See [`TokenizerPair::target_prefix`].
    pub target_prefix: Vec<u32>,
    /// The token of the target prefix, if its id is not known yet.
    pub target_prefix_token: Option<String>,
    /// The token that decoding starts with, if its id is not known yet.
    pub start_token: Option<String>,
    /// The contents of files that are not on disk.
    pub contents: Files,
    pub is_for_browsers: bool,
    pub settings: DecoderConfig,
}

/// A vocabulary of source and target with its segmentation.
pub(crate) struct OpenedTokenizer {
    pub vocabulary: Vocabulary,
    /// The segmentation of source and target.
    pub segmentation: [Segmentation; 2],
}

impl FoundModel {
    /// Reads vocabularies and the shortlist.
    ///
    /// All weights are read once to check that they are finite: a weight that is not finite would
    /// make results NaN.
    pub fn into_bundle(mut self, path: &Path) -> Result<ModelBundle> {
        for (number, model) in self.models.iter().enumerate() {
            let own = self.files.get(number).filter(|_| self.files.len() == self.models.len());
            model.check_finite(own.map_or(path, PathBuf::as_path))?;
        }
        let tokenizers = match (&self.vocabularies, self.opened.take()) {
            (Some(paths), _) => Some(self.open_tokenizers(paths)?),
            (None, Some(OpenedTokenizer { vocabulary, segmentation })) => {
                let shared = Arc::new(vocabulary);
                Some(TokenizerPair {
                    vocabularies: [Arc::clone(&shared), shared],
                    segmentation,
                    source_boundary_tokens: BoundaryTokens::default(),
                    target_prefix: self.target_prefix.clone(),
                })
            }
            (None, None) => None,
        };
        let mut bundle = ModelBundle {
            path: path.to_owned(),
            format: self.format,
            semantics: self.semantics,
            files: self.files,
            models: self.models,
            tokenizers,
            shortlist_generator: None,
            shortlist_path: None,
            is_for_browsers: self.is_for_browsers,
            settings: self.settings,
        };
        match (&bundle.tokenizers, self.shortlist, self.vocabulary_map) {
            (None, ..) | (_, None, None) => {}
            (Some(_), Some((list, options)), _) => bundle.set_shortlist(&list, options)?,
            (Some(words), None, Some(path)) => {
                let [source, target] = &words.vocabularies;
                let bytes = self.contents.open(&path)?;
                let map = VocabularyMap::parse(bytes, &path, source, target)?;
                bundle.shortlist_generator = Some(ShortlistGenerator::VocabularyMap(map));
                bundle.shortlist_path = Some(path);
            }
        }
        if let Some(token) = &self.start_token {
            bundle.set_start_token(token)?;
        }
        Ok(bundle)
    }

    fn read_vocabulary(&self, side: usize, path: &Path) -> Result<(Vocabulary, Segmentation)> {
        let bytes = self.contents.open(path)?;
        let (vocabulary, pieces) = match &self.special_tokens {
            Some(tokens) => {
                let is_target =
                    side == 1 || self.vocabularies.as_ref().is_some_and(|[a, b]| a == b);
                let has_source_eos = tokens.has_source_eos || tokens.texts_have_source_eos;
                let needs_eos = is_target || has_source_eos;
                Vocabulary::parse_with_special_tokens(bytes, path, tokens, needs_eos)?
            }
            None => Vocabulary::parse_with_segmentation(bytes, path)?,
        };
        let segmentation = match pieces {
            Some(model) => Segmentation::SentencePiece(model),
            None => self.segmentation[side].clone(),
        };
        Ok((vocabulary, segmentation))
    }

    /// Returns the number of rows of one side's embedding table, which is the same in all models of
    /// an ensemble. Language models count only for the target, unless all models are language
    /// models.
    fn table_rows(&self, side: usize, path: &Path) -> Result<usize> {
        let architectures = self.models.iter().map(Model::architecture);
        let all_are_lms = architectures.clone().all(|architecture| !architecture.has_source());
        let mut rows = architectures
            .filter(|architecture| side == 1 || all_are_lms || architecture.has_source())
            .map(|architecture| {
                let tables = architecture.embeddings();
                [tables.source_vocab_size, tables.target_vocab_size][side]
            });
        let first = rows.next().unwrap_or(0);
        match rows.find(|&other| other != first) {
            None => Ok(first),
            Some(other) => {
                let reason = format!("models of {first} and {other} words cannot form an ensemble");
                Err(Error::mismatch(path, "vocabulary", reason))
            }
        }
    }

    /// Opens the vocabularies and truncates them to the embedding tables of the models.
    fn open_tokenizers(&self, paths: &[PathBuf; 2]) -> Result<TokenizerPair> {
        let (source, source_segmentation) = self.read_vocabulary(0, &paths[0])?;
        let source_rows = self.table_rows(0, &paths[0])?;
        let source = Arc::new(source.truncated(source_rows, "source")?);
        if paths[0] == paths[1] && source_rows == self.table_rows(1, &paths[1])? {
            let target_segmentation = self.segmentation[1].clone().or_shared(&source_segmentation);
            return Ok(TokenizerPair {
                source_boundary_tokens: self.source_boundary_tokens(&source)?,
                target_prefix: self.target_prefix(&source)?,
                vocabularies: [Arc::clone(&source), source],
                segmentation: [source_segmentation, target_segmentation],
            });
        }
        let (target, target_segmentation) = self.read_vocabulary(1, &paths[1])?;
        let target = Arc::new(target.truncated(self.table_rows(1, &paths[1])?, "target")?);
        Ok(TokenizerPair {
            source_boundary_tokens: self.source_boundary_tokens(&source)?,
            target_prefix: self.target_prefix(&target)?,
            vocabularies: [source, target],
            segmentation: [source_segmentation, target_segmentation],
        })
    }

    /// Returns the tokens that translations begin with.
    fn target_prefix(&self, target: &Vocabulary) -> Result<Vec<u32>> {
        let Some(token) = &self.target_prefix_token else { return Ok(self.target_prefix.clone()) };
        let id = target.find(token.as_bytes()).ok_or_else(|| {
            let reason = format!("translations begin with {token:?}, which the vocabulary lacks");
            Error::mismatch(Path::new(target.name()), "vocabulary", reason)
        })?;
        Ok(vec![id])
    }

    fn source_boundary_tokens(&self, source: &Vocabulary) -> Result<BoundaryTokens> {
        let Some(tokens) = &self.special_tokens else { return Ok(BoundaryTokens::default()) };
        let bos_id = match tokens.source_bos.as_deref() {
            None => None,
            Some(token) => Some(source.find(token.as_bytes()).ok_or_else(|| {
                let reason = format!("sources begin with {token:?}, which the vocabulary lacks");
                Error::mismatch(Path::new(source.name()), "vocabulary", reason)
            })?),
        };
        Ok(BoundaryTokens {
            bos_id,
            has_eos: tokens.has_source_eos || tokens.texts_have_source_eos,
            eos_after_tokens: if tokens.has_source_eos {
                EosAfterTokens::Always
            } else {
                EosAfterTokens::Never
            },
            marker_id: source.find(tokens.bos.as_bytes()).filter(|_| tokens.bos != "<s>"),
        })
    }
}
