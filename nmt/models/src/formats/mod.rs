//! Model formats: how each is recognised, read and, where this program writes it, written.
//!
//! A format is a module here and an entry of `FORMATS`. It finds a `FoundModel` under a path. All
//! formats share the conversion of a `FoundModel` to a [`ModelBundle`], and
//! [`checkpoint`](crate::checkpoint), which reads files of tensors.

mod argos;
pub mod ctranslate2;
mod files;
mod firefox;
mod found_model;
pub mod hugging_face;
pub mod marian;
mod marian_folder;
pub mod miriam;
mod nematus;
mod opus_mt;

use std::path::{Path, PathBuf};

use miriam_storage::{Bytes, Container, LoadMethod};

use files::Files;
use found_model::FoundModel;

use crate::checkpoint::Checkpoint;
use crate::decoder_config::DecoderConfig;
use crate::model_bundle::{ModelBundle, TokenizerPair};
use crate::vocabulary::Vocabulary;
use crate::{Error, Result};

/// A format of models that were made by other programs.
struct Format {
    /// Whether a path seems to be a model of this format, by names of files alone.
    recognises: fn(&Path) -> bool,
    /// Finds the model at a path.
    find: fn(&Path) -> Result<FoundModel>,
}

/// All formats; the first that recognises a path reads it.
const FORMATS: &[Format] = &[
    Format { recognises: argos::is_archive, find: argos::find_in_archive },
    Format { recognises: opus_mt::is_archive, find: opus_mt::find_in_archive },
    Format { recognises: argos::is_package, find: argos::find_in_folder },
    Format { recognises: hugging_face::is_folder, find: hugging_face::find_in_folder },
    Format { recognises: ctranslate2::is_folder, find: ctranslate2::find_in_folder },
    Format { recognises: firefox::is_folder, find: marian_folder::find },
    Format { recognises: Path::is_dir, find: marian_folder::find },
    Format { recognises: marian::is_configuration, find: marian_folder::find_from_configuration },
    Format {
        recognises: hugging_face::is_other_weight_file,
        find: hugging_face::reject_weight_file,
    },
    Format { recognises: |_| true, find: marian::find_single_file },
];

/// Returns the path of the model at `path`: the folder of `path` if `path` is a file of weights
/// that is used only with the other files of its folder, otherwise `path`.
pub(crate) fn model_path(path: &Path) -> &Path {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_part = ctranslate2::is_weight_file(path)
        || hugging_face::is_weight_file(path) && hugging_face::is_folder(folder);
    if is_part { folder } else { path }
}

/// Whether the model at `path` is more than a checkpoint: a folder, an archive, or a file of this
/// program.
fn is_package(path: &Path) -> bool {
    Container::is_container(path)
        || model_path(path).is_dir()
        || argos::is_archive(path)
        || opus_mt::is_archive(path)
}

/// Whether the vocabularies at `paths` have the tokens of `words`.
fn are_files_of(paths: [&Path; 2], words: &TokenizerPair) -> bool {
    paths.into_iter().zip(&words.vocabularies).all(|(path, own)| {
        let named = Vocabulary::open(path).and_then(|named| named.truncated(own.len(), "named"));
        named.is_ok_and(|named| named.has_same_ids(own))
    })
}

/// Options for opening a model.
#[derive(Clone, Copy, Default)]
pub struct BundleOptions<'a> {
    /// Vocabularies (source and target) to use instead of those that would be found. Model files
    /// of Miriam that have vocabularies keep their own, and list the key as without effect unless
    /// the named files have the same tokens.
    pub vocabularies: Option<[&'a Path; 2]>,
    /// Whether to ignore a shortlist or vocabulary map that is found with the model.
    pub without_shortlist: bool,
}

impl ModelBundle {
    /// Opens the model at `path`. A file of weights of a folder of CTranslate2 or `transformers`
    /// stands for the folder. `vocabularies` (source and target) replace those that would be found
    /// there, as in [`BundleOptions::vocabularies`].
    ///
    /// # Errors
    /// If no model is found at `path`, a file of it cannot be read or is damaged, its
    /// architecture is not supported, or its parts do not fit together.
    pub fn open(path: &Path, vocabularies: Option<[&Path; 2]>) -> Result<Self> {
        Self::open_with(path, &BundleOptions { vocabularies, ..BundleOptions::default() })
    }

    /// Whether the file or folder at `path` seems to be a neural model, by its name and first
    /// bytes. This is for options that may also name an n-gram model.
    pub fn is_found_at(path: &Path) -> bool {
        if Container::is_container(path) {
            let container = Container::open_any(path, LoadMethod::Lazy);
            return container.is_ok_and(|container| container.kind() == miriam::KIND);
        }
        model_path(path).is_dir() || marian::is_configuration(path) || Checkpoint::is_found_at(path)
    }

    /// Opens a folder of CTranslate2 whose files are in memory, each with its name. `name` names
    /// the folder in messages.
    ///
    /// # Errors
    /// Those of [`ModelBundle::open`], and if there is a vocabulary map, which only folders on disk
    /// may have.
    pub fn from_files(
        name: &Path,
        files: impl IntoIterator<Item = (String, Bytes)>,
    ) -> Result<Self> {
        ctranslate2::find_in_memory(name, files)?.into_bundle(name)
    }

