//! `--split` and `--html` of both translators: the result is the given text, with each sentence
//! replaced by the translation that it has as a line. Long lines are cut where sentences end.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{lossy_text, miriam, project_root, run_with_input};

/// Returns the command of the phrase-based toy system for raw text.
fn phrase_based() -> Command {
    let mut command = miriam();
    command.args(["translate", "-quiet", "-threads", "2", "-f"]);
    command.arg(project_root().join("examples/toy/moses.ini"));
    command.args(["-tokenize", "en", "-detokenize", "es", "-recase"]);
    command
}

/// Returns the command of the neural toy model.
fn neural() -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "--threads", "2", "-m"]);
    command.arg(project_root().join("examples/toy-neural"));
    command
}

/// Returns the command of the small model with words as tokens.
fn tiny() -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]);
    let file = |name: &str| project_root().join("nmt/testdata").join(name);
    command.arg(file("tiny.npz")).arg("-v").arg(file("tiny.vocab.yml"));
    command.args(["-b", "2", "--max-length-factor", "2"]);
    command
}

fn translate(mut command: Command, options: &[&str], text: &str) -> (String, String) {
    let output = run_with_input(command.args(options), text.as_bytes());
    (lossy_text(&output.stdout), lossy_text(&output.stderr))
}

/// Returns two texts made of `parts`, each a sentence and the text after it: one with the
/// sentences, and one with the translations that they have as lines.
fn text_and_translation(command: Command, parts: &[(&str, &str)]) -> (String, String) {
    let lines: Vec<String> = parts.iter().map(|(sentence, _)| format!("{sentence}\n")).collect();
    let (translated, _) = translate(command, &[], &lines.concat());
    let translations: Vec<&str> = translated.lines().collect();
    assert_eq!(translations.len(), parts.len());
    let joined = |sentences: &[&str]| {
        let parts =
            sentences.iter().zip(parts).map(|(sentence, (_, gap))| format!("{sentence}{gap}"));
        parts.collect::<String>()
    };
    let sentences: Vec<&str> = parts.iter().map(|(sentence, _)| *sentence).collect();
    (joined(&sentences), joined(&translations))
}

const PARTS: [(&str, &str); 6] = [
    ("", "\n\n \t"),
    ("The red house is big.", "  "),
    ("My sister reads a long letter, e.g. The house!", " \r\n"),
    ("", "\r\n\n    "),
    ("the farmers are not tired", "\n"),
    ("Why?", ""),
];

#[test]
fn running_text_keeps_its_white_space_and_paragraphs() {
    for (name, command, option) in [
        ("phrase-based", phrase_based as fn() -> Command, "-split"),
        ("neural", neural, "--split"),
        ("tiny", tiny, "--split"),
    ] {
        let (text, expected) = text_and_translation(command(), &PARTS);
        let (found, messages) = translate(command(), &[option], &text);
        assert_eq!(found, expected, "{name}");
        // The phrase-based system knows the language from -tokenize.
        let is_warned = messages.contains("the language of the text is not known");
        assert_eq!(is_warned, name != "phrase-based", "{messages}");
        let german = ["--source-language", "de"];
        let (found, messages) =
            translate(command(), &[&[option], &german[..]].concat(), "Am 3. Mai. Am 4. Mai.\n");
        assert_eq!(found.lines().count(), 1);
        assert!(!messages.contains("not known"), "{messages}");
    }
}

#[test]
fn abbreviations_may_be_a_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    std::fs::write(&list, "Zork\n").unwrap();
    let list = list.to_str().unwrap();
    let text = "My sister reads the Zork.  The house is big.\n";
    let names = [["-split", "-nonbreaking-prefixes"], ["--split", "--nonbreaking-prefixes"]];
    for (command, [split, prefixes]) in [phrase_based, neural].into_iter().zip(names) {
        let (whole, _) = if prefixes.starts_with("--") {
            translate(command(), &[], text)
        } else {
            translate(command(), &[prefixes, list], text)
        };
        let (parts, _) = translate(command(), &[split], text);
        assert_ne!(parts, whole);
        assert_eq!(translate(command(), &[split, prefixes, list], text).0, whole);
    }
    let output = neural().args(["--split", "--nonbreaking-prefixes", "absent"]).output().unwrap();
    assert!(lossy_text(&output.stderr).contains("absent"), "{output:?}");
}

