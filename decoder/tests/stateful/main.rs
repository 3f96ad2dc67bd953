//! Tests of features that depend on more than words: reordering of every type, early distortion
//! cost, and operation sequences. The reference lists every segmentation, order and choice of
//! options. It scores each complete derivation by the definitions of the features, with plain f64
//! sums and without states. With wide stacks, the searches must find the same best score under the
//! exact rule of recombination, and no better one under Moses2's rule. It must make no difference
//! whether the phrase table is a file or in the line.

mod operation_trace;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use miriam_decoder::{Configuration, System, Translator};
use miriam_textio::NoProgress;
use proptest::prelude::*;
use proptest::sample::select;

use operation_trace::OperationTrace;

#[derive(Debug, Clone)]
struct Model {
    pairs: Vec<Pair>,
    kind: ReorderingKind,
    early: bool,
    /// The operation model, and whether its supporting features are used.
    operations: Option<(Lm, bool)>,
    limit: i32,
}

#[derive(Debug, Clone)]
struct Pair {
    source: Vec<&'static str>,
    target: Vec<&'static str>,
    links: BTreeSet<(usize, usize)>,
    probability: f32,
    /// Reordering probabilities, more than any type needs; `None` if the table lacks the pair.
    reordering: Option<Vec<f32>>,
}

/// A type of reordering model.
#[derive(Debug, Clone, Copy)]
struct ReorderingKind {
    hierarchical: bool,
    orientations: &'static str,
    direction: &'static str,
    collapsed: bool,
}

impl ReorderingKind {
    fn num_orientations(self) -> usize {
        match self.orientations {
            "msd" => 3,
            "mslr" => 4,
            _ => 2,
        }
    }

    fn backward(self) -> bool {
        self.direction != "forward"
    }

    fn forward(self) -> bool {
        self.direction != "backward"
    }

    fn columns(self) -> usize {
        self.num_orientations() * if self.direction == "bidirectional" { 2 } else { 1 }
    }

    /// Returns the term of `pair` for `orientation` in the direction `nth`.
    fn score(self, pair: &Pair, nth: usize, orientation: usize) -> f64 {
        let Some(row) = &pair.reordering else { return 0.0 };
        let (column, weight) = if self.collapsed {
            (nth + orientation, nth)
        } else {
            (
                nth * self.num_orientations() + orientation,
                nth * self.num_orientations() + orientation,
            )
        };
        REORDERING_WEIGHTS[weight] * f64::from(row[column]).ln()
    }

    /// Returns the orientation for a relative position.
    fn orientation(self, monotone: bool, swap: bool, right: bool) -> usize {
        match self.orientations {
            "leftright" => usize::from(!right),
            _ if monotone => 0,
            "monotonicity" => 1,
            _ if swap => 1,
            "msd" => 2,
            _ => 2 + usize::from(right),
        }
    }
}

const REORDERING_WEIGHTS: [f64; 8] = [0.2, 0.3, 0.4, 0.15, 0.35, 0.25, 0.1, 0.45];
const OPERATION_WEIGHTS: [f64; 5] = [0.3, -0.1, -0.2, -0.15, 0.25];
const DISTORTION: f64 = 0.3;

/// n-grams, newest word last, with log10 probability and backoff. The model also has all parts of
/// each n-gram.
#[derive(Debug, Clone)]
struct Lm {
    order: usize,
    ngrams: BTreeMap<Vec<&'static str>, (f32, f32)>,
}

const OPERATIONS: [&str; 22] = [
    "<unk>",
    "<s>",
    "</s>",
    "_INS_GAP_",
    "_JMP_FWD_",
    "_JMP_BCK_1",
    "_JMP_BCK_2",
    "_CONT_CEPT_",
    "_TRANS_a_TO_u",
    "_TRANS_a_TO_v",
    "_TRANS_b_TO_u",
    "_TRANS_b_TO_v",
    "_TRANS_a_TO_u^_^v",
    "_TRANS_b_TO_v^_^u",
    "_TRANS_a^_^b_TO_u",
    "_TRANS_b^_^a_TO_v",
    "_INS_u",
    "_INS_v",
    "_INS_x",
    "_DEL_a",
    "_DEL_b",
    "_DEL__TRANS_SLF_",
];

