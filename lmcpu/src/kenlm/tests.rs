//! KenLM's files against what KenLM printed from them, and files that are
//! damaged.

use std::io::{Read, Write as _};
use std::path::PathBuf;

use miriam_text::{Input, Output, Silent};

use super::*;
use crate::query::{Levels, TextOptions, query};

/// The content of a file of `../shared/data`, decompressed; nothing, after a
/// word about it, where that is absent.
pub(super) fn shared(name: &str) -> Option<Vec<u8>> {
    let path = shared_path(name)?;
    let mut bytes = Vec::new();
    Input::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

fn shared_path(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    let _ = writeln!(std::io::stderr(), "skipped: {} is absent", path.display());
    None
}

pub(super) fn open(bytes: &[u8]) -> Result<KenlmFile> {
    KenlmFile::from_bytes(&Bytes::copy_from(bytes), Path::new("model"))
}

/// What `query` prints for `text`.
pub(super) fn queried(model: &dyn LanguageModel, text: &[u8]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut output = Output::create(file.path()).unwrap();
    let input = Input::from_reader(std::io::Cursor::new(text.to_vec()), "text", None).unwrap();
    let options = TextOptions { markers: true, threads: 1, line_by_line: false };
    query(model, input, &mut output, Levels::ALL, options, &Silent).unwrap();
    output.finish().unwrap();
    std::fs::read(file.path()).unwrap()
}

/// Compares without printing megabytes.
pub(super) fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    if found == expected {
        return;
    }
    let lines = || found.split(|&b| b == b'\n').zip(expected.split(|&b| b == b'\n'));
    let at = lines().position(|(a, b)| a != b).unwrap_or_default();
    let (a, b) = lines().nth(at).unwrap_or_default();
    let show = |bytes| String::from_utf8_lossy(bytes).into_owned();
    panic!("{what}: line {}:\n{}\nexpected:\n{}", at + 1, show(a), show(b));
}

pub(super) const KINDS: [&str; 5] = ["probing", "trie", "qtrie", "atrie", "qatrie"];

#[test]
fn small_files_of_every_kind_score_as_kenlm_does() {
    let Some(text) = shared("kenlm-cases/heldout.en") else { return };
    for name in ["o5", "o3-suffixless"] {
        for kind in KINDS {
            let file = shared(&format!("kenlm-cases/{name}.{kind}.zst")).unwrap();
            let expected = shared(&format!("kenlm-cases/{name}.{kind}.query.gz")).unwrap();
            let model = open(&file).unwrap().into_model();
            assert_same(&queried(&*model, &text), &expected, &format!("{name}.{kind}"));
        }
    }
}

#[test]
fn multi30k_scores_as_kenlm_does() {
    for kind in ["probing", "trie", "trie-q8"] {
        let Some(file) = shared(&format!("m30k-de-en/lm/lm.5.en.{kind}.zst")) else { return };
        let model = open(&file).unwrap().into_model();
        for name in ["test", "dev", "odd"] {
            let text = match name {
                "odd" => shared("m30k-de-en/lm/odd.en.gz"),
                _ => shared(&format!("m30k-de-en/corpus/{name}.en.gz")),
            };
            let expected = shared(&format!("m30k-de-en/lm/{name}.{kind}.query.gz")).unwrap();
            assert_same(&queried(&*model, &text.unwrap()), &expected, &format!("{name}.{kind}"));
        }
    }
}

/// Values of `ngram-lm.md`, Appendix A.
#[test]
fn word_hashes_are_kenlms() {
    let cases: [(&[u8], u64); 8] = [
        (b"", 0),
        (b"<unk>", 0xea91_e756_1f5b_392b),
        (b"<UNK>", 0x7e16_3219_007d_2f54),
        (b"<s>", 0x0075_8639_bd21_7e70),
        (b"</s>", 0x6be0_737d_f1f7_6c0a),
        (b"the", 0xa43b_27ac_1ae5_a22b),
        (b"looking", 0x64ca_6fde_07bc_fde0),
        (b"extraordinary", 0xd9ed_2636_edce_5fc1),
    ];
    for (word, hash) in cases {
        assert_eq!(words::word_hash(word), hash);
    }
}

