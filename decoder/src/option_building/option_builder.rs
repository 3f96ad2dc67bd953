//! Scoring and pruning of the options of one source phrase (`docs/spec/phrase-decoding.md` 3.4).
//! Scores are f32 and are added one after another, in the order of the features.

use std::borrow::Cow;

use miriam_lmcpu::LmWord;
use miriam_probingpt::{RecordOffset, Targets};
use miriam_textio::WordId;

use crate::Result;
use crate::features::{
    IsolatedOperationScorer, OperationSequenceModel, OptionRows, TargetPhrase, UNKNOWN_TARGET,
    UnscoredPhrase, Weighting,
};
use crate::lm_scoring::{IsolatedPhrase, LmBatch};
use crate::models::PhraseTable;
use crate::sentence::SourceSpan;
use crate::system::System;
use crate::translation_options::{
    InputPhrase, InputPhraseDetails, OptionList, OptionScores, OptionSource,
};

/// The number of target phrases whose language-model scores are computed as one batch. It is much
/// larger than the number of queries in flight, but small enough for states and results to stay in
/// a core's cache. Unit tests use a small number, so that a sentence has several batches.
const LM_BATCH_PHRASES: u32 = if cfg!(test) { 2 } else { 1024 };

/// Buffers for making options, reused.
#[derive(Default)]
pub(crate) struct OptionBuilder {
    pub(super) targets: Targets,
    words: Vec<WordId>,
    candidates: Vec<Candidate>,
    pub(super) reordering_targets: Targets,
    pub(super) scoring: ScoringBuffers,
    /// The list that is being made.
    list_buffer: OptionList,
}

/// Buffers for scoring target phrases.
#[derive(Default)]
pub(super) struct ScoringBuffers {
    pub(super) lm_words: Vec<LmWord>,
    pub(super) isolated_phrase: IsolatedPhrase,
    lm_batch: LmBatch,
    operation_scorer: IsolatedOperationScorer,
}

/// A target phrase that may become an option.
#[derive(Clone, Copy)]
struct Candidate {
    total: f32,
    future_score: f32,
    /// Its number among the targets of its source phrase.
    index: u32,
}

/// The inputs of an operation sequence model besides the target words; empty if there is no such
/// model.
struct OperationInputs<'a> {
    span: SourceSpan<'a>,
    /// The surfaces of the span.
    source: &'a [&'a [u8]],
    points: AlignmentSource<'a>,
}

/// The source of the alignment of a phrase.
enum AlignmentSource<'a> {
    /// The alignment with this number in the phrase's table.
    Table(&'a PhraseTable, u32),
    /// The alignment itself: the phrase is of the sentence's own table.
    Input(&'a [(u16, u16)]),
    /// There is none: the phrase is of the unknown-word penalty, a copied word or a forced
    /// translation. As in Moses2, the model does not see its words.
    UnknownWordPenalty,
}

/// Returns the surfaces of `source`, for operation sequence models; empty if there are no such
/// models.
fn source_words<'a>(system: &'a System, source: SourceSpan<'a>) -> Vec<&'a [u8]> {
    if system.plan.features.has_operation_sequence_model() {
        source.surfaces(&system.models)
    } else {
        Vec::new()
    }
}

/// A target phrase while it is scored; `lm_word` gives a word's id in a language model.
struct PhraseScorer<'a, F> {
    system: &'a System,
    words: &'a [WordId],
    lm_word: F,
    /// Its number among the phrases of the batch of language-model scores, if it is there.
    batch_index: Option<u32>,
    operations: OperationInputs<'a>,
    buffers: &'a mut ScoringBuffers,
}

impl<F: Fn(usize, WordId) -> LmWord> TargetPhrase for PhraseScorer<'_, F> {
    #[inline]
    fn num_words(&self) -> usize {
        self.words.len()
    }

    fn num_unknown_words(&self, model: usize) -> usize {
        self.words.iter().filter(|&&word| (self.lm_word)(model, word) == LmWord::UNKNOWN).count()
    }
}

