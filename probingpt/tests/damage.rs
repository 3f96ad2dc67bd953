//! A damaged or hostile file gives errors or other results, never a panic, and files of
//! version 1 stay readable.

mod reference;

use std::path::Path;

use miriam_probingpt::{
    Annotations, AnyTable, EntryPrinter, KIND, PhraseTable, RecordOffset, SpanLookup, Targets,
    VERSION, load_text, verify,
};
use miriam_storage::zerocopy::IntoBytes;
use miriam_storage::{Bytes, Container, ContainerWriter};
use miriam_textio::NoProgress;
use proptest::prelude::*;
use reference::{Line, build, check, open, options};

/// Returns lines with four sources: one of two words with many targets, and three of 7 to 9 words.
/// Their table has columns of all kinds.
fn sample_lines() -> Vec<Line> {
    let mut lines = Vec::new();
    for i in 0..40u32 {
        let words = |n: u32, word: &str| (0..n).map(|k| format!("{word}{}", k % 3)).collect();
        lines.push(Line {
            source: words(if i < 36 { 2 } else { 7 + i % 3 }, "s"),
            target: words(i % 4, "t"),
            scores: ["0.5", "0.25", "0.5", "1"].map(str::to_owned).to_vec(),
            alignment: if i % 4 > 0 { vec![(0, 0), (1, (i % 4 - 1) as u16)] } else { vec![] },
            counts: format!("{} 2 1", 1 + i % 2),
            extra: if i == 7 { "x 1 ||| {{P 1}}".into() } else { String::new() },
            reordering: (i % 4 > 0).then(|| vec!["0.5".into(), "0.25".into()]),
        });
        lines.last_mut().unwrap().scores[1] = format!("0.{}", 100 + i);
    }
    reference::sort(&mut lines);
    lines
}

fn build_bytes(lines: &[Line]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("table");
    build(&options(folder.path(), lines), &output);
    std::fs::read(output).unwrap()
}

/// Reads everything and ignores the results.
fn read_everything(table: PhraseTable) {
    let any = AnyTable::from(table);
    let AnyTable::Native(table) = &any else { unreachable!("made of our table") };
    let mut targets = Targets::new();
    let mut annotations = Annotations::new();
    let mut printer = EntryPrinter::new(&any);
    let mut out = Vec::new();
    let mut words = Vec::new();
    let mut lookup = SpanLookup::new();
    for record in table.records().take(100) {
        let _ = table.read_source(record, &mut words);
        let _ = table.find(&words);
        if table.read_targets(record, &mut targets).is_ok() {
            for i in 0..targets.len() {
                let _ = (targets.scores(i), targets.words(i));
                let _ = table.reordering_scores(targets.reordering_row(i));
                let _ = table.alignment_points(targets.alignment_id(i)).count();
            }
        }
        let _ = table.read_annotations(record, &mut annotations);
        let _ = printer.write_phrase_table(record, &words, &mut out);
        let _ = printer.write_query_result(record, &words, true, &mut out);
        out.clear();
    }
    let ids: Vec<u32> = (0..12).map(|i| i % 4).collect();
    table.lookup_spans(&ids, usize::MAX, &mut lookup);
    let _ = any.statistics();
}

/// Returns the container of `table` with `change` applied to its section `name` and new checksums,
/// so that only this crate's checks remain.
fn with_section(table: &PhraseTable, name: &str, change: impl Fn(&mut Vec<u8>)) -> Container {
    let path = Path::new("changed");
    let mut writer = ContainerWriter::in_memory(path, KIND, VERSION).unwrap();
    let container = table.container();
    for section in container.sections() {
        let size = section.item_size as usize;
        let mut bytes = match size {
            1 => container.section::<u8>(&section.name).unwrap().to_vec(),
            4 => container.section::<u32>(&section.name).unwrap().as_bytes().to_vec(),
            64 => container.section::<[u64; 8]>(&section.name).unwrap().as_bytes().to_vec(),
            _ => unreachable!("no section has items of {size} bytes"),
        };
        if section.name == name {
            change(&mut bytes);
            bytes.truncate(bytes.len() / size * size);
        }
        let mut out = writer.begin_section(&section.name, size, 0).unwrap();
        out.write(&bytes).unwrap();
        out.finish().unwrap();
    }
    Container::from_bytes(writer.finish().unwrap().unwrap(), path).unwrap()
}

