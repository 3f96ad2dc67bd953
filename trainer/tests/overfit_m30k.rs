//! Test that every architecture memorises 64 pairs of Multi30k in 300 updates (`E.4` of the build
//! specification), and that `nmt` reproduces their translations.

use std::path::{Path, PathBuf};

use miriam_nmt::{LearnOptions, learn_vocabulary};
use miriam_textio::{Input, Lines, NoProgress};
use miriam_textproc::sentencepiece::TrainOptions;

use crate::workplace::{Run, Workplace};

const PAIRS: usize = 64;
/// The number of pairs from which the vocabulary is made.
const VOCABULARY_PAIRS: usize = 2000;
/// The maximum nats per token after the last update.
const MAX_CROSS_ENTROPY: f64 = 0.05;
/// The minimum number of translations that must equal the target.
const MIN_EQUAL: usize = 62;

/// Options with their values.
type Options = &'static [(&'static str, &'static [&'static str])];

/// The architectures, as options.
const ARCHITECTURES: [(&str, Options); 11] = [
    ("transformer", &[]),
    (
        "pre-norm",
        &[
            ("transformer-preprocess", &["n"]),
            ("transformer-postprocess", &["da"]),
            ("transformer-postprocess-top", &["n"]),
        ],
    ),
    ("aan", &[("transformer-decoder-autoreg", &["average-attention"])]),
    ("ssru", &[("transformer-decoder-autoreg", &["rnn"]), ("dec-cell", &["ssru"])]),
    ("gru", &[("type", &["s2s"])]),
    ("lstm", &[("type", &["s2s"]), ("enc-cell", &["lstm"]), ("dec-cell", &["lstm"])]),
    ("mlstm", &[("type", &["s2s"]), ("enc-cell", &["mlstm"]), ("dec-cell", &["mlstm"])]),
    (
        "deep gru",
        &[
            ("type", &["s2s"]),
            ("enc-type", &["alternating"]),
            ("enc-depth", &["2"]),
            ("enc-cell-depth", &["2"]),
            ("dec-depth", &["2"]),
            ("skip", &[]),
            ("layer-normalization", &[]),
        ],
    ),
    ("nematus", &[("type", &["nematus"]), ("layer-normalization", &[])]),
    ("amun", &[("type", &["amun"])]),
    (
        "stacked",
        &[
            ("type", &["stacked"]),
            ("dim-enc-rnn", &["64"]),
            ("dim-fc", &["64"]),
            ("fc-depth", &["1"]),
        ],
    ),
];

#[test]
#[ignore = "minutes: 300 updates of eleven models; cargo test --release"]
fn every_architecture_learns_pairs_of_m30k_by_heart() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/m30k-de-en");
    if !data.is_dir() {
        eprintln!("skipped: ../shared/data/m30k-de-en is not there");
        return;
    }
    let place = Workplace::new();
    let head = |side: &str, count: usize| -> String {
        let input = Input::open(&data.join(format!("corpus/train.{side}.gz"))).unwrap();
        let mut lines = Lines::new(input);
        let mut text = String::new();
        for _ in 0..count {
            let line = lines.next().unwrap().expect("a line");
            text += std::str::from_utf8(line.bytes).unwrap();
            text.push('\n');
        }
        text
    };
    let [source, target] = ["de", "en"].map(|side| place.write(side, &head(side, PAIRS)));
    // 64 pairs have fewer than a thousand pieces, so the vocabulary is made from more pairs.
    let texts = ["de", "en"].map(|side| {
        PathBuf::from(place.write(&format!("{side}.more"), &head(side, VOCABULARY_PAIRS)))
    });
    let pieces = TrainOptions { vocab_size: 1000, ..TrainOptions::default() };
    let learned =
        learn_vocabulary(&texts, &LearnOptions::SentencePiece(pieces), 2, &NoProgress).unwrap();
    let vocabulary = place.text("joint.spm");
    std::fs::write(&vocabulary, learned.bytes).unwrap();
    let wanted = head("en", PAIRS);
    let mut failures = Vec::new();
    for (name, architecture) in ARCHITECTURES {
        let output = place.text(&format!("{name}.en"));
        let outputs = [&output[..]];
        // Transformers do not learn at the high rate that recurrent cells need for so few updates.
        let is_recurrent = architecture.iter().any(|(option, _)| *option == "type");
        let mut options: Vec<(&str, &[&str])> = Vec::new();
        let (sets, vocabularies) = ([&source[..], &target], [&vocabulary[..], &vocabulary]);
        options.extend_from_slice(&[
            ("train-sets", &sets),
            ("valid-sets", &sets),
            ("vocabs", &vocabularies),
            ("dim-emb", &["64"]),
            ("dim-rnn", &["64"]),
            ("transformer-heads", &["4"]),
            ("transformer-dim-ffn", &["128"]),
            ("transformer-dim-aan", &["128"]),
            ("tied-embeddings", &[]),
            ("mini-batch", &["64"]),
            ("after-batches", &["300"]),
            ("optimizer-params", &["0.9", "0.98", "1e-9"]),
            ("learn-rate", if is_recurrent { &["0.01"] } else { &["0.005"] }),
            ("lr-warmup", &["20"]),
            ("lr-decay-inv-sqrt", &["50"]),
            ("max-length", &["200"]),
            ("normalize-gradient", &[]),
            ("clip-norm", &["5"]),
            ("valid-freq", &["300u"]),
            ("valid-metrics", &["ce-mean-words", "bleu"]),
            ("beam-size", &["1"]),
            ("valid-translation-output", &outputs),
        ]);
        options.extend_from_slice(architecture);
        let begin = std::time::Instant::now();
        let Run { log, .. } = place.run(&name.replace(' ', "-"), &options, false).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        let line =
            log.iter().find_map(|line| line.split_once("ce-mean-words : ")).expect("a value");
        let loss: f64 = line.1.split(' ').next().unwrap().parse().unwrap();
        let translations = std::fs::read_to_string(&output).unwrap();
        let equal = translations.lines().zip(wanted.lines()).filter(|(a, b)| a == b).count();
        println!("{name}: {loss} nats per token, {equal} of {PAIRS}, {seconds:.1} s");
        if loss > MAX_CROSS_ENTROPY || equal < MIN_EQUAL {
            failures.push(format!("{name}: {loss} nats per token, {equal} of {PAIRS}"));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
