//! Tests of trees of all critical sizes, compared with a sorted list.

use std::io::Write as _;

use proptest::prelude::*;

use super::*;

/// Returns all instruction sets of this processor, the plain one first.
fn isas() -> Vec<Isa> {
    let mut isas = vec![Isa::PLAIN];
    for (name, isa) in [("AVX2", Isa::avx2()), ("AVX-512", Isa::avx512())] {
        match isa {
            Some(isa) => isas.push(isa),
            None => {
                let _ = writeln!(std::io::stderr(), "skipped: this processor has no {name}");
            }
        }
    }
    isas
}

/// Returns the keys in the order in which a file stores them.
fn lay_out(tree: StaticBTree, sorted: &[u32]) -> Vec<Unit> {
    let mut keys = vec![NO_KEY; (tree.nodes() * tree.node_keys) as usize];
    for (position, &key) in tree.in_order_positions().zip(sorted) {
        keys[position as usize] = key;
    }
    keys.chunks(4).map(|four| Unit([four[0], four[1], four[2], four[3]])).collect()
}

const SIZES: [u64; 17] =
    [0, 1, 7, 8, 9, 31, 32, 33, 62, 63, 64, 80, 1023, 1024, 1055, 1056, 40_000];

#[test]
fn trees_of_all_sizes_are_searched() {
    for isa in isas() {
        for (node, count) in [8, 16, 32].into_iter().flat_map(|node| SIZES.map(|n| (node, n))) {
            let tree = StaticBTree { node_keys: node, count };
            // Every third number from 5 on: neither 0 nor the greatest key occurs.
            let sorted: Vec<u32> = (0..count as u32).map(|i| i * 3 + 5).collect();
            let keys = lay_out(tree, &sorted);
            let mut found = vec![false; count as usize];
            for (position, key) in tree.in_order_positions().zip(&sorted) {
                assert_eq!(tree.find(isa, &keys, *key), Some(position), "{tree:?} {isa:?}");
                found[position as usize] = true;
                assert_eq!(tree.find(isa, &keys, key - 1), None);
                assert_eq!(tree.find(isa, &keys, key + 1), None);
            }
            assert!(
                found.iter().all(|&found| found)
                    && tree.in_order_positions().count() == found.len()
            );
            for absent in [0, 1, count as u32 * 3 + 5, 1 << 31, NO_KEY - 1] {
                assert_eq!(tree.find(isa, &keys, absent), None);
            }
        }
    }
}

/// A tree of `n` keys is as deep as the logarithm of `n + 1` to the base of the fan-out,
/// rounded up.
#[test]
fn trees_are_of_minimal_depth() {
    for (node, count, depth) in
        [(32, 32, 1), (32, 33, 2), (32, 1088, 2), (32, 1089, 3), (32, 35_936, 3), (8, 80, 2)]
    {
        let tree = StaticBTree { node_keys: node, count };
        let deepest = (1..tree.nodes()).fold(1, |deepest, mut node| {
            let mut depth = 1;
            while node > 0 {
                node = (node - 1) / (tree.node_keys + 1);
                depth += 1;
            }
            depth.max(deepest)
        });
        assert_eq!(deepest, depth, "{tree:?}");
    }
}

#[test]
fn the_largest_tree_is_traversed_without_deep_recursion() {
    let tree = StaticBTree { node_keys: 8, count: u64::from(u32::MAX) };
    let mut positions = tree.in_order_positions();
    // The leftmost leaf: node 0, 1, 10, 91 and so on.
    let mut node = 0;
    while let Some(child) = tree.child(node, 0) {
        node = child;
    }
    assert_eq!(positions.next(), Some(node * 8));
    assert_eq!(positions.nth(7), Some((node - 1) / 9 * 8));
}

proptest! {
    #[test]
    fn every_isa_gives_the_same_rank(
        mut keys in proptest::collection::vec(any::<u32>(), 4..=32),
        others in proptest::collection::vec(any::<u32>(), 0..8),
    ) {
        keys.truncate(keys.len() / 4 * 4);
        keys.sort_unstable();
        let units: Vec<Unit> =
            keys.chunks(4).map(|four| Unit([four[0], four[1], four[2], four[3]])).collect();
        for &key in keys.iter().chain(&others).chain(&[0, 1 << 31, u32::MAX]) {
            let expected = keys.iter().filter(|&&other| other < key).count();
            for isa in isas_once() {
                prop_assert_eq!(isa.rank(&units, key), expected, "{:?}", isa);
            }
            prop_assert_eq!(find_key(&units, key), keys.iter().position(|&other| other == key));
        }
    }

    #[test]
    fn searches_in_arbitrary_keys_end(
        keys in proptest::collection::vec(any::<[u32; 4]>(), 0..40),
        count in any::<u64>(),
        node in prop::sample::select(vec![8u64, 16, 32]),
        key in any::<u32>(),
    ) {
        let units: Vec<Unit> = keys.into_iter().map(Unit).collect();
        for count in [count % 200, count >> 32] {
            for isa in isas_once() {
                let _ = StaticBTree { node_keys: node, count }.find(isa, &units, key);
            }
        }
    }
}

/// Returns [`isas`] without printing skipped ones.
fn isas_once() -> impl Iterator<Item = Isa> {
    [Some(Isa::PLAIN), Isa::avx2(), Isa::avx512()].into_iter().flatten()
}
