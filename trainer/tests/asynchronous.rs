//! Tests of asynchronous training over threads and on simulated machines, on a tiny corpus
//! (`docs/spec/training.md` A.4 to A.9).

use miriam_nmt::checkpoint::Checkpoint;
use miriam_storage::LoadMethod;
use miriam_trainer::training::Outcome;

use crate::workplace::{Workplace, hash, run_until};

type Options<'a> = Vec<(&'a str, &'a [&'a str])>;

/// Returns options with several micro-batches per batch and everything that a step may do.
fn rich<'a>() -> Options<'a> {
    vec![
        ("granule-words", &["3"]),
        ("exponential-smoothing", &["0.01"]),
        ("mini-batch-words-ref", &["5"]),
        ("after-batches", &["12"]),
        ("lr-warmup", &["4"]),
        ("transformer-dropout", &["0.1"]),
    ]
}

/// Returns options with every technique for which a worker has state.
fn techniques<'a>() -> Options<'a> {
    vec![
        ("optimizer-delay", &["2"]),
        ("gradient-buffer", &["2"]),
        ("local-optimizer-batches", &["9"]),
        ("local-optimizer-params", &["0.8", "0.9"]),
        ("batch-flexible-lr", &["true"]),
        ("batch-normal-words", &["0"]),
        ("momentum-schedule", &["0.8,0.9@0", "0.85,0.95@6"]),
        ("grad-dropping-rate", &["0.9"]),
        ("grad-dropping-warmup", &["2"]),
        ("grad-dropping-momentum", &["0.5"]),
        ("exponential-smoothing", &["0.01"]),
        ("after-batches", &["16"]),
    ]
}

