//! Right-to-left models of Marian: their results are those of a plain model with both sides of the
//! text reversed.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::Architecture;
use miriam_nmt::formats::marian::write_marian_model;

use crate::common::{lossy_text, miriam, project_root, run, run_with_input};

fn testdata(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

/// Writes the model of the test data as one that reads and writes from right to left.
fn write_backward_model(path: &Path) {
    let bundle = ModelBundle::open(&testdata("tiny.npz"), None).unwrap();
    let model = &bundle.models[0];
    let mut architecture = model.architecture().clone();
    let Architecture::Transformer(transformer) = &mut architecture else {
        panic!("the model is a transformer")
    };
    transformer.embeddings.right_to_left = true;
    write_marian_model(path, &architecture, |parameter| {
        model.parameter(&parameter.name).unwrap().values()
    })
    .unwrap();
}

/// Returns the lines with their words in reverse order.
fn reverse_words(text: &str) -> String {
    let reversed = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').rev().collect();
        words.join(" ") + "\n"
    });
    reversed.collect()
}

#[test]
fn translations_scores_and_alignments_are_mirrored() {
    let folder = tempfile::tempdir().unwrap();
    let backward = folder.path().join("backward.npz");
    write_backward_model(&backward);
    let plain = testdata("tiny.npz");
    let source = "w3 w4 w5 w6\nw7 w8\nw9 w10 w11 w12 w13\n";
    let vocabulary = testdata("tiny.vocab.yml");
    let command = |program: &[&str], model: &Path| {
        let mut command = miriam();
        command.args(program).args(["--quiet", "-m"]).arg(model);
        command.arg("-v").arg(&vocabulary).arg(&vocabulary);
        command
    };
    let options = ["nmt", "translate", "--n-best", "3", "-b", "3", "--alignment", "hard"];
    let list = |model: &Path, text: &str| {
        lossy_text(&run_with_input(&mut command(&options, model), text.as_bytes()).stdout)
    };
    let found = list(&backward, source);
    let expected = list(&plain, &reverse_words(source));
    assert_eq!(found.lines().count(), 9, "{found}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        let [found, expected] =
            [found, expected].map(|line| line.split(" ||| ").collect::<Vec<_>>());
        assert_eq!(found[1].trim(), reverse_words(expected[1]).trim(), "{found:?}");
        assert_eq!(found[3..], expected[3..], "scores: {found:?}");
        // Positions count from the other end; `</s>` stays where it is.
        let length = |text: &str| text.split_whitespace().count();
        let line: usize = found[0].trim().parse().unwrap();
        let lengths = [length(source.lines().nth(line).unwrap()), length(found[1])];
        let mut links: Vec<[usize; 2]> = expected[2]
            .split_whitespace()
            .map(|link| {
                let (source, target) = link.split_once('-').unwrap();
                let mut link = [source, target].map(|position| position.parse().unwrap());
                for (position, length) in link.iter_mut().zip(lengths) {
                    *position = if *position < length { length - 1 - *position } else { length };
                }
                link
            })
            .collect();
        links.sort_unstable();
        let links: Vec<String> = links.iter().map(|[s, t]| format!("{s}-{t}")).collect();
        let mut printed: Vec<&str> = found[2].split_whitespace().collect();
        let mut links: Vec<&str> = links.iter().map(String::as_str).collect();
        printed.sort_unstable();
        links.sort_unstable();
        assert_eq!(printed, links, "{found:?} {expected:?}");
    }

    let target = "w4 w5\nw6 w7 w8\nw3\n";
    let score = |model: &Path, source: &str, target: &str| {
        let [source, target] = [("source", source), ("target", target)].map(|(name, text)| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        });
        let mut command = command(&["nmt", "score"], model);
        lossy_text(&run(command.arg("--source").arg(source).arg("--target").arg(target)))
    };
    let mirrored = score(&plain, &reverse_words(source), &reverse_words(target));
    assert_eq!(score(&backward, source, target), mirrored);
    assert_ne!(score(&plain, source, target), mirrored);
}

/// Training reads both sides backwards, after lines that are too long have been cropped.
#[test]
fn training_is_that_of_reversed_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let toy = |name: &str| {
        let text = fs::read_to_string(project_root().join("examples/toy").join(name)).unwrap();
        text.split_inclusive('\n').take(60).collect::<String>()
    };
    // Lines are cropped to six words and `</s>`.
    let crop = |text: &str| {
        let cropped = text.lines().map(|line| {
            let words: Vec<&str> = line.split(' ').take(6).collect();
            words.join(" ") + "\n"
        });
        cropped.collect::<String>()
    };
    let [source, target] = ["train.en", "train.es"].map(toy);
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let texts = [file("a.en", &source), file("a.es", &target)];
    let reversed = [
        file("b.en", &reverse_words(&crop(&source))),
        file("b.es", &reverse_words(&crop(&target))),
    ];
    let vocabularies = [("en", &source), ("es", &target)].map(|(name, text)| {
        let path = folder.path().join(format!("{name}.yml"));
        let mut command = miriam();
        command.args(["nmt", "vocab", "--kind", "words", "--text"]);
        run(command.arg(file("text", text)).arg("-o").arg(&path));
        path
    });
    let train = |name: &str, texts: &[PathBuf; 2], options: &[&str]| {
        let model = folder.path().join(name);
        let mut command = miriam();
        command.args(["nmt", "train", "--quiet", "--log-level", "error", "-t"]).args(texts);
        command.arg("-v").args(&vocabularies).arg("-m").arg(&model);
        command.args(["--type", "s2s", "--dim-emb", "8", "--dim-rnn", "8", "--after", "6u"]);
        command.args(["--mini-batch", "20", "--seed", "3", "--shuffle", "none"]);
        command.args(["--max-length", "7", "--learn-rate", "0.05"]);
        run(command.args(options));
        model
    };
    let backward = train("backward.npz", &texts, &["--right-left", "--max-length-crop"]);
    let plain = train("plain.npz", &reversed, &[]);
    let score = |model: &Path, [source, target]: &[PathBuf; 2]| {
        let mut command = miriam();
        command.args(["nmt", "score", "--quiet", "--max-length", "7", "--max-length-crop", "-m"]);
        command.arg(model).arg("-v").args(&vocabularies);
        let scores = run(command.arg("--source").arg(source).arg("--target").arg(target));
        let scores = lossy_text(&scores);
        scores.lines().map(|line| line.parse().unwrap()).collect::<Vec<f64>>()
    };
    let (found, expected) = (score(&backward, &texts), score(&plain, &reversed));
    assert_eq!(found.len(), 60);
    for (found, expected) in found.iter().zip(&expected) {
        // Tokens are added up in the order of the text.
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
    assert_ne!(score(&plain, &texts), expected, "order matters");
}
