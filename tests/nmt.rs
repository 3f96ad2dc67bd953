//! `miriam nmt convert`, `nmt info` and `verify` over neural models.

use std::path::{Path, PathBuf};

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, shared_data};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

fn model_info(model: &Path) -> serde_json::Value {
    let output = run(miriam().args(["nmt", "info", "--json"]).arg(model));
    serde_json::from_slice(&output).unwrap_or_else(|e| panic!("{e}: {}", lossy_text(&output)))
}

/// Converts `model`, verifies the file, and compares the output of `info` for both.
fn convert_and_compare(model: &Path, vocabularies: &[&Path], output: &Path) {
    let mut command = miriam();
    command.args(["nmt", "convert", "--quiet"]).arg(model).arg("-o").arg(output);
    if !vocabularies.is_empty() {
        command.arg("--vocabs").args(vocabularies);
    }
    run(&mut command);
    let verified = lossy_text(&run(miriam().arg("verify").arg(output)));
    assert!(verified.contains("whole: nmt-model version 5"), "{verified}");
    let (before, after) = (model_info(model), model_info(output));
    let [before, after] = [&before["models"][0], &after["models"][0]];
    for key in ["type", "layers", "parameters", "tensors", "tables"] {
        assert_eq!(before[key], after[key], "{}: {key}", model.display());
    }
    let shapes = |model: &serde_json::Value| -> Vec<(String, String)> {
        let shapes = model["shapes"].as_object().unwrap();
        shapes.iter().map(|(name, tensor)| (name.clone(), tensor["shape"].to_string())).collect()
    };
    assert_eq!(shapes(before), shapes(after), "{}", model.display());
}

#[test]
fn every_format_is_detected_and_converted() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("model.miriam");
    let vocabulary = tiny_model("tiny.vocab.yml");
    convert_and_compare(&tiny_model("tiny.npz"), &[&vocabulary, &vocabulary], &output);
    for name in ["tiny-ct2", "tiny-ct2-int8", "tiny-ct2-int16", "tiny-ct2-float16", "tiny-hf"] {
        convert_and_compare(&tiny_model(name), &[], &output);
    }
    let report = lossy_text(&run(miriam().args(["nmt", "info"]).arg(tiny_model("tiny-ct2-int8"))));
    for line in [
        "transformer",
        "1 + 1",
        "24 words, </s> 0, <unk> 1",
        "CTranslate2 version 6",
        "after a sublayer ",
        " tokenised already\n",
        "\ninstructions here ",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    let summary = &model_info(&tiny_model("tiny-ct2-int8"))["models"][0];
    assert!(summary["after_a_sublayer"].is_string(), "{summary}");
    let tensors = run(miriam().args(["nmt", "info", "--tensors"]).arg(tiny_model("tiny-ct2-int8")));
    assert!(
        lossy_text(&tensors)
            .lines()
            .any(|line| { line.split_whitespace().eq(["decoder_l1_ffn_W1", "i8", "4", "x", "6"]) })
    );
}

#[test]
fn weights_are_packed_for_one_precision() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("model.miriam");
    for precision in ["f32", "i16", "i8", "mixed"] {
        let mut command = miriam();
        command.args(["nmt", "convert", "--quiet", "--precision", precision]);
        run(command.arg(tiny_model("tiny-ct2")).arg("-o").arg(&output));
        let verified = lossy_text(&run(miriam().arg("verify").arg(&output)));
        // The table of embeddings is also the output layer. A single copy is stored only if that
        // layer has floats.
        let version = if precision == "f32" { 5 } else { 2 };
        let expected = format!("whole: nmt-model version {version}");
        assert!(verified.contains(&expected), "{precision}: {verified}");
        let (before, after) = (model_info(&tiny_model("tiny-ct2")), model_info(&output));
        let [before, after] = [&before["models"][0], &after["models"][0]];
        assert_eq!(before["parameters"], after["parameters"]);
        assert_eq!(after["weights"], format!("packed as {precision}"));
    }
}

#[test]
fn every_model_of_the_oracle_is_detected_and_converted() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("model.miriam");
    let (yml, spm) = (data.join("vocab.yml"), data.join("vocab.spm"));
    let mut count = 0;
    for entry in std::fs::read_dir(data.join("models")).unwrap() {
        convert_and_compare(&entry.unwrap().path(), &[&spm, &yml], &output);
        count += 1;
    }
    assert_eq!(count, 34);
}

#[test]
fn a_dialect_can_be_chosen() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    let model = data.join("models/tr-pre.npz");
    for (dialect, keys, gelu) in [
        ("marian", "normalised input (decoder: first step only)", "gelu"),
        ("browser", "raw input", "gelu as x sigmoid(1.702 x)"),
    ] {
        let output =
            run(miriam().args(["nmt", "info", "--json", "--dialect", dialect]).arg(&model));
        let report: serde_json::Value = serde_json::from_slice(&output).unwrap();
        assert_eq!(report["models"][0]["keys_and_values_of"], keys);
        assert_eq!(report["models"][0]["activation"], gelu);
    }
}

#[test]
fn errors_name_the_cause_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let info_of = |path: &Path| run_to_error(miriam().args(["nmt", "info"]).arg(path));
    assert!(info_of(&file("empty.npz", b"")).contains("not a model"));
    let npz = std::fs::read(tiny_model("tiny.npz")).unwrap();
    let cut = info_of(&file("cut.npz", &npz[..npz.len() / 2]));
    assert!(cut.contains("cut.npz") && cut.contains("cut"), "{cut}");
    assert!(info_of(&folder.path().join("absent")).contains("absent"));
    let none = info_of(&file("c.yml", b"beam-size: 6\n"));
    assert!(none.contains("no models are named"), "{none}");
    let missing = file("d.yml", b"relative-paths: true\nmodels: [nowhere.npz]\n");
    assert!(info_of(&missing).contains("nowhere.npz"));
    // A vocabulary that is too small names both numbers.
    let small = file("small.txt", b"</s>\n<unk>\nx\n");
    let mut command = miriam();
    command
        .args(["nmt", "convert"])
        .arg(tiny_model("tiny.npz"))
        .arg("-o")
        .arg(folder.path().join("out"));
    let error = run_to_error(command.arg("--vocabs").args([&small, &small]));
    assert!(error.contains("3 words") && error.contains("24 rows"), "{error}");
    assert!(!folder.path().join("out").exists());
    // A file is not converted onto itself.
    let own = file("own.npz", &npz);
    let error = run_to_error(miriam().args(["nmt", "convert"]).arg(&own).arg("-o").arg(&own));
    assert!(error.contains("also the output"), "{error}");
    // A damaged file in Miriam's format.
    let output = folder.path().join("model.miriam");
    run(miriam()
        .args(["nmt", "convert", "--quiet"])
        .arg(tiny_model("tiny-ct2"))
        .arg("-o")
        .arg(&output));
    let mut bytes = std::fs::read(&output).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&output, bytes).unwrap();
    assert!(run_to_error(miriam().arg("verify").arg(&output)).contains("checksum"));
}
