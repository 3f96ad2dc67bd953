//! Largest absolute inputs of matrix products, for their quantisation by fixed scales.

use std::collections::BTreeMap;

use super::Tape;
use super::node::{Op, Values};
use crate::Real;
use crate::kernels::Kernels;

impl<K: Kernels> Tape<K> {
    /// Returns, by the name of each matrix, the largest magnitude among the inputs of its products
    /// since [`begin`](Tape::begin); NaN if an input is NaN. For a table, these are the products of
    /// the output layer.
    pub fn input_maxima(&self) -> BTreeMap<String, f64> {
        let mut maxima: BTreeMap<String, f64> = BTreeMap::new();
        let values = Values { nodes: &self.nodes, values: &self.values };
        for node in &self.nodes {
            let (input, weights) = match &node.op {
                Op::Affine { input, weights, .. } => (values.of(*input), *weights),
                Op::CrossEntropy { hidden, weights } => (values.of(*hidden), *weights),
                _ => continue,
            };
            let numbers = (0..input.rows()).flat_map(|row| input.row(row));
            let largest = numbers.fold(0.0, |most, x| nan_max(most, x.as_f64().abs()));
            for part in &self.registry.affine(weights).parts {
                let mut all = self.registry.layout().iter();
                let Some(parameter) = all.find(|parameter| parameter.offset == part.offset) else {
                    continue;
                };
                let most = maxima.entry(parameter.name.clone()).or_default();
                *most = nan_max(*most, largest);
            }
        }
        maxima
    }
}

/// Returns the larger number, or NaN if one is NaN.
fn nan_max(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}
