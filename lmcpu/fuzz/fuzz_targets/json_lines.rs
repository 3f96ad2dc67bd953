//! Any bytes as a JSON line: text or an error, never a panic. `serde_json` reads the same text from
//! an accepted line, and the line stays an object when scores are added.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_lmcpu::json_lines::{SCORE_KEYS, TextField, push_scores, push_with_keys};
use serde_json::Value;

fuzz_target!(|line: &[u8]| {
    let mut text = b"before".to_vec();
    let field = TextField::new("a.t", SCORE_KEYS.to_vec());
    let is_accepted = field.read(line, &mut text).is_ok();
    if is_accepted {
        // A general parser stops at numbers beyond f64 and at deep nesting.
        let Ok(value) = serde_json::from_slice::<Value>(line) else { return };
        assert_eq!(value["a"]["t"].as_str().map(str::as_bytes), Some(&text[6..]));
        let mut scored = Vec::new();
        push_with_keys(line, &mut scored, |out| push_scores(out, -1.5, 2, 1));
        let scored: Value = serde_json::from_slice(&scored).expect("scores keep an object whole");
        assert_eq!(scored["lm_tokens"], 2);
        assert_eq!(scored["a"], value["a"]);
    } else {
        assert_eq!(text, b"before");
    }
});
