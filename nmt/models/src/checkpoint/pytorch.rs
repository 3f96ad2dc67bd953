//! PyTorch's files of weights, `pytorch_model.bin`: a pickle of tensors by name, and their
//! storages.
//!
//! Since PyTorch 1.6 the file is a zip archive of `data.pkl` and the storages. Older files are five
//! pickles in a row and the storages after them. One restricted reader ([`super::pickle`]) reads
//! the pickles of both. Storages stay in the mapped file, unless they are deflated, and tensors
//! share them; only a tensor that is not stored row by row is copied.

use std::collections::HashMap;
use std::path::Path;

use miriam_storage::{Bytes, View};

use super::cursor::Cursor;
use super::owned_bytes::OwnedBytes;
use super::pickle::{Object, Storage, TensorRecord, Unpickled, Value, unpickle};
use super::tensor::{StorageOrder, Tensor};
use super::torch_names::StorageKind;
use super::zip_archive::ZipArchive;
use super::{Checkpoint, CheckpointFormat, NOT_A_TENSOR};
use crate::{Error, Result};

/// The reason of an error about a file from a big-endian machine.
const BIG_ENDIAN: &str =
    "numbers are not little-endian; save the model again on a little-endian machine";
/// The name of the pickle in the only folder of an archive.
const PICKLE: &str = "data.pkl";
/// The first pickle of a file that is not an archive, after its protocol: the number
/// 0x1950a86a20f9469cfc6c.
const MAGIC: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
/// What protocols 4 and 5 put before that number: its length in bytes.
const FRAME: &[u8] = b"\x95\x0d\0\0\0\0\0\0\0";

/// Whether `bytes` begin with the magic number of a file that is not an archive.
pub fn is_plausible(bytes: &[u8]) -> bool {
    after_magic(bytes).is_some()
}

/// Returns the offset after the first pickle of a file that is not an archive; `None` if the file
/// does not begin with it. PyTorch writes protocol 2 unless its user chooses another.
fn after_magic(bytes: &[u8]) -> Option<usize> {
    let [0x80, protocol @ 2..=5, rest @ ..] = bytes else { return None };
    let rest = if *protocol < 4 { rest } else { rest.strip_prefix(FRAME)? };
    Some(bytes.len() - rest.strip_prefix(MAGIC)?.len())
}

/// Whether `archive` is one of PyTorch: it has a `data.pkl`.
pub fn is_archive(archive: &ZipArchive) -> bool {
    find_pickle(archive).is_some()
}

/// Finds the index of the pickle of an archive, and the folder that it is in, with the slash.
fn find_pickle(archive: &ZipArchive) -> Option<(usize, String)> {
    let entries = archive.entries().iter().enumerate();
    entries
        .filter_map(|(index, entry)| Some((index, entry.name.strip_suffix(PICKLE)?)))
        .find(|(_, folder)| {
            folder.is_empty() || folder.ends_with('/') && !folder[..folder.len() - 1].contains('/')
        })
        .map(|(index, folder)| (index, folder.to_owned()))
}

/// Reads an archive of PyTorch.
pub fn read_archive(mut archive: ZipArchive, path: &Path) -> Result<Checkpoint> {
    let (pickle, folder) =
        find_pickle(&archive).ok_or_else(|| Error::damaged(path, "file", "data.pkl is missing"))?;
    let names: HashMap<String, usize> =
        archive.entries().iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)).collect();
    if let Some(&order) = names.get(&format!("{folder}byteorder"))
        && &archive.read_content(order)?[..] != b"little"
    {
        return Err(Error::damaged(path, "byteorder", BIG_ENDIAN));
    }
    let bytes = archive.read_content(pickle)?;
    archive.check_crc(pickle, &bytes)?;
    let place = archive.entries()[pickle].name.clone();
    let found = unpickle(&bytes, 0).map_err(|reason| Error::damaged(path, &place, reason))?;
    let mut read: HashMap<String, OwnedBytes> = HashMap::new();
    let file_len = archive.len();
    build(&found, path, &place, file_len, |storage, key| {
        if let Some(bytes) = read.get(key) {
            return Ok(bytes.clone());
        }
        let name = format!("{folder}data/{key}");
        let index = names
            .get(&name)
            .ok_or_else(|| Error::damaged(path, &name, "it is missing in the archive"))?;
        let bytes = archive.read_content(*index)?;
        check_len(storage, bytes.len()).map_err(|reason| Error::damaged(path, &name, reason))?;
        read.insert(key.to_owned(), bytes.clone());
        Ok(bytes)
    })
}

