//! Comparison of `glm` files with `lmcpu`'s models, to the bit, and tests of damaged files.

mod block_sizes;
mod corruption;
mod large_offsets;
mod random_models;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, build_trie};
use miriam_lmcpu::{ArpaOptions, LanguageModel, LmWord, Request, ScoreResult, State};
use miriam_storage::btree::Isa;
use miriam_storage::{Bytes, Container, ContainerWriter, LoadMethod};
use miriam_textio::{Log10, NoProgress};

use crate::format::NodeWidth;
use crate::model::{KIND, VERSION};
use crate::{GlmModel, GlmOptions, verify, write_glm};

/// The toy model of `ngram-lm.md` Appendix A.
const TOY: &str = "\\data\\\nngram 1=5\nngram 2=4\nngram 3=1\n\n\\1-grams:\n-1.0\t<unk>\n-99\t<s>\t-0.3\n-1.2\t</s>\n-1.5\ta\t-0.2\n-1.7\tb\t-0.1\n\n\\2-grams:\n-0.5\t<s> a\t-0.05\n-0.6\ta b\t0\n-0.7\tb </s>\n-0.9\tb a\t-0.4\n\n\\3-grams:\n-0.3\t<s> a b\n\n\\end\\\n";

const WIDTHS: [NodeWidth; 3] = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];

/// A model as ARPA text in its own folder, and the files built from it.
struct TestModel {
    folder: tempfile::TempDir,
}

