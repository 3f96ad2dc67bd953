//! `miriam nmt distill`: lists equal those of `nmt translate`, the selection equals that of a slow
//! implementation, killed runs end with the same bytes, and a student trains from the files.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
    run_with_input,
};

const LINES: usize = 60;

fn teacher() -> PathBuf {
    project_root().join("examples/toy-neural")
}

/// Writes the first lines of the toy corpus, an empty line among them, as source and target.
fn write_text(folder: &Path) -> [PathBuf; 2] {
    ["en", "es"].map(|language| {
        let text =
            read_decompressed(&project_root().join("examples/toy/train").with_extension(language));
        let mut lines: Vec<String> =
            lossy_text(&text).lines().take(LINES).map(str::to_owned).collect();
        lines[7].clear();
        let path = folder.join(format!("text.{language}"));
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    })
}

fn distill_command(text: &[PathBuf; 2], output: &Path) -> Command {
    let mut command = miriam();
    command.args(["nmt", "distill", "--quiet", "-m"]).arg(teacher());
    command.arg("--source").arg(&text[0]).arg("--reference").arg(&text[1]).arg("-o").arg(output);
    command.args(["-b", "4", "--part-lines", "10", "--metric", "marian", "--task", "toy"]);
    command
}

/// Returns the n-best list of `nmt translate`.
fn list_of_translate(source: &Path) -> String {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-b", "4", "--normalize", "--n-best", "-m"]);
    lossy_text(&run(command.arg(teacher()).arg("-i").arg(source)))
}

/// Returns the BLEU of a sentence as Marian's recipe for students defines it.
fn slow_bleu(reference: &str, hypothesis: &str) -> f64 {
    let [reference, hypothesis]: [Vec<&str>; 2] =
        [reference, hypothesis].map(|text| text.split_whitespace().collect());
    let mut product = 1.0;
    for order in 1..=4 {
        let mut counts: HashMap<&[&str], i64> = HashMap::new();
        reference.windows(order).for_each(|ngram| *counts.entry(ngram).or_default() += 1);
        let (mut matched, mut possible) = (0, 0);
        for ngram in hypothesis.windows(order) {
            possible += 1;
            let left = counts.entry(ngram).or_default();
            *left -= 1;
            matched += i64::from(*left >= 0);
        }
        if possible == 0 {
            return 0.0;
        }
        product *= (matched + 1) as f64 / (possible + 1) as f64;
    }
    let ratio = reference.len() as f64 / hypothesis.len() as f64;
    let penalty = if hypothesis.len() > reference.len() { 1.0 } else { (1.0 - ratio).exp() };
    penalty * f64::powf(product, 0.25)
}

/// Returns the first of the best translations of each sentence.
fn slow_selection(list: &str, references: &str) -> Vec<String> {
    let mut best: Vec<(f64, String)> = Vec::new();
    let references: Vec<&str> = references.lines().collect();
    for line in list.lines() {
        let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
        let number: usize = fields[0].parse().unwrap();
        let score = slow_bleu(references[number], fields[1]);
        match best.get_mut(number) {
            None => best.push((score, fields[1].to_owned())),
            Some(entry) if score > entry.0 => *entry = (score, fields[1].to_owned()),
            Some(_) => {}
        }
    }
    best.into_iter().map(|(_, text)| text).collect()
}

