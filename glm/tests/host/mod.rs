//! An emulated GPU for tests on machines without one: a `libcuda.so` that runs the sources
//! of the kernels, compiled as C++.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::HOST;

/// Prints why a test is skipped to standard error, bypassing the test runner's capture.
pub fn skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

/// Returns a C++ compiler, if there is one.
fn compiler() -> Option<&'static str> {
    ["g++", "clang++", "c++"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Returns the FNV-1a hash of the sources, which names the library.
fn hash(parts: impl Iterator<Item = Vec<u8>>) -> u64 {
    parts.flatten().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// Returns the folder with `libcuda.so.1`, built unless it exists for these sources; `None`, with
/// the reason printed, without a compiler. `keep`: the folder that keeps it between runs.
pub fn library(keep: &Path) -> Option<PathBuf> {
    let Some(compiler) = compiler() else {
        skipped("there is no C++ compiler (g++, clang++) to run the kernels on the host");
        return None;
    };
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join(HOST);
    let kernels = host.join("../../kernels");
    let sources = [
        host.join("warp.h"),
        host.join("driver.cpp"),
        host.join("mod.rs"),
        kernels.join("model.cuh"),
        kernels.join("walk.cuh"),
        kernels.join("walks.cu"),
        kernels.join("common.cu"),
    ];
    let hash = hash(sources.iter().map(|path| std::fs::read(path).expect("the source exists")));
    let folder = keep.join(format!("host-gpu-{hash:016x}"));
    if folder.exists() {
        return Some(folder);
    }
    let work = tempfile::tempdir_in(keep).expect("a temporary folder");
    let mut jobs: Vec<(PathBuf, Vec<String>)> =
        vec![(host.join("driver.cpp"), vec!["-O2".into()]), (kernels.join("common.cu"), vec![])];
    for lanes in [4, 8, 16] {
        for keys in [8, 16, 32] {
            for buckets in [0, 2, 16] {
                let definitions =
                    [("LANES", lanes), ("NODE", keys), ("BUCKETS", buckets)].into_iter();
                let definitions = definitions.map(|(name, value)| format!("-D{name}={value}"));
                jobs.push((kernels.join("walks.cu"), definitions.collect()));
            }
        }
    }
    let common = "-std=c++17 -O1 -fPIC -fvisibility=hidden -ffp-contract=off -U_FORTIFY_SOURCE -w";
    let objects: Vec<PathBuf> =
        (0..jobs.len()).map(|i| work.path().join(format!("{i}.o"))).collect();
    let queue = std::sync::Mutex::new(jobs.iter().zip(&objects));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(((source, options), object)) = queue.lock().unwrap().next() else {
                        return;
                    };
                    let mut command = Command::new(compiler);
                    command.args(common.split(' ')).args(options).arg("-include");
                    command.arg(host.join("warp.h")).args(["-x", "c++", "-c"]);
                    compile(command.arg(source).arg("-o").arg(object));
                }
            });
        }
    });
    let library = work.path().join("libcuda.so.1");
    let mut link = Command::new(compiler);
    link.args(["-shared", "-o"]).arg(&library).args(&objects).args(["-ldl", "-lpthread"]);
    compile(&mut link);
    for object in &objects {
        std::fs::remove_file(object).expect("the object exists");
    }
    std::os::unix::fs::symlink("libcuda.so.1", work.path().join("libcuda.so")).expect("a link");
    // Fails if another process was faster; its library is the same.
    let _ = std::fs::rename(work.keep(), &folder);
    Some(folder)
}

fn compile(command: &mut Command) {
    let output = command.output().expect("the compiler starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the environment in which a process finds the GPU of `library`, with the settings of its
/// driver (`driver.cpp`).
pub fn environment<'e>(library: &'e Path, settings: &'e str) -> [(&'static str, &'e OsStr); 2] {
    [("LD_LIBRARY_PATH", library.as_os_str()), ("MIRIAM_HOST_GPU", OsStr::new(settings))]
}
