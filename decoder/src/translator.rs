//! From a line to its translation, in buffers that live as long as a thread.

use miriam_text::fields;

use crate::coverage::Coverages;
use crate::future_cost::FutureCost;
use crate::options::SentenceOptions;
use crate::output::{PhraseMatch, Shown, Translation};
use crate::search::{
    Contexts, CubePruning, HypothesisId, JointStates, LanguageModelScores, Requests, Search,
    SearchSpace, StackSearch,
};
use crate::sentence::Sentence;
use crate::system::System;
use crate::{Result, SearchAlgorithm};

/// Translates sentences one at a time, in buffers that it reuses.
pub struct Translator<'s> {
    system: &'s System,
    sentence: Sentence,
    options: SentenceOptions,
    costs: FutureCost,
    coverages: Coverages,
    lms: Vec<LanguageModelScores>,
    contexts: Contexts,
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
            sentence: Sentence::default(),
            options: SentenceOptions::default(),
            costs: FutureCost::default(),
            coverages: Coverages::default(),
            lms: (0..models).map(|_| LanguageModelScores::new()).collect(),
            contexts: Contexts::new(system),
            joint: JointStates::new(models + system.contexts.len()),
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
    /// ends. Fails only where a model file is damaged.
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
                for &word in translator.options.words(hypothesis.option) {
                    shown.word(&mut body, translator.sentence.word(word, translator.system));
                }
                shown.end_phrase(&mut body, hypothesis.span.shifted(offset));
            }
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
            phrases.extend(translator.path.iter().map(|&id| translator.phrase(id, offset)));
        })?;
        Ok(score.map(|score| Translation { score, phrases }))
    }

    /// What a hypothesis of the best path adds to the translation.
    fn phrase(&self, id: HypothesisId, offset: u32) -> PhraseMatch {
        let hypothesis = &self.search.hypotheses()[id.0 as usize];
        let words = self.options.words(hypothesis.option);
        let origin = self.options.origin(hypothesis.option);
        let alignment = match origin.table {
            Some(table) => {
                let phrases = &self.system.tables[table as usize].phrases;
                phrases.alignment_points(origin.alignment).collect()
            }
            // A copied word stands for itself.
            None => words.iter().map(|_| (0, 0)).collect(),
        };
        PhraseMatch {
            source: hypothesis.span.shifted(offset),
            words: words.iter().map(|&w| self.sentence.word(w, self.system).to_vec()).collect(),
            alignment,
        }
    }

    /// Decodes `line` piece by piece; `each` sees the best path of a piece and
    /// the position of its first word. The sum of the scores, or nothing where a
    /// piece has no translation.
    fn decode_pieces(
        &mut self,
        line: &[u8],
        mut each: impl FnMut(&Self, u32),
    ) -> Result<Option<f32>> {
        let words = fields::words(line).count();
        if words <= PIECE {
            self.decode(line)?;
            each(self, 0);
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
            self.decode(&piece)?;
            each(self, offset);
            total = total.zip(self.score).map(|(sum, score)| sum + score);
            offset += PIECE as u32;
        }
        Ok(total)
    }

    /// Searches; leaves the best path and its score.
    fn decode(&mut self, line: &[u8]) -> Result<()> {
        self.path.clear();
        self.score = None;
        self.sentence.read(line, self.system);
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
        self.contexts.start(self.system, &mut self.states);
        let begin = self.joint.intern(&self.states);
        self.options.collect(self.system, &mut self.sentence, &mut self.lms)?;
        let length = self.sentence.len();
        let options = &self.options;
        self.costs.fill(length, options.longest() as usize, |start, len| options.best(start, len));
        self.coverages.start(length as u32, &self.costs);
        let mut space = SearchSpace {
            system: self.system,
            length: length as u32,
            sentence: &self.sentence,
            options,
            costs: &self.costs,
            coverages: &mut self.coverages,
        };
        self.search.start(&mut space, begin);
        loop {
            self.requests.clear();
            if !self.search.advance(&mut space, &mut self.requests) {
                break;
            }
            let (lms, contexts, joint) = (&mut self.lms, &mut self.contexts, &mut self.joint);
            self.requests.answer(&space, &*self.search, lms, contexts, joint);
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
}
