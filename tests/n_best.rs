//! n-best lists and the other outputs of `miriam translate`: compared with Moses2's
//! recorded lists on a real system, and in form on the toy one.

use std::fs;
use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_with_input,
    shared_data, use_all_lines,
};

/// A line of an n-best list: words, values and total as printed.
type NBestEntry = (String, Vec<String>, String);

/// Returns the lists in `bytes`, one for each sentence.
fn parse_n_best_lists(bytes: &[u8]) -> Vec<Vec<NBestEntry>> {
    let mut lists: Vec<Vec<NBestEntry>> = Vec::new();
    for line in lossy_text(bytes).lines() {
        let columns: Vec<&str> = line.split(" ||| ").collect();
        let &[id, words, values, total] = &columns[..] else { panic!("four columns: {line}") };
        let id: usize = id.parse().unwrap();
        if id == lists.len() {
            lists.push(Vec::new());
        }
        assert_eq!(id + 1, lists.len(), "{line}");
        // Moses' binary tables have 1e-10 where ours have 0, the logarithm of one.
        let value = |v: &str| if v.ends_with("e-10") { "0".into() } else { v.to_owned() };
        let values = values.split(' ').map(value).collect();
        lists[id].push((words.to_owned(), values, total.to_owned()));
    }
    lists
}

/// Returns the first difference between two lists of a sentence. Totals must be the same, one by
/// one; entries of equal printed totals are compared as sets, because Moses2's order among them
/// follows memory addresses. The last of these sets is not compared, because the lists may have
/// different parts of it.
fn first_difference(ours: &[NBestEntry], theirs: &[NBestEntry]) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!("{} entries against {}", ours.len(), theirs.len()));
    }
    if let Some((a, b)) = ours.iter().zip(theirs).find(|(a, b)| a.2 != b.2) {
        return Some(format!("ours   {a:?}\ntheirs {b:?}"));
    }
    let last = &ours.last()?.2;
    let sorted = |list: &[NBestEntry]| {
        let mut entries: Vec<NBestEntry> = list.iter().filter(|e| e.2 != *last).cloned().collect();
        entries.sort();
        entries
    };
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    let (a, b) = ours.iter().zip(&theirs).find(|(a, b)| a != b)?;
    Some(format!("sets differ\nours   {a:?}\ntheirs {b:?}"))
}

/// Returns the sentences whose distinct lists are not compared. These lists reach twenty times as
/// far into the lattice, and so to earlier decisions between ties: which of two equally good
/// options is the last within the table limit, which of two equal items is popped first. Moses2's
/// own lists of 53 and 100 differ from run to run; its list of 589 equals ours without a table
/// limit, and its list of 415 with a pop limit of 2,000.
fn tied_sentences(weights: &str, distinct: &str) -> &'static [usize] {
    match (weights, distinct) {
        (_, "") => &[],
        ("default", _) => &[415],
        _ => &[53, 100, 589],
    }
}

fn check_m30k_lists(weights: &str, distinct: &str) {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.gz");
    // Distinct lists reach twenty times as far into the lattice, so a part of the text has to do.
    let count = if distinct.is_empty() || use_all_lines() { usize::MAX } else { 300 };
    let text = lossy_text(&read_decompressed(&data.join("corpus/test.de.gz")));
    let input = folder.path().join("input");
    fs::write(&input, text.split_inclusive('\n').take(count).collect::<String>()).unwrap();
    let suffix = if weights == "tuned" { ".tuned" } else { "" };
    let best = run(miriam()
        .args(["translate", "-f"])
        .arg(data.join(format!("text{suffix}.ini")))
        .arg("-i")
        .arg(&input)
        .args("-search-algorithm 1 -cube-pruning-pop-limit 400 -s 400 -threads 2".split(' '))
        .arg("-n-best-list")
        .arg(&list)
        .args(format!("100 {distinct}").split_whitespace()));
    let oracle = data.join("oracle");
    let expected = read_decompressed(&oracle.join(format!("test.{weights}.1best.gz")));
    let expected: Vec<&[u8]> = expected.split_inclusive(|&b| b == b'\n').take(count).collect();
    assert!(best == expected.concat(), "{weights}: the best translations");
    let suffix = if distinct.is_empty() { "" } else { "-distinct" };
    let theirs = parse_n_best_lists(&read_decompressed(
        &oracle.join(format!("test.{weights}.nbest100{suffix}.gz")),
    ));
    let theirs = &theirs[..count.min(theirs.len())];
    let ours = parse_n_best_lists(&read_decompressed(&list));
    assert_eq!(ours.len(), theirs.len());
    let differing: Vec<String> = ours
        .iter()
        .zip(theirs)
        .enumerate()
        .filter(|(i, _)| !tied_sentences(weights, distinct).contains(i))
        .filter_map(|(i, (a, b))| first_difference(a, b).map(|d| format!("sentence {i}: {d}")))
        .collect();
    assert!(
        differing.is_empty(),
        "{weights} {distinct}: {} of {} lists differ\n{}",
        differing.len(),
        ours.len(),
        differing.join("\n")
    );
}

