//! Settings and sentences of Devlin's study (2017): recurrent models that translate sentence by
//! sentence on one thread, with one speedup after another or with all.
//!
//! The baseline here, like Devlin's, has shortlists, stops early and computes the hypotheses of a
//! beam in one GEMM. Source sentences come from real text, and the id of a word is its frequency
//! rank, so that lengths and frequencies are realistic. Shortlists are random. In a random model
//! EOS is as improbable as any other token, so translations reach the length limit: the length of
//! their sources.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use miriam_nmt::Result as NmtResult;
use miriam_nmt::batch::BatchingOptions;
use miriam_nmt::engine::Precision;
use miriam_nmt::layer::ActivationImpl;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::{HypothesisRow, Session, Slot, TopK};
use miriam_nmt::search::{Request, SearchOptions};
use serde::{Deserialize, Serialize};

use super::super::random_candidates::draw_candidates;
use super::super::{FIRST_TOKEN, translate_requests};
use crate::error::{Error, Result};
use crate::input;

/// The number of candidates for each source token (Devlin 2017, section 3).
const CANDIDATES_PER_TOKEN: usize = 20;

/// The ids of special tokens in random models.
const EOS_ID: u32 = 0;
const UNK_ID: u32 = 1;

/// Devlin's beam size.
const BEAM_SIZE: usize = 6;

/// A model precision with a set of speedups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AblationSetting {
    /// The name in tables, which says what the setting adds.
    pub name: &'static str,
    /// The precision of GEMM.
    pub precision: Precision,
    /// The other speedups.
    pub speedups: Speedups,
}

impl AblationSetting {
    /// Returns the settings of Devlin's table 1, each with the speedups of those before it; then
    /// two variants of the last one: function tables, and 8 bits.
    pub fn cumulative() -> Vec<AblationSetting> {
        let mut settings = vec![AblationSetting {
            name: "baseline",
            precision: Precision::F32,
            speedups: Speedups::NONE,
        }];
        let mut add = |name, change: fn(&mut AblationSetting)| {
            let mut setting = *settings.last().expect("the baseline");
            setting.name = name;
            change(&mut setting);
            settings.push(setting);
        };
        add("+ 16 bits", |setting| setting.precision = Precision::I16);
        add("+ cached tokens", |setting| {
            setting.speedups.cached_tokens = Speedups::default().cached_tokens
        });
        add("+ cached context", |setting| setting.speedups.precompute_context = true);
        add("+ SIMD functions", |setting| {
            setting.speedups.activation_impl = ActivationImpl::Vector
        });
        add("+ merged states", |setting| setting.speedups.merge_parents = true);
        add("function tables", |setting| setting.speedups.activation_impl = ActivationImpl::Table);
        add("8 bits, not 16", |setting| {
            setting.precision = Precision::I8;
            setting.speedups.activation_impl = ActivationImpl::Vector;
        });
        settings
    }

    /// Returns the default speedups with 16-bit and with 8-bit weights.
    pub fn all_speedups() -> [AblationSetting; 2] {
        [("16 bits", Precision::I16), ("8 bits", Precision::I8)].map(|(name, precision)| {
            AblationSetting { name, precision, speedups: Speedups::default() }
        })
    }

    /// Returns the baseline, and the baseline with each speedup alone.
    pub fn individual() -> Vec<AblationSetting> {
        let none = Speedups::NONE;
        let cached_tokens = Speedups { cached_tokens: Speedups::default().cached_tokens, ..none };
        [
            ("baseline", Precision::F32, none),
            ("16 bits", Precision::I16, none),
            ("8 bits", Precision::I8, none),
            ("cached tokens", Precision::F32, cached_tokens),
            ("cached context", Precision::F32, Speedups { precompute_context: true, ..none }),
            (
                "SIMD functions",
                Precision::F32,
                Speedups { activation_impl: ActivationImpl::Vector, ..none },
            ),
            (
                "function tables",
                Precision::F32,
                Speedups { activation_impl: ActivationImpl::Table, ..none },
            ),
            ("merged states", Precision::F32, Speedups { merge_parents: true, ..none }),
        ]
        .map(|(name, precision, speedups)| AblationSetting { name, precision, speedups })
        .to_vec()
    }
}

/// Sentences to translate with their shortlists.
pub struct Workload {
    requests: Vec<Request>,
}

/// The result of translating a workload.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkloadResult {
    /// The best translation of each sentence.
    pub translations: Vec<Vec<u32>>,
    /// The number of tokens of the best translations.
    pub tokens: usize,
    /// The number of rows of all steps.
    pub rows: usize,
    /// The number of distinct parents of the rows of a step, summed over all steps.
    pub distinct_parents: usize,
}

