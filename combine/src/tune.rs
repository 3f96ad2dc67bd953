//! Tuning of the feature weights of n-best lists for the best BLEU of the entries that rank
//! first.
//!
//! The lists stay as they are, so no decoder is needed. A round starts from the weights of the
//! previous round. The best weights of all rounds are written.

use std::path::PathBuf;
use std::sync::OnceLock;

use miriam_metrics::bleu::{BleuCounts, NgramMatcher, ReferenceNgrams};
use miriam_textio::n_best::{FeatureScheme, NBestEntry};
use miriam_textio::{Input, Lines, Output, Progress, display_name, fields, ordered_map};

use crate::optimizers::{
    BleuStatistics, NBestList, NBestLists, TuningAlgorithm, derive_seed, l1_normalized,
};
use crate::pooled_lists::PooledLists;
use crate::weights::FeatureWeights;
use crate::{Error, ListInput, Result};

/// Options of tuning.
#[derive(Clone, Debug)]
pub struct TuneListOptions {
    /// The references, at least one, with a line for each sentence of the list.
    pub references: Vec<PathBuf>,
    /// The initial weights; `None`, or all 0, for equal weights.
    pub initial: Option<FeatureWeights>,
    /// The optimiser.
    pub method: TuningAlgorithm,
    /// The largest number of rounds.
    pub rounds: usize,
    /// The seed of random numbers.
    pub seed: u64,
    /// Whether BLEU ignores the case of ASCII letters.
    pub case_insensitive: bool,
    /// The number of threads; results do not depend on it.
    pub threads: usize,
}

/// The result of tuning. BLEU is from 0 to 100.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneListReport {
    /// The number of sentences.
    pub sentences: usize,
    /// The number of entries, without duplicates in features and BLEU statistics.
    pub entries: usize,
    /// BLEU of the entries that the initial weights rank first.
    pub initial_bleu: f64,
    /// BLEU of the entries that the written weights rank first.
    pub bleu: f64,
}

/// Tuning ends after this many rounds without improvement.
const PATIENCE: usize = 3;

/// Finds weights for the lists in `files` and writes them to `output`, a line `NAME= weight ...`
/// for each feature. The magnitudes of all weights sum to 1. Several lists must have the same
/// sentences and features; their entries are pooled.
///
/// # Errors
/// If there is no list, a file cannot be read or written, references and lists differ in length,
/// the entries have no features or different features, or the initial weights do not fit them;
/// [`Error::Cancelled`] if `progress` is cancelled.
pub fn tune_lists(
    files: &[PathBuf],
    options: &TuneListOptions,
    mut output: Output,
    progress: &dyn Progress,
) -> Result<TuneListReport> {
    let references = read_references(options)?;
    let (scheme, lists) = read_lists(files, &references, options, progress)?;
    let equal = vec![1.0; scheme.num_values()];
    let initial = options.initial.as_ref().map(|weights| weights.for_scheme(&scheme));
    let initial = initial.transpose()?;
    if let (Some(file), Some(weights)) = (&options.initial, &initial)
        && weights.iter().all(|weight| *weight == 0.0)
    {
        tracing::warn!("{}: all weights are 0, so tuning begins with equal weights", file.name());
    }
    let start = l1_normalized(initial.unwrap_or(equal));
    let initial_bleu = best_entries(&lists, &start).bleu();
    let (mut best, mut best_bleu, mut weights) = (start.clone(), initial_bleu, start);
    let mut stalled = 0;
    let task = progress.task("tuning", Some(options.rounds as u64));
    for round in 0..options.rounds {
        let seed = derive_seed(options.seed, round as u64);
        weights = options.method.optimize(&lists, &weights, &best, false, seed, options.threads);
        let bleu = best_entries(&lists, &weights).bleu();
        tracing::info!("round {}: BLEU {bleu:.2}", round + 1);
        stalled += 1;
        if bleu > best_bleu {
            (best_bleu, stalled) = (bleu, 0);
            best.clone_from(&weights);
        }
        task.advance(1);
        if task.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if stalled == PATIENCE {
            break;
        }
    }
    drop(task);
    output.write(&format_weights(&scheme, &best))?;
    output.finish()?;
    Ok(TuneListReport {
        sentences: lists.lines.len(),
        entries: lists.lines.iter().map(NBestList::len).sum(),
        initial_bleu,
        bleu: best_bleu,
    })
}

