//! Tables built from text have the entries of the text, compared with a slow reference, in random
//! shapes, with several threads, memory bounds and pruning.

mod reference;

use miriam_probingpt::{BuildOptions, load_reordering_text, load_text};
use miriam_textio::NoProgress;
use proptest::prelude::*;
use reference::{Line, build, check, lines, open, options, sort, write};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_built_file_has_the_entries_of_its_text(mut lines in lines(120)) {
        let folder = tempfile::tempdir().unwrap();
        sort(&mut lines);
        let output = folder.path().join("table");
        build(&options(folder.path(), &lines), &output);
        check(&open(&output), &lines, true);
    }

    #[test]
    fn a_text_table_in_any_order_is_loaded_as_it_is(lines in lines(80), threads in 1usize..3) {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "table", lines.iter().map(Line::text));
        let table = load_text(&path, None, threads, &NoProgress).unwrap();
        let without: Vec<Line> =
            lines.into_iter().map(|l| Line { reordering: None, ..l }).collect();
        check(&table, &without, false);
    }

    #[test]
    fn a_text_reordering_table_is_loaded_as_it_is(lines in lines(80), threads in 1usize..3) {
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<Line> = lines
            .into_iter()
            .filter(|l| l.reordering.is_some())
            .map(|l| Line {
                scores: Vec::new(),
                alignment: Vec::new(),
                counts: String::new(),
                extra: String::new(),
                ..l
            })
            .collect();
        prop_assume!(!lines.is_empty());
        let text = lines.iter().map(|l| format!("{} {}", l.pair(), l.reordering.as_ref().unwrap().join(" ")));
        let path = write(folder.path(), "table", text);
        let wanted = lines[0].reordering.as_ref().map(Vec::len);
        let table = load_reordering_text(&path, wanted, threads, &NoProgress).unwrap();
        prop_assert_eq!(table.num_scores(), 0);
        check(&table, &lines, false);
    }

    #[test]
    fn threads_and_memory_do_not_change_a_byte(mut lines in lines(400), memory in 0u64..4000) {
        let folder = tempfile::tempdir().unwrap();
        sort(&mut lines);
        let options = options(folder.path(), &lines);
        let output = folder.path().join("table");
        let report = build(&options, &output);
        let bytes = std::fs::read(&output).unwrap();
        for (threads, memory) in [(3, None), (1, Some(memory)), (2, Some(memory))] {
            let changed = BuildOptions { threads, memory, ..options.clone() };
            prop_assert_eq!(&build(&changed, &output), &report);
            prop_assert!(std::fs::read(&output).unwrap() == bytes, "{threads} {memory:?}");
        }
    }

    #[test]
    fn pruning_keeps_the_highest_third_scores(mut lines in lines(200), limit in 1usize..4) {
        prop_assume!(lines[0].scores.len() >= 3);
        sort(&mut lines);
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("table");
        let options = BuildOptions { prune: Some(limit), ..options(folder.path(), &lines) };
        let report = build(&options, &output);
        let third = |l: &Line| l.scores[2].parse::<f64>().unwrap() as f32;
        let mut kept = Vec::new();
        for group in lines.chunk_by(|a, b| a.source == b.source) {
            let mut best: Vec<usize> = (0..group.len()).collect();
            best.sort_by(|&a, &b| third(&group[b]).total_cmp(&third(&group[a])));
            best.truncate(limit);
            best.sort_unstable();
            kept.extend(best.into_iter().map(|i| group[i].clone()));
        }
        prop_assert_eq!(report.pruned, (lines.len() - kept.len()) as u64);
        check(&open(&output), &kept, true);
    }
}

/// Returns a line of a table.
fn plain(source: &str, target: &str, scores: &[&str]) -> Line {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    Line {
        source: words(source),
        target: words(target),
        scores: scores.iter().map(|s| (*s).to_owned()).collect(),
        alignment: vec![(0, 0)],
        counts: "4 3 1".into(),
        extra: String::new(),
        reordering: None,
    }
}

