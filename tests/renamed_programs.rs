//! Moses' and Marian's programs under their own names: they write what the commands of this program
//! write.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{
    lossy_text, miriam, output_with_input, project_root, report_skip, run, run_to_error,
    run_to_usage_error, run_with_input,
};

/// A temporary folder with the names of the programs, made by `miriam install-aliases`.
struct Names {
    folder: tempfile::TempDir,
}

impl Names {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        run(miriam().arg("install-aliases").arg(folder.path().join("names")));
        Names { folder }
    }

    fn program(&self, name: &str) -> Command {
        Command::new(self.folder.path().join("names").join(name))
    }

    /// Writes a file with this content.
    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Returns what a program writes for `input`.
    fn output(&self, name: &str, arguments: &[&str], input: &str) -> String {
        let output = run_with_input(self.program(name).args(arguments), input.as_bytes());
        lossy_text(&output.stdout)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn moses_programs_translate() {
    let names = Names::new();
    let ini = project_root().join("examples/toy/moses.ini");
    let input = std::fs::read_to_string(project_root().join("examples/toy/input.txt")).unwrap();
    let options = ["-f", text(&ini), "-n-best-list", "-", "3", "-threads", "2", "-quiet"];
    let expected = run_with_input(miriam().arg("translate").args(options), input.as_bytes());
    for name in ["moses", "moses2"] {
        assert_eq!(names.output(name, &options, &input), lossy_text(&expected.stdout), "{name}");
    }
    // mosesserver starts a server, so it checks the server's options.
    #[cfg(feature = "serve")]
    {
        let wrong = ["-f", text(&ini), "--server-port", "high"];
        let error = run_to_usage_error(names.program("mosesserver").args(wrong));
        assert!(error.contains("\"high\": give a number from 0 to 65535"), "{error}");
        // Scripts also give the flag that the name implies.
        let error = run_to_usage_error(names.program("mosesserver").arg("--server").args(wrong));
        assert!(error.contains("\"high\": give a number from 0 to 65535"), "{error}");
    }
}

/// Public scripts call Perl for each script of Moses.
#[test]
fn perl_starts_the_names_of_scripts() {
    let names = Names::new();
    let program = names.program("tokenizer.perl");
    let Ok(_) = Command::new("perl").arg("-v").output() else {
        return report_skip("there is no perl");
    };
    for switches in [&[][..], &["-w"], &["-CS", "-w"]] {
        let mut perl = Command::new("perl");
        perl.env("LC_ALL", "C").args(switches).arg(program.get_program());
        perl.args(["-l", "en", "-q"]);
        let output = run_with_input(&mut perl, b"It's 'here'.\n");
        assert_eq!(
            lossy_text(&output.stdout),
            names.output("tokenizer.perl", &["-l", "en"], "It's 'here'.\n"),
            "{switches:?}"
        );
        assert_eq!(lossy_text(&output.stderr), "", "{switches:?}");
    }
    let error = run_to_usage_error(Command::new("perl").arg(program.get_program()).arg("--wrong"));
    assert!(error.contains("--wrong"), "{error}");
}

#[test]
fn scripts_of_moses_prepare_text() {
    let names = Names::new();
    let raw = "Mr. Smith's house, e.g. \u{201c}No. 5\u{201d}.\n\nA well-known one!\n";
    let options = ["-l", "en", "-q", "-threads", "2", "-lines", "100", "-time", "-b", "-a"];
    let expected = run_with_input(miriam().args(["tokenize", "-a"]), raw.as_bytes()).stdout;
    let tokens = names.output("tokenizer.perl", &options, raw);
    assert_eq!(tokens, lossy_text(&expected));
    assert_eq!(
        tokens,
        "Mr. Smith &apos;s house , e.g. \u{201c} No. 5 \u{201d} .\n\nA well @-@ known one !\n"
    );
    for order in [&["-l", "en"][..], &["en"], &["-b", "-penn"]] {
        let mut command = names.program("normalize-punctuation.perl");
        if order.contains(&"-penn") {
            assert!(run_to_usage_error(command.args(order)).contains("Penn"));
            continue;
        }
        let normal = lossy_text(&run_with_input(command.args(order), raw.as_bytes()).stdout);
        assert!(normal.contains("e.g. \"No. 5.\"\n"), "{order:?}: {normal}");
    }
    let detokenized = names.output("detokenizer.perl", &["-l", "en", "-q", "-u"], &tokens);
    assert!(detokenized.starts_with("Mr. Smith's house, e.g. "), "{detokenized}");

    let corpus = names.file("corpus", "The house .\nIn the House .\nin the house .\n");
    let model = names.folder.path().join("model");
    run(names
        .program("train-truecaser.perl")
        .args(["--model", text(&model)])
        .args(["--corpus"])
        .arg(&corpus));
    let cased = names.output("truecase.perl", &["--model", text(&model)], "The house .\n");
    assert_eq!(cased, "the house .\n");
    let cased = names.output("truecase.perl", &["-a", "-model", text(&model)], "THE HOUSE .\n");
    assert_eq!(cased, "the house .\n");
    assert_eq!(names.output("detruecase.perl", &[], "the house .\n"), "The house .\n");
    let lines = names.file("lines", "the house .\n");
    assert_eq!(names.output("detruecase.perl", &["--in", text(&lines)], ""), "The house .\n");
    let headline = names.program("detruecase.perl").args(["--headline", "x"]).output().unwrap();
    assert!(lossy_text(&headline.stderr).contains("--headline"));

    // Perl's lc: character by character, so that a final sigma is treated like any other.
    let input = b"\xc3\x84B \xff \xce\xa3\xce\x91\xce\xa3\n".as_slice();
    let lower = run_with_input(&mut names.program("lowercase.perl"), input).stdout;
    assert_eq!(lower, b"\xc3\xa4b \xff \xcf\x83\xce\xb1\xcf\x83\n");
    // The scripts skip arguments that they do not know.
    assert_eq!(names.output("lowercase.perl", &["-l", "en", "-q"], "A\n"), "a\n");
    let plain = names.output("deescape-special-chars.perl", &["-b"], "a &amp;lt; &#124; &bra;\n");
    assert_eq!(plain, "a &lt; | [\n");
    let line = "R&D  | <n translation=\"B\"> b & </n>\n";
    let escaped = names.output("escape-special-chars.perl", &[], line);
    assert_eq!(escaped, "R&amp;D &#124; <n translation=\"B\"> b &amp; </n>\n");
}

#[test]
fn multi_bleu_counts_the_words_of_tokenised_text() {
    let names = Names::new();
    let hypotheses = "The house is small .\nit was raining in the town\n\n";
    names.file("ref0", "the house is very small .\nit was raining in town\na\n");
    let second = "the small house is small .\nit rained in the town today\nb c\n";
    let second = names.file("ref1", second);
    let stem = names.folder.path().join("ref");
    // The lines that the script prints.
    let cased =
        "BLEU = 57.79, 90.9/88.9/71.4/40.0 (BP=0.834, ratio=0.846, hyp_len=11, ref_len=13)\n";
    let lowercased =
        "BLEU = 63.80, 100.0/100.0/85.7/40.0 (BP=0.834, ratio=0.846, hyp_len=11, ref_len=13)\n";
    assert_eq!(names.output("multi-bleu.perl", &[text(&stem)], hypotheses), cased);
    assert_eq!(names.output("multi-bleu.perl", &["-lc", text(&stem)], hypotheses), lowercased);
    let files = [&format!("{}0", text(&stem)), text(&second)];
    assert_eq!(names.output("multi-bleu.perl", &files, hypotheses), cased);
    let error = run_to_error(names.program("multi-bleu.perl").args([text(&stem)]));
    assert!(error.contains("standard input has 0 lines, "), "{error}");
    assert!(error.contains("ref0 has 3: line N of one belongs to line N of"), "{error}");
    let mut longer = names.program("multi-bleu.perl");
    let output = output_with_input(longer.arg(&stem), hypotheses.repeat(2).as_bytes());
    let error = lossy_text(&output.stderr);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b""[..]), "{error}");
    assert!(error.contains("standard input has 6 lines, "), "{error}");
    assert!(error.contains("ref0 has 3: line N of one belongs to line N of"), "{error}");
    let error = run_to_error(names.program("multi-bleu.perl").arg("missing"));
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn programs_of_marian_translate_score_and_count_words() {
    let names = Names::new();
    let data = |name: &str| project_root().join("nmt/testdata").join(name);
    let (model, vocabulary) = (data("tiny.npz"), data("tiny.vocab.yml"));
    let files = ["-m", text(&model), "-v", text(&vocabulary), text(&vocabulary)];
    let source = "w3 w4 w5\nw7\nw9 w10 w11 w12\n";
    let options = ["-b", "3", "-n", "0.6", "-w", "128", "-d", "0", "--cpu-threads", "2", "--quiet"];
    let ours = ["nmt", "translate", "-b", "3", "-n", "0.6", "--quiet"];
    let ours = run_with_input(miriam().args(ours).args(files), source.as_bytes()).stdout;
    let translated = names.output("marian-decoder", &[&files[..], &options].concat(), source);
    assert_eq!(translated, lossy_text(&ours));
    let command = [&["decode"], &files[..], &options].concat();
    assert_eq!(names.output("marian", &command, source), translated);

    let [source, target] = [("source", source), ("target", &*translated)]
        .map(|(name, content)| names.file(name, content));
    let texts = ["--source", text(&source), "--target", text(&target)];
    let ours = ["nmt", "score", "--quiet"];
    let scores = lossy_text(&run(miriam().args(ours).args(files).args(texts)));
    let texts = ["-t", text(&source), text(&target), "-w", "128", "--quiet", "--cpu-threads", "1"];
    assert_eq!(names.output("marian-scorer", &[&files[..], &texts].concat(), ""), scores);
    assert_eq!(scores.lines().count(), 3);

    // In Marian, a list is the second text of --train-sets.
    let list = names.file("list", "0 ||| w3 ||| F0= -1 ||| -1\n1 ||| w4 ||| F0= -2 ||| -2\n");
    let ours = ["nmt", "score", "--quiet", "--n-best", text(&list), "--source", text(&source)];
    let ours = lossy_text(&run(miriam().args(ours).args(files)));
    assert!(ours.starts_with("0 ||| w3 ||| F0= -1 Score= -"), "{ours}");
    let lists = ["--n-best", "-t", text(&source), text(&list), "--quiet"];
    assert_eq!(names.output("marian-scorer", &[&files[..], &lists].concat(), ""), ours);
    let alone = ["-t", text(&source)];
    let error = run_to_error(names.program("marian-scorer").args(files).args(alone));
    assert!(error.contains("the model: it translates"), "{error}");
    assert!(error.contains("or two files to --train-sets"), "{error}");

    let converted = names.file("converted.bin", "");
    let conversion = ["-f", text(&model), "-t", text(&converted), "--quiet"];
    assert_eq!(names.output("marian-conv", &conversion, ""), "");
    let converted = [&["-m", text(&converted)], &files[2..], &texts].concat();
    assert_eq!(names.output("marian-scorer", &converted, ""), scores);

    let words = names.output("marian-vocab", &["--max-size", "4"], "b a b\nc c b\n");
    assert_eq!(words, "\"</s>\": 0\n\"<unk>\": 1\n\"b\": 2\n\"c\": 3\n");
    let all = names.output("marian-vocab", &["--max-size", "0"], "b a b\nc c b\n");
    assert_eq!(all, words + "\"a\": 4\n");
    #[cfg(feature = "serve")]
    {
        let missing = ["-m", "missing.npz", "-v", "a", "b", "-p", "0"];
        let error = run_to_error(names.program("marian-server").args(missing));
        assert!(error.contains("no model opened"), "{error}");
    }
}

