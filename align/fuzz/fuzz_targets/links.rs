//! Fuzz target of `parse_links`: links survive printing and parsing; invalid bytes give an error,
//! never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_align::{parse_links, print_links};
use miriam_textio::Line;

fuzz_target!(|bytes: &[u8]| {
    let (mut links, mut again, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let line = |bytes| Line { bytes, number: 1, terminated: true };
    if parse_links("fuzz", &line(bytes), &mut links).is_ok() {
        print_links(&links, &mut text);
        parse_links("fuzz", &line(&text[..text.len() - 1]), &mut again).expect("printed links can be parsed");
        assert_eq!(links, again);
    }
});
