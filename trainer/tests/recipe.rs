//! From files to a model: what is given of pairs beside their tokens, and how it is given.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_metrics::{Bleu, corpus_score, corpus_statistics};
use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::translate::{
    SourceText, Tokenizer, TokenizerScratch, TranslationOptions, Translator,
};
use miriam_storage::hash::hash64;
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};
use miriam_trainer::options::RawOptions;
use miriam_trainer::recipe::Request;
use miriam_trainer::training::Outcome;

const SOURCE: &str = "a b c\nb c\n\nc a b a\na\nb b c a\nc c\na b\n";
const TARGET: &str = "x y z\ny z\nx\nz x\nx\ny y z\nz\nx y\n";
const LINKS: &str = "0-0 1-1 2-2\n0-0 1-1\n\n0-0 1-1 3-1\n0-0\n0-0 1-1 2-2\n0-0 1-0\n0-0 1-1\n";

/// A folder with files of a training.
struct Workplace {
    folder: PathBuf,
    /// Removes the folder at the end.
    _temporary: Option<tempfile::TempDir>,
}

impl Workplace {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().to_owned();
        let place = Workplace { folder, _temporary: Some(temporary) };
        for (name, text) in [("source", SOURCE), ("target", TARGET), ("links", LINKS)] {
            place.write(name, text);
        }
        // Vocabularies are made from text by the first training.
        place.train("vocabularies", &[]).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.text(name)
    }

    /// Options of a tiny model, with `more` above them.
    fn options(&self, model: &str, more: &[(&str, &[&str])]) -> Result<RawOptions, String> {
        let mut options = RawOptions::default();
        let files = ["source", "target", "source.yml", "target.yml"].map(|name| self.text(name));
        let path = self.text(&format!("{model}.npz"));
        let given: [(&str, &[&str]); 14] = [
            ("train-sets", &[&files[0], &files[1]]),
            ("vocabs", &[&files[2], &files[3]]),
            ("model", &[&path]),
            ("dim-emb", &["8"]),
            ("transformer-heads", &["2"]),
            ("transformer-dim-ffn", &["8"]),
            ("enc-depth", &["1"]),
            ("dec-depth", &["1"]),
            ("mini-batch", &["3"]),
            ("after-batches", &["4"]),
            ("disp-freq", &["4"]),
            ("learn-rate", &["0.01"]),
            ("workers", &["1"]),
            ("overwrite", &["true"]),
        ];
        for (name, values) in given.iter().chain(more) {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            options.set(name, values).map_err(|e| e.to_string())?;
        }
        Ok(options)
    }

    fn request(&self, model: &str, more: &[(&str, &[&str])]) -> Result<Request, String> {
        let options = self.options(model, more)?;
        Ok(Request { options, folder: None, vocab_size: Some(20), plot: None })
    }

    /// Trains `model` with options beside those of a tiny model. Gives a hash of the model
    /// and the last line of the log with a cost.
    fn train(&self, model: &str, more: &[(&str, &[&str])]) -> Result<(u64, String), String> {
        let (_, log) = run_request(&self.request(model, more)?)?;
        let mut costs = log.iter().filter_map(|line| line.split_once("Cost "));
        let cost = costs.next_back().map_or("", |(_, after)| after.split(" @").next().unwrap());
        Ok((hash(&self.path(&format!("{model}.npz"))), cost.to_owned()))
    }

    /// Trains, and gives why it ended and the log.
    fn log(&self, model: &str, more: &[(&str, &[&str])]) -> Result<(Outcome, Vec<String>), String> {
        run_request(&self.request(model, more)?)
    }
}

fn run_request(request: &Request) -> Result<(Outcome, Vec<String>), String> {
    let mut lines = Vec::new();
    let mut log = |line: &str| lines.push(line.to_owned());
    let stop = CancellationToken::new();
    let summary = request.run(&stop, &NoProgress, &mut log, &mut |_| {});
    summary.map(|summary| summary.outcome).map_err(|e| e.to_string()).map(|o| (o, lines))
}

fn hash(path: &Path) -> u64 {
    hash64(&std::fs::read(path).unwrap())
}

/// The sum of losses and what it was divided by.
fn cost_and_count(line: &str) -> (f64, f64) {
    let (cost, count) = line.split_once(" * ").unwrap();
    (cost.parse().unwrap(), count.replace(',', "").parse().unwrap())
}

