//! Damaged models: converters find damage that checksums show; weights that are not finite and
//! tokens in a wrong encoding are reported; a score that is not a number is not printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use miriam_nmt::ModelBundle;
use miriam_nmt::checkpoint::{Checkpoint, NpzWriter};
use miriam_storage::LoadMethod;
use tempfile::TempDir;

use crate::common::{
    lossy_text, miriam, output_with_input, project_root, run, run_to_error, run_with_input,
};

fn testdata(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

fn nmt(command: &str) -> Command {
    let mut nmt = miriam();
    nmt.args(["nmt", command]);
    nmt
}

/// Copies a file with one bit flipped, at the fraction `part` of its length.
fn flip_bit(file: &Path, copy: &Path, part: f64) {
    let mut bytes = fs::read(file).unwrap();
    let place = (bytes.len() as f64 * part) as usize;
    bytes[place] ^= 4;
    fs::write(copy, bytes).unwrap();
}

#[test]
fn converters_check_what_they_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let toy = project_root().join("examples/toy");
    let mut build = miriam();
    build.args(["--quiet", "pt", "build", "--phrase-table"]).arg(toy.join("phrase-table"));
    run(build.arg("-o").arg(place("table")));
    for kind in ["probing", "trie", "glm"] {
        let mut build = miriam();
        build.args(["--quiet", "lm", "build", "--type", kind]).arg(toy.join("lm.arpa"));
        run(build.arg(place(kind)));
    }
    let commands = [
        ("table", &["pt", "dump"][..]),
        ("probing", &["lm", "dump"]),
        ("trie", &["lm", "dump"]),
        ("glm", &["lm", "dump"]),
        ("probing", &["lm", "build", "--type", "trie"]),
        ("trie", &["lm", "build"]),
    ];
    for (name, arguments) in commands {
        for part in [0.5, 0.75, 0.9] {
            flip_bit(&place(name), &place("damaged"), part);
            let mut verify = miriam();
            run_to_error(verify.arg("verify").arg(place("damaged")));
            let mut convert = miriam();
            convert.args(arguments).arg(place("damaged")).arg("-o").arg(place("converted"));
            let error = run_to_error(&mut convert);
            assert!(error.contains("damaged: ") && error.contains("checksum"), "{error}");
            assert!(!place("converted").exists(), "{arguments:?}");
        }
    }
    for part in [0.5, 0.75, 0.9] {
        flip_bit(&testdata("tiny.miriam"), &place("tiny.miriam"), part);
        let convert = |more: &[&str]| {
            let mut convert = nmt("convert");
            convert.arg(place("tiny.miriam")).arg("-o").arg(place("converted")).args(more);
            let error = run_to_error(&mut convert);
            assert!(error.contains("tiny.miriam: damaged: "), "{error}");
            assert!(!place("converted").exists());
        };
        convert(&[]);
        convert(&["--to", "marian-intgemm8"]);
    }
}

/// Writes `tiny.npz` with the first weight of `parameter` replaced.
fn write_tiny(path: &Path, parameter: &str, weight: f32) {
    let checkpoint = Checkpoint::open(&testdata("tiny.npz"), LoadMethod::Lazy).unwrap();
    let mut writer = NpzWriter::create(path).unwrap();
    for name in checkpoint.names() {
        let tensor = checkpoint.get(name).unwrap();
        let mut values = tensor.values();
        if name == parameter {
            values[0] = weight;
        }
        writer.add_f32(name, tensor.shape(), &values).unwrap();
    }
    writer.add_bytes("special:model.yml", checkpoint.options().unwrap()).unwrap();
    writer.finish().unwrap();
}

fn run_with_vocabulary(command: &mut Command, model: &Path) -> String {
    let vocabulary = testdata("tiny.vocab.yml");
    let output = output_with_input(
        command.arg(model).arg("--vocabs").args([&vocabulary, &vocabulary]),
        b"w4 w5\tw4 w5\n",
    );
    let messages = lossy_text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert_eq!(lossy_text(&output.stdout), "");
    messages
}

#[test]
fn weights_that_are_not_finite_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (model, output) = (folder.path().join("model.npz"), folder.path().join("model.miriam"));
    let parameter = "decoder_l1_ffn_W1";
    for weight in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        write_tiny(&model, parameter, weight);
        let expected = format!("model.npz: damaged: {parameter}: a weight is {weight}");
        for arguments in [&["translate", "-m"][..], &["score", "--tsv", "-", "-m"], &["info"]] {
            let mut command = miriam();
            let messages = run_with_vocabulary(command.arg("nmt").args(arguments), &model);
            assert!(messages.contains(&expected), "{messages}");
        }
        let mut convert = nmt("convert");
        let error = run_with_vocabulary(convert.arg("-o").arg(&output), &model);
        assert!(error.contains(&expected) && !output.exists(), "{error}");
    }
}

