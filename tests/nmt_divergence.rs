//! `miriam nmt train` where numbers are not finite: a damaged state is not trained on, a training
//! run that diverges ends with an error at once, and good models stay.

use std::fs;
use std::path::Path;

use miriam_nmt::checkpoint::{Checkpoint, DType, NpzWriter};
use miriam_storage::LoadMethod;

use crate::common::{lossy_text, run, run_to_error};
use crate::nmt_train::Corpus;

/// Sets one number of an entry of f32 in a NumPy archive.
fn spoil(path: &Path, entry: &str, number: f32) {
    let checkpoint = Checkpoint::open(path, LoadMethod::Lazy).unwrap();
    let mut writer = NpzWriter::create(path).unwrap();
    for name in checkpoint.names() {
        let tensor = checkpoint.get(name).unwrap();
        match tensor.dtype() {
            DType::F32 => {
                let mut values = tensor.values();
                if name == entry {
                    values[0] = number;
                }
                writer.add_f32(name, tensor.shape(), &values).unwrap();
            }
            DType::F64 => {
                let (numbers, _) = tensor.bytes().as_chunks::<8>();
                let numbers: Vec<f64> =
                    numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
                writer.add_f64(name, tensor.shape(), &numbers).unwrap();
            }
            _ => writer.add_bytes(name, tensor.bytes()).unwrap(),
        }
    }
    writer.finish().unwrap();
}

#[test]
fn a_damaged_state_is_not_trained_on() {
    let corpus = Corpus::new(60);
    run(&mut corpus.train("model", "--after 4u"));
    let state = corpus.path("model/model.npz.optimizer.npz");
    let (sound, files) = (fs::read(&state).unwrap(), corpus.files("model"));
    for (entry, number) in [
        ("adam_mt", f32::NAN),
        ("adam_vt", f32::INFINITY),
        ("adam_vt", -1.0),
        ("exp_smoothing", f32::NEG_INFINITY),
        ("master_parameters", f32::NAN),
    ] {
        spoil(&state, entry, number);
        let error = run_to_error(&mut corpus.train("model", "--after 6u"));
        assert!(
            error.contains("model.npz.optimizer.npz: ") && error.contains("cannot be resumed"),
            "{entry}: {error}"
        );
        assert!(corpus.files("model")[0] == files[0], "the model stays");
    }
    // The undamaged file is restored. Options about bad gradients may change.
    fs::write(&state, &sound).unwrap();
    run(&mut corpus.train("model", "--after 6u --check-gradient-nan --throw-on-divergence"));
    run(&mut corpus.train("whole", "--after 6u"));
    assert!(corpus.files("model")[0] == corpus.files("whole")[0]);
}

#[test]
fn a_training_that_diverges_is_not_called_trained() {
    let corpus = Corpus::new(60);
    let validation = "--dev-source dev.en --dev-target dev.es --valid-metrics ce-mean-words bleu \
                      --keep-best --valid-freq 1u";
    for (name, options) in [
        ("plain", "--after 20u"),
        ("one", "--after 1u"),
        ("skipped", "--after 20u --check-gradient-nan"),
        ("validated", validation),
        ("asynchronous", "--after 20u --async-sgd --workers 2"),
    ] {
        let options = format!("--learn-rate 1e30 --lr-warmup 0 --lr-decay-inv-sqrt 0 {options}");
        let output = corpus.train(name, &options).output().unwrap();
        let log = lossy_text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {log}");
        assert!(log.contains("diverged") && log.contains("--learn-rate"), "{name}: {log}");
        assert_eq!(lossy_text(&output.stdout), "", "{name}");
        let models = corpus.names(name).into_iter().filter(|file| file.contains("model.npz"));
        assert_eq!(models.collect::<Vec<_>>(), [""; 0], "{name}: {log}");
    }
}

/// The first update has the rate 0, so the model that it saves is good.
#[test]
fn a_training_that_diverges_leaves_the_model_that_was_saved() {
    let corpus = Corpus::new(60);
    let options = "--learn-rate 1e30 --lr-warmup 30u --save-freq 1u";
    run(&mut corpus.train("model", &format!("{options} --after 1u")));
    let files = corpus.files("model");
    let error = run_to_error(&mut corpus.train("model", &format!("{options} --after 30u")));
    assert!(error.contains("after 2 updates the parameter"), "{error}");
    assert!(corpus.files("model") == files);
}
