//! The shipped kernels, run by an interpreter of PTX, give the same bits as models on the CPU.
//!
//! The library that stands in for the driver must be loaded when a process starts. So the first
//! test runs the ignored tests in processes of their own.

mod models;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use miriam_glm::device::{
    DeviceModel, DeviceOptions, PAD, SENTENCE_START, ScoreBuffers, SentenceSum, Tile,
    time_random_reads,
};
use miriam_glm::format::NodeWidth;
use miriam_lmcpu::{LanguageModel, LmWord, Request, ScoreResult, State};
use miriam_storage::{Bytes, Container};
use miriam_textio::Log10;
use rayon::prelude::*;

use models::{Random, TestModels, random_arpa, random_text, word_name, write_arpa};

/// The longest test, which has a process of its own.
const LONGEST_TEST: &str = "every_kernel_on_random_models";

#[test]
fn kernels_agree_with_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    // The seed selects the order in which streams, blocks, warps and lanes run.
    let runs = [("seed=1", &[LONGEST_TEST][..]), ("seed=2", &["--skip", LONGEST_TEST])];
    let runs = runs.map(|(settings, chosen)| {
        let environment = miriam_emulated_driver::environment(folder.path(), settings).unwrap();
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--ignored", "--nocapture"]).args(chosen).envs(environment);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program starts")
    });
    for run in runs {
        let output = run.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{stdout}\n{stderr}");
        assert!(stdout.contains(" passed") && !stdout.contains(" 0 passed"), "{stdout}");
    }
}

/// Prints to standard error why a test is skipped, in a way that the test runner does not capture.
fn report_skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Panics at the first difference, even of one bit.
#[track_caller]
fn assert_bit_equal(scores: &[(Log10, u8)], expected: &[(Log10, u8)], what: &str) {
    let (scores, expected) = (bits(scores), bits(expected));
    assert_eq!(scores.len(), expected.len());
    let different = scores.iter().zip(&expected).position(|(score, expected)| score != expected);
    if let Some(at) = different {
        panic!("{what}: {at} of {}: {:x?}, not {:x?}", scores.len(), scores[at], expected[at]);
    }
}

fn bits(scores: &[(Log10, u8)]) -> Vec<(u32, u8)> {
    scores.iter().map(|(log10, matched)| (log10.0.to_bits(), *matched)).collect()
}

