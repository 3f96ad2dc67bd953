//! Archives that this program writes are read by its own reader and by NumPy. The test with NumPy
//! needs a Python that has it (`MIRIAM_NUMPY_PYTHON`, else `python3`).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use miriam_nmt::checkpoint::{Checkpoint, DType, NpzWriter};
use miriam_storage::{Bytes, LoadMethod};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// The environment variable that names the file to write, for the child process whose disk is full.
const FULL_DISK_TARGET: &str = "MIRIAM_TEST_FULL_DISK_TARGET";

/// An array to write.
#[derive(Clone, Debug)]
enum Array {
    Floats(Vec<usize>, Vec<f32>),
    Doubles(Vec<usize>, Vec<f64>),
    Bytes(Vec<u8>),
}

fn any_array() -> impl Strategy<Value = Array> {
    let shape = prop::collection::vec(0usize..6, 0..4);
    let floats = shape.clone().prop_flat_map(|shape| {
        let count: usize = shape.iter().product();
        prop::collection::vec(any::<u32>().prop_map(f32::from_bits), count)
            .prop_map(move |values| Array::Floats(shape.clone(), values))
    });
    let doubles = shape.prop_flat_map(|shape| {
        let count: usize = shape.iter().product();
        prop::collection::vec(any::<u64>().prop_map(f64::from_bits), count)
            .prop_map(move |values| Array::Doubles(shape.clone(), values))
    });
    prop_oneof![floats, doubles, prop::collection::vec(any::<u8>(), 0..200).prop_map(Array::Bytes)]
}

/// Arrays by name. Some names are long, not ASCII, or look like file names.
fn any_arrays() -> impl Strategy<Value = BTreeMap<String, Array>> {
    let name =
        prop_oneof!["[a-zA-Z_:.0-9]{1,20}", "[^\\x00]{1,8}", "[a-z]{1,4}\\.npy", "[a-z/]{250,300}"];
    prop::collection::btree_map(name, any_array(), 1..6)
}

fn write(path: &Path, arrays: &BTreeMap<String, Array>) {
    let mut archive = NpzWriter::create(path).unwrap();
    for (name, array) in arrays {
        match array {
            Array::Floats(shape, values) => archive.add_f32(name, shape, values),
            Array::Doubles(shape, values) => archive.add_f64(name, shape, values),
            Array::Bytes(bytes) => archive.add_bytes(name, bytes),
        }
        .unwrap_or_else(|e| panic!("{e}"));
    }
    archive.finish().unwrap();
}

