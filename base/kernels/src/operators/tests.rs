//! Each operator held against itself: the vector instructions against the plain loops, and gradients
//! against differences of the forward pass, which is compared with formulas where they are simple.

use std::ops::Range;
use std::sync::Arc;

use super::*;
use crate::random::RowKey;
use crate::testing::TestRng;

/// The number of columns: not a multiple of the lanes.
const WIDTH: usize = 37;
const ROWS: usize = 7;

/// The shapes of an operator's inputs.
struct Shapes {
    matrices: Vec<[usize; 2]>,
    vectors: Vec<usize>,
}

/// Numbers for the inputs, matrices first.
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

/// Calls `body` with gradients, which are 0.5 before, and returns them.
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

/// Checks an operator on random inputs: see the [module](self).
fn check(operator: &impl Operator, shapes: &Shapes, seed: u64) {
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
    let arithmetics = Cpu::all().into_iter().map(Arithmetic::Vector).chain([Arithmetic::Plain]);
    for arithmetic in arithmetics {
        let mut out = vec![f32::NAN; rows * width];
        let into = MatMut::new(&mut out, rows, width);
        with_inputs(shapes, &single, |inputs| {
            AnyOperator::forward_f32(operator, arithmetic, inputs, into);
        });
        assert_close(&out, &expected, 4e-6, &name);
        let found = gradients_of(shapes, &single, |into| {
            with_inputs(shapes, &single, |inputs| {
                let (out, d_out) =
                    (MatRef::new(&out, rows, width), MatRef::new(&d_out, rows, width));
                AnyOperator::gradient_f32(operator, arithmetic, inputs, out, d_out, into);
            });
        });
        for (found, expected) in found.iter().zip(&mut expected_gradients) {
            assert_close(found, expected, 2e-5, &name);
        }
    }
}

fn same(count: usize) -> Shapes {
    Shapes { matrices: vec![[ROWS, WIDTH]; count], vectors: Vec::new() }
}

#[test]
fn activations_have_their_gradients() {
    use crate::activation::Activation::*;
    for activation in [None, Relu, Swish, Gelu, GeluSigmoid, GeluTanh, Tanh, Sigmoid] {
        check(&Activate(activation), &same(1), 12);
    }
}

#[test]
fn element_wise_operators_have_their_gradients() {
    check(&Multiply, &same(2), 1);
    check(&Add, &same(2), 13);
    check(&Clip { limit: 0.7 }, &same(1), 14);
    let rows = (0..ROWS as u32).map(|row| RowKey { sentence: row / 3, position: row % 3 });
    check(&DropOut { key: [5, 6], site: 2, rows: rows.collect(), rate: 0.4 }, &same(1), 15);
    check(&Highway, &same(3), 2);
    check(&AverageAttentionGate, &same(4), 3);
    let shapes = Shapes { vectors: vec![WIDTH; 2], ..same(2) };
    check(&MultiplicativeState, &shapes, 4);
}

/// Steps of decoding, whole sentences, an empty one among them, and nothing.
fn all_sequences() -> [(Sequences, usize, usize); 3] {
    [
        (Sequences::SingleStep, 3, 3),
        (Sequences::Lengths(vec![4, 0, 1, 2]), 7, 4),
        (Sequences::Lengths(vec![]), 0, 0),
    ]
}

#[test]
fn operators_along_sequences_have_their_gradients() {
    for (sequences, rows, count) in all_sequences() {
        let matrices = vec![[rows, WIDTH], [rows, WIDTH], [count, WIDTH]];
        let shapes = Shapes { matrices, vectors: Vec::new() };
        check(&LinearRecurrence { sequences: sequences.clone() }, &shapes, 5);
        let matrices = vec![[rows, WIDTH], [count, WIDTH]];
        let shapes = Shapes { matrices, vectors: Vec::new() };
        let counts = (0..count as u32).map(|sequence| 3 * sequence).collect();
        check(&RunningMean { sequences, counts }, &shapes, 6);
    }
}

