//! `miriam bench glm` end to end on a synthetic model, `miriam bench pt` and `pt-build` on small
//! tables, and `miriam bench nmt` on the toy text.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::{
    is_at_line_start, lossy_text, miriam, project_root, run, run_on_terminal, run_to_error,
};

fn read_csv(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Checks that a chart has all `texts`, and returns the number of its points.
fn chart_points(folder: &Path, name: &str, texts: &[&str]) -> usize {
    let svg = fs::read_to_string(folder.join(name)).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let shown: Vec<&str> =
        document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    for text in texts {
        assert!(shown.contains(text), "{text}: {shown:?}");
    }
    document.descendants().filter(|node| node.tag_name().name() == "circle").count()
}

fn bench_glm(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["bench", "glm", "--log-level", "warn", "--threads", "2"]).args(arguments);
    command
}

#[test]
fn a_synthetic_model_is_measured_in_every_layout() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/by the benchmark");
    // A stopped run left an unfinished model.
    fs::create_dir_all(folder.join(".miriam-bench-glm")).unwrap();
    fs::write(folder.join(".miriam-bench-glm/trie"), "unfinished").unwrap();
    let asked = ["--quick", "--synthetic", "20000", "--device", "cpu", "--repeat", "1", "-o"];
    let output = lossy_text(&run(bench_glm(&asked).arg(&folder)));
    assert!(output.contains("20000 synthetic n-grams"), "{output}");
    assert!(output.contains("held-out-like: words that match 1, 2, ..: 0."), "{output}");

    let table = read_csv(&folder, "queries.csv");
    let column = |name: &str| table[0].iter().position(|n| n == name).expect(name);
    let value = |row: &[String], name: &str| row[column(name)].clone();
    let number = |row: &[String], name: &str| value(row, name).parse::<f64>().unwrap();
    let body = &table[1..];
    assert!(body.iter().all(|row| row.len() == table[0].len()));
    for row in body {
        let rate = number(row, "queries") / number(row, "seconds");
        assert!((number(row, "queries_per_second") / rate - 1.0).abs() < 0.01, "{row:?}");
        assert!(number(row, "queries") >= 10_000.0, "{row:?}");
        let is_glm = value(row, "engine") == "glm";
        let is_counted = is_glm && value(row, "mode") == "sentences";
        assert_eq!(is_counted, !value(row, "share_of_ceiling").is_empty(), "{row:?}");
        assert_eq!(is_glm, !value(row, "node_width").is_empty(), "{row:?}");
    }
    let bytes_per_ngram = |wanted: [&str; 3]| {
        let names = ["engine", "node_width", "hashed"];
        let row = body.iter().find(|row| names.map(|name| value(row, name)) == wanted);
        number(row.expect("a row of the model"), "bytes_per_ngram")
    };
    let by_size = [["trie", "", ""], ["glm", "32", "0"], ["glm", "32", "3"], ["glm", "32", "5"]];
    let by_size = by_size.map(bytes_per_ngram);
    assert!(by_size.is_sorted() && by_size[0] > 8.0 && by_size[3] < 40.0, "{by_size:?}");
    // Ten models (eight layouts of `glm` and two others), each with two texts in two modes. Each is
    // measured in three ways: one word at a time, in batches on one thread, and in batches on two
    // threads.
    let count =
        |name: &str, wanted: &str| body.iter().filter(|row| value(row, name) == wanted).count();
    assert_eq!(count("place", "cpu-single"), 10 * 4);
    assert_eq!(count("threads", "2"), 10 * 4);
    assert_eq!((count("engine", "trie"), count("engine", "probing")), (12, 12));
    // On one thread, the default layout is also measured in batches of 100 and of 1,000 queries.
    assert_eq!(body.len(), 10 * 12 + 2 * 4);
    assert_eq!((count("batch", "100"), count("batch", "1000")), (4, 10 * 4 + 4));

    let reads = read_csv(&folder, "reads.csv");
    assert_eq!(reads[0], ["threads", "buffer_bytes", "read_bytes", "reads_per_second"]);
    assert_eq!(reads.len(), 1 + 2 * 2 * 3, "two counts of threads, two buffers, three sizes");
    let svg = fs::read_to_string(folder.join("queries.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let of = |tag: &str| document.descendants().filter(|n| n.tag_name().name() == tag).count();
    // In each of two panels, for each of two texts: the default layout with three batch sizes on
    // one thread and one on two threads, and `probing` and `trie` with one on one thread.
    assert_eq!(of("circle"), 4 * (3 + 1 + 1 + 1));
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left.len(), 5, "models are gone, results stay: {left:?}");
}