/// Sections from 32 MiB on are aligned to huge pages.
#[test]
fn memory_does_not_change_a_large_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = (0..400_000).map(|i| {
        // Too many values for codes: 80 bytes of scores per entry.
        let scores = format!("{} ", i % 5000).repeat(20);
        format!("{i} ||| t ||| {scores}")
    });
    let phrase_table = write(folder.path(), "table", text);
    let output = folder.path().join("out");
    let bytes = [None, Some(1 << 20)].map(|memory| {
        let phrase_table = phrase_table.clone();
        let options = BuildOptions { phrase_table, memory, threads: 2, ..BuildOptions::default() };
        build(&options, &output);
        let sections = open(&output).container().sections().to_vec();
        let records = sections.iter().find(|s| s.name == "records").unwrap();
        assert!(records.length >= 32 << 20);
        std::fs::read(&output).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn thousands_of_targets_and_phrases() {
    let mut lines = Vec::new();
    for i in 0..3000u32 {
        let mut line =
            plain("viele", &format!("many t{i} w{}", i % 70), &["0.5", "0.1", "0.5", "0.2"]);
        line.scores[1] = format!("{}", 1.0 / f64::from(i + 1));
        line.reordering = Some(vec![format!("0.{}", 1 + i % 300), "0.5".into()]);
        lines.push(line);
    }
    for i in 0..20_000u32 {
        let mut line = plain(&format!("q{i} q{}", i / 3), "t", &["0.5", "0.1", "0.25", "0.2"]);
        line.counts = format!("{} {} 1", 1 + i % 3, 1 + i % 2);
        line.reordering = (i % 7 > 0).then(|| vec!["0.25".into(), "1".into()]);
        lines.push(line);
    }
    sort(&mut lines);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("table");
    let report = build(&options(folder.path(), &lines), &output);
    assert_eq!(report.missing_reordering, 20_000u64.div_ceil(7));
    let table = open(&output);
    check(&table, &lines, true);
    assert_eq!(table.max_targets(), 3000);
}

/// Fourteen long records of one bucket need shifted starts.
#[test]
fn records_too_far_apart_for_16_bits_have_shifted_starts() {
    let mut lines = Vec::new();
    for source in 0..400 {
        for target in 0..400 {
            lines.push(plain(&format!("s{source}"), &format!("t{target} a b c"), &["0.5"; 9]));
        }
    }
    for (i, line) in lines.iter_mut().enumerate() {
        for (k, score) in line.scores.iter_mut().enumerate() {
            *score = format!("{}", 1.0 / (i * 10 + k + 2) as f64);
        }
    }
    sort(&mut lines);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("table");
    build(&options(folder.path(), &lines), &output);
    check(&open(&output), &lines, true);
}

#[test]
fn spans_stop_at_unknown_words() {
    let lines = [plain("a", "x", &["1"]), plain("a b", "x y", &["1"]), plain("b c", "y z", &["1"])];
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("table");
    build(&options(folder.path(), &lines), &output);
    let table = open(&output);
    let id = |word: &str| table.source_words().find(word.as_bytes()).unwrap();
    let mut lookup = miriam_probingpt::SpanLookup::new();
    let spans = |lookup: &miriam_probingpt::SpanLookup| {
        lookup.hits().iter().map(|h| (h.start, h.end)).collect::<Vec<_>>()
    };
    table.lookup_spans(&[id("a"), id("b"), id("c")], 7, &mut lookup);
    assert_eq!(spans(&lookup), [(0, 1), (0, 2), (1, 3)]);
    table.lookup_spans(&[id("a"), id("b"), id("c")], 1, &mut lookup);
    assert_eq!(spans(&lookup), [(0, 1)]);
    table.lookup_spans(&[id("a"), u32::MAX, id("b"), id("c")], 7, &mut lookup);
    assert_eq!(spans(&lookup), [(0, 1), (2, 4)]);
    table.lookup_spans(&[], 7, &mut lookup);
    assert!(lookup.hits().is_empty());
    assert_eq!(table.find(&[]), None);
    assert_eq!(table.find(&[u32::MAX]), None);
}
