//! Files that may be compressed: archives and the caches of browsers keep models, vocabularies and
//! shortlists as `.gz` or `.zst`.
//!
//! As with text files, the first bytes tell the compression, not the name. Plain files stay mapped;
//! others are decompressed into memory once. Files that would become too large are rejected,
//! because they may have been made to exhaust memory, and so are devices such as `/dev/zero`.

use std::fs::FileType;
use std::io::Read;
use std::path::{Path, PathBuf};

use miriam_storage::paths::with_suffix;
use miriam_storage::{Bytes, LoadMethod};
use miriam_textio::Input;

use crate::{Error, Result};

/// A file may decompress to this many times its length, plus [`ALLOWANCE`]: weights hardly
/// compress, but lists of words and of lexical probabilities shrink to a tenth.
const MAX_RATIO: u64 = 64;
/// The number of bytes that even the smallest file may decompress to, and that are read of a
/// device, which may have no end.
const ALLOWANCE: u64 = 16 << 20;

/// The suffixes of compressed files.
const SUFFIXES: [&str; 2] = ["gz", "zst"];

/// Opens the content of the file, pipe or device at `path`, decompressed if it is gzip or zstd.
///
/// # Errors
/// If it cannot be read, is damaged, is a pointer of Git LFS, would decompress to too many bytes,
/// or is a device that gives too many.
pub fn open(path: &Path) -> Result<Bytes> {
    open_with(path, LoadMethod::Lazy)
}

/// Rejects a Git LFS pointer: the short text that Git stores in place of a large file.
///
/// # Errors
/// If `bytes` are such a pointer.
pub(crate) fn reject_git_lfs_pointer(bytes: &[u8], path: &Path) -> Result<()> {
    if !bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Ok(());
    }
    let reason = "a Git LFS pointer in place of the file; fetch the file with git lfs pull";
    Err(Error::unsupported(path, reason))
}

/// Works as [`open`]; a plain file is loaded by `load`.
pub fn open_with(path: &Path, load: LoadMethod) -> Result<Bytes> {
    let kind = path.metadata().ok().map(|information| information.file_type());
    let is_device = kind.is_some_and(is_device);
    // A pipe has no known length.
    let mut limit = if is_device { ALLOWANCE } else { u64::MAX };
    if kind.is_none_or(|kind| kind.is_file()) {
        let bytes = Bytes::open(path, load)?;
        reject_git_lfs_pointer(&bytes, path)?;
        if !is_compressed(&bytes) {
            return Ok(bytes);
        }
        limit = MAX_RATIO.saturating_mul(bytes.len() as u64).saturating_add(ALLOWANCE);
    }
    let input = Input::open(path)?.without_line_limit();
    let name = input.name().to_owned();
    // Reading one byte more shows whether the content is too large.
    let content = Bytes::read_from(input.take(limit.saturating_add(1)))
        .map_err(|e| miriam_textio::Error::io(&name, "read", e))?;
    if content.len() as u64 > limit && is_device {
        let reason = "a device that gives more than 16 MiB, in place of a file";
        return Err(Error::unsupported(path, reason));
    }
    if content.len() as u64 > limit {
        let reason = format!(
            "it decompresses to more than {limit} bytes, too many for a file of its size; if you trust it, decompress it and give the plain file"
        );
        return Err(Error::unsupported(path, reason));
    }
    Ok(content)
}

/// Whether a file is a character device, such as a terminal or `/dev/null`.
#[cfg(unix)]
fn is_device(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&kind)
}

/// Always false: only Unix has such files.
#[cfg(not(unix))]
fn is_device(_: FileType) -> bool {
    false
}

/// Reads `bytes` as a stream, without copying all of them.
pub fn reader(bytes: Bytes) -> impl Read + Send {
    struct Reader(Bytes, usize);

    impl Read for Reader {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = (&self.0[self.1..]).read(buffer)?;
            self.1 += count;
            Ok(count)
        }
    }

    Reader(bytes, 0)
}

