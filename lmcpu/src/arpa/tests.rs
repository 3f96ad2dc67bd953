//! The ARPA reader on input that it must accept, reject or survive.

use std::io::{Cursor, Read};

use miriam_textio::NoProgress;
use proptest::prelude::*;

use super::*;
use crate::test_support::{TOY, arpa_with_distant_duplicate};

/// Words, bits of log10 p and of backoffs, and lines.
type Ngrams = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u64>);
type ModelContent = (Vec<String>, Vec<Unigram>, Vec<Ngrams>);

fn read(input: impl Read + Send + 'static) -> Result<ModelContent> {
    let mut arpa = ArpaReader::open(
        Input::from_reader(input, "test", None)?,
        ArpaOptions::default(),
        &NoProgress,
    )?;
    let mut sections = Vec::new();
    let bits = |v: &[f32]| v.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
    while let Some(s) = arpa.next_section()? {
        let lines = (0..s.len()).map(|i| s.line(i)).collect();
        sections.push((s.words.clone(), bits(&s.log10), bits(&s.backoffs), lines));
    }
    let words = arpa.vocabulary().iter().map(|w| String::from_utf8_lossy(w).into_owned()).collect();
    Ok((words, arpa.unigrams().to_vec(), sections))
}

fn read_text(text: &str) -> Result<ModelContent> {
    read(Cursor::new(text.as_bytes().to_vec()))
}

