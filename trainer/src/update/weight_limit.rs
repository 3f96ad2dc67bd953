//! Weights within a magnitude (`clip-products`, `docs/spec/training.md` C.3): a model whose weights
//! and activations are small is quantised with fixed scales at little loss.

use crate::Real;
use crate::parameters::ParameterLayout;

/// Clips matrices and tables of `values`, a flat vector of `layout`, at the magnitude `limit`.
/// Tensors of one row, which are not weights of products, stay.
///
/// # Panics
/// If there are not as many values as the layout has.
pub fn limit_weights<R: Real>(layout: &ParameterLayout, values: &mut [R], limit: f32) {
    assert_eq!(values.len(), layout.len(), "values of the layout");
    let limit = R::of(f64::from(limit));
    for parameter in layout.iter().filter(|parameter| parameter.shape[0] > 1) {
        for value in &mut values[parameter.range()] {
            *value = value.clipped(limit);
        }
    }
}
