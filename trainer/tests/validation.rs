//! Tests of the log, the state and the files of validations.

use std::path::Path;
use std::sync::Arc;

use miriam_metrics::bleu::Smoothing;
use miriam_metrics::{Bleu, corpus_score, corpus_statistics};
use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::translate::{
    SourceText, Tokenizer, TokenizerScratch, TranslationOptions, Translator,
};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};
use miriam_trainer::train_from_text::TrainingRequest;
use miriam_trainer::training::Outcome;

use crate::workplace::{SOURCE, TARGET, Workplace, hash, run_request};

/// Returns the logged values of validations.
fn validations(log: &[String], metric: &str) -> Vec<f64> {
    let lines = log.iter().filter(|line| line.starts_with("[valid]"));
    let values = lines.filter_map(|line| line.split_once(&format!(" : {metric} : ")));
    values.map(|(_, rest)| rest.split(" : ").next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_model_is_validated_once() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let options: [(&str, &[&str]); 5] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["perplexity"]),
        ("valid-freq", &["1e"]),
        ("after-batches", &["0"]),
        ("after", &["2e"]),
    ];
    let (_, log) = place.log("model", &options).unwrap();
    assert_eq!(validations(&log, "perplexity").len(), 2, "{log:?}");
    assert!(!log.iter().any(|line| line.contains("stalled")), "{log:?}");
}

/// The third line of the source is empty.
#[test]
fn cross_entropies_count_lines_with_an_empty_side() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let options: [(&str, &[&str]); 3] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["ce-sum", "cross-entropy"]),
        ("valid-freq", &["4u"]),
    ];
    let (_, log) = place.log("model", &options).unwrap();
    let [sum, mean] = ["ce-sum", "cross-entropy"].map(|metric| validations(&log, metric)[0]);
    let sentences = sum / mean;
    assert!((sentences - SOURCE.lines().count() as f64).abs() < 0.01, "{sentences}");
    // A set without any pair of words is an error.
    let blank = place.write("blank", "\n\n");
    let error = place.log("blank-model", &[("valid-sets", &[&blank, &blank])]).unwrap_err();
    assert!(error.contains("blank: no line pair has words on both sides"), "{error}");
}

#[test]
fn validation_forgets_what_it_is_told_to() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    // An unchanged model stalls from the second validation on.
    let options: [(&str, &[&str]); 6] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["perplexity"]),
        ("valid-freq", &["1u"]),
        ("learn-rate", &["0"]),
        ("early-stopping", &["2"]),
        ("after-batches", &["50"]),
    ];
    let train = |reset: &str| {
        let mut all = options.to_vec();
        all.extend((!reset.is_empty()).then_some((reset, &["true"][..])));
        let (outcome, log) = place.log("model", &all).unwrap();
        (outcome, validations(&log, "perplexity").len())
    };
    assert_eq!(train(""), (Outcome::EarlyStopped, 3));
    assert_eq!(train(""), (Outcome::AlreadyFinished, 0));
    assert_eq!(train("valid-reset-stalled"), (Outcome::EarlyStopped, 2));
    // Without a best value, the first value is the best.
    assert_eq!(train("valid-reset-all"), (Outcome::EarlyStopped, 3));
}

#[test]
fn scores_do_not_depend_on_the_file_of_translations() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let train = |model: &str, output: &str| {
        let output = place.text(output);
        let options: [(&str, &[&str]); 6] = [
            ("valid-sets", &[&source, &target]),
            ("valid-metrics", &["chrf"]),
            ("valid-freq", &["4u"]),
            ("beam-size", &["2"]),
            ("valid-translation-output", &[&output]),
            ("after-batches", &["40"]),
        ];
        let (_, log) = place.log(model, &options).unwrap();
        *validations(&log, "chrf").last().unwrap()
    };
    let plain = train("plain", "plain.txt");
    assert!(plain > 0.0, "{plain}");
    assert_eq!(train("packed", "at-{U}-{E}-{T}.gz"), plain);
    let file = std::fs::read_dir(&place.folder).unwrap().find_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // 40 updates, with three per epoch.
        name.starts_with("at-40-14-").then_some(name)
    });
    let file = file.expect("the names of templates are filled in");
    let mut lines = Lines::new(Input::open(&place.path(&file)).unwrap());
    let mut text = String::new();
    while let Some(line) = lines.next().unwrap() {
        text += std::str::from_utf8(line.bytes).unwrap();
        text += "\n";
    }
    assert_eq!(text, std::fs::read_to_string(place.path("plain.txt")).unwrap());
}

