//! Checks of a folder of kernels: that its PTX is what `scripts/build_ptx.py` made of its sources,
//! and that every kernel was assembled for every promised device without spills.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The compute capabilities of the devices that kernels are assembled for. A module is assembled
/// for its target and the later ones.
const DEVICES: [u32; 3] = [75, 80, 90];

/// Returns the FNV-1a hash of 64 bits, as `scripts/build_ptx.py` computes it.
fn hash(parts: &[Vec<u8>]) -> String {
    let hash = parts.iter().flatten().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    format!("{hash:016x}")
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the sources of kernels, in the order of the script.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of kernels");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "cu" || extension == "cuh")
    };
    let mut sources: Vec<PathBuf> = paths.filter(is_source).collect();
    sources.sort();
    sources
}

/// Checks `folder`, the folder `kernels` of a crate; `script` is `scripts/build_ptx.py`. Returns
/// the text of all modules.
///
/// # Panics
/// If the PTX is stale, a kernel was not assembled for a device, or it spills or takes more than
/// `max_registers` registers.
pub fn check_kernel_folder(folder: &Path, script: &Path, max_registers: u32) -> String {
    let mut recipe = sources(folder);
    recipe.push(script.to_owned());
    let recipe = hash(&recipe.iter().map(|path| read(path)).collect::<Vec<_>>());
    let ptx = folder.join("ptx");
    let mut text = String::new();
    let archive = read(&ptx.join("modules.ptx.gz"));
    flate2::read::GzDecoder::new(&archive[..]).read_to_string(&mut text).expect("gzip of text");
    let report = read(&ptx.join("report.tsv"));
    let outcome = hash(&[text.clone().into_bytes(), report.clone()]);
    let built = String::from_utf8_lossy(&read(&ptx.join("hash.txt"))).into_owned();
    let expected = format!("recipe {recipe}\noutcome {outcome}\n");
    assert_eq!(built, expected, "the PTX is stale: run scripts/build_ptx.py");
    let report = String::from_utf8_lossy(&report).into_owned();
    let rows: Vec<Vec<&str>> =
        report.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    for row in &rows {
        let registers: u32 = row[2].parse().expect("a number of registers");
        assert!(registers <= max_registers, "{row:?}");
        assert_eq!(row[4], "0", "{} spills on {}", row[0], row[1]);
    }
    let mut expected = Vec::new();
    for module in text.split("//! ").skip(1) {
        let target = target(module).expect("a target");
        let entries = module.split(".entry ").skip(1).filter_map(|rest| rest.split('(').next());
        for entry in entries {
            let devices = DEVICES.iter().filter(|device| **device >= target);
            expected.extend(devices.map(|device| format!("{entry} on sm_{device}")));
        }
    }
    let mut found: Vec<String> =
        rows.iter().map(|row| format!("{} on {}", row[0], row[1])).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "the assembled kernels");
    text
}

/// Returns the compute capability that a module needs, 10 * major + minor.
pub(crate) fn target(module: &str) -> Option<u32> {
    let (_, rest) = module.split_once(".target sm_")?;
    rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}
