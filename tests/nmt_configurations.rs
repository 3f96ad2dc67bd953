//! Decoder configurations whose keys are options of the command line, and whose models have any
//! format.

use std::fs;
use std::path::PathBuf;

use crate::common::{lossy_text, miriam, project_root, run_to_error, run_with_input};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

/// Options that Marian does not have are keys of configurations, too.
#[test]
fn options_of_the_command_line_are_keys_of_configurations() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("decoder.yml");
    let names = [tiny_model("tiny.npz"), tiny_model("tiny.vocab.yml")];
    let [model, words] = names.map(|path| path.canonicalize().unwrap().display().to_string());
    let command = |keys: &str, more: &[&str]| {
        let base = format!("models: [{model}]\nvocabs: [{words}, {words}]\nbeam-size: 3\n");
        fs::write(&config, format!("{base}max-length-factor: 2\n{keys}")).unwrap();
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-c"]).arg(&config);
        command.args(more);
        command
    };
    let text = |keys: &str, more: &[&str]| {
        let input = b"w4 w5 w6 w7 w8\nw9 w2\nnone w3\n";
        lossy_text(&run_with_input(&mut command(keys, more), input).stdout)
    };
    let plain = text("", &[]);
    for (keys, options) in [
        ("max-decoding-length: 3\n", &["--max-decoding-length", "3"][..]),
        ("num-hypotheses: 2\n", &["--n-best", "2"]),
        ("sampling-topk: 5\n", &["--sampling-topk", "5"]),
        (
            "no-repeat-ngram-size: 1\nreplace-unknowns: false\nthreads: 1\n",
            &["--no-repeat-ngram-size", "1"],
        ),
    ] {
        assert_eq!(text(keys, &[]), text("", options), "{keys}");
        assert_ne!(text(keys, &[]), plain, "{keys}");
    }
    // The command line overrides.
    for (keys, options) in [
        ("max-decoding-length: 3\n", &["--max-decoding-length", "100"][..]),
        ("replace-unknowns: true\n", &["--no-replace-unknowns"]),
        ("num-hypotheses: 2\n", &["--no-n-best"]),
        ("relative-paths: true\nerrors: lines.json\n", &[]),
    ] {
        assert_eq!(text(keys, options), plain, "{keys}");
    }
    assert!(folder.path().join("lines.json").is_file());
    for (keys, said) in [
        ("patience: many\n", "decoder.yml: patience: invalid value 'many'"),
        ("tsv-file: 3\n", "decoder.yml: tsv-file: unknown decoding option"),
        ("patience: {a: 2}\n", "decoder.yml: patience: unknown decoding option"),
    ] {
        let error = run_to_error(&mut command(keys, &[]));
        assert!(error.contains(said), "{error}");
    }
}

/// A configuration names models of all formats, as `-m` does.
#[test]
fn configurations_name_folders_and_files_of_this_program() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("decoder.yml");
    let input = b"w4 w5 w6 w7 w8\nw9 w2\nnone w3\n";
    for names in
        [&["tiny-ct2"][..], &["tiny-hf"], &["tiny.miriam"], &["tiny-ct2", "tiny-ct2-int16"]]
    {
        let models: Vec<PathBuf> =
            names.iter().map(|name| tiny_model(name).canonicalize().unwrap()).collect();
        let options = ["--n-best", "--max-decoding-length", "9"];
        let mut direct = miriam();
        direct.args(["nmt", "translate", "--quiet", "-b", "3", "-m"]).args(&models).args(options);
        let expected = lossy_text(&run_with_input(&mut direct, input).stdout);
        let paths: Vec<String> = models.iter().map(|path| path.display().to_string()).collect();
        fs::write(&config, format!("models: [{}]\nbeam-size: 3\n", paths.join(", "))).unwrap();
        for option in ["-c", "-m"] {
            let mut command = miriam();
            command.args(["nmt", "translate", "--quiet", option]).arg(&config).args(options);
            let found = lossy_text(&run_with_input(&mut command, input).stdout);
            assert_eq!(found, expected, "{names:?} {option}");
        }
    }
}

/// Every command that reads configurations takes or rejects such keys.
#[test]
fn options_in_configurations_of_other_commands_are_not_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let [config, text, output] =
        ["decoder.yml", "text", "out"].map(|name| folder.path().join(name));
    fs::write(&text, "w4 w5\n").unwrap();
    let complain = |keys: &str, command: &[&str]| {
        let model = tiny_model("tiny-ct2").canonicalize().unwrap();
        fs::write(&config, format!("models: [{}]\n{keys}", model.display())).unwrap();
        let output = miriam().args(command).arg(&config).output().unwrap();
        assert!(!output.status.success(), "{command:?} {keys}");
        lossy_text(&output.stderr)
    };
    let [text, output] = [&text, &output].map(|path| path.to_str().unwrap());
    let distill = ["nmt", "distill", "--plain", "--source", text, "-o", output, "-c"];
    let measure = ["bench", "scaling-run", "--workload", "nmt", "--input", text, "--cpus", "0"];
    let measure = [&measure[..], &["--seconds", "0.01", "--", "-c"]].concat();
    for (keys, command, said) in [
        ("part-lines: many\n", &distill[..], "part-lines: invalid value 'many'"),
        ("patience: 2\n", &distill, "patience: unknown decoding option"),
        ("patience: many\n", &measure, "patience: invalid value 'many'"),
        ("patienec: 2\n", &measure, "patienec: unknown decoding option"),
    ] {
        let error = complain(keys, command);
        assert!(error.contains(&format!("decoder.yml: {said}")), "{error}");
    }
}

/// A configuration beside a model of another format might name itself.
#[test]
fn configurations_do_not_name_configurations() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("decoder.yml");
    let model = tiny_model("tiny-ct2").canonicalize().unwrap();
    fs::write(&config, format!("models: [{}, {}]\n", model.display(), config.display())).unwrap();
    for option in ["-c", "-m"] {
        let error = run_to_error(miriam().args(["nmt", "translate", option]).arg(&config));
        assert!(error.contains("decoder.yml is a configuration; name its models"), "{error}");
    }
}
