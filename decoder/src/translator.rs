//! From a line to its translation, in buffers that live as long as a thread.

use miriam_textio::fields;

use crate::coverage::Coverages;
use crate::future_cost::FutureCost;
use crate::input_line::{InputLine, LineAnnotations};
use crate::markup::SentenceMarkup;
use crate::n_best::NBest;
use crate::options::{OptionId, SentenceOptions};
use crate::output::{TranslatedPhrase, Translation};
use crate::reordering_constraint::{self, ReorderingConstraint};
use crate::reports::OutputColumns;
use crate::search::{
    CubePruning, Discard, HypothesisId, JointStates, Keep, LmScoreCache, Search, SearchEffort,
    SearchLimits, SearchSpace, StackDecoding, StatefulScorers, TimeLimit, run_search,
};
use crate::sentence::Sentence;
use crate::surface_forms::SurfaceForms;
use crate::system::System;
use crate::{Error, LineError, LineErrorKind, Result, SearchAlgorithm, Settings};

/// Translates sentences one at a time, in buffers that it reuses.
pub struct Translator<'s> {
    pub(crate) system: &'s System,
    input: InputLine,
    pub(crate) sentence: Sentence,
    pub(crate) options: SentenceOptions,
    future_costs: FutureCost,
    pub(crate) coverages: Coverages,
    constraint: ReorderingConstraint,
    pub(crate) lm_caches: Vec<LmScoreCache>,
    pub(crate) stateful_scorers: StatefulScorers,
    pub(crate) joint_states: JointStates,
    pub(crate) search: Box<dyn Search + Send>,
    /// Whether the line is translated in pieces.
    pub(crate) is_split: bool,
    /// Hypotheses of the best translation, in target order.
    pub(crate) best_path: Vec<HypothesisId>,
    score: Option<f32>,
    /// The time of the line, where it is limited.
    time_limit: Option<TimeLimit>,
    /// The least effort that a piece of the line got.
    effort: SearchEffort,
    /// What went wrong with the line.
    pub(crate) line_errors: Vec<LineError>,
    pub(crate) n_best: NBest,
    /// The text of a line, until its score is known.
    pub(crate) columns: OutputColumns,
    /// Lines that [`Translator::translate_line`] has translated.
    num_lines: u64,
    statistics: Statistics,
}

/// The longest line that is translated as one sentence, in words.
pub const MAX_SENTENCE_WORDS: usize = 2000;

/// What a translator has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Lines translated.
    pub sentences: u64,
    /// Their words.
    pub words: u64,
    /// Expansions scored.
    pub expansions: u64,
}

impl<'s> Translator<'s> {
    /// A translator of `system`.
    pub fn new(system: &'s System) -> Self {
        let models = system.language_models.len();
        Translator {
            system,
            input: InputLine::default(),
            sentence: Sentence::default(),
            options: SentenceOptions::default(),
            future_costs: FutureCost::default(),
            coverages: Coverages::default(),
            constraint: ReorderingConstraint::default(),
            lm_caches: (0..models).map(|_| LmScoreCache::new()).collect(),
            stateful_scorers: StatefulScorers::new(system),
            joint_states: JointStates::new(models + system.stateful_features.len()),
            search: new_search(&system.settings, system.settings.needs_lattice()),
            is_split: false,
            best_path: Vec::new(),
            score: None,
            time_limit: None,
            effort: SearchEffort::Full,
            line_errors: Vec::new(),
            n_best: NBest::default(),
            columns: OutputColumns::default(),
            num_lines: 0,
            statistics: Statistics::default(),
        }
    }

    /// What has been done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// What went wrong with the last line; taken, it is gone.
    pub fn take_line_errors(&mut self) -> Vec<LineError> {
        std::mem::take(&mut self.line_errors)
    }

