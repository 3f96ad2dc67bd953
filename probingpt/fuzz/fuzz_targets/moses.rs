//! Any bytes as the files of a ProbingPT directory of Moses: opening and reading
//! must not panic. The first byte chooses the file of `probingpt/testdata/moses/logarithms` that
//! the rest replaces.
//!
//! `cargo +nightly fuzz run moses`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_probingpt::{AnyTable, SpanLookup, Targets};
use miriam_storage::LoadMethod;

const FILES: [&str; 7] = [
    "Alignments.dat",
    "TargetColl.dat",
    "TargetVocab.dat",
    "cache",
    "config",
    "probing_hash.dat",
    "source_vocabids",
];

fuzz_target!(|data: &[u8]| {
    let Some((&file_number, bytes)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let originals = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/moses/logarithms");
    for (i, file) in FILES.into_iter().enumerate() {
        let to = folder.path().join(file);
        if i == usize::from(file_number) % FILES.len() {
            std::fs::write(to, bytes).expect("writing the file");
        } else {
            std::fs::copy(originals.join(file), to).expect("copying the others");
        }
    }
    let Ok(table) = AnyTable::open(folder.path(), LoadMethod::Lazy) else { return };
    let mut targets = Targets::new();
    let _ = table.for_each_source(|record, _| table.read_targets(record, &mut targets));
    let mut lookup = SpanLookup::new();
    table.lookup_spans(&[0, 1, 2, 3, 0, 1], 7, &mut lookup);
    for hit in lookup.hits() {
        let _ = table.read_targets(hit.record, &mut targets);
    }
    let _ = table.statistics();
});
