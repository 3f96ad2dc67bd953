//! Tests of trainings whose files exist: all of them, or those that a killed run has left.

use std::path::Path;
use std::sync::Mutex;

use miriam_kernels::Cpu;
use miriam_nmt::ModelBundle;
use miriam_nmt::formats::marian::write_marian_model;
use miriam_textio::{CancellationToken, NoProgress, Progress};
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::{Outcome, TRAINING_TASK};

use crate::workplace::{TARGET, Workplace, hash, run_request};

#[test]
fn training_begins_with_an_existing_model() {
    let place = Workplace::new();
    let (before, _) = place.train("model", &[]).unwrap();
    std::fs::remove_file(place.path("model.npz.optimizer.npz")).unwrap();
    let still = [("learn-rate", &["0"][..])];
    let (after, _) = place.train("model", &still).unwrap();
    assert_eq!(after, before, "an update at rate 0 changes nothing");
    // A model is not overwritten by one with other options.
    std::fs::remove_file(place.path("model.npz.optimizer.npz")).unwrap();
    let error = place.train("model", &[("dim-emb", &["16"])]).unwrap_err();
    assert!(error.contains("model.npz: ") && error.contains("own options"), "{error}");
    assert_eq!(hash(&place.path("model.npz")), before);
}

#[test]
fn a_model_with_an_unusable_parameter_is_rejected() {
    let place = Workplace::new();
    place.train("model", &[]).unwrap();
    std::fs::remove_file(place.path("model.npz.optimizer.npz")).unwrap();
    let path = place.path("model.npz");
    let bundle = ModelBundle::open(&path, None).unwrap();
    let model = &bundle.models[0];
    write_marian_model(&path, model.architecture(), |parameter| {
        let mut values = model.parameter(&parameter.name).unwrap().values().to_vec();
        values[0] = 1e20;
        values
    })
    .unwrap();
    let start = place.text("model.npz");
    let further = [("pretrained-model", &[&start[..]][..])];
    for result in [place.train("model", &[]), place.train("further", &further)] {
        let error = result.unwrap_err();
        assert!(error.starts_with(&format!("{start}: ")), "{error}");
        assert!(error.contains("has the unusable number 1e20"), "{error}");
    }
}

#[test]
fn an_unusable_factor_of_the_learning_rate_is_found_in_its_file() {
    let place = Workplace::new();
    place.train("model", &[]).unwrap();
    std::fs::remove_file(place.path("model.npz.optimizer.npz")).unwrap();
    let path = place.path("model.npz.progress.yml");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| match line.split_once(": ") {
        Some(("eta-factor", _)) => "eta-factor: .inf\n".to_owned(),
        _ => format!("{line}\n"),
    });
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let error = place.train("model", &[]).unwrap_err();
    assert!(error.starts_with(&format!("{}: the factor", path.display())), "{error}");
    std::fs::remove_file(&path).unwrap();
    place.train("model", &[]).unwrap();
}

#[test]
fn a_resumed_training_needs_no_pretrained_model() {
    let place = Workplace::new();
    place.train("start", &[]).unwrap();
    let start = place.text("start.npz");
    let further = |more: &[(&str, &[&str])]| {
        let start = [&start[..]];
        let mut all = vec![("pretrained-model", &start[..])];
        all.extend_from_slice(more);
        place.train("further", &all)
    };
    further(&[]).unwrap();
    std::fs::remove_file(&start).unwrap();
    further(&[("after-batches", &["6"])]).unwrap();
    std::fs::remove_file(place.path("further.npz")).unwrap();
    std::fs::remove_file(place.path("further.npz.optimizer.npz")).unwrap();
    assert!(further(&[]).unwrap_err().contains("start.npz"));
}

