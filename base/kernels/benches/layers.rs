//! The kernels between GEMMs: activations, norms, attention, cells and top-k.
//! `cargo bench -p miriam-kernels --bench layers`. Throughput is in elements of the output, or in
//! logits.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use miriam_kernels::activation::{Activation, GateImpl, activate, softmax};
use miriam_kernels::attention::{
    AttentionMask, KvPool, PackedKv, attend, attend_additive, attend_paged,
};
use miriam_kernels::operators::{
    ActivationImpl, Gru, GruVariant, Inputs, NormKind, Normalize, Operator,
};
use miriam_kernels::pack::WeightsF32;
use miriam_kernels::topk::{ColumnIds, TopK, update_topk};
use miriam_kernels::{Cpu, MatMut, MatRef};

/// The scale of attention scores: 1 / sqrt(64).
const SCORE_SCALE: f32 = 0.125;

/// Returns numbers from -5 to 5.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7919) % 2003) as f32 / 200.0 - 5.0).collect()
}

fn bench_output_layer(criterion: &mut Criterion) {
    let cpu = Cpu::detect();
    let words = 32_000;
    let (logits, bias) = (numbers(words), numbers(words));
    let mut group = criterion.benchmark_group("output 32000");
    group.throughput(Throughput::Elements(words as u64));
    for (name, k, normalize) in
        [("top 1", 1, false), ("top 1 and sum", 1, true), ("top 6 and sum", 6, true)]
    {
        let mut best = [TopK::new(k, normalize)];
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                best[0].clear();
                let logits = MatRef::new(black_box(&logits), 1, words);
                update_topk(cpu, logits, Some(&bias), ColumnIds::Consecutive(0), &mut best);
            });
        });
    }
    // The same without fusion: bias, softmax and top-k, each over the whole row.
    group.bench_function("bias, softmax and top 6 unfused", |bencher| {
        let mut row = logits.clone();
        let mut best = [TopK::new(6, false)];
        bencher.iter(|| {
            row.iter_mut().zip(&logits).zip(&bias).for_each(|((to, x), b)| *to = x + b);
            softmax(cpu, MatMut::new(&mut row, 1, words));
            best[0].clear();
            update_topk(
                cpu,
                MatRef::new(&row, 1, words),
                None,
                ColumnIds::Consecutive(0),
                &mut best,
            );
        });
    });
}

fn bench_activations_and_norm(criterion: &mut Criterion) {
    let cpu = Cpu::detect();
    let row = numbers(4096);
    let mut group = criterion.benchmark_group("functions 4096");
    group.throughput(Throughput::Elements(4096));
    for (name, activation) in [("sigmoid", Activation::Sigmoid), ("tanh", Activation::Tanh)] {
        let mut out = row.clone();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                out.copy_from_slice(black_box(&row));
                activate(cpu, activation, MatMut::new(&mut out, 1, 4096));
            });
        });
    }
    group.bench_function("tanh of the standard library", |bencher| {
        let mut out = row.clone();
        bencher.iter(|| out.iter_mut().zip(black_box(&row)).for_each(|(to, x)| *to = x.tanh()));
    });
    let scale = numbers(512);
    let residual = numbers(4096);
    let mut out = numbers(4096);
    group.bench_function("layer norm of 512 with residual", |bencher| {
        let norm = Normalize { kind: NormKind::Layer, epsilon: 1e-6 };
        bencher.iter(|| {
            let summands = [MatRef::new(&residual, 8, 512), MatRef::new(black_box(&row), 8, 512)];
            // The scale serves as bias too.
            let inputs = Inputs { matrices: &summands, vectors: &[&scale, &scale] };
            norm.forward_f32(cpu, inputs, MatMut::new(&mut out, 8, 512));
        });
    });
}

fn bench_attention(criterion: &mut Criterion) {
    let cpu = Cpu::detect();
    let (heads, columns, positions) = (8, 512, 25);
    let rows = numbers(positions * columns);
    let source = MatRef::new(&rows, positions, columns);
    let mut packed = PackedKv::default();
    packed.pack(heads, source, source);
    let mut out = vec![0.0; positions * columns];
    let mut scratch = Vec::new();
    let mut group = criterion.benchmark_group("attention, 8 heads of 64 over 25");
    for queries in [1, 6, 25] {
        group.throughput(Throughput::Elements((queries * columns) as u64));
        group.bench_function(format!("packed, {queries} queries"), |bencher| {
            bencher.iter(|| {
                let out = MatMut::new(&mut out, queries, columns);
                let queries = black_box(source.row_range(0..queries));
                attend(
                    cpu,
                    SCORE_SCALE,
                    queries,
                    &packed,
                    AttentionMask::All,
                    out,
                    None,
                    &mut scratch,
                );
            });
        });
    }
    let row_list: Vec<u32> = (0..positions as u32).collect();
    let row_lists = [&row_list[..]; 6];
    group.throughput(Throughput::Elements(6 * columns as u64));
    group.bench_function("paged, 6 queries", |bencher| {
        bencher.iter(|| {
            let out = MatMut::new(&mut out, 6, columns);
            let queries = black_box(source.row_range(0..6));
            let pool = KvPool { keys: source, values: source };
            attend_paged(cpu, heads, SCORE_SCALE, queries, pool, &row_lists, out, &mut scratch);
        });
    });
    group.throughput(Throughput::Elements((2 * positions * columns) as u64));
    group.bench_function("packing keys and values", |bencher| {
        bencher.iter(|| packed.pack(heads, black_box(source), source));
    });
    group.throughput(Throughput::Elements(6 * columns as u64));
    let mut weights = vec![0.0; 6 * positions];
    let mut values = WeightsF32::default();
    values.fill_rows(source, columns);
    for (name, gate_impl) in [("exact", GateImpl::Exact), ("table", GateImpl::Table)] {
        group.bench_function(format!("additive, 6 queries, {name}"), |bencher| {
            bencher.iter(|| {
                let out = MatMut::new(&mut out, 6, columns);
                let weights = MatMut::new(&mut weights, 6, positions);
                let queries = black_box(source.row_range(0..6));
                let packed_values = values.view();
                let v = &rows[..columns];
                attend_additive(cpu, gate_impl, source, packed_values, v, queries, weights, out);
            });
        });
    }
}

fn bench_gru(criterion: &mut Criterion) {
    let cpu = Cpu::detect();
    let (rows, width) = (6, 1024);
    let gates = numbers(rows * 3 * width);
    let state = numbers(rows * width);
    let (state, products) =
        (MatRef::new(&state, rows, width), MatRef::new(&gates, rows, 3 * width));
    let mut out = vec![0.0; rows * width];
    let mut group = criterion.benchmark_group("cells, 6 rows of 1024");
    group.throughput(Throughput::Elements((rows * width) as u64));
    // `Vector` computes exact gates.
    for (name, activation) in [("exact", ActivationImpl::Vector), ("table", ActivationImpl::Table)]
    {
        let operator = Gru { variant: GruVariant::Standard, activation };
        group.bench_function(format!("GRU, {name}"), |bencher| {
            bencher.iter(|| {
                let out = MatMut::new(&mut out, rows, width);
                let matrices = [black_box(products), state, products];
                let inputs = Inputs { matrices: &matrices, vectors: &[&gates[..3 * width]] };
                operator.forward_f32(cpu, inputs, out);
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(800))
        .sample_size(20);
    targets = bench_output_layer, bench_activations_and_norm, bench_attention, bench_gru
}
criterion_main!(benches);
