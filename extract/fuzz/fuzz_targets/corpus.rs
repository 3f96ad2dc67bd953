//! Fuzz target of extraction: four parts separated by zero bytes are the source, the target, the
//! links and a checkpoint. Extraction must write tables or return an error, never panic.
//!
//! Of checkpoints only the parsing is covered: one is resumed only if it names the digest of the
//! corpus, which a fuzzer does not find.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_extract::{ExtractOptions, extract_files};
use miriam_textio::{Compression, NoProgress};

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut parts = bytes.splitn(4, |&b| b == 0);
    let files = ["source", "target", "links", "extract.state"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, parts.next().unwrap_or_default()).expect("writable");
        path
    });
    let options = ExtractOptions {
        max_length: 3,
        reordering: Some("hier-mslr-bidirectional-fe".into()),
        compression: Compression::None,
        // Small, so that the text is spilled.
        memory: 4096,
        temp_dir: folder.path().to_owned(),
        threads: 1,
        ..ExtractOptions::default()
    };
    let _ = extract_files(&files[0], &files[1], &files[2], folder.path(), &options, &NoProgress);
});
