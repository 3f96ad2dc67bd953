//! Devlin's study (2017, table 1): a recurrent model, sentence by sentence on one thread, as
//! one shortcut after another is taken.
//!
//! As his, the baseline has candidate lists, stops early and multiplies the hypotheses of a
//! beam together. Sentences are real text: a word is its rank in the text, so lengths and
//! frequencies are as they are. Targets are made up. `</s>` is as improbable as any
//! other word of a random model, so translations are as long as their sources.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::random::Numbers;
use crate::architecture::{Stacked, Tables, Top};
use crate::batch::{Batching, Job, run};
use crate::engine::Precision;
use crate::layer::Squash;
use crate::layer::recurrent::Shortcuts;
use crate::network::{Best, Network, Row, Session, Slot};
use crate::search::{Request, Rules, SearchOptions, Translation};
use crate::{Error, Result};

/// The first ids are `</s>` and the unknown word.
const FIRST: u32 = 2;

/// Candidates of each source word (Devlin 2017, section 3), and words that all have.
const CANDIDATES: usize = 20;
const FREQUENT: u32 = 100;

/// His beam.
const BEAM: usize = 6;

/// Names of the shapes of his table 2: layers above the attentional GRU of 1,024, and
/// their top.
pub const SHAPES: [&str; 6] = ["s1", "s2", "s3", "s4", "s5", "s6"];

/// The shape of that name over vocabularies of `words`, if there is one.
pub fn shape(name: &str, words: usize) -> Option<Stacked> {
    let (depth, top) = match name {
        "s1" => (0, Top::None),
        "s2" => (0, Top::Gru(1024)),
        "s3" => (3, Top::Tanh(1024)),
        "s4" => (7, Top::Tanh(1024)),
        "s5" => (7, Top::Gru(1024)),
        "s6" => (15, Top::Tanh(1024)),
        _ => return None,
    };
    let tables = Tables {
        source_words: words,
        target_words: words,
        embedding: 512,
        shared_embeddings: false,
        tied_output: false,
        output_bias: true,
        right_to_left: false,
        never: Vec::new(),
    };
    Some(Stacked {
        tables,
        encoder_depth: 3,
        encoder_state: 512,
        state: 1024,
        attention: 1024,
        depth,
        width: 768,
        top,
    })
}

/// What a measurement is taken with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// What it adds to the ones before, in words.
    pub name: &'static str,
    /// The numbers of products.
    pub precision: Precision,
    /// The others.
    pub shortcuts: Shortcuts,
}

impl Setting {
    /// The rows of his table, each with what those before have.
    pub fn cumulative() -> Vec<Setting> {
        let mut settings = vec![Setting {
            name: "baseline",
            precision: Precision::F32,
            shortcuts: Shortcuts::NONE,
        }];
        let mut add = |name, change: fn(&mut Setting)| {
            let mut setting = *settings.last().expect("the baseline");
            setting.name = name;
            change(&mut setting);
            settings.push(setting);
        };
        add("+ 16 bits", |setting| setting.precision = Precision::I16);
        add("+ words ahead", |setting| setting.shortcuts.words = Shortcuts::default().words);
        add("+ context ahead", |setting| setting.shortcuts.context = true);
        add("+ vector functions", |setting| setting.shortcuts.squash = Squash::Vector);
        add("+ merged states", |setting| setting.shortcuts.parents = true);
        add("tables for functions", |setting| setting.shortcuts.squash = Squash::Table);
        add("8 bits for 16", |setting| {
            setting.precision = Precision::I8;
            setting.shortcuts.squash = Squash::Vector;
        });
        settings
    }

    /// The baseline, and it with one shortcut each.
    pub fn alone() -> Vec<Setting> {
        let none = Shortcuts::NONE;
        let words = Shortcuts { words: Shortcuts::default().words, ..none };
        [
            ("baseline", Precision::F32, none),
            ("16 bits", Precision::I16, none),
            ("8 bits", Precision::I8, none),
            ("words ahead", Precision::F32, words),
            ("context ahead", Precision::F32, Shortcuts { context: true, ..none }),
            ("vector functions", Precision::F32, Shortcuts { squash: Squash::Vector, ..none }),
            ("tables for functions", Precision::F32, Shortcuts { squash: Squash::Table, ..none }),
            ("merged states", Precision::F32, Shortcuts { parents: true, ..none }),
        ]
        .map(|(name, precision, shortcuts)| Setting { name, precision, shortcuts })
        .to_vec()
    }
}

/// Sentences to translate, and the words that each may become.
pub struct Workload {
    requests: Vec<Request>,
}

/// What came of a pass.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The best translation of each sentence.
    pub translations: Vec<Vec<u32>>,
    /// Words put out, of the best translations.
    pub words: usize,
    /// Rows of all steps, and how many of them had a parent that no row before them had.
    pub rows: usize,
    /// See `rows`.
    pub parents: usize,
}

