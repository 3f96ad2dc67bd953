//! Scoring and cutting the options of one source phrase (`phrase-decoding.md`
//! 3.4): everything in f32, one addition after another, in the order of the
//! features.

use miriam_lmcpu::LmWord;
use miriam_probingpt::{RecordOffset, Targets};
use miriam_textio::WordId;

use super::forced_options::InputPhraseDetails;
use super::lm_batch::LmBatch;
use super::lm_phrase::IsolatedPhrase;
use super::{OptionList, OptionScores};
use crate::Result;
use crate::features::{IsolatedOperationScorer, UNKNOWN_TARGET};
use crate::sentence::{Sentence, SourceSpan};
use crate::system::{PhraseFeature, PhraseTable, System};

/// A phrase that comes with the sentence.
pub(crate) struct InputPhrase {
    /// The weighted scores that it brings along.
    pub(crate) total: f32,
    /// Its words.
    pub(crate) words: Vec<WordId>,
    /// The number of its other parts among those of the sentence, or
    /// [`OwnPhrase::COPIED`].
    pub(crate) details: u32,
}

impl InputPhrase {
    /// Instead of a part: the phrase is a word that is copied.
    pub(crate) const COPIED: u32 = u32::MAX;
}

/// Buffers for preparing options, reused.
#[derive(Default)]
pub(crate) struct OptionBuilder {
    pub(super) targets: Targets,
    words: Vec<WordId>,
    pub(super) lm_words: Vec<LmWord>,
    pub(super) isolated_phrase: IsolatedPhrase,
    /// Total, future and input position of each candidate.
    candidates: Vec<(f32, f32, u32)>,
    pub(super) reordering_targets: Targets,
    operation_scorer: IsolatedOperationScorer,
    lm_batch: LmBatch,
    /// Where a list is made.
    list_buffer: OptionList,
}

/// What an operation model looks at beside the target words; left empty where no
/// model asks for it.
struct OperationInputs<'a> {
    sentence: &'a Sentence,
    source: &'a [&'a [u8]],
    points: AlignmentSource<'a>,
}

