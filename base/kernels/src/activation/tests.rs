//! Activations compared with f64, over the floats of their ranges.

use super::*;
use crate::testing::{TestRng, assert_close};
use crate::{MatRef, Real};

const ACTIVATIONS: [Activation; 8] = [
    Activation::None,
    Activation::Relu,
    Activation::Swish,
    Activation::Gelu,
    Activation::GeluSigmoid,
    Activation::GeluTanh,
    Activation::Tanh,
    Activation::Sigmoid,
];

/// Applies sigmoid or tanh to every element of `rows`, `[rows, columns]`, in place.
fn apply_gate(cpu: Cpu, gate_impl: GateImpl, function: GateFunction, mut rows: MatMut<f32>) {
    for index in 0..rows.rows() {
        let row = rows.row_mut(index);
        dispatch!(cpu, apply_gate_row(gate_impl, function, row));
    }
}

/// The two functions of gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateFunction {
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

#[inline(always)]
fn apply_gate_row<I: Isa>(isa: I, gate_impl: GateImpl, function: GateFunction, row: &mut [f32]) {
    for part in lane_chunks(row.len()) {
        let x = isa.load_partial(&row[part.clone()], 0.0);
        let y = match function {
            GateFunction::Sigmoid => sigmoid_with(isa, gate_impl, x),
            GateFunction::Tanh => tanh_with(isa, gate_impl, x),
        };
        isa.store_partial(y, &mut row[part]);
    }
}

/// Calls `check` for blocks of every `step`-th positive float up to `most`, with both signs.
fn for_float_blocks(most: f32, step: usize, mut check: impl FnMut(&[f32])) {
    let mut block = Vec::new();
    for bits in (0..=most.to_bits()).step_by(step) {
        block.extend([f32::from_bits(bits), -f32::from_bits(bits)]);
        if block.len() >= 4096 {
            check(&block);
            block.clear();
        }
    }
    check(&block);
}

#[inline(always)]
fn exponentials<I: Isa>(isa: I, row: &mut [f32]) {
    map_row(isa, row, exp);
}

/// Returns the unit in the last place (ulp) of the f32 nearest to `x`.
fn unit(x: f64) -> f64 {
    let x = (x as f32).abs().max(f32::MIN_POSITIVE);
    f64::from(f32::from_bits(x.to_bits() + 1)) - f64::from(x)
}

fn exponential_over(step: usize) {
    for cpu in Cpu::all() {
        for_float_blocks(88.376, step, |block| {
            let mut row = block.to_vec();
            dispatch!(cpu, exponentials(&mut row));
            for (&x, &y) in block.iter().zip(&row) {
                let expected = f64::from(x).exp();
                if x < -87.336_54 {
                    assert_eq!(y, 0.0);
                } else {
                    let error = (f64::from(y) - expected).abs() / unit(expected);
                    assert!(error <= 2.0, "{}: exp({x}) is {y}, {error} units off", cpu.name());
                }
            }
        });
    }
}

#[inline(always)]
fn exponentials_summed<I: Isa>(isa: I, row: &mut [f32]) {
    map_row(isa, row, exp_for_sum);
}

#[test]
fn exponentials_for_sums_are_within_their_bound() {
    for cpu in Cpu::all() {
        for_float_blocks(87.3, 100_003, |block| {
            let mut row = block.to_vec();
            dispatch!(cpu, exponentials_summed(&mut row));
            for (&x, &y) in block.iter().zip(&row) {
                let expected = f64::from(x).exp();
                let error = (f64::from(y) - expected).abs() / expected;
                // The bound holds for plain arithmetic too, which rounds products before it adds
                // them.
                let allowed = 2.5e-7 + 1e-7 * f64::from(x.abs());
                assert!(error <= allowed, "{}: exp({x}) is {y}, {error} off", cpu.name());
            }
        });
        let mut ends = [0.0, -0.0, -1e9, f32::NEG_INFINITY, f32::NAN];
        dispatch!(cpu, exponentials_summed(&mut ends));
        assert_eq!(ends[..2], [1.0, 1.0]);
        assert!(ends[2..4].iter().all(|&y| (0.0..1.2e-38).contains(&y)), "{ends:?}");
        assert!(ends[4].is_nan(), "NaN stays NaN in a sum");
    }
}

