//! Any bytes as the configuration of three sound models, one each of Hugging Face, Marian and
//! CTranslate2: the model opens and loads, or there is an error.
//!
//! The bytes are also used to change sound configurations.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_storage::Bytes;
use miriam_nmt::checkpoint::Checkpoint;
use miriam_nmt::formats::{ctranslate2, hugging_face, marian};
use miriam_nmt::engine::Precision;
use miriam_nmt::network::Network;
use miriam_nmt::yaml::Value;

const HUGGING_FACE: &[u8] = include_bytes!("../../testdata/tiny-hf/model.safetensors");
const CONFIG: &[u8] = include_bytes!("../../testdata/tiny-hf/config.json");
const MARIAN: &[u8] = include_bytes!("../../testdata/tiny.npz");
const CTRANSLATE2: &[u8] = include_bytes!("../../testdata/tiny-ct2/model.bin");

fn open(text: &[u8], options: &[u8]) {
    let path = Path::new("fuzz");
    let checkpoint = |bytes| {
        Checkpoint::from_bytes(&Bytes::copy_from(bytes), path).expect("it is sound")
    };
    let mut models = Vec::new();
    if let Ok(config) = serde_json::from_slice(text) {
        models.extend(hugging_face::resolve(checkpoint(HUGGING_FACE), &config, Some(&config)));
    }
    if let Ok(options) = Value::parse(options, "model.yml") {
        let epsilon = options.get("epsilon").and_then(Value::as_str).and_then(|e| e.parse().ok());
        models.extend(ctranslate2::resolve(checkpoint(CTRANSLATE2), epsilon));
        models.extend(marian::resolve(checkpoint(MARIAN), Some(&options)));
    }
    for model in models {
        let _ = Network::load(&model, path, Precision::F32);
    }
}

fuzz_target!(|bytes: &[u8]| {
    open(bytes, bytes);
    let options = checkpoint_options();
    let changed = |sound: &[u8]| {
        let mut text = sound.to_vec();
        for change in bytes.chunks_exact(3) {
            let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
            if let Some(byte) = text.get_mut(place) {
                *byte = change[2];
            }
        }
        text
    };
    open(&changed(CONFIG), &changed(&options));
});

/// Returns the options of the Marian model.
fn checkpoint_options() -> Vec<u8> {
    let checkpoint = Checkpoint::from_bytes(&Bytes::copy_from(MARIAN), Path::new("fuzz"));
    checkpoint.expect("it is sound").options().unwrap_or_default().to_vec()
}