#[test]
fn a_study_of_ngram_models_goes_on_where_it_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let asked = ["--quick", "--synthetic", "5000", "--device", "cpu", "--repeat", "1"];
    let study = |more: &[&str]| {
        let mut command = miriam();
        command.args(["bench", "glm", "--threads", "1"]).args(asked).args(more);
        let output = command.arg("-o").arg(folder).output().unwrap();
        let [table, messages] = [output.stdout, output.stderr].map(|bytes| lossy_text(&bytes));
        assert!(output.status.success(), "{messages}");
        (table, messages)
    };
    let (_, messages) = study(&[]);
    let finished: Vec<&str> = messages.lines().filter(|line| line.contains(" of 10: ")).collect();
    assert_eq!(finished.len(), 10, "{messages}");
    assert!(finished[..9].iter().all(|line| line.contains("; about ")), "{messages}");
    assert!(finished[9].ends_with("10 of 10: probing"), "{messages}");
    let queries = read_csv(folder, "queries.csv");

    // The study was killed while the trie was measured: its result is cut, and its file is left.
    let path = folder.join("results.jsonl");
    let results = fs::read_to_string(&path).unwrap();
    let (kept, _) = results.split_at(results.find("{\"name\":\"trie\"").unwrap() + 40);
    fs::write(&path, kept).unwrap();
    fs::create_dir(folder.join(".miriam-bench-glm")).unwrap();
    fs::write(folder.join(".miriam-bench-glm/trie"), "unfinished").unwrap();
    let (table, messages) = study(&[]);
    assert!(messages.contains("8 of 10 models were measured before"), "{messages}");
    assert!(messages.contains("9 of 10: trie; about ") && !messages.contains("8 of 10: "));
    assert!(table.contains("random reads, CPU, 1 thread:"), "{table}");
    let resumed = read_csv(folder, "queries.csv");
    assert_eq!(resumed.len(), queries.len());
    let is_kept = |row: &&Vec<String>| row[0] == "glm";
    assert!(resumed.iter().filter(is_kept).eq(queries.iter().filter(is_kept)));

    // Other prices need no new measurements; other n-grams do.
    let (_, messages) = study(&["--cpu-price", "100"]);
    assert!(messages.contains("10 of 10 models were measured before"), "{messages}");
    assert!(!messages.contains(" of 10: "), "{messages}");
    let without_price = |rows: &[Vec<String>]| {
        rows.iter().map(|row| [&row[..16], &row[17..]].concat()).collect::<Vec<_>>()
    };
    assert_eq!(without_price(&read_csv(folder, "queries.csv")), without_price(&resumed));
    let mut auto = miriam();
    auto.args("bench glm --threads 1 --quick --synthetic 5000 --repeat 1 -o".split(' '));
    let messages = lossy_text(&auto.arg(folder).output().unwrap().stderr);
    let is_cpu = messages.contains("10 of 10 models were measured before");
    assert!(is_cpu || messages.contains("device: was \"cpu\", is now \"cuda:0\""), "{messages}");
    let other = ["--quick", "--synthetic", "6000", "--device", "cpu", "--repeat", "1", "-o"];
    let refused = run_to_error(bench_glm(&other).arg(folder));
    assert!(refused.contains("source ngrams: was 5000, is now 6000"), "{refused}");
    assert!(refused.contains("--overwrite"), "{refused}");
}