#[test]
fn flipped_bits_and_cuts_are_detected() {
    let bytes = build_bytes(&sample_lines());
    let read = |bytes: &[u8]| -> miriam_probingpt::Result<()> {
        let container = Container::from_bytes(Bytes::copy_from(bytes), Path::new("damaged"))?;
        let table = PhraseTable::from_container(container.clone())?;
        read_everything(table);
        container.verify()?;
        verify(&container)
    };
    read(&bytes).unwrap();
    for length in (0..bytes.len()).step_by(61) {
        assert!(read(&bytes[..length]).is_err(), "cut at {length}");
    }
    let mut damaged = bytes.clone();
    for at in (0..bytes.len()).step_by(7) {
        damaged[at] ^= 1 << (at % 8);
        assert!(read(&damaged).is_err(), "bit {} of byte {at}", at % 8);
        damaged[at] = bytes[at];
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_sections_with_right_checksums_do_not_panic(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop_oneof![4 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
    ) {
        thread_local! {
            static FILE: Vec<u8> = build_bytes(&sample_lines());
        }
        let container = FILE.with(|bytes| Container::from_bytes(Bytes::copy_from(bytes), Path::new("whole")));
        let table = PhraseTable::from_container(container.unwrap()).unwrap();
        let section = &which.get(table.container().sections()).name;
        let container = with_section(&table, section, |bytes| {
            if bytes.is_empty() {
                return;
            }
            for (at, value) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
        });
        if let Ok(table) = PhraseTable::from_container(container.clone()) {
            read_everything(table);
            let _ = verify(&container);
        }
    }

    #[test]
    fn records_of_any_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0u64..310) {
        thread_local! {
            static FILE: Vec<u8> = build_bytes(&sample_lines());
        }
        let container = FILE.with(|bytes| Container::from_bytes(Bytes::copy_from(bytes), Path::new("whole")));
        let table = PhraseTable::from_container(container.unwrap()).unwrap();
        let container = with_section(&table, "records", |records| records.clone_from(&bytes));
        let table = PhraseTable::from_container(container).unwrap();
        let mut targets = Targets::new();
        for record in [RecordOffset(at), RecordOffset(0), RecordOffset(u64::MAX)] {
            let _ = table.read_targets(record, &mut targets);
            let _ = table.read_annotations(record, &mut Annotations::new());
        }
        read_everything(table);
    }

    #[test]
    fn text_of_any_bytes_does_not_panic(
        lines in proptest::collection::vec("([a0.|]| ?\\|\\|\\| ?|0-0|0\\.5|-|\t|\r|\\x00){0,14}", 0..6), threads in 1usize..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = reference::write(folder.path(), "text", lines);
        if let Ok(table) = load_text(&path, None, threads, &NoProgress) {
            verify(table.container()).unwrap();
        }
    }
}

/// A phrase table with 0 expected scores is not mistaken for a reordering table.
#[test]
fn a_phrase_table_has_scores() {
    let folder = tempfile::tempdir().unwrap();
    let path = reference::write(folder.path(), "text", ["a ||| b ||| 0.5".into()]);
    let error = load_text(&path, Some(0), 1, &NoProgress).err().unwrap().to_string();
    assert!(error.contains("expected 0 scores, found 1"), "{error}");
}

/// Printing fails instead of leaving out words or points.
#[test]
fn damaged_entries_are_not_printed() {
    let bytes = build_bytes(&sample_lines());
    let container = Container::from_bytes(Bytes::copy_from(&bytes), Path::new("whole")).unwrap();
    let table = PhraseTable::from_container(container).unwrap();
    let word = |offsets: &mut Vec<u8>| offsets[4..8].fill(0xff);
    let points = |points: &mut Vec<u8>| points.fill(0xff);
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let changes: [(&str, Change<'_>); 3] =
        [("source.offsets", &word), ("target.offsets", &word), ("alignment.points", &points)];
    for (section, change) in changes {
        let container = with_section(&table, section, change);
        let any = AnyTable::from(PhraseTable::from_container(container).unwrap());
        let AnyTable::Native(table) = &any else { unreachable!("made of our table") };
        let mut printer = EntryPrinter::new(&any);
        let result = any.for_each_source(|record, source| {
            printer.write_query_result(record, source, false, &mut Vec::new())?;
            printer.write_phrase_table(record, source, &mut Vec::new())
        });
        let error = result.expect_err(section).to_string();
        assert!(error.contains(section), "{error}");
        assert!(table.source_word(u32::MAX).is_err() && table.target_word(u32::MAX).is_err());
    }
}

/// The file that version 1 wrote for [`sample_lines`].
#[test]
fn files_of_version_1_stay_readable() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/version-1.pt");
    check(&open(&path), &sample_lines(), true);
}

/// Building is deterministic across machines: [`sample_lines`] gives the same file on each. A
/// change of the layout needs a new version.
#[test]
fn builds_write_version_1() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/version-1.pt");
    let bytes = build_bytes(&sample_lines());
    if std::env::var_os("MIRIAM_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    assert!(std::fs::read(path).unwrap() == bytes);
}