#[test]
fn attention_is_trained_towards_alignments() {
    let place = Workplace::new();
    let links = place.text("links");
    let epoch: [(&str, &[&str]); 2] = [("after-batches", &["3"]), ("disp-freq", &["3"])];
    let (plain, plain_cost) = place.train("plain", &epoch).unwrap();
    let guided = |name: &str, weight: &str| {
        let options: [(&str, &[&str]); 4] = [
            ("guided-alignment", &[&links]),
            ("guided-alignment-weight", &[weight]),
            epoch[0],
            epoch[1],
        ];
        place.train(name, &options).unwrap()
    };
    let (aligned, aligned_cost) = guided("aligned", "2");
    assert_ne!(plain, aligned);
    // Links count beside tokens, by their weight: 16, and one of </s> in each of seven pairs.
    let (_, tokens) = cost_and_count(&plain_cost);
    let (_, both) = cost_and_count(&aligned_cost);
    assert_eq!(both, tokens + 2.0 * 23.0, "{plain_cost} {aligned_cost}");
    let (zero, zero_cost) = guided("zero", "0");
    assert_eq!((zero, zero_cost), (plain, plain_cost));
}

#[test]
fn alignments_that_do_not_fit_are_named() {
    let place = Workplace::new();
    let links = place.write("wrong", &LINKS.replacen("0-0 1-1\n", "0-0 2-1\n", 1));
    let error = place.train("wrong", &[("guided-alignment", &[&links])]).unwrap_err();
    assert!(error.contains("wrong, line 2, field 2") && error.contains("pieces"), "{error}");
    let links = place.write("short", "0-0\n");
    let error = place.train("wrong", &[("guided-alignment", &[&links])]).unwrap_err();
    assert!(error.contains("short: it has 1 lines"), "{error}");
}

#[test]
fn losses_are_weighted() {
    let place = Workplace::new();
    let weighted = |name: &str, scope: &str, weights: &str| {
        let file = place.write(&format!("{name}.weights"), weights);
        place.train(name, &[("data-weighting", &[&file]), ("data-weighting-type", &[scope])])
    };
    let (plain, plain_cost) = place.train("plain", &[]).unwrap();
    let of_words = |weight: &str| -> String {
        let line = |line: &str| {
            let count = line.split_whitespace().count() + 1;
            vec![weight; count].join(" ") + "\n"
        };
        TARGET.lines().map(line).collect()
    };
    assert_eq!(weighted("one", "sentence", &"1\n".repeat(8)).unwrap().0, plain);
    assert_eq!(weighted("ones", "word", &of_words("1")).unwrap().0, plain);
    let (half, half_cost) = weighted("half", "sentence", &"0.5\n".repeat(8)).unwrap();
    assert_eq!(weighted("halves", "word", &of_words("0.5")).unwrap(), (half, half_cost.clone()));
    // Adam's steps hardly depend on the scale, so the loss is about a half of it.
    let ([all, half], [tokens, same]) = {
        let (all, half) = (cost_and_count(&plain_cost), cost_and_count(&half_cost));
        ([all.0, half.0], [all.1, half.1])
    };
    assert!((half / all - 0.5).abs() < 0.01 && tokens == same, "{plain_cost} {half_cost}");
    let error = weighted("few", "word", &"1 1\n".repeat(8)).unwrap_err();
    assert!(error.contains("few.weights, line 1") && error.contains("4 are needed"), "{error}");
}

#[test]
fn what_is_given_of_pairs_is_part_of_a_training() {
    let place = Workplace::new();
    let file = place.write("weights", &"0.5\n".repeat(8));
    place.train("model", &[("data-weighting", &[&file])]).unwrap();
    place.write("weights", &"0.25\n".repeat(8));
    let error = place.train("model", &[("data-weighting", &[&file])]).unwrap_err();
    assert!(error.contains("the corpus is another one"), "{error}");
    let links = place.text("links");
    let weight = |weight| {
        let options: [(&str, &[&str]); 2] =
            [("guided-alignment", &[&links]), ("guided-alignment-weight", &[weight])];
        place.train("aligned", &options)
    };
    weight("0.5").unwrap();
    assert!(weight("0.25").unwrap_err().contains("guided-alignment-weight"), "it decides updates");
}