impl<F: Fn(usize, WordId) -> LmWord> UnscoredPhrase for PhraseScorer<'_, F> {
    #[inline]
    fn lm_scores(&mut self, lm: usize) -> (f32, f32) {
        let model = &self.system.models.language_models[lm];
        let phrase = self.words.iter().map(|&word| (self.lm_word)(lm, word));
        let ScoringBuffers { lm_words, isolated_phrase, lm_batch, .. } = &mut *self.buffers;
        lm_words.clear();
        match self.batch_index {
            Some(index) => {
                // The words are needed only if the first one is `<s>`.
                let begins = phrase.clone().next() == Some(model.begin_sentence);
                lm_words.extend(phrase.filter(|_| begins));
                let scores = lm_batch.word_scores(lm, index).map(|s| s.log10);
                isolated_phrase.load_scores(model.begin_sentence, lm_words, scores);
            }
            None => {
                lm_words.extend(phrase);
                isolated_phrase.score(&*model.model, model.begin_sentence, lm_words);
            }
        }
        isolated_phrase.inner_and_full_score(&*model.model, lm_words)
    }

    fn operations_score(&mut self, model: &OperationSequenceModel) -> f32 {
        let OperationInputs { span, source, ref points } = self.operations;
        let models = &self.system.models;
        let source = model.source_words(models, span, || Cow::Borrowed(source));
        let word = |&id: &WordId| model.target_word(models, span.sentence.word(id, models));
        let mut target: Vec<&[u8]> = self.words.iter().map(word).collect();
        let scorer = &mut self.buffers.operation_scorer;
        match *points {
            AlignmentSource::Table(table, alignment) => {
                let points = table.phrases.alignment_points(alignment);
                scorer.score(model, &source, &target, points)
            }
            AlignmentSource::Input(points) => {
                scorer.score(model, &source, &target, points.iter().copied())
            }
            AlignmentSource::UnknownWordPenalty => {
                if model.hides_unknown_words() {
                    target.fill(UNKNOWN_TARGET);
                }
                scorer.score(model, &source, &target, std::iter::empty())
            }
        }
    }
}

impl<F: Fn(usize, WordId) -> LmWord> PhraseScorer<'_, F> {
    /// Returns candidate `index`, with the scores of the features of the phrase added to `total`.
    #[inline]
    fn score(mut self, mut total: f32, index: u32) -> Candidate {
        let mut estimate = 0f32;
        for feature in &self.system.plan.features.phrase {
            feature.add_score(&mut self, &mut total, &mut estimate);
        }
        Candidate { total, future_score: total + estimate, index }
    }
}

impl OptionBuilder {
    /// Begins a batch of language-model scores.
    pub(super) fn start_lm_batch(&mut self, system: &System) {
        self.scoring.lm_batch.reset(system.models.language_models.len());
    }

    /// Whether the batch should be scored before more is added.
    pub(super) fn lm_batch_is_full(&self) -> bool {
        self.scoring.lm_batch.len() >= LM_BATCH_PHRASES
    }

    /// Adds the targets of `record` in `table` to the batch; returns the number of the first one.
    /// [`OptionBuilder::build`] finds them by this number after the batch has been
    /// [scored](OptionBuilder::score_lm_batch).
    pub(super) fn add_to_lm_batch(
        &mut self,
        system: &System,
        table: &PhraseTable,
        record: RecordOffset,
    ) -> Result<u32> {
        let first = self.scoring.lm_batch.len();
        table.phrases.read_targets(record, &mut self.targets)?;
        for i in 0..self.targets.len() {
            let words = self.targets.words(i);
            self.scoring.lm_batch.push_phrase(words.len(), |lm, at| {
                let word = table.target_words[words[at] as usize];
                system.models.language_models[lm].word_ids[word.index()]
            });
        }
        Ok(first)
    }

