//! Tests of cube pruning with random systems, with ties on purpose. Waves must give the same
//! hypotheses of every stack, and the same arcs of the lattice, as the loop that pops one cell at a
//! time. Cube pruning and stack decoding are also compared with an exhaustive decoder.

mod exhaustive;
mod stack_bounds;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use miriam_storage::random::SplitMix64;

use super::CubePruning;
use crate::config::{Configuration, SearchAlgorithm};
use crate::features::{FastPathKind, ReorderingType};
use crate::hypothesis::HypothesisId;
use crate::input_line::InputLine;
use crate::search::lattice::{Discard, Keep, RecombinedArcs};
use crate::search::{Search, SearchSpace, StackDecoding, run_search};
use crate::sentence_decoder::SentenceDecoder;
use crate::system::System;

/// A random system and the sentences it translates.
struct Case {
    random: SplitMix64,
    /// The number of different scores in a model; a small number makes ties.
    num_scores: u64,
    features: Features,
}

/// The features of a random system besides the table and penalties.
struct Features {
    /// The types of its reordering models.
    reordering: Vec<String>,
    num_lms: u64,
    has_operations: bool,
    is_early: bool,
    is_exact: bool,
    /// Whether its table comes with the lines.
    has_sentence_table: bool,
}

const ORIENTATIONS: [&str; 4] = ["msd", "mslr", "monotonicity", "leftright"];
/// Mostly positive weights: with a negative weight, no bound holds.
const LM_WEIGHTS: [f32; 8] = [0.5, 1.0, 0.7, 0.5, 1.0, 0.7, 0.5, -0.5];
const TARGET_WORDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const OPERATIONS: [&str; 11] = [
    "_INS_GAP_",
    "_JMP_FWD_",
    "_JMP_BCK_1",
    "_CONT_CEPT_",
    "_TRANS_a_TO_u",
    "_TRANS_b_TO_v",
    "_TRANS_a_TO_v",
    "_TRANS_c^_^d_TO_w",
    "_INS_u",
    "_DEL_a",
    "_DEL_b",
];

impl Features {
    /// Returns the features of a fast path, with these orientations.
    fn fast(kind: FastPathKind, orientations: &str) -> Self {
        let compared = if kind == FastPathKind::Hierarchical { "hier" } else { "wbe" };
        Features {
            reordering: vec![format!("{compared}-{orientations}-bidirectional-fe-allff")],
            num_lms: if kind == FastPathKind::TwoModels { 2 } else { 1 },
            has_operations: false,
            is_early: false,
            is_exact: false,
            has_sentence_table: false,
        }
    }

    fn random(random: &mut SplitMix64) -> Self {
        let num_models = [0, 1, 1, 2][random.below(4) as usize];
        let mut one_of =
            |choices: &[&'static str]| choices[random.below(choices.len() as u64) as usize];
        let reordering = (0..num_models)
            .map(|_| {
                format!(
                    "{}-{}-{}-fe-{}",
                    one_of(&["wbe", "hier", "hier"]),
                    one_of(&ORIENTATIONS),
                    one_of(&["backward", "forward", "bidirectional"]),
                    one_of(&["allff", "allff", "collapseff"]),
                )
            })
            .collect();
        Features {
            reordering,
            num_lms: [0, 1, 2, 2, 3][random.below(5) as usize],
            has_operations: random.below(3) == 0,
            is_early: random.below(4) == 0,
            is_exact: random.below(3) == 0,
            has_sentence_table: random.below(4) == 0,
        }
    }
}

impl Case {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn probability(&mut self) -> f32 {
        let num_scores = self.num_scores;
        (1 + self.below(num_scores)) as f32 / (num_scores + 1) as f32
    }

