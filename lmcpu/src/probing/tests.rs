//! Probing models against the slow reference, and files that are damaged.

pub(crate) mod reference;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;

use miriam_storage::Bytes;
use miriam_textio::{Log10, NoProgress};
use proptest::prelude::*;

use super::*;
use crate::test_support::{TOY, arpa_with_distant_duplicate, large_arpa, shared_path};
use crate::{ArpaOptions, LanguageModel, NgramSource, Request, ScoreResult, State, open_source};
use reference::{ReferenceModel, ReferenceState};

fn build_bytes(arpa: &str) -> Result<Bytes> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(arpa.as_bytes()).unwrap();
    build::build_in_memory(file.path(), ArpaOptions::default(), &NoProgress)
}

fn build_model(arpa: &str) -> ProbingModel {
    let bytes = build_bytes(arpa).unwrap();
    let container = Container::from_bytes(bytes, Path::new("model")).unwrap();
    container.verify().unwrap();
    verify(&container).unwrap();
    ProbingModel::from_container(&container).unwrap()
}

/// Values that KenLM printed (Appendix A).
#[test]
fn toy_model_scores_as_kenlm() {
    let model = build_model(TOY);
    type Words<'a> = &'a [(u32, u8, f32)];
    let expected: [(&str, Words<'_>); 4] = [
        ("a b a", &[(3, 2, -0.5), (4, 3, -0.3), (3, 2, -0.9), (2, 1, -1.800_000_1)]),
        ("b b b", &[(4, 1, -2.0), (4, 1, -1.800_000_1), (4, 1, -1.800_000_1), (2, 2, -0.7)]),
        (
            "a zz b a",
            &[(3, 2, -0.5), (0, 1, -1.25), (4, 1, -1.7), (3, 2, -0.9), (2, 1, -1.800_000_1)],
        ),
        ("", &[(2, 1, -1.5)]),
    ];
    for (text, expected) in expected {
        let mut state = model.begin_state();
        let ids = text.split_whitespace().map(|w| model.word_id(w.as_bytes()));
        for (id, &(expected_id, matched, log10)) in
            ids.chain([model.end_of_sentence()]).zip(expected)
        {
            let mut next = State::EMPTY;
            model.prefetch(&state, id);
            assert_eq!(model.score(&state, id, &mut next), (Log10(log10), matched), "{text}");
            assert_eq!(id.0, expected_id);
            state = next;
        }
    }
    assert_eq!(model.word_id(b"<UNK>"), LmWord::UNKNOWN);
    assert_eq!(model.word(LmWord(3)), Some(&b"a"[..]));
    assert_eq!(model.word(LmWord(9)), None);
    assert_eq!((model.order(), model.num_words()), (3, 5));
}

/// Returns random models over a few words, with backoffs of either sign or none, and with missing
/// suffixes.
fn arbitrary_arpa() -> impl Strategy<Value = String> {
    arbitrary_arpa_up_to(5)
}

/// Returns models like [`arbitrary_arpa`], of orders from 2 to `most`.
pub(crate) fn arbitrary_arpa_up_to(most: usize) -> impl Strategy<Value = String> {
    let number = prop_oneof![Just(0i32), 1..4000i32];
    let ngrams = proptest::collection::vec(
        (
            proptest::collection::vec(0usize..6, 1..=most),
            number.clone(),
            -1500..600i32,
            any::<bool>(),
        ),
        0..40,
    );
    let unigrams = proptest::collection::vec((number, -1500..600i32, any::<bool>()), 7);
    (2..=most, unigrams, ngrams).prop_map(|(order, unigrams, ngrams)| {
        let names = ["<s>", "a", "b", "c", "</s>", "<unk>"];
        // By length; every context of an n-gram must be there.
        let mut sets: Vec<BTreeSet<Vec<usize>>> = vec![BTreeSet::new(); order + 1];
        for (words, ..) in &ngrams {
            for n in 2..=words.len().min(order) {
                sets[n].insert(words[..n].to_vec());
            }
        }
        let mut arpa = String::from("\\data\\\n");
        writeln!(arpa, "ngram 1={}", names.len()).unwrap();
        for (n, set) in sets.iter().enumerate().skip(2) {
            writeln!(arpa, "ngram {n}={}", set.len()).unwrap();
        }
        let mut numbers = ngrams.iter().cycle();
        let backoff = |b: i32, given: bool| {
            if given { format!("\t{}", b as f32 / 1000.0) } else { String::new() }
        };
        writeln!(arpa, "\n\\1-grams:").unwrap();
        for (name, (p, b, given)) in names.iter().zip(&unigrams) {
            writeln!(arpa, "-{}\t{name}{}", *p as f32 / 1000.0, backoff(*b, *given)).unwrap();
        }
        for (n, set) in sets.iter().enumerate().skip(2) {
            writeln!(arpa, "\n\\{n}-grams:").unwrap();
            for words in set {
                let (_, p, b, given) = numbers.next().unwrap();
                let text: Vec<&str> = words.iter().map(|&w| names[w]).collect();
                let backoff = if n < order { backoff(*b, *given) } else { String::new() };
                writeln!(arpa, "-{}\t{}{backoff}", *p as f32 / 1000.0, text.join(" ")).unwrap();
            }
        }
        arpa + "\n\\end\\\n"
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn equals_the_reference_to_the_bit(
        arpa in arbitrary_arpa(),
        text in proptest::collection::vec(proptest::collection::vec(0usize..7, 0..12), 1..8),
        markers in any::<bool>(),
    ) {
        let names = ["<s>", "a", "b", "c", "</s>", "<unk>", "other"];
        let reference = ReferenceModel::parse(&arpa);
        let model = build_model(&arpa);
        prop_assert_eq!(model.minimization_is_closed(), reference.is_closed(), "{}", arpa);
        let (mut states, mut requests, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for line in &text {
            let mut state = if markers { model.begin_state() } else { State::EMPTY };
            let mut slow = if markers { reference.begin() } else { ReferenceState::default() };
            let mut context: Vec<LmWord> = state.entries().iter().map(|e| e.0).collect();
            for &word in line {
                let id = model.word_id(names[word].as_bytes());
                let mut next = State::EMPTY;
                let (log10, matched) = model.score(&state, id, &mut next);
                let (slow_log10, slow_matched, slow_next) = reference.score(&slow, names[word]);
                prop_assert_eq!(log10.0.to_bits() | SIGN, slow_log10.to_bits() | SIGN, "{}", arpa);
                prop_assert_eq!(log10.0 == 0.0, slow_log10 == 0.0);
                prop_assert_eq!(matched as usize, slow_matched);
                prop_assert!(reference.same_state(&next, &slow_next), "{:?} {:?} {}", next, slow_next, arpa);
                prop_assert_eq!(model.score_after(&context, id), (log10, matched));
                requests.push(Request { state: states.len() as u32, word: id });
                states.push(state);
                expected.push((log10, matched, next));
                context.insert(0, id);
                (state, slow) = (next, slow_next);
            }
        }
        let mut results = vec![ScoreResult::default(); requests.len() + 1];
        model.score_batch(&states, &requests, &mut results);
        for (result, (log10, matched, next)) in results.iter().zip(&expected) {
            prop_assert_eq!(result.log10.0.to_bits(), log10.0.to_bits());
            prop_assert_eq!(result.ngram_length, *matched);
            prop_assert_eq!(result.next_state, *next);
            let bits = |s: &State| s.entries().iter().map(|e| e.1.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&result.next_state), bits(next));
        }
    }

    /// Sentences in a batch score as one word after another does, with any first state
    /// and any length of matches.
    #[test]
    fn sentences_score_as_their_words(
        arpa in arbitrary_arpa(),
        text in proptest::collection::vec(proptest::collection::vec(0usize..6, 0..30), 1..60),
        before in proptest::collection::vec(0usize..6, 0..6),
    ) {
        let names = ["<s>", "a", "b", "c", "</s>", "<unk>"];
        let model = build_model(&arpa);
        let id = |word: usize| model.word_id(names[word].as_bytes());
        let (mut begin, mut next) = (State::EMPTY, State::EMPTY);
        for &word in &before {
            model.score(&begin, id(word), &mut next);
            begin = next;
        }
        let words: Vec<LmWord> = text.concat().into_iter().map(id).collect();
        let mut ends = Vec::new();
        let mut expected = Vec::new();
        for sentence in &text {
            let mut state = begin;
            for _ in sentence {
                expected.push(model.score(&state, words[expected.len()], &mut next));
                state = next;
            }
            ends.push(expected.len());
        }
        let mut scores = vec![(Log10(1.0), 99); words.len() + 1];
        model.score_sentences(&begin, &words, &ends, &mut scores);
        for (score, expected) in scores.iter().zip(&expected) {
            prop_assert_eq!((score.0.0.to_bits(), score.1), (expected.0.0.to_bits(), expected.1), "{}", arpa);
        }
        prop_assert_eq!(scores[words.len()], (Log10(1.0), 99));
    }

    /// A model lists the n-grams that it was built from, without blanks.
    #[test]
    fn lists_what_it_was_built_from(arpa in arbitrary_arpa()) {
        assert_lists_same_ngrams(&arpa);
    }

    /// With any bytes changed, opening and scoring give an error or some number.
    #[test]
    fn damage_never_panics(
        changes in proptest::collection::vec((4096usize..9000, any::<u8>()), 1..30),
        words in proptest::collection::vec(0u32..5, 0..20),
    ) {
        let mut bytes = build_bytes(TOY).unwrap().to_vec();
        for (offset, value) in changes {
            if let Some(byte) = bytes.get_mut(offset) {
                *byte = value;
            }
        }
        let Ok(container) = Container::from_bytes(Bytes::copy_from(&bytes), Path::new("x")) else { return Ok(()) };
        prop_assert!(container.verify().is_err() || bytes[..] == build_bytes(TOY).unwrap()[..]);
        let _ = verify(&container);
        let Ok(model) = ProbingModel::from_container(&container) else { return Ok(()) };
        let mut state = model.begin_state();
        for word in words {
            let mut next = State::EMPTY;
            model.score(&state, LmWord(word), &mut next);
            state = next;
            let _ = model.word_id(model.word(LmWord(word)).unwrap_or_default());
        }
    }
}

/// Orders above 20 have their blanks in one section.
#[test]
fn models_of_all_orders_list_their_ngrams() {
    for order in [20, 21, crate::MAX_ORDER] {
        // Each n-gram is the beginning of the longest, so all suffixes are blanks. Several n-grams
        // end in `a`.
        let word = |i: usize| if i.is_multiple_of(7) { "a".to_owned() } else { format!("w{i}") };
        let words: Vec<String> = (1..=order).map(word).collect();
        let mut vocabulary: Vec<&String> = words.iter().collect();
        vocabulary.sort_unstable();
        vocabulary.dedup();
        let mut arpa = format!("\\data\\\nngram 1={}\n", vocabulary.len() + 3);
        (2..=order).for_each(|n| arpa += &format!("ngram {n}=1\n"));
        arpa += "\n\\1-grams:\n-1\t<unk>\n-9\t<s>\t-0.5\n-1\t</s>\n";
        vocabulary.iter().for_each(|word| arpa += &format!("-1.5\t{word}\t-0.25\n"));
        for n in 2..=order {
            let ngram = words[..n].join(" ");
            let backoff = if n < order { "\t-0.125" } else { "" };
            arpa += &format!("\n\\{n}-grams:\n-0.{n}\t{ngram}{backoff}\n");
        }
        arpa += "\n\\end\\\n";
        assert_lists_same_ngrams(&arpa);
        let bytes = build_bytes(&arpa).unwrap();
        let container = Container::from_bytes(bytes, Path::new("x")).unwrap();
        verify(&container).unwrap();
        let model = ProbingModel::from_container(&container).unwrap();
        let (mut state, mut lengths) = (State::EMPTY, Vec::new());
        for word in &words {
            let mut next = State::EMPTY;
            lengths.push(usize::from(
                model.score(&state, model.word_id(word.as_bytes()), &mut next).1,
            ));
            state = next;
        }
        assert!(lengths.into_iter().eq(1..=order), "{order}");
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let arpa = large_arpa();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| build_bytes(&arpa).unwrap())
    };
    let one = with(1);
    assert!(one[..] == with(3)[..]);
}

/// The file as this version writes it, so that a change of the layout does not go
/// unnoticed.
#[test]
fn golden_file_of_version_2() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/toy-v2.ngram-probing");
    let bytes = build_bytes(TOY).unwrap();
    if std::env::var_os("MIRIAM_WRITE_TESTDATA").is_some() {
        std::fs::write(&path, &bytes[..]).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == bytes[..], "the layout changed: raise VERSION");
}

/// The file as version 1 wrote it, so that it stays readable.
#[test]
fn golden_file_of_version_1() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/toy-v1.ngram-probing");
    let container = Container::open_any(&path, LoadMethod::Lazy).unwrap();
    verify(&container).unwrap();
    let model = ProbingModel::open(&path, LoadMethod::Lazy).unwrap();
    let mut next = State::EMPTY;
    let a = model.word_id(b"a");
    assert_eq!(model.score(&model.begin_state(), a, &mut next), (Log10(-0.5), 2));
    let error = probing_source(&container).err().unwrap().to_string();
    assert!(error.contains("version 1"), "{error}");
}

