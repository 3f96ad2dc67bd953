//! `miriam train --neural` end to end: a phrase-based system and neural models of both directions
//! in one folder, killed and resumed, with changed options, and with back-translated text.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run_to_error, run_to_usage_error,
    run_with_input, terminate,
};
use crate::nmt_train::kill_after;

/// The configuration of a model that trains in a second, and learns nothing.
const CONFIG: &str = "type: transformer\ndim-emb: 16\nenc-depth: 1\ndec-depth: 1\n\
                      transformer-heads: 2\ntransformer-dim-ffn: 16\ntied-embeddings-all: true\n\
                      mini-batch: 50\nmaxi-batch: 4\nlearn-rate: 0.01\nvalid-freq: 4u\n\
                      save-freq: 4u\nvalid-metrics: [ce-mean-words]\nbeam-size: 1\nnormalize: 1\n\
                      overwrite: true\n\
                      max-length-factor: 1\nmax-length: 100\n";

/// Parts of the toy text, and a folder for a model.
struct Corpus(tempfile::TempDir);

impl Corpus {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (from, name, lines) in [
            ("train.en", "train.en", 400),
            ("train.es", "train.es", 400),
            ("dev.en", "dev.en", 20),
            ("dev.es", "dev.es", 20),
            ("test.es", "mono.es", 30),
        ] {
            let text = read_decompressed(&project_root().join("examples/toy").join(from));
            let part: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').take(lines).collect();
            fs::write(folder.path().join(name), part.concat()).unwrap();
        }
        let corpus = Corpus(folder);
        corpus.configure("after: 8u\n");
        corpus
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Sets further options of the trainings.
    fn configure(&self, more: &str) {
        fs::write(self.at("config.yml"), format!("{CONFIG}{more}")).unwrap();
    }

    fn train(&self, model: &str, options: &[&str]) -> Command {
        let mut command = miriam();
        command.arg("train").arg("--source").arg(self.at("train.en"));
        command.arg("--target").arg(self.at("train.es"));
        command.arg("--dev-source").arg(self.at("dev.en"));
        command.arg("--dev-target").arg(self.at("dev.es"));
        command.args(["--lm-order", "2", "--iterations", "2", "--neural", "--vocab-size", "120"]);
        command.args(["--neural-config"]).arg(self.at("config.yml"));
        command.arg("-o").arg(self.at(model)).args(options);
        command
    }

    /// Trains to the end. Returns the log.
    fn finish(&self, model: &str, options: &[&str]) -> String {
        lossy_text(&run_with_input(&mut self.train(model, options), b"").stderr)
    }

