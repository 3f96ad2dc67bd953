use std::sync::{Arc, LazyLock};

use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;
use proptest::prelude::*;

use super::*;
use crate::query::{self, Verbosity, query};
use crate::test_support::{TOY, capture_output, text_input};

static MODEL: LazyLock<Arc<dyn LanguageModel>> = LazyLock::new(|| {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), TOY).unwrap();
    crate::open(file.path(), LoadMethod::Lazy, &NoProgress).unwrap()
});

const SUMMARY: PerplexityOptions = PerplexityOptions {
    sentence_markers: true,
    threads: 1,
    preparation: None,
    per_line: false,
    json: None,
    filter: None,
};

/// Returns the output for `texts`, which must not depend on threads, and the counts.
fn run(texts: &[&[u8]], options: &PerplexityOptions) -> Result<(Vec<u8>, LineCounts)> {
    let run = |threads| {
        let mut inputs = texts.iter().map(|text| Ok(text_input(text, "text")));
        let options = PerplexityOptions { threads, ..options.clone() };
        capture_output(|output| {
            perplexity(&**MODEL, &mut inputs, None, output, &options, &NoProgress)
        })
        .map(|(bytes, (_, lines))| (bytes, lines))
        .map_err(|error| error.to_string())
    };
    let one = run(1);
    for threads in [2, 3] {
        assert_eq!(run(threads), one);
    }
    one.map_err(|reason| crate::Error::Unsupported { file: String::new(), reason })
}

/// Computes `Total: log10 OOV: n` of each line as KenLM's `query` prints them.
fn query_lines(text: &[u8], markers: bool) -> Vec<(f32, u64)> {
    let levels = Verbosity { word: false, sentence: true, summary: false };
    let options = query::QueryOptions {
        verbosity: levels,
        sentence_markers: markers,
        threads: 2,
        line_buffered: false,
        kenlm_compat: false,
    };
    let (printed, _) = capture_output(|output| {
        query(&**MODEL, text_input(text, "text"), output, options, &NoProgress)
    })
    .unwrap();
    let printed = String::from_utf8(printed).unwrap();
    let line = |line: &str| {
        let mut fields = line.split(' ').skip(1).step_by(2);
        (fields.next().unwrap().parse().unwrap(), fields.next().unwrap().parse().unwrap())
    };
    printed.lines().map(line).collect()
}

fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    lines
}

/// Returns the last number called `key` in a line, parsed exactly, unlike in serde_json.
fn number(line: &[u8], key: &str) -> f64 {
    let line = str::from_utf8(line).unwrap();
    let (_, rest) = line.rsplit_once(&format!("\"{key}\":")).unwrap();
    rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
}

fn words_of(line: &[u8]) -> u64 {
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | 0x0b | 0x0c | b'\r' | b'\n');
    line.split(blank).filter(|word| !word.is_empty()).count() as u64
}