impl Workload {
    /// The first `sentences` lines of text that have words, for vocabularies of `words`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the text has no words.
    pub fn new(text: &[u8], sentences: usize, words: usize, path: &Path) -> Result<Self> {
        let tokens = |line: &'_ [u8]| -> Vec<Vec<u8>> {
            let tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
            tokens.map(<[u8]>::to_vec).collect()
        };
        let lines: Vec<Vec<Vec<u8>>> = text.split(|&byte| byte == b'\n').map(tokens).collect();
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        lines.iter().flatten().for_each(|token| *counts.entry(token).or_default() += 1);
        let mut ranks: Vec<(&[u8], usize)> = counts.into_iter().collect();
        ranks.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let last = (words as u32).saturating_sub(FIRST + 1);
        let ids: HashMap<&[u8], u32> = (0u32..)
            .zip(&ranks)
            .map(|(rank, (token, _))| (*token, FIRST + rank.min(last)))
            .collect();
        let request = |line: &Vec<Vec<u8>>| {
            let mut source: Vec<u32> = line.iter().map(|token| ids[&token[..]]).collect();
            source.push(0);
            let candidates = Some(candidates(&source, words));
            Request { source, candidates, ..Request::default() }
        };
        let lines = lines.iter().filter(|line| !line.is_empty()).take(sentences);
        let requests: Vec<Request> = lines.map(request).collect();
        if requests.is_empty() {
            return Err(Error::unsupported(path, "there is no line with words in it"));
        }
        Ok(Workload { requests })
    }

    /// Sentences.
    pub fn sentences(&self) -> usize {
        self.requests.len()
    }

    /// The mean number of words that a sentence may become.
    pub fn candidates(&self) -> f64 {
        let lists = self.requests.iter().filter_map(|request| request.candidates.as_ref());
        lists.map(Vec::len).sum::<usize>() as f64 / self.sentences() as f64
    }

    /// Translates all sentences, one after the other, on this thread.
    ///
    /// # Errors
    /// What translating gives.
    pub fn translate(&self, network: &Arc<Network>) -> Result<Outcome> {
        let options = options();
        let mut session = Counting { inner: network.session(), rows: 0, parents: 0 };
        let mut rest = self.requests.iter().enumerate();
        let mut translations = vec![Vec::new(); self.sentences()];
        let mut next = || {
            let job =
                |(id, request): (usize, &Request)| Job { id: id as u64, request: request.clone() };
            Ok(rest.next().map(|next| vec![job(next)]))
        };
        let mut done = |id: u64, found: Result<Vec<Translation>>| {
            if let Some(best) = found?.into_iter().next() {
                translations[id as usize] = best.words;
            }
            Ok(())
        };
        run(&mut session, &options, &Batching::default(), &mut next, &mut done)?;
        let (rows, parents) = (session.rows, session.parents);
        let words = translations.iter().map(Vec::len).sum();
        Ok(Outcome { translations, words, rows, parents })
    }
}

/// Twenty words for each word of the source, frequent ones more often, and the most frequent
/// of all.
fn candidates(source: &[u32], words: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..FREQUENT.min(words as u32)).collect();
    for &word in source {
        let mut numbers = Numbers::new(u64::from(word));
        let drawn = (0..CANDIDATES).map(|_| (words as f32).powf(numbers.share()) as u32);
        all.extend(drawn.map(|word| word.min(words as u32 - 1)));
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn options() -> SearchOptions {
    SearchOptions {
        beam: BEAM,
        n_best: 1,
        length_penalty: 0.0,
        word_penalty: 0.0,
        coverage_penalty: 0.0,
        max_length_factor: 1.0,
        max_length: 1000,
        min_length: 0,
        rules: Rules::Marian,
        patience: 1.0,
        early_stop: Some(3.0),
        no_repeat_ngram: 0,
        repetition_penalty: 1.0,
        never: vec![1],
        end: 0,
        sampling: None,
        alignments: false,
        skip_cost: false,
    }
}

/// A session that counts rows and their parents.
struct Counting<S> {
    inner: S,
    rows: usize,
    parents: usize,
}

impl<S: Session> Session for Counting<S> {
    fn words(&self) -> usize {
        self.inner.words()
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.inner.begin(sentences, candidates)
    }

    fn finish(&mut self, slot: Slot) {
        self.inner.finish(slot);
    }

    fn step(&mut self, rows: &[Row]) {
        self.rows += rows.len();
        let repeats = |row: &usize| rows[..*row].iter().any(|r| r.parent == rows[*row].parent);
        self.parents += (0..rows.len()).filter(|row| !repeats(row)).count();
        self.inner.step(rows);
    }

    fn best(&mut self, best: &mut [Best]) {
        self.inner.best(best);
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        self.inner.logits(wanted, logits);
    }

    fn outputs(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>) {
        self.inner.outputs(rows, logits, normalisers);
    }

    fn distribution(&mut self, row: u32, scores: &mut Vec<f32>) {
        self.inner.distribution(row, scores);
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.inner.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.inner.alignment(row)
    }
}
