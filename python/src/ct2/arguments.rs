//! Conversion of the arguments of CTranslate2's functions: devices, compute types, batch types and
//! tokens.

use std::path::PathBuf;

use miriam_nmt::packed::{Precision, SelectedPrecision};
use miriam_nmt::translate::pool::BatchLimits;
use miriam_nmt::{DeviceSet, Vocabulary};
use miriam_storage::Bytes;
use pyo3::exceptions::{PyNotImplementedError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Returns the devices of `device` (in lower or upper case, as in CTranslate2) and `device_index`
/// (an int or a list of ints), and the number of indices. On the CPU, each index is 0. "auto" takes
/// the CPU if GPU 0 cannot be used; with another index it means "cuda".
///
/// # Errors
///
/// `ValueError` if a device does not exist or cannot be used; `TypeError` for an index of another
/// type.
pub(super) fn devices(
    name: &str,
    index: Option<&Bound<'_, PyAny>>,
) -> PyResult<(DeviceSet, usize)> {
    let indices = index.map_or_else(|| Ok(vec![0]), device_indices)?;
    let all_are_first = !indices.is_empty() && indices.iter().all(|&index| index == 0);
    let devices = match name {
        "CPU" => return devices("cpu", index),
        "CUDA" => return devices("cuda", index),
        "AUTO" => return devices("auto", index),
        "cuda" => gpu_set(&indices).map_err(PyValueError::new_err)?,
        "auto" if all_are_first && gpu_set(&[0]).is_err() => DeviceSet::Cpu,
        "auto" => gpu_set(&indices).map_err(PyValueError::new_err)?,
        "cpu" if all_are_first => DeviceSet::Cpu,
        "cpu" => {
            let message =
                format!("invalid device index {indices:?} for device \"cpu\": expected 0");
            return Err(PyValueError::new_err(message));
        }
        _ => {
            let message =
                format!("unsupported device {name:?}; give \"cpu\", \"cuda\" or \"auto\"");
            return Err(PyValueError::new_err(message));
        }
    };
    Ok((devices, indices.len()))
}

/// Returns the GPUs of these indices.
fn gpu_set(indices: &[i64]) -> Result<DeviceSet, String> {
    let numbers = indices
        .iter()
        .map(|&index| u32::try_from(index))
        .collect::<Result<Vec<u32>, _>>()
        .map_err(|_| format!("invalid device index {indices:?}"))?;
    DeviceSet::from_numbers(numbers).and_then(DeviceSet::check)
}

/// Reads an int or a list of ints.
fn device_indices(index: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    if let Ok(index) = index.extract::<i64>() {
        return Ok(vec![index]);
    }
    index.extract().map_err(|_| {
        PyTypeError::new_err(
            "incompatible constructor arguments: device_index is an int or a list of int",
        )
    })
}

/// Returns the compute type for `devices` from an argument: a name, or a dict from names of devices
/// to names of compute types.
pub(super) fn select_compute_type(
    value: &Bound<'_, PyAny>,
    devices: &DeviceSet,
) -> PyResult<String> {
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(name.to_str()?.to_owned());
    }
    let by_device = value.cast::<PyDict>().map_err(|_| invalid_compute_type())?;
    let device = if devices.is_cuda() { "cuda" } else { "cpu" };
    match by_device.get_item(device)? {
        None => Ok("default".into()),
        Some(name) => {
            let name = name.cast::<PyString>().map_err(|_| invalid_compute_type())?;
            Ok(name.to_str()?.to_owned())
        }
    }
}

fn invalid_compute_type() -> PyErr {
    PyTypeError::new_err(
        "incompatible constructor arguments: compute_type is a str, or a dict of a str for each \
         device",
    )
}

/// Returns the precision of a compute type on `devices`.
///
/// # Errors
///
/// `ValueError` for a name that CTranslate2 does not have, or that `devices` do not compute in.
pub(super) fn parse_compute_type(name: &str, devices: &DeviceSet) -> PyResult<SelectedPrecision> {
    Precision::from_compute_type(name, devices.is_cuda()).map_err(PyValueError::new_err)
}

/// Returns CTranslate2's name of a precision.
pub(super) fn compute_type_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "float32",
        Precision::I16 => "int16",
        Precision::I8 | Precision::I8Alphas => "int8_float32",
        Precision::Mixed => "int16_int8_float32",
        Precision::F16 => "float16",
        Precision::Bf16 => "bfloat16",
    }
}

