//! Tests of the searches against an exhaustive decoder, which lists every segmentation, order and
//! choice of options, and scores them with plain f64 sums of the numbers in the text files. With
//! wide stacks, all searches must find the best score.

mod markup;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use markup::{Markup, markup};
use miriam_decoder::{Configuration, Derivation, System, Translator};
use miriam_textio::NoProgress;
use proptest::prelude::*;

/// A random model over single-letter words.
#[derive(Debug, Clone)]
struct Model {
    pairs: Vec<Pair>,
    /// The number of phrase tables, 1 or 2.
    tables: usize,
    lms: Vec<Lm>,
    limit: i32,
}

#[derive(Debug, Clone)]
struct Pair {
    source: String,
    target: String,
    /// The phrase probability in each table it is in.
    probabilities: [Option<f32>; 2],
    /// Backward reordering probabilities.
    reordering: [f32; 3],
}

/// n-grams, newest word last, with log10 probability and backoff. The model also has all parts of
/// each n-gram.
#[derive(Debug, Clone)]
struct Lm {
    order: usize,
    ngrams: BTreeMap<Vec<usize>, (f32, f32)>,
}

const WORDS: [&str; 7] = ["<unk>", "<s>", "</s>", "a", "b", "c", "d"];
const TABLE_WEIGHTS: [f64; 2] = [0.7, 0.5];
const LM_WEIGHTS: [f64; 2] = [0.6, 0.25];

fn lm(order: usize) -> impl Strategy<Value = Lm> {
    // A context begins with any word but </s>; a word is any but <s>.
    let ngram = (
        proptest::sample::select(vec![0usize, 1, 3, 4, 5, 6]),
        proptest::collection::vec(proptest::sample::select(vec![0usize, 3, 4, 5, 6]), 0..order - 1),
        proptest::sample::select(vec![0usize, 2, 3, 4, 5, 6]),
    );
    let numbers = proptest::collection::vec((-40i32..-1, -20i32..1), 60);
    (
        proptest::collection::vec(ngram, 0..14),
        numbers,
        // If only some words have backoffs, states get short, and the scores after them are
        // constants. If any n-gram may lack a backoff, the state after an n-gram can be longer than
        // the state after its suffix.
        proptest::collection::vec(proptest::bool::ANY, WORDS.len()),
        proptest::bool::weighted(0.4),
    )
        .prop_map(move |(longest, numbers, has_backoff, any)| {
            let mut ngrams: BTreeMap<Vec<usize>, _> =
                (0..WORDS.len()).map(|w| (vec![w], (0.0, 0.0))).collect();
            for (first, middle, last) in longest {
                let mut words = [vec![first], middle, vec![last]].concat();
                words.truncate(order);
                for from in 0..words.len() {
                    for to in from + 1..=words.len() {
                        ngrams.insert(words[from..to].to_vec(), (0.0, 0.0));
                    }
                }
            }
            for ((words, value), (p, b)) in ngrams.iter_mut().zip(numbers.iter().cycle()) {
                let given = if any { p % 2 == 0 } else { has_backoff[words[words.len() - 1]] };
                let backoff = if given { *b as f32 / 10.0 } else { 0.0 };
                *value = (*p as f32 / 10.0, backoff);
            }
            Lm { order, ngrams }
        })
}

