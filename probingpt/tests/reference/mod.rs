//! A slow reference phrase table to compare with, and generators of tables.

#![allow(dead_code, reason = "each suite uses its part")]

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_probingpt::{
    Annotations, BuildOptions, BuildReport, PhraseTable, SpanLookup, Targets, build_file,
};
use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;
use proptest::prelude::*;

/// An entry of a text table.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub source: Vec<String>,
    pub target: Vec<String>,
    pub scores: Vec<String>,
    pub alignment: Vec<(u16, u16)>,
    pub counts: String,
    pub extra: String,
    pub reordering: Option<Vec<String>>,
}

impl Line {
    pub fn pair(&self) -> String {
        format!("{} ||| {} |||", self.source.join(" "), self.target.join(" "))
    }

    pub fn text(&self) -> String {
        let alignment: Vec<_> = self.alignment.iter().map(|(s, t)| format!("{s}-{t}")).collect();
        let extra = if self.extra.is_empty() { "|||" } else { &self.extra };
        let (pair, scores) = (self.pair(), self.scores.join(" "));
        format!("{pair} {scores} ||| {} ||| {} ||| {extra}", alignment.join(" "), self.counts)
    }
}

/// Writes `lines` to the file `name` in `folder`, and returns its path.
pub fn write(folder: &Path, name: &str, lines: impl IntoIterator<Item = String>) -> PathBuf {
    let path = folder.join(name);
    let mut file = std::fs::File::create(&path).unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    path
}

/// Sorts by whole lines.
pub fn sort(lines: &mut [Line]) {
    lines.sort_by_key(|l| l.text().into_bytes());
}

/// Writes the phrase table of `lines`, and a reordering table if any line has reordering scores;
/// then the lines must be sorted. Returns the paths.
pub fn write_tables(folder: &Path, lines: &[Line]) -> (PathBuf, Option<PathBuf>) {
    let table = write(folder, "phrase-table", lines.iter().map(Line::text));
    if lines.iter().all(|l| l.reordering.is_none()) {
        return (table, None);
    }
    let mut reordering: Vec<_> = lines
        .iter()
        .filter_map(|l| Some(format!("{} {}", l.pair(), l.reordering.as_ref()?.join(" "))))
        .collect();
    reordering.sort();
    reordering.dedup();
    (table, Some(write(folder, "reordering-table", reordering)))
}

pub fn options(folder: &Path, lines: &[Line]) -> BuildOptions {
    let (phrase_table, reordering) = write_tables(folder, lines);
    BuildOptions { phrase_table, reordering, threads: 1, ..BuildOptions::default() }
}

pub fn build(options: &BuildOptions, output: &Path) -> BuildReport {
    build_file(options, output, &NoProgress).unwrap()
}

pub fn open(path: &Path) -> PhraseTable {
    PhraseTable::open(path, LoadMethod::Lazy).unwrap()
}

/// Returns the stored score of a probability text; if `tiny_for_zero`, 1e-10 is stored for 0.
pub fn score(text: &str, tiny_for_zero: bool) -> f32 {
    let ln = (text.parse::<f64>().unwrap() as f32).ln().max(-100.0);
    if tiny_for_zero && ln == 0.0 { 1e-10 } else { ln }
}

