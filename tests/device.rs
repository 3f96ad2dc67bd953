//! `--device` and `lm next`, end to end. Instead of a GPU there is a library that replaces
//! the driver and interprets the kernels.

use std::path::Path;
use std::process::Command;

#[cfg(feature = "cuda")]
use crate::common::{emulated_gpu, read_decompressed, report_skip, shared_data};
use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

fn lm(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "lm"]).args(arguments);
    command
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// Builds a folder with the toy model as `toy.arpa` and `toy.glm`.
fn build_toy_model() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (arpa, glm) = (folder.path().join("toy.arpa"), folder.path().join("toy.glm"));
    std::fs::copy(project_root().join("tests/data/toy.arpa"), &arpa).expect("it is there");
    run(&mut lm(&["build", path_str(&arpa), "-o", path_str(&glm), "--type", "glm"]));
    folder
}

/// After `<s> a b` the context is `b`: `b </s>` has -0.7 and `b a` -0.9. Unigrams have the backoff
/// -0.1 of `b`: `<unk>` -1.1, `b` -1.8. Without context, `</s>` has -1.2. `<s>` is never predicted.
#[test]
fn next_words_are_ranked() {
    let folder = build_toy_model();
    let (arpa, glm) = (folder.path().join("toy.arpa"), folder.path().join("toy.glm"));
    for model in [&arpa, &glm] {
        let next = |more: &[&str], input: &[u8]| {
            lossy_text(
                &run_with_input(&mut lm(&[&["next", path_str(model)], more].concat()), input)
                    .stdout,
            )
        };
        let all = "</s>\t-0.7\ta\t-0.9\t<unk>\t-1.1\tb\t-1.8000001\n";
        assert_eq!(next(&[], b"a b\n"), all);
        assert_eq!(next(&["--top", "2"], b"a b"), "</s>\t-0.7\ta\t-0.9\n");
        assert_eq!(next(&["--top", "0"], b"a b\n\n"), "\n\n");
        // After `<s>`: `<s> a` -0.5; after nothing -1.5.
        assert_eq!(next(&["--top", "1"], b"\n"), "a\t-0.5\n");
        assert_eq!(next(&["--top", "1", "-n"], b"\n"), "<unk>\t-1\n");
        let words = folder.path().join("words");
        std::fs::write(&words, "b zz\n</s> a\n").expect("writable");
        assert_eq!(
            next(&["--words", path_str(&words)], b"a b\nzz\n"),
            "b\t-1.8000001\tzz\t-1.1\t</s>\t-0.7\ta\t-0.9\nb\t-1.7\tzz\t-1\t</s>\t-1.2\ta\t-1.5\n"
        );
        std::fs::write(&words, "<s>\n").expect("writable");
        assert_eq!(next(&["--words", path_str(&words)], b"a b\n"), "<s>\t-99.1\n");
    }
    // lmplz gives `<s>` the probability 1, because it is never predicted.
    let estimated = std::fs::read_to_string(&arpa).expect("it is there");
    let path_of_estimated = folder.path().join("estimated.arpa");
    std::fs::write(&path_of_estimated, estimated.replace("-99\t<s>", "0\t<s>")).expect("writable");
    let ranked =
        run_with_input(&mut lm(&["next", path_str(&path_of_estimated), "--top", "1"]), b"zz\n");
    assert_eq!(lossy_text(&ranked.stdout), "<unk>\t-1\n");
    // Of words with the same probability, the lower id comes first.
    let flat = std::fs::read_to_string(&arpa).expect("it is there");
    let flat = flat.replace("-1.7\tb", "-1.5\tb").replace("-1.2\t</s>", "-1.5\t</s>");
    let path_of_flat = folder.path().join("flat.arpa");
    std::fs::write(&path_of_flat, flat).expect("writable");
    let ranked =
        run_with_input(&mut lm(&["next", path_str(&path_of_flat), "-n", "--top", "4"]), b"\n");
    assert_eq!(lossy_text(&ranked.stdout), "<unk>\t-1\t</s>\t-1.5\ta\t-1.5\tb\t-1.5\n");
}

#[cfg(not(feature = "cuda"))]
#[test]
fn a_build_without_cuda_names_the_feature() {
    let folder = build_toy_model();
    let glm = folder.path().join("toy.glm");
    for command in ["perplexity", "query", "next"] {
        let on = |device| lm(&[command, path_str(&glm), "--device", device]);
        let complaint = run_to_error(&mut on("cuda"));
        assert!(complaint.contains("feature `cuda`"), "{complaint}");
        assert!(complaint.contains("--device cpu"), "{complaint}");
        let output = |device| run_with_input(&mut on(device), b"a b zz\n");
        let (auto, cpu) = (output("auto"), output("cpu"));
        assert_eq!((lossy_text(&auto.stderr), auto.stdout), (String::new(), cpu.stdout));
    }
}

