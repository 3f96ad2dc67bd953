//! The shipped kernels, run by an interpreter of PTX and compared with results of the CPU.
//!
//! The library that replaces the driver must be there when a process starts, so
//! `kernels_agree_with_the_cpu` runs the ignored tests in processes of their own.

mod backends;
mod half_precision;
mod networks;
mod operations;

use std::process::{Command, Stdio};

/// The settings of the emulated GPU: each seed gives another order of streams, blocks, warps and
/// lanes.
const SEEDS: [&str; 3] = ["seed=1", "seed=2", "seed=3"];

#[test]
fn kernels_agree_with_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    // Whole networks take longer than single operations, and run with one order. The PTX module for
    // half precision depends on the device's compute capability, so two capabilities are tested.
    let operations = SEEDS.map(|settings| (settings, "operations::"));
    let others = [
        ("seed=4", "networks::"),
        ("seed=5,capability=90", "half_precision::"),
        ("seed=6,capability=90", "half_precision::"),
        ("seed=7,capability=90", "half_precision::"),
        ("seed=8,capability=75", "half_precision::"),
        ("seed=9,capability=75", "half_precision::"),
        ("seed=10,capability=75", "half_precision::"),
    ];
    let runs = operations.into_iter().chain(others).map(|(settings, tests)| {
        let environment = miriam_emulated_driver::environment(folder.path(), settings).unwrap();
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--ignored", "--nocapture", tests]).envs(environment);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program starts")
    });
    for run in runs.collect::<Vec<_>>() {
        let output = run.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{stdout}\n{stderr}");
        assert!(stdout.contains(" passed") && !stdout.contains(" 0 passed"), "{stdout}");
    }
}