/// Returns the n-grams of a source: words, log10, backoff where it is not 0.
fn list_ngrams(source: &mut dyn NgramSource) -> BTreeSet<(Vec<u32>, u32, u32)> {
    let without_zero = |backoff: f32| if backoff == 0.0 { 0 } else { backoff.to_bits() };
    let unigrams = source.unigrams().iter().enumerate();
    let mut all: BTreeSet<_> = unigrams
        .map(|(id, u)| (vec![id as u32], (u.log10 + 0.0).to_bits(), without_zero(u.backoff)))
        .collect();
    while let Some(section) = source.next_section().unwrap() {
        for i in 0..section.len() {
            let backoff = section.backoffs.get(i).copied().unwrap_or(0.0);
            let log10 = (section.log10[i] + 0.0).to_bits();
            all.insert((section.ngram(i).to_vec(), log10, without_zero(backoff)));
        }
    }
    all
}

/// Checks that the model of `arpa` lists the same n-grams as the text.
fn assert_lists_same_ngrams(arpa: &str) {
    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), arpa).unwrap();
    let container = Container::from_bytes(build_bytes(arpa).unwrap(), Path::new("x")).unwrap();
    let mut ngrams = probing_source(&container).unwrap();
    let mut text = open_source(input.path(), ArpaOptions::default(), &NoProgress).unwrap();
    assert_eq!(ngrams.counts(), text.counts());
    assert_eq!(ngrams.has_unknown(), text.has_unknown());
    assert!(ngrams.vocabulary().iter().eq(text.vocabulary().iter()));
    assert_eq!(list_ngrams(&mut ngrams), list_ngrams(&mut *text), "{arpa}");
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = build_bytes(TOY).unwrap();
    for end in (0..bytes.len()).step_by(7) {
        assert!(Container::from_bytes(Bytes::copy_from(&bytes[..end]), Path::new("cut")).is_err());
    }
}

