//! The check that every operator passes: the vector instructions against the plain loops, and the
//! gradients against differences of the forward pass. Properties of several
//! operators are tested here too.

use std::ops::Range;

use super::*;
use crate::testing::TestRng;

/// The number of columns: not a multiple of the lanes.
pub(super) const WIDTH: usize = 37;
pub(super) const ROWS: usize = 7;

/// The shapes of an operator's inputs.
pub(super) struct Shapes {
    pub matrices: Vec<[usize; 2]>,
    pub vectors: Vec<usize>,
}

/// Returns numbers for the inputs, matrices first.
fn numbers(shapes: &Shapes, rng: &mut TestRng) -> Vec<Vec<f32>> {
    let lengths = shapes.matrices.iter().map(|[rows, width]| rows * width);
    let lengths = lengths.chain(shapes.vectors.iter().copied());
    lengths.map(|length| rng.floats(length, 1.5)).collect()
}

/// Calls `body` with the numbers as inputs.
fn with_inputs<R: Real, T>(
    shapes: &Shapes,
    numbers: &[Vec<R>],
    body: impl FnOnce(Inputs<'_, R>) -> T,
) -> T {
    let (matrices, vectors) = numbers.split_at(shapes.matrices.len());
    let matrices = matrices.iter().zip(&shapes.matrices);
    let matrices: Vec<_> =
        matrices.map(|(x, &[rows, width])| MatRef::new(x, rows, width)).collect();
    let vectors: Vec<&[R]> = vectors.iter().map(Vec::as_slice).collect();
    body(Inputs { matrices: &matrices, vectors: &vectors })
}

/// Calls `body` with gradients that are 0.5 at first, and returns them.
fn gradients_of<R: Real>(
    shapes: &Shapes,
    numbers: &[Vec<R>],
    body: impl FnOnce(InputGradients<'_, '_, '_, R>),
) -> Vec<Vec<R>> {
    let mut sums: Vec<Vec<R>> = numbers.iter().map(|x| vec![R::of(0.5); x.len()]).collect();
    let (matrices, vectors) = sums.split_at_mut(shapes.matrices.len());
    let matrices = matrices.iter_mut().zip(&shapes.matrices);
    let mut matrices: Vec<_> =
        matrices.map(|(x, &[rows, width])| MatMut::new(x, rows, width)).collect();
    let mut vectors: Vec<&mut [R]> = vectors.iter_mut().map(Vec::as_mut_slice).collect();
    body(InputGradients { matrices: &mut matrices, vectors: &mut vectors });
    sums
}

fn assert_close(found: &[f32], expected: &[f64], tolerance: f64, what: &str) {
    crate::testing::assert_close(found, expected, tolerance, what);
}

/// Checks an operator on random inputs, drawn from `seed`: see the [module](self).
pub(super) fn check(operator: &impl Operator, shapes: &Shapes, seed: u64) {
    let mut rng = TestRng::new(seed);
    let single = numbers(shapes, &mut rng);
    let wide = |all: &[Vec<f32>]| -> Vec<Vec<f64>> {
        all.iter().map(|x| x.iter().map(|&x| f64::from(x)).collect()).collect()
    };
    let double = wide(&single);
    let [rows, width] = operator.shape(&shapes.matrices);
    let d_out = rng.floats(rows * width, 1.0);
    let d_out_double: Vec<f64> = d_out.iter().map(|&x| f64::from(x)).collect();
    let name = format!("{operator:?}");

    // The plain loops in f64, and their gradient by differences.
    let plain = |numbers: &[Vec<f64>]| {
        let mut out = vec![f64::NAN; rows * width];
        let into = MatMut::new(&mut out, rows, width);
        with_inputs(shapes, numbers, |inputs| operator.forward(inputs, into));
        out
    };
    let expected = plain(&double);
    let mut expected_gradients = gradients_of(shapes, &double, |into| {
        with_inputs(shapes, &double, |inputs| {
            let out = MatRef::new(&expected, rows, width);
            operator.gradient(inputs, out, MatRef::new(&d_out_double, rows, width), into);
        });
    });
    const STEP: f64 = 1e-5;
    let mut shifted = double.clone();
    for part in 0..double.len() {
        for at in 0..double[part].len() {
            let mut loss = |by: f64| {
                shifted[part][at] = double[part][at] + by;
                let out = plain(&shifted);
                out.iter().zip(&d_out_double).map(|(x, d)| x * d).sum::<f64>()
            };
            let slope = (loss(STEP) - loss(-STEP)) / (2.0 * STEP);
            shifted[part][at] = double[part][at];
            let found = expected_gradients[part][at];
            assert!((found - 0.5 - slope).abs() < 1e-7, "{name}: input {part}, {at}: {found}");
        }
    }

    // The vector instructions, and the plain loops in f32.
    let vector = Cpu::all().into_iter().map(Implementation::Vector);
    for implementation in vector.chain([Implementation::Plain]) {
        let mut out = vec![f32::NAN; rows * width];
        let into = MatMut::new(&mut out, rows, width);
        with_inputs(shapes, &single, |inputs| {
            operator.apply_f32(implementation, inputs, into);
        });
        assert_close(&out, &expected, 4e-6, &name);
        let found = gradients_of(shapes, &single, |into| {
            with_inputs(shapes, &single, |inputs| {
                let (out, d_out) =
                    (MatRef::new(&out, rows, width), MatRef::new(&d_out, rows, width));
                operator.backpropagate_f32(implementation, inputs, out, d_out, into);
            });
        });
        for (found, expected) in found.iter().zip(&mut expected_gradients) {
            assert_close(found, expected, 2e-5, &name);
        }
    }
}

/// Checks that an operator gives the same bits in place and with a separate result.
pub(super) fn check_in_place(operator: &impl InPlaceOperator, shapes: &Shapes, seed: u64) {
    let numbers = numbers(shapes, &mut TestRng::new(seed));
    let [rows, width] = shapes.matrices[0];
    for cpu in Cpu::all() {
        let mut separate = vec![f32::NAN; rows * width];
        let mut in_place = numbers[0].clone();
        with_inputs(shapes, &numbers, |inputs| {
            let matrix = MatMut::new(&mut in_place, rows, width);
            operator.forward_in_place_f32(cpu, matrix, inputs.vectors);
            let out = MatMut::new(&mut separate, rows, width);
            Operator::forward_f32(operator, cpu, inputs, out);
        });
        assert_eq!(in_place, separate, "{operator:?}");
        assert_ne!(in_place, numbers[0], "{operator:?}");
    }
}

pub(super) fn same(count: usize) -> Shapes {
    Shapes { matrices: vec![[ROWS, WIDTH]; count], vectors: Vec::new() }
}

/// Returns sequences, with the number of their rows and the number of sequences: steps of decoding,
/// whole sentences (one of them empty), and nothing.
pub(super) fn all_sequences() -> [(Sequences, usize, usize); 3] {
    [
        (Sequences::SingleStep, 3, 3),
        (Sequences::Lengths(vec![4, 0, 1, 2]), 7, 4),
        (Sequences::Lengths(vec![]), 0, 0),
    ]
}

/// Returns the inputs of a recurrent cell with this number of gates.
pub(super) fn cell_shapes(gates: usize, with_input: bool, with_bias: bool) -> Shapes {
    let mut matrices = vec![[ROWS, gates * WIDTH], [ROWS, WIDTH], [ROWS, gates * WIDTH]];
    matrices.truncate(2 + usize::from(with_input));
    Shapes { matrices, vectors: vec![gates * WIDTH; usize::from(with_bias)] }
}

/// A step of decoding gives the same bits as its row in the result of the whole sentence.
#[test]
fn decoding_steps_give_the_bits_of_whole_sentences() {
    let mut rng = TestRng::new(10);
    let (gate, input) = (rng.floats(ROWS * WIDTH, 2.0), rng.floats(ROWS * WIDTH, 1.0));
    let initial = rng.floats(WIDTH, 1.0);
    for cpu in Cpu::all() {
        let run = |operator: &dyn Fn(Sequences, u32) -> Box<dyn AnyOperator>, gated: bool| {
            let apply = |sequences, seen, rows: Range<usize>, initial: &[f32]| {
                let matrix = |x| MatRef::new(x, ROWS, WIDTH).row_range(rows.clone());
                let all = [matrix(&gate), matrix(&input), MatRef::new(initial, 1, WIDTH)];
                let matrices = if gated { &all[..] } else { &all[1..] };
                let mut out = vec![f32::NAN; rows.len() * WIDTH];
                let into = MatMut::new(&mut out, rows.len(), WIDTH);
                let inputs = Inputs { matrices, vectors: &[] };
                operator(sequences, seen).apply_f32(Implementation::Vector(cpu), inputs, into);
                out
            };
            let whole = apply(Sequences::Lengths(vec![ROWS]), 2, 0..ROWS, &initial);
            let mut state = initial.clone();
            for row in 0..ROWS {
                state = apply(Sequences::SingleStep, 2 + row as u32, row..row + 1, &state);
                assert_eq!(state, whole[row * WIDTH..][..WIDTH]);
            }
        };
        run(&|sequences, _| Box::new(LinearRecurrence { sequences }), true);
        run(&|sequences, seen| Box::new(RunningMean { sequences, counts: vec![seen] }), false);
    }
}

/// Tables are close to the functions. The scalar baseline has the bits of the functions on the
/// plain instruction set.
#[test]
fn gates_are_computed_as_chosen() {
    let shapes = Shapes {
        matrices: vec![[ROWS, 3 * WIDTH], [ROWS, WIDTH], [ROWS, 3 * WIDTH]],
        vectors: vec![3 * WIDTH],
    };
    let numbers = numbers(&shapes, &mut TestRng::new(11));
    let run = |activation, cpu| {
        let mut out = vec![f32::NAN; ROWS * WIDTH];
        let into = MatMut::new(&mut out, ROWS, WIDTH);
        let gru = Gru { variant: GruVariant::Standard, activation };
        with_inputs(&shapes, &numbers, |inputs| Operator::forward_f32(&gru, cpu, inputs, into));
        out
    };
    let exact = run(ActivationImpl::Vector, Cpu::detect());
    let wide: Vec<f64> = exact.iter().map(|&x| f64::from(x)).collect();
    assert_eq!(
        run(ActivationImpl::Scalar, Cpu::detect()),
        run(ActivationImpl::Vector, Cpu::plain())
    );
    let table = run(ActivationImpl::Table, Cpu::detect());
    assert_close(&table, &wide, 1e-2, "table");
    assert_ne!(table, exact);
}
