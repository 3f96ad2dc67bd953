//! Any bytes as changes to the sections of model files: one without packed weights, and one packed
//! for each precision that every model supports. Header and section table are made to fit, so that
//! the code after the checksums is reached. A file that opens is loaded.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use miriam_storage::{Bytes, Container, ContainerWriter};
use miriam_nmt::engine::Precision;
use miriam_nmt::network::Network;
use miriam_nmt::formats::miriam as miriam_file;
use miriam_nmt::model_file;
use miriam_nmt::{KIND, ModelBundle, verify};
use miriam_textio::NoProgress;

/// The files that the bytes change.
static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let plain = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/tiny.miriam");
    let bundle = ModelBundle::open(&plain, None).expect("it is sound");
    let packed = std::env::temp_dir().join(format!("miriam-fuzz-{}", std::process::id()));
    let mut seeds = vec![std::fs::read(plain).expect("it is there")];
    for precision in Precision::FOR_ANY_MODEL {
        model_file::write(&bundle, Some(precision), &packed, &NoProgress).expect("it can be packed");
        seeds.push(std::fs::read(&packed).expect("it was written"));
    }
    let _ = std::fs::remove_file(packed);
    seeds
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, changes)) = bytes.split_first() else { return };
    let bytes = &SEEDS[usize::from(which) % SEEDS.len()];
    let path = Path::new("fuzz");
    let seed = Container::from_bytes(Bytes::copy_from(bytes), path).expect("it is sound");
    let mut writer =
        ContainerWriter::in_memory(path, KIND, seed.kind_version()).expect("in memory");
    for (number, info) in (0u8..).zip(seed.sections()) {
        let start = info.offset as usize;
        let mut bytes = bytes[start..start + info.length as usize].to_vec();
        for change in changes.chunks_exact(4).filter(|change| change[0] == number) {
            let place = usize::from(u16::from_le_bytes([change[1], change[2]]));
            if let Some(byte) = bytes.get_mut(place) {
                *byte = change[3];
            }
        }
        let item = info.item_size as usize;
        let mut section = writer.begin_section(&info.name, item, info.length).expect("in memory");
        section.write(&bytes).expect("in memory");
        section.finish().expect("in memory");
    }
    let bytes = writer.finish().expect("in memory").expect("in memory");
    let container = Container::from_bytes(bytes, path).expect("its checksums fit");
    if let Ok(bundle) = miriam_file::from_container(&container) {
        let model = &bundle.models[0];
        for (_, tensor) in model.parameters() {
            assert_eq!(tensor.values().len(), tensor.numel());
        }
        for vocabulary in bundle.tokenizers.iter().flat_map(|pair| &pair.vocabularies) {
            let _ = vocabulary.iter().map(|word| vocabulary.find(word)).count();
        }
        let _ = verify(&container);
        let _ = Network::load(model, path, model.precision().unwrap_or_default());
    }
});