#[test]
fn recurrent_cells_have_their_gradients() {
    let activation = ActivationImpl::Vector;
    for with_input in [false, true] {
        let shapes = |gates: usize, bias: bool| {
            let mut matrices = vec![[ROWS, gates * WIDTH], [ROWS, WIDTH], [ROWS, gates * WIDTH]];
            matrices.truncate(2 + usize::from(with_input));
            Shapes { matrices, vectors: vec![gates * WIDTH; usize::from(bias)] }
        };
        for variant in [GruVariant::Standard, GruVariant::BiasInsideReset] {
            for with_bias in [false, true] {
                check(&Gru { variant, activation }, &shapes(3, with_bias), 7);
            }
        }
        check(&LstmCell { activation }, &shapes(4, true), 8);
        check(&LstmOutput { activation }, &shapes(4, true), 9);
    }
}

#[test]
fn operators_on_whole_rows_have_their_gradients() {
    let lengths = vec![3, 1, 2];
    let shapes = Shapes { matrices: vec![[6, WIDTH]], vectors: Vec::new() };
    check(&MeanPool { lengths }, &shapes, 16);
    // More matrices than lists keep without an allocation.
    for count in [0, 1, 2, 6] {
        let matrices = (0..count).map(|part| [part % 3, WIDTH]).collect();
        check(&ConcatRows, &Shapes { matrices, vectors: Vec::new() }, 17);
        let matrices = (0..count).map(|part| [ROWS, 5 * part]).collect();
        check(&ConcatColumns, &Shapes { matrices, vectors: Vec::new() }, 18);
    }
}

#[test]
fn norms_have_their_gradients() {
    for kind in [NormKind::Layer, NormKind::Rms] {
        let norm = Normalize { kind, epsilon: 1e-2 };
        for num_summands in [1, 2] {
            for num_vectors in [1, 2] {
                let shapes = Shapes { vectors: vec![WIDTH; num_vectors], ..same(num_summands) };
                check(&norm, &shapes, 19);
            }
        }
        for width in [1, 16, 33] {
            check(&norm, &Shapes { matrices: vec![[3, width]], vectors: vec![width] }, 20);
        }
        // Columns at both ends and between norms have none.
        let part = |columns, has_bias| ColumnNorm { columns, norm, has_bias };
        let norms = vec![part(2..19, true), part(20..34, false)];
        let shapes = Shapes { vectors: vec![17, 17, 14], ..same(1) };
        check(&NormalizeColumns { norms }, &shapes, 21);
    }
    let shapes = Shapes { matrices: vec![[0, WIDTH]; 2], vectors: vec![WIDTH] };
    check(&Normalize { kind: NormKind::Layer, epsilon: 1e-2 }, &shapes, 22);
}

/// Elements stay at their places, scaled or not.
#[test]
fn joined_and_dropped_elements_are_exact() {
    let [a, b] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let matrices = [MatRef::new(&a, 1, 3), MatRef::new(&b, 1, 3)];
    let run = |operator: &dyn AnyOperator, [rows, width]: [usize; 2]| {
        let mut out = vec![f32::NAN; 6];
        let inputs = Inputs { matrices: &matrices, vectors: &[] };
        let into = MatMut::new(&mut out, rows, width);
        operator.forward_f32(Arithmetic::Vector(Cpu::detect()), inputs, into);
        out
    };
    assert_eq!(run(&ConcatRows, [2, 3]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(run(&ConcatColumns, [1, 6]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);

    let x = vec![1.0f32; 400];
    let rows = Arc::from([RowKey { sentence: 3, position: 1 }]);
    let operator = DropOut { key: [5, 6], site: 2, rows, rate: 0.25 };
    let mut out = vec![f32::NAN; 400];
    let inputs = Inputs { matrices: &[MatRef::new(&x, 1, 400)], vectors: &[] };
    operator.forward(inputs, MatMut::new(&mut out, 1, 400));
    let dropped = out.iter().filter(|&&x| x == 0.0).count();
    // 100 are expected, 8.7 the deviation.
    assert!((65..135).contains(&dropped), "{dropped} of 400 dropped at 0.25");
    assert!(out.iter().all(|&x| x == 0.0 || x == 1.0 / 0.75));
}

/// The result of a step of decoding is the row of the sentence, bit for bit.
#[test]
fn sentences_are_their_steps() {
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
                operator(sequences, seen).forward_f32(Arithmetic::Vector(cpu), inputs, into);
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

/// Tables are close to the functions, and the scalar baseline has their bits.
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
