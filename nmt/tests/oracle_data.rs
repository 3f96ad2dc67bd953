//! Folder of the models with recorded outputs, and their names. Tests with these models are skipped
//! if the folder is absent.

use std::io::Write;
use std::path::{Path, PathBuf};

/// All models of the folder.
pub const ORACLE_MODELS: [&str; 16] = [
    "tr-post",
    "tr-post-untied",
    "tr-pre",
    "tr-ssru",
    "tr-ssru-pre",
    "tr-aan",
    "tr-aan-nogate1",
    "tr-options",
    "rnn-gru",
    "rnn-deep-ln",
    "rnn-lstm",
    "rnn-mlstm",
    "amun",
    "amun-ln",
    "nematus",
    "nematus-ln",
];

/// Returns the folder. If it is absent, prints so and returns `None`.
pub fn oracle_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/nmt-oracle");
    if !folder.exists() {
        let _ = writeln!(std::io::stderr(), "skipped: {} is absent", folder.display());
        return None;
    }
    Some(folder)
}
