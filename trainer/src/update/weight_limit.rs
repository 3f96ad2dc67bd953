//! Limit on the magnitude of weights (`clip-products`, `docs/spec/training.md` C.3): a model with
//! small weights and activations loses little when it is quantised with fixed scales.

use crate::Real;
use crate::parameters::ParameterLayout;

/// Clips matrices and tables of `values`, a flat vector of `layout`, at the magnitude `limit`.
/// Tensors of one row, which are not weights of matrix products, are unchanged.
///
/// # Panics
/// If the number of values differs from the layout's.
pub fn limit_weights<R: Real>(layout: &ParameterLayout, values: &mut [R], limit: f32) {
    assert_eq!(values.len(), layout.len(), "one value per parameter");
    let limit = R::of(f64::from(limit));
    for parameter in layout.iter().filter(|parameter| parameter.shape[0] > 1) {
        for value in &mut values[parameter.range()] {
            *value = value.clipped(limit);
        }
    }
}
