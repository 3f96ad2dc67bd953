//! Model files with packed weights: the same bits as packing at load, for all formats; damage
//! gives an error.

use std::path::{Path, PathBuf};

use miriam_nmt::engine::Precision;
use miriam_nmt::network::{HypothesisRow, Network, TopK};
use miriam_nmt::{ModelBundle, model_file};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::NoProgress;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

const MODELS: [&str; 6] =
    ["tiny.npz", "tiny-ct2-int8", "tiny-hf", "stacked-none.npz", "stacked-gru.npz", "tiny.miriam"];

/// Logits of some steps.
fn decode_logits(package: &ModelBundle, precision: Precision) -> Vec<f32> {
    let network = Network::load(&package.models[0], &package.path, precision);
    let mut session = network.unwrap_or_else(|e| panic!("{e}")).session().unwrap();
    let slot = session.begin(&[&[5, 6, 7, 0]], None).unwrap()[0];
    let mut best = [TopK::new(5, true)];
    let mut seen = Vec::new();
    let (mut parent, mut word) = (None, None);
    for _ in 0..5 {
        session.step(&[HypothesisRow { slot, parent, token: word }]).unwrap();
        session.topk(&mut best).unwrap();
        seen.extend(best[0].candidates().iter().map(|candidate| candidate.logit));
        (parent, word) = (Some(0), Some(best[0].candidates()[0].id));
    }
    seen
}

#[test]
fn packed_files_give_the_bits_of_packing_at_load() {
    let folder = tempfile::tempdir().unwrap();
    for name in MODELS {
        let package = ModelBundle::open(&testdata(name), None).unwrap_or_else(|e| panic!("{e}"));
        for precision in Precision::ALL {
            let path = folder.path().join("packed.miriam");
            model_file::write(&package, Some(precision), &path, &NoProgress).unwrap();
            let packed = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
            let model = &packed.models[0];
            assert_eq!(model.precision(), Some(precision));
            assert_eq!(
                decode_logits(&packed, precision),
                decode_logits(&package, precision),
                "{name}"
            );
            model_file::verify(&Container::open_any(&path, LoadMethod::Lazy).unwrap()).unwrap();
            // Another precision is refused with a message.
            let other = Precision::ALL.into_iter().find(|other| *other != precision).unwrap();
            let refused = Network::load(model, &path, other).err().unwrap().to_string();
            assert!(refused.contains(precision.name()), "{refused}");
            // Converting it again changes nothing.
            let again = folder.path().join("again.miriam");
            model_file::write(&packed, None, &again, &NoProgress).unwrap();
            let again = ModelBundle::open(&again, None).unwrap();
            assert_eq!(
                decode_logits(&again, precision),
                decode_logits(&package, precision),
                "{name}"
            );
        }
    }
}

/// Whichever bit is flipped, opening and translating give an error or numbers.
#[test]
fn corrupted_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packed.miriam");
    let package = ModelBundle::open(&testdata("tiny.npz"), None).unwrap();
    for precision in Precision::ALL {
        model_file::write(&package, Some(precision), &path, &NoProgress).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut refused = 0;
        for place in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            let bytes = miriam_storage::Bytes::copy_from(&damaged);
            let container = Container::from_bytes(bytes, Path::new("damaged"));
            let opened = container.map_err(Into::into).and_then(|c| model_file::from_container(&c));
            match opened {
                Err(_) => refused += 1,
                Ok(package) => {
                    let _ = Network::load(&package.models[0], &path, precision);
                }
            }
        }
        assert!(refused > 50, "{refused}");
        for length in (0..bytes.len()).step_by(501) {
            let bytes = miriam_storage::Bytes::copy_from(&bytes[..length]);
            assert!(Container::from_bytes(bytes, Path::new("cut")).is_err());
        }
    }
}
