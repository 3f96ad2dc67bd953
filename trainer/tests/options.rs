//! Tests of options that change updates or saved files, each with a tiny training.

use miriam_nmt::checkpoint::Checkpoint;
use miriam_storage::LoadMethod;
use miriam_trainer::train_from_text::Summary;
use miriam_trainer::training::Outcome;

use crate::workplace::{Run, Workplace, hash};

/// Returns the numbers after `key` in the log's lines about updates.
fn numbers(run: &Run, key: &str) -> Vec<f64> {
    let lines = run.log.iter().filter_map(|line| line.split_once(key));
    lines.map(|(_, after)| after.split(' ').next().unwrap().parse().unwrap()).collect()
}

/// Trains with the whole corpus (21 target tokens) in each update and logs every update.
fn train(place: &Workplace, name: &str, more: &[(&str, &[&str])]) -> Run {
    let mut options: Vec<(&str, &[&str])> =
        vec![("mini-batch", &["7"]), ("disp-freq", &["1"]), ("after-batches", &["12"])];
    options.extend_from_slice(more);
    place.run(name, &options, false).unwrap()
}

#[test]
fn norms_are_clipped_by_sum_or_by_word() {
    let place = Workplace::new();
    let sgd: [(&str, &[&str]); 2] = [("optimizer", &["sgd"]), ("learn-rate", &["0.1"])];
    let clipped = |name: &str, norm: &str, scope: &str| {
        let options = [sgd[0], sgd[1], ("clip-norm", &[norm][..]), ("clip-norm-per", &[scope])];
        numbers(&train(&place, name, &options), "Cost ")
    };
    let free = clipped("free", "0", "sum");
    let (sum, words) = (clipped("sum", "0.21", "sum"), clipped("words", "0.01", "words"));
    assert_eq!(sum.len(), 12);
    for (sum, words) in sum.iter().zip(&words) {
        assert!((sum / words - 1.0).abs() < 1e-6, "{sum} {words}");
    }
    assert!((free[1] / sum[1] - 1.0).abs() > 0.1, "{free:?} {sum:?}");
}

#[test]
fn norms_above_their_average_are_scaled_down_to_it() {
    let place = Workplace::new();
    let averages = |name: &str, window: &str, more: &[(&str, &[&str])]| {
        let window = [window];
        let mut options: Vec<(&str, &[&str])> =
            vec![("learn-rate", &["0.3"]), ("gradient-norm-average-window", &window)];
        options.extend_from_slice(more);
        numbers(&train(&place, name, &options), "gNorm ")
    };
    let rises = |norms: &[f64]| norms.windows(2).any(|pair| pair[1] > pair[0] + 1e-4);
    let free = averages("free", "1", &[]);
    assert!(rises(&free), "{free:?}");
    for (name, scaling) in [("plain", &["1e-9", "none"]), ("log", &["1e-9", "log"])] {
        let norms = averages(name, "1", &[("dynamic-gradient-scaling", scaling)]);
        // With a window of one, the average is the previous norm.
        assert!(!rises(&norms), "{name}: {norms:?}");
    }
    let lenient = averages("lenient", "3", &[("dynamic-gradient-scaling", &["1e9"])]);
    assert_eq!(lenient, averages("averaged", "3", &[]));
}

#[test]
fn parameters_become_their_average() {
    let place = Workplace::new();
    let smoothing: (&str, &[&str]) = ("exponential-smoothing", &["0.01"]);
    let vectors = |name: &str| {
        let path = place.path(&format!("{name}.npz.optimizer.npz"));
        let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
        ["exp_smoothing", "master_parameters"].map(|name| checkpoint.get(name).unwrap().values())
    };
    train(&place, "free", &[smoothing]);
    let [average, values] = vectors("free");
    assert_ne!(average, values);
    let replaced = [smoothing, ("exponential-smoothing-replace-freq", &["4u"][..])];
    train(&place, "whole", &replaced);
    let [average, values] = vectors("whole");
    assert_eq!(average, values);
    // The training is stopped after six updates, between two replacements, and resumed.
    for updates in ["6", "12"] {
        train(&place, "parts", &[replaced[0], replaced[1], ("after-batches", &[updates])]);
    }
    let file = |name: &str| hash(&place.path(&format!("{name}.npz.optimizer.npz")));
    assert_eq!(file("parts"), file("whole"));
}

#[test]
fn what_validation_has_seen_can_be_forgotten() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let sets = [&source[..], &target];
    // An unchanged model never improves.
    let train = |more: &[(&str, &[&str])]| {
        let mut options: Vec<(&str, &[&str])> = vec![
            ("learn-rate", &["0"]),
            ("valid-sets", &sets),
            ("valid-metrics", &["ce-sum"]),
            ("valid-freq", &["2u"]),
            ("early-stopping", &["1"]),
            ("after-batches", &["50"]),
        ];
        options.extend_from_slice(more);
        let run = place.run("model", &options, false).unwrap();
        let Summary::Trained { outcome, .. } = run.summary else { panic!("a training run") };
        let valid = run.log.iter().filter(|line| line.starts_with("[valid]"));
        (outcome, valid.cloned().collect::<Vec<String>>())
    };
    let (outcome, valid) = train(&[]);
    assert_eq!((outcome, valid.len()), (Outcome::EarlyStopped, 2));
    assert_eq!(train(&[]).0, Outcome::AlreadyFinished);
    let (outcome, valid) = train(&[("valid-reset-stalled", &[])]);
    assert_eq!((outcome, valid.len()), (Outcome::EarlyStopped, 1), "{valid:?}");
    let (outcome, valid) = train(&[("valid-reset-all", &[])]);
    assert_eq!((outcome, valid.len()), (Outcome::EarlyStopped, 2), "{valid:?}");
    assert!(valid[0].ends_with("new best"), "{valid:?}");
}

/// Matrices of a trained model stay within the limit; a limit that is never reached changes
/// nothing.
#[test]
fn weights_and_inputs_of_products_are_clipped() {
    let place = Workplace::new();
    let plain = place.train("plain", &[]).unwrap();
    assert_eq!(place.train("far", &[("clip-products", &["1e6"])]).unwrap(), plain);
    let limit = 0.1;
    assert_ne!(place.train("near", &[("clip-products", &["0.1"])]).unwrap(), plain);
    let path = place.path("near.npz");
    let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
    let mut at_limit = 0;
    for name in checkpoint.names().filter(|name| !name.starts_with("special:")) {
        let tensor = checkpoint.get(name).unwrap();
        let values = tensor.values();
        if tensor.shape()[0] > 1 {
            assert!(values.iter().all(|x| x.abs() <= limit), "{name}");
            at_limit += values.iter().filter(|x| x.abs() == limit).count();
        } else if name.ends_with("ln_scale") {
            assert!(values.iter().all(|x| x.abs() > 0.5), "{name} is not a weight of products");
        }
    }
    assert!(at_limit > 20, "{at_limit}");
    let error = place.train("async", &[("clip-products", &["1"]), ("async-sgd", &["true"])]);
    assert!(error.unwrap_err().contains("--clip-products"));
}