/// Compares all methods of device and CPU on about `count` random queries each.
fn compare_all_queries(
    model: &DeviceModel,
    cpu_model: &dyn LanguageModel,
    count: usize,
    random: &mut Random,
) {
    let order = cpu_model.order();
    let (words, ends) = random_text(cpu_model, count, random);
    // Sentences, with `<s>` as first context and without context.
    for begin in [cpu_model.begin_state(), State::EMPTY] {
        let mut expected = vec![Default::default(); words.len()];
        cpu_model.score_sentences(&begin, &words, &ends, &mut expected);
        let mut scores = vec![Default::default(); words.len()];
        model.score_sentences(&begin, &words, &ends, &mut scores);
        assert_bit_equal(&scores, &expected, "sentences");

        let markers = !begin.is_empty();
        let mut tokens: Vec<u32> = Vec::new();
        let (mut token_ends, mut start) = (Vec::new(), 0);
        let mut sums = Vec::new();
        for &end in &ends {
            let first = tokens.len();
            if markers {
                tokens.push(begin.entries()[0].0.0);
            }
            tokens.extend(words[start..end].iter().map(|word| word.0));
            if let Some(token) = tokens.get_mut(first) {
                *token |= SENTENCE_START;
            }
            token_ends.push(tokens.len());
            sums.push(SentenceSum {
                log10: expected[start..end].iter().fold(0.0, |sum, score| sum + score.0.0),
                unknown: words[start..end].iter().filter(|word| word.0 == 0).count() as u32,
            });
            start = end;
        }
        let mut found = vec![SentenceSum::default(); sums.len()];
        model.sum_sentences(&tokens, &token_ends, markers, &mut found).unwrap();
        assert_eq!(found, sums);
    }
    // N-grams with contexts of any length, from the text or of random words.
    let mut queries = Vec::new();
    let mut expected = Vec::new();
    for at in 0..count {
        let context: Vec<LmWord> = match random.below(5) {
            0 => (0..order - 1)
                .map(|_| LmWord(random.below(cpu_model.num_words() as u64) as u32))
                .collect(),
            _ => words[..at]
                .iter()
                .rev()
                .take(random.below(order as u64) as usize)
                .copied()
                .collect(),
        };
        queries.push(words[at].0);
        queries.extend(context.iter().map(|word| word.0).chain([PAD; 16]).take(order - 1));
        expected.push(cpu_model.score_after(&context, words[at]));
    }
    let (mut log10, mut matched) = (vec![0.0; count], vec![0; count]);
    model
        .score_ngrams(&queries, ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) })
        .unwrap();
    let scores: Vec<_> = log10.iter().map(|&log10| Log10(log10)).zip(matched).collect();
    assert_bit_equal(&scores, &expected, "n-grams");

    // Requests of a search, with the states after them.
    let mut states = vec![cpu_model.begin_state()];
    let mut requests = Vec::new();
    for &word in &words[..count] {
        let state = random.below(states.len() as u64) as u32;
        requests.push(Request { state, word });
        let mut next = State::EMPTY;
        cpu_model.score(&states[state as usize], word, &mut next);
        states.push(next);
    }
    let mut expected = vec![ScoreResult::default(); count];
    cpu_model.score_batch(&states, &requests, &mut expected);
    let mut results = vec![ScoreResult::default(); count];
    model.score_batch(&states, &requests, &mut results);
    for (result, expected) in results.iter().zip(&expected) {
        assert_eq!(result.log10.0.to_bits(), expected.log10.0.to_bits());
        assert_eq!(result.ngram_length, expected.ngram_length);
        let entries = |state: &State| {
            state.entries().iter().map(|e| (e.0, e.1.to_bits())).collect::<Vec<_>>()
        };
        assert_eq!(entries(&result.next_state), entries(&expected.next_state));
    }

    // All words, and a few words, after contexts.
    let contexts: Vec<Vec<LmWord>> = (0..if order == 1 { 1 } else { 3 })
        .map(|i| {
            let at = random.below(count as u64) as usize;
            let length = if i == 0 { 0 } else { random.below(order as u64) as usize };
            words[..at].iter().rev().take(length).copied().collect()
        })
        .collect();
    let padded = contexts
        .iter()
        .flat_map(|context| context.iter().map(|word| word.0).chain([PAD; 16]).take(order - 1));
    let padded: Vec<u32> = padded.collect();
    let few: Vec<u32> = words[..count.min(50)].iter().map(|word| word.0).collect();
    let all: Vec<u32> = (0..cpu_model.num_words().min(4000) as u32).collect();
    for (words, words_argument) in [(&few[..], Some(&few[..])), (&all[..], None)] {
        if words_argument.is_none() && all.len() < cpu_model.num_words() {
            continue;
        }
        let count = words.len() * contexts.len();
        let (mut log10, mut matched) = (vec![0.0; count], vec![0; count]);
        let answers = ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) };
        model.score_next(&padded, words_argument, answers).unwrap();
        let scores: Vec<_> = log10.iter().map(|&log10| Log10(log10)).zip(matched).collect();
        let expected: Vec<_> = contexts
            .iter()
            .flat_map(|context| {
                words.iter().map(|&word| cpu_model.score_after(context, LmWord(word)))
            })
            .collect();
        assert_bit_equal(&scores, &expected, "next words");
    }
    assert!(!model.has_failed(), "the CPU model scored instead");
}

