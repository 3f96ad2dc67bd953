//! The kernels of training: gradients, cross entropy, optimisers, dropout masks.
//! `cargo bench -p miriam-kernels --bench training`, with prefixes that select measurements
//! (`attention`). An element is one number of the input. In cells it is one number of the state,
//! and in attention of sentences one multiply-add of the product of queries and keys. Times are CPU
//! times of the thread, the best of many slices, so that other programs disturb them little.

use std::hint::black_box;
use std::io::Write;

use miriam_kernels::activation::{Activation, activation_gradient};
use miriam_kernels::attention::{
    AdditiveAttention, AdditiveGradients, AttentionMask, SequenceAttention, SequenceGradients,
    SequenceScratch, attend_additive_gradient, attend_sequence, attend_sequence_gradient,
};
use miriam_kernels::cross_entropy::{
    LogitStatistics, VocabularyBlock, cross_entropy_gradient, update_logit_statistics,
};
use miriam_kernels::elementwise::{add_column_sums, add_in_place};
use miriam_kernels::operators::{
    ActivationImpl, AnyOperator, Gru, GruVariant, Implementation, InputGradients, Inputs,
    LinearRecurrence, LstmCell, LstmOutput, NormKind, Normalize, Operator, Sequences,
};
use miriam_kernels::optimizer::{AdamStep, MovingAverage, adam, sum_of_squares};
use miriam_kernels::random::{MaskRow, fill_dropout_mask};
use miriam_kernels::{Cpu, MatMut, MatRef};
use nix::time::{ClockId, clock_gettime};

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919) % 2003) as f32 / 1001.0 - 1.0).collect()
}

/// Returns the CPU seconds of this thread.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock of the thread");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// The settings of measurements: prefixes that select measurements by name, and the current group.
struct Bench {
    prefixes: Vec<String>,
    group: &'static str,
    /// The number of elements or bytes of a call, and their unit.
    throughput: (usize, &'static str),
}

impl Bench {
    const SLICE: f64 = 0.5e-3;
    const SECONDS: f64 = 0.3;