#[test]
fn minimization_is_closed_in_the_toy_model_but_not_in_an_odd_model() {
    assert!(build_model(TOY).minimization_is_closed());
    // "a b" has a backoff, its suffix "b" has none and is not a context.
    let odd = "\\data\\\nngram 1=4\nngram 2=1\nngram 3=0\n\n\\1-grams:\n-9\t<s>\n-1\t</s>\n-1\ta\n-1\tb\n\n\\2-grams:\n-1\ta b\t-0.5\n\n\\3-grams:\n\n\\end\\\n";
    assert!(!build_model(odd).minimization_is_closed());
}

#[test]
fn one_positive_backoff_of_any_order_is_seen() {
    assert!(build_model(TOY).has_only_lowering_backoffs());
    let arpa = |unigram: &str, bigram: &str| {
        build_model(&format!(
            "\\data\\\nngram 1=3\nngram 2=1\nngram 3=1\n\n\\1-grams:\n-9\t<s>\n-1\t</s>\n\
             -1\ta\t{unigram}\n\n\\2-grams:\n-1\ta a\t{bigram}\n\n\\3-grams:\n-1\ta a a\n\n\
             \\end\\\n"
        ))
    };
    assert!(arpa("-0.5", "0").has_only_lowering_backoffs());
    assert!(!arpa("0.25", "0").has_only_lowering_backoffs());
    assert!(!arpa("-0.5", "0.25").has_only_lowering_backoffs());
}

