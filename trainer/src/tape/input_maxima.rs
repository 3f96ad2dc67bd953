//! Largest absolute inputs of products, for their quantisation by fixed scales.

use std::collections::BTreeMap;

use miriam_kernels::MatRef;

use super::Tape;
use super::node::{Op, Values};
use super::weights::AffineSpec;
use crate::Real;
use crate::kernels::Kernels;

impl<K: Kernels> Tape<K> {
    /// For each matrix, under its name, the largest magnitude among the inputs of its products
    /// since [`begin`](Tape::begin); of a table the products of the output layer.
    pub fn input_maxima(&self) -> BTreeMap<String, f64> {
        let mut maxima: BTreeMap<String, f64> = BTreeMap::new();
        let values = Values { nodes: &self.nodes, values: &self.values };
        let mut add = |spec: &AffineSpec, input: MatRef<'_, K::Real>| {
            let rows = (0..input.rows()).flat_map(|row| input.row(row));
            let largest = rows.fold(0.0, |most: f64, x| most.max(x.as_f64().abs()));
            for part in &spec.parts {
                let mut all = self.registry.layout().iter();
                let Some(parameter) = all.find(|parameter| parameter.offset == part.offset) else {
                    continue;
                };
                let most = maxima.entry(parameter.name.clone()).or_default();
                *most = most.max(largest);
            }
        };
        for node in &self.nodes {
            match &node.op {
                Op::Affine { input, weights, .. } => {
                    add(self.registry.affine(*weights), values.of(*input));
                }
                Op::CrossEntropy { hidden, weights } => {
                    add(self.registry.affine(*weights), values.of(*hidden));
                }
                _ => {}
            }
        }
        maxima
    }
}