#[test]
fn trees_of_one_node_are_counted_and_prices_divide_speeds() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["--quick", "--synthetic", "20000", "--device", "cpu", "--repeat", "1"];
    let mut command = bench_glm(&asked);
    let output = lossy_text(&run(command.args(["--cpu-price", "250", "-o"]).arg(folder.path())));
    assert!(output.contains("trees of one node of 32 keys, by order "), "{output}");
    assert!(output.contains(" 0.88   0.97  >0.99  >0.99\n"), "the thesis' shares: {output}");

    let trees = read_csv(folder.path(), "trees.csv");
    let names = ["counted", "order", "node_width", "trees", "single_node", "share", "paper_share"];
    assert_eq!(trees[0], names);
    // A row for the model and for each of two texts, with four orders and three node widths.
    assert_eq!(trees.len(), 1 + 3 * 4 * 3);
    for widths in trees[1..].chunks(3) {
        let shares: Vec<f64> = widths.iter().map(|row| row[5].parse().unwrap()).collect();
        assert!(shares.is_sorted() && shares[2] <= 1.0, "wider nodes hold more trees: {widths:?}");
        let published = if widths[0][0] == "trees" { ["", "", "0."] } else { [""; 3] };
        let is_beside = widths.iter().zip(published).all(|(row, share)| match share {
            "" => row[6].is_empty(),
            share => row[6].starts_with(share),
        });
        assert!(is_beside, "{widths:?}");
    }

    let queries = read_csv(folder.path(), "queries.csv");
    let column = |name: &str| queries[0].iter().position(|n| n == name).expect(name);
    let [threads, rate, priced] =
        ["threads", "queries_per_second", "queries_per_second_and_price"].map(column);
    for row in &queries[1..] {
        if row[threads] == "2" {
            let number = |column: usize| row[column].parse::<f64>().unwrap();
            assert!((number(rate) / 250.0 - number(priced)).abs() <= 1.0, "{row:?}");
        } else {
            assert_eq!(row[priced], "", "one thread is not the whole CPU: {row:?}");
        }
    }
}

#[test]
fn scores_are_compared_bitwise_on_synthetic_and_given_models() {
    let output = lossy_text(&run(&mut bench_glm(&["--check", "--quick", "--device", "cpu"])));
    assert_eq!(output.matches("20000 compared").count(), 8 * 6, "{output}");
    assert!(
        output.ends_with("all scores are equal on the CPU; no device was compared\n"),
        "{output}"
    );

    let toy = project_root().join("examples/toy");
    let (model, input) = (toy.join("lm.arpa"), toy.join("input.txt"));
    let asked = ["--check", "--quick", "--device", "cpu", "-m"];
    let output = lossy_text(&run(bench_glm(&asked).arg(model).arg("-i").arg(input)));
    assert!(output.contains("text, side by side: CPU = trie, 20000 compared"), "{output}");
}

#[test]
fn a_missing_device_is_an_error_only_when_requested() {
    let auto = run(&mut bench_glm(&["--check", "--quick", "--synthetic", "5000"]));
    assert!(lossy_text(&auto).contains("all scores are equal"));
    let message =
        run_to_error(&mut bench_glm(&["--check", "--quick", "--device", "cuda:4294967295"]));
    assert!(message.contains("GPU"), "{message}");
}

#[test]
fn every_devlin_optimization_has_a_row() {
    let mut command = miriam();
    command.args(["bench", "nmt", "devlin", "--sentences", "1", "--passes", "1"]);
    command.args(["--words", "200", "-i"]).arg(project_root().join("examples/toy/test.en"));
    let folder = tempfile::tempdir().unwrap();
    let table = lossy_text(&run(command.arg("-o").arg(folder.path())));
    let shown = ["baseline", "+ merged", "states", "times the baseline", "Devlin (2017), table 1"];
    assert_eq!(chart_points(folder.path(), "speedups.svg", &shown), 8 + 6);
    for row in ["baseline", "+ 16 bits", "+ cached tokens", "+ cached context", "+ merged states"] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{row}: {table}");
    }
    let baseline = table.lines().find(|line| line.starts_with("baseline")).unwrap();
    assert!(baseline.contains("1.00x") && baseline.contains("100.0%"), "{table}");
    assert!(table.contains("had a parent of their own"), "{table}");

    let none = tempfile::NamedTempFile::new().unwrap();
    let mut command = miriam();
    command.args(["bench", "nmt", "devlin", "--words", "200", "-i"]).arg(none.path());
    let error = run_to_error(&mut command);
    assert!(error.contains("no line with words"), "{error}");
}

