//! Models that are given to the wrong command: the message says what the file is and which
//! command takes it. Also warnings about texts and vocabularies, and suggestions for misspelt
//! options.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

/// Writes models of several kinds; returns a function from the name of a file to its path.
fn write_models(folder: &Path) -> impl Fn(&str) -> PathBuf {
    let toy = project_root().join("examples/toy");
    for name in ["moses.ini", "phrase-table", "reordering-table", "lm.arpa"] {
        fs::copy(toy.join(name), folder.join(name)).unwrap();
    }
    let folder = folder.to_owned();
    let build = |arguments: &[&str]| {
        run(miriam().current_dir(&folder).args(arguments));
    };
    build(&["pt", "build", "--phrase-table", "phrase-table", "-o", "table.miriam"]);
    build(&["lm", "build", "lm.arpa", "-o", "lm.kenlm", "--type", "kenlm-probing"]);
    build(&["lm", "build", "lm.arpa", "-o", "lm.miriam"]);
    fs::create_dir(folder.join("neural")).unwrap();
    fs::write(folder.join("neural/decoder.yml"), "models:\n  - model.npz\n").unwrap();
    move |name| folder.join(name)
}

#[test]
fn every_command_says_what_the_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let model = write_models(folder.path());
    let error = |arguments: &[&str], name: &str| {
        run_to_error(miriam().args(arguments).arg(model(name)).stdin(std::process::Stdio::null()))
    };
    let phrase_system = "miriam translate -f";
    let neural = "miriam nmt translate -m";
    let scaling = ["bench", "scaling", "-i", "/dev/null", "-o", "scaling", "--config"];
    let cases: [(&[&str], &str, &str, &str); 12] = [
        (&scaling, "neural/decoder.yml", "a neural model", neural),
        (
            &["tune", "--source", "/dev/null", "--reference", "/dev/null", "-o", "o", "-f"],
            "neural",
            "a neural model",
            neural,
        ),
        (
            &["pt", "build", "-o", "binary", "--config"],
            "lm.arpa",
            "n-gram language",
            "miriam lm query",
        ),
        (&["nmt", "translate", "-m"], "moses.ini", "moses.ini of a phrase-based", phrase_system),
        (&["nmt", "translate", "-m"], ".", "folder of a phrase-based", phrase_system),
        (&["nmt", "info"], "lm.miriam", "n-gram language model", "miriam lm query"),
        (&["translate", "-f"], "table.miriam", "a phrase table", "miriam pt query"),
        (&["translate", "-f"], "neural/decoder.yml", "a neural model", neural),
        (&["translate", "-f"], "neural", "a neural model", neural),
        (&["lm", "query"], "table.miriam", "a phrase table", "miriam pt query"),
        (&["lm", "perplexity"], "moses.ini", "moses.ini of a phrase-based", phrase_system),
        (&["verify"], "lm.kenlm", "n-gram language model", "miriam lm query"),
    ];
    for (arguments, name, what, command) in cases {
        let message = error(arguments, name);
        assert!(message.contains(what) && message.contains(command), "{arguments:?}: {message}");
    }
    // A file that is not a model gets the message of the format that was expected.
    fs::write(model("text"), "neither\n").unwrap();
    let message = error(&["lm", "query"], "text");
    assert!(!message.contains("miriam nmt") && !message.contains("miriam translate"), "{message}");
}