fn arbitrary_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => proptest::sample::select(vec!["a ", "b ", "a b\n", "\n", "zz ", "\u{a0}", "\r\n", "\0"])
            .prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn lines_score_as_in_query(text in arbitrary_text(), markers in any::<bool>()) {
        let expected = query_lines(&text, markers);
        let lines = lines_of(&text);
        let (printed, counts) =
            run(&[&text], &PerplexityOptions { sentence_markers: markers, per_line: true, ..SUMMARY }).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        prop_assert_eq!(expected.len(), lines.len());
        prop_assert_eq!(counts, LineCounts { read: lines.len() as u64, kept: 0, invalid: 0 });
        prop_assert_eq!(printed.lines().count(), lines.len());
        for ((line, (log10, unknown)), text) in printed.lines().zip(expected).zip(lines) {
            let fields: Vec<&str> = line.split('\t').collect();
            prop_assert_eq!(fields[0].parse::<f32>().unwrap().to_bits(), log10.to_bits());
            prop_assert_eq!(fields[1], (words_of(text) + u64::from(markers)).to_string());
            prop_assert_eq!(fields[2], unknown.to_string());
            let tokens = words_of(text) + u64::from(markers);
            let perplexity = 10f64.powf(-(f64::from(log10) / tokens as f64));
            prop_assert!(fields[3].parse::<f64>().unwrap().to_bits() == perplexity.to_bits() || tokens == 0);
        }
        let levels = Verbosity { word: false, sentence: false, summary: true };
        let options = query::QueryOptions {
            verbosity: levels, sentence_markers: markers, threads: 3, line_buffered: true, kenlm_compat: false,
        };
        let (summary, _) =
            capture_output(|output| query(&**MODEL, text_input(&text, "text"), output, options, &NoProgress)).unwrap();
        prop_assert_eq!(run(&[&text], &PerplexityOptions { sentence_markers: markers, ..SUMMARY }).unwrap().0, summary);
    }

    #[test]
    fn a_filter_and_its_inverse_split_the_text(
        texts in proptest::collection::vec(arbitrary_text(), 1..4),
        max_perplexity in prop_oneof![Just(0.0), 3f64..40.0, Just(f64::INFINITY)],
        markers in any::<bool>(),
    ) {
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for text in &texts {
            for (line, (log10, _)) in lines_of(text).into_iter().zip(query_lines(text, markers)) {
                let tokens = words_of(line) + u64::from(markers);
                let value = 10f64.powf(-(f64::from(log10) / tokens as f64));
                let side = if value <= max_perplexity { &mut kept } else { &mut others };
                side.extend_from_slice(line);
                side.push(b'\n');
            }
        }
        for (invert, expected) in [(false, kept), (true, others)] {
            let filter = Some(PerplexityFilter { max_perplexity, invert, ..PerplexityFilter::default() });
            let (printed, counts) = run(&texts, &PerplexityOptions { sentence_markers: markers, filter, ..SUMMARY }).unwrap();
            prop_assert_eq!(counts.kept, lines_of(&expected).len() as u64);
            prop_assert_eq!(printed, expected);
        }
    }

    #[test]
    fn json_lines_keep_every_byte_and_gain_the_scores(
        documents in proptest::collection::vec((any::<String>(), "[ab z\n]{0,20}", any::<bool>()), 1..12),
        max_perplexity in 3f64..40.0,
    ) {
        let mut text = Vec::new();
        let mut expected = Vec::new();
        for (other, document, tight) in &documents {
            let (other, json) = (serde_json::json!(other), serde_json::json!(document));
            let line = if *tight {
                format!("{{\"text\":{json},\"x\":{other}}}\n")
            } else {
                format!(" {{ \"x\" : [{other}, 1e0], \"text\" : {json} }} \r\n")
            };
            text.extend(line.into_bytes());
            let mut plain = document.clone();
            if plain.is_empty() || !plain.ends_with('\n') {
                plain.push('\n');
            }
            let scores = query_lines(plain.as_bytes(), true);
            let log10: f64 = scores.iter().map(|(log10, _)| f64::from(*log10)).sum();
            let tokens = words_of(plain.as_bytes()) + scores.len() as u64;
            expected.push((log10, tokens, scores.iter().map(|(_, unknown)| unknown).sum::<u64>()));
        }
        let json = Some(JsonOptions { field: "text".into(), skip_invalid: false, buckets: None, needs_language: false });
        let (printed, _) =
            run(&[&text], &PerplexityOptions { per_line: true, json: json.clone(), ..SUMMARY }).unwrap();
        let lines = lines_of(&text);
        prop_assert_eq!(lines_of(&printed).len(), lines.len());
        for ((new, old), (log10, tokens, unknown)) in lines_of(&printed).iter().zip(&lines).zip(&expected) {
            let end = old.iter().rposition(|&b| b == b'}').unwrap();
            prop_assert!(new.starts_with(&old[..end]) && new.ends_with(&old[end..]));
            let value: serde_json::Value = serde_json::from_slice(new).unwrap();
            prop_assert_eq!(number(new, "lm_log10"), *log10);
            prop_assert_eq!(value["lm_tokens"].as_u64(), Some(*tokens));
            prop_assert_eq!(value["lm_oov"].as_u64(), Some(*unknown));
            let perplexity = 10f64.powf(-(log10 / *tokens as f64));
            prop_assert_eq!(number(new, "lm_perplexity"), perplexity);
        }
        for invert in [false, true] {
            let filter = Some(PerplexityFilter { max_perplexity, invert, ..PerplexityFilter::default() });
            let wanted = lines.iter().zip(&expected).filter(|(_, (log10, tokens, _))| {
                (10f64.powf(-(log10 / *tokens as f64)) <= max_perplexity) != invert
            });
            let wanted: Vec<u8> = wanted.flat_map(|(line, _)| [*line, b"\n"].concat()).collect();
            let options = PerplexityOptions { json: json.clone(), filter, ..SUMMARY };
            prop_assert_eq!(run(&[&text], &options).unwrap().0, wanted);
        }
    }
}