/// Without a terminal, lines of the log tell how long a study still takes. On a terminal, rows are
/// not written on the line of the progress bar.
#[test]
fn studies_tell_the_time_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = miriam();
    command.args(["bench", "nmt", "devlin", "--sentences", "1", "--passes", "1"]);
    command.args(["--words", "200", "-i"]).arg(project_root().join("examples/toy/test.en"));
    command.arg("-o").arg(folder.path());
    let log = lossy_text(&command.output().unwrap().stderr);
    for percent in ["13 %, about ", "25 %, about ", "88 %, about "] {
        assert!(log.contains(&format!("measuring: {percent}")), "{log}");
    }
    assert_eq!(log.matches(" left").count(), 7, "none at the end: {log}");
    let again = lossy_text(&command.output().unwrap().stderr);
    assert!(!again.contains(" left"), "saved results take no time: {again}");
    command.arg("--overwrite");
    let Some(shown) = run_on_terminal(&command) else { return };
    assert!(shown.contains("measuring  "), "a bar is drawn: {shown:?}");
    for row in ["baseline  ", "+ 16 bits  ", "8 bits, not 16  "] {
        let (before, _) = shown.split_once(row).expect(row);
        assert!(is_at_line_start(before), "{row}: {shown:?}");
    }
}

#[test]
fn devlin_systems_are_shown_with_their_published_speeds() {
    let folder = tempfile::tempdir().unwrap();
    let devlin = |asked: &[&str]| {
        let mut command = miriam();
        command.args(["bench", "nmt", "devlin", "--sentences", "1", "--passes", "1"]);
        command.args(["--words", "200", "-i"]).arg(project_root().join("examples/toy/test.en"));
        command.args(asked).arg("-o").arg(folder.path());
        command
    };
    let table = lossy_text(&run(&mut devlin(&["--shape", "s1", "s3", "e1"])));
    assert_eq!(lossy_text(&run(&mut devlin(&["--shape", "s1", "s3", "e1"]))), table);
    let systems = read_csv(folder.path(), "systems.csv");
    let published: Vec<[&str; 3]> =
        systems[1..].iter().map(|row| [&row[0][..], &row[2], &row[3]]).collect();
    assert_eq!(published, [["s1", "1", "418"], ["s3", "1", "271"], ["e1", "2", "102"]]);
    for row in &systems[1..] {
        assert!(row[4..].iter().all(|rate| rate.parse::<f64>().unwrap() > 0.0), "{row:?}");
        assert!(table.lines().any(|line| line.starts_with(&row[0])), "{table}");
    }
    let shown = ["s1", "e1", "16 bits", "8 bits", "Devlin (2017), 16 bits", "words a second"];
    assert_eq!(chart_points(folder.path(), "systems.svg", &shown), 3 * 3);
    let refused = run_to_error(&mut devlin(&["--alone"]));
    assert!(refused.contains("alone: was false, is now true"), "{refused}");
    run(&mut devlin(&["--alone", "--overwrite"]));
    let speedups = read_csv(folder.path(), "speedups.csv");
    assert_eq!(speedups[1][..2], ["s1", "baseline"]);
    assert_eq!(speedups.len(), 1 + 8);
    let shown = ["baseline", "cached", "context", "times the baseline"];
    assert_eq!(chart_points(folder.path(), "speedups.svg", &shown), 8);
    let refused = run_to_error(&mut devlin(&["--shape", "all", "--alone"]));
    assert!(refused.contains("expected one shape"), "{refused}");
}

