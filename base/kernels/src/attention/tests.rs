//! Attention compared with its formula in f64.

use super::*;
use crate::testing::{TestRng, assert_close};

/// Returns weights and context of one head of one query over its visible positions.
fn by_formula(
    scale: f64,
    query: &[f32],
    keys: &[&[f32]],
    values: &[&[f32]],
) -> (Vec<f64>, Vec<f64>) {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let powers: Vec<f64> = keys.iter().map(|key| (scale * dot(query, key)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    let weights: Vec<f64> = powers.iter().map(|power| power / sum).collect();
    let width = values.first().map_or(0, |value| value.len());
    let context = (0..width)
        .map(|c| weights.iter().zip(values).map(|(w, v)| w * f64::from(v[c])).sum())
        .collect();
    (weights, context)
}

#[test]
fn packed_and_paged_attention_match_the_formula() {
    let mut numbers = TestRng::new(19);
    let scale = 0.3;
    for cpu in Cpu::all() {
        // Heads of width 8 fill half a panel, heads of width 24 fill one and a half; 300 rows are
        // three blocks.
        for (heads, width, positions, rows) in [
            (1, 5, 1, 1),
            (2, 8, 7, 3),
            (2, 24, 33, 9),
            (4, 16, 16, 2),
            (1, 64, 50, 50),
            (1, 4, 300, 300),
        ] {
            let columns = heads * width;
            let queries = numbers.floats(rows * columns, 1.0);
            let keys = numbers.floats(positions * columns, 1.0);
            let values = numbers.floats(positions * columns, 1.0);
            let (q, k, v) = (
                MatRef::new(&queries, rows, columns),
                MatRef::new(&keys, positions, columns),
                MatRef::new(&values, positions, columns),
            );
            let mut memory = PackedKv::default();
            memory.pack(heads, k, v);
            for visible in [
                AttentionMask::All,
                AttentionMask::Prefix(positions.div_ceil(2)),
                AttentionMask::Causal,
            ] {
                let seen = |row: usize| match visible {
                    AttentionMask::All => positions,
                    AttentionMask::Prefix(seen) => seen,
                    AttentionMask::Causal => positions - (rows - 1 - row),
                };
                let (mut contexts, mut first) = (Vec::new(), Vec::new());
                for row in 0..rows {
                    for head in 0..heads {
                        let part = head * width..(head + 1) * width;
                        let (keys, values): (Vec<&[f32]>, Vec<&[f32]>) = (0..seen(row))
                            .map(|at| (&k.row(at)[part.clone()], &v.row(at)[part.clone()]))
                            .unzip();
                        let query = &q.row(row)[part.clone()];
                        let (mut weights, context) =
                            by_formula(f64::from(scale), query, &keys, &values);
                        contexts.extend(context);
                        if head == 0 {
                            weights.resize(positions, 0.0);
                            first.extend(weights);
                        }
                    }
                }
                let mut out = vec![0.0; rows * columns];
                let mut weights = vec![0.0; rows * positions];
                attend(
                    cpu,
                    scale,
                    q,
                    &memory,
                    visible,
                    MatMut::new(&mut out, rows, columns),
                    Some((0, MatMut::new(&mut weights, rows, positions))),
                    &mut Vec::new(),
                );
                assert_close(&out, &contexts, 3e-6, "context");
                assert_close(&weights, &first, 3e-6, "weights");

                let all: Vec<u32> = (0..positions as u32).collect();
                let paths: Vec<&[u32]> = (0..rows).map(|row| &all[..seen(row)]).collect();
                let mut out = vec![0.0; rows * columns];
                attend_paged(
                    cpu,
                    heads,
                    scale,
                    q,
                    KvPool { keys: k, values: v },
                    &paths,
                    MatMut::new(&mut out, rows, columns),
                    &mut Vec::new(),
                );
                assert_close(&out, &contexts, 3e-6, "paged");
            }
        }
    }
}

#[test]
fn beams_give_the_results_of_single_queries() {
    let mut numbers = TestRng::new(20);
    let (rows, columns, positions) = (7, 64, 21);
    let queries = numbers.floats(rows * columns, 1.0);
    let keys = numbers.floats(positions * columns, 1.0);
    let mut memory = PackedKv::default();
    let keys = MatRef::new(&keys, positions, columns);
    // Packed twice: nothing of the first, longer sentence may be left.
    memory.pack(4, keys, keys);
    memory.pack(2, keys.row_range(0..13), keys.row_range(0..13));
    let queries = MatRef::new(&queries, rows, columns);
    for cpu in Cpu::all() {
        let attend = |queries: MatRef<f32>| {
            let mut out = vec![0.0; queries.rows() * columns];
            let into = MatMut::new(&mut out, queries.rows(), columns);
            attend(cpu, 0.1, queries, &memory, AttentionMask::All, into, None, &mut Vec::new());
            out
        };
        let whole = attend(queries);
        for row in 0..rows {
            let alone = attend(queries.row_range(row..row + 1));
            assert_eq!(alone, whole[row * columns..][..columns]);
        }
    }
}

#[test]
fn additive_attention_matches_its_formula() {
    let mut numbers = TestRng::new(21);
    let (rows, inner, width, positions) = (3, 21, 30, 9);
    let keys = numbers.floats(positions * inner, 2.0);
    let values = numbers.floats(positions * width, 1.0);
    let v = numbers.floats(inner, 1.0);
    let queries = numbers.floats(rows * inner, 2.0);
    let mut packed = WeightsF32::default();
    packed.fill_rows(MatRef::new(&values, positions, width), width);
    for cpu in Cpu::all() {
        for (gate_impl, most) in [(GateImpl::Exact, 3e-6), (GateImpl::Table, 1e-2)] {
            let (mut weights, mut out) = (vec![0.0; rows * positions], vec![0.0; rows * width]);
            attend_additive(
                cpu,
                gate_impl,
                MatRef::new(&keys, positions, inner),
                packed.view(),
                &v,
                MatRef::new(&queries, rows, inner),
                MatMut::new(&mut weights, rows, positions),
                MatMut::new(&mut out, rows, width),
            );
            for row in 0..rows {
                let energy = |at: usize| -> f64 {
                    let inner_at = |i: usize| {
                        f64::from(keys[at * inner + i]) + f64::from(queries[row * inner + i])
                    };
                    (0..inner).map(|i| inner_at(i).tanh() * f64::from(v[i])).sum()
                };
                let powers: Vec<f64> = (0..positions).map(|at| energy(at).exp()).collect();
                let sum: f64 = powers.iter().sum();
                let expected: Vec<f64> = powers.iter().map(|power| power / sum).collect();
                assert_close(&weights[row * positions..][..positions], &expected, most, "weights");
                let context: Vec<f64> = (0..width)
                    .map(|c| {
                        let at = |j: usize| expected[j] * f64::from(values[j * width + c]);
                        (0..positions).map(at).sum()
                    })
                    .collect();
                assert_close(&out[row * width..][..width], &context, most, "context");
            }
        }
    }
}
