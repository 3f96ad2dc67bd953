//! `miriam bench nmt gpu` with tiny models: translations compared and speed measured, on the CPU
//! and on the emulated GPU.

use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_to_usage_error};

const MODELS: [&str; 4] = ["gru", "mlstm", "tiny", "base"];

fn bench(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["bench", "nmt", "gpu", "--quiet", "--quick"]).args(arguments);
    command
}

/// Checks that a table of comparisons has a row for each model and beam of a place, without lines
/// that differ.
fn assert_no_line_differs(output: &str, place: &str) {
    for model in MODELS {
        for beam in ["1", "2"] {
            let mut row = output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let is_it = |row: &Vec<&str>| {
                row.len() > 7 && row[..2] == [model, beam] && row[2..4].join(" ") == place
            };
            let row = row.rfind(is_it);
            let row = row.unwrap_or_else(|| panic!("{model}, beam {beam}: {output}"));
            let [lines, same, ties, different] =
                [4, 5, 6, 7].map(|cell| row[cell].parse::<usize>().expect("a count"));
            assert_eq!((lines, same + ties, different), (3, 3, 0), "{output}");
        }
    }
}

#[test]
fn the_cpu_translates_as_the_reference() {
    let output = lossy_text(&run(&mut bench(&["--check", "--device", "cpu"])));
    assert_no_line_differs(&output, "reference f64");
    assert!(output.ends_with("no device was compared\n"), "{output}");
}

#[test]
fn models_that_are_read_translate_as_the_reference() {
    let root = project_root();
    let model = root.join("examples/toy-neural");
    let input = root.join("examples/toy/test.es");
    let mut command = bench(&["--check", "--device", "cpu", "-m"]);
    let output = lossy_text(&run(command.arg(model).arg("-i").arg(input)));
    assert!(output.contains("toy-neural"), "{output}");
    assert!(output.contains("no line differs"), "{output}");
}

#[test]
fn speed_has_a_row_for_each_batch_and_way_of_batching() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/by the study");
    let output = lossy_text(&run(bench(&["--device", "cpu", "-o"]).arg(&folder)));
    assert!(output.contains("no device was measured"), "{output}");
    let again = lossy_text(&run(bench(&["--device", "cpu", "-o"]).arg(&folder)));
    assert_eq!(again, output, "the same command measures nothing again");
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        rows.collect::<Vec<Vec<String>>>()
    };
    let speed = read("speed.csv");
    let column = |name: &str| speed[0].iter().position(|n| n == name).expect(name);
    // Two beams; two batches, and seven other ways of batching.
    assert_eq!(speed.len(), 1 + MODELS.len() * 2 * (2 + 7));
    for row in &speed[1..] {
        assert_eq!(row.len(), speed[0].len(), "{row:?}");
        let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
        let rate = number("tokens") / number("seconds");
        assert!((number("tokens_per_second") / rate - 1.0).abs() < 0.01, "{row:?}");
        assert!(number("steps") > 0.0 && number("rows") >= number("steps"), "{row:?}");
        for floor in ["floor_h100_f32_ms", "floor_h100_bf16_ms", "floor_t4_f32_ms"] {
            assert!(number(floor) > 0.0, "{row:?}");
        }
        assert_eq!(row[column("place")], "cpu f32");
    }
    let kernels = read("kernels.csv");
    for model in MODELS {
        for kernel in ["product", "attend", "topk_of_parts", "topk_of_rows"] {
            let row = ["1", "2", "step", kernel];
            let found = kernels.iter().filter(|r| r[0] == model && r[1..5] == row);
            assert_eq!(found.count(), 1, "{model}, {kernel}");
        }
    }
    let svg = std::fs::read_to_string(folder.join("speed.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let dots = document.descendants().filter(|node| node.tag_name().name() == "circle");
    assert_eq!(dots.count(), MODELS.len() * 2, "two batches of each model");
}

#[test]
fn unusable_requests_are_rejected() {
    let message = run_to_usage_error(&mut bench(&["--device", "cpu"]));
    assert!(message.contains("--output"), "{message}");
    let message = run_to_usage_error(&mut bench(&["--check", "-m", "model"]));
    assert!(message.contains("--input"), "{message}");
    let message = run_to_error(&mut bench(&["--check", "--device", "cuda:4294967295"]));
    assert!(message.contains("GPU"), "{message}");
    #[cfg(not(feature = "cuda"))]
    assert!(message.contains("feature `cuda`"), "{message}");
}

#[cfg(feature = "cuda")]
#[test]
fn the_emulated_gpu_translates_as_the_cpu() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let environment =
        miriam_emulated_driver::environment(folder, "seed=6").expect("the emulated driver");
    let mut command = bench(&["--check", "--device", "cuda"]);
    let output = lossy_text(&run(command.envs(environment)));
    assert_no_line_differs(&output, "cuda:0 f32");
    assert!(output.ends_with("no line differs, on the device and on the CPU\n"), "{output}");
}

/// Rows and steps of the search are the same wherever it computes: sorting and topping up save
/// steps, sorting and removing finished rows save rows.
#[cfg(feature = "cuda")]
#[test]
fn the_emulated_gpu_takes_the_steps_and_rows_of_the_cpu() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let environment =
        miriam_emulated_driver::environment(folder, "seed=3").expect("the emulated driver");
    let results = tempfile::tempdir().unwrap();
    // Translations are as long as their sources: 1, 4, 2 and 5 words.
    let input = results.path().join("text");
    std::fs::write(&input, "a\na b c d\na b\na b c d e\n").unwrap();
    let mut command = bench(&["--device", "cuda", "--beams", "2", "--batches", "2", "-i"]);
    run(command.arg(&input).arg("-o").arg(results.path()).envs(environment));
    let table = std::fs::read_to_string(results.path().join("speed.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|cell| *cell == name).expect(name);
    let place = column("place");
    let counts = |name: &str| {
        let rows = rows.iter().filter(|row| row[place] == name);
        let cells = ["model", "batching", "tokens", "steps", "rows"].map(column);
        rows.map(|row| cells.map(|cell| row[cell])).collect::<Vec<_>>()
    };
    let [cpu, gpu, half] = ["cpu f32", "cuda:0 f32", "cuda:0 f16"].map(counts);
    assert_eq!(cpu.len(), MODELS.len() * 8);
    assert_eq!((&cpu, &cpu), (&gpu, &half));
    for model in MODELS {
        let count = |name: &str, cell: usize| {
            let row = gpu.iter().find(|row| row[..2] == [model, name]).expect(name);
            row[cell].parse::<usize>().unwrap()
        };
        let ways = ["all optimisations", "not topped up", "unsorted not topped up"];
        let steps = ways.map(|name| count(name, 3));
        assert!(steps[0] < steps[1] && steps[1] < steps[2], "{model}: {steps:?} of {ways:?}");
        let ways = ["not topped up", "dead rows kept", "unsorted dead rows kept"];
        let rows = ways.map(|name| count(name, 4));
        assert!(rows[0] < rows[1] && rows[1] < rows[2], "{model}: {rows:?} of {ways:?}");
    }
}

/// A GPU that fails is an error here: otherwise the CPU would be compared with itself.
#[cfg(feature = "cuda")]
#[test]
fn a_gpu_that_fails_is_not_replaced_by_the_cpu() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let environment =
        miriam_emulated_driver::environment(folder, "launch=700").expect("the emulated driver");
    let mut command = bench(&["--check", "--device", "cuda"]);
    let message = run_to_error(command.envs(environment));
    assert!(message.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{message}");
}
