//! Neural models with the files beside them: BPE codes, decoder settings, ensembles,
//! shortlists.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

fn translate(model: &Path) -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]).arg(model);
    command
}

/// Returns the settings of a model, as `--verbose` prints them.
fn verbose_settings(model: &Path, more: &[&str]) -> String {
    lossy_text(&run_with_input(translate(model).arg("--verbose").args(more), b"").stderr)
}

/// Writes Marian's small model to `folder`, with a vocabulary that has the subwords of `BPE_CODES`.
/// One of them is `v@@`, which the model prefers.
fn write_bpe_bundle(folder: &Path) {
    fs::copy(tiny_model("tiny.npz"), folder.join("model.npz")).unwrap();
    let words = fs::read_to_string(tiny_model("tiny.vocab.yml")).unwrap();
    let words = words.replace("w14:", "v@@:");
    fs::write(folder.join("vocab.yml"), words).unwrap();
    let configuration = "relative-paths: true\nmodels: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\n\
                         beam-size: 3\nmax-length-factor: 2\n";
    fs::write(folder.join("decoder.yml"), configuration).unwrap();
}

/// These codes join everything except `v`, which stays a subword of its own.
const BPE_CODES: &str = "#version: 0.2\nw 2</w>\nw 3</w>\nw 5</w>\nw 6</w>\nw 7</w>\nw 8</w>\nw 9</w>\n\
                     w 1\nw1 0</w>\nw1 1</w>\nw1 2</w>\nw 2\nw2 0</w>\n";

#[test]
fn bpe_codes_are_applied_and_undone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_bpe_bundle(folder);
    let pieces = "v@@ w5 w10 v@@ v@@ w7\nw9\n\nz@@ z w5\n";
    let words = "vw5 w10 vvw7\nw9\n\nzz w5\n";
    let joined = |output: &[u8]| lossy_text(output).replace("@@ ", "").replace("@@\n", "\n");
    let expected = run_with_input(&mut translate(folder), pieces.as_bytes()).stdout;
    assert!(lossy_text(&expected).contains("@@"), "{}", lossy_text(&expected));
    // Codes named by the option, codes of the folder under each name, and codes in Miriam's own
    // file.
    let codes = folder.join("c");
    fs::write(&codes, BPE_CODES).unwrap();
    let named =
        run_with_input(translate(folder).arg("--bpe-codes").arg(&codes), words.as_bytes()).stdout;
    assert_eq!(lossy_text(&named), joined(&expected));
    let raw = ["--no-spm-encode", "--no-spm-decode"];
    let mut command = translate(folder);
    command.arg("--bpe-codes").args([&codes, &codes]).args(raw);
    assert_eq!(run_with_input(&mut command, pieces.as_bytes()).stdout, expected);
    for name in ["codes", "bpe.codes", "source.bpe"] {
        fs::write(folder.join(name), BPE_CODES).unwrap();
        assert_eq!(
            run_with_input(&mut translate(folder), words.as_bytes()).stdout,
            named,
            "{name}"
        );
        let ours = folder.join("ours.miriam");
        run(miriam().args(["nmt", "convert", "--quiet"]).arg(folder).arg("-o").arg(&ours));
        assert_eq!(run_with_input(&mut translate(&ours), words.as_bytes()).stdout, named, "{name}");
        let settings = lossy_text(&run(miriam().args(["nmt", "info"]).arg(&ours)));
        assert_eq!(settings.matches("byte pair encoding, 13 codes").count(), 2, "{settings}");
        run(miriam().arg("verify").arg(&ours));
        fs::remove_file(&ours).unwrap();
        fs::remove_file(folder.join(name)).unwrap();
    }
    // Scores are those of the subwords.
    let score = |lines: &str, more: &[&str]| {
        let both: String = lines.lines().map(|line| format!("{line}\t{line}\n")).collect();
        let mut command = miriam();
        command
            .args(["nmt", "score", "--quiet", "-m"])
            .arg(folder)
            .args(["--tsv", "--source", "-"]);
        lossy_text(&run_with_input(command.args(more), both.as_bytes()).stdout)
    };
    let codes = codes.to_str().unwrap();
    assert_eq!(score(words, &["--bpe-codes", codes]), score(pieces, &[]));
    fs::write(folder.join("codes"), "a b c\n").unwrap();
    let error = run_to_error(&mut translate(folder));
    assert!(error.contains("codes, line 1"), "{error}");
}