#[test]
fn moses2s_lists_with_default_weights() {
    check_m30k_lists("default", "");
}

#[test]
fn moses2s_lists_with_tuned_weights() {
    check_m30k_lists("tuned", "");
}

#[test]
fn moses2s_distinct_lists() {
    check_m30k_lists("default", "distinct");
    check_m30k_lists("tuned", "distinct");
}

fn toy_command() -> Command {
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(project_root().join("examples/toy/moses.ini"));
    command
}

/// Returns the toy system's output for `input`.
fn toy_output(options: &str, input: &str) -> String {
    lossy_text(
        &run_with_input(toy_command().args(options.split_whitespace()), input.as_bytes()).stdout,
    )
}

const HOUSE: &str = "the red house is big .\n";

#[test]
fn columns_of_moses_1_follow_those_of_moses2() {
    let columns = "-n-best-list - 2 -include-segmentation-in-n-best \
                   -print-alignment-info-in-n-best true";
    let output = toy_output(columns, HOUSE);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 3, "one more than asked for, and no best translation: {output}");
    let fields: Vec<&str> = lines[0].split("|||").collect();
    assert_eq!(fields[..2], ["0 ", " la casa roja es grande . "]);
    // The distortion is -4: jumps over one word, back over two, and over one.
    assert!(fields[2].starts_with(" WordPenalty0= -6 PhrasePenalty0= 4 TranslationModel0= "));
    assert!(fields[2].contains(" Distortion0= -4 LM0= "), "{output}");
    assert_eq!(fields[3].trim(), "-6.37538");
    assert_eq!(fields[4..], [" 0=0 2=1 1=2 3-5=3-5 ", " 0-0 2-1 1-2 3-3 4-4 5-5 "]);
    let bare = toy_output("-n-best-list /dev/stdout 1 -labeled-n-best-list false", HOUSE);
    assert!(bare.starts_with("0 ||| la casa roja es grande . ||| -6 4 "), "{bare}");
    assert!(bare.lines().next().unwrap().ends_with(" ||| -6.37538"), "{bare}");
}

#[test]
fn the_values_of_a_line_give_its_score() {
    // The weights of the toy ini, in its order.
    let weights = [-0.5, 0.2, 0.2, 0.2, 0.2, 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.5];
    for search in ["0", "1"] {
        let options = format!("-n-best-list - 50 -search-algorithm {search}");
        let output = toy_output(&options, HOUSE);
        assert!(output.lines().count() > 10, "{output}");
        let mut last = f64::INFINITY;
        for line in output.lines() {
            let columns: Vec<&str> = line.split(" ||| ").collect();
            let values = columns[2].split(' ').filter(|v| !v.ends_with('='));
            let values: Vec<f64> = values.map(|v| v.parse().unwrap()).collect();
            assert_eq!(values.len(), weights.len());
            let score: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
            let total: f64 = columns[3].parse().unwrap();
            assert!((score - total).abs() < 1e-4, "{score}: {line}");
            assert!(total <= last, "sorted: {line}");
            last = total;
        }
    }
}

#[test]
fn the_breakdown_is_cumulative() {
    let output = toy_output("-tt", HOUSE);
    let phrases: Vec<&str> = output.trim_end().split(" | ").collect();
    let starts: Vec<&str> = phrases.iter().map(|p| p.split(',').next().unwrap()).collect();
    assert_eq!(starts, ["la |0-0", "casa |2-2", "roja |1-1", "es grande . |3-5"]);
    for (phrase, (words, distortion)) in
        phrases.iter().zip([(1, "0"), (2, "-1"), (3, "-3"), (6, "-4")])
    {
        assert!(phrase.contains(&format!(",WordPenalty0= -{words}.000 ")), "{phrase}");
        assert!(phrase.contains(&format!(" Distortion0= {distortion}.000 ")), "{phrase}");
    }
    let unscored = toy_output("-tt -t", "\n");
    assert_eq!(unscored, "\n");
}

