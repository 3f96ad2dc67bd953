//! Any bytes as a text table: loading must not panic, and a loaded table must pass the
//! full check.
//!
//! `cargo +nightly fuzz run text`

#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use miriam_probingpt::{load_reordering_text, load_text, verify};
use miriam_textio::NoProgress;

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("writing it");
    for table in [
        load_text(file.path(), None, 1, &NoProgress),
        load_reordering_text(file.path(), None, 1, &NoProgress),
    ]
    .into_iter()
    .flatten()
    {
        verify(table.container()).expect("a built table is sound");
    }
});
