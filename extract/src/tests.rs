//! End-to-end tests of extraction: against Moses' files, and against a naive extractor on
//! random text, with memory limits so low that there are several partitions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use miriam_textio::number::push_general_f32;
use miriam_textio::{Compression, NoProgress};
use proptest::prelude::*;

use super::*;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn plain_options(max_length: usize, temp: &Path) -> ExtractOptions {
    ExtractOptions {
        max_length,
        compression: Compression::None,
        temp_dir: temp.to_owned(),
        threads: 2,
        ..ExtractOptions::default()
    }
}

/// Extracts from the files `source`, `target` and `links` of `corpus` into a new folder and
/// returns its files by name.
fn extract_to_map(corpus: &Path, options: &ExtractOptions) -> BTreeMap<String, String> {
    let output = options.temp_dir.join("output");
    let [source, target, links] = ["source", "target", "links"].map(|name| corpus.join(name));
    extract_files(&source, &target, &links, &output, options, &NoProgress).unwrap();
    let files = fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(&path).unwrap())
    };
    let found = files.map(named).collect();
    fs::remove_dir_all(&output).unwrap();
    let left = fs::read_dir(&options.temp_dir).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("miriam-extract")
    });
    assert_eq!(left.count(), 0, "temporary files are removed");
    found
}

fn read_recorded(name: &str) -> String {
    fs::read_to_string(Path::new(TESTDATA).join(name)).unwrap()
}

fn sort_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn tables_are_those_of_moses() {
    let temp = tempfile::tempdir().unwrap();
    let kinds = [
        (Smoothing::None, "phrase-table"),
        (Smoothing::GoodTuring, "phrase-table.good-turing"),
        (Smoothing::KneserNey, "phrase-table.kneser-ney"),
    ];
    for (smoothing, name) in kinds {
        let options =
            ExtractOptions { smoothing, reordering: None, ..plain_options(3, temp.path()) };
        let found = extract_to_map(Path::new(TESTDATA), &options);
        assert_eq!(found["phrase-table"], read_recorded(name), "{name}");
        assert_eq!(sort_lines(&found["lex.e2f"]), sort_lines(&read_recorded("lex.e2f")));
        assert_eq!(sort_lines(&found["lex.f2e"]), sort_lines(&read_recorded("lex.f2e")));
        assert_eq!(found.len(), 3);
    }
}

#[test]
fn reordering_tables_are_those_of_moses() {
    let temp = tempfile::tempdir().unwrap();
    for evidence in ["wbe", "phrase", "hier"] {
        for orientations in ["msd", "mslr", "monotonicity", "leftright"] {
            let name = format!("{evidence}-{orientations}");
            let table = |direction: &str| {
                let reordering = Some(format!("{name}-{direction}-fe"));
                let options = ExtractOptions { reordering, ..plain_options(3, temp.path()) };
                extract_to_map(Path::new(TESTDATA), &options).remove("reordering-table").unwrap()
            };
            let both = read_recorded(&name);
            assert_eq!(table("bidirectional"), both, "{name}");
            // The scores of one direction are half of the columns.
            let half = |keep: fn(usize, usize) -> bool| -> String {
                let line = |line: &str| {
                    let (phrases, scores) = line.rsplit_once("||| ").unwrap();
                    let scores: Vec<&str> = scores.split(' ').collect();
                    let kept = (0..scores.len()).filter(|&i| keep(i, scores.len() / 2));
                    let kept: Vec<&str> = kept.map(|i| scores[i]).collect();
                    format!("{phrases}||| {}\n", kept.join(" "))
                };
                both.lines().map(line).collect()
            };
            assert_eq!(table("backward"), half(|i, middle| i < middle), "{name}");
            assert_eq!(table("forward"), half(|i, middle| i >= middle), "{name}");
        }
    }
}