#[test]
fn flags_of_marian_may_have_values() {
    let names = Names::new();
    let data = |name: &str| project_root().join("nmt/testdata").join(name);
    let (model, vocabulary) = (data("tiny.npz"), data("tiny.vocab.yml"));
    let files = ["-m", text(&model), "-v", text(&vocabulary), text(&vocabulary)];
    let decode = |flags: &[&str]| {
        let options = [&files[..], &["-b", "2"], flags].concat();
        names.output("marian-decoder", &options, "w3 w4 w5\nw7\n")
    };
    let scores = decode(&["--quiet", "--word-scores"]);
    assert_eq!(scores.lines().count(), 2);
    assert_eq!(decode(&["--word-scores", "true", "--quiet", "true"]), scores);
    assert_eq!(decode(&["--quiet", "--word-scores", "false"]), decode(&["--quiet"]));
    assert_ne!(decode(&["--quiet"]), scores);
    let error = run_to_usage_error(names.program("marian-decoder").args(files).arg("true"));
    assert!(error.contains("\"true\": unexpected argument"), "{error}");
}

#[test]
fn marian_reads_its_letters_for_training() {
    let names = Names::new();
    let options = [
        "-t",
        "a.de",
        "a.en",
        "-v",
        "v.yml",
        "v.yml",
        "-m",
        "model.npz",
        "-o",
        "sgd",
        "-l",
        "0.01",
        "-e",
        "3",
        "-T",
        "scratch",
        "-d",
        "0",
        "--dump-config",
        "minimal",
    ];
    let written = names.output("marian", &options, "");
    for line in ["optimizer: sgd", "learn-rate: 0.01", "after-epochs: 3", "type: amun"] {
        assert!(written.lines().any(|found| found == line), "{line}: {written}");
    }
    let error = run_to_usage_error(names.program("marian").args(["--learning-rate", "1"]));
    assert!(error.contains("--learning-rate"), "{error}");
}

