//! The programs in `examples/`, called as functions on the toy models.

use std::path::{Path, PathBuf};

use miriam_textio::{Input, Output};

use crate::common::project_root;

// The `main` of each example, which only parses arguments, is dead code here.
#[allow(dead_code)]
#[path = "../examples/build_phrase_table.rs"]
mod build_phrase_table;
#[allow(dead_code)]
#[path = "../examples/score_lines.rs"]
mod score_lines;
#[allow(dead_code)]
#[path = "../examples/train_neural.rs"]
mod train_neural;
#[allow(dead_code)]
#[path = "../examples/translate_neural.rs"]
mod translate_neural;
#[allow(dead_code)]
#[path = "../examples/translate_phrases.rs"]
mod translate_phrases;

fn example_path(name: &str) -> PathBuf {
    project_root().join("examples").join(name)
}

fn run(example: impl FnOnce(&mut Vec<u8>) -> Result<(), Box<dyn std::error::Error>>) -> String {
    let mut output = Vec::new();
    example(&mut output).unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn a_moses_system_translates() {
    let text = &b"the red house is big .\n"[..];
    let written =
        run(|out| translate_phrases::translate(&example_path("toy/moses.ini"), text, out));
    // The score that `translate -output-hypo-score` prints.
    assert_eq!(written, "-6.375\tla casa roja es grande .\n");
}

#[test]
fn a_language_model_scores() {
    let text = &b"la casa roja xyz\n"[..];
    let written = run(|out| score_lines::score(&example_path("toy/lm.arpa"), text, out));
    // KenLM's `query` says -7.4588537.
    assert_eq!(written, "-7.4589\t1 unknown\tla casa roja xyz\n");
}

#[test]
fn a_phrase_table_is_built_and_queried() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("toy.pt");
    let words = ["the", "red", "house"].map(str::to_owned);
    let text = example_path("toy/phrase-table");
    let written = run(|out| build_phrase_table::build_and_look_up(&text, &table, &words, out));
    let lines: Vec<&str> = written.lines().collect();
    assert!(lines[0].ends_with("source phrases"), "{written}");
    // The most probable of the six translations of "the" that the text table has.
    assert!(lines.contains(&"the -> el (0.439)"), "{written}");
}

#[test]
fn a_neural_model_translates() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("output");
    let text = &b"the old doctor buys two red apples .\n"[..];
    let text = Input::from_reader(text, "text", None).unwrap();
    let writer = Output::create(&output).unwrap();
    translate_neural::translate(&example_path("toy-neural"), text, writer).unwrap();
    let translation = std::fs::read_to_string(&output).unwrap();
    assert_eq!(translation, "el médico viejo compra dos manzanas rojas .\n");
}

#[test]
fn a_neural_model_is_trained_and_opens() {
    let folder = tempfile::tempdir().unwrap();
    let sides =
        ["toy/dev.en", "toy/dev.es"].map(|name| example_path(name).to_str().unwrap().to_owned());
    let model = train_neural::train(&sides[0], &sides[1], folder.path(), "2u").unwrap();
    assert!(model.join("model.npz").is_file());
    let output = folder.path().join("output");
    let text = Input::from_reader(&b"the red house\n"[..], "text", None).unwrap();
    let writer = Output::create(&output).unwrap();
    translate_neural::translate(&model, text, writer).unwrap();
    assert_eq!(std::fs::read_to_string(&output).unwrap().lines().count(), 1);
}

/// Each example is linked in examples/README.md.
#[test]
fn the_page_lists_all_examples() {
    let folder = example_path("");
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = Path::new(path.file_name().unwrap()).display().to_string();
            assert!(page.contains(&format!("({name})")), "{name} is missing in examples/README.md");
            count += 1;
        }
    }
    assert_eq!(count, 5);
}
