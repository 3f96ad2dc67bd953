//! Model files with packed weights give the same bits as weights packed when a model is loaded. A
//! *complete* file, written without a precision, serves every precision. Damaged files give errors.

use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::engine::Precision;
use miriam_nmt::formats::miriam as miriam_file;
use miriam_nmt::model_file;
use miriam_nmt::network::{HypothesisRow, Network, TopK};
use miriam_storage::{Container, LoadMethod};
use miriam_textio::NoProgress;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

const MODELS: [&str; 6] =
    ["tiny.npz", "tiny-ct2-int8", "tiny-hf", "stacked-none.npz", "stacked-gru.npz", "tiny.miriam"];

/// Returns the five best logits of each of five greedy steps.
fn decode_logits(bundle: &ModelBundle, precision: Precision) -> Vec<f32> {
    let network = Network::load(&bundle.models[0], &bundle.path, precision);
    let network = network.unwrap_or_else(|e| panic!("{e}"));
    greedy_logits(&network).unwrap_or_else(|e| panic!("{e}"))
}

/// Works as [`decode_logits`] with a network whose weights may be damaged.
fn greedy_logits(network: &Network) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let mut session = network.session()?;
    let slot = session.begin(&[&[5, 6, 7, 0]], None)?[0];
    let mut best = [TopK::new(5, true)];
    let mut logits = Vec::new();
    let mut parent = None;
    let mut token = None;
    for _ in 0..5 {
        session.step(&[HypothesisRow { slot, parent, token }])?;
        session.topk(&mut best)?;
        logits.extend(best[0].candidates().iter().map(|candidate| candidate.logit));
        let first = best[0].candidates().first().ok_or("no logit is finite")?;
        parent = Some(0);
        token = Some(first.id);
    }
    Ok(logits)
}

#[test]
fn packed_files_give_the_bits_of_packing_at_load() {
    let folder = tempfile::tempdir().unwrap();
    for name in MODELS {
        let bundle = ModelBundle::open(&testdata(name), None).unwrap_or_else(|e| panic!("{e}"));
        for precision in Precision::FOR_ANY_MODEL {
            let path = folder.path().join("packed.miriam");
            model_file::write(&bundle, Some(precision), &path, &NoProgress).unwrap();
            let packed = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
            let model = &packed.models[0];
            assert_eq!(model.precision(), Some(precision));
            assert_eq!(
                decode_logits(&packed, precision),
                decode_logits(&bundle, precision),
                "{name}"
            );
            miriam_file::verify(&Container::open_any(&path, LoadMethod::Lazy).unwrap()).unwrap();
            let again = folder.path().join("again.miriam");
            model_file::write(&packed, None, &again, &NoProgress).unwrap();
            let again = ModelBundle::open(&again, None).unwrap();
            assert_eq!(
                decode_logits(&again, precision),
                decode_logits(&bundle, precision),
                "{name}, converted again"
            );
        }
    }
}

#[test]
fn packed_files_reject_other_precisions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packed.miriam");
    let bundle = ModelBundle::open(&testdata("tiny.npz"), None).unwrap_or_else(|e| panic!("{e}"));
    for precision in Precision::FOR_ANY_MODEL {
        model_file::write(&bundle, Some(precision), &path, &NoProgress).unwrap();
        let packed = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
        let mut others = Precision::FOR_ANY_MODEL.into_iter().filter(|other| *other != precision);
        let other = others.next().unwrap();
        let error = Network::load(&packed.models[0], &path, other).err().unwrap().to_string();
        assert!(error.contains(precision.name()), "{error}");
    }
}

