//! Gradients of cells compared with differences of their equations in f64.

use super::*;
use crate::testing::{TestRng, assert_close, numeric_gradients};

const SHAPES: [(usize, usize); 4] = [(0, 3), (1, 1), (1, 16), (3, 37)];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Gradients that start at 0.5 and those expected, where parts of the inputs have gradients.
#[track_caller]
fn check(found: &[Vec<f32>], expected: &[Vec<f64>], name: &str) {
    for (found, expected) in found.iter().zip(expected) {
        let expected: Vec<f64> = expected.iter().map(|x| x + 0.5).collect();
        assert_close(found, &expected, 1e-5, name);
    }
}

fn halves<const N: usize>(parts: &[Vec<f32>; N]) -> [Vec<f32>; N] {
    parts.each_ref().map(|part| vec![0.5; part.len()])
}

#[test]
fn gradients_of_a_gru_match_its_equations() {
    let mut numbers = TestRng::new(55);
    for (rows, width) in SHAPES {
        for variant in [GruVariant::Standard, GruVariant::BiasInsideReset] {
            for with_input in [true, false] {
                let gates = 3 * width;
                let parts = [
                    numbers.floats(if with_input { rows * gates } else { 0 }, 2.0),
                    numbers.floats(rows * gates, 2.0),
                    numbers.floats(gates, 1.0),
                    numbers.floats(rows * width, 1.0),
                ];
                let d_out = numbers.floats(rows * width, 1.0);
                let expected = numeric_gradients(&parts.each_ref().map(|part| &part[..]), |p| {
                    let element = |at: usize| {
                        let (row, c) = (at / width, at % width);
                        let index = |gate: usize| row * gates + gate * width + c;
                        let x = |gate| if with_input { p[0][index(gate)] } else { 0.0 };
                        let s = |gate: usize| p[1][index(gate)];
                        let b = |gate: usize| p[2][gate * width + c];
                        let r = sigmoid(x(0) + s(0) + b(0));
                        let z = sigmoid(x(1) + s(1) + b(1));
                        let h = match variant {
                            GruVariant::Standard => (x(2) + r * s(2) + b(2)).tanh(),
                            GruVariant::BiasInsideReset => (x(2) + r * (s(2) + b(2))).tanh(),
                        };
                        ((1.0 - z) * h + z * p[3][at]) * f64::from(d_out[at])
                    };
                    (0..rows * width).map(element).sum()
                });
                for cpu in Cpu::all() {
                    let mut found = halves(&parts);
                    let [d_input, d_recurrent, d_bias, d_state] = &mut found;
                    let gradients = CellGradients {
                        input: with_input.then(|| MatMut::new(d_input, rows, gates)),
                        recurrent: MatMut::new(d_recurrent, rows, gates),
                        bias: d_bias,
                        state: MatMut::new(d_state, rows, width),
                    };
                    gru_gradient(
                        cpu,
                        variant,
                        with_input.then(|| MatRef::new(&parts[0], rows, gates)),
                        MatRef::new(&parts[1], rows, gates),
                        &parts[2],
                        MatRef::new(&parts[3], rows, width),
                        MatRef::new(&d_out, rows, width),
                        gradients,
                    );
                    check(&found, &expected, cpu.name());
                }
            }
        }
    }
}