/// Where the alignment of a phrase is.
enum AlignmentSource<'a> {
    /// In its table, under a number.
    Table(&'a PhraseTable, u32),
    /// Here: the phrase comes with the sentence.
    Input(&'a [(u16, u16)]),
    /// Nowhere: it is a copied word.
    Copied,
}

/// The words of `source` as operation models see them; none where there are no such
/// models.
fn source_words<'a>(system: &'a System, source: SourceSpan<'a>) -> Vec<&'a [u8]> {
    match system.operation_models.is_empty() {
        true => Vec::new(),
        false => source.surfaces(system),
    }
}

impl OptionBuilder {
    /// Forgets what was asked ahead.
    pub(crate) fn start_lm_batch(&mut self, system: &System) {
        self.lm_batch.reset(system);
    }

    /// Asks what the language models make of the targets of `record` in `table`; the
    /// number by which [`Preparer::prepare`] finds it once it is
    /// [answered](Preparer::answer).
    pub(crate) fn add_to_lm_batch(
        &mut self,
        system: &System,
        table: &PhraseTable,
        record: RecordOffset,
    ) -> Result<u32> {
        let first = self.lm_batch.len();
        table.phrases.read_targets(record, &mut self.targets)?;
        for i in 0..self.targets.len() {
            let words = self.targets.words(i);
            self.lm_batch.push_phrase(words.len(), |lm, at| {
                let word = table.target_words[words[at] as usize];
                system.language_models[lm].word_ids[word.index()]
            });
        }
        Ok(first)
    }

    /// Answers what was asked.
    pub(crate) fn score_lm_batch(&mut self, system: &System) {
        self.lm_batch.score(system);
    }

    /// The options of `record` in `table`, whose source is `source`; `asked` is what
    /// [`Preparer::ask`] gave, where it was asked.
    pub(crate) fn build(
        &mut self,
        system: &System,
        table: &PhraseTable,
        record: RecordOffset,
        source: SourceSpan<'_>,
        batch_start: Option<u32>,
    ) -> Result<OptionList> {
        table.phrases.read_targets(record, &mut self.targets)?;
        self.candidates.clear();
        let source_words = source_words(system, source);
        for i in 0..self.targets.len() {
            self.words.clear();
            let words = self.targets.words(i);
            self.words.extend(words.iter().map(|&w| table.target_words[w as usize]));
            let mut total = 0f32;
            for (score, weight) in self.targets.scores(i).iter().zip(&table.weights) {
                total += score * weight;
            }
            let points = AlignmentSource::Table(table, self.targets.alignment_id(i));
            let links =
                OperationInputs { sentence: source.sentence, source: &source_words, points };
            let batch_index = batch_start.map(|first| first + i as u32);
            let lm_word =
                |lm: usize, word: WordId| system.language_models[lm].word_ids[word.index()];
            let (total, future) =
                self.score_phrase_features(system, total, links, batch_index, lm_word);
            self.candidates.push((total, future, i as u32));
        }
        self.prune_candidates(table.table_limit);
        self.collect_options(system, table, source, batch_start)
    }

    /// The options of `source` that come with its sentence, unknown words among
    /// them. `parts` are the other parts of all such phrases of the sentence.
    pub(crate) fn build_input_options(
        &mut self,
        system: &System,
        source: SourceSpan<'_>,
        phrases: &[InputPhrase],
        parts: &[InputPhraseDetails],
        limit: Option<usize>,
    ) -> Result<OptionList> {
        let lm_word = |lm, word| source.sentence.lm_word(word, lm, system);
        let source_words = source_words(system, source);
        self.candidates.clear();
        for (i, phrase) in phrases.iter().enumerate() {
            self.words.clear();
            self.words.extend_from_slice(&phrase.words);
            let points = match parts.get(phrase.details as usize) {
                Some(part) => AlignmentSource::Input(&part.alignment),
                None => AlignmentSource::Copied,
            };
            let links =
                OperationInputs { sentence: source.sentence, source: &source_words, points };
            let (total, future) =
                self.score_phrase_features(system, phrase.total, links, None, lm_word);
            self.candidates.push((total, future, i as u32));
        }
        self.prune_candidates(limit);
        let mut list = OptionList::default();
        for at in 0..self.candidates.len() {
            let (total, future, i) = self.candidates[at];
            let phrase = &phrases[i as usize];
            self.words.clear();
            self.words.extend_from_slice(&phrase.words);
            let scores = (total, future);
            self.push_option(system, &mut list, scores, phrase.details, None, lm_word);
            list.target_indices.push(u32::MAX);
        }
        list.reordering.resize(self.candidates.len() * system.reordering_width, 0.0);
        self.add_reordering_scores(system, source, &mut list)?;
        Ok(list)
    }

    /// Adds the features of the phrase alone to `total`: the total, and the
    /// total with the language models' estimates.
    fn score_phrase_features(
        &mut self,
        system: &System,
        mut total: f32,
        links: OperationInputs<'_>,
        batch_index: Option<u32>,
        lm_word: impl Fn(usize, WordId) -> LmWord,
    ) -> (f32, f32) {
        let mut estimate = 0f32;
        for feature in &system.phrase_features {
            match *feature {
                PhraseFeature::WordPenalty(weight) => total += -(self.words.len() as f32) * weight,
                PhraseFeature::PhrasePenalty(weight) => total += 1.0 * weight,
                PhraseFeature::LanguageModel(lm) => {
                    let model = &system.language_models[lm];
                    let phrase = self.words.iter().map(|&w| lm_word(lm, w));
                    self.lm_words.clear();
                    match batch_index {
                        Some(asked) => {
                            // Words are asked for only where the first is `<s>`.
                            let begins = phrase.clone().next() == Some(model.begin_sentence);
                            self.lm_words.extend(phrase.filter(|_| begins));
                            let scores = self.lm_batch.word_scores(lm, asked).map(|s| s.log10);
                            self.isolated_phrase.load_scores(
                                model.begin_sentence,
                                &self.lm_words,
                                scores,
                            );
                        }
                        None => {
                            self.lm_words.extend(phrase);
                            self.isolated_phrase.score(
                                &*model.model,
                                model.begin_sentence,
                                &self.lm_words,
                            );
                        }
                    }
                    let (inner, full) =
                        self.isolated_phrase.inner_and_full_score(&*model.model, &self.lm_words);
                    total += inner * model.weight;
                    estimate += (full - inner) * model.weight;
                }
                PhraseFeature::OovCount { model, weight } => {
                    let unknown = |&&word: &&WordId| lm_word(model, word) == LmWord::UNKNOWN;
                    total += self.words.iter().filter(unknown).count() as f32 * weight;
                }
                PhraseFeature::OperationSequenceModel(model) => {
                    estimate += self.score_operations(system, model, &links);
                }
            }
        }
        (total, total + estimate)
    }

    /// What the operation model `model` makes of the phrase alone.
    fn score_operations(
        &mut self,
        system: &System,
        model: usize,
        links: &OperationInputs<'_>,
    ) -> f32 {
        let model = &system.operation_models[model];
        let OperationInputs { sentence, source, ref points } = *links;
        let surface = |&word: &WordId| system.surface(sentence.word(word, system));
        let mut target: Vec<&[u8]> = self.words.iter().map(surface).collect();
        match *points {
            AlignmentSource::Table(table, alignment) => {
                let points = table.phrases.alignment_points(alignment);
                self.operation_scorer.score(model, source, &target, points)
            }
            AlignmentSource::Input(points) => {
                self.operation_scorer.score(model, source, &target, points.iter().copied())
            }
            AlignmentSource::Copied => {
                target.fill(UNKNOWN_TARGET);
                self.operation_scorer.score(model, source, &target, std::iter::empty())
            }
        }
    }

    /// Keeps the `limit` best candidates, best first; equal ones in input order.
    fn prune_candidates(&mut self, limit: Option<usize>) {
        let order =
            |a: &(f32, f32, u32), b: &(f32, f32, u32)| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2));
        if let Some(limit) = limit
            && self.candidates.len() > limit
        {
            self.candidates.select_nth_unstable_by(limit - 1, order);
            self.candidates.truncate(limit);
        }
        self.candidates.sort_unstable_by(order);
    }

    /// The kept candidates as a list.
    fn collect_options(
        &mut self,
        system: &System,
        table: &PhraseTable,
        source: SourceSpan<'_>,
        batch_start: Option<u32>,
    ) -> Result<OptionList> {
        let mut list = std::mem::take(&mut self.list_buffer);
        list.clear();
        for at in 0..self.candidates.len() {
            let (total, future, i) = self.candidates[at];
            self.words.clear();
            let words = self.targets.words(i as usize);
            self.words.extend(words.iter().map(|&w| table.target_words[w as usize]));
            let alignment = self.targets.alignment_id(i as usize);
            let scores = (total, future);
            let batch_index = batch_start.map(|first| first + i);
            self.push_option(system, &mut list, scores, alignment, batch_index, |lm, word| {
                system.language_models[lm].word_ids[word.index()]
            });
            list.target_indices.push(i);
            for model in &system.reordering_models {
                let row = list.reordering.len();
                list.reordering.resize(row + model.columns.len(), 0.0);
                if let Some(offset) = model.phrase_table_offset {
                    let scores = table.phrases.reordering_scores(&self.targets, i as usize);
                    if let Some(scores) = scores {
                        model.write_weighted(&scores[offset..], &mut list.reordering[row..]);
                    }
                }
            }
        }
        self.add_reordering_scores(system, source, &mut list)?;
        // A copy has no room to spare.
        let kept = list.clone();
        self.list_buffer = list;
        Ok(kept)
    }

    /// The scores of reordering models that have tables of their own.
    fn add_reordering_scores(
        &mut self,
        system: &System,
        source: SourceSpan<'_>,
        list: &mut OptionList,
    ) -> Result<()> {
        let mut first = 0;
        for model in &system.reordering_models {
            if let Some(own) = &model.own_table {
                let OptionList { scores, words, reordering, .. } = &mut *list;
                let words = |option: usize| {
                    let OptionScores { first_word: first, num_words: len, .. } = scores[option];
                    &words[first as usize..(first + len) as usize]
                };
                let targets = &mut self.reordering_targets;
                own.for_each_match(
                    source,
                    system,
                    targets,
                    scores.len(),
                    words,
                    |scores, option| {
                        let row = option * system.reordering_width + first;
                        model.write_weighted(
                            scores,
                            &mut reordering[row..row + model.columns.len()],
                        );
                    },
                )?;
            }
            first += model.columns.len();
        }
        Ok(())
    }

    /// Appends the option of `self.words` without reordering scores; `asked` is its number
    /// among the phrases that were asked ahead, if it was.
    fn push_option(
        &mut self,
        system: &System,
        list: &mut OptionList,
        (total, future): (f32, f32),
        alignment: u32,
        batch_index: Option<u32>,
        lm_word: impl Fn(usize, WordId) -> LmWord,
    ) {
        list.scores.push(OptionScores {
            total,
            future_score: future,
            first_word: list.words.len() as u32,
            num_words: self.words.len() as u32,
        });
        list.words.extend_from_slice(&self.words);
        list.alignments.push(alignment);
        for (lm, model) in system.language_models.iter().enumerate() {
            self.lm_words.clear();
            self.lm_words.extend(self.words.iter().map(|&w| lm_word(lm, w)));
            match batch_index {
                Some(phrase) => {
                    let scored = self.lm_batch.word_scores(lm, phrase);
                    self.isolated_phrase.load_scored(
                        &*model.model,
                        model.begin_sentence,
                        &self.lm_words,
                        scored,
                    );
                }
                None => {
                    self.isolated_phrase.score(&*model.model, model.begin_sentence, &self.lm_words)
                }
            }
            let part = self.isolated_phrase.to_lm_phrase(
                model.model.order(),
                &self.lm_words,
                &mut list.lm_pool,
            );
            list.lm_phrases.push(part);
        }
    }
}