/// Files written without a precision are packed in the precision of the stored weights. In every
/// precision they give the same bits as the model that they were written from.
#[test]
fn complete_files_serve_every_precision() {
    let folder = tempfile::tempdir().unwrap();
    for name in MODELS.into_iter().chain(["tiny-ct2-int16", "tiny-ct2-float16"]) {
        let bundle = ModelBundle::open(&testdata(name), None).unwrap_or_else(|e| panic!("{e}"));
        let path = folder.path().join("complete.miriam");
        model_file::write(&bundle, None, &path, &NoProgress).unwrap();
        let complete = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
        let model = &complete.models[0];
        assert_eq!(model.precision(), None, "{name}");
        assert_eq!(model.stored_precision(), bundle.models[0].stored_precision(), "{name}");
        for precision in Precision::FOR_ANY_MODEL {
            assert_eq!(
                decode_logits(&complete, precision),
                decode_logits(&bundle, precision),
                "{name}, {precision:?}"
            );
            // If they are written for one precision, both models give the same logits.
            let [from_complete, from_original] = [&complete, &bundle].map(|origin| {
                let path = folder.path().join("one-precision.miriam");
                model_file::write(origin, Some(precision), &path, &NoProgress).unwrap();
                decode_logits(&ModelBundle::open(&path, None).unwrap(), precision)
            });
            assert_eq!(from_complete, from_original, "{name}, {precision:?}");
        }
        let again = folder.path().join("again.miriam");
        model_file::write(&complete, None, &again, &NoProgress).unwrap();
        let again = ModelBundle::open(&again, None).unwrap();
        let values = |bundle: &ModelBundle| -> Vec<(String, Vec<f32>)> {
            let all = bundle.models[0].parameters();
            all.map(|(name, tensor)| (name.to_owned(), tensor.values())).collect()
        };
        assert_eq!(values(&again), values(&bundle), "{name}");
        miriam_file::verify(&Container::open_any(&path, LoadMethod::Lazy).unwrap()).unwrap();
    }
}

/// A table that is also the output layer is stored once.
#[test]
fn complete_files_hold_tied_tables_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("complete.miriam");
    let bundle = ModelBundle::open(&testdata("tiny.npz"), None).unwrap();
    model_file::write(&bundle, None, &path, &NoProgress).unwrap();
    let container = Container::open_any(&path, LoadMethod::Lazy).unwrap();
    let length = |name: &str| {
        let section = container.sections().iter().find(|section| section.name == name);
        section.unwrap_or_else(|| panic!("{name}")).length as usize
    };
    // Every matrix of this model takes part in a GEMM and is packed, so `tensors.data` holds only
    // vectors.
    let vectors = bundle.models[0].parameters().filter(|(_, tensor)| tensor.shape()[0] == 1);
    let vectors: usize = vectors.map(|(_, tensor)| (4 * tensor.numel()).next_multiple_of(64)).sum();
    assert!(length("tensors.data") <= vectors, "{} for {vectors}", length("tensors.data"));
    // Rows of the table are read from the packed output layer.
    let complete = ModelBundle::open(&path, None).unwrap();
    let [table, original] =
        [&complete, &bundle].map(|bundle| bundle.models[0].parameter("Wemb").unwrap());
    assert_eq!(table.values(), original.values());
    let width = table.shape()[1];
    let mut row = vec![0.0; width];
    for (token, expected) in original.values().chunks(width).enumerate() {
        table.read_row(token, &mut row);
        assert_eq!(row, expected);
    }
}

#[test]
fn a_complete_file_of_version_5_is_read() {
    let golden = ModelBundle::open(&testdata("complete.miriam"), None).unwrap();
    let origin = ModelBundle::open(&testdata("tiny-ct2-int8"), None).unwrap();
    for precision in Precision::FOR_ANY_MODEL {
        assert_eq!(decode_logits(&golden, precision), decode_logits(&origin, precision));
    }
    let container = Container::open_any(&testdata("complete.miriam"), LoadMethod::Lazy).unwrap();
    assert_eq!(container.kind_version(), 5);
}

/// One flipped bit, tried in every seventh byte in turn, gives an error or some numbers, but no
/// panic. A file that is cut short gives an error.
#[test]
fn corrupted_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packed.miriam");
    let bundle = ModelBundle::open(&testdata("tiny.npz"), None).unwrap();
    for stored_precision in Precision::FOR_ANY_MODEL.map(Some).into_iter().chain([None]) {
        let precision = stored_precision.unwrap_or(Precision::I8);
        model_file::write(&bundle, stored_precision, &path, &NoProgress).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut num_rejected = 0;
        for index in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << (index % 8);
            let bytes = miriam_storage::Bytes::copy_from(&damaged);
            let container = Container::from_bytes(bytes, Path::new("damaged"));
            let opened =
                container.map_err(Into::into).and_then(|c| miriam_file::from_container(&c));
            match opened {
                Err(_) => num_rejected += 1,
                Ok(bundle) => {
                    if let Ok(network) = Network::load(&bundle.models[0], &path, precision) {
                        let _ = greedy_logits(&network);
                    }
                }
            }
        }
        // Checksums find all damage in the header and in the section table.
        assert!(num_rejected > 50, "{num_rejected}");
        for length in (0..bytes.len()).step_by(501) {
            let bytes = miriam_storage::Bytes::copy_from(&bytes[..length]);
            assert!(Container::from_bytes(bytes, Path::new("cut")).is_err());
        }
    }
}
