//! From a line to its translation, in buffers that live as long as a thread.

use miriam_textio::fields;

use crate::coverage::Coverages;
use crate::future_cost::FutureCost;
use crate::input_line::{Beside, InputLine};
use crate::markup::Annotations;
use crate::n_best::NBest;
use crate::options::{OptionId, SentenceOptions};
use crate::output::{PhraseMatch, Translation};
use crate::printed_words::PrintedWords;
use crate::reordering_constraint::{self, ReorderingConstraint};
use crate::reports::Columns;
use crate::search::{
    Contexts, CubePruning, Effort, Forgotten, HypothesisId, JointStates, Kept, LanguageModelScores,
    Search, SearchLimits, SearchSpace, StackSearch, TimeLimit, complete,
};
use crate::sentence::Sentence;
use crate::system::System;
use crate::{Error, Mishap, MishapKind, Result, SearchAlgorithm, Settings};

/// Translates sentences one at a time, in buffers that it reuses.
pub struct Translator<'s> {
    pub(crate) system: &'s System,
    input: InputLine,
    pub(crate) sentence: Sentence,
    pub(crate) options: SentenceOptions,
    costs: FutureCost,
    pub(crate) coverages: Coverages,
    constraint: ReorderingConstraint,
    pub(crate) lms: Vec<LanguageModelScores>,
    pub(crate) contexts: Contexts,
    pub(crate) joint: JointStates,
    pub(crate) search: Box<dyn Search + Send>,
    /// Whether the line is translated in pieces.
    pub(crate) in_pieces: bool,
    /// Hypotheses of the best translation, in target order.
    pub(crate) path: Vec<HypothesisId>,
    score: Option<f32>,
    /// The time of the line, where it is limited.
    time: Option<TimeLimit>,
    /// The least effort that a piece of the line got.
    effort: Effort,
    /// What went wrong with the line.
    pub(crate) mishaps: Vec<Mishap>,
    pub(crate) n_best: NBest,
    /// The text of a line, until its score is known.
    pub(crate) columns: Columns,
    /// Lines that [`Translator::translate_line`] has translated.
    lines: u64,
    statistics: Statistics,
}