/// Moses' tools lose the source phrases of reordering tables that are conditioned on source phrases
/// (`f`), so the expected values were calculated by hand.
#[test]
fn scores_of_source_phrases_sum_over_their_translations() {
    let temp = tempfile::tempdir().unwrap();
    for (name, text) in
        [("source", "a b\na b\n"), ("target", "x y\ny z\n"), ("links", "0-0 1-1\n0-1 1-0\n")]
    {
        fs::write(temp.path().join(name), text).unwrap();
    }
    let reordering = Some("wbe-msd-bidirectional-f".into());
    let found = extract_to_map(
        temp.path(),
        &ExtractOptions { reordering, ..plain_options(7, temp.path()) },
    );
    // In the first sentence, `a` is monotone to the beginning, and `b` follows it. In the second,
    // `a` is swapped with `b`, and no target word follows, although the source sentence goes on.
    assert_eq!(
        found["reordering-table"],
        "a b ||| 0.714286 0.142857 0.142857 0.714286 0.142857 0.142857\n\
         a ||| 0.428571 0.428571 0.142857 0.428571 0.142857 0.428571\n\
         b ||| 0.428571 0.142857 0.428571 0.428571 0.428571 0.142857\n"
    );
}

/// Source words, target words, links.
type RawSentencePair = (Vec<String>, Vec<String>, Vec<(usize, usize)>);

/// Phrase pairs as words, with the count of each alignment.
type RawPhrasePairs = BTreeMap<(Vec<String>, Vec<String>), BTreeMap<Vec<(usize, usize)>, u32>>;