const WIDTHS: [NodeWidth; 3] = [NodeWidth::Keys8, NodeWidth::Keys16, NodeWidth::Keys32];

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn every_kernel_on_random_models() {
    let cases = [
        (1, 200, 0),
        (2, 300, 4000),
        (3, 250, 6000),
        (4, 150, 6000),
        (5, 60, 3000),
        (6, 40, 2500),
        (9, 20, 1500),
        (12, 12, 900),
        (16, 8, 600),
    ];
    for (order, words, ngrams) in cases {
        let models =
            TestModels::from_arpa(&write_arpa(&random_arpa(order, words, ngrams, order as u64)));
        let layouts = WIDTHS.map(|width| [0, 2, 3, order].map(|hashed| (width, hashed.min(order))));
        layouts.into_par_iter().flatten().for_each(|(width, hashed)| {
            let mut random = Random((order * 17 + hashed) as u64 * 64 + width as u64);
            let bytes = models.glm_bytes(width, hashed);
            for tile in [Tile::Lanes4, Tile::Lanes8, Tile::Lanes16] {
                if order > tile.lanes() + 1 {
                    continue;
                }
                let options = DeviceOptions { tile: Some(tile), ..Default::default() };
                let model = models.on_device(&bytes, options);
                compare_all_queries(&model, &*models.cpu_model, 70, &mut random);
            }
        });
    }
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn batches_and_chunks_of_different_sizes() {
    let mut random = Random(11);
    let models = TestModels::from_arpa(&write_arpa(&random_arpa(4, 300, 5000, 3)));
    let bytes = models.glm_bytes(NodeWidth::Keys16, 2);
    for count in [1, 2, 31, 32, 33, 1000, 4000] {
        let model = models.on_device(&bytes, DeviceOptions::default());
        compare_all_queries(&model, &*models.cpu_model, count, &mut random);
    }
    for (chunk, run, streams) in [(1, 1, 1), (7, 3, 3), (33, 64, 2), (100, 1000, 4)] {
        let options = DeviceOptions {
            chunk_size: Some(chunk),
            run_length: Some(run),
            streams: Some(streams),
            disable_l2_window: run == 1,
            ..Default::default()
        };
        let model = models.on_device(&bytes, options);
        compare_all_queries(&model, &*models.cpu_model, 300, &mut random);
    }
}

/// The kernels for any order give the scores of the CPU, also for the orders 3 to 5, which have
/// kernels of their own.
#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn kernels_for_any_order_give_the_scores_of_special_ones() {
    let mut random = Random(17);
    for order in [2, 3, 4, 5, 6] {
        let models =
            TestModels::from_arpa(&write_arpa(&random_arpa(order, 60, 2000, order as u64)));
        let bytes = models.glm_bytes(NodeWidth::Keys32, 2);
        let options = DeviceOptions { generic_kernels: true, ..Default::default() };
        let model = models.on_device(&bytes, options);
        assert_eq!(model.has_special_kernels(), (3..=5).contains(&order), "order {order}");
        compare_all_queries(&model, &*models.cpu_model, 200, &mut random);
    }
}