#[test]
fn fields_of_one_file_are_files_of_their_own() {
    let place = Workplace::new();
    let pairs = || SOURCE.lines().zip(TARGET.lines());
    let plain: String = pairs().map(|(source, target)| format!("{source}\t{target}\n")).collect();
    let plain = place.write("plain.tsv", &plain);
    let all: String = (pairs().zip(LINKS.lines()))
        .map(|((source, target), links)| format!("{links}\t{source}\t{target}\t0.5\n"))
        .collect();
    let all = place.write("all.tsv", &all);
    let (links, weights) = (place.text("links"), place.write("weights", &"0.5\n".repeat(8)));
    let tsv = place.train("tsv", &[("train-sets", &[&plain]), ("tsv", &[])]);
    assert_eq!(tsv, place.train("pair", &[]));
    let fields: [(&str, &[&str]); 5] = [
        ("train-sets", &[&all]),
        ("tsv", &["true"]),
        ("tsv-fields", &["4"]),
        ("guided-alignment", &["0"]),
        ("data-weighting", &["3"]),
    ];
    let files: [(&str, &[&str]); 2] =
        [("guided-alignment", &[&links]), ("data-weighting", &[&weights])];
    assert_eq!(place.train("fields", &fields), place.train("files", &files));
    let valid: [(&str, &[&str]); 4] = [
        ("train-sets", &[&plain]),
        ("valid-sets", &[&plain]),
        ("tsv", &["true"]),
        ("valid-metrics", &["ce-sum"]),
    ];
    assert!(place.train("validated", &valid).is_ok());
    std::fs::remove_file(place.path("source.yml")).unwrap();
    let error = place.train("none", &[("train-sets", &[&plain]), ("tsv", &[])]).unwrap_err();
    assert!(error.contains("source.yml") && error.contains("miriam nmt vocab"), "{error}");
}

/// The folder of a process that this test starts to have its standard input.
const CHILD: &str = "MIRIAM_TRAINER_TEST_FOLDER";

#[test]
fn standard_input_is_one_epoch_in_its_order() {
    let lines: String = SOURCE
        .lines()
        .zip(TARGET.lines())
        .map(|(source, target)| format!("{source}\t{target}\n"))
        .collect();
    let tsv = ("tsv", &["true"][..]);
    // More than an epoch is asked for; sentences are not sorted, so their order matters.
    let limit = ("after-batches", &["50"][..]);
    let unsorted = [("maxi-batch", &["1"][..]), ("maxi-batch-sort", &["none"])];
    if let Some(folder) = std::env::var_os(CHILD) {
        let place = Workplace { folder: folder.into(), _temporary: None };
        place
            .train("stdin", &[("train-sets", &["stdin"]), tsv, limit, unsorted[0], unsorted[1]])
            .unwrap();
        return;
    }
    let place = Workplace::new();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "recipe::standard_input_is_one_epoch_in_its_order"])
        .env(CHILD, &place.folder)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let file = place.write("tsv", &lines);
    let epoch: [(&str, &[&str]); 7] = [
        ("train-sets", &[&file]),
        tsv,
        limit,
        unsorted[0],
        unsorted[1],
        ("after-epochs", &["1"]),
        ("shuffle", &["batches"]),
    ];
    let (from_file, _) = place.train("file", &epoch).unwrap();
    assert_eq!(hash(&place.path("stdin.npz")), from_file);
    let (shuffled, _) = place.train("shuffled", &epoch[..6]).unwrap();
    assert_ne!(shuffled, from_file, "the order matters");
}

#[test]
fn recurrent_dropout_is_of_recurrent_models() {
    let place = Workplace::new();
    let dropout = ("dropout-rnn", &["0.2"][..]);
    let recurrent = [("type", &["s2s"][..]), ("dim-rnn", &["6"])];
    let (plain, _) = place.train("plain", &recurrent).unwrap();
    let (dropped, _) = place.train("dropped", &[recurrent[0], recurrent[1], dropout]).unwrap();
    assert_ne!(plain, dropped);
    let error = place.train("transformer", &[dropout]).unwrap_err();
    assert!(error.contains("--dropout-rnn") && error.contains("--transformer-dropout"), "{error}");
    let (plain, _) = place.train("words", &[("dropout-src", &["0"])]).unwrap();
    for side in ["dropout-src", "dropout-trg"] {
        assert_ne!(place.train(side, &[(side, &["0.3"])]).unwrap().0, plain, "{side}");
    }
}