fn gates_over(step: usize) {
    let kinds = [(GateImpl::Exact, 4e-7, 4e-7), (GateImpl::Table, 6e-4, 2e-3)];
    for cpu in Cpu::all() {
        for (kind, sigmoid_tolerance, tanh_tolerance) in kinds {
            for_float_blocks(100.0, step, |block| {
                let x: Vec<f64> = block.iter().map(|&x| f64::from(x)).collect();
                let mut row = block.to_vec();
                let one = MatMut::new(&mut row, 1, block.len());
                apply_gate(cpu, kind, GateFunction::Sigmoid, one);
                let expected: Vec<f64> = x.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect();
                assert_close(&row, &expected, sigmoid_tolerance, "sigmoid");
                row.copy_from_slice(block);
                let one = MatMut::new(&mut row, 1, block.len());
                apply_gate(cpu, kind, GateFunction::Tanh, one);
                let expected: Vec<f64> = x.iter().map(|x| x.tanh()).collect();
                assert_close(&row, &expected, tanh_tolerance, "tanh");
                if kind == GateImpl::Exact {
                    for (y, x) in row.iter().zip(&x) {
                        let relative = (f64::from(*y) - x.tanh()).abs() / unit(x.tanh());
                        assert!(relative <= 6.0, "tanh({x}) is {y}, {relative} units off");
                    }
                }
            });
        }
    }
}

#[test]
fn exponentials_are_accurate_for_a_sample_of_all_floats() {
    exponential_over(9_973);
}

#[test]
fn gates_are_accurate_for_a_sample_of_all_floats() {
    gates_over(30_011);
}

/// Takes minutes: `cargo test --release -p miriam-kernels -- --ignored all_floats`.
#[test]
#[ignore = "minutes"]
fn exponentials_are_accurate_for_all_floats() {
    exponential_over(1);
}

/// Takes minutes: `cargo test --release -p miriam-kernels -- --ignored all_floats`.
#[test]
#[ignore = "minutes"]
fn gates_are_accurate_for_all_floats() {
    gates_over(1);
}

#[test]
fn infinite_arguments_give_the_limits() {
    for cpu in Cpu::all() {
        let ends = [f32::NEG_INFINITY, -200.0, 200.0, f32::INFINITY];
        let mut row = ends;
        activate(cpu, Activation::Sigmoid, MatMut::new(&mut row, 1, 4));
        assert!(row[..2].iter().all(|x| x.abs() < 1e-37) && row[2..] == [1.0, 1.0], "{row:?}");
        let mut row = ends;
        activate(cpu, Activation::Tanh, MatMut::new(&mut row, 1, 4));
        assert_eq!(row, [-1.0, -1.0, 1.0, 1.0]);
        // Tables are clamped to their range.
        let mut row = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        apply_gate(cpu, GateImpl::Table, GateFunction::Tanh, MatMut::new(&mut row, 1, 3));
        assert!(row[1] > 0.999 && row[2] < -0.999 && row[0].is_nan());
    }
}

#[test]
fn nan_stays_nan() {
    for cpu in Cpu::all() {
        for activation in ACTIVATIONS {
            let mut row = row_with_nan::<f32>();
            activate(cpu, activation, MatMut::new(&mut row, 1, 19));
            assert_nan_is_kept(&row, &format!("{} {activation:?}", cpu.name()));
        }
        for (kind, gate) in [
            (GateImpl::Exact, GateFunction::Tanh),
            (GateImpl::Exact, GateFunction::Sigmoid),
            (GateImpl::Table, GateFunction::Tanh),
            (GateImpl::Table, GateFunction::Sigmoid),
        ] {
            let mut row = row_with_nan::<f32>();
            apply_gate(cpu, kind, gate, MatMut::new(&mut row, 1, 19));
            assert_nan_is_kept(&row, &format!("{} {kind:?} {gate:?}", cpu.name()));
        }
        let mut row = [f32::NAN, f32::NEG_INFINITY];
        softmax(cpu, MatMut::new(&mut row, 1, 2));
        assert!(row[0].is_nan() && row[1].is_nan());
    }
    nan_stays_nan_in_plain_arithmetic::<f32>();
    nan_stays_nan_in_plain_arithmetic::<f64>();
}

fn nan_stays_nan_in_plain_arithmetic<R: Real>() {
    for activation in ACTIVATIONS {
        let mut row = row_with_nan::<R>();
        plain::activate(activation, MatMut::new(&mut row, 1, 19));
        assert_nan_is_kept(&row, &format!("{activation:?}"));
        check_nan_in_gradients::<R>(activation, "plain", |saved, gradient| {
            plain::activation_gradient(activation, saved, gradient);
        });
    }
}

#[test]
fn nan_stays_nan_in_gradients() {
    for cpu in Cpu::all() {
        for activation in ACTIVATIONS {
            check_nan_in_gradients::<f32>(activation, cpu.name(), |saved, gradient| {
                activation_gradient(cpu, activation, saved, gradient);
            });
        }
    }
}

