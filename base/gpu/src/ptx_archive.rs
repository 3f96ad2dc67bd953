//! Compressed archives of PTX modules, one per crate, written by `scripts/build_ptx.py`.

use std::io::Read;

/// The prefix of the line that precedes each module and names it.
const HEADER_PREFIX: &str = "//! ";

/// The modules of an archive.
pub struct PtxArchive {
    text: String,
}

impl PtxArchive {
    /// Unpacks an archive that is embedded in the program.
    ///
    /// # Panics
    ///
    /// If the archive is damaged. Tests of the crates that embed archives rule this out.
    pub fn unpack(archive: &[u8]) -> Self {
        let mut text = String::new();
        let read = flate2::read::GzDecoder::new(archive).read_to_string(&mut text);
        read.expect("the embedded archive is valid gzip");
        PtxArchive { text }
    }

    /// Returns the names and texts of all modules.
    pub fn modules(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.text.split(HEADER_PREFIX).skip(1);
        parts.map(|part| part.split_once('\n').unwrap_or((part, "")))
    }

    /// Returns the text of the module `name`.
    ///
    /// # Panics
    ///
    /// If there is no such module.
    pub fn module(&self, name: &str) -> &str {
        let found = self.modules().find(|(other, _)| *other == name);
        found.unwrap_or_else(|| panic!("no module {name}")).1
    }

    /// Returns the names of the kernels in the text of a module.
    pub fn kernel_names(module: &str) -> impl Iterator<Item = &str> {
        let parts = module.split(".entry ").skip(1);
        parts.filter_map(|rest| rest.split('(').next()).map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn modules_are_found_by_name() {
        let text = "//! one\n.visible .entry a(\n)\n.visible .entry b(\n)\n//! two\n.entry c()\n";
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let archive = PtxArchive::unpack(&packed.finish().unwrap());
        let names: Vec<&str> = archive.modules().map(|(name, _)| name).collect();
        assert_eq!(names, ["one", "two"]);
        let kernels: Vec<&str> = PtxArchive::kernel_names(archive.module("one")).collect();
        assert_eq!(kernels, ["a", "b"]);
        assert_eq!(archive.module("two"), ".entry c()\n");
    }
}
