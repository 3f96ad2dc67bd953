//! Tests that the distributions of initial values are those of `docs/spec/training.md` B.4.

use std::ops::Range;

use miriam_nmt::architecture::Architecture;
use miriam_trainer::{ParameterLayout, initial_values};

use crate::architectures::all;

struct Initial {
    layout: ParameterLayout,
    values: Vec<f32>,
}

impl Initial {
    fn new(name: &str, seed: u64, depth_scaling: bool) -> Self {
        let find = |(known, _): &(&str, Architecture)| *known == name;
        let (_, architecture) = all().into_iter().find(find).expect("an architecture of the list");
        let values = initial_values(&architecture, seed, depth_scaling);
        Initial { layout: ParameterLayout::new(&architecture), values }
    }

    fn values(&self, name: &str) -> &[f32] {
        let parameter = self.layout.get(name).unwrap_or_else(|| panic!("{name} is there"));
        &self.values[parameter.range()]
    }

    /// Checks that values are plausibly uniform between minus and plus `limit`.
    fn assert_uniform(&self, name: &str, limit: f64) {
        let values = self.values(name);
        let largest = values.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
        // All n values are below 1 - 7/n of the limit only once in a thousand times.
        let least = limit * (1.0 - 7.0 / values.len() as f64).max(0.3);
        let range: Range<f64> = least..limit * (1.0 + 1e-6);
        assert!(range.contains(&f64::from(largest)), "{name}: {largest} is not in {range:?}");
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / values.len() as f64;
        // Four standard deviations of the mean.
        let most = 4.0 * limit / (3.0 * values.len() as f64).sqrt();
        assert!(mean.abs() < most, "{name}: a mean of {mean}");
    }
}

#[test]
fn matrices_and_tables_have_marians_limits() {
    let glorot_limit = |inputs: f64, outputs: f64| (6.0 / (inputs + outputs)).sqrt();
    let model = Initial::new("transformer, pre-norm, untied", 1, false);
    for table in ["encoder_Wemb", "decoder_Wemb"] {
        model.assert_uniform(table, (3.0f64 / 8.0).sqrt());
    }
    model.assert_uniform("decoder_ff_logit_out_Wt", (3.0f64 / 8.0).sqrt());
    model.assert_uniform("encoder_l2_self_Wq", glorot_limit(8.0, 8.0));
    model.assert_uniform("decoder_l2_ffn_W1", glorot_limit(8.0, 12.0));
    // Limits are those of stored matrices: two gates share one matrix.
    let model = Initial::new("gru", 1, false);
    model.assert_uniform("Wemb", (3.0f64 / 6.0).sqrt());
    model.assert_uniform("encoder_bi_U", glorot_limit(5.0, 10.0));
    model.assert_uniform("encoder_bi_Ux", glorot_limit(5.0, 5.0));
    model.assert_uniform("encoder_bi_W", glorot_limit(6.0, 10.0));
    // The vector of attention counts as a matrix with one column.
    model.assert_uniform("decoder_U_att", glorot_limit(10.0, 1.0));
}

#[test]
fn depth_scaling_applies_to_the_matrices_of_transformer_layers() {
    let [plain, scaled] =
        [false, true].map(|scaling| Initial::new("transformer, pre-norm, untied", 3, scaling));
    for parameter in plain.layout.iter() {
        let name = &parameter.name;
        let is_deep = name.contains("_l2_") && parameter.shape[0] > 1;
        let factor = if is_deep { 2.0f32.sqrt().recip() } else { 1.0 };
        for (&before, &after) in plain.values(name).iter().zip(scaled.values(name)) {
            assert!((before * factor - after).abs() < 1e-7, "{name}: {before} {after}");
        }
    }
}

#[test]
fn vectors_are_scales_of_one_and_biases_of_zero() {
    for (kind, _) in all() {
        let model = Initial::new(kind, 1, false);
        let mut scales = 0;
        for parameter in model.layout.iter() {
            let (name, values) = (&parameter.name, model.values(&parameter.name));
            let is_scale =
                ["gamma", "_scale", "_lns", "_ln_s"].iter().any(|part| name.contains(part));
            scales += usize::from(is_scale);
            match (is_scale, parameter.shape[0]) {
                (true, _) => assert!(values.iter().all(|&x| x == 1.0), "{kind}: {name}"),
                (false, 1) => assert!(values.iter().all(|&x| x == 0.0), "{kind}: {name}"),
                (false, _) => {
                    let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
                    assert!(differ, "{kind}: {name}");
                }
            }
        }
        let has_norms = kind.contains("norm") || kind.contains("nematus");
        assert!(scales > 0 || !has_norms, "{kind}");
    }
}

#[test]
fn values_are_drawn_by_seed_and_name() {
    let [one, two] = [1, 2].map(|seed| Initial::new("gru", seed, false));
    assert_ne!(one.values("Wemb"), two.values("Wemb"));
    assert_ne!(one.values("encoder_bi_Ux"), one.values("encoder_bi_r_Ux"));
    // Other parameters have no influence: here the decoder's cells are deeper.
    let deep = Initial::new("deep gru with norms", 1, false);
    assert_eq!(one.values("decoder_cell1_U"), deep.values("decoder_cell1_U"));
}
