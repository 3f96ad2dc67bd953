//! Cells compared with their equations in f64.

use super::*;
use crate::testing::{TestRng, assert_close};

const ROWS: usize = 3;
const WIDTH: usize = 37;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A random matrix whose elements are read as f64.
struct Rows(Vec<f32>, usize);

impl Rows {
    fn new(numbers: &mut TestRng, rows: usize, columns: usize) -> Self {
        Self(numbers.floats(rows * columns, 2.0), columns)
    }
    fn at(&self, row: usize, column: usize) -> f64 {
        f64::from(self.0[row * self.1 + column])
    }
    fn mat(&self) -> MatRef<'_, f32> {
        MatRef::new(&self.0, self.0.len() / self.1, self.1)
    }
}

/// The matrix of `f(row, column)`.
fn each(f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..ROWS * WIDTH).map(|at| f(at / WIDTH, at % WIDTH)).collect()
}

#[test]
fn a_gru_matches_its_equations() {
    let mut numbers = TestRng::new(15);
    let (input, recurrent) =
        (Rows::new(&mut numbers, ROWS, 3 * WIDTH), Rows::new(&mut numbers, ROWS, 3 * WIDTH));
    let (bias, state) =
        (Rows::new(&mut numbers, 1, 3 * WIDTH), Rows::new(&mut numbers, ROWS, WIDTH));
    for cpu in Cpu::all() {
        for form in [GruVariant::Standard, GruVariant::BiasInsideReset] {
            for with_input in [true, false] {
                let expected = each(|row, c| {
                    let x = |gate| if with_input { input.at(row, gate * WIDTH + c) } else { 0.0 };
                    let s = |gate| recurrent.at(row, gate * WIDTH + c);
                    let b = |gate| bias.at(0, gate * WIDTH + c);
                    let r = sigmoid(x(0) + s(0) + b(0));
                    let z = sigmoid(x(1) + s(1) + b(1));
                    let h = match form {
                        GruVariant::Standard => (x(2) + r * s(2) + b(2)).tanh(),
                        GruVariant::BiasInsideReset => (x(2) + r * (s(2) + b(2))).tanh(),
                    };
                    (1.0 - z) * h + z * state.at(row, c)
                });
                for (gate_impl, most) in [(GateImpl::Exact, 2e-6), (GateImpl::Table, 1e-2)] {
                    let mut out = vec![0.0; ROWS * WIDTH];
                    let input = with_input.then(|| input.mat());
                    let into = MatMut::new(&mut out, ROWS, WIDTH);
                    gru(cpu, gate_impl, form, input, recurrent.mat(), &bias.0, state.mat(), into);
                    assert_close(&out, &expected, most, cpu.name());
                }
            }
        }
    }
}

#[test]
fn an_lstm_matches_its_equations() {
    let mut numbers = TestRng::new(16);
    let (input, recurrent) =
        (Rows::new(&mut numbers, ROWS, 4 * WIDTH), Rows::new(&mut numbers, ROWS, 4 * WIDTH));
    let (bias, old) = (Rows::new(&mut numbers, 1, 4 * WIDTH), Rows::new(&mut numbers, ROWS, WIDTH));
    let gate = |row, gate, c| {
        let at = gate * WIDTH + c;
        input.at(row, at) + recurrent.at(row, at) + bias.at(0, at)
    };
    let cells = each(|row, c| {
        let kept = sigmoid(gate(row, 0, c)) * old.at(row, c);
        kept + sigmoid(gate(row, 1, c)) * gate(row, 2, c).tanh()
    });
    let outs = each(|row, c| sigmoid(gate(row, 3, c)) * cells[row * WIDTH + c].tanh());
    for cpu in Cpu::all() {
        let (mut cell, mut out) = (old.0.clone(), vec![0.0; ROWS * WIDTH]);
        lstm(
            cpu,
            GateImpl::Exact,
            Some(input.mat()),
            recurrent.mat(),
            &bias.0,
            MatMut::new(&mut cell, ROWS, WIDTH),
            MatMut::new(&mut out, ROWS, WIDTH),
        );
        assert_close(&cell, &cells, 2e-6, "cell");
        assert_close(&out, &outs, 2e-6, "out");
    }
}

#[test]
fn the_small_cells_match_their_equations() {
    let mut numbers = TestRng::new(17);
    let [a, b, c, d] = std::array::from_fn(|_| Rows::new(&mut numbers, ROWS, WIDTH));
    let (e, f) = (Rows::new(&mut numbers, 1, WIDTH), Rows::new(&mut numbers, 1, WIDTH));
    for cpu in Cpu::all() {
        let mut out = vec![0.0; ROWS * WIDTH];
        let into = MatMut::new(&mut out, ROWS, WIDTH);
        multiplicative_state(cpu, a.mat(), &e.0, b.mat(), &f.0, into);
        let expected = each(|r, i| (a.at(r, i) + e.at(0, i)) * (b.at(r, i) + f.at(0, i)));
        assert_close(&out, &expected, 2e-6, "mLSTM");

        let mut y = d.0.clone();
        average_attention_gate(cpu, a.mat(), b.mat(), c.mat(), MatMut::new(&mut y, ROWS, WIDTH));
        let expected =
            each(|r, i| sigmoid(a.at(r, i)) * c.at(r, i) + sigmoid(b.at(r, i)) * d.at(r, i));
        assert_close(&y, &expected, 2e-6, "gate");

        let mut y = d.0.clone();
        highway(cpu, a.mat(), b.mat(), MatMut::new(&mut y, ROWS, WIDTH));
        let expected = each(|r, i| {
            let g = sigmoid(a.at(r, i));
            g * d.at(r, i) + (1.0 - g) * b.at(r, i)
        });
        assert_close(&y, &expected, 2e-6, "highway");
    }
}

#[test]
fn a_running_mean_is_the_mean_of_its_inputs() {
    let mut numbers = TestRng::new(18);
    let inputs: Vec<Rows> = (0..30).map(|_| Rows::new(&mut numbers, ROWS, WIDTH)).collect();
    for cpu in Cpu::all() {
        let mut mean = vec![5.0; ROWS * WIDTH];
        for (seen, input) in inputs.iter().enumerate() {
            let into = MatMut::new(&mut mean, ROWS, WIDTH);
            running_mean(cpu, input.mat(), &[seen as u32; ROWS], into);
        }
        let expected =
            each(|row, c| inputs.iter().map(|input| input.at(row, c)).sum::<f64>() / 30.0);
        assert_close(&mean, &expected, 2e-6, cpu.name());
    }
}