/// Reads a file that is not an archive. It has the magic number, the version, a description of the
/// machine, the tensors, and the keys of the storages. Then each storage follows, after the number
/// of its elements.
pub fn read_file(window: &OwnedBytes, path: &Path) -> Result<Checkpoint> {
    let next = |start: usize, place: &str| {
        unpickle(window, start).map_err(|reason| Error::damaged(path, place, reason))
    };
    let start = after_magic(window)
        .ok_or_else(|| Error::damaged(path, "file", "its magic number is missing"))?;
    let version = next(start, "version")?;
    if version.root != Value::Int(1001) {
        return Err(Error::damaged(path, "version", "not version 1001; save the model again"));
    }
    let machine = next(version.end, "description")?;
    if machine.entry(machine.root, "little_endian") != Some(Value::Bool(true)) {
        return Err(Error::damaged(path, "description", BIG_ENDIAN));
    }
    let found = next(machine.end, "tensors")?;
    let keys = next(found.end, "keys of storages")?;
    let names = keys.items(keys.root).unwrap_or_default();
    let kinds = storage_kinds(&found, window);
    let mut cursor = Cursor::new(window, path, keys.end);
    let mut storages: HashMap<String, OwnedBytes> = HashMap::new();
    for name in names {
        let key = keys.text(*name).unwrap_or_default().to_owned();
        let place = format!("storage {key}");
        let kind = kinds
            .get(key.as_str())
            .ok_or_else(|| Error::damaged(path, &place, "it is not the storage of a tensor"))?;
        let count = cursor.usize(&place)?;
        let size = count.checked_mul(kind.size);
        let size = size.ok_or_else(|| {
            Error::damaged(path, &place, format!("{count} elements are too many"))
        })?;
        storages.insert(key, cursor.take_shared(size, &place)?);
    }
    build(&found, path, "tensors", window.len(), |storage, key| {
        let place = format!("storage {key}");
        let bytes = storages
            .get(key)
            .ok_or_else(|| Error::damaged(path, &place, "it is missing in the file"))?;
        check_len(storage, bytes.len()).map_err(|reason| Error::damaged(path, &place, reason))?;
        Ok(bytes.clone())
    })
}

/// Returns the kind of the elements of each storage, by its key.
fn storage_kinds<'a>(found: &Unpickled, bytes: &'a [u8]) -> HashMap<&'a str, StorageKind> {
    let kinds = found.storages().filter_map(|storage| {
        let key = std::str::from_utf8(bytes.get(storage.key.clone())?).ok()?;
        Some((key, storage.kind))
    });
    kinds.collect()
}

fn check_len(storage: &Storage, bytes: usize) -> Result<(), String> {
    let size = storage.kind.size;
    match storage.len.checked_mul(size) {
        Some(wanted) if wanted == bytes => Ok(()),
        _ => Err(format!("expected {} elements of {size} bytes, found {bytes} bytes", storage.len)),
    }
}