    /// Scores the batch.
    pub(super) fn score_lm_batch(&mut self, system: &System) {
        self.scoring.lm_batch.score(system.models.language_models.iter().map(|lm| &*lm.model));
    }

    /// Returns the options of `record` in table `number`, whose source is `source`; `batch_start`
    /// is the result of [`OptionBuilder::add_to_lm_batch`], if it was called.
    ///
    /// # Errors
    ///
    /// Fails if the table is damaged.
    pub(super) fn build(
        &mut self,
        system: &System,
        number: usize,
        record: RecordOffset,
        source: SourceSpan<'_>,
        batch_start: Option<u32>,
    ) -> Result<OptionList> {
        let table = &system.models.phrase_tables[number];
        let table_scores = &system.plan.features.phrase_tables[number];
        table.phrases.read_targets(record, &mut self.targets)?;
        self.candidates.clear();
        let source_words = source_words(system, source);
        for i in 0..self.targets.len() {
            self.words.clear();
            let words = self.targets.words(i);
            self.words.extend(words.iter().map(|&w| table.target_words[w as usize]));
            let total = table_scores.score(self.targets.scores(i));
            let points = AlignmentSource::Table(table, self.targets.alignment_id(i));
            let scorer = PhraseScorer {
                system,
                words: &self.words,
                lm_word: |lm: usize, word: WordId| {
                    system.models.language_models[lm].word_ids[word.index()]
                },
                batch_index: batch_start.map(|first| first + i as u32),
                operations: OperationInputs { span: source, source: &source_words, points },
                buffers: &mut self.scoring,
            };
            self.candidates.push(scorer.score(total, i as u32));
        }
        self.prune_candidates(table_scores.limit);
        self.collect_options(system, table, source, batch_start)
    }

    /// Returns the options of `source` that come with its sentence, including unknown words.
    /// `details` has the details of all phrases that come with the sentence.
    ///
    /// # Errors
    ///
    /// Fails if a table of reordering scores is damaged.
    pub(super) fn build_input_options(
        &mut self,
        system: &System,
        source: SourceSpan<'_>,
        phrases: &[InputPhrase],
        details: &[InputPhraseDetails],
        limit: Option<usize>,
    ) -> Result<OptionList> {
        let lm_word = |lm, word| source.sentence.lm_word(word, lm, &system.models);
        let source_words = source_words(system, source);
        self.candidates.clear();
        for (i, phrase) in phrases.iter().enumerate() {
            let points = match details.get(phrase.details as usize) {
                Some(details) if details.source != OptionSource::Markup => {
                    AlignmentSource::Input(&details.alignment)
                }
                _ => AlignmentSource::UnknownWordPenalty,
            };
            let scorer = PhraseScorer {
                system,
                words: &phrase.words,
                lm_word,
                batch_index: None,
                operations: OperationInputs { span: source, source: &source_words, points },
                buffers: &mut self.scoring,
            };
            self.candidates.push(scorer.score(phrase.total, i as u32));
        }
        self.prune_candidates(limit);
        let mut list = OptionList::default();
        for at in 0..self.candidates.len() {
            let candidate = self.candidates[at];
            let phrase = &phrases[candidate.index as usize];
            self.words.clear();
            self.words.extend_from_slice(&phrase.words);
            self.push_option(system, &mut list, candidate, phrase.details, None, lm_word);
            list.target_indices.push(u32::MAX);
        }
        let features = &system.plan.features;
        let width = features.reordering_width();
        list.reordering.resize(self.candidates.len() * width, 0.0);
        if width > 0 {
            for row in list.reordering.chunks_exact_mut(width) {
                features.write_default_reordering(Weighting::Weighted, row);
            }
        }
        self.add_reordering_scores(system, source, &mut list)?;
        Ok(list)
    }