/// KenLM's `query -n` prints -0 for `<s>` of probability 1.
#[test]
fn log10_of_probability_one_is_minus_zero() {
    let model = build_model(&TOY.replace("-99\t<s>", "0\t<s>"));
    let mut next = State::EMPTY;
    let (log10, _) = model.score(&State::EMPTY, model.word_id(b"<s>"), &mut next);
    assert_eq!(log10.0.to_bits(), (-0.0f32).to_bits());
}

#[test]
fn unigram_models_and_errors_of_building() {
    let model = build_model("\\data\\\nngram 1=2\n\n\\1-grams:\n-1\t<s>\n-2\t</s>\n\n\\end\\\n");
    let mut next = State::EMPTY;
    let begin = model.begin_state();
    assert_eq!(model.score(&begin, model.end_of_sentence(), &mut next), (Log10(-2.0), 1));
    assert!(next.is_empty());
    assert_eq!(model.score(&begin, LmWord::UNKNOWN, &mut next), (Log10(-100.0), 1));
    let twice = TOY.replace("b </s>", "a b");
    let error = build_bytes(&twice).err().unwrap().to_string();
    assert!(error.contains("line 16") && error.contains("line 15"), "{error}");
    let error = build_bytes(&TOY.replace("<s> a b", "a a b")).err().unwrap().to_string();
    assert!(error.contains("line 20") && error.contains("\"a a\""), "{error}");
}

