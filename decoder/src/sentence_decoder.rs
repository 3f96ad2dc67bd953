//! Decoding of the words of a sentence to its best translation, in buffers that live as long as a
//! thread.

use crate::config::{SearchAlgorithm, Settings};
use crate::coverage::Coverages;
use crate::decoded_sentence::DecodedSentence;
use crate::features::StatefulScorers;
use crate::future_cost::FutureCost;
use crate::hypothesis::HypothesisId;
use crate::input_line::LineAnnotations;
use crate::joint_states::JointStates;
use crate::lm_scoring::LmScoreCache;
use crate::markup::SentenceMarkup;
use crate::option_building::OptionCollector;
use crate::reordering_constraint::{self, ReorderingConstraint};
use crate::search::{
    CubePruning, Discard, Keep, Search, SearchEffort, SearchLimits, SearchSpace, SearchWidth,
    StackDecoding, TimeLimit, run_search,
};
use crate::sentence::Sentence;
use crate::system::System;
use crate::translation_options::SentenceOptions;
use crate::{Error, Result};

/// Counts of the sentences, words and expansions so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of decoded sentences: lines, or parts of long lines.
    pub sentences: u64,
    /// The number of source words of these sentences.
    pub words: u64,
    /// The number of words that the best translations copy, because no phrase translates them.
    pub unknown_words: u64,
    /// The number of words that were cut: at a `|` in a system without factors, otherwise after the
    /// last factor of the input.
    pub cut_words: u64,
    /// The number of scored expansions of hypotheses.
    pub expansions: u64,
}

/// Decodes sentences one at a time, in buffers that it reuses.
pub(crate) struct SentenceDecoder<'s> {
    system: &'s System,
    sentence: Sentence,
    collector: OptionCollector,
    options: SentenceOptions,
    future_costs: FutureCost,
    coverages: Coverages,
    constraint: ReorderingConstraint,
    lm_caches: Vec<LmScoreCache>,
    stateful_scorers: StatefulScorers,
    joint_states: JointStates,
    search: Box<dyn Search + Send>,
    /// Hypotheses of the best translation, in target order.
    best_path: Vec<HypothesisId>,
    score: Option<f32>,
    statistics: Statistics,
    /// The width of the next searches.
    pub(crate) width: SearchWidth,
}

impl<'s> SentenceDecoder<'s> {
    /// Creates a decoder of `system`.
    pub(crate) fn new(system: &'s System) -> Self {
        let models = system.models.language_models.len();
        let stateful = &system.plan.features.stateful;
        let settings = &system.settings;
        SentenceDecoder {
            system,
            sentence: Sentence::default(),
            collector: OptionCollector::default(),
            options: SentenceOptions::default(),
            future_costs: FutureCost::default(),
            coverages: Coverages::default(),
            constraint: ReorderingConstraint::default(),
            lm_caches: (0..models).map(|_| LmScoreCache::new()).collect(),
            stateful_scorers: StatefulScorers::new(stateful, models, settings.exact_recombination),
            joint_states: JointStates::new(models + stateful.len()),
            search: new_search(settings, settings.needs_lattice()),
            best_path: Vec::new(),
            score: None,
            statistics: Statistics::default(),
            width: SearchWidth::default(),
        }
    }

    /// Returns statistics of everything decoded so far.
    pub(crate) fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Keeps the lattice of every sentence from now on.
    pub(crate) fn enable_lattice(&mut self) {
        if self.search.lattice().is_none() {
            self.search = new_search(&self.system.settings, true);
        }
    }