fn bench_batching(target: &str, asked: &[&str]) -> Command {
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "nmt", "batching", "-i"]).arg(toy.join("test.en"));
    command.arg("--target").arg(toy.join(target)).args(asked);
    command
}

#[test]
fn batching_strategies_are_measured_in_turn() {
    let asked = [
        &["--sentences", "6", "--batch", "2", "--words", "300", "-n", "1"][..],
        &["--beams", "2", "--precisions", "i8"],
    ];
    let output = lossy_text(&run(&mut bench_batching("test.es", &asked.concat())));
    let row = |name: &str| {
        let line = output.lines().find(|line| line.starts_with(name)).expect(name);
        let cells: Vec<&str> = line[name.len()..].split_whitespace().collect();
        (cells[1].parse::<usize>().unwrap(), cells[2].parse::<usize>().unwrap(), cells.join(" "))
    };
    let (dead, living) = (row("dead rows kept"), row("not topped up"));
    assert_eq!(dead.0, living.0, "dead rows make no more steps");
    assert!(dead.1 > living.1, "but more rows: {output}");
    assert!(dead.2.ends_with("100%"), "translations stay: {output}");
    assert_eq!(row("all optimisations").1, living.1);
    assert!(output.contains("| speed-up by | i8, beam 2 |"), "{output}");

    let refused = run_to_error(&mut bench_batching("train.es", &[]));
    assert!(refused.contains("line N of one belongs to line N of the other"), "{refused}");
}

#[test]
fn sizes_of_batches_and_the_output_layer_are_measured_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/by the benchmark");
    let asked = [
        &["--shape", "gru", "--sentences", "6", "--batches", "1", "4", "16", "--words", "300"][..],
        &["-n", "1", "--beams", "2", "--precisions", "f32", "-o"],
    ];
    let output = lossy_text(&run(bench_batching("test.es", &asked.concat()).arg(&folder)));
    let again = run(bench_batching("test.es", &asked.concat()).arg(&folder));
    assert_eq!(lossy_text(&again), output, "the same command measures nothing again");
    for heading in ["f32, beam 2, sentences / s", "output layer, ms a step", "fewer than 8"] {
        assert!(output.contains(heading), "{heading}: {output}");
    }

    let speed = read_csv(&folder, "speed.csv");
    let column = |name: &str| speed[0].iter().position(|n| n == name).expect(name);
    let number = |row: &[String], name: &str| row[column(name)].parse::<f64>().unwrap();
    assert_eq!(speed.len(), 1 + 3 * 3, "three sizes in three variants");
    for row in &speed[1..] {
        assert_eq!((&row[0][..], &row[1][..]), ("gru", "cpu f32"));
        let rate = number(row, "sentences") / number(row, "seconds");
        assert!((number(row, "sentences_per_second") / rate - 1.0).abs() < 0.01, "{row:?}");
        let sentences = if number(row, "batch") > 6.0 { 16.0 } else { 6.0 };
        assert_eq!(number(row, "sentences"), sentences, "a text is repeated for a larger batch");
    }
    let rows_of = |variant: &str| {
        let row = speed.iter().find(|row| row[column("batch")] == "16" && row[4] == variant);
        number(row.expect(variant), "rows")
    };
    assert!(rows_of("dead rows kept") > rows_of("not topped up"), "{speed:?}");

    let parts = read_csv(&folder, "output.csv");
    let rows: Vec<&str> = parts[1..].iter().map(|row| &row[4][..]).collect();
    assert_eq!(rows, ["2", "8", "32"], "a row for each hypothesis of a full batch");
    let times = parts[1..].iter().flat_map(|row| &row[5..]);
    assert_eq!(times.filter(|time| time.parse::<f64>().unwrap() > 0.0).count(), 3 * 5);

    let steps = read_csv(&folder, "steps.csv");
    let recorded = |variant: &str| {
        let steps = steps.iter().filter(|step| step[4] == variant);
        let counts = steps.map(|step| [7, 8].map(|cell| step[cell].parse::<usize>().unwrap()));
        counts.collect::<Vec<_>>()
    };
    let living = recorded("not topped up");
    assert!(living.is_sorted_by(|a, b| a[0] >= b[0]), "{living:?}");
    assert_eq!(living[0], [16, 16], "a beam starts with one row");
    for variant in ["not topped up", "dead rows kept", "all optimisations"] {
        let rows: usize = recorded(variant).iter().map(|step| step[1]).sum();
        assert_eq!(rows as f64, rows_of(variant), "{variant}");
    }
    for (chart, dots) in [("speed.svg", 2 * 3), ("steps.svg", 0), ("sentences.svg", 0)] {
        let svg = fs::read_to_string(folder.join(chart)).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let found = document.descendants().filter(|node| node.tag_name().name() == "circle");
        assert_eq!(found.count(), dots, "{chart}");
    }
}

