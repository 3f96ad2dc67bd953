//! Tries against the slow reference and against what KenLM printed, and files
//! that are damaged.

use std::fmt::Write as _;
use std::io::Write as _;

use miriam_storage::Bytes;
use miriam_textio::Log10;
use proptest::prelude::*;

use super::*;
use crate::probing::tests::arbitrary_arpa_up_to;
use crate::probing::tests::reference::{ReferenceModel, ReferenceState};
use crate::test_support::{TOY, large_arpa, query_output, read_file, shared_path};
use crate::{LanguageModel, NgramSource, Request, ScoreResult, State};

fn build_bytes(arpa: &str, bits: Option<QuantizationBits>) -> Result<Bytes> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(arpa.as_bytes()).unwrap();
    build::build_in_memory(file.path(), bits)
}

fn open(bytes: Bytes) -> TrieModel {
    let container = Container::from_bytes(bytes, Path::new("model")).unwrap();
    container.verify().unwrap();
    verify(&container).unwrap();
    TrieModel::from_container(&container).unwrap()
}

fn build_model(arpa: &str) -> TrieModel {
    open(build_bytes(arpa, None).unwrap())
}

fn id(model: &TrieModel, word: &str) -> LmWord {
    LanguageModel::word_id(model, word.as_bytes())
}

fn same_state(model: &TrieModel, state: &State, expected: &ReferenceState) -> bool {
    state.len() == expected.0.len()
        && state.entries().iter().zip(&expected.0).all(|(entry, (word, backoff))| {
            LanguageModel::word(model, entry.0) == Some(word.as_bytes()) && entry.1 == *backoff
        })
}

