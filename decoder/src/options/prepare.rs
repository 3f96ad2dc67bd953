//! Scoring and cutting the options of one source phrase (`phrase-decoding.md`
//! 3.4): everything in f32, one addition after another, in the order of the
//! features.

use miriam_lmcpu::LmWord;
use miriam_probingpt::{Record, Targets};
use miriam_textio::WordId;

use super::asked_ahead::AskedAhead;
use super::language_model_part::Isolated;
use super::own_options::OwnPart;
use super::{OptionList, OptionScores};
use crate::Result;
use crate::features::{IsolatedOperations, UNKNOWN_TARGET};
use crate::sentence::{Sentence, Stretch};
use crate::system::{PhraseFeature, System, Table};

/// A phrase that comes with the sentence.
pub(crate) struct OwnPhrase {
    /// The weighted scores that it brings along.
    pub(crate) total: f32,
    /// Its words.
    pub(crate) words: Vec<WordId>,
    /// The number of its other parts among those of the sentence, or
    /// [`OwnPhrase::COPIED`].
    pub(crate) part: u32,
}

impl OwnPhrase {
    /// Instead of a part: the phrase is a word that is copied.
    pub(crate) const COPIED: u32 = u32::MAX;
}

/// Buffers for preparing options, reused.
#[derive(Default)]
pub(crate) struct Preparer {
    pub(super) targets: Targets,
    words: Vec<WordId>,
    pub(super) lm_words: Vec<LmWord>,
    pub(super) isolated: Isolated,
    /// Total, future and input position of each candidate.
    candidates: Vec<(f32, f32, u32)>,
    pub(super) reordering_targets: Targets,
    operations: IsolatedOperations,
    asked: AskedAhead,
    /// Where a list is made.
    list: OptionList,
}

/// What an operation model looks at beside the target words; left empty where no
/// model asks for it.
struct Links<'a> {
    sentence: &'a Sentence,
    source: &'a [&'a [u8]],
    points: Points<'a>,
}