#[test]
fn marian_trains_on_and_scores_tab_separated_standard_input() {
    let names = Names::new();
    let vocabulary = project_root().join("nmt/testdata/tiny.vocab.yml");
    let vocabulary = ["-v", text(&vocabulary), text(&vocabulary)];
    let model = names.folder.path().join("model.npz");
    let model = ["-m", text(&model), "--quiet", "--tsv"];
    let shape = "--type transformer --dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 16 \
                 --after-batches 1";
    let shape: Vec<&str> = shape.split_whitespace().collect();
    let pairs = "w3 w4 w5\tw4 w5\nw7\tw5 w6\n";
    names.output("marian", &[&model[..], &vocabulary, &shape].concat(), pairs);
    let score = [&model[..], &vocabulary].concat();
    let scores = names.output("marian-scorer", &score, pairs);
    assert_eq!(scores.lines().count(), 2);
    let file = names.file("pairs.tsv", pairs);
    let by_name = [&score[..], &["-t", text(&file)]].concat();
    assert_eq!(names.output("marian-scorer", &by_name, ""), scores);
}

#[test]
fn best_models_of_marian_have_configurations() {
    let names = Names::new();
    // A vocabulary that training makes, under a name that tells no format.
    let vocabulary = names.folder.path().join("vocab.de");
    let [source, target] = [("s", "w3 w4 w5\nw7\n"), ("t", "w4 w5\nw5 w6\n")]
        .map(|(name, content)| names.file(name, content));
    let files = [
        &["-v", text(&vocabulary), text(&vocabulary), "-t", text(&source), text(&target)][..],
        &["--valid-sets", text(&source), text(&target), "--valid-metrics", "bleu", "--keep-best"],
    ]
    .concat();
    let shape = "--type transformer --dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 16 \
                 -b 1 --quiet --after-batches 2";
    let shape: Vec<&str> = shape.split_whitespace().collect();
    // With a validation at the given frequency, and with only the one at the end.
    for (name, frequency) in [("one.npz", "1"), ("two.npz", "100")] {
        let model = names.folder.path().join(name);
        let options = ["-m", text(&model), "--valid-freq", frequency];
        names.output("marian", &[&options[..], &files, &shape].concat(), "");
        let config = names.folder.path().join(format!("{name}.best-bleu.npz.decoder.yml"));
        let decoder = ["-c", text(&config), "--quiet"];
        let translated = names.output("marian-decoder", &decoder, "w3 w4\n");
        assert_eq!(translated.lines().count(), 1, "{name}");
    }
}

