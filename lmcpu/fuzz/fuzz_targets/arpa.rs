//! Any bytes as ARPA text: a model or an error, never a panic.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use miriam_lmcpu::ArpaOptions;
use miriam_lmcpu::arpa::ArpaReader;
use miriam_textio::{Input, NoProgress};

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::from_reader(Cursor::new(bytes.to_vec()), "fuzz", None) else { return };
    let Ok(mut arpa) = ArpaReader::open(input, ArpaOptions::default(), &NoProgress) else {
        return;
    };
    while let Ok(Some(section)) = arpa.next_section() {
        for i in 0..section.len() {
            assert!(section.ngram(i).iter().all(|&id| (id as usize) < arpa.vocabulary().len()));
            assert!(section.line(i) > 0);
        }
    }
});
