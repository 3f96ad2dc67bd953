//! Models in the section `[rescore]` of an ini: one command gives what lists, scores and weights give
//! in four.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error};

pub const MODELS: &str = "[rescore]\nNeuralModel path=NEURAL\nNeuralModel path=NEURAL reverse=true\n\
                      NgramModel name=Again path=TOY/lm.arpa\n[rescore-n-best]\n20\n";
/// Against the first model, so that translations change.
pub const WEIGHTS: &str = "Neural0= -0.8\nReverse0= 0.3\nAgain= -0.05\n";

fn toy() -> PathBuf {
    project_root().join("examples/toy")
}

/// The ini of the toy system with further sections and weights, beside the models.
pub fn write_ini(path: &Path, sections: &str, weights: &str) {
    let toy = toy().display().to_string();
    let neural = project_root().join("examples/toy-neural").display().to_string();
    let text = fs::read_to_string(Path::new(&toy).join("moses.ini")).unwrap();
    let text = text.replace("path=", &format!("path={toy}/"));
    let (before, after) = text.split_once("[weight]\n").unwrap();
    let sections = sections.replace("NEURAL", &neural).replace("TOY", &toy);
    fs::write(path, format!("{before}{sections}[weight]\n{weights}{after}")).unwrap();
}

fn translate(ini: &Path, more: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["translate", "-quiet", "-f"]).arg(ini);
    command.arg("-i").arg(toy().join("input.txt")).args(more);
    command
}

/// The lines of an n-best list: number, text, features, total.
fn entries(list: &str) -> Vec<(String, String, Vec<f64>, f64)> {
    list.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(" ||| ").map(str::trim).collect();
            let values = fields[2].split(' ').filter_map(|word| word.parse().ok()).collect();
            (fields[0].into(), fields[1].into(), values, fields[3].parse().unwrap())
        })
        .collect()
}

#[test]
fn one_command_gives_the_translations_of_lists_scores_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, rescored, list, neural, all, weights, ranked, own] =
        ["plain.ini", "rescored.ini", "list", "neural", "all", "weights", "ranked", "own"]
            .map(|name| folder.path().join(name));
    write_ini(&plain, "", "");
    write_ini(&rescored, MODELS, WEIGHTS);
    // In four commands. Lists have an entry more than is asked for.
    run(translate(&plain, &["-n-best-list"]).arg(&list).args(["19", "distinct"]));
    let mut command = miriam();
    command.args(["nmt", "rescore", "-m"]).arg(project_root().join("examples/toy-neural"));
    command.arg("--reverse").arg(project_root().join("examples/toy-neural"));
    command.arg("--source").arg(toy().join("input.txt")).arg("--n-best").arg(&list);
    run(command.arg("-o").arg(&neural));
    let mut command = miriam();
    command.args(["lm", "rescore", "--features", "Again"]).arg(toy().join("lm.arpa"));
    run(command.arg("--n-best").arg(&neural).arg("-o").arg(&all));
    let shown = lossy_text(&run(&mut translate(&rescored, &["-show-weights"])));
    assert!(shown.ends_with("Neural0= -0.8\nReverse0= 0.3\nAgain= -0.05\n"), "{shown}");
    let tuned: Vec<&str> = shown.lines().filter(|line| line.contains("= ")).collect();
    fs::write(&weights, tuned.join("\n")).unwrap();
    let mut command = miriam();
    command.args(["rerank", "--write-lists", "-i"]).arg(&all).arg("-w").arg(&weights);
    run(command.arg("-o").arg(&ranked));
    // In one.
    let best = run(translate(&rescored, &["-n-best-list"]).arg(&own).args(["19", "distinct"]));
    assert_eq!(
        best,
        run(&mut translate(&rescored, &["-threads", "1"])),
        "the list changes nothing"
    );
    let [expected, found] = [&ranked, &own].map(|path| entries(&fs::read_to_string(path).unwrap()));
    assert_eq!(expected.len(), found.len());
    let mut moved = 0;
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected.0, found.0);
        // The penalty of unknown words, 100 each, is not in lists, but part of the totals of the
        // search.
        let apart = expected.3 - found.3;
        assert!((apart - 100.0 * (apart / 100.0).round()).abs() < 1e-2, "{expected:?} {found:?}");
        assert_eq!(expected.2.len(), found.2.len());
        // Entries whose totals are the same when printed may change places.
        if expected.1 == found.1 {
            for (a, b) in expected.2.iter().zip(&found.2) {
                assert!((a - b).abs() < 1e-2, "{expected:?} {found:?}");
            }
        } else {
            moved += 1;
        }
    }
    assert!(moved * 10 <= found.len(), "{moved} of {}", found.len());
    let best = lossy_text(&best);
    let without = lossy_text(&run(&mut translate(&plain, &[])));
    assert_ne!(best, without, "the models change translations");
    for (number, line) in best.lines().enumerate() {
        let first = found.iter().find(|entry| entry.0 == number.to_string()).unwrap();
        assert_eq!(line.trim(), first.1);
    }
}

#[test]
fn models_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let ini = folder.path().join("moses.ini");
    for (sections, weights, reason) in [
        (
            "[rescore]\nNeuralModel path=absent\n",
            "Neural0= 1\n",
            "Neural0 (absent): absent does not",
        ),
        ("[rescore]\nNeuralModel path=TOY/lm.arpa\n", "Neural0= 1\n", "[rescore]: Neural0 ("),
        ("[rescore]\nNgramModel path=TOY/phrase-table\n", "Ngram0= 1\n", "[rescore]: Ngram0 ("),
        ("[rescore]\nNeuralModel path=NEURAL\n", "", "Neural0 has no weights"),
        ("", "Neural0= 1\n", "no feature has the name Neural0"),
    ] {
        write_ini(&ini, sections, weights);
        let error = run_to_error(&mut translate(&ini, &[]));
        assert!(error.contains("moses.ini, [") && error.contains(reason), "{error}");
    }
}