fn with<'a>(mut options: Options<'a>, more: &[(&'a str, &'a [&'a str])]) -> Options<'a> {
    for (name, values) in more {
        options.retain(|(known, _)| known != name);
        options.push((name, values));
    }
    options
}

/// Returns the vectors of the optimiser's file.
fn vectors(place: &Workplace, name: &str) -> Vec<Vec<f32>> {
    let path = place.path(&format!("{name}.npz.optimizer.npz"));
    let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
    let names = ["master_parameters", "adam_mt", "adam_vt", "exp_smoothing"];
    names.map(|name| checkpoint.get(name).map_or(Vec::new(), |t| t.values())).to_vec()
}

fn machine(place: &Workplace, name: &str, workers: usize, more: &str) -> String {
    let text = format!("workers = {workers}\nseconds_per_word = 0.001\n{more}");
    place.write(name, &text)
}

const TRANSFERS: &str = "latency = 1e-4\nbandwidth = 1e6\nnoise = 0.2\nseed = 3\n";

#[test]
fn one_worker_makes_synchronous_updates() {
    let place = Workplace::new();
    let alone = machine(&place, "alone.toml", 1, TRANSFERS);
    let alone = [&alone[..]];
    let optimizers: [&[&str]; 3] = [&["adam"], &["adagrad"], &["sgd"]];
    for optimizer in optimizers {
        let mut options = with(rich(), &[("optimizer", optimizer)]);
        if optimizer == ["adam"] {
            options = with(options, &[("momentum-schedule", &["0.8,0.9@0", "0.85,0.95@6"])]);
        }
        let (expected, cost) = place.train(&format!("sync-{}", optimizer[0]), &options).unwrap();
        for (kind, values) in [("async-sgd", &["true"][..]), ("simulate-async", &alone)] {
            let name = format!("{kind}-{}", optimizer[0]);
            let found = place.train(&name, &with(options.clone(), &[(kind, values)])).unwrap();
            assert_eq!(found, (expected, cost.clone()), "{name}");
            let expected_vectors = vectors(&place, &format!("sync-{}", optimizer[0]));
            assert_eq!(vectors(&place, &name), expected_vectors, "{name}");
        }
    }
    // Rates that depend on the words of a batch, or on the mean of words, are equal as well.
    for words in ["9", "0"] {
        let words = [words];
        let more: [(&str, &[&str]); 3] = [
            ("batch-flexible-lr", &["true"]),
            ("batch-normal-words", &words),
            ("mini-batch-words-ref", &["0"]),
        ];
        let options = with(rich(), &more);
        let expected = place.train(&format!("sync-by-{}", words[0]), &options).unwrap();
        let options = with(options, &[("async-sgd", &["true"])]);
        assert_eq!(place.train(&format!("async-by-{}", words[0]), &options).unwrap(), expected);
    }
    // Two batches per push equal an update of two batches if rates are not scaled.
    let two = with(
        rich(),
        &[("optimizer-delay", &["2"]), ("granule-words", &["512"]), ("mini-batch", &["2"])],
    );
    let expected = place.train("sync-2", &two).unwrap();
    let plain: Options<'_> = vec![("async-sgd", &["true"]), ("scale-rate-by-delay", &["false"])];
    // Epochs have four batches; a synchronous update ends with its epoch.
    assert_eq!(place.train("async-2", &with(two, &plain)).unwrap(), expected);
}

#[test]
fn settings_that_do_nothing_change_nothing() {
    let place = Workplace::new();
    let four = machine(&place, "four.toml", 4, TRANSFERS);
    let four = [&four[..]];
    let plain = with(rich(), &[("simulate-async", &four)]);
    let (expected, _) = place.train("plain", &plain).unwrap();
    let neutral: [(&str, &[&str]); 3] = [
        ("grad-dropping-rate", &["0"]),
        ("local-optimizer-batches", &["0"]),
        ("gradient-buffer", &["1"]),
    ];
    assert_eq!(place.train("neutral", &with(plain.clone(), &neutral)).unwrap().0, expected);
    // Gradient dropping whose warm-up never ends, with every kind of fetch.
    for fetch in ["indices", "delta", "dense"] {
        let fetch = [fetch];
        let dense: [(&str, &[&str]); 3] = [
            ("grad-dropping-rate", &["0.99"]),
            ("grad-dropping-warmup", &["1000"]),
            ("grad-dropping-fetch", &fetch),
        ];
        let name = format!("warm-{}", fetch[0]);
        assert_eq!(place.train(&name, &with(plain.clone(), &dense)).unwrap().0, expected);
    }
}

#[test]
fn each_technique_has_its_own_effect() {
    let place = Workplace::new();
    let three = machine(&place, "three.toml", 3, TRANSFERS);
    let three = [&three[..]];
    // The learning rate has no warm-up, because the first rate of a warm-up is 0.
    let base = with(
        rich(),
        &[("simulate-async", &three), ("grad-dropping-warmup", &["1"]), ("lr-warmup", &["0"])],
    );
    let dropping: (&str, &[&str]) = ("grad-dropping-rate", &["0.9"]);
    let local: (&str, &[&str]) = ("local-optimizer-batches", &["6"]);
    let two: (&str, &[&str]) = ("optimizer-delay", &["2"]);
    let flexible: (&str, &[&str]) = ("batch-flexible-lr", &["true"]);
    let mean: (&str, &[&str]) = ("batch-normal-words", &["0"]);
    let trainings: Vec<(&str, Options<'_>)> = vec![
        ("plain", vec![]),
        ("delay", vec![two]),
        ("unscaled", vec![two, ("scale-rate-by-delay", &["false"])]),
        ("buffer", vec![("gradient-buffer", &["3"])]),
        ("local-delta", vec![two, local]),
        ("local-copy", vec![two, local, ("local-optimizer-shard", &["copy"])]),
        ("local-none", vec![two, local, ("local-optimizer-shard", &["none"])]),
        ("local-betas", vec![two, local, ("local-optimizer-params", &["0.5", "0.9"])]),
        ("momentum", vec![("momentum-schedule", &["0.5,0.9@2"])]),
        ("cycle", vec![("lr-cycle", &["0.001", "0.02", "4"])]),
        ("random", vec![("lr-random", &["0.01"])]),
        ("flexible", vec![flexible, ("mini-batch-words-ref", &["0"])]),
        ("flexible-delay", vec![two, flexible, ("mini-batch-words-ref", &["0"])]),
        ("flexible-mean", vec![flexible, mean, ("mini-batch-words-ref", &["0"])]),
        ("dropping", vec![dropping]),
        ("dropping-global", vec![dropping, ("grad-dropping-scope", &["global"])]),
        ("dropping-tensor", vec![dropping, ("grad-dropping-scope", &["tensor"])]),
        ("dropping-delta", vec![dropping, ("grad-dropping-fetch", &["delta"])]),
        ("dropping-dense", vec![dropping, ("grad-dropping-fetch", &["dense"])]),
        ("dropping-momentum", vec![dropping, ("grad-dropping-momentum", &["0.9"])]),
        ("dropping-anneal", vec![dropping, ("grad-dropping-anneal", &["0.5@0", "0.7@6"])]),
    ];
    let mut models = Vec::new();
    for (name, options) in &trainings {
        let (model, cost) = place.train(name, &with(base.clone(), options)).unwrap();
        let cost: f64 = cost.split(' ').next().unwrap().parse().unwrap();
        assert!(cost.is_finite(), "{name}: {cost}");
        let same = models.iter().find(|(known, _)| *known == model);
        assert!(same.is_none(), "{name} is {same:?}");
        models.push((model, *name));
    }
}

#[test]
fn simulations_are_the_same_every_time_and_in_parts() {
    let place = Workplace::new();
    let text = machine(&place, "three.toml", 3, TRANSFERS);
    let text = [&text[..]];
    for fetch in ["indices", "delta", "dense"] {
        let fetch = [fetch];
        let options =
            with(techniques(), &[("simulate-async", &text), ("grad-dropping-fetch", &fetch)]);
        let bytes = |name: &str| {
            ["", ".optimizer.npz", ".simulation.csv"]
                .map(|suffix| hash(&place.path(&format!("{name}.npz{suffix}"))))
        };
        place.train("once", &options).unwrap();
        place.train("twice", &options).unwrap();
        assert_eq!(bytes("once"), bytes("twice"));
        for updates in ["1", "4", "5", "9", "16"] {
            place.train("parts", &with(options.clone(), &[("after-batches", &[updates])])).unwrap();
        }
        assert_eq!(bytes("once")[1..], bytes("parts")[1..], "{fetch:?}");
        assert_eq!(bytes("once"), bytes("parts"));
        // Stopped at many points, with batches that have begun but are not counted.
        let request = place.request("stopped", &options).unwrap();
        let mut stops = (1..=7).cycle();
        while run_until(&request, stops.next().unwrap()).unwrap() == Outcome::Cancelled {}
        assert_eq!(bytes("once"), bytes("stopped"), "{fetch:?}");
        for name in ["once", "twice", "parts", "stopped"] {
            for suffix in ["", ".optimizer.npz", ".simulation.csv"] {
                std::fs::remove_file(place.path(&format!("{name}.npz{suffix}"))).unwrap();
            }
        }
    }
}

/// An epoch has two batches, fewer than a push of three. At its end the worker pushes the gradients
/// of these two batches, which equals a synchronous update. By default the rate of this push is
/// multiplied by two, its number of batches.
#[test]
fn the_end_of_the_last_epoch_pushes_what_is_computed() {
    let place = Workplace::new();
    let alone = machine(&place, "alone.toml", 1, TRANSFERS);
    let alone = [&alone[..]];
    let base: Options<'_> = vec![
        ("optimizer-delay", &["3"]),
        ("mini-batch", &["4"]),
        ("after-batches", &["0"]),
        ("after", &["1e"]),
        ("learn-rate", &["0.02"]),
    ];
    let (expected, _) = place.train("sync", &base).unwrap();
    for (kind, values) in [("async-sgd", &["true"][..]), ("simulate-async", &alone)] {
        let plain = with(base.clone(), &[(kind, values), ("scale-rate-by-delay", &["false"])]);
        let (_, log) = place.log(kind, &plain).unwrap();
        assert!(log.iter().any(|line| line == "Seen 7 samples"), "{log:?}");
        assert_eq!(hash(&place.path(&format!("{kind}.npz"))), expected, "{kind}");
        let name = format!("{kind}-scaled");
        let scaled = with(base.clone(), &[(kind, values), ("learn-rate", &["0.01"])]);
        assert_eq!(place.train(&name, &scaled).unwrap().0, expected, "{name}");
        // A run that has nothing left to do writes the same model.
        assert_eq!(place.train(kind, &plain).unwrap().0, expected, "{kind}");
    }
    let csv = std::fs::read_to_string(place.path("simulate-async.npz.simulation.csv")).unwrap();
    let pushes: Vec<&str> = csv.lines().skip(1).collect();
    assert!(pushes.len() == 1 && pushes[0].ends_with(",21"), "all tokens of the epoch: {csv}");
}

/// An epoch has two pushes, fewer than a buffer of three. At its end the shard takes a step with
/// both pushes, which equals the step with a buffer of two.
#[test]
fn the_end_of_the_last_epoch_steps_with_what_is_buffered() {
    let place = Workplace::new();
    let alone = machine(&place, "alone.toml", 1, TRANSFERS);
    let alone = [&alone[..]];
    let base: Options<'_> =
        vec![("mini-batch", &["4"]), ("after-batches", &["0"]), ("after", &["1e"])];
    for (kind, values) in [("async-sgd", &["true"][..]), ("simulate-async", &alone)] {
        let train = |name: &str, buffer: &str| {
            let buffer = [buffer];
            let more = [(kind, values), ("gradient-buffer", &buffer[..])];
            place.train(name, &with(base.clone(), &more)).unwrap().0
        };
        let expected = train(&format!("{kind}-2"), "2");
        let name = format!("{kind}-3");
        assert_eq!(train(&name, "3"), expected, "{kind}");
        assert_eq!(train(&name, "3"), expected, "a run that has nothing left to do");
        assert_ne!(train(&format!("{kind}-1"), "1"), expected, "two steps");
    }
}

/// More epochs begin as if there had been no last pushes, and a killed run makes the same last
/// pushes again.
#[test]
fn last_pushes_are_not_resumed() {
    let place = Workplace::new();
    let text = machine(&place, "three.toml", 3, TRANSFERS);
    let text = [&text[..]];
    let base = with(techniques(), &[("simulate-async", &text), ("after-batches", &["0"])]);
    let train = |name: &str, epochs: &str| {
        place.train(name, &with(base.clone(), &[("after", &[epochs])])).unwrap();
        ["", ".optimizer.npz", ".progress.yml", ".simulation.csv"]
            .map(|suffix| hash(&place.path(&format!("{name}.npz{suffix}"))))
    };
    let once = train("once", "6e");
    for epochs in ["1e", "2e", "3e", "4e", "5e"] {
        assert_ne!(train("parts", epochs), once);
    }
    assert_eq!(train("parts", "6e"), once);
    assert_eq!(train("parts", "6e"), once, "a run that has nothing left to do");
    // The run was killed before it wrote the model.
    for suffix in ["", ".progress.yml"] {
        std::fs::remove_file(place.path(&format!("parts.npz{suffix}"))).unwrap();
    }
    assert_eq!(train("parts", "6e"), once);
    // Stopped at many points, with batches that have begun but are not counted.
    let request = place.request("stopped", &with(base.clone(), &[("after", &["6e"])])).unwrap();
    let mut stops = (1..=7).cycle();
    while run_until(&request, stops.next().unwrap()).unwrap() == Outcome::Cancelled {}
    assert_eq!(train("stopped", "6e"), once);
}

#[test]
fn shards_without_parameters_are_resumed() {
    let place = Workplace::new();
    // The shards of so many workers are longer than their part of the model.
    let text = machine(&place, "many.toml", 97, TRANSFERS);
    let text = [&text[..]];
    let base = with(techniques(), &[("simulate-async", &text), ("gradient-buffer", &["3"])]);
    for batches in ["1", "2", "4"] {
        place.train("parts", &with(base.clone(), &[("after-batches", &[batches])])).unwrap();
    }
}

/// Both workers have begun a batch of the only epoch when the first of them ends its batch. If that
/// is the last batch of the epoch, the batch of the other worker is still needed.
#[test]
fn batches_of_the_last_epoch_are_ended() {
    let place = Workplace::new();
    place.write("source", &"a b c\n".repeat(8));
    place.write("target", &"x y z\n".repeat(8));
    let mut first_workers = Vec::new();
    for seed in 1..=12 {
        let text = machine(&place, "two.toml", 2, &format!("noise = 0.1\nseed = {seed}\n"));
        let text = [&text[..]];
        let options: Options<'_> = vec![
            ("simulate-async", &text),
            ("mini-batch", &["4"]),
            ("after-batches", &["0"]),
            ("after", &["1e"]),
        ];
        let name = format!("model-{seed}");
        place.train(&name, &options).unwrap();
        let csv = place.path(&format!("{name}.npz.simulation.csv"));
        let csv = std::fs::read_to_string(csv).unwrap();
        let pushes: Vec<&str> = csv.lines().skip(1).collect();
        assert!(pushes.len() == 2 && pushes.iter().all(|push| push.ends_with(",16")), "{csv}");
        first_workers.push(pushes[0].split(',').nth(1).unwrap().to_owned());
    }
    for worker in ["0", "1"] {
        assert!(first_workers.iter().any(|first| first == worker), "{first_workers:?}");
    }
}

/// A limit that a run has passed before does not change its model.
#[test]
fn runs_that_have_ended_make_no_further_pushes() {
    let place = Workplace::new();
    let text = machine(&place, "three.toml", 3, TRANSFERS);
    let text = [&text[..]];
    let base = with(techniques(), &[("simulate-async", &text), ("optimizer-delay", &["3"])]);
    let (model, _) =
        place.train("model", &with(base.clone(), &[("after-batches", &["3"])])).unwrap();
    let ended = with(base, &[("after-batches", &["0"]), ("after", &["1e"])]);
    assert_eq!(place.log("model", &ended).unwrap().0, Outcome::AlreadyFinished);
    assert_eq!(hash(&place.path("model.npz")), model);
}

#[test]
fn last_pushes_are_kept_when_another_limit_is_passed() {
    let place = Workplace::new();
    let text = machine(&place, "three.toml", 3, TRANSFERS);
    let text = [&text[..]];
    let base = with(techniques(), &[("simulate-async", &text), ("optimizer-delay", &["3"])]);
    // Three pushes of three batches each; three batches are left.
    let epochs = with(base.clone(), &[("after-batches", &["0"]), ("after", &["4e"])]);
    let (model, _) = place.train("model", &epochs).unwrap();
    let passed = with(base, &[("after-batches", &["1"])]);
    assert_eq!(place.log("model", &passed).unwrap().0, Outcome::AlreadyFinished);
    assert_eq!(hash(&place.path("model.npz")), model);
}

#[test]
fn staleness_is_the_number_of_other_workers() {
    let place = Workplace::new();
    // All pairs have the same length, so batches are equal.
    place.write("source", &"a b c\n".repeat(8));
    place.write("target", &"x y z\n".repeat(8));
    let four = machine(&place, "four.toml", 4, "");
    let four = [&four[..]];
    let options: Options<'_> =
        vec![("simulate-async", &four), ("mini-batch", &["2"]), ("after-batches", &["24"])];
    place.train("model", &options).unwrap();
    let csv = std::fs::read_to_string(place.path("model.npz.simulation.csv")).unwrap();
    let lines: Vec<Vec<f64>> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|field| field.parse().unwrap()).collect())
        .collect();
    assert_eq!(lines.len(), 24);
    for (number, line) in (1..).zip(&lines) {
        let [update, _, seconds, staleness, bytes, words] = line[..] else { panic!("{line:?}") };
        assert_eq!((update, words), (number as f64, 8.0));
        assert!((seconds - 0.008 * f64::from(((number - 1) / 4) + 1)).abs() < 1e-9, "{line:?}");
        assert_eq!(staleness, if number > 4 { 3.0 } else { f64::from(number - 1) });
        assert!(bytes > 0.0);
    }
}

