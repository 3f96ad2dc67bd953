//! Tests of resuming a training run of Marian.
//!
//! `golden/marian` has a corpus of 40 lines, its vocabularies, and the files of Marian 1.12.42
//! after seven updates of eight sentences; the states of random generators are cut off from
//! `model.npz.progress.yml`. `model.npz.yml` has the options. Marian's next updates are in
//! `MARIANS`, and Marian's model after 14 updates is in `after-14.npz`.

use std::path::{Path, PathBuf};

use miriam_nmt::ModelBundle;
use miriam_nmt::checkpoint::{Checkpoint, NpzWriter};
use miriam_nmt::formats::marian::write_marian_model;
use miriam_storage::LoadMethod;
use miriam_textio::{CancellationToken, NoProgress};
use miriam_trainer::ParameterLayout;
use miriam_trainer::options::RawOptions;
use miriam_trainer::train_from_text::TrainingRequest;

/// Update, cost per word, gNorm and rate of the next update, from the log of one run of Marian.
const MARIANS: [(u64, f64, f64, &str); 7] = [
    (8, 3.01107073, 3.1521, "8.0000e-03"),
    (9, 2.84749913, 2.8304, "9.0000e-03"),
    (10, 3.08146119, 2.6149, "1.0000e-02"),
    (11, 2.70937872, 2.4437, "9.5346e-03"),
    (12, 2.77850103, 2.2633, "9.1287e-03"),
    (13, 2.65010691, 2.2221, "8.7706e-03"),
    (14, 2.49425983, 2.0683, "8.4515e-03"),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/marian").join(name)
}

/// A copy of Marian's folder.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for entry in std::fs::read_dir(golden(".")).unwrap() {
            let from = entry.unwrap().path();
            std::fs::copy(&from, folder.path(from.file_name().unwrap().to_str().unwrap())).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Resumes until update `updates`. The options `more` override the options in Marian's file.
    fn train(&self, updates: &str, more: &[(&str, &[&str])]) -> Result<Vec<String>, String> {
        let yaml = std::fs::read(self.path("model.npz.yml")).unwrap();
        let marians = RawOptions::from_yaml(&yaml, "model.npz.yml").unwrap();
        let mut options = RawOptions::default();
        let text = |name: &str| self.path(name).display().to_string();
        let mut set = |name: &str, values: &[String]| {
            options.set(name, values.to_vec()).map_err(|e| e.to_string())
        };
        set("model", &[text("model.npz")])?;
        set("train-sets", &["source", "target"].map(text))?;
        set("vocabs", &["source.yml", "target.yml"].map(text))?;
        set("valid-sets", &["source", "target"].map(text))?;
        set("after-batches", &[updates.to_owned()])?;
        for (name, values) in more {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            set(name, &values)?;
        }
        let options = options.or_else_from(marians);
        let request =
            TrainingRequest { options, folder: None, vocab_size: None, plot: None, dry_run: false };
        let mut log = Vec::new();
        let stop = CancellationToken::new();
        let result =
            request.run(&stop, &NoProgress, &mut |line| log.push(line.to_owned()), &mut |_| {});
        result.map(|_| log).map_err(|e| e.to_string())
    }
}

/// Returns the word after `key` in a line of the log.
fn after<'a>(line: &'a str, key: &str) -> &'a str {
    line.split_once(key).expect("it is in the line").1.split(' ').next().unwrap()
}

fn parameters(path: &Path) -> Vec<(String, Vec<f32>)> {
    let bundle = ModelBundle::open(path, None).unwrap();
    let model = &bundle.models[0];
    let parameters = model.architecture().parameters().into_iter();
    let values = |name: &str| model.parameter(name).unwrap().values();
    parameters.map(|spec| (spec.name.clone(), values(&spec.name))).collect()
}

