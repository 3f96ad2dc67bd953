//! Pickles that contain the arguments of a constructor. Loading a pickle calls the constructor,
//! which opens the files again.

use std::path::{Path, PathBuf};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Positional arguments and keywords, as `__getnewargs_ex__` returns them.
pub type Arguments<'py> = (Bound<'py, PyTuple>, Bound<'py, PyDict>);

/// The arguments that created an object.
pub struct NewArguments {
    positional: Py<PyTuple>,
    keywords: Py<PyDict>,
}

impl NewArguments {
    /// Stores the positional argument and the keywords.
    ///
    /// # Errors
    ///
    /// If a value cannot be converted.
    pub fn new<'py>(
        py: Python<'py>,
        first: impl IntoPyObject<'py>,
        keywords: &[(&str, Bound<'py, PyAny>)],
    ) -> PyResult<Self> {
        let positional = PyTuple::new(py, [first.into_bound_py_any(py)?])?;
        let dict = PyDict::new(py);
        for (name, value) in keywords {
            dict.set_item(*name, value)?;
        }
        Ok(NewArguments { positional: positional.unbind(), keywords: dict.unbind() })
    }

    /// Returns the arguments for a pickle or a copy.
    ///
    /// # Errors
    ///
    /// If memory is exhausted.
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        Ok((self.positional.bind(py).clone(), self.keywords.bind(py).copy()?))
    }
}

/// Returns the state that a pickle contains besides the arguments: the result of `__getstate__`, or
/// the attributes if the class has no such method. Python 3.10 has no `object.__getstate__`.
pub fn pickled_state<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match object.getattr_opt("__getstate__")? {
        Some(method) => method.call0().map(Some),
        None => object.getattr_opt("__dict__"),
    }
}

/// Returns the absolute form of a path: a process that loads a pickle may work in another folder.
pub fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