#[test]
fn segmented_bleu_is_computed_on_pieces() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let vocabulary = place.text("joint.spm");
    // Repeat the text, so that there is enough for pieces.
    let many = |text: &str| text.repeat(20);
    let training =
        [place.write("many.source", &many(SOURCE)), place.write("many.target", &many(TARGET))];
    let output = place.text("translations");
    let options: [(&str, &[&str]); 8] = [
        ("train-sets", &[&training[0], &training[1]]),
        ("vocabs", &[&vocabulary, &vocabulary]),
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["bleu", "bleu-segmented"]),
        ("valid-freq", &["60u"]),
        ("beam-size", &["1"]),
        ("valid-translation-output", &[&output]),
        ("after-batches", &["60"]),
    ];
    let request = place.request("model", &options).unwrap();
    // The pieces are letters and the mark of the beginning of a word.
    let (_, log) = run_request(&TrainingRequest { vocab_size: Some(10), ..request }).unwrap();
    let [bleu, segmented] =
        ["bleu", "bleu-segmented"].map(|metric| *validations(&log, metric).last().unwrap());
    // The command for translation prints the pieces of the same translations.
    let vocabulary = Path::new(&vocabulary);
    let bundle = ModelBundle::open(&place.path("model.npz"), Some([vocabulary; 2])).unwrap();
    let tokenizers = bundle.tokenizers.clone().unwrap();
    let mut translation = TranslationOptions::for_bundle(&bundle, None);
    translation.search.beam_size = 1;
    translation.output.as_pieces = true;
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let translator = Translator::new(bundle, translation, &tuner).unwrap();
    let text =
        SourceText { lines: Lines::new(Input::open(Path::new(&source)).unwrap()), prefixes: None };
    let pieces = place.path("pieces");
    let stop = CancellationToken::new();
    translator
        .translate(text, false, Output::create(&pieces).unwrap(), &stop, &NoProgress, &mut |_| {
            Ok(())
        })
        .unwrap();
    let translated: Vec<String> =
        std::fs::read_to_string(pieces).unwrap().lines().map(str::to_owned).collect();
    let side = Tokenizer::new(&tokenizers, 1);
    let mut scratch = TokenizerScratch::default();
    let references: Vec<String> = TARGET
        .lines()
        .map(|line| {
            let pieces = side.encode(line.as_bytes(), &mut scratch);
            let words: Vec<_> = (0..pieces.len())
                .map(|index| std::str::from_utf8(pieces.get(index).unwrap()).unwrap().to_owned())
                .collect();
            words.join(" ")
        })
        .collect();
    let metric = Bleu {
        tokenizer: miriam_metrics::Tokenizer::None,
        smoothing: Smoothing::None,
        ..Bleu::default()
    };
    let statistics = corpus_statistics(&metric, &translated, &[references]).unwrap();
    let expected = corpus_score(&metric, &statistics, 1).value;
    assert!((segmented - expected).abs() < 1e-6, "{segmented} {expected}");

    // Text in pieces trains the same model and has the same values.
    let in_pieces = |name: &str| {
        let mut line = String::new();
        let side = Tokenizer::new(&tokenizers, usize::from(name.ends_with("target")));
        for text in std::fs::read_to_string(place.path(name)).unwrap().lines() {
            let pieces = side.encode(text.as_bytes(), &mut TokenizerScratch::default());
            for index in 0..pieces.len() {
                line.push_str(std::str::from_utf8(pieces.get(index).unwrap()).unwrap());
                line.push(' ');
            }
            line.push('\n');
        }
        place.write(&format!("pieces.{name}"), &line)
    };
    let texts = [["many.source", "many.target"], ["source", "target"]];
    let texts = texts.map(|names| names.map(&in_pieces));
    let sets = texts.each_ref().map(|names| names.each_ref().map(String::as_str));
    let mut options = options.to_vec();
    (options[0].1, options[2].1) = (&sets[0], &sets[1]);
    options.push(("no-spm-encode", &["true"]));
    let (_, pieces_log) = run_request(&place.request("pieces-model", &options).unwrap()).unwrap();
    assert_eq!(validations(&pieces_log, "bleu"), validations(&log, "bleu"));
    assert_eq!(validations(&pieces_log, "bleu-segmented"), validations(&log, "bleu-segmented"));
    assert_eq!(hash(&place.path("pieces-model.npz")), hash(&place.path("model.npz")));
    assert!((segmented - bleu).abs() > 1e-3, "pieces are not words: {segmented} {bleu}");
}
