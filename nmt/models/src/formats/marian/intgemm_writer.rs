//! Writer of models for bergamot's engines in browsers: `intgemm16`, or `intgemm8` with fixed
//! scales of activations ("alphas") if they are known. Firefox needs these scales.
//!
//! A matrix and its input have one multiplier each. Eight bits thus lose more than in our precision
//! `i8`, which has a multiplier for each row of the input and each column of the matrix.

use std::collections::BTreeMap;
use std::path::Path;

use super::options::marian_options;
use crate::architecture::{Architecture, Model};
use crate::checkpoint::{
    ACTIVATION_MULTIPLIER_SUFFIX, MarianBinaryWriter, OPTIONS_ENTRY, transpose,
};
use crate::packed::{MAX_I8, TIED_OUTPUT_ALPHA};
use crate::{Error, Result};

/// The multiplier of sixteen-bit matrices (Devlin 2017).
const MULTIPLIER_I16: f32 = 1024.0;
/// The number of outputs of a product must be a multiple of this in the kernels of browsers.
const OUTPUT_MULTIPLE: usize = 8;

/// The integers of a file for browsers.
#[derive(Clone, Copy, Debug)]
pub enum IntgemmKind<'a> {
    /// Eight bits. For each matrix, by name, the magnitude of its inputs that becomes 127 (larger
    /// ones are clipped). An output layer that is a table has the name of the table. If the map is
    /// empty, the multipliers of the model are kept.
    Eight(&'a BTreeMap<String, f32>),
    /// Sixteen bits.
    Sixteen,
}

impl IntgemmKind<'_> {
    /// Returns the number that must divide the number of inputs of a product in the kernels of
    /// browsers: the number of integers in the widest register.
    fn input_multiple(self) -> usize {
        match self {
            IntgemmKind::Eight(_) => 64,
            IntgemmKind::Sixteen => 32,
        }
    }
}

/// Writes `model` to the file `path` with matrices of integers (`neural.md` 1.2).
///
/// # Errors
/// [`Error::Unsupported`] if it is not a transformer, Marian has no option for a feature of it, or
/// a matrix has sizes that the kernels of browsers do not support. Also if the file cannot be
/// written.
pub fn write_marian_intgemm(path: &Path, model: &Model, kind: IntgemmKind) -> Result<()> {
    let architecture = model.architecture();
    if !matches!(architecture, Architecture::Transformer(shape) if shape.has_source()) {
        let reason = "browsers run only transformers that translate; choose another format";
        return Err(Error::unsupported(path, reason));
    }
    let mut options = marian_options(architecture, path)?.into_bytes();
    options.push(0);
    let mut writer = MarianBinaryWriter::default();
    for parameter in architecture.parameters() {
        let name = &parameter.name;
        let tensor = model.parameter(name);
        let tensor = tensor.ok_or_else(|| Error::mismatch(path, name, "it is missing"))?;
        let (values, shape) = (tensor.values(), parameter.shape);
        let is_table = name.contains("Wemb");
        if !is_table && !is_matrix(name) {
            writer.add_f32(name, &shape, &values);
            continue;
        }
        let [inputs, outputs] = if is_table { [shape[1], shape[0]] } else { shape };
        for (what, size, multiple) in
            [("inputs", inputs, kind.input_multiple()), ("outputs", outputs, OUTPUT_MULTIPLE)]
        {
            if size % multiple != 0 {
                let reason = format!(
                    "{name} has {size} {what}; browsers' kernels take multiples of {multiple}: \
                     train with such sizes of layers and vocabularies"
                );
                return Err(Error::unsupported(path, reason));
            }
        }
        // A table is looked up by rows; a matrix is multiplied by columns.
        let by_outputs = if is_table { values } else { transpose(&values, shape[0], shape[1]) };
        match kind {
            IntgemmKind::Eight(clip_values) => {
                let multiplier = multiplier_i8(&by_outputs);
                let integers: Vec<i8> = by_outputs
                    .iter()
                    .map(|value| quantize(*value, multiplier, MAX_I8) as i8)
                    .collect();
                writer.add_i8(name, &shape, &integers, multiplier);
                let Some(clip) = clip_values.get(name) else { continue };
                let names = [name.as_str(), TIED_OUTPUT_ALPHA];
                for matrix in &names[..1 + usize::from(is_table)] {
                    let name = format!("{matrix}{ACTIVATION_MULTIPLIER_SUFFIX}");
                    writer.add_f32(&name, &[1, 1], &[MAX_I8 / clip]);
                }
            }
            IntgemmKind::Sixteen => {
                let multiplier = MULTIPLIER_I16;
                let largest = f32::from(i16::MAX);
                let integers: Vec<i16> = by_outputs
                    .iter()
                    .map(|value| quantize(*value, multiplier, largest) as i16)
                    .collect();
                writer.add_i16(name, &shape, &integers, multiplier);
            }
        }
    }
    if matches!(kind, IntgemmKind::Eight(clip_values) if clip_values.is_empty()) {
        for (matrix, multiplier) in model.activation_multipliers() {
            let name = format!("{matrix}{ACTIVATION_MULTIPLIER_SUFFIX}");
            writer.add_f32(&name, &[1, 1], &[*multiplier]);
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

/// Returns 127 divided by the largest magnitude.
fn multiplier_i8(values: &[f32]) -> f32 {
    let largest = values.iter().fold(0f32, |most, value| most.max(value.abs()));
    // Any multiplier fits a matrix of zeros.
    if largest > 0.0 { MAX_I8 / largest } else { 1.0 }
}

/// Returns a number times `multiplier`, rounded to an integer of at most `largest` in magnitude.
fn quantize(value: f32, multiplier: f32, largest: f32) -> f32 {
    (value * multiplier).round_ties_even().clamp(-largest, largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_integer_matrices_are_recognised() {
        for name in ["encoder_l1_self_Wq", "decoder_l2_rnn_W", "decoder_l1_rnn_Wf", "x_ffn_W1"] {
            assert!(is_matrix(name), "{name}");
        }
        for name in ["encoder_l1_self_bq", "decoder_ff_logit_out_b", "l1_Wo_ln_scale", "W"] {
            assert!(!is_matrix(name), "{name}");
        }
    }

    #[test]
    fn the_largest_magnitude_becomes_127() {
        let values = [0.5, -2.0, 1.0, 0.0];
        let multiplier = multiplier_i8(&values);
        assert_eq!(multiplier, 63.5);
        let integers = values.map(|value| quantize(value, multiplier, MAX_I8));
        assert_eq!(integers, [32.0, -127.0, 64.0, 0.0]);
        assert_eq!(transpose(&integers, 2, 2), [32.0, 64.0, -127.0, 0.0]);
        assert_eq!(multiplier_i8(&[0.0; 2]), 1.0);
    }

    #[test]
    fn sixteen_bit_weights_are_clipped_at_32() {
        let integer = |value| quantize(value, MULTIPLIER_I16, f32::from(i16::MAX));
        assert_eq!([0.5, -31.0, 32.0, -33.0].map(integer), [512.0, -31744.0, 32767.0, -32767.0]);
    }
}
