use proptest::prelude::*;

use super::*;
use crate::Bytes;

fn table(built: &BuiltTable) -> CompactTable {
    let bytes = Bytes::copy_from(built.lines.as_bytes());
    CompactTable::new(View::new(&bytes, 0, bytes.len()).unwrap(), built.layout).unwrap()
}

#[test]
fn permutations_are_inverted() {
    for bits in 16..=64 {
        let permutation = Permutation::new(bits);
        for key in [0, 1, 2, 77, permutation.mask / 3, permutation.mask] {
            let mixed = permutation.mix(key);
            assert!(mixed <= permutation.mask);
            assert_eq!(permutation.unmix(mixed), key);
        }
    }
    let small = Permutation::new(16);
    let mut seen: Vec<u64> = (0..=small.mask).map(|key| small.mix(key)).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..=small.mask));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Tries few and many entries, loads up to full lines, and similar keys. There are enough
    /// absent keys for some to have the tag of a nearby entry.
    #[test]
    fn finds_inserted_keys_and_no_others(
        count in 0usize..3000,
        (key_bits, value_bits) in (16u32..=64, 1u32..=64),
        load in 0.3f64..1.0,
        stride in 1u64..1 << 50,
        others in proptest::collection::vec(any::<u64>(), 3000),
    ) {
        let mask = u64::MAX >> (64 - key_bits);
        let mut keys: Vec<u64> =
            (0..count as u64).map(|i| i.wrapping_mul(stride) & mask).collect();
        keys.sort_unstable();
        keys.dedup();
        let value = |i: usize| {
            (i as u64).wrapping_mul(0x1234_5678_9abc_def1) >> (64 - value_bits)
        };
        let built = build(&keys, key_bits, value_bits, load, value).unwrap();
        let table = table(&built);
        prop_assert_eq!(table.verify(), Ok(keys.len() as u64));
        for (i, (&key, &number)) in keys.iter().zip(&built.slot_indices).enumerate() {
            prop_assert_eq!(table.find(key), Some((number, value(i))));
            prop_assert_eq!(table.entry(number), Some((key, value(i))));
        }
        for other in others.iter().map(|other| other & mask) {
            prop_assert_eq!(table.find(other).is_some(), keys.binary_search(&other).is_ok());
        }
        prop_assert_eq!(table.entries().count(), keys.len());
    }

    /// With lines of arbitrary content, the result is meaningless, but the search ends.
    #[test]
    fn any_lines_are_searched_safely(
        words in proptest::collection::vec(any::<u64>(), 8 * 40),
        (key_bits, value_bits, tag_bits) in (16u32..=64, 1u32..=64, 16u32..=64),
        homes in 1u32..=40,
        key in any::<u64>(),
    ) {
        let layout =
            CompactLayout { key_bits, value_bits, tag_bits: tag_bits.min(key_bits), home_lines: homes };
        let bytes = Bytes::copy_from(words.as_bytes());
        let table =
            CompactTable::new(View::new(&bytes, 0, bytes.len()).unwrap(), layout).unwrap();
        table.find(key);
        table.entries().count();
        let _ = table.verify();
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let keys: Vec<u64> = (0..200_000).map(|i| i * 7).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| build(&keys, 40, 31, 0.9, |i| i as u64).unwrap())
    };
    let (one, three) = (with(1), with(3));
    assert!(one.lines == three.lines && one.slot_indices == three.slot_indices);
    assert_eq!(table(&one).verify(), Ok(200_000));
}

/// Looks up all possible keys in a table that is nearly full, so that absent keys are searched far
/// from home.
#[test]
fn only_inserted_keys_are_found() {
    let mut keys: Vec<u64> = (0..20_000).map(|i| i * i % 40_009 * 509).collect();
    keys.sort_unstable();
    keys.dedup();
    let built = build(&keys, 25, 39, 0.97, |i| i as u64).unwrap();
    assert_eq!(built.layout.tag_bits, 17);
    let table = table(&built);
    assert!((0..1 << 25).filter(|&key| table.find(key).is_some()).eq(keys));
}

#[test]
fn nothing_is_found_in_an_empty_table() {
    let table = table(&build(&[], 40, 31, 0.9, |_| 0).unwrap());
    assert_eq!(table.verify(), Ok(0));
    assert_eq!(table.find(0), None);
}

#[test]
fn layouts_are_checked() {
    let bytes = Bytes::copy_from(&[0; 128]);
    let lines = View::<CompactLine>::new(&bytes, 0, 128).unwrap();
    let sound = CompactLayout { key_bits: 40, value_bits: 31, tag_bits: 25, home_lines: 2 };
    assert!(CompactTable::new(lines.clone(), sound).is_ok());
    for layout in [
        CompactLayout { home_lines: 3, ..sound },
        CompactLayout { home_lines: 0, ..sound },
        CompactLayout { key_bits: 65, ..sound },
        CompactLayout { value_bits: 0, ..sound },
        CompactLayout { value_bits: 65, ..sound },
        CompactLayout { tag_bits: 15, ..sound },
        CompactLayout { tag_bits: 41, ..sound },
    ] {
        assert!(CompactTable::new(lines.clone(), layout).is_err(), "{layout:?}");
    }
}