fn model() -> impl Strategy<Value = Model> {
    let phrase = |letters: &'static str, longest: usize| {
        proptest::collection::vec(
            proptest::sample::select(letters.chars().collect::<Vec<_>>()),
            1..=longest,
        )
        .prop_map(|w| w.iter().map(char::to_string).collect::<Vec<_>>().join(" "))
    };
    let probability = || (1u32..1000).prop_map(|p| p as f32 / 1000.0);
    let tables = (probability(), probability(), 0..3).prop_map(|(a, b, which)| match which {
        0 => [Some(a), None],
        1 => [None, Some(b)],
        _ => [Some(a), Some(b)],
    });
    let reordering = [probability(), probability(), probability()];
    let pair = (phrase("uvw", 3), phrase("abcd", 4), tables, reordering).prop_map(
        |(source, target, probabilities, reordering)| Pair {
            source,
            target,
            probabilities,
            reordering,
        },
    );
    (proptest::collection::vec(pair, 1..11), 1usize..3, lm(3), 2usize..5, 1usize..3, -1i32..4)
        .prop_flat_map(|(pairs, tables, first, order, lms, limit)| {
            let seconds = proptest::collection::vec(lm(order), lms - 1);
            (Just(pairs), Just(tables), Just(first), seconds, Just(limit))
        })
        .prop_map(|(mut pairs, tables, first, seconds, limit)| {
            let mut seen = HashSet::new();
            pairs.retain(|pair| seen.insert((pair.source.clone(), pair.target.clone())));
            Model { pairs, tables, lms: [vec![first], seconds].concat(), limit }
        })
}

impl Model {
    /// Returns the lines of a table.
    fn lines(&self, table: usize) -> Vec<String> {
        let line = |pair: &Pair| {
            let Pair { source, target, probabilities, .. } = pair;
            probabilities[table].map(|p| format!("{source} ||| {target} ||| {p} ||| 0-0"))
        };
        self.pairs.iter().filter_map(line).collect()
    }

    /// Returns a table as it is written in a line of input.
    fn in_line(&self, table: usize) -> String {
        self.lines(table).join(" $$$ ")
    }

    fn write(&self, folder: &Path) {
        for table in 0..self.tables {
            let text: String = self.lines(table).iter().map(|line| format!("{line}\n")).collect();
            fs::write(folder.join(format!("table{table}")), text).unwrap();
        }
        let mut reordering = String::new();
        for Pair { source, target, reordering: r, .. } in &self.pairs {
            writeln!(reordering, "{source} ||| {target} ||| {} {} {}", r[0], r[1], r[2]).unwrap();
        }
        fs::write(folder.join("reordering"), reordering).unwrap();
        for (i, lm) in self.lms.iter().enumerate() {
            fs::write(folder.join(format!("lm{i}.arpa")), lm.arpa()).unwrap();
        }
    }

    fn ini(&self, algorithm: u32, lazy: bool) -> String {
        let mut ini = format!(
            "[distortion-limit]\n{}\n[search-algorithm]\n{algorithm}\n\
             [cube-pruning-lazy-scoring]\n{lazy}\n\
             [stack]\n5000\n[cube-pruning-pop-limit]\n200000\n[beam-threshold]\n0\n[threads]\n1\n\
             [feature]\nDistortion\nUnknownWordPenalty\nWordPenalty\nPhrasePenalty\n\
             LexicalReordering name=R num-features=3 type=msd-backward-fe path=reordering\n",
            self.limit
        );
        let mut weights = String::from(
            "[weight]\nDistortion0= 0.3\nWordPenalty0= -0.4\nPhrasePenalty0= 0.1\nR= 0.2 0.3 0.4\n",
        );
        let mut mapping = String::from("[mapping]\n");
        for (i, weight) in TABLE_WEIGHTS[..self.tables].iter().enumerate() {
            writeln!(
                ini,
                "PhraseDictionaryMemory name=T{i} num-features=1 path=table{i} table-limit=0"
            )
            .unwrap();
            writeln!(weights, "T{i}= {weight}").unwrap();
            writeln!(mapping, "{i} T {i}").unwrap();
        }
        for (i, weight) in LM_WEIGHTS[..self.lms.len()].iter().enumerate() {
            writeln!(ini, "KENLM name=LM{i} path=lm{i}.arpa").unwrap();
            writeln!(weights, "LM{i}= {weight}").unwrap();
        }
        [mapping, ini, weights].concat()
    }

