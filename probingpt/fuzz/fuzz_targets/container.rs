//! Any bytes as a phrase table file: opening, reading and verifying must not
//! panic. Start from `probingpt/testdata`. Checksums are repaired below, because otherwise nearly
//! every input would be rejected at the header.
//!
//! `cargo +nightly fuzz run container -- -max_len=65536`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_probingpt::{Annotations, PhraseTable, SpanLookup, Targets, verify};
use miriam_storage::hash::hash64;
use miriam_storage::{Bytes, Container};

/// Repairs the two checksums and the length in the header.
fn repair(bytes: &mut [u8]) {
    if bytes.len() < 4096 {
        return;
    }
    let count = u32::from_le_bytes(bytes[12..16].try_into().expect("4 bytes")) as usize;
    let table = 64..64 + 64 * count.min(63);
    let length = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&length.to_le_bytes());
    let checksum = hash64(&bytes[table]);
    bytes[48..56].copy_from_slice(&checksum.to_le_bytes());
    let checksum = hash64(&bytes[..56]);
    bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
}

fuzz_target!(|data: &[u8]| {
    let mut data = data.to_vec();
    repair(&mut data);
    let Ok(container) = Container::from_bytes(Bytes::copy_from(&data), Path::new("fuzz")) else {
        return;
    };
    let Ok(table) = PhraseTable::from_container(container.clone()) else { return };
    let mut targets = Targets::new();
    let mut annotations = Annotations::new();
    for record in table.records().take(1000) {
        let _ = table.read_targets(record, &mut targets);
        let _ = table.read_annotations(record, &mut annotations);
    }
    table.lookup_spans(&[0, 1, 2, 3, 0, 1], 7, &mut SpanLookup::new());
    let _ = verify(&container);
});
