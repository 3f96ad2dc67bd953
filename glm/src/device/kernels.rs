//! The kernels: PTX that `scripts/build_ptx.py` has compiled, embedded.

use std::io::Read;

use miriam_gpu::{Device, Kernel, Module};
use miriam_lmcpu::LanguageModel;

use super::tile::Tile;
use crate::GlmModel;
use crate::error::Result;

/// All modules, compressed, each after a line with its name.
const PTX_ARCHIVE: &[u8] = include_bytes!("../../kernels/ptx/modules.ptx.gz");
/// The prefix of that line.
const HEADER_PREFIX: &str = "//! ";

/// Returns the module `name`. Panics if there is none, which a test rules out.
fn ptx_module(name: &str) -> String {
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(PTX_ARCHIVE).read_to_string(&mut text);
    read.expect("the embedded archive is sound");
    let header = format!("{HEADER_PREFIX}{name}\n");
    let start = text.find(&header).unwrap_or_else(|| panic!("no module {name}")) + header.len();
    let end = text[start..].find(HEADER_PREFIX).map_or(text.len(), |length| start + length);
    text[start..end].to_owned()
}

/// The kernels that a model needs.
pub(super) struct Kernels {
    pub tokens: Kernel,
    pub ngrams: Kernel,
    pub next: Kernel,
    pub sums: Kernel,
}

impl Kernels {
    /// Loads the kernels for `model` and searches by `tile`.
    pub fn load(device: &Device, model: &GlmModel, tile: Tile) -> Result<Self> {
        let (lanes, keys) = (tile.lanes(), model.node_width().keys());
        // Compiled for no hash table, for bigrams, and for any number of orders.
        let hashed = match model.max_hashed_order() {
            0 | 1 => 0,
            2 => 2,
            _ => 16,
        };
        let form = format!("t{lanes}_k{keys}_h{hashed}");
        // Common orders have special kernels; 0 is for any order.
        let order = LanguageModel::order(model);
        let order = if lanes == 4 && (3..=5).contains(&order) { order } else { 0 };
        let walks = load_module(device, &format!("walks_{form}"))?;
        let kernel = |kind: &str| walks.kernel(&format!("{kind}_{form}_n{order}"));
        let (tokens, ngrams, next) = (kernel("tokens")?, kernel("ngrams")?, kernel("next")?);
        let sums = load_common_kernel(device, "sum_sentences")?;
        Ok(Kernels { tokens, ngrams, next, sums })
    }
}

/// Returns the built-in module `name` on `device`.
#[expect(unsafe_code, reason = "loading PTX; this is the only place")]
fn load_module(device: &Device, name: &str) -> Result<Module> {
    // SAFETY: the text is embedded and compiled from `glm/kernels` (a test compares hashes). These
    // kernels clamp their reads of a model to the bounds in `ModelParameters`, whose sections
    // outlive every launch. In a batch, they access only what the counts among their parameters
    // allow. Only this folder launches them: `StreamWorkspace` reserves buffers for the counts of
    // the same launch, `time_random_reads` passes the number of sectors of its buffer.
    Ok(unsafe { device.load(&ptx_module(name)) }?)
}

/// Returns a kernel that reads no model, from the module `common`.
pub(super) fn load_common_kernel(device: &Device, name: &str) -> Result<Kernel> {
    Ok(load_module(device, "common")?.kernel(name)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn kernels() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
    }

    /// FNV-1a, as `scripts/build_ptx.py` has it.
    fn hash(parts: &[Vec<u8>]) -> String {
        let hash = parts.iter().flatten().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        format!("{hash:016x}")
    }

    #[test]
    fn the_ptx_is_that_of_the_sources() {
        let sources = std::fs::read_dir(kernels()).unwrap().map(|entry| entry.unwrap().path());
        let is_source = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|extension| extension == "cu" || extension == "cuh")
        };
        let mut sources: Vec<_> = sources.filter(is_source).collect();
        sources.sort();
        assert_eq!(sources.len(), 4);
        sources.push(kernels().join("../../scripts/build_ptx.py"));
        let read = |path: &std::path::PathBuf| std::fs::read(path).unwrap();
        let recipe = hash(&sources.iter().map(read).collect::<Vec<_>>());
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(PTX_ARCHIVE).read_to_end(&mut text).unwrap();
        let outcome = hash(&[text, read(&kernels().join("ptx/report.tsv"))]);
        let built = std::fs::read_to_string(kernels().join("ptx/hash.txt")).unwrap();
        assert_eq!(
            built,
            format!("recipe {recipe}\noutcome {outcome}\n"),
            "the PTX is stale: run scripts/build_ptx.py"
        );
    }

    #[test]
    fn the_report_names_every_kernel_for_every_device_and_no_spills() {
        let report = std::fs::read_to_string(kernels().join("ptx/report.tsv")).unwrap();
        let rows: Vec<Vec<&str>> =
            report.lines().skip(1).map(|line| line.split('\t').collect()).collect();
        for row in &rows {
            let registers: u32 = row[2].parse().unwrap();
            assert!(registers <= 80, "{row:?}");
            assert_eq!(row[4], "0", "{} spills on {}", row[0], row[1]);
        }
        let mut text = String::new();
        flate2::read::GzDecoder::new(PTX_ARCHIVE).read_to_string(&mut text).unwrap();
        let entries: Vec<&str> =
            text.split(".entry ").skip(1).map(|rest| rest.split('(').next().unwrap()).collect();
        assert!(entries.len() > 80, "{}", entries.len());
        for device in ["sm_75", "sm_80", "sm_90"] {
            for entry in &entries {
                let found = rows.iter().any(|row| row[0] == *entry && row[1] == device);
                assert!(found, "{entry} on {device}");
            }
        }
        assert_eq!(rows.len(), 3 * entries.len());
    }

    #[test]
    fn every_model_finds_its_kernels() {
        for lanes in [4, 8, 16] {
            for keys in [8, 16, 32] {
                for hashed in [0, 2, 16] {
                    let form = format!("t{lanes}_k{keys}_h{hashed}");
                    let text = ptx_module(&format!("walks_{form}"));
                    let orders: &[u32] = if lanes == 4 { &[0, 3, 4, 5] } else { &[0] };
                    for kind in ["tokens", "ngrams", "next"] {
                        for order in orders {
                            assert!(text.contains(&format!(".entry {kind}_{form}_n{order}(")));
                        }
                    }
                    assert!(text.contains(".target sm_75"));
                }
            }
        }
        assert!(ptx_module("common").contains(".entry sum_sentences("));
    }
}