/// Asserts that `table` has the entries of `lines` and no others.
pub fn check(table: &PhraseTable, lines: &[Line], tiny_for_zero: bool) {
    let mut reference: HashMap<Vec<String>, Vec<&Line>> = HashMap::new();
    for line in lines {
        reference.entry(line.source.clone()).or_default().push(line);
    }
    assert_eq!(table.num_entries(), lines.len() as u64);
    assert_eq!(table.num_sources(), reference.len() as u64);
    let longest = reference.keys().map(Vec::len).max().unwrap_or(0);
    assert_eq!(table.max_source_length(), longest);
    let mut targets = Targets::new();
    let mut annotations = Annotations::new();
    let mut lookup = SpanLookup::new();
    for (source, expected) in &reference {
        let ids: Vec<u32> =
            source.iter().map(|w| table.source_words().find(w.as_bytes()).unwrap()).collect();
        let record = table.find(&ids).unwrap_or_else(|| panic!("{source:?} is not found"));
        table.lookup_spans(&ids, usize::MAX, &mut lookup);
        assert!(
            lookup
                .hits()
                .iter()
                .any(|h| (h.start, h.end as usize, h.record) == (0, ids.len(), record)),
            "{source:?} is not a span"
        );
        table.read_targets(record, &mut targets).unwrap();
        table.read_annotations(record, &mut annotations).unwrap();
        assert_eq!((targets.len(), annotations.len()), (expected.len(), expected.len()));
        for (i, line) in expected.iter().enumerate() {
            let words: Vec<_> = targets
                .words(i)
                .iter()
                .map(|&w| String::from_utf8(table.target_words().get(w).unwrap().to_vec()).unwrap())
                .collect();
            assert_eq!(words, line.target);
            let bits = |scores: &[f32]| scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>();
            let stored = |texts: &[String]| {
                texts.iter().map(|t| score(t, tiny_for_zero).to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(targets.scores(i)), stored(&line.scores));
            let points: Vec<_> = table.alignment_points(targets.alignment_id(i)).collect();
            assert_eq!(points, line.alignment);
            let reordering = table.reordering_scores(targets.reordering_row(i));
            assert_eq!(reordering.map(bits), line.reordering.as_deref().map(stored));
            assert_eq!(text(annotations.counts(i)), line.counts);
            assert_eq!(text(annotations.extra(i)), line.extra);
        }
    }
    assert_eq!(table.records().count(), reference.len());
    miriam_probingpt::verify(table.container()).unwrap();
    table.container().verify().unwrap();
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The shape of a generated table.
#[derive(Clone, Debug)]
pub struct Shape {
    pub num_scores: usize,
    pub smoothed: bool,
    pub num_reordering: usize,
    pub alignment: bool,
    /// 0: none, 1: three counts, 2: any text.
    pub counts: u8,
    pub extra: bool,
}

pub fn shape() -> impl Strategy<Value = Shape> {
    let numbers = (
        prop_oneof![3 => Just(4usize), 2 => 1usize..=9],
        prop_oneof![Just(0usize), Just(6), 1usize..5],
    );
    (numbers, any::<bool>(), any::<bool>(), 0u8..3, any::<bool>()).prop_map(
        |((num_scores, num_reordering), smoothed, alignment, counts, extra)| Shape {
            num_scores,
            smoothed,
            num_reordering,
            alignment,
            counts,
            extra,
        },
    )
}

fn words(lengths: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-d]{1,2}|\u{fc}ber|x\\|y", lengths)
}

fn probability(smoothed: bool) -> BoxedStrategy<String> {
    if smoothed {
        (1u32..u32::MAX).prop_map(|n| format!("{}", f64::from(n) / f64::from(u32::MAX))).boxed()
    } else {
        prop_oneof![Just("1"), Just("0.5"), Just("0.25"), Just("0"), Just("1e-60")]
            .prop_map(str::to_owned)
            .boxed()
    }
}

fn line(shape: Shape) -> impl Strategy<Value = Line> {
    let lengths = prop_oneof![8 => Just(1..4usize), 1 => Just(8..12), 1 => Just(30..40)];
    let source = lengths.prop_flat_map(words);
    let target = prop_oneof![9 => words(0..4), 1 => words(254..258)];
    let scores = proptest::collection::vec(probability(shape.smoothed), shape.num_scores);
    let reordering = proptest::collection::vec(probability(false), shape.num_reordering)
        .prop_map(|r| (!r.is_empty()).then_some(r));
    let reordering = (reordering, 0..10).prop_map(|(r, n)| r.filter(|_| n > 0));
    let seeds = proptest::collection::vec((any::<u16>(), any::<u16>()), 0..4);
    let counts = match shape.counts {
        0 => Just(String::new()).boxed(),
        1 => (1..5u32, 1..5u32, 1..3u32).prop_map(|(e, f, j)| format!("{e} {f} {j}")).boxed(),
        _ => "[1-3]?|[1-3] [1-3]|1 2 3 4|2 2 1|0.5 1 1".boxed(),
    };
    let extra = if shape.extra {
        prop_oneof![
            Just(""),
            Just("dom_x 1"),
            Just("||| {{LexRO 0.1 0.2 0.7 0.1 0.2 0.7}}"),
            Just("a 1 b 2 ||| {{Tree [X]}}")
        ]
        .boxed()
    } else {
        Just("").boxed()
    };
    (source, target, scores, reordering, seeds, counts, extra).prop_map(
        move |(source, target, scores, reordering, seeds, counts, extra)| {
            let alignment = if shape.alignment && !target.is_empty() {
                let points =
                    seeds.iter().map(|(s, t)| (s % source.len() as u16, t % target.len() as u16));
                points.collect()
            } else {
                Vec::new()
            };
            let extra = extra.to_owned();
            Line { source, target, scores, alignment, counts, extra, reordering }
        },
    )
}

/// Lines of one shape, with some repeated pairs. Equal pairs have equal
/// reordering scores, as in a real pair of tables.
pub fn lines(max: usize) -> impl Strategy<Value = Vec<Line>> {
    shape().prop_flat_map(move |shape| {
        proptest::collection::vec(line(shape), 1..max).prop_map(|mut lines| {
            let mut reordering = HashMap::new();
            for line in &mut lines {
                let first =
                    reordering.entry(line.pair()).or_insert_with(|| line.reordering.clone());
                line.reordering.clone_from(first);
            }
            lines
        })
    })
}
