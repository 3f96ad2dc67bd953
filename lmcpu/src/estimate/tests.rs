//! The estimator against lmplz's files and against the slow reference.

mod reference;

use std::path::{Path, PathBuf};

use miriam_storage::hash::hash64;
use miriam_textio::{Input, NoProgress};
use proptest::prelude::*;

use super::*;
use crate::test_support::{assert_same, capture_output, read_file, shared_path, text_input};
use reference::reference_arpa;

/// Returns the ARPA text estimated from `input` with this plan.
fn estimate_with_plan(
    options: &EstimateOptions,
    plan: MemoryPlan,
    input: Input,
) -> Result<Vec<u8>> {
    let estimate = |output: &mut _| {
        let outputs = ModelOutputs { arpa: Some(output), intermediate: None };
        estimate_within(options, plan, input, outputs, &NoProgress)
    };
    Ok(capture_output(estimate)?.0)
}

fn small(order: usize) -> EstimateOptions {
    let discount_fallback = Some([0.5, 1.0, 1.5]);
    EstimateOptions { discount_fallback, memory: 64 << 20, ..EstimateOptions::new(order) }
}

/// Returns texts of frequent and rare words.
fn corpus() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[ab]", 2 => "[c-f]", 1 => "[g-z]", 1 => Just("long\u{b}word".to_owned()),
        1 => prop_oneof![Just("<s>"), Just("</s>"), Just("<unk>")].prop_map(str::to_owned),
    ];
    let line = proptest::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    let ends = prop_oneof![9 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\t\n\n")];
    let lines = proptest::collection::vec((line, ends), 1..30);
    let unfinished = prop_oneof![3 => Just(""), 1 => Just("a b"), 1 => Just("b ")];
    (lines, unfinished).prop_map(|(lines, unfinished)| {
        let lines: String = lines.into_iter().map(|(line, end)| line + end).collect();
        lines + unfinished
    })
}

fn options() -> impl Strategy<Value = EstimateOptions> {
    let fallback = prop_oneof![3 => Just(Some([0.5, 1.0, 1.5])), 1 => Just(None)];
    let prune = proptest::collection::vec(0u64..3, 0..4);
    let pad = prop_oneof![2 => Just(0u64), 1 => Just(500)];
    let output = (any::<bool>(), prop_oneof![2 => Just(false), 1 => Just(true)]);
    (1usize..6, prune, fallback, pad, any::<bool>(), any::<bool>(), 1usize..4, output).prop_map(
        |(order, mut prune, discount_fallback, vocab_pad, interpolate, fused, threads, output)| {
            let (renumber, collapse_values) = output;
            prune.truncate(order);
            prune.sort_unstable();
            EstimateOptions {
                prune,
                discount_fallback,
                vocab_pad,
                interpolate_unigrams: interpolate || vocab_pad > 0,
                skip_symbols: true,
                fused_multiply_add: fused,
                threads,
                renumber,
                collapse_values,
                ..EstimateOptions::new(order)
            }
        },
    )
}

