//! Errors of `miriam nmt train`: wrong options, unsuitable texts, and folders and models of other
//! training runs.

use std::fs;

use miriam_nmt::checkpoint::{Checkpoint, NpzWriter};
use miriam_storage::LoadMethod;

use crate::common::{
    lossy_text, miriam, output_with_input, run, run_to_error, run_to_usage_error, run_with_input,
};
use crate::nmt_train::Corpus;

/// The folder of a phrase-based system is left alone, and a missing option is a usage error.
#[test]
fn the_folder_of_a_phrase_based_system_is_rejected() {
    let corpus = Corpus::new(20);
    fs::create_dir(corpus.path("phrases")).unwrap();
    fs::write(corpus.path("phrases/moses.ini"), "[feature]\n").unwrap();
    let error = run_to_error(&mut corpus.train("phrases", "--after 1u"));
    assert!(error.contains("moses.ini: this folder contains a phrase-based system"), "{error}");
    let error = run_to_usage_error(miriam().args(["nmt", "train", "-o"]).arg(corpus.path("new")));
    assert!(error.contains("--train-sets (or --source and --target) is needed"), "{error}");
}

/// The vocabulary and the training would both read the text. A vocabulary of the other side may be
/// missing.
#[test]
fn a_vocabulary_is_not_made_from_a_pipe() {
    let corpus = Corpus::new(20);
    let text = fs::read(corpus.path("train.en")).unwrap();
    let mut vocab = miriam();
    vocab.args(["nmt", "vocab", "-o"]).arg(corpus.path("en.yml")).arg("--text");
    run(vocab.arg(corpus.path("train.en")));
    let train = |output: &str, more: &[&str]| {
        let mut command = miriam();
        command.current_dir(corpus.path("")).args(["nmt", "train", "-o", output, "--after", "1u"]);
        command.args(["--source", "/dev/stdin", "--target", "train.es"]).args(more);
        command
    };
    let sides = "--type s2s --dim-emb 8 --dim-rnn 8 --vocabs en.yml es.yml";
    let sides: Vec<&str> = sides.split(' ').collect();
    run_with_input(&mut train("sides", &sides), &text);
    assert!(corpus.path("es.yml").is_file());
    let output = output_with_input(&mut train("model", &[]), &text);
    let message = lossy_text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("[config] /dev/stdin: it can be read only once"), "{message}");
    assert!(message.contains("cannot be made from /dev/stdin"), "{message}");
}

#[test]
fn unknown_and_unsupported_options_are_named() {
    let corpus = Corpus::new(20);
    let unknown = corpus.train("model", "--dim-embb 3").output().unwrap();
    let message = lossy_text(&unknown.stderr);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(message.contains("'--dim-embb'") && message.contains("'--dim-emb'"), "{message}");
    let refuse = |options: &str| run_to_usage_error(&mut corpus.train("model", options));
    // A file that cannot be read as options is not a usage error.
    fs::write(corpus.path("train.yml"), "dim-embb: 3\n").unwrap();
    let error = run_to_error(&mut corpus.train("model", "-c train.yml"));
    assert!(error.contains("train.yml: dim-embb") && error.contains("--dim-emb?"), "{error}");
    fs::write(corpus.path("train.yml"), "alibi: true\n").unwrap();
    assert!(refuse("-c train.yml").contains("--alibi: "));
    for (options, name) in [
        ("--unlikelihood-loss", "--unlikelihood-loss: it is not implemented"),
        (
            "--async-sgd --quantize-aware i8",
            "--quantize-aware: it works only in synchronous training",
        ),
        ("--dropout-rnn 0.2", "--dropout-rnn: "),
        ("--fp16", "--fp16: CPUs do not train in float16; --precision bf16 needs no scaling"),
        ("--valid-metrics accuracy", "--valid-metrics: accuracy: "),
        ("--valid-metrics valid-script", "valid-script needs --valid-script-path"),
        ("--mini-batch-fit --workspace much", "--workspace: "),
        ("--clip-norm-per token", "--clip-norm-per: expected sum or words, found \"token\""),
        ("--dynamic-gradient-scaling 0", "--dynamic-gradient-scaling: "),
        ("--valid-freq 5x", "--valid-freq: \"5x\""),
        ("--optimizer-delay 0.4", "--optimizer-delay: "),
        ("--transformer-dropout 1.5", "--transformer-dropout: 1.5"),
        ("--mini-batch -3", "--mini-batch: \"-3\""),
        ("--valid-metrics blue", "--valid-metrics: unknown metric \"blue\""),
        ("--vocabs one.spm", "--vocabs: expected two files"),
        ("-m model.bin", "--model: model.bin"),
    ] {
        let error = refuse(options);
        assert!(error.contains(name), "{options}: {error}");
    }
    // A value that is invalid only for this architecture.
    let error = run_to_error(&mut corpus.train("model", "--transformer-heads 3"));
    assert!(error.contains("heads"), "{error}");
    assert!(!corpus.path("model").exists(), "options are looked at first");
    // Options that are off in a configuration are accepted; an option without effect is named once.
    fs::write(corpus.path("train.yml"), "dropout-rnn: 0\nasync-sgd: false\nworkspace: 9000\n")
        .unwrap();
    let options = "-c train.yml --after 2u --vocab-size 100 --sync-sgd";
    let output = corpus.train("model", options).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert_eq!(log.matches("has no effect").count(), 2, "{log}");
    assert_eq!(log.matches("--workspace has no effect: ").count(), 1, "{log}");
}