#[test]
fn marian_converts_shortlists() {
    let names = Names::new();
    let data = |name: &str| project_root().join("nmt/testdata").join(name);
    let (model, vocabulary) = (data("tiny.npz"), data("tiny.vocab.yml"));
    let lines: String = (3..24).map(|n| format!("w{n} w{n} 0.5\nw{} w{n} 0.25\n", n - 1)).collect();
    let list = names.file("lex.s2t", &lines);
    let binary = names.folder.path().join("lex.s2t.bin");
    let vocabs = ["--vocabs", text(&vocabulary), text(&vocabulary)];
    let conversion = ["--shortlist", text(&list), "2", "1", "0", "--dump", text(&binary)];
    names.output("marian-conv", &[&conversion[..], &vocabs].concat(), "");
    let translate = |shortlist: &[&str]| {
        let model = ["-m", text(&model), "--quiet", "--shortlist"];
        let arguments = [&model[..], shortlist, &vocabs].concat();
        names.output("marian-decoder", &arguments, "w3 w4 w5\nw9 w10 w11 w12\n")
    };
    let expected = translate(&[text(&list), "2", "1", "0"]);
    assert_eq!(translate(&[text(&binary)]), expected);
    assert_eq!(translate(&[text(&binary), "false"]), expected);
}