    /// Returns the sentence decoded last.
    pub(crate) fn decoded(&self) -> DecodedSentence<'_> {
        DecodedSentence {
            system: self.system,
            sentence: &self.sentence,
            options: &self.options,
            coverages: &self.coverages,
            lm_caches: &self.lm_caches,
            stateful_scorers: &self.stateful_scorers,
            joint_states: &self.joint_states,
            search: &*self.search,
            best_path: &self.best_path,
            best_words: None,
            score: self.score,
            rescored: None,
        }
    }

    /// Decodes the sentence with the words `text`, within the limit `time` if there is one. Returns
    /// the effort of the search; [`SentenceDecoder::decoded`] returns the result.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Line`](crate::Error::Line) if a word lacks a factor or the annotations
    /// do not fit the system, with [`Error::Cancelled`] if `time` was cancelled, and if a model
    /// file is damaged.
    pub(crate) fn decode(
        &mut self,
        text: &[u8],
        annotations: &LineAnnotations,
        time: Option<&TimeLimit>,
    ) -> Result<SearchEffort> {
        self.best_path.clear();
        self.score = None;
        self.sentence.read(text, &self.system.models)?;
        for (position, entity) in &annotations.markup.placeholders {
            self.sentence.set_placeholder(*position, entity);
        }
        self.statistics.sentences += 1;
        self.statistics.words += self.sentence.len() as u64;
        self.statistics.cut_words += self.sentence.num_cut_words();
        if self.sentence.len() == 0 {
            // The empty hypothesis is complete; no `</s>` is scored.
            self.score = Some(0.0);
            return Ok(SearchEffort::Full);
        }
        let begin = self.begin_state();
        self.collector.collect(
            &mut self.options,
            self.system,
            &mut self.sentence,
            annotations,
            &mut self.lm_caches,
        )?;
        self.set_up_constraint(&annotations.markup);
        let length = self.sentence.len();
        let options = &self.options;
        self.future_costs.fill(length, options.max_span_length() as usize, |start, len| {
            options.best_future_score(start, len)
        });
        self.coverages.start(length as u32, &self.future_costs);
        let (mut space, search) = self.search_parts();
        let effort = run_search(search, &mut space, begin, time).ok_or(Error::Cancelled)?;
        self.statistics.expansions += self.search.num_evaluated();
        self.follow_best_path();
        Ok(effort)
    }

    /// Begins the states of a sentence; returns the joint state at its beginning.
    fn begin_state(&mut self) -> u32 {
        self.joint_states.start();
        let models = self.lm_caches.iter_mut().zip(&self.system.models.language_models);
        for (m, (cache, lm)) in models.enumerate() {
            cache.start();
            self.joint_states.set_state(m, cache.intern(&lm.model.begin_state()));
        }
        self.stateful_scorers.start(&mut self.joint_states);
        self.joint_states.join()
    }

    /// Returns the search space of the sentence, and the search.
    pub(crate) fn search_parts(&mut self) -> (SearchSpace<'_>, &mut (dyn Search + Send)) {
        let space = SearchSpace {
            system: self.system,
            limits: SearchLimits::from_settings(&self.system.settings, self.width),
            length: self.sentence.len() as u32,
            sentence: &self.sentence,
            options: &self.options,
            future_costs: &self.future_costs,
            coverages: &mut self.coverages,
            lm_caches: &mut self.lm_caches,
            stateful_scorers: &mut self.stateful_scorers,
            joint_states: &mut self.joint_states,
            constraint: self.constraint.is_active().then_some(&self.constraint),
        };
        (space, &mut *self.search)
    }

    /// Follows the best path and records it with its score.
    fn follow_best_path(&mut self) {
        let Some(best) = self.search.best_hypothesis() else { return };
        let hypotheses = self.search.hypotheses();
        self.score = Some(hypotheses[best.0 as usize].total);
        let mut id = best;
        while !hypotheses[id.0 as usize].is_initial() {
            self.best_path.push(id);
            id = hypotheses[id.0 as usize].previous;
        }
        self.best_path.reverse();
        let options = self.best_path.iter().map(|id| hypotheses[id.0 as usize].option);
        let copied = options.filter(|&option| self.options.is_copied(option)).count();
        self.statistics.unknown_words += copied as u64;
    }

    /// Sets up the walls and zones of the sentence.
    fn set_up_constraint(&mut self, annotations: &SentenceMarkup) {
        let SentenceDecoder { sentence, system, constraint, .. } = self;
        let at_punctuation = system.settings.input_format.monotone_at_punctuation;
        if !at_punctuation && annotations.is_empty() {
            constraint.clear();
            return;
        }
        let models = &system.models;
        let is_punctuation = |position: usize| {
            let word = sentence.word(sentence.ids()[position], models);
            reordering_constraint::is_punctuation(models.surface(word))
        };
        constraint.start(sentence.len(), annotations, at_punctuation.then_some(is_punctuation));
    }
}

