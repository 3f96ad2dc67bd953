//! Writing a model in the integers of browsers (`intgemm8`, with fixed scales of activations,
//! "alphas"), which bergamot's engines and Firefox open.
//!
//! A matrix has one multiplier, and so has the input of its products, so more is lost than by our
//! own eight bits, which have one for each row and column.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Architecture, Model, marian_options};
use crate::checkpoint::{MarianBinaryWriter, OPTIONS_ENTRY};
use crate::{Error, Result};

/// The largest integer of eight bits that quantisers write.
pub(crate) const LARGEST: f32 = 127.0;
/// What inputs and outputs of products are multiples of in the kernels of browsers.
const MULTIPLES: [usize; 2] = [64, 8];
/// The suffix of what the inputs of a matrix are multiplied by.
const MULTIPLIER_SUFFIX: &str = "_QuantMultA";
/// The name of what the inputs of a table as output layer are multiplied by.
pub(crate) const TABLE_AS_OUTPUT: &str = "none";

/// Writes `model` to the file `path` with matrices of eight bits. `clip_values` has for a matrix
/// the magnitude of its inputs that becomes 127 (those beyond it are clipped), under its name;
/// for a table that is the output layer, under the table's name.
///
/// # Errors
/// [`Error::Unsupported`] if it is no transformer, Marian has no option for a feature of it, or a
/// matrix has sizes that the kernels of browsers do not take; and if the file cannot be written.
pub fn write_marian_intgemm8(
    path: &Path,
    model: &Model,
    clip_values: &BTreeMap<String, f32>,
) -> Result<()> {
    let architecture = model.architecture();
    if !matches!(architecture, Architecture::Transformer(_)) {
        let reason = "browsers run transformers; write another kind of file";
        return Err(Error::unsupported(path, reason));
    }
    let mut options = marian_options(architecture, path)?.into_bytes();
    options.push(0);
    let mut writer = MarianBinaryWriter::default();
    let add_multiplier = |writer: &mut MarianBinaryWriter, matrix: &str, clip: f32| {
        let name = format!("{matrix}{MULTIPLIER_SUFFIX}");
        writer.add_f32(&name, &[1, 1], &[LARGEST / clip]);
    };
    for parameter in architecture.parameters() {
        let name = &parameter.name;
        let tensor = model.parameter(name);
        let tensor = tensor.ok_or_else(|| Error::mismatch(path, name, "it is missing"))?;
        let (values, [rows, columns]) = (tensor.values(), parameter.shape);
        let is_table = name.contains("Wemb");
        if !is_table && !is_matrix(name) {
            writer.add_f32(name, &parameter.shape, &values);
            continue;
        }
        let [inputs, outputs] = if is_table { [columns, rows] } else { [rows, columns] };
        for (what, size, multiple) in
            [("inputs", inputs, MULTIPLES[0]), ("outputs", outputs, MULTIPLES[1])]
        {
            if size % multiple != 0 {
                let reason = format!(
                    "{name} has {size} {what}; browsers' kernels take multiples of {multiple}: \
                     train with such sizes of layers and vocabularies"
                );
                return Err(Error::unsupported(path, reason));
            }
        }
        let (integers, multiplier) = quantize(&values);
        let integers = if is_table { integers } else { transpose(&integers, rows, columns) };
        writer.add_i8(name, &parameter.shape, &integers, multiplier);
        if let Some(&clip) = clip_values.get(name) {
            add_multiplier(&mut writer, name, clip);
            if is_table {
                add_multiplier(&mut writer, TABLE_AS_OUTPUT, clip);
            }
        }
    }
    writer.add_bytes(OPTIONS_ENTRY, &options);
    writer.write(path)
}

/// Whether browsers' engines multiply by that parameter in integers: its name ends in `_W` and at
/// most one character more.
fn is_matrix(name: &str) -> bool {
    let end = name.len();
    name.ends_with("_W") || end >= 3 && name.get(end - 3..end - 1) == Some("_W")
}

/// Numbers times 127 by the largest magnitude, to the nearest integer, and that multiplier.
fn quantize(values: &[f32]) -> (Vec<i8>, f32) {
    let largest = values.iter().fold(0f32, |most, value| most.max(value.abs()));
    // A matrix of zeros is multiplied by anything.
    let multiplier = if largest > 0.0 { LARGEST / largest } else { 1.0 };
    let integer = |value: &f32| (value * multiplier).round_ties_even().clamp(-LARGEST, LARGEST);
    (values.iter().map(|value| integer(value) as i8).collect(), multiplier)
}

fn transpose(values: &[i8], rows: usize, columns: usize) -> Vec<i8> {
    let column = |column: usize| (0..rows).map(move |row| values[row * columns + column]);
    (0..columns).flat_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_those_that_are_multiplied_in_integers() {
        for name in ["encoder_l1_self_Wq", "decoder_l2_rnn_W", "decoder_l1_rnn_Wf", "x_ffn_W1"] {
            assert!(is_matrix(name), "{name}");
        }
        for name in ["encoder_l1_self_bq", "decoder_ff_logit_out_b", "l1_Wo_ln_scale", "W"] {
            assert!(!is_matrix(name), "{name}");
        }
    }

    #[test]
    fn the_largest_magnitude_becomes_127() {
        let (integers, multiplier) = quantize(&[0.5, -2.0, 1.0, 0.0]);
        assert_eq!((&integers[..], multiplier), (&[32, -127, 64, 0][..], 63.5));
        assert_eq!(transpose(&integers, 2, 2), [32, 64, -127, 0]);
        assert_eq!(quantize(&[0.0; 2]), (vec![0; 2], 1.0));
    }
}
