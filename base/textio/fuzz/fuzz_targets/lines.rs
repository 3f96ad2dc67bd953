//! Arbitrary bytes as text, compressed or not: they give lines, fields and numbers, or an error.
//! `cargo +nightly fuzz run lines` in `base/textio`.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use miriam_textio::{Input, Lines, fields, number};

fuzz_target!(|data: &[u8]| {
    let size = Some(data.len() as u64);
    let Ok(input) = Input::from_reader(Cursor::new(data.to_vec()), "fuzz", size) else { return };
    let mut lines = Lines::new(input);
    let mut out = Vec::new();
    while let Ok(Some(line)) = lines.next() {
        for field in fields::split_fields(line.bytes) {
            for word in fields::split_words(field) {
                if let Some(value) = number::parse_f32(word) {
                    out.clear();
                    number::push_shortest_f32(&mut out, value);
                    number::push_general(&mut out, f64::from(value));
                }
            }
        }
    }
});
