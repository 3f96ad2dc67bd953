use std::io::Write as _;

use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::{ArpaOptions, NO_EXTENSION};
use miriam_textio::NoProgress;

use super::*;

const SMALL: SyntheticOptions = SyntheticOptions { ngrams: 200_000, order: 5, seed: 1 };

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Returns the model in the ARPA format.
fn arpa(model: &SortedModel) -> Vec<u8> {
    let levels = &model.trie.levels;
    let word = |id: u32| model.vocabulary.word(model.source_ids[id as usize]);
    let mut text = b"\\data\\\n".to_vec();
    for (order, nodes) in (1..).zip(levels) {
        writeln!(text, "ngram {order}={}", nodes.len()).unwrap();
    }
    // The words of each n-gram of the previous order, newest word first.
    let mut before: Vec<Vec<u32>> = vec![Vec::new()];
    for (order, nodes) in (1..).zip(levels) {
        writeln!(text, "\n\\{order}-grams:").unwrap();
        let parents = match order {
            1 => vec![0; nodes.len()],
            _ => levels[order - 2].parents_of_children(),
        };
        let mut ngrams = Vec::new();
        for (at, &parent) in parents.iter().enumerate() {
            let mut ngram = before[parent as usize].clone();
            ngram.push(nodes.words[at]);
            let words: Vec<&[u8]> = ngram.iter().rev().map(|&id| word(id)).collect();
            write!(text, "{}\t", nodes.log10[at]).unwrap();
            text.extend(words.join(&b' '));
            match nodes.backoffs.get(at) {
                Some(backoff) => writeln!(text, "\t{backoff}").unwrap(),
                None => writeln!(text).unwrap(),
            }
            ngrams.push(ngram);
        }
        before = ngrams;
    }
    text.extend(b"\n\\end\\\n");
    text
}

/// A synthetic model that is written as ARPA and read again is the same: sorted, with every suffix
/// and every context, and a backoff of -0.0 exactly for n-grams that are not contexts.
#[test]
fn a_model_written_as_text_is_read_back() {
    for (order, ngrams) in [(2, 5_000), (3, 20_000), (5, 60_000), (6, 30_000)] {
        let model = SyntheticOptions { ngrams, order, seed: 7 }.generate_model();
        let file = tempfile::NamedTempFile::with_suffix(".arpa").unwrap();
        std::fs::write(file.path(), arpa(&model)).unwrap();
        let read = SortedModel::read(file.path(), ArpaOptions::default(), &NoProgress).unwrap();
        assert_eq!(read.counts, model.counts);
        assert_eq!((read.bos_id, read.eos_id), (model.bos_id, model.eos_id));
        assert_eq!(read.source_ids, model.source_ids);
        assert!(read.has_unknown && model.has_unknown && read.trie.is_minimization_closed());
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        for (made, read) in model.trie.levels.iter().zip(&read.trie.levels) {
            assert_eq!(made.words, read.words);
            assert_eq!(made.children, read.children);
            assert_eq!(made.contexts, read.contexts);
            assert_eq!(bits(&made.log10), bits(&read.log10));
            assert_eq!(bits(&made.backoffs), bits(&read.backoffs));
            assert!(read.blanks.is_empty());
        }
    }
}