fn lm() -> impl Strategy<Value = Lm> {
    let contexts: Vec<&str> = OPERATIONS.into_iter().filter(|&w| w != "</s>").collect();
    let words: Vec<&str> = OPERATIONS.into_iter().filter(|&w| w != "<s>").collect();
    let middles: Vec<&str> = contexts.iter().copied().filter(|&w| w != "<s>").collect();
    let longest =
        proptest::collection::vec((select(contexts), select(middles), select(words)), 0..40);
    let numbers = proptest::collection::vec((-40i32..-1, -20i32..1), 90);
    (2usize..4, longest, numbers).prop_map(|(order, longest, numbers)| {
        let mut ngrams: BTreeMap<Vec<&str>, _> =
            OPERATIONS.into_iter().map(|w| (vec![w], (0.0, 0.0))).collect();
        for (first, middle, last) in longest {
            let words = [first, middle, last];
            for from in 0..3 {
                for to in from + 1..=3.min(from + order) {
                    ngrams.insert(words[from..to].to_vec(), (0.0, 0.0));
                }
            }
        }
        for (value, (p, b)) in ngrams.values_mut().zip(numbers.iter().cycle()) {
            let backoff = if p % 2 == 0 { *b as f32 / 10.0 } else { 0.0 };
            *value = (*p as f32 / 10.0, backoff);
        }
        Lm { order, ngrams }
    })
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
    fn log10(&self, context: &[&'static str], word: &'static str) -> f64 {
        match self.ngrams.get(&[context, &[word]].concat()) {
            Some(&(p, _)) => f64::from(p),
            None => {
                let backoff = self.ngrams.get(context).map_or(0.0, |&(_, b)| f64::from(b));
                backoff + self.log10(&context[1..], word)
            }
        }
    }

    /// Returns log10 p of a sequence after `<s>`.
    fn score_sequence(&self, operations: &[String]) -> f64 {
        let mut history = vec!["<s>"];
        let mut sum = 0.0;
        for operation in operations {
            let known = OPERATIONS.into_iter().find(|o| o == operation).unwrap_or("<unk>");
            let from = history.len().saturating_sub(self.order - 1);
            sum += self.log10(&history[from..], known);
            history.push(known);
        }
        sum
    }
}

fn model() -> impl Strategy<Value = Model> {
    let phrase = |letters: Vec<&'static str>| proptest::collection::vec(select(letters), 1..4);
    let links = proptest::collection::btree_set((0usize..3, 0usize..3), 0..5);
    let reordering = proptest::option::weighted(0.9, proptest::collection::vec(1u32..1000, 9));
    let pair = (phrase(vec!["u", "v", "w"]), phrase(vec!["a", "b"]), links, 1u32..1000, reordering)
        .prop_map(|(source, target, links, p, reordering)| Pair {
            links: links
                .into_iter()
                .filter(|&(s, t)| s < source.len() && t < target.len())
                .collect(),
            source,
            target,
            probability: p as f32 / 1000.0,
            reordering: reordering.map(|r| r.iter().map(|&r| r as f32 / 1000.0).collect()),
        });
    let kind =
        (
            proptest::bool::weighted(0.7),
            select(vec!["msd", "mslr", "monotonicity", "leftright"]),
            select(vec!["backward", "forward", "bidirectional"]),
            proptest::bool::weighted(0.2),
        )
            .prop_map(|(hierarchical, orientations, direction, collapsed)| {
                ReorderingKind { hierarchical, orientations, direction, collapsed }
            });
    (
        proptest::collection::vec(pair, 1..8),
        kind,
        proptest::bool::ANY,
        proptest::option::of((lm(), proptest::bool::ANY)),
        -1i32..4,
    )
        .prop_map(|(mut pairs, kind, early, operations, limit)| {
            let mut seen = BTreeSet::new();
            pairs.retain(|pair| seen.insert((pair.source.clone(), pair.target.clone())));
            Model { pairs, kind, early, operations, limit }
        })
}

impl Pair {
    /// Returns the source and target fields, as tables have them.
    fn words(&self) -> String {
        format!("{} ||| {}", self.source.join(" "), self.target.join(" "))
    }
}

impl Model {
    /// Returns the lines of the phrase table.
    fn table(&self) -> Vec<String> {
        let line = |pair: &Pair| {
            let links: Vec<String> = pair.links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
            format!("{} ||| {} ||| {}", pair.words(), pair.probability, links.join(" "))
        };
        self.pairs.iter().map(line).collect()
    }

    fn write(&self, folder: &Path) {
        let (table, mut reordering) = (self.table().join("\n") + "\n", String::new());
        for pair in &self.pairs {
            let words = pair.words();
            if let Some(row) = &pair.reordering {
                let row: Vec<_> = row[..self.kind.columns()].iter().map(f32::to_string).collect();
                writeln!(reordering, "{words} ||| {}", row.join(" ")).unwrap();
            }
        }
        if reordering.is_empty() {
            let row = vec!["1"; self.kind.columns()].join(" ");
            writeln!(reordering, "nothing ||| nothing ||| {row}").unwrap();
        }
        fs::write(folder.join("table"), table).unwrap();
        fs::write(folder.join("reordering"), reordering).unwrap();
        if let Some((lm, _)) = &self.operations {
            fs::write(folder.join("operations"), lm.arpa()).unwrap();
        }
    }

    fn ini(&self, algorithm: u32, exact: bool) -> String {
        let ReorderingKind { hierarchical, orientations, direction, collapsed } = self.kind;
        let kind = format!(
            "{}-{orientations}-{direction}-fe-{}",
            if hierarchical { "hier" } else { "wbe" },
            if collapsed { "collapseff" } else { "allff" }
        );
        let weights = match (collapsed, direction) {
            (true, "bidirectional") => 2,
            (true, _) => 1,
            _ => self.kind.columns(),
        };
        let list =
            |weights: &[f64]| weights.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let mut features = format!(
            "[feature]\nUnknownWordPenalty\nDistortion\n\
             LexicalReordering name=R type={kind} num-features={weights} path=reordering\n\
             PhraseDictionaryMemory name=T num-features=1 path=table table-limit=0\n"
        );
        let mut weights = format!(
            "[weight]\nDistortion0= {DISTORTION}\nT= 0.7\nR= {}\n",
            list(&REORDERING_WEIGHTS[..weights])
        );
        if let Some((_, supported)) = self.operations {
            let key = if supported { "" } else { " support-features=no" };
            writeln!(features, "OpSequenceModel path=operations{key}").unwrap();
            let count = if supported { 5 } else { 1 };
            writeln!(weights, "OpSequenceModel0= {}", list(&OPERATION_WEIGHTS[..count])).unwrap();
        }
        format!(
            "[distortion-limit]\n{}\n[search-algorithm]\n{algorithm}\n[stack]\n5000\n\
             [cube-pruning-pop-limit]\n200000\n[beam-threshold]\n0\n[threads]\n1\n\
             [early-distortion-cost]\n{}\n[exact-recombination]\n{exact}\n[mapping]\n0 T 0\n\
             {features}{weights}",
            self.limit, self.early
        )
    }
}

/// A phrase of a derivation, for the source words `start..end`.
#[derive(Clone, Copy)]
struct AppliedPhrase<'a> {
    start: usize,
    end: usize,
    /// `None` for an unknown word.
    pair: Option<&'a Pair>,
}