/// Computes the phrase table by its definition.
fn naive_phrase_table(corpus: &[RawSentencePair], longest: usize) -> String {
    let mut pairs = RawPhrasePairs::new();
    let mut lexical: BTreeMap<(String, String), u32> = BTreeMap::new();
    for (source, target, links) in corpus {
        let mut link = |s: Option<usize>, t: Option<usize>| {
            let word =
                |words: &[String], i: Option<usize>| i.map_or("NULL".into(), |i| words[i].clone());
            *lexical.entry((word(source, s), word(target, t))).or_default() += 1;
        };
        links.iter().for_each(|&(s, t)| link(Some(s), Some(t)));
        (0..source.len())
            .filter(|&s| links.iter().all(|l| l.0 != s))
            .for_each(|s| link(Some(s), None));
        (0..target.len())
            .filter(|&t| links.iter().all(|l| l.1 != t))
            .for_each(|t| link(None, Some(t)));
        for s in 0..source.len() {
            for v in s + 1..=source.len().min(s + longest) {
                for t in 0..target.len() {
                    for u in t + 1..=target.len().min(t + longest) {
                        let of =
                            |l: &&(usize, usize)| ((s..v).contains(&l.0), (t..u).contains(&l.1));
                        let inside = links.iter().filter(|l| of(l) == (true, true));
                        if inside.clone().count() == 0 || links.iter().any(|l| of(&l).0 != of(&l).1)
                        {
                            continue;
                        }
                        let mut alignment: Vec<_> = inside.map(|l| (l.1 - t, l.0 - s)).collect();
                        alignment.sort();
                        let key = (source[s..v].to_vec(), target[t..u].to_vec());
                        *pairs.entry(key).or_default().entry(alignment).or_default() += 1;
                    }
                }
            }
        }
    }
    let total = |side: usize, word: &str| -> u32 {
        let of = |key: &(String, String)| if side == 0 { key.0 == word } else { key.1 == word };
        lexical.iter().filter(|(key, _)| of(key)).map(|(_, n)| n).sum()
    };
    // Rounded to seven decimals, as in the files.
    let probability = |source: &str, target: &str, condition: usize| -> f64 {
        let count = lexical[&(source.to_owned(), target.to_owned())];
        let total = total(condition, if condition == 0 { source } else { target });
        format!("{:.7}", f64::from(count) / f64::from(total)).parse().unwrap()
    };
    let sum = |side: usize, phrase: &[String]| -> u32 {
        let of = |key: &(Vec<String>, Vec<String>)| {
            if side == 0 { key.0 == phrase } else { key.1 == phrase }
        };
        pairs.iter().filter(|(key, _)| of(key)).flat_map(|(_, counts)| counts.values()).sum()
    };
    let mut lines = Vec::new();
    for ((source, target), alignments) in &pairs {
        let count: u32 = alignments.values().sum();
        // The links of each word, as lists that compare as Moses' nested sets do.
        let nested = |links: &[(usize, usize)], words: usize, swap: bool| -> Vec<Vec<usize>> {
            let of = |word: usize| {
                let ends = links.iter().map(|&(t, s)| if swap { (s, t) } else { (t, s) });
                let mut others: Vec<usize> = ends.filter(|e| e.0 == word).map(|e| e.1).collect();
                others.sort_unstable();
                others
            };
            (0..words).map(of).collect()
        };
        let best = |words: usize, swap: bool| {
            let candidates = alignments.iter().map(|(links, &n)| (n, nested(links, words, swap)));
            candidates.max().unwrap().1
        };
        let (direct, inverse) = (best(target.len(), false), best(source.len(), true));
        let mut weights = [1.0f64; 2];
        for (s, others) in inverse.iter().enumerate() {
            let p = |t: &usize| probability(&source[s], &target[*t], 1);
            weights[0] *= match others.len() {
                0 => probability(&source[s], "NULL", 1),
                n => others.iter().map(p).sum::<f64>() / n as f64,
            };
        }
        for (t, others) in direct.iter().enumerate() {
            let p = |s: &usize| probability(&source[*s], &target[t], 0);
            weights[1] *= match others.len() {
                0 => probability("NULL", &target[t], 0),
                n => others.iter().map(p).sum::<f64>() / n as f64,
            };
        }
        let (target_count, source_count) = (sum(1, target), sum(0, source));
        let mut line = format!("{} ||| {} |||", source.join(" "), target.join(" ")).into_bytes();
        let phi = |total: u32| count as f32 / total as f32;
        for score in [phi(target_count), weights[0] as f32, phi(source_count), weights[1] as f32] {
            line.push(b' ');
            push_general_f32(&mut line, score);
        }
        line.extend_from_slice(b" |||");
        for (t, others) in direct.iter().enumerate() {
            others.iter().for_each(|s| line.extend_from_slice(format!(" {s}-{t}").as_bytes()));
        }
        line.extend_from_slice(
            format!(" ||| {target_count} {source_count} {count} ||| |||\n").as_bytes(),
        );
        lines.push(line);
    }
    // The order of `LC_ALL=C sort`.
    lines.sort();
    String::from_utf8(lines.concat()).unwrap()
}

fn sentence_pairs() -> impl Strategy<Value = Vec<RawSentencePair>> {
    let words = || proptest::collection::vec("[a|!é]|NULL|a\u{1}", 0..6);
    let pair = (words(), words(), proptest::collection::vec((0usize..6, 0usize..6), 0..7));
    proptest::collection::vec(pair, 1..14).prop_map(|pairs| {
        let fit = |(source, target, links): RawSentencePair| {
            let fits = |l: &(usize, usize)| l.0 < source.len() && l.1 < target.len();
            let mut links: Vec<_> = links.into_iter().filter(fits).collect();
            links.sort_unstable();
            links.dedup();
            (source, target, links)
        };
        pairs.into_iter().map(fit).collect()
    })
}

