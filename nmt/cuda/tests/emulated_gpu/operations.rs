//! Single operations on random matrices against the reference in f64: odd sizes, columns at any
//! offset, all activations and kinds of operators.

mod attention;

use miriam_kernels::embedding::SinusoidKind;
use miriam_kernels::operators::{
    AverageAttentionGate, Clip, ColumnNorm, Gru, GruVariant, Highway, LinearRecurrence, LstmCell,
    LstmOutput, MultiplicativeState, Multiply, Normalize, NormalizeColumns, RunningMean, Sequences,
};
use miriam_nmt_cuda::CudaBackend;
use miriam_nmt_network::layer::{
    Activation, ActivationImpl, Backend, ColumnSlice, Device, Epilogue, NormKind, OutputColumns,
    OutputGroup, OutputOps, TopK,
};
use miriam_nmt_network::plain_parameters::{PlainMatrix, PlainWeights};

use crate::backends::{Random, TestBackend, compare_backends, device};

pub(crate) const ACTIVATIONS: [Activation; 8] = [
    Activation::None,
    Activation::Relu,
    Activation::Swish,
    Activation::Gelu,
    Activation::GeluSigmoid,
    Activation::GeluTanh,
    Activation::Tanh,
    Activation::Sigmoid,
];

compare_backends!(affine_with_all_epilogues, |backend, random| {
    let mut all = Vec::new();
    for (index, activation) in ACTIVATIONS.into_iter().enumerate() {
        let rows = if index % 2 == 0 { random.size(16) } else { 16 + random.size(70) };
        let (depth, columns) = (random.size(70), random.size(140));
        let input = backend.random_tensor(random, rows, depth);
        let weights = backend.random_weights(random, depth, columns);
        let residual = backend.random_tensor(random, rows, columns);
        let residual = (index % 3 != 0).then_some(&residual);
        let product = backend.affine(&input, &weights, Epilogue { residual, activation }).unwrap();
        all.extend(backend.read(&product));
    }
    all
});

compare_backends!(rows_are_selected_replaced_and_joined, |backend, random| {
    let (rows, width) = (random.size(20), random.size(50));
    let from = backend.random_tensor(random, rows, width);
    let indices: Vec<u32> = (0..random.size(40)).map(|_| random.below(rows) as u32).collect();
    let selected = backend.index_select(&from, &indices).unwrap();
    let parents: Vec<Option<u32>> =
        (0..random.size(40)).map(|i| (i % 3 != 0).then(|| random.below(rows) as u32)).collect();
    let gathered = backend.gather_state(&from, &parents).unwrap();
    let new_row = backend.random_tensor(random, 1, width + 2);
    let slice = ColumnSlice { tensor: &new_row, columns: 1..width + 1 };
    let index = random.below(parents.len()) as u32;
    let replaced = backend.replace_rows(gathered, &[index], slice).unwrap();
    let zeros = backend.zeros(2, width).unwrap();
    let joined_rows = backend.concat_rows(&[&selected, &replaced, &zeros]).unwrap();
    let other = backend.random_tensor(random, rows, 3);
    let joined_columns = backend.concat_columns(&[&from, &other, &from]).unwrap();
    [backend.read(&joined_rows), backend.read(&joined_columns)].concat()
});

compare_backends!(embeddings_with_all_positions, |backend, random| {
    let (vocabulary, rows) = (random.size(40), random.size(30));
    let width = random.size(70);
    let table = backend.table_with(random.matrix(vocabulary, width));
    let tokens: Vec<Option<u32>> =
        (0..rows).map(|row| (row % 4 != 3).then(|| random.below(vocabulary) as u32)).collect();
    let learned = backend.learned_positions(random.matrix(50, width));
    let near: Vec<u32> = tokens.iter().map(|_| random.below(50) as u32).collect();
    // The device has sinusoids of 256 positions at first, and of more when they are needed.
    let far: Vec<u32> = tokens.iter().map(|_| 250 + random.below(50) as u32).collect();
    let sinusoids = [SinusoidKind::Marian, SinusoidKind::CTranslate2]
        .map(|kind| backend.sinusoids(kind, width));
    let encodings = [
        None,
        Some((&learned, &near[..])),
        Some((&sinusoids[0], &near[..])),
        Some((&sinusoids[0], &far[..])),
        Some((&sinusoids[1], &near[..])),
    ];
    let mut all = Vec::new();
    for (index, encoding) in encodings.into_iter().enumerate() {
        let scale = if index % 2 == 0 { 1.0 } else { 2.5 };
        let embedded = backend.embed(&table, &tokens, scale, encoding).unwrap();
        all.extend(backend.read(&embedded));
    }
    let weights = backend.random_weights(random, width, 20);
    let projected = backend.projected_embeddings(table, weights);
    let embedded = backend.embed_projected(&projected, &tokens).unwrap();
    all.extend(backend.read(&embedded));
    all
});

