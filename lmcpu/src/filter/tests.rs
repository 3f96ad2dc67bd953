//! The filter on small models; the expected output is the output of KenLM's `filter`.

use miriam_textio::NoProgress;
use proptest::prelude::*;

use super::*;
use crate::test_support::text_input;

/// Returns a model whose counts lose a digit when it is filtered.
fn model() -> String {
    let mut text =
        String::from("\\data\\\nngram 1=12\nngram 2=3\n\n\\1-grams:\n-9\t<s>\t-0.5\n-1\t</s>\n");
    for word in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        text += &format!("-1.5\t{word}\t-0.25\n");
    }
    text + "\n\\2-grams:\n-0.5\t<s> a\n-0.75\ta b\r\n-1e-1\tb  c\t0\n\n\\end\\\n"
}

fn run_filter(model: &[u8], vocabulary: &[u8], options: &FilterOptions) -> Result<Vec<Vec<u8>>> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let (model, vocabulary) = (text_input(model, "model"), text_input(vocabulary, "words"));
    filter(model, vocabulary, &output, options, &NoProgress)?;
    let read = |name: String| std::fs::read(folder.path().join(name)).ok();
    Ok(match options.mode {
        FilterMode::Multiple => (0..).map_while(|number| read(format!("out{number}"))).collect(),
        _ => vec![read("out".into()).unwrap()],
    })
}

fn options(mode: FilterMode) -> FilterOptions {
    FilterOptions { mode, format: FilterFormat::Arpa, context: false, phrases: false, threads: 2 }
}

#[test]
fn counts_shrink_and_lines_keep_their_bytes() {
    let found = run_filter(model().as_bytes(), b"b\nc a\n", &options(FilterMode::Single)).unwrap();
    let expected = "\n\\data\\\nngram 1=5\nngram 2=3\n\n\n\\1-grams:\n-9\t<s>\t-0.5\n-1\t</s>\n\
        -1.5\ta\t-0.25\n-1.5\tb\t-0.25\n-1.5\tc\t-0.25\n\n\\2-grams:\n-0.5\t<s> a\n-0.75\ta b\n\
        -1e-1\tb  c\t0\n\n\\end\\\n";
    assert_eq!(String::from_utf8_lossy(&found[0]), expected);
    // The filtered file is a valid model.
    let input = text_input(&found[0], "filtered");
    let arpa = crate::arpa::ArpaReader::open(input, Default::default(), &NoProgress).unwrap();
    assert_eq!(arpa.counts(), [5, 3]);
}

#[test]
fn sentences_are_lines_with_words() {
    let two = b"\na b\n\n  \nb c\n";
    let found = run_filter(model().as_bytes(), two, &options(FilterMode::Multiple)).unwrap();
    assert_eq!(found.len(), 2);
    let has = |file: &[u8], ngram: &str| String::from_utf8_lossy(file).contains(ngram);
    assert!(has(&found[0], "\ta b\n") && !has(&found[0], "b  c"));
    assert!(has(&found[1], "b  c") && !has(&found[1], "\ta b\n") && !has(&found[1], "<s> a"));
    assert!(found.iter().all(|file| has(file, "<s>\t-0.5") && has(file, "</s>")));
    let union = run_filter(model().as_bytes(), two, &options(FilterMode::Union)).unwrap();
    assert!(has(&union[0], "b  c") && has(&union[0], "\ta b\n") && has(&union[0], "ngram 2=3"));
}

#[test]
fn wrong_models_are_named_with_the_line() {
    let error = |model: &str| {
        let outcome = run_filter(model.as_bytes(), b"a\n", &options(FilterMode::Single));
        outcome.unwrap_err().to_string()
    };
    for (from, to, expected) in [
        ("-0.5\t<s> a\n", "-0.5\t<s>\n", "model, line 20: expected a log probability and 2 words"),
        ("ngram 2=3", "ngram 2=4", "model, line 23: expected a log"),
        ("ngram 2=3", "ngram 2=2", "model, line 22: expected \\end\\"),
        ("\\end\\\n", "", "where \\end\\ should be"),
        ("\\data\\", "data", "not an ARPA file"),
    ] {
        let text = model();
        assert!(text.contains(from));
        let message = error(&text.replace(from, to));
        assert!(message.contains(expected), "{message}\nnot: {expected}");
    }
    let phrases = FilterOptions { phrases: true, ..options(FilterMode::Single) };
    assert!(run_filter(b"", b"", &phrases).unwrap_err().to_string().contains("use union"));
}

/// Whether phrases of a sentence make up `ngram`. Tries all phrases one after another; the n-gram
/// may begin inside the first phrase and end inside the last.
fn is_made_up(ngram: &[&str], phrases: &[Vec<&str>], is_first: bool) -> bool {
    phrases.iter().any(|phrase| {
        let starts = if is_first { phrase.len() } else { 1 };
        (0..starts).any(|start| {
            let rest = &phrase[start..];
            let common = rest.len().min(ngram.len());
            rest[..common] == ngram[..common]
                && (common == ngram.len() || is_made_up(&ngram[common..], phrases, false))
        })
    })
}

proptest! {
    #[test]
    fn phrases_make_up_ngrams_in_any_order(
        sentences in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec("[abc]", 1..4), 1..4), 1..4),
        ngram in proptest::collection::vec("[abcd]", 1..6),
    ) {
        let phrase = |words: &Vec<String>| words.join(" ");
        let line = |phrases: &Vec<Vec<String>>| {
            phrases.iter().map(phrase).collect::<Vec<_>>().join("\t") + "\n"
        };
        let vocabulary: String = sentences.iter().map(line).collect();
        let raw = FilterOptions {
            format: FilterFormat::Raw, phrases: true, ..options(FilterMode::Multiple)
        };
        let model = ngram.join(" ") + "\t7\n";
        let found = run_filter(model.as_bytes(), vocabulary.as_bytes(), &raw).unwrap();
        let words: Vec<&str> = ngram.iter().map(String::as_str).collect();
        prop_assert_eq!(found.len(), sentences.len());
        for (file, phrases) in found.iter().zip(&sentences) {
            let phrases: Vec<Vec<&str>> =
                phrases.iter().map(|p| p.iter().map(String::as_str).collect()).collect();
            prop_assert_eq!(!file.is_empty(), is_made_up(&words, &phrases, true));
        }
        let union = FilterOptions { mode: FilterMode::Union, ..raw };
        let union = run_filter(model.as_bytes(), vocabulary.as_bytes(), &union).unwrap();
        prop_assert_eq!(union[0].is_empty(), found.iter().all(Vec::is_empty));
    }
}