fn plan() -> impl Strategy<Value = MemoryPlan> {
    let memory = prop_oneof![Just(1u64), Just(3000), Just(1 << 30)];
    (memory, 1usize..200, 1usize..300).prop_map(|(memory, chunk, block)| MemoryPlan {
        memory,
        chunk_tokens: chunk,
        block_bytes: block,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn equals_the_reference(
        text in corpus(), mut options in options(), plan in plan(), limited in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let limit = ["a", "b", "c", "d", "absent"];
        if limited {
            let path = folder.path().join("words");
            std::fs::write(&path, limit.join("\n")).unwrap();
            options.limit_vocab = Some(path);
        }
        let expected = reference_arpa(&options, &text, limited.then_some(&limit[..]));
        let found = estimate_with_plan(&options, plan, text_input(text.as_bytes(), "text"));
        match (found, expected) {
            (Ok(found), Some(expected)) => assert_same(&found, expected.as_bytes(), "estimate"),
            (Err(Error::Discounts { .. }), None) => {}
            (found, expected) => prop_assert!(
                false, "{:?} but {expected:?}", found.map(|arpa| String::from_utf8_lossy(&arpa).into_owned())
            ),
        }
    }
}

#[test]
fn equals_lmplz() {
    let Some(folder) = shared_path("kenlm-cases") else { return };
    let case = |name: &str, options: EstimateOptions| {
        for (fused, kind) in [(false, "arpa"), (true, "fma.arpa")] {
            let expected = read_file(&folder.join(format!("{name}.{kind}.gz")));
            let options = EstimateOptions { fused_multiply_add: fused, ..options.clone() };
            // In memory, and with runs, ranges and blocks on disk.
            let plans = [
                MemoryPlan::new(64 << 20),
                MemoryPlan { memory: 100_000, chunk_tokens: 5000, block_bytes: 3000 },
            ];
            for plan in plans {
                let input = Input::open(&folder.join("text.en")).unwrap();
                assert_same(&estimate_with_plan(&options, plan, input).unwrap(), &expected, name);
            }
        }
    };
    for order in [2, 3, 5] {
        case(&format!("o{order}"), small(order));
    }
    case("o3-prune", EstimateOptions { prune: vec![0, 0, 1], ..small(3) });
    case("o4-prune", EstimateOptions { prune: vec![0, 1, 1, 2], ..small(4) });
    case("o3-nounigram", EstimateOptions { interpolate_unigrams: false, ..small(3) });
    case("o3-pad", EstimateOptions { vocab_pad: 20_000, ..small(3) });
    let limit_vocab = Some(folder.join("vocab.limit"));
    case("o3-limit", EstimateOptions { limit_vocab, ..small(3) });
}

/// Returns the content of the intermediate files of a model at `base` as ARPA text.
fn read_intermediate(base: &Path, order: usize) -> String {
    let read = |extension: &str| {
        std::fs::read(format!("{}.{extension}", base.display())).expect("a file of the model")
    };
    let header = String::from_utf8(read("kenlm_intermediate")).unwrap();
    let [title, counts, payload] = header.lines().collect::<Vec<_>>()[..] else {
        panic!("three lines: {header}")
    };
    assert_eq!(title, "KenLM intermediate binary file");
    assert!(payload == "Payload pb" || payload == "Payload q");
    let counts: Vec<&str> = counts.strip_prefix("Counts ").unwrap().split(' ').collect();
    let vocabulary = String::from_utf8(read("vocab")).unwrap();
    let words: Vec<&str> = vocabulary.split_terminator('\0').collect();
    let mut arpa = String::from("\\data\\\n");
    (1..).zip(&counts).for_each(|(k, count)| arpa += &format!("ngram {k}={count}\n"));
    for k in 1..=order {
        arpa += &format!("\n\\{k}-grams:\n");
        let bytes = read(&k.to_string());
        let numbers: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|four| u32::from_le_bytes(four.try_into().unwrap()))
            .collect();
        assert_eq!(numbers.len(), counts[k - 1].parse::<usize>().unwrap() * (k + 2));
        for record in numbers.chunks_exact(k + 2) {
            let mut line = Vec::new();
            miriam_textio::number::push_shortest_f32(&mut line, f32::from_bits(record[k]));
            let ngram: Vec<&str> = record[..k].iter().map(|&id| words[id as usize]).collect();
            line.extend_from_slice(format!("\t{}", ngram.join(" ")).as_bytes());
            if k < order {
                line.push(b'\t');
                miriam_textio::number::push_shortest_f32(&mut line, f32::from_bits(record[k + 1]));
            } else {
                assert_eq!(record[k + 1], 0);
            }
            arpa += &(String::from_utf8(line).unwrap() + "\n");
        }
    }
    arpa + "\n\\end\\\n"
}

/// Writes intermediate files with this plan and returns the ARPA text.
fn estimate_files_with_plan(
    options: &EstimateOptions,
    plan: MemoryPlan,
    text: &[u8],
    base: &Path,
) -> Vec<u8> {
    let mut files = IntermediateFiles::create(base, options.order).unwrap();
    let estimate = |output: &mut Output| {
        let outputs = ModelOutputs { arpa: Some(output), intermediate: Some(&mut files) };
        estimate_within(options, plan, text_input(text, "text"), outputs, &NoProgress)
    };
    let (arpa, _) = capture_output(estimate).unwrap();
    files.finish().unwrap();
    arpa
}

#[test]
fn intermediate_files_hold_the_model() {
    // To the estimator, <UNK> is a word like others.
    let text = "a b c a b\nc a b d\n\nd e a b c\nb b a <UNK>\n".repeat(3) + "f g a b\n";
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base");
    for (order, collapse_values) in [(1, false), (3, false), (3, true), (4, true)] {
        let options = EstimateOptions {
            renumber: true,
            collapse_values,
            prune: vec![0, 0, 1][..order.min(3)].to_vec(),
            ..small(order)
        };
        let expected = reference_arpa(&options, &text, None).unwrap();
        for plan in
            [MemoryPlan::new(64 << 20), MemoryPlan { memory: 1, chunk_tokens: 7, block_bytes: 30 }]
        {
            // Each model replaces the one before.
            let arpa = estimate_files_with_plan(&options, plan, text.as_bytes(), &base);
            assert_same(&arpa, expected.as_bytes(), "ARPA");
            let files = read_intermediate(&base, order);
            assert_same(files.as_bytes(), expected.as_bytes(), "files");
        }
    }
    let missing = folder.path().join("missing/base");
    let input = text_input(text.as_bytes(), "text");
    let error = estimate_intermediate(&small(2), input, &missing, None, &NoProgress);
    assert!(error.unwrap_err().to_string().contains("missing"));
}

/// Hashes of the files that KenLM's lmplz (4cb443e, compiled for plain x86-64) wrote for the
/// toy corpus with `-o 3 --discount_fallback --prune 0 0 1`.
#[test]
fn sorted_records_equal_lmplz() {
    let expected: [(&str, bool, [u64; 6]); 2] = [
        (
            "pb",
            false,
            [
                0x136b_a1dd_cde2_3830,
                0x8373_40e4_3dd2_16a0,
                0xcb0c_272c_6374_4bdc,
                0xe012_67f6_da93_7fe1,
                0xe887_bcbd_ae79_aa03,
                0x28e7_87a6_d9f9_13a4,
            ],
        ),
        (
            "q",
            true,
            [
                0x9906_4ac5_5280_1039,
                0x5766_1626_1e84_0dae,
                0xcb0c_272c_6374_4bdc,
                0x1f36_e775_3d3b_f280,
                0xc6ab_9e88_418d_49dc,
                0x8ef5_922c_aec7_cf65,
            ],
        ),
    ];
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/corpus.es");
    let text = std::fs::read(text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, collapse_values, [arpa_hash, hashes @ ..]) in expected {
        let base = folder.path().join(name);
        let prune = vec![0, 0, 1];
        let options = EstimateOptions { renumber: true, collapse_values, prune, ..small(3) };
        let mut arpa = estimate_files_with_plan(&options, MemoryPlan::new(1 << 26), &text, &base);
        if collapse_values {
            // Values are collapsed in the order of the text as well.
            let options = EstimateOptions { renumber: false, ..options };
            arpa =
                estimate_with_plan(&options, MemoryPlan::new(1 << 26), text_input(&text, "text"))
                    .unwrap();
        }
        assert_eq!(hash64(&arpa), arpa_hash, "{name}: ARPA");
        for (path, hash) in intermediate_paths(&base, 3).iter().zip(hashes) {
            assert_eq!(hash64(&std::fs::read(path).unwrap()), hash, "{}", path.display());
        }
    }
}

#[test]
fn equals_lmplz_on_a_caption_corpus() {
    let Some(folder) = shared_path("m30k-de-en") else { return };
    let Some(text) = ["corpus/train.en", "corpus/train.en.gz", "corpus/train.en.zst"]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.exists())
    else {
        eprintln!("skipped: the corpus is absent");
        return;
    };
    let options = EstimateOptions { fused_multiply_add: true, ..small(5) };
    let expected = read_file(&folder.join("lm/lm.5.en.arpa.gz"));
    let input = Input::open(&text).unwrap();
    assert_same(
        &estimate_with_plan(&options, MemoryPlan::new(256 << 20), input).unwrap(),
        &expected,
        "captions",
    );
}

