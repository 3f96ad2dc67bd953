//! Recurrent models compute the reference outputs of Marian's models
//! (`../shared/data/nmt-oracle`; skipped without it).

use std::io::Write;
use std::path::Path;

use miriam_kernels::Cpu;
use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::Architecture;
use miriam_nmt::engine::{Engine, Precision, WeightLoader};
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::layer::{ActivationImpl, Backend, Epilogue};
use miriam_nmt::network::{EncoderDecoder, HypothesisRow, Recurrent, Slot, TeacherForced};

use crate::oracle_data::oracle_folder;

const MODELS: [&str; 8] =
    ["rnn-gru", "rnn-deep-ln", "rnn-lstm", "rnn-mlstm", "amun", "amun-ln", "nematus", "nematus-ln"];

/// The id of the unknown token, which references never generate.
const UNK_ID: usize = 1;

fn load(name: &str, precision: Precision, shortcuts: &Speedups) -> Recurrent<Engine> {
    let path = oracle_folder().unwrap().join("models").join(format!("{name}.npz"));
    let bundle = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
    let Architecture::Recurrent(architecture) = bundle.models[0].architecture() else {
        panic!("{name} is recurrent")
    };
    let mut loader = WeightLoader::new(&bundle.models[0], &path, precision);
    Recurrent::new(architecture, shortcuts, &mut loader).unwrap_or_else(|e| panic!("{e}"))
}

/// A line of reference output: the tokens of greedy search, their log-probabilities, and their
/// margins over the second best.
struct Reference {
    tokens: Vec<u32>,
    scores: Vec<f32>,
    margins: Vec<f32>,
}

fn parse_numbers<T: std::str::FromStr>(field: &str) -> Vec<T> {
    field.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn read_references(folder: &Path, name: &str) -> (Vec<Vec<u32>>, Vec<Reference>) {
    let ids = std::fs::read_to_string(folder.join("input.ids.txt")).unwrap();
    let greedy = folder.join("out").join(name).join("ref.greedy.tsv");
    let greedy = std::fs::read_to_string(greedy).unwrap();
    let expected = greedy.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or("");
        Reference {
            tokens: parse_numbers(field(1)),
            scores: parse_numbers(field(2)),
            margins: parse_numbers(field(3)),
        }
    });
    (ids.lines().map(parse_numbers).collect(), expected.collect())
}

/// The results for a sentence, step by step.
#[derive(Default)]
struct Decoded {
    /// The best token, and the log-probability of the reference's token.
    steps: Vec<(u32, f32)>,
    /// All outputs of the last step.
    last: Vec<f32>,
}

