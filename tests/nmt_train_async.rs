//! `miriam nmt train --async-sgd` and `--simulate-async`: kills at any instant, threads against the
//! simulator (`docs/spec/training.md` A.4 to A.9); and trainings that Marian resumes.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::common::{lossy_text, miriam, report_skip, run};
use crate::nmt_train::{Corpus, kill_after, moments};

/// Options of techniques for which each worker has a state.
const TECHNIQUES: &str = "--optimizer-delay 2 --local-optimizer-batches 20 \
    --grad-dropping-rate 0.9 --grad-dropping-warmup 3 --exponential-smoothing 0.1";

const VALIDATION: &str = "--dev-source dev.en --dev-target dev.es --valid-metrics ce-mean-words";

fn write_machine(corpus: &Corpus, workers: usize) {
    let text =
        format!("workers = {workers}\nseconds_per_word = 1e-4\nlatency = 1e-3\nnoise = 0.1\n");
    fs::write(corpus.path("machine.toml"), text).unwrap();
}

/// Trains `whole`, and then `killed`, which saves at every update and is killed again and again.
fn train_whole_and_killed(corpus: &Corpus, options: &str) {
    let began = Instant::now();
    run(&mut corpus.train("whole", options));
    let duration = began.elapsed();
    let options = format!("{options} --save-freq 1u");
    for part in moments(10, 0.5) {
        kill_after(&mut corpus.train("killed", &options), duration.mul_f64(part));
    }
    run(&mut corpus.train("killed", &options));
}

/// The bytes are the same also if a number of epochs ends the training. The training's last
/// pushes are then not part of the saved state.
#[test]
fn a_killed_simulation_goes_on_to_the_same_bytes() {
    for after in ["40u", "6e"] {
        let corpus = Corpus::new(200);
        write_machine(&corpus, 3);
        let options = format!(
            "{TECHNIQUES} {VALIDATION} --simulate-async machine.toml --valid-freq 20u \
             --after {after}"
        );
        train_whole_and_killed(&corpus, &options);
        assert!(corpus.files("killed") == corpus.files("whole"), "{after}");
        let pushes = |output: &str| {
            fs::read_to_string(corpus.path(output).join("model.npz.simulation.csv")).unwrap()
        };
        assert_eq!(pushes("killed"), pushes("whole"), "{after}");
        assert_eq!(corpus.names("killed"), corpus.names("whole"), "no temporary file remains");
        let again = corpus.train("whole", &format!("{options} --workers 2")).output().unwrap();
        let log = lossy_text(&again.stderr);
        assert!(log.contains("--workers has no effect with --simulate-async"), "{log}");
        assert!(corpus.files("killed") == corpus.files("whole"), "{after}: nothing was left to do");
    }
}

