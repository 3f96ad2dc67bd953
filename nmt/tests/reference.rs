//! The reference backend is the numeric oracle. It gives the numbers of the NumPy decoders of
//! `../shared/data/nmt-oracle` (skipped if that is absent), and of the equations of the small
//! models in this crate. The scores of the engine are near those of this backend.

use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::{Architecture, Dialect};
use miriam_nmt::engine::Precision;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::{
    EncoderDecoder, HypothesisRow, Network, Recurrent, Slot, Stacked, Transformer,
};
use miriam_nmt::reference::{Matrix, ReferenceBackend, ReferenceLoader};

use crate::oracle_data::{ORACLE_MODELS, oracle_folder};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn open(path: &Path, dialect: Option<Dialect>) -> ModelBundle {
    let mut bundle = ModelBundle::open(path, None).unwrap_or_else(|e| panic!("{e}"));
    if let Some(dialect) = dialect {
        bundle.set_dialect(dialect);
    }
    bundle
}

/// The layers of any architecture on the reference backend.
#[expect(clippy::large_enum_variant, reason = "one value a test")]
enum Layers {
    Transformer(Transformer<ReferenceBackend>),
    Recurrent(Recurrent<ReferenceBackend>),
    Stacked(Stacked<ReferenceBackend>),
}

impl Layers {
    fn load(bundle: &ModelBundle, speedups: &Speedups) -> Layers {
        let mut parameters = ReferenceLoader::new(&bundle.models[0], &bundle.path);
        let layers = match bundle.models[0].architecture() {
            Architecture::Transformer(config) => {
                Transformer::load(&mut parameters, config).map(Layers::Transformer)
            }
            Architecture::Recurrent(config) => {
                Recurrent::new(config, speedups, &mut parameters).map(Layers::Recurrent)
            }
            Architecture::Stacked(config) => {
                Stacked::from_stacked(config, speedups, &mut parameters).map(Layers::Stacked)
            }
        };
        layers.unwrap_or_else(|e| panic!("{e}"))
    }

    fn encoder_states(&self, sentence: &[u32]) -> Matrix {
        let states = match self {
            Layers::Transformer(layers) => {
                layers.encoder_states(&mut ReferenceBackend, &[sentence])
            }
            Layers::Recurrent(layers) => layers.encoder_states(&mut ReferenceBackend, &[sentence]),
            Layers::Stacked(layers) => layers.encoder_states(&mut ReferenceBackend, &[sentence]),
        };
        states.unwrap()
    }

    fn force_decode(&self, lines: &[Line]) -> Vec<Vec<Scored>> {
        match self {
            Layers::Transformer(layers) => force_decode(layers, lines),
            Layers::Recurrent(layers) => force_decode(layers, lines),
            Layers::Stacked(layers) => force_decode(layers, lines),
        }
    }
}

/// A source, its translation, and the log-probability of each token of the translation.
struct Line {
    source: Vec<u32>,
    target: Vec<u32>,
    scores: Vec<f64>,
}

/// The log-probability of a token, and the token that greedy search would choose in its place.
struct Scored {
    score: f64,
    choice: u32,
}

/// The unknown token, which the references never generate.
const UNK_ID: usize = 1;

