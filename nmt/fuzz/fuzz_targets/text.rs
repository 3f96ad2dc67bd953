//! Any bytes as YAML, as a decoder configuration, and as a vocabulary of each format.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_nmt::yaml::Value;
use miriam_nmt::{DecoderConfig, Vocabulary};

fuzz_target!(|bytes: &[u8]| {
    let _ = Value::parse(bytes, "fuzz");
    let _ = Value::parse_configuration(bytes, "fuzz");
    let _ = DecoderConfig::parse(bytes, Path::new("fuzz.yml"));
    for name in ["v.yml", "v.json", "v.txt", "v.spm", "v.model", "v"] {
        if let Ok(vocabulary) = Vocabulary::parse(bytes, Path::new(name)) {
            assert!((vocabulary.eos_id() as usize) < vocabulary.len());
            assert!((vocabulary.unk_id() as usize) < vocabulary.len());
            for (id, word) in vocabulary.iter().enumerate() {
                assert_eq!(vocabulary.find(word), Some(id as u32));
            }
        }
    }
});