#[test]
fn alignments_numbers_unknown_words_and_details() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let input = "the red house is big .\nanselmo reads .\n\n";
    let output = run_with_input(
        toy_command()
            .args(["-print-id", "-print-alignment-info", "-start-translation-id", "7"])
            .args(["-sort-word-alignment", "1", "-alignment-output-file"])
            .arg(at("alignment.gz"))
            .arg("-output-unknowns")
            .arg(at("unknown"))
            .arg("-T")
            .arg(at("details")),
        input.as_bytes(),
    );
    assert_eq!(
        lossy_text(&output.stdout),
        "7 la casa roja es grande . ||| 0-0 2-1 1-2 3-3 4-4 5-5 \n\
         8 anselmo lee . ||| 0-0 1-1 2-2 \n\
         9 ||| \n"
    );
    let alignment = lossy_text(&read_decompressed(&at("alignment.gz")));
    assert_eq!(alignment, "0-0 2-1 1-2 3-3 4-4 5-5 \n0-0 1-1 2-2 \n\n");
    assert_eq!(lossy_text(&read_decompressed(&at("unknown"))), "\nanselmo \n\n");
    let details = lossy_text(&read_decompressed(&at("details")));
    assert_eq!(details.matches("TRANSLATION HYPOTHESIS DETAILS:").count(), 3);
    let head = "\nTRANSLATION HYPOTHESIS DETAILS:\n         SOURCE: [0..0] the\n  TRANSLATED AS: la\n  \
                WORD ALIGNED: 0-0 \n         SOURCE: [2..2] house\n";
    assert!(details.starts_with(head), "{details}");
    assert!(details.contains("  SOURCE: 0 2 1 3-4-5\n  TARGET: 0 1 2 3-4-5\n"), "{details}");
    assert!(details.contains("core=(0.000,-6.000,4.000,"), "{details}");
    let dropped = toy_output("-drop-unknown -T /dev/stdout", "anselmo reads .\n");
    assert!(dropped.contains("TRANSLATED AS: <EPSILON>\n"), "{dropped}");
    assert!(dropped.contains("\tdropped=anselmo\n") && dropped.contains("SOURCE: del(0) 1"));
}

/// Alignments of a phrase are sorted by source position, or by target position.
#[test]
fn the_order_of_alignments() {
    let swapped = "a big city .\n";
    let output = |sort: &str| toy_output(&format!("-print-alignment-info {sort}"), swapped);
    assert_eq!(output(""), "una ciudad grande . ||| 0-0 1-2 2-1 3-3 \n");
    assert_eq!(output("-sort-word-alignment 1"), "una ciudad grande . ||| 0-0 2-1 1-2 3-3 \n");
}

#[test]
fn the_search_graph_is_connected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.zst");
    for search in ["0", "1"] {
        let command = &mut toy_command();
        command.args(["-search-algorithm", search, "-output-search-graph"]).arg(&path);
        run_with_input(command, b"the red house is big .\n\n");
        let graphs = lossy_text(&read_decompressed(&path));
        let graphs: Vec<serde_json::Value> =
            graphs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(graphs.len(), 2);
        assert_eq!((&graphs[0]["id"], &graphs[1]["id"]), (&0.into(), &1.into()));
        let empty = &graphs[1]["pieces"][0];
        assert_eq!(empty["hypotheses"].as_array().unwrap().len(), 1);
        let hypotheses = graphs[0]["pieces"][0]["hypotheses"].as_array().unwrap();
        let find = |id: &serde_json::Value| hypotheses.iter().find(|h| h["id"] == *id).unwrap();
        let (mut best, mut recombined) = (f64::NEG_INFINITY, 0);
        for hypothesis in hypotheses.iter().skip(1) {
            let back = find(&hypothesis["back"]);
            assert!(back["id"].as_u64() < hypothesis["id"].as_u64());
            assert!(hypothesis["text"].is_string() && hypothesis["span"].is_array());
            if !hypothesis["recombined"].is_null() {
                recombined += 1;
                let winner = find(&hypothesis["recombined"]);
                assert!(winner["future"].as_f64() >= hypothesis["future"].as_f64());
            }
            if hypothesis["complete"] == true {
                best = best.max(hypothesis["score"].as_f64().unwrap());
            }
        }
        assert!((best - -6.37538).abs() < 1e-4, "{best}");
        assert!(recombined > 0, "search {search}");
    }
}