/// Reads the lines of all references, one list for each sentence.
fn read_references(options: &TuneListOptions) -> Result<Vec<Vec<Vec<u8>>>> {
    if options.references.is_empty() {
        return Err(Error::usage("tuning needs references"));
    }
    let mut by_sentence: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut first_length = None;
    for path in &options.references {
        let mut lines = Lines::new(Input::open(path)?);
        let mut count = 0;
        while let Some(line) = lines.next()? {
            // Lines may end in CRLF, as everywhere else.
            let mut line = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes).to_vec();
            if options.case_insensitive {
                line.make_ascii_lowercase();
            }
            if count == by_sentence.len() {
                by_sentence.push(Vec::new());
            }
            by_sentence[count].push(line);
            count += 1;
        }
        let (first, length) = first_length.get_or_insert((path, count as u64));
        let names = [*first, path].map(|path| display_name(path));
        let lengths = names.iter().map(String::as_str).zip([*length, count as u64]);
        miriam_textio::Error::check_line_counts(lengths)?;
    }
    let has_words = |line: &Vec<u8>| fields::split_words(line).next().is_some();
    if !by_sentence.iter().flatten().any(has_words) {
        let name = display_name(&options.references[0]);
        let reason = "the references have no words, so no entry is better than another";
        return Err(miriam_textio::Error::format(&name, 1, None, reason).into());
    }
    Ok(by_sentence)
}

/// Reads the features and the BLEU statistics of all entries.
fn read_lists(
    files: &[PathBuf],
    references: &[Vec<Vec<u8>>],
    options: &TuneListOptions,
    progress: &dyn Progress,
) -> Result<(FeatureScheme, NBestLists)> {
    let inputs = files.iter().map(|file| ListInput::File(file.clone())).collect();
    let mut reader = PooledLists::open(inputs)?;
    let scheme: OnceLock<FeatureScheme> = OnceLock::new();
    let task = progress.task("reading", Some(references.len() as u64));
    let mut sentences = 0;
    let mut found = Vec::with_capacity(references.len());
    ordered_map(
        options.threads,
        || -> Result<_> {
            let Some(by_list) = reader.next()? else { return Ok(None) };
            let entries: Vec<NBestEntry> = by_list.into_iter().flatten().collect();
            let Some(references) = references.get(sentences) else {
                let reason = format!("there are references for {sentences} sentences only");
                return Err(entries[0].error(1, reason).into());
            };
            sentences += 1;
            if scheme.get().is_none() {
                let features = FeatureScheme::new(entries[0].features());
                if features.num_values() == 0 {
                    let field = entries[0].fields.features_field;
                    return Err(entries[0].error(field, "expected features, found none").into());
                }
                // This is the only place that sets `scheme`.
                let _ = scheme.set(features);
            }
            Ok(Some((entries, references)))
        },
        || {
            let mut matcher = NgramMatcher::default();
            let scheme = &scheme;
            move |(entries, references): (Vec<NBestEntry>, &Vec<Vec<u8>>)| {
                let scheme = scheme.get().expect("set by the reader");
                count_matches(&entries, references, scheme, options, &mut matcher)
            }
        },
        |list: Result<NBestList>, _| {
            found.push(list?);
            task.advance(1);
            if task.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
        },
    )?;
    if found.len() < references.len() {
        let reason = format!("{} has only {} sentences", display_name(&files[0]), found.len());
        let name = display_name(&options.references[0]);
        let line = found.len() as u64 + 1;
        return Err(miriam_textio::Error::format(&name, line, None, reason).into());
    }
    let scheme = scheme.into_inner().expect("there is a sentence");
    let mut lists = NBestLists::new(found.len(), scheme.num_values());
    lists.merge(found);
    Ok((scheme, lists))
}

/// Returns the features and the BLEU statistics of a sentence's entries.
fn count_matches(
    entries: &[NBestEntry],
    references: &[Vec<u8>],
    scheme: &FeatureScheme,
    options: &TuneListOptions,
    matcher: &mut NgramMatcher,
) -> Result<NBestList> {
    let references = references.iter().map(|line| fields::split_words(line));
    let references = ReferenceNgrams::new(references);
    let mut list = NBestList::default();
    let (mut values, mut tokens) = (Vec::new(), Vec::new());
    for entry in entries {
        values.clear();
        scheme
            .parse_values(entry.features(), &mut values)
            .map_err(|reason| entry.error(entry.fields.features_field, reason))?;
        let mut text = entry.text().to_vec();
        if options.case_insensitive {
            text.make_ascii_lowercase();
        }
        tokens.clear();
        tokens.extend(fields::split_words(&text).map(|word| references.token_id(word)));
        let counts = matcher.count_matches(&references, &tokens);
        list.push(values.iter().copied(), 0.0, BleuStatistics::from_counts(&counts));
    }
    Ok(list)
}

