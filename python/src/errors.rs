//! Python's exceptions for errors of the libraries.

use std::fmt::Display;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Returns a `ValueError` with the message of `error`.
pub fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns an `OSError` with the message of `error`.
pub fn os_error(error: impl Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Returns a `ValueError` for the value `given` of the argument `name`, which takes one of `names`.
pub fn unknown_choice(name: &str, given: &str, names: &str) -> PyErr {
    value_error(format!("{name} {given:?}: expected {names}"))
}