    /// Returns the weighted natural-log score of `word` after `history`.
    fn lm_score(&self, history: &[usize], word: usize) -> f64 {
        let scores = self.lms.iter().map(|lm| {
            let context = &history[history.len().saturating_sub(lm.order - 1)..];
            lm.log10(context, word) * std::f64::consts::LN_10
        });
        scores.zip(LM_WEIGHTS).map(|(score, weight)| score * weight).sum()
    }
}

impl Lm {
    fn arpa(&self) -> String {
        let ngrams_of_order =
            |n: usize| self.ngrams.iter().filter(move |(words, _)| words.len() == n);
        let mut arpa = String::from("\\data\\\n");
        for n in 1..=self.order {
            writeln!(arpa, "ngram {n}={}", ngrams_of_order(n).count()).unwrap();
        }
        for n in 1..=self.order {
            writeln!(arpa, "\n\\{n}-grams:").unwrap();
            for (words, (p, b)) in ngrams_of_order(n) {
                let words: Vec<_> = words.iter().map(|&w| WORDS[w]).collect();
                write!(arpa, "{p}\t{}", words.join(" ")).unwrap();
                if n < self.order {
                    write!(arpa, "\t{b}").unwrap();
                }
                arpa.push('\n');
            }
        }
        arpa.push_str("\n\\end\\\n");
        arpa
    }

    /// Returns log10 p(word | context), as in textbooks.
    fn log10(&self, context: &[usize], word: usize) -> f64 {
        match self.ngrams.get(&[context, &[word]].concat()) {
            Some(&(p, _)) => f64::from(p),
            None => {
                let backoff = self.ngrams.get(context).map_or(0.0, |&(_, b)| f64::from(b));
                backoff + self.log10(&context[1..], word)
            }
        }
    }
}

/// Target words, weighted phrase score, backward reordering probabilities.
type Choice = (Vec<usize>, f64, Option<[f32; 3]>);

/// Returns the words of a phrase as indices into `WORDS`.
fn word_numbers(phrase: &str) -> Vec<usize> {
    let words = phrase.split(' ').filter(|word| !word.is_empty());
    words.map(|word| WORDS.iter().position(|known| *known == word).unwrap()).collect()
}

struct Exhaustive<'a> {
    model: &'a Model,
    markup: &'a Markup,
    source: Vec<String>,
    options: HashMap<(usize, usize), Vec<Choice>>,
    /// The scores of all derivations.
    scores: Vec<f64>,
}