#[test]
fn counts_and_fan_outs_are_those_that_were_measured() {
    let recipe = SyntheticOptions { ngrams: 1_000_000, ..SMALL };
    let model = recipe.generate_model();
    let total: u64 = model.counts.iter().sum();
    assert!((total as f64 / 1e6 - 1.0).abs() < 0.03, "{total} n-grams");
    for (count, target) in model.counts.iter().zip(recipe.num_ngrams_per_order()) {
        assert!((*count as f64 / target as f64 - 1.0).abs() < 0.05, "{count} for {target}");
    }
    let levels = &model.trie.levels;
    for (order, nodes) in (1..).zip(&levels[..4]) {
        let counts: Vec<u32> = nodes.children.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let with = counts.iter().filter(|&&count| count > 0).count();
        let small = counts.iter().filter(|&&count| (1..=31).contains(&count)).count();
        let share = small as f64 / with as f64;
        // 93.4, 99.35, 99.88 and 99.98 % were measured, on a model 17 times as large.
        assert!(share > [0.92, 0.98, 0.998, 0.999][order - 1], "order {order}: {share}");
        // The largest measured numbers were 37,257 and 30,855 (of 110,047 words), 2,466 and 2,466.
        let most = *counts.iter().max().unwrap();
        assert!(most > [800, 400, 60, 10][order - 1], "order {order}: {most}");
        for (at, (&count, &word)) in counts.iter().zip(&nodes.words).enumerate() {
            let unknown = order == 1 && at == 0;
            assert_eq!(
                count == 0,
                word == model.bos_id || unknown,
                "only <s> has no preceding word"
            );
        }
    }
    let flagged = |nodes: &miriam_lmcpu::sorted::Nodes| {
        nodes.backoffs.iter().filter(|backoff| backoff.to_bits() == NO_EXTENSION).count()
    };
    assert!(flagged(&levels[3]) > 0 && flagged(&levels[3]) < levels[3].len());
    let log10 = &levels[0].log10;
    assert!(log10[1..].is_sorted_by(|a, b| a >= b), "frequent words come first");
}

#[test]
fn models_and_texts_do_not_depend_on_the_number_of_threads() {
    let made = |threads| {
        in_threads(threads, || {
            let model = SMALL.generate_model();
            let texts = [TextKind::Training, TextKind::HeldOut];
            let texts = texts.map(|likeness| Text::sample(&model, likeness, 40_000, 3));
            let random = random_ngrams(&model, 5, 5_000, 4);
            let nodes = model.trie.levels;
            let words: Vec<Vec<u32>> = nodes.iter().map(|nodes| nodes.words.clone()).collect();
            let log10: Vec<Vec<f32>> = nodes.iter().map(|nodes| nodes.log10.clone()).collect();
            (words, log10, texts, random)
        })
    };
    let one = made(1);
    assert!(one == made(3));
    let other = SyntheticOptions { seed: 2, ..SMALL }.generate_model();
    assert_ne!(one.0[4], other.trie.levels[4].words);
}

#[test]
fn match_lengths_are_those_measured_on_texts() {
    let model = SMALL.generate_model();
    let shares = |likeness| {
        let text = Text::sample(&model, likeness, 100_000, 5);
        assert_eq!((text.words.len(), text.ends.last()), (100_000, Some(&100_000)));
        assert!(text.ends.is_sorted_by(|a, b| a < b));
        assert!(text.words.iter().all(|&word| word > 0 && word < model.bos_id));
        let ends = &text.ends[..text.ends.len() - 1];
        assert!(ends.iter().all(|&end| text.words[end - 1] == model.eos_id));
        text.match_length_counts(&model).iter().map(|&n| n as f64 / 1e5).collect::<Vec<_>>()
    };
    let training = shares(TextKind::Training);
    assert!(training[0] < 0.01 && training[4] > 0.75, "{training:?}");
    let held_out = shares(TextKind::HeldOut);
    for (share, measured) in held_out.iter().zip([0.186, 0.363, 0.262, 0.114, 0.075]) {
        assert!((share - measured).abs() < 0.02, "{held_out:?}");
    }
}

#[test]
fn half_of_the_random_ngrams_are_in_the_model() {
    let model = SMALL.generate_model();
    let ngrams = random_ngrams(&model, 5, 20_000, 6);
    let text = |ngram: &[u32]| {
        let node = (1..=5).rev().find(|&n| model.trie.node(&ngram[..n]).is_some());
        node.unwrap()
    };
    let mut lengths = [0u32; 6];
    for ngram in ngrams.chunks(5) {
        assert!(ngram.iter().all(|&word| (word as usize) < model.trie.levels[0].len()));
        lengths[text(ngram)] += 1;
    }
    // A third of the n-grams have five words.
    assert!(lengths[5] > 3_000 && lengths[1] > 8_000, "{lengths:?}");
}