/// Extracts a number that is not negative.
///
/// # Errors
///
/// `TypeError` for other values, as in CTranslate2, where those out of range are of another type.
pub(super) fn count(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract::<usize>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            let most = usize::MAX;
            PyTypeError::new_err(format!("expected an int from 0 to {most}, found {value}"))
        } else {
            error
        }
    })
}

/// Returns the limits of `max_batch_size`, in the unit that `batch_type` names ("examples" or
/// "tokens").
pub(super) fn batch_limits(max_batch_size: usize, batch_type: &str) -> PyResult<BatchLimits> {
    match batch_type {
        "examples" => Ok(BatchLimits::from_ctranslate2(max_batch_size, false)),
        "tokens" => Ok(BatchLimits::from_ctranslate2(max_batch_size, true)),
        _ => Err(PyValueError::new_err(format!(
            "invalid batch type {batch_type:?}; give \"examples\" or \"tokens\""
        ))),
    }
}

/// Calls `visit` with every token of `tokens`, which is a sequence of `str` or `bytes`, or `bytes`
/// with spaces between tokens. `argument` is the argument's name and the index of the example in
/// it, for messages.
pub(super) fn for_each_token(
    tokens: &Bound<'_, PyAny>,
    argument: (&str, usize),
    mut visit: impl FnMut(&[u8]),
) -> PyResult<()> {
    if let Ok(line) = tokens.cast::<PyBytes>() {
        let tokens = line.as_bytes().split(|&byte| byte == b' ');
        tokens.filter(|token| !token.is_empty()).for_each(visit);
        return Ok(());
    }
    let mut visit_one = |token: Bound<'_, PyAny>| -> PyResult<()> {
        if let Ok(text) = token.cast::<PyString>() {
            visit(text.to_str()?.as_bytes());
        } else {
            let bytes = token.cast::<PyBytes>().map_err(|_| not_tokens(argument, &token, true))?;
            visit(bytes.as_bytes());
        }
        Ok(())
    };
    if let Ok(list) = tokens.cast::<PyList>() {
        return list.iter().try_for_each(visit_one);
    }
    if tokens.is_instance_of::<PyString>() {
        return Err(not_tokens(argument, tokens, false));
    }
    tokens
        .try_iter()
        .map_err(|_| not_tokens(argument, tokens, false))?
        .try_for_each(|token| visit_one(token?))
}

/// Returns the error of an example that is not a list of tokens. `in_list` says that `found` is an
/// element of the example.
fn not_tokens((name, index): (&str, usize), found: &Bound<'_, PyAny>, in_list: bool) -> PyErr {
    let found = found.get_type();
    let location = if in_list { " in the list" } else { "" };
    PyTypeError::new_err(format!(
        "incompatible function arguments: {name}[{index}]: expected a list of str, found \
         {found}{location}"
    ))
}

/// Returns the ids of tokens; tokens that the vocabulary lacks get the id of the unknown token.
pub(super) fn token_ids(
    tokens: &Bound<'_, PyAny>,
    argument: (&str, usize),
    vocabulary: &Vocabulary,
) -> PyResult<Vec<u32>> {
    let mut ids = Vec::with_capacity(tokens.len().unwrap_or(0));
    for_each_token(tokens, argument, |token| {
        ids.push(vocabulary.find(token).unwrap_or(vocabulary.unk_id()));
    })?;
    Ok(ids)
}

/// Returns the ids of tokens. If the vocabulary lacks tokens, the error names the first of them.
fn known_ids(
    tokens: &Bound<'_, PyAny>,
    argument: (&str, usize),
    vocabulary: &Vocabulary,
) -> PyResult<Vec<u32>> {
    let (mut ids, mut unknown) = (Vec::new(), None);
    for_each_token(tokens, argument, |token| match vocabulary.find(token) {
        Some(id) => ids.push(id),
        None if unknown.is_none() => unknown = Some(String::from_utf8_lossy(token).into_owned()),
        None => {}
    })?;
    match unknown {
        None => Ok(ids),
        Some(token) => {
            let message = format!("{}: token {token:?} is not in the vocabulary", argument.0);
            Err(PyValueError::new_err(message))
        }
    }
}