#[cfg(feature = "cuda")]
#[test]
fn without_a_driver_there_is_a_message() {
    let libraries = Command::new("ldconfig").arg("-p").output();
    if libraries.is_ok_and(|output| lossy_text(&output.stdout).contains("libcuda.so")) {
        return report_skip("there is a driver on this machine");
    }
    let folder = build_toy_model();
    let (arpa, glm) = (folder.path().join("toy.arpa"), folder.path().join("toy.glm"));
    for (command, device) in [("perplexity", "cuda"), ("query", "cuda:0"), ("next", "cuda:7")] {
        let complaint = run_to_error(
            lm(&[command, path_str(&glm), "--device", device]).env_remove("LD_LIBRARY_PATH"),
        );
        assert!(complaint.contains("libcuda.so was not found"), "{complaint}");
        assert!(complaint.contains("--device cpu"), "{complaint}");
    }
    let other = run_to_error(&mut lm(&["query", path_str(&arpa), "--device", "cuda"]));
    assert!(other.contains("toy.arpa") && other.contains("lm build --type glm"), "{other}");
    for model in [&arpa, &glm] {
        let on = |device| {
            run_with_input(&mut lm(&["query", path_str(model), "--device", device]), b"a b zz\n")
        };
        let (auto, cpu) = (on("auto"), on("cpu"));
        assert_eq!(lossy_text(&auto.stderr), "");
        assert_eq!(auto.stdout, cpu.stdout);
    }
}

#[cfg(feature = "cuda")]
#[test]
fn every_refusal_of_a_driver_has_its_message() {
    let folder = build_toy_model();
    let glm = folder.path().join("toy.glm");
    let input = b"a b zz\nb a\n\n";
    let expected =
        run_with_input(&mut lm(&["perplexity", path_str(&glm), "--device", "cpu"]), input).stdout;
    for (settings, device, part) in [
        ("init=100", "cuda", "the driver sees no device"),
        ("count=0", "cuda", "the driver sees no device"),
        ("init=999", "cuda", "the driver does not answer (CUDA_ERROR_UNKNOWN"),
        (
            "version=11080",
            "cuda",
            "it supports CUDA 11.8, the kernels need 12.4; install driver 550",
        ),
        ("count=2", "cuda:2", "there is no GPU 2: the driver sees 2"),
        ("capability=70", "cuda", "GPU 0 (emulated) is too old: its compute capability is 7.0"),
        ("memory=100", "cuda", "GPU 0 has no space for another"),
        ("pinned=2", "cuda", "bytes of pinned memory, through which GPU 0 copies"),
        ("pinned=999", "cuda", "GPU 0 failed to pin memory of this machine: CUDA_ERROR_UNKNOWN"),
        ("module=2", "cuda", "GPU 0 has no memory left to load the kernels"),
        ("module=222", "cuda", "cannot load the kernels: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
    ] {
        let on = |device| {
            let mut command = lm(&["perplexity", path_str(&glm), "--device", device]);
            command.envs(emulated_gpu(settings));
            command
        };
        let complaint = run_to_error(&mut on(device));
        assert!(complaint.contains(part), "{settings}: {complaint}");
        let auto = run_with_input(&mut on("auto"), input);
        if !settings.starts_with("count=2") {
            assert_eq!(
                (lossy_text(&auto.stderr), &auto.stdout),
                (String::new(), &expected),
                "{settings}"
            );
        }
    }
    // A device that fails later: the CPU continues, with one warning.
    let mut command = lm(&["perplexity", path_str(&glm), "--device", "cuda"]);
    let failing = run_with_input(command.envs(emulated_gpu("launch=700")), input);
    assert_eq!(failing.stdout, expected);
    let warning = lossy_text(&failing.stderr);
    assert_eq!(warning.matches("continuing on the CPU").count(), 1, "{warning}");
    assert!(warning.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{warning}");
}

#[cfg(feature = "cuda")]
#[test]
fn a_gpu_prints_what_the_cpu_prints() {
    let Some(data) = shared_data("kenlm-cases") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let glm = folder.path().join("o5.glm");
    let arpa = data.join("o5.arpa.gz");
    run(&mut lm(&["build", path_str(&arpa), "-o", path_str(&glm), "--type", "glm"]));
    let held_out = read_decompressed(&data.join("heldout.en"));
    let lines = held_out.split_inclusive(|&byte| byte == b'\n');
    let few: Vec<u8> = lines.clone().take(400).flatten().copied().collect();
    let contexts: Vec<u8> = lines.take(5).flatten().copied().collect();
    for (arguments, input) in [
        (&["query"][..], &few),
        (&["query", "-n", "-v", "sentence"], &few),
        (&["perplexity"], &few),
        (&["perplexity", "--per-line", "--threads", "3"], &few),
        (&["next", "--top", "20"], &contexts),
    ] {
        let on = |device: &str| {
            let mut command =
                lm(&[&arguments[..1], &[path_str(&glm), "--device", device], &arguments[1..]]
                    .concat());
            run_with_input(command.envs(emulated_gpu("")), input)
        };
        let (cuda, cpu) = (on("cuda:0"), on("cpu"));
        assert_eq!(lossy_text(&cuda.stderr), "");
        assert!(!cpu.stdout.is_empty() && cuda.stdout == cpu.stdout, "{arguments:?}");
    }
}
