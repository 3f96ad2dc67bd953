//! Neural models of all formats and architectures on the emulated GPU: n-best lists by greedy and
//! by beam search, compared with the CPU's.

use std::path::{Path, PathBuf};

use crate::common::{project_root, shared_data, use_all_lines};
use crate::nmt_device::emulated::{
    assert_lists_within, assert_same_lists, first_lines, on_cpu, on_gpu,
};
use crate::nmt_device::{path_str, translation};

/// Beam sizes, which are also the lengths of the lists.
const BEAMS: &[&str] = &["1", "4"];

/// Few tokens: translations of random models rarely end before their limit.
const FEW_TOKENS: [&str; 2] = ["--max-decoding-length", "5"];

/// Checks that the lists of a model are those of the CPU in f32.
fn compare(model: &Path, seed: usize, beam: &str, more: &[&str]) {
    let more = [more, &["--beam-size", beam, "--n-best", beam]].concat();
    let on_device = [&more[..], &["--device", "cuda"]].concat();
    let expected = on_cpu(&translation(model, &[&more[..], &["--precision", "f32"]].concat()));
    let found = on_gpu(&format!("seed={seed}"), &translation(model, &on_device));
    assert!(!found.is_empty(), "{}", model.display());
    assert_same_lists(&format!("{}, beam {beam}", model.display()), &expected, &found);
}

/// A model of `nmt/testdata`, two lines for it, and the options that it needs.
type TestModel = (&'static str, &'static str, &'static [&'static str]);

/// All models with vocabularies, except copies of `tiny-ct2` in other types. Sessions of these
/// copies and of models without vocabularies are compared in `nmt/cuda/tests`.
const MODELS: [TestModel; 16] = [
    ("ct2-bart", "w0 w22 w21 </s>\nw3 </s>\n", &[]),
    ("ct2-base", "s21 s6 s4\ns3\n", &[]),
    ("ct2-base-v1", "s21 s6 s4\ns3\n", &[]),
    ("ct2-relative", "s2 s18\ns13\n", &[]),
    ("ct2-t5", "w6 w24 w1 </s>\nw9 </s>\n", &[]),
    ("hf-m2m100", "add ade\nac\n", &["--from", "de", "--to", "en"]),
    ("hf-madlad", "add ade\nac\n", &["--to", "en"]),
    ("hf-mbart50", "add ade\nac\n", &["--from", "de_DE", "--to", "en_XX"]),
    ("hf-nllb", "add ade\nac\n", &["--from", "deu_Latn", "--to", "eng_Latn"]),
    ("hf-t5", "add ade\nac\n", &[]),
    ("argos.argosmodel", "aa ab baa\nab\n", &[]),
    ("argos-bpe.argosmodel", "aa ab baa\nab\n", &[]),
    ("opus-mt.zip", "aa ab\nab\n", &[]),
    ("relative.miriam", "w2 w5 w7\nw3\n", &[]),
    ("complete.miriam", "w2 w5 w7\nw3\n", &[]),
    ("tiny-hf", "w2 w5 w7\nw3\n", &[]),
];

/// Translates with some of the models, each in another order of lanes.
fn compare_test_models(part: usize) {
    let data = project_root().join("nmt/testdata");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text");
    let models = MODELS.iter().enumerate().filter(|(number, _)| number % 2 == part);
    for (number, &(name, lines, options)) in models {
        std::fs::write(&text, lines).expect("writable");
        let options = [options, &["-i", path_str(&text)], &FEW_TOKENS].concat();
        for beam in BEAMS {
            compare(&data.join(name), 20 + number, beam, &options);
        }
    }
}

/// The models are divided between two tests, which run at the same time.
#[test]
fn every_second_test_model_translates_as_on_the_cpu() {
    compare_test_models(0);
}

#[test]
fn the_other_test_models_translate_as_on_the_cpu() {
    compare_test_models(1);
}

/// Models of all architectures by greedy search, each in one of three orders of lanes: the first
/// few tokens for one line. With `MIRIAM_ALL_LINES=1` all lines of the text are translated to their
/// ends, by beam search too, which takes hours.
#[test]
fn models_of_all_architectures_translate_greedily_as_on_the_cpu() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (vocabulary, line) = (data.join("vocab.spm"), folder.path().join("line"));
    std::fs::write(&line, "two guys mounting a box on a railing .\n").expect("writable");
    let translates_all = use_all_lines();
    let text = if translates_all { data.join("input.txt") } else { line };
    let mut options = vec!["--vocabs", path_str(&vocabulary), "-i", path_str(&text)];
    if !translates_all {
        options.extend(FEW_TOKENS);
    }
    let beams = if translates_all { BEAMS } else { &BEAMS[..1] };
    let models = std::fs::read_dir(data.join("models")).expect("models");
    let paths = models.map(|entry| entry.expect("an entry of the folder").path());
    let mut models: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|name| name == "npz")).collect();
    models.sort();
    assert!(models.len() >= 16, "{}", models.len());
    for (number, model) in models.iter().enumerate() {
        for beam in beams {
            compare(model, 40 + number % 3, beam, &options);
        }
    }
}

/// The scores of a trained model in half precision equal those of f32 on the CPU but for rounding:
/// f16 has ten bits of a fraction, bf16 seven. Near ties, which rounding may decide in another way,
/// are not among these lines.
#[test]
fn scores_of_half_precision_differ_by_rounding() {
    let toy = project_root().join("examples/toy-neural");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = first_lines(&project_root().join("examples/toy/test.es"), 3, folder.path());
    for (seed, &beam) in BEAMS.iter().enumerate() {
        let list = ["-i", path_str(&text), "--beam-size", beam, "--n-best", beam];
        let expected = on_cpu(&translation(&toy, &[&list[..], &["--precision", "f32"]].concat()));
        for (precision, tolerance) in [("f16", 1e-2), ("bf16", 2e-2)] {
            let on_device = [&list[..], &["--device", "cuda", "--precision", precision]].concat();
            let found = on_gpu(&format!("seed={seed}"), &translation(&toy, &on_device));
            assert_lists_within(tolerance, precision, &expected, &found);
        }
    }
}