#[test]
fn presets_of_marian_are_named_in_configurations() {
    let names = Names::new();
    let config = names.file("teacher.yml", "task: transformer-big\ndim-emb: 16\n");
    for (options, expected) in [
        (&["-c", text(&config)][..], ["dim-emb: 16", "lr-warmup: 8000"]),
        (&["--task", "transformer-base", "-c", text(&config)], ["dim-emb: 16", "lr-warmup: 16000"]),
        (&["--best-deep"], ["type: s2s", "enc-type: alternating"]),
    ] {
        let options = [options, &["--dump-config", "expand"]].concat();
        let written = names.output("marian", &options, "");
        for line in expected {
            assert!(written.lines().any(|found| found == line), "{options:?}: {line}: {written}");
        }
    }
    let config = names.file("unknown.yml", "task: transformer-bg\n");
    let error = run_to_error(names.program("marian").args(["-c", text(&config)]));
    assert!(error.contains("unknown.yml: task: unknown preset \"transformer-bg\""), "{error}");
}

/// Configurations may have any name, there may be several, and they may have the keys that Marian's
/// scorer writes.
#[test]
fn configurations_are_read_as_marian_reads_them() {
    let names = Names::new();
    let data = |name: &str| project_root().join("nmt/testdata").join(name);
    let (model, vocabulary) = (data("tiny.npz"), data("tiny.vocab.yml"));
    let vocabs = format!("vocabs: [{0}, {0}]\n", text(&vocabulary));
    let source = "w3 w4 w5 w6\nw7\nw9 w10 w11 w12\n";
    let decoder = names.file(
        "decoder.conf",
        &format!(
            "models: [{}]\n{vocabs}beam-size: 6\nauthors: false\ncite: false\nbuild-info: \"\"\n\
             quantize-range: 0\nencryption-key-path: \"\"\nquiet: true\n",
            text(&model)
        ),
    );
    let later = names.file("later", "beam-size: 2\nnormalize: 0.6\n");
    std::fs::copy(&model, names.folder.path().join("tiny.npz")).unwrap();
    let near =
        names.file("near", &format!("models: [tiny.npz]\n{vocabs}beam-size: 6\nquiet: true\n"));
    let as_near = ["--relative-paths", "-c", text(&near)];
    assert_eq!(
        names.output("marian-decoder", &as_near, source),
        names.output("marian-decoder", &["-c", text(&decoder)], source)
    );
    let files = ["-m", text(&model), "-v", text(&vocabulary), text(&vocabulary)];
    let options = ["-b", "2", "-n", "0.6", "--n-best", "--quiet"];
    let expected = names.output("marian-decoder", &[&files[..], &options].concat(), source);
    let both = ["-c", text(&decoder), text(&later), "--n-best"];
    assert_eq!(names.output("marian-decoder", &both, source), expected);

    let [source, target] =
        [("source", source), ("target", "w4 w5\nw5 w6 w7 w8\nw3\n")].map(|(n, t)| names.file(n, t));
    let texts = ["-t", text(&source), text(&target), "--quiet"];
    let limit = ["--max-length", "3", "--max-length-crop", "--cpu-threads", "0", "--no-reload"];
    let scores = names.output("marian-scorer", &[&files[..], &texts, &limit].concat(), "");
    for line in scores.lines() {
        let (_, decimals) = line.split_once('.').unwrap();
        assert_eq!(decimals.len(), 6, "as Marian prints scores: {scores}");
    }
    // Both sides are cut to two words and </s>.
    let [first, second] = [("first", "w3 w4\nw7\nw9 w10\n"), ("second", "w4 w5\nw5 w6\nw3\n")]
        .map(|(name, content)| names.file(name, content));
    let texts = ["-t", text(&first), text(&second), "--quiet"];
    assert_eq!(names.output("marian-scorer", &[&files[..], &texts].concat(), ""), scores);
    let scorer = names.file(
        "scorer",
        &format!(
            "model: {}\n{vocabs}train-sets: [{}, {}]\nmax-length: 3\nmax-length-crop: true\n\
             output: stdout\nsummary: \"\"\nn-best-feature: Score\nn-best: false\nquiet: true\n",
            text(&model),
            text(&source),
            text(&target)
        ),
    );
    let configured = ["-c", text(&scorer)];
    assert_eq!(names.output("marian-scorer", &configured, ""), scores);
    let error = run_to_error(names.program("marian-decoder").args(configured));
    assert!(error.contains("keys of a scorer's configuration"), "{error}");
}