#[test]
fn a_converted_model_keeps_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::copy(tiny_model("tiny.npz"), folder.join("model.npz")).unwrap();
    fs::copy(tiny_model("tiny.vocab.yml"), folder.join("vocab.yml")).unwrap();
    let configuration = "relative-paths: true\nmodels: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\n\
        weights: [0.5]\nbeam-size: 1\nnormalize: 0.7\nword-penalty: 0.25\nmini-batch: 7\n\
        maxi-batch: 3\nmax-length-factor: 2.5\n";
    fs::write(folder.join("decoder.yml"), configuration).unwrap();
    let ours = folder.join("ours.miriam");
    run(miriam().args(["nmt", "convert", "--quiet"]).arg(folder).arg("-o").arg(&ours));
    let settings = |model: &Path| {
        let settings = verbose_settings(model, &["--no-tuner-file"]);
        // The paths of the vocabularies differ.
        let lines = settings.lines().skip(1).filter(|line| !line.contains(" vocabulary: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = settings(folder);
    for line in ["mini-batch: 7", "maxi-batch: 3", "weights: 0.5"] {
        assert!(before.iter().any(|setting| setting.ends_with(line)), "{line}: {before:?}");
    }
    assert_eq!(settings(&ours), before);
    let input = b"w4 w5\nw6\n";
    let output =
        |model: &Path| run_with_input(translate(model).args(["--n-best", "1"]), input).stdout;
    assert_eq!(output(&ours), output(folder));
}

#[test]
fn defaults_are_those_of_the_decoding_semantics() {
    let model = tiny_model("tiny-ct2");
    for (search, expected) in [
        (&[][..], ["search: ctranslate2", "beam-size: 2", "normalize: 1", "allow-unk: true"]),
        (
            &["--search", "marian"],
            ["search: marian", "beam-size: 12", "normalize: 0", "allow-unk: false"],
        ),
        (
            &["--search", "marian", "-b", "3", "--normalize", "0.5", "--allow-unk"],
            ["search: marian", "beam-size: 3", "normalize: 0.5", "allow-unk: true"],
        ),
    ] {
        let settings = verbose_settings(&model, search);
        for line in expected {
            assert!(settings.lines().any(|setting| setting.ends_with(line)), "{line}: {settings}");
        }
    }
}

#[test]
fn ensemble_scores_are_weighted_sums_of_their_models() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("lex");
    let pairs: String = (2..24).map(|n| format!("w{} w{n} 0.9\nw{n} w{n} 0.1\n", 25 - n)).collect();
    fs::write(&list, pairs).unwrap();
    let list = list.to_str().unwrap();
    let input = "w4 w5 w6\nw7\n\nw9 w10 w11 w12 w3\n";
    let models = [tiny_model("tiny-ct2"), tiny_model("tiny-ct2-int8")];
    for (count, weights) in [(2, &["0.75", "-0.25"][..]), (2, &["1", "1"]), (1, &["0.5"])] {
        for limited in [&["--no-shortlist"][..], &["--shortlist", list, "2", "3"]] {
            let mut command = miriam();
            command.args(["nmt", "translate", "--quiet", "-m"]).args(&models[..count]);
            command.arg("--weights").args(weights).args(limited).args(["--search", "marian"]);
            command.args(["-b", "4", "--n-best", "4", "--max-length-factor", "2", "--allow-unk"]);
            let output = lossy_text(&run_with_input(&mut command, input.as_bytes()).stdout);
            assert!(output.lines().count() >= 9, "{output}");
            for line in output.lines() {
                let fields: Vec<&str> = line.split(" ||| ").collect();
                let features = fields[2].split_whitespace().filter(|f| !f.starts_with('F'));
                let features: Vec<f64> = features.map(|f| f.parse().unwrap()).collect();
                assert_eq!(features.len(), count, "{line}");
                let weighted = features.iter().zip(weights);
                let sum: f64 = weighted.map(|(f, w)| f * w.parse::<f64>().unwrap()).sum();
                let total: f64 = fields[3].parse().unwrap();
                let scale = features.iter().map(|f| f.abs()).sum::<f64>().max(1.0);
                assert!((sum - total).abs() < 1e-5 * scale, "{line}: {sum}");
            }
        }
    }
}

/// A file that was written without vocabularies takes those of the option; one that has
/// vocabularies keeps them, with a message.
#[test]
fn vocabularies_of_converted_files_are_named_if_they_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let (bare, whole) = (folder.path().join("bare.miriam"), folder.path().join("whole.miriam"));
    let (model, words) = (tiny_model("tiny.npz"), tiny_model("tiny.vocab.yml"));
    let convert = || {
        let mut command = miriam();
        command.args(["nmt", "convert"]).arg(&model).arg("-o");
        command
    };
    run(convert().arg(&bare));
    run(convert().arg(&whole).arg("--vocabs").arg(&words));
    let other = folder.path().join("other.yml");
    let text = std::fs::read_to_string(&words).unwrap();
    assert!(text.contains("w7:"));
    std::fs::write(&other, text.replace("w7:", "w700:")).unwrap();
    let translate = |model: &Path, words: &Path| {
        let mut command = translate(model);
        run_with_input(command.arg("--vocabs").arg(words), b"w4 w5\n")
    };
    let expected = translate(&model, &words);
    for (file, words, is_told) in
        [(&bare, &words, false), (&whole, &words, false), (&whole, &other, true)]
    {
        let found = translate(file, words);
        assert_eq!(found.stdout, expected.stdout, "{}", file.display());
        let told =
            lossy_text(&found.stderr).contains("vocabs (the file has vocabularies of its own)");
        assert_eq!(told, is_told, "{}", lossy_text(&found.stderr));
    }
    let error = run_to_error(&mut self::translate(&bare));
    assert!(error.contains("no vocabularies were found") && error.contains("--vocabs"), "{error}");
}