compare_backends!(elementwise_operators, |backend, random| {
    let shape = [random.size(9), random.size(70)];
    let mut all = Vec::new();
    for activation in ACTIVATIONS {
        let input = backend.random_tensor(random, shape[0], shape[1]);
        let result = backend.activate(&input, activation).unwrap();
        all.extend(backend.read(&result));
    }
    let [a, b] = [(); 2].map(|()| backend.random_tensor(random, shape[0], shape[1]));
    let sum = backend.add(&a, &b).unwrap();
    all.extend(backend.read(&sum));
    all.extend(backend.apply_to_random(random, Multiply, &[shape; 2], &[]));
    all.extend(backend.apply_to_random(random, Clip { limit: 0.7 }, &[shape], &[]));
    all.extend(backend.apply_to_random(random, AverageAttentionGate, &[shape; 4], &[]));
    all.extend(backend.apply_to_random(random, Highway, &[shape; 3], &[]));
    all.extend(backend.apply_to_random(random, MultiplicativeState, &[shape; 2], &[shape[1]; 2]));
    all
});

compare_backends!(gru_and_lstm_cells, |backend, random| {
    let [rows, width] = [random.size(9), random.size(40)];
    let activation = ActivationImpl::Vector;
    let mut all = Vec::new();
    let gates = [rows, 3 * width];
    for variant in [GruVariant::Standard, GruVariant::BiasInsideReset] {
        let gru = Gru { variant, activation };
        let matrices = [gates, [rows, width], gates];
        all.extend(backend.apply_to_random(random, gru, &matrices, &[3 * width]));
        all.extend(backend.apply_to_random(random, gru, &matrices[..2], &[]));
    }
    let gates = [rows, 4 * width];
    let matrices = [gates, [rows, width], gates];
    let (cell, output) = (LstmCell { activation }, LstmOutput { activation });
    all.extend(backend.apply_to_random(random, cell, &matrices, &[4 * width]));
    all.extend(backend.apply_to_random(random, output, &matrices, &[4 * width]));
    all.extend(backend.apply_to_random(random, cell, &matrices[..2], &[4 * width]));
    all
});

compare_backends!(running_means_recurrences_and_pooling, |backend, random| {
    let width = random.size(40);
    let lengths: Vec<usize> = (0..random.size(5)).map(|_| random.size(7)).collect();
    let rows: usize = lengths.iter().sum();
    let counts: Vec<u32> = lengths.iter().map(|_| random.below(5) as u32).collect();
    let mut all = Vec::new();
    for sequences in [Sequences::Lengths(lengths.clone()), Sequences::SingleStep] {
        let count = if sequences == Sequences::SingleStep { rows } else { lengths.len() };
        let counts = counts.iter().copied().cycle().take(count).collect();
        let (whole, initial) = ([rows, width], [count, width]);
        let mean = RunningMean { sequences: sequences.clone(), counts };
        all.extend(backend.apply_to_random(random, mean, &[whole, initial], &[]));
        let recurrence = LinearRecurrence { sequences };
        all.extend(backend.apply_to_random(random, recurrence, &[whole, whole, initial], &[]));
    }
    let input = backend.random_tensor(random, rows, width);
    let means = backend.mean_pool(&input, &lengths).unwrap();
    all.extend(backend.read(&means));
    all
});

compare_backends!(layer_and_rms_norms, |backend, random| {
    let mut all = Vec::new();
    for kind in [NormKind::Layer, NormKind::Rms] {
        let [rows, width] = [random.size(9), 8 + random.size(90)];
        let norm = Normalize { kind, epsilon: 1e-6 };
        let shape = [rows, width];
        all.extend(backend.apply_to_random(random, norm, &[shape], &[width]));
        all.extend(backend.apply_to_random(random, norm, &[shape; 2], &[width; 2]));
        let columns = [2..width / 2, width / 2 + 1..width - 1];
        let norms = columns.clone().map(|columns| ColumnNorm { columns, norm, has_bias: true });
        let lengths: Vec<usize> = columns.iter().flat_map(|all| [all.len(); 2]).collect();
        let norms = NormalizeColumns { norms: norms.to_vec() };
        all.extend(backend.apply_to_random(random, norms, &[shape], &lengths));
    }
    all
});