/// The values that validations have logged.
fn validations(log: &[String], metric: &str) -> Vec<f64> {
    let lines = log.iter().filter(|line| line.starts_with("[valid]"));
    let values = lines.filter_map(|line| line.split_once(&format!(" : {metric} : ")));
    values.map(|(_, rest)| rest.split(" : ").next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_model_that_is_there_is_where_training_begins() {
    let place = Workplace::new();
    let (before, _) = place.train("model", &[]).unwrap();
    std::fs::remove_file(place.path("model.npz.optimizer.npz")).unwrap();
    let still = [("learn-rate", &["0"][..])];
    let (after, _) = place.train("model", &still).unwrap();
    assert_eq!(after, before, "an update at rate 0 changes nothing");
    // It is not replaced by one of other options.
    std::fs::remove_file(place.path("model.npz.optimizer.npz")).unwrap();
    let error = place.train("model", &[("dim-emb", &["16"])]).unwrap_err();
    assert!(error.contains("model.npz: ") && error.contains("its options"), "{error}");
    assert_eq!(hash(&place.path("model.npz")), before);
}

#[test]
fn a_training_that_goes_on_needs_no_pretrained_model() {
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

#[test]
fn what_differs_is_named_as_it_is_given() {
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
    // Epochs of three updates; the second number would be of stalls.
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
fn a_model_is_validated_once() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let options: [(&str, &[&str]); 5] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["perplexity"]),
        ("valid-freq", &["1e"]),
        ("after-batches", &["0"]),
        ("after", &["2e"]),
    ];
    let (_, log) = place.log("model", &options).unwrap();
    assert_eq!(validations(&log, "perplexity").len(), 2, "{log:?}");
    assert!(!log.iter().any(|line| line.contains("stalled")), "{log:?}");
}

#[test]
fn validation_forgets_what_it_is_told_to() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    // A model that does not change stalls from the second validation on.
    let options: [(&str, &[&str]); 6] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["perplexity"]),
        ("valid-freq", &["1u"]),
        ("learn-rate", &["0"]),
        ("early-stopping", &["2"]),
        ("after-batches", &["50"]),
    ];
    let train = |reset: &str| {
        let mut all = options.to_vec();
        all.extend((!reset.is_empty()).then_some((reset, &["true"][..])));
        let (outcome, log) = place.log("model", &all).unwrap();
        (outcome, validations(&log, "perplexity").len())
    };
    assert_eq!(train(""), (Outcome::EarlyStopped, 3));
    assert_eq!(train(""), (Outcome::AlreadyFinished, 0));
    assert_eq!(train("valid-reset-stalled"), (Outcome::EarlyStopped, 2));
    // Without a best value the first one is the best.
    assert_eq!(train("valid-reset-all"), (Outcome::EarlyStopped, 3));
}

#[test]
fn translations_of_validation_are_scored_as_they_are() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let train = |model: &str, output: &str| {
        let output = place.text(output);
        let options: [(&str, &[&str]); 6] = [
            ("valid-sets", &[&source, &target]),
            ("valid-metrics", &["chrf"]),
            ("valid-freq", &["4u"]),
            ("beam-size", &["2"]),
            ("valid-translation-output", &[&output]),
            ("after-batches", &["40"]),
        ];
        let (_, log) = place.log(model, &options).unwrap();
        *validations(&log, "chrf").last().unwrap()
    };
    let plain = train("plain", "plain.txt");
    assert!(plain > 0.0, "{plain}");
    assert_eq!(train("packed", "at-{U}-{E}-{T}.gz"), plain);
    let file = std::fs::read_dir(&place.folder).unwrap().find_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // 40 updates of three batches an epoch.
        name.starts_with("at-40-14-").then_some(name)
    });
    let file = file.expect("the names of templates are filled in");
    let mut lines = Lines::new(Input::open(&place.path(&file)).unwrap());
    let mut text = String::new();
    while let Some(line) = lines.next().unwrap() {
        text += std::str::from_utf8(line.bytes).unwrap();
        text += "\n";
    }
    assert_eq!(text, std::fs::read_to_string(place.path("plain.txt")).unwrap());
}