    /// Keeps the `limit` best candidates, best first. Candidates with equal scores stay in input
    /// order.
    fn prune_candidates(&mut self, limit: Option<usize>) {
        fn order(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
            b.future_score.total_cmp(&a.future_score).then(a.index.cmp(&b.index))
        }
        if let Some(limit) = limit
            && self.candidates.len() > limit
        {
            self.candidates.select_nth_unstable_by(limit - 1, order);
            self.candidates.truncate(limit);
        }
        self.candidates.sort_unstable_by(order);
    }

    /// Returns the kept candidates as a list.
    fn collect_options(
        &mut self,
        system: &System,
        table: &PhraseTable,
        source: SourceSpan<'_>,
        batch_start: Option<u32>,
    ) -> Result<OptionList> {
        let features = &system.plan.features;
        let mut list = std::mem::take(&mut self.list_buffer);
        list.clear();
        for at in 0..self.candidates.len() {
            let candidate = self.candidates[at];
            let target = candidate.index as usize;
            self.words.clear();
            let words = self.targets.words(target);
            self.words.extend(words.iter().map(|&w| table.target_words[w as usize]));
            let alignment = self.targets.alignment_id(target);
            let batch_index = batch_start.map(|first| first + candidate.index);
            self.push_option(system, &mut list, candidate, alignment, batch_index, |lm, word| {
                system.models.language_models[lm].word_ids[word.index()]
            });
            list.target_indices.push(candidate.index);
            let row = list.reordering.len();
            list.reordering.resize(row + features.reordering_width(), 0.0);
            let row = &mut list.reordering[row..];
            let weighting = Weighting::Weighted;
            features.write_default_reordering(weighting, row);
            features.write_record_reordering(table, &self.targets, target, weighting, row);
        }
        self.add_reordering_scores(system, source, &mut list)?;
        // A copy has no spare capacity.
        let kept = list.clone();
        self.list_buffer = list;
        Ok(kept)
    }

    /// Adds the scores of reordering models with their own tables.
    fn add_reordering_scores(
        &mut self,
        system: &System,
        source: SourceSpan<'_>,
        list: &mut OptionList,
    ) -> Result<()> {
        let features = &system.plan.features;
        let OptionList { scores, words, reordering, .. } = list;
        let stride = features.reordering_width();
        let rows = OptionRows { count: scores.len(), stride, columns: reordering };
        let (targets, weighting) = (&mut self.reordering_targets, Weighting::Weighted);
        features.write_table_reordering(
            &system.models,
            source,
            |option| {
                let OptionScores { first_word: first, num_words: len, .. } = scores[option];
                &words[first as usize..(first + len) as usize]
            },
            weighting,
            targets,
            rows,
        )
    }

    /// Appends the option of `self.words` without reordering scores; `batch_index` is its
    /// number in the batch of language-model scores, if it is there.
    fn push_option(
        &mut self,
        system: &System,
        list: &mut OptionList,
        candidate: Candidate,
        alignment: u32,
        batch_index: Option<u32>,
        lm_word: impl Fn(usize, WordId) -> LmWord,
    ) {
        list.scores.push(OptionScores {
            total: candidate.total,
            future_score: candidate.future_score,
            first_word: list.words.len() as u32,
            num_words: self.words.len() as u32,
        });
        list.words.extend_from_slice(&self.words);
        list.alignments.push(alignment);
        let ScoringBuffers { lm_words, isolated_phrase, lm_batch, .. } = &mut self.scoring;
        for (lm, model) in system.models.language_models.iter().enumerate() {
            lm_words.clear();
            lm_words.extend(self.words.iter().map(|&w| lm_word(lm, w)));
            let begin = model.begin_sentence;
            match batch_index {
                Some(index) => {
                    let scored = lm_batch.word_scores(lm, index);
                    isolated_phrase.load_scored(&*model.model, begin, lm_words, scored);
                }
                None => isolated_phrase.score(&*model.model, begin, lm_words),
            }
            let order = model.model.order();
            list.lm_phrases.push(isolated_phrase.to_lm_phrase(order, lm_words, &mut list.lm_pool));
        }
    }
}