/// Reports of progress since training began.
#[derive(Default)]
struct Reports(Mutex<Vec<(&'static str, u64)>>);

impl Progress for Reports {
    fn begin(&self, name: &str, total: Option<u64>) {
        let mut reports = self.0.lock().unwrap();
        reports.clear();
        if name == TRAINING_TASK {
            reports.push(("total", total.unwrap_or(0)));
        }
    }
    fn set_position(&self, done: u64) {
        self.0.lock().unwrap().push(("done", done));
    }
    fn skip_to(&self, done: u64) {
        self.0.lock().unwrap().push(("skipped", done));
    }
    fn end(&self) {}
}

/// An epoch has 21 target tokens in three updates.
#[test]
fn progress_of_epochs_is_counted_in_tokens() {
    let place = Workplace::new();
    let reports = |after: &str| {
        let after = [after];
        let options = [("after-batches", &["0"][..]), ("after", &after)];
        let request = place.request("model", &options).unwrap();
        let reports = Reports::default();
        request.run(&CancellationToken::new(), &reports, &mut |_| {}, &mut |_| {}).unwrap();
        reports.0.into_inner().unwrap()
    };
    let first = reports("2e");
    assert_eq!(first.len(), 2 + 6, "{first:?}");
    assert_eq!(first[..2], [("total", 42), ("skipped", 0)]);
    assert!(first[2..].is_sorted() && first[7] == ("done", 42), "{first:?}");
    let second = reports("3e");
    assert_eq!(second[..2], [("total", 63), ("skipped", 42)]);
    assert_eq!(second[2..].last(), Some(&("done", 63)), "{second:?}");
}

/// An epoch of `--logical-epoch 2u` is two updates; three such epochs end with the seventh update,
/// as in Marian. A pass over the corpus has three updates.
#[test]
fn logical_epochs_end_training_and_resume_it() {
    let place = Workplace::new();
    let train = |model: &str, after: &str, epoch: &[&str]| {
        let after = [after];
        let limits = [("after-batches", &["0"][..]), ("after", &after), ("disp-freq", &["1"])];
        let all = [&limits[..], &[("logical-epoch", epoch)]].concat();
        let (outcome, log) = place.log(model, &all).unwrap();
        assert_eq!(outcome, Outcome::Finished);
        log
    };
    let log = train("whole", "3e", &["2u", "1"]);
    let lines: Vec<&String> = log.iter().filter(|line| line.starts_with("Ep. ")).collect();
    assert_eq!(lines.len(), 7, "{log:?}");
    assert!(lines[0].starts_with("Ep. 0.5 : Up. 1 :"), "{}", lines[0]);
    assert!(lines[6].starts_with("Ep. 3.5 : Up. 7 :"), "{}", lines[6]);
    let begins = "Starting data epoch 2 in logical epoch 1.5";
    assert!(log.iter().any(|line| line == begins), "{log:?}");
    // The training resumes exactly, also with epochs of another length.
    train("parts", "2e", &["2u", "1"]);
    train("parts", "1e", &["6u"]);
    assert_eq!(hash(&place.path("parts.npz")), hash(&place.path("whole.npz")));
    train("passes", "2e", &["1e"]);
    let error = place.train("no", &[("logical-epoch", &["0e"])]).unwrap_err();
    assert!(error.contains("--logical-epoch: expected a length above 0"), "{error}");
}

#[test]
fn parameters_that_a_pretrained_model_lacks_are_initial() {
    let place = Workplace::new();
    place.train("start", &[]).unwrap();
    let start = place.text("start.npz");
    let begin = ("pretrained-model", &[&start[..]][..]);
    // An update at rate 0 changes nothing.
    let still = ("learn-rate", &["0"][..]);
    let (_, log) = place.log("deeper", &[begin, still, ("dec-depth", &["2"])]).unwrap();
    assert!(log.iter().any(|line| line.contains("the first is decoder_l2_")), "{log:?}");
    let read = |model: &str, name: &str| {
        let bundle = ModelBundle::open(&place.path(model), None).unwrap();
        bundle.models[0].parameter(name).unwrap().values().to_vec()
    };
    let shared = "decoder_l1_self_Wq";
    assert_eq!(read("deeper.npz", shared), read("start.npz", shared));
    place.train("fresh", &[still, ("dec-depth", &["2"])]).unwrap();
    let missing = "decoder_l2_self_Wq";
    assert_eq!(read("deeper.npz", missing), read("fresh.npz", missing));
    assert!(read("fresh.npz", missing).iter().any(|&x| x != 0.0));
    let error = place.train("wider", &[begin, ("transformer-dim-ffn", &["16"])]).unwrap_err();
    assert!(error.contains("has the shape [8, 8], expected [8, 16]"), "{error}");
}

#[test]
fn changed_options_are_named_with_both_values() {
    let place = Workplace::new();
    let recurrent = [("type", &["s2s"][..]), ("dim-rnn", &["6"])];
    place.train("model", &recurrent).unwrap();
    for (name, value, expected) in [
        ("dropout-rnn", "0.2", "--dropout-rnn was 0, now it is 0.2"),
        ("mini-batch", "4", "--mini-batch was 3, now it is 4"),
        ("mini-batch-words", "40", "--mini-batch-words was 0, now it is 40"),
        ("maxi-batch-sort", "src", "--maxi-batch-sort was trg, now it is src"),
        ("lr-decay-strategy", "epoch", "--lr-decay-strategy was epoch+stalled, now it is epoch"),
        ("optimizer", "sgd", "--optimizer was adam, now it is sgd"),
    ] {
        let error = place.train("model", &[recurrent[0], recurrent[1], (name, &[value])]);
        let error = error.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn rates_decay_at_the_ends_of_epochs() {
    let place = Workplace::new();
    // Epochs have three updates. The second number of `lr-decay-start` would count stalls.
    let (_, log) = place
        .log(
            "model",
            &[
                ("lr-decay", &["0.5"]),
                ("lr-decay-start", &["2", "9"]),
                ("disp-freq", &["1"]),
                ("after-batches", &["8"]),
            ],
        )
        .unwrap();
    let rates: Vec<&str> =
        log.iter().filter_map(|line| line.split_once("L.r. ")).map(|(_, rate)| rate).collect();
    let expected = ["1.0000e-02"; 3].into_iter().chain(["5.0000e-03"; 3]).chain(["2.5000e-03"; 2]);
    assert_eq!(rates, expected.collect::<Vec<_>>());
}

#[test]
fn rates_that_change_with_every_update_are_resumed() {
    let place = Workplace::new();
    let cycle: (&str, &[&str]) = ("lr-cycle", &["0.001", "0.004", "3"]);
    let every: (&str, &[&str]) = ("disp-freq", &["1"]);
    let (_, log) = place.log("cycle", &[cycle, every, ("after-batches", &["8"])]).unwrap();
    let rates: Vec<&str> =
        log.iter().filter_map(|line| line.split_once("L.r. ")).map(|(_, rate)| rate).collect();
    let mut cycle_of_three = ["2.0000e-03", "3.0000e-03", "1.0000e-03"].into_iter().cycle();
    assert!(rates.len() == 8 && rates.iter().all(|&rate| cycle_of_three.next() == Some(rate)));
    let random: (&str, &[&str]) = ("lr-random", &["0.01"]);
    let mut models = Vec::new();
    for rates in [cycle, random, ("lr-random", &["0.02"])] {
        let train = |kind: &str, updates: &str| {
            let name = format!("{kind}-{}", rates.1[0]);
            place.train(&name, &[rates, ("after-batches", &[updates])]).unwrap().0
        };
        let whole = train("whole", "8");
        train("parts", "5");
        assert_eq!(train("parts", "8"), whole, "{rates:?}");
        assert!(!models.contains(&whole), "{rates:?}");
        models.push(whole);
    }
    let error = place.train("parts-0.01", &[("lr-random", &["0.02"])]).unwrap_err();
    assert!(error.contains("--lr-random was 0.01, now it is 0.02"), "{error}");
    let both = place.train("both", &[cycle, random]).unwrap_err();
    assert!(both.contains("--lr-cycle: it cannot be combined with --lr-random"), "{both}");
    let wrong: [(&str, &[&str], &str); 3] = [
        ("lr-cycle", &["0.1", "0.2"], "--lr-cycle: expected two rates"),
        ("lr-cycle", &["0.1", "0.2", "0"], "--lr-cycle: expected a whole number"),
        ("lr-random", &["-1"], "learn-rate, lr-cycle, lr-random"),
    ];
    for (name, values, expected) in wrong {
        let error = place.train("wrong", &[(name, values)]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// The option `precision` takes float32 or bf16, not float16. A training run in bf16 that is
/// stopped and resumed equals one that is not stopped.
#[test]
fn trainings_in_bf16_are_resumed() {
    let place = Workplace::new();
    let precision = |values: &'static [&'static str]| ("precision", values);
    for (values, expected) in [
        (&["float16"][..], "--precision: expected float32 or bf16, found float16"),
        (&["float16", "float32"], "expected float32 or bf16, found float16 float32"),
        (&["float32", "bf16"], "the optimiser computes in float32, not bf16; give float32 alone"),
    ] {
        let error = place.train("wrong", &[precision(values)]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let both = place.train("both", &[precision(&["bf16"]), ("quantize-aware", &["i8"])]);
    let error = both.unwrap_err();
    assert!(error.contains("give bf16 or --quantize-aware, not both"), "{error}");
    let (plain, _) = place.train("plain", &[("after-batches", &["8"])]).unwrap();
    let named = [precision(&["float32", "float32"]), ("after-batches", &["8"])];
    assert_eq!(place.train("named", &named).unwrap().0, plain);
    let train = |name: &str, updates: &str, more: &[(&str, &[&str])]| {
        let updates = [updates];
        let mut options = vec![precision(&["bf16"]), ("after-batches", &updates[..])];
        options.extend_from_slice(more);
        place.train(name, &options).map(|(model, _)| model)
    };
    if !Cpu::detect().multiplies_bf16() {
        let error = train("bf16", "8", &[]).unwrap_err();
        assert!(error.contains("this CPU has no instructions for bf16"), "{error}");
        return println!("skipped: trainings in bf16 (they need AVX-512 BF16)");
    }
    let whole = train("bf16", "8", &[]).unwrap();
    assert_ne!(whole, plain);
    train("parts", "5", &[]).unwrap();
    assert_eq!(train("parts", "8", &[]).unwrap(), whole);
    let several = train("several", "8", &[("workers", &["3"])]).unwrap();
    assert_eq!(several, whole, "the number of workers changes nothing");
    let error = place.train("parts", &[("after-batches", &["9"])]).unwrap_err();
    assert!(error.contains("--precision was bf16, now it is float32"), "{error}");
    let asynchronous = [("async-sgd", &["true"][..]), ("workers", &["1"])];
    let plain = [&asynchronous[..], &[("after-batches", &["8"])]].concat();
    let (plain, _) = place.train("plain-asynchronous", &plain).unwrap();
    assert_ne!(train("asynchronous", "8", &asynchronous).unwrap(), plain);
}

#[test]
fn a_model_of_more_updates_is_kept() {
    let place = Workplace::new();
    let (model, _) = place.train("model", &[]).unwrap();
    let log = |updates: &str| {
        let (_, log) = place.log("model", &[("after-batches", &[updates])]).unwrap();
        log.join("\n")
    };
    assert!(!log("4").contains("The model is kept"));
    let beyond = log("2");
    assert!(beyond.contains("it was trained for more than 2u"), "{beyond}");
    assert_eq!(hash(&place.path("model.npz")), model);
}

#[test]
fn files_of_other_programs_stay() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    std::fs::create_dir(place.path("ours")).unwrap();
    let mut request = place.request("elsewhere/model", &[]).unwrap();
    request.folder = Some(place.path("ours"));
    let other = place.write("elsewhere/.other.npz.Xy12.partial", "");
    let own = place.write("elsewhere/.model.npz.Xy12.partial", "");
    run_request(&request).unwrap();
    assert!(Path::new(&other).is_file() && !Path::new(&own).exists());
    // In the training's folder, all partial files come from an earlier run.
    let own = place.write("ours/.vocab.spm.Xy12.partial", "");
    request.options = place.options("ours/model", &[]).unwrap();
    run_request(&request).unwrap();
    assert!(!Path::new(&own).exists());
}

#[test]
fn the_vocabulary_size_applies_to_word_lists_too() {
    let place = Workplace::new();
    let words = |name: &str| std::fs::read_to_string(place.path(name)).unwrap().lines().count();
    assert_eq!((words("source.yml"), words("target.yml")), (5, 5));
    std::fs::remove_file(place.path("source.yml")).unwrap();
    let request = place.request("model", &[]).unwrap();
    let request = TrainingRequest { vocab_size: Some(4), ..request };
    let warnings = warnings_of_vocabularies(&request);
    assert_eq!(words("source.yml"), 4);
    // The vocabulary of the target exists.
    assert!(
        warnings.len() == 1 && warnings[0].contains("target.yml, which exists"),
        "{warnings:?}"
    );
    std::fs::remove_file(place.path("source.yml")).unwrap();
    let options = place.options("sized", &[("dim-vocabs", &["3", "5"])]).unwrap();
    let warnings = warnings_of_vocabularies(&TrainingRequest { options, ..request });
    assert_eq!(words("source.yml"), 3);
    assert!(warnings.iter().any(|text| text.contains("--dim-vocabs gives the size 3")));
}

/// Trains, and returns the warnings that concern `--vocab-size`.
fn warnings_of_vocabularies(request: &TrainingRequest) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |warning: &str| warnings.push(warning.to_owned());
    request.run(&CancellationToken::new(), &NoProgress, &mut |_| {}, &mut warn).unwrap();
    warnings.retain(|warning| warning.starts_with("--vocab-size"));
    warnings
}

#[test]
fn a_joint_vocabulary_has_the_larger_of_two_sizes() {
    let place = Workplace::new();
    let joint = place.text("joint.yml");
    let options: [(&str, &[&str]); 2] =
        [("vocabs", &[&joint, &joint]), ("dim-vocabs", &["4", "6"])];
    run_request(&place.request("model", &options).unwrap()).unwrap();
    assert_eq!(std::fs::read_to_string(&joint).unwrap().lines().count(), 6);
}

#[test]
fn no_vocabulary_is_made_if_one_cannot_be_written() {
    let place = Workplace::new();
    let [source, target] = ["new.yml", "absent/new.yml"].map(|name| place.text(name));
    let error = place.log("model", &[("vocabs", &[&source, &target])]).unwrap_err();
    assert!(error.contains("absent does not exist"), "{error}");
    assert!(!Path::new(&source).exists());
}

#[test]
fn curves_have_what_the_saved_state_has() {
    let place = Workplace::new();
    let plot = place.path("plot");
    let train = |updates: &str| {
        let limits = [("after-batches", &[updates][..]), ("disp-freq", &["1"])];
        let request = place.request("model", &limits).unwrap();
        run_request(&TrainingRequest { plot: Some(plot.clone()), ..request })
    };
    // The curves cannot be written.
    std::fs::create_dir_all(plot.join("training.csv")).unwrap();
    assert!(train("4").is_err());
    std::fs::remove_dir(plot.join("training.csv")).unwrap();
    train("6").unwrap();
    let csv = std::fs::read_to_string(plot.join("training.csv")).unwrap();
    let losses = csv.lines().filter(|line| line.contains(",loss,"));
    let updates: Vec<&str> = losses.map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(updates, ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn models_that_a_killed_run_did_not_write_are_written() {
    let place = Workplace::new();
    let options = [("overwrite", &["false"][..]), ("after-batches", &["9"])];
    let request = place.request("model", &options).unwrap();
    let stop = CancellationToken::new();
    let mut log = |line: &str| {
        if line.contains("Up. 4 ") {
            stop.cancel();
        }
    };
    let summary = request.run(&stop, &NoProgress, &mut log, &mut |_| {}).unwrap();
    assert!(matches!(summary, Summary::Trained { outcome: Outcome::Cancelled, .. }));
    let configuration = "model.iter4.npz.decoder.yml";
    let files = ["model.npz", "model.iter4.npz", "model.npz.progress.yml", configuration];
    let saved = files.map(|name| std::fs::read(place.path(name)).ok());
    assert!(saved.iter().all(Option::is_some));
    // The run was killed after it wrote the optimiser's file.
    for name in files {
        std::fs::remove_file(place.path(name)).unwrap();
    }
    run_request(&request).unwrap();
    assert!(std::fs::read(place.path("model.iter4.npz")).ok() == saved[1]);
    // Each copy has its own configuration for decoding.
    let text = std::fs::read_to_string(place.path(configuration)).unwrap();
    assert!(text.contains(&place.text("model.iter4.npz")), "{text}");
    assert!(Some(text.into_bytes()) == saved[3]);
    // At the end of a training run, no copy with the number of updates is written.
    assert!(place.path("model.npz").is_file() && !place.path("model.iter9.npz").exists());
}

#[test]
fn a_skipped_update_is_not_a_divergence() {
    let place = Workplace::new();
    place.write("target", &TARGET.replacen("x y z", &["x"; 20].join(" "), 1));
    let weights = place.write("weights", &"1\n".repeat(8).replacen('1', "3e38", 1));
    let options: [(&str, &[&str]); 4] = [
        ("data-weighting", &[&weights]),
        ("check-gradient-nan", &["true"]),
        ("throw-on-divergence", &["1", "1", "1"]),
        ("after-batches", &["6"]),
    ];
    let (outcome, log) = place.log("model", &options).unwrap();
    assert_eq!(outcome, Outcome::Finished);
    assert!(log.iter().any(|line| line.contains("skipped")), "{log:?}");
}
