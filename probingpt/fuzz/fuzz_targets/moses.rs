//! Any bytes as the files of a ProbingPT directory of Moses: opening and reading
//! must not panic. The first byte says which file of `probingpt/testdata/moses`
//! the rest takes the place of.
//!
//! `cargo +nightly fuzz run moses`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_storage::Load;
use miriam_probingpt::{AnyTable, SpanLookup, Targets};

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
    let Some((&which, bytes)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/moses/logarithms");
    for (i, file) in FILES.into_iter().enumerate() {
        let to = folder.path().join(file);
        if i == usize::from(which) % FILES.len() {
            std::fs::write(to, bytes).expect("writing the file");
        } else {
            std::fs::copy(whole.join(file), to).expect("copying the others");
        }
    }
    let Ok(table) = AnyTable::open(folder.path(), Load::Lazy) else { return };
    let mut targets = Targets::new();
    let _ = table.for_each_source(|record, _| table.targets(record, &mut targets));
    let mut lookup = SpanLookup::new();
    table.lookup_spans(&[0, 1, 2, 3, 0, 1], 7, &mut lookup);
    for hit in lookup.hits() {
        let _ = table.targets(hit.record, &mut targets);
    }
    let _ = table.statistics();
});