/// Builds the tensors of a dictionary; `open` gives the bytes of a storage by its key. At most
/// `budget` bytes, the length of the file, are copied.
fn build(
    found: &Unpickled,
    path: &Path,
    place: &str,
    mut budget: usize,
    mut open: impl FnMut(&Storage, &str) -> Result<OwnedBytes>,
) -> Result<Checkpoint> {
    let Some(Object::Dict(entries)) = found.object(found.root) else {
        let reason = "not a dictionary of tensors; save the state_dict of the model";
        return Err(Error::damaged(path, place, reason));
    };
    let mut checkpoint = Checkpoint::new(path, CheckpointFormat::PyTorch);
    for (name, value) in entries {
        let name = found
            .text(*name)
            .ok_or_else(|| Error::damaged(path, place, "an entry whose name is not a text"))?;
        let record = match found.object(*value) {
            Some(Object::Tensor(record)) => record,
            Some(Object::QuantizedTensor) => {
                checkpoint.skip(name, "a quantised tensor of PyTorch".into());
                continue;
            }
            _ => {
                checkpoint.skip(name, NOT_A_TENSOR.into());
                continue;
            }
        };
        let storage = &record.storage;
        let Some(dtype) = storage.kind.dtype else {
            checkpoint.skip(name, format!("elements of kind {}", storage.kind.name));
            continue;
        };
        let key = found.slice(storage.key.clone()).and_then(|key| std::str::from_utf8(key).ok());
        let key = key.ok_or_else(|| Error::damaged(path, name, "a storage without a name"))?;
        let bytes = open(storage, key)?;
        let tensor = elements(record, &bytes, &mut budget)
            .and_then(|data| Tensor::new(record.shape.clone(), dtype, StorageOrder::RowMajor, data))
            .map_err(|reason| Error::damaged(path, name, reason))?;
        checkpoint.insert(name, tensor)?;
    }
    if checkpoint.names().next().is_none() {
        let reason = "it has no tensors; if they are in a dictionary inside, such as state_dict, \
                      save that alone";
        return Err(Error::mismatch(path, place, reason));
    }
    Ok(checkpoint)
}

/// Returns the bytes of the elements of a tensor, row by row: a window on its storage, or a copy if
/// the storage has them in another order.
fn elements(
    record: &TensorRecord,
    storage: &OwnedBytes,
    budget: &mut usize,
) -> Result<OwnedBytes, String> {
    let TensorRecord { offset, shape, strides, storage: Storage { kind, len, .. } } = record;
    if shape.len() != strides.len() {
        return Err(format!("{} strides for a shape of {} dimensions", strides.len(), shape.len()));
    }
    let beyond = || format!("its shape {shape:?} reaches beyond its storage of {len} elements");
    let count = shape.iter().try_fold(1usize, |count, &side| count.checked_mul(side));
    let count = count.ok_or_else(beyond)?;
    if count == 0 {
        return storage.slice(0, 0).ok_or_else(beyond);
    }
    let sides = shape.iter().zip(strides);
    let last = sides
        .clone()
        .try_fold(*offset, |at, (&side, &stride)| at.checked_add((side - 1).checked_mul(stride)?));
    if last.is_none_or(|last| last >= *len) || count > *len {
        return Err(beyond());
    }
    let mut expected = 1;
    let is_in_order = sides.rev().all(|(&side, &stride)| {
        let fits = side == 1 || stride == expected;
        expected *= side;
        fits
    });
    if is_in_order {
        return storage.slice(offset * kind.size, count * kind.size).ok_or_else(beyond);
    }
    let size = count * kind.size;
    *budget = budget
        .checked_sub(size)
        .ok_or("the file has too many tensors that are not stored row by row")?;
    let mut gathered = Vec::with_capacity(size);
    let mut place = vec![0; shape.len()];
    for _ in 0..count {
        let at: usize = place.iter().zip(strides).map(|(at, stride)| at * stride).sum();
        let start = (offset + at) * kind.size;
        gathered.extend_from_slice(storage.get(start..start + kind.size).ok_or_else(beyond)?);
        for (at, &side) in place.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < side {
                break;
            }
            *at = 0;
        }
    }
    let bytes = Bytes::copy_from(&gathered);
    Ok(OwnedBytes::new(View::new(&bytes, 0, bytes.len())?))
}