/// Values that KenLM printed (Appendix A).
#[test]
fn toy_model_scores_as_kenlm() {
    let model = build_model(TOY);
    type Words<'a> = &'a [(u8, f32)];
    let expected: [(&str, Words<'_>); 4] = [
        ("a b a", &[(2, -0.5), (3, -0.3), (2, -0.9), (1, -1.800_000_1)]),
        ("b b b", &[(1, -2.0), (1, -1.800_000_1), (1, -1.800_000_1), (2, -0.7)]),
        ("a zz b a", &[(2, -0.5), (1, -1.25), (1, -1.7), (2, -0.9), (1, -1.800_000_1)]),
        ("", &[(1, -1.5)]),
    ];
    for (text, expected) in expected {
        let (mut state, mut next) = (model.begin_state(), State::EMPTY);
        let ids = text.split_whitespace().map(|word| id(&model, word));
        let end = LanguageModel::end_of_sentence(&model);
        for (word, &(matched, log10)) in ids.chain([end]).zip(expected) {
            assert_eq!(model.score(&state, word, &mut next), (Log10(log10), matched), "{text}");
            state = next;
        }
    }
    // The most probable first: </s>, a, b, <s>.
    let words: Vec<&[u8]> = (0..5).filter_map(|i| LanguageModel::word(&model, LmWord(i))).collect();
    assert_eq!(words, [&b"<unk>"[..], b"</s>", b"a", b"b", b"<s>"]);
    assert_eq!(id(&model, "<UNK>"), LmWord::UNKNOWN);
}

/// KenLM's `query -n` prints 0 for `<s>` of probability 1, and -0 with its
/// probing model.
#[test]
fn log10_of_probability_one_is_zero() {
    let model = build_model(&TOY.replace("-99\t<s>", "0\t<s>").replace("-0.5\t<s> a", "0\t<s> a"));
    let mut next = State::EMPTY;
    let (log10, _) = model.score(&State::EMPTY, id(&model, "<s>"), &mut next);
    assert_eq!(log10.0.to_bits(), 0);
    let (log10, matched) = model.score(&next.clone(), id(&model, "a"), &mut next);
    assert_eq!((log10.0.to_bits(), matched), (SIGN, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn equals_the_reference_to_the_bit(
        arpa in arbitrary_arpa_up_to(8),
        text in proptest::collection::vec(proptest::collection::vec(0usize..7, 0..12), 1..8),
        markers in any::<bool>(),
    ) {
        let names = ["<s>", "a", "b", "c", "</s>", "<unk>", "other"];
        let reference = ReferenceModel::parse_as_trie(&arpa);
        let model = build_model(&arpa);
        prop_assert_eq!(LanguageModel::minimization_is_closed(&model), reference.is_closed(), "{}", arpa);
        let (mut states, mut requests, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for line in &text {
            let begin = model.begin_state();
            let mut state = if markers { begin } else { State::EMPTY };
            let mut slow = if markers { reference.begin() } else { ReferenceState::default() };
            for &word in line {
                let word_id = id(&model, names[word]);
                let mut next = State::EMPTY;
                let (log10, matched) = model.score(&state, word_id, &mut next);
                let (slow_log10, slow_matched, slow_next) = reference.score(&slow, names[word]);
                prop_assert_eq!(log10.0.to_bits() | SIGN, slow_log10.to_bits() | SIGN, "{}", arpa);
                prop_assert_eq!(matched as usize, slow_matched);
                prop_assert!(same_state(&model, &next, &slow_next), "{:?} {:?} {}", next, slow_next, arpa);
                requests.push(Request { state: states.len() as u32, word: word_id });
                states.push(state);
                expected.push((log10, matched, next));
                (state, slow) = (next, slow_next);
            }
        }
        let mut results = vec![ScoreResult::default(); requests.len()];
        model.score_batch(&states, &requests, &mut results);
        for (result, (log10, matched, next)) in results.iter().zip(&expected) {
            prop_assert_eq!(result.log10.0.to_bits(), log10.0.to_bits());
            prop_assert_eq!(result.ngram_length, *matched);
            let bits = |s: &State| s.entries().iter().map(|e| (e.0, e.1.to_bits())).collect::<Vec<_>>();
            prop_assert_eq!(bits(&result.next_state), bits(next));
        }
    }

    /// A trie built from the n-grams that a trie lists is the same file: blanks are
    /// left out of the list and added again.
    #[test]
    fn lists_what_it_was_built_from(arpa in arbitrary_arpa_up_to(6)) {
        let bytes = build_bytes(&arpa, None).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let again = build::build_in_memory(file.path(), None).unwrap();
        prop_assert!(bytes[..] == again[..]);
        let container = Container::from_bytes(bytes, Path::new("x")).unwrap();
        let mut source = trie_source(&container).unwrap();
        let mut lines: Vec<String> = Vec::new();
        while let Some(section) = source.next_section().unwrap() {
            prop_assert_eq!(section.len() as u64, source.counts()[section.order - 1]);
            for i in 0..section.len() {
                let word = |id: &u32| String::from_utf8_lossy(source.vocabulary().word(miriam_textio::WordId(*id))).into_owned();
                let words: Vec<String> = section.ngram(i).iter().map(word).collect();
                lines.push(words.join(" "));
            }
        }
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

    /// With any bytes changed, opening and scoring give an error or some number.
    #[test]
    fn damage_never_panics(
        changes in proptest::collection::vec((4096usize..6500, any::<u8>()), 1..30),
        words in proptest::collection::vec(0u32..5, 0..20),
        bits in any::<bool>(),
    ) {
        let bits = bits.then(|| QuantizationBits::new(3, 2).unwrap());
        let whole = build_bytes(TOY, bits).unwrap();
        let mut bytes = whole.to_vec();
        for (offset, value) in changes {
            if let Some(byte) = bytes.get_mut(offset) {
                *byte = value;
            }
        }
        let Ok(container) = Container::from_bytes(Bytes::copy_from(&bytes), Path::new("x")) else { return Ok(()) };
        prop_assert!(container.verify().is_err() || bytes[..] == whole[..]);
        let _ = verify(&container);
        let _ = trie_source(&container)
            .map(|mut source| while let Ok(Some(_)) = source.next_section() {});
        let Ok(model) = TrieModel::from_container(&container) else { return Ok(()) };
        let (mut state, mut next) = (model.begin_state(), State::EMPTY);
        for word in words {
            model.score(&state, LmWord(word), &mut next);
            state = next;
            let text = model.word(LmWord(word)).unwrap_or_default();
            let _ = model.word_id(text);
        }
        let ids: Vec<LmWord> = (0..5).map(LmWord).collect();
        let begin = model.begin_state();
        model.score_sentences(&begin, &ids, &[5], &mut [(Log10(0.0), 0); 5]);
    }
}

#[test]
fn nodes_of_all_sizes_are_searched() {
    let sizes = [1, 7, 8, 9, 15, 16, 17, 127, 128, 129, 255, 256, 257, 2048, 2049, 4000];
    let arpa = {
        // Trigrams are "z wX wI", so that each bigram "wX wI" has a child.
        let words = 4000;
        let pairs: usize = sizes.iter().sum();
        let mut arpa = format!(
            "\\data\\\nngram 1={}\nngram 2={}\nngram 3={pairs}\n\n\\1-grams:\n-1\t<unk>\n-9\t<s>\n-1\t</s>\n-3\tz\t-0.5\n",
            words + 4,
            pairs + words
        );
        for i in 0..words {
            writeln!(arpa, "-1.{:04}\tw{i}\t-0.{i}", i * 7919 % 10_000).unwrap();
        }
        arpa += "\n\\2-grams:\n";
        for (newest, &size) in sizes.iter().enumerate() {
            for older in 0..size {
                writeln!(arpa, "-0.{older}{newest}\tw{older} w{newest}").unwrap();
            }
        }
        for older in 0..words {
            writeln!(arpa, "-0.{older}5\tz w{older}\t-0.25").unwrap();
        }
        arpa += "\n\\3-grams:\n";
        for (newest, &size) in sizes.iter().enumerate() {
            for older in 0..size {
                writeln!(arpa, "-0.0{older}{newest}\tz w{older} w{newest}").unwrap();
            }
        }
        arpa + "\n\\end\\\n"
    };
    let reference = ReferenceModel::parse_as_trie(&arpa);
    let model = build_model(&arpa);
    for newest in 0..sizes.len() + 1 {
        for older in 0..4000 {
            let (mut state, mut slow) = (State::EMPTY, ReferenceState::default());
            for word in ["z".to_string(), format!("w{older}"), format!("w{newest}")] {
                let mut next = State::EMPTY;
                let (log10, matched) = model.score(&state, id(&model, &word), &mut next);
                let (slow_log10, slow_matched, slow_next) = reference.score(&slow, &word);
                assert_eq!(
                    (log10.0, matched as usize),
                    (slow_log10, slow_matched),
                    "{older} {newest}"
                );
                (state, slow) = (next, slow_next);
            }
            assert!(same_state(&model, &state, &slow));
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let arpa = large_arpa();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| build_bytes(&arpa, QuantizationBits::new(8, 8)).unwrap())
    };
    assert!(with(1)[..] == with(3)[..]);
}

/// Files as version 2 wrote them, so that they stay readable; and their bytes,
/// so that a change of the layout does not go unnoticed. Version 1 was never
/// released and is not read.
#[test]
fn golden_files_of_version_2() {
    for (name, bits) in [("toy-v2", None), ("toy-v2-3-2", QuantizationBits::new(3, 2))] {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
        let path = data.join(format!("{name}.ngram-trie"));
        let bytes = build_bytes(TOY, bits).unwrap();
        if std::env::var_os("MIRIAM_WRITE_TESTDATA").is_some() {
            std::fs::write(&path, &bytes[..]).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes[..], "the layout changed: raise VERSION");
        let model = TrieModel::open(&path, LoadMethod::Lazy).unwrap();
        let mut next = State::EMPTY;
        let begin = model.begin_state();
        assert_eq!(model.score(&begin, id(&model, "a"), &mut next), (Log10(-0.5), 2));
    }
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = build_bytes(TOY, None).unwrap();
    for end in (0..bytes.len()).step_by(7) {
        assert!(Container::from_bytes(Bytes::copy_from(&bytes[..end]), Path::new("cut")).is_err());
    }
}

#[test]
fn unigram_models_and_errors_of_building() {
    let model = build_model("\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<s>\n-2\t</s>\n\n\\end\\\n");
    let mut next = State::EMPTY;
    let begin = model.begin_state();
    let end = LanguageModel::end_of_sentence(&model);
    assert_eq!(model.score(&begin, end, &mut next), (Log10(-2.0), 1));
    assert!(next.is_empty());
    assert_eq!(model.score(&begin, LmWord::UNKNOWN, &mut next), (Log10(-100.0), 1));
    let error = build_bytes(&TOY.replace("b </s>", "a b"), None).err().unwrap().to_string();
    assert!(error.contains("line 16") && error.contains("line 15"), "{error}");
    let error = build_bytes(&TOY.replace("<s> a b", "a a b"), None).err().unwrap().to_string();
    assert!(error.contains("line 20") && error.contains("\"a a\""), "{error}");
}

/// Returns `text` without the ids of words, which differ between files.
fn without_ids(text: &[u8]) -> String {
    let token = |token: &str| match (token.rfind('='), token.find(' ')) {
        (Some(_), Some(_)) => {
            let (word, rest) = token.rsplit_once('=').unwrap_or((token, ""));
            format!("{word} {}", rest.split_once(' ').map_or("", |pair| pair.1))
        }
        _ => token.to_string(),
    };
    let lines = String::from_utf8_lossy(text);
    let lines =
        lines.lines().map(|line| line.split('\t').map(token).collect::<Vec<_>>().join("\t"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The output equals the output of KenLM's `query` with its tries, plain and quantised.
#[test]
fn queries_print_what_kenlm_prints() {
    let six = QuantizationBits::new(6, 5);
    let eight = QuantizationBits::new(8, 8);
    let cases = "kenlm-cases";
    let m30k = "m30k-de-en/lm";
    let text = "kenlm-cases/heldout.en";
    let case = |folder: &str, name: &str| format!("{folder}/{name}");
    for (arpa, recorded, text, bits) in [
        (case(cases, "o5.arpa.gz"), case(cases, "o5.trie"), text, None),
        (case(cases, "o5.arpa.gz"), case(cases, "o5.qtrie"), text, six),
        (case(cases, "o5.arpa.gz"), case(cases, "o5.qatrie"), text, eight),
        (case(cases, "o3-suffixless.arpa.gz"), case(cases, "o3-suffixless.trie"), text, None),
        (case(cases, "o3-suffixless.arpa.gz"), case(cases, "o3-suffixless.qtrie"), text, six),
        (case(cases, "o3-suffixless.arpa.gz"), case(cases, "o3-suffixless.qatrie"), text, eight),
        (
            case(m30k, "lm.5.en.arpa.gz"),
            case(m30k, "dev.trie"),
            "m30k-de-en/corpus/dev.en.gz",
            None,
        ),
        (
            case(m30k, "lm.5.en.arpa.gz"),
            case(m30k, "test.trie"),
            "m30k-de-en/corpus/test.en.gz",
            None,
        ),
        (case(m30k, "lm.5.en.arpa.gz"), case(m30k, "odd.trie"), "m30k-de-en/lm/odd.en.gz", None),
        (
            case(m30k, "lm.5.en.arpa.gz"),
            case(m30k, "test.trie-q8"),
            "m30k-de-en/corpus/test.en.gz",
            eight,
        ),
        (
            case(m30k, "lm.5.en.arpa.gz"),
            case(m30k, "odd.trie-q8"),
            "m30k-de-en/lm/odd.en.gz",
            eight,
        ),
    ] {
        let Some(arpa) = shared_path(&arpa) else { return };
        let (Some(text), Some(expected)) =
            (shared_path(text), shared_path(&format!("{recorded}.query.gz")))
        else {
            return;
        };
        let model = open(build::build_in_memory(&arpa, bits).unwrap());
        let found = without_ids(&query_output(&model, &read_file(&text)));
        let recording = without_ids(&read_file(&expected));
        for (at, (found, recording)) in found.lines().zip(recording.lines()).enumerate() {
            assert_eq!(found, recording, "{recorded}, line {}", at + 1);
        }
        assert!(found == recording, "{recorded}");
    }
}
