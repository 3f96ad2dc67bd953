//! Devlin's models compute what NumPy computes by his equations
//! (`scripts/make_stacked_golden.py`), with and without speedups.

use std::path::{Path, PathBuf};

use miriam_nmt::architecture::{Architecture, TopLayerConfig};
use miriam_nmt::engine::Precision;
use miriam_nmt::layer::ActivationImpl;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::model_file;
use miriam_nmt::network::{HypothesisRow, Network};
use miriam_nmt::{ModelBundle, Report};
use miriam_textio::NoProgress;
use proptest::prelude::*;
use proptest::sample::Index;

struct GoldenLine {
    source: Vec<u32>,
    target: Vec<u32>,
    scores: Vec<f32>,
}

fn parse_numbers<T: std::str::FromStr>(field: &str) -> Vec<T> {
    field.split(' ').filter_map(|number| number.parse().ok()).collect()
}

fn read_golden(path: &Path) -> Vec<GoldenLine> {
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        GoldenLine {
            source: parse_numbers(fields[0]),
            target: parse_numbers(fields[1]),
            scores: parse_numbers(fields[2]),
        }
    };
    text.lines().map(line).collect()
}

/// Returns the scores of each line's target, computed for all lines together.
fn score_lines(network: &Network, lines: &[GoldenLine]) -> Vec<Vec<f32>> {
    let mut session = network.session().unwrap();
    let sources: Vec<&[u32]> = lines.iter().map(|line| &line.source[..]).collect();
    let slots = session.begin(&sources, None).unwrap();
    let mut scores = vec![Vec::new(); lines.len()];
    let mut before: Vec<usize> = Vec::new();
    let mut distribution = Vec::new();
    for step in 0.. {
        let alive: Vec<usize> =
            (0..lines.len()).filter(|&line| lines[line].target.len() >= step).collect();
        if alive.is_empty() {
            return scores;
        }
        let parent = |line| before.iter().position(|&other| other == line).map(|row| row as u32);
        let row = |&line: &usize| HypothesisRow {
            slot: slots[line],
            parent: parent(line),
            token: step.checked_sub(1).map(|last| lines[line].target[last]),
        };
        let rows: Vec<HypothesisRow> = alive.iter().map(row).collect();
        session.step(&rows).unwrap();
        for (row, &line) in alive.iter().enumerate() {
            session.log_probabilities(row as u32, &mut distribution).unwrap();
            let word = lines[line].target.get(step).copied().unwrap_or(0);
            scores[line].push(distribution[word as usize]);
        }
        before = alive;
    }
    unreachable!("lines end")
}

