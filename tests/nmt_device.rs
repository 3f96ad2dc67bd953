//! Neural models on a GPU, end to end: translations, lists and scores compared with the CPU's.
//! Instead of a GPU there is a library that replaces the driver and interprets the kernels.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, run_to_error, run_to_usage_error, run_with_input,
};

fn nmt(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "nmt"]).args(arguments);
    command
}

fn toy() -> PathBuf {
    project_root().join("examples/toy-neural")
}

pub(crate) fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// Returns the arguments of `nmt translate` with `model` and the options `more`.
pub(crate) fn translation<'a>(model: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["translate", "-m", path_str(model)], more].concat()
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_build_without_cuda_names_the_feature() {
    let toy = toy();
    let message = run_to_error(&mut nmt(&translation(&toy, &["--device", "cuda"])));
    assert!(message.contains("feature `cuda`"), "{message}");
}

/// Without a driver, a requested GPU is an error, and `auto` is the CPU. Marian's `--devices` has
/// no effect, because command lines are copied from machines with GPUs.
#[test]
fn without_a_gpu_the_choice_is_named() {
    let toy = toy();
    let text = b"ein mann\n";
    let translate = |more: &[&str]| run_with_input(&mut nmt(&translation(&toy, more)), text);
    let expected = lossy_text(&translate(&[]).stdout);
    assert_eq!(lossy_text(&translate(&["--device", "auto"]).stdout), expected);
    let marian = translate(&["--devices", "0"]);
    assert_eq!(lossy_text(&marian.stdout), expected);
    let message = lossy_text(&marian.stderr);
    assert!(message.contains("--devices") && message.contains("CPU"), "{message}");
    let message = run_to_usage_error(&mut nmt(&translation(&toy, &["--device", "cuda:0,0"])));
    assert!(message.contains("named twice"), "{message}");
    #[cfg(feature = "cuda")]
    {
        let message = run_to_error(&mut nmt(&translation(&toy, &["--device", "cuda:0"])));
        assert!(message.contains("no GPU") && message.contains("--device cpu"), "{message}");
    }
}

/// Half precision is for GPUs only: the CPU rejects it with a message that names it, and files
/// cannot be packed for it.
#[test]
fn the_cpu_refuses_half_precision() {
    let toy = toy();
    for (name, expected) in [
        ("f16", "f16 is a precision of GPUs"),
        (
            "bfloat16",
            "--precision: compute type \"bfloat16\" is not supported on CPUs; give default",
        ),
        ("float16", "compute type \"float16\" is not supported on CPUs; give default"),
    ] {
        let message = run_to_error(&mut nmt(&translation(&toy, &["--precision", name])));
        assert!(message.contains(expected), "{message}");
        let convert = ["convert", path_str(&toy), "-o", "none.miriam", "--precision", name];
        let message = run_to_usage_error(&mut nmt(&convert));
        assert!(message.contains("possible values: f32, i16, i8, mixed]"), "{message}");
    }
    let half = ["--compute-type", "int8_float16"];
    let message = run_to_error(&mut nmt(&translation(&toy, &half)));
    assert!(message.contains("\"int8_float16\" is not supported on CPUs; give"), "{message}");
}

#[cfg(feature = "cuda")]
pub(crate) mod emulated {
    use super::*;
    use crate::common::{emulated_gpu, run, shared_data};

    /// Runs a command on the emulated GPU.
    pub(crate) fn on_gpu(settings: &str, arguments: &[&str]) -> String {
        lossy_text(&run(nmt(arguments).envs(emulated_gpu(settings))))
    }

    /// Runs a command on an emulated GPU that fails. Returns the output and the messages of the
    /// command.
    fn on_failing_gpu(settings: &str, arguments: &[&str]) -> [String; 2] {
        let output = nmt(arguments).envs(emulated_gpu(settings)).output().expect("it starts");
        let messages = lossy_text(&output.stderr);
        assert!(output.status.success(), "{settings}: {messages}");
        [lossy_text(&output.stdout), messages]
    }

    pub(crate) fn on_cpu(arguments: &[&str]) -> String {
        lossy_text(&run(&mut nmt(arguments)))
    }

    /// Writes the first lines of a text to a file in `folder`.
    pub(crate) fn first_lines(text: &Path, count: usize, folder: &Path) -> PathBuf {
        let all = std::fs::read_to_string(text).expect("the text is there");
        let lines: String = all.split_inclusive('\n').take(count).collect();
        let file = folder.join("text");
        std::fs::write(&file, lines).expect("writable");
        file
    }

