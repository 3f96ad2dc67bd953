//! Writer of model files: a model, its vocabularies and its shortlist in one file.
//!
//! The file has weights as the engine packs them; therefore this crate writes it. The module
//! [`formats::miriam`](miriam_nmt_models::formats::miriam) defines its layout.

use std::collections::BTreeMap;
use std::path::Path;

use miriam_textio::Progress;

use crate::engine::{UsedParameters, packs_losslessly};
use crate::network::used_parameters;
use crate::{Error, Result};
use miriam_nmt_models::ModelBundle;
use miriam_nmt_models::architecture::Model;
use miriam_nmt_models::checkpoint::Tensor;
use miriam_nmt_models::formats::miriam::{self, LosslessColumns, StoredWeights};
use miriam_nmt_models::packed::{Precision, is_transposed, matrix_names};

/// Writes `bundle`, which must have one model, to the file `output`. Returns descriptions of
/// the parts that the file leaves out.
///
/// The weights of GEMMs are packed, so that opening the file packs nothing. With `precision`, the
/// file is for that precision only. Without it, weights are packed in the model's own precision
/// ([`Model::stored_precision`]), and the file keeps the parameters that other precisions need.
///
/// # Errors
/// If `bundle` is an ensemble, its model cannot be packed in the precision, the file cannot be
/// written, or a tensor cannot be stored.
pub fn write(
    bundle: &ModelBundle,
    precision: Option<Precision>,
    output: &Path,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let [model] = &bundle.models[..] else {
        let reason = format!(
            "an ensemble of {} models; convert each model by itself and list the files together",
            bundle.models.len()
        );
        return Err(Error::unsupported(&bundle.path, reason));
    };
    // Rounded weights cannot be used in another precision.
    let only_precision = precision.or(model.precision());
    let packed_as = only_precision.unwrap_or_else(|| model.stored_precision());
    let used = used_parameters(model, &bundle.path, packed_as)?;
    fn is_stored(
        name: &str,
        only_precision: &Option<Precision>,
        used_plain: &std::collections::BTreeSet<String>,
    ) -> bool {
        only_precision.is_none() || used_plain.contains(name)
    }
    let mut columns = lossless_columns(model, &used, packed_as);
    columns.retain(|name, _| is_stored(name, &only_precision, &used.plain));
    let parameters = model
        .parameters()
        .filter(|(name, _)| is_stored(name, &only_precision, &used.plain))
        .collect();
    let packed = used.packed.iter().map(|(key, weights)| (&key[..], weights.packed_parts()));
    let packed = packed.collect();
    let weights = StoredWeights { only_precision, packed_as, packed, parameters, columns };
    miriam::write(bundle, model, &weights, output, progress)
}

/// Returns, for each parameter that a packed matrix stores without loss, the columns of the matrix
/// that have its numbers.
fn lossless_columns(
    model: &Model,
    used: &UsedParameters,
    precision: Precision,
) -> BTreeMap<String, LosslessColumns> {
    let mut all = BTreeMap::new();
    for (matrix, key) in (0..).zip(used.packed.keys()) {
        let names: Vec<&str> = matrix_names(key).collect();
        let tensors: Option<Vec<&Tensor>> =
            names.iter().map(|name| model.parameter(name)).collect();
        let (layout, transposed) = (precision.layout(names[0]), is_transposed(key));
        let Some(tensors) = tensors.filter(|all| packs_losslessly(layout, all, transposed)) else {
            continue;
        };
        let mut first = 0;
        for (name, tensor) in names.iter().zip(tensors) {
            let columns = tensor.shape()[if transposed { 0 } else { 1 }] as u64;
            all.entry((*name).to_owned()).or_insert(LosslessColumns { matrix, first });
            first += columns;
        }
    }
    all
}