/// A row of a product has the same bits in a batch of any size and at any position.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn products_do_not_depend_on_the_batch() {
    let random = &mut Random(7);
    let backend = &mut device().new_backend().unwrap();
    let (rows, depth, columns) = (90, 130, 70);
    let input = backend.random_tensor(random, rows, depth);
    let weights = backend.random_weights(random, depth, columns);
    let product = backend.affine(&input, &weights, Epilogue::default()).unwrap();
    let all = backend.values(&product).unwrap().to_vec();
    for (row, expected) in all.chunks_exact(columns).enumerate() {
        let one = backend.index_select(&input, &[row as u32]).unwrap();
        let product = backend.affine(&one, &weights, Epilogue::default()).unwrap();
        assert_eq!(backend.values(&product).unwrap(), expected, "row {row}");
    }
}

/// Top-k over groups of rows with different candidates gives the same as top-k over each group.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn groups_together_have_the_best_tokens_of_each_group() {
    let random = &mut Random(17);
    let backend = &mut device().new_backend().unwrap();
    let (depth, columns) = (9, 150);
    let weights = backend.random_weights(random, depth, columns);
    let hidden = backend.random_tensor(random, 12, depth);
    let tokens: [Vec<u32>; 2] = [(0..150).step_by(4).collect(), vec![3, 77]];
    let shortlisted =
        [0, 1].map(|list: usize| backend.select_output(&weights, &tokens[list]).unwrap());
    let groups = [
        OutputGroup {
            rows: 0..3,
            weights: &shortlisted[0],
            columns: OutputColumns::Tokens(&tokens[0]),
        },
        OutputGroup { rows: 3..8, weights: &weights, columns: OutputColumns::All },
        OutputGroup { rows: 8..8, weights: &weights, columns: OutputColumns::All },
        OutputGroup {
            rows: 8..12,
            weights: &shortlisted[1],
            columns: OutputColumns::Tokens(&tokens[1]),
        },
    ];
    let mut together = vec![TopK::new(4, true); 12];
    backend.topk_by_group(&hidden, &groups, &mut together).unwrap();
    let mut alone = vec![TopK::new(4, true); 12];
    for OutputGroup { rows, weights, columns } in &groups {
        let best = &mut alone[rows.clone()];
        backend.topk(&hidden, rows.clone(), weights, *columns, best).unwrap();
    }
    for (row, (together, alone)) in together.iter().zip(&alone).enumerate() {
        assert_eq!(together.candidates(), alone.candidates(), "row {row}");
        assert_eq!(together.log_normalizer(), alone.log_normalizer(), "row {row}");
    }
    assert_eq!(together[11].candidates().len(), 2);
    assert!(together[11].candidates().iter().all(|one| [3, 77].contains(&one.id)));
}

/// Checks that `apply` panics.
#[track_caller]
fn assert_panics(apply: &dyn Fn(&mut CudaBackend, &mut Random)) {
    let mut backend = device().new_backend().unwrap();
    let run = std::panic::AssertUnwindSafe(|| apply(&mut backend, &mut Random(19)));
    assert!(std::panic::catch_unwind(run).is_err());
}

/// Operators panic before the launch if a matrix or vector has the wrong shape.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn inputs_that_do_not_fit_are_rejected() {
    let norm = Normalize { kind: NormKind::Layer, epsilon: 1e-6 };
    assert_panics(&|backend, random| drop(backend.apply_to_random(random, norm, &[[3, 8]], &[7])));
    assert_panics(&|backend, random| drop(backend.apply_to_random(random, norm, &[[3, 8]], &[])));
    let gru = || Gru { variant: GruVariant::Standard, activation: ActivationImpl::Vector };
    let apply = |backend: &mut CudaBackend, random: &mut Random, matrices: &[[usize; 2]], bias| {
        drop(backend.apply_to_random(random, gru(), matrices, &[bias]));
    };
    assert_panics(&|backend, random| apply(backend, random, &[[3, 24], [3, 8], [2, 24]], 24));
    assert_panics(&|backend, random| apply(backend, random, &[[3, 16], [3, 8]], 24));
    assert_panics(&|backend, random| apply(backend, random, &[[3, 24], [3, 8]], 16));
    // The same call with fitting shapes succeeds.
    apply(&mut device().new_backend().unwrap(), &mut Random(19), &[[3, 24], [3, 8]], 24);
    let recurrence = || LinearRecurrence { sequences: Sequences::Lengths(vec![1, 2]) };
    assert_panics(&|backend, random| {
        drop(backend.apply_to_random(random, recurrence(), &[[3, 8], [3, 8], [1, 8]], &[]));
    });
}