/// Words with 1 to 1,100 left neighbours, at and around the sizes at which a B-tree gets another
/// level or node.
#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn trees_of_all_depths_give_the_scores_of_the_cpu() {
    let words = 1200;
    let mut text = String::from("\\data\\\n");
    let sizes = [
        1, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 62, 63, 64, 80, 81, 254, 255, 256, 288, 289, 1023,
        1024, 1055, 1056, 1100,
    ];
    let bigrams: Vec<(usize, usize)> = sizes
        .iter()
        .enumerate()
        .flat_map(|(word, &size)| (0..size).map(move |i| (i + 3, word + 3)))
        .collect();
    // A trigram (a, b, c) for each bigram (a, b) whose second word has five left neighbours or
    // more.
    let sorted_bigrams: std::collections::BTreeSet<_> = bigrams.iter().copied().collect();
    let trigrams: Vec<(usize, usize, usize)> = sorted_bigrams
        .iter()
        .filter(|(_, middle)| (6..30).contains(middle))
        .map(|&(left, middle)| (left, middle, 3 + left % 5))
        .collect();
    writeln!(text, "ngram 1={words}\nngram 2={}\nngram 3={}", sorted_bigrams.len(), trigrams.len())
        .unwrap();
    writeln!(text, "\n\\1-grams:").unwrap();
    for i in 0..words {
        writeln!(text, "-{}\t{}\t-0.{i}", 1.0 + i as f32 / 64.0, word_name(i)).unwrap();
    }
    writeln!(text, "\n\\2-grams:").unwrap();
    for (i, &(left, right)) in sorted_bigrams.iter().enumerate() {
        let (left, right) = (word_name(left), word_name(right));
        writeln!(text, "-{}\t{left} {right}\t-0.{}", 0.5 + i as f32 / 999.0, i % 7).unwrap();
    }
    writeln!(text, "\n\\3-grams:").unwrap();
    for (i, &(a, b, c)) in trigrams.iter().enumerate() {
        let [a, b, c] = [a, b, c].map(word_name);
        writeln!(text, "-{}\t{a} {b} {c}", 0.1 + i as f32 / 999.0).unwrap();
    }
    let models = TestModels::from_arpa(&write_arpa(&(text + "\n\\end\\\n")));
    let cpu_model = &*models.cpu_model;
    let id = |i: usize| cpu_model.word_id(word_name(i).as_bytes()).0;
    // Every bigram and trigram, and n-grams that the model lacks.
    let mut queries = Vec::new();
    for &(left, right) in &sorted_bigrams {
        queries.extend([id(right), id(left), PAD]);
    }
    for &(a, b, c) in &trigrams {
        queries.extend([id(c), id(b), id(a)]);
    }
    for word in 3..sizes.len() + 4 {
        for left in (1..words).step_by(23) {
            queries.extend([id(word), id(left), PAD]);
            queries.extend([id(3 + left % 5), id(word), id(left)]);
        }
    }
    let expected: Vec<_> = queries
        .chunks(3)
        .map(|query| {
            let context: Vec<_> =
                query[1..].iter().filter(|&&w| w != PAD).map(|&w| LmWord(w)).collect();
            cpu_model.score_after(&context, LmWord(query[0]))
        })
        .collect();
    for width in WIDTHS {
        for hashed in [0, 2, 3] {
            let bytes = models.glm_bytes(width, hashed);
            for tile in [Tile::Lanes4, Tile::Lanes8, Tile::Lanes16] {
                let options = DeviceOptions { tile: Some(tile), ..Default::default() };
                let model = models.on_device(&bytes, options);
                let count = queries.len() / 3;
                let (mut log10, mut matched) = (vec![0.0; count], vec![0; count]);
                let answers = ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) };
                model.score_ngrams(&queries, answers).unwrap();
                let scores: Vec<_> = log10.iter().map(|&p| Log10(p)).zip(matched).collect();
                assert_bit_equal(&scores, &expected, &format!("{width:?} {hashed} {tile:?}"));
            }
        }
    }
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn real_models_and_text() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/kenlm-cases");
    if !data.exists() {
        return report_skip(&format!("{} is absent", data.display()));
    }
    let text = std::fs::read(data.join("heldout.en")).unwrap();
    for name in ["o5.arpa.gz", "o3-suffixless.arpa.gz", "o2.arpa.gz"] {
        let arpa = data.join(name);
        if !arpa.exists() {
            report_skip(&format!("{} is absent", arpa.display()));
            continue;
        }
        let models = TestModels::from_arpa(&arpa);
        let cpu_model = &*models.cpu_model;
        let mut reader = miriam_lmcpu::word_ids::TextEncoder::new(cpu_model, true, false);
        let mut words = miriam_lmcpu::word_ids::EncodedText::default();
        reader.encode(&text, &mut words);
        let lines = words.ends.len().min(250);
        let (ends, last) = (&words.ends[..lines], words.ends[lines - 1]);
        let mut expected = vec![Default::default(); last];
        cpu_model.score_sentences(&cpu_model.begin_state(), &words.ids, ends, &mut expected);
        for (width, hashed) in
            [(NodeWidth::Keys32, 2), (NodeWidth::Keys8, 0), (NodeWidth::Keys16, 5)]
        {
            let model =
                models.on_device(&models.glm_bytes(width, hashed), DeviceOptions::default());
            let mut scores = vec![Default::default(); last];
            model.score_sentences(&cpu_model.begin_state(), &words.ids, ends, &mut scores);
            assert_bit_equal(&scores, &expected, &format!("{name} {width:?} {hashed}"));
            assert!(!model.has_failed(), "the CPU model scored instead");
        }
    }
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn ids_outside_the_vocabulary_count_as_unknown() {
    let models = TestModels::from_arpa(&write_arpa(&random_arpa(3, 40, 500, 5)));
    let model = models.on_device(&models.glm_bytes(NodeWidth::Keys8, 2), DeviceOptions::default());
    let absent_id = 1 << 30;
    let mut log10 = [1.0; 4];
    let mut matched = [9; 4];
    let queries = [absent_id, 5, absent_id, 0, 5, 0, 7, absent_id, PAD, PAD, PAD, PAD];
    let answers = ScoreBuffers { log10: &mut log10, matched: Some(&mut matched) };
    model.score_ngrams(&queries, answers).unwrap();
    let after = |context: &[u32], word| {
        let context: Vec<_> = context.iter().map(|&word| LmWord(word)).collect();
        models.cpu_model.score_after(&context, LmWord(word))
    };
    let expected = [after(&[5, 0], 0), after(&[5, 0], 0), after(&[0], 7), (Log10(0.0), 0)];
    let scores: Vec<_> = log10.iter().map(|&p| Log10(p)).zip(matched).collect();
    assert_bit_equal(&scores, &expected, "unknown words");
    let mut sums = [SentenceSum::default()];
    model.sum_sentences(&[SENTENCE_START | 3, absent_id, 0, 4], &[4], true, &mut sums).unwrap();
    assert_eq!(sums[0].unknown, 2);
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn resident_batches_give_the_scores_of_uploaded_ones() {
    let models = TestModels::from_arpa(&write_arpa(&random_arpa(3, 100, 2000, 9)));
    let model = models.on_device(&models.glm_bytes(NodeWidth::Keys32, 0), DeviceOptions::default());
    let mut random = Random(1);
    let tokens: Vec<u32> = (0..500)
        .map(|_| random.below(100) as u32 | if random.below(9) == 0 { SENTENCE_START } else { 0 })
        .collect();
    let mut expected = vec![0.0; 500];
    model.score_tokens(&tokens, ScoreBuffers { log10: &mut expected, matched: None }).unwrap();
    let mut resident = model.resident_tokens(&tokens).unwrap();
    assert_eq!(resident.time_kernel(3).unwrap().len(), 3);
    let mut log10 = vec![0.0; 500];
    resident.read_scores(ScoreBuffers { log10: &mut log10, matched: None }).unwrap();
    assert_eq!(log10, expected);
    let queries: Vec<u32> = (0..600).map(|_| random.below(100) as u32).collect();
    let (mut expected, mut log10) = (vec![0.0; 200], vec![0.0; 200]);
    model.score_ngrams(&queries, ScoreBuffers { log10: &mut expected, matched: None }).unwrap();
    let mut resident = model.resident_ngrams(&queries).unwrap();
    resident.read_scores(ScoreBuffers { log10: &mut log10, matched: None }).unwrap();
    assert_eq!(log10, expected);
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn orders_that_no_kernel_supports_are_rejected() {
    for order in [17, 20] {
        let models = TestModels::from_arpa(&write_arpa(&random_arpa(order, 20, 60, 3)));
        let bytes = models.glm_bytes(NodeWidth::Keys8, 0);
        let container = Container::from_bytes(bytes, Path::new("model")).unwrap();
        let options = DeviceOptions::default();
        let model = DeviceModel::new(&container, models.cpu_model, 0, options);
        let error = model.err().expect("no kernels").to_string();
        let reason = format!("the model has order {order}, but at most 16 is supported");
        assert!(error.contains(&reason) && error.contains("--device cpu"), "{error}");
    }
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn random_reads_are_timed_for_all_sizes() {
    for sector in [32, 64, 128] {
        assert_eq!(time_random_reads(0, 1 << 16, sector, 1000, 2).unwrap().len(), 2);
    }
}

#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn empty_buffers_have_no_elements() {
    let stream = miriam_gpu::Device::open(0).unwrap().new_stream().unwrap();
    let mut pinned = stream.alloc_pinned::<u32>(0).unwrap();
    assert!(pinned.is_empty() && pinned.get().unwrap().is_empty());
    assert!(pinned.get_mut().unwrap().is_empty());
    assert_eq!(stream.alloc_zeros::<u32>(0).unwrap().size_in_bytes(), 0);
}

/// Kernels end and stay within bounds on damaged models: the interpreter ends the process at a
/// fault.
#[test]
#[ignore = "needs the emulated GPU; run by kernels_agree_with_the_cpu"]
fn damaged_models_stay_in_bounds() {
    for (order, hashed) in [(3, 0), (4, 2), (5, 5)] {
        let models = TestModels::from_arpa(&write_arpa(&random_arpa(order, 40, 1500, 2)));
        let original = models.glm_bytes(NodeWidth::Keys8, hashed);
        let container = Container::from_bytes(original.clone(), Path::new("model")).unwrap();
        (0..40).into_par_iter().for_each(|seed| {
            let mut random = Random(seed * 64 + order as u64);
            let mut bytes = original.to_vec();
            for section in container.sections().iter().filter(|s| s.name.starts_with("order-")) {
                for _ in 0..section.length / 60 {
                    let at = section.offset + random.below(section.length.max(1));
                    bytes[at as usize] =
                        [0, 0xFF, random.below(256) as u8][random.below(3) as usize];
                }
            }
            let model = models.on_device(&Bytes::copy_from(&bytes), DeviceOptions::default());
            let (words, ends) = random_text(&*models.cpu_model, 200, &mut random);
            let mut scores = vec![Default::default(); words.len()];
            model.score_sentences(&models.cpu_model.begin_state(), &words, &ends, &mut scores);
            let queries: Vec<u32> = (0..order * 100).map(|_| random.below(40) as u32).collect();
            let mut log10 = vec![0.0; 100];
            model
                .score_ngrams(&queries, ScoreBuffers { log10: &mut log10, matched: None })
                .unwrap();
        });
    }
}
