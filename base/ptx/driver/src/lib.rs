//! CUDA driver for tests on machines without a GPU: it has the calls that Miriam makes, and an
//! interpreter runs the shipped PTX.
//!
//! As on a device, work on a stream is done later than it is queued: copies from and to pinned
//! memory, fills, launches and releases are done when a call waits for them. The work of one stream
//! is done in the order in which it was queued. A seed chooses the order of streams, so that a
//! missing wait for an event shows.
//!
//! A fault (an access outside of a buffer, lanes that do not meet for an exchange, memory that is
//! freed twice) ends the process with a message: no test can take it for a result.
//!
//! A test starts a process with the environment of [`environment`], in which the system finds this
//! library as `libcuda.so.1`. The variable `MIRIAM_EMULATED_GPU` holds settings such as
//! `launch=700`, separated by commas. `init`, `module` and `launch` are the statuses that
//! `cuInit`, `cuModuleLoadData` and `cuLaunchKernel` return. `version`, `count`, `capability` (10 *
//! major + minor) and `memory` (bytes) describe the device. `seed` chooses the order of streams.
//! `launches` is a number of kernels after which the device is lost: the next one can be queued,
//! but is not performed, and later calls that use the device return the status of `launch`.

mod calls;
mod driver;
mod kernel_folder;

pub use kernel_folder::check_kernel_folder;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The variable with the settings of the emulated GPU.
pub(crate) const SETTINGS: &str = "MIRIAM_EMULATED_GPU";

/// Returns the environment in which a process finds the emulated GPU, with these settings.
/// Links with the names of the driver are made below `folder`.
///
/// # Errors
/// If this library is not where cargo puts it, or the link cannot be made.
pub fn environment(folder: &Path, settings: &str) -> io::Result<[(&'static str, OsString); 2]> {
    let library = library()?;
    let folder = folder.join("emulated-driver");
    std::fs::create_dir_all(&folder)?;
    for name in ["libcuda.so", "libcuda.so.1"] {
        match std::os::unix::fs::symlink(&library, folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok([("LD_LIBRARY_PATH", folder.into()), (SETTINGS, settings.into())])
}

/// Returns the path of this library as a shared object, which cargo puts beside the tests that
/// depend on it.
fn library() -> io::Result<PathBuf> {
    let name = concat!("lib", env!("CARGO_CRATE_NAME"), ".so");
    let test = std::env::current_exe()?;
    let found = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    found.into_iter().find(|path| path.exists()).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("no {name} beside {}", test.display()))
    })
}