/// The best tokens have the largest logits of their row, with the bits that `row_logits` returns.
/// Ties are broken by the lower token.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn best_tokens_have_the_largest_logits() {
    let random = &mut Random(11);
    let backend = &mut device().new_backend().unwrap();
    // The logits of up to 16 rows are stored. More rows have a fused kernel, which stores none.
    let few = [(1, 3, 4), (700, 5, 1), (1024, 2, 12), (2300, 3, 5), (5000, 2, 70)];
    let many = [(1, 17, 1), (150, 20, 3), (65, 70, 66), (200, 66, 1)];
    for (columns, rows, k) in few.into_iter().chain(many) {
        let depth = 3;
        // Few different values, so that many logits are equal.
        let values = (0..depth * columns).map(|_| random.below(3) as f32).collect();
        let matrix = PlainMatrix { rows: depth, columns, values };
        // Every seventh token but the first has the logit -infinity, so it is never a candidate.
        let mut bias = vec![0.0; columns];
        bias.iter_mut().step_by(7).skip(1).for_each(|bias| *bias = f32::NEG_INFINITY);
        let weights = backend.weights_with(&PlainWeights { matrix, bias: Some(bias) });
        let hidden = backend.random_tensor(random, rows + 1, depth);
        let part = 1..rows + 1;
        let mut best = vec![TopK::new(k, true); rows];
        backend.topk(&hidden, part.clone(), &weights, OutputColumns::All, &mut best).unwrap();
        // A row has the same bits in another batch.
        for row in [0, rows - 1] {
            let mut alone = vec![TopK::new(k, true); 1];
            let part = row + 1..row + 2;
            backend.topk(&hidden, part, &weights, OutputColumns::All, &mut alone).unwrap();
            assert_eq!(alone[0].candidates(), best[row].candidates(), "{columns} columns");
            assert_eq!(alone[0].log_normalizer(), best[row].log_normalizer(), "{columns} columns");
        }
        let (mut logits, mut normalizers) = (Vec::new(), Vec::new());
        backend.row_logits(&hidden, part, &weights, &mut logits, &mut normalizers).unwrap();
        for (row, (best, logits)) in best.iter().zip(logits.chunks_exact(columns)).enumerate() {
            let mut expected: Vec<(u32, f32)> = (0..).zip(logits.iter().copied()).collect();
            expected.retain(|(_, logit)| logit.is_finite());
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            expected.truncate(k);
            let found = best.candidates().iter().map(|one| (one.id, one.logit));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{columns} columns, row {row}");
            let sum: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
            let normalizers = [best.log_normalizer(), normalizers[row]];
            for normalizer in normalizers {
                assert!((f64::from(normalizer) - sum.ln()).abs() < 1e-5, "{normalizer} {sum}");
            }
            // Single logits have the same bits.
            let pairs: Vec<(u32, u32)> =
                expected.iter().map(|&(column, _)| (row as u32 + 1, column)).collect();
            let mut single = vec![0.0; pairs.len()];
            backend.gather_logits(&hidden, &pairs, &weights, &mut single).unwrap();
            assert!(single.iter().zip(&expected).all(|(single, (_, logit))| single == logit));
        }
        // A logit of infinity or NaN is detected even without the normaliser.
        let mut bias = vec![0.0; columns];
        bias[columns / 2] = if rows % 2 == 0 { f32::NAN } else { f32::INFINITY };
        let matrix = PlainMatrix { rows: depth, columns, values: vec![1.0; depth * columns] };
        let non_finite = backend.weights_with(&PlainWeights { matrix, bias: Some(bias) });
        let mut found = vec![TopK::new(1, false); 1];
        backend.topk(&hidden, 1..2, &non_finite, OutputColumns::All, &mut found).unwrap();
        assert!(found[0].has_non_finite(), "{columns} columns");
        let tokens: Vec<u32> = (0..columns as u32).step_by(3).collect();
        let shortlisted = backend.select_output(&weights, &tokens).unwrap();
        let mut best = vec![TopK::new(k, false); 1];
        let shortlist = OutputColumns::Tokens(&tokens);
        backend.topk(&hidden, 1..2, &shortlisted, shortlist, &mut best).unwrap();
        let expected = tokens.iter().filter(|&&token| logits[token as usize].is_finite()).count();
        assert_eq!(best[0].candidates().len(), k.min(expected), "{columns} columns");
        let is_equal = best[0].candidates().iter().all(|one| one.logit == logits[one.id as usize]);
        assert!(is_equal, "{columns} columns");
    }
}