/// N-grams that are far from each other come in different parts.
#[test]
fn duplicates_in_different_parts_are_found_in_files_and_in_pipes() {
    let arpa = arpa_with_distant_duplicate();
    let line = |text: &str| arpa.lines().position(|line| line == text).unwrap() + 1;
    let (first, last) = (line("-1\t<s> w7"), line("\\end\\") - 2);
    let check = |error: String| {
        assert!(error.contains(&format!("line {last}")), "{error}");
        assert!(error.contains(&format!("on line {first} already")), "{error}");
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    check(pool.install(|| build_bytes(&arpa)).err().unwrap().to_string());
    let input = crate::test_support::text_input(arpa.as_bytes(), "pipe");
    let mut pipe =
        crate::arpa::ArpaReader::open(input, ArpaOptions::default(), &NoProgress).unwrap();
    let writer = || miriam_storage::ContainerWriter::in_memory(Path::new("model"), KIND, VERSION);
    let progress: &dyn miriam_textio::Progress = &NoProgress;
    let reading = (progress.task("reading", None), progress);
    let built = pool.install(|| build::build_from_source(&mut pipe, None, reading, writer));
    check(built.err().unwrap().to_string());
}

/// Returns the mean number of lines between an entry and its home line, and the same for random
/// keys.
fn displacement<L: TableLine>(
    container: &Container,
    metadata: &ProbingMetadata,
    order: usize,
) -> (f64, f64) {
    let lines = container.section::<L>(&format!("order-{order}")).unwrap();
    let home = metadata.home_lines[order - 2];
    let mean = |lines: &[L]| {
        let (mut sum, mut count) = (0, 0);
        for (at, line) in lines.iter().enumerate() {
            for slot in (0..L::SLOTS).filter(|&slot| line.key(slot) != 0) {
                sum += at as u64 - miriam_storage::hash::fast_range(line.key(slot), home);
                count += 1;
            }
        }
        sum as f64 / f64::from(count)
    };
    let slots = lines.iter().flat_map(|line| (0..L::SLOTS).map(|slot| line.key(slot)));
    let random = |key: u64| nonzero_key(miriam_storage::hash::hash64(&key.to_le_bytes()));
    let entries: Vec<_> =
        slots.filter(|&key| key != 0).map(|key| (random(key), L::Value::default())).collect();
    let shuffled = miriam_storage::probing::build::<L>(&entries, home as usize).unwrap();
    (mean(&lines), mean(&shuffled))
}

/// The tables choose a line by the high bits of KenLM's hash. On a real model these bits must
/// spread entries as well as random bits do.
#[test]
fn kenlms_hashes_spread_over_the_lines() {
    let Some(arpa) = shared_path("m30k-de-en/lm/lm.5.en.arpa.gz") else { return };
    let bytes = build::build_in_memory(&arpa, ArpaOptions::default(), &NoProgress).unwrap();
    let container = Container::from_bytes(bytes, &arpa).unwrap();
    let metadata: ProbingMetadata = container.metadata().unwrap();
    assert!(metadata.head.minimization_is_closed);
    for order in 2..=5 {
        let (mean, random) = match order {
            5 => displacement::<Line5>(&container, &metadata, order),
            _ => displacement::<Line4>(&container, &metadata, order),
        };
        eprintln!("order {order}: mean displacement {mean:.4} lines, random keys {random:.4}");
        assert!(mean < 1.1 * random + 0.01, "order {order}: {mean} against {random}");
    }
}
