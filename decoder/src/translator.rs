//! From a line to its translation, in buffers that live as long as a thread.

use miriam_text::fields;

use crate::coverage::Coverages;
use crate::future_cost::FutureCost;
use crate::input_line::{Beside, InputLine};
use crate::markup::Annotations;
use crate::options::SentenceOptions;
use crate::output::{PhraseMatch, Shown, Translation};
use crate::printed_words::PrintedWords;
use crate::reordering_constraint::{self, ReorderingConstraint};
use crate::search::{
    CubePruning, HypothesisId, JointStates, LanguageModelScores, Requests, Search, SearchSpace,
    StackSearch,
};
use crate::sentence::Sentence;
use crate::system::System;
use crate::{Result, SearchAlgorithm};

/// Translates sentences one at a time, in buffers that it reuses.
pub struct Translator<'s> {
    system: &'s System,
    input: InputLine,
    sentence: Sentence,
    options: SentenceOptions,
    costs: FutureCost,
    coverages: Coverages,
    constraint: ReorderingConstraint,
    lms: Vec<LanguageModelScores>,
    joint: JointStates,
    requests: Requests,
    search: Box<dyn Search + Send>,
    states: Vec<u32>,
    /// Hypotheses of the best translation, in target order.
    path: Vec<HypothesisId>,
    score: Option<f32>,
    /// The words of a line, until its score is known.
    body: Vec<u8>,
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
            joint: JointStates::new(models),
            requests: Requests::default(),
            search: match system.settings.algorithm {
                SearchAlgorithm::Stack => Box::new(StackSearch::default()),
                SearchAlgorithm::CubePruning => Box::new(CubePruning::default()),
            },
            states: Vec::new(),
            path: Vec::new(),
            score: None,
            body: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// What has been done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Appends the output line of the input line `line` to `out`, without line
    /// ends. Fails where a model file is damaged, and with [`crate::Error::Line`]
    /// where something is wrong with this line.
    ///
    /// A line of more than [`PIECE`] words is translated in pieces, whose scores
    /// are added, with a warning: time grows with the cube of the length.
    pub fn translate_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let shown = Shown::of(&self.system.settings);
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let score = self.decode_pieces(line, |translator, offset| {
            for &id in &translator.path {
                let hypothesis = &translator.search.hypotheses()[id.0 as usize];
                let words = translator.printed_words();
                words.of(hypothesis.option, hypothesis.span, |word| {
                    shown.word(&mut body, word);
                })?;
                shown.end_phrase(&mut body, hypothesis.span.shifted(offset));
            }
            Ok(())
        })?;
        shown.begin(out, score);
        if score.is_some() {
            out.extend_from_slice(&body);
        }
        self.body = body;
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
    fn phrase(&self, id: HypothesisId, offset: u32) -> Result<PhraseMatch> {
        let hypothesis = &self.search.hypotheses()[id.0 as usize];
        let mut words = Vec::new();
        let printed = self.printed_words();
        printed.of(hypothesis.option, hypothesis.span, |word| words.push(word.to_vec()))?;
        Ok(PhraseMatch {
            source: hypothesis.span.shifted(offset),
            words,
            alignment: self.options.alignment(hypothesis.option, self.system),
        })
    }

    /// The words of options as they are printed.
    fn printed_words(&self) -> PrintedWords<'_> {
        let Translator { system, sentence, options, .. } = self;
        PrintedWords { system, sentence, options }
    }

    /// Decodes `line` piece by piece; `each` sees the best path of a piece and
    /// the position of its first word. The sum of the scores, or nothing where a
    /// piece has no translation.
    fn decode_pieces(
        &mut self,
        line: &[u8],
        each: impl FnMut(&Self, u32) -> Result<()>,
    ) -> Result<Option<f32>> {
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
        mut each: impl FnMut(&Self, u32) -> Result<()>,
    ) -> Result<Option<f32>> {
        let words = fields::words(line).count();
        if words <= PIECE {
            self.decode(line, beside)?;
            each(self, 0)?;
            return Ok(self.score);
        }
        tracing::warn!("a line of {words} words is translated in pieces of {PIECE}");
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
        Ok(total)
    }

    /// Searches; leaves the best path and its score.
    fn decode(&mut self, line: &[u8], beside: &Beside) -> Result<()> {
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
        self.states.clear();
        for (lm, feature) in self.lms.iter_mut().zip(&self.system.language_models) {
            lm.start();
            self.states.push(lm.intern(&feature.model.begin_state()));
        }
        let begin = self.joint.intern(&self.states);
        self.options.collect(self.system, &mut self.sentence, beside, &mut self.lms)?;
        self.constrain(&beside.annotations);
        let length = self.sentence.len();
        let options = &self.options;
        self.costs.fill(length, options.longest() as usize, |start, len| options.best(start, len));
        self.coverages.start(length as u32, &self.costs);
        let mut space = SearchSpace {
            system: self.system,
            length: length as u32,
            options,
            costs: &self.costs,
            coverages: &mut self.coverages,
            constraint: self.constraint.is_active().then_some(&self.constraint),
        };
        self.search.start(&mut space, begin);
        loop {
            self.requests.clear();
            if !self.search.advance(&mut space, &mut self.requests) {
                break;
            }
            self.requests.answer(self.system, options, &mut self.lms, &mut self.joint);
            self.search.accept(&mut space, &self.requests);
        }
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
            let surface = match &system.factors {
                None => word,
                Some(scheme) => scheme.factor(word, 0).unwrap_or(word),
            };
            reordering_constraint::is_punctuation(surface)
        };
        constraint.start(sentence.len(), annotations, at_punctuation.then_some(is_punctuation));
    }
}
