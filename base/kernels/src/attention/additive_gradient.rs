//! The gradient of additive attention.

use super::{dot, shape};
use crate::activation::tanh;
use crate::isa::{Isa, LANES, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// The inputs of an additive attention, as in [`attend_additive`](super::attend_additive), and the
/// attention weights that it computed.
#[derive(Clone, Copy, Debug)]
pub struct AdditiveAttention<'a> {
    /// `[positions, width]`.
    pub keys: MatRef<'a, f32>,
    /// `[positions, columns]`, not packed.
    pub values: MatRef<'a, f32>,
    /// `[width]`.
    pub v: &'a [f32],
    /// `[rows, width]`.
    pub queries: MatRef<'a, f32>,
    /// The attention weights, `[rows, positions]`.
    pub weights: MatRef<'a, f32>,
}

/// The gradients of the inputs of an additive attention. [`attend_additive_gradient`] adds to them.
#[derive(Debug)]
pub struct AdditiveGradients<'a> {
    /// `[positions, width]`.
    pub keys: MatMut<'a, f32>,
    /// `[positions, columns]`.
    pub values: MatMut<'a, f32>,
    /// `[width]`.
    pub v: &'a mut [f32],
    /// `[rows, width]`.
    pub queries: MatMut<'a, f32>,
}

/// Computes the gradients of the inputs of [`attend_additive`](super::attend_additive) with
/// [`GateImpl::Exact`](crate::activation::GateImpl::Exact), and adds them to `gradients`. `d_out`,
/// `[rows, columns]`, is the gradient of the contexts (the `out` of that function). `d_weights`,
/// `[rows, positions]`, is an additional gradient of the attention weights, such as the gradient of
/// a loss over alignments. `scratch` is a buffer to reuse.
///
/// For each row and position `j`, with
///
/// ```text
/// T_j = tanh(keys_j + query)
/// dw_j = d_out . values_j + d_weights_j
/// de_j = w_j (dw_j - sum over k of w_k dw_k)
/// ```
///
/// it adds `w_j d_out` to the gradient of `values_j`, `de_j T_j` to the gradient of `v`, and
/// `de_j v (1 - T_j^2)` to the gradients of `keys_j` and of the query.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn attend_additive_gradient(
    cpu: Cpu,
    inputs: &AdditiveAttention,
    d_out: MatRef<f32>,
    d_weights: Option<MatRef<f32>>,
    gradients: AdditiveGradients,
    scratch: &mut Vec<f32>,
) {
    let AdditiveAttention { keys, values, v, queries, weights } = *inputs;
    let AdditiveGradients {
        keys: mut d_keys,
        values: mut d_values,
        v: d_v,
        queries: mut d_queries,
    } = gradients;
    let (rows, positions) = shape(weights);
    assert_eq!(shape(keys), (positions, v.len()));
    assert_eq!((values.rows(), shape(queries)), (positions, (rows, v.len())));
    assert_eq!(shape(d_out), (rows, values.columns()));
    assert!(d_weights.is_none_or(|d_weights| shape(d_weights) == shape(weights)));
    assert_eq!((shape(d_keys.as_ref()), d_v.len()), (shape(keys), v.len()));
    assert_eq!(shape(d_values.as_ref()), shape(values));
    assert_eq!(shape(d_queries.as_ref()), shape(queries));
    scratch.resize(positions, 0.0);
    for row in 0..rows {
        let weights = (weights.row(row), d_weights.map(|d_weights| d_weights.row(row)));
        let (d_out, d_energies) = (d_out.row(row), &mut scratch[..]);
        dispatch!(cpu, energy_gradients(values, weights, d_out, d_energies, &mut d_values));
        let (query, d_query) = (queries.row(row), d_queries.row_mut(row));
        dispatch!(cpu, tanh_gradients(keys, v, query, scratch, &mut d_keys, d_v, d_query));
    }
}

/// Sets `d_energies` to the gradients of a row's energies (the scores before the softmax), and adds
/// the gradients of the values to `d_values`.
#[inline(always)]
fn energy_gradients<I: Isa>(
    isa: I,
    values: MatRef<f32>,
    (weights, d_weights): (&[f32], Option<&[f32]>),
    d_out: &[f32],
    d_energies: &mut [f32],
    d_values: &mut MatMut<f32>,
) {
    let mut sum = 0.0;
    for position in 0..weights.len() {
        let other_gradient = d_weights.map_or(0.0, |d_weights| d_weights[position]);
        let d_weight = dot(isa, d_out, values.row(position)) + other_gradient;
        d_energies[position] = d_weight;
        sum += weights[position] * d_weight;
        let weight = isa.splat(weights[position]);
        let d_value = d_values.row_mut(position);
        for part in lane_chunks(d_out.len()) {
            let d_out = isa.load_partial(&d_out[part.clone()], 0.0);
            let d_value = &mut d_value[part];
            isa.store_partial(isa.mul_add(weight, d_out, isa.load_partial(d_value, 0.0)), d_value);
        }
    }
    for position in 0..weights.len() {
        d_energies[position] = weights[position] * (d_energies[position] - sum);
    }
}

