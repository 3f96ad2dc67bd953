//! Counts of what makes prose and code hard to read, which may fall but not rise.
//!
//! The rules are in CONTRIBUTING.md, "Style". This test counts the markers that can be counted,
//! over the whole repository. A change that brings a marker back fails, and the message lists the
//! places.

use crate::common::files_with_extensions;

/// The files that hold prose or code in the project's own words.
const OWN_TEXT: &[&str] = &["rs", "py", "pyi", "md", "cu", "cuh"];

/// The first words of heads that do not say what is inside a file.
const QUESTIONS: &[&str] = &["What", "How", "Whether", "Where", "When", "Which", "Who", "Why"];

/// This file, which is left out because it names the markers.
const SELF: &str = "tests/language.rs";

const MAX_IS_NO: usize = 10;
const MAX_NAMES_WITH_OF: usize = 10;
const MAX_CLOSURES_PER_1000_LINES: f64 = 3.0;

#[test]
fn heads_of_files_say_what_is_inside() {
    let (mut wrong, mut heads) = (Vec::new(), 0);
    for (path, text) in files_with_extensions(&["rs", "py", "cu", "cuh"]) {
        if let Some(head) = head(&text) {
            heads += 1;
            let first = head.split([' ', ',']).next().unwrap_or("");
            if QUESTIONS.contains(&first) {
                wrong.push(format!("{}: {head}", path.display()));
            }
        }
    }
    assert!(heads > 800, "only {heads} files have a head");
    assert!(wrong.is_empty(), "heads that are not noun phrases:\n{}", wrong.join("\n"));
}

#[test]
fn few_sentences_say_is_no() {
    let mut found = Vec::new();
    for (path, text) in own_text() {
        for phrase in negated_nouns(&flowing_text(&text)) {
            found.push(format!("{path}: {phrase}"));
        }
    }
    let limit = format!("at most {MAX_IS_NO} may say `is no ...` for `is not a ...`");
    assert!(found.len() <= MAX_IS_NO, "{limit}; {} do:\n{}", found.len(), found.join("\n"));
}

#[test]
fn few_names_begin_with_of() {
    let mut found = Vec::new();
    for (path, text) in own_text() {
        if path.ends_with(".rs") {
            found.extend(names_with_of(&text).into_iter().map(|name| format!("{path}: {name}")));
        }
    }
    let limit = format!("at most {MAX_NAMES_WITH_OF} names may begin with `of_`");
    assert!(found.len() <= MAX_NAMES_WITH_OF, "{limit}; {} do:\n{}", found.len(), found.join("\n"));
}

#[test]
fn few_closures_have_names() {
    let (mut found, mut lines) = (Vec::new(), 0);
    for (path, text) in own_text() {
        if path.ends_with(".rs") && !is_test(&path) {
            let code = production_code(&text);
            lines += code.lines().count();
            found.extend(named_closures(&code).map(|name| format!("{path}: {name}")));
        }
    }
    assert!(lines > 50_000, "only {lines} lines were found");
    let share = found.len() as f64 * 1000.0 / lines as f64;
    assert!(
        share <= MAX_CLOSURES_PER_1000_LINES,
        "{} closures have names, {share:.2} for 1,000 lines, at most {MAX_CLOSURES_PER_1000_LINES}; \
         a closure that is called once is written in place, others are functions:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn markers_are_found() {
    assert_eq!(head("//! What it is.\n//! More."), Some("What it is."));
    assert_eq!(
        head("#!/usr/bin/env python3\n\"\"\"How it runs.\"\"\"\n"),
        Some("How it runs.\"\"\"")
    );
    assert_eq!(head("// Where `x` is\n"), Some("Where `x` is"));
    let text =
        flowing_text("// It is\n    // no number, there is no other;\n/// these are none.\n");
    assert_eq!(negated_nouns(&text), ["It is no number", "these are none"]);
    assert!(negated_nouns("There are no words, it is no longer there, was no more").is_empty());
    let code =
        "fn of_a(of_b: u32) { let of_c = self.of_d; let of_e: u32 = |of_f| 1; let (x, of_g) = y; }";
    assert_eq!(names_with_of(code), ["of_a", "of_b", "of_c", "of_d", "of_e", "of_f", "of_g"]);
    let code = production_code(
        "let f = |x| x;\n// let g = |x| x;\nlet mut h: u8 =\n    move || 1;\nlet i = a || b;\n\n\
         #[cfg(test)]\nmod tests {\n    let j = |x| x;\n}\n",
    );
    assert_eq!(named_closures(&code).collect::<Vec<_>>(), ["f", "h"]);
}

/// Returns the paths and contents of all files in the project's own words, except this one.
fn own_text() -> impl Iterator<Item = (String, String)> {
    files_with_extensions(OWN_TEXT)
        .into_iter()
        .map(|(path, text)| (path.to_string_lossy().into_owned(), text))
        .filter(|(path, _)| path != SELF)
}

fn is_test(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|part| ["tests", "benches", "fuzz", "tests.rs", "testing.rs"].contains(&part))
}

/// Returns the first line of a file's comment, without comment signs; none if it begins with code.
fn head(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| !line.starts_with("#!") && !line.trim().is_empty())?;
    ["//! ", "// ", "\"\"\"", "# "].into_iter().find_map(|sign| line.strip_prefix(sign))
}

/// Returns the text in one line: without line ends, signs of comments, and the ends of continued
/// strings.
fn flowing_text(text: &str) -> String {
    let mut flowing = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let sign = ["///", "//!", "//", "#", ">"].into_iter().find(|sign| line.starts_with(sign));
        let line = &line[sign.map_or(0, str::len)..];
        flowing.push_str(line.trim().trim_end_matches('\\').trim_end());
        flowing.push(' ');
    }
    flowing
}

/// Returns the places where a form of "to be" negates a noun with "no" or "none": the word before,
/// and the word after "no". "There is no ..." and "no longer" are allowed.
fn negated_nouns(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let mut found = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        let negation = pair[1].trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if !["is", "are", "was", "were", "be"].contains(&pair[0])
            || !["no", "none"].contains(&negation)
        {
            continue;
        }
        let before = if at > 0 { words[at - 1] } else { "" };
        let after = if negation == pair[1] { words.get(at + 2).copied() } else { None };
        let after = after.unwrap_or("").trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_plain = before.to_ascii_lowercase().ends_with("there");
        if !is_plain && !["longer", "more"].contains(&after) {
            let after = if negation == "no" { after } else { "" };
            found.push(format!("{before} {} {negation} {after}", pair[0]).trim_end().to_owned());
        }
    }
    found
}

/// Returns the different names in a file that begin with `of_`, in their order.
fn names_with_of(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        // Names are not looked for in strings.
        for part in line.split('"').step_by(2) {
            let words = part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for word in words.filter(|word| word.starts_with("of_")) {
                if !names.contains(&word) {
                    names.push(word);
                }
            }
        }
    }
    names
}

/// Returns the lines of code of a file, without tests at its end, comments and blank lines.
fn production_code(text: &str) -> String {
    let code = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    code.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the names of closures that `let` defines.
fn named_closures(code: &str) -> impl Iterator<Item = &str> {
    code.split("let ").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("mut ").unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let (name, rest) = rest.split_at(end);
        let (annotation, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let value = value.strip_prefix("move").map_or(value, str::trim_start);
        let is_pattern = !annotation.trim().is_empty() && !annotation.trim_start().starts_with(':');
        (!name.is_empty() && !is_pattern && value.starts_with('|')).then_some(name)
    })
}