    /// Measures `work` if a prefix selects it, and prints the microseconds of a call and the rate.
    fn measure(&self, name: &str, mut work: impl FnMut()) {
        let name = format!("{}: {name}", self.group);
        if !self.prefixes.is_empty() && !self.prefixes.iter().any(|prefix| name.starts_with(prefix))
        {
            return;
        }
        let (mut calls, mut best) = (1, f64::INFINITY);
        let start = seconds();
        while seconds() - start < Self::SECONDS || best == f64::INFINITY {
            let before = seconds();
            (0..calls).for_each(|_| work());
            let time = seconds() - before;
            if time < Self::SLICE {
                calls *= 2;
                continue;
            }
            best = best.min(time / f64::from(calls));
        }
        let (count, unit) = self.throughput;
        let (time, rate) = (best * 1e6, count as f64 / best / 1e9);
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{name:<64} {time:>9.2} us {rate:>8.2} G{unit}/s");
    }
}

fn attention(bench: &mut Bench) {
    let cpu = Cpu::detect();
    bench.group = "attention of sentences";
    for (heads, width, positions) in [(4, 32, 15), (8, 32, 25), (8, 64, 25), (8, 32, 60)] {
        let columns = heads * width;
        let fused = numbers(positions * 3 * columns);
        let fused = MatRef::new(&fused, positions, 3 * columns);
        let part = |index: usize| fused.column_range(index * columns..(index + 1) * columns);
        let inputs = SequenceAttention {
            heads,
            scale: 1.0 / (width as f32).sqrt(),
            queries: part(0),
            keys: part(1),
            values: part(2),
            dropout: None,
        };
        let mut probabilities = vec![0.0; heads * positions * positions];
        let mut out = vec![0.0; positions * columns];
        let mut scratch = SequenceScratch::default();
        bench.throughput = ((positions * positions * columns), " elements");
        let name = format!("{heads} heads of {width}, {positions} positions");
        bench.measure(&format!("{name}, forward"), || {
            let (out, inputs) = (MatMut::new(&mut out, positions, columns), black_box(&inputs));
            let mask = AttentionMask::All;
            attend_sequence(cpu, inputs, mask, &mut probabilities, out, &mut scratch);
        });
        let mut gradients = vec![0.0; positions * 3 * columns];
        let d_out = MatRef::new(&out, positions, columns);
        bench.measure(&format!("{name}, gradient"), || {
            let [queries, keys, values] = {
                let (first, rest) = gradients.split_at_mut(positions * columns);
                let (second, third) = rest.split_at_mut(positions * columns);
                [first, second, third].map(|part| MatMut::new(part, positions, columns))
            };
            let gradients = SequenceGradients { queries, keys, values };
            let inputs = black_box(&inputs);
            let scratch = &mut scratch;
            attend_sequence_gradient(cpu, inputs, &probabilities, d_out, None, gradients, scratch);
        });
    }
}

fn rows(bench: &mut Bench) {
    let cpu = Cpu::detect();
    let (rows, columns) = (128, 256);
    bench.group = "rows, 128 x 256";
    bench.throughput = ((rows * columns), " elements");
    let (x, dy, scale) = (numbers(rows * columns), numbers(rows * columns), numbers(columns));
    let (x, dy) = (MatRef::new(&x, rows, columns), MatRef::new(&dy, rows, columns));
    let [mut out, mut d_x, mut d_y] = [(); 3].map(|()| vec![0.0; rows * columns]);
    let (mut sums, mut biases) = (vec![0.0; columns], vec![0.0; columns]);
    for activation in [Activation::Relu, Activation::Swish, Activation::Gelu] {
        bench.measure(&format!("{activation:?} gradient"), || {
            let out = MatMut::new(&mut out, rows, columns);
            activation_gradient(cpu, activation, black_box(x), out);
        });
        out.fill(1.0);
    }
    let norm = Normalize { kind: NormKind::Layer, epsilon: 1e-6 };
    bench.measure("layer norm", || {
        let inputs = Inputs { matrices: &[black_box(x), dy], vectors: &[&scale, &scale] };
        Operator::forward_f32(&norm, cpu, inputs, MatMut::new(&mut out, rows, columns));
    });
    bench.measure("layer norm gradient", || {
        let inputs = Inputs { matrices: &[black_box(x), x], vectors: &[&scale, &scale] };
        let into = InputGradients {
            matrices: &mut [&mut d_x, &mut d_y].map(|d| MatMut::new(d, rows, columns)),
            vectors: &mut [&mut sums, &mut biases],
        };
        let out = MatRef::new(&out, rows, columns);
        Operator::gradient_f32(&norm, cpu, inputs, out, dy, into);
    });
    bench.measure("column sums", || add_column_sums(cpu, black_box(x), &mut sums));
    bench.measure("addition", || {
        add_in_place(cpu, black_box(x), MatMut::new(&mut out, rows, columns))
    });
    bench.measure("dropout mask", || {
        for (position, out) in out.chunks_exact_mut(columns).enumerate() {
            let row = MaskRow { position: position as u32, site: 1, sentence: 7 };
            fill_dropout_mask(cpu, black_box([1, 2]), row, 0.9, out);
        }
    });
}

fn cells(bench: &mut Bench) {
    let cpu = Cpu::detect();
    let (rows, width) = (64, 256);
    bench.group = "gradients of cells, 64 x 256";
    bench.throughput = ((rows * width), " elements");
    let gates = numbers(rows * 4 * width);
    let state = numbers(rows * width);
    let state = MatRef::new(&state, rows, width);
    let (mut to_input, mut to_state) = (vec![0.0; rows * 4 * width], vec![0.0; rows * 4 * width]);
    let (mut to_bias, mut to_before) = (vec![0.0; 4 * width], vec![0.0; rows * width]);
    for (name, count) in [("GRU", 3), ("LSTM", 4)] {
        let products = MatRef::new(&gates, rows, count * width);
        let matrices = [products, state, products];
        let bias = &gates[..count * width];
        bench.measure(name, || {
            let mut to = [
                MatMut::new(&mut to_state, rows, count * width),
                MatMut::new(&mut to_before, rows, width),
                MatMut::new(&mut to_input, rows, count * width),
            ];
            let mut gradient = |operator: &dyn AnyOperator| {
                let inputs = Inputs { matrices: black_box(&matrices), vectors: &[bias] };
                let vectors = &mut [&mut to_bias[..count * width]];
                let into = InputGradients { matrices: &mut to, vectors };
                operator.backpropagate_f32(Implementation::Vector(cpu), inputs, state, state, into);
            };
            let activation = ActivationImpl::Vector;
            if count == 3 {
                gradient(&Gru { variant: GruVariant::Standard, activation });
            } else {
                gradient(&LstmOutput { activation });
                gradient(&LstmCell { activation });
            }
        });
    }
    bench.measure("linear recurrence", || {
        let matrices = [black_box(state), state, state.row_range(0..1)];
        let mut to = [
            MatMut::new(&mut to_input, rows, width),
            MatMut::new(&mut to_state, rows, width),
            MatMut::new(&mut to_before, 1, width),
        ];
        let operator = LinearRecurrence { sequences: Sequences::Lengths(vec![rows]) };
        let inputs = Inputs { matrices: &matrices, vectors: &[] };
        let into = InputGradients { matrices: &mut to, vectors: &mut [] };
        Operator::gradient_f32(&operator, cpu, inputs, state, state, into);
    });
    let positions = 25;
    let keys = state.row_range(0..positions);
    let weights = vec![0.04; positions];
    let mut scratch = Vec::new();
    bench.throughput = ((positions * width), " elements");
    bench.measure("additive attention, a row over 25", || {
        let inputs = AdditiveAttention {
            keys,
            values: keys,
            v: state.row(0),
            queries: black_box(state.row_range(1..2)),
            weights: MatRef::new(&weights, 1, positions),
        };
        let gradients = AdditiveGradients {
            keys: MatMut::new(&mut to_input, positions, width),
            values: MatMut::new(&mut to_state, positions, width),
            v: &mut to_bias[..width],
            queries: MatMut::new(&mut to_before, 1, width),
        };
        let d_out = state.row_range(2..3);
        attend_additive_gradient(cpu, &inputs, d_out, None, gradients, &mut scratch);
    });
}

fn cross_entropy(bench: &mut Bench) {
    let cpu = Cpu::detect();
    let (rows, columns) = (32, 2048);
    bench.group = "cross entropy, 32 x 2048";
    bench.throughput = ((rows * columns), " elements");
    let mut logits = numbers(rows * columns);
    let (labels, weights) = (vec![7; rows], vec![1.0; rows]);
    let mut statistics = vec![LogitStatistics::default(); rows];
    bench.measure("statistics", || {
        let logits = MatRef::new(black_box(&logits), rows, columns);
        update_logit_statistics(cpu, logits, 0, &labels, &mut statistics);
    });
    bench.measure("gradient", || {
        let logits = MatMut::new(&mut logits, rows, columns);
        let block = VocabularyBlock { first: 0, columns: 10_000, smoothing: 0.1 };
        cross_entropy_gradient(cpu, block, &labels, &weights, &statistics, logits);
    });
}

fn optimizers(bench: &mut Bench) {
    let cpu = Cpu::detect();
    let count = 8 << 20;
    bench.group = "optimisers, 8 Mi parameters";
    let gradient = numbers(count);
    let mut vectors: [Vec<f32>; 4] = std::array::from_fn(|_| numbers(count));
    vectors[2].iter_mut().for_each(|x| *x = x.abs());
    let [parameters, m, v, average] = &mut vectors;
    let step = AdamStep {
        rate: 1e-4,
        beta1: 0.9,
        beta2: 0.98,
        rest1: 0.1,
        rest2: 0.02,
        epsilon: 1e-9,
        weight_decay: 0.0,
        correction1: 1.0,
        correction2: 1.0,
        gradient_scale: 0.5,
    };
    bench.throughput = (28 * count, "B");
    bench.measure("Adam", || adam(cpu, step, black_box(&gradient), parameters, [m, v], None));
    bench.throughput = (36 * count, "B");
    bench.measure("Adam with an average", || {
        let average = Some(MovingAverage { average, weight: 1e-4 });
        adam(cpu, step, black_box(&gradient), parameters, [m, v], average);
    });
    bench.throughput = (4 * count, "B");
    bench.measure("sum of squares", || {
        black_box(sum_of_squares(cpu, black_box(&gradient)));
    });
    bench.throughput = (8 * count, "B");
    bench.measure("a copy", || average.copy_from_slice(black_box(&gradient)));
}

fn main() {
    // `cargo bench` passes `--bench`.
    let prefixes = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut bench = Bench { prefixes, group: "", throughput: (0, "") };
    for group in [attention, rows, cells, cross_entropy, optimizers] {
        group(&mut bench);
    }
}