/// Returns the contents of all files of a folder by their names, without those that contain times.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            all.extend(
                files(&path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)),
            );
        } else if !["train.json", "train.lock"].contains(&&name[..]) {
            all.insert(name, std::fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn a_training_set_is_what_translate_and_a_slow_selection_give() {
    let folder = tempfile::tempdir().unwrap();
    let text = write_text(folder.path());
    let output = folder.path().join("distilled");
    run(distill_command(&text, &output).args(["--threads", "2"]));
    let list = list_of_translate(&text[0]);
    let parts: Vec<u8> = (0..LINES / 10)
        .flat_map(|part| read_decompressed(&output.join(format!("n-best/{part:06}.zst"))))
        .collect();
    assert_eq!(lossy_text(&parts), list);
    let source = read_decompressed(&output.join("train.source.gz"));
    assert_eq!(source, std::fs::read(&text[0]).unwrap());
    let references = std::fs::read_to_string(&text[1]).unwrap();
    let expected = slow_selection(&list, &references);
    let target = lossy_text(&read_decompressed(&output.join("train.target.gz")));
    assert_eq!(target.lines().collect::<Vec<_>>(), expected);
    let mut firsts: Vec<String> = Vec::new();
    for line in list.lines() {
        let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
        if fields[0].parse::<usize>().unwrap() == firsts.len() {
            firsts.push(fields[1].to_owned());
        }
    }
    assert_ne!(firsts, expected, "some translation is not the first");
    // Selection from this list alone gives the same, in any compression.
    let plain = folder.path().join("list");
    std::fs::write(&plain, &list).unwrap();
    let compressed = folder.path().join("list.zst");
    std::fs::write(&compressed, zstd::encode_all(list.as_bytes(), 1).unwrap()).unwrap();
    for list in [&plain, &compressed] {
        let best = folder.path().join("best");
        let mut command = miriam();
        command.args(["nmt", "distill", "--metric", "marian", "--n-best"]).arg(list);
        run(command.arg("--reference").arg(&text[1]).arg("-o").arg(&best));
        assert_eq!(std::fs::read_to_string(&best).unwrap(), target);
        let mut command = miriam();
        command.args(["nmt", "distill", "--plain", "--n-best-list"]).arg(list);
        run(command.arg("-o").arg(&best));
        assert_eq!(std::fs::read_to_string(&best).unwrap().lines().collect::<Vec<_>>(), firsts);
    }
    // A second run has nothing to do, nor has one with another number of threads.
    let before = files(&output);
    let again = run_with_input(&mut distill_command(&text, &output), b"");
    assert!(lossy_text(&again.stderr).contains("0 of 7 stages"), "{}", lossy_text(&again.stderr));
    assert_eq!(files(&output), before);
    let other = run_with_input(distill_command(&text, &output).args(["--threads", "1"]), b"");
    assert!(lossy_text(&other.stderr).contains("0 of 7 stages"), "threads change nothing");
    // A student trains from it, and translates with the shortlist.
    let student = folder.path().join("student");
    let mut command = miriam();
    command.args(["nmt", "train", "--quiet", "--after", "2u", "--dim-emb", "16", "-c"]);
    run(command.arg(output.join("train.yml")).arg("-o").arg(&student));
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]).arg(&student);
    command.arg("--shortlist").arg(output.join("lex.s2t.gz")).args(["20", "20"]);
    let translated = run_with_input(&mut command, b"the farmers are not tired .\n");
    assert_eq!(translated.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
}

/// Runs are killed after some of the parts, and during the stages after translation.
#[test]
fn a_killed_run_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let text = write_text(folder.path());
    let whole = folder.path().join("whole");
    run(&mut distill_command(&text, &whole));
    let expected = files(&whole);
    assert!(expected.contains_key("alignment.gz") && !expected.contains_key("distill.work"));
    let output = folder.path().join("killed");
    let mut kills = 0;
    for wanted in [
        "n-best/teacher.json",
        "n-best/000000.zst",
        "n-best/000002.zst",
        "n-best/000005.zst",
        "train.target.gz",
        "distill.work/pieces.target",
        "alignment.gz",
    ] {
        let mut command = distill_command(&text, &output);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let deadline = Instant::now() + Duration::from_secs(120);
        let ended = loop {
            if output.join(wanted).exists() {
                break None;
            }
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            assert!(Instant::now() < deadline, "{wanted} does not come");
            std::thread::sleep(Duration::from_millis(1));
        };
        match ended {
            Some(status) => assert!(status.success()),
            None => {
                let _ = child.kill();
                kills += usize::from(!child.wait().unwrap().success());
            }
        }
        // The files that exist are complete: the same as in the run that was not killed.
        for (name, bytes) in files(&output) {
            let is_work = name.starts_with("distill.work") || name.contains(".partial");
            assert!(is_work || expected.get(&name) == Some(&bytes), "{wanted}: {name}");
        }
    }
    assert!(kills >= 3, "{kills} runs were killed");
    run(&mut distill_command(&text, &output));
    assert_eq!(files(&output).keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(files(&output), expected);
}

#[test]
fn original_pairs_and_plain_translations() {
    let folder = tempfile::tempdir().unwrap();
    let text = write_text(folder.path());
    let output = folder.path().join("both");
    let mut command = miriam();
    command.args(["nmt", "distill", "--quiet", "--plain", "-b", "2", "--add-original", "-m"]);
    command.arg(teacher()).arg("--source").arg(&text[0]).arg("--reference").arg(&text[1]);
    run(command.args(["--alignments", "none", "-o"]).arg(&output));
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-b", "2", "--normalize", "-m"]);
    let best = lossy_text(&run(command.arg(teacher()).arg("-i").arg(&text[0])));
    let [source, reference] = [0, 1].map(|side| std::fs::read_to_string(&text[side]).unwrap());
    let side = |name: &str| lossy_text(&read_decompressed(&output.join(name)));
    assert_eq!(side("train.source.gz"), source.repeat(2));
    assert_eq!(side("train.target.gz"), best + &reference);
    let yaml = std::fs::read_to_string(output.join("train.yml")).unwrap();
    assert!(!output.join("alignment.gz").exists() && !yaml.contains("guided-alignment"), "{yaml}");
    assert!(yaml.contains("dec-cell: ssru"), "{yaml}");
}

#[test]
fn wrong_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = write_text(folder.path());
    let output = folder.path().join("out");
    // Another search in the same folder.
    run(distill_command(&text, &output).args(["--alignments", "none"]));
    let mut command = distill_command(&text, &output);
    let arguments: Vec<_> = command.get_args().map(|a| a.to_owned()).collect();
    command = miriam();
    command.args(arguments.iter().map(|a| if a == "4" { "3".as_ref() } else { &**a }));
    let error = run_to_error(&mut command);
    assert!(error.contains("beam-size, n-best") && error.contains("n-best: the"), "{error}");
    std::fs::remove_file(output.join("n-best/teacher.json")).unwrap();
    std::fs::remove_file(output.join("n-best/000003.zst")).unwrap();
    let error = run_to_error(&mut distill_command(&text, &output));
    assert!(error.contains("teacher.json") && error.contains("missing"), "{error}");
    // Texts of different lengths.
    let short = folder.path().join("short.es");
    std::fs::write(&short, "uno\n").unwrap();
    let new = folder.path().join("new");
    let error = run_to_error(&mut distill_command(&[text[0].clone(), short.clone()], &new));
    assert!(error.contains("text.en has 60 lines") && error.contains("short.es has 1"), "{error}");
    // Texts for validation are checked before anything is translated.
    let dev = [text[0].to_str().unwrap(), short.to_str().unwrap()];
    let mut command = distill_command(&text, &new);
    let error = run_to_error(command.args(["--dev-source", dev[0], "--dev-target", dev[1]]));
    assert!(error.contains("short.es has 1:"), "{error}");
    assert!(!new.join("n-best").exists(), "the teacher has not begun");
    let list = folder.path().join("list");
    std::fs::write(&list, "0 ||| uno ||| 1\n1 ||| dos ||| 1\n").unwrap();
    let select = |list: &Path, reference: &Path| {
        let mut command = miriam();
        command.args(["nmt", "distill", "--n-best"]).arg(list).arg("--reference").arg(reference);
        run_to_error(command.arg("-o").arg(folder.path().join("best")))
    };
    let error = select(&list, &short);
    assert!(error.contains("short.es") && error.contains("fewer lines"), "{error}");
    assert!(!folder.path().join("best").exists(), "nothing is half written");
    std::fs::write(&list, "0 ||| uno ||| 1\nuno\n").unwrap();
    let error = select(&list, &text[1]);
    assert!(
        error.contains("line 2") && error.contains("expected an entry of an n-best list"),
        "{error}"
    );
    for wrong in [
        &["-m", "x", "--source", "y", "-o", "z"][..],
        &["--plain", "-o", "z"],
        &["--n-best", "x", "--metric", "chrf", "-o", "z"],
        &["--n-best", "x", "--plain", "-m", "y", "-o", "z"],
        &["--plain", "--metric", "chrf", "--n-best", "x", "-o", "z"],
        &["--plain", "-m", "x", "-o", "z"],
        &["--metric", "meteor", "-o", "z"],
        &["--n-best", "x", "--plain", "-b", "4", "-o", "z"],
        &["--n-best", "x", "--plain", "--reference", "y", "-o", "z"],
    ] {
        let error = run_to_usage_error(miriam().args(["nmt", "distill"]).args(wrong));
        assert!(!error.is_empty(), "{wrong:?}");
    }
}
