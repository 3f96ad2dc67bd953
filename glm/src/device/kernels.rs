//! Kernels as embedded PTX, which `scripts/build_ptx.py` has compiled.

use miriam_gpu::{Device, Kernel, Module, PtxArchive};
use miriam_lmcpu::LanguageModel;

use super::tile::Tile;
use crate::GlmModel;
use crate::error::Result;

/// All modules, compressed, each after a line with its name.
const PTX_ARCHIVE: &[u8] = include_bytes!("../../kernels/ptx/modules.ptx.gz");

/// The kernels that a model needs.
pub(super) struct Kernels {
    pub tokens: Kernel,
    pub ngrams: Kernel,
    pub next: Kernel,
    pub sums: Kernel,
}

impl Kernels {
    /// Loads the kernels for `model` and for searches with `tile`. They are the special kernels for
    /// the order of the model if there are any, unless `generic` is set.
    pub fn load(device: &Device, model: &GlmModel, tile: Tile, generic: bool) -> Result<Self> {
        let (lanes, keys) = (tile.lanes(), model.node_width().keys());
        // Kernels are compiled for no hash table, for bigrams, and for any number of hashed orders.
        let hashed = match model.max_hashed_order() {
            0 | 1 => 0,
            2 => 2,
            _ => 16,
        };
        let form = format!("t{lanes}_k{keys}_h{hashed}");
        // The kernels for any order have the number 0.
        let order = LanguageModel::order(model);
        let order = if has_special_kernels(order, tile) && !generic { order } else { 0 };
        let walks = load_module(device, &format!("walks_{form}"))?;
        let kernel = |kind: &str| walks.kernel(&format!("{kind}_{form}_n{order}"));
        let (tokens, ngrams, next) = (kernel("tokens")?, kernel("ngrams")?, kernel("next")?);
        let sums = load_common_kernel(device, "sum_sentences")?;
        Ok(Kernels { tokens, ngrams, next, sums })
    }
}

/// Whether there are special kernels for this order and this tile. They exist for orders 3 to 5 and
/// tiles of 4 lanes.
pub(super) fn has_special_kernels(order: usize, tile: Tile) -> bool {
    tile.lanes() == 4 && (3..=5).contains(&order)
}

/// Returns the built-in module `name` on `device`.
#[expect(unsafe_code, reason = "loading PTX; this is the only place")]
fn load_module(device: &Device, name: &str) -> Result<Module> {
    // SAFETY: the text is embedded and compiled from `glm/kernels` (a test compares hashes). These
    // kernels clamp their reads of a model to the bounds in `ModelParameters`, whose sections
    // outlive every launch. In a batch, they access only what the counts among their parameters
    // allow. Only this folder launches them: `StreamWorkspace` reserves buffers for the counts of
    // the same launch, `time_random_reads` passes the number of sectors of its buffer.
    Ok(unsafe { device.load(PtxArchive::unpack(PTX_ARCHIVE).module(name)) }?)
}

/// Returns a kernel that reads no model, from the module `common`.
pub(super) fn load_common_kernel(device: &Device, name: &str) -> Result<Kernel> {
    Ok(load_module(device, "common")?.kernel(name)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_ptx_is_that_of_the_sources_and_does_not_spill() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let script = folder.join("../../scripts/build_ptx.py");
        miriam_emulated_driver::check_kernel_folder(&folder, &script, 80);
    }

    #[test]
    fn every_model_finds_its_kernels() {
        let archive = PtxArchive::unpack(PTX_ARCHIVE);
        for lanes in [4, 8, 16] {
            for keys in [8, 16, 32] {
                for hashed in [0, 2, 16] {
                    let form = format!("t{lanes}_k{keys}_h{hashed}");
                    let text = archive.module(&format!("walks_{form}"));
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
        assert!(archive.module("common").contains(".entry sum_sentences("));
    }
}