#[test]
fn lookups_in_a_phrase_table_are_measured_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let table = "a ||| x ||| 0.5 |||\na ||| y ||| 0.25 |||\na b ||| z ||| 1 |||\n";
    fs::write(folder.join("table"), table).unwrap();
    fs::write(folder.join("text"), "a b a\n\nc a\n").unwrap();
    let command = |arguments: &[&str]| {
        let mut command = miriam();
        command.current_dir(folder).args(arguments);
        command
    };
    run(&mut command(&["pt", "build", "--phrase-table", "table", "-o", "t.pt", "--quiet"]));

    let asked = ["bench", "pt", "t.pt", "-i", "text", "--passes", "3", "--threads", "2"];
    let output = lossy_text(&run(command(&asked).args(["--csv", "speed.csv"])));
    let rows = read_csv(folder, "speed.csv");
    // No source phrase has three words, so these spans are looked up: in `a b a`, the spans `a`, `a
    // b`, `b`, `b a` and `a`; in `c a`, the span `a`, because no source phrase has the word `c`.
    for (row, (way, threads, targets)) in rows[1..].iter().zip([
        ("find", "1", "0"),
        ("targets", "1", "21"),
        ("find", "2", "0"),
        ("targets", "2", "21"),
    ]) {
        assert_eq!(row[..5], [way, threads, "18", "12", targets], "{output}");
        // The lookup of a span reads one cache line of the index. If the span is a source phrase,
        // the lookup also compares one record.
        assert_eq!(row[8..], ["1.0000", "0.6667"], "{output}");
        assert!(output.contains(&format!("{way:<8} {threads:>7}")), "{output}");
    }
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0][8..], ["lines_per_lookup", "records_per_lookup"]);
    assert!(output.contains("reads 1.000 lines of the index"), "{output}");
    assert!(output.contains("66.7 % of the spans of known words are source phrases"), "{output}");

    let info = lossy_text(&run(&mut command(&["pt", "info", "t.pt"])));
    assert!(info.contains("a lookup of a source phrase reads 1.000 buckets, at most 1"), "{info}");
    let json = run(&mut command(&["pt", "info", "t.pt", "--json"]));
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["index"]["max_buckets_read"], 1, "{json}");

    fs::write(folder.join("empty"), "\n").unwrap();
    let error = run_to_error(&mut command(&["bench", "pt", "t.pt", "-i", "empty"]));
    assert!(error.contains("no line with words"), "{error}");
}