/// `file` as ARPA text.
fn dumped(file: &[u8]) -> Result<Vec<u8>> {
    let mut source = open(file)?.into_source(Path::new("model"))?;
    dumped_source(&mut *source)
}

pub(super) fn dumped_source(source: &mut dyn NgramSource) -> Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut output = Output::create(file.path()).unwrap();
    crate::dump(source, &mut output, &Silent)?;
    output.finish().unwrap();
    Ok(std::fs::read(file.path()).unwrap())
}

fn sorted_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// KenLM wrote the ARPA files in the order of word ids, newest first, which is
/// also that of our lists.
#[test]
fn a_dump_is_the_arpa_file_the_model_came_from() {
    for (file, arpa) in [
        ("kenlm-cases/o5.probing.zst", "kenlm-cases/o5.arpa.gz"),
        ("m30k-de-en/lm/lm.5.en.probing.zst", "m30k-de-en/lm/lm.5.en.arpa.gz"),
    ] {
        let (Some(file), Some(arpa)) = (shared(file), shared(arpa)) else { return };
        assert_same(&dumped(&file).unwrap(), &arpa, "probing");
    }
    let arpa = shared("kenlm-cases/o5.arpa.gz").unwrap();
    for kind in ["trie", "atrie"] {
        let file = shared(&format!("kenlm-cases/o5.{kind}.zst")).unwrap();
        let found = dumped(&file).unwrap();
        assert!(sorted_lines(&found) == sorted_lines(&arpa), "{kind}");
    }
}

#[test]
fn a_model_built_from_a_dump_scores_as_the_file_does() {
    let Some(text) = shared("kenlm-cases/heldout.en") else { return };
    for name in ["o5", "o3-suffixless"] {
        for kind in KINDS {
            let file = shared(&format!("kenlm-cases/{name}.{kind}.zst")).unwrap();
            let expected = shared(&format!("kenlm-cases/{name}.{kind}.query.gz")).unwrap();
            let arpa = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(arpa.path(), dumped(&file).unwrap()).unwrap();
            let model = crate::probing::probing_from_arpa(arpa.path(), &Silent).unwrap();
            assert_same(&queried(&model, &text), &expected, &format!("{name}.{kind}"));
        }
    }
}

/// The file built from the model at `path`.
fn built(path: &Path, options: KenlmOptions) -> Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    build_kenlm_probing(path, file.path(), options, &Silent)?;
    Ok(std::fs::read(file.path()).unwrap())
}

#[test]
fn what_is_written_is_what_build_binary_writes() {
    for (arpa, file) in [
        ("kenlm-cases/o5.arpa.gz", "kenlm-cases/o5.probing.zst"),
        ("kenlm-cases/o3-suffixless.arpa.gz", "kenlm-cases/o3-suffixless.probing.zst"),
        ("m30k-de-en/lm/lm.5.en.arpa.gz", "m30k-de-en/lm/lm.5.en.probing.zst"),
    ] {
        let (Some(arpa), Some(expected)) = (shared_path(arpa), shared(file)) else { return };
        let found = built(&arpa, KenlmOptions::default()).unwrap();
        assert_eq!(found.len(), expected.len(), "{file}");
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{file}");
    }
}

/// A probing file goes through our lists and comes out as it was.
#[test]
fn a_file_built_from_a_file_is_that_file() {
    let Some(expected) = shared("kenlm-cases/o5.probing.zst") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o5.probing");
    std::fs::write(&path, &expected).unwrap();
    assert!(built(&path, KenlmOptions::default()).unwrap() == expected);
    let wide = built(&path, KenlmOptions { multiplier: 3.0, ..Default::default() }).unwrap();
    assert!(wide.len() > expected.len());
    let text = shared("kenlm-cases/heldout.en").unwrap();
    let query = shared("kenlm-cases/o5.probing.query.gz").unwrap();
    assert_same(&queried(&*open(&wide).unwrap().into_model(), &text), &query, "wide");
}