/// Returns the token ids of the argument `suppress_sequences`.
pub(super) fn suppressed_sequences(
    sequences: Option<&Bound<'_, PyAny>>,
    vocabulary: &Vocabulary,
) -> PyResult<Vec<Vec<u32>>> {
    let Some(sequences) = sequences else { return Ok(Vec::new()) };
    let sequences = sequences.try_iter()?.enumerate();
    sequences
        .map(|(index, sequence)| known_ids(&sequence?, ("suppress_sequences", index), vocabulary))
        .collect()
}

/// Returns the token ids of the argument `end_token`: a token, a list of tokens, or a list of ids.
/// An empty string means EOS, as in CTranslate2.
pub(super) fn end_ids(
    tokens: Option<&Bound<'_, PyAny>>,
    vocabulary: &Vocabulary,
) -> PyResult<Vec<u32>> {
    let Some(tokens) = tokens else { return Ok(Vec::new()) };
    if tokens.is_instance_of::<PyString>() || tokens.is_instance_of::<PyBytes>() {
        if tokens.is_empty()? {
            return Ok(Vec::new());
        }
        return known_ids(
            PyList::new(tokens.py(), [tokens])?.as_any(),
            ("end_token", 0),
            vocabulary,
        );
    }
    if tokens.is_empty().unwrap_or(false) {
        let message = "end_token: the list is empty; give at least one token, or leave it out";
        return Err(PyValueError::new_err(message));
    }
    let Ok(ids) = tokens.extract::<Vec<u32>>() else {
        return known_ids(tokens, ("end_token", 0), vocabulary);
    };
    match ids.iter().find(|&&id| id as usize >= vocabulary.len()) {
        None => Ok(ids),
        Some(id) => {
            let max_id = vocabulary.len() - 1;
            Err(PyValueError::new_err(format!(
                "end_token: id {id} is out of range; expected 0 to {max_id}"
            )))
        }
    }
}

/// Reads the argument `files`: a dict of file names to `bytes` or file-like objects.
///
/// # Errors
///
/// `TypeError` for other values.
pub(super) fn read_files(files: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Bytes)>> {
    let files = files.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err("expected files to be a dict of file names and contents")
    })?;
    let mut contents = Vec::with_capacity(files.len());
    for (name, content) in files {
        let read = content.getattr_opt("read")?;
        let is_open = read.is_some();
        let content = match read {
            Some(read) => read.call0()?,
            None => content,
        };
        let name: String = name.extract()?;
        let bytes = if let Ok(bytes) = content.cast::<PyBytes>() {
            bytes.as_bytes()
        } else if is_open && let Ok(text) = content.cast::<PyString>() {
            // A file that was opened as text.
            text.to_str()?.as_bytes()
        } else {
            let message = format!("files[{name:?}] is neither bytes nor a file-like object");
            return Err(PyTypeError::new_err(message));
        };
        contents.push((name, Bytes::copy_from(bytes)));
    }
    Ok(contents)
}

/// Extracts a path: `str`, `os.PathLike`, or `bytes`, which CTranslate2 takes too.
///
/// # Errors
///
/// `TypeError` for other values.
pub(super) fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    value.py().import("os")?.call_method1("fsdecode", (value,))?.extract()
}

/// Extracts a path, or `None`.
///
/// # Errors
///
/// Those of [`path`].
pub(super) fn optional_path(value: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if value.is_none() { Ok(None) } else { path(value).map(Some) }
}

/// Reads the argument `vocabs`: the path of a vocabulary for both sides, or a list of two paths.
///
/// # Errors
///
/// `TypeError` for other values, `ValueError` for another number of paths.
pub(super) fn vocabulary_paths(vocabs: &Bound<'_, PyAny>) -> PyResult<[PathBuf; 2]> {
    if let Ok(both) = path(vocabs) {
        return Ok([both.clone(), both]);
    }
    let paths = vocabs.try_iter().and_then(|paths| paths.map(|one| path(&one?)).collect());
    let paths: Vec<PathBuf> = paths
        .map_err(|_| PyTypeError::new_err("vocabs: expected a path, or a list of two paths"))?;
    match <[PathBuf; 2]>::try_from(paths) {
        Ok(paths) => Ok(paths),
        Err(paths) => Err(PyValueError::new_err(format!(
            "vocabs: expected the paths of source and target, found {} path(s)",
            paths.len()
        ))),
    }
}

/// Rejects an argument that is not supported.
pub(super) fn refuse(is_set: bool, name: &str) -> PyResult<()> {
    if is_set {
        Err(PyNotImplementedError::new_err(format!("{name} is not supported here")))
    } else {
        Ok(())
    }
}