impl Exhaustive<'_> {
    /// Returns the scores of all derivations, best first.
    fn run(model: &Model, line: &str, markup: &Markup) -> Vec<f64> {
        let source: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut options: HashMap<_, Vec<_>> = HashMap::new();
        for start in 0..source.len() {
            for end in start + 1..=source.len() {
                let phrase = source[start..end].join(" ");
                let pairs = || model.pairs.iter().filter(|pair| pair.source == phrase);
                for pair in
                    pairs().filter(|pair| markup.allows_table_option(start, end, &pair.target))
                {
                    let words = word_numbers(&pair.target);
                    for (p, weight) in
                        pair.probabilities.iter().zip(TABLE_WEIGHTS).take(model.tables)
                    {
                        if let Some(p) = p {
                            let score = weight * f64::from(*p).ln();
                            let choice = (words.clone(), score, Some(pair.reordering));
                            options.entry((start, end)).or_default().push(choice);
                        }
                    }
                }
                for (target, p) in markup.forced(start, end) {
                    let score = p.map_or(0.0, |p| f64::from(p).ln());
                    let reordering = pairs().find(|pair| pair.target == *target);
                    let choice =
                        (word_numbers(target), score, reordering.map(|pair| pair.reordering));
                    options.entry((start, end)).or_default().push(choice);
                }
            }
            // The language models do not know any source word, so a copied word is `<unk>`.
            if markup.allows_copying(start) {
                options.entry((start, start + 1)).or_insert_with(|| vec![(vec![0], -100.0, None)]);
            }
        }
        let mut search = Exhaustive { model, markup, source, options, scores: Vec::new() };
        let covered = vec![false; search.source.len()];
        search.expand(&covered, None, &[1], 0.0, false);
        search.scores.sort_by(|a, b| b.total_cmp(a));
        search.scores
    }

    fn expand(
        &mut self,
        covered: &[bool],
        last: Option<(usize, usize)>,
        history: &[usize],
        score: f64,
        ends: bool,
    ) {
        if covered.iter().all(|&c| c) {
            // After an empty phrase no sentence end is scored.
            let end = if ends { self.model.lm_score(history, 2) } else { 0.0 };
            self.scores.push(score + end);
            return;
        }
        let n = covered.len();
        let gap = covered.iter().position(|&c| !c).unwrap();
        for start in 0..n {
            for end in start + 1..=n {
                if covered[start..end].contains(&true) {
                    continue;
                }
                let Some(options) = self.options.get(&(start, end)).cloned() else { continue };
                let jump = (last.map_or(0, |l| l.1) as i64 - start as i64).abs();
                let limit = i64::from(self.model.limit);
                if limit != -1 && (jump > limit || (start != gap && (end - gap) as i64 > limit)) {
                    continue;
                }
                if !self.markup.respects_constraints(covered, start, end - 1, limit) {
                    continue;
                }
                let orientation = match last {
                    None if start == 0 => 0,
                    Some((_, q)) if q == start => 0,
                    Some((q, _)) if q == end => 1,
                    _ => 2,
                };
                let mut next = covered.to_vec();
                next[start..end].fill(true);
                for (words, phrase, reordering) in options {
                    let mut total =
                        score + phrase - 0.3 * jump as f64 + 0.4 * words.len() as f64 + 0.1;
                    if let Some(r) = reordering {
                        total += [0.2, 0.3, 0.4][orientation] * f64::from(r[orientation]).ln();
                    }
                    let mut history = history.to_vec();
                    for &w in &words {
                        total += self.model.lm_score(&history, w);
                        history.push(w);
                    }
                    self.expand(&next, Some((start, end)), &history, total, !words.is_empty());
                }
            }
        }
    }
}

/// The place of a model's second phrase table.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SecondTable {
    /// In a file, like the first.
    File,
    /// In the line itself.
    Line,
}

/// The searches: algorithm, and whether it scores lazily.
const SEARCHES: [(u32, bool); 3] = [(0, false), (1, false), (1, true)];

/// Returns the system of `model` in `folder` with one of the searches.
fn system(
    model: &Model,
    folder: &Path,
    (algorithm, lazy): (u32, bool),
    markup: &Markup,
    second: SecondTable,
) -> System {
    let mut text = model.ini(algorithm, lazy);
    match second {
        SecondTable::File => write!(text, "[xml-input]\n{}\n", markup.mode).unwrap(),
        SecondTable::Line => {
            text = text
                .replace("PhraseDictionaryMemory name=T1", "DynamicPhraseTable name=T1")
                .replace(" path=table1", "");
            text.push_str("[inputtype]\n7\n");
        }
    }
    let ini = folder.join("moses.ini");
    fs::write(&ini, text).unwrap();
    System::load(&Configuration::from_ini(&ini).unwrap(), &NoProgress).unwrap()
}

fn is_close(found: f32, expected: f64) -> bool {
    (f64::from(found) - expected).abs() < 1e-4 * (1.0 + expected.abs())
}

