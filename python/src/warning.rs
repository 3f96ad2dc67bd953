//! Python warnings.

use std::ffi::CString;

use miriam_textproc::NonbreakingPrefixes;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

/// Issues a warning. It names the code that calls the native module if `stack_level` is 1, and the
/// caller of that code if it is 2.
///
/// # Errors
///
/// If the program turns warnings into exceptions.
pub fn warn(py: Python<'_>, message: &str, stack_level: i32) -> PyResult<()> {
    let message = CString::new(message.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, stack_level)
}

/// Warns if there is no list of abbreviations for `language`, as the command line does.
///
/// # Errors
///
/// If the program turns warnings into exceptions.
pub fn warn_if_unknown_language(py: Python<'_>, language: &str) -> PyResult<()> {
    NonbreakingPrefixes::unknown_language_warning(language)
        .map_or(Ok(()), |message| warn(py, &message, 1))
}
