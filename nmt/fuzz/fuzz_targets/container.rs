//! Any bytes as the sections of a model file of ours. Header and table are made to fit,
//! so that what lies behind the checksums is reached.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_layout::{Bytes, Container, ContainerWriter};
use miriam_nmt::{KIND, file, verify};

const SEED: &[u8] = include_bytes!("../../testdata/tiny.miriam");

fuzz_target!(|changes: &[u8]| {
    let path = Path::new("fuzz");
    let seed = Container::from_bytes(Bytes::copy_from(SEED), path).expect("it is sound");
    let mut writer = ContainerWriter::in_memory(path, KIND, file::VERSION).expect("in memory");
    for (number, info) in (0u8..).zip(seed.sections()) {
        let start = info.offset as usize;
        let mut bytes = SEED[start..start + info.length as usize].to_vec();
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
    if let Ok(package) = file::from_container(&container) {
        for (_, tensor) in package.models[0].parameters() {
            assert_eq!(tensor.values().len(), tensor.count());
        }
        for vocabulary in package.words.iter().flat_map(|words| &words.vocabularies) {
            let _ = vocabulary.iter().map(|word| vocabulary.find(word)).count();
        }
        let _ = verify(&container);
    }
});