/// Returns the best score of all derivations of `source`.
fn best(model: &Model, source: &[&str]) -> f64 {
    let mut options = Vec::new();
    for start in 0..source.len() {
        for end in start + 1..=source.len() {
            for pair in model.pairs.iter().filter(|pair| pair.source == source[start..end]) {
                options.push(AppliedPhrase { start, end, pair: Some(pair) });
            }
        }
        if !options.iter().any(|o| (o.start, o.end) == (start, start + 1)) {
            options.push(AppliedPhrase { start, end: start + 1, pair: None });
        }
    }
    let mut best = f64::NEG_INFINITY;
    enumerate_derivations(model, source, &options, &mut Vec::new(), &mut best);
    best
}

fn enumerate_derivations<'a>(
    model: &Model,
    source: &[&str],
    options: &[AppliedPhrase<'a>],
    derivation: &mut Vec<AppliedPhrase<'a>>,
    best: &mut f64,
) {
    let covered = |p: usize| derivation.iter().any(|c| c.start <= p && p < c.end);
    let Some(gap) = (0..source.len()).find(|&p| !covered(p)) else {
        *best = best.max(score(model, source, derivation));
        return;
    };
    let last = derivation.last().map_or(0, |c| c.end) as i64;
    let limit = i64::from(model.limit);
    for &option in options {
        let AppliedPhrase { start, end, .. } = option;
        let jump = (last - start as i64).abs();
        if (start..end).any(covered)
            || (limit != -1 && (jump > limit || (start != gap && (end - gap) as i64 > limit)))
        {
            continue;
        }
        let mut longer = derivation.clone();
        longer.push(option);
        enumerate_derivations(model, source, options, &mut longer, best);
    }
}

