//! Attention of all kinds: to sentences, to the KV cache, by distances, to annotations.

use miriam_nmt_models::architecture::RelativeBiasConfig;
use miriam_nmt_network::layer::{
    ActivationImpl, AttentionMask, AttentionScore, ColumnSlice, RelativePositions,
};

use crate::backends::{Case, Random, TestBackend, compare, compare_backends};

/// Returns the `index`th of the queries, keys and values that are side by side in `tensor`, after a
/// column that is not used.
fn qkv_part<T>(tensor: &T, index: usize, width: usize) -> ColumnSlice<'_, T> {
    let first = 1 + index * width;
    ColumnSlice { tensor, columns: first..first + width }
}

/// Returns the results of attention with heads of `head_width` columns: with each mask, and with
/// the weights of one head.
fn attend<B: TestBackend>(backend: &mut B, random: &mut Random, head_width: usize) -> Vec<f64> {
    let heads = random.size(3);
    let width = heads * head_width;
    let lengths: Vec<usize> = (0..3).map(|_| random.size(70)).collect();
    let rows = lengths.iter().sum();
    let all = backend.random_tensor(random, rows, 3 * width + 2);
    let part = |index| qkv_part(&all, index, width);
    let sentences = backend.pack_kv(heads, part(1), part(2), &lengths).unwrap();
    let groups: Vec<_> = lengths.iter().copied().zip(&sentences).collect();
    let mut numbers = Vec::new();
    for mask in [AttentionMask::All, AttentionMask::Causal, AttentionMask::Prefix(2)] {
        let attended = backend.attend(part(0), &groups, mask).unwrap();
        numbers.extend(backend.read(&attended));
    }
    // Sentences that were encoded at another time, and beams of queries.
    let later = backend.random_tensor(random, lengths[0], 3 * width + 2);
    let (keys, values) = (qkv_part(&later, 1, width), qkv_part(&later, 2, width));
    let other = backend.pack_kv(heads, keys, values, &lengths[..1]).unwrap();
    let queries = backend.random_tensor(random, 5, width);
    let groups = [(2, &other[0]), (1, &sentences[1]), (2, &sentences[2])];
    let mut weights = Vec::new();
    let whole = ColumnSlice { tensor: &queries, columns: 0..width };
    let attended = backend.attend_with_weights(whole, &groups, heads - 1, &mut weights).unwrap();
    backend.collect_attention_weights(&mut weights).unwrap();
    assert_eq!(weights.len(), 5, "a list for each query");
    numbers.extend(backend.read(&attended));
    numbers.extend(weights.concat().iter().map(|&weight| f64::from(weight)));
    numbers
}

compare_backends!(attention_by_heads_of_all_widths, |backend, random| {
    [7, 64, 130].map(|head_width| attend(backend, random, head_width)).concat()
});

/// Returns random biases like T5's, for distances up to 9 in an encoder or a decoder.
fn biases<B: TestBackend>(
    backend: &mut B,
    random: &mut Random,
    heads: usize,
    is_decoder: bool,
) -> B::RelativePositions {
    let config = RelativeBiasConfig { buckets: 8, max_distance: 9, head_dim: 0 };
    let biases = random.values(config.buckets * heads);
    backend.relative_positions(RelativePositions::with_biases(config, is_decoder, biases))
}

/// Returns random vectors for distances up to 5, which heads of this width add to keys and values.
fn vectors<B: TestBackend>(
    backend: &mut B,
    random: &mut Random,
    head_width: usize,
) -> B::RelativePositions {
    let [keys, values] = [(); 2].map(|()| random.values(11 * head_width));
    backend.relative_positions(RelativePositions::with_vectors(5, keys, values))
}