    /// The largest allowed relative difference of totals. A multiplicative LSTM amplifies rounding
    /// most.
    const TOLERANCE: f64 = 5e-4;

    /// Compares n-best lists: the same lines in the same order, with nearly the same totals.
    pub(crate) fn assert_same_lists(name: &str, expected: &str, found: &str) {
        assert_lists_within(TOLERANCE, name, expected, found);
    }

    /// Compares n-best lists as [`assert_same_lists`] does, with totals that differ by at most
    /// `tolerance`, relative to totals above one.
    pub(crate) fn assert_lists_within(tolerance: f64, name: &str, expected: &str, found: &str) {
        assert_eq!(expected.lines().count(), found.lines().count(), "{name}");
        for (a, b) in expected.lines().zip(found.lines()) {
            let [a, b] = [a, b].map(|line| line.split(" ||| ").collect::<Vec<_>>());
            assert_eq!(a[..2], b[..2], "{name}");
            let total = |fields: &Vec<&str>| fields[fields.len() - 1].trim().parse::<f64>();
            let [a, b] = [&a, &b].map(|fields| total(fields).expect("a total"));
            assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{name}: {a} {b}");
        }
    }

    /// Compares scores of given translations, with their alignments if they have some.
    fn assert_same_scores(expected: &str, found: &str) {
        assert_eq!(expected.lines().count(), found.lines().count());
        for (a, b) in expected.lines().zip(found.lines()) {
            let [a, b] = [a, b].map(|line| line.split_once(' ').unwrap_or((line, "")));
            assert_eq!(a.1, b.1);
            let [a, b] = [a.0, b.0].map(|score| score.parse::<f64>().expect("a score"));
            assert!((a - b).abs() <= 1e-3, "{a} {b}");
        }
    }

