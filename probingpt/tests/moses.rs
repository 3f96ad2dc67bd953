//! Tests of ProbingPT directories. Directories that Moses' own tool wrote have the entries of their
//! text, and damaged directories give errors, never a panic.
//!
//! `testdata/moses/text` is a table with `{{LexRO}}` properties. `CreateProbingPT` built the
//! directories next to it from this table: `logarithms` with `--log-prob --num-lex-scores 6`,
//! `probabilities` without either option (and without properties).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miriam_probingpt::{AnyTable, EntryPrinter, RecordOffset, SpanLookup, Targets};
use miriam_storage::LoadMethod;
use proptest::prelude::*;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/moses").join(name)
}

fn open(folder: &Path) -> miriam_probingpt::Result<AnyTable> {
    AnyTable::open(folder, LoadMethod::Lazy)
}

/// A line of the text.
struct ExpectedEntry {
    target: Vec<Vec<u8>>,
    scores: Vec<f32>,
    reordering: Vec<f32>,
    alignment: Vec<(u16, u16)>,
}

fn numbers(text: &str) -> Vec<f32> {
    text.split(' ').filter(|n| !n.is_empty()).map(|n| n.parse::<f64>().unwrap() as f32).collect()
}

/// Returns the entries of the text by source.
fn expected_entries() -> BTreeMap<Vec<u8>, Vec<ExpectedEntry>> {
    let mut entries: BTreeMap<Vec<u8>, Vec<ExpectedEntry>> = BTreeMap::new();
    let text = std::fs::read(testdata("text")).unwrap();
    for line in text.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
        let fields: Vec<&[u8]> = miriam_textio::fields::split_fields(line).collect();
        let utf8 = |i: usize| std::str::from_utf8(fields[i]).unwrap();
        let point = |point: &str| {
            let (s, t) = point.split_once('-').unwrap();
            (s.parse().unwrap(), t.parse().unwrap())
        };
        let properties = utf8(6).strip_prefix("{{LexRO").unwrap().strip_suffix("}}").unwrap();
        entries.entry(fields[0].to_vec()).or_default().push(ExpectedEntry {
            target: miriam_textio::fields::split_words(fields[1]).map(<[u8]>::to_vec).collect(),
            scores: numbers(utf8(2)),
            reordering: numbers(properties),
            alignment: utf8(3).split(' ').map(point).collect(),
        });
    }
    entries
}

/// Returns max(ln p, -100); if `stored`, 0 is replaced as `--log-prob` replaces it.
fn stored_score(p: f32, stored: bool) -> f32 {
    match p.ln().max(-100.0) {
        0.0 if stored => 1e-10,
        ln => ln,
    }
}

fn ids(table: &AnyTable, source: &[u8]) -> Vec<u32> {
    let words = miriam_textio::fields::split_words(source);
    words.map(|word| table.find_source_word(word).unwrap_or(u32::MAX)).collect()
}

#[test]
fn a_directory_has_the_entries_of_its_text() {
    for (name, stored) in [("logarithms", true), ("probabilities", false)] {
        let table = open(&testdata(name)).unwrap();
        assert_eq!(
            (table.num_scores(), table.num_reordering_scores()),
            (4, if stored { 6 } else { 0 })
        );
        let mut targets = Targets::new();
        for (source, entries) in expected_entries() {
            let record = table.find(&ids(&table, &source)).expect("it is in the table");
            table.read_targets(record, &mut targets).unwrap();
            assert_eq!(targets.len(), entries.len());
            for (i, entry) in entries.iter().enumerate() {
                let words = targets.words(i).iter().map(|&id| table.target_word(id).unwrap());
                assert!(words.eq(&entry.target));
                let logarithms = |values: &[f32]| -> Vec<f32> {
                    values.iter().map(|&p| stored_score(p, stored)).collect()
                };
                assert_eq!(targets.scores(i), logarithms(&entry.scores));
                let reordering = table.reordering_scores(&targets, i).map(<[f32]>::to_vec);
                assert_eq!(reordering, stored.then(|| logarithms(&entry.reordering)));
                let alignment: Vec<_> = table.alignment_points(targets.alignment_id(i)).collect();
                assert_eq!(alignment, entry.alignment);
            }
        }
        for absent in ["haus das", "das das", "nichts", "das nichts", ""] {
            assert_eq!(table.find(&ids(&table, absent.as_bytes())), None, "{absent}");
        }
    }
}