/// Returns the score of a derivation, with every feature computed by its definition.
fn score(model: &Model, source: &[&str], derivation: &[AppliedPhrase<'_>]) -> f64 {
    let mut total = 0.0;
    for (i, &current) in derivation.iter().enumerate() {
        let before = &derivation[..i];
        total += match current.pair {
            Some(pair) => 0.7 * f64::from(pair.probability).ln(),
            None => -100.0,
        };
        total -= DISTORTION * distortion(model.early, before, current) as f64;
        let kind = model.kind;
        if let (true, Some(pair)) = (kind.backward(), current.pair) {
            total += kind.score(pair, 0, backward(kind, before, current));
        }
        if let (true, Some(&AppliedPhrase { pair: Some(pair), .. })) =
            (kind.forward(), before.last())
        {
            let nth = usize::from(kind.backward());
            total += kind.score(pair, nth, forward(kind, before, current));
        }
    }
    if let Some((lm, supported)) = &model.operations {
        let trace = OperationTrace::from_derivation(source, derivation);
        let counts = [trace.gap_width, trace.gaps, trace.open_gaps, trace.insertions];
        total += OPERATION_WEIGHTS[0] * lm.score_sequence(&trace.operations);
        if *supported {
            total += counts
                .iter()
                .zip(&OPERATION_WEIGHTS[1..])
                .map(|(&c, w)| f64::from(c) * w)
                .sum::<f64>();
        }
    }
    total
}

/// Returns the length of the jump in words; if `early`, by the four cases of Moore and Quirk.
fn distortion(early: bool, before: &[AppliedPhrase<'_>], current: AppliedPhrase<'_>) -> usize {
    let last = before.last().map_or(0, |c| c.end);
    if !early {
        return last.abs_diff(current.start);
    }
    let prefix = (0..).find(|&p| !before.iter().any(|c| c.start <= p && p < c.end)).unwrap();
    let length = current.end - current.start;
    if current.start == prefix {
        0
    } else if current.end < last {
        2 * length
    } else if last <= prefix {
        2 * (current.start - prefix + length)
    } else {
        2 * (current.start - last + length)
    }
}

/// Returns the backward orientation: towards the previous phrase, or the block that ends with it.
fn backward(
    kind: ReorderingKind,
    before: &[AppliedPhrase<'_>],
    current: AppliedPhrase<'_>,
) -> usize {
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for phrase in before {
        blocks.push((phrase.start, phrase.end));
        while let [.., a, b] = blocks[..]
            && kind.hierarchical
            && (a.1 == b.0 || b.1 == a.0)
        {
            blocks.truncate(blocks.len() - 2);
            blocks.push((a.0.min(b.0), a.1.max(b.1)));
        }
    }
    match blocks.last() {
        None => kind.orientation(current.start == 0, false, true),
        Some(&(start, end)) => {
            kind.orientation(current.start == end, current.end == start, current.start >= end)
        }
    }
}

/// Returns the forward orientation of the last phrase of `before`.
fn forward(
    kind: ReorderingKind,
    before: &[AppliedPhrase<'_>],
    current: AppliedPhrase<'_>,
) -> usize {
    let last = before[before.len() - 1];
    let free = |p: usize| !before.iter().chain([&current]).any(|c| c.start <= p && p < c.end);
    let (right, left) = (current.start >= last.end, current.end <= last.start);
    let block = |p: usize| kind.hierarchical && free(p);
    kind.orientation(
        current.start == last.end || (right && block(last.end)),
        current.end == last.start || (left && block(last.start.wrapping_sub(1))),
        right,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn searches_find_the_best_derivation(
        model in model(),
        line in proptest::collection::vec(select(vec!["u", "v", "w", "x"]), 1..5),
        algorithm in 0u32..2,
        in_line in proptest::bool::weighted(0.3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        model.write(folder.path());
        let expected = best(&model, &line);
        for exact in [true, false] {
            let ini = folder.path().join("moses.ini");
            let mut text = model.ini(algorithm, exact);
            let mut line = line.join(" ");
            if in_line {
                text = text.replace("PhraseDictionaryMemory", "DynamicPhraseTable");
                text = text.replace(" path=table ", " ") + "[inputtype]\n7\n";
                write!(line, " @@@ {}", model.table().join(" $$$ ")).unwrap();
            }
            fs::write(&ini, text).unwrap();
            let configuration = Configuration::from_ini(&ini).unwrap();
            let system = System::load(&configuration, &NoProgress).unwrap();
            let found = Translator::new(&system).translate(line.as_bytes()).unwrap();
            let Some(found) = found else {
                prop_assert_eq!(expected, f64::NEG_INFINITY);
                continue;
            };
            let error = f64::from(found.score) - expected;
            let tolerance = 1e-5 * (1.0 + expected.abs());
            prop_assert!(error < tolerance, "better than the best: {} {expected}", found.score);
            let exact = exact || (!model.kind.forward() && model.operations.is_none());
            prop_assert!(!exact || error > -tolerance, "{} against {expected}", found.score);
        }
    }
}