/// Writes `corpus` as three files into `folder`.
fn write_corpus(corpus: &[RawSentencePair], folder: &Path) {
    let (mut source, mut target, mut links) = (String::new(), String::new(), String::new());
    for (s, t, l) in corpus {
        source += &(s.join(" ") + "\n");
        target += &(t.join("\t ") + "\n");
        let l: Vec<String> = l.iter().rev().map(|(s, t)| format!("{s}-{t}")).collect();
        links += &(l.join(" ") + "\n");
    }
    for (name, text) in [("source", source), ("target", target), ("links", links)] {
        fs::write(folder.join(name), text).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn tables_follow_the_definition(
        corpus in sentence_pairs(), longest in 1usize..5, memory in 1u64..40_000, threads in 1usize..4,
    ) {
        let temp = tempfile::tempdir().unwrap();
        write_corpus(&corpus, temp.path());
        let options = ExtractOptions { memory, threads, ..plain_options(longest, temp.path()) };
        let found = extract_to_map(temp.path(), &options);
        prop_assert_eq!(&found["phrase-table"], &naive_phrase_table(&corpus, longest));
        // The reordering table has the same phrase pairs in the same order.
        let phrases = |table: &str| -> Vec<String> {
            let two = |line: &str| line.splitn(3, "|||").take(2).collect::<Vec<_>>().join("|||");
            table.lines().map(two).collect()
        };
        prop_assert_eq!(phrases(&found["phrase-table"]), phrases(&found["reordering-table"]));
    }
}

/// Whether two phrases cooccur more often than by chance. Sentence pairs are counted one by one,
/// and combinations in whole numbers.
fn is_significant(
    corpus: &[RawSentencePair],
    source: &str,
    target: &str,
    level: SignificanceThreshold,
) -> bool {
    let contains = |words: &[String], phrase: &str| {
        format!(" {} ", words.join(" ")).contains(&format!(" {phrase} "))
    };
    let count = |f: &dyn Fn(&&RawSentencePair) -> bool| corpus.iter().filter(f).count() as u128;
    let all = corpus.len() as u128;
    let source_count = count(&|pair| contains(&pair.0, source));
    let target_count = count(&|pair| contains(&pair.1, target));
    let together = count(&|pair| contains(&pair.0, source) && contains(&pair.1, target));
    let choose = |n: u128, k: u128| -> u128 {
        if k > n { 0 } else { (0..k).fold(1, |c, i| c * (n - i) / (i + 1)) }
    };
    let ways = |k: u128| choose(source_count, k) * choose(all - source_count, target_count - k);
    let tail: u128 = (together..=source_count.min(target_count)).map(ways).sum();
    let surprise = -(tail as f64 / choose(all, target_count) as f64).ln();
    match level {
        SignificanceThreshold::AboveAlpha => surprise > (all as f64).ln() + 1e-9,
        SignificanceThreshold::Alpha => surprise > (all as f64).ln() - 1e-9,
        SignificanceThreshold::Above(level) => surprise > level,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn insignificant_pairs_are_left_out_and_nothing_else_changes(
        corpus in sentence_pairs(), longest in 1usize..4, memory in 1u64..20_000,
        level in prop_oneof![
            Just(SignificanceThreshold::AboveAlpha), Just(SignificanceThreshold::Alpha),
            (1u32..30).prop_map(|tenths| SignificanceThreshold::Above(f64::from(tenths) * 0.1 + 0.0123)),
        ],
    ) {
        let temp = tempfile::tempdir().unwrap();
        write_corpus(&corpus, temp.path());
        let options = ExtractOptions { memory, ..plain_options(longest, temp.path()) };
        let everything = extract_to_map(temp.path(), &options);
        let pruned = extract_to_map(temp.path(), &ExtractOptions { significance: Some(level), ..options });
        for table in ["phrase-table", "reordering-table"] {
            let is_kept = |line: &&str| {
                let phrases: Vec<&str> = line.split(" ||| ").collect();
                is_significant(&corpus, phrases[0], phrases[1], level)
            };
            let expected: Vec<&str> = everything[table].lines().filter(is_kept).collect();
            prop_assert_eq!(pruned[table].lines().collect::<Vec<_>>(), expected);
        }
    }
}

/// A resumed extraction reuses the runs of a killed one and gives the same tables.
#[test]
fn runs_of_a_killed_extraction_are_used() {
    let temp = tempfile::tempdir().unwrap();
    let options = ExtractOptions { memory: 2_000, ..plain_options(3, temp.path()) };
    let expected = extract_to_map(Path::new(TESTDATA), &options);
    let output = temp.path().join("output");
    fs::create_dir(&output).unwrap();
    let inputs = ["source", "target", "links"].map(|name| Path::new(TESTDATA).join(name));
    let inputs = inputs.each_ref().map(|path| path.as_path());
    let corpus = Corpus::read(inputs, 3, 1000, temp.path(), 2, &NoProgress).unwrap();
    let lexicon = LexicalTable::from_corpus(&corpus, 2, &NoProgress).unwrap();
    let reordering = options.validate().unwrap();
    let partitions = options.num_partitions(options.min_partitions(&corpus, &lexicon, 1));
    assert!(partitions > 4, "{partitions}");
    let job = options.job(&corpus, reordering);
    let open = |partitions| {
        Checkpoint::resume_or_create(&output, temp.path(), &job, partitions, partitions).unwrap()
    };
    let mut state = open(partitions);
    let extraction = PhraseExtractor {
        corpus: &corpus,
        lexical_table: &lexicon,
        max_length: 3,
        reordering,
        significance: None,
        first_partition: 0,
        num_partitions: partitions,
    };
    for partition in [0, 2] {
        let mut writer = RunWriter::create(&state.run_path(partition)).unwrap();
        let counts =
            extraction.count_partition(partition, || Ok(()), |entry| writer.push(entry)).unwrap();
        state
            .mark_finished(
                partition,
                FinishedPartition { checksum: writer.finish().unwrap(), counts },
            )
            .unwrap();
    }
    let run = state.run_path(2);
    let written = fs::metadata(&run).unwrap().modified().unwrap();
    // A run whose checksum differs is written again.
    fs::write(state.run_path(1), "half a run").unwrap();
    drop(state);
    let state = open(77);
    let state = count_partitions(&extraction, state, 2, &NoProgress).unwrap();
    assert_eq!(fs::metadata(&run).unwrap().modified().unwrap(), written);
    drop(state);
    // With another memory limit and number of threads, the number of partitions stays.
    let other = ExtractOptions { memory: 1 << 30, threads: 1, ..options.clone() };
    assert_eq!(extract_to_map(Path::new(TESTDATA), &other), expected);
}

/// Shards merge into the tables of one machine, even if they were counted in any order, with
/// different memory limits and threads, and one of them again after a killed process.
#[test]
fn shards_merge_into_the_tables_of_one_machine() {
    let temp = tempfile::tempdir().unwrap();
    let options = ExtractOptions {
        smoothing: Smoothing::KneserNey,
        significance: Some(SignificanceThreshold::parse("a-e").unwrap()),
        ..plain_options(3, temp.path())
    };
    let expected = extract_to_map(Path::new(TESTDATA), &options);
    let output = temp.path().join("output");
    let files = ["source", "target", "links"].map(|name| Path::new(TESTDATA).join(name));
    let files = files.each_ref().map(|path| path.as_path());
    let count = |shard: &str, options: &ExtractOptions| {
        extract_shard(files, &output, shard.parse().unwrap(), options, &NoProgress)
    };
    let merge = |options| merge_shards(files, &output, options, &NoProgress);
    let refused = || merge(&options).unwrap_err().to_string();

    let few = ExtractOptions { memory: 4_000, threads: 1, ..options.clone() };
    count("3/3", &few).unwrap();
    assert!(refused().contains("shards are missing: 1/3, 2/3; count them"), "{}", refused());
    count("1/3", &ExtractOptions { threads: 3, ..options.clone() }).unwrap();
    let run = output.join("shards/1-of-3.run");
    let written = fs::metadata(&run).unwrap().modified().unwrap();
    count("1/3", &few).unwrap();
    assert_eq!(fs::metadata(&run).unwrap().modified().unwrap(), written, "it is not counted again");
    // A process was killed before it wrote its record.
    count("2/3", &options).unwrap();
    fs::remove_file(output.join("shards/2-of-3.done")).unwrap();
    fs::write(output.join("shards/2-of-3.run"), "half a run").unwrap();
    assert!(refused().contains("shards are missing: 2/3"), "{}", refused());
    count("2/3", &options).unwrap();

    let instances = merge(&options).unwrap().instances;
    assert_eq!(count_instances(files, &temp.path().join("whole"), &options), instances);
    for (name, text) in &expected {
        assert!(fs::read_to_string(output.join(name)).unwrap() == *text, "{name}");
    }
    let names = fs::read_dir(output.join("shards")).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(names.count(), 6, "runs and records, nothing else");

    fs::write(&run, "damaged").unwrap();
    assert!(refused().contains("1-of-3.run: the checksum does not match"), "{}", refused());
    assert!(refused().contains("--shard 1/3"), "{}", refused());
    count("1/3", &options).unwrap();
    merge(&options).unwrap();
    let other = ExtractOptions { max_length: 2, ..options.clone() };
    let message = merge(&other).unwrap_err().to_string();
    assert!(message.contains("belongs to another text or other options"), "{message}");
    count("1/2", &options).unwrap();
    assert!(refused().contains("shards of 2 and of 3"), "{}", refused());
}

/// Progress that is cancelled when a task of this name begins.
struct CancelledIn(&'static str, AtomicBool);

impl Progress for CancelledIn {
    fn begin(&self, name: &str, _: Option<u64>) {
        if name == self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }

    fn set_position(&self, _: u64) {}

    fn end(&self) {}

    fn is_cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn cancelled_extractions_end_and_are_resumed() {
    let temp = tempfile::tempdir().unwrap();
    for (name, line) in [("source", "a b c\n"), ("target", "x y z\n"), ("links", "0-0 1-1 2-2\n")] {
        fs::write(temp.path().join(name), line.repeat(100)).unwrap();
    }
    let [source, target, links] = ["source", "target", "links"].map(|n| temp.path().join(n));
    let output = temp.path().join("output");
    for threads in [1, 2] {
        let options = ExtractOptions { threads, ..plain_options(7, temp.path()) };
        for stage in ["reading", "phrases", "tables"] {
            let progress = CancelledIn(stage, AtomicBool::new(false));
            let error = extract_files(&source, &target, &links, &output, &options, &progress);
            assert!(matches!(error, Err(Error::Cancelled)), "{stage}: {error:?}");
        }
        let found = extract_files(&source, &target, &links, &output, &options, &NoProgress);
        assert_eq!(found.unwrap().pairs, 100);
    }
}

/// Returns the number of occurrences that one extraction finds.
fn count_instances(files: [&Path; 3], output: &Path, options: &ExtractOptions) -> u64 {
    let [source, target, links] = files;
    extract_files(source, target, links, output, options, &NoProgress).unwrap().instances
}

#[test]
fn wrong_input_is_named_with_file_and_line() {
    let temp = tempfile::tempdir().unwrap();
    let complain = |source: &str, target: &str, links: &str| {
        for (name, text) in [("source", source), ("target", target), ("links", links)] {
            fs::write(temp.path().join(name), text).unwrap();
        }
        let [source, target, links] = ["source", "target", "links"].map(|n| temp.path().join(n));
        let output = temp.path().join("output");
        let options = plain_options(7, temp.path());
        extract_files(&source, &target, &links, &output, &options, &NoProgress)
            .unwrap_err()
            .to_string()
    };
    let message = complain("a\nb\n", "x\ny\n", "0-0\n");
    assert!(
        message.contains("source has 2 lines") && message.contains("links has 1:"),
        "{message}"
    );
    let message = complain("a\n", "x\ny\n", "0-0\n0-0\n");
    assert!(
        message.contains("source has 1 line,") && message.contains("target has 2:"),
        "{message}"
    );
    let message = complain("a\nb\n", "x\ny\n", "0-0\n0-1\n");
    assert!(message.contains("links, line 2") && message.contains("0-1"), "{message}");
    let message = complain("a\nb\n", "x\ny\n", "0-0\nzero\n");
    assert!(message.contains("links, line 2") && message.contains("zero"), "{message}");
    let giza = "# Sentence pair (1) source length 1 target length 1 alignment score : 1\nx\nNULL ({ }) a ({ 1 })\n";
    for links in [giza, "1\n1 a  # 1\n1 x  # 1\n"] {
        let message = complain("a\n", "x\n", links);
        assert!(message.contains("links, line 1: this is the output of GIZA++"), "{message}");
    }
    let message = complain("a\nb\n", "x\ny ||| z\n", "0-0\n0-0\n");
    assert!(message.contains("target, line 2") && message.contains("&#124;"), "{message}");
    let message = complain("", "", "");
    assert!(message.contains("no text"), "{message}");
    assert!(fs::read_dir(temp.path().join("output")).unwrap().next().is_none(), "no file remains");
}

#[test]
fn a_corpus_without_links_gives_valid_empty_tables() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("s", "a b\nc\n"), ("t", "x y\nz\n"), ("a", "\n\n")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let [source, target, links] = ["s", "t", "a"].map(|name| folder.path().join(name));
    for (compression, names) in [
        (Compression::Gzip, ["phrase-table.gz", "reordering-table.gz"]),
        (Compression::Zstd, ["phrase-table.zst", "reordering-table.zst"]),
    ] {
        let output = folder.path().join("tables");
        let options = ExtractOptions { compression, ..plain_options(5, folder.path()) };
        count_instances([&source, &target, &links], &output, &options);
        for name in names {
            let path = output.join(name);
            assert!(std::fs::metadata(&path).unwrap().len() > 0, "{name}");
            let mut lines = miriam_textio::Lines::new(miriam_textio::Input::open(&path).unwrap());
            assert!(lines.next().unwrap().is_none(), "{name}");
        }
    }
}

#[test]
fn text_that_is_repeated_has_finite_discounts() {
    // Pairs occur once and three times, but none twice: the estimate for two is infinite.
    let statistics = CountsOfCounts { pairs: 3, counts: [2, 0, 1, 0, 0, 0, 0, 0, 0, 0] };
    let discount = Discount::new(Smoothing::KneserNey, &statistics);
    let Discount::KneserNey(discounts, _) = discount else { panic!("{discount:?}") };
    assert_eq!(discounts, [0.9, 1.9, 2.9]);
}

#[test]
fn wrong_options_are_rejected() {
    let options = ExtractOptions::default();
    let refused = |options: ExtractOptions| options.validate().unwrap_err().to_string();
    for max_length in [0, 65] {
        assert!(refused(ExtractOptions { max_length, ..options.clone() }).contains("1 to 64"));
    }
    let reordering = Some("wbe".into());
    assert!(refused(ExtractOptions { reordering, ..options.clone() }).contains("wbe-msd"));
    let reordering_smoothing = f64::NAN;
    assert!(refused(ExtractOptions { reordering_smoothing, ..options }).contains("at least 0"));
}

#[test]
#[cfg(target_os = "linux")]
fn the_folder_of_temporary_files_is_checked_first() {
    let (missing, output) = (Path::new("missing"), tempfile::tempdir().unwrap());
    let options = plain_options(3, Path::new("/proc"));
    let result = extract_files(missing, missing, missing, output.path(), &options, &NoProgress);
    let error = result.expect_err("/proc has no space for files").to_string();
    assert!(error.starts_with("/proc: ") && error.ends_with("--temp or --output"), "{error}");
}
