//! The Python package: its wheel is built and installed into an environment of its own, and
//! its tests (`python/tests`) are run there by pytest.
//!
//! This needs a Python with maturin, pytest, NumPy and mypy. `MIRIAM_PYTHON` names it (`.ci/run`
//! sets this variable); the default is `target/python-env`. If `MIRIAM_WHEEL` names a wheel, that
//! wheel is tested and none is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, project_root, report_skip};

/// Returns the Python to use. If there is none, or it is too old or lacks a package, reports that
/// the test is skipped and returns `None`.
fn python() -> Option<PathBuf> {
    let environment = project_root().join("target/python-env/bin/python3");
    let python = match std::env::var_os("MIRIAM_PYTHON") {
        Some(path) => PathBuf::from(path),
        None if environment.exists() => environment,
        None => {
            report_skip(
                "no target/python-env; python3 -m venv target/python-env && \
                 target/python-env/bin/pip install -r python/requirements-test.txt",
            );
            return None;
        }
    };
    let check = "import maturin, mypy, numpy, pytest, sys; sys.exit(sys.version_info < (3, 10))";
    let outcome = Command::new(&python).args(["-c", check]).output();
    if !outcome.is_ok_and(|output| output.status.success()) {
        report_skip(&format!(
            "{} is not Python from 3.10 on with python/requirements-test.txt",
            python.display()
        ));
        return None;
    }
    Some(python)
}

fn run_echoed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (lossy_text(&output.stdout), lossy_text(&output.stderr));
    println!("{stdout}\n{stderr}");
    assert!(output.status.success(), "{command:?}");
}

/// Returns the wheel of `MIRIAM_WHEEL`, or one built now into `folder`.
fn wheel(python: &Path, folder: &Path) -> PathBuf {
    if let Some(wheel) = std::env::var_os("MIRIAM_WHEEL") {
        return PathBuf::from(wheel);
    }
    // A cargo inside `cargo test` would wait for the outer one's lock on the target folder.
    let target = project_root().join("target/python");
    run_echoed(
        Command::new(python)
            .args(["-m", "maturin", "build", "--release", "--locked", "--manifest-path"])
            .arg(project_root().join("python/Cargo.toml"))
            .arg("--out")
            .arg(folder)
            .env("CARGO_TARGET_DIR", target)
            .env("PYO3_PYTHON", python),
    );
    let mut wheels = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    wheels.next().expect("maturin has built one")
}

#[test]
fn the_wheel_passes_its_tests() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wheel = wheel(&python, &folder.path().join("wheels"));
    // The program is added to the wheel.
    let with_program = folder.path().join("with-program");
    run_echoed(Command::new(&python).arg(project_root().join("packaging/add_program.py")).args([
        &wheel,
        Path::new(env!("CARGO_BIN_EXE_miriam")),
        &with_program,
    ]));
    let wheel = with_program.join(wheel.file_name().unwrap());
    let installed = folder.path().join("installed");
    run_echoed(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target"])
            .arg(&installed)
            .arg(&wheel),
    );
    let version = Command::new(installed.join("bin/miriam")).arg("--version").output().unwrap();
    assert!(lossy_text(&version.stdout).starts_with("miriam "), "{version:?}");
    let mut tests = Command::new(&python);
    // Tests of GPUs start processes that load the driver from this folder.
    #[cfg(feature = "cuda")]
    tests.env("MIRIAM_EMULATED_DRIVER", {
        let mut variables = crate::common::emulated_gpu("").into_iter();
        variables.find(|(name, _)| *name == "LD_LIBRARY_PATH").expect("the folder of the driver").1
    });
    run_echoed(
        tests
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            // A test that hangs ends the run and says where it was.
            .args(["-o", "faulthandler_timeout=300", "-o", "faulthandler_exit_on_timeout=true"])
            .arg(project_root().join("python/tests"))
            // The folder of the sources, which `-m` would search first, lacks the module.
            .current_dir(folder.path())
            .env("PYTHONPATH", &installed)
            .env("MYPYPATH", &installed)
            .env("PYTHONDONTWRITEBYTECODE", "1"),
    );
}