/// Returns the search that `settings` select, with or without a lattice.
fn new_search(settings: &Settings, lattice: bool) -> Box<dyn Search + Send> {
    match (settings.algorithm, lattice) {
        (SearchAlgorithm::Stack, false) => Box::new(StackDecoding::<Discard>::default()),
        (SearchAlgorithm::Stack, true) => Box::new(StackDecoding::<Keep>::default()),
        (SearchAlgorithm::CubePruning, false) => Box::new(CubePruning::<Discard>::default()),
        (SearchAlgorithm::CubePruning, true) => Box::new(CubePruning::<Keep>::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Configuration;
    use crate::input_line::InputLine;
    use crate::output::TranslatedPhrase;
    use std::path::Path;
    use std::time::Duration;

    /// Returns the toy system with this search.
    fn toy(algorithm: SearchAlgorithm, stack: usize, pops: usize, jumps: i64) -> System {
        let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
        let mut configuration = Configuration::from_ini(&ini).unwrap();
        let settings = &mut configuration.settings;
        (settings.algorithm, settings.threads) = (algorithm, 1);
        (settings.stack_size, settings.pop_limit) = (stack, pops);
        settings.distortion_limit = Some(jumps);
        System::load(&configuration, &miriam_textio::NoProgress).unwrap()
    }

    const LINE: &[u8] = b"the red house is big and the small dog reads the old green book . ";

    /// Returns the effort, the score and the phrases of the line, under a time limit of 60 seconds
    /// whose clock started `seconds` ago.
    fn decode_timed(
        system: &System,
        seconds: Option<u64>,
    ) -> (SearchEffort, f32, Vec<TranslatedPhrase>) {
        let mut decoder = SentenceDecoder::new(system);
        let time = seconds.map(|seconds| {
            TimeLimit::started_before(Duration::from_secs(seconds), Duration::from_secs(60))
        });
        let annotations = LineAnnotations::default();
        let effort = decoder.decode(&LINE.repeat(3), &annotations, time.as_ref()).unwrap();
        let decoded = decoder.decoded();
        let phrases = decoded.best_path.iter().map(|&id| decoded.translated_phrase(id, 0));
        let phrases = phrases.collect::<Result<_>>().unwrap();
        (effort, decoded.score.unwrap(), phrases)
    }

    /// A search that runs out of time gives the result of a search with narrower limits.
    #[test]
    fn a_search_out_of_time_equals_a_narrow_search() {
        for algorithm in [SearchAlgorithm::Stack, SearchAlgorithm::CubePruning] {
            let wide = toy(algorithm, 80, 100, 6);
            let narrow = toy(algorithm, 10, 13, 6);
            let greedy = toy(algorithm, 8, 8, 0);
            for (seconds, effort, same) in [
                (0, SearchEffort::Full, &wide),
                (61, SearchEffort::Narrow, &narrow),
                (121, SearchEffort::Greedy, &greedy),
            ] {
                let (_, score, phrases) = decode_timed(same, None);
                assert_eq!(decode_timed(&wide, Some(seconds)), (effort, score, phrases));
            }
        }
    }

    /// All three searches find a translation and respect the wall outside the zone. The translation
    /// of the last, greedy search is monotone.
    #[test]
    fn walls_and_zones_are_respected_when_time_runs_out() {
        for algorithm in [SearchAlgorithm::Stack, SearchAlgorithm::CubePruning] {
            let mut system = toy(algorithm, 80, 100, 6);
            system.settings.input_format.markup = crate::XmlInputMode::Inclusive;
            let line = b"the red <wall/> house <zone>is big and the small dog reads the old \
                         <wall/> green</zone> book .";
            let mut input = InputLine::default();
            let (words, annotations) = input.read(line, &system.settings.input_format).unwrap();
            for (seconds, effort) in
                [(0, SearchEffort::Full), (61, SearchEffort::Narrow), (121, SearchEffort::Greedy)]
            {
                let mut decoder = SentenceDecoder::new(&system);
                let (before, limit) = (Duration::from_secs(seconds), Duration::from_secs(60));
                let time = Some(TimeLimit::started_before(before, limit));
                assert_eq!(decoder.decode(words, annotations, time.as_ref()).unwrap(), effort);
                assert!(decoder.constraint.is_active());
                let decoded = decoder.decoded();
                assert!(decoded.score.is_some(), "{effort:?}");
                let path = decoded.best_path.iter();
                let starts: Vec<u32> = path.map(|&id| decoded.hypothesis(id).span.start).collect();
                let wall = starts.iter().position(|&start| start >= 2).unwrap();
                assert!(starts[wall..].iter().all(|&start| start >= 2), "{starts:?}");
                assert!(effort != SearchEffort::Greedy || starts.is_sorted(), "{starts:?}");
            }
        }
    }

    /// A second search over a sentence does not depend on the first, even if a feature stores more
    /// for a hypothesis than its state.
    #[test]
    fn a_restarted_search_ignores_the_previous_one() {
        let folder = tempfile::tempdir().unwrap();
        let operations = "\\data\\\nngram 1=5\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-2\t<s>\t-0.3\n\
            -1\t</s>\n-0.5\t_JMP_FWD_\t-0.2\n-0.7\t_INS_GAP_\t-0.1\n\n\\2-grams:\n\
            -0.1\t_INS_GAP_ _JMP_FWD_\n\n\\end\\\n";
        std::fs::write(folder.path().join("operations.arpa"), operations).unwrap();
        let toy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy");
        let ini = std::fs::read_to_string(toy.join("moses.ini")).unwrap();
        let ini = ini.replace(" path=", &format!(" path={}/", toy.display()));
        let ini = ini
            .replace("Distortion\n", "Distortion\nOpSequenceModel name=OSM path=operations.arpa\n");
        let ini = ini.replace("Distortion0= 0.3", "Distortion0= 0.3\nOSM= 0.9 -0.3 -0.4 0.2 0.1");
        std::fs::write(folder.path().join("moses.ini"), ini).unwrap();
        let system = |stack: usize, pops: usize| {
            let ini = folder.path().join("moses.ini");
            let mut configuration = Configuration::from_ini(&ini).unwrap();
            let settings = &mut configuration.settings;
            (settings.algorithm, settings.threads) = (SearchAlgorithm::CubePruning, 1);
            (settings.stack_size, settings.pop_limit) = (stack, pops);
            System::load(&configuration, &miriam_textio::NoProgress).unwrap()
        };
        let (wide, narrow) = (system(200, 400), system(2, 3));
        let mut once = SentenceDecoder::new(&narrow);
        once.decode(LINE, &LineAnnotations::default(), None).unwrap();
        let mut again = SentenceDecoder::new(&wide);
        again.decode(LINE, &LineAnnotations::default(), None).unwrap();
        let begin = again.search.hypotheses()[0].joint_state;
        let (mut space, search) = again.search_parts();
        space.limits = SearchLimits::from_settings(&narrow.settings, SearchWidth::default());
        run_search(search, &mut space, begin, None);
        let best = search.best_hypothesis().unwrap();
        assert_eq!(once.score, Some(search.hypotheses()[best.0 as usize].total));
    }
}
