//! `miriam rerank`: the weights of a system give its own order back; errors name line and field.

use std::fs;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
};

/// With the weights of the ini, a list is in the order of the decoder, with the same totals up to
/// rounding in print. If the sign of one weight is reversed, the order is different.
#[test]
fn the_weights_of_a_system_give_its_order_back() {
    let toy = project_root().join("examples/toy");
    let folder = tempfile::tempdir().unwrap();
    let [list, weights, ranked] =
        ["system.list.gz", "weights", "ranked.zst"].map(|name| folder.path().join(name));
    let mut command = miriam();
    command
        .args(["translate", "-f"])
        .arg(toy.join("moses.ini"))
        .arg("-i")
        .arg(toy.join("input.txt"));
    let best = run(command.arg("-n-best-list").arg(&list).args(["10", "distinct"]));
    let ini = fs::read_to_string(toy.join("moses.ini")).unwrap();
    let section = ini.split_once("[weight]\n").unwrap().1.split("\n[").next().unwrap();
    let lines = |skip: &str| {
        let lines = section.lines().filter(|line| !line.starts_with(skip)).map(str::to_owned);
        lines.collect::<Vec<_>>().join("\n")
    };
    fs::write(&weights, lines("UnknownWordPenalty")).unwrap();
    let mut command = miriam();
    command.args(["rerank", "--write-lists", "-i"]).arg(&list).arg("-w").arg(&weights);
    run(command.arg("-o").arg(&ranked));
    let [before, after] = [&list, &ranked].map(|path| {
        let text = lossy_text(&read_decompressed(path));
        let entries = text.lines().map(|line| {
            let (entry, total) = line.rsplit_once(" ||| ").unwrap();
            (entry.to_owned(), total.parse::<f64>().unwrap())
        });
        entries.collect::<Vec<_>>()
    });
    assert_eq!(before.len(), after.len());
    for ((_, old), (entry, new)) in before.iter().zip(&after) {
        // Moses does not write the feature of unknown words, 100 for each.
        let difference = (old - new).rem_euclid(100.0);
        assert!(difference.min(100.0 - difference) < 1e-3, "{old} {new} {entry}");
    }
    let mut command = miriam();
    command.args(["rerank", "-i"]).arg(&list).arg("-w").arg(&weights);
    let text = lossy_text(&run(&mut command));
    let trimmed = |text: &str| text.lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&text), trimmed(&lossy_text(&best)));
    fs::write(&weights, lines("UnknownWordPenalty").replace("LM0= ", "LM0= -")).unwrap();
    assert_ne!(lossy_text(&run(&mut command)), text);
}

#[test]
fn what_does_not_fit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let [list, weights] = ["list", "weights"].map(|name| folder.path().join(name));
    let entries = "0 ||| a ||| LM0= -1 TM0= 1 2 ||| 0\n0 ||| b ||| LM0= -1 TM0= 1 ||| 0\n";
    fs::write(&list, entries).unwrap();
    fs::write(&weights, "LM0= 1\nTM0= 1 1\n").unwrap();
    let mut command = miriam();
    command.args(["rerank", "-i"]).arg(&list).arg("--weights").arg(&weights);
    let error = run_to_error(&mut command);
    assert!(error.contains("line 2, field 3: a value of feature \"TM0\" is missing"), "{error}");
    fs::write(&weights, "LM0= 1\nTM0= 1 one\n").unwrap();
    let error = run_to_error(&mut command);
    assert!(error.contains("line 2: expected a weight, a finite number, found \"one\""), "{error}");
    fs::write(&weights, "LM0= 1\n").unwrap();
    let error = run_to_usage_error(&mut command);
    assert!(error.contains("no weights for feature TM0"), "{error}");
}

#[test]
fn tuning_of_a_list_takes_no_options_of_a_decoder() {
    let folder = tempfile::tempdir().unwrap();
    let [list, reference, weights] =
        ["list", "reference", "weights"].map(|name| folder.path().join(name));
    fs::write(&list, "0 ||| c ||| F0= 2 1 ||| 0\n0 ||| a b c d e ||| F0= 1 2 ||| 0\n").unwrap();
    fs::write(&reference, "a b c d e\n").unwrap();
    let tune = |more: &[&str]| {
        let mut command = miriam();
        command.args(["tune", "--n-best"]).arg(&list).arg("--reference").arg(&reference);
        command.arg("-o").arg(&weights).args(more);
        command
    };
    run(&mut tune(&["--method", "mert"]));
    let found = fs::read_to_string(&weights).unwrap();
    let values = found.strip_prefix("F0= ").unwrap().trim().split(' ');
    let values: Vec<f64> = values.map(|value| value.parse().unwrap()).collect();
    assert!(values[1] > values[0], "{found}");
    // Weights of 0 give no order to begin with.
    let [zeros, ones] = ["zeros", "ones"].map(|name| folder.path().join(name));
    fs::write(&zeros, "F0= 0 0\n").unwrap();
    fs::write(&ones, "F0= 1 1\n").unwrap();
    for (initial, is_reported) in [(&zeros, true), (&ones, false)] {
        let mut command = tune(&["--method", "mert", "--weights"]);
        let log = lossy_text(&command.arg(initial).output().unwrap().stderr);
        let reported =
            log.contains("zeros: all weights are 0, so tuning begins with equal weights");
        assert_eq!(reported, is_reported, "{log}");
        assert_eq!(fs::read_to_string(&weights).unwrap(), found);
    }
    // The ends of lines make no difference.
    fs::write(&reference, "a b c d e\r\n").unwrap();
    run(&mut tune(&["--method", "mert"]));
    assert_eq!(fs::read_to_string(&weights).unwrap(), found);
    // Entries of several lists are pooled.
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    fs::write(&first, "0 ||| c ||| F0= 2 1 ||| 0\n").unwrap();
    fs::write(&second, "0 ||| a b c d e ||| F0= 1 2 ||| 0\n").unwrap();
    let mut command = miriam();
    command.args(["tune", "--method", "mert", "-o"]).arg(&weights).arg("--n-best").arg(&first);
    run(command.arg(&second).arg("--reference").arg(&reference));
    assert_eq!(fs::read_to_string(&weights).unwrap(), found);
    // Several references by the first part of their names.
    let stem = folder.path().join("numbered");
    for number in [0, 1] {
        fs::copy(&reference, folder.path().join(format!("numbered{number}"))).unwrap();
    }
    let mut command = miriam();
    command.args(["tune", "--method", "mert", "--n-best"]).arg(&list).arg("-o").arg(&weights);
    run(command.arg("--reference").arg(&stem));
    assert_eq!(fs::read_to_string(&weights).unwrap(), found);
    fs::write(folder.path().join("numbered1"), "a b c d e\nf\n").unwrap();
    let error = run_to_error(&mut command);
    assert!(error.contains("numbered1"), "{error}");
    for refused in [&["-f", "moses.ini"][..], &["--log", "log"], &["--", "-stack", "5"]] {
        let error = run_to_usage_error(&mut tune(refused));
        assert!(error.contains("cannot be used with"), "{error}");
    }
    fs::write(&reference, "a b c d e\nf\n").unwrap();
    let error = run_to_error(&mut tune(&[]));
    assert!(error.contains("reference") && error.contains("list"), "{error}");
    let mut command = miriam();
    command.args(["tune", "--reference", "x", "-o", "y"]);
    let error = run_to_usage_error(&mut command);
    assert!(error.contains("--config") && error.contains("--source"), "{error}");
}
