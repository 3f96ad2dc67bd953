//! `examples/toy-neural` is what the command of its page makes. What the page says of its
//! translations is checked with the other pages (`readme.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use miriam_nmt::checkpoint::Checkpoint;
use miriam_storage::LoadMethod;

use crate::common::{lossy_text, miriam, project_root, run};

const FOLDER: &str = "examples/toy-neural";

/// Returns the command of the page, run in the project's folder with another output folder and, if
/// `after` is given, with another end of training.
fn training(output: &Path, after: Option<&str>) -> Command {
    let page = fs::read_to_string(project_root().join(FOLDER).join("README.md")).unwrap();
    let (_, command) = page.split_once("    miriam nmt train ").expect("the page has the command");
    let command = command.split("\n\n").next().unwrap().replace('\\', "");
    let mut train = miriam();
    train.current_dir(project_root()).args(["nmt", "train", "--quiet"]);
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        train.arg(word);
        match (word, after) {
            ("-o", _) => {
                assert_eq!(words.next(), Some("toy-neural"));
                train.arg(output);
            }
            ("--after", Some(after)) => {
                words.next();
                train.arg(after);
            }
            _ => {}
        }
    }
    train
}

/// Returns the names, shapes and types of the tensors of a model file, and its options.
fn outline(path: &Path) -> (Vec<String>, String) {
    let model = Checkpoint::open(path, LoadMethod::Lazy).unwrap();
    let tensors = model.names().map(|name| format!("{name} {:?}", model.get(name).unwrap()));
    (tensors.collect(), lossy_text(model.options().expect("the options of the model")))
}

fn shipped(name: &str) -> PathBuf {
    project_root().join(FOLDER).join(name)
}

#[test]
fn the_command_of_the_page_begins_the_same_training() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("toy-neural");
    run(&mut training(&output, Some("1u")));
    for name in ["vocab.spm", "decoder.yml"] {
        assert!(fs::read(output.join(name)).unwrap() == fs::read(shipped(name)).unwrap(), "{name}");
    }
    assert_eq!(outline(&output.join("model.npz")), outline(&shipped("model.npz")));
    let sizes = ["decoder.yml", "model.npz", "vocab.spm"]
        .map(|name| fs::metadata(shipped(name)).unwrap().len());
    assert!(sizes.iter().sum::<u64>() < 800_000, "it is part of the binary: {sizes:?}");
}

#[test]
#[ignore = "minutes: the whole training"]
fn the_command_of_the_page_gives_the_bytes_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("toy-neural");
    run(&mut training(&output, None));
    for name in ["vocab.spm", "decoder.yml", "model.npz"] {
        assert!(fs::read(output.join(name)).unwrap() == fs::read(shipped(name)).unwrap(), "{name}");
    }
}