/// Whether `bytes` begin as gzip or zstd does.
fn is_compressed(bytes: &[u8]) -> bool {
    match bytes {
        // The length of a safetensors header may begin as gzip does; a brace follows it.
        [0x1f, 0x8b, 8, _, _, _, _, _, next, ..] => *next != b'{',
        [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
        _ => false,
    }
}

/// Returns `path` without the suffix of a compression.
pub fn plain_path(path: &Path) -> PathBuf {
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some(suffix) if SUFFIXES.contains(&suffix) => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// Returns the extension of `path` that tells the format, which is before the suffix of a
/// compression.
pub fn format_extension(path: &Path) -> Option<String> {
    let plain = plain_path(path);
    plain.extension().and_then(|extension| extension.to_str()).map(str::to_owned)
}

/// Returns one of `names` for each plain name, in the order of plain names: the plain file,
/// otherwise the `.gz` file, otherwise the `.zst` file.
pub fn without_duplicates<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    // The plain name is the shortest.
    names.sort_unstable_by_key(|name| (plain_path(Path::new(name)), name.len()));
    names.dedup_by_key(|name| plain_path(Path::new(name)));
    names
}

/// Returns `path`, or the path of its compressed form if only that exists.
pub fn find(path: PathBuf) -> PathBuf {
    if path.exists() {
        return path;
    }
    let compressed = SUFFIXES.map(|suffix| with_suffix(&path, &format!(".{suffix}")));
    compressed.into_iter().find(|path| path.is_file()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn compressed_files_have_the_content_of_plain_ones() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let text: Vec<u8> = (0..5000u32).flat_map(u32::to_le_bytes).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        gzip.write_all(&text).unwrap();
        let gzip = gzip.finish().unwrap();
        assert_eq!(&open(&file("a", &text)).unwrap()[..], text);
        assert_eq!(&open(&file("a.bin", &gzip)).unwrap()[..], text, "whatever its name is");
        assert!(open(&file("cut", &gzip[..gzip.len() / 2])).is_err());
        assert!(open(&folder.path().join("absent")).is_err());
        assert!(open(&file("empty", b"")).unwrap().is_empty());
        // The length of a safetensors header, not gzip.
        let header = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0][..], b"{}"].concat();
        assert_eq!(&open(&file("model.safetensors", &header)).unwrap()[..], header);
    }

    /// Other systems may not allow such a name.
    #[cfg(target_os = "linux")]
    #[test]
    fn compressed_files_are_found_by_names_that_are_not_utf8() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let [plain, compressed] = [&b"vocab-\xe9"[..], b"vocab-\xe9.gz"]
            .map(|name| folder.path().join(OsStr::from_bytes(name)));
        std::fs::write(&compressed, b"").unwrap();
        assert_eq!(find(plain), compressed);
    }

    #[test]
    fn files_that_would_fill_memory_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vocab.spm.gz");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = vec![0; 1 << 20];
        let most = ALLOWANCE >> 20;
        (0..=most).for_each(|_| gzip.write_all(&zeros).unwrap());
        std::fs::write(&path, gzip.finish().unwrap()).unwrap();
        let length = path.metadata().unwrap().len();
        assert!((most + 1) << 20 < ALLOWANCE + MAX_RATIO * length, "the ratio allows this size");
        assert_eq!(open(&path).unwrap().len() as u64, (most + 1) << 20);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        (0..=2 * most).for_each(|_| gzip.write_all(&zeros).unwrap());
        std::fs::write(&path, gzip.finish().unwrap()).unwrap();
        let error = open(&path).err().unwrap().to_string();
        assert!(error.contains("vocab.spm.gz") && error.contains("plain file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn devices_without_an_end_are_rejected() {
        let error = open(Path::new("/dev/zero")).err().unwrap().to_string();
        assert!(error.contains("/dev/zero") && error.contains("a device"), "{error}");
        assert!(open(Path::new("/dev/null")).unwrap().is_empty());
    }

    #[test]
    fn only_suffixes_of_compression_are_removed() {
        for (name, plain, extension) in [
            ("vocab.de.spm.gz", "vocab.de.spm", Some("spm")),
            ("m.bin.zst", "m.bin", Some("bin")),
            ("v.model", "v.model", Some("model")),
            ("plain", "plain", None),
        ] {
            assert_eq!(plain_path(Path::new(name)), Path::new(plain));
            assert_eq!(format_extension(Path::new(name)).as_deref(), extension, "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lex.bin");
        assert_eq!(find(path.clone()), path);
        std::fs::write(folder.path().join("lex.bin.zst"), b"").unwrap();
        assert_eq!(find(path.clone()), folder.path().join("lex.bin.zst"));
        std::fs::write(&path, b"").unwrap();
        assert_eq!(find(path.clone()), path);
    }
}
