//! Models in the section `[rescore]` of an ini: one command gives the result of separate commands,
//! which add scores to lists and sort them by weights.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error};

pub const MODELS: &str = "[rescore]\nNeuralModel path=NEURAL\nNeuralModel path=NEURAL reverse=true\n\
                      NgramModel name=Again path=TOY/lm.arpa\n[rescore-n-best]\n20\n";
/// Weights that count against the first model, so that translations change.
pub const WEIGHTS: &str = "Neural0= -0.8\nReverse0= 0.3\nAgain= -0.05\n";

fn toy() -> PathBuf {
    project_root().join("examples/toy")
}

/// Writes the ini of the toy system with further sections and weights, and with the paths of the
/// models.
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

/// Returns the lines of an n-best list: number, text, features, total.
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
fn one_command_gives_the_result_of_separate_commands() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, rescored, list, neural, all, weights, ranked, own] =
        ["plain.ini", "rescored.ini", "list", "neural", "all", "weights", "ranked", "own"]
            .map(|name| folder.path().join(name));
    write_ini(&plain, "", "");
    write_ini(&rescored, MODELS, WEIGHTS);
    // With separate commands. Lists have one entry more than requested.
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
    // With one command.
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

/// The values of an entry by name.
type Features = Vec<(String, Vec<f64>)>;

fn features(text: &str) -> Features {
    let mut found = Features::new();
    for word in text.split_whitespace() {
        match (word.strip_suffix('='), found.last_mut()) {
            (Some(name), _) => found.push((name.to_owned(), Vec::new())),
            (None, Some((_, values))) => values.push(word.parse().unwrap()),
            (None, None) => panic!("{text}"),
        }
    }
    found
}

fn value<'f>(features: &'f Features, name: &str) -> &'f [f64] {
    let (_, values) = features.iter().find(|(known, _)| known == name).expect(name);
    values
}

/// Returns the number, the text and the third field of each line of a list.
fn fields(path: &Path) -> Vec<(usize, String, String)> {
    let list = fs::read_to_string(path).unwrap();
    let lines = list.lines().map(|line| {
        let fields: Vec<&str> = line.split(" ||| ").map(str::trim).collect();
        (fields[0].parse().unwrap(), fields[1].to_owned(), fields[2].to_owned())
    });
    lines.collect()
}

