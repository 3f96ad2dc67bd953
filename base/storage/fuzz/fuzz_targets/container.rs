//! Arbitrary bytes as a container: they give an error, or sections that lie within the bytes.
//! `cargo +nightly fuzz run container` in `base/storage`.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_storage::dictionary::Dictionary;
use miriam_storage::{Bytes, Container};

fuzz_target!(|data: &[u8]| {
    if let Ok(container) = Container::from_bytes(Bytes::copy_from(data), Path::new("fuzz")) {
        for section in container.sections() {
            let _ = container.section::<u8>(&section.name);
            let _ = container.section::<u64>(&section.name);
        }
        let _ = container.metadata::<(u32, Vec<u64>, String)>();
        if let Ok(words) = Dictionary::open(&container, "source") {
            let _ = (words.find(b"word"), words.verify());
        }
        let _ = container.verify();
    }
});