#[test]
fn sizes_of_phrase_tables_are_shown_with_and_without_reordering() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let toy = project_root().join("examples/toy");
    let [table, reordering] = ["phrase-table", "reordering-table"].map(|name| toy.join(name));
    let compressed = folder.join("reordering.gz");
    let other = folder.join("probing, pt");
    fs::create_dir_all(other.join("below")).unwrap();
    fs::write(other.join("a.dat"), [0; 1000]).unwrap();
    fs::write(other.join("b.dat"), [0; 426]).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(&fs::read(&reordering).unwrap()).unwrap();
    fs::write(&compressed, encoder.finish().unwrap()).unwrap();
    let bench = |table: &Path| {
        let mut command = miriam();
        command.args(["bench", "pt-build", "--repeat", "2", "--threads", "1", "--phrase-table"]);
        command.arg(table).arg("--reordering").arg(&compressed).arg("--other").arg(&other);
        command.arg("--csv").arg(folder.join("sizes.csv"));
        command
    };
    let output = lossy_text(&run(&mut bench(&table)));
    assert!(output.contains("1426 phrase pairs"), "{output}");
    let rows = read_csv(folder, "sizes.csv");
    assert_eq!(rows[0], ["table", "bytes", "bytes_per_entry", "cpu_seconds", "wall_seconds"]);
    let bytes: Vec<u64> = rows[1..].iter().map(|row| row[1].parse().unwrap()).collect();
    let length = |path: &Path| path.metadata().unwrap().len();
    assert_eq!(bytes[..3], [&table, &reordering, &compressed].map(|path| length(path)));
    let built = folder.join("built");
    for (place, joined) in [(3, None), (4, Some(&compressed))] {
        let mut command = miriam();
        command.args(["pt", "build", "--threads", "1", "--phrase-table"]).arg(&table);
        if let Some(reordering) = joined {
            command.arg("--reordering").arg(reordering);
        }
        run(command.arg("-o").arg(&built));
        assert_eq!(bytes[place], length(&built), "{output}");
        let seconds = [3, 4].map(|column| rows[1 + place][column].parse::<f64>().unwrap());
        assert!(seconds.iter().all(|&seconds| seconds > 0.0), "{output}");
    }
    assert!(bytes[3] < bytes[4], "{output}");
    let growth = 100.0 * (bytes[4] as f64 / bytes[3] as f64 - 1.0);
    assert!(output.contains(&format!("binary table {growth:.1} % larger")), "{output}");
    assert_eq!((bytes[5], &rows[6][2][..], &rows[6][3][..]), (1426, "1.000", ""));
    assert!(rows[6][0].ends_with("/probing_ pt"), "{rows:?}");

    let refused = run_to_error(&mut bench(Path::new("-")));
    assert!(refused.contains("give a file, not a pipe"), "{refused}");
    let refused = run_to_error(bench(&table).arg("--other").arg(folder.join("absent")));
    assert!(refused.contains("cannot open") && refused.contains("absent"), "{refused}");
    let csv = folder.join("sizes.csv");
    let refused = run_to_error(bench(&table).arg("--other").arg(&csv));
    assert!(refused.contains("it is also the output"), "{refused}");
}

#[test]
fn every_optimisation_of_marian_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "nmt", "marian", "--sentences", "2", "--passes", "1", "--words", "300"]);
    command.arg("-i").arg(toy.join("test.en")).arg("--target").arg(toy.join("test.es"));
    let output = command.arg("--quiet").arg("-o").arg(folder.path()).output().unwrap();
    let messages = lossy_text(&output.stderr);
    assert!(output.status.success() && !messages.contains(" left"), "{messages}");
    let table = lossy_text(&output.stdout);
    // The same command does not measure the speeds again.
    assert_eq!(lossy_text(&run(&mut command)), table);
    let csv = read_csv(folder.path(), "marian.csv");
    let names = ["32-bit floats", "+ shortlist", "+ 16 bits", "+ auto-tuning"];
    for (row, name) in csv[1..].chunks(2).zip(names) {
        assert!(row.iter().all(|cells| cells[2].parse::<f64>().unwrap() > 0.0), "{row:?}");
        assert!(table.lines().any(|line| line.starts_with(name)), "{name}: {table}");
    }
    assert_eq!(csv.len(), 1 + 5 * 2);
    assert_eq!((&csv[1][3][..], &csv[1][4][..], &csv[1][5][..]), ("1.000", "1.00", "1.0000"));
    let shown = ["32-bit floats", "+ auto-tuning", "1 sentence", "384 words, the paper"];
    assert_eq!(chart_points(folder.path(), "marian.svg", &shown), 2 * (5 + 4));
    assert!(table.contains("1.34x") && table.contains("1.45x"), "the paper's factors: {table}");
}