#[test]
fn gradients_of_an_lstm_match_its_equations() {
    let mut numbers = TestRng::new(56);
    for (rows, width) in SHAPES {
        for (with_input, with_cell) in [(true, true), (false, true), (true, false)] {
            let gates = 4 * width;
            let parts = [
                numbers.floats(if with_input { rows * gates } else { 0 }, 2.0),
                numbers.floats(rows * gates, 2.0),
                numbers.floats(gates, 1.0),
                numbers.floats(rows * width, 1.0),
            ];
            let (d_out, d_cell) =
                (numbers.floats(rows * width, 1.0), numbers.floats(rows * width, 1.0));
            let expected = numeric_gradients(&parts.each_ref().map(|part| &part[..]), |p| {
                let element = |at: usize| {
                    let (row, c) = (at / width, at % width);
                    let gate = |gate: usize| {
                        let index = row * gates + gate * width + c;
                        let x = if with_input { p[0][index] } else { 0.0 };
                        x + p[1][index] + p[2][gate * width + c]
                    };
                    let kept = sigmoid(gate(0)) * p[3][at];
                    let cell = kept + sigmoid(gate(1)) * gate(2).tanh();
                    let of_cell = if with_cell { cell * f64::from(d_cell[at]) } else { 0.0 };
                    of_cell + sigmoid(gate(3)) * cell.tanh() * f64::from(d_out[at])
                };
                (0..rows * width).map(element).sum()
            });
            for cpu in Cpu::all() {
                let mut found = halves(&parts);
                let [d_input, d_recurrent, d_bias, d_before] = &mut found;
                let gradients = CellGradients {
                    input: with_input.then(|| MatMut::new(d_input, rows, gates)),
                    recurrent: MatMut::new(d_recurrent, rows, gates),
                    bias: d_bias,
                    state: MatMut::new(d_before, rows, width),
                };
                lstm_gradient(
                    cpu,
                    with_input.then(|| MatRef::new(&parts[0], rows, gates)),
                    MatRef::new(&parts[1], rows, gates),
                    &parts[2],
                    MatRef::new(&parts[3], rows, width),
                    with_cell.then(|| MatRef::new(&d_cell, rows, width)),
                    MatRef::new(&d_out, rows, width),
                    gradients,
                );
                check(&found, &expected, cpu.name());
            }
        }
    }
}

#[test]
fn gradients_of_a_multiplicative_state_match_its_equation() {
    let mut numbers = TestRng::new(57);
    for (rows, width) in SHAPES {
        let count = rows * width;
        let parts = [count, width, count, width].map(|count| numbers.floats(count, 2.0));
        let d_out = numbers.floats(count, 1.0);
        let expected = numeric_gradients(&parts.each_ref().map(|part| &part[..]), |p| {
            let element = |at: usize| {
                let c = at % width;
                (p[0][at] + p[1][c]) * (p[2][at] + p[3][c]) * f64::from(d_out[at])
            };
            (0..count).map(element).sum()
        });
        for cpu in Cpu::all() {
            let mut found = halves(&parts);
            let [d_input, d_input_bias, d_recurrent, d_recurrent_bias] = &mut found;
            let gradients = MultiplicativeGradients {
                input: MatMut::new(d_input, rows, width),
                input_bias: d_input_bias,
                recurrent: MatMut::new(d_recurrent, rows, width),
                recurrent_bias: d_recurrent_bias,
            };
            let input = (MatRef::new(&parts[0], rows, width), &parts[1][..]);
            let recurrent = (MatRef::new(&parts[2], rows, width), &parts[3][..]);
            let d_out = MatRef::new(&d_out, rows, width);
            multiplicative_state_gradient(cpu, input, recurrent, d_out, gradients);
            check(&found, &expected, cpu.name());
        }
    }
}

#[test]
fn gradients_of_gates_match_their_equations() {
    let mut numbers = TestRng::new(58);
    for (rows, width) in SHAPES {
        let count = rows * width;
        let parts: [Vec<f32>; 4] = std::array::from_fn(|_| numbers.floats(count, 2.0));
        let d_out = numbers.floats(count, 1.0);
        let averaged = numeric_gradients(&parts.each_ref().map(|part| &part[..]), |p| {
            let element = |at: usize| {
                let y = sigmoid(p[0][at]) * p[2][at] + sigmoid(p[1][at]) * p[3][at];
                y * f64::from(d_out[at])
            };
            (0..count).map(element).sum()
        });
        let [gate, input, y, _] = &parts;
        let highways = numeric_gradients(&[gate, input, y], |p| {
            let element = |at: usize| {
                let g = sigmoid(p[0][at]);
                (g * p[2][at] + (1.0 - g) * p[1][at]) * f64::from(d_out[at])
            };
            (0..count).map(element).sum()
        });
        let d_out = MatRef::new(&d_out, rows, width);
        for cpu in Cpu::all() {
            let mut found = halves(&parts);
            let gradients = found.each_mut().map(|part| MatMut::new(part, rows, width));
            let forward = parts.each_ref().map(|part| MatRef::new(part, rows, width));
            average_attention_gate_gradient(cpu, forward, d_out, gradients);
            check(&found, &averaged, "average attention");

            let [a, b, c, _] = forward;
            let mut found: [Vec<f32>; 3] = std::array::from_fn(|_| vec![0.5; count]);
            let gradients = found.each_mut().map(|part| MatMut::new(part, rows, width));
            highway_gradient(cpu, [a, b, c], d_out, gradients);
            check(&found, &highways, "highway");
        }
    }
}
