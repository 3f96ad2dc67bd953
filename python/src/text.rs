//! Text from Python: strings, bytes, columns of Arrow.
//!
//! [`Lines`] and [`text_bytes`] copy nothing: a `str` provides the interpreter's UTF-8, a column
//! its buffers.

use std::fmt::Arguments;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyString};

/// Returns the bytes of a `str` (as UTF-8) or `bytes`.
///
/// # Errors
///
/// `TypeError` for other types, with the message of KenLM's module; `UnicodeEncodeError` for a
/// string with lone surrogates.
pub fn text_bytes<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes());
    }
    Err(PyTypeError::new_err(format!("Cannot convert {} to string", value.get_type().repr()?)))
}

/// Returns a line without its line end, which Python keeps when it reads a file.
pub fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Extracts the argument `texts`, an iterable of strings.
///
/// # Errors
///
/// Those of [`strings`].
pub fn text_list(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    strings(value, "texts")
}

/// Extracts the argument `hypotheses`, an iterable of strings.
///
/// # Errors
///
/// Those of [`strings`].
pub fn hypothesis_list(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    strings(value, "hypotheses")
}

/// Extracts the argument `name`, an iterable of strings.
///
/// # Errors
///
/// `TypeError` if it is a single string, which Python treats as a sequence of letters, or not
/// iterable, or an element is not a string; `ValueError` if an element has lone surrogates. The
/// message contains the index of the element.
fn strings(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        let message =
            format!("{name}: expected a list of strings, found a string; put it into a list");
        return Err(PyTypeError::new_err(message));
    }
    let elements = elements(value, format_args!("{name}"))?.enumerate();
    elements.map(|(index, one)| string(&one?, format_args!("{name}[{index}]"))).collect()
}

/// Returns an iterator over a list of strings; `place` is its name for messages.
fn elements<'py>(
    value: &Bound<'py, PyAny>,
    place: Arguments<'_>,
) -> PyResult<Bound<'py, PyIterator>> {
    value.try_iter().map_err(|_| {
        let found = value.get_type();
        PyTypeError::new_err(format!("{place}: expected a list of strings, found {found}"))
    })
}

/// Extracts a string; `place` is its name for messages.
fn string(value: &Bound<'_, PyAny>, place: Arguments<'_>) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| {
        PyTypeError::new_err(format!("{place}: expected a str, found {}", value.get_type()))
    })?;
    let text = text.to_str().map_err(|error| {
        let reason = error.value(value.py());
        PyValueError::new_err(format!("{place}: {reason}"))
    })?;
    Ok(text.to_owned())
}

/// Returns whether a flag is set: any object is true or false, as in CTranslate2 and KenLM's
/// module.
pub fn truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.is_truthy()
}

