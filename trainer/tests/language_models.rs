//! Tests of language models that are trained on one text. They model it better than counts of its
//! words and bigrams do, and are the same for any number of workers and after an interruption.

use std::collections::HashMap;
use std::path::Path;

use miriam_nmt::ModelBundle;
use miriam_nmt::network::Network;
use miriam_nmt::packed::Precision;

use crate::workplace::Workplace;

/// Returns sentences of random words between two words of a pair. The last word of a sentence
/// depends on the first word, which no bigram sees.
fn framed_text(lines: usize) -> String {
    let mut random = 7_u32;
    let mut below = |most: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) % most
    };
    let mut text = String::new();
    for _ in 0..lines {
        let [first, last] = [["a", "b"], ["c", "d"], ["e", "f"]][below(3) as usize];
        let inner: Vec<&str> =
            (0..1 + below(3)).map(|_| ["x", "y", "z"][below(3) as usize]).collect();
        text += &format!("{first} {} {last}\n", inner.join(" "));
    }
    text
}

/// Returns the cross-entropy per token of a text, `</s>` included, by the counts of its own words
/// (order 1) or bigrams (order 2). No model of that order can be better on this text.
fn least_cross_entropy(text: &str, order: usize) -> f64 {
    let mut counts: HashMap<(&str, &str), f64> = HashMap::new();
    let mut contexts: HashMap<&str, f64> = HashMap::new();
    for line in text.lines() {
        let words = line.split(' ').chain(["</s>"]);
        let before = ["<s>"].into_iter().chain(line.split(' '));
        for (word, before) in words.zip(before) {
            let context = if order == 1 { "" } else { before };
            *counts.entry((context, word)).or_default() += 1.0;
            *contexts.entry(context).or_default() += 1.0;
        }
    }
    let sum: f64 = counts.iter().map(|((c, _), count)| -count * (count / contexts[c]).ln()).sum();
    sum / contexts.values().sum::<f64>()
}

/// Returns the cross-entropy per token of a text by a trained model.
fn cross_entropy(place: &Workplace, model: &str, text: &str) -> f64 {
    let (path, vocabulary) = (place.path(&format!("{model}.npz")), place.path("text.yml"));
    let bundle = ModelBundle::open(&path, Some([&vocabulary; 2].map(Path::new))).unwrap();
    assert!(bundle.is_language_model());
    let network = Network::load(&bundle.models[0], &path, Precision::F32).unwrap();
    let words = &bundle.tokenizers.as_ref().unwrap().vocabularies[1];
    let id = |word: &str| words.find(word.as_bytes()).unwrap();
    let sentences = text
        .lines()
        .map(|line| line.split(' ').map(id).chain([words.eos_id()]).collect::<Vec<u32>>());
    let sentences: Vec<Vec<u32>> = sentences.collect();
    let targets: Vec<&[u32]> = sentences.iter().map(Vec::as_slice).collect();
    let scores = network.scorer().unwrap().score(&vec![&[][..]; targets.len()], &targets).unwrap();
    let tokens: usize = targets.iter().map(|target| target.len()).sum();
    -scores.iter().flatten().map(|&score| f64::from(score)).sum::<f64>() / tokens as f64
}

/// Trains a language model of this type on the text of the workplace.
fn train(place: &Workplace, name: &str, kind: &str, more: &[(&str, &[&str])]) -> u64 {
    let (text, vocabulary) = (place.text("text"), place.text("text.yml"));
    let (sets, vocabularies) = ([&text[..]], [&vocabulary[..]]);
    let mut options: Vec<(&str, &[&str])> = vec![
        ("type", std::slice::from_ref(&kind)),
        ("train-sets", &sets),
        ("vocabs", &vocabularies),
        ("dim-emb", &["16"]),
        ("dim-rnn", &["24"]),
        ("transformer-dim-ffn", &["32"]),
        ("mini-batch", &["32"]),
        ("learn-rate", &["0.02"]),
    ];
    options.extend_from_slice(more);
    place.train(name, &options).unwrap().0
}

#[test]
fn language_models_beat_bigrams() {
    let place = Workplace::new();
    let text = framed_text(300);
    place.write("text", &text);
    let [unigrams, bigrams] = [1, 2].map(|order| least_cross_entropy(&text, order));
    assert!(bigrams < unigrams);
    for kind in ["lm-transformer", "lm"] {
        let valid = place.text("text");
        let validation: [(&str, &[&str]); 3] = [
            ("valid-sets", &[&valid]),
            ("valid-freq", &["100"]),
            ("valid-metrics", &["perplexity", "ce-mean-words"]),
        ];
        let more = [&validation[..], &[("after-batches", &["300"])]].concat();
        train(&place, kind, kind, &more);
        let found = cross_entropy(&place, kind, &text);
        assert!(found < bigrams - 0.05, "{kind}: {found}, {bigrams} by bigrams");
        // The validation scored the same text with the same model.
        let progress = std::fs::read_to_string(place.path(&format!("{kind}.npz.progress.yml")));
        let progress = progress.unwrap();
        let best =
            progress.split("ce-mean-words").nth(1).and_then(|rest| rest.split("last-best:").nth(1));
        let best: f64 = best.unwrap().split_whitespace().next().unwrap().parse().unwrap();
        assert!(best < bigrams && best > found - 0.05, "{kind}: {best}, {found}");
    }
}

#[test]
fn resumed_language_models_are_the_same_to_the_bit() {
    let place = Workplace::new();
    place.write("text", &framed_text(100));
    for kind in ["lm-transformer", "lm"] {
        let dropout = if kind == "lm" { "dropout-rnn" } else { "transformer-dropout" };
        let train = |name: &str, updates: &str, workers: &str| {
            let more: [(&str, &[&str]); 4] = [
                (dropout, &["0.1"]),
                ("after-batches", &[updates]),
                ("workers", &[workers]),
                ("mini-batch-words", &["60"]),
            ];
            train(&place, &format!("{name}-{kind}"), kind, &more)
        };
        let whole = train("whole", "9", "1");
        assert_eq!(train("workers", "9", "3"), whole, "{kind}");
        train("parts", "5", "1");
        assert_eq!(train("parts", "9", "2"), whole, "{kind}");
    }
}

#[test]
fn wrong_numbers_of_files_are_rejected() {
    let place = Workplace::new();
    place.write("text", &framed_text(10));
    let (text, other) = (place.text("text"), place.text("source"));
    for (name, values, expected) in [
        ("train-sets", &[&text[..], &text][..], "--train-sets: 2 files; a language model has one"),
        ("valid-sets", &[&text, &text], "--valid-sets: 2 files; a language model has one"),
        ("vocabs", &[&text, &other], "--vocabs: a language model has one"),
        ("dim-vocabs", &["5", "6"], "--dim-vocabs: a language model has one vocabulary"),
    ] {
        let vocabulary = place.text("text.yml");
        let (sets, vocabularies) = ([&text[..]], [&vocabulary[..]]);
        let options: [(&str, &[&str]); 4] = [
            ("type", &["lm-transformer"]),
            ("train-sets", &sets),
            ("vocabs", &vocabularies),
            (name, values),
        ];
        let error = place.train("wrong", &options).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
}