/// Decodes sentences together, each along its reference, for `steps` steps.
fn force_decode(
    model: &Recurrent<Engine>,
    sources: &[&[u32]],
    references: &[&Reference],
    steps: usize,
) -> Vec<Decoded> {
    let mut engine = Engine::new(Cpu::detect());
    let read = model.encode(&mut engine, sources).unwrap();
    let mut state = EncoderDecoder::<Engine>::start_state(model, &mut engine).unwrap();
    let mut decoded: Vec<Decoded> = sources.iter().map(|_| Decoded::default()).collect();
    let mut before: Vec<usize> = Vec::new();
    for step in 0..steps {
        let alive: Vec<usize> =
            (0..sources.len()).filter(|&s| references[s].tokens.len() > step).collect();
        let rows: Vec<HypothesisRow> = alive
            .iter()
            .map(|&sentence| HypothesisRow {
                slot: Slot(sentence as u32),
                parent: (step > 0)
                    .then(|| before.iter().position(|&other| other == sentence).unwrap() as u32),
                token: (step > 0).then(|| references[sentence].tokens[step - 1]),
            })
            .collect();
        if rows.is_empty() {
            break;
        }
        let sources: Vec<_> = alive.iter().map(|&sentence| &read[sentence]).collect();
        let mut alignment = Vec::new();
        let out =
            model.step(&mut engine, &mut state, &rows, &sources, Some(&mut alignment)).unwrap();
        for weights in &alignment {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let output = model.output_weights();
        let logits = engine.affine(&out, output, Epilogue::default()).unwrap();
        for (row, &sentence) in alive.iter().enumerate() {
            let logits = logits.view().row(row);
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = logits.iter().map(|&x| f64::from(x - largest).exp()).sum();
            let best = (0..logits.len()).filter(|&word| word != UNK_ID);
            let best = best.max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
            let score = logits[references[sentence].tokens[step] as usize];
            let score = f64::from(score - largest) - sum.ln();
            decoded[sentence].steps.push((best as u32, score as f32));
            decoded[sentence].last = logits.to_vec();
        }
        before = alive;
    }
    decoded
}

/// The differences of scores and tokens from the reference.
#[derive(Debug, Default)]
struct Difference {
    largest: f32,
    mean: f32,
    /// The number of tokens that differ from the reference, counted where its margin over the
    /// second best is larger than 1e-3.
    mismatches: usize,
}

fn compare(name: &str, precision: Precision, shortcuts: &Speedups) -> Difference {
    let folder = oracle_folder().unwrap();
    let model = load(name, precision, shortcuts);
    let (sources, expected) = read_references(&folder, name);
    let (mut difference, mut compared) = (Difference::default(), 0);
    for (sources, expected) in sources.chunks(16).zip(expected.chunks(16)) {
        let together: Vec<&Reference> = expected.iter().collect();
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        for (found, expected) in force_decode(&model, &sources, &together, 200).iter().zip(expected)
        {
            for (step, &(best, score)) in found.steps.iter().enumerate() {
                let apart = (score - expected.scores[step]).abs();
                difference.largest = difference.largest.max(apart);
                difference.mean += apart;
                let differs = best != expected.tokens[step] && expected.margins[step] > 1e-3;
                difference.mismatches += usize::from(differs);
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{name}: {compared} words compared");
    difference.mean /= compared as f32;
    difference
}

/// Returns the tolerance of scores. Marian's own f32 results differ from the reference about as
/// much.
fn tolerance(name: &str) -> f32 {
    if name == "rnn-mlstm" { 5e-3 } else { 5e-4 }
}

#[test]
fn encoders_give_the_states_of_the_reference() {
    let Some(folder) = oracle_folder() else { return };
    for name in MODELS {
        let model = load(name, Precision::F32, &Speedups::default());
        let (sources, _) = read_references(&folder, name);
        let bytes = std::fs::read(folder.join("out").join(name).join("enc0.npy")).unwrap();
        let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let expected: Vec<f32> = bytes[10 + header..]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        let mut engine = Engine::new(Cpu::detect());
        let found = model.encoder_states(&mut engine, &[&sources[0]]).unwrap();
        assert_eq!(found.rows() * found.width(), expected.len(), "{name}");
        for (row, expected) in expected.chunks_exact(found.width()).enumerate() {
            for (x, y) in found.view().row(row).iter().zip(expected) {
                assert!((x - y).abs() < tolerance(name) / 5.0, "{name}: {x} {y}");
            }
        }
    }
}

#[test]
fn scores_are_those_of_the_reference() {
    let Some(_) = oracle_folder() else { return };
    let table = Speedups { activation_impl: ActivationImpl::Table, ..Speedups::default() };
    for name in MODELS {
        for shortcuts in [Speedups::default(), Speedups::NONE] {
            let found = compare(name, Precision::F32, &shortcuts);
            assert!(found.largest < tolerance(name), "{name}: {found:?}");
            assert_eq!(found.mismatches, 0, "{name}");
        }
        let found = compare(name, Precision::F32, &table);
        let _ = writeln!(std::io::stderr(), "{name}, tables: {found:?}");
    }
}

/// Errors grow with depth and in the products of an mLSTM, as those of f32 do: they are a
/// hundred times as large in rnn-mlstm as in rnn-gru.
#[test]
fn i16_scores_stay_near_the_reference() {
    let Some(_) = oracle_folder() else { return };
    for name in MODELS {
        let (largest, words) = match name {
            "rnn-mlstm" => (0.6, 60),
            "rnn-deep-ln" => (3e-2, 2),
            _ => (6e-3, 1),
        };
        let found = compare(name, Precision::I16, &Speedups::default());
        let _ = writeln!(std::io::stderr(), "{name}: {found:?}");
        assert!(found.largest < largest && found.mismatches <= words, "{name}: {found:?}");
    }
}

/// Eight bits are too few for random recurrent weights to follow a reference token by token;
/// only the mean difference is small.
#[test]
fn i8_scores_are_near_the_reference_on_average() {
    let Some(_) = oracle_folder() else { return };
    for name in MODELS.into_iter().filter(|&name| name != "rnn-mlstm") {
        let most = if name == "rnn-deep-ln" { 0.15 } else { 7e-2 };
        let [found, mixed] = [Precision::I8, Precision::Mixed]
            .map(|precision| compare(name, precision, &Speedups::default()));
        let _ = writeln!(std::io::stderr(), "{name}: {found:?}, {mixed:?}");
        assert!(found.mean < most, "{name}: {found:?}");
        assert!(mixed.mean < found.mean, "{name}: {mixed:?}");
    }
}

#[test]
fn sentences_do_not_depend_on_their_batch() {
    let Some(folder) = oracle_folder() else { return };
    for name in MODELS {
        for precision in [Precision::F32, Precision::I16, Precision::I8] {
            let model = load(name, precision, &Speedups::default());
            let (sources, expected) = read_references(&folder, name);
            let some = [0, 3, 19, 7, 40, 5];
            let together: Vec<&[u32]> = some.iter().map(|&line| &sources[line][..]).collect();
            let lines: Vec<&Reference> = some.iter().map(|&line| &expected[line]).collect();
            let together = force_decode(&model, &together, &lines, 12);
            for (line, together) in some.into_iter().zip(together) {
                let alone = force_decode(&model, &[&sources[line]], &[&expected[line]], 12);
                assert_eq!(alone[0].last, together.last, "{name} {precision:?}: line {line}");
                assert_eq!(alone[0].steps, together.steps);
            }
        }
    }
}

/// Cached embeddings and merged parents change no bit.
#[test]
fn exact_shortcuts_are_exact() {
    let Some(folder) = oracle_folder() else { return };
    for name in MODELS {
        for precision in [Precision::F32, Precision::I16, Precision::I8] {
            let long = Speedups { cached_tokens: 0, merge_parents: false, ..Speedups::default() };
            let short = Speedups { cached_tokens: 300, ..Speedups::default() };
            let [long, short] = [long, short].map(|shortcuts| load(name, precision, &shortcuts));
            let (sources, _) = read_references(&folder, name);
            let found =
                [&long, &long, &short, &short].map(|model| beam_of_three(model, &sources[0]));
            assert!(found.iter().all(|other| *other == found[0]), "{name} {precision:?}");
        }
    }
}

/// Returns the outputs of three hypotheses that share parents.
fn beam_of_three(model: &Recurrent<Engine>, source: &[u32]) -> Vec<f32> {
    let mut engine = Engine::new(Cpu::detect());
    let read = model.encode(&mut engine, &[source]).unwrap();
    let mut state = EncoderDecoder::<Engine>::start_state(model, &mut engine).unwrap();
    let mut all = Vec::new();
    let steps: [&[(Option<u32>, Option<u32>)]; 4] = [
        &[(None, None)],
        &[(Some(0), Some(700)), (Some(0), Some(17)), (Some(0), Some(5))],
        &[(Some(2), Some(18)), (Some(0), Some(299)), (Some(2), Some(300))],
        &[(Some(1), Some(2)), (Some(2), Some(900)), (Some(0), Some(901))],
    ];
    for rows in steps {
        let row = |&(parent, word)| HypothesisRow { slot: Slot(0), parent, token: word };
        let rows: Vec<HypothesisRow> = rows.iter().map(row).collect();
        let sources = vec![&read[0]; rows.len()];
        let out = model.step(&mut engine, &mut state, &rows, &sources, None).unwrap();
        all.extend((0..rows.len()).flat_map(|row| out.view().row(row)).copied());
    }
    all
}