    fn read(&self, model: &str, file: &str) -> Vec<u8> {
        fs::read(self.at(model).join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }
}

/// Returns the titles of the stages that ran and that train neural models.
fn trainings(log: &str) -> Vec<&str> {
    let titles = log.lines().filter_map(|line| line.split_once(" of ")?.1.split_once(": "));
    titles.map(|(_, title)| title).filter(|title| title.starts_with("training the")).collect()
}

/// A run killed at any point is resumed by the same command and gives the files of an uninterrupted
/// run, also on another number of threads.
#[test]
fn a_killed_training_is_resumed() {
    let corpus = Corpus::new();
    corpus.finish("whole", &[]);
    assert!(!corpus.at("whole/train.work").exists());
    assert_eq!(trainings(&corpus.finish("whole", &[])), [""; 0]);
    let mut killed = 0;
    for milliseconds in [200, 500, 900, 1400] {
        let mut command = corpus.train("killed", &["--threads", "1"]);
        kill_after(&mut command, Duration::from_millis(milliseconds));
        killed += usize::from(!corpus.at("killed/moses.ini").exists());
    }
    assert!(killed > 0, "the first run ended within 200 ms");
    corpus.finish("killed", &["--threads", "3"]);
    for file in ["neural/model.npz", "neural-reverse/model.npz", "neural/vocab.spm", "moses.ini"] {
        assert!(corpus.read("whole", file) == corpus.read("killed", file), "{file} differs");
    }
    assert!(
        corpus.read("whole", "neural/model.npz")
            != corpus.read("whole", "neural-reverse/model.npz")
    );
    assert_eq!(
        corpus.read("whole", "neural/vocab.spm"),
        corpus.read("whole", "neural-reverse/vocab.spm")
    );
}

/// A signal ends the training after the current update; the next run continues there.
#[test]
fn a_stopped_training_is_saved() {
    let corpus = Corpus::new();
    corpus.configure("after: 100000u\n");
    let mut command = corpus.train("model", &[]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let saved = corpus.at("model/neural/model.npz");
    while !saved.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    terminate(child.id());
    let output = child.wait_with_output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(log.contains("the same command resumes the training"), "{log}");
    assert_eq!(output.status.signal(), Some(15), "{log}");
    // A changed limit does not start another training run.
    corpus.configure("after: 1u\n");
    let log = corpus.finish("model", &[]);
    assert!(!log.contains("it is replaced"), "{log}");
    assert_eq!(
        trainings(&log),
        ["training the neural model", "training the reverse neural model"],
        "{log}"
    );
}

#[test]
fn other_options_train_anew() {
    let corpus = Corpus::new();
    corpus.finish("model", &[]);
    let first = corpus.read("model", "neural/model.npz");
    corpus.configure("after: 8u\nseed: 2\n");
    // The previous model stays until its replacement is complete, and the system is usable.
    let replacement = corpus.at("model/train.work/neural/model.npz");
    corpus.configure("after: 100000u\nseed: 2\n");
    let mut stopped = corpus.train("model", &[]);
    let mut stopped = stopped.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !replacement.exists() {
        assert!(stopped.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    terminate(stopped.id());
    stopped.wait().unwrap();
    assert!(corpus.read("model", "neural/model.npz") == first);
    let mut translate = miriam();
    translate.args(["translate", "-f"]).arg(corpus.at("model/moses.ini"));
    assert!(!run_with_input(&mut translate, b"a house\n").stdout.is_empty());
    // The next run resumes the replacement.
    corpus.configure("after: 1u\nseed: 2\n");
    let log = corpus.finish("model", &[]);
    assert!(!log.contains("train.work/neural: made from other"), "{log}");
    assert!(
        log.contains("neural-reverse: made from other texts or options; it is replaced"),
        "{log}"
    );
    assert!(corpus.read("model", "neural/model.npz") != first);
    assert!(!corpus.at("model/train.work").exists());
    corpus.configure("after: 8u\nseed: 3\n");
    let log = corpus.finish("model", &[]);
    assert!(log.contains("made from other texts or options; it is replaced"), "{log}");
    corpus.finish("other", &[]);
    for model in ["neural/model.npz", "neural-reverse/model.npz"] {
        assert!(corpus.read("model", model) == corpus.read("other", model), "{model}");
    }
    // A higher limit does not change the updates before it, so the models are trained further.
    corpus.configure("after: 12u\nseed: 3\n");
    let log = corpus.finish("model", &[]);
    assert!(!log.contains("it is replaced"), "{log}");
    assert_eq!(trainings(&log).len(), 2, "{log}");
    // The best model is chosen by a validation text, so another text replaces it.
    fs::copy(corpus.at("mono.es"), corpus.at("dev.es")).unwrap();
    let english = read_decompressed(&project_root().join("examples/toy/test.en"));
    let lines: Vec<_> = english.split_inclusive(|&byte| byte == b'\n').take(30).collect();
    fs::write(corpus.at("dev.en"), lines.concat()).unwrap();
    let log = corpus.finish("model", &[]);
    assert!(log.contains("it is replaced"), "{log}");
    corpus.finish("same", &[]);
    assert!(corpus.read("model", "neural/model.npz") == corpus.read("same", "neural/model.npz"));
}

/// The text is translated back with a tag, and the forward model is trained further with it.
#[test]
fn back_translated_text_is_added() {
    let corpus = Corpus::new();
    corpus.configure("after: 30u\n");
    let mono = corpus.at("mono.es");
    // A hardly trained model writes words that are too long or too many, hence `--max-ratio`.
    let options = ["--max-ratio", "200", "--back-translate", mono.to_str().unwrap(), "--keep-work"];
    let log = corpus.finish("model", &options);
    assert!(log.contains("1 times the 400 pairs of the parallel text"), "{log}");
    let text = |name: &str| lossy_text(&corpus.read("model/train.work", name));
    let [source, target] = ["augmented.source", "augmented.target"].map(text);
    assert_eq!(source.lines().count(), target.lines().count());
    let added: Vec<_> =
        source.lines().zip(target.lines()).filter(|(line, _)| line.starts_with("<BT> ")).collect();
    assert_eq!(source.lines().count(), 400 + added.len());
    assert!(!added.is_empty(), "{log}");
    let mono = fs::read_to_string(&mono).unwrap();
    assert!(added.iter().all(|(_, target)| mono.lines().any(|line| line == *target)));
    assert!(
        corpus.read("model", "neural-augmented/model.npz")
            != corpus.read("model", "neural/model.npz")
    );
    // Without back-translated text, only the combination changes.
    assert_eq!(trainings(&corpus.finish("model", &["--max-ratio", "200"])), [""; 0]);
}

/// The ini of the folder translates with all models. Without `--neural`, the folder has the ini of
/// the phrase-based system again.
#[test]
fn the_ini_combines_all_models() {
    let corpus = Corpus::new();
    let mut command = corpus.train("model", &["--keep-work"]);
    let summary = lossy_text(&run_with_input(&mut command, b"").stdout);
    assert!(summary.contains("by the neural model; "), "{summary}");
    let translate = |ini: &str, options: &[&str]| -> String {
        let mut command = miriam();
        command.args(["translate", "-f"]).arg(corpus.at("model").join(ini)).args(options);
        let text = fs::read(corpus.at("dev.en")).unwrap();
        lossy_text(&run_with_input(&mut command, &text).stdout)
    };
    let list = corpus.at("list");
    let listed = translate("moses.ini", &["-n-best-list", list.to_str().unwrap(), "5", "distinct"]);
    assert_eq!(listed, translate("moses.ini", &[]));
    let list = fs::read_to_string(&list).unwrap();
    assert!(list.lines().all(|line| line.contains(" Neural0= -") && line.contains(" Reverse0= -")));
    // The lists for tuning the weights have the same 100 entries that a translation scores. The
    // option -n-best-list prints one entry more than its size, so the size 99 prints all 100.
    let entries = |list: &str| -> BTreeSet<(String, String)> {
        let fields = list.lines().map(|line| line.split_once(" ||| ").unwrap());
        fields
            .map(|(number, rest)| (number.into(), rest.split(" ||| ").next().unwrap().into()))
            .collect()
    };
    let path = corpus.at("long");
    translate("moses.ini", &["-n-best-list", path.to_str().unwrap(), "99", "distinct"]);
    let scored = entries(&fs::read_to_string(&path).unwrap());
    let tuned = entries(&lossy_text(&corpus.read("model/train.work", "dev.list")));
    let of_first = tuned.iter().filter(|(number, _)| number == "0").count();
    assert_eq!(of_first, 100);
    assert!(tuned == scored);
    // Translations of the neural model enter the list, marked by a feature that is tuned.
    let log = corpus.finish("model", &["--neural-candidates", "3", "--keep-work"]);
    assert_eq!(trainings(&log), [""; 0]);
    let ini = lossy_text(&corpus.read("model", "moses.ini"));
    assert!(
        ini.contains("path=${INI}/neural candidates=3\n") && ini.contains("\nNeural0Candidate= ")
    );
    // Tuning begins with weights that were found without these translations.
    let search = lossy_text(&corpus.read("model/train.work", "dev.search.list"));
    assert!(search.contains("Neural0Candidate= 0") && !search.contains("Neural0Candidate= 1"));
    translate("moses.ini", &["-n-best-list", path.to_str().unwrap(), "102", "distinct"]);
    let list = fs::read_to_string(&path).unwrap();
    assert!(list.contains("Neural0Candidate= 1") && list.contains("Neural0Candidate= 0"));
    let too_many = run_to_error(&mut corpus.train("model", &["--neural-candidates", "1001"]));
    assert!(too_many.contains("from 0 to 1000"), "{too_many}");
    let phrases = translate("moses.phrase.ini", &[]);
    let log = corpus.finish("model", &["--method", "none"]);
    assert!(log.contains("tuning the combination"), "{log}");
    // The weights of the combination are tuned with the seed that is given.
    let log = corpus.finish("model", &["--method", "none", "--seed", "7"]);
    assert!(log.contains("--seed was 1, now it is 7"), "{log}");
    assert!(log.contains("tuning the combination"), "{log}");
    assert!(!log.contains("--seed has no effect"), "{log}");
    let mut alone = miriam();
    alone.args(["train", "--lm-order", "2", "--iterations", "2", "-o"]).arg(corpus.at("model"));
    for (option, name) in [
        ("--source", "train.en"),
        ("--target", "train.es"),
        ("--dev-source", "dev.en"),
        ("--dev-target", "dev.es"),
    ] {
        alone.arg(option).arg(corpus.at(name));
    }
    run_with_input(&mut alone, b"");
    assert_eq!(translate("moses.ini", &[]), phrases);
    assert!(!lossy_text(&corpus.read("model", "moses.ini")).contains("[rescore]"));
}

#[test]
fn options_that_do_not_fit_are_rejected() {
    let corpus = Corpus::new();
    for name in ["vocabs: [a, b]\n", "train-sets: [a, b]\n", "pretrained-model: a\n"] {
        corpus.configure(name);
        let message = run_to_error(&mut corpus.train("model", &[]));
        assert!(message.contains("sets its texts, files and sizes itself; remove"), "{message}");
    }
    for (options, reason) in [
        ("no-such-option: 1\n", "no-such-option"),
        ("tsv: true\n", "remove tsv"),
        ("label-smoothing: much\n", "label-smoothing"),
    ] {
        corpus.configure(options);
        let message = run_to_error(&mut corpus.train("model", &[]));
        assert!(message.contains(reason), "{message}");
    }
    fs::write(corpus.at("config.yml"), "type: lm\n").unwrap();
    let message = run_to_error(&mut corpus.train("model", &[]));
    assert!(message.contains("type: lm is a language model"), "{message}");
    assert!(!corpus.at("model").exists());
    corpus.configure("after: 8u\n");
    let mut without_dev = miriam();
    without_dev.args(["train", "--source", "a", "--target", "b", "-o", "c", "--neural"]);
    assert!(run_to_usage_error(&mut without_dev).contains("--dev-source"));
    // A neural model from elsewhere is not replaced.
    fs::create_dir_all(corpus.at("model/neural")).unwrap();
    fs::write(corpus.at("model/neural/model.npz"), "theirs").unwrap();
    let message = run_to_error(&mut corpus.train("model", &[]));
    assert!(message.contains("neural: not written by this training run"), "{message}");
    assert_eq!(corpus.read("model", "neural/model.npz"), b"theirs");
}