/// The longest line that is translated as one sentence, in words.
pub const PIECE: usize = 2000;

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
            costs: FutureCost::default(),
            coverages: Coverages::default(),
            constraint: ReorderingConstraint::default(),
            lms: (0..models).map(|_| LanguageModelScores::new()).collect(),
            contexts: Contexts::new(system),
            joint: JointStates::new(models + system.contexts.len()),
            search: new_search(&system.settings, system.settings.needs_lattice()),
            in_pieces: false,
            path: Vec::new(),
            score: None,
            time: None,
            effort: Effort::Full,
            mishaps: Vec::new(),
            n_best: NBest::default(),
            columns: Columns::default(),
            lines: 0,
            statistics: Statistics::default(),
        }
    }

    /// What has been done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// What went wrong with the last line; taken, it is gone.
    pub fn take_mishaps(&mut self) -> Vec<Mishap> {
        std::mem::take(&mut self.mishaps)
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
        let id = self.system.settings.output.first_id.wrapping_add(self.lines as i64);
        self.lines += 1;
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        let score = self
            .decode_pieces(line, |translator, offset| translator.push_best(&mut columns, offset));
        let score = self.forgive(score)?;
        self.finish_best(id, score, &columns, out);
        self.columns = columns;
        Ok(())
    }

    /// The best translation of `line`; nothing when there is none within the
    /// limits of the search. Long lines as in [`Translator::translate_line`].
    pub fn translate(&mut self, line: &[u8]) -> Result<Option<Translation>> {
        let mut phrases = Vec::new();
        let score = self.decode_pieces(line, |translator, offset| {
            for &id in &translator.path {
                phrases.push(translator.phrase(id, offset)?);
            }
            Ok(())
        })?;
        Ok(score.map(|score| Translation { score, phrases }))
    }

    /// What a hypothesis of the best path adds to the translation.
    pub(crate) fn phrase(&self, id: HypothesisId, offset: u32) -> Result<PhraseMatch> {
        let hypothesis = &self.search.hypotheses()[id.0 as usize];
        let mut words = Vec::new();
        let printed = self.printed_words();
        printed.of(hypothesis.option, hypothesis.span, |word| words.push(word.to_vec()))?;
        let mut alignment = Vec::new();
        self.alignment_points(hypothesis.option, &mut alignment);
        Ok(PhraseMatch { source: hypothesis.span.shifted(offset), words, alignment })
    }

    /// The words of options as they are printed.
    pub(crate) fn printed_words(&self) -> PrintedWords<'_> {
        let Translator { system, sentence, options, .. } = self;
        PrintedWords { system, sentence, options }
    }

    /// Lists the alignment of an option in `points`, source and target positions
    /// within the phrase, by source position; by target position where the
    /// settings say so.
    pub(crate) fn alignment_points(&self, option: OptionId, points: &mut Vec<(u16, u16)>) {
        points.clear();
        self.options.push_alignment(option, self.system, points);
        match self.system.settings.output.alignment_by_target {
            true => points.sort_unstable_by_key(|&(source, target)| (target, source)),
            false => points.sort_unstable(),
        }
        // A pair written twice is one.
        points.dedup();
    }

    /// Keeps the lattice of every sentence from now on.
    pub(crate) fn keep_lattice(&mut self) {
        if self.search.lattice().is_none() {
            self.search = new_search(&self.system.settings, true);
        }
    }

    /// Decodes `line` piece by piece; `each` sees the best path of a piece and
    /// the position of its first word. The sum of the scores, or nothing where a
    /// piece has no translation.
    pub(crate) fn decode_pieces(
        &mut self,
        line: &[u8],
        each: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<Option<f32>> {
        self.mishaps.clear();
        self.time = self.system.settings.time_limit.map(TimeLimit::start);
        self.effort = Effort::Full;
        self.in_pieces = false;
        let mut input = std::mem::take(&mut self.input);
        let score = match input.read(line, &self.system.settings.text) {
            Ok((text, beside)) => self.decode_text(text, beside, each),
            Err(error) => Err(error),
        };
        self.input = input;
        score
    }

    /// The same of the words of a line, with what stands beside them.
    fn decode_text(
        &mut self,
        line: &[u8],
        beside: &Beside,
        mut each: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<Option<f32>> {
        let words = fields::words(line).count();
        if words <= PIECE {
            self.decode(line, beside)?;
            each(self, 0)?;
            self.note_mishaps(self.score);
            return Ok(self.score);
        }
        self.in_pieces = true;
        let mut reason = format!("{words} words are translated in pieces of {PIECE}");
        if self.system.settings.output.n_best.is_some() {
            reason.push_str("; the n-best list holds the best translation alone");
        }
        self.mishaps.push(Mishap::new(MishapKind::LongLine, reason));
        let mut total = Some(0.0);
        let mut words = fields::words(line).peekable();
        let mut piece = Vec::new();
        let mut offset = 0;
        while words.peek().is_some() {
            piece.clear();
            for word in words.by_ref().take(PIECE) {
                piece.extend_from_slice(word);
                piece.push(b' ');
            }
            self.decode(&piece, beside)?;
            each(self, offset)?;
            total = total.zip(self.score).map(|(sum, score)| sum + score);
            offset += PIECE as u32;
        }
        self.note_mishaps(total);
        Ok(total)
    }

    /// A line that is wrong in itself has no translation, and a mishap.
    pub(crate) fn forgive(&mut self, score: Result<Option<f32>>) -> Result<Option<f32>> {
        match score {
            Err(Error::Line { reason }) => {
                self.mishaps.push(Mishap::new(MishapKind::Malformed, reason));
                Ok(None)
            }
            score => score,
        }
    }

    /// Notes what the search did not achieve.
    fn note_mishaps(&mut self, score: Option<f32>) {
        let narrower = match self.effort {
            Effort::Full => None,
            Effort::Narrow => Some("with stacks and pops an eighth"),
            Effort::Greedy => Some("from left to right"),
        };
        if let (Some(how), Some(limit)) = (narrower, self.system.settings.time_limit) {
            let reason = format!("more than {} ms; translated {how}", limit.as_millis());
            self.mishaps.push(Mishap::new(MishapKind::TimeLimit, reason));
        }
        if score.is_none() {
            let reason = "no translation within the limits of the search (-dl, -s, -cbp) and of \
                          what the line asks for";
            self.mishaps.push(Mishap::new(MishapKind::NoTranslation, reason));
        }
    }

    /// What the search works on, and the search.
    pub(crate) fn split(&mut self) -> (SearchSpace<'_>, &mut (dyn Search + Send)) {
        let space = SearchSpace {
            system: self.system,
            limits: SearchLimits::of(&self.system.settings),
            length: self.sentence.len() as u32,
            sentence: &self.sentence,
            options: &self.options,
            costs: &self.costs,
            coverages: &mut self.coverages,
            lms: &mut self.lms,
            contexts: &mut self.contexts,
            joint: &mut self.joint,
            constraint: self.constraint.is_active().then_some(&self.constraint),
        };
        (space, &mut *self.search)
    }

    /// Searches; leaves the best path and its score.
    pub(crate) fn decode(&mut self, line: &[u8], beside: &Beside) -> Result<()> {
        self.path.clear();
        self.score = None;
        self.sentence.read(line, self.system)?;
        for (position, entity) in &beside.annotations.placeholders {
            self.sentence.replace(*position, entity);
        }
        self.statistics.sentences += 1;
        self.statistics.words += self.sentence.len() as u64;
        if self.sentence.len() == 0 {
            // The empty hypothesis is complete; no `</s>` is scored.
            self.score = Some(0.0);
            return Ok(());
        }
        self.joint.start();
        for (m, (lm, feature)) in self.lms.iter_mut().zip(&self.system.language_models).enumerate()
        {
            lm.start();
            self.joint.set(m, lm.intern(&feature.model.begin_state()));
        }
        self.contexts.start(self.system, &mut self.joint);
        let begin = self.joint.join();
        self.options.collect(self.system, &mut self.sentence, beside, &mut self.lms)?;
        self.constrain(&beside.annotations);
        let length = self.sentence.len();
        let options = &self.options;
        self.costs.fill(length, options.longest() as usize, |start, len| options.best(start, len));
        self.coverages.start(length as u32, &self.costs);
        let time = self.time;
        let (mut space, search) = self.split();
        let effort = complete(search, &mut space, begin, time);
        self.effort = self.effort.max(effort);
        self.statistics.expansions += self.search.evaluated();
        if let Some(best) = self.search.best() {
            let hypotheses = self.search.hypotheses();
            self.score = Some(hypotheses[best.0 as usize].total);
            let mut id = best;
            while !hypotheses[id.0 as usize].is_initial() {
                self.path.push(id);
                id = hypotheses[id.0 as usize].previous;
            }
            self.path.reverse();
        }
        Ok(())
    }

    /// Sets up the walls and zones of the sentence.
    fn constrain(&mut self, annotations: &Annotations) {
        let Translator { sentence, system, constraint, .. } = self;
        let at_punctuation = system.settings.text.monotone_at_punctuation;
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
        (SearchAlgorithm::Stack, false) => Box::new(StackSearch::<Forgotten>::default()),
        (SearchAlgorithm::Stack, true) => Box::new(StackSearch::<Kept>::default()),
        (SearchAlgorithm::CubePruning, false) => Box::new(CubePruning::<Forgotten>::default()),
        (SearchAlgorithm::CubePruning, true) => Box::new(CubePruning::<Kept>::default()),
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
        System::load(&configuration, &miriam_textio::Silent).unwrap()
    }

    const LINE: &[u8] = b"the red house is big and the small dog reads the old green book . ";

    /// Score and phrases of the line, with a clock that started `seconds` ago and
    /// gives 60.
    fn decoded(system: &System, seconds: Option<u64>) -> (Effort, f32, Vec<PhraseMatch>) {
        let mut translator = Translator::new(system);
        translator.time = seconds.map(|seconds| {
            TimeLimit::started_before(Duration::from_secs(seconds), Duration::from_secs(60))
        });
        translator.decode(&LINE.repeat(3), &Beside::default()).unwrap();
        let phrases = translator.path.iter().map(|&id| translator.phrase(id, 0));
        let phrases = phrases.collect::<Result<_>>().unwrap();
        (translator.effort, translator.score.unwrap(), phrases)
    }

    /// A search out of time gives what a narrower one gives from the start.
    #[test]
    fn out_of_time_is_as_narrow_from_the_start() {
        for algorithm in [SearchAlgorithm::Stack, SearchAlgorithm::CubePruning] {
            let wide = toy(algorithm, 80, 100, 6);
            let narrow = toy(algorithm, 10, 13, 6);
            let greedy = toy(algorithm, 8, 8, 0);
            for (seconds, effort, same) in [
                (0, Effort::Full, &wide),
                (61, Effort::Narrow, &narrow),
                (121, Effort::Greedy, &greedy),
            ] {
                let (_, score, phrases) = decoded(same, None);
                assert_eq!(decoded(&wide, Some(seconds)), (effort, score, phrases));
            }
        }
    }

    /// Walls and zones do not keep the last, greedy search from a translation.
    #[test]
    fn out_of_time_walls_and_zones_are_respected() {
        for algorithm in [SearchAlgorithm::Stack, SearchAlgorithm::CubePruning] {
            let mut system = toy(algorithm, 80, 100, 6);
            system.settings.text.markup = crate::MarkupMode::Inclusive;
            let line = b"the red <wall/> house <zone>is big and the small dog reads the old \
                         <wall/> green</zone> book .";
            let mut input = InputLine::default();
            let (words, beside) = input.read(line, &system.settings.text).unwrap();
            for (seconds, effort) in
                [(0, Effort::Full), (61, Effort::Narrow), (121, Effort::Greedy)]
            {
                let mut translator = Translator::new(&system);
                let (before, limit) = (Duration::from_secs(seconds), Duration::from_secs(60));
                translator.time = Some(TimeLimit::started_before(before, limit));
                translator.decode(words, beside).unwrap();
                assert!(translator.constraint.is_active());
                assert!(translator.score.is_some(), "{effort:?}");
                assert_eq!(translator.effort, effort);
                let hypotheses = translator.search.hypotheses();
                let starts: Vec<u32> = translator
                    .path
                    .iter()
                    .map(|&id| hypotheses[id.0 as usize].span.start)
                    .collect();
                let wall = starts.iter().position(|&start| start >= 2).unwrap();
                assert!(starts[wall..].iter().all(|&start| start >= 2), "{starts:?}");
                assert!(effort != Effort::Greedy || starts.is_sorted(), "{starts:?}");
            }
        }
    }

    /// A second search over a sentence starts from nothing, also where a feature
    /// knows more of a hypothesis than its state.
    #[test]
    fn a_search_begun_again_forgets_the_one_before() {
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
            System::load(&configuration, &miriam_textio::Silent).unwrap()
        };
        let (wide, narrow) = (system(200, 400), system(2, 3));
        let mut once = Translator::new(&narrow);
        once.decode(LINE, &Beside::default()).unwrap();
        let mut again = Translator::new(&wide);
        again.decode(LINE, &Beside::default()).unwrap();
        let begin = again.search.hypotheses()[0].state;
        let (mut space, search) = again.split();
        space.limits = SearchLimits::of(&narrow.settings);
        complete(search, &mut space, begin, None);
        let best = search.best().unwrap();
        assert_eq!(once.score, Some(search.hypotheses()[best.0 as usize].total));
    }

    #[test]
    fn a_line_that_is_wrong_is_forgiven_and_a_damaged_model_is_not() {
        let system = toy(SearchAlgorithm::CubePruning, 10, 10, 6);
        let mut translator = Translator::new(&system);
        let line = Error::Line { reason: "word 3: an open tag".into() };
        assert_eq!(translator.forgive(Err(line)).unwrap(), None);
        let mishaps = translator.take_mishaps();
        assert_eq!(mishaps, [Mishap::new(MishapKind::Malformed, "word 3: an open tag")]);
        assert!(translator.forgive(Err(Error::usage("another"))).is_err());
        assert_eq!(translator.forgive(Ok(Some(1.0))).unwrap(), Some(1.0));
        assert!(translator.take_mishaps().is_empty());
    }
}