/// Zero bytes come from UTF-16 text, as here, or from a model that is given as text.
#[test]
fn text_with_zero_bytes_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let model = write_models(folder.path());
    let text = model("utf-16");
    let utf_16: Vec<u8> = "a house\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&text, utf_16).unwrap();
    let neural = project_root().join("examples/toy-neural");
    let commands: [(&[&str], &Path); 4] = [
        (&["translate", "-f"], &model("moses.ini")),
        (&["nmt", "translate", "-m"], &neural),
        (&["lm", "perplexity"], &model("lm.arpa")),
        (&["lm", "query"], &model("lm.arpa")),
    ];
    for (arguments, model) in commands {
        let output = miriam().args(arguments).arg(model).arg("-i").arg(&text).output().unwrap();
        let warnings = lossy_text(&output.stderr);
        assert!(warnings.contains("utf-16: the input has zero bytes"), "{arguments:?}: {warnings}");
    }
    let commands: [(&[&str], &[&str]); 5] = [
        (&["train", "-o", "phrase-system"], &["--source", "--target"]),
        (&["nmt", "train", "--dry-run", "-o", "neural-model"], &["--source", "--target"]),
        (&["nmt", "vocab", "--size", "50", "-o", "vocab.spm"], &["--text"]),
        (&["align", "-o", "links"], &["--source", "--target"]),
        (&["evaluate", "-i", "utf-16"], &["--reference"]),
    ];
    for (arguments, texts) in commands {
        let mut command = miriam();
        command.args(arguments).current_dir(folder.path());
        command.args(texts.iter().flat_map(|option| [*option, "utf-16"]));
        let warnings = lossy_text(&command.output().unwrap().stderr);
        assert!(warnings.contains("utf-16: the input has zero bytes"), "{arguments:?}: {warnings}");
    }
}

#[test]
fn misspelt_options_of_the_decoder_get_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let model = write_models(folder.path());
    for (given, meant) in [
        ("-nbest-list", "-n-best-list"),
        ("-nbest", "-n-best-list"),
        ("-tokenise", "-tokenize"),
        ("--treads", "--threads"),
    ] {
        let mut command = miriam();
        command.args(["translate", given, "10", "-f"]).arg(model("moses.ini"));
        let output = command.output().unwrap();
        let message = lossy_text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(&format!("did you mean {meant}?")), "{message}");
    }
    let mut command = miriam();
    command.args(["translate", "-xyz", "-f"]).arg(model("moses.ini"));
    let message = lossy_text(&command.output().unwrap().stderr);
    let expected = "miriam: -xyz is unknown; `miriam translate --help` lists all options";
    assert_eq!(message.trim_end(), expected);
    let mut command = miriam();
    command.args(["translate", "-m", "model.npz", "-f"]).arg(model("moses.ini"));
    let message = lossy_text(&command.output().unwrap().stderr);
    assert!(message.contains("-mark-unknown") && message.contains("--help"), "{message}");
    assert!(message.len() < 200, "{message}");
}

/// Marian may cut a vocabulary, so a vocabulary with too many pieces is not an error.
#[test]
fn a_vocabulary_larger_than_the_model_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let vocabulary = folder.path().join("large.spm");
    let mut make = miriam();
    make.args(["nmt", "vocab", "--kind", "sentencepiece-unigram", "--size", "1200", "--text"]);
    run(make.arg(toy.join("train.en")).arg(toy.join("train.es")).arg("-o").arg(&vocabulary));
    let mut translate = miriam();
    translate.args(["nmt", "translate", "-m"]);
    translate.arg(project_root().join("examples/toy-neural/model.npz"));
    let log = lossy_text(
        &run_with_input(translate.arg("--vocabs").arg(&vocabulary), b"a house .\n").stderr,
    );
    let warning = "the vocabulary has 1200 pieces, the model's table has 1000 rows; is this";
    assert_eq!(log.matches(warning).count(), 1, "{log}");
}

/// An empty text is not an error, because pipelines may have one, but a warning says that it is
/// empty.
#[test]
fn empty_texts_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let model = write_models(folder.path());
    let empty = model("empty");
    fs::write(&empty, "").unwrap();
    let log = |command: &mut Command| lossy_text(&run_with_input(command, b"").stderr);
    let text = log(miriam().args(["lm", "perplexity"]).arg(model("lm.miriam")));
    assert!(text.contains("the text is empty"), "{text}");
    let text = log(miriam().args(["align", "--source"]).arg(&empty).arg("--target").arg(&empty));
    assert!(text.contains("there is nothing to align"), "{text}");
}
