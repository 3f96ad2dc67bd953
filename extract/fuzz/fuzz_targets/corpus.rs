//! Fuzz target of extraction. The input is cut at zero bytes into four files: source, target, links
//! and checkpoint. Extraction must write tables or return an error, never panic.
//!
//! Checkpoints are parsed, but never resumed: a checkpoint is resumed only if it has the digest of
//! the corpus, which a fuzzer does not guess.
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
    let [source, target, links, _checkpoint] = &files;
    let _ = extract_files(source, target, links, folder.path(), &options, &NoProgress);
});