/// Returns the cross-entropies of the validation set, in the order of the log.
fn cross_entropies(log: &str) -> Vec<f64> {
    let lines = log.lines().filter_map(|line| line.split_once("ce-mean-words : "));
    lines.map(|(_, rest)| rest.split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn killed_threads_go_on_from_the_last_save() {
    let corpus = Corpus::new(200);
    let options =
        format!("{TECHNIQUES} {VALIDATION} --async-sgd --workers 2 --valid-freq 20u --after 60u");
    train_whole_and_killed(&corpus, &options);
    assert_eq!(corpus.names("killed"), corpus.names("whole"), "no temporary file remains");
    let progress = fs::read_to_string(corpus.path("killed/model.npz.progress.yml")).unwrap();
    let updates = progress.lines().find_map(|line| line.strip_prefix("batches: ")).unwrap();
    // When one worker ends the training, the other one may still finish a push.
    assert!(["60", "61"].contains(&updates), "{progress}");
    let [killed, whole] = ["killed", "whole"].map(|model| -> f64 {
        let mut command = miriam();
        command.args(["nmt", "score", "--quiet", "--summary", "ce-mean-words", "-m"]);
        command.arg(corpus.path(model)).arg("--source").arg(corpus.path("dev.en"));
        let printed = run(command.arg("--target").arg(corpus.path("dev.es")));
        lossy_text(&printed).trim().parse().unwrap()
    });
    assert!((killed / whole - 1.0).abs() < 0.1, "{killed} {whole}");
}

/// Two threads race as two simulated workers do: after 500 updates the validation set has the same
/// cross-entropy within 2 %.
#[test]
fn threads_train_what_the_simulator_trains() {
    let corpus = Corpus::new(2000);
    write_machine(&corpus, 2);
    let last = |output: &str, mode: &str| {
        let options = format!("{mode} {VALIDATION} --valid-freq 500u --after 500u");
        let output = corpus.train(output, &options).output().unwrap();
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        *cross_entropies(&lossy_text(&output.stderr)).last().unwrap()
    };
    let threads = last("threads", "--async-sgd --workers 2");
    let simulated = last("simulated", "--simulate-async machine.toml");
    assert!((threads / simulated - 1.0).abs() < 0.02, "{threads} {simulated}");
}

/// Returns the command of `MIRIAM_MARIAN`, such as `marian` or `python -m pymarian`, with `train`
/// and options for one thread, if the variable is set.
fn marian() -> Option<Command> {
    let Ok(given) = std::env::var("MIRIAM_MARIAN") else {
        report_skip("MIRIAM_MARIAN does not name Marian's command (marian, or python -m pymarian)");
        return None;
    };
    let mut words = given.split_whitespace();
    let mut command = Command::new(words.next().expect("a command"));
    command.args(words).args(["train", "--sync-sgd", "--cpu-threads", "1"]);
    Some(command)
}

/// A training run that Miriam begins, Marian resumes and Miriam resumes again has the costs of a
/// run in Miriam alone.
#[test]
fn marian_resumes_our_training_and_we_resume_marians() {
    let Some(_) = marian() else { return };
    let corpus = Corpus::new(300);
    // Batches are in the order of the corpus: an epoch has ten, and each program trains for whole
    // epochs. There are no layer norms, because Marian's kernels for CPUs compute a wrong gradient
    // for them.
    let options = "--shuffle none --maxi-batch 1 --maxi-batch-sort none --mini-batch 32 \
        --disp-freq 1u --max-length 100 --type s2s --dim-emb 32 --dim-rnn 32 \
        --tied-embeddings --learn-rate 0.003 --optimizer-params 0.9 0.98 1e-9 \
        --clip-norm 1 --seed 1";
    let costs = |log: &str| -> Vec<f64> {
        let costs = log.split(" : Cost ").skip(1);
        costs.map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let by_us = |folder: &str, until: &str| {
        let mut command = crate::common::miriam();
        command.current_dir(corpus.path(".")).args(["nmt", "train", "--workers", "1"]);
        train_in(command, folder, options, until)
    };
    let by_marian = |folder: &str, until: &str| {
        let mut command = marian().unwrap();
        command.current_dir(corpus.path("."));
        train_in(command, folder, options, until)
    };
    for folder in ["whole", "ours"] {
        fs::create_dir(corpus.path(folder)).unwrap();
    }
    let whole = costs(&by_us("whole", "40"));
    assert_eq!(whole.len(), 40);
    // Miriam begins, Marian resumes.
    by_us("ours", "20");
    let rest = costs(&by_marian("ours", "40"));
    assert_near(&rest, &whole[20..]);
    // And back: Miriam resumes what Marian left.
    let last = costs(&by_us("ours", "60"));
    let longer = costs(&by_us("whole", "60"));
    assert_near(&last, &longer);
}

fn train_in(mut command: Command, folder: &str, options: &str, until: &str) -> String {
    command.args(["--model", &format!("{folder}/model.npz"), "-t", "train.en", "train.es"]);
    command.args(["-v", "vocab.en.yml", "vocab.es.yml", "--after-batches", until]);
    let output = command.args(options.split_whitespace()).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success(), "{log}");
    log
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found:?} {expected:?}");
    }
}