#[test]
fn unsuitable_text_is_rejected() {
    let corpus = Corpus::new(20);
    let refuse = |options: &str| run_to_error(&mut corpus.train("model", options));
    let write = |name: &str, text: &str| fs::write(corpus.path(name), text).unwrap();
    let train = fs::read_to_string(corpus.path("train.es")).unwrap();
    let short: String = train.split_inclusive('\n').take(19).collect();
    write("train.es", &short);
    let error = refuse("");
    let [source, target] = ["train.en has 20 lines, ", "train.es has 19: "];
    assert!(error.contains(source) && error.contains(target), "{error}");
    assert!(!corpus.path("model/vocab.spm").exists(), "no vocabulary of a wrong text is left");
    write("train.es", "");
    write("train.en", "");
    assert!(refuse("").contains("train.e"));
    // Only the targets are too long, but no pair is left to train on.
    write("train.en", &"a b\n".repeat(20));
    write("train.es", &train);
    let error = refuse("--vocab-size 60 --max-length 5");
    assert!(error.contains("no line pair"), "{error}");
    assert!(error.contains("--max-length"), "{error}");
    write("dev.en", "a\nb\n");
    let error = refuse("--vocab-size 60 --dev-source dev.en --dev-target dev.es");
    assert!(error.contains("dev.en has 2 lines, ") && error.contains("dev.es has "), "{error}");
    let error = refuse("--dev-source missing.en --dev-target dev.es");
    assert!(error.contains("missing.en"), "{error}");
    fs::create_dir(corpus.path("folder.en")).unwrap();
    let error = refuse("--vocab-size 60 --dev-source folder.en --dev-target dev.es");
    assert!(error.contains("folder.en"), "{error}");
    write("dev.en", "");
    write("dev.es", "");
    let error = refuse("--vocab-size 60 --dev-source dev.en --dev-target dev.es");
    assert!(error.contains("dev.en"), "{error}");
    assert_eq!(corpus.names("model"), ["vocab.spm"], "no other file is written");
}

