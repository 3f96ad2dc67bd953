//! `miriam nmt convert --to marian-intgemm8`: files for browsers, opened again here.

use std::path::Path;
use std::process::Stdio;

use miriam_nmt::checkpoint::{Checkpoint, NpzWriter};
use miriam_storage::LoadMethod;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_to_usage_error};

#[test]
fn a_model_in_the_integers_of_browsers_translates_alike() {
    let folder = tempfile::tempdir().unwrap();
    let examples = project_root().join("examples");
    let text = |name: &str| examples.join("toy").join(name);
    let vocabulary = examples.join("toy-neural/vocab.spm");
    let model = folder.path().join("model");
    let mut command = miriam();
    command.args(["nmt", "train", "--quiet", "--task", "toy", "--vocab-size", "1000"]);
    command.args(["--after", "40u", "-v"]).args([&vocabulary; 2]);
    command.arg("--source").arg(text("train.en")).arg("--target").arg(text("train.es"));
    run(command.arg("-o").arg(&model));
    let written = folder.path().join("model.intgemm.alphas.bin");
    let mut command = miriam();
    command.args(["nmt", "convert", "--quiet", "--to", "marian-intgemm8", "--calibrate"]);
    run(command.arg(text("dev.en")).arg(&model).arg("-o").arg(&written));
    let info = lossy_text(&run(miriam().args(["nmt", "info"]).arg(&written)));
    assert!(info.contains("fixed scales for quantising"), "{info}");
    let tensors = lossy_text(&run(miriam().args(["nmt", "info", "--tensors"]).arg(&written)));
    let line = |name: &str| {
        let found = tensors.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name}: {tensors}")).to_owned()
    };
    for name in ["Wemb", "encoder_l1_self_Wq", "decoder_l2_ffn_W2"] {
        assert!(line(name).contains(" i8 "), "{}", line(name));
    }
    assert!(line("encoder_l1_self_bq").contains("f32"), "{}", line("encoder_l1_self_bq"));
    // The file gives words nearly the same probabilities as the model of floats.
    let cross_entropy = |model: &Path, more: &[&str]| -> f64 {
        let mut command = miriam();
        command.args(["nmt", "score", "--summary", "ce-mean-words", "-m"]).arg(model).arg("-v");
        command.args([&vocabulary; 2]);
        command.arg("--source").arg(text("test.en")).arg("--target").arg(text("test.es"));
        command.args(more);
        lossy_text(&run(&mut command)).trim().parse().unwrap()
    };
    let (floats, integers) = (cross_entropy(&model, &[]), cross_entropy(&written, &[]));
    assert!((integers / floats - 1.0).abs() < 0.01, "{integers}, with floats {floats}");
    // With the scales of the file instead of one for each row, the probabilities are nearly the
    // same.
    let alphas = cross_entropy(&written, &["--precision", "i8-alphas"]);
    assert!((alphas / floats - 1.0).abs() < 0.01, "{alphas}, with floats {floats}");
    assert_ne!(alphas, integers);
    let packed = folder.path().join("packed.miriam");
    let mut command = miriam();
    command.args(["nmt", "convert", "--quiet", "--precision", "i8", "-o"]).arg(&packed);
    run(command.arg(&written).arg("--vocabs").args([&vocabulary; 2]));
    assert_eq!(cross_entropy(&packed, &["--precision", "i8-alphas"]), alphas);
    assert_eq!(cross_entropy(&packed, &[]), integers);
    let mut command = miriam();
    command.args(["nmt", "translate", "--precision", "i8-alphas", "-m"]).arg(&model);
    let error = run_to_error(command.stdin(Stdio::null()));
    assert!(error.contains("no alphas") && error.contains("--precision i8"), "{error}");
    // Sixteen bits lose next to nothing.
    let sixteen = folder.path().join("model.intgemm16.bin");
    let mut command = miriam();
    command.args(["nmt", "convert", "--quiet", "--to", "marian-intgemm16"]).arg(&model);
    run(command.arg("-o").arg(&sixteen));
    let tensors = lossy_text(&run(miriam().args(["nmt", "info", "--tensors"]).arg(&sixteen)));
    assert!(tensors.contains(" i16 ") && !tensors.contains(" i8 "), "{tensors}");
    let sixteen_bit_loss = cross_entropy(&sixteen, &["--precision", "f32"]);
    assert!(
        (sixteen_bit_loss / floats - 1.0).abs() < 0.001,
        "{sixteen_bit_loss}, with floats {floats}"
    );
    assert_ne!(sixteen_bit_loss, floats);
    // Without --calibrate, scales that another program has measured are kept.
    let measured = Checkpoint::open(&written, LoadMethod::Lazy).unwrap();
    let measured = measured.activation_multipliers();
    let floats = Checkpoint::open(&model.join("model.npz"), LoadMethod::Lazy).unwrap();
    let with_scales = folder.path().join("alphas.npz");
    let mut writer = NpzWriter::create(&with_scales).unwrap();
    for name in floats.names() {
        let tensor = floats.get(name).unwrap();
        writer.add_f32(name, tensor.shape(), &tensor.values()).unwrap();
    }
    for (name, multiplier) in measured {
        writer.add_f32(&format!("{name}_QuantMultA"), &[1], &[*multiplier]).unwrap();
    }
    writer.add_bytes("special:model.yml", floats.options().unwrap()).unwrap();
    writer.finish().unwrap();
    for source in [&with_scales, &written] {
        let kept = folder.path().join("kept.bin");
        let mut command = miriam();
        command.args(["nmt", "convert", "--to", "marian-intgemm8"]).arg(source);
        let output = command.arg("-o").arg(&kept).output().unwrap();
        assert!(!lossy_text(&output.stderr).contains("--calibrate"), "{source:?}");
        let kept = Checkpoint::open(&kept, LoadMethod::Lazy).unwrap();
        assert_eq!(kept.activation_multipliers(), measured, "{source:?}");
    }
    // Another run writes the same bytes.
    let again = folder.path().join("again.bin");
    let mut command = miriam();
    command.args(["nmt", "convert", "--quiet", "--threads", "1", "--to", "marian-intgemm8"]);
    command.arg("--calibrate").arg(text("dev.en"));
    run(command.arg(&model).arg("-o").arg(&again));
    assert!(std::fs::read(&written).unwrap() == std::fs::read(&again).unwrap());
}

#[test]
fn what_browsers_do_not_run_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.bin");
    let tiny = project_root().join("nmt/testdata/tiny.npz");
    let mut command = miriam();
    command.args(["nmt", "convert", "--to", "marian-intgemm8"]).arg(&tiny);
    let error = run_to_error(command.arg("-o").arg(&output).stdin(Stdio::null()));
    assert!(error.contains("multiples of") || error.contains("transformers"), "{error}");
    assert!(!output.exists(), "nothing is half written");
    for wrong in [
        &["--to", "marian-intgemm8", "--precision", "i8"][..],
        &["--calibrate", "x"],
        &["--to", "marian-intgemm16", "--calibrate", "x"],
    ] {
        let mut command = miriam();
        command.args(["nmt", "convert"]).args(wrong).arg(&tiny);
        run_to_usage_error(command.arg("-o").arg(&output));
    }
}