/// Adds the gradients of the keys, of `v` and of a row's query. The outer loop runs over columns,
/// so that sums over positions stay in registers.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
#[inline(always)]
fn tanh_gradients<I: Isa>(
    isa: I,
    keys: MatRef<f32>,
    v: &[f32],
    query: &[f32],
    d_energies: &[f32],
    d_keys: &mut MatMut<f32>,
    d_v: &mut [f32],
    d_query: &mut [f32],
) {
    for from in (0..v.len()).step_by(LANES) {
        let part = from..(from + LANES).min(v.len());
        let v_values = isa.load_partial(&v[part.clone()], 0.0);
        let query_values = isa.load_partial(&query[part.clone()], 0.0);
        let mut v_sums = isa.load_partial(&d_v[part.clone()], 0.0);
        let mut query_sums = isa.load_partial(&d_query[part.clone()], 0.0);
        for position in 0..keys.rows() {
            let key = isa.load_partial(&keys.row(position)[part.clone()], 0.0);
            let t = tanh(isa, isa.add(key, query_values));
            let d_energy = isa.splat(d_energies[position]);
            v_sums = isa.mul_add(d_energy, t, v_sums);
            let slope = isa.sub(isa.splat(1.0), isa.mul(t, t));
            let inner = isa.mul(isa.mul(d_energy, v_values), slope);
            query_sums = isa.add(query_sums, inner);
            let d_key = &mut d_keys.row_mut(position)[part.clone()];
            isa.store_partial(isa.add(isa.load_partial(d_key, 0.0), inner), d_key);
        }
        isa.store_partial(v_sums, &mut d_v[part.clone()]);
        isa.store_partial(query_sums, &mut d_query[part]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::GateImpl;
    use crate::attention::attend_additive;
    use crate::pack::WeightsF32;
    use crate::testing::{TestRng, assert_close, numeric_gradients};

    #[test]
    fn the_gradient_of_additive_attention_matches_its_formula() {
        let mut numbers = TestRng::new(52);
        for (rows, positions, width, columns) in
            [(1, 1, 1, 1), (2, 5, 21, 30), (3, 9, 16, 5), (0, 3, 4, 4), (1, 30, 33, 16)]
        {
            let parts = [
                numbers.floats(positions * width, 1.0),
                numbers.floats(positions * columns, 1.0),
                numbers.floats(width, 1.0),
                numbers.floats(rows * width, 1.0),
            ];
            let d_out = numbers.floats(rows * columns, 1.0);
            let d_weights = numbers.floats(rows * positions, 1.0);
            let expected = numeric_gradients(&parts.each_ref().map(|part| &part[..]), |x| {
                let mut loss = 0.0;
                for row in 0..rows {
                    let energy = |j: usize| -> f64 {
                        let at = |i: usize| x[0][j * width + i] + x[3][row * width + i];
                        (0..width).map(|i| at(i).tanh() * x[2][i]).sum()
                    };
                    let powers: Vec<f64> = (0..positions).map(|j| energy(j).exp()).collect();
                    let sum: f64 = powers.iter().sum();
                    for j in 0..positions {
                        let weight = powers[j] / sum;
                        loss += weight * f64::from(d_weights[row * positions + j]);
                        for c in 0..columns {
                            let value = x[1][j * columns + c];
                            loss += weight * value * f64::from(d_out[row * columns + c]);
                        }
                    }
                }
                loss
            });
            for cpu in Cpu::all() {
                let (keys, values) = (
                    MatRef::new(&parts[0], positions, width),
                    MatRef::new(&parts[1], positions, columns),
                );
                let (v, queries) = (&parts[2], MatRef::new(&parts[3], rows, width));
                let mut packed = WeightsF32::default();
                packed.fill_rows(values, columns);
                let (mut weights, mut out) =
                    (vec![0.0; rows * positions], vec![0.0; rows * columns]);
                let into = MatMut::new(&mut out, rows, columns);
                let weight_rows = MatMut::new(&mut weights, rows, positions);
                let exact = GateImpl::Exact;
                attend_additive(cpu, exact, keys, packed.view(), v, queries, weight_rows, into);

                let mut sums = parts.each_ref().map(|part| vec![0.25; part.len()]);
                let [d_keys, d_values, d_v, d_queries] = &mut sums;
                let gradients = AdditiveGradients {
                    keys: MatMut::new(d_keys, positions, width),
                    values: MatMut::new(d_values, positions, columns),
                    v: d_v,
                    queries: MatMut::new(d_queries, rows, width),
                };
                let weights = MatRef::new(&weights, rows, positions);
                let inputs = AdditiveAttention { keys, values, v, queries, weights };
                let d_out = MatRef::new(&d_out, rows, columns);
                let d_weights = Some(MatRef::new(&d_weights, rows, positions));
                let scratch = &mut Vec::new();
                attend_additive_gradient(cpu, &inputs, d_out, d_weights, gradients, scratch);
                for (found, expected) in sums.iter().zip(&expected) {
                    let expected: Vec<f64> = expected.iter().map(|x| x + 0.25).collect();
                    assert_close(found, &expected, 1e-5, cpu.name());
                }
            }
        }
    }
}
