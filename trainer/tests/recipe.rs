//! Tests of training from files and standard input: annotations of pairs, the forms of text,
//! dropout, and changes of case.

use std::io::Write;

use crate::workplace::{LINKS, SOURCE, TARGET, Workplace, hash};

/// Returns the sum of losses and its divisor.
fn cost_and_count(line: &str) -> (f64, f64) {
    let (cost, count) = line.split_once(" * ").unwrap();
    (cost.parse().unwrap(), count.replace(',', "").parse().unwrap())
}

#[test]
fn attention_is_trained_towards_alignments() {
    let place = Workplace::new();
    let links = place.text("links");
    let epoch: [(&str, &[&str]); 2] = [("after-batches", &["3"]), ("disp-freq", &["3"])];
    let (plain, plain_cost) = place.train("plain", &epoch).unwrap();
    let guided = |name: &str, weight: &str| {
        let options: [(&str, &[&str]); 4] = [
            ("guided-alignment", &[&links]),
            ("guided-alignment-weight", &[weight]),
            epoch[0],
            epoch[1],
        ];
        place.train(name, &options).unwrap()
    };
    let (aligned, aligned_cost) = guided("aligned", "2");
    assert_ne!(plain, aligned);
    // Links count as well, multiplied by their weight: 16 links, and one between both </s> in each
    // of the seven pairs whose source is not empty.
    let (_, tokens) = cost_and_count(&plain_cost);
    let (_, both) = cost_and_count(&aligned_cost);
    assert_eq!(both, tokens + 2.0 * 23.0, "{plain_cost} {aligned_cost}");
    let (zero, zero_cost) = guided("zero", "0");
    assert_eq!((zero, zero_cost), (plain, plain_cost));
}

#[test]
fn alignments_that_do_not_fit_are_named() {
    let place = Workplace::new();
    let links = place.write("wrong", &LINKS.replacen("0-0 1-1\n", "0-0 2-1\n", 1));
    let error = place.train("wrong", &[("guided-alignment", &[&links])]).unwrap_err();
    assert!(error.contains("wrong, line 2, field 2") && error.contains("pieces"), "{error}");
    // In tab-separated text, the error has the number of the tab-separated field.
    let lines = SOURCE.lines().zip(TARGET.lines());
    let lines: String = lines.map(|(from, to)| format!("{from}\t{to}\t0-9\n")).collect();
    let tsv = place.write("wrong.tsv", &lines);
    let options = [("train-sets", &[&tsv[..]][..]), ("tsv", &[]), ("guided-alignment", &["2"])];
    let error = place.train("wrong", &options).unwrap_err();
    assert!(error.contains("wrong.tsv, line 1, field 3: \"0-9\""), "{error}");
    let links = place.write("short", "0-0\n");
    let error = place.train("wrong", &[("guided-alignment", &[&links])]).unwrap_err();
    assert!(error.contains("short has 1:"), "{error}");
}

#[test]
fn losses_are_weighted() {
    let place = Workplace::new();
    let weighted = |name: &str, scope: &str, weights: &str| {
        let file = place.write(&format!("{name}.weights"), weights);
        place.train(name, &[("data-weighting", &[&file]), ("data-weighting-type", &[scope])])
    };
    let (plain, plain_cost) = place.train("plain", &[]).unwrap();
    let words_with_weight = |weight: &str| -> String {
        let line = |line: &str| {
            let count = line.split_whitespace().count() + 1;
            vec![weight; count].join(" ") + "\n"
        };
        TARGET.lines().map(line).collect()
    };
    assert_eq!(weighted("one", "sentence", &"1\n".repeat(8)).unwrap().0, plain);
    assert_eq!(weighted("ones", "word", &words_with_weight("1")).unwrap().0, plain);
    let (half, half_cost) = weighted("half", "sentence", &"0.5\n".repeat(8)).unwrap();
    assert_eq!(
        weighted("halves", "word", &words_with_weight("0.5")).unwrap(),
        (half, half_cost.clone())
    );
    // Adam's steps hardly depend on the scale, so the loss is about half.
    let ([all, half], [tokens, same]) = {
        let (all, half) = (cost_and_count(&plain_cost), cost_and_count(&half_cost));
        ([all.0, half.0], [all.1, half.1])
    };
    assert!((half / all - 0.5).abs() < 0.01 && tokens == same, "{plain_cost} {half_cost}");
    let error = weighted("few", "word", &"1 1\n".repeat(8)).unwrap_err();
    assert!(error.contains("few.weights, line 1") && error.contains("expected 4"), "{error}");
}

#[test]
fn changed_annotations_are_rejected_when_training_is_resumed() {
    let place = Workplace::new();
    let file = place.write("weights", &"0.5\n".repeat(8));
    place.train("model", &[("data-weighting", &[&file])]).unwrap();
    place.write("weights", &"0.25\n".repeat(8));
    let error = place.train("model", &[("data-weighting", &[&file])]).unwrap_err();
    assert!(error.contains("the corpus has changed"), "{error}");
    let links = place.text("links");
    let weight = |weight| {
        let options: [(&str, &[&str]); 2] =
            [("guided-alignment", &[&links]), ("guided-alignment-weight", &[weight])];
        place.train("aligned", &options)
    };
    weight("0.5").unwrap();
    assert!(
        weight("0.25").unwrap_err().contains("guided-alignment-weight"),
        "updates depend on it"
    );
}

