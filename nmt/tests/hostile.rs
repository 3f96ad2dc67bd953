//! Damaged and hostile files: every reader returns the content or an error that names the
//! file, never panics, and never allocates out of proportion to the file.

use std::path::{Path, PathBuf};

use miriam_nmt::checkpoint::Checkpoint;
use miriam_nmt::engine::Precision;
use miriam_nmt::formats::ctranslate2;
use miriam_nmt::formats::miriam as miriam_file;
use miriam_nmt::model_file;
use miriam_nmt::network::Network;
use miriam_nmt::{DecoderConfig, ModelBundle};
use miriam_storage::{Bytes, Container};
use proptest::prelude::*;
use proptest::sample::Index;

const FILES: [&str; 10] = [
    "tiny.npz",
    "tiny-deflated.npz",
    "tiny-ct2/model.bin",
    "tiny-ct2-int8/model.bin",
    "ct2-base/model.bin",
    "ct2-base-v1/model.bin",
    "ct2-relative/model.bin",
    "ct2-t5/model.bin",
    "tiny-hf/model.safetensors",
    "marian.bin",
];

/// Models of CTranslate2 with everything that its files may describe.
const CTRANSLATE2_FILES: [&str; 4] =
    ["ct2-base-v1/model.bin", "ct2-relative/model.bin", "ct2-t5/model.bin", "ct2-bart/model.bin"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Returns a `.bin` file of Marian as `neural.md` 1.2 describes it: float matrices, quantised
/// matrices of the two `kinds`, and options.
fn marian_binary(kinds: [u64; 2]) -> Vec<u8> {
    let options = b"type: transformer\n\0".to_vec();
    let quantized = [&[1u8, 255, 127, 129, 0, 64][..], &2.0f32.to_le_bytes()].concat();
    let floats: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let items = [
        ("a_W", kinds[0], vec![3, 2], quantized.clone()),
        ("b", 0x404, vec![1, 2], floats),
        ("c_Wemb", kinds[1], vec![3, 2], quantized),
        ("a_W_QuantMultA", 0x404, vec![1, 1], 8.0f32.to_le_bytes().to_vec()),
        ("special:model.yml", 0x101, vec![options.len() as i32], options),
    ];
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, number: usize| bytes.extend((number as u64).to_le_bytes());
    put(&mut bytes, 1);
    put(&mut bytes, items.len());
    for (name, kind, shape, data) in &items {
        let padded = data.len().next_multiple_of(256);
        for number in [name.len() + 1, *kind as usize, shape.len(), padded] {
            put(&mut bytes, number);
        }
    }
    items.iter().for_each(|(name, ..)| bytes.extend_from_slice(format!("{name}\0").as_bytes()));
    items.iter().for_each(|(_, _, shape, _)| {
        shape.iter().for_each(|side: &i32| bytes.extend(side.to_le_bytes()));
    });
    let padding = (bytes.len() + 8).next_multiple_of(256) - bytes.len() - 8;
    put(&mut bytes, padding);
    bytes.resize(bytes.len() + padding, 0);
    for (.., data) in &items {
        bytes.extend_from_slice(data);
        bytes.resize(bytes.len().next_multiple_of(256), 0);
    }
    bytes
}

fn read_checkpoint(bytes: &[u8]) -> Result<Checkpoint, miriam_nmt::Error> {
    Checkpoint::from_bytes(&Bytes::copy_from(bytes), Path::new("some.file"))
}

#[test]
fn items_of_both_forks_are_read_as_the_spec_says() {
    for kinds in [[0x4101, 0x4101], [0x10001, 0x10001]] {
        let checkpoint = read_checkpoint(&marian_binary(kinds)).unwrap();
        // Weights are stored by columns, embeddings by rows; the multiplier is 2.
        let matrix = checkpoint.get("a_W").unwrap();
        assert_eq!(matrix.values(), [0.5, -63.5, -0.5, 0.0, 63.5, 32.0]);
        let table = checkpoint.get("c_Wemb").unwrap();
        assert_eq!(table.values(), [0.5, -0.5, 63.5, -63.5, 0.0, 32.0]);
        assert_eq!(checkpoint.get("b").unwrap().values(), [1.5, -2.0]);
        assert_eq!(checkpoint.activation_multipliers().get("a_W"), Some(&8.0));
        assert_eq!(checkpoint.options(), Some(&b"type: transformer\n"[..]));
    }
}

#[test]
fn cpu_specific_packing_is_rejected_with_advice() {
    for kind in [0x802, 0x1801, 0x2801, 0x12001, 0x19001] {
        let error = read_checkpoint(&marian_binary([kind, 0x4101])).err().unwrap().to_string();
        assert!(error.contains("a_W") && error.contains("convert the model's .npz"), "{error}");
    }
    let mut encrypted = marian_binary([0x4101; 2]);
    encrypted[0] = 2;
    assert!(read_checkpoint(&encrypted).err().unwrap().to_string().contains("encrypted"));
}

#[test]
fn huge_counts_are_rejected_before_memory_is_allocated() {
    let bytes = marian_binary([0x4101; 2]);
    for at in [8, 16, 32, 40] {
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        assert!(read_checkpoint(&changed).is_err(), "{at}");
    }
    let safetensors = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    assert!(read_checkpoint(&safetensors).is_err());
}

/// Returns an archive of one deflated entry that claims to inflate to `promised` bytes.
fn deflated_archive(content: &[u8], promised: u32) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
    encoder.write_all(content).unwrap();
    let packed = encoder.finish().unwrap();
    let mut checksum = flate2::Crc::new();
    checksum.update(content);
    let common = [
        &[8, 0, 0, 0, 0, 0][..],
        &checksum.sum().to_le_bytes(),
        &(packed.len() as u32).to_le_bytes(),
        &promised.to_le_bytes(),
        &[1, 0, 0, 0],
    ]
    .concat();
    let mut bytes = [b"PK\x03\x04\x14\0\0\0", &common[..], b"a", &packed].concat();
    let directory = bytes.len() as u32;
    bytes.extend([b"PK\x01\x02\x14\0\x14\0\0\0", &common[..], &[0; 14], b"a"].concat());
    let length = bytes.len() as u32 - directory;
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend([length.to_le_bytes(), directory.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn decompression_bombs_are_rejected() {
    let zeros = vec![0; 40 << 20];
    let error =
        read_checkpoint(&deflated_archive(&zeros, zeros.len() as u32)).err().unwrap().to_string();
    assert!(error.contains("too many for a file of this size"), "{error}");
    // An entry is not inflated beyond the size that it claims.
    let error = read_checkpoint(&deflated_archive(&zeros, 100)).err().unwrap().to_string();
    assert!(error.contains("does not unpack to 100 bytes"), "{error}");
    // The archive itself is sound, but has no array.
    let error = read_checkpoint(&deflated_archive(b"no array", 8)).err().unwrap().to_string();
    assert!(error.contains("not a NumPy array"), "{error}");
}

#[test]
fn missing_and_misshapen_parameters_are_named() {
    let npz = std::fs::read(data("tiny.npz")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.npz");
    let complaint = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let mut bytes = npz.clone();
        let places: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|&at| bytes[at..].starts_with(from.as_bytes()))
            .collect();
        assert!(!places.is_empty(), "{from}");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        std::fs::write(&path, bytes).unwrap();
        ModelBundle::open(&path, None).err().expect("it should be rejected").to_string()
    };
    let error = complaint("decoder_l1_context_Wq", "decoder_l1_context_Wx");
    assert!(error.contains("decoder_l1_context_Wq") && error.contains("missing"), "{error}");
    // The options are covered by the archive's checksum.
    let error = complaint("transformer-heads: 2", "transformer-heads: 3");
    assert!(error.contains("checksum"), "{error}");
    let error = complaint("'shape': (4, 6)", "'shape': (6, 4)");
    assert!(error.contains("[6, 4]") && error.contains("[4, 6]"), "{error}");
}

#[test]
fn a_changed_weight_is_found_by_the_archives_checksum() {
    let mut bytes = std::fs::read(data("tiny.npz")).unwrap();
    let header = bytes.windows(6).position(|window| window == b"\x93NUMPY").unwrap();
    bytes[header + 128] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.npz");
    std::fs::write(&path, bytes).unwrap();
    let bundle = ModelBundle::open(&path, None).unwrap();
    assert!(bundle.verify_files().unwrap_err().to_string().contains("checksum"));
    ModelBundle::open(&data("tiny.npz"), None).unwrap().verify_files().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_checkpoints_give_tensors_or_an_error(
        which in 0..FILES.len(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..8),
        front in proptest::collection::vec((0..600usize, any::<u8>()), 0..6),
        cut in proptest::option::of(any::<Index>()),
    ) {
        let mut bytes = match FILES[which] {
            "marian.bin" => marian_binary([0x4101, 0x10002]),
            name => std::fs::read(data(name)).unwrap(),
        };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        // Counts and lengths are at the beginning or, in archives, at the end.
        for (place, byte) in front {
            let at = if which < 2 { bytes.len() - 1 - place } else { place };
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(checkpoint) = read_checkpoint(&bytes) {
            let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
            for name in names {
                let tensor = checkpoint.get(&name).unwrap();
                prop_assert_eq!(tensor.values().len(), tensor.numel());
            }
        }
    }

    #[test]
    fn damaged_models_of_ctranslate2_load_or_give_an_error(
        which in 0..CTRANSLATE2_FILES.len(),
        changes in proptest::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = std::fs::read(data(CTRANSLATE2_FILES[which])).unwrap();
        // After each name comes a shape or a number.
        let names: Vec<usize> =
            (1..bytes.len()).filter(|&at| bytes[at] == 0 && bytes[at - 1].is_ascii_lowercase()).collect();
        for (name, place, byte) in changes {
            let at = names[name.index(names.len())] + 1 + place.index(18);
            if let Some(changed) = bytes.get_mut(at) {
                *changed = byte;
            }
        }
        let path = Path::new("model.bin");
        if let Ok(checkpoint) = read_checkpoint(&bytes)
            && let Ok(model) = ctranslate2::resolve(checkpoint, None)
        {
            let network = Network::load(&model, path, Precision::F32).unwrap();
            let _ = network.session().unwrap().begin(&[&[1, 2, 3]], None);
        }
    }

    #[test]
    fn damaged_model_files_give_a_model_or_an_error(
        place in any::<Index>(), byte in any::<u8>(), cut in proptest::option::of(any::<Index>()),
    ) {
        let mut bytes = converted_file();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(container) = Container::from_bytes(Bytes::copy_from(&bytes), Path::new("file")) {
            let _ = miriam_file::from_container(&container);
            let _ = miriam_nmt::verify(&container);
        }
    }

    #[test]
    fn any_configuration_gives_settings_or_an_error(
        text in "(models|vocabs|shortlist|scorers|weights|normalize|alignment|n-best|max-length|input)(: |:\n  - |: \\[)[a-z0-9.\\]:{} \n-]{0,60}",
    ) {
        let _ = DecoderConfig::parse(text.as_bytes(), Path::new("decoder.yml"));
    }
}

/// Returns a small model as a model file of this program, which is written only once.
fn converted_file() -> Vec<u8> {
    static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let bytes = FILE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.miriam");
        let bundle = ModelBundle::open(&data("tiny-ct2-int8"), None).unwrap();
        model_file::write(&bundle, None, &path, &miriam_textio::NoProgress).unwrap();
        std::fs::read(&path).unwrap()
    });
    bytes.clone()
}