/// Extracts the reference texts, each a list of lines. `None` stands for a line that lacks this
/// reference.
///
/// # Errors
///
/// Those of [`strings`].
pub fn reference_lists(value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<Option<String>>>> {
    let texts = elements(value, format_args!("references"))?.enumerate();
    texts
        .map(|(number, lines)| {
            let lines = lines?;
            if lines.is_instance_of::<PyString>() || lines.is_instance_of::<PyBytes>() {
                let message = "references: expected a list of texts, each a list of lines, found a \
                               string; put the lines of a single reference into a list";
                return Err(PyTypeError::new_err(message));
            }
            let lines = elements(&lines, format_args!("references[{number}]"))?.enumerate();
            lines
                .map(|(index, line)| {
                    let line = line?;
                    if line.is_none() {
                        return Ok(None);
                    }
                    string(&line, format_args!("references[{number}][{index}]")).map(Some)
                })
                .collect()
        })
        .collect()
}

/// Lines that Python owns; [`Lines::slices`] returns their bytes.
pub enum Lines<'py> {
    /// Objects of type `str` or `bytes`.
    Objects(Vec<Bound<'py, PyAny>>),
    /// A column: line `i` is at `offsets[i]..offsets[i + 1]` of the data.
    Column { data: PyReadonlyArray1<'py, u8>, offsets: Offsets<'py> },
}

/// The offsets of a column.
pub enum Offsets<'py> {
    /// Offsets of `int32`.
    I32(PyReadonlyArray1<'py, i32>),
    /// Offsets of `int64`.
    I64(PyReadonlyArray1<'py, i64>),
}

impl<'py> Lines<'py> {
    /// Reads a sequence or iterable of `str` or `bytes`, or an array of pyarrow.
    ///
    /// # Errors
    ///
    /// `TypeError` if it is a single string or cannot be iterated over; for arrays of pyarrow,
    /// the errors of `miriam._arrow.string_buffers`.
    pub fn new(lines: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = lines.py();
        if lines.is_instance_of::<PyString>() || lines.is_instance_of::<PyBytes>() {
            let message =
                "lines: expected a sequence of strings, found a string; put it into a list";
            return Err(PyTypeError::new_err(message));
        }
        // `string_buffers` rejects chunked arrays, which have no `buffers`, with advice.
        let is_arrow = lines.hasattr("null_count")?
            && (lines.hasattr("buffers")? || lines.hasattr("combine_chunks")?);
        if is_arrow {
            let parts = py.import("miriam._arrow")?.call_method1("string_buffers", (lines,))?;
            let (data, offsets): (Bound<'py, PyAny>, Bound<'py, PyAny>) = parts.extract()?;
            return Lines::from_column(&data, &offsets);
        }
        Ok(Lines::Objects(lines.try_iter()?.collect::<PyResult<_>>()?))
    }

    /// Returns the column of `data`, a one-dimensional array of bytes, and `offsets`, an array of
    /// `int32` or `int64`.
    ///
    /// # Errors
    ///
    /// `TypeError` if one of them is not such an array.
    pub fn from_column(data: &Bound<'py, PyAny>, offsets: &Bound<'py, PyAny>) -> PyResult<Self> {
        let data = data.extract().map_err(|_| not_column("data", "uint8", data))?;
        let offsets = match offsets.extract() {
            Ok(offsets) => Offsets::I32(offsets),
            Err(_) => Offsets::I64(
                offsets.extract().map_err(|_| not_column("offsets", "int32 or int64", offsets))?,
            ),
        };
        Ok(Lines::Column { data, offsets })
    }

    /// Returns the bytes of each line.
    ///
    /// # Errors
    ///
    /// If a line is neither `str` nor `bytes` or has lone surrogates, or the offsets are not
    /// ascending positions in the data (the message contains the index of the line), or an array is
    /// not contiguous.
    pub fn slices(&self) -> PyResult<Vec<&[u8]>> {
        match self {
            Lines::Objects(objects) => {
                let lines = objects.iter().enumerate().map(|(index, line)| {
                    text_bytes(line).map_err(|error| {
                        let py = line.py();
                        let reason = error.value(py).to_string();
                        if error.is_instance_of::<PyTypeError>(py) {
                            PyTypeError::new_err(format!("line {index}: {reason}"))
                        } else {
                            PyValueError::new_err(format!("line {index}: {reason}"))
                        }
                    })
                });
                lines.collect()
            }
            Lines::Column { data, offsets } => {
                let data = contiguous("data", data)?;
                match offsets {
                    Offsets::I32(offsets) => {
                        let offsets = contiguous("offsets", offsets)?;
                        column_slices(data, offsets.iter().map(|&at| i64::from(at)))
                    }
                    Offsets::I64(offsets) => {
                        column_slices(data, contiguous("offsets", offsets)?.iter().copied())
                    }
                }
            }
        }
    }
}

/// Returns the error of an argument that is not a one-dimensional array of `types`.
fn not_column(name: &str, types: &str, array: &Bound<'_, PyAny>) -> PyErr {
    let found = match (array.getattr("dtype"), array.getattr("ndim")) {
        (Ok(dtype), Ok(ndim)) => format!("a {ndim}-dimensional {dtype} array"),
        _ => array.get_type().to_string(),
    };
    PyTypeError::new_err(format!("{name}: expected a one-dimensional {types} array, found {found}"))
}

fn contiguous<'a, T: numpy::Element>(
    name: &str,
    array: &'a PyReadonlyArray1<'_, T>,
) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| {
        let message = format!("{name} is not contiguous; convert it by numpy.ascontiguousarray");
        PyValueError::new_err(message)
    })
}

/// Returns the line between each pair of consecutive offsets.
fn column_slices(data: &[u8], offsets: impl Iterator<Item = i64>) -> PyResult<Vec<&[u8]>> {
    let mut offsets = offsets.enumerate();
    let Some((_, first)) = offsets.next() else { return Ok(Vec::new()) };
    let checked = |at: i64| usize::try_from(at).ok().filter(|&at| at <= data.len());
    let mut start = checked(first);
    offsets
        .map(|(index, end)| {
            let line = start.zip(checked(end)).and_then(|(start, end)| data.get(start..end));
            start = checked(end);
            line.ok_or_else(|| {
                let length = data.len();
                PyValueError::new_err(format!(
                    "line {}: its offsets are not ascending positions in the {length} bytes of data",
                    index - 1
                ))
            })
        })
        .collect()
}