    fn words(&mut self, letters: &[&'static str], longest: u64) -> String {
        let count = 1 + self.below(longest);
        let words = (0..count).map(|_| letters[self.below(letters.len() as u64) as usize]);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Writes the phrase table, reordering tables, language models and the ini. Returns the lines
    /// of the phrase table.
    fn write(&mut self, folder: &Path) -> Vec<String> {
        let mut phrases = Vec::new();
        let mut tables = vec![String::new(); self.features.reordering.len()];
        let mut seen = std::collections::HashSet::new();
        for _ in 0..4 + self.below(120) {
            let source = self.words(&["u", "v", "w", "x"], 3);
            let target = self.words(&TARGET_WORDS, 4);
            if !seen.insert((source.clone(), target.clone())) {
                continue;
            }
            let (p, links) = (self.probability(), self.links(&source, &target));
            phrases.push(format!("{source} ||| {target} ||| {p} ||| {links}"));
            for (at, table) in tables.iter_mut().enumerate() {
                // Some phrases have no reordering scores.
                if self.below(10) == 0 && phrases.len() > 1 {
                    continue;
                }
                write!(table, "{source} ||| {target} |||").unwrap();
                for _ in 0..self.reordering_type(at).num_columns() {
                    write!(table, " {}", self.probability()).unwrap();
                }
                table.push('\n');
            }
        }
        fs::write(folder.join("phrases"), phrases.join("\n") + "\n").unwrap();
        for (at, table) in tables.iter().enumerate() {
            fs::write(folder.join(format!("reordering{at}")), table).unwrap();
        }
        for at in 0..self.features.num_lms {
            let model = self.language_model(&TARGET_WORDS[..5]);
            fs::write(folder.join(format!("lm{at}.arpa")), model).unwrap();
        }
        fs::write(folder.join("operations.arpa"), self.language_model(&OPERATIONS)).unwrap();
        fs::write(folder.join("moses.ini"), self.ini()).unwrap();
        phrases
    }

    fn reordering_type(&self, at: usize) -> ReorderingType {
        ReorderingType::parse(&self.features.reordering[at]).unwrap()
    }

    /// Returns some links between the words of a phrase pair. In most pairs, the first words are
    /// linked.
    fn links(&mut self, source: &str, target: &str) -> String {
        let [from, to] = [source, target].map(|side| side.split(' ').count() as u64);
        let mut links = if self.below(8) == 0 { vec![] } else { vec!["0-0".to_owned()] };
        for _ in 0..self.below(3) {
            links.push(format!("{}-{}", self.below(from), self.below(to)));
        }
        links.sort();
        links.dedup();
        links.join(" ")
    }

    fn language_model(&mut self, known: &[&'static str]) -> String {
        let order = 2 + self.below(5) as usize;
        let words = [&["<unk>", "<s>", "</s>"], known].concat();
        let mut levels: Vec<Vec<Vec<usize>>> = vec![(0..words.len()).map(|w| vec![w]).collect()];
        for n in 1..order {
            let mut level = Vec::new();
            for context in &levels[n - 1] {
                for word in 2..words.len() {
                    // The model has the suffix of each n-gram.
                    let suffix = [&context[1..], &[word]].concat();
                    let has_suffix = n == 1 || levels[n - 1].contains(&suffix);
                    if context.last() != Some(&2) && has_suffix && self.below(3) == 0 {
                        level.push([&context[..], &[word]].concat());
                    }
                }
            }
            level.truncate(60);
            levels.push(level);
        }
        levels.retain(|level| !level.is_empty());
        let mut arpa = String::from("\\data\\\n");
        for (n, level) in levels.iter().enumerate() {
            writeln!(arpa, "ngram {}={}", n + 1, level.len()).unwrap();
        }
        for (n, level) in levels.iter().enumerate() {
            writeln!(arpa, "\n\\{}-grams:", n + 1).unwrap();
            for ngram in level {
                let text: Vec<_> = ngram.iter().map(|&word| words[word]).collect();
                write!(arpa, "{}\t{}", self.probability().log10(), text.join(" ")).unwrap();
                if n + 1 < levels.len() {
                    write!(arpa, "\t{}", self.probability().log10()).unwrap();
                }
                arpa.push('\n');
            }
        }
        arpa + "\n\\end\\\n"
    }

    /// Returns the text of the ini, with the features in random order.
    fn ini(&mut self) -> String {
        let mut features = vec!["Distortion".to_owned(), "WordPenalty".to_owned()];
        let mut weights = String::new();
        for at in 0..self.features.reordering.len() {
            let (kind, name) = (self.reordering_type(at), self.features.reordering[at].clone());
            let count = kind.num_components(None);
            features.push(format!(
                "LexicalReordering name=R{at} num-features={count} type={name} path=reordering{at}"
            ));
            writeln!(weights, "R{at}={}", " 0.5".repeat(count)).unwrap();
        }
        for at in 0..self.features.num_lms {
            features.push(format!("KENLM name=LM{at} path=lm{at}.arpa"));
            writeln!(weights, "LM{at}= {}", LM_WEIGHTS[self.below(8) as usize]).unwrap();
        }
        if self.features.has_operations {
            let (key, count) = [("", 5), (" support-features=no", 1)][self.below(2) as usize];
            features.push(format!("OpSequenceModel name=O path=operations.arpa{key}"));
            writeln!(weights, "O={}", " 0.25".repeat(count)).unwrap();
        }
        features.push(if self.features.has_sentence_table {
            "DynamicPhraseTable name=T num-features=1 table-limit=0".to_owned()
        } else {
            "PhraseDictionaryMemory name=T num-features=1 path=phrases table-limit=0".to_owned()
        });
        for i in (1..features.len()).rev() {
            features.swap(i, self.below(i as u64 + 1) as usize);
        }
        let (limit, jump) = (self.below(8) as i64 - 1, [0.0, 0.25, 0.3][self.below(3) as usize]);
        let Features { is_early, is_exact, has_sentence_table, .. } = self.features;
        format!(
            "[mapping]\n0 T 0\n[distortion-limit]\n{limit}\n[feature]\n\
             UnknownWordPenalty\n{}\n[early-distortion-cost]\n{is_early}\n\
             [exact-recombination]\n{is_exact}\n[inputtype]\n{}\n[weight]\n\
             Distortion0= {jump}\nWordPenalty0= -0.5\nT= 0.5\n{weights}",
            features.join("\n"),
            if has_sentence_table { 7 } else { 0 },
        )
    }
}

/// Counts of searches of systems on each fast path, and of all other systems.
#[derive(Default)]
struct Seen {
    fast: [SearchesSeen; FAST_PATHS.len()],
    general: SearchesSeen,
    /// The number of sentences whose derivations were all listed.
    listed: usize,
    /// The number of these sentences in which wide searches had to find the best derivation.
    found: usize,
}

const FAST_PATHS: [FastPathKind; 3] =
    [FastPathKind::Plain, FastPathKind::TwoModels, FastPathKind::Hierarchical];

/// Counts of searches for the best translation only, and of searches that keep lattices.
#[derive(Default)]
struct SearchesSeen {
    best: WaysSeen,
    lattices: WaysSeen,
}

impl SearchesSeen {
    fn add(&mut self, other: &SearchesSeen) {
        self.best.add(&other.best);
        self.lattices.add(&other.lattices);
    }
}

#[derive(Default, Debug)]
struct WaysSeen {
    /// The number of sentences whose stacks were all filled in waves.
    in_waves: usize,
    /// The number of sentences in which the loop filled some stacks again.
    redone: usize,
}

impl WaysSeen {
    fn count(&mut self, is_redone: bool) {
        *(if is_redone { &mut self.redone } else { &mut self.in_waves }) += 1;
    }

    fn add(&mut self, other: &WaysSeen) {
        self.in_waves += other.in_waves;
        self.redone += other.redone;
    }
}

fn compare(seed: u64, seen: &mut Seen) {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SplitMix64::new(seed);
    let fast = seed.is_multiple_of(2).then_some(seed as usize / 2 % FAST_PATHS.len());
    let features = match fast {
        Some(at) => Features::fast(FAST_PATHS[at], ORIENTATIONS[seed as usize / 6 % 4]),
        None => Features::random(&mut random),
    };
    let num_scores = if (seed / 24).is_multiple_of(2) { 100_000 } else { 4 };
    let mut case = Case { random, num_scores, features };
    let table = case.write(folder.path());
    let mut configuration = Configuration::from_ini(&folder.path().join("moses.ini")).unwrap();
    let settings = &mut configuration.settings;
    (settings.algorithm, settings.threads) = (SearchAlgorithm::CubePruning, 1);
    settings.stack_size = [3, 20, 500, 5000][case.below(4) as usize];
    settings.pop_limit = [1, 2, 7, 40, 200, 900][case.below(6) as usize];
    let system = System::load(&configuration, &miriam_textio::NoProgress).unwrap();
    let kind = system.plan.fast_path.map(|features| features.kind);
    assert!(fast.is_none_or(|at| kind == Some(FAST_PATHS[at])), "{kind:?}");
    let mut decoder = SentenceDecoder::new(&system);
    let mut input = InputLine::default();
    for _ in 0..3 {
        // Some sentences are too long for a coverage of one 64-bit word; narrow searches of them
        // are enough.
        let long = if system.settings.pop_limit > 40 { 16 } else { 70 };
        let longest = [4, 8, 12, 16, 12, 8, 4, long][case.below(8) as usize];
        let mut line = case.words(&["u", "v", "w", "x", "y"], longest);
        if case.features.has_sentence_table {
            write!(line, " @@@ {}", table.join(" $$$ ")).unwrap();
        }
        let (words, annotations) =
            input.read(line.as_bytes(), &system.settings.input_format).unwrap();
        decoder.decode(words, annotations, None).unwrap();
        let begin = decoder.search_parts().1.hypotheses()[0].joint_state;
        let (mut space, _) = decoder.search_parts();
        let context = format!("seed {seed}: {line}");
        let ways = match fast {
            Some(at) => &mut seen.fast[at],
            None => &mut seen.general,
        };
        ways.best.count(compare_searches::<Discard>(&mut space, begin, &context));
        ways.lattices.count(compare_searches::<Keep>(&mut space, begin, &context));
        compare_with_exhaustive(&mut space, begin, &case.features, seen, &context);
    }
}

/// Checks that no search finds a better derivation than there is, and that wide searches find the
/// best one if recombination is exact.
fn compare_with_exhaustive(
    space: &mut SearchSpace<'_>,
    begin: u32,
    features: &Features,
    seen: &mut Seen,
    context: &str,
) {
    if space.length > 4 {
        return;
    }
    let Some(best) = exhaustive::best_total(space, begin) else { return };
    let is_stateless = features.reordering.is_empty() && !features.has_operations;
    let is_exact = features.is_exact || is_stateless;
    seen.listed += 1;
    seen.found += usize::from(is_exact);
    for is_wide in [false, true] {
        if is_wide {
            (space.limits.pop_limit, space.limits.stack_size) = (100_000, 100_000);
        }
        let searches: [&mut dyn Search; 2] =
            [&mut CubePruning::<Discard>::default(), &mut StackDecoding::<Discard>::default()];
        for search in searches {
            run_search(search, space, begin, None);
            let found = search.best_hypothesis();
            let found = found.map(|best| search.hypotheses()[best.0 as usize].total);
            let found = found.unwrap_or(f32::NEG_INFINITY);
            assert!(found <= best, "{context}: {found}, and the best is {best}");
            // Two scores that include the estimate of the rest may be equal although the totals
            // differ.
            let is_found = found == best || found >= best - 1e-4 * best.abs();
            assert!(is_found || !is_wide || !is_exact, "{context}: {found}, not {best}");
        }
    }
}

/// Compares searches with and without waves. Returns whether ties or full mini-stacks made the loop
/// fill a stack again.
fn compare_searches<L: RecombinedArcs>(
    space: &mut SearchSpace<'_>,
    begin: u32,
    context: &str,
) -> bool {
    let mut waves = CubePruning::<L>::default();
    run_search(&mut waves, space, begin, None);
    let mut looped = CubePruning::<L> { uses_waves: false, ..CubePruning::default() };
    run_search(&mut looped, space, begin, None);

    assert_eq!(waves.best_hypothesis(), looped.best_hypothesis(), "{context}");
    assert_eq!(waves.complete_hypotheses(), looped.complete_hypotheses(), "{context}");
    // Interned states may have other numbers.
    let facts = |search: &CubePruning<L>| -> Vec<_> {
        let hypotheses = (0..).zip(search.hypotheses());
        hypotheses
            .map(|(number, h)| {
                let scores = [h.total.to_bits(), h.future_score.to_bits()];
                let arcs = search.lattice().map(|lattice| lattice.recombined(HypothesisId(number)));
                (scores, h.previous, h.option, h.span, h.coverage, arcs)
            })
            .collect()
    };
    assert_eq!(facts(&waves), facts(&looped), "{context}");
    assert!(waves.waves.num_evaluated > 0 && looped.waves.num_evaluated == 0);
    waves.queue.num_evaluated > 0
}

#[test]
fn waves_keep_what_the_loop_keeps() {
    let seen = std::thread::scope(|scope| {
        let threads = [0, 1].map(|first| {
            scope.spawn(move || {
                let mut seen = Seen::default();
                for seed in (first..1000).step_by(2) {
                    compare(seed, &mut seen);
                }
                seen
            })
        });
        let [mut seen, odd] = threads.map(|thread| thread.join().expect("all cases are equal"));
        for (seen, odd) in seen.fast.iter_mut().zip(&odd.fast) {
            seen.add(odd);
        }
        seen.general.add(&odd.general);
        seen.listed += odd.listed;
        seen.found += odd.found;
        seen
    });
    // Both outcomes were frequent.
    for seen in seen.fast.iter().chain([&seen.general]) {
        for ways in [&seen.best, &seen.lattices] {
            assert!(ways.in_waves > 100 && ways.redone > 100, "{ways:?}");
        }
    }
    assert!(seen.listed > 500 && seen.found > 50, "{} listed, {} found", seen.listed, seen.found);
}
