//! Text that is an argument or is typed: translated as a line of a file.

use std::process::{Command, Stdio};

use crate::common::{lossy_text, miriam, project_root, report_skip, run, run_to_usage_error};

const SENTENCE: &str = "the red house is big .";
const TRANSLATION: &str = "la casa roja es grande .";

fn phrase_system() -> Vec<String> {
    let ini = project_root().join("examples/toy/moses.ini");
    vec!["-f".into(), ini.display().to_string(), "-quiet".into()]
}

fn neural_model() -> Vec<String> {
    let model = project_root().join("examples/toy-neural");
    vec!["-m".into(), model.display().to_string(), "--no-tuner-file".into()]
}

#[test]
fn text_before_the_options_is_translated() {
    let phrase = run(miriam().args(["translate", SENTENCE]).args(phrase_system()));
    assert_eq!(lossy_text(&phrase).trim_end(), TRANSLATION);
    let neural = run(miriam().args(["nmt", "translate", SENTENCE]).args(neural_model()));
    assert_eq!(lossy_text(&neural).trim_end(), TRANSLATION);
    let two = format!("{SENTENCE}\n{SENTENCE}");
    let neural = run(miriam().args(["nmt", "translate", &two]).args(neural_model()));
    assert_eq!(lossy_text(&neural), format!("{TRANSLATION}\n").repeat(2));
}

#[test]
fn text_and_a_file_are_not_given_together() {
    let mut command = miriam();
    command.args(["translate", SENTENCE]).args(phrase_system()).args(["-i", "input.txt"]);
    let error = run_to_usage_error(&mut command);
    assert!(error.contains("give either text or -i, not both"), "{error}");
    let mut command = miriam();
    command.args(["nmt", "translate", SENTENCE]).args(neural_model()).args(["-i", "input.txt"]);
    let error = run_to_usage_error(&mut command);
    assert!(error.contains("cannot be used with"), "{error}");
    if cfg!(feature = "serve") {
        let mut command = miriam();
        command.args(["translate", SENTENCE, "-server"]).args(phrase_system());
        let error = run_to_usage_error(&mut command);
        assert!(error.contains("a server takes no text"), "{error}");
    }
}

/// The terminal is made by `script` of util-linux.
#[test]
fn a_terminal_shows_how_to_type_text() {
    let binary = miriam().get_program().to_owned();
    let line = [vec![binary.to_str().unwrap().to_owned(), "translate".into()], phrase_system()];
    let line = line.concat().join(" ").replace(" -quiet", "");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(child) = command.stdin(Stdio::piped()).spawn() else {
        return report_skip("there is no program `script` to make a terminal");
    };
    let mut child = child;
    // Types a sentence, and Ctrl-D.
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{SENTENCE}\n\u{4}").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = lossy_text(&output.stdout);
    assert!(shown.contains("type text, a line at a time; Ctrl-D ends it"), "{shown}");
    assert!(shown.contains(TRANSLATION), "{shown}");
}
