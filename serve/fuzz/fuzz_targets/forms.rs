//! Any bytes as a form: urlencoded, and multipart with the first line as its content type.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_serve::http::forms::{parse_form, parse_urlencoded};

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_urlencoded(bytes);
    let (head, body) = bytes.split_at(bytes.iter().position(|&b| b == b'\n').unwrap_or(0));
    let _ = parse_form(&String::from_utf8_lossy(head), body);
});
