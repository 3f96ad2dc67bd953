//! `miriam nmt train`: from text to a model that translates, and the same bytes with any number of
//! workers and after any interruption.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{
    lossy_text, miriam, project_root, report_skip, run, run_to_error, run_with_input, terminate,
};

/// Options for a tiny model with dropout and a moving average, whose updates have several
/// micro-batches.
const OPTIONS: &str = "--vocab-size 200 --dim-emb 16 --transformer-heads 2 \
    --transformer-dim-ffn 32 --transformer-ffn-activation relu --transformer-dropout 0.1 \
    --tied-embeddings-all --mini-batch-words 400 --count-target-words --granule-words 64 \
    --learn-rate 0.01 --lr-warmup 20 --lr-decay-inv-sqrt 20 --optimizer-params 0.9 0.98 1e-9 \
    --label-smoothing 0.1 --exponential-smoothing 0.1 --overwrite --disp-freq 10u";

/// A folder with the beginning of the toy corpus.
pub struct Corpus(TempDir);

impl Corpus {
    pub fn new(lines: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for side in ["en", "es"] {
            let toy = |name: &str| {
                let path = project_root().join(format!("examples/toy/{name}.{side}"));
                fs::read_to_string(path).unwrap()
            };
            let head = |text: String, count| text.split_inclusive('\n').take(count).collect();
            let write = |name: &str, text: String| {
                fs::write(folder.path().join(format!("{name}.{side}")), text).unwrap();
            };
            write("train", head(toy("train"), lines));
            write("dev", head(toy("dev"), 12));
        }
        Corpus(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a command that trains into `output`; `options` override the options of all tests.
    pub fn train(&self, output: &str, options: &str) -> Command {
        let mut command = miriam();
        command.current_dir(self.0.path()).args(["nmt", "train", "-o", output]);
        command.args("--source train.en --target train.es".split(' '));
        let given: Vec<&str> = options.split_whitespace().collect();
        let mut is_given = false;
        for word in OPTIONS.split_whitespace() {
            is_given = if word.starts_with("--") { given.contains(&word) } else { is_given };
            if !is_given {
                command.arg(word);
            }
        }
        command.args(given);
        command
    }

    /// Returns the bytes of those files of a training run that depend on the updates alone.
    pub fn files(&self, output: &str) -> [Vec<u8>; 3] {
        ["model.npz", "model.npz.optimizer.npz", "model.npz.progress.yml"]
            .map(|name| fs::read(self.path(output).join(name)).expect("the file is there"))
    }

    pub fn names(&self, output: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(output)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| lossy_text(entry.unwrap().file_name().as_encoded_bytes()))
            .collect();
        names.sort();
        names
    }
}

/// Runs a command and kills it with SIGKILL after a time, if it has not ended before.
pub fn kill_after(command: &mut Command, time: Duration) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns `count` pseudo-random numbers from 0 to `most`, always the same.
pub fn moments(count: usize, most: f64) -> impl Iterator<Item = f64> {
    let mut random = 0x2545_f491_u32;
    std::iter::repeat_with(move || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        most * f64::from(random >> 8) / f64::from(1 << 24)
    })
    .take(count)
}

const VALIDATION: &str = "--dev-source dev.en --dev-target dev.es --beam-size 2 --normalize \
    --valid-metrics ce-mean-words bleu --keep-best";