/// Returns type, shape and bytes of an array as a reader should return them.
fn expected(array: &Array) -> (DType, Vec<usize>, Vec<u8>) {
    match array {
        Array::Floats(shape, values) => {
            (DType::F32, shape.clone(), values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
        Array::Doubles(shape, values) => {
            (DType::F64, shape.clone(), values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
        Array::Bytes(bytes) => (DType::I8, vec![bytes.len()], bytes.clone()),
    }
}

proptest! {
    #[test]
    fn arrays_are_read_back_and_aligned(arrays in any_arrays()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        write(&path, &arrays);
        let file = std::fs::read(&path).unwrap();
        write(&path, &arrays);
        prop_assert_eq!(&file, &std::fs::read(&path).unwrap(), "the same bytes again");
        let bytes = Bytes::open(&path, LoadMethod::Lazy).unwrap();
        Checkpoint::verify(&bytes, &path).unwrap();
        let checkpoint = Checkpoint::from_bytes(&bytes, &path).unwrap();
        prop_assert!(checkpoint.names().eq(arrays.keys().map(String::as_str)));
        for (name, array) in &arrays {
            let tensor = checkpoint.get(name).unwrap();
            let found = (tensor.dtype(), tensor.shape().to_vec(), tensor.bytes().to_vec());
            prop_assert_eq!(found, expected(array), "{}", name);
            let offset = tensor.bytes().as_ptr().addr() - bytes.as_ptr().addr();
            prop_assert_eq!(offset % 64, 0, "{}", name);
        }
    }
}

/// Returns the Python to run. If it has no NumPy, prints so and returns `None`.
fn numpy_python() -> Option<std::ffi::OsString> {
    let python = std::env::var_os("MIRIAM_NUMPY_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python)
        .args(["-c", "import numpy"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: no Python with NumPy");
    }
    found.then_some(python)
}

/// Prints name, type, shape and bytes of each array, as Python's zipfile and NumPy read them.
const PRINT_ARRAYS: &str = "
import sys, zipfile, numpy
for path in sys.argv[1:]:
    assert zipfile.ZipFile(path).testzip() is None
    for name, array in numpy.load(path).items():
        shape = ','.join(str(n) for n in array.shape)
        print(name.encode().hex(), array.dtype.str, shape, array.tobytes().hex() + '.')
";

#[test]
fn numpy_reads_the_same_arrays() {
    let Some(python) = numpy_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut paths, mut lines) = (Vec::new(), Vec::new());
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    for number in 0..40 {
        let arrays = any_arrays().new_tree(&mut runner).unwrap().current();
        let path = folder.path().join(format!("{number}.npz"));
        write(&path, &arrays);
        paths.push(path);
        for (name, array) in &arrays {
            let (dtype, shape, bytes) = expected(array);
            let dtype = match dtype {
                DType::F32 => "<f4",
                DType::F64 => "<f8",
                _ => "|i1",
            };
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            let (name, bytes) = (hex(name.as_bytes()), hex(&bytes));
            lines.push(format!("{name} {dtype} {} {bytes}.", shape.join(",")));
        }
    }
    let output = Command::new(python).args(["-c", PRINT_ARRAYS]).args(&paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn arrays_that_cannot_be_written_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let mut archive = NpzWriter::create(&path).unwrap();
    archive.add_f32("w", &[2], &[1.0, 2.0]).unwrap();
    let long = "ä".repeat(40_000);
    let sixty_thousand_dimensions = [1; 60_000];
    for (name, shape, reason) in [
        ("w", &[1][..], "already has an array"),
        ("v", &[2], "1 numbers do not fit the shape [2]"),
        ("v", &[usize::MAX, 2], "1 numbers do not fit the shape"),
        ("v", &[0], "1 numbers do not fit the shape [0]"),
        ("v", &sixty_thousand_dimensions, "60000 dimensions"),
        ("", &[1], "not be empty"),
        ("a\0b", &[1], "contain NUL"),
        (&long, &[1], "65,531 bytes"),
    ] {
        let error = archive.add_f32(name, shape, &[0.0]).unwrap_err().to_string();
        assert!(error.contains("a.npz") && error.contains(reason), "{error}");
    }
    // None of the rejected arrays is in the archive.
    archive.finish().unwrap();
    let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
    assert_eq!(checkpoint.names().collect::<Vec<_>>(), ["w"]);
}

#[test]
fn a_full_disk_leaves_the_old_archive() {
    if let Some(target) = std::env::var_os(FULL_DISK_TARGET) {
        let mut archive = NpzWriter::create(Path::new(&target)).unwrap();
        let values = vec![0.0; 1 << 20];
        let error = archive.add_f32("w", &[1 << 20], &values).unwrap_err().to_string();
        assert!(error.contains("a.npz: cannot write") && error.contains("too large"), "{error}");
        // A caller that continues does not get half an archive.
        let error = archive.finish().unwrap_err().to_string();
        assert!(error.contains("was not written"), "{error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    std::fs::write(&path, b"old").unwrap();
    // A limit on file sizes simulates a full disk.
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" --exact \
                  npz_writing::a_full_disk_leaves_the_old_archive --nocapture";
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(FULL_DISK_TARGET, &path)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{output:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file remains");
}
