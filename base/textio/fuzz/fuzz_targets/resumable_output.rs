//! Arbitrary bytes as an unfinished file and its state: an output continues it or begins anew.
//! `cargo +nightly fuzz run resumable_output` in `base/textio`.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use miriam_textio::ResumableOutput;

fuzz_target!(|data: (Vec<u8>, Vec<u8>)| {
    let (partial, state) = data;
    let folder = std::env::temp_dir().join(format!("miriam-fuzz-{}", std::process::id()));
    let _ = fs::create_dir(&folder);
    let path = folder.join("out");
    fs::write(folder.join("out.partial"), &partial).expect("the folder is ours");
    fs::write(folder.join("out.partial.state"), &state).expect("the folder is ours");
    let output = ResumableOutput::open(&path, Some("job")).expect("the file can be written");
    output.finish_if(true).expect("the file can be written");
});