/// The text has many blocks, so that order and sums depend on more than one block.
#[test]
fn long_texts_give_the_same_whatever_the_threads() {
    let line = |i: usize| ["a b", "zz a", "", "b b a zz q", "a"][i * i % 5].to_owned() + "\n";
    let text: String = (0..200_000).map(line).collect();
    let text = text.as_bytes();
    let (printed, lines) =
        run(&[text, text], &PerplexityOptions { per_line: true, ..SUMMARY }).unwrap();
    assert_eq!(lines.read, 400_000);
    let once = query_lines(text, true);
    let printed = String::from_utf8(printed).unwrap();
    let (mut unknown_sum, mut sum, mut unknown, mut tokens) = (0.0, 0.0, 0, 0);
    for (i, (printed, (log10, oov))) in printed.lines().zip(once.iter().chain(&once)).enumerate() {
        let words = line(i % 200_000).split_whitespace().count() as u64 + 1;
        let scores = printed.rsplit_once('\t').unwrap().0;
        assert_eq!(scores, format!("{log10}\t{words}\t{oov}"));
        sum += f64::from(*log10);
        unknown += oov;
        tokens += words;
    }
    for _ in 0..2 {
        for i in 0..200_000 {
            // log10 of `zz` at the start of a line, and of `zz` and `q` in the longest line.
            let line_scores: &[f32] = match line(i).as_str() {
                "zz a\n" => &[-1.3],
                "b b a zz q\n" => &[-1.6, -1.0],
                _ => &[],
            };
            unknown_sum = line_scores.iter().fold(unknown_sum, |sum, p| sum + f64::from(*p));
        }
    }
    let expected = Perplexity { log10: sum, oov_log10: unknown_sum, tokens, oovs: unknown };
    let mut summary = Vec::new();
    expected.push_summary(&mut summary);
    assert_eq!(run(&[text, text], &SUMMARY).unwrap().0, summary);
}

#[test]
fn the_line_that_is_not_an_object_is_named() {
    let good = b"{\"text\":\"a b\"}\n".repeat(20_000);
    let bad = [&good[..], b"{\"text\":1}\n{\"text\":\"a\"}"].concat();
    let json = |skip_invalid| {
        Some(JsonOptions {
            field: "text".into(),
            skip_invalid,
            buckets: None,
            needs_language: false,
        })
    };
    let options = PerplexityOptions { per_line: true, json: json(false), ..SUMMARY };
    let error = run(&[&good, &bad], &options).unwrap_err().to_string();
    let reason = "text, line 20001: invalid type: integer `1`, expected a string (byte 9)";
    assert!(error.ends_with(reason), "{error}");
    let (printed, lines) =
        run(&[&good, &bad], &PerplexityOptions { json: json(true), ..options.clone() }).unwrap();
    assert_eq!(lines, LineCounts { read: 40_002, kept: 0, invalid: 1 });
    assert_eq!(lines_of(&printed).len(), 40_001);
    let cut = run(&[b"\n{\n"], &options).unwrap_err().to_string();
    assert!(cut.ends_with("text, line 2: EOF while parsing an object (byte 1)"), "{cut}");
}

