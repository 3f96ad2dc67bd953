//! Any bytes as a checkpoint of each format: they give tensors and a model, or an error.
//!
//! The bytes are also used to change small files of all formats except Marian's `.bin`.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_storage::Bytes;
use miriam_nmt::checkpoint::{Checkpoint, CheckpointFormat};
use miriam_nmt::formats::{ctranslate2, hugging_face, marian};
use serde_json::Value;

const SEEDS: [&[u8]; 12] = [
    include_bytes!("../../testdata/tiny.npz"),
    include_bytes!("../../testdata/tiny-deflated.npz"),
    include_bytes!("../../testdata/tiny-ct2/model.bin"),
    include_bytes!("../../testdata/tiny-ct2-int8/model.bin"),
    include_bytes!("../../testdata/tiny-hf/model.safetensors"),
    include_bytes!("../../testdata/ct2-base-v1/model.bin"),
    include_bytes!("../../testdata/ct2-relative/model.bin"),
    include_bytes!("../../testdata/ct2-t5/model.bin"),
    include_bytes!("../../testdata/ct2-bart/model.bin"),
    include_bytes!("../../testdata/tiny-pytorch/archive.bin"),
    include_bytes!("../../testdata/tiny-pytorch/plain.bin"),
    include_bytes!("../../testdata/tiny-pytorch/kinds.bin"),
];
const CONFIG: &[u8] = include_bytes!("../../testdata/tiny-hf/config.json");

fn read(bytes: &[u8]) {
    let path = Path::new("fuzz");
    let bytes = Bytes::copy_from(bytes);
    let Ok(checkpoint) = Checkpoint::from_bytes(&bytes, path) else { return };
    for name in checkpoint.names() {
        let tensor = checkpoint.get(name).expect("it is named");
        assert_eq!(tensor.values().len(), tensor.numel());
    }
    let model = match checkpoint.format() {
        CheckpointFormat::CTranslate2 { .. } => ctranslate2::resolve(checkpoint, None),
        CheckpointFormat::Safetensors | CheckpointFormat::PyTorch => {
            let config: Value = serde_json::from_slice(CONFIG).expect("it is sound");
            hugging_face::resolve(checkpoint, &config, Some(&config))
        }
        _ => marian::resolve(checkpoint, None),
    };
    if let Ok(model) = model {
        assert_eq!(model.parameters().len(), model.architecture().parameters().len());
        let _ = model.architecture().describe();
    }
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let Some((&kind, changes)) = bytes.split_first() else { return };
    let mut changed = SEEDS[usize::from(kind) % SEEDS.len()].to_vec();
    for change in changes.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        // A file has its directory at the beginning or at the end, so changes go to either end.
        let place = if kind < 128 { place } else { changed.len().wrapping_sub(place) };
        if let Some(byte) = changed.get_mut(place) {
            *byte = change[2];
        }
    }
    read(&changed);
});
