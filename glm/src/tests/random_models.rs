//! Random models: small vocabularies, missing suffixes, chains of only children.

use std::collections::BTreeSet;

use miriam_lmcpu::NgramSource;
use miriam_lmcpu::probing::{ProbingModel, build_probing};
use proptest::prelude::*;

use super::*;
use crate::{build_glm, open_source};

const NAMES: [&str; 7] = ["<s>", "a", "b", "c", "</s>", "<unk>", "other"];

/// Returns a model of order 1 to `most` that has all contexts, but lacks many suffixes.
fn arbitrary_arpa(most: usize) -> impl Strategy<Value = String> {
    let number = prop_oneof![Just(0i32), 1..4000i32];
    let backoff = proptest::option::of(-1500..600i32);
    let words = proptest::collection::vec(0usize..6, 1..=most);
    let ngrams = proptest::collection::vec((words, number.clone(), backoff.clone()), 0..40);
    let unigrams = proptest::collection::vec((number, backoff), 6);
    (1..=most, unigrams, ngrams).prop_map(|(order, unigrams, ngrams)| {
        let mut sets: Vec<BTreeSet<&[usize]>> = vec![BTreeSet::new(); order + 1];
        for (words, ..) in &ngrams {
            for n in 2..=words.len().min(order) {
                sets[n].insert(&words[..n]);
            }
        }
        let mut arpa = String::from("\\data\\\nngram 1=6\n");
        for (n, set) in sets.iter().enumerate().skip(2) {
            writeln!(arpa, "ngram {n}={}", set.len()).unwrap();
        }
        let line = |words: &[usize], (p, b): (i32, Option<i32>), arpa: &mut String| {
            let text: Vec<&str> = words.iter().map(|&word| NAMES[word]).collect();
            write!(arpa, "-{}\t{}", p as f32 / 1000.0, text.join(" ")).unwrap();
            match b.filter(|_| words.len() < order) {
                Some(b) => writeln!(arpa, "\t{}", b as f32 / 1000.0).unwrap(),
                None => arpa.push('\n'),
            }
        };
        arpa += "\n\\1-grams:\n";
        for (word, &numbers) in unigrams.iter().enumerate() {
            line(&[word], numbers, &mut arpa);
        }
        let mut numbers = ngrams.iter().cycle();
        for (n, set) in sets.iter().enumerate().skip(2) {
            writeln!(arpa, "\n\\{n}-grams:").unwrap();
            for words in set {
                let &(_, p, b) = numbers.next().unwrap();
                line(words, (p, b), &mut arpa);
            }
        }
        arpa + "\n\\end\\\n"
    })
}

