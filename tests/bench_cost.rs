//! `miriam bench nmt cost` end to end, on the toy models and on another program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_to_usage_error};

fn bench_cost(folder: &Path, arguments: &[&str]) -> Command {
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "nmt", "cost", "--threads", "1", "--repeat", "1", "--seconds", "0.1"]);
    command.arg("-i").arg(toy.join("test.en")).arg("--reference").arg(toy.join("test.es"));
    command.arg("-o").arg(folder).args(arguments);
    command
}

fn read_csv(folder: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join("cost.csv")).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn systems_with_their_settings_are_scored_and_priced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let toy = project_root().join("examples/toy");
    let (ini, neural) = (toy.join("moses.ini"), project_root().join("examples/toy-neural"));
    let arguments = [
        "--nmt",
        neural.to_str().unwrap(),
        "--beams",
        "1,2",
        "--config",
        ini.to_str().unwrap(),
        "--pop-limits",
        "1,50",
        "--options",
        "toy=-search-algorithm 1",
        "--system",
        // A system that copies the source, slowly.
        "copy=awk '{ for (i = 0; i < 3000; i++) x += i; print }'",
        "--price",
        "7.2",
        "--tokenize",
        "none",
    ];
    let output = lossy_text(&run(&mut bench_cost(folder, &arguments)));
    let table = read_csv(folder);
    let names: Vec<&str> = table[1..].iter().map(|row| &row[0][..]).collect();
    let expected =
        ["toy pop limit 1", "toy pop limit 50", "toy-neural beam 1", "toy-neural beam 2"];
    assert_eq!(names, [&expected[..], &["copy"]].concat());
    let curves: Vec<&str> = table[1..].iter().map(|row| &row[1][..]).collect();
    assert_eq!(curves, ["toy", "toy", "toy-neural", "toy-neural", "copy"]);
    for row in &table[1..] {
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        // 7.2 an hour is 0.002 a second.
        let price = 0.002 * 1e6 / number(3);
        assert!((number(4) / price - 1.0).abs() < 1e-2, "{row:?}");
        assert_eq!([number(5), number(6)], [number(4); 2], "one run: {row:?}");
        // BLEU is that of `evaluate` over the file of translations.
        let translations = folder.join("translations").join(format!("{}.txt", row[0]));
        let mut evaluate = miriam();
        evaluate.args(["evaluate", "--metric", "bleu", "-b", "-w", "3", "--tokenize", "none"]);
        evaluate.arg("-i").arg(&translations).arg("--reference").arg(toy.join("test.es"));
        assert_eq!(lossy_text(&run(&mut evaluate)).trim(), row[2], "{row:?}");
        assert!(output.contains(&row[0]), "{output}");
    }
    let bleu = |row: usize| table[row][2].parse::<f64>().unwrap();
    assert!(bleu(3) > 90.0 && bleu(5) < 10.0, "{table:?}");
    assert!(bleu(1) < bleu(2), "a pop limit of 1 finds less: {table:?}");
    assert!(table[1..].iter().any(|row| row[8] == "true"), "{table:?}");
    let svg = fs::read_to_string(folder.join("cost.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let circles = document.descendants().filter(|node| node.tag_name().name() == "circle");
    assert_eq!(circles.count(), 5);
    assert!(svg.contains("BLEU") && svg.contains("7.2 an hour"), "{svg}");

    // The same command measures and translates nothing again.
    let again = bench_cost(folder, &arguments).output().unwrap();
    let messages = lossy_text(&again.stderr);
    assert!(again.status.success() && messages.contains("5 of 5 measurements"), "{messages}");
    assert!(!messages.contains("translating"), "{messages}");
    assert_eq!(read_csv(folder), table);
    // A new system joins the study, and with --overwrite all is translated again.
    let more = [
        &arguments[..],
        &["--system", "last=awk '{ for (i = 0; i < 3000; i++) x += i; print $NF }'"],
    ];
    run(&mut bench_cost(folder, &more.concat()));
    assert_eq!(read_csv(folder).len(), table.len() + 1);
    fs::write(folder.join("translations/copy.txt"), "stale\n").unwrap();
    fs::write(folder.join("translations/mine.txt"), "not of the study\n").unwrap();
    let again = bench_cost(folder, &more.concat()).arg("--overwrite").output().unwrap();
    let messages = lossy_text(&again.stderr);
    assert!(again.status.success() && messages.contains("copy: translating"), "{messages}");
    assert!(folder.join("translations/mine.txt").exists(), "other files stay");
}

#[test]
fn texts_and_systems_that_do_not_fit_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("short");
    fs::write(&short, "una línea\n").unwrap();
    let output = folder.path().join("out");
    let mut command = miriam();
    command.args(["bench", "nmt", "cost", "--threads", "1", "--system", "copy=cat", "-i"]);
    command.arg(project_root().join("examples/toy/test.en")).arg("--reference").arg(&short);
    let error = run_to_error(command.arg("-o").arg(&output));
    assert!(error.contains("short: the reference has 1 line, but the text has "), "{error}");

    let lm = project_root().join("examples/toy/lm.arpa");
    let lm = lm.to_str().unwrap();
    let error = run_to_usage_error(&mut bench_cost(&output, &["--lm", lm]));
    assert!(error.contains("unexpected argument '--lm'"), "{error}");
    let config = ["--workload", "lm", "--config", lm];
    let error = run_to_usage_error(&mut bench_cost(&output, &config));
    assert!(error.contains("[possible values: phrase, nmt]"), "{error}");
    let error =
        run_to_usage_error(&mut bench_cost(&output, &["--system", "a=cat", "--price", "0"]));
    assert!(error.contains("expected a positive number"), "{error}");
    let toy = project_root().join("examples/toy");
    let ini = ["--config", toy.to_str().unwrap(), "--pop-limits", "5"];
    let error = run_to_usage_error(&mut bench_cost(&output, &ini));
    assert!(error.contains("toy uses stack decoding"), "{error}");
    assert!(error.contains("add -- -search-algorithm 1"), "{error}");
    let neural = project_root().join("examples/toy-neural");
    let mixed = [&ini[..], &["--nmt", neural.to_str().unwrap()]].concat();
    let error = run_to_usage_error(&mut bench_cost(&output, &mixed));
    assert!(error.contains("add --options 'toy=-search-algorithm 1'"), "{error}");
    let error =
        run_to_usage_error(&mut bench_cost(&output, &["--system", "a=cat", "--beams", "1"]));
    assert!(error.contains("--beams needs a neural model"), "{error}");
    let error = run_to_error(&mut bench_cost(&output, &["--system", "half=head -n 3"]));
    assert!(error.contains("half.txt: 3 lines for "), "{error}");
}
