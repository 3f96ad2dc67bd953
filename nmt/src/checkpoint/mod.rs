//! Named tensors out of other people's files, whatever the format.
//!
//! Opening maps the file and reads its directory; weights are looked at when they are
//! asked for. Names are the file's own: what they mean is the business of
//! [`crate::architecture`].

mod ctranslate2;
mod cursor;
mod marian_binary;
mod numpy;
mod safetensors;
mod tensor;
mod zip_archive;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miriam_storage::{Bytes, LoadMethod, View};

use crate::{Error, Result};

pub use tensor::{DType, OwnedBytes, QuantMultipliers, StorageOrder, Tensor};

/// The entry that holds the options of a model, as YAML.
pub(crate) const OPTIONS_ENTRY: &str = "special:model.yml";

/// Which format a checkpoint was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// An archive of NumPy arrays: Marian, Nematus, Amun.
    Npz,
    /// Marian's `.bin`.
    MarianBinary,
    /// CTranslate2's `model.bin`.
    CTranslate2 {
        /// The version of the file's layout.
        version: u32,
        /// The revision of the model's description.
        revision: u32,
    },
    /// `safetensors`.
    Safetensors,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Format::Npz => f.write_str("NumPy archive"),
            Format::MarianBinary => f.write_str("Marian binary"),
            Format::CTranslate2 { version, revision } => {
                write!(f, "CTranslate2 version {version}, revision {revision}")
            }
            Format::Safetensors => f.write_str("safetensors"),
        }
    }
}

/// The tensors of a file by their names there.
pub struct Checkpoint {
    path: PathBuf,
    format: Format,
    tensors: BTreeMap<String, Tensor>,
    /// Other names of tensors.
    aliases: BTreeMap<String, String>,
    options: Option<Vec<u8>>,
    skipped: Vec<(String, String)>,
    activation_multipliers: BTreeMap<String, f32>,
}

impl Checkpoint {
    /// Opens the file at `path`; its first bytes tell the format.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_bytes(&Bytes::open(path, load)?, path)
    }

    /// A file whose bytes are at hand; `path` is its name in messages.
    pub fn from_bytes(bytes: &Bytes, path: &Path) -> Result<Self> {
        let window = whole_file(bytes, path)?;
        if bytes.starts_with(numpy::MAGIC) {
            numpy::read(&window, path)
        } else if ctranslate2::is_plausible(bytes) {
            ctranslate2::read(&window, path)
        } else if marian_binary::is_plausible(bytes) {
            marian_binary::read(&window, path)
        } else if bytes.get(8) == Some(&b'{') {
            safetensors::read(&window, path)
        } else {
            let reason = "not a model that this program knows: give a Marian .npz or .bin, a \
                          CTranslate2 or Hugging Face folder, or a file of miriam nmt convert";
            Err(Error::unsupported(path, reason))
        }
    }

    /// Compares the checksums that the format has with the whole file.
    pub fn verify(bytes: &Bytes, path: &Path) -> Result<()> {
        if bytes.starts_with(numpy::MAGIC) {
            numpy::verify(&whole_file(bytes, path)?, path)?;
        }
        Ok(())
    }

    pub(crate) fn new(path: &Path, format: Format) -> Self {
        Checkpoint {
            path: path.to_owned(),
            format,
            tensors: BTreeMap::new(),
            aliases: BTreeMap::new(),
            options: None,
            skipped: Vec::new(),
            activation_multipliers: BTreeMap::new(),
        }
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Marian's options in YAML, where the file holds them.
    pub fn options(&self) -> Option<&[u8]> {
        self.options.as_deref()
    }

    /// Names in the order of their bytes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The tensor of that name.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// What `name` is another name of.
    pub fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    /// Entries that are no parameters, with the reason.
    pub fn skipped_tensors(&self) -> &[(String, String)] {
        &self.skipped
    }

    /// What activations that meet a matrix are multiplied with before they become
    /// integers, by the name of the matrix; `none` is the tied output layer.
    pub fn activation_multipliers(&self) -> &BTreeMap<String, f32> {
        &self.activation_multipliers
    }

    /// Takes the tensor of that name out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    pub(crate) fn insert(&mut self, name: &str, tensor: Tensor) -> Result<()> {
        if self.tensors.insert(name.to_owned(), tensor).is_some() {
            return Err(Error::damaged(&self.path, name, "it is there twice"));
        }
        Ok(())
    }

    fn set_options(&mut self, bytes: &[u8]) {
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        self.options = Some(bytes[..end].to_vec());
    }

    fn skip(&mut self, name: &str, reason: String) {
        self.skipped.push((name.to_owned(), reason));
    }

    /// Makes `name` another name of a tensor. Each can be taken by itself: writers give one
    /// tensor to all that happen to be equal.
    fn set_alias(&mut self, name: &str, of: &str) -> Result<()> {
        let Some(tensor) = self.tensors.get(of).cloned() else {
            let reason = format!("another name of {of}, which is not there");
            return Err(Error::damaged(&self.path, name, reason));
        };
        self.insert(name, tensor)?;
        self.aliases.insert(name.to_owned(), of.to_owned());
        Ok(())
    }

    fn set_activation_multiplier(&mut self, of: &str, multiplier: f32) {
        self.activation_multipliers.insert(of.to_owned(), multiplier);
    }
}

fn whole_file(bytes: &Bytes, path: &Path) -> Result<OwnedBytes> {
    let view = View::new(bytes, 0, bytes.len());
    Ok(OwnedBytes::new(view.map_err(|reason| Error::damaged(path, "file", reason))?))
}