#[test]
fn long_ngrams_need_wide_keys() {
    let words: Vec<String> = (0..3000).map(|i| format!("w{}", i * i % 1013)).collect();
    let text: String = words.chunks(23).map(|line| line.join(" ") + "\n").collect();
    for order in [7, 8, 12, 16, 20, 24] {
        let expected = reference_arpa(&small(order), &text, None).unwrap();
        for chunk in [usize::MAX, 700] {
            let plan = MemoryPlan { memory: 1 << 20, chunk_tokens: chunk, block_bytes: 999 };
            let found =
                estimate_with_plan(&small(order), plan, text_input(text.as_bytes(), "text"))
                    .unwrap();
            assert_same(&found, expected.as_bytes(), "estimate");
        }
    }
}

#[test]
fn errors_say_what_to_do() {
    let error = |options: &EstimateOptions, text: &str| {
        estimate_with_plan(options, MemoryPlan::new(1 << 20), text_input(text.as_bytes(), "text"))
            .unwrap_err()
            .to_string()
    };
    let strict = EstimateOptions { discount_fallback: None, ..small(3) };
    let tiny = error(&strict, "a b\n");
    assert!(tiny.contains("1-gram") && tiny.contains("--discount-fallback"), "{tiny}");
    let marker = error(&small(3), "a\nb\nc </s> d\n");
    assert!(marker.starts_with("text, line 3: ") && marker.contains("--skip-symbols"), "{marker}");
    assert!(error(&small(3), "").contains("empty"));
    let temp = PathBuf::from("/no/such/folder");
    let plan = MemoryPlan { memory: 1, chunk_tokens: 4, block_bytes: 100 };
    let unwritable = EstimateOptions { temp_dir: temp, ..small(3) };
    // The folder is checked even if memory suffices.
    for plan in [plan, MemoryPlan::new(64 << 20)] {
        let disk = estimate_with_plan(&unwritable, plan, text_input(b"a b c d e f\n", "text"))
            .unwrap_err()
            .to_string();
        assert!(disk.contains("/no/such/folder") && disk.contains("--temp"), "{disk}");
    }
}