/// Python's writers leave a blank last line, and files of Windows have CR before line ends.
#[test]
fn blank_lines_are_not_documents() {
    let json = Some(JsonOptions {
        field: "text".into(),
        skip_invalid: false,
        buckets: None,
        needs_language: false,
    });
    let options = PerplexityOptions { per_line: true, json, ..SUMMARY };
    let plain = run(&[b"{\"text\":\"a b\"}\n{\"text\":\"a\"}\n"], &options).unwrap().0;
    let text = b"\n{\"text\":\"a b\"}\n \r\n{\"text\":\"a\"}\n\n";
    let (printed, lines) = run(&[text], &options).unwrap();
    assert_eq!(printed, plain);
    assert_eq!(lines, LineCounts { read: 5, kept: 0, invalid: 0 });
}

/// Values that are equal to the bit are in many blocks, and only the first of them pass.
#[test]
fn the_best_share_of_a_long_text_is_exact() {
    let kinds = ["a b", "zz a", "", "b b a zz q", "a"];
    let line = |i: usize| kinds[i * i % 5];
    let text: String = (0..60_000).map(|i| line(i).to_owned() + "\n").collect();
    let (printed, _) =
        run(&[text.as_bytes()], &PerplexityOptions { per_line: true, ..SUMMARY }).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    let values: Vec<f64> =
        printed.lines().map(|line| line.rsplit_once('\t').unwrap().1.parse().unwrap()).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    for (share, count) in [("30.001", 18_001), ("0", 0), ("100", 60_000)] {
        let distribution = |threads| {
            let mut inputs = std::iter::once(Ok(text_input(text.as_bytes(), "text")));
            let options = PerplexityOptions { threads, ..SUMMARY };
            perplexity_distribution(&**MODEL, &mut inputs, None, &options, None, &NoProgress)
                .unwrap()
                .0
        };
        let limit = distribution(1).into_rank_limit(share.parse().unwrap());
        assert_eq!(distribution(3).into_rank_limit(share.parse().unwrap()), limit);
        let best: std::collections::BTreeSet<usize> = order[..count].iter().copied().collect();
        for invert in [false, true] {
            let all = PerplexityFilter::default();
            let filter = Some(PerplexityFilter { rank_limit: Some(limit), invert, ..all });
            let (kept, lines) =
                run(&[text.as_bytes()], &PerplexityOptions { filter, ..SUMMARY }).unwrap();
            let places = (0..60_000).filter(|place| best.contains(place) != invert);
            let expected: String = places.map(|place| line(place).to_owned() + "\n").collect();
            assert!(kept == expected.as_bytes(), "{share} {invert}");
            assert_eq!(lines.kept, lines_of(expected.as_bytes()).len() as u64);
        }
    }
}

#[test]
fn a_text_without_a_document_with_the_field_is_an_error() {
    let json = |field: &str| JsonOptions {
        field: field.into(),
        skip_invalid: true,
        buckets: None,
        needs_language: false,
    };
    let text = "{\"text\":\"a b\"}\n".repeat(20_000);
    let texts = [text.as_bytes(), b"\n{\"id\":1}\n"];
    let options =
        |field: &str| PerplexityOptions { per_line: true, json: Some(json(field)), ..SUMMARY };
    let (_, lines) = run(&texts, &options("text")).unwrap();
    assert_eq!(lines.invalid, 1);
    let error = run(&texts, &options("txt")).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "text, line 1: no field \"txt\"; did you mean \"text\"? (the first of 20001 lines, and \
             all are invalid)"
        ),
        "{error}"
    );
    let (printed, _) = run(&[b"\n\n"], &options("txt")).unwrap();
    assert!(printed.is_empty());
}