    /// Works as [`ModelBundle::open`], with more options.
    ///
    /// # Errors
    /// Those of [`ModelBundle::open`].
    pub fn open_with(path: &Path, options: &BundleOptions<'_>) -> Result<Self> {
        if Container::is_container(path) {
            let mut bundle = miriam::open(path)?;
            if options.without_shortlist {
                bundle.shortlist_generator = None;
            }
            match (options.vocabularies, &bundle.tokenizers) {
                (Some(paths), Some(words)) => {
                    if !are_files_of(paths, words) {
                        let key = "vocabs (the file has vocabularies of its own)";
                        bundle.settings.keys_without_effect.push(key.into());
                    }
                }
                (Some(paths), None) => {
                    let models = std::mem::take(&mut bundle.models);
                    let vocabularies = Some(paths.map(Path::to_owned));
                    let found = FoundModel { models, vocabularies, ..FoundModel::default() };
                    let opened = found.into_bundle(path)?;
                    (bundle.models, bundle.tokenizers) = (opened.models, opened.tokenizers);
                }
                (None, _) => {}
            }
            return Ok(bundle);
        }
        if marian::is_configuration(path) {
            let settings = DecoderConfig::open(path)?;
            if settings.models.iter().any(|model| is_package(model)) {
                return Self::open_packages(settings, path, options);
            }
        }
        let path = model_path(path);
        let format = FORMATS.iter().find(|format| (format.recognises)(path));
        let found = (format.expect("the last one recognises every path").find)(path)?;
        Self::from_found(found, path, options)
    }

    /// Opens the models that a decoder's configuration names. The configuration may have any file
    /// name; `path` names it in messages.
    ///
    /// # Errors
    /// Those of [`ModelBundle::open`], and if no models are named.
    pub fn open_config(
        settings: DecoderConfig,
        path: &Path,
        options: &BundleOptions<'_>,
    ) -> Result<Self> {
        if settings.models.iter().any(|model| is_package(model)) {
            return Self::open_packages(settings, path, options);
        }
        let found = marian::find_from_config(path, settings, Files::default())?;
        Self::from_found(found, path, options)
    }

    /// Works as [`open_config`](Self::open_config) for models of any format except configurations,
    /// which might name themselves. The settings of the models are defaults.
    fn open_packages(
        settings: DecoderConfig,
        path: &Path,
        options: &BundleOptions<'_>,
    ) -> Result<Self> {
        if let Some(model) = settings.models.iter().find(|model| marian::is_configuration(model)) {
            let reason = format!("{} is a configuration; name its models", model.display());
            return Err(Error::mismatch(path, "models", reason));
        }
        let pair = settings.vocabulary_pair(path)?;
        let pair = pair.as_ref().map(|pair| [pair[0].as_path(), pair[1].as_path()]);
        let shortlist = settings.shortlist.as_ref().filter(|_| !options.without_shortlist);
        let options = BundleOptions {
            vocabularies: options.vocabularies.or(pair),
            without_shortlist: options.without_shortlist || shortlist.is_some(),
        };
        let mut bundle = Self::open_ensemble(&settings.models, &options)?;
        settings.check_weights(path, bundle.models.len())?;
        if let Some(codes) = &settings.bpe_codes {
            bundle.set_bpe_codes([codes, codes])?;
        }
        if let Some((file, shape)) = shortlist {
            bundle.set_shortlist(file, *shape)?;
        }
        bundle.settings = settings.or(std::mem::take(&mut bundle.settings));
        Ok(bundle)
    }

    fn from_found(mut found: FoundModel, path: &Path, options: &BundleOptions<'_>) -> Result<Self> {
        if let Some(paths) = options.vocabularies {
            found.vocabularies = Some(paths.map(Path::to_owned));
        } else if let Some(error) = found.vocabulary_error.take() {
            return Err(error);
        }
        if options.without_shortlist {
            found.shortlist = None;
            found.vocabulary_map = None;
        } else if let Some(error) = found.shortlist_error.take() {
            return Err(error);
        }
        found.into_bundle(path)
    }

    /// Opens several models as an ensemble. Shortlist and settings come from the first model, but
    /// each model keeps its weight. Vocabularies and segmentation come from the first model that
    /// has them.
    ///
    /// # Errors
    /// Those of [`ModelBundle::open`], and if `paths` is empty or the vocabularies differ.
    pub fn open_ensemble(paths: &[PathBuf], options: &BundleOptions<'_>) -> Result<Self> {
        let [first, others @ ..] = paths else {
            return Err(Error::unsupported(Path::new(""), "no model is named"));
        };
        let mut bundle = Self::open_with(first, options)?;
        for path in others {
            let other = Self::open_with(path, options)?;
            bundle.join_ensemble(other)?;
        }
        Ok(bundle)
    }

    /// Compares the whole files with the checksums that their formats have. Opening does not do
    /// this. Our own files are checked as by `miriam verify`.
    ///
    /// # Errors
    /// If a file cannot be read, its content does not match a checksum, or a weight is not finite.
    pub fn verify_files(&self) -> Result<()> {
        self.files.iter().try_for_each(|path| {
            if !Container::is_container(path) {
                return Checkpoint::verify_file(path);
            }
            let container = Container::open_any(path, LoadMethod::Lazy)?;
            container.verify()?;
            miriam::verify(&container)
        })
    }
}