#[test]
fn lists_of_odd_lines() {
    let nothing = "WordPenalty0= 0 PhrasePenalty0= 0 TranslationModel0= 0 0 0 0 \
                   LexicalReordering0= 0 0 0 0 0 0 Distortion0= 0 LM0= 0";
    assert_eq!(toy_output("-n-best-list - 3", "\n"), format!("0 ||| ||| {nothing} ||| 0\n"));
    assert_eq!(toy_output("-n-best-list - 3 -n-best-factor 0", HOUSE), "");
    assert_eq!(toy_output("-n-best-list - 0", HOUSE), "");
    // At most factor times size candidates are tried.
    assert_eq!(toy_output("-n-best-list - 2 -n-best-factor 1", HOUSE).lines().count(), 2);
    let distinct = toy_output("-n-best-list - 30 distinct", HOUSE);
    let mut words: Vec<&str> = distinct.lines().map(|l| l.split(" ||| ").nth(1).unwrap()).collect();
    words.sort_unstable();
    assert!(words.len() > 2 && words.windows(2).all(|w| w[0] != w[1]), "{distinct}");
    // A line that is translated in parts has one entry, the words of its translation.
    let long = vec!["the red house is big ."; 400].join(" ");
    let cheap = "-search-algorithm 1 -s 10 -cbp 10";
    let best = toy_output(cheap, &long);
    let output = toy_output(&format!("{cheap} -n-best-list - 5"), &long);
    assert_eq!(output.lines().count(), 1);
    let columns: Vec<&str> = output.split(" ||| ").collect();
    assert_eq!(format!("{} \n", columns[1]), best);
    assert!(columns[2].starts_with(&format!("WordPenalty0= -{} ", best.split(' ').count() - 1)));
}

#[test]
fn lists_do_not_depend_on_threads() {
    let input = read_decompressed(&project_root().join("examples/toy/input.txt"));
    let folder = tempfile::tempdir().unwrap();
    let list = |threads: &str| {
        let path = folder.path().join(threads);
        let command = &mut toy_command();
        command.args(["-threads", threads, "-n-best-list"]).arg(&path).arg("20");
        let output = run_with_input(command, &input).stdout;
        (output, fs::read(path).unwrap())
    };
    assert!(list("1") == list("2"));
}

#[test]
fn wrong_list_options_are_rejected() {
    let refused = |options: &[&str]| {
        let output = toy_command().args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        lossy_text(&output.stderr)
    };
    assert!(refused(&["-n-best-list", "list"]).contains("SIZE"));
    assert!(refused(&["-n-best-list", "list", "many"]).contains("many"));
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, HOUSE).unwrap();
    let message =
        run_to_error(toy_command().arg("-i").arg(&input).arg("-alignment-output-file").arg(&input));
    assert!(message.contains("also the output"), "{message}");
    assert_eq!(fs::read(&input).unwrap(), HOUSE.as_bytes());
}

/// Programs that read n-best lists need an entry for every line; that of a malformed line equals
/// that of an empty one.
#[test]
fn a_malformed_line_has_an_empty_entry() {
    let lists = |input: &str, options: &str| {
        let mut command = miriam();
        command.args(["translate", "-quiet", "-xml-input", "exclusive", "-f"]);
        command.arg(project_root().join("examples/toy/moses.ini"));
        command.args(["-n-best-list", "-", "2"]).args(options.split_ascii_whitespace());
        lossy_text(&run_with_input(&mut command, input.as_bytes()).stdout)
    };
    let malformed = "the house\n<np translation='x'> red\nthe dog\n";
    let empty = "the house\n\nthe dog\n";
    for options in ["", "-print-alignment-info-in-n-best -include-segmentation-in-n-best"] {
        assert_eq!(lists(malformed, options), lists(empty, options));
    }
    let numbers = lists(malformed, "-labeled-n-best-list false");
    let numbers: Vec<&str> = numbers.lines().map(|line| &line[..1]).collect();
    assert!(numbers.contains(&"1") && numbers.is_sorted(), "{numbers:?}");
    assert_eq!(lists(malformed, "-n-best-factor 0"), "");
}
