//! Checkpoints: the named tensors of a model file of another program, in any supported
//! format.
//!
//! Opening maps the file and reads its directory; weights stay in the mapped file until
//! their values are needed. Tensors have the names of the file; [`crate::architecture`] knows
//! what the names mean. [`NpzWriter`] writes the checkpoints of training.

mod ctranslate2;
mod cursor;
mod marian_binary;
mod marian_binary_writer;
mod npz_writer;
mod numpy;
mod owned_bytes;
mod pickle;
mod pytorch;
mod safetensors;
mod tensor;
mod tensor_data;
mod torch_names;
mod zip_archive;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use miriam_storage::{Bytes, LoadMethod, View};

use crate::{Error, Result, compressed};

pub use marian_binary_writer::MarianBinaryWriter;
pub use npz_writer::NpzWriter;
pub use owned_bytes::OwnedBytes;
pub use tensor::{DType, QuantMultipliers, StorageOrder, Tensor, transpose};
pub(crate) use tensor_data::PackedColumns;

/// The entry with the options of a model, in YAML.
pub(crate) const OPTIONS_ENTRY: &str = "special:model.yml";

/// The file format of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointFormat {
    /// A zip archive of NumPy arrays: Marian, Nematus, Amun.
    Npz,
    /// Marian's `.bin`.
    MarianBinary,
    /// CTranslate2's `model.bin`.
    CTranslate2 {
        /// The version of the file layout.
        version: u32,
        /// The revision of the model specification.
        revision: u32,
    },
    /// Hugging Face's `safetensors`.
    Safetensors,
    /// PyTorch's pickle of tensors, `pytorch_model.bin`.
    PyTorch,
}

impl std::fmt::Display for CheckpointFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CheckpointFormat::Npz => f.write_str("NumPy archive"),
            CheckpointFormat::MarianBinary => f.write_str("Marian binary"),
            CheckpointFormat::CTranslate2 { version, revision } => {
                write!(f, "CTranslate2 version {version}, revision {revision}")
            }
            CheckpointFormat::Safetensors => f.write_str("safetensors"),
            CheckpointFormat::PyTorch => f.write_str("PyTorch pickle"),
        }
    }
}

/// Suffix of the names of quantisation multipliers for the input activations of a matrix.
pub(crate) const ACTIVATION_MULTIPLIER_SUFFIX: &str = "_QuantMultA";

/// The reason for which an entry of a pickle that is not a tensor is skipped.
pub(crate) const NOT_A_TENSOR: &str = "it is not a tensor";

/// The tensors of a file by name, with the options stored among them.
pub struct Checkpoint {
    path: PathBuf,
    format: CheckpointFormat,
    tensors: BTreeMap<String, Tensor>,
    /// The original names of aliases.
    aliases: BTreeMap<String, String>,
    options: Option<Vec<u8>>,
    skipped: Vec<(String, String)>,
    activation_multipliers: BTreeMap<String, f32>,
    is_for_browsers: bool,
    /// The kind of model, where the format names one.
    model_kind: Option<String>,
}

