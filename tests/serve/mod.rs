//! Tests of `miriam serve`: clients of each protocol get what the command line prints, whatever
//! else the server does. Wrong requests, broken models and signals have the documented effects.

mod access_log;
mod browser;
mod client;
mod clients_in_python;
mod configuration;
mod decoding_options;
mod documented_commands;
mod engine;
mod every_model;
mod faults;
#[cfg(feature = "cuda")]
mod gpu;
mod html;
mod http;
mod languages;
mod load;
mod moses_clients;
mod pivots;
mod protocols;
mod running;
mod same_bytes;
mod stopping;
mod texts;
mod web_page;
mod weblate;
mod websockets;
mod xml;

use crate::common::{miriam, project_root, run_with_input};

/// Returns the model option of the toy's phrase-based system.
fn toy() -> String {
    let ini = project_root().join("examples/toy/moses.ini");
    format!("toy={},from=en,to=es", ini.display())
}

/// Returns the model option of the toy's neural model.
fn toy_neural() -> String {
    let model = project_root().join("examples/toy-neural/decoder.yml");
    format!("neural={},from=en,to=es", model.display())
}

/// Returns `count` lines of the toy's language: those of its input and then of its test set,
/// repeated if these are too few.
fn lines(count: usize) -> Vec<String> {
    let read = |file: &str| {
        let path = project_root().join("examples/toy").join(file);
        std::fs::read_to_string(path).unwrap()
    };
    let text = read("input.txt") + &read("test.en");
    let all: Vec<String> = text.lines().map(str::to_owned).collect();
    all.iter().cycle().take(count).cloned().collect()
}

/// Returns what `miriam translate` prints for lines of the toy.
fn translate(lines: &[String], options: &[&str]) -> Vec<String> {
    let mut command = miriam();
    command.args(["translate", "-quiet", "-f"]).arg(project_root().join("examples/toy/moses.ini"));
    output(command.args(options), lines)
}

/// Returns what `miriam nmt translate` prints for lines of the toy.
fn nmt_translate(lines: &[String], options: &[&str]) -> Vec<String> {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]);
    command.arg(project_root().join("examples/toy-neural/decoder.yml"));
    output(command.args(options), lines)
}

fn output(command: &mut std::process::Command, lines: &[String]) -> Vec<String> {
    let mut input = lines.join("\n");
    input.push('\n');
    let output = run_with_input(command, input.as_bytes());
    assert!(output.status.success(), "{}", crate::common::lossy_text(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}
