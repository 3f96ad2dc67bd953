//! Access to the small models of `../shared/data/nmt-oracle`.

use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::{Architecture, Dialect};
use miriam_trainer::ParameterLayout;

/// The models.
pub const MODELS: [&str; 16] = [
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

/// Returns the folder, or prints that it is missing.
pub fn oracle_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/nmt-oracle");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: ../shared/data/nmt-oracle is not there");
    None
}

/// Returns the first pairs of German and English sentences; the file has all German ones first.
pub fn oracle_pairs(folder: &Path, count: usize) -> [Vec<Vec<u32>>; 2] {
    let text = std::fs::read_to_string(folder.join("input.ids.txt")).expect("the ids are there");
    let lines: Vec<Vec<u32>> = text
        .lines()
        .map(|line| line.split_whitespace().map(|id| id.parse().expect("an id")).collect())
        .collect();
    let half = lines.len() / 2;
    let keep = |range: std::ops::Range<usize>| {
        lines[range].iter().filter(|line| line.len() > 1).take(count).cloned().collect()
    };
    [keep(0..half), keep(half..lines.len())]
}

/// A model of [`MODELS`].
pub struct OracleModel {
    pub architecture: Architecture,
    pub layout: ParameterLayout,
    /// The parameters, a flat vector.
    pub values: Vec<f32>,
}

impl OracleModel {
    /// Opens a model with the semantics of Marian's main line, even if its files were written by
    /// older versions.
    pub fn open(folder: &Path, name: &str) -> Self {
        let path = folder.join("models").join(format!("{name}.npz"));
        let mut bundle = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
        bundle.set_dialect(Dialect::Marian);
        let model = &bundle.models[0];
        let layout = ParameterLayout::new(model.architecture());
        let mut values = vec![0.0; layout.len()];
        for parameter in layout.iter() {
            let tensor = model.parameter(&parameter.name).expect("every parameter is in the model");
            values[parameter.range()].copy_from_slice(&tensor.values());
        }
        OracleModel { architecture: model.architecture().clone(), layout, values }
    }
}