impl Workload {
    /// Creates a workload of the first `sentences` lines that have words, for vocabularies of
    /// `words` tokens.
    ///
    /// # Errors
    /// If the text has no words.
    pub fn new(text: &[u8], sentences: usize, words: usize, path: &Path) -> Result<Self> {
        let lines: Vec<Vec<&[u8]>> =
            input::lines(text).map(|line| input::words(line).collect()).collect();
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        lines.iter().flatten().for_each(|token| *counts.entry(token).or_default() += 1);
        let mut ranks: Vec<(&[u8], usize)> = counts.into_iter().collect();
        ranks.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let last = (words as u32).saturating_sub(FIRST_TOKEN + 1);
        let ids: HashMap<&[u8], u32> = (0u32..)
            .zip(&ranks)
            .map(|(rank, (token, _))| (*token, FIRST_TOKEN + rank.min(last)))
            .collect();
        let sentences = lines.iter().filter(|line| !line.is_empty()).take(sentences);
        let requests: Vec<Request> = sentences
            .map(|line| {
                let mut source: Vec<u32> = line.iter().map(|token| ids[token]).collect();
                source.push(EOS_ID);
                let candidates = Some(draw_candidates(&source, CANDIDATES_PER_TOKEN, words));
                Request { source, candidates, ..Request::default() }
            })
            .collect();
        if requests.is_empty() {
            return Err(Error::no_words(path));
        }
        Ok(Workload { requests })
    }

    /// Returns the number of sentences.
    pub fn num_sentences(&self) -> usize {
        self.requests.len()
    }

    /// Returns the mean size of the shortlists.
    pub fn mean_shortlist_size(&self) -> f64 {
        let lists = self.requests.iter().filter_map(|request| request.candidates.as_ref());
        lists.map(Vec::len).sum::<usize>() as f64 / self.num_sentences() as f64
    }

    /// Translates all sentences, one after the other, on this thread.
    ///
    /// # Errors
    /// Those of [`translate_requests`].
    pub fn translate(&self, session: Box<dyn Session>) -> Result<WorkloadResult> {
        // As in Devlin's study, translations are at most as long as their sources, and a hypothesis
        // ends early if its score is far below the best one.
        let options = SearchOptions {
            beam_size: BEAM_SIZE,
            max_length_factor: 1.0,
            max_length: 1000,
            early_stop_margin: Some(3.0),
            suppress_tokens: vec![UNK_ID],
            ..SearchOptions::default()
        };
        let mut session = CountingSession { inner: session, rows: 0, distinct_parents: 0 };
        let batching = BatchingOptions::default();
        let found = translate_requests(&mut session, &self.requests, &options, &batching)?;
        let translations: Vec<Vec<u32>> =
            found.into_iter().map(|translation| translation.tokens).collect();
        Ok(WorkloadResult {
            tokens: translations.iter().map(Vec::len).sum(),
            translations,
            rows: session.rows,
            distinct_parents: session.distinct_parents,
        })
    }
}

/// A session that counts rows and their distinct parents.
struct CountingSession {
    inner: Box<dyn Session>,
    rows: usize,
    distinct_parents: usize,
}

impl Session for CountingSession {
    fn vocab_size(&self) -> usize {
        self.inner.vocab_size()
    }

    fn begin(
        &mut self,
        sentences: &[&[u32]],
        candidates: Option<&[&[u32]]>,
    ) -> NmtResult<Vec<Slot>> {
        self.inner.begin(sentences, candidates)
    }

    fn finish(&mut self, slot: Slot) {
        self.inner.finish(slot);
    }

    fn step(&mut self, rows: &[HypothesisRow]) -> NmtResult<()> {
        self.rows += rows.len();
        fn repeats(row: &usize, rows: &[HypothesisRow]) -> bool {
            rows[..*row].iter().any(|r| r.parent == rows[*row].parent)
        }
        self.distinct_parents += (0..rows.len()).filter(|row| !repeats(row, rows)).count();
        self.inner.step(rows)
    }

    fn topk(&mut self, best: &mut [TopK]) -> NmtResult<()> {
        self.inner.topk(best)
    }

    fn token_logits(&mut self, pairs: &[(u32, u32)], logits: &mut Vec<f32>) -> NmtResult<()> {
        self.inner.token_logits(pairs, logits)
    }

    fn row_logits(
        &mut self,
        rows: Range<usize>,
        logits: &mut Vec<f32>,
        log_normalizers: &mut Vec<f32>,
    ) -> NmtResult<()> {
        self.inner.row_logits(rows, logits, log_normalizers)
    }

    fn log_probabilities(&mut self, row: u32, scores: &mut Vec<f32>) -> NmtResult<()> {
        self.inner.log_probabilities(row, scores)
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.inner.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.inner.alignment(row)
    }
}