#[test]
fn fields_of_one_file_train_as_separate_files() {
    let place = Workplace::new();
    let pairs = || SOURCE.lines().zip(TARGET.lines());
    let plain: String = pairs().map(|(source, target)| format!("{source}\t{target}\n")).collect();
    let plain = place.write("plain.tsv", &plain);
    let all: String = (pairs().zip(LINKS.lines()))
        .map(|((source, target), links)| format!("{links}\t{source}\t{target}\t0.5\n"))
        .collect();
    let all = place.write("all.tsv", &all);
    let (links, weights) = (place.text("links"), place.write("weights", &"0.5\n".repeat(8)));
    let tsv = place.train("tsv", &[("train-sets", &[&plain]), ("tsv", &[])]);
    assert_eq!(tsv, place.train("pair", &[]));
    let fields: [(&str, &[&str]); 5] = [
        ("train-sets", &[&all]),
        ("tsv", &["true"]),
        ("tsv-fields", &["4"]),
        ("guided-alignment", &["0"]),
        ("data-weighting", &["3"]),
    ];
    let files: [(&str, &[&str]); 2] =
        [("guided-alignment", &[&links]), ("data-weighting", &[&weights])];
    assert_eq!(place.train("fields", &fields), place.train("files", &files));
    let valid: [(&str, &[&str]); 4] = [
        ("train-sets", &[&plain]),
        ("valid-sets", &[&plain]),
        ("tsv", &["true"]),
        ("valid-metrics", &["ce-sum"]),
    ];
    assert!(place.train("validated", &valid).is_ok());
    std::fs::remove_file(place.path("source.yml")).unwrap();
    let error = place.train("none", &[("train-sets", &[&plain]), ("tsv", &[])]).unwrap_err();
    assert!(error.contains("source.yml") && error.contains("miriam nmt vocab"), "{error}");
}

/// The environment variable that gives the test's folder to a child process of the test below.
const CHILD: &str = "MIRIAM_TRAINER_TEST_FOLDER";

#[test]
fn standard_input_is_one_epoch_in_its_order() {
    let lines: String = SOURCE
        .lines()
        .zip(TARGET.lines())
        .map(|(source, target)| format!("{source}\t{target}\n"))
        .collect();
    let tsv = ("tsv", &["true"][..]);
    // More than an epoch is requested; sentences are not sorted, so their order matters.
    let limit = ("after-batches", &["50"][..]);
    let unsorted = [("maxi-batch", &["1"][..]), ("maxi-batch-sort", &["none"])];
    if let Some(folder) = std::env::var_os(CHILD) {
        let place = Workplace { folder: folder.into(), _temporary: None };
        place
            .train("stdin", &[("train-sets", &["stdin"]), tsv, limit, unsorted[0], unsorted[1]])
            .unwrap();
        return;
    }
    let place = Workplace::new();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "recipe::standard_input_is_one_epoch_in_its_order"])
        .env(CHILD, &place.folder)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let file = place.write("tsv", &lines);
    let epoch: [(&str, &[&str]); 7] = [
        ("train-sets", &[&file]),
        tsv,
        limit,
        unsorted[0],
        unsorted[1],
        ("after-epochs", &["1"]),
        ("shuffle", &["batches"]),
    ];
    let (from_file, _) = place.train("file", &epoch).unwrap();
    assert_eq!(hash(&place.path("stdin.npz")), from_file);
    let (shuffled, _) = place.train("shuffled", &epoch[..6]).unwrap();
    assert_ne!(shuffled, from_file, "the order matters");
}

#[test]
fn recurrent_dropout_applies_only_to_recurrent_models() {
    let place = Workplace::new();
    let dropout = ("dropout-rnn", &["0.2"][..]);
    let recurrent = [("type", &["s2s"][..]), ("dim-rnn", &["6"])];
    let (plain, _) = place.train("plain", &recurrent).unwrap();
    let (dropped, _) = place.train("dropped", &[recurrent[0], recurrent[1], dropout]).unwrap();
    assert_ne!(plain, dropped);
    let error = place.train("transformer", &[dropout]).unwrap_err();
    assert!(error.contains("--dropout-rnn") && error.contains("--transformer-dropout"), "{error}");
    let (plain, _) = place.train("words", &[("dropout-src", &["0"])]).unwrap();
    for side in ["dropout-src", "dropout-trg"] {
        assert_ne!(place.train(side, &[(side, &["0.3"])]).unwrap().0, plain, "{side}");
    }
}

#[test]
fn some_lines_are_trained_in_another_case() {
    let place = Workplace::new();
    let links = place.text("links");
    let (plain, _) = place.train("plain", &[]).unwrap();
    let caps = ("all-caps-every", &["3"][..]);
    // The capitalised words are not in the vocabularies, so the model is trained on unknown tokens.
    assert_ne!(place.train("caps", &[caps]).unwrap().0, plain);
    let title = ("english-title-case-every", &["2"][..]);
    assert_ne!(place.train("title", &[title]).unwrap().0, plain);
    assert_eq!(place.train("off", &[("all-caps-every", &["0"])]).unwrap().0, plain);
    assert!(place.train("aligned", &[caps, ("guided-alignment", &[&links])]).is_ok());
    let weights = ("data-weighting", &[&links[..]][..]);
    let words = ("data-weighting-type", &["word"][..]);
    let error = place.train("weighted", &[caps, weights, words]).unwrap_err();
    assert!(error.contains("--data-weighting-type: "), "{error}");
}