/// Returns the summed counts of the entries that `weights` rank first. Of entries with equal
/// scores, the first in the list is taken.
fn best_entries(lists: &NBestLists, weights: &[f64]) -> BleuCounts {
    let mut counts = BleuCounts::default();
    for list in &lists.lines {
        let mut best: Option<(usize, f64)> = None;
        for index in 0..list.len() {
            let products = weights.iter().zip(list.row(index, weights.len()));
            let total = products.fold(0.0, |sum, (weight, value)| sum + weight * f64::from(*value));
            if best.is_none_or(|(_, most)| total > most) {
                best = Some((index, total));
            }
        }
        if let Some((index, _)) = best {
            counts += list.statistics[index].to_counts();
        }
    }
    counts
}

/// Returns the weights as lines for [`FeatureWeights::read`]. Numbers have as many digits as an
/// `f64` needs, so the file gives exactly the same ranking.
fn format_weights(scheme: &FeatureScheme, weights: &[f64]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut weights = weights.iter();
    for (name, count) in scheme.features() {
        text.extend_from_slice(name);
        text.push(b'=');
        for weight in weights.by_ref().take(count) {
            text.extend_from_slice(format!(" {weight}").as_bytes());
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ListInput;
    use crate::rerank::{RerankOutput, rerank};
    use miriam_storage::random::SplitMix64;
    use miriam_textio::NoProgress;
    use std::fmt::Write as _;
    use std::path::Path;

    /// A list and its reference. The first feature says how much of the reference an entry has; the
    /// second is large where entries are wrong.
    fn list(sentences: usize) -> (String, String) {
        let mut random = SplitMix64::new(7);
        let (mut list, mut reference) = (String::new(), String::new());
        for sentence in 0..sentences {
            let mut next = |range: u64| random.next_u64() % range;
            let words: Vec<String> = (0..6).map(|_| format!("w{}", next(50))).collect();
            writeln!(reference, "{}", words.join(" ")).unwrap();
            for _ in 0..12 {
                let kept = next(7) as usize;
                let text: Vec<&str> = words
                    .iter()
                    .enumerate()
                    .map(|(at, word)| if at < kept { word.as_str() } else { "x" })
                    .collect();
                let noise = next(100) as f64 / 100.0;
                let good = kept as f64 + noise;
                let bad = 9.0 - kept as f64 + 3.0 * noise;
                writeln!(
                    list,
                    "{sentence} ||| {} ||| Good0= {good} Bad0= {bad} {noise} ||| 0",
                    text.join(" ")
                )
                .unwrap();
            }
        }
        (list, reference)
    }

    fn options(folder: &Path, method: TuningAlgorithm) -> TuneListOptions {
        TuneListOptions {
            references: vec![folder.join("reference")],
            initial: None,
            method,
            rounds: 10,
            seed: 1,
            case_insensitive: false,
            threads: 1,
        }
    }

    fn tune(folder: &Path, options: &TuneListOptions) -> Result<TuneListReport, String> {
        tune_files(folder, &["list"], options)
    }

    fn tune_files(
        folder: &Path,
        lists: &[&str],
        options: &TuneListOptions,
    ) -> Result<TuneListReport, String> {
        let lists: Vec<PathBuf> = lists.iter().map(|name| folder.join(name)).collect();
        let output = Output::create(&folder.join("weights")).unwrap();
        tune_lists(&lists, options, output, &NoProgress).map_err(|error| error.to_string())
    }

    #[test]
    fn every_method_finds_the_weights_of_the_best_entries() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (list, reference) = list(80);
        std::fs::write(folder.join("list"), &list).unwrap();
        std::fs::write(folder.join("reference"), &reference).unwrap();
        let oracle = list_oracle(&list, &reference);
        for method in [TuningAlgorithm::Mira, TuningAlgorithm::Mert, TuningAlgorithm::Pro] {
            let report = tune(folder, &options(folder, method)).unwrap();
            assert!(report.bleu > report.initial_bleu + 5.0, "{method:?}: {report:?}");
            assert!(report.bleu > 0.98 * oracle, "{method:?}: {report:?}, {oracle}");
            let written = std::fs::read_to_string(folder.join("weights")).unwrap();
            let threads = TuneListOptions { threads: 3, ..options(folder, method) };
            assert_eq!(tune(folder, &threads).unwrap(), report);
            assert_eq!(std::fs::read_to_string(folder.join("weights")).unwrap(), written);
            // Ranking by the file gives the BLEU of the report.
            let weights = FeatureWeights::read(&folder.join("weights")).unwrap();
            let best = Output::create(&folder.join("best")).unwrap();
            let listed = ListInput::File(folder.join("list"));
            rerank(listed, &weights, RerankOutput::Best, 1, best, &NoProgress).unwrap();
            let best = std::fs::read_to_string(folder.join("best")).unwrap();
            assert!((bleu(&best, &reference) - report.bleu).abs() < 1e-9);
            // Tuning from its own result loses nothing.
            let again = TuneListOptions { initial: Some(weights), ..options(folder, method) };
            assert!(tune(folder, &again).unwrap().bleu >= report.bleu);
        }
    }

    /// Entries that are divided between two lists give the weights of one list.
    #[test]
    fn several_lists_are_pooled() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (list, reference) = list(30);
        let (mut first, mut second) = (String::new(), String::new());
        for (number, line) in list.lines().enumerate() {
            // Twelve lines are a sentence.
            let part = if number % 12 < 5 { &mut first } else { &mut second };
            writeln!(part, "{line}").unwrap();
        }
        let files =
            [("list", &list), ("first", &first), ("second", &second), ("reference", &reference)];
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let options = options(folder, TuningAlgorithm::Mert);
        let expected = tune(folder, &options).unwrap();
        let weights = std::fs::read(folder.join("weights")).unwrap();
        // Entries that both lists have count once.
        for lists in [&["first", "second"][..], &["list", "second"], &["list", "list"]] {
            let report = tune_files(folder, lists, &options).unwrap();
            assert_eq!(report.sentences, 30);
            assert_eq!(report.entries, expected.entries, "{lists:?}");
            assert_eq!(std::fs::read(folder.join("weights")).unwrap(), weights, "{lists:?}");
        }
        let short: String = first.lines().take(5).map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.join("short"), short).unwrap();
        let error = tune_files(folder, &["first", "short"], &options).unwrap_err();
        assert!(error.contains("sentence 1 is not in") && error.contains("short"), "{error}");
    }

    fn bleu(text: &str, reference: &str) -> f64 {
        let mut counts = BleuCounts::default();
        let mut matcher = NgramMatcher::default();
        for (line, reference) in text.lines().zip(reference.lines()) {
            let words = fields::split_words(reference.as_bytes());
            let references = ReferenceNgrams::new([words]);
            let tokens: Vec<_> = fields::split_words(line.as_bytes())
                .map(|word| references.token_id(word))
                .collect();
            counts += matcher.count_matches(&references, &tokens);
        }
        counts.bleu()
    }

    /// BLEU of the entries that have most of the reference.
    fn list_oracle(list: &str, reference: &str) -> f64 {
        let mut best: Vec<(usize, &str)> = vec![(0, ""); reference.lines().count()];
        for line in list.lines() {
            let mut parts = line.split(" ||| ");
            let sentence: usize = parts.next().unwrap().parse().unwrap();
            let text = parts.next().unwrap();
            let kept = 1 + text.split(' ').filter(|word| *word != "x").count();
            if kept > best[sentence].0 {
                best[sentence] = (kept, text);
            }
        }
        let lines: Vec<&str> = best.iter().map(|(_, text)| *text).collect();
        bleu(&lines.join("\n"), reference)
    }

    #[test]
    fn lists_and_references_that_do_not_fit_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let tune_texts = |list: &str, reference: &str, initial: Option<&str>| {
            std::fs::write(folder.join("list"), list).unwrap();
            std::fs::write(folder.join("reference"), reference).unwrap();
            let initial = initial.map(|weights| {
                std::fs::write(folder.join("initial"), weights).unwrap();
                FeatureWeights::read(&folder.join("initial")).unwrap()
            });
            let options = TuneListOptions { initial, ..options(folder, TuningAlgorithm::Mira) };
            tune(folder, &options).unwrap_err()
        };
        let two = "0 ||| a ||| F0= 1 ||| 1\n1 ||| b ||| F0= 2 ||| 2\n";
        let cases = [
            (tune_texts(two, "a\n", None), "line 2, field 1: there are references for 1 sentences"),
            (tune_texts(two, "a\nb\nc\n", None), "reference, line 3: "),
            (tune_texts(two, "\n\n", None), "the references have no words"),
            (tune_texts("0 ||| a ||| ||| 1\n", "a\n", None), "expected features, found none"),
            (
                tune_texts("0 ||| a ||| F0= 1 ||| 1\n0 ||| b ||| F1= 1 ||| 1\n", "a\n", None),
                "line 2, field 3: expected a value of feature \"F0\"",
            ),
            (tune_texts(two, "a\nb\n", Some("F1= 1\n")), "no weights for feature F0"),
        ];
        for (message, expected) in cases {
            assert!(message.contains(expected), "{message}");
        }
    }
}
