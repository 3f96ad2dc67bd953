//! Writer of Marian's models (`neural.md` 1.1): parameters and options in one `.npz`. Models with
//! Nematus' layer norms have a separate type, for which Marian looks for Nematus' names.

use std::path::Path;

use super::options::marian_options;
use crate::Result;
use crate::architecture::{Architecture, LayerNormStyle, NEMATUS_NAMING_MARK, ParameterSpec};
use crate::checkpoint::{NpzWriter, OPTIONS_ENTRY};
use crate::formats::nematus;

/// Writes a model to the file `path` as Marian does: a `.npz` of f32 and the options in YAML.
/// `values` gives the elements of each parameter in row-major order; they are requested one
/// parameter at a time and are not copied.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if Marian has no option for a feature of
/// `architecture`, [`Error::Mismatch`](crate::Error::Mismatch) if that is not valid or `values`
/// gives the wrong number of elements. Also if the file cannot be written; an old file at `path`
/// then stays.
pub fn write_marian_npz<V: AsRef<[f32]>>(
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
    let mut archive = NpzWriter::create(path)?;
    for parameter in architecture.parameters() {
        let renamed = has_nematus_names.then(|| nematus::nematus_name(&parameter.name)).flatten();
        let name = renamed.as_deref().unwrap_or(&parameter.name);
        archive.add_f32(name, &parameter.shape, values(&parameter).as_ref())?;
    }
    if has_nematus_names {
        archive.add_f32(NEMATUS_NAMING_MARK, &[1], &[0.0])?;
    }
    archive.add_bytes(OPTIONS_ENTRY, &options)?;
    archive.finish()
}