    /// Appends the output line of the input line `line` to `out`, without line
    /// ends. Fails only where a model file is damaged; a line that something is
    /// wrong with, or that cannot be translated, gives an empty line and a mishap.
    ///
    /// A line of more than [`PIECE`] words is translated in pieces, whose scores
    /// are added, with a warning: time grows with the cube of the length.
    ///
    /// Where lines are numbered, they are in the order of the calls.
    pub fn translate_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let id = self.system.settings.output.first_id.wrapping_add(self.num_lines as i64);
        self.num_lines += 1;
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        let score = self.decode_line(line, |translator, offset| {
            translator.push_best_translation(&mut columns, offset)
        });
        let score = self.recover_line_error(score)?;
        self.push_best_line(id, score, &columns, out);
        self.columns = columns;
        Ok(())
    }

    /// The best translation of `line`; nothing when there is none within the
    /// limits of the search. Long lines as in [`Translator::translate_line`].
    pub fn translate(&mut self, line: &[u8]) -> Result<Option<Translation>> {
        let mut phrases = Vec::new();
        let score = self.decode_line(line, |translator, offset| {
            for &id in &translator.best_path {
                phrases.push(translator.translated_phrase(id, offset)?);
            }
            Ok(())
        })?;
        Ok(score.map(|score| Translation { score, phrases }))
    }

    /// What a hypothesis of the best path adds to the translation.
    pub(crate) fn translated_phrase(
        &self,
        id: HypothesisId,
        offset: u32,
    ) -> Result<TranslatedPhrase> {
        let hypothesis = &self.search.hypotheses()[id.0 as usize];
        let mut words = Vec::new();
        let printed = self.surface_forms();
        printed
            .for_each_word(hypothesis.option, hypothesis.span, |word| words.push(word.to_vec()))?;
        let mut alignment = Vec::new();
        self.collect_alignment(hypothesis.option, &mut alignment);
        Ok(TranslatedPhrase { source: hypothesis.span.shifted(offset), words, alignment })
    }

    /// The words of options as they are printed.
    pub(crate) fn surface_forms(&self) -> SurfaceForms<'_> {
        let Translator { system, sentence, options, .. } = self;
        SurfaceForms { system, sentence, options }
    }

    /// Lists the alignment of an option in `points`, source and target positions
    /// within the phrase, by source position; by target position where the
    /// settings say so.
    pub(crate) fn collect_alignment(&self, option: OptionId, points: &mut Vec<(u16, u16)>) {
        points.clear();
        self.options.push_alignment_points(option, self.system, points);
        match self.system.settings.output.sort_alignment_by_target {
            true => points.sort_unstable_by_key(|&(source, target)| (target, source)),
            false => points.sort_unstable(),
        }
        // A pair written twice is one.
        points.dedup();
    }

    /// Keeps the lattice of every sentence from now on.
    pub(crate) fn enable_lattice(&mut self) {
        if self.search.lattice().is_none() {
            self.search = new_search(&self.system.settings, true);
        }
    }

    /// Decodes `line` piece by piece; `each` sees the best path of a piece and
    /// the position of its first word. The sum of the scores, or nothing where a
    /// piece has no translation.
    pub(crate) fn decode_line(
        &mut self,
        line: &[u8],
        each: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<Option<f32>> {
        self.line_errors.clear();
        self.time_limit = self.system.settings.time_limit.map(TimeLimit::start);
        self.effort = SearchEffort::Full;
        self.is_split = false;
        let mut input = std::mem::take(&mut self.input);
        let score = match input.read(line, &self.system.settings.input_format) {
            Ok((text, line_annotations)) => self.decode_words(text, line_annotations, each),
            Err(error) => Err(error),
        };
        self.input = input;
        score
    }

    /// The same of the words of a line, with what stands beside them.
    fn decode_words(
        &mut self,
        line: &[u8],
        line_annotations: &LineAnnotations,
        mut each: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<Option<f32>> {
        let words = fields::split_words(line).count();
        if words <= MAX_SENTENCE_WORDS {
            self.decode_sentence(line, line_annotations)?;
            each(self, 0)?;
            self.record_search_errors(self.score);
            return Ok(self.score);
        }
        self.is_split = true;
        let mut reason = format!("{words} words are translated in pieces of {MAX_SENTENCE_WORDS}");
        if self.system.settings.output.n_best.is_some() {
            reason.push_str("; the n-best list holds the best translation alone");
        }
        self.line_errors.push(LineError::new(LineErrorKind::LongLine, reason));
        let mut total = Some(0.0);
        let mut words = fields::split_words(line).peekable();
        let mut piece = Vec::new();
        let mut offset = 0;
        while words.peek().is_some() {
            piece.clear();
            for word in words.by_ref().take(MAX_SENTENCE_WORDS) {
                piece.extend_from_slice(word);
                piece.push(b' ');
            }
            self.decode_sentence(&piece, line_annotations)?;
            each(self, offset)?;
            total = total.zip(self.score).map(|(sum, score)| sum + score);
            offset += MAX_SENTENCE_WORDS as u32;
        }
        self.record_search_errors(total);
        Ok(total)
    }

    /// A line that is wrong in itself has no translation, and a mishap.
    pub(crate) fn recover_line_error(&mut self, score: Result<Option<f32>>) -> Result<Option<f32>> {
        match score {
            Err(Error::Line { reason }) => {
                self.line_errors.push(LineError::new(LineErrorKind::Malformed, reason));
                Ok(None)
            }
            score => score,
        }
    }

    /// Notes what the search did not achieve.
    fn record_search_errors(&mut self, score: Option<f32>) {
        let narrower = match self.effort {
            SearchEffort::Full => None,
            SearchEffort::Narrow => Some("with stacks and pops an eighth"),
            SearchEffort::Greedy => Some("from left to right"),
        };
        if let (Some(how), Some(limit)) = (narrower, self.system.settings.time_limit) {
            let reason = format!("more than {} ms; translated {how}", limit.as_millis());
            self.line_errors.push(LineError::new(LineErrorKind::TimeLimit, reason));
        }
        if score.is_none() {
            let reason = "no translation within the limits of the search (-dl, -s, -cbp) and of \
                          what the line asks for";
            self.line_errors.push(LineError::new(LineErrorKind::NoTranslation, reason));
        }
    }

    /// What the search works on, and the search.
    pub(crate) fn split_borrow(&mut self) -> (SearchSpace<'_>, &mut (dyn Search + Send)) {
        let space = SearchSpace {
            system: self.system,
            limits: SearchLimits::from_settings(&self.system.settings),
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

    /// Searches; leaves the best path and its score.
    pub(crate) fn decode_sentence(
        &mut self,
        line: &[u8],
        line_annotations: &LineAnnotations,
    ) -> Result<()> {
        self.best_path.clear();
        self.score = None;
        self.sentence.read(line, self.system)?;
        for (position, entity) in &line_annotations.markup.placeholders {
            self.sentence.set_placeholder(*position, entity);
        }
        self.statistics.sentences += 1;
        self.statistics.words += self.sentence.len() as u64;
        if self.sentence.len() == 0 {
            // The empty hypothesis is complete; no `</s>` is scored.
            self.score = Some(0.0);
            return Ok(());
        }
        self.joint_states.start();
        for (m, (lm, feature)) in
            self.lm_caches.iter_mut().zip(&self.system.language_models).enumerate()
        {
            lm.start();
            self.joint_states.set_state(m, lm.intern(&feature.model.begin_state()));
        }
        self.stateful_scorers.start(self.system, &mut self.joint_states);
        let begin = self.joint_states.join();
        self.options.collect(
            self.system,
            &mut self.sentence,
            line_annotations,
            &mut self.lm_caches,
        )?;
        self.set_up_constraint(&line_annotations.markup);
        let length = self.sentence.len();
        let options = &self.options;
        self.future_costs.fill(length, options.max_span_length() as usize, |start, len| {
            options.best_future_score(start, len)
        });
        self.coverages.start(length as u32, &self.future_costs);
        let time = self.time_limit;
        let (mut space, search) = self.split_borrow();
        let effort = run_search(search, &mut space, begin, time);
        self.effort = self.effort.max(effort);
        self.statistics.expansions += self.search.num_evaluated();
        if let Some(best) = self.search.best_hypothesis() {
            let hypotheses = self.search.hypotheses();
            self.score = Some(hypotheses[best.0 as usize].total);
            let mut id = best;
            while !hypotheses[id.0 as usize].is_initial() {
                self.best_path.push(id);
                id = hypotheses[id.0 as usize].previous;
            }
            self.best_path.reverse();
        }
        Ok(())
    }

    /// Sets up the walls and zones of the sentence.
    fn set_up_constraint(&mut self, annotations: &SentenceMarkup) {
        let Translator { sentence, system, constraint, .. } = self;
        let at_punctuation = system.settings.input_format.monotone_at_punctuation;
        if !at_punctuation && annotations.is_empty() {
            constraint.clear();
            return;
        }
        let is_punctuation = |position: usize| {
            let word = sentence.word(sentence.ids()[position], system);
            reordering_constraint::is_punctuation(system.surface(word))
        };
        constraint.start(sentence.len(), annotations, at_punctuation.then_some(is_punctuation));
    }
}

/// The search that `settings` ask for, with or without a lattice.
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
    use crate::Configuration;
    use std::path::Path;
    use std::time::Duration;

    /// The toy system with this search.
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

    /// Score and phrases of the line, with a clock that started `seconds` ago and
    /// gives 60.
    fn decode_timed(
        system: &System,
        seconds: Option<u64>,
    ) -> (SearchEffort, f32, Vec<TranslatedPhrase>) {
        let mut translator = Translator::new(system);
        translator.time_limit = seconds.map(|seconds| {
            TimeLimit::started_before(Duration::from_secs(seconds), Duration::from_secs(60))
        });
        translator.decode_sentence(&LINE.repeat(3), &LineAnnotations::default()).unwrap();
        let phrases = translator.best_path.iter().map(|&id| translator.translated_phrase(id, 0));
        let phrases = phrases.collect::<Result<_>>().unwrap();
        (translator.effort, translator.score.unwrap(), phrases)
    }

    /// A search out of time gives what a narrower one gives from the start.
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

    /// Walls and zones do not keep the last, greedy search from a translation.
    #[test]
    fn out_of_time_walls_and_zones_are_respected() {
        for algorithm in [SearchAlgorithm::Stack, SearchAlgorithm::CubePruning] {
            let mut system = toy(algorithm, 80, 100, 6);
            system.settings.input_format.markup = crate::MarkupMode::Inclusive;
            let line = b"the red <wall/> house <zone>is big and the small dog reads the old \
                         <wall/> green</zone> book .";
            let mut input = InputLine::default();
            let (words, line_annotations) =
                input.read(line, &system.settings.input_format).unwrap();
            for (seconds, effort) in
                [(0, SearchEffort::Full), (61, SearchEffort::Narrow), (121, SearchEffort::Greedy)]
            {
                let mut translator = Translator::new(&system);
                let (before, limit) = (Duration::from_secs(seconds), Duration::from_secs(60));
                translator.time_limit = Some(TimeLimit::started_before(before, limit));
                translator.decode_sentence(words, line_annotations).unwrap();
                assert!(translator.constraint.is_active());
                assert!(translator.score.is_some(), "{effort:?}");
                assert_eq!(translator.effort, effort);
                let hypotheses = translator.search.hypotheses();
                let starts: Vec<u32> = translator
                    .best_path
                    .iter()
                    .map(|&id| hypotheses[id.0 as usize].span.start)
                    .collect();
                let wall = starts.iter().position(|&start| start >= 2).unwrap();
                assert!(starts[wall..].iter().all(|&start| start >= 2), "{starts:?}");
                assert!(effort != SearchEffort::Greedy || starts.is_sorted(), "{starts:?}");
            }
        }
    }

    /// A second search over a sentence starts from nothing, also where a feature
    /// knows more of a hypothesis than its state.
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
        let mut once = Translator::new(&narrow);
        once.decode_sentence(LINE, &LineAnnotations::default()).unwrap();
        let mut again = Translator::new(&wide);
        again.decode_sentence(LINE, &LineAnnotations::default()).unwrap();
        let begin = again.search.hypotheses()[0].joint_state;
        let (mut space, search) = again.split_borrow();
        space.limits = SearchLimits::from_settings(&narrow.settings);
        run_search(search, &mut space, begin, None);
        let best = search.best_hypothesis().unwrap();
        assert_eq!(once.score, Some(search.hypotheses()[best.0 as usize].total));
    }

    #[test]
    fn line_errors_are_recovered_and_model_errors_are_not() {
        let system = toy(SearchAlgorithm::CubePruning, 10, 10, 6);
        let mut translator = Translator::new(&system);
        let line = Error::Line { reason: "word 3: an open tag".into() };
        assert_eq!(translator.recover_line_error(Err(line)).unwrap(), None);
        let mishaps = translator.take_line_errors();
        assert_eq!(mishaps, [LineError::new(LineErrorKind::Malformed, "word 3: an open tag")]);
        assert!(translator.recover_line_error(Err(Error::usage("another"))).is_err());
        assert_eq!(translator.recover_line_error(Ok(Some(1.0))).unwrap(), Some(1.0));
        assert!(translator.take_line_errors().is_empty());
    }
}