fn arbitrary_text() -> impl Strategy<Value = Vec<Vec<usize>>> {
    proptest::collection::vec(proptest::collection::vec(0usize..7, 0..12), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn scores_equal_those_of_lmcpu_to_the_bit(
        arpa in arbitrary_arpa(8),
        text in arbitrary_text(),
        markers in any::<bool>(),
        width in 0..3usize,
    ) {
        let built = TestModel::new(&arpa);
        let trie = built.trie();
        let order = LanguageModel::order(&trie);
        let ids = |model: &dyn LanguageModel| -> Vec<Vec<LmWord>> {
            let id = |&word: &usize| model.word_id(NAMES[word].as_bytes());
            text.iter().map(|line| line.iter().map(id).collect()).collect()
        };
        let begin = |model: &dyn LanguageModel| {
            if markers { model.begin_state() } else { State::EMPTY }
        };
        for hashed in [0, 2, 3, order] {
            let options = GlmOptions { node_width: WIDTHS[width], max_hashed_order: hashed };
            for isa in isas() {
                let model = built.glm(&options).with_isa(isa);
                prop_assert_eq!(
                    LanguageModel::minimization_is_closed(&model),
                    LanguageModel::minimization_is_closed(&trie)
                );
                assert_same_scores(&model, &trie, &begin(&trie), &ids(&trie), 0);
            }
        }
        // Probing models have -0 where tries have 0, other ids, and other scores of missing
        // suffixes.
        if built.sorted().size().blanks == 0 {
            let path = built.path("lm.probing");
            build_probing(&built.path("lm.arpa"), &path, ArpaOptions::default(), &NoProgress).unwrap();
            let probing = ProbingModel::open(&path, LoadMethod::Lazy).unwrap();
            let model = built.glm(&GlmOptions { node_width: WIDTHS[width], max_hashed_order: 0 });
            let (probing_text, own_text) = (ids(&probing), ids(&model));
            for (theirs, own) in probing_text.iter().zip(&own_text) {
                let (mut state, mut their_state) = (begin(&model), begin(&probing));
                for (&word, &their_word) in own.iter().zip(theirs) {
                    let (mut next, mut their_next) = (State::EMPTY, State::EMPTY);
                    let (log10, matched) = model.score(&state, word, &mut next);
                    let expected = probing.score(&their_state, their_word, &mut their_next);
                    prop_assert_eq!(log10.0.to_bits() | 1 << 31, expected.0.0.to_bits() | 1 << 31);
                    prop_assert_eq!((matched, next.len()), (expected.1, their_next.len()));
                    let backoffs = |state: &State| -> Vec<u32> {
                        state.entries().iter().map(|entry| entry.1.to_bits()).collect()
                    };
                    prop_assert_eq!(backoffs(&next), backoffs(&their_next));
                    (state, their_state) = (next, their_next);
                }
            }
        }
    }

    /// An explicit context of any length gives the same scores as a state.
    #[test]
    fn explicit_contexts_score_as_in_lmcpu(
        arpa in arbitrary_arpa(6),
        ngrams in proptest::collection::vec(proptest::collection::vec(0usize..7, 1..9), 1..30),
        hashed in 0..7usize,
    ) {
        let built = TestModel::new(&arpa);
        let trie: &dyn LanguageModel = &built.trie();
        let model: &dyn LanguageModel = &built.glm(&GlmOptions { max_hashed_order: hashed, ..GlmOptions::default() });
        for ngram in &ngrams {
            let words: Vec<LmWord> =
                ngram.iter().map(|&word| trie.word_id(NAMES[word].as_bytes())).collect();
            let (log10, matched) = model.score_after(&words[1..], words[0]);
            let expected = trie.score_after(&words[1..], words[0]);
            prop_assert_eq!(log10.0.to_bits(), expected.0.0.to_bits());
            prop_assert_eq!(matched, expected.1);
        }
    }

    /// A file built from the n-grams that a file lists is equal to that file: blanks are left out
    /// of the list and added again. A file built from a trie is equal too.
    #[test]
    fn a_file_lists_the_ngrams_it_was_built_from(arpa in arbitrary_arpa(6), hashed in 0..7usize) {
        let built = TestModel::new(&arpa);
        let options = GlmOptions { max_hashed_order: hashed, ..GlmOptions::default() };
        let bytes = built.bytes(&options);
        let [from, to] = ["lm.glm", "again.glm"].map(|name| built.path(name));
        std::fs::write(&from, &bytes[..]).unwrap();
        built.trie();
        for path in [&from, &built.path("lm.trie")] {
            build_glm(path, &to, &options, ArpaOptions::default(), &NoProgress).unwrap();
            prop_assert!(std::fs::read(&to).unwrap() == bytes[..]);
        }
        let mut source = open_source(&from, ArpaOptions::default(), &NoProgress).unwrap();
        let mut lines = read_ngrams(&mut *source);
        let mut expected: Vec<String> = arpa
            .lines()
            .filter_map(|line| line.split('\t').nth(1))
            .filter(|words| words.contains(' '))
            .map(String::from)
            .collect();
        lines.sort();
        expected.sort();
        prop_assert_eq!(lines, expected);
    }
}

/// Returns the n-grams from order 2 as text.
fn read_ngrams(source: &mut dyn NgramSource) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(section) = source.next_section().unwrap() {
        assert_eq!(section.len() as u64, source.counts()[section.order - 1]);
        for i in 0..section.len() {
            let word = |&id: &u32| {
                String::from_utf8_lossy(source.vocabulary().word(miriam_textio::WordId(id)))
                    .into_owned()
            };
            let words: Vec<String> = section.ngram(i).iter().map(word).collect();
            lines.push(words.join(" "));
        }
    }
    lines
}
