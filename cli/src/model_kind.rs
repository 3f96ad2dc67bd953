//! Kind of the model in a file or folder, by the first bytes of the file or by the names of the
//! files in the folder or archive. It is for messages about files given to the wrong command.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use miriam_storage::{Container, LoadMethod};
use miriam_textio::quote_for_shell;

/// The number of bytes that are read at the start of a file. The comments at the head of an ini fit
/// into them.
const HEAD_BYTES: u64 = 16 << 10;

/// The number of bytes that are read at the end of an archive. The names of some hundred files fit
/// into them.
const TAIL_BYTES: u64 = 64 << 10;

/// A kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A moses.ini, or the folder of one.
    PhraseSystem,
    /// A phrase table.
    PhraseTable,
    /// An n-gram language model.
    LanguageModel,
    /// A neural model, its configuration or its folder.
    NeuralModel,
    /// A model of word alignment.
    AlignmentModel,
    /// A zip archive without a neural model.
    ZipArchive,
    /// A pointer of Git LFS instead of a large file.
    GitLfsPointer,
}

impl ModelKind {
    /// Returns the kind of the model at `path`, if it is known.
    pub fn of(path: &Path) -> Option<ModelKind> {
        if path.is_dir() {
            return Self::from_folder(path);
        }
        if Container::is_container(path) {
            let container = Container::open_any(path, LoadMethod::Lazy).ok()?;
            return match container.kind() {
                miriam_probingpt::KIND => Some(ModelKind::PhraseTable),
                miriam_lmcpu::probing::KIND | miriam_lmcpu::trie::KIND | miriam_glm::KIND => {
                    Some(ModelKind::LanguageModel)
                }
                miriam_align::FILE_KIND => Some(ModelKind::AlignmentModel),
                miriam_nmt::KIND => Some(ModelKind::NeuralModel),
                _ => None,
            };
        }
        // Opening a pipe would wait for its writer and consume its bytes.
        let file = path.is_file().then(|| std::fs::File::open(path)).and_then(Result::ok)?;
        let mut head = Vec::new();
        (&file).take(HEAD_BYTES).read_to_end(&mut head).ok()?;
        match Self::from_head(&head) {
            Some(ModelKind::ZipArchive) => Some(Self::from_zip_archive(file)),
            kind => kind,
        }
    }

    /// Returns the kind of a zip archive, by the names of its files, which are at its end. Packages
    /// of OPUS-MT or Argos Translate, NumPy's arrays and PyTorch's objects are neural models.
    fn from_zip_archive(mut file: std::fs::File) -> ModelKind {
        const NAMES: [&[u8]; 6] =
            [b".npy", b"data.pkl", b"decoder.yml", b".npz", b"model.bin", b"metadata.json"];
        let mut tail = Vec::new();
        let length = file.metadata().map_or(0, |found| found.len());
        let start = SeekFrom::Start(length.saturating_sub(TAIL_BYTES));
        let read = file.seek(start).and_then(|_| file.read_to_end(&mut tail));
        if read.is_ok()
            && NAMES.iter().any(|name| tail.windows(name.len()).any(|bytes| bytes == *name))
        {
            ModelKind::NeuralModel
        } else {
            ModelKind::ZipArchive
        }
    }

    fn from_folder(folder: &Path) -> Option<ModelKind> {
        let has = |name: &str| folder.join(name).is_file();
        if has("moses.ini") {
            return Some(ModelKind::PhraseSystem);
        }
        if has("probing_hash.dat") {
            return Some(ModelKind::PhraseTable);
        }
        let neural_files = ["decoder.yml", "model.npz", "config.json", "model.bin"];
        neural_files.into_iter().any(has).then_some(ModelKind::NeuralModel)
    }

    /// Returns the kind of a file that is not a container, by its first bytes.
    fn from_head(head: &[u8]) -> Option<ModelKind> {
        if head.starts_with(b"mmap lm ") || head.trim_ascii_start().starts_with(b"\\data\\") {
            return Some(ModelKind::LanguageModel);
        }
        if head.starts_with(b"PK\x03\x04") {
            return Some(ModelKind::ZipArchive);
        }
        if head.starts_with(b"version https://git-lfs.github.com/spec/") {
            return Some(ModelKind::GitLfsPointer);
        }
        fn has_line(test: &dyn Fn(&[u8]) -> bool, head: &[u8]) -> bool {
            head.split(|&b| b == b'\n').any(|line| test(line.trim_ascii_end()))
        }
        if has_line(&|line| matches!(line, b"[feature]" | b"[weight]" | b"[ttable-file]"), head) {
            return Some(ModelKind::PhraseSystem);
        }
        if has_line(&|line| line.starts_with(b"models:"), head) {
            return Some(ModelKind::NeuralModel);
        }
        let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
        let bars = first.windows(5).filter(|bytes| bytes == b" ||| ").count();
        (bars >= 2).then_some(ModelKind::PhraseTable)
    }

