//! Any bytes as a line with markup: elements whose spans lie within the words, or an error that
//! names a column of the line. `cargo +nightly fuzz run markup` in `decoder`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_decoder::{Brackets, MarkedText};

fuzz_target!(|data: &[u8]| {
    let curly = Brackets { open: "{{".into(), close: "}}".into() };
    for brackets in [Brackets::default(), curly] {
        match MarkedText::parse(data, &brackets) {
            Ok(text) => {
                for element in &text.elements {
                    assert!(element.start <= element.end && element.end <= text.words.len());
                }
            }
            Err(error) => assert!((1..=data.len() + 1).contains(&error.column)),
        }
    }
});