#[test]
fn scores_are_those_of_the_equations() {
    for (name, top, depth) in [
        ("none", TopLayerConfig::None, 0),
        ("tanh", TopLayerConfig::Tanh(8), 5),
        ("gru", TopLayerConfig::Gru(8), 2),
    ] {
        let path = data(&format!("stacked-{name}.npz"));
        let bundle = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
        let Architecture::Stacked(stacked) = bundle.models[0].architecture() else {
            panic!("{name}")
        };
        assert_eq!((stacked.top, stacked.fc_depth), (top, depth));
        let lines = read_golden(&data(&format!("stacked-{name}.txt")));
        for (precision, shortcuts, most) in [
            (Precision::F32, Speedups::NONE, 2e-6),
            (Precision::F32, Speedups::default(), 2e-6),
            (Precision::I16, Speedups::default(), 6e-3),
            (Precision::I8, Speedups::default(), 0.2),
            (
                Precision::F32,
                Speedups { activation_impl: ActivationImpl::Table, ..Speedups::default() },
                3e-2,
            ),
        ] {
            let network = Network::load_with(&bundle.models[0], &path, precision, &shortcuts);
            let network = network.unwrap_or_else(|e| panic!("{e}"));
            let together = score_lines(&network, &lines);
            for (line, found) in lines.iter().zip(&together) {
                assert_eq!(found.len(), line.scores.len());
                for (found, expected) in found.iter().zip(&line.scores) {
                    let apart = (found - expected).abs();
                    assert!(apart < most, "{name} {precision:?} {shortcuts:?}: {apart}");
                }
            }
            for (index, found) in together.iter().enumerate() {
                let alone = score_lines(&network, &lines[index..=index]);
                assert_eq!(&alone[0], found, "{name}: line {index} alone");
            }
        }
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

#[test]
fn model_files_hold_stacked_models() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = data("tiny.vocab.yml");
    for name in ["none", "tanh", "gru"] {
        let path = data(&format!("stacked-{name}.npz"));
        let bundle = ModelBundle::open(&path, Some([&vocabulary, &vocabulary])).unwrap();
        let output = folder.path().join("model.miriam");
        model_file::write(&bundle, None, &output, &NoProgress).unwrap();
        let again = ModelBundle::open(&output, None).unwrap();
        let (model, ours) = (&bundle.models[0], &again.models[0]);
        assert_eq!(model.architecture(), ours.architecture());
        assert!(
            model
                .parameters()
                .map(|(name, tensor)| (name, tensor.values()))
                .eq(ours.parameters().map(|(name, tensor)| (name, tensor.values())))
        );
    }
    let report =
        Report::new(&ModelBundle::open(&data("stacked-tanh.npz"), None).unwrap()).to_text();
    for line in ["stacked", "2 of 2 x 5", "5 of 9", "tanh, 8"] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

/// Changes the options of an archive and their checksum.
fn with_options(archive: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = archive.to_vec();
    let name = b"special:model.yml.npy";
    let names: Vec<usize> =
        (0..bytes.len() - name.len()).filter(|&at| bytes[at..].starts_with(name)).collect();
    let [local, central] = names[..] else { panic!("an entry and its line in the directory") };
    let number = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0usize, |sum, &byte| sum << 8 | usize::from(byte))
    };
    let (header, line) = (local - 30, central - 46);
    let start = local + name.len() + number(&bytes, header + 28, 2);
    let size = number(&bytes, line + 24, 4);
    change(&mut bytes[start..start + size]);
    let mut sum = flate2::Crc::new();
    sum.update(&bytes[start..start + size]);
    for at in [header + 14, line + 16] {
        bytes[at..at + 4].copy_from_slice(&sum.sum().to_le_bytes());
    }
    bytes
}

#[test]
fn invalid_options_are_named() {
    let bytes = std::fs::read(data("stacked-tanh.npz")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (from, to, complaint) in [
        ("top: tanh", "top: relu", "top relu is not supported"),
        ("dim-att: 4", "dim-att: 0", "width of attention"),
        ("dim-rnn: 7", "dim-rnn: 8", "decoder_"),
        ("fc-depth: 5", "fc-depth: 6", "decoder_fc6_W"),
    ] {
        let changed = with_options(&bytes, |options| {
            let found = |&at: &usize| options[at..].starts_with(from.as_bytes());
            let at = (0..options.len()).find(found).unwrap();
            options[at..at + to.len()].copy_from_slice(to.as_bytes());
        });
        let path = folder.path().join("model.npz");
        std::fs::write(&path, changed).unwrap();
        let Err(error) = ModelBundle::open(&path, None) else { panic!("{to}") };
        assert!(error.to_string().contains(complaint), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn damaged_models_load_or_give_an_error(
        options in proptest::collection::vec((any::<Index>(), "[0-9a-z: \\[\\]\n-]"), 0..4),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..30),
    ) {
        let bytes = std::fs::read(data("stacked-gru.npz")).unwrap();
        let mut bytes = with_options(&bytes, |text| {
            for (place, byte) in options {
                // After the header of the array.
                let place = 128 + place.index(text.len() - 128);
                text[place] = byte.as_bytes()[0];
            }
        });
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.npz");
        std::fs::write(&path, bytes).unwrap();
        if let Ok(bundle) = ModelBundle::open(&path, None) {
            let model = &bundle.models[0];
            let shortcuts = Speedups::default();
            for precision in [Precision::F32, Precision::I16, Precision::I8] {
                if let Ok(network) = Network::load_with(model, &path, precision, &shortcuts) {
                    let mut session = network.session().unwrap();
                    let slots = session.begin(&[&[2, 0]], None).unwrap();
                    let row = HypothesisRow { slot: slots[0], parent: None, token: None };
                    session.step(&[row]).unwrap();
                }
            }
        }
    }
}