#[test]
fn tags_of_a_page_stay_around_their_words() {
    let page = "<!DOCTYPE html>\n<p class=\"a\">the <b>red</b> house is big .</p>\n<script>a < b</script>\n";
    let expected = "<!DOCTYPE html>\n<p class=\"a\">La casa <b>roja</b> es grande.</p>\n<script>a < b</script>\n";
    assert_eq!(translate(phrase_based(), &["-html"], page).0, expected);
    // An article is put into the tag of its noun.
    let page =
        "<p>my <b>sister</b> reads a <i>long letter</i>\n in the <a href='?a&b'>garden</a> .<br>\n";
    let expected =
        "<p><b>mi hermana</b> lee <i>una carta larga</i> en <a href='?a&b'>el jardín</a> .<br>\n";
    let (found, _) = translate(neural(), &["--html", "--source-language", "en"], page);
    assert_eq!(found, expected);
}

#[test]
fn long_lines_are_cut_where_sentences_end_unless_a_length_is_given() {
    let sentence = |n: usize| format!("{}w5?", "w4 w7 ".repeat(n));
    let sentences: Vec<String> = (0..60).map(|n| sentence(40 + n % 7)).collect();
    let line = sentences.join(" ").replace("? w", "? W");
    let (translations, _) = translate(tiny(), &[], &line.replace("? ", "?\n"));
    let joined = translations.trim_end().replace('\n', " ");
    let text = format!("w4 w5\n{line}\nw6\n");
    let (found, messages) = translate(tiny(), &[], &text);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1], joined);
    let words = line.split(' ').count();
    let expected = format!(
        "line 2: {} pieces, at most 5000 are allowed (--max-length); translated in parts",
        words + 1
    );
    assert!(words > 5000 && messages.contains(&expected), "{messages}");
    // As in Marian, the line fails if an option gives the length or the treatment of long lines, or
    // if parts cannot be joined.
    for options in [&["--max-length", "5000"][..], &["--n-best"], &["--no-max-length-crop"]] {
        let (found, messages) = translate(tiny(), options, &text);
        let is_failed = |line: &str| line.is_empty() || line.starts_with("1 |||  |||");
        assert_eq!(found.lines().filter(|line| is_failed(line)).count(), 1, "{options:?}: {found}");
        assert!(messages.contains("line 2:"), "{messages}");
    }
    let (found, messages) = translate(tiny(), &["--max-length-crop"], &text);
    assert!(!found.lines().nth(1).unwrap().is_empty());
    assert!(messages.contains("is left out"), "{messages}");
    // Running text is cut at the length that is given.
    let (found, messages) =
        translate(tiny(), &["--split", "--max-length", "5"], "w4 w5 w6 w7, w8 w9\n");
    let (parts, _) = translate(tiny(), &[], "w4 w5 w6 w7,\nw8 w9\n");
    assert_eq!(found.trim_end(), parts.trim_end().replace('\n', " "));
    assert!(messages.contains("line 1: 7 pieces, at most 5 are allowed"), "{messages}");
    let options = ["--split", "--max-length", "5", "--no-max-length-crop"];
    assert_eq!(translate(tiny(), &options, "w4 w5 w6 w7, w8 w9\n").0, found);
}

#[test]
fn options_about_lines_are_rejected_with_running_text() {
    let refused = |mut command: Command, options: &[&str]| {
        let output = command.args(options).stdin(Stdio::null()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        lossy_text(&output.stderr)
    };
    for option in ["--n-best", "--alignment", "--word-scores", "--no-spm-decode"] {
        let message = refused(neural(), &["--split", option]);
        assert!(message.contains(option) && message.contains("--split"), "{message}");
    }
    assert!(refused(neural(), &["--html", "--tsv"]).contains("--tsv"));
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("split.nbest");
    let list = [list.to_str().unwrap(), "10"];
    assert!(
        refused(phrase_based(), &["-split", "-n-best-list", list[0], list[1]])
            .contains("an output")
    );
    assert!(
        refused(phrase_based(), &["-html", "-output-hypo-score"]).contains("-output-hypo-score")
    );
    assert!(refused(phrase_based(), &["-html", "-split"]).contains("-split and -html"));
    assert!(refused(phrase_based(), &["-source-language", "de"]).contains("-source-language"));
}
