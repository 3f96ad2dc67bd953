//! Waves against the loop that pops one cell at a time: every hypothesis of every stack, and
//! every arc of the lattice, over random systems, with ties on purpose.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use miriam_storage::random::SplitMix64;

use super::CubePruning;
use crate::config::{Configuration, SearchAlgorithm};
use crate::hypothesis::HypothesisId;
use crate::input_line::LineAnnotations;
use crate::search::lattice::{Discard, Keep, RecombinedArcs};
use crate::search::{Search, SearchSpace, run_search};
use crate::sentence_decoder::SentenceDecoder;
use crate::system::System;

/// A random system and the sentences it translates.
struct Case {
    random: SplitMix64,
    /// Different scores that a model has: few make ties.
    num_scores: u64,
    /// What its reordering model tells apart.
    orientations: &'static str,
}

impl Case {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn orientation_columns(&self) -> usize {
        match self.orientations {
            "msd" => 6,
            "mslr" => 8,
            _ => 4,
        }
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

    /// Phrase and reordering table, language model and ini.
    fn write(&mut self, folder: &Path) {
        let (mut phrases, mut reordering) = (String::new(), String::new());
        let mut seen = std::collections::HashSet::new();
        for _ in 0..4 + self.below(120) {
            let source = self.words(&["u", "v", "w", "x"], 3);
            let target = self.words(&["a", "b", "c", "d", "e", "f"], 4);
            if seen.insert((source.clone(), target.clone())) {
                let p = self.probability();
                writeln!(phrases, "{source} ||| {target} ||| {p} ||| 0-0").unwrap();
                write!(reordering, "{source} ||| {target} |||").unwrap();
                for _ in 0..self.orientation_columns() {
                    write!(reordering, " {}", self.probability()).unwrap();
                }
                reordering.push('\n');
            }
        }
        fs::write(folder.join("phrases"), phrases).unwrap();
        fs::write(folder.join("reordering"), reordering).unwrap();
        fs::write(folder.join("lm.arpa"), self.language_model()).unwrap();
        fs::write(folder.join("moses.ini"), self.ini()).unwrap();
    }

    fn language_model(&mut self) -> String {
        let order = 2 + self.below(5) as usize;
        let words = ["<unk>", "<s>", "</s>", "a", "b", "c", "d", "e"];
        let mut levels: Vec<Vec<Vec<usize>>> = vec![(0..words.len()).map(|w| vec![w]).collect()];
        for n in 1..order {
            let mut level = Vec::new();
            for context in &levels[n - 1] {
                for word in 2..words.len() {
                    // All parts of an n-gram are there.
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

    /// Returns the four features of the fast path in any order.
    fn ini(&mut self) -> String {
        let (kind, count) = (self.orientations, self.orientation_columns());
        let reordering = format!(
            "LexicalReordering name=R num-features={count} type=wbe-{kind}-bidirectional-fe-allff \
             path=reordering"
        );
        let mut features = [
            "Distortion",
            &reordering,
            "KENLM name=LM path=lm.arpa",
            "PhraseDictionaryMemory name=T num-features=1 path=phrases table-limit=0",
            "WordPenalty",
        ];
        for i in (1..features.len()).rev() {
            features.swap(i, self.below(i as u64 + 1) as usize);
        }
        format!(
            "[mapping]\n0 T 0\n[distortion-limit]\n{}\n[feature]\nUnknownWordPenalty\n{}\n[weight]\n\
             Distortion0= {}\nWordPenalty0= -0.5\nT= 0.5\nR={}\nLM= {}\n",
            self.below(8) as i64 - 1,
            features.join("\n"),
            [0.0, 0.25, 0.3][self.below(3) as usize],
            " 0.5".repeat(count),
            [0.5, 1.0, 0.7][self.below(3) as usize],
        )
    }
}

/// What the two ways came to, where only the best is wanted, and where lattices are.
#[derive(Default)]
struct Seen {
    best: WaysSeen,
    lattices: WaysSeen,
}

#[derive(Default, Debug)]
struct WaysSeen {
    /// Sentences of which all stacks were filled in waves.
    in_waves: usize,
    /// Sentences of which some stacks were, and some filled anew.
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
    let mut case = Case {
        random: SplitMix64::new(seed),
        num_scores: if seed.is_multiple_of(2) { 100_000 } else { 4 },
        orientations: ["msd", "mslr", "monotonicity", "leftright"][seed as usize / 2 % 4],
    };
    case.write(folder.path());
    let mut configuration = Configuration::from_ini(&folder.path().join("moses.ini")).unwrap();
    let settings = &mut configuration.settings;
    (settings.algorithm, settings.threads) = (SearchAlgorithm::CubePruning, 1);
    settings.stack_size = [3, 20, 500, 5000][case.below(4) as usize];
    settings.pop_limit = [1, 2, 7, 40, 200, 900][case.below(6) as usize];
    let system = System::load(&configuration, &miriam_textio::NoProgress).unwrap();
    assert!(system.plan.fast_path.is_some());
    let mut decoder = SentenceDecoder::new(&system);
    for _ in 0..3 {
        // Some are too long for a coverage of one word of bits.
        let longest = [4, 8, 12, 16, 12, 8, 4, 70][case.below(8) as usize];
        let line = case.words(&["u", "v", "w", "x", "y"], longest);
        decoder.decode(line.as_bytes(), &LineAnnotations::default(), None).unwrap();
        let (mut space, _) = decoder.search_parts();
        let begin =
            space.lm_caches[0].intern(&system.models.language_models[0].model.begin_state());
        let context = format!("seed {seed}: {line}");
        seen.best.count(compare_searches::<Discard>(&mut space, begin, &context));
        seen.lattices.count(compare_searches::<Keep>(&mut space, begin, &context));
    }
}

/// Searches in both ways; whether ties made waves fill a stack anew.
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
        seen.best.add(&odd.best);
        seen.lattices.add(&odd.lattices);
        seen
    });
    // Both ways were seen often.
    for ways in [&seen.best, &seen.lattices] {
        assert!(ways.in_waves > 500 && ways.redone > 500, "{ways:?}");
    }
}