/// A directory lists the sources in its cache: here all sources but `!`.
#[test]
fn sources_are_listed_from_the_cache_and_counted() {
    let table = open(&testdata("logarithms")).unwrap();
    let mut listed = Vec::new();
    let left_out = table.for_each_source(|record, source| -> miriam_probingpt::Result<()> {
        assert_eq!(table.find(source), Some(record));
        let words: Vec<&[u8]> = source.iter().map(|&id| table.source_word(id).unwrap()).collect();
        listed.push(words.join(&b' '));
        Ok(())
    });
    assert_eq!(left_out.unwrap(), 1);
    assert_eq!(listed[0], b"das", "the most frequent");
    listed.push(b"!".to_vec());
    listed.sort();
    assert!(listed.iter().eq(expected_entries().keys()));
    let statistics = table.statistics().unwrap();
    let entries: Vec<usize> = expected_entries().values().map(Vec::len).collect();
    assert_eq!(statistics.entries, entries.iter().sum::<usize>() as u64);
    assert_eq!(statistics.max_targets, *entries.iter().max().unwrap());
    assert_eq!(statistics.max_target_length, 3);
}

/// Reads everything and ignores the results.
fn read_everything(table: &AnyTable) {
    let mut targets = Targets::new();
    let mut out = Vec::new();
    let mut printer = EntryPrinter::new(table);
    let mut read = |record, source: &[u32]| {
        if table.read_targets(record, &mut targets).is_ok() {
            for i in 0..targets.len() {
                let _ = (targets.scores(i), table.reordering_scores(&targets, i));
                let _ = table.alignment_points(targets.alignment_id(i)).count();
            }
        }
        out.clear();
        let _ = printer.write_query_result(record, source, true, &mut out);
        let _ = printer.write_phrase_table(record, source, &mut out);
        let _ = printer.write_reordering_table(record, source, &mut out);
    };
    let _ = table.for_each_source(|record, source| -> miriam_probingpt::Result<()> {
        read(record, source);
        Ok(())
    });
    let sentence: Vec<u32> = (0..20).map(|i| i % 8).collect();
    let mut lookup = SpanLookup::new();
    table.lookup_spans(&sentence, usize::MAX, &mut lookup);
    for hit in lookup.hits() {
        read(hit.record, &sentence[hit.start as usize..hit.end as usize]);
    }
    for record in [0, 1, 8, u64::MAX - 1, u64::MAX] {
        read(RecordOffset(record), &[0, u32::MAX]);
    }
    let _ = table.statistics();
}

const FILES: [&str; 7] = [
    "Alignments.dat",
    "TargetColl.dat",
    "TargetVocab.dat",
    "cache",
    "config",
    "probing_hash.dat",
    "source_vocabids",
];

/// A private copy of a directory, to be damaged.
struct TableCopy(tempfile::TempDir);

impl TableCopy {
    fn from_testdata(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in FILES {
            std::fs::copy(testdata(name).join(file), folder.path().join(file)).unwrap();
        }
        TableCopy(folder)
    }

    fn read(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(file)).unwrap()
    }

    /// Opens the directory with `bytes` as the new contents of `file`. The file is created anew,
    /// because an open table keeps the old one mapped.
    fn open_with_file(&self, file: &str, bytes: &[u8]) -> miriam_probingpt::Result<AnyTable> {
        let path = self.0.path().join(file);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        open(self.0.path())
    }
}

#[test]
fn truncated_files_are_rejected_or_harmless() {
    let copy = TableCopy::from_testdata("logarithms");
    for file in FILES {
        let original = copy.read(file);
        for length in 0..original.len() {
            if let Ok(table) = copy.open_with_file(file, &original[..length]) {
                read_everything(&table);
            }
        }
        copy.open_with_file(file, &original).unwrap();
    }
}

#[test]
fn a_missing_file_is_named() {
    for file in FILES.into_iter().filter(|&file| file != "cache") {
        let copy = TableCopy::from_testdata("logarithms");
        std::fs::remove_file(copy.0.path().join(file)).unwrap();
        let error = open(copy.0.path()).err().expect(file).to_string();
        let reason = if file == "config" { "nor a ProbingPT" } else { "No such file" };
        assert!(error.contains(file) && error.contains(reason), "{error}");
    }
}

