//! PyTorch's files of weights: those that PyTorch wrote (`scripts/make_pytorch_golden.py`) give the
//! same tensors as a safetensors file of the model. Hostile ones give errors that name the file.

use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::checkpoint::Checkpoint;
use miriam_storage::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn read(bytes: &[u8]) -> Result<Checkpoint, String> {
    let found = Checkpoint::from_bytes(&Bytes::copy_from(bytes), Path::new("pytorch_model.bin"));
    found.map_err(|error| error.to_string())
}

fn open(name: &str) -> Checkpoint {
    Checkpoint::open(&data(name), Default::default()).unwrap()
}

/// Returns a folder of the small Hugging Face model with the files `weights` as its weights.
fn folder_with(weights: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["config.json", "vocab.json"] {
        std::fs::copy(data("tiny-hf").join(name), folder.path().join(name)).unwrap();
    }
    for (name, bytes) in weights {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn tensors_are_those_of_safetensors() {
    let expected = open("tiny-hf/model.safetensors");
    for name in ["tiny-pytorch/archive.bin", "tiny-pytorch/plain.bin"] {
        let found = open(name);
        assert_eq!(found.format().to_string(), "PyTorch pickle");
        for tensor in expected.names() {
            let [one, other] = [&expected, &found].map(|file| file.get(tensor).unwrap());
            assert_eq!(one.shape(), other.shape(), "{name} {tensor}");
            assert_eq!(one.values(), other.values(), "{name} {tensor}");
        }
        // The other names of the table share its storage.
        let tied = found.get("lm_head.weight").unwrap().values();
        assert_eq!(tied, expected.get("model.shared.weight").unwrap().values());
        assert_eq!(found.names().count(), expected.names().count() + 3);
        Checkpoint::verify_file(&data(name)).unwrap();
    }
}

/// Users of PyTorch may choose the protocol of pickles.
#[test]
fn files_of_every_binary_protocol_are_read() {
    let plain = std::fs::read(data("tiny-pytorch/plain.bin")).unwrap();
    let expected = read(&plain).unwrap();
    let frame = b"\x95\x0d\0\0\0\0\0\0\0";
    for (protocol, frame) in [(3, &frame[..0]), (4, frame), (5, frame)] {
        let file = [&[0x80, protocol], frame, &plain[2..]].concat();
        let found = read(&file).unwrap();
        assert!(found.names().eq(expected.names()), "{protocol}");
        for name in expected.names() {
            let [one, other] = [&expected, &found].map(|file| file.get(name).unwrap().values());
            assert_eq!(one, other, "{protocol} {name}");
        }
    }
}

#[test]
fn elements_of_every_kind_and_views_are_read() {
    let found = open("tiny-pytorch/kinds.bin");
    let values = |name: &str| found.get(name).unwrap().values();
    for kind in ["float32", "float16", "bfloat16", "float64"] {
        assert_eq!(values(kind), [0.5, -2.0, 3.0, 7.0, -1.0, 100.0], "{kind}");
        assert_eq!(found.get(kind).unwrap().shape(), [2, 3]);
    }
    for kind in ["int64", "int32", "int16", "int8"] {
        assert_eq!(values(kind), [0.0, -2.0, 3.0, 7.0, -1.0, 100.0], "{kind}");
    }
    // Rows 1 and 2, and columns 2 and 3, of the numbers 0 to 23 in rows of six.
    assert_eq!(values("rows"), (6..18).map(|n| n as f32).collect::<Vec<_>>());
    assert_eq!(values("columns"), [2.0, 3.0, 8.0, 9.0, 14.0, 15.0, 20.0, 21.0]);
    assert_eq!((values("scalar"), values("empty").len()), (vec![4.0], 0));
    let skipped = found.skipped_tensors();
    assert_eq!(skipped, [("bool".to_owned(), "elements of kind BoolStorage".to_owned())]);
}

#[test]
fn folders_with_pytorch_files_are_models() {
    let expected = ModelBundle::open(&data("tiny-hf"), None).unwrap();
    let [archive, plain] = ["archive.bin", "plain.bin"]
        .map(|name| std::fs::read(data("tiny-pytorch").join(name)).unwrap());
    let index = br#"{"weight_map": {"model.shared.weight": "pytorch_model-00001-of-00001.bin"}}"#;
    for weights in [
        &[("pytorch_model.bin", &archive[..])][..],
        &[("pytorch_model.bin", &plain)],
        &[("pytorch_model.bin.index.json", index), ("pytorch_model-00001-of-00001.bin", &archive)],
    ] {
        let folder = folder_with(weights);
        let found = ModelBundle::open(folder.path(), None).unwrap();
        let [one, other] = [&expected, &found].map(|bundle| &bundle.models[0]);
        assert_eq!(one.architecture(), other.architecture());
        for ((name, tensor), (same, ours)) in one.parameters().zip(other.parameters()) {
            assert_eq!((name, tensor.values()), (same, ours.values()));
        }
    }
    // If a folder has a safetensors file and a pickle, the pickle is not read.
    let safe = std::fs::read(data("tiny-hf/model.safetensors")).unwrap();
    let folder = folder_with(&[("model.safetensors", &safe), ("pytorch_model.bin", b"bad")]);
    assert!(ModelBundle::open(folder.path(), None).is_ok());
    let folder = folder_with(&[("pytorch_model.bin", &archive[..archive.len() - 40])]);
    let error = ModelBundle::open(folder.path(), None).err().unwrap().to_string();
    assert!(error.contains("pytorch_model.bin"), "{error}");
}

/// Returns an archive whose entries are stored without compression.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let length = (content.len() as u32).to_le_bytes();
        let common = [
            &20u16.to_le_bytes()[..],
            &[0; 8],
            &checksum.sum().to_le_bytes(),
            &length,
            &length,
            &(name.len() as u16).to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        directory.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 10]].concat());
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), content].concat());
    }
    let (count, start) = ((members.len() as u16).to_le_bytes(), bytes.len() as u32);
    bytes.extend(&directory);
    bytes.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count].concat());
    bytes.extend([(directory.len() as u32).to_le_bytes(), start.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

/// Pickles as Python's pickler writes them, in protocol 2.
mod write {
    pub fn text(text: &str) -> Vec<u8> {
        [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
    }

    pub fn number(number: i64) -> Vec<u8> {
        [b"\x8a\x08", &number.to_le_bytes()[..]].concat()
    }

    pub fn name(module: &str, name: &str) -> Vec<u8> {
        format!("c{module}\n{name}\n").into_bytes()
    }

    pub fn tuple(items: &[Vec<u8>]) -> Vec<u8> {
        [b"(", &items.concat()[..], b"t"].concat()
    }

    pub fn call(function: Vec<u8>, arguments: &[Vec<u8>]) -> Vec<u8> {
        [function, tuple(arguments), b"R".to_vec()].concat()
    }

    pub fn storage(kind: &str, key: &str, len: i64) -> Vec<u8> {
        let id = [text("storage"), name("torch", kind), text(key), text("cpu"), number(len)];
        [tuple(&id), b"Q".to_vec()].concat()
    }

    pub fn tensor(storage: Vec<u8>, offset: i64, shape: &[i64], strides: &[i64]) -> Vec<u8> {
        let sizes = |sizes: &[i64]| tuple(&sizes.iter().map(|&n| number(n)).collect::<Vec<_>>());
        let hooks = call(name("collections", "OrderedDict"), &[]);
        let arguments =
            [storage, number(offset), sizes(shape), sizes(strides), b"\x89".to_vec(), hooks];
        call(name("torch._utils", "_rebuild_tensor_v2"), &arguments)
    }

    pub fn dict(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let items = entries.iter().flat_map(|(name, value)| [text(name), value.clone()]);
        let items = items.collect::<Vec<_>>().concat();
        [b"\x80\x02}(", &items[..], b"u."].concat()
    }
}

/// Returns a file with one tensor and two storages of four floats, to which the tensor may refer.
fn file(tensor: Vec<u8>) -> Vec<u8> {
    let floats: Vec<u8> = [1f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let pickle = write::dict(&[("w", tensor)]);
    archive(&[("m/data.pkl", &pickle), ("m/data/0", &floats), ("m/data/1", &floats)])
}

/// Returns the small Hugging Face model as an archive; `bias` is the pickled bias of the output
/// layer, if it is in the file.
fn model_with_bias(bias: Option<Vec<u8>>) -> Vec<u8> {
    let model = open("tiny-hf/model.safetensors");
    let (mut entries, mut storages) = (Vec::new(), Vec::new());
    for (key, name) in model.names().filter(|name| *name != "final_logits_bias").enumerate() {
        let tensor = model.get(name).unwrap();
        let shape: Vec<i64> = tensor.shape().iter().map(|&side| side as i64).collect();
        let strides: Vec<i64> =
            (1..=shape.len()).map(|axis| shape[axis..].iter().product()).collect();
        let storage = write::storage("FloatStorage", &key.to_string(), tensor.numel() as i64);
        entries.push((name, write::tensor(storage, 0, &shape, &strides)));
        let bytes: Vec<u8> = tensor.values().iter().flat_map(|x| x.to_le_bytes()).collect();
        storages.push((format!("m/data/{key}"), bytes));
    }
    entries.extend(bias.map(|bias| ("final_logits_bias", bias)));
    let pickle = write::dict(&entries);
    let mut members = vec![("m/data.pkl", &pickle[..])];
    members.extend(storages.iter().map(|(name, bytes)| (&name[..], &bytes[..])));
    archive(&members)
}

/// Older files of mBART lack the bias of the output layer, which is then 0. A bias that the file
/// has in a form that is not read is not 0.
#[test]
fn a_bias_that_cannot_be_read_is_not_zero() {
    let open = |bias| {
        let folder = folder_with(&[("pytorch_model.bin", &model_with_bias(bias))]);
        ModelBundle::open(folder.path(), None).map_err(|error| error.to_string())
    };
    open(None).unwrap();
    let sizes =
        |sizes: &[i64]| write::tuple(&sizes.iter().map(|&n| write::number(n)).collect::<Vec<_>>());
    let scheme = [
        write::name("torch", "per_tensor_affine"),
        [b"G", &0.5f64.to_be_bytes()[..]].concat(),
        write::number(0),
    ];
    let quantized = write::call(
        write::name("torch._utils", "_rebuild_qtensor"),
        &[
            write::storage("QInt8Storage", "bias", 25),
            write::number(0),
            sizes(&[1, 25]),
            sizes(&[25, 1]),
            write::tuple(&scheme),
            b"\x89".to_vec(),
            write::call(write::name("collections", "OrderedDict"), &[]),
        ],
    );
    let packed = write::tuple(&[quantized.clone(), b"N".to_vec()]);
    for (bias, reason) in [
        (quantized, "it was not read (a quantised tensor of PyTorch)"),
        (packed, "it was not read (it is not a tensor)"),
        (b"N".to_vec(), "it was not read (it is not a tensor)"),
    ] {
        let error = open(Some(bias)).err().unwrap();
        assert!(error.contains("final_logits_bias") && error.contains(reason), "{error}");
    }
}

#[test]
fn hostile_tensors_are_rejected_by_name() {
    let floats = |len| write::storage("FloatStorage", "0", len);
    let tensor = |storage: Vec<u8>, offset, shape: &[i64], strides: &[i64]| {
        read(&file(write::tensor(storage, offset, shape, strides)))
    };
    let sound = tensor(floats(4), 0, &[2, 2], &[1, 2]).unwrap();
    assert_eq!(sound.get("w").unwrap().values(), [1.0, 3.0, 2.0, 4.0]);
    for (found, part) in [
        (tensor(floats(4), 1, &[2, 2], &[2, 1]), "reaches beyond its storage"),
        (tensor(floats(4), 0, &[2, 2], &[4, 1]), "reaches beyond"),
        (tensor(floats(4), 0, &[1 << 40, 1 << 40], &[1, 1]), "reaches beyond"),
        (tensor(floats(4), 0, &[1 << 40], &[0]), "reaches beyond"),
        (tensor(floats(4), 0, &[2, 2], &[i64::MAX, i64::MAX]), "reaches beyond"),
        (tensor(floats(4), i64::MAX, &[2], &[1]), "reaches beyond"),
        (tensor(floats(4), -1, &[2], &[1]), "-1 is not a size"),
        (tensor(floats(4), 0, &[2, 2], &[1]), "1 strides for a shape of 2 dimensions"),
        (tensor(floats(4), 0, &[1; 40], &[1; 40]), "a tensor of 40 dimensions"),
        (tensor(floats(5), 0, &[4], &[1]), "expected 5 elements of 4 bytes, found 16 bytes"),
        (tensor(floats(i64::MAX), 0, &[4], &[1]), "elements of 4 bytes, found"),
        (
            tensor(write::storage("FloatStorage", "9", 4), 0, &[4], &[1]),
            "it is missing in the archive",
        ),
        (
            tensor(write::storage("FloatStorage", "../0", 4), 0, &[4], &[1]),
            "it is missing in the archive",
        ),
        (tensor(write::storage("SecretStorage", "0", 4), 0, &[4], &[1]), "torch.SecretStorage"),
        (tensor(write::number(1), 0, &[4], &[1]), "expected a storage"),
    ] {
        let error = found.err().unwrap_or_else(|| panic!("{part}"));
        assert!(error.contains(part) && error.contains("pytorch_model.bin"), "{part}: {error}");
    }
}

#[test]
fn hostile_pickles_are_rejected() {
    let pickle = |body: &[u8]| read(&archive(&[("m/data.pkl", body)])).err().unwrap();
    let run = write::call(write::name("os", "system"), &[write::text("touch /tmp/x")]);
    let error = pickle(&[b"\x80\x02", &run[..], b"."].concat());
    assert!(error.contains("os.system") && error.contains("not executed"), "{error}");
    let named = [write::text("builtins"), write::text("eval"), b"\x93.".to_vec()].concat();
    assert!(pickle(&named).contains("builtins.eval"));
    // Depth, cycles, endless lists, a huge index into the memo, and a list that is copied again and
    // again.
    let deep = [&b")"[..], &b"\x85".repeat(900_000), b"."].concat();
    assert!(pickle(&deep).contains("not a dictionary"));
    let cycle = b"]q\x00h\x00a.";
    assert!(pickle(cycle).contains("not a dictionary"));
    let far = b"}r\xff\xff\xff\xff.";
    assert!(pickle(far).contains("no tensors"));
    let endless = [&b"]"[..], &b"(e".repeat(600_000), b"."].concat();
    assert!(pickle(&endless).contains("opcodes"));
    let pairs = [&b"](NN\x86"[..], &b"NN\x86".repeat(20_000), b"eq\x00"].concat();
    let copies = b"ccollections\nOrderedDict\nh\x00\x85R".repeat(60);
    assert!(pickle(&[&pairs[..], &copies, b"."].concat()).contains("too many items"));
    for (body, part) in [
        (&b""[..], "the file is truncated"),
        (b"}", "the file is truncated"),
        (b".", "the stack is empty"),
        (b"X\xff\xff\xff\xffab.", "the file is truncated"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\xffab.", "the file is truncated"),
        (b"\x80\x09.", "protocol 9"),
        (b"u.", "a mark is missing"),
        (b"}(Nu.", "a key without a value"),
        (b"NNa.", "expected a container"),
        (b"h\x07.", "object 7 was not stored"),
        (b"NNR.", "not a function"),
        (b"NQ.", "expected a tuple"),
        (b"(NNNNNtQ.", "persistent id"),
        (b"i", "opcode 0x69"),
        (b"P0\n.", "opcode 0x50"),
        (b"N.", "not a dictionary"),
        (b"}(NNu.", "whose name is not a text"),
        (b"}.", "no tensors"),
    ] {
        let error = pickle(body);
        assert!(error.contains(part), "{part}: {error}");
    }
    let foreign = archive(&[("m/data.pkl", b"}."), ("m/byteorder", b"big")]);
    assert!(read(&foreign).err().unwrap().contains("little-endian"));
}

/// Returns a file that is not an archive: pickles, and the storages after them.
fn plain(tensors: &[u8], keys: &[&str], storages: &[u8]) -> Vec<u8> {
    let head = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.";
    let machine = [&b"\x80\x02}"[..], &write::text("little_endian"), b"\x88s."].concat();
    let keys: Vec<Vec<u8>> = keys.iter().map(|key| write::text(key)).collect();
    let keys = [b"\x80\x02](", &keys.concat()[..], b"e."].concat();
    [&head[..], &machine, tensors, &keys, storages].concat()
}

#[test]
fn hostile_files_without_archive_are_rejected() {
    let tensor = write::tensor(write::storage("HalfStorage", "7", 2), 0, &[2], &[1]);
    let tensors = write::dict(&[("w", tensor)]);
    // 1 and -2 in IEEE 754 binary16.
    let storage = [&2u64.to_le_bytes()[..], b"\x00\x3c\x00\xc0"].concat();
    let sound = read(&plain(&tensors, &["7"], &storage)).unwrap();
    assert_eq!(sound.get("w").unwrap().values(), [1.0, -2.0]);
    let long = [&u64::MAX.to_le_bytes()[..], b"\x00\x3c\x00\xc0"].concat();
    for (file, part) in [
        (plain(&tensors, &["7"], &storage[..11]), "storage 7"),
        (plain(&tensors, &["7"], &long), "storage 7"),
        (plain(&tensors, &["8"], &storage), "not the storage of a tensor"),
        (plain(&tensors, &[], &storage), "it is missing in the file"),
        (plain(b"\x80\x02cposix\nsystem\n.", &[], b""), "posix.system"),
    ] {
        let error = read(&file).err().unwrap();
        assert!(error.contains(part) && error.contains("pytorch_model.bin"), "{part}: {error}");
    }
}

/// Returns the elements of a view, found in a slow and obvious way.
fn view(values: &[f32], offset: usize, shape: &[usize], strides: &[usize]) -> Option<Vec<f32>> {
    let mut places = vec![offset];
    for (&side, &stride) in shape.iter().zip(strides) {
        places = places.iter().flat_map(|at| (0..side).map(move |n| at + n * stride)).collect();
    }
    places.into_iter().map(|at| values.get(at).copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn views_are_their_elements_or_rejected(
        values in vec(-9f32..9.0, 1..24),
        offset in 0usize..6,
        sides in vec((1usize..5, 0usize..7), 0..4),
    ) {
        let (shape, strides): (Vec<usize>, Vec<usize>) = sides.into_iter().unzip();
        let [wide, steps] =
            [&shape, &strides].map(|all| all.iter().map(|&n| n as i64).collect::<Vec<i64>>());
        let storage = write::storage("FloatStorage", "0", values.len() as i64);
        let pickle =
            write::dict(&[("w", write::tensor(storage, offset as i64, &wide, &steps))]);
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let found = read(&archive(&[("m/data.pkl", &pickle), ("m/data/0", &bytes)]));
        let expected = view(&values, offset, &shape, &strides);
        match found {
            Ok(found) => {
                prop_assert_eq!(Some(found.get("w").unwrap().values()), expected);
            }
            // A view with more elements than its storage repeats some of them, and is rejected.
            Err(_) => prop_assert!(
                expected.is_none_or(|all| all.len() > values.len())
            ),
        }
    }

    #[test]
    fn damaged_files_are_read_or_rejected(
        name in prop_oneof![Just("archive.bin"), Just("plain.bin"), Just("kinds.bin")],
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = std::fs::read(data("tiny-pytorch").join(name)).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            match read(bytes) {
                Ok(found) => {
                    for name in found.names() {
                        let tensor = found.get(name).unwrap();
                        prop_assert_eq!(tensor.values().len(), tensor.numel());
                    }
                }
                Err(error) => prop_assert!(error.contains("pytorch_model.bin"), "{error}"),
            }
        }
    }
}
