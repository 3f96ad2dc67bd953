//! Commands in the README and in pages for users: they run and print what the page shows.
//!
//! A command is a line `$ ...` in a `console` block; what follows it up to the
//! next command is its output. The two `cargo` commands are run by CI itself.

use std::process::Command;

use crate::common::{lossy_text, project_root, read_decompressed};

#[test]
fn commands_in_the_readme_print_what_it_shows() {
    check("README.md", 5);
}

#[test]
fn commands_in_the_page_on_language_models_print_what_it_shows() {
    check("docs/language-models.md", 18);
}

#[test]
fn commands_in_the_page_on_perplexity_print_what_it_shows() {
    check("docs/perplexity.md", 8);
}

#[test]
fn commands_in_the_page_on_translating_print_what_it_shows() {
    check("docs/translate.md", 8);
}

#[test]
fn commands_in_the_page_on_scaling_print_what_it_shows() {
    check("docs/scaling.md", 16);
}

#[test]
fn commands_in_the_page_on_packages_print_what_it_shows() {
    check("docs/packages.md", 3);
}

#[test]
fn commands_in_the_page_on_training_print_what_it_shows() {
    check("docs/train.md", 11);
}

#[test]
fn commands_in_the_page_on_raw_text_print_what_it_shows() {
    check("docs/text.md", 6);
}

#[test]
fn commands_in_the_page_on_combining_print_what_it_shows() {
    check("docs/combine.md", 18);
}

#[test]
fn commands_in_the_page_on_gpus_print_what_it_shows() {
    check("docs/gpu.md", 9);
}

#[test]
fn commands_in_the_page_on_neural_models_print_what_it_shows() {
    check("docs/models.md", 19);
}

#[test]
fn commands_in_the_page_on_neural_translation_print_what_it_shows() {
    check("docs/nmt.md", 8);
}

#[test]
fn commands_in_the_page_on_neural_training_print_what_it_shows() {
    check("docs/training-neural.md", 15);
}

#[test]
fn commands_in_the_page_on_students_print_what_it_shows() {
    check("docs/students.md", 10);
}

#[test]
fn commands_in_the_page_on_the_toy_neural_model_print_what_it_shows() {
    check("examples/toy-neural/README.md", 5);
}

/// Runs the commands of `page`, which has at least `least`, in a folder of their own.
fn check(page: &str, least: usize) {
    let page = lossy_text(&read_decompressed(&project_root().join(page)));
    let folder = tempfile::tempdir().unwrap();
    for inputs in ["examples", "nmt"] {
        let there = std::fs::canonicalize(project_root().join(inputs)).unwrap();
        std::os::unix::fs::symlink(there, folder.path().join(inputs)).unwrap();
    }
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_miriam"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut run = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for part in block.split("$ ").skip(1) {
            let (mut command, mut expected) = part.split_once('\n').unwrap_or((part, ""));
            let mut whole = command.to_owned();
            while let Some(start) = whole.strip_suffix('\\') {
                (command, expected) = expected.split_once('\n').unwrap();
                whole = format!("{start}{command}");
            }
            if whole.starts_with("cargo ") {
                continue;
            }
            let output = Command::new("bash")
                .args(["-ec", &whole])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env("MIRIAM_CACHE", folder.path().join("cache"))
                .output()
                .unwrap();
            assert!(output.status.success(), "{whole}\n{}", lossy_text(&output.stderr));
            let trimmed = |t: &str| t.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            if !expected.trim().is_empty() {
                assert_eq!(trimmed(&lossy_text(&output.stdout)), trimmed(expected), "{whole}");
            }
            run += 1;
        }
    }
    assert!(run >= least, "only {run} commands found");
}