    /// Translations do not depend on the batch, and lists, alignments and scores are those of the
    /// CPU.
    #[test]
    fn the_toy_model_translates_as_on_the_cpu() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let text = project_root().join("examples/toy/test.es");
        let text = first_lines(&text, 7, folder.path());
        let input = ["-i", path_str(&text)];
        let expected = on_cpu(&translation(&toy, &[&input[..], &["--precision", "f32"]].concat()));
        for batch in ["1", "4", "64"] {
            let more = ["--device", "cuda", "--mini-batch", batch];
            let found = on_gpu("seed=1", &translation(&toy, &[&input[..], &more].concat()));
            assert_eq!(found, expected, "batches of {batch}");
        }
        let list = ["--n-best", "3", "--beam-size", "3"];
        let list = [&input[..], &list].concat();
        let on_device = [&list[..], &["--device", "cuda:0"]].concat();
        let expected = on_cpu(&translation(&toy, &[&list[..], &["--precision", "f32"]].concat()));
        let found = on_gpu("seed=2", &translation(&toy, &on_device));
        assert_same_lists("toy", &expected, &found);
        let alignment = [&input[..], &["--alignment", "hard"]].concat();
        let expected =
            on_cpu(&translation(&toy, &[&alignment[..], &["--precision", "f32"]].concat()));
        let on_device = [&alignment[..], &["--devices", "0"]].concat();
        assert_eq!(on_gpu("seed=3", &translation(&toy, &on_device)), expected);
    }

    /// Half precision finds the same translations, in batches of any size and on older devices.
    #[test]
    fn the_toy_model_translates_in_half_precision() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let text = project_root().join("examples/toy/test.en");
        let text = first_lines(&text, 7, folder.path());
        let input = ["-i", path_str(&text)];
        let expected = on_cpu(&translation(&toy, &[&input[..], &["--precision", "f32"]].concat()));
        let runs = [
            ("seed=1", "f16", "64"),
            ("seed=2", "float16", "3"),
            ("seed=3,capability=75", "f16", "4"),
            ("seed=4,capability=80", "bf16", "64"),
        ];
        for (settings, precision, batch) in runs {
            let more = ["--device", "cuda", "--precision", precision, "--mini-batch", batch];
            let found = on_gpu(settings, &translation(&toy, &[&input[..], &more].concat()));
            assert_eq!(found, expected, "{settings}, {precision}, batches of {batch}");
        }
    }

    /// The bytes of lists with the scores of words do not depend on the batch, on sentences that
    /// join it, or on the order of lanes, in any precision and for recurrent models too.
    #[test]
    fn lists_do_not_depend_on_the_batch() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let text = project_root().join("examples/toy/test.es");
        let text = first_lines(&text, 5, folder.path());
        let assert_independent = |model: &Path, batches: &[&str], more: &[&str]| {
            let lists = batches.iter().zip(1..).map(|(&batch, seed)| {
                let list = ["--word-scores", "--n-best", "--device", "cuda", "--mini-batch", batch];
                on_gpu(&format!("seed={seed}"), &translation(model, &[more, &list].concat()))
            });
            let lists: Vec<String> = lists.collect();
            assert!(lists[0].contains("WordScores="), "{}", lists[0]);
            assert!(lists.iter().all(|list| *list == lists[0]), "{}: {lists:?}", model.display());
        };
        let input = ["-i", path_str(&text), "--beam-size"];
        assert_independent(&toy, &["1", "3", "64"], &[&input[..], &["2"]].concat());
        let half = [&input[..], &["1", "--precision", "f16"]].concat();
        assert_independent(&toy, &["1", "3"], &half);
        let Some(data) = shared_data("nmt-oracle") else { return };
        let short = folder.path().join("short");
        std::fs::write(&short, "two guys .\na man with a hat .\n").expect("writable");
        let vocabulary = data.join("vocab.spm");
        let more = ["--vocabs", path_str(&vocabulary), "-i", path_str(&short), "--beam-size", "2"];
        let more = [&more[..], &["--max-length-factor", "1"]].concat();
        for model in ["rnn-gru.npz", "nematus-ln.npz"] {
            assert_independent(&data.join("models").join(model), &["1", "7"], &more);
        }
    }

    /// Tests all models with recorded outputs, which cover every architecture that the CPU decodes.
    #[test]
    fn models_of_all_architectures_translate_as_on_the_cpu() {
        let Some(data) = shared_data("nmt-oracle") else { return };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = folder.path().join("text");
        std::fs::write(&text, "eine frau in turnkleidung .\ntwo guys .\n").expect("writable");
        let vocabulary = data.join("vocab.spm");
        let models = std::fs::read_dir(data.join("models"))
            .expect("models")
            .map(|entry| entry.expect("an entry of the folder").path());
        let mut models: Vec<PathBuf> =
            models.filter(|path| path.extension().is_some_and(|name| name == "npz")).collect();
        models.sort();
        assert!(models.len() >= 16, "{}", models.len());
        for model in &models {
            let more = ["--vocabs", path_str(&vocabulary), "-i", path_str(&text)];
            let list = ["--beam-size", "4", "--n-best", "4", "--max-length-factor", "1"];
            let list = [&more[..], &list].concat();
            let on_device = [&list[..], &["--device", "cuda"]].concat();
            let expected = on_cpu(&translation(model, &list));
            let found = on_gpu("seed=5", &translation(model, &on_device));
            assert_same_lists(&model.display().to_string(), &expected, &found);
        }
    }

    /// The options are ensembles, sampling, prefixes, constraints, limits of length and repetition,
    /// and soft alignments.
    #[test]
    fn options_of_the_search_work_as_on_the_cpu() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).expect("writable");
            file
        };
        let text = "cuatro médicos son amables .\na veces llevamos un zapato barato .\n\
                    esta enfermera come .\n";
        let text = write("text", text);
        let prefixes = write("prefixes", "la casa\nella\nun\n");
        let constraints = "a veces llevamos un zapato barato .\t\tthe cheap ||| a house\n\
                           esta enfermera come .\tthis\tred\n";
        let constraints = write("constraints", constraints);
        let [text, prefixes, constraints] = [&text, &prefixes, &constraints].map(|p| path_str(p));
        let cases: [&[&str]; 6] = [
            &[path_str(&toy), "-i", text],
            &["-i", text, "--output-sampling", "full", "--seed", "7"],
            &["-i", text, "--output-sampling", "topk", "5", "--seed", "7"],
            &["-i", text, prefixes, "--force-decode"],
            &["-i", constraints, "--tsv", "--beam-size", "4"],
            &["-i", text, "--no-repeat-ngram-size", "1", "--min-length", "9"],
        ];
        let on_both = |more: &[&str]| {
            let cpu = on_cpu(&translation(&toy, &[more, &["--precision", "f32"]].concat()));
            let gpu = on_gpu("seed=8", &translation(&toy, &[more, &["--device", "cuda"]].concat()));
            [cpu, gpu]
        };
        let plain = on_cpu(&translation(&toy, &["-i", text, "--precision", "f32"]));
        for (number, case) in cases.into_iter().enumerate() {
            let [expected, found] = on_both(case);
            assert_eq!(found, expected, "{case:?}");
            // In the first case, an ensemble of a model with itself translates as the model alone
            // does. In the other cases, the options change the translations.
            assert_eq!(found == plain, number == 0, "{case:?}");
        }
        let [expected, found] = on_both(&["-i", text, "--alignment", "soft"]);
        let numbers = |line: &str| -> (String, Vec<f64>) {
            let (words, weights) = line.split_once(" ||| ").expect("an alignment");
            let weights = weights.split([' ', ',']).map(|weight| weight.parse().expect("a weight"));
            (words.to_owned(), weights.collect())
        };
        assert_eq!(expected.lines().count(), found.lines().count());
        for (a, b) in expected.lines().map(numbers).zip(found.lines().map(numbers)) {
            assert_eq!((&a.0, a.1.len()), (&b.0, b.1.len()));
            assert!(a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
        }
    }

    /// Shortlists limit the tokens of transformers and recurrent models.
    #[test]
    fn shortlists_work_as_on_the_cpu() {
        let Some(data) = shared_data("nmt-oracle") else { return };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = folder.path().join("text");
        std::fs::write(&text, "two guys mounting a box on a railing .\n").expect("writable");
        let (vocabulary, shortlist) = (data.join("vocab.spm"), data.join("lex.bin"));
        let more = ["--vocabs", path_str(&vocabulary), "-i", path_str(&text), "--n-best"];
        let more = [&more[..], &["--beam-size", "2", "--max-length-factor", "1"]].concat();
        for model in ["tr-post.npz", "rnn-gru.npz"] {
            let model = data.join("models").join(model);
            let without = on_cpu(&translation(&model, &more));
            let limited = [&more[..], &["--shortlist", path_str(&shortlist)]].concat();
            let expected = on_cpu(&translation(&model, &limited));
            assert_ne!(expected, without, "{}", model.display());
            let on_device = [&limited[..], &["--device", "cuda"]].concat();
            let found = on_gpu("seed=9", &translation(&model, &on_device));
            assert_same_lists(&model.display().to_string(), &expected, &found);
        }
    }

    /// Given translations have the scores of the CPU, all positions at once and step by step.
    #[test]
    fn given_translations_are_scored_as_on_the_cpu() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let corpus = project_root().join("examples/toy");
        let source = first_lines(&corpus.join("test.es"), 8, folder.path());
        let other = tempfile::tempdir().expect("a temporary folder");
        let target = first_lines(&corpus.join("test.en"), 8, other.path());
        let base = ["score", "-m", path_str(&toy), "--source", path_str(&source)];
        let base = [&base[..], &["--target", path_str(&target)]].concat();
        for more in [&[][..], &["--alignment", "hard"]] {
            let arguments = [&base[..], more].concat();
            let expected = on_cpu(&[&arguments[..], &["--precision", "f32"]].concat());
            let found = on_gpu("seed=4", &[&arguments[..], &["--device", "cuda"]].concat());
            assert_same_scores(&expected, &found);
        }
    }

    /// If a GPU is lost, before its first kernel or later, the CPU repeats the unfinished work, and
    /// one warning says so.
    #[test]
    fn sentences_continue_on_the_cpu_when_the_gpu_is_lost() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let corpus = project_root().join("examples/toy");
        let text = first_lines(&corpus.join("test.es"), 6, folder.path());
        let other = tempfile::tempdir().expect("a temporary folder");
        let target = first_lines(&corpus.join("test.en"), 6, other.path());
        let list = ["-i", path_str(&text), "--n-best", "3", "--beam-size", "3"];
        let list = translation(&toy, &[&list[..], &["--alignment", "hard"]].concat());
        let score = ["score", "-m", path_str(&toy), "--source", path_str(&text)];
        let score = [&score[..], &["--target", path_str(&target)]].concat();
        let [lists, scores] = [&list, &score]
            .map(|arguments| on_cpu(&[&arguments[..], &["--precision", "f32"]].concat()));
        let on_device = ["--device", "cuda", "--mini-batch", "4"];
        let is_said_once = |messages: &str| {
            messages.matches("WARN").count() == 1
                && messages.contains("CUDA_ERROR_LAUNCH_FAILED")
                && messages.contains("all sentences continue on the CPU")
        };
        for launches in [0, 1, 30, 100, 250] {
            let settings = format!("seed={launches},launches={launches}");
            let [found, messages] =
                on_failing_gpu(&settings, &[&list[..], &on_device[..]].concat());
            assert!(is_said_once(&messages), "{settings}: {messages}");
            assert_same_lists(&settings, &lists, &found);
        }
        for launches in [0, 20] {
            let settings = format!("launches={launches}");
            let [found, messages] =
                on_failing_gpu(&settings, &[&score[..], &on_device[..]].concat());
            assert!(is_said_once(&messages), "{settings}: {messages}");
            assert_same_scores(&scores, &found);
        }
    }

    /// If two GPUs cannot launch a kernel, a warning names each of them at most once, whatever the
    /// number of batches.
    #[test]
    fn several_gpus_that_fail_are_named_once_each() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let text = project_root().join("examples/toy/test.es");
        let text = first_lines(&text, 24, folder.path());
        let input = ["-i", path_str(&text), "--precision", "f32"];
        let expected = on_cpu(&translation(&toy, &input));
        let more = ["--device", "cuda:0,1", "--mini-batch", "2"];
        let arguments = translation(&toy, &[&input[..], &more].concat());
        let [found, messages] = on_failing_gpu("launch=700,count=2", &arguments);
        assert_eq!(found, expected);
        let warnings = ["GPU 0 failed", "GPU 1 failed"].map(|name| messages.matches(name).count());
        assert!(warnings.iter().all(|&count| count <= 1), "{messages}");
        assert_eq!(messages.matches("WARN").count(), warnings.iter().sum::<usize>(), "{messages}");
        assert!(messages.contains("all sentences continue on the CPU"), "{messages}");
    }

    /// A launch that lacks memory means that the memory is full, not that the GPU is lost.
    #[test]
    fn a_gpu_whose_launches_lack_memory_is_not_lost() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let text = project_root().join("examples/toy/test.es");
        let text = first_lines(&text, 5, folder.path());
        let input = ["-i", path_str(&text), "--precision", "f32"];
        let expected = on_cpu(&translation(&toy, &input));
        let more = ["--device", "cuda", "--mini-batch", "2"];
        let arguments = translation(&toy, &[&input[..], &more].concat());
        let [found, messages] = on_failing_gpu("launch=2", &arguments);
        assert_eq!(found, expected);
        assert_eq!(messages.matches("WARN").count(), 1, "{messages}");
        assert!(messages.contains("GPU 0 has no memory left to launch a kernel"), "{messages}");
        assert!(messages.contains("batches become smaller"), "{messages}");
    }

    /// Where a GPU's memory is full, sentences continue on the CPU with one warning, and nothing is
    /// lost.
    #[test]
    fn sentences_continue_on_the_cpu_when_memory_is_full() {
        let (toy, folder) = (toy(), tempfile::tempdir().expect("a temporary folder"));
        let text = project_root().join("examples/toy/test.es");
        let text = first_lines(&text, 7, folder.path());
        let base =
            ["-i", path_str(&text), "--n-best", "3", "--beam-size", "3", "--alignment", "hard"];
        let expected = on_cpu(&translation(&toy, &[&base[..], &["--precision", "f32"]].concat()));
        let mut outcomes = [0; 3];
        for memory in [500, 600, 660, 680, 700, 740, 800, 1_000, 2_000] {
            let settings = format!("seed=6,memory={}", memory * 1000);
            let more = [&base[..], &["--device", "cuda", "--mini-batch", "4"]].concat();
            let mut command = nmt(&translation(&toy, &more));
            let output = command.envs(emulated_gpu(&settings)).output().expect("it starts");
            let messages = lossy_text(&output.stderr);
            let is_loaded = output.status.success();
            let warnings = messages.matches("WARN").count();
            assert!(is_loaded || messages.contains("has no space for another"), "{messages}");
            assert!(warnings <= 1, "{messages}");
            assert_eq!(messages.matches("batches become smaller").count(), warnings, "{messages}");
            outcomes[if !is_loaded { 0 } else { 2 - warnings }] += 1;
            if is_loaded {
                assert_same_lists("toy", &expected, &lossy_text(&output.stdout));
            }
        }
        // The cases are too little memory for the model, too little for the batch, and enough.
        assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
    }

    /// A request that a GPU cannot fulfil is an error that names the choice, not a silent change.
    #[test]
    fn a_gpu_that_cannot_be_used_is_named() {
        let toy = toy();
        let fails = |settings: &str, more: &[&str]| {
            let mut command = nmt(&translation(&toy, more));
            run_to_error(command.envs(emulated_gpu(settings)))
        };
        let message = fails("seed=1", &["--device", "cuda", "--precision", "i8"]);
        assert!(message.contains("f32") && message.contains("--device cpu"), "{message}");
        let bf16 = ["--device", "cuda", "--precision", "bf16"];
        let message = fails("capability=75", &bf16);
        assert!(message.contains("bf16 needs compute capability 8.0"), "{message}");
        let message = fails("seed=1", &["--device", "cuda:3"]);
        assert!(message.contains("no GPU 3"), "{message}");
        let message = fails("memory=4000", &["--device", "cuda"]);
        assert!(message.contains("has no space for another"), "{message}");
    }
}