/// Where the alignment of a phrase is.
enum Points<'a> {
    /// In its table, under a number.
    Table(&'a Table, u32),
    /// Here: the phrase comes with the sentence.
    Own(&'a [(u16, u16)]),
    /// Nowhere: it is a copied word.
    Copied,
}

/// The words of `source` as operation models see them; none where there are no such
/// models.
fn source_words<'a>(system: &'a System, source: Stretch<'a>) -> Vec<&'a [u8]> {
    match system.operations.is_empty() {
        true => Vec::new(),
        false => source.surfaces(system),
    }
}

impl Preparer {
    /// Forgets what was asked ahead.
    pub(crate) fn start_asking(&mut self, system: &System) {
        self.asked.start(system);
    }

    /// Asks what the language models make of the targets of `record` in `table`; the
    /// number by which [`Preparer::prepare`] finds it once it is
    /// [answered](Preparer::answer).
    pub(crate) fn ask(&mut self, system: &System, table: &Table, record: Record) -> Result<u32> {
        let first = self.asked.len();
        table.phrases.targets(record, &mut self.targets)?;
        for i in 0..self.targets.len() {
            let words = self.targets.words(i);
            self.asked.push(words.len(), |lm, at| {
                let word = table.target_words[words[at] as usize];
                system.language_models[lm].words[word.index()]
            });
        }
        Ok(first)
    }

    /// Answers what was asked.
    pub(crate) fn answer(&mut self, system: &System) {
        self.asked.answer(system);
    }

    /// The options of `record` in `table`, whose source is `source`; `asked` is what
    /// [`Preparer::ask`] gave, where it was asked.
    pub(crate) fn prepare(
        &mut self,
        system: &System,
        table: &Table,
        record: Record,
        source: Stretch<'_>,
        asked: Option<u32>,
    ) -> Result<OptionList> {
        table.phrases.targets(record, &mut self.targets)?;
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
            let points = Points::Table(table, self.targets.alignment(i));
            let links = Links { sentence: source.sentence, source: &source_words, points };
            let asked = asked.map(|first| first + i as u32);
            let lm_word = |lm: usize, word: WordId| system.language_models[lm].words[word.index()];
            let (total, future) = self.phrase_features(system, total, links, asked, lm_word);
            self.candidates.push((total, future, i as u32));
        }
        self.cut(table.limit);
        self.collect(system, table, source, asked)
    }

    /// The options of `source` that come with its sentence, unknown words among
    /// them. `parts` are the other parts of all such phrases of the sentence.
    pub(crate) fn own(
        &mut self,
        system: &System,
        source: Stretch<'_>,
        phrases: &[OwnPhrase],
        parts: &[OwnPart],
        limit: Option<usize>,
    ) -> Result<OptionList> {
        let lm_word = |lm, word| source.sentence.lm_word(word, lm, system);
        let source_words = source_words(system, source);
        self.candidates.clear();
        for (i, phrase) in phrases.iter().enumerate() {
            self.words.clear();
            self.words.extend_from_slice(&phrase.words);
            let points = match parts.get(phrase.part as usize) {
                Some(part) => Points::Own(&part.alignment),
                None => Points::Copied,
            };
            let links = Links { sentence: source.sentence, source: &source_words, points };
            let (total, future) = self.phrase_features(system, phrase.total, links, None, lm_word);
            self.candidates.push((total, future, i as u32));
        }
        self.cut(limit);
        let mut list = OptionList::default();
        for at in 0..self.candidates.len() {
            let (total, future, i) = self.candidates[at];
            let phrase = &phrases[i as usize];
            self.words.clear();
            self.words.extend_from_slice(&phrase.words);
            let scores = (total, future);
            self.push_option(system, &mut list, scores, phrase.part, None, lm_word);
            list.targets.push(u32::MAX);
        }
        list.reordering.resize(self.candidates.len() * system.reordering_width, 0.0);
        self.attach_reordering(system, source, &mut list)?;
        Ok(list)
    }

    /// Adds the features of the phrase alone to `total`: the total, and the
    /// total with the language models' estimates.
    fn phrase_features(
        &mut self,
        system: &System,
        mut total: f32,
        links: Links<'_>,
        asked: Option<u32>,
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
                    match asked {
                        Some(asked) => {
                            // Words are asked for only where the first is `<s>`.
                            let begins = phrase.clone().next() == Some(model.begin);
                            self.lm_words.extend(phrase.filter(|_| begins));
                            let scores = self.asked.scored(lm, asked).map(|s| s.log10);
                            self.isolated.take_scores(model.begin, &self.lm_words, scores);
                        }
                        None => {
                            self.lm_words.extend(phrase);
                            self.isolated.run(&*model.model, model.begin, &self.lm_words);
                        }
                    }
                    let (inner, full) = self.isolated.sums(&*model.model, &self.lm_words);
                    total += inner * model.weight;
                    estimate += (full - inner) * model.weight;
                }
                PhraseFeature::UnknownToModel { model, weight } => {
                    let unknown = |&&word: &&WordId| lm_word(model, word) == LmWord::UNKNOWN;
                    total += self.words.iter().filter(unknown).count() as f32 * weight;
                }
                PhraseFeature::Operations(model) => {
                    estimate += self.isolated_operations(system, model, &links);
                }
            }
        }
        (total, total + estimate)
    }

    /// What the operation model `model` makes of the phrase alone.
    fn isolated_operations(&mut self, system: &System, model: usize, links: &Links<'_>) -> f32 {
        let model = &system.operations[model];
        let Links { sentence, source, ref points } = *links;
        let surface = |&word: &WordId| system.surface(sentence.word(word, system));
        let mut target: Vec<&[u8]> = self.words.iter().map(surface).collect();
        match *points {
            Points::Table(table, alignment) => {
                let points = table.phrases.alignment_points(alignment);
                self.operations.score(model, source, &target, points)
            }
            Points::Own(points) => {
                self.operations.score(model, source, &target, points.iter().copied())
            }
            Points::Copied => {
                target.fill(UNKNOWN_TARGET);
                self.operations.score(model, source, &target, std::iter::empty())
            }
        }
    }

    /// Keeps the `limit` best candidates, best first; equal ones in input order.
    fn cut(&mut self, limit: Option<usize>) {
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
    fn collect(
        &mut self,
        system: &System,
        table: &Table,
        source: Stretch<'_>,
        asked: Option<u32>,
    ) -> Result<OptionList> {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        for at in 0..self.candidates.len() {
            let (total, future, i) = self.candidates[at];
            self.words.clear();
            let words = self.targets.words(i as usize);
            self.words.extend(words.iter().map(|&w| table.target_words[w as usize]));
            let alignment = self.targets.alignment(i as usize);
            let scores = (total, future);
            let asked = asked.map(|first| first + i);
            self.push_option(system, &mut list, scores, alignment, asked, |lm, word| {
                system.language_models[lm].words[word.index()]
            });
            list.targets.push(i);
            for model in &system.reordering {
                let row = list.reordering.len();
                list.reordering.resize(row + model.cells.len(), 0.0);
                if let Some(offset) = model.in_phrase_table {
                    let scores = table.phrases.reordering_scores(&self.targets, i as usize);
                    if let Some(scores) = scores {
                        model.weigh(&scores[offset..], &mut list.reordering[row..]);
                    }
                }
            }
        }
        self.attach_reordering(system, source, &mut list)?;
        // A copy has no room to spare.
        let kept = list.clone();
        self.list = list;
        Ok(kept)
    }

    /// The scores of reordering models that have tables of their own.
    fn attach_reordering(
        &mut self,
        system: &System,
        source: Stretch<'_>,
        list: &mut OptionList,
    ) -> Result<()> {
        let mut first = 0;
        for model in &system.reordering {
            if let Some(own) = &model.own_table {
                let OptionList { scores, words, reordering, .. } = &mut *list;
                let words = |option: usize| {
                    let OptionScores { words: first, len, .. } = scores[option];
                    &words[first as usize..(first + len) as usize]
                };
                let targets = &mut self.reordering_targets;
                own.attach(source, system, targets, scores.len(), words, |scores, option| {
                    let row = option * system.reordering_width + first;
                    model.weigh(scores, &mut reordering[row..row + model.cells.len()]);
                })?;
            }
            first += model.cells.len();
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
        asked: Option<u32>,
        lm_word: impl Fn(usize, WordId) -> LmWord,
    ) {
        list.scores.push(OptionScores {
            total,
            future,
            words: list.words.len() as u32,
            len: self.words.len() as u32,
        });
        list.words.extend_from_slice(&self.words);
        list.alignments.push(alignment);
        for (lm, model) in system.language_models.iter().enumerate() {
            self.lm_words.clear();
            self.lm_words.extend(self.words.iter().map(|&w| lm_word(lm, w)));
            match asked {
                Some(phrase) => {
                    let scored = self.asked.scored(lm, phrase);
                    self.isolated.take(&*model.model, model.begin, &self.lm_words, scored);
                }
                None => self.isolated.run(&*model.model, model.begin, &self.lm_words),
            }
            let part = self.isolated.part(model.model.order(), &self.lm_words, &mut list.lm_pool);
            list.lm_parts.push(part);
        }
    }
}
