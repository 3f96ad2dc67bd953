//! Writer of Marian's models (`neural.md` 1.1 and 1.2): parameters in f32 and options in one `.npz`
//! or `.bin`. Models with Nematus' layer norms have a type of their own, and Marian expects
//! Nematus' names in them.

use std::path::Path;

use super::options::marian_options;
use crate::architecture::{Architecture, LayerNormStyle, NEMATUS_NAMING_MARK, ParameterSpec};
use crate::checkpoint::{MarianBinaryWriter, NpzWriter, OPTIONS_ENTRY};
use crate::formats::nematus;
use crate::{Error, Result};

/// Writes a model to the file `path` as Marian does: parameters in f32 and options in YAML. As in
/// Marian, the name of the file decides its format: Marian's binary one if it ends in `.bin`, else
/// `.npz`. `values` gives the elements of each parameter in row-major order. They are requested one
/// parameter at a time, and a `.npz` does not copy them.
///
/// # Errors
/// [`Error::Unsupported`] if Marian has no option for a feature of `architecture`,
/// [`Error::Mismatch`] if `architecture` is not valid or `values` gives the wrong number of
/// elements. Also if the file cannot be written; an old file at `path` then stays.
pub fn write_marian_model<V: AsRef<[f32]>>(
    path: &Path,
    architecture: &Architecture,
    mut values: impl FnMut(&ParameterSpec) -> V,
) -> Result<()> {
    let mut options = marian_options(architecture, path)?.into_bytes();
    options.push(0);
    // Marian finds the parameters of this type under Nematus' names only.
    let has_nematus_names = matches!(
        architecture,
        Architecture::Recurrent(recurrent)
            if recurrent.layer_norm_style == Some(LayerNormStyle::Nematus)
    );
    let mut file = ModelWriter::create(path)?;
    for parameter in architecture.parameters() {
        let renamed = has_nematus_names.then(|| nematus::nematus_name(&parameter.name)).flatten();
        let name = renamed.as_deref().unwrap_or(&parameter.name);
        let values = values(&parameter);
        let (values, shape) = (values.as_ref(), parameter.shape);
        if values.len() != shape.iter().product::<usize>() {
            let reason = format!("{} numbers do not fit the shape {shape:?}", values.len());
            return Err(Error::mismatch(path, name, reason));
        }
        file.add_f32(name, &shape, values)?;
    }
    if has_nematus_names {
        file.add_f32(NEMATUS_NAMING_MARK, &[1], &[0.0])?;
    }
    file.finish(path, &options)
}

/// A model in one of Marian's formats.
enum ModelWriter {
    Npz(Box<NpzWriter>),
    Binary(MarianBinaryWriter),
}

impl ModelWriter {
    fn create(path: &Path) -> Result<Self> {
        Ok(match path.extension() {
            Some(extension) if extension == "bin" => {
                ModelWriter::Binary(MarianBinaryWriter::default())
            }
            _ => ModelWriter::Npz(Box::new(NpzWriter::create(path)?)),
        })
    }

    fn add_f32(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Result<()> {
        match self {
            ModelWriter::Npz(archive) => archive.add_f32(name, shape, values)?,
            ModelWriter::Binary(items) => items.add_f32(name, shape, values),
        }
        Ok(())
    }

    fn finish(self, path: &Path, options: &[u8]) -> Result<()> {
        match self {
            ModelWriter::Npz(mut archive) => {
                archive.add_bytes(OPTIONS_ENTRY, options)?;
                archive.finish()
            }
            ModelWriter::Binary(mut items) => {
                items.add_bytes(OPTIONS_ENTRY, options);
                items.write(path)
            }
        }
    }
}
