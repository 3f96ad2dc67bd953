//! Options and models of CTranslate2 in `miriam nmt translate`, compared with what CTranslate2 4.8.5
//! gives.

use std::path::PathBuf;

use crate::common::{lossy_text, miriam, project_root, run, run_with_input};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

#[test]
fn patience_and_negative_coverage_penalties_act_as_in_ctranslate2() {
    let translate = |source: &str, options: &[&str]| {
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "--precision", "f32"]);
        command.args(["--max-decoding-length", "8", "-m"]).arg(tiny_model("ct2-relative"));
        let list = lossy_text(&run_with_input(command.args(options), source.as_bytes()).stdout);
        let entries = list.lines().map(|line| {
            let fields: Vec<&str> = line.split(" ||| ").collect();
            (fields[1].to_owned(), fields[3].parse::<f64>().unwrap())
        });
        entries.collect::<Vec<(String, f64)>>()
    };
    let assert_near = |found: Vec<(String, f64)>, expected: &[(&str, f64)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((text, score), (wanted, wanted_score)) in found.iter().zip(expected) {
            assert!(text == wanted && (score - wanted_score).abs() < 1e-4, "{found:?}");
        }
    };
    let patient = ["-b", "3", "--n-best", "5", "--patience", "2", "--normalize"];
    for (normalize, expected) in [
        (
            "0",
            [
                ("t7 <s>", -2.145417),
                ("t15", -3.309686),
                ("t9 <s>", -4.017059),
                ("t9 t7 <s>", -4.464911),
                ("t7 <s> t9", -5.568995),
            ],
        ),
        (
            "1",
            [
                ("t7 <s>", -0.715139),
                ("t9 t7 <s>", -1.116228),
                ("t7 <s> t7 <s>", -1.215557),
                ("t9 <s>", -1.33902),
                ("t7 <s> t9", -1.392249),
            ],
        ),
    ] {
        let options = [&patient[..], &[normalize]].concat();
        assert_near(translate("s18 s17\n", &options), &expected);
    }
    let options = ["-b", "3", "--n-best", "2", "--coverage-penalty", "-1"];
    let expected = [("t7", 3.675553), ("t7 <s>", 2.48981)];
    assert_near(translate("s19 s0 s15 s8 s17\n", &options), &expected);
}

#[test]
fn alignments_average_the_heads_that_a_model_of_ctranslate2_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["config.json", "source_vocabulary.json", "target_vocabulary.json"] {
        std::fs::copy(tiny_model("ct2-relative").join(name), folder.path().join(name)).unwrap();
    }
    let mut model = std::fs::read(tiny_model("ct2-relative").join("model.bin")).unwrap();
    let name = b"decoder/alignment_heads\0";
    let at = model.windows(name.len()).position(|bytes| bytes == name).unwrap() + name.len();
    // The rank, the type, the size, and the number of heads in two bytes.
    assert_eq!(model[at..at + 8], [0, 2, 2, 0, 0, 0, 1, 0]);
    for (heads, expected) in [
        (
            1,
            [
                [0.1182, 0.39947, 0.11875, 0.14467, 0.21891],
                [0.12352, 0.30769, 0.2827, 0.10267, 0.18341],
            ],
        ),
        (
            2,
            [
                [0.35438, 0.21007, 0.16324, 0.13976, 0.13254],
                [0.32301, 0.1837, 0.22352, 0.13792, 0.13185],
            ],
        ),
        (
            0,
            [
                [0.29468, 0.18196, 0.25321, 0.13401, 0.13614],
                [0.24591, 0.2119, 0.24923, 0.13688, 0.15608],
            ],
        ),
    ] {
        model[at + 6] = heads;
        std::fs::write(folder.path().join("model.bin"), &model).unwrap();
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "--precision", "f32", "-b", "1"]);
        command
            .args(["--max-decoding-length", "4", "--alignment", "soft", "-m"])
            .arg(folder.path());
        let output = run_with_input(&mut command, b"s19 s0 s15 s8 s17\n");
        assert_eq!(lossy_text(&output.stderr), "", "{heads}");
        let converted = folder.path().join("model.miriam");
        let mut convert = miriam();
        run(convert.args(["nmt", "convert"]).arg(folder.path()).arg("-o").arg(&converted));
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "--precision", "f32", "-b", "1"]);
        command.args(["--max-decoding-length", "4", "--alignment", "soft", "-m"]).arg(&converted);
        let same = run_with_input(&mut command, b"s19 s0 s15 s8 s17\n");
        assert_eq!(lossy_text(&same.stdout), lossy_text(&output.stdout), "{heads}");
        let line = lossy_text(&output.stdout);
        let (text, attention) = line.split_once(" ||| ").unwrap();
        assert_eq!(text, "t7 <s>");
        for (found, expected) in attention.split_whitespace().zip(expected) {
            let found: Vec<f64> = found.split(',').map(|one| one.parse().unwrap()).collect();
            let is_near = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-4);
            assert!(found.len() == 5 && is_near, "{heads}: {found:?} {expected:?}");
        }
    }
}