impl TestModel {
    fn new(arpa: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lm.arpa"), arpa).unwrap();
        TestModel { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sorted(&self) -> SortedModel {
        SortedModel::read(&self.path("lm.arpa"), ArpaOptions::default(), &NoProgress).unwrap()
    }

    fn bytes(&self, options: &GlmOptions) -> Bytes {
        let writer = ContainerWriter::in_memory(Path::new("model"), KIND, VERSION).unwrap();
        write_glm(self.sorted(), options, writer).unwrap().unwrap()
    }

    fn glm(&self, options: &GlmOptions) -> GlmModel {
        open(self.bytes(options))
    }

    fn trie(&self) -> TrieModel {
        let (arpa, trie) = (self.path("lm.arpa"), self.path("lm.trie"));
        build_trie(&arpa, &trie, None, ArpaOptions::default(), &NoProgress).unwrap();
        TrieModel::open(&trie, LoadMethod::Lazy).unwrap()
    }
}

/// Opens a file, which must pass all checks.
fn open(bytes: Bytes) -> GlmModel {
    let container = Container::from_bytes(bytes, Path::new("model")).unwrap();
    container.verify().unwrap();
    verify(&container).unwrap();
    GlmModel::from_container(&container).unwrap()
}

/// Returns the layouts that are tested for models of `order`; some of them may be equal.
fn layouts(order: usize) -> impl Iterator<Item = GlmOptions> {
    let hashed = move |width| [0, 2, 3, order].into_iter().map(move |h| (width, h));
    WIDTHS
        .into_iter()
        .flat_map(hashed)
        .map(|(width, hashed)| GlmOptions { node_width: width, max_hashed_order: hashed })
}

/// Returns the words and the bits of the backoffs of a state.
fn bits(state: &State) -> Vec<(LmWord, u32)> {
    state.entries().iter().map(|&(word, backoff)| (word, backoff.to_bits())).collect()
}

/// Scores sentences from the state `begin` through every method; each score must equal the one that
/// `expected` gives word by word. The bits in `sign` may differ.
fn assert_same_scores(
    model: &dyn LanguageModel,
    expected: &dyn LanguageModel,
    begin: &State,
    text: &[Vec<LmWord>],
    sign: u32,
) {
    let (mut states, mut requests, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for line in text {
        let mut state = *begin;
        for &word in line {
            let (mut next, mut other) = (State::EMPTY, State::EMPTY);
            let (log10, matched) = model.score(&state, word, &mut next);
            let (right, right_matched) = expected.score(&state, word, &mut other);
            assert_eq!(log10.0.to_bits() | sign, right.0.to_bits() | sign, "{line:?} {word:?}");
            assert_eq!(matched, right_matched, "{line:?} {word:?}");
            assert_eq!(bits(&next), bits(&other), "{line:?} {word:?}");
            requests.push(Request { state: states.len() as u32, word });
            states.push(state);
            answers.push((log10.0.to_bits(), matched, bits(&next)));
            state = next;
        }
    }
    let mut results = vec![ScoreResult::default(); requests.len()];
    model.score_batch(&states, &requests, &mut results);
    let results =
        results.iter().map(|s| (s.log10.0.to_bits(), s.ngram_length, bits(&s.next_state)));
    assert_eq!(results.collect::<Vec<_>>(), answers);
    let words = text.concat();
    let mut end = 0;
    let ends: Vec<usize> = text.iter().map(|line| (end += line.len(), end).1).collect();
    let mut scores = vec![(Log10(0.0), 0); words.len()];
    model.score_sentences(begin, &words, &ends, &mut scores);
    let scores = scores.iter().map(|&(log10, matched)| (log10.0.to_bits(), matched));
    assert!(scores.eq(answers.iter().map(|&(log10, matched, _)| (log10, matched))));
}

/// Values that KenLM printed (Appendix A).
#[test]
fn toy_model_scores_as_kenlm() {
    type Words<'a> = &'a [(u8, f32)];
    let expected: [(&str, Words<'_>); 4] = [
        ("a b a", &[(2, -0.5), (3, -0.3), (2, -0.9), (1, -1.800_000_1)]),
        ("b b b", &[(1, -2.0), (1, -1.800_000_1), (1, -1.800_000_1), (2, -0.7)]),
        ("a zz b a", &[(2, -0.5), (1, -1.25), (1, -1.7), (2, -0.9), (1, -1.800_000_1)]),
        ("", &[(1, -1.5)]),
    ];
    let built = TestModel::new(TOY);
    for options in layouts(3) {
        let model: &dyn LanguageModel = &built.glm(&options);
        for (text, expected) in expected {
            let (mut state, mut next) = (model.begin_state(), State::EMPTY);
            let ids = text.split_whitespace().map(|word| model.word_id(word.as_bytes()));
            for (word, &(matched, log10)) in ids.chain([model.end_of_sentence()]).zip(expected) {
                assert_eq!(model.score(&state, word, &mut next), (Log10(log10), matched), "{text}");
                state = next;
            }
        }
        let words: Vec<&[u8]> = (0..5).filter_map(|i| model.word(LmWord(i))).collect();
        assert_eq!(words, [&b"<unk>"[..], b"</s>", b"a", b"b", b"<s>"]);
        assert_eq!(model.word_id(b"<UNK>"), LmWord::UNKNOWN);
    }
}

/// As in KenLM's tries, a unigram of probability 1 gives 0, longer n-grams -0.
#[test]
fn a_probability_of_one_is_zero() {
    let arpa = TOY.replace("-99\t<s>", "0\t<s>").replace("-0.5\t<s> a", "0\t<s> a");
    let built = TestModel::new(&arpa.replace("-0.3\t<s> a b", "0\t<s> a b"));
    for options in layouts(3) {
        let model: &dyn LanguageModel = &built.glm(&options);
        let [begin, a, b] = ["<s>", "a", "b"].map(|word| model.word_id(word.as_bytes()));
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        for (word, expected) in [(begin, (0, 1)), (a, (1 << 31, 2)), (b, (1 << 31, 3))] {
            let (log10, matched) = model.score(&state, word, &mut next);
            assert_eq!((log10.0.to_bits(), matched), expected, "{options:?}");
            state = next;
        }
    }
}

#[test]
fn unigram_models_score() {
    let built = TestModel::new("\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<s>\n-2\t</s>\n\n\\end\\\n");
    for hashed in [0, 2] {
        let options = GlmOptions { max_hashed_order: hashed, ..GlmOptions::default() };
        let model: &dyn LanguageModel = &built.glm(&options);
        let (begin, end) = (model.begin_state(), model.end_of_sentence());
        let mut next = State::EMPTY;
        assert_eq!(model.score(&begin, end, &mut next), (Log10(-2.0), 1));
        assert!(next.is_empty());
        assert_eq!(model.score(&begin, LmWord::UNKNOWN, &mut next), (Log10(-100.0), 1));
    }
}

/// Returns a model of `words` words, `pairs` bigrams and `pairs` trigrams. The score of an n-gram
/// follows from its index.
fn large_arpa(words: usize, pairs: usize) -> String {
    let mut arpa = format!(
        "\\data\\\nngram 1={}\nngram 2={pairs}\nngram 3={pairs}\n\n\\1-grams:\n-1\t<unk>\n-9\t<s>\n\
         -1\t</s>\n",
        words + 3
    );
    for i in 0..words {
        writeln!(arpa, "-1.{:05}\tw{i}\t-0.{i}", i * 7919 % 100_000).unwrap();
    }
    arpa += "\\2-grams:\n";
    for i in 0..pairs {
        writeln!(arpa, "-0.{i}\tw{} w{}\t-0.1", i / words, i % words).unwrap();
    }
    arpa += "\\3-grams:\n";
    for i in 0..pairs {
        writeln!(arpa, "-0.{i}\tw{} w{} w{}", i / words, i % words, i % 7).unwrap();
    }
    arpa + "\\end\\\n"
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let built = TestModel::new(&large_arpa(300, 50_000));
    for options in layouts(3) {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| built.bytes(&options))
        };
        assert!(with(1)[..] == with(3)[..]);
    }
}

/// The hash tables have many n-grams, so that buckets overflow and searches probe several of them.
#[test]
fn every_ngram_of_a_large_model_is_found() {
    let built = TestModel::new(&large_arpa(300, 50_000));
    let trie = built.trie();
    let word = |i: usize| LanguageModel::word_id(&trie, format!("w{i}").as_bytes());
    let ngrams = (0..50_000).map(|i| vec![word(i / 300), word(i % 300), word(i % 7), word(i % 11)]);
    let text: Vec<Vec<LmWord>> = ngrams.collect();
    for options in layouts(3) {
        assert_same_scores(&built.glm(&options), &trie, &State::EMPTY, &text, 0);
    }
}

/// The file as version 1 wrote it stays readable, and its bytes do not change unnoticed.
#[test]
fn golden_files_of_version_1() {
    let built = TestModel::new(TOY);
    for (name, hashed) in [("toy-v1", 0), ("toy-v1-hashed", 3)] {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
        let path = data.join(format!("{name}.ngram-glm"));
        let bytes =
            built.bytes(&GlmOptions { node_width: NodeWidth::Keys32, max_hashed_order: hashed });
        if std::env::var_os("MIRIAM_WRITE_TESTDATA").is_some() {
            std::fs::create_dir_all(&data).unwrap();
            std::fs::write(&path, &bytes[..]).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes[..], "the layout changed: raise VERSION");
        let model: &dyn LanguageModel = &GlmModel::open(&path, LoadMethod::Lazy).unwrap();
        let mut next = State::EMPTY;
        let (begin, a) = (model.begin_state(), model.word_id(b"a"));
        assert_eq!(model.score(&begin, a, &mut next), (Log10(-0.5), 2));
    }
}

/// Returns the instruction sets for comparing keys that this CPU has.
fn isas() -> impl Iterator<Item = Isa> {
    [Some(Isa::PLAIN), Isa::avx2(), Isa::avx512()].into_iter().flatten()
}