/// Compares one command with the slow way: the translations of the phrase-based system and of the
/// neural model are put into one list, and a separate command adds each score.
#[test]
fn translations_of_a_neural_model_enter_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let [plain, combined, list, neural, pooled, lm, scored, all, own] =
        ["plain.ini", "combined.ini", "list", "neural", "pooled", "lm", "scored", "all", "own"]
            .map(|name| folder.path().join(name));
    let model = project_root().join("examples/toy-neural");
    let input = toy().join("input.txt");
    write_ini(&plain, "", "");
    let models = MODELS.replacen("path=NEURAL", "path=NEURAL candidates=6", 1);
    let weights = "Neural0= 0.4\nReverse0= 0.2\nAgain= 0.05\nNeural0Candidate= -0.3\n";
    write_ini(&combined, &models, weights);
    run(translate(&plain, &["-n-best-list"]).arg(&list).args(["19", "distinct"]));
    let mut command = miriam();
    command.args(["nmt", "translate", "--n-best", "-b", "6", "-m"]).arg(&model);
    run(command.arg("-i").arg(&input).arg("-o").arg(&neural));
    // Both in one list. A text that only the neural model produced gets the values of the search's
    // first entry for that sentence.
    let (found, others) = (fields(&list), fields(&neural));
    let mut lines = String::new();
    let mut added = Vec::new();
    for number in 0..=found.last().unwrap().0 {
        let by_search: Vec<_> = found.iter().filter(|entry| entry.0 == number).collect();
        for (_, text, values) in &by_search {
            lines += &format!("{number} ||| {text} ||| {values} ||| 0\n");
            added.push(false);
        }
        // Different pieces can form the same text, and an empty list of pieces is not a
        // translation.
        let mut texts: Vec<&str> = by_search.iter().map(|entry| &entry.1[..]).collect();
        for (_, text, _) in others.iter().filter(|entry| entry.0 == number) {
            if !text.is_empty() && !texts.contains(&&text[..]) {
                texts.push(text);
                lines += &format!("{number} ||| {text} ||| {} ||| 0\n", by_search[0].2);
                added.push(true);
            }
        }
    }
    let count = added.iter().filter(|&&added| added).count();
    assert!(count > 20 && count < added.len() / 2, "{count} of {}", added.len());
    fs::write(&pooled, lines).unwrap();
    let lm_scores = |names: &str, from: &Path, to: &Path| {
        let mut command = miriam();
        command.args(["lm", "rescore", "--features", names]).arg(toy().join("lm.arpa"));
        run(command.arg("--n-best").arg(from).arg("-o").arg(to));
    };
    lm_scores("Words", &pooled, &lm);
    let mut command = miriam();
    command.args(["nmt", "rescore", "-m"]).arg(&model).arg("--reverse").arg(&model);
    command.arg("--source").arg(&input).arg("--n-best").arg(&lm).arg("-o").arg(&scored);
    run(&mut command);
    lm_scores("Again", &scored, &all);
    let shown = lossy_text(&run(&mut translate(&combined, &["-show-weights"])));
    assert!(shown.ends_with(weights), "{shown}");
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains("= ")).collect();
    let weights = features(&lines.join(" "));
    let mut expected: Vec<(usize, String, Features, f64)> = Vec::new();
    for ((number, text, values), added) in fields(&all).into_iter().zip(added) {
        let mut values = features(&values);
        let words = value(&values, "Words")[0];
        values.retain(|(name, _)| name != "Words");
        for (name, values) in values.iter_mut().filter(|_| added) {
            match &name[..] {
                "LM0" => values[0] = words,
                "WordPenalty0" => values[0] = -(text.split(' ').count() as f64),
                _ => {}
            }
        }
        values.push(("Neural0Candidate".into(), vec![f64::from(u8::from(added))]));
        let products = values.iter().flat_map(|(name, values)| {
            values.iter().zip(value(&weights, name)).map(|(value, weight)| value * weight)
        });
        let total = products.sum();
        expected.push((number, text, values, total));
    }
    expected.sort_by(|a, b| (a.0, -a.3).partial_cmp(&(b.0, -b.3)).unwrap());
    // With one command.
    let best = run(translate(&combined, &["-n-best-list"]).arg(&own).args(["25", "distinct"]));
    assert_eq!(best, run(&mut translate(&combined, &["-threads", "1"])));
    assert_eq!(fields(&own).len(), expected.len(), "20 of the search, and all that are added");
    let totals = entries(&fs::read_to_string(&own).unwrap());
    let (mut shown, mut first) = (0, None);
    for ((number, text, values), (.., total)) in fields(&own).into_iter().zip(totals) {
        let rank = if first == Some(number) { shown + 1 } else { 0 };
        (first, shown) = (Some(number), rank);
        let of_sentence = || expected.iter().filter(|entry| entry.0 == number);
        // The penalty of unknown words, 100 each, is not in lists.
        let apart = of_sentence().nth(rank).unwrap().3 - total;
        assert!((apart - 100.0 * (apart / 100.0).round()).abs() < 1e-2, "{number} {text}");
        let (_, _, reference, _) = of_sentence().find(|entry| entry.1 == text).unwrap();
        let found = features(&values);
        assert_eq!(found.len(), reference.len());
        for (name, values) in &found {
            for (a, b) in values.iter().zip(value(reference, name)) {
                assert!((a - b).abs() < 1e-2, "{number} {text} {name}: {a} {b}");
            }
        }
    }
    let own = fs::read_to_string(&own).unwrap();
    let chosen = own.lines().filter(|line| line.contains("Neural0Candidate= 1")).count();
    assert!(chosen > 5, "{chosen}");
    let best = lossy_text(&best);
    let mut rest = own.lines();
    for (number, line) in best.lines().enumerate() {
        let first = rest.find(|entry| entry.starts_with(&format!("{number} |||"))).unwrap();
        assert_eq!(line.trim(), first.split(" ||| ").nth(1).unwrap().trim());
    }
    // In all other forms of output, an added translation is a single phrase.
    let traced = folder.path().join("details");
    let more = ["-t", "-print-alignment-info", "-translation-details"];
    let shown = lossy_text(&run(translate(&combined, &more).arg(&traced)));
    assert_eq!(shown.lines().count(), best.lines().count());
    assert!(fs::read_to_string(&traced).unwrap().contains("TRANSLATED AS:"));
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
        (
            "[rescore]\nNeuralModel path=NEURAL candidates=3\n",
            "Neural0= 1\n",
            "Neural0Candidate has no weights",
        ),
        ("[rescore]\nNgramModel path=TOY/phrase-table\n", "Ngram0= 1\n", "[rescore]: Ngram0 ("),
        ("[rescore]\nNeuralModel path=NEURAL\n", "", "Neural0 has no weights"),
        ("", "Neural0= 1\n", "no feature has the name Neural0"),
    ] {
        write_ini(&ini, sections, weights);
        let error = run_to_error(&mut translate(&ini, &[]));
        assert!(error.contains("moses.ini, [") && error.contains(reason), "{error}");
    }
}