fn error_message(text: &str) -> String {
    match read_text(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the n-grams of all parts of each order, and how many parts there are.
fn read_parts(text: &str) -> (Vec<Ngrams>, usize) {
    let input = Input::from_reader(Cursor::new(text.as_bytes().to_vec()), "test", None).unwrap();
    let mut arpa = ArpaReader::open(input, ArpaOptions::default(), &NoProgress).unwrap();
    let mut orders = vec![Ngrams::default(); arpa.order() - 1];
    let mut num_parts = 0;
    while let Some(part) = arpa.next_part().unwrap() {
        let (words, log10, backoffs, lines) = &mut orders[part.order - 2];
        words.extend(&part.words);
        log10.extend(part.log10.iter().map(|f| f.to_bits()));
        backoffs.extend(part.backoffs.iter().map(|f| f.to_bits()));
        lines.extend((0..part.len()).map(|i| part.line(i)));
        num_parts += 1;
    }
    (orders, num_parts)
}

#[test]
fn parts_make_up_the_sections() {
    let empty = "\\data\\\nngram 1=3\nngram 2=0\nngram 3=0\n\n\\1-grams:\n-9\t<s>\n-1\t</s>\n-1\ta\n\n\
        \\2-grams:\n\n\\3-grams:\n\n\\end\\\n";
    for (text, least) in
        [(TOY.to_owned(), 2), (arpa_with_distant_duplicate(), 2), (empty.to_owned(), 2)]
    {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (parts, num_parts) = pool.install(|| read_parts(&text));
        assert!(parts == read_text(&text).unwrap().2);
        assert!(num_parts >= least, "{num_parts}");
    }
}

#[test]
fn the_toy_model_is_read() {
    let (words, unigrams, sections) = read_text(TOY).unwrap();
    assert_eq!(words, ["<unk>", "<s>", "</s>", "a", "b"]);
    assert_eq!(unigrams[1], Unigram { log10: -99.0, backoff: -0.3 });
    assert_eq!(unigrams[2].backoff.to_bits(), (-0.0f32).to_bits(), "no backoff");
    let (ids, log10, backoffs, lines) = &sections[0];
    assert_eq!(ids[..], [1, 3, 3, 4, 4, 2, 4, 3]);
    assert_eq!(log10[0], (-0.5f32).to_bits());
    assert_eq!(backoffs[1], (-0.0f32).to_bits(), "zero becomes -0.0");
    assert_eq!(lines[..], [14, 15, 16, 17]);
    assert_eq!((&sections[1].0[..], &sections[1].3[..]), (&[1, 3, 4][..], &[20][..]));
    assert!(sections[1].2.is_empty());
}

#[test]
fn tolerated_forms_read_the_same() {
    let base = read_text(TOY).unwrap();
    let same = [
        TOY.replace('\n', "\r\n"),
        TOY.replace("ngram 1=5", "ngram  1= 5 junk"),
        TOY.replace("\ta b\t0", "\ta  b\t0"),
        TOY.replace("\ta b\t0", "\ta\tb\t0"),
        TOY.replace("\ta b\t0", "\ta b"),
        TOY.replace("<s> a b", "<s> a b\t0"),
        TOY.replace("-0.6\t", "-0.6 "),
        TOY.replace("-0.6\t", "-6e-1\t"),
        format!("# a comment\n \t\n{TOY}"),
        format!("{TOY}\n \r\n"),
        TOY.replace("<unk>", "<UNK>"),
        TOY.replace("-1.5\ta", "-1.5 a"),
        TOY.replace("a\t-0.2", "a -0.2"),
        TOY.replace("a\t-0.2", "a\t-0.2 "),
        TOY.replace("a\t-0.2", "a\t-0.2\t\r"),
        TOY.replace("b </s>", "b </s> "),
        TOY.replace("b </s>", "b </s>\t"),
        TOY.replace("<s> a b", "<s> a b \t"),
        TOY.replace("ngram 1=5", "ngram\t1 = 5 "),
        TOY.replace("\\data\\", " \\data\\\t").replace("\\end\\", "\\end\\ "),
        TOY.replace("\\2-grams:", " \\2-grams: \r"),
        format!("\u{feff}{TOY}"),
        format!("hello\n{TOY}"),
        format!("QuickLM's words\n\n# and more\n{TOY}"),
    ];
    for text in same {
        let read = read_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!((&read.0, &read.1), (&base.0, &base.1), "{text}");
        for (a, b) in read.2.iter().zip(&base.2) {
            assert_eq!((&a.0, &a.1, &a.2), (&b.0, &b.1, &b.2), "{text}");
        }
    }
}

/// `<unk>` and `<UNK>` are one word with the probability of the later entry. That entry takes no id
/// of its own.
#[test]
fn both_names_of_the_unknown_word_are_one_word() {
    for (later, log10) in [("-3\t<UNK>\t0\n-1.7\tb", -3.0), ("-1.7\tb", -1.0)] {
        let both = later.contains("UNK");
        let count = if both { 6 } else { 5 };
        let text = TOY.replace("1=5", &format!("1={count}")).replace("-1.7\tb", later);
        let (words, unigrams, sections) = read_text(&text).unwrap();
        assert_eq!(words, ["<unk>", "<s>", "</s>", "a", "b"]);
        assert_eq!((unigrams[0].log10, unigrams[4].log10), (log10, -1.7));
        assert_eq!(sections[1].0, [1, 3, 4]);
        let input = Input::from_reader(Cursor::new(text.into_bytes()), "test", None).unwrap();
        let arpa = ArpaReader::open(input, ArpaOptions::default(), &NoProgress).unwrap();
        assert_eq!(arpa.counts()[0], 5);
    }
}

/// Of the entries of `<unk>`, the last one is used, as in KenLM; of other words, the first one.
#[test]
fn the_last_entry_of_the_unknown_word_is_used() {
    let options = ArpaOptions { duplicates: DuplicatePolicy::KeepFirst, ..ArpaOptions::default() };
    for (entries, count, log10) in [
        ("-3\t<unk>\n-1.7\tb", 6, -3.0),
        ("-3\t<unk>\n-1.7\tb\t-0.1\n-4\t<UNK>\n-2\t<unk>\n-9\tb", 9, -2.0),
    ] {
        let text = TOY.replace("1=5", &format!("1={count}")).replace("-1.7\tb", entries);
        let input = Input::from_reader(Cursor::new(text.into_bytes()), "test", None).unwrap();
        let arpa = ArpaReader::open(input, options, &NoProgress).unwrap();
        let log10s: Vec<f32> = arpa.unigrams().iter().map(|unigram| unigram.log10).collect();
        assert_eq!(log10s, [log10, -99.0, -1.2, -1.5, -1.7]);
    }
}

#[test]
fn an_entry_may_span_lines_and_line_numbers_stay_right() {
    let text = TOY.replace("-0.6\ta b\t0", "\n\n-0.6\ta\nb\t0");
    let (_, _, sections) = read_text(&text).unwrap();
    assert_eq!(sections[0].0[..4], [1, 3, 3, 4]);
    assert_eq!(sections[0].3[..], [14, 17, 19, 20]);
    assert_eq!(sections[1].3[..], [23]);
}

#[test]
fn errors_name_the_line() {
    let cases = [
        (TOY.replace("-0.9\tb a", "-0.9\tb zz"), "line 17: 2-gram: the word \"zz\""),
        (TOY.replace("-1.5\ta", "0.5\ta"), "line 10: 1-gram: log probability 0.5 is positive"),
        (
            TOY.replace("-1.5\ta", "NaN\ta"),
            "line 10: 1-gram: expected a log probability, found \"NaN\"",
        ),
        (TOY.replace("-1.5\ta", "-1.5a"), "line 10: 1-gram: expected a tab"),
        (TOY.replace("a\t-0.2", "a\t-0.2 x"), "line 10: 1-gram: expected the line to end"),
        (TOY.replace("a\t-0.2", "a\t-inf"), "line 10: 1-gram: backoff -inf"),
        (
            TOY.replace("2=4", "2=5"),
            "line 19: 2-gram: expected a log probability, found \"\\3-grams:\"; the header",
        ),
        (TOY.replace("2=4", "2=3"), "line 17: expected \\3-grams:, found"),
        (
            TOY.replace("<s> a b", "<s> a b\t-0.2"),
            "line 20: 3-gram: the longest n-grams have no backoff",
        ),
        (TOY.replace("\\end\\\n", ""), "line 22: the file ends where \\end\\"),
        (TOY.replace("\\end\\\n", "\\end\\\nfoo\n"), "line 23: found \"foo\""),
        (TOY.replace("-99\t<s>\t-0.3", "-99\tc\t-0.3"), "\"<s>\" is not among the unigrams"),
        ("hello\n".repeat(2000) + TOY, "line 1: expected a line \\data\\, found \"hello\""),
        ("iARPA\n".into(), "IRSTLM"),
        ("".into(), "it is not an ARPA file"),
        (
            TOY.replace("-1.7\tb\t", "-1.7\ta\t"),
            "line 11: \"a\" is among the unigrams already on line 10",
        ),
        (
            TOY.replace("-1.7\tb\t", "-1.7\t<unk>\t"),
            "line 11: \"<unk>\" is among the unigrams already on line 7",
        ),
        (
            TOY.replace("-1.5\ta\t", "-1.5\t<UNK>\t").replace("-1.7\tb\t", "-1.7\t</s>\t"),
            "line 11: \"</s>\" is among the unigrams already on line 9",
        ),
        (
            TOY.replace("-1.2\t</s>", "-1.2\t<s>"),
            "line 9: \"<s>\" is among the unigrams already on line 8",
        ),
        (TOY.replace("3=1", "3=99999999999999999"), "line 22: 3-gram: expected"),
        (TOY.replace("ngram 2", "ngram 3"), "line 3: expected \"ngram 2=COUNT\""),
        (TOY.replace("1=5", "1=-5"), "line 2: expected \"ngram 1=COUNT\""),
        (TOY[..TOY.len() - 20].into(), "missing"),
    ];
    for (text, expected) in cases {
        let message = error_message(&text);
        assert!(
            message.starts_with("test, line ") && message.contains(expected),
            "{message}\nnot: {expected}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
}

/// Positive log probabilities are 0 in every order, and markers that are not there have no ids of
/// their own.
#[test]
fn options_allow_defective_files() {
    let read = |text: &str, options: ArpaOptions| {
        let input = Input::from_reader(Cursor::new(text.as_bytes().to_vec()), "test", None)?;
        let mut arpa = ArpaReader::open(input, options, &NoProgress)?;
        let mut log10s: Vec<f32> = arpa.unigrams().iter().map(|unigram| unigram.log10).collect();
        while let Some(section) = arpa.next_section()? {
            log10s.extend(&section.log10);
        }
        let words: Vec<String> =
            arpa.vocabulary().iter().map(|w| String::from_utf8_lossy(w).into_owned()).collect();
        Ok::<_, crate::Error>((words, log10s))
    };
    let defaults = ArpaOptions::default();
    let positive = ArpaOptions { positive: PositivePolicy::Zero, ..defaults };
    let text = TOY.replace("-1.5\ta", "1.5\ta").replace("-0.9\tb", "9e-1\tb");
    let text = text.replace("-0.3\t<s> a b", "+0.3\t<s> a b");
    let expected = read(TOY, defaults).unwrap().1;
    let found = read(&text, positive).unwrap().1;
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let is_changed = [3, 8, 9].contains(&i);
        assert_eq!(*found, if is_changed { 0.0 } else { *expected }, "{i}");
    }
    assert!(read(&text, defaults).unwrap_err().to_string().contains("--positive zero"));

    let markers = ArpaOptions { missing_markers: MissingMarkerPolicy::Unknown, ..defaults };
    let text = TOY.replace("1=5", "1=4").replace("-1.2\t</s>\n", "");
    let text = text.replace("2=4", "2=3").replace("-0.7\tb </s>\n", "");
    assert_eq!(read(&text, markers).unwrap().0, ["<unk>", "<s>", "a", "b"]);
    let message = read(&text, defaults).unwrap_err().to_string();
    assert!(
        message.contains("\"</s>\" is not") && message.contains("--missing-markers"),
        "{message}"
    );

    let unknown = ArpaOptions { unknown_log10: -5.0, ..defaults };
    let text = TOY.replace("1=5", "1=4").replace("-1.0\t<unk>\n", "");
    assert_eq!(read(&text, unknown).unwrap().1[0], -5.0);
}

#[test]
fn numbers_are_delimited_as_in_kenlm() {
    let text = TOY.replace("-0.5\t<s> a\t", "-.5e0<s> a\t+");
    assert_eq!(read_text(&text.replace("+-", "-")).unwrap().2[0].1[0], (-0.5f32).to_bits());
    assert_eq!(read_text(&TOY.replace("-99", "-inf")).unwrap().1[1].log10, f32::NEG_INFINITY);
    assert_eq!(
        read_text(&TOY.replace("-0.3\t<s>", "-3.e-1\t<s>")).unwrap().2[1].1[0],
        (-0.3f32).to_bits()
    );
    for bad in ["-", ".", "e5", "--1", "x", "nan", "0x1p3"] {
        let text = TOY.replace("-1.5\ta", &format!("{bad}\ta"));
        assert!(read_text(&text).is_err(), "{bad}");
    }
}

/// Sections of many blocks, with entries over two lines where a block can end.
#[test]
fn block_boundaries_do_not_change_results() {
    let mut text = String::from(
        "\\data\\\nngram 1=200003\nngram 2=200000\n\n\\1-grams:\n-1\t<unk>\n-9\t<s>\n-1\t</s>\n",
    );
    for i in 0..200_000 {
        text += &format!("-1.{i}\tword{i}\t-0.5\n");
    }
    text += "\n\\2-grams:\n";
    for i in 0..200_000 {
        text += &format!("-0.25\tword{i}{}word{}\n", if i % 3 == 0 { "\n" } else { " " }, i / 2);
    }
    text += "\\end\\\n";
    let (words, unigrams, sections) = read_text(&text).unwrap();
    assert_eq!(words.len(), 200_003);
    assert_eq!(unigrams[3 + 77].log10, -1.77);
    let (ids, .., lines) = &sections[0];
    assert!(ids.chunks(2).enumerate().all(|(i, w)| w == [i as u32 + 3, i as u32 / 2 + 3]));
    assert_eq!(lines[0], 200_011);
    assert_eq!(lines[199_999], 200_011 + 199_999 + 66_667);
    let broken = text.replace("word99999\nword49999\n", "word99999\nwrong\n");
    let expected = format!("line {}", 200_011 + 99_999 + 33_333);
    assert!(error_message(&broken).contains(&expected), "{}", error_message(&broken));
}

proptest! {
    #[test]
    fn any_bytes_give_a_model_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(Cursor::new(bytes));
    }

    #[test]
    fn changed_models_give_a_model_or_an_error(
        changes in proptest::collection::vec((0usize..220, prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\t'), Just(b' '), Just(b'9')]), 0..6),
        cut in 0usize..400,
    ) {
        let mut bytes = TOY.as_bytes().to_vec();
        for (place, byte) in changes {
            let length = bytes.len();
            bytes[place % length] = byte;
        }
        bytes.truncate(cut);
        let _ = read(Cursor::new(bytes));
    }
}