compare_backends!(attention_that_depends_on_distances, |backend, random| {
    let mut numbers = Vec::new();
    for head_width in [7, 64, 130] {
        let heads = random.size(3);
        let width = heads * head_width;
        // The second sentence has more keys than a block of 32 threads takes at a time. When the
        // second round of keys has a larger score, the sums of the first round are rescaled.
        let lengths = [random.size(10), 32 + random.size(8)];
        let all = backend.random_tensor(random, lengths.iter().sum(), 3 * width + 2);
        let terms = [vectors(backend, random, head_width), biases(backend, random, heads, false)];
        let masks = [AttentionMask::Causal, AttentionMask::All];
        for (terms, mask) in terms.iter().zip(masks) {
            let qkv = [0, 1, 2].map(|index| qkv_part(&all, index, width));
            let attended = backend.attend_relative(heads, qkv, &lengths, mask, terms).unwrap();
            numbers.extend(backend.read(&attended));
        }
    }
    numbers
});

compare_backends!(attention_to_the_kv_cache, |backend, random| {
    let heads = random.size(3);
    let head_width = random.size(20);
    let width = heads * head_width;
    let mut caches = [(); 3].map(|()| backend.new_kv_cache().unwrap());
    let vectors = vectors(backend, random, head_width);
    let biases = biases(backend, random, heads, true);
    let (mut numbers, mut before) = (Vec::new(), 0);
    for step in 0..30 {
        let rows = random.size(20);
        let parent = |random: &mut Random| match (before, random.below(10)) {
            (0, _) | (_, 0) => None,
            _ => Some(random.below(before) as u32),
        };
        let parents: Vec<Option<u32>> = (0..rows).map(|_| parent(random)).collect();
        // Three layers of one step.
        let layers = caches.iter_mut().zip([None, Some(&vectors), Some(&biases)]);
        for (cache, relative) in layers {
            let all = backend.random_tensor(random, rows, 3 * width);
            let qkv = [0, 1, 2].map(|index| ColumnSlice::nth(&all, index, width));
            let attended = backend.attend_kv_cache(cache, heads, qkv, &parents, relative).unwrap();
            if step % 5 == 4 {
                numbers.extend(backend.read(&attended));
            }
        }
        before = rows;
    }
    numbers
});

/// Returns the results of recurrent attention, and its weights.
fn attend_annotations<B: TestBackend>(
    backend: &mut B,
    random: &mut Random,
    score: &AttentionScore<B::Vector>,
    [width, value_width]: [usize; 2],
) -> Vec<f64> {
    let lengths: Vec<usize> = (0..3).map(|_| random.size(20)).collect();
    let rows = lengths.iter().sum();
    let keys = backend.random_tensor(random, rows, width);
    let values = backend.random_tensor(random, rows, value_width);
    let sentences = backend.annotate(score, &keys, &values, &lengths).unwrap();
    let queries = backend.random_tensor(random, 4, width);
    let groups = [(1, &sentences[0]), (3, &sentences[2])];
    let mut weights = Vec::new();
    let attended = backend
        .attend_annotations(ActivationImpl::Vector, score, &queries, &groups, Some(&mut weights))
        .unwrap();
    backend.collect_attention_weights(&mut weights).unwrap();
    let weights = weights.concat().into_iter().map(f64::from);
    backend.read(&attended).into_iter().chain(weights).collect()
}

compare_backends!(additive_and_dot_product_attention, |backend, random| {
    let sizes = [random.size(60), random.size(600)];
    let vector = backend.random_vector(random, sizes[0]);
    [AttentionScore::Additive(vector), AttentionScore::DotProduct]
        .map(|score| attend_annotations(backend, random, &score, sizes))
        .concat()
});

/// The three kernels are for values of up to 512, 2,048 and 4,096 columns.
#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn additive_attention_to_wide_values() {
    struct Wide(usize);
    impl Case for Wide {
        fn run<B: TestBackend>(&self, backend: &mut B, random: &mut Random) -> Vec<f64> {
            let score = AttentionScore::Additive(backend.random_vector(random, 9));
            attend_annotations(backend, random, &score, [9, self.0])
        }
    }
    for width in [512, 513, 2048, 2049, 4096] {
        compare(&Wide(width), "additive_attention_to_wide_values", width as u64);
    }
}
