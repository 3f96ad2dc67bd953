//! The search against the slowest decoder there is: every segmentation, every
//! order, every choice of options, scored from the text files with plain f64
//! sums. With wide stacks both must find the same best score.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use miriam_decoder::{Configuration, System, Translator};
use miriam_text::Silent;
use proptest::prelude::*;

/// A random model over single-letter words.
#[derive(Debug, Clone)]
struct Model {
    /// Source, target, phrase probability, backward reordering probabilities.
    pairs: Vec<(String, String, f32, [f32; 3])>,
    /// Bigram model: unigrams (probability, backoff) of a..d, then bigrams.
    unigrams: Vec<(f32, f32)>,
    bigrams: Vec<(usize, usize, f32)>,
    limit: i32,
}

const WORDS: [&str; 7] = ["<unk>", "<s>", "</s>", "a", "b", "c", "d"];

fn model() -> impl Strategy<Value = Model> {
    let phrase = |letters: &'static str| {
        proptest::collection::vec(
            proptest::sample::select(letters.chars().collect::<Vec<_>>()),
            1..4,
        )
        .prop_map(|w| w.iter().map(char::to_string).collect::<Vec<_>>().join(" "))
    };
    let probability = || (1u32..1000).prop_map(|p| p as f32 / 1000.0);
    let pair = (
        phrase("uvw"),
        phrase("abcd"),
        probability(),
        [probability(), probability(), probability()],
    );
    (
        proptest::collection::vec(pair, 1..14),
        proptest::collection::vec(((-40i32..-1), (-20i32..0)), 7),
        proptest::collection::btree_map((0usize..6, 0usize..6), -30i32..-1, 0..14),
        -1i32..4,
    )
        .prop_map(|(pairs, unigrams, bigrams, limit)| Model {
            pairs,
            unigrams: unigrams.iter().map(|&(p, b)| (p as f32 / 10.0, b as f32 / 10.0)).collect(),
            // A context is any word but </s>, a word any but <s>.
            bigrams: bigrams
                .into_iter()
                .map(|((c, w), p)| ([0, 1, 3, 4, 5, 6][c], [0, 2, 3, 4, 5, 6][w], p as f32 / 10.0))
                .collect(),
            limit,
        })
}

impl Model {
    fn write(&self, folder: &Path) {
        let mut table = String::new();
        let mut reordering = String::new();
        let mut seen = std::collections::HashSet::new();
        for (source, target, p, r) in &self.pairs {
            if seen.insert((source, target)) {
                writeln!(table, "{source} ||| {target} ||| {p} ||| 0-0").unwrap();
                writeln!(reordering, "{source} ||| {target} ||| {} {} {}", r[0], r[1], r[2])
                    .unwrap();
            }
        }
        fs::write(folder.join("table"), table).unwrap();
        fs::write(folder.join("reordering"), reordering).unwrap();
        let mut arpa =
            format!("\\data\\\nngram 1=7\nngram 2={}\n\n\\1-grams:\n", self.bigrams.len());
        for (word, (p, b)) in WORDS.iter().zip(&self.unigrams) {
            writeln!(arpa, "{p}\t{word}\t{b}").unwrap();
        }
        arpa.push_str("\n\\2-grams:\n");
        for &(c, w, p) in &self.bigrams {
            writeln!(arpa, "{p}\t{} {}", WORDS[c], WORDS[w]).unwrap();
        }
        arpa.push_str("\n\\end\\\n");
        fs::write(folder.join("lm.arpa"), arpa).unwrap();
    }

