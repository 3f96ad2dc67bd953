//! Any bytes as a moses.ini: a configuration or an error.
//! `cargo +nightly fuzz run configuration` in `decoder`.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use miriam_decoder::Configuration;

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("there is room");
    let _ = Configuration::from_ini(file.path());
});
