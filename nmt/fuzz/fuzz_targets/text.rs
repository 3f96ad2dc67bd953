//! Any bytes as YAML, as a decoder's configuration, and as a vocabulary of each form.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_nmt::yaml::Value;
use miriam_nmt::{Settings, Vocabulary};

fuzz_target!(|bytes: &[u8]| {
    let _ = Value::parse(bytes, "fuzz");
    let _ = Settings::parse(bytes, Path::new("fuzz.yml"));
    for name in ["v.yml", "v.txt", "v.spm"] {
        if let Ok(vocabulary) = Vocabulary::parse(bytes, Path::new(name)) {
            assert!((vocabulary.end() as usize) < vocabulary.len());
            assert!((vocabulary.unknown() as usize) < vocabulary.len());
            for (id, word) in vocabulary.iter().enumerate() {
                assert_eq!(vocabulary.find(word), Some(id as u32));
            }
        }
    }
});