/// Checks that all searches find the best score for `line`, which is `words` with `markup`.
fn check_best_score(
    model: &Model,
    words: &[&str],
    line: &str,
    markup: &Markup,
) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    model.write(folder.path());
    let scores = Exhaustive::run(model, &words.join(" "), markup);
    let expected = scores.first().copied().unwrap_or(f64::NEG_INFINITY);
    for search in SEARCHES {
        let system = system(model, folder.path(), search, markup, SecondTable::File);
        let translation = Translator::new(&system).translate(line.as_bytes()).unwrap();
        match translation {
            Some(found) => prop_assert!(
                is_close(found.score, expected),
                "{search:?}: {} against {expected}",
                found.score
            ),
            None => prop_assert_eq!(expected, f64::NEG_INFINITY),
        }
    }
    Ok(())
}

/// Checks that a long enough list for `line` holds every derivation once. The score of each must be
/// the sum of its feature values times their weights. `line` is `words` with `markup` or a table.
fn check_lists(
    model: &Model,
    words: &[&str],
    line: &str,
    markup: &Markup,
    second: SecondTable,
) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    model.write(folder.path());
    let mut expected = Exhaustive::run(model, &words.join(" "), markup);
    let size = expected.len().min(3000) + 1;
    expected.truncate(size);
    for search in SEARCHES {
        let system = system(model, folder.path(), search, markup, second);
        let mut translator = Translator::new(&system);
        let list = translator.n_best(line.as_bytes(), size, false).unwrap();
        prop_assert_eq!(list.len(), expected.len(), "{:?}", search);
        for (i, (found, &score)) in list.iter().zip(&expected).enumerate() {
            prop_assert!(is_close(found.score, score), "entry {i}: {found:?}, not {score}");
            let mut sum = 0.0;
            for feature in system.features() {
                let values = &found.values[feature.range.clone()];
                for (value, weight) in values.iter().zip(&feature.weights) {
                    sum += f64::from(value * weight);
                }
            }
            prop_assert!(is_close(found.score, sum), "entry {i}: {found:?} sums to {sum}");
        }
        let best = translator.translate(line.as_bytes()).unwrap();
        prop_assert_eq!(best.map(|best| best.score), list.first().map(|first| first.score));
        if list.len() == size {
            // The list is truncated, so a distinct list may have entries that it lacks.
            continue;
        }
        // A distinct list has only the best derivation of each translation.
        let words = |found: &Derivation| -> Vec<Vec<u8>> {
            found.phrases.iter().flat_map(|phrase| phrase.words.clone()).collect()
        };
        let mut seen = HashSet::new();
        let firsts: Vec<&Derivation> =
            list.iter().filter(|found| seen.insert(words(found))).collect();
        let distinct = translator.n_best(line.as_bytes(), size, true).unwrap();
        prop_assert_eq!(distinct.iter().collect::<Vec<_>>(), firsts);
    }
    Ok(())
}

fn sentence() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(vec!["u", "v", "w", "x"]), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn searches_find_the_best_translation(model in model(), words in sentence()) {
        check_best_score(&model, &words, &words.join(" "), &Markup::none())?;
    }

    #[test]
    fn lists_hold_every_derivation(model in model(), words in sentence()) {
        check_lists(&model, &words, &words.join(" "), &Markup::none(), SecondTable::File)?;
    }

    #[test]
    fn lists_of_marked_lines_hold_every_derivation(
        model in model(),
        words in sentence(),
        markup in markup(4),
    ) {
        let markup = markup.restrict_to(words.len());
        check_lists(&model, &words, &markup.write(&words), &markup, SecondTable::File)?;
    }

    /// A table in the line gives the same derivations as the same table in a file.
    #[test]
    fn lists_with_a_table_in_the_line_hold_every_derivation(
        mut model in model(),
        words in sentence(),
    ) {
        model.tables = 2;
        let line = format!("{}@@@{}", words.join(" "), model.in_line(1));
        check_lists(&model, &words, &line, &Markup::none(), SecondTable::Line)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn searches_do_what_markup_asks_for(model in model(), words in sentence(), markup in markup(4)) {
        let markup = markup.restrict_to(words.len());
        check_best_score(&model, &words, &markup.write(&words), &markup)?;
    }
}