/// Checks the gradient of an activation whose saved row, or whose gradient, has NaN.
fn check_nan_in_gradients<R: Real>(
    activation: Activation,
    form: &str,
    multiply: impl Fn(MatRef<R>, MatMut<R>),
) {
    // Above 0, and below and at 0, where ReLU drops finite gradients.
    for finite in [0.5, -0.5, 0.0] {
        let what = format!("{form} {activation:?} at {finite}");
        let saved = [R::of(finite); 19];
        let mut gradient = row_with_nan::<R>();
        multiply(MatRef::new(&saved, 1, 19), MatMut::new(&mut gradient, 1, 19));
        assert_nan_is_kept(&gradient, &what);
    }
    let saved = row_with_nan::<R>();
    let mut gradient = [R::of(-1.0); 19];
    multiply(MatRef::new(&saved, 1, 19), MatMut::new(&mut gradient, 1, 19));
    if activation == Activation::None {
        // Its derivative is 1 everywhere.
        assert_eq!(gradient, [R::of(-1.0); 19], "{form} {activation:?}");
    } else {
        assert_nan_is_kept(&gradient, &format!("{form} {activation:?}"));
    }
}

/// Returns a row of halves with two NaN.
fn row_with_nan<R: Real>() -> [R; 19] {
    let mut row = [R::of(0.5); 19];
    (row[3], row[17]) = (R::nan(), R::nan());
    row
}

/// Checks that the elements that [`row_with_nan`] sets to NaN, and no others, are NaN.
fn assert_nan_is_kept<R: Real>(row: &[R], what: &str) {
    for (at, x) in row.iter().enumerate() {
        assert_eq!(x.is_nan(), [3, 17].contains(&at), "{what}: {row:?}");
    }
}

#[test]
fn relu_drops_finite_gradients_to_positive_zero() {
    let saved = [0.0, -0.0, 2.0];
    for cpu in Cpu::all() {
        let mut gradient = [-1.0f32; 3];
        let into = MatMut::new(&mut gradient, 1, 3);
        activation_gradient(cpu, Activation::Relu, MatRef::new(&saved, 1, 3), into);
        assert_eq!(gradient.map(f32::to_bits), [0.0f32, 0.0, -1.0].map(f32::to_bits));
    }
}

/// Returns erf(x) from its series, for |x| < 4.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn gelus_match_their_formulas() {
    let inputs: Vec<f32> = (-500..=500).map(|at| at as f32 / 100.0).collect();
    for cpu in Cpu::all() {
        let apply = |activation| {
            let mut row = inputs.clone();
            activate(cpu, activation, MatMut::new(&mut row, 1, inputs.len()));
            row
        };
        let expect =
            |f: fn(f64) -> f64| inputs.iter().map(|&x| f(f64::from(x))).collect::<Vec<_>>();
        let exact = expect(|x| x / 2.0 * (1.0 + erf(x / 2f64.sqrt())));
        assert_close(&apply(Activation::Gelu), &exact, 1.5e-6, "gelu");
        let by_tanh = expect(|x| {
            x / 2.0
                * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
        });
        assert_close(&apply(Activation::GeluTanh), &by_tanh, 1.5e-6, "gelu-tanh");
        let by_sigmoid = expect(|x| x / (1.0 + (-1.702 * x).exp()));
        assert_close(&apply(Activation::GeluSigmoid), &by_sigmoid, 1.5e-6, "gelu-sigmoid");
    }
}

#[test]
fn softmax_matches_its_formula() {
    let mut numbers = TestRng::new(9);
    for cpu in Cpu::all() {
        for length in [1, 5, 16, 17, 1000] {
            let row = numbers.floats(length, 12.0);
            let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
            let expected: Vec<f64> = row.iter().map(|&x| f64::from(x).exp() / sum).collect();
            let mut found = row.clone();
            softmax(cpu, MatMut::new(&mut found, 1, length));
            assert_close(&found, &expected, 1e-6, "softmax");
            let mut found = row.clone();
            log_softmax(cpu, MatMut::new(&mut found, 1, length));
            let expected: Vec<f64> = expected.iter().map(|p| p.ln()).collect();
            assert_close(&found, &expected, 4e-6, "log-softmax");
        }
        let mut row = [f32::NEG_INFINITY; 3];
        softmax(cpu, MatMut::new(&mut row, 1, 3));
        assert_eq!(row, [0.0; 3]);
        let mut row = [f32::NEG_INFINITY, 1.0, f32::NEG_INFINITY];
        softmax(cpu, MatMut::new(&mut row, 1, 3));
        assert_eq!(row, [0.0, 1.0, 0.0]);
    }
}

#[test]
fn avx2_and_avx512_give_the_same_bits() {
    let wide: Vec<Cpu> = Cpu::all().into_iter().filter(|&cpu| cpu != Cpu::plain()).collect();
    if wide.len() < 2 {
        eprintln!("skipped: this CPU has one width of registers only");
        return;
    }
    let mut numbers = TestRng::new(10);
    let row = numbers.floats(1001, 10.0);
    let results: Vec<Vec<f32>> = wide
        .iter()
        .map(|&cpu| {
            let mut row = row.clone();
            log_softmax(cpu, MatMut::new(&mut row, 1, 1001));
            activate(cpu, Activation::Gelu, MatMut::new(&mut row, 1, 1001));
            row
        })
        .collect();
    assert!(results.iter().all(|result| *result == results[0]));
}
