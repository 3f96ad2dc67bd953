//! Inputs that are read twice: standard input and pipes are kept in temporary files.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use miriam_textio::{Error, Input, Result, display_name};

use crate::common::{open_text, warn_of_binary};

/// Inputs that are read twice.
pub struct KeptInputs<'p> {
    /// Each path with the temporary file that keeps its bytes, if it can be read only once.
    inputs: Vec<(&'p Path, Option<File>)>,
}

impl<'p> KeptInputs<'p> {
    /// Creates an empty temporary file for each input that can be read only once.
    ///
    /// # Errors
    /// If a temporary file cannot be created.
    pub fn new(paths: &'p [PathBuf]) -> anyhow::Result<Self> {
        Ok(KeptInputs {
            inputs: paths
                .iter()
                .map(|path| {
                    let is_file = path.metadata().is_ok_and(|found| found.is_file());
                    let copy = if is_file && path.as_os_str() != "-" {
                        None
                    } else {
                        Some(tempfile::tempfile().with_context(|| {
                            let place = std::env::temp_dir();
                            format!(
                                "{}: cannot create a temporary file; set TMPDIR to another folder",
                                place.display()
                            )
                        })?)
                    };
                    Ok((path.as_path(), copy))
                })
                .collect::<anyhow::Result<_>>()?,
        })
    }

    /// Opens each input when the iterator reaches it.
    pub fn read_first(&self) -> impl Iterator<Item = Result<Input>> + Send {
        self.inputs.iter().map(|(path, copy)| {
            let Some(copy) = copy else { return open_text(path) };
            let name = display_name(path);
            let copy = copy.try_clone().map_err(|e| Error::io(&name, "read", e))?;
            let input = if path.as_os_str() == "-" {
                Input::from_reader(CopyingReader { inner: io::stdin(), copy }, &name, None)
            } else {
                let inner = File::open(path).map_err(|e| Error::io(&name, "open", e))?;
                Input::from_reader(CopyingReader { inner, copy }, &name, None)
            }?;
            warn_of_binary(&input);
            Ok(input)
        })
    }

    /// Opens each input again; all must have been read to their ends before.
    pub fn read_again(&self) -> impl Iterator<Item = Result<Input>> + Send {
        self.inputs.iter().map(|(path, copy)| {
            let Some(copy) = copy else { return Input::open(path) };
            let name = display_name(path);
            fn rewound(copy: &File) -> Result<(File, u64), io::Error> {
                let mut copy = copy.try_clone()?;
                copy.rewind()?;
                let size = copy.metadata()?.len();
                Ok((copy, size))
            }
            let (copy, size) = rewound(copy).map_err(|e| Error::io(&name, "read", e))?;
            Input::from_reader(copy, &name, Some(size))
        })
    }
}

/// A reader that also writes what it reads to a file.
struct CopyingReader<R> {
    inner: R,
    copy: File,
}

impl<R: Read> Read for CopyingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.copy.write_all(&buffer[..length]).map_err(|e| {
            let place = std::env::temp_dir();
            let reason = format!(
                "it cannot be kept in a temporary file in {}: {e}; free some space there, set \
                 TMPDIR to another folder, or give a file",
                place.display()
            );
            io::Error::new(e.kind(), reason)
        })?;
        Ok(length)
    }
}