#[test]
fn a_training_of_marian_is_resumed_as_in_marian() {
    let folder = Folder::new();
    let log = folder.train("14", &[]).unwrap();
    assert!(log.iter().any(|line| line.contains("after 7 updates of Marian")), "{log:?}");
    assert!(log.iter().any(|line| line.contains("Skipped 16 sentences of epoch 2")), "{log:?}");
    let updates: Vec<&String> = log.iter().filter(|line| line.starts_with("Ep.")).collect();
    assert_eq!(updates.len(), MARIANS.len(), "{log:?}");
    for (line, (update, cost, norm, rate)) in updates.into_iter().zip(MARIANS) {
        assert_eq!(after(line, "Up. "), update.to_string());
        let close = |key: &str, value: f64| {
            let found: f64 = after(line, key).parse().unwrap();
            (found / value - 1.0).abs() < 1e-4
        };
        assert!(close("Cost ", cost) && close("gNorm ", norm), "{line}");
        assert_eq!(after(line, "L.r. "), rate, "{line}");
    }
    // Validation is resumed as well: the best cross-entropy was 16.3.
    let valid = log.iter().find(|line| line.contains("Up. 9 : cross-entropy")).unwrap();
    assert!(valid.ends_with("new best"), "{valid}");
    let bleu = log.iter().find(|line| line.contains("Up. 9 : bleu")).unwrap();
    assert!(bleu.contains("new best") || bleu.contains("stalled 3 times"), "{bleu}");
    // The moving average equals Marian's, except for the biases of keys, whose gradient is only a
    // rounding error.
    let (ours, marians) =
        (parameters(&folder.path("model.npz")), parameters(&golden("after-14.npz")));
    for ((name, ours), (_, marians)) in ours.iter().zip(&marians) {
        let square = |values: &mut dyn Iterator<Item = f32>| -> f64 {
            values.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt()
        };
        let difference = square(&mut ours.iter().zip(marians).map(|(a, b)| a - b));
        let size = square(&mut marians.iter().copied());
        assert!(
            name.ends_with("_bk") || difference < 1e-3 * size.max(0.01),
            "{name}: {difference}"
        );
    }
    // From now on it is a training run of this program.
    let log = folder.train("15", &[]).unwrap();
    assert!(log.iter().any(|line| line.contains("Resuming after 14 updates")), "{log:?}");
    let error = folder.train("16", &[("learn-rate", &["1"])]).unwrap_err();
    assert!(error.contains("--learn-rate was 0.01"), "{error}");
}

/// Marian counts short batches as full ones when it resumes a training run of this program.
#[test]
fn an_epoch_ends_if_more_sentences_were_read_than_the_corpus_has() {
    for (sentences, is_near) in [("47", true), ("48", false)] {
        let folder = Folder::new();
        let path = folder.path("model.npz.progress.yml");
        let progress = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, progress.replace("samples: 16", &format!("samples: {sentences}")))
            .unwrap();
        match folder.train("8", &[]) {
            Ok(log) => {
                assert!(is_near && log.iter().any(|line| line.starts_with("Ep. 3 :")), "{log:?}");
                let reason = "47 sentences of the epoch were read, more than the 40 of the corpus";
                assert!(log.iter().any(|line| line.contains(reason)), "{log:?}");
            }
            Err(error) => {
                let expected = "48 sentences of the epoch were read, but the corpus has only 40";
                assert!(!is_near && error.contains(expected), "{error}");
            }
        }
    }
}

/// Old versions of Marian did not write parameters and bias corrections, and wrote the average as
/// the model.
#[test]
fn files_of_old_versions_are_enough() {
    let folder = Folder::new();
    let path = folder.path("model.npz.optimizer.npz");
    let bundle = ModelBundle::open(&folder.path("model.npz"), None).unwrap();
    let architecture = bundle.models[0].architecture().clone();
    let layout = ParameterLayout::new(&architecture);
    {
        let new = Checkpoint::open(&golden("model.npz.optimizer.npz"), LoadMethod::Lazy).unwrap();
        let values = new.get("master_parameters").unwrap().values();
        let unsmoothed = folder.path("model.npz.orig.npz");
        write_marian_model(&unsmoothed, &architecture, |spec| {
            values[layout.get(&spec.name).unwrap().range()].to_vec()
        })
        .unwrap();
        let mut old = NpzWriter::create(&path).unwrap();
        for name in ["adam_mt", "adam_vt"] {
            old.add_f32(name, &[1, layout.len()], &new.get(name).unwrap().values()).unwrap();
        }
        old.finish().unwrap();
    }
    let log = folder.train("9", &[]).unwrap();
    let lines = log.iter().filter(|line| line.starts_with("Ep."));
    for (line, (_, cost, ..)) in lines.zip(MARIANS) {
        let found: f64 = after(line, "Cost ").parse().unwrap();
        assert!((found / cost - 1.0).abs() < 1e-4, "{line}");
    }
}

