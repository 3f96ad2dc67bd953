//! Blocks of all critical sizes, whose parents are words, entries and buckets.

use rayon::prelude::*;

use super::*;

const BLOCK_SIZES: [usize; 20] =
    [1, 2, 4, 5, 7, 8, 9, 31, 32, 33, 62, 63, 64, 254, 255, 256, 1023, 1024, 1055, 1056];
const MAX_BLOCK_SIZE: usize = 40_000;

/// Returns a model with the words `w0` and so on. `BLOCK_SIZES[N]` words precede `wN`, and
/// [`MAX_BLOCK_SIZE`] words precede the word after these.
fn arpa() -> String {
    let sizes: Vec<usize> = BLOCK_SIZES.into_iter().chain([MAX_BLOCK_SIZE]).collect();
    let pairs: Vec<(usize, usize)> = (0..sizes.len())
        .flat_map(|newest| {
            (0..sizes[newest]).map(move |older| (older * 3 % MAX_BLOCK_SIZE, newest))
        })
        .collect();
    // Of the first 4,000 pairs, one in 50 is preceded by a critical number of words, the others by
    // at most three.
    let mut triples: Vec<(usize, usize, usize)> = Vec::new();
    for (i, &(older, newest)) in pairs.iter().enumerate().take(4000) {
        let size = match i % 50 {
            0 => BLOCK_SIZES[i / 50 % BLOCK_SIZES.len()],
            n => n % 4,
        };
        triples.extend((0..size).map(|oldest| (oldest * 5 % MAX_BLOCK_SIZE, older, newest)));
    }
    let contexts: Vec<(usize, usize)> = {
        let mut needed: Vec<_> = triples.iter().map(|&(a, b, _)| (a, b)).collect();
        needed.extend(&pairs);
        needed.sort_unstable();
        needed.dedup();
        needed
    };
    let mut arpa = format!(
        "\\data\\\nngram 1={}\nngram 2={}\nngram 3={}\n\n\\1-grams:\n-1\t<unk>\n-9\t<s>\n-1\t</s>\n",
        MAX_BLOCK_SIZE + 3,
        contexts.len(),
        triples.len()
    );
    for i in 0..MAX_BLOCK_SIZE {
        writeln!(arpa, "-1.{:05}\tw{i}\t-0.{i}", i * 7919 % 100_000).unwrap();
    }
    arpa += "\n\\2-grams:\n";
    for &(older, newest) in &contexts {
        writeln!(arpa, "-0.{older}{newest}\tw{older} w{newest}\t-0.{newest}{older}").unwrap();
    }
    arpa += "\n\\3-grams:\n";
    for &(oldest, older, newest) in &triples {
        writeln!(arpa, "-0.{oldest}{newest}\tw{oldest} w{older} w{newest}").unwrap();
    }
    arpa + "\n\\end\\\n"
}

#[test]
fn blocks_of_all_sizes_are_searched() {
    let built = TestModel::new(&arpa());
    let trie = built.trie();
    let word = |i: usize| LanguageModel::word_id(&trie, format!("w{i}").as_bytes());
    let words: Vec<LmWord> = (0..MAX_BLOCK_SIZE).map(word).collect();
    // Trigrams that end with each of the first words, in the model or not.
    let mut text = Vec::new();
    for newest in 0..=BLOCK_SIZES.len() {
        for (older, oldest) in (0..MAX_BLOCK_SIZE).step_by(7).zip((0..1100).cycle()) {
            text.push(vec![words[oldest * 5 % MAX_BLOCK_SIZE], words[older], words[newest]]);
        }
        for i in 0..1100 {
            text.push(vec![
                words[i * 5 % MAX_BLOCK_SIZE],
                words[i * 3 / 5 % MAX_BLOCK_SIZE],
                words[newest],
            ]);
        }
    }
    layouts(3).par_bridge().for_each(|options| {
        for isa in isas() {
            let model = built.glm(&options).with_isa(isa);
            assert_same_scores(&model, &trie, &State::EMPTY, &text, 0);
        }
    });
}