impl Checkpoint {
    /// Opens the file at `path`, plain or compressed by gzip or zstd; its first bytes tell the
    /// format.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is in no supported format.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_bytes(&compressed::open_with(path, load)?, path)
    }

    /// Whether the file at `path` has the first bytes of a format whose files cannot be mistaken
    /// for text: NumPy archives and Marian's `.bin`.
    pub(crate) fn is_found_at(path: &Path) -> bool {
        let mut head = [0; 16];
        // Opening a pipe would consume its bytes.
        path.is_file()
            && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
            && (head.starts_with(numpy::MAGIC) || marian_binary::is_plausible(&head))
    }

    /// Reads a checkpoint from memory; `path` names it in messages.
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`].
    pub fn from_bytes(bytes: &Bytes, path: &Path) -> Result<Self> {
        let window = whole_file(bytes, path)?;
        if bytes.starts_with(numpy::MAGIC) {
            let archive = zip_archive::ZipArchive::open(&window, path)?;
            if pytorch::is_archive(&archive) {
                return pytorch::read_archive(archive, path);
            }
            numpy::read(archive, path)
        } else if pytorch::is_plausible(bytes) {
            pytorch::read_file(&window, path)
        } else if ctranslate2::is_plausible(bytes) {
            ctranslate2::read(&window, path)
        } else if marian_binary::is_plausible(bytes) {
            marian_binary::read(&window, path)
        } else if bytes.get(8) == Some(&b'{') {
            safetensors::read(&window, path)
        } else {
            let reason = "not a model that this program knows: give a Marian .npz or .bin, its \
                          decoder.yml, a folder of CTranslate2, Hugging Face or Firefox, an OPUS-MT \
                          zip, an .argosmodel, or a file of miriam nmt convert; unpack other archives";
            Err(Error::unsupported(path, reason))
        }
    }

    /// Returns the names and contents of the files in the zip archive `bytes` that `is_wanted`
    /// accepts; `path` names the archive in messages.
    pub(crate) fn read_archive(
        bytes: &Bytes,
        path: &Path,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, Bytes)>> {
        zip_archive::ZipArchive::open(&whole_file(bytes, path)?, path)?.read_files(is_wanted)
    }

    /// Checks the whole file at `path` against the checksums that its format has, if any.
    ///
    /// # Errors
    /// If the file cannot be read, a checksum does not match or the file is damaged.
    pub fn verify_file(path: &Path) -> Result<()> {
        Self::verify(&compressed::open(path)?, path)
    }

    /// Works as [`Checkpoint::verify_file`] on a file in memory; `path` names it in messages.
    ///
    /// # Errors
    /// Those of [`Checkpoint::verify_file`].
    pub fn verify(bytes: &Bytes, path: &Path) -> Result<()> {
        if bytes.starts_with(numpy::MAGIC) {
            numpy::verify(&whole_file(bytes, path)?, path)?;
        }
        Ok(())
    }

    pub(crate) fn new(path: &Path, format: CheckpointFormat) -> Self {
        Checkpoint {
            path: path.to_owned(),
            format,
            tensors: BTreeMap::new(),
            aliases: BTreeMap::new(),
            options: None,
            skipped: Vec::new(),
            activation_multipliers: BTreeMap::new(),
            is_for_browsers: false,
            model_kind: None,
        }
    }

    /// Returns the kind of model, such as `TransformerSpec`, where the format names one.
    pub fn model_kind(&self) -> Option<&str> {
        self.model_kind.as_deref()
    }

    /// Whether Marian's fork for browsers packed the file: its integer types have other numbers.
    pub fn is_for_browsers(&self) -> bool {
        self.is_for_browsers
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's format.
    pub fn format(&self) -> CheckpointFormat {
        self.format
    }

    /// Returns Marian's options in YAML, if the file has them.
    pub fn options(&self) -> Option<&[u8]> {
        self.options.as_deref()
    }

    /// Returns the names of all tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Returns the tensor of that name.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// Returns the original name of an alias.
    pub fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    /// Returns entries that cannot be parameters, each with the reason.
    pub fn skipped_tensors(&self) -> &[(String, String)] {
        &self.skipped
    }

    /// Returns the quantisation multipliers of input activations, by the name of the matrix that
    /// the activations are multiplied with; `none` is the tied output layer.
    pub fn activation_multipliers(&self) -> &BTreeMap<String, f32> {
        &self.activation_multipliers
    }

    /// Removes and returns the tensor of that name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    /// Adds the tensors of another file: a shard of the same model.
    pub(crate) fn join(&mut self, shard: Checkpoint) -> Result<()> {
        self.skipped.extend(shard.skipped);
        for (name, tensor) in shard.tensors {
            if self.tensors.contains_key(&name) {
                let reason = format!("{} has it too", self.path.display());
                return Err(Error::mismatch(&shard.path, &name, reason));
            }
            self.tensors.insert(name, tensor);
        }
        Ok(())
    }

    pub(crate) fn insert(&mut self, name: &str, tensor: Tensor) -> Result<()> {
        if self.tensors.insert(name.to_owned(), tensor).is_some() {
            return Err(Error::damaged(&self.path, name, "it occurs twice"));
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

    /// Makes `name` an alias of the tensor `original`. The tensor can be taken under each name,
    /// because converters store equal tensors once.
    fn set_alias(&mut self, name: &str, original: &str) -> Result<()> {
        let Some(tensor) = self.tensors.get(original).cloned() else {
            let reason = format!("it is an alias of {original}, which is missing");
            return Err(Error::damaged(&self.path, name, reason));
        };
        self.insert(name, tensor)?;
        self.aliases.insert(name.to_owned(), original.to_owned());
        Ok(())
    }

    /// Adds a tensor of Marian's formats: a parameter, or the quantisation multiplier of a matrix's
    /// inputs.
    fn insert_or_set_multiplier(&mut self, name: &str, tensor: Tensor) -> Result<()> {
        let Some(matrix) = name.strip_suffix(ACTIVATION_MULTIPLIER_SUFFIX) else {
            return self.insert(name, tensor);
        };
        match tensor.values()[..] {
            [multiplier] if multiplier.is_finite() && multiplier > 0.0 => {
                self.activation_multipliers.insert(matrix.to_owned(), multiplier);
                Ok(())
            }
            _ => Err(Error::damaged(&self.path, name, "expected one positive number")),
        }
    }
}

fn whole_file(bytes: &Bytes, path: &Path) -> Result<OwnedBytes> {
    let view = View::new(bytes, 0, bytes.len());
    Ok(OwnedBytes::new(view.map_err(|reason| Error::damaged(path, "file", reason))?))
}