    /// Describes the model at `path`, and names the command for it.
    fn describe(self, path: &Path) -> String {
        let file = quote_for_shell(path);
        match self {
            ModelKind::PhraseSystem if path.is_dir() => format!(
                "a folder of a phrase-based system; translate with miriam translate -f {}",
                quote_for_shell(&path.join("moses.ini"))
            ),
            ModelKind::PhraseSystem => format!(
                "the moses.ini of a phrase-based system; translate with miriam translate -f {file}"
            ),
            ModelKind::PhraseTable => "a phrase table; translate with a moses.ini that names it \
                                       (miriam translate -f), or see miriam pt query"
                .into(),
            ModelKind::LanguageModel => format!(
                "an n-gram language model; score text with miriam lm query {file}, or see miriam \
                 lm --help"
            ),
            ModelKind::NeuralModel => format!(
                "a neural model; translate with miriam nmt translate -m {file}, or see miriam nmt \
                 info"
            ),
            ModelKind::AlignmentModel => {
                format!("a model of word alignment; align with miriam align --load-model {file}")
            }
            ModelKind::ZipArchive => "a zip archive; unpack it and give the file in it".into(),
            ModelKind::GitLfsPointer => "a Git LFS pointer in place of the file; fetch the file \
                                         with git lfs pull"
                .into(),
        }
    }
}

/// Returns the error to report if opening the model at `path` failed with `error`. For a file of
/// another kind than `wanted`, it names the kind and the command for this kind. For a file of an
/// unknown kind, it comes from [`explain_foreign`]. Otherwise it is `error`, also for an archive
/// where a neural model is wanted, because neural models may be archives.
pub fn explain_wrong_kind(
    error: impl Into<anyhow::Error>,
    path: &Path,
    wanted: ModelKind,
) -> anyhow::Error {
    match ModelKind::of(path) {
        // Neural models may be archives; `error` says what is wrong with one.
        Some(ModelKind::ZipArchive) if wanted == ModelKind::NeuralModel => error.into(),
        Some(kind) if kind != wanted => {
            anyhow::anyhow!("{}: this is {}", path.display(), kind.describe(path))
        }
        Some(_) => error.into(),
        None => explain_foreign(error, path),
    }
}

/// Returns the error to report if opening `path` failed with `error`: a description of the file if
/// it is an unsupported file of Moses, otherwise `error`.
pub fn explain_foreign(error: impl Into<anyhow::Error>, path: &Path) -> anyhow::Error {
    match miriam_probingpt::describe_foreign(path) {
        Some(reason) => anyhow::anyhow!("{}: {reason}", path.display()),
        None => error.into(),
    }
}

/// Describes the file at `path`, for a command that does not read its kind.
pub fn describe(path: &Path) -> Option<String> {
    ModelKind::of(path).map(|kind| kind.describe(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_the_kind() {
        for (head, kind) in [
            (
                &b"# made by\n\n[input-factors]\n0\n[feature]\r\nDistortion\n"[..],
                ModelKind::PhraseSystem,
            ),
            (b"\n\\data\\\nngram 1=3\n", ModelKind::LanguageModel),
            (b"mmap lm http://kheafield.com/code format version 5\n\0", ModelKind::LanguageModel),
            (b"PK\x03\x04\x14\0", ModelKind::ZipArchive),
            (b"version https://git-lfs.github.com/spec/v1\n", ModelKind::GitLfsPointer),
            (b"models:\n  - model.npz\nvocabs:\n", ModelKind::NeuralModel),
            (b"das ||| the ||| 0.5 0.5 ||| 0-0\n", ModelKind::PhraseTable),
        ] {
            assert_eq!(ModelKind::from_head(head), Some(kind), "{head:?}");
        }
        for head in [&b""[..], b"das Haus ||| is small\n", b"a text\nof lines\n"] {
            assert_eq!(ModelKind::from_head(head), None, "{head:?}");
        }
    }
}
