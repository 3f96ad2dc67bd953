//! Test that the computed memory is what a training run takes (`E.10` of the build specification).
//!
//! The system reports memory per process, so each training runs in a separate process: this program
//! again, with the otherwise ignored test below.

use std::process::Command;

use miriam_trainer::train_from_text::Summary;

use crate::workplace::Workplace;

const CHILD: &str = "memory::a_training_in_a_process_of_its_own";
/// The shape of the child's model.
const SHAPE: &str = "MIRIAM_TEST_TRAINING_SHAPE";
const DRY_RUN: &str = "MIRIAM_TEST_DRY_RUN";

/// Returns the peak resident memory of this process, in bytes.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() << 10
}

/// Trains, or computes the memory, and prints the bytes.
#[test]
#[ignore = "a part of another test, which runs it in a process of its own"]
fn a_training_in_a_process_of_its_own() {
    let shape = std::env::var(SHAPE).expect("the other test says what to train");
    let [width, inner, workers]: [&str; 3] =
        shape.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let place = Workplace::new();
    // All sentences have twenty words, so that all micro-batches are equally large.
    let word = |line: usize, position: usize| format!("w{}", (line * 31 + position * 7) % 1000);
    let line = |line| (0..20).map(|position| word(line, position)).collect::<Vec<_>>().join(" ");
    let text: String = (0..2000).map(|number| line(number) + "\n").collect();
    let corpus = place.write("text", &text);
    let vocabulary = place.text("words.yml");
    let options: [(&str, &[&str]); 10] = [
        ("train-sets", &[&corpus, &corpus]),
        ("vocabs", &[&vocabulary, &vocabulary]),
        ("dim-vocabs", &["1000", "1000"]),
        ("dim-emb", &[width]),
        ("transformer-dim-ffn", &[inner]),
        ("enc-depth", &["3"]),
        ("dec-depth", &["3"]),
        ("workers", &[workers]),
        ("mini-batch", &["200"]),
        ("tied-embeddings-all", &[]),
    ];
    let is_dry = std::env::var(DRY_RUN).is_ok();
    let run = place.run("measured", &options, is_dry).unwrap();
    let bytes = match run.summary {
        Summary::Memory(memory) => memory.total(),
        Summary::Trained { .. } => peak_bytes(),
    };
    println!("bytes: {bytes}");
}

fn bytes_of_child(shape: &str, is_dry: bool) -> f64 {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([CHILD, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    child.env(SHAPE, shape);
    // Allocations are compared, so freed buffers must be returned to the system at once. By
    // default, glibc keeps an amount that depends on the order in which threads free them.
    child.env("MALLOC_MMAP_THRESHOLD_", "131072");
    if is_dry {
        child.env(DRY_RUN, "1");
    }
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let (_, bytes) = text.split_once("bytes: ").expect("the child prints bytes");
    bytes.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_training_takes_the_memory_that_is_counted() {
    for shape in ["128 256 1", "256 512 2"] {
        let [counted, used] = [true, false].map(|is_dry| bytes_of_child(shape, is_dry));
        let ratio = used / counted;
        println!("{shape}: {counted} bytes counted, {used} used, {ratio:.3}");
        assert!((0.95..1.05).contains(&ratio), "{shape}: {counted} counted, {used} used");
    }
}