/// Writes the tiny model in Miriam's format with one weight replaced and the old checksums, as by a
/// damaged disk.
fn write_damaged_miriam(folder: &TempDir, weight: f32) -> PathBuf {
    let path = folder.path().join("tiny.miriam");
    let original = testdata("tiny.miriam");
    let model = ModelBundle::open(&original, None).unwrap().models.remove(0);
    let weights = model.parameter("decoder_l1_ffn_b2").unwrap().bytes();
    let mut bytes = fs::read(original).unwrap();
    let place = bytes.windows(weights.len()).position(|window| window == weights).unwrap();
    bytes[place..place + 4].copy_from_slice(&weight.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_is_not_a_number_is_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let model = write_damaged_miriam(&folder, f32::NAN);
    let mut score = nmt("score");
    score.args(["--quiet", "--tsv", "-", "-m"]).arg(&model);
    let output = output_with_input(&mut score, b"w4 w5\tw4 w5\n");
    let messages = lossy_text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("sentence 1: its score is NaN"), "{messages}");
    assert_eq!(lossy_text(&output.stdout), "");
    // In translation, only the line that has such scores is lost.
    let mut translate = nmt("translate");
    translate.args(["--quiet", "-m"]).arg(&model);
    let output = run_with_input(&mut translate, b"w4 w5\n");
    let messages = lossy_text(&output.stderr);
    assert!(messages.contains("line 1: ") && messages.contains("not finite"), "{messages}");
    assert_eq!(lossy_text(&output.stdout), "\n");
    for command in [&["nmt", "info"][..], &["verify"]] {
        let error = run_to_error(miriam().args(command).arg(&model));
        assert!(error.contains("tiny.miriam: damaged: "), "{error}");
    }
}

#[cfg(feature = "serve")]
#[test]
fn a_server_is_not_ok_with_a_damaged_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = write_damaged_miriam(&folder, 0.5);
    let check = |options: &str| {
        let model = format!("toy={}{options}", model.display());
        let output = miriam().args(["serve", "--check", "--model", &model]).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert_eq!(lossy_text(&output.stdout), "");
        lossy_text(&output.stderr)
    };
    let error = check("");
    assert!(error.contains("model toy: ") && error.contains("damaged: "), "{error}");
    // Weights that are finite and overflow: such a model can translate nothing.
    let large = folder.path().join("large.npz");
    write_tiny(&large, "Wemb", 3e38);
    let vocabulary = testdata("tiny.vocab.yml");
    let vocabulary = vocabulary.display();
    let model = format!("toy={},vocab={vocabulary}", large.display());
    let output = miriam().args(["serve", "--check", "--model", &model]).output().unwrap();
    let error = lossy_text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("model toy: ") && error.contains("are not finite"), "{error}");
    // The bounds of the option, and those of a request.
    for beam in ["0", "4294967295"] {
        let error = check(&format!(",beam={beam}"));
        assert!(error.contains("beam-size: expected a whole number from 1 to 1000"), "{error}");
    }
    let error = check(",beam=150");
    assert!(error.contains("beam is 150; give a number from 1 to 100"), "{error}");
}

#[test]
fn tokens_that_are_not_utf8_are_rejected_or_reported() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(testdata("tiny-ct2")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    // A JSON list, then a text with one token a line.
    let json = folder.path().join("shared_vocabulary.json");
    let tokens: Vec<String> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let replace = |text: &[u8]| {
        let place = text.windows(2).position(|window| window == b"w7").unwrap();
        let mut text = text.to_vec();
        text[place + 1] = 0xe4;
        text
    };
    fs::write(&json, replace(&fs::read(&json).unwrap())).unwrap();
    let info = || run_to_error(nmt("info").arg(folder.path()));
    let error = info();
    assert!(error.contains("shared_vocabulary.json: vocabulary: token 7, "), "{error}");
    assert!(error.contains("is not UTF-8"), "{error}");
    fs::remove_file(&json).unwrap();
    let text = folder.path().join("shared_vocabulary.txt");
    fs::write(&text, replace((tokens.join("\n") + "\n").as_bytes())).unwrap();
    let error = info();
    assert!(error.contains("shared_vocabulary.txt: vocabulary: token 7, "), "{error}");
    // Pieces of SentencePiece.
    let mut model = fs::read(project_root().join("examples/toy-neural/vocab.spm")).unwrap();
    let space = "\u{2581}".as_bytes();
    let place = model.windows(3).position(|window| window == space).unwrap();
    model[place + 1] = b'a';
    let pieces = folder.path().join("vocab.spm");
    fs::write(&pieces, model).unwrap();
    let mut info = nmt("info");
    info.arg(project_root().join("examples/toy-neural/model.npz")).arg("--vocabs").arg(&pieces);
    let error = run_to_error(&mut info);
    assert!(error.contains("vocab.spm: ") && error.contains("is not UTF-8"), "{error}");
    // Marian's words may be any bytes.
    let words = folder.path().join("words.yml");
    fs::write(&words, replace(&fs::read(testdata("tiny.vocab.yml")).unwrap())).unwrap();
    let mut info = nmt("info");
    info.arg(testdata("tiny.npz")).arg("--vocabs").arg(&words);
    let output = info.output().unwrap();
    let messages = lossy_text(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert!(messages.contains("words.yml: 1 words are not UTF-8"), "{messages}");
}

#[test]
fn a_long_unknown_name_is_rejected_at_once_and_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("train.yml");
    let key = "long-name-".repeat(100_000);
    fs::write(&config, format!("{key}: 1\n")).unwrap();
    let began = Instant::now();
    let output = nmt("train").arg("-c").arg(&config).output().unwrap();
    assert!(began.elapsed().as_secs() < 10);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.len() < 1000, "{}", lossy_text(&output.stderr[..1000]));
    let message = lossy_text(&output.stderr);
    assert!(message.contains("long-name-") && message.contains("(1000000 bytes)"), "{message}");
    let ini = folder.path().join("moses.ini");
    fs::write(&ini, format!("[{key}]\n1\n")).unwrap();
    let output = miriam().args(["translate", "-f"]).arg(&ini).output().unwrap();
    assert!(!output.status.success() && output.stderr.len() < 20_000);
}
