//! Comparison of the state after each word with KenLM's, by hash (`ngram-lm.md` 2.1, T4).
//!
//! Needs a Python with the module `kenlm`: the one that `MIRIAM_KENLM_PYTHON` names, else
//! `python3`. Also needs the files in `shared/data/kenlm-cases`. Skipped if the module or a file is
//! missing.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use miriam_lmcpu::{LanguageModel, State, open};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, NoProgress};

/// A Python program that prints the hash of the state after each word of each line of a text, and
/// after the `</s>` that ends the line.
const HASHES: &str = "
import kenlm, sys
model = kenlm.Model(sys.argv[1])
for line in open(sys.argv[2], 'rb'):
    state = kenlm.State()
    model.BeginSentenceWrite(state)
    for word in line.split() + [b'</s>']:
        after = kenlm.State()
        model.BaseScore(state, word.decode(), after)
        print(hash(after))
        state = after
";

fn report_skipped(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

fn python_with_kenlm() -> Option<PathBuf> {
    let python = std::env::var_os("MIRIAM_KENLM_PYTHON").unwrap_or_else(|| "python3".into());
    let import = Command::new(&python).args(["-c", "import kenlm"]).stderr(Stdio::null()).status();
    if import.is_ok_and(|status| status.success()) {
        return Some(python.into());
    }
    report_skipped("no Python with the module kenlm; MIRIAM_KENLM_PYTHON may name one");
    None
}

/// Decompresses the file `name` of the recorded cases into `folder`; `None` if it is absent.
fn decompress_case(folder: &Path, name: &str) -> Option<PathBuf> {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/kenlm-cases");
    let packed = Path::new(cases).join(name);
    if !packed.exists() {
        report_skipped(&format!("{} is absent", packed.display()));
        return None;
    }
    let mut content = Vec::new();
    Input::open(&packed).unwrap().read_to_end(&mut content).unwrap();
    let plain = folder.join(name.trim_end_matches(".gz").trim_end_matches(".zst"));
    File::create(&plain).unwrap().write_all(&content).unwrap();
    Some(plain)
}

/// Computes the hash that Python prints for a state: MurmurHash64A with seed 0 over its 32-bit word
/// ids.
fn kenlm_state_hash(state: &State) -> i64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let bytes: Vec<u8> = state.entries().iter().flat_map(|e| e.0.0.to_le_bytes()).collect();
    let mut hash = (bytes.len() as u64).wrapping_mul(M);
    for block in bytes.chunks(8) {
        if let Ok(block) = <[u8; 8]>::try_from(block) {
            let k = u64::from_le_bytes(block).wrapping_mul(M);
            hash = (hash ^ (k ^ (k >> 47)).wrapping_mul(M)).wrapping_mul(M);
        } else {
            for (i, &byte) in block.iter().enumerate() {
                hash ^= u64::from(byte) << (8 * i);
            }
            hash = hash.wrapping_mul(M);
        }
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(M);
    match (hash ^ (hash >> 47)) as i64 {
        // Python reserves -1 for errors.
        -1 => -2,
        hash => hash,
    }
}

fn state_hashes(model: &dyn LanguageModel, text: &[u8]) -> Vec<i64> {
    let mut hashes = Vec::new();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let ids = words.map(|word| model.word_id(word)).chain([model.end_of_sentence()]);
        let mut state = model.begin_state();
        for id in ids {
            let mut next = State::EMPTY;
            model.score(&state, id, &mut next);
            hashes.push(kenlm_state_hash(&next));
            state = next;
        }
    }
    hashes
}

#[test]
fn states_are_those_of_kenlm() {
    let Some(python) = python_with_kenlm() else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(text) = decompress_case(folder.path(), "heldout.en") else { return };
    let content = std::fs::read(&text).unwrap();
    for model in ["o5", "o3-suffixless"] {
        for kind in ["arpa.gz", "probing.zst", "trie.zst", "qtrie.zst", "atrie.zst", "qatrie.zst"] {
            let Some(path) = decompress_case(folder.path(), &format!("{model}.{kind}")) else {
                return;
            };
            let kenlm = Command::new(&python)
                .arg("-c")
                .arg(HASHES)
                .args([&path, &text])
                .output()
                .expect("Python starts");
            let message = String::from_utf8_lossy(&kenlm.stderr);
            assert!(kenlm.status.success(), "{model}.{kind}: {message}");
            let printed = String::from_utf8(kenlm.stdout).unwrap();
            let expected: Vec<i64> = printed.lines().map(|line| line.parse().unwrap()).collect();
            let ours = open(&path, LoadMethod::Lazy, &NoProgress).unwrap();
            let found = state_hashes(&*ours, &content);
            assert!(expected.len() > 1_000);
            assert_eq!(found.len(), expected.len(), "{model}.{kind}");
            let wrong = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{model}.{kind}: of {} states", found.len());
        }
    }
}
