//! Ranges of the inputs of matrix products, for engines that quantise with fixed scales
//! (`docs/spec/training.md` C.3).
//!
//! A model runs over sentences and their translations as in training. For each matrix and
//! sentence, the largest magnitude among the inputs of its products is recorded. The clip value of
//! the matrix is the mean of these maxima plus 1.1 standard deviations, so that few inputs of few
//! sentences are clipped.

use std::collections::BTreeMap;
use std::sync::Arc;

use miriam_nmt::architecture::Model;

use crate::dropout::Dropout;
use crate::error::{Error, Result};
use crate::kernels::Fast;
use crate::parameters::ParameterLayout;
use crate::tape::{LossOptions, PackedParameters};
use crate::trainable_model::TrainableModel;

/// The number of standard deviations between the mean and the clip value.
const DEVIATIONS: f64 = 1.1;

/// The smallest clip value: 127 divided by it, the factor of inputs, is far below infinity.
const MIN_CLIP: f32 = 1e-30;

/// Returns the clip value for the inputs of each matrix, by the matrix's name. `pairs` are sources
/// and translations, as ids with `</s>`.
///
/// # Errors
/// If there are no pairs, a parameter is missing, inputs are not finite, or the architecture is not
/// one that can be trained.
pub fn clip_values(model: &Model, pairs: &[(Vec<u32>, Vec<u32>)]) -> Result<BTreeMap<String, f32>> {
    if pairs.is_empty() {
        return Err(Error::config("the text for the calibration has only empty lines, or none"));
    }
    let architecture = model.architecture();
    let layout = ParameterLayout::new(architecture);
    let mut values = vec![0.0; layout.len()];
    for parameter in layout.iter() {
        let tensor = model.parameter(&parameter.name).ok_or_else(|| {
            Error::config(format!("{}: the parameter is missing", parameter.name))
        })?;
        values[parameter.range()].copy_from_slice(&tensor.values());
    }
    let kernels = Fast::default();
    let trainable = TrainableModel::<Fast>::new(architecture.clone())?;
    let mut tape = trainable.tape(kernels.clone());
    let packed = Arc::new(PackedParameters::new(trainable.registry(), &kernels, values));
    let mut maxima: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (source, target) in pairs {
        tape.begin(&packed, Dropout::default(), &[0]);
        trainable.loss(&mut tape, &[source], &[target], LossOptions::default())?;
        for (name, largest) in tape.input_maxima() {
            maxima.entry(name).or_default().push(largest);
        }
        tape.end();
    }
    let clips = maxima.into_iter().map(|(name, maxima)| {
        let clip = clip_value(&maxima);
        if !clip.is_finite() {
            let reason = "the inputs of this matrix are not finite numbers; the model has diverged";
            return Err(Error::config(format!("{name}: {reason}")));
        }
        Ok((name, clip))
    });
    clips.collect()
}

/// Returns the mean of maxima plus 1.1 standard deviations (dividing by n, not n - 1). Any clip
/// value fits inputs that are always zero; theirs is 1.
fn clip_value(maxima: &[f64]) -> f32 {
    let count = maxima.len() as f64;
    let mean = maxima.iter().sum::<f64>() / count;
    let variance = maxima.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    let clip = (mean + DEVIATIONS * variance.sqrt()) as f32;
    if clip < MIN_CLIP { 1.0 } else { clip }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::initial_values;
    use crate::tests::tiny_architecture;
    use crate::training::build_model;

    /// The maxima have mean 3 and standard deviation 1.
    #[test]
    fn a_clip_value_is_the_mean_and_deviations() {
        assert!((clip_value(&[2.0, 4.0]) - 4.1).abs() < 1e-6);
    }

    #[test]
    fn inputs_that_are_zero_or_not_finite_have_no_useless_clip_value() {
        assert_eq!(clip_value(&[0.0, 0.0]), 1.0);
        let architecture = tiny_architecture();
        let layout = ParameterLayout::new(&architecture);
        let values = vec![f32::NAN; layout.len()];
        let model = build_model(&architecture, &layout, &values).unwrap();
        let error = clip_values(&model, &[(vec![3, 0], vec![6, 0])]).unwrap_err().to_string();
        assert!(error.contains("not finite"), "{error}");
    }

    #[test]
    fn every_matrix_has_a_clip_value() {
        let architecture = tiny_architecture();
        let layout = ParameterLayout::new(&architecture);
        let values = initial_values(&architecture, 1, false);
        let model = build_model(&architecture, &layout, &values).unwrap();
        let pairs = [(vec![3, 4, 5, 0], vec![6, 0]), (vec![2, 0], vec![7, 8, 9, 0])];
        let found = clip_values(&model, &pairs).unwrap();
        let matrices = layout.iter().filter(|p| p.name.contains("_W") && p.shape[0] > 1);
        let mut count = 0;
        for parameter in matrices.filter(|p| !p.name.contains("_ln_")) {
            let clip = found.get(&parameter.name).unwrap_or_else(|| panic!("{}", parameter.name));
            assert!(*clip > 0.0 && clip.is_finite(), "{}: {clip}", parameter.name);
            count += 1;
        }
        // The tied table of the output layer is included.
        assert!(found.contains_key("Wemb"));
        assert_eq!(found.len(), count + 1);
        // Queries, keys and values of a layer have the same inputs.
        let [queries, keys, values] =
            ["q", "k", "v"].map(|name| found[&format!("encoder_l1_self_W{name}")]);
        assert_eq!((queries, keys), (values, values));
        assert!(clip_values(&model, &[]).is_err());
    }
}
