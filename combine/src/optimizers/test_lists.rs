//! Lists for the tests of optimisers.

use miriam_storage::random::SplitMix64;

use super::n_best_lists::{BleuStatistics, NBestList, NBestLists};
use super::next_symmetric;

/// Lists in which one value correlates with BLEU, one inversely, and one not at all.
pub fn correlated_lists() -> NBestLists {
    let mut random = SplitMix64::new(3);
    let mut lists = NBestLists::new(60, 3);
    let line = |_| {
        let mut list = NBestList::default();
        for i in 0..10u32 {
            let right = 12 - i;
            let noise = next_symmetric(&mut random) as f32;
            let values = [right as f32 / 2.0 + noise, 4.0 * noise, noise - right as f32];
            let matches = std::array::from_fn(|n| right - n as u32);
            let statistics = BleuStatistics { length: 12, reference_length: 12, matches };
            list.push(values.into_iter(), 0.0, statistics);
        }
        list
    };
    lists.merge((0..60).map(line).collect());
    lists
}

/// Lists whose translations have a fixed score that correlates with BLEU, multiplied by `scale`,
/// and two values that do not correlate.
pub fn lists_with_a_fixed_score(scale: f32) -> NBestLists {
    let mut random = SplitMix64::new(4);
    let mut lists = NBestLists::new(60, 2);
    let line = |_| {
        let mut list = NBestList::default();
        for i in 0..10u32 {
            let right = 12 - i;
            let [first, second, noise] = [0; 3].map(|_| next_symmetric(&mut random) as f32);
            let matches = std::array::from_fn(|n| right - n as u32);
            let statistics = BleuStatistics { length: 12, reference_length: 12, matches };
            let fixed = scale * (right as f32 / 2.0 + noise);
            list.push([4.0 * first, 4.0 * second].into_iter(), fixed, statistics);
        }
        list
    };
    lists.merge((0..60).map(line).collect());
    lists
}