#[test]
fn another_training_is_not_resumed() {
    let corpus = Corpus::new(60);
    run(&mut corpus.train("model", "--after 3u"));
    let files = corpus.files("model");
    let decoder = || fs::read(corpus.path("model/decoder.yml")).unwrap();
    let before = decoder();
    let refuse = |options: &str| {
        let error = run_to_error(&mut corpus.train("model", &format!("--after 6u {options}")));
        assert!(error.contains("model.npz.optimizer.npz: ") && error.contains("folder"), "{error}");
        assert!(corpus.files("model") == files, "{options}");
        assert!(decoder() == before, "{options}");
        error
    };
    for (options, what) in [
        ("--seed 9", "--seed was 1, now it is 9"),
        ("--learn-rate 0.5", "--learn-rate was 0.01, now it is 0.5"),
        ("--max-length 20", "corpus"),
        ("--max-length-crop", "--max-length-crop was false"),
        ("--dim-emb 32", "--dim-emb was 16, now it is 32"),
        ("--optimizer adagrad --optimizer-params 1e-8", "--optimizer was adam"),
        ("--dim-vocabs 150 150", "vocabularies"),
        ("--beam-size 3 --seed 2", "--seed"),
    ] {
        let error = refuse(options);
        assert!(error.contains(what), "{options}: {error}");
    }
    let text = fs::read_to_string(corpus.path("train.en")).unwrap();
    fs::write(corpus.path("train.en"), text.replacen("the", "a", 1)).unwrap();
    assert!(refuse("").contains("the corpus has changed"));
    fs::write(corpus.path("train.en"), text).unwrap();
    // The vocabulary is not made again: a message says that another size has no effect.
    let output = corpus.train("model", "--after 6u --vocab-size 100").output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success() && log.contains("--vocab-size 100 has no effect"), "{log}");
    fs::remove_file(corpus.path("model/vocab.spm")).unwrap();
    let error = run_to_error(&mut corpus.train("model", "--after 9u --vocab-size 100"));
    assert!(error.contains("the vocabularies have changed"), "{error}");
}

#[test]
fn a_pretrained_model_with_nan_is_rejected() {
    let corpus = Corpus::new(60);
    run(&mut corpus.train("model", "--after 3u"));
    let model = corpus.path("model/model.npz");
    let vocabulary = "model/vocab.spm model/vocab.spm";
    let begin = |output: &str| {
        let options = format!("--after 5u --vocabs {vocabulary} --pretrained-model");
        let mut command = corpus.train(output, &options);
        command.arg(corpus.path("start.npz"));
        command
    };
    fs::copy(&model, corpus.path("start.npz")).unwrap();
    run(&mut begin("sound"));
    // The vocabulary is in another folder, and the command may run in any.
    let dev = fs::read(corpus.path("dev.en")).unwrap();
    let mut translate = miriam();
    translate.args(["nmt", "translate", "--quiet", "-m"]).arg(corpus.path("sound"));
    let translated = lossy_text(&run_with_input(&mut translate, &dev).stdout);
    assert_eq!(translated.lines().count(), 12);
    let checkpoint = Checkpoint::open(&model, LoadMethod::Lazy).unwrap();
    let mut writer = NpzWriter::create(&corpus.path("start.npz")).unwrap();
    let special = checkpoint.options().expect("options of the model");
    for name in checkpoint.names().filter(|name| !name.starts_with("special:")) {
        let tensor = checkpoint.get(name).unwrap();
        let mut values = tensor.values().to_vec();
        if name == "encoder_l1_ffn_W1" {
            values[7] = f32::NAN;
        }
        writer.add_f32(name, tensor.shape(), &values).unwrap();
    }
    writer.add_bytes("special:model.yml", special).unwrap();
    writer.finish().unwrap();
    let error = run_to_error(&mut begin("broken"));
    assert!(error.contains("start.npz: damaged: encoder_l1_ffn_W1: a weight is NaN"), "{error}");
    assert!(!corpus.path("broken/model.npz").exists());
    // A vocabulary of another size, and a vocabulary that is elsewhere.
    fs::copy(&model, corpus.path("start.npz")).unwrap();
    let error = run_to_error(begin("other").args(["--dim-vocabs", "150", "150"]));
    assert!(error.contains("start.npz: ") && error.contains("vocabularies"), "{error}");
    let mut translate = miriam();
    translate.args(["nmt", "translate", "--quiet", "-m"]).arg(corpus.path("sound"));
    assert!(lossy_text(&run_with_input(&mut translate, b"a b\n").stdout).ends_with('\n'));
}