#[test]
fn invalid_options_are_rejected() {
    let refused = |options: EstimateOptions| options.validate().is_err();
    assert!(!refused(small(24)));
    assert!(refused(small(0)) && refused(small(25)));
    assert!(refused(EstimateOptions { prune: vec![1, 0], ..small(3) }));
    assert!(refused(EstimateOptions { prune: vec![0; 4], ..small(3) }));
    assert!(refused(EstimateOptions { vocab_pad: 1, interpolate_unigrams: false, ..small(3) }));
    assert!(refused(EstimateOptions { discount_fallback: Some([2.0; 3]), ..small(3) }));
}

/// Progress that cancels the work when the task of this name begins.
struct CancelAt {
    task: &'static str,
    reached: std::sync::atomic::AtomicBool,
}

impl Progress for CancelAt {
    fn begin(&self, name: &str, _: Option<u64>) {
        if name == self.task {
            self.reached.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }
    fn set_position(&self, _: u64) {}
    fn end(&self) {}
    fn is_cancelled(&self) -> bool {
        self.reached.load(std::sync::atomic::Ordering::SeqCst)
    }
}

#[test]
fn work_is_cancelled_in_every_task() {
    for task in ["reading text", "counting n-grams", "smoothing", "sorting", "writing"] {
        for renumber in [false, true] {
            if task == "sorting" && !renumber {
                continue;
            }
            let progress = CancelAt { task, reached: false.into() };
            let input = text_input(b"a b c\nb c a\n", "text");
            let options = EstimateOptions { renumber, ..small(3) };
            let outcome = capture_output(|output| estimate(&options, input, output, &progress));
            assert!(matches!(outcome, Err(Error::Cancelled)), "{task}");
        }
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), crate::test_support::TOY).unwrap();
    let progress = CancelAt { task: "reading", reached: false.into() };
    let outcome = crate::open(file.path(), miriam_storage::LoadMethod::Lazy, &progress);
    assert!(matches!(outcome.err(), Some(Error::Cancelled)));
}
