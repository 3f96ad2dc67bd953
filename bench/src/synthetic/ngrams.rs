//! Random n-grams, for comparing two searches.
//!
//! n-grams of random words are rarely in a model. So the newest words of half of these n-grams form
//! an n-gram that is drawn uniformly from the model. All parts of the model are visited with equal
//! probability.

use miriam_lmcpu::sorted::SortedModel;
use rayon::prelude::*;

use super::SplitMix64;

/// Returns random n-grams: `[count, order]` word ids, newest word first.
pub fn random_ngrams(model: &SortedModel, order: usize, count: usize, seed: u64) -> Vec<u32> {
    let levels = &model.trie.levels;
    let words = levels[0].len() as u64;
    let total: u64 = levels.iter().map(|nodes| nodes.len() as u64).sum();
    let mut ngrams = vec![0; count * order];
    ngrams.par_chunks_mut(order).with_min_len(1 << 10).enumerate().for_each(|(i, ngram)| {
        let mut random = SplitMix64::at_position(seed, 1, i as u64);
        ngram.fill_with(|| random.below(words) as u32);
        if i % 2 == 1 {
            return;
        }
        let (mut at, mut level) = (random.below(total), 0);
        while at >= levels[level].len() as u64 {
            at -= levels[level].len() as u64;
            level += 1;
        }
        let mut at = at as usize;
        for level in (0..=level).rev() {
            if let Some(word) = ngram.get_mut(level) {
                *word = levels[level].words[at];
            }
            if level > 0 {
                at = levels[level - 1].children.partition_point(|&first| first as usize <= at) - 1;
            }
        }
    });
    ngrams
}
