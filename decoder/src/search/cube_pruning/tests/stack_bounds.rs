//! Test of bounds in stack decoding. A search that leaves out cells by a bound of their scores must
//! give the same hypotheses and arcs as searches that score all cells, on the fast path or with the
//! general scorer.

use super::{Case, FAST_PATHS, Features, ORIENTATIONS};
use crate::config::{Configuration, SearchAlgorithm};
use crate::features::FastPathKind;
use crate::hypothesis::HypothesisId;
use crate::input_line::InputLine;
use crate::search::lattice::Keep;
use crate::search::{Search, StackDecoding, run_search};
use crate::sentence_decoder::SentenceDecoder;
use crate::system::System;
use miriam_storage::random::SplitMix64;

/// For each hypothesis of a search, its scores, back-pointer, option, span, coverage and arcs.
type SearchTrace = Vec<String>;

/// Returns the trace of the stack search of `system` for `lines`, and how many cells it scored.
fn search(system: &System, lines: &[String]) -> (SearchTrace, u64) {
    let mut decoder = SentenceDecoder::new(system);
    let (mut input, mut trace, mut scored) = (InputLine::default(), SearchTrace::new(), 0);
    for line in lines {
        let (words, annotations) =
            input.read(line.as_bytes(), &system.settings.input_format).unwrap();
        decoder.decode(words, annotations, None).unwrap();
        let begin = decoder.search_parts().1.hypotheses()[0].joint_state;
        let (mut space, _) = decoder.search_parts();
        let mut search = StackDecoding::<Keep>::default();
        run_search(&mut search, &mut space, begin, None);
        scored += search.num_evaluated();
        for (number, h) in (0..).zip(search.hypotheses()) {
            let scores = [h.total.to_bits(), h.future_score.to_bits()];
            let arcs = search.lattice().map(|lattice| lattice.recombined(HypothesisId(number)));
            let place = (h.previous, h.option, h.span, h.coverage);
            trace.push(format!("{scores:?} {place:?} {arcs:?}"));
        }
    }
    (trace, scored)
}

#[test]
fn bounds_change_no_stack() {
    let (mut bounded, mut all, mut systems_without_bound) = (0, 0, 0);
    for seed in 0..300 {
        let folder = tempfile::tempdir().unwrap();
        let kind: FastPathKind = FAST_PATHS[seed as usize % FAST_PATHS.len()];
        let features = Features::fast(kind, ORIENTATIONS[seed as usize / 3 % 4]);
        let num_scores = if seed / 12 % 2 == 0 { 100_000 } else { 4 };
        let mut case = Case { random: SplitMix64::new(seed), num_scores, features };
        case.write(folder.path());
        let mut configuration = Configuration::from_ini(&folder.path().join("moses.ini")).unwrap();
        let settings = &mut configuration.settings;
        (settings.algorithm, settings.threads) = (SearchAlgorithm::Stack, 1);
        settings.stack_size = [1, 2, 5, 20][case.below(4) as usize];
        // With a narrow beam, pruning lowers the score below which hypotheses are rejected.
        settings.beam_threshold = [-11.5, -1.0, -0.1][case.below(3) as usize];
        let mut system = System::load(&configuration, &miriam_textio::NoProgress).unwrap();
        assert!(system.models.language_models.iter().all(|lm| lm.is_bounded), "seed {seed}");
        let lines: Vec<_> = (0..3).map(|_| case.words(&["u", "v", "w", "x", "y"], 9)).collect();
        let with_bounds = search(&system, &lines);
        system.models.language_models.iter_mut().for_each(|lm| lm.is_bounded = false);
        let without = search(&system, &lines);
        let features = system.plan.fast_path.expect("features of the fast path");
        let has_bound = features.language_models.iter().all(|lm| lm.has_nonnegative_weight());
        assert_eq!(with_bounds.0, without.0, "seed {seed}: {lines:?}");
        system.plan.fast_path = None;
        assert_eq!(search(&system, &lines).0, without.0, "seed {seed}, any features: {lines:?}");
        if has_bound {
            bounded += with_bounds.1;
            all += without.1;
        } else {
            assert_eq!(with_bounds.1, without.1, "seed {seed}: no cell may be left out");
            systems_without_bound += 1;
        }
    }
    assert!(systems_without_bound > 0);
    assert!(bounded < all / 10 * 9, "{bounded} of {all} cells were scored");
}