    fn ini(&self, algorithm: u32) -> String {
        format!(
            "[mapping]\n0 T 0\n[distortion-limit]\n{}\n[search-algorithm]\n{algorithm}\n\
             [stack]\n5000\n[cube-pruning-pop-limit]\n200000\n[beam-threshold]\n0\n[threads]\n1\n\
             [feature]\nDistortion\nUnknownWordPenalty\nWordPenalty\nPhrasePenalty\n\
             PhraseDictionaryMemory name=T num-features=1 path=table table-limit=0\n\
             LexicalReordering name=R num-features=3 type=msd-backward-fe path=reordering\n\
             KENLM name=LM path=lm.arpa\n\
             [weight]\nDistortion0= 0.3\nWordPenalty0= -0.4\nPhrasePenalty0= 0.1\nT= 0.7\n\
             R= 0.2 0.3 0.4\nLM= 0.6\n",
            self.limit
        )
    }

    /// log10 p(word | previous), by the textbook.
    fn lm(&self, previous: usize, word: usize) -> f64 {
        let found = self.bigrams.iter().find(|&&(c, w, _)| (c, w) == (previous, word));
        match found {
            Some(&(_, _, p)) => f64::from(p),
            None => f64::from(self.unigrams[previous].1) + f64::from(self.unigrams[word].0),
        }
    }
}

/// Target words, weighted phrase score, backward reordering probabilities.
type Choice = (Vec<usize>, f64, Option<[f32; 3]>);

struct Exhaustive<'a> {
    model: &'a Model,
    source: Vec<String>,
    options: HashMap<(usize, usize), Vec<Choice>>,
    best: f64,
}

impl Exhaustive<'_> {
    fn run(model: &Model, line: &str) -> f64 {
        let source: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut options: HashMap<_, Vec<_>> = HashMap::new();
        for start in 0..source.len() {
            for end in start + 1..=source.len() {
                let phrase = source[start..end].join(" ");
                let mut seen = std::collections::HashSet::new();
                for (s, t, p, r) in &model.pairs {
                    if *s == phrase && seen.insert(t) {
                        let words =
                            t.split(' ').map(|w| WORDS.iter().position(|k| *k == w).unwrap());
                        let score = 0.7 * f64::from(*p).ln();
                        options.entry((start, end)).or_default().push((
                            words.collect(),
                            score,
                            Some(*r),
                        ));
                    }
                }
            }
            // No source word is a word of the language model.
            options.entry((start, start + 1)).or_insert_with(|| vec![(vec![0], -100.0, None)]);
        }
        let mut search = Exhaustive { model, source, options, best: f64::NEG_INFINITY };
        let covered = vec![false; search.source.len()];
        search.extend(&covered, None, 1, 0.0);
        search.best
    }

    fn extend(&mut self, covered: &[bool], last: Option<(usize, usize)>, word: usize, score: f64) {
        if covered.iter().all(|&c| c) {
            let end = 0.6 * std::f64::consts::LN_10 * self.model.lm(word, 2);
            self.best = self.best.max(score + end);
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
                    let mut previous = word;
                    for &w in &words {
                        total += 0.6 * std::f64::consts::LN_10 * self.model.lm(previous, w);
                        previous = w;
                    }
                    self.extend(&next, Some((start, end)), previous, total);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn both_searches_find_the_best_translation(
        model in model(),
        line in proptest::collection::vec(proptest::sample::select(vec!["u", "v", "w", "x"]), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        model.write(folder.path());
        let line = line.join(" ");
        let expected = Exhaustive::run(&model, &line);
        for algorithm in [0, 1] {
            let ini = folder.path().join(format!("moses{algorithm}.ini"));
            fs::write(&ini, model.ini(algorithm)).unwrap();
            let configuration = Configuration::from_ini(&ini).unwrap();
            let system = System::load(&configuration, &Silent).unwrap();
            let translation = Translator::new(&system).translate(line.as_bytes()).unwrap();
            match translation {
                Some(found) => {
                    let difference = (f64::from(found.score) - expected).abs();
                    prop_assert!(difference < 1e-3 * (1.0 + expected.abs()), "{}: {} against {expected}", algorithm, found.score);
                }
                None => prop_assert_eq!(expected, f64::NEG_INFINITY),
            }
        }
    }
}