#[test]
fn segmented_bleu_is_that_of_pieces() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let vocabulary = place.text("joint.spm");
    // Enough text for pieces.
    let many = |text: &str| text.repeat(20);
    let training =
        [place.write("many.source", &many(SOURCE)), place.write("many.target", &many(TARGET))];
    let output = place.text("translations");
    let options: [(&str, &[&str]); 8] = [
        ("train-sets", &[&training[0], &training[1]]),
        ("vocabs", &[&vocabulary, &vocabulary]),
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["bleu", "bleu-segmented"]),
        ("valid-freq", &["60u"]),
        ("beam-size", &["1"]),
        ("valid-translation-output", &[&output]),
        ("after-batches", &["60"]),
    ];
    let request = place.request("model", &options).unwrap();
    // Letters, and the mark of the beginning of a word.
    let (_, log) = run_request(&Request { vocab_size: Some(10), ..request }).unwrap();
    let [bleu, segmented] =
        ["bleu", "bleu-segmented"].map(|metric| *validations(&log, metric).last().unwrap());
    // The tool for translation prints the pieces of the same translations.
    let vocabulary = Path::new(&vocabulary);
    let bundle = ModelBundle::open(&place.path("model.npz"), Some([vocabulary; 2])).unwrap();
    let tokenizers = bundle.tokenizers.clone().unwrap();
    let mut translation = TranslationOptions::for_bundle(&bundle, None);
    translation.search.beam_size = 1;
    translation.output.as_pieces = true;
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let translator = Translator::new(bundle, translation, &tuner).unwrap();
    let text =
        SourceText { lines: Lines::new(Input::open(Path::new(&source)).unwrap()), prefixes: None };
    let pieces = place.path("pieces");
    let stop = CancellationToken::new();
    translator
        .translate(text, false, Output::create(&pieces).unwrap(), &stop, &NoProgress, &mut |_| {
            Ok(())
        })
        .unwrap();
    let translated: Vec<String> =
        std::fs::read_to_string(pieces).unwrap().lines().map(str::to_owned).collect();
    let side = Tokenizer::new(&tokenizers, 1);
    let mut scratch = TokenizerScratch::default();
    let references: Vec<String> = TARGET
        .lines()
        .map(|line| {
            let pieces = side.encode(line.as_bytes(), &mut scratch);
            let words: Vec<_> = (0..pieces.len())
                .map(|index| std::str::from_utf8(pieces.get(index).unwrap()).unwrap().to_owned())
                .collect();
            words.join(" ")
        })
        .collect();
    let metric = Bleu { tokenizer: miriam_metrics::Tokenizer::None, ..Bleu::default() };
    let statistics = corpus_statistics(&metric, &translated, &[references]).unwrap();
    let expected = corpus_score(&metric, &statistics, 1).value;
    assert!((segmented - expected).abs() < 1e-6, "{segmented} {expected}");
    assert!((segmented - bleu).abs() > 1e-3, "pieces are no words: {segmented} {bleu}");
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
    // In our folder all are of a run before.
    let own = place.write("ours/.vocab.spm.Xy12.partial", "");
    request.options = place.options("ours/model", &[]).unwrap();
    run_request(&request).unwrap();
    assert!(!Path::new(&own).exists());
}

#[test]
fn a_size_is_that_of_word_lists_too() {
    let place = Workplace::new();
    let words = |name: &str| std::fs::read_to_string(place.path(name)).unwrap().lines().count();
    assert_eq!((words("source.yml"), words("target.yml")), (5, 5));
    std::fs::remove_file(place.path("source.yml")).unwrap();
    let request = place.request("model", &[]).unwrap();
    run_request(&Request { vocab_size: Some(4), ..request }).unwrap();
    assert_eq!(words("source.yml"), 4);
}

#[test]
fn curves_have_what_the_saved_state_has() {
    let place = Workplace::new();
    let plot = place.path("plot");
    let train = |updates: &str| {
        let limits = [("after-batches", &[updates][..]), ("disp-freq", &["1"])];
        let request = place.request("model", &limits).unwrap();
        run_request(&Request { plot: Some(plot.clone()), ..request })
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
    assert_eq!(summary.outcome, Outcome::Cancelled);
    let files = ["model.npz", "model.iter4.npz", "model.npz.progress.yml"];
    let saved = files.map(|name| std::fs::read(place.path(name)).ok());
    assert!(saved.iter().all(Option::is_some));
    // Killed after the optimiser's file was written.
    for name in files {
        std::fs::remove_file(place.path(name)).unwrap();
    }
    run_request(&request).unwrap();
    assert!(std::fs::read(place.path("model.iter4.npz")).ok() == saved[1]);
    // At the end of a training there is the model alone.
    assert!(place.path("model.npz").is_file() && !place.path("model.iter9.npz").exists());
}

#[test]
fn a_skipped_update_is_no_divergence() {
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