/// Decodes all lines together, each along its translation.
fn force_decode<F: EncoderDecoder<ReferenceBackend>>(
    layers: &F,
    lines: &[Line],
) -> Vec<Vec<Scored>> {
    let mut backend = ReferenceBackend;
    let sources: Vec<&[u32]> = lines.iter().map(|line| &line.source[..]).collect();
    let sources = layers.encode(&mut backend, &sources).unwrap();
    let mut state = layers.start_state(&mut backend).unwrap();
    let mut scored: Vec<Vec<Scored>> = lines.iter().map(|_| Vec::new()).collect();
    let mut before: Vec<usize> = Vec::new();
    for step in 0.. {
        let active: Vec<usize> =
            (0..lines.len()).filter(|&line| lines[line].target.len() > step).collect();
        if active.is_empty() {
            break;
        }
        let row = |&line: &usize| HypothesisRow {
            slot: Slot(line as u32),
            parent: before.binary_search(&line).ok().map(|row| row as u32),
            token: step.checked_sub(1).map(|last| lines[line].target[last]),
        };
        let rows: Vec<HypothesisRow> = active.iter().map(row).collect();
        let row_sources: Vec<&F::EncodedSource> =
            active.iter().map(|&line| &sources[line]).collect();
        let mut alignment = Vec::new();
        let hidden = layers
            .step(&mut backend, &mut state, &rows, &row_sources, Some(&mut alignment))
            .unwrap();
        for (weights, &line) in alignment.iter().zip(&active) {
            assert_eq!(weights.len(), lines[line].source.len());
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let all = backend.log_softmax(&hidden, layers.output_weights());
        for (scores, &line) in all.iter().zip(&active) {
            let allowed = (0..scores.len()).filter(|&token| token != UNK_ID);
            let choice = allowed.max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap() as u32;
            let score = scores[lines[line].target[step] as usize];
            scored[line].push(Scored { score, choice });
        }
        before = active;
    }
    scored
}

fn numbers<T: std::str::FromStr>(field: &str) -> Vec<T> {
    field.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Reads every `every`-th line of an oracle file, from the first on.
fn read_lines(folder: &Path, name: &str, file: &str, every: usize) -> Vec<Line> {
    let ids = std::fs::read_to_string(folder.join("input.ids.txt")).unwrap();
    let text = std::fs::read_to_string(folder.join("out").join(name).join(file)).unwrap();
    let lines = ids.lines().zip(text.lines().filter(|line| line.starts_with(char::is_numeric)));
    let lines = lines.step_by(every).map(|(source, line)| {
        let mut fields = line.split('\t').skip(1).map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Line { source: numbers(source), target: numbers(&next()), scores: numbers(&next()) }
    });
    lines.collect()
}

/// Returns the largest difference of scores from those of the lines. If `greedy`, also checks that
/// greedy search chooses the translations of the lines.
fn largest_difference(layers: &Layers, lines: &[Line], greedy: bool) -> f64 {
    let mut largest = 0.0f64;
    for (line, scored) in lines.iter().zip(layers.force_decode(lines)) {
        assert_eq!(scored.len(), line.scores.len());
        for ((found, expected), &token) in scored.iter().zip(&line.scores).zip(&line.target) {
            largest = largest.max((found.score - expected).abs());
            assert!(!greedy || found.choice == token, "{} instead of {token}", found.choice);
        }
    }
    largest
}

#[test]
fn forced_scores_are_those_of_the_numpy_decoders() {
    let Some(folder) = oracle_folder() else { return };
    let variants = ORACLE_MODELS
        .map(|name| (name, "ref.greedy.tsv", Some(Dialect::Marian)))
        .into_iter()
        .chain(["tr-pre", "tr-ssru-pre"].map(|name| (name, "ref.raw-kv.greedy.tsv", None)));
    for (name, file, dialect) in variants {
        let bundle = open(&folder.join("models").join(format!("{name}.npz")), dialect);
        let lines = read_lines(&folder, name, file, 1);
        let layers = Layers::load(&bundle, &Speedups::NONE);
        let apart = largest_difference(&layers, &lines, true);
        let _ = writeln!(std::io::stderr(), "{name}, {file}: {apart:.2e}");
        assert!(apart < 1e-6, "{name}, {file}: {apart}, more than rounding to six decimals");
    }
}

#[test]
fn speedups_change_nothing_but_rounding() {
    let Some(folder) = oracle_folder() else { return };
    for name in ["rnn-gru", "rnn-deep-ln", "amun-ln", "nematus-ln"] {
        let bundle = open(&folder.join("models").join(format!("{name}.npz")), None);
        let lines = read_lines(&folder, name, "ref.greedy.tsv", 12);
        let layers = Layers::load(&bundle, &Speedups::default());
        assert!(largest_difference(&layers, &lines, true) < 1e-6, "{name}");
    }
}

#[test]
fn encoder_states_are_those_of_the_numpy_decoders() {
    let Some(folder) = oracle_folder() else { return };
    for name in ORACLE_MODELS {
        let bytes = std::fs::read(folder.join("out").join(name).join("enc0.npy")).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let floats = bytes[start..].as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b));
        let expected: Vec<f32> = floats.collect();
        let bundle =
            open(&folder.join("models").join(format!("{name}.npz")), Some(Dialect::Marian));
        let source = &read_lines(&folder, name, "ref.greedy.tsv", 60)[0].source;
        let states = Layers::load(&bundle, &Speedups::NONE).encoder_states(source);
        let found: Vec<f64> = states.iter().flatten().copied().collect();
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(expected) {
            let apart = (found - f64::from(expected)).abs();
            assert!(apart <= 1e-7 * found.abs().max(1.0), "{name}: {found}, not {expected}");
        }
    }
}

#[test]
fn stacked_models_follow_the_equations() {
    for name in ["none", "tanh", "gru"] {
        let bundle = open(&testdata(&format!("stacked-{name}.npz")), None);
        let text = std::fs::read_to_string(testdata(&format!("stacked-{name}.txt"))).unwrap();
        let parse = |line: &str| {
            let mut fields = line.split('\t').map(str::to_owned);
            let mut next = || fields.next().unwrap_or_default();
            let (source, mut target, scores) =
                (numbers(&next()), numbers::<u32>(&next()), numbers(&next()));
            target.push(0);
            Line { source, target, scores }
        };
        let lines: Vec<Line> = text.lines().map(parse).collect();
        for speedups in [Speedups::NONE, Speedups::default()] {
            let layers = Layers::load(&bundle, &speedups);
            let apart = largest_difference(&layers, &lines, false);
            assert!(apart < 1e-6, "{name} {speedups:?}: {apart}");
        }
    }
}

#[test]
fn the_engine_scores_like_the_reference() {
    for name in ["tiny.npz", "tiny-ct2", "tiny-hf", "stacked-gru.npz"] {
        let bundle = open(&testdata(name), None);
        let (model, path) = (&bundle.models[0], &bundle.path);
        let reference = Network::load_reference(model, path, &Speedups::NONE).unwrap();
        let engine = Network::load(model, path, Precision::F32).unwrap();
        let sources: [&[u32]; 3] = [&[5, 6, 7, 0], &[3, 0], &[9, 8, 9, 8, 4, 0]];
        let targets: [&[u32]; 3] = [&[4, 9, 0], &[6, 5, 4, 3, 0], &[0]];
        let [expected, found] = [reference, engine]
            .map(|network| network.scorer().unwrap().score(&sources, &targets).unwrap());
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-5, "{name}: {found}, not {expected}");
        }
    }
}