#[test]
fn an_epoch_that_marian_has_read_to_its_end_is_over() {
    let folder = Folder::new();
    let progress = folder.path("model.npz.progress.yml");
    let text = std::fs::read_to_string(&progress).unwrap();
    std::fs::write(&progress, text.replace("samples: 16", "samples: 40")).unwrap();
    let log = folder.train("8", &[]).unwrap();
    let line = log.iter().find(|line| line.starts_with("Ep.")).unwrap();
    assert!(line.starts_with("Ep. 3 : Up. 8 : Sen. 8 :"), "{line}");
}

#[test]
fn an_average_is_ignored_without_exponential_smoothing() {
    let folder = Folder::new();
    let log = folder.train("8", &[("exponential-smoothing", &["0"])]).unwrap();
    assert!(log.iter().any(|line| line.contains("Marian's average")), "{log:?}");
}

#[test]
fn a_model_without_its_optimizer_gives_initial_parameters() {
    let folder = Folder::new();
    std::fs::remove_file(folder.path("model.npz.optimizer.npz")).unwrap();
    let log = folder.train("8", &[]).unwrap();
    let remark = log.iter().find(|line| line.contains("There is no")).unwrap();
    assert!(remark.contains("optimizer.npz") && remark.contains("after 7 updates"), "{remark}");
    // The model has the average, which is near the parameters, so the first cost is near Marian's.
    let line = log.iter().find(|line| line.starts_with("Ep. 2 : Up. 8 :")).unwrap();
    let cost: f64 = after(line, "Cost ").parse().unwrap();
    assert!((2.5..3.5).contains(&cost), "{line}");
}

#[test]
fn files_of_marian_that_do_not_fit_are_named() {
    let train = |folder: &Folder, more: &[(&str, &[&str])]| folder.train("8", more).unwrap_err();
    let folder = Folder::new();
    let error = train(&folder, &[("dim-emb", &["16"])]);
    assert!(error.contains("optimizer.npz: adam_mt has") && error.contains("options"), "{error}");
    let error = train(&folder, &[("optimizer", &["adagrad"])]);
    assert!(error.contains("adagrad_gt is missing"), "{error}");
    std::fs::copy(golden("after-14.npz"), folder.path("model.npz")).unwrap();
    let error = train(&folder, &[]);
    assert!(error.contains("different updates"), "{error}");
    let folder = Folder::new();
    let head = |name: &str| {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        let lines: Vec<&str> = text.lines().take(7).collect();
        std::fs::write(folder.path(name), lines.join("\n") + "\n").unwrap();
    };
    head("source");
    head("target");
    let error = train(&folder, &[]);
    assert!(error.contains("progress.yml: 16 sentences") && error.contains("only 7"), "{error}");
    folder.train("8", &[("no-restore-corpus", &["true"])]).unwrap();
    let folder = Folder::new();
    std::fs::remove_file(folder.path("model.npz.progress.yml")).unwrap();
    let error = train(&folder, &[]);
    assert!(error.contains("progress.yml is missing"), "{error}");
}

