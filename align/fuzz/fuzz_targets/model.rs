//! Any bytes as an alignment model: they are valid or give an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_storage::{Bytes, Container};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = Container::from_bytes(Bytes::copy_from(bytes), Path::new("fuzz")) {
        let _ = file.verify();
        let _ = miriam_align::verify(&file);
    }
});