/// Errors say what is wrong, most of them with the line or the field.
#[test]
fn errors_name_file_and_line() {
    let copy = TableCopy::from_testdata("logarithms");
    let cases: [(&str, &str, &str, &[&str]); 18] = [
        ("config", "VERSION\t15", "VERSION\t14", &["version 14", "version 15", "pt build"]),
        ("config", "API_VERSION", "API_VERSIAN", &["API_VERSION is missing"]),
        ("config", "uniq_entries\t", "uniq_entries\t1", &["probing_hash.dat", "uniq_entries"]),
        ("config", "num_scores\t4", "num_scores\t0", &["line 3", "num_scores", "between 1"]),
        ("config", "num_scores\t4", "num_scores\t999", &["line 3", "num_scores"]),
        ("config", "num_lex_scores\t6", "num_lex_scores\t-1", &["line 4", "field 2"]),
        ("config", "log_prob\t1", "log_prob\t2", &["line 5", "log_prob"]),
        ("config", "log_prob\t1", "log_prob 1", &["line 5", "tab"]),
        ("source_vocabids", "haus\t", "maus\t", &["field 2", "hash"]),
        ("source_vocabids", "\t", "\tx", &["line 1", "not a number"]),
        ("TargetVocab.dat", "\t3\n", "\t4\n", &["line", "twice"]),
        ("TargetVocab.dat", "\t3\n", "\t0\n", &["line", "from 1"]),
        ("TargetVocab.dat", "\t3\n", "\t4294967297\n", &["line", "from 1"]),
        ("TargetVocab.dat", "house\t", "the\t", &["two ids"]),
        ("Alignments.dat", "0\t0 0 \n", "0\t0 0 1 \n", &["line", "target position"]),
        ("Alignments.dat", "0\t0 0 \n", "0\t0 65536 \n", &["line", "65536"]),
        ("Alignments.dat", "0\t0 0 \n", "4000000000\t0 0 \n", &["4000000000", "larger than"]),
        ("Alignments.dat", "0\t0 0 \n", "9\t0 0 \n", &["alignment 0", "missing"]),
    ];
    for (file, from, to, named) in cases {
        let original = copy.read(file);
        let at = original.windows(from.len()).position(|w| w == from.as_bytes()).expect(from);
        let changed = [&original[..at], to.as_bytes(), &original[at + from.len()..]].concat();
        let error = copy.open_with_file(file, &changed).err().expect(to).to_string();
        for part in named {
            assert!(error.contains(part), "{file} {to}: {error}");
        }
        copy.open_with_file(file, &original).unwrap();
    }
}

/// Damaged bytes of the record of "das", and the error of each.
#[test]
fn damaged_records_are_errors() {
    let copy = TableCopy::from_testdata("logarithms");
    let original = copy.read("TargetColl.dat");
    let table = open(copy.0.path()).unwrap();
    let record = table.find(&ids(&table, b"das")).unwrap();
    let at = record.0 as usize;
    // The number of targets (twice), alignment, number of words, properties, first word.
    let cases: [(usize, &[u8], &str); 6] = [
        (0, &[0], "no targets"),
        (5, &[1], "truncated"),
        (8, &[99], "Alignments.dat"),
        (17, &[0xff], "truncated"),
        (18, &[1], "properties"),
        (24 + 40, &[77], "TargetVocab.dat"),
    ];
    for (offset, bytes, named) in cases {
        let mut changed = original.clone();
        changed[at + offset..][..bytes.len()].copy_from_slice(bytes);
        let table = copy.open_with_file("TargetColl.dat", &changed).unwrap();
        let mut targets = Targets::new();
        let error = table.read_targets(record, &mut targets).expect_err(named).to_string();
        assert!(error.contains(named) && error.contains("TargetColl.dat"), "{error}");
        assert!(error.contains(&format!("record at {at}")), "{error}");
        assert!(targets.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn changed_files_do_not_panic(
        which in 0..FILES.len(),
        probabilities: bool,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let copy = TableCopy::from_testdata(if probabilities { "probabilities" } else { "logarithms" });
        let mut bytes = copy.read(FILES[which]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(table) = copy.open_with_file(FILES[which], &bytes) {
            read_everything(&table);
        }
    }

    /// Looking up all spans at once equals single lookups.
    #[test]
    fn lookup_of_all_spans_equals_single_lookups(
        sentence in proptest::collection::vec(prop_oneof![0u32..7, Just(u32::MAX)], 0..12),
        longest in 0usize..5,
    ) {
        let table = open(&testdata("logarithms")).unwrap();
        let mut lookup = SpanLookup::new();
        table.lookup_spans(&sentence, longest, &mut lookup);
        let mut expected = Vec::new();
        for start in 0..sentence.len() {
            for end in start + 1..=sentence.len().min(start + longest) {
                if let Some(record) = table.find(&sentence[start..end]) {
                    expected.push((start as u32, end as u32, record));
                }
            }
        }
        let found: Vec<_> = lookup.hits().iter().map(|h| (h.start, h.end, h.record)).collect();
        prop_assert_eq!(found, expected);
    }
}