#[test]
fn one_command_goes_from_text_to_a_model_that_translates() {
    let corpus = Corpus::new(200);
    let options = "--vocab-size 300 --dim-emb 32 --exponential-smoothing 0 --label-smoothing 0 \
                   --disp-first 1 --after 200u --valid-freq 100u";
    let output = corpus.train("model", &format!("{options} {VALIDATION}")).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert!(lossy_text(&output.stdout).contains("miriam nmt translate -m model"));
    let costs: Vec<f64> = log
        .split(" Cost ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().parse().unwrap())
        .collect();
    // The model knows nothing at first, so the cost is about ln 300 a token.
    assert!((5.0..7.0).contains(&costs[0]), "{log}");
    assert!(*costs.last().unwrap() < 0.5 * costs[0], "{log}");
    let valid = log.matches("[valid]").count();
    assert_eq!(valid, 4, "{log}");
    let translations = fs::read_to_string(corpus.path("model/valid.translation")).unwrap();
    assert_eq!(translations.lines().count(), 12);
    let expected = [
        "decoder.yml",
        "model.npz",
        "model.npz.best-bleu.npz",
        "model.npz.best-ce-mean-words.npz",
        "model.npz.optimizer.npz",
        "model.npz.progress.yml",
        "model.npz.yml",
        "valid.translation",
        "vocab.spm",
    ];
    assert_eq!(corpus.names("model"), expected);
    // The folder can be moved; its best model gives the translations of validation.
    let moved = corpus.path("moved");
    fs::rename(corpus.path("model"), &moved).unwrap();
    let dev = fs::read(corpus.path("dev.en")).unwrap();
    let mut translate = miriam();
    translate.args(["nmt", "translate", "--quiet", "-m"]).arg(&moved);
    let translated = lossy_text(&run_with_input(&mut translate, &dev).stdout);
    assert_eq!(translated.lines().count(), 12);
    if log.rsplit("[valid]").next().unwrap().contains("new best") {
        assert_eq!(translated, translations);
    }
}

#[test]
fn any_number_of_workers_gives_the_same_bytes() {
    let corpus = Corpus::new(200);
    for workers in ["1", "2", "3", "4", "8"] {
        run(corpus.train(workers, "--after 50u --optimizer-delay 2 --workers").arg(workers));
    }
    let alone = corpus.files("1");
    assert!(["2", "3", "4", "8"].iter().all(|workers| corpus.files(workers) == alone));
    // Another seed is another training run, so equality is not an accident.
    run(&mut corpus.train("other", "--after 50u --optimizer-delay 2 --seed 2"));
    assert!(corpus.files("other")[0] != alone[0]);
}

#[test]
fn a_training_goes_on_where_a_limit_is_raised() {
    let corpus = Corpus::new(200);
    // A validation that stalls would halve the learning rate. A shorter training run also validates
    // at its end, which must not change the later updates.
    let options = format!("{VALIDATION} --valid-freq 15u --lr-decay 0.5 --lr-decay-start 10 1");
    let train = |output: &str, more: &str| {
        let output = corpus.train(output, &format!("{options} {more}")).output().unwrap();
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        lossy_text(&output.stdout) + &lossy_text(&output.stderr)
    };
    train("whole", "--after 45u");
    assert!(train("parts", "--after 7u").contains("Training finished"));
    let short = corpus.files("parts");
    assert!(train("parts", "--after 7u").contains("Trained before"));
    assert!(corpus.files("parts") == short);
    // Epochs end in between; workers, display and saving may change.
    assert!(train("parts", "--after 2e --workers 2").contains("Resuming after 7 updates"));
    train("parts", "--after 31u --disp-freq 1u --save-freq 4u");
    assert!(corpus.files("parts") != short);
    train("parts", "--after 45u");
    assert!(corpus.files("parts") == corpus.files("whole"));
    for best in ["best-bleu", "best-ce-mean-words"] {
        let file =
            |output: &str| fs::read(corpus.path(output).join(format!("model.npz.{best}.npz")));
        assert!(file("parts").unwrap() == file("whole").unwrap(), "{best}");
    }
    // Curves of a training run that has ended are drawn from the values that were recorded.
    assert!(train("parts", "--after 45u --plot plot").contains("No curves: none were recorded"));
    train("parts", "--after 46u --disp-freq 1u --plot plot");
    let svg = corpus.path("plot/training.svg");
    let drawn = fs::read(&svg).unwrap();
    fs::remove_file(&svg).unwrap();
    assert!(train("parts", "--after 46u --plot plot").contains("Trained before"));
    assert!(fs::read(&svg).unwrap() == drawn);
}

#[test]
fn a_training_that_stopped_early_goes_on_if_it_is_allowed_more_stalls() {
    let corpus = Corpus::new(60);
    // Cross-entropy of a model that does not change never improves.
    let options = "--learn-rate 0 --exponential-smoothing 0 --valid-freq 1e --after 9e \
                   --dev-source dev.en --dev-target dev.es --valid-metrics ce-mean-words \
                   --early-stopping";
    let train = |more: &str| {
        let output = corpus.train("model", &format!("{options} {more}")).output().unwrap();
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        let log = lossy_text(&output.stderr);
        (lossy_text(&output.stdout), log.matches("[valid]").count(), log.matches("Seen").count())
    };
    let (first, validations, epochs) = train("2");
    assert!(first.contains("until validation did not improve"), "{first}");
    assert_eq!((validations, epochs), (3, 3));
    assert!(train("2").0.contains("Trained before"));
    let (longer, validations, epochs) = train("4");
    assert!(longer.contains("until validation did not improve"), "{longer}");
    assert_eq!((validations, epochs), (2, 2));
}

#[test]
fn a_killed_training_goes_on_to_the_same_bytes() {
    let corpus = Corpus::new(200);
    let options = format!("{VALIDATION} --after 60u --valid-freq 20u");
    let began = Instant::now();
    run(&mut corpus.train("whole", &format!("{options} --workers 1")));
    let duration = began.elapsed();
    let options = format!("{options} --save-freq 1u --workers 2");
    // The kills come while a run reads, updates or saves. Each run saves several times, so that all
    // runs together come to the end.
    for part in moments(20, 0.5) {
        kill_after(&mut corpus.train("killed", &options), duration.mul_f64(part));
        // The files that the configuration names exist.
        let configuration = fs::read_to_string(corpus.path("killed/decoder.yml"));
        for line in configuration.unwrap_or_default().lines() {
            if let Some(name) = line.strip_prefix("  - ") {
                assert!(corpus.path("killed").join(name).is_file(), "{name}");
            }
        }
    }
    run(&mut corpus.train("killed", &options));
    assert!(corpus.files("killed") == corpus.files("whole"));
    assert_eq!(corpus.names("killed"), corpus.names("whole"), "no temporary file remains");
}

#[test]
fn a_second_training_of_a_model_at_once_is_rejected() {
    let corpus = Corpus::new(200);
    let options = "--save-freq 5u --after";
    let log = corpus.path("log");
    let mut first = corpus.train("model", &format!("{options} 1000000u"));
    let mut first = first.stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(&log).unwrap().contains("Saved") {
        assert!(Instant::now() < until && first.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = run_to_error(&mut corpus.train("model", &format!("{options} 7u")));
    assert!(error.contains("model/model.npz: another training run is writing to it"), "{error}");
    assert!(error.contains("another folder"), "{error}");
    // A training run in another folder is possible. In this folder it is possible once the first
    // run was killed, though the lock file is left.
    run(&mut corpus.train("other", "--after 2u"));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(corpus.names("model").iter().any(|name| name == ".model.npz.lock"));
    let output = corpus.train("model", &format!("{options} 7u")).output().unwrap();
    assert!(output.status.success(), "{}", lossy_text(&output.stderr));
    assert!(!corpus.names("model").iter().any(|name| name.ends_with(".lock")));
}

/// The log is also kept in a file, to which a resumed training run appends.
#[test]
fn a_file_keeps_the_log() {
    let corpus = Corpus::new(200);
    let train = |updates: &str| {
        let options = format!("--disp-freq 5u --log train.log --after {updates}");
        let output = corpus.train("model", &options).output().unwrap();
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
    };
    let costs = || {
        let log = fs::read_to_string(corpus.path("train.log")).unwrap();
        // With the time, as in Marian: `[2026-11-29 15:30:46] Ep. 1`.
        assert!(log.lines().all(|line| line.starts_with("[20") && line[20..].starts_with(']')));
        log.lines().filter(|line| line[21..].starts_with(" Ep. ")).count()
    };
    train("10u");
    assert_eq!(costs(), 2);
    train("20u");
    assert_eq!(costs(), 4);
}

#[test]
fn the_last_validation_leaves_the_best_models_alone() {
    let corpus = Corpus::new(200);
    let options = format!("{VALIDATION} --valid-freq 20u --after");
    let train = |output: &str, updates: &str| {
        let output = corpus.train(output, &format!("{options} {updates}")).output().unwrap();
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        lossy_text(&output.stderr)
    };
    let best = |output: &str| {
        let path = corpus.path(output).join("model.npz.best-ce-mean-words.npz");
        fs::read(path).unwrap()
    };
    let decoder =
        |output: &str| fs::read_to_string(corpus.path(output).join("decoder.yml")).unwrap();
    train("whole", "20u");
    let log = train("model", "35u");
    // This validation is out of turn. If its model is better, or as good and trained longer, the
    // log says so, and decoder.yml names the model.
    assert!(log.contains("Up. 35 : ce-mean-words") && log.contains("new best"), "{log}");
    assert!(best("model") == best("whole"));
    let bleu = log.lines().find_map(|line| line.split_once("Up. 35 : bleu : "));
    let (value, remark) = bleu.and_then(|(_, found)| found.split_once(" : ")).unwrap();
    let is_kept = remark == "new best" || remark.ends_with(&format!("(last best: {value})"));
    let named = if is_kept { "  - model.npz\n" } else { "  - model.npz.best-bleu.npz\n" };
    assert!(decoder("model").contains(named), "{}", decoder("model"));
    train("model", "60u");
    train("whole", "60u");
    assert!(corpus.files("model") == corpus.files("whole"));
    assert!(best("model") == best("whole") && decoder("model") == decoder("whole"));
    // A run without a validation text has no best model.
    let options = "--valid-metrics ce-mean-words bleu --keep-best --after 80u";
    let log = lossy_text(&corpus.train("model", options).output().unwrap().stderr);
    assert!(log.contains("No validation text: decoder.yml names the last model"), "{log}");
    assert!(decoder("model").contains("  - model.npz\n"), "{}", decoder("model"));
}

#[test]
fn memory_is_counted_before_training() {
    let corpus = Corpus::new(60);
    let count = |options: &str| {
        let text = lossy_text(&run(&mut corpus.train("model", &format!("--dry-run {options}"))));
        let total = text.lines().find(|line| line.starts_with("total")).expect("a total");
        total.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert!(count("--workers 2") > count("--workers 1"));
    assert_eq!(corpus.names("model"), ["vocab.spm"]);
}

#[test]
fn a_signal_ends_a_training_after_an_update_and_saves_it() {
    let corpus = Corpus::new(200);
    let options = "--save-freq 10u --after";
    let mut command = corpus.train("stopped", &format!("{options} 1000000u"));
    let log = corpus.path("log");
    let mut child = command.stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let read = || fs::read_to_string(&log).unwrap();
    while !read().contains("Saved") {
        assert!(Instant::now() < until && child.try_wait().unwrap().is_none(), "{}", read());
        std::thread::sleep(Duration::from_millis(5));
    }
    terminate(child.id());
    assert_eq!(child.wait().unwrap().signal(), Some(15), "{}", read());
    assert!(read().contains("the same command resumes"), "{}", read());
    run(miriam().args(["nmt", "info"]).arg(corpus.path("stopped/model.npz")));
    let progress = fs::read_to_string(corpus.path("stopped/model.npz.progress.yml")).unwrap();
    let updates = progress.split("batches: ").nth(1).unwrap().lines().next().unwrap();
    let updates: u64 = updates.parse().unwrap();
    let options = format!("{options} {}u", updates + 10);
    run(&mut corpus.train("stopped", &options));
    run(&mut corpus.train("whole", &options));
    assert!(corpus.files("stopped") == corpus.files("whole"));
}

/// A training run says at once when its next log line comes and when training ends.
#[test]
fn the_first_line_says_when_the_next_one_comes() {
    let corpus = Corpus::new(20);
    for (name, period, expected) in [
        ("every", "2u", "A log line every 2u (--disp-freq); training ends after 3u"),
        ("none", "0u", "No regular log lines (--disp-freq 0); training ends after 3u"),
    ] {
        let options = format!("--after 3u --disp-freq {period}");
        let output = corpus.train(name, &options).output().unwrap();
        let log = lossy_text(&output.stderr);
        assert!(output.status.success() && log.contains(expected), "{log}");
    }
}

#[test]
fn later_configurations_override_earlier_ones() {
    let corpus = Corpus::new(20);
    fs::create_dir(corpus.path("runs")).unwrap();
    let write = |name: &str, text: &str| fs::write(corpus.path(name), text).unwrap();
    // The log shows the number of updates. The preset and the first configuration keep the best
    // model, the second does not.
    write("first.yml", "after: 2u\nkeep-best: yes\nskip: false\n");
    write(
        "runs/second.yml",
        "relative-paths: true\nafter: 3u\nkeep-best: false\ncpu-threads: 0\n\
         valid-sets: [../dev.en, ../dev.es]\nvalid-translation-output: out.txt\n\
         optimizer-params: [0.9, 0.98, 1e-9]\nvalid-metrics: [chrf]\n",
    );
    let options = "--task toy --vocab-size 100 -c first.yml runs/second.yml";
    let output = corpus.train("model", options).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert!(log.contains("Up. 3 : chrf") && !log.contains("Up. 2 : chrf"), "{log}");
    assert!(corpus.path("runs/out.txt").is_file(), "relative to its configuration");
    // Saved paths are absolute, so that they hold in every folder.
    let saved = fs::read_to_string(corpus.path("model/model.npz.yml")).unwrap();
    let dev = saved.lines().find(|line| line.ends_with("runs/../dev.en")).expect(&saved);
    assert!(dev.trim_start_matches([' ', '-']).starts_with('/'), "{dev}");
    assert!(!corpus.names("model").iter().any(|name| name.contains("best")), "off is a value");
}

#[test]
fn a_full_disk_leaves_the_saved_training_unchanged() {
    let corpus = Corpus::new(60);
    run(&mut corpus.train("model", "--after 3u"));
    let (files, names) = (corpus.files("model"), corpus.names("model"));
    // A limit on file sizes simulates a full disk; the optimiser's file is larger than this limit.
    let command = corpus.train("model", "--after 6u");
    let arguments: Vec<String> =
        command.get_args().map(|a| lossy_text(a.as_encoded_bytes())).collect();
    let script = format!(
        "trap '' XFSZ; ulimit -f 20; exec '{}' {}",
        env!("CARGO_BIN_EXE_miriam"),
        arguments.join(" ")
    );
    let mut limited = Command::new("bash");
    limited.args(["-c", &script]).current_dir(corpus.0.path());
    let error = run_to_error(&mut limited);
    assert!(error.contains("model.npz.optimizer.npz") && error.contains("too large"), "{error}");
    assert!(corpus.files("model") == files);
    assert_eq!(corpus.names("model"), names, "no temporary file remains");
    run(&mut corpus.train("model", "--after 6u"));
    run(&mut corpus.train("whole", "--after 6u"));
    assert!(corpus.files("model") == corpus.files("whole"));
    if !Path::new("/dev/full").exists() {
        report_skip("there is no /dev/full");
        return;
    }
    let options = format!("{VALIDATION} --after 2u --valid-translation-output /dev/full");
    let error = run_to_error(&mut corpus.train("other", &options));
    assert!(error.contains("/dev/full"), "{error}");
}