/// Marian's parameters after seven updates with `--sync-sgd --quantize-bits 8`, and after seven
/// with 4 bits, `--quantize-log-based` and `--quantize-biases`; both start from the parameters of
/// `model.npz` alone. (With `--quantize-optimization-steps`, Marian 1.12.42 on CPUs makes all
/// numbers of a tensor nearly 0, so it cannot be compared.)
#[test]
fn parameters_are_quantised_as_in_marian() {
    let log_based: &[(&str, &[&str])] = &[
        ("quantize-bits", &["4"]),
        ("quantize-log-based", &["true"]),
        ("quantize-biases", &["true"]),
    ];
    let linear: &[(&str, &[&str])] = &[("quantize-bits", &["8"])];
    // Marian's costs of the first two updates, and its cross-entropy after the third. The first
    // update is computed with quantised parameters, and the moving average starts with them.
    let linear_log = [3.03639412, 3.17524862, 16.0937];
    let log_based_log = [3.46556568, 3.70782018, 18.0613];
    for (golden_name, options, levels, marians_log) in [
        ("quantized-8.npz", linear, 255, linear_log),
        ("quantized-log-4.npz", log_based, 15, log_based_log),
    ] {
        let start = || {
            let folder = Folder::new();
            for name in ["model.npz.optimizer.npz", "model.npz.progress.yml"] {
                std::fs::remove_file(folder.path(name)).unwrap();
            }
            folder
        };
        let folder = start();
        let log = folder.train("7", options).unwrap();
        let checks = [
            ("Up. 1 : Sen.", "Cost ", 1e-4),
            ("Up. 2 : Sen.", "Cost ", 1e-4),
            ("Up. 3 : cross-entropy", "cross-entropy : ", 2e-3),
        ];
        for ((place, key, tolerance), marians) in checks.into_iter().zip(marians_log) {
            let line = log.iter().find(|line| line.contains(place)).unwrap();
            let found: f64 = after(line, key).parse().unwrap();
            assert!((found / marians - 1.0).abs() < tolerance, "{golden_name}: {line}");
        }
        let bundle = ModelBundle::open(&folder.path("model.npz"), None).unwrap();
        let layout = ParameterLayout::new(bundle.models[0].architecture());
        let read = |path: &Path| {
            let checkpoint = Checkpoint::open(path, LoadMethod::Lazy).unwrap();
            checkpoint.get("master_parameters").unwrap().values()
        };
        let ours = read(&folder.path("model.npz.optimizer.npz"));
        let marians = read(&golden(golden_name));
        let (mut moved, mut all) = (0, 0);
        for parameter in layout.iter().filter(|parameter| parameter.shape[0] > 1) {
            let (ours, marians) = (&ours[parameter.range()], &marians[parameter.range()]);
            let mut distinct: Vec<u32> = ours.iter().map(|x| x.to_bits()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert!(distinct.len() <= levels, "{}: {} values", parameter.name, distinct.len());
            // Rounding of sums may move a number between two levels to the other one.
            let [own_scale, scale] =
                [ours, marians].map(|values| values.iter().fold(0f32, |most, x| most.max(x.abs())));
            assert!((own_scale / scale - 1.0).abs() < 0.02, "{}: the scale", parameter.name);
            let level = |x: f32, scale: f32| match levels {
                255 => (x / scale * 127.0).round(),
                _ => (x / scale).abs().log2().round(),
            };
            for (&a, &b) in ours.iter().zip(marians) {
                let (own_level, level) = (level(a, own_scale), level(b, scale));
                // The lowest power is near 0, where signs may differ.
                let has_sign = levels == 255 || level == -7.0 || a * b > 0.0;
                let is_near = (own_level - level).abs() <= 1.0 && has_sign;
                assert!(is_near, "{golden_name}, {}: {a}, Marian has {b}", parameter.name);
                moved += usize::from(own_level != level);
                all += 1;
            }
        }
        assert!(moved * 33 <= all, "{golden_name}: {moved} of {all} are at another level");
        // Rounding errors are saved: a resumed training run uses them.
        let stopped = start();
        stopped.train("3", options).unwrap();
        stopped.train("7", options).unwrap();
        let bytes = |folder: &Folder| {
            ["model.npz", "model.npz.optimizer.npz"]
                .map(|name| std::fs::read(folder.path(name)).unwrap())
        };
        assert!(bytes(&folder) == bytes(&stopped), "{golden_name}: resumed");
    }
    let error = Folder::new().train("8", &[("quantize-bits", &["1"])]).unwrap_err();
    assert!(error.contains("found 1"), "{error}");
}

/// The steps after the last layer add the embeddings as they are before the norm after embeddings.
/// Marian's first cost with the parameters of `model.npz` and initial values for the norms.
#[test]
fn the_skip_around_a_stack_begins_before_the_norm_of_embeddings() {
    let folder = Folder::new();
    let [start, model] = ["model.npz", "other.npz"].map(|name| folder.path(name));
    let log = folder
        .train(
            "1",
            &[
                ("model", &[model.to_str().unwrap()]),
                ("pretrained-model", &[start.to_str().unwrap()]),
                ("transformer-postprocess-emb", &["n"]),
                ("transformer-postprocess-top", &["a"]),
            ],
        )
        .unwrap();
    let line = log.iter().find(|line| line.starts_with("Ep.")).unwrap();
    for (key, marians) in [("Cost ", 4.11166525), ("gNorm ", 5.3679)] {
        let found: f64 = after(line, key).parse().unwrap();
        assert!((found / marians - 1.0).abs() < 1e-4, "{line}");
    }
}
