//! The kernels of the backend: embedded PTX, which `scripts/build_ptx.py` has compiled.

use std::collections::BTreeMap;

use miriam_gpu::{Device, Kernel, Module, PtxArchive, Result};

/// All modules, compressed.
const PTX_ARCHIVE: &[u8] = include_bytes!("../kernels/ptx/modules.ptx.gz");

/// The prefix of the modules for products in half precision. A device loads the module for its
/// compute capability.
const HALF_PREFIX: &str = "half_product_";

/// The lowest compute capability with bf16, and with larger matrix instructions in half precision.
pub(crate) const BF16_CAPABILITY: (u32, u32) = (8, 0);

/// The kernels by their names.
pub(crate) struct Kernels {
    kernels: BTreeMap<String, Kernel>,
}

impl Kernels {
    /// Loads all kernels that are meant for the device.
    pub fn load(device: &Device) -> Result<Self> {
        let has_bf16 = device.properties().compute_capability >= BF16_CAPABILITY;
        let half_target = if has_bf16 { "80" } else { "75" };
        let mut kernels = BTreeMap::new();
        for (name, text) in PtxArchive::unpack(PTX_ARCHIVE).modules() {
            if name.strip_prefix(HALF_PREFIX).is_some_and(|target| target != half_target) {
                continue;
            }
            let module = load_module(device, text)?;
            for name in PtxArchive::kernel_names(text) {
                kernels.insert(name.to_owned(), module.kernel(name)?);
            }
        }
        Ok(Kernels { kernels })
    }

    /// Returns the kernel `name`.
    ///
    /// # Panics
    /// If `name` is not the name of a kernel.
    pub fn get(&self, name: &str) -> &Kernel {
        self.kernels.get(name).unwrap_or_else(|| panic!("no kernel {name}"))
    }
}

/// Loads a module of the archive.
#[expect(unsafe_code, reason = "loading PTX; this is the only place")]
fn load_module(device: &Device, text: &str) -> Result<Module> {
    // SAFETY: the text is embedded and compiled from `nmt/cuda/kernels` (a test compares hashes).
    // What a kernel reads and writes follows from the shape among its parameters and the row
    // numbers in its lists. Only this crate launches them: it allocates results by the same shape,
    // and checks numbers of rows, tokens, positions and columns before it uploads them. Addresses
    // in records belong to tensors that the caller of the launch keeps alive.
    unsafe { device.load(text) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_ptx_belongs_to_the_sources_and_does_not_spill() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let script = folder.join("../../../scripts/build_ptx.py");
        miriam_emulated_driver::check_kernel_folder(&folder, &script, 128);
    }
}