#[test]
fn threads_train_stop_and_resume() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let sets = [&source[..], &target];
    let base: Options<'_> = vec![
        ("async-sgd", &["true"]),
        ("workers", &["3"]),
        ("valid-sets", &sets),
        ("valid-metrics", &["ce-mean-words"]),
        ("valid-freq", &["20u"]),
        ("save-freq", &["15u"]),
        ("disp-freq", &["10u"]),
    ];
    let entropy = |log: &[String]| -> Vec<f64> {
        let lines = log.iter().filter_map(|line| line.split_once("ce-mean-words : "));
        lines.map(|(_, after)| after.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let first = with(base.clone(), &[("after-batches", &["60"])]);
    let (_, log) = place.log("model", &first).unwrap();
    let before = entropy(&log);
    assert!(before.len() >= 3 && before.last() < before.first(), "{before:?}");
    let second = with(base.clone(), &[("after-batches", &["300"])]);
    let (_, log) = place.log("model", &second).unwrap();
    assert!(log.iter().any(|line| line.contains("Resuming after 6")), "{log:?}");
    // Single values jump because threads write concurrently: the best of many shows the progress.
    let after = entropy(&log);
    assert!(after.iter().any(|one| Some(one) < before.last()), "{before:?} {after:?}");
    // With another number of workers, the shards are divided differently.
    let third = with(base, &[("workers", &["2"]), ("after-batches", &["320"])]);
    let (_, log) = place.log("model", &third).unwrap();
    assert!(log.iter().any(|line| line.contains("number of workers has changed")), "{log:?}");
    // All techniques together, in two runs.
    let all = with(techniques(), &[("async-sgd", &["true"]), ("workers", &["4"])]);
    place.train("all", &all).unwrap();
    place.train("all", &with(all, &[("after-batches", &["40"])])).unwrap();
}

#[test]
fn options_that_do_not_fit_are_named() {
    let place = Workplace::new();
    let file = machine(&place, "wrong.toml", 0, "");
    let file = [&file[..]];
    let asynchronous: (&str, &[&str]) = ("async-sgd", &["true"]);
    let cases: Vec<(Options<'_>, &str)> = vec![
        (vec![("gradient-buffer", &["2"])], "--gradient-buffer: it needs --async-sgd"),
        (vec![asynchronous, ("sync-sgd", &["true"])], "--sync-sgd: "),
        (vec![asynchronous, ("optimizer-delay", &["0.5"])], "--optimizer-delay: "),
        (vec![asynchronous, ("gradient-buffer", &["0"])], "--gradient-buffer: "),
        (vec![asynchronous, ("local-optimizer-shard", &["add"])], "copy, delta, none"),
        (vec![asynchronous, ("local-optimizer-params", &["0.9"])], "two betas"),
        (vec![("momentum-schedule", &["0.9@1"])], "--momentum-schedule: "),
        (vec![("batch-normal-words", &["9"])], "--batch-normal-words: it needs --batch-flexible"),
        (
            vec![("batch-flexible-lr", &["true"]), ("mini-batch-words-ref", &["5"])],
            "--batch-flexible-lr: it scales",
        ),
        (vec![("momentum-schedule", &["0.9,0.9@1"]), ("optimizer", &["sgd"])], "sgd has no betas"),
        (vec![asynchronous, ("grad-dropping-rate", &["1"])], "--grad-dropping-rate: "),
        (vec![asynchronous, ("grad-dropping-anneal", &["0.9@2u", "0.8@1u"])], "ascend"),
        (vec![("simulate-async", &file)], "wrong.toml: workers = 0"),
    ];
    for (options, expected) in cases {
        let error = place.train("model", &options).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    place.train("model", &[asynchronous]).unwrap();
    let error = place.train("model", &[]).unwrap_err();
    assert!(error.contains("--async-sgd was true, now it is false"), "{error}");
}
